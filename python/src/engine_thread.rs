//! Runs the engine in its own threads while the calling thread serves Python: it supplies the rows that only the interpreter
//! can read, handles Ctrl-C, and reports progress.

use crate::errors::exception;
use crate::feed::{Feed, PieceMaker, Sent};
use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError, bounded};
use litepress::engine::memory_bytes;
use litepress::{Error, ErrorKind, Progress, Result};
use litepress_load::reader::Piece;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest wait between two checks for Ctrl-C.
const NAP: Duration = Duration::from_millis(50);
/// Wait between two looks at the first piece.
const PAUSE: Duration = Duration::from_millis(1);
/// Least time between two calls of a progress function.
const TELLING: Duration = Duration::from_millis(100);

/// The user's progress function.
pub struct Watcher {
    /// Called as `tell(rows, bytes, stage, phase, phases, memory)`, in the calling thread only.
    tell: Py<PyAny>,
    told: Instant,
}

impl Watcher {
    /// Makes a watcher of the function `tell`, or `None` if there is none.
    pub fn new(tell: Option<Py<PyAny>>) -> Option<Self> {
        tell.map(|tell| Self { tell, told: Instant::now() })
    }

    fn tell(&mut self, py: Python<'_>, progress: &Progress) -> PyResult<()> {
        self.told = Instant::now();
        let (phase, memory) = (progress.phase(), memory_bytes());
        let told = (progress.rows(), progress.bytes(), progress.stage(), phase.number, phase.count, memory);
        self.tell.call1(py, told).map(drop)
    }
}

/// The calling thread's view of a running engine.
pub struct Caller<'a> {
    over: Receiver<()>,
    progress: &'a Progress,
    watcher: Option<Watcher>,
    process: u32,
}

impl Caller<'_> {
    /// Checks for signals and reports progress. To be called at least every [`NAP`].
    ///
    /// # Errors
    /// `KeyboardInterrupt`, and exceptions of the watcher.
    pub fn look_around(&mut self, py: Python<'_>) -> PyResult<()> {
        if std::process::id() != self.process {
            return end_fork(py);
        }
        py.check_signals()?;
        match &mut self.watcher {
            Some(watcher) if watcher.told.elapsed() >= TELLING => watcher.tell(py, self.progress),
            _ => Ok(()),
        }
    }

    /// Reports that the run begins: a progress function that fails should do so before any work is done.
    fn begin(&mut self, py: Python<'_>) -> PyResult<()> {
        match &mut self.watcher {
            Some(watcher) => watcher.tell(py, self.progress),
            None => Ok(()),
        }
    }

    /// Waits for the engine, and looks around meanwhile.
    fn wait(&mut self, py: Python<'_>) -> PyResult<()> {
        while py.detach(|| self.over.recv_timeout(NAP)) == Err(RecvTimeoutError::Timeout) {
            self.look_around(py)?;
        }
        Ok(())
    }

    /// Sends a piece, however long it takes. Returns `false` if the engine takes no more pieces.
    ///
    /// # Errors
    /// As [`look_around`](Self::look_around).
    pub fn send(&mut self, py: Python<'_>, feed: &Feed, mut piece: Box<dyn Piece>) -> PyResult<bool> {
        loop {
            let sent = py.detach(|| feed.send(piece, NAP));
            self.look_around(py)?;
            piece = match sent {
                Sent::Done => return Ok(true),
                Sent::Over => return Ok(false),
                // The engine ended early, but the channel's receiver still exists: sending would never report the end.
                Sent::Full(_) if self.over.try_recv() == Err(TryRecvError::Disconnected) => return Ok(false),
                Sent::Full(piece) => piece,
            };
        }
    }

    /// Waits until the engine has taken all pieces. Returns `false` if it takes no more.
    fn wait_for_taking(&mut self, py: Python<'_>, feed: &Feed) -> PyResult<bool> {
        while !feed.is_empty() {
            if py.detach(|| self.over.recv_timeout(PAUSE)) == Err(RecvTimeoutError::Disconnected) {
                return Ok(false);
            }
            self.look_around(py)?;
        }
        Ok(true)
    }
}

/// A table whose rows only the interpreter can read.
pub struct TableInput {
    /// The source of its pieces.
    pub maker: Box<dyn PieceMaker>,
    /// The channel to the engine.
    pub feed: Feed,
    /// The engine takes the first piece before the second one is made: the database is closed by then, and Python code that makes the
    /// second one may open it.
    pub waits_for_engine: bool,
}

/// Runs `job` in a new thread and feeds the tables of `inputs` meanwhile. The job must read them in this order.
///
/// # Errors
/// Exceptions of Python code and `KeyboardInterrupt`, which stop the job; otherwise the job's own error.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: &Arc<Progress>,
    watcher: Option<Watcher>,
    inputs: Vec<TableInput>,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let (done, over) = bounded::<()>(0);
    let mut caller = Caller { over, progress, watcher, process: std::process::id() };
    caller.begin(py)?;
    std::thread::scope(|scope| {
        let job = move || {
            // Dropped when the job ends, even by a panic: the caller waits for that.
            let _done = done;
            job()
        };
        let engine = std::thread::Builder::new().name("litepress".to_owned()).spawn_scoped(scope, job)?;
        let mut inputs = inputs;
        let served = serve(py, &mut caller, &mut inputs);
        let served = served.and_then(|()| caller.wait(py));
        if std::process::id() != caller.process {
            end_fork(py)?;
        }
        if served.is_err() {
            // Stop first, drop the feeds second: the end of a feed would make a truncated table look complete.
            progress.stop();
        }
        drop(inputs);
        let made = py.detach(|| engine.join());
        served?;
        let made = made.unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "a worker has panicked")));
        if let (Ok(_), Some(watcher)) = (&made, &mut caller.watcher)
            && let Err(error) = watcher.tell(py, progress)
        {
            // The database is published: an exception now would deny that.
            error.write_unraisable(py, None);
        }
        made.map_err(|error| exception(py, &error))
    })
}

/// Ends a child process that was forked during a run. It has none of the engine's threads and would wait for them forever.
fn end_fork(py: Python<'_>) -> PyResult<()> {
    let message =
        "litepress: a process that was forked while rows were supplied ends here: its engine is in the parent\n";
    py.import("sys")?.getattr("stderr")?.call_method1("write", (message,))?;
    py.import("os")?.call_method1("_exit", (1,)).map(drop)
}

/// Sends the pieces of one table after another until the engine takes no more. Dropping an input ends its table.
fn serve(py: Python<'_>, caller: &mut Caller<'_>, inputs: &mut Vec<TableInput>) -> PyResult<()> {
    while let Some(input) = inputs.first_mut() {
        while let Some(piece) = input.maker.next_piece(py)? {
            if !caller.send(py, &input.feed, Box::new(piece))? {
                return Ok(());
            }
            if std::mem::take(&mut input.waits_for_engine) && !caller.wait_for_taking(py, &input.feed)? {
                return Ok(());
            }
        }
        inputs.remove(0);
    }
    Ok(())
}
