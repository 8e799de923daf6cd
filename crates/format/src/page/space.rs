//! Which bytes of a page something uses: cells and freeblocks must not overlap, and what lies
//! between them must be counted as fragments.

use super::PageReader;
use crate::FormatError;

const BITS: usize = u64::BITS as usize;

/// The bytes of a page that were taken, reused from page to page.
///
/// Cells that a writer laid one before the other, from the end of the page on, are only remembered
/// by where the last one starts; else there is one bit for every byte.
#[derive(Debug, Default)]
pub struct Space {
    usable: usize,
    /// As long as `words` is empty: everything from here on is taken, and nothing before.
    start: usize,
    /// One bit for every byte.
    words: Vec<u64>,
    used: usize,
}

impl Space {
    /// Forgets the page before.
    #[inline]
    pub fn start(&mut self, usable: usize) {
        self.words.clear();
        (self.usable, self.start, self.used) = (usable, usable, 0);
    }

    /// Takes `len` bytes from `start`, which must end on the page; `false` where one was taken
    /// before.
    #[inline]
    #[must_use]
    pub fn take(&mut self, start: usize, len: usize) -> bool {
        self.used += len;
        if self.words.is_empty() && start + len == self.start {
            self.start = start;
            return true;
        }
        self.take_bits(start, len)
    }

    /// [`take`](Self::take) out of order.
    fn take_bits(&mut self, start: usize, len: usize) -> bool {
        if self.words.is_empty() {
            self.words.resize(self.usable.div_ceil(BITS), 0);
            self.take_long(self.start, self.usable - self.start);
        }
        let (first, shift) = (start / BITS, start % BITS);
        if len < BITS - shift {
            let mask = ((1 << len) - 1) << shift;
            let free = self.words[first] & mask == 0;
            self.words[first] |= mask;
            return free;
        }
        self.take_long(start, len)
    }

    /// [`take`](Self::take) across words.
    fn take_long(&mut self, start: usize, len: usize) -> bool {
        let end = start + len;
        let mut free = true;
        let mut at = start;
        while at < end {
            let word_end = ((at / BITS + 1) * BITS).min(end);
            let bits = word_end - at;
            let mask = (u64::MAX >> (BITS - bits)) << (at % BITS);
            free &= self.words[at / BITS] & mask == 0;
            self.words[at / BITS] |= mask;
            at = word_end;
        }
        free
    }

    /// After all cells were taken: takes the freeblocks and counts the fragments. Gives the free
    /// bytes of the page.
    ///
    /// # Errors
    /// With the first offence.
    pub fn finish(&mut self, page: &PageReader<'_>) -> Result<usize, FormatError> {
        let in_cells = self.used;
        for block in page.freeblocks() {
            let block = block?;
            if !self.take(block.offset, block.len) {
                return Err(FormatError::new("a freeblock overlaps a cell", block.offset));
            }
        }
        let fragmented = self.usable - page.content_start() - self.used;
        let counted = page.header().fragmented_bytes;
        if fragmented != usize::from(counted) {
            let header_offset = page.pointer_offset(0) - page.kind().header_len();
            let what = format!("{counted} fragmented bytes counted, {fragmented} found");
            return Err(FormatError::new(what, header_offset + 7));
        }
        Ok(self.usable - page.pointers_end() - in_cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_seen_within_and_across_words() {
        for (start, len) in
            [(0, 1), (0, 63), (0, 64), (0, 65), (60, 4), (60, 5), (63, 1), (63, 400), (64, 64), (508, 4)]
        {
            let mut space = Space::default();
            space.start(512);
            assert!(space.take(start, len), "{start} {len}");
            for taken in start..start + len {
                assert!(!space.take(taken, 1), "{taken} of {start} {len}");
            }
            for free in (0..512).filter(|byte| !(start..start + len).contains(byte)) {
                assert!(space.take(free, 1), "{free} beside {start} {len}");
            }
        }
    }
}
