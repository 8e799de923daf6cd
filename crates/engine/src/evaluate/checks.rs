//! Finds rows that break a CHECK constraint.
//!
//! ```text
//! CREATE TABLE t (a CHECK (a > 0), CHECK (b))
//!     -> SELECT CASE WHEN NOT (a > 0) THEN 0 ELSE 1 END FROM t WHERE +(NOT (a > 0) OR NOT (b)) LIMIT 1
//! ```
//!
//! A CHECK is broken if its expression is false, not if it is NULL; that is exactly if NOT of it is true.

use super::{explain, key_columns, scan_clause};
use crate::sqlite::{message, quote_sqlite};
use crate::{Error, ErrorKind, Result};
use litepress_format::value::Value;
use litepress_rows::schema::{EvaluatedCheck, Generated};
use litepress_rows::{Table, quoted_name};
use rusqlite::{Connection, OptionalExtension};

/// Number of broken rows that an error shows.
const SHOWN_ROWS: usize = 5;

/// The value of [`Checks::is_broken`] for a row that breaks a check.
pub(super) const BROKEN: Value<'_> = Value::Int(1);

/// The CHECK constraints of a table, as queries.
#[derive(Clone, Debug)]
pub(super) struct Checks {
    table: Table,
    checks: Vec<EvaluatedCheck>,
    /// An expression that is true for a row that breaks a check.
    is_broken: String,
    /// A query for the number of the first check that a row breaks.
    scan: String,
}

impl Checks {
    /// Prepares the checks of a table. Returns `None` if there are none.
    pub fn new(table: &Table) -> Option<Self> {
        let checks = table.evaluation.as_ref()?.checks.clone();
        if checks.is_empty() {
            return None;
        }
        let broken: Vec<&str> = checks.iter().map(|check| check.is_broken.as_str()).collect();
        let whens: String = (0..).zip(&broken).map(|(check, broken)| format!(" WHEN {broken} THEN {check}")).collect();
        let is_broken = format!("+({})", broken.join(" OR "));
        let scan = format!("SELECT CASE{whens} END FROM {} WHERE {is_broken} LIMIT 1", scan_clause(table));
        Some(Self { table: table.clone(), checks, is_broken, scan })
    }

    /// Returns an expression that is [`BROKEN`] for a row that breaks a check, and something else for others.
    pub fn is_broken(&self) -> &str {
        &self.is_broken
    }

    /// Returns all statements over rows.
    pub fn reads(&self) -> Vec<String> {
        let describe = |broken| self.description(broken, &self.columns_of(broken));
        std::iter::once(self.scan.clone()).chain(self.checks.iter().map(describe)).collect()
    }

    /// Fails if a row of a small database breaks a check.
    pub fn check(&self, small: &Connection) -> Result<()> {
        let broken = small.query_row(&self.scan, [], |row| row.get::<_, usize>(0)).optional();
        match broken.map_err(|error| self.failed(&error))? {
            None => Ok(()),
            Some(check) => Err(self.describe(small, &self.checks[check])?),
        }
    }

    /// Returns the error, which names the check and shows the first rows that break it.
    fn describe(&self, small: &Connection, broken: &EvaluatedCheck) -> Result<Error> {
        let check = &broken.check;
        let (keys, columns) = (key_columns(&self.table), self.columns_of(broken));
        let sql = self.description(broken, &columns);
        let lines = small.prepare(&sql).and_then(|mut statement| {
            let row_text = |row: &rusqlite::Row<'_>| row_text(row, &keys, &columns);
            statement.query_map([], row_text)?.collect::<rusqlite::Result<Vec<_>>>()
        });
        let lines = lines.map_err(|error| self.failed(&error))?.join("; ");
        let what =
            check.name.as_ref().map_or(check.expression.clone(), |name| format!("{name} ({})", check.expression));
        let colon = if lines.is_empty() { "" } else { ": " };
        let error = Error::new(ErrorKind::Constraint, format!("rows break CHECK {what}{colon}{lines}"));
        let error = error.in_table(&self.table.name);
        Ok(if let [(_, column)] = columns.as_slice() { error.in_column(column) } else { error })
    }

    /// Returns the query for the rows that break a check, and these columns of them.
    fn description(&self, broken: &EvaluatedCheck, columns: &[(String, String)]) -> String {
        let keys = key_columns(&self.table);
        let shown = keys.iter().chain(columns).map(|(sql, _)| sql.as_str()).collect::<Vec<_>>().join(", ");
        let shown = if shown.is_empty() { "NULL".to_owned() } else { shown };
        let scan = scan_clause(&self.table);
        format!("SELECT {shown} FROM {scan} WHERE +{} LIMIT {SHOWN_ROWS}", broken.is_broken)
    }

    /// Returns the columns that the check names.
    fn columns_of(&self, broken: &EvaluatedCheck) -> Vec<(String, String)> {
        let names = broken.check.names();
        let is_named = |name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        let columns = self.table.columns.iter().filter(|column| column.generated != Generated::Hidden);
        columns
            .filter(|column| is_named(&column.name))
            .map(|column| (quoted_name(&column.name), column.name.clone()))
            .collect()
    }

    /// Returns the error for an expression that cannot be evaluated. An INSERT of the row would fail too.
    fn failed(&self, error: &rusqlite::Error) -> Error {
        let explained = explain(error, &self.table);
        if explained.kind() != ErrorKind::Constraint {
            return explained;
        }
        // A CHECK that may read the clock is evaluated as a computed column.
        let why = message(error).replace("in a generated column", "in a CHECK constraint");
        let what = format!("a CHECK constraint cannot be evaluated: SQLite says: {why}");
        Error::new(ErrorKind::Constraint, what).in_table(&self.table.name)
    }
}

/// Returns a row as text: `rowid 7 (a = -1, b = 'x')`.
fn row_text(
    row: &rusqlite::Row<'_>,
    keys: &[(String, String)],
    columns: &[(String, String)],
) -> rusqlite::Result<String> {
    let value = |at: usize| Ok::<_, rusqlite::Error>(quote_sqlite(row.get_ref(at)?));
    let mut key = Vec::new();
    for (at, (_, name)) in keys.iter().enumerate() {
        key.push(format!("{name} {}", value(at)?));
    }
    let mut values = Vec::new();
    for (at, (_, name)) in columns.iter().enumerate() {
        values.push(format!("{name} = {}", value(keys.len() + at)?));
    }
    let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
    Ok(format!("{} {values}", key.join(", ")).trim().to_owned())
}
