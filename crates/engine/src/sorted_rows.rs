//! A source of rows in key order, which resolves key conflicts.
//!
//! ```text
//! Source -> RecordChunk -> sort items --Sorter--> items in key order --SortedRows--> Source
//! ```
//!
//! ```text
//! sort item    | encoded key | encoded position in the input | record | length of the key, 2 bytes |
//!                                                                unless the key is a rowid
//! ```
//!
//! Rows with one key are adjacent, the earliest first. So one pass decides which of them stays.

use crate::bulk_load::items_per_part;
use crate::feed::Feed;
use crate::fields::{ColumnRef, Fields, bad_item};
use crate::index::{self, Cutter, Indexes};
use crate::progress::Progress;
use crate::sort::{Merge, RunWriter, SortOptions, SortedItems, Sorter, SplitItem};
use crate::threads::take_all;
use crate::{Conflict, Error, ErrorKind, Result};
use litepress_format::FormatError;
use litepress_format::record;
use litepress_format::sort_key::{self, IndexEntryLayout, KeyPart, SHORT_ROOM, UniqueKey};
use litepress_format::value::Value;
use litepress_rows::schema::{Index, IndexOrigin};
use litepress_rows::sync::lock;
use litepress_rows::{Part, RecordChunk, Source, Table, quote};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes at the end of an item for the length of its key: decoding the key takes longer.
const KEY_LEN_BYTES: usize = 2;

/// The most key columns at the front of a record that are read directly.
const MAX_LEADING: usize = 4;

/// The key that rows are sorted by.
pub(crate) trait RowKey: Sync {
    /// Appends the sort item of a row. REQUIRES: a worker passes the same `fields` for all rows.
    fn push_item(&self, fields: &mut Fields, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()>;

    /// Returns the same item in parts, if its key is a few integers.
    #[inline(always)]
    fn split_item<'c>(&self, _chunk: &'c RecordChunk, _row: usize) -> Option<SplitItem<'c>> {
        None
    }

    /// Decodes the item at this rank.
    fn read(&self, item: &[u8], rank: u64) -> Result<Row>;

    /// Returns the error of two items with one key.
    fn conflict(&self, first: &[u8], second: &[u8]) -> Error;
}

/// A decoded sort item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Length of the item's prefix that no other row may have; `None` if others may.
    unique_len: Option<usize>,
    rowid: i64,
    /// Start and end of the record in the item.
    record: (usize, usize),
}

/// The rows of a source in key order.
pub(crate) struct SortedRows<K> {
    key: K,
    sorted: SortedItems,
    /// The policy for rows with one key.
    conflict: Conflict,
    items_per_part: u64,
    next_rank: AtomicU64,
}

impl<K: RowKey> SortedRows<K> {
    /// Sorts all rows of `source`.
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

    /// Makes a source of sorted items.
    pub fn new(key: K, sorted: SortedItems, conflict: Conflict) -> Self {
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

/// The rows of some ranks that remain after conflicts.
struct SortedPart<'s, K> {
    rows: &'s SortedRows<K>,
    ranks: Range<u64>,
    /// The part's items and the neighbour that decides about the first or the last of them. Opened by the reading
    /// thread.
    items: Option<Merge<'s>>,
    /// Rank of the next item.
    rank: u64,
    /// The last item of its key that may remain.
    held: Vec<u8>,
    /// The decoded `held`, if it belongs to the part and was not returned yet.
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

    /// Passes the item of each row of `chunk` to `take`.
    #[inline]
    pub fn each(&mut self, chunk: &RecordChunk, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        (0..chunk.len()).try_for_each(|row| take(self.item(chunk, row)?))
    }

    fn item(&mut self, chunk: &RecordChunk, row: usize) -> Result<&[u8]> {
        self.item.clear();
        self.key.push_item(&mut self.fields, chunk, row, &mut self.item)?;
        Ok(&self.item)
    }

    /// Passes the items of row `first` of `chunk` and of all later rows to `writer`.
    #[inline]
    pub fn push_from(&mut self, first: usize, chunk: &RecordChunk, writer: &mut RunWriter<'_>) -> Result<()> {
        let mut split_items = Vec::with_capacity(SplitItem::AT_ONCE);
        for start in (first..chunk.len()).step_by(SplitItem::AT_ONCE) {
            for row in start..chunk.len().min(start + SplitItem::AT_ONCE) {
                let split = if writer.accepts_split() { self.key.split_item(chunk, row) } else { None };
                match split {
                    Some(split) => split_items.push((row, split)),
                    None => writer.push(self.item(chunk, row)?)?,
                }
            }
            writer.push_split(&mut split_items);
            split_items.drain(..).try_for_each(|(row, _)| writer.push(self.item(chunk, row)?))?;
        }
        Ok(())
    }
}

/// Takes all rows of `source`: the sort item of each, and the entries of its indexes.
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
    let begin = || Collector {
        chunk: RecordChunk::new(),
        rows: sorter.writer(),
        cutters: indexes.cutters(),
        items: ItemMaker::new(key),
        progress,
    };
    let take = |collector: &mut Collector<'_, _>| match progress.go_on().and_then(|()| lock(&feed).take()) {
        Ok(Some((number, part))) => collector.take(part).map(|()| true).map_err(|error| (number, error)),
        Ok(None) => Ok(false),
        Err(error) => Err((u64::MAX, error)),
    };
    take_all(threads, begin, take, Collector::finish)
}

/// Takes the rows of some parts, for one thread.
struct Collector<'a, K> {
    chunk: RecordChunk,
    rows: RunWriter<'a>,
    cutters: Vec<Cutter<'a>>,
    items: ItemMaker<'a, K>,
    progress: &'a Progress,
}

impl<K: RowKey> Collector<'_, K> {
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

/// Appends the end of an item, behind its key.
fn push_position_and_record(position: i64, record: &[u8], item: &mut Vec<u8>) {
    sort_key::push_rowid(position, item);
    item.extend_from_slice(record);
}

/// Returns the last bytes of an item: the length of its key.
fn key_len_tail(key_len: usize) -> [u8; KEY_LEN_BYTES] {
    u16::try_from(key_len).unwrap_or(u16::MAX).to_be_bytes()
}

/// Decodes the rowid or position at `at`. Returns it with the offset of its end.
#[inline]
fn read_number(item: &[u8], at: usize) -> Result<(i64, usize)> {
    let form = item.get(at..).unwrap_or_default();
    sort_key::read_rowid(form).map(|(number, len)| (number, at + len)).map_err(|error| bad_item(&error))
}

/// Returns the row's position in its input.
fn input_position(chunk: &RecordChunk, row: usize) -> i64 {
    (chunk.first_record() + row as u64).cast_signed()
}

/// A key of columns: a primary key, or the key of a unique index.
pub(crate) struct RecordKey {
    table: String,
    /// Names of the columns.
    names: Vec<String>,
    /// The columns' sources in records.
    columns: Vec<ColumnRef>,
    layout: IndexEntryLayout,
    /// Whether they are the first columns of the record, and few.
    are_leading: bool,
    has_rowid: bool,
    /// Whether a column may be NULL. A primary key without rowid may not.
    may_hold_null: bool,
}

impl RecordKey {
    /// Makes the key of one of the table's indexes.
    pub fn new(table: &Table, index: &Index) -> Result<Self> {
        let columns: Result<Vec<_>, String> =
            index.columns.iter().map(|column| index::column_ref(table, column)).collect();
        let parts: Result<Vec<_>, String> = index.columns.iter().map(index::key_part).collect();
        let unsupported = |why: String| Error::new(ErrorKind::Unsupported, why).in_table(&table.name);
        let name = |position: usize| table.columns[position].name.clone();
        let columns = columns.map_err(unsupported)?;
        let are_leading =
            columns.iter().zip(0..MAX_LEADING).filter(|(column, field)| **column == ColumnRef::Field(*field)).count();
        Ok(Self {
            table: table.name.clone(),
            names: index.columns.iter().filter_map(|column| column.column.map(name)).collect(),
            are_leading: are_leading == columns.len(),
            columns,
            layout: IndexEntryLayout::without_rowid(parts.map_err(unsupported)?, index.columns.len()),
            has_rowid: !table.without_rowid,
            may_hold_null: !table.without_rowid || index.origin != IndexOrigin::PrimaryKey,
        })
    }

    /// Returns the order of each column.
    pub fn parts(&self) -> &[KeyPart] {
        self.layout.parts()
    }

    /// Returns the names of the columns, qualified by the table.
    pub fn full_names(&self) -> String {
        index::full_names(&self.table, &self.names)
    }

    /// Returns the length of the key at the start of an item.
    #[inline]
    pub fn key_len(&self, item: &[u8]) -> Result<usize> {
        match item.last_chunk::<KEY_LEN_BYTES>().map(|len| u16::from_be_bytes(*len)) {
            Some(u16::MAX) | None => Ok(self.unique_key(item)?.len),
            Some(len) if usize::from(len) + KEY_LEN_BYTES <= item.len() => Ok(len.into()),
            Some(_) => Err(bad_item(&FormatError::new("a sort item is shorter than its key", item.len()))),
        }
    }

    /// Returns the position of an item's row, and the start and end of its record.
    #[inline]
    pub fn position_and_record(&self, item: &[u8]) -> Result<(i64, (usize, usize))> {
        let (position, start) = read_number(item, self.key_len(item)?)?;
        let end = item.len() - KEY_LEN_BYTES;
        if start > end {
            return Err(bad_item(&FormatError::new("a sort item has no record", start)));
        }
        Ok((position, (start, end)))
    }

    /// Returns the record of an item.
    #[inline]
    pub fn record<'i>(&self, item: &'i [u8]) -> Result<&'i [u8]> {
        let key_len = self.key_len(item)?;
        let behind = &item[key_len..];
        let start = sort_key::skip_rowid(behind).map_err(|error| bad_item(&error))?;
        let record = behind.get(start..behind.len() - KEY_LEN_BYTES);
        record.ok_or_else(|| bad_item(&FormatError::new("a sort item has no record", key_len)))
    }

    /// Returns the length of an item without its record, or a little more.
    #[inline]
    pub fn key_and_position_len(&self, item: &[u8]) -> usize {
        self.key_len(item).map_or(item.len(), |key_len| item.len().min(key_len + sort_key::MAX_ROWID_LEN))
    }

    /// Replaces `key` with the encoded key of a row. REQUIRES: a worker passes the same `fields` for all rows.
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
        if let Some(len) = self.layout.make_short(values.clone(), None, &mut room) {
            key.extend_from_slice(&room[..len]);
        } else {
            values.zip(self.layout.parts()).for_each(|(value, part)| {
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
        let key_len = if let Some(len) = self.layout.make_short(values.clone(), Some(position), &mut room) {
            item.extend_from_slice(&room[..len]);
            item.extend_from_slice(record);
            len - sort_key::rowid_len(position)
        } else {
            values.zip(self.layout.parts()).for_each(|(value, part)| {
                sort_key::push(&value, *part, item);
            });
            let key_len = item.len();
            push_position_and_record(position, record, item);
            key_len
        };
        item.extend_from_slice(&key_len_tail(key_len));
    }

    fn unique_key(&self, item: &[u8]) -> Result<UniqueKey> {
        self.layout.unique_key(item).map_err(|error| bad_item(&error))
    }

    /// Returns the key's values in SQL syntax, and the row's position.
    fn describe(&self, item: &[u8]) -> (String, i64) {
        let Ok((position, (start, end))) = self.position_and_record(item) else { return Default::default() };
        let values = record::decode(&item[start..end]).unwrap_or_default();
        let value = |column: &ColumnRef| match *column {
            ColumnRef::Rowid => Some(quote(&Value::Int(position))),
            ColumnRef::Field(field) => values.get(field).map(quote),
        };
        let values: Vec<String> = self.columns.iter().filter_map(value).collect();
        (values.join(", "), position)
    }
}

impl RowKey for RecordKey {
    fn push_item(&self, fields: &mut Fields, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()> {
        let (record, rowid) = (chunk.record(row), chunk.rowids()[row]);
        let position = if self.has_rowid { rowid } else { input_position(chunk, row) };
        let mut leading = [Value::Null; MAX_LEADING];
        if self.are_leading && record::read_leading(record, &mut leading[..self.columns.len()]) {
            self.push_item_of(leading[..self.columns.len()].iter().copied(), position, record, item);
        } else {
            self.push_item_of(fields.values(&self.columns, record, rowid)?, position, record, item);
        }
        Ok(())
    }

    #[inline(always)]
    fn split_item<'c>(&self, chunk: &'c RecordChunk, row: usize) -> Option<SplitItem<'c>> {
        if !self.are_leading {
            return None;
        }
        let position = if self.has_rowid { chunk.rowids()[row] } else { input_position(chunk, row) };
        let (body, end) = (chunk.record(row), chunk.ends()[row] as usize);
        let prefix = self.layout.prefix_of_integers(chunk.arena(), end - body.len()..end, position)?;
        Some(SplitItem { prefix, body, tail: key_len_tail(prefix.key_len) })
    }

    fn read(&self, item: &[u8], _rank: u64) -> Result<Row> {
        let (rowid, record) = self.position_and_record(item)?;
        let has_null = self.may_hold_null && self.unique_key(item)?.has_null;
        let unique_len = if has_null { None } else { Some(self.key_len(item)?) };
        Ok(Row { unique_len, rowid, record })
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        // The keys are equal, and `first` may have only its key and position.
        let position = self.key_len(second).and_then(|key_len| read_number(first, key_len));
        let first = position.map_or(0, |(position, _)| position);
        let (values, second) = self.describe(second);
        same_key(&self.table, &self.full_names(), &values, first, second)
    }
}

/// The rowid as key.
pub(crate) struct RowidKey {
    table: String,
    /// Name of the rowid.
    column: String,
    /// Whether rows are renumbered from 1.
    is_dense: bool,
}

impl RowidKey {
    /// The most bytes of an item besides the record: rowid and position.
    pub const MAX_KEY_BYTES: u64 = 2 * sort_key::MAX_ROWID_LEN as u64;

    pub fn new(table: &Table, is_dense: bool) -> Self {
        let alias = table.rowid_alias.map_or("rowid", |alias| &table.columns[alias].name);
        Self { table: table.name.clone(), column: format!("{}.{alias}", table.name), is_dense }
    }
}

impl RowKey for RowidKey {
    fn push_item(&self, _: &mut Fields, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()> {
        sort_key::push_rowid(chunk.rowids()[row], item);
        push_position_and_record(input_position(chunk, row), chunk.record(row), item);
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

/// Returns the error of two rows with one key.
pub(crate) fn same_key(table: &str, columns: &str, values: &str, first: i64, second: i64) -> Error {
    let message = format!("UNIQUE constraint failed: {columns}: records {first} and {second} have the same key");
    Error::new(ErrorKind::Constraint, message).in_table(table).in_record(second.cast_unsigned()).with_value(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::OneChunk;
    use litepress_rows::Schema;

    /// Rows of one rowid in one part, in several parts, and at both sides of every boundary.
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
