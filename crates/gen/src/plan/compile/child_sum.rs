//! Compiles sums over the children of a row.

use super::{ColumnExpr, CompiledExpr, Compiler};
use crate::generators::{Cardinality, Kinds, ValueProperties};
use crate::program::{ChildSum, Op};
use crate::relation::FanOut;
use litepress_rows::Result;
use std::sync::Arc;

impl Compiler<'_, '_> {
    /// Compiles the sum of an expression over the rows of another table that refer to the rows of a set.
    pub(super) fn sum_of(
        &mut self,
        row_set: usize,
        column: usize,
        (child, expression): (usize, &ColumnExpr),
        at: usize,
    ) -> Result<CompiledExpr> {
        let table = self.row_sets[row_set];
        let Some((by, fan_out)) = self.children_of(table, child) else {
            let tables = &self.drafts.schema.tables;
            let message = format!(
                "sum_of needs a column of {} that is ref({}.key, per_parent(...))",
                tables[child].name, tables[table].name
            );
            return Err(self.error_in(row_set, column, at, &message));
        };
        // A child that needs the sum again is found by the path.
        let mut compiler = Compiler { path: self.path.clone(), ..Compiler::new(self.drafts, child) };
        let summed = compiler.expression(0, by, expression)?;
        let register = compiler.own_register(&summed);
        compiler.program.columns.push(register);
        let is_integer = summed.properties.kinds == Kinds::INT;
        let properties = ValueProperties {
            kinds: if is_integer { Kinds::INT } else { Kinds::REAL },
            longest_bytes: 8,
            cardinality: Cardinality::Among { values: u64::MAX },
            null_share: 0.0,
            cycle: None,
        };
        let children = self.drafts.sizes[child].rows;
        let sum = Box::new(ChildSum { fan_out, children, program: compiler.program, is_integer });
        let (scratch, register) = (self.program.child_sums().count(), self.register(properties));
        self.program.ops.push(Op::SumOf { sum, scratch, row_set, register });
        Ok(CompiledExpr::in_register(register, properties))
    }

    /// Returns the column through which consecutive rows of a table refer to each row of another one, and their numbers.
    pub(super) fn children_of(&self, parent: usize, child: usize) -> Option<(usize, Arc<FanOut>)> {
        let mut columns = self.drafts.columns[child].iter().enumerate();
        let found = columns.find_map(|(at, draft)| Some((at, draft.as_ref()?.expr.fan_out_of(parent)?.clone())));
        found.filter(|_| parent != child)
    }
}
