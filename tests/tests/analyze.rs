//! Statistics for SQLite's planner: the same rows as those of ANALYZE.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{Database, Options, PageSize, Schema, Target};
use litepress_conformance::case::{Case, Into, Route, insert};
use litepress_conformance::folder::Folder;
use litepress_conformance::keyed::any_table;
use litepress_conformance::oracle::{self, OldSqlite, texts};
use litepress_conformance::source::{MadeRows, Row};
use litepress_conformance::spilling;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::Source;
use litepress_rows::cells::OwnedValue;
use proptest::prelude::*;
use rusqlite::Connection;

const STATISTICS: &str = "SELECT quote(tbl) || ' ' || quote(idx) || ' ' || quote(stat) FROM sqlite_stat1 ORDER BY 1";

fn options(route: Route) -> Options {
    let mut options = route.options(PageSize::DEFAULT);
    options.analyze = true;
    options
}

/// Returns the file with statistics, which is equal along several routes.
fn built(case: &Case) -> Vec<u8> {
    let build = |threads, into, memory_bytes| {
        let mut options = options(Route { threads, into });
        options.memory_bytes = memory_bytes;
        case.build_schema(case.schema().unwrap(), &options, into).unwrap()
    };
    let bytes = build(1, Into::Memory, 256 << 20);
    assert!(build(2, Into::CachedFile, 64 << 20) == bytes, "2 threads, a file: other bytes");
    assert!(build(7, Into::Memory, 64 << 20) == bytes, "7 threads: other bytes");
    bytes
}

/// Asserts that the file has exactly SQLite's statistics, and that both versions of SQLite accept it.
fn check(case: &Case) -> Vec<u8> {
    let bytes = built(case);
    let reference = case.reference(PageSize::DEFAULT);
    reference.execute_batch("ANALYZE").unwrap();
    let mut ours = oracle::open(&bytes);
    assert_eq!(texts(&ours, STATISTICS), texts(&reference, STATISTICS));
    // The bundled SQLite also has samples, in a table after this one.
    let schema =
        "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema WHERE name <> 'sqlite_stat4' ORDER BY rowid";
    oracle::assert_same_rows(&ours, &reference, schema, "with statistics");
    oracle::assert_sound(&bytes, "with statistics");
    oracle::assert_sqlite_content(&mut ours, "with statistics");
    // The planner reads them, and another ANALYZE of the file gives the same.
    ours.execute_batch("ANALYZE sqlite_schema; ANALYZE").unwrap();
    assert_eq!(texts(&ours, STATISTICS), texts(&reference, STATISTICS));
    bytes
}

fn assert_old_sqlite_agrees(bytes: &[u8]) {
    let Some(old) = OldSqlite::find() else { return };
    let folder = Folder::new();
    let path = folder.join("statistics.db");
    std::fs::write(&path, bytes).unwrap();
    old.assert_sound(&[path]);
}

/// Returns a case of the rows that SQLite takes.
fn taken(sql: &str, tables: Vec<Vec<Row>>) -> Case {
    let (sqlite, schema) = (Connection::open_in_memory().unwrap(), Schema::from_sql(sql, "<analyze>").unwrap());
    sqlite.execute_batch(sql).unwrap();
    let mut case = Case::new(sql).parts_of(4);
    for (table, rows) in schema.tables.iter().zip(tables) {
        let mut taken = Vec::new();
        for row in rows {
            if insert(&sqlite, table, 1 + taken.len() as i64, &row).is_ok() {
                taken.push(row);
            }
        }
        case = case.rows(taken);
    }
    case
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_keys_and_any_rows_have_sqlites_statistics(tables in prop::collection::vec(any_table(60), 1..4)) {
        let sql: String = tables.iter().enumerate().map(|(number, table)| table.sql(number)).collect();
        check(&taken(&sql, tables.iter().map(|table| table.rows(false)).collect()));
    }
}

fn rows(count: i64, row: impl Fn(i64) -> Vec<OwnedValue>) -> Vec<Row> {
    (0..count).map(row).collect()
}

fn null_or(value: i64, is_null: bool) -> OwnedValue {
    if is_null { OwnedValue::Null } else { OwnedValue::Int(value) }
}

/// SQLite counts NULLs as distinct only in a descending unique index of one column: it stops comparing at the first key that
/// is not NULL.
#[test]
fn nulls_in_unique_indexes() {
    let key = "CREATE UNIQUE INDEX up ON t(a); CREATE UNIQUE INDEX down ON t(a DESC);
               CREATE UNIQUE INDEX pair ON t(a DESC, b DESC); CREATE INDEX plain ON t(a DESC);";
    for (table, nulls) in [("t(a, b)", 3), ("t(a, b)", 1), ("t(a, b)", 200), ("t(a NOT NULL, b)", 0)] {
        let sql = format!("CREATE TABLE {table}; {key}");
        check(&Case::new(sql).rows(rows(100, |row| vec![null_or(row, row < nulls), OwnedValue::Int(row / 5)])));
    }
    for primary in ["k", "k, b"] {
        let sql = format!("CREATE TABLE t(a, b, k, PRIMARY KEY({primary})) WITHOUT ROWID; {key}");
        let row = |row: i64| vec![null_or(row, row < 30), OwnedValue::Int(row / 5), OwnedValue::Int(row)];
        check(&Case::new(sql).rows(rows(100, row)));
    }
}

/// Rounds means up, except for those from 1 to 1.1.
#[test]
fn means_between_one_and_two() {
    for doubles in 0..15 {
        let sql = "CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE INDEX j ON t(b, a)";
        let row = |row: i64| vec![OwnedValue::Int((row - doubles).max(0)), OwnedValue::Int(row % 3)];
        check(&Case::new(sql).rows(rows(100, row)));
    }
}

/// Tables and indexes that SQLite makes have statistics, too, and pages that litepress writes are not read again.
#[test]
fn objects_that_sqlite_makes() {
    let sql = "CREATE TABLE p(a INT, b TEXT); CREATE INDEX p_full ON p(b, a);
        CREATE INDEX p_part ON p(a) WHERE a > 20; CREATE INDEX p_none ON p(a) WHERE a > 1000; CREATE INDEX p_expr ON p(a / 10, b);
        CREATE TABLE only_part(a); CREATE INDEX only_part_a ON only_part(a) WHERE a < 5;
        CREATE TABLE only_expr(a); CREATE INDEX only_expr_a ON only_expr(a % 7);
        CREATE TABLE w(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID; CREATE INDEX w_part ON w(a) WHERE b = 3;
        CREATE TABLE none(a, b); CREATE INDEX none_a ON none(a); CREATE INDEX none_b ON none(b) WHERE b;
        CREATE TABLE \"main\"(id INTEGER PRIMARY KEY AUTOINCREMENT, g AS (id / 4) STORED, u UNIQUE); CREATE INDEX main_g ON main(g)";
    let two = |row: i64| vec![OwnedValue::Int(row % 40), OwnedValue::Int(row / 6)];
    let one = |row: i64| vec![OwnedValue::Int(row % 11)];
    let case = Case::new(sql).rows(rows(90, two)).rows(rows(50, one)).rows(rows(50, one)).rows(rows(90, two));
    let bytes = check(&case.rows([]).rows(rows(30, |row| vec![OwnedValue::Int(row + 1), OwnedValue::Int(row)])));
    assert_old_sqlite_agrees(&bytes);
    let names = texts(&oracle::open(&bytes), "SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'");
    assert_eq!(names, ["sqlite_stat1"]);
}

#[test]
fn tables_of_full_text_search() {
    let case = Case::new("CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE VIRTUAL TABLE f USING fts5(x, y)")
        .after("CREATE VIEW v AS SELECT a FROM t; CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END");
    let text = |text: &str| OwnedValue::Text(text.to_owned());
    let case = case.rows(rows(9, |row| vec![OwnedValue::Int(row / 3), text("b")]));
    check(&case.rows(rows(20, |row| vec![text("some words"), text(&format!("word{row}"))])));
}

/// Writes an empty table of statistics if no table is filled, or if there is none.
#[test]
fn nothing_to_tell() {
    for sql in ["", "CREATE TABLE t(a UNIQUE); CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID"] {
        let bytes = check(&Case::new(sql));
        assert_eq!(
            texts(&oracle::open(&bytes), "SELECT sql FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'"),
            ["CREATE TABLE sqlite_stat1(tbl,idx,stat)"]
        );
        assert_old_sqlite_agrees(&bytes);
    }
}

/// Counts in several workers, and counts rows that were spilled.
#[test]
fn many_rows() {
    let whole = build_source("CREATE TABLE t(a, b); CREATE INDEX i ON t(a, b)", 2, 1 << 30, many);
    assert!(build_source("CREATE TABLE t(a, b); CREATE INDEX i ON t(a, b)", 1, 64 << 20, many) == whole);
    let spilled = build_source(spilling::SCHEMA, 7, 64 << 20, || spilling::rows(spilling::ROWS));
    for bytes in [whole, spilled] {
        let ours = oracle::open(&bytes);
        let written = texts(&ours, STATISTICS);
        ours.execute_batch("ANALYZE").unwrap();
        assert_eq!(written, texts(&ours, STATISTICS));
        assert_old_sqlite_agrees(&bytes);
    }
}

fn many() -> MadeRows<impl Fn(u64, &mut Vec<u8>) -> i64 + Clone + Send + Sync + 'static> {
    MadeRows::new(1_500_000, 100_000, |row, record| {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        write_record(&[Value::Int((mixed >> 62).cast_signed()), Value::Int((mixed >> 44).cast_signed())], record);
        row.cast_signed()
    })
}

fn build_source<S: Source>(sql: &str, threads: usize, memory_bytes: u64, source: impl Fn() -> S) -> Vec<u8> {
    let mut options = options(Route { threads, into: Into::Memory });
    options.memory_bytes = memory_bytes;
    let mut database = Database::create(&Target::Memory, Schema::from_sql(sql, "<many>").unwrap(), &options).unwrap();
    database.fill(0, &source()).unwrap();
    database.finish().unwrap().bytes.unwrap()
}
