//! Decides whether a double keeps all digits of a decimal text.
//!
//! A text is kept if the double nearest to it, rounded to the place of the text's last digit, is the text again. So the shortest
//! text of a double is kept, and so is what `%.15g`, `%.17g`, `%.2f` and `%.30e` write of it, down to its exact expansion. Zeros at
//! the end need not be digits of the double: `0.100000000000000000` is kept, since 0.1 is.
//!
//! Up to 15 digits are always kept. With 16 to 19 digits, most texts are judged in 128-bit integers. Longer ones are compared with
//! the correctly rounded digits that the standard library formats.

/// Number of significant decimal digits that every double keeps, if it is not subnormal.
pub(crate) const SURE_DIGITS: usize = 15;

/// Largest number of bytes of a text that is taken for a number. The exact expansion of the smallest double has 1,077.
pub(super) const MOST_BYTES: usize = 1200;

/// Exponents of ten between which 15 digits are always kept.
const SURE_EXPONENTS: std::ops::RangeInclusive<i64> = -290..=290;

/// The parts of a text that looks like a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// `+`, `-` or nothing.
    pub sign: &'a [u8],
    /// Digits before the point.
    pub whole: &'a [u8],
    /// Digits after the point. `None` without a point.
    pub fraction: Option<&'a [u8]>,
    /// Sign and digits after the `e`. `None` without one.
    pub exponent: Option<&'a [u8]>,
}

/// The share of digits that a double keeps of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptDigits {
    /// All digits.
    All,
    /// Not all: the number is rounded.
    Some,
    /// Nothing: the number is beyond the largest double.
    None,
}

/// Returns the number of digits at the start of a text.
#[inline]
pub(super) fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

impl<'a> Parts<'a> {
    /// Splits `[+-] digits [. digits] [e [+-] digits]` with at least one digit before the `e`.
    pub fn of(text: &'a [u8]) -> Option<Self> {
        let (sign, rest) = text.split_at(usize::from(matches!(text.first(), Some(b'+' | b'-'))));
        let (whole, rest) = rest.split_at(leading_digits(rest));
        let (fraction, rest) = match rest {
            [b'.', behind @ ..] => {
                let (fraction, rest) = behind.split_at(leading_digits(behind));
                (Some(fraction), rest)
            }
            _ => (None, rest),
        };
        if whole.len() + fraction.map_or(0, <[u8]>::len) == 0 {
            return None;
        }
        let exponent = match rest {
            [] => None,
            [b'e' | b'E', power @ ..] => {
                let unsigned = power.strip_prefix(b"+").or_else(|| power.strip_prefix(b"-")).unwrap_or(power);
                if unsigned.is_empty() || leading_digits(unsigned) < unsigned.len() {
                    return None;
                }
                Some(power)
            }
            _ => return None,
        };
        Some(Self { sign, whole, fraction, exponent })
    }

    /// Returns the digits before and after the point.
    fn digits(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.whole.iter().chain(self.fraction.unwrap_or_default()).map(|byte| byte - b'0')
    }

    /// Returns whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.digits().all(|digit| digit == 0)
    }

    /// Returns the power of ten of the last digit.
    fn last_place(&self) -> i64 {
        let power = self.exponent.unwrap_or_default();
        let unsigned = power.strip_prefix(b"+").or_else(|| power.strip_prefix(b"-")).unwrap_or(power);
        // No text is long enough for a larger exponent to be compensated by its digits.
        let size = unsigned.iter().fold(0, |size: i64, digit| (size * 10 + i64::from(digit - b'0')).min(1_000_000));
        let power = if power.first() == Some(&b'-') { -size } else { size };
        power - self.fraction.map_or(0, <[u8]>::len) as i64
    }
}

/// Returns what the double nearest to a number keeps of its digits. `text` must be the text of the parts.
pub(super) fn kept(text: &[u8], parts: &Parts<'_>) -> KeptDigits {
    let digits = Digits::of(parts.digits(), parts.last_place());
    if digits.are_surely_kept() {
        return KeptDigits::All;
    }
    let Some(value) = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) else {
        return KeptDigits::None;
    };
    let value = value.abs();
    if value.is_infinite() {
        return KeptDigits::None;
    }
    let is_kept = digits.are_those_of(value, || parts.digits()) || {
        let zeros = digits.zeros;
        let all = parts.whole.len() + parts.fraction.map_or(0, <[u8]>::len);
        let shorter = || parts.digits().take(all - zeros);
        zeros > 0 && Digits::of(shorter(), digits.last_place + zeros as i64).are_those_of(value, shorter)
    };
    if is_kept { KeptDigits::All } else { KeptDigits::Some }
}

/// The digits of a number from the first one that is not zero.
#[derive(Clone, Copy)]
struct Digits {
    count: usize,
    /// The digits as an integer, if there are at most 19.
    mantissa: u64,
    /// Number of zeros at the end.
    zeros: usize,
    /// Power of ten of the last digit.
    last_place: i64,
}

impl Digits {
    #[inline]
    fn of(digits: impl Iterator<Item = u8>, last_place: i64) -> Self {
        let (mut count, mut mantissa, mut zeros) = (0, 0_u64, 0);
        for digit in digits.skip_while(|&digit| digit == 0) {
            count += 1;
            zeros = if digit == 0 { zeros + 1 } else { 0 };
            mantissa = mantissa.wrapping_mul(10).wrapping_add(digit.into());
        }
        Self { count, mantissa, zeros, last_place }
    }

    #[inline]
    fn are_surely_kept(&self) -> bool {
        let first_place = self.last_place + self.count as i64;
        let is_sure = SURE_EXPONENTS.contains(&self.last_place) && SURE_EXPONENTS.contains(&first_place);
        self.count == 0 || (self.count <= SURE_DIGITS && is_sure)
    }

    /// Returns whether `value`, rounded to the place of the last digit, has these digits, which `again` gives once more.
    #[inline]
    fn are_those_of<I: Iterator<Item = u8>>(&self, value: f64, again: impl Fn() -> I) -> bool {
        let exact = if self.count <= 19 { is_rounded_mantissa(value, self.mantissa, self.last_place) } else { None };
        exact.unwrap_or_else(|| is_rounded(value, || again().skip_while(|&digit| digit == 0), self.last_place))
    }
}

/// Returns whether `value`, rounded to a multiple of 10^`place`, is `mantissa` times 10^`place`. `None` if 128 bits are too few.
#[inline]
fn is_rounded_mantissa(value: f64, mantissa: u64, place: i64) -> Option<bool> {
    const POWERS: [u128; 23] = {
        let mut powers = [1; 23];
        let mut at = 1;
        while at < 23 {
            powers[at] = powers[at - 1] * 10;
            at += 1;
        }
        powers
    };
    let power = POWERS.get(usize::try_from(-place).ok()?)?;
    let bits = value.to_bits();
    // value = fraction / 2^shift
    let (fraction, shift) = (bits & ((1 << 52) - 1) | 1 << 52, 1075 - (bits >> 52).cast_signed());
    if bits >> 52 == 0 || !(1..=127).contains(&shift) {
        return None;
    }
    // Below 2^53 times 10^22, which is below 2^127.
    let product = u128::from(fraction) * power;
    let (quotient, rest, half) = (product >> shift, product & ((1 << shift) - 1), 1_u128 << (shift - 1));
    let mantissa = u128::from(mantissa);
    // Programs differ in how they round a half.
    Some((rest <= half && quotient == mantissa) || (rest >= half && quotient + 1 == mantissa))
}

/// Returns whether `value`, rounded to a multiple of 10^`place`, has its `own` digits.
fn is_rounded<I: Iterator<Item = u8>>(value: f64, own: impl Fn() -> I, place: i64) -> bool {
    if value == 0.0 {
        return false;
    }
    let shortest = Scientific::of(&format!("{value:e}"));
    if shortest.last_place() == place && own().eq(shortest.digits.iter().copied()) {
        return true;
    }
    let rounded_to = |first_place: i64| {
        let digits = usize::try_from(first_place - place).ok()?;
        Some(Scientific::of(&format!("{value:.digits$e}")))
    };
    // The shortest text of a double just below a power of ten may begin one place further left than the double.
    let rounded = rounded_to(shortest.first_place).and_then(|rounded| {
        if rounded.first_place < shortest.first_place { rounded_to(rounded.first_place) } else { Some(rounded) }
    });
    // A double that begins behind the place is rounded up to it: no other text is nearer to it.
    let Some(rounded) = rounded else { return own().eq([1]) };
    // Rounding 9.99 up to 10.0 moves the first place, and the formatter then drops the last digit, which is a zero.
    let zeros = usize::try_from(rounded.last_place() - place).unwrap_or_default();
    own().eq(rounded.digits.into_iter().chain(std::iter::repeat_n(0, zeros)))
}

/// The digits of a number in scientific notation.
struct Scientific {
    digits: Vec<u8>,
    /// Power of ten of the first digit.
    first_place: i64,
}

impl Scientific {
    /// Reads what the standard library writes: `1.25e-7`.
    fn of(text: &str) -> Self {
        let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
        let digits = digits.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        Self { digits, first_place: power.parse().unwrap_or_default() }
    }

    fn last_place(&self) -> i64 {
        self.first_place + 1 - self.digits.len() as i64
    }
}

#[cfg(test)]
pub(super) mod tests;
