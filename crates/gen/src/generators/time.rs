//! Dates and times: ISO 8601 text, and the other forms that SQLite's date functions read ([`Format`]).

use super::{Arguments, Cardinality, Generator, Kinds, NUMBER_BYTES};
use crate::decimal::three;
use crate::random::{CellRandom, Rows};
use crate::time_text::{DATE_LEN, DAY, TIME_LEN, TIME_OF_DAY_LEN, date_text, time_of_day_text, time_text};
use litepress_rows::calendar::{DAYS_BEFORE_1970, DateTime, SECONDS_PER_DAY};
use litepress_rows::{CellBlock, Result};

const TIME_MS_LEN: usize = TIME_LEN + 4;

/// Julian day of 0000-01-01.
const JULIAN_DAYS: f64 = 1_721_059.5;

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
        let rejected = || {
            let names = "'iso', 'iso_ms', 'unix', 'unix_ms' or 'julian'";
            arguments.error_at("as", format!("argument 'as' is {names}, not '{text}'"))
        };
        found.map(|(_, format)| *format).ok_or_else(rejected)
    }

    /// Returns the least difference, in milliseconds, of times that are stored as distinct values.
    pub fn resolution(self) -> u64 {
        if matches!(self, Self::Iso | Self::Unix) { 1000 } else { 1 }
    }

    /// Appends these times in this format.
    pub fn write(self, times: &[u64], out: &mut CellBlock) {
        let since_1970 = |ms: u64| ms.cast_signed() - DAYS_BEFORE_1970 * SECONDS_PER_DAY * 1000;
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
    let rejected = || {
        let error = arguments.error_at(name, format!("'{text}' is not a time between the years 0000 and 9999"));
        error.advise("write 'YYYY-MM-DD' or 'YYYY-MM-DD HH:MM:SS'")
    };
    parse(&text).ok_or_else(rejected)
}

/// Parses `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS` (or `T` between) to seconds from 0000-01-01.
fn parse(text: &str) -> Option<u64> {
    let time = DateTime::parse(text.as_bytes()).filter(|time| time.date.exists())?;
    u64::try_from(time.seconds() + DAYS_BEFORE_1970 * SECONDS_PER_DAY).ok()
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

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.count }
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

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.count }
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

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.count }
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

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: DAY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
