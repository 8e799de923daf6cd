//! Decides by its values whether a column of wide decimals is one of numbers.
//!
//! DuckDB declares sums of integers as `decimal(38, 0)`, and polars every decimal as one of 38 digits. As texts they would sort
//! `'10'` before `'9'`. If an integer or a double keeps all values, the column is one of numbers.

use super::form::{DOUBLE_DIGITS, INTEGER_DIGITS, SemanticType};
use super::scalar;
use crate::reader::DecimalRange;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef};

/// Returns the meaning with as few digits as the values have, if that makes numbers of them. Without a value, or if one needs
/// more digits than a number has, returns it unchanged.
pub(super) fn narrowed<'a>(meaning: SemanticType, arrays: impl Iterator<Item = &'a ArrayRef>) -> SemanticType {
    let SemanticType::Decimal { scale, .. } = meaning else { return meaning };
    let mut range = DecimalRange { scale, ..DecimalRange::default() };
    for array in arrays {
        observe(&mut range, array);
        if range.is_unbounded {
            break;
        }
    }
    most_digits(&range).map_or(meaning, |precision| SemanticType::Decimal { precision, scale })
}

/// Adds the values of an array to the range.
pub(super) fn observe(range: &mut DecimalRange, array: &ArrayRef) {
    values(array).for_each(|value| range.observe(value));
}

/// Returns the number of digits that makes numbers of decimals in this range, or `None` if they are none.
pub(super) fn most_digits(range: &DecimalRange) -> Option<u8> {
    let most = range.most.filter(|_| !range.is_unbounded)?;
    let digits = u8::try_from(most.to_string().len()).unwrap_or(u8::MAX);
    // Integers of 19 digits may fit: the values decide.
    let fits_integer = !range.is_beyond_i64 && range.scale == 0;
    let precision = if fits_integer { digits.min(INTEGER_DIGITS) } else { digits };
    (fits_integer || precision <= DOUBLE_DIGITS).then_some(precision)
}

/// Returns the unscaled integers that are not NULL, each `None` if it has more than 128 bits.
fn values(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<i128>> + '_> {
    let rows = (0..array.len()).filter(|&row| array.is_valid(row));
    match array.as_primitive_opt::<Decimal128Type>() {
        Some(array) => Box::new(rows.map(|row| Some(array.value(row)))),
        None => Box::new(rows.map(|row| scalar::unscaled(array, row).parse().ok())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Decimal128Array;
    use std::sync::Arc;

    #[test]
    fn few_digits_are_numbers() {
        let most = i128::from(i64::MAX);
        for (scale, values, expected) in [
            (0, vec![Some(10), None, Some(-9)], 2),
            (0, vec![Some(most)], 18),
            (0, vec![Some(most + 1)], 38),
            (2, vec![Some(950), Some(1000)], 4),
            (2, vec![Some(999_999_999_999_999)], 15),
            (2, vec![Some(1), Some(-1_000_000_000_000_000)], 38),
            (-2, vec![Some(5)], 1),
            (2, vec![None], 38),
            (2, vec![], 38),
        ] {
            let array = Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap();
            let array: ArrayRef = Arc::new(array);
            let found = narrowed(SemanticType::Decimal { precision: 38, scale }, [&array].into_iter());
            assert_eq!(found, SemanticType::Decimal { precision: expected, scale }, "{array:?}");
        }
    }
}
