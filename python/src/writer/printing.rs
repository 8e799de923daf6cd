//! The press in a thread of its own, which lasts until the database is published or given up: it fills one table with the parts
//! that come, then the others with what was kept.

use crate::spool::{PartRows, Spool};
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use litepress::{Database, Error, ErrorKind, Finished, Progress, Result};
use litepress_load::source::ADVICE_ABOUT_KEYS;
use litepress_rows::{Part, RowidOrder, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Parts that wait for a worker.
const WAITING_PARTS: usize = 2;

enum Message {
    Part(PartRows),
    /// The table is complete. A channel that ends without it is one of a database that is given up.
    End,
}

/// A table, by its position in the schema, and its rows.
pub type Kept = (usize, Spool);

/// The thread, and what it is told.
pub struct Printing {
    parts: Sender<Message>,
    kept: Sender<Vec<Kept>>,
    /// Ends with the thread.
    over: Receiver<()>,
    thread: JoinHandle<Result<Finished>>,
    progress: Arc<Progress>,
}

/// What became of a part that was to be sent.
pub enum Sent {
    /// It is on its way.
    Done,
    /// There is no room yet.
    Full(PartRows),
    /// The press has failed.
    Over,
}

impl Printing {
    /// Begins with this table, whose parts are to come, if there is one.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn start(
        database: Database,
        streamed: Option<(usize, RowidOrder)>,
        progress: Arc<Progress>,
    ) -> std::io::Result<Self> {
        let (parts, parts_to_print) = bounded(WAITING_PARTS);
        let (kept, kept_to_print) = bounded::<Vec<Kept>>(1);
        let (done, over) = bounded::<()>(0);
        let job = move || {
            // Dropped when all is over, also where it panics.
            let _done = done;
            print(database, streamed, parts_to_print, &kept_to_print)
        };
        let thread = std::thread::Builder::new().name("litepress".to_owned()).spawn(job)?;
        Ok(Self { parts, kept, over, thread, progress })
    }

    /// Whether the thread has come to its end: before [`finish`](Self::finish), that is a failure.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Sends a part of the table that is printed first, and waits this long for room.
    pub fn send(&self, part: PartRows, patience: Duration) -> Sent {
        match self.parts.send_timeout(Message::Part(part), patience) {
            Ok(()) => Sent::Done,
            Err(SendTimeoutError::Timeout(Message::Part(part))) => Sent::Full(part),
            Err(_) => Sent::Over,
        }
    }

    /// Ends that table, and gives all others, in the order in which they are filled. What has failed is told by
    /// [`join`](Self::join).
    pub fn finish(&self, kept: Vec<Kept>) {
        // Both have room, or nobody wants them: the end is taken as soon as the parts before it are.
        drop(self.kept.send(kept));
        drop(self.parts.send(Message::End));
    }

    /// Waits this long; whether the thread is over then.
    pub fn wait(&self, patience: Duration) -> bool {
        self.over.recv_timeout(patience) != Err(RecvTimeoutError::Timeout)
    }

    /// Waits for the end: what was made, or why it was not.
    ///
    /// # Errors
    /// What the press fails with.
    pub fn join(self) -> Result<Finished> {
        let Self { parts, kept, thread, .. } = self;
        drop((parts, kept));
        thread.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "a worker has panicked")))
    }

    /// Has everything thrown away, and waits until it is.
    pub fn give_up(self) {
        self.progress.stop();
        drop(self.join());
    }
}

fn print(
    mut database: Database,
    streamed: Option<(usize, RowidOrder)>,
    parts: Receiver<Message>,
    kept: &Receiver<Vec<Kept>>,
) -> Result<Finished> {
    if let Some((table, order)) = streamed {
        fill(&mut database, table, &Streamed { parts, order, has_ended: AtomicBool::new(false) })?;
    }
    for (table, spool) in kept.recv().map_err(|_| given_up())? {
        fill(&mut database, table, &spool)?;
    }
    database.finish()
}

fn fill(database: &mut Database, table: usize, source: &dyn Source) -> Result<()> {
    database.fill(table, source).map_err(|error| {
        let is_conflict = error.kind() == ErrorKind::Constraint && error.message().starts_with("UNIQUE");
        if is_conflict && error.advice().is_none() { error.advise(ADVICE_ABOUT_KEYS) } else { error }
    })
}

fn given_up() -> Error {
    Error::new(ErrorKind::Interrupted, "the database was given up")
}

/// The parts that come.
struct Streamed {
    parts: Receiver<Message>,
    /// The end has come: every worker asks until it is told so.
    has_ended: AtomicBool,
    order: RowidOrder,
}

impl Source for Streamed {
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
