//! Rows that would refer to the same two rows as an earlier row does: a second review of a product by one customer.
//!
//! They are found once, by the first thread that needs one: pairs of row numbers are sorted, and of equal ones all but the first
//! get another second row. That takes 8 bytes a row until they are found, and then 16 bytes for each of them.

use super::Program;
use crate::random::{CellRandom, Fraction, Rows};
use crate::relation::parents_so_far;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The rows of a table whose pairs repeat those of earlier rows.
#[derive(Debug)]
pub(crate) struct Repeats {
    /// A program of the table; its two columns are the numbers of the rows of a pair.
    program: Program,
    rows: u64,
    /// Rows of the table that the second column refers to.
    parents: u64,
    random: CellRandom,
    /// Whether the second row is never the first one.
    pub(crate) is_other: bool,
    replaced: OnceLock<Vec<(u64, u64)>>,
}

impl Repeats {
    pub(crate) fn new(program: Program, rows: u64, parents: u64, random: CellRandom) -> Self {
        Self { program, rows, parents, random, is_other: false, replaced: OnceLock::new() }
    }

    /// Replaces the second row of a pair in these rows if it repeats an earlier one.
    pub(super) fn replace(&self, rows: &Rows<'_>, seconds: &mut [u64]) {
        let replaced = self.replaced.get_or_init(|| self.find());
        if replaced.is_empty() {
            return;
        }
        rows.zip(seconds.iter_mut(), |row, second| {
            if let Ok(at) = replaced.binary_search_by_key(&row, |&(row, _)| row) {
                *second = replaced[at].1;
            }
        });
    }

    /// Finds rows whose pair repeats that of an earlier row, and another second row for each.
    fn find(&self) -> Vec<(u64, u64)> {
        let pair = |of: &dyn Fn(usize) -> Option<u64>| Some((of(0)? << 32) | of(1)?);
        let mut pairs: Vec<u64> = Vec::new();
        self.program.for_each_row(self.rows, |_, of| pairs.extend(pair(of)));
        pairs.sort_unstable();
        let repeated: HashSet<u64> = pairs.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]).collect();
        let (mut seen, mut new) = (HashSet::new(), HashSet::new());
        let mut replaced = Vec::new();
        self.program.for_each_row(self.rows, |row, of| {
            let Some(pair) = pair(of).filter(|pair| repeated.contains(pair) && !seen.insert(*pair)) else { return };
            // Early rows take early ones, then those before them, and the next ones last.
            let first = Fraction(self.random.u64(row)).take(parents_so_far(row, self.rows, self.parents));
            let mut others = (0..=first).rev().chain(first + 1..self.parents);
            let is_free = |second: &u64| {
                let other = pair >> 32 << 32 | second;
                (!self.is_other || *second != pair >> 32) && pairs.binary_search(&other).is_err() && new.insert(other)
            };
            replaced.extend(others.find(is_free).map(|second| (row, second)));
        });
        replaced
    }
}
