//! Comparison, also across kinds of values.

use super::Comparison;
use super::operand::{Operand, put_flags};
use litepress_format::value::Value;
use litepress_rows::affinity::{self, text_of_number};
use litepress_rows::{Affinity, CellBlock, Cells};
use std::cmp::Ordering;

/// Conversion before a comparison with a column; it applies if only one of the values is a number or a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conversion {
    None,
    ToNumber,
    ToText,
}

fn conversion(affinities: [Option<Affinity>; 2]) -> Conversion {
    let is_number = |affinity| matches!(affinity, Affinity::Integer | Affinity::Real | Affinity::Numeric);
    match affinities {
        [Some(left), Some(right)] if is_number(left) || is_number(right) => Conversion::ToNumber,
        [Some(_), Some(_)] | [None, None] => Conversion::None,
        [Some(one), None] | [None, Some(one)] if is_number(one) => Conversion::ToNumber,
        [Some(Affinity::Text), None] | [None, Some(Affinity::Text)] => Conversion::ToText,
        _ => Conversion::None,
    }
}

pub(super) fn compare(
    comparison: Comparison,
    operands: [&Operand<'_>; 2],
    affinities: [Option<Affinity>; 2],
    rows: usize,
    out: &mut CellBlock,
) {
    let [left, right] = operands;
    put_flags(out, rows, |row| one(comparison, [left.value(row), right.value(row)], affinities));
}

/// Compares two values; `None` is unknown.
pub(super) fn one(comparison: Comparison, values: [Value<'_>; 2], affinities: [Option<Affinity>; 2]) -> Option<bool> {
    match (comparison, values) {
        (Comparison::Is, [Value::Null, other] | [other, Value::Null]) => return Some(other == Value::Null),
        (Comparison::IsNot, [Value::Null, other] | [other, Value::Null]) => return Some(other != Value::Null),
        (_, [Value::Null, _] | [_, Value::Null]) => return None,
        _ => {}
    }
    let order = converted_order(values, conversion(affinities));
    Some(match comparison {
        Comparison::Equal | Comparison::Is => order.is_eq(),
        Comparison::Unequal | Comparison::IsNot => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

fn converted_order([left, right]: [Value<'_>; 2], conversion: Conversion) -> Ordering {
    let is_text = |value| matches!(value, Value::Text(_));
    match conversion {
        Conversion::ToNumber => {
            order(affinity::apply(left, Affinity::Numeric), affinity::apply(right, Affinity::Numeric))
        }
        Conversion::ToText if is_text(left) || is_text(right) => {
            let [one, other] = [text_of_number(left), text_of_number(right)];
            let text = |value, text| match text {
                Some(text) => Value::from(text),
                None => value,
            };
            order(text(left, one.as_deref()), text(right, other.as_deref()))
        }
        _ => order(left, right),
    }
}

/// Returns the order of values: NULL, numbers, texts, blobs.
pub(super) fn order(left: Value<'_>, right: Value<'_>) -> Ordering {
    let class = |value| match value {
        Value::Null => 0,
        Value::Int(_) | Value::Real(_) => 1,
        Value::Text(_) => 2,
        Value::Blob(_) => 3,
    };
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => left.cmp(&right),
        (Value::Real(left), Value::Real(right)) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
        (Value::Int(int), Value::Real(real)) => order_of_both(int, real),
        (Value::Real(real), Value::Int(int)) => order_of_both(int, real).reverse(),
        (Value::Text(left), Value::Text(right)) | (Value::Blob(left), Value::Blob(right)) => left.cmp(right),
        _ => class(left).cmp(&class(right)),
    }
}

/// Compares an integer with a real number, without rounding the integer.
fn order_of_both(int: i64, real: f64) -> Ordering {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if real >= END {
        return Ordering::Less;
    }
    if real < -END {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked to be within the range")]
    let whole = real.trunc() as i64;
    int.cmp(&whole).then_with(|| 0.0_f64.partial_cmp(&real.fract()).unwrap_or(Ordering::Equal))
}

/// Returns whether a column of this affinity stores the whole block unchanged, by its kind alone.
pub(super) fn is_as_stored(block: &CellBlock, affinity: Affinity) -> bool {
    match block.cells() {
        Cells::Int(_) => matches!(affinity, Affinity::Integer | Affinity::Numeric | Affinity::Blob),
        Cells::Real(_) => matches!(affinity, Affinity::Real | Affinity::Blob),
        Cells::Text(_) => matches!(affinity, Affinity::Text | Affinity::Blob),
        Cells::Blob(_) => true,
        _ => affinity == Affinity::Blob,
    }
}
