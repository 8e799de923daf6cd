//! Compiles references to row sets.

use super::{ColumnExpr, Compiler, Reference};
use crate::generators::{Cardinality, Kinds, ValueProperties};
use crate::program::{ChildCount, Members, Nulls, Op, Program, Repeats, Without};
use crate::relation::{Assignment, FanOut};
use litepress_rows::Result;
use std::sync::Arc;

pub(super) const TOO_MANY: &str =
    "within, last_of, next_of, distinct=TRUE and number_in without per_parent are for tables of fewer than 2^32 rows";

/// Properties of row numbers, and of numbers of rows.
pub(super) const ROW_NUMBERS: ValueProperties = ValueProperties {
    kinds: Kinds::INT,
    longest_bytes: 8,
    cardinality: Cardinality::Among { values: u64::MAX },
    null_share: 0.0,
    cycle: None,
};

/// Returns the message that a path of columns ends at this one.
fn no_column(name: &str) -> String {
    format!("there is no column '{name}' in a row that the column refers to, or it is not a ref(...)")
}

impl<'p> Compiler<'p, '_> {
    /// Compiles a reference. Returns the row set of the parents.
    pub(super) fn relation(&mut self, row_set: usize, column: usize) -> Result<usize> {
        let table = self.row_sets[row_set];
        let leader = self.drafts.leader((table, column));
        if let Some(&known) = self.relations.get(&(row_set, leader)) {
            return Ok(known);
        }
        let (reference, nulls) = self.reference_with_nulls(row_set, leader);
        self.reject_two_leaders(table, column, leader)?;
        if self.referring.contains(&(table, leader)) {
            return Err(self.error_in(row_set, leader, reference.at, "the choice of this row depends on itself"));
        }
        self.referring.push((table, leader));
        let mut to = match reference.relation.assignment {
            Assignment::Along { column: other, .. } => self.members_of(row_set, leader, (reference, &nulls), other)?,
            _ => self.refer(row_set, leader, (reference, nulls))?,
        };
        if !reference.through.is_empty() {
            self.members.insert((row_set, leader), to);
        }
        for (at, &(_, by)) in reference.through.iter().enumerate() {
            self.check_through(row_set, leader, reference, at)?;
            to = self.relation(to, by)?;
        }
        if let Some(other) = reference.relation.assignment.apart_from().filter(|_| !self.may_repeat) {
            to = self.without_repeats(row_set, (leader, to), (reference, other))?;
        }
        self.referring.pop();
        self.relations.insert((row_set, leader), to);
        if matches!(reference.relation.assignment, Assignment::InTurn { first: Some(_), second: 0, .. })
            && reference.parent == table
        {
            self.roots.push((to, leader));
        }
        Ok(to)
    }

    /// Replaces rows of a set so that no two rows of the table refer to the same rows through a column and another one. Returns
    /// the new row set.
    fn without_repeats(
        &mut self,
        row_set: usize,
        (column, of): (usize, usize),
        (reference, other): (&Reference, usize),
    ) -> Result<usize> {
        let table = self.row_sets[row_set];
        let sizes = self.drafts.sizes;
        let Some(of_other) = self.drafts.reference((table, other)).map(|of| of.parent) else {
            return Err(self.error_in(row_set, column, reference.at, "apart needs a column that is a ref(...)"));
        };
        let tables = [of_other, reference.parent];
        if tables.iter().any(|&table| sizes[table].rows > Members::MOST_ROWS) {
            return Err(self.error_in(row_set, column, reference.at, TOO_MANY));
        }
        let program = self.rows_of(table, &[other, column], true)?;
        let random = self.random(row_set, column, None);
        let mut repeats = Repeats::new(program, sizes[table].rows, sizes[reference.parent].rows, random);
        repeats.is_other = matches!(reference.relation.assignment, Assignment::OtherThan { .. });
        let repeats = Box::new(repeats);
        let to = self.new_row_set(reference.parent);
        self.program.ops.push(Op::Replace { repeats, from: row_set, of, row_set: to });
        Ok(to)
    }

    /// Compiles a program of the numbers of the rows that columns of a table refer to.
    pub(super) fn rows_of(&self, table: usize, columns: &[usize], may_repeat: bool) -> Result<Program> {
        let mut compiler = Compiler::new(self.drafts, table);
        compiler.may_repeat = may_repeat;
        compiler.referring = if may_repeat { Vec::new() } else { self.referring.clone() };
        for &column in columns {
            compiler.add_row_numbers((0, column))?;
        }
        Ok(compiler.program)
    }

    /// Adds a column to the program: the numbers of the rows that a column refers to.
    fn add_row_numbers(&mut self, (row_set, column): (usize, usize)) -> Result<()> {
        let row_set = self.relation(row_set, column)?;
        let register = self.register(ROW_NUMBERS);
        self.program.ops.push(Op::RowNumber { row_set, register });
        self.program.columns.push(register);
        Ok(())
    }

    /// Compiles a path of columns from row to row. Returns the row set of its last rows, and the column there; `None` if a row has no
    /// such column, or it refers to nothing.
    fn end_of_path(
        &mut self,
        (mut row_set, mut column): (usize, usize),
        path: &[String],
    ) -> Result<Option<(usize, usize)>> {
        for name in path {
            let of = self.drafts.reference((self.row_sets[row_set], column)).map(|of| of.parent);
            let Some(next) = of.and_then(|of| self.drafts.schema.tables[of].column(name)) else { return Ok(None) };
            (row_set, column) = (self.relation(row_set, column)?, next);
        }
        let is_reference = self.drafts.reference((self.row_sets[row_set], column)).is_some();
        Ok(is_reference.then_some((row_set, column)))
    }

    /// Returns the row set of the rows that a column, or the end of a path of columns from the row that it refers to, refers to, and
    /// the rows of another table that refer to each of them in the same way.
    fn groups(
        &mut self,
        row_set: usize,
        leader: usize,
        (reference, column, path): (&Reference, usize, &[String]),
        (of_table, of_column, of_path): (usize, usize, &[String]),
    ) -> Result<(usize, Arc<Members>)> {
        let mut members = Compiler::new(self.drafts, of_table);
        members.referring.clone_from(&self.referring);
        let ends = [self.end_of_path((row_set, column), path)?, members.end_of_path((0, of_column), of_path)?];
        for (end, path) in ends.iter().zip([path, of_path]) {
            if let Some(name) = path.last().filter(|_| end.is_none()) {
                return Err(self.error_in(row_set, leader, reference.at, &no_column(name)));
            }
        }
        let group = |compiler: &Self, (rows, column): (usize, usize)| {
            compiler.drafts.reference((compiler.row_sets[rows], column)).map(|of| of.parent)
        };
        let [own, other] = ends;
        let ends = own.zip(other).filter(|(one, other)| group(self, *one) == group(&members, *other));
        let Some((groups, end)) = ends.filter(|_| of_table == reference.parent) else {
            let message =
                "within needs a column of the table that it refers to, which refers to the same table as the other one";
            return Err(self.error_in(row_set, leader, reference.at, message));
        };
        let [rows, parents] =
            [of_table, group(self, groups).unwrap_or(of_table)].map(|table| self.drafts.sizes[table].rows);
        if rows.max(parents) > Members::MOST_ROWS {
            return Err(self.error_in(row_set, leader, reference.at, TOO_MANY));
        }
        members.add_row_numbers(end)?;
        Ok((self.relation(groups.0, groups.1)?, Arc::new(Members::new(members.program, rows, parents))))
    }

    /// Compiles the choice of rows of a reference. Returns their row set.
    fn refer(&mut self, row_set: usize, leader: usize, (reference, nulls): (&Reference, Vec<Nulls>)) -> Result<usize> {
        let mut others = [self.siblings(row_set, leader, reference)?, None];
        let unless = reference.unless.map(|unless| self.place_of(row_set, leader, reference, unless)).transpose()?;
        let random = self.random(row_set, leader, None);
        let mut relation = reference.relation.clone();
        match &mut relation.assignment {
            Assignment::OtherThan { column: other, each, .. } => {
                *each = self.turns_of(self.row_sets[row_set], *other);
            }
            Assignment::Among { column: other, name, fan_out, .. } => {
                let mut group = (self.row_sets[row_set], *other);
                if let Some(name) = name {
                    let (found, of) = self.column_in(row_set, leader, reference, (*other, name))?;
                    (group, others[1]) = (found, Some(of));
                }
                *fan_out = Some(self.numbers_of_members(row_set, leader, reference, group)?);
            }
            Assignment::Within { column, path, of: (table, of, of_path), members, .. } => {
                let of = (*table, *of, &of_path[..]);
                let (groups, found) = self.groups(row_set, leader, (reference, *column, path), of)?;
                (others[1], *members) = (Some(groups), Some(found));
            }
            Assignment::DistinctIn { column, first: Some(first), .. } => {
                let (found, of) = self.column_in(row_set, leader, reference, (*column, first))?;
                if self.drafts.reference(found).is_none_or(|of| of.parent != reference.parent) {
                    let message = "first needs a column that is a ref(...) to the same table";
                    return Err(self.error_in(row_set, leader, reference.at, message));
                }
                others[1] = Some(of);
            }
            _ => {}
        }
        let from = match reference.root {
            Some(root) => self.roots(row_set, leader, (reference, root))?,
            None => row_set,
        };
        let to = self.new_row_set(reference.through.first().map_or(reference.parent, |(table, _)| *table));
        let count = |child: (usize, usize)| {
            let program = self.children_through(row_set, leader, child, ("childless", reference.at))?;
            let [children, parents] = [child.0, self.row_sets[row_set]].map(|table| self.drafts.sizes[table].rows);
            Result::Ok(Box::new(ChildCount::new(program, children, parents)))
        };
        let without =
            Without { other: unless, children: reference.childless.map(count).transpose()?, rows: reference.after };
        self.program.ops.push(Op::Refer { relation, random, from, others, nulls, without, row_set: to });
        Ok(to)
    }

    /// Returns a column of this name in the rows that another column refers to, and the row set of what it refers to.
    fn column_in(
        &mut self,
        row_set: usize,
        leader: usize,
        reference: &Reference,
        (column, name): (usize, &str),
    ) -> Result<((usize, usize), usize)> {
        let parent = self.drafts.reference((self.row_sets[row_set], column)).map(|of| of.parent);
        let found = parent.and_then(|parent| Some((parent, self.drafts.schema.tables[parent].column(name)?)));
        let Some(found) = found.filter(|of| self.drafts.reference(*of).is_some()) else {
            return Err(self.error_in(row_set, leader, reference.at, &no_column(name)));
        };
        let rows = self.relation(row_set, column)?;
        Ok((found, self.relation(rows, found.1)?))
    }

    /// Returns the row set of the column that may refer to a row in the place of a reference.
    fn place_of(&mut self, row_set: usize, leader: usize, reference: &Reference, unless: usize) -> Result<usize> {
        if self.drafts.reference((self.row_sets[row_set], unless)).is_none() {
            return Err(self.error_in(row_set, leader, reference.at, "unless needs a column that is a ref(...)"));
        }
        self.relation(row_set, unless)
    }

    /// Returns the row set of the other table's rows that another column goes through.
    fn members_of(
        &mut self,
        row_set: usize,
        leader: usize,
        (reference, nulls): (&Reference, &[Nulls]),
        other: usize,
    ) -> Result<usize> {
        let table = self.row_sets[row_set];
        let of = self.drafts.reference((table, other));
        let is_along = |of: &Reference| matches!(of.relation.assignment, Assignment::Along { .. });
        let through = of.filter(|of| !is_along(of)).and_then(|of| of.through.first());
        let wanted = reference.through.first().map(|(table, _)| *table);
        let is_through = through.is_some_and(|(table, _)| Some(*table) == wanted);
        let is_direct = of.is_some_and(|of| Some(of.parent) == wanted);
        if !nulls.is_empty() || reference.is_left_out() || !is_through && !is_direct {
            let message = "along needs a column that goes through the same table by via or among, or refers to it, and no null or unless beside it";
            return Err(self.error_in(row_set, leader, reference.at, message));
        }
        let to = self.relation(row_set, other)?;
        Ok(if is_direct { to } else { self.members[&(row_set, self.drafts.leader((table, other)))] })
    }

    /// Adds a row set of rows of a table. Returns it.
    pub(super) fn new_row_set(&mut self, table: usize) -> usize {
        self.row_sets.push(table);
        self.program.row_sets += 1;
        self.program.row_sets - 1
    }

    /// Returns the reference that a leading column is, and the NULLs around it.
    fn reference_with_nulls(&self, row_set: usize, leader: usize) -> (&'p Reference, Vec<Nulls>) {
        let mut nulls = Vec::new();
        let mut expr = &self.drafts.draft((self.row_sets[row_set], leader)).expr;
        while let ColumnExpr::Null { share, purpose, inner } = expr {
            let (random, levels) = (self.random(row_set, leader, *purpose), inner.null_levels());
            nulls.push(Nulls { share: *share, levels, random });
            expr = inner;
        }
        let ColumnExpr::Reference(reference) = expr else { unreachable!("a leader is a reference") };
        (reference, nulls)
    }

    /// Returns the row set of the other column that a reference depends on.
    fn siblings(&mut self, row_set: usize, leader: usize, reference: &Reference) -> Result<Option<usize>> {
        let other = match reference.relation.assignment {
            Assignment::SharedIn { column, ref path } => {
                let Some((rows, column)) = self.end_of_path((row_set, column), path)? else {
                    let message = match path.last() {
                        Some(name) => no_column(name),
                        None => "shared_in needs a column that is a ref(...)".to_owned(),
                    };
                    return Err(self.error_in(row_set, leader, reference.at, &message));
                };
                return Ok(Some(self.relation(rows, column)?));
            }
            Assignment::DistinctIn { column: other, .. } => {
                self.check_distinct_in(row_set, leader, reference, other)?;
                other
            }
            Assignment::OtherThan { column: other, .. } => {
                self.check_other_than(row_set, leader, reference, other)?;
                other
            }
            Assignment::Popular { by: Some(other), .. } | Assignment::Within { by: Some(other), .. } => {
                self.fan_out_in(row_set, leader, (reference.at, "by"), other)?;
                other
            }
            Assignment::Among { column: other, .. } => {
                let of = self.drafts.reference((self.row_sets[row_set], other)).map(|of| &of.relation.assignment);
                if of.is_none_or(|of| {
                    matches!(of, Assignment::Among { .. } | Assignment::Along { .. } | Assignment::OtherThan { .. })
                }) {
                    let message = "among needs a column that is a ref(...) without among, along and other_than";
                    return Err(self.error_in(row_set, leader, reference.at, message));
                }
                other
            }
            _ => return Ok(None),
        };
        Ok(Some(self.relation(row_set, other)?))
    }

    /// Returns the numbers of rows, in the table that `among` goes through, that refer to each row of the column's parent.
    fn numbers_of_members(
        &self,
        row_set: usize,
        column: usize,
        reference: &Reference,
        group: (usize, usize),
    ) -> Result<Arc<FanOut>> {
        let of = self.drafts.reference(group).expect("it is checked").parent;
        let (through, _) = *reference.through.first().expect("among goes through a table");
        let found = self.children_of(of, through);
        found.map(|(_, fan_out)| fan_out).ok_or_else(|| {
            let tables = &self.drafts.schema.tables;
            let message = format!(
                "among needs a column of {} that is ref({}.key, per_parent(...))",
                tables[through].name, tables[of].name
            );
            self.error_in(row_set, column, reference.at, &message)
        })
    }

    /// Checks that a column that a reference goes through refers to the next table on its way.
    fn check_through(&self, row_set: usize, column: usize, reference: &Reference, at: usize) -> Result<()> {
        let (through, by) = reference.through[at];
        let next = reference.through.get(at + 1).map_or(reference.parent, |(table, _)| *table);
        let is_plain = |of: &Reference| of.parent == next;
        if through != self.row_sets[row_set] && self.drafts.reference((through, by)).is_some_and(is_plain) {
            return Ok(());
        }
        let tables = &self.drafts.schema.tables;
        let (table, parent) = (&tables[through], &tables[next].name);
        let message = format!("{}.{} is not ref({parent}.key)", table.name, table.columns[by].name);
        Err(self.error_in(row_set, column, reference.at, &message))
    }

    /// Compiles the first rows of the threads of a row set. Returns their row set.
    fn roots(&mut self, row_set: usize, column: usize, (reference, root): (&Reference, usize)) -> Result<usize> {
        let table = self.row_sets[row_set];
        let of = self.drafts.reference((table, root));
        if of.is_none_or(|of| {
            of.unless.is_some()
                || of.after > 0
                || !of.relation.is_to_earlier()
                || self.drafts.leader((table, root)) != root
        }) {
            let message = "root needs a column that is a ref(...) to earlier rows of the table, without unless";
            return Err(self.error_in(row_set, column, reference.at, message));
        }
        let (of, nulls) = self.reference_with_nulls(row_set, root);
        let (relation, random, to) = (of.relation.clone(), self.random(row_set, root, None), self.new_row_set(table));
        self.program.ops.push(Op::Roots { relation, random, from: row_set, nulls, row_set: to });
        Ok(to)
    }

    fn reject_two_leaders(&self, table: usize, column: usize, leader: usize) -> Result<()> {
        let reference = self.drafts.reference((table, column)).filter(|_| column != leader);
        let Some(reference) = reference.filter(|reference| !reference.relation.assignment.is_default()) else {
            return Ok(());
        };
        let leader = &self.drafts.schema.tables[table].columns[leader].name;
        let message = format!("the columns of a foreign key refer to one row, which {leader} already chooses");
        Err(self.drafts.draft((table, column)).error_at(self.drafts.schema, (table, column), reference.at, message))
    }

    /// Checks that the column named in `distinct_in` has `per_parent`, and that there are enough parents.
    fn check_distinct_in(&self, row_set: usize, column: usize, reference: &Reference, other: usize) -> Result<()> {
        let table = self.row_sets[row_set];
        let fan_out = self.fan_out_in(row_set, column, (reference.at, "distinct_in"), other)?;
        let excludes_own = matches!(reference.relation.assignment, Assignment::DistinctIn { other: true, .. });
        let is_alike = self.drafts.reference((table, other)).is_some_and(|of| of.parent == reference.parent);
        if excludes_own && !is_alike {
            let message = "distinct_in with other=TRUE needs a column that is a ref(...) to the same table";
            return Err(self.error_in(row_set, column, reference.at, message));
        }
        let choices = reference.relation.parents.saturating_sub(u64::from(excludes_own));
        if fan_out.most() > choices {
            let message = format!(
                "{} rows refer to one row through {}, and there are {choices} to choose from",
                fan_out.most(),
                self.drafts.schema.tables[table].columns[other].name,
            );
            return Err(self.error_in(row_set, column, reference.at, &message));
        }
        Ok(())
    }

    /// Returns the numbers of children of a column that has `per_parent`, which the call of this name needs.
    fn fan_out_in(
        &self,
        row_set: usize,
        column: usize,
        (at, call): (usize, &str),
        other: usize,
    ) -> Result<&'p Arc<FanOut>> {
        let table = self.row_sets[row_set];
        match self.drafts.reference((table, other)).map(|reference| &reference.relation.assignment) {
            Some(Assignment::PerParent(fan_out)) => Ok(fan_out),
            _ => {
                let message = format!("{call} needs a column that is ref(parent.key, per_parent(...))");
                Err(self.error_in(row_set, column, at, &message))
            }
        }
    }

    /// Checks that the column named in `other_than` refers to the same table, and that there is another row.
    fn check_other_than(&self, row_set: usize, column: usize, reference: &Reference, other: usize) -> Result<()> {
        let of = self.drafts.reference((self.row_sets[row_set], other));
        let is_alike = of.is_some_and(|of| {
            of.parent == reference.parent
                && !matches!(of.relation.assignment, Assignment::OtherThan { .. } | Assignment::DistinctIn { .. })
        });
        let message = match is_alike {
            false => "other_than needs a column that is a ref(...) to the same table",
            true if reference.relation.parents < 2 => "there is no other row: the parent table has one row",
            true => return Ok(()),
        };
        Err(self.error_in(row_set, column, reference.at, message))
    }

    /// Returns `each` of a column that is `in_turn(each)`, if the parents are more than that.
    pub(super) fn turns_of(&self, table: usize, column: usize) -> Option<u64> {
        let relation = &self.drafts.reference((table, column))?.relation;
        match relation.assignment {
            Assignment::InTurn { each, first: None, .. } if each < relation.parents => Some(each),
            _ => None,
        }
    }
}
