//! Compares a database with the logs of the clients.

use rusqlite::{Connection, OpenFlags};
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A row as a client has logged it.
type Row = (String, i64);

/// A client's log, read up to its last whole line.
struct Log {
    path: PathBuf,
    reader: Option<BufReader<File>>,
    begun: String,
}

/// The logged rows of all clients.
pub struct Judge {
    logs: Vec<Log>,
    /// Rows of the present generation.
    expected: HashSet<Row>,
    generation: u64,
    committed: u64,
}

impl Judge {
    pub fn new(paths: impl Iterator<Item = PathBuf>) -> Self {
        let logs = paths.map(|path| Log { path, reader: None, begun: String::new() }).collect();
        Self { logs, expected: HashSet::new(), generation: 0, committed: 0 }
    }

    /// Returns the number of rows that clients have committed to any generation.
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// Reads the logs, then the database, which must be of this generation. Adds what is wrong to `bad`.
    pub fn judge(&mut self, path: &Path, generation: u64, bad: &mut Vec<String>) {
        if self.generation != generation {
            self.generation = generation;
            self.expected.clear();
        }
        for log in &mut self.logs {
            while let Some(line) = log.next_line() {
                let mut words = line.split(' ');
                let mut next = || words.next().unwrap_or_else(|| panic!("{line:?}: too few words"));
                let (of, client, number) = (next(), next().to_owned(), next());
                self.committed += 1;
                if of.parse() == Ok(generation) {
                    self.expected.insert((client, number.parse().expect("a number")));
                }
            }
        }
        // A connection may wait for another one's lock as long as its busy handler does.
        match read(path, generation) {
            Ok((rows, faults)) => {
                bad.extend(faults.into_iter().map(|fault| format!("generation {generation}: {fault}")));
                let lost =
                    self.expected.difference(&rows).map(|row| format!("generation {generation}: {row:?} is lost"));
                bad.extend(lost);
            }
            Err(error) if is_lock(&error) => {}
            Err(error) => bad.push(format!("generation {generation}: {error}")),
        }
    }
}

impl Log {
    /// Returns the next line, once it is whole.
    fn next_line(&mut self) -> Option<String> {
        if self.reader.is_none() {
            self.reader = File::open(&self.path).ok().map(BufReader::new);
        }
        self.reader.as_mut()?.read_line(&mut self.begun).expect("a log in UTF-8");
        if !self.begun.ends_with('\n') {
            return None;
        }
        let line = std::mem::take(&mut self.begun);
        Some(line.trim_end().to_owned())
    }
}

/// Reads the rows that clients have added, and the faults of the database.
fn read(path: &Path, generation: u64) -> rusqlite::Result<(HashSet<Row>, Vec<String>)> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.execute_batch("BEGIN")?;
    let mut faults = Vec::new();
    let number: i64 = connection.query_row("SELECT number FROM generation", [], |row| row.get(0))?;
    if number.cast_unsigned() != generation {
        faults.push(format!("it is generation {number}"));
    }
    let said: Vec<String> = connection
        .prepare("PRAGMA integrity_check")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if said != ["ok"] {
        faults.push(said.join("; "));
    }
    let strangers: i64 =
        connection.query_row("SELECT count(*) FROM added WHERE generation IS NOT ?", [number], |row| row.get(0))?;
    if strangers > 0 {
        faults.push(format!("{strangers} rows of another generation"));
    }
    let rows = connection
        .prepare("SELECT client, number FROM added")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok((rows, faults))
}

/// Returns whether another connection has a lock.
fn is_lock(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}
