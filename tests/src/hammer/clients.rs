//! Clients of the hammer: of the bundled SQLite, of Python's, and of the program `sqlite3`, which is older.

use super::{BATCH_ROWS, Outcome};
use rusqlite::{Connection, OpenFlags};
use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// Longest pause of a client.
const MAX_PAUSE_MICROS: u64 = 20_000;

/// Part of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Adds rows and writes them down, and moves amounts between accounts.
    Writer,
    /// Reads all tables in one transaction, and checks their rules.
    Reader,
    /// Runs checkpoints.
    Checkpointer,
    /// Adds rows by the program `sqlite3`.
    OldWriter,
}

/// A client that runs in this process.
#[derive(Debug)]
pub struct Client {
    /// Its part.
    pub role: Role,
    /// Its name, under which it writes files.
    pub name: String,
    /// Folder of the hammer.
    pub folder: PathBuf,
    /// The database.
    pub database: PathBuf,
}

/// The processes.
pub struct Clients {
    folder: PathBuf,
    processes: Vec<(String, Child)>,
}

impl Clients {
    /// Starts the clients: four of `program`, and two in Python if that is installed.
    pub fn start(program: &Path, folder: &Path, database: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/hammer_client.py");
        let mut clients = Self { folder: folder.to_owned(), processes: Vec::new() };
        let has_old = Command::new("sqlite3").arg("--version").output().is_ok();
        let old = if has_old { Some(Role::OldWriter) } else { None };
        let of_rust = [Role::Writer, Role::Reader, Role::Checkpointer].into_iter().chain(old);
        let of_python = [Role::Writer, Role::Reader].map(|role| ("python", role));
        for (kind, role) in of_rust.map(|role| ("rust", role)).chain(of_python) {
            let mut command = if kind == "python" { Command::new("python3") } else { Command::new(program) };
            if kind == "python" {
                command.arg(&script);
            }
            let name = format!("{kind}-{}", role.word());
            command.args(["hammer-client", role.word(), &name]).arg(folder).arg(database);
            match command.spawn() {
                Ok(process) => clients.processes.push((name, process)),
                Err(error) => println!("skipped: client {name}: {error}"),
            }
        }
        clients
    }

    /// Describes the end of a client that has ended by itself.
    pub fn failure(&mut self) -> Option<String> {
        let ended = |(_, process): &mut (String, Child)| process.try_wait().is_ok_and(|status| status.is_some());
        let at = self.processes.iter_mut().position(ended)?;
        let name = &self.processes[at].0;
        let said = fs::read_to_string(self.folder.join(format!("{name}.bad"))).unwrap_or_default();
        Some(format!("{name}: {}", said.trim()))
    }

    /// Ends all clients and adds their figures.
    pub fn stop(mut self, outcome: &mut Outcome) {
        outcome.bad.extend(self.failure());
        fs::write(self.folder.join("stop"), "").expect("a folder that takes files");
        for (name, process) in &mut self.processes {
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
        for (_, process) in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Returns all rows that clients have written down.
pub fn logged(folder: &Path) -> HashSet<(String, i64)> {
    let logs = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    let mut rows = HashSet::new();
    for line in
        logs.flat_map(|log| fs::read_to_string(log).expect("a log").lines().map(str::to_owned).collect::<Vec<_>>())
    {
        let (client, number) = line.split_once(' ').expect("two words");
        rows.insert((client.to_owned(), number.parse().expect("a number")));
    }
    rows
}

impl Role {
    const ALL: [Self; 4] = [Self::Writer, Self::Reader, Self::Checkpointer, Self::OldWriter];

    fn word(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Checkpointer => "checkpointer",
            Self::OldWriter => "old-writer",
        }
    }

    /// Returns the role of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// Runs a client until the file `stop` lies in the folder of the hammer.
///
/// # Errors
/// Errors that no client may get: a database that is corrupt or breaks a rule.
pub fn client(client: &Client) -> Result<(), String> {
    let path = |suffix: &str| client.folder.join(format!("{}.{suffix}", client.name));
    let mut log = File::create(path("log")).map_err(|error| error.to_string())?;
    let (mut number, mut others, mut tolerated) = (0, 0_u64, 0_u64);
    while !client.folder.join("stop").exists() {
        match connect_and_work(client, &mut number, &mut log) {
            Ok(()) => others += u64::from(matches!(client.role, Role::Reader | Role::Checkpointer)),
            Err(error) if ["locked", "busy"].iter().any(|word| error.contains(word)) => tolerated += 1,
            Err(error) => {
                let _ = fs::write(path("bad"), &error);
                return Err(error);
            }
        }
        sleep_up_to(MAX_PAUSE_MICROS);
    }
    fs::write(path("end"), format!("{others} {tolerated}")).map_err(|error| error.to_string())
}

/// Does some work with a connection of its own.
fn connect_and_work(client: &Client, number: &mut i64, log: &mut File) -> Result<(), String> {
    if client.role == Role::OldWriter {
        write_by_program(client, *number)?;
        writeln!(log, "{} {number}", client.name).expect("room for the log");
        *number += 1;
        return Ok(());
    }
    let told = |error: rusqlite::Error| error.to_string();
    let connection = Connection::open_with_flags(&client.database, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(told)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(told)?;
    for _ in 0..1 + random(4) {
        match client.role {
            Role::Reader => read(&connection)?,
            Role::Checkpointer => {
                let kind = if random(3) == 0 { "TRUNCATE" } else { "PASSIVE" };
                connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(())).map_err(told)?;
            }
            _ => {
                write(&connection, &client.name, *number).map_err(told)?;
                writeln!(log, "{} {number}", client.name).expect("room for the log");
                *number += 1;
            }
        }
        sleep_up_to(2_000);
    }
    Ok(())
}

fn write(connection: &Connection, name: &str, number: i64) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let sql = "INSERT INTO added (client, number, filler) VALUES (?, ?, hex(randomblob(100)))";
    connection.execute(sql, (name, number))?;
    connection.execute("UPDATE account SET amount = amount + ?1 WHERE id = 1", [number])?;
    connection.execute("UPDATE account SET amount = amount - ?1 WHERE id = 2", [number])?;
    connection.execute_batch("COMMIT")
}

/// Adds a row by the program `sqlite3`.
fn write_by_program(client: &Client, number: i64) -> Result<(), String> {
    let sql = format!(
        "BEGIN IMMEDIATE; INSERT INTO added (client, number, filler) VALUES ('{}', {number}, hex(randomblob(100)));
         UPDATE account SET amount = amount + 1 WHERE id = 3; UPDATE account SET amount = amount - 1 WHERE id = 1; COMMIT;",
        client.name
    );
    let mut command = Command::new("sqlite3");
    command.args(["-batch", "-bail", "-cmd", ".timeout 5000"]).arg(&client.database).arg(sql);
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Reads all tables in one transaction.
fn read(connection: &Connection) -> Result<(), String> {
    let told = |error: rusqlite::Error| error.to_string();
    connection.execute_batch("BEGIN").map_err(told)?;
    let sql = "SELECT (SELECT sum(amount) FROM account), (SELECT count(*) FROM event NOT INDEXED),
                      (SELECT count(*) FROM event INDEXED BY event_batch WHERE batch >= 0),
                      (SELECT count(*) FROM (SELECT 1 FROM event GROUP BY batch)),
                      (SELECT count(*) FROM added NOT INDEXED),
                      (SELECT count(*) FROM added INDEXED BY added_client WHERE client > '')";
    let seen: [i64; 6] = connection
        .query_row(sql, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?]))
        .map_err(told)?;
    let [sum, rows, entries, batches, added, added_entries] = seen;
    if sum != 0 || rows != entries || rows != batches * BATCH_ROWS || added != added_entries {
        return Err(format!("sum, rows, entries, batches, added, its entries: {seen:?}"));
    }
    connection.execute_batch("COMMIT").map_err(told)
}

fn random(below: u64) -> u64 {
    RandomState::new().hash_one(()) % below
}

fn sleep_up_to(micros: u64) {
    std::thread::sleep(Duration::from_micros(random(micros)));
}
