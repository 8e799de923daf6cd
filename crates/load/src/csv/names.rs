//! Names columns after the header: one name for each field of a record.

use super::loose::LooseField;
use super::name_by_position;
use super::syntax::{Syntax, shown};
use crate::options::InvalidUtf8;
use crate::schema::distinct;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::collections::HashSet;

/// Largest number of fields in a record.
pub(super) use crate::infer::MOST_NAMES as MOST_FIELDS;

/// The names of all columns.
pub(super) struct Names {
    pub names: Vec<String>,
    /// Columns whose names differ from the header, for the summary.
    pub notes: Vec<String>,
}

/// Returns the name in a field of the header, possibly empty.
///
/// # Errors
/// The reason why the field holds no name.
pub(super) fn name(text: &[u8], field: &LooseField, syntax: &Syntax, invalid_utf8: InvalidUtf8) -> Result<String> {
    let raw = &text[field.range.clone()];
    let mut name = Vec::new();
    if field.is_quoted {
        syntax.unescape(&raw[1..raw.len() - 1], &mut name);
    } else {
        name.extend_from_slice(raw);
    }
    let refuse = |message: String| Err(Error::new(ErrorKind::Data, message));
    if let Some(byte) = name.iter().find(|&&byte| byte == 0 || (byte == b'\r' && !field.is_quoted)) {
        return refuse(format!("the name of a column holds the character {}", shown(*byte)));
    }
    match String::from_utf8(name) {
        Ok(name) => Ok(name),
        Err(error) if invalid_utf8 == InvalidUtf8::Replace => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(_) => {
            let error = Error::new(ErrorKind::Data, "the name of the column is not UTF-8");
            Err(error.advise(message!["name the encoding of the file with ", OptionName::Encoding.alone()]))
        }
    }
}

impl Names {
    /// Makes the names of a header [distinct].
    pub fn distinct(header: Vec<String>, mut notes: Vec<String>) -> Self {
        let (names, of_names) = distinct(header, name_by_position, |position| (position + 1).to_string());
        notes.extend(of_names);
        Self { names, notes }
    }
}

/// Checks names from the caller: they must be distinct to SQLite, and not empty.
///
/// # Errors
/// [`ErrorKind::Usage`] for the first name that is not.
pub(super) fn check(names: &[String]) -> Result<()> {
    let mut taken = HashSet::new();
    for (position, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::new(ErrorKind::Usage, format!("the name of column {} is empty", position + 1)));
        }
        if !taken.insert(name.to_ascii_lowercase()) {
            let earlier = names.iter().position(|other| other.eq_ignore_ascii_case(name)).unwrap_or_default();
            let message = format!("columns {} and {} are both called {name}", earlier + 1, position + 1);
            return Err(Error::new(ErrorKind::Usage, message).advise("give each column another name"));
        }
    }
    if names.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no column is named"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MOST_FIELDS, Names};

    #[test]
    fn names_are_distinct() {
        let names = |header: &[&str]| Names::distinct(header.iter().map(|&name| name.to_owned()).collect(), Vec::new());
        let cases: [(&[&str], &[&str]); 5] = [
            (&["x", "x", "y"], &["x", "x_2", "y"]),
            (&["id", "ID", "Id"], &["id", "ID_2", "Id_3"]),
            (&["x", "x", "x_2"], &["x", "x_3", "x_2"]),
            (&["", "a", ""], &["c1", "a", "c3"]),
            (&["", "c1", ""], &["c1_2", "c1", "c3"]),
        ];
        for (header, expected) in cases {
            assert_eq!(names(header).names, expected);
        }
        assert_eq!(names(&["a", "b", "A"]).notes, ["column 3 is called A_2, because A is taken"]);
        let many: Vec<String> = vec!["x".to_owned(); MOST_FIELDS];
        assert_eq!(Names::distinct(many, Vec::new()).names[MOST_FIELDS - 1], "x_32767");
    }
}
