//! Normalised keys: byte strings that compare with memcmp as SQLite compares the values they stand
//! for, and that can be turned back into these values.
//!
//! What sorts index entries then needs no types, no collations and no descending columns: it sorts
//! bytes. There are two floors:
//!
//! - [`push`], [`read`] and [`skip`] deal with the form of one column, [`push_rowid`],
//!   [`read_rowid`] and [`skip_rowid`] with that of a rowid;
//! - [`EntryShape`] makes whole sort items of them, and turns an item into the index record: any
//!   item in vectors, a short one in whole words ([`EntryShape::make_short`], [`ShortCell`]).
//!
//! # The form of a column
//!
//! The first byte tells the kind: NULL < numbers < text < blob. No form is the start of another, so
//! that forms may stand behind one another without anything between.
//!
//! ```text
//! 00                              NULL
//! 05 .. 7f                        a number below 0: the form of its magnitude, every byte inverted
//! 80 .. 8f                        magnitude m below 2^4: all of it in the first byte
//! 90 .. af  m                     m below 2^13
//! b0 .. cf  m m                   m below 2^21
//! d0 .. df  m m m                 m below 2^28
//! e0 .. e3  m m m m               m below 2^34
//! e4 .. e7  m m m m m             m below 2^42
//! e8 .. f7  m m m m m m           m below 2^52
//! f8        m m m m m m m         m below 2^56
//! f9        n n n n n n n n       the integer n from 2^55 on
//! fa        d d d d d d d d       the bits of a double from 2^64 on, infinity too
//! fd        bytes.. 00            text; in the bytes, 00 is written 01 01, and 01 is written 01 02
//! fe        bytes.. 00            blob, likewise
//! ```
//!
//! An integer and a real share one order, because both start with their integer part n: `m = 2n`
//! where that is all, `m = 2n + 1` where a fraction follows. Behind n > 0 the fraction is those of
//! the double's 53 bits that n leaves over, in as many bytes as hold them; behind n = 0 it is the
//! double itself, in 8 bytes. Both lengths follow from n, and numbers with the same n sort by the
//! fraction. From 2^52 on no double has a fraction, so that f9 needs no such bit: every number that
//! two kinds can hold has one form, and an order beyond 2^53 needs no rounding.
//!
//! DESC inverts every byte of the form. NOCASE and RTRIM write what is left after folding; the
//! form is then that of another text, and `push` says so.
//!
//! Worked example, an index over `(a, b COLLATE NOCASE DESC)`, the row `a = 300, b = 'Bo'` with
//! rowid 7:
//!
//! ```text
//! 92 58  02 9d 90 ff  84 00 07   03 00 11 42 6f
//! |      |  |     |   |          |
//! |      |  |     |   |          record of what was not kept: nothing of a, text 'Bo' of b
//! |      |  |     |   rowid 7 in two bytes
//! |      |  |     end of the text, inverted 00
//! |      |  'b', 'o', inverted
//! |      text, inverted fd
//! 600 = 2 * 300: 0x90 + 0x02, 0x58
//! ```
//!
//! [`compare`] is the same order on values, for those who have no keys: the checker of databases.
//!
//! If you change the form, every fold of a collation must still map equal values, and only these,
//! to equal forms: `order::tests` asks SQLite.

mod compare;
mod entry;
mod head;
mod number;
mod short;
mod text;

use crate::FormatError;
use crate::value::Value;

pub use compare::compare;
pub use entry::{EntryShape, UniqueKey};
pub use head::{Fixed, HEAD_LEN, HEAD_ROOM, HeadMaker, KeyHead, Load};
pub use number::{MAX_ROWID_LEN, push_rowid, read_rowid, rowid_len, skip_rowid};
pub use short::{AlikeCells, CELL_WINDOW, SHORT_LEN, SHORT_ROOM, ShortCell};

/// First byte of the form of NULL.
const NULL: u8 = 0x00;
/// First byte of the form of a text.
const TEXT: u8 = 0xfd;
/// First byte of the form of a blob.
const BLOB: u8 = 0xfe;

/// How texts compare. The collations that SQLite itself brings.
///
/// All three work on the bytes that are given. SQLite gives NOCASE and RTRIM the text in UTF-8,
/// whatever the encoding of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Collation {
    /// Byte by byte.
    #[default]
    Binary,
    /// As `Binary`, after the letters A to Z became a to z. Of what stands behind a NUL only the
    /// length counts: SQLite compares as `strncasecmp` does.
    NoCase,
    /// As `Binary`, without the spaces (0x20) at the end.
    RTrim,
}

impl Collation {
    /// The collation of this name, in any case; `None` where it is none of the three.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [("BINARY", Self::Binary), ("NOCASE", Self::NoCase), ("RTRIM", Self::RTrim)];
        all.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, collation)| collation)
    }
}

/// How one column of a key is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyPart {
    /// How its texts compare.
    pub collation: Collation,
    /// DESC: the largest first.
    pub descending: bool,
}

impl KeyPart {
    /// What every byte of the form is combined with (XOR).
    #[inline]
    const fn mask(self) -> u8 {
        if self.descending { 0xff } else { 0 }
    }
}

/// Appends the form of `value`; returns whether [`read`] gives the same value back, kind and bytes:
/// what [`reads_back`] says.
#[inline]
pub fn push(value: &Value<'_>, part: KeyPart, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    match *value {
        Value::Int(int) => number::push_int(int, out),
        Value::Text(bytes) => text::push_text(bytes, part.collation, out),
        Value::Blob(bytes) => text::push_bytes(BLOB, bytes, out),
        Value::Real(real) if !real.is_nan() => number::push_real(real, out),
        Value::Null | Value::Real(_) => out.push(NULL),
    }
    if part.descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    reads_back(value, part)
}

/// Whether [`read`] gives back the value that [`push`] is given, kind and bytes.
///
/// It does not where a collation folds bytes, and where a real has an integer's value (-0.0 too):
/// that one comes back as the integer. NaN is NULL, as in a record.
#[inline]
#[must_use]
pub fn reads_back(value: &Value<'_>, part: KeyPart) -> bool {
    match *value {
        Value::Real(real) => !number::is_int(real),
        Value::Text(text) => !text::is_folded(text, part.collation),
        _ => true,
    }
}

/// The value whose form stands at the start of `key`, and the length of the form.
///
/// The value borrows from `key` where its bytes stand there as they are, and from `scratch`, whose
/// content is lost, where not. Of a value for which [`push`] said `false` this is a stand-in that
/// compares as equal.
///
/// # Errors
/// Where `key` does not start with such a form.
#[inline]
pub fn read<'a>(key: &'a [u8], part: KeyPart, scratch: &'a mut Vec<u8>) -> Result<(Value<'a>, usize), FormatError> {
    let (form, len) = Form::parse(key, part)?;
    let value = match form {
        Form::Null => Value::Null,
        Form::Int(int) => Value::Int(int),
        Form::Real(real) => Value::Real(real),
        Form::Text(bytes) => Value::Text(bytes),
        Form::Blob(bytes) => Value::Blob(bytes),
        Form::Escaped(escaped) => {
            scratch.clear();
            escaped.append_to(scratch);
            if escaped.is_text() { Value::Text(scratch) } else { Value::Blob(scratch) }
        }
    };
    Ok((value, len))
}

/// The integer whose form stands at the start of `key`, and the length of the form; `None` where none does.
#[inline(always)]
#[must_use]
pub fn read_integer(key: &[u8], part: KeyPart) -> Option<(i64, usize)> {
    number::read_int(key, part.mask())
}

/// Length of the form at the start of `key`.
///
/// # Errors
/// As [`read`].
#[inline(always)]
pub fn skip(key: &[u8], part: KeyPart) -> Result<usize, FormatError> {
    match number::skip_whole(key, part.mask()) {
        Some(len) => Ok(len),
        None => skip_any(key, part),
    }
}

#[inline(never)]
fn skip_any(key: &[u8], part: KeyPart) -> Result<usize, FormatError> {
    Form::parse(key, part).map(|(_, len)| len)
}

/// A form taken apart.
enum Form<'a> {
    Null,
    Int(i64),
    Real(f64),
    /// Whose bytes stand in the form as they are.
    Text(&'a [u8]),
    /// As `Text`.
    Blob(&'a [u8]),
    /// A text or blob with escapes or inverted bytes.
    Escaped(text::Escaped<'a>),
}

impl<'a> Form<'a> {
    /// The form at the start of `key` and its length.
    #[inline(always)]
    fn parse(key: &'a [u8], part: KeyPart) -> Result<(Self, usize), FormatError> {
        Self::try_parse(key, part.mask()).ok_or_else(no_value)
    }

    #[inline(always)]
    fn try_parse(key: &'a [u8], mask: u8) -> Option<(Self, usize)> {
        match key.first()? ^ mask {
            NULL => Some((Self::Null, 1)),
            first @ TEXT.. => text::parse(key, first, mask),
            _ => number::parse(key, mask),
        }
    }
}

#[cold]
fn no_value() -> FormatError {
    FormatError::new("a sort key holds no value here", 0)
}

#[cfg(test)]
mod tests;
