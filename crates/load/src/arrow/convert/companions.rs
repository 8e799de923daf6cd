//! Values that one array cannot hold: INT96 timestamps, whose nanoseconds overflow 64 bits, and the months of intervals. A second
//! array, the companion, holds the rest.

use super::Column;
use super::filling::{Filling, NO_WHOLE_SECOND, NO_YEAR, OUT_OF_RANGE};
use crate::arrow::calendar::{self, Span, Unit};
use crate::arrow::form::{SemanticType, StorageForm};
use crate::arrow::scalar;
use arrow_array::cast::AsArray;
use arrow_array::types::IntervalDayTimeType;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};
use std::sync::Arc;

impl Column {
    /// Fills the block with timestamps or intervals whose array holds only a part of them.
    pub(super) fn fill_with_companion(&mut self, companion: &ArrayRef, filling: &mut Filling<'_>) {
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
pub(in crate::arrow) fn months_type(data_type: &DataType) -> Option<DataType> {
    let is_split = *data_type == DataType::Interval(IntervalUnit::DayTime);
    is_split.then_some(DataType::Interval(IntervalUnit::YearMonth))
}

/// Returns the type with INT96 timestamps in seconds, which no 32-bit day overflows. `is_int96` is called once for each leaf, in
/// order.
pub(in crate::arrow) fn seconds_type(data_type: &DataType, is_int96: &mut dyn FnMut() -> bool) -> DataType {
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
