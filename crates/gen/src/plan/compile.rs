//! Compiles resolved expressions to programs: columns in topological order, each computed once.

mod child_count;
mod child_sum;
mod relations;

use super::ColumnDraft;
use super::properties::{operation_properties, stored_kinds, value_properties, with_nulls};
use super::resolve::{ColumnExpr, Reference};
use super::table_sizes::TableSize;
use crate::generators::{Cardinality, Cycle, Kinds, ValueProperties};
use crate::program::{Input, Nulls, Op, Program};
use crate::random::CellRandom;
use crate::relation::{Assignment, PositionField, Relation};
use crate::suggest::did_you_mean;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::Schema;
use litepress_rows::{Affinity, Error, Result};
use std::collections::HashMap;

/// The drafts of all tables' columns.
#[derive(Clone, Copy)]
pub(super) struct ColumnDrafts<'p, 'a> {
    pub schema: &'a Schema,
    pub sizes: &'p [TableSize],
    pub columns: &'p [Vec<Option<ColumnDraft<'a>>>],
}

/// A compiled table: its program, and the properties of its ordinary columns, by position.
pub(super) struct CompiledTable {
    pub program: Program,
    pub properties: HashMap<usize, ValueProperties>,
    pub referenced: HashMap<usize, ReferencedRows>,
}

/// The rows that a column refers to.
#[derive(Clone, Debug)]
pub(super) struct ReferencedRows {
    /// The leading column, which decides for all columns of the foreign key.
    pub leader: usize,
    /// Properties of a column that identifies the row: the number of rows, and how they repeat.
    pub properties: ValueProperties,
    /// A column within whose equal values no two rows refer to the same row.
    pub apart_in: Option<usize>,
}

impl<'p, 'a> ColumnDrafts<'p, 'a> {
    fn draft(&self, (table, column): (usize, usize)) -> &'p ColumnDraft<'a> {
        self.columns[table][column].as_ref().expect("the column is planned")
    }

    /// Returns the reference that a column is.
    pub(super) fn reference(&self, (table, column): (usize, usize)) -> Option<&'p Reference> {
        self.columns[table][column].as_ref()?.expr.reference()
    }

    /// Returns the leading column of a column's foreign key. All columns of one foreign key refer to the same row;
    /// the leading one is the first with a distribution, or the first of all.
    pub(super) fn leader(&self, (table, column): (usize, usize)) -> usize {
        let of_table = &self.schema.tables[table];
        let Some(parent) = self.reference((table, column)).map(|reference| reference.parent) else { return column };
        let refers_to_parent =
            |&&column: &&usize| self.reference((table, column)).is_some_and(|reference| reference.parent == parent);
        let keys = of_table.foreign_keys.iter().filter(|key| key.columns.contains(&column));
        let key =
            keys.filter(|key| self.schema.position(&key.parent) == Some(parent)).max_by_key(|key| key.columns.len());
        let Some(key) = key else { return column };
        let mut columns = key.columns.iter().filter(refers_to_parent);
        let has_distribution = |&&column: &&usize| {
            self.reference((table, column)).is_some_and(|reference| !reference.relation.assignment.is_default())
        };
        let first = columns.clone().next().copied();
        columns.find(has_distribution).copied().or(first).unwrap_or(column)
    }
}

/// Compiles the columns of a table.
pub(super) fn compile(drafts: ColumnDrafts<'_, '_>, table: usize) -> Result<CompiledTable> {
    let mut compiler = Compiler::new(drafts, table);
    let (mut properties, mut referenced) = (HashMap::new(), HashMap::new());
    for (column, draft) in drafts.columns[table].iter().enumerate() {
        if draft.is_some() {
            let compiled = compiler.column(0, column)?;
            compiler.program.columns.push(compiled.register);
            properties.insert(column, compiled.properties);
            referenced.extend(compiler.referenced(column)?.map(|referenced| (column, referenced)));
        }
    }
    Ok(CompiledTable { program: compiler.program, properties, referenced })
}

/// The compiler of one table.
struct Compiler<'p, 'a> {
    drafts: ColumnDrafts<'p, 'a>,
    program: Program,
    /// The table of each row set.
    row_sets: Vec<usize>,
    /// Compiled columns, by row set and column.
    columns: HashMap<(usize, usize), ColumnRegister>,
    /// Registers of stored columns, by row set and column.
    stored: HashMap<(usize, usize), usize>,
    /// Row sets of references, by row set and leading column.
    relations: HashMap<(usize, usize), usize>,
    /// Row sets of the other tables' rows that references go through, by row set and leading column.
    members: HashMap<(usize, usize), usize>,
    /// Columns under compilation, outermost first, by table and position, and whether their rows are roots.
    path: Vec<(usize, usize, bool)>,
    /// References under compilation, by table and leading column.
    referring: Vec<(usize, usize)>,
    /// Row sets of roots, which refer to nothing through this column.
    roots: Vec<(usize, usize)>,
    /// Whether pairs that must be distinct are compiled as they are at first.
    may_repeat: bool,
}

/// A step of a path from row to row.
struct Step {
    /// The column that refers to the next row.
    by: usize,
    /// The leading column of its foreign key.
    leader: usize,
    /// The table of the next row.
    to: usize,
    /// Whether the next row is the one through which the column refers to its own.
    is_halfway: bool,
}

/// The register of a compiled column.
#[derive(Clone, Copy)]
struct ColumnRegister {
    register: usize,
    properties: ValueProperties,
}

/// The value of a compiled expression.
struct CompiledExpr {
    input: Input,
    /// Whether nothing else reads its register.
    is_own: bool,
    properties: ValueProperties,
    /// Affinity, if it is a column.
    affinity: Option<Affinity>,
}

impl CompiledExpr {
    /// Wraps a register that nothing else reads.
    fn in_register(register: usize, properties: ValueProperties) -> Self {
        Self { input: Input::Register(register), is_own: true, properties, affinity: None }
    }
}

impl<'p, 'a> Compiler<'p, 'a> {
    fn new(drafts: ColumnDrafts<'p, 'a>, table: usize) -> Self {
        Self {
            drafts,
            program: Program { row_sets: 1, ..Program::default() },
            row_sets: vec![table],
            columns: HashMap::new(),
            stored: HashMap::new(),
            relations: HashMap::new(),
            members: HashMap::new(),
            path: Vec::new(),
            referring: Vec::new(),
            roots: Vec::new(),
            may_repeat: false,
        }
    }

    /// Allocates a register for values with these properties.
    fn register(&mut self, properties: ValueProperties) -> usize {
        self.program.registers += 1;
        self.program.longest_bytes = self.program.longest_bytes.saturating_add(properties.longest_bytes);
        self.program.registers - 1
    }

    /// Compiles a column of a row set, once.
    fn column(&mut self, row_set: usize, column: usize) -> Result<ColumnRegister> {
        if let Some(known) = self.columns.get(&(row_set, column)) {
            return Ok(*known);
        }
        let part = self.compile_column(row_set, column)?;
        let compiled = ColumnRegister { register: self.own_register(&part), properties: part.properties };
        self.columns.insert((row_set, column), compiled);
        Ok(compiled)
    }

    /// Compiles a column of a row set, even if that was done before.
    fn compile_column(&mut self, row_set: usize, column: usize) -> Result<CompiledExpr> {
        let table = self.row_sets[row_set];
        let is_root = self.roots.iter().any(|&(roots, _)| roots == row_set);
        self.reject_cycle((table, column, is_root))?;
        self.path.push((table, column, is_root));
        let part = match &self.drafts.draft((table, column)).expr {
            ColumnExpr::Through { through, name, at } => {
                let affinity = self.drafts.schema.tables[table].columns[column].affinity;
                self.through(row_set, (through, name), column, *at, Some(affinity))
            }
            expr => self.expression(row_set, column, expr),
        };
        self.path.pop();
        part
    }

    /// Rejects a column that depends on itself.
    fn reject_cycle(&self, place: (usize, usize, bool)) -> Result<()> {
        let Some(start) = self.path.iter().position(|&outer| outer == place) else { return Ok(()) };
        let (table, column, _) = place;
        let name = |&(table, column, _): &(usize, usize, bool)| {
            let table = &self.drafts.schema.tables[table];
            format!("{}.{}", table.name, table.columns[column].name)
        };
        let cycle: Vec<String> = self.path[start..].iter().chain([&place]).map(name).collect();
        let draft = self.drafts.columns[table][column].as_ref().expect("a column under compilation");
        let error = draft.error(
            self.drafts.schema,
            (table, column),
            format!("columns depend on one another: {}", cycle.join(" -> ")),
        );
        Err(error.advise("change the annotation of one of them"))
    }

    /// Returns a register of the value's own, copying it if something else reads it.
    fn own_register(&mut self, part: &CompiledExpr) -> usize {
        match part.input {
            Input::Register(register) if part.is_own => register,
            ref from => {
                let (from, register) = (from.clone(), self.register(part.properties));
                self.program.ops.push(Op::Copy { from, register });
                register
            }
        }
    }

    /// Compiles a column, converted by its affinity.
    fn stored(&mut self, row_set: usize, column: usize) -> Result<CompiledExpr> {
        let ColumnRegister { register: from, mut properties } = self.column(row_set, column)?;
        let affinity = self.drafts.schema.tables[self.row_sets[row_set]].columns[column].affinity;
        let register = match self.stored.get(&(row_set, column)) {
            Some(&register) => register,
            None => {
                let register = self.register(properties);
                self.program.ops.push(Op::Store { from, affinity, register });
                self.stored.insert((row_set, column), register);
                register
            }
        };
        properties.kinds = stored_kinds(properties.kinds, affinity);
        Ok(CompiledExpr {
            input: Input::Stored { from, register },
            is_own: false,
            properties,
            affinity: Some(affinity),
        })
    }

    /// Compiles an expression in the annotation of `column`.
    fn expression(&mut self, row_set: usize, column: usize, expr: &ColumnExpr) -> Result<CompiledExpr> {
        match expr {
            ColumnExpr::Value(value) => Ok(CompiledExpr {
                properties: value_properties(value),
                input: Input::Constant(value.clone()),
                is_own: false,
                affinity: None,
            }),
            ColumnExpr::Column { column, .. } => self.stored(row_set, *column),
            ColumnExpr::Generator { generator, purpose } => {
                let properties = ValueProperties::of(&**generator);
                let (generator, random, register) =
                    (generator.clone(), self.random(row_set, column, *purpose), self.register(properties));
                self.program.ops.push(Op::Generate { generator, random, row_set, register });
                Ok(CompiledExpr::in_register(register, properties))
            }
            ColumnExpr::SameIn { column: by, generator, purpose, at } => {
                let table = self.row_sets[row_set];
                if self.drafts.reference((table, *by)).is_none() {
                    let message = "same_in needs a column that is ref(parent.key)";
                    return Err(self.error_in(row_set, column, *at, message));
                }
                let (of, random) = (self.relation(row_set, *by)?, self.random(row_set, column, *purpose));
                let properties = ValueProperties::of(&**generator);
                let cardinality = Cardinality::Among { values: properties.cardinality.at_most() };
                let leader = self.drafts.leader((table, *by));
                let nulls = self.null_share(table, leader);
                let properties = with_nulls(ValueProperties { cardinality, cycle: None, ..properties }, nulls);
                let register = self.register(properties);
                self.program.ops.push(Op::Generate { generator: generator.clone(), random, row_set: of, register });
                Ok(CompiledExpr::in_register(register, properties))
            }
            ColumnExpr::Reference(_) => self.parent_key(row_set, column, expr),
            ColumnExpr::Null { .. } if expr.reference().is_some() => self.parent_key(row_set, column, expr),
            ColumnExpr::Through { through, name, at } => self.through(row_set, (through, name), column, *at, None),
            ColumnExpr::ChildPosition { field, column: by, at } => {
                self.child_position(row_set, column, *field, (*by, *at))
            }
            ColumnExpr::SumOf { child, expression, at } => self.sum_of(row_set, column, (*child, expression), *at),
            ColumnExpr::CountOf { child, column: by, at } => self.count_of(row_set, column, (*child, *by), *at),
            ColumnExpr::NextOf { column: by, value, at } => self.next_of(row_set, column, (*by, *value), *at),
            ColumnExpr::LastOf { child, column: by, value, at } => {
                self.last_of(row_set, column, (*child, *by, value), *at)
            }
            ColumnExpr::Null { share, purpose, inner } => {
                let part = self.expression(row_set, column, inner)?;
                let register = self.own_register(&part);
                let (random, levels) = (self.random(row_set, column, *purpose), inner.null_levels());
                self.program.ops.push(Op::Null { nulls: Nulls { share: *share, levels, random }, row_set, register });
                Ok(CompiledExpr::in_register(register, with_nulls(part.properties, *share)))
            }
            ColumnExpr::Operation { operator, operands } => {
                let parts = operands
                    .iter()
                    .map(|operand| self.expression(row_set, column, operand))
                    .collect::<Result<Vec<_>>>()?;
                let known: Vec<ValueProperties> = parts.iter().map(|part| part.properties).collect();
                let properties = operation_properties(*operator, operands, &known);
                let affinities = parts.iter().map(|part| part.affinity).collect();
                let operands = parts.into_iter().map(|part| part.input).collect();
                let register = self.register(properties);
                self.program.ops.push(Op::Apply { operator: *operator, operands, affinities, register });
                Ok(CompiledExpr::in_register(register, properties))
            }
        }
    }

    /// Compiles the positions of rows among the children of their parents through the column `by`.
    fn child_position(
        &mut self,
        row_set: usize,
        column: usize,
        field: PositionField,
        (by, at): (usize, usize),
    ) -> Result<CompiledExpr> {
        let reference = self.drafts.reference((self.row_sets[row_set], by));
        let has_positions =
            reference.is_some_and(|reference| matches!(reference.relation.assignment, Assignment::PerParent(_)));
        if !has_positions {
            return self.counted_position(row_set, column, field, (by, at));
        }
        let of = self.relation(row_set, by)?;
        let register = self.register(relations::ROW_NUMBERS);
        self.program.ops.push(Op::ChildPosition { field, row_set: of, register });
        Ok(CompiledExpr::in_register(register, relations::ROW_NUMBERS))
    }

    /// Compiles the key of the rows that a column refers to.
    fn parent_key(&mut self, row_set: usize, column: usize, expr: &ColumnExpr) -> Result<CompiledExpr> {
        let reference = expr.reference().expect("the caller checked that it is a reference");
        let of = self.relation(row_set, column)?;
        let affinity = self.drafts.schema.tables[reference.parent].columns[reference.key].affinity;
        let is_as_stored = match &self.drafts.draft((reference.parent, reference.key)).expr {
            ColumnExpr::Generator { generator, .. } => stored_kinds(generator.kinds(), affinity) != Kinds::NONE,
            _ => false,
        };
        // The child must have the value as the parent stores it.
        let part = if is_as_stored { self.compile_column(of, reference.key)? } else { self.stored(of, reference.key)? };
        let properties = self.key_properties(row_set, column, part.properties);
        Ok(CompiledExpr { properties, affinity: None, ..part })
    }

    /// Returns the properties of a column of references; `key` are those of the parent's key.
    fn key_properties(&self, row_set: usize, column: usize, key: ValueProperties) -> ValueProperties {
        let table = self.row_sets[row_set];
        let leader = self.drafts.leader((table, column));
        let reference = self.drafts.reference((table, leader)).expect("the leading column is a reference");
        let parents = self.drafts.sizes[reference.parent].rows.min(reference.relation.parents);
        let rows = Cardinality::Among { values: parents.max(1) };
        let is_unique = key.cardinality.is_unique();
        let (cardinality, cycle) = match (&reference.relation.assignment, key.cardinality) {
            (Assignment::Once { .. }, Cardinality::Among { values }) => (Cardinality::Among { values }, None),
            (Assignment::Once { .. }, cardinality) if reference.relation.to_itself => {
                (Cardinality::Unique { rows: cardinality.at_most() }, None)
            }
            (assignment, Cardinality::Ascending { rows }) if assignment.is_ascending() => {
                (Cardinality::Ascending { rows: rows.min(reference.relation.parents) }, None)
            }
            (assignment, Cardinality::Ascending { rows } | Cardinality::Unique { rows })
                if assignment.is_ascending() || matches!(assignment, Assignment::Once { .. }) =>
            {
                (Cardinality::Unique { rows: rows.min(reference.relation.parents) }, None)
            }
            (Assignment::InTurn { each, first, second: 0 }, _) if is_unique => {
                let values = first.unwrap_or(u64::MAX).min(reference.relation.parents).max(1);
                (Cardinality::Among { values }, Some(Cycle { each: *each, values }))
            }
            (_, Cardinality::Among { values }) => (Cardinality::Among { values: values.min(rows.at_most()) }, None),
            _ => (rows, None),
        };
        with_nulls(ValueProperties { cardinality, cycle, ..key }, self.null_share(table, leader))
    }

    /// Returns an estimate of the share of rows without a parent.
    fn null_share(&self, table: usize, leader: usize) -> f64 {
        const CHILDLESS: f64 = 0.5;
        let mut expr = &self.drafts.draft((table, leader)).expr;
        let mut others = 1.0;
        while let ColumnExpr::Null { share, inner, .. } = expr {
            others *= 1.0 - share;
            expr = inner;
        }
        let relation = expr.reference().map(|reference| &reference.relation);
        if let Some(Assignment::Among { column, .. } | Assignment::Along { column, .. }) =
            relation.map(|relation| &relation.assignment)
        {
            others *= 1.0 - self.null_share(table, self.drafts.leader((table, *column)));
        }
        if let Some(unless) = expr.reference().and_then(|reference| reference.unless) {
            others *= self.null_share(table, self.drafts.leader((table, unless)));
        }
        if expr.reference().is_some_and(|reference| reference.childless.is_some()) {
            others *= CHILDLESS;
        }
        if let Some(after) = expr.reference().map(|reference| reference.after).filter(|after| *after > 0) {
            others *= 1.0 - after as f64 / self.drafts.sizes[table].rows.max(after) as f64;
        }
        let is_from_root = |relation: &&Relation| relation.to_itself && !relation.is_total;
        if let Some(Assignment::InTurn { first: Some(first), .. }) =
            relation.filter(is_from_root).map(|relation| &relation.assignment)
        {
            others *= 1.0 - *first as f64 / self.drafts.sizes[table].rows.max(*first) as f64;
        }
        if relation.is_some_and(|relation| relation.is_to_earlier() && !relation.is_total) {
            others *= 1.0 - 1.0 / self.drafts.sizes[table].rows.max(1) as f64;
        }
        1.0 - others
    }

    /// Returns whether every row refers to one through a column.
    fn is_total(&self, table: usize, column: usize) -> bool {
        self.drafts.reference((table, self.drafts.leader((table, column)))).is_some_and(|of| of.relation.is_total)
    }

    /// Makes an error at a place of an annotation.
    fn error_in(&self, row_set: usize, column: usize, at: usize, message: &str) -> Error {
        let place = (self.row_sets[row_set], column);
        self.drafts.draft(place).error_at(self.drafts.schema, place, at, message.to_owned())
    }

    /// Compiles `through.name`: a column of the row to which the columns of `through` lead. `taker` is the affinity of a column
    /// that is nothing else; with the same affinity it stores the same values, so they are converted only once.
    fn through(
        &mut self,
        row_set: usize,
        (through, name): (&[String], &str),
        column: usize,
        at: usize,
        taker: Option<Affinity>,
    ) -> Result<CompiledExpr> {
        let (mut from, mut share) = (row_set, 0.0);
        let (last, others) = through.split_last().expect("a path has a column");
        for other in others {
            let step = self.step(from, other).map_err(|message| self.error_in(row_set, column, at, &message))?;
            share = 1.0 - (1.0 - share) * (1.0 - self.null_share(self.row_sets[from], step.leader));
            from = self.rows_after(from, &step)?;
        }
        let table = self.row_sets[from];
        let step = self.step(from, last).map_err(|message| self.error_in(row_set, column, at, &message))?;
        let of_parent = &self.drafts.schema.tables[step.to];
        let Some(target) = of_parent.column(name) else {
            let near = did_you_mean(name, of_parent.columns.iter().map(|column| column.name.as_str()));
            let message = format!("table {} has no column '{name}'{near}", of_parent.name);
            return Err(self.error_in(row_set, column, at, &message));
        };
        if self.drafts.columns[step.to][target].is_none() {
            let message = format!("column {name} is generated: SQLite computes it from the finished row");
            return Err(self.error_in(row_set, column, at, &message));
        }
        if self.roots.contains(&(from, step.leader)) && !self.is_total(table, step.by) {
            return self.expression(row_set, column, &ColumnExpr::Value(OwnedValue::Null));
        }
        let of = self.rows_after(from, &step)?;
        let affinity = of_parent.columns[target].affinity;
        let mut part = if taker == Some(affinity) {
            let ColumnRegister { register, properties } = self.column(of, target)?;
            let properties = ValueProperties { kinds: stored_kinds(properties.kinds, affinity), ..properties };
            CompiledExpr { input: Input::Register(register), is_own: false, properties, affinity: None }
        } else {
            self.stored(of, target)?
        };
        let cardinality = Cardinality::Among { values: part.properties.cardinality.at_most() };
        let properties = ValueProperties { cardinality, cycle: None, ..part.properties };
        part.properties = with_nulls(with_nulls(properties, self.null_share(table, step.leader)), share);
        Ok(part)
    }

    /// Returns the step that a name in a path stands for: a column, the table that a column refers to, or the table that it goes
    /// through by `via` or `among`.
    fn step(&self, from: usize, name: &str) -> Result<Step, String> {
        let table = self.row_sets[from];
        let unknown = match self.referring_column(table, name) {
            Ok(by) => {
                let to = self.drafts.reference((table, by)).expect("the column is a reference").parent;
                return Ok(Step { by, leader: self.drafts.leader((table, by)), to, is_halfway: false });
            }
            Err(unknown) => unknown,
        };
        let to = self.drafts.schema.position(name);
        let goes_through = |&by: &usize| {
            let of = self.drafts.reference((table, by));
            let is_along = of.is_some_and(|of| matches!(of.relation.assignment, Assignment::Along { .. }));
            let first = of.and_then(|of| of.through.first()).map(|(table, _)| *table);
            first.is_some() && first == to && !is_along && self.drafts.leader((table, by)) == by
        };
        let mut columns = (0..self.drafts.schema.tables[table].columns.len()).filter(goes_through);
        match (columns.next(), columns.next(), to) {
            (Some(by), None, Some(to)) => Ok(Step { by, leader: by, to, is_halfway: true }),
            _ => Err(unknown),
        }
    }

    /// Returns the row set to which a step leads.
    fn rows_after(&mut self, from: usize, step: &Step) -> Result<usize> {
        let to = self.relation(from, step.by)?;
        Ok(if step.is_halfway { self.members[&(from, step.leader)] } else { to })
    }

    /// Returns the column that `through` names: by its own name, or by that of the table it refers to.
    fn referring_column(&self, table: usize, through: &str) -> Result<usize, String> {
        let of_table = &self.drafts.schema.tables[table];
        let refers = |column: usize| self.drafts.reference((table, column));
        if let Some(column) = of_table.column(through).filter(|&column| refers(column).is_some()) {
            return Ok(column);
        }
        let parent = self.drafts.schema.position(through);
        let mut columns: Vec<usize> = (0..of_table.columns.len())
            .filter(|&column| refers(column).is_some_and(|reference| Some(reference.parent) == parent))
            .map(|column| self.drafts.leader((table, column)))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        match columns[..] {
            [column] => Ok(column),
            [] if of_table.column(through).is_some() => {
                Err(format!("column {through} refers to no row: it is not a ref(...)"))
            }
            [] => Err(format!("no column of {} refers to a table {through}", of_table.name)),
            _ => {
                let names: Vec<&str> = columns.iter().map(|&column| of_table.columns[column].name.as_str()).collect();
                Err(format!("{} refer to {through}: write one of them in its place", names.join(" and ")))
            }
        }
    }

    /// Returns the properties of the rows that a column of the table itself refers to.
    fn referenced(&mut self, column: usize) -> Result<Option<ReferencedRows>> {
        let table = self.row_sets[0];
        let number = match &self.drafts.draft((table, column)).expr {
            ColumnExpr::ChildPosition { field: PositionField::Ordinal, column: by, .. } => Some(*by),
            _ => None,
        };
        let no_properties = ValueProperties {
            kinds: Kinds::NONE,
            longest_bytes: 0,
            cardinality: Cardinality::Ascending { rows: u64::MAX },
            null_share: 0.0,
            cycle: None,
        };
        if let Some(by) = number {
            let cardinality = Cardinality::Among { values: u64::MAX };
            return Ok(Some(ReferencedRows {
                leader: column,
                properties: ValueProperties { cardinality, ..no_properties },
                apart_in: Some(by),
            }));
        }
        if self.drafts.reference((table, column)).is_none() {
            return Ok(None);
        }
        let leader = self.drafts.leader((table, column));
        let reference = self.drafts.reference((table, leader)).expect("the leading column is a reference");
        let apart_in = match reference.relation.assignment {
            Assignment::DistinctIn { column, .. } => Some(column),
            ref assignment if assignment.apart_from().is_some() => assignment.apart_from(),
            // Rows with the same row in the other column differ, until that column comes back to it after all rows
            // had their turn.
            Assignment::OtherThan { column, .. } => {
                let turns = self.turns_of(table, column).map(|each| each.saturating_mul(reference.relation.parents));
                turns.filter(|&turns| turns >= self.drafts.sizes[table].rows).map(|_| column)
            }
            _ => None,
        };
        Ok(Some(ReferencedRows { leader, properties: self.key_properties(0, column, no_properties), apart_in }))
    }

    /// Returns the random numbers of a column, or of a part of it.
    fn random(&self, row_set: usize, column: usize, purpose: Option<u64>) -> CellRandom {
        let table = self.row_sets[row_set];
        let of_table = &self.drafts.schema.tables[table];
        let name = &of_table.columns[column].name;
        let random = CellRandom::new(self.drafts.sizes[table].seed, &of_table.name, name);
        purpose.map_or(random, |purpose| random.fork(purpose))
    }
}
