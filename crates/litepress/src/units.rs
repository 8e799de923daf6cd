//! Parses and formats counts, sizes and durations for people.
//!
//! Counts are decimal: `k`, `m`, `b` are a thousand, a million, a billion. Sizes name their unit: `KiB` to `TiB` are powers of
//! 1024, `kB` to `TB` powers of 1000. A single letter would mean one thing in a count and another in a size, so a size refuses it.

use litepress_gen::{COUNT_UNITS, whole_number};
pub use litepress_rows::{counted, grouped};
use std::time::Duration;

const SIZE_UNITS: [(&str, u128); 9] = [
    ("", 1),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
];

/// Parses a count: `1000`, `1_000_000`, `10k`, `2.5m`, `1b`, `1e6`.
pub fn count(text: &str) -> Result<u64, String> {
    whole_number(text, &COUNT_UNITS)
        .ok_or_else(|| "a count is a whole number such as 1000, 10k, 2.5m, 1b or 1e6".to_owned())
}

/// Parses a size in bytes: `65536`, `64KiB`, `512MiB`, `1.5GiB`, `2GB`.
pub fn size(text: &str) -> Result<u64, String> {
    whole_number(text, &SIZE_UNITS).ok_or_else(|| {
        let number = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
        match text[number.len()..].to_ascii_uppercase().as_str() {
            letter @ ("K" | "M" | "G" | "T") => {
                let decimal = if letter == "K" { "k" } else { letter };
                format!(
                    "a size names its unit: {number}{letter}iB (powers of 1024) or {number}{decimal}B (powers of 1000)"
                )
            }
            _ => "a size is a number of bytes such as 65536, 64KiB, 512MiB or 2GB".to_owned(),
        }
    })
}

/// Formats bytes of a disk in decimal units: `20.5 MB`.
pub fn bytes(bytes: u64) -> String {
    let scale = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match scale.iter().find(|(least, _)| bytes as f64 >= *least) {
        Some((unit, name)) => format!("{} {name}", three_digits(bytes as f64 / unit)),
        None => counted(bytes, "byte"),
    }
}

/// Formats bytes of memory in binary units: `256 MiB`.
pub fn memory(bytes: u64) -> String {
    let scale = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match scale.iter().find(|(least, _)| bytes >= *least) {
        Some((unit, name)) => format!("{} {name}", three_digits(bytes as f64 / *unit as f64)),
        None => counted(bytes, "byte"),
    }
}

/// Formats a large number with three digits and its scale: `105 million`, or in full below a million: `12,345`.
pub fn rate(number: f64) -> String {
    let scale = [(1e9, "billion"), (1e6, "million")];
    match scale.iter().find(|(least, _)| number >= *least) {
        Some((unit, name)) => format!("{} {name}", three_digits(number / unit)),
        None => grouped(rounded(number)),
    }
}

/// Formats a duration: `12 ms`, `9.50 s`, `1 min 05 s`, `2 h 03 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.2} s", time.as_secs_f64()),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Divides a number by a time in seconds. Returns 0 if the time is zero.
pub fn per_second(number: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { number as f64 / time.as_secs_f64() }
}

/// Rounds to the nearest whole number, and negative numbers to 0.
pub fn rounded(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
    #[expect(clippy::cast_sign_loss, reason = "a conversion that saturates")]
    let whole = number.round() as u64;
    whole
}

fn three_digits(number: f64) -> String {
    match number {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1.001m` was exact here and 1000999.9999999999 in an annotation: both go through one parser now.
    #[test]
    fn counts() {
        for (text, expected) in [
            ("1000", Some(1000)),
            ("1_000_000", Some(1_000_000)),
            ("1.001m", Some(1_001_000)),
            ("1B", Some(1_000_000_000)),
            ("1e6", Some(1_000_000)),
            ("1.5", None),
            ("10KiB", None),
        ] {
            assert_eq!(count(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("4096", Some(4096)),
            ("4096b", None),
            ("64k", None),
            ("64KiB", Some(65_536)),
            ("64 KiB", Some(65_536)),
            ("64kB", Some(64_000)),
            ("512MiB", Some(512 << 20)),
            ("512m", None),
            ("2GiB", Some(2 << 30)),
            ("2GB", Some(2_000_000_000)),
            ("1.5g", None),
            ("1.5GiB", Some(3 << 29)),
            ("1TiB", Some(1 << 40)),
            ("0.1k", None),
            ("1e3", Some(1000)),
            ("4096x", None),
            ("99999999999TiB", None),
        ] {
            assert_eq!(size(text).ok(), expected, "{text}");
        }
        // `m` was 2^20 in --memory and 10^6 in --rows.
        assert!(size("512m").is_err_and(|reason| reason.contains("512MiB") && reason.contains("512MB")));
        assert!(size("64k").is_err_and(|reason| reason.contains("64KiB") && reason.contains("64kB")));
    }

    #[test]
    fn numbers_to_read() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
        for (number, expected) in
            [(0, "0 bytes"), (999, "999 bytes"), (8192, "8.19 kB"), (19_800_000_000, "19.8 GB"), (104 << 20, "109 MB")]
        {
            assert_eq!(bytes(number), expected);
        }
        for (number, expected) in [(1023, "1,023 bytes"), (256 << 20, "256 MiB"), (3 << 29, "1.50 GiB")] {
            assert_eq!(memory(number), expected);
        }
        for (number, expected) in [(0.4, "0"), (12_345.0, "12,345"), (105.3e6, "105 million"), (2.1e9, "2.10 billion")]
        {
            assert_eq!(rate(number), expected);
        }
        for (milliseconds, expected) in
            [(12, "12 ms"), (9500, "9.50 s"), (65_000, "1 min 05 s"), (7_400_000, "2 h 03 min")]
        {
            assert_eq!(duration(Duration::from_millis(milliseconds)), expected);
        }
    }
}
