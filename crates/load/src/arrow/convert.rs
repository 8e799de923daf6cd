//! Converts arrays to blocks of cells, column by column.
//!
//! ```text
//! filling.rs   texts, integers and bytes of a block, and the values that it refuses
//! numbers.rs   unsigned integers, doubles, decimals          times.rs       dates, times, durations
//!                                                            companions.rs  values in two arrays: INT96 timestamps, intervals
//! ```

mod companions;
mod filling;
mod numbers;
mod times;

pub(super) use companions::{months_type, seconds_type};

use super::form::{SemanticType, StorageForm};
use super::scalar::{self, MOST_BYTES, NO_UTF8, TOO_LONG};
use super::weight::byte_weight;
use crate::options::InvalidUtf8;
use crate::reader::{BadRecord, Batch};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt64Type};
use arrow_array::{Array, ArrayRef, RunArray};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use filling::Filling;
use litepress_format::value::Value;
use litepress_rows::CellBlock;
use litepress_rows::cells::{Cells, OwnedValue, Strings};
use numbers::{fill_integral_doubles, fill_reals_of_integers, fill_unsigned};
use std::sync::Arc;

/// Target size of a block in bytes of values. A single row may exceed it.
const BLOCK_BYTES: usize = 4 << 20;
/// Maximum number of values of a dictionary that becomes a list of choices, which is encoded once.
const MOST_CHOICES: usize = 1024;
/// Maximum size of such a list in bytes of values.
const MOST_CHOICE_BYTES: usize = 64 << 10;

/// The conversion of a file's column to a table's column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The field of the file. Its name appears in errors.
    pub field: Arc<Field>,
    pub meaning: SemanticType,
    pub form: StorageForm,
    pub invalid_utf8: InvalidUtf8,
    scratch: Vec<i64>,
    /// The last dictionary, and its converted values.
    choices: Option<(ArrayRef, Arc<[OwnedValue]>)>,
}

/// Rows as arrays of the requested columns, in order, with their companions.
#[derive(Clone, Debug)]
pub(super) struct Arrays {
    pub rows: usize,
    pub columns: Vec<ArrayRef>,
    /// The parts that an array cannot hold: seconds of INT96 timestamps, months of intervals.
    pub companions: Vec<Option<ArrayRef>>,
}

impl Arrays {
    fn slice(&self, from: usize, rows: usize) -> Self {
        let cut = |array: &ArrayRef| array.slice(from, rows);
        let companions = self.companions.iter().map(|array| array.as_ref().map(cut)).collect();
        Self { rows, columns: self.columns.iter().map(cut).collect(), companions }
    }
}

/// Fills `batch` with rows of `arrays` from `from` on, up to a full block. `from` must be below the number of rows.
pub(super) fn fill_batch(columns: &mut [Column], arrays: &Arrays, from: usize, batch: &mut Batch) {
    batch.clear(columns.len());
    let rows = rows_that_fit(arrays, from, batch.most_rows());
    let arrays = arrays.slice(from, rows);
    batch.rows = rows;
    for (index, column) in columns.iter_mut().enumerate() {
        let block = &mut batch.blocks[index];
        column.fill(&arrays.columns[index], arrays.companions[index].as_ref(), block, &mut batch.bad);
    }
    if !batch.bad.is_empty() {
        batch.blank_bad_rows();
    }
}

fn rows_that_fit(arrays: &Arrays, from: usize, most_rows: usize) -> usize {
    let mut rows = most_rows.min(arrays.rows - from);
    let weight = |rows: usize| {
        arrays.columns.iter().map(|array| byte_weight(array, from..from + rows)).fold(0, usize::saturating_add)
    };
    while rows > 1 && weight(rows) > BLOCK_BYTES {
        rows /= 2;
    }
    rows
}

impl Column {
    pub fn new(field: Arc<Field>, meaning: SemanticType, form: StorageForm, invalid_utf8: InvalidUtf8) -> Self {
        Self { field, meaning, form, invalid_utf8, scratch: Vec::new(), choices: None }
    }

    pub fn fill(
        &mut self,
        array: &ArrayRef,
        companion: Option<&ArrayRef>,
        block: &mut CellBlock,
        bad: &mut Vec<BadRecord>,
    ) {
        match array.data_type() {
            DataType::Dictionary(_, _) => return self.fill_dictionary(array, block, bad),
            DataType::RunEndEncoded(_, _) => {
                // The values of runs may be a dictionary.
                return self.fill(&expand_runs(array), companion, block, bad);
            }
            _ => {}
        }
        let field = self.field.clone();
        let mut filling = Filling { array, block, bad, name: field.name() };
        match companion {
            Some(companion) => self.fill_with_companion(companion, &mut filling),
            None => self.fill_plain(&mut filling),
        }
        set_nulls(array, block);
    }

    fn fill_dictionary(&mut self, array: &ArrayRef, block: &mut CellBlock, bad: &mut Vec<BadRecord>) {
        let dictionary = array.as_any_dictionary();
        if dictionary.values().is_empty() || array.null_count() == array.len() {
            block.texts().fixed(array.len(), 0);
            block.nulls_mut().resize(array.len(), true);
            return;
        }
        if let Some(choices) = self.choices_of(dictionary.values()) {
            let picks = block.picks(&choices);
            let keys = dictionary.normalized_keys();
            picks.extend(keys.iter().map(|&key| u32::try_from(key).expect("a choice has at most 1024 values")));
            set_nulls(&dictionary.keys().slice(0, array.len()), block);
            return;
        }
        let plain = take(dictionary.values(), dictionary.keys(), None).expect("keys are within their dictionary");
        self.fill(&plain, None, block, bad);
    }

    /// Converts the values of a short dictionary. Returns `None` if it is long, or one of its values cannot be stored.
    fn choices_of(&mut self, values: &ArrayRef) -> Option<Arc<[OwnedValue]>> {
        if values.len() > MOST_CHOICES || byte_weight(values, 0..values.len()) > MOST_CHOICE_BYTES {
            return None;
        }
        if let Some((known, choices)) = &self.choices
            && Arc::ptr_eq(known, values)
        {
            return Some(choices.clone());
        }
        let (mut block, mut bad) = (CellBlock::default(), Vec::new());
        self.fill(values, None, &mut block, &mut bad);
        let converted: Vec<OwnedValue> = (0..values.len()).map(|row| owned(block.value(row))).collect();
        let same = self.choices.take().filter(|(_, choices)| **choices == *converted);
        let choices = same.map_or_else(|| converted.into(), |(_, choices)| choices);
        self.choices = bad.is_empty().then(|| (values.clone(), choices));
        self.choices.as_ref().map(|(_, choices)| choices.clone())
    }

    fn fill_plain(&mut self, filling: &mut Filling<'_>) {
        let rows = filling.rows();
        match (self.meaning, self.form) {
            (SemanticType::Null, _) => {
                filling.block.texts().fixed(rows, 0);
            }
            (SemanticType::Boolean, StorageForm::Integer) => {
                filling.block.ints().extend(filling.array.as_boolean().values().iter().map(i64::from));
            }
            (SemanticType::Unsigned64, StorageForm::Integer) => fill_unsigned(filling),
            (SemanticType::Float, StorageForm::Real) => scalar::raw_doubles(filling.array, filling.block.reals()),
            (SemanticType::Float, _) if self.form == StorageForm::Integer => fill_integral_doubles(filling),
            (SemanticType::Decimal { .. }, StorageForm::Real | StorageForm::Integer) => self.fill_decimals(filling),
            (SemanticType::Integer | SemanticType::Unsigned64, StorageForm::Real) => fill_reals_of_integers(filling),
            (SemanticType::Text | SemanticType::JsonText, StorageForm::Text)
                if *filling.array.data_type() == DataType::Utf8View =>
            {
                filling.text_views();
            }
            (_, StorageForm::Blob) => filling.bytes(false),
            (
                SemanticType::Text | SemanticType::JsonText | SemanticType::Enum | SemanticType::Binary,
                StorageForm::Text,
            ) => {
                filling.bytes(true);
                self.settle_invalid(filling);
            }
            (_, StorageForm::Hex) => {
                let array = filling.array;
                filling.texts(|row, out| {
                    let bytes = scalar::bytes(array, row);
                    if bytes.len() > MOST_BYTES / 2 {
                        return Err(TOO_LONG);
                    }
                    scalar::push_hex(bytes, out);
                    Ok(())
                });
            }
            (SemanticType::Nested, _) => {
                let (array, field) = (filling.array, self.field.clone());
                filling.texts(|row, out| scalar::push_json(&field, array, row, out.len(), out));
                self.settle_invalid(filling);
            }
            _ => self.fill_from_integers(filling),
        }
    }

    /// Applies `--invalid-utf8` to the block's texts.
    fn settle_invalid(&self, filling: &mut Filling<'_>) {
        let rows = 0..filling.array.len();
        let Cells::Text(texts) = filling.block.cells_mut() else { return };
        // The texts are all valid if their concatenation is, and each one begins at the start of a character.
        let begins = |row: usize| texts.get(row).first().is_none_or(|byte| byte & 0xc0 != 0x80);
        if std::str::from_utf8(texts.data()).is_ok() && rows.clone().all(begins) {
            return;
        }
        match self.invalid_utf8 {
            InvalidUtf8::Error => {
                let wrong: Vec<usize> = rows.filter(|&row| std::str::from_utf8(texts.get(row)).is_err()).collect();
                wrong.into_iter().for_each(|row| filling.refuse(row, NO_UTF8, None));
            }
            InvalidUtf8::Replace => {
                let mut replaced = Strings::default();
                rows.for_each(|row| replaced.push(String::from_utf8_lossy(texts.get(row)).as_bytes()));
                *texts = replaced;
            }
            InvalidUtf8::Blob => {
                let value = |row: usize| {
                    String::from_utf8(texts.get(row).to_vec())
                        .map_or_else(|error| OwnedValue::Blob(error.into_bytes()), OwnedValue::Text)
                };
                let values = rows.map(value).collect();
                *filling.block.values() = values;
            }
        }
    }
}

fn set_nulls(array: &dyn Array, block: &mut CellBlock) {
    if let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        block.nulls_mut().extend(nulls.iter().map(|is_valid| !is_valid));
    }
}

fn owned(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => OwnedValue::Text(text.to_owned()),
            Err(_) => OwnedValue::Blob(text.to_vec()),
        },
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// Returns the value of each row of a run-end encoded array.
fn expand_runs(array: &ArrayRef) -> ArrayRef {
    fn expand<R: RunEndIndexType>(runs: &RunArray<R>) -> ArrayRef {
        let rows = (0..runs.len()).map(|row| Some(runs.get_physical_index(row) as u64));
        let rows: arrow_array::PrimitiveArray<UInt64Type> = rows.collect();
        take(runs.values(), &rows, None).expect("runs are within their values")
    }
    match array.data_type() {
        DataType::RunEndEncoded(ends, _) if *ends.data_type() == DataType::Int16 => expand(array.as_run::<Int16Type>()),
        DataType::RunEndEncoded(ends, _) if *ends.data_type() == DataType::Int32 => expand(array.as_run::<Int32Type>()),
        _ => expand(array.as_run::<Int64Type>()),
    }
}
