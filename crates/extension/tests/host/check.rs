//! Faults of a database, as rows.

use crate::room::{Room, extended, failure, memory, rows};
use rusqlite::Connection;

#[test]
fn faults_are_rows() {
    let (room, sqlite) = (Room::new(), memory());
    let path = room.path("a.db");
    let sql = "CREATE TABLE t (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) INSERT INTO t SELECT i FROM n";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let check = format!("SELECT finding, page, object FROM litepress_check('{path}', 'full')");
    assert_eq!(rows(&sqlite, &check), [""; 0]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[3 * 4096 + 3..3 * 4096 + 5].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let found = rows(&sqlite, &check);
    assert!(found.iter().any(|row| row.contains(" 4 'table t'")), "{found:?}");
    assert!(found.iter().any(|row| row.contains("SQLite: ")), "{found:?}");
    let few = format!("SELECT count(*) FROM litepress_check('{path}', 'max-faults=1', 'threads=2')");
    assert!(rows(&sqlite, &few)[0].parse::<u32>().unwrap() <= 2);
}

#[test]
fn wrong_calls_are_refused() {
    let (room, sqlite) = (Room::new(), memory());
    let text = room.file("a.txt", "no database");
    for (arguments, part) in [
        ("".to_owned(), "no database is named"),
        (format!("('{text}', 'fully')"), "there is no option 'fully'"),
        (format!("('{}')", room.path("missing.db")), "missing.db"),
    ] {
        let message = failure(&sqlite, &format!("SELECT * FROM litepress_check{arguments}"));
        assert!(message.contains(part), "{message}");
    }
}

/// A check opened the database of its own connection, and closed it: the locks of the connection were gone.
#[test]
fn a_database_in_use_is_left_alone() {
    let room = Room::new();
    let path = room.path("a.db");
    let sqlite = extended(Connection::open(&path).unwrap());
    sqlite.execute_batch("CREATE TABLE t (a)").unwrap();
    let message = failure(&sqlite, &format!("SELECT * FROM litepress_check('{path}')"));
    assert!(message.contains("has the file open") && message.contains("integrity_check"), "{message}");
}
