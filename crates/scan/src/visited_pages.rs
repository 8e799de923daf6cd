//! Marks pages that a pointer reaches: one bit per page.

use std::sync::atomic::{AtomicU64, Ordering};

const BITS: usize = u64::BITS as usize;

/// A bitmap of the pages of a database. A page's bit is set when a scan enters the page, which it may do once.
#[derive(Debug)]
pub(crate) struct VisitedPages {
    words: Vec<AtomicU64>,
}

impl VisitedPages {
    pub fn new(pages: u32) -> Self {
        let words = (pages as usize + 1).div_ceil(BITS);
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Marks a page. Returns `false` if it was marked before.
    pub fn claim(&self, page: u32) -> bool {
        let bit = 1 << (page as usize % BITS);
        self.words[page as usize / BITS].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Returns the marked pages, in order.
    pub fn pages(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let word = word.load(Ordering::Relaxed);
            let page = move |bit: usize| u32::try_from(at * BITS + bit).expect("pages have numbers of 32 bits");
            (0..BITS).filter(move |bit| word >> bit & 1 == 1).map(page)
        })
    }
}
