//! Operators that choose one of their operands in each row.

use super::operand::{Operand, owned, put_texts};
use super::{Comparison, Function, compare, numbers};
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Affinity, CellBlock, Cells};

/// Evaluates `CASE`: operands are [base], conditions and values alternating, and the value of `ELSE`.
pub(super) fn case(
    has_base: bool,
    operands: &[Operand<'_>],
    affinities: &[Option<Affinity>],
    rows: usize,
    out: &mut CellBlock,
) {
    let affinity = |at: usize| affinities.get(at).copied().flatten();
    let first = usize::from(has_base);
    let last = operands.len() - 1;
    let values = operands[first + 1..].iter().step_by(2).chain(operands.last());
    choose(operands, values, rows, out, |row| {
        let holds = |&at: &usize| {
            let condition = operands[at].value(row);
            let is = match has_base {
                true => {
                    compare::one(Comparison::Equal, [operands[0].value(row), condition], [affinity(0), affinity(at)])
                }
                false => numbers::truth(condition),
            };
            is == Some(true)
        };
        Some((first..last).step_by(2).find(holds).map_or(last, |at| at + 1))
    });
}

pub(super) fn function(function: Function, operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let value = |at: usize, row| operands[at].value(row);
    let values = match function {
        Function::If => &operands[1..],
        Function::NullIf => &operands[..1],
        _ => operands,
    };
    choose(operands, values.iter(), rows, out, |row| match function {
        Function::If if numbers::truth(value(0, row)) == Some(true) => Some(1),
        Function::If => Some(2).filter(|&at| at < operands.len()),
        Function::NullIf => {
            let is_equal = compare::one(Comparison::Equal, [value(0, row), value(1, row)], [None; 2]);
            (is_equal != Some(true)).then_some(0)
        }
        Function::Coalesce => (0..operands.len()).find(|&at| value(at, row) != Value::Null),
        _ => extreme(function, operands, row),
    });
}

/// Returns the operand of the largest value (the first of equals) or of the smallest (the last of equals).
/// `None` if any is NULL.
fn extreme(function: Function, operands: &[Operand<'_>], row: usize) -> Option<usize> {
    let mut best = 0;
    for (at, operand) in operands.iter().enumerate() {
        let value = operand.value(row);
        if value == Value::Null {
            return None;
        }
        let order = compare::order(value, operands[best].value(row));
        if function == Function::Max && order.is_gt() || function == Function::Min && order.is_le() {
            best = at;
        }
    }
    Some(best)
}

/// The kind of an operand's values, NULL apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Real,
    Text,
    Any,
}

fn kind(operand: &Operand<'_>) -> Option<Kind> {
    match operand {
        Operand::Constant(OwnedValue::Null) => None,
        Operand::Constant(OwnedValue::Int(_)) => Some(Kind::Int),
        Operand::Constant(OwnedValue::Real(_)) => Some(Kind::Real),
        Operand::Constant(OwnedValue::Text(_)) => Some(Kind::Text),
        Operand::Block(block) => Some(match block.cells() {
            Cells::Int(_) => Kind::Int,
            Cells::Real(_) => Kind::Real,
            Cells::Text(_) => Kind::Text,
            Cells::Choice(choice) if choice.values.iter().all(|value| matches!(value, OwnedValue::Text(_))) => {
                Kind::Text
            }
            _ => Kind::Any,
        }),
        Operand::Constant(_) => Some(Kind::Any),
    }
}

/// Fills every row with the value of operand `choice(row)`, which is one of `values`, or with NULL.
fn choose<'o, 'a: 'o>(
    operands: &'o [Operand<'a>],
    values: impl Iterator<Item = &'o Operand<'a>>,
    rows: usize,
    out: &mut CellBlock,
    choice: impl Fn(usize) -> Option<usize>,
) {
    let value = |row| choice(row).map_or(Value::Null, |at| operands[at].value(row));
    let mut kinds = values.filter_map(kind);
    let first = kinds.next().unwrap_or(Kind::Any);
    match if kinds.all(|kind| kind == first) { first } else { Kind::Any } {
        Kind::Int => {
            let number = |value| if let Value::Int(int) = value { Some(int) } else { None };
            let nulls = put_numbers(out.ints(), (0..rows).map(|row| number(value(row))));
            *out.nulls_mut() = nulls;
        }
        Kind::Real => {
            let number = |value| if let Value::Real(real) = value { Some(real) } else { None };
            let nulls = put_numbers(out.reals(), (0..rows).map(|row| number(value(row))));
            *out.nulls_mut() = nulls;
        }
        Kind::Text => put_texts(out, rows, |row, text| match value(row) {
            Value::Text(bytes) => {
                text.extend_from_slice(bytes);
                true
            }
            _ => false,
        }),
        Kind::Any => out.values().extend((0..rows).map(|row| owned(value(row)))),
    }
}

/// Appends the numbers, and a default for missing ones. Returns flags of missing numbers, or an empty list if there
/// are none.
fn put_numbers<T: Default>(out: &mut Vec<T>, numbers: impl Iterator<Item = Option<T>>) -> Vec<bool> {
    let mut nulls = Vec::new();
    out.extend(numbers.map(|number| {
        nulls.push(number.is_none());
        number.unwrap_or_default()
    }));
    if nulls.contains(&true) { nulls } else { Vec::new() }
}
