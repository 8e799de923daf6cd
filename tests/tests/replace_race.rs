//! A database is replaced or changed again and again while programs read, write and checkpoint it. `make race` does this for an hour.

use litepress_conformance::folder::Folder;
use litepress_conformance::hammer::Hammer;
use litepress_conformance::race::Race;
use std::time::Duration;

/// A program had opened the old file, but first used it after the new one had its name. It wrote the log of the old database
/// beside the new one, and the next program to open the new database applied it silently. Four of four such races ended with a
/// corrupt database, after 18 to 82 replacements.
#[test]
fn clients_of_a_replaced_database_lose_nothing() {
    for journal_mode in ["WAL", "DELETE"] {
        let folder = Folder::new();
        let race = Race {
            folder: folder.path().to_owned(),
            journal_mode: journal_mode.to_owned(),
            time: Duration::from_secs(60),
            replacements: 60,
            client_program: env!("CARGO_BIN_EXE_race").into(),
        };
        let outcome = race.run().expect("replacements that succeed or are refused");
        assert!(outcome.bad.is_empty(), "{journal_mode}: {outcome:?}");
        assert!(outcome.replaced > 0 && outcome.committed > 0 && outcome.others > 0, "{journal_mode}: {outcome:?}");
    }
}

/// Programs of several SQLite releases go on with a database that is changed: they lose nothing, and see each change whole.
#[test]
fn clients_of_a_changed_database_lose_nothing() {
    for journal_mode in ["WAL", "DELETE"] {
        let folder = Folder::new();
        let hammer = Hammer {
            folder: folder.path().to_owned(),
            journal_mode: journal_mode.to_owned(),
            time: Duration::from_secs(30),
            changes: 24,
            client_program: env!("CARGO_BIN_EXE_race").into(),
        };
        let outcome = hammer.run().expect("changes that succeed or are refused");
        assert!(outcome.bad.is_empty(), "{journal_mode}: {outcome:?}");
        assert!(outcome.changed > 5 && outcome.committed > 0 && outcome.others > 0, "{journal_mode}: {outcome:?}");
    }
}
