//! Decides by its values whether a column of wide decimals is one of numbers.
//!
//! DuckDB declares sums of integers as `decimal(38, 0)`, and polars every decimal as one of 38 digits. As texts they would sort
//! `'10'` before `'9'`. If an integer or a double keeps all values, the column is one of numbers.

use super::form::{DOUBLE_DIGITS, INTEGER_DIGITS, SemanticType};
use super::scalar;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef};

/// Returns the meaning with as few digits as the values have, if that makes numbers of them. Without a value, or if one needs
/// more digits than a number has, returns it unchanged.
pub(super) fn narrowed<'a>(meaning: SemanticType, arrays: impl Iterator<Item = &'a ArrayRef>) -> SemanticType {
    let SemanticType::Decimal { scale, .. } = meaning else { return meaning };
    let (mut most, mut is_i64) = (None, true);
    for array in arrays {
        for value in values(array) {
            let Some(value) = value else { return meaning };
            most = most.max(Some(value.unsigned_abs()));
            is_i64 &= i64::try_from(value).is_ok();
        }
    }
    let Some(most) = most else { return meaning };
    let digits = u8::try_from(most.to_string().len()).unwrap_or(u8::MAX);
    // Integers of 19 digits may fit: the values decide.
    let fits_integer = is_i64 && scale == 0;
    let precision = if fits_integer { digits.min(INTEGER_DIGITS) } else { digits };
    if fits_integer || precision <= DOUBLE_DIGITS { SemanticType::Decimal { precision, scale } } else { meaning }
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
