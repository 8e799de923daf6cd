//! Text in the three encodings of a database (section 1.3.13), and its conversion.

use crate::header::TextEncoding;
use std::borrow::Cow;

/// Returns the name of the encoding, for messages.
#[must_use]
pub fn name(encoding: TextEncoding) -> &'static str {
    match encoding {
        TextEncoding::Utf8 => "UTF-8",
        TextEncoding::Utf16Le => "UTF-16le",
        TextEncoding::Utf16Be => "UTF-16be",
    }
}

/// Returns whether `text` is well-formed in its encoding.
#[inline]
#[must_use]
pub fn is_valid(text: &[u8], encoding: TextEncoding) -> bool {
    match encoding {
        TextEncoding::Utf8 => text.is_ascii() || std::str::from_utf8(text).is_ok(),
        _ => text.len().is_multiple_of(2) && char::decode_utf16(units(text, encoding)).all(|unit| unit.is_ok()),
    }
}

/// Converts text to UTF-8. Replaces ill-formed parts.
#[must_use]
pub fn to_utf8(text: &[u8], encoding: TextEncoding) -> String {
    match encoding {
        TextEncoding::Utf8 => String::from_utf8_lossy(text).into_owned(),
        _ => {
            let characters = char::decode_utf16(units(text, encoding));
            characters.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
    }
}

/// Returns the bytes of a text in a database of this encoding.
#[must_use]
pub fn from_utf8(text: &str, encoding: TextEncoding) -> Vec<u8> {
    match encoding {
        TextEncoding::Utf8 => text.as_bytes().to_vec(),
        TextEncoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        TextEncoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    }
}

/// Returns the bytes that SQLite passes to NOCASE and RTRIM: the text in UTF-8.
///
/// SQLite takes any two units for a pair of surrogates if the first one is a surrogate, and does not look for others. So
/// ill-formed text has bytes here that are no UTF-8; they decide the order of an index.
#[must_use]
pub fn for_collation(text: &[u8], encoding: TextEncoding) -> Cow<'_, [u8]> {
    if encoding == TextEncoding::Utf8 {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut units = units(text, encoding).map(u32::from);
    while let Some(unit) = units.next() {
        let second = if (0xd800..0xe000).contains(&unit) { units.next() } else { None };
        let code = match second {
            Some(second) => (second & 0x3ff) + ((unit & 0x3f) << 10) + (((unit & 0x3c0) + 0x40) << 10),
            None => unit,
        };
        push_code(code, &mut bytes);
    }
    Cow::Owned(bytes)
}

/// Appends a code point, or what is taken for one, as UTF-8 writes such a number.
#[expect(clippy::cast_possible_truncation, reason = "each byte takes the bits that are left")]
fn push_code(code: u32, out: &mut Vec<u8>) {
    let tail = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
    match code {
        0..0x80 => out.push(code as u8),
        0x80..0x800 => out.extend([0xc0 | (code >> 6) as u8, tail(0)]),
        0x800..0x1_0000 => out.extend([0xe0 | (code >> 12) as u8, tail(6), tail(0)]),
        _ => out.extend([0xf0 | (code >> 18 & 7) as u8, tail(12), tail(6), tail(0)]),
    }
}

#[expect(clippy::little_endian_bytes, reason = "UTF-16le is the one thing in a database that is")]
fn units(text: &[u8], encoding: TextEncoding) -> impl Iterator<Item = u16> + '_ {
    let little = encoding == TextEncoding::Utf16Le;
    text.chunks_exact(2).map(move |pair| {
        let pair = [pair[0], pair[1]];
        if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCODINGS: [TextEncoding; 3] = [TextEncoding::Utf8, TextEncoding::Utf16Le, TextEncoding::Utf16Be];

    #[test]
    fn texts_round_trip_in_every_encoding() {
        for encoding in ENCODINGS {
            for text in ["", "abc", "Grüße", "日本", "😀"] {
                let bytes = from_utf8(text, encoding);
                assert!(is_valid(&bytes, encoding));
                assert_eq!(to_utf8(&bytes, encoding), text);
                assert_eq!(*for_collation(&bytes, encoding), *text.as_bytes());
            }
        }
    }

    #[test]
    fn ill_formed_text_is_seen() {
        assert!(!is_valid(b"a\xff", TextEncoding::Utf8));
        assert!(!is_valid(b"a", TextEncoding::Utf16Le));
        assert!(!is_valid(b"\xd8\x00", TextEncoding::Utf16Be));
        assert!(!is_valid(b"\x00\xdc", TextEncoding::Utf16Le));
    }
}
