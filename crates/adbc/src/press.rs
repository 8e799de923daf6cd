//! Rows on their way through litepress: into a draft of a new database, or into tables that exist.

use arrow_array::RecordBatchReader;
use litepress::append::{AppendJob, existing};
use litepress::engine::Draft;
use litepress::named_options::NamedOptions;
use litepress::{AppendOptions, Database, Error, Finished, OnError, PageSize, Result, Route};
use litepress_load::arrow;
use litepress_load::input::Input;
use litepress_load::options::{Format, ReadOptions};
use litepress_load::plan::{Existing, InMemoryTable, LoadPlan, LoadRequest, PlannedTable};
use litepress_load::rejects::Rejects;
use litepress_load::source::LoadSource;
use litepress_rows::Source;
use std::path::Path;
use std::sync::Arc;

/// Name of given CREATE statements in errors.
const ORIGIN: &str = "<the schema of the transaction>";

/// Rows for a table.
pub struct Rows {
    table: InMemoryTable,
}

impl Rows {
    /// Takes the rows of a stream.
    ///
    /// # Errors
    /// Data without columns, or with columns that tables cannot have.
    pub fn new(table: &str, stream: Box<dyn RecordBatchReader + Send>) -> Result<Self> {
        let reader = arrow::batches(stream, &ReadOptions::default()).map_err(|error| error.in_table(table))?;
        Ok(Self { table: InMemoryTable { table: table.to_owned(), reader } })
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.table.reader.columns().iter().map(|column| column.name.clone()).collect()
    }
}

fn request(options: &NamedOptions, target: &Path) -> LoadRequest {
    let folder = || litepress::engine::folder_of(target).to_owned();
    LoadRequest {
        options: options.tables.clone(),
        store_as: options.store_as.clone(),
        conflict: options.build.on_conflict,
        threads: options.build.threads,
        temp_dir: options.build.temp_dir.clone().unwrap_or_else(folder),
        ..LoadRequest::default()
    }
}

fn sources(plan: &LoadPlan, options: &NamedOptions) -> Result<Vec<(usize, LoadSource)>> {
    let rejects = Arc::new(Rejects::new(None, false, 0)?);
    let page_size = options.build.page_size.unwrap_or(PageSize::DEFAULT);
    let source = |table: &PlannedTable| {
        let source = plan.source(table, page_size, OnError::Abort, &rejects)?;
        Ok((table.table, source))
    };
    plan.tables.iter().map(source).collect()
}

/// Prints a database beside `target`. `schema` has CREATE statements for the table, and others; without it, the table is
/// defined by its rows and the options. Returns the number of rows.
///
/// # Errors
/// Mistakes in the options and in the rows; a file that cannot be written.
pub fn print(target: &Path, rows: Rows, schema: Option<String>, options: &NamedOptions) -> Result<(u64, Draft)> {
    let mut request = request(options, target);
    if let Some(schema) = schema {
        request.schema = Some((schema, ORIGIN.to_owned()));
        request.options = litepress::TableOptions::default();
    }
    let plan = LoadPlan::from_readers(request, vec![rows.table], &|| options.build.progress.go_on())?;
    let mut database = Database::create_draft(target, plan.schema.clone(), &options.build)?;
    for (table, source) in sources(&plan, options)? {
        database.fill(table, &source).map_err(|error| source.explain(error))?;
    }
    let (finished, draft) = database.finish_draft()?;
    Ok((finished.summary.rows, draft))
}

/// Adds rows to a table that exists, in a transaction of their own. Returns their number, and whether all went as pages.
///
/// # Errors
/// As [`print`]; a lock that another program keeps. The database is then as it was.
pub fn append(target: &Path, rows: Rows, options: &NamedOptions) -> Result<(u64, bool)> {
    add(target, options, |request| {
        LoadPlan::from_readers(request, vec![rows.table], &|| options.build.progress.go_on())
    })
}

/// Adds the rows of a table of another database, as [`append`] does.
///
/// # Errors
/// As [`append`].
pub fn append_printed(target: &Path, printed: &Path, options: &NamedOptions) -> Result<(u64, bool)> {
    let read = ReadOptions { format: Some(Format::Sqlite), ..ReadOptions::default() };
    let added = Input::from_path(printed, &read).and_then(|input| {
        add(target, options, |request| {
            let request = LoadRequest { inputs: vec![input], read, store_as: Vec::new(), ..request };
            LoadPlan::new(request, &|| options.build.progress.go_on())
        })
    });
    added.map_err(|error| without_file(error, printed))
}

fn add(
    target: &Path,
    options: &NamedOptions,
    plan: impl FnOnce(LoadRequest) -> Result<LoadPlan>,
) -> Result<(u64, bool)> {
    let known = existing(target, &options.append)?.expect("the target exists");
    let existing = Some(Existing { schema: known.clone(), add_columns: options.append.add_columns });
    let plan = plan(LoadRequest { existing, ..request(options, target) })?;
    let sources = sources(&plan, options)?;
    let job = AppendJob {
        path: target.to_owned(),
        existing: known,
        schema: plan.schema.clone(),
        additions: plan.additions.clone(),
        options: for_existing(options),
        append: options.append.clone(),
    };
    let listed: Vec<(usize, &dyn Source)> =
        sources.iter().map(|(table, source)| (*table, source as &dyn Source)).collect();
    let explain = |error: Error| sources.iter().fold(error, |error, (_, source)| source.explain(error));
    let finished = job.run(&listed, &|| Ok(())).map_err(explain)?;
    Ok(counted(&finished))
}

/// Returns the options of a database that exists: it keeps its pages.
fn for_existing(options: &NamedOptions) -> litepress::Options {
    let mut build = options.build.clone();
    build.page_size = None;
    build.overwrite = false;
    build
}

fn counted(finished: &Finished) -> (u64, bool) {
    let Some(appended) = &finished.appended else { return (finished.summary.rows, false) };
    let rows = appended.tables.iter().map(|table| table.added + table.updated.unwrap_or(0)).sum();
    (rows, appended.tables.iter().all(|table| table.plan.route != Route::Sql))
}

/// Removes a file that its user does not know from the place of an error.
pub fn without_file(error: Error, file: &Path) -> Error {
    let place = error.place();
    if place.file.as_deref() != Some(file) {
        return error;
    }
    let mut clean = Error::new(error.kind(), error.message());
    if let Some(table) = &place.table {
        clean = clean.in_table(table);
    }
    if let Some(column) = &place.column {
        clean = clean.in_column(column);
    }
    if let Some(record) = place.record {
        clean = clean.in_record(record);
    }
    if let Some(value) = &place.value {
        clean = clean.with_value(value);
    }
    match error.advice_in(&crate::error::DriverWords) {
        Some(advice) => clean.advise(advice),
        None => clean,
    }
}

/// Returns the options of a copy of rows that litepress makes for itself.
pub fn for_scratch(options: &NamedOptions) -> NamedOptions {
    let mut scratch = NamedOptions { build: options.build.clone(), ..NamedOptions::default() };
    scratch.store_as.clone_from(&options.store_as);
    scratch.build.on_conflict = litepress::Conflict::Abort;
    scratch.build.sync = litepress::Sync::Off;
    scratch.build.verify = litepress::Verify::None;
    scratch.build.analyze = false;
    scratch.build.key.clear();
    scratch.build.update_columns.clear();
    scratch.build.page_size = None;
    scratch.append = AppendOptions::default();
    scratch
}
