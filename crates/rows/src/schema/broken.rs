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

/// Returns the views and triggers among the objects of these statements that SQLite cannot compile. Each trigger is alone then. A
/// statement that fails makes nothing. Functions that are missing do not count: an extension may provide them.
///
/// # Errors
/// If SQLite fails otherwise.
pub fn broken_objects<S: AsRef<str>>(statements: &[S]) -> Result<Vec<BrokenObject>> {
    let mut sqlite = Connection::open_in_memory().map_err(|error| sqlite_failed(&error))?;
    limit_time(&mut sqlite)?;
    find(&sqlite, statements).map_err(|error| sqlite_failed(&error))
}

/// A view or a trigger.
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

fn find<S: AsRef<str>>(sqlite: &Connection, statements: &[S]) -> rusqlite::Result<Vec<BrokenObject>> {
    // Deleting rows of a parent would compile its children's actions, too.
    sqlite.execute_batch("PRAGMA foreign_keys = OFF")?;
    for sql in statements {
        // A module may be missing.
        let _ = sqlite.execute(sql.as_ref(), []);
    }
    let objects = objects(sqlite)?;
    let triggers = objects.iter().filter(|object| object.kind == "trigger");
    triggers.clone().try_for_each(|trigger| drop_trigger(sqlite, trigger))?;
    let mut broken = Vec::new();
    for object in &objects {
        let problem = if object.kind == "view" {
            compile(sqlite, &format!("SELECT * FROM main.{}", quoted_name(&object.name)))?
        } else {
            failure_of_trigger(sqlite, object)?
        };
        // SQLite cannot tell within the time for it.
        let problem = problem.filter(|error| error.sqlite_error_code() != Some(ErrorCode::OperationInterrupted));
        if let Some(error) = problem {
            let [kind, name, table] = [&object.kind, &object.name, &object.table].map(String::clone);
            broken.push(BrokenObject { kind, name, table, problem: message(&error) });
        }
    }
    Ok(broken)
}

fn objects(sqlite: &Connection) -> rusqlite::Result<Vec<Object>> {
    let sql =
        "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY rowid";
    let object = |row: &rusqlite::Row<'_>| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    };
    sqlite.prepare(sql)?.query_map([], object)?.collect()
}

fn drop_trigger(sqlite: &Connection, trigger: &Object) -> rusqlite::Result<()> {
    sqlite.execute_batch(&format!("DROP TRIGGER main.{}", quoted_name(&trigger.name)))
}

/// Returns the error of a change of the trigger's table that does not fail in the same way without the trigger.
fn failure_of_trigger(sqlite: &Connection, trigger: &Object) -> rusqlite::Result<Option<rusqlite::Error>> {
    // A table-valued function compiles the view of an INSTEAD OF trigger, which may be broken.
    let Ok(changes) = changes(sqlite, &trigger.table) else { return Ok(None) };
    sqlite.execute(&trigger.sql, [])?;
    let mut failures = Vec::new();
    for change in &changes {
        failures.extend(compile(sqlite, change)?.map(|error| (change, error)));
    }
    drop_trigger(sqlite, trigger)?;
    for (change, error) in failures {
        let without = compile(sqlite, change)?;
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
