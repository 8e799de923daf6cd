//! What is done so far, for whoever watches, and the wish to stop.

use crate::{Error, ErrorKind, Result};
use litepress_rows::{NumberedRows, Part, RecordChunk, RowidOrder, Source};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters that workers add to and a progress bar reads. All of it may be used from any thread, [`stop`](Self::stop)
/// from a signal handler too.
#[derive(Debug, Default)]
pub struct Progress {
    rows: AtomicU64,
    bytes: AtomicU64,
    stop: AtomicBool,
    stage: Mutex<String>,
}

impl Progress {
    /// Rows that their sources have handed out.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Bytes handed to the target.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// What is being done: `rows of user`, `index user_area`. Empty before it begins.
    pub fn stage(&self) -> String {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the run to stop: it ends soon with [`ErrorKind::Interrupted`], and nothing is published.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Fails once somebody has asked to stop.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`]
    pub fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted; nothing was written to the target"));
        }
        Ok(())
    }

    pub(crate) fn enter(&self, stage: impl Into<String>) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.into();
    }

    pub(crate) fn add_rows(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A source whose rows are counted as they are handed out.
pub(crate) struct Counted<'a> {
    pub source: &'a dyn Source,
    pub progress: &'a Progress,
}

impl Source for Counted<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        Ok(part.map(|part| Box::new(CountedPart { part, progress: self.progress }) as Box<dyn Part + '_>))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn rowid_order(&self) -> RowidOrder {
        self.source.rowid_order()
    }

    fn has_automatic_rowids(&self) -> bool {
        self.source.has_automatic_rowids()
    }

    fn last_sequence(&self) -> Option<i64> {
        self.source.last_sequence()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        self.source.sample(look)
    }

    /// Whoever makes rows again counts them.
    fn numbered(&self) -> Option<&dyn NumberedRows> {
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
