//! Defaults of columns that were added to tables with rows.

use super::{faults, made};
use litepress_check::{BtreeKind, sqlite_integrity_check};
use std::io::Write;
use std::process::{Command, Stdio};

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
            // It takes a DEFAULT that does not suit the type, and finds fault with its value in the rows.
            let told = sqlite_integrity_check(&old, 1000).unwrap();
            let is_told = |fault: &String| {
                let column =
                    fault.split_once("the record ends before ").map(|(_, column)| format!("value in {column}"));
                column.is_some_and(|column| told.iter().any(|line| line.ends_with(&column)))
            };
            let unexpected: Vec<String> = faults(&old).into_iter().filter(|fault| !is_told(fault)).collect();
            assert_eq!(unexpected, [""; 0], "{declared} in {encoding}, by the sqlite3 of the system");
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
