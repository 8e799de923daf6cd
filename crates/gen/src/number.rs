//! Parses whole numbers as people write them: exactly or not at all, never rounded.

/// Units of counts: `k`, `m` and `b` are a thousand, a million and a billion.
pub const COUNT_UNITS: [(&str, u128); 4] = [("", 1), ("k", 1_000), ("m", 1_000_000), ("b", 1_000_000_000)];

/// Parses digits, a fraction, an exponent and one of `units`, whose names are in lower case; case does not matter in
/// `text`. Returns `None` if that is not a number, not whole, or above 2^64-1.
///
/// ```
/// use litepress_gen::{COUNT_UNITS, whole_number};
///
/// assert_eq!(whole_number("1.001m", &COUNT_UNITS), Some(1_001_000));
/// assert_eq!(whole_number("1_000", &COUNT_UNITS), Some(1000));
/// assert_eq!(whole_number("1.5", &COUNT_UNITS), None);
/// ```
pub fn whole_number(text: &str, units: &[(&str, u128)]) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let (number, rest) = split_at_first(&text, |letter| !matches!(letter, '0'..='9' | '_' | '.'));
    let (exponent, unit) = match rest.strip_prefix('e') {
        Some(rest) => exponent(rest)?,
        None => (0, rest),
    };
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let [whole, fraction] = [whole, fraction].map(|digits| digits.replace('_', ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u128.checked_pow(scale.unsigned_abs())?;
    let scaled = digits.checked_mul(*factor)?;
    if scale >= 0 {
        return u64::try_from(scaled.checked_mul(power)?).ok();
    }
    (scaled % power == 0).then(|| u64::try_from(scaled / power).ok())?
}

/// Parses the digits after the `e`. Returns the exponent and the rest of the text.
fn exponent(text: &str) -> Option<(i32, &str)> {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (if text.starts_with('-') { -1 } else { 1 }, digits),
        None => (1, text),
    };
    let (digits, unit) = split_at_first(digits, |letter| !letter.is_ascii_digit());
    Some((sign * digits.parse::<i32>().ok()?, unit))
}

fn split_at_first(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_refused() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1_000_000", Some(1_000_000)),
            ("10m", Some(10_000_000)),
            ("1B", Some(1_000_000_000)),
            ("2.5m", Some(2_500_000)),
            ("1.001m", Some(1_001_000)),
            ("1e6", Some(1_000_000)),
            ("1e+6", Some(1_000_000)),
            ("1.5e3k", Some(1_500_000)),
            ("1500e-3k", Some(1500)),
            ("2500e-2", Some(25)),
            ("1e-1", None),
            (" 7 ", Some(7)),
            ("9007199254740993.0", Some(9_007_199_254_740_993)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("99999999999b", None),
            ("1e40", None),
            ("1e-40", None),
            ("1e4000000000", None),
            ("1e-2147483647", None),
            ("1.5", None),
            ("-1", None),
            ("", None),
            ("k", None),
            ("_", None),
            (".", None),
            ("1.2.3", None),
            ("1e", None),
            ("1e+", None),
            ("1e--1", None),
            ("1,000", None),
            ("ten", None),
            ("1t", None),
            ("٣", None),
        ] {
            assert_eq!(whole_number(text, &COUNT_UNITS), expected, "{text}");
        }
    }
}
