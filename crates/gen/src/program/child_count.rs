//! Numbers of rows that refer to a row: the comments of a post, and the number of a comment among them.
//!
//! The rows of the other table are counted once, by the first thread that needs a number. That takes 4 bytes a row of the table
//! that they refer to, or a row of their own.

use super::Program;
use crate::random::Rows;
use litepress_rows::CellBlock;
use std::sync::OnceLock;

/// The number of children of each row.
#[derive(Debug)]
pub(crate) struct ChildCount {
    /// A program of the child table; its only column is the number of the row that each child refers to.
    program: Program,
    children: u64,
    parents: u64,
    counts: OnceLock<Vec<u32>>,
}

impl ChildCount {
    pub(crate) fn new(program: Program, children: u64, parents: u64) -> Self {
        Self { program, children, parents, counts: OnceLock::new() }
    }

    /// Computes the numbers of children of these rows.
    pub(super) fn fill(&self, parents: &Rows<'_>, out: &mut CellBlock) {
        parents.append_to(out.ints(), |row| self.of(row).into());
    }

    /// Returns the number of children of a row.
    pub(super) fn of(&self, row: u64) -> u32 {
        let counts = self.counts.get_or_init(|| self.count());
        usize::try_from(row).ok().and_then(|row| counts.get(row)).copied().unwrap_or(0)
    }

    fn count(&self) -> Vec<u32> {
        let mut counts = vec![0_u32; usize::try_from(self.parents).expect("a number of rows in memory")];
        self.program.for_each_row(self.children, |_, parent| {
            let count = parent(0).and_then(|row| counts.get_mut(usize::try_from(row).ok()?));
            if let Some(count) = count {
                *count = count.saturating_add(1);
            }
        });
        counts
    }
}

/// The number of each row among those that refer to the same row.
#[derive(Debug)]
pub(crate) struct ChildNumbers {
    /// A program of the rows' table; its only column is the number of the row that each of them refers to.
    program: Program,
    children: u64,
    parents: u64,
    numbers: OnceLock<Vec<u32>>,
}

impl ChildNumbers {
    pub(crate) fn new(program: Program, children: u64, parents: u64) -> Self {
        Self { program, children, parents, numbers: OnceLock::new() }
    }

    /// Computes the numbers of these rows; 0 if a row refers to nothing.
    pub(super) fn fill(&self, rows: &Rows<'_>, out: &mut CellBlock) {
        let numbers = self.numbers.get_or_init(|| self.count());
        rows.append_to(out.ints(), |row| usize::try_from(row).map_or(0, |row| numbers[row]).into());
    }

    fn count(&self) -> Vec<u32> {
        let [mut numbers, mut last] = [self.children, self.parents]
            .map(|rows| vec![0_u32; usize::try_from(rows).expect("a number of rows in memory")]);
        self.program.for_each_row(self.children, |child, parent| {
            let last = parent(0).and_then(|row| last.get_mut(usize::try_from(row).ok()?));
            if let (Some(last), Ok(child)) = (last, usize::try_from(child)) {
                *last += 1;
                numbers[child] = *last;
            }
        });
        numbers
    }
}
