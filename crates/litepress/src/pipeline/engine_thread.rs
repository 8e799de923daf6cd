//! The thread that builds the database until it is published or given up: first the table whose parts arrive through a
//! channel, then the tables that were spooled.

use crate::append::AppendJob;
use crate::{Database, Error, ErrorKind, Finished, Progress, Result};
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use litepress_engine::{PageCandidates, PartRows, Spool};
use litepress_load::source::advice_about_keys;
use litepress_rows::{Part, RowidOrder, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Parts that may wait for a worker.
const WAITING_PARTS: usize = 2;

enum Message {
    Part(PartRows),
    /// The table is complete. A channel that closes without it belongs to a database that was given up.
    End,
}

/// The database that gets the rows.
pub(super) enum Destination {
    /// A new one.
    New(Box<Database>),
    /// One that exists, and its tables as they are before rows come.
    Existing(Box<AppendJob>, PageCandidates),
}

/// The position of a table in the schema, and its rows.
pub(super) type SpooledTable = (usize, Spool);

/// The thread and the channels to it.
#[derive(Debug)]
pub(super) struct EngineThread {
    parts: Sender<Message>,
    spooled: Sender<Vec<SpooledTable>>,
    /// Closes when the thread ends.
    over: Receiver<()>,
    thread: JoinHandle<Result<Finished>>,
    progress: Arc<Progress>,
}

/// The result of sending a part.
pub(super) enum SendResult {
    /// The part is on its way.
    Done,
    /// The channel is full: the part comes back.
    Full(PartRows),
    /// The engine has failed.
    Over,
}

impl EngineThread {
    /// Starts the thread. `streamed` is the table whose parts will be [sent](Self::send), if there is one.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(super) fn start(
        database: Destination,
        streamed: Option<(usize, RowidOrder)>,
        progress: Arc<Progress>,
    ) -> std::io::Result<Self> {
        let (parts, parts_to_write) = bounded(WAITING_PARTS);
        let (spooled, spooled_to_write) = bounded::<Vec<SpooledTable>>(1);
        let (done, over) = bounded::<()>(0);
        let job = move || {
            // Dropped when the thread ends, also by a panic.
            let _done = done;
            build(database, streamed, parts_to_write, &spooled_to_write)
        };
        let thread = std::thread::Builder::new().name("litepress".to_owned()).spawn(job)?;
        Ok(Self { parts, spooled, over, thread, progress })
    }

    /// Returns whether the thread has ended. Before [`finish`](Self::finish) that is a failure.
    pub(super) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Sends a part of the streamed table. Waits up to `patience` for room.
    pub(super) fn send(&self, part: PartRows, patience: Duration) -> SendResult {
        match self.parts.send_timeout(Message::Part(part), patience) {
            Ok(()) => SendResult::Done,
            Err(SendTimeoutError::Timeout(Message::Part(part))) => SendResult::Full(part),
            Err(_) => SendResult::Over,
        }
    }

    /// Ends the streamed table and hands over all others in the order in which they are written. [`join`](Self::join)
    /// tells of failures.
    pub(super) fn finish(&self, spooled: Vec<SpooledTable>) {
        // An engine that has failed does not receive them; one that runs makes room for both.
        drop(self.spooled.send(spooled));
        drop(self.parts.send(Message::End));
    }

    /// Waits up to `patience` for the end of the thread. Returns whether it has ended.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        self.over.recv_timeout(patience) != Err(RecvTimeoutError::Timeout)
    }

    /// Waits for the end of the thread and returns its result.
    ///
    /// # Errors
    /// The error of the engine.
    pub(super) fn join(self) -> Result<Finished> {
        let Self { parts, spooled, thread, .. } = self;
        drop((parts, spooled));
        thread.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "a worker has panicked")))
    }

    /// Discards the database. Returns when nothing is left of it.
    pub(super) fn give_up(self) {
        self.progress.stop();
        drop(self.join());
    }
}

fn build(
    database: Destination,
    streamed: Option<(usize, RowidOrder)>,
    parts: Receiver<Message>,
    spooled: &Receiver<Vec<SpooledTable>>,
) -> Result<Finished> {
    let mut database = match database {
        Destination::New(database) => *database,
        Destination::Existing(job, candidates) => {
            return append(&job, &candidates, streamed, parts, spooled).map_err(explain);
        }
    };
    if let Some((table, order)) = streamed {
        fill(&mut database, table, &StreamedParts { parts, order, has_ended: AtomicBool::new(false) })?;
    }
    for (table, spool) in spooled.recv().map_err(|_| given_up())? {
        fill(&mut database, table, &spool)?;
    }
    database.finish()
}

/// Adds rows to a database that exists. The rows of the streamed table become pages while they arrive.
fn append(
    job: &AppendJob,
    candidates: &PageCandidates,
    streamed: Option<(usize, RowidOrder)>,
    parts: Receiver<Message>,
    spooled: &Receiver<Vec<SpooledTable>>,
) -> Result<Finished> {
    let mut tables = Vec::new();
    if let Some((table, order)) = streamed {
        let source = StreamedParts { parts, order, has_ended: AtomicBool::new(false) };
        tables = job.spool(&[(table, &source)], candidates)?;
    }
    for (table, spool) in spooled.recv().map_err(|_| given_up())? {
        match tables.iter_mut().find(|(streamed, _)| *streamed == table) {
            // It has no rows, but knows which columns all rows lack.
            Some((_, streamed)) => streamed.lack_columns_of(&spool),
            None => tables.push((table, spool)),
        }
    }
    tables.sort_by_key(|(table, _)| *table);
    job.add(&tables)
}

fn fill(database: &mut Database, table: usize, source: &dyn Source) -> Result<()> {
    database.fill(table, source).map_err(explain)
}

fn explain(error: Error) -> Error {
    let is_conflict = error.kind() == ErrorKind::Constraint && error.message().contains("UNIQUE");
    if is_conflict && error.advice().is_none() { error.advise(advice_about_keys()) } else { error }
}

fn given_up() -> Error {
    Error::new(ErrorKind::Interrupted, "the database was given up")
}

/// The parts that arrive through the channel, as a source.
struct StreamedParts {
    parts: Receiver<Message>,
    /// The end was received. Every worker asks until it is told so.
    has_ended: AtomicBool,
    order: RowidOrder,
}

impl Source for StreamedParts {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        if self.has_ended.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match self.parts.recv() {
            Ok(Message::Part(part)) => Ok(Some(part.into_part())),
            Ok(Message::End) => {
                self.has_ended.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(_) => Err(given_up()),
        }
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn rowid_order(&self) -> RowidOrder {
        self.order
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}
