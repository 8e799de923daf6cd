//! Rows in the order of a key, as a source: of rows with one key, one stays.
//!
//! ```text
//! Source -> RecordChunk -> sort items --Sorter--> items in key order --SortedRows--> Source
//! ```
//!
//! ```text
//! sort item    | key in normal form | position in the input, in normal form | record | length of the key, 2 bytes |
//!                                                                                    not where the key is a rowid
//! ```
//!
//! Rows with one key lie side by side, the earliest first. So it is settled in passing which of them stays.

use crate::feed::Feed;
use crate::fields::{Cut, Fields};
use crate::index::{self, Cutter, Indexes};
use crate::progress::Progress;
use crate::sort::{ItemParts, Merge, RunWriter, SortOptions, Sorted, Sorter};
use crate::sorted_tree::{bad_item, items_per_part};
use crate::stitch::{lock, take_all};
use crate::{Conflict, Error, ErrorKind, Result};
use litepress_format::FormatError;
use litepress_format::sort_key::{self, IndexEntryLayout, KeyPart, SHORT_ROOM, UniqueKey};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::schema::{Index, IndexOrigin};
use litepress_rows::{Part, RecordChunk, Source, Table, quote};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes at the end of an item that say how long its key is: finding out from the key takes longer.
const KEY_LEN_BYTES: usize = 2;

/// Key columns at the front of a record are read one after another where they are at most so many.
const MAX_LEADING: usize = 4;

/// What rows are sorted by.
pub(crate) trait RowKey: Sync {
    /// Appends the sort item of a row; `fields` are the same ones for all rows of a worker.
    fn push_item(&self, fields: &mut Fields, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()>;

    /// The same item in parts, where that is simple.
    #[inline(always)]
    fn parts<'c>(&self, _chunk: &'c RecordChunk, _row: usize) -> Option<ItemParts<'c>> {
        None
    }

    /// Takes the item at this rank apart.
    fn read(&self, item: &[u8], rank: u64) -> Result<Row>;

    /// The error of two items that have the same key.
    fn conflict(&self, first: &[u8], second: &[u8]) -> Error;
}

/// What a sort item is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Length of the item's start that no other row may have; `None` where others may.
    unique_len: Option<usize>,
    rowid: i64,
    /// Where the record begins and ends.
    record: (usize, usize),
}

/// The rows of a source in the order of a key.
pub(crate) struct SortedRows<K> {
    key: K,
    sorted: Sorted,
    /// What becomes of rows with one key.
    conflict: Conflict,
    items_per_part: u64,
    next_rank: AtomicU64,
}

impl<K: RowKey> SortedRows<K> {
    /// Takes all rows of `source`.
    pub fn sort(
        key: K,
        source: &dyn Source,
        conflict: Conflict,
        options: &SortOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let sorter = Sorter::new(options.clone());
        gather(source, &key, &sorter, &Indexes::default(), options.writers, progress)?;
        Ok(Self::new(key, sorter.finish()?, conflict))
    }

    /// The rows of which these are the items.
    pub fn new(key: K, sorted: Sorted, conflict: Conflict) -> Self {
        let (items_per_part, next_rank) = (items_per_part(&sorted), AtomicU64::new(0));
        Self { key, sorted, conflict, items_per_part, next_rank }
    }
}

impl<K: RowKey> Source for SortedRows<K> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let start = self.next_rank.fetch_add(self.items_per_part, Ordering::Relaxed);
        if start >= self.sorted.len() {
            return Ok(None);
        }
        let ranks = start..self.sorted.len().min(start + self.items_per_part);
        Ok(Some(Box::new(SortedPart { rows: self, rank: start, ranks, items: None, held: Vec::new(), held_row: None })))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// Those rows of some ranks that stay.
struct SortedPart<'s, K> {
    rows: &'s SortedRows<K>,
    ranks: Range<u64>,
    /// The part's items and the neighbour that decides about the first or the last of them; opened by who reads them.
    items: Option<Merge<'s>>,
    /// Rank of the next item.
    rank: u64,
    /// The last item of its key that may stay.
    held: Vec<u8>,
    /// What it is, where it is the part's and is not handed out.
    held_row: Option<Row>,
}

impl<K: RowKey> SortedPart<'_, K> {
    fn open(&mut self) -> Result<()> {
        if self.items.is_none() {
            let Range { start, end } = self.ranks;
            let (first, end) = match self.rows.conflict {
                Conflict::Replace => (start, self.rows.sorted.len().min(end + 1)),
                Conflict::Abort | Conflict::Ignore => (start.saturating_sub(1), end),
            };
            self.items = Some(self.rows.sorted.range(first..end)?);
            self.rank = first;
        }
        Ok(())
    }
}

impl<K: RowKey> Part for SortedPart<'_, K> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.open()?;
        let Self { rows, ranks, items: Some(items), rank, held, held_row } = self else { unreachable!("opened above") };
        while !chunk.is_full() {
            let item = items.next()?;
            let row = item.map(|item| rows.key.read(item, *rank)).transpose()?;
            if let (Some(item), Some(Row { unique_len: Some(len), .. })) = (item, row)
                && held.get(..len) == Some(&item[..len])
            {
                match rows.conflict {
                    Conflict::Abort => return Err(rows.key.conflict(held, item)),
                    Conflict::Ignore => {
                        *rank += 1;
                        continue;
                    }
                    Conflict::Replace => {}
                }
            } else if let Some(Row { rowid, record: (start, end), .. }) = held_row.take() {
                chunk.push(rowid, &held[start..end]);
            }
            let (Some(item), Some(row)) = (item, row) else { break };
            held.clear();
            held.extend_from_slice(item);
            *held_row = ranks.contains(rank).then_some(row);
            *rank += 1;
        }
        Ok(())
    }
}

/// Makes the sort items of rows, for one thread.
pub(crate) struct ItemMaker<'a, K> {
    key: &'a K,
    fields: Fields,
    item: Vec<u8>,
}

impl<'a, K: RowKey> ItemMaker<'a, K> {
    pub fn new(key: &'a K) -> Self {
        Self { key, fields: Fields::default(), item: Vec::new() }
    }

    /// Gives the item of each row of `chunk` to `take`.
    #[inline]
    pub fn each(&mut self, chunk: &RecordChunk, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        (0..chunk.len()).try_for_each(|row| take(self.item(chunk, row)?))
    }

    fn item(&mut self, chunk: &RecordChunk, row: usize) -> Result<&[u8]> {
        self.item.clear();
        self.key.push_item(&mut self.fields, chunk, row, &mut self.item)?;
        Ok(&self.item)
    }

    /// Gives the items of row `first` of `chunk` and of all behind it to `writer`.
    #[inline]
    pub fn push_from(&mut self, first: usize, chunk: &RecordChunk, writer: &mut RunWriter<'_>) -> Result<()> {
        let mut in_parts = Vec::with_capacity(ItemParts::AT_ONCE);
        for start in (first..chunk.len()).step_by(ItemParts::AT_ONCE) {
            for row in start..chunk.len().min(start + ItemParts::AT_ONCE) {
                let parts = if writer.takes_parts() { self.key.parts(chunk, row) } else { None };
                match parts {
                    Some(parts) => in_parts.push((row, parts)),
                    None => writer.push(self.item(chunk, row)?)?,
                }
            }
            writer.take_parts(&mut in_parts);
            in_parts.drain(..).try_for_each(|(row, _)| writer.push(self.item(chunk, row)?))?;
        }
        Ok(())
    }
}

/// Takes all rows of `source`: a sort item of each, and the entries of its indexes.
pub(crate) fn gather(
    source: &dyn Source,
    key: &impl RowKey,
    sorter: &Sorter,
    indexes: &Indexes,
    threads: usize,
    progress: &Progress,
) -> Result<()> {
    let mut feed = Feed::new(source);
    let threads = feed.workers(threads)?;
    let feed = Mutex::new(feed);
    let begin = || Gathering {
        chunk: RecordChunk::new(),
        rows: sorter.writer(),
        cutters: indexes.cutters(),
        items: ItemMaker::new(key),
        progress,
    };
    let take = |gathering: &mut Gathering<'_, _>| match progress.go_on().and_then(|()| lock(&feed).take()) {
        Ok(Some((number, part))) => gathering.take(part).map(|()| true).map_err(|error| (number, error)),
        Ok(None) => Ok(false),
        Err(error) => Err((u64::MAX, error)),
    };
    take_all(threads, begin, take, Gathering::finish)
}

/// What takes the rows of some parts.
struct Gathering<'a, K> {
    chunk: RecordChunk,
    rows: RunWriter<'a>,
    cutters: Vec<Cutter<'a>>,
    items: ItemMaker<'a, K>,
    progress: &'a Progress,
}

impl<K: RowKey> Gathering<'_, K> {
    fn take(&mut self, mut part: Box<dyn Part + '_>) -> Result<()> {
        loop {
            self.progress.go_on()?;
            self.chunk.clear();
            part.fill(&mut self.chunk)?;
            if self.chunk.is_empty() {
                return Ok(());
            }
            self.items.push_from(0, &self.chunk, &mut self.rows)?;
            self.cutters.iter_mut().try_for_each(|cutter| cutter.add(&self.chunk))?;
        }
    }

    fn finish(self) -> Result<()> {
        self.rows.finish()?;
        self.cutters.into_iter().try_for_each(Cutter::finish)
    }
}

/// Appends what every item has behind its key.
fn push_position_and_record(position: i64, record: &[u8], item: &mut Vec<u8>) {
    sort_key::push_rowid(position, item);
    item.extend_from_slice(record);
}

/// What every item has at its end.
fn tail_of_key(key_len: usize) -> [u8; KEY_LEN_BYTES] {
    u16::try_from(key_len).unwrap_or(u16::MAX).to_be_bytes()
}

/// The rowid or position whose normal form stands at `at`, and where that ends.
#[inline]
fn read_number(item: &[u8], at: usize) -> Result<(i64, usize)> {
    let form = item.get(at..).unwrap_or_default();
    sort_key::read_rowid(form).map(|(number, len)| (number, at + len)).map_err(|error| bad_item(&error))
}

/// Where the row came in its input.
fn position_of(chunk: &RecordChunk, row: usize) -> i64 {
    (chunk.first_record() + row as u64).cast_signed()
}

/// Rows by some of their columns: a primary key, or that of a unique index.
pub(crate) struct RecordKey {
    table: String,
    /// Names of the columns.
    names: Vec<String>,
    /// Where records have them.
    columns: Vec<Cut>,
    shape: IndexEntryLayout,
    /// They are the first ones, and few.
    are_leading: bool,
    has_rowid: bool,
    /// A primary key without rowid has no NULL.
    may_hold_null: bool,
}

impl RecordKey {
    /// The key of one of the table's indexes.
    pub fn new(table: &Table, index: &Index) -> Result<Self> {
        let columns: Result<Vec<_>, String> = index.columns.iter().map(|column| index::cut(table, column)).collect();
        let parts: Result<Vec<_>, String> = index.columns.iter().map(index::key_part).collect();
        let unsupported = |why: String| Error::new(ErrorKind::Unsupported, why).in_table(&table.name);
        let name = |position: usize| table.columns[position].name.clone();
        let columns = columns.map_err(unsupported)?;
        let are_leading = columns.iter().zip(0..MAX_LEADING).filter(|(cut, field)| **cut == Cut::Field(*field)).count();
        Ok(Self {
            table: table.name.clone(),
            names: index.columns.iter().filter_map(|column| column.column.map(name)).collect(),
            are_leading: are_leading == columns.len(),
            columns,
            shape: IndexEntryLayout::without_rowid(parts.map_err(unsupported)?, index.columns.len()),
            has_rowid: !table.without_rowid,
            may_hold_null: !table.without_rowid || index.origin != IndexOrigin::PrimaryKey,
        })
    }

    /// How the columns are ordered.
    pub fn parts(&self) -> &[KeyPart] {
        self.shape.parts()
    }

    /// Names of the columns, with that of the table.
    pub fn full_names(&self) -> String {
        index::full_names(&self.table, &self.names)
    }

    /// Length of the key at the start of an item.
    #[inline]
    pub fn key_len(&self, item: &[u8]) -> Result<usize> {
        match item.last_chunk::<KEY_LEN_BYTES>().map(|len| u16::from_be_bytes(*len)) {
            Some(u16::MAX) | None => Ok(self.unique_key(item)?.len),
            Some(len) if usize::from(len) + KEY_LEN_BYTES <= item.len() => Ok(len.into()),
            Some(_) => Err(bad_item(&FormatError::new("a sort item is shorter than its key", item.len()))),
        }
    }

    /// Position of an item's row, and where its record begins and ends.
    #[inline]
    pub fn position_and_record(&self, item: &[u8]) -> Result<(i64, (usize, usize))> {
        let (position, start) = read_number(item, self.key_len(item)?)?;
        let end = item.len() - KEY_LEN_BYTES;
        if start > end {
            return Err(bad_item(&FormatError::new("a sort item has no record", start)));
        }
        Ok((position, (start, end)))
    }

    /// The record of an item.
    #[inline]
    pub fn record<'i>(&self, item: &'i [u8]) -> Result<&'i [u8]> {
        let key_len = self.key_len(item)?;
        let behind = &item[key_len..];
        let start = sort_key::skip_rowid(behind).map_err(|error| bad_item(&error))?;
        let record = behind.get(start..behind.len() - KEY_LEN_BYTES);
        record.ok_or_else(|| bad_item(&FormatError::new("a sort item has no record", key_len)))
    }

    /// Length of an item without its record, or a little more.
    #[inline]
    pub fn key_and_position_len(&self, item: &[u8]) -> usize {
        self.key_len(item).map_or(item.len(), |key_len| item.len().min(key_len + sort_key::MAX_ROWID_LEN))
    }

    /// Puts the key of a row, in normal form, in the place of `key`; `fields` are the same ones for all rows of a worker.
    #[inline]
    pub fn set_key(&self, fields: &mut Fields, chunk: &RecordChunk, row: usize, key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        let record = chunk.record(row);
        let mut leading = [Value::Null; MAX_LEADING];
        if self.are_leading && record::read_leading(record, &mut leading[..self.columns.len()]) {
            self.push_key_of(leading[..self.columns.len()].iter().copied(), key);
        } else {
            self.push_key_of(fields.values(&self.columns, record, chunk.rowids()[row])?, key);
        }
        Ok(())
    }

    #[inline(always)]
    fn push_key_of<'v>(&self, values: impl Iterator<Item = Value<'v>> + Clone, key: &mut Vec<u8>) {
        let mut room = [0; SHORT_ROOM];
        if let Some(len) = self.shape.make_short(values.clone(), None, &mut room) {
            key.extend_from_slice(&room[..len]);
        } else {
            values.zip(self.shape.parts()).for_each(|(value, part)| {
                sort_key::push(&value, *part, key);
            });
        }
    }

    #[inline(always)]
    fn push_item_of<'v>(
        &self,
        values: impl Iterator<Item = Value<'v>> + Clone,
        position: i64,
        record: &[u8],
        item: &mut Vec<u8>,
    ) {
        let mut room = [0; SHORT_ROOM];
        let key_len = if let Some(len) = self.shape.make_short(values.clone(), Some(position), &mut room) {
            item.extend_from_slice(&room[..len]);
            item.extend_from_slice(record);
            len - sort_key::rowid_len(position)
        } else {
            values.zip(self.shape.parts()).for_each(|(value, part)| {
                sort_key::push(&value, *part, item);
            });
            let key_len = item.len();
            push_position_and_record(position, record, item);
            key_len
        };
        item.extend_from_slice(&tail_of_key(key_len));
    }

    fn unique_key(&self, item: &[u8]) -> Result<UniqueKey> {
        self.shape.unique_key(item).map_err(|error| bad_item(&error))
    }

    /// The key's values as SQL writes them, and the row's position.
    fn describe(&self, item: &[u8]) -> (String, i64) {
        let Ok((position, (start, end))) = self.position_and_record(item) else { return Default::default() };
        let values = record::decode(&item[start..end]).unwrap_or_default();
        let value = |column: &Cut| match *column {
            Cut::Rowid => Some(quote(&Value::Int(position))),
            Cut::Field(field) => values.get(field).map(quote),
        };
        let values: Vec<String> = self.columns.iter().filter_map(value).collect();
        (values.join(", "), position)
    }
}

impl RowKey for RecordKey {
    fn push_item(&self, fields: &mut Fields, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()> {
        let (record, rowid) = (chunk.record(row), chunk.rowids()[row]);
        let position = if self.has_rowid { rowid } else { position_of(chunk, row) };
        let mut leading = [Value::Null; MAX_LEADING];
        if self.are_leading && record::read_leading(record, &mut leading[..self.columns.len()]) {
            self.push_item_of(leading[..self.columns.len()].iter().copied(), position, record, item);
        } else {
            self.push_item_of(fields.values(&self.columns, record, rowid)?, position, record, item);
        }
        Ok(())
    }

    #[inline(always)]
    fn parts<'c>(&self, chunk: &'c RecordChunk, row: usize) -> Option<ItemParts<'c>> {
        if !self.are_leading {
            return None;
        }
        let position = if self.has_rowid { chunk.rowids()[row] } else { position_of(chunk, row) };
        let (body, end) = (chunk.record(row), chunk.ends()[row] as usize);
        let head = self.shape.prefix_of_integers(chunk.arena(), end - body.len()..end, position)?;
        Some(ItemParts { head, body, tail: tail_of_key(head.key_len) })
    }

    fn read(&self, item: &[u8], _rank: u64) -> Result<Row> {
        let (rowid, record) = self.position_and_record(item)?;
        let has_null = self.may_hold_null && self.unique_key(item)?.has_null;
        let unique_len = if has_null { None } else { Some(self.key_len(item)?) };
        Ok(Row { unique_len, rowid, record })
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        // They have the same key, and of the first one there may be no more than that and the position.
        let position = self.key_len(second).and_then(|key_len| read_number(first, key_len));
        let first = position.map_or(0, |(position, _)| position);
        let (values, second) = self.describe(second);
        same_key(&self.table, &self.full_names(), &values, first, second)
    }
}

/// Rows by their rowid.
pub(crate) struct RowidKey {
    table: String,
    /// What the rowid is called.
    column: String,
    /// Rows are numbered anew, from 1.
    is_dense: bool,
}

impl RowidKey {
    /// The most bytes that an item has beside the record: rowid and position.
    pub const MAX_KEY_BYTES: u64 = 2 * sort_key::MAX_ROWID_LEN as u64;

    pub fn new(table: &Table, is_dense: bool) -> Self {
        let alias = table.rowid_alias.map_or("rowid", |alias| &table.columns[alias].name);
        Self { table: table.name.clone(), column: format!("{}.{alias}", table.name), is_dense }
    }
}

impl RowKey for RowidKey {
    fn push_item(&self, _: &mut Fields, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()> {
        sort_key::push_rowid(chunk.rowids()[row], item);
        push_position_and_record(position_of(chunk, row), chunk.record(row), item);
        Ok(())
    }

    #[inline]
    fn read(&self, item: &[u8], rank: u64) -> Result<Row> {
        let (rowid, key_len) = read_number(item, 0)?;
        let start = key_len + sort_key::skip_rowid(&item[key_len..]).map_err(|error| bad_item(&error))?;
        let record = (start, item.len());
        Ok(if self.is_dense {
            Row { unique_len: None, rowid: rank.cast_signed() + 1, record }
        } else {
            Row { unique_len: Some(key_len), rowid, record }
        })
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        let describe = |item: &[u8]| {
            let (rowid, len) = read_number(item, 0).unwrap_or_default();
            (rowid, read_number(item, len).unwrap_or_default().0)
        };
        let ((rowid, first), (_, second)) = (describe(first), describe(second));
        same_key(&self.table, &self.column, &quote(&Value::Int(rowid)), first, second)
    }
}

/// The error of two rows with one key.
pub(crate) fn same_key(table: &str, columns: &str, values: &str, first: i64, second: i64) -> Error {
    let message = format!("UNIQUE constraint failed: {columns}: records {first} and {second} have the same key");
    Error::new(ErrorKind::Constraint, message).in_table(table).in_record(second.cast_unsigned()).with_value(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::OneChunk;
    use litepress_rows::Schema;

    /// Rows of one rowid in one part, in several, and at both sides of every boundary.
    #[test]
    fn boundaries_of_parts_do_not_show() {
        let schema = Schema::from_sql("CREATE TABLE t(id INTEGER PRIMARY KEY)", "<test>").expect("a schema");
        let rowids = [7, 7, 1, 9, 2, 2, 2, 9, 9, 9, 9, 9, 3];
        let options = SortOptions { memory_bytes: 1 << 20, temp_dir: std::env::temp_dir(), writers: 2 };
        for (conflict, expected) in [
            (Conflict::Ignore, [(1, 2), (2, 4), (3, 12), (7, 0), (9, 3)]),
            (Conflict::Replace, [(1, 2), (2, 6), (3, 12), (7, 1), (9, 11)]),
        ] {
            for items_per_part in 1..=rowids.len() as u64 + 1 {
                let mut chunk = RecordChunk::new();
                rowids.iter().zip(0..).for_each(|(&rowid, at)| chunk.push(rowid, &[at]));
                let source = OneChunk::new(chunk);
                let key = RowidKey::new(&schema.tables[0], false);
                let rows = SortedRows::sort(key, &source, conflict, &options, &Progress::default()).expect("sorted");
                let rows = SortedRows { items_per_part, ..rows };
                let mut stayed = Vec::new();
                while let Some(mut part) = rows.next_part().expect("a part") {
                    let mut chunk = RecordChunk::new();
                    part.fill(&mut chunk).expect("rows");
                    stayed.extend((0..chunk.len()).map(|row| (chunk.rowids()[row], chunk.record(row)[0])));
                }
                assert_eq!(stayed, expected, "{conflict:?}, parts of {items_per_part}");
            }
        }
    }
}
