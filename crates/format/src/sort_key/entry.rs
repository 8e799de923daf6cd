//! Encodes whole index entries as sort items.
//!
//! ```text
//! | encoded column 1 | encoded column 2 | ... | encoded rowid | suffix |
//!   UNIQUE compares these                       rowid tables    only if an encoding
//!                                               only            is lossy
//! ```
//!
//! The part in front of the suffix is distinct and prefix-free, so the suffix never decides the order. The suffix is
//! present only if [`push`] returned `false` for a column. It is a record of the columns' values, with NULL for those
//! that their encodings restore. (A NULL is always restored.)

use super::{KeyPart, ParsedValue, is_lossless, push, push_rowid, read_rowid, skip};
use crate::FormatError;
use crate::header::TextEncoding;
use crate::record::{self, RecordReader, serial};
use crate::value::Value;
use crate::varint;

/// The columns of an index entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntryLayout {
    pub(super) parts: Vec<KeyPart>,
    unique_columns: usize,
    pub(super) has_rowid: bool,
}

/// The part of an item that UNIQUE compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// Length of the item's prefix that no other item may have.
    pub len: usize,
    /// Whether one of its columns is NULL: then other items may have the same prefix.
    pub has_null: bool,
}

impl IndexEntryLayout {
    /// Describes an index of a rowid table: `parts` are the columns, and the rowid follows.
    #[must_use]
    pub fn with_rowid(parts: Vec<KeyPart>) -> Self {
        Self { unique_columns: parts.len(), parts, has_rowid: true }
    }

    /// Describes an index of a WITHOUT ROWID table, or the key of the table itself. `parts` are the columns, followed
    /// by those columns of the primary key that the index lacked. UNIQUE compares the first `unique_columns`.
    #[must_use]
    pub fn without_rowid(parts: Vec<KeyPart>, unique_columns: usize) -> Self {
        assert!(unique_columns <= parts.len());
        Self { parts, unique_columns, has_rowid: false }
    }

    /// Sets the encoding of the texts that items are made of.
    pub fn set_encoding(&mut self, encoding: TextEncoding) {
        self.parts.iter_mut().for_each(|part| part.collation = part.collation.in_encoding(encoding));
    }

    /// Returns the order of each column.
    #[must_use]
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Appends the item of the entry of these `columns`, as stored. `rowid` is `Some` exactly if the layout has a
    /// rowid.
    ///
    /// # Panics
    /// If the number of columns is not that of the layout, or a rowid is missing or superfluous.
    #[inline]
    pub fn push_item<'v>(
        &self,
        columns: impl IntoIterator<Item = Value<'v>, IntoIter: Clone>,
        rowid: Option<i64>,
        out: &mut Vec<u8>,
    ) {
        let columns = columns.into_iter();
        let mut rest = columns.clone();
        let mut is_lossless = true;
        for part in &self.parts {
            let value = rest.next().expect("a value for every column of the index");
            is_lossless &= push(&value, *part, out);
        }
        assert!(rest.next().is_none(), "a column of the index for every value");
        assert_eq!(rowid.is_some(), self.has_rowid);
        if let Some(rowid) = rowid {
            push_rowid(rowid, out);
        }
        if !is_lossless {
            self.push_suffix(columns, out);
        }
    }

    /// Appends the suffix: a record of the values that their encodings do not restore.
    fn push_suffix<'v>(&self, columns: impl Iterator<Item = Value<'v>> + Clone, out: &mut Vec<u8>) {
        let kept = |(value, part): (Value<'v>, &KeyPart)| if is_lossless(&value, *part) { Value::Null } else { value };
        let values = columns.zip(&self.parts).map(kept);
        let serial_bytes: usize = values.clone().map(|value| varint::len(record::serial_of(&value))).sum();
        varint::push(record::header_len(serial_bytes) as u64, out);
        values.clone().for_each(|value| varint::push(record::serial_of(&value), out));
        values.for_each(|value| record::write_body(&value, out));
    }

    /// Appends the index record of `item`: the original values of the columns, and the rowid.
    ///
    /// # Errors
    /// If `item` does not match this layout. `out` is then unchanged.
    #[inline]
    pub fn write_record(&self, item: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
        let start = out.len();
        open_room(item.len() + room_beside_values(self.parts.len() + 1), out);
        let written = self.write_record_at(item, &mut out[start..]);
        out.truncate(start + *written.as_ref().unwrap_or(&0));
        written.map(|_| ())
    }

    /// Writes the record to the start of `out`, which must be large enough. Returns its length.
    #[inline]
    fn write_record_at(&self, item: &[u8], out: &mut [u8]) -> Result<usize, FormatError> {
        let (record_len, suffix_at) = self.write_columns(item, || Ok(None), out)?;
        if suffix_at == item.len() { Ok(record_len) } else { self.write_record_with_suffix(item, suffix_at, out) }
    }

    fn write_record_with_suffix(&self, item: &[u8], suffix_at: usize, out: &mut [u8]) -> Result<usize, FormatError> {
        let mut suffix = RecordReader::new(&item[suffix_at..]).map_err(|error| error.within(suffix_at))?;
        let mut next_kept = || suffix.next().transpose().map_err(|error| error.within(suffix_at));
        let kept_or_encoded = || Ok(next_kept()?.filter(|kept| *kept != Value::Null));
        let (record_len, _) = self.write_columns(item, kept_or_encoded, out)?;
        match next_kept()? {
            None => Ok(record_len),
            Some(_) => Err(FormatError::new("a sort item holds too many values", suffix_at)),
        }
    }

    /// Writes the record. Each column has the value of `next_kept`, or else the value decoded from the item. Returns
    /// the length of the record and that of the item without the suffix.
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
            let (encoding, len) = ParsedValue::parse(&item[at..], *part).map_err(|error| error.within(at))?;
            at += len;
            match next_kept()? {
                None => record.push_parsed(&encoding),
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

    /// Returns the part of `item` that UNIQUE compares. The rowid, if any, follows it.
    ///
    /// # Errors
    /// If `item` does not match this layout.
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

/// Returns the bytes that a record of `values` values may take in addition to the item: for each an integer's body
/// and a serial type, then the header length, and the rest of the eight bytes that an integer is written as.
///
/// A text has two bytes in the item besides its own, and no integer's body: that is enough for any serial type.
const fn room_beside_values(values: usize) -> usize {
    (INT_LEN + 1) * values + varint::MAX_LEN + INT_LEN
}

/// The longest body of an integer, in bytes.
const INT_LEN: usize = 8;

/// Lengthens `out` by at least `room` bytes.
#[inline]
fn open_room(room: usize, out: &mut Vec<u8>) {
    // A length known at compile time costs less.
    const USUAL_ROOM: usize = 64;
    if room <= USUAL_ROOM {
        out.extend_from_slice(&[0; USUAL_ROOM]);
    } else {
        out.resize(out.len() + room, 0);
    }
}

/// Writes a record in one pass. Each body is written before its serial type. The header has one byte a serial type
/// until one needs more.
struct RecordWriter<'o> {
    out: &'o mut [u8],
    /// Offset of the next serial type.
    header_at: usize,
    /// Offset of the next body.
    body_at: usize,
}

impl<'o> RecordWriter<'o> {
    #[inline]
    fn new(values: usize, out: &'o mut [u8]) -> Self {
        Self { out, header_at: 1, body_at: 1 + values }
    }

    /// Writes the serial type of the last body.
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

    /// Moves the bytes from `at` on back by `len` bytes.
    fn open_gap(&mut self, at: usize, len: usize) {
        self.out.copy_within(at..self.body_at, at + len);
        self.body_at += len;
    }

    #[inline(always)]
    fn push_int(&mut self, int: i64) {
        let (serial, width) = record::int_serial(int);
        // Two shifts, because a shift by 64 bits is not defined.
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
    fn push_parsed(&mut self, encoding: &ParsedValue<'_>) {
        match encoding {
            ParsedValue::Int(int) => self.push_int(*int),
            ParsedValue::Text(bytes) => self.push_bytes(bytes, serial::text(bytes.len())),
            ParsedValue::Blob(bytes) => self.push_bytes(bytes, serial::blob(bytes.len())),
            ParsedValue::Real(real) => self.push_bytes(&real.to_be_bytes(), serial::REAL),
            ParsedValue::Null => self.push_serial(serial::NULL),
            ParsedValue::Escaped(escaped) => {
                let len = escaped.write(&mut self.out[self.body_at..]);
                self.body_at += len;
                self.push_serial(if escaped.is_text() { serial::text(len) } else { serial::blob(len) });
            }
        }
    }

    /// Appends a value of the suffix.
    fn push_kept(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.push_serial(serial::NULL),
            Value::Int(int) => self.push_int(*int),
            Value::Real(real) => self.push_parsed(&ParsedValue::Real(*real)),
            Value::Text(bytes) => self.push_parsed(&ParsedValue::Text(bytes)),
            Value::Blob(bytes) => self.push_parsed(&ParsedValue::Blob(bytes)),
        }
    }

    /// Completes the header. Returns the length of the record.
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
