//! Checks CHECK constraints by a query over the finished table.
//!
//! ```text
//! CREATE TABLE t (a CHECK (a > 0), CHECK (b))
//!     -> SELECT CASE WHEN NOT (a > 0) THEN 0 ELSE 1 END FROM t NOT INDEXED WHERE NOT (a > 0) OR NOT (b) LIMIT 1
//! ```
//!
//! A CHECK is broken if its expression is false, not if it is NULL; that is exactly if NOT of it is true. The table is
//! cut into ranges of rowids of equal width. Threads take the ranges in order, and the first range with a broken row
//! decides, so that the error does not depend on timing.
//!
//! SQLite's own byte code decides what the query cannot: `PRAGMA quick_check` evaluates CHECKs as an INSERT does. It
//! is slow, runs on one core and names no row. So it runs only in two cases: the constraints in the text are not those
//! of the byte code, or a date function may read the clock, which INSERT refuses and a query does not.

use super::create_text::{Check, checks};
use super::failure::message;
use super::scan::first_found;
use super::{SqliteSession, quote_sqlite};
use crate::{Error, ErrorKind, Result};
use litepress_rows::schema::Generated;
use litepress_rows::{Table, quoted_name};
use rusqlite::OptionalExtension;

/// Number of broken rows that an error shows.
const SHOWN_ROWS: usize = 5;

/// Number of ranges of a large table: many more than threads, because rows may crowd in a few.
const RANGES: usize = 64;

/// Smallest span of rowids that is cut into ranges.
const MIN_SPAN: i128 = 100_000;

/// Functions that read the clock if their argument is `now`.
const CLOCK_FUNCTIONS: [&str; 7] = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"];

/// Fails if a row of the table breaks one of the CHECKs of its statement.
pub(super) fn check(session: &SqliteSession, table: &Table, create_sql: &str) -> Result<()> {
    let constraints = Constraints::new(session, table, checks(create_sql));
    if !constraints.are_those_of_byte_code() || !constraints.are_queries() {
        return constraints.quick_check();
    }
    if constraints.checks.is_empty() {
        return Ok(());
    }
    if let Some(broken) = constraints.find_broken()? {
        return Err(constraints.describe(broken)?);
    }
    if constraints.may_look_at_clock() { constraints.quick_check() } else { Ok(()) }
}

/// The rows between two rowids, inclusive. `None` is all rows, if no rowid can be asked for.
type Rows = Option<(i64, i64)>;

/// A check that is broken, and the place.
#[derive(Clone, Copy)]
struct Broken {
    /// Position of the check.
    check: usize,
    /// Range of the broken row.
    rows: Rows,
}

struct Constraints<'l> {
    session: &'l SqliteSession,
    table: &'l Table,
    checks: Vec<Check>,
    /// The name of the rowid in queries.
    rowid: Option<String>,
}

impl<'l> Constraints<'l> {
    fn new(session: &'l SqliteSession, table: &'l Table, checks: Vec<Check>) -> Self {
        Self { session, table, checks, rowid: table.rowid_name() }
    }

    /// Returns whether the checks in the text cover those of SQLite's byte code.
    fn are_those_of_byte_code(&self) -> bool {
        let names: Vec<String> = self.checks.iter().map(Check::sqlite_name).collect();
        let known = self.names_in_byte_code().is_ok_and(|known| known.iter().all(|name| names.contains(name)));
        known && (!self.table.has_check || !names.is_empty())
    }

    /// Returns the names of the checks that an INSERT makes.
    fn names_in_byte_code(&self) -> rusqlite::Result<Vec<String>> {
        const SQLITE_CONSTRAINT_CHECK: i64 = 275;
        let sql = format!("EXPLAIN INSERT INTO {} DEFAULT VALUES", quoted_name(&self.table.name));
        let mut explain = self.session.connection.prepare(&sql)?;
        let mut rows = explain.query([])?;
        let mut names = Vec::new();
        while let Some(row) = rows.next()? {
            if row.get::<_, String>("opcode")? == "Halt" && row.get::<_, i64>("p1")? == SQLITE_CONSTRAINT_CHECK {
                names.push(row.get("p4")?);
            }
        }
        Ok(names)
    }

    /// Returns whether SQLite accepts the query. It may not if the text was cut wrongly.
    fn are_queries(&self) -> bool {
        self.checks.is_empty() || self.session.connection.prepare(&self.scan_sql(None)).is_ok()
    }

    fn may_look_at_clock(&self) -> bool {
        let is_clock = |name: String| CLOCK_FUNCTIONS.iter().any(|function| function.eq_ignore_ascii_case(&name));
        self.checks.iter().any(|check| check.names().into_iter().any(is_clock))
    }

    /// Asks SQLite for its own verdict.
    fn quick_check(&self) -> Result<()> {
        let name = &self.table.name;
        let sql = format!("PRAGMA quick_check({})", quoted_name(name));
        let findings = self.session.connection.prepare(&sql).and_then(|mut statement| {
            statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
        });
        let findings = findings.map_err(|error| self.failed(&error))?;
        let broken = findings.iter().find(|finding| finding.starts_with("CHECK constraint failed"));
        match (broken, findings.first()) {
            (Some(finding), _) => {
                Err(Error::new(ErrorKind::Constraint, format!("SQLite says: {finding}")).in_table(name))
            }
            (None, Some(finding)) if finding != "ok" => {
                Err(Error::new(ErrorKind::Corrupt, format!("SQLite says: {finding}")).in_table(name))
            }
            _ => Ok(()),
        }
    }

    fn find_broken(&self) -> Result<Option<Broken>> {
        let ranges = self.ranges()?;
        let queries: Vec<String> = ranges.iter().map(|&rows| self.scan_sql(rows)).collect();
        match first_found(self.session, &queries) {
            None => Ok(None),
            Some((number, Ok(check))) => Ok(Some(Broken { check, rows: ranges[number] })),
            Some((_, Err(error))) => Err(self.failed(&error)),
        }
    }

    /// Returns the ranges of a scan, which depend on the table alone.
    fn ranges(&self) -> Result<Vec<Rows>> {
        let Some(rowid) = &self.rowid else { return Ok(vec![None]) };
        let end = |order: &str| {
            let sql = format!(
                "SELECT {rowid} FROM {} NOT INDEXED ORDER BY {rowid} {order} LIMIT 1",
                quoted_name(&self.table.name)
            );
            self.session
                .connection
                .query_row(&sql, [], |row| row.get(0))
                .optional()
                .map_err(|error| self.failed(&error))
        };
        let (Some(first), Some(last)) = (end("ASC")?, end("DESC")?) else { return Ok(Vec::new()) };
        Ok(cut(first, last))
    }

    /// Returns a query for the number of the first check that one of these rows breaks.
    fn scan_sql(&self, rows: Rows) -> String {
        let broken: Vec<String> = self.checks.iter().map(is_broken).collect();
        let whens: String = (0..).zip(&broken).map(|(check, broken)| format!(" WHEN {broken} THEN {check}")).collect();
        let range = self.range_sql(rows);
        let table = quoted_name(&self.table.name);
        format!("SELECT CASE{whens} END FROM {table} NOT INDEXED WHERE {range} ({}) LIMIT 1", broken.join(" OR "))
    }

    fn range_sql(&self, rows: Rows) -> String {
        match (rows, &self.rowid) {
            (Some((first, last)), Some(rowid)) => {
                format!("{rowid} BETWEEN {first} AND {last} AND")
            }
            _ => String::new(),
        }
    }

    /// Returns the error, which names the check and shows the first rows that break it.
    fn describe(&self, broken: Broken) -> Result<Error> {
        let check = &self.checks[broken.check];
        let columns = self.columns_of(check);
        let keys = self.key_columns();
        let shown = keys.iter().chain(&columns).map(|(sql, _)| sql.as_str()).collect::<Vec<_>>().join(", ");
        let shown = if shown.is_empty() { "NULL".to_owned() } else { shown };
        let sql = format!(
            "SELECT {shown} FROM {} NOT INDEXED WHERE {} {} LIMIT {}",
            quoted_name(&self.table.name),
            self.range_sql(broken.rows),
            is_broken(check),
            SHOWN_ROWS
        );
        let lines = self.session.connection.prepare(&sql).and_then(|mut statement| {
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

    /// Returns the columns that identify a row: each as SQL writes it, and its name.
    fn key_columns(&self) -> Vec<(String, String)> {
        if let Some(rowid) = &self.rowid {
            return vec![(rowid.clone(), "rowid".to_owned())];
        }
        let mut key: Vec<_> = self.table.columns.iter().filter(|column| column.key_position.is_some()).collect();
        key.sort_by_key(|column| column.key_position);
        key.iter().map(|column| (quoted_name(&column.name), column.name.clone())).collect()
    }

    /// Returns the columns that the check names.
    fn columns_of(&self, check: &Check) -> Vec<(String, String)> {
        let names = check.names();
        let is_named = |name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        let columns = self.table.columns.iter().filter(|column| column.generated != Generated::Hidden);
        columns
            .filter(|column| is_named(&column.name))
            .map(|column| (quoted_name(&column.name), column.name.clone()))
            .collect()
    }

    /// Returns the error for an expression that cannot be evaluated. An INSERT of the row would fail too.
    fn failed(&self, error: &rusqlite::Error) -> Error {
        let explained = self.session.failures().explain(error, ErrorKind::Constraint);
        if explained.kind() != ErrorKind::Constraint {
            return explained.in_table(&self.table.name);
        }
        let what = format!("a CHECK constraint cannot be evaluated: SQLite says: {}", message(error));
        Error::new(ErrorKind::Constraint, what).in_table(&self.table.name)
    }
}

/// Returns an expression that is true for a row that breaks the check. Its line break ends a comment with which the
/// check may end.
fn is_broken(check: &Check) -> String {
    format!("NOT ({}\n)", check.expression)
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

/// Cuts a span of rowids into ranges of equal width.
fn cut(first: i64, last: i64) -> Vec<Rows> {
    let span = i128::from(last) - i128::from(first) + 1;
    if span < MIN_SPAN {
        return vec![Some((first, last))];
    }
    let bound = |number: usize| i128::from(first) + span * number as i128 / RANGES as i128;
    let rowid = |bound: i128| i64::try_from(bound).expect("between two rowids");
    (0..RANGES).map(|number| Some((rowid(bound(number)), rowid(bound(number + 1) - 1)))).collect()
}
