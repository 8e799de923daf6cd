//! Numbers of another kind than their array: unsigned integers, doubles as integers, decimals.

use super::Column;
use super::filling::{Filling, NO_INTEGER, TOO_MANY_DIGITS};
use crate::arrow::form::{DOUBLE_DIGITS, SemanticType, StorageForm};
use crate::arrow::scalar;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, UInt64Type};
use arrow_schema::DataType;
use litepress_format::value::Value;
use litepress_rows::quote;

impl Column {
    pub(super) fn fill_decimals(&mut self, filling: &mut Filling<'_>) {
        let SemanticType::Decimal { precision, scale } = self.meaning else { return };
        let mut raw = std::mem::take(&mut self.scratch);
        raw.clear();
        if !scalar::raw_integers(filling.array, &mut raw)
            && matches!(filling.array.data_type(), DataType::Decimal128(..))
        {
            let values = filling.array.as_primitive::<Decimal128Type>().values();
            raw.extend(values.iter().map_while(|&value| i64::try_from(value).ok()));
        }
        let is_short = raw.len() == filling.rows();
        let most = 10_i64.pow(u32::from(DOUBLE_DIGITS));
        match self.form {
            StorageForm::Real
                if is_short && (0..=22).contains(&scale) && raw.iter().all(|value| value.abs() < most) =>
            {
                // Both numbers are exact as doubles, so the quotient is the double nearest to the decimal.
                let divisor = 10_f64.powi(scale.into());
                filling.block.reals().extend(raw.iter().map(|&value| value as f64 / divisor));
            }
            StorageForm::Integer if is_short && scale == 0 => filling.block.ints().extend_from_slice(&raw),
            StorageForm::Real => fill_doubles_of_decimals(filling, precision, scale),
            _ => fill_integers_of_decimals(filling, scale),
        }
        self.scratch = raw;
    }
}

pub(super) fn fill_unsigned(filling: &mut Filling<'_>) {
    let values = filling.array.as_primitive::<UInt64Type>().values().clone();
    filling.block.ints().extend(values.iter().map(|&value| i64::try_from(value).unwrap_or(0)));
    for (row, value) in values.iter().enumerate().filter(|(_, value)| **value > i64::MAX.unsigned_abs()) {
        filling.refuse(row, NO_INTEGER, Some(value.to_string()));
    }
}

pub(super) fn fill_reals_of_integers(filling: &mut Filling<'_>) {
    if *filling.array.data_type() == DataType::UInt64 {
        let values = filling.array.as_primitive::<UInt64Type>().values();
        return filling.block.reals().extend(values.iter().map(|&value| value as f64));
    }
    let mut raw = Vec::new();
    scalar::raw_integers(filling.array, &mut raw);
    filling.block.reals().extend(raw.iter().map(|&value| value as f64));
}

pub(super) fn fill_integral_doubles(filling: &mut Filling<'_>) {
    let mut raw = Vec::new();
    scalar::raw_doubles(filling.array, &mut raw);
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates; what is no integer is refused below")]
    filling.block.ints().extend(raw.iter().map(|&real| real as i64));
    // 2^63 itself saturates to another integer.
    let beyond = 2_f64.powi(63);
    let is_integer = |real: f64| real.trunc() == real && (-beyond..beyond).contains(&real);
    for (row, &real) in raw.iter().enumerate().filter(|(_, real)| !is_integer(**real)) {
        filling.refuse(row, NO_INTEGER, Some(quote(&Value::Real(real))));
    }
}

/// Fills the block with the doubles nearest to decimals of any width.
fn fill_doubles_of_decimals(filling: &mut Filling<'_>, precision: u8, scale: i8) {
    let mut reals = Vec::with_capacity(filling.rows());
    let mut text = Vec::new();
    for row in 0..filling.rows() {
        text.clear();
        scalar::push_decimal(filling.array, row, scale, &mut text);
        let digits = text.iter().filter(|byte| byte.is_ascii_digit()).skip_while(|digit| **digit == b'0').count();
        let decimal = String::from_utf8_lossy(&text);
        if digits > usize::from(precision.max(DOUBLE_DIGITS)) {
            filling.refuse(row, TOO_MANY_DIGITS, Some(decimal.clone().into_owned()));
        }
        reals.push(decimal.parse().unwrap_or(0.0));
    }
    *filling.block.reals() = reals;
}

fn fill_integers_of_decimals(filling: &mut Filling<'_>, scale: i8) {
    let mut ints = Vec::with_capacity(filling.rows());
    let mut text = Vec::new();
    for row in 0..filling.rows() {
        text.clear();
        scalar::push_decimal(filling.array, row, scale, &mut text);
        let decimal = String::from_utf8_lossy(&text).into_owned();
        let (whole, fraction) = decimal.split_once('.').unwrap_or((&decimal, ""));
        let int = whole.parse::<i64>().ok().filter(|_| fraction.bytes().all(|digit| digit == b'0'));
        if int.is_none() {
            filling.refuse(row, NO_INTEGER, Some(decimal.clone()));
        }
        ints.push(int.unwrap_or(0));
    }
    *filling.block.ints() = ints;
}
