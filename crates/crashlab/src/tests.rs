//! SQLite itself in the laboratory: what it promises holds, and what breaks its rules is found.

use crate::content::{Content, content};
use crate::disk::{Change, Disk};
use crate::{CallKind, Event, Fault, Judgement, Laboratory, Recording};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Makes a database with some pages. Returns its folder, which must be kept.
fn database(mode: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = Connection::open(&path).unwrap();
    let sql = "CREATE TABLE t (a, b); CREATE INDEX i ON t (b);
               WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
               INSERT INTO t SELECT i, 'text ' || i FROM n";
    connection.execute_batch(&format!("PRAGMA journal_mode = {mode}; {sql}")).unwrap();
    (folder, path)
}

/// Records a transaction of SQLite. Returns also the contents before and after.
fn record(path: &Path, mode: &str, synchronous: &str) -> (Recording, (Content, Content)) {
    let before = content(path).unwrap();
    let laboratory = Laboratory::new(path.parent().unwrap()).unwrap();
    laboratory.record().unwrap();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(&format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = {synchronous}")).unwrap();
    let sql = "BEGIN; UPDATE t SET b = b || ' changed' WHERE a % 7 = 0; INSERT INTO t SELECT * FROM t; COMMIT";
    connection.execute_batch(sql).unwrap();
    laboratory.mark_end();
    drop(connection);
    assert_eq!(laboratory.open_files(), 0);
    let recording = laboratory.recording();
    (recording, (before, content(path).unwrap()))
}

#[test]
fn sqlite_keeps_its_promise() {
    for mode in ["delete", "truncate", "persist", "wal"] {
        let (_folder, path) = database(mode);
        let (recording, contents) = record(&path, mode, "EXTRA");
        let judgement = Judgement::of(&recording, "app.db", contents, 12).unwrap();
        assert!(judgement.bad.is_empty(), "{mode}: {judgement:?}\n{}", recording.describe());
        assert!(judgement.before > 10 && judgement.after > 1, "{mode}: {judgement:?}");
    }
}

/// Without syncs nothing is promised. A laboratory that finds nothing then would find nothing at all.
#[test]
fn missing_syncs_are_found() {
    for mode in ["delete", "wal"] {
        let (_folder, path) = database(mode);
        let (recording, contents) = record(&path, mode, "OFF");
        let judgement = Judgement::of(&recording, "app.db", contents, 12).unwrap();
        assert!(!judgement.bad.is_empty(), "{mode}: {}", recording.describe());
    }
}

/// The journal's deletion is not synced by `synchronous = FULL`: a power cut may undo the transaction, although COMMIT has returned.
#[test]
fn a_deletion_that_is_not_synced_may_be_lost() {
    let (_folder, path) = database("delete");
    let (recording, contents) = record(&path, "delete", "FULL");
    let judgement = Judgement::of(&recording, "app.db", contents, 12).unwrap();
    assert!(judgement.bad.iter().any(|bad| bad.ends_with("the change is lost")), "{judgement:?}");
}

#[test]
fn the_disk_keeps_what_is_synced_and_loses_the_rest() {
    let recording = Recording {
        files: [("a".to_owned(), vec![1; 600])].into(),
        events: vec![
            Event::Write { name: "a".to_owned(), offset: 0, bytes: vec![2; 1024] },
            Event::Create { name: "b".to_owned() },
            Event::Write { name: "b".to_owned(), offset: 2, bytes: vec![3; 2] },
            Event::Sync { name: "a".to_owned(), and_folder: false },
            Event::Delete { name: "a".to_owned(), and_sync: true },
        ],
    };
    let mut disk = Disk::new(&recording.files);
    recording.events[..3].iter().for_each(|event| disk.apply(event));
    assert!(matches!(disk.files[0].pending[..], [Change::Write { .. }]) && disk.names["b"].states == [None, Some(1)]);
    let states: Vec<_> = recording.crash_states(64, 1).collect();
    let has = |a: Option<Vec<u8>>, b: Option<Vec<u8>>, events| {
        let is = |state: &&crate::CrashState| {
            state.events == events && state.files.get("a") == a.as_ref() && state.files.get("b") == b.as_ref()
        };
        states.iter().any(|state| is(&state))
    };
    assert!(has(Some(vec![1; 600]), None, 0), "the beginning");
    assert!(has(Some(vec![2; 1024]), None, 1), "the write is kept");
    assert!(has(Some([vec![2; 512], vec![1; 88], vec![0; 424]].concat()), None, 1), "the second sector is lost");
    assert!(has(Some(vec![1; 600]), Some(vec![0, 0, 3, 3]), 3), "a later change is kept, an earlier one is lost");
    assert!(states.iter().filter(|state| state.events > 3).all(|state| state.files.get("a") != Some(&vec![1; 600])));
    assert!(has(None, Some(vec![0, 0, 3, 3]), 5), "deleted, and synced with its folder");
    assert!(states.iter().all(|state| state.events < 5 || !state.files.contains_key("a")));
}

#[test]
fn chosen_calls_fail() {
    let (_folder, path) = database("delete");
    let laboratory = Laboratory::new(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    laboratory.count();
    connection.execute_batch("INSERT INTO t VALUES (0, 'x')").unwrap();
    let calls = laboratory.calls();
    assert!(calls[&CallKind::Write] > 3 && calls[&CallKind::Sync] > 1 && calls[&CallKind::Delete] == 1, "{calls:?}");
    for (kind, code) in
        [(CallKind::Write, "disk I/O error"), (CallKind::Sync, "disk I/O error"), (CallKind::Lock, "locked")]
    {
        laboratory.fail(Fault::of(kind, 1));
        let failed = connection.execute_batch("INSERT INTO t VALUES (0, 'x')").unwrap_err();
        assert!(failed.to_string().contains(code), "{failed}");
        assert_eq!(laboratory.failed_calls(), 1);
    }
    laboratory.fail(Fault { lasts: true, ..Fault::of(CallKind::Write, 0) });
    assert!(connection.execute_batch("INSERT INTO t VALUES (0, 'x')").is_err());
    laboratory.count();
    connection.execute_batch("INSERT INTO t VALUES (0, 'x')").unwrap();
    assert!(content(&path).is_ok());
}

/// Folders that nobody watches, and databases in memory, are left alone.
#[test]
fn other_files_pass() {
    let (watched, path) = database("delete");
    let laboratory = Laboratory::new(watched.path()).unwrap();
    laboratory.record().unwrap();
    let (_other, other) = database("wal");
    content(&other).unwrap();
    Connection::open_in_memory().unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    assert!(laboratory.recording().events.is_empty());
    content(&path).unwrap();
    assert!(laboratory.calls()[&CallKind::Read] > 0);
}
