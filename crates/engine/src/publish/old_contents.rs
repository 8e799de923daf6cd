//! Lists the contents of the database that a new one replaces, so that nothing goes without being named.

use super::open_files;
use super::turn::Turn;
use litepress_rows::files::FileId;
use litepress_rows::sqlite::{open_immutable, stop_if, without_views};
use litepress_rows::{grouped, quoted_name};
use rusqlite::Connection;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for counting rows. Tables whose rows take longer to count are listed without a number.
const COUNTING_TIME: Duration = Duration::from_millis(500);
/// Number of objects that a message lists.
const LISTED: usize = 10;

/// A table, virtual table or view of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OldObject {
    /// `table`, `virtual table` or `view`.
    kind: &'static str,
    pub name: String,
    /// Number of rows of a table, if it was counted in time.
    rows: Option<u64>,
}

/// Returns the tables and views of a database in the order of their creation. Empty if it cannot be read, or if this
/// process has the file open.
///
/// The file is read without locks: while another program writes into it, numbers of rows may be those of a moment ago.
pub(crate) fn old_contents(target: &Path) -> Vec<OldObject> {
    let _turn = Turn::take(target);
    let is_free = |file| !open_files::is_open_in_this_process(file);
    if !target.is_file() || !FileId::at(target).is_ok_and(is_free) {
        return Vec::new();
    }
    open_immutable(target).and_then(read).unwrap_or_default()
}

fn read(mut connection: Connection) -> rusqlite::Result<Vec<OldObject>> {
    let sql = "SELECT s.name, l.type FROM sqlite_schema s JOIN temp.pragma_table_list l ON l.name = s.name \
               WHERE s.type IN ('table', 'view') AND l.schema = 'main' AND l.type <> 'shadow' \
               AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid";
    let object = |row: &rusqlite::Row<'_>| {
        let kind = match row.get::<_, String>(1)?.as_str() {
            "view" => "view",
            "virtual" => "virtual table",
            _ => "table",
        };
        Ok(OldObject { kind, name: row.get(0)?, rows: None })
    };
    let mut found: Vec<OldObject> =
        without_views(&connection, || connection.prepare(sql)?.query_map([], object)?.collect())?;
    let deadline = Instant::now() + COUNTING_TIME;
    stop_if(&mut connection, move || Instant::now() > deadline)?;
    for object in found.iter_mut().filter(|object| object.kind == "table") {
        let count = format!("SELECT count(*) FROM main.{}", quoted_name(&object.name));
        let Ok(rows) = connection.query_row(&count, [], |row| row.get(0)) else { break };
        object.rows = Some(rows);
    }
    Ok(found)
}

impl std::fmt::Display for OldObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.name)?;
        match self.rows {
            Some(1) => write!(f, " (1 row)"),
            Some(rows) => write!(f, " ({} rows)", grouped(rows)),
            None => Ok(()),
        }
    }
}

/// Returns `table a (2 rows), view v`, shortened if there are many.
pub(crate) fn listed(objects: &[OldObject]) -> String {
    let mut names: Vec<String> = objects.iter().take(LISTED).map(ToString::to_string).collect();
    if objects.len() > LISTED {
        names.push(format!("and {} more", objects.len() - LISTED));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_views_are_listed_with_their_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a b.db");
        assert_eq!(old_contents(&path), []);
        let database = Connection::open(&path).expect("a database");
        let sql = "CREATE TABLE u (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE INDEX i ON u (id);
                   INSERT INTO u VALUES (1), (2); CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5 (a);
                   CREATE TABLE one (a); INSERT INTO one VALUES (1); ANALYZE;";
        database.execute_batch(sql).expect("tables");
        assert_eq!(old_contents(&path), [], "this process has it open");
        drop(database);
        let shown = listed(&old_contents(&path));
        assert_eq!(shown, "table u (2 rows), view v, virtual table f, table one (1 row)");
        let many: Vec<OldObject> =
            (0..12).map(|number| OldObject { kind: "table", name: format!("t{number}"), rows: None }).collect();
        assert!(listed(&many).ends_with("table t9, and 2 more"));
        std::fs::write(&path, "no database").expect("written");
        assert_eq!(old_contents(&path), []);
    }
}
