//! Programs that use a database while litepress replaces or changes it: some of the bundled SQLite, some of Python's, and
//! some of the program `sqlite3`, which are older.
//!
//! A client is a process of its own, because locks belong to processes. It works until the file `stop` lies in the folder. It
//! writes its rows down in `NAME.log`, an error that it may not get in `NAME.bad`, and its figures in `NAME.end`.

use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// A trial: litepress changes a database again and again under clients.
#[derive(Debug)]
pub struct Trial {
    /// Empty folder for the database and the files of the clients.
    pub folder: PathBuf,
    /// Journal mode of the database: `WAL` or `DELETE`.
    pub journal_mode: String,
    /// Time after which no further change begins.
    pub time: Duration,
    /// Number of changes after which the trial ends.
    pub changes: u64,
    /// Program of this build that runs the clients.
    pub client_program: PathBuf,
}

/// Figures of a trial.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Changes that litepress has made.
    pub changed: u64,
    /// Changes that were refused, as the database was in use.
    pub refused: u64,
    /// Rows that clients have committed.
    pub committed: u64,
    /// Transactions of readers, and checkpoints.
    pub others: u64,
    /// Errors that clients may get.
    pub tolerated: u64,
    /// Descriptions of all violations.
    pub bad: Vec<String>,
}

/// Part of a client in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Adds rows and writes them down.
    Writer,
    /// Reads all tables in one transaction, and checks their rules.
    Reader,
    /// Runs checkpoints.
    Checkpointer,
    /// Adds rows by the program `sqlite3`.
    OldWriter,
    /// Adds rows by litepress, as pages.
    Appender,
}

/// A client that runs in this process.
#[derive(Debug)]
pub struct Client {
    /// Its part.
    pub role: Role,
    /// Its name, under which it writes files.
    pub name: String,
    /// Folder of the trial.
    pub folder: PathBuf,
    /// The database.
    pub database: PathBuf,
}

/// The rules for the clients of a trial.
#[derive(Debug)]
pub struct Rules {
    /// First argument of the program that runs a client.
    pub word: &'static str,
    /// Script of the clients in Python, in the folder `clients`.
    pub script: &'static str,
    /// Longest pause of a client between two connections.
    pub pause: Duration,
    /// Words in the errors that a client may get.
    pub tolerated: &'static [&'static str],
}

/// The processes of all clients.
pub struct Clients {
    folder: PathBuf,
    processes: Vec<(String, Child)>,
}

impl Clients {
    /// Starts a client for each role of the bundled SQLite, and for each of Python's, if that is installed.
    pub fn start(trial: &Trial, database: &Path, rules: &Rules, bundled: &[Role], python: &[Role]) -> Self {
        let mut clients = Self { folder: trial.folder.clone(), processes: Vec::new() };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(rules.script);
        let of_kind = |kind: &'static str, roles: &[Role]| {
            roles.iter().enumerate().map(move |(index, &role)| (kind, index, role)).collect::<Vec<_>>()
        };
        for (kind, index, role) in [of_kind("rust", bundled), of_kind("python", python)].concat() {
            let mut command = Command::new(if kind == "python" { Path::new("python3") } else { &trial.client_program });
            if kind == "python" {
                command.arg(&script);
            }
            let name = format!("{kind}{index}");
            command.args([rules.word, role.word(), &name]).arg(&trial.folder).arg(database);
            match command.spawn() {
                Ok(process) => clients.processes.push((name, process)),
                Err(error) => println!("skipped: client {name}: {error}"),
            }
        }
        clients
    }

    /// Paths of the logs of committed rows.
    pub fn logs(&self) -> impl Iterator<Item = PathBuf> {
        self.processes.iter().map(|(name, _)| self.folder.join(format!("{name}.log")))
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

impl Role {
    const ALL: [Self; 5] = [Self::Writer, Self::Reader, Self::Checkpointer, Self::OldWriter, Self::Appender];

    fn word(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Checkpointer => "checkpointer",
            Self::OldWriter => "old-writer",
            Self::Appender => "appender",
        }
    }

    /// Returns the role of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

impl Client {
    /// Works until the trial ends. `work` gets the number of the client's next row, and the log of its rows.
    ///
    /// # Errors
    /// The first error of `work` that the rules do not tolerate.
    pub fn run(
        &self,
        rules: &Rules,
        mut work: impl FnMut(&Self, &mut i64, &mut File) -> Result<(), String>,
    ) -> Result<(), String> {
        let path = |suffix: &str| self.folder.join(format!("{}.{suffix}", self.name));
        let mut log = File::create(path("log")).map_err(|error| error.to_string())?;
        let (mut number, mut others, mut tolerated) = (0, 0_u64, 0_u64);
        while !self.folder.join("stop").exists() {
            match work(self, &mut number, &mut log) {
                Ok(()) => others += u64::from(matches!(self.role, Role::Reader | Role::Checkpointer)),
                Err(error) if rules.tolerated.iter().any(|words| error.contains(words)) => tolerated += 1,
                Err(error) => {
                    let _ = fs::write(path("bad"), &error);
                    return Err(error);
                }
            }
            sleep_up_to(rules.pause);
        }
        fs::write(path("end"), format!("{others} {tolerated}")).map_err(|error| error.to_string())
    }

    /// Opens the database, which must exist, with patience for locks.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn open(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(&self.database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        Ok(connection)
    }
}

/// Runs a checkpoint of one of these kinds.
pub(crate) fn checkpoint(connection: &Connection, kinds: &[&str]) -> rusqlite::Result<()> {
    let kind = kinds[usize::try_from(random(kinds.len() as u64)).expect("an index")];
    connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()))
}

/// Returns a random number below this one.
pub(crate) fn random(below: u64) -> u64 {
    RandomState::new().hash_one(()) % below
}

/// Sleeps for a random time.
pub(crate) fn sleep_up_to(longest: Duration) {
    std::thread::sleep(longest.mul_f64(random(1_000) as f64 / 1_000.0));
}
