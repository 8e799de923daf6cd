//! Assigns page numbers. Only this module does, and it skips the lock-byte page.

use super::page_run::PageRun;
use crate::sink::block::BlockPool;
use crate::sink::writers::{Pieces, Writers};
use crate::{Error, ErrorKind, Result};
use litepress_format::page::{MAX_PAGE_NUMBER, PageSize};
use litepress_rows::{OptionName, message};
use std::ops::Range;
use std::sync::Arc;

/// The pages of a database under construction: the next number, and the writers of full pages.
pub(crate) struct Pages {
    pub(super) page_size: PageSize,
    pub(super) next: u32,
    pool: Arc<BlockPool>,
    pub(super) writers: Writers,
}

/// The position of a placed run in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    first: u32,
    lock_byte_page: u32,
}

impl Placement {
    /// Returns the number of the run's page `index`.
    pub fn number(self, index: u32) -> u32 {
        let number = self.first + index;
        if index >= self.first_behind_lock_byte_page() { number + 1 } else { number }
    }

    /// Returns the index of the page that would be the lock-byte page if that were not skipped.
    fn first_behind_lock_byte_page(self) -> u32 {
        if self.first < self.lock_byte_page { self.lock_byte_page - self.first } else { u32::MAX }
    }
}

impl Pages {
    /// Starts with page 2: page 1 is for the header and the schema.
    pub fn new(page_size: PageSize, pool: Arc<BlockPool>, writers: Writers) -> Self {
        Self { page_size, next: 2, pool, writers }
    }

    /// Starts behind the `count` pages of a database that exists.
    pub fn behind(count: u32, page_size: PageSize, pool: Arc<BlockPool>, writers: Writers) -> Self {
        Self { page_size, next: count + 1, pool, writers }
    }

    pub fn page_size(&self) -> PageSize {
        self.page_size
    }

    pub fn pool(&self) -> &Arc<BlockPool> {
        &self.pool
    }

    /// Returns a run without pages.
    pub fn new_run(&self) -> PageRun {
        PageRun::new(self.page_size, &self.pool)
    }

    /// Returns the number of pages so far.
    pub fn count(&self) -> u32 {
        self.next - 1
    }

    /// Gives the pages of `run` the next numbers.
    pub fn place(&mut self, run: &mut PageRun) -> Result<Placement> {
        self.step_over_lock_byte_page();
        let placement = Placement { first: self.next, lock_byte_page: self.page_size.lock_byte_page() };
        self.advance(run.len())?;
        resolve_pointers(run, placement);
        Ok(placement)
    }

    /// Appends one page to a placed run. Returns the index and number of the page. REQUIRES: no other run was placed
    /// in between.
    pub fn append(&mut self, run: &mut PageRun, placement: Placement) -> Result<(u32, u32)> {
        let index = run.add_page();
        self.advance(1)?;
        Ok((index, placement.number(index)))
    }

    fn step_over_lock_byte_page(&mut self) {
        if self.next == self.page_size.lock_byte_page() {
            self.next += 1;
        }
    }

    /// Moves on by `count` pages, and past the lock-byte page if it is among them.
    fn advance(&mut self, count: u32) -> Result<()> {
        let lock_byte_page = self.page_size.lock_byte_page();
        let mut next = u64::from(self.next) + u64::from(count);
        if self.next <= lock_byte_page && next > u64::from(lock_byte_page) {
            next += 1;
        }
        if next > u64::from(MAX_PAGE_NUMBER) + 1 {
            let message = format!("the database has more than {MAX_PAGE_NUMBER} pages, the most that SQLite allows");
            return Err(Error::new(ErrorKind::Limit, message)
                .advise(message!["choose larger pages with ", OptionName::PageSize.count(None, "65536")]));
        }
        self.next = u32::try_from(next).expect("checked against the largest page number");
        Ok(())
    }

    /// Places a run whose first page is page 1. Returns that page; writes the others.
    pub fn place_behind_page_1(&mut self, mut run: PageRun) -> Result<Vec<u8>> {
        let others = run.len() - 1;
        self.step_over_lock_byte_page();
        let placement = Placement { first: self.next - 1, lock_byte_page: self.page_size.lock_byte_page() };
        self.advance(others)?;
        resolve_pointers(&mut run, placement);
        let page_1 = run.page_mut(0).to_vec();
        self.write_from(1, run, placement)?;
        Ok(page_1)
    }

    /// Returns whether written pages can be read.
    pub fn can_read(&self) -> bool {
        self.writers.can_read()
    }

    /// Returns the number of the next page, or that of the lock-byte page before it.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Gives the numbers from `first` on to other pages. REQUIRES: the pages so far are written.
    pub fn rewind_to(&mut self, first: u32) {
        assert!(first <= self.next, "pages that were placed");
        self.next = first;
    }

    /// Writes all pages of a placed run.
    pub fn write(&self, run: PageRun, placement: Placement) -> Result<()> {
        self.write_from(0, run, placement)
    }

    fn write_from(&self, first_page: u32, run: PageRun, placement: Placement) -> Result<()> {
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

    /// Returns pages of a run as pieces of the block that begins with page `block_start`: two if the lock-byte page
    /// separates them.
    fn pieces(&self, placement: Placement, block_start: u32, pages: Range<u32>) -> Pieces {
        let page_bytes = self.page_size.bytes();
        let in_block = |index: u32| (index - block_start) as usize * page_bytes;
        let cut = placement.first_behind_lock_byte_page().clamp(pages.start, pages.end);
        [pages.start..cut, cut..pages.end]
            .into_iter()
            .filter(|piece| !piece.is_empty())
            .map(|piece| (in_block(piece.start)..in_block(piece.end), self.offset(placement.number(piece.start))))
            .collect()
    }

    /// Returns the offset in the file of page `number`.
    pub(super) fn offset(&self, number: u32) -> u64 {
        u64::from(number - 1) * self.page_size.bytes() as u64
    }

    /// Writes page 1 and waits for all writes. Returns the length of the file in bytes.
    pub fn finish(&mut self, page_1: &[u8]) -> Result<u64> {
        let mut block = self.pool.take();
        block.bytes_mut()[..page_1.len()].copy_from_slice(page_1);
        self.writers.submit(block, vec![(0..page_1.len(), 0)])?;
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

/// Replaces the page indexes in a run with page numbers.
fn resolve_pointers(run: &mut PageRun, placement: Placement) {
    for (index, offset) in std::mem::take(&mut run.pointers) {
        let offset = offset as usize;
        let pointer = &mut run.page_mut(index)[offset..offset + 4];
        let target = u32::from_be_bytes(pointer.try_into().expect("four bytes"));
        pointer.copy_from_slice(&placement.number(target).to_be_bytes());
    }
}
