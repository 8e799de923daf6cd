//! Consecutive pages in memory that have no numbers yet.

use crate::Result;
use crate::sink::block::{BLOCK_BYTES, Block, BlockPool};
use litepress_format::page::PageSize;
use std::sync::Arc;

/// Consecutive pages in memory whose numbers are not known yet.
///
/// A page number inside the run (an overflow pointer) is written as the index of the page in the run and listed in
/// `pointers`; [`Pages::place`](super::Pages::place) replaces it. So runs are built on every core at once, and numbered one after another.
pub(crate) struct PageRun {
    page_bytes: usize,
    /// Binary logarithm of the pages in a block.
    block_shift: u32,
    pool: Arc<BlockPool>,
    pub(super) blocks: Vec<Block>,
    pages: usize,
    /// Page index, and offset in the page, of every 4-byte page number that is still an index into this run.
    pub(super) pointers: Vec<(u32, u32)>,
}

impl PageRun {
    pub fn new(page_size: PageSize, pool: &Arc<BlockPool>) -> Self {
        let page_bytes = page_size.bytes();
        let block_shift = (BLOCK_BYTES / page_bytes).ilog2();
        Self { page_bytes, block_shift, pool: pool.clone(), blocks: Vec::new(), pages: 0, pointers: Vec::new() }
    }

    /// Makes a run of `pages` pages. `fill` writes the bytes of each block in turn.
    pub fn filled(
        page_size: PageSize,
        pool: &Arc<BlockPool>,
        pages: u32,
        pointers: Vec<(u32, u32)>,
        mut fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<Self> {
        let mut run = Self { pointers, ..Self::new(page_size, pool) };
        for _ in 0..pages {
            run.add_page();
        }
        let (bytes, block_bytes) = (run.bytes(), run.pages_per_block() * run.page_bytes);
        for (block, start) in run.blocks.iter_mut().zip((0..).step_by(block_bytes)) {
            fill(&mut block.bytes_mut()[..block_bytes.min(bytes - start)])?;
        }
        Ok(run)
    }

    /// Returns the bytes of all pages, as one slice for each block.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let (bytes, block_bytes) = (self.bytes(), self.pages_per_block() * self.page_bytes);
        let starts = (0..).step_by(block_bytes);
        self.blocks.iter().zip(starts).map(move |(block, start)| &block.bytes()[..block_bytes.min(bytes - start)])
    }

    /// Returns the number of bytes of all pages.
    pub fn bytes(&self) -> usize {
        self.pages * self.page_bytes
    }

    /// Returns page index and offset of every page number that is still an index.
    pub fn pointers(&self) -> &[(u32, u32)] {
        &self.pointers
    }

    /// Returns the number of pages so far.
    pub fn len(&self) -> u32 {
        u32::try_from(self.pages).expect("a run is a small part of a file")
    }

    /// Returns whether the pages fill their blocks, at least one.
    pub fn fills_blocks(&self) -> bool {
        self.pages > 0 && self.pages.is_multiple_of(self.pages_per_block())
    }

    /// Returns the number of blocks of these pages.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Appends a page and returns its index. Its bytes are arbitrary: the caller must write all of them.
    pub fn add_page(&mut self) -> u32 {
        if self.pages.is_multiple_of(self.pages_per_block()) {
            self.blocks.push(self.pool.take());
        }
        self.pages += 1;
        self.len() - 1
    }

    /// Returns the bytes of page `index`.
    #[inline]
    pub fn page_mut(&mut self, index: u32) -> &mut [u8] {
        let (block, start) = self.locate(index);
        &mut self.blocks[block].bytes_mut()[start..start + self.page_bytes]
    }

    /// Returns the bytes of page `index`, read-only.
    pub fn page(&self, index: u32) -> &[u8] {
        let (block, start) = self.locate(index);
        &self.blocks[block].bytes()[start..start + self.page_bytes]
    }

    /// Returns the block of page `index`, and the page's offset in it.
    #[inline]
    fn locate(&self, index: u32) -> (usize, usize) {
        let index = index as usize;
        assert!(index < self.pages, "page {index} of a run of {}", self.pages);
        // Page sizes are powers of two: a division would cost more than all the rest.
        let block = index >> self.block_shift;
        (block, (index - (block << self.block_shift)) * self.page_bytes)
    }

    /// Writes the index `target` of a page of this run to the four bytes at `offset` of page `index`. Placing the run
    /// replaces it with the page's number.
    pub fn set_pointer(&mut self, index: u32, offset: usize, target: u32) {
        self.page_mut(index)[offset..offset + 4].copy_from_slice(&target.to_be_bytes());
        self.pointers.push((index, u32::try_from(offset).expect("an offset in a page")));
    }

    /// Undoes [`set_pointer`](Self::set_pointer). Returns the index that it wrote.
    pub fn take_pointer(&mut self, index: u32, offset: usize) -> u32 {
        let is_it = |&(page, at): &(u32, u32)| page == index && at as usize == offset;
        let position = self.pointers.iter().rposition(is_it).expect("a pointer was set there");
        self.pointers.swap_remove(position);
        let bytes = &self.page_mut(index)[offset..offset + 4];
        u32::from_be_bytes(bytes.try_into().expect("four bytes"))
    }

    pub(super) fn pages_per_block(&self) -> usize {
        1 << self.block_shift
    }
}
