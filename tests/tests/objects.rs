//! Schemas with everything that SQLite alone would make row by row, in one file: expressions, conditions, CHECK, computed columns,
//! full text, boxes.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::plan::{BuildMethod, plan_objects};
use litepress::{Conflict, Database, ErrorKind, PageSize, Sink};
use litepress_conformance::case::{Case, Into, Route, routes};
use litepress_conformance::edge_values::any_value;
use litepress_conformance::faults::{EIO, ENOSPC, FaultPlan, FaultySink};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{self, OldSqlite, texts};
use litepress_rows::cells::OwnedValue::{self, Int, Real, Text};
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const COMPUTED: [&str; 4] =
    ["AS (a || b) STORED", "AS (typeof(b)) STORED", "AS (upper(a))", "TEXT AS (length(b) + 1) STORED"];
const CHECKS: [&str; 3] = ["id > 0", "typeof(a) <> 'nothing'", "coalesce(length(b), 0) >= 0"];
const KEYS: [&str; 6] =
    ["lower(a)", "a || b DESC, id", "length(b), typeof(a)", "coalesce(b, a)", "c, lower(b)", "a, b"];
const CONDITIONS: [&str; 4] = ["b IS NOT NULL", "typeof(a) = 'text'", "length(a) > 3", "id % 3 = 0"];
const FULL_TEXT: [&str; 8] = [
    "",
    ", tokenize='porter'",
    ", tokenize='trigram'",
    ", detail=column",
    ", detail=none",
    ", prefix='1 2'",
    ", columnsize=0",
    ", tokenize='unicode61 remove_diacritics 2', prefix='3'",
];
const BOXES: [&str; 2] = ["rtree", "rtree_i32"];

/// A choice of each of the lists above.
type Choice = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

/// Tables `t` and `r` with rows, and the full-text index `f` of what `t` holds.
fn case((computed, check, key, condition, full_text, boxes): Choice, rows: &[(OwnedValue, OwnedValue)]) -> Case {
    let sql = format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b, c {computed}, CHECK ({check}));
         CREATE INDEX t_key ON t({key}); CREATE UNIQUE INDEX t_part ON t(id, a) WHERE {condition};
         CREATE VIRTUAL TABLE r USING {boxes}(id, left, right, low, high, +note);
         CREATE VIRTUAL TABLE f USING fts5(a, b, content='t', content_rowid='id'{full_text})"
    );
    let place = |id: i64| {
        let (x, y) = ((id * 7919 % 1000) as f64, (id * 104_729 % 1000) as f64);
        vec![Int(id), Real(x), Real(x + 5.5), Real(y), Real(y), Text(format!("box {id}"))]
    };
    let numbered = (1_i64..).zip(rows);
    Case::new(sql)
        .parts_of(7)
        .rows(numbered.clone().map(|(id, (a, b))| vec![Int(id * 3), a.clone(), b.clone()]))
        .rows(numbered.map(|(id, _)| place(id)))
}

/// Asserts that both versions of SQLite find the same in `bytes` as in a database of their own.
fn assert_same(case: &Case, bytes: &[u8], page_size: PageSize, what: &str) {
    oracle::assert_sound(bytes, what);
    let (mut ours, mut theirs) = (oracle::open(bytes), case.reference(page_size));
    theirs.execute_batch("INSERT INTO f(f) VALUES ('rebuild')").unwrap();
    oracle::assert_same_schema(&ours, &theirs, what);
    oracle::assert_same_indexes(&mut ours, &mut theirs, what);
    for sqlite in [&ours, &theirs] {
        sqlite.execute_batch("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'f', 'instance')").unwrap();
    }
    for sql in [
        "SELECT * FROM t ORDER BY id",
        "SELECT * FROM r ORDER BY id",
        "SELECT id FROM r WHERE right >= 200 AND left <= 600 AND low < 500 ORDER BY id",
        "SELECT * FROM temp.words ORDER BY term, doc, col, offset",
    ] {
        oracle::assert_same_rows(&ours, &theirs, sql, what);
    }
    assert_goes_on(&ours, what);
}

/// Asserts that SQLite finds nothing wrong, and can change what is there.
fn assert_goes_on(ours: &Connection, what: &str) {
    let check = "INSERT INTO f(f, rank) VALUES ('integrity-check', 1)";
    ours.execute_batch(check).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(texts(ours, "SELECT rtreecheck('r')"), ["ok"], "{what}");
    let changes = "INSERT INTO t(id, a, b) VALUES (1, 'a new text', 'new'); INSERT INTO f(rowid, a, b) VALUES (1, 'a new text', 'new');
                   DELETE FROM r WHERE id % 2; INSERT INTO r VALUES (0, 1, 2, 3, 4, NULL)";
    ours.execute_batch(changes).unwrap_or_else(|error| panic!("{what}: {error}"));
    ours.execute_batch(check).unwrap_or_else(|error| panic!("{what}, changed: {error}"));
    assert_eq!(texts(ours, "SELECT rtreecheck('r')"), ["ok"], "{what}, changed");
    assert_eq!(texts(ours, "PRAGMA integrity_check"), ["ok"], "{what}, changed");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_objects_and_any_rows_are_those_of_sqlite(
        choice in (select(&COMPUTED[..]), select(&CHECKS[..]), select(&KEYS[..]), select(&CONDITIONS[..]), select(&FULL_TEXT[..]), select(&BOXES[..])),
        rows in prop::collection::vec((any_value(), any_value()), 0..40),
        power in 9_u32..=16,
        route in select(routes().filter(|route| route.into != Into::DirectFile).collect::<Vec<_>>()),
    ) {
        let page_size = PageSize::new(1 << power).unwrap();
        let case = case(choice, &rows);
        for step in plan_objects(&case.schema().unwrap(), Conflict::Abort) {
            assert!(!matches!(step.method, BuildMethod::Sqlite { .. }), "{choice:?}: {step:?}");
        }
        let bytes = case.build(route, page_size).unwrap_or_else(|error| panic!("{error}: {choice:?}"));
        assert_same(&case, &bytes, page_size, &format!("{choice:?}, pages of {page_size} bytes"));
    }
}

/// The disk fails in turn at each call while rows, keys, segments and boxes are written: the error is told, and nothing is left.
///
/// A disk that failed while the rows of a full-text index were read back was told as a changed file at times: one thread had the
/// error, and another one went on with the zeros that were to be read.
#[test]
fn every_failing_call_leaves_nothing() {
    let word = |at: i64| Text(format!("word{} and {}", at % 97, "more ".repeat(usize::try_from(at % 40).unwrap())));
    let rows: Vec<(OwnedValue, OwnedValue)> = (0..400).map(|at| (word(at), word(at * 31))).collect();
    let case = case((COMPUTED[0], CHECKS[1], KEYS[0], CONDITIONS[0], FULL_TEXT[5], BOXES[0]), &rows);
    for threads in [1, 7] {
        let folder = Folder::new();
        let options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
        let build = |plan| {
            let calls = Arc::new(AtomicU64::new(0));
            let counted = calls.clone();
            let wrap = |sink: Box<dyn Sink>| Box::new(FaultySink::new(sink, plan, counted)) as Box<dyn Sink>;
            let database = Database::create_with_sink(&folder.target("t.db"), case.schema()?, &options, wrap)?;
            case.fill(database)?.finish()?;
            Ok::<u64, litepress::Error>(calls.load(Ordering::SeqCst))
        };
        let calls = build(FaultPlan::NONE).unwrap();
        let path = folder.join("t.db");
        assert_same(&case, &fs::read(&path).unwrap(), PageSize::DEFAULT, "without a fault");
        if let Some(old) = OldSqlite::find() {
            old.assert_sound(std::slice::from_ref(&path));
        }
        fs::remove_file(&path).unwrap();
        assert!(calls > 12, "{calls} calls are a run too small");
        for call in 0..calls {
            for (errno, kind) in [(ENOSPC, ErrorKind::NoSpace), (EIO, ErrorKind::Io)] {
                let error = build(FaultPlan { call, lasts: call % 2 == 0, errno }).unwrap_err();
                assert_eq!(error.kind(), kind, "call {call}: {error}");
                assert!(folder.names().is_empty(), "call {call}: {:?}", folder.names());
            }
        }
    }
}
