//! Compiles numbers of rows that refer to a row.

use super::relations::ROW_NUMBERS;
use super::{CompiledExpr, Compiler};
use crate::program::{ChildCount, Op};
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
        let table = self.row_sets[row_set];
        if self.drafts.reference((child, by)).is_none_or(|reference| reference.parent != table) {
            let (of, parent) = (&self.drafts.schema.tables[child], &self.drafts.schema.tables[table].name);
            let message =
                format!("count_of needs a column that is ref({parent}.key), and {} is not", of.columns[by].name);
            return Err(self.error_in(row_set, column, at, &message));
        }
        let program = self.rows_of(child, &[by], false)?;
        let [children, parents] = [child, table].map(|table| self.drafts.sizes[table].rows);
        let count = Box::new(ChildCount::new(program, children, parents));
        let register = self.register(ROW_NUMBERS);
        self.program.ops.push(Op::CountOf { count, row_set, register });
        Ok(CompiledExpr::in_register(register, ROW_NUMBERS))
    }
}
