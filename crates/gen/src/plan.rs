//! What will be invented: for each table how many rows, for each column by which generator, and who said so.
//!
//! ```text
//! schema, request --rows.rs--> rows and seed of each table
//! request, else annotation --resolve.rs--> recipes; those that are a generator alone are checked (checks.rs) at once
//! else infer ----------------------------> all columns but foreign keys; then those, as their parents' keys become known
//! recipes --compile.rs-------------------> a program a table; what is computed, and keys of several columns, is checked
//! ```

mod checks;
mod compile;
mod resolve;
mod rows;
#[cfg(test)]
mod tests;

use crate::annotation::{Site, parse};
use crate::comments::{self, Annotation};
use crate::generators::Facts;
use crate::infer::{self, Inferred, Parent, Reference};
use crate::program::Program;
use crate::suggest::did_you_mean;
use crate::tables::{invented, is_invented};
use compile::{Compiled, Drafts};
use litepress_rows::schema::{Generated, Schema, Table};
use litepress_rows::{Conflict, Error, ErrorKind, Result};
use resolve::{Recipe, Resolver};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What the caller wants beyond what the schema says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Numbers of rows by table; without a name for the only table of the schema.
    pub rows: Vec<(Option<String>, u64)>,
    /// Annotations of columns, which come before those of the schema.
    pub set: Vec<SetColumn>,
    /// Seed of all tables, before those of the schema.
    pub seed: Option<u64>,
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
    /// What becomes of rows that the table does not take.
    pub on_conflict: Conflict,
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
    /// Nobody: it was inferred, for this reason.
    Inferred(String),
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Annotation => f.write_str("annotation"),
            Self::Set => f.write_str("set"),
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
}

impl GenPlan {
    /// Plans the rows of all tables of `schema`, virtual tables apart.
    ///
    /// # Errors
    /// [`ErrorKind::Generator`] and [`ErrorKind::Usage`], with the place of the annotation or what the request calls it:
    /// an unknown table, column or generator; wrong arguments; values that the column is sure to refuse, or almost
    /// (20 duplicates expected or more in a key); no number of rows.
    pub fn new(schema: &Schema, request: &Request) -> Result<Self> {
        let annotations = comments::annotations(schema)?;
        let sizes = rows::sizes(schema, request, &annotations)?;
        let wishes = wishes(schema, request, &annotations)?;
        let mut planner = Planner::new(schema, sizes, request.on_conflict);
        planner.wishes(&wishes)?;
        planner.infer()?;
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
        let wish = set_wish(schema, set)?;
        if wishes.iter().any(|other| (other.table, other.column) == (wish.table, wish.column)) {
            return Err(usage("this column is given a generator twice").in_file(&set.origin));
        }
        wishes.push(wish);
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

fn set_wish<'a>(schema: &'a Schema, set: &'a SetColumn) -> Result<Wish<'a>> {
    let SetColumn { table, column, expression: text, origin } = set;
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

fn usage(message: impl Into<String>) -> Error {
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

/// A foreign key whose parent may not be planned yet.
#[derive(Clone, Copy)]
struct Pending {
    table: usize,
    column: usize,
    parent: Parent,
    /// What it adds to a key that consists of foreign keys, where it is part of one.
    digit: Option<Digit>,
}

/// A key's column as a digit of the row number.
#[derive(Clone, Copy)]
struct Digit {
    /// So many rows hold the same value, one after another.
    each: u64,
    /// So many rows can be told apart by the whole key.
    combinations: u64,
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
        let (table, size) = (&self.schema.tables[wish.table], self.sizes[wish.table]);
        let expression = parse(&wish.site, wish.span.clone())?;
        let recipe = Resolver::new(&wish.site, table, wish.column, size.rows).annotation(&expression)?;
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

    /// The ordinary columns that nothing is planned for yet.
    fn open_columns(&self) -> Vec<(usize, usize)> {
        let mut open = Vec::new();
        for (table, of) in invented(self.schema) {
            let ordinary = of.columns.iter().enumerate().filter(|(_, column)| column.generated == Generated::No);
            let missing = ordinary.filter(|&(column, _)| self.columns[table][column].is_none());
            open.extend(missing.map(|(column, _)| (table, column)));
        }
        open
    }

    fn infer(&mut self) -> Result<()> {
        let mut pending = Vec::new();
        for (table, column) in self.open_columns() {
            let (of_table, rows) = (&self.schema.tables[table], self.sizes[table].rows);
            match infer::reference(self.schema, of_table, column) {
                Reference::Unclear(why) if rows > 0 => {
                    self.settle(table, column, infer::without_parent(of_table, column, &why)?)?;
                }
                Reference::None | Reference::Unclear(_) => {
                    self.settle(table, column, infer::column(of_table, column, rows))?;
                }
                Reference::Single(parent) => {
                    pending.push(Pending { table, column, parent, digit: self.digit(table, column) });
                }
            }
        }
        self.infer_references(pending)
    }

    /// What a column adds to a key that consists of foreign keys which are all to be inferred.
    ///
    /// The key's last column has another value in each row, and its first column the values of its parent evenly, one
    /// after another: all keys of all parents are used, and rows come in the order of the key.
    fn digit(&self, table: usize, column: usize) -> Option<Digit> {
        let of_table = &self.schema.tables[table];
        let is_open = |&column: &usize| self.columns[table][column].is_none();
        let parents_rows = |columns: &[usize]| -> Option<Vec<u64>> {
            let rows_of = |&column: &usize| match infer::reference(self.schema, of_table, column) {
                Reference::Single(parent) => Some(self.sizes[parent.table].rows),
                _ => None,
            };
            columns.iter().map(rows_of).collect()
        };
        let mut keys = infer::unique_keys(of_table).filter(|key| {
            let settled = key.iter().any(|&column| infer::is_key_alone(of_table, column));
            key.len() > 1 && key.contains(&column) && !settled && key.iter().all(is_open)
        });
        let (key, sizes) = keys.find_map(|key| parents_rows(&key).map(|sizes| (key, sizes)))?;
        let product = |sizes: &[u64]| sizes.iter().fold(1_u64, |product, &size| product.saturating_mul(size));
        let position = key.iter().position(|&other| other == column)?;
        let each = match position {
            0 => self.sizes[table].rows.div_ceil(sizes[0].max(1)),
            _ => product(&sizes[position + 1..]),
        };
        Some(Digit { each: each.clamp(1, i64::MAX.unsigned_abs()), combinations: product(&sizes) })
    }

    /// Plans foreign keys as their parents become known; what is left then is a circle.
    fn infer_references(&mut self, mut pending: Vec<Pending>) -> Result<()> {
        loop {
            let is_known = |next: &Pending| self.columns[next.parent.table][next.parent.column].is_some();
            let (known, unknown): (Vec<Pending>, Vec<Pending>) = pending.iter().partition(|next| is_known(next));
            if known.is_empty() {
                break;
            }
            for next in known {
                let inferred = self.infer_reference(next)?;
                self.settle(next.table, next.column, inferred)?;
            }
            pending = unknown;
        }
        for Pending { table, column, .. } in pending {
            let of_table = &self.schema.tables[table];
            let why = "its parent's key is a foreign key that leads back to it, or is generated";
            self.settle(table, column, infer::without_parent(of_table, column, why)?)?;
        }
        Ok(())
    }

    /// The annotation of a foreign key whose parent is planned.
    fn infer_reference(&self, Pending { table, column, parent, digit }: Pending) -> Result<Inferred> {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent.table]);
        let (rows, parent_rows) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        let key = format!("{}.{}", of_parent.name, of_parent.columns[parent.column].name);
        if rows == 0 {
            return Ok(infer::column(of_table, column, rows));
        }
        let without = |why: &str| infer::without_parent(of_table, column, why);
        let keys = match self.columns[parent.table][parent.column].as_ref().map(|draft| &draft.recipe) {
            Some(Recipe::Generator { generator, .. }) => generator.progression(parent_rows),
            _ => None,
        };
        let Some(keys) = keys else {
            return without(&format!("the values of {key} are no sequence"));
        };
        let is_key = infer::is_key_alone(of_table, column);
        if is_key && rows > parent_rows {
            return without(&format!("it is unique, and {key} has {parent_rows} values for {rows} rows"));
        }
        if let Some(Digit { combinations, .. }) = digit
            && rows > combinations
        {
            let why = format!("it is part of a key that has {combinations} values for {rows} rows");
            return without(&why);
        }
        let reuse = match digit {
            Some(Digit { each, .. }) => infer::Reuse::Digit { each },
            None if is_key => infer::Reuse::Once,
            None => infer::Reuse::AtRandom,
        };
        infer::of_progression(reuse, keys, parent_rows, &key)
            .map_or_else(|| without(&format!("{key} has no values")), Ok)
    }

    fn finish(self) -> Result<GenPlan> {
        let drafts = Drafts { schema: self.schema, sizes: &self.sizes, columns: &self.columns };
        let tables = invented(self.schema).map(|(table, _)| Ok(Arc::new(self.table(drafts, table)?)));
        Ok(GenPlan { tables: tables.collect::<Result<_>>()? })
    }

    /// Compiles a table and checks what was not known before.
    fn table(&self, drafts: Drafts<'_, 'a>, table: usize) -> Result<TablePlan> {
        let (of_table, size) = (&self.schema.tables[table], self.sizes[table]);
        let Compiled { program, facts } = compile::compile(drafts, table)?;
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
        checks::keys(of_table, |column| facts.get(&column).copied(), size.rows, self.on_conflict)?;
        Ok(TablePlan {
            table,
            name: of_table.name.clone(),
            rows: size.rows,
            seed: size.seed,
            on_conflict: self.on_conflict,
            columns,
            program,
        })
    }
}
