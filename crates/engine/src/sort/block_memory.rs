//! Memory for blocks, made present some at a time: the system does that for many pages at once in two thirds of the time
//! that it takes where each is touched first.

use super::segments::BLOCK_BYTES;
use crate::mapped::MappedMemory;
use std::ops::{Deref, DerefMut};

/// Bytes that are made present at once: what a cache holds.
const STEP_BYTES: usize = 64 * BLOCK_BYTES;

/// Zeros, with whole steps made present in front of where blocks are used for the first time.
#[derive(Debug, Default)]
pub(super) struct BlockMemory {
    bytes: MappedMemory,
    present: usize,
}

impl BlockMemory {
    pub fn new(bytes: usize) -> Self {
        Self { bytes: MappedMemory::new(bytes), present: 0 }
    }

    /// Says that the bytes in front of `end` will be used.
    #[inline]
    pub fn use_up_to(&mut self, end: usize) {
        if end > self.present {
            self.make_present(end);
        }
    }

    #[cold]
    fn make_present(&mut self, end: usize) {
        let end = end.next_multiple_of(STEP_BYTES).min(self.len());
        self.bytes.make_present(self.present..end);
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
