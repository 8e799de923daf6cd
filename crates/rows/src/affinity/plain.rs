//! Numbers as programs write them, read fast: digits, perhaps with a sign in front and a point among them.
//!
//! Eight bytes are looked at as one word. Whatever is longer than some digits or written otherwise is left to the way that
//! knows all literals; what is read here is what is read there.

use litepress_format::value::Value;
use std::ops::Range;

/// Powers of ten that a double holds exactly, as far as they are needed.
const POWERS: [f64; 18] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17];

/// The same byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_be_bytes([byte; 8])
}

/// The number that the text at `span` of `data` stands for: an integer, or where it has a point a double; `None` where it is no
/// number or has to be read otherwise.
#[inline]
pub(super) fn number(data: &[u8], span: Range<usize>) -> Option<Value<'static>> {
    let is_negative = data[span.clone()].first() == Some(&b'-');
    let digits = span.start + usize::from(is_negative)..span.end;
    let (mantissa, decimals) = match digits.len() {
        0 => return None,
        len @ 1..=8 => match data[digits.start..].first_chunk() {
            Some(word) => short(u64::from_be_bytes(*word) >> (64 - 8 * len), len),
            None => long(&data[digits]),
        },
        9..=18 => long(&data[digits]),
        _ => None,
    }?;
    let signed = if is_negative { -mantissa } else { mantissa };
    let Some(decimals) = decimals else { return Some(Value::Int(signed)) };
    // Both are exact, so the one rounding of the division is the right one.
    if mantissa > 1 << 53 {
        return None;
    }
    let real = mantissa as f64 / POWERS[decimals];
    Some(Value::Real(if is_negative { -real } else { real }))
}

/// Whether a text is no number, seen at a glance: words, dates, times. `false` means nothing.
#[inline]
pub(super) fn is_no_number(text: &[u8]) -> bool {
    let mut before = 0_u8;
    for &byte in text {
        match byte {
            b'0'..=b'9' | b'.' | b'e' | b'E' | b' ' | b'\t'..=b'\r' => {}
            // Of a number, a sign stands in front, or behind its `e`.
            b'+' | b'-' if !before.is_ascii_digit() => {}
            // SQLite reads no further.
            0 => return false,
            _ => return true,
        }
        before = byte;
    }
    text.is_empty()
}

/// The digits of a text of `len` bytes in the lowest bytes of a word, as one integer, and how many of them are behind a point.
#[inline]
fn short(word: u64, len: usize) -> Option<(i64, Option<usize>)> {
    const POINT: u64 = (b'.' ^ b'0') as u64;
    let word = word ^ (eight(b'0') >> (64 - 8 * len));
    // The highest bit of each byte that is above 9. (A carry can only come from such a byte.)
    let others = (word.wrapping_add(eight(0x7f - 9)) | word) & eight(0x80);
    if others == 0 {
        return Some((value_of_digits(word), None));
    }
    let decimals = others.trailing_zeros() as usize / 8;
    if !others.is_power_of_two() || word >> (8 * decimals) & 0xff != POINT || len == 1 {
        return None;
    }
    let fraction = word & ((1 << (8 * decimals)) - 1);
    let whole = word >> (8 * decimals) >> 8;
    Some((value_of_digits(whole << (8 * decimals) | fraction), Some(decimals)))
}

/// Eight digits, the last one in the lowest byte: neighbours are joined three times.
#[inline]
fn value_of_digits(word: u64) -> i64 {
    const ONES: u64 = 0x00ff_00ff_00ff_00ff;
    const TWOS: u64 = 0x0000_ffff_0000_ffff;
    let pairs = (word >> 8 & ONES) * 10 + (word & ONES);
    let fours = (pairs >> 16 & TWOS) * 100 + (pairs & TWOS);
    ((fours >> 32) * 10_000 + (fours & 0xffff_ffff)).cast_signed()
}

/// As [`short`], for at most 18 bytes.
fn long(text: &[u8]) -> Option<(i64, Option<usize>)> {
    let (mut mantissa, mut point) = (0, None);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => mantissa = mantissa * 10 + i64::from(byte - b'0'),
            b'.' if point.is_none() && text.len() > 1 => point = Some(at),
            _ => return None,
        }
    }
    Some((mantissa, point.map(|point| text.len() - 1 - point)))
}
