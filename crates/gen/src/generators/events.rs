//! Time patterns: business hours, and streams of events.

use super::time::{Format, bound, bounds};
use super::{Arguments, Cardinality, Generator, Kinds};
use crate::random::{CellRandom, Rows};
use crate::time_text::{DAY, END};
use litepress_rows::{CellBlock, Error, Result};
use std::ops::Range;

/// `business_hours(from, to, open, close)`: seconds of Mondays to Fridays, uniformly distributed.
#[derive(Debug)]
struct BusinessHours {
    /// The first working day, counted from the Monday before 0000-01-01.
    first: u64,
    days: u64,
    /// Opening second of the day, and seconds of a working day.
    open: u64,
    seconds: u64,
    format: Format,
}

/// Days from that Monday to 0000-01-01, a Saturday.
const SATURDAY: u64 = 5;

/// Returns the number of working days before this day, counted from that Monday.
fn working_days(day: u64) -> u64 {
    let days = day + SATURDAY;
    days / 7 * 5 + (days % 7).min(5)
}

pub(super) fn business_hours(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (from, to) = bounds(arguments)?;
    let (first, end) = (working_days(from.div_ceil(DAY)), working_days(to.div_ceil(DAY)));
    if first >= end {
        return Err(arguments.error_at("from", "no working day lies between 'from' and 'to'"));
    }
    let (open, close) = (time_of_day(arguments, "open")?, time_of_day(arguments, "close")?);
    if open >= close {
        return Err(arguments.error_at("open", "'open' is not before 'close'"));
    }
    let format = Format::of(arguments)?;
    Ok(Box::new(BusinessHours { first, days: end - first, open, seconds: close - open, format }))
}

/// Parses `HH:MM`, up to `24:00`, to seconds.
fn time_of_day(arguments: &Arguments<'_>, name: &str) -> Result<u64> {
    let text = arguments.text(name)?;
    let number = |part: &str| -> Option<u64> {
        (part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse().ok())?
    };
    let seconds = text.split_once(':').and_then(|(hour, minute)| {
        let (hour, minute) = (number(hour)?, number(minute)?);
        (hour < 24 && minute < 60 || (hour, minute) == (24, 0)).then_some(hour * 3600 + minute * 60)
    });
    seconds.ok_or_else(|| arguments.error_at(name, format!("'{text}' is not a time of day as 'HH:MM'")))
}

impl Generator for BusinessHours {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut times = vec![0; rows.len()];
        random.fill_below(rows, &mut times, self.days * self.seconds, |n| {
            let day = self.first + n / self.seconds;
            let day = day / 5 * 7 + day % 5 - SATURDAY;
            (day * DAY + self.open + n % self.seconds) * 1000
        });
        self.format.write(&times, out);
    }

    fn kinds(&self) -> Kinds {
        self.format.kinds()
    }

    fn longest_bytes(&self) -> u64 {
        self.format.longest_bytes()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.days * self.seconds }
    }
}

/// `events(from, to)` and `events(from, every=...)`: row n is `n + jitter * random` intervals after the start, so
/// that times never descend. No event is later than the year 9999. `open` and `close`: the events of a whole day come
/// between these times of day, in the same order.
#[derive(Debug)]
struct Events {
    /// In milliseconds.
    from: u64,
    interval: f64,
    jitter: f64,
    /// Milliseconds of a day in which events come, if they do not come all day.
    hours: Option<Range<u64>>,
    format: Format,
}

pub(super) fn events(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let from = bound(arguments, "from")? * 1000;
    let interval = match (arguments.is_given("to"), arguments.is_given("every")) {
        (true, false) => {
            let to = bound(arguments, "to")? * 1000;
            if from >= to {
                return Err(arguments.error_at("from", "'from' is not before 'to'"));
            }
            let Some(rows) = arguments.rows() else {
                let error = arguments.error_at("to", "the number of events up to 'to' is not known here");
                return Err(error.advise("give an interval such as every='250ms'"));
            };
            (to - from) as f64 / rows.max(1) as f64
        }
        (false, true) => interval(arguments)?,
        _ => return Err(arguments.error_here("events takes either 'to' or 'every'")),
    };
    let jitter = arguments.share("jitter")?;
    let (open, close) = (time_of_day(arguments, "open")?, time_of_day(arguments, "close")?);
    if open >= close {
        return Err(arguments.error_at("open", "'open' is not before 'close'"));
    }
    let hours = (open > 0 || close < DAY).then_some(open * 1000..close * 1000);
    Ok(Box::new(Events { from, interval, jitter, hours, format: Format::of(arguments)? }))
}

/// Parses `250ms`, `1.5s`, `5m`, `2h` or `1d` to milliseconds.
fn interval(arguments: &Arguments<'_>) -> Result<f64> {
    let text = arguments.text("every")?;
    let rejected = || -> Error {
        let error = arguments.error_at("every", format!("'{text}' is not an interval"));
        error.advise("write '250ms', '1.5s', '5m', '2h' or '1d'")
    };
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return Err(rejected()),
    };
    let interval = number.trim().parse::<f64>().map_err(|_| rejected())? * unit;
    if interval.is_finite() && interval > 0.0 { Ok(interval) } else { Err(rejected()) }
}

impl Events {
    /// Returns the number of rows with distinct times.
    fn rows(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        #[expect(clippy::cast_sign_loss, reason = "the end is after the start")]
        let rows = ((END * 1000 - self.from) as f64 / self.interval) as u64;
        rows.saturating_sub(1)
    }
}

impl Generator for Events {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut times = vec![0; rows.len()];
        let last = END * 1000 - 1 - self.from;
        rows.zip(times.iter_mut(), |row, time| {
            let share = (random.u64(row) >> 12) as f64 / 4_503_599_627_370_496.0;
            let after = (row as f64 + self.jitter * share) * self.interval;
            #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
            #[expect(clippy::cast_sign_loss, reason = "nothing is before the start")]
            let after = (after as u64).min(last);
            *time = self.from + after;
        });
        if let Some(Range { start, end }) = self.hours {
            let day = DAY * 1000;
            times.iter_mut().for_each(|time| *time = *time / day * day + start + *time % day * (end - start) / day);
        }
        self.format.write(&times, out);
    }

    fn kinds(&self) -> Kinds {
        self.format.kinds()
    }

    fn longest_bytes(&self) -> u64 {
        self.format.longest_bytes()
    }

    fn cardinality(&self) -> Cardinality {
        let resolution = self.format.resolution();
        let share_of_day =
            self.hours.as_ref().map_or(1.0, |hours| (hours.end - hours.start) as f64 / (DAY * 1000) as f64);
        // A margin of a thousandth is more than enough for all rounding errors.
        if self.interval * (1.0 - self.jitter) * share_of_day > 1.001 * resolution as f64 {
            Cardinality::Ascending { rows: self.rows() }
        } else {
            Cardinality::Among { values: (END * 1000 - self.from) / resolution }
        }
    }
}
