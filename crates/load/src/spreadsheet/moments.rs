//! Writes dates, times and durations as text.
//!
//! A cell with a date is a number of days, and its format says so. Formats of dates and of times are the same to calamine:
//!
//! ```text
//! 45352       2024-03-01              2024-03-01 00:00:00 beside 45352.5
//! 45352.5     2024-03-01 12:00:00
//! 0.375       09:00:00                whatever stands beside it: no date lies before day 1
//! 1.125       1900-01-01 03:00:00     27:00:00 in a column of times
//! ```

use calamine::{ExcelDateTime, ExcelDateTimeType};

/// The day behind 9999-12-31, the last one of Excel, if day 1 is 1900-01-01.
const END_OF_1900: f64 = 2_958_466.0;

/// The same day if day 0 is 1904-01-01.
const END_OF_1904: f64 = 2_957_004.0;

/// Days of the first year. In a column of times, they count the hours beyond 24: real dates of that year have no times beside them.
const FIRST_YEAR: f64 = 367.0;

/// Returns whether Excel shows a date or a time for it, and no error.
pub(super) fn is_shown(moment: ExcelDateTime) -> bool {
    (0.0..if is_of_1904(moment) { END_OF_1904 } else { END_OF_1900 }).contains(&moment.as_f64())
}

fn is_of_1904(moment: ExcelDateTime) -> bool {
    moment == ExcelDateTime::new(moment.as_f64(), ExcelDateTimeType::DateTime, true)
}

/// The form of the dates and times of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Number of days that is the first date. All below it are times.
    first_date: f64,
    /// All dates are whole days.
    is_whole: bool,
}

impl Form {
    /// Finds the form of the dates and times of a column, which Excel shows.
    pub fn of(moments: impl Iterator<Item = ExcelDateTime> + Clone) -> Self {
        let days = || moments.clone().map(|moment| moment.as_f64());
        let (last, has_times) = (days().fold(0.0, f64::max), days().any(|days| days < 1.0));
        let first_date = if has_times && last < FIRST_YEAR {
            FIRST_YEAR
        } else if moments.clone().all(is_of_1904) && !days().any(|days| days > 0.0 && days < 1.0) {
            // Day 0 is a date, and all others are.
            0.0
        } else {
            1.0
        };
        Self { first_date, is_whole: days().all(|days| days < first_date || days.fract() == 0.0) }
    }

    /// Returns the text of one of these dates and times.
    pub fn text(self, moment: ExcelDateTime) -> String {
        let days = moment.as_f64();
        if days < self.first_date {
            return duration(days);
        }
        let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
        let date = format!("{year:04}-{month:02}-{day:02}");
        if self.is_whole {
            return date;
        }
        let fraction = if milli == 0 { String::new() } else { format!(".{milli:03}") };
        format!("{date} {hour:02}:{minute:02}:{second:02}{fraction}")
    }
}

/// Returns a number of days as hours, minutes and seconds.
pub(super) fn duration(days: f64) -> String {
    const MILLIS: f64 = 86_400_000.0;
    let millis = (days.abs() * MILLIS).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration of a sheet is far smaller")]
    let millis = millis as u64;
    let (sign, seconds, rest) = (if days < 0.0 && millis > 0 { "-" } else { "" }, millis / 1000, millis % 1000);
    let fraction = if rest == 0 { String::new() } else { format!(".{rest:03}") };
    format!("{sign}{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Converts `-PT12H30M00S`, or `P1DT12H`, to `-12:30:00` and `36:00:00`. Returns `None` for other forms.
pub(super) fn iso_duration(text: &str) -> Option<String> {
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let text = text.strip_prefix('P').filter(|text| !text.is_empty() && !text.ends_with('T'))?;
    let (days, times) = text.split_once('T').unwrap_or((text, ""));
    let (days, rest) = count_of(days, 'D')?;
    let (hours, times) = count_of(times, 'H')?;
    let (minutes, times) = count_of(times, 'M')?;
    let seconds = if times.is_empty() { "0" } else { times.strip_suffix('S')? };
    let (seconds, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let fraction = fraction.trim_end_matches('0');
    if !rest.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A second or a minute may be the sixtieth.
    let seconds = count(seconds)?.checked_add(minutes.checked_mul(60)?)?;
    let hours = hours.checked_add(days.checked_mul(24)?)?.checked_add(seconds / 3600)?;
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    let sign = if is_negative && (hours, minutes, seconds, fraction) != (0, 0, 0, "") { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{point}{fraction}"))
}

/// Returns the number in front of a unit, 0 without the unit, and the text behind it. `None` if it is no number.
fn count_of(text: &str, unit: char) -> Option<(u64, &str)> {
    text.split_once(unit).map_or(Some((0, text)), |(number, rest)| Some((count(number)?, rest)))
}

/// Parses digits, without a sign.
fn count(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(days: f64, is_of_1904: bool) -> ExcelDateTime {
        ExcelDateTime::new(days, ExcelDateTimeType::DateTime, is_of_1904)
    }

    /// In a workbook that counts from 1904, all numbers of the last four years were 9999-12-31.
    #[test]
    fn the_last_day_is_that_of_the_workbook() {
        let shown = |days, is_of_1904| is_shown(moment(days, is_of_1904));
        assert_eq!([2_957_003.5, 2_957_004.0].map(|days| shown(days, true)), [true, false]);
        assert_eq!([2_958_465.5, 2_958_466.0].map(|days| shown(days, false)), [true, false]);
        assert_eq!([-0.5, f64::NAN, f64::INFINITY].map(|days| shown(days, true)), [false; 3]);
        let last = moment(2_957_003.0, true);
        assert_eq!(Form::of([last].into_iter()).text(last), "9999-12-31");
    }

    /// One date made all times of a column dates of 1899, and so did times that all were 00:00.
    #[test]
    fn times_are_times_beside_dates() {
        let texts = |days: &[f64], is_of_1904| -> Vec<String> {
            let moments = days.iter().map(|&days| moment(days, is_of_1904));
            let form = Form::of(moments.clone());
            moments.map(|moment| form.text(moment)).collect()
        };
        let cases: [(&[f64], &[&str]); 7] = [
            (&[0.0, 0.0], &["00:00:00", "00:00:00"]),
            (&[0.375, 1.0, 1.125], &["09:00:00", "24:00:00", "27:00:00"]),
            (&[45352.0, 0.5], &["2024-03-01", "12:00:00"]),
            (&[45352.5, 45353.0, 0.5], &["2024-03-01 12:00:00", "2024-03-02 00:00:00", "12:00:00"]),
            (&[1.0, 2.0], &["1900-01-01", "1900-01-02"]),
            (&[1.125], &["1900-01-01 03:00:00"]),
            (&[0.5000057870370371, 0.999999999], &["12:00:00.500", "24:00:00"]),
        ];
        for (days, expected) in cases {
            assert_eq!(texts(days, false), expected);
        }
        // Day 0 is a date there.
        assert_eq!(texts(&[0.0, 43890.0], true), ["1904-01-01", "2024-03-01"]);
        assert_eq!(texts(&[0.0, 43890.0, 0.5], true), ["00:00:00", "2024-03-01", "12:00:00"]);
        assert_eq!(texts(&[0.0, 0.0], true), ["00:00:00", "00:00:00"]);
    }

    /// Negative times of an .ods stayed as they are written, beside others with colons.
    #[test]
    fn iso_durations_have_all_signs_and_units() {
        let cases = [
            ("PT12H30M00S", "12:30:00"),
            ("-PT01H30M00S", "-01:30:00"),
            ("-PT00H00M00.500S", "-00:00:00.5"),
            ("-PT00H00M00.000S", "00:00:00"),
            ("P1DT2H", "26:00:00"),
            ("P2D", "48:00:00"),
            ("PT90M", "01:30:00"),
            ("PT59M60S", "01:00:00"),
            ("PT1,25S", "00:00:01.25"),
        ];
        for (text, expected) in cases {
            assert_eq!(iso_duration(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "P",
            "PT",
            "P1M",
            "P1MT1H",
            "P1DT",
            "PT1H2",
            "PT-1H",
            "PT+1H",
            "PTH",
            "PT1.xS",
            "1H",
            "--PT1H",
            "PT99999999999999999999H",
        ] {
            assert_eq!(iso_duration(text), None, "{text}");
        }
    }
}
