//! Tests the verifier of databases: what SQLite makes is clean, what is broken is found, and no file makes it panic or
//! hang.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use litepress_check::{BtreeKind, CheckOptions, Report, check, sqlite_integrity_check};
use litepress_rows::{Error, ErrorKind};
use proptest::prelude::*;
use rusqlite::Connection;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

const PAGE_SIZES: [u32; 8] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

/// Checks with one thread and with three. Both must find the same.
fn checked(path: &Path) -> Report {
    let run = |threads| check(path, &CheckOptions { threads, ..CheckOptions::default() }, &|_, _| Ok(())).unwrap();
    let (serial, parallel) = (run(1), run(3));
    assert_eq!(serial.faults, parallel.faults);
    assert_eq!(serial.notes, parallel.notes);
    assert_eq!(serial.btrees, parallel.btrees);
    serial
}

fn faults(path: &Path) -> Vec<String> {
    checked(path).faults.iter().map(ToString::to_string).collect()
}

/// A database that SQLite makes of `sql`, in its own folder.
struct Made {
    _folder: TempDir,
    path: PathBuf,
}

fn made(sql: &str) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(sql).unwrap();
    drop(connection);
    Made { _folder: folder, path }
}

impl Made {
    fn connection(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    /// Changes the bytes of the file.
    fn patch(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(&self.path).unwrap();
        change(&mut bytes);
        std::fs::write(&self.path, bytes).unwrap();
    }

    /// Makes the schema differ from the one under which the rows were written.
    fn redefine(&self, name: &str, from: &str, to: &str) {
        let connection = self.connection();
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        let sql = "UPDATE sqlite_schema SET sql = replace(sql, ?2, ?3) WHERE name = ?1";
        assert_eq!(connection.execute(sql, [name, from, to]).unwrap(), 1);
    }

    /// Returns the root page of a table or index.
    fn root(&self, name: &str) -> usize {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
        self.connection().query_row(sql, [name], |row| row.get::<_, u32>(0)).unwrap() as usize
    }

    fn assert_fault(&self, expected: &str) {
        let faults = faults(&self.path);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "no {expected:?} among {faults:#?}");
    }

    fn assert_noted(&self, expected: &str) {
        let notes = self.assert_clean(expected).notes;
        assert!(notes.iter().any(|note| note.contains(expected)), "no {expected:?} among {notes:#?}");
    }

    fn assert_clean(&self, what: &str) -> Report {
        assert_eq!(sqlite_integrity_check(&self.path, 10).unwrap(), [""; 0], "{what}");
        let report = checked(&self.path);
        assert!(report.is_clean(), "{what}: {:#?}", report.faults);
        report
    }
}

/// Returns a subquery for the numbers `i` from 1 to `n`.
fn series(n: u32) -> String {
    format!("(WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < {n}) SELECT i FROM s)")
}

/// Pieces of SQL, each of which makes a database of another shape.
#[expect(clippy::too_many_lines, reason = "a list, one shape after the other")]
fn shapes() -> Vec<(&'static str, String)> {
    let many = series(3000);
    let some = series(300);
    vec![
        ("nothing", "VACUUM".into()),
        ("an empty table", "CREATE TABLE t(a)".into()),
        ("only a view", "CREATE VIEW v AS SELECT 1".into()),
        (
            "a view first",
            format!("CREATE VIEW a AS SELECT * FROM t; CREATE TABLE t(x, y UNIQUE); INSERT INTO t SELECT i, i FROM {some}"),
        ),
        (
            "short rows",
            format!(
                "CREATE TABLE user(id INTEGER PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER);
                 INSERT INTO user SELECT i, printf('%06d', i * 7919 % 1000000), i % 90, i & 1 FROM {many}"
            ),
        ),
        (
            "every kind of value",
            format!(
                "CREATE TABLE t(i INTEGER, x TEXT, r REAL, n NUMERIC, b BLOB, u);
                 INSERT INTO t SELECT i, i, i, i, i, i FROM {some};
                 INSERT INTO t SELECT i + 0.5, i + 0.5, i + 0.5, i + 0.5, i + 0.5, i + 0.5 FROM {some};
                 INSERT INTO t SELECT '12', '12', '12', '12', '12', '12' FROM {some};
                 INSERT INTO t SELECT 'ab', 'ab', 'ab', 'ab', 'ab', 'ab' FROM {some};
                 INSERT INTO t SELECT x'ff', x'ff', x'ff', x'ff', x'ff', x'ff' FROM {some};
                 INSERT INTO t SELECT i * 5000000000, 1e300, i * 1e17, 9e18, -0.0, NULL FROM {some};
                 INSERT INTO t VALUES (-0.0, -0.0, -0.0, -0.0, -0.0, -0.0), (1e999, 1e999, 1e999, -1e999, 1e999, 1),
                     (9223372036854775807, 1, 9223372036854775807, 9223372036854775808, -9223372036854775808, 0),
                     (9223372036854775808.0, 1, 140737488355328.0, -9223372036854775808.0, 1, 0),
                     (1, 1, 140737488355327.0, 1, 1, 1), (1, 1, -140737488355328.0, 1, 1, 1);
                 CREATE INDEX i1 ON t(i); CREATE INDEX i2 ON t(x, r); CREATE INDEX i3 ON t(n DESC, b, u);
                 CREATE INDEX i4 ON t(r, r DESC, i);"
            ),
        ),
        (
            "rowids far apart and negative",
            format!(
                "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t SELECT i * i * i * 1000 - 9000000, i FROM {some};
                 INSERT INTO t VALUES (9223372036854775807, 1), (-9223372036854775808, 2)"
            ),
        ),
        (
            "overflow in tables and indexes",
            format!(
                "CREATE TABLE t(a, b TEXT, c); INSERT INTO t SELECT i, hex(zeroblob(i * 37 % 9000)), zeroblob(i % 700) FROM {some};
                 INSERT INTO t VALUES (0, hex(randomblob(70000)), zeroblob(1000000));
                 CREATE INDEX ib ON t(b); CREATE UNIQUE INDEX iab ON t(b DESC, a); CREATE INDEX ic ON t(c);
                 CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
                 INSERT INTO w SELECT b || a, c FROM t"
            ),
        ),
        (
            "without rowid",
            format!(
                "CREATE TABLE t(a, b COLLATE NOCASE, c NOT NULL, PRIMARY KEY(c, b DESC, c)) WITHOUT ROWID;
                 INSERT INTO t SELECT i, 'Text' || (i % 50), i * 31 % 700 FROM {many} WHERE true ON CONFLICT DO NOTHING;
                 CREATE INDEX ia ON t(a); CREATE INDEX ib ON t(b COLLATE BINARY, a); CREATE UNIQUE INDEX iu ON t(a, c);
                 CREATE INDEX ic ON t(c DESC)"
            ),
        ),
        (
            "collations and directions",
            format!(
                "CREATE TABLE t(a TEXT COLLATE NOCASE, b TEXT COLLATE RTRIM, c TEXT);
                 INSERT INTO t SELECT substr('aAbBcC[_äÄ', i % 10 + 1, 3), substr('x   ', 1, i % 4), char(i) FROM {many};
                 CREATE INDEX i1 ON t(a, b DESC); CREATE INDEX i2 ON t(b, a); CREATE INDEX i3 ON t(c COLLATE NOCASE DESC, a);
                 CREATE INDEX i4 ON t(c DESC, b COLLATE BINARY)"
            ),
        ),
        (
            "unique keys with NULLs",
            format!(
                "CREATE TABLE t(a UNIQUE, b, UNIQUE(a, b)); INSERT INTO t SELECT NULL, i % 5 FROM {some};
                 INSERT INTO t SELECT i, NULL FROM {some}"
            ),
        ),
        (
            "full-text and R-Tree",
            format!(
                "CREATE VIRTUAL TABLE f USING fts5(a, b); INSERT INTO f SELECT 'word' || i, 'some text ' || (i % 9) FROM {some};
                 CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, y0, y1); INSERT INTO r SELECT i, i, i + 1, -i, -i + 2 FROM {some};
                 DELETE FROM f WHERE rowid % 3 = 0; INSERT INTO f(f) VALUES ('optimize')"
            ),
        ),
        (
            "deleted and changed rows",
            format!(
                "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c); CREATE INDEX ib ON t(b);
                 INSERT INTO t SELECT i, hex(zeroblob(i % 90)), i FROM {many};
                 DELETE FROM t WHERE a % 3 = 0; UPDATE t SET b = substr(b, 1, a % 40) WHERE a % 5 = 1;
                 INSERT INTO t SELECT i * 3, 'again', i FROM {some}; DELETE FROM t WHERE a BETWEEN 500 AND 1700"
            ),
        ),
        (
            "columns added later",
            format!(
                "CREATE TABLE t(a); INSERT INTO t SELECT i FROM {some}; ALTER TABLE t ADD COLUMN b TEXT DEFAULT 5;
                 ALTER TABLE t ADD COLUMN c INTEGER NOT NULL DEFAULT '7'; ALTER TABLE t ADD COLUMN d REAL DEFAULT 3;
                 ALTER TABLE t ADD COLUMN e; INSERT INTO t SELECT i, i, i, i, i FROM {some};
                 CREATE INDEX ib ON t(b, e); CREATE INDEX ic ON t(c, d); CREATE INDEX ie ON t(e)"
            ),
        ),
        (
            "strict tables",
            format!(
                "CREATE TABLE t(i INT, j INTEGER, r REAL, x TEXT, b BLOB, a ANY, k TEXT PRIMARY KEY) STRICT;
                 INSERT INTO t SELECT i, '6', i, i, x'00', '007', 'k' || i FROM {some};
                 INSERT INTO t SELECT NULL, NULL, i + 0.5, NULL, NULL, i * 1.0, 'm' || i FROM {some};
                 CREATE INDEX ir ON t(r, a)"
            ),
        ),
        (
            "generated columns",
            format!(
                "CREATE TABLE t(a, v AS (a * 2) VIRTUAL, b, s INTEGER AS (a + 1) STORED, c);
                 INSERT INTO t(a, b, c) SELECT i, 'b' || i, NULL FROM {some};
                 CREATE INDEX iv ON t(v); CREATE INDEX isb ON t(s, b, c)"
            ),
        ),
        (
            "partial and expression indexes",
            format!(
                "CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t SELECT i, 'B' || i FROM {some};
                 CREATE INDEX ip ON t(a) WHERE a > 100; CREATE UNIQUE INDEX ie ON t(lower(b), a); CREATE INDEX ix ON t(a + 1, b)"
            ),
        ),
        (
            "AUTOINCREMENT",
            format!(
                "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b); INSERT INTO t(b) SELECT i FROM {some};
                 DELETE FROM t WHERE a > 200; CREATE TABLE e(a INTEGER PRIMARY KEY AUTOINCREMENT)"
            ),
        ),
        (
            "keys that are no alias of the rowid",
            format!(
                "CREATE TABLE t(a INT PRIMARY KEY, b); CREATE TABLE u(a INTEGER PRIMARY KEY DESC, b);
                 CREATE TABLE v(a INTEGER, b, PRIMARY KEY(a)); CREATE TABLE w(a INTEGER, b, PRIMARY KEY(a, b));
                 INSERT INTO t SELECT i, i FROM {some}; INSERT INTO u SELECT * FROM t;
                 INSERT INTO v SELECT * FROM t; INSERT INTO w SELECT * FROM t; CREATE INDEX iv ON v(b, a)"
            ),
        ),
        ("statistics", format!("CREATE TABLE t(a, b); CREATE INDEX i ON t(a, b); INSERT INTO t SELECT i, i FROM {some}; ANALYZE")),
        ("awkward names", "CREATE TABLE \"a \"\"b\"\"\"(\"c 'd\" UNIQUE); INSERT INTO \"a \"\"b\"\"\" VALUES (1), ('x')".into()),
        ("a long schema", (0..150).fold(String::new(), |sql, n| {
            format!("{sql} CREATE TABLE long_name_of_table_{n}(a INTEGER PRIMARY KEY, b TEXT UNIQUE, c DEFAULT '{}');", "x".repeat(n * 17))
        })),
        (
            "a WAL database",
            format!("PRAGMA journal_mode = WAL; CREATE TABLE t(a, b UNIQUE); INSERT INTO t SELECT i, i FROM {some}"),
        ),
    ]
}

#[test]
fn what_sqlite_makes_is_clean() {
    for (name, sql) in shapes() {
        made(&sql).assert_clean(name);
    }
}

#[test]
fn every_page_size_is_clean() {
    for page_size in PAGE_SIZES {
        for (name, sql) in shapes() {
            made(&format!("PRAGMA page_size = {page_size}; {sql}")).assert_clean(&format!("{name}, {page_size}"));
        }
    }
}

#[test]
fn utf_16_is_clean() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        for (name, sql) in shapes() {
            made(&format!("PRAGMA encoding = '{encoding}'; {sql}")).assert_clean(&format!("{name}, {encoding}"));
        }
    }
}

#[test]
fn auto_vacuum_is_clean() {
    for mode in ["FULL", "INCREMENTAL"] {
        for (name, sql) in shapes() {
            let sql = format!("PRAGMA page_size = 512; PRAGMA auto_vacuum = {mode}; {sql}");
            let report = made(&sql).assert_clean(&format!("{name}, {mode}"));
            assert!(report.pointer_map_pages > 0 || report.pages == 1, "{name}");
        }
    }
}

#[test]
fn reserved_bytes_are_clean() {
    for (name, sql) in shapes() {
        let made = made("PRAGMA page_size = 512; VACUUM");
        // SQLite takes the number of reserved bytes from the header; the empty leaf must end before them.
        made.patch(|bytes| {
            bytes[20] = 32;
            bytes[105..107].copy_from_slice(&480_u16.to_be_bytes());
        });
        made.connection().execute_batch(&sql).unwrap();
        assert_eq!(std::fs::read(&made.path).unwrap()[20], 32);
        made.assert_clean(name);
    }
}

#[test]
fn a_freelist_is_counted() {
    for mode in ["NONE", "INCREMENTAL"] {
        let made = made(&format!(
            "PRAGMA page_size = 512; PRAGMA auto_vacuum = {mode}; CREATE TABLE t(a, b); CREATE TABLE u(a);
             INSERT INTO t SELECT i, zeroblob(600) FROM {}; DELETE FROM t WHERE a > 7",
            series(2000)
        ));
        let report = made.assert_clean(mode);
        assert!(report.freelist_pages > 1000, "{report:?}");
    }
}

#[test]
fn chinook_is_clean() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/chinook");
    let Ok(files) = std::fs::read_dir(&folder) else {
        // Not with eprintln!, which tests print only if they fail.
        writeln!(std::io::stderr(), "chinook_is_clean was skipped: {} is not there", folder.display()).unwrap();
        return;
    };
    let mut seen = 0;
    for path in files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "sqlite")) {
        let report = checked(&path);
        assert!(report.is_clean(), "{}: {:#?}", path.display(), report.faults);
        assert!(report.btrees.len() > 10);
        seen += 1;
    }
    assert!(seen > 0);
}

/// Compares pages and bytes with SQLite's own count.
#[test]
fn shapes_of_trees_agree_with_dbstat() {
    for (name, sql) in shapes() {
        let made = made(&format!("PRAGMA page_size = 1024; {sql}"));
        let report = made.assert_clean(name);
        let connection = made.connection();
        for tree in &report.btrees {
            let sql = "SELECT count(*) FILTER (WHERE pagetype = 'internal'), count(*) FILTER (WHERE pagetype = 'leaf'),
                       count(*) FILTER (WHERE pagetype = 'overflow'), sum(payload), sum(unused),
                       sum(ncell) FILTER (WHERE pagetype <> 'overflow'), max(length(path)) FROM dbstat WHERE name = ?";
            let row: [Option<u64>; 6] = connection
                .query_row(sql, [&tree.name], |row| {
                    Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])
                })
                .unwrap();
            let ours = [tree.interior_pages, tree.leaf_pages, tree.overflow_pages, tree.payload_bytes, tree.free_bytes];
            assert_eq!(ours.map(Some), row[..5], "{name}: {tree:?}");
        }
        let pages: u64 =
            report.btrees.iter().map(|tree| tree.interior_pages + tree.leaf_pages + tree.overflow_pages).sum();
        assert_eq!(pages + report.freelist_pages + report.pointer_map_pages, report.pages, "{name}");
    }
}

/// Rows under a schema that would have refused them: SQL, the object to redefine, the old and the new text, and the
/// fault (`None` if legal).
const REDEFINED: &[(&str, &str, &str, &str, Option<&str>)] = &[
    ("CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('12')", "t", "TEXT", "INTEGER", Some("TEXT value in t.a")),
    ("CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('x12')", "t", "TEXT", "INTEGER", None),
    ("CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('5.5')", "t", "TEXT", "REAL", Some("TEXT value in t.a")),
    ("CREATE TABLE t(a BLOB); INSERT INTO t VALUES (12)", "t", "BLOB", "TEXT", Some("NUMERIC value in t.a")),
    ("CREATE TABLE t(a BLOB); INSERT INTO t VALUES (5.0)", "t", "BLOB", "INTEGER", Some("stored as a double in t.a")),
    ("CREATE TABLE t(a BLOB); INSERT INTO t VALUES (5.0)", "t", "BLOB", "REAL", None),
    ("CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('x')", "t", "TEXT)", "INT) STRICT", Some("non-INT value in t.a")),
    ("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, NULL)", "t", "b", "b NOT NULL", Some("row 1: NULL value in t.b")),
    (
        "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)",
        "t",
        "a",
        "a INTEGER PRIMARY KEY",
        Some("must hold NULL: t.a"),
    ),
    ("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)", "t", ", b", "", Some("more than the 1 values")),
    ("CREATE TABLE t(a); INSERT INTO t VALUES (1)", "t", "a", "a, b NOT NULL", Some("the record ends before t.b")),
    (
        "CREATE TABLE t(a); INSERT INTO t VALUES (1), (1); CREATE INDEX i ON t(a)",
        "i",
        "INDEX",
        "UNIQUE INDEX",
        Some("the same unique key"),
    ),
    (
        "CREATE TABLE t(a); INSERT INTO t VALUES ('a'), ('B'); CREATE INDEX i ON t(a)",
        "i",
        "(a)",
        "(a COLLATE NOCASE)",
        Some("out of order"),
    ),
    (
        "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2); CREATE INDEX i ON t(a)",
        "i",
        "(a)",
        "(a DESC)",
        Some("out of order"),
    ),
    (
        "CREATE TABLE t(a); INSERT INTO t VALUES (1), (200); CREATE INDEX i ON t(a) WHERE a > 100",
        "i",
        " WHERE a > 100",
        "",
        Some("index i: 1 entries for the 2 rows of table t"),
    ),
    (
        "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (2, 3); CREATE INDEX i ON t(a)",
        "i",
        "(a)",
        "(b)",
        Some("index i: the entries do not hold what the rows hold of table t"),
    ),
    (
        "CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES ('a'), ('B')",
        "t",
        "a PRIMARY",
        "a COLLATE NOCASE PRIMARY",
        Some("out of order"),
    ),
];

#[test]
fn rows_that_their_schema_would_not_have_let_in() {
    for (sql, name, from, to, expected) in REDEFINED {
        let made = made(sql);
        made.redefine(name, from, to);
        match expected {
            Some(expected) => made.assert_fault(expected),
            None => assert_eq!(faults(&made.path), [""; 0], "{sql}"),
        }
    }
}

#[test]
fn values_that_sqlite_would_not_store() {
    let nan = made("CREATE TABLE t(a REAL); INSERT INTO t VALUES (0.1)");
    nan.patch(|bytes| {
        let place = bytes.windows(8).position(|window| window == 0.1_f64.to_be_bytes()).unwrap();
        bytes[place..place + 8].copy_from_slice(&f64::NAN.to_be_bytes());
    });
    nan.assert_fault("NaN stored in t.a");
    made("CREATE TABLE t(a); INSERT INTO t VALUES ('a' || char(0) || 'b')").assert_clean("NUL in a text");
}

/// Declared types of added columns. A bar marks those of STRICT tables.
const ADDED_TYPES: [&str; 12] =
    ["TEXT", "BLOB", "", "NUMERIC", "INTEGER", "REAL", "|TEXT", "|BLOB", "|ANY", "|INT", "|INTEGER", "|REAL"];

const ADDED_DEFAULTS: [&str; 46] = [
    "1.10",
    "2.50",
    "-1.10",
    "+1.10",
    ".5",
    "5.",
    "1e3",
    "1.0",
    "-1.0",
    "0.1e1",
    "(1.0)",
    "(-1.0)",
    "0.0",
    "-0.0",
    "1",
    "-1",
    "+1",
    "- 5",
    "007",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "4611686018427387904.0",
    "1e19",
    "1e400",
    "0x10",
    "-0x10",
    "0x7fffffff",
    "0x80000000",
    "0x7fffffffffffffff",
    "-0x7fffffffffffffff",
    "0xffffffffffffffff",
    "(0x7fffffffffffffff)",
    "'text'",
    "'1.10'",
    "'5'",
    "' 5 '",
    "'grün😀'",
    "word",
    "x'00ff'",
    "x'31'",
    "NULL",
    "TRUE",
    "FALSE",
    "(TRUE)",
];

/// Returns the statements that make a database with a table for each default. An indexed column of this type is added
/// after the rows.
fn added_columns(encoding: &str, declared: &str) -> Vec<String> {
    let strict = if declared.starts_with('|') { " STRICT" } else { "" };
    let declared = declared.trim_start_matches('|');
    let table = |(number, default): (usize, &&str)| {
        format!(
            "CREATE TABLE t{number}(a INT){strict}; INSERT INTO t{number} VALUES (1), (2);
             ALTER TABLE t{number} ADD COLUMN v {declared} DEFAULT {default};
             CREATE INDEX i{number} ON t{number}(v); INSERT INTO t{number}(a) VALUES (3)"
        )
    };
    let tables = ADDED_DEFAULTS.iter().enumerate().map(table);
    let settings = format!("PRAGMA encoding = '{encoding}'; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
    std::iter::once(settings).chain(tables).collect()
}

/// A column `TEXT DEFAULT 1.10` was added to a table with rows, and then an index on it. `check` called the database
/// corrupt: it expected the '1.1' of new rows in the entries of the old ones, which are '1.10'. It did so for
/// hundreds of combinations of DEFAULT, type and the release of SQLite that made the index.
#[test]
fn defaults_of_added_columns_are_read_as_sqlite_reads_them() {
    let mut indexes = 0;
    for encoding in ["UTF-8", "UTF-16le", "UTF-16be"] {
        for declared in ADDED_TYPES {
            let script = added_columns(encoding, declared);
            let made = made("");
            let connection = made.connection();
            for sql in &script {
                // A STRICT table refuses some defaults and stays without column and index.
                let _refused = connection.execute_batch(sql);
            }
            drop(connection);
            let report = made.assert_clean(&format!("{declared} in {encoding}"));
            assert!(report.notes.iter().all(|note| !note.contains("compared")), "{:?}", report.notes);
            indexes += report.btrees.iter().filter(|tree| tree.kind == BtreeKind::Index).count();

            // The sqlite3 of the system, which is an older release, if it is installed.
            let old = made.path.with_file_name("old.db");
            let mut shell = match Command::new("sqlite3").arg(&old).stdin(Stdio::piped()).stderr(Stdio::null()).spawn()
            {
                Ok(shell) => shell,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => panic!("sqlite3: {error}"),
            };
            shell.stdin.take().unwrap().write_all((script.join(";\n") + ";\n").as_bytes()).unwrap();
            shell.wait().unwrap();
            assert_eq!(faults(&old), [""; 0], "{declared} in {encoding}, by the sqlite3 of the system");
        }
    }
    assert!(indexes > 1000, "{indexes}");
}

/// The check accepts a DEFAULT as several releases of SQLite read it. This must not hide an entry that no release
/// makes.
#[test]
fn entries_that_no_release_makes_of_a_default_are_found() {
    for (declared, default, right, wrong) in [
        ("TEXT", "1.10", &b"1.10"[..], &b"1.11"[..]),
        ("TEXT", "1.10", b"1.10", b"1.1\0"),
        ("TEXT", "0x7ffffffffffffff0", b"9223372036854775792", b"9223372036854775793"),
        ("BLOB", "123456.0", &123_456_f64.to_be_bytes(), &123_457_f64.to_be_bytes()),
        ("", "0x7ffffffffffffff0", &0x7fff_ffff_ffff_fff0_u64.to_be_bytes(), &0x7fff_ffff_ffff_fff1_u64.to_be_bytes()),
    ] {
        let sql = format!(
            "CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN v {declared} DEFAULT {default};
             CREATE INDEX i ON t(v)"
        );
        let made = made(&sql);
        made.assert_clean(&sql);
        let root = made.root("i");
        made.patch(|bytes| {
            let page = &mut bytes[(root - 1) * 4096..root * 4096];
            let place = page.windows(right.len()).position(|window| window == right).unwrap();
            page[place..place + right.len()].copy_from_slice(wrong);
        });
        made.assert_fault("index i: the entries do not hold what the rows hold of table t");
    }
}

/// All of these were faults: `check` failed for databases that SQLite calls `ok`, and their owners could do nothing
/// about it.
#[test]
fn what_sqlite_allows_is_a_note() {
    let sequence = "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (7);";
    for (sql, note) in [
        (
            "CREATE TABLE t(a); INSERT INTO t VALUES (CAST(x'41ff' AS TEXT))",
            "table t: t.a holds text that is not valid UTF-8",
        ),
        (
            "PRAGMA encoding = 'UTF-16be'; CREATE TABLE t(a); INSERT INTO t VALUES (CAST(x'd800' AS TEXT))",
            "table t: t.a holds text that is not valid UTF-16be",
        ),
        (&format!("{sequence} UPDATE sqlite_sequence SET seq = 6"), "table t: sqlite_sequence has 6, less than"),
        (&format!("{sequence} DELETE FROM sqlite_sequence"), "table t: sqlite_sequence has no row for it"),
        (&format!("{sequence} UPDATE sqlite_sequence SET seq = 'x'"), "table t: sqlite_sequence has no number for it"),
    ] {
        made(sql).assert_noted(note);
    }
    for (offset, value, note) in [(28, 0, "page count, 0, does not hold"), (92, 77, "page count, 2, does not hold")] {
        let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
        made.patch(|bytes| bytes[offset..offset + 4].copy_from_slice(&u32::to_be_bytes(value)));
        made.assert_noted(note);
    }
    // As SQLite 3.40 leaves them after ALTER TABLE DROP COLUMN, and 3.54 in trees of keys.
    let doubles = made(
        "CREATE TABLE t(a BLOB PRIMARY KEY, b BLOB) WITHOUT ROWID; INSERT INTO t VALUES (5.0, 6.0);
         CREATE INDEX i ON t(b, a)",
    );
    doubles.redefine("t", "BLOB", "REAL");
    doubles.assert_noted("table t: t.a holds whole numbers as doubles of 8 bytes");
    // As SQLite 3.51 and older store it in a NUMERIC column; 3.54 stores 5, and says so of such a file.
    let text = made("CREATE TABLE t(a BLOB); INSERT INTO t VALUES ('5' || char(0) || '6')");
    text.redefine("t", "BLOB", "NUMERIC");
    let report = checked(&text.path);
    assert!(report.is_clean(), "{:#?}", report.faults);
    assert!(report.notes.iter().any(|note| note.contains("t.a holds text with a number before a NUL")), "{report:#?}");
    let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    made.patch(|bytes| bytes.resize(3 * 4096 + 7, 1));
    made.assert_noted("the file goes on for 4,103 bytes behind the 2 pages");
    made.patch(Vec::clear);
    made.assert_noted("the file is empty");
}

/// A header with a byte that SQLite overlooks was a fault: `check` failed for a database that SQLite calls `ok`.
#[test]
fn header_bytes_that_sqlite_overlooks_are_notes() {
    for (offset, value, note) in [
        (18, 9, "byte 18: write version is not 1 or 2"),
        (18, 2, "write version 2 and read version 1 differ"),
        (19, 0, "byte 19: read version is not 1 or 2"),
        (19, 2, "write version 1 and read version 2 differ"),
        (44, 7, "byte 44: schema format is over 4"),
        (47, 1, "table t: t.a holds the serial types 8 or 9"),
        (58, 1, "byte 56: text encoding 257 is invalid"),
        (59, 5, "byte 56: text encoding 5 is invalid"),
        (72, 1, "byte 72: reserved header byte is not zero"),
        (91, 255, "byte 91: reserved header byte is not zero"),
    ] {
        let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
        made.patch(|bytes| bytes[offset] = value);
        made.assert_noted(note);
    }
}

/// The check of a database that was being written reported false faults: it read pages of several states.
#[test]
fn a_database_that_changes_meanwhile_is_not_judged() {
    let sql = format!("CREATE TABLE t(a); INSERT INTO t SELECT i FROM {}", series(5000));
    let changes: [&(dyn Fn(&Made) + Sync); 3] = [
        &|made| made.connection().execute_batch("DELETE FROM t WHERE a % 2").unwrap(),
        &|made| made.patch(|bytes| bytes.truncate(8192)),
        &|made| {
            let copy = made.path.with_extension("copy");
            std::fs::copy(&made.path, &copy).unwrap();
            std::fs::rename(&copy, &made.path).unwrap();
        },
    ];
    for change in changes {
        let made = made(&sql);
        let once = std::sync::Once::new();
        let outcome = check(&made.path, &CheckOptions::default(), &|_, _| {
            once.call_once(|| change(&made));
            Ok(())
        });
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("was changed while it was read"), "{error}");
        assert!(error.advice().is_some());
    }
}

/// A check could not be stopped: a verified run of hours ignored Ctrl-C until all pages were read.
#[test]
fn whoever_watches_may_stop_it() {
    let made =
        made(&format!("PRAGMA page_size = 512; CREATE TABLE t(a); INSERT INTO t SELECT i FROM {}", series(90_000)));
    for threads in [1, 3] {
        let options = CheckOptions { threads, ..CheckOptions::default() };
        let (calls, pages) = (AtomicU64::new(0), AtomicU64::new(0));
        let enough = |done, total| {
            pages.store(total, Ordering::Relaxed);
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 => Ok(()),
                _ => Err(Error::new(ErrorKind::Interrupted, format!("enough after {done}"))),
            }
        };
        let error = check(&made.path, &options, &enough).unwrap_err();
        assert!(error.kind() == ErrorKind::Interrupted && error.message().starts_with("enough"), "{error}");
        // Each thread may still be at a task when another gets the error.
        let (calls, pages) = (calls.into_inner(), pages.into_inner());
        assert!(calls <= 3 + threads as u64 && pages > 1500, "{calls} calls for {pages} pages");
    }
}

#[test]
fn headers_that_do_not_hold() {
    for (offset, value, expected) in [
        (28, 1, "has the root page 2, which the file does not have"),
        (28, 3, "the header counts 3 pages, the file has 2"),
        (44, 5, "schema format"),
        (36, 1, "freelist"),
        (64, 1, "incremental vacuum"),
    ] {
        let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
        made.patch(|bytes| bytes[offset..offset + 4].copy_from_slice(&u32::to_be_bytes(value)));
        made.assert_fault(expected);
    }
    for (offset, value, expected) in [
        (0, b'X', "not a SQLite database"),
        (17, 7, "page size"),
        (19, 9, "read version"),
        (20, 255, "page"),
        (21, 63, "fractions"),
    ] {
        let made = made("PRAGMA page_size = 512; CREATE TABLE t(a)");
        made.patch(|bytes| bytes[offset] = value);
        made.assert_fault(expected);
    }
}

#[test]
fn files_that_are_cut_or_too_long() {
    let made = made(&format!("CREATE TABLE t(a); INSERT INTO t SELECT i FROM {}", series(5000)));
    let whole = std::fs::read(&made.path).unwrap();
    for len in [1, 99, 100, 512, 4095, 4096, 4097, 8192, whole.len() - 1, whole.len() - 4096] {
        std::fs::write(&made.path, &whole[..len]).unwrap();
        assert!(!checked(&made.path).is_clean(), "{len}");
    }
    // The header counts the page that was added.
    let pages = u32::try_from(whole.len() / 4096 + 1).unwrap().to_be_bytes();
    std::fs::write(&made.path, [&whole[..28], &pages, &whole[32..], &[0; 4096]].concat()).unwrap();
    made.assert_fault("orphan: nothing points to this page");
}

#[test]
fn companions_with_content_are_refused() {
    let made = made("CREATE TABLE t(a)");
    let mut wal = made.path.clone().into_os_string();
    wal.push("-wal");
    std::fs::write(&wal, [1; 100]).unwrap();
    let error = check(&made.path, &CheckOptions::default(), &|_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("-wal") && error.advice().is_some(), "{error}");
    let error = check(&made.path.with_extension("none"), &CheckOptions::default(), &|_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("cannot open"), "{error}");
}

#[test]
fn pages_are_used_once() {
    let two = made("CREATE TABLE t(a); CREATE TABLE u(a); INSERT INTO t VALUES (1)");
    let (t, u) = (two.root("t"), two.root("u"));
    let connection = two.connection();
    connection.execute_batch(&format!("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = {t}")).unwrap();
    drop(connection);
    two.assert_fault(&format!("points to page {t}, which is in use already"));
    two.assert_fault(&format!("page {u}: orphan"));

    let chains = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(9000)), (zeroblob(9000))");
    let root = chains.root("t") * 4096 - 4096;
    chains.patch(|bytes| {
        // Cells end with the first page of their chain; the first cell ends with the page.
        let second_cell = u16::from_be_bytes([bytes[root + 10], bytes[root + 11]]);
        let end_of_second = root + usize::from(u16::from_be_bytes([bytes[root + 8], bytes[root + 9]]));
        assert!(usize::from(second_cell) < end_of_second - root);
        bytes.copy_within(root + 4092..root + 4096, end_of_second - 4);
    });
    chains.assert_fault("which is in use already");
    chains.assert_fault("orphan");
}

#[test]
fn overflow_chains_have_their_length() {
    for (next, expected) in
        [(0_u32, "the overflow chain ends after 1 of 2"), (1, "page 1, which is in use"), (99, "does not have")]
    {
        let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(12000))");
        let first = made.root("t") * 4096;
        made.patch(|bytes| bytes[first..first + 4].copy_from_slice(&next.to_be_bytes()));
        made.assert_fault(expected);
    }
    let longer = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(12000)), (zeroblob(5000))");
    longer.patch(|bytes| {
        let last = (3..6).map(|page| page * 4096 - 4096).find(|at| bytes[*at..*at + 4] == [0; 4]).unwrap();
        bytes[last + 3] = 6;
    });
    longer.assert_fault("does not end after");
}

#[test]
fn a_payload_longer_than_any_file_is_refused() {
    let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(5000))");
    let root = made.root("t") * 4096 - 4096;
    made.patch(|bytes| {
        let cell = root + usize::from(u16::from_be_bytes([bytes[root + 8], bytes[root + 9]]));
        bytes[cell..cell + 9].copy_from_slice(&[0xff; 9]);
    });
    assert!(!checked(&made.path).is_clean());
}

#[test]
fn rowids_stay_between_their_dividers() {
    let sql =
        format!("PRAGMA page_size = 512; CREATE TABLE t(a); INSERT INTO t SELECT 'text ' || i FROM {}", series(100));
    for (divider, expected) in [(1, "left of the divider 1"), (60, "behind 60"), (0x7f, "not between those around it")]
    {
        let made = made(&sql);
        let root = made.root("t") * 512 - 512;
        made.patch(|bytes| {
            let cell = root + usize::from(u16::from_be_bytes([bytes[root + 12], bytes[root + 13]]));
            bytes[cell + 4] = divider;
        });
        made.assert_fault(expected);
    }
}

#[test]
fn pointer_maps_tell_the_truth() {
    let made = made(&format!(
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = FULL; CREATE TABLE t(a); INSERT INTO t SELECT zeroblob(2000) FROM {}",
        series(9)
    ));
    let whole = std::fs::read(&made.path).unwrap();
    for entry in 0..30 {
        for (offset, value) in [(0, 9), (0, 2), (4, 0xee)] {
            made.patch(|bytes| {
                bytes.clone_from(&whole);
                bytes[512 + 5 * entry + offset] ^= value;
            });
            made.assert_fault("the pointer map");
        }
    }
    made.patch(|bytes| {
        bytes.clone_from(&whole);
        bytes[55] = 99;
    });
    made.assert_fault("the largest root page is 99 in the header, 3 in the schema");
}

/// Checks more leaves below one page than a task takes.
#[test]
fn a_wide_tree_is_clean_and_its_defects_are_found() {
    let made = made(&format!(
        "PRAGMA page_size = 65536; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
         INSERT INTO t SELECT i, hex(zeroblob(200)) || i FROM {}; CREATE UNIQUE INDEX i ON t(b);
         CREATE TABLE w(b PRIMARY KEY) WITHOUT ROWID; INSERT INTO w SELECT b FROM t",
        series(20_000)
    ));
    let report = made.assert_clean("wide");
    assert!(report.btrees.iter().skip(1).all(|tree| tree.depth == 2 && tree.leaf_pages > 100), "{report:#?}");
    made.redefine("i", "(b)", "(b DESC)");
    let report = check(&made.path, &CheckOptions { max_faults: 5, ..CheckOptions::default() }, &|_, _| Ok(())).unwrap();
    assert_eq!((report.faults.len(), report.faults_total), (5, 19_999), "one for every pair of neighbours");
}

#[test]
fn records_beyond_the_memory_are_looked_at_in_part() {
    let made = made(
        "CREATE TABLE t(a, b TEXT); INSERT INTO t VALUES (zeroblob(5000000), CAST(x'ff' AS TEXT)); CREATE INDEX i ON t(a)",
    );
    let run =
        |memory_bytes| check(&made.path, &CheckOptions { memory_bytes, ..CheckOptions::default() }, &|_, _| Ok(()));
    let (little, enough) = (run(0).unwrap(), run(1 << 30).unwrap());
    assert!(little.is_clean(), "{:#?}", little.faults);
    assert!(little.notes.iter().any(|note| note.contains("table t: records beyond")), "{:?}", little.notes);
    assert_eq!(little.btrees, enough.btrees);
    assert_eq!(enough.notes, ["table t: t.b holds text that is not valid UTF-8"]);
}

/// Returns a database with a broken CHECK constraint, and with a full-text index that disagrees with its table.
fn made_of_unseen() -> Made {
    made(
        "CREATE TABLE c(a, CHECK (a > 0)); CREATE TABLE plain(a);
         CREATE TRIGGER g AFTER INSERT ON plain BEGIN INSERT INTO c VALUES (1); END;
         PRAGMA ignore_check_constraints = ON; INSERT INTO c VALUES (-1);
         CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('word'); UPDATE f_content SET c0 = 'other'",
    )
}

/// Returns a database with full-text tables of every kind, with many segments, deletions and merges.
fn made_of_full_texts() -> Made {
    let words = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO";
    let text = "SELECT 'the word' || (i * i % 997) || ' and the ' || hex(i * 7919), i FROM n";
    let mut sql = String::new();
    for (number, options) in
        ["", ", detail=none", ", detail=column, prefix='2'", ", columnsize=0", ", content='', contentless_delete=1"]
            .iter()
            .enumerate()
    {
        let f = format!("f{number}");
        sql += &format!("CREATE VIRTUAL TABLE {f} USING fts5(a, b UNINDEXED{options}); {words} {f}(a, b) {text};");
        sql += &format!("INSERT INTO {f}({f}, rank) VALUES ('pgsz', 100), ('hashsize', 3000);");
        if number == 1 {
            sql += &format!("INSERT INTO {f}({f}, rank) VALUES ('secure-delete', 1);");
        }
        sql += &format!("{words} {f}(a, b) {text}; DELETE FROM {f} WHERE rowid % 7 = 0;");
        sql += &format!("INSERT INTO {f}({f}, rank) VALUES ('merge', 40);");
        if number % 2 == 0 {
            sql += &format!("{words} {f}(a, b) {text}; INSERT INTO {f}({f}) VALUES ('optimize');");
        }
    }
    made(&sql)
}

#[test]
fn segments_of_full_text_tables() {
    let made = made_of_full_texts();
    let report = checked(&made.path);
    assert!(report.is_clean(), "{:#?}", report.faults);
    let damages = [
        ("UPDATE f0_data SET block = substr(block, 1, length(block) - 1) WHERE id = 10", "its structure record"),
        ("UPDATE f0_data SET block = x'8107' WHERE id = 1", "rows have"),
        // SQLite opens no such table, and the check called it sound.
        ("UPDATE f0_config SET v = 3 WHERE k = 'version'", "its version is 3"),
        ("DELETE FROM f0_config WHERE k = 'version'", "does not tell its version"),
        ("DELETE FROM f0_docsize WHERE id = 9", "rows have"),
        ("DELETE FROM f0_data WHERE id = (SELECT max(id) FROM f0_data WHERE id & (1 << 36) = 0)", "is missing"),
        ("DELETE FROM f0_idx WHERE pgno = (SELECT max(pgno) FROM f0_idx)", "%_idx"),
        (
            "UPDATE f0_data SET block = zeroblob(length(block)) WHERE id = (SELECT max(id) FROM f0_data)",
            "doclist index",
        ),
    ];
    for (damage, expected) in damages {
        let made = made_of_full_texts();
        made.connection().execute_batch(damage).unwrap();
        let faults = faults(&made.path);
        assert!(faults.len() == 1 && faults[0].contains("full-text table f0"), "{damage}: {faults:?}");
        assert!(faults[0].contains(expected), "{damage}: {faults:?}");
    }
}

/// Returns a database with R-Trees of several kinds that SQLite has grown and shrunk.
fn made_of_rtrees() -> Made {
    let rows = series(6000);
    made(&format!(
        "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, y0, y1, +note);
         INSERT INTO r SELECT i, i * 7919 % 1000, i * 7919 % 1000 + 3.1, -i, -i + 2.3, 'n' || i FROM {rows};
         DELETE FROM r WHERE id % 3 = 0; UPDATE r SET x1 = x1 + 9 WHERE id % 7 = 1;
         CREATE VIRTUAL TABLE \"of 3\" USING rtree_i32(id, a0, a1, b0, b1, c0, c1);
         INSERT INTO \"of 3\" SELECT -i, i % 90, i % 90, -i, i, i, i + 5 FROM {rows};
         CREATE VIRTUAL TABLE zeros USING rtree(id, x0, x1); INSERT INTO zeros VALUES (1, 0.0, -0.0), (2, -0.0, 0.0);
         CREATE VIRTUAL TABLE empty USING rtree(id, x0, x1)"
    ))
}

/// The check passed over R-Trees, and a tree that had lost a node was "ok". SQLite's own check is the judge.
#[test]
fn nodes_of_rtrees() {
    let made = made_of_rtrees();
    let report = checked(&made.path);
    assert!(report.is_clean() && report.notes.is_empty(), "{:#?} {:?}", report.faults, report.notes);
    let root = "UPDATE r_node SET data = CAST(";
    let leaf = "WHERE nodeno = (SELECT nodeno FROM r_rowid ORDER BY rowid LIMIT 1)";
    let damages = [
        ("UPDATE r_rowid SET nodeno = nodeno + 1 WHERE rowid = 7".to_owned(), "row 7 is in node"),
        ("UPDATE r_rowid SET nodeno = NULL WHERE rowid = 7".to_owned(), "%_rowid says NULL"),
        ("DELETE FROM r_rowid WHERE rowid = 7".to_owned(), "%_rowid has no row of it"),
        (
            "INSERT INTO r_rowid(rowid, nodeno) VALUES (3, 2)".to_owned(),
            "r_rowid has 4001 rows, and the tree 4000 rows",
        ),
        ("DELETE FROM r_parent WHERE nodeno = 2".to_owned(), "node 2 is in node"),
        ("UPDATE r_parent SET parentnode = 77 WHERE nodeno = 2".to_owned(), "%_parent says node 77"),
        ("DELETE FROM r_node WHERE nodeno = 2".to_owned(), "node 2 is missing"),
        ("UPDATE r_node SET data = substr(data, 1, 700) WHERE nodeno = 2".to_owned(), "node 2 has 700 bytes"),
        (format!("{root} x'0029' || substr(data, 3) AS BLOB) WHERE nodeno = 1"), "deeper than SQLite allows"),
        (format!("{root} substr(data, 1, 12) || x'7f000000' || substr(data, 17) AS BLOB) {leaf}"), "above the maximum"),
        (format!("{root} substr(data, 1, 12) || x'ff000000' || substr(data, 17) AS BLOB) {leaf}"), "leaves the box"),
    ];
    for (damage, expected) in damages {
        let made = made_of_rtrees();
        made.connection().execute_batch(&damage).unwrap();
        let faults = faults(&made.path);
        assert!(faults.iter().all(|fault| fault.contains("R-Tree r: ")), "{damage}: {faults:?}");
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{damage}: {faults:?}");
        let verdict = made.connection().query_row("SELECT rtreecheck('r')", [], |row| row.get::<_, String>(0));
        assert_ne!(verdict, Ok("ok".to_owned()), "{damage}");
    }
    for (damage, expected) in [
        // SQLite passes over a node that nothing refers to.
        ("INSERT INTO r_node SELECT 99999, data FROM r_node WHERE nodeno = 2", "1 of the "),
        ("UPDATE r_node SET data = x'00' WHERE nodeno = 1", "SQLite cannot open it"),
    ] {
        let made = made_of_rtrees();
        made.connection().execute_batch(damage).unwrap();
        let faults = faults(&made.path);
        assert!(faults.len() == 1 && faults[0].contains(expected), "{damage}: {faults:?}");
    }
}

/// A shadow table had another column. SQLite could not open the R-Tree, and the check took it for a table of an unknown module.
#[test]
fn rtrees_that_sqlite_cannot_open_are_faults() {
    for (table, from, to) in [("r_node", "nodeno", "nodenx"), ("r_node", "data", "datx"), ("r_rowid", "a0", "ax")] {
        let made = made_of_rtrees();
        made.redefine(table, from, to);
        made.assert_fault("R-Tree r: SQLite cannot open it: no such column");
    }
}

/// Any damage of nodes ends the check, and soon: a node may refer to one above it.
#[test]
fn rtrees_that_run_in_circles_are_left() {
    let made = made_of_rtrees();
    // Every cell of a child of the root refers to the root.
    let sql = "UPDATE r_node SET data = CAST(substr(data, 1, 4) || x'0000000000000001' || substr(data, 13) AS BLOB)";
    made.connection().execute_batch(sql).unwrap();
    let faults = faults(&made.path);
    assert!(!faults.is_empty() && faults.iter().all(|fault| fault.contains("R-Tree r: ")), "{faults:?}");
}

/// A look at a sample sees damage of header, freelist, interior pages and chosen leaves, and says what it did not see.
#[test]
fn a_sample_of_a_large_file() {
    let made = made(&format!(
        "PRAGMA page_size = 512; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE u(x);
         INSERT INTO t SELECT i, printf('%06d', i * 7919 % 1000000) FROM {}; CREATE INDEX i ON t(b); DROP TABLE u",
        series(20_000)
    ));
    let sample = |leaves| {
        let options = |threads| CheckOptions { threads, sample: Some(leaves), ..CheckOptions::default() };
        let run = |threads| check(&made.path, &options(threads), &|_, _| Ok(())).unwrap();
        let (serial, parallel) = (run(1), run(3));
        assert_eq!(
            (&serial.faults, &serial.notes, &serial.btrees),
            (&parallel.faults, &parallel.notes, &parallel.btrees)
        );
        serial
    };
    let whole = checked(&made.path);
    let report = sample(40);
    assert!(report.is_clean(), "{:#?}", report.faults);
    let seen = report.sample.unwrap();
    // The last run of an interior page may be short.
    assert!((50..=80).contains(&seen.leaves_read), "{seen:?}");
    assert_eq!(seen.leaves, whole.btrees[1..].iter().map(|tree| tree.leaf_pages).sum::<u64>());
    assert!(report.notes[0].starts_with("a sample, which is no proof"), "{:?}", report.notes);
    let interior = |report: &Report| report.btrees.iter().map(|tree| tree.interior_pages).collect::<Vec<_>>();
    assert_eq!(interior(&report), interior(&whole));
    let all = sample(1_000_000);
    assert_eq!(all.btrees, whole.btrees);
    assert_eq!(all.sample.unwrap().share(), 1.0);
    // Every leaf is broken, so any sample finds some of it; so does damage of pages that are always read.
    let sound = std::fs::read(&made.path).unwrap();
    let leaves_broken = |bytes: &mut Vec<u8>| {
        bytes.chunks_exact_mut(512).skip(1).filter(|page| [10, 13].contains(&page[0])).for_each(|page| page[7] ^= 1);
    };
    let interior_broken = |bytes: &mut Vec<u8>| {
        let page = bytes.chunks_exact_mut(512).skip(1).find(|page| page[0] == 5).unwrap();
        page[7] ^= 1;
    };
    type Change = fn(&mut Vec<u8>);
    let changes: [Change; 4] = [leaves_broken, interior_broken, |bytes| bytes[39] ^= 1, |bytes| bytes[21] ^= 1];
    for change in changes {
        made.patch(change);
        assert!(!sample(16).is_clean());
        made.patch(|bytes| bytes.clone_from(&sound));
    }
}

#[test]
fn what_is_not_checked_is_said() {
    let made = made(
        "CREATE TABLE t(a, b); CREATE INDEX ip ON t(a) WHERE b; CREATE INDEX ix ON t(a + b); INSERT INTO t VALUES (1, 2)",
    );
    let report = made.assert_clean("notes");
    assert_eq!(
        report.notes,
        ["index ip: entries against rows (a partial index)", "index ix: the values of its expressions"]
    );
    // The check said plain "ok" of rows that break a CHECK constraint, and of a full-text index with damaged contents.
    let unseen = made_of_unseen();
    let report = checked(&unseen.path);
    assert!(report.is_clean(), "{:#?}", report.faults);
    let [checks, virtual_tables] = &report.notes[..] else { panic!("{:?}", report.notes) };
    assert!(checks.starts_with("table c: rows are not checked against its CHECK constraints"), "{checks}");
    assert!(virtual_tables.starts_with("virtual table f: whether its index agrees with its texts"), "{virtual_tables}");
    // SQLite ignores CHECK constraints in a database that is opened read-only.
    let lines = sqlite_integrity_check(&unseen.path, 10).unwrap();
    assert_eq!(lines, ["fts5: checksum mismatch for table \"f\""]);
    let shell = unseen.connection();
    let line: String = shell.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).unwrap();
    assert_eq!(line, "CHECK constraint failed in c");
    made.connection().execute_batch("CREATE TABLE c(a COLLATE RTRIM); CREATE INDEX ic ON c(a)").unwrap();
    made.redefine("c", "RTRIM", "german");
    let report = checked(&made.path);
    assert!(report.is_clean(), "{:#?}", report.faults);
    assert!(report.notes.iter().any(|note| note.contains("index ic: its order")), "{:?}", report.notes);
}

/// A key that a changed definition makes has no index. The check called such a database sound, and SQLite could not read the table.
#[test]
fn a_key_without_its_index_is_a_fault() {
    for (from, to) in [("INTEGER", "d INTEGER"), ("b)", "b UNIQUE)"), ("b)", "b, UNIQUE(b, a))")] {
        let made = made("CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 2)");
        made.redefine("t", from, to);
        assert_ne!(sqlite_integrity_check(&made.path, 10).unwrap(), [""; 0]);
        made.assert_fault("table t: its index sqlite_autoindex_t_1 has no b-tree in sqlite_schema");
    }
    let made = made("CREATE TABLE t(a PRIMARY KEY, b UNIQUE) WITHOUT ROWID; INSERT INTO t VALUES (1, 2)");
    made.assert_clean("a primary key that is the table");
    made.connection()
        .execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_t_2'")
        .unwrap();
    made.assert_fault("table t: its index sqlite_autoindex_t_2 has no b-tree in sqlite_schema");
}

#[test]
fn a_schema_that_sqlite_cannot_read_leaves_the_structure_to_check() {
    let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    made.redefine("t", "CREATE TABLE", "CREATE NOTHING");
    let report = checked(&made.path);
    assert!(report.faults[0].what.starts_with("SQLite cannot read the schema"), "{:#?}", report.faults);
    assert_eq!((report.faults_total, report.btrees[1].entries), (1, 1));
}

/// Changes the fields of the page header and the cell pointers of every page, in a database of b-tree pages only. No
/// change may go unnoticed.
#[test]
fn structural_fields_do_not_change_unnoticed() {
    let made = made(&format!(
        "PRAGMA page_size = 512; CREATE TABLE t(a, b); INSERT INTO t SELECT i, 'some text ' || i FROM {};
         CREATE INDEX i ON t(b); DELETE FROM t WHERE a % 50 = 0",
        series(300)
    ));
    let report = made.assert_clean("before");
    assert_eq!(report.freelist_pages, 0);
    assert!(report.btrees.iter().skip(1).all(|tree| tree.depth > 1));
    let whole = std::fs::read(&made.path).unwrap();
    let options = CheckOptions { threads: 1, ..CheckOptions::default() };
    for page in 0..whole.len() / 512 {
        let header = page * 512 + if page == 0 { 100 } else { 0 };
        let cells = usize::from(u16::from_be_bytes([whole[header + 3], whole[header + 4]]));
        let header_len = if whole[header] < 8 { 12 } else { 8 };
        for offset in header..header + header_len + 2 * cells {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[offset] ^= change;
                std::fs::write(&made.path, bytes).unwrap();
                let report = check(&made.path, &options, &|_, _| Ok(())).unwrap();
                assert!(!report.is_clean(), "page {}, byte {}, ^ {change:#x}", page + 1, offset % 512);
            }
        }
    }
}

#[test]
fn no_byte_makes_it_panic() {
    for sql in [
        "PRAGMA page_size = 512; CREATE TABLE t(a TEXT, b UNIQUE); INSERT INTO t VALUES ('x', 1.5), (zeroblob(2000), 2);
         CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (hex(zeroblob(400))), (7)",
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b);
         INSERT INTO t(b) VALUES (zeroblob(3000)), (1); UPDATE t SET b = 2 WHERE a = 1",
    ] {
        let made = made(sql);
        made.assert_clean(sql);
        let whole = std::fs::read(&made.path).unwrap();
        let options = CheckOptions { threads: 1, ..CheckOptions::default() };
        for offset in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[offset] ^= if offset % 2 == 0 { 0xff } else { 0x01 };
            std::fs::write(&made.path, bytes).unwrap();
            check(&made.path, &options, &|_, _| Ok(())).unwrap();
        }
    }
}

/// Returns a database with every sort of page, to be damaged.
fn varied() -> Vec<u8> {
    let sql = format!(
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c TEXT);
         INSERT INTO t(b, c) SELECT zeroblob(i * 7 % 1500), 'text ' || i FROM {}; CREATE INDEX i ON t(c DESC, b);
         CREATE TABLE w(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w SELECT c, b FROM t;
         DELETE FROM t WHERE a % 3 = 0",
        series(200)
    );
    std::fs::read(&made(&sql).path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The check ends after any overwrite of a database, with no more faults than it was asked for.
    #[test]
    fn damage_is_reported_and_nothing_worse(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<[u8; 4]>(), 1..5_usize), 1..12),
        copied in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(varied);
        let mut bytes = WHOLE.clone();
        for (place, value, len) in places {
            let at = place.index(bytes.len() - 4);
            bytes[at..at + len.min(4)].copy_from_slice(&value[..len.min(4)]);
        }
        if let Some((from, to)) = copied {
            let (from, to) = (from.index(bytes.len() / 512) * 512, to.index(bytes.len() / 512) * 512);
            bytes.copy_within(from..from + 512, to);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.db");
        std::fs::write(&path, &bytes).unwrap();
        let options = CheckOptions { threads: 2, memory_bytes: 0, max_faults: 7, ..CheckOptions::default() };
        let report = check(&path, &options, &|done, total| {
            assert!(done <= total);
            Ok(())
        }).unwrap();
        prop_assert!(report.faults.len() <= 7 && report.faults_total >= report.faults.len() as u64);
    }
}
