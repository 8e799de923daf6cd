//! New databases from queries.

use crate::room::{Room, extended, failure, memory, rows};
use rusqlite::{Connection, functions::FunctionFlags};

const NUMBERS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000)";

fn source() -> Connection {
    let sqlite = memory();
    let sql = format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(20), price REAL, raw BLOB, any);
         {NUMBERS} INSERT INTO t SELECT i, 'name ' || i, i / 4.0, x'00' || i, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN 'a' END FROM n"
    );
    sqlite.execute_batch(&sql).expect("it works");
    sqlite
}

#[test]
fn a_query_becomes_a_database() {
    let (room, sqlite) = (Room::new(), source());
    let path = room.path("out.db");
    let print = format!("SELECT litepress_print('{path}', 'u', 'SELECT *, id * 2 AS twice FROM t ORDER BY id')");
    assert_eq!(rows(&sqlite, &print), ["10000"]);
    sqlite.execute("ATTACH ?1 AS out", [&path]).unwrap();
    assert_eq!(rows(&sqlite, "SELECT * FROM out.u"), rows(&sqlite, "SELECT *, id * 2 FROM t"));
    let types = rows(&sqlite, "SELECT name, type FROM pragma_table_info('u', 'out')");
    let expected =
        ["'id' 'INTEGER'", "'name' 'VARCHAR(20)'", "'price' 'REAL'", "'raw' 'BLOB'", "'any' ''", "'twice' ''"];
    assert_eq!(types, expected);
    assert_eq!(rows(&sqlite, "PRAGMA out.integrity_check"), ["'ok'"]);
    let again = print.replace("'u'", "'v'");
    assert!(failure(&sqlite, &again).contains("has the file open"));
    sqlite.execute_batch("DETACH out").unwrap();
    assert!(failure(&sqlite, &again).contains("'overwrite'"), "{}", failure(&sqlite, &again));
    let over = format!("SELECT litepress_print('{path}', 'v', 'SELECT 1 AS a', 'overwrite')");
    assert_eq!(rows(&sqlite, &over), ["1"]);
}

#[test]
fn options_define_the_table() {
    let (room, sqlite) = (Room::new(), source());
    let path = room.path("out.db");
    let print = format!(
        "SELECT litepress_print('{path}', 'u', 'SELECT id, name, price FROM t ORDER BY random()', 'primary-key=id', 'index=name',
         'not-null=price', 'type=name=TEXT', 'strict', 'page-size=8192')"
    );
    assert_eq!(rows(&sqlite, &print), ["10000"]);
    sqlite.execute("ATTACH ?1 AS out", [&path]).unwrap();
    let sql = rows(&sqlite, "SELECT group_concat(sql, ';') FROM out.sqlite_schema")[0]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(sql.contains("INTEGER PRIMARY KEY") && sql.contains("STRICT") && sql.contains("CREATE INDEX"), "{sql}");
    assert_eq!(rows(&sqlite, "PRAGMA out.page_size"), ["8192"]);
    let same = "SELECT count(*) FROM out.u JOIN t USING (id, name, price)";
    assert_eq!(rows(&sqlite, same), ["10000"]);

    let path = room.path("schema.db");
    let print = format!(
        "SELECT litepress_print('{path}', 'u', 'SELECT name, id FROM t', 'schema=CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT, more DEFAULT 7)')"
    );
    assert_eq!(rows(&sqlite, &print), ["10000"]);
    let made = Connection::open(&path).unwrap();
    assert_eq!(rows(&made, "SELECT * FROM u LIMIT 1"), ["1 'name 1' 7"]);
}

/// A file called `:memory:` was written.
#[test]
fn names_of_no_file_are_refused() {
    let sqlite = source();
    for name in [":memory:", ""] {
        let error =
            sqlite.query_row(&format!("SELECT litepress_print('{name}', 't', 'SELECT 1 AS a')"), [], |_| Ok(()));
        assert!(error.unwrap_err().to_string().contains("give it a name"), "{name}");
        assert!(!std::path::Path::new(":memory:").exists());
    }
}

#[test]
fn wrong_calls_leave_nothing() {
    let (room, sqlite) = (Room::new(), source());
    let path = room.path("out.db");
    for (arguments, part) in [
        ("'t'", "takes a file, a table and a query"),
        ("'t', 'SELECT'", "incomplete input"),
        ("'t', ''", "the query is empty"),
        ("'t', 'SELECT 1; SELECT 2'", "a second statement follows"),
        ("'t', 'DELETE FROM t'", "changes the database"),
        ("'t', 'PRAGMA user_version = 5'", "changes the database"),
        ("'t', 'SELECT * FROM nowhere'", "no such table: nowhere"),
        ("'t', 'SELECT abs(-9223372036854775807 - 1)'", "integer overflow"),
        ("'t', 'SELECT CAST(x''ff'' AS TEXT) AS a'", "not UTF-8"),
        ("'t', 'SELECT id FROM t UNION ALL SELECT 1', 'primary-key=id'", "UNIQUE constraint failed"),
        ("'t', 'SELECT NULL AS a', 'not-null=a'", "NULL in a NOT NULL column"),
        ("'t', 'SELECT 1 AS a', 'primary-key=b'", "b"),
        ("'t', 'SELECT 1 AS a', 'colour=red'", "there is no option 'colour=red'"),
        ("'t', 'SELECT 1 AS a', 'page-size=7'", "a page size is a power of two"),
        ("5, 'SELECT 1'", "the table of litepress_print is not a text"),
    ] {
        let message = failure(&sqlite, &format!("SELECT litepress_print('{path}', {arguments})"));
        assert!(message.contains(part), "{arguments}: {message}");
        assert_eq!(room.names(), [""; 0], "{arguments}");
    }
    let missing = format!("SELECT litepress_print('{}', 't', 'SELECT 1')", room.path("no/folder/out.db"));
    assert!(failure(&sqlite, &missing).contains("no/folder"));
    let trailing = format!("SELECT litepress_print('{path}', 't', 'SELECT 1 AS a; -- the end')");
    assert_eq!(rows(&sqlite, &trailing), ["1"]);
}

#[test]
fn columns_of_one_name_are_numbered() {
    let (room, sqlite) = (Room::new(), source());
    let path = room.path("out.db");
    rows(&sqlite, &format!("SELECT litepress_print('{path}', 'u', 'SELECT 1 AS a, 2 AS A, 3 AS a, 4')"));
    let made = Connection::open(&path).unwrap();
    assert_eq!(rows(&made, "SELECT name FROM pragma_table_info('u')"), ["'a'", "'A:1'", "'a:2'", "'4'"]);
    assert_eq!(rows(&made, "SELECT * FROM u"), ["1 2 3 4"]);
}

/// An interrupted query must not leave half a database.
#[test]
fn an_interruption_leaves_nothing() {
    let (room, sqlite) = (Room::new(), source());
    let handle = sqlite.get_interrupt_handle();
    let stop = move |context: &rusqlite::functions::Context<'_>| {
        if context.get::<i64>(0)? == 7000 {
            handle.interrupt();
        }
        context.get::<i64>(0)
    };
    sqlite.create_scalar_function("stop_at", 1, FunctionFlags::SQLITE_UTF8, stop).unwrap();
    let sql = format!("SELECT litepress_print('{}', 'u', 'SELECT stop_at(id) FROM t')", room.path("out.db"));
    assert!(failure(&sqlite, &sql).contains("interrupted"));
    assert_eq!(room.names(), [""; 0]);
}

#[test]
fn a_utf_16_database_is_printed_too() {
    let room = Room::new();
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite
        .execute_batch("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('grün'), ('')")
        .unwrap();
    let sqlite = extended(sqlite);
    let path = room.path("out.db");
    assert_eq!(rows(&sqlite, &format!("SELECT litepress_print('{path}', 'u', 'SELECT a, typeof(a) FROM t')")), ["2"]);
    assert_eq!(rows(&Connection::open(&path).unwrap(), "SELECT * FROM u"), ["'grün' 'text'", "'' 'text'"]);
    let file = room.file("ü.csv", "wörter\nschön\n");
    assert_eq!(
        rows(&sqlite, &format!("SELECT row, c1 FROM litepress_read('{file}')")),
        ["'{\"wörter\":\"schön\"}' 'schön'"]
    );
}

#[test]
fn a_query_over_files_needs_no_table_between() {
    let (room, sqlite) = (Room::new(), memory());
    let (file, path) = (room.file("a.csv", "k,v\n1,2\n1,3\n2,5\n"), room.path("out.db"));
    sqlite.execute(&format!("CREATE VIRTUAL TABLE temp.a USING litepress_read('{file}')"), []).unwrap();
    let print = format!("SELECT litepress_print('{path}', 'sums', 'SELECT k, sum(v) AS v FROM a GROUP BY k')");
    assert_eq!(rows(&sqlite, &print), ["2"]);
    assert_eq!(rows(&Connection::open(&path).unwrap(), "SELECT * FROM sums"), ["1 5", "2 5"]);
}
