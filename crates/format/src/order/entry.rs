//! Sort items of whole index entries.
//!
//! ```text
//! | form of column 1 | form of column 2 | ... | form of the rowid | suffix |
//!   what UNIQUE compares                        rowid tables only   where a form keeps less
//! ```
//!
//! Everything but the suffix makes an item distinct and no start of another, so that the suffix,
//! which stands last, has no say in the order. It is there only where [`push`] said `false` for a
//! column: a record of the columns' values, with NULL for those that their forms give back.
//! (A NULL is always given back.)

use super::{Form, KeyPart, push, push_rowid, read_rowid, reads_back, skip};
use crate::FormatError;
use crate::record::{self, RecordReader, serial};
use crate::value::Value;
use crate::varint;

/// What the entries of an index are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryShape {
    pub(super) parts: Vec<KeyPart>,
    unique_columns: usize,
    pub(super) has_rowid: bool,
}

/// What UNIQUE asks of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// Length of the start of the item that no other item may have.
    pub len: usize,
    /// Whether one of its columns is NULL: then others may have it.
    pub has_null: bool,
}

impl EntryShape {
    /// An index of a rowid table: `parts` are the columns, and the rowid follows.
    #[must_use]
    pub fn with_rowid(parts: Vec<KeyPart>) -> Self {
        Self { unique_columns: parts.len(), parts, has_rowid: true }
    }

    /// An index of a WITHOUT ROWID table, or the key of the table itself: `parts` are the columns
    /// and, behind them, those of the primary key that the index did not have. The first
    /// `unique_columns` are what UNIQUE compares.
    #[must_use]
    pub fn without_rowid(parts: Vec<KeyPart>, unique_columns: usize) -> Self {
        assert!(unique_columns <= parts.len());
        Self { parts, unique_columns, has_rowid: false }
    }

    /// How the columns are ordered.
    #[must_use]
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Appends the item of the entry of these `columns`, as stored; with a rowid exactly where the
    /// shape has one.
    ///
    /// # Panics
    /// Where there are more or fewer columns than the shape has, or a rowid too many or too few.
    #[inline]
    pub fn push_item<'v>(
        &self,
        columns: impl IntoIterator<Item = Value<'v>, IntoIter: Clone>,
        rowid: Option<i64>,
        out: &mut Vec<u8>,
    ) {
        let columns = columns.into_iter();
        let mut rest = columns.clone();
        let mut reads_back = true;
        for part in &self.parts {
            let value = rest.next().expect("a value for every column of the index");
            reads_back &= push(&value, *part, out);
        }
        assert!(rest.next().is_none(), "a column of the index for every value");
        assert_eq!(rowid.is_some(), self.has_rowid);
        if let Some(rowid) = rowid {
            push_rowid(rowid, out);
        }
        if !reads_back {
            self.push_suffix(columns, out);
        }
    }

    /// The record of what the forms do not give back.
    fn push_suffix<'v>(&self, columns: impl Iterator<Item = Value<'v>> + Clone, out: &mut Vec<u8>) {
        let kept = |(value, part): (Value<'v>, &KeyPart)| if reads_back(&value, *part) { Value::Null } else { value };
        let values = columns.zip(&self.parts).map(kept);
        let serial_bytes: usize = values.clone().map(|value| varint::len(record::serial_of(&value))).sum();
        varint::push(record::header_len(serial_bytes) as u64, out);
        values.clone().for_each(|value| varint::push(record::serial_of(&value), out));
        values.for_each(|value| record::write_body(&value, out));
    }

    /// Appends the index record of `item`: the columns' values as they were pushed, and the rowid.
    ///
    /// # Errors
    /// Where `item` is none of this shape; `out` is then as it was.
    #[inline]
    pub fn write_record(&self, item: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
        let start = out.len();
        open_room(item.len() + room_beside_values(self.parts.len() + 1), out);
        let written = self.write_record_at(item, &mut out[start..]);
        out.truncate(start + *written.as_ref().unwrap_or(&0));
        written.map(|_| ())
    }

    /// Writes the record to the start of `out`, which has room for it; returns its length.
    #[inline]
    fn write_record_at(&self, item: &[u8], out: &mut [u8]) -> Result<usize, FormatError> {
        let (record_len, suffix_at) = self.write_columns(item, || Ok(None), out)?;
        if suffix_at == item.len() { Ok(record_len) } else { self.write_record_with_suffix(item, suffix_at, out) }
    }

    fn write_record_with_suffix(&self, item: &[u8], suffix_at: usize, out: &mut [u8]) -> Result<usize, FormatError> {
        let mut suffix = RecordReader::new(&item[suffix_at..]).map_err(|error| error.within(suffix_at))?;
        let mut next_kept = || suffix.next().transpose().map_err(|error| error.within(suffix_at));
        let kept_or_form = || Ok(next_kept()?.filter(|kept| *kept != Value::Null));
        let (record_len, _) = self.write_columns(item, kept_or_form, out)?;
        match next_kept()? {
            None => Ok(record_len),
            Some(_) => Err(FormatError::new("a sort item holds too many values", suffix_at)),
        }
    }

    /// Writes the record, of each column what `next_kept` gives, or else what the item's form gives
    /// back; returns its length and that of the item without the suffix.
    #[inline]
    fn write_columns<'v>(
        &self,
        item: &[u8],
        mut next_kept: impl FnMut() -> Result<Option<Value<'v>>, FormatError>,
        out: &mut [u8],
    ) -> Result<(usize, usize), FormatError> {
        let mut record = RecordWriter::new(self.parts.len() + usize::from(self.has_rowid), out);
        let mut at = 0;
        for part in &self.parts {
            let (form, len) = Form::parse(&item[at..], *part).map_err(|error| error.within(at))?;
            at += len;
            match next_kept()? {
                None => record.push_form(&form),
                Some(kept) => record.push_kept(&kept),
            }
        }
        if self.has_rowid {
            let (rowid, len) = read_rowid(&item[at..]).map_err(|error| error.within(at))?;
            at += len;
            record.push_int(rowid);
        }
        Ok((record.finish(), at))
    }

    /// What UNIQUE compares of `item`. The rowid, where there is one, stands behind it.
    ///
    /// # Errors
    /// Where `item` is none of this shape.
    #[inline]
    pub fn unique_key(&self, item: &[u8]) -> Result<UniqueKey, FormatError> {
        let mut key = UniqueKey { len: 0, has_null: false };
        for part in &self.parts[..self.unique_columns] {
            let rest = &item[key.len..];
            key.len += skip(rest, *part).map_err(|error| error.within(key.len))?;
            key.has_null |= rest[0] == super::NULL ^ part.mask();
        }
        Ok(key)
    }
}

/// Bytes that a record of so many values may take besides those of the values in the item: for each
/// an integer's body and a serial type, the header length, and the rest of the eight bytes that an
/// integer is written as.
///
/// A text has two bytes in the item beside its own, and no integer's body: that is enough for any
/// serial type.
const fn room_beside_values(values: usize) -> usize {
    (INT_LEN + 1) * values + varint::MAX_LEN + INT_LEN
}

/// The most bytes of an integer's body.
const INT_LEN: usize = 8;

/// Lengthens `out` by `room` bytes or more.
#[inline]
fn open_room(room: usize, out: &mut Vec<u8>) {
    // A length that the compiler knows costs less.
    const USUAL_ROOM: usize = 64;
    if room <= USUAL_ROOM {
        out.extend_from_slice(&[0; USUAL_ROOM]);
    } else {
        out.resize(out.len() + room, 0);
    }
}

/// Writes a record in one go: each body is written before its serial type is put into the header,
/// which has one byte for each until one needs more.
struct RecordWriter<'o> {
    out: &'o mut [u8],
    /// Where the next serial type goes.
    header_at: usize,
    /// Where the next body goes.
    body_at: usize,
}

impl<'o> RecordWriter<'o> {
    #[inline]
    fn new(values: usize, out: &'o mut [u8]) -> Self {
        Self { out, header_at: 1, body_at: 1 + values }
    }

    /// Puts the serial type of the body that was written last.
    #[inline]
    fn push_serial(&mut self, serial: u64) {
        if serial < 0x80 {
            self.out[self.header_at] = (serial & 0x7f) as u8;
            self.header_at += 1;
        } else {
            self.push_long_serial(serial);
        }
    }

    #[cold]
    fn push_long_serial(&mut self, serial: u64) {
        self.open_gap(self.header_at, varint::len(serial) - 1);
        self.header_at += varint::write(serial, &mut self.out[self.header_at..]);
    }

    /// Moves what stands from `at` on by `len` bytes.
    fn open_gap(&mut self, at: usize, len: usize) {
        self.out.copy_within(at..self.body_at, at + len);
        self.body_at += len;
    }

    #[inline(always)]
    fn push_int(&mut self, int: i64) {
        let (serial, width) = record::int_serial(int);
        // Twice, because no shift is by 64 bits.
        let half = 4 * (INT_LEN - width);
        let low_first = (int << half) << half;
        self.out[self.body_at..][..INT_LEN].copy_from_slice(&low_first.to_be_bytes());
        self.body_at += width;
        self.push_serial(serial);
    }

    #[inline]
    fn push_bytes(&mut self, bytes: &[u8], serial: u64) {
        self.out[self.body_at..][..bytes.len()].copy_from_slice(bytes);
        self.body_at += bytes.len();
        self.push_serial(serial);
    }

    #[inline]
    fn push_form(&mut self, form: &Form<'_>) {
        match form {
            Form::Int(int) => self.push_int(*int),
            Form::Text(bytes) => self.push_bytes(bytes, serial::text(bytes.len())),
            Form::Blob(bytes) => self.push_bytes(bytes, serial::blob(bytes.len())),
            Form::Real(real) => self.push_bytes(&real.to_be_bytes(), serial::REAL),
            Form::Null => self.push_serial(serial::NULL),
            Form::Escaped(escaped) => {
                let len = escaped.write(&mut self.out[self.body_at..]);
                self.body_at += len;
                self.push_serial(if escaped.is_text() { serial::text(len) } else { serial::blob(len) });
            }
        }
    }

    /// A value out of the suffix.
    fn push_kept(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.push_serial(serial::NULL),
            Value::Int(int) => self.push_int(*int),
            Value::Real(real) => self.push_form(&Form::Real(*real)),
            Value::Text(bytes) => self.push_form(&Form::Text(bytes)),
            Value::Blob(bytes) => self.push_form(&Form::Blob(bytes)),
        }
    }

    /// Length of the record.
    #[inline]
    fn finish(&mut self) -> usize {
        let serial_bytes = self.header_at - 1;
        if serial_bytes < 0x7f {
            varint::write(serial_bytes as u64 + 1, self.out);
        } else {
            self.finish_long_header(serial_bytes);
        }
        self.body_at
    }

    #[cold]
    fn finish_long_header(&mut self, serial_bytes: usize) {
        let len = record::header_len(serial_bytes);
        self.open_gap(0, len - serial_bytes - 1);
        varint::write(len as u64, self.out);
    }
}
