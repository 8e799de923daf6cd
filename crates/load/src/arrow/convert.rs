//! Converts arrays to blocks of cells, column by column.

use super::calendar::{self, DATE_BYTES, Span, Unit};
use super::form::{DOUBLE_DIGITS, SemanticType, StorageForm};
use super::scalar::{self, MOST_BYTES, NO_UTF8, Refusal, TOO_LONG};
use crate::options::InvalidUtf8;
use crate::reader::{BadRecord, Batch};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, RunEndIndexType, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RunArray};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};
use arrow_select::take::take;
use litepress_format::value::Value;
use litepress_rows::cells::{BLOCK_ROWS, Cells, OwnedValue, Strings};
use litepress_rows::{CellBlock, Error, ErrorKind, OptionName, message, quote};
use std::sync::Arc;

/// Target size of a block in bytes of values. A single row may exceed it.
const BLOCK_BYTES: usize = 4 << 20;
/// Maximum number of values of a dictionary that becomes a list of choices, which is encoded once.
const MOST_CHOICES: usize = 1024;
/// Maximum size of such a list in bytes of values.
const MOST_CHOICE_BYTES: usize = 64 << 10;

const NO_INTEGER: Refusal = "the value is not an integer of 64 bits";
const NO_WHOLE_SECOND: Refusal = "the value is not a whole number of seconds";
const TOO_MANY_DIGITS: Refusal = "the decimal has more digits than its type says";
const NO_WHOLE_MICROSECOND: Refusal = "the duration is not a whole number of microseconds of 64 bits";
const NO_YEAR: Refusal = "SQLite's date functions read the years 0 to 9999 only";
const OUT_OF_RANGE: Refusal = "nanoseconds since 1970 do not fit 64 bits";

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
    let rows = rows_that_fit(arrays, from);
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

fn rows_that_fit(arrays: &Arrays, from: usize) -> usize {
    let mut rows = BLOCK_ROWS.min(arrays.rows - from);
    let weight = |rows: usize| arrays.columns.iter().map(|array| byte_weight(array, from, rows)).sum::<usize>();
    while rows > 1 && weight(rows) > BLOCK_BYTES {
        rows /= 2;
    }
    rows
}

/// Returns the approximate size in bytes of values with variable length.
pub(super) fn byte_weight(array: &ArrayRef, from: usize, rows: usize) -> usize {
    let of_views = |views: &[u128]| {
        // The lowest 32 bits of a view are the length of the value.
        views[from..from + rows].iter().map(|view| (view & u128::from(u32::MAX)) as usize).sum()
    };
    let narrow = |offsets: &[i32]| (offsets[from + rows] - offsets[from]).unsigned_abs() as usize;
    #[expect(clippy::cast_possible_truncation, reason = "offsets of an array in memory")]
    let wide = |offsets: &[i64]| (offsets[from + rows] - offsets[from]) as usize;
    match array.data_type() {
        DataType::Utf8 => narrow(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => wide(array.as_string::<i64>().value_offsets()),
        DataType::Binary => narrow(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => wide(array.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => of_views(array.as_string_view().views()),
        DataType::BinaryView => of_views(array.as_binary_view().views()),
        DataType::FixedSizeBinary(bytes) => rows * bytes.unsigned_abs() as usize,
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let (bytes, values) = (dictionary.values().get_buffer_memory_size(), dictionary.values().len());
            if bytes <= MOST_CHOICE_BYTES || values == 0 {
                return 0;
            }
            let lens: Vec<usize> = (0..values).map(|value| byte_weight(dictionary.values(), value, 1)).collect();
            dictionary.normalized_keys()[from..from + rows].iter().map(|&key| lens[key]).sum()
        }
        other if SemanticType::of_type(other) == SemanticType::Nested => {
            array.slice(from, rows).to_data().get_slice_memory_size().unwrap_or(BLOCK_BYTES)
        }
        _ => 0,
    }
}

/// An array of one column's rows, its target block, and the list of bad rows.
struct Filling<'a> {
    array: &'a dyn Array,
    block: &'a mut CellBlock,
    bad: &'a mut Vec<BadRecord>,
    name: &'a str,
}

impl Filling<'_> {
    fn rows(&self) -> usize {
        self.array.len()
    }

    /// Marks a row as bad. Ignores rows that are NULL, whose placeholder is arbitrary.
    fn refuse(&mut self, row: usize, refusal: Refusal, value: Option<String>) {
        if self.array.is_null(row) {
            return;
        }
        let error = Error::new(ErrorKind::Data, refusal).in_column(self.name);
        let error = match value {
            Some(value) => error.with_value(value),
            None => error,
        };
        let form = |form: &str| OptionName::StoreAs.pair(self.name, form);
        let advice = match refusal {
            NO_WHOLE_SECOND => Some(message!["keep fractions with ", form("real"), " or ", form("integer")]),
            NO_INTEGER => Some(message!["store the column as text with ", form("text")]),
            NO_WHOLE_MICROSECOND | TOO_MANY_DIGITS => Some(message!["keep all digits with ", form("text")]),
            NO_YEAR => Some(message!["store such dates as numbers with ", form("integer")]),
            NO_UTF8 => Some(message![
                "store the column as a blob with ",
                form("blob"),
                ", or replace wrong bytes with ",
                OptionName::InvalidUtf8.word("replace")
            ]),
            _ => None,
        };
        let error = match advice {
            Some(advice) => error.advise(advice),
            None => error,
        };
        self.bad.push(BadRecord { row, error, is_left_out: false });
    }

    /// Fills the block with texts that `push` writes one by one. Errors show the text that [`NO_YEAR`] refuses.
    fn texts(&mut self, mut push: impl FnMut(usize, &mut Vec<u8>) -> Result<(), Refusal>) {
        let mut refused = Vec::new();
        let texts = self.block.texts();
        for row in 0..self.array.len() {
            let start = texts.data().len();
            if !self.array.is_null(row) {
                let pushed = push(row, texts.arena());
                let is_too_long = texts.data().len() - start > MOST_BYTES;
                if let Err(refusal) = pushed.and(if is_too_long { Err(TOO_LONG) } else { Ok(()) }) {
                    let text = &texts.data()[start..];
                    let value = (refusal == NO_YEAR).then(|| format!("'{}'", String::from_utf8_lossy(text)));
                    texts.arena().truncate(start);
                    refused.push((row, refusal, value));
                }
            }
            texts.end_string();
        }
        for (row, refusal, value) in refused {
            self.refuse(row, refusal, value);
        }
    }

    /// Fills the block with integers that `make` converts one by one. `None` refuses a value.
    fn ints(&mut self, raw: &[i64], refusal: Refusal, make: impl Fn(i64) -> Option<i64>) {
        let mut refused = Vec::new();
        let ints = self.block.ints();
        ints.extend(raw.iter().enumerate().map(|(row, &value)| {
            make(value).unwrap_or_else(|| {
                refused.push(row);
                0
            })
        }));
        for row in refused {
            self.refuse(row, refusal, Some(raw[row].to_string()));
        }
    }

    /// Fills the block with unchanged byte strings.
    fn bytes(&mut self, is_text: bool) {
        if let (DataType::FixedSizeBinary(len), false) = (self.array.data_type(), is_text) {
            let (values, len) = (self.array.as_fixed_size_binary(), len.unsigned_abs() as usize);
            let bytes = self.block.blobs().fixed(values.len(), len);
            bytes.copy_from_slice(&values.value_data()[..bytes.len()]);
            return;
        }
        let mut refused = Vec::new();
        let strings = if is_text { self.block.texts() } else { self.block.blobs() };
        for row in 0..self.array.len() {
            let value = if self.array.is_null(row) { &[] } else { scalar::bytes(self.array, row) };
            if value.len() > MOST_BYTES {
                refused.push(row);
                strings.push(&[]);
            } else {
                strings.push(value);
            }
        }
        for row in refused {
            self.refuse(row, TOO_LONG, None);
        }
    }

    /// Fills the block with texts from views, the type as which texts of Parquet files are decoded.
    fn text_views(&mut self) {
        let views = self.array.as_string_view();
        if views.null_count() > 0 || self.array.len() == 1 {
            return self.bytes(true);
        }
        // A text longer than SQLite's limit is alone in its block, and was handled above.
        let texts = self.block.texts();
        for text in views.iter().flatten() {
            texts.push(text.as_bytes());
        }
    }
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
        if values.len() > MOST_CHOICES || byte_weight(values, 0, values.len()) > MOST_CHOICE_BYTES {
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

    /// Fills the block from arrays of integers: integers, dates, times and durations. Handles values that have only a text, too.
    fn fill_from_integers(&mut self, filling: &mut Filling<'_>) {
        let mut raw = std::mem::take(&mut self.scratch);
        raw.clear();
        scalar::raw_integers(filling.array, &mut raw);
        match (self.meaning, self.form) {
            (_, StorageForm::Integer) => filling.block.ints().extend_from_slice(&raw),
            (SemanticType::Date { per_day: 1 }, StorageForm::Text)
                if raw.iter().all(|&day| calendar::has_four_digit_year(day)) =>
            {
                let texts = filling.block.texts().fixed(raw.len(), DATE_BYTES);
                for (text, &day) in texts.chunks_exact_mut(DATE_BYTES).zip(&raw) {
                    calendar::write_date(day, text);
                }
            }
            (SemanticType::Timestamp { unit, is_instant }, StorageForm::Text)
                if raw.iter().all(|time| calendar::has_four_digit_year(time.div_euclid(unit.per_day()))) =>
            {
                fill_timestamps(&raw, unit, is_instant, filling.block);
            }
            (SemanticType::Date { per_day }, StorageForm::UnixEpoch) => {
                filling.ints(&raw, NO_WHOLE_SECOND, |value| {
                    whole(value, (per_day / calendar::SECONDS_PER_DAY).max(1)).and_then(|value| {
                        if per_day == 1 { value.checked_mul(calendar::SECONDS_PER_DAY) } else { Some(value) }
                    })
                });
            }
            (SemanticType::Timestamp { unit, .. }, StorageForm::UnixEpoch) => {
                filling.ints(&raw, NO_WHOLE_SECOND, |value| whole(value, unit.per_second));
            }
            (SemanticType::Date { per_day }, StorageForm::JulianDay) => fill_julian_days(&raw, per_day, filling.block),
            (SemanticType::Timestamp { unit, .. }, StorageForm::JulianDay) => {
                fill_julian_days(&raw, unit.per_day(), filling.block)
            }
            (
                SemanticType::Timestamp { unit, .. } | SemanticType::Time(unit) | SemanticType::Duration(unit),
                StorageForm::Real,
            ) => {
                filling.block.reals().extend(raw.iter().map(|&value| seconds(value, unit)));
            }
            (SemanticType::Duration(unit), StorageForm::Microseconds) => {
                filling.ints(&raw, NO_WHOLE_MICROSECOND, |value| calendar::whole_microseconds(value, unit));
            }
            (meaning, _) => {
                let array = filling.array;
                filling.texts(|row, out| {
                    scalar::push_text(array, row, meaning, out)?;
                    let is_readable = match meaning {
                        SemanticType::Date { per_day } => calendar::has_four_digit_year(raw[row].div_euclid(per_day)),
                        SemanticType::Timestamp { unit, .. } => calendar::has_readable_year(raw[row], unit),
                        _ => true,
                    };
                    if is_readable { Ok(()) } else { Err(NO_YEAR) }
                });
            }
        }
        self.scratch = raw;
    }

    fn fill_decimals(&mut self, filling: &mut Filling<'_>) {
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

    /// Fills the block with timestamps or intervals whose array holds only a part of them.
    fn fill_with_companion(&mut self, companion: &ArrayRef, filling: &mut Filling<'_>) {
        if self.meaning == SemanticType::Nested {
            self.fill_plain(filling);
            let nanos = filling.array;
            let wrapped = (0..nanos.len()).filter(|&row| has_wrapped(nanos, companion, row)).collect::<Vec<_>>();
            return wrapped.into_iter().for_each(|row| filling.refuse(row, OUT_OF_RANGE, None));
        }
        let mut seconds = Vec::new();
        scalar::raw_integers(companion, &mut seconds);
        if let SemanticType::Interval(_) = self.meaning {
            let array = filling.array.as_primitive::<IntervalDayTimeType>();
            filling.texts(|row, out| {
                let value = array.value(row);
                let nanos = i128::from(value.milliseconds) * 1_000_000;
                calendar::push_span(Span { months: seconds[row], days: value.days.into(), nanos }, out);
                Ok(())
            });
            return;
        }
        let mut nanos = Vec::new();
        scalar::raw_integers(filling.array, &mut nanos);
        if nanos.iter().zip(&seconds).all(|(nanos, seconds)| nanos.div_euclid(NANOS) == *seconds) {
            return self.fill_plain(filling);
        }
        let times = nanos.iter().zip(&seconds).map(|(&nanos, &seconds)| wide_time(seconds, nanos));
        let (seconds, rest): (Vec<i64>, Vec<i64>) = times.unzip();
        self.fill_wide_timestamps(&seconds, &rest, filling);
    }

    fn fill_wide_timestamps(&self, seconds: &[i64], rest: &[i64], filling: &mut Filling<'_>) {
        let unit = Unit::of(TimeUnit::Nanosecond);
        let per_day = calendar::SECONDS_PER_DAY;
        let is_instant = matches!(self.meaning, SemanticType::Timestamp { is_instant: true, .. });
        match self.form {
            StorageForm::Real | StorageForm::JulianDay => {
                let form = self.form;
                filling.block.reals().extend(seconds.iter().zip(rest).map(|(&seconds, &rest)| {
                    let fraction = rest as f64 / NANOS as f64;
                    if form == StorageForm::Real {
                        seconds as f64 + fraction
                    } else {
                        calendar::julian_day(seconds, per_day) + fraction / per_day as f64
                    }
                }));
            }
            StorageForm::UnixEpoch | StorageForm::Integer => {
                let is_whole = self.form == StorageForm::UnixEpoch;
                let rows: Vec<i64> = (0_i64..).take(seconds.len()).collect();
                let refusal = if is_whole { NO_WHOLE_SECOND } else { OUT_OF_RANGE };
                filling.ints(&rows, refusal, |row| {
                    let row = usize::try_from(row).ok()?;
                    if is_whole {
                        return (rest[row] == 0).then_some(seconds[row]);
                    }
                    i64::try_from(i128::from(seconds[row]) * i128::from(NANOS) + i128::from(rest[row])).ok()
                });
            }
            _ => filling.texts(|row, out| {
                let time = seconds[row].rem_euclid(per_day) * NANOS + rest[row];
                let day = seconds[row].div_euclid(per_day);
                calendar::push_day_and_time(day, time, unit, out);
                if is_instant {
                    out.extend_from_slice(calendar::UTC);
                }
                if calendar::has_four_digit_year(day) { Ok(()) } else { Err(NO_YEAR) }
            }),
        }
    }
}

const NANOS: i64 = 1_000_000_000;

/// Returns seconds and nanoseconds of an INT96 timestamp, from its seconds and its nanoseconds modulo 2^64.
///
/// The nanoseconds have wrapped around, but their last nine digits are right, and the seconds give the rest. If the seconds do
/// not fit 64 bits of microseconds (292,277 years), the writer has wrapped around: Spark computes in microseconds, and writes
/// the year 290000 as a day 294,554 years before our era. Such values are reduced to 64 bits of microseconds, as in Spark.
fn wide_time(seconds: i64, nanos: i64) -> (i64, i64) {
    const MICROS: i64 = 1_000_000;
    let rest = nanos.wrapping_sub(seconds.wrapping_mul(NANOS));
    let (seconds, rest) = (seconds + rest.div_euclid(NANOS), rest.rem_euclid(NANOS));
    if seconds.checked_mul(MICROS).is_some() {
        return (seconds, rest);
    }
    let micros = seconds.wrapping_mul(MICROS).wrapping_add(rest / 1000);
    (micros.div_euclid(MICROS), micros.rem_euclid(MICROS) * 1000)
}

/// Returns the type for reading the months of an interval, if its array holds only days and milliseconds.
pub(super) fn months_type(data_type: &DataType) -> Option<DataType> {
    let is_split = *data_type == DataType::Interval(IntervalUnit::DayTime);
    is_split.then_some(DataType::Interval(IntervalUnit::YearMonth))
}

/// Returns the type with INT96 timestamps in seconds, which no 32-bit day overflows. `is_int96` is called once for each leaf, in
/// order.
pub(super) fn seconds_type(data_type: &DataType, is_int96: &mut dyn FnMut() -> bool) -> DataType {
    let mut inner = |field: &FieldRef| {
        let data_type = seconds_type(field.data_type(), is_int96);
        Arc::new(Field::clone(field).with_data_type(data_type))
    };
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(inner(item), *len),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) if is_int96() => {
            DataType::Timestamp(TimeUnit::Second, zone.clone())
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => data_type.clone(),
        _ => {
            is_int96();
            data_type.clone()
        }
    }
}

/// Returns whether a nested value has nanoseconds that overflowed 64 bits: its seconds differ.
fn has_wrapped(nanos: &dyn Array, seconds: &dyn Array, row: usize) -> bool {
    if nanos.is_null(row) || nanos.data_type() == seconds.data_type() {
        return false;
    }
    let any = |nanos: &dyn Array, seconds: &dyn Array| (0..nanos.len()).any(|row| has_wrapped(nanos, seconds, row));
    match nanos.data_type() {
        DataType::Struct(_) => {
            let columns = nanos.as_struct().columns().iter().zip(seconds.as_struct().columns());
            columns.into_iter().any(|(nanos, seconds)| has_wrapped(nanos, seconds, row))
        }
        DataType::Map(_, _) => any(&nanos.as_map().value(row), &seconds.as_map().value(row)),
        DataType::List(_) => any(&*nanos.as_list::<i32>().value(row), &*seconds.as_list::<i32>().value(row)),
        DataType::LargeList(_) => any(&*nanos.as_list::<i64>().value(row), &*seconds.as_list::<i64>().value(row)),
        DataType::FixedSizeList(_, _) => {
            any(&*nanos.as_fixed_size_list().value(row), &*seconds.as_fixed_size_list().value(row))
        }
        _ => {
            let mut values = Vec::with_capacity(2);
            scalar::raw_integers(&*nanos.slice(row, 1), &mut values);
            scalar::raw_integers(&*seconds.slice(row, 1), &mut values);
            values[0].div_euclid(NANOS) != values[1]
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

/// Returns `value / unit`, or `None` if there is a remainder.
fn whole(value: i64, unit: i64) -> Option<i64> {
    (value % unit == 0).then(|| value / unit)
}

fn seconds(value: i64, unit: Unit) -> f64 {
    value.div_euclid(unit.per_second) as f64 + value.rem_euclid(unit.per_second) as f64 / unit.per_second as f64
}

/// Fills the block with timestamps whose years have four digits. If all texts have one length, it is known beforehand.
fn fill_timestamps(raw: &[i64], unit: Unit, is_instant: bool, block: &mut CellBlock) {
    let digits = raw.first().map_or(0, |&value| unit.fraction_digits(value));
    if raw.iter().any(|&value| unit.fraction_digits(value) != digits) {
        let texts = block.texts();
        for &value in raw {
            calendar::push_timestamp(value, unit, is_instant, texts.arena());
            texts.end_string();
        }
        return;
    }
    let (time_at, end) = (DATE_BYTES + 1, DATE_BYTES + 1 + calendar::time_bytes(digits));
    let len = end + if is_instant { calendar::UTC.len() } else { 0 };
    let texts = block.texts().fixed(raw.len(), len);
    for (text, &value) in texts.chunks_exact_mut(len).zip(raw) {
        calendar::write_date(value.div_euclid(unit.per_day()), text);
        text[DATE_BYTES] = b' ';
        calendar::write_time(value.rem_euclid(unit.per_day()), unit, digits, &mut text[time_at..]);
        if is_instant {
            text[end..].copy_from_slice(calendar::UTC);
        }
    }
}

fn fill_julian_days(raw: &[i64], per_day: i64, block: &mut CellBlock) {
    block.reals().extend(raw.iter().map(|&value| calendar::julian_day(value, per_day)));
}

fn fill_unsigned(filling: &mut Filling<'_>) {
    let values = filling.array.as_primitive::<UInt64Type>().values().clone();
    filling.block.ints().extend(values.iter().map(|&value| i64::try_from(value).unwrap_or(0)));
    for (row, value) in values.iter().enumerate().filter(|(_, value)| **value > i64::MAX.unsigned_abs()) {
        filling.refuse(row, NO_INTEGER, Some(value.to_string()));
    }
}

fn fill_reals_of_integers(filling: &mut Filling<'_>) {
    if *filling.array.data_type() == DataType::UInt64 {
        let values = filling.array.as_primitive::<UInt64Type>().values();
        return filling.block.reals().extend(values.iter().map(|&value| value as f64));
    }
    let mut raw = Vec::new();
    scalar::raw_integers(filling.array, &mut raw);
    filling.block.reals().extend(raw.iter().map(|&value| value as f64));
}

fn fill_integral_doubles(filling: &mut Filling<'_>) {
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
