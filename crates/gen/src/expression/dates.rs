//! Date arithmetic on `YYYY-MM-DD` and `YYYY-MM-DD HH:MM:SS`.

use super::apply::{Operand, put_texts, put_values};
use super::numbers::integer;
use crate::generators::{END, date_text, time_text};
use litepress_format::value::Value;
use litepress_rows::CellBlock;
use litepress_rows::cells::OwnedValue;

const DAY: i64 = 86_400;

/// A date or time, in seconds from 0000-03-01 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Time {
    seconds: i64,
    is_day: bool,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Seconds(i64),
    Months(i64),
}

impl Unit {
    /// Parses `day`, `days`, and so on.
    fn of(value: Value<'_>) -> Option<Self> {
        const UNITS: [(&[u8], Unit); 7] = [
            (b"second", Unit::Seconds(1)),
            (b"minute", Unit::Seconds(60)),
            (b"hour", Unit::Seconds(3600)),
            (b"day", Unit::Seconds(DAY)),
            (b"week", Unit::Seconds(7 * DAY)),
            (b"month", Unit::Months(1)),
            (b"year", Unit::Months(12)),
        ];
        let Value::Text(name) = value else { return None };
        let name = name.strip_suffix(b"s").or(name.strip_suffix(b"S")).unwrap_or(name);
        UNITS.iter().find(|(unit, _)| unit.eq_ignore_ascii_case(name)).map(|(_, unit)| *unit)
    }

    /// Returns the unit of each row; a constant is parsed once.
    fn in_rows<'a>(operand: &'a Operand<'a>) -> impl Fn(usize) -> Option<Self> + 'a {
        let constant = match operand {
            Operand::Constant(value) => Some(Self::of(value.as_value())),
            Operand::Block(_) => None,
        };
        move |row| constant.unwrap_or_else(|| Self::of(operand.value(row)))
    }
}

/// Returns the days from 0000-03-01 to a day. A day beyond the end of its month counts on: the 31st of April is the
/// 1st of May.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day - 1
}

/// Returns year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let after_december = i64::from(month >= 10);
    (year + era * 400 + after_december, month + 3 - 12 * after_december, day - (153 * month + 2) / 5 + 1)
}

impl Time {
    fn parse(value: Value<'_>) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let number = |at: usize, len: usize| -> Option<i64> {
            let digits = text.get(at..at + len)?;
            let add = |sum: i64, digit: &u8| Some(10 * sum + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?));
            digits.iter().try_fold(0, add)
        };
        let is = |at: usize, marks: &[u8]| text.get(at).is_some_and(|mark| marks.contains(mark));
        let below = |number: i64, end: i64| (number < end).then_some(number);
        let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
        if !is(4, b"-") || !is(7, b"-") || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let days = DAY * days(year, month, day);
        let second = match text.len() {
            10 => return Some(Self { seconds: days, is_day: true }),
            16 => 0,
            19 if is(16, b":") => below(number(17, 2)?, 60)?,
            _ => return None,
        };
        let (hour, minute) = (below(number(11, 2)?, 24)?, below(number(14, 2)?, 60)?);
        let is_time = is(10, b" T") && is(13, b":");
        is_time.then_some(Self { seconds: days + hour * 3600 + minute * 60 + second, is_day: false })
    }

    fn plus(self, count: i64, unit: Unit) -> Option<Self> {
        match unit {
            Unit::Seconds(length) => {
                let seconds = self.seconds.checked_add(count.checked_mul(length)?)?;
                Some(Self { seconds, is_day: self.is_day && length % DAY == 0 })
            }
            Unit::Months(length) => {
                let (year, month, day) = civil(self.seconds.div_euclid(DAY));
                let months = (12 * year + month - 1).checked_add(count.checked_mul(length)?)?;
                let day = days(months.div_euclid(12), months.rem_euclid(12) + 1, day);
                Some(Self { seconds: day.checked_mul(DAY)? + self.seconds.rem_euclid(DAY), ..self })
            }
        }
    }

    /// Appends the text; `false` if the year does not have four digits.
    fn write(self, text: &mut Vec<u8>) -> bool {
        // January and February of the year 0 are before the first of March.
        const TO_MARCH: i64 = (31 + 29) * DAY;
        let seconds = self.seconds.checked_add(TO_MARCH).and_then(|seconds| u64::try_from(seconds).ok());
        let Some(seconds) = seconds.filter(|&seconds| seconds < END) else { return false };
        if self.is_day {
            text.extend_from_slice(&date_text(seconds / DAY.unsigned_abs()));
        } else {
            text.extend_from_slice(&time_text(seconds));
        }
        true
    }
}

/// Parses a date or time to seconds.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    Time::parse(Value::Text(text.as_bytes())).map(|time| time.seconds)
}

/// Formats seconds as [`seconds`] parses them.
pub(crate) fn written(seconds: i64) -> Option<String> {
    let mut text = Vec::new();
    Time { seconds, is_day: false }.write(&mut text).then(|| String::from_utf8(text).ok()).flatten()
}

/// Evaluates `date_add(time, n, unit)`.
pub(super) fn add(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let unit = Unit::in_rows(&operands[2]);
    let sum = |row: usize| {
        let [time, count] = [0, 1].map(|at| operands[at].value(row));
        Time::parse(time)?.plus(integer(count)?, unit(row)?)
    };
    put_texts(out, rows, |row, text| sum(row).is_some_and(|time| time.write(text)));
}

/// Evaluates `date_diff(from, to, unit)`, rounded towards 0.
pub(super) fn difference(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let unit = Unit::in_rows(&operands[2]);
    let difference = |row: usize| {
        let [from, to] = [0, 1].map(|at| operands[at].value(row));
        match unit(row)? {
            Unit::Seconds(length) => Some((Time::parse(to)?.seconds - Time::parse(from)?.seconds) / length),
            Unit::Months(_) => None,
        }
    };
    put_values(out, rows, |row| difference(row).map_or(OwnedValue::Null, OwnedValue::Int));
}
