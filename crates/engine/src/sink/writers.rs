//! Threads that write finished blocks while others build the next ones.

use super::Sink;
use super::block::Block;
use crate::progress::Progress;
use crate::{Error, Result};
use litepress_rows::sync::thread::{self, JoinHandle};
use litepress_rows::sync::{Condvar, Mutex, MutexGuard, ignore_poison, lock};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Ranges of a block and their offsets in the file: two pieces if the lock-byte page splits the block.
pub(crate) type Pieces = Vec<(Range<usize>, u64)>;

/// Takes full blocks and writes them, in any order.
pub(crate) struct Writers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    sink: Box<dyn Sink>,
    /// Name of the target in errors.
    path: PathBuf,
    progress: Arc<Progress>,
    state: Mutex<State>,
    work: Condvar,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(Block, Pieces)>,
    /// Blocks that are being written.
    writing: usize,
    failure: Option<io::Error>,
    closed: bool,
}

impl Writers {
    /// Starts `threads` threads. Without threads, `submit` writes: right for sinks that do not wait.
    pub fn new(sink: Box<dyn Sink>, path: PathBuf, threads: usize, progress: Arc<Progress>) -> Self {
        let (state, work, idle) = (Mutex::default(), Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { sink, path, progress, state, work, idle });
        // If the system refuses to start a thread, there are fewer, or `submit` writes.
        let start = |_| {
            let shared = shared.clone();
            thread::Builder::new().spawn(move || shared.write_until_closed()).ok()
        };
        let threads = (0..threads).map_while(start).collect();
        Self { shared, threads }
    }

    /// Queues the pieces of `block`.
    pub fn submit(&self, block: Block, pieces: Pieces) -> Result<()> {
        if self.threads.is_empty() {
            self.shared.write(block.bytes(), &pieces);
        } else {
            self.shared.lock().queue.push_back((block, pieces));
            self.shared.work.notify_one();
        }
        self.check()
    }

    /// Writes pieces of a block that the caller keeps, on this thread.
    pub fn write_kept(&self, block: &[u8], pieces: &Pieces) -> Result<()> {
        self.shared.write(block, pieces);
        self.check()
    }

    /// Returns the failure of a write, if any, every time: the file is lost.
    fn check(&self) -> Result<()> {
        match &self.shared.lock().failure {
            None => Ok(()),
            Some(failure) => Err(self.failed("write", failure)),
        }
    }

    fn failed(&self, doing: &str, failure: &io::Error) -> Error {
        self.shared.failed(doing, failure)
    }

    /// Returns whether written bytes can be [read](Self::read).
    pub fn can_read(&self) -> bool {
        self.shared.sink.can_read()
    }

    /// Waits until everything submitted is written.
    pub fn wait(&self) -> Result<()> {
        let mut state = self.shared.lock();
        while state.writing > 0 || !state.queue.is_empty() {
            state = ignore_poison(self.shared.idle.wait(state));
        }
        drop(state);
        self.check()
    }

    /// Reads all of `bytes` at byte `offset`. REQUIRES: [`wait`](Self::wait) was called after they were submitted.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.shared.read(bytes, offset)
    }

    /// Waits until everything submitted is written. Returns a reader of these bytes, which may read while others are written.
    pub fn reader(&self) -> Result<WrittenBytes> {
        self.wait()?;
        Ok(WrittenBytes(self.shared.clone()))
    }

    /// Waits for all writes, then sets the length of the file in bytes.
    pub fn finish(&mut self, len: u64) -> Result<()> {
        self.close();
        self.check()?;
        self.shared.sink.set_len(len).map_err(|failure| self.failed("set the length", &failure))
    }

    /// Makes the written bytes survive a power cut.
    pub fn sync(&self) -> Result<()> {
        self.shared.sink.sync().map_err(|failure| self.failed("sync", &failure))
    }

    /// Returns the bytes, if the sink keeps them in memory.
    pub fn take_bytes(&self) -> Option<Vec<u8>> {
        self.shared.sink.take_bytes()
    }

    fn close(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            thread.join().expect("a writer thread does not panic");
        }
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        // Dropped before the end: queued blocks need not be written.
        self.shared.lock().queue.clear();
        self.close();
    }
}

/// Reads bytes that are written.
pub(crate) struct WrittenBytes(Arc<Shared>);

impl WrittenBytes {
    /// Reads all of `bytes` at byte `offset`. REQUIRES: they were submitted before the reader was made.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.0.read(bytes, offset)
    }
}

impl Shared {
    fn failed(&self, doing: &str, failure: &io::Error) -> Error {
        let copy = match failure.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(failure.kind(), failure.to_string()),
        };
        Error::io(doing, &self.path, copy)
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.sink.read_at(bytes, offset).map_err(|failure| self.failed("read back", &failure))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn write_until_closed(&self) {
        let mut state = self.lock();
        loop {
            if let Some((block, pieces)) = state.queue.pop_front() {
                state.writing += 1;
                drop(state);
                self.write(block.bytes(), &pieces);
                drop(block);
                state = self.lock();
                state.writing -= 1;
                if state.writing == 0 && state.queue.is_empty() {
                    self.idle.notify_all();
                }
            } else if state.closed {
                return;
            } else {
                state = ignore_poison(self.work.wait(state));
            }
        }
    }

    /// Writes, unless a write has failed before: the file is then lost.
    fn write(&self, block: &[u8], pieces: &Pieces) {
        if self.lock().failure.is_some() {
            return;
        }
        for (range, offset) in pieces {
            if let Err(failure) = self.sink.write_at(&block[range.clone()], *offset) {
                self.lock().failure.get_or_insert(failure);
                return;
            }
            self.progress.add_bytes(range.len() as u64);
        }
    }
}
