//! Databases in UTF-16: indexes and appended rows are as SQLite's, for texts that are well-formed and others.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use front_door::{AppendOptions, Conflict, ErrorKind, IndexOptions, Options, Route, Value, Writer, index, reindex};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{assert_same_content, assert_same_indexes, assert_verified, texts};
use litepress_conformance::random::Random;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Units that decide about an order: letters of both cases, a space, NUL, surrogates in and out of place, the largest ones.
const UNITS: [u16; 20] = [
    0x61, 0x41, 0x5a, 0x7a, 0x5b, 0x20, 0x20, 0, 0xe4, 0xc4, 0x100, 0x20ac, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000,
    0xffff, 0x2000, 0x30,
];

/// Returns an expression of a text of any units.
fn any_text(random: &mut Random, encoding: &str) -> String {
    let units: Vec<u16> = (0..random.below(6)).map(|_| random.pick(&UNITS)).collect();
    let bytes =
        units.iter().flat_map(|unit| if encoding.ends_with("be") { unit.to_be_bytes() } else { swapped(*unit) });
    let hex: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    format!("CAST(x'{hex}' AS TEXT)")
}

fn swapped(unit: u16) -> [u8; 2] {
    let [high, low] = unit.to_be_bytes();
    [low, high]
}

/// Makes a database with texts in columns of every collation.
fn make(path: &Path, encoding: &str, random: &mut Random) {
    let sqlite = Connection::open(path).unwrap();
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT COLLATE NOCASE, c TEXT COLLATE RTRIM, d);
                  CREATE TABLE w(a TEXT COLLATE NOCASE, b TEXT, n, PRIMARY KEY(b, n)) WITHOUT ROWID";
    sqlite.execute_batch(&format!("PRAGMA encoding = '{encoding}'; {schema}; BEGIN")).unwrap();
    for row in 0..800 {
        let [a, b, c] = [(); 3].map(|()| any_text(random, encoding));
        let insert =
            format!("INSERT INTO t VALUES ({row}, {a}, {b}, {c}, {row} % 5); INSERT INTO w VALUES ({b}, {a}, {row})");
        sqlite.execute_batch(&insert).unwrap();
    }
    let late = "COMMIT; ALTER TABLE t ADD COLUMN late TEXT COLLATE NOCASE DEFAULT 'Späte €'; INSERT INTO t(id, late) VALUES (-1, 'x')";
    sqlite.execute_batch(late).unwrap();
}

const INDEXES: [&str; 12] = [
    "CREATE INDEX i1 ON t(a)",
    "CREATE INDEX i2 ON t(b, a DESC)",
    "CREATE INDEX i3 ON t(c DESC, b)",
    "CREATE INDEX i4 ON t(a COLLATE NOCASE, d)",
    "CREATE INDEX i5 ON t(late, d, a COLLATE RTRIM)",
    "CREATE UNIQUE INDEX i6 ON t(b, id)",
    "CREATE INDEX i7 ON w(a)",
    "CREATE INDEX i8 ON w(b COLLATE RTRIM DESC, a)",
    "CREATE INDEX i9 ON t(lower(a), hex(CAST(b AS BLOB)))",
    "CREATE INDEX i10 ON t(a || b COLLATE NOCASE, d, c) WHERE d > 1",
    "CREATE UNIQUE INDEX i11 ON t(octet_length(a), id, substr(c, 2) DESC)",
    "CREATE INDEX i12 ON w(a || b COLLATE NOCASE DESC) WHERE n % 3 = 0",
];

/// Asserts that both have the same rows and entries.
fn assert_same(ours: &Path, theirs: &Path, what: &str) {
    let [mut our, mut their] = [ours, theirs].map(|path| Connection::open(path).unwrap());
    assert_eq!(texts(&our, "PRAGMA integrity_check"), ["ok"], "{what}");
    assert_same_content(&our, &their, what);
    assert_same_indexes(&mut our, &mut their, what);
    assert_verified(ours, what);
}

#[test]
fn indexes_of_utf_16_are_sqlites() {
    let folder = Folder::new();
    for encoding in ["UTF-16le", "UTF-16be"] {
        let [ours, theirs] = ["ours", "theirs"].map(|who| folder.join(&format!("{encoding} {who}.db")));
        make(&ours, encoding, &mut Random(encoding.len() as u64));
        fs::copy(&ours, &theirs).unwrap();
        let report = index(&ours, &INDEXES, &IndexOptions::default()).unwrap();
        assert!(report.done.only_sqlite.is_none() && report.done.indexes.iter().all(|made| made.entries.is_some()));
        Connection::open(&theirs).unwrap().execute_batch(&INDEXES.join(";")).unwrap();
        assert_same(&ours, &theirs, &format!("{encoding}: index"));
        reindex(&ours, &[""; 0], &IndexOptions::default()).unwrap();
        assert_same(&ours, &theirs, &format!("{encoding}: reindex"));
        let double = "CREATE TABLE u(a TEXT COLLATE NOCASE); INSERT INTO u VALUES ('Größe'), ('x'), ('GRößE')";
        Connection::open(&ours).unwrap().execute_batch(double).unwrap();
        let error = index(&ours, &["CREATE UNIQUE INDEX u1 ON u(a)"], &IndexOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
        assert_eq!(error.place().value.as_deref().map(str::to_lowercase).as_deref(), Some("'größe'"), "{error}");
    }
}

/// SQLite evaluates a megabyte of rows at a time. In UTF-16 it refused the second one: "attached databases must use the same text
/// encoding as main database".
#[test]
fn many_rows_of_utf_16_are_evaluated() {
    let folder = Folder::new();
    for encoding in ["UTF-16le", "UTF-16be"] {
        let [ours, theirs] = ["ours", "theirs"].map(|who| folder.join(&format!("{encoding} {who}.db")));
        let rows = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                    INSERT INTO t SELECT i, 'Größe ' || i, printf('%.*c', i % 200, 'x') FROM n";
        let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT)";
        let make = format!("PRAGMA encoding = '{encoding}'; {schema}; {rows}");
        Connection::open(&ours).unwrap().execute_batch(&make).unwrap();
        fs::copy(&ours, &theirs).unwrap();
        let indexes = ["CREATE INDEX i1 ON t(lower(a), length(b))", "CREATE INDEX i2 ON t(a) WHERE length(b) > 100"];
        let report = index(&ours, &indexes, &IndexOptions::default()).unwrap();
        assert!(report.done.only_sqlite.is_none() && report.done.indexes.iter().all(|made| made.entries.is_some()));
        Connection::open(&theirs).unwrap().execute_batch(&indexes.join(";")).unwrap();
        assert_same(&ours, &theirs, encoding);
    }
}

#[test]
fn rows_are_added_in_utf_16() {
    let folder = Folder::new();
    for (encoding, route) in [
        ("UTF-16le", Route::Edge),
        ("UTF-16be", Route::Edge),
        ("UTF-16le", Route::Rebuild),
        ("UTF-16be", Route::Rebuild),
    ] {
        let what = format!("{encoding}, {route:?}");
        let [ours, theirs] = ["ours", "theirs"].map(|who| folder.join(&format!("{what} {who}.db")));
        make(&ours, encoding, &mut Random(9));
        Connection::open(&ours).unwrap().execute_batch(&INDEXES[..5].join(";")).unwrap();
        fs::copy(&ours, &theirs).unwrap();
        let first = if route == Route::Edge { 1000 } else { 500 };
        let row = |number: usize| {
            let text = ["Äb ", "😀x", "", "lang "][number % 4].repeat(number % 300);
            (first + 2 * i64::try_from(number).unwrap(), text)
        };
        let rows: Vec<(i64, String)> = (0..700).map(row).collect();
        let conflict = if route == Route::Edge { Conflict::Abort } else { Conflict::Replace };
        let sqlite = Connection::open(&theirs).unwrap();
        let verb = if route == Route::Edge { "INSERT" } else { "INSERT OR REPLACE" };
        sqlite.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
        let mut insert = sqlite.prepare(&format!("{verb} INTO t VALUES (?1, ?2, ?2, ?2, ?1, ?2)")).unwrap();
        let mut appending = AppendOptions::default();
        appending.route = Some(route);
        let mut db = Writer::open(&ours, Options::default().on_conflict(conflict), &appending).unwrap();
        let mut table = db.table("t").unwrap();
        for (id, text) in &rows {
            insert.execute((id, text)).unwrap();
            let (id, text) = (Value::Int(*id), Value::Text(text));
            table.insert(&[id, text, text, text, id, text][..]).unwrap();
        }
        let report = db.finish().unwrap().appended.unwrap();
        assert_eq!(report.tables[0].plan.route, route, "{}", report.tables[0].plan.why);
        drop(insert);
        sqlite.execute_batch("COMMIT").unwrap();
        drop(sqlite);
        assert_same(&ours, &theirs, &what);
    }
}
