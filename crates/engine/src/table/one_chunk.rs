//! A source of rows that are in memory as one chunk.

use crate::Result;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, Source};

/// A source that gives the rows of one chunk once.
pub(crate) struct OneChunk(Mutex<Option<RecordChunk>>);

impl OneChunk {
    pub fn new(chunk: RecordChunk) -> Self {
        Self(Mutex::new(Some(chunk).filter(|chunk| !chunk.is_empty())))
    }
}

impl Source for OneChunk {
    fn next_part(&self) -> Result<Option<Box<dyn Part>>> {
        let chunk = lock(&self.0).take();
        Ok(chunk.map(|chunk| Box::new(OnePart(Some(chunk))) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// A part of one chunk.
pub(crate) struct OnePart(pub Option<RecordChunk>);

impl Part for OnePart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        if let Some(rows) = self.0.take() {
            *chunk = rows;
        }
        Ok(())
    }
}
