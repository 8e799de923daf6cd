//! Memory for blocks, made present some at a time: the system does that for many pages at once in two thirds of the time
//! that it takes where each is touched first.

use super::segments::BLOCK_BYTES;
use memmap2::{Advice, MmapMut};
use std::ops::{Deref, DerefMut};

/// Bytes that are made present at once: what a cache holds.
const STEP_BYTES: usize = 64 * BLOCK_BYTES;

/// Zeros, with whole steps made present in front of where blocks are used for the first time.
#[derive(Debug)]
pub(super) struct BlockMemory {
    bytes: Bytes,
    present: usize,
}

#[derive(Debug)]
enum Bytes {
    Mapped(MmapMut),
    /// Where the system maps no memory, or none is wanted.
    Plain(Vec<u8>),
}

impl BlockMemory {
    pub fn new(bytes: usize) -> Self {
        let mapped = MmapMut::map_anon(bytes).map(Bytes::Mapped);
        Self { bytes: mapped.unwrap_or_else(|_| Bytes::Plain(vec![0; bytes])), present: 0 }
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
        if let Bytes::Mapped(map) = &self.bytes {
            // An older system does not know this: pages come when they are touched.
            let _ = map.advise_range(Advice::PopulateWrite, self.present, end - self.present);
        }
        self.present = end;
    }
}

impl Default for BlockMemory {
    /// None.
    fn default() -> Self {
        Self { bytes: Bytes::Plain(Vec::new()), present: 0 }
    }
}

impl Deref for BlockMemory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Plain(bytes) => bytes,
        }
    }
}

impl DerefMut for BlockMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Plain(bytes) => bytes,
        }
    }
}
