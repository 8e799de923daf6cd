//! Guesses whether the first record of a CSV file names the columns.
//!
//! Names are texts above numbers, years, and counts such as 0, 1, 2. A number above numbers is a record.

use super::field_kind::FieldKind;

/// The role of a first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstRecord {
    /// It names the columns.
    Names,
    /// It names the columns by numbers, and looks like the records below it.
    DoubtfulNames,
    /// It is a record as the others are.
    Record,
}

/// A first record and those below it.
pub(super) struct Beginning<'a> {
    /// The fields of the first record without quotes.
    pub fields: &'a [String],
    pub kinds: &'a [FieldKind],
    /// The kinds of the fields of each record below it.
    pub below: &'a [Vec<FieldKind>],
    /// A record below it has the same text.
    pub is_repeated: bool,
}

impl Beginning<'_> {
    /// Guesses the role of the first record.
    pub fn role(&self) -> FirstRecord {
        if self.below.is_empty() || has_column_of_values(self.kinds, self.below) {
            return FirstRecord::Names;
        }
        let alike: Vec<usize> = (0..self.kinds.len()).filter(|&column| self.is_alike(column)).collect();
        let has = |kinds: &[FieldKind]| alike.iter().any(|&column| kinds.contains(&self.kinds[column]));
        if alike.is_empty() {
            return FirstRecord::Names;
        }
        if self.is_repeated || has(&[FieldKind::Date, FieldKind::Time, FieldKind::Amount]) {
            return FirstRecord::Record;
        }
        let numbers: Vec<&str> = alike.iter().map(|&column| self.fields[column].as_str()).collect();
        if has(&[FieldKind::Decimal]) {
            return if are_in_order(&numbers) { FirstRecord::DoubtfulNames } else { FirstRecord::Record };
        }
        if numbers.iter().all(|number| is_year(number)) {
            return if are_in_order(&numbers) { FirstRecord::Names } else { FirstRecord::DoubtfulNames };
        }
        // pandas calls a single column 0, and leaves the name of the index empty.
        let is_series = numbers == ["0"] && self.kinds[0] == FieldKind::Empty;
        if is_series || are_counts(&numbers) { FirstRecord::DoubtfulNames } else { FirstRecord::Record }
    }

    /// Returns whether a column has a value in the first record, and such values in all records below it.
    fn is_alike(&self, column: usize) -> bool {
        let first = self.kinds[column];
        let below = self.below.iter().map(|kinds| kinds[column]);
        let mut values = below.filter(|kind| *kind != FieldKind::Empty).peekable();
        first.is_value() && values.peek().is_some() && values.all(|kind| kind.is_alike(first))
    }
}

/// Returns whether a column has values, numbers or dates, below a text.
pub(super) fn has_column_of_values(header: &[FieldKind], below: &[Vec<FieldKind>]) -> bool {
    (0..header.len()).any(|column| {
        let values = below.iter().filter_map(|kinds| kinds.get(column).copied());
        let mut values = values.filter(|kind| *kind != FieldKind::Empty).peekable();
        header[column] == FieldKind::Text && values.peek().is_some() && values.all(FieldKind::is_value)
    })
}

/// Returns whether more than two numbers ascend or descend: 0.1, 0.5, 0.9.
fn are_in_order(numbers: &[&str]) -> bool {
    let numbers: Vec<f64> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    numbers.len() > 2 && (numbers.is_sorted_by(|a, b| a < b) || numbers.is_sorted_by(|a, b| a > b))
}

fn is_year(number: &str) -> bool {
    matches!(number.as_bytes(), [b'1' | b'2', rest @ ..] if rest.len() == 3 && rest.iter().all(u8::is_ascii_digit))
}

/// Returns whether numbers count from 0 or 1.
fn are_counts(numbers: &[&str]) -> bool {
    let is_counted_from = |start: usize| numbers.iter().zip(start..).all(|(number, at)| *number == at.to_string());
    numbers.len() > 1 && (is_counted_from(0) || is_counted_from(1))
}
