//! Finds views and triggers that SQLite cannot compile.
//!
//! SQLite accepts them without looking at what they name. A view fails when it is read, and a trigger fails each change of its table.

use super::run::{limit_time, sqlite_failed};
use super::triggers::{changes, compile};
use crate::sqlite::message;
use crate::{Result, quoted_name};
use rusqlite::{Connection, ErrorCode};

/// A view or a trigger that SQLite cannot compile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenObject {
    /// `view` or `trigger`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The table of a trigger. A view belongs to itself.
    pub table: String,
    /// SQLite's message.
    pub problem: String,
}

impl BrokenObject {
    /// Returns whether two of them have one kind and one name.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name.eq_ignore_ascii_case(&other.name)
    }
}

/// The beginning of the statement of each trigger, as `sqlite_schema` has it.
const TRIGGER: &str = "CREATE TRIGGER ";

/// Returns the views and triggers among the objects of these statements, as `sqlite_schema` has them, that SQLite cannot compile. Each
/// trigger is alone then. A statement that fails makes nothing. Functions that are missing do not count: an extension may provide them.
/// Neither do objects for which SQLite takes too long.
///
/// # Errors
/// If SQLite fails otherwise.
pub fn broken_objects<S: AsRef<str>>(statements: &[S]) -> Result<Vec<BrokenObject>> {
    let mut sqlite = Connection::open_in_memory().map_err(|error| sqlite_failed(&error))?;
    // Deleting rows of a parent would compile its children's actions, too.
    sqlite.execute_batch("PRAGMA foreign_keys = OFF").map_err(|error| sqlite_failed(&error))?;
    let statements = statements.iter().map(AsRef::as_ref);
    let (triggers, others): (Vec<&str>, Vec<&str>) = statements.partition(|sql| sql.starts_with(TRIGGER));
    for sql in others {
        // A module may be missing.
        let _ = sqlite.execute(sql, []);
    }
    limit_time(&mut sqlite)?;
    let mut broken = Vec::new();
    match find(&sqlite, &triggers, &mut broken) {
        Err(error) if error.sqlite_error_code() != Some(ErrorCode::OperationInterrupted) => Err(sqlite_failed(&error)),
        _ => Ok(broken),
    }
}

fn find(sqlite: &Connection, triggers: &[&str], broken: &mut Vec<BrokenObject>) -> rusqlite::Result<()> {
    let mut views = sqlite.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'view' ORDER BY rowid")?;
    let views = views.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    for name in views {
        if let Some(error) = compile(sqlite, &format!("SELECT * FROM main.{}", quoted_name(&name)))? {
            let (kind, table, problem) = ("view".to_owned(), name.clone(), message(&error));
            broken.push(BrokenObject { kind, name, table, problem });
        }
    }
    for sql in triggers {
        if sqlite.execute(sql, []).is_err() {
            continue;
        }
        let last = "SELECT name, tbl_name FROM main.sqlite_schema ORDER BY rowid DESC LIMIT 1";
        let (name, table): (String, String) = sqlite.query_row(last, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let Some(error) = failure_of_trigger(sqlite, &name, &table)? {
            let (kind, problem) = ("trigger".to_owned(), message(&error));
            broken.push(BrokenObject { kind, name, table, problem });
        }
    }
    Ok(())
}

/// Returns the error of a change of the trigger's table that does not fail in the same way without the trigger. Drops the trigger.
fn failure_of_trigger(sqlite: &Connection, name: &str, table: &str) -> rusqlite::Result<Option<rusqlite::Error>> {
    let mut failures = Vec::new();
    // The view of an INSTEAD OF trigger may be broken itself.
    for change in changes(sqlite, table).into_iter().flatten() {
        failures.extend(compile(sqlite, &change)?.map(|error| (change, error)));
    }
    sqlite.execute_batch(&format!("DROP TRIGGER main.{}", quoted_name(name)))?;
    for (change, error) in failures {
        let without = compile(sqlite, &change)?;
        if without.is_none_or(|without| message(&without) != message(&error)) {
            return Ok(Some(error));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_broken_object_is_told_with_its_own_problem() {
        let statements = [
            "CREATE TABLE t (a, b AS (a) STORED)",
            "CREATE TABLE log (x, y, z)",
            "CREATE VIEW good AS SELECT other(a) FROM t",
            "CREATE VIEW bad AS SELECT * FROM log UNION ALL SELECT 0, 0",
            "CREATE VIEW worse AS SELECT * FROM bad",
            "CREATE TRIGGER runs AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a, other(1), 3); END",
            "CREATE TRIGGER \"fails too\" BEFORE UPDATE OF a ON t BEGIN INSERT INTO log SELECT old.a, other(2); END",
            "CREATE TRIGGER nested AFTER DELETE ON log BEGIN UPDATE t SET a = 1; END",
            "CREATE TRIGGER instead INSTEAD OF INSERT ON good BEGIN SELECT 1; END",
            "CREATE TRIGGER instead_fails INSTEAD OF DELETE ON good BEGIN DELETE FROM gone; END",
            "CREATE VIRTUAL TABLE v USING no_module(a)",
            "CREATE TRIGGER parent AFTER INSERT ON log WHEN new.w > 1 BEGIN SELECT 1; END",
        ];
        let told = |object: &BrokenObject| format!("{} {}: {}", object.kind, object.name, object.problem);
        let found: Vec<String> = broken_objects(&statements).unwrap().iter().map(told).collect();
        assert_eq!(
            found,
            [
                "view bad: SELECTs to the left and right of UNION ALL do not have the same number of result columns",
                "view worse: SELECTs to the left and right of UNION ALL do not have the same number of result columns",
                "trigger fails too: table log has 3 columns but 2 values were supplied",
                "trigger instead_fails: no such table: main.gone",
                "trigger parent: no such column: new.w",
            ]
        );
    }
}
