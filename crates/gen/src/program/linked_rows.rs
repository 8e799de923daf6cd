//! Rows to which other rows lead: the newest message of a chat, the next rental of a film.
//!
//! The rows of a table are looked through once, by the first thread that needs one. That takes 4 bytes a row from which a link leads.

use super::{Program, mark};
use crate::random::Rows;
use crate::relation::RowList;
use std::sync::OnceLock;

/// Stands for no row.
const NONE: u32 = u32::MAX;

/// The kind of a link between rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    /// From a row to the last one that refers to it.
    LastChild,
    /// From a row to the next one that refers to the same row.
    NextSibling,
}

/// The rows of a table to which rows lead.
#[derive(Debug)]
pub(crate) struct LinkedRows {
    link: Link,
    /// A program of the table; its only column is the number of the row that each row refers to.
    program: Program,
    children: u64,
    parents: u64,
    links: OnceLock<Vec<u32>>,
}

impl LinkedRows {
    pub(crate) fn new(link: Link, program: Program, children: u64, parents: u64) -> Self {
        Self { link, program, children, parents, links: OnceLock::new() }
    }

    /// Finds the rows to which these rows lead, of which some are no rows.
    pub(super) fn fill(&self, rows: &Rows<'_>, nulls: &[bool], out: &mut RowList) {
        let links = self.links.get_or_init(|| self.find());
        let linked = |row: u64| usize::try_from(row).ok().and_then(|row| links.get(row)).copied().unwrap_or(NONE);
        out.begin(self.children);
        rows.append_to(&mut out.nulls, |row| linked(row) == NONE);
        rows.append_to(&mut out.rows, |row| if linked(row) == NONE { 0 } else { linked(row).into() });
        mark(nulls, &mut out.nulls);
    }

    fn find(&self) -> Vec<u32> {
        let none = |rows: u64| vec![NONE; usize::try_from(rows).expect("a number of rows in memory")];
        let mut last = none(self.parents);
        let mut next = match self.link {
            Link::LastChild => Vec::new(),
            Link::NextSibling => none(self.children),
        };
        self.program.for_each_row(self.children, |child, parent| {
            let of_parent = parent(0).and_then(|row| last.get_mut(usize::try_from(row).ok()?));
            if let (Some(of_parent), Ok(child)) = (of_parent, u32::try_from(child)) {
                if let Some(before) = next.get_mut(*of_parent as usize) {
                    *before = child;
                }
                *of_parent = child;
            }
        });
        match self.link {
            Link::LastChild => last,
            Link::NextSibling => next,
        }
    }
}
