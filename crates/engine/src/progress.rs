//! Counts progress, and carries requests to stop.

use crate::{Error, ErrorKind, Result};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RandomAccessRows, RecordChunk, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters that workers add to and a progress bar reads. Any thread may call any method; a signal handler may call
/// [`stop`](Self::stop).
#[derive(Debug, Default)]
pub struct Progress {
    rows: AtomicU64,
    bytes: AtomicU64,
    stop: AtomicBool,
    phase: Mutex<Phase>,
    /// The progress of the run that this work is a part of.
    outer: Option<Arc<Progress>>,
}

/// A phase of a run: the rows of a table, an index, or a task of SQLite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phase {
    /// Its name: `rows of user`, `index user_area`. It is empty before the first one.
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// The number of all phases; 0 if it is unknown.
    pub count: u32,
    /// Whether the sources have handed out all rows.
    pub is_after_rows: bool,
    /// The number of tables whose rows come later.
    tables_left: u32,
}

impl Progress {
    /// Counts a part of a run by itself. Its bytes count for the whole, too, and a request to stop the whole stops it.
    pub(crate) fn within(outer: Arc<Self>) -> Self {
        Self { outer: Some(outer), ..Self::default() }
    }

    /// Returns whether it counts a part of a run.
    pub(crate) fn is_part(&self) -> bool {
        self.outer.is_some()
    }

    /// Returns the number of rows that sources have handed out.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes handed to the target.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the current phase.
    pub fn phase(&self) -> Phase {
        lock(&self.phase).clone()
    }

    /// Returns the name of the current phase: `rows of user`, `index user_area`. It is empty before the first one.
    pub fn stage(&self) -> String {
        lock(&self.phase).name.clone()
    }

    /// Asks the run to stop: it ends soon with [`ErrorKind::Interrupted`], and nothing is published.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Fails if a stop was requested.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] after [`stop`](Self::stop).
    pub fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted; nothing was written to the target"));
        }
        self.outer.as_ref().map_or(Ok(()), |outer| outer.go_on())
    }

    /// Announces the number of phases, and of tables with rows among them.
    pub(crate) fn expect(&self, count: u32, tables: u32) {
        *lock(&self.phase) = Phase { count, tables_left: tables, ..Phase::default() };
    }

    /// Enters the phase that reads a table's rows.
    pub(crate) fn enter_rows(&self, table: &str) {
        self.enter(format!("rows of {table}"));
        let mut phase = lock(&self.phase);
        phase.is_after_rows = false;
        phase.tables_left = phase.tables_left.saturating_sub(1);
    }

    /// Enters the next phase.
    pub(crate) fn enter(&self, name: impl Into<String>) {
        self.enter_step(name);
        lock(&self.phase).number += 1;
    }

    /// Enters the second step of the phase that reads a table's rows: all of them are read.
    pub(crate) fn enter_step(&self, name: impl Into<String>) {
        let mut phase = lock(&self.phase);
        phase.name = name.into();
        phase.is_after_rows = phase.count > 0 && phase.tables_left == 0;
    }

    pub(crate) fn add_rows(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.outer.iter().for_each(|outer| outer.add_bytes(bytes));
    }
}

/// A source that counts its rows as it hands them out.
pub(crate) struct Counted<'a> {
    pub source: &'a dyn Source,
    pub progress: &'a Progress,
}

impl Source for Counted<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        Ok(part.map(|part| Box::new(CountedPart { part, progress: self.progress }) as Box<dyn Part + '_>))
    }

    fn origin(&self) -> Option<&dyn Source> {
        Some(self.source)
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        self.source.sample(look)
    }

    /// Does not count these rows: the code that makes rows again counts them.
    fn numbered(&self) -> Option<&dyn RandomAccessRows> {
        self.source.numbered()
    }
}

struct CountedPart<'a> {
    part: Box<dyn Part + 'a>,
    progress: &'a Progress,
}

impl Part for CountedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        self.progress.add_rows(chunk.len() as u64);
        Ok(())
    }
}
