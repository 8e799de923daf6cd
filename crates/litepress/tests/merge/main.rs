//! Merged databases hold what SQLite's ATTACH and INSERT ... SELECT would give.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::cast_possible_truncation, reason = "random numbers are small")]

mod random;
mod references;
mod schemas;
mod virtual_tables;

use litepress::{ErrorKind, MergeOptions, RowidPolicy, merge};
use rusqlite::Connection;
use std::path::PathBuf;
use tempfile::TempDir;

/// Returns all rows of a table as SQL literals, sorted.
fn rows(connection: &Connection, table: &str) -> Vec<String> {
    let sql =
        format!("SELECT group_concat('quote(\"' || name || '\")', ' || '','' || ') FROM pragma_table_xinfo('{table}')");
    let row: String = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
    let mut rows = connection.prepare(&format!("SELECT {row} FROM \"{table}\" ORDER BY 1")).unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut rows = connection.prepare(sql).unwrap();
    rows.query_map([], |row| row.get::<_, String>(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn text(connection: &Connection, sql: &str) -> String {
    texts(connection, sql).join("\n")
}

/// Makes databases that each run the same statements, and one that is their own.
fn shards(folder: &TempDir, sql: &str, own: &[&str]) -> Vec<PathBuf> {
    let shard = |(number, own): (usize, &&str)| {
        let path = folder.path().join(format!("{number}.db"));
        Connection::open(&path).unwrap().execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}; {own}")).unwrap();
        path
    };
    own.iter().enumerate().map(shard).collect()
}

fn renumber() -> MergeOptions {
    MergeOptions::default().rowids(RowidPolicy::Renumber)
}

/// Two rows with one key: the error says where they are, and what helps.
#[test]
fn a_key_in_two_databases_names_both() {
    for (schema, own, column, value) in [
        ("CREATE TABLE t (id INTEGER PRIMARY KEY, x)", "INSERT INTO t VALUES (5, 1), (7, 2)", "t.id", "5"),
        ("CREATE TABLE t (x TEXT UNIQUE)", "INSERT INTO t VALUES ('it''s'), ('b')", "t.x", "'b'"),
        (
            "CREATE TABLE t (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "INSERT INTO t VALUES (1, 'x')",
            "t.a, t.b",
            "1, 'x'",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let shards = shards(&folder, schema, &["", own, own]);
        let out = folder.path().join("out.db");
        let error = merge(&*out, &shards, &MergeOptions::default()).map(drop).unwrap_err();
        let [one, two] = ["1.db", "2.db"].map(|name| folder.path().join(name).display().to_string());
        let expected = format!("UNIQUE constraint failed: {column}: {one} and {two} have the same key");
        assert!(error.message().contains(&expected), "{error}");
        assert_eq!((error.kind(), error.place().value.as_deref()), (ErrorKind::Constraint, Some(value)), "{error}");
        let advice = error.advice().unwrap();
        assert!(advice.contains("on_conflict(Conflict::Ignore)"), "{advice}");
        assert_eq!(
            advice.contains("table_rowids(\"t\", RowidPolicy::Renumber)"),
            schema.contains("INTEGER"),
            "{advice}"
        );
        assert!(!out.exists());
    }
}

/// AUTOINCREMENT gives no rowid twice. Rows of the second database got those of rows that the first one had deleted.
#[test]
fn rowids_that_autoincrement_has_given_are_not_given_again() {
    let folder = TempDir::new().unwrap();
    let shards: Vec<PathBuf> = [
        "INSERT INTO t VALUES (1, 'a'), (100, 'gone')",
        "INSERT INTO t VALUES (40, 'gone')",
        "INSERT INTO t VALUES (2, 'c')",
    ]
    .iter()
    .enumerate()
    .map(|(number, rows)| {
        let path = folder.path().join(format!("{number}.db"));
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x)";
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch(&format!("{sql}; {rows}; DELETE FROM t WHERE x = 'gone'")).unwrap();
        path
    })
    .collect();
    let target = folder.path().join("all.db");
    let options = MergeOptions::default().rowids(RowidPolicy::Renumber);
    merge(&*target, &shards, &options).unwrap();
    let merged = Connection::open(&target).unwrap();
    assert_eq!(text(&merged, "SELECT group_concat(id || x, ' ') FROM t"), "1a 102c");
    assert_eq!(text(&merged, "SELECT seq || '' FROM sqlite_sequence"), "102");
}

#[test]
fn settings_sequences_and_sources() {
    let folder = TempDir::new().unwrap();
    let schema = "PRAGMA page_size = 1024; PRAGMA application_id = 7; PRAGMA user_version = 3;
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x); CREATE TABLE e (x);
        CREATE VIEW v AS SELECT x FROM t; CREATE TRIGGER g AFTER INSERT ON e BEGIN DELETE FROM e; END";
    let shards = shards(
        &folder,
        schema,
        &[
            "INSERT INTO t VALUES (1, 'a'), (90, 'b'); DELETE FROM t WHERE id = 90",
            "INSERT INTO t VALUES (2, 'c'); PRAGMA user_version = 4",
        ],
    );
    let out = folder.path().join("out.db");
    let report = merge(&*out, [folder.path()], &MergeOptions::default().source_column("from shard")).unwrap();
    assert_eq!((report.databases, report.build.summary.rows), (2, 2));
    assert!(report.notes[0].to_string().starts_with("user_version is 3 as in "), "{:?}", report.notes);
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "SELECT group_concat(id || x || \"from shard\") FROM t"), {
        let [one, two] = [&shards[0], &shards[1]].map(|shard| shard.display());
        format!("1a{one},2c{two}")
    });
    assert_eq!(text(&merged, "SELECT seq || '' FROM sqlite_sequence WHERE name = 't'"), "90");
    let settings = "SELECT page_size || ',' || application_id || ',' || user_version FROM pragma_page_size, pragma_application_id, pragma_user_version";
    assert_eq!(text(&merged, settings), "1024,7,3");
    assert_eq!(text(&merged, "SELECT group_concat(name) FROM sqlite_schema"), "t,sqlite_sequence,e,v,g");
    let error = merge(&*out, [folder.path()], &MergeOptions::default()).unwrap_err();
    assert!(error.message().contains("the target is also a source"), "{error}");
}

/// A table whose columns have all three names of the rowid could not be merged: "the largest rowids of all databases together exceed
/// 9223372036854775807", although there were two rows. SQL cannot ask for its rowids, so they are read from the pages.
#[test]
fn a_table_whose_columns_hide_the_rowid() {
    let folder = TempDir::new().unwrap();
    let schema = "CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid TEXT)";
    let insert = "INSERT INTO t VALUES ('a', 'b', 'c'), ('d', 'e', 'f')";
    let shards = shards(&folder, schema, &[insert, insert, ""]);
    let out = folder.path().join("out.db");
    let report = merge(&*out, &shards, &MergeOptions::default()).unwrap();
    assert_eq!(report.build.summary.rows, 4);
    assert!(report.notes[0].to_string().contains("rows get new rowids"), "{:?}", report.notes);
    let merged = Connection::open(&out).unwrap();
    assert_eq!(text(&merged, "PRAGMA integrity_check"), "ok");
    assert_eq!(text(&merged, "SELECT group_concat(oid) FROM t"), "c,f,c,f");
}
