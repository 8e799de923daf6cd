//! `create`: a database of rows that come while the program runs.
//!
//! ```text
//! append, extend --filling.rs--> parts of encoded rows --+--> the press, in a thread of its own (printing.rs)
//!                                                        +--> spool.rs, for tables whose turn comes later
//! ```
//!
//! The press fills one table after another. The table of which a part is whole first is its first one, and streams; all others
//! are encoded and kept. So values are looked at when they are given, and what is wrong with one is told then; what only all
//! rows together can show (UNIQUE, CHECK) is told by a later call or the last one.
//!
//! One call at a time has the writer: others wait, in short naps, without the interpreter. A process that was forked has a copy
//! of the writer without its threads: it may do nothing with it, and throws it away as it is.

mod filling;
mod printing;

use crate::errors::exception;
use crate::options::making_options;
use crate::spool::{PartRows, Room, Spool};
use filling::{Failure, Filling};
use litepress::plan::{Lane, steps};
use litepress::{Database, Error, Finished, MIN_MEMORY_BYTES, Options, Schema, Target};
use litepress_cli::report::Report;
use litepress_rows::RowidOrder;
use printing::{Printing, Sent};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long Ctrl-C may go unheard.
const NAP: Duration = Duration::from_millis(50);
/// Between two looks whether another thread is done with the writer.
const TURN: Duration = Duration::from_millis(1);
/// This part of the memory is for rows of tables whose turn has not come.
const KEPT_SHARE: u64 = 8;

/// A database in the making. `litepress/_writer.py` shows it to users.
#[pyclass(frozen)]
pub struct Writer {
    process: u32,
    names: Vec<String>,
    adapters: Py<PyDict>,
    /// The thread that has the writer, as Python numbers them; 0 for none.
    owner: AtomicU64,
    state: Mutex<State>,
}

enum State {
    Open(Box<Work>),
    Published,
    /// Why there will be no database.
    GivenUp(String),
}

/// What an open writer has.
struct Work {
    target: Target,
    /// Those of the user.
    options: Options,
    schema: Schema,
    /// The database, until the press has it.
    database: Option<Database>,
    printing: Option<Printing>,
    /// The table that streams.
    streamed: Option<usize>,
    /// Positions of the tables, in the order in which they are filled.
    order: Vec<usize>,
    /// Those that may be the first.
    may_begin: Vec<usize>,
    tables: Vec<(Filling, Spool)>,
    room: Room,
    started: Instant,
}

#[pymethods]
impl Writer {
    /// Begins a database: in a file, or in memory where there is no path.
    #[new]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        schema: (String, String),
        making_options: &Bound<'_, PyDict>,
        adapters: Py<PyDict>,
    ) -> PyResult<Self> {
        let options = self::making_options(making_options)?;
        let target = path.map_or(Target::Memory, Target::File);
        let work = py.detach(|| Work::begin(target, schema, options)).map_err(|error| exception(py, &error))?;
        let names = work.schema.tables.iter().map(|table| table.name.clone()).collect();
        let state = Mutex::new(State::Open(Box::new(work)));
        Ok(Self { process: std::process::id(), names, adapters, owner: AtomicU64::new(0), state })
    }

    /// Names of the tables.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The position of the table of this name, as SQLite compares names.
    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|table| table.eq_ignore_ascii_case(name))
    }

    /// Appends a row to a table.
    fn append(&self, row: &Bound<'_, PyAny>, table: usize) -> PyResult<()> {
        let py = row.py();
        self.with_work(py, |work| {
            let filling = &mut work.tables[table].0;
            filling.append(row, self.adapters.bind(py))?;
            work.pass_on(py, table)
        })
    }

    /// Appends the rows of an iterable to a table.
    fn extend_rows(&self, rows: &Bound<'_, PyAny>, table: usize) -> PyResult<()> {
        const BETWEEN_SIGNALS: u64 = 1024;
        let py = rows.py();
        let mut taken = 0;
        let iterator = rows.try_iter()?;
        self.with_work(py, |work| {
            for row in iterator {
                work.tables[table].0.append(&row?, self.adapters.bind(py))?;
                work.pass_on(py, table)?;
                taken += 1;
                if taken % BETWEEN_SIGNALS == 0 {
                    py.check_signals()?;
                }
            }
            Ok(())
        })
    }

    /// Appends data of columns or of Arrow to a table, as `_data.describe` tells them.
    fn extend(&self, described: &Bound<'_, PyAny>, table: usize) -> PyResult<()> {
        let py = described.py();
        self.with_work(py, |work| {
            let mut pieces = work.tables[table].0.open(described, self.adapters.bind(py))?;
            while work.tables[table].0.take_piece(py, &mut pieces)? {
                work.pass_on(py, table)?;
                py.check_signals()?;
            }
            work.pass_on(py, table)
        })
    }

    /// How many rows a table was given.
    fn rows(&self, py: Python<'_>, table: usize) -> PyResult<u64> {
        self.with_work(py, |work| Ok(work.tables[table].0.rows()))
    }

    /// Publishes the database: the report of it as JSON, and its bytes where it has no path. Whatever is raised, it is given up.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
        self.refuse_forked()?;
        let mut turn = self.turn(py)?;
        let finished = turn.work()?.finish(py);
        let (report, bytes) = match finished {
            Ok(finished) => (turn.work()?.report(&finished), finished.bytes),
            Err(Failure::Raised(error)) => {
                turn.end(py, State::GivenUp("it could not be completed".to_owned()));
                return Err(error);
            }
            Err(Failure::Press(error)) => {
                turn.end(py, State::GivenUp(error.to_string()));
                return Err(exception(py, &error));
            }
        };
        turn.end(py, State::Published);
        Ok((report, bytes.map(|bytes| PyBytes::new(py, &bytes))))
    }

    /// Gives the database up: the target is as it was. Nothing to do where it is published or given up already.
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

    /// Does something with an open writer. An error of the press is the end of it.
    fn with_work<T>(&self, py: Python<'_>, act: impl FnOnce(&mut Work) -> Result<T, Failure>) -> PyResult<T> {
        self.refuse_forked()?;
        let mut turn = self.turn(py)?;
        match act(turn.work()?) {
            Ok(done) => Ok(done),
            Err(Failure::Raised(error)) => Err(error),
            Err(Failure::Press(error)) => {
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
    /// What an open writer has.
    fn work(&mut self) -> PyResult<&mut Work> {
        match &mut *self.state {
            State::Open(work) => Ok(work),
            State::Published => Err(PyValueError::new_err("the writer is closed: its database is published")),
            State::GivenUp(why) => Err(PyValueError::new_err(format!("the database was given up: {why}"))),
        }
    }

    /// The writer is open no more. What is under way stops before this returns.
    fn end(&mut self, py: Python<'_>, end: State) {
        let mut before = mem::replace(&mut *self.state, end);
        if let Some(printing) = before.take_printing() {
            py.detach(|| printing.give_up());
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.owner.store(0, Ordering::Relaxed);
    }
}

/// A number for the thread that asks, above 0.
fn this_thread() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Ok(state) = self.state.get_mut() else { return };
        if std::process::id() != self.process {
            // Its threads are in the other process, and so is the right to remove files.
            mem::forget(mem::replace(state, State::Published));
        } else if let Some(printing) = state.take_printing() {
            printing.give_up();
        }
    }
}

impl State {
    fn take_printing(&mut self) -> Option<Printing> {
        if let Self::Open(work) = self { work.printing.take() } else { None }
    }
}

impl Work {
    fn begin(target: Target, (text, origin): (String, String), options: Options) -> litepress::Result<Self> {
        let schema = Schema::from_sql(&text, &origin)?;
        let kept_bytes = options.memory_bytes / KEPT_SHARE;
        let least = MIN_MEMORY_BYTES.min(options.memory_bytes);
        let mut of_press = options.clone();
        of_press.memory_bytes = (options.memory_bytes - kept_bytes).max(least);
        let database = Database::create(&target, schema.clone(), &of_press)?;
        let order = database.filling_order();
        let temp_dir = match (&options.temp_dir, &target) {
            (Some(folder), _) => folder.clone(),
            (None, Target::File(path)) => litepress::folder_of(path).to_owned(),
            (None, _) => std::env::temp_dir(),
        };
        let filling = |table| {
            let filling = Filling::new(table, options.on_conflict);
            let spool = Spool::new(filling.rowid_order());
            (filling, spool)
        };
        Ok(Self {
            may_begin: may_begin(&schema, &options, &order),
            order,
            tables: schema.tables.iter().map(filling).collect(),
            room: Room::new(usize::try_from(kept_bytes).unwrap_or(usize::MAX), &temp_dir),
            target,
            options,
            schema,
            database: Some(database),
            printing: None,
            streamed: None,
            started: Instant::now(),
        })
    }

    /// Passes the parts of a table on that are whole.
    fn pass_on(&mut self, py: Python<'_>, table: usize) -> Result<(), Failure> {
        if self.printing.as_ref().is_some_and(Printing::is_over) {
            return Err(self.failed(py));
        }
        if !self.tables[table].0.whole.is_empty() {
            self.begin_printing(table)?;
        }
        self.hand_over(py, table)
    }

    fn hand_over(&mut self, py: Python<'_>, table: usize) -> Result<(), Failure> {
        while let Some(part) = self.tables[table].0.whole.pop_front() {
            if self.streamed == Some(table) {
                self.send(py, table, part)?;
            } else {
                let (spool, room) = (&mut self.tables[table].1, &mut self.room);
                py.detach(|| spool.push(&part, room)).map_err(Failure::Press)?;
            }
        }
        Ok(())
    }

    /// Begins to print with this table, if it may be the first.
    fn begin_printing(&mut self, table: usize) -> Result<(), Failure> {
        if self.may_begin.contains(&table)
            && let Some(database) = self.database.take()
        {
            let order = self.tables[table].0.rowid_order();
            self.printing = Some(self.start(database, Some((table, order)))?);
            self.streamed = Some(table);
        }
        Ok(())
    }

    fn start(&self, database: Database, streamed: Option<(usize, RowidOrder)>) -> Result<Printing, Failure> {
        let started = Printing::start(database, streamed, self.options.progress.clone());
        started.map_err(|error| Failure::Press(Error::io("start a thread for", &self.name(), error)))
    }

    fn name(&self) -> PathBuf {
        if let Target::File(path) = &self.target { path.clone() } else { PathBuf::from("<memory>") }
    }

    /// Sends a part, however long it takes. Where something is raised meanwhile, it stays the next one to be sent.
    fn send(&mut self, py: Python<'_>, table: usize, mut part: PartRows) -> Result<(), Failure> {
        loop {
            let Some(printing) = &self.printing else { return Ok(()) };
            part = match py.detach(|| printing.send(part, NAP)) {
                Sent::Done => return Ok(()),
                Sent::Full(part) => part,
                Sent::Over => return Err(self.failed(py)),
            };
            if let Err(error) = py.check_signals() {
                self.tables[table].0.whole.push_front(part);
                return Err(error.into());
            }
        }
    }

    /// Why the press is over before it should.
    fn failed(&mut self, py: Python<'_>) -> Failure {
        let joined = self.printing.take().map(|printing| py.detach(|| printing.join()));
        match joined {
            Some(Err(error)) => Failure::Press(error),
            _ => Failure::Press(Error::new(litepress::ErrorKind::Io, "the press has ended before its time")),
        }
    }

    /// Has the database completed and published.
    fn finish(&mut self, py: Python<'_>) -> Result<Finished, Failure> {
        for table in 0..self.tables.len() {
            self.tables[table].0.end(py)?;
            self.hand_over(py, table)?;
        }
        if let Some(database) = self.database.take() {
            self.printing = Some(self.start(database, None)?);
        }
        let Some(printing) = &self.printing else { return Err(self.failed(py)) };
        let mut kept = Vec::new();
        for &table in &self.order {
            let spool = mem::replace(&mut self.tables[table].1, Spool::new(RowidOrder::Unknown));
            if !spool.is_empty() {
                kept.push((table, spool));
            }
        }
        py.detach(|| printing.finish(kept));
        while !py.detach(|| printing.wait(NAP)) {
            py.check_signals()?;
        }
        let printing = self.printing.take();
        let made = printing.map(|printing| py.detach(|| printing.join()));
        made.unwrap_or_else(|| Err(Error::new(litepress::ErrorKind::Io, "there is no press"))).map_err(Failure::Press)
    }

    fn report(&self, finished: &Finished) -> String {
        let file = if let Target::File(path) = &self.target { Some(path.as_path()) } else { None };
        let wall = self.started.elapsed().saturating_sub(finished.summary.stages.verify);
        let mut report = Report { summary: &finished.summary, file, wall, options: &self.options }.to_json();
        report["cut_texts"] = self.tables.iter().map(|(filling, _)| filling.cut_texts()).sum::<u64>().into();
        report.to_string()
    }
}

/// The tables with which the press may begin: those that it prints, or any where it prints none.
fn may_begin(schema: &Schema, options: &Options, order: &[usize]) -> Vec<usize> {
    let steps = steps(schema, options.on_conflict);
    let is_printed = |table: &usize| {
        let name = &schema.tables[*table].name;
        steps.iter().any(|step| step.kind == "table" && step.name == *name && step.lane == Lane::Direct)
    };
    let printed: Vec<usize> = order.iter().copied().filter(is_printed).collect();
    if printed.is_empty() { order.to_vec() } else { printed }
}
