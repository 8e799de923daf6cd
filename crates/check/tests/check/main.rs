//! Tests the verifier of databases: what SQLite makes is clean, what is broken is found, and no file makes it panic or
//! hang.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod damage;
mod defaults;
mod header;
mod pages;
mod run;
mod schema;
mod sound;
mod virtual_tables;

use litepress_check::{CheckOptions, Report, check, sqlite_integrity_check};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Checks with one thread and with three. Both must find the same.
fn checked(path: &Path) -> Report {
    let run = |threads| check(path, &CheckOptions { threads, ..CheckOptions::default() }, &|_, _| Ok(())).unwrap();
    let (serial, parallel) = (run(1), run(3));
    assert_eq!(serial.faults, parallel.faults);
    assert_eq!(serial.notes, parallel.notes);
    assert_eq!(serial.btrees, parallel.btrees);
    serial
}

fn faults(path: &Path) -> Vec<String> {
    checked(path).faults.iter().map(ToString::to_string).collect()
}

/// A database that SQLite makes of `sql`, in its own folder.
struct Made {
    _folder: TempDir,
    path: PathBuf,
}

fn made(sql: &str) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(sql).unwrap();
    drop(connection);
    Made { _folder: folder, path }
}

impl Made {
    fn connection(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    /// Changes the bytes of the file.
    fn patch(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(&self.path).unwrap();
        change(&mut bytes);
        std::fs::write(&self.path, bytes).unwrap();
    }

    /// Makes the schema differ from the one under which the rows were written.
    fn redefine(&self, name: &str, from: &str, to: &str) {
        let connection = self.connection();
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        let sql = "UPDATE sqlite_schema SET sql = replace(sql, ?2, ?3) WHERE name = ?1";
        assert_eq!(connection.execute(sql, [name, from, to]).unwrap(), 1);
    }

    /// Returns the root page of a table or index.
    fn root(&self, name: &str) -> usize {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
        self.connection().query_row(sql, [name], |row| row.get::<_, u32>(0)).unwrap() as usize
    }

    fn assert_fault(&self, expected: &str) {
        let faults = faults(&self.path);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "no {expected:?} among {faults:#?}");
    }

    fn assert_noted(&self, expected: &str) {
        let notes = self.assert_clean(expected).notes;
        assert!(notes.iter().any(|note| note.contains(expected)), "no {expected:?} among {notes:#?}");
    }

    fn assert_clean(&self, what: &str) -> Report {
        assert_eq!(sqlite_integrity_check(&self.path, 10).unwrap(), [""; 0], "{what}");
        let report = checked(&self.path);
        assert!(report.is_clean(), "{what}: {:#?}", report.faults);
        report
    }
}

/// Returns a subquery for the numbers `i` from 1 to `n`.
fn series(n: u32) -> String {
    format!("(WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < {n}) SELECT i FROM s)")
}
