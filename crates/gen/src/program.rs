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
use crate::generators::{Generator, Kinds, fill_flags};
use crate::random::{CellRandom, Rows};
use crate::relation::{Relation, RowList};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Affinity, CellBlock};
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

/// NULL in a share of all rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nulls {
    pub share: f64,
    pub levels: u64,
    pub random: CellRandom,
}

/// One step of a program.
#[derive(Debug)]
pub(crate) enum Step {
    /// The rows that those of a space refer to, another space. `siblings` is the space of the column of `distinct_in`.
    Refer {
        relation: Relation,
        random: CellRandom,
        from: usize,
        siblings: Option<usize>,
        nulls: Vec<Nulls>,
        space: usize,
    },
    /// The how manieth child of its parent a row is.
    Number { space: usize, slot: usize },
    /// Values by a generator.
    Generate { generator: Arc<dyn Generator>, random: CellRandom, space: usize, slot: usize },
    /// What a column of this affinity stores of the values of another slot.
    Store { from: usize, affinity: Affinity, slot: usize },
    /// What an operator makes of other values.
    Apply { operator: Operator, operands: Vec<Source>, affinities: Vec<Option<Affinity>>, slot: usize },
    /// The values of another slot, or one value.
    Copy { from: Source, slot: usize },
    /// NULL in a share of the rows of a slot.
    Null { nulls: Nulls, space: usize, slot: usize },
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

/// What a program works with.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The slots of the columns that are wanted, and the steps that fill these.
    wanted: Vec<usize>,
    steps: Vec<usize>,
    blocks: Vec<CellBlock>,
    spaces: Vec<RowList>,
    /// The slots of [`Step::Store`] that were not needed.
    is_as_stored: Vec<bool>,
    /// The blocks of the columns, while nobody computes.
    columns: Vec<CellBlock>,
    flags: Vec<bool>,
}

impl Scratch {
    /// For all columns.
    pub(crate) fn new(program: &Program) -> Self {
        Self::with_given(program, &[])
    }

    /// For all columns, of which some, by their places among the ordinary ones, are [filled](Self::column_mut) before each
    /// run.
    pub(crate) fn with_given(program: &Program, given: &[usize]) -> Self {
        let given: Vec<usize> = given.iter().map(|&column| program.columns[column]).collect();
        Self::with_slots(program, program.columns.clone(), &given)
    }

    /// For some of the ordinary columns, by their places among these.
    pub(crate) fn for_columns(program: &Program, columns: &[usize]) -> Self {
        Self::with_slots(program, columns.iter().map(|&column| program.columns[column]).collect(), &[])
    }

    fn with_slots(program: &Program, wanted: Vec<usize>, given: &[usize]) -> Self {
        let blocks = |count| std::iter::repeat_with(CellBlock::default).take(count).collect();
        Self {
            columns: blocks(wanted.len()),
            steps: program.steps_for(&wanted, given),
            wanted,
            blocks: blocks(program.slots),
            spaces: std::iter::repeat_with(RowList::default).take(program.spaces).collect(),
            is_as_stored: vec![false; program.slots],
            flags: Vec::new(),
        }
    }

    /// The blocks of the wanted columns, as the last run filled them.
    pub(crate) fn columns(&self) -> &[CellBlock] {
        &self.columns
    }

    /// The block of a wanted column.
    pub(crate) fn column_mut(&mut self, column: usize) -> &mut CellBlock {
        &mut self.columns[column]
    }

    /// Puts the blocks of the columns into their slots, or takes them out again.
    fn swap_columns(&mut self) {
        for (&slot, column) in self.wanted.iter().zip(&mut self.columns) {
            std::mem::swap(&mut self.blocks[slot], column);
        }
    }

    /// The rows of a space; `rows` are those of space 0.
    fn rows<'a>(&'a self, rows: &Rows<'a>, space: usize) -> Rows<'a> {
        if space == 0 { rows.clone() } else { Rows::List(&self.spaces[space].rows) }
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
    /// Fills the wanted columns for these rows, at most [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) of them.
    pub(crate) fn run(&self, rows: &Rows<'_>, scratch: &mut Scratch) {
        let steps = std::mem::take(&mut scratch.steps);
        scratch.swap_columns();
        for &step in &steps {
            self.steps[step].run(rows, scratch);
        }
        scratch.swap_columns();
        scratch.steps = steps;
    }

    /// Whether a column, by its place among the ordinary ones, is what a generator of integers gives, without NULL.
    pub(crate) fn gives_integers(&self, column: usize) -> bool {
        let slot = self.columns[column];
        let mut steps = self.steps.iter().filter(|step| step.slot() == Some(slot));
        match (steps.next(), steps.next()) {
            (Some(Step::Generate { generator, space: 0, .. }), None) => {
                generator.kinds() == Kinds::INT && generator.null_share() == 0.0
            }
            _ => false,
        }
    }

    /// The steps that it takes to fill these slots, in their order, where some others are filled.
    fn steps_for(&self, slots: &[usize], filled: &[usize]) -> Vec<usize> {
        let mut needed = Needed { slots: vec![false; self.slots], spaces: vec![false; self.spaces] };
        slots.iter().for_each(|&slot| needed.slots[slot] = true);
        let is_filled = |step: &Step| step.slot().is_some_and(|slot| filled.contains(&slot));
        let mut steps: Vec<usize> = (0..self.steps.len())
            .rev()
            .filter(|&step| !is_filled(&self.steps[step]) && needed.takes(&self.steps[step]))
            .collect();
        steps.reverse();
        steps
    }
}

/// What is needed by the steps behind one.
struct Needed {
    slots: Vec<bool>,
    spaces: Vec<bool>,
}

impl Needed {
    /// Whether a step gives something that is needed; then what it works on is, too.
    fn takes(&mut self, step: &Step) -> bool {
        let is_needed = match step {
            Step::Refer { space, .. } => self.spaces[*space],
            _ => step.slot().is_some_and(|slot| self.slots[slot]),
        };
        if is_needed {
            self.add_operands(step);
        }
        is_needed
    }

    fn add_operands(&mut self, step: &Step) {
        match step {
            Step::Refer { from, siblings, .. } => {
                self.spaces[*from] = true;
                siblings.iter().for_each(|&siblings| self.spaces[siblings] = true);
            }
            Step::Number { space, .. } | Step::Generate { space, .. } | Step::Null { space, .. } => {
                self.spaces[*space] = true;
            }
            Step::Store { from, .. } => self.slots[*from] = true,
            Step::Apply { operands, .. } => operands.iter().for_each(|operand| self.add_source(operand)),
            Step::Copy { from, .. } => self.add_source(from),
        }
    }

    fn add_source(&mut self, source: &Source) {
        match source {
            Source::Slot(slot) => self.slots[*slot] = true,
            Source::Stored { from, slot } => {
                self.slots[*from] = true;
                self.slots[*slot] = true;
            }
            Source::Constant(_) => {}
        }
    }
}

impl Step {
    /// The slot that it fills, or sets NULLs in.
    fn slot(&self) -> Option<usize> {
        match self {
            Self::Refer { .. } => None,
            Self::Number { slot, .. }
            | Self::Generate { slot, .. }
            | Self::Store { slot, .. }
            | Self::Apply { slot, .. }
            | Self::Copy { slot, .. }
            | Self::Null { slot, .. } => Some(*slot),
        }
    }

    fn run(&self, rows: &Rows<'_>, scratch: &mut Scratch) {
        match self {
            Self::Refer { relation, random, from, siblings, nulls, space } => {
                let mut list = std::mem::take(&mut scratch.spaces[*space]);
                let siblings = siblings.map(|space| &scratch.spaces[space]);
                relation.draw(random, &scratch.rows(rows, *from), siblings, &mut list);
                let mut flags = std::mem::take(&mut scratch.flags);
                for nulls in nulls {
                    nulls.fill(&scratch.rows(rows, *from), &mut flags);
                    mark(&flags, &mut list.nulls);
                }
                mark(&scratch.spaces[*from].nulls, &mut list.nulls);
                scratch.flags = flags;
                scratch.spaces[*space] = list;
            }
            Self::Null { nulls, space, slot } => {
                let mut flags = std::mem::take(&mut scratch.flags);
                nulls.fill(&scratch.rows(rows, *space), &mut flags);
                mark(&flags, scratch.blocks[*slot].nulls_mut());
                scratch.flags = flags;
            }
            Self::Generate { slot, .. }
            | Self::Number { slot, .. }
            | Self::Store { slot, .. }
            | Self::Apply { slot, .. }
            | Self::Copy { slot, .. } => {
                let mut out = std::mem::take(&mut scratch.blocks[*slot]);
                self.fill(rows, scratch, &mut out);
                scratch.blocks[*slot] = out;
            }
        }
    }

    /// Fills the slot of a step that fills one.
    fn fill(&self, rows: &Rows<'_>, scratch: &mut Scratch, out: &mut CellBlock) {
        let count = rows.len();
        match self {
            Self::Generate { generator, random, space, .. } => {
                generator.fill(random, &scratch.rows(rows, *space), out);
                mark(&scratch.spaces[*space].nulls, out.nulls_mut());
            }
            Self::Number { space, .. } => {
                let list = &scratch.spaces[*space];
                out.ints().extend(list.places.iter().map(|place| place.number.cast_signed() + 1));
                mark(&list.nulls, out.nulls_mut());
            }
            Self::Store { from, affinity, slot } => {
                scratch.is_as_stored[*slot] = stored(&scratch.blocks[*from], *affinity, count, out).is_none();
            }
            Self::Apply { operator, operands, affinities, .. } => {
                // Few operands are the rule; CASE and IN may have many.
                let operands: Vec<Operand<'_>> = operands.iter().map(|source| scratch.operand(source)).collect();
                apply(*operator, &operands, affinities, count, out);
            }
            Self::Copy { from, .. } => match scratch.operand(from) {
                Operand::Block(block) => out.copy_from(block),
                Operand::Constant(value) => out.values().resize(count, value.clone()),
            },
            Self::Refer { .. } | Self::Null { .. } => {}
        }
    }
}

impl Nulls {
    /// Sets a flag for each of these rows that is NULL.
    fn fill(&self, rows: &Rows<'_>, flags: &mut Vec<bool>) {
        fill_flags(self.share, self.levels, &self.random, rows, flags);
    }
}

/// Marks rows as NULL beside those that are.
fn mark(more: &[bool], nulls: &mut Vec<bool>) {
    if more.contains(&true) {
        nulls.resize(more.len(), false);
        nulls.iter_mut().zip(more).for_each(|(null, &more)| *null |= more);
    }
}
