//! WITHOUT ROWID tables of sources with unknown order: rows are written as they come until one breaks the order of the key. The
//! file then equals that of a source that declares any order.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{Conflict, Database, ErrorKind, MIN_MEMORY_BYTES, PageSize, Sink};
use litepress_conformance::case::{Case, Into, Route, insert_or, routes, routes_at};
use litepress_conformance::faults::{EIO, ENOSPC, FaultPlan, FaultySink};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle;
use litepress_conformance::source::Row;
use litepress_rows::RowidOrder::{Ascending, Unordered};
use litepress_rows::cells::OwnedValue;
use proptest::prelude::*;
use rusqlite::Connection;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const PLAIN: &str = "CREATE TABLE t(a TEXT, b REAL, c INT, PRIMARY KEY(c DESC, a COLLATE NOCASE)) WITHOUT ROWID";
const INDEXED: &str = "CREATE TABLE t(a TEXT, b REAL, c INT, PRIMARY KEY(c DESC, a COLLATE NOCASE)) WITHOUT ROWID; \
                       CREATE INDEX i ON t(b); CREATE UNIQUE INDEX j ON t(a, b DESC)";

/// Returns row number `at` in key order: three rows for each value of `c`. Some rows among short ones have overflow chains of
/// one page or many, some of them in the key.
fn row(at: i64) -> Row {
    let length = match at.rem_euclid(61) {
        0 => 5000,
        1 => 70_000,
        rest => rest,
    };
    let letter = if at % 2 == 0 { 'k' } else { 'K' };
    let text = format!("{letter}{} {}", at.rem_euclid(3), "x".repeat(usize::try_from(length).unwrap()));
    vec![OwnedValue::Text(text), OwnedValue::Real(at as f64 / 4.0), OwnedValue::Int(-at.div_euclid(3))]
}

fn case(sql: &str, order: &[i64], rows_per_part: usize) -> Case {
    Case::new(sql).rows(order.iter().map(|at| row(*at))).parts_of(rows_per_part)
}

fn is_in_order(order: &[i64]) -> bool {
    order.is_sorted_by(|a, b| a < b)
}

/// Returns every route at the usual page size, and three at the others.
fn routes_of(page_size: PageSize) -> Vec<Route> {
    if page_size == PageSize::DEFAULT { routes().collect() } else { routes_at(page_size).collect() }
}

/// Writes the rows along several routes: one file, which equals that of a source without order if rows are not in order.
fn check(sql: &str, order: &[i64], rows_per_part: usize, page_size: PageSize, what: &str) {
    let case = case(sql, order, rows_per_part);
    let bytes = case.build(Route::SHORTEST, page_size).unwrap();
    case.judge(&bytes, page_size);
    for route in routes_of(page_size) {
        assert!(case.build(route, page_size).unwrap() == bytes, "{what}, {route:?}: other bytes");
    }
    if !is_in_order(order) {
        let unordered = case.in_any_order().build(Route::SHORTEST, page_size).unwrap();
        assert!(unordered == bytes, "{what}: in any order");
    }
}

fn swapped(count: i64, (a, b): (usize, usize)) -> Vec<i64> {
    let mut order: Vec<i64> = (0..count).collect();
    order.swap(a, b);
    order
}

#[test]
fn wherever_order_breaks() {
    for (what, order) in [
        ("in order", (0..1000).collect()),
        ("one row", vec![7]),
        ("no row", vec![]),
        ("at the first row", swapped(1000, (0, 999))),
        ("at the second row", swapped(1000, (0, 1))),
        ("in the middle of a part", swapped(1000, (100, 375))),
        ("between two parts", (150..300).chain(0..150).chain(300..1000).collect()),
        ("at the last row", (1..1000).chain([0]).collect()),
        ("in a last part of its own", (1..901).chain([0]).collect()),
        ("reversed", (0..1000).rev().collect()),
    ] {
        check(INDEXED, &order, 150, PageSize::DEFAULT, what);
        for page_size in [PageSize::MIN, PageSize::MAX] {
            check(PLAIN, &order, 150, page_size, what);
        }
    }
}

/// Parts of one row and of a few: the divider between two parts is a row of one of them.
#[test]
fn small_parts_in_order() {
    for count in (0..14).chain([130]) {
        for rows_per_part in 1..=5 {
            // From 2 on as well, because the first two of 61 rows are long.
            for first in [-1, 2] {
                let order: Vec<i64> = (first..first + count).collect();
                let case = case(PLAIN, &order, rows_per_part);
                let bytes = case.build(Route::SHORTEST, PageSize::MIN).unwrap();
                case.judge(&bytes, PageSize::MIN);
                let other = case.build(Route { threads: 7, into: Into::Memory }, PageSize::MIN).unwrap();
                assert!(other == bytes, "{count} rows from {first} on, {rows_per_part} a part");
            }
        }
    }
}

/// Every swap of two rows and every duplicate row, in parts of every size.
#[test]
fn disorder_at_every_position() {
    const COUNT: usize = 7;
    for (a, b) in (0..COUNT).flat_map(|b| (0..b).map(move |a| (a, b))) {
        for (rows_per_part, threads) in (1..=COUNT).map(|rows| (rows, 1 + (a + b + rows) % 2)) {
            let route = Route { threads, into: Into::Memory };
            let build = |order: &[i64], rowid_order| {
                case(INDEXED, order, rows_per_part).in_order(rowid_order).build(route, PageSize::MIN)
            };
            let order = swapped(COUNT as i64, (a, b));
            assert!(build(&order, Ascending).unwrap() == build(&order, Unordered).unwrap(), "{order:?}");
            let mut twice: Vec<i64> = (0..COUNT as i64).collect();
            twice[b] = twice[a];
            let error = |rowid_order| {
                let error = build(&twice, rowid_order).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
                (error.to_string(), error.place().clone())
            };
            assert_eq!(error(Ascending), error(Unordered), "{twice:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn rows_in_some_order(
        mut order in prop::collection::btree_set(-1000_i64..1000, 0..300).prop_map(|order| order.into_iter().collect::<Vec<i64>>()),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..3),
        rows_per_part in 1_usize..90,
    ) {
        let len = order.len();
        swaps.into_iter().take(len).for_each(|(a, b)| order.swap(a.index(len), b.index(len)));
        check(INDEXED, &order, rows_per_part, PageSize::MIN, "some order");
    }
}

/// Sorts rows if neither the written pages nor the rest fit the memory.
#[test]
fn rows_that_do_not_fit_the_memory() {
    let sql = "CREATE TABLE t(a TEXT, c INT PRIMARY KEY) WITHOUT ROWID; CREATE INDEX i ON t(a, c)";
    let long = |at: i64| vec![OwnedValue::Text("y".repeat(600)), OwnedValue::Int(at)];
    let whole: Vec<i64> = (0..50_000).collect();
    for order in [whole.clone(), [&whole[20_000..], &whole[..20_000]].concat(), [&whole[1..], &whole[..1]].concat()] {
        let case = Case::new(sql).rows(order.iter().map(|at| long(*at)));
        let build = |threads, memory_bytes, rowid_order| {
            let mut options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
            options.memory_bytes = memory_bytes;
            case.clone().in_order(rowid_order).build_schema(case.schema().unwrap(), &options, Into::CachedFile).unwrap()
        };
        let bytes = build(2, 4 << 30, Ascending);
        for threads in [1, 7] {
            assert!(build(threads, MIN_MEMORY_BYTES, Ascending) == bytes, "{threads} threads");
        }
        if !is_in_order(&order) {
            assert!(build(2, 4 << 30, Unordered) == bytes);
        }
        case.judge(&bytes, PageSize::DEFAULT);
    }
}

/// A part that is held back takes more memory blocks than may be in use, but the next one must still begin.
#[test]
fn giant_rows_in_little_memory() {
    let giant = |at: i64| vec![OwnedValue::Int(at), OwnedValue::Blob(vec![7; 60 << 20])];
    let case = Case::new("CREATE TABLE t(a INT PRIMARY KEY, b) WITHOUT ROWID").rows((0..4).map(giant));
    for rows_per_part in [1, 2] {
        let case = case.clone().parts_of(rows_per_part);
        let mut options = Route { threads: 2, into: Into::CachedFile }.options(PageSize::DEFAULT);
        options.memory_bytes = MIN_MEMORY_BYTES;
        let bytes = case.build_schema(case.schema().unwrap(), &options, Into::CachedFile).unwrap();
        let sqlite = oracle::open(&bytes);
        assert_eq!(oracle::integer(&sqlite, "SELECT sum(length(b)) FROM t"), 240 << 20);
    }
}

/// Needs no temporary file for rows in order.
#[test]
fn no_temporary_file_where_none_is_needed() {
    let mut options = Route { threads: 1, into: Into::Memory }.options(PageSize::DEFAULT);
    (options.memory_bytes, options.temp_dir) = (MIN_MEMORY_BYTES, Some("/proc".into()));
    let rows = (0..100_000).map(|at| vec![OwnedValue::Int(at), OwnedValue::Text("x".repeat(200))]);
    let case = Case::new("CREATE TABLE t(a INT PRIMARY KEY, b) WITHOUT ROWID").rows(rows);
    case.build_schema(case.schema().unwrap(), &options, Into::Memory).unwrap();
}

/// Keeps the same rows as SQLite if rows are in order except for duplicates.
#[test]
fn other_policies() {
    let sql = "CREATE TABLE t(a TEXT COLLATE NOCASE, b INT, PRIMARY KEY(a)) WITHOUT ROWID; CREATE INDEX i ON t(b)";
    let key = |at: i64| OwnedValue::Text(format!("{}{:04}", if at % 2 == 0 { 'k' } else { 'K' }, at / 2));
    let rows: Vec<Row> = (0..800).map(|at| vec![key(at), OwnedValue::Int(at)]).collect();
    let once: Vec<Row> = rows.iter().step_by(2).cloned().collect();
    for rows in [&rows, &once] {
        for conflict in [Conflict::Ignore, Conflict::Replace] {
            let sqlite = Connection::open_in_memory().unwrap();
            sqlite.execute_batch(sql).unwrap();
            let case = Case::new(sql).rows(rows.clone()).parts_of(99).on_conflict(conflict);
            let table = &case.schema().unwrap().tables[0];
            rows.iter().for_each(|row| insert_or(&sqlite, table, conflict, row).unwrap());
            let bytes = case.build(Route::SHORTEST, PageSize::DEFAULT).unwrap();
            oracle::assert_sound(&bytes, "a policy");
            oracle::assert_same_database(&oracle::open(&bytes), &sqlite, "a policy");
            for route in routes() {
                assert!(case.build(route, PageSize::DEFAULT).unwrap() == bytes, "{conflict:?}, {route:?}");
            }
        }
    }
}

/// Writes the statistics of ANALYZE for rows that were written in order, at any boundaries of parts.
#[test]
fn statistics() {
    let stats = |sqlite: &Connection| -> Vec<String> {
        let mut rows = sqlite.prepare("SELECT tbl || ' ' || idx || ' ' || stat FROM sqlite_stat1 ORDER BY 1").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    for (order, rows_per_part) in [
        ((0..500).collect::<Vec<i64>>(), 1),
        ((0..500).collect(), 2),
        ((0..500).collect(), 77),
        ((0..500).collect(), 1000),
        (swapped(500, (200, 400)), 77),
    ] {
        let case = case(INDEXED, &order, rows_per_part);
        let mut options = Route { threads: 2, into: Into::Memory }.options(PageSize::DEFAULT);
        options.analyze = true;
        let bytes = case.build_schema(case.schema().unwrap(), &options, Into::Memory).unwrap();
        let sqlite = case.reference(PageSize::DEFAULT);
        sqlite.execute_batch("ANALYZE").unwrap();
        assert_eq!(stats(&oracle::open(&bytes)), stats(&sqlite), "{rows_per_part} rows a part");
    }
}

/// Every call of the sink fails in turn: there is no target, and nothing is left.
#[test]
fn every_failing_call() {
    for (threads, order) in [(1, swapped(700, (300, 600))), (7, (0..700).collect())] {
        let folder = Folder::new();
        let options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
        let build = |plan| {
            let calls = Arc::new(AtomicU64::new(0));
            let counted = calls.clone();
            let wrap = |sink: Box<dyn Sink>| Box::new(FaultySink::new(sink, plan, counted)) as Box<dyn Sink>;
            let case = case(INDEXED, &order, 100);
            let database = Database::create_with_sink(&folder.target("t.db"), case.schema()?, &options, wrap)?;
            case.fill(database)?.finish()?;
            Ok::<u64, litepress::Error>(calls.load(Ordering::SeqCst))
        };
        let calls = build(FaultPlan::NONE).unwrap();
        fs::remove_file(folder.join("t.db")).unwrap();
        for call in 0..calls {
            for (errno, kind) in [(ENOSPC, ErrorKind::NoSpace), (EIO, ErrorKind::Io)] {
                let error = build(FaultPlan { call, lasts: false, errno }).unwrap_err();
                assert_eq!(error.kind(), kind, "call {call}: {error}");
                assert!(folder.names().is_empty(), "call {call}: {:?}", folder.names());
            }
        }
    }
}
