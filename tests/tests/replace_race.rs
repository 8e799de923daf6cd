//! A database is replaced or changed again and again while programs read, write and checkpoint it. `make race` does this for an hour.

use litepress::Result;
use litepress_conformance::clients::{Outcome, Trial};
use litepress_conformance::folder::Folder;
use litepress_conformance::{hammer, race};
use std::time::Duration;

/// A program had opened the old file, but first used it after the new one had its name. It wrote the log of the old database
/// beside the new one, and the next program to open the new database applied it silently. Four of four such races ended with a
/// corrupt database, after 18 to 82 replacements.
#[test]
fn clients_of_a_replaced_database_lose_nothing() {
    lose_nothing(race::run, Duration::from_secs(60), 40, 1);
}

/// Programs of several SQLite releases go on with a database that is changed: they lose nothing, and see each change whole.
#[test]
fn clients_of_a_changed_database_lose_nothing() {
    lose_nothing(hammer::run, Duration::from_secs(30), 18, 6);
}

/// Runs a trial in both journal modes, which must bring at least this number of changes.
fn lose_nothing(run: fn(&Trial) -> Result<Outcome>, time: Duration, changes: u64, at_least: u64) {
    for journal_mode in ["WAL", "DELETE"] {
        let folder = Folder::new();
        let trial = Trial {
            folder: folder.path().to_owned(),
            journal_mode: journal_mode.to_owned(),
            time,
            changes,
            client_program: env!("CARGO_BIN_EXE_race").into(),
        };
        let outcome = run(&trial).expect("changes that succeed or are refused");
        assert!(outcome.bad.is_empty(), "{journal_mode}: {outcome:?}");
        let enough = outcome.changed >= at_least && outcome.committed > 0 && outcome.others > 0;
        assert!(enough, "{journal_mode}: {outcome:?}");
    }
}
