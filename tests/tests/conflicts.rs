//! Rows that conflict with earlier ones: the remaining rows are those that SQLite's own INSERT OR IGNORE and OR REPLACE leave,
//! row by row.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::plan::{BuildMethod, plan_objects};
use litepress::{Conflict, ErrorKind, MIN_MEMORY_BYTES, PageSize, Schema};
use litepress_conformance::case::{Case, Into, Route, insert_or};
use litepress_conformance::edge_values::any_key;
use litepress_conformance::oracle;
use litepress_conformance::source::Row;
use litepress_rows::cells::OwnedValue;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use std::path::PathBuf;

const POLICIES: [Conflict; 3] = [Conflict::Abort, Conflict::Ignore, Conflict::Replace];

/// Tables that litepress writes under every policy: at most one key, and no DEFAULT that could replace NULL.
const WRITTEN: [&str; 16] = [
    "CREATE TABLE t(k, a NOT NULL, b)",
    "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b TEXT)",
    "CREATE TABLE t(k INTEGER NOT NULL PRIMARY KEY, a NOT NULL, b); CREATE INDEX i ON t(b DESC, k)",
    "CREATE TABLE t(k INTEGER PRIMARY KEY AUTOINCREMENT, a, b TEXT); CREATE INDEX i ON t(b, a)",
    "CREATE TABLE t(k UNIQUE, a NOT NULL, b TEXT)",
    "CREATE TABLE t(k REAL PRIMARY KEY, a, b)",
    "CREATE TABLE t(k TEXT COLLATE NOCASE, a NOT NULL, b, UNIQUE(k, b DESC)); CREATE INDEX i ON t(a)",
    "CREATE TABLE t(k, a DEFAULT 'x', b); CREATE UNIQUE INDEX u ON t(b COLLATE RTRIM)",
    "CREATE TABLE t(k ANY, a ANY NOT NULL, b ANY, UNIQUE(b, k, b)) STRICT; CREATE INDEX i ON t(b, a)",
    "CREATE TABLE t(k, v AS (a), a, b UNIQUE); CREATE INDEX i ON t(b, a)",
    "CREATE TABLE t(k PRIMARY KEY DESC, a NOT NULL, b) WITHOUT ROWID",
    "CREATE TABLE t(k, a, b TEXT NOT NULL, PRIMARY KEY(a, k)) WITHOUT ROWID; CREATE INDEX i ON t(b)",
    "CREATE TABLE t(k TEXT, a, b, PRIMARY KEY(k COLLATE NOCASE, k COLLATE RTRIM)) WITHOUT ROWID",
    "CREATE TABLE t(k TEXT, a, b, PRIMARY KEY(k COLLATE NOCASE)) WITHOUT ROWID; CREATE INDEX i ON t(a, b); CREATE INDEX j ON t(b)",
    "CREATE TABLE t(k BLOB, a ANY NOT NULL, b ANY NOT NULL) STRICT; CREATE INDEX i ON t(b)",
    "CREATE TABLE t(k INT, a ANY, b TEXT NOT NULL, PRIMARY KEY(a)) STRICT, WITHOUT ROWID",
];

/// Tables whose rows SQLite must insert, at least under this policy.
const INSERTED: [(&str, Conflict); 18] = [
    ("CREATE TABLE t(k INTEGER PRIMARY KEY, a UNIQUE, b)", Conflict::Ignore),
    ("CREATE TABLE t(k UNIQUE, a, b, UNIQUE(a, b)); CREATE INDEX i ON t(b)", Conflict::Replace),
    ("CREATE TABLE t(k PRIMARY KEY, a, b) WITHOUT ROWID; CREATE UNIQUE INDEX u ON t(a)", Conflict::Replace),
    ("CREATE TABLE t(k, a, b); CREATE UNIQUE INDEX u ON t(k) WHERE a > 3", Conflict::Ignore),
    ("CREATE TABLE t(k, a, b); CREATE UNIQUE INDEX u ON t(k || a); CREATE INDEX i ON t(b)", Conflict::Replace),
    ("CREATE TABLE t(k UNIQUE, a CHECK (a < 'm'), b)", Conflict::Ignore),
    ("CREATE TABLE t(k INTEGER PRIMARY KEY AUTOINCREMENT, a NOT NULL, b)", Conflict::Ignore),
    ("CREATE TABLE t(k UNIQUE, a, b NOT NULL DEFAULT 7)", Conflict::Replace),
    ("CREATE TABLE t(k UNIQUE ON CONFLICT REPLACE, a NOT NULL ON CONFLICT IGNORE, b)", Conflict::Abort),
    ("CREATE TABLE t(k INTEGER PRIMARY KEY ON CONFLICT REPLACE, a, b NOT NULL)", Conflict::Abort),
    ("CREATE TABLE t(k PRIMARY KEY ON CONFLICT IGNORE, a, b) WITHOUT ROWID", Conflict::Abort),
    ("CREATE TABLE t(k UNIQUE, a, b NOT NULL ON CONFLICT REPLACE DEFAULT 'd')", Conflict::Abort),
    ("CREATE TABLE t(k UNIQUE ON CONFLICT REPLACE, a, b); CREATE UNIQUE INDEX u ON t(a)", Conflict::Abort),
    ("CREATE TABLE t(k UNIQUE ON CONFLICT IGNORE, a, b, UNIQUE(a, b) ON CONFLICT REPLACE)", Conflict::Abort),
    ("CREATE TABLE t(k INT, a ANY NOT NULL ON CONFLICT IGNORE, b ANY) STRICT", Conflict::Abort),
    ("CREATE TABLE t(k ANY, a ANY NOT NULL ON CONFLICT REPLACE DEFAULT 5, b INT) STRICT", Conflict::Abort),
    ("CREATE TABLE t(k ANY, a INT CHECK (a <> 7), b ANY NOT NULL) STRICT", Conflict::Ignore),
    ("CREATE TABLE t(k INTEGER PRIMARY KEY AUTOINCREMENT, a ANY NOT NULL, b INT) STRICT", Conflict::Ignore),
];

fn schema(sql: &str) -> Schema {
    Schema::from_sql(sql, "<conflicts>").unwrap_or_else(|error| panic!("{error}: {sql}"))
}

/// Returns the table as SQLite's INSERT leaves it. `None` if a row is refused.
fn inserted(sql: &str, rows: &[Row], conflict: Conflict) -> Option<Connection> {
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&format!("{sql}; BEGIN")).unwrap();
    let table = &schema(sql).tables[0];
    rows.iter().try_for_each(|row| insert_or(&sqlite, table, conflict, row)).ok()?;
    sqlite.execute_batch("COMMIT").unwrap();
    Some(sqlite)
}

fn is_written(sql: &str, conflict: Conflict) -> bool {
    plan_objects(&schema(sql), conflict).iter().all(|step| step.method == BuildMethod::Direct)
}

fn case(sql: &str, rows: &[Row], conflict: Conflict) -> Case {
    let case = Case::new(sql).rows(rows.iter().cloned()).parts_of(7).on_conflict(conflict);
    if schema(sql).tables[0].rowid_alias.is_some() { case.in_any_order() } else { case }
}

/// Checks that the outcome is SQLite's by any method, with equal bytes along several routes.
fn check(sql: &str, rows: &[Row], conflict: Conflict) {
    let what = format!("{conflict:?}: {sql}");
    let case = case(sql, rows, conflict);
    let routes = [(1, Into::Memory), (2, Into::CachedFile), (7, Into::Memory)];
    let built = routes.map(|(threads, into)| case.build(Route { threads, into }, PageSize::MIN));
    let Some(mut theirs) = inserted(sql, rows, conflict) else {
        for built in built {
            assert_eq!(built.expect_err(&what).kind(), ErrorKind::Constraint, "{what}");
        }
        return;
    };
    let [bytes, others @ ..] = built.map(|built| built.unwrap_or_else(|error| panic!("{error}: {what}")));
    assert!(others.iter().all(|other| *other == bytes), "{what}: other bytes");
    oracle::assert_sound(&bytes, &what);
    let mut ours = oracle::open(&bytes);
    oracle::assert_same_schema(&ours, &theirs, &what);
    oracle::assert_same_content(&ours, &theirs, &what);
    if is_written(sql, conflict) {
        oracle::assert_same_indexes(&mut ours, &mut theirs, &what);
    }
}

/// Generates rows whose keys repeat by some rule.
fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let few = select(&["a", "A", "a ", "b", "m", "z"][..]).prop_map(|text| OwnedValue::Text(text.to_owned()));
    let null = prop::bool::weighted(0.05);
    let value = || prop_oneof![3 => few.clone().boxed(), 2 => (0_i64..6).prop_map(OwnedValue::Int).boxed(), 1 => any_key().boxed()];
    let row = (value(), value(), value(), null)
        .prop_map(|(k, a, b, null)| vec![k, if null { OwnedValue::Null } else { a }, b]);
    prop::collection::vec(row, 0..60)
}

/// Returns the rows, with integers for an INTEGER PRIMARY KEY.
fn fitting(sql: &str, rows: &[Row]) -> Vec<Row> {
    let is_alias = schema(sql).tables[0].rowid_alias.is_some();
    let whole = |(at, row): (i64, &Row)| {
        let key = match &row[0] {
            OwnedValue::Int(int) => *int,
            OwnedValue::Text(text) => i64::from(text.bytes().map(u16::from).sum::<u16>() % 9) - 4,
            _ => at,
        };
        [&[OwnedValue::Int(key)], &row[1..]].concat()
    };
    if is_alias { (0..).zip(rows).map(whole).collect() } else { rows.to_vec() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn what_stays_is_what_sqlite_leaves(rows in any_rows(), sql in select(&WRITTEN[..]), conflict in select(&POLICIES[..])) {
        check(sql, &fitting(sql, &rows), conflict);
    }

    #[test]
    fn what_sqlite_inserts_itself(rows in any_rows(), (sql, _) in select(&INSERTED[..]), conflict in select(&POLICIES[..])) {
        check(sql, &fitting(sql, &rows), conflict);
    }
}

/// A DEFAULT that replaces NULL may count earlier inserts: with fifty rows per statement it had other values than with one
/// row per statement.
#[test]
fn a_default_for_null_sees_the_rows_before() {
    let sql = "CREATE TABLE t(k UNIQUE, a NOT NULL DEFAULT (last_insert_rowid() + 1000 * changes()), b)";
    let rows: Vec<Row> =
        (0..120).map(|k| vec![OwnedValue::Int(k % 100), OwnedValue::Null, OwnedValue::Int(k)]).collect();
    let case = Case::new(sql).rows(rows.iter().cloned()).parts_of(120).on_conflict(Conflict::Replace);
    let bytes = case.build(Route { threads: 1, into: Into::Memory }, PageSize::MIN).unwrap();
    let theirs = inserted(sql, &rows, Conflict::Replace).unwrap();
    oracle::assert_same_content(&oracle::open(&bytes), &theirs, sql);
}

/// A row with a value of a wrong type and NULL in a NOT NULL column was refused for its type. SQLite checks NULL first and
/// ignores the row; only in a table with generated columns it checks types first.
#[test]
fn null_goes_before_types() {
    let computed = [
        "CREATE TABLE t(k INT, a ANY NOT NULL, b ANY NOT NULL, g ANY AS (a)) STRICT",
        "CREATE TABLE t(k INT, a ANY NOT NULL, b ANY NOT NULL, g ANY AS (a) STORED) STRICT",
    ];
    let strict = WRITTEN.into_iter().chain(INSERTED.map(|(sql, _)| sql)).filter(|sql| sql.contains("STRICT"));
    let texts = [OwnedValue::Null, OwnedValue::Int(7), OwnedValue::Text("x".to_owned()), OwnedValue::Real(f64::NAN)];
    for sql in strict.chain(computed) {
        let keys = if schema(sql).tables[0].rowid_alias.is_some() { &texts[1..2] } else { &texts[1..3] };
        let rows = keys.iter().flat_map(|k| {
            let of_key = texts.iter().flat_map(|a| texts.iter().map(|b| vec![a.clone(), b.clone()]));
            of_key.map(|rest| [vec![k.clone()], rest].concat())
        });
        let rows: Vec<Row> = rows.collect();
        for conflict in POLICIES {
            rows.iter().for_each(|row| check(sql, std::slice::from_ref(row), conflict));
            // All rows together that SQLite accepts: ignored rows are checked beside those that stay.
            let is_taken = |row: &&Row| inserted(sql, std::slice::from_ref(*row), conflict).is_some();
            let taken: Vec<Row> = rows.iter().filter(is_taken).cloned().collect();
            check(sql, &taken, conflict);
        }
    }
}

#[test]
fn the_plan_says_who_decides() {
    for (sql, conflict) in WRITTEN.into_iter().flat_map(|sql| POLICIES.map(|conflict| (sql, conflict))) {
        assert!(is_written(sql, conflict), "{conflict:?}: {sql}");
    }
    for (sql, conflict) in INSERTED {
        let steps = plan_objects(&schema(sql), conflict);
        assert!(matches!(steps[0].method, BuildMethod::Sqlite { .. }), "{conflict:?}: {sql}: {steps:?}");
    }
}

/// The row with the largest rowid is replaced: SQLite chooses the new rowid while the old row is still there.
#[test]
fn numbers_of_rows_that_sqlite_numbers() {
    let rows = |keys: &[i64]| keys.iter().map(|key| vec![OwnedValue::Int(*key)]).collect::<Vec<Row>>();
    let rowids = |keys: &[i64], conflict| {
        let sql = "CREATE TABLE t(k UNIQUE)";
        check(sql, &rows(keys), conflict);
        let bytes = case(sql, &rows(keys), conflict).build(Route::SHORTEST, PageSize::MIN).unwrap();
        oracle::texts(&oracle::open(&bytes), "SELECT rowid || ':' || k FROM t ORDER BY rowid").join(" ")
    };
    assert_eq!(rowids(&[5, 6, 6, 6, 5, 8], Conflict::Replace), "4:6 5:5 6:8");
    assert_eq!(rowids(&[5, 6, 6, 6, 5, 8], Conflict::Ignore), "1:5 2:6 3:8");
}

/// Rowids given by a source stay unchanged if no row can be left out.
#[test]
fn rowids_of_the_source() {
    let rows = (0..500).map(|at| vec![OwnedValue::Int(at % 7)]);
    for conflict in POLICIES {
        let case = Case::new("CREATE TABLE t(a)").rows_from(-70, rows.clone()).in_any_order().on_conflict(conflict);
        case.judge(&case.build(Route::SHORTEST, PageSize::MIN).unwrap(), PageSize::MIN);
    }
}

/// Duplicates in the same part, in others, and as neighbours across the boundary of two parts, in memory and spilled.
#[test]
fn many_rows_that_do_not_fit_the_memory() {
    let row = |at: u64| {
        let key = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 20_011;
        let long = OwnedValue::Text("x".repeat(300 + usize::try_from(at % 600).unwrap()));
        vec![OwnedValue::Int(key.cast_signed()), OwnedValue::Int(at.cast_signed()), long]
    };
    let rows: Vec<Row> = (0..60_000).map(row).collect();
    for (number, sql) in [WRITTEN[2], WRITTEN[4], WRITTEN[13]].into_iter().enumerate() {
        for (of_policy, conflict) in [Conflict::Ignore, Conflict::Replace].into_iter().enumerate() {
            let theirs = inserted(sql, &rows, conflict).unwrap();
            let case = Case::new(sql).rows(rows.iter().cloned()).in_any_order().on_conflict(conflict);
            let build = |threads, memory_bytes, temp_dir: Option<&str>| {
                let mut options = Route { threads, into: Into::Memory }.options(PageSize::DEFAULT);
                (options.memory_bytes, options.temp_dir) = (memory_bytes, temp_dir.map(PathBuf::from));
                case.build_schema(schema(sql), &options, Into::Memory)
            };
            let whole = build(2, 4 << 30, Some("/proc")).expect("nothing is spilled");
            oracle::assert_sound(&whole, sql);
            oracle::assert_same_content(&oracle::open(&whole), &theirs, sql);
            // Each number of threads with each policy, but not with each table.
            for threads in [[1, 7], [2, 7], [1, 2]][(number + of_policy) % 3] {
                assert!(build(threads, MIN_MEMORY_BYTES, Some("/proc")).is_err(), "{threads}: it must be spilled");
                let spilled = build(threads, MIN_MEMORY_BYTES, None).unwrap();
                assert!(spilled == whole, "{threads} threads, {conflict:?}: other bytes: {sql}");
            }
        }
    }
}
