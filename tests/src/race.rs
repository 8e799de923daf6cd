//! A race: one process replaces a database again and again while clients of several SQLite releases read, write and
//! checkpoint it.
//!
//! Each database has a generation number, some rows that never change, and rows that clients insert with the generation
//! they saw. A client writes down a row once its COMMIT has returned. Before each replacement the driver reads what was
//! written down, then the database: it must be sound, each of its rows must be of its generation, and no row that a client
//! has written down for this generation may be missing.

mod client;
mod judge;

pub use client::client;

use crate::clients::{Clients, Outcome, Role, Rules, Trial};
use crate::source::MadeRows;
use judge::Judge;
use litepress::{Database, ErrorKind, Options, Result, Schema, Target};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Rows of the table `fixed`, which clients only read.
pub const FIXED_ROWS: u64 = 500;

/// Roles of the clients of each release of SQLite: eight clients.
const ROLES: [Role; 4] = [Role::Writer, Role::Writer, Role::Reader, Role::Checkpointer];

const RULES: Rules = Rules {
    word: "client",
    script: "race_client.py",
    // A file is replaced only at a moment at which no client has it open.
    pause: Duration::from_millis(150),
    // A lock, or a database that was replaced after it was opened.
    tolerated: &["locked", "readonly database"],
};

/// Runs the race.
///
/// # Errors
/// A replacement that fails for another reason than that the database is in use.
pub fn run(trial: &Trial) -> Result<Outcome> {
    let path = trial.folder.join("race.db");
    let mut outcome = Outcome::default();
    replace(&path, 0, &trial.journal_mode)?;
    let mut clients = Clients::start(trial, &path, &RULES, &ROLES, &ROLES);
    let mut judge = Judge::new(clients.logs());
    let begun = Instant::now();
    while outcome.bad.is_empty() && begun.elapsed() < trial.time && outcome.changed < trial.changes {
        judge.judge(&path, outcome.changed, &mut outcome.bad);
        match replace(&path, outcome.changed + 1, &trial.journal_mode) {
            Ok(()) => outcome.changed += 1,
            Err(error) if error.kind() == ErrorKind::Target => outcome.refused += 1,
            Err(error) => return Err(error),
        }
        outcome.bad.extend(clients.failure());
    }
    judge.judge(&path, outcome.changed, &mut outcome.bad);
    clients.stop(&mut outcome);
    // All connections are closed now. The last one has run a checkpoint; its result is read under the database's name alone.
    judge.judge(&path, outcome.changed, &mut outcome.bad);
    outcome.committed = judge.committed();
    Ok(outcome)
}

/// Replaces the database by that of the next generation.
fn replace(path: &Path, generation: u64, journal_mode: &str) -> Result<()> {
    let sql = format!(
        "PRAGMA journal_mode = {journal_mode}; CREATE TABLE generation(number INTEGER PRIMARY KEY);
         CREATE TABLE fixed(id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX fixed_a ON fixed(a);
         CREATE TABLE added(id INTEGER PRIMARY KEY, client TEXT, number INTEGER, generation INTEGER, filler TEXT);
         CREATE INDEX added_client ON added(client, number);"
    );
    let mut options = Options::default();
    options.threads = 1;
    options.overwrite = true;
    // The race is about names and locks; waiting for the disk makes it slower, not harder.
    options.sync = litepress::Sync::Off;
    let schema = Schema::from_sql(&sql, "<race>")?;
    let mut database = Database::create(&Target::File(path.to_owned()), schema, &options)?;
    let number = generation.cast_signed();
    database.fill(
        0,
        &MadeRows::new(1, 1, move |_: u64, record: &mut Vec<u8>| {
            write_record(&[Value::Null], record);
            number
        }),
    )?;
    database.fill(
        1,
        &MadeRows::new(FIXED_ROWS, FIXED_ROWS, |row: u64, record: &mut Vec<u8>| {
            write_record(&[Value::Null, Value::Text(format!("{row:>60}").as_bytes())], record);
            row.cast_signed()
        }),
    )?;
    database.finish().map(drop)
}
