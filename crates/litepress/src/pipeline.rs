//! The way of given rows into a database: below [`Writer`](crate::Writer), and for programs that have their rows in
//! [batches](litepress_load::reader::Batch) already, such as the Python package.
//!
//! ```text
//! batches --encoder.rs--> parts of encoded rows --+--> the engine, in a thread (engine_thread.rs)
//!                                                 +--> Spool: tables that are written later
//! ```
//!
//! The engine writes one table after another. The table with the first whole part is written first, while its rows
//! arrive. Rows of other tables are encoded and spooled. So a bad value is reported when its batch is encoded; only a
//! rule about all rows (UNIQUE, CHECK) is reported by a later call or by the last one.
//!
//! **Every wait has a time limit**, so that a caller can look for signals in between: [`Pipeline::send_parts`] and
//! [`Pipeline::wait`] return `false` when it has passed, and are called again.

mod column;
mod encoder;
mod engine_thread;

pub use column::{ColumnBuilder, MAX_VALUE_BYTES, RowsInMemory};
pub use encoder::TableEncoder;

use crate::append::{AppendJob, existing};
use crate::build::{refuse_special_name, refuse_special_target};
use crate::{AppendOptions, Database, Error, ErrorKind, Finished, MIN_MEMORY_BYTES, Options, Result, Schema, Target};
use engine_thread::{Destination, EngineThread, SendResult};
use litepress_engine::plan::{BuildMethod, plan_objects};
use litepress_engine::{Spool, SpoolBudget, check_append_options, refuse_stale_indexes};
use litepress_rows::RowidOrder;
use litepress_rows::schema::SchemaAdditions;
use std::collections::BTreeSet;
use std::mem;
use std::path::PathBuf;
use std::time::Duration;

/// The share of the memory that spooled rows may take: one part in this many.
const SPOOL_SHARE: u64 = 8;

/// A database whose tables are filled in any order.
///
/// REQUIRES: after an error of [`encoder`](Self::encoder)'s or of this type's methods, the database is lost: it is to be
/// dropped. Order: encode and [`send_parts`](Self::send_parts) for any table at any time; then
/// [`end_rows`](Self::end_rows), `send_parts` for every table, [`begin_finish`](Self::begin_finish),
/// [`wait`](Self::wait), [`finish`](Self::finish).
/// Memory: within [`Options::memory_bytes`], and about 8 MiB for every table with rows. Dropped unfinished, it leaves
/// nothing behind.
///
/// **It belongs to the process that made it.** A forked process has a copy without the threads, and no right to the files. Dropped
/// there, the copy removes nothing and leaks its memory. `send_parts` and `begin_finish` fail there.
#[derive(Debug)]
pub struct Pipeline {
    /// The process that made it.
    process: u32,
    target: Target,
    options: Options,
    schema: Schema,
    state: State,
    /// The table whose parts go to the engine at once.
    streamed: Option<usize>,
    /// Whether the database existed before.
    is_append: bool,
    /// Positions of the tables that [were named](Self::name_table), if their old rows are deleted.
    truncated: Option<BTreeSet<usize>>,
    /// Positions of the tables whose rows may not be replaced.
    stale: BTreeSet<usize>,
    /// Positions of the tables, in the order in which the engine takes them.
    order: Vec<usize>,
    /// Tables that can be streamed.
    may_be_first: Vec<usize>,
    tables: Vec<(TableEncoder, Spool)>,
    budget: SpoolBudget,
}

/// Who has the database.
enum State {
    /// No table has a whole part yet.
    Waiting(Box<Destination>),
    Running(EngineThread),
    /// The engine has failed, or is done.
    Over,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Waiting(_) => "Waiting",
            Self::Running(_) => "Running",
            Self::Over => "Over",
        })
    }
}

impl Pipeline {
    /// Begins a database.
    ///
    /// # Errors
    /// As [`Database::create`]; a [name](refuse_special_name) that is no file's.
    pub fn create(target: Target, schema: Schema, options: Options) -> Result<Self> {
        refuse_special_target(&target)?;
        let spool_bytes = options.memory_bytes / SPOOL_SHARE;
        let least = MIN_MEMORY_BYTES.min(options.memory_bytes);
        let mut of_engine = options.clone();
        of_engine.memory_bytes = (options.memory_bytes - spool_bytes).max(least);
        let database = Database::create(&target, schema.clone(), &of_engine)?;
        let order = database.filling_order();
        let may_be_first = may_be_first(&schema, &options, &order);
        Ok(Self::of(Destination::New(Box::new(database)), target, schema, options, order, may_be_first))
    }

    /// Begins to add rows to a database that exists. `schema` defines tables that it may lack. Nothing is written, and no lock
    /// is held, before [`begin_finish`](Self::begin_finish). If there is no file, a new one is made by `schema`.
    ///
    /// # Errors
    /// If the file is no database; options that have no effect on a database that exists; as [`create`](Self::create).
    pub fn append(path: PathBuf, schema: Option<Schema>, options: Options, append: &AppendOptions) -> Result<Self> {
        refuse_special_name(&path)?;
        let Some(known) = existing(&path, append)? else {
            let message = "the database does not exist, and no schema says how to make it";
            let error = || Error::new(ErrorKind::Usage, message).in_file(&path);
            let schema = schema.ok_or_else(error)?;
            return Self::create(Target::File(path), schema, options);
        };
        check_append_options(&options)?;
        let mut full = known.clone();
        let objects = schema.map(|schema| full.add(&schema)).unwrap_or_default();
        let additions = SchemaAdditions { objects, ..SchemaAdditions::default() };
        let job = AppendJob {
            path: path.clone(),
            existing: known,
            schema: full.clone(),
            additions,
            options: options.clone(),
            append: append.clone(),
        };
        let order: Vec<usize> = (0..full.tables.len()).collect();
        let candidates = job.page_candidates(&order);
        let destination = Destination::Existing(Box::new(job), candidates);
        Ok(Self::of(destination, Target::File(path), full, options, order.clone(), order))
    }

    fn of(
        destination: Destination,
        target: Target,
        schema: Schema,
        options: Options,
        order: Vec<usize>,
        may_be_first: Vec<usize>,
    ) -> Self {
        let truncates = matches!(&destination, Destination::Existing(job, _) if job.append.truncate);
        let is_append = matches!(destination, Destination::Existing(..));
        let spool_bytes = options.memory_bytes / SPOOL_SHARE;
        let temp_dir = match (&options.temp_dir, &target) {
            (Some(folder), _) => folder.clone(),
            (None, Target::File(path)) => litepress_engine::folder_of(path).to_owned(),
            (None, _) => std::env::temp_dir(),
        };
        let is_stale = |table: &usize| refuse_stale_indexes(&schema, &options, [*table].into_iter()).is_err();
        let stale = (0..schema.tables.len()).filter(|table| is_append && is_stale(table)).collect();
        let table = |table| {
            let encoder = TableEncoder::new(table, &options);
            let spool = Spool::new(encoder.rowid_order());
            let spool = if is_append { spool.dense(table) } else { spool };
            (encoder, spool)
        };
        Self {
            process: std::process::id(),
            stale,
            may_be_first,
            order,
            tables: schema.tables.iter().map(table).collect(),
            budget: SpoolBudget::new(usize::try_from(spool_bytes).unwrap_or(usize::MAX), &temp_dir),
            target,
            options,
            schema,
            state: State::Waiting(Box::new(destination)),
            streamed: None,
            is_append,
            truncated: truncates.then(BTreeSet::new),
        }
    }

    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    /// Refuses every use in a forked process. It asks the operating system, which is too slow to be done for every row.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if another process made the pipeline.
    pub fn refuse_forked(&self) -> Result<()> {
        if !self.is_forked() {
            return Ok(());
        }
        let message = "this writer belongs to the process that this one was forked from";
        Err(Error::new(ErrorKind::Usage, message).advise("create one here"))
    }

    /// Notes that rows come for a table. If the old ones are to be deleted, they are, even if none come.
    ///
    /// # Errors
    /// If rows would be replaced, and a full-text index would keep their texts: before the rows are taken, which would be lost.
    pub fn name_table(&mut self, table: usize) -> Result<()> {
        if self.stale.contains(&table) {
            refuse_stale_indexes(&self.schema, &self.options, [table].into_iter())?;
        }
        if let Some(truncated) = &mut self.truncated {
            truncated.insert(table);
        }
        Ok(())
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the encoder of the table at this position of [`Schema::tables`].
    pub fn encoder(&mut self, table: usize) -> &mut TableEncoder {
        &mut self.tables[table].0
    }

    /// Returns the number of texts of all tables that were [cut](TableEncoder::cut_texts).
    pub fn cut_texts(&self) -> u64 {
        self.tables.iter().map(|(encoder, _)| encoder.cut_texts()).sum()
    }

    /// Returns whether [`send_parts`](Self::send_parts) has something to do for this table: parts to send, or a failed
    /// engine to report. Cheap enough to ask after every row.
    pub fn has_news(&self, table: usize) -> bool {
        !self.tables[table].0.whole.is_empty() || matches!(&self.state, State::Running(engine) if engine.is_over())
    }

    /// Sends the whole parts of a table to the engine, or spools them. Waits up to `patience` for room, and returns
    /// whether all parts are sent: if not, the call is to be repeated.
    ///
    /// # Errors
    /// The error of the engine; a temporary file that cannot be written; a forked process.
    pub fn send_parts(&mut self, table: usize, patience: Duration) -> Result<bool> {
        if matches!(&self.state, State::Running(engine) if engine.is_over()) {
            return Err(self.failure());
        }
        if !self.tables[table].0.whole.is_empty() {
            // The temporary file of the spools is the parent's, too.
            self.refuse_forked()?;
            self.stream(table)?;
        }
        while let Some(part) = self.tables[table].0.whole.pop_front() {
            if self.streamed != Some(table) {
                self.tables[table].1.push(&part, &mut self.budget)?;
                continue;
            }
            let State::Running(engine) = &self.state else { return Err(self.failure()) };
            match engine.send(part, patience) {
                SendResult::Done => {}
                SendResult::Full(part) => {
                    self.tables[table].0.whole.push_front(part);
                    return Ok(false);
                }
                SendResult::Over => return Err(self.failure()),
            }
        }
        Ok(true)
    }

    /// Starts the engine with this table, if it may be the first one.
    fn stream(&mut self, table: usize) -> Result<()> {
        if !matches!(self.state, State::Waiting(_)) || !self.may_be_first.contains(&table) {
            return Ok(());
        }
        let order = self.tables[table].0.rowid_order();
        self.streamed = Some(table);
        self.start(Some((table, order)))
    }

    fn start(&mut self, streamed: Option<(usize, RowidOrder)>) -> Result<()> {
        let State::Waiting(database) = mem::replace(&mut self.state, State::Over) else { return Ok(()) };
        let started = EngineThread::start(*database, streamed, self.options.progress.clone());
        let failed = |error| Error::io("start a thread for", &self.name(), error);
        self.state = State::Running(started.map_err(failed)?);
        Ok(())
    }

    fn name(&self) -> PathBuf {
        if let Target::File(path) = &self.target { path.clone() } else { PathBuf::from("<memory>") }
    }

    /// Returns the error of an engine that has ended too early.
    fn failure(&mut self) -> Error {
        match mem::replace(&mut self.state, State::Over) {
            State::Running(engine) => match engine.join() {
                Err(error) => error,
                Ok(_) => Error::new(ErrorKind::Io, "the engine has ended before its time"),
            },
            _ => Error::new(ErrorKind::Usage, "the database was given up"),
        }
    }

    /// Ends the last part of every table: no more rows come.
    pub fn end_rows(&mut self) {
        self.tables.iter_mut().for_each(|(encoder, _)| encoder.end());
    }

    /// Has the engine complete and publish the database. Returns as soon as the engine has taken the last part that
    /// was sent. REQUIRES: all parts are sent.
    ///
    /// # Errors
    /// The error of the engine; a forked process.
    pub fn begin_finish(&mut self) -> Result<()> {
        self.refuse_forked()?;
        assert!(self.tables.iter().all(|(encoder, _)| encoder.whole.is_empty()), "all parts are sent");
        if matches!(self.state, State::Waiting(_)) {
            self.start(None)?;
        }
        let State::Running(engine) = &self.state else { return Err(self.failure()) };
        let mut spooled = Vec::new();
        for &table in &self.order {
            let spool = mem::replace(&mut self.tables[table].1, Spool::new(RowidOrder::Unknown));
            let spool = spool.lacking(self.tables[table].0.missing().to_vec());
            let is_truncated = self.truncated.as_ref().is_some_and(|truncated| truncated.contains(&table));
            if !spool.is_empty() || is_truncated || self.is_append && self.streamed == Some(table) {
                spooled.push((table, spool));
            }
        }
        engine.finish(spooled);
        Ok(())
    }

    /// Waits up to `patience` for the engine. Returns whether it is done.
    pub fn wait(&mut self, patience: Duration) -> bool {
        if let State::Running(engine) = &self.state { engine.wait(patience) } else { true }
    }

    /// Waits for the engine and returns its result.
    ///
    /// # Errors
    /// The error of the engine: the target is as it was, except if only the sync of its folder failed.
    pub fn finish(&mut self) -> Result<Finished> {
        match mem::replace(&mut self.state, State::Over) {
            State::Running(engine) => engine.join(),
            other => {
                self.state = other;
                Err(self.failure())
            }
        }
    }

    /// Discards the database. Returns when nothing is left of it. In a forked process it forgets the copy: to drop that would remove
    /// files of the other process, or wait for its threads.
    pub fn give_up(&mut self) {
        let state = mem::replace(&mut self.state, State::Over);
        if self.is_forked() {
            mem::forget(state);
        } else if let State::Running(engine) = state {
            engine.give_up();
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// Returns the tables that the engine may write first: those whose pages it writes, or any if SQLite inserts all of them.
fn may_be_first(schema: &Schema, options: &Options, order: &[usize]) -> Vec<usize> {
    let steps = plan_objects(schema, options.on_conflict);
    let is_direct = |table: &usize| {
        let name = &schema.tables[*table].name;
        let is_written = |method: &BuildMethod| matches!(method, BuildMethod::Direct | BuildMethod::Evaluated);
        steps.iter().any(|step| step.kind == "table" && step.name == *name && is_written(&step.method))
    };
    let direct: Vec<usize> = order.iter().copied().filter(is_direct).collect();
    if direct.is_empty() { order.to_vec() } else { direct }
}
