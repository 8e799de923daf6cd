//! Errors of the crates as exceptions of the package.

use crate::wording::in_python;
use litepress::{Error, ErrorKind};
use litepress_cli::{Failure, advice};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The exception that says what an error says. Its classes stand in `litepress/_errors.py`.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    with_excerpt(py, error, None)
}

/// The same for an error that may be about a text of the user's: the line that it is about is shown, too.
pub fn of_failure(py: Python<'_>, failure: &Failure) -> PyErr {
    with_excerpt(py, failure.error(), failure.excerpt())
}

fn with_excerpt(py: Python<'_>, error: &Error, excerpt: Option<String>) -> PyErr {
    if error.kind() == ErrorKind::Interrupted {
        return PyKeyboardInterrupt::new_err(error.message().to_owned());
    }
    built(py, error, excerpt).unwrap_or_else(|failure| failure)
}

fn built(py: Python<'_>, error: &Error, excerpt: Option<String>) -> PyResult<PyErr> {
    let place = error.place();
    let excerpt = excerpt.map_or(String::new(), |excerpt| format!("\n{}", excerpt.trim_end()));
    let message = in_python(&error.headline()) + &excerpt;
    let in_python = |text: String| in_python(&text);
    let fields = PyDict::new(py);
    fields.set_item("advice", advice(error).map(in_python))?;
    fields.set_item("file", place.file.as_deref().map(|file| in_python(file.to_string_lossy().into_owned())))?;
    fields.set_item("record", place.record)?;
    fields.set_item("line", place.line)?;
    fields.set_item("character", place.character)?;
    fields.set_item("table", place.table.as_deref())?;
    fields.set_item("column", place.column.as_deref())?;
    fields.set_item("value", place.value.as_deref())?;
    fields.set_item("constraint", constraint(error))?;
    let module = py.import("litepress._errors")?;
    let raised = module.getattr(class(error.kind()))?.call((message,), Some(&fields))?;
    Ok(PyErr::from_value(raised))
}

/// The class for errors of a kind.
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

/// What sort of constraint a row breaks, as SQL writes it.
fn constraint(error: &Error) -> Option<&'static str> {
    const KINDS: [&str; 5] = ["NOT NULL", "UNIQUE", "CHECK", "FOREIGN KEY", "PRIMARY KEY"];
    if error.kind() != ErrorKind::Constraint {
        return None;
    }
    let message = error.message();
    let found = KINDS.into_iter().find(|kind| message.contains(kind));
    found.or(if message.contains("foreign key") { Some("FOREIGN KEY") } else { None })
}
