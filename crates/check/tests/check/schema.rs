//! Rows under another schema than theirs, and schemas that do not hold.

use super::{Made, checked, faults, made};
use litepress_check::sqlite_integrity_check;

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
