//! Value properties of compiled expressions.

use super::resolve::ColumnExpr;
use crate::expression::{Comparison, Function, Operator};
use crate::generators::{Cardinality, Kinds, ValueProperties};
use litepress_rows::Affinity;
use litepress_rows::cells::OwnedValue;

/// Bytes of a number as text, or of another short value.
const SHORT_BYTES: u64 = 32;

/// Bytes of the User-Agent header of a browser.
const LONGEST_AGENT: u64 = 160;

/// Adds NULL in a share of the rows.
pub(super) fn with_nulls(properties: ValueProperties, share: f64) -> ValueProperties {
    let cardinality = match properties.cardinality {
        Cardinality::Ascending { rows } if share > 0.0 => Cardinality::Unique { rows },
        cardinality => cardinality,
    };
    ValueProperties { null_share: 1.0 - (1.0 - share) * (1.0 - properties.null_share), cardinality, ..properties }
}

/// Returns the kinds that are certain to remain when a column of this affinity stores them.
pub(super) fn stored_kinds(kinds: Kinds, affinity: Affinity) -> Kinds {
    match affinity {
        Affinity::Blob => kinds,
        Affinity::Integer | Affinity::Numeric if kinds == Kinds::INT => kinds,
        Affinity::Real if kinds.within(Kinds::INT.union(Kinds::REAL)) => Kinds::REAL,
        Affinity::Text if kinds == Kinds::TEXT => kinds,
        _ => Kinds::NONE,
    }
}

/// Returns the properties of a constant.
pub(super) fn value_properties(value: &OwnedValue) -> ValueProperties {
    let (kinds, longest_bytes) = match value {
        OwnedValue::Null => (Kinds::NONE, 0),
        OwnedValue::Int(_) => (Kinds::INT, 8),
        OwnedValue::Real(_) => (Kinds::REAL, 8),
        OwnedValue::Text(text) => (Kinds::TEXT, text.len() as u64),
        OwnedValue::Blob(blob) => (Kinds::BLOB, blob.len() as u64),
    };
    let null_share = if *value == OwnedValue::Null { 1.0 } else { 0.0 };
    ValueProperties { kinds, longest_bytes, cardinality: Cardinality::Among { values: 1 }, null_share, cycle: None }
}

/// Returns the properties of an operation's results. A kind counts only if no operand can change it.
pub(super) fn operation_properties(
    operator: Operator,
    operands: &[ColumnExpr],
    parts: &[ValueProperties],
) -> ValueProperties {
    let all = |kinds| parts.iter().all(|part| part.kinds == kinds);
    let (ints, numbers) = (all(Kinds::INT), Kinds::INT.union(Kinds::REAL));
    let is_real = || parts.iter().any(|part| part.kinds == Kinds::REAL);
    let are_numbers = || parts.iter().all(|part| part.kinds != Kinds::NONE && part.kinds.within(numbers));
    let sum = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.longest_bytes.max(SHORT_BYTES)));
    let (kinds, longest_bytes) = match operator {
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
            let kinds = match (ints, are_numbers() && is_real()) {
                (true, _) => Kinds::INT,
                (_, true) => Kinds::REAL,
                _ => Kinds::NONE,
            };
            (kinds, SHORT_BYTES)
        }
        Operator::Negate | Operator::Function(Function::Abs) if ints => (Kinds::INT, SHORT_BYTES),
        Operator::Compare(_) | Operator::And | Operator::Or | Operator::Not | Operator::Between | Operator::In => {
            (Kinds::INT, 8)
        }
        Operator::Function(Function::Length | Function::Instr | Function::DateDiff | Function::WorthOf) => {
            (Kinds::INT, 8)
        }
        Operator::Function(Function::BrowserAt) => (Kinds::TEXT, LONGEST_AGENT),
        Operator::Function(Function::Min | Function::Max) if ints => (Kinds::INT, 8),
        Operator::Function(Function::Round) => (Kinds::REAL, 8),
        Operator::Function(Function::Replace) => (Kinds::NONE, sum.saturating_mul(parts[2].longest_bytes.max(1))),
        _ => (Kinds::NONE, sum),
    };
    let spreads_null = !matches!(
        operator,
        Operator::Case { .. }
            | Operator::And
            | Operator::Or
            | Operator::In
            | Operator::Compare(Comparison::Is | Comparison::IsNot)
            | Operator::Function(Function::Coalesce | Function::If | Function::NullIf)
    );
    let null_share = match spreads_null {
        true => 1.0 - parts.iter().map(|part| 1.0 - part.null_share).product::<f64>(),
        false => 0.0,
    };
    ValueProperties {
        kinds,
        longest_bytes,
        cardinality: cardinality(operator, operands, parts),
        null_share,
        cycle: None,
    }
}

/// Returns the cardinality of an operation. A unique integer stays unique if a constant is added or multiplied.
fn cardinality(operator: Operator, operands: &[ColumnExpr], parts: &[ValueProperties]) -> Cardinality {
    let unknown = Cardinality::Among { values: u64::MAX };
    let is_number = |at: usize| match &operands[at] {
        ColumnExpr::Value(OwnedValue::Int(int)) => operator != Operator::Multiply || *int != 0,
        _ => false,
    };
    let other = match operator {
        Operator::Add | Operator::Subtract | Operator::Multiply if is_number(1) => 0,
        Operator::Add | Operator::Multiply if is_number(0) => 1,
        _ => return unknown,
    };
    match parts[other].cardinality {
        Cardinality::Ascending { rows } | Cardinality::Unique { rows } if parts[other].kinds == Kinds::INT => {
            Cardinality::Unique { rows }
        }
        _ => unknown,
    }
}
