//! `create`: a database whose rows arrive while the program runs.
//!
//! ```text
//! append, extend --pending.rs--> batches --litepress::pipeline--> encoded, streamed or spooled, published
//! ```
//!
//! A value is checked by the call that appends it. A violation of a rule about all rows (UNIQUE, CHECK) is reported by a later
//! call, at the latest by `close`.
//!
//! Rows for a database that exists are added by `close`. If this process then has a lock on it, by another copy of SQLite, `close`
//! fails before it writes, and keeps the rows: it can be called again.
//!
//! One call at a time has the writer. Other threads wait in short naps, without the interpreter. A forked process has a copy of
//! the writer without its threads: every call on it fails, and it is dropped without a cleanup.

mod pending;

use crate::errors::exception;
use crate::options::{IfExists, Keywords, append_options, if_exists, making_options, refuse_replace};
use litepress::own_locks::OwnUse;
use litepress::pipeline::Pipeline;
use litepress::{AppendOptions, BuildReport, Error, ErrorKind, Finished, Options, Schema, Target};
use pending::{Failure, PendingRows, Pieces};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// Longest wait between two checks for Ctrl-C.
const NAP: Duration = Duration::from_millis(50);
/// Wait between two attempts to get the writer while another thread has it.
const TURN: Duration = Duration::from_millis(1);

/// A database in the making. `litepress/_writer.py` shows it to users.
#[pyclass(frozen)]
pub struct Writer {
    process: u32,
    names: Vec<String>,
    adapters: Py<PyDict>,
    /// The [number](this_thread) of the thread that has the writer; 0 for none.
    owner: AtomicU64,
    state: Mutex<State>,
}

enum State {
    Open(Box<Work>),
    Published,
    /// The reason why there is no database.
    GivenUp(String),
}

/// The state of an open writer.
struct Work {
    pipeline: Pipeline,
    pending: Vec<PendingRows>,
    started: Instant,
    /// The database that gets the rows, if it exists.
    existing: Option<PathBuf>,
}

#[pymethods]
impl Writer {
    /// Begins a database: in a file, or in memory if `path` is `None`.
    #[new]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        schema: Option<(String, String)>,
        making_options: &Bound<'_, PyDict>,
        adapters: Py<PyDict>,
    ) -> PyResult<Self> {
        refuse_replace(making_options)?;
        let options = self::making_options(making_options)?;
        let append = if_exists(&Keywords(making_options))? == IfExists::Append;
        let append = if append { Some(append_options(making_options)?) } else { None };
        let work = py.detach(|| Work::begin(path, schema, options, append)).map_err(|error| exception(py, &error))?;
        let names = work.pipeline.schema().tables.iter().map(|table| table.name.clone()).collect();
        let state = Mutex::new(State::Open(Box::new(work)));
        Ok(Self { process: std::process::id(), names, adapters, owner: AtomicU64::new(0), state })
    }

    /// Returns the names of the tables.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Returns the position of the table of this name; ASCII case does not matter, as in SQLite.
    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|table| table.eq_ignore_ascii_case(name))
    }

    /// Appends a row to a table.
    fn append(&self, row: &Bound<'_, PyAny>, table: usize) -> PyResult<()> {
        let py = row.py();
        self.with_work(py, |work| work.append(row, table, self.adapters.bind(py)))
    }

    /// Appends the rows of an iterable to a table.
    fn extend_rows(&self, rows: &Bound<'_, PyAny>, table: usize) -> PyResult<()> {
        const BETWEEN_SIGNALS: u64 = 1024;
        let py = rows.py();
        let mut taken = 0;
        let iterator = rows.try_iter()?;
        self.with_work(py, |work| {
            work.pipeline.name_table(table).map_err(Failure::Engine)?;
            for row in iterator {
                work.append(&row?, table, self.adapters.bind(py))?;
                taken += 1;
                if taken % BETWEEN_SIGNALS == 0 {
                    py.check_signals()?;
                }
            }
            Ok(())
        })
    }

    /// Appends columns or Arrow data, as `_data.describe` returns them, to a table.
    fn extend(&self, described: &Bound<'_, PyAny>, table: usize) -> PyResult<()> {
        let py = described.py();
        self.with_work(py, |work| {
            work.pipeline.name_table(table).map_err(Failure::Engine)?;
            let conflict = work.pipeline.options().on_conflict;
            let mut pieces = Pieces::open(described, self.adapters.bind(py), conflict, work.pipeline.encoder(table))?;
            while work.pending[table].take_piece(py, &mut pieces, work.pipeline.encoder(table))? {
                work.send_parts(py, table)?;
                py.check_signals()?;
            }
            work.send_parts(py, table)
        })
    }

    /// Returns the names of a table's columns.
    fn columns(&self, py: Python<'_>, table: usize) -> PyResult<Vec<String>> {
        self.with_work(py, |work| {
            let columns = &work.pipeline.encoder(table).table().columns;
            Ok(columns.iter().map(|column| column.name.clone()).collect())
        })
    }

    /// Returns the number of rows that a table was given.
    fn rows(&self, py: Python<'_>, table: usize) -> PyResult<u64> {
        self.with_work(py, |work| Ok(work.pending[table].total(work.pipeline.encoder(table))))
    }

    /// Publishes the database. Returns the report as JSON, and the bytes of a database in memory. Any exception gives it up, except that
    /// for a lock of this process.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
        self.refuse_forked()?;
        let mut turn = self.turn(py)?;
        let prepared = turn.work()?.end_rows(py);
        turn.done_or_given_up(py, prepared)?;
        let begun = turn.work()?.begin_use(py);
        let _own_use = begun.map_err(|error| exception(py, &error))?;
        let finished = turn.work()?.finish(py);
        let finished = turn.done_or_given_up(py, finished)?;
        let (report, bytes) = turn.work()?.report(finished);
        turn.end(py, State::Published);
        Ok((report, bytes.map(|bytes| PyBytes::new(py, &bytes))))
    }

    /// Returns whether the database is neither published nor given up. A writer that another thread has is open.
    #[getter]
    fn is_open(&self) -> bool {
        self.state.try_lock().map_or(true, |state| matches!(*state, State::Open(_)))
    }

    /// Gives the database up and leaves the target as it was. Has no effect on a database that is published or given up.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.refuse_forked()?;
        let mut turn = self.turn(py)?;
        if turn.work().is_ok() {
            turn.end(py, State::GivenUp("it was aborted".to_owned()));
        }
        Ok(())
    }
}

impl Writer {
    fn refuse_forked(&self) -> PyResult<()> {
        if std::process::id() == self.process {
            return Ok(());
        }
        let message = "this writer belongs to the process that this one was forked from: create one here";
        Err(PyRuntimeError::new_err(message))
    }

    /// Runs `act` on the open writer. An error of the engine gives the database up, an exception does not.
    fn with_work<T>(&self, py: Python<'_>, act: impl FnOnce(&mut Work) -> Result<T, Failure>) -> PyResult<T> {
        self.refuse_forked()?;
        let mut turn = self.turn(py)?;
        match act(turn.work()?) {
            Ok(done) => Ok(done),
            Err(Failure::Raised(error)) => Err(error),
            Err(Failure::Engine(error)) => {
                turn.end(py, State::GivenUp(error.to_string()));
                Err(exception(py, &error))
            }
        }
    }

    /// Waits until no other thread has the writer.
    fn turn(&self, py: Python<'_>) -> PyResult<Turn<'_>> {
        let thread = this_thread();
        loop {
            match self.state.try_lock() {
                Ok(state) => {
                    self.owner.store(thread, Ordering::Relaxed);
                    return Ok(Turn { owner: &self.owner, state });
                }
                Err(TryLockError::Poisoned(_)) => {
                    return Err(PyRuntimeError::new_err("the writer has panicked before"));
                }
                Err(TryLockError::WouldBlock) if self.owner.load(Ordering::Relaxed) == thread => {
                    let message = "the writer is taking rows from what now uses the writer: append when it is done";
                    return Err(PyRuntimeError::new_err(message));
                }
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| std::thread::sleep(TURN));
                    py.check_signals()?;
                }
            }
        }
    }
}

/// The writer, as long as one call has it.
struct Turn<'w> {
    owner: &'w AtomicU64,
    state: MutexGuard<'w, State>,
}

impl Turn<'_> {
    /// Returns the state of the open writer, or the exception for one that is closed or given up.
    fn work(&mut self) -> PyResult<&mut Work> {
        match &mut *self.state {
            State::Open(work) => Ok(work),
            State::Published => Err(PyValueError::new_err("the writer is closed: its database is published")),
            State::GivenUp(why) => Err(PyValueError::new_err(format!("the database was given up: {why}"))),
        }
    }

    /// Returns what is done. Any failure gives the database up.
    fn done_or_given_up<T>(&mut self, py: Python<'_>, done: Result<T, Failure>) -> PyResult<T> {
        match done {
            Ok(done) => Ok(done),
            Err(Failure::Raised(error)) => {
                self.end(py, State::GivenUp("it could not be completed".to_owned()));
                Err(error)
            }
            Err(Failure::Engine(error)) => {
                self.end(py, State::GivenUp(error.to_string()));
                Err(exception(py, &error))
            }
        }
    }

    /// Ends the writer in this state. Stops the engine before it returns.
    fn end(&mut self, py: Python<'_>, end: State) {
        let mut before = mem::replace(&mut *self.state, end);
        if let State::Open(work) = &mut before {
            let pipeline = &mut work.pipeline;
            py.detach(|| pipeline.give_up());
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.owner.store(0, Ordering::Relaxed);
    }
}

/// Returns the calling thread's number, above 0.
fn this_thread() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

impl Drop for Writer {
    fn drop(&mut self) {
        if std::process::id() != self.process {
            // Its threads are in the other process, and so is the right to remove files.
            let Ok(state) = self.state.get_mut() else { return };
            mem::forget(mem::replace(state, State::Published));
        }
    }
}

impl Work {
    fn begin(
        path: Option<PathBuf>,
        schema: Option<(String, String)>,
        options: Options,
        append: Option<AppendOptions>,
    ) -> litepress::Result<Self> {
        let schema = schema.map(|(text, origin)| Schema::from_sql(&text, &origin)).transpose()?;
        let existing = path.clone().filter(|path| append.is_some() && path.exists());
        let pipeline = match (path, append, schema) {
            (Some(path), Some(append), schema) => Pipeline::append(path, schema, options, &append)?,
            (path, _, Some(schema)) => Pipeline::create(path.map_or(Target::Memory, Target::File), schema, options)?,
            (_, _, None) => {
                return Err(Error::new(ErrorKind::Usage, "a database in memory needs a schema"));
            }
        };
        let conflict = pipeline.options().on_conflict;
        let pending = pipeline.schema().tables.iter().map(|table| PendingRows::new(table, conflict)).collect();
        Ok(Self { pipeline, pending, started: Instant::now(), existing })
    }

    fn append(&mut self, row: &Bound<'_, PyAny>, table: usize, adapters: &Bound<'_, PyDict>) -> Result<(), Failure> {
        self.pending[table].append(row, adapters, self.pipeline.encoder(table))?;
        self.send_parts(row.py(), table)
    }

    /// Sends the complete parts of a table, however long it takes. After an exception (Ctrl-C) a later call sends the rest.
    fn send_parts(&mut self, py: Python<'_>, table: usize) -> Result<(), Failure> {
        let pipeline = &mut self.pipeline;
        if pipeline.has_news(table) {
            while !py.detach(|| pipeline.send_parts(table, NAP)).map_err(Failure::Engine)? {
                py.check_signals()?;
            }
        }
        Ok(())
    }

    /// Encodes and sends the last rows. Further rows, and further calls, may follow.
    fn end_rows(&mut self, py: Python<'_>) -> Result<(), Failure> {
        for (table, pending) in self.pending.iter_mut().enumerate() {
            pending.encode(py, self.pipeline.encoder(table))?;
        }
        self.pipeline.end_rows();
        for table in 0..self.pending.len() {
            self.send_parts(py, table)?;
        }
        Ok(())
    }

    /// Begins the use of a database that exists.
    ///
    /// # Errors
    /// If this process has a lock on it.
    fn begin_use(&self, py: Python<'_>) -> litepress::Result<Option<OwnUse>> {
        let advice = "end its transaction, or close its connection, and close the writer again: it has kept the rows";
        let begin = |path: &PathBuf| OwnUse::begin(path).map_err(|error| error.advise(advice));
        let existing = self.existing.as_ref();
        py.detach(|| existing.map(begin).transpose())
    }

    /// Completes the database and publishes it.
    ///
    /// REQUIRES: the last rows are [sent](Self::end_rows).
    fn finish(&mut self, py: Python<'_>) -> Result<Finished, Failure> {
        let pipeline = &mut self.pipeline;
        py.detach(|| pipeline.begin_finish()).map_err(Failure::Engine)?;
        while !py.detach(|| pipeline.wait(NAP)) {
            py.check_signals()?;
        }
        py.detach(|| pipeline.finish()).map_err(Failure::Engine)
    }

    /// Returns the report as JSON, and the bytes of a database in memory.
    fn report(&self, finished: Finished) -> (String, Option<Vec<u8>>) {
        let file = if let Target::File(path) = self.pipeline.target() { Some(path.clone()) } else { None };
        let mut report = BuildReport::new(finished, file, self.started, self.pipeline.options().clone());
        let bytes = report.bytes.take();
        let mut report = report.to_json();
        report["cut_texts"] = self.pipeline.cut_texts().into();
        (report.to_string(), bytes)
    }
}
