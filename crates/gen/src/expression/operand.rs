//! Operands, and the ways to fill a block with results.

use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Cells};

/// Copies a value.
pub(crate) fn owned(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// An operand of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand<'a> {
    /// One value a row.
    Block(&'a CellBlock),
    /// A constant.
    Constant(&'a OwnedValue),
}

/// Numbers of one kind.
#[derive(Clone, Copy)]
pub(super) enum Slice<'a, T> {
    Many(&'a [T]),
    One(T),
}

impl<'a> Operand<'a> {
    /// Returns the value in this row of the block; NaN is NULL, as in SQLite.
    #[inline]
    pub(super) fn value(&self, row: usize) -> Value<'a> {
        let value = match self {
            Self::Block(block) => block.value(row),
            Self::Constant(value) => value.as_value(),
        };
        match value {
            Value::Real(real) if real.is_nan() => Value::Null,
            value => value,
        }
    }

    /// Returns the integers if the operand has no other kind of value. Rows that are NULL have an arbitrary integer.
    pub(super) fn ints(&self) -> Option<Slice<'a, i64>> {
        match self {
            Self::Constant(OwnedValue::Int(int)) => Some(Slice::One(*int)),
            Self::Block(block) => match block.cells() {
                Cells::Int(ints) => Some(Slice::Many(ints)),
                _ => None,
            },
            Self::Constant(_) => None,
        }
    }

    /// Returns the real numbers, as [`ints`](Self::ints) does.
    pub(super) fn reals(&self) -> Option<Slice<'a, f64>> {
        match self {
            Self::Constant(OwnedValue::Real(real)) => Some(Slice::One(*real)),
            Self::Block(block) => match block.cells() {
                Cells::Real(reals) => Some(Slice::Many(reals)),
                _ => None,
            },
            Self::Constant(_) => None,
        }
    }

    fn nulls(&self) -> &'a [bool] {
        match self {
            Self::Block(block) => block.nulls(),
            Self::Constant(_) => &[],
        }
    }
}

/// Fills every row with 1, 0 or NULL.
pub(super) fn put_flags(out: &mut CellBlock, rows: usize, f: impl Fn(usize) -> Option<bool>) {
    let ints = out.ints();
    let mut unknown = false;
    ints.extend((0..rows).map(|row| match f(row) {
        Some(is) => i64::from(is),
        None => {
            unknown = true;
            2
        }
    }));
    if unknown {
        let nulls: Vec<bool> = ints.iter().map(|&flag| flag == 2).collect();
        out.nulls_mut().extend(nulls);
    }
}

/// Fills every row with a value of any kind.
pub(super) fn put_values(out: &mut CellBlock, rows: usize, f: impl FnMut(usize) -> OwnedValue) {
    out.values().extend((0..rows).map(f));
}

/// Fills every row with a text, or with NULL if `append` returns `false`.
pub(super) fn put_texts(out: &mut CellBlock, rows: usize, mut append: impl FnMut(usize, &mut Vec<u8>) -> bool) {
    let mut nulls = std::mem::take(out.nulls_mut());
    nulls.clear();
    let texts = out.texts();
    for row in 0..rows {
        let start = texts.arena().len();
        let is_text = append(row, texts.arena());
        if !is_text {
            texts.arena().truncate(start);
        }
        texts.end_string();
        nulls.push(!is_text);
    }
    if nulls.contains(&true) {
        *out.nulls_mut() = nulls;
    }
}

/// Sets rows to NULL that are NULL in any operand.
pub(super) fn combined_nulls(operands: &[&Operand<'_>], rows: usize, out: &mut CellBlock) {
    for operand in operands.iter().filter(|operand| !operand.nulls().is_empty()) {
        let nulls = out.nulls_mut();
        nulls.resize(rows, false);
        nulls.iter_mut().zip(operand.nulls()).for_each(|(null, &other)| *null |= other);
    }
}
