//! Numbers of rows that refer to a row: the comments of a post.
//!
//! The rows of the other table are counted once, by the first thread that needs a number. That takes 4 bytes a row of the table
//! that they refer to.

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
