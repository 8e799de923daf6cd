//! Sources with unknown order of rowids: rows are written as they come until the order breaks. The file then equals that of a
//! source that declares any order.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{Conflict, Database, ErrorKind, MIN_MEMORY_BYTES, PageSize, Schema, Sink, Target};
use litepress_conformance::case::{Case, Into, Route, routes, routes_at};
use litepress_conformance::faults::{EIO, ENOSPC, FaultPlan, FaultySink};
use litepress_conformance::folder::Folder;
use litepress_conformance::source::{MadeRows, Row};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::RowidOrder::{Ascending, Unknown, Unordered};
use litepress_rows::cells::OwnedValue;
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const PLAIN: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL)";
const INDEXED: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE, b REAL); \
                       CREATE INDEX i ON t(b DESC, a); CREATE UNIQUE INDEX j ON t(a, id)";

/// Returns a row. Some rows among short ones have overflow chains of one page or many.
fn row(id: i64) -> Row {
    let length = match id.rem_euclid(97) {
        0 => 5000,
        1 => 70_000,
        rest => rest,
    };
    let text = format!("{id} {}", "x".repeat(usize::try_from(length).unwrap()));
    vec![OwnedValue::Int(id), OwnedValue::Text(text), OwnedValue::Real(id as f64 / 4.0)]
}

fn case(sql: &str, ids: &[i64], rows_per_part: usize) -> Case {
    Case::new(sql).rows(ids.iter().map(|id| row(*id))).parts_of(rows_per_part)
}

/// Returns whether all rows after the ordered parts are larger, so that they are appended.
fn is_appended(ids: &[i64], rows_per_part: usize) -> bool {
    let mut prefix = Vec::new();
    let mut parts = ids.chunks(rows_per_part);
    let follows = |prefix: &[i64], part: &[i64]| [prefix, part].concat().is_sorted_by(|a, b| a < b);
    let broken = parts.by_ref().find(|part| {
        let follows = follows(&prefix, part);
        prefix.extend(part.iter().filter(|_| follows));
        !follows
    });
    let rest = broken.into_iter().chain(parts).flatten();
    prefix.last().is_some_and(|last| rest.min().is_some_and(|first| first > last))
}

/// Returns every route at the usual page size, and three at the others.
fn routes_of(page_size: PageSize) -> Vec<Route> {
    if page_size == PageSize::DEFAULT { routes().collect() } else { routes_at(page_size).collect() }
}

/// Writes the rows along several routes: one file, which equals that of a source without order unless the rest is appended.
fn check(sql: &str, ids: &[i64], rows_per_part: usize, page_size: PageSize, what: &str) {
    let case = case(sql, ids, rows_per_part);
    let build = |route: Route, order| case.clone().in_order(order).build(route, page_size).unwrap();
    let bytes = build(Route::SHORTEST, Unknown);
    case.judge(&bytes, page_size);
    for route in routes_of(page_size) {
        assert!(build(route, Unknown) == bytes, "{what}, {route:?}: other bytes");
    }
    if ids.is_sorted() {
        assert!(build(Route::SHORTEST, Ascending) == bytes, "{what}: in order");
    } else if !is_appended(ids, rows_per_part) {
        assert!(build(Route::SHORTEST, Unordered) == bytes, "{what}: in any order");
    }
}

/// Returns ascending ids with these two swapped.
fn swapped(count: i64, (a, b): (usize, usize)) -> Vec<i64> {
    let mut ids: Vec<i64> = (1..=count).collect();
    ids.swap(a, b);
    ids
}

/// 2000 rows in parts of 300.
#[test]
fn wherever_order_breaks() {
    for (what, ids) in [
        ("in order", (1..=2000).collect()),
        ("one row", vec![7]),
        ("no row", vec![]),
        ("at the first row", swapped(2000, (0, 1999))),
        ("at the second row", swapped(2000, (0, 1))),
        ("in the middle of a part", swapped(2000, (100, 750))),
        ("at the end of a part", swapped(2000, (10, 899))),
        ("between two parts", (301..=600).chain(1..=300).chain(601..=2000).collect()),
        ("at the last row", (2..=2000).chain([1]).collect()),
        ("in a last part of its own", (2..=1801).chain([1]).collect()),
        ("reversed", (1..=2000).rev().collect()),
        ("larger rows behind a part in order", swapped(2000, (500, 501))),
        ("larger rows reversed", (1..=900).chain((901..=2000).rev()).collect()),
        ("negative", (-900..1000).chain(-1000..-900).collect()),
        ("extremes", (1..=700).chain([i64::MAX, i64::MIN, 0]).collect()),
    ] {
        for sql in [PLAIN, INDEXED] {
            check(sql, &ids, 300, PageSize::DEFAULT, what);
        }
        for page_size in [PageSize::MIN, PageSize::MAX] {
            check(PLAIN, &ids, 300, page_size, what);
        }
    }
    assert!(is_appended(&swapped(2000, (500, 501)), 300) && !is_appended(&swapped(2000, (100, 750)), 300));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn rows_in_some_order(
        mut ids in prop::collection::btree_set(-3000_i64..3000, 0..400).prop_map(|ids| ids.into_iter().collect::<Vec<i64>>()),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
        rows_per_part in 1_usize..150,
    ) {
        let len = ids.len();
        swaps.into_iter().take(len).for_each(|(a, b)| ids.swap(a.index(len), b.index(len)));
        check(INDEXED, &ids, rows_per_part, PageSize::MIN, "some order");
    }
}

/// Sorts rows if neither the prefix nor the rest fit the memory.
#[test]
fn rows_that_do_not_fit_the_memory() {
    let long = |id: i64| vec![OwnedValue::Int(id), OwnedValue::Text("y".repeat(600)), OwnedValue::Real(0.5)];
    let whole: Vec<i64> = (0..50_000).collect();
    let prefix_first = [&whole[20_000..], &whole[..20_000]].concat();
    let nearly = [&whole[1..], &whole[..1]].concat();
    for ids in [&prefix_first, &nearly] {
        let case = Case::new(format!("{PLAIN}; CREATE INDEX i ON t(a, b)")).rows(ids.iter().map(|id| long(*id)));
        let build = |threads, memory_bytes, order, temp_dir: Option<&str>| {
            let mut options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
            (options.memory_bytes, options.temp_dir) = (memory_bytes, temp_dir.map(std::convert::Into::into));
            case.clone().in_order(order).build_schema(case.schema()?, &options, Into::CachedFile)
        };
        let unordered = build(2, 4 << 30, Unordered, None).unwrap();
        assert!(build(2, 4 << 30, Unknown, Some("/proc")).unwrap() == unordered, "nothing is spilled");
        for threads in [1, 2, 7] {
            assert!(build(threads, MIN_MEMORY_BYTES, Unknown, Some("/proc")).is_err(), "it must be spilled");
            assert!(build(threads, MIN_MEMORY_BYTES, Unknown, None).unwrap() == unordered, "{threads} threads");
        }
        case.judge(&unordered, PageSize::DEFAULT);
    }
}

/// A part of a million equal texts, which a file says in one, was in memory as a whole. It is placed in pieces now, wherever its order
/// breaks.
#[test]
fn parts_of_very_many_pages() {
    let wide =
        |id: i64| vec![OwnedValue::Int(id), OwnedValue::Text(format!("{id}{}", "w".repeat(400_000))), OwnedValue::Null];
    let keyed = "CREATE TABLE t(id INTEGER, a TEXT, b REAL, PRIMARY KEY(id)) WITHOUT ROWID";
    for (sql, swapped_rows, order) in [
        (INDEXED, None, Ascending),
        (PLAIN, None, Unknown),
        (PLAIN, Some((3, 49)), Unknown),
        (INDEXED, Some((50, 51)), Unknown),
        (keyed, None, Ascending),
        (keyed, Some((50, 51)), Ascending),
    ] {
        let ids = swapped_rows.map_or_else(|| (1..=60).collect(), |rows| swapped(60, rows));
        let case = Case::new(sql).rows(ids.iter().map(|id| wide(*id))).parts_of(1000).in_order(order);
        let bytes = case.build(Route::SHORTEST, PageSize::DEFAULT).unwrap();
        case.judge(&bytes, PageSize::DEFAULT);
        let mut options = Route { threads: 3, into: Into::Memory }.options(PageSize::DEFAULT);
        options.memory_bytes = MIN_MEMORY_BYTES;
        let other = case.build_schema(case.schema().unwrap(), &options, Into::Memory).unwrap();
        assert!(other == bytes, "{sql}, {swapped_rows:?}");
    }
}

/// Rows in order need no temporary file, nor do a few rows out of order.
#[test]
fn no_temporary_file_where_none_is_needed() {
    for ids in [(1..=30_000).collect::<Vec<i64>>(), (1..=50).chain([0]).collect()] {
        let mut options = Route { threads: 1, into: Into::Memory }.options(PageSize::DEFAULT);
        (options.memory_bytes, options.temp_dir) = (MIN_MEMORY_BYTES, Some("/proc".into()));
        let short = ids.iter().map(|id| vec![OwnedValue::Int(*id), OwnedValue::Null, OwnedValue::Null]);
        let case = Case::new(PLAIN).rows(short).in_order(Unknown);
        case.build_schema(case.schema().unwrap(), &options, Into::Memory).unwrap();
    }
}

/// A duplicate rowid gives the same error as for rows in any order, at any two positions.
#[test]
fn one_rowid_twice() {
    let twice = |mut ids: Vec<i64>, (first, second): (usize, usize)| {
        ids[second] = ids[first];
        ids
    };
    let sorted = || (1..=2000).collect::<Vec<i64>>();
    for ids in [
        twice(sorted(), (4, 5)),
        twice(sorted(), (299, 300)),
        twice(sorted(), (10, 1500)),
        twice(sorted(), (1500, 1501)),
        twice(sorted(), (0, 1999)),
        twice(swapped(2000, (0, 1999)), (400, 1200)),
        twice(swapped(2000, (900, 1999)), (899, 901)),
        twice(swapped(2000, (500, 501)), (700, 1900)),
    ] {
        for (threads, rows_per_part) in [(1, 300), (2, 7), (7, 300), (7, 1)] {
            let folder = Folder::new();
            let options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
            let error = |order| {
                let built = case(PLAIN, &ids, rows_per_part).in_order(order).build_to(&folder.target("t.db"), &options);
                let error = built.unwrap_err();
                assert!(folder.names().is_empty(), "{:?}", folder.names());
                assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
                (error.to_string(), error.place().clone())
            };
            assert_eq!(error(Unknown), error(Unordered));
        }
    }
}

/// Keeps the same rows for all orders that the source declares.
#[test]
fn other_policies() {
    let ids: Vec<i64> = (1..=700).chain((1..=900).step_by(3)).collect();
    let rows = || ids.iter().zip(0..).map(|(id, at)| vec![OwnedValue::Int(*id), OwnedValue::Int(at), OwnedValue::Null]);
    for conflict in [Conflict::Ignore, Conflict::Replace] {
        for sql in [PLAIN, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t(a)"] {
            let build = |order| {
                let case = Case::new(sql).rows(rows()).parts_of(100).on_conflict(conflict).in_order(order);
                case.build(Route { threads: 2, into: Into::Memory }, PageSize::DEFAULT).unwrap()
            };
            assert!(build(Unknown) == build(Unordered), "{conflict:?}: {sql}");
        }
    }
}

const THREE_TABLES: &str = "CREATE TABLE s(id INTEGER PRIMARY KEY, a TEXT, b REAL); \
                            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL); CREATE INDEX i ON t(a); \
                            CREATE TABLE u(id INTEGER PRIMARY KEY, a TEXT, b REAL)";

/// Returns a case with tables before and after one that is written twice.
fn three_tables() -> Case {
    let rows = |ids: Vec<i64>| ids.into_iter().map(row);
    let late = (1..=900).chain([-49, -50]).collect();
    let case = Case::new(THREE_TABLES).rows(rows((1..=500).collect())).rows(rows(late));
    case.rows(rows(swapped(500, (90, 300)))).parts_of(100)
}

#[test]
fn neighbours_of_a_table_that_is_written_over() {
    let case = three_tables().in_order(Unknown);
    for page_size in [PageSize::MIN, PageSize::DEFAULT] {
        case.check_at(page_size);
        let options = Route { threads: 2, into: Into::Memory }.options(page_size);
        let database = Database::create(&Target::Memory, case.schema().unwrap(), &options).unwrap();
        let summary = case.fill(database).unwrap().finish().unwrap().summary;
        let rows: Vec<u64> = summary.tables.iter().map(|table| table.rows).collect();
        assert_eq!((rows, summary.rows, options.progress.rows()), (vec![500, 902, 500], 1902, 1902));
    }
}

/// Pages that a target drops cannot be read back, so rows are sorted from the start.
#[test]
fn a_target_that_cannot_be_read() {
    let options = Route { threads: 2, into: Into::Memory }.options(PageSize::DEFAULT);
    let pages = |target: &Target, order| {
        let database = Database::create(target, three_tables().schema().unwrap(), &options).unwrap();
        three_tables().in_order(order).fill(database).unwrap().finish().unwrap().summary.pages
    };
    assert_eq!(pages(&Target::Discard, Unknown), pages(&Target::Memory, Unordered));
}

/// Every call of the sink fails in turn: there is no new target, nothing is left, and an old target stays unchanged.
#[test]
fn every_failing_call() {
    for (threads, old) in [(1, false), (7, true)] {
        let folder = Folder::new();
        let mut options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
        options.overwrite = old;
        if old {
            rusqlite::Connection::open(folder.join("t.db")).unwrap().execute_batch("CREATE TABLE old(x)").unwrap();
        }
        let (before, names) = (fs::read(folder.join("t.db")).ok(), folder.names());
        let build = |folder: &Folder, plan| {
            let calls = Arc::new(AtomicU64::new(0));
            let counted = calls.clone();
            let wrap = |sink: Box<dyn Sink>| Box::new(FaultySink::new(sink, plan, counted)) as Box<dyn Sink>;
            let schema = three_tables().schema()?;
            let database = Database::create_with_sink(&folder.target("t.db"), schema, &options, wrap)?;
            three_tables().in_order(Unknown).fill(database)?.finish()?;
            Ok::<u64, litepress::Error>(calls.load(Ordering::SeqCst))
        };
        let calls = build(&Folder::new(), FaultPlan::NONE).unwrap();
        for call in 0..calls {
            for (errno, kind) in [(ENOSPC, ErrorKind::NoSpace), (EIO, ErrorKind::Io)] {
                let error = build(&folder, FaultPlan { call, lasts: false, errno }).unwrap_err();
                assert_eq!(error.kind(), kind, "call {call}: {error}");
                assert_eq!(error.place().file.as_deref(), Some(folder.join("t.db").as_path()), "call {call}: {error}");
                assert_eq!(folder.names(), names, "call {call}: what is left");
                assert!(fs::read(folder.join("t.db")).ok() == before, "call {call}: the target has changed");
            }
        }
    }
}

/// A request to stop before and after the order breaks.
#[test]
fn an_interrupted_run() {
    for (threads, stop_at) in [(1, 0), (2, 700), (7, 1100), (2, 1999)] {
        let folder = Folder::new();
        let options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
        let (progress, schema) = (options.progress.clone(), Schema::from_sql(PLAIN, "<interrupted>").unwrap());
        let mut source = MadeRows::new(2000, 100, move |row, record: &mut Vec<u8>| {
            if row == stop_at {
                progress.stop();
            }
            write_record(&[Value::Null, Value::Text(&[b'x'; 3000]), Value::Null], record);
            (row.cast_signed() + 1000) % 2000
        });
        source.rowid_order = Unknown;
        let mut database = Database::create(&folder.target("t.db"), schema, &options).unwrap();
        let error = database.fill(0, &source).and_then(|()| database.finish().map(drop)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}
