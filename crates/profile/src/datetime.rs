//! Dates and times in texts.

use crate::annotation_text::quoted;
use crate::histogram::whole_histogram;
use litepress_rows::calendar::DateTime;

/// Units of offsets, largest first.
const UNITS: [(i64, &str); 4] = [(86_400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds")];

/// Ends of the texts of instants in UTC.
const ZONES: [&str; 2] = ["Z", "+00:00"];

/// The format of times: `2024-05-17T10:00:00.250Z`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimeFormat {
    /// Characters before the fraction.
    len: usize,
    /// Separator of date and time.
    mark: char,
    /// Digits after the decimal point.
    fraction: usize,
    /// The end of instants, empty for local times.
    zone: &'static str,
}

impl TimeFormat {
    fn of(text: &str) -> Option<Self> {
        let zone = ZONES.into_iter().find(|zone| text.ends_with(zone)).unwrap_or_default();
        let time = &text[..text.len() - zone.len()];
        let (time, fraction) = time.split_once('.').map_or((time, ""), |(time, fraction)| (time, fraction));
        DateTime::parse(time.as_bytes())?;
        let is_fraction = fraction.bytes().all(|byte| byte.is_ascii_digit()) && fraction.len() <= 9;
        let mark = time.chars().nth(10).unwrap_or(' ');
        is_fraction.then_some(Self { len: time.len(), mark, fraction: fraction.len(), zone })
    }

    /// Returns the format of all texts, whose fractions may differ: whole seconds have none beside others of six digits.
    fn of_all(texts: &[Box<str>]) -> Option<Self> {
        let mut format = Self::of(texts.first()?)?;
        for text in texts {
            let other = Self::of(text)?;
            format.fraction = format.fraction.max(other.fraction);
            if (Self { fraction: format.fraction, ..other }) != format {
                return None;
            }
        }
        Some(format)
    }

    /// Returns the annotation for texts of this format, made of one for times as `date_add` writes them.
    fn written(self, mut annotation: String) -> String {
        if self.len == "2024-05-17 10:00".len() {
            annotation = format!("substr({annotation}, 1, {})", self.len);
        }
        if self.mark != ' ' {
            annotation = format!("replace({annotation}, ' ', {})", quoted(&self.mark.to_string()));
        }
        match self.fraction {
            0 => {}
            digits => annotation = format!("{annotation} || '.' || digits({digits})"),
        }
        if self.zone.is_empty() { annotation } else { format!("{annotation} || '{}'", self.zone) }
    }
}

/// Returns the annotation for texts that are all dates or times of one format; `unique` is the number of texts if all
/// differ.
pub(crate) fn of(texts: &[Box<str>], unique: Option<u64>) -> Option<(String, String)> {
    if texts.is_empty() {
        return None;
    }
    if texts.iter().all(|text| is_time_of_day(text)) && unique.is_none() {
        return Some(("time_of_day".to_owned(), "they look like times of day".to_owned()));
    }
    let format = TimeFormat::of_all(texts)?;
    let time = |text: &str| DateTime::parse(text.as_bytes().get(..format.len)?).map(DateTime::seconds);
    let all: Option<Vec<i64>> = texts.iter().map(|text| time(text)).collect();
    let all = all?;
    let (least, text) = all.iter().copied().zip(texts).min()?;
    let is_of = |unit: i64| all.iter().all(|time| (time - least) % unit == 0);
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| is_of(*unit))?;
    let largest = (all.iter().max()? - least) / unit;
    let offsets = match unique {
        None => whole_histogram(all.iter().map(|time| ((time - least) / unit) as f64).collect(), 0, largest).0,
        Some(texts) => {
            let steps = i64::try_from(texts.saturating_sub(1)).unwrap_or(i64::MAX).max(1);
            format!("sequence(0, {})", (largest / steps).max(1))
        }
    };
    let from = text[..format.len].replace(format.mark, " ");
    let because = if format.len == 10 { "dates with this distribution" } else { "times with this distribution" };
    Some((format.written(format!("date_add({}, {offsets}, '{name}')", quoted(&from))), because.to_owned()))
}

/// Returns whether this is a time of day such as `10:00:00`.
fn is_time_of_day(text: &str) -> bool {
    let is_like = |(byte, mask): (u8, u8)| if mask == b'0' { byte.is_ascii_digit() } else { byte == mask };
    text.len() == 8 && text.bytes().zip(*b"00:00:00").all(is_like)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_form() {
        let found = |texts: &[&str], unique: Option<u64>| {
            let texts: Vec<Box<str>> = texts.iter().map(|text| Box::from(*text)).collect();
            of(&texts, unique).map(|(annotation, _)| annotation)
        };
        for (texts, expected) in [
            (&["2020-05-17", "2020-05-15"][..], Some("date_add('2020-05-15', histogram(0: 2, 3), 'days')")),
            (
                &["2020-05-17 00:00:00", "2020-05-16 00:00:00"],
                Some("date_add('2020-05-16 00:00:00', histogram(0: 2, 2), 'days')"),
            ),
            (&["2020-05-17 10:00"], Some("substr(date_add('2020-05-17 10:00', histogram(0: 1, 1), 'days'), 1, 16)")),
            (
                &["2020-05-17T10:00:00.123Z"],
                Some(
                    "replace(date_add('2020-05-17 10:00:00', histogram(0: 1, 1), 'days'), ' ', 'T') || '.' || digits(3) || 'Z'",
                ),
            ),
            // Times of Arrow and of Python: whole seconds have no fraction.
            (
                &["2020-05-17 10:00:00.500000+00:00", "2020-05-17 10:00:00+00:00"],
                Some("date_add('2020-05-17 10:00:00', histogram(0: 2, 1), 'days') || '.' || digits(6) || '+00:00'"),
            ),
            (&["2020-05-17 10:00:00+00:00", "2020-05-17 10:00:00Z"], None),
            (&["10:00:00", "11:59:59"], Some("time_of_day")),
            (&["2020-05-17", "2020-05-17 10:00"], None),
            // A shorter text after a longer one was cut beyond its end, and one of other characters within a
            // character.
            (&["2020-05-17 10:00", "2020-05-17"], None),
            (&["2020-05-17", ""], None),
            (&["2020-05-17", "2020-05-é\u{e9}7"], None),
            (&["2020-13-17"], None),
            (&["Anna"], None),
            (&[], None),
        ] {
            assert_eq!(found(texts, None).as_deref(), expected, "{texts:?}");
        }
        let unique = found(&["2020-05-17", "2020-05-31", "2020-05-24"], Some(3));
        assert_eq!(unique.as_deref(), Some("date_add('2020-05-17', sequence(0, 7), 'days')"));
    }
}
