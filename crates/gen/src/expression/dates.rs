//! Date arithmetic on `YYYY-MM-DD` and `YYYY-MM-DD HH:MM:SS`.

use super::numbers::integer;
use super::operand::{Operand, put_texts, put_values};
use crate::time_text::{DAY, END, date_text, time_text};
use litepress_format::value::Value;
use litepress_rows::CellBlock;
use litepress_rows::calendar::{DAYS_BEFORE_1970, Date, DateTime, SECONDS_PER_DAY};
use litepress_rows::cells::OwnedValue;

/// A date or time, in seconds from 1970-01-01.
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
            (b"day", Unit::Seconds(SECONDS_PER_DAY)),
            (b"week", Unit::Seconds(7 * SECONDS_PER_DAY)),
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

impl Time {
    fn parse(value: Value<'_>) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let time = DateTime::parse(text)?;
        Some(Self { seconds: time.seconds(), is_day: time.second.is_none() })
    }

    /// Returns the time of each row; a constant is parsed once.
    fn in_rows<'a>(operand: &'a Operand<'a>) -> impl Fn(usize) -> Option<Self> + 'a {
        let constant = match operand {
            Operand::Constant(value) => Some(Self::parse(value.as_value())),
            Operand::Block(_) => None,
        };
        move |row| constant.unwrap_or_else(|| Self::parse(operand.value(row)))
    }

    fn plus(self, count: i64, unit: Unit) -> Option<Self> {
        match unit {
            Unit::Seconds(length) => {
                let seconds = self.seconds.checked_add(count.checked_mul(length)?)?;
                Some(Self { seconds, is_day: self.is_day && length % SECONDS_PER_DAY == 0 })
            }
            Unit::Months(length) => {
                let Date { year, month, day } = Date::from_days(self.seconds.div_euclid(SECONDS_PER_DAY));
                let months = (12 * year + i64::from(month) - 1).checked_add(count.checked_mul(length)?)?;
                // Other years have no text.
                let year = Some(months.div_euclid(12)).filter(|year| (0..10_000).contains(year))?;
                let date = Date { year, month: u8::try_from(months.rem_euclid(12) + 1).ok()?, day };
                let seconds = date.days() * SECONDS_PER_DAY + self.seconds.rem_euclid(SECONDS_PER_DAY);
                Some(Self { seconds, ..self })
            }
        }
    }

    /// Appends the text; `false` if the year does not have four digits.
    fn write(self, text: &mut Vec<u8>) -> bool {
        let from_year_0 = self.seconds.checked_add(DAYS_BEFORE_1970 * SECONDS_PER_DAY);
        let seconds = from_year_0.and_then(|seconds| u64::try_from(seconds).ok()).filter(|&seconds| seconds < END);
        let Some(seconds) = seconds else { return false };
        if self.is_day {
            text.extend_from_slice(&date_text(seconds / DAY));
        } else {
            text.extend_from_slice(&time_text(seconds));
        }
        true
    }
}

/// Evaluates `date_add(time, n, unit)`.
pub(super) fn add(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let (time, unit) = (Time::in_rows(&operands[0]), Unit::in_rows(&operands[2]));
    let sum = |row: usize| time(row)?.plus(integer(operands[1].value(row))?, unit(row)?);
    put_texts(out, rows, |row, text| sum(row).is_some_and(|time| time.write(text)));
}

/// Evaluates `browser_at(time, digits)`; a time is a text, or a number of seconds, or of thousandths or millionths of them.
pub(super) fn browser_at(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    /// Seconds from 1601 to 1970.
    const SINCE_1601: i64 = 11_644_473_600;
    let seconds = |row: usize| match operands[0].value(row) {
        Value::Int(time) => Some(match time {
            12_000_000_000_000_000.. => time / 1_000_000 - SINCE_1601,
            100_000_000_000_000.. => time / 1_000_000,
            100_000_000_000.. => time / 1000,
            _ => time,
        }),
        value => Time::parse(value).map(|time| time.seconds),
    };
    let mut memory = Vec::new();
    put_texts(out, rows, |row, text| {
        let Some(seconds) = seconds(row) else { return false };
        let digits = super::texts::text_of(operands[1].value(row), &mut memory).unwrap_or_default();
        let agent = crate::generators::browser_at(seconds.div_euclid(SECONDS_PER_DAY), digits);
        text.extend_from_slice(agent.as_bytes());
        true
    });
}

/// Evaluates `date_diff(from, to, unit)`, rounded towards 0.
pub(super) fn difference(operands: &[Operand<'_>], rows: usize, out: &mut CellBlock) {
    let unit = Unit::in_rows(&operands[2]);
    let [from, to] = [0, 1].map(|at| Time::in_rows(&operands[at]));
    let difference = |row: usize| match unit(row)? {
        Unit::Seconds(length) => Some((to(row)?.seconds - from(row)?.seconds) / length),
        Unit::Months(_) => None,
    };
    put_values(out, rows, |row| difference(row).map_or(OwnedValue::Null, OwnedValue::Int));
}
