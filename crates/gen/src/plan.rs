//! What will be invented: for each table how many rows, for each column by which generator, and who said so.
//!
//! ```text
//! schema, request --rows.rs--> rows and seed of each table
//! request, else annotation --resolve.rs--> recipes; those that are a generator alone are checked (checks.rs) at once
//! else infer, keys.rs --------------------> foreign keys are references, other columns what they are like
//! sampled rows --constraints.rs----------> SQLite judges CHECK constraints, and inferred columns change until they are met
//! recipes --compile.rs-------------------> a program a table; what is computed, and keys of several columns, is checked
//! ```

mod checks;
mod compile;
mod constraints;
mod keys;
mod resolve;
mod rows;
#[cfg(test)]
pub(crate) mod schemas;
#[cfg(test)]
mod tests;

use crate::annotation::{Site, parse};
use crate::comments::{self, Annotation};
use crate::generators::{Distinct, Facts};
use crate::infer::{self, Inferred, Parent, Reuse};
use crate::plan_file::PlanFile;
use crate::program::Program;
use crate::relation::Draw;
use crate::suggest::did_you_mean;
use crate::tables::{invented, is_invented};
use crate::tpch::TpchTable;
use compile::{Compiled, Drafts, Referred};
use litepress_rows::schema::{Generated, Schema, Table};
use litepress_rows::{Conflict, Error, ErrorKind, Message, Result};
use resolve::{Recipe, Resolver, Scope};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What the caller wants beyond what the schema says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Numbers of rows by table; without a name for the only table of the schema.
    pub rows: Vec<(Option<String>, u64)>,
    /// Annotations of columns, which come before those of the schema.
    pub set: Vec<SetColumn>,
    /// Seed of all tables, before those of the schema.
    pub seed: Option<u64>,
    /// Factor for all numbers of rows but those of `rows` and of tables that are fixed.
    pub scale: Option<f64>,
    /// A plan file, which comes behind the request and before the schema; the schema is the one it holds.
    pub plan: Option<PlanFile>,
    /// What becomes of rows that their table does not take: where it is not an error, keys may repeat.
    pub on_conflict: Conflict,
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
    /// What the annotation is called in errors.
    pub origin: String,
}

/// Everything about the rows of a schema, checked.
#[derive(Debug)]
pub struct GenPlan {
    tables: Vec<Arc<TablePlan>>,
}

/// The rows of a table.
#[derive(Debug)]
#[non_exhaustive]
pub struct TablePlan {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// Name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Seed; 0 where nobody gives one.
    pub seed: u64,
    /// Whether the number of rows stays whatever the scale is.
    pub fixed: bool,
    /// Whether nobody says the number of rows: it follows from those of the rows' parents.
    pub follows: bool,
    /// What becomes of rows that the table does not take.
    pub on_conflict: Conflict,
    /// The table of TPC-H whose rows these are, and the scale; nothing is planned for its columns then.
    pub tpch: Option<(TpchTable, f64)>,
    /// The ordinary columns in their order.
    pub columns: Vec<ColumnPlan>,
    pub(crate) program: Program,
}

/// The values of a column.
#[derive(Debug)]
#[non_exhaustive]
pub struct ColumnPlan {
    /// Position in [`Table::columns`].
    pub column: usize,
    /// Name.
    pub name: String,
    /// The annotation that makes its generator.
    pub expression: String,
    /// Who chose it.
    pub chosen: Chosen,
    pub(crate) facts: Facts,
}

/// Who chose a generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The schema's annotation.
    Annotation,
    /// The request.
    Set,
    /// The plan file.
    Plan,
    /// Nobody: it was inferred, for this reason.
    Inferred(String),
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Annotation => f.write_str("annotation"),
            Self::Set => f.write_str("set"),
            Self::Plan => f.write_str("plan"),
            Self::Inferred(because) => write!(f, "inferred: {because}"),
        }
    }
}

/// A column on its way into the plan.
struct Draft<'a> {
    expression: String,
    chosen: Chosen,
    recipe: Recipe,
    /// What somebody wrote, and where it begins; `None` where it was inferred.
    site: Option<(Site<'a>, usize)>,
    /// Whether it is known that the column takes its values.
    is_checked: bool,
}

impl<'a> Draft<'a> {
    /// What errors point at: for the column at this place of the schema.
    fn with_site<T>(&self, schema: &Schema, place: (usize, usize), then: impl FnOnce(&Site<'_>, usize) -> T) -> T {
        match &self.site {
            Some((site, offset)) => then(site, *offset),
            None => {
                let table = &schema.tables[place.0];
                let name = &table.columns[place.1].name;
                then(&Site::new(&self.expression, "<inferred>").for_column(&table.name, name), 0)
            }
        }
    }

    fn error(&self, schema: &Schema, place: (usize, usize), message: String) -> Error {
        self.with_site(schema, place, |site, offset| site.error(offset, message))
    }

    /// An error at a place of what was written.
    fn error_at(&self, schema: &Schema, place: (usize, usize), at: usize, message: String) -> Error {
        self.with_site(schema, place, |site, _| site.error(at, message))
    }
}

impl GenPlan {
    /// Plans the rows of all tables of `schema`, virtual tables apart.
    ///
    /// # Errors
    /// [`ErrorKind::Generator`] and [`ErrorKind::Usage`], with the place of the annotation or what the request calls it:
    /// an unknown table, column or generator; wrong arguments; values that the column is sure to refuse, or almost
    /// (20 duplicates expected or more in a key); no number of rows.
    pub fn new(schema: &Schema, request: &Request) -> Result<Self> {
        let made = Self::made(schema, request);
        made.map_err(|error| match &request.plan {
            Some(plan) => plan.locate(error),
            None => error,
        })
    }

    fn made(schema: &Schema, request: &Request) -> Result<Self> {
        let annotations = comments::annotations(schema)?;
        let mut sizes = rows::sizes(schema, request, &annotations)?;
        let wishes = wishes(schema, request, &annotations)?;
        derive_rows(schema, &wishes, &mut sizes);
        rows::for_silent(schema, request, &mut sizes)?;
        derive_rows(schema, &wishes, &mut sizes);
        rows::refuse_silent(schema, &sizes)?;
        let mut planner = Planner::new(schema, sizes, request.on_conflict);
        planner.wishes(&wishes)?;
        planner.infer()?;
        planner.meet_checks()?;
        planner.finish()
    }

    /// The tables in the order of their definition, virtual tables apart.
    pub fn tables(&self) -> &[Arc<TablePlan>] {
        &self.tables
    }

    /// The plan of the table at this position of [`Schema::tables`].
    pub fn table(&self, table: usize) -> Option<&Arc<TablePlan>> {
        self.tables.iter().find(|plan| plan.table == table)
    }
}

/// An annotation that somebody wrote.
struct Wish<'a> {
    table: usize,
    column: usize,
    site: Site<'a>,
    span: Range<usize>,
    chosen: Chosen,
}

/// The annotations of columns, one each: that of the request where there is one.
fn wishes<'a>(schema: &'a Schema, request: &'a Request, annotations: &[Annotation]) -> Result<Vec<Wish<'a>>> {
    let mut wishes: Vec<Wish<'a>> = Vec::new();
    for set in &request.set {
        let SetColumn { table, column, expression, origin } = set;
        let wish = set_wish(schema, Named { table, column, expression, origin })?;
        if wishes.iter().any(|other| (other.table, other.column) == (wish.table, wish.column)) {
            return Err(usage("this column is given a generator twice").in_file(&set.origin));
        }
        wishes.push(wish);
    }
    for (table, column, planned) in request.plan.iter().flat_map(PlanFile::columns) {
        let set = Named { table, column, expression: &planned.expression, origin: &planned.origin };
        let wish = Wish { chosen: Chosen::Plan, ..set_wish(schema, set)? };
        if !wishes.iter().any(|other| (other.table, other.column) == (wish.table, wish.column)) {
            wishes.push(wish);
        }
    }
    let asked: Vec<(usize, usize)> = wishes.iter().map(|wish| (wish.table, wish.column)).collect();
    wishes.extend(annotations.iter().filter_map(|annotation| {
        let site = comments::place(schema, annotation);
        let (table, column) = (annotation.table, annotation.column?);
        let wish = Wish { table, column, site, span: annotation.span.clone(), chosen: Chosen::Annotation };
        (!asked.contains(&(table, column))).then_some(wish)
    }));
    Ok(wishes)
}

/// An annotation with the names of its table and column.
#[derive(Clone, Copy)]
struct Named<'a> {
    table: &'a str,
    column: &'a str,
    expression: &'a str,
    origin: &'a str,
}

fn set_wish<'a>(schema: &'a Schema, set: Named<'a>) -> Result<Wish<'a>> {
    let Named { table, column, expression: text, origin } = set;
    let position = table_position(schema, table).map_err(|error| error.in_file(origin))?;
    let of_table = &schema.tables[position];
    let Some(column) = of_table.column(column) else {
        let near = did_you_mean(column, of_table.columns.iter().map(|column| column.name.as_str()));
        return Err(usage(format!("table {} has no column '{column}'{near}", of_table.name)).in_file(origin));
    };
    let name = &of_table.columns[column].name;
    if of_table.columns[column].generated != Generated::No {
        return Err(usage(format!("column {name} is generated: SQLite computes its values")).in_file(origin));
    }
    let site = Site::new(text, origin).for_column(&of_table.name, name);
    Ok(Wish { table: position, column, site, span: 0..text.len(), chosen: Chosen::Set })
}

/// The rows of tables that nobody says them of, where they are the children of rows that are known. Where they are so many
/// times as many as somebody says, there are no more of them than children.
fn derive_rows(schema: &Schema, wishes: &[Wish<'_>], sizes: &mut [rows::Size]) {
    let children = |sizes: &[rows::Size], wish: &Wish<'_>| {
        // As many as one likes are refused later.
        let mut sizes = sizes.to_vec();
        sizes[wish.table].rows = 0;
        let scope = Scope { schema, sizes: &sizes, table: wish.table, column: wish.column };
        let expression = parse(&wish.site, wish.span.clone()).ok()?;
        let recipe = Resolver::new(&wish.site, scope).annotation(&expression).ok()?;
        let is_known =
            |reference: &&resolve::Reference| reference.parent != wish.table && sizes[reference.parent].is_said;
        let reference = recipe.reference().filter(is_known)?;
        match &reference.relation.draw {
            Draw::Children(fan_out) => {
                Some(Children { of: reference.parent, parents: reference.relation.parents, rows: fan_out.children() })
            }
            _ => None,
        }
    };
    let said = sizes.to_vec();
    let mut known: Vec<Option<Children>> = vec![None; wishes.len()];
    // Of tables that follow from one another a round settles one at least.
    for _ in 0..=sizes.len() {
        let before = sizes.to_vec();
        let mut is_settled = vec![false; sizes.len()];
        for (known, wish) in known.iter_mut().zip(wishes) {
            let size = said[wish.table];
            if size.is_said && !size.is_scaled || is_settled[wish.table] {
                continue;
            }
            if known.is_none_or(|Children { of, parents, .. }| sizes[of].rows != parents) {
                *known = children(sizes, wish);
            }
            if let Some(Children { rows, .. }) = *known {
                let rows = if size.is_said { size.rows.min(rows) } else { rows };
                sizes[wish.table] = rows::Size { rows, is_said: true, follows: !size.is_said || size.follows, ..size };
                is_settled[wish.table] = true;
            }
        }
        if *sizes == *before {
            break;
        }
    }
}

/// How many children the rows of a table have.
#[derive(Clone, Copy)]
struct Children {
    of: usize,
    parents: u64,
    rows: u64,
}

fn usage(message: impl Into<Message>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

/// The position of the table of this name.
fn table_position(schema: &Schema, name: &str) -> Result<usize> {
    let Some(position) = schema.position(name) else {
        let near = did_you_mean(name, schema.tables.iter().map(|table| table.name.as_str()));
        return Err(usage(format!("there is no table '{name}'{near}")));
    };
    if !is_invented(schema, &schema.tables[position]) {
        let message = "rows of a virtual table, or of its own tables, cannot be invented";
        return Err(Error::new(ErrorKind::Unsupported, message).in_table(name));
    }
    Ok(position)
}

/// A column that a foreign key decides about, while all such columns are still open.
struct Pending {
    table: usize,
    column: usize,
    parent: Parent,
    reuse: std::result::Result<Reuse, String>,
}

struct Planner<'a> {
    schema: &'a Schema,
    sizes: Vec<rows::Size>,
    on_conflict: Conflict,
    /// For each table, for each column, what is planned so far.
    columns: Vec<Vec<Option<Draft<'a>>>>,
}

impl<'a> Planner<'a> {
    fn new(schema: &'a Schema, sizes: Vec<rows::Size>, on_conflict: Conflict) -> Self {
        let empty = |table: &Table| table.columns.iter().map(|_| None).collect();
        Self { schema, sizes, on_conflict, columns: schema.tables.iter().map(empty).collect() }
    }

    /// Plans what somebody wrote.
    fn wishes(&mut self, wishes: &[Wish<'a>]) -> Result<()> {
        for wish in wishes {
            let site = Some((wish.site, wish.span.end - wish.site.text[wish.span.clone()].trim_start().len()));
            self.columns[wish.table][wish.column] = Some(Draft { site, ..self.draft(wish)? });
        }
        Ok(())
    }

    fn draft(&self, wish: &Wish<'_>) -> Result<Draft<'a>> {
        if self.sizes[wish.table].tpch.is_some() {
            let error = wish.site.error(wish.span.start, "TPC-H says what the values of this table are");
            return Err(error.advise("leave out the table's 'tpch=', or this generator"));
        }
        let (table, size) = (&self.schema.tables[wish.table], self.sizes[wish.table]);
        let expression = parse(&wish.site, wish.span.clone())?;
        let scope = Scope { schema: self.schema, sizes: &self.sizes, table: wish.table, column: wish.column };
        let recipe = Resolver::new(&wish.site, scope).annotation(&expression)?;
        let facts = match &recipe {
            Recipe::Generator { generator, .. } => Some(Facts::of(&**generator)),
            _ => None,
        };
        if let Some(facts) = &facts {
            checks::column(table, wish.column, facts, size.rows, self.on_conflict)
                .map_err(|fault| fault.at(&wish.site, expression.span.start))?;
        }
        Ok(Draft {
            expression: wish.site.text[expression.span].to_owned(),
            chosen: wish.chosen.clone(),
            recipe,
            site: None,
            is_checked: facts.is_some(),
        })
    }

    /// Plans a column by what was inferred.
    fn settle(&mut self, table: usize, column: usize, inferred: Inferred) -> Result<()> {
        let of_table = &self.schema.tables[table];
        let site = Site::new(&inferred.text, "<inferred>").for_column(&of_table.name, &of_table.columns[column].name);
        let span = 0..inferred.text.len();
        let draft = self.draft(&Wish { table, column, site, span, chosen: Chosen::Inferred(inferred.because) })?;
        self.columns[table][column] = Some(draft);
        Ok(())
    }

    fn finish(self) -> Result<GenPlan> {
        let drafts = Drafts { schema: self.schema, sizes: &self.sizes, columns: &self.columns };
        let tables = invented(self.schema).map(|(table, _)| Ok(Arc::new(self.table(drafts, table)?)));
        Ok(GenPlan { tables: tables.collect::<Result<_>>()? })
    }

    /// Compiles a table and checks what was not known before.
    fn table(&self, drafts: Drafts<'_, 'a>, table: usize) -> Result<TablePlan> {
        let (of_table, size) = (&self.schema.tables[table], self.sizes[table]);
        let Compiled { program, facts, referred } = compile::compile(drafts, table)?;
        let mut columns = Vec::new();
        for (column, draft) in self.columns[table].iter().enumerate() {
            let (Some(draft), Some(&facts)) = (draft, facts.get(&column)) else { continue };
            if !draft.is_checked {
                checks::column(of_table, column, &facts, size.rows, self.on_conflict).map_err(|fault| {
                    draft.with_site(self.schema, (table, column), |site, offset| fault.at(site, offset))
                })?;
            }
            columns.push(ColumnPlan {
                column,
                name: of_table.columns[column].name.clone(),
                expression: draft.expression.clone(),
                chosen: draft.chosen.clone(),
                facts,
            });
        }
        let parts = |key: &[usize]| key_parts(drafts, table, &facts, &referred, key);
        checks::keys(of_table, parts, size.rows, self.on_conflict)?;
        Ok(TablePlan {
            table,
            name: of_table.name.clone(),
            rows: size.rows,
            seed: size.seed,
            fixed: size.fixed,
            follows: size.follows,
            tpch: size.tpch,
            on_conflict: self.on_conflict,
            columns,
            program,
        })
    }
}

/// What is known of the columns of a key. Columns that refer to one row, and together tell which, count as one column.
fn key_parts(
    drafts: Drafts<'_, '_>,
    table: usize,
    facts: &HashMap<usize, Facts>,
    referred: &HashMap<usize, Referred>,
    key: &[usize],
) -> Option<Vec<Facts>> {
    let mut parts = Vec::new();
    let mut leaders = Vec::new();
    for column in key {
        let of = referred.get(column);
        if let Some(other) = of.and_then(|of| of.apart_in)
            && key.contains(&other)
            && tells_rows(drafts, table, key, other)
        {
            return Some(vec![Facts { distinct: Distinct::Unique { rows: u64::MAX }, ..*facts.get(column)? }]);
        }
        match of.filter(|_| tells_rows(drafts, table, key, *column)) {
            Some(of) if leaders.contains(&of.leader) => {}
            Some(of) => {
                leaders.push(of.leader);
                parts.push(of.facts);
            }
            None => parts.push(*facts.get(column)?),
        }
    }
    Some(parts)
}

/// Whether a key has all columns of the foreign key that a column of it belongs to: they are a key of the parent.
fn tells_rows(drafts: Drafts<'_, '_>, table: usize, key: &[usize], column: usize) -> bool {
    let Some(reference) = drafts.reference((table, column)) else { return false };
    let keys = drafts.schema.tables[table].foreign_keys.iter();
    let of_parent = keys.filter(|of| drafts.schema.position(&of.parent) == Some(reference.parent));
    let mut its = of_parent.filter(|of| of.columns.contains(&column));
    its.any(|of| of.columns.iter().all(|column| key.contains(column)))
        || infer::is_key_of_all(&drafts.schema.tables[reference.parent], reference.key)
}
