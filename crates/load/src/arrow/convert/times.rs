//! Dates, times and durations, from arrays of integers.

use super::Column;
use super::filling::{Filling, NO_WHOLE_MICROSECOND, NO_WHOLE_SECOND, NO_YEAR};
use crate::arrow::calendar::{self, DATE_BYTES, Unit};
use crate::arrow::form::{SemanticType, StorageForm};
use crate::arrow::scalar;
use litepress_rows::CellBlock;

impl Column {
    /// Fills the block from arrays of integers: integers, dates, times and durations. Handles values that have only a text, too.
    pub(super) fn fill_from_integers(&mut self, filling: &mut Filling<'_>) {
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
