//! Keyword arguments as the crates take them.
//!
//! `litepress/_options.py` has seen to their types and spread out their short forms; what values mean is decided here, by the
//! crate `litepress`, so that all faces know the same choices and the same sizes.

use litepress::{Choice, Options, TableOptions, parse};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Keyword arguments; those that are missing or `None` were not given.
pub struct Keywords<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Keywords<'_, 'py> {
    /// The argument, if it was given.
    pub fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let given = self.0.get_item(name)?.filter(|value| !value.is_none());
        given.map(|value| value.extract().map_err(Into::into)).transpose()
    }

    /// The argument, or what is usual.
    pub fn or_default<T: FromPyObjectOwned<'py> + Default>(&self, name: &str) -> PyResult<T> {
        Ok(self.get(name)?.unwrap_or_default())
    }

    /// The argument as the program reads it: texts, and numbers in digits.
    pub fn parsed<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> PyResult<Option<T>> {
        let Some(value) = self.get::<Bound<'py, PyAny>>(name)? else { return Ok(None) };
        let parsed = parse(value.str()?.to_str()?);
        parsed.map(Some).map_err(|reason| PyValueError::new_err(format!("{name}: {reason}")))
    }
}

/// What tables have beyond columns, out of `_options.table_options`.
///
/// # Errors
/// Arguments of another type.
pub fn table_options(arguments: &Bound<'_, PyDict>) -> PyResult<TableOptions> {
    let given = Keywords(arguments);
    Ok(TableOptions {
        primary_key: given.or_default("primary_key")?,
        without_rowid: given.or_default("without_rowid")?,
        strict: given.or_default("strict")?,
        types: given.or_default("types")?,
        not_null: given.or_default("not_null")?,
        indexes: given.or_default("indexes")?,
        unique: given.or_default("unique")?,
        foreign_keys: given.or_default("foreign_keys")?,
    })
}

/// How a database is made, out of `_options.making_options`.
///
/// # Errors
/// Arguments of another type, unknown choices, sizes out of range.
pub fn making_options(arguments: &Bound<'_, PyDict>) -> PyResult<Options> {
    let given = Keywords(arguments);
    let mut options = Options::default();
    options.page_size = given.parsed("page_size", parse::page_size)?;
    options.threads = given.parsed("threads", parse::threads)?.unwrap_or(options.threads);
    options.memory_bytes = given.parsed("memory", parse::memory)?.unwrap_or(options.memory_bytes);
    options.temp_dir = given.get("temp_dir")?;
    options.replace = given.parsed("if_exists", if_exists)?.unwrap_or_default();
    options.on_conflict = given.parsed("on_conflict", Choice::from_name)?.unwrap_or_default();
    options.analyze = given.or_default("analyze")?;
    options.sync = given.parsed("sync", Choice::from_name)?.unwrap_or_default();
    options.verify = given.parsed("verify", Choice::from_name)?.unwrap_or_default();
    Ok(options)
}

/// Whether an existing database is replaced.
fn if_exists(choice: &str) -> Result<bool, String> {
    match choice {
        "fail" => Ok(false),
        "replace" => Ok(true),
        _ => Err(format!("'{choice}' is none of 'fail', 'replace'")),
    }
}
