//! Arithmetic, and the numeric value of texts.

use super::Operator;
use super::operand::{Operand, Slice, combined_nulls, put_values};
use litepress_format::value::Value;
use litepress_rows::cells::{Choice, OwnedValue};
use litepress_rows::{CellBlock, Cells};

/// The numeric value of a value: for a text the number at its beginning, or 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Null,
    Int(i64),
    Real(f64),
}

impl Number {
    pub(super) fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(int) => Self::Int(int),
            Value::Real(real) if real.is_nan() => Self::Null,
            Value::Real(real) => Self::Real(real),
            Value::Text(bytes) | Value::Blob(bytes) => prefix(bytes),
        }
    }

    pub(super) fn real(self) -> Option<f64> {
        match self {
            Self::Null => None,
            Self::Int(int) => Some(int as f64),
            Self::Real(real) => Some(real),
        }
    }

    pub(super) fn owned(self) -> OwnedValue {
        match self {
            Self::Null => OwnedValue::Null,
            Self::Int(int) => OwnedValue::Int(int),
            Self::Real(real) if real.is_nan() => OwnedValue::Null,
            Self::Real(real) => OwnedValue::Real(real),
        }
    }
}

/// Converts a value as CAST to INTEGER does: of a text only the digits at its beginning count.
pub(super) fn integer(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Null => None,
        Value::Int(int) => Some(int),
        #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates, as SQLite's")]
        Value::Real(real) => Some(real as i64),
        Value::Text(bytes) | Value::Blob(bytes) => {
            let digits = bytes.iter().take_while(|byte| !matches!(byte, b'.' | b'e' | b'E')).count();
            match prefix(&bytes[..digits]) {
                #[expect(clippy::cast_possible_truncation, reason = "it is beyond the range, and saturates")]
                Number::Real(real) => Some(real as i64),
                Number::Int(int) => Some(int),
                Number::Null => None,
            }
        }
    }
}

/// Parses the number at the beginning of a text.
fn prefix(bytes: &[u8]) -> Number {
    let space = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')).count();
    let literal = &bytes[space..];
    let digits = |from: usize| literal[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = |from: usize| usize::from(matches!(literal.get(from), Some(b'+' | b'-')));
    let whole = digits(sign(0));
    let mut end = sign(0) + whole;
    let mut is_real = false;
    if literal.get(end) == Some(&b'.') && whole + digits(end + 1) > 0 {
        (is_real, end) = (true, end + 1 + digits(end + 1));
    }
    if end > sign(0) && matches!(literal.get(end), Some(b'e' | b'E')) {
        let start = end + 1 + sign(end + 1);
        if digits(start) > 0 {
            (is_real, end) = (true, start + digits(start));
        }
    }
    let text = std::str::from_utf8(&literal[..end]).unwrap_or_default();
    match text.parse::<i64>() {
        Ok(int) if !is_real => Number::Int(int),
        _ => match litepress_rows::affinity::apply(Value::Text(text.as_bytes()), litepress_rows::Affinity::Real) {
            Value::Real(real) => Number::Real(real),
            _ => Number::Int(0),
        },
    }
}

/// Returns whether a condition holds; `None` is unknown.
pub(super) fn truth(value: Value<'_>) -> Option<bool> {
    Number::of(value).real().map(|real| real != 0.0)
}

/// Evaluates `a + b` and the other arithmetic operators.
pub(super) fn arithmetic(operator: Operator, operands: [&Operand<'_>; 2], rows: usize, out: &mut CellBlock) {
    let spread = operands.map(spread);
    let operands = [0, 1].map(|at| spread[at].as_ref().map_or(*operands[at], Operand::Block));
    let operands = [&operands[0], &operands[1]];
    let [left, right] = operands;
    let is_done = match operator {
        Operator::Add => ints(operands, rows, out, i64::overflowing_add) || reals(operands, rows, out, |a, b| a + b),
        Operator::Subtract => {
            ints(operands, rows, out, i64::overflowing_sub) || reals(operands, rows, out, |a, b| a - b)
        }
        Operator::Multiply => {
            ints(operands, rows, out, i64::overflowing_mul) || reals(operands, rows, out, |a, b| a * b)
        }
        _ => false,
    };
    if !is_done {
        let compute = |row| binary(operator, left.value(row), right.value(row)).owned();
        put_values(out, rows, compute);
    }
}

/// Expands picks from a list of numbers of one kind to a block of them.
fn spread(operand: &Operand<'_>) -> Option<CellBlock> {
    let Operand::Block(block) = operand else { return None };
    let Cells::Choice(Choice { values, picks }) = block.cells() else { return None };
    let int = |value: &OwnedValue| if let OwnedValue::Int(int) = value { Some(*int) } else { None };
    let real = |value: &OwnedValue| if let OwnedValue::Real(real) = value { Some(*real) } else { None };
    let mut out = CellBlock::default();
    if let Some(ints) = values.iter().map(int).collect::<Option<Vec<_>>>() {
        out.ints().extend(picks.iter().map(|&pick| ints[pick as usize]));
    } else {
        let reals = values.iter().map(real).collect::<Option<Vec<_>>>()?;
        out.reals().extend(picks.iter().map(|&pick| reals[pick as usize]));
    }
    out.nulls_mut().extend_from_slice(block.nulls());
    Some(out)
}

/// Applies `f` to integers; returns `false` if an operand has other values or a result overflows.
#[inline]
fn ints(operands: [&Operand<'_>; 2], rows: usize, out: &mut CellBlock, f: impl Fn(i64, i64) -> (i64, bool)) -> bool {
    let [Some(left), Some(right)] = operands.map(Operand::ints) else { return false };
    let results = out.ints();
    results.resize(rows, 0);
    let mut overflows = false;
    zip(left, right, results, |left, right| {
        let (value, over) = f(left, right);
        overflows |= over;
        value
    });
    combined_nulls(&operands, rows, out);
    !overflows
}

/// Applies `f` to numbers of which at least one side is real; returns `false` if an operand has other values or a
/// result is NaN.
#[inline]
fn reals(operands: [&Operand<'_>; 2], rows: usize, out: &mut CellBlock, f: impl Fn(f64, f64) -> f64) -> bool {
    let results = out.reals();
    results.resize(rows, 0.0);
    let mut is_none = false;
    let put = |left: f64, right: f64| {
        let result = f(left, right);
        is_none |= result.is_nan();
        result
    };
    let int = |int: i64| int as f64;
    match operands.map(|operand| (operand.reals(), operand.ints())) {
        [(Some(left), _), (Some(right), _)] => zip(left, right, results, put),
        [(Some(left), _), (_, Some(right))] => {
            let mut put = put;
            zip(left, right, results, |left, right| put(left, int(right)));
        }
        [(_, Some(left)), (Some(right), _)] => {
            let mut put = put;
            zip(left, right, results, |left, right| put(int(left), right));
        }
        _ => return false,
    }
    combined_nulls(&operands, rows, out);
    !is_none
}

/// Sets each slot to `f` of the numbers on both sides.
#[inline(always)]
fn zip<A: Copy, B: Copy, C>(left: Slice<'_, A>, right: Slice<'_, B>, out: &mut [C], mut f: impl FnMut(A, B) -> C) {
    match (left, right) {
        (Slice::Many(left), Slice::Many(right)) => {
            out.iter_mut().zip(left).zip(right).for_each(|((out, &left), &right)| *out = f(left, right));
        }
        (Slice::Many(left), Slice::One(right)) => {
            out.iter_mut().zip(left).for_each(|(out, &left)| *out = f(left, right));
        }
        (Slice::One(left), Slice::Many(right)) => {
            out.iter_mut().zip(right).for_each(|(out, &right)| *out = f(left, right));
        }
        (Slice::One(left), Slice::One(right)) => out.iter_mut().for_each(|out| *out = f(left, right)),
    }
}

/// Evaluates one row.
fn binary(operator: Operator, left_value: Value<'_>, right_value: Value<'_>) -> Number {
    let (left, right) = (Number::of(left_value), Number::of(right_value));
    let (Some(left_real), Some(right_real)) = (left.real(), right.real()) else { return Number::Null };
    if let (Number::Int(left), Number::Int(right)) = (left, right) {
        let whole = match operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide | Operator::Remainder if right == 0 => return Number::Null,
            Operator::Divide => left.checked_div(right),
            _ => Some(left.wrapping_rem(right)),
        };
        if let Some(whole) = whole {
            return Number::Int(whole);
        }
    }
    Number::Real(match operator {
        Operator::Add => left_real + right_real,
        Operator::Subtract => left_real - right_real,
        Operator::Multiply => left_real * right_real,
        Operator::Divide if right_real == 0.0 => return Number::Null,
        Operator::Divide => left_real / right_real,
        _ => match (integer(left_value), integer(right_value)) {
            (Some(left), Some(right)) if right != 0 => left.wrapping_rem(right) as f64,
            _ => return Number::Null,
        },
    })
}

/// Evaluates `-a`, as 0 - a.
pub(super) fn negate(operand: &Operand<'_>, rows: usize, out: &mut CellBlock) {
    put_values(out, rows, |row| match Number::of(operand.value(row)) {
        Number::Int(int) => int.checked_neg().map_or(OwnedValue::Real(-(int as f64)), OwnedValue::Int),
        Number::Real(real) => OwnedValue::Real(-real),
        Number::Null => OwnedValue::Null,
    });
}

/// Evaluates `abs(a)`; a value that is not a number is 0.0.
pub(super) fn abs(operand: &Operand<'_>, rows: usize, out: &mut CellBlock) {
    put_values(out, rows, |row| match operand.value(row) {
        Value::Int(int) => int.checked_abs().map_or(OwnedValue::Real(-(int as f64)), OwnedValue::Int),
        value => Number::of(value).real().map_or(OwnedValue::Null, |real| OwnedValue::Real(real.abs())),
    });
}

/// Evaluates `round(a, digits)`.
pub(super) fn round(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    put_values(out, rows, |row| {
        let digits = operands.get(1).map_or(Some(0), |digits| integer(digits.value(row)));
        let number = Number::of(operands[0].value(row)).real();
        let (Some(number), Some(digits)) = (number, digits) else { return OwnedValue::Null };
        OwnedValue::Real(rounded(number, usize::try_from(digits.clamp(0, 30)).unwrap_or(0)))
    });
}

fn rounded(number: f64, digits: usize) -> f64 {
    const WHOLE_ABOVE: f64 = 4_503_599_627_370_496.0;
    if number.abs() > WHOLE_ABOVE {
        return number;
    }
    let power = 10_f64.powi(i32::try_from(digits).unwrap_or(0));
    let scaled = number * power;
    // Rounds a product that is exact, or far from a half, without the detour over decimal digits.
    if digits == 0 || digits <= 15 && scaled.abs() < WHOLE_ABOVE && (scaled.fract().abs() - 0.5).abs() > 1e-3 {
        return (scaled + 0.5_f64.copysign(scaled)).trunc() / power;
    }
    format!("{number:.digits$}").parse().unwrap_or(number)
}
