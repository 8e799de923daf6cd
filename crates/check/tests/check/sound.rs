//! What SQLite makes is clean.

use super::{checked, made, series};
use litepress_check::{CheckOptions, check};
use std::io::Write;
use std::path::Path;

const PAGE_SIZES: [u32; 8] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

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
