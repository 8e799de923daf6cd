//! Plans how each object of a schema gets into the file, and says why.

use crate::Conflict;
use crate::evaluate::computed;
use crate::full_text::virtual_table_reason;
use crate::index::IndexPlan;
use litepress_rows::schema::{Generated, Index, IndexOrigin};
use litepress_rows::{Column, NullPolicy, Schema, Table};

/// The way in which an object gets into the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildMethod {
    /// litepress writes its pages.
    Direct,
    /// litepress writes its pages. SQLite evaluates it row by row on every core, while the rows pass.
    Evaluated,
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

/// One object of the schema, and how it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectPlan {
    /// `table`, `index`, `constraint`, `view` or `trigger`.
    pub kind: &'static str,
    /// Name of the object, or its description.
    pub name: String,
    /// The table that it belongs to.
    pub table: String,
    /// The name of its b-tree in `sqlite_schema`; `None` for constraints, views and triggers.
    pub tree: Option<String>,
    /// The way in which it gets into the file.
    pub method: BuildMethod,
}

/// Plans all objects of `schema`. Tables come first, each with its CHECK constraints and indexes.
pub fn plan_objects(schema: &Schema, conflict: Conflict) -> Vec<ObjectPlan> {
    let mut plans: Vec<ObjectPlan> = schema.tables.iter().flat_map(|table| plan_table(table, conflict)).collect();
    for object in &schema.objects {
        let kind = match object.kind.as_str() {
            "view" => "view",
            "trigger" => "trigger",
            "table" if !object.has_btree && schema.table(&object.name).is_none() => "table",
            _ => continue,
        };
        let (name, table, method) = (object.name.clone(), object.table.clone(), BuildMethod::SchemaOnly);
        plans.push(ObjectPlan { kind, name, table, tree: None, method });
    }
    plans
}

/// Returns whether SQLite must create, fill or check an object once litepress has written the rest.
pub fn needs_sqlite(schema: &Schema, conflict: Conflict) -> bool {
    plan_objects(schema, conflict)
        .iter()
        .any(|object| matches!(object.method, BuildMethod::Sqlite { .. } | BuildMethod::Query))
}

/// Returns whether SQLite must fill a table.
pub fn is_filled_by_sqlite(table: &Table, conflict: Conflict) -> bool {
    unsupported_reason(table, conflict).is_some()
}

/// Returns why SQLite must fill a table, or `None` if litepress writes it.
pub(crate) fn unsupported_reason(table: &Table, conflict: Conflict) -> Option<String> {
    // SQLite has no upsert for virtual tables, and says so itself.
    if table.rtree.is_some() && conflict != Conflict::Update {
        return None;
    }
    if table.is_virtual {
        return virtual_table_reason(table, conflict);
    }
    if let Some(why) = not_computable_reason(table, conflict) {
        return Some(why);
    }
    // An automatic index comes with its table and cannot be created later.
    let automatic = own_indexes(table).filter(|index| index.origin != IndexOrigin::Create);
    automatic
        .map(|index| IndexPlan::evaluated(table, index))
        .find_map(Result::err)
        .map(|why| format!("of a constraint, {why}"))
        .or_else(|| mixed_rowids_reason(table))
        .or_else(|| sqlite_only_reason(table, conflict))
}

/// Returns why only SQLite can compute columns that a row needs before it is stored.
pub(crate) fn not_computable_reason(table: &Table, conflict: Conflict) -> Option<String> {
    let is_rule = |column: &&Column| match column.generated {
        Generated::Stored => true,
        Generated::Virtual => column.not_null || table.strict,
        Generated::No | Generated::Hidden => false,
    };
    let column = table.columns.iter().find(is_rule)?;
    let has_rule = |column: &Column| is_rule(&column) && (column.not_null || table.strict);
    if table.can_drop_rows(conflict) && table.columns.iter().any(has_rule) {
        return Some(format!("its column {} is computed, and its rule decides which rows come in", column.name));
    }
    let is_evaluated = table.evaluation.as_ref().is_some_and(|evaluation| evaluation.virtual_statements.is_some());
    (!is_evaluated).then(|| format!("its column {} is computed, and its expression cannot be told", column.name))
}

/// Returns whether CHECK constraints are evaluated while rows pass.
pub(crate) fn checks_rows(table: &Table) -> bool {
    table.has_check && table.evaluation.as_ref().is_some_and(|evaluation| !evaluation.checks.is_empty())
}

/// Returns whether SQLite must check the written table, because the texts of its CHECK constraints cannot be told.
pub(crate) fn checks_by_sqlite(table: &Table) -> bool {
    table.has_check && !checks_rows(table)
}

/// Returns why only SQLite can number rows: the next rowid depends on all earlier rows.
fn mixed_rowids_reason(table: &Table) -> Option<String> {
    let alias = table.rowid_alias.filter(|_| table.has_mixed_rowids)?;
    Some(format!(
        "some of its data lack the column {}, so that rowids are chosen among given ones",
        table.columns[alias].name
    ))
}

/// Returns why only SQLite can tell which rows stay.
fn sqlite_only_reason(table: &Table, conflict: Conflict) -> Option<String> {
    if !table.can_drop_rows(conflict) {
        return None;
    }
    let (policy, null) = match conflict {
        Conflict::Abort => return Some("it has an ON CONFLICT clause".to_owned()),
        Conflict::Ignore => ("ignore", "AUTOINCREMENT counts rows that are left out for NULL"),
        Conflict::Replace => ("replace", "its DEFAULT stands in for NULL"),
        Conflict::Update => return Some("rows update rows with the same key (on conflict update)".to_owned()),
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
    own_indexes(table).filter_map(|index| IndexPlan::evaluated(table, index).ok()).collect()
}

/// Returns the indexes with a b-tree of their own. The primary key of a WITHOUT ROWID table is the table's tree.
pub(crate) fn own_indexes(table: &Table) -> impl Iterator<Item = &Index> {
    table.indexes.iter().filter(|index| !(table.without_rowid && index.origin == IndexOrigin::PrimaryKey))
}

fn plan_table(table: &Table, conflict: Conflict) -> Vec<ObjectPlan> {
    let plan = |kind, name: &str, tree: Option<&str>, method| {
        let (name, tree) = (name.to_owned(), tree.map(str::to_owned));
        ObjectPlan { kind, name, table: table.name.clone(), tree, method }
    };
    let unsupported = unsupported_reason(table, conflict);
    let method = match &unsupported {
        Some(why) => BuildMethod::Sqlite { why: why.clone() },
        None if computed::is_needed(table) => BuildMethod::Evaluated,
        None => BuildMethod::Direct,
    };
    let mut plans = vec![plan("table", &table.name, Some(&table.name), method)];
    let with_table = || unsupported.as_ref().map(|_| BuildMethod::Sqlite { why: "SQLite fills its table".to_owned() });
    if table.has_check {
        let check = if checks_rows(table) { BuildMethod::Evaluated } else { BuildMethod::Query };
        plans.push(plan("constraint", "CHECK", None, with_table().unwrap_or(check)));
    }
    let method = |index| match IndexPlan::evaluated(table, index) {
        Ok(plan) if plan.evaluated_index().is_some() => with_table().unwrap_or(BuildMethod::Evaluated),
        Ok(_) => with_table().unwrap_or(BuildMethod::Direct),
        Err(why) => BuildMethod::Sqlite { why },
    };
    plans.extend(own_indexes(table).map(|index| plan("index", &describe(index), Some(&index.name), method(index))));
    plans
}

fn describe(index: &Index) -> String {
    match index.origin {
        IndexOrigin::Create => index.name.clone(),
        IndexOrigin::Unique => format!("{} (UNIQUE constraint)", index.name),
        IndexOrigin::PrimaryKey => format!("{} (PRIMARY KEY)", index.name),
    }
}
