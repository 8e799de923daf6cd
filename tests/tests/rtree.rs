//! R-Tree tables: packed, and yet what SQLite's own module would make of the same rows.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::plan::{BuildMethod, plan_objects};
use litepress::{Conflict, ErrorKind, PageSize, Schema};
use litepress_conformance::case::{Case, Into, Route, insert_or, routes_at};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{self, OldSqlite, integer, open_command, texts};
use litepress_conformance::source::Row;
use litepress_rows::cells::OwnedValue::{self, Blob, Int, Null, Real, Text};
use rusqlite::Connection;
use std::fmt::Write;

/// Pseudo-random numbers from 0 to 1 (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// An R-Tree table `t`.
#[derive(Clone, Copy, Debug)]
struct Kind {
    module: &'static str,
    dimensions: usize,
    auxiliary: usize,
}

const PLANE: Kind = Kind { module: "rtree", dimensions: 2, auxiliary: 0 };

impl Kind {
    fn sql(self) -> String {
        let mut columns = String::from("id");
        (0..self.dimensions).for_each(|at| write!(columns, ", min{at}, max{at}").unwrap());
        (0..self.auxiliary).for_each(|at| write!(columns, ", +note{at}").unwrap());
        format!("CREATE VIRTUAL TABLE t USING {}({columns})", self.module)
    }

    /// Returns a row whose box is in a cluster, as most things of the world are.
    #[expect(clippy::cast_possible_truncation, reason = "a number below 5 chooses a note")]
    fn row(self, id: OwnedValue, random: &mut Random) -> Row {
        let mut row = vec![id];
        let (scale, offset) = if random.next() < 0.7 { (9.0, 40.0) } else { (360.0, -180.0) };
        for _ in 0..self.dimensions {
            let min = random.next() * scale + offset;
            let max = min + random.next() * 0.01;
            row.extend(if self.module == "rtree" {
                [Real(min), Real(max)]
            } else {
                [Real(min * 1e4), Real(max * 1e4)]
            });
        }
        let notes = [Text("note".to_owned()), Int(-7), Null, Real(2.5), Blob(vec![1, 2])];
        row.extend((0..self.auxiliary).map(|at| notes[(at + (random.next() * 5.0) as usize) % notes.len()].clone()));
        row
    }

    /// Returns `count` rows, whose ids come in no order.
    fn rows(self, count: u64) -> Vec<Row> {
        let mut random = Random(88_172_645_463_325_252);
        let id = |row: u64| Int((row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).cast_signed() - (1 << 42));
        (0..count).map(|row| self.row(id(row), &mut random)).collect()
    }
}

/// Asserts that both versions of SQLite accept the tree.
fn assert_tree(bytes: &[u8], what: &str) {
    oracle::assert_sound(bytes, what);
    assert_eq!(texts(&oracle::open(bytes), "SELECT rtreecheck('t')"), ["ok"], "{what}");
    let Some(old) = OldSqlite::find() else { return };
    let folder = Folder::new();
    let path = folder.join("tree.db");
    std::fs::write(&path, bytes).unwrap();
    let verdict = old.run(&(open_command(&path) + "SELECT rtreecheck('t'); PRAGMA integrity_check;"));
    assert_eq!(verdict, "ok\nok\n", "{what}, SQLite {}", old.version());
}

/// Asserts that both databases have the same rows in `t`, and find the same rows in `windows` random windows.
fn assert_same_hits(ours: &Connection, theirs: &Connection, kind: Kind, windows: u64) {
    let all = |sqlite: &Connection| {
        let mut select = sqlite.prepare("SELECT * FROM t ORDER BY id").unwrap();
        let columns = select.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            (0..columns).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<rusqlite::types::Value>>>()
        };
        select.query_map([], row).unwrap().collect::<rusqlite::Result<Vec<_>>>().unwrap()
    };
    assert_eq!(all(ours), all(theirs), "{kind:?}");
    let condition: Vec<String> =
        (0..kind.dimensions).map(|at| format!("max{at} >= ?{} AND min{at} <= ?{}", 2 * at + 1, 2 * at + 2)).collect();
    let sql = format!("SELECT id FROM t WHERE {} ORDER BY id", condition.join(" AND "));
    let hits = |sqlite: &Connection, window: &[f64]| {
        let mut select = sqlite.prepare_cached(&sql).unwrap();
        let ids = select.query_map(rusqlite::params_from_iter(window), |row| row.get(0)).unwrap();
        ids.collect::<rusqlite::Result<Vec<i64>>>().unwrap()
    };
    // A large window has most of the rows: a hundred of them show as much as a thousand.
    let large_each = (windows / 100).max(10);
    let (mut random, mut found) = (Random(999), 0);
    for number in 0..windows {
        let factor = if kind.module == "rtree" { 1.0 } else { 1e4 };
        let (size, mut window) = (if number % large_each == 0 { 60.0 } else { 0.4 }, Vec::new());
        for _ in 0..kind.dimensions {
            let min = if number % 3 == 0 { random.next() * 360.0 - 180.0 } else { random.next() * 9.0 + 40.0 };
            window.extend([min * factor, (min + size) * factor]);
        }
        let expected = hits(theirs, &window);
        found += expected.len();
        assert_eq!(hits(ours, &window), expected, "{kind:?}: {window:?}");
    }
    assert!(windows < 100 || found > 0, "{kind:?}: no window has a row");
}

/// Builds the case along several routes, which give the same bytes.
fn built(case: &Case, page_size: PageSize) -> Vec<u8> {
    let build = |route: Route, memory_bytes: u64| {
        let mut options = route.options(page_size);
        options.memory_bytes = memory_bytes;
        case.build_schema(case.schema().unwrap(), &options, route.into).unwrap()
    };
    let bytes = build(Route::SHORTEST, 4 << 30);
    for route in routes_at(page_size).filter(|route| *route != Route::SHORTEST) {
        let memory_bytes = if route.threads == 2 { 64 << 20 } else { 4 << 30 };
        assert!(build(route, memory_bytes) == bytes, "{route:?}: other bytes");
    }
    bytes
}

fn check(kind: Kind, count: u64, page_size: PageSize, windows: u64) -> Vec<u8> {
    let what = format!("{kind:?}, {count} rows, pages of {page_size} bytes");
    let case = Case::new(kind.sql()).rows(kind.rows(count)).parts_of(700);
    let bytes = built(&case, page_size);
    assert_tree(&bytes, &what);
    let (ours, theirs) = (oracle::open(&bytes), case.reference(page_size));
    oracle::assert_same_schema(&ours, &theirs, &what);
    assert_same_hits(&ours, &theirs, kind, windows);
    // Rows that SQLite changes later find their place.
    ours.execute_batch("DELETE FROM t WHERE id % 3 = 0").unwrap();
    assert_eq!(texts(&ours, "SELECT rtreecheck('t')"), ["ok"], "{what}, after DELETE");
    let schema = case.schema().unwrap();
    for row in kind.rows(count + 200).into_iter().skip(usize::try_from(count).unwrap()) {
        insert_or(&ours, &schema.tables[0], Conflict::Abort, &row).unwrap();
    }
    assert_eq!(texts(&ours, "SELECT rtreecheck('t')"), ["ok"], "{what}, after INSERT");
    bytes
}

#[test]
fn trees_of_all_kinds_hold_what_sqlite_would() {
    for module in ["rtree", "rtree_i32"] {
        for dimensions in 1..=5 {
            for auxiliary in [0, 3] {
                check(Kind { module, dimensions, auxiliary }, 3000, PageSize::DEFAULT, 50);
            }
        }
    }
}

#[test]
fn trees_of_all_sizes_and_pages() {
    for count in [0, 1, 50, 51, 52, 2601, 2602, 5300] {
        check(PLANE, count, PageSize::DEFAULT, 30);
    }
    for bytes in [512, 1024, 65536] {
        check(PLANE, 4000, PageSize::new(bytes).unwrap(), 100);
        check(Kind { dimensions: 5, auxiliary: 1, ..PLANE }, 4000, PageSize::new(bytes).unwrap(), 100);
    }
}

/// A tree of three levels and more than one part, in ten thousand windows; and a quarter smaller than SQLite's.
#[test]
fn ten_thousand_windows_have_the_hits_of_sqlite() {
    let case = Case::new(PLANE.sql()).rows(PLANE.rows(150_000)).parts_of(20_000);
    let bytes = built(&case, PageSize::DEFAULT);
    assert_tree(&bytes, "150,000 rows");
    let (ours, theirs) = (oracle::open(&bytes), case.reference(PageSize::DEFAULT));
    assert_same_hits(&ours, &theirs, PLANE, 10_000);
    let nodes = "SELECT count(*) FROM t_node";
    assert!(integer(&ours, nodes) * 4 <= integer(&theirs, nodes) * 3, "nodes are at least a quarter fewer");
    assert_eq!(integer(&ours, nodes), 150_000_i64.div_euclid(51) + 1 + 58 + 2 + 1);
}

/// SQLite takes any value for a coordinate: text and NULL count as its conversions say.
#[test]
fn odd_values_are_converted_as_sqlite_converts_them() {
    let odd = [
        (Text("-12.5".to_owned()), Text("100".to_owned())),
        (Text("-3 apples".to_owned()), Text("apples".to_owned())),
        (Null, Null),
        (Null, Real(1e300)),
        (Real(-1e300), Int(i64::MAX)),
        (Real(f64::NEG_INFINITY), Real(f64::INFINITY)),
        (Real(-0.0), Real(-1e-50)),
        (Int(16_777_217), Int(16_777_217)),
        (Blob(b"-7".to_vec()), Blob(b"42".to_vec())),
        (Real(0.1), Real(0.1)),
        (Real(-2.7), Real(3.9)),
    ];
    for module in ["rtree", "rtree_i32"] {
        let kind = Kind { module, auxiliary: 1, ..PLANE };
        let ids =
            [Int(4), Real(5.9), Text("6".to_owned()), Text("7up".to_owned()), Int(i64::MIN), Int(i64::MAX), Int(-1)];
        let rows = odd.iter().enumerate().map(|(at, (min, max))| {
            let id = ids.get(at).cloned().unwrap_or(Int(100 + at as i64));
            vec![id, min.clone(), max.clone(), max.clone(), max.clone(), min.clone()]
        });
        let case = Case::new(kind.sql()).rows(rows).parts_of(2);
        let bytes = built(&case, PageSize::DEFAULT);
        assert_tree(&bytes, module);
        assert_same_hits(&oracle::open(&bytes), &case.reference(PageSize::DEFAULT), kind, 0);
    }
}

#[test]
fn rows_without_ids_are_numbered() {
    let mut random = Random(5);
    let rows: Vec<Row> = (0..400).map(|_| PLANE.row(Null, &mut random)).collect();
    let case = Case::new(PLANE.sql()).rows(rows.clone()).parts_of(60);
    let bytes = built(&case, PageSize::DEFAULT);
    assert_tree(&bytes, "without ids");
    assert_same_hits(&oracle::open(&bytes), &case.reference(PageSize::DEFAULT), PLANE, 50);
    let mut mixed = rows;
    mixed[17][0] = Int(3);
    let error = Case::new(PLANE.sql()).rows(mixed).build(Route::SHORTEST, PageSize::DEFAULT).unwrap_err();
    assert_eq!((error.kind(), error.place().record), (ErrorKind::Constraint, Some(1)), "{error}");
    assert!(error.to_string().contains("the row has no id, but record 18 has one"), "{error}");
}

/// Returns the error of the case, which is the same on any number of threads.
fn refused(case: &Case) -> litepress::Error {
    let build = |threads| case.build(Route { threads, into: Into::Memory }, PageSize::DEFAULT).unwrap_err();
    let error = build(1);
    assert_eq!(build(3).to_string(), error.to_string());
    error
}

#[test]
fn errors_name_the_record() {
    let mut rows = PLANE.rows(5000);
    rows[4321][2] = Real(-200.0);
    let error = refused(&Case::new(PLANE.sql()).rows(rows.clone()).parts_of(300));
    assert_eq!((error.kind(), error.place().record), (ErrorKind::Constraint, Some(4322)));
    assert!(error.to_string().contains("rtree constraint failed: t.(min0<=max0)"), "{error}");
    assert!(error.to_string().contains("is greater than -200"), "{error}");
    let mut rows = PLANE.rows(5000);
    rows[4000][0] = rows[12][0].clone();
    let error = refused(&Case::new(PLANE.sql()).rows(rows).parts_of(300));
    assert_eq!((error.kind(), error.place().record), (ErrorKind::Constraint, Some(4001)));
    assert!(error.to_string().contains("UNIQUE constraint failed: t.id: records 13 and 4001"), "{error}");
}

/// INSERT OR IGNORE leaves out rows with a minimum above the maximum, too; INSERT OR REPLACE fails.
#[test]
fn conflicts_are_resolved_as_sqlite_resolves_them() {
    let kind = Kind { auxiliary: 2, ..PLANE };
    for has_ids in [true, false] {
        let mut random = Random(77);
        let id = |row: i64| if has_ids { Int(row * 7919 % 800) } else { Null };
        let mut rows: Vec<Row> = (0..1500).map(|row| kind.row(id(row), &mut random)).collect();
        for conflict in [Conflict::Replace, Conflict::Ignore] {
            if conflict == Conflict::Ignore {
                rows.iter_mut().step_by(11).for_each(|row| row[3] = Real(500.0));
            }
            let theirs = Connection::open_in_memory().unwrap();
            theirs.execute_batch(&kind.sql()).unwrap();
            let case = Case::new(kind.sql()).rows(rows.clone()).parts_of(100).on_conflict(conflict);
            let schema = case.schema().unwrap();
            rows.iter().for_each(|row| drop(insert_or(&theirs, &schema.tables[0], conflict, row)));
            let bytes = built(&case, PageSize::DEFAULT);
            assert_tree(&bytes, &format!("{conflict:?}"));
            assert_same_hits(&oracle::open(&bytes), &theirs, kind, 50);
        }
        let wrong = Case::new(kind.sql()).rows(rows.clone()).on_conflict(Conflict::Replace);
        assert_eq!(refused(&wrong).place().record, Some(1));
    }
}

/// Sorts that do not fit the memory leave the same bytes.
#[test]
fn spilled_trees_are_the_same() {
    let kind = Kind { auxiliary: 1, ..PLANE };
    let mut rows = kind.rows(60_000);
    rows.iter_mut().for_each(|row| row[5] = Text("a long note ".repeat(40)));
    let bytes = built(&Case::new(kind.sql()).rows(rows).parts_of(5000), PageSize::DEFAULT);
    assert_tree(&bytes, "spilled");
}

#[test]
fn the_plan_prints_trees() {
    let methods = |sql: &str, conflict| {
        let schema = Schema::from_sql(sql, "<plan>").unwrap();
        plan_objects(&schema, conflict).into_iter().map(|object| object.method).collect::<Vec<_>>()
    };
    for sql in [PLANE.sql(), "CREATE VIRTUAL TABLE \"a b\" USING RTREE_I32(id, x0, x1, +note)".to_owned()] {
        assert_eq!(methods(&sql, Conflict::Abort), [BuildMethod::Direct], "{sql}");
        assert!(matches!(methods(&sql, Conflict::Update)[..], [BuildMethod::Sqlite { .. }]), "{sql}");
    }
    let other = methods("CREATE VIRTUAL TABLE t USING fts4(a)", Conflict::Abort);
    assert!(matches!(other[..], [BuildMethod::Sqlite { .. }]), "{other:?}");
}

/// R-Trees among other objects, which SQLite makes: views, a full-text index, a trigger, statistics.
#[test]
fn trees_live_beside_other_tables() {
    let case = Case::new(format!(
        "PRAGMA application_id = 7; CREATE TABLE a(id INTEGER PRIMARY KEY, b TEXT); {};
         CREATE VIRTUAL TABLE empty USING rtree_i32(id, x, y); CREATE VIRTUAL TABLE f USING fts5(words)",
        PLANE.sql()
    ))
    .rows([vec![Int(1), Text("x".to_owned())]])
    .rows(PLANE.rows(300))
    .after(
        "CREATE VIEW v AS SELECT id FROM t WHERE min0 > 0; CREATE TRIGGER g AFTER DELETE ON a BEGIN DELETE FROM t; END",
    );
    let bytes = built(&case, PageSize::DEFAULT);
    assert_tree(&bytes, "beside others");
    let (ours, theirs) = (oracle::open(&bytes), case.reference(PageSize::DEFAULT));
    oracle::assert_same_schema(&ours, &theirs, "beside others");
    assert_same_hits(&ours, &theirs, PLANE, 20);
    ours.execute_batch("INSERT INTO empty VALUES (1, 2, 3); DELETE FROM a").unwrap();
    assert_eq!(integer(&ours, "SELECT count(*) FROM t"), 0);
    let mut options = Route::SHORTEST.options(PageSize::DEFAULT);
    options.analyze = true;
    let bytes = case.build_schema(case.schema().unwrap(), &options, Into::Memory).unwrap();
    let statistics = texts(
        &oracle::open(&bytes),
        "SELECT tbl || ' ' || stat FROM sqlite_stat1 WHERE tbl LIKE 't\\_%' ESCAPE '\\' ORDER BY 1",
    );
    assert_eq!(statistics, ["t_node 7", "t_parent 6", "t_rowid 300"]);
}
