//! Conversion of keyword arguments to the options of the crates.
//!
//! `litepress/_options.py` has checked their types and expanded their short forms. The parsers of the crate `litepress` read the
//! values, so all faces know the same choices and sizes.

use litepress::{
    AppendOptions, Choice, Conflict, FileFormat, FtsContent, InvalidUtf8, NanPolicy, Numbers, OnError, Options, Ragged,
    RepeatedHeader, StrayQuotes, Sync, TableOptions, Verify, parse,
};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Keyword arguments. A missing argument and `None` both mean: not given.
pub struct Keywords<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Keywords<'_, 'py> {
    /// Returns the argument, or `None` if it was not given.
    pub fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let given = self.0.get_item(name)?.filter(|value| !value.is_none());
        given.map(|value| value.extract().map_err(Into::into)).transpose()
    }

    /// Returns the argument, or its type's default if it was not given.
    pub fn or_default<T: FromPyObjectOwned<'py> + Default>(&self, name: &str) -> PyResult<T> {
        Ok(self.get(name)?.unwrap_or_default())
    }

    /// Parses the argument, a text or a number, with the parser that the program uses.
    pub fn parsed<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> PyResult<Option<T>> {
        let Some(value) = self.get::<Bound<'py, PyAny>>(name)? else { return Ok(None) };
        let parsed = parse(value.str()?.to_str()?);
        parsed.map(Some).map_err(|reason| PyValueError::new_err(format!("{name}: {reason}")))
    }
}

/// Returns the keys, types, indexes and constraints from `_options.table_options`.
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
        numbers: rules(given.or_default("numbers")?)?,
        not_null: given.or_default("not_null")?,
        indexes: given.or_default("indexes")?,
        full_text: given.or_default("full_text")?,
        text_content: given.parsed("fts_content", FtsContent::from_name)?,
        tokenizer: given.or_default("tokenizer")?,
        unique: given.or_default("unique")?,
        foreign_keys: given.or_default("foreign_keys")?,
    })
}

/// Returns the rules for columns of numbers.
fn rules(given: Vec<(String, String)>) -> PyResult<Vec<(String, Numbers)>> {
    let rule = |(columns, rule): (String, String)| {
        let rule = Numbers::from_name(&rule).map_err(|reason| PyValueError::new_err(format!("numbers: {reason}")))?;
        Ok((columns, rule))
    };
    given.into_iter().map(rule).collect()
}

/// Returns the build options from `_options.making_options`.
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
    options.overwrite = if_exists(&given)? == IfExists::Overwrite;
    options.on_conflict = given.parsed("on_conflict", Choice::from_name)?.unwrap_or_default();
    options.analyze = given.or_default("analyze")?;
    options.part = given.or_default("part")?;
    options.key = given.or_default("key")?;
    options.update_columns = given.or_default("update_columns")?;
    options.sync = given.parsed("sync", Choice::from_name)?.unwrap_or_default();
    options.verify = given.parsed("verify", Choice::from_name)?.unwrap_or_default();
    Ok(options)
}

/// What becomes of a database that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// The run fails.
    #[default]
    Fail,
    /// The rows are added to its tables.
    Append,
    /// Its tables of the given names are replaced, and everything else is kept.
    Replace,
    /// The whole file is replaced.
    Overwrite,
}

/// Returns `if_exists` from `_options.making_options`.
///
/// # Errors
/// An unknown choice.
pub fn if_exists(given: &Keywords<'_, '_>) -> PyResult<IfExists> {
    let parse = |choice: &str| match choice {
        "fail" => Ok(IfExists::Fail),
        "append" => Ok(IfExists::Append),
        "replace" => Ok(IfExists::Replace),
        "overwrite" => Ok(IfExists::Overwrite),
        _ => Err(format!("'{choice}' is not one of 'fail', 'append', 'replace', 'overwrite'")),
    };
    Ok(given.parsed("if_exists", parse)?.unwrap_or_default())
}

/// Fails if tables are to be replaced by a function that makes whole databases.
///
/// # Errors
/// `ValueError`.
pub fn refuse_replace(arguments: &Bound<'_, PyDict>) -> PyResult<()> {
    if if_exists(&Keywords(arguments))? == IfExists::Replace {
        let message = "if_exists=\"replace\" replaces tables and keeps the others, which only write() and load() do: \
                       if_exists=\"overwrite\" replaces the whole file";
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

/// Fails if rows are to be added to a database by a function that makes new ones.
///
/// # Errors
/// `ValueError`.
pub fn refuse_append(arguments: &Bound<'_, PyDict>) -> PyResult<()> {
    if if_exists(&Keywords(arguments))? == IfExists::Append {
        let message = "if_exists=\"append\" adds rows to a database, which write(), load() and create() do";
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

/// Returns the options of rows that are added to a database.
///
/// # Errors
/// Arguments of another type.
pub fn append_options(arguments: &Bound<'_, PyDict>) -> PyResult<AppendOptions> {
    let (given, mut options) = (Keywords(arguments), AppendOptions::default());
    options.truncate = given.or_default("truncate")?;
    options.add_columns = given.or_default("add_columns")?;
    options.enforce_foreign_keys = given.or_default("enforce_foreign_keys")?;
    options.through_wal = given.or_default("through_wal")?;
    options.busy_timeout = given.parsed("busy_timeout", parse::seconds)?.unwrap_or(options.busy_timeout);
    Ok(options)
}

/// Returns the values of the arguments that take one of a few words.
#[pyfunction]
pub fn choices() -> Vec<(&'static str, Vec<&'static str>)> {
    fn names<T: Choice>() -> Vec<&'static str> {
        T::CHOICES.iter().map(|(name, _)| *name).collect()
    }
    vec![
        ("on_conflict", names::<Conflict>()),
        ("sync", names::<Sync>()),
        ("verify", names::<Verify>()),
        ("format", names::<FileFormat>()),
        ("on_error", names::<OnError>()),
        ("ragged", names::<Ragged>()),
        ("stray_quotes", names::<StrayQuotes>()),
        ("repeated_header", names::<RepeatedHeader>()),
        ("invalid_utf8", names::<InvalidUtf8>()),
        ("nan", names::<NanPolicy>()),
        ("fts_content", names::<FtsContent>()),
        ("numbers", names::<Numbers>()),
    ]
}
