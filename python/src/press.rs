//! The press at work in its own threads, while the thread that called serves Python: it supplies what only the interpreter
//! can read, hears Ctrl-C, and tells about progress.

use crate::errors::exception;
use crate::feed::{Feed, PieceMaker, Sent};
use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError, bounded};
use litepress::{Error, ErrorKind, Progress, Result};
use litepress_load::reader::Piece;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long Ctrl-C may go unheard.
const NAP: Duration = Duration::from_millis(50);
/// Between two calls of a progress function.
const TELLING: Duration = Duration::from_millis(100);

/// A function of the user's that is told how far a run is.
pub struct Watcher {
    /// `tell(rows, bytes, stage)`, by the thread that called.
    tell: Py<PyAny>,
    told: Instant,
}

impl Watcher {
    /// `tell` is called as `tell(rows, bytes, stage)`; `None` tells nobody.
    pub fn new(tell: Option<Py<PyAny>>) -> Option<Self> {
        tell.map(|tell| Self { tell, told: Instant::now() })
    }

    fn tell(&mut self, py: Python<'_>, progress: &Progress) -> PyResult<()> {
        self.told = Instant::now();
        self.tell.call1(py, (progress.rows(), progress.bytes(), progress.stage())).map(drop)
    }
}

/// The thread that called, as long as the press works.
pub struct Caller<'a> {
    over: Receiver<()>,
    progress: &'a Progress,
    watcher: Option<Watcher>,
    process: u32,
}

impl Caller<'_> {
    /// What the thread has to do now and then: signals, and telling.
    ///
    /// # Errors
    /// `KeyboardInterrupt`, and what the watcher raises.
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

    /// Tells that the run begins, so that a function that fails does so before anything is done.
    fn begin(&mut self, py: Python<'_>) -> PyResult<()> {
        match &mut self.watcher {
            Some(watcher) => watcher.tell(py, self.progress),
            None => Ok(()),
        }
    }

    /// Waits until the press is done.
    fn wait(&mut self, py: Python<'_>) -> PyResult<()> {
        while py.detach(|| self.over.recv_timeout(NAP)) == Err(RecvTimeoutError::Timeout) {
            self.look_around(py)?;
        }
        Ok(())
    }

    /// Sends a piece, however long it takes; whether anybody still wants pieces.
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
                // The press ended early, and what it would read from is still there.
                Sent::Full(_) if self.over.try_recv() == Err(TryRecvError::Disconnected) => return Ok(false),
                Sent::Full(piece) => piece,
            };
        }
    }
}

/// A table whose rows only the interpreter can read.
pub struct TableInput {
    /// What makes its pieces.
    pub maker: Box<dyn PieceMaker>,
    /// Where they go.
    pub feed: Feed,
}

/// Runs `job` in a thread of its own, and meanwhile feeds the tables of `supplies`, which it must take in this order.
///
/// # Errors
/// What Python code raises, `KeyboardInterrupt` among it: the job is stopped then. Else what the job fails with.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: &Arc<Progress>,
    watcher: Option<Watcher>,
    supplies: Vec<TableInput>,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let (done, over) = bounded::<()>(0);
    let mut caller = Caller { over, progress, watcher, process: std::process::id() };
    std::thread::scope(|scope| {
        let job = move || {
            // Dropped when the job is over, also where it panics.
            let _done = done;
            job()
        };
        let press = std::thread::Builder::new().name("litepress".to_owned()).spawn_scoped(scope, job)?;
        let mut supplies = supplies;
        let served = caller.begin(py).and_then(|()| serve(py, &mut caller, &mut supplies));
        let served = served.and_then(|()| caller.wait(py));
        if std::process::id() != caller.process {
            end_fork(py)?;
        }
        if served.is_err() {
            // Before the feeds end: a table that is cut short must not look complete.
            progress.stop();
        }
        drop(supplies);
        let made = py.detach(|| press.join());
        served?;
        let made = made.unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "a worker has panicked")));
        if let (Ok(_), Some(watcher)) = (&made, &mut caller.watcher)
            && let Err(error) = watcher.tell(py, progress)
        {
            // The database has its name already: what is wrong now is no reason to deny that.
            error.write_unraisable(py, None);
        }
        made.map_err(|error| exception(py, &error))
    })
}

/// A child that was forked in the middle of a run has no threads that could end it, and would wait for them for ever.
fn end_fork(py: Python<'_>) -> PyResult<()> {
    let message =
        "litepress: a process that was forked while rows were supplied ends here: its press is in the parent\n";
    py.import("sys")?.getattr("stderr")?.call_method1("write", (message,))?;
    py.import("os")?.call_method1("_exit", (1,)).map(drop)
}

/// Makes pieces as long as somebody wants them; a table that is complete ends.
fn serve(py: Python<'_>, caller: &mut Caller<'_>, supplies: &mut Vec<TableInput>) -> PyResult<()> {
    while let Some(supply) = supplies.first_mut() {
        while let Some(piece) = supply.maker.next_piece(py)? {
            if !caller.send(py, &supply.feed, Box::new(piece))? {
                return Ok(());
            }
        }
        supplies.remove(0);
    }
    Ok(())
}
