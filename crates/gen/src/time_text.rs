//! ISO 8601 texts of dates and times between the years 0000 and 9999, counted from 0000-01-01.

use crate::decimal::two;
use litepress_rows::calendar::{DAYS_BEFORE_1970, Date};

/// Seconds of a day.
pub const DAY: u64 = 86_400;
/// Bytes of `YYYY-MM-DD`.
pub const DATE_LEN: usize = 10;
/// Bytes of `HH:MM:SS`.
pub const TIME_OF_DAY_LEN: usize = 8;
/// Bytes of `YYYY-MM-DD HH:MM:SS`.
pub const TIME_LEN: usize = DATE_LEN + 1 + TIME_OF_DAY_LEN;

/// The first second without a text: 10000-01-01.
pub const END: u64 = 3_652_425 * DAY;

#[inline(always)]
fn write_date(days: u64, text: &mut [u8]) {
    let Date { year, month, day } = Date::from_days(days.cast_signed() - DAYS_BEFORE_1970);
    let year = year.cast_unsigned();
    text[..2].copy_from_slice(&two(year / 100));
    text[2..4].copy_from_slice(&two(year % 100));
    text[4] = b'-';
    text[5..7].copy_from_slice(&two(month.into()));
    text[7] = b'-';
    text[8..10].copy_from_slice(&two(day.into()));
}

/// Formats days from 0000-01-01.
#[inline(always)]
pub fn date_text(days: u64) -> [u8; DATE_LEN] {
    let mut text = [0; DATE_LEN];
    write_date(days, &mut text);
    text
}

/// Formats a second of a day.
#[inline(always)]
pub fn time_of_day_text(second: u64) -> [u8; TIME_OF_DAY_LEN] {
    let mut text = [b':'; TIME_OF_DAY_LEN];
    text[..2].copy_from_slice(&two(second / 3600));
    text[3..5].copy_from_slice(&two(second / 60 % 60));
    text[6..].copy_from_slice(&two(second % 60));
    text
}

/// Formats seconds from 0000-01-01 00:00:00.
#[inline(always)]
pub fn time_text(seconds: u64) -> [u8; TIME_LEN] {
    let mut text = [b' '; TIME_LEN];
    write_date(seconds / DAY, &mut text);
    text[DATE_LEN + 1..].copy_from_slice(&time_of_day_text(seconds % DAY));
    text
}
