//! The record format (section 2.1): the values of one table row or one index key.
//!
//! ```text
//! | header length | serial type | serial type | ... | body | body | ... |
//!   varint, counts  varint each                       length given by the serial type
//!   itself
//! ```
//!
//! Worked example, the record of `(NULL, 'hello', 300)`:
//!
//! ```text
//! 04 00 17 02  68 65 6c 6c 6f  01 2c
//! |  |  |  |   'hello'         300 as two bytes
//! |  |  |  serial type 2: 16-bit integer
//! |  |  serial type 23 = 13 + 2 * 5: text of five bytes
//! |  serial type 0: NULL, no body
//! header of four bytes
//! ```
//!
//! [`write_record`] is the general encoder. An encoder that knows its columns in advance uses the building blocks
//! ([`int_serial`], [`serial::text`], [`header_len`]) and must produce the same bytes.

use std::ops::Range;

use crate::FormatError;
use crate::value::Value;
use crate::varint;

/// Serial types: the kind and length of a body.
pub mod serial {
    /// NULL; no body.
    pub const NULL: u64 = 0;
    /// Integer of 1 byte.
    pub const I8: u64 = 1;
    /// Integer of 2 bytes.
    pub const I16: u64 = 2;
    /// Integer of 3 bytes.
    pub const I24: u64 = 3;
    /// Integer of 4 bytes.
    pub const I32: u64 = 4;
    /// Integer of 6 bytes.
    pub const I48: u64 = 5;
    /// Integer of 8 bytes.
    pub const I64: u64 = 6;
    /// IEEE 754 double of 8 bytes.
    pub const REAL: u64 = 7;
    /// The integer 0; no body. Schema format 4 only.
    pub const ZERO: u64 = 8;
    /// The integer 1; no body. Schema format 4 only.
    pub const ONE: u64 = 9;

    /// Returns the serial type of a blob of `len` bytes.
    #[inline]
    #[must_use]
    pub const fn blob(len: usize) -> u64 {
        12 + 2 * len as u64
    }

    /// Returns the serial type of a text of `len` bytes.
    #[inline]
    #[must_use]
    pub const fn text(len: usize) -> u64 {
        13 + 2 * len as u64
    }

    /// Returns the body length of a serial type in bytes. The reserved serial types 10 and 11 return 0.
    #[inline]
    #[must_use]
    pub const fn body_len(serial: u64) -> u64 {
        match serial {
            NULL | ZERO | ONE | 10 | 11 => 0,
            I8..=I32 => serial,
            I48 => 6,
            I64 | REAL => 8,
            _ => (serial - 12) / 2,
        }
    }
}

/// Serial type and width of integers other than 0 and 1, by the number of whole bytes below the sign bit. Widths 5
/// and 7 do not exist: these integers take the next larger width.
pub(crate) const INT_BY_BYTES: [(u8, u8); 8] = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (5, 6), (6, 8), (6, 8)];

/// Returns the serial type of an integer and the width of its body in bytes (0 to 8): the smallest that holds it.
#[inline]
#[must_use]
pub fn int_serial(value: i64) -> (u64, usize) {
    if (0..=1).contains(&value) {
        return (serial::ZERO + value.cast_unsigned(), 0);
    }
    // XOR with the sign turns -128 into 127: both need seven bits and a sign.
    let magnitude = value ^ (value >> 63);
    let bits_below_sign = u64::BITS - magnitude.leading_zeros();
    let (serial, width) = INT_BY_BYTES[bits_below_sign as usize / 8];
    (u64::from(serial), usize::from(width))
}

/// Returns [`serial::body_len`], or `None` for the reserved serial types 10 and 11.
#[inline]
#[must_use]
pub const fn body_len(serial: u64) -> Option<u64> {
    if matches!(serial, 10 | 11) { None } else { Some(serial::body_len(serial)) }
}

/// [`serial::body_len`] of every one-byte serial type. Loops over headers look lengths up here because that is
/// cheaper.
pub const SHORT_BODY_LENS: [u8; 128] = {
    let mut lens = [0; 128];
    let mut serial = 0;
    while serial < lens.len() {
        #[expect(clippy::cast_possible_truncation, reason = "57 is the longest")]
        {
            lens[serial] = serial::body_len(serial as u64) as u8;
        }
        serial += 1;
    }
    lens
};

/// Returns the serial type that `value` is written with.
#[must_use]
pub fn serial_of(value: &Value<'_>) -> u64 {
    match value {
        Value::Null => serial::NULL,
        Value::Int(int) => int_serial(*int).0,
        Value::Real(real) if real.is_nan() => serial::NULL,
        Value::Real(_) => serial::REAL,
        Value::Text(text) => serial::text(text.len()),
        Value::Blob(blob) => serial::blob(blob.len()),
    }
}

/// Appends the body of `value`, without its serial type.
pub fn write_body(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Int(int) => {
            let (_, width) = int_serial(*int);
            out.extend_from_slice(&int.to_be_bytes()[8 - width..]);
        }
        Value::Real(real) if real.is_nan() => {}
        Value::Real(real) => out.extend_from_slice(&real.to_be_bytes()),
        Value::Text(bytes) | Value::Blob(bytes) => out.extend_from_slice(bytes),
    }
}

/// Reads the first values of a record into `values`. Returns `false` if the header up to there has a varint of
/// several bytes, or if `record` is not a record.
#[inline]
#[must_use]
pub fn read_leading<'r>(record: &'r [u8], values: &mut [Value<'r>]) -> bool {
    let Some((&header_len, rest)) = record.split_first() else { return false };
    let Some(serials) = rest.get(..values.len()) else { return false };
    let mut at = usize::from(header_len);
    if header_len >= 0x80 || at <= values.len() {
        return false;
    }
    for (value, &serial) in values.iter_mut().zip(serials) {
        let end = at + (serial::body_len(serial.into()) & 0x7f) as usize;
        match record.get(at..end).filter(|_| serial < 0x80).and_then(|body| read_body(serial.into(), body)) {
            Some(read) => *value = read,
            None => return false,
        }
        at = end;
    }
    true
}

/// Decodes a body. Returns `None` if `body` does not have the length that `serial` requires, or if `serial` is 10 or
/// 11.
#[inline]
#[must_use]
pub fn read_body(serial: u64, body: &[u8]) -> Option<Value<'_>> {
    if body_len(serial)? != body.len() as u64 {
        return None;
    }
    Some(match serial {
        serial::NULL => Value::Null,
        serial::I8..=serial::I64 => Value::Int(read_int(body)),
        serial::REAL => Value::Real(f64::from_be_bytes(body.try_into().ok()?)),
        serial::ZERO => Value::Int(0),
        serial::ONE => Value::Int(1),
        even if even % 2 == 0 => Value::Blob(body),
        _ => Value::Text(body),
    })
}

/// Returns the integer in the last field of a record, as the rowid of an index entry. Returns `None` if it is another value, or
/// `record` is not a record.
#[inline]
#[must_use]
pub fn last_int(record: &[u8]) -> Option<i64> {
    let header_len = usize::from(*record.first()?);
    let last_serials = if header_len < 0x80 { record.get(header_len.checked_sub(2)?..header_len)? } else { &[] };
    let last = match *last_serials {
        // Neither byte is a part of a longer number.
        [0..0x80, serial @ 0..0x80] => {
            let start = record.len().checked_sub(SHORT_BODY_LENS[usize::from(serial)].into())?;
            read_body(serial.into(), record.get(start.max(header_len)..)?)?
        }
        _ => RecordReader::new(record).ok()?.last()?.ok()?,
    };
    if let Value::Int(int) = last { Some(int) } else { None }
}

/// Reads a two's complement integer of a width that serial types have.
#[inline]
fn read_int(body: &[u8]) -> i64 {
    match *body {
        [a] => i8::from_be_bytes([a]).into(),
        [a, b] => i16::from_be_bytes([a, b]).into(),
        [a, b, c] => (i32::from_be_bytes([a, b, c, 0]) >> 8).into(),
        [a, b, c, d] => i32::from_be_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f] => i64::from_be_bytes([a, b, c, d, e, f, 0, 0]) >> 16,
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => unreachable!("serial types have integers of 1, 2, 3, 4, 6 and 8 bytes"),
    }
}

/// Returns the length of a header whose serial types take `serial_bytes` bytes. The header's own length varint
/// counts.
#[inline]
#[must_use]
pub const fn header_len(serial_bytes: usize) -> usize {
    let own = varint::len(serial_bytes as u64);
    let total = serial_bytes + own;
    // The length counts itself, and so may need a longer varint: 127 bytes of serial types make a header of 129.
    if varint::len(total as u64) > own { total + 1 } else { total }
}

/// Appends the record of `values`: the header, then the bodies.
pub fn write_record(values: &[Value<'_>], out: &mut Vec<u8>) {
    let serial_bytes: usize = values.iter().map(|value| varint::len(serial_of(value))).sum();
    varint::push(header_len(serial_bytes) as u64, out);
    for value in values {
        varint::push(serial_of(value), out);
    }
    for value in values {
        write_body(value, out);
    }
}

/// Counts the values of a record by its header. Returns `None` if that is malformed.
#[must_use]
pub fn field_count(record: &[u8]) -> Option<usize> {
    let (header_len, own) = varint::read(record)?;
    let header = record.get(own..usize::try_from(header_len).ok()?)?;
    // The last byte of a varint has no high bit, but for the ninth.
    Some(header.iter().filter(|byte| **byte < 0x80).count())
}

/// Decodes all values of a record.
///
/// # Errors
/// The errors of [`RecordReader`].
pub fn decode(record: &[u8]) -> Result<Vec<Value<'_>>, FormatError> {
    RecordReader::new(record)?.collect()
}

/// Reads a record value by value. It is strict: the header must end with a serial type, and the last body with the
/// record.
///
/// As an iterator it yields every value. Bytes behind the last value are an error, yielded as the last item. After an
/// error it yields nothing more.
#[derive(Clone, Debug)]
pub struct RecordReader<'a> {
    record: &'a [u8],
    /// Offset of the next serial type.
    header_at: usize,
    /// Offset of the first body, which follows the header.
    header_end: usize,
    /// Offset of the next body. After an error it is the record's end, so that the error is reported once.
    body_at: usize,
}

/// One value of a record, with the byte ranges that it was read from, counted from the start of the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'a> {
    /// The serial type.
    pub serial: u64,
    /// Range of the serial type in the header.
    pub header: Range<usize>,
    /// Range of the body; empty for serial types without one.
    pub body: Range<usize>,
    /// The value.
    pub value: Value<'a>,
}

impl<'a> RecordReader<'a> {
    /// Reads the header length of `record`, which must be complete: local payload and overflow joined.
    ///
    /// # Errors
    /// If the header length is missing, shorter than itself, or longer than the record.
    pub fn new(record: &'a [u8]) -> Result<Self, FormatError> {
        let (header_len, own) =
            varint::read(record).ok_or_else(|| FormatError::new("record ends inside its header length", 0))?;
        let header_end = usize::try_from(header_len)
            .ok()
            .filter(|end| (own..=record.len()).contains(end))
            .ok_or_else(|| FormatError::new(format!("record header length {header_len} is impossible"), 0))?;
        Ok(Self { record, header_at: own, header_end, body_at: header_end })
    }

    /// Returns the next value and its byte ranges, or `None` behind the last one.
    ///
    /// # Errors
    /// If a serial type or a body does not fit, a serial type is 10 or 11, or bytes follow the last body.
    pub fn next_field(&mut self) -> Result<Option<Field<'a>>, FormatError> {
        let field = if self.header_at < self.header_end { self.read_field().map(Some) } else { self.finish() };
        match &field {
            Ok(Some(read)) => (self.header_at, self.body_at) = (read.header.end, read.body.end),
            _ => (self.header_at, self.body_at) = (self.header_end, self.record.len()),
        }
        field
    }

    fn read_field(&self) -> Result<Field<'a>, FormatError> {
        let (serial, serial_len) = varint::read(&self.record[self.header_at..self.header_end])
            .ok_or_else(|| FormatError::new("record header ends inside a serial type", self.header_at))?;
        let bad_serial = || FormatError::new(format!("serial type {serial} is reserved"), self.header_at);
        let body_len = body_len(serial).ok_or_else(bad_serial)?;
        let body_end = usize::try_from(body_len)
            .ok()
            .and_then(|len| self.body_at.checked_add(len))
            .filter(|end| *end <= self.record.len())
            .ok_or_else(|| FormatError::new(format!("record ends inside a value of {body_len} bytes"), self.body_at))?;
        let body = self.body_at..body_end;
        let value = read_body(serial, &self.record[body.clone()]).ok_or_else(bad_serial)?;
        Ok(Field { serial, header: self.header_at..self.header_at + serial_len, body, value })
    }

    fn finish(&self) -> Result<Option<Field<'a>>, FormatError> {
        match self.record.len() - self.body_at {
            0 => Ok(None),
            left => {
                let bytes = if left == 1 { "1 byte follows" } else { &format!("{left} bytes follow") };
                Err(FormatError::new(format!("{bytes} the last value of the record"), self.body_at))
            }
        }
    }
}

impl<'a> Iterator for RecordReader<'a> {
    type Item = Result<Value<'a>, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_field().transpose()?.map(|field| field.value))
    }
}

#[cfg(test)]
mod tests;
