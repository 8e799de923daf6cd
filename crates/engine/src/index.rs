//! One index: keys extracted from a table's records while the table is built, sorted, and bulk-loaded as a tree.
//!
//! ```text
//! RecordChunk --Cutter--> sort items --Sorter--> items in key order --bulk_load--> index pages
//!   one for each worker of the table             ranges of ranks, in parallel
//! ```

use crate::bulk_load::{self, IndexTree, ItemKind};
use crate::fields::{ColumnRef, Fields, Offsets, bad_item};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{
    BATCH_ROWS, PADDING_BYTES, PackedBatch, PackedKeyBuilder, PaddedItem, RunWriter, SortOptions, Sorter,
};
use crate::stitch::TreeStitch;
use crate::tree::index::{IndexBuilder, IndexPart};
use crate::tree::interior::Entry;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::PageKind;
use litepress_format::record;
use litepress_format::sort_key::{Collation, IndexEntryLayout, KeyPart, KeyPrefixEncoder, PREFIX_MARGIN, ShortCell};
use litepress_rows::chunk::HEADROOM;
use litepress_rows::schema::{Index, IndexColumn};
use litepress_rows::{RecordChunk, Table};
use std::ops::Range;

const _: () = assert!(HEADROOM >= PREFIX_MARGIN, "what is read in front of records");

/// An index whose entries can be extracted from the table's records.
#[derive(Clone, Debug)]
pub(crate) struct IndexPlan {
    pub name: String,
    table: String,
    unique: bool,
    /// Names of the key columns.
    names: Vec<String>,
    columns: Vec<ColumnRef>,
    layout: IndexEntryLayout,
    has_rowid: bool,
    /// Whether the columns are the first ones of a record, in its order, and the rowid follows them.
    are_leading: bool,
}

impl IndexPlan {
    /// Plans `index`. `Err` says why its entries cannot be extracted from records.
    pub fn new(table: &Table, index: &Index) -> Result<Self, String> {
        if index.partial {
            return Err("it is partial".to_owned());
        }
        let all = || index.columns.iter().chain(&index.appended);
        let columns = all().map(|column| column_ref(table, column)).collect::<Result<Vec<_>, _>>()?;
        let parts = all().map(key_part).collect::<Result<_, _>>()?;
        let layout = if table.without_rowid {
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
            are_leading: has_rowid && columns.iter().zip(0..).all(|(column, field)| *column == ColumnRef::Field(field)),
            columns,
            layout,
            has_rowid,
        })
    }

    /// Makes the sort item and the record of a row's entry.
    pub fn entry(&self, record: &[u8], rowid: i64, item: &mut Vec<u8>, entry: &mut Vec<u8>) -> Result<()> {
        item.clear();
        entry.clear();
        let mut fields = Fields::default();
        let values = fields.values(&self.columns, record, rowid)?;
        self.layout.push_item(values, self.has_rowid.then_some(rowid), item);
        self.layout.write_record(item, entry).map_err(|error| bad_item(&error))
    }

    /// Returns the error of two entries with one key.
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

    /// Returns the names of the key columns, qualified by the table.
    fn full_names(&self) -> String {
        full_names(&self.table, &self.names)
    }

    /// Returns the key of an item in SQL syntax, and the identity of its row: the rowid, or the primary key's other
    /// columns.
    fn describe(&self, item: &[u8]) -> (String, String) {
        let mut record = Vec::new();
        let written = self.layout.write_record(item, &mut record);
        let values = written.and_then(|()| record::decode(&record)).unwrap_or_default();
        let quoted: Vec<String> = values.iter().map(litepress_rows::quote).collect();
        let (key, row) = quoted.split_at(self.names.len().min(quoted.len()));
        (key.join(", "), row.join(", "))
    }
}

/// Returns column names, qualified by their table.
pub(crate) fn full_names(table: &str, names: &[String]) -> String {
    names.iter().map(|name| format!("{table}.{name}")).collect::<Vec<_>>().join(", ")
}

/// Returns the source of a key column. `Err` says why records do not have its value.
pub(crate) fn column_ref(table: &Table, column: &IndexColumn) -> Result<ColumnRef, String> {
    let Some(position) = column.column else { return Err("it has an expression".to_owned()) };
    if table.rowid_alias == Some(position) {
        return Ok(ColumnRef::Rowid);
    }
    let computed = || format!("its column {} is computed", table.columns[position].name);
    let field = table.stored_columns().iter().position(|&stored| stored == position);
    field.map(ColumnRef::Field).ok_or_else(computed)
}

/// Returns the sort order of a key column. `Err` says why the engine cannot order it.
pub(crate) fn key_part(column: &IndexColumn) -> Result<KeyPart, String> {
    let unknown = || format!("its collation {} is not one of SQLite's own", column.collation);
    let collation = Collation::from_name(&column.collation).ok_or_else(unknown)?;
    Ok(KeyPart { collation, descending: column.descending })
}

/// Distinct record headers tolerated in a batch: learning one costs as much as several entries.
const MAX_NEW_HEADERS: usize = 4;

/// Extracts the sort items of one index from chunks; one for each worker.
pub(crate) struct Cutter<'s> {
    plan: &'s IndexPlan,
    writer: RunWriter<'s>,
    fields: Fields,
    item: Vec<u8>,
    /// The positions of columns in records like the last one, and the encoders of their items.
    prefix_fields: Fields,
    prefix_encoder: KeyPrefixEncoder,
    key_builder: Option<PackedKeyBuilder>,
}

impl<'s> Cutter<'s> {
    pub fn new(plan: &'s IndexPlan, writer: RunWriter<'s>) -> Self {
        let (fields, prefix_fields) = Default::default();
        Self {
            plan,
            writer,
            fields,
            item: Vec::new(),
            prefix_fields,
            prefix_encoder: KeyPrefixEncoder::default(),
            key_builder: None,
        }
    }

    /// Adds the entries of all rows of `chunk`.
    pub fn add(&mut self, chunk: &RecordChunk) -> Result<()> {
        let record_len = if self.writer.accepts_prefixes() { chunk.record_len() } else { None };
        let mut start = 0;
        while start < chunk.len() {
            let rows = start..chunk.len().min(start + BATCH_ROWS);
            start = rows.end;
            if !self.writer.accepts_prefixes() || !self.add_batch_of_rows(chunk, rows.clone(), record_len)? {
                self.add_one_by_one(chunk, rows)?;
            }
        }
        Ok(())
    }

    /// Adds the entries of up to [`BATCH_ROWS`] rows at once. `record_len` is the length of each record if all have
    /// the same. Returns `false` if the records do not share the last header.
    fn add_batch_of_rows(
        &mut self,
        chunk: &RecordChunk,
        rows: Range<usize>,
        record_len: Option<usize>,
    ) -> Result<bool> {
        if let Some(len) = record_len {
            let place = move |row| HEADROOM + row * len;
            let ends = rows.start + 1..rows.end + 1;
            return self.add_records(chunk, rows.clone(), rows.map(place), ends.map(place));
        }
        let mut starts = [0; BATCH_ROWS];
        let starts = &mut starts[..rows.len()];
        chunk.starts(rows.clone(), starts);
        let ends = chunk.ends()[rows.clone()].iter().map(|end| *end as usize);
        self.add_records(chunk, rows, starts.iter().copied(), ends)
    }

    /// Adds the entries of the records with these starts and ends.
    #[inline(always)]
    fn add_records(
        &mut self,
        chunk: &RecordChunk,
        rows: Range<usize>,
        starts: impl Offsets,
        ends: impl Offsets,
    ) -> Result<bool> {
        if !self.prefix_fields.are_in(chunk.arena(), starts.clone(), ends) {
            return Ok(false);
        }
        if self.key_builder.is_none() {
            self.key_builder = self.writer.packed_key_builder(&self.prefix_encoder);
        }
        let Some(builder) = &self.key_builder else { return Ok(false) };
        self.writer.push_batch(builder, chunk.arena(), starts, &chunk.rowids()[rows])
    }

    fn add_one_by_one(&mut self, chunk: &RecordChunk, rows: Range<usize>) -> Result<()> {
        let (plan, mut new_headers) = (self.plan, 0);
        for row in rows {
            if plan.are_leading && self.add_integers(chunk, row)? {
                continue;
            }
            let tries_prefix = self.writer.accepts_prefixes() && new_headers < MAX_NEW_HEADERS;
            if tries_prefix && self.add_prefix(chunk, row, &mut new_headers)? {
                continue;
            }
            let rowid = chunk.rowids()[row];
            let values = self.fields.values(&plan.columns, chunk.record(row), rowid)?;
            let rowid = plan.has_rowid.then_some(rowid);
            let made = self.writer.slot().and_then(|room| plan.layout.make_short(values.clone(), rowid, room));
            if !made.is_some_and(|len| self.writer.commit(len)) {
                self.item.clear();
                plan.layout.push_item(values, rowid, &mut self.item);
                self.writer.push(&self.item)?;
            }
        }
        Ok(())
    }

    /// Adds the entry of a row whose key is a few integers, the first columns of its record. Returns `false` if it is
    /// not.
    #[inline(always)]
    fn add_integers(&mut self, chunk: &RecordChunk, row: usize) -> Result<bool> {
        let (len, end) = (chunk.record(row).len(), chunk.ends()[row] as usize);
        let prefix = self.plan.layout.prefix_of_integers(chunk.arena(), end - len..end, chunk.rowids()[row]);
        match prefix {
            Some(prefix) => self.writer.push_prefix(prefix.words, prefix.len),
            None => Ok(false),
        }
    }

    /// Adds the entry as a two-word key. Returns `false` if it does not fit one. Counts a header that differs from
    /// the last one.
    #[inline(always)]
    fn add_prefix(&mut self, chunk: &RecordChunk, row: usize, new_headers: &mut usize) -> Result<bool> {
        let record = chunk.record(row);
        if let Some(bodies) = self.prefix_fields.bodies_if_new(&self.plan.columns, record)? {
            *new_headers += 1;
            self.prefix_encoder = KeyPrefixEncoder::new(&self.plan.layout, bodies).unwrap_or_default();
            self.key_builder = None;
        }
        let start = chunk.ends()[row] as usize - record.len();
        match self.prefix_encoder.make(chunk.arena(), start, chunk.rowids()[row]) {
            Some((prefix, len)) => self.writer.push_prefix(prefix, len),
            None => Ok(false),
        }
    }

    /// Completes the sort items of this worker.
    pub fn finish(self) -> Result<()> {
        self.writer.finish()
    }
}

/// The indexes of one table that is being built.
#[derive(Default)]
pub(crate) struct Indexes {
    sorts: Vec<(IndexPlan, Sorter)>,
}

impl Indexes {
    /// Creates the sorts of these indexes, each with these options.
    pub fn new(plans: Vec<IndexPlan>, options: &SortOptions) -> Self {
        Self { sorts: plans.into_iter().map(|plan| (plan, Sorter::new(options.clone()))).collect() }
    }

    /// Returns whether there are no indexes.
    pub fn is_empty(&self) -> bool {
        self.sorts.is_empty()
    }

    /// Returns a cutter for every index, for one thread.
    pub fn cutters(&self) -> Vec<Cutter<'_>> {
        self.sorts.iter().map(|(plan, sorter)| Cutter::new(plan, sorter.writer())).collect()
    }

    /// Builds the trees one after another, in the order of the plans.
    pub fn build(
        self,
        pages: &mut Pages,
        threads: usize,
        counts_keys: bool,
        progress: &Progress,
    ) -> Result<Vec<(String, IndexTree)>> {
        let mut trees = Vec::new();
        for (plan, sorter) in self.sorts {
            progress.enter(format!("index {}", plan.name));
            let tree = bulk_load::build(&sorter.finish()?, &plan, pages, threads, counts_keys, progress)?;
            trees.push((plan.name, tree));
        }
        Ok(trees)
    }
}

/// Builds the tree of an index without entries.
pub(crate) fn build_empty(pages: &mut Pages) -> Result<u32> {
    TreeStitch::<Entry>::new(pages).finish(PageKind::LeafIndex)
}

/// Makes records of sort items and lays them on pages.
pub(crate) struct IndexPageWriter {
    builder: IndexBuilder,
    record: Vec<u8>,
    cell: ShortCell,
}

impl ItemKind for IndexPlan {
    type Builder = IndexPageWriter;

    fn begin(&self, run: PageRun, usable: usize) -> IndexPageWriter {
        IndexPageWriter { builder: IndexBuilder::new(run, usable), record: Vec::new(), cell: ShortCell::default() }
    }

    fn add(&self, writer: &mut IndexPageWriter, item: PaddedItem<'_>) -> Result<()> {
        if self.layout.make_short_cell(item.bytes, item.len, &mut writer.cell) && writer.builder.add_cell(&writer.cell)
        {
            return Ok(());
        }
        writer.record.clear();
        self.layout.write_record(item.item(), &mut writer.record).map_err(|error| bad_item(&error))?;
        writer.builder.add(&writer.record);
        Ok(())
    }

    fn add_batch(&self, writer: &mut IndexPageWriter, batch: PackedBatch<'_>) -> Result<()> {
        let (mut index, mut room) = (0, [0; PADDING_BYTES]);
        while index < batch.len() {
            let len = batch.write(index, &mut room);
            self.add(writer, PaddedItem { bytes: &room, len })?;
            index += 1;
            // The next entries differ only in their rowids: the packed keys are equal in front of the tail.
            let is_key = writer.cell.key_len() == Some(batch.bytes_before_tail()) && self.has_rowid;
            let template = (is_key && batch.shares_key(index)).then(|| writer.cell.template()).flatten();
            if let Some(template) = template {
                let rowids =
                    batch.tails_sharing_key(index, writer.builder.room_for(template), |word| template.fits(word));
                index += rowids.len();
                writer.builder.add_from_template(rowids, template);
            }
        }
        Ok(())
    }

    fn finish(&self, writer: IndexPageWriter, is_last: bool) -> Result<IndexPart> {
        Ok(writer.builder.finish(is_last))
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        if !self.unique {
            return Ok(None);
        }
        let key = self.layout.unique_key(item).map_err(|error| bad_item(&error))?;
        Ok((!key.has_null).then_some(key.len))
    }

    fn is_unique(&self) -> bool {
        self.unique
    }

    fn key_parts(&self) -> &[KeyPart] {
        &self.layout.parts()[..self.names.len()]
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        self.not_unique(first, second)
    }
}
