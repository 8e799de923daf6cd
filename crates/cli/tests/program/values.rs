//! Stored values of columns that files lack, and of texts that SQLite changes.

use crate::{Room, json};

/// Number of rows in the file, which lacks some columns of the tables below.
const ROWS: u64 = 3000;

fn room_with_rows() -> Room {
    let room = Room::new();
    let rows: String = (0..ROWS).map(|row| format!("{row}\n")).collect();
    room.write("t.csv", format!("a\n{rows}"));
    room
}

/// A DEFAULT such as `(lower(hex(randomblob(8))))` was evaluated once a run: all rows got the same UUID, and a load with such
/// a primary key failed.
#[test]
fn every_row_has_a_default_of_its_own() {
    const UUID: &str = "DEFAULT (lower(hex(randomblob(8))))";
    for (definition, method) in [
        (format!("CREATE TABLE t (id INTEGER PRIMARY KEY, u TEXT NOT NULL {UUID}, a)"), "direct"),
        (format!("CREATE TABLE t (u TEXT PRIMARY KEY {UUID}, a); CREATE INDEX i ON t (a, u)"), "direct"),
        (format!("CREATE TABLE t (a, u TEXT NOT NULL {UUID} UNIQUE CHECK (length(u) = 16))"), "direct"),
        (format!("CREATE TABLE t (u TEXT PRIMARY KEY {UUID}, a) WITHOUT ROWID; CREATE INDEX i ON t (a)"), "direct"),
        (format!("CREATE TABLE t (a INTEGER, u TEXT NOT NULL {UUID}) STRICT; CREATE INDEX i ON t (u)"), "direct"),
        (format!("CREATE TABLE t (a, u TEXT {UUID}, g AS (u || a) STORED); CREATE INDEX i ON t (g)"), "evaluated"),
        (format!("CREATE TABLE t (a, u TEXT {UUID}); CREATE INDEX i ON t (u) WHERE a > 7"), "direct"),
    ] {
        let room = room_with_rows();
        room.write("s.sql", &definition);
        let plan = json(&room.done("plan t.db t.csv --schema s.sql --json"));
        assert_eq!(plan["steps"][0]["method"], method, "{definition}");
        let columns = plan["tables"][0]["columns"].as_array().unwrap();
        let why = "not in the file: SQLite evaluates its DEFAULT for every row, lower(hex(randomblob(8)))";
        assert!(columns.iter().any(|column| column["name"] == "u" && column["because"] == why), "{columns:?}");
        room.done("load t.db t.csv --schema s.sql --verify full --progress none");
        let distinct = "SELECT count(*), count(DISTINCT u), min(length(u)), max(length(u)) FROM t NOT INDEXED";
        assert_eq!(room.query("t.db", distinct), format!("{ROWS}|{ROWS}|16|16"), "{definition}");
    }
}

/// Values of such a DEFAULT get the affinity of their column, and a wrong one is an error with its reason.
#[test]
fn defaults_of_rows_are_values_as_any_others() {
    let room = room_with_rows();
    room.write(
        "s.sql",
        "CREATE TABLE t (a, r TEXT DEFAULT (abs(random() % 10)), c DEFAULT CURRENT_TIMESTAMP, d DEFAULT (1 + 1))",
    );
    room.done("load t.db t.csv --schema s.sql --verify full --progress none");
    let types = "SELECT DISTINCT typeof(r), length(r), typeof(c), d FROM t";
    assert_eq!(room.query("t.db", types), "text|1|text|2");
    assert_eq!(room.query("t.db", "SELECT count(DISTINCT r), count(DISTINCT c) FROM t"), "10|1");
    for (definition, why) in [
        ("(a, u NOT NULL DEFAULT (nullif(random() % 2, 0)))", "NULL in a NOT NULL column"),
        ("(a INT, u INT DEFAULT (hex(randomblob(2)) || 'x')) STRICT", "cannot be stored in an INTEGER column"),
        ("(a, u UNIQUE DEFAULT (random() % 2))", "UNIQUE"),
        ("(a, u DEFAULT (CAST(x'ff' || randomblob(1) AS TEXT)))", "SQLite cannot evaluate the default"),
        ("(a, u DEFAULT (changes()))", "its default calls changes()"),
    ] {
        room.write("s.sql", format!("CREATE TABLE t {definition}"));
        let error = room.run("load u.db t.csv --schema s.sql --progress none");
        assert!(error.code == Some(1) && error.err.contains(why), "{definition}: {error:?}");
        assert!(!room.path("u.db").exists(), "{definition}");
    }
}

/// With `--on-conflict replace` the DEFAULT replaces NULL, and is evaluated for every row.
#[test]
fn a_default_in_the_place_of_null_is_another_in_every_row() {
    let room = Room::new();
    room.write("t.ndjson", (0..200).map(|row| format!("{{\"k\":{row},\"u\":null}}\n")).collect::<String>());
    room.write("s.sql", "CREATE TABLE t (k PRIMARY KEY, u NOT NULL DEFAULT (hex(randomblob(8))))");
    room.done("load t.db t.ndjson --schema s.sql --on-conflict replace --verify full --progress none");
    assert_eq!(room.query("t.db", "SELECT count(DISTINCT u) FROM t WHERE length(u) = 16"), "200");
}

/// A text with a NUL behind digits stayed a text on written pages, which integrity_check reports. If SQLite inserted the row
/// it became a number, without a message.
#[test]
fn texts_with_a_nul_are_what_sqlite_stores_and_counted() {
    const STORED: &str = "integer|35\ninteger|37\ntext|780035";
    let room = Room::new();
    room.write("t.csv", b"i\n5\x006\n7\x00\nx\x005\n");
    room.write("t.ndjson", "{\"i\":\"5\\u00006\"}\n{\"i\":\"7\\u0000\"}\n{\"i\":\"x\\u00005\"}\n");
    room.write("text.sql", "CREATE TABLE t (i TEXT)");
    room.done("load text.db t.csv --schema text.sql --verify full --progress none");
    for definition in ["CREATE TABLE t (i NUMERIC)", "CREATE TABLE t (i NUMERIC, g AS (1) STORED)"] {
        room.write("s.sql", definition);
        for file in ["t.csv", "t.ndjson", "text.db"] {
            let load = format!("load t.db {file} --schema s.sql --verify full --overwrite --progress none");
            let out = room.done(&load);
            assert!(out.contains("cut 2 texts in numeric columns at a NUL character"), "{definition}, {file}: {out}");
            assert_eq!(json(&room.done(&format!("{load} --json")))["cut_texts"], 2);
            assert_eq!(room.query("t.db", "SELECT typeof(i), hex(i) FROM t"), STORED, "{definition}, {file}");
            room.done("check t.db --full");
        }
    }
    room.write("key.sql", "CREATE TABLE t (i INTEGER PRIMARY KEY)");
    room.write("t.csv", b"i\n5\x006\n7\n");
    let out = room.done("load t.db t.csv --schema key.sql --verify full --overwrite --progress none --json");
    assert_eq!((json(&out)["cut_texts"].as_u64(), room.query("t.db", "SELECT i FROM t")), (Some(1), "5\n7".to_owned()));
    let out = room.done("load t.db t.csv --verify full --overwrite --progress none --json");
    assert_eq!(json(&out)["cut_texts"], 0);
    assert_eq!(room.query("t.db", "SELECT typeof(i), hex(i) FROM t"), "text|350036\ntext|37");
}

/// An old SQLite keeps such texts. Their records were copied, which integrity_check of a new one reports, or it cut them without a word: the
/// number of rows decided.
#[test]
fn texts_with_a_nul_of_old_databases_are_cut_and_counted() {
    let room = Room::new();
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t(i) SELECT i FROM n";
    for definition in ["CREATE TABLE t (i NUMERIC)", "CREATE TABLE t (i NUMERIC, g AS (1) STORED)"] {
        for (rows, more) in [("3", ""), ("3003", many)] {
            let old = room.sqlite("old.db");
            let sql = format!(
                "DROP TABLE IF EXISTS t; {}; PRAGMA writable_schema = ON;
                 INSERT INTO t(i) VALUES ('5' || char(0) || '6'), ('7' || char(0)), ('x' || char(0) || '5');
                 UPDATE sqlite_schema SET sql = replace(sql, 'TEXT', 'NUMERIC')",
                definition.replace("NUMERIC", "TEXT")
            );
            old.execute_batch(&sql).unwrap();
            drop(old);
            room.sqlite("old.db").execute_batch(more).unwrap();
            let _ = std::fs::remove_file(room.path("a.db"));
            room.query("a.db", definition);
            for (target, load) in [("t.db", "--overwrite --verify full"), ("a.db", "--append")] {
                let out = room.done(&format!("load {target} old.db {load} --progress none --json"));
                assert_eq!(json(&out)["cut_texts"], 2, "{definition}, {load}");
                let first = room.query(target, "SELECT typeof(i), hex(i) FROM t ORDER BY rowid LIMIT 3");
                assert_eq!(first, "integer|35\ninteger|37\ntext|780035", "{definition}, {load}");
                assert_eq!(room.query(target, "SELECT count(*) FROM t"), rows);
                room.done(&format!("check {target} --full"));
            }
        }
    }
}
