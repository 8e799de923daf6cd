//! Finds triggers that cannot run because an object that they name is missing.
//!
//! SQLite accepts a trigger without checking its statements. It compiles them with the first INSERT, UPDATE or DELETE on the
//! trigger's table, which then fails. So each trigger is defined alone beside the tables, in memory, and such statements are
//! prepared. A missing function does not count: an extension may provide it where the database is used. A function that does
//! nothing replaces it, because SQLite reports only the first missing object.

use super::run::{self, limit_time, sqlite_failed};
use crate::sqlite::message;
use crate::{Result, quoted_name};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode};
use std::collections::HashSet;

/// A trigger to be copied.
#[derive(Clone, Copy, Debug)]
pub struct Trigger<'t> {
    /// Its name.
    pub name: &'t str,
    /// The table whose changes fire it.
    pub table: &'t str,
    /// Its CREATE TRIGGER statement.
    pub sql: &'t str,
}

/// Returns for each trigger an object of `absent` (lower-case names) that it needs to run beside the tables of `text`. `None`
/// if it runs, or fails for another reason.
///
/// # Errors
/// As [`Schema::from_sql`](super::Schema::from_sql) for `text`.
pub fn missing_objects(
    text: &str,
    origin: &str,
    triggers: &[Trigger<'_>],
    absent: &HashSet<String>,
) -> Result<Vec<Option<String>>> {
    let mut sqlite = run::run(text, origin)?.sqlite;
    limit_time(&mut sqlite)?;
    // Deleting rows of a parent would compile its children's actions, too.
    sqlite.execute_batch("PRAGMA foreign_keys = OFF").map_err(|error| sqlite_failed(&error))?;
    let missing = |trigger: &Trigger<'_>| {
        sqlite.execute(trigger.sql, [])?;
        let missing = missing_object(&sqlite, trigger.table, absent);
        sqlite.execute(&format!("DROP TRIGGER main.{}", quoted_name(trigger.name)), [])?;
        missing
    };
    // SQLite reports other errors in a trigger when the trigger is defined for good.
    Ok(triggers.iter().map(|trigger| missing(trigger).unwrap_or_default()).collect())
}

/// Compiles the statements that can fire the table's only trigger.
fn missing_object(sqlite: &Connection, table: &str, absent: &HashSet<String>) -> rusqlite::Result<Option<String>> {
    for statement in changes(sqlite, table)? {
        let Some(error) = compile(sqlite, &statement)? else { continue };
        let message = message(&error);
        let Some(object) = message.strip_prefix("no such table: ") else { continue };
        // Statements of a trigger name the database, too.
        let names = [Some(object), object.strip_prefix("main.")].into_iter().flatten();
        let is_absent = |name: &&str| absent.contains(&name.to_ascii_lowercase());
        if let Some(name) = names.clone().find(is_absent) {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}

/// Compiles a statement, and returns SQLite's error about it. A function that does nothing replaces each that is missing. Fails if
/// SQLite takes too long.
pub(super) fn compile(sqlite: &Connection, statement: &str) -> rusqlite::Result<Option<rusqlite::Error>> {
    const ANY_NUMBER: i32 = -1;
    let mut functions = HashSet::new();
    while let Err(error) = sqlite.prepare(statement) {
        if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
            return Err(error);
        }
        let message = message(&error);
        let Some(function) = message.strip_prefix("no such function: ") else { return Ok(Some(error)) };
        if !functions.insert(function.to_owned()) {
            return Ok(Some(error));
        }
        let null = |_: &rusqlite::functions::Context<'_>| Ok(rusqlite::types::Null);
        sqlite.create_scalar_function(function, ANY_NUMBER, FunctionFlags::SQLITE_UTF8, null)?;
    }
    Ok(None)
}

/// Returns an INSERT, a DELETE, and an UPDATE of all columns of a table.
pub(super) fn changes(sqlite: &Connection, table: &str) -> rusqlite::Result<[String; 3]> {
    let mut columns = sqlite.prepare_cached("SELECT name FROM temp.pragma_table_xinfo(?) WHERE hidden = 0")?;
    let columns = columns.query_map([table], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let same = |column: &String| format!("{0} = {0}", quoted_name(column));
    let table = quoted_name(table);
    let set = columns.iter().map(same).collect::<Vec<_>>().join(", ");
    Ok([
        format!("INSERT INTO {table} DEFAULT VALUES"),
        format!("DELETE FROM {table}"),
        format!("UPDATE {table} SET {set}"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the object that the body of a trigger lacks. `f` is a table that was left out.
    fn missing(head: &str, body: &str) -> Option<String> {
        let text = "CREATE TABLE t(a, b AS (a) STORED); CREATE TABLE log(x);";
        let sql = format!("CREATE TRIGGER \"odd name\" {head} BEGIN {body}; END");
        let trigger = Trigger { name: "odd name", table: "t", sql: &sql };
        let absent = HashSet::from(["f".to_owned(), "main.g".to_owned()]);
        missing_objects(text, "<test>", &[trigger, trigger], &absent).unwrap().pop().unwrap()
    }

    #[test]
    fn objects_that_were_left_out_are_found_in_every_statement() {
        let missing_f = Some("f".to_owned());
        for head in ["AFTER INSERT ON t", "BEFORE DELETE ON t", "AFTER UPDATE OF a ON T"] {
            assert_eq!(missing(head, "INSERT INTO log VALUES (1)"), None, "{head}");
            assert_eq!(missing(head, "INSERT INTO log VALUES (1); DELETE FROM F WHERE x = 1"), Some("F".to_owned()));
            assert_eq!(missing(head, "SELECT (SELECT count(*) FROM f)"), missing_f, "{head}");
            assert_eq!(missing(head, "INSERT INTO \"main.g\" VALUES (1)"), Some("main.g".to_owned()), "{head}");
        }
        let head = "AFTER UPDATE ON t WHEN ST_IsEmpty(new.a) OR other(1, 2) > 3";
        assert_eq!(missing(head, "INSERT INTO f VALUES (ST_MinX(new.a), ST_MinX(new.a, 2))"), missing_f);
        assert_eq!(missing(head, "INSERT INTO log VALUES (ST_MinX(new.a))"), None, "an extension may have it");
    }

    #[test]
    fn triggers_that_fail_in_the_source_too_lack_nothing() {
        for body in ["INSERT INTO never VALUES (1)", "INSERT INTO log(y) VALUES (1)", "SELECT lower() OVER ()"] {
            assert_eq!(missing("AFTER INSERT ON t", body), None, "{body}");
        }
    }
}
