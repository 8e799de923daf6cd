//! A database whose rows come while the program runs. Calls that may wait run on a thread of Node's pool.

use crate::batch::Batch;
use crate::error::told;
use arrow_ipc::reader::{FileReader, StreamReader};
use litepress::own_locks::OwnUse;
use litepress::{AppendOptions, Error, ErrorKind, Options, Progress, Result, TableWriter, Writer, option_by_name};
use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi::{Env, Task};
use napi_derive::napi;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A writer that index.js wraps.
#[napi]
pub struct NativeWriter {
    inner: Arc<Mutex<Inner>>,
    progress: Arc<Progress>,
}

/// The writer until it is finished or discarded, and its tables.
struct Inner {
    writer: Option<Writer>,
    /// The database, if it exists.
    existing: Option<PathBuf>,
    tables: Vec<Table>,
}

/// A table and the columns of its rows.
#[napi(object, object_from_js = false)]
#[derive(Clone)]
pub struct Table {
    /// Number of the table in this writer.
    pub number: u32,
    /// Name of the table.
    pub name: String,
    /// Columns of the rows.
    pub columns: Vec<String>,
}

/// Figures of a finished database.
#[napi(object, object_from_js = false)]
pub struct Summary {
    /// Rows of all tables; rows that were added to a database that existed.
    pub rows: f64,
    /// Bytes of the file.
    pub bytes: f64,
    /// Pages of the file.
    pub pages: f64,
}

/// Progress of a writer.
#[napi(object, object_from_js = false)]
pub struct Shown {
    /// Rows that were taken from the program.
    pub rows: f64,
    /// Bytes of pages that were handed to the file.
    pub bytes: f64,
    /// "rows of metric", "index metric_name"
    pub phase: String,
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles: exact to 9 * 10^15")]
fn count(number: u64) -> f64 {
    number as f64
}

impl Inner {
    fn writer(&mut self) -> Result<&mut Writer> {
        self.writer.as_mut().ok_or_else(finished)
    }

    fn number(&mut self, name: &str, columns: Option<Vec<String>>) -> Result<Table> {
        let writer = self.writer()?;
        let columns = if let Some(columns) = columns {
            let names: Vec<&str> = columns.iter().map(String::as_str).collect();
            writer.table_columns(name, &names)?;
            columns
        } else {
            writer.table(name)?;
            let table = writer.schema().table(name).expect("a table that was found");
            table.ordinary_columns().map(|position| table.columns[position].name.clone()).collect()
        };
        let number = u32::try_from(self.tables.len()).expect("fewer tables");
        self.tables.push(Table { number, name: name.to_owned(), columns });
        Ok(self.tables[number as usize].clone())
    }

    fn table(&mut self, number: u32) -> Result<TableWriter<'_>> {
        let Self { writer, tables, .. } = self;
        let table = tables.get(number as usize);
        let table = table.ok_or_else(|| Error::new(ErrorKind::Usage, format!("no table has the number {number}")))?;
        let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
        writer.as_mut().ok_or_else(finished)?.table_columns(&table.name, &columns)
    }

    /// Appends all batches of an Arrow file or stream. Columns are found by their names.
    fn append_arrow(&mut self, table: &str, bytes: &[u8]) -> Result<()> {
        let told = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Data, format!("the Arrow data cannot be read: {error}")).in_table(table)
        };
        let writer = self.writer()?;
        if bytes.starts_with(b"ARROW1") {
            for batch in FileReader::try_new(Cursor::new(bytes), None).map_err(|error| told(&error))? {
                writer.table(table)?.append(&batch.map_err(|error| told(&error))?)?;
            }
        } else {
            for batch in StreamReader::try_new(bytes, None).map_err(|error| told(&error))? {
                writer.table(table)?.append(&batch.map_err(|error| told(&error))?)?;
            }
        }
        Ok(())
    }
}

fn finished() -> Error {
    Error::new(ErrorKind::Usage, "the database is finished or was discarded")
}

/// Runs a function with the writer. A panic of an earlier call has left it unusable.
fn with<T>(inner: &Mutex<Inner>, function: impl FnOnce(&mut Inner) -> Result<T>) -> napi::Result<T> {
    told(function(&mut inner.lock().unwrap_or_else(PoisonError::into_inner)))
}

#[napi]
impl NativeWriter {
    /// Begins a new database, or to add rows to one. Options are pairs of name and value.
    #[napi(constructor)]
    pub fn new(path: String, schema: Option<String>, exists: bool, pairs: Vec<Vec<String>>) -> napi::Result<Self> {
        let (mut options, mut append) = (Options::default(), AppendOptions::default());
        for pair in &pairs {
            let [name, value] = pair.as_slice() else { continue };
            let unknown = || Error::new(ErrorKind::Usage, format!("there is no option \"{name}\""));
            let is_known = told(option_by_name::set(&mut options, &mut append, name, value))?;
            told(is_known.then_some(()).ok_or_else(unknown))?;
        }
        let progress = Arc::clone(&options.progress);
        let existing = exists.then(|| PathBuf::from(&path));
        let _own_use = told(existing.as_deref().map(OwnUse::begin).transpose())?;
        let writer = match (exists, schema) {
            (false, schema) => Writer::create_with(path.as_str(), &schema.unwrap_or_default(), options),
            (true, None) => Writer::open(path, options, &append),
            (true, Some(schema)) => Writer::open_with(path, &schema, options, &append),
        };
        let inner = Inner { writer: Some(told(writer)?), existing, tables: Vec::new() };
        Ok(Self { inner: Arc::new(Mutex::new(inner)), progress })
    }

    /// Gives a number to a table and columns.
    #[napi]
    pub fn table(&self, name: String, columns: Option<Vec<String>>) -> napi::Result<Table> {
        with(&self.inner, |inner| inner.number(&name, columns))
    }

    /// Inserts rows at once.
    #[napi]
    pub fn insert(&self, table: u32, batch: Batch) -> napi::Result<()> {
        with(&self.inner, |inner| batch.insert_into(inner.table(table)?))
    }

    /// Inserts rows on another thread.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn insert_apart(&self, table: u32, batch: Batch) -> AsyncTask<Work> {
        self.apart(move |inner| batch.insert_into(inner.table(table)?))
    }

    /// Appends an Arrow file or stream on another thread.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn append_arrow(&self, table: String, bytes: Uint8Array) -> AsyncTask<Work> {
        self.apart(move |inner| inner.append_arrow(&table, &bytes))
    }

    fn apart(&self, function: impl FnOnce(&mut Inner) -> Result<()> + Send + 'static) -> AsyncTask<Work> {
        AsyncTask::new(Work { inner: Arc::clone(&self.inner), function: Some(Box::new(function)) })
    }

    /// Completes the database on another thread.
    #[napi(ts_return_type = "Promise<Summary>")]
    pub fn finish(&self) -> AsyncTask<Finish> {
        AsyncTask::new(Finish { inner: Arc::clone(&self.inner) })
    }

    /// Discards the rows.
    #[napi]
    pub fn abort(&self) {
        self.progress.stop();
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).writer = None;
    }

    /// Returns the progress.
    #[napi]
    pub fn progress(&self) -> Shown {
        let progress = &self.progress;
        Shown { rows: count(progress.rows()), bytes: count(progress.bytes()), phase: progress.stage() }
    }

    /// Makes the call that runs, and the next one, fail.
    #[napi]
    pub fn stop(&self) {
        self.progress.stop();
    }
}

type Function = Box<dyn FnOnce(&mut Inner) -> Result<()> + Send>;

/// A call that runs on another thread.
pub struct Work {
    inner: Arc<Mutex<Inner>>,
    function: Option<Function>,
}

impl Task for Work {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<()> {
        let function = self.function.take().expect("a task runs once");
        with(&self.inner, function)
    }

    fn resolve(&mut self, _env: Env, (): ()) -> napi::Result<()> {
        Ok(())
    }
}

/// The end of a writer, on another thread.
pub struct Finish {
    inner: Arc<Mutex<Inner>>,
}

impl Task for Finish {
    type Output = Summary;
    type JsValue = Summary;

    fn compute(&mut self) -> napi::Result<Summary> {
        // The lock is free while it waits: the progress is asked by the thread of JavaScript.
        let (writer, existing) =
            with(&self.inner, |inner| Ok((inner.writer.take().ok_or_else(finished)?, inner.existing.take())))?;
        let _own_use = told(existing.as_deref().map(OwnUse::begin).transpose())?;
        let written = told(writer.finish())?;
        let added = written.appended.map(|appended| appended.tables.iter().map(|table| table.added).sum());
        let summary = written.summary;
        Ok(Summary {
            rows: count(added.unwrap_or(summary.rows)),
            bytes: count(summary.bytes),
            pages: count(summary.pages),
        })
    }

    fn resolve(&mut self, _env: Env, summary: Summary) -> napi::Result<Summary> {
        Ok(summary)
    }
}
