//! `sqlite_schema` in SQLite's order, by every method.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::PageSize;
use litepress_conformance::case::{Case, Into, Route};
use litepress_conformance::oracle;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use std::fmt::Write;

/// Tables that litepress writes, and tables that SQLite makes.
const TABLES: [&str; 9] = [
    "CREATE TABLE t#(a, b)",
    "CREATE TABLE t#(a INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE)",
    "CREATE TABLE t#(a TEXT, b, PRIMARY KEY(a)) WITHOUT ROWID",
    "CREATE TABLE t#(a CHECK (a > 0), b UNIQUE, UNIQUE(b, a))",
    "CREATE TABLE t#(a, b, c AS (a + b) STORED)",
    "CREATE TABLE t#(a UNIQUE ON CONFLICT REPLACE, b UNIQUE ON CONFLICT IGNORE)",
    "CREATE TABLE t#(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c AS (b) STORED)",
    "CREATE VIRTUAL TABLE t# USING fts5(a, b)",
    "CREATE VIRTUAL TABLE t# USING rtree(a, b, b2)",
];

/// Objects that belong to a table; not all of them are possible for every table.
const OTHERS: [&str; 8] = [
    "CREATE INDEX i# ON t@(b)",
    "CREATE INDEX i# ON t@(a) WHERE b > 3",
    "CREATE INDEX i# ON t@(a || b)",
    "CREATE UNIQUE INDEX i# ON t@(b, a)",
    "CREATE UNIQUE INDEX i# ON t@(b) WHERE a IS NOT NULL",
    "CREATE VIEW v# AS SELECT a FROM t@",
    "CREATE TRIGGER i# AFTER INSERT ON t@ BEGIN DELETE FROM t@ WHERE a = 1; END",
    // It has the name of its table.
    "CREATE TRIGGER t@ AFTER DELETE ON t@ BEGIN SELECT 1; END",
];

/// Generates statements for tables, and for objects of the tables before them.
fn any_schema() -> impl Strategy<Value = String> {
    let table = select(&TABLES[..]).prop_map(|sql| (sql, 0));
    let other = (select(&OTHERS[..]), any::<usize>());
    let statements = prop::collection::vec(prop_oneof![1 => table.boxed(), 2 => other.boxed()], 1..30);
    statements.prop_map(|statements| {
        let sqlite = Connection::open_in_memory().unwrap();
        let (mut schema, mut tables) = (String::new(), 0);
        for (number, (sql, of_table)) in statements.into_iter().enumerate() {
            let is_table = sql.contains(" t#");
            let sql = if is_table {
                sql.replace('#', &tables.to_string())
            } else {
                sql.replace('#', &number.to_string()).replace('@', &(of_table % tables.max(1)).to_string())
            };
            if sqlite.execute_batch(&sql).is_ok() {
                writeln!(schema, "{sql};").unwrap();
                tables += usize::from(is_table);
            }
        }
        schema
    })
}

/// Checks that the file has SQLite's `sqlite_schema`, with and without statistics, on small and large pages.
fn check(sql: &str) {
    let theirs = Connection::open_in_memory().unwrap();
    theirs.execute_batch(sql).unwrap();
    let case = Case::new(sql);
    for (page_size, into) in [(PageSize::MIN, Into::Memory), (PageSize::DEFAULT, Into::CachedFile)] {
        let route = Route { threads: 2, into };
        let bytes = case.build(route, page_size).unwrap_or_else(|error| panic!("{error}: {sql}"));
        oracle::assert_sound(&bytes, sql);
        let ours = oracle::open(&bytes);
        oracle::assert_same_schema(&ours, &theirs, sql);
        // SQLite can continue to change the schema.
        ours.execute_batch("CREATE TABLE after_all(a UNIQUE); DROP TABLE after_all").unwrap();
        oracle::assert_same_schema(&ours, &theirs, sql);
        let mut options = route.options(page_size);
        options.analyze = true;
        let analyzed = oracle::open(&case.build_schema(case.schema().unwrap(), &options, into).unwrap());
        let names = |sqlite| oracle::texts(sqlite, "SELECT type || ' ' || name FROM sqlite_schema ORDER BY rowid");
        let mut expected = names(&theirs);
        expected.push("table sqlite_stat1".to_owned());
        assert_eq!(names(&analyzed), expected, "with statistics: {sql}");
    }
}

/// Indexes and tables that SQLite makes came after all written ones, and so did every view if SQLite made anything. So dumps
/// had another order than the schema, and SQLite checked UNIQUE indexes in another order than the schema's.
#[test]
fn objects_stand_where_the_schema_has_them() {
    check(
        "CREATE TABLE a(x, y); CREATE UNIQUE INDEX a_part ON a(x) WHERE y; CREATE UNIQUE INDEX a_full ON a(x);
         CREATE VIEW v AS SELECT * FROM a; CREATE VIRTUAL TABLE f USING fts5(t); CREATE TABLE b(x CHECK (x > 0) UNIQUE);
         CREATE TRIGGER b AFTER INSERT ON a BEGIN SELECT 1; END; CREATE TABLE c(k INTEGER PRIMARY KEY AUTOINCREMENT);
         CREATE TABLE s(x, y AS (x) STORED, UNIQUE(x, y)); CREATE INDEX a_last ON a(y)",
    );
}

/// A schema of many pages, with indexes that SQLite makes among written ones.
#[test]
fn large_schemas_are_put_in_order() {
    let mut sql = String::new();
    for table in 0..300 {
        write!(sql, "CREATE TABLE t{table}(a, b); CREATE INDEX p{table} ON t{table}(a) WHERE b;").unwrap();
        write!(sql, "CREATE INDEX i{table} ON t{table}(b /* {} */);", "x".repeat(table * 7 % 900)).unwrap();
    }
    check(&sql);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_is_in_sqlites_order(sql in any_schema()) {
        check(&sql);
    }
}
