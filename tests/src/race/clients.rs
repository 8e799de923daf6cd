//! Clients of a race: four of the bundled SQLite, and four of Python's, which is older.

use super::{FIXED_ROWS, Outcome};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// Longest pause of a client between two connections. A file is replaced only at a moment at which no client has it open.
const MAX_PAUSE_MICROS: u64 = 150_000;

/// Part of a client in the race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Adds rows and writes them down.
    Writer,
    /// Reads all tables in one transaction.
    Reader,
    /// Runs checkpoints of every kind.
    Checkpointer,
}

/// A client that runs in this process.
#[derive(Debug)]
pub struct Client {
    /// Its part.
    pub role: Role,
    /// Its name, under which it writes files.
    pub name: String,
    /// Folder of the race.
    pub folder: PathBuf,
    /// The database.
    pub database: PathBuf,
}

/// The processes.
pub struct Clients {
    folder: PathBuf,
    names: Vec<String>,
    processes: Vec<Child>,
}

impl Clients {
    /// Starts four clients of `program` and four in Python, if that is installed.
    pub fn start(program: &Path, folder: &Path, database: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/race_client.py");
        let mut clients = Self { folder: folder.to_owned(), names: Vec::new(), processes: Vec::new() };
        for (index, role) in Role::ALL.iter().enumerate() {
            for (kind, mut command) in [("rust", Command::new(program)), ("python", Command::new("python3"))] {
                if kind == "python" {
                    command.arg(&script);
                }
                let name = format!("{kind}{index}");
                command.args(["client", role.word(), &name]).arg(folder).arg(database);
                match command.spawn() {
                    Ok(process) => {
                        clients.names.push(name);
                        clients.processes.push(process);
                    }
                    Err(error) => println!("skipped: client {name}: {error}"),
                }
            }
        }
        clients
    }

    /// Paths of the logs of committed rows.
    pub fn logs(&self) -> Vec<PathBuf> {
        self.names.iter().map(|name| self.folder.join(format!("{name}.log"))).collect()
    }

    /// Describes the end of a client that has ended by itself.
    pub fn failure(&mut self) -> Option<String> {
        let ended =
            self.processes.iter_mut().position(|process| process.try_wait().is_ok_and(|status| status.is_some()));
        ended.map(|index| {
            let name = &self.names[index];
            let said = fs::read_to_string(self.folder.join(format!("{name}.bad"))).unwrap_or_default();
            format!("{name}: {}", said.trim())
        })
    }

    /// Ends all clients and adds their figures.
    pub fn stop(mut self, outcome: &mut Outcome) {
        outcome.bad.extend(self.failure());
        fs::write(self.folder.join("stop"), "").expect("a folder that takes files");
        for (name, process) in self.names.iter().zip(&mut self.processes) {
            let status = process.wait().expect("a process");
            let figures = fs::read_to_string(self.folder.join(format!("{name}.end"))).unwrap_or_default();
            let figures: Vec<u64> = figures.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
            match figures[..] {
                [others, tolerated] => {
                    outcome.others += others;
                    outcome.tolerated += tolerated;
                }
                _ => outcome.bad.push(format!("{name} ended with {status} and without figures")),
            }
        }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Checkpointer => "checkpointer",
        }
    }

    /// Returns the role of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Writer, Self::Reader, Self::Checkpointer].into_iter().find(|role| role.word() == word)
    }
}

/// Runs a client until the file `stop` lies in the folder of the race.
///
/// # Errors
/// Errors that no client may get: a database that is corrupt or that mixes generations.
pub fn client(client: &Client) -> Result<(), String> {
    let path = |suffix: &str| client.folder.join(format!("{}.{suffix}", client.name));
    let mut log = File::create(path("log")).map_err(|error| error.to_string())?;
    let (mut number, mut others, mut tolerated) = (0, 0_u64, 0_u64);
    while !client.folder.join("stop").exists() {
        match connect_and_work(client, &mut number, &mut log) {
            Ok(()) => others += u64::from(client.role != Role::Writer),
            Err(error) if is_tolerated(&error) => tolerated += 1,
            Err(error) => {
                let _ = fs::write(path("bad"), error.to_string());
                return Err(error.to_string());
            }
        }
        sleep_up_to(MAX_PAUSE_MICROS);
    }
    fs::write(path("end"), format!("{others} {tolerated}")).map_err(|error| error.to_string())
}

/// Opens the database, waits a moment, and does some work; then closes it.
fn connect_and_work(client: &Client, number: &mut i64, log: &mut File) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(&client.database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    sleep_up_to(2_000);
    for _ in 0..1 + random(3) {
        match client.role {
            Role::Writer => {
                let generation = write(&connection, &client.name, *number)?;
                writeln!(log, "{generation} {} {number}", client.name).expect("room for the log");
                *number += 1;
            }
            Role::Reader => read(&connection)?,
            Role::Checkpointer => {
                let kind = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][usize::try_from(random(4)).expect("below 4")];
                connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()))?;
            }
        }
    }
    Ok(())
}

fn write(connection: &Connection, name: &str, number: i64) -> rusqlite::Result<i64> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let generation = connection.query_row("SELECT number FROM generation", [], |row| row.get(0))?;
    let sql = "INSERT INTO added(client, number, generation, filler) VALUES (?, ?, ?, hex(randomblob(200)))";
    connection.execute(sql, (name, number, generation))?;
    connection.execute_batch("COMMIT")?;
    Ok(generation)
}

fn read(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN")?;
    let sql = "SELECT (SELECT count(*) FROM fixed WHERE length(a) = 60), (SELECT count(*) FROM fixed INDEXED BY fixed_a WHERE a > ''),
                      (SELECT count(*) FROM added WHERE generation IS NOT (SELECT number FROM generation))";
    let seen: (u64, u64, u64) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    assert_eq!(seen, (FIXED_ROWS, FIXED_ROWS, 0), "rows, entries, rows of another generation");
    connection.execute_batch("COMMIT")
}

/// Returns whether a client may get this error: a lock, or a database that was replaced after it was opened.
fn is_tolerated(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, ReadOnly};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | ReadOnly))
}

fn random(below: u64) -> u64 {
    RandomState::new().hash_one(()) % below
}

fn sleep_up_to(micros: u64) {
    std::thread::sleep(Duration::from_micros(random(micros)));
}
