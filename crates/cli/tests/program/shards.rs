//! Many databases into one table by `litepress load`.

use crate::{LITEPRESS, Room, json};
use rusqlite::Connection;
use std::process::Command;

/// Values of every storage class, among them one that goes on on overflow pages.
const VALUES: &str = "(1, 'one', x'00ff', 1.5, NULL), (2, '', NULL, -0.0, '7'), (NULL, zeroblob(3), 'text', 3, 4.25),
    (9223372036854775807, printf('%.*c', 20000, 'x'), 1, 1e300, 'é'), (-5, '1.10', '007', 2.0, x'41')";

/// A table, as three databases have it.
struct Shape {
    /// Its CREATE statement in each.
    created: [&'static str; 3],
    /// Statements before the rows, in each: settings of the file.
    settings: [&'static str; 3],
    /// Statements after the rows.
    afterwards: &'static str,
    /// Query of the rows of each; `?1` is the number of the database.
    rows: String,
}

/// Makes `a.db`, `b.db` and `c.db`, loads them, and compares the rows with those of SQLite's INSERT ... SELECT.
fn assert_as_by_sqlite(shape: &Shape) {
    let room = Room::new();
    let expected = room.sqlite("expected.db");
    for (number, name) in ["a.db", "b.db", "c.db"].into_iter().enumerate() {
        let (created, settings) = (shape.created[number], shape.settings[number]);
        let made = room.sqlite(name);
        made.execute_batch(&format!("{settings}; {created}")).expect("a table");
        let rows = shape.rows.replace("?1", &number.to_string());
        made.execute_batch(&format!("INSERT INTO t ({COLUMNS}) {rows}; {}", shape.afterwards)).expect("rows");
        if number == 0 {
            let sql: String = made
                .query_row("SELECT sql FROM sqlite_schema WHERE name = 't'", [], |row| row.get(0))
                .expect("a table");
            expected.execute_batch(&sql).expect("a table");
        }
        let columns = columns_of(&made);
        let copy = format!("INSERT INTO main.t ({columns}) SELECT {columns} FROM shard.t NOT INDEXED");
        let path = room.path(name).display().to_string();
        if made.query_row("PRAGMA encoding", [], |row| row.get::<_, String>(0)).expect("a text") == "UTF-8" {
            expected.execute("ATTACH ? AS shard", [&path]).expect("a database");
            expected.execute_batch(&format!("{copy}; DETACH shard")).expect("rows");
        } else {
            // SQLite attaches only databases of the same encoding.
            copy_values(&made, &expected, &columns);
        }
    }
    room.done("load all.db a.db b.db c.db --verify full");
    let created = shape.created[0];
    assert_eq!(dump(&room.sqlite("all.db")), dump(&expected), "{created}");
    room.done("load one.db c.db a.db b.db --threads 1 --memory 64MiB");
    if created.contains("INTEGER PRIMARY KEY") && !created.contains("AS (") {
        let files = [room.path("all.db"), room.path("one.db")].map(|path| std::fs::read(path).expect("a file"));
        assert!(files[0] == files[1], "the order of the arguments and of the threads shows: {created}");
    }
}

/// Returns the names of the columns that are not generated.
fn columns_of(database: &Connection) -> String {
    let sql = "SELECT group_concat(name) FROM pragma_table_xinfo('t') WHERE hidden = 0";
    database.query_row(sql, [], |row| row.get(0)).expect("columns")
}

fn copy_values(from: &Connection, to: &Connection, columns: &str) {
    let count = columns.split(',').count();
    let mut insert =
        to.prepare(&format!("INSERT INTO t ({columns}) VALUES ({})", vec!["?"; count].join(","))).expect("a table");
    let mut select = from.prepare(&format!("SELECT {columns} FROM t")).expect("a table");
    let mut rows = select.query([]).expect("rows");
    while let Some(row) = rows.next().expect("a row") {
        let values = (0..count).map(|column| row.get::<_, rusqlite::types::Value>(column).expect("a value"));
        insert.execute(rusqlite::params_from_iter(values)).expect("a row");
    }
}

/// Returns all rows with their rowids and storage classes.
fn dump(database: &Connection) -> Vec<String> {
    let columns = columns_of(database);
    let shown: Vec<String> =
        columns.split(',').map(|column| format!("typeof({column}) || ' ' || quote({column})")).collect();
    let rowid = if database.prepare("SELECT rowid FROM t").is_ok() { "rowid" } else { "0" };
    let sql = format!("SELECT {rowid} || ': ' || {} FROM t NOT INDEXED", shown.join(" || ', ' || "));
    let mut statement = database.prepare(&sql).expect("a table");
    statement.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("texts")
}

const COLUMNS: &str = "i, t1, b, r, n";
const PLAIN: &str = "CREATE TABLE t (i INTEGER, t1 TEXT, b BLOB, r REAL, n NUMERIC)";
const SAME: [&str; 3] = [""; 3];
/// Settings of files that differ.
const SETTINGS: [&str; 3] = ["PRAGMA page_size = 512", "PRAGMA journal_mode = WAL", "PRAGMA page_size = 65536"];

/// Returns a query with the values, several times.
fn rows() -> String {
    format!("SELECT column1, column2, column3, column4, column5 FROM (VALUES {VALUES}), json_each('[1, 2, 3]')")
}

/// Returns a query with the values, and keys that differ by database.
fn keyed_rows() -> String {
    let key = "?1 * 1000 + row_number() OVER () * 3";
    format!("SELECT {key}, column2, column3, column4, column5 FROM (VALUES {VALUES})")
}

/// SQLite stepped through one database after another on one core. Now records are taken as they are stored, which must not show.
#[test]
fn databases_with_keys_become_what_sqlite_makes_of_them() {
    for (created, settings, afterwards) in [
        (
            "CREATE TABLE t (i INTEGER PRIMARY KEY, t1 TEXT, b, r REAL, n NUMERIC); CREATE INDEX x ON t (b)",
            SETTINGS,
            "",
        ),
        ("CREATE TABLE t (i INTEGER PRIMARY KEY AUTOINCREMENT, t1, b, r, n)", SAME, "DELETE FROM t WHERE i % 2 = 0"),
        ("CREATE TABLE t (i, t1, b, r, n, PRIMARY KEY (i)) WITHOUT ROWID", SETTINGS, ""),
        ("CREATE TABLE t (i INTEGER PRIMARY KEY, t1, b, r, n, g AS (i * 2) STORED, v AS (i + 1))", SAME, ""),
    ] {
        assert_as_by_sqlite(&Shape { created: [created; 3], settings, afterwards, rows: keyed_rows() });
    }
}

#[test]
fn databases_without_keys_become_what_sqlite_makes_of_them() {
    let later =
        "ALTER TABLE t ADD COLUMN later TEXT NOT NULL DEFAULT 1.10; ALTER TABLE t ADD COLUMN n2 INTEGER DEFAULT '7'";
    let others = ["CREATE TABLE t (n NUMERIC, r REAL, b BLOB, t1 TEXT, i INTEGER)", "CREATE TABLE t (i, t1, b, r, n)"];
    for (created, settings, afterwards) in [
        ([PLAIN; 3], SETTINGS, ""),
        ([PLAIN; 3], SAME, later),
        ([PLAIN; 3], ["", "PRAGMA encoding = 'UTF-16'", ""], ""),
        ([PLAIN, others[0], others[1]], SAME, ""),
    ] {
        assert_as_by_sqlite(&Shape { created, settings, afterwards, rows: rows() });
    }
    let strict = "CREATE TABLE t (i INTEGER, t1 TEXT CHECK (t1 IS NOT 'no'), b ANY, r REAL, n ANY) STRICT";
    let rows = "SELECT value, 'x' || value, value % 2, value * 0.5, NULL FROM json_each('[1, 2, 3]')".to_owned();
    assert_as_by_sqlite(&Shape { created: [strict; 3], settings: SAME, afterwards: "", rows });
}

/// All sources were open from the beginning to the end: `unable to open database file`.
#[test]
fn thousands_of_databases_need_few_files() {
    let room = Room::new();
    std::fs::create_dir(room.path("shards")).expect("a folder");
    let sql = "CREATE TABLE t (a TEXT, b); INSERT INTO t VALUES ('x', 1), ('y', 2)";
    room.sqlite("shards/0000.db").execute_batch(sql).expect("a database");
    room.sqlite("shards/0001.db").execute_batch(&format!("PRAGMA journal_mode = WAL; {sql}")).expect("a database");
    for shard in 2..3000 {
        let from = room.path(format!("shards/{:04}.db", shard % 2));
        std::fs::copy(from, room.path(format!("shards/{shard:04}.db"))).expect("a copy");
    }
    let run = format!("ulimit -n 256 && exec '{LITEPRESS}' load all.db shards/*.db --memory 64MiB --json");
    let ended = Command::new("sh").args(["-c", &run]).current_dir(room.path("")).output().expect("a shell");
    assert!(ended.status.success(), "{ended:?}");
    let report = json(&String::from_utf8(ended.stdout).expect("UTF-8"));
    assert_eq!(report["rows"], 6000, "{report}");
    assert!(report["peak_memory_bytes"].as_u64().expect("a number") < 150 << 20, "{report}");
    assert_eq!(
        room.query("all.db", "SELECT count(*), count(DISTINCT rowid), max(rowid), sum(b) FROM t"),
        "6000|6000|6000|9000"
    );
    assert_eq!(room.query("all.db", "PRAGMA integrity_check"), "ok");
    let files = std::fs::read_dir(room.path("shards")).expect("the folder").count();
    assert_eq!(files, 3000, "no file is left beside them");
}

/// Rows of shards that overlap are sorted, and a key that stands twice is an error that names both files.
#[test]
fn shards_that_overlap_are_sorted() {
    let room = Room::new();
    let create = "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t (a)";
    for (name, ids) in [("a.db", "[1, 5, 9]"), ("b.db", "[2, 6]"), ("c.db", "[]"), ("d.db", "[9, 10]")] {
        let rows = format!("INSERT INTO t SELECT value, '{name}' FROM json_each('{ids}')");
        room.sqlite(name).execute_batch(&format!("{create}; {rows}")).expect("a database");
    }
    room.done("load all.db b.db c.db a.db");
    assert_eq!(room.query("all.db", "SELECT group_concat(id) FROM t"), "1,2,5,6,9");
    assert_eq!(room.query("all.db", "PRAGMA integrity_check"), "ok");
    let ended = room.run("load twice.db a.db d.db");
    assert!(ended.code == Some(1) && ended.err.contains("d.db"), "{ended:?}");
    room.done("load first.db a.db d.db --on-conflict ignore");
    assert_eq!(room.query("first.db", "SELECT group_concat(id || a) FROM t"), "1a.db,5a.db,9a.db,10d.db");
    room.done("load last.db d.db a.db --on-conflict replace");
    assert_eq!(room.query("last.db", "SELECT group_concat(id || a) FROM t"), "1a.db,5a.db,9a.db,10d.db");
    room.done("load some.db d.db b.db a.db --limit 3");
    assert_eq!(room.query("some.db", "SELECT group_concat(id) FROM t"), "2,9,10");
}

/// Shards that were generated apart, merged, are the database that one machine generates.
#[test]
fn generated_shards_make_the_whole() {
    let room = Room::new();
    let options = "--preset user --rows 30k --seed 7";
    room.done(&format!("generate whole.db {options}"));
    for shard in 1..=4 {
        room.done(&format!("generate {shard}.db {options} --shard {shard}/4"));
    }
    room.done("merge merged.db 4.db 2.db 1.db 3.db");
    room.done("load loaded.db 4.db 2.db 1.db 3.db");
    let rows = |name| room.query(name, "SELECT id, quote(area), age, active FROM user ORDER BY id");
    assert!(rows("merged.db") == rows("whole.db") && rows("loaded.db") == rows("whole.db"));
    let schema = |name| room.query(name, "SELECT sql FROM sqlite_schema ORDER BY 1");
    assert_eq!((schema("merged.db"), schema("loaded.db")), (schema("whole.db"), schema("whole.db")));
}

/// The table is that of the first database. Records of others that break its rules are errors, though theirs allow them.
#[test]
fn the_rules_of_the_first_database_hold_for_all() {
    for (rule, row, message) in [
        ("a INTEGER CHECK (a < 10), b", "(10, 'x')", "CHECK"),
        ("a INTEGER NOT NULL, b", "(NULL, 'x')", "NOT NULL"),
        ("a INTEGER UNIQUE, b", "(1, 'y')", "UNIQUE"),
        ("a INTEGER, b, CHECK (b IS NOT 'x' OR a = 1)", "(2, 'x')", "CHECK"),
    ] {
        let room = Room::new();
        let first = format!("CREATE TABLE t ({rule}); INSERT INTO t VALUES (1, 'x')");
        room.sqlite("a.db").execute_batch(&first).expect("a database");
        room.sqlite("b.db")
            .execute_batch(&format!("CREATE TABLE t (a INTEGER, b); INSERT INTO t VALUES {row}"))
            .expect("a database");
        let ended = room.run("load all.db a.db b.db");
        assert!(
            ended.code == Some(1) && ended.err.contains(message) && ended.err.contains("b.db"),
            "{rule}: {ended:?}"
        );
        assert_eq!(room.files(), ["a.db", "b.db"]);
        room.done("load all.db a.db b.db --on-error reject --rejects wrong.jsonl");
        assert_eq!(room.query("all.db", "SELECT group_concat(a || b) FROM t"), "1x", "{rule}");
    }
}
