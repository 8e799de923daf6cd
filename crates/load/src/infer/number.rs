//! Classifies texts: is a text a number that every version of SQLite writes in the same spelling?
//!
//! Versions up to about 3.51 write 15 significant digits of a double. SQLite 3.54 writes 17, or fewer if the 14th to 16th digits
//! are zeros, or the 15th and 16th nines, and the shorter text is the same double. The double nearest to a decimal of 13 digits
//! differs from it by at most half a unit in the double's last place, which is less than one unit of the 16th digit. So both
//! versions give back such a decimal. This holds from 0.001 to 10^15. Between 2^-10 and 0.001, half a unit of the double is larger.
//!
//! Every double keeps up to 15 digits, and `printf('%.2f')` gives them back if their number of decimals is known. Texts with
//! exponents are no numbers here, because their spelling depends on the writer.
//!
//! If you change this file, run its property tests with SQLite 3.40, too: by default they compare with the bundled version.

use super::Kind;
use std::cmp::Ordering;

/// Number of significant decimal digits that every double keeps.
const DIGITS: usize = 15;

/// Maximum number of significant digits of decimals that every version of SQLite gives back.
const WRITTEN_DIGITS: usize = 13;

/// Maximum number of zeros after the point of decimals that every version of SQLite gives back.
const MOST_LEADING_ZEROS: usize = 2;

/// Maximum number of decimals that `printf('%.2f')` gives back.
const MOST_DECIMALS: usize = 15;

/// Returns the kind of a nonempty text, and its number of decimals: 0 if it is not a decimal.
#[inline]
pub(super) fn classify(text: &[u8]) -> (Kind, u8) {
    const OTHER: (Kind, u8) = (Kind::Other, 0);
    let unsigned = if text[0] == b'-' { &text[1..] } else { text };
    let whole = digits(unsigned);
    // This includes texts without a digit.
    if whole == 0 || (unsigned[0] == b'0' && whole > 1) {
        return OTHER;
    }
    match unsigned.get(whole) {
        None if is_integer(text, unsigned) => (Kind::Integer, 0),
        Some(b'.') => decimal(unsigned, whole, unsigned.len() < text.len()),
        _ => OTHER,
    }
}

#[inline]
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether digits without leading zeros are a 64-bit integer other than `-0`.
#[inline]
fn is_integer(text: &[u8], digits: &[u8]) -> bool {
    let is_negative = digits.len() < text.len();
    match digits.len().cmp(&19) {
        Ordering::Less => !(is_negative && digits == b"0"),
        Ordering::Equal if is_negative => digits <= &b"9223372036854775808"[..],
        Ordering::Equal => digits <= &b"9223372036854775807"[..],
        Ordering::Greater => false,
    }
}

/// Classifies `whole` digits, a point, and the text after it.
fn decimal(text: &[u8], whole: usize, is_negative: bool) -> (Kind, u8) {
    const OTHER: (Kind, u8) = (Kind::Other, 0);
    let behind = &text[whole + 1..];
    let decimals = digits(behind);
    if decimals == 0 || decimals < behind.len() {
        return OTHER;
    }
    let fraction = behind;
    let leading_zeros = fraction.iter().take_while(|&&digit| digit == b'0').count();
    let is_below_1 = text[0] == b'0';
    if is_negative && is_below_1 && leading_zeros == decimals {
        return OTHER;
    }
    let significant = if is_below_1 { decimals - leading_zeros } else { whole + decimals };
    let Some(fixed) = u8::try_from(decimals).ok().filter(|_| significant <= DIGITS && decimals <= MOST_DECIMALS) else {
        return OTHER;
    };
    let is_written = significant <= WRITTEN_DIGITS && !(is_below_1 && leading_zeros > MOST_LEADING_ZEROS);
    if fraction == b"0" {
        // Integers of 14 digits are exact as doubles.
        (Kind::Whole, fixed)
    } else if is_written && fraction[decimals - 1] != b'0' {
        (Kind::Fraction, fixed)
    } else {
        (Kind::Padded, fixed)
    }
}

/// Explains why a text that looks like a number is not one that a column keeps: `has a leading zero`.
pub(super) fn why_not(text: &[u8]) -> String {
    const NO_NUMBER: &str = "is not a number";
    let trimmed = text.trim_ascii();
    let Some((sign, whole, fraction, exponent)) = parts(trimmed).filter(|_| text.len() <= super::SHOWN) else {
        return NO_NUMBER.to_owned();
    };
    if trimmed.len() < text.len() {
        return "has spaces around it".to_owned();
    }
    if sign == b"+" {
        return "has a plus sign".to_owned();
    }
    if whole.len() > 1 && whole[0] == b'0' {
        return "has a leading zero".to_owned();
    }
    let is_zero = whole.iter().chain(fraction.unwrap_or_default()).all(|&digit| digit == b'0');
    if is_zero && sign == b"-" {
        return "is a negative zero, which a column of numbers does not keep".to_owned();
    }
    if fraction.is_none() && exponent.is_none() {
        return "does not fit 64 bits".to_owned();
    }
    let all: Vec<u8> = whole.iter().chain(fraction.unwrap_or_default()).copied().collect();
    let significant = all.iter().skip_while(|&&digit| digit == b'0').count();
    if significant > DIGITS {
        return "has more than 15 significant digits, which is more than every double keeps".to_owned();
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

/// Explains a number that only `printf` would give back.
pub(super) fn why_not_padded(text: &[u8]) -> String {
    let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    is_not_written(text, value)
}

/// Sign, integer digits, fraction digits and exponent of a text that looks like a number.
type Parts<'a> = (&'a [u8], &'a [u8], Option<&'a [u8]>, Option<&'a [u8]>);

fn parts(text: &[u8]) -> Option<Parts<'_>> {
    let (sign, rest) = text.split_at(usize::from(matches!(text.first(), Some(b'+' | b'-'))));
    let (whole, rest) = rest.split_at(digits(rest));
    let (fraction, rest) = match rest {
        [b'.', behind @ ..] => {
            let (fraction, rest) = behind.split_at(digits(behind));
            (Some(fraction), rest)
        }
        _ => (None, rest),
    };
    if whole.len() + fraction.map_or(0, <[u8]>::len) == 0 {
        return None;
    }
    match rest {
        [] => Some((sign, whole, fraction, None)),
        [b'e' | b'E', power @ ..] => {
            let unsigned = power.strip_prefix(b"+").or_else(|| power.strip_prefix(b"-")).unwrap_or(power);
            let is_whole = !unsigned.is_empty() && digits(unsigned) == unsigned.len();
            is_whole.then_some((sign, whole, fraction, Some(power)))
        }
        _ => None,
    }
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
