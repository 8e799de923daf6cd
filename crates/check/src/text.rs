//! Converts text between the three encodings of a database.

use litepress_format::header::TextEncoding;

/// Returns the name of the encoding, for messages.
pub(super) fn name(encoding: TextEncoding) -> &'static str {
    match encoding {
        TextEncoding::Utf8 => "UTF-8",
        TextEncoding::Utf16Le => "UTF-16le",
        TextEncoding::Utf16Be => "UTF-16be",
    }
}

/// Returns whether `text` is well-formed in its encoding.
#[inline]
pub(super) fn is_valid(text: &[u8], encoding: TextEncoding) -> bool {
    match encoding {
        TextEncoding::Utf8 => text.is_ascii() || std::str::from_utf8(text).is_ok(),
        _ => text.len().is_multiple_of(2) && char::decode_utf16(units(text, encoding)).all(|unit| unit.is_ok()),
    }
}

/// Converts text to UTF-8. Replaces ill-formed parts.
pub(super) fn to_utf8(text: &[u8], encoding: TextEncoding) -> String {
    match encoding {
        TextEncoding::Utf8 => String::from_utf8_lossy(text).into_owned(),
        _ => {
            let characters = char::decode_utf16(units(text, encoding));
            characters.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
    }
}

/// Returns the bytes of a text in a database of this encoding.
pub(super) fn from_utf8(text: &str, encoding: TextEncoding) -> Vec<u8> {
    match encoding {
        TextEncoding::Utf8 => text.as_bytes().to_vec(),
        TextEncoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        TextEncoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
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
