//! Values of options as texts: what people write on a command line, and in other faces that take texts.
//!
//! Every function returns a sentence that describes the expected text if it cannot read one.

use crate::units;
use crate::{Choice, MIN_MEMORY_BYTES, Numbers, PageSize, Quote, Shard};
use litepress_gen::recipe::check_scale;
use std::time::Duration;

/// Threads beyond this number are of no use.
const MAX_THREADS: usize = 1024;

/// Reads a number of threads.
///
/// # Errors
/// A sentence about numbers of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    let threads = units::count(text).ok().and_then(|count| usize::try_from(count).ok());
    threads
        .filter(|threads| (1..=MAX_THREADS).contains(threads))
        .ok_or_else(|| format!("a number of threads is 1 to {MAX_THREADS}"))
}

/// Reads a memory budget.
///
/// # Errors
/// A sentence about sizes, or about the least budget.
pub fn memory(text: &str) -> Result<u64, String> {
    let bytes = units::size(text)?;
    if bytes < MIN_MEMORY_BYTES {
        return Err(format!("{} is the least memory to work in", units::memory(MIN_MEMORY_BYTES)));
    }
    Ok(bytes)
}

/// Reads a page size.
///
/// # Errors
/// A sentence about page sizes.
pub fn page_size(text: &str) -> Result<PageSize, String> {
    let bytes = units::size(text).ok().and_then(|bytes| u32::try_from(bytes).ok());
    bytes.and_then(PageSize::new).ok_or_else(|| "a page size is a power of two from 512 to 65536".to_owned())
}

/// Reads a time to wait, in seconds: `10`, `0.5`.
///
/// # Errors
/// A sentence about times.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // SQLite counts milliseconds in 32 bits.
    let seconds = seconds.filter(|seconds| seconds.as_millis() <= i32::MAX as u128);
    seconds.ok_or_else(|| "a time to wait is a number of seconds: 10, 0.5".to_owned())
}

/// Reads `I/N`: the I-th of N equal shards of all tables.
///
/// # Errors
/// A sentence about parts.
pub fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let shard = numbers.and_then(|(number, of)| Shard::new(number, of));
    shard.ok_or_else(|| "a shard is written I/N, I from 1 to N: 1/4".to_owned())
}

/// Reads the rule for columns of numbers: `lenient` for all columns, `price=lenient` or `*_rate=lenient` for some.
///
/// # Errors
/// A sentence about rules.
pub fn numbers(text: &str) -> Result<(String, Numbers), String> {
    let (columns, rule) = text.rsplit_once('=').unwrap_or(("*", text));
    if columns.is_empty() {
        return Err("a rule for some columns is written COLUMN=RULE".to_owned());
    }
    Ok((columns.to_owned(), Choice::from_name(rule)?))
}

/// Reads a factor for numbers of rows.
///
/// # Errors
/// A sentence about factors.
pub fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().map_err(|_| "a scale is a number above 0: 0.1, 100".to_owned())?;
    check_scale(scale).map(|()| scale)
}

/// Reads one ASCII character.
///
/// # Errors
/// A sentence about such characters.
pub fn ascii(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(*byte),
        _ => Err("this is one ASCII character, and no line end".to_owned()),
    }
}

/// Reads a delimiter: one or more characters, or the name of the tab.
///
/// # Errors
/// A sentence about delimiters.
pub fn delimiter(text: &str) -> Result<String, String> {
    match text {
        "tab" | "\\t" => Ok("\t".to_owned()),
        "" => Err("this is one character or more: , or ', ' or tab".to_owned()),
        _ if text.contains(['\n', '\r']) => Err("a delimiter holds no line end".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Reads one character: a mark within numbers.
///
/// # Errors
/// A sentence about such marks.
pub fn mark(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(mark), None) => Ok(mark),
        _ => Err("this is one character: , or . or ' '".to_owned()),
    }
}

/// Reads one ASCII character, or `none`.
///
/// # Errors
/// As [`ascii`].
pub fn quote(text: &str) -> Result<Quote, String> {
    match text {
        "none" => Ok(Quote::None),
        _ => ascii(text).map(Quote::Byte),
    }
}

/// Reads keys with dots between them. A key that holds dots is written in double quotes, and `$` may stand in front, as in a path
/// of SQLite.
///
/// # Errors
/// A sentence about such keys.
pub fn json_path(text: &str) -> Result<Vec<String>, String> {
    let expected = || "keys are written with dots between them: data.items, or \"a.b\".items".to_owned();
    let mut rest = text.strip_prefix('$').map_or(text, |rest| rest.strip_prefix('.').unwrap_or(rest));
    let mut keys = Vec::new();
    loop {
        let (key, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or_else(expected)?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        let is_quoted = rest.starts_with('"');
        if !is_quoted && (key.is_empty() || key.contains(['[', ']', '"'])) {
            return Err(expected());
        }
        keys.push(key.to_owned());
        match behind.strip_prefix('.') {
            Some(behind) => rest = behind,
            None if behind.is_empty() => return Ok(keys),
            None => return Err(expected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_one_ascii_character_or_have_a_name() {
        for (given, read) in [("tab", "\t"), ("\\t", "\t"), (";", ";"), (", ", ", ")] {
            assert_eq!(delimiter(given).as_deref(), Ok(read));
        }
        assert_eq!((quote("none"), quote("'")), (Ok(Quote::None), Ok(Quote::Byte(b'\''))));
        assert!(delimiter("").is_err() && delimiter("a\n").is_err() && quote("é").is_err() && ascii("\n").is_err());
        assert_eq!(json_path("data"), Ok(vec!["data".to_owned()]));
        assert_eq!(json_path("$.a.\"b.c\".\"\""), Ok(vec!["a".to_owned(), "b.c".to_owned(), String::new()]));
        assert!(["", "$", "a.", ".a", "a..b", "a[0]", "\"a", "\"a\"b"].iter().all(|path| json_path(path).is_err()));
    }
}
