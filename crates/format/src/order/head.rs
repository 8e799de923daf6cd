//! Sort items of up to 16 bytes, made in one number of records that have one header.
//!
//! The header of a record says where its columns are and how long they are. What is left for each record is to take
//! their bytes to where they stand in the item, and to see that none of them must be escaped.

use super::{BLOB, Collation, EntryShape, KeyPart, NULL, TEXT, number, text};
use crate::record::serial;
use std::ops::Range;

/// The longest item that is made here.
pub const HEAD_LEN: usize = 16;

/// Bytes in front of a record that are read, and do not matter.
pub const HEAD_ROOM: usize = 16;

/// The longest text or blob: a tag stands in front of it, and an end behind.
const MAX_STRING: usize = HEAD_LEN - 2;

/// Makes the items of one shape of records that have one header.
#[derive(Clone, Debug, Default)]
pub struct HeadMaker {
    pieces: Vec<Piece>,
}

/// What makes one form.
#[derive(Clone, Copy, Debug)]
struct Piece {
    kind: Kind,
    /// Where the column's body ends in the record, and its length.
    end: usize,
    len: usize,
    /// Inverts the form of a column that descends.
    inverted: u128,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Null,
    Rowid,
    /// An integer that its serial type tells.
    Known(i64),
    /// An integer that is read from the body.
    Int,
    /// A text or blob with this tag, the last eight bytes of it, and those before.
    String { tag: u8, last: u64, before: u64 },
}

impl HeadMaker {
    /// For items of this shape, whose columns have these serial types and stand at these places of the record, or are the
    /// rowid; `None` where they are none for this module.
    #[must_use]
    pub fn new(shape: &EntryShape, columns: impl IntoIterator<Item = Option<(u64, Range<usize>)>>) -> Option<Self> {
        let columns = columns.into_iter().zip(shape.parts());
        let mut pieces = columns.map(|(column, part)| Piece::new(column, *part)).collect::<Option<Vec<_>>>()?;
        if shape.has_rowid {
            pieces.push(Piece { kind: Kind::Rowid, end: 0, len: 0, inverted: 0 });
        }
        Some(Self { pieces })
    }

    /// The item that [`EntryShape::push_item`] would append for the record that begins at `start`, with [`HEAD_ROOM`] bytes
    /// of anything in front of it, at the front of 16 bytes with zeros behind it; and its length. `None` where it is none
    /// for this module.
    #[inline(always)]
    #[must_use]
    pub fn make(&self, bytes: &[u8], start: usize, rowid: i64) -> Option<(u128, usize)> {
        let (mut head, mut len) = (0, 0);
        for piece in &self.pieces {
            let (form, form_len) = piece.form(bytes, start, rowid)?;
            if len + form_len > HEAD_LEN {
                return None;
            }
            // A form has a byte at least: no shift is by 128 bits.
            head |= (form ^ piece.inverted & !(u128::MAX >> (8 * form_len - 1) >> 1)) >> (8 * len);
            len += form_len;
        }
        (len > 0).then_some((head, len))
    }
}

impl Piece {
    fn new(column: Option<(u64, Range<usize>)>, part: KeyPart) -> Option<Self> {
        let inverted = if part.descending { u128::MAX } else { 0 };
        let Some((serial, body)) = column else {
            return Some(Self { kind: Kind::Rowid, end: 0, len: 0, inverted });
        };
        let string = |tag| {
            let is_plain = body.len() <= MAX_STRING && (tag == BLOB || part.collation == Collation::Binary);
            is_plain.then(|| Kind::String { tag, last: last_bytes(body.len()), before: last_bytes(body.len().max(8) - 8) })
        };
        let kind = match serial {
            serial::NULL => Kind::Null,
            serial::ZERO => Kind::Known(0),
            serial::ONE => Kind::Known(1),
            serial::I8..=serial::I64 => Kind::Int,
            serial::REAL => return None,
            _ if serial % 2 == 1 => string(TEXT)?,
            _ => string(BLOB)?,
        };
        Some(Self { kind, end: body.end, len: body.len(), inverted })
    }

    /// The form at the front of 16 bytes, zeros behind it, and its length.
    #[inline(always)]
    fn form(&self, bytes: &[u8], start: usize, rowid: i64) -> Option<(u128, usize)> {
        let end = start + self.end;
        Some(match self.kind {
            Kind::Null => (u128::from(NULL) << 120, 1),
            Kind::Rowid => number::rowid_front(rowid),
            Kind::Known(int) => number::int_front(int),
            Kind::Int => {
                let unused = u64::BITS as usize - 8 * self.len;
                number::int_front((word_before(bytes, end) << unused).cast_signed() >> unused)
            }
            Kind::String { tag, last, before } => {
                let (low, high) = (word_before(bytes, end), word_before(bytes, end - 8));
                if text::low_bytes(low | !last) | text::low_bytes(high | !before) != 0 {
                    return None;
                }
                let body = u128::from(high & before) << 64 | u128::from(low & last);
                const { assert!(text::END == 0) };
                (u128::from(tag) << 120 | body << (8 * (MAX_STRING + 1 - self.len)), self.len + 2)
            }
        })
    }
}

/// The eight bytes that end at `end`.
#[inline(always)]
fn word_before(bytes: &[u8], end: usize) -> u64 {
    u64::from_be_bytes(*bytes[..end].last_chunk().expect("room in front of a record"))
}

/// Which bits of a word are its last `count` bytes, or all of it.
fn last_bytes(count: usize) -> u64 {
    if count >= 8 { u64::MAX } else { (1 << (8 * count)) - 1 }
}
