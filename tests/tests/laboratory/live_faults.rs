//! Each write, sync, lock and other call of a change of a database that exists fails in turn. The database is as before or as
//! after, the error says what is wrong, and nothing stays open, locked or behind.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress_conformance::live_changes::{LiveChange, Setting, Subject};
use litepress_crashlab::content::content;
use litepress_crashlab::{CallKind, Fault, Laboratory};
use rusqlite::{Connection, ffi};
use std::collections::BTreeMap;
use std::time::Duration;

const KINDS: [CallKind; 10] = [
    CallKind::Open,
    CallKind::Read,
    CallKind::Write,
    CallKind::Truncate,
    CallKind::Sync,
    CallKind::Size,
    CallKind::Delete,
    CallKind::Lock,
    CallKind::ShmLock,
    CallKind::ShmMap,
];

fn is_long() -> bool {
    std::env::var_os("LITEPRESS_STATES").is_some()
}

/// Number of faults of a kind in each run: few in the suite, all in `make powercut`, but for the many calls that change nothing.
fn faults_of_kind(kind: CallKind) -> u64 {
    match kind {
        _ if !is_long() => 3,
        CallKind::Read | CallKind::Size => 40,
        _ => u64::MAX,
    }
}

/// Returns the faults of a call.
fn faults(kind: CallKind, call: u64) -> Vec<Fault> {
    let once = Fault::of(kind, call);
    let lasting = Fault { lasts: true, ..once };
    match kind {
        CallKind::Write => {
            let full = Fault { code: Some(ffi::SQLITE_FULL), is_partial: true, ..once };
            vec![once, full, Fault { lasts: true, ..full }]
        }
        // SQLite waits ten seconds for a lock of the wal-index that nobody gives up.
        CallKind::ShmLock if call > 0 || !is_long() => vec![once],
        _ => vec![once, lasting],
    }
}

/// Counts outcomes of faults.
#[derive(Debug, Default)]
struct Outcomes {
    failed: u64,
    done: u64,
    /// Runs that failed although the change is there: the fault hit behind the moment at which it became durable.
    failed_but_changed: BTreeMap<String, u64>,
}

/// Makes a change during which calls fail, and looks at what it leaves.
fn run(change: LiveChange, setting: Setting, fault: Fault, outcomes: &mut Outcomes) {
    let what = format!("{change:?}, {setting:?}, {fault:?}");
    let subject = Subject::new(1024, setting);
    let (path, before) = (subject.path(), subject.content());
    let laboratory = Laboratory::new(subject.folder.path()).unwrap();
    laboratory.skip_syncs();
    laboratory.fail(fault);
    let ended = change.make(&path, Duration::from_millis(30));
    laboratory.count();
    assert_eq!(laboratory.open_files(), 0, "{what}: files are open");
    let after = content(&path).unwrap_or_else(|error| panic!("{what}: {error}"));
    match &ended {
        Ok(()) => {
            outcomes.done += 1;
            assert!(after != before || change == LiveChange::Reindex, "{what}: it ended well, but nothing changed");
        }
        Err(error) => {
            outcomes.failed += 1;
            let text = error.to_string();
            assert!(text.contains("app.db"), "{what}: the error names no file: {text}");
            if after != before {
                *outcomes.failed_but_changed.entry(format!("{:?}: {text}", fault.kind)).or_default() += 1;
            }
        }
    }
    let others = Connection::open(&path).unwrap();
    others.busy_timeout(Duration::ZERO).unwrap();
    let lock = "BEGIN IMMEDIATE; INSERT INTO side (x) VALUES ('free'); COMMIT";
    others.execute_batch(lock).unwrap_or_else(|error| panic!("{what}: {error} afterwards"));
    drop(others);
    if after == before && change != LiveChange::Reindex {
        change.make(&path, Duration::from_secs(5)).unwrap_or_else(|error| panic!("{what}: the next run: {error}"));
    }
    drop(subject.company);
    content(&path).unwrap_or_else(|error| panic!("{what}: after the next run: {error}"));
    assert_eq!(subject.folder.names(), ["app.db"], "{what}: files are left behind");
}

/// Returns the number of calls of each kind in a whole run.
fn calls(change: LiveChange, setting: Setting) -> BTreeMap<CallKind, u64> {
    let subject = Subject::new(1024, setting);
    let laboratory = Laboratory::new(subject.folder.path()).unwrap();
    laboratory.skip_syncs();
    laboratory.count();
    change.make(&subject.path(), Duration::from_secs(5)).unwrap();
    laboratory.calls()
}

fn fail_all(setting: Setting) {
    let mut outcomes = Outcomes::default();
    for change in LiveChange::ALL {
        let calls = calls(change, setting);
        for kind in KINDS {
            let count = calls.get(&kind).copied().unwrap_or_default();
            let step = count.div_ceil(faults_of_kind(kind)).max(1);
            for call in (0..count).step_by(step.try_into().unwrap()) {
                faults(kind, call).into_iter().for_each(|fault| run(change, setting, fault, &mut outcomes));
            }
        }
    }
    println!("{setting:?}: {outcomes:#?}");
    assert!(outcomes.failed > 20 && outcomes.done > 5, "{outcomes:?}");
}

#[test]
fn faults_in_delete_mode() {
    fail_all(Setting::Delete);
}

#[test]
fn faults_in_wal_mode() {
    fail_all(Setting::Wal);
}

#[test]
fn faults_in_wal_mode_in_company() {
    fail_all(Setting::WalInCompany);
}

#[test]
fn faults_beside_other_programs() {
    if is_long() {
        [Setting::Persist, Setting::WalWithReader, Setting::WalShrunk].into_iter().for_each(fail_all);
    }
}

#[test]
fn faults_while_new_pages_take_free_ones() {
    fail_all(Setting::DeleteFree);
    if is_long() {
        [Setting::WalFree, Setting::WalFreeWithReader].into_iter().for_each(fail_all);
    }
}
