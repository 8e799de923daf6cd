//! The judges: the bundled SQLite, an older one if it is installed, and litepress' own verifier.

mod content;
mod indexes;
mod old;

pub use content::{assert_same_content, assert_same_database, assert_same_rows, assert_same_schema};
pub use indexes::{assert_reindexed, assert_same_indexes, trees};
pub use old::{OldSqlite, open_command};

use crate::folder::Folder;
use litepress_check::{CheckOptions, check};
use litepress_rows::quoted_name;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Opens these bytes as a database in memory, which may be changed.
#[must_use]
pub fn open(bytes: &[u8]) -> Connection {
    let mut sqlite = Connection::open_in_memory().unwrap();
    sqlite.deserialize_read_exact("main", bytes, bytes.len(), false).unwrap();
    // The bundled library turns them on; a program that opens the file has them off.
    sqlite.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    // Until the file is read, PRAGMA page_size returns the size for new files.
    sqlite.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0)).unwrap();
    sqlite
}

/// Returns all rows of a query of one column as text.
#[must_use]
pub fn texts(sqlite: &Connection, sql: &str) -> Vec<String> {
    let mut statement = sqlite.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get_ref(0)?.as_str().map(str::to_owned).map_err(Into::into)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Returns the first row of a query of one column as an integer.
#[must_use]
pub fn integer(sqlite: &Connection, sql: &str) -> i64 {
    sqlite.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Asserts that the bundled SQLite finds nothing wrong.
///
/// If the schema has a view, SQLite may not check for unused pages, so that it checks a copy without views, too.
pub fn assert_sqlite_content(sqlite: &mut Connection, what: &str) {
    for sql in ["PRAGMA integrity_check", "PRAGMA quick_check"] {
        assert_eq!(texts(sqlite, sql), ["ok"], "{what}: {sql}");
    }
    let views = texts(sqlite, "SELECT name FROM sqlite_schema WHERE type = 'view'");
    if views.is_empty() {
        return;
    }
    let bytes = sqlite.serialize("main").unwrap().to_vec();
    let copy = open(&bytes);
    for view in views {
        copy.execute_batch(&format!("DROP VIEW {}", quoted_name(&view))).unwrap();
    }
    assert_eq!(texts(&copy, "PRAGMA integrity_check"), ["ok"], "{what}: without its views");
}

/// Asserts that these bytes are a sound database: by the bundled SQLite and by litepress' verifier.
pub fn assert_sound(bytes: &[u8], what: &str) {
    assert_sqlite_content(&mut open(bytes), what);
    let folder = Folder::new();
    let path = folder.join("sound.db");
    fs::write(&path, bytes).unwrap();
    assert_verified(&path, what);
}

/// Asserts that litepress' verifier finds nothing wrong with the file.
pub fn assert_verified(path: &Path, what: &str) {
    let report = check(path, &CheckOptions::default(), &|_, _| Ok(())).unwrap();
    assert!(report.is_clean(), "{what}: {:#?}", report.faults);
    // SQLite leaves these only on odd occasions, and a new database has none.
    let is_odd = |note: &&String| ["doubles", "sqlite_sequence", "page count"].iter().any(|odd| note.contains(odd));
    assert_eq!(report.notes.iter().find(is_odd), None, "{what}");
}
