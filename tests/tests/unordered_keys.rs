//! An INTEGER PRIMARY KEY in any order: the table equals SQLite's, in any order of rows.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{ErrorKind, PageSize};
use litepress_conformance::case::{Case, Into, Route, insert, routes};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle;
use litepress_conformance::source::Row;
use litepress_rows::cells::OwnedValue;
use rusqlite::Connection;

fn row(id: i64) -> Row {
    // A few rows with overflow pages among short ones.
    let length = if id % 97 == 0 { 5000 } else { usize::try_from(id.rem_euclid(40)).unwrap() };
    vec![
        OwnedValue::Int(id),
        OwnedValue::Text(format!("{id} {}", "x".repeat(length))),
        OwnedValue::Real(id as f64 / 4.0),
    ]
}

/// Returns ids of every width of varint, positive and negative, shuffled.
fn shuffled(count: u64) -> Vec<i64> {
    let ids = (0..count).map(|at| {
        let mixed = at.wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed();
        mixed >> (at % 8 * 8)
    });
    let mut ids: Vec<i64> = ids.chain([i64::MIN, i64::MAX - 1, 0]).collect();
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}

fn orders(ids: &[i64]) -> [Vec<i64>; 4] {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let reversed = sorted.iter().rev().copied().collect();
    // Sorted except for the last row.
    let mut nearly = sorted.clone();
    nearly.rotate_left(1);
    [ids.to_vec(), sorted, reversed, nearly]
}

/// Four orders of the same rows give one file, which equals that of a source whose rows are sorted and declared so.
#[test]
fn the_order_of_arrival_does_not_show() {
    for sql in [
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT, b REAL); CREATE INDEX i ON t(b DESC, a); \
         CREATE UNIQUE INDEX j ON t(a, id)",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b REAL); CREATE INDEX i ON t(id DESC); CREATE INDEX j ON t(b, id)",
    ] {
        let ids = shuffled(4000);
        for page_size in [PageSize::MIN, PageSize::DEFAULT, PageSize::MAX] {
            let mut first: Option<Vec<u8>> = None;
            for (order, route) in orders(&ids).into_iter().zip(routes()) {
                let case = Case::new(sql).rows(order.into_iter().map(row)).parts_of(300).in_any_order();
                let bytes = case.build(route, page_size).unwrap();
                match &first {
                    None => {
                        case.judge(&bytes, page_size);
                        first = Some(bytes);
                    }
                    Some(first) => assert!(bytes == *first, "{route:?}: other bytes"),
                }
            }
        }
    }
}

/// Every number of rows up to a few interior pages.
#[test]
fn every_small_number_of_rows() {
    for rows in 0..=60_i64 {
        let wide = (1..=rows).rev().map(|id| vec![OwnedValue::Int(id), OwnedValue::Blob(vec![5; 440])]);
        let case = Case::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB)").rows(wide).in_any_order();
        case.judge(&case.build(Route::SHORTEST, PageSize::MIN).unwrap(), PageSize::MIN);
    }
}

/// `sqlite_sequence` holds the largest rowid, not the last one.
#[test]
fn autoincrement_goes_on_behind_the_largest() {
    for (ids, next) in [
        (vec![3, 9, 5], Some(10)),
        (vec![-3, -9], Some(1)),
        (vec![7, 0, -1], Some(8)),
        (vec![i64::MIN], Some(1)),
        (vec![i64::MAX, 1], None),
        (vec![], Some(1)),
    ] {
        let case = Case::new("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b)")
            .rows(ids.iter().map(|id| row(*id)))
            .in_any_order();
        let bytes = case.build(Route::SHORTEST, PageSize::DEFAULT).unwrap();
        case.judge(&bytes, PageSize::DEFAULT);
        let sqlite = oracle::open(&bytes);
        let id = sqlite.query_row("INSERT INTO t(a) VALUES (1) RETURNING id", [], |row| row.get::<_, i64>(0)).ok();
        assert_eq!(id, next, "after {ids:?}");
    }
}

/// A table without INTEGER PRIMARY KEY stores the given rowids.
#[test]
fn rowids_without_a_column_of_their_own() {
    let rows = (0..3000).map(|at| vec![OwnedValue::Int(at * 7919 % 3001)]);
    let case =
        Case::new("CREATE TABLE t(a); CREATE INDEX i ON t(a)").rows_from(-700, rows).parts_of(170).in_any_order();
    for page_size in [PageSize::MIN, PageSize::DEFAULT] {
        case.check_at(page_size);
    }
}

/// A duplicate key: the error has SQLite's words, the value, and the positions of both rows in the input.
#[test]
fn one_key_twice() {
    let far = i64::MAX - 1;
    for (ids, value, first, second) in [
        (vec![5, 3, 5], "5", 1, 3),
        (vec![1, 2, 3, 3], "3", 3, 4),
        (vec![far, -4, far], "9223372036854775806", 1, 3),
        ((0..3000).map(|at| at * 7 % 2999).collect(), "0", 1, 3000),
    ] {
        let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)";
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(sql).unwrap();
        let schema = Case::new(sql).schema().unwrap();
        let refusals = ids.iter().filter_map(|id| insert(&sqlite, &schema.tables[0], 0, &row(*id)).err());
        let refusals: Vec<String> = refusals.map(|error| error.to_string()).collect();
        let [theirs] = refusals.as_slice() else { panic!("{refusals:?}") };
        for (threads, parts) in [(1, 5000), (7, 100), (2, 1)] {
            let folder = Folder::new();
            let case = Case::new(sql).rows(ids.iter().map(|id| row(*id))).parts_of(parts).in_any_order();
            let options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
            let error = case.build_to(&folder.target("t.db"), &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
            assert!(error.message().contains(&format!("records {first} and {second} ")), "{error}");
            assert_eq!(error.place().record, Some(second), "{error}");
            assert_eq!(error.place().value.as_deref(), Some(value), "{error}");
            assert_eq!(error.place().table.as_deref(), Some("t"), "{error}");
            assert!(error.message().starts_with(theirs), "{error}, SQLite: {theirs}");
            assert!(folder.names().is_empty(), "{:?}", folder.names());
        }
    }
}
