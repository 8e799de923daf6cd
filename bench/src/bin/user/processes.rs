//! Starts a process for each core, each with a separate database; the first one copies the rows of the others.
//!
//! Schemas are equal and ids ascend from part to part, so that SQLite appends records without decoding them.

use crate::row::RandomRows;
use crate::statements::{Inserter, batches};
use crate::{Outcome, open};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::available_parallelism;

const ROWS_PER_STATEMENT: usize = 50;

/// A running process and its database.
struct Part {
    path: PathBuf,
    process: Child,
}

pub fn fill(target: &Path, rows: u64) -> Outcome<Option<Connection>> {
    if target == Path::new(":memory:") {
        return Err("processes share no database in memory".into());
    }
    let count = u64::try_from(available_parallelism()?.get())?;
    let first_row = |part: u64| rows * part / count;
    let begin = |part| Part::begin(target, part, first_row(part)..first_row(part + 1));
    let others: Vec<Part> = (1..count).map(begin).collect::<Outcome<_>>()?;
    let database = write(target, first_row(1), 1)?;
    for part in others {
        part.append_to(&database)?;
    }
    database.close().map_err(|(_, error)| error)?;
    Ok(None)
}

/// Fills the database of one process that `fill` has started.
pub fn part(path: &Path, rows: u64, first_id: i64) -> Outcome<()> {
    write(path, rows, first_id)?.close().map_err(|(_, error)| error.into())
}

fn write(path: &Path, rows: u64, first_id: i64) -> Outcome<Connection> {
    let mut database = open(path)?;
    let transaction = database.transaction()?;
    let mut inserter = Inserter::new(&transaction, ROWS_PER_STATEMENT, Some(first_id))?;
    let mut random = RandomRows::new();
    for size in batches(rows, ROWS_PER_STATEMENT) {
        inserter.insert((0..size).map(|_| random.row()))?;
    }
    drop(inserter);
    transaction.commit()?;
    Ok(database)
}

impl Part {
    fn begin(target: &Path, number: u64, rows: std::ops::Range<u64>) -> Outcome<Self> {
        let path = target.with_extension(format!("part{number}"));
        let numbers = [rows.end - rows.start, rows.start + 1].map(|number| number.to_string());
        let process = Command::new(std::env::current_exe()?).arg("part").arg(&path).args(numbers).spawn()?;
        Ok(Self { path, process })
    }

    fn append_to(mut self, database: &Connection) -> Outcome<()> {
        let status = self.process.wait()?;
        if !status.success() {
            return Err(format!("{} is not written: {status}", self.path.display()).into());
        }
        database.execute("ATTACH ? AS part", [self.path.to_str().ok_or("the path is no UTF-8")?])?;
        database.execute("INSERT INTO main.user SELECT * FROM part.user", [])?;
        database.execute("DETACH part", [])?;
        Ok(std::fs::remove_file(&self.path)?)
    }
}
