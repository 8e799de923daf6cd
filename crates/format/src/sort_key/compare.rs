//! Orders values without encoding them as keys.

use super::Collation;
use super::text::without_spaces;
use crate::text::for_collation;
use crate::value::Value;
use std::cmp::Ordering;

/// Compares two values as SQLite does, ascending: NULL < numbers < text < blob. NaN is NULL, as in a record.
///
/// The encodings that [`push`](super::push) makes of the values compare alike.
#[inline]
#[must_use]
pub fn compare(left: &Value<'_>, right: &Value<'_>, collation: Collation) -> Ordering {
    match (*left, *right) {
        (Value::Text(left), Value::Text(right)) => collation.compare(left, right),
        (Value::Blob(left), Value::Blob(right)) => left.cmp(right),
        (Value::Int(left), Value::Int(right)) => left.cmp(&right),
        _ => rank(left).cmp(&rank(right)).then_with(|| compare_numbers(left, right)),
    }
}

/// Returns the rank of the value's kind.
fn rank(value: &Value<'_>) -> u8 {
    match value {
        Value::Real(real) if real.is_nan() => 0,
        Value::Null => 0,
        Value::Int(_) | Value::Real(_) => 1,
        Value::Text(_) => 2,
        Value::Blob(_) => 3,
    }
}

fn compare_numbers(left: &Value<'_>, right: &Value<'_>) -> Ordering {
    match (*left, *right) {
        (Value::Int(left), Value::Real(right)) => compare_int_real(left, right),
        (Value::Real(left), Value::Int(right)) => compare_int_real(right, left).reverse(),
        (Value::Real(left), Value::Real(right)) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
        _ => Ordering::Equal,
    }
}

/// Compares exactly, even if the integer is not representable as a double.
fn compare_int_real(int: i64, real: f64) -> Ordering {
    const BEYOND_INTEGERS: f64 = 9_223_372_036_854_775_808.0; // 2^63
    if real >= BEYOND_INTEGERS {
        return Ordering::Less;
    }
    if real < -BEYOND_INTEGERS {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the whole part of a double within the integers")]
    let whole = real as i64;
    // If the whole parts are equal, the fraction of `real` decides. A double with a fraction is small enough for
    // exact subtraction.
    int.cmp(&whole).then_with(|| 0.0.partial_cmp(&(real - whole as f64)).unwrap_or(Ordering::Equal))
}

impl Collation {
    /// Compares two texts. Both are UTF-8 unless the collation is [`Binary`](Self::Binary) or names another encoding.
    #[inline]
    #[must_use]
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            Self::Binary => compare_bytes(left, right),
            Self::NoCase => compare_no_case(left, right),
            Self::RTrim => without_spaces(left).cmp(without_spaces(right)),
            Self::NoCaseOf(encoding) => {
                compare_no_case(&for_collation(left, encoding), &for_collation(right, encoding))
            }
            Self::RTrimOf(encoding) => {
                let (left, right) = (for_collation(left, encoding), for_collation(right, encoding));
                without_spaces(&left).cmp(without_spaces(&right))
            }
        }
    }
}

/// Computes `left.cmp(right)`, by the first eight bytes alone if they differ.
#[inline]
fn compare_bytes(left: &[u8], right: &[u8]) -> Ordering {
    match (left.first_chunk(), right.first_chunk()) {
        (Some(start), Some(other)) if start != other => u64::from_be_bytes(*start).cmp(&u64::from_be_bytes(*other)),
        _ => left.cmp(right),
    }
}

/// Compares like `sqlite3StrNICmp`, then by length. A NUL at the same position in both ends the comparison.
fn compare_no_case(left: &[u8], right: &[u8]) -> Ordering {
    for (left, right) in left.iter().zip(right) {
        match left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase()) {
            Ordering::Equal if *left == 0 => break,
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
    left.len().cmp(&right.len())
}
