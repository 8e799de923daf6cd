//! Rows under another schema than theirs, and schemas that do not hold.

use super::{Made, checked, faults, made};
use litepress_check::sqlite_integrity_check;
use std::time::{Duration, Instant};

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

/// Returns a database with a broken CHECK constraint, and with a full-text index that disagrees with its table.
fn made_of_unseen() -> Made {
    made(
        "CREATE TABLE c(a, CHECK (a > 0)); CREATE TABLE plain(a);
         CREATE TRIGGER g AFTER INSERT ON plain BEGIN INSERT INTO c VALUES (1); END;
         PRAGMA ignore_check_constraints = ON; INSERT INTO c VALUES (-1);
         CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('word'); UPDATE f_content SET c0 = 'other'",
    )
}

/// A key that a changed definition makes has no index. The check called such a database sound, and SQLite could not read the table.
#[test]
fn a_key_without_its_index_is_a_fault() {
    for (from, to) in [("INTEGER", "d INTEGER"), ("b)", "b UNIQUE)"), ("b)", "b, UNIQUE(b, a))")] {
        let made = made("CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 2)");
        made.redefine("t", from, to);
        assert_ne!(sqlite_integrity_check(&made.path, 10).unwrap(), [""; 0]);
        made.assert_fault("table t: sqlite_schema has no b-tree of it for the index sqlite_autoindex_t_1");
    }
    let made = made("CREATE TABLE t(a PRIMARY KEY, b UNIQUE) WITHOUT ROWID; INSERT INTO t VALUES (1, 2)");
    made.assert_clean("a primary key that is the table");
    made.connection()
        .execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_t_2'")
        .unwrap();
    made.assert_fault("table t: sqlite_schema has no b-tree of it for the index sqlite_autoindex_t_2");
}

#[test]
fn a_schema_that_sqlite_cannot_read_leaves_the_structure_to_check() {
    let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    made.redefine("t", "CREATE TABLE", "CREATE NOTHING");
    let report = checked(&made.path);
    assert!(report.faults[0].what.starts_with("SQLite cannot read the schema"), "{:#?}", report.faults);
    assert_eq!((report.faults_total, report.btrees[1].entries), (1, 1));
}

/// A table or view with the name of a function by which SQLite tells a schema hid that function, and the check called every table
/// unreadable.
#[test]
fn objects_with_names_of_functions_hide_nothing() {
    for kind in ["table_list", "table_xinfo", "index_list", "index_xinfo", "foreign_key_list"] {
        for object in ["TABLE pragma_$(x)", "VIEW pragma_$ AS SELECT 1 AS x"] {
            let object = object.replace('$', kind);
            let made = made(&format!(
                "CREATE TABLE t(a PRIMARY KEY, b REFERENCES t); INSERT INTO t VALUES (1, 1); CREATE {object}"
            ));
            let report = made.assert_clean(&object);
            assert_eq!(report.notes, [""; 0], "{object}");
        }
    }
}

/// Programs that wrote Latin-1 left names, types and defaults that are no UTF-8. SQLite does not mind, and the check called their
/// tables unreadable; one name was enough for all tables.
#[test]
fn definitions_that_are_no_utf_8_are_notes() {
    for (sql, note) in [
        ("CREATE TABLE t(grQn PRIMARY KEY, b)", "table t: its definition is not valid UTF-8"),
        ("CREATE TABLE t(a PRIMARY KEY, b grQn)", "table t: its definition is not valid UTF-8"),
        ("CREATE TABLE t(a PRIMARY KEY, b DEFAULT 'grQn')", "table t: its definition is not valid UTF-8"),
        ("CREATE TABLE t(a); CREATE INDEX \"grQn\" ON t(a)", "table t: its definition is not valid UTF-8"),
        ("CREATE TABLE \"grQn\"(a PRIMARY KEY)", "table gr\u{fffd}n: its definition is not valid UTF-8"),
        ("CREATE VIRTUAL TABLE f USING fts5(\"grQn\")", "full-text table f: not checked"),
        (
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (1);
          INSERT INTO sqlite_sequence VALUES ('grQn', 1); CREATE VIEW \"grQn\" AS SELECT 1",
            "",
        ),
    ] {
        let made = made(&format!("CREATE TABLE u(a UNIQUE); INSERT INTO u VALUES (1); {sql}"));
        made.patch(|bytes| {
            let places: Vec<usize> = (0..bytes.len() - 4).filter(|at| &bytes[*at..at + 4] == b"grQn").collect();
            places.iter().for_each(|at| bytes[at + 2] = 0xfc);
        });
        let report = made.assert_clean(sql);
        assert!(
            note.is_empty() || report.notes.iter().any(|told| told.starts_with(note)),
            "{sql}: {:#?}",
            report.notes
        );
        assert!(report.notes.iter().all(|note| !note.contains(" u")), "{sql}: {:#?}", report.notes);
    }
}

/// SQLite compiles all views to list the tables, and a view of views of views stands for thousands of tables: such a file of 16 kB
/// kept the check busy for hours.
#[test]
fn views_of_views_take_no_time() {
    let views = (1..=14).map(|level| format!("CREATE VIEW v{level} AS SELECT a.x FROM v{0} a, v{0} b;", level - 1));
    let tops = (0..50).map(|number| format!("CREATE VIEW top{number} AS SELECT x FROM v14;"));
    let sql: String = views.chain(tops).collect();
    let made = made(&format!("CREATE TABLE t(x UNIQUE); CREATE VIEW v0 AS SELECT x FROM t; {sql}"));
    let started = Instant::now();
    made.assert_clean("views of views");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

/// Rows that end before a column have its DEFAULT, and the check believed that it suits the column.
#[test]
fn values_of_no_record_are_judged() {
    for column in ["c INT DEFAULT 'x'", "c INT DEFAULT 1.5", "c TEXT DEFAULT x'00'", "c ANY NOT NULL DEFAULT NULL"] {
        // An older SQLite lets ALTER TABLE add such a column.
        let made = made("CREATE TABLE t(a INT) STRICT; INSERT INTO t VALUES (1)");
        made.redefine("t", "a INT", &format!("a INT, {column}"));
        assert_ne!(sqlite_integrity_check(&made.path, 10).unwrap(), [""; 0], "{column}");
        made.assert_fault("the record ends before t.c");
    }
    for column in
        ["c INT DEFAULT '5'", "c REAL DEFAULT 1", "c ANY DEFAULT x'00'", "c TEXT DEFAULT 5", "c BLOB DEFAULT NULL"]
    {
        let made =
            made(&format!("CREATE TABLE t(a INT) STRICT; INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN {column}"));
        made.assert_clean(column);
    }
    let computed =
        made("CREATE TABLE t(a INT, c INT AS (a) NOT NULL, d ANY AS (a)) STRICT; INSERT INTO t(a) VALUES (1)");
    let report = computed.assert_clean("computed columns");
    let told =
        "table t: its computed column c is not checked against its type and NOT NULL; SQLite's integrity_check does";
    assert_eq!(report.notes, [told]);
}

/// SQLite counts the entries of partial indexes no longer, since 3.46 or so: entries of rows that are not in the index gave wrong
/// results of queries, and `--full` said ok.
#[test]
fn entries_that_a_partial_index_should_not_have_are_found_in_full() {
    let made = made("CREATE TABLE t(a, b); CREATE INDEX i ON t(a); INSERT INTO t VALUES (1, 2), (3, 9)");
    made.redefine("i", "(a)", "(a) WHERE b > 5");
    let told = "index i: 2 entries for the 1 rows that its WHERE is true for";
    assert_eq!(sqlite_integrity_check(&made.path, 10).unwrap(), [told]);
    made.connection().execute_batch("REINDEX i").unwrap();
    made.assert_noted("index i: entries against rows (a partial index)");
}

/// The bundled SQLite knew no mathematical functions, which the sqlite3 of Debian and of Python know.
#[test]
fn indexes_of_square_roots_are_read() {
    let made = made("CREATE TABLE t(a, b AS (pow(a, 2))); INSERT INTO t VALUES (4); CREATE INDEX i ON t(sqrt(a))");
    made.assert_noted("index i: the values of its expressions");
}
