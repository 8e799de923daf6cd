//! A race: one process replaces a database again and again while clients of several SQLite releases read, write and
//! checkpoint it.
//!
//! Each database has a generation number, some rows that never change, and rows that clients insert with the generation
//! they saw. A client writes down a row once its COMMIT has returned. Before each replacement the driver reads what was
//! written down, then the database: it must be sound, each of its rows must be of its generation, and no row that a client
//! has written down for this generation may be missing.

mod clients;
mod judge;

pub use clients::{Client, Role, client};

use crate::source::MadeRows;
use clients::Clients;
use judge::Judge;
use litepress::{Database, ErrorKind, Options, Result, Schema, Target};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rows of the table `fixed`, which clients only read.
pub const FIXED_ROWS: u64 = 500;

/// The subject of a race, and its duration.
#[derive(Debug)]
pub struct Race {
    /// Empty folder for the database and the files of the clients.
    pub folder: PathBuf,
    /// Journal mode of each database: `WAL` or `DELETE`.
    pub journal_mode: String,
    /// Time after which no further replacement begins.
    pub time: Duration,
    /// Number of replacements after which the race ends.
    pub replacements: u64,
    /// Program of this build that runs [`client`].
    pub client_program: PathBuf,
}

/// Figures of a race.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Databases that got the name.
    pub replaced: u64,
    /// Attempts that were refused, as the database was in use.
    pub refused: u64,
    /// Rows that clients have committed.
    pub committed: u64,
    /// Transactions of readers, and checkpoints.
    pub others: u64,
    /// Errors that clients may get: a lock, a database that was replaced under them.
    pub tolerated: u64,
    /// Descriptions of all violations.
    pub bad: Vec<String>,
}

impl Race {
    /// Runs the race.
    ///
    /// # Errors
    /// A replacement that fails for another reason than that the database is in use.
    pub fn run(&self) -> Result<Outcome> {
        let path = self.folder.join("race.db");
        let mut outcome = Outcome::default();
        replace(&path, 0, &self.journal_mode)?;
        let mut clients = Clients::start(&self.client_program, &self.folder, &path);
        let mut judge = Judge::new(clients.logs());
        let begun = Instant::now();
        while outcome.bad.is_empty() && begun.elapsed() < self.time && outcome.replaced < self.replacements {
            judge.judge(&path, outcome.replaced, &mut outcome.bad);
            match replace(&path, outcome.replaced + 1, &self.journal_mode) {
                Ok(()) => outcome.replaced += 1,
                Err(error) if error.kind() == ErrorKind::Target => outcome.refused += 1,
                Err(error) => return Err(error),
            }
            outcome.bad.extend(clients.failure());
        }
        judge.judge(&path, outcome.replaced, &mut outcome.bad);
        clients.stop(&mut outcome);
        // All connections are closed now. The last one has run a checkpoint; its result is read under the database's name alone.
        judge.judge(&path, outcome.replaced, &mut outcome.bad);
        outcome.committed = judge.committed();
        Ok(outcome)
    }
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

impl Role {
    /// Every role, of both releases of SQLite: eight clients.
    const ALL: [Self; 4] = [Self::Writer, Self::Writer, Self::Reader, Self::Checkpointer];
}
