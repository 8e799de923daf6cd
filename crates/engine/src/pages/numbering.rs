//! Numbers the pages that litepress writes. Only this module does, and it skips the lock-byte page.

use super::{PageRun, Pages};
use crate::{Error, ErrorKind, Result};
use litepress_format::page::MAX_PAGE_NUMBER;
use litepress_rows::{OptionName, message};

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
    pub(super) fn first_behind_lock_byte_page(self) -> u32 {
        if self.first < self.lock_byte_page { self.lock_byte_page - self.first } else { u32::MAX }
    }
}

impl Pages {
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

    /// Returns the number of the next page, or that of the lock-byte page before it.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Gives the numbers from `first` on to other pages. REQUIRES: the pages so far are written.
    pub fn rewind_to(&mut self, first: u32) {
        assert!(first <= self.next, "pages that were placed");
        self.next = first;
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
