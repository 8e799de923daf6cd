//! Rewrites fields of CSV as the caller asks, as texts of SQLite: numbers with other marks, words for true and false, dates.
//! `litepress_rows::encode` makes values of them, as of any text.
//!
//! Numbers and words are converted in columns that hold nothing else. Any other column is TEXT and keeps its texts. Dates are
//! converted in the columns that the caller names; a value of another form is an error of its record.

use super::date_format::{BadPattern, DateFormat, NoDate};
use crate::options::ValueOptions;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};

/// The conversion of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Numbers, and words for true and false.
    Values(ValueOptions),
    /// Dates of this format.
    Date(DateFormat),
}

/// A field as a scan for types sees it.
pub(super) enum FieldClass {
    /// The field is text as it stands, although it looks like a number.
    Text,
    /// The field has no other form.
    Same,
    Boolean(bool),
    /// A number as SQLite reads it, or a date.
    To(String),
}

impl ValueOptions {
    /// Returns whether fields stay as they are.
    fn is_empty(&self) -> bool {
        *self == Self { dates: self.dates.clone(), ..Self::default() }
    }

    /// Returns the conversion of a column of this name, if it has one.
    pub(super) fn conversion(&self, column: &str) -> Option<Conversion> {
        match self.dates.iter().find(|(name, _)| name.eq_ignore_ascii_case(column)) {
            Some((_, pattern)) => DateFormat::new(pattern).ok().map(Conversion::Date),
            None => (!self.is_empty()).then(|| Conversion::Values(self.clone())),
        }
    }

    /// Checks that no mark has two roles, and that date formats are known.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for the first contradiction.
    pub(super) fn check(&self) -> Result<()> {
        let usage = |message: String, option: OptionName| {
            Err(Error::new(ErrorKind::Usage, message).advise(message!["choose another value for ", option.alone()]))
        };
        let is_mark = |mark: &char| !mark.is_ascii_alphanumeric() && !"+-".contains(*mark);
        let marks = [(self.decimal, OptionName::Decimal), (self.thousands, OptionName::Thousands)];
        for (mark, option) in marks.into_iter().filter_map(|(mark, option)| Some((mark?, option))) {
            if !is_mark(&mark) {
                return usage(format!("'{mark}' cannot be a mark within numbers"), option);
            }
        }
        if self.thousands.is_some_and(|thousands| thousands == self.decimal_mark()) {
            let message = format!("'{}' cannot mark both decimals and thousands", self.decimal_mark());
            return usage(message, OptionName::Decimal);
        }
        if let Some(word) = self.true_words.iter().find(|word| self.false_words.contains(word)) {
            return usage(format!("'{word}' cannot mean both true and false"), OptionName::False);
        }
        for (column, pattern) in &self.dates {
            match DateFormat::new(pattern) {
                Ok(_) => {}
                Err(BadPattern::Unknown) => {
                    let message = format!("'{pattern}', for column {column}, is not a format of dates");
                    return usage(message, OptionName::DateFormat);
                }
                Err(BadPattern::ZoneName) => return Err(zone_name(pattern, column)),
            }
        }
        Ok(())
    }

    fn decimal_mark(&self) -> char {
        self.decimal.unwrap_or('.')
    }

    fn convert(&self, field: &str) -> FieldClass {
        if self.true_words.iter().any(|word| word == field) {
            return FieldClass::Boolean(true);
        }
        if self.false_words.iter().any(|word| word == field) {
            return FieldClass::Boolean(false);
        }
        match self.number(field) {
            Some(number) if number == field => FieldClass::Same,
            Some(number) => FieldClass::To(number),
            // With decimal commas, 1.5 is not one and a half.
            None if self.decimal_mark() != '.' && field.parse::<f64>().is_ok() => FieldClass::Text,
            None => FieldClass::Same,
        }
    }

    /// Returns a number in these marks as SQLite reads it. `None` if the field is not one.
    fn number(&self, field: &str) -> Option<String> {
        let bare = self.without_currency(field.trim());
        let (sign, rest) = match bare.strip_prefix('-') {
            Some(rest) => ("-", self.without_currency(rest)),
            None => ("", bare),
        };
        let (mantissa, exponent) = rest.find(['e', 'E']).map_or((rest, ""), |at| rest.split_at(at));
        let (whole, decimals) = match mantissa.split_once(self.decimal_mark()) {
            Some((whole, decimals)) => (whole, Some(decimals)),
            None => (mantissa, None),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let digits = match self.thousands {
            Some(mark) if whole.contains(|other| is_mark(other, mark)) => without_marks(whole, mark)?,
            _ => whole.to_owned(),
        };
        let exponent_digits = exponent.get(1..).unwrap_or("");
        let exponent_digits = exponent_digits.strip_prefix(['+', '-']).unwrap_or(exponent_digits);
        let is_number = is_digits(&digits)
            && decimals.is_none_or(is_digits)
            && !(digits.is_empty() && decimals.is_none_or(str::is_empty))
            && (exponent.is_empty() || (!exponent_digits.is_empty() && is_digits(exponent_digits)));
        // Trailing zeros would make a text of a number, and these texts change in any case.
        let decimals = decimals.map_or("", |decimals| match decimals.trim_end_matches('0') {
            "" if !decimals.is_empty() => "0",
            shorter => shorter,
        });
        let decimals = if decimals.is_empty() { String::new() } else { format!(".{decimals}") };
        is_number.then(|| format!("{sign}{digits}{decimals}{exponent}"))
    }

    fn without_currency<'f>(&self, field: &'f str) -> &'f str {
        let bare = self.currency.iter().find_map(|sign| {
            let rest = field.strip_prefix(sign.as_str()).or_else(|| field.strip_suffix(sign.as_str()));
            rest.map(str::trim)
        });
        bare.unwrap_or(field)
    }
}

/// Returns whether a character is the mark between thousands. A space may be one that does not break lines.
fn is_mark(character: char, mark: char) -> bool {
    character == mark || (mark == ' ' && matches!(character, '\u{a0}' | '\u{202f}'))
}

/// Returns digits without the marks between thousands. `None` if a mark is somewhere else.
fn without_marks(whole: &str, mark: char) -> Option<String> {
    let groups: Vec<&str> = whole.split(|character| is_mark(character, mark)).collect();
    let is_group = |group: &&str| group.len() == 3;
    let is_first = (1..=3).contains(&groups[0].len());
    (is_first && groups[1..].iter().all(is_group)).then(|| groups.concat())
}

impl Conversion {
    /// Returns a nonempty field as a scan for types sees it.
    pub fn see(&self, field: &str) -> FieldClass {
        match self {
            Self::Values(values) => values.convert(field),
            Self::Date(format) => format.convert(field).map_or(FieldClass::Text, FieldClass::To),
        }
    }

    /// Returns the text to store for a field, or `None` for the field itself.
    ///
    /// # Errors
    /// If a field is not a date of the column's format.
    pub fn text(&self, field: &str) -> Result<Option<String>> {
        if field.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Values(values) => Ok(match values.convert(field) {
                FieldClass::Boolean(value) => Some(u8::from(value).to_string()),
                FieldClass::To(text) => Some(text),
                FieldClass::Same | FieldClass::Text => None,
            }),
            Self::Date(format) => format.convert(field).map(Some).map_err(|why| no_date(why, format)),
        }
    }
}

/// Returns the error for a format that reads the name of a zone.
fn zone_name(pattern: &str, column: &str) -> Error {
    let message =
        format!("'{pattern}', for column {column}, has %Z: the name of a zone does not say its offset from UTC");
    let error = Error::new(ErrorKind::Usage, message);
    error.advise("%z reads offsets such as +0200; if all values have the same name, write the name itself")
}

fn no_date(why: NoDate, format: &DateFormat) -> Error {
    match why {
        NoDate::OtherForm => {
            let error = Error::new(ErrorKind::Data, format!("the value is not a date like {}", format.pattern));
            error.advise(message!["state the format of all values with ", OptionName::DateFormat.alone()])
        }
        NoDate::NoWholeSecond => {
            let error = Error::new(ErrorKind::Data, "the value is not a whole number of seconds");
            error.advise(message!["store it as text: leave out ", OptionName::StoreAs.alone()])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Conversion, FieldClass};
    use crate::options::ValueOptions;

    #[test]
    fn numbers_are_read_by_their_marks() {
        let german = ValueOptions { decimal: Some(','), thousands: Some('.'), ..ValueOptions::default() };
        let german = ValueOptions { currency: vec!["€".to_owned(), "EUR".to_owned()], ..german };
        let cases = [
            ("1.234,50", Some("1234.5")),
            ("-1.234.567", Some("-1234567")),
            ("1,5", Some("1.5")),
            ("1.234,50 €", Some("1234.5")),
            ("5,00", Some("5.0")),
            ("5,", Some("5")),
            ("EUR -5", Some("-5")),
            ("-€5", Some("-5")),
            ("1,5e-3", Some("1.5e-3")),
            ("17", Some("17")),
            ("1.5", None),
            ("12.34,5", None),
            ("1234.567", None),
            ("1,2,3", None),
            ("€", None),
            ("", None),
            (",", None),
        ];
        for (field, number) in cases {
            assert_eq!(german.number(field).as_deref(), number, "{field}");
        }
        let spaced = ValueOptions { thousands: Some(' '), ..ValueOptions::default() };
        assert_eq!(spaced.number("1\u{a0}234 567.5").as_deref(), Some("1234567.5"));
        assert!(matches!(german.convert("1.5"), FieldClass::Text));
    }

    #[test]
    fn contradictions_are_refused() {
        let options = ValueOptions::default();
        let wrong = [
            ValueOptions { decimal: Some('5'), ..options.clone() },
            ValueOptions { thousands: Some('.'), ..options.clone() },
            ValueOptions { true_words: vec!["x".into()], false_words: vec!["x".into()], ..options.clone() },
            ValueOptions { dates: vec![("a".into(), "%Q".into())], ..options.clone() },
        ];
        for options in wrong {
            options.check().unwrap_err();
        }
        assert_eq!(options.conversion("a"), None);
        let dated = ValueOptions { dates: vec![("A".into(), "%Y".into())], ..options };
        assert!(matches!(dated.conversion("a"), Some(Conversion::Date(_))));
        assert_eq!(dated.conversion("b"), None);
    }
}
