//! The values of rows that do not follow one another: of those that others refer to.

use super::Generator;
use crate::random::CellRandom;
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Cells};
use std::sync::Arc;

/// Fills `out` with the values of these rows, in whatever order they come: rows that follow one another at one go.
pub(crate) fn fill_rows(generator: &(impl Generator + ?Sized), random: &CellRandom, rows: &[u64], out: &mut CellBlock) {
    let mut run = CellBlock::default();
    let mut gathered = Gathered::default();
    let follows = |pair: &[u64]| pair[0].checked_add(1) == Some(pair[1]);
    let mut start = 0;
    while start < rows.len() {
        let more = rows[start..].windows(2).take_while(|pair| follows(pair)).count();
        generator.fill(random, rows[start]..rows[start] + more as u64 + 1, &mut run);
        gathered.append(&run, more + 1, out);
        start += more + 1;
    }
    gathered.finish(out);
}

/// What was gathered so far, beside the block that it goes to.
#[derive(Default)]
struct Gathered {
    nulls: Vec<bool>,
}

impl Gathered {
    /// Appends the first `count` values of `run`.
    fn append(&mut self, run: &CellBlock, count: usize, out: &mut CellBlock) {
        let nulls = run.nulls();
        let is_null = |row: usize| nulls.get(row).copied().unwrap_or(false);
        if self.nulls.is_empty() {
            begin(run, out);
        }
        let is_alike = match (run.cells(), out.cells_mut()) {
            (Cells::Int(from), Cells::Int(to)) => {
                to.extend_from_slice(&from[..count]);
                true
            }
            (Cells::Real(from), Cells::Real(to)) => {
                to.extend_from_slice(&from[..count]);
                true
            }
            (Cells::Text(from), Cells::Text(to)) | (Cells::Blob(from), Cells::Blob(to)) => {
                (0..count).for_each(|row| to.push(from.get(row)));
                true
            }
            (Cells::Choice(from), Cells::Choice(to)) if Arc::ptr_eq(&from.values, &to.values) => {
                to.picks.extend_from_slice(&from.picks[..count]);
                true
            }
            (_, Cells::Values(to)) => {
                to.extend((0..count).map(|row| owned(run.value(row))));
                true
            }
            _ => false,
        };
        if !is_alike {
            let mut values: Vec<OwnedValue> = (0..self.nulls.len()).map(|row| owned(out.value(row))).collect();
            values.extend((0..count).map(|row| owned(run.value(row))));
            *out.values() = values;
        }
        self.nulls.extend((0..count).map(is_null));
    }

    fn finish(self, out: &mut CellBlock) {
        if self.nulls.contains(&true) {
            *out.nulls_mut() = self.nulls;
        }
    }
}

/// Empties `out` and makes it of the kind of `run`.
fn begin(run: &CellBlock, out: &mut CellBlock) {
    match run.cells() {
        Cells::Int(_) => out.ints().clear(),
        Cells::Real(_) => out.reals().clear(),
        Cells::Text(_) => out.texts().clear(),
        Cells::Blob(_) => out.blobs().clear(),
        Cells::Choice(choice) => out.picks(&choice.values).clear(),
        _ => out.values().clear(),
    }
}

/// Makes `out` hold the first `rows` values of `block`.
pub(crate) fn copy(block: &CellBlock, rows: usize, out: &mut CellBlock) {
    let mut gathered = Gathered::default();
    if rows == 0 {
        begin(block, out);
        return;
    }
    gathered.append(block, rows, out);
    gathered.finish(out);
}

/// A value that owns its bytes.
pub(crate) fn owned(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}
