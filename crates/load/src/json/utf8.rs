//! Texts that are not UTF-8.

use super::fault::Fault;
use jiter::Jiter;
use memchr::memchr;
use std::borrow::Cow;

/// Decodes the escapes of a string that is valid except for its UTF-8.
pub(super) fn unescape_bytes(string: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut decoded = Vec::with_capacity(string.len());
    for run in string.chunk_by(|byte, next| byte.is_ascii() == next.is_ascii()) {
        if run[0].is_ascii() {
            // Escapes and surrogate pairs of them are pure ASCII, so no run splits one.
            let quoted = [b"\"", run, b"\""].concat();
            decoded.extend_from_slice(Jiter::new(&quoted).next_str()?.as_bytes());
        } else {
            decoded.extend_from_slice(run);
        }
    }
    Ok(decoded)
}

/// Returns the record with U+FFFD in place of invalid UTF-8 and of escaped lone surrogates.
pub(super) fn replace_invalid(record: &[u8]) -> Cow<'_, [u8]> {
    let mut text = match String::from_utf8_lossy(record) {
        Cow::Borrowed(_) => Cow::Borrowed(record),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    let mut from = 0;
    while let Some(found) = memchr(b'\\', &text[from..]) {
        let at = from + found;
        let half = surrogate_at(&text, at);
        from = match half {
            Some(0xd800..=0xdbff) if matches!(surrogate_at(&text, at + 6), Some(0xdc00..=0xdfff)) => at + 12,
            Some(_) => {
                text.to_mut()[at..at + 6].copy_from_slice(b"\\ufffd");
                at + 6
            }
            None => at + 2,
        };
        if from >= text.len() {
            break;
        }
    }
    text
}

/// Returns the surrogate whose escape is at `at`, if there is one.
fn surrogate_at(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let half = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&half).then_some(half)
}
