//! Classifies texts: is a text a number, and which columns keep it?
//!
//! The strictest question is whether every version of SQLite writes the number as the same text. Versions up to about 3.51 write
//! 15 significant digits of a double. SQLite 3.54 writes 17, or fewer if the 14th to 16th digits are zeros, or the 15th and 16th
//! nines, and the shorter text is the same double. The double nearest to a decimal of 13 digits differs from it by at most half a
//! unit in the double's last place, which is less than one unit of the 16th digit. So both versions give back such a decimal. This
//! holds from 0.001 to 10^15. Between 2^-10 and 0.001, half a unit of the double is larger.
//!
//! Every double keeps up to 15 digits, and `printf('%.2f')` gives them back if their number of decimals is known. Of other
//! spellings (exponents, `.5`, 17 digits) the text does not come back, but a double may keep all of their digits (digits.rs).
//!
//! If you change this file, run its property tests with SQLite 3.40, too: by default they compare with the bundled version.

mod digits;

use super::Kind;
pub(crate) use digits::SURE_DIGITS;
#[cfg(test)]
pub(super) use digits::tests::{rounds_to, without_zeros};
use digits::{KeptDigits, MOST_BYTES, Parts, kept, leading_digits};
use std::cmp::Ordering;

/// Maximum number of significant digits of decimals that every version of SQLite gives back.
const WRITTEN_DIGITS: usize = 13;

/// Maximum number of zeros after the point of decimals that every version of SQLite gives back.
const MOST_LEADING_ZEROS: usize = 2;

/// Maximum number of decimals that `printf('%.2f')` gives back.
const MOST_DECIMALS: usize = 15;

/// A bit beside the number of decimals: there are spaces around the number.
pub(super) const SPACED: u8 = 1 << 7;

/// Returns the kind of a nonempty text, and its number of decimals: 0 if its kind does not depend on it. Adds [`SPACED`] if there are
/// spaces around a number.
#[inline]
pub(super) fn classify(text: &[u8]) -> (Kind, u8) {
    match classify_bare(text) {
        (Kind::Other, _) if has_spaces(text) => classify_spaced(text),
        bare => bare,
    }
}

/// Returns the kind of a JSON number, and its number of decimals. It is a number however long it is.
#[inline]
pub(super) fn classify_json(number: &[u8]) -> (Kind, u8) {
    match classify_bare(number) {
        (Kind::Other, _) => (classify_huge(number), 0),
        known => known,
    }
}

#[cold]
fn classify_huge(number: &[u8]) -> Kind {
    let real: Option<f64> = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
    match real {
        Some(real) if real.is_finite() => Kind::Lossy,
        Some(_) => Kind::Beyond,
        None => Kind::Other,
    }
}

/// Returns whether a text begins or ends with a space that SQLite ignores around numbers.
#[inline]
fn has_spaces(text: &[u8]) -> bool {
    matches!(text.first(), Some(&byte) if is_space(byte)) || matches!(text.last(), Some(&byte) if is_space(byte))
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cold]
fn classify_spaced(text: &[u8]) -> (Kind, u8) {
    let start = text.iter().position(|&byte| !is_space(byte));
    let end = text.iter().rposition(|&byte| !is_space(byte));
    match start.zip(end).map_or((Kind::Other, 0), |(start, end)| classify_bare(&text[start..=end])) {
        (Kind::Other, _) => (Kind::Other, 0),
        (kind, decimals) => (kind, decimals | SPACED),
    }
}

#[inline]
fn classify_bare(text: &[u8]) -> (Kind, u8) {
    let unsigned = if text[0] == b'-' { &text[1..] } else { text };
    let whole = leading_digits(unsigned);
    if whole == 0 || (unsigned[0] == b'0' && whole > 1) {
        return (respelled(text), 0);
    }
    match unsigned.get(whole) {
        None => (integer(text, unsigned), 0),
        Some(b'.') => decimal(text, unsigned, whole),
        Some(b'e' | b'E') => (respelled(text), 0),
        _ => (Kind::Other, 0),
    }
}

/// Classifies digits without leading zeros, with or without a minus sign.
#[inline]
fn integer(text: &[u8], digits: &[u8]) -> Kind {
    let is_negative = digits.len() < text.len();
    let fits = match digits.len().cmp(&19) {
        Ordering::Less => true,
        Ordering::Equal if is_negative => digits <= &b"9223372036854775808"[..],
        Ordering::Equal => digits <= &b"9223372036854775807"[..],
        Ordering::Greater => false,
    };
    match digits.len() {
        _ if is_negative && digits == b"0" => Kind::Respelled,
        0..=SURE_DIGITS => Kind::Integer,
        _ if fits && is_double(digits) => Kind::Integer,
        _ if fits => Kind::LongInteger,
        _ => big_integer(text),
    }
}

/// Returns whether a double equals an integer of at most 19 digits.
fn is_double(digits: &[u8]) -> bool {
    let int = digits.iter().fold(0_u64, |int, digit| int * 10 + u64::from(digit - b'0'));
    // Up to 63 bits, of which a double has 53.
    int == 0 || 64 - int.leading_zeros() - int.trailing_zeros() <= 53
}

/// Returns whether the double nearest to a number does not have all its digits.
pub(crate) fn is_rounded(number: &[u8]) -> bool {
    Parts::of(number).is_some_and(|parts| kept(number, &parts) == KeptDigits::Some)
}

/// Classifies an integer beyond 64 bits.
#[cold]
fn big_integer(text: &[u8]) -> Kind {
    match Parts::of(text).filter(|_| text.len() <= MOST_BYTES).map(|parts| kept(text, &parts)) {
        Some(KeptDigits::All) => Kind::BigRound,
        Some(KeptDigits::Some) => Kind::BigInteger,
        Some(KeptDigits::None) | None => Kind::Other,
    }
}

/// Classifies a text that begins with `whole` digits and a point, perhaps after a minus sign.
#[inline]
fn decimal(text: &[u8], unsigned: &[u8], whole: usize) -> (Kind, u8) {
    let fraction = &unsigned[whole + 1..];
    let decimals = leading_digits(fraction);
    if decimals == 0 || decimals < fraction.len() {
        return (respelled(text), 0);
    }
    let leading_zeros = fraction.iter().take_while(|&&digit| digit == b'0').count();
    let is_below_1 = unsigned[0] == b'0';
    let is_negative_zero = is_below_1 && leading_zeros == decimals && unsigned.len() < text.len();
    let significant = if is_below_1 { decimals - leading_zeros } else { whole + decimals };
    let Some(fixed) = u8::try_from(decimals).ok().filter(|_| significant <= SURE_DIGITS && decimals <= MOST_DECIMALS)
    else {
        return (respelled(text), 0);
    };
    if is_negative_zero {
        return (Kind::Respelled, 0);
    }
    let is_written = significant <= WRITTEN_DIGITS && !(is_below_1 && leading_zeros > MOST_LEADING_ZEROS);
    if fraction == b"0" {
        // Integers of 14 digits are exact as doubles.
        (Kind::Whole, fixed)
    } else if fraction[decimals - 1] == b'0' {
        (Kind::Padded, fixed)
    } else if is_written {
        (Kind::Fraction, fixed)
    } else {
        (Kind::Fixed, fixed)
    }
}

/// Classifies a text that is at most a number in another spelling than SQLite's.
fn respelled(text: &[u8]) -> Kind {
    let parts = Parts::of(text).filter(|parts| text.len() <= MOST_BYTES && parts.sign != b"+");
    let Some(parts) = parts.filter(|parts| parts.whole.len() < 2 || parts.whole[0] != b'0') else { return Kind::Other };
    match kept(text, &parts) {
        KeptDigits::All => Kind::Respelled,
        KeptDigits::Some => Kind::Lossy,
        KeptDigits::None => Kind::Other,
    }
}

/// Explains why a text that looks like a number is not one that a column keeps: `has a leading zero`.
pub(super) fn why_not(text: &[u8]) -> String {
    const NO_NUMBER: &str = "is not a number";
    if text.len() > super::SHOWN && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-')) {
        return "has too many digits for a number".to_owned();
    }
    let trimmed = text.trim_ascii();
    let Some(Parts { sign, whole, fraction, exponent }) = Parts::of(trimmed).filter(|_| text.len() <= super::SHOWN)
    else {
        return NO_NUMBER.to_owned();
    };
    if sign == b"+" {
        return "has a plus sign".to_owned();
    }
    if whole.len() > 1 && whole[0] == b'0' {
        return "has a leading zero".to_owned();
    }
    if fraction.is_none() && exponent.is_none() {
        return "does not fit 64 bits".to_owned();
    }
    "is beyond the largest double".to_owned()
}

/// Explains why the text of a number does not come back.
pub(super) fn why_not_written(text: &[u8]) -> String {
    let Some(parts) = Parts::of(text).filter(|_| text.len() <= super::SHOWN) else {
        return "has more digits than SQLite writes".to_owned();
    };
    if parts.is_zero() && parts.sign == b"-" {
        return "is a negative zero, of which SQLite keeps no sign".to_owned();
    }
    let all: Vec<u8> = parts.whole.iter().chain(parts.fraction.unwrap_or_default()).copied().collect();
    let significant = all.iter().skip_while(|&&digit| digit == b'0').count();
    if significant > SURE_DIGITS {
        return "has more than 15 significant digits, which some versions of SQLite do not write".to_owned();
    }
    match std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => is_not_written(text, value),
        _ => "is beyond the largest double".to_owned(),
    }
}

fn is_not_written(text: &[u8], value: f64) -> String {
    let written = written(value);
    if written.as_bytes() == text {
        return "is a number that some versions of SQLite write otherwise".to_owned();
    }
    format!("is not what {written} is written as")
}

/// Returns SQLite's spelling of a double with at most 15 significant digits.
fn written(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..15).contains(&exponent) {
        return format!("{value:?}");
    }
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod differential;
