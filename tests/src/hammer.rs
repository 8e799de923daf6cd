//! A hammer: clients of several SQLite releases write, read and checkpoint a database while litepress appends rows and makes
//! indexes, again and again.
//!
//! A writer writes down each row once its COMMIT has returned. A reader checks rules that hold at every moment: an account book
//! whose sum is zero, appended rows in whole batches, and as many entries of an index as rows. At the end nothing may be missing.

mod client;

pub use client::client;

use crate::clients::{Clients, Outcome, Role, Rules, Trial};
use crate::live_changes::append_rows;
use crate::source::ValueRows;
use litepress::live::{IndexTask, LiveOptions, make_indexes};
use litepress::{AppendOptions, Conflict, ErrorKind, Options, Result, Route, schema_of};
use litepress_crashlab::content::check;
use litepress_rows::cells::OwnedValue;
use rusqlite::Connection;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Rows of a batch that litepress appends.
pub const BATCH_ROWS: i64 = 400;

/// Pause between two changes.
const PAUSE: Duration = Duration::from_millis(40);

const RULES: Rules = Rules {
    word: "hammer-client",
    script: "hammer_client.py",
    pause: Duration::from_millis(20),
    tolerated: &["locked", "busy"],
};

const SCHEMA: &str = "
    CREATE TABLE event (id INTEGER PRIMARY KEY, batch INTEGER, filler TEXT); CREATE INDEX event_batch ON event (batch);
    CREATE TABLE added (id INTEGER PRIMARY KEY, client TEXT, number INTEGER, filler TEXT);
    CREATE INDEX added_client ON added (client, number);
    CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER); INSERT INTO account VALUES (1, 0), (2, 0), (3, 0);";

/// Runs the hammer.
///
/// # Errors
/// A client or a folder that cannot be made.
pub fn run(trial: &Trial) -> Result<Outcome> {
    let path = trial.folder.join("hammer.db");
    let made = Connection::open(&path).unwrap();
    made.execute_batch(&format!("PRAGMA journal_mode = {}; {SCHEMA}", trial.journal_mode)).unwrap();
    drop(made);
    let (mut outcome, mut batches, mut round) = (Outcome::default(), 0, 0);
    let mut bundled = vec![Role::Writer, Role::Reader, Role::Checkpointer, Role::Appender];
    if Command::new("sqlite3").arg("--version").output().is_ok() {
        bundled.push(Role::OldWriter);
    }
    let mut clients = Clients::start(trial, &path, &RULES, &bundled, &[Role::Writer, Role::Reader]);
    let begun = Instant::now();
    while outcome.bad.is_empty() && begun.elapsed() < trial.time && outcome.changed < trial.changes {
        match change(&path, round, &mut batches) {
            Ok(()) => outcome.changed += 1,
            Err(error) if error.kind() == ErrorKind::Target => outcome.refused += 1,
            Err(error) => outcome.bad.push(format!("round {round}: {error}")),
        }
        round += 1;
        outcome.bad.extend(clients.failure());
        // Clients ask for a lock from time to time: without pauses, some would never get it.
        std::thread::sleep(PAUSE);
    }
    let logs: Vec<PathBuf> = clients.logs().collect();
    clients.stop(&mut outcome);
    judge(&path, batches, &client::logged(logs.into_iter()), &mut outcome);
    Ok(outcome)
}

/// Compares the database with everything that was committed.
fn judge(path: &Path, batches: i64, logged: &HashSet<(String, i64)>, outcome: &mut Outcome) {
    let connection = Connection::open(path).unwrap();
    outcome.bad.extend(check(&connection).err());
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let rows = number("SELECT count(*) FROM event");
    if rows != batches * BATCH_ROWS {
        outcome.bad.push(format!("{rows} rows of {batches} batches"));
    }
    outcome.committed = logged.len() as u64;
    let mut select = connection.prepare("SELECT client, number FROM added").unwrap();
    let there = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let there: HashSet<(String, i64)> = there.collect::<rusqlite::Result<_>>().unwrap();
    outcome.bad.extend(logged.difference(&there).map(|row| format!("{row:?} is lost")));
}

/// Makes the change of a round: rows at the right edge, between others, by SQLite; a new index; all indexes anew.
fn change(path: &Path, round: u64, batches: &mut i64) -> Result<()> {
    let indexes = |task: IndexTask<'_>| {
        let mut options = LiveOptions::default();
        (options.busy_timeout, options.build.threads) = (Duration::from_secs(5), 2);
        make_indexes(path, task, &options).map(drop)
    };
    match round % 6 {
        3 => {
            let wide = format!("wide{}", round % 12);
            let _ = Connection::open(path).and_then(|it| {
                it.busy_timeout(Duration::from_secs(5))?;
                it.execute_batch(&format!("DROP INDEX IF EXISTS {wide}; DROP INDEX IF EXISTS by_filler"))
            });
            let create = |index: &str| format!("CREATE INDEX IF NOT EXISTS {index}");
            let (wide, by_filler) = (format!("{wide} ON event (filler, batch)"), "by_filler ON added (filler)");
            indexes(IndexTask::Create(&[create(&wide), create(by_filler)]))
        }
        5 => indexes(IndexTask::Again(&[])),
        kind => {
            let route =
                [Route::Edge, Route::Rebuild, Route::Sql, Route::Edge, Route::Edge][usize::try_from(kind).unwrap()];
            append(path, route, *batches)?;
            *batches += 1;
            Ok(())
        }
    }
}

fn append(path: &Path, route: Route, batch: i64) -> Result<()> {
    let mut append = AppendOptions::default().busy_timeout(Duration::from_secs(5));
    append.route = Some(route);
    append.through_wal = batch % 7 == 6;
    let mut options = Options::default().threads(2);
    options.on_conflict = Conflict::Abort;
    let schema = schema_of(path, &append)?;
    let table = schema.tables.iter().position(|table| table.name == "event").expect("its table");
    let row = |row| {
        vec![
            OwnedValue::Int(batch * BATCH_ROWS + row + 1),
            OwnedValue::Int(batch),
            OwnedValue::Text(format!("filler {}", "x".repeat(usize::try_from(row % 300).unwrap()))),
        ]
    };
    let rows: Vec<Vec<OwnedValue>> = (0..BATCH_ROWS).map(row).collect();
    let rows = ValueRows::new(&schema.tables[table], rows.into(), 150, 1);
    append_rows(path, schema, options, append, (table, &rows)).map(drop)
}
