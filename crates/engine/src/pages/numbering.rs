//! Numbers the pages that litepress writes. Only this module does, and it skips the lock-byte page, pointer-map pages, and pages
//! in use.

use super::free_pages::FreePages;
use super::{PageRun, Pages};
use crate::{Error, ErrorKind, Result};
use litepress_format::page::{MAX_PAGE_NUMBER, PageSize};
use litepress_format::ptrmap::{entries_per_page, map_page_of};
use litepress_rows::{OptionName, message};
use std::sync::Arc;

/// The pages that no run takes: the lock-byte page, the pointer-map pages of a database with auto-vacuum, and pages in use.
#[derive(Clone, Debug)]
pub(crate) struct SkippedPages {
    lock_byte_page: u32,
    /// Bytes of a page, if there are pointer-map pages.
    mapped: Option<usize>,
    /// The pages that runs take, if that is not all others.
    free: Option<Arc<FreePages>>,
}

impl SkippedPages {
    /// Returns the pages to skip in a database that has a pointer map or not.
    pub fn new(page_size: PageSize, has_pointer_map: bool) -> Self {
        let mapped = has_pointer_map.then_some(page_size.bytes());
        Self { lock_byte_page: page_size.lock_byte_page(), mapped, free: None }
    }

    /// Skips all pages but these.
    pub fn except(free: Arc<FreePages>) -> Self {
        Self { free: Some(free), ..Self::none() }
    }

    /// Skips no page: a part is no database.
    pub fn none() -> Self {
        Self { lock_byte_page: u32::MAX, mapped: None, free: None }
    }

    /// Returns whether no run takes this page.
    #[cfg(test)]
    pub fn contains(&self, number: u32) -> bool {
        self.first_from(number) != number
    }

    /// Returns the first page from `number` on that is none of these.
    pub(super) fn first_from(&self, number: u32) -> u32 {
        if let Some(free) = &self.free {
            return free.first_from(number);
        }
        let mut number = number;
        while self.is_reserved(number) {
            number += 1;
        }
        number
    }

    /// Returns whether the page is the lock-byte page or a pointer-map page.
    fn is_reserved(&self, number: u32) -> bool {
        let is_map = |usable| map_page_of(number, usable, self.lock_byte_page) == Some(number);
        number == self.lock_byte_page || self.mapped.is_some_and(is_map)
    }

    /// Returns the first such page from `number` on. The largest number if there is none.
    pub(super) fn next_from(&self, number: u32) -> u32 {
        if let Some(free) = &self.free {
            return free.end_from(number);
        }
        let lock_byte_page = if number <= self.lock_byte_page { self.lock_byte_page } else { u32::MAX };
        let Some(usable) = self.mapped else { return lock_byte_page };
        if self.is_reserved(number) {
            return number;
        }
        let group = u32::try_from(entries_per_page(usable)).expect("less than the bytes of a page") + 1;
        let next = map_page_of(number.saturating_add(group), usable, self.lock_byte_page).unwrap_or(2);
        next.min(lock_byte_page)
    }

    /// Returns the number of the page that is `index` pages behind page `first`, without these.
    #[inline]
    fn number(&self, first: u32, index: u32) -> u64 {
        if let Some(free) = &self.free {
            return free.number(first, index);
        }
        let (mut number, mut left) = (u64::from(first), u64::from(index));
        loop {
            let skipped = self.next_from(u32::try_from(number).unwrap_or(u32::MAX));
            let before = u64::from(skipped).saturating_sub(number);
            if left < before || skipped == u32::MAX {
                return number + left;
            }
            left -= before;
            number += before + 1;
        }
    }
}

/// The position of a placed run in the file.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// The number of the page with the index `from`.
    first: u32,
    from: u32,
    skipped: SkippedPages,
}

impl Placement {
    /// Returns the number of the run's page `index`.
    #[inline]
    pub fn number(&self, index: u32) -> u32 {
        u32::try_from(self.skipped.number(self.first, index - self.from)).expect("the run was placed")
    }

    /// Returns the index of the first page behind the page `index` that does not lie next to the one before it.
    pub(super) fn next_break(&self, index: u32) -> u32 {
        let number = self.number(index);
        index.saturating_add(self.skipped.next_from(number) - number)
    }
}

/// Consecutive pages of a run that lie next to one another in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Offset in the run, in bytes.
    pub from: u64,
    /// Offset in the file, in bytes.
    pub to: u64,
    pub bytes: u64,
}

impl Pages {
    /// Returns the number of pages so far.
    pub fn count(&self) -> u32 {
        self.next - 1
    }

    /// Gives the pages of `run` the next numbers.
    pub fn place(&mut self, run: &mut PageRun) -> Result<Placement> {
        let placement = self.take_numbers(run.len())?;
        resolve_pointers(run, &placement);
        Ok(placement)
    }

    /// Takes the next `count` numbers.
    pub(super) fn take_numbers(&mut self, count: u32) -> Result<Placement> {
        let placement = Placement { first: self.first_free(), from: 0, skipped: self.skipped.clone() };
        self.advance(count)?;
        Ok(placement)
    }

    /// Appends one page to a placed run. Returns the index and number of the page. REQUIRES: no other run was placed
    /// in between.
    pub fn append(&mut self, run: &mut PageRun, placement: &Placement) -> Result<(u32, u32)> {
        let index = run.add_page();
        self.advance(1)?;
        Ok((index, placement.number(index)))
    }

    /// Returns the next number that a run may take. A skipped page in front of it is passed with that page.
    fn first_free(&self) -> u32 {
        self.skipped.first_from(self.next)
    }

    /// Moves on by `count` pages, and past those among them that are skipped.
    fn advance(&mut self, count: u32) -> Result<()> {
        let next = match count.checked_sub(1) {
            None => u64::from(self.next),
            Some(last) => self.skipped.number(self.next, last) + 1,
        };
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
        let placement = Placement { first: self.first_free(), from: 1, skipped: self.skipped.clone() };
        self.advance(others)?;
        resolve_pointers(&mut run, &placement);
        let page_1 = run.page_mut(0).to_vec();
        self.write_from(1, run, &placement)?;
        Ok(page_1)
    }

    /// Takes the numbers of a run whose pages another program copies.
    pub fn reserve_run(&mut self, count: u32) -> Result<(Placement, Vec<Stretch>)> {
        let placement = self.take_numbers(count)?;
        let page_bytes = self.page_size.bytes() as u64;
        let (mut stretches, mut start) = (Vec::new(), 0);
        while start < count {
            let end = placement.next_break(start).min(count);
            let bytes = u64::from(end - start) * page_bytes;
            let (from, to) = (u64::from(start) * page_bytes, self.offset(placement.number(start)));
            stretches.push(Stretch { from, to, bytes });
            start = end;
        }
        Ok((placement, stretches))
    }

    /// Takes the next `count` page numbers, whose pages are [written](Self::write_page) later. Returns them.
    pub fn reserve(&mut self, count: u32) -> Result<Vec<u32>> {
        let placement = self.take_numbers(count)?;
        Ok((0..count).map(|index| placement.number(index)).collect())
    }

    /// Returns the number of the next page, or that of a skipped page before it.
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
fn resolve_pointers(run: &mut PageRun, placement: &Placement) {
    for (index, offset) in std::mem::take(&mut run.pointers) {
        let offset = offset as usize;
        let pointer = &mut run.page_mut(index)[offset..offset + 4];
        let target = u32::from_be_bytes(pointer.try_into().expect("four bytes"));
        pointer.copy_from_slice(&placement.number(target).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use crate::sink::DiscardSink;
    use crate::sink::block::BlockPool;
    use crate::sink::writers::Writers;
    use std::sync::Arc;

    /// A run that is copied over the lock-byte page is copied in two pieces.
    #[test]
    fn a_reserved_run_steps_over_the_lock_byte_page() {
        let page_size = PageSize::DEFAULT;
        let lock = page_size.lock_byte_page();
        let writers = Writers::new(Box::new(DiscardSink), "<test>".into(), 0, Arc::new(Progress::default()));
        let mut pages = Pages::behind(lock - 4, page_size, BlockPool::new(1), writers);
        let (placement, stretches) = pages.reserve_run(10).expect("page numbers");
        let offset = |number: u32| u64::from(number - 1) * 4096;
        let first = Stretch { from: 0, to: offset(lock - 3), bytes: 3 * 4096 };
        let second = Stretch { from: first.bytes, to: offset(lock + 1), bytes: 7 * 4096 };
        assert_eq!(stretches, [first, second]);
        assert_eq!((placement.number(2), placement.number(3), pages.count()), (lock - 1, lock + 1, lock + 7));
    }

    #[test]
    fn runs_step_over_every_skipped_page() {
        // A lock-byte page between two pointer-map pages, beside one, and in the place of one.
        for (lock_byte_page, mapped) in [(200, Some(512)), (106, Some(512)), (105, Some(512)), (50, None)] {
            let skipped = SkippedPages { lock_byte_page, mapped, free: None };
            let free: Vec<u32> = (2..2000).filter(|&number| !skipped.contains(number)).collect();
            assert_eq!(skipped.contains(2), mapped.is_some());
            for start in [0, 1, 40, 101, 102, 103, 104, 250] {
                let placement = Placement { first: free[start], from: 0, skipped: skipped.clone() };
                for index in 0..900 {
                    assert_eq!(
                        placement.number(index),
                        free[start + index as usize],
                        "{lock_byte_page} {start} {index}"
                    );
                }
                let next = placement.next_break(0);
                assert!((1..next.min(900)).all(|index| placement.number(index) == placement.number(index - 1) + 1));
                assert!(next > 900 || placement.number(next) > placement.number(next - 1) + 1);
            }
        }
    }
}
