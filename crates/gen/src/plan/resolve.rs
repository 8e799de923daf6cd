//! Resolves the names of an annotation to columns, functions and generators.

use super::table_sizes::TableSize;
use crate::annotation::{Call, Expression, ExpressionKind, SourceText};
use crate::expression::{Operator, functions};
use crate::generators::Zipf;
use crate::generators::relations::{
    Distribution, FanOutSpec, column_call, is_call, last_call, ref_call, same_in_call, sum_call,
};
use crate::generators::{Generator, catalogue};
use crate::random::CellRandom;
use crate::relation::{Assignment, ExactCounts, FanOut, Growth, PositionField, Relation};
use crate::suggest::did_you_mean;
use crate::tables::is_generated;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::{Generated, Schema, Table};
use litepress_rows::{Error, Result, counted, grouped};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A resolved annotation.
#[derive(Clone, Debug)]
pub(super) enum ColumnExpr {
    /// The values of a generator.
    Generator { generator: Arc<dyn Generator>, purpose: Purpose },
    /// Another column of the row.
    Column { column: usize },
    /// A constant.
    Value(OwnedValue),
    /// An operator applied to other expressions.
    Operation { operator: Operator, operands: Vec<ColumnExpr> },
    /// A column of the row that this column refers to.
    Reference(Reference),
    /// A column of the row that another column refers to, or to which several of them lead.
    Through { through: Vec<String>, name: String, at: usize },
    /// A row's place among the children of its parent through a column, or the number of these children.
    ChildPosition { field: PositionField, column: usize, at: usize },
    /// The values of a generator in the rows that another column refers to: the same for all children of a row.
    SameIn { column: usize, generator: Arc<dyn Generator>, purpose: Purpose, at: usize },
    /// The sum of an expression over the rows of another table that refer to the row; its columns are those of that table.
    SumOf { child: usize, expression: Box<ColumnExpr>, at: usize },
    /// The number of rows of another table that refer to the row through a column.
    CountOf { child: usize, column: usize, at: usize },
    /// A value of the last row of another table that refers to the row through a column.
    LastOf { child: usize, column: usize, value: Vec<String>, at: usize },
    /// A value of the next row that refers to the same row through a column.
    NextOf { column: usize, value: usize, at: usize },
    /// NULL in a share of the rows.
    Null { share: f64, purpose: Purpose, inner: Box<ColumnExpr> },
}

/// A reference to rows of a table.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The table, and its column.
    pub parent: usize,
    pub key: usize,
    /// The relation to the rows of the table, or of the one in `through`.
    pub relation: Relation,
    /// Columns of other tables: the relation is to the rows of the first one's, which refer to those of the second one's, and the
    /// last one refers to the row.
    pub through: Vec<(usize, usize)>,
    /// A column that refers to earlier rows of the table: rows have the parent of the first row that it leads to.
    pub root: Option<usize>,
    /// A column that refers to a row in this one's place: where it does, this one is NULL.
    pub unless: Option<usize>,
    /// A column of another table: where a row refers to this one through it, this one refers to nothing.
    pub childless: Option<(usize, usize)>,
    /// The number of first rows that refer to nothing.
    pub after: u64,
    /// Offset of the distribution in the annotation.
    pub at: usize,
}

impl Reference {
    /// Returns whether more rows than those of a share of NULL refer to nothing.
    pub(super) fn is_left_out(&self) -> bool {
        self.unless.is_some() || self.childless.is_some() || self.after > 0
    }
}

impl ColumnExpr {
    /// Returns the reference that the whole expression is, ignoring NULLs.
    pub(super) fn reference(&self) -> Option<&Reference> {
        match self {
            Self::Reference(reference) => Some(reference),
            Self::Null { inner, .. } => inner.reference(),
            _ => None,
        }
    }

    /// Returns the numbers of rows that refer to each row of a table, if these are consecutive rows and each refers to one.
    pub(super) fn fan_out_of(&self, parent: usize) -> Option<&Arc<FanOut>> {
        match self {
            // A share of NULL would take some rows from their parents.
            Self::Reference(Reference { parent: of, relation, after: 0, .. }) if *of == parent => {
                match &relation.assignment {
                    Assignment::PerParent(fan_out) => Some(fan_out),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns whether it has a column of a row that one of these names refers to.
    pub(super) fn goes_through(&self, names: &[&str]) -> bool {
        match self {
            Self::Through { through, .. } => names.iter().any(|name| name.eq_ignore_ascii_case(&through[0])),
            Self::Operation { operands, .. } => operands.iter().any(|operand| operand.goes_through(names)),
            Self::Null { inner, .. } => inner.goes_through(names),
            _ => false,
        }
    }

    /// Returns the number of nested `null` that draw from the same random numbers.
    pub(super) fn null_levels(&self) -> u64 {
        match self {
            Self::Generator { generator, purpose: None } => generator.null_levels(),
            Self::Null { purpose: None, inner, .. } => inner.null_levels() + 1,
            _ => 0,
        }
    }
}

/// The purpose of an expression's random numbers: `None` for a whole annotation, which has those of its column.
pub(super) type Purpose = Option<u64>;

/// The context of an annotation.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub schema: &'a Schema,
    pub sizes: &'a [TableSize],
    /// Position of the table, and of the column in it.
    pub table: usize,
    pub column: usize,
}

/// Resolver of the names of one annotation.
pub(super) struct Resolver<'a> {
    source: &'a SourceText<'a>,
    scope: Scope<'a>,
    table: &'a Table,
    /// Number of calls so far of each generator.
    calls: HashMap<String, u64>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(source: &'a SourceText<'a>, scope: Scope<'a>) -> Self {
        Self { source, scope, table: &scope.schema.tables[scope.table], calls: HashMap::new() }
    }

    /// Returns the number of rows of the table.
    fn rows(&self) -> u64 {
        self.scope.sizes[self.scope.table].rows
    }

    /// Resolves a whole annotation. A name alone is a generator if there is one, else a column.
    pub(super) fn annotation(&mut self, expression: &Expression) -> Result<ColumnExpr> {
        match &expression.kind {
            ExpressionKind::Call(call) if catalogue::is_generator(expression) => self.generator(call, None),
            ExpressionKind::Call(call) if is_call(call, "null") => self.null(call, None),
            ExpressionKind::Call(call) if is_call(call, "ref") => self.reference(call),
            ExpressionKind::Call(call) if !call.is_called => match self.column(&call.name, &call.span)? {
                Some(expr) => Ok(expr),
                None => self.generator(call, None),
            },
            ExpressionKind::Call(call) => self.of_relation(call).unwrap_or_else(|| self.generator(call, None)),
            _ => self.part(expression),
        }
    }

    /// Resolves a call about the rows that this row refers to, or that refer to it; `None` if it is another call.
    fn of_relation(&mut self, call: &Call) -> Option<Result<ColumnExpr>> {
        let name = if call.is_called { call.name.to_ascii_lowercase() } else { return None };
        Some(match name.as_str() {
            "number_in" => self.position(call, PositionField::Ordinal),
            "count_in" => self.position(call, PositionField::Count),
            "same_in" => self.same(call),
            "sum_of" => self.sum(call),
            "count_of" => self.count(call),
            "last_of" => self.last(call),
            "next_of" => self.next(call),
            _ => return None,
        })
    }

    /// Resolves a part of an annotation. A name alone is a column if there is one, else a generator.
    fn part(&mut self, expression: &Expression) -> Result<ColumnExpr> {
        match &expression.kind {
            ExpressionKind::Literal(value) => Ok(ColumnExpr::Value(value.clone())),
            ExpressionKind::Column { through: None, name } => {
                self.column(name, &expression.span)?.ok_or_else(|| self.missing_column(name, &expression.span))
            }
            ExpressionKind::Column { through: Some(through), name } => {
                let through = vec![through.clone()];
                Ok(ColumnExpr::Through { through, name: name.clone(), at: expression.span.start })
            }
            ExpressionKind::Path { through, name } => {
                Ok(ColumnExpr::Through { through: through.clone(), name: name.clone(), at: expression.span.start })
            }
            ExpressionKind::Operation { operator, operands } => {
                let operands = operands.iter().map(|operand| self.part(operand)).collect::<Result<_>>()?;
                Ok(ColumnExpr::Operation { operator: *operator, operands })
            }
            ExpressionKind::Call(call) if call.is_called && is_call(call, "ref") => {
                let error = self.source.error(call.span.start, "ref must stand alone or in null(share, ref(...))");
                Err(error.advise("write parent.column to use a value of the referenced row"))
            }
            ExpressionKind::Call(call) => {
                if let Some(of_relation) = self.of_relation(call) {
                    return of_relation;
                }
                // A column cannot be computed from itself: `lower(email)` for the column `email` means the generator.
                let is_own = self.table.columns[self.scope.column].name.eq_ignore_ascii_case(&call.name)
                    && catalogue::find(&call.name).is_some();
                let column = if call.is_called || is_own { None } else { self.column(&call.name, &call.span)? };
                match column {
                    Some(column) => Ok(column),
                    None if catalogue::is_generator(expression) || !is_call(call, "null") => {
                        self.reject_unknown(call)?;
                        let purpose = self.purpose(&call.name);
                        self.generator(call, purpose)
                    }
                    None => {
                        let purpose = self.purpose(&call.name);
                        self.null(call, purpose)
                    }
                }
            }
        }
    }

    /// Returns a new purpose for a call of this generator. It depends only on the name and on the number of earlier
    /// calls, so the rest of the annotation can change without changing these values.
    fn purpose(&mut self, name: &str) -> Purpose {
        const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
        const PRIME: u64 = 0x0000_0100_0000_01B3;
        /// Disjoint from the purposes within generators.
        const HIGH: u64 = 1 << 63;
        let name = name.to_ascii_lowercase();
        let hash = name.bytes().fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        let call = self.calls.entry(name).or_default();
        *call += 1;
        Some(HIGH | hash.wrapping_add(*call))
    }

    fn generator(&self, call: &Call, purpose: Purpose) -> Result<ColumnExpr> {
        let generator = catalogue::build(self.source, call, Some(self.rows()))?.into();
        Ok(ColumnExpr::Generator { generator, purpose })
    }

    fn null(&mut self, call: &Call, purpose: Purpose) -> Result<ColumnExpr> {
        let (share, inner) = catalogue::null_arguments(self.source, call)?;
        let inner = match (&inner.kind, purpose) {
            (ExpressionKind::Literal(_), _) => return self.generator(call, purpose),
            (_, None) => self.annotation(&inner)?,
            (_, Some(_)) => self.part(&inner)?,
        };
        Ok(ColumnExpr::Null { share, purpose, inner: Box::new(inner) })
    }

    /// Resolves the name of a column, if there is one.
    fn column(&self, name: &str, span: &Range<usize>) -> Result<Option<ColumnExpr>> {
        let Some(column) = self.table.column(name) else { return Ok(None) };
        if self.table.columns[column].generated != Generated::No {
            let message = format!("column {name} is generated: SQLite computes it from the finished row");
            return Err(self.source.error(span.start, message).advise("repeat its expression"));
        }
        Ok(Some(ColumnExpr::Column { column }))
    }

    fn missing_column(&self, name: &str, span: &Range<usize>) -> Error {
        let near = did_you_mean(name, self.table.columns.iter().map(|column| column.name.as_str()));
        let message = format!("table {} has no column '{name}'{near}", self.table.name);
        self.source.error(span.start, message)
    }

    /// Rejects a name that is neither a column nor a generator nor a function.
    fn reject_unknown(&self, call: &Call) -> Result<()> {
        if catalogue::find(&call.name).is_some() {
            return Ok(());
        }
        let generators = catalogue::all().map(|entry| entry.name);
        let functions = functions().iter().map(|function| function.name);
        let ordinary = self.table.columns.iter().filter(|column| column.generated == Generated::No);
        let columns = ordinary.map(|column| column.name.as_str());
        let (what, near) = match call.is_called {
            true => ("function or generator", did_you_mean(&call.name, functions.chain(generators))),
            false => ("column or generator", did_you_mean(&call.name, columns.chain(generators))),
        };
        let elsewhere = || catalogue::suggestion(&call.name).map(|entry| format!(", did you mean '{}'?", entry.name));
        let near = Some(near).filter(|near| !near.is_empty()).or_else(elsewhere).unwrap_or_default();
        Err(self
            .source
            .error(call.span.start, format!("there is no {what} '{}'{near}", call.name))
            .advise("a column's name may stand in double quotes, a text stands in single ones"))
    }

    fn position(&mut self, call: &Call, field: PositionField) -> Result<ColumnExpr> {
        let column = self.own_column(&column_call(self.source, call)?)?;
        Ok(ColumnExpr::ChildPosition { field, column, at: call.span.start })
    }

    fn same(&mut self, call: &Call) -> Result<ColumnExpr> {
        let (column, generator) = same_in_call(self.source, call, Some(self.rows()))?;
        let column = self.own_column(&column)?;
        let purpose = self.purpose(&call.name);
        Ok(ColumnExpr::SameIn { column, generator: generator.into(), purpose, at: call.span.start })
    }

    fn count(&self, call: &Call) -> Result<ColumnExpr> {
        let (child, column) = self.table_column(&column_call(self.source, call)?)?;
        Ok(ColumnExpr::CountOf { child, column, at: call.span.start })
    }

    fn last(&self, call: &Call) -> Result<ColumnExpr> {
        let [by, value] = last_call(self.source, call)?;
        let (child, column) = self.table_column(&by)?;
        let (of, first, rest) = self.table_path(&value)?;
        let value = [self.scope.schema.tables[of].columns[first].name.clone()].into_iter().chain(rest).collect();
        if of != child {
            return Err(self.source.error(call.span.start, "last_of needs two columns of one table"));
        }
        Ok(ColumnExpr::LastOf { child, column, value, at: call.span.start })
    }

    fn next(&mut self, call: &Call) -> Result<ColumnExpr> {
        let [by, value] = last_call(self.source, call)?;
        let (column, value) = (self.own_column(&by)?, self.own_column(&value)?);
        Ok(ColumnExpr::NextOf { column, value, at: call.span.start })
    }

    fn sum(&self, call: &Call) -> Result<ColumnExpr> {
        let summed = sum_call(self.source, call)?;
        let mut child = None;
        let expression = Box::new(self.of_child(&summed, &mut child)?);
        match child {
            Some(child) => Ok(ColumnExpr::SumOf { child, expression, at: call.span.start }),
            None => Err(self.not_of_child(&summed)),
        }
    }

    /// Resolves an expression of columns of one other table, which is `child`, or becomes it.
    fn of_child(&self, expression: &Expression, child: &mut Option<usize>) -> Result<ColumnExpr> {
        match &expression.kind {
            ExpressionKind::Literal(value) => Ok(ColumnExpr::Value(value.clone())),
            ExpressionKind::Column { through: Some(_), .. } => {
                let (table, column) = self.table_column(expression)?;
                if *child.get_or_insert(table) != table {
                    return Err(self.source.error(expression.span.start, "sum_of adds up columns of one table"));
                }
                Ok(ColumnExpr::Column { column })
            }
            ExpressionKind::Operation { operator, operands } => {
                let operands = operands.iter().map(|operand| self.of_child(operand, child)).collect::<Result<_>>()?;
                Ok(ColumnExpr::Operation { operator: *operator, operands })
            }
            _ => Err(self.not_of_child(expression)),
        }
    }

    fn not_of_child(&self, expression: &Expression) -> Error {
        let message = "sum_of needs columns of a table that refers to this one";
        self.source.error(expression.span.start, message).advise("for example sum_of(line.pieces * line.price)")
    }

    /// Resolves the name of a column of the same row.
    fn own_column(&mut self, expression: &Expression) -> Result<usize> {
        match self.part(expression)? {
            ColumnExpr::Column { column } => Ok(column),
            _ => Err(self.source.error(expression.span.start, "the name of a column of the table is expected")),
        }
    }

    /// Returns the name of a column of another table, which is found later.
    fn name_of_column(&self, expression: &Expression) -> Result<String> {
        match &expression.kind {
            ExpressionKind::Column { through: None, name } => Ok(name.clone()),
            ExpressionKind::Call(call) if !call.is_called => Ok(call.name.clone()),
            _ => Err(self.source.error(expression.span.start, "the name of a column is expected")),
        }
    }

    /// Resolves a column of the same row, or a column of the row that it refers to, of which it returns the name.
    fn group(&mut self, expression: &Expression) -> Result<(usize, Option<String>)> {
        if let ExpressionKind::Column { through: Some(through), name } = &expression.kind
            && let Some(column) = self.table.column(through)
        {
            return Ok((column, Some(name.clone())));
        }
        Ok((self.own_column(expression)?, None))
    }

    /// Resolves a column, or a path of columns from row to row, which begins with a column.
    fn path(&mut self, expression: &Expression) -> Result<(usize, Vec<String>)> {
        if let ExpressionKind::Path { through, name } = &expression.kind
            && let Some((column, rest)) = through.split_first()
            && let Some(column) = self.table.column(column)
        {
            return Ok((column, rest.iter().chain([name]).cloned().collect()));
        }
        let (column, name) = self.group(expression)?;
        Ok((column, name.into_iter().collect()))
    }

    fn reference(&mut self, call: &Call) -> Result<ColumnExpr> {
        let of = ref_call(self.source, call, Some(self.rows()))?;
        let (parent, key) = self.table_column(&of.parent)?;
        let through = match &of.distribution {
            Distribution::Via { of, .. } | Distribution::Among { of, .. } => vec![self.table_column(of)?],
            Distribution::Along { of, then, .. } => {
                let columns = std::iter::once(of).chain(then);
                columns.map(|column| self.table_column(column)).collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        let parents = self.scope.sizes[through.first().map_or(parent, |(table, _)| *table)].rows;
        let assignment = self.assignment(of.distribution, parents, of.at)?;
        let root = of.root.map(|root| self.own_column(&root)).transpose()?;
        let unless = of.unless.map(|unless| self.own_column(&unless)).transpose()?;
        let childless = of.childless.map(|child| self.table_column(&child)).transpose()?;
        let own = &self.table.columns[self.scope.column];
        let is_total = own.not_null || self.table.rowid_alias == Some(self.scope.column);
        let to_itself = parent == self.scope.table;
        let relation = Relation { parents, assignment, to_itself, is_total };
        let is_drawn = matches!(
            relation.assignment,
            Assignment::Uniform | Assignment::Zipf { .. } | Assignment::Popular { by: None, .. }
        );
        if to_itself && (!through.is_empty() || root.is_some()) || root.is_some() && !is_drawn {
            let message =
                "this is for references to another table, and root for those that are uniform, zipf, popular or via";
            return Err(self.source.error(of.at, message));
        }
        self.check_relation(&relation, of.at)?;
        Ok(ColumnExpr::Reference(Reference {
            parent,
            key,
            relation,
            through,
            root,
            unless,
            childless,
            after: of.after,
            at: of.at,
        }))
    }

    /// Resolves a distribution over the rows of a table with this number of rows.
    fn assignment(&mut self, distribution: Distribution, parents: u64, at: usize) -> Result<Assignment> {
        let random = || {
            let column = &self.table.columns[self.scope.column].name;
            CellRandom::new(self.scope.sizes[self.scope.table].seed, &self.table.name, column)
        };
        Ok(match distribution {
            Distribution::Uniform => Assignment::Uniform,
            Distribution::Zipf { exponent, scatter, first } => {
                let drawn = first.unwrap_or(parents).min(parents);
                Assignment::Zipf { zipf: Arc::new(Zipf::new(drawn, exponent)), scatter: scatter && first.is_none() }
            }
            Distribution::Popular { growing, by, recent, each, apart } => Assignment::Popular {
                apart: apart.map(|column| self.own_column(&column)).transpose()?,
                each: each.then(|| self.rows()),
                growth: growing.map(|before| Growth::new(self.rows(), before)),
                by: by.map(|by| self.own_column(&by)).transpose()?,
                recent,
            },
            Distribution::Via { once: true, .. } => Assignment::Spread { children: self.rows() },
            Distribution::Along { column, distinct, .. } => {
                Assignment::Along { column: self.own_column(&column)?, distinct }
            }
            Distribution::Within { column, of, growing, by, first } => {
                let (column, path) = self.path(&column)?;
                let by = by.map(|by| self.own_column(&by)).transpose()?;
                let growth = growing.map(|before| Growth::new(self.rows(), before));
                Assignment::Within { column, path, of: self.table_path(&of)?, first, growth, by, members: None }
            }
            Distribution::Via { growing, .. } => {
                let growth = growing.then(|| Growth::new(self.rows(), 0.0));
                Assignment::Popular { growth, by: None, recent: None, each: None, apart: None }
            }
            Distribution::Among { column, distinct, .. } => {
                let (column, name) = self.group(&column)?;
                Assignment::Among { column, name, distinct, fan_out: None }
            }
            Distribution::SharedIn { column } => {
                let (column, path) = self.path(&column)?;
                Assignment::SharedIn { column, path }
            }
            Distribution::Once { near, last } => Assignment::Once { near, last },
            Distribution::InTurn { each, first, second } => Assignment::InTurn { each, first, second },
            Distribution::PerParent(FanOutSpec::Constant(each)) => {
                Assignment::PerParent(Arc::new(FanOut::Constant { each, parents }))
            }
            Distribution::PerParent(FanOutSpec::Varying { counts, after }) => {
                Assignment::PerParent(Arc::new(FanOut::varying(counts, &random(), parents, after)))
            }
            Distribution::OtherThan { column, growing, distinct } => {
                let children = growing.then(|| self.rows());
                Assignment::OtherThan { column: self.own_column(&column)?, each: None, children, distinct }
            }
            Distribution::DistinctIn { column, skew, growing, other, first } => {
                let first = first.map(|first| self.name_of_column(&first)).transpose()?;
                Assignment::DistinctIn { column: self.own_column(&column)?, skew, growing, other, first }
            }
            // There is nothing to deal without parents; a later check reports that.
            Distribution::Exact(_) if parents == 0 => Assignment::Uniform,
            Distribution::Exact(pairs) => match ExactCounts::new(&pairs, parents) {
                Some(counts) => Assignment::Exact(Arc::new(counts)),
                None => return Err(self.source.error(at, "the number of children is above 2^64")),
            },
        })
    }

    /// Resolves `table.column`, or a path that goes on from there.
    fn table_path(&self, expression: &Expression) -> Result<(usize, usize, Vec<String>)> {
        if let ExpressionKind::Path { through, name } = &expression.kind
            && let [table, column, rest @ ..] = &through[..]
        {
            let kind = ExpressionKind::Column { through: Some(table.clone()), name: column.clone() };
            let (table, column) = self.table_column(&Expression { kind, span: expression.span.clone() })?;
            return Ok((table, column, rest.iter().chain([name]).cloned().collect()));
        }
        let (table, column) = self.table_column(expression)?;
        Ok((table, column, Vec::new()))
    }

    /// Resolves `table.column`, or `table`, which means its primary key.
    fn table_column(&self, expression: &Expression) -> Result<(usize, usize)> {
        let rejected = |message: String| {
            let error = self.source.error(expression.span.start, message);
            Err(error.advise("write table.column, to say which column of which table"))
        };
        let (table, column) = match &expression.kind {
            ExpressionKind::Column { through: Some(table), name } => (table, Some(name)),
            ExpressionKind::Column { through: None, name } => (name, None),
            ExpressionKind::Call(call) if !call.is_called => (&call.name, None),
            _ => return rejected("a column of another table is expected".to_owned()),
        };
        let schema = self.scope.schema;
        let known = schema.position(table).filter(|&position| is_generated(schema, &schema.tables[position]));
        let Some(position) = known else {
            let near = did_you_mean(table, schema.tables.iter().map(|table| table.name.as_str()));
            return rejected(format!("there is no table '{table}'{near}"));
        };
        let of = &schema.tables[position];
        if self.scope.sizes[position].tpch.is_some() {
            return rejected(format!("table {} is one of TPC-H, which annotations cannot use", of.name));
        }
        let found = match column {
            Some(name) => of.column(name),
            None => {
                let mut keys = (0..of.columns.len()).filter(|&column| of.columns[column].key_position.is_some());
                keys.next().filter(|_| keys.next().is_none())
            }
        };
        match (found, column) {
            (Some(column), _) if of.columns[column].generated == Generated::No => Ok((position, column)),
            (Some(column), _) => rejected(format!("column {} is generated", of.columns[column].name)),
            (None, None) => rejected(format!("table {} has no primary key of one column", of.name)),
            (None, Some(name)) => {
                let near = did_you_mean(name, of.columns.iter().map(|column| column.name.as_str()));
                rejected(format!("table {} has no column '{name}'{near}", of.name))
            }
        }
    }

    /// Checks a relation on its own, regardless of the other columns.
    fn check_relation(&self, relation: &Relation, at: usize) -> Result<()> {
        let rows = self.rows();
        let rejected = |message: String, advice: String| Err(self.source.error(at, message).advise(advice));
        if relation.parents == 0 && rows > 0 {
            return rejected("the parent table has no rows".to_owned(), "give it rows".to_owned());
        }
        match (&relation.assignment, relation.to_itself) {
            (
                Assignment::DistinctIn { .. }
                | Assignment::SharedIn { .. }
                | Assignment::OtherThan { .. }
                | Assignment::Exact(_)
                | Assignment::Popular { by: Some(_), .. }
                | Assignment::Popular { each: Some(_), .. }
                | Assignment::Popular { apart: Some(_), .. },
                true,
            ) => rejected(
                "a table refers only to its own earlier rows, which this distribution does not support".to_owned(),
                "leave it out, or use in_turn, once, zipf or per_parent".to_owned(),
            ),
            (Assignment::PerParent(fan_out), true) if !fan_out.has_no_childless() => rejected(
                "rows without children could leave later rows without a parent".to_owned(),
                "a table that refers to itself has one child a row at least: per_parent(1, 5)".to_owned(),
            ),
            (Assignment::PerParent(fan_out), false) if rows > fan_out.children() => {
                let children = fan_out.children();
                rejected(
                    format!(
                        "{} have {}, and the table has {}",
                        counted(relation.parents, "parent"),
                        if children == 1 { "1 child".to_owned() } else { format!("{} children", grouped(children)) },
                        counted(rows, "row")
                    ),
                    format!("leave out the number of rows, which follows from the parents, or set rows={children}"),
                )
            }
            _ => Ok(()),
        }
    }
}
