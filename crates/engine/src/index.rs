//! One index: keys cut out of a table's records while that is built, sorted, and printed as a tree.
//!
//! ```text
//! RecordChunk --Cutter--> sort items --Sorter--> items in key order --sorted_tree--> index pages
//!   one for each worker of the table              ranges of ranks, in parallel
//! ```

use crate::fields::{Cut, Fields, Places};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{ALIKE, ItemBatch, ItemWithSlack, RunWriter, SLACK_BYTES, SortOptions, Sorter, WordMaker};
use crate::sorted_tree::{self, Items, SortedTree, bad_item};
use crate::stitch::TreeStitch;
use crate::tree::index::{IndexBuilder, IndexPart};
use crate::tree::interior::Entry;
use crate::{Error, ErrorKind, Result};
use litepress_format::sort_key::{Collation, IndexEntryLayout, PREFIX_MARGIN, KeyPrefixEncoder, KeyPart, ShortCell};
use litepress_format::page::PageKind;
use litepress_format::record;
use litepress_rows::chunk::HEADROOM;
use litepress_rows::schema::{Index, IndexColumn};
use litepress_rows::{RecordChunk, Table};
use std::ops::Range;

const _: () = assert!(HEADROOM >= PREFIX_MARGIN, "what is read in front of records");

/// An index whose entries can be cut out of the table's records.
#[derive(Clone, Debug)]
pub(crate) struct IndexPlan {
    pub name: String,
    table: String,
    unique: bool,
    /// Names of the key columns.
    names: Vec<String>,
    columns: Vec<Cut>,
    shape: IndexEntryLayout,
    has_rowid: bool,
    /// The columns are the first ones of a record, in its order, and the rowid stands behind them.
    are_leading: bool,
}

impl IndexPlan {
    /// The plan for `index`; on failure why its entries cannot be cut out of records.
    pub fn new(table: &Table, index: &Index) -> Result<Self, String> {
        if index.partial {
            return Err("it is partial".to_owned());
        }
        let all = || index.columns.iter().chain(&index.appended);
        let columns = all().map(|column| cut(table, column)).collect::<Result<Vec<_>, _>>()?;
        let parts = all().map(key_part).collect::<Result<_, _>>()?;
        let shape = if table.without_rowid {
            IndexEntryLayout::without_rowid(parts, index.columns.len())
        } else {
            IndexEntryLayout::with_rowid(parts)
        };
        let (has_rowid, name_of) = (!table.without_rowid, |position: usize| table.columns[position].name.clone());
        Ok(Self {
            name: index.name.clone(),
            table: table.name.clone(),
            unique: index.unique,
            names: index.columns.iter().filter_map(|column| column.column.map(name_of)).collect(),
            are_leading: has_rowid && columns.iter().zip(0..).all(|(cut, field)| *cut == Cut::Field(field)),
            columns,
            shape,
            has_rowid,
        })
    }

    /// The sort item and the record of a row's entry.
    pub fn entry(&self, record: &[u8], rowid: i64, item: &mut Vec<u8>, entry: &mut Vec<u8>) -> Result<()> {
        item.clear();
        entry.clear();
        let mut fields = Fields::default();
        let values = fields.values(&self.columns, record, rowid)?;
        self.shape.push_item(values, self.has_rowid.then_some(rowid), item);
        self.shape.write_record(item, entry).map_err(|error| bad_item(&error))
    }

    /// The error of two entries with one key.
    fn not_unique(&self, first: &[u8], second: &[u8]) -> Error {
        let (values, first_row) = self.describe(first);
        let (_, second_row) = self.describe(second);
        let rows = if self.has_rowid { "rowid" } else { "primary key" };
        let message = format!(
            "UNIQUE constraint failed: {}: the rows with {rows} {first_row} and {second_row} have the same key",
            self.full_names()
        );
        Error::new(ErrorKind::Constraint, message).in_table(&self.table).with_value(values)
    }

    /// Names of the key columns, with that of the table.
    fn full_names(&self) -> String {
        full_names(&self.table, &self.names)
    }

    /// The key of an item as SQL writes it, and what tells its row: the rowid, or the primary key's other columns.
    fn describe(&self, item: &[u8]) -> (String, String) {
        let mut record = Vec::new();
        let written = self.shape.write_record(item, &mut record);
        let values = written.and_then(|()| record::decode(&record)).unwrap_or_default();
        let quoted: Vec<String> = values.iter().map(litepress_rows::quote).collect();
        let (key, row) = quoted.split_at(self.names.len().min(quoted.len()));
        (key.join(", "), row.join(", "))
    }
}

/// Names of columns, with that of their table.
pub(crate) fn full_names(table: &str, names: &[String]) -> String {
    names.iter().map(|name| format!("{table}.{name}")).collect::<Vec<_>>().join(", ")
}

/// Where a record has the value of a key column; on failure why it has not.
pub(crate) fn cut(table: &Table, column: &IndexColumn) -> Result<Cut, String> {
    let Some(position) = column.column else { return Err("it has an expression".to_owned()) };
    if table.rowid_alias == Some(position) {
        return Ok(Cut::Rowid);
    }
    let computed = || format!("its column {} is computed", table.columns[position].name);
    let field = table.stored_columns().iter().position(|&stored| stored == position);
    field.map(Cut::Field).ok_or_else(computed)
}

/// How a column of a key is ordered; on failure why nobody here can tell.
pub(crate) fn key_part(column: &IndexColumn) -> Result<KeyPart, String> {
    let unknown = || format!("its collation {} is not one of SQLite's own", column.collation);
    let collation = Collation::from_name(&column.collation).ok_or_else(unknown)?;
    Ok(KeyPart { collation, descending: column.descending })
}

/// Of some records, as many as may have headers of their own: learning what one says costs as much as some entries.
const NEW_HEADERS: usize = 4;

/// Cuts the sort items of one index out of chunks: one a worker.
pub(crate) struct Cutter<'s> {
    plan: &'s IndexPlan,
    writer: RunWriter<'s>,
    fields: Fields,
    item: Vec<u8>,
    /// What makes short items of records like the last one.
    head_fields: Fields,
    head_maker: KeyPrefixEncoder,
    word_maker: Option<WordMaker>,
}

impl<'s> Cutter<'s> {
    pub fn new(plan: &'s IndexPlan, writer: RunWriter<'s>) -> Self {
        let (fields, head_fields) = Default::default();
        Self { plan, writer, fields, item: Vec::new(), head_fields, head_maker: KeyPrefixEncoder::default(), word_maker: None }
    }

    /// Adds the entries of all rows of `chunk`.
    pub fn add(&mut self, chunk: &RecordChunk) -> Result<()> {
        let record_len = if self.writer.takes_heads() { chunk.record_len() } else { None };
        let mut start = 0;
        while start < chunk.len() {
            let rows = start..chunk.len().min(start + ALIKE);
            start = rows.end;
            if !self.writer.takes_heads() || !self.add_some(chunk, rows.clone(), record_len)? {
                self.add_one_by_one(chunk, rows)?;
            }
        }
        Ok(())
    }

    /// Adds the entries of up to [`ALIKE`] rows at once, all of whose records have so many bytes where that is known;
    /// `false` where they are not like the one before.
    fn add_some(&mut self, chunk: &RecordChunk, rows: Range<usize>, record_len: Option<usize>) -> Result<bool> {
        if let Some(len) = record_len {
            let place = move |row| HEADROOM + row * len;
            let ends = rows.start + 1..rows.end + 1;
            return self.add_alike(chunk, rows.clone(), rows.map(place), ends.map(place));
        }
        let mut starts = [0; ALIKE];
        let starts = &mut starts[..rows.len()];
        chunk.starts(rows.clone(), starts);
        let ends = chunk.ends()[rows.clone()].iter().map(|end| *end as usize);
        self.add_alike(chunk, rows, starts.iter().copied(), ends)
    }

    /// The same for records that begin and end there.
    #[inline(always)]
    fn add_alike(
        &mut self,
        chunk: &RecordChunk,
        rows: Range<usize>,
        starts: impl Places,
        ends: impl Places,
    ) -> Result<bool> {
        if !self.head_fields.are_in(chunk.arena(), starts.clone(), ends) {
            return Ok(false);
        }
        if self.word_maker.is_none() {
            self.word_maker = self.writer.word_maker(&self.head_maker);
        }
        let Some(maker) = &self.word_maker else { return Ok(false) };
        self.writer.take_alike(maker, chunk.arena(), starts, &chunk.rowids()[rows])
    }

    fn add_one_by_one(&mut self, chunk: &RecordChunk, rows: Range<usize>) -> Result<()> {
        let (plan, mut new_headers) = (self.plan, 0);
        for row in rows {
            if plan.are_leading && self.add_integers(chunk, row)? {
                continue;
            }
            let is_head = self.writer.takes_heads() && new_headers < NEW_HEADERS;
            if is_head && self.add_head(chunk, row, &mut new_headers)? {
                continue;
            }
            let rowid = chunk.rowids()[row];
            let values = self.fields.values(&plan.columns, chunk.record(row), rowid)?;
            let rowid = plan.has_rowid.then_some(rowid);
            let made = self.writer.room().and_then(|room| plan.shape.make_short(values.clone(), rowid, room));
            if !made.is_some_and(|len| self.writer.take(len)) {
                self.item.clear();
                plan.shape.push_item(values, rowid, &mut self.item);
                self.writer.push(&self.item)?;
            }
        }
        Ok(())
    }

    /// Adds the entry of a row whose columns are integers, few, and the first ones; `false` where they are not.
    #[inline(always)]
    fn add_integers(&mut self, chunk: &RecordChunk, row: usize) -> Result<bool> {
        let (len, end) = (chunk.record(row).len(), chunk.ends()[row] as usize);
        let head = self.plan.shape.prefix_of_integers(chunk.arena(), end - len..end, chunk.rowids()[row]);
        match head {
            Some(head) => self.writer.take_head(head.words, head.len),
            None => Ok(false),
        }
    }

    /// Adds the entry of a row as two words; `false` where it is none for that. Headers that begin otherwise than the one
    /// before are counted.
    #[inline(always)]
    fn add_head(&mut self, chunk: &RecordChunk, row: usize, new_headers: &mut usize) -> Result<bool> {
        let record = chunk.record(row);
        if let Some(places) = self.head_fields.places_if_new(&self.plan.columns, record)? {
            *new_headers += 1;
            self.head_maker = KeyPrefixEncoder::new(&self.plan.shape, places).unwrap_or_default();
            self.word_maker = None;
        }
        let start = chunk.ends()[row] as usize - record.len();
        match self.head_maker.make(chunk.arena(), start, chunk.rowids()[row]) {
            Some((head, len)) => self.writer.take_head(head, len),
            None => Ok(false),
        }
    }

    /// All rows are added.
    pub fn finish(self) -> Result<()> {
        self.writer.finish()
    }
}

/// The indexes of one table while that is built.
#[derive(Default)]
pub(crate) struct Indexes {
    sorts: Vec<(IndexPlan, Sorter)>,
}

impl Indexes {
    /// Every sort has these options.
    pub fn new(plans: Vec<IndexPlan>, options: &SortOptions) -> Self {
        Self { sorts: plans.into_iter().map(|plan| (plan, Sorter::new(options.clone()))).collect() }
    }

    /// Whether there is none.
    pub fn are_none(&self) -> bool {
        self.sorts.is_empty()
    }

    /// What cuts the entries of every index, for one thread.
    pub fn cutters(&self) -> Vec<Cutter<'_>> {
        self.sorts.iter().map(|(plan, sorter)| Cutter::new(plan, sorter.writer())).collect()
    }

    /// Builds the trees, one after another, in the order of the plans.
    pub fn build(
        self,
        pages: &mut Pages,
        threads: usize,
        counts_keys: bool,
        progress: &Progress,
    ) -> Result<Vec<(String, SortedTree)>> {
        let mut trees = Vec::new();
        for (plan, sorter) in self.sorts {
            progress.enter(format!("index {}", plan.name));
            let tree = sorted_tree::build(&sorter.finish()?, &plan, pages, threads, counts_keys, progress)?;
            trees.push((plan.name, tree));
        }
        Ok(trees)
    }
}

/// The tree of an index without entries.
pub(crate) fn build_empty(pages: &mut Pages) -> Result<u32> {
    TreeStitch::<Entry>::new(pages).finish(PageKind::LeafIndex)
}

/// Makes records of sort items and lays them on pages.
pub(crate) struct IndexPrinter {
    builder: IndexBuilder,
    record: Vec<u8>,
    cell: ShortCell,
}

impl Items for IndexPlan {
    type Builder = IndexPrinter;

    fn begin(&self, run: PageRun, usable: usize) -> IndexPrinter {
        IndexPrinter { builder: IndexBuilder::new(run, usable), record: Vec::new(), cell: ShortCell::default() }
    }

    fn add(&self, printer: &mut IndexPrinter, item: ItemWithSlack<'_>) -> Result<()> {
        if self.shape.make_short_cell(item.bytes, item.len, &mut printer.cell)
            && printer.builder.add_cell(&printer.cell)
        {
            return Ok(());
        }
        printer.record.clear();
        self.shape.write_record(item.item(), &mut printer.record).map_err(|error| bad_item(&error))?;
        printer.builder.add(&printer.record);
        Ok(())
    }

    fn add_batch(&self, printer: &mut IndexPrinter, batch: ItemBatch<'_>) -> Result<()> {
        let (mut index, mut room) = (0, [0; SLACK_BYTES]);
        while index < batch.len() {
            let len = batch.write(index, &mut room);
            self.add(printer, ItemWithSlack { bytes: &room, len })?;
            index += 1;
            // What follows differs in its rowid alone: from the first byte on that the key does not have.
            let is_key = printer.cell.key_len() == Some(batch.bytes_before_tail()) && self.has_rowid;
            let alike = (is_key && batch.is_alike(index)).then(|| printer.cell.template()).flatten();
            if let Some(alike) = alike {
                let rowids = batch.alike(index, printer.builder.room_for(alike), |form| alike.fits(form));
                index += rowids.len();
                printer.builder.add_alike(rowids, alike);
            }
        }
        Ok(())
    }

    fn finish(&self, printer: IndexPrinter, is_last: bool) -> Result<IndexPart> {
        Ok(printer.builder.finish(is_last))
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        if !self.unique {
            return Ok(None);
        }
        let key = self.shape.unique_key(item).map_err(|error| bad_item(&error))?;
        Ok((!key.has_null).then_some(key.len))
    }

    fn is_unique(&self) -> bool {
        self.unique
    }

    fn key_parts(&self) -> &[KeyPart] {
        &self.shape.parts()[..self.names.len()]
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        self.not_unique(first, second)
    }
}
