//! How the columns of a table are filled: steps over blocks of rows, in an order in which each finds what it needs.
//!
//! ```text
//! rows of the table ----------------------> space 0
//! space 0 --Refer: which row of product?--> space 1      rows of other tables that a row leads to
//! Generate: a generator, in any space ----> slot
//! Apply: an operator over slots ----------> slot         the slots of columns are what the encoder gets
//! ```
//!
//! A program is made once for a table and run by many threads, each with a [`Scratch`] of its own, whose memory is
//! used again for every block. As all values are functions of row numbers, a column of another table's row is computed
//! where it is needed, and nothing is looked up.

use crate::expression::{Operand, Operator, apply, stored};
use crate::generators::{Generator, copy, fill_flags};
use crate::random::CellRandom;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Affinity, CellBlock};
use std::ops::Range;
use std::sync::Arc;

/// What fills the columns of a table.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub steps: Vec<Step>,
    /// Number of slots.
    pub slots: usize,
    /// Number of spaces.
    pub spaces: usize,
    /// The slots of the ordinary columns in their order, all different.
    pub columns: Vec<usize>,
    /// Bytes that the longest values of all slots may take in one row.
    pub longest_bytes: u64,
}

/// One step of a program.
#[derive(Debug)]
pub(crate) enum Step {
    /// Values by a generator.
    Generate { generator: Arc<dyn Generator>, random: CellRandom, space: usize, slot: usize },
    /// What a column of this affinity stores of the values of another slot.
    Store { from: usize, affinity: Affinity, slot: usize },
    /// What an operator makes of other values.
    Apply { operator: Operator, operands: Vec<Source>, affinities: Vec<Option<Affinity>>, slot: usize },
    /// The values of another slot, or one value.
    Copy { from: Source, slot: usize },
    /// NULL in a share of the rows of a slot.
    Null { share: f64, levels: u64, random: CellRandom, space: usize, slot: usize },
}

/// Where an operand comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A slot.
    Slot(usize),
    /// A slot of [`Step::Store`], or the one that it stores where values stay as they are.
    Stored { from: usize, slot: usize },
    /// One value for all rows.
    Constant(OwnedValue),
}

/// Rows of another table, one for each row of a block.
#[derive(Debug, Default)]
pub(crate) struct RowList {
    /// Their numbers, counted from 0.
    pub rows: Vec<u64>,
    /// Where there is none: empty (everywhere is one) or one flag a row.
    pub nulls: Vec<bool>,
}

/// What a program works with.
#[derive(Debug)]
pub(crate) struct Scratch {
    blocks: Vec<CellBlock>,
    spaces: Vec<RowList>,
    /// The slots of [`Step::Store`] that were not needed.
    is_as_stored: Vec<bool>,
    /// The blocks of the columns, while nobody computes.
    columns: Vec<CellBlock>,
    flags: Vec<bool>,
}

impl Scratch {
    pub(crate) fn new(program: &Program) -> Self {
        let blocks = |count| std::iter::repeat_with(CellBlock::default).take(count).collect();
        Self {
            blocks: blocks(program.slots),
            spaces: std::iter::repeat_with(RowList::default).take(program.spaces).collect(),
            is_as_stored: vec![false; program.slots],
            columns: blocks(program.columns.len()),
            flags: Vec::new(),
        }
    }

    /// The blocks of the ordinary columns, as the last run filled them.
    pub(crate) fn columns(&self) -> &[CellBlock] {
        &self.columns
    }

    fn operand<'a>(&'a self, source: &'a Source) -> Operand<'a> {
        match source {
            Source::Constant(value) => Operand::Constant(value),
            Source::Slot(slot) => Operand::Block(&self.blocks[*slot]),
            Source::Stored { from, slot } => {
                Operand::Block(&self.blocks[if self.is_as_stored[*slot] { *from } else { *slot }])
            }
        }
    }
}

impl Program {
    /// Fills the columns for these rows, at most [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) of them.
    pub(crate) fn run(&self, rows: &Range<u64>, scratch: &mut Scratch) {
        self.swap_columns(scratch);
        for step in &self.steps {
            step.run(rows, scratch);
        }
        self.swap_columns(scratch);
    }

    /// Puts the blocks of the columns into their slots, or takes them out again.
    fn swap_columns(&self, scratch: &mut Scratch) {
        for (&slot, column) in self.columns.iter().zip(&mut scratch.columns) {
            std::mem::swap(&mut scratch.blocks[slot], column);
        }
    }
}

impl Step {
    fn run(&self, rows: &Range<u64>, scratch: &mut Scratch) {
        let count = usize::try_from(rows.end - rows.start).expect("a block of rows");
        let slot = self.slot();
        let mut out = std::mem::take(&mut scratch.blocks[slot]);
        match self {
            Self::Generate { generator, random, space: 0, .. } => generator.fill(random, rows.clone(), &mut out),
            Self::Generate { generator, random, space, .. } => {
                let list = &scratch.spaces[*space];
                generator.fill_rows(random, &list.rows, &mut out);
                add_nulls(&list.nulls, &mut out);
            }
            Self::Store { from, affinity, .. } => {
                scratch.is_as_stored[slot] = stored(&scratch.blocks[*from], *affinity, count, &mut out).is_none();
            }
            Self::Apply { operator, operands, affinities, .. } => {
                // Few operands are the rule; CASE and IN may have many.
                let operands: Vec<Operand<'_>> = operands.iter().map(|source| scratch.operand(source)).collect();
                apply(*operator, &operands, affinities, count, &mut out);
            }
            Self::Copy { from, .. } => match scratch.operand(from) {
                Operand::Block(block) => copy(block, count, &mut out),
                Operand::Constant(value) => out.values().resize(count, value.clone()),
            },
            Self::Null { share, levels, random, space, .. } => {
                let mut flags = std::mem::take(&mut scratch.flags);
                match space {
                    0 => fill_flags(*share, *levels, random, rows.clone(), &mut flags),
                    _ => {
                        let rows = &scratch.spaces[*space].rows;
                        flags.clear();
                        let mut one = Vec::new();
                        flags.extend(rows.iter().map(|&row| {
                            fill_flags(*share, *levels, random, row..row + 1, &mut one);
                            one[0]
                        }));
                    }
                }
                add_nulls(&flags, &mut out);
                scratch.flags = flags;
            }
        }
        scratch.blocks[slot] = out;
    }

    /// The slot that it fills.
    fn slot(&self) -> usize {
        match self {
            Self::Generate { slot, .. }
            | Self::Store { slot, .. }
            | Self::Apply { slot, .. }
            | Self::Copy { slot, .. }
            | Self::Null { slot, .. } => *slot,
        }
    }
}

/// Marks rows as NULL beside those that are.
fn add_nulls(nulls: &[bool], out: &mut CellBlock) {
    if nulls.contains(&true) {
        let all = out.nulls_mut();
        all.resize(nulls.len(), false);
        all.iter_mut().zip(nulls).for_each(|(null, &more)| *null |= more);
    }
}
