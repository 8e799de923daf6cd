//! Fills SQLite with rows of `user` in every way of a Rust program, with the article's settings.
//!
//!     user METHOD TARGET ROWS [CHECK]
//!
//! ../../../README.md describes the output. Statements insert NULL as id, so that SQLite numbers the rows.

mod busy;
mod processes;
mod row;
mod statements;
mod threads;

use litepress_bench::answer;
use rusqlite::{Connection, Transaction};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const SETTINGS: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = 0; PRAGMA cache_size = 1000000; \
                        PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;";

const TABLE: &str = "CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, \
                     active INTEGER not null)";

/// A way to make rows.
enum Method {
    /// Inserts them in one transaction.
    Insert(fn(&Transaction<'_>, u64) -> Outcome<()>),
    /// Inserts them with processes that write one database each.
    Processes,
    /// Makes them and drops them.
    Busy(fn(u64)),
}

const METHODS: &[(&str, Method)] = &[
    ("row-by-row", Method::Insert(statements::row_by_row)),
    ("prepared", Method::Insert(statements::prepared::<1>)),
    ("prepared-50", Method::Insert(statements::prepared::<50>)),
    ("text-50", Method::Insert(statements::text::<50>)),
    ("text-10000", Method::Insert(statements::text::<10_000>)),
    ("threaded", Method::Insert(threads::prepared)),
    ("threaded-text", Method::Insert(threads::text)),
    ("processes", Method::Processes),
    ("busy", Method::Busy(busy::alone)),
    ("busy-threaded", Method::Busy(busy::threaded)),
];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (method, target, rows, check) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["part", path, rows, first] => return processes::part(Path::new(path), rows.parse()?, first.parse()?),
        [method, target, rows] => (method, target, rows, None),
        [method, target, rows, check] => (method, target, rows, Some(check)),
        _ => return Err(usage().into()),
    };
    let Some((_, method)) = METHODS.iter().find(|(name, _)| *name == method) else { return Err(usage().into()) };
    let rows = rows.parse().map_err(|_| usage())?;
    let started = Instant::now();
    let database = match method {
        Method::Insert(insert) => fill(target, rows, *insert)?,
        Method::Processes => processes::fill(Path::new(target), rows)?,
        Method::Busy(make) => {
            make(rows);
            None
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    println!("{}", answer(seconds, database.as_ref().zip(check))?);
    Ok(())
}

fn usage() -> String {
    let names: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
    format!("usage: user {} TARGET ROWS [CHECK]", names.join("|"))
}

/// Fills a database; one in memory stays open and is returned.
fn fill(target: &str, rows: u64, insert: fn(&Transaction<'_>, u64) -> Outcome<()>) -> Outcome<Option<Connection>> {
    let mut database = open(target)?;
    let transaction = database.transaction()?;
    insert(&transaction, rows)?;
    transaction.commit()?;
    if target == ":memory:" {
        return Ok(Some(database));
    }
    database.close().map_err(|(_, error)| error)?;
    Ok(None)
}

/// Opens a new database with the article's settings and the empty table.
fn open(target: impl AsRef<Path>) -> Outcome<Connection> {
    let database = Connection::open(target)?;
    database.execute_batch(SETTINGS)?;
    database.execute_batch(TABLE)?;
    Ok(database)
}
