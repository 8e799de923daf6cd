//! Keys of every kind without annotations: they must not repeat.

use crate::{Room, json};

/// Ten tables: keys of one and of several columns, of numbers and texts, with and without rowids.
const SCHEMA: &str = "\
CREATE TABLE country (code CHAR(8) PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE person (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email VARCHAR(80) NOT NULL UNIQUE COLLATE NOCASE,
  country TEXT REFERENCES country(code),
  manager INTEGER REFERENCES person(id),
  UNIQUE (country, email)
);
CREATE TABLE profile (person INTEGER PRIMARY KEY REFERENCES person(id), bio TEXT, avatar BLOB UNIQUE);
CREATE TABLE course (id INTEGER PRIMARY KEY, title TEXT NOT NULL, term TEXT NOT NULL, UNIQUE (term, title)) STRICT;
CREATE TABLE enrolment (
  person INTEGER NOT NULL REFERENCES person(id),
  course INTEGER NOT NULL REFERENCES course(id),
  grade REAL,
  PRIMARY KEY (person, course)
) WITHOUT ROWID;
CREATE TABLE follows (
  follower INTEGER REFERENCES person,
  followed INTEGER REFERENCES person,
  since DATE,
  UNIQUE (followed, follower)
);
CREATE TABLE lesson (
  course INTEGER NOT NULL REFERENCES course,
  number INTEGER NOT NULL,
  room REAL UNIQUE,
  PRIMARY KEY (course, number)
) WITHOUT ROWID;
CREATE TABLE attendance (
  person INTEGER NOT NULL REFERENCES person(id),
  course INTEGER NOT NULL REFERENCES course(id),
  place INTEGER NOT NULL REFERENCES place(id),
  PRIMARY KEY (place, person, course)
);
CREATE TABLE place (id INT NOT NULL PRIMARY KEY DESC, x NUMERIC, y NUMERIC, UNIQUE (x, y));
CREATE TABLE note (uuid TEXT PRIMARY KEY, author INTEGER REFERENCES profile(person), body TEXT, UNIQUE (author, uuid));
CREATE UNIQUE INDEX note_body ON note(body DESC);
CREATE INDEX person_country ON person(country);
";

const ROWS: [(&str, u64); 10] = [
    ("country", 200),
    ("person", 1500),
    ("profile", 1500),
    ("course", 40),
    ("enrolment", 20_000),
    ("follows", 30_000),
    ("lesson", 5000),
    ("attendance", 40_000),
    ("place", 30),
    ("note", 3000),
];

/// A key of two foreign keys repeated: SQLite would have refused the table.
#[test]
fn ten_tables_without_annotations() {
    let room = Room::with_schema(SCHEMA);
    let rows: Vec<String> = ROWS.iter().map(|(table, rows)| format!("--rows {table}={rows}")).collect();
    for options in ["--threads 1", "--threads 2 --page-size 512 --overwrite --verify full"] {
        room.done(&format!("generate k.db schema.sql {} {options}", rows.join(" ")));
        for (table, rows) in ROWS {
            assert_eq!(room.query("k.db", &format!("SELECT count(*) FROM {table}")), rows.to_string());
        }
        assert_eq!(room.query("k.db", "PRAGMA integrity_check"), "ok");
        assert_eq!(room.query("k.db", "PRAGMA foreign_key_check"), "");
    }
    let counts = "SELECT count(DISTINCT person), count(DISTINCT course) FROM enrolment";
    assert_eq!(room.query("k.db", counts), "1500|40", "foreign keys of a key use their parents' rows evenly");
}

/// An INTEGER PRIMARY KEY had to ascend.
#[test]
fn shuffled_rowids() {
    let sql = "CREATE TABLE p (id INTEGER PRIMARY KEY AUTOINCREMENT, /* gen: shuffle */ a TEXT);
        CREATE TABLE c (id INTEGER PRIMARY KEY, /* gen: sequence(9, -2) */ p INTEGER NOT NULL REFERENCES p);";
    let room = Room::with_schema(&sql.replace(", /*", " /*").replace("*/ ", "*/, "));
    room.done("generate s.db schema.sql --rows p=100k --rows c=50k --verify full");
    assert_eq!(room.query("s.db", "SELECT count(*), min(id), max(id) FROM p"), "100000|1|100000");
    assert_eq!(room.query("s.db", "SELECT count(*), min(id), max(id) FROM c"), "50000|-99989|9");
    assert_eq!(room.query("s.db", "SELECT seq FROM sqlite_sequence"), "100000");
    assert_eq!(room.query("s.db", "PRAGMA integrity_check"), "ok");
    assert_eq!(room.query("s.db", "PRAGMA foreign_key_check"), "");
}

/// Few ids for many rows are an error, unless `--on-conflict` decides which rows stay.
#[test]
fn ids_that_repeat() {
    let room = Room::with_schema(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, -- gen: int(1, 100)
           n INTEGER -- gen: sequence
         );",
    );
    assert!(room.run("generate t.db schema.sql --rows 50k").err.contains("distinct integers"));
    let mut sums = Vec::new();
    for policy in ["ignore", "replace"] {
        room.done(&format!("generate t.db schema.sql --rows 50k --on-conflict {policy} --overwrite --verify full"));
        assert_eq!(room.query("t.db", "SELECT count(*), min(id), max(id) FROM t"), "100|1|100");
        sums.push(room.query("t.db", "SELECT sum(n) FROM t").parse::<i64>().unwrap());
    }
    assert!(sums[0] < 100 * 2000 && sums[1] > 100 * 48_000, "the first rows, then the last ones: {sums:?}");
}

#[test]
fn numbers_of_rows_are_the_same_everywhere() {
    let room = Room::with_schema("-- gen: rows=1.001k\nCREATE TABLE t (a INTEGER);");
    assert_eq!(json(&room.done("plan schema.sql --json"))["rows"], 1001);
    assert_eq!(json(&room.done("plan schema.sql --rows 1.001k --json"))["rows"], 1001);
}
