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

mod child_count;
mod child_sum;
mod linked_rows;
mod members;
mod repeats;

use crate::expression::{Operand, Operator, apply, stored};
use crate::generators::{Generator, Kinds, fill_flags};
use crate::random::{CellRandom, Rows};
use crate::relation::{PositionField, Relation, RowList};
use litepress_format::value::Value;
use litepress_rows::cells::{BLOCK_ROWS, OwnedValue};
use litepress_rows::{Affinity, CellBlock};
use std::sync::Arc;

pub(crate) use child_count::{ChildCount, ChildNumbers};
pub(crate) use child_sum::{ChildScratch, ChildSum};
pub(crate) use linked_rows::{Link, LinkedRows};
pub(crate) use members::Members;
pub(crate) use repeats::Repeats;

/// Memory limit in bytes for the values of a block of rows, unless a single row exceeds it.
const BLOCK_BYTES: u64 = 4 << 20;

/// The operations that fill the columns of a table.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub ops: Vec<Op>,
    /// Number of registers.
    pub registers: usize,
    /// Number of row sets.
    pub row_sets: usize,
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

/// Rows that refer to nothing: the first ones, those to which another column's rows or children belong.
#[derive(Debug)]
pub(crate) struct Without {
    /// The row set of another column, which refers to a row in this one's place.
    pub other: Option<usize>,
    /// The rows of another table that refer to the row.
    pub children: Option<Box<ChildCount>>,
    /// The number of first rows.
    pub rows: u64,
}

/// One operation of a program.
#[derive(Debug)]
pub(crate) enum Op {
    /// Computes the rows that the rows of a set refer to, as another set. `others` are the row sets of the column in
    /// `distinct_in`, and of that in `within`. Rows that `without` names refer to nothing.
    Refer {
        relation: Relation,
        random: CellRandom,
        from: usize,
        others: [Option<usize>; 2],
        nulls: Vec<Nulls>,
        without: Without,
        row_set: usize,
    },
    /// Replaces rows that would refer to the same rows as others do through two columns.
    Replace { repeats: Box<Repeats>, from: usize, of: usize, row_set: usize },
    /// Computes the first row of each row's thread, as another set: the row that it refers to, the row that one refers to, and on.
    Roots { relation: Relation, random: CellRandom, from: usize, nulls: Vec<Nulls>, row_set: usize },
    /// Finds the rows to which rows lead, as another set.
    Link { linked: Box<LinkedRows>, from: usize, row_set: usize },
    /// Computes the numbers of rows.
    RowNumber { row_set: usize, register: usize },
    /// Counts the rows that refer to each row.
    CountOf { count: Box<ChildCount>, row_set: usize, register: usize },
    /// Counts the rows up to each row that refer to the same row, as the set `of` does.
    NumberIn { numbers: Box<ChildNumbers>, row_set: usize, of: usize, register: usize },
    /// Computes each row's place among the children of its parent, or the number of these children.
    ChildPosition { field: PositionField, row_set: usize, register: usize },
    /// Generates values.
    Generate { generator: Arc<dyn Generator>, random: CellRandom, row_set: usize, register: usize },
    /// Adds up a value over the children of each row. `scratch` is the position of its memory.
    SumOf { sum: Box<ChildSum>, scratch: usize, row_set: usize, register: usize },
    /// Converts a register as a column of this affinity would store it.
    Store { from: usize, affinity: Affinity, register: usize },
    /// Applies an operator to other values.
    Apply { operator: Operator, operands: Vec<Input>, affinities: Vec<Option<Affinity>>, register: usize },
    /// Copies another register, or one value into all rows.
    Copy { from: Input, register: usize },
    /// Sets NULL in a share of the rows of a register.
    Null { nulls: Nulls, row_set: usize, register: usize },
}

/// An operand of an operation.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A register.
    Register(usize),
    /// The register of an [`Op::Store`], or its input if the values are stored unchanged.
    Stored { from: usize, register: usize },
    /// One value for all rows.
    Constant(OwnedValue),
}

/// The working memory of a program.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Registers of the wanted columns, and the operations that fill them.
    wanted: Vec<usize>,
    ops: Vec<usize>,
    blocks: Vec<CellBlock>,
    row_sets: Vec<RowList>,
    /// Registers of [`Op::Store`] whose input needed no conversion.
    is_as_stored: Vec<bool>,
    /// Blocks of the columns; between runs they are here and not in their registers.
    columns: Vec<CellBlock>,
    flags: Vec<bool>,
    /// Memory of each [`Op::SumOf`].
    child_sums: Vec<ChildScratch>,
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
        Self::with_registers(program, program.columns.clone(), &given)
    }

    /// Allocates memory for some of the ordinary columns, given by their positions.
    pub(crate) fn for_columns(program: &Program, columns: &[usize]) -> Self {
        Self::with_registers(program, columns.iter().map(|&column| program.columns[column]).collect(), &[])
    }

    fn with_registers(program: &Program, wanted: Vec<usize>, given: &[usize]) -> Self {
        let blocks = |count| std::iter::repeat_with(CellBlock::default).take(count).collect();
        Self {
            columns: blocks(wanted.len()),
            ops: program.ops_for(&wanted, given),
            wanted,
            blocks: blocks(program.registers),
            row_sets: std::iter::repeat_with(RowList::default).take(program.row_sets).collect(),
            is_as_stored: vec![false; program.registers],
            flags: Vec::new(),
            child_sums: program.child_sums().map(ChildScratch::new).collect(),
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
        for (&register, column) in self.wanted.iter().zip(&mut self.columns) {
            std::mem::swap(&mut self.blocks[register], column);
        }
    }

    /// Returns the rows of a set; `rows` is set 0.
    fn rows<'a>(&'a self, rows: &Rows<'a>, row_set: usize) -> Rows<'a> {
        if row_set == 0 { rows.clone() } else { Rows::List(&self.row_sets[row_set].rows) }
    }

    fn operand<'a>(&'a self, input: &'a Input) -> Operand<'a> {
        match input {
            Input::Constant(value) => Operand::Constant(value),
            Input::Register(register) => Operand::Block(&self.blocks[*register]),
            Input::Stored { from, register } => {
                Operand::Block(&self.blocks[if self.is_as_stored[*register] { *from } else { *register }])
            }
        }
    }
}

impl Program {
    /// Returns the number of rows, 1 to [`BLOCK_ROWS`], for which even the longest values fit in [`BLOCK_BYTES`].
    pub(crate) fn most_rows_per_block(&self) -> u64 {
        (BLOCK_BYTES / self.longest_bytes.saturating_add(1)).clamp(1, BLOCK_ROWS as u64)
    }

    /// Fills the wanted columns for these rows, at most [`BLOCK_ROWS`] of them.
    pub(crate) fn run(&self, rows: &Rows<'_>, scratch: &mut Scratch) {
        let ops = std::mem::take(&mut scratch.ops);
        scratch.swap_columns();
        for &op in &ops {
            self.ops[op].run(rows, scratch);
        }
        scratch.swap_columns();
        scratch.ops = ops;
    }

    /// Runs the program, whose columns are numbers of rows, for all rows of its table. Calls `then` with each row and these numbers.
    fn for_each_row(&self, rows: u64, mut then: impl FnMut(u64, &dyn Fn(usize) -> Option<u64>)) {
        let mut scratch = Scratch::new(self);
        let rows_per_block = self.most_rows_per_block();
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + rows_per_block);
            self.run(&Rows::Range(start..end), &mut scratch);
            for (at, row) in (start..end).enumerate() {
                then(row, &|column| match scratch.columns()[column].value(at) {
                    Value::Int(number) => u64::try_from(number).ok(),
                    _ => None,
                });
            }
            start = end;
        }
    }

    /// Returns the sums over children, in the order of their positions.
    pub(crate) fn child_sums(&self) -> impl Iterator<Item = &ChildSum> {
        self.ops.iter().filter_map(|op| match op {
            Op::SumOf { sum, .. } => Some(&**sum),
            _ => None,
        })
    }

    /// Returns whether a column, given by its position among the ordinary ones, comes straight from a generator of
    /// integers without NULL.
    pub(crate) fn gives_integers(&self, column: usize) -> bool {
        let register = self.columns[column];
        let mut ops = self.ops.iter().filter(|op| op.register() == Some(register));
        match (ops.next(), ops.next()) {
            (Some(Op::Generate { generator, row_set: 0, .. }), None) => {
                generator.kinds() == Kinds::INT && generator.null_share() == 0.0
            }
            _ => false,
        }
    }

    /// Returns the operations that fill these registers, in order, if the registers in `filled` need no computing.
    fn ops_for(&self, registers: &[usize], filled: &[usize]) -> Vec<usize> {
        let mut live = Liveness { registers: vec![false; self.registers], row_sets: vec![false; self.row_sets] };
        registers.iter().for_each(|&register| live.registers[register] = true);
        let is_filled = |op: &Op| op.register().is_some_and(|register| filled.contains(&register));
        let mut ops: Vec<usize> =
            (0..self.ops.len()).rev().filter(|&op| !is_filled(&self.ops[op]) && live.visit(&self.ops[op])).collect();
        ops.reverse();
        ops
    }
}

/// Liveness of registers and row sets, computed from the last operation to the first.
struct Liveness {
    registers: Vec<bool>,
    row_sets: Vec<bool>,
}

impl Liveness {
    /// Returns whether a later operation needs this one's result. If so, marks its operands as needed.
    fn visit(&mut self, op: &Op) -> bool {
        let is_used = match op {
            Op::Refer { row_set, .. }
            | Op::Roots { row_set, .. }
            | Op::Replace { row_set, .. }
            | Op::Link { row_set, .. } => self.row_sets[*row_set],
            _ => op.register().is_some_and(|register| self.registers[register]),
        };
        if is_used {
            self.add_operands(op);
        }
        is_used
    }

    fn add_operands(&mut self, op: &Op) {
        match op {
            Op::Refer { from, others, without, .. } => {
                self.row_sets[*from] = true;
                others.iter().chain([&without.other]).flatten().for_each(|&other| self.row_sets[other] = true);
            }
            Op::Replace { from, of, .. } => [*from, *of].into_iter().for_each(|set| self.row_sets[set] = true),
            Op::Roots { from, .. } | Op::Link { from, .. } => self.row_sets[*from] = true,
            Op::NumberIn { row_set, of, .. } => [*row_set, *of].into_iter().for_each(|set| self.row_sets[set] = true),
            Op::ChildPosition { row_set, .. }
            | Op::RowNumber { row_set, .. }
            | Op::CountOf { row_set, .. }
            | Op::Generate { row_set, .. }
            | Op::SumOf { row_set, .. }
            | Op::Null { row_set, .. } => {
                self.row_sets[*row_set] = true;
            }
            Op::Store { from, .. } => self.registers[*from] = true,
            Op::Apply { operands, .. } => operands.iter().for_each(|operand| self.add_input(operand)),
            Op::Copy { from, .. } => self.add_input(from),
        }
    }

    fn add_input(&mut self, input: &Input) {
        match input {
            Input::Register(register) => self.registers[*register] = true,
            Input::Stored { from, register } => {
                self.registers[*from] = true;
                self.registers[*register] = true;
            }
            Input::Constant(_) => {}
        }
    }
}

impl Op {
    /// Returns the register that it fills, or sets NULLs in.
    fn register(&self) -> Option<usize> {
        match self {
            Self::Refer { .. } | Self::Roots { .. } | Self::Replace { .. } | Self::Link { .. } => None,
            Self::ChildPosition { register, .. }
            | Self::NumberIn { register, .. }
            | Self::RowNumber { register, .. }
            | Self::CountOf { register, .. }
            | Self::Generate { register, .. }
            | Self::SumOf { register, .. }
            | Self::Store { register, .. }
            | Self::Apply { register, .. }
            | Self::Copy { register, .. }
            | Self::Null { register, .. } => Some(*register),
        }
    }

    fn run(&self, rows: &Rows<'_>, scratch: &mut Scratch) {
        match self {
            Self::Refer { relation, random, from, others, nulls, without, row_set } => {
                let mut list = std::mem::take(&mut scratch.row_sets[*row_set]);
                let others = others.map(|other| other.map(|row_set| &scratch.row_sets[row_set]));
                relation.assign_parents(random, &scratch.rows(rows, *from), others, &mut list);
                let mut flags = std::mem::take(&mut scratch.flags);
                for nulls in nulls {
                    nulls.fill(&scratch.rows(rows, *from), &mut flags);
                    mark(&flags, &mut list.nulls);
                }
                mark(&scratch.row_sets[*from].nulls, &mut list.nulls);
                without.fill(&scratch.rows(rows, *from), &scratch.row_sets, &mut flags);
                mark(&flags, &mut list.nulls);
                scratch.flags = flags;
                scratch.row_sets[*row_set] = list;
            }
            Self::Replace { repeats, from, of, row_set } => {
                let mut list = std::mem::take(&mut scratch.row_sets[*row_set]);
                let of = &scratch.row_sets[*of];
                list.rows.clone_from(&of.rows);
                list.nulls.clone_from(&of.nulls);
                list.of = of.of;
                repeats.replace(&scratch.rows(rows, *from), &mut list.rows);
                scratch.row_sets[*row_set] = list;
            }
            Self::Link { linked, from, row_set } => {
                let mut list = std::mem::take(&mut scratch.row_sets[*row_set]);
                linked.fill(&scratch.rows(rows, *from), &scratch.row_sets[*from].nulls, &mut list);
                scratch.row_sets[*row_set] = list;
            }
            Self::Null { nulls, row_set, register } => {
                let mut flags = std::mem::take(&mut scratch.flags);
                nulls.fill(&scratch.rows(rows, *row_set), &mut flags);
                mark(&flags, scratch.blocks[*register].nulls_mut());
                scratch.flags = flags;
            }
            Self::Roots { relation, random, from, nulls, row_set } => {
                let mut list = std::mem::take(&mut scratch.row_sets[*row_set]);
                list.rows.clear();
                scratch.rows(rows, *from).append_to(&mut list.rows, |row| row);
                let mut flags = std::mem::take(&mut scratch.flags);
                let mut mark_nulls = |rows: &Rows<'_>, marked: &mut Vec<bool>| {
                    for nulls in nulls {
                        nulls.fill(rows, &mut flags);
                        mark(&flags, marked);
                    }
                };
                relation.find_roots(random, &mut mark_nulls, &mut list.rows);
                list.of = relation.parents;
                list.nulls.clone_from(&scratch.row_sets[*from].nulls);
                scratch.flags = flags;
                scratch.row_sets[*row_set] = list;
            }
            Self::Generate { register, .. }
            | Self::NumberIn { register, .. }
            | Self::ChildPosition { register, .. }
            | Self::RowNumber { register, .. }
            | Self::CountOf { register, .. }
            | Self::SumOf { register, .. }
            | Self::Store { register, .. }
            | Self::Apply { register, .. }
            | Self::Copy { register, .. } => {
                let mut out = std::mem::take(&mut scratch.blocks[*register]);
                self.fill(rows, scratch, &mut out);
                scratch.blocks[*register] = out;
            }
        }
    }

    /// Fills the register of an operation that fills one.
    fn fill(&self, rows: &Rows<'_>, scratch: &mut Scratch, out: &mut CellBlock) {
        let count = rows.len();
        match self {
            Self::Generate { generator, random, row_set, .. } => {
                generator.fill(random, &scratch.rows(rows, *row_set), out);
                mark(&scratch.row_sets[*row_set].nulls, out.nulls_mut());
            }
            Self::ChildPosition { field, row_set, .. } => {
                let list = &scratch.row_sets[*row_set];
                out.ints().extend(list.positions.iter().map(|position| position.value(*field)));
                mark(&list.nulls, out.nulls_mut());
            }
            Self::NumberIn { numbers, row_set, of, .. } => {
                numbers.fill(&scratch.rows(rows, *row_set), out);
                mark(&scratch.row_sets[*of].nulls, out.nulls_mut());
            }
            Self::RowNumber { row_set, .. } => {
                let list = &scratch.row_sets[*row_set];
                out.ints().extend(list.rows.iter().map(|row| row.cast_signed()));
                mark(&list.nulls, out.nulls_mut());
            }
            Self::CountOf { count: counts, row_set, .. } => {
                counts.fill(&scratch.rows(rows, *row_set), out);
                mark(&scratch.row_sets[*row_set].nulls, out.nulls_mut());
            }
            Self::SumOf { sum, scratch: memory, row_set, .. } => {
                let mut child_sums = std::mem::take(&mut scratch.child_sums);
                sum.fill(&scratch.rows(rows, *row_set), &mut child_sums[*memory], out);
                mark(&scratch.row_sets[*row_set].nulls, out.nulls_mut());
                scratch.child_sums = child_sums;
            }
            Self::Store { from, affinity, register } => {
                scratch.is_as_stored[*register] = stored(&scratch.blocks[*from], *affinity, count, out).is_none();
            }
            Self::Apply { operator, operands, affinities, .. } => {
                // Most operators have few operands; CASE and IN may have many.
                let operands: Vec<Operand<'_>> = operands.iter().map(|input| scratch.operand(input)).collect();
                apply(*operator, &operands, affinities, count, out);
            }
            Self::Copy { from, .. } => match scratch.operand(from) {
                Operand::Block(block) => out.copy_from(block),
                Operand::Constant(value) => out.values().resize(count, value.clone()),
            },
            Self::Refer { .. } | Self::Roots { .. } | Self::Replace { .. } | Self::Link { .. } | Self::Null { .. } => {}
        }
    }
}

impl Nulls {
    /// Sets a flag for each of these rows that is NULL.
    fn fill(&self, rows: &Rows<'_>, flags: &mut Vec<bool>) {
        fill_flags(self.share, self.levels, &self.random, rows, flags);
    }
}

impl Without {
    /// Sets a flag for each of these rows that refers to nothing.
    fn fill(&self, rows: &Rows<'_>, row_sets: &[RowList], flags: &mut Vec<bool>) {
        flags.clear();
        if self.rows > 0 || self.other.is_some() || self.children.is_some() {
            let count = |row: u64| self.children.as_ref().map_or(0, |children| children.of(row));
            rows.append_to(flags, |row| row < self.rows || count(row) > 0);
        }
        if let Some(other) = self.other {
            let nulls = &row_sets[other].nulls;
            let is_null = |at: usize| nulls.get(at).is_some_and(|&null| null);
            flags.iter_mut().enumerate().for_each(|(at, flag)| *flag |= !is_null(at));
        }
    }
}

/// Sets further rows to NULL.
fn mark(more: &[bool], nulls: &mut Vec<bool>) {
    if more.contains(&true) {
        nulls.resize(more.len(), false);
        nulls.iter_mut().zip(more).for_each(|(null, &more)| *null |= more);
    }
}
