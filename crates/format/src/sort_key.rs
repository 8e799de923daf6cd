//! Normalised keys: byte strings that `memcmp` orders as SQLite orders the values they encode, and that decode back
//! to these values (Graefe, "Implementing Sorting in Database Systems", 2006).
//!
//! A sort of index entries then needs no types, no collations and no descending columns: it sorts bytes. There are
//! two layers:
//!
//! - [`push`], [`read`] and [`skip`] encode and decode one column; [`push_rowid`], [`read_rowid`] and [`skip_rowid`]
//!   do so for a rowid.
//! - [`IndexEntryLayout`] joins encoded columns to sort items and turns an item back into the index record. It
//!   handles any item in vectors, and a short one in whole words ([`IndexEntryLayout::make_short`], [`ShortCell`]).
//!
//! # The encoding of a column
//!
//! The first byte tells the kind: NULL < numbers < text < blob. No encoding is a prefix of another, so encodings
//! follow one another without a separator.
//!
//! ```text
//! 00                              NULL
//! 05 .. 7f                        a number below 0: the encoding of its magnitude, every byte inverted
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
//! Integers and reals share one order because both start with their integer part n: `m = 2n` without a fraction, `m =
//! 2n + 1` with one. If n > 0, the fraction is the remaining bits of the double's 53, in as few bytes as hold them.
//! If n = 0, it is the double itself, in 8 bytes. Both lengths follow from n, and numbers with the same n sort by the
//! fraction. From 2^52 on no double has a fraction, so f9 needs no such bit. Every number that both kinds can hold
//! has one encoding, and comparisons beyond 2^53 need no rounding.
//!
//! DESC inverts every byte of the encoding. NOCASE and RTRIM encode the folded text; `push` then returns `false`.
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
//! [`compare()`] orders values without keys, for the checker of databases.
//!
//! If you change the encoding, every collation must still fold equal values, and only these, to equal encodings.
//! `sort_key::tests` compares with SQLite.

mod compare;
mod entry;
mod number;
mod prefix;
mod short;
mod text;

use crate::FormatError;
use crate::header::TextEncoding;
use crate::value::Value;

pub use compare::compare;
pub use entry::{IndexEntryLayout, UniqueKey};
pub use number::{MAX_ROWID_LEN, push_rowid, read_rowid, rowid_len, skip_rowid};
pub use prefix::{FixedColumns, KeyPrefix, KeyPrefixEncoder, PREFIX_LEN, PREFIX_MARGIN, StringLoad};
pub use short::{CELL_WINDOW, CellTemplate, SHORT_LEN, SHORT_ROOM, ShortCell};

/// First byte of an encoded NULL.
const NULL: u8 = 0x00;
/// First byte of an encoded text.
const TEXT: u8 = 0xfd;
/// First byte of an encoded blob.
const BLOB: u8 = 0xfe;

/// The order of texts: SQLite's built-in collations.
///
/// They work on bytes. SQLite compares BINARY the stored bytes, also those of UTF-16, and passes NOCASE and RTRIM the text in UTF-8, whatever
/// the encoding of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Collation {
    /// Byte by byte.
    #[default]
    Binary,
    /// As `Binary`, after folding the letters A to Z to a to z. Behind a NUL only the length counts: SQLite compares
    /// like `strncasecmp`.
    NoCase,
    /// As `Binary`, without trailing spaces (0x20).
    RTrim,
    /// `NoCase` of texts in this encoding, UTF-16: SQLite converts them first.
    NoCaseOf(TextEncoding),
    /// `RTrim` of texts in this encoding.
    RTrimOf(TextEncoding),
}

impl Collation {
    /// Returns the collation of this name, ignoring case, or `None` if SQLite has no such built-in collation.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [("BINARY", Self::Binary), ("NOCASE", Self::NoCase), ("RTRIM", Self::RTrim)];
        all.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, collation)| collation)
    }

    /// Returns the same order of texts that are stored in this encoding.
    #[must_use]
    pub const fn in_encoding(self, encoding: TextEncoding) -> Self {
        match (self, encoding) {
            (Self::NoCase, TextEncoding::Utf16Le | TextEncoding::Utf16Be) => Self::NoCaseOf(encoding),
            (Self::RTrim, TextEncoding::Utf16Le | TextEncoding::Utf16Be) => Self::RTrimOf(encoding),
            (other, _) => other,
        }
    }
}

/// The order of one column of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyPart {
    /// The order of its texts.
    pub collation: Collation,
    /// DESC: the largest first.
    pub descending: bool,
}

impl KeyPart {
    /// Returns the mask that every byte of the encoding is XORed with.
    #[inline]
    const fn mask(self) -> u8 {
        if self.descending { 0xff } else { 0 }
    }
}

/// Appends the encoding of `value`. Returns whether [`read`] restores it exactly, as [`is_lossless`] does.
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
    is_lossless(value, part)
}

/// Returns whether [`read`] restores the value given to [`push`] exactly: its kind and its bytes.
///
/// Two encodings lose information: a text that a collation folds, and a real that equals an integer (-0.0 too), which
/// reads back as that integer. NaN is NULL, as in a record.
#[inline]
#[must_use]
pub fn is_lossless(value: &Value<'_>, part: KeyPart) -> bool {
    match *value {
        Value::Real(real) => !number::is_int(real),
        Value::Text(text) => !text::is_folded(text, part.collation),
        _ => true,
    }
}

/// Decodes the value at the start of `key`. Returns it with the length of its encoding.
///
/// The value borrows from `key` if its bytes are stored unchanged, and else from `scratch`, which is overwritten. If
/// [`push`] returned `false`, the result is another value that compares as equal.
///
/// # Errors
/// If `key` does not start with an encoded value.
#[inline]
pub fn read<'a>(key: &'a [u8], part: KeyPart, scratch: &'a mut Vec<u8>) -> Result<(Value<'a>, usize), FormatError> {
    let (encoding, len) = ParsedValue::parse(key, part)?;
    let value = match encoding {
        ParsedValue::Null => Value::Null,
        ParsedValue::Int(int) => Value::Int(int),
        ParsedValue::Real(real) => Value::Real(real),
        ParsedValue::Text(bytes) => Value::Text(bytes),
        ParsedValue::Blob(bytes) => Value::Blob(bytes),
        ParsedValue::Escaped(escaped) => {
            scratch.clear();
            escaped.append_to(scratch);
            if escaped.is_text() { Value::Text(scratch) } else { Value::Blob(scratch) }
        }
    };
    Ok((value, len))
}

/// Decodes an integer at the start of `key`. Returns it with the length of its encoding, or `None` if `key` starts
/// otherwise.
#[inline(always)]
#[must_use]
pub fn read_integer(key: &[u8], part: KeyPart) -> Option<(i64, usize)> {
    number::read_int(key, part.mask())
}

/// Returns the length of the encoding at the start of `key`.
///
/// # Errors
/// The errors of [`read`].
#[inline(always)]
pub fn skip(key: &[u8], part: KeyPart) -> Result<usize, FormatError> {
    match number::skip_whole(key, part.mask()) {
        Some(len) => Ok(len),
        None => skip_any(key, part),
    }
}

#[inline(never)]
fn skip_any(key: &[u8], part: KeyPart) -> Result<usize, FormatError> {
    ParsedValue::parse(key, part).map(|(_, len)| len)
}

/// A value parsed from a key.
enum ParsedValue<'a> {
    Null,
    Int(i64),
    Real(f64),
    /// A text whose bytes are stored unchanged.
    Text(&'a [u8]),
    /// A blob whose bytes are stored unchanged.
    Blob(&'a [u8]),
    /// A text or blob with escaped or inverted bytes.
    Escaped(text::Escaped<'a>),
}

impl<'a> ParsedValue<'a> {
    /// Parses the value at the start of `key`. Returns it with the length of its encoding.
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
