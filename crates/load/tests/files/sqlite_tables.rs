//! Tables of other SQLite databases, compared with SQLite's own SELECT.

use crate::rows::{Table, read_all, shared_data, show};
use litepress_format::value::Value;
use litepress_load::input::Input;
use litepress_load::options::{Format, InvalidUtf8, ReadOptions};
use litepress_load::sqlite::{Database, tables};
use litepress_rows::ErrorKind;
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
    let bad = "bad column b: the text is not UTF-8 (value 'a\u{fffd}')";
    assert_eq!(rows(InvalidUtf8::Error), [[bad, bad], ["int 2", "text good"]]);
}

/// A database in WAL mode that a program wrote to every few milliseconds could hardly be loaded: each table had its own
/// connection, and a commit between two of them was an error.
#[test]
fn all_tables_are_of_one_moment() {
    let (_folder, path) =
        database("PRAGMA journal_mode = WAL; CREATE TABLE t(a); CREATE TABLE u(a); INSERT INTO t VALUES (1)");
    let writer = Connection::open(&path).unwrap();
    let database = Database::open(&input(&path)).unwrap();
    writer.execute_batch("INSERT INTO t VALUES (2); INSERT INTO u VALUES (2)").unwrap();
    let read_now = |table| read_all(&mut *database.reader(table, &ReadOptions::default()).unwrap()).unwrap().rows;
    assert_eq!(read_now("t"), [["int 1"]]);
    writer.execute_batch("INSERT INTO u VALUES (3); PRAGMA wal_checkpoint").unwrap();
    assert!(read_now("u").is_empty());
    drop(database);
    assert_eq!(read(&path, "u", &ReadOptions::default()).rows, [["int 2"], ["int 3"]]);
}

#[test]
fn tables_are_read_one_after_another() {
    let (_folder, path) = database(
        "CREATE TABLE t(a); CREATE TABLE u(a); INSERT INTO u VALUES (1);
         INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n",
    );
    let options = ReadOptions { piece_bytes: Some(1), ..ReadOptions::default() };
    let database = Database::open(&input(&path)).unwrap();
    let mut first = database.reader("t", &options).unwrap();
    let mut second = database.reader("u", &options).unwrap();
    assert!(first.next_piece().unwrap().is_some());
    let error = second.next_piece().map(drop).unwrap_err();
    assert!(error.kind() == ErrorKind::Usage && error.to_string().contains("one after another"), "{error}");
    drop(first);
    assert_eq!(read_all(&mut *database.reader("u", &options).unwrap()).unwrap().rows, [["int 1"]]);
}

/// Returns the names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Reading a database in WAL mode left empty `-wal` and `-shm` files beside it.
#[test]
fn the_folder_of_a_database_stays_as_it_was() {
    let (folder, path) = database("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    assert_eq!(files(folder.path()), ["t.db"]);
    assert_eq!(read(&path, "t", &ReadOptions::default()).rows, [["int 1"]]);
    assert_eq!(files(folder.path()), ["t.db"]);
    // SQLite keeps its files beside the file that a link points to.
    let links = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&path, links.path().join("link.db")).unwrap();
    assert_eq!(read(&links.path().join("link.db"), "t", &ReadOptions::default()).rows, [["int 1"]]);
    assert_eq!((files(links.path()), files(folder.path())), (vec!["link.db".to_owned()], vec!["t.db".to_owned()]));
    // A table that is not read to its end.
    let database = Database::open(&input(&path)).unwrap();
    let mut reader = database.reader("t", &ReadOptions::default()).unwrap();
    drop(database);
    assert!(reader.next_piece().unwrap().is_some());
    drop(reader);
    assert_eq!(files(folder.path()), ["t.db"]);
    // Another program opens the database meanwhile, and keeps it open.
    let database = Database::open(&input(&path)).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("INSERT INTO t VALUES (2)").unwrap();
    drop(database);
    assert_eq!(files(folder.path()), ["t.db", "t.db-shm", "t.db-wal"]);
    other.execute_batch("INSERT INTO t VALUES (3)").unwrap();
    // A log that its program left behind: its commits are read, and it stays.
    let left = tempfile::tempdir().unwrap();
    let copy = left.path().join("t.db");
    for suffix in ["", "-wal"] {
        let (from, to) = (folder.path().join(format!("t.db{suffix}")), left.path().join(format!("t.db{suffix}")));
        std::fs::copy(from, to).unwrap();
    }
    let content = || [copy.clone(), left.path().join("t.db-wal")].map(|file| std::fs::read(file).unwrap());
    let before = content();
    assert_eq!(read(&copy, "t", &ReadOptions::default()).rows, [["int 1"], ["int 2"], ["int 3"]]);
    assert_eq!(files(left.path()), ["t.db", "t.db-wal"]);
    assert!(content() == before, "nothing is written into the log or out of it");
}

/// Keeps SQLite from creating a file, as a folder without write permission does unless the user is root: a link to itself.
fn block(file: &Path) {
    std::os::unix::fs::symlink(file, file).unwrap();
}

/// A database in WAL mode in a folder without write permission failed with "attempt to write a readonly database".
#[test]
fn a_folder_that_cannot_be_written_is_read_without_locks() {
    let (folder, path) = database("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    block(&folder.path().join("t.db-wal"));
    assert_eq!(read(&path, "t", &ReadOptions::default()).rows, [["int 1"]]);
    let database = Database::open(&input(&path)).unwrap();
    let mut reader = database.reader("t", &ReadOptions::default()).unwrap();
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let error = read_all(&mut *reader).unwrap_err();
    assert!(error.to_string().contains("was changed while it was read"), "{error}");
    assert_eq!(files(folder.path()), ["t.db", "t.db-wal"]);
}

/// In such a folder, a log with commits could not be read: the table would silently lack them.
#[test]
fn a_log_that_cannot_be_read_is_an_error() {
    let (folder, path) = database("PRAGMA journal_mode = WAL; CREATE TABLE t(a)");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("INSERT INTO t VALUES (1)").unwrap();
    let left = tempfile::tempdir().unwrap();
    for name in ["t.db", "t.db-wal"] {
        std::fs::copy(folder.path().join(name), left.path().join(name)).unwrap();
    }
    block(&left.path().join("t.db-shm"));
    let error = Database::open(&input(&left.path().join("t.db"))).unwrap_err();
    assert!(error.to_string().contains("has a write-ahead log"), "{error}");
    assert!(error.advice().unwrap().contains("t.db-wal to a folder that can be written"), "{error:?}");
    std::os::unix::fs::symlink(left.path().join("t.db"), folder.path().join("link.db")).unwrap();
    let error = Database::open(&input(&folder.path().join("link.db"))).unwrap_err();
    assert!(error.to_string().contains("has a write-ahead log"), "{error}");
}

/// The error for a journal that must be rolled back was "attempt to write a readonly database", without advice.
#[test]
fn a_hot_journal_is_an_error_that_says_what_to_do() {
    let (folder, path) = database("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000))");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA cache_size = 1; BEGIN; UPDATE t SET a = randomblob(100000)").unwrap();
    let left = tempfile::tempdir().unwrap();
    for name in ["t.db", "t.db-journal"] {
        std::fs::copy(folder.path().join(name), left.path().join(name)).unwrap();
    }
    let path = left.path().join("t.db");
    let error = Database::open(&input(&path)).unwrap_err();
    assert!(error.to_string().contains("journal must be rolled back"), "{error}");
    assert!(error.advice().unwrap().contains("sqlite3 '"), "{error:?}");
    Connection::open(&path).unwrap().execute_batch("SELECT * FROM sqlite_schema").unwrap();
    assert_eq!(read(&path, "t", &ReadOptions::default()).rows.len(), 1);
}

/// A trigger stores its table's name in the spelling of its own statement: one in another case was lost.
#[test]
fn objects_belong_to_their_table_however_it_is_written() {
    let (_folder, path) = database(
        "CREATE TABLE Purchase(a); CREATE INDEX i ON PURCHASE(a);
         CREATE TRIGGER tr AFTER INSERT ON purchase BEGIN SELECT 1; END;",
    );
    let tables = tables(&input(&path)).unwrap();
    let objects: Vec<&str> = tables[0].objects.iter().map(|object| object.name.as_str()).collect();
    assert_eq!(objects, ["i", "tr"]);
}

#[test]
fn rowids_that_are_lost_are_known() {
    let (_folder, path) = database(
        "CREATE TABLE counted(a); INSERT INTO counted VALUES (1), (2), (3);
         CREATE TABLE gap(rowid TEXT); INSERT INTO gap VALUES (1), (2), (3); DELETE FROM gap WHERE rowid = '2';
         CREATE TABLE late(a PRIMARY KEY); INSERT INTO late(_rowid_, a) VALUES (2, 1), (3, 2);
         CREATE TABLE held(id INTEGER PRIMARY KEY, a); INSERT INTO held VALUES (7, 1);
         CREATE TABLE none(rowid, _rowid_, oid); INSERT INTO none VALUES (1, 1, 1), (2, 2, 2); DELETE FROM none WHERE oid = 1;
         CREATE TABLE keyed(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES (5);
         CREATE TABLE empty(a);",
    );
    let database = Database::open(&input(&path)).unwrap();
    let mut lost = Vec::new();
    for table in database.tables() {
        read_all(&mut *database.reader(&table.name, &ReadOptions::default()).unwrap()).unwrap();
        if table.is_renumbered(true) {
            lost.push(table.name.as_str());
        }
    }
    assert_eq!(lost, ["gap", "late"]);
    assert!(database.tables()[0].is_renumbered(false), "rows of another file come before these");
}

#[test]
fn what_is_no_database_is_refused() {
    let (_folder, path) = database("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(100000))");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let truncated = Database::open(&input(&path))
        .and_then(|database| read_all(&mut *database.reader("t", &ReadOptions::default())?).map(drop));
    assert_eq!(truncated.unwrap_err().kind(), ErrorKind::Corrupt);
    std::fs::write(&path, [b'x'; 2000]).unwrap();
    let error = Database::open(&input(&path)).unwrap_err();
    assert!(error.to_string().contains("not a SQLite database"), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert!(Input::from_path(&path, &ReadOptions::default()).is_err());
}
