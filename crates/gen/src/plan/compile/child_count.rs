//! Compiles numbers of rows that refer to a row, and values of the last one of them.

use super::relations::{ROW_NUMBERS, TOO_MANY};
use super::{CompiledExpr, Compiler, with_nulls};
use crate::generators::{Cardinality, ValueProperties};
use crate::program::{ChildCount, ChildNumbers, Link, LinkedRows, Members, Op, Program};
use crate::relation::PositionField;
use litepress_rows::Result;

impl Compiler<'_, '_> {
    /// Compiles the number of rows of a table that refer to the rows of a set through a column.
    pub(super) fn count_of(
        &mut self,
        row_set: usize,
        column: usize,
        (child, by): (usize, usize),
        at: usize,
    ) -> Result<CompiledExpr> {
        let program = self.children_through(row_set, column, (child, by), ("count_of", at))?;
        let [children, parents] = [child, self.row_sets[row_set]].map(|table| self.drafts.sizes[table].rows);
        let count = Box::new(ChildCount::new(program, children, parents));
        let register = self.register(ROW_NUMBERS);
        self.program.ops.push(Op::CountOf { count, row_set, register });
        Ok(CompiledExpr::in_register(register, ROW_NUMBERS))
    }

    /// Compiles the positions of rows among those with the same parent through the column `by`, whose rows are not consecutive.
    pub(super) fn counted_position(
        &mut self,
        row_set: usize,
        column: usize,
        field: PositionField,
        (by, at): (usize, usize),
    ) -> Result<CompiledExpr> {
        let call = match field {
            PositionField::Ordinal => "number_in",
            PositionField::Count => "count_in",
        };
        let table = self.row_sets[row_set];
        let parent = self.counted_parent(row_set, column, (by, at), call)?;
        let [rows, parents] = [table, parent].map(|table| self.drafts.sizes[table].rows);
        let program = self.rows_of(table, &[by], false)?;
        let of = self.relation(row_set, by)?;
        let register = self.register(ROW_NUMBERS);
        self.program.ops.push(match field {
            PositionField::Ordinal => {
                let numbers = Box::new(ChildNumbers::new(program, rows, parents));
                Op::NumberIn { numbers, row_set, of, register }
            }
            PositionField::Count => {
                Op::CountOf { count: Box::new(ChildCount::new(program, rows, parents)), row_set: of, register }
            }
        });
        Ok(CompiledExpr::in_register(register, ROW_NUMBERS))
    }

    /// Compiles a value of the last row of a table that refers to the rows of a set through a column, or one to which a path leads
    /// from there.
    pub(super) fn last_of(
        &mut self,
        row_set: usize,
        column: usize,
        (child, by, value): (usize, usize, &[String]),
        at: usize,
    ) -> Result<CompiledExpr> {
        let program = self.children_through(row_set, column, (child, by), ("last_of", at))?;
        let [children, parents] = [child, self.row_sets[row_set]].map(|table| self.drafts.sizes[table].rows);
        if children > Members::MOST_ROWS {
            return Err(self.error_in(row_set, column, at, TOO_MANY));
        }
        let linked = Box::new(LinkedRows::new(Link::LastChild, program, children, parents));
        let mut of = self.new_row_set(child);
        self.program.ops.push(Op::Link { linked, from: row_set, row_set: of });
        let (name, steps) = value.split_last().expect("a value has a name");
        for step in steps {
            let step = self.step(of, step).map_err(|message| self.error_in(row_set, column, at, &message))?;
            of = self.rows_after(of, &step)?;
        }
        let table = self.row_sets[of];
        let target = self.drafts.schema.tables[table].column(name);
        let Some(target) = target.filter(|&target| self.drafts.columns[table][target].is_some()) else {
            let message = format!("table {} has no such column '{name}'", self.drafts.schema.tables[table].name);
            return Err(self.error_in(row_set, column, at, &message));
        };
        self.linked_value(of, target)
    }

    /// Compiles a value of the next row that refers to the same row through the column `by`.
    pub(super) fn next_of(
        &mut self,
        row_set: usize,
        column: usize,
        (by, value): (usize, usize),
        at: usize,
    ) -> Result<CompiledExpr> {
        let table = self.row_sets[row_set];
        let parent = self.counted_parent(row_set, column, (by, at), "next_of")?;
        let [rows, parents] = [table, parent].map(|table| self.drafts.sizes[table].rows);
        let program = self.rows_of(table, &[by], false)?;
        let linked = Box::new(LinkedRows::new(Link::NextSibling, program, rows, parents));
        let of = self.new_row_set(table);
        self.program.ops.push(Op::Link { linked, from: row_set, row_set: of });
        self.linked_value(of, value)
    }

    /// Compiles a value of linked rows, of which some are no rows.
    fn linked_value(&mut self, row_set: usize, column: usize) -> Result<CompiledExpr> {
        /// An estimate of the share of rows without another one.
        const NULLS: f64 = 0.5;
        let part = self.stored(row_set, column)?;
        let cardinality = Cardinality::Among { values: part.properties.cardinality.at_most() };
        let properties = with_nulls(ValueProperties { cardinality, cycle: None, ..part.properties }, NULLS);
        Ok(CompiledExpr { properties, ..part })
    }

    /// Returns the table that the rows of a set refer to through a column, if they can be counted.
    fn counted_parent(&self, row_set: usize, column: usize, (by, at): (usize, usize), call: &str) -> Result<usize> {
        let table = self.row_sets[row_set];
        let Some(parent) = self.drafts.reference((table, by)).map(|reference| reference.parent) else {
            return Err(self.error_in(row_set, column, at, &format!("{call} needs a column that is ref(parent.key)")));
        };
        if self.drafts.sizes[table].rows > Members::MOST_ROWS {
            return Err(self.error_in(row_set, column, at, TOO_MANY));
        }
        Ok(parent)
    }

    /// Compiles a program of the numbers of the rows of a set's table that the rows of another one refer to through a column.
    pub(super) fn children_through(
        &self,
        row_set: usize,
        column: usize,
        (child, by): (usize, usize),
        (call, at): (&str, usize),
    ) -> Result<Program> {
        let table = self.row_sets[row_set];
        if self.drafts.reference((child, by)).is_none_or(|reference| reference.parent != table) {
            let (of, parent) = (&self.drafts.schema.tables[child], &self.drafts.schema.tables[table].name);
            let message =
                format!("{call} needs a column that is ref({parent}.key), and {} is not", of.columns[by].name);
            return Err(self.error_in(row_set, column, at, &message));
        }
        self.rows_of(child, &[by], false)
    }
}
