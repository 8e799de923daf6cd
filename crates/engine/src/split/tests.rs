//! SQLite compares the rows of each file with those of its value.

use super::*;
use crate::ErrorKind;
use crate::table::OneChunk;
use litepress_format::record;
use litepress_format::value::Value;
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;

const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, v INTEGER UNIQUE);
    CREATE TABLE u (k TEXT, v INTEGER);
    CREATE INDEX i ON u (v);";

/// Makes rows of `t` or `u` whose key is that of `key`, in the order of their numbers.
fn chunk(rows: i64, has_id: bool, key: &dyn Fn(i64) -> Option<String>) -> RecordChunk {
    let mut chunk = RecordChunk::new();
    for number in 0..rows {
        let text = key(number);
        let key = text.as_deref().map_or(Value::Null, Value::from);
        let mut bytes = Vec::new();
        let values = if has_id { vec![Value::Null, key, Value::Int(number)] } else { vec![key, Value::Int(number)] };
        record::write_record(&values, &mut bytes);
        chunk.push(number + 1, &bytes);
    }
    chunk
}

struct Case {
    folder: tempfile::TempDir,
    schema: Schema,
    options: Options,
}

impl Case {
    fn new(sql: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options { sync: Sync::Off, threads: 3, ..Options::default() };
        Self { folder, schema: Schema::from_sql(sql, "<test>").expect("a schema"), options }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn split(&self, chunks: Vec<(usize, usize, RecordChunk)>) -> Result<SplitDatabases> {
        let sources: Vec<_> =
            chunks.into_iter().map(|(table, column, chunk)| (table, column, OneChunk::new(chunk))).collect();
        let tables: Vec<_> = sources
            .iter()
            .map(|(table, column, source)| SplitTable { table: *table, column: *column, source })
            .collect();
        split(&self.out(), &self.schema, &tables, &self.options, &|| Ok(()))
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.out())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    }

    /// Returns what SQLite answers as one text.
    fn ask(&self, name: &str, sql: &str) -> String {
        let database = Connection::open(self.out().join(name)).expect("a database");
        let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
        assert_eq!(sound, "ok", "{name}");
        database.query_row(sql, [], |row| row.get(0)).expect(sql)
    }
}

fn key(number: i64) -> Option<String> {
    (number % 4 != 3).then(|| ["Ada", "ada", "b/c"][usize::try_from(number % 4).expect("small")].to_owned())
}

#[test]
fn each_value_has_a_database_with_all_of_its_rows() {
    let case = Case::new(SCHEMA);
    let made = case.split(vec![(0, 1, chunk(4000, true, &key)), (1, 0, chunk(10, false, &key))]).expect("databases");
    assert_eq!((made.databases, made.finished.summary.rows), (4, 4010));
    assert_eq!(made.largest, Some(("+ada.db".to_owned(), 1003)));
    assert_eq!(case.names(), ["%null.db", "+ada.db", "ada.db", "b%2fc.db"]);
    let of_t = "SELECT group_concat(k) || ' ' || count(*) || ' ' || min(v) || ' ' || sum(id - v) FROM (SELECT DISTINCT k FROM t), t AS all_rows";
    let of_t = of_t.replace("SELECT group_concat(k)", "SELECT group_concat(DISTINCT all_rows.k)");
    assert_eq!(case.ask("ada.db", &of_t), "ada 1000 1 1000");
    assert_eq!(case.ask("+ada.db", &of_t), "Ada 1000 0 1000");
    // Rowids that no column holds are those of the table by itself.
    let of_u = "SELECT group_concat(rowid || ':' || v, ' ') FROM u";
    assert_eq!(case.ask("ada.db", of_u), "1:1 2:5 3:9");
    assert_eq!(case.ask("%null.db", "SELECT count(*) || ' ' || count(k) FROM u"), "2 0");
}

/// The rows of one value are more than a part, of another less; bytes do not follow from the number of threads.
#[test]
fn large_groups_stream_and_the_files_are_the_same_on_any_number_of_threads() {
    let key = |number: i64| Some(if number % 3 == 0 { format!("{}", number % 500) } else { "x".repeat(900) });
    let mut files: Vec<Vec<Vec<u8>>> = Vec::new();
    for threads in [1, 4] {
        let mut case = Case::new(SCHEMA);
        case.options.threads = threads;
        let made =
            case.split(vec![(1, 0, chunk(20_000, false, &key)), (0, 1, chunk(9, true, &key))]).expect("databases");
        assert_eq!((made.databases, made.finished.summary.rows), (501, 20_009));
        let long = case.names().into_iter().find(|name| name.starts_with("xxx")).expect("a long value");
        assert_eq!(
            case.ask(&long, "SELECT count(*) || ' ' || sum(v) || ' ' || max(rowid) FROM u"),
            "13333 133326667 13333"
        );
        assert_eq!(case.ask(&long, "SELECT count(*) || ' ' || sum(v) FROM t"), "6 27");
        files.push(case.names().iter().map(|name| fs::read(case.out().join(name)).expect("a file")).collect());
    }
    assert!(files[0] == files[1]);
}

#[test]
fn rows_are_unique_within_their_database_and_errors_name_them() {
    let case = Case::new(SCHEMA);
    let rows = |same: i64| {
        let mut chunk = RecordChunk::new();
        for number in 0..100 {
            let mut bytes = Vec::new();
            let key = ["a", "b"][usize::from(number % 2 == 1)];
            record::write_record(&[Value::Null, Value::from(key), Value::Int(number / same)], &mut bytes);
            chunk.push(number + 1, &bytes);
        }
        chunk
    };
    assert_eq!(case.split(vec![(0, 1, rows(2))]).expect("unique in each").databases, 2);
    fs::remove_dir_all(case.out()).expect("a folder");
    let error = case.split(vec![(0, 1, rows(3))]).expect_err("0 is in a twice");
    assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
    assert!(error.to_string().contains("rowid 1 and 3"), "{error}");
    assert_eq!(error.place().file.as_deref(), Some(&*case.out().join("a.db")));
    assert!(!case.out().exists() && fs::read_dir(case.folder.path()).expect("a folder").next().is_none());
}

/// Views, triggers and full-text tables are SQLite's work, in every file.
#[test]
fn sqlite_has_its_part_in_every_file() {
    let mut case = Case::new(
        "CREATE TABLE s (k TEXT, v INT CHECK (v >= 0), w AS (v * 2) STORED); CREATE VIEW view AS SELECT sum(w) AS w FROM s;
         CREATE VIRTUAL TABLE f USING fts5(k, v);",
    );
    case.options.verify = crate::Verify::Full;
    case.options.analyze = true;
    let rows = || chunk(40, false, &key);
    let f = case.schema.position("f").expect("a table");
    let made = case.split(vec![(f, 0, rows()), (0, 0, rows())]).expect("databases");
    assert_eq!(made.databases, 4);
    let report = made.finished.verified.expect("a report");
    assert_eq!((report.faults_total, report.pages), (0, made.finished.summary.pages));
    assert_eq!(case.ask("ada.db", "SELECT w || '' FROM view"), "380");
    assert_eq!(case.ask("ada.db", "SELECT count(*) || '' FROM f WHERE f MATCH 'ada'"), "10");
}

#[test]
fn no_row_makes_an_empty_folder() {
    let case = Case::new(SCHEMA);
    let made = case.split(vec![(0, 1, chunk(0, true, &key))]).expect("nothing");
    assert_eq!((made.databases, made.largest, case.names()), (0, None, Vec::new()));
}

#[test]
fn a_stopped_run_leaves_nothing() {
    let case = Case::new(SCHEMA);
    case.options.progress.stop();
    let error = case.split(vec![(0, 1, chunk(10, true, &key))]).expect_err("stopped");
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert!(fs::read_dir(case.folder.path()).expect("a folder").next().is_none());
}
