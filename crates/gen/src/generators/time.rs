//! Dates and times: ISO 8601 text, and the other forms that SQLite's date functions read ([`Format`]).

use super::digits::{three, two};
use super::{Arguments, Distinct, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, Rows};
use litepress_rows::{CellBlock, Result};

pub(super) const DAY: u64 = 86_400;
const DATE_LEN: usize = 10;
const TIME_OF_DAY_LEN: usize = 8;
const TIME_LEN: usize = DATE_LEN + 1 + TIME_OF_DAY_LEN;
const TIME_MS_LEN: usize = TIME_LEN + 4;

/// Days from 0000-01-01 to 1970-01-01, and the Julian day of 0000-01-01.
const UNIX_DAYS: u64 = 719_528;
const JULIAN_DAYS: f64 = 1_721_059.5;

/// The first second without a text: 10000-01-01.
pub(crate) const END: u64 = 3_652_425 * DAY;

/// Days of 400 years of the Gregorian calendar, after which it repeats.
const ERA_DAYS: u64 = 146_097;

/// The storage format of times, which are milliseconds from 0000-01-01 00:00:00 before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `YYYY-MM-DD HH:MM:SS`
    Iso,
    /// `YYYY-MM-DD HH:MM:SS.mmm`
    IsoMs,
    /// Seconds since 1970, as integers.
    Unix,
    /// Milliseconds since 1970.
    UnixMs,
    /// Julian day numbers, real.
    Julian,
}

impl Format {
    const NAMES: [(&str, Self); 5] = [
        ("iso", Self::Iso),
        ("iso_ms", Self::IsoMs),
        ("unix", Self::Unix),
        ("unix_ms", Self::UnixMs),
        ("julian", Self::Julian),
    ];

    /// Parses the argument `as` of the call.
    pub fn of(arguments: &Arguments<'_>) -> Result<Self> {
        let text = arguments.text("as")?;
        let found = Self::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        let refused = || {
            let names = "'iso', 'iso_ms', 'unix', 'unix_ms' or 'julian'";
            arguments.error_at("as", format!("argument 'as' is {names}, not '{text}'"))
        };
        found.map(|(_, format)| *format).ok_or_else(refused)
    }

    /// Returns the least difference, in milliseconds, of times that are stored as distinct values.
    pub fn resolution(self) -> u64 {
        if matches!(self, Self::Iso | Self::Unix) { 1000 } else { 1 }
    }

    /// Appends these times in this format.
    pub fn write(self, times: &[u64], out: &mut CellBlock) {
        let since_1970 = |ms: u64| ms.cast_signed() - (UNIX_DAYS * DAY * 1000).cast_signed();
        match self {
            Self::Iso => {
                let (texts, _) = out.texts().fixed(times.len(), TIME_LEN).as_chunks_mut();
                texts.iter_mut().zip(times).for_each(|(text, ms)| *text = time_text(ms / 1000));
            }
            Self::IsoMs => {
                let (texts, _) = out.texts().fixed(times.len(), TIME_MS_LEN).as_chunks_mut();
                texts.iter_mut().zip(times).for_each(|(text, &ms)| *text = time_ms_text(ms));
            }
            Self::Unix => out.ints().extend(times.iter().map(|ms| since_1970(ms / 1000 * 1000) / 1000)),
            Self::UnixMs => out.ints().extend(times.iter().map(|&ms| since_1970(ms))),
            Self::Julian => {
                out.reals().extend(times.iter().map(|&ms| ms as f64 / (DAY * 1000) as f64 + JULIAN_DAYS));
            }
        }
    }

    pub fn kinds(self) -> Kinds {
        match self {
            Self::Iso | Self::IsoMs => Kinds::TEXT,
            Self::Unix | Self::UnixMs => Kinds::INT,
            Self::Julian => Kinds::REAL,
        }
    }

    pub fn longest_bytes(self) -> u64 {
        match self {
            Self::Iso => TIME_LEN as u64,
            Self::IsoMs => TIME_MS_LEN as u64,
            Self::Unix | Self::UnixMs | Self::Julian => NUMBER_BYTES,
        }
    }
}

/// `date(from, to)`: days counted from 0000-01-01.
#[derive(Debug)]
struct Date {
    first: u64,
    count: u64,
}

/// `timestamp(from, to)` as text: seconds counted from 0000-01-01 00:00:00.
#[derive(Debug)]
struct Timestamp {
    first: u64,
    count: u64,
}

/// `timestamp(from, to)` in another format: `count` steps of `step` milliseconds from `first` on.
#[derive(Debug)]
struct FormattedTime {
    first: u64,
    step: u64,
    count: u64,
    format: Format,
}

/// `time_of_day`
#[derive(Debug)]
struct TimeOfDay;

pub(super) fn time_of_day(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(TimeOfDay))
}

pub(super) fn date(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (from, to) = bounds(arguments)?;
    for (name, second) in [("from", from), ("to", to)] {
        if second % DAY != 0 {
            let message = format!("'{}' is not a day", arguments.text(name)?);
            return Err(arguments.error_at(name, message));
        }
    }
    Ok(Box::new(Date { first: from / DAY, count: (to - from) / DAY }))
}

pub(super) fn timestamp(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (from, to) = bounds(arguments)?;
    let format = Format::of(arguments)?;
    if format == Format::Iso {
        return Ok(Box::new(Timestamp { first: from, count: to - from }));
    }
    let step = format.resolution();
    Ok(Box::new(FormattedTime { first: from * 1000, step, count: (to - from) * 1000 / step, format }))
}

pub(super) fn bounds(arguments: &Arguments<'_>) -> Result<(u64, u64)> {
    let (from, to) = (bound(arguments, "from")?, bound(arguments, "to")?);
    if from >= to {
        return Err(arguments.error_at("from", "'from' is not before 'to'"));
    }
    Ok((from, to))
}

pub(super) fn bound(arguments: &Arguments<'_>, name: &str) -> Result<u64> {
    let text = arguments.text(name)?;
    let refused = || {
        let error = arguments.error_at(name, format!("'{text}' is not a time between the years 0000 and 9999"));
        error.advise("write 'YYYY-MM-DD' or 'YYYY-MM-DD HH:MM:SS'")
    };
    parse(&text).ok_or_else(refused)
}

/// Parses `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS` (or `T` between) to seconds from 0000-01-01.
fn parse(text: &str) -> Option<u64> {
    let (date, time) = text.split_once([' ', 'T']).map_or((text, None), |(date, time)| (date, Some(time)));
    let [year, month, day] = fields(date, '-', &[4, 2, 2])?.try_into().ok()?;
    let [hour, minute, second] = match time {
        None => [0, 0, 0],
        Some(time) if time.len() == 5 => [fields(time, ':', &[2, 2])?, vec![0]].concat().try_into().ok()?,
        Some(time) => fields(time, ':', &[2, 2, 2])?.try_into().ok()?,
    };
    let valid = (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    valid.then(|| days(year, month, day) * DAY + hour * 3600 + minute * 60 + second)
}

/// Parses numbers between separators, with these numbers of digits.
fn fields(text: &str, separator: char, lengths: &[usize]) -> Option<Vec<u64>> {
    let parts: Vec<&str> = text.split(separator).collect();
    let fits = parts.len() == lengths.len() && parts.iter().zip(lengths).all(|(part, &len)| part.len() == len);
    let number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?;
    if fits { parts.iter().map(number).collect() } else { None }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 0000-01-01 to this day.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let leap_days = if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
    let months: u64 = (1..month).map(|month| days_of_month(year, month)).sum();
    year * 365 + leap_days + months + day - 1
}

/// Converts days from 0000-01-01 to year, month and day, by the Euclidean affine functions of Neri and Schneider
/// (*Software: Practice and Experience* 53, 2023). Its years begin in March, so one era is added to keep days
/// positive.
#[inline(always)]
fn civil(days: u64) -> (u64, u64, u64) {
    const MARCH: u64 = 60; // 0000-03-01; the year 0 is a leap year
    let quarter_days = 4 * (days + ERA_DAYS - MARCH) + 3;
    let century = quarter_days / ERA_DAYS;
    let in_century = quarter_days % ERA_DAYS / 4 * 4 + 3;
    let product = 2_939_745 * in_century;
    let year = 100 * century + (product >> 32);
    let day_of_year = (product & 0xFFFF_FFFF) / 2_939_745 / 4;
    let month_day = 2141 * day_of_year + 197_913;
    let (month, day) = (month_day >> 16, (month_day & 0xFFFF) / 2141 + 1);
    let after_december = u64::from(day_of_year >= 306);
    (year + after_december - 400, month - 12 * after_december, day)
}

#[inline(always)]
fn write_date(days: u64, text: &mut [u8]) {
    let (year, month, day) = civil(days);
    text[..2].copy_from_slice(&two(year / 100));
    text[2..4].copy_from_slice(&two(year % 100));
    text[4] = b'-';
    text[5..7].copy_from_slice(&two(month));
    text[7] = b'-';
    text[8..10].copy_from_slice(&two(day));
}

#[inline(always)]
pub(crate) fn date_text(days: u64) -> [u8; DATE_LEN] {
    let mut text = [0; DATE_LEN];
    write_date(days, &mut text);
    text
}

#[inline(always)]
fn time_of_day_text(second: u64) -> [u8; TIME_OF_DAY_LEN] {
    let mut text = [b':'; TIME_OF_DAY_LEN];
    text[..2].copy_from_slice(&two(second / 3600));
    text[3..5].copy_from_slice(&two(second / 60 % 60));
    text[6..].copy_from_slice(&two(second % 60));
    text
}

#[inline(always)]
pub(crate) fn time_text(seconds: u64) -> [u8; TIME_LEN] {
    let mut text = [b' '; TIME_LEN];
    write_date(seconds / DAY, &mut text);
    text[DATE_LEN + 1..].copy_from_slice(&time_of_day_text(seconds % DAY));
    text
}

#[inline(always)]
fn time_ms_text(ms: u64) -> [u8; TIME_MS_LEN] {
    let mut text = [b'.'; TIME_MS_LEN];
    text[..TIME_LEN].copy_from_slice(&time_text(ms / 1000));
    text[TIME_LEN + 1..].copy_from_slice(&three(ms % 1000));
    text
}

impl Generator for Date {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let (texts, _) = out.texts().fixed(rows.len(), DATE_LEN).as_chunks_mut();
        random.fill_below(rows, texts, self.count, |n| date_text(self.first + n));
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        DATE_LEN as u64
    }

    fn distinct(&self) -> Distinct {
        Distinct::Among { values: self.count }
    }
}

impl Generator for Timestamp {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let (texts, _) = out.texts().fixed(rows.len(), TIME_LEN).as_chunks_mut();
        random.fill_below(rows, texts, self.count, |n| time_text(self.first + n));
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        TIME_LEN as u64
    }

    fn distinct(&self) -> Distinct {
        Distinct::Among { values: self.count }
    }
}

impl Generator for FormattedTime {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut times = vec![0; rows.len()];
        random.fill_below(rows, &mut times, self.count, |n| self.first + n * self.step);
        self.format.write(&times, out);
    }

    fn kinds(&self) -> Kinds {
        self.format.kinds()
    }

    fn longest_bytes(&self) -> u64 {
        self.format.longest_bytes()
    }

    fn distinct(&self) -> Distinct {
        Distinct::Among { values: self.count }
    }
}

impl Generator for TimeOfDay {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let (texts, _) = out.texts().fixed(rows.len(), TIME_OF_DAY_LEN).as_chunks_mut();
        random.fill_below(rows, texts, DAY, time_of_day_text);
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        TIME_OF_DAY_LEN as u64
    }

    fn distinct(&self) -> Distinct {
        Distinct::Among { values: DAY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_calendar_follows_the_one_before() {
        let mut next = 0;
        for year in 0..=9999 {
            for month in 1..=12 {
                for day in 1..=days_of_month(year, month) {
                    assert_eq!(days(year, month, day), next);
                    assert_eq!(civil(next), (year, month, day));
                    next += 1;
                }
            }
        }
        assert_eq!(next, 25 * ERA_DAYS);
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        for text in ["0000-01-01 00:00:00", "1970-01-01 00:00:01", "2024-02-29 23:59:59", "9999-12-31 12:34:56"] {
            let seconds = parse(text).expect(text);
            assert_eq!(time_text(seconds), text.as_bytes());
            assert_eq!(parse(&text.replace(' ', "T")), Some(seconds));
        }
        assert_eq!(parse("1970-01-01"), Some(719_528 * DAY));
        assert_eq!(parse("1970-01-01 01:02"), Some(719_528 * DAY + 3720));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2020",
            "2020-1-1",
            "2020-00-01",
            "2020-01-32",
            "2019-02-29",
            "1900-02-29",
            "2020-01-01 24:00",
            "2020-01-01 10:60",
            "2020-01-01 10:00:60",
            "2020-01-01 1:00",
            "2020-01-01  10:00",
            "+020-01-01",
            "12020-01-01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
