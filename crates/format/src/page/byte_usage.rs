//! Tracks the used bytes of a page: cells and freeblocks must not overlap, and the bytes between them must be counted
//! as fragments.

use super::PageReader;
use crate::FormatError;

const BITS: usize = u64::BITS as usize;

/// A set of the used bytes of a page, reused from page to page.
///
/// A writer lays each cell in front of the one before, from the end of the page on. For such a page only the start of
/// the last cell is kept. Any other page gets one bit a byte.
#[derive(Debug, Default)]
pub struct ByteUsage {
    usable: usize,
    /// While `words` is empty, exactly the bytes from here on are used.
    start: usize,
    /// One bit a byte of the page.
    words: Vec<u64>,
    used: usize,
}

impl ByteUsage {
    /// Starts with an empty page of `usable` bytes.
    #[inline]
    pub fn start(&mut self, usable: usize) {
        self.words.clear();
        (self.usable, self.start, self.used) = (usable, usable, 0);
    }

    /// Marks `len` bytes from `start` as used. They must end on the page. Returns `false` if one of them was used
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

    /// Does the work of [`take`](Self::take) for bytes that are not in front of the last ones.
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

    /// Does the work of [`take`](Self::take) across words.
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

    /// Takes the freeblocks and checks the count of fragments. All cells must have been taken. Returns the free bytes
    /// of the page.
    ///
    /// # Errors
    /// The first error found.
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
            let mut usage = ByteUsage::default();
            usage.start(512);
            assert!(usage.take(start, len), "{start} {len}");
            for taken in start..start + len {
                assert!(!usage.take(taken, 1), "{taken} of {start} {len}");
            }
            for free in (0..512).filter(|byte| !(start..start + len).contains(byte)) {
                assert!(usage.take(free, 1), "{free} beside {start} {len}");
            }
        }
    }
}
