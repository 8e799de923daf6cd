//! Finds the value of a column that ALTER TABLE added, in rows that were stored before.

use crate::Affinity;
use rusqlite::Connection;
use rusqlite::types::Value;

/// Returns the value that a column with this affinity and DEFAULT has in rows that were stored before ALTER TABLE added it.
/// Returns `None` if ALTER TABLE refuses the DEFAULT for a table with rows.
///
/// The bundled SQLite is asked: it reads such a DEFAULT by other rules than for an INSERT. In a TEXT column, DEFAULT 1.10 is the
/// text '1.10', but '1.1' in new rows.
pub fn value_in_older_rows(default: &str, affinity: Affinity) -> Option<Value> {
    let connection = Connection::open_in_memory().ok()?;
    connection.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1)").ok()?;
    let name = type_name(affinity);
    // The schema says DEFAULT (1.0) without its parentheses. Adding them always would be wrong: DEFAULT word is a
    // text, (word) a column.
    let forms = [format!("ALTER TABLE t ADD COLUMN c {name} DEFAULT {default}"), {
        format!("ALTER TABLE t ADD COLUMN c {name} DEFAULT ({default})")
    }];
    forms.iter().find(|sql| connection.execute(sql, []).is_ok())?;
    connection.query_row("SELECT c FROM t", [], |row| row.get(0)).ok()
}

/// Returns a declared type with this affinity.
fn type_name(affinity: Affinity) -> &'static str {
    match affinity {
        Affinity::Integer => "INTEGER",
        Affinity::Text => "TEXT",
        Affinity::Blob => "BLOB",
        Affinity::Real => "REAL",
        Affinity::Numeric => "NUMERIC",
    }
}
