//! Sums over the children of a row: the total of an order is that of its lines.
//!
//! ```text
//! parents --fan-out--> a range of children each --> blocks of children --program of the child table--> values --> one sum a parent
//! ```
//!
//! The children's values are computed a second time, here, so that a parent's row is still a function of its number.

use super::{Program, Scratch};
use crate::random::Rows;
use crate::relation::FanOut;
use litepress_format::value::Value;
use litepress_rows::CellBlock;
use std::ops::Range;
use std::sync::Arc;

/// A sum over the children of each row.
#[derive(Debug)]
pub(crate) struct ChildSum {
    pub fan_out: Arc<FanOut>,
    /// Rows of the child table, which may be fewer than the parents' children.
    pub children: u64,
    /// A program of the child table; its only column is what is added up.
    pub program: Program,
    /// Whether all values are integers, and so the sum.
    pub is_integer: bool,
}

/// The working memory of a [`ChildSum`].
#[derive(Debug)]
pub(crate) struct ChildScratch {
    /// Memory of the child table's program.
    program: Scratch,
    ranges: Vec<Range<u64>>,
    /// The children of a block, and the position of each one's parent.
    rows: Vec<u64>,
    parents: Vec<usize>,
    sums: Vec<Sum>,
}

/// A sum of numbers; values that are no numbers count as 0.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    integer: i64,
    real: f64,
    /// What additions to `real` have rounded off.
    lost: f64,
}

impl ChildScratch {
    pub(crate) fn new(sum: &ChildSum) -> Self {
        let (ranges, rows, parents, sums) = Default::default();
        Self { program: Scratch::new(&sum.program), ranges, rows, parents, sums }
    }
}

impl ChildSum {
    /// Computes the sums of these parents.
    pub(super) fn fill(&self, parents: &Rows<'_>, scratch: &mut ChildScratch, out: &mut CellBlock) {
        self.fan_out.children_of(parents, &mut scratch.ranges);
        scratch.sums.clear();
        scratch.sums.resize(parents.len(), Sum::default());
        let rows_per_block = self.program.most_rows_per_block();
        for at in 0..scratch.ranges.len() {
            let range = scratch.ranges[at].clone();
            for child in range.start..range.end.min(self.children) {
                scratch.rows.push(child);
                scratch.parents.push(at);
                if scratch.rows.len() as u64 == rows_per_block {
                    self.add_block(scratch);
                }
            }
        }
        self.add_block(scratch);
        if self.is_integer {
            out.ints().extend(scratch.sums.iter().map(|sum| sum.integer));
        } else {
            out.reals().extend(scratch.sums.iter().map(|sum| sum.real + sum.lost));
        }
    }

    /// Adds the values of a block of children to the sums of their parents.
    fn add_block(&self, scratch: &mut ChildScratch) {
        let (Some(&first), Some(&last)) = (scratch.rows.first(), scratch.rows.last()) else { return };
        let is_range = last.checked_sub(first) == Some(scratch.rows.len() as u64 - 1);
        let rows = if is_range { Rows::Range(first..last + 1) } else { Rows::List(&scratch.rows) };
        self.program.run(&rows, &mut scratch.program);
        let values = &scratch.program.columns()[0];
        for (at, &parent) in scratch.parents.iter().enumerate() {
            scratch.sums[parent].add(values.value(at), self.is_integer);
        }
        scratch.rows.clear();
        scratch.parents.clear();
    }
}

impl Sum {
    /// Adds a value, reals as Neumaier does: no rounding of an addition is lost.
    fn add(&mut self, value: Value<'_>, is_integer: bool) {
        let real = match value {
            Value::Int(int) if is_integer => {
                self.integer = self.integer.saturating_add(int);
                return;
            }
            Value::Int(int) => int as f64,
            Value::Real(real) => real,
            _ => return,
        };
        let sum = self.real + real;
        self.lost += if self.real.abs() >= real.abs() { self.real - sum + real } else { real - sum + self.real };
        self.real = sum;
    }
}
