//! The proleptic Gregorian calendar, which SQLite's date functions use: dates as day numbers and as texts.
//!
//! ```
//! use litepress_rows::calendar::{Date, DateTime};
//!
//! assert_eq!(Date::from_days(0), Date { year: 1970, month: 1, day: 1 });
//! assert_eq!(DateTime::parse(b"1970-01-02 00:01").map(DateTime::seconds), Some(86_460));
//! ```

/// Number of seconds of a day.
pub const SECONDS_PER_DAY: i64 = 86_400;
/// Number of days from 0000-01-01 to 1970-01-01.
pub const DAYS_BEFORE_1970: i64 = 719_528;

/// Number of days of 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;
const YEARS_PER_ERA: i64 = 400;

/// A day of the calendar. The year 0 is the year before 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Any year, also negative.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

impl Date {
    /// Converts days from 1970-01-01, by the Euclidean affine functions of Neri and Schneider (*Software: Practice and
    /// Experience* 53, 2023).
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "months and days of a month are below 32")]
    pub fn from_days(days: i64) -> Self {
        // The algorithm needs nonnegative days, in years that begin in March.
        const SHIFT_ERAS: i64 = 1 << 40;
        const SHIFT_DAYS: i64 = SHIFT_ERAS * DAYS_PER_ERA + DAYS_BEFORE_1970 - 60;
        const LIMIT: u64 = 1 << 57;
        const _: () = assert!(LIMIT < SHIFT_DAYS.unsigned_abs());
        if days.unsigned_abs() >= LIMIT {
            let date = Self::from_days(days.rem_euclid(DAYS_PER_ERA));
            return Self { year: date.year + days.div_euclid(DAYS_PER_ERA) * YEARS_PER_ERA, ..date };
        }
        let quarter_days = 4 * (days + SHIFT_DAYS).cast_unsigned() + 3;
        let century = quarter_days / DAYS_PER_ERA.unsigned_abs();
        let in_century = quarter_days % DAYS_PER_ERA.unsigned_abs() / 4 * 4 + 3;
        let product = 2_939_745 * in_century;
        let year = (100 * century + (product >> 32)).cast_signed() - SHIFT_ERAS * YEARS_PER_ERA;
        let day_of_year = (product & 0xFFFF_FFFF) / 2_939_745 / 4;
        let month_day = 2141 * day_of_year + 197_913;
        let (month, day) = (month_day >> 16, (month_day & 0xFFFF) / 2141 + 1);
        let after_december = u64::from(day_of_year >= 306);
        Self { year: year + after_december.cast_signed(), month: (month - 12 * after_december) as u8, day: day as u8 }
    }

    /// Returns the days from 1970-01-01. A day beyond the end of its month counts on: the 31st of April is the 1st of
    /// May. Years must be within ±10^15.
    pub fn days(self) -> i64 {
        let Self { year, month, day } = self;
        let (month, day) = (i64::from(month), i64::from(day));
        // In years that begin in March, the leap day comes last.
        const MARCH: i64 = 60 - DAYS_BEFORE_1970;
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        365 * year + leap_days + (153 * month + 2) / 5 + day - 1 + MARCH
    }

    /// Returns whether the month has this day.
    pub fn exists(self) -> bool {
        (1..=days_of_month(self.year, self.month)).contains(&self.day)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && year % 100 != 0 || year % 400 == 0
}

/// Returns the days of a month of 1 to 12.
fn days_of_month(year: i64, month: u8) -> u8 {
    match month {
        2 => 28 + u8::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A date, with or without a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime {
    /// The date; its day may be beyond the end of the month, as SQLite allows.
    pub date: Date,
    /// Second of the day, if there is a time.
    pub second: Option<i64>,
}

impl DateTime {
    /// Parses `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS`, also with `T` between date and time. Every
    /// month may have 31 days, as in SQLite; [`Date::exists`] is the strict check.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let number = |at: usize, len: usize, range: std::ops::Range<i64>| -> Option<i64> {
            let digits = text.get(at..at + len)?;
            let add = |sum: i64, digit: &u8| Some(10 * sum + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?));
            digits.iter().try_fold(0, add).filter(|number| range.contains(number))
        };
        let has = |at: usize, marks: &[u8]| text.get(at).is_some_and(|mark| marks.contains(mark));
        let (year, month, day) = (number(0, 4, 0..10_000)?, number(5, 2, 1..13)?, number(8, 2, 1..32)?);
        if !has(4, b"-") || !has(7, b"-") {
            return None;
        }
        let date = Date { year, month: u8::try_from(month).ok()?, day: u8::try_from(day).ok()? };
        let second = match text.len() {
            10 => return Some(Self { date, second: None }),
            16 => 0,
            19 if has(16, b":") => number(17, 2, 0..60)?,
            _ => return None,
        };
        let (hour, minute) = (number(11, 2, 0..24)?, number(14, 2, 0..60)?);
        (has(10, b" T") && has(13, b":")).then_some(Self { date, second: Some(hour * 3600 + minute * 60 + second) })
    }

    /// Returns the seconds from 1970-01-01 00:00:00. A date without a time counts as midnight.
    pub fn seconds(self) -> i64 {
        self.date.days() * SECONDS_PER_DAY + self.second.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_calendar_follows_the_one_before() {
        let mut next = -DAYS_BEFORE_1970 - 2 * DAYS_PER_ERA;
        for year in -800..=9999 {
            for month in 1..=12 {
                for day in 1..=days_of_month(year, month) {
                    let date = Date { year, month, day };
                    assert_eq!((date.days(), Date::from_days(next)), (next, date));
                    next += 1;
                }
            }
        }
        assert_eq!(next, 25 * DAYS_PER_ERA - DAYS_BEFORE_1970);
    }

    #[test]
    fn the_calendar_repeats_at_any_distance() {
        for eras in [-1_000_000_000_000_i64, -986_535_000_000, 986_535_000_000, 986_540_000_000, 63_000_000_000_000] {
            for days in [-DAYS_BEFORE_1970, 0, 11_016, 11_017] {
                let date = Date::from_days(days);
                let far = Date { year: date.year + eras * YEARS_PER_ERA, ..date };
                assert_eq!(Date::from_days(days + eras * DAYS_PER_ERA), far, "{days} {eras}");
            }
        }
        assert_eq!(Date::from_days(i64::MIN).year, -25_252_734_927_764_585);
        assert_eq!(Date::from_days(i64::MAX).year, 25_252_734_927_768_524);
    }

    #[test]
    fn days_beyond_the_month_count_on() {
        let date = Date { year: 2023, month: 2, day: 31 };
        assert!(!date.exists());
        assert_eq!(Date::from_days(date.days()), Date { year: 2023, month: 3, day: 3 });
        assert!(Date { year: 2024, month: 2, day: 29 }.exists() && !Date { year: 1900, month: 2, day: 29 }.exists());
    }

    #[test]
    fn texts_are_parsed() {
        for (text, seconds) in [
            ("1970-01-01", Some(0)),
            ("1970-01-01 01:02", Some(3720)),
            ("1969-12-31T23:59:59", Some(-1)),
            ("0000-01-01", Some(-DAYS_BEFORE_1970 * SECONDS_PER_DAY)),
            ("2020-00-01", None),
            ("2020-13-01", None),
            ("2020-01-32", None),
            ("2020-01-01 24:00", None),
            ("2020-01-01 10:60", None),
            ("2020-01-01 10:00:60", None),
            ("2020-01-01x10:00", None),
            ("2020-1-1", None),
            ("", None),
        ] {
            assert_eq!(DateTime::parse(text.as_bytes()).map(DateTime::seconds), seconds, "{text}");
        }
    }
}
