//! Zeroed memory from the operating system, and hints on how to populate it.

#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::MmapMut;
use std::ops::{Deref, DerefMut, Range};

/// Zeroed memory. It begins at a memory page unless the system cannot map memory.
#[derive(Debug)]
pub(crate) enum ZeroedPages {
    Mapped(MmapMut),
    /// A fallback if the system cannot map memory, and the empty value.
    Plain(Vec<u8>),
}

impl ZeroedPages {
    pub fn new(bytes: usize) -> Self {
        MmapMut::map_anon(bytes).map_or_else(|_| Self::Plain(vec![0; bytes]), Self::Mapped)
    }

    /// Asks for huge pages, which make later writes faster. Zeroing them pays off only for memory that is reused.
    pub fn prefer_huge_pages(&self) {
        #[cfg(target_os = "linux")]
        self.advise(Advice::HugePage, 0..self.len());
    }

    /// Populates these bytes now, if the system can. Otherwise they are populated at the first access.
    pub fn populate(&self, bytes: Range<usize>) {
        #[cfg(target_os = "linux")]
        self.advise(Advice::PopulateWrite, bytes);
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
    }

    #[cfg(target_os = "linux")]
    fn advise(&self, advice: Advice, bytes: Range<usize>) {
        if let Self::Mapped(map) = self {
            // Older kernels do not know every hint.
            let _ = map.advise_range(advice, bytes.start, bytes.len());
        }
    }
}

impl Default for ZeroedPages {
    /// Returns empty memory.
    fn default() -> Self {
        Self::Plain(Vec::new())
    }
}

impl Deref for ZeroedPages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Plain(bytes) => bytes,
        }
    }
}

impl DerefMut for ZeroedPages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Plain(bytes) => bytes,
        }
    }
}
