//! Replaces a database, or changes it, again and again under clients, in both journal modes.
//!
//! `race [SECONDS [REPLACEMENTS]]`: races for this time in each journal mode, or up to this number of replacements.
//! `race hammer [SECONDS [CHANGES]]`: changes one database under clients, likewise.
//! `race client ROLE NAME FOLDER DATABASE`, `race hammer-client ...`: one of the clients.

use litepress_conformance::folder::Folder;
use litepress_conformance::hammer::{self, Hammer};
use litepress_conformance::race::{Client, Race, Role, client};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("'{word}' is not a number"));
    match words[..] {
        ["client", role, name, folder, database] => {
            let role = Role::of_word(role).unwrap_or_else(|| panic!("'{role}' is not a role"));
            let it = Client { role, name: name.to_owned(), folder: folder.into(), database: database.into() };
            match client(&it) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{name}: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        ["hammer-client", role, name, folder, database] => {
            let role = hammer::Role::of_word(role).unwrap_or_else(|| panic!("'{role}' is not a role"));
            let it = hammer::Client { role, name: name.to_owned(), folder: folder.into(), database: database.into() };
            match hammer::client(&it) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{name}: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        ["hammer"] => hammer(60, u64::MAX),
        ["hammer", seconds] => hammer(number(seconds), u64::MAX),
        ["hammer", seconds, changes] => hammer(number(seconds), number(changes)),
        [] => race(1_800, u64::MAX),
        [seconds] => race(number(seconds), u64::MAX),
        [seconds, replacements] => race(number(seconds), number(replacements)),
        _ => panic!("race [SECONDS [REPLACEMENTS]]"),
    }
}

/// Runs both races and prints their figures.
fn race(seconds: u64, replacements: u64) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for journal_mode in ["WAL", "DELETE"] {
        let (folder, begun) = (Folder::new(), Instant::now());
        let race = Race {
            folder: folder.path().to_owned(),
            journal_mode: journal_mode.to_owned(),
            time: Duration::from_secs(seconds),
            replacements,
            client_program: std::env::current_exe().expect("a program on disk"),
        };
        let outcome = race.run().unwrap_or_else(|error| panic!("{journal_mode}: {error}"));
        println!(
            "{journal_mode}: {} replacements in {:.0} s, {} refused; clients: {} rows committed, {} reads and checkpoints, \
             {} errors that are allowed; {} bad",
            outcome.replaced,
            begun.elapsed().as_secs_f64(),
            outcome.refused,
            outcome.committed,
            outcome.others,
            outcome.tolerated,
            outcome.bad.len()
        );
        for bad in &outcome.bad {
            println!("  {bad}");
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Hammers in both journal modes and prints the figures.
fn hammer(seconds: u64, changes: u64) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for journal_mode in ["WAL", "DELETE"] {
        let (folder, begun) = (Folder::new(), Instant::now());
        let hammer = Hammer {
            folder: folder.path().to_owned(),
            journal_mode: journal_mode.to_owned(),
            time: Duration::from_secs(seconds),
            changes,
            client_program: std::env::current_exe().expect("a program on disk"),
        };
        let outcome = hammer.run().unwrap_or_else(|error| panic!("{journal_mode}: {error}"));
        println!(
            "{journal_mode}: {} changes in {:.0} s, {} refused; clients: {} rows committed, {} reads and checkpoints, \
             {} locks met; {} bad",
            outcome.changed,
            begun.elapsed().as_secs_f64(),
            outcome.refused,
            outcome.committed,
            outcome.others,
            outcome.tolerated,
            outcome.bad.len()
        );
        for bad in &outcome.bad {
            println!("  {bad}");
            code = ExitCode::FAILURE;
        }
    }
    code
}
