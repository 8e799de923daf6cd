//! The last row that refers to a row: the newest message of a chat.
//!
//! The rows of the other table are looked through once, by the first thread that needs one. That takes 4 bytes a row of the table
//! that they refer to.

use super::{Program, mark};
use crate::random::Rows;
use crate::relation::RowList;
use std::sync::OnceLock;

/// Stands for no row.
const NONE: u32 = u32::MAX;

/// The last child of each row.
#[derive(Debug)]
pub(crate) struct LastChild {
    /// A program of the child table; its only column is the number of the row that each child refers to.
    program: Program,
    children: u64,
    parents: u64,
    last: OnceLock<Vec<u32>>,
}

impl LastChild {
    pub(crate) fn new(program: Program, children: u64, parents: u64) -> Self {
        Self { program, children, parents, last: OnceLock::new() }
    }

    /// Finds the last children of these rows, of which some are no rows.
    pub(super) fn fill(&self, parents: &Rows<'_>, nulls: &[bool], out: &mut RowList) {
        let last = self.last.get_or_init(|| self.find());
        let child = |row: u64| usize::try_from(row).ok().and_then(|row| last.get(row)).copied().unwrap_or(NONE);
        out.begin(self.children);
        parents.append_to(&mut out.nulls, |row| child(row) == NONE);
        parents.append_to(&mut out.rows, |row| if child(row) == NONE { 0 } else { child(row).into() });
        mark(nulls, &mut out.nulls);
    }

    fn find(&self) -> Vec<u32> {
        let mut last = vec![NONE; usize::try_from(self.parents).expect("a number of rows in memory")];
        self.program.for_each_row(self.children, |child, parent| {
            let of_parent = parent(0).and_then(|row| last.get_mut(usize::try_from(row).ok()?));
            if let (Some(of_parent), Ok(child)) = (of_parent, u32::try_from(child)) {
                *of_parent = child;
            }
        });
        last
    }
}
