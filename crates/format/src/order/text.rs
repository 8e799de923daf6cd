//! Texts and blobs: escaped, so that their end sorts below every byte, and folded as the collation
//! asks. The picture is in the module above.

use super::{BLOB, Collation, Form, TEXT};

/// Behind the last byte.
pub(super) const END: u8 = 0;
/// Before a byte that would be taken for [`END`] or for itself; that byte follows, one larger.
const ESCAPE: u8 = 1;

/// Appends the form of a text.
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
    }
}

/// Whether the collation takes this text for another one with other bytes.
#[inline]
pub(super) fn is_folded(text: &[u8], collation: Collation) -> bool {
    match collation {
        Collation::Binary => false,
        Collation::RTrim => text.ends_with(b" "),
        Collation::NoCase => {
            let (before_nul, rest) = split_at_nul(text);
            // Every byte is looked at, so that many are looked at together.
            before_nul.iter().fold(false, |found, byte| found | byte.is_ascii_uppercase())
                || rest.iter().any(|byte| *byte != 0)
        }
    }
}

/// Without the spaces at the end.
#[inline]
pub(super) fn without_spaces(text: &[u8]) -> &[u8] {
    &text[..text.len() - text.iter().rev().take_while(|byte| **byte == b' ').count()]
}

/// Before and from the first NUL, behind which NOCASE sees only how many bytes there are.
#[inline]
fn split_at_nul(text: &[u8]) -> (&[u8], &[u8]) {
    let nul = if has_low_byte(text) { text.iter().position(|byte| *byte == 0) } else { None };
    text.split_at(nul.unwrap_or(text.len()))
}

/// Lengthens the form at the end of `out` by so many NULs.
#[inline]
fn push_nuls(count: usize, out: &mut Vec<u8>) {
    if count > 0 {
        out.pop();
        (0..count).for_each(|_| out.extend_from_slice(&[ESCAPE, 1]));
        out.push(END);
    }
}

/// Appends the form of `bytes`, which starts with `tag`.
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

/// The form of a text or blob, without its end: the first byte tells whether the bytes are
/// inverted.
pub(super) struct Escaped<'a>(&'a [u8]);

/// The text or blob whose form stands at the start of `key`, and the length of the form. `tag` is
/// its first byte, not inverted.
#[inline]
pub(super) fn parse(key: &[u8], tag: u8, mask: u8) -> Option<(Form<'_>, usize)> {
    let end = find_low_byte(key, 1, mask)?;
    let plain = &key[1..end];
    match tag {
        TEXT | BLOB if key[end] != END || mask != 0 => parse_escaped(key, end, mask),
        TEXT => Some((Form::Text(plain), end + 1)),
        BLOB => Some((Form::Blob(plain), end + 1)),
        _ => None,
    }
}

/// [`parse`] with an end or an escape at `at`.
fn parse_escaped(key: &[u8], mut at: usize, mask: u8) -> Option<(Form<'_>, usize)> {
    while key[at] ^ mask == ESCAPE {
        if !matches!(key.get(at + 1)? ^ mask, 1 | 2) {
            return None;
        }
        at = find_low_byte(key, at + 2, mask)?;
    }
    Some((Form::Escaped(Escaped(&key[..at])), at + 1))
}

impl Escaped<'_> {
    fn mask(&self) -> u8 {
        if self.0[0] < TEXT { 0xff } else { 0 }
    }

    pub(super) fn is_text(&self) -> bool {
        self.0[0] ^ self.mask() == TEXT
    }

    /// Appends the bytes as they were.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.0.len(), 0);
        let len = self.write(&mut out[start..]);
        out.truncate(start + len);
    }

    /// Writes the bytes as they were to the start of `out`, which has room for the escaped ones;
    /// returns their number.
    pub(super) fn write(&self, out: &mut [u8]) -> usize {
        let mask = self.mask();
        let escaped = &self.0[1..];
        let out = &mut out[..escaped.len()];
        out.iter_mut().zip(escaped).for_each(|(out, byte)| *out = byte ^ mask);
        out.iter().position(|byte| *byte == ESCAPE).map_or(out.len(), |first| unescape(out, first))
    }
}

/// Takes the escapes out of `bytes`, of which the first stands at `at`; returns the number of bytes
/// left.
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

/// The high bit of every byte.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte that is 0 or 1, and nothing else.
#[inline]
pub(super) const fn low_bytes(word: u64) -> u64 {
    let without_lowest_bits = word & !(HIGH_BITS >> 7);
    // No sum of seven bits and 0x7f carries into the next byte.
    let not_zero = ((without_lowest_bits & !HIGH_BITS) + !HIGH_BITS) | without_lowest_bits;
    !not_zero & HIGH_BITS
}

/// Whether a byte is 0 or 1.
#[inline]
pub(super) fn has_low_byte(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let mut found = words.iter().any(|word| low_bytes(u64::from_be_bytes(*word)) != 0);
    // Seven bytes at most: read as two halves that overlap.
    match (rest.first_chunk(), rest.last_chunk()) {
        (Some(first), Some(last)) => {
            let both = u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last));
            found |= low_bytes(both) != 0;
        }
        _ => found |= rest.iter().any(|byte| *byte <= ESCAPE),
    }
    found
}

/// Where, from `at` on, the first byte is that, combined with `mask`, is 0 or 1.
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
