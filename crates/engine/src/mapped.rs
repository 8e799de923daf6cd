//! Zeros that the operating system gives when they are touched, and what it is told of them.

use memmap2::{Advice, MmapMut};
use std::ops::{Deref, DerefMut, Range};

/// Zeros that begin where a page of memory does, unless the system maps no memory.
#[derive(Debug)]
pub(crate) enum MappedMemory {
    Mapped(MmapMut),
    /// Where it does not, or none is wanted.
    Plain(Vec<u8>),
}

impl MappedMemory {
    pub fn new(bytes: usize) -> Self {
        MmapMut::map_anon(bytes).map_or_else(|_| Self::Plain(vec![0; bytes]), Self::Mapped)
    }

    /// Asks for large pages, which take less to write from; only memory that is used again and again is worth clearing
    /// them.
    pub fn prefer_large_pages(&self) {
        self.advise(Advice::HugePage, 0..self.len());
    }

    /// Makes these bytes present, where the system knows how: they come when they are touched elsewhere.
    pub fn make_present(&self, bytes: Range<usize>) {
        self.advise(Advice::PopulateWrite, bytes);
    }

    fn advise(&self, advice: Advice, bytes: Range<usize>) {
        if let Self::Mapped(map) = self {
            // An older system does not know all of it.
            let _ = map.advise_range(advice, bytes.start, bytes.len());
        }
    }
}

impl Default for MappedMemory {
    /// None.
    fn default() -> Self {
        Self::Plain(Vec::new())
    }
}

impl Deref for MappedMemory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Plain(bytes) => bytes,
        }
    }
}

impl DerefMut for MappedMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Plain(bytes) => bytes,
        }
    }
}
