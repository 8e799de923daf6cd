//! Zeroed memory for blocks, populated in large steps: the kernel populates many pages at once in two thirds of the
//! time of single page faults.

use super::segments::BLOCK_BYTES;
use crate::memory::zeroed_pages::ZeroedPages;
use std::ops::{Deref, DerefMut};

/// Bytes that are populated at once; they must fit a cache.
const STEP_BYTES: usize = 64 * BLOCK_BYTES;

/// Zeroed memory. Steps are populated just before their blocks are used for the first time.
#[derive(Debug, Default)]
pub(in crate::sort) struct BlockMemory {
    bytes: ZeroedPages,
    present: usize,
}

impl BlockMemory {
    pub fn new(bytes: usize) -> Self {
        Self { bytes: ZeroedPages::new(bytes), present: 0 }
    }

    /// Announces that the bytes before `end` will be used.
    #[inline]
    pub fn use_up_to(&mut self, end: usize) {
        if end > self.present {
            self.populate(end);
        }
    }

    #[cold]
    fn populate(&mut self, end: usize) {
        let end = end.next_multiple_of(STEP_BYTES).min(self.len());
        self.bytes.populate(self.present..end);
        self.present = end;
    }
}

impl Deref for BlockMemory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for BlockMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
