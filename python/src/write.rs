//! `write` and `to_bytes`: a database of data that are all there, table by table.

use crate::engine_thread::{self, TableInput, Watcher};
use crate::errors::exception;
use crate::feed;
use crate::options::{self, IfExists, append_options, if_exists, making_options, table_options};
use crate::words::Keywords;
use crate::{arrow_in, rows};
use litepress::append::{self, AppendJob, offer_append};
use litepress::own_locks::OwnUse;
use litepress::{AppendOptions, BuildReport};
use litepress::{Database, Error, ErrorKind, Finished, Options, PageSize, Result, Schema, Target, notes_of};
use litepress_load::input::Input;
use litepress_load::options::{Format, ReadOptions};
use litepress_load::plan::{Existing, InMemoryTable, LoadPlan, LoadRequest, PlannedTable};
use litepress_load::rejects::Rejects;
use litepress_load::source::{LoadSource, OnError};
use litepress_rows::Source;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A table's name and its data, as `litepress._describe.describe` returns them.
type Table<'py> = (String, Bound<'py, PyAny>);

/// Makes a database of these tables: a file, or bytes if `path` is `None`. Returns the report as JSON, and the bytes.
#[pyfunction]
#[pyo3(signature = (path, tables, schema, table_options, store_as, making_options, adapters, tell))]
#[expect(clippy::too_many_arguments, reason = "called by the package alone, which names them")]
#[expect(clippy::too_many_lines, reason = "the steps of one call")]
pub fn write<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    tables: Vec<Table<'py>>,
    schema: Option<(String, String)>,
    table_options: &Bound<'py, PyDict>,
    store_as: Vec<(String, String)>,
    making_options: &Bound<'py, PyDict>,
    adapters: Option<&Bound<'py, PyAny>>,
    tell: Option<Py<PyAny>>,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    let started = Instant::now();
    let mut options = self::making_options(making_options)?;
    let append = if_exists(&options::Keywords(making_options))? == IfExists::Append;
    let existing = match path.as_deref().filter(|_| append) {
        Some(path) => existing(py, path, making_options)?,
        None => None,
    };
    let keep = begin_replacing(py, path.as_deref(), making_options, &mut options)?;
    let has_schema = schema.is_some();
    let request = LoadRequest {
        keep,
        existing: existing
            .as_ref()
            .map(|(schema, append)| Existing { schema: schema.clone(), add_columns: append.add_columns }),
        schema,
        options: self::table_options(table_options)?,
        store_as,
        conflict: options.on_conflict,
        threads: options.threads,
        temp_dir: options.temp_dir.clone().unwrap_or_else(std::env::temp_dir),
        ..LoadRequest::default()
    };
    let raise = |error| exception(py, &error);
    let known = request.schema.as_ref().map(|(text, origin)| Schema::from_sql(text, origin));
    let known = known.transpose().map_err(raise)?;
    // Values of Python become what the tables that get them take.
    let known = match (existing.clone(), known) {
        // Rows may have keys that the tables lack.
        (Some((_, append)), _) if append.add_columns => None,
        (Some((mut schema, _)), defined) => {
            defined.iter().for_each(|defined| drop(schema.add(defined)));
            Some(schema)
        }
        (None, defined) => defined,
    };
    let data = Data::open(py, tables, known.as_ref(), adapters, &request)?;
    let plan = LoadPlan::from_readers(request, data.given, &|| options.progress.go_on()).map_err(raise)?;
    refuse_left_out(&plan).map_err(raise)?;
    options = options.clone().analyze(options.analyze || plan.has_statistics && !options.part);
    let target = path.clone().map_or(Target::Memory, Target::File);
    let made = py.detach(|| {
        let destination = match (existing, &target) {
            (Some((existing, append)), Target::File(path)) => Destination::Existing(Box::new(AppendJob {
                path: path.clone(),
                existing,
                schema: plan.schema.clone(),
                additions: plan.additions.clone(),
                options: options.clone(),
                append,
            })),
            _ => Destination::New(Box::new(
                Database::create(&target, plan.schema.clone(), &options).map_err(offer_append)?,
            )),
        };
        let rejects = Arc::new(Rejects::new(None, false, 0)?);
        Ok((destination, sources(&plan, &options, &rejects)?, rejects))
    });
    let (destination, sources, rejects) = made.map_err(raise)?;
    let order = match &destination {
        Destination::New(database) => database.filling_order(),
        Destination::Existing(_) => sources.iter().map(|(table, _)| *table).collect(),
    };
    let inputs = in_order(&plan, &order, data.inputs);
    let job = || match destination {
        Destination::New(database) => make(*database, &order, &sources, &|| {
            // Otherwise a database of which tables are kept would be in use by this process.
            path.iter().for_each(|path| plan.close_database(path));
        }),
        Destination::Existing(append) => add(&append, &sources),
    };
    let finished = engine_thread::run(py, &options.progress, Watcher::new(tell), inputs, job)?;
    let verify = options.verify;
    let mut report = BuildReport::new(finished, path, started, options);
    let bytes = report.bytes.take().map(|bytes| PyBytes::new(py, &bytes));
    let mut report = report.to_json();
    report["cut_texts"] = rejects.cut_texts().into();
    let notes = notes_of(&plan.schema, verify, sources.iter().map(|(_, source)| source), has_schema);
    report["notes"] = notes.iter().map(|note| note.in_words(&Keywords)).collect();
    if let Some(dropped) = report["dropped"].as_array_mut() {
        dropped.extend(plan.dropped.iter().map(|object| object.as_str().into()));
    }
    Ok((report.to_string(), bytes))
}

/// The database that gets the rows.
enum Destination {
    New(Box<Database>),
    Existing(Box<AppendJob>),
}

/// Returns the schema of the database that rows are added to, and how they are. `None` if there is no file.
fn existing(py: Python<'_>, path: &Path, arguments: &Bound<'_, PyDict>) -> PyResult<Option<(Schema, AppendOptions)>> {
    let append = append_options(arguments)?;
    let schema = py.detach(|| append::existing(path, &append)).map_err(|error| exception(py, &error))?;
    Ok(schema.map(|schema| (schema, append)))
}

/// Adds the rows to the tables of a database that exists.
///
/// The functions of Python that make the rows may open the database, too. So this process must have no lock on it when the tables are
/// looked at, which closes the file, and none when the rows are inserted.
fn add(append: &AppendJob, sources: &[(usize, LoadSource)]) -> Result<Finished> {
    let listed: Vec<(usize, &dyn Source)> =
        sources.iter().map(|(table, source)| (*table, source as &dyn Source)).collect();
    drop(OwnUse::begin(&append.path)?);
    let own_use = RefCell::new(None);
    let begin_use = || {
        own_use.replace(Some(OwnUse::begin(&append.path)?));
        Ok(())
    };
    append.run(&listed, &begin_use).map_err(|error| {
        let table = error.place().table.clone();
        let source = sources.iter().find(|(_, source)| Some(&source.table().name) == table.as_ref());
        match source {
            Some((_, source)) => source.explain(error),
            None => error,
        }
    })
}

/// Prepares the replacement of some tables of a database, if that is wanted and it exists. Returns the database to keep.
fn begin_replacing(
    py: Python<'_>,
    path: Option<&Path>,
    arguments: &Bound<'_, PyDict>,
    options: &mut Options,
) -> PyResult<Option<Input>> {
    let is_wanted = options::if_exists(&options::Keywords(arguments))? == IfExists::Replace;
    let Some(path) = path.filter(|_| is_wanted) else { return Ok(None) };
    options.successor_of = litepress::engine::begin_replacing(path).map_err(|error| exception(py, &error))?;
    if options.successor_of.is_none() {
        return Ok(None);
    }
    options.overwrite = true;
    let read = ReadOptions { format: Some(Format::Sqlite), ..ReadOptions::default() };
    Input::from_path(path, &read).map(Some).map_err(|error| exception(py, &error))
}

/// Fails if something of the database to keep would be lost.
fn refuse_left_out(plan: &LoadPlan) -> Result<()> {
    if plan.left_out.is_empty() {
        return Ok(());
    }
    let message = format!("the database would lose {}", plan.left_out.join(", "));
    Err(Error::new(ErrorKind::Unsupported, message))
}

/// The data of all tables: readers for the plan, and the inputs of tables that only the interpreter can read.
#[derive(Default)]
struct Data {
    given: Vec<InMemoryTable>,
    /// With the table's name.
    inputs: Vec<(String, TableInput)>,
}

impl Data {
    fn open<'py>(
        py: Python<'py>,
        tables: Vec<Table<'py>>,
        schema: Option<&Schema>,
        adapters: Option<&Bound<'py, PyAny>>,
        request: &LoadRequest,
    ) -> PyResult<Self> {
        let waits_for_engine = request.existing.is_some();
        let mut opened = Self::default();
        for (table, described) in tables {
            let reader = if described.get_type().name()? == "Arrow" {
                arrow_in::reader(&described, &table)?
            } else {
                let known = schema.and_then(|schema| schema.table(&table));
                let maker =
                    rows::piece_maker(py, &described, &table, adapters, known, request.conflict, &request.store_as)?;
                let formed = maker.formed();
                let (feed, reader) = feed::channel(maker.fields().to_vec(), formed);
                opened.inputs.push((table.clone(), TableInput { maker, feed, waits_for_engine }));
                Box::new(reader)
            };
            opened.given.push(InMemoryTable { table, reader });
        }
        Ok(opened)
    }
}

/// Sorts the inputs by the order in which the database fills their tables.
fn in_order(plan: &LoadPlan, order: &[usize], mut inputs: Vec<(String, TableInput)>) -> Vec<TableInput> {
    let position = |name: &str| {
        let table = plan.schema.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name));
        order.iter().position(|filled| Some(*filled) == table)
    };
    inputs.sort_by_key(|(name, _)| position(name));
    inputs.into_iter().map(|(_, input)| input).collect()
}

/// Returns the source of each planned table, with the table's position in the schema.
fn sources(plan: &LoadPlan, options: &Options, rejects: &Arc<Rejects>) -> Result<Vec<(usize, LoadSource)>> {
    let page_size = options.page_size.or(plan.schema.settings.page_size.and_then(PageSize::new));
    let page_size = page_size.unwrap_or(PageSize::DEFAULT);
    let source = |table: &PlannedTable| {
        let source = plan.source(table, page_size, OnError::Abort, rejects)?;
        Ok((table.table, source))
    };
    plan.tables.iter().map(source).collect()
}

/// Fills a database. `before_publishing` runs when all rows were read.
fn make(
    mut database: Database,
    order: &[usize],
    sources: &[(usize, LoadSource)],
    before_publishing: &dyn Fn(),
) -> Result<Finished> {
    let source_of = |table: usize| sources.iter().find(|(position, _)| *position == table);
    let filled: Vec<usize> = order.iter().copied().filter(|&table| source_of(table).is_some()).collect();
    database.expect(&filled);
    for (table, source) in filled.into_iter().filter_map(source_of) {
        database.fill(*table, source).map_err(|error| source.explain(error))?;
    }
    before_publishing();
    database.finish()
}

/// Returns the name of the schema's table, or `None` if it does not have exactly one.
#[pyfunction]
pub fn only_table(py: Python<'_>, text: &str, origin: &str) -> PyResult<Option<String>> {
    let schema = Schema::from_sql(text, origin).map_err(|error| exception(py, &error))?;
    Ok(if let [table] = &schema.tables[..] { Some(table.name.clone()) } else { None })
}

/// Returns the names of the columns of the schema's table, or `None` if it has no such table.
#[pyfunction]
pub fn columns_of(py: Python<'_>, text: &str, origin: &str, table: &str) -> PyResult<Option<Vec<String>>> {
    let schema = Schema::from_sql(text, origin).map_err(|error| exception(py, &error))?;
    Ok(schema.table(table).map(|table| table.columns.iter().map(|column| column.name.clone()).collect()))
}
