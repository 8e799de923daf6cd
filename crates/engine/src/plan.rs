//! What litepress would do with a schema: which lane each object takes, and why.

use crate::index::IndexPlan;
use crate::{Error, ErrorKind, Result};
use litepress_rows::schema::{Generated, Index, IndexOrigin};
use litepress_rows::{Schema, Table};

/// How an object comes into the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lane {
    /// Its pages are printed.
    Direct,
    /// It is a row of `sqlite_schema` and has no pages of its own.
    SchemaOnly,
    /// It cannot be made yet.
    Refused {
        /// What is missing.
        why: String,
    },
}

/// One object of the schema with its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// `table`, `index`, `constraint`, `view` or `trigger`.
    pub kind: &'static str,
    /// Name of the object, or what describes it.
    pub name: String,
    /// Table that it belongs to.
    pub table: String,
    /// The lane.
    pub lane: Lane,
}

/// The lanes of everything in `schema`, tables first.
pub fn steps(schema: &Schema) -> Vec<Step> {
    let mut steps: Vec<Step> = schema.tables.iter().flat_map(table_steps).collect();
    for object in &schema.objects {
        let kind = match object.kind.as_str() {
            "view" => "view",
            "trigger" => "trigger",
            _ => continue,
        };
        steps.push(Step { kind, name: object.name.clone(), table: object.table.clone(), lane: Lane::SchemaOnly });
    }
    steps
}

/// Refuses a schema of which a part cannot be made, naming the first such part.
///
/// # Errors
/// [`ErrorKind::Unsupported`]
pub fn check(schema: &Schema) -> Result<()> {
    for step in steps(schema) {
        if let Lane::Refused { why } = step.lane {
            let what = if step.kind == "table" { why } else { format!("{} {}: {why}", step.kind, step.name) };
            return Err(Error::new(ErrorKind::Unsupported, what).in_table(step.table));
        }
    }
    Ok(())
}

/// The indexes of a table that are printed.
pub(crate) fn indexes(table: &Table) -> Vec<IndexPlan> {
    own_indexes(table).filter_map(|index| IndexPlan::new(table, index).ok()).collect()
}

/// Indexes that have a tree of their own: the primary key of a WITHOUT ROWID table is the table.
fn own_indexes(table: &Table) -> impl Iterator<Item = &Index> {
    table.indexes.iter().filter(|index| !(table.without_rowid && index.origin == IndexOrigin::PrimaryKey))
}

fn table_steps(table: &Table) -> Vec<Step> {
    let refused = |why: &str| Lane::Refused { why: why.to_owned() };
    let step = |kind, name: &str, lane| Step { kind, name: name.to_owned(), table: table.name.clone(), lane };
    let lane = if table.is_virtual { refused("virtual tables cannot be printed yet") } else { Lane::Direct };
    let mut steps = vec![step("table", &table.name, lane)];
    for column in table.columns.iter().filter(|column| column.generated == Generated::Stored) {
        steps.push(step("column", &column.name, refused("stored generated columns cannot be printed yet")));
    }
    for column in table.columns.iter().filter(|column| column.generated == Generated::Virtual) {
        if column.not_null || table.strict {
            let why = "NOT NULL and STRICT types of virtual columns cannot be checked yet";
            steps.push(step("column", &column.name, refused(why)));
        }
    }
    if table.has_check {
        steps.push(step("constraint", "CHECK", refused("CHECK constraints cannot be checked yet")));
    }
    if !table.is_virtual {
        let lane = |index| match IndexPlan::new(table, index) {
            Ok(_) => Lane::Direct,
            Err(why) => Lane::Refused { why: format!("{why}, and such indexes cannot be printed yet") },
        };
        steps.extend(own_indexes(table).map(|index| step("index", &describe(index), lane(index))));
    }
    steps
}

fn describe(index: &Index) -> String {
    match index.origin {
        IndexOrigin::Create => index.name.clone(),
        IndexOrigin::Unique => format!("{} (UNIQUE constraint)", index.name),
        IndexOrigin::PrimaryKey => format!("{} (PRIMARY KEY)", index.name),
    }
}
