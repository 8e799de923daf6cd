//! Rows that workers read ahead of their reader.
//!
//! Workers take parts one after another, as in a load. The chunks of the part that the reader is at go to it at once. Those of later
//! parts wait, within a budget. So the worker of the reader's part never waits for the others, and rows come in order.

use crate::{Error, Result};
use litepress_load::filter::RowFilter;
use litepress_load::source::LoadSource;
use litepress_rows::sync::{Condvar, Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
#[cfg(test)]
use std::sync::Weak;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of chunks of the reader's part that may wait.
const MOST_WAITING: usize = 4;
/// Chunks that are kept to be filled again.
const MOST_SPARE: usize = 16;

/// Rows of files, in their order. Dropping it ends its threads.
#[derive(Debug)]
pub struct FileScan {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    most_threads: usize,
    /// The chunk that the reader has.
    current: RecordChunk,
}

/// The answer to a request for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanStep {
    /// There are rows: [`FileScan::chunk`].
    Rows,
    /// The time is over before the next rows came.
    Waiting,
    /// There are no more rows.
    End,
}

/// State that workers and the reader share.
pub(super) struct Shared {
    source: Option<LoadSource>,
    filters: Vec<RowFilter>,
    most_threads: u64,
    ahead_bytes: usize,
    /// Held while a part is taken.
    next: Mutex<()>,
    state: Mutex<State>,
    changed: Condvar,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("filters", &self.filters).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    parts: BTreeMap<u64, PartState>,
    /// The part that the reader is at.
    current: u64,
    /// Number of parts that were taken.
    taken: u64,
    /// Number of parts, once the last one was taken.
    count: Option<u64>,
    /// Bytes of all chunks that wait.
    bytes: usize,
    spare: Vec<RecordChunk>,
    is_stopped: bool,
}

/// The rows of a part that was taken.
#[derive(Default)]
struct PartState {
    chunks: VecDeque<RecordChunk>,
    end: Option<Result<(), Failure>>,
}

/// The end of a worker: an error, or a panic that goes on in the reader's thread.
enum Failure {
    Error(Box<Error>),
    Panic(Box<dyn Any + Send>),
}

impl FileScan {
    /// Returns a scan without rows.
    pub(super) fn nothing() -> Self {
        let state = State { count: Some(0), ..State::default() };
        Self::of(None, Vec::new(), 1, 0, state)
    }

    /// Starts to read. The first worker starts at once, the others when the reader comes back for more.
    pub(super) fn start(
        source: LoadSource,
        filters: Vec<RowFilter>,
        threads: usize,
        ahead_bytes: usize,
    ) -> Result<Self> {
        let mut scan = Self::of(Some(source), filters, threads, ahead_bytes, State::default());
        scan.add_thread()?;
        Ok(scan)
    }

    fn of(
        source: Option<LoadSource>,
        filters: Vec<RowFilter>,
        threads: usize,
        ahead_bytes: usize,
        state: State,
    ) -> Self {
        let shared = Shared {
            source,
            filters,
            most_threads: threads.max(1) as u64,
            ahead_bytes,
            next: Mutex::default(),
            state: Mutex::new(state),
            changed: Condvar::new(),
        };
        Self { shared: Arc::new(shared), threads: Vec::new(), most_threads: threads, current: RecordChunk::new() }
    }

    fn add_thread(&mut self) -> Result<()> {
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new().name("litepress-scan".to_owned()).spawn(move || shared.work());
        let failed = |error| Error::io("start a thread to read", "<files>".as_ref(), error);
        self.threads.push(thread.map_err(failed)?);
        Ok(())
    }

    /// Returns the next rows, or `None` at the end.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn next_chunk(&mut self) -> Result<Option<&RecordChunk>> {
        loop {
            match self.poll(Duration::from_secs(1))? {
                ScanStep::Rows => return Ok(Some(&self.current)),
                ScanStep::Waiting => {}
                ScanStep::End => return Ok(None),
            }
        }
    }

    /// Waits up to `patience` for the next rows. They have one record each, with the columns that were asked for.
    ///
    /// # Errors
    /// A file that cannot be read; a record that is wrong. All rows before it came already.
    pub fn poll(&mut self, patience: Duration) -> Result<ScanStep> {
        let used = std::mem::take(&mut self.current);
        let scanned = self.shared.poll(used, patience)?;
        if let Some(chunk) = scanned.1 {
            self.current = chunk;
        }
        if scanned.0 == ScanStep::Rows && self.threads.len() < self.most_threads && self.shared.has_more_parts() {
            // Whoever wants few rows gets them without threads for all.
            while self.threads.len() < self.most_threads {
                self.add_thread()?;
            }
        }
        Ok(scanned.0)
    }

    /// Returns the rows that came last.
    pub fn chunk(&self) -> &RecordChunk {
        &self.current
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }
}

impl Drop for FileScan {
    fn drop(&mut self) {
        lock(&self.shared.state).is_stopped = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A worker's panic became an error of its part.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Reads parts until there are no more.
    fn work(&self) {
        let Some(source) = &self.source else { return };
        while self.may_take() {
            let (number, part) = self.take(source);
            let done = match part {
                Ok(None) => return,
                Ok(Some(mut part)) => caught(|| self.read_part(number, &mut *part)),
                Err(failure) => Err(failure),
            };
            let is_over = done.is_err();
            self.end_part(number, done.map_err(|failure| failure.explained(source)));
            if is_over {
                return;
            }
        }
    }

    /// Waits until the reader is near enough for another part. Returns `false` if none is wanted.
    fn may_take(&self) -> bool {
        let mut state = lock(&self.state);
        loop {
            if state.is_stopped || state.count.is_some() {
                return false;
            }
            if state.taken - state.current <= 2 * self.most_threads {
                return true;
            }
            state = ignore_poison(self.changed.wait(state));
        }
    }

    /// Takes the next part, and its number.
    fn take<'s>(&self, source: &'s LoadSource) -> (u64, Result<Option<Box<dyn Part + 's>>, Failure>) {
        let _turn = lock(&self.next);
        let part = caught(|| source.next_part());
        let mut state = lock(&self.state);
        let number = state.taken;
        if matches!(part, Ok(None)) {
            state.count = Some(number);
            self.changed.notify_all();
        } else {
            state.taken += 1;
            state.parts.insert(number, PartState::default());
        }
        (number, part)
    }

    fn read_part(&self, number: u64, part: &mut dyn Part) -> Result<()> {
        loop {
            let mut chunk = lock(&self.state).spare.pop().unwrap_or_default();
            chunk.clear();
            part.fill(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(());
            }
            if !self.filters.is_empty() {
                self.filter(&mut chunk);
            }
            if !chunk.is_empty() && !self.hand_over(number, chunk) {
                return Ok(());
            }
        }
    }

    /// Removes rows that cannot meet the conditions.
    fn filter(&self, chunk: &mut RecordChunk) {
        let meets = |row: usize| {
            let record = chunk.record(row);
            !self.filters.iter().any(|filter| filter.excludes_record(record))
        };
        let stays: Vec<bool> = (0..chunk.len()).map(meets).collect();
        chunk.retain(0, |row| stays[row]);
    }

    /// Hands a chunk over when there is room. Returns `false` if no more are wanted.
    fn hand_over(&self, number: u64, chunk: RecordChunk) -> bool {
        let mut state = lock(&self.state);
        loop {
            if state.is_stopped {
                return false;
            }
            let waiting = state.parts.get(&number).map_or(0, |part| part.chunks.len());
            let is_current = state.current == number;
            if is_current && waiting < MOST_WAITING || !is_current && state.bytes < self.ahead_bytes {
                break;
            }
            state = ignore_poison(self.changed.wait(state));
        }
        state.bytes += chunk.arena().len();
        state.parts.entry(number).or_default().chunks.push_back(chunk);
        self.changed.notify_all();
        true
    }

    fn end_part(&self, number: u64, end: Result<(), Failure>) {
        let mut state = lock(&self.state);
        state.parts.entry(number).or_default().end = Some(end);
        self.changed.notify_all();
    }

    /// Takes the next chunk of the reader, and gives back the one before.
    fn poll(&self, used: RecordChunk, patience: Duration) -> Result<(ScanStep, Option<RecordChunk>)> {
        let until = Instant::now() + patience;
        let mut state = lock(&self.state);
        if state.spare.len() < MOST_SPARE {
            state.spare.push(used);
        }
        loop {
            let current = state.current;
            if state.count == Some(current) {
                return Ok((ScanStep::End, None));
            }
            let part = state.parts.get_mut(&current);
            if let Some(chunk) = part.and_then(|part| part.chunks.pop_front()) {
                state.bytes -= chunk.arena().len();
                self.changed.notify_all();
                return Ok((ScanStep::Rows, Some(chunk)));
            }
            if let Some(end) = state.parts.get_mut(&current).and_then(|part| part.end.take()) {
                state.parts.remove(&current);
                state.current += 1;
                self.changed.notify_all();
                if let Err(failure) = end {
                    state.count = Some(state.current);
                    drop(state);
                    return Err(failure.raised());
                }
                continue;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok((ScanStep::Waiting, None));
            }
            state = ignore_poison(self.changed.wait_timeout(state, left)).0;
        }
    }

    fn has_more_parts(&self) -> bool {
        lock(&self.state).count.is_none()
    }
}

impl Failure {
    /// Adds the place to an error.
    fn explained(self, source: &LoadSource) -> Self {
        match self {
            Self::Error(error) => Self::Error(Box::new(source.explain(*error))),
            panic @ Self::Panic(_) => panic,
        }
    }

    /// Returns the error, or panics as the worker did.
    fn raised(self) -> Error {
        match self {
            Self::Error(error) => *error,
            Self::Panic(panic) => resume_unwind(panic),
        }
    }
}

/// Runs a step of a worker.
fn caught<T>(step: impl FnOnce() -> Result<T>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(done) => done.map_err(|error| Failure::Error(Box::new(error))),
        Err(panic) => Err(Failure::Panic(panic)),
    }
}
