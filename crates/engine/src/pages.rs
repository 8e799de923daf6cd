//! Pages of a database under construction: runs of pages in memory, their numbers, and reading them back.
//!
//! ```text
//! page_run    consecutive pages in memory, built on every core, without numbers
//! numbering   runs get page numbers; only here are page numbers assigned
//! free_pages  the free pages of a database that exists, and those behind its end
//! here        numbered runs go to the writers
//! read_back   pages of a run, or of the file so far
//! ```

mod free_pages;
mod numbering;
mod page_run;
mod read_back;

pub(crate) use free_pages::FreePages;
pub(crate) use numbering::{Placement, SkippedPages, Stretch};
pub(crate) use page_run::PageRun;
pub(crate) use read_back::{PagesByNumber, PagesInOrder, RunPages, WrittenPages, changed_pages};

use crate::Result;
use crate::sink::block::BlockPool;
use crate::sink::writers::{Pieces, Writers};
use litepress_format::page::PageSize;
use std::ops::Range;
use std::sync::Arc;

/// The pages of a database under construction: the next number, and the writers of full pages.
pub(crate) struct Pages {
    page_size: PageSize,
    next: u32,
    /// Whether these are the pages of a part, which has no levels above leaves.
    is_part: bool,
    skipped: SkippedPages,
    pool: Arc<BlockPool>,
    writers: Writers,
}

impl Pages {
    /// Starts with page 2: page 1 is for the header and the schema.
    pub fn new(page_size: PageSize, pool: Arc<BlockPool>, writers: Writers) -> Self {
        Self::behind(1, page_size, pool, writers)
    }

    /// Turns these into the pages of a part. REQUIRES: nothing was placed.
    #[must_use]
    pub fn of_part(self) -> Self {
        assert_eq!(self.next, 2, "nothing was placed");
        Self { is_part: true, skipped: SkippedPages::none(), ..self }
    }

    /// Leaves room for the pages of a pointer map. REQUIRES: nothing was placed.
    pub fn begin_pointer_map(&mut self) {
        assert_eq!(self.next, 2, "nothing was placed");
        self.skipped = SkippedPages::new(self.page_size, true);
    }

    /// Starts behind the `count` pages of a database that exists.
    pub fn behind(count: u32, page_size: PageSize, pool: Arc<BlockPool>, writers: Writers) -> Self {
        Self { page_size, next: count + 1, is_part: false, skipped: SkippedPages::new(page_size, false), pool, writers }
    }

    /// Starts with the first of the free pages of a database that exists.
    pub fn in_place_of(free: Arc<FreePages>, page_size: PageSize, pool: Arc<BlockPool>, writers: Writers) -> Self {
        Self { page_size, next: 2, is_part: false, skipped: SkippedPages::except(free), pool, writers }
    }

    pub fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// Returns whether these are the pages of a part.
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    pub fn pool(&self) -> &Arc<BlockPool> {
        &self.pool
    }

    /// Returns a run without pages.
    pub fn new_run(&self) -> PageRun {
        PageRun::new(self.page_size, &self.pool)
    }

    /// Returns whether written pages can be read.
    pub fn can_read(&self) -> bool {
        self.writers.can_read()
    }

    /// Writes all pages of a placed run.
    pub fn write(&self, run: PageRun, placement: &Placement) -> Result<()> {
        self.write_from(0, run, placement)
    }

    /// Gives the pages of a run the next numbers and writes them, on this thread. The run stays as it is: REQUIRES: it has no pointers.
    pub fn write_kept(&mut self, run: &PageRun) -> Result<Placement> {
        assert!(run.pointers.is_empty(), "a run that is kept has no pointers");
        let placement = self.take_numbers(run.len())?;
        let per_block = u32::try_from(run.pages_per_block()).expect("pages of a block");
        for (block, start) in run.blocks.iter().zip((0..).step_by(run.pages_per_block())) {
            let end = run.len().min(start + per_block);
            self.writers.write_kept(block.bytes(), &self.pieces(&placement, start, start..end))?;
        }
        Ok(placement)
    }

    fn write_from(&self, first_page: u32, run: PageRun, placement: &Placement) -> Result<()> {
        assert!(run.pointers.is_empty(), "every pointer of a run is resolved before it is written");
        let (pages, per_block) = (run.len(), u32::try_from(run.pages_per_block()).expect("pages of a block"));
        let mut start = 0;
        for block in run.blocks {
            let end = pages.min(start + per_block);
            self.writers.submit(block, self.pieces(placement, start, start.max(first_page)..end))?;
            start = end;
        }
        Ok(())
    }

    /// Returns pages of a run as pieces of the block that begins with page `block_start`: one for each sequence without a skipped
    /// page.
    fn pieces(&self, placement: &Placement, block_start: u32, pages: Range<u32>) -> Pieces {
        let page_bytes = self.page_size.bytes();
        let in_block = |index: u32| (index - block_start) as usize * page_bytes;
        let (mut pieces, mut start) = (Pieces::new(), pages.start);
        while start < pages.end {
            let end = placement.next_break(start).min(pages.end);
            pieces.push((in_block(start)..in_block(end), self.offset(placement.number(start))));
            start = end;
        }
        pieces
    }

    /// Writes a page whose number was [reserved](Self::reserve), is skipped by runs, or is behind the last one.
    pub fn write_page(&self, number: u32, bytes: &[u8]) -> Result<()> {
        let mut block = self.pool.take();
        block.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        self.writers.submit(block, vec![(0..bytes.len(), self.offset(number))])
    }

    /// Returns the offset in the file of page `number`.
    fn offset(&self, number: u32) -> u64 {
        offset_of(number, self.page_size)
    }

    /// Writes page 1 and waits for all writes. Returns the length of the file in bytes.
    pub fn finish(&mut self, page_1: &[u8]) -> Result<u64> {
        self.write_page(1, page_1)?;
        let len = self.offset(self.next);
        self.writers.finish(len)?;
        Ok(len)
    }

    /// Waits until all pages are written.
    pub fn wait(&self) -> Result<()> {
        self.writers.wait()
    }

    /// Reads a page. REQUIRES: [`wait`](Self::wait) was called after it was placed.
    pub fn read(&self, number: u32, page: &mut [u8]) -> Result<()> {
        self.writers.read(page, self.offset(number))
    }

    /// Makes the file survive a power cut.
    pub fn sync(&self) -> Result<()> {
        self.writers.sync()
    }

    /// Returns the bytes of the file, if the sink keeps them in memory.
    pub fn take_bytes(&self) -> Option<Vec<u8>> {
        self.writers.take_bytes()
    }
}

/// Returns the offset in the file of a page.
pub(crate) fn offset_of(number: u32, page_size: PageSize) -> u64 {
    u64::from(number - 1) * page_size.bytes() as u64
}
