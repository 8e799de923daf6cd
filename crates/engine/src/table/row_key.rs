//! Keys of rows: how a row becomes a sort item, and how the item is read back.
//!
//! ```text
//! sort item    | encoded key | encoded position in the input | record | length of the key, 2 bytes |
//!                                                                unless the key is a rowid
//! ```

use crate::index::{self, ColumnLocator, ColumnRef};
use crate::sort::{SplitItem, bad_item};
use crate::{Error, ErrorKind, Result};
use litepress_format::FormatError;
use litepress_format::record;
use litepress_format::sort_key::{self, IndexEntryLayout, KeyPart, SHORT_ROOM, UniqueKey};
use litepress_format::value::Value;
use litepress_rows::schema::{Index, IndexOrigin};
use litepress_rows::{RecordChunk, Table, quote};

/// Bytes at the end of an item for the length of its key: decoding the key takes longer.
const KEY_LEN_BYTES: usize = 2;

/// The most key columns at the front of a record that are read directly.
const MAX_LEADING: usize = 4;

/// The key that rows are sorted by.
pub(crate) trait RowKey: Sync {
    /// Appends the sort item of a row. REQUIRES: a worker passes the same `locator` for all rows.
    fn push_item(&self, locator: &mut ColumnLocator, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>)
    -> Result<()>;

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
    pub unique_len: Option<usize>,
    pub rowid: i64,
    /// Start and end of the record in the item.
    pub record: (usize, usize),
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
pub(super) fn read_number(item: &[u8], at: usize) -> Result<(i64, usize)> {
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

    /// Replaces `key` with the encoded key of a row. REQUIRES: a worker passes the same `locator` for all rows.
    #[inline]
    pub fn set_key(
        &self,
        locator: &mut ColumnLocator,
        chunk: &RecordChunk,
        row: usize,
        key: &mut Vec<u8>,
    ) -> Result<()> {
        key.clear();
        let record = chunk.record(row);
        let mut leading = [Value::Null; MAX_LEADING];
        if self.are_leading && record::read_leading(record, &mut leading[..self.columns.len()]) {
            self.push_key_of(leading[..self.columns.len()].iter().copied(), key);
        } else {
            self.push_key_of(locator.values(&self.columns, record, chunk.rowids()[row])?, key);
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
    fn push_item(
        &self,
        locator: &mut ColumnLocator,
        chunk: &RecordChunk,
        row: usize,
        item: &mut Vec<u8>,
    ) -> Result<()> {
        let (record, rowid) = (chunk.record(row), chunk.rowids()[row]);
        let position = if self.has_rowid { rowid } else { input_position(chunk, row) };
        let mut leading = [Value::Null; MAX_LEADING];
        if self.are_leading && record::read_leading(record, &mut leading[..self.columns.len()]) {
            self.push_item_of(leading[..self.columns.len()].iter().copied(), position, record, item);
        } else {
            self.push_item_of(locator.values(&self.columns, record, rowid)?, position, record, item);
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
    fn push_item(&self, _: &mut ColumnLocator, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()> {
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
