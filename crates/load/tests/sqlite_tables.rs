//! Tables of other SQLite databases, against what SQLite itself selects.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod rows;

use litepress_format::value::Value;
use litepress_load::input::Input;
use litepress_load::options::{Format, InvalidUtf8, ReadOptions};
use litepress_load::sqlite::{Database, tables};
use litepress_rows::ErrorKind;
use rows::{Table, read_all, shared_data, show};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::path::Path;

fn input(path: &Path) -> Input {
    Input::from_path(path, &ReadOptions { format: Some(Format::Sqlite), ..ReadOptions::default() }).unwrap()
}

fn select(connection: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let show_ref = |value| match value {
            ValueRef::Null => show(Value::Null),
            ValueRef::Integer(int) => show(Value::Int(int)),
            ValueRef::Real(real) => show(Value::Real(real)),
            ValueRef::Text(text) => show(Value::Text(text)),
            ValueRef::Blob(blob) => show(Value::Blob(blob)),
        };
        all.push((0..columns).map(|column| show_ref(row.get_ref(column).unwrap())).collect());
    }
    all
}

fn read(path: &Path, table: &str, options: &ReadOptions) -> Table {
    read_all(&mut *Database::open(&input(path)).unwrap().reader(table, options).unwrap()).unwrap()
}

fn check(path: &Path, table: &str, select_from: &str) {
    let expected = select(&Connection::open(path).unwrap(), select_from);
    for piece_bytes in [None, Some(1), Some(1000)] {
        let options = ReadOptions { piece_bytes, ..ReadOptions::default() };
        assert!(read(path, table, &options).rows == expected, "{table} in pieces of {piece_bytes:?}");
    }
}

#[test]
fn chinook_is_what_sqlite_selects() {
    let Some(data) = shared_data("chinook") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chinook.db");
    std::fs::copy(data.join("Chinook_Sqlite.sqlite"), &path).unwrap();
    let tables = tables(&input(&path)).unwrap();
    assert_eq!(tables.len(), 11);
    for table in &tables {
        check(&path, &table.name, &format!("SELECT * FROM \"{}\" NOT INDEXED", table.name));
    }
    let track = tables.iter().find(|table| table.name == "Track").unwrap();
    assert!(track.sql.starts_with("CREATE TABLE [Track]"), "{}", track.sql);
    assert_eq!(track.objects.len(), 3, "indexes of the foreign keys: {:?}", track.objects);
}

fn database(sql: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, path)
}

#[test]
fn values_of_any_kind_in_any_column_and_any_order() {
    let (_folder, path) = database(
        "CREATE TABLE t(a, b AS (a || 'x'), c INTEGER, d TEXT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO t(a, c, d) SELECT
           CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i + 0.5 WHEN 3 THEN 't' || i ELSE CAST(i AS BLOB) END,
           CASE WHEN i < 2000 THEN NULL WHEN i % 7 = 0 THEN 'text' || i ELSE -i END,
           CASE WHEN i < 1500 THEN NULL ELSE 'nul' || char(0) || i END FROM n;
         CREATE INDEX covering ON t(d DESC, c, a);
         CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END;
         CREATE VIEW v AS SELECT 1;
         CREATE TABLE \"odd \"\"name\"(x TEXT COLLATE NOCASE, y, PRIMARY KEY(x DESC, y)) WITHOUT ROWID;
         INSERT INTO \"odd \"\"name\" VALUES ('b', 1), ('A', 2), ('a', 1), ('c', x'00');",
    );
    check(&path, "t", "SELECT a, c, d FROM t NOT INDEXED");
    check(&path, "odd \"name", "SELECT * FROM \"odd \"\"name\" ORDER BY x DESC, y");
    let tables = tables(&input(&path)).unwrap();
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["t", "odd \"name"]);
    assert_eq!(tables[0].objects.len(), 2);
    assert_eq!(
        read(&path, "t", &ReadOptions::default()).columns,
        [
            "a  (the database declares no type)",
            "c INTEGER (the database declares INTEGER)",
            "d TEXT (the database declares TEXT)",
        ]
    );
}

#[test]
fn text_that_is_no_utf8_is_treated_as_the_options_say() {
    let (_folder, path) =
        database("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, CAST(x'61ff' AS TEXT)), (2, 'good')");
    let rows = |invalid_utf8| read(&path, "t", &ReadOptions { invalid_utf8, ..ReadOptions::default() }).rows;
    let first = |invalid_utf8| rows(invalid_utf8)[0].clone();
    assert_eq!(first(InvalidUtf8::Replace), ["int 1", "text a\u{fffd}"]);
    assert_eq!(first(InvalidUtf8::Blob), ["int 1", "blob 61ff"]);
    let bad = "bad column b: the text is no UTF-8 (value 'a\u{fffd}')";
    assert_eq!(rows(InvalidUtf8::Error), [[bad, bad], ["int 2", "text good"]]);
}

/// Readers of one database are of one moment: a commit between is an error, and what was begun before goes on as it was.
#[test]
fn all_tables_are_of_one_moment() {
    let (_folder, path) =
        database("PRAGMA journal_mode = WAL; CREATE TABLE t(a); CREATE TABLE u(a); INSERT INTO t VALUES (1)");
    let writer = Connection::open(&path).unwrap();
    let database = Database::open(&input(&path)).unwrap();
    let mut before = database.reader("t", &ReadOptions::default()).unwrap();
    writer.execute_batch("INSERT INTO t VALUES (2)").unwrap();
    assert_eq!(read_all(&mut *before).unwrap().rows, [["int 1"]]);
    let error = database.reader("u", &ReadOptions::default()).map(drop).unwrap_err();
    assert!(error.to_string().contains("was changed while it was read"), "{error}");
    assert_eq!(read(&path, "t", &ReadOptions::default()).rows, [["int 1"], ["int 2"]]);
}

#[test]
fn what_is_no_database_is_refused() {
    let (_folder, path) = database("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000))");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let truncated = Database::open(&input(&path))
        .and_then(|database| read_all(&mut *database.reader("t", &ReadOptions::default())?).map(drop));
    assert_eq!(truncated.unwrap_err().kind(), ErrorKind::Data);
    std::fs::write(&path, [b'x'; 2000]).unwrap();
    let error = Database::open(&input(&path)).unwrap_err();
    assert!(error.to_string().contains("no SQLite database"), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert!(Input::from_path(&path, &ReadOptions::default()).is_err());
}
