//! Programs that fill the columns of a table: a list of operations over blocks of rows, in topological order.
//!
//! ```text
//! rows of the table -------------------------> row set 0
//! row set 0 --Refer: which row of product?--> row set 1    rows of other tables, one for each row
//! Generate: a generator, on any row set -----> register
//! Apply: an operator on registers -----------> register     the encoder reads the registers of the columns
//! ```
//!
//! A program is compiled once for a table and run by many threads, each with its own [`Scratch`], whose memory is
//! reused from block to block. All values are functions of row numbers, so a column of another table's row is
//! computed in place; nothing is looked up.

use crate::expression::{Operand, Operator, apply, stored};
use crate::generators::{Generator, Kinds, fill_flags};
use crate::random::{CellRandom, Rows};
use crate::relation::{Relation, RowList};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Affinity, CellBlock};
use std::sync::Arc;

/// The operations that fill the columns of a table.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub steps: Vec<Step>,
    /// Number of registers.
    pub slots: usize,
    /// Number of row sets.
    pub spaces: usize,
    /// The registers of the ordinary columns in their order, all different.
    pub columns: Vec<usize>,
    /// Bytes that the longest values of all registers may take in one row.
    pub longest_bytes: u64,
}

/// NULL in a share of all rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nulls {
    pub share: f64,
    pub levels: u64,
    pub random: CellRandom,
}

/// One operation of a program.
#[derive(Debug)]
pub(crate) enum Step {
    /// Computes the rows that the rows of a set refer to, as another set. `siblings` is the row set of the column in
    /// `distinct_in`.
    Refer {
        relation: Relation,
        random: CellRandom,
        from: usize,
        siblings: Option<usize>,
        nulls: Vec<Nulls>,
        space: usize,
    },
    /// Computes each row's ordinal among the children of its parent.
    Number { space: usize, slot: usize },
    /// Generates values.
    Generate { generator: Arc<dyn Generator>, random: CellRandom, space: usize, slot: usize },
    /// Converts a register as a column of this affinity would store it.
    Store { from: usize, affinity: Affinity, slot: usize },
    /// Applies an operator to other values.
    Apply { operator: Operator, operands: Vec<Source>, affinities: Vec<Option<Affinity>>, slot: usize },
    /// Copies another register, or one value into all rows.
    Copy { from: Source, slot: usize },
    /// Sets NULL in a share of the rows of a register.
    Null { nulls: Nulls, space: usize, slot: usize },
}

/// An operand of an operation.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A register.
    Slot(usize),
    /// The register of an [`Op::Store`], or its input if the values are stored unchanged.
    Stored { from: usize, slot: usize },
    /// One value for all rows.
    Constant(OwnedValue),
}

/// The working memory of a program.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Registers of the wanted columns, and the operations that fill them.
    wanted: Vec<usize>,
    steps: Vec<usize>,
    blocks: Vec<CellBlock>,
    spaces: Vec<RowList>,
    /// Registers of [`Op::Store`] whose input needed no conversion.
    is_as_stored: Vec<bool>,
    /// Blocks of the columns; between runs they are here and not in their registers.
    columns: Vec<CellBlock>,
    flags: Vec<bool>,
}

impl Scratch {
    /// Allocates memory for all columns.
    pub(crate) fn new(program: &Program) -> Self {
        Self::with_given(program, &[])
    }

    /// Allocates memory for all columns, of which the caller [fills](Self::column_mut) `given` before each run. These
    /// are positions among the ordinary columns.
    pub(crate) fn with_given(program: &Program, given: &[usize]) -> Self {
        let given: Vec<usize> = given.iter().map(|&column| program.columns[column]).collect();
        Self::with_slots(program, program.columns.clone(), &given)
    }

    /// Allocates memory for some of the ordinary columns, given by their positions.
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

    /// Returns the blocks of the wanted columns, as the last run filled them.
    pub(crate) fn columns(&self) -> &[CellBlock] {
        &self.columns
    }

    /// Returns the block of a wanted column.
    pub(crate) fn column_mut(&mut self, column: usize) -> &mut CellBlock {
        &mut self.columns[column]
    }

    /// Moves the blocks of the columns into their registers, or back out.
    fn swap_columns(&mut self) {
        for (&slot, column) in self.wanted.iter().zip(&mut self.columns) {
            std::mem::swap(&mut self.blocks[slot], column);
        }
    }

    /// Returns the rows of a set; `rows` is set 0.
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

    /// Returns whether a column, given by its position among the ordinary ones, comes straight from a generator of
    /// integers without NULL.
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

    /// Returns the operations that fill these registers, in order, if the registers in `filled` need no computing.
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

/// Liveness of registers and row sets, computed from the last operation to the first.
struct Needed {
    slots: Vec<bool>,
    spaces: Vec<bool>,
}

impl Needed {
    /// Returns whether a later operation needs this one's result. If so, marks its operands as needed.
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
    /// Returns the register that it fills, or sets NULLs in.
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

    /// Fills the register of an operation that fills one.
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
                // Most operators have few operands; CASE and IN may have many.
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

/// Sets further rows to NULL.
fn mark(more: &[bool], nulls: &mut Vec<bool>) {
    if more.contains(&true) {
        nulls.resize(more.len(), false);
        nulls.iter_mut().zip(more).for_each(|(null, &more)| *null |= more);
    }
}
