//! A file name for any value.
//!
//! The name follows from the value alone, so that a program can find the database of a value. Different values have names that
//! differ even if a file system takes `A` for `a`.
//!
//! | value | name |
//! |---|---|
//! | text of a-z, 0-9 and `-_.@` | itself: `acme-01.db` |
//! | capital letter | `+` and the small one: `DE` is `+d+e.db` |
//! | other byte of a text in UTF-8, and a dot in front | `%` and two digits: `a/b` is `a%2fb.db`, `..` is `%2e..db` |
//! | integer, real | its digits: `-5.db`, `0.5.db`, `1e300.db` |
//! | NULL, the empty text | `%null.db`, `%text.db` |
//! | blob | `%x` and its digits: `%x00ff.db` |
//! | text that reads as a number, in a column that keeps numbers, too | `%text` in front: `%text5.db` |
//! | device of Windows (`con`, `nul`, `com1`) | its first letter is escaped: `%63on.db` |
//! | name of more than 180 bytes | its first 100 bytes or less, `%h`, and 32 digits of the SHA-256 of the value's bytes |

use litepress_format::value::Value;
use litepress_rows::Affinity;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Ending of the names.
pub(super) const ENDING: &str = ".db";
/// Longest name without its ending. SQLite appends `-journal`, and a file system takes 255 bytes.
const MOST_BYTES: usize = 180;
/// Most bytes of a longer name that are kept.
const KEPT_BYTES: usize = 100;
/// Bytes of a hash that are in a name.
const HASH_BYTES: usize = 16;

/// Returns the name of the file for a value of a column.
pub(super) fn file_name(value: Value<'_>, affinity: Affinity) -> String {
    let mut name = String::new();
    match value {
        Value::Null => name += "%null",
        Value::Int(int) => name = int.to_string(),
        Value::Real(real) => name = format!("{real:?}"),
        Value::Blob(blob) => {
            name += "%x";
            push_digits(blob, &mut name);
        }
        Value::Text(text) => {
            if text.is_empty() || affinity != Affinity::Text && reads_as_number(text) {
                name += "%text";
            }
            push_text(text, &mut name);
        }
    }
    if name.len() > MOST_BYTES {
        shorten(value, &mut name);
    }
    name + ENDING
}

/// Appends a text in the characters that every file system takes and tells apart.
fn push_text(text: &[u8], name: &mut String) {
    let is_device = is_device(text);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'.' | b'a'..=b'z' if at == 0 && (byte == b'.' || is_device) => push_escaped(byte, name),
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'@' => name.push(char::from(byte)),
            b'A'..=b'Z' => name.extend(['+', char::from(byte.to_ascii_lowercase())]),
            _ => push_escaped(byte, name),
        }
        // The rest only counts for the hash.
        if name.len() > MOST_BYTES {
            return;
        }
    }
}

fn push_escaped(byte: u8, name: &mut String) {
    name.push('%');
    push_digits(&[byte], name);
}

fn push_digits(bytes: &[u8], name: &mut String) {
    for byte in bytes.iter().take(MOST_BYTES) {
        write!(name, "{byte:02x}").expect("a text takes everything");
    }
}

/// Returns whether Windows opens a device for this name, with any ending.
fn is_device(text: &[u8]) -> bool {
    let stem = text.split(|&byte| byte == b'.').next().unwrap_or_default();
    match stem {
        b"con" | b"prn" | b"aux" | b"nul" => true,
        [b'c', b'o', b'm', digit] | [b'l', b'p', b't', digit] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// Returns whether a text may be the name of a number.
fn reads_as_number(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Cuts a name between characters, and appends the hash of its value.
fn shorten(value: Value<'_>, name: &mut String) {
    let (Value::Text(bytes) | Value::Blob(bytes)) = value else { unreachable!("numbers have short names") };
    let is_cut_inside = |at: usize| name[..at].ends_with('+') || name[at.saturating_sub(2)..at].contains('%');
    let end = (0..=KEPT_BYTES).rev().find(|&at| !is_cut_inside(at)).unwrap_or(0);
    name.truncate(end);
    name.push_str("%h");
    push_digits(&Sha256::digest(bytes)[..HASH_BYTES], name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn name(text: &[u8]) -> String {
        file_name(Value::Text(text), Affinity::Text)
    }

    #[test]
    fn names_are_those_of_the_table() {
        for (text, expected) in [
            ("acme-01", "acme-01.db"),
            ("DE", "+d+e.db"),
            ("a/b", "a%2fb.db"),
            ("..", "%2e..db"),
            ("", "%text.db"),
            ("5", "5.db"),
            ("%null", "%25null.db"),
            ("Zoë", "+zo%c3%ab.db"),
            ("con", "%63on.db"),
            ("nul.x", "%6eul.x.db"),
            ("CON", "+c+o+n.db"),
            ("lpt", "lpt.db"),
            ("a b\0", "a%20b%00.db"),
            ("me@example.com", "me@example.com.db"),
        ] {
            assert_eq!(name(text.as_bytes()), expected);
        }
        let any = |value| file_name(value, Affinity::Blob);
        assert_eq!(any(Value::Null), "%null.db");
        assert_eq!((any(Value::Int(-5)), any(Value::Text(b"-5"))), ("-5.db".to_owned(), "%text-5.db".to_owned()));
        assert_eq!((any(Value::Real(0.5)), any(Value::Real(1e300))), ("0.5.db".to_owned(), "1e300.db".to_owned()));
        assert_eq!((any(Value::Blob(&[0, 255])), any(Value::Blob(&[]))), ("%x00ff.db".to_owned(), "%x.db".to_owned()));
    }

    /// Values of every kind have different names, also where capital letters count as small ones.
    #[test]
    fn no_two_values_share_a_name() {
        let mut texts: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let bytes = b"aA.+%2e-5\xc3\xab/";
        for one in bytes {
            for two in bytes {
                texts.extend([vec![*one, *two], vec![*one, *two, b'a'], [&[b'x'; 179][..], &[*one, *two]].concat()]);
                texts.push([&[b'x'; 99][..], &[*one, *two], &[b'y'; 300]].concat());
            }
        }
        texts.extend(["", "%text", "inf", "nan", "1e300", "0.5", "%null", "%x00", "null", "text"].map(Vec::from));
        let mut values: Vec<Value<'_>> = texts.iter().flat_map(|text| [Value::Text(text), Value::Blob(text)]).collect();
        values.extend([Value::Null, Value::Int(0), Value::Int(-5), Value::Int(5), Value::Int(i64::MIN)]);
        values.extend([0.5, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE].map(Value::Real));
        let mut known: HashMap<String, Value<'_>> = HashMap::new();
        for value in values {
            let name = file_name(value, Affinity::Blob);
            assert!(name.len() <= MOST_BYTES + ENDING.len(), "{name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_graphic() && !b"/\\:*?\"<>|".contains(&byte)), "{name}");
            assert!(!name.starts_with('.') && name == name.to_ascii_lowercase(), "{name}");
            if let Some(other) = known.insert(name.clone(), value) {
                assert_eq!(other, value, "{name}");
            }
        }
    }
}
