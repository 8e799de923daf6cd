//! Sort items of up to 32 bytes, made and turned into records in whole words.
//!
//! Most index entries are short: a number or a few letters, and a rowid. What
//! [`EntryShape::push_item`] and [`EntryShape::write_record`] do for any entry costs several times
//! as much: their vectors grow, and their copies have any length. Whatever is long, escaped, folded
//! or real is left to them.
//!
//! If you change the form or the record here, also change them there: `order::tests` compares both.

use super::{BLOB, EntryShape, Form, KeyPart, NULL, TEXT, number, number::RowidClass, read_rowid, text};
use crate::copy::{copy_short, two_words};
use crate::record::{self, serial};
use crate::value::Value;

/// The longest item that is made here.
pub const SHORT_LEN: usize = 32;

/// The most columns of an entry that is made here.
const MAX_COLUMNS: usize = 4;

/// What making an item may write to: the words at its end are whole ones.
pub const SHORT_ROOM: usize = 2 * SHORT_LEN;

/// Length of the payload, header, an integer of 8 bytes for every value, and what texts take beyond that.
const CELL_ROOM: usize = 1 + (2 + MAX_COLUMNS) + 8 * (1 + MAX_COLUMNS) + 2 * SHORT_LEN;

/// Bytes up to the end of a cell that [`AlikeCells::write_all`] writes to, at most.
pub const CELL_WINDOW: usize = 32;

/// And where that is enough for the cell.
const SHORT_CELL_WINDOW: usize = 16;

/// An index entry as the cell of a leaf: the length of its record in one byte, and the record.
///
/// Made again and again, it keeps the columns of the entry before: entries of one key differ in their rowids alone.
#[derive(Clone, Debug)]
pub struct ShortCell {
    /// The cell without what the rowid decides: both lengths, its serial type and its body.
    columns: [u8; CELL_ROOM],
    columns_end: usize,
    /// The forms of the columns, and which bits of it those are.
    key: [u128; 2],
    key_mask: [u128; 2],
    /// 0 where there are no columns.
    key_len: usize,
    rowid: Option<ShortInt>,
    class: RowidClass,
    /// Where the serial type of the rowid stands.
    rowid_serial_at: usize,
    /// What such entries have in common, once it was asked for.
    alike: Option<AlikeCells>,
}

/// An integer as a record holds it: the body first in `body`, big-endian.
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
        // Twice, because no shift is by 64 bits.
        let half = 4 * (8 - width);
        Self { serial: one_byte(serial), width, body: ((int << half) << half).cast_unsigned() }
    }
}

impl Default for ShortCell {
    fn default() -> Self {
        let (columns, key, key_mask) = ([0; CELL_ROOM], [0; 2], [0; 2]);
        let (rowid, class, alike) = (None, RowidClass::NONE, None);
        Self { columns, columns_end: 0, key, key_mask, key_len: 0, rowid, class, rowid_serial_at: 0, alike }
    }
}

impl ShortCell {
    /// Bytes of the cell.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a cell is never empty")]
    pub fn len(&self) -> usize {
        self.columns_end + self.rowid.map_or(0, |rowid| rowid.width)
    }

    /// Writes the cell to `out`.
    ///
    /// # Panics
    /// Where `out` has another length.
    #[inline]
    pub fn write(&self, out: &mut [u8]) {
        copy_short(&self.columns[..self.columns_end], &mut out[..self.columns_end]);
        if let Some(ShortInt { serial, width, body }) = self.rowid {
            out[self.rowid_serial_at] = serial;
            copy_short(&body.to_be_bytes()[..width], &mut out[self.columns_end..]);
        }
        out[0] = one_byte(out.len() as u64 - 1);
    }

    /// The cells of entries that have the same columns, and rowids whose forms and bodies are as long; `None` where this
    /// one is too long for that, or has no such rowid.
    #[inline]
    pub fn alike(&mut self) -> Option<&AlikeCells> {
        if self.key_len == 0 {
            return None;
        }
        if self.alike.is_none() {
            self.alike = self.new_alike();
        }
        self.alike.as_ref()
    }

    /// Reading what was just written to memory waits until all is there that was written before: whole pages.
    #[inline(never)]
    fn new_alike(&self) -> Option<AlikeCells> {
        let (len, rowid) = (self.len(), self.rowid?);
        if len > CELL_WINDOW {
            return None;
        }
        let mut cell = [0; CELL_WINDOW];
        self.write(&mut cell[CELL_WINDOW - len..]);
        cell[CELL_WINDOW - rowid.width..].fill(0);
        let last = u64::from_be_bytes(*cell.last_chunk().expect("more than eight bytes"));
        Some(AlikeCells { len, cell, last, class: self.class })
    }

    /// Length of the columns' forms in the item whose columns it has; `None` where there are none.
    #[inline]
    #[must_use]
    pub fn key_len(&self) -> Option<usize> {
        (self.key_len > 0).then_some(self.key_len)
    }

    #[inline(always)]
    fn set_rowid(&mut self, form: u64) -> bool {
        if !self.class.has(form) {
            return false;
        }
        let rowid = self.class.rowid_of(form);
        let width = usize::from(self.class.width);
        let body = rowid << (u64::BITS as usize - 8 * width);
        self.rowid = Some(ShortInt { serial: self.class.serial, width, body });
        true
    }

    /// Whether the columns at the start of an item are those that are there.
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
        (self.key_len, self.columns_end, self.alike) = (key_len, columns_end, None);
    }
}

/// Cells that differ in their rowids alone, and are of one length.
#[derive(Clone, Debug)]
pub struct AlikeCells {
    len: usize,
    /// At the end the cell, zeros in the place of the rowid's body; and the last eight bytes of this.
    cell: [u8; CELL_WINDOW],
    last: u64,
    class: RowidClass,
}

impl AlikeCells {
    /// Bytes of each cell.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a cell is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether forms and bodies of the rowid whose form stands at the front of a word, behind which anything may stand, have
    /// the length of these cells'.
    #[inline(always)]
    #[must_use]
    pub fn have(&self, form: u64) -> bool {
        self.class.has(form)
    }

    /// Writes the cells of such rowids to the end of `room`, each in front of the one before, and anything in front of the
    /// last one.
    ///
    /// # Panics
    /// Where there are fewer than [`CELL_WINDOW`] bytes up to the end of a cell.
    #[inline(always)]
    pub fn write_all(&self, forms: impl Iterator<Item = u64>, room: &mut [u8]) {
        if self.len <= SHORT_CELL_WINDOW {
            self.write_by::<SHORT_CELL_WINDOW>(forms, room);
        } else {
            self.write_by::<CELL_WINDOW>(forms, room);
        }
    }

    #[inline(always)]
    fn write_by<const WINDOW: usize>(&self, forms: impl Iterator<Item = u64>, room: &mut [u8]) {
        let Self { len, cell, last, class } = self.clone();
        let (window_start, last_at) = (CELL_WINDOW - WINDOW, WINDOW - 8);
        let mut end = room.len();
        for form in forms {
            let window: &mut [u8; WINDOW] = room[..end].last_chunk_mut().expect("room for so many");
            window[..last_at].copy_from_slice(&cell[window_start..window_start + last_at]);
            window[last_at..].copy_from_slice(&(last | class.rowid_of(form)).to_be_bytes());
            end -= len;
        }
    }
}

impl EntryShape {
    /// Writes the item that [`push_item`](Self::push_item) would append to the start of `room`, and zeros behind it up to
    /// [`SHORT_LEN`] bytes; its length. `None` where it is none for this module.
    ///
    /// It is written where it will stay: reading it back at once would wait for the many small writes.
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

    /// Makes the cell of the record that [`write_record`](Self::write_record) would append for the item of `len` bytes
    /// at the start of `item`, behind which anything may stand; `false` where it is none for this module. A cell is for
    /// one shape.
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
            let form = &item[at..];
            at += if form.first_chunk().is_some_and(|word| cell.set_rowid(u64::from_be_bytes(*word))) {
                cell.class.form_len()
            } else {
                let Ok((rowid, form_len)) = read_rowid(form) else { return false };
                cell.class = *RowidClass::of(rowid);
                (cell.rowid, cell.alike) = (Some(ShortInt::new(rowid)), None);
                form_len
            };
        }
        at == len
    }

    /// Writes everything of the cell but what the rowid decides.
    #[inline(never)]
    fn write_columns_of(&self, item: &[u8], len: usize, words: [u128; 2], cell: &mut ShortCell) -> bool {
        if self.parts.len() > MAX_COLUMNS {
            return false;
        }
        let header_len = 1 + self.parts.len() + usize::from(self.has_rowid);
        let (mut at, mut body_at) = (0, 1 + header_len);
        for (column, part) in self.parts.iter().enumerate() {
            let Ok((form, form_len)) = Form::parse(&item[at..], *part) else { return false };
            let Some((serial, body_len)) = write_body(&form, &mut cell.columns, body_at) else { return false };
            cell.columns[2 + column] = serial;
            at += form_len;
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

/// Writes the form of `value` at `at`, where the item is short enough up to there; the form's end.
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

/// Writes the form of a text or blob that needs no escapes.
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

/// Writes the body of what a form stands for; its serial type and length.
#[inline]
fn write_body(form: &Form<'_>, out: &mut [u8; CELL_ROOM], at: usize) -> Option<(u8, usize)> {
    let (serial, body) = match *form {
        Form::Int(int) => {
            let ShortInt { serial, width, body } = ShortInt::new(int);
            out[at..at + 8].copy_from_slice(&body.to_be_bytes());
            return Some((serial, width));
        }
        Form::Null => return Some((0, 0)),
        Form::Text(text) if text.len() <= SHORT_LEN => (serial::text(text.len()), text),
        Form::Blob(blob) if blob.len() <= SHORT_LEN => (serial::blob(blob.len()), blob),
        _ => return None,
    };
    copy_short(body, &mut out[at..at + body.len()]);
    Some((one_byte(serial), body.len()))
}

/// A length or serial type whose varint takes one byte: all of a short cell do.
#[inline]
fn one_byte(number: u64) -> u8 {
    assert!(number < 0x80, "a short cell has no number of two bytes");
    (number & 0x7f) as u8
}
