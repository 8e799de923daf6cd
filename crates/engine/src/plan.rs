//! Plans how each object of a schema gets into the file, and says why.

use crate::Conflict;
use crate::index::IndexPlan;
use litepress_rows::schema::{Generated, Index, IndexOrigin};
use litepress_rows::{NullPolicy, Schema, Table};

/// The way in which an object gets into the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lane {
    /// litepress writes its pages.
    Direct,
    /// It is a row of `sqlite_schema`, without pages.
    SchemaOnly,
    /// SQLite creates it in the written file, before the file gets its name.
    Sqlite {
        /// The reason why litepress does not write it itself.
        why: String,
    },
    /// SQLite checks it by a query over the written file, before the file gets its name.
    Query,
}

/// One object of the schema with its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// `table`, `index`, `constraint`, `view` or `trigger`.
    pub kind: &'static str,
    /// Name of the object, or its description.
    pub name: String,
    /// The table that it belongs to.
    pub table: String,
    /// The name of its b-tree in `sqlite_schema`; `None` for constraints, views and triggers.
    pub tree: Option<String>,
    /// The way in which it gets into the file.
    pub lane: Lane,
}

/// Returns the lanes of all objects in `schema`. Tables come first, each with its CHECK constraints and indexes.
pub fn steps(schema: &Schema, conflict: Conflict) -> Vec<Step> {
    let mut steps: Vec<Step> = schema.tables.iter().flat_map(|table| table_steps(table, conflict)).collect();
    for object in &schema.objects {
        let kind = match object.kind.as_str() {
            "view" => "view",
            "trigger" => "trigger",
            _ => continue,
        };
        let (name, table, lane) = (object.name.clone(), object.table.clone(), Lane::SchemaOnly);
        steps.push(Step { kind, name, table, tree: None, lane });
    }
    steps
}

/// Returns whether SQLite must create, fill or check an object once litepress has written the rest.
pub fn needs_sqlite(schema: &Schema, conflict: Conflict) -> bool {
    steps(schema, conflict).iter().any(|step| matches!(step.lane, Lane::Sqlite { .. } | Lane::Query))
}

/// Returns why SQLite must fill a table, or `None` if litepress writes it.
pub(crate) fn why_not_printed(table: &Table, conflict: Conflict) -> Option<String> {
    if table.is_virtual {
        return Some("it is a virtual table".to_owned());
    }
    for column in &table.columns {
        let rule = column.not_null || table.strict;
        match column.generated {
            Generated::Stored => return Some(format!("its column {} is computed and stored", column.name)),
            Generated::Virtual if rule => {
                return Some(format!("its column {} is computed and has a rule", column.name));
            }
            _ => {}
        }
    }
    // An automatic index comes with its table and cannot be created later.
    let automatic = own_indexes(table).filter(|index| index.origin != IndexOrigin::Create);
    automatic
        .map(|index| IndexPlan::new(table, index))
        .find_map(Result::err)
        .map(|why| format!("of a constraint, {why}"))
        .or_else(|| why_not_numbered(table))
        .or_else(|| why_not_settled(table, conflict))
}

/// Returns why only SQLite can number rows: the next rowid depends on all earlier rows.
fn why_not_numbered(table: &Table) -> Option<String> {
    let alias = table.rowid_alias.filter(|_| table.has_mixed_rowids)?;
    Some(format!(
        "some of its data lack the column {}, so that rowids are chosen among given ones",
        table.columns[alias].name
    ))
}

/// Returns why only SQLite can tell which rows stay.
fn why_not_settled(table: &Table, conflict: Conflict) -> Option<String> {
    if !table.can_drop_rows(conflict) {
        return None;
    }
    let (policy, null) = match conflict {
        Conflict::Abort => return Some("it has an ON CONFLICT clause".to_owned()),
        Conflict::Ignore => ("ignore", "AUTOINCREMENT counts rows that are left out for NULL"),
        Conflict::Replace => ("replace", "its DEFAULT stands in for NULL"),
    };
    let mut uniques = table.indexes.iter().filter(|index| index.unique);
    let keys = uniques.clone().count() + usize::from(table.rowid_alias.is_some());
    let why = if keys > 1 {
        format!("which rows stay hangs on its {keys} unique keys together")
    } else if table.has_check {
        "its CHECK decides which rows come in".to_owned()
    } else if let Some(why) = uniques.find_map(|index| IndexPlan::new(table, index).err()) {
        format!("of the key that decides which rows stay, {why}")
    } else {
        let column = table.columns_where_null(NullPolicy::AskSqlite, conflict).next()?;
        format!("of its NOT NULL column {}, {null}", table.columns[column].name)
    };
    Some(format!("{why} (on conflict {policy})"))
}

/// Returns the indexes that litepress writes, of a table that it writes.
pub(crate) fn indexes(table: &Table) -> Vec<IndexPlan> {
    own_indexes(table).filter_map(|index| IndexPlan::new(table, index).ok()).collect()
}

/// Returns the indexes with a b-tree of their own. The primary key of a WITHOUT ROWID table is the table's tree.
pub(crate) fn own_indexes(table: &Table) -> impl Iterator<Item = &Index> {
    table.indexes.iter().filter(|index| !(table.without_rowid && index.origin == IndexOrigin::PrimaryKey))
}

fn table_steps(table: &Table, conflict: Conflict) -> Vec<Step> {
    let step = |kind, name: &str, tree: Option<&str>, lane| {
        let (name, tree) = (name.to_owned(), tree.map(str::to_owned));
        Step { kind, name, table: table.name.clone(), tree, lane }
    };
    let not_printed = why_not_printed(table, conflict);
    let lane = not_printed.clone().map_or(Lane::Direct, |why| Lane::Sqlite { why });
    let mut steps = vec![step("table", &table.name, Some(&table.name), lane)];
    let with_table = || not_printed.as_ref().map(|_| Lane::Sqlite { why: "SQLite fills its table".to_owned() });
    if table.has_check {
        steps.push(step("constraint", "CHECK", None, with_table().unwrap_or(Lane::Query)));
    }
    let lane = |index| match IndexPlan::new(table, index) {
        Ok(_) => with_table().unwrap_or(Lane::Direct),
        Err(why) => Lane::Sqlite { why },
    };
    steps.extend(own_indexes(table).map(|index| step("index", &describe(index), Some(&index.name), lane(index))));
    steps
}

fn describe(index: &Index) -> String {
    match index.origin {
        IndexOrigin::Create => index.name.clone(),
        IndexOrigin::Unique => format!("{} (UNIQUE constraint)", index.name),
        IndexOrigin::PrimaryKey => format!("{} (PRIMARY KEY)", index.name),
    }
}
