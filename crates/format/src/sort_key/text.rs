//! Encodes texts and blobs: escaped, so that their end sorts below every byte, and folded by the collation. The
//! module above shows the bytes.

use super::{BLOB, Collation, ParsedValue, TEXT};
use crate::text::for_collation;

/// The byte behind the last one.
pub(super) const END: u8 = 0;
/// Escapes a byte equal to [`END`] or to itself. That byte follows, one larger.
const ESCAPE: u8 = 1;

/// Appends the encoding of a text.
#[inline]
pub(super) fn push_text(text: &[u8], collation: Collation, out: &mut Vec<u8>) {
    match collation {
        Collation::Binary => push_bytes(TEXT, text, out),
        Collation::RTrim => push_bytes(TEXT, without_spaces(text), out),
        Collation::NoCase => {
            let (before_nul, rest) = split_at_nul(text);
            let start = out.len();
            push_bytes(TEXT, before_nul, out);
            out[start + 1..].make_ascii_lowercase();
            push_nuls(rest.len(), out);
        }
        Collation::NoCaseOf(encoding) => push_text(&for_collation(text, encoding), Collation::NoCase, out),
        Collation::RTrimOf(encoding) => push_text(&for_collation(text, encoding), Collation::RTrim, out),
    }
}

/// Returns whether the collation changes the bytes of this text.
#[inline]
pub(super) fn is_folded(text: &[u8], collation: Collation) -> bool {
    match collation {
        Collation::Binary => false,
        Collation::RTrim => text.ends_with(b" "),
        Collation::NoCase => {
            let (before_nul, rest) = split_at_nul(text);
            // No early exit: a loop over all bytes is vectorised.
            before_nul.iter().fold(false, |found, byte| found | byte.is_ascii_uppercase())
                || rest.iter().any(|byte| *byte != 0)
        }
        // The encoding has the text in UTF-8.
        Collation::NoCaseOf(_) | Collation::RTrimOf(_) => true,
    }
}

/// Returns the text without trailing spaces.
#[inline]
pub(super) fn without_spaces(text: &[u8]) -> &[u8] {
    &text[..text.len() - text.iter().rev().take_while(|byte| **byte == b' ').count()]
}

/// Splits at the first NUL. NOCASE sees only the number of bytes behind it.
#[inline]
fn split_at_nul(text: &[u8]) -> (&[u8], &[u8]) {
    let nul = if has_low_byte(text) { text.iter().position(|byte| *byte == 0) } else { None };
    text.split_at(nul.unwrap_or(text.len()))
}

/// Adds `count` NULs to the encoding at the end of `out`.
#[inline]
fn push_nuls(count: usize, out: &mut Vec<u8>) {
    if count > 0 {
        out.pop();
        (0..count).for_each(|_| out.extend_from_slice(&[ESCAPE, 1]));
        out.push(END);
    }
}

/// Appends the encoding of `bytes`, which starts with `tag`.
#[inline]
pub(super) fn push_bytes(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 2);
    out.push(tag);
    if has_low_byte(bytes) {
        push_escaped(bytes, out);
    } else {
        out.extend_from_slice(bytes);
    }
    out.push(END);
}

#[cold]
fn push_escaped(mut bytes: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = find_low_byte(bytes, 0, 0) {
        out.extend_from_slice(&bytes[..at]);
        out.extend_from_slice(&[ESCAPE, bytes[at] + 1]);
        bytes = &bytes[at + 1..];
    }
    out.extend_from_slice(bytes);
}

/// The encoding of a text or blob, without its end. The first byte tells whether the bytes are inverted.
pub(super) struct Escaped<'a>(&'a [u8]);

/// Parses the text or blob at the start of `key`. Returns it with the length of its encoding. `tag` is the first
/// byte, not inverted.
#[inline]
pub(super) fn parse(key: &[u8], tag: u8, mask: u8) -> Option<(ParsedValue<'_>, usize)> {
    let end = find_low_byte(key, 1, mask)?;
    let plain = &key[1..end];
    match tag {
        TEXT | BLOB if key[end] != END || mask != 0 => parse_escaped(key, end, mask),
        TEXT => Some((ParsedValue::Text(plain), end + 1)),
        BLOB => Some((ParsedValue::Blob(plain), end + 1)),
        _ => None,
    }
}

/// Does the work of [`parse`] if the first END or ESCAPE byte, at `at`, is not a plain END.
fn parse_escaped(key: &[u8], mut at: usize, mask: u8) -> Option<(ParsedValue<'_>, usize)> {
    while key[at] ^ mask == ESCAPE {
        if !matches!(key.get(at + 1)? ^ mask, 1 | 2) {
            return None;
        }
        at = find_low_byte(key, at + 2, mask)?;
    }
    Some((ParsedValue::Escaped(Escaped(&key[..at])), at + 1))
}

impl Escaped<'_> {
    fn mask(&self) -> u8 {
        if self.0[0] < TEXT { 0xff } else { 0 }
    }

    pub(super) fn is_text(&self) -> bool {
        self.0[0] ^ self.mask() == TEXT
    }

    /// Appends the decoded bytes.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.0.len(), 0);
        let len = self.write(&mut out[start..]);
        out.truncate(start + len);
    }

    /// Writes the decoded bytes to the start of `out`, which must be as long as the escaped ones. Returns their
    /// number.
    pub(super) fn write(&self, out: &mut [u8]) -> usize {
        let mask = self.mask();
        let escaped = &self.0[1..];
        let out = &mut out[..escaped.len()];
        out.iter_mut().zip(escaped).for_each(|(out, byte)| *out = byte ^ mask);
        out.iter().position(|byte| *byte == ESCAPE).map_or(out.len(), |first| unescape(out, first))
    }
}

/// Removes the escapes from `bytes`. The first one is at `at`. Returns the number of bytes left.
fn unescape(bytes: &mut [u8], mut at: usize) -> usize {
    let mut len = at;
    while let Some(&byte) = bytes.get(at) {
        let is_escape = byte == ESCAPE;
        at += usize::from(is_escape);
        bytes[len] = bytes[at] - u8::from(is_escape);
        at += 1;
        len += 1;
    }
    len
}

/// The high bit of every byte of a word.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of each byte that is 0 or 1 and clears all other bits (Hacker's Delight 6-1, adapted).
#[inline]
pub(super) const fn low_bytes(word: u64) -> u64 {
    let without_lowest_bits = word & !(HIGH_BITS >> 7);
    // A sum of seven bits and 0x7f never carries into the next byte.
    let not_zero = ((without_lowest_bits & !HIGH_BITS) + !HIGH_BITS) | without_lowest_bits;
    !not_zero & HIGH_BITS
}

/// Returns whether any byte is 0 or 1.
#[inline]
pub(super) fn has_low_byte(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let mut found = words.iter().any(|word| low_bytes(u64::from_be_bytes(*word)) != 0);
    // At most seven bytes are left: read as two overlapping halves.
    match (rest.first_chunk(), rest.last_chunk()) {
        (Some(first), Some(last)) => {
            let both = u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last));
            found |= low_bytes(both) != 0;
        }
        _ => found |= rest.iter().any(|byte| *byte <= ESCAPE),
    }
    found
}

/// Returns the index, from `at` on, of the first byte that is 0 or 1 once combined with `mask`.
#[inline]
fn find_low_byte(bytes: &[u8], mut at: usize, mask: u8) -> Option<usize> {
    let masks = u64::from_be_bytes([mask; 8]);
    while let Some(word) = bytes.get(at..)?.first_chunk() {
        let found = low_bytes(u64::from_be_bytes(*word) ^ masks);
        if found != 0 {
            return Some(at + (found.leading_zeros() / 8) as usize);
        }
        at += 8;
    }
    bytes[at..].iter().position(|byte| byte ^ mask <= ESCAPE).map(|offset| at + offset)
}
