//! Finds the value of a column that ALTER TABLE added, in rows that were stored before.
//!
//! Such a record ends before the column. SQLite then takes the DEFAULT from the schema whenever it reads the row, by
//! other rules than for an INSERT: in a TEXT column, DEFAULT 1.10 is the text '1.10', but '1.1' in new rows. So the
//! check asks the bundled SQLite about such a row. Indexes keep the value that their builder saw, and older releases
//! saw others:
//!
//! | DEFAULT                                  | before 3.44    | before 3.46    | since          |
//! |------------------------------------------|----------------|----------------|----------------|
//! | 1.0 of a BLOB, ANY or untyped column     | 1              | 1              | 1.0            |
//! | 0x7fffffffffffffff, too long for 32 bits | text '0x7f...' | text '0x7f...' | integer        |
//! | TRUE of a TEXT column                    | 1              | '1'            | '1'            |
//!
//! SQLite considers the numbers of the first line equal. A row that is written again gets a new value while its entry
//! stays, so these numbers are compared by value. The other values differ, so one release must have built the whole
//! index.

use litepress_format::value::Value as Cell;
use litepress_rows::schema::value_in_older_rows;
use litepress_rows::{Affinity, affinity};
use rusqlite::types::Value;

/// Groups of releases of SQLite that read some DEFAULT in different ways.
pub(super) const RELEASES: usize = 3;

/// The DEFAULT of an added column.
#[derive(Debug, PartialEq)]
pub(super) struct AddedDefault {
    /// Its value, newest releases of SQLite first.
    pub(super) by_release: [Value; RELEASES],
    /// Whether it is a double with an integer value, which older releases take for an integer.
    pub(super) is_whole_double: bool,
}

/// Returns the value that rows have which were stored before a column with this affinity and DEFAULT. Returns `None`
/// if ALTER TABLE refuses the DEFAULT for a table with rows, or if it is unknown how old releases of SQLite read it.
pub(super) fn of_added_column(default: Option<&str>, affinity: Affinity) -> Option<AddedDefault> {
    let Some(default) = default else {
        return Some(AddedDefault { by_release: [const { Value::Null }; RELEASES], is_whole_double: false });
    };
    let today = value_in_older_rows(default, affinity)?;
    let [before_3_44, before_3_46] = match old_reading(default, affinity) {
        OldReading::Same => [today.clone(), today.clone()],
        OldReading::Text(text) => [Value::Text(text.clone()), Value::Text(text)],
        OldReading::Truth(truth) => [Value::Integer(truth.into()), today.clone()],
        OldReading::Unknown => return None,
    };
    let is_whole = |real| matches!(affinity::apply(Cell::Real(real), Affinity::Integer), Cell::Int(_));
    let is_whole_double = affinity == Affinity::Blob && matches!(today, Value::Real(real) if is_whole(real));
    Some(AddedDefault { by_release: [today, before_3_46, before_3_44], is_whole_double })
}

/// The value that older releases of SQLite take for a DEFAULT.
#[derive(Debug, PartialEq)]
enum OldReading {
    /// The value of today, or a number equal to it.
    Same,
    /// The literal as text, in releases before 3.46.
    Text(String),
    /// The integer 0 or 1, in releases before 3.44.
    Truth(bool),
    /// A value that is not known here.
    Unknown,
}

fn old_reading(default: &str, affinity: Affinity) -> OldReading {
    let is_ignored = |character: char| matches!(character, '(' | ')' | '+') || character.is_ascii_whitespace();
    let bare: String = default.chars().filter(|character| !is_ignored(*character)).collect();
    let lower = bare.to_ascii_lowercase();
    let is_text = lower.starts_with(['\'', '"', '[', '`']);
    // Older releases do not accept underscores between digits.
    if is_text || lower.contains('_') {
        return OldReading::Same;
    }
    match (lower.as_str(), affinity) {
        ("true", Affinity::Text) => OldReading::Truth(true),
        ("false", Affinity::Text) => OldReading::Truth(false),
        _ => match lower.strip_prefix('-').unwrap_or(&lower).strip_prefix("0x") {
            None if lower.contains("0x") => OldReading::Unknown,
            None => OldReading::Same,
            Some(digits) => match u64::from_str_radix(digits, 16) {
                Ok(number) if i32::try_from(number).is_ok() => OldReading::Same,
                // A double; some releases write 15 of its digits, others 17.
                Ok(number) if number == 1 << 63 && lower.starts_with('-') && affinity == Affinity::Text => {
                    OldReading::Unknown
                }
                Ok(_) => OldReading::Text(bare),
                Err(_) => OldReading::Unknown,
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_read_as_for_rows_that_are_there_already() {
        let today =
            |default, affinity| of_added_column(Some(default), affinity).map(|found| found.by_release[0].clone());
        for (default, affinity, expected) in [
            ("'7'", Affinity::Integer, Value::Integer(7)),
            ("-5", Affinity::Text, Value::Text("-5".into())),
            ("1.10", Affinity::Text, Value::Text("1.10".into())),
            ("+1.10", Affinity::Text, Value::Text("1.10".into())),
            ("1e3", Affinity::Blob, Value::Real(1000.0)),
            ("word", Affinity::Numeric, Value::Text("word".into())),
            ("- (5)", Affinity::Text, Value::Text("-5".into())),
            ("cast('7' as integer)", Affinity::Text, Value::Text("7".into())),
        ] {
            assert_eq!(today(default, affinity), Some(expected), "{default}");
        }
        for refused in ["1 + 2", "CURRENT_TIMESTAMP", "random()", "1); DROP TABLE t; --"] {
            assert_eq!(today(refused, Affinity::Integer), None, "{refused}");
        }
        let null = of_added_column(None, Affinity::Text).unwrap();
        assert_eq!(null.by_release, [Value::Null, Value::Null, Value::Null]);
    }

    #[test]
    fn old_releases_read_long_hexadecimal_numbers_and_truths_otherwise() {
        let text = |text: &str| OldReading::Text(text.into());
        for (default, affinity, expected) in [
            ("0x7fffffffffffffff", Affinity::Integer, text("0x7fffffffffffffff")),
            ("- 0X80000000", Affinity::Text, text("-0X80000000")),
            ("+(0x80000000)", Affinity::Blob, text("0x80000000")),
            ("0x7fffffff", Affinity::Blob, OldReading::Same),
            ("'0x7fffffffffffffff'", Affinity::Integer, OldReading::Same),
            ("x'0070'", Affinity::Integer, OldReading::Same),
            ("0x7fff_ffff_ffff", Affinity::Integer, OldReading::Same),
            ("-0x8000000000000000", Affinity::Text, OldReading::Unknown),
            ("-0x8000000000000000", Affinity::Integer, text("-0x8000000000000000")),
            ("- -0x7fffffffffffffff", Affinity::Text, OldReading::Unknown),
            ("cast(0x7fffffffffffffff as text)", Affinity::Text, OldReading::Unknown),
            ("TRUE", Affinity::Text, OldReading::Truth(true)),
            ("false", Affinity::Text, OldReading::Truth(false)),
            ("TRUE", Affinity::Integer, OldReading::Same),
        ] {
            assert_eq!(old_reading(default, affinity), expected, "{default}");
        }
    }

    #[test]
    fn whole_doubles_are_told_from_others() {
        let is_whole_double = |default, affinity| of_added_column(Some(default), affinity).unwrap().is_whole_double;
        assert!(is_whole_double("1.0", Affinity::Blob) && is_whole_double("-0.0", Affinity::Blob));
        assert!(!is_whole_double("1.5", Affinity::Blob) && !is_whole_double("1e19", Affinity::Blob));
        assert!(!is_whole_double("1", Affinity::Blob) && !is_whole_double("1.0", Affinity::Text));
    }
}
