//! Names of columns that rows give: refuses those that SQLite cannot keep.

use crate::errors::exception;
use litepress::{Error, ErrorKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Refuses a name that two columns have.
///
/// # Errors
/// `ValueError` with the name.
pub fn refuse_twice<'a>(names: impl Iterator<Item = &'a str>) -> PyResult<()> {
    let names: Vec<&str> = names.collect();
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    twice.map_or(Ok(()), |(_, name)| Err(PyValueError::new_err(format!("two columns are called '{name}'"))))
}

/// Refuses an empty name, and one with a NUL character.
///
/// # Errors
/// `litepress.DataError` with the table.
pub fn refuse_unkept<'a>(py: Python<'_>, table: &str, names: impl Iterator<Item = &'a str>) -> PyResult<()> {
    for (at, name) in names.enumerate() {
        let (message, advice) = if name.is_empty() {
            (format!("column {} of the data has an empty name", at + 1), "give it a name")
        } else if name.contains('\0') {
            (format!("the name '{}' of a column holds a NUL character", name.replace('\0', "\\0")), "rename it")
        } else {
            continue;
        };
        return Err(exception(py, &Error::new(ErrorKind::Data, message).in_table(table).advise(advice)));
    }
    Ok(())
}
