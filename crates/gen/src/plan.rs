//! Planning: the number of rows of each table, the generator of each column, and the origin of both.
//!
//! ```text
//! schema, request --table_sizes.rs--> rows and seed of each table
//! annotations --resolve.rs--> column expressions; single generators are checked (checks.rs) at once
//! no annotation --infer, inference.rs, reference_patterns.rs--> references for foreign keys, generators by type and name for other columns
//! sampled rows --constraints.rs--> SQLite evaluates CHECK constraints, and inferred columns change until they hold
//! column expressions --compile.rs--> one program a table; computed columns and keys of several columns are checked
//! ```

mod addresses;
#[cfg(test)]
mod believable;
mod checks;
mod column_annotations;
mod compile;
mod constraints;
mod conversations;
mod depths;
mod derived_rows;
mod implied_keys;
mod inference;
mod pairs;
mod properties;
mod reference_patterns;
mod resolve;
#[cfg(test)]
mod schemas;
mod shared_rows;
mod table_sizes;
#[cfg(test)]
mod tests;
mod visits;

use crate::annotation::{SourceText, parse};
use crate::generators::{Cardinality, ValueProperties};
use crate::infer::{self, Inference, ReferenceDay};
use crate::program::Program;
use crate::recipe::Recipe;
use crate::schema_annotations;
use crate::suggest::did_you_mean;
use crate::tables::{generated_tables, is_generated};
use column_annotations::{ColumnAnnotation, column_annotations};
use compile::{ColumnDrafts, CompiledTable, ReferencedRows};
use derived_rows::derive_rows;
use implied_keys::{PlannedSchema, with_implied_keys};
use litepress_rows::schema::{Schema, Table};
use litepress_rows::{Conflict, Error, ErrorKind, Message, OptionName, Result, message};
use litepress_tpch::TpchTable;
use resolve::{ColumnExpr, Resolver, Scope};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Settings of the caller; they rank above those of the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Numbers of rows by table; without a name, for the only table or for all tables without a number.
    pub rows: Vec<(Option<String>, u64)>,
    /// Annotations of columns, which rank above those of the schema.
    pub set: Vec<SetColumn>,
    /// Seed of all tables, which ranks above those of the schema.
    pub seed: Option<u64>,
    /// Factor for all numbers of rows, except those of `rows` and of fixed tables.
    pub scale: Option<f64>,
    /// A recipe, which ranks below the request and above the schema; the schema is the one in the file.
    pub recipe: Option<Recipe>,
    /// Conflict policy. If a conflict is not an error, keys may repeat.
    pub on_conflict: Conflict,
    /// The day at which inferred times end, as `YYYY-MM-DD`; 2026-01-01 by default.
    pub until: Option<String>,
}

/// A request's annotation of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetColumn {
    /// Name of the table.
    pub table: String,
    /// Name of the column.
    pub column: String,
    /// The annotation.
    pub expression: String,
    /// Name of the annotation in errors.
    pub origin: String,
}

/// A checked plan for the rows of all tables of a schema.
#[derive(Debug)]
pub struct GenPlan {
    tables: Vec<Arc<TablePlan>>,
}

/// The plan of a table.
#[derive(Debug)]
#[non_exhaustive]
pub struct TablePlan {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// Name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Seed; 0 by default.
    pub seed: u64,
    /// Whether the scale leaves the number of rows alone.
    pub fixed: bool,
    /// Whether the number of rows follows from those of the parents.
    pub rows_are_derived: bool,
    /// Conflict policy.
    pub on_conflict: Conflict,
    /// The table of TPC-H with these rows, and the scale; `columns` is empty then.
    pub tpch: Option<(TpchTable, f64)>,
    /// The ordinary columns in their order.
    pub columns: Vec<ColumnPlan>,
    pub(crate) program: Program,
}

/// The plan of a column.
#[derive(Debug)]
#[non_exhaustive]
pub struct ColumnPlan {
    /// Position in [`Table::columns`].
    pub column: usize,
    /// Name.
    pub name: String,
    /// The annotation of its generator.
    pub expression: String,
    /// Origin of the annotation.
    pub provenance: Provenance,
    pub(crate) properties: ValueProperties,
}

impl ColumnPlan {
    /// Returns whether the generator gives every row a distinct value.
    pub fn is_unique(&self) -> bool {
        self.properties.cardinality.is_unique()
    }
}

/// The origin of a column's annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The schema's annotation.
    Annotation,
    /// The request.
    Set,
    /// The recipe.
    Recipe,
    /// Inference, for this reason.
    Inferred(String),
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Annotation => f.write_str("annotation"),
            Self::Set => f.write_str("set"),
            Self::Recipe => f.write_str("recipe"),
            Self::Inferred(because) => write!(f, "inferred: {because}"),
        }
    }
}

/// A column on its way into the plan.
struct ColumnDraft<'a> {
    expression: String,
    provenance: Provenance,
    expr: ColumnExpr,
    /// The text with the annotation, and its offset there; `None` if it was inferred.
    source: Option<(SourceText<'a>, usize)>,
    /// Whether it is known that the column accepts its values.
    is_checked: bool,
}

impl<'a> ColumnDraft<'a> {
    /// Calls `then` with the text that errors point at; `place` is the table and column.
    fn with_source<T>(
        &self,
        schema: &Schema,
        place: (usize, usize),
        then: impl FnOnce(&SourceText<'_>, usize) -> T,
    ) -> T {
        match &self.source {
            Some((source, offset)) => then(source, *offset),
            None => {
                let table = &schema.tables[place.0];
                let name = &table.columns[place.1].name;
                then(&SourceText::new(&self.expression, "<inferred>").for_column(&table.name, name), 0)
            }
        }
    }

    fn error(&self, schema: &Schema, place: (usize, usize), message: String) -> Error {
        self.with_source(schema, place, |source, offset| source.error(offset, message))
    }

    /// Makes an error at a place of the text.
    fn error_at(&self, schema: &Schema, place: (usize, usize), at: usize, message: String) -> Error {
        self.with_source(schema, place, |source, _| source.error(at, message))
    }
}

impl GenPlan {
    /// Plans the rows of all tables of `schema` except virtual ones.
    ///
    /// # Errors
    /// [`ErrorKind::Generator`] and [`ErrorKind::Usage`], with the place of the annotation or the request's name for
    /// it: an unknown table, column or generator; wrong arguments; values that the column is certain, or almost
    /// certain (20 or more expected duplicates in a key), to reject; no number of rows.
    pub fn new(schema: &Schema, request: &Request) -> Result<Self> {
        Self::build(schema, request).map_err(|error| match &request.recipe {
            Some(recipe) => recipe.locate(error),
            None => error,
        })
    }

    fn build(schema: &Schema, request: &Request) -> Result<Self> {
        let PlannedSchema { schema, declared } = &with_implied_keys(schema);
        let annotations = schema_annotations::annotations(schema)?;
        let mut sizes = table_sizes::sizes(schema, request, &annotations)?;
        let column_annotations = column_annotations(schema, request, &annotations)?;
        derive_rows(schema, &column_annotations, &mut sizes);
        table_sizes::fill_unset(schema, request, &column_annotations, &mut sizes)?;
        derive_rows(schema, &column_annotations, &mut sizes);
        table_sizes::reject_unset(schema, &sizes)?;
        let mut planner = Planner::new(schema, sizes, request)?;
        planner.declared.clone_from(declared);
        planner.empty_tables_of_pairs();
        planner.annotate(&column_annotations)?;
        planner.infer()?;
        planner.meet_checks()?;
        planner.finish()
    }

    /// Returns the tables in the order of their definition, without virtual tables.
    pub fn tables(&self) -> &[Arc<TablePlan>] {
        &self.tables
    }

    /// Returns the plan of the table at this position of [`Schema::tables`].
    pub fn table(&self, table: usize) -> Option<&Arc<TablePlan>> {
        self.tables.iter().find(|plan| plan.table == table)
    }
}

fn usage(message: impl Into<Message>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

/// Returns the position of the table of this name.
fn table_position(schema: &Schema, name: &str) -> Result<usize> {
    let Some(position) = schema.position(name) else {
        let near = did_you_mean(name, schema.tables.iter().map(|table| table.name.as_str()));
        return Err(usage(format!("there is no table '{name}'{near}")));
    };
    if !is_generated(schema, &schema.tables[position]) {
        let message = "rows of a virtual table, or of its shadow tables, cannot be generated";
        return Err(Error::new(ErrorKind::Unsupported, message).in_table(name));
    }
    Ok(position)
}

struct Planner<'a> {
    schema: &'a Schema,
    sizes: Vec<table_sizes::TableSize>,
    on_conflict: Conflict,
    /// The day at which inferred times end.
    day: ReferenceDay,
    /// The number of declared foreign keys of each table; the others are implied.
    declared: Vec<usize>,
    /// Columns, by table, that need no unique values, because pairs of foreign keys make their key unique.
    relieved: Vec<(usize, usize)>,
    /// The length of the longest chain of parents of each table.
    depths: OnceCell<Vec<i64>>,
    /// Whether each table has all of its rows from the start.
    lookups: OnceCell<Vec<bool>>,
    /// The drafts of all columns, by table and column.
    columns: Vec<Vec<Option<ColumnDraft<'a>>>>,
}

impl<'a> Planner<'a> {
    fn new(schema: &'a Schema, sizes: Vec<table_sizes::TableSize>, request: &Request) -> Result<Self> {
        let empty = |table: &Table| table.columns.iter().map(|_| None).collect();
        let columns = schema.tables.iter().map(empty).collect();
        let day = match &request.until {
            None => ReferenceDay::default(),
            Some(text) => ReferenceDay::parse(text).ok_or_else(|| {
                usage(message![OptionName::Until.word(text.clone()).given(), ": this is not a day"])
                    .advise("write it as 2026-12-31")
            })?,
        };
        Ok(Self {
            schema,
            sizes,
            on_conflict: request.on_conflict,
            day,
            declared: Vec::new(),
            relieved: Vec::new(),
            depths: OnceCell::new(),
            lookups: OnceCell::new(),
            columns,
        })
    }

    /// Drafts the columns that have annotations.
    fn annotate(&mut self, column_annotations: &[ColumnAnnotation<'a>]) -> Result<()> {
        for annotation in column_annotations {
            let source = Some((
                annotation.source,
                annotation.span.end - annotation.source.text[annotation.span.clone()].trim_start().len(),
            ));
            self.columns[annotation.table][annotation.column] = Some(ColumnDraft { source, ..self.draft(annotation)? });
        }
        Ok(())
    }

    fn draft(&self, annotation: &ColumnAnnotation<'_>) -> Result<ColumnDraft<'a>> {
        if self.sizes[annotation.table].tpch.is_some() {
            let error = annotation.source.error(annotation.span.start, "the values of this table are those of TPC-H");
            return Err(error.advise("leave out the table's 'tpch=', or this generator"));
        }
        let (table, size) = (&self.schema.tables[annotation.table], self.sizes[annotation.table]);
        let expression = parse(&annotation.source, annotation.span.clone())?;
        let scope =
            Scope { schema: self.schema, sizes: &self.sizes, table: annotation.table, column: annotation.column };
        let expr = Resolver::new(&annotation.source, scope).annotation(&expression)?;
        let properties = match &expr {
            ColumnExpr::Generator { generator, .. } => Some(ValueProperties::of(&**generator)),
            _ => None,
        };
        if let Some(properties) = &properties {
            checks::column(table, annotation.column, properties, size.rows, self.on_conflict)
                .map_err(|fault| fault.at(&annotation.source, expression.span.start))?;
        }
        Ok(ColumnDraft {
            expression: annotation.source.text[expression.span].to_owned(),
            provenance: annotation.provenance.clone(),
            expr,
            source: None,
            is_checked: properties.is_some(),
        })
    }

    /// Drafts a column with an inferred annotation.
    fn assign(&mut self, table: usize, column: usize, inferred: Inference) -> Result<()> {
        let of_table = &self.schema.tables[table];
        let source =
            SourceText::new(&inferred.text, "<inferred>").for_column(&of_table.name, &of_table.columns[column].name);
        let span = 0..inferred.text.len();
        let draft = self.draft(&ColumnAnnotation {
            table,
            column,
            source,
            span,
            provenance: Provenance::Inferred(inferred.because),
        })?;
        self.columns[table][column] = Some(draft);
        Ok(())
    }

    fn finish(self) -> Result<GenPlan> {
        let drafts = ColumnDrafts { schema: self.schema, sizes: &self.sizes, columns: &self.columns };
        let tables = generated_tables(self.schema).map(|(table, _)| Ok(Arc::new(self.table(drafts, table)?)));
        Ok(GenPlan { tables: tables.collect::<Result<_>>()? })
    }

    /// Compiles a table and checks the properties that were not known before.
    fn table(&self, drafts: ColumnDrafts<'_, 'a>, table: usize) -> Result<TablePlan> {
        let (of_table, size) = (&self.schema.tables[table], self.sizes[table]);
        let CompiledTable { program, properties, referenced } = compile::compile(drafts, table)?;
        let mut columns = Vec::new();
        for (column, draft) in self.columns[table].iter().enumerate() {
            let (Some(draft), Some(&properties)) = (draft, properties.get(&column)) else { continue };
            if !draft.is_checked {
                checks::column(of_table, column, &properties, size.rows, self.on_conflict).map_err(|fault| {
                    draft.with_source(self.schema, (table, column), |source, offset| fault.at(source, offset))
                })?;
            }
            columns.push(ColumnPlan {
                column,
                name: of_table.columns[column].name.clone(),
                expression: draft.expression.clone(),
                provenance: match (&draft.provenance, size.limited_by) {
                    (Provenance::Inferred(because), Some((limiting, why))) if limiting == column => {
                        let why = why.replace("{}", &size.rows.to_string());
                        Provenance::Inferred(format!("{because}; {why}"))
                    }
                    (provenance, _) => provenance.clone(),
                },
                properties,
            });
        }
        let parts = |key: &[usize]| key_parts(drafts, table, &properties, &referenced, key);
        checks::keys(of_table, parts, size.rows, self.on_conflict)?;
        Ok(TablePlan {
            table,
            name: of_table.name.clone(),
            rows: size.rows,
            seed: size.seed,
            fixed: size.fixed,
            rows_are_derived: size.is_derived,
            tpch: size.tpch,
            on_conflict: self.on_conflict,
            columns,
            program,
        })
    }
}

/// Returns the value properties of the columns of a key. Columns that together identify the row they refer to count
/// as one.
fn key_parts(
    drafts: ColumnDrafts<'_, '_>,
    table: usize,
    properties: &HashMap<usize, ValueProperties>,
    referenced: &HashMap<usize, ReferencedRows>,
    key: &[usize],
) -> Option<Vec<ValueProperties>> {
    let mut parts = Vec::new();
    let mut leaders = Vec::new();
    for column in key {
        let of = referenced.get(column);
        if let Some(other) = of.and_then(|of| of.apart_in)
            && key.contains(&other)
            && tells_rows(drafts, table, key, other)
        {
            return Some(vec![ValueProperties {
                cardinality: Cardinality::Unique { rows: u64::MAX },
                ..*properties.get(column)?
            }]);
        }
        match of.filter(|_| tells_rows(drafts, table, key, *column)) {
            Some(of) if leaders.contains(&of.leader) => {}
            Some(of) => {
                leaders.push(of.leader);
                parts.push(of.properties);
            }
            None => parts.push(*properties.get(column)?),
        }
    }
    Some(parts)
}

/// Returns whether a key contains all columns of the foreign key of one of its columns, which then identify the
/// parent's row.
fn tells_rows(drafts: ColumnDrafts<'_, '_>, table: usize, key: &[usize], column: usize) -> bool {
    let Some(reference) = drafts.reference((table, column)) else { return false };
    let keys = drafts.schema.tables[table].foreign_keys.iter();
    let of_parent = keys.filter(|of| drafts.schema.position(&of.parent) == Some(reference.parent));
    let mut foreign_keys = of_parent.filter(|of| of.columns.contains(&column));
    foreign_keys.any(|of| of.columns.iter().all(|column| key.contains(column)))
        || infer::is_key_of_all(&drafts.schema.tables[reference.parent], reference.key)
}
