//! Dispatch of operators over blocks of rows.

use super::operand::{Operand, put_flags};
use super::{Comparison, Function, Operator, compare, dates, numbers, select, texts};
use litepress_rows::{Affinity, CellBlock};

/// Fills `out` with the results of the first `rows` rows. `affinities` are those of the operands that are columns.
pub(crate) fn apply(
    operator: Operator,
    operands: &[Operand<'_>],
    affinities: &[Option<Affinity>],
    rows: usize,
    out: &mut CellBlock,
) {
    let affinity = |at: usize| affinities.get(at).copied().flatten();
    match operator {
        Operator::Negate => numbers::negate(&operands[0], rows, out),
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
            numbers::arithmetic(operator, [&operands[0], &operands[1]], rows, out);
        }
        Operator::Concat => texts::concat(&operands[0], &operands[1], rows, out),
        Operator::Compare(comparison) => {
            compare::compare(comparison, [&operands[0], &operands[1]], [affinity(0), affinity(1)], rows, out);
        }
        Operator::Not => put_flags(out, rows, |row| numbers::truth(operands[0].value(row)).map(|is| !is)),
        Operator::And => put_flags(out, rows, |row| both(&operands[0], &operands[1], row)),
        Operator::Or => put_flags(out, rows, |row| either(&operands[0], &operands[1], row)),
        Operator::Between => put_flags(out, rows, |row| {
            let is = |comparison, at: usize| {
                let values = [operands[0].value(row), operands[at].value(row)];
                compare::one(comparison, values, [affinity(0), affinity(at)])
            };
            and(is(Comparison::GreaterOrEqual, 1), is(Comparison::LessOrEqual, 2))
        }),
        Operator::In => put_flags(out, rows, |row| {
            let is = |other: &Operand<'_>| {
                compare::one(Comparison::Equal, [operands[0].value(row), other.value(row)], [affinity(0), None])
            };
            operands[1..].iter().map(is).fold(Some(false), or)
        }),
        Operator::Case { has_base } => select::case(has_base, operands, affinities, rows, out),
        Operator::Function(function) => call(function, operands, rows, out),
    }
}

fn call(function: Function, operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    match function {
        Function::Abs => numbers::abs(&operands[0], rows, out),
        Function::Round => numbers::round(operands, rows, out),
        Function::Lower | Function::Upper => texts::change_case(function, &operands[0], rows, out),
        Function::Reverse => texts::reverse(&operands[0], rows, out),
        Function::Instr => texts::instr(operands, rows, out),
        Function::Length => texts::length(&operands[0], rows, out),
        Function::Substr => texts::substr(operands, rows, out),
        Function::Cut => texts::cut(operands, rows, out),
        Function::Replace => texts::replace(operands, rows, out),
        Function::ProductOf => texts::product_of(operands, rows, out),
        Function::WorthOf => texts::worth_of(operands, rows, out),
        Function::PlaceOf => texts::place_of(operands, rows, out),
        Function::Slug => texts::slug(operands, rows, out),
        Function::BrowserAt => dates::browser_at(operands, rows, out),
        Function::DateAdd => dates::add(operands, rows, out),
        Function::DateDiff => dates::difference(operands, rows, out),
        Function::Coalesce | Function::If | Function::Max | Function::Min | Function::NullIf => {
            select::function(function, operands, rows, out);
        }
    }
}

fn both(left: &Operand<'_>, right: &Operand<'_>, row: usize) -> Option<bool> {
    and(numbers::truth(left.value(row)), numbers::truth(right.value(row)))
}

fn either(left: &Operand<'_>, right: &Operand<'_>, row: usize) -> Option<bool> {
    or(numbers::truth(left.value(row)), numbers::truth(right.value(row)))
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    and(left.map(|is| !is), right.map(|is| !is)).map(|is| !is)
}
