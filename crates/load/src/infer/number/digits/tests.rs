//! Arithmetic on the exact decimal expansion of a double judges which texts are kept.

use super::*;
use proptest::prelude::*;

fn kept_of(text: &str) -> KeptDigits {
    kept(text.as_bytes(), &Parts::of(text.as_bytes()).unwrap())
}

/// Returns whether a double, rounded at the place of the text's last digit, is the text. Halves may be rounded to either side.
/// Works on the digits of the double's exact expansion.
pub(in crate::infer) fn rounds_to(value: f64, text: &str) -> bool {
    rounds(value, text, false) || rounds(value, text, true)
}

fn rounds(value: f64, text: &str, half_is_up: bool) -> bool {
    const PLACES: usize = 1100;
    let parts = Parts::of(text.as_bytes()).unwrap();
    let mut digits: Vec<u8> = format!("{:.PLACES$}", value.abs()).bytes().filter(u8::is_ascii_digit).collect();
    let place = parts.last_place() + PLACES as i64;
    let cut = usize::try_from(place).unwrap_or_default();
    digits.extend(std::iter::repeat_n(b'0', usize::try_from(-place).unwrap_or_default()));
    if digits.len() <= cut {
        digits.splice(0..0, std::iter::repeat_n(b'0', cut + 1 - digits.len()));
    }
    let rest = digits.split_off(digits.len() - cut);
    let half = [b"5".as_slice(), &vec![b'0'; cut.saturating_sub(1)]].concat();
    if cut > 0 && (rest > half || (rest == half && half_is_up)) {
        let nines = digits.iter().rev().take_while(|&&digit| digit == b'9').count();
        let at = digits.len() - nines;
        digits[at..].fill(b'0');
        if at == 0 { digits.insert(0, b'1') } else { digits[at - 1] += 1 }
    }
    let own: Vec<u8> = parts.digits().map(|digit| digit + b'0').collect();
    let strip = |digits: &[u8]| digits.iter().copied().skip_while(|&digit| digit == b'0').collect::<Vec<u8>>();
    strip(&own) == strip(&digits)
}

/// Returns the text without zeros at the end of its fraction: `1.50e7` as `1.5e7`.
pub(in crate::infer) fn without_zeros(text: &str) -> String {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let digits = if mantissa.contains('.') { mantissa.trim_end_matches('0') } else { mantissa };
    format!("{digits}e{power}")
}

#[test]
fn a_text_is_kept_if_its_double_rounds_to_it() {
    let exact = format!("{:.1074}", f64::from_bits(1));
    let largest = format!("{:.0}", f64::MAX);
    for (text, expected) in [
        ("0.1234567890123456", KeptDigits::All),
        ("0.30000000000000004", KeptDigits::All),
        ("0.30000000000000005", KeptDigits::Some),
        ("0.1000000000000000055511151231257827021181583404541015625", KeptDigits::All),
        ("0.1000000000000000055511151231257827021181583404541015626", KeptDigits::Some),
        ("0.10000000000000000", KeptDigits::All),
        ("0.100000000000000000", KeptDigits::All),
        ("123.450000000000000000", KeptDigits::All),
        ("0.123456789012345670", KeptDigits::Some),
        ("12345678901234568000000", KeptDigits::All),
        ("12345678901234567600000", KeptDigits::Some),
        ("9007199254740993.0", KeptDigits::Some),
        ("9007199254740992.0", KeptDigits::All),
        ("1e23", KeptDigits::All),
        ("1.0000000000000000e23", KeptDigits::All),
        ("9.9999999999999992e+22", KeptDigits::All),
        ("5e-324", KeptDigits::All),
        ("4.9406564584124654e-324", KeptDigits::All),
        ("4.95e-324", KeptDigits::Some),
        ("1e-323", KeptDigits::All),
        ("1e-400", KeptDigits::Some),
        ("1e309", KeptDigits::None),
        ("1e99999999999999999999999", KeptDigits::None),
        ("0e99999999999999999999999", KeptDigits::All),
        ("1.7976931348623157e308", KeptDigits::All),
        ("0.0000010000000000000000", KeptDigits::All),
        ("0.00000000010000000000000000000", KeptDigits::All),
        (&exact, KeptDigits::All),
        (&largest, KeptDigits::All),
    ] {
        assert_eq!(kept_of(text), expected, "{text}");
    }
}

/// Generates doubles of all sizes, and decimals near powers of ten.
fn doubles() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>().prop_filter("a finite number other than zero", |real| real.is_finite() && *real != 0.0),
        4 => (any::<i32>(), -20..20).prop_map(|(int, power)| f64::from(int | 1) * 10_f64.powi(power)),
        2 => (0.0_f64..1.0).prop_filter("not zero", |real| *real > 0.0),
        1 => (-300..300, -3_i64..4).prop_map(|(power, steps)| {
            f64::from_bits(10_f64.powi(power).to_bits().wrapping_add(steps.cast_unsigned()))
        }),
        1 => (1_u64..5000).prop_map(f64::from_bits),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Columns of doubles that pandas, R and C's printf had written were TEXT, so that `income > 9000` counted 5 rows of 336.
    #[test]
    fn what_programs_write_of_a_double_is_kept(real in doubles(), digits in 15_usize..40, decimals in 0_usize..40) {
        let texts = [
            format!("{real:?}"),
            format!("{real:e}"),
            format!("{real}"),
            format!("{real:.*e}", digits - 1),
            format!("{real:.1100e}"),
            format!("{real:.1074}"),
        ];
        for text in texts {
            prop_assert!(text.len() > MOST_BYTES || kept_of(&text) == KeptDigits::All, "{text}");
        }
        // Fixed forms drop digits of small numbers, and the text may then belong to another double.
        let fixed = format!("{real:.decimals$}");
        if fixed.parse::<f64>().ok() == Some(real) {
            prop_assert_eq!(kept_of(&fixed), KeptDigits::All, "{}", fixed);
        }
    }

    /// Each judgement is that of an exact comparison: the text rounds to the double, and the double back to the text.
    #[test]
    fn every_judgement_is_that_of_exact_arithmetic(real in doubles(), digits in 1_usize..25, last in 0_u8..10) {
        let text = format!("{real:.*e}", digits - 1);
        let (mantissa, power) = text.split_once('e').unwrap();
        // Another last digit, so that many texts are a little off.
        let text = format!("{}{last}e{power}", &mantissa[..mantissa.len() - 1]);
        let parts = Parts::of(text.as_bytes()).unwrap();
        if parts.is_zero() {
            return Ok(());
        }
        let value = text.parse::<f64>().unwrap();
        let expected = match () {
            () if value.is_infinite() => KeptDigits::None,
            () if rounds_to(value, &text) || rounds_to(value, &without_zeros(&text)) => KeptDigits::All,
            () => KeptDigits::Some,
        };
        // Of two texts that are equally near, only the one that programs write must be kept.
        let is_tie = rounds(value, &text, true) != rounds(value, &text, false);
        prop_assert!(kept_of(&text) == expected || is_tie, "{text}: {expected:?}");
        if value.is_infinite() {
            return Ok(());
        }
        // Away from powers of ten, this is what `%.*e` writes.
        let written = format!("{value:.*e}", digits - 1);
        if Parts::of(written.as_bytes()).unwrap().last_place() == parts.last_place() {
            prop_assert!((written == text) == rounds_to(value, &text) || is_tie, "{text}");
        }
    }
}
