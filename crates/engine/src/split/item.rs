//! A row as a sort item, and back.
//!
//! ```text
//! item   | kind, 1 byte | length of the value, 4 bytes | value | table, 4 bytes | position in the input, 8 bytes |
//!        | rowid, 8 bytes | rowid is automatic, 1 byte | record |          numbers are big-endian
//! ```
//!
//! The front of an item, up to the end of the value, is the same for all rows of one database, and no other item begins with it. Values that
//! SQLite takes for equal have the same front: `5` and `5.0`, `0.0` and `-0.0`. Texts are equal if their bytes are.

use crate::Result;
use crate::index::{self, ColumnLocator, ColumnRef};
use crate::sort::bad_item;
use litepress_format::FormatError;
use litepress_format::value::Value;
use litepress_rows::{RecordChunk, Table};
use std::ops::Range;

/// Bytes in front of the value.
const HEAD_BYTES: usize = 5;
/// Offset of the position behind the value, and of what follows it.
const POSITION: Range<usize> = 4..12;
const ROWID: Range<usize> = 12..20;
const AUTOMATIC: usize = 20;
const RECORD: usize = 21;
/// Turns the order of signed numbers into that of their bytes.
const SIGN: u64 = 1 << 63;
/// Reals from -2^63 up to this one, which have no fraction, are integers.
const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0;

/// The place of the value that decides.
#[derive(Clone, Copy)]
pub(crate) struct ValueOrigin(ColumnRef);

impl ValueOrigin {
    /// Finds an ordinary column of a table in the records of sources.
    pub fn new(table: &Table, column: usize) -> Self {
        Self(index::given_column(table, column))
    }
}

/// Makes the items of rows, for one thread.
pub(super) struct ItemMaker {
    table: u32,
    column: [ColumnRef; 1],
    locator: ColumnLocator,
    item: Vec<u8>,
}

impl ItemMaker {
    /// Makes items of the rows of a table. Rows of tables with lower numbers come first.
    pub fn new(table: u32, origin: ValueOrigin) -> Self {
        Self { table, column: [origin.0], locator: ColumnLocator::default(), item: Vec::new() }
    }

    /// Returns the item of a row.
    pub fn item(&mut self, chunk: &RecordChunk, row: usize) -> Result<&[u8]> {
        let (record, rowid) = (chunk.record(row), chunk.rowids()[row]);
        let mut values = self.locator.values(&self.column, record, rowid)?;
        self.item.clear();
        push_value(values.next().unwrap_or(Value::Null), &mut self.item);
        self.item.extend_from_slice(&self.table.to_be_bytes());
        self.item.extend_from_slice(&(chunk.first_record() + row as u64).to_be_bytes());
        self.item.extend_from_slice(&rowid.to_be_bytes());
        self.item.push(u8::from(chunk.is_automatic(row)));
        self.item.extend_from_slice(record);
        Ok(&self.item)
    }
}

/// Appends the front of an item.
fn push_value(value: Value<'_>, item: &mut Vec<u8>) {
    let value = match value {
        Value::Real(real) if real.fract() == 0.0 && (-INTEGERS_END..INTEGERS_END).contains(&real) => {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number within 64 bits")]
            let int = real as i64;
            Value::Int(int)
        }
        other => other,
    };
    let (kind, bytes): (u8, &[u8]) = match value {
        Value::Null => (0, &[]),
        Value::Int(int) => (1, &(int.cast_unsigned() ^ SIGN).to_be_bytes()),
        Value::Real(real) => (2, &real.to_bits().to_be_bytes()),
        Value::Text(text) => (3, text),
        Value::Blob(blob) => (4, blob),
    };
    item.push(kind);
    item.extend_from_slice(&u32::try_from(bytes.len()).expect("a value of at most 10^9 bytes").to_be_bytes());
    item.extend_from_slice(bytes);
}

/// A decoded item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row<'i> {
    pub position: u64,
    pub rowid: i64,
    pub is_automatic: bool,
    pub record: &'i [u8],
}

/// The parts of an item.
pub(super) struct Item<'i> {
    /// The front, which all rows of one database share.
    pub front: &'i [u8],
    /// The number of the table.
    pub table: u32,
    /// The rest, which [`row`] decodes.
    pub row: &'i [u8],
}

impl<'i> Item<'i> {
    /// Divides an item.
    pub fn of(item: &'i [u8]) -> Result<Self> {
        Self::divided(item).ok_or_else(|| bad_item(&FormatError::new("a sort item ends early", item.len())))
    }

    fn divided(item: &'i [u8]) -> Option<Self> {
        let len = u32::from_be_bytes(item.get(1..HEAD_BYTES)?.try_into().ok()?);
        let (front, row) = item.split_at_checked(HEAD_BYTES + usize::try_from(len).ok()?)?;
        let table = u32::from_be_bytes(row.get(..POSITION.start)?.try_into().ok()?);
        Some(Self { front, table, row }).filter(|item| item.row.len() >= RECORD)
    }
}

/// Returns the value of a front.
pub(super) fn value(front: &[u8]) -> Value<'_> {
    let (head, bytes) = front.split_at(HEAD_BYTES);
    let word = || bytes.try_into().map_or(0, u64::from_be_bytes);
    match head[0] {
        0 => Value::Null,
        1 => Value::Int((word() ^ SIGN).cast_signed()),
        2 => Value::Real(f64::from_bits(word())),
        3 => Value::Text(bytes),
        _ => Value::Blob(bytes),
    }
}

/// Decodes the part of an item behind its front. REQUIRES: it is that of an [`Item`].
pub(super) fn row(bytes: &[u8]) -> Row<'_> {
    let word = |range: Range<usize>| bytes[range].try_into().map_or(0, u64::from_be_bytes);
    Row {
        position: word(POSITION),
        rowid: word(ROWID).cast_signed(),
        is_automatic: bytes[AUTOMATIC] != 0,
        record: &bytes[RECORD..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_rows::Schema;

    #[test]
    fn items_give_back_values_and_rows() {
        let schema = Schema::from_sql("CREATE TABLE t(a, b)", "<test>").expect("a schema");
        let origin = ValueOrigin::new(&schema.tables[0], 1);
        let mut items = ItemMaker::new(7, origin);
        let values = [
            (Value::Null, Value::Null),
            (Value::Int(-5), Value::Int(-5)),
            (Value::Real(5.0), Value::Int(5)),
            (Value::Real(-0.0), Value::Int(0)),
            (Value::Real(0.5), Value::Real(0.5)),
            (Value::Real(-1e300), Value::Real(-1e300)),
            (Value::Real(INTEGERS_END), Value::Real(INTEGERS_END)),
            (Value::Text(b"5"), Value::Text(b"5")),
            (Value::Text(b""), Value::Text(b"")),
            (Value::Blob(b"\0\xff"), Value::Blob(b"\0\xff")),
        ];
        let mut chunk = RecordChunk::new();
        chunk.set_first_record(30);
        for (rowid, (given, _)) in (-3..).zip(values) {
            let mut record = Vec::new();
            litepress_format::record::write_record(&[Value::Int(1), given], &mut record);
            chunk.push(rowid, &record);
        }
        chunk.mark_automatic(values.len() - 1);
        for (row, (_, expected)) in values.iter().enumerate() {
            let bytes = items.item(&chunk, row).expect("an item").to_vec();
            let item = Item::of(&bytes).expect("a whole item");
            assert_eq!((value(item.front), item.table), (*expected, 7));
            let found = super::row(item.row);
            assert_eq!((found.position, found.rowid), (30 + row as u64, row as i64 - 3));
            assert_eq!((found.is_automatic, found.record), (row == values.len() - 1, chunk.record(row)));
            assert!((0..item.front.len() + RECORD).all(|end| Item::of(&bytes[..end]).is_err()), "{row}");
        }
    }
}
