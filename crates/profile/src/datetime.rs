//! Dates and times in texts.

use crate::annotation_text::quoted;
use crate::histogram::{Precision, whole_histogram};
use litepress_rows::calendar::{Date, DateTime, SECONDS_PER_DAY};

/// Units of offsets, largest first.
const UNITS: [(i64, &str); 4] = [(86_400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds")];

/// The format of times: `2024-05-17T10:00:00.250Z`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimeFormat {
    /// Characters before the fraction.
    len: usize,
    /// Separator of date and time.
    mark: char,
    /// Digits after the decimal point, and whether all are 0.
    fraction: usize,
    is_whole: bool,
    /// The ends of instants with their numbers of texts, most frequent first; empty for local times.
    zones: Vec<(String, u64)>,
}

impl TimeFormat {
    /// Returns the format of a text with its zone.
    fn of(text: &str) -> Option<(Self, &str)> {
        let zone = zone(text);
        let time = &text[..text.len() - zone.len()];
        let (time, fraction) = time.split_once('.').map_or((time, ""), |(time, fraction)| (time, fraction));
        DateTime::parse(time.as_bytes())?;
        let is_fraction = fraction.bytes().all(|byte| byte.is_ascii_digit()) && fraction.len() <= 9;
        let (mark, is_whole) = (time.chars().nth(10).unwrap_or(' '), fraction.bytes().all(|digit| digit == b'0'));
        let format = Self { len: time.len(), mark, fraction: fraction.len(), is_whole, zones: Vec::new() };
        is_fraction.then_some((format, zone))
    }

    /// Returns the format of all texts, whose fractions and offsets may differ: whole seconds have none beside others of
    /// six digits.
    fn of_all(texts: &[Box<str>]) -> Option<Self> {
        /// Most offsets from UTC; more would be those of single rows.
        const ZONES: usize = 6;
        let (mut format, first) = Self::of(texts.first()?)?;
        let mut zones: Vec<(String, u64)> = Vec::new();
        for text in texts {
            let (other, zone) = Self::of(text)?;
            let is_alike = (other.len, other.mark, zone.is_empty()) == (format.len, format.mark, first.is_empty());
            // One instant has one way to say UTC.
            if !is_alike || zone.ends_with('Z') != first.ends_with('Z') {
                return None;
            }
            format.fraction = format.fraction.max(other.fraction);
            format.is_whole &= other.is_whole;
            match zones.iter_mut().find(|(known, _)| known == zone) {
                Some((_, count)) => *count += 1,
                None => zones.push((zone.to_owned(), 1)),
            }
        }
        zones.sort_by(|(one, of_one), (other, of_other)| of_other.cmp(of_one).then(one.cmp(other)));
        zones.truncate(ZONES);
        format.zones = if first.is_empty() { Vec::new() } else { zones };
        Some(format)
    }

    /// Returns the annotation for texts of this format, made of one for times as `date_add` writes them.
    fn written(&self, mut annotation: String) -> String {
        if self.len == "2024-05-17 10:00".len() {
            annotation = format!("substr({annotation}, 1, {})", self.len);
        }
        if self.mark != ' ' {
            annotation = format!("replace({annotation}, ' ', {})", quoted(&self.mark.to_string()));
        }
        match self.fraction {
            0 => {}
            digits if self.is_whole => annotation = format!("{annotation} || '.{}'", "0".repeat(digits)),
            digits => annotation = format!("{annotation} || '.' || digits({digits})"),
        }
        match &self.zones[..] {
            [] => annotation,
            [(zone, _)] => format!("{annotation} || '{zone}'"),
            zones => {
                let zones: Vec<String> = zones.iter().map(|(zone, count)| format!("'{zone}': {count}")).collect();
                format!("{annotation} || choice({})", zones.join(", "))
            }
        }
    }
}

/// Returns the end of a text that is a zone: `Z` or an offset such as `+02:00` or `-0530`.
fn zone(text: &str) -> &str {
    let is_like = |mask: &str| {
        text.len() >= "2024-05-17 10:00".len() + mask.len()
            && text.is_char_boundary(text.len() - mask.len())
            && text[text.len() - mask.len()..].bytes().zip(mask.bytes()).all(|(byte, mask)| match mask {
                b'0' => byte.is_ascii_digit(),
                b'+' => matches!(byte, b'+' | b'-'),
                _ => byte == mask,
            })
    };
    ["Z", "+00:00", "+0000"].into_iter().find(|mask| is_like(mask)).map_or("", |mask| &text[text.len() - mask.len()..])
}

/// Times of one format.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    pub format: TimeFormat,
    /// Seconds of a unit that divides all, and its name.
    pub unit: (i64, &'static str),
    /// The first day of the year in which most of the times begin, in seconds from 1970.
    base: i64,
    /// The times in units from there.
    offsets: Vec<i64>,
}

impl Times {
    /// Reads texts that are all dates or times of one format.
    pub fn of(texts: &[Box<str>]) -> Option<Self> {
        let format = TimeFormat::of_all(texts)?;
        let time = |text: &str| DateTime::parse(text.as_bytes().get(..format.len)?).map(DateTime::seconds);
        let mut times = texts.iter().map(|text| time(text)).collect::<Option<Vec<i64>>>()?;
        times.sort_unstable();
        let early = Date::from_days(times[times.len() / 8].div_euclid(SECONDS_PER_DAY));
        let base = Date { month: 1, day: 1, ..early }.days() * SECONDS_PER_DAY;
        let unit = UNITS.into_iter().find(|(unit, _)| times.iter().all(|time| (time - base) % unit == 0))?;
        let offsets = times.iter().map(|time| (time - base) / unit.0).collect();
        Some(Self { format, unit, base, offsets })
    }

    /// Returns whether both have a day only, or both have a time of day as precise.
    pub fn is_as_long_as(&self, other: &Self) -> bool {
        self.format.len == other.format.len
    }

    /// Returns the seconds from 1970 of a text of the format.
    pub fn second(&self, text: &str) -> Option<f64> {
        DateTime::parse(text.as_bytes().get(..self.format.len)?).map(|time| time.seconds() as f64)
    }

    /// Returns the annotation for times at these offsets.
    fn at(&self, offsets: &str) -> String {
        let year = Date::from_days(self.base.div_euclid(SECONDS_PER_DAY)).year;
        let time = &" 00:00:00"[..self.format.len - "2024-05-17".len()];
        self.format.written(format!("date_add('{year:04}-01-01{time}', {offsets}, '{}')", self.unit.1))
    }

    /// Returns the annotation for times that are `offsets` after those of a column of the same row.
    pub fn after(&self, column: &str, offsets: &str) -> String {
        let start = match self.format.fraction + self.format.zones.len() {
            0 => column.to_owned(),
            _ => format!("substr({column}, 1, {})", self.format.len),
        };
        self.format.written(format!("date_add({start}, {offsets}, '{}')", self.unit.1))
    }

    /// Returns the distribution of the offsets as a histogram.
    fn histogram(&self, precision: Precision) -> String {
        /// Texts that are too few to hide one among them are spread over a year.
        const FEW: usize = 5;
        if self.offsets.len() < FEW && !precision.is_exact {
            let year = 366 * SECONDS_PER_DAY / self.unit.0;
            let of = |at: &i64| at.div_euclid(year);
            let (first, last) = (self.offsets.first().map_or(0, of), self.offsets.last().map_or(0, of));
            return format!("histogram({}: {}, {})", first * year, self.offsets.len(), (last + 1) * year);
        }
        let (least, largest) = (self.offsets[0], self.offsets[self.offsets.len() - 1]);
        whole_histogram(self.offsets.iter().map(|offset| *offset as f64).collect(), least, largest, precision).0
    }

    /// Returns the annotation for times of the same distribution.
    pub fn distributed(&self, precision: Precision) -> String {
        self.at(&self.histogram(precision))
    }

    /// Returns the annotation for times of the same distribution that ascend with the rows.
    pub fn ascending(&self, precision: Precision) -> String {
        self.at(&self.histogram(precision).replacen("histogram(", "ascending(", 1))
    }
}

/// Returns the annotation for texts that are all dates or times of one format; `unique` is the number of texts if all
/// differ.
pub(crate) fn of(texts: &[Box<str>], unique: Option<u64>, precision: Precision) -> Option<(String, String)> {
    if texts.is_empty() {
        return None;
    }
    if let Some(found) = of_day(texts, precision).filter(|_| unique.is_none()) {
        return Some((found, "times of day with this distribution".to_owned()));
    }
    let times = Times::of(texts)?;
    let annotation = match unique {
        None => times.distributed(precision),
        Some(texts) => {
            let steps = i64::try_from(texts.saturating_sub(1)).unwrap_or(i64::MAX).max(1);
            let (first, last) = (times.offsets[0], times.offsets[times.offsets.len() - 1]);
            times.at(&format!("sequence({first}, {})", ((last - first) / steps).max(1)))
        }
    };
    let because = if times.format.len == 10 { "dates with this distribution" } else { "times with this distribution" };
    Some((annotation, because.to_owned()))
}

/// Returns the annotation for times of day such as `10:00` or `10:00:00`.
fn of_day(texts: &[Box<str>], precision: Precision) -> Option<String> {
    let len = texts[0].len();
    let second = |text: &str| -> Option<i64> {
        let minutes = DateTime::parse(format!("2000-01-01 {text}").as_bytes())?.second;
        minutes.filter(|_| text.len() == len)
    };
    let seconds = texts.iter().map(|text| second(text)).collect::<Option<Vec<i64>>>()?;
    let (unit, name) = UNITS.into_iter().skip(1).find(|(unit, _)| seconds.iter().all(|second| second % unit == 0))?;
    let offsets: Vec<f64> = seconds.iter().map(|second| (second / unit) as f64).collect();
    let (least, largest) = (seconds.iter().min()? / unit, seconds.iter().max()? / unit);
    let histogram = whole_histogram(offsets, least, largest, precision).0;
    Some(format!("substr(date_add('2000-01-01 00:00:00', {histogram}, '{name}'), 12, {len})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str], unique: Option<u64>) -> Option<String> {
        let texts: Vec<Box<str>> = texts.iter().map(|text| Box::from(*text)).collect();
        of(&texts, unique, Precision::new(true)).map(|(annotation, _)| annotation)
    }

    #[test]
    fn times_keep_their_form() {
        for (texts, expected) in [
            (&["2020-05-17", "2020-05-15"][..], Some("date_add('2020-01-01', histogram(135: 1, 137: 1, 138), 'days')")),
            (
                &["2020-05-17 00:00:00", "2020-05-16 00:00:00"],
                Some("date_add('2020-01-01 00:00:00', histogram(136: 1, 137: 1, 138), 'days')"),
            ),
            (
                &["2020-05-17 10:00"],
                Some("substr(date_add('2020-01-01 00:00', histogram(3298: 1, 3299), 'hours'), 1, 16)"),
            ),
            (
                &["2020-01-01T10:00:00.123Z"],
                Some(
                    "replace(date_add('2020-01-01 00:00:00', histogram(10: 1, 11), 'hours'), ' ', 'T') || '.' || digits(3) || 'Z'",
                ),
            ),
            // Times of Arrow and of Python: whole seconds have no fraction.
            (
                &["2020-01-02 10:00:00.500000+00:00", "2020-01-01 10:00:00+00:00"],
                Some(
                    "date_add('2020-01-01 00:00:00', histogram(10: 1, 34: 1, 35), 'hours') || '.' || digits(6) || '+00:00'",
                ),
            ),
            (&["2020-05-17 10:00:00+00:00", "2020-05-17 10:00:00Z"], None),
            (&["2020-05-17", "2020-05-17 10:00"], None),
            // A shorter text after a longer one was cut beyond its end, and one of other characters within a
            // character.
            (&["2020-05-17 10:00", "2020-05-17"], None),
            (&["2020-05-17", ""], None),
            (&["2020-05-17", "2020-05-é\u{e9}7"], None),
            (&["2020-13-17"], None),
            (&["10:00", "24:00"], None),
            (&["10:00", "10:00:00"], None),
            (&["Anna"], None),
            (&[], None),
        ] {
            assert_eq!(found(texts, None).as_deref(), expected, "{texts:?}");
        }
        let unique = found(&["2020-05-17", "2020-05-31", "2020-05-24"], Some(3));
        assert_eq!(unique.as_deref(), Some("date_add('2020-01-01', sequence(137, 7), 'days')"));
    }

    /// `2020-01-01T00:16:37+02:00` became a pattern of digits: `2020-08-88T65:99:53+02:00`; `10:30` became `73:41`. All
    /// fractions of a database were `.000`, and became any.
    #[test]
    fn offsets_minutes_and_constant_fractions_are_times() {
        for (texts, expected) in [
            (
                &["2020-01-01T10:00:00+02:00"][..],
                "replace(date_add('2020-01-01 00:00:00', histogram(10: 1, 11), 'hours'), ' ', 'T') || '+02:00'",
            ),
            (
                &["2020-01-01 10:00:00-0530", "2020-01-01 10:00:00+0000", "2020-01-01 10:00:00+0000"],
                "date_add('2020-01-01 00:00:00', histogram(10: 3, 11), 'hours') || choice('+0000': 2, '-0530': 1)",
            ),
            (
                &["1996-01-04 00:00:00.000", "1996-01-05 00:00:00.000"],
                "date_add('1996-01-01 00:00:00', histogram(3: 1, 4: 1, 5), 'days') || '.000'",
            ),
            (
                &["10:30", "11:59"],
                "substr(date_add('2000-01-01 00:00:00', histogram(630: 1, 719: 1, 720), 'minutes'), 12, 5)",
            ),
            (
                &["10:00:00", "11:59:59"],
                "substr(date_add('2000-01-01 00:00:00', histogram(36000: 1, 43199: 1, 43200), 'seconds'), 12, 8)",
            ),
        ] {
            assert_eq!(found(texts, None).as_deref(), Some(expected), "{texts:?}");
        }
    }

    /// The day of the oldest person was the start of all days.
    #[test]
    fn no_day_of_a_single_row_is_told() {
        let days: Vec<Box<str>> = (0..40)
            .map(|n| {
                Box::from(if n == 7 { "1910-12-07".to_owned() } else { format!("19{}-0{}-13", 60 + n % 30, 1 + n % 9) })
            })
            .collect();
        let (annotation, _) = of(&days, None, Precision::new(false)).expect("they are dates");
        assert!(annotation.starts_with("date_add('1962-01-01', histogram("), "{annotation}");
        let first: i64 =
            annotation["date_add('1962-01-01', histogram(".len()..].split(':').next().unwrap().parse().unwrap();
        assert!(first > -3000, "{annotation}");
        let single = of(&days[7..8], None, Precision::new(false)).expect("it is a date").0;
        assert_eq!(single, "date_add('1910-01-01', histogram(0: 1, 366), 'days')");
    }
}
