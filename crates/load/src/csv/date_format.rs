//! Reads dates by a format of strftime(3), and writes them as SQLite's functions read them.
//!
//! chrono reads all but years and fractions: it takes `-5` and `24` for years, counts `%f` in nanoseconds, and cuts a fraction after nine
//! digits.

use chrono::format::{Fixed, Item, Numeric, Parsed, StrftimeItems, parse_and_remainder};
use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

/// The first year of a century that `%y` takes for one of 1900: strptime(3) reads 69 to 99 so.
const PIVOT: i32 = 69;

/// The format of a column's dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DateFormat {
    pub pattern: String,
    /// Seconds since 1970 instead of text.
    pub is_unixepoch: bool,
    parts: Vec<Part>,
}

/// A part of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// An item that chrono reads.
    Item(Item<'static>),
    /// `%Y`, and `%G` of a week: four digits.
    Year { is_of_week: bool },
    /// `%f`: the digits behind the point of a second.
    Fraction,
    /// `%.f`: these digits with their point, or nothing.
    PointAndFraction,
}

/// The reason why a text is not a date of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoDate {
    OtherForm,
    NoWholeSecond,
}

/// The reason why a pattern is not a format of dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadPattern {
    Unknown,
    /// `%Z`: the name of a zone does not say its offset.
    ZoneName,
}

impl DateFormat {
    /// Reads a pattern such as `%d.%m.%Y`.
    pub fn new(pattern: &str) -> Result<Self, BadPattern> {
        let items = StrftimeItems::new(pattern).parse_to_owned().map_err(|_| BadPattern::Unknown)?;
        let items: Vec<Item<'static>> = items.into_iter().flat_map(spelled_out).collect();
        if items.contains(&Item::Fixed(Fixed::TimezoneName)) {
            return Err(BadPattern::ZoneName);
        }
        let part = |item| match item {
            Item::Numeric(Numeric::Year, _) => Part::Year { is_of_week: false },
            Item::Numeric(Numeric::IsoYear, _) => Part::Year { is_of_week: true },
            Item::Numeric(Numeric::Nanosecond, _) => Part::Fraction,
            Item::Fixed(Fixed::Nanosecond) => Part::PointAndFraction,
            item => Part::Item(item),
        };
        let parts = items.into_iter().map(part).collect();
        Ok(Self { pattern: pattern.to_owned(), is_unixepoch: false, parts })
    }

    /// Returns the date as SQLite's functions read it: `2024-01-31`, with a time and an offset if the format has them.
    pub fn convert(&self, field: &str) -> Result<String, NoDate> {
        let parsed = self.parse(field.trim()).ok_or(NoDate::OtherForm)?;
        if parsed.offset().is_some() || parsed.timestamp().is_some() {
            let moment = parsed.to_datetime().ok().filter(|moment| has_four_digits(moment.year()));
            return self.of_moment(&moment.ok_or(NoDate::OtherForm)?);
        }
        if let Ok(moment) = parsed.to_naive_datetime_with_offset(0) {
            return self.of_local(&moment);
        }
        // A time that is not complete must not get lost behind a date, nor a date behind a time.
        let date = parsed.to_naive_date().ok().filter(|_| !has_time(&parsed));
        let time = parsed.to_naive_time().ok().filter(|_| !has_date(&parsed));
        match (date, time) {
            (Some(date), _) if self.is_unixepoch => self.of_local(&date.and_time(NaiveTime::MIN)),
            (Some(date), _) => Ok(of_date(date)),
            (None, Some(time)) if !self.is_unixepoch => Ok(time.format("%H:%M:%S%.f").to_string()),
            _ => Err(NoDate::OtherForm),
        }
    }

    /// Returns the fields of a date. `None` if the text has another form.
    fn parse(&self, text: &str) -> Option<Parsed> {
        let (mut parsed, mut rest) = (Parsed::new(), text);
        for part in &self.parts {
            rest = part.take(&mut parsed, rest)?;
        }
        complete(&mut parsed)?;
        rest.is_empty().then_some(parsed)
    }

    fn of_moment(&self, moment: &DateTime<FixedOffset>) -> Result<String, NoDate> {
        if self.is_unixepoch {
            seconds(moment.timestamp(), moment.nanosecond())
        } else {
            Ok(moment.format("%Y-%m-%d %H:%M:%S%.f%:z").to_string())
        }
    }

    fn of_local(&self, moment: &NaiveDateTime) -> Result<String, NoDate> {
        if self.is_unixepoch {
            seconds(moment.and_utc().timestamp(), moment.nanosecond())
        } else {
            Ok(moment.format("%Y-%m-%d %H:%M:%S%.f").to_string())
        }
    }
}

impl Part {
    /// Reads the part at the beginning of a text. Returns the rest of the text.
    fn take<'t>(&self, parsed: &mut Parsed, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Item(item) => parse_and_remainder(parsed, text, std::iter::once(item)).ok(),
            Self::Year { is_of_week } => {
                let (year, rest) = text.trim_start().split_at_checked(4).filter(|(year, _)| are_digits(year))?;
                let year = year.parse().ok()?;
                if *is_of_week { parsed.set_isoyear(year) } else { parsed.set_year(year) }.ok()?;
                Some(rest)
            }
            Self::Fraction => take_fraction(parsed, text),
            Self::PointAndFraction => match text.strip_prefix('.') {
                Some(text) => take_fraction(parsed, text),
                None => Some(text),
            },
        }
    }
}

/// Returns the items of an item: `%+` stands for all of an RFC 3339 date.
fn spelled_out(item: Item<'static>) -> Vec<Item<'static>> {
    if item != Item::Fixed(Fixed::RFC3339) {
        return vec![item];
    }
    let moment = StrftimeItems::new("%Y-%m-%dT%H:%M:%S%.f");
    moment.chain([Item::Fixed(Fixed::TimezoneOffsetColonZ)]).collect()
}

/// Reads the decimals of a second. Digits behind the ninth must be zeros, so that none gets lost.
fn take_fraction<'t>(parsed: &mut Parsed, text: &'t str) -> Option<&'t str> {
    const MOST_DIGITS: usize = 9;
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(count);
    let (kept, cut) = digits.split_at(count.min(MOST_DIGITS));
    if kept.is_empty() || cut.bytes().any(|digit| digit != b'0') {
        return None;
    }
    parsed.set_nanosecond(format!("{kept:0<MOST_DIGITS$}").parse().ok()?).ok()?;
    Some(rest)
}

/// Adds what a format may leave out: the century of `%y`, and minutes behind hours.
fn complete(parsed: &mut Parsed) -> Option<()> {
    let century = |year: i32| if year >= PIVOT { 19 } else { 20 };
    if let (Some(year), None, None) = (parsed.year_mod_100(), parsed.year_div_100(), parsed.year()) {
        parsed.set_year_div_100(century(year)).ok()?;
    }
    if let (Some(year), None, None) = (parsed.isoyear_mod_100(), parsed.isoyear_div_100(), parsed.isoyear()) {
        parsed.set_isoyear_div_100(century(year)).ok()?;
    }
    if parsed.hour_mod_12().is_some() && parsed.minute().is_none() && parsed.second().is_none() {
        parsed.set_minute(0).ok()?;
    }
    Some(())
}

fn has_time(parsed: &Parsed) -> bool {
    let fields = [parsed.hour_div_12(), parsed.hour_mod_12(), parsed.minute(), parsed.second(), parsed.nanosecond()];
    fields.iter().any(Option::is_some)
}

fn has_date(parsed: &Parsed) -> bool {
    let fields = [parsed.month(), parsed.day(), parsed.ordinal(), parsed.isoweek()];
    let years = [parsed.year(), parsed.year_div_100(), parsed.year_mod_100(), parsed.isoyear()];
    fields.iter().any(Option::is_some) || years.iter().any(Option::is_some) || parsed.weekday().is_some()
}

/// Returns whether SQLite's functions read the year.
fn has_four_digits(year: i32) -> bool {
    (0..=9999).contains(&year)
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the seconds since 1970. chrono counts second 60 as a billion nanoseconds of second 59; POSIX, as the next second.
fn seconds(whole: i64, nanoseconds: u32) -> Result<String, NoDate> {
    const SECOND: u32 = 1_000_000_000;
    if nanoseconds.is_multiple_of(SECOND) {
        Ok((whole + i64::from(nanoseconds / SECOND)).to_string())
    } else {
        Err(NoDate::NoWholeSecond)
    }
}

fn of_date(date: NaiveDate) -> String {
    date.format("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::{BadPattern, DateFormat, NoDate};

    fn convert(pattern: &str, field: &str, is_unixepoch: bool) -> Result<String, NoDate> {
        DateFormat { is_unixepoch, ..DateFormat::new(pattern).expect("a format") }.convert(field)
    }

    #[test]
    fn dates_become_those_of_sqlite() {
        let cases = [
            ("%d.%m.%Y", "31.01.2024", Some("2024-01-31"), Some("1706659200")),
            ("%d.%m.%Y", "31.13.2024", None, None),
            ("%d.%m.%Y", "31.01.2024 x", None, None),
            ("%m/%d/%y %H:%M", "1/31/24 9:05", Some("2024-01-31 09:05:00"), Some("1706691900")),
            ("%Y-%m-%dT%H:%M:%S%z", "2024-01-31T09:05:00+0200", Some("2024-01-31 09:05:00+02:00"), Some("1706684700")),
            ("%s", "86400", Some("1970-01-02 00:00:00+00:00"), Some("86400")),
            ("%H:%M", "9:05", Some("09:05:00"), None),
        ];
        for (pattern, field, text, seconds) in cases {
            assert_eq!(convert(pattern, field, false).ok().as_deref(), text, "{pattern} {field}");
            assert_eq!(convert(pattern, field, true).ok().as_deref(), seconds, "{pattern} {field}");
        }
    }

    /// `%f` counted nanoseconds, so that half a second became five of them. Seconds since 1970 lost their fraction in silence.
    #[test]
    fn fractions_of_a_second_are_kept() {
        let day = |time: &str| Ok(format!("2024-01-02 {time}"));
        for (pattern, field, text) in [
            ("%S.%f", "00.5", day("00:00:00.500")),
            ("%S,%f", "00,000001", day("00:00:00.000001")),
            ("%S%f", "00123456789", day("00:00:00.123456789")),
            ("%S.%f", "00.1234567890", day("00:00:00.123456789")),
            ("%S.%f", "00.1234567891", Err(NoDate::OtherForm)),
            ("%S.%f", "00.", Err(NoDate::OtherForm)),
            ("%S%.f", "00.5", day("00:00:00.500")),
            ("%S%.f", "00", day("00:00:00")),
            ("%S%.f", "00.1234567891", Err(NoDate::OtherForm)),
            ("%S%.3f", "00.250", day("00:00:00.250")),
        ] {
            let (pattern, field) = (format!("%F 00:00:{pattern}"), format!("2024-01-02 00:00:{field}"));
            let pattern = pattern.replace("00:00", "%H:%M");
            assert_eq!(convert(&pattern, &field, false), text, "{pattern} {field}");
        }
        let pattern = "%F %T%.f";
        assert_eq!(convert(pattern, "2024-01-02 00:00:00.5", true), Err(NoDate::NoWholeSecond));
        assert_eq!(convert(pattern, "2024-01-02 00:00:00.0", true), Ok("1704153600".to_owned()));
    }

    /// `31.12.69` became 2069, where strptime(3) reads 1969. `-5` and `24` were years.
    #[test]
    fn years_have_four_digits_or_the_century_of_strptime() {
        for (pattern, field, text) in [
            ("%d.%m.%y", "31.12.69", Ok("1969-12-31")),
            ("%d.%m.%y", "31.12.68", Ok("2068-12-31")),
            ("%D", "12/31/99", Ok("1999-12-31")),
            ("%C%y", "2069", Err(NoDate::OtherForm)),
            ("%C%y-%m-%d", "2069-01-02", Ok("2069-01-02")),
            ("%Y%m%d", "20240131", Ok("2024-01-31")),
            ("%G-W%V-%u", "2024-W01-1", Ok("2024-01-01")),
            ("%d.%m.%Y", "1.2.0024", Ok("0024-02-01")),
            ("%d.%m.%Y", "1.2.24", Err(NoDate::OtherForm)),
            ("%d.%m.%Y", "1.2.-5", Err(NoDate::OtherForm)),
            ("%d.%m.%Y", "1.2.+2024", Err(NoDate::OtherForm)),
            ("%d.%m.%Y", "1.2.12024", Err(NoDate::OtherForm)),
            ("%Y", "2024", Err(NoDate::OtherForm)),
            ("%+", "2024-01-02T03:04:05.5Z", Ok("2024-01-02 03:04:05.500+00:00")),
            ("%+", "24-01-02T03:04:05Z", Err(NoDate::OtherForm)),
            ("%s", "1704153600000", Err(NoDate::OtherForm)),
        ] {
            assert_eq!(convert(pattern, field, false).as_deref(), text.as_deref(), "{pattern} {field}");
        }
    }

    /// Second 60 became 59. A date lost an incomplete time or its offset, and a time lost an incomplete date.
    #[test]
    fn no_part_of_a_moment_gets_lost() {
        for (pattern, field, text, seconds) in [
            ("%F %T", "2024-01-01 23:59:60", Ok("2024-01-01 23:59:60"), Ok("1704153600")),
            ("%F %H", "2024-01-02 09", Ok("2024-01-02 09:00:00"), Ok("1704186000")),
            ("%F %I", "2024-01-02 09", Err(NoDate::OtherForm), Err(NoDate::OtherForm)),
            ("%F%z", "2024-01-02+0100", Err(NoDate::OtherForm), Err(NoDate::OtherForm)),
            ("%d.%m. %H:%M", "02.01. 09:00", Err(NoDate::OtherForm), Err(NoDate::OtherForm)),
        ] {
            assert_eq!(convert(pattern, field, false).as_deref(), text.as_deref(), "{pattern} {field}");
            assert_eq!(convert(pattern, field, true).as_deref(), seconds.as_deref(), "{pattern} {field}");
        }
    }

    /// The name of a zone was read and ignored: 9 o'clock in Tokyo became 9 o'clock in Greenwich.
    #[test]
    fn names_of_zones_are_refused() {
        assert_eq!(DateFormat::new("%F %T %Z"), Err(BadPattern::ZoneName));
        assert_eq!(DateFormat::new("%Q"), Err(BadPattern::Unknown));
        assert_eq!(convert("%F %T UTC", "2024-01-02 00:00:00 UTC", true), Ok("1704153600".to_owned()));
    }
}
