//! Two SQLites in one process, locks, threads, and rights.

use crate::room::{Room, extended, failure, library, memory, rows};
use rusqlite::Connection;
use std::process::Command;

/// Functions of the SQLite within the library would take the place of the host's, or the other way round.
#[test]
fn the_library_shows_its_entry_points_only() {
    let Ok(output) = Command::new("nm").args(["-D", "--defined-only"]).arg(library()).output() else {
        println!("skipped: there is no nm");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    names.sort_unstable();
    assert_eq!(names, ["sqlite3_extension_init", "sqlite3_litepress_init"]);
    let undefined = Command::new("nm").args(["-D", "--undefined-only"]).arg(library()).output().unwrap();
    assert!(!String::from_utf8_lossy(&undefined.stdout).contains("sqlite3_"));
}

/// A second look at a database took the locks of the first: another program could write in the middle of a transaction.
#[test]
fn locks_of_the_host_stay() {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        println!("skipped: there is no sqlite3");
        return;
    }
    let room = Room::new();
    let (path, copy) = (room.path("a.db"), room.path("copy.db"));
    let sqlite = extended(Connection::open(&path).unwrap());
    sqlite.execute_batch("CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").unwrap();
    for sql in [
        format!("SELECT * FROM litepress_read('{path}')"),
        format!("SELECT * FROM litepress_read('{}')", room.path("*")),
        format!("SELECT * FROM litepress_read('{path}-journal')"),
        format!("CREATE VIRTUAL TABLE temp.x USING litepress_read('{path}')"),
        format!("SELECT * FROM litepress_check('{path}')"),
        format!("SELECT litepress_print('{path}', 't', 'SELECT 1', 'overwrite')"),
    ] {
        let message = failure(&sqlite, &sql);
        assert!(message.contains("this program has the file open"), "{sql}: {message}");
    }
    assert_eq!(rows(&sqlite, &format!("SELECT litepress_print('{copy}', 't', 'SELECT * FROM t')")), ["1"]);
    let other = Command::new("sqlite3").args([path.as_str(), "INSERT INTO t VALUES (2)"]).output().unwrap();
    assert!(String::from_utf8_lossy(&other.stderr).contains("locked"), "{other:?}");
    sqlite.execute_batch("COMMIT").unwrap();
    let other = Command::new("sqlite3").args([path.as_str(), "INSERT INTO t VALUES (2)"]).output().unwrap();
    assert!(other.status.success(), "{other:?}");
}

#[test]
fn databases_are_left_to_sqlite() {
    let (room, sqlite) = (Room::new(), memory());
    let path = room.path("a.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let message = failure(&sqlite, &format!("SELECT * FROM litepress_read('{path}')"));
    assert!(message.contains("SQLite database") && message.contains("ATTACH"), "{message}");
}

/// A database from elsewhere could have read files, or written them, through a view or a trigger.
#[test]
fn views_and_triggers_of_a_database_cannot_use_the_extension() {
    let (room, sqlite) = (Room::new(), memory());
    let file = room.file("a.csv", "a\n1\n");
    sqlite.execute_batch(&format!("CREATE VIEW v AS SELECT c1 FROM litepress_read('{file}')")).unwrap();
    assert!(failure(&sqlite, "SELECT * FROM v").contains("unsafe use"));
    sqlite
        .execute_batch(&format!("CREATE VIEW p AS SELECT litepress_print('{}', 't', 'SELECT 1')", room.path("p.db")))
        .unwrap();
    assert!(failure(&sqlite, "SELECT * FROM p").contains("unsafe use"));
    sqlite.execute_batch(&format!("CREATE TEMP VIEW w AS SELECT c1 FROM litepress_read('{file}')")).unwrap();
    assert_eq!(rows(&sqlite, "SELECT * FROM w"), ["1"]);
    assert_eq!(room.names(), ["a.csv"]);
}

#[test]
fn connections_of_several_threads_are_apart() {
    let room = Room::new();
    let text: String = (0..50_000).map(|row| format!("{row},name {row}\n")).collect();
    let file = room.file("a.csv", format!("id,name\n{text}"));
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (file, room) = (&file, &room);
            scope.spawn(move || {
                let sqlite = memory();
                for _ in 0..3 {
                    assert_eq!(rows(&sqlite, &format!("SELECT sum(c1) FROM litepress_read('{file}')")), ["1249975000"]);
                    assert_eq!(
                        rows(&sqlite, &format!("SELECT c2 FROM litepress_read('{file}') LIMIT 1")),
                        ["'name 0'"]
                    );
                }
                let out = room.path(&format!("{thread}.db"));
                let print =
                    format!("SELECT litepress_print('{out}', 't', 'SELECT c1 FROM litepress_read(''{file}'')')");
                assert_eq!(rows(&sqlite, &print), ["50000"]);
            });
        }
    });
}

/// A table stands in the schema of a database that is opened again, and its file is read anew.
#[test]
fn a_table_of_a_database_is_there_when_it_is_opened_again() {
    let room = Room::new();
    let (path, file) = (room.path("a.db"), room.file("a.csv", "a\n1\n"));
    let create = format!("CREATE VIRTUAL TABLE t USING litepress_read('{file}', null-value='1')");
    extended(Connection::open(&path).unwrap()).execute(&create, []).unwrap();
    let sqlite = extended(Connection::open(&path).unwrap());
    assert_eq!(rows(&sqlite, "SELECT * FROM t"), ["NULL"]);
    let plain = Connection::open(&path).unwrap();
    assert!(failure(&plain, "SELECT * FROM t").contains("no such module"));
    std::fs::remove_file(&file).unwrap();
    let sqlite = extended(Connection::open(&path).unwrap());
    assert!(failure(&sqlite, "SELECT * FROM t").contains("a.csv"));
    // SQLite connects a table before it drops it.
    assert!(failure(&sqlite, "DROP TABLE t").contains("a.csv"));
    room.file("a.csv", "a\n1\n");
    sqlite.execute_batch("DROP TABLE t").unwrap();
}

#[test]
fn versions_differ_and_both_sqlites_work() {
    let sqlite = memory();
    let version = rows(&sqlite, "SELECT litepress_version()");
    assert_eq!(version, [format!("'{}'", env!("CARGO_PKG_VERSION"))]);
}
