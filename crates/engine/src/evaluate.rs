//! Has SQLite evaluate expressions over rows that are on their way: on every core, in the same pass as the rows.
//!
//! ```text
//! RecordChunk -> small_database: pages of a small database in memory, with the table's real schema
//!                     |  SELECT ... FROM t, on the worker's own connection
//!                     +-> keys: records of the entries of expression and partial indexes -> index::EntryExtractor
//!                     +-> checks: rows that break a CHECK constraint
//!                     +-> computed: values of stored computed columns, for the records of the table
//! ```
//!
//! SQLite sees real rows of the real table. So affinities, collations, NULLs and virtual columns are its own. It accepts only
//! deterministic functions in these places, so the result does not depend on the threads. The texts of the statements are in
//! the [`Evaluation`](litepress_rows::schema::Evaluation) of the table.

mod checked_rows;
mod checks;
pub(crate) mod computed;
mod keys;
mod projection;
mod row_filter;
mod select;
mod small_database;
#[cfg(test)]
mod tests;

pub(crate) use checked_rows::CheckedRows;
pub(crate) use keys::{Evaluator, RowEvaluation, can_evaluate};

use crate::sqlite::Failures;
use crate::{Error, ErrorKind, Progress};
use litepress_format::value::Value;
use litepress_rows::affinity::real_as_integer;
use litepress_rows::{Table, quoted_name};

/// Returns a value from SQLite as a record holds it. `is_real` says that it is of a REAL column.
fn recorded(value: Value<'_>, is_real: bool) -> Value<'_> {
    match value {
        Value::Real(real) if is_real => real_as_integer(real).map_or(Value::Real(real), Value::Int),
        value => value,
    }
}

/// Returns the columns that identify a row: each as SQL writes it, and its name.
fn key_columns(table: &Table) -> Vec<(String, String)> {
    if let Some(rowid) = table.rowid_name() {
        return vec![(rowid, "rowid".to_owned())];
    }
    let mut key: Vec<_> = table.columns.iter().filter(|column| column.key_position.is_some()).collect();
    key.sort_by_key(|column| column.key_position);
    key.iter().map(|column| (quoted_name(&column.name), column.name.clone())).collect()
}

/// Returns the FROM clause that scans the rows of a small database. A WITHOUT ROWID table is scanned by its key: SQLite would
/// take `NOT INDEXED` for leave to read another index, which is empty.
fn scan_clause(table: &Table) -> String {
    let name = quoted_name(&table.name);
    match table.primary_index().filter(|_| table.without_rowid) {
        Some(key) => format!("{name} INDEXED BY {}", quoted_name(&key.name)),
        None => format!("{name} NOT INDEXED"),
    }
}

/// Explains a failure of SQLite to evaluate a row.
fn explain(error: &rusqlite::Error, table: &Table) -> Error {
    Failures::of(&Progress::default()).explain(error, ErrorKind::Constraint).in_table(&table.name)
}
