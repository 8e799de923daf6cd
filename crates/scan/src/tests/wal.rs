//! Databases in WAL mode, while others write and checkpoint.

use super::{Database, check_tables, root, select, table_rows, tables};
use crate::Snapshot;
use litepress_rows::ErrorKind;
use rusqlite::types::Value as Stored;
use std::sync::atomic::{AtomicBool, Ordering};

fn wal_database(rows: u32) -> Database {
    Database::new(&("PRAGMA journal_mode = wal; BEGIN;".to_owned() + &tables(rows) + "COMMIT"))
}

const NO_CHECKPOINT: &str = "PRAGMA wal_autocheckpoint = 0;";

#[test]
fn pages_of_the_log_are_read_there() {
    for page_size in [512, 4096, 65536] {
        let sql = format!("PRAGMA page_size = {page_size}; PRAGMA journal_mode = wal; BEGIN;");
        let database = Database::new(&(sql + &tables(700) + "COMMIT"));
        let writer = database.connect();
        writer.execute_batch(NO_CHECKPOINT).unwrap();
        writer.execute_batch("UPDATE t SET c = 'new' WHERE b % 5 = 0; DELETE FROM w WHERE n % 4 = 0").unwrap();
        let connection = database.connect();
        let snapshot = Snapshot::begin(&connection).unwrap();
        assert!(snapshot.reads_wal());
        check_tables(&connection, &snapshot);
        // Later commits are not seen, whether they are in the log or checkpointed as far as that is possible.
        writer.execute_batch("DELETE FROM t; DROP TABLE w; VACUUM; PRAGMA wal_checkpoint(PASSIVE)").unwrap();
        check_tables(&connection, &snapshot);
        assert_eq!(select(&writer, "SELECT count(*) FROM t"), [[Stored::Integer(0)]]);
    }
}

/// A database can consist of its log alone.
#[test]
fn a_file_that_was_never_checkpointed() {
    let database = Database::new("");
    let writer = database.connect();
    writer
        .execute_batch(&(NO_CHECKPOINT.to_owned() + "PRAGMA journal_mode = wal; BEGIN;" + &tables(700) + "COMMIT"))
        .unwrap();
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection).unwrap();
    assert!(std::fs::metadata(&database.path).unwrap().len() < 10_000);
    check_tables(&connection, &snapshot);
}

#[test]
fn frames_that_were_rolled_back_are_not_read() {
    let database = wal_database(700);
    let writer = database.connect();
    // A small cache spills frames to the log before the transaction ends.
    writer
        .execute_batch(&(NO_CHECKPOINT.to_owned() + "PRAGMA cache_size = 5; UPDATE t SET c = 1 WHERE b % 9 = 0"))
        .unwrap();
    writer.execute_batch("BEGIN; UPDATE t SET c = zeroblob(3000); UPDATE w SET v = 'x'").unwrap();
    let connection = database.connect();
    let while_open = Snapshot::begin(&connection).unwrap();
    check_tables(&connection, &while_open);
    writer.execute_batch("ROLLBACK").unwrap();
    check_tables(&connection, &while_open);
    connection.execute_batch("COMMIT").unwrap();
    let snapshot = Snapshot::begin(&connection).unwrap();
    check_tables(&connection, &snapshot);
    // New frames overwrite those that were rolled back.
    writer.execute_batch("UPDATE t SET c = 2 WHERE b % 4 = 0").unwrap();
    check_tables(&connection, &snapshot);
}

/// If all of the log is in the file, the reader holds no mark of the log, and a writer starts it again from its beginning.
#[test]
fn a_log_that_is_restarted_under_its_reader() {
    let database = wal_database(700);
    let writer = database.connect();
    writer.execute_batch("UPDATE t SET c = 1 WHERE b % 9 = 0; PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection).unwrap();
    assert!(!snapshot.reads_wal());
    writer.execute_batch("UPDATE t SET c = 2; DELETE FROM w; PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    check_tables(&connection, &snapshot);
    connection.execute_batch("COMMIT").unwrap();
    let snapshot = Snapshot::begin(&connection).unwrap();
    assert!(snapshot.reads_wal());
    check_tables(&connection, &snapshot);
}

/// Some frames are backfilled when the scan begins, and more of them while it reads.
#[test]
fn checkpoints_in_part() {
    let database = wal_database(700);
    let (writer, old) = (database.connect(), database.connect());
    writer.execute_batch(&(NO_CHECKPOINT.to_owned() + "UPDATE t SET c = 1 WHERE b % 3 = 0")).unwrap();
    old.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
    writer.execute_batch("UPDATE t SET c = 2 WHERE b % 4 = 0; DELETE FROM w WHERE n % 3 = 0").unwrap();
    writer.execute_batch("PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection).unwrap();
    assert!(snapshot.reads_wal());
    check_tables(&connection, &snapshot);
    old.execute_batch("COMMIT").unwrap();
    writer.execute_batch("UPDATE t SET c = 3; PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    check_tables(&connection, &snapshot);
}

/// A writer that commits without a pause: every snapshot is one commit, in which all rows have the same number.
#[test]
fn snapshots_while_a_writer_commits() {
    let database = Database::new(
        "PRAGMA journal_mode = wal; CREATE TABLE t (a, pad);
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
         INSERT INTO t SELECT 0, zeroblob(700) FROM n",
    );
    let stopped = AtomicBool::new(false);
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let writer = database.connect();
            writer.execute_batch("PRAGMA synchronous = off; PRAGMA wal_autocheckpoint = 20").unwrap();
            while !stopped.load(Ordering::Relaxed) {
                writer.execute_batch("UPDATE t SET a = a + 1").unwrap();
            }
        });
        let connection = database.connect();
        let root = root(&connection, "t");
        for _ in 0..60 {
            let snapshot = Snapshot::begin(&connection).unwrap();
            let rows = table_rows(&snapshot, root, "t").unwrap();
            assert_eq!(rows, select(&connection, "SELECT rowid, * FROM t"));
            assert!(rows.iter().all(|row| row[1] == rows[0][1]));
            seen.push(rows[0][1].clone());
            connection.execute_batch("COMMIT").unwrap();
        }
        stopped.store(true, Ordering::Relaxed);
    });
    seen.dedup();
    assert!(seen.len() > 5, "the writer wrote meanwhile");
}

/// Its wal-index is in the memory of the connection, and asking for it would make a file.
#[test]
fn an_exclusive_connection_is_refused() {
    let database = wal_database(10);
    let connection = database.connect();
    connection.execute_batch("PRAGMA locking_mode = exclusive; SELECT count(*) FROM t").unwrap();
    let error = Snapshot::begin(&connection).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(connection.is_autocommit(), "the transaction ended");
    let memory = rusqlite::Connection::open_in_memory().unwrap();
    assert_eq!(Snapshot::begin(&memory).unwrap_err().kind(), ErrorKind::Unsupported);
}
