//! Writes dates, times and durations as text that SQLite's date functions read.
//!
//! A moment has one text, whatever its unit: no fraction if the second is whole, six digits if the microsecond is, else nine.
//! Within a column such texts sort by time. An instant ends in `+00:00` and not in `Z`, which would sort behind a fraction.

use arrow_schema::TimeUnit;
use litepress_rows::calendar::Date;

/// Julian day number of 1970-01-01T00:00.
const EPOCH_JULIAN_DAY: f64 = 2_440_587.5;
/// Days since 1970-01-01 whose year has four digits: 0000-01-01 to 9999-12-31.
const FOUR_DIGIT_YEARS: std::ops::Range<i64> = -719_528..2_932_897;

pub(super) const SECONDS_PER_DAY: i64 = 86_400;
/// Length of `YYYY-MM-DD` in bytes.
pub(super) const DATE_BYTES: usize = 10;

/// Length of `HH:MM:SS` in bytes.
const TIME_BYTES: usize = 8;
/// The end of an instant's text.
pub(super) const UTC: &[u8] = b"+00:00";
/// Digits of a fraction in microseconds, and in nanoseconds.
const MICRO_DIGITS: usize = 6;
const NANO_DIGITS: usize = 9;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_MICRO: i64 = 1_000;

/// A unit of time: its count per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    pub(super) per_second: i64,
    pub(super) name: &'static str,
}

impl Unit {
    pub(super) fn of(unit: TimeUnit) -> Self {
        let (per_second, name) = match unit {
            TimeUnit::Second => (1, "seconds"),
            TimeUnit::Millisecond => (1_000, "milliseconds"),
            TimeUnit::Microsecond => (1_000_000, "microseconds"),
            TimeUnit::Nanosecond => (NANOS_PER_SECOND, "nanoseconds"),
        };
        Self { per_second, name }
    }

    /// Returns the unit of this symbol: `s`, `ms`, `us` or `ns`.
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        let unit = match symbol {
            "s" => TimeUnit::Second,
            "ms" => TimeUnit::Millisecond,
            "us" => TimeUnit::Microsecond,
            "ns" => TimeUnit::Nanosecond,
            _ => return None,
        };
        Some(Self::of(unit))
    }

    pub(super) fn per_day(self) -> i64 {
        SECONDS_PER_DAY * self.per_second
    }

    /// Returns the nanoseconds of a time beyond its whole second.
    #[inline]
    fn nanos(self, time: i64) -> i64 {
        time.rem_euclid(self.per_second) * (NANOS_PER_SECOND / self.per_second)
    }

    /// Returns the number of digits of a time's fraction: 0, 6 or 9.
    #[inline]
    pub(super) fn fraction_digits(self, time: i64) -> usize {
        match self.nanos(time) {
            0 => 0,
            nanos if nanos % NANOS_PER_MICRO == 0 => MICRO_DIGITS,
            _ => NANO_DIGITS,
        }
    }
}

/// Returns whether the day's year has four digits, so that its date has `DATE_BYTES`.
#[inline]
pub fn has_four_digit_year(days: i64) -> bool {
    FOUR_DIGIT_YEARS.contains(&days)
}

/// Returns both digits of a number below 100.
#[inline]
fn two_digits(number: u8) -> [u8; 2] {
    [b'0' + number / 10, b'0' + number % 10]
}

/// Writes `YYYY-MM-DD` to the front of `out`. The day's year must [have four digits](has_four_digit_year).
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a year of four digits is two numbers below 100")]
pub(super) fn write_date(days: i64, out: &mut [u8]) {
    let Date { year, month, day } = Date::from_days(days);
    let (century, year) = (two_digits((year / 100) as u8), two_digits((year % 100) as u8));
    let (month, day) = (two_digits(month), two_digits(day));
    let text = [century[0], century[1], year[0], year[1], b'-', month[0], month[1], b'-', day[0], day[1]];
    out[..DATE_BYTES].copy_from_slice(&text);
}

/// Appends the date of any day. A year with more than four digits, or a negative one, has a sign, as ISO 8601 requires.
pub fn push_date(days: i64, out: &mut Vec<u8>) {
    if has_four_digit_year(days) {
        let start = out.len();
        out.resize(start + DATE_BYTES, 0);
        write_date(days, &mut out[start..]);
        return;
    }
    let Date { year, month, day } = Date::from_days(days);
    let sign = if year < 0 { '-' } else { '+' };
    out.extend_from_slice(format!("{sign}{:04}-{month:02}-{day:02}", year.abs()).as_bytes());
}

/// Returns the length in bytes of a time of day whose fraction has this number of digits.
pub(super) fn time_bytes(digits: usize) -> usize {
    TIME_BYTES + if digits == 0 { 0 } else { 1 + digits }
}

/// Writes a time of day to the front of `out`, [`time_bytes`] in all. `time` must be between 0 and a day, inclusive, and `digits`
/// the [number](Unit::fraction_digits) of its fraction's digits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "hours, minutes and seconds have two digits, and digits have one")]
pub(super) fn write_time(time: i64, unit: Unit, digits: usize, out: &mut [u8]) {
    let seconds = time / unit.per_second;
    let (hour, minute) = (two_digits((seconds / 3600) as u8), two_digits((seconds / 60 % 60) as u8));
    let second = two_digits((seconds % 60) as u8);
    let text = [hour[0], hour[1], b':', minute[0], minute[1], b':', second[0], second[1]];
    out[..TIME_BYTES].copy_from_slice(&text);
    if digits > 0 {
        let nanos = unit.nanos(time);
        let mut fraction = if digits == MICRO_DIGITS { nanos / NANOS_PER_MICRO } else { nanos };
        out[TIME_BYTES] = b'.';
        for digit in out[TIME_BYTES + 1..=TIME_BYTES + digits].iter_mut().rev() {
            *digit = b'0' + (fraction % 10) as u8;
            fraction /= 10;
        }
    }
}

/// Appends a time of day.
pub(super) fn push_time(time: i64, unit: Unit, out: &mut Vec<u8>) {
    let (start, digits) = (out.len(), unit.fraction_digits(time));
    out.resize(start + time_bytes(digits), 0);
    write_time(time, unit, digits, &mut out[start..]);
}

/// Appends `YYYY-MM-DD HH:MM:SS`, a fraction if there is one, and `+00:00` if it is an instant and not a local time.
pub fn push_timestamp(value: i64, unit: Unit, is_instant: bool, out: &mut Vec<u8>) {
    push_day_and_time(value.div_euclid(unit.per_day()), value.rem_euclid(unit.per_day()), unit, out);
    if is_instant {
        out.extend_from_slice(UTC);
    }
}

/// Returns whether a moment's year has four digits: SQLite's date functions read no others.
pub fn has_readable_year(value: i64, unit: Unit) -> bool {
    has_four_digit_year(value.div_euclid(unit.per_day()))
}

/// Returns a duration in microseconds, or `None` if it is not a whole number of them, or beyond 64 bits.
pub fn whole_microseconds(value: i64, unit: Unit) -> Option<i64> {
    const PER_SECOND: i64 = 1_000_000;
    if unit.per_second <= PER_SECOND {
        return value.checked_mul(PER_SECOND / unit.per_second);
    }
    let per_micro = unit.per_second / PER_SECOND;
    (value % per_micro == 0).then(|| value / per_micro)
}

/// Appends a day and a time of that day.
pub(super) fn push_day_and_time(days: i64, time: i64, unit: Unit, out: &mut Vec<u8>) {
    push_date(days, out);
    out.push(b' ');
    push_time(time, unit, out);
}

/// Returns the Julian day number of a count of units since 1970.
pub(super) fn julian_day(value: i64, per_day: i64) -> f64 {
    // Convert days and the rest separately: their sum would lose digits.
    let (days, rest) = (value.div_euclid(per_day), value.rem_euclid(per_day));
    days as f64 + EPOCH_JULIAN_DAY + rest as f64 / per_day as f64
}

/// A span of time in three parts, which cannot be converted into one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub months: i64,
    pub days: i64,
    pub nanos: i128,
}

/// Appends a span as an ISO 8601 duration: `P1Y2M3DT4H5M6.5S`. Each part has its own sign.
pub(super) fn push_span(span: Span, out: &mut Vec<u8>) {
    const NANOS: i128 = 1_000_000_000;
    let Span { months, days, nanos } = span;
    out.push(b'P');
    push_parts(&[((months / 12).into(), 'Y'), ((months % 12).into(), 'M'), (days.into(), 'D')], out);
    if nanos == 0 && (months != 0 || days != 0) {
        return;
    }
    out.push(b'T');
    let (seconds, fraction) = (nanos / NANOS, nanos % NANOS);
    push_parts(&[(seconds / 3600, 'H'), (seconds / 60 % 60, 'M')], out);
    if seconds % 60 != 0 || fraction != 0 || nanos == 0 {
        let sign = if nanos < 0 { "-" } else { "" };
        let fraction = format!("{:09}", fraction.abs());
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        out.extend_from_slice(format!("{sign}{}{point}{fraction}S", (seconds % 60).abs()).as_bytes());
    }
}

/// Appends the numbers that are not 0, each with its letter.
fn push_parts(parts: &[(i128, char)], out: &mut Vec<u8>) {
    for (number, letter) in parts.iter().filter(|(number, _)| *number != 0) {
        out.extend_from_slice(format!("{number}{letter}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_day_of_ten_thousand_years_is_the_one_that_sqlite_says() {
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        let mut date =
            sqlite.prepare("SELECT date(? * 86400, 'unixepoch'), julianday(? * 86400, 'unixepoch')").unwrap();
        for days in FOUR_DIGIT_YEARS.step_by(37).chain([FOUR_DIGIT_YEARS.end - 1, -1, 0, 1, 11_016, 11_017]) {
            let (theirs, julian): (String, f64) =
                date.query_row([days, days], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            assert_eq!(text(|out| push_date(days, out)), theirs, "day {days}");
            assert_eq!(julian_day(days * SECONDS_PER_DAY, SECONDS_PER_DAY), julian, "day {days}");
        }
    }

    #[test]
    fn days_beyond_four_digits_have_a_sign() {
        assert_eq!(text(|out| push_date(2_932_897, out)), "+10000-01-01");
        assert_eq!(text(|out| push_date(-719_529, out)), "-0001-12-31");
    }

    #[test]
    fn a_moment_has_one_text_whatever_its_unit() {
        for (unit, value, expected) in [
            (TimeUnit::Second, -1, "1969-12-31 23:59:59+00:00"),
            (TimeUnit::Millisecond, -1000, "1969-12-31 23:59:59+00:00"),
            (TimeUnit::Nanosecond, -1_000_000_000, "1969-12-31 23:59:59+00:00"),
            (TimeUnit::Millisecond, -1, "1969-12-31 23:59:59.999000+00:00"),
            (TimeUnit::Microsecond, -1000, "1969-12-31 23:59:59.999000+00:00"),
            (TimeUnit::Nanosecond, -1_000_000, "1969-12-31 23:59:59.999000+00:00"),
            (TimeUnit::Microsecond, 1_700_000_000_000_001, "2023-11-14 22:13:20.000001+00:00"),
            (TimeUnit::Nanosecond, i64::MIN, "1677-09-21 00:12:43.145224192+00:00"),
        ] {
            assert_eq!(text(|out| push_timestamp(value, Unit::of(unit), true, out)), expected);
        }
        assert_eq!(text(|out| push_time(86_400_000, Unit::of(TimeUnit::Millisecond), out)), "24:00:00");
    }

    /// Texts with `Z` behind sorted `12:00:00.5Z` before `12:00:00Z`, half a second earlier.
    #[test]
    fn texts_of_moments_sort_by_time() {
        let unit = Unit::of(TimeUnit::Nanosecond);
        let nanos = [0, 1, 999, 1000, 1001, 500_000_000, 500_000_001, 500_001_000, 999_999_999, 1_000_000_000];
        for is_instant in [false, true] {
            let texts: Vec<String> =
                nanos.iter().map(|&nanos| text(|out| push_timestamp(nanos, unit, is_instant, out))).collect();
            assert!(texts.is_sorted(), "{texts:?}");
        }
    }

    #[test]
    fn spans_keep_their_parts() {
        for (months, days, nanos, expected) in [
            (0, 0, 0, "PT0S"),
            (14, 3, 0, "P1Y2M3D"),
            (-14, 0, 0, "P-1Y-2M"),
            (0, 0, -1_500_000_000, "PT-1.5S"),
            (0, 0, -500_000_000, "PT-0.5S"),
            (1, -2, 3_723_000_000_001, "P1M-2DT1H2M3.000000001S"),
            (0, 0, 3_600_000_000_000, "PT1H"),
        ] {
            assert_eq!(text(|out| push_span(Span { months, days, nanos }, out)), expected);
        }
    }
}
