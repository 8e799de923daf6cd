//! Parses plain numbers fast: digits with an optional sign in front and an optional point (SWAR: eight bytes as one word).
//!
//! Longer numbers and other spellings are left to the parser of all literals, with which this one agrees.

use litepress_format::value::Value;
use std::ops::Range;

/// The powers of ten needed here. A double holds each of them exactly.
const POWERS: [f64; 18] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17];

/// Repeats a byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_be_bytes([byte; 8])
}

/// Parses the text at `span` of `data`: an integer, or a double if it has a point. `None` if it is not a number, or not a plain
/// one.
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
    // Both operands are exact, so the division rounds once and correctly.
    if mantissa > 1 << 53 {
        return None;
    }
    let real = mantissa as f64 / POWERS[decimals];
    Some(Value::Real(if is_negative { -real } else { real }))
}

/// Returns whether a text is obviously not a number: words, dates, times. `false` decides nothing.
#[inline]
pub(super) fn is_no_number(text: &[u8]) -> bool {
    let mut before = 0_u8;
    for &byte in text {
        match byte {
            b'0'..=b'9' | b'.' | b'e' | b'E' | b' ' | b'\t'..=b'\r' => {}
            // In a number, a sign comes first or after the `e`.
            b'+' | b'-' if !before.is_ascii_digit() => {}
            // SQLite stops reading here.
            0 => return false,
            _ => return true,
        }
        before = byte;
    }
    text.is_empty()
}

/// Parses a text of `len` bytes, held in the lowest bytes of a word. Returns its digits as an integer, and the number of digits
/// after the point, if it has one.
#[inline]
fn short(word: u64, len: usize) -> Option<(i64, Option<usize>)> {
    const POINT: u64 = (b'.' ^ b'0') as u64;
    let word = word ^ (eight(b'0') >> (64 - 8 * len));
    // The highest bit of each byte above 9. (Only such a byte can produce a carry.)
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

/// Converts eight digits, the last one in the lowest byte, by joining neighbours three times.
#[inline]
fn value_of_digits(word: u64) -> i64 {
    const ONES: u64 = 0x00ff_00ff_00ff_00ff;
    const TWOS: u64 = 0x0000_ffff_0000_ffff;
    let pairs = (word >> 8 & ONES) * 10 + (word & ONES);
    let fours = (pairs >> 16 & TWOS) * 100 + (pairs & TWOS);
    ((fours >> 32) * 10_000 + (fours & 0xffff_ffff)).cast_signed()
}

/// Does the same as [`short`] for up to 18 bytes.
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
