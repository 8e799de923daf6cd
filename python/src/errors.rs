//! Errors of the crates as exceptions of the package.

use crate::words::Keywords;
use litepress::{Error, ErrorKind};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Makes the Python exception for an error. The classes are defined in `litepress/_errors.py`.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    if error.kind() == ErrorKind::Interrupted {
        return PyKeyboardInterrupt::new_err(error.message().to_owned());
    }
    built(py, error).unwrap_or_else(|failure| failure)
}

fn built(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let place = error.place();
    let excerpt = error.excerpt().map_or(String::new(), |excerpt| format!("\n{}", excerpt.trim_end()));
    let message = error.headline_in(&Keywords) + &excerpt;
    let fields = PyDict::new(py);
    fields.set_item("advice", error.advice_in(&Keywords))?;
    fields.set_item("file", place.file.as_deref().map(|file| file.to_string_lossy().into_owned()))?;
    fields.set_item("record", place.record)?;
    fields.set_item("line", place.line)?;
    fields.set_item("character", place.character)?;
    fields.set_item("table", place.table.as_deref())?;
    fields.set_item("column", place.column.as_deref())?;
    fields.set_item("value", place.value.as_deref())?;
    fields.set_item("constraint", constraint(error))?;
    let class = class(error.kind());
    if matches!(class, "FileError" | "NoSpaceError" | "TargetError" | "TargetExistsError") {
        fields.set_item("errno", os_error(error))?;
    }
    let module = py.import("litepress._errors")?;
    let raised = module.getattr(class)?.call((message,), Some(&fields))?;
    Ok(PyErr::from_value(raised))
}

/// Returns the number of the failed call's error, which is the cause of the error or of its cause.
fn os_error(error: &Error) -> Option<i32> {
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        if let Some(error) = source.downcast_ref::<std::io::Error>() {
            return error.raw_os_error();
        }
        cause = source.source();
    }
    None
}

/// Returns the name of the exception class for errors of a kind.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Usage => "UsageError",
        ErrorKind::Schema => "SchemaError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Generator => "GeneratorError",
        ErrorKind::Constraint => "ConstraintError",
        ErrorKind::Data => "DataError",
        ErrorKind::Limit => "LimitError",
        ErrorKind::Exists => "TargetExistsError",
        ErrorKind::Target => "TargetError",
        ErrorKind::NoSpace => "NoSpaceError",
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::Io => "FileError",
        _ => "Error",
    }
}

/// Returns the kind of constraint that a row violates, in SQL's words. Only the message knows it: `Error` has no field for it.
fn constraint(error: &Error) -> Option<&'static str> {
    const KINDS: [&str; 5] = ["NOT NULL", "UNIQUE", "CHECK", "FOREIGN KEY", "PRIMARY KEY"];
    if error.kind() != ErrorKind::Constraint {
        return None;
    }
    let message = error.message();
    let found = KINDS.into_iter().find(|kind| message.contains(kind));
    found.or(if message.contains("foreign key") { Some("FOREIGN KEY") } else { None })
}
