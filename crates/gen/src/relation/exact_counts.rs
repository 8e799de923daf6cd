//! Exact numbers of children: `deal(1: 148, 2: 40)` gives 148 parents one child each and 40 two. Parents and rows are
//! in random order.
//!
//! ```text
//! row --random order--> child --search cumulative counts--> number of children, rank of parent --random order--> parent
//! ```
//!
//! Only the distinct numbers of children are kept in memory; any row's parent can be computed alone.

use super::RowList;
use crate::generators::Permutation;
use crate::random::{CellRandom, Rows};

/// The purposes of the order of children and of the order of parents in [`CellRandom::fork`].
const CHILDREN: u64 = 67;
const PARENTS: u64 = 68;

/// An exact number of parents for each number of children.
#[derive(Clone, Debug)]
pub(crate) struct ExactCounts {
    parents: u64,
    /// For each number of children above 0: that number, and the cumulative counts of parents and children.
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    each: u64,
    parents: u64,
    children: u64,
}

impl ExactCounts {
    /// Divides `parents` rows among pairs of a number of children and its weight, at least one of them with children.
    /// Returns `None` if the weights leave no parent with children, or if there are too many children to count.
    pub(crate) fn new(weights: &[(u64, u64)], parents: u64) -> Option<Self> {
        let all = weights.iter().map(|(_, weight)| u128::from(*weight)).sum::<u128>().max(1);
        let (mut groups, mut before, mut weight) = (Vec::new(), Group { each: 0, parents: 0, children: 0 }, 0_u128);
        for &(each, of) in weights.iter().filter(|(each, _)| *each > 0) {
            weight += u128::from(of);
            // Cumulative counts are rounded, not the counts themselves, so that they add up.
            let up_to = u64::try_from((u128::from(parents) * weight + all / 2) / all).unwrap_or(parents).min(parents);
            let children = (up_to - before.parents).checked_mul(each)?.checked_add(before.children)?;
            before = Group { each, parents: up_to, children };
            groups.push(before);
        }
        if before.children == 0 {
            let &(each, _) = weights.iter().find(|&&(each, weight)| each > 0 && weight > 0)?;
            groups = vec![Group { each, parents: 1, children: each }];
        }
        Some(Self { parents, groups })
    }

    /// Computes the parents of these rows. Rows beyond the last child begin anew.
    pub(super) fn find(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut RowList) {
        let children = self.groups.last().map_or(1, |group| group.children);
        rows.append_to(&mut out.rows, |row| row % children);
        Permutation::new(children, &random.fork(CHILDREN)).apply(&mut out.rows);
        for row in &mut out.rows {
            let at = self.groups.partition_point(|group| group.children <= *row);
            let before =
                at.checked_sub(1).map_or((0, 0), |before| (self.groups[before].parents, self.groups[before].children));
            *row = before.0 + (*row - before.1) / self.groups[at].each;
        }
        Permutation::new(self.parents, &random.fork(PARENTS)).apply(&mut out.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns the number of parents for each number of children.
    fn spread(weights: &[(u64, u64)], parents: u64, rows: u64) -> BTreeMap<u64, u64> {
        let random = CellRandom::new(1, "t", "c");
        let mut list = RowList::default();
        ExactCounts::new(weights, parents).expect("there are children").find(&random, &Rows::Range(0..rows), &mut list);
        let mut children = vec![0_u64; usize::try_from(parents).expect("few")];
        list.rows.iter().for_each(|&parent| children[usize::try_from(parent).expect("few")] += 1);
        let mut spread = BTreeMap::new();
        children.into_iter().for_each(|children| *spread.entry(children).or_default() += 1);
        let one = |row: u64| {
            let mut list = RowList::default();
            let counts = ExactCounts::new(weights, parents).expect("there are children");
            counts.find(&random, &Rows::List(&[row]), &mut list);
            list.rows[0]
        };
        assert!((0..rows).step_by(97).all(|row| one(row) == list.rows[usize::try_from(row).expect("few")]));
        spread
    }

    #[test]
    fn parents_have_the_numbers_that_are_dealt() {
        let weights = [(0, 5), (1, 3), (7, 2)];
        assert_eq!(spread(&weights, 10, 17), BTreeMap::from([(0, 5), (1, 3), (7, 2)]));
        assert_eq!(spread(&weights, 1000, 1700), BTreeMap::from([(0, 500), (1, 300), (7, 200)]));
        assert_eq!(spread(&weights, 5, 9), BTreeMap::from([(0, 2), (1, 2), (7, 1)]));
        assert_eq!(spread(&weights, 10, 34), BTreeMap::from([(0, 5), (2, 3), (14, 2)]));
        assert_eq!(
            spread(&[(0, 99), (3, 1)], 2, 5),
            BTreeMap::from([(0, 1), (5, 1)]),
            "few parents, and one has children"
        );
        assert!(ExactCounts::new(&[(0, 3), (2, 0)], 10).is_none());
    }
}
