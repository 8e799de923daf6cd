//! Values that all children of one parent share, as annotations: the genre of all tracks of an album.
//!
//! ```text
//! CASE MediaTypeId WHEN 3 THEN same_in(AlbumId, choice(19: 93, 21: 64)) ELSE
//!     CASE WHEN count_in(AlbumId) < 2 THEN same_in(AlbumId, choice(24: 74, 2: 3)) ELSE same_in(AlbumId, choice(1: 1222, 7: 577)) END END
//! ```
//!
//! The value depends on another column that the children share, and on how many they are, as far as it does in the source. Each
//! child votes: parents with many children have the values of such parents, and values come in the same shares of the rows.

use crate::ColumnProfile;
use crate::relations::information;
use crate::weave::Weaver;
use std::collections::HashMap;

/// Least number of parents for which the number of children counts, and of rows that have a distribution of their own.
const ENOUGH: usize = 20;

impl Weaver<'_> {
    /// Returns a value that all rows with the same key share, with its reason.
    pub(crate) fn same_in(&self, column: usize, key: usize, columns: &[ColumnProfile]) -> Option<(String, String)> {
        let given = |rows: &[usize]| self.by_number_of_children(column, key, rows, columns);
        let all: Vec<usize> =
            (0..self.view.rows.len()).filter(|&row| self.view.columns[key].ids[row].is_some()).collect();
        let beside = self.shared_beside(column, key, columns);
        let annotation =
            beside.and_then(|beside| self.by_groups(beside, ENOUGH, columns, &given)).or_else(|| given(&all))?;
        let annotation = if is_literal(&annotation) { format!("constant({annotation})") } else { annotation };
        Some((annotation, format!("the same in all rows of one {}", self.name(key))))
    }

    /// Returns the column that tells most of this one, among those that the children of this key share already.
    fn shared_beside(&self, column: usize, key: usize, columns: &[ColumnProfile]) -> Option<usize> {
        const SHARE: f64 = 0.1;
        let same = format!("same_in({}, ", self.name(key));
        let of = self.view.binned(column)?;
        let share = |beside: usize| {
            let is_shared = columns[beside].generator.as_ref().is_some_and(|generator| generator.contains(&same));
            let other = self.view.binned(beside).filter(|_| is_shared && beside != column)?;
            information(&other, &of).map(|found| (found.share, beside)).filter(|(share, _)| *share >= SHARE)
        };
        let best = (0..columns.len()).filter_map(share).max_by(|one, other| one.0.total_cmp(&other.0));
        best.map(|(_, beside)| beside)
    }

    /// Returns a value that the children of one parent share, by their number if it depends on that.
    fn by_number_of_children(
        &self,
        column: usize,
        key: usize,
        rows: &[usize],
        columns: &[ColumnProfile],
    ) -> Option<String> {
        let name = self.name(key);
        let shared = |rows: &[usize]| {
            let given = self.given(column, rows, columns)?;
            if is_literal(&given) {
                return Some(given);
            }
            let is_call = given.ends_with(')') && given.starts_with(char::is_alphabetic);
            is_call.then(|| format!("same_in({name}, {given})"))
        };
        let (numbers, bounds) = self.numbers_of_children(column, key, rows, columns);
        if bounds.is_empty() {
            return shared(rows);
        }
        let mut annotation = "CASE".to_owned();
        let of_range = |range: usize| {
            let is_in = |row: &&usize| bounds.partition_point(|&bound| bound <= numbers[*row]) == range;
            shared(&rows.iter().filter(is_in).copied().collect::<Vec<_>>())
        };
        for (range, bound) in bounds.iter().enumerate() {
            annotation += &format!(" WHEN count_in({name}) < {bound} THEN {}", of_range(range)?);
        }
        Some(format!("{annotation} ELSE {} END", of_range(bounds.len())?))
    }

    /// Returns the number of children of each row's parent, and the bounds between ranges of these numbers with different
    /// values: none if the values do not depend on them, or if the sample lacks rows.
    fn numbers_of_children(
        &self,
        column: usize,
        key: usize,
        rows: &[usize],
        columns: &[ColumnProfile],
    ) -> (HashMap<usize, usize>, Vec<usize>) {
        const RANGES: usize = 5;
        let ids = &self.view.columns[key].ids;
        let mut children: HashMap<usize, usize> = HashMap::new();
        ids.iter().flatten().for_each(|&id| *children.entry(id).or_default() += 1);
        let number = |row: usize| ids[row].map_or(0, |id| children[&id]);
        let numbers = rows.iter().map(|&row| (row, number(row))).collect();
        let is_per_parent = columns[key].generator.as_ref().is_some_and(|generator| generator.contains("per_parent("));
        let (true, Some(values)) =
            (is_per_parent && self.view.rows.len() as u64 == self.stats.rows, self.view.binned(column))
        else {
            return (numbers, Vec::new());
        };
        // One row of each parent.
        let mut first: HashMap<usize, usize> = HashMap::new();
        rows.iter().rev().for_each(|&row| ids[row].iter().for_each(|&id| _ = first.insert(id, row)));
        let mut parents: Vec<(usize, usize)> = first.into_values().map(|row| (number(row), row)).collect();
        parents.sort_unstable();
        let ranges = RANGES.min(parents.len() / ENOUGH);
        let mut bounds: Vec<usize> = Vec::new();
        for range in 1..ranges {
            let last = bounds.last().copied().or(parents.first().map(|least| least.0)).unwrap_or(0);
            let from = range * parents.len() / ranges;
            // Many parents may have the same number: the range ends behind them.
            bounds.extend(parents[from..].iter().map(|parent| parent.0).find(|&number| number > last));
        }
        let (of, with): (Vec<usize>, Vec<usize>) = parents
            .iter()
            .map(|&(number, row)| (bounds.partition_point(|&bound| bound <= number), values[row]))
            .unzip();
        if information(&of, &with).is_none() {
            bounds.clear();
        }
        (numbers, bounds)
    }
}

/// Returns whether an annotation is a number, a text or NULL.
fn is_literal(annotation: &str) -> bool {
    annotation == "NULL" || annotation.starts_with('\'') || annotation.parse::<f64>().is_ok()
}
