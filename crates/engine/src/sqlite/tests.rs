//! Tests sessions of SQLite on databases that litepress has written.

use super::{SessionOptions, SqliteSession};
use crate::Conflict;
use crate::options::Options;
use crate::table::OnePart;
use crate::{Error, ErrorKind, Progress, Result, Schema};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::sync::Mutex;
use litepress_rows::{Part, RecordChunk, Source, Table, quoted_name};
use rusqlite::{Connection, MAIN_DB};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Row = (i64, Vec<Value<'static>>);

/// Rows in memory, in parts of one chunk each.
struct Rows(Mutex<Vec<RecordChunk>>);

impl Rows {
    fn new(rows: &[Row], rows_per_chunk: usize) -> Self {
        let chunk = |(number, rows): (usize, &[Row])| {
            let mut chunk = RecordChunk::new();
            chunk.set_first_record((number * rows_per_chunk) as u64 + 1);
            for (rowid, values) in rows {
                let mut bytes = Vec::new();
                record::write_record(values, &mut bytes);
                chunk.push(*rowid, &bytes);
            }
            chunk
        };
        Self(Mutex::new(rows.chunks(rows_per_chunk).enumerate().rev().map(chunk).collect()))
    }
}

impl Source for Rows {
    fn next_part(&self) -> Result<Option<Box<dyn Part>>> {
        Ok(self.0.lock().unwrap().pop().map(|chunk| Box::new(OnePart(Some(chunk))) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

fn options() -> SessionOptions {
    SessionOptions { temp_dir: std::env::temp_dir(), progress: Arc::new(Progress::default()) }
}

/// Returns the bytes of a database made by these statements.
fn bytes_of(sql: &str) -> Vec<u8> {
    let mut sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA user_version = 1").unwrap();
    sqlite.execute_batch(sql).unwrap();
    sqlite.serialize(MAIN_DB).unwrap().to_vec()
}

fn session(sql: &str) -> SqliteSession {
    SqliteSession::open_bytes(bytes_of(sql), options()).unwrap()
}

/// Writes a file with these bytes. Its folder lives as long as the returned handle.
fn file_of(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.tmp");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn table(sql: &str) -> Table {
    Schema::from_sql(sql, "<test>").unwrap().tables.into_iter().next().unwrap()
}

fn text(text: &'static str) -> Value<'static> {
    Value::Text(text.as_bytes())
}

fn strings(session: &SqliteSession, sql: &str) -> Vec<String> {
    let mut statement = session.connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(rusqlite::Result::unwrap).collect()
}

/// Defines the table in an empty database and inserts the rows.
fn inserted(sql: &str, rows: &[Row], conflict: Conflict) -> Result<(SqliteSession, u64)> {
    let session = session("");
    session.define(sql, "table")?;
    let count = session.insert(&table(sql), &Rows::new(rows, 70), &Options::default().on_conflict(conflict))?;
    Ok((session, count))
}

fn refused(sql: &str, rows: &[Row]) -> Error {
    inserted(sql, rows, Conflict::Abort).err().expect("refused")
}

#[test]
fn values_come_out_as_they_went_in() {
    let sql = "CREATE TABLE \"odd \"\" 'name\" (\"a b\" REAL, id INTEGER PRIMARY KEY, [c]]] TEXT, d, e BLOB,
        f AS (typeof(\"a b\") || id) STORED, g AS (id + 1))"
        .replace("[c]]]", "`c]`");
    let rows = [
        (7, vec![Value::Int(3), Value::Null, Value::Text(b"a\0\xff"), Value::Real(-0.5), Value::Blob(b"")]),
        (-9, vec![Value::Real(1.5), Value::Null, Value::Null, Value::Int(i64::MIN), text("")]),
    ];
    let (session, count) = inserted(&sql, &rows, Conflict::Abort).unwrap();
    assert_eq!(count, 2);
    let listed = strings(
        &session,
        "SELECT id || typeof(\"a b\") || \"a b\" || ' ' || hex(`c]`) || typeof(`c]`) || ' ' || d || typeof(d) || typeof(e)
         || f || g FROM \"odd \"\" 'name\" ORDER BY id",
    );
    assert_eq!(
        listed,
        ["-9real1.5 null -9223372036854775808integertextreal-9-8", "7real3.0 6100FFtext -0.5realblobreal78"]
    );
}

#[test]
fn every_sort_of_table_takes_rows() {
    let rows: Vec<Row> = (0..333).map(|n| (n + 1, vec![Value::Int(n * 7 % 333), text("word")])).collect();
    for sql in [
        "CREATE TABLE t (a INT PRIMARY KEY, b TEXT) WITHOUT ROWID, STRICT",
        "CREATE TABLE t (a INT UNIQUE, b ANY) STRICT",
        "CREATE VIRTUAL TABLE t USING fts5 (a, b)",
    ] {
        let (session, count) = inserted(sql, &rows, Conflict::Abort).unwrap();
        assert_eq!(count, 333, "{sql}");
        assert_eq!(strings(&session, "SELECT b FROM t WHERE a = 5"), ["word"], "{sql}");
        assert_eq!(strings(&session, "PRAGMA integrity_check"), ["ok"], "{sql}");
    }
    let boxes: Vec<Row> =
        (1..=60).map(|n| (n, vec![Value::Int(n), Value::Real(0.5), Value::Int(n), text("kept")])).collect();
    let sql = "CREATE VIRTUAL TABLE t USING rtree (id, low, high, +note TEXT)";
    let (session, _) = inserted(sql, &boxes, Conflict::Abort).unwrap();
    assert_eq!(strings(&session, "SELECT note FROM t WHERE high >= 60"), ["kept"]);
}

#[test]
fn conflicts_end_as_in_sqlite() {
    let sql = "CREATE TABLE t (a INT UNIQUE, b INT UNIQUE, c TEXT NOT NULL)";
    let words = ["x", "y"].into_iter().cycle();
    let row = |(n, word): (i64, _)| (n + 1, vec![Value::Int(n % 90), Value::Int(n * n % 97), text(word)]);
    let rows: Vec<Row> = (0..500).zip(words).map(row).collect();
    for (conflict, verb) in [(Conflict::Ignore, "OR IGNORE"), (Conflict::Replace, "OR REPLACE")] {
        let (session, count) = inserted(sql, &rows, conflict).unwrap();
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(sql).unwrap();
        for (_, values) in &rows {
            let [Value::Int(a), Value::Int(b), Value::Text(c)] = values[..] else { unreachable!() };
            let c = str::from_utf8(c).unwrap();
            sqlite.execute(&format!("INSERT {verb} INTO t VALUES (?, ?, ?)"), (a, b, c)).unwrap();
        }
        let dump = "SELECT group_concat(rowid || ' ' || a || ' ' || b || ' ' || c, ',' ORDER BY rowid) FROM t";
        assert_eq!(strings(&session, dump), [sqlite.query_row(dump, [], |row| row.get::<_, String>(0)).unwrap()]);
        assert_eq!(count, sqlite.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, u64>(0)).unwrap());
    }
}

#[test]
fn a_refused_row_is_named() {
    let mut rows: Vec<Row> = (1..=200).map(|n| (n, vec![Value::Int(n), Value::Int(n)])).collect();
    rows[176].1[1] = Value::Int(5);
    let error = refused("CREATE TABLE t (a INT, b INT UNIQUE)", &rows);
    assert_eq!(error.kind(), ErrorKind::Constraint);
    assert_eq!(error.to_string(), "t.b: record 177: SQLite says: UNIQUE constraint failed: t.b (value 5)");
    let error = refused("CREATE TABLE t (a INT, b INT CONSTRAINT \"not 5\" CHECK (b <> 5 OR a = 5))", &rows);
    assert_eq!(error.to_string(), "table t: record 177: SQLite says: CHECK constraint failed: not 5");
    rows[131].1[0] = text("x");
    let error = refused("CREATE TABLE t (a INT, b INT UNIQUE) STRICT", &rows);
    assert_eq!(error.place().record, Some(132));
    assert_eq!((error.place().column.as_deref(), error.place().value.as_deref()), (Some("a"), Some("'x'")));
    rows[139].1[0] = Value::Int(i64::MIN);
    let error = refused("CREATE TABLE t (a INT, b INT, c AS (abs(a)) STORED)", &rows);
    assert_eq!(error.to_string(), "table t: record 140: SQLite says: integer overflow");
    rows[199].0 = 3;
    let error = refused("CREATE TABLE t (id INTEGER PRIMARY KEY, b INT)", &rows);
    assert_eq!(error.to_string(), "t.id: record 200: SQLite says: UNIQUE constraint failed: t.id (value 3)");
}

#[test]
fn a_failed_definition_names_itself() {
    let session = session("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (1, 2)");
    let error = session.define("CREATE UNIQUE INDEX twins ON t (a, b) WHERE a", "index twins").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Constraint);
    assert_eq!(error.to_string(), "index twins: SQLite says: UNIQUE constraint failed: t.a, t.b");
    let error = session.define("CREATE INDEX i ON t (lower(a, a))", "index i").unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Schema, "index i: SQLite says: wrong number of arguments to function lower()")
    );
}

#[test]
fn a_file_keeps_its_mode_and_gets_no_company() {
    let mut bytes = bytes_of("CREATE TABLE t (a)");
    bytes[18..20].copy_from_slice(&[2, 2]);
    let (folder, path) = file_of(&bytes);
    let session = SqliteSession::open(&path, options()).unwrap();
    session.define("CREATE INDEX i ON t (a) WHERE a", "index i").unwrap();
    assert_eq!(
        session
            .insert(&table("CREATE TABLE t (a)"), &Rows::new(&[(1, vec![text("x")])], 1), &Options::default())
            .unwrap(),
        1
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(session.finish().unwrap().is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read(&path).unwrap()[18..20], [2, 2]);
    let from_bytes = SqliteSession::open_bytes(bytes, options()).unwrap();
    from_bytes.define("CREATE INDEX i ON t (a)", "index i").unwrap();
    assert_eq!(from_bytes.finish().unwrap().unwrap()[18..20], [2, 2]);
    let sqlite = Connection::open(&path).unwrap();
    let mode: String = sqlite.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!((mode.as_str(), sqlite.query_row("SELECT count(*) FROM t", [], |row| row.get(0))), ("wal", Ok(1)));
}

#[test]
fn a_wish_to_stop_is_heard() {
    let session = session("CREATE TABLE t (a)");
    session.options.progress.stop();
    let source = Rows::new(&[(1, vec![text("x")])], 1);
    let error = session.insert(&table("CREATE TABLE t (a)"), &source, &Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    let forever = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n";
    let error = session.define(&format!("CREATE TABLE u AS {forever}"), "table u").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

/// Rows that exist stay. Nothing else that ANALYZE makes does.
#[test]
fn statistics_are_added() {
    let session = session(
        "CREATE TABLE t (a); CREATE INDEX i ON t (a) WHERE a > 0; INSERT INTO t VALUES (1), (1), (0); ANALYZE;
         DROP TABLE IF EXISTS sqlite_stat4; DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 VALUES ('t', NULL, '3')",
    );
    session.analyze(&["i"]).unwrap();
    assert_eq!(
        strings(&session, "SELECT tbl || ' ' || ifnull(idx, '-') || ' ' || stat FROM sqlite_stat1"),
        ["t - 3", "t i 2 2"]
    );
    assert_eq!(strings(&session, "SELECT name FROM sqlite_schema"), ["t", "i", "sqlite_stat1"]);
}

/// The verdict on CHECKs whose expressions cannot be told.
#[test]
fn sqlite_checks_a_written_table() {
    let sql = "CREATE TABLE t (a CONSTRAINT positive CHECK (a > 0), b CHECK (b))";
    let insert = |a: i64| format!("{sql}; PRAGMA ignore_check_constraints = ON; INSERT INTO t VALUES ({a}, 1)");
    let verdict = |a| session(&insert(a)).check_constraints(&table(sql));
    verdict(1).unwrap();
    let error = verdict(0).unwrap_err();
    assert_eq!(error.to_string(), "table t: SQLite says: CHECK constraint failed in t");
}

#[test]
fn names_are_quoted() {
    assert_eq!(quoted_name("a\"b"), "\"a\"\"b\"");
    let missing = SqliteSession::open(Path::new("/nowhere/at all"), options());
    assert_eq!(missing.err().unwrap().kind(), ErrorKind::Io);
}
