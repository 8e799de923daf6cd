//! Marks pages that a pointer reaches: one bit per page.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

const BITS: usize = u64::BITS as usize;

/// A bitmap of all pages of the file. A page's bit is set when the page is reached.
///
/// A page is entered only by the thread that sets its bit, so no cycle of pages is walked twice.
#[derive(Debug)]
pub(super) struct VisitedPages {
    words: Vec<AtomicU64>,
    pages: u32,
}

impl VisitedPages {
    pub(super) fn new(pages: u32) -> Self {
        let words = (pages as usize + 1).div_ceil(BITS);
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect(), pages }
    }

    /// Marks a page of the file. Returns `false` if it was marked before.
    pub(super) fn claim(&self, page: u32) -> bool {
        let bit = 1 << (page as usize % BITS);
        self.words[page as usize / BITS].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Returns the pages that were not reached, as ranges.
    pub(super) fn orphans(&self) -> impl Iterator<Item = RangeInclusive<u32>> + '_ {
        let mut at = 1;
        std::iter::from_fn(move || {
            let first = self.next_page(at, false)?;
            let beyond = self.next_page(first, true);
            at = beyond.unwrap_or(u32::MAX);
            Some(first..=beyond.map_or(self.pages, |page| page - 1))
        })
    }

    /// Returns the first page from `from` on whose bit is `reached`.
    fn next_page(&self, from: u32, reached: bool) -> Option<u32> {
        let mut page = from as usize;
        while page <= self.pages as usize {
            let word = self.words[page / BITS].load(Ordering::Relaxed);
            let marked = if reached { word } else { !word };
            let wanted = marked >> (page % BITS);
            if wanted != 0 {
                page += wanted.trailing_zeros() as usize;
                return u32::try_from(page).ok().filter(|page| *page <= self.pages);
            }
            page = (page / BITS + 1) * BITS;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_claimed_once() {
        let visited = VisitedPages::new(3);
        assert!(visited.claim(3));
        assert!(!visited.claim(3));
        assert!(visited.claim(1));
        assert_eq!(visited.orphans().collect::<Vec<_>>(), [2..=2]);
    }

    #[test]
    fn orphans_come_as_ranges() {
        for pages in [1, 63, 64, 65, 127, 128, 200] {
            let visited = VisitedPages::new(pages);
            assert_eq!(visited.orphans().collect::<Vec<_>>(), [1..=pages]);
            (1..=pages).filter(|page| page % 64 == 0).for_each(|page| assert!(visited.claim(page)));
            let expected: u32 = (1..=pages).filter(|page| page % 64 != 0).count().try_into().unwrap();
            assert_eq!(visited.orphans().map(|range| range.end() - range.start() + 1).sum::<u32>(), expected);
            (1..=pages).for_each(|page| {
                visited.claim(page);
            });
            assert_eq!(visited.orphans().count(), 0);
        }
    }
}
