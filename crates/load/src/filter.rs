//! Conditions that let a reader or a worker leave out rows early.
//!
//! A filter may keep too many rows, and the caller looks again at those that stay. It never leaves out a row that SQLite would keep:
//! values of different kinds are not compared, except numbers.

use litepress_format::record::RecordReader;
use litepress_format::sort_key::{self, Collation};
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Affinity, affinity};
use std::cmp::Ordering;

/// A comparison of a column with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A condition on one column of a row. Texts are compared by their bytes (the collation BINARY).
#[derive(Clone, Debug, PartialEq)]
pub struct RowFilter {
    /// Position of the column among those that are read.
    pub column: usize,
    /// The comparison.
    pub comparison: Comparison,
    /// The value on the right side.
    pub value: OwnedValue,
}

impl RowFilter {
    /// Returns whether a row with this value cannot meet the condition.
    #[must_use]
    pub fn excludes(&self, value: Value<'_>) -> bool {
        if matches!(value, Value::Null) || self.value == OwnedValue::Null {
            return true;
        }
        let Some(order) = self.order(value) else { return false };
        !match self.comparison {
            Comparison::Equal => order.is_eq(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }

    /// Returns whether no value from `least` to `most` can meet the condition. REQUIRES: these are numbers, or texts of which none is a
    /// number, or the comparison is not [`Less`](Comparison::Less) or [`LessOrEqual`](Comparison::LessOrEqual): numbers are less than
    /// texts.
    #[must_use]
    pub fn excludes_range(&self, least: Value<'_>, most: Value<'_>) -> bool {
        let other = self.value.as_value();
        let is_text = matches!((&least, &most, &other), (Value::Text(_), Value::Text(_), Value::Text(_)));
        let (least, most) = if is_text {
            let order = |value| sort_key::compare(&value, &other, Collation::Binary);
            (order(least), order(most))
        } else {
            let (Some(least), Some(most)) = (self.order(least), self.order(most)) else { return false };
            (least, most)
        };
        match self.comparison {
            Comparison::Equal => least.is_gt() || most.is_lt(),
            Comparison::Less => least.is_ge(),
            Comparison::LessOrEqual => least.is_gt(),
            Comparison::Greater => most.is_le(),
            Comparison::GreaterOrEqual => most.is_lt(),
        }
    }

    /// Returns whether the record of a row cannot meet the condition.
    #[must_use]
    pub fn excludes_record(&self, record: &[u8]) -> bool {
        let Ok(mut values) = RecordReader::new(record) else { return false };
        values.nth(self.column).and_then(Result::ok).is_some_and(|value| self.excludes(value))
    }

    /// Compares a value with that of the filter. `None` if they are of different kinds, or NULL.
    fn order(&self, value: Value<'_>) -> Option<Ordering> {
        let other = self.value.as_value();
        let is_number = |value: &Value<'_>| match value {
            Value::Int(_) => true,
            Value::Real(real) => !real.is_nan(),
            _ => false,
        };
        let is_alike = match (&value, &other) {
            // Compared with a column of numbers, SQLite makes a number of the first text alone.
            (Value::Text(text), Value::Text(other)) => !is_numeric(text) || is_numeric(other),
            (Value::Blob(_), Value::Blob(_)) => true,
            (value, other) => is_number(value) && is_number(other),
        };
        is_alike.then(|| sort_key::compare(&value, &other, Collation::Binary))
    }
}

/// Returns whether a column of numbers would store the text as a number.
fn is_numeric(text: &[u8]) -> bool {
    !matches!(affinity::apply(Value::Text(text), Affinity::Numeric), Value::Text(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    const COMPARISONS: [(Comparison, &str); 5] = [
        (Comparison::Equal, "="),
        (Comparison::Less, "<"),
        (Comparison::LessOrEqual, "<="),
        (Comparison::Greater, ">"),
        (Comparison::GreaterOrEqual, ">="),
    ];

    fn values() -> Vec<OwnedValue> {
        let ints = [i64::MIN, -1, 0, 1, (1 << 53) + 1, i64::MAX].map(OwnedValue::Int);
        let reals = [f64::NEG_INFINITY, -0.5, -0.0, 1.0, 9007199254740992.0, 9223372036854775808.0, f64::INFINITY];
        let texts = ["", "1", "a", "B"].map(|text| OwnedValue::Text(text.to_owned()));
        let blobs = [vec![], vec![b'a'], vec![255]].map(OwnedValue::Blob);
        let all = ints.into_iter().chain(reals.map(OwnedValue::Real)).chain(texts).chain(blobs);
        all.chain([OwnedValue::Null]).collect()
    }

    fn to_sql(value: &OwnedValue) -> rusqlite::types::Value {
        use rusqlite::types::Value as Sql;
        match value {
            OwnedValue::Null => Sql::Null,
            OwnedValue::Int(int) => Sql::Integer(*int),
            OwnedValue::Real(real) => Sql::Real(*real),
            OwnedValue::Text(text) => Sql::Text(text.clone()),
            OwnedValue::Blob(blob) => Sql::Blob(blob.clone()),
        }
    }

    /// SQLite is asked about every pair of values: a row that it keeps is never left out, and among values of one kind all others are.
    #[test]
    fn no_row_is_left_out_that_sqlite_keeps() {
        let sqlite = Connection::open_in_memory().unwrap();
        for (comparison, sign) in COMPARISONS {
            let mut ask = sqlite.prepare(&format!("SELECT ?1 {sign} ?2")).unwrap();
            for left in values() {
                for right in values() {
                    let keeps: Option<bool> = ask.query_row([to_sql(&left), to_sql(&right)], |row| row.get(0)).unwrap();
                    let filter = RowFilter { column: 0, comparison, value: right.clone() };
                    let excludes = filter.excludes(left.as_value());
                    assert!(!(excludes && keeps == Some(true)), "{left:?} {sign} {right:?}");
                    let same = filter.order(left.as_value()).is_some();
                    assert!(!same || excludes == (keeps != Some(true)), "{left:?} {sign} {right:?}");
                }
            }
        }
    }

    #[test]
    fn ranges_are_left_out_as_their_values_are() {
        let numbers: Vec<OwnedValue> = (0..6).map(OwnedValue::Int).collect();
        for (comparison, sign) in COMPARISONS {
            for (least, most) in (0..6).flat_map(|least| (least..6).map(move |most| (least, most))) {
                for value in &numbers {
                    let filter = RowFilter { column: 0, comparison, value: value.clone() };
                    let all = (least..=most).all(|number| filter.excludes(Value::Int(number)));
                    let range = filter.excludes_range(Value::Int(least), Value::Int(most));
                    assert_eq!(range, all, "{least}..={most} {sign} {value:?}");
                }
            }
        }
        let filter = RowFilter { column: 0, comparison: Comparison::Less, value: OwnedValue::Text("a".to_owned()) };
        assert!(!filter.excludes_range(Value::Int(5), Value::Int(9)));
    }
}
