//! Replaces a database, or changes it, again and again under clients, in both journal modes.
//!
//! `race [SECONDS [REPLACEMENTS]]`: races for this time in each journal mode, or up to this number of replacements.
//! `race hammer [SECONDS [CHANGES]]`: changes one database under clients, likewise.
//! `race client ROLE NAME FOLDER DATABASE`, `race hammer-client ...`: one of the clients.

use litepress::Result;
use litepress_conformance::clients::{Client, Outcome, Role, Trial};
use litepress_conformance::folder::Folder;
use litepress_conformance::{hammer, race};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("'{word}' is not a number"));
    match words[..] {
        ["client", ref client @ ..] => run_client(client, race::client),
        ["hammer-client", ref client @ ..] => run_client(client, hammer::client),
        ["hammer"] => run_trials(hammer::run, "changes", 60, u64::MAX),
        ["hammer", seconds] => run_trials(hammer::run, "changes", number(seconds), u64::MAX),
        ["hammer", seconds, changes] => run_trials(hammer::run, "changes", number(seconds), number(changes)),
        [] => run_trials(race::run, "replacements", 1_800, u64::MAX),
        [seconds] => run_trials(race::run, "replacements", number(seconds), u64::MAX),
        [seconds, replacements] => run_trials(race::run, "replacements", number(seconds), number(replacements)),
        _ => panic!("race [SECONDS [REPLACEMENTS]]"),
    }
}

/// Runs the client that these words describe.
fn run_client(words: &[&str], run: fn(&Client) -> std::result::Result<(), String>) -> ExitCode {
    let &[role, name, folder, database] = words else { panic!("ROLE NAME FOLDER DATABASE") };
    let role = Role::of_word(role).unwrap_or_else(|| panic!("'{role}' is not a role"));
    let client = Client { role, name: name.to_owned(), folder: folder.into(), database: database.into() };
    match run(&client) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a trial in both journal modes and prints its figures.
fn run_trials(run: fn(&Trial) -> Result<Outcome>, changes_word: &str, seconds: u64, changes: u64) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for journal_mode in ["WAL", "DELETE"] {
        let (folder, begun) = (Folder::new(), Instant::now());
        let trial = Trial {
            folder: folder.path().to_owned(),
            journal_mode: journal_mode.to_owned(),
            time: Duration::from_secs(seconds),
            changes,
            client_program: std::env::current_exe().expect("a program on disk"),
        };
        let outcome = run(&trial).unwrap_or_else(|error| panic!("{journal_mode}: {error}"));
        println!(
            "{journal_mode}: {} {changes_word} in {:.0} s, {} refused; clients: {} rows committed, {} reads and checkpoints, \
             {} errors that are allowed; {} bad",
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
