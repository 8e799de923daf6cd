//! Encodes sort items of up to 32 bytes, and decodes them into index cells, in whole words.
//!
//! Most index entries are short: a number or a few letters, and a rowid. [`IndexEntryLayout::push_item`] and
//! [`IndexEntryLayout::write_record`] handle any entry but cost several times as much: their vectors grow, and their
//! copies have any length. Long, escaped, folded and real values are left to them.
//!
//! If you change the encoding or the record here, also change them there: `sort_key::tests` compares both.

use super::{BLOB, IndexEntryLayout, KeyPart, NULL, ParsedValue, TEXT, number, number::RowidClass, read_rowid, text};
use crate::record::{self, serial};
use crate::short_bytes::{copy_short, two_words};
use crate::value::Value;

/// The longest item of this module.
pub const SHORT_LEN: usize = 32;

/// The most columns of an entry in this module.
const MAX_COLUMNS: usize = 4;

/// Bytes of the buffer that an item is written to: its last word is written as a whole.
pub const SHORT_ROOM: usize = 2 * SHORT_LEN;

/// The longest cell: the payload length, the header, an integer of 8 bytes for every value, and texts.
const CELL_ROOM: usize = 1 + (2 + MAX_COLUMNS) + 8 * (1 + MAX_COLUMNS) + 2 * SHORT_LEN;

/// The most bytes, up to the end of a cell, that [`CellTemplate::write_all`] writes.
pub const CELL_WINDOW: usize = 32;

/// The window of a cell of up to 16 bytes.
const SHORT_CELL_WINDOW: usize = 16;

/// An index entry as the cell of a leaf: the length of its record in one byte, and the record.
///
/// It is reused from entry to entry and keeps the columns of the last one: entries of one key differ only in their
/// rowids.
#[derive(Clone, Debug)]
pub struct ShortCell {
    /// The cell except for the parts that the rowid decides: both lengths, its serial type and its body.
    columns: [u8; CELL_ROOM],
    columns_end: usize,
    /// The item whose columns are encoded, and the bits of it that are columns.
    key: [u128; 2],
    key_mask: [u128; 2],
    /// Length of the encoded columns; 0 if there are none.
    key_len: usize,
    rowid: Option<ShortInt>,
    class: RowidClass,
    /// Offset of the rowid's serial type.
    rowid_serial_at: usize,
    /// The template of such entries, once it was requested.
    template: Option<CellTemplate>,
}

/// An integer as a record stores it. The body is at the front of `body`, big-endian.
#[derive(Clone, Copy, Debug)]
struct ShortInt {
    serial: u8,
    width: usize,
    body: u64,
}

impl ShortInt {
    #[inline]
    fn new(int: i64) -> Self {
        let (serial, width) = record::int_serial(int);
        // Two shifts, because a shift by 64 bits is not defined.
        let half = 4 * (8 - width);
        Self { serial: one_byte(serial), width, body: ((int << half) << half).cast_unsigned() }
    }
}

impl Default for ShortCell {
    fn default() -> Self {
        let (columns, key, key_mask) = ([0; CELL_ROOM], [0; 2], [0; 2]);
        let (rowid, class, template) = (None, RowidClass::NONE, None);
        Self { columns, columns_end: 0, key, key_mask, key_len: 0, rowid, class, rowid_serial_at: 0, template }
    }
}

impl ShortCell {
    /// Returns the length of the cell in bytes.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a cell is never empty")]
    pub fn len(&self) -> usize {
        self.columns_end + self.rowid.map_or(0, |rowid| rowid.width)
    }

    /// Writes the cell to `out`.
    ///
    /// # Panics
    /// If `out` has another length.
    #[inline]
    pub fn write(&self, out: &mut [u8]) {
        copy_short(&self.columns[..self.columns_end], &mut out[..self.columns_end]);
        if let Some(ShortInt { serial, width, body }) = self.rowid {
            out[self.rowid_serial_at] = serial;
            copy_short(&body.to_be_bytes()[..width], &mut out[self.columns_end..]);
        }
        out[0] = one_byte(out.len() as u64 - 1);
    }

    /// Returns the template of entries with the same columns and with rowids of the same encoded length and body
    /// length. Returns `None` if the cell is longer than [`CELL_WINDOW`] or its rowid belongs to no class.
    #[inline]
    pub fn template(&mut self) -> Option<&CellTemplate> {
        if self.key_len == 0 {
            return None;
        }
        if self.template.is_none() {
            self.template = self.new_template();
        }
        self.template.as_ref()
    }

    /// Never inlined: reading back bytes that were just written waits for all stores before them, which are whole
    /// pages.
    #[inline(never)]
    fn new_template(&self) -> Option<CellTemplate> {
        let (len, rowid) = (self.len(), self.rowid?);
        if len > CELL_WINDOW {
            return None;
        }
        let mut cell = [0; CELL_WINDOW];
        self.write(&mut cell[CELL_WINDOW - len..]);
        cell[CELL_WINDOW - rowid.width..].fill(0);
        let last = u64::from_be_bytes(*cell.last_chunk().expect("more than eight bytes"));
        Some(CellTemplate { len, cell, last, class: self.class })
    }

    /// Returns the length of the encoded columns, or `None` if the cell has none.
    #[inline]
    #[must_use]
    pub fn key_len(&self) -> Option<usize> {
        (self.key_len > 0).then_some(self.key_len)
    }

    #[inline(always)]
    fn set_rowid(&mut self, encoding: u64) -> bool {
        if !self.class.has(encoding) {
            return false;
        }
        let rowid = self.class.rowid_of(encoding);
        let width = usize::from(self.class.width);
        let body = rowid << (u64::BITS as usize - 8 * width);
        self.rowid = Some(ShortInt { serial: self.class.serial, width, body });
        true
    }

    /// Returns whether `item` starts with the columns of this cell.
    #[inline]
    fn has_key(&self, item: [u128; 2]) -> bool {
        let differ = |word: usize| (item[word] ^ self.key[word]) & self.key_mask[word];
        self.key_len > 0 && differ(0) | differ(1) == 0
    }

    #[inline]
    fn keep_key(&mut self, item: [u128; 2], key_len: usize, columns_end: usize) {
        let mask = |bytes: usize| if bytes >= 16 { u128::MAX } else { !(u128::MAX >> (8 * bytes)) };
        self.key = item;
        self.key_mask = [mask(key_len), mask(key_len.saturating_sub(16))];
        (self.key_len, self.columns_end, self.template) = (key_len, columns_end, None);
    }
}

/// A cell of which only the rowid changes. All cells made from it have one length.
#[derive(Clone, Debug)]
pub struct CellTemplate {
    len: usize,
    /// The cell at the end of the window, zeros in place of the rowid's body, and its last eight bytes.
    cell: [u8; CELL_WINDOW],
    last: u64,
    class: RowidClass,
}

impl CellTemplate {
    /// Returns the length of each cell in bytes.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a cell is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the rowid encoded at the front of `word` has the encoded length and body length of this
    /// template.
    #[inline(always)]
    #[must_use]
    pub fn fits(&self, encoding: u64) -> bool {
        self.class.has(encoding)
    }

    /// Writes the cells of the rowids encoded at the front of `words` to the end of `room`, each in front of the one
    /// before. The bytes in front of the last one are overwritten.
    ///
    /// # Panics
    /// If the end of a cell has fewer than [`CELL_WINDOW`] bytes in front of it.
    #[inline(always)]
    pub fn write_all(&self, encodings: impl Iterator<Item = u64>, room: &mut [u8]) {
        if self.len <= SHORT_CELL_WINDOW {
            self.write_by::<SHORT_CELL_WINDOW>(encodings, room);
        } else {
            self.write_by::<CELL_WINDOW>(encodings, room);
        }
    }

    #[inline(always)]
    fn write_by<const WINDOW: usize>(&self, encodings: impl Iterator<Item = u64>, room: &mut [u8]) {
        let Self { len, cell, last, class } = self.clone();
        let (window_start, last_at) = (CELL_WINDOW - WINDOW, WINDOW - 8);
        let mut end = room.len();
        for encoding in encodings {
            let window: &mut [u8; WINDOW] = room[..end].last_chunk_mut().expect("room for every cell");
            window[..last_at].copy_from_slice(&cell[window_start..window_start + last_at]);
            window[last_at..].copy_from_slice(&(last | class.rowid_of(encoding)).to_be_bytes());
            end -= len;
        }
    }
}

impl IndexEntryLayout {
    /// Writes the item that [`push_item`](Self::push_item) would append to the start of `room`, and zeros behind it
    /// up to [`SHORT_LEN`] bytes. Returns its length, or `None` if it is too long or has a real, a folded text or an
    /// escape.
    ///
    /// The item is written to its final place: reading it back at once would wait for the many small stores.
    #[inline(always)]
    pub fn make_short<'v>(
        &self,
        columns: impl IntoIterator<Item = Value<'v>>,
        rowid: Option<i64>,
        room: &mut [u8; SHORT_ROOM],
    ) -> Option<usize> {
        let mut at = 0;
        for (value, part) in columns.into_iter().zip(&self.parts) {
            at = write_short(&value, *part, room, at)?;
        }
        if let Some(rowid) = rowid {
            at += number::write_rowid(rowid, room_for_number(room, at));
        }
        if at > SHORT_LEN {
            return None;
        }
        room[at..at + SHORT_LEN].fill(0);
        Some(at)
    }

    /// Makes the cell of the record that [`write_record`](Self::write_record) would append. The item is the first
    /// `len` bytes of `item`; bytes behind it are ignored. Returns `false` if this module cannot encode the cell.
    /// Reuse a cell only for one layout.
    #[inline(always)]
    pub fn make_short_cell(&self, item: &[u8], len: usize, cell: &mut ShortCell) -> bool {
        let Some(words) = item.first_chunk().filter(|_| len <= SHORT_LEN) else { return false };
        let words = two_words(words);
        if !cell.has_key(words) && !self.write_columns_of(item, len, words, cell) {
            cell.key_len = 0;
            return false;
        }
        let mut at = cell.key_len;
        if self.has_rowid {
            let encoding = &item[at..];
            at += if encoding.first_chunk().is_some_and(|word| cell.set_rowid(u64::from_be_bytes(*word))) {
                cell.class.encoded_len()
            } else {
                let Ok((rowid, encoded_len)) = read_rowid(encoding) else { return false };
                cell.class = *RowidClass::of(rowid);
                (cell.rowid, cell.template) = (Some(ShortInt::new(rowid)), None);
                encoded_len
            };
        }
        at == len
    }

    /// Writes everything but the parts of the cell that the rowid decides.
    #[inline(never)]
    fn write_columns_of(&self, item: &[u8], len: usize, words: [u128; 2], cell: &mut ShortCell) -> bool {
        if self.parts.len() > MAX_COLUMNS {
            return false;
        }
        let header_len = 1 + self.parts.len() + usize::from(self.has_rowid);
        let (mut at, mut body_at) = (0, 1 + header_len);
        for (column, part) in self.parts.iter().enumerate() {
            let Ok((encoding, encoded_len)) = ParsedValue::parse(&item[at..], *part) else { return false };
            let Some((serial, body_len)) = write_body(&encoding, &mut cell.columns, body_at) else { return false };
            cell.columns[2 + column] = serial;
            at += encoded_len;
            body_at += body_len;
            if at > len {
                return false;
            }
        }
        cell.columns[1] = one_byte(header_len as u64);
        cell.rowid_serial_at = 2 + self.parts.len();
        cell.keep_key(words, at, body_at);
        true
    }
}

/// Writes the encoding of `value` at `at`, if the item up to there stays short. Returns the end of the encoding.
#[inline(always)]
fn write_short(value: &Value<'_>, part: KeyPart, bytes: &mut [u8; SHORT_ROOM], at: usize) -> Option<usize> {
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
fn room_for_number(bytes: &mut [u8; SHORT_ROOM], at: usize) -> &mut [u8; number::MAX_LEN] {
    bytes[at..].first_chunk_mut().expect("room behind a short item")
}

/// Writes the encoding of a text or blob without bytes to escape. Returns its end.
#[inline]
fn write_string(tag: u8, string: &[u8], bytes: &mut [u8; SHORT_ROOM], at: usize) -> Option<usize> {
    let end = at + 1 + string.len();
    if end >= SHORT_LEN || text::has_low_byte(string) {
        return None;
    }
    bytes[at] = tag;
    copy_short(string, &mut bytes[at + 1..end]);
    bytes[end] = text::END;
    Some(end + 1)
}

/// Writes the record body of a parsed value. Returns its serial type and length.
#[inline]
fn write_body(encoding: &ParsedValue<'_>, out: &mut [u8; CELL_ROOM], at: usize) -> Option<(u8, usize)> {
    let (serial, body) = match *encoding {
        ParsedValue::Int(int) => {
            let ShortInt { serial, width, body } = ShortInt::new(int);
            out[at..at + 8].copy_from_slice(&body.to_be_bytes());
            return Some((serial, width));
        }
        ParsedValue::Null => return Some((0, 0)),
        ParsedValue::Text(text) if text.len() <= SHORT_LEN => (serial::text(text.len()), text),
        ParsedValue::Blob(blob) if blob.len() <= SHORT_LEN => (serial::blob(blob.len()), blob),
        _ => return None,
    };
    copy_short(body, &mut out[at..at + body.len()]);
    Some((one_byte(serial), body.len()))
}

/// Returns a length or serial type as one byte. All varints of a short cell have one byte.
#[inline]
fn one_byte(number: u64) -> u8 {
    assert!(number < 0x80, "a short cell has no number of two bytes");
    (number & 0x7f) as u8
}
