//! `load`, `generate`, `plan`, `profile`, `compact` and `check`: functions of the crate `litepress`. Arguments come from
//! `litepress/_files.py`, which has checked their types.

use crate::engine_thread::{self, Watcher};
use crate::errors::exception;
use crate::options::{
    IfExists, Keywords, append_options, if_exists, making_options, refuse_append, refuse_replace, table_options,
};
use crate::words;
use litepress::own_locks::{OwnUse, refuse_own_lock};
use litepress::{
    CheckOptions, Choice, CompactOptions, GenerateOptions, IndexOptions, Json, LoadOptions, ProfileOptions, Progress,
    SchemaText, Sync, Target, ValueOptions, parse, units,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The CREATE statements of a schema, and their name in errors.
type Schema = (String, String);

/// Makes a database of files and returns the report as JSON.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    files: &Bound<'_, PyDict>,
    tables: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (files, options) = load_options(files, tables, making)?;
    let job = || {
        // The progress function has run, and may have opened the database.
        drop(OwnUse::begin(&path)?);
        Ok(litepress::load(path, files, &options)?.to_json(&words::Keywords))
    };
    run(py, &options.build.progress, tell, job)
}

/// Generates a database and returns the report as JSON.
#[pyfunction]
pub fn generate(
    py: Python<'_>,
    path: PathBuf,
    schema: Schema,
    rows: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (schema, options) = generate_options(schema, rows, making)?;
    let job = || Ok(litepress::generate(path, schema, &options)?.to_json());
    run(py, &options.build.progress, tell, job)
}

/// Returns what [`load`] would do, as JSON.
#[pyfunction]
pub fn plan_load(
    py: Python<'_>,
    path: Option<PathBuf>,
    files: &Bound<'_, PyDict>,
    tables: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let (files, options) = load_options(files, tables, making)?;
    let job = || Ok(litepress::plan_load(path.map(Target::File), files, &options)?.to_json(&words::Keywords));
    run(py, &options.build.progress, None, job)
}

/// Returns what [`generate`] would do, as JSON.
#[pyfunction]
pub fn plan_generate(
    py: Python<'_>,
    path: Option<PathBuf>,
    schema: Schema,
    rows: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let (schema, options) = generate_options(schema, rows, making)?;
    let job = || Ok(litepress::plan_generate(path.map(Target::File), schema, &options)?.to_json(&words::Keywords));
    run(py, &options.build.progress, None, job)
}

/// Copies a database without its free space, or replaces it by such a copy if there is no target. Returns the report as JSON.
#[pyfunction]
pub fn compact(
    py: Python<'_>,
    path: PathBuf,
    target: Option<PathBuf>,
    chosen: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    refuse_replace(making)?;
    let given = Keywords(chosen);
    let mut options = CompactOptions::default().build(making_options(making)?);
    options.only = given.or_default("only")?;
    options.drop_indexes = given.or_default("drop_index")?;
    options.without_rowid = given.or_default("without_rowid")?;
    options.allow_incomplete = given.or_default("allow_incomplete")?;
    let job = || Ok(litepress::compact(path, target.map(Target::File), &options)?.to_json());
    run(py, &options.build.progress, tell, job)
}

/// Makes new indexes by their statements, or those of these names once more. Returns the report as JSON.
#[pyfunction]
pub fn index(
    py: Python<'_>,
    path: PathBuf,
    texts: Vec<String>,
    again: bool,
    arguments: &Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let given = Keywords(arguments);
    let mut options = IndexOptions::default().through_wal(given.or_default("through_wal")?);
    let build = &mut options.build;
    build.threads = given.parsed("threads", parse::threads)?.unwrap_or(build.threads);
    build.memory_bytes = given.parsed("memory", parse::memory)?.unwrap_or(build.memory_bytes);
    build.temp_dir = given.get("temp_dir")?;
    build.sync = given.parsed("sync", Sync::from_name)?.unwrap_or_default();
    options.busy_timeout = given.parsed("busy_timeout", parse::seconds)?.unwrap_or(options.busy_timeout);
    let make = || match again {
        true => litepress::reindex(&path, &texts, &options),
        false => litepress::index(&path, &texts, &options),
    };
    run(py, &options.build.progress, tell, || Ok(make()?.to_json()))
}

/// Checks a database and returns the result as JSON.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    path: PathBuf,
    full: bool,
    overwrite: bool,
    arguments: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut options = CheckOptions::default().full(full);
    let given = Keywords(arguments);
    options.threads = given.parsed("threads", parse::threads)?.unwrap_or(options.threads);
    options.memory_bytes = given.parsed("memory", parse::memory)?.unwrap_or(options.memory_bytes);
    options.max_faults = match given.parsed("max_faults", units::count)? {
        Some(most) => usize::try_from(most).unwrap_or(usize::MAX),
        None => options.max_faults,
    };
    options.sample = given.parsed("sample", units::count)?;
    options.html = given.parsed("html", |page| Ok(PathBuf::from(page)))?;
    options.overwrite = overwrite;
    run(py, &options.progress, None, || Ok(litepress::check(&path, &options)?.to_json()))
}

/// Returns a recipe (TOML) for a database that looks like this one.
#[pyfunction]
pub fn profile(
    py: Python<'_>,
    path: PathBuf,
    keep_values: bool,
    overwrite: bool,
    arguments: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let options = profile_options(overwrite, arguments)?.keep_values(keep_values);
    let progress = options.progress.clone();
    engine_thread::run(py, &progress, None, Vec::new(), || Ok(litepress::profile(&path, &options)?.to_toml()))
}

/// Compares the values of two databases and returns the result as JSON.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    path: PathBuf,
    other: PathBuf,
    overwrite: bool,
    arguments: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let options = profile_options(overwrite, arguments)?;
    run(py, &options.progress, None, || Ok(litepress::compare(&path, &other, &options)?.to_json()))
}

fn profile_options(overwrite: bool, arguments: &Bound<'_, PyDict>) -> PyResult<ProfileOptions> {
    let given = Keywords(arguments);
    let mut options = ProfileOptions::default().overwrite(overwrite);
    options.threads = given.parsed("threads", parse::threads)?.unwrap_or(options.threads);
    options.html = given.parsed("html", |page| Ok(PathBuf::from(page)))?;
    Ok(options)
}

/// Reads the schema or the recipe in a file.
#[pyfunction]
pub fn schema_file(py: Python<'_>, path: PathBuf) -> PyResult<Schema> {
    let read = py.detach(|| SchemaText::from_file(&path)).map_err(|error| exception(py, &error))?;
    Ok((read.text, read.origin))
}

/// Refuses a file on which this process holds a lock. Waits for locks of this package, which end within moments.
#[pyfunction(name = "refuse_own_lock")]
pub fn refuse_lock(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| refuse_own_lock(&path)).map_err(|error| exception(py, &error))
}

/// Returns a built-in schema.
#[pyfunction]
pub fn preset(py: Python<'_>, name: &str) -> PyResult<Schema> {
    let preset = SchemaText::from_preset(name).map_err(|error| exception(py, &error))?;
    Ok((preset.text, preset.origin))
}

/// Returns the names of all built-in schemas.
#[pyfunction]
pub fn presets() -> Vec<&'static str> {
    SchemaText::presets().collect()
}

/// Runs the program `litepress` and returns its exit code. A process may call it once: the program keeps the signal handlers.
#[pyfunction]
pub fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| litepress_cli::main_with(arguments))
}

/// Runs a job in a thread of the engine and returns its report as JSON.
pub(crate) fn run(
    py: Python<'_>,
    progress: &Arc<Progress>,
    tell: Option<Py<PyAny>>,
    job: impl FnOnce() -> litepress::Result<Json> + Send,
) -> PyResult<String> {
    Ok(engine_thread::run(py, progress, Watcher::new(tell), Vec::new(), job)?.to_string())
}

fn schema_of((text, origin): Schema) -> SchemaText {
    SchemaText::new(text, origin)
}

fn load_options(
    files: &Bound<'_, PyDict>,
    tables: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
) -> PyResult<(Vec<PathBuf>, LoadOptions)> {
    let given = Keywords(files);
    let mut options = LoadOptions::default().build(making_options(making)?);
    options.path_guard = Some(refuse_own_lock);
    options.replace_tables = if_exists(&Keywords(making))? == IfExists::Replace;
    options.append = if_exists(&Keywords(making))? == IfExists::Append;
    options.append_options = append_options(making)?;
    options.format = given.parsed("format", Choice::from_name)?;
    options.delimiter = given.parsed("delimiter", parse::delimiter)?;
    options.quote = given.parsed("quote", parse::quote)?.unwrap_or_default();
    options.escape = given.parsed("escape", parse::ascii)?;
    options.header = given.get("header")?;
    options.skip = given.parsed("skip", units::count)?.unwrap_or_default();
    options.trim = given.or_default("trim")?;
    options.skip_empty = given.or_default("skip_empty")?;
    options.columns = given.or_default("columns")?;
    options.comment = given.parsed("comment", parse::ascii)?;
    options.values = ValueOptions {
        decimal: given.parsed("decimal", parse::mark)?,
        thousands: given.parsed("thousands", parse::mark)?,
        currency: given.or_default("currency")?,
        true_words: given.or_default("true")?,
        false_words: given.or_default("false")?,
        dates: given.or_default("date_format")?,
    };
    options.sheets = given.or_default("sheet")?;
    options.select = given.or_default("select")?;
    options.limit = given.parsed("limit", units::count)?;
    options.source_column = given.get("source_column")?;
    options.split_by = given.get("split_by")?;
    options.json_path = given.get("json_path")?;
    options.flatten = given.or_default("flatten")?;
    options.nan = given.parsed("nan", Choice::from_name)?.unwrap_or_default();
    options.absent_as_null = given.or_default("absent_as_null")?;
    options.encoding = given.get("encoding")?;
    options.null_values = given.or_default("null_value")?;
    options.words.missing = given.or_default("missing")?;
    options.words.infinity = given.or_default("infinity")?;
    options.store_as = given.or_default("store_as")?;
    options.sample = given.parsed("sample", units::count)?;
    options.table = given.get("table")?;
    options.schema = given.get::<Schema>("schema")?.map(schema_of);
    options.tables = table_options(tables)?;
    options.geometry = given.get("geometry")?;
    options.crs = given.get("crs")?;
    options.map = given.or_default("map")?;
    options.on_error = given.parsed("on_error", Choice::from_name)?;
    options.rejects = given.get("rejects")?;
    options.max_rejects = given.parsed("max_rejects", units::count)?;
    options.ragged = given.parsed("ragged", Choice::from_name)?.unwrap_or_default();
    options.stray_quotes = given.parsed("stray_quotes", Choice::from_name)?.unwrap_or_default();
    options.repeated_header = given.parsed("repeated_header", Choice::from_name)?.unwrap_or_default();
    options.allow_incomplete = given.or_default("allow_incomplete")?;
    options.invalid_utf8 = given.parsed("invalid_utf8", Choice::from_name)?.unwrap_or_default();
    Ok((given.or_default("files")?, options))
}

fn generate_options(
    schema: Schema,
    rows: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
) -> PyResult<(SchemaText, GenerateOptions)> {
    let given = Keywords(rows);
    let rows = given.or_default::<Vec<(Option<String>, String)>>("rows")?.into_iter().map(|(table, rows)| {
        let rows = units::count(&rows).map_err(|reason| PyValueError::new_err(format!("rows: {reason}")))?;
        Ok((table, rows))
    });
    refuse_replace(making)?;
    refuse_append(making)?;
    let mut options = GenerateOptions::default().build(making_options(making)?).words(Arc::new(words::Keywords));
    options.rows = rows.collect::<PyResult<_>>()?;
    options.set = given.or_default("set")?;
    options.seed = given.parsed("seed", units::count)?;
    options.scale = given.parsed("scale", parse::scale)?;
    options.until = given.or_default("until")?;
    options.shard = given.parsed("shard", parse::shard)?;
    let schema = schema_of(schema);
    Ok((if given.or_default("is_recipe")? { schema.recipe() } else { schema }, options))
}
