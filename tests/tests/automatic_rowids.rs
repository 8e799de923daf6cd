//! Files that lack the INTEGER PRIMARY KEY of their table: rows get the rowids that SQLite's INSERT gives them, one after
//! another.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::plan::{BuildMethod, plan_objects};
use litepress::{Conflict, Database, ErrorKind, Options, PageSize, Result, Schema, Sync, Target};
use litepress_conformance::oracle;
use litepress_load::input::Input;
use litepress_load::options::ReadOptions;
use litepress_load::plan::{LoadPlan, LoadRequest};
use litepress_load::rejects::Rejects;
use litepress_load::source::OnError;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;

const POLICIES: [Conflict; 3] = [Conflict::Abort, Conflict::Ignore, Conflict::Replace];

const TABLES: [&str; 10] = [
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT)",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT); CREATE INDEX i ON t(b, id DESC)",
    "CREATE TABLE t(a TEXT, b TEXT, id INTEGER PRIMARY KEY)",
    "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT NOT NULL, b TEXT)",
    "CREATE TABLE t(a TEXT, id INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT UNIQUE)",
    "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT, b TEXT)",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT NOT NULL, UNIQUE(b, a))",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'd', b TEXT CHECK (b <> 'x'))",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL ON CONFLICT IGNORE, b TEXT UNIQUE ON CONFLICT REPLACE)",
    "CREATE TABLE t(id INTEGER PRIMARY KEY ON CONFLICT REPLACE, a TEXT, b TEXT)",
];

/// Key, if the file has keys, and two texts.
type Row = (Option<i64>, Option<&'static str>, Option<&'static str>);

fn any_file() -> impl Strategy<Value = Vec<Row>> {
    let text = || prop::option::weighted(0.9, select(&["x", "y", "z", "u", "v", "w", "p", "q"][..]));
    prop::bool::weighted(0.3).prop_flat_map(move |has_key| {
        let key = (-4_i64..25).prop_map(move |key| has_key.then_some(key));
        prop::collection::vec((key, text(), text()), 1..25)
    })
}

fn file(rows: &[Row]) -> String {
    let has_key = rows[0].0.is_some();
    let field = |text: Option<&str>| text.unwrap_or("NULL").to_owned();
    let line = |&(key, a, b): &Row| {
        let key = key.map(|key| format!("{key},")).unwrap_or_default();
        format!("{key}{},{}\n", field(a), field(b))
    };
    let header = if has_key { "id,a,b\n" } else { "a,b\n" };
    header.to_owned() + &rows.iter().map(line).collect::<String>()
}

/// Returns the database as SQLite's INSERT leaves it. `None` if a row is refused.
fn inserted(sql: &str, files: &[Vec<Row>], conflict: Conflict) -> Option<Connection> {
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(sql).unwrap();
    let verb = match conflict {
        Conflict::Abort => "INSERT",
        Conflict::Ignore => "INSERT OR IGNORE",
        Conflict::Replace => "INSERT OR REPLACE",
        Conflict::Update => unreachable!("it is not among the policies"),
    };
    for row in files.iter().flatten() {
        sqlite.execute(&format!("{verb} INTO t(id, a, b) VALUES (?, ?, ?)"), *row).ok()?;
    }
    Some(sqlite)
}

fn plan(sql: &str, files: &[PathBuf], threads: usize, conflict: Conflict) -> LoadPlan {
    let nulls = vec!["NULL".to_owned()];
    let read = ReadOptions { piece_bytes: Some(30), nulls, ..ReadOptions::default() };
    let request = LoadRequest {
        inputs: Input::from_arguments(files, &read).unwrap(),
        table: Some("t".to_owned()),
        schema: Some((sql.to_owned(), "<test>".to_owned())),
        read,
        conflict,
        threads,
        temp_dir: std::env::temp_dir(),
        ..LoadRequest::default()
    };
    LoadPlan::new(request, &|| Ok(())).unwrap()
}

fn build(plan: &LoadPlan, threads: usize, conflict: Conflict) -> Result<Vec<u8>> {
    let rejects = Arc::new(Rejects::new(None, false, u64::MAX)?);
    let source = plan.source(&plan.tables[0], PageSize::DEFAULT, OnError::Abort, &rejects)?;
    let mut options = Options::default();
    (options.threads, options.sync, options.memory_bytes, options.on_conflict) =
        (threads, Sync::Off, 64 << 20, conflict);
    let mut database = Database::create(&Target::Memory, plan.schema.clone(), &options)?;
    database.fill(plan.tables[0].table, &source)?;
    Ok(database.finish()?.bytes.unwrap())
}

fn write(folder: &tempfile::TempDir, files: &[Vec<Row>]) -> Vec<PathBuf> {
    let path = |(number, rows): (usize, &Vec<Row>)| {
        let path = folder.path().join(format!("{number}.csv"));
        std::fs::write(&path, file(rows)).unwrap();
        path
    };
    files.iter().enumerate().map(path).collect()
}

/// Checks that the outcome is SQLite's, with any number of threads.
fn check(sql: &str, files: &[Vec<Row>], conflict: Conflict) {
    let what = format!("{conflict:?}: {sql}: {files:?}");
    let folder = tempfile::tempdir().unwrap();
    let paths = write(&folder, files);
    let built = [1, 2, 7].map(|threads| build(&plan(sql, &paths, threads, conflict), threads, conflict));
    let Some(theirs) = inserted(sql, files, conflict) else {
        for built in built {
            assert_eq!(built.expect_err(&what).kind(), ErrorKind::Constraint, "{what}");
        }
        return;
    };
    let [bytes, others @ ..] = built.map(|built| built.unwrap_or_else(|error| panic!("{error}: {what}")));
    assert!(others.iter().all(|other| *other == bytes), "{what}: other bytes");
    oracle::assert_sound(&bytes, &what);
    let ours = oracle::open(&bytes);
    oracle::assert_same_schema(&ours, &theirs, &what);
    oracle::assert_same_content(&ours, &theirs, &what);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rowids_are_those_of_insert(
        files in prop::collection::vec(any_file(), 1..4),
        sql in select(&TABLES[..]),
        conflict in select(&POLICIES[..]),
    ) {
        check(sql, &files, conflict);
    }
}

/// Rows were numbered before the conflict policy removed some: ids 1 and 3 although INSERT OR IGNORE gives 1 and 2.
#[test]
fn an_ignored_row_uses_up_no_rowid() {
    let rows = |rows: &[(Option<&'static str>, &'static str)]| -> Vec<Row> {
        rows.iter().map(|&(a, b)| (None, a, Some(b))).collect()
    };
    let by_key = rows(&[(Some("x"), "1"), (Some("x"), "2"), (Some("y"), "3")]);
    check("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT)", &[by_key], Conflict::Ignore);
    let by_null = rows(&[(Some("x"), "1"), (None, "2"), (Some("y"), "3")]);
    let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT)";
    check(sql, std::slice::from_ref(&by_null), Conflict::Ignore);
    // Without a second key, litepress writes the table itself.
    assert!(
        plan_objects(&Schema::from_sql(sql, "<test>").unwrap(), Conflict::Ignore)
            .iter()
            .all(|step| step.method == BuildMethod::Direct)
    );
}

/// Rows of a file without ids took their numbers as ids. With the policy ignore, rows whose number was an id in another file
/// were lost silently.
#[test]
fn files_with_ids_and_without() {
    let with: Vec<Row> = [7, 2, 3].map(|id| (Some(id), Some("x"), None)).to_vec();
    let without: Vec<Row> = vec![(None, Some("y"), None); 4];
    let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT)";
    for conflict in POLICIES {
        for files in [vec![with.clone(), without.clone()], vec![without.clone(), with.clone(), without.clone()]] {
            check(sql, &files, conflict);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(sql, &write(&folder, &[with, without]), 1, Conflict::Abort);
    let BuildMethod::Sqlite { why } = &plan_objects(&plan.schema, Conflict::Abort)[0].method else {
        panic!("SQLite fills the table")
    };
    assert_eq!(why, "some of its data lack the column id, so that rowids are chosen among given ones");
}

/// A key that is NULL in the file is not a missing key: the row is refused on every lane.
#[test]
fn a_key_that_is_null_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("null.csv");
    std::fs::write(&path, "id,a,b\n5,x,y\nNULL,u,v\n").unwrap();
    for (sql, conflict) in TABLES.into_iter().flat_map(|sql| POLICIES.map(|conflict| (sql, conflict))) {
        let error = build(&plan(sql, std::slice::from_ref(&path), 1, conflict), 1, conflict).expect_err(sql);
        assert_eq!((error.kind(), error.place().record), (ErrorKind::Constraint, Some(2)), "{error}: {sql}");
        assert!(error.message().starts_with("NULL in an INTEGER PRIMARY KEY"), "{error}");
    }
}
