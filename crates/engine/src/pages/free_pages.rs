//! The pages that new pages may take in a database that exists: free ones, then those behind its end.

use std::ops::Range;

/// Consecutive free pages fewer than these are left to SQLite: a tree should lie in one piece.
const FEWEST: u32 = 16;

/// Runs of consecutive pages, ascending. The last ones are behind the end of the database.
#[derive(Debug)]
pub(crate) struct FreePages {
    runs: Vec<Range<u32>>,
    /// The number of pages in the runs before each one.
    before: Vec<u64>,
    page_count: u32,
}

impl FreePages {
    /// Takes the long runs of `free` pages, and those behind the `page_count` pages of the database. Returns `None` if there are no
    /// long runs. REQUIRES: `free` ascends.
    pub fn new(free: &[u32], page_count: u32, lock_byte_page: u32) -> Option<Self> {
        let pieces = free.chunk_by(|one, next| one + 1 == *next);
        let long =
            pieces.filter(|piece| piece.len() >= FEWEST as usize).map(|piece| piece[0]..piece[piece.len() - 1] + 1);
        Self::of_runs(long.collect(), page_count, lock_byte_page)
    }

    /// Returns those from `next` on, of a database that has `page_count` pages by now. `None` if all free pages are taken.
    pub fn from(&self, next: u32, page_count: u32, lock_byte_page: u32) -> Option<Self> {
        let within = self.runs.iter().filter(|run| run.start <= self.page_count);
        let left = within.map(|run| run.start.max(next)..run.end).filter(|run| !run.is_empty());
        Self::of_runs(left.collect(), page_count, lock_byte_page)
    }

    fn of_runs(mut runs: Vec<Range<u32>>, page_count: u32, lock_byte_page: u32) -> Option<Self> {
        if runs.is_empty() {
            return None;
        }
        let end = page_count + 1;
        if end <= lock_byte_page {
            runs.extend([end..lock_byte_page, lock_byte_page + 1..u32::MAX]);
        } else {
            runs.push(end..u32::MAX);
        }
        runs.retain(|run| !run.is_empty());
        let before = runs.iter().scan(0, |sum, run| {
            let before = *sum;
            *sum += u64::from(run.end - run.start);
            Some(before)
        });
        Some(Self { before: before.collect(), page_count, runs })
    }

    /// Returns the number of pages that are free within the database.
    pub fn len(&self) -> u32 {
        self.taken_before(self.page_count + 1).map(|run| run.end - run.start).sum()
    }

    /// Returns the pages within the database that are taken if `next` is the next one to take.
    pub fn taken_before(&self, next: u32) -> impl Iterator<Item = Range<u32>> {
        let end = next.min(self.page_count + 1);
        self.runs.iter().map(move |run| run.start..run.end.min(end)).filter(|run| !run.is_empty())
    }

    /// Returns the position of the first run that ends behind a page.
    fn run_at(&self, number: u32) -> usize {
        self.runs.partition_point(|run| run.end <= number)
    }

    /// Returns the first of these pages from `number` on.
    pub(super) fn first_from(&self, number: u32) -> u32 {
        self.runs.get(self.run_at(number)).map_or(u32::MAX, |run| run.start.max(number))
    }

    /// Returns the first page from `number` on that is none of these.
    pub(super) fn end_from(&self, number: u32) -> u32 {
        match self.runs.get(self.run_at(number)) {
            Some(run) if run.contains(&number) => run.end,
            _ => number,
        }
    }

    /// Returns the one of these pages that is `index` of them behind the first one from `first` on.
    pub(super) fn number(&self, first: u32, index: u32) -> u64 {
        let at = self.run_at(first).min(self.runs.len() - 1);
        let position = self.before[at] + u64::from(first.saturating_sub(self.runs[at].start)) + u64::from(index);
        let at = self.before.partition_point(|&before| before <= position) - 1;
        u64::from(self.runs[at].start) + (position - self.before[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of short runs, of the lock-byte page, and in use are not taken.
    #[test]
    fn long_runs_are_taken_and_then_pages_behind_the_end() {
        let (count, lock) = (1000, 1010);
        let free: Vec<u32> = (5..20).chain(100..164).chain(300..315).chain(400..600).collect();
        let pages = FreePages::new(&free, count, lock).expect("long runs");
        let all: Vec<u32> = (100..164).chain(400..600).chain(1001..1010).chain(1011..1400).collect();
        assert_eq!(pages.len(), 264);
        for (at, &first) in all.iter().enumerate().step_by(7) {
            for index in [0, 1, 63, 64, 150, 263, 264, 272, 273, 290] {
                if let Some(&expected) = all.get(at + index) {
                    let index = u32::try_from(index).unwrap();
                    assert_eq!(pages.number(first, index), u64::from(expected), "{first} and {index}");
                }
            }
        }
        for number in 2..1400 {
            let first = all.iter().copied().find(|&page| page >= number).unwrap_or(1400);
            assert_eq!(pages.first_from(number).min(1400), first, "{number}");
            let end = (number..).find(|page| !all.contains(page)).unwrap();
            assert_eq!(pages.end_from(number).min(1400), end.min(1400), "{number}");
        }
        assert_eq!(pages.number(2, 0), 100, "from a page in use");
        assert_eq!(pages.number(164, 0), 400);
        let taken = |next: u32| pages.taken_before(next).flatten().count();
        assert_eq!([100, 101, 164, 399, 401, 1001, 1300].map(taken), [0, 1, 64, 64, 65, 264, 264]);
        let rest = pages.from(450, 1020, lock).expect("free pages");
        assert_eq!((rest.len(), rest.number(2, 0), rest.number(2, 150)), (150, 450, 1021));
        assert!(pages.from(600, 1020, lock).is_none());
        assert!(FreePages::new(&free[..15], count, lock).is_none());
        assert!(FreePages::new(&[], count, lock).is_none());
    }
}
