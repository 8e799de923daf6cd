//! Sort items of up to 32 bytes, made and turned into records in whole words.
//!
//! Most index entries are short: a number or a few letters, and a rowid. What
//! [`EntryShape::push_item`] and [`EntryShape::write_record`] do for any entry costs several times
//! as much: their vectors grow, and their copies have any length. Whatever is long, escaped, folded
//! or real is left to them.
//!
//! If you change the form or the record here, also change them there: `order::tests` compares both.

use super::{BLOB, EntryShape, Form, KeyPart, NULL, TEXT, number, read_rowid, text};
use crate::copy::copy_short;
use crate::record::{self, serial};
use crate::value::Value;

/// The longest item that is made here.
pub const SHORT_LEN: usize = 32;

/// The most columns of an entry that is made here.
const MAX_COLUMNS: usize = 4;

/// What a last word written at the longest item's end may take.
const ITEM_ROOM: usize = 2 * SHORT_LEN;

/// Length of the payload, header, an integer of 8 bytes for every value, and what texts take beyond that.
const CELL_ROOM: usize = 1 + (2 + MAX_COLUMNS) + 8 * (1 + MAX_COLUMNS) + 2 * SHORT_LEN;

/// A sort item of up to [`SHORT_LEN`] bytes.
#[derive(Clone, Debug)]
pub struct ShortItem {
    bytes: [u8; ITEM_ROOM],
    len: usize,
}

impl Default for ShortItem {
    fn default() -> Self {
        Self { bytes: [0; ITEM_ROOM], len: 0 }
    }
}

impl ShortItem {
    /// The item.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The item, and zeros behind it.
    #[inline]
    #[must_use]
    pub fn padded(&self) -> &[u8; SHORT_LEN] {
        self.bytes.first_chunk().expect("there is more room than that")
    }
}

/// An index entry as the cell of a leaf: the length of its record in one byte, and the record.
#[derive(Clone, Debug)]
pub struct ShortCell {
    bytes: [u8; CELL_ROOM],
    len: usize,
}

impl Default for ShortCell {
    fn default() -> Self {
        Self { bytes: [0; CELL_ROOM], len: 0 }
    }
}

impl ShortCell {
    /// The cell.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl EntryShape {
    /// Makes the item that [`push_item`](Self::push_item) would append; `false` where it is none for
    /// this module.
    #[inline]
    pub fn make_short<'v>(
        &self,
        columns: impl IntoIterator<Item = Value<'v>>,
        rowid: Option<i64>,
        item: &mut ShortItem,
    ) -> bool {
        let mut at = 0;
        for (value, part) in columns.into_iter().zip(&self.parts) {
            match write_short(&value, *part, &mut item.bytes, at) {
                Some(end) => at = end,
                None => return false,
            }
        }
        if let Some(rowid) = rowid {
            at += number::write_rowid(rowid, room_for_number(&mut item.bytes, at));
        }
        if at > SHORT_LEN {
            return false;
        }
        item.bytes[at..at + SHORT_LEN].fill(0);
        item.len = at;
        true
    }

    /// Makes the cell of the record that [`write_record`](Self::write_record) would append for the item of `len` bytes
    /// at the start of `item`, behind which anything may stand; `false` where it is none for this module.
    #[inline]
    pub fn make_short_cell(&self, item: &[u8], len: usize, cell: &mut ShortCell) -> bool {
        if len > SHORT_LEN || self.parts.len() > MAX_COLUMNS {
            return false;
        }
        let header_len = 1 + self.parts.len() + usize::from(self.has_rowid);
        let (mut at, mut serial_at, mut body_at) = (0, 2, 1 + header_len);
        for part in &self.parts {
            let Ok((form, form_len)) = Form::parse(&item[at..], *part) else { return false };
            let Some((serial, body_len)) = write_body(&form, &mut cell.bytes, body_at) else { return false };
            cell.bytes[serial_at] = serial;
            at += form_len;
            if at > len {
                return false;
            }
            serial_at += 1;
            body_at += body_len;
        }
        if self.has_rowid {
            let Ok((rowid, form_len)) = read_rowid(&item[at..]) else { return false };
            let (serial, body_len) = write_int(rowid, &mut cell.bytes, body_at);
            cell.bytes[serial_at] = serial;
            at += form_len;
            body_at += body_len;
        }
        cell.bytes[0] = low_byte(body_at - 1);
        cell.bytes[1] = low_byte(header_len);
        cell.len = body_at;
        at == len
    }
}

/// Writes the form of `value` at `at`, where the item is short enough up to there; the form's end.
#[inline]
fn write_short(value: &Value<'_>, part: KeyPart, bytes: &mut [u8; ITEM_ROOM], at: usize) -> Option<usize> {
    let end = match *value {
        Value::Null => {
            bytes[at] = NULL;
            at + 1
        }
        Value::Int(int) => at + number::write_int(int, room_for_number(bytes, at)),
        Value::Text(text) if !text::is_folded(text, part.collation) => write_string(TEXT, text, bytes, at)?,
        Value::Blob(blob) => write_string(BLOB, blob, bytes, at)?,
        Value::Text(_) | Value::Real(_) => return None,
    };
    if part.descending {
        bytes[at..end].iter_mut().for_each(|byte| *byte = !*byte);
    }
    (end <= SHORT_LEN).then_some(end)
}

#[inline]
fn room_for_number(bytes: &mut [u8; ITEM_ROOM], at: usize) -> &mut [u8; number::MAX_LEN] {
    bytes[at..].first_chunk_mut().expect("room behind a short item")
}

/// Writes the form of a text or blob that needs no escapes.
#[inline]
fn write_string(tag: u8, string: &[u8], bytes: &mut [u8; ITEM_ROOM], at: usize) -> Option<usize> {
    let end = at + 1 + string.len();
    if end >= SHORT_LEN || text::has_low_byte(string) {
        return None;
    }
    bytes[at] = tag;
    copy_short(string, &mut bytes[at + 1..end]);
    bytes[end] = text::END;
    Some(end + 1)
}

/// Writes the body of what a form stands for; its serial type and length.
#[inline]
fn write_body(form: &Form<'_>, out: &mut [u8; CELL_ROOM], at: usize) -> Option<(u8, usize)> {
    let (serial, body) = match *form {
        Form::Int(int) => return Some(write_int(int, out, at)),
        Form::Null => return Some((low_byte(0), 0)),
        Form::Text(text) if text.len() <= SHORT_LEN => (serial::text(text.len()), text),
        Form::Blob(blob) if blob.len() <= SHORT_LEN => (serial::blob(blob.len()), blob),
        _ => return None,
    };
    copy_short(body, &mut out[at..at + body.len()]);
    Some(((serial & 0x7f) as u8, body.len()))
}

#[inline]
fn write_int(int: i64, out: &mut [u8; CELL_ROOM], at: usize) -> (u8, usize) {
    let (serial, width) = record::int_serial(int);
    // Twice, because no shift is by 64 bits.
    let half = 4 * (8 - width);
    out[at..at + 8].copy_from_slice(&((int << half) << half).to_be_bytes());
    ((serial & 0x7f) as u8, width)
}

/// A length below 128.
#[inline]
fn low_byte(len: usize) -> u8 {
    (len & 0x7f) as u8
}
