//! SQLite's part in a check: what the schema means, and its own verdict.
//!
//! The file is opened read-only and as immutable: no lock is taken, no `-wal` or `-shm` file is made.

use crate::sqlite::{open_file, open_immutable};
use litepress_rows::schema::{Table, TableKinds, table_of};
use litepress_rows::{Error, ErrorKind, Result};
use rusqlite::Connection;
use std::collections::HashMap;
use std::path::Path;

/// SQLite as the reader of a schema.
pub(super) struct Oracle {
    connection: Connection,
    kinds: TableKinds,
}

impl Oracle {
    /// Has SQLite read the schema of the file.
    pub(super) fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = open_immutable(path)?;
        let kinds = TableKinds::read(&connection)?;
        Ok(Self { connection, kinds })
    }

    /// The table of this name; `None` where SQLite has none.
    pub(super) fn table(&self, name: &str) -> rusqlite::Result<Option<Table>> {
        table_of(&self.connection, &self.kinds, name)
    }

    /// The largest number in `sqlite_sequence` for every table.
    pub(super) fn sequences(&self) -> rusqlite::Result<HashMap<String, Option<i64>>> {
        let sql = "SELECT name, max(CASE WHEN typeof(seq) = 'integer' THEN seq END) FROM main.sqlite_sequence
                   WHERE typeof(name) = 'text' GROUP BY name";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }
}

/// The value that a column with this affinity stores for a DEFAULT that is a literal. Rows written before ALTER
/// TABLE ADD COLUMN take it, and that accepts nothing else.
pub(super) fn stored_default(default: &str, type_with_affinity: &str) -> Option<rusqlite::types::Value> {
    if default.starts_with('(') || default.to_ascii_uppercase().starts_with("CURRENT_") {
        return None;
    }
    let connection = Connection::open_in_memory().ok()?;
    connection.execute(&format!("CREATE TABLE t(c {type_with_affinity} DEFAULT {default})"), []).ok()?;
    connection.execute("INSERT INTO t DEFAULT VALUES", []).ok()?;
    connection.query_row("SELECT c FROM t", [], |row| row.get(0)).ok()
}

/// SQLite's own verdict: `PRAGMA integrity_check` and `PRAGMA foreign_key_check`, at most `max` lines of each.
/// Empty where SQLite has nothing to complain about.
///
/// # Errors
/// Where the file cannot be opened at all. What SQLite finds wrong with it is a line and no error.
pub fn sqlite_integrity_check(path: &Path, max: usize) -> Result<Vec<String>> {
    open_file(path)?;
    let connection = open_immutable(path).map_err(|error| {
        Error::new(ErrorKind::Io, format!("SQLite cannot open the database: {error}")).in_file(path).caused_by(error)
    })?;
    let mut lines = Vec::new();
    let outcome =
        integrity_lines(&connection, max, &mut lines).and_then(|()| foreign_key_lines(&connection, max, &mut lines));
    lines.extend(outcome.err().map(|error| error.to_string()));
    Ok(lines)
}

fn integrity_lines(connection: &Connection, max: usize, lines: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut check = connection.prepare(&format!("PRAGMA integrity_check({})", max.clamp(1, 1_000_000_000)))?;
    let mut rows = check.query([])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            lines.push(line);
        }
    }
    Ok(())
}

fn foreign_key_lines(connection: &Connection, max: usize, lines: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut check = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = check.query([])?;
    for _ in 0..max.max(1) {
        let Some(row) = rows.next()? else { break };
        let (table, rowid, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let row = rowid.map_or_else(|| "a row".to_owned(), |rowid| format!("row {rowid}"));
        lines.push(format!("{row} of {table} refers to a row that {parent} does not have"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::types::Value;

    #[test]
    fn awkward_paths_open() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a b.db", "100%.db", "what?.db", "a#b.db", "grün.db"] {
            let path = folder.path().join(name);
            Connection::open(&path).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
            assert!(Oracle::open(&path).unwrap().table("t").unwrap().is_some(), "{name}");
            assert_eq!(sqlite_integrity_check(&path, 10).unwrap(), Vec::<String>::new());
        }
    }

    #[test]
    fn defaults_are_stored_under_the_affinity_of_their_column() {
        assert_eq!(stored_default("'7'", "INTEGER"), Some(Value::Integer(7)));
        assert_eq!(stored_default("-5", "TEXT"), Some(Value::Text("-5".into())));
        assert_eq!(stored_default("(1 + 2)", "INTEGER"), None);
        assert_eq!(stored_default("1); DROP TABLE t; --", "INTEGER"), None);
    }

    #[test]
    fn foreign_keys_are_part_of_the_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fk.db");
        let sql = "PRAGMA foreign_keys = OFF; CREATE TABLE p(a INTEGER PRIMARY KEY);
                   CREATE TABLE c(a INTEGER REFERENCES p); INSERT INTO c VALUES (7);";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert_eq!(sqlite_integrity_check(&path, 10).unwrap(), ["row 1 of c refers to a row that p does not have"]);
        assert!(sqlite_integrity_check(&folder.path().join("none.db"), 10).is_err());
    }
}
