//! Numbers of children that vary from parent to parent, and the parent of each child.
//!
//! ```text
//! parents   0  1  2 ... 1023 | 1024 ... 2047 | 2048 ...      counts: a function of the parent's row number
//! sums      0                | 2047          | 4102  ...     in memory: the children before each block of parents
//! row       --search sums--> block --add up the counts of the block--> parent
//! ```
//!
//! A billion parents cost 8 MB, and any row's parent can be computed alone. Consecutive rows share a block. Rows in any order
//! would count a block each: up to [`MOST_OFFSETS`] parents are counted once, and then take 4 bytes each.

use super::{ChildPosition, RowList};
use crate::generators::Generator;
use crate::random::{CellRandom, Rows};
use litepress_format::value::Value;
use litepress_rows::CellBlock;
use litepress_rows::cells::BLOCK_ROWS;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

const BLOCK: u64 = BLOCK_ROWS as u64;

/// The most parents whose numbers of children are kept in memory.
const MOST_OFFSETS: u64 = 1 << 24;

/// The purpose of the numbers of children in [`CellRandom::fork`].
const COUNTS: u64 = 65;

/// The number of children of each parent.
#[derive(Clone, Debug)]
pub(crate) enum FanOut {
    /// A constant number, at least 1.
    Constant { each: u64, parents: u64 },
    /// A number drawn by a generator.
    Varying(VaryingFanOut),
}

#[derive(Clone, Debug)]
pub(crate) struct VaryingFanOut {
    counts: Arc<dyn Generator>,
    random: CellRandom,
    parents: u64,
    /// The number of first parents without children, which the counts leave out.
    after: u64,
    /// Children of all parents before each block; the last one is the number of all children.
    sums: Vec<u64>,
    /// The largest number of children of one parent.
    most: u64,
    /// The children before each parent in its block, as soon as they are looked up in any order.
    offsets: OnceLock<Vec<u32>>,
}

/// The block of parents that was searched last.
struct Cursor<'a> {
    varying: &'a VaryingFanOut,
    cells: CellBlock,
    counts: Vec<u64>,
    /// First parent of the block, and its first child.
    first_parent: u64,
    first_child: u64,
    /// The child after the block's last.
    end: u64,
    /// Position of the search: a parent of the block, and its first child.
    at: usize,
    child: u64,
}

impl FanOut {
    /// Counts children as `counts` gives them for the parents after the first `after`; negative numbers and values that are no
    /// numbers count as 0.
    pub(crate) fn varying(counts: Arc<dyn Generator>, random: &CellRandom, parents: u64, after: u64) -> Self {
        let offsets = OnceLock::new();
        let mut varying =
            VaryingFanOut { counts, random: random.fork(COUNTS), parents, after, sums: vec![0], most: 0, offsets };
        let (mut cells, mut counts, mut sum) = (CellBlock::default(), Vec::new(), 0_u64);
        for block in 0..parents.div_ceil(BLOCK) {
            varying.counts_of(block, &mut cells, &mut counts);
            sum = counts.iter().fold(sum, |sum, &count| sum.saturating_add(count));
            varying.most = counts.iter().fold(varying.most, |most, &count| most.max(count));
            varying.sums.push(sum);
        }
        Self::Varying(varying)
    }

    /// Returns the number of children of all parents.
    pub(crate) fn children(&self) -> u64 {
        match self {
            Self::Constant { each, parents } => each.saturating_mul(*parents),
            Self::Varying(varying) => varying.sums.last().copied().unwrap_or(0),
        }
    }

    /// Returns the largest number of children of one parent.
    pub(crate) fn most(&self) -> u64 {
        match self {
            Self::Constant { each, .. } => *each,
            Self::Varying(varying) => varying.most,
        }
    }

    /// Returns whether every parent has a child.
    pub(crate) fn has_no_childless(&self) -> bool {
        match self {
            Self::Constant { .. } => true,
            Self::Varying(varying) => {
                let (mut cells, mut counts) = (CellBlock::default(), Vec::new());
                (0..varying.parents.div_ceil(BLOCK)).all(|block| {
                    varying.counts_of(block, &mut cells, &mut counts);
                    !counts.contains(&0)
                })
            }
        }
    }

    /// Computes the children of these parents: consecutive rows.
    pub(crate) fn children_of(&self, parents: &Rows<'_>, out: &mut Vec<Range<u64>>) {
        out.clear();
        match self {
            Self::Constant { each, .. } => {
                parents.append_to(out, |parent| parent.saturating_mul(*each)..(parent + 1).saturating_mul(*each));
            }
            Self::Varying(varying) => varying.children_of(parents, out),
        }
    }

    /// Computes the parents of these rows, the first `skip` of which have none.
    pub(super) fn find(&self, rows: &Rows<'_>, skip: u64, out: &mut RowList) {
        let positions = &mut out.positions;
        match self {
            Self::Constant { each, parents } => rows.append_to(&mut out.rows, |row| {
                let child = row.saturating_sub(skip);
                positions.push(ChildPosition { ordinal: child % each, siblings: *each });
                (child / each).min(parents.saturating_sub(1))
            }),
            Self::Varying(varying) => {
                let mut cursor = Cursor::new(varying);
                if let Rows::List(list) = rows
                    && !list.is_sorted()
                {
                    match varying.offsets() {
                        Some(offsets) => varying.find_by_offsets(offsets, list, skip, out),
                        None => cursor.find_in_order(list, skip, out),
                    }
                    return;
                }
                rows.append_to(&mut out.rows, |row| {
                    let (parent, position) = cursor.find(row.saturating_sub(skip));
                    positions.push(position);
                    parent
                });
            }
        }
    }
}

impl VaryingFanOut {
    /// Computes the numbers of children of a block of parents.
    fn counts_of(&self, block: u64, cells: &mut CellBlock, counts: &mut Vec<u64>) {
        let first = block * BLOCK;
        let end = self.parents.min(first + BLOCK);
        let start = self.after.clamp(first, end);
        let count = usize::try_from(end - start).expect("a block");
        counts.clear();
        counts.resize(usize::try_from(start - first).expect("a block"), 0);
        if count == 0 {
            return;
        }
        self.counts.fill(&self.random, &(start - self.after..end - self.after).into(), cells);
        counts.extend((0..count).map(|row| match cells.value(row) {
            Value::Int(int) => u64::try_from(int).unwrap_or(0),
            #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
            #[expect(clippy::cast_sign_loss, reason = "a conversion that saturates")]
            Value::Real(real) => real.round() as u64,
            _ => 0,
        }));
    }

    /// Returns the children before each parent in its block, or `None` if there are too many parents to keep them.
    fn offsets(&self) -> Option<&Vec<u32>> {
        let is_small = self.parents <= MOST_OFFSETS && self.most.saturating_mul(BLOCK) <= u64::from(u32::MAX);
        is_small.then(|| self.offsets.get_or_init(|| self.count_offsets()))
    }

    fn count_offsets(&self) -> Vec<u32> {
        let mut offsets = Vec::new();
        let (mut cells, mut counts) = (CellBlock::default(), Vec::new());
        for block in 0..self.parents.div_ceil(BLOCK) {
            self.counts_of(block, &mut cells, &mut counts);
            let mut before = 0_u64;
            for count in &counts {
                offsets.push(u32::try_from(before).unwrap_or(u32::MAX));
                before += count;
            }
        }
        offsets
    }

    /// Returns the parents of a block, by their positions among the offsets.
    fn parents_of_block(block: usize, offsets: &[u32]) -> Range<usize> {
        let first = block * BLOCK_ROWS;
        first..offsets.len().min(first + BLOCK_ROWS)
    }

    /// Returns the children of a parent.
    fn children_by_offsets(&self, offsets: &[u32], parent: u64) -> Range<u64> {
        let (block, parent) = (size(parent / BLOCK), size(parent));
        let parents = Self::parents_of_block(block, offsets);
        let start_of = |parent: usize| self.sums[block] + u64::from(offsets[parent]);
        start_of(parent)..if parent + 1 < parents.end { start_of(parent + 1) } else { self.sums[block + 1] }
    }

    /// Appends the parents of rows in any order, as a cursor finds them.
    fn find_by_offsets(&self, offsets: &[u32], rows: &[u64], skip: u64, out: &mut RowList) {
        let all = self.sums.last().copied().unwrap_or(0);
        for row in rows {
            let child = row.saturating_sub(skip).min(all.saturating_sub(1));
            let block = self.sums.partition_point(|&sum| sum <= child).saturating_sub(1);
            if all == 0 || block + 1 >= self.sums.len() {
                out.rows.push(0);
                out.positions.push(ChildPosition::default());
                continue;
            }
            let parents = Self::parents_of_block(block, offsets);
            let within = child - self.sums[block];
            // The last parent whose children begin at the child or before it: those without children come before it.
            let after = offsets[parents.clone()].partition_point(|&offset| u64::from(offset) <= within);
            let parent = (parents.start + after.saturating_sub(1)) as u64;
            let children = self.children_by_offsets(offsets, parent);
            let siblings = children.end - children.start;
            out.rows.push(parent);
            out.positions.push(ChildPosition { ordinal: child - children.start, siblings });
        }
    }

    /// Computes the children of parents in any order. Each block is counted once.
    fn children_of(&self, parents: &Rows<'_>, out: &mut Vec<Range<u64>>) {
        if let Rows::List(list) = parents
            && !list.is_sorted()
            && let Some(offsets) = self.offsets()
        {
            out.extend(list.iter().map(|&parent| self.children_by_offsets(offsets, parent)));
            return;
        }
        let mut rows = Vec::new();
        parents.append_to(&mut rows, |parent| parent);
        out.resize(rows.len(), 0..0);
        let mut cursor = Cursor::new(self);
        for at in in_order(&rows) {
            out[at] = cursor.children_of(rows[at]);
        }
    }
}

/// Returns a position in memory.
fn size(number: u64) -> usize {
    usize::try_from(number).expect("a row in memory")
}

/// Returns the positions of rows in the order of the rows.
fn in_order(rows: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|&at| rows[at]);
    order
}

impl<'a> Cursor<'a> {
    fn new(varying: &'a VaryingFanOut) -> Self {
        let (cells, counts) = (CellBlock::default(), Vec::new());
        Self { varying, cells, counts, first_parent: 0, first_child: 0, end: 0, at: 0, child: 0 }
    }

    /// Returns the parent of a child, and the child's position. Children beyond the last one belong to the last
    /// parent.
    fn find(&mut self, child: u64) -> (u64, ChildPosition) {
        let all = self.varying.sums.last().copied().unwrap_or(0);
        if all == 0 {
            return (0, ChildPosition::default());
        }
        let child = child.min(all.saturating_sub(1));
        if !(self.first_child..self.end).contains(&child) {
            self.look_at(child);
        }
        if child < self.child {
            (self.at, self.child) = (0, self.first_child);
        }
        while self.at + 1 < self.counts.len() && child >= self.child + self.counts[self.at] {
            self.child += self.counts[self.at];
            self.at += 1;
        }
        let siblings = self.counts.get(self.at).copied().unwrap_or(0);
        (self.first_parent + self.at as u64, ChildPosition { ordinal: child - self.child, siblings })
    }

    /// Returns the children of a parent.
    fn children_of(&mut self, parent: u64) -> Range<u64> {
        let block = parent / BLOCK;
        if self.counts.is_empty() || self.first_parent != block * BLOCK {
            self.load(usize::try_from(block).expect("a block in memory"));
        }
        let within = usize::try_from(parent - self.first_parent).expect("a row of a block");
        if within < self.at {
            (self.at, self.child) = (0, self.first_child);
        }
        self.child = self.counts[self.at..within].iter().fold(self.child, |child, count| child.saturating_add(*count));
        self.at = within;
        self.child..self.child.saturating_add(self.counts[within])
    }

    /// Appends the parents of rows in any order. Looks for them in the order of the rows, so that each block is counted once.
    fn find_in_order(&mut self, rows: &[u64], skip: u64, out: &mut RowList) {
        let first = out.rows.len();
        out.rows.resize(first + rows.len(), 0);
        out.positions.resize(first + rows.len(), ChildPosition::default());
        for at in in_order(rows) {
            let (parent, position) = self.find(rows[at].saturating_sub(skip));
            (out.rows[first + at], out.positions[first + at]) = (parent, position);
        }
    }

    /// Moves to the block of a child's parent.
    fn look_at(&mut self, child: u64) {
        let block = self.varying.sums.partition_point(|&sum| sum <= child).saturating_sub(1);
        self.load(block.min(self.varying.sums.len().saturating_sub(2)));
    }

    /// Moves to a block.
    fn load(&mut self, block: usize) {
        self.varying.counts_of(block as u64, &mut self.cells, &mut self.counts);
        self.first_parent = block as u64 * BLOCK;
        (self.first_child, self.end) = (self.varying.sums[block], self.varying.sums[block + 1]);
        (self.at, self.child) = (0, self.first_child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{Cardinality, Kinds};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Parents with 0 to 2 children, which counts the blocks that it fills.
    #[derive(Debug, Default)]
    struct Counted(AtomicU64);

    impl Generator for Counted {
        fn fill(&self, _: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
            self.0.fetch_add(1, Ordering::Relaxed);
            let mut parents = Vec::new();
            rows.append_to(&mut parents, |row| row);
            out.ints().extend(parents.into_iter().map(|row| (row % 3).cast_signed()));
        }

        fn kinds(&self) -> Kinds {
            Kinds::INT
        }

        fn longest_bytes(&self) -> u64 {
            8
        }

        fn cardinality(&self) -> Cardinality {
            Cardinality::Among { values: 3 }
        }
    }

    /// Chapters were of series, which come before all films.
    #[test]
    fn first_parents_may_have_no_children() {
        let after = BLOCK + 7;
        let fan_out = FanOut::varying(Arc::new(Counted::default()), &CellRandom::new(1, "t", "c"), after + 6, after);
        assert_eq!((fan_out.children(), fan_out.has_no_childless()), (6, false));
        let mut found = RowList::default();
        fan_out.find(&(0..6).into(), 0, &mut found);
        assert_eq!(found.rows, [1, 2, 2, 4, 5, 5].map(|parent| parent + after));
        let mut children = Vec::new();
        fan_out.children_of(&Rows::List(&[after + 2, 3]), &mut children);
        assert_eq!(children, [1..3, 0..0]);
    }

    /// Lines of an order that took the price of a random track, and with it the genre of the track's album, counted a block of
    /// albums for every line: a look-alike of 56,000 lines took 54 s instead of 5 s.
    #[test]
    fn rows_in_any_order_count_each_block_once() {
        let counts = Arc::new(Counted::default());
        let parents = 10 * BLOCK;
        let fan_out = FanOut::varying(counts.clone(), &CellRandom::new(1, "t", "c"), parents, 0);
        let filled = || counts.0.load(Ordering::Relaxed);
        let rows: Vec<u64> = (0..5000).map(|row| row * 7919 % fan_out.children()).collect();
        let before = filled();
        let mut together = RowList::default();
        fan_out.find(&Rows::List(&rows), 0, &mut together);
        assert!(filled() - before <= 10, "{}", filled() - before);
        for (at, row) in rows.iter().enumerate().step_by(97) {
            let mut alone = RowList::default();
            fan_out.find(&Rows::List(&[*row]), 0, &mut alone);
            assert_eq!((alone.rows[0], alone.positions[0]), (together.rows[at], together.positions[at]), "{row}");
        }
        let (mut children, mut alone) = (Vec::new(), Vec::new());
        let parents: Vec<u64> = (0..5000).map(|row| row * 7919 % parents).collect();
        fan_out.children_of(&Rows::List(&parents), &mut children);
        for (at, parent) in parents.iter().enumerate().step_by(97) {
            fan_out.children_of(&Rows::List(&[*parent]), &mut alone);
            assert_eq!(alone[0], children[at], "{parent}");
        }
    }
}
