//! `load`, `generate`, `plan`, `profile` and `check`: what the program does, without its printing. Arguments come from
//! `litepress/_files.py`, which has seen to their types.

use crate::errors::{exception, of_failure};
use crate::options::{Keywords, making_options, table_options};
use crate::press::{self, Watcher};
use crate::wording::in_python;
use litepress::Progress;
use litepress::engine::check::CheckOptions;
use litepress_cli::{
    Audience, Failure, InventionArguments, LoadJob, Outcome, ReadingArguments, SchemaText, Value, WrongRecordArguments,
    numbers, options,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// A schema: CREATE statements, and what errors call them.
type Schema = (String, String);

/// Makes a database of files; the report as JSON.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    files: &Bound<'_, PyDict>,
    tables: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (job, options) = (load_job(files, tables)?, making_options(making)?);
    let progress = options.progress.clone();
    run(py, &progress, tell, || litepress_cli::load(&job, &path, options, &Audience::NOBODY))
}

/// Makes a database of invented rows; the report as JSON.
#[pyfunction]
pub fn generate(
    py: Python<'_>,
    path: PathBuf,
    schema: Schema,
    rows: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (arguments, options) = (invention(rows)?, making_options(making)?);
    let progress = options.progress.clone();
    let schema = schema_of(schema);
    run(py, &progress, tell, || litepress_cli::generate(schema, &arguments, Some(&path), options, &Audience::NOBODY))
}

/// What [`load`] would do, as JSON.
#[pyfunction]
pub fn plan_load(
    py: Python<'_>,
    path: Option<PathBuf>,
    files: &Bound<'_, PyDict>,
    tables: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let (job, options) = (load_job(files, tables)?, making_options(making)?);
    let progress = options.progress.clone();
    run(py, &progress, None, || litepress_cli::plan_load(&job, path.as_deref(), options, &Audience::NOBODY))
}

/// What [`generate`] would do, as JSON.
#[pyfunction]
pub fn plan_generate(
    py: Python<'_>,
    path: Option<PathBuf>,
    schema: Schema,
    rows: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let (arguments, options) = (invention(rows)?, making_options(making)?);
    let progress = options.progress.clone();
    let schema = schema_of(schema);
    run(py, &progress, None, || litepress_cli::plan_generate(schema, &arguments, path.as_deref(), options))
}

/// Checks a database; the verdict as JSON.
#[pyfunction]
pub fn check(py: Python<'_>, path: PathBuf, asks_sqlite: bool, arguments: &Bound<'_, PyDict>) -> PyResult<String> {
    let (given, usual) = (Keywords(arguments), CheckOptions::default());
    let threads = given.parsed("threads", options::threads)?.unwrap_or(usual.threads);
    let options = CheckOptions { threads, ..usual };
    let progress = Arc::new(Progress::default());
    let job = || litepress_cli::check(&path, &options, asks_sqlite, &progress, &Audience::NOBODY);
    Ok(press::run(py, &progress, None, Vec::new(), job)?.to_json().to_string())
}

/// A plan for a database that looks alike, as a plan file.
#[pyfunction]
pub fn profile(py: Python<'_>, path: PathBuf, keep_values: bool, arguments: &Bound<'_, PyDict>) -> PyResult<String> {
    let threads = Keywords(arguments).parsed("threads", options::threads)?;
    let threads = threads.unwrap_or(litepress::Options::default().threads);
    let progress = Arc::new(Progress::default());
    press::run(py, &progress, None, Vec::new(), || litepress_cli::plan_alike(&path, keep_values, threads))
}

/// The schema in a file.
#[pyfunction]
pub fn schema_file(py: Python<'_>, path: PathBuf) -> PyResult<Schema> {
    let read = py.detach(|| SchemaText::from_file(&path)).map_err(|error| exception(py, &error))?;
    Ok((read.text, read.origin))
}

/// A built-in schema.
#[pyfunction]
pub fn preset(py: Python<'_>, name: &str) -> PyResult<Schema> {
    let preset = SchemaText::from_preset(name).map_err(|error| exception(py, &error))?;
    Ok((preset.text, preset.origin))
}

/// Names of all built-in schemas.
#[pyfunction]
pub fn presets() -> Vec<&'static str> {
    SchemaText::presets().collect()
}

/// Runs the program `litepress`, once in a process; its exit code. Signals are the program's from now on.
#[pyfunction]
pub fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| litepress_cli::main_with(arguments))
}

/// Runs what gives an outcome in a thread of its own.
fn run(
    py: Python<'_>,
    progress: &Arc<Progress>,
    tell: Option<Py<PyAny>>,
    job: impl FnOnce() -> Result<Outcome, Failure> + Send,
) -> PyResult<String> {
    let outcome = press::run(py, progress, Watcher::new(tell), Vec::new(), || Ok(job()))?;
    let mut report = outcome.map_err(|failure| of_failure(py, &failure))?.json;
    reword(&mut report);
    Ok(report.to_string())
}

/// Reasons for types, which name options, in the words of Python.
fn reword(report: &mut Value) {
    match report {
        Value::Object(members) => members.iter_mut().for_each(|(name, member)| match member {
            Value::String(reason) if name == "because" => *reason = in_python(reason),
            _ => reword(member),
        }),
        Value::Array(elements) => elements.iter_mut().for_each(reword),
        _ => {}
    }
}

fn schema_of((text, origin): Schema) -> SchemaText {
    SchemaText { text, origin }
}

fn load_job(files: &Bound<'_, PyDict>, tables: &Bound<'_, PyDict>) -> PyResult<LoadJob> {
    let given = Keywords(files);
    Ok(LoadJob {
        files: given.or_default("files")?,
        reading: reading(&given)?,
        table: given.get("table")?,
        schema: given.get::<Schema>("schema")?.map(schema_of),
        definitions: table_options(tables)?,
        map: given.or_default("map")?,
        wrong: WrongRecordArguments {
            on_error: given.parsed("on_error", options::choice)?,
            rejects: given.get("rejects")?,
            max_rejects: given.parsed("max_rejects", numbers::count)?,
            ragged: given.parsed("ragged", options::choice)?.unwrap_or_default(),
            invalid_utf8: given.parsed("invalid_utf8", options::choice)?.unwrap_or_default(),
        },
    })
}

fn reading(given: &Keywords<'_, '_>) -> PyResult<ReadingArguments> {
    Ok(ReadingArguments {
        format: given.parsed("format", options::choice)?,
        delimiter: given.parsed("delimiter", litepress_cli::delimiter)?,
        quote: given.parsed("quote", litepress_cli::quote)?,
        escape: given.parsed("escape", litepress_cli::ascii)?,
        no_header: given.or_default("no_header")?,
        columns: given.or_default("columns")?,
        comment: given.parsed("comment", litepress_cli::ascii)?,
        encoding: given.get("encoding")?,
        null: given.or_default("null")?,
        forms: given.or_default("forms")?,
        sample: given.parsed("sample", numbers::count)?,
    })
}

fn invention(rows: &Bound<'_, PyDict>) -> PyResult<InventionArguments> {
    let given = Keywords(rows);
    let rows = given.or_default::<Vec<(Option<String>, String)>>("rows")?.into_iter().map(|(table, rows)| {
        let rows = numbers::count(&rows).map_err(|reason| PyValueError::new_err(format!("rows: {reason}")))?;
        Ok((table, rows))
    });
    Ok(InventionArguments {
        rows: rows.collect::<PyResult<_>>()?,
        set: given.or_default("set")?,
        seed: given.parsed("seed", numbers::count)?,
        // What the plan says comes as the schema does; here it only counts that it is one.
        plan: given.or_default::<bool>("is_plan")?.then(PathBuf::new),
        scale: given.parsed("scale", litepress_cli::scale)?,
        part: given.parsed("part", litepress_cli::part)?,
        ..InventionArguments::default()
    })
}
