//! The rows that refer to each row: the users of each organization.
//!
//! They are listed once, by the first thread that needs one, with a counting sort. That takes 4 bytes a row of either table.

use super::Program;
use crate::random::Fraction;
use std::sync::OnceLock;

/// The rows of a table by the row that they refer to.
#[derive(Debug)]
pub(crate) struct Members {
    /// A program of the table; its only column is the number of the row that each row refers to.
    program: Program,
    rows: u64,
    groups: u64,
    lists: OnceLock<Lists>,
}

/// The members of all groups, and where those of each group begin.
#[derive(Debug)]
struct Lists {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Members {
    /// The most rows of a table that can be listed.
    pub(crate) const MOST_ROWS: u64 = u32::MAX as u64;

    pub(crate) fn new(program: Program, rows: u64, groups: u64) -> Self {
        Self { program, rows, groups, lists: OnceLock::new() }
    }

    /// Draws a member of a group among the first `present` rows of the table: the first member if there is none among them, and
    /// any row if the group has no members.
    pub(crate) fn draw(&self, group: u64, present: u64, mut fraction: Fraction) -> u64 {
        let Lists { starts, members } = self.lists.get_or_init(|| self.list());
        let start = |group: u64| usize::try_from(group).ok().and_then(|group| starts.get(group)).copied();
        let range = start(group).zip(start(group + 1)).map_or(0..0, |(start, end)| start as usize..end as usize);
        let members = &members[range];
        let count = members.partition_point(|&row| u64::from(row) < present);
        match members {
            [] => fraction.take(present.max(1)),
            [first, ..] if count == 0 => u64::from(*first),
            _ => members[usize::try_from(fraction.take(count as u64)).expect("one of the members")].into(),
        }
    }

    fn list(&self) -> Lists {
        /// Stands for no group.
        const NONE: u32 = u32::MAX;
        let mut groups: Vec<u32> = Vec::new();
        self.program.for_each_row(self.rows, |_, group| {
            groups.push(
                group(0)
                    .filter(|&group| group < self.groups)
                    .and_then(|group| u32::try_from(group).ok())
                    .unwrap_or(NONE),
            );
        });
        let mut starts = vec![0_u32; usize::try_from(self.groups + 1).expect("a number of rows in memory")];
        let counted = || groups.iter().filter(|&&group| group != NONE);
        counted().for_each(|&group| starts[group as usize + 1] += 1);
        for group in 1..starts.len() {
            starts[group] += starts[group - 1];
        }
        let mut ends = starts.clone();
        let mut members = vec![0; counted().count()];
        for (row, &group) in (0_u32..).zip(&groups).filter(|(_, group)| **group != NONE) {
            let end = &mut ends[group as usize];
            members[*end as usize] = row;
            *end += 1;
        }
        Lists { starts, members }
    }
}
