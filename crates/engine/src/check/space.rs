//! Which bytes of a page something uses: cells and freeblocks must not overlap, and what lies
//! between them must be counted as fragments.

use litepress_format::page::PageReader;

const BITS: usize = u64::BITS as usize;

/// One bit for every byte of a page, reused from page to page.
#[derive(Debug, Default)]
pub(super) struct Space {
    words: Vec<u64>,
    used: usize,
}

impl Space {
    /// Forgets the page before.
    pub(super) fn start(&mut self, usable: usize) {
        self.words.clear();
        self.words.resize(usable.div_ceil(BITS), 0);
        self.used = 0;
    }

    /// Takes `len` bytes from `start`, which must end on the page; `false` where one was taken
    /// before.
    #[inline]
    pub(super) fn take(&mut self, start: usize, len: usize) -> bool {
        self.used += len;
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
    /// bytes of the page, or the first offence and where it is.
    pub(super) fn finish(&mut self, page: &PageReader<'_>, usable: usize) -> Result<usize, (String, usize)> {
        let in_cells = self.used;
        for block in page.freeblocks() {
            let block = block.map_err(|error| (error.what().to_owned(), error.offset()))?;
            if !self.take(block.offset, block.len) {
                return Err(("a freeblock overlaps a cell".into(), block.offset));
            }
        }
        let fragmented = usable - page.content_start() - self.used;
        if fragmented != usize::from(page.header().fragmented_bytes) {
            let counted = page.header().fragmented_bytes;
            let header_offset = page.pointer_offset(0) - page.kind().header_len();
            return Err((format!("{counted} fragmented bytes counted, {fragmented} found"), header_offset + 7));
        }
        Ok(usable - page.pointers_end() - in_cells)
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
