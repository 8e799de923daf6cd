//! A database whose rows come while the program runs.

mod row;
mod value;

pub use row::{Row, RowValues};
pub use value::{ToValue, UnsupportedValue, Value};

use crate::pipeline::Pipeline;
use crate::{AppendOptions, AppendReport, Error, ErrorKind, Finished, Options, Result, Schema, Summary, Target};
use litepress_check::Report;
use row::RowBuffer;
use std::path::Path;
use std::time::Duration;

/// The engine is waited for in steps of this length; nothing happens between them.
const PATIENCE: Duration = Duration::from_secs(1);
/// Name of the schema in errors.
const ORIGIN: &str = "<schema>";

/// Writes rows into a new database.
///
/// Create it with the schema, insert rows into its [tables](Self::table) in any order, and [`finish`](Self::finish).
/// The file appears under its name when `finish` returns.
///
/// * **Order**: none is required. Rows of a table with an INTEGER PRIMARY KEY or WITHOUT ROWID are sorted if they need
///   to be. Rows may go to one table now and to another next.
/// * **Memory**: within [`Options::memory_bytes`], and about 8 MiB for every table with rows. The table with the first
///   4 MiB of rows is written while rows arrive. Rows of other tables are kept encoded, beyond an eighth of the memory
///   in a temporary file.
/// * **Errors**: a row with a wrong number of values, or with a value that SQLite has no form for, is refused and the
///   writer goes on. A row that breaks NOT NULL or a type of a STRICT table is reported by the call that inserts it. Two
///   rows of one key, and a CHECK, are reported later, at the latest by `finish`. Such an error is the end of the
///   writer: all later calls fail and say why.
/// * **Drop**: dropped unfinished, it leaves nothing behind. A file that was there is as it was.
/// * **fork(2)**: a forked process leaves the writer to its parent. Dropped there, the copy has no effect; `finish`, the
///   request for a table and [`TableWriter::append`] fail there, and so does [`TableWriter::insert`] after some MiB.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("metrics.db");
/// let schema = "CREATE TABLE metrics (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value REAL);
///               CREATE INDEX metrics_name ON metrics (name);";
/// let mut db = litepress::Writer::create(&path, schema)?;
/// let mut metrics = db.table("metrics")?;
/// metrics.insert((1, "load", 0.5))?;
/// metrics.insert((2, "temperature", None::<f64>))?;
/// let finished = db.finish()?;
/// assert_eq!(finished.summary.rows, 2);
/// # let rows: i64 = rusqlite::Connection::open(&path)?.query_row("SELECT count(*) FROM metrics", (), |row| row.get(0))?;
/// # assert_eq!(rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    pipeline: Pipeline,
    /// Rows that are not encoded yet, by table.
    buffers: Vec<Option<RowBuffer>>,
    /// The error that has ended the writer.
    failure: Option<String>,
}

impl Writer {
    /// Begins a database in a new file. `schema` is the text of its CREATE statements.
    ///
    /// # Errors
    /// A schema that SQLite refuses; a file that exists or cannot be written. [`create_with`](Self::create_with) and
    /// [`Options::overwrite`] replace an existing database.
    pub fn create(path: impl AsRef<Path>, schema: &str) -> Result<Self> {
        Self::create_with(path.as_ref(), schema, Options::default())
    }

    /// Begins a database in a file or in memory.
    ///
    /// ```
    /// use litepress::{Conflict, Options, Target, Writer};
    ///
    /// let options = Options::default().on_conflict(Conflict::Ignore);
    /// let mut db = Writer::create_with(Target::Memory, "CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID", options)?;
    /// let mut t = db.table("t")?;
    /// for word in ["one", "two", "one"] {
    ///     t.insert([word])?;
    /// }
    /// let finished = db.finish()?;
    /// assert_eq!(finished.summary.rows, 2);
    /// assert_eq!(&finished.bytes.unwrap()[..15], b"SQLite format 3");
    /// # Ok::<(), litepress::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create`](Self::create); options that are out of range.
    pub fn create_with(target: impl Into<Target>, schema: &str, options: Options) -> Result<Self> {
        Self::of(Pipeline::create(target.into(), Schema::from_sql(schema, ORIGIN)?, options)?)
    }

    /// Begins to add rows to a database that exists. Its tables take rows as they are. [`finish`](Self::finish) adds all rows in one
    /// transaction, and no lock is held before: they wait in memory and in a temporary file.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("metrics.db");
    /// use litepress::{AppendOptions, Conflict, Options, Writer};
    ///
    /// let mut db = Writer::create(&path, "CREATE TABLE metrics (id INTEGER PRIMARY KEY, value REAL)")?;
    /// db.table("metrics")?.insert((1, 0.5))?;
    /// db.finish()?;
    ///
    /// let options = Options::default().on_conflict(Conflict::Update);
    /// let mut db = Writer::open(&path, options, &AppendOptions::default())?;
    /// let mut metrics = db.table("metrics")?;
    /// metrics.insert((1, 0.75))?;
    /// metrics.insert((2, 1.5))?;
    /// let appended = db.finish()?.appended.unwrap();
    /// assert_eq!((appended.tables[0].added, appended.tables[0].updated), (1, Some(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A file that does not exist, is no database, or cannot be written; options that have no effect on a database that exists.
    pub fn open(path: impl AsRef<Path>, options: Options, append: &AppendOptions) -> Result<Self> {
        Self::of(Pipeline::append(path.as_ref().to_owned(), None, options, append)?)
    }

    /// Does the same as [`open`](Self::open), and makes tables that the database lacks by `schema`, or all of it if there is no
    /// file.
    ///
    /// # Errors
    /// As [`open`](Self::open); a schema that SQLite refuses.
    pub fn open_with(path: impl AsRef<Path>, schema: &str, options: Options, append: &AppendOptions) -> Result<Self> {
        let schema = Schema::from_sql(schema, ORIGIN)?;
        Self::of(Pipeline::append(path.as_ref().to_owned(), Some(schema), options, append)?)
    }

    fn of(pipeline: Pipeline) -> Result<Self> {
        let buffers = pipeline.schema().tables.iter().map(|_| None).collect();
        Ok(Self { pipeline, buffers, failure: None })
    }

    /// Returns the schema as SQLite reads it.
    pub fn schema(&self) -> &Schema {
        self.pipeline.schema()
    }

    /// Returns a table. Its rows have values for all columns that are not computed, in the order of the schema.
    ///
    /// The name is compared as SQLite compares names. For the best speed keep the table instead of asking for it row by
    /// row.
    ///
    /// # Errors
    /// No table has this name; rows are to update others, and the table has no key that the options name, or none at all.
    pub fn table(&mut self, name: &str) -> Result<TableWriter<'_>> {
        self.table_with(name, None)
    }

    /// Returns a table whose rows have values for these columns, in this order. All other columns get their DEFAULT, or
    /// NULL; an INTEGER PRIMARY KEY gets the next integer after the largest one so far.
    ///
    /// ```
    /// use litepress::{Options, Target, Writer};
    ///
    /// let schema = "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, land TEXT DEFAULT 'CH')";
    /// let mut db = Writer::create_with(Target::Memory, schema, Options::default())?;
    /// db.table_columns("person", &["name"])?.insert(["Ada"])?;
    /// db.finish()?;
    /// # Ok::<(), litepress::Error>(())
    /// ```
    ///
    /// # Errors
    /// No table has this name; it has no such column; a column that is left out needs a value, or belongs to the key by which rows
    /// are updated.
    pub fn table_columns(&mut self, name: &str, columns: &[&str]) -> Result<TableWriter<'_>> {
        self.table_with(name, Some(columns))
    }

    /// Returns the table at this position, for rows of the columns for which it was asked last. For faces that number their tables.
    ///
    /// # Errors
    /// If the writer has failed.
    ///
    /// # Panics
    /// If the table was never asked for.
    #[doc(hidden)]
    pub fn prepared_table(&mut self, table: usize) -> Result<TableWriter<'_>> {
        self.refuse_failed()?;
        assert!(self.buffers[table].is_some(), "the table was asked for");
        Ok(TableWriter { writer: self, table })
    }

    fn table_with(&mut self, name: &str, columns: Option<&[&str]>) -> Result<TableWriter<'_>> {
        self.refuse_lost()?;
        let Some(table) = self.schema().position(name) else {
            let names: Vec<&str> = self.schema().tables.iter().map(|table| table.name.as_str()).collect();
            let error = Error::new(ErrorKind::Usage, format!("there is no table {name}"));
            return Err(error.advise(format!("the schema has {}", names.join(", "))));
        };
        self.pipeline.name_table(table)?;
        let is_ready = match (&self.buffers[table], columns) {
            (Some(buffer), Some(columns)) => buffer.has_columns(columns),
            (Some(buffer), None) => buffer.has_columns(&self.ordinary_columns(table)),
            (None, _) => false,
        };
        if !is_ready {
            let buffer = RowBuffer::new(self.pipeline.encoder(table), columns)?;
            self.encode(table)?;
            self.buffers[table] = Some(buffer);
        }
        Ok(TableWriter { writer: self, table })
    }

    fn ordinary_columns(&self, table: usize) -> Vec<&str> {
        let table = &self.schema().tables[table];
        table.ordinary_columns().map(|position| table.columns[position].name.as_str()).collect()
    }

    /// Completes the database, waits for the disk and gives the file its name.
    ///
    /// # Errors
    /// Rows that break a rule; a write, sync or rename that fails. The target is then as it was, except if only the sync
    /// of its folder failed.
    pub fn finish(self) -> Result<FinishedDatabase> {
        self.finish_watched(PATIENCE, &mut || ())
    }

    /// Does the same as [`finish`](Self::finish), and calls `watch` in between, again and again after this time. It may ask the
    /// [progress](Options::progress), or stop it.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); [`ErrorKind::Interrupted`] after [`Progress::stop`](crate::Progress::stop).
    pub fn finish_watched(mut self, time: Duration, watch: &mut dyn FnMut()) -> Result<FinishedDatabase> {
        self.refuse_lost()?;
        for table in 0..self.buffers.len() {
            self.encode(table)?;
        }
        self.pipeline.end_rows();
        for table in 0..self.buffers.len() {
            self.send_parts(table)?;
        }
        self.pipeline.begin_finish()?;
        while !self.pipeline.wait(time) {
            watch();
        }
        let Finished { summary, bytes, verified, appended, .. } = self.pipeline.finish()?;
        Ok(FinishedDatabase { summary, bytes, verified, appended, cut_texts: self.pipeline.cut_texts() })
    }

    /// Encodes the waiting rows of a table and sends whole parts. An error ends the writer.
    fn encode(&mut self, table: usize) -> Result<()> {
        let Some(buffer) = &mut self.buffers[table] else { return Ok(()) };
        let encoded = buffer.encode(self.pipeline.encoder(table));
        encoded.and_then(|()| self.send_parts(table)).map_err(|error| self.fail(error))
    }

    fn send_parts(&mut self, table: usize) -> Result<()> {
        while !self.pipeline.send_parts(table, PATIENCE)? {}
        Ok(())
    }

    /// Ends the writer with an error, which it returns: all later calls fail and say why. For faces whose rows come in steps of which
    /// none may be published without the others.
    #[doc(hidden)]
    pub fn end(&mut self, error: Error) -> Error {
        if self.failure.is_some() { error } else { self.fail(error) }
    }

    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        self.failure = Some(error.to_string());
        self.pipeline.give_up();
        error
    }

    /// Refuses a writer that has failed, or that is the copy of a forked process. For faces that have something to do before they
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`ErrorKind::Usage`], with the failure.
    #[doc(hidden)]
    pub fn refuse_lost(&self) -> Result<()> {
        self.pipeline.refuse_forked()?;
        self.refuse_failed()
    }

    fn refuse_failed(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(Error::new(ErrorKind::Usage, format!("the database was given up: {failure}"))),
        }
    }
}

/// A finished database.
#[derive(Debug)]
#[non_exhaustive]
pub struct FinishedDatabase {
    /// Sizes and times.
    pub summary: Summary,
    /// The whole file, if the target was [`Target::Memory`].
    pub bytes: Option<Vec<u8>>,
    /// The result of [`Options::verify`]: no faults, or [`Writer::finish`] would have failed.
    pub verified: Option<Report>,
    /// The report of rows that were added to a database that exists.
    pub appended: Option<AppendReport>,
    /// Number of texts in numeric columns that were cut at a NUL character, as SQLite does: only the number before it is
    /// stored. A TEXT column keeps such texts.
    pub cut_texts: u64,
}

/// A table of a [`Writer`], which takes rows.
#[derive(Debug)]
pub struct TableWriter<'w> {
    writer: &'w mut Writer,
    table: usize,
}

impl TableWriter<'_> {
    /// Inserts a row: a tuple, an array, a slice or another [`Row`].
    ///
    /// # Errors
    /// A wrong number of values, or one that SQLite has no form for: the row is not inserted, and the writer goes on. A
    /// row that breaks a rule of its table, or an engine that has failed: the end of the writer.
    #[inline]
    pub fn insert(&mut self, row: impl Row) -> Result<()> {
        let Writer { pipeline, buffers, failure } = &mut *self.writer;
        if failure.is_some() {
            return self.writer.refuse_failed();
        }
        let buffer = buffers[self.table].as_mut().expect("a table that was asked for has a buffer");
        let encoder = pipeline.encoder(self.table);
        if buffer.push(&row, &encoder.table().name, encoder.rows())? {
            self.writer.encode(self.table)?;
        }
        Ok(())
    }

    /// Appends the rows of an Arrow record batch. Columns are found by their names.
    ///
    /// # Errors
    /// Columns that the table does not have, or types that it cannot store: nothing is appended, and the writer goes on.
    /// A row that breaks a rule of its table, or an engine that has failed: the end of the writer.
    #[cfg(feature = "arrow")]
    pub fn append(&mut self, batch: &arrow_array::RecordBatch) -> Result<()> {
        use litepress_load::{arrow, options::ReadOptions};
        let writer = &mut *self.writer;
        writer.refuse_lost()?;
        let batches = arrow_array::RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
        let mut reader = arrow::batches(Box::new(batches), &ReadOptions::default())?;
        let column_sources = writer.pipeline.encoder(self.table).supplies_of_reader(&mut *reader)?;
        // Rows that were inserted before come first.
        writer.encode(self.table)?;
        let name = writer.pipeline.encoder(self.table).table().name.clone();
        loop {
            let piece = reader.next_piece().map_err(|error| writer.fail(error.in_table(&name)))?;
            let Some(mut piece) = piece else { return Ok(()) };
            let encoded = writer.pipeline.encoder(self.table).encode(&mut *piece, &column_sources);
            encoded.and_then(|()| writer.send_parts(self.table)).map_err(|error| writer.fail(error))?;
        }
    }

    /// Returns the number of rows that were given to the table.
    pub fn rows(&mut self) -> u64 {
        let waiting = self.writer.buffers[self.table].as_ref().map_or(0, RowBuffer::rows);
        self.writer.pipeline.encoder(self.table).rows() + waiting as u64
    }
}
