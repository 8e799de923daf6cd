//! The names that rows give their values, compared with those of the first row.

use super::{Shape, TableRows};
use crate::cells::shown;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

/// The names that the first row gives its values. Plain tuples and lists give none.
#[derive(Default)]
pub(super) struct Naming {
    pub kind: Option<Py<PyType>>,
    pub names: Option<Vec<String>>,
    /// The names of the first row, if rows of its type may have others.
    pub keys: Option<Py<PyAny>>,
    /// The first row names its values in another order than the table: plain rows, which go by position, would be misread.
    pub refuses_plain: bool,
}

impl Naming {
    /// Returns whether a row surely has the names of the first one. A cheap test: `false` calls for a full comparison.
    #[inline]
    fn is_of(&self, row: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(kind) = &self.kind else { return Ok(false) };
        if !row.get_type().is(kind) {
            return Ok(false);
        }
        match &self.keys {
            None => Ok(true),
            Some(keys) => Ok(own_keys(row)?.is_some_and(|own| own.eq(keys).unwrap_or(false))),
        }
    }
}

/// Returns the names that this very row has: the keys of a `sqlite3.Row`, or the attributes of an object.
pub(super) fn own_keys<'py>(row: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if row.hasattr("keys")? {
        return row.call_method0("keys").map(Some);
    }
    let Ok(attributes) = row.getattr("__dict__") else { return Ok(None) };
    let keys = attributes.cast::<PyDict>()?.keys();
    // Objects of pydantic keep fields that their class does not declare in a dict of their own.
    if let Ok(extra) = row.getattr("__pydantic_extra__")
        && let Ok(extra) = extra.cast::<PyDict>()
    {
        extra.keys().iter().try_for_each(|key| keys.append(key))?;
    }
    Ok(Some(keys.into_any()))
}

impl TableRows {
    /// Refuses a row whose values have other names than those of the first row: by position they would land in wrong columns.
    #[inline]
    pub(super) fn check_names(&self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        if row.is_exact_instance_of::<PyTuple>() || row.is_exact_instance_of::<PyList>() {
            return if self.naming.refuses_plain { Err(self.other_names(row, None)) } else { Ok(()) };
        }
        if self.naming.is_of(row)? { Ok(()) } else { self.compare_names(row) }
    }

    #[cold]
    fn compare_names(&self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        // Values that are not rows at all pass here: the next step reports them as rows of another shape.
        let Ok(looked) = row.py().import("litepress._data")?.call_method1("look", (row,)) else { return Ok(()) };
        let (shape, names, _): (String, Option<Vec<String>>, bool) = looked.extract()?;
        let is_right = match (&names, self.shape) {
            (Some(names), Some(Shape::Attributes)) => {
                self.names.is_some() || names.iter().all(|name| self.columns.iter().any(|column| column.name == *name))
            }
            _ => shape != "sequence" || names == self.naming.names,
        };
        if is_right { Ok(()) } else { Err(self.other_names(row, names)) }
    }

    fn other_names(&self, row: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyErr {
        let listed =
            |names: &Option<Vec<String>>| names.as_ref().map_or("without names".to_owned(), |names| names.join(", "));
        let message = format!(
            "the values of the row are {}, and those of the first {}",
            listed(&names),
            listed(&self.naming.names)
        );
        self.data_error(
            row.py(),
            message,
            Some(shown(row)),
            Some("give all rows the same names, or dicts, whose order is free"),
        )
    }
}
