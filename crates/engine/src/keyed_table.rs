//! Tables whose rows are sorted before they are printed: WITHOUT ROWID tables, and those whose INTEGER PRIMARY KEY comes
//! in any order.
//!
//! ```text
//! Source -> RecordChunk --+--> sort items of the rows --Sorter--> sorted_tree: pages of the table
//!                         +--> sort items of its indexes (index.rs)
//! ```
//!
//! A sort item is the key in normal form, the row's position in the input (8 bytes), and the record. Two rows with one
//! key lie side by side, the earlier one first.

use crate::index::{Cutter, Indexes};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{RunWriter, SortOptions, Sorter};
use crate::sorted_tree::{self, Items, PartSize, bad_item, place_index_part};
use crate::stitch::{InOrder, TreeStitch, lock, on_threads};
use crate::table::{self, Feed, TableTree};
use crate::tree::index::{IndexBuilder, IndexPart};
use crate::tree::interior::{Entry, LargestRowid};
use crate::tree::leaf::{LeafBuilder, TablePart};
use crate::{Error, ErrorKind, Result};
use litepress_format::order::{self, KeyPart};
use litepress_format::page::PageKind;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::schema::IndexOrigin;
use litepress_rows::{Part, RecordChunk, Source, Table, quote};
use std::sync::{Mutex, PoisonError};

/// Bytes of a row's position in a sort item.
const POSITION_LEN: usize = 8;

/// Builds the b-tree of a table whose rows come in any order, and gives all records to `indexes`.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    pages: &mut Pages,
    indexes: &Indexes,
    sort_options: &SortOptions,
    counts_keys: bool,
    progress: &Progress,
) -> Result<TableTree> {
    let threads = sort_options.writers;
    let sorter = Sorter::new(sort_options.clone());
    if table.without_rowid {
        let rows = KeyedRows::new(table)?;
        gather(source, &sorter, indexes, threads, progress, |chunk, row, item| rows.push_item(chunk, row, item))?;
        progress.enter(format!("table {}", table.name));
        let tree = sorted_tree::build(&sorter.finish()?, &rows, pages, threads, counts_keys, progress)?;
        Ok(tree.into())
    } else {
        let alias = table.rowid_alias.map_or("rowid", |alias| &table.columns[alias].name);
        let rows = RowidRows { table: table.name.clone(), column: format!("{}.{alias}", table.name) };
        gather(source, &sorter, indexes, threads, progress, push_rowid_item)?;
        progress.enter(format!("table {}", table.name));
        let sorted = sorter.finish()?;
        let last_rowid = last_rowid(&sorted)?;
        let tree = sorted_tree::build(&sorted, &rows, pages, threads, false, progress)?;
        Ok(TableTree { last_rowid, ..tree.into() })
    }
}

impl From<sorted_tree::SortedTree> for TableTree {
    fn from(tree: sorted_tree::SortedTree) -> Self {
        let PartSize { entries, payload_bytes } = tree.size;
        Self { root: tree.root, rows: entries, last_rowid: 0, payload_bytes, distinct: tree.distinct }
    }
}

fn last_rowid(sorted: &crate::sort::Sorted) -> Result<i64> {
    if sorted.len() == 0 {
        return Ok(0);
    }
    let mut last = sorted.range(sorted.len() - 1..sorted.len())?;
    let item = last.next()?.expect("the item of the last rank");
    let (rowid, _) = order::read_rowid(item).map_err(|error| bad_item(&error))?;
    Ok(rowid)
}

/// Takes all rows of `source`: a sort item of each, and the entries of its indexes.
fn gather(
    source: &dyn Source,
    sorter: &Sorter,
    indexes: &Indexes,
    threads: usize,
    progress: &Progress,
    push_item: impl Fn(&RecordChunk, usize, &mut Vec<u8>) + Sync,
) -> Result<()> {
    let mut feed = Feed::new(source);
    let threads = feed.workers(threads)?;
    let feed = Mutex::new(feed);
    let parts = Mutex::new(InOrder::<()>::new());
    on_threads(threads, || {
        let mut worker = Worker {
            chunk: RecordChunk::new(),
            rows: sorter.writer(),
            cutters: indexes.cutters(),
            item: Vec::new(),
            push_item: &push_item,
            progress,
        };
        worker.work(&feed, &parts);
        if let Err(error) = worker.finish() {
            lock(&parts).fail(u64::MAX, error);
        }
    });
    parts.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

struct Worker<'a, F> {
    chunk: RecordChunk,
    rows: RunWriter<'a>,
    cutters: Vec<Cutter<'a>>,
    item: Vec<u8>,
    push_item: &'a F,
    progress: &'a Progress,
}

impl<F: Fn(&RecordChunk, usize, &mut Vec<u8>)> Worker<'_, F> {
    fn work(&mut self, feed: &Mutex<Feed<'_>>, parts: &Mutex<InOrder<()>>) {
        while !lock(parts).has_failed() {
            let (number, part) = match self.progress.go_on().and_then(|()| lock(feed).take()) {
                Ok(Some(taken)) => taken,
                Ok(None) => return,
                Err(error) => return lock(parts).fail(u64::MAX, error),
            };
            if let Err(error) = self.take(part) {
                lock(parts).fail(number, error);
            }
        }
    }

    fn take(&mut self, mut part: Box<dyn Part>) -> Result<()> {
        loop {
            self.progress.go_on()?;
            self.chunk.clear();
            part.fill(&mut self.chunk)?;
            if self.chunk.is_empty() {
                return Ok(());
            }
            for row in 0..self.chunk.len() {
                self.item.clear();
                (self.push_item)(&self.chunk, row, &mut self.item);
                self.rows.push(&self.item)?;
            }
            for cutter in &mut self.cutters {
                cutter.add(&self.chunk)?;
            }
            self.progress.add_rows(self.chunk.len() as u64);
        }
    }

    fn finish(self) -> Result<()> {
        self.rows.finish()?;
        self.cutters.into_iter().try_for_each(Cutter::finish)
    }
}

fn push_position_and_record(chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) {
    let position = chunk.first_record() + row as u64;
    item.extend_from_slice(&position.to_be_bytes());
    item.extend_from_slice(chunk.record(row));
}

fn read_position(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |position| u64::from_be_bytes(*position))
}

/// Rows of a WITHOUT ROWID table, by primary key.
pub(crate) struct KeyedRows {
    table: String,
    /// Names of the key columns, which are the first fields of a record.
    names: Vec<String>,
    parts: Vec<KeyPart>,
}

impl KeyedRows {
    pub fn new(table: &Table) -> Result<Self> {
        let key = table.indexes.iter().find(|index| index.origin == IndexOrigin::PrimaryKey);
        let columns = &key.expect("a WITHOUT ROWID table has a primary key").columns;
        let name = |position: usize| table.columns[position].name.clone();
        let parts: Result<_, String> = columns.iter().map(crate::index::key_part).collect();
        Ok(Self {
            table: table.name.clone(),
            names: columns.iter().filter_map(|column| column.column.map(name)).collect(),
            parts: parts.map_err(|why| Error::new(ErrorKind::Unsupported, why).in_table(&table.name))?,
        })
    }

    pub fn push_item(&self, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) {
        let mut reader = record::RecordReader::new(chunk.record(row)).expect("a record of the encoder's");
        for part in &self.parts {
            let field = reader.next_field().expect("a record of the encoder's").expect("the key comes first");
            order::push(&field.value, *part, item);
        }
        push_position_and_record(chunk, row, item);
    }

    fn key_len(&self, item: &[u8]) -> Result<usize> {
        let mut len = 0;
        for part in &self.parts {
            len += order::skip(&item[len..], *part).map_err(|error| bad_item(&error))?;
        }
        Ok(len)
    }

    /// The key's values as SQL writes them, and the row's position.
    fn describe(&self, item: &[u8]) -> (String, u64) {
        let Ok(key_len) = self.key_len(item) else { return Default::default() };
        let (position, record) = item[key_len..].split_at(POSITION_LEN);
        let values = record::decode(record).unwrap_or_default();
        let values: Vec<String> = values.iter().take(self.parts.len()).map(quote).collect();
        (values.join(", "), read_position(position))
    }
}

impl Items for KeyedRows {
    type Divider = Entry;
    type Builder = IndexBuilder;
    type Part = IndexPart;
    const LEAF: PageKind = PageKind::LeafIndex;

    fn begin(&self, run: PageRun, usable: usize) -> IndexBuilder {
        IndexBuilder::new(run, usable)
    }

    fn add(&self, builder: &mut IndexBuilder, item: &[u8]) -> Result<()> {
        builder.add(&item[self.key_len(item)? + POSITION_LEN..]);
        Ok(())
    }

    fn finish(&self, builder: IndexBuilder, is_last: bool) -> Result<IndexPart> {
        Ok(builder.finish(is_last))
    }

    fn place(stitch: &mut TreeStitch<'_, Entry>, part: IndexPart) -> Result<PartSize> {
        place_index_part(stitch, part)
    }

    fn is_unique(&self) -> bool {
        true
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        self.key_len(item).map(Some)
    }

    fn key_parts(&self) -> &[KeyPart] {
        &self.parts
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        let (values, second) = self.describe(second);
        let (_, first) = self.describe(first);
        let columns: Vec<String> = self.names.iter().map(|name| format!("{}.{name}", self.table)).collect();
        same_key(&self.table, &columns.join(", "), &values, first, second)
    }
}

/// Rows of a rowid table, by rowid.
struct RowidRows {
    table: String,
    /// What the rowid is called.
    column: String,
}

pub(crate) fn push_rowid_item(chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) {
    order::push_rowid(chunk.rowids()[row], item);
    push_position_and_record(chunk, row, item);
}

/// Collects rows in a chunk before they go to pages.
struct RowidPrinter {
    builder: LeafBuilder,
    chunk: RecordChunk,
}

impl RowidPrinter {
    fn flush(&mut self) -> Result<()> {
        self.builder.add(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }
}

impl Items for RowidRows {
    type Divider = LargestRowid;
    type Builder = RowidPrinter;
    type Part = TablePart;
    const LEAF: PageKind = PageKind::LeafTable;

    fn begin(&self, run: PageRun, usable: usize) -> RowidPrinter {
        RowidPrinter { builder: LeafBuilder::new(run, usable, 0), chunk: RecordChunk::new() }
    }

    fn add(&self, printer: &mut RowidPrinter, item: &[u8]) -> Result<()> {
        let (rowid, len) = order::read_rowid(item).map_err(|error| bad_item(&error))?;
        printer.chunk.push(rowid, &item[len + POSITION_LEN..]);
        if printer.chunk.is_full() { printer.flush() } else { Ok(()) }
    }

    fn finish(&self, mut printer: RowidPrinter, _is_last: bool) -> Result<TablePart> {
        printer.flush()?;
        Ok(printer.builder.finish())
    }

    fn place(stitch: &mut TreeStitch<'_, LargestRowid>, part: TablePart) -> Result<PartSize> {
        let size = PartSize { entries: part.rows, payload_bytes: part.payload_bytes };
        table::place_part(stitch, part)?;
        Ok(size)
    }

    fn is_unique(&self) -> bool {
        true
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        order::read_rowid(item).map(|(_, len)| Some(len)).map_err(|error| bad_item(&error))
    }

    fn key_parts(&self) -> &[KeyPart] {
        &[]
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        let describe = |item: &[u8]| {
            let (rowid, len) = order::read_rowid(item).unwrap_or_default();
            (rowid, read_position(&item[len..]))
        };
        let ((rowid, first), (_, second)) = (describe(first), describe(second));
        same_key(&self.table, &self.column, &quote(&Value::Int(rowid)), first, second)
    }
}

/// The error of two rows with one primary key.
fn same_key(table: &str, columns: &str, values: &str, first: u64, second: u64) -> Error {
    let message = format!("UNIQUE constraint failed: {columns}: records {first} and {second} have the same key");
    Error::new(ErrorKind::Constraint, message).in_table(table).in_record(second).with_value(values)
}
