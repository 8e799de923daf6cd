//! SQLite's best way to change a database that exists: rows in one transaction, by a prepared statement of 50 rows, with a big
//! cache; or CREATE INDEX. Syncs are those of SQLite's default, and the journal mode is that of the database.
//!
//! The rows come from the table `user` of another database, in the order of its rowids. They are read into memory before the clock
//! starts, which stops when the connection is closed. Prints the seconds as JSON.

use rusqlite::{Connection, Statement};
use std::error::Error;
use std::time::Instant;

const USAGE: &str = "usage: existing DB append|upsert ROWS.db | existing DB index [cache=PAGES] [threads=N] SQL...";

const ROWS_PER_STATEMENT: usize = 50;

/// Pages of 4 KiB in the cache while rows are inserted.
const CACHE_PAGES: u32 = 1_000_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A row of the table `user`.
struct Row {
    id: i64,
    area: [u8; 6],
    age: i64,
    active: i64,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [path, "append", rows] => insert(path, &rows_of(rows)?, "")?,
        [path, "upsert", rows] => insert(
            path,
            &rows_of(rows)?,
            " ON CONFLICT (id) DO UPDATE SET area = excluded.area, age = excluded.age, active = excluded.active",
        )?,
        [path, "index", ref rest @ ..] => index(path, rest)?,
        _ => return Err(USAGE.into()),
    };
    println!("{{\"sqlite_seconds\": {seconds}}}");
    Ok(())
}

/// Reads all rows into memory.
fn rows_of(path: &str) -> Outcome<Vec<Row>> {
    let database = Connection::open(path)?;
    let mut select = database.prepare("SELECT id, area, age, active FROM user ORDER BY rowid")?;
    let rows = select.query_map([], |row| {
        let area = row.get_ref(1)?.as_bytes()?.try_into().unwrap_or_default();
        Ok(Row { id: row.get(0)?, area, age: row.get(2)?, active: row.get(3)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Inserts rows in one transaction.
fn insert(path: &str, rows: &[Row], clause: &str) -> Outcome<f64> {
    let started = Instant::now();
    let mut database = Connection::open(path)?;
    database.execute_batch(&format!("PRAGMA synchronous = FULL; PRAGMA cache_size = {CACHE_PAGES}"))?;
    let transaction = database.transaction()?;
    for rows in rows.chunks(ROWS_PER_STATEMENT) {
        let places = vec!["(?, ?, ?, ?)"; rows.len()].join(", ");
        let sql = format!("INSERT INTO user (id, area, age, active) VALUES {places}{clause}");
        let mut insert = transaction.prepare_cached(&sql)?;
        for (place, row) in rows.iter().enumerate() {
            bind(&mut insert, 4 * place, row)?;
        }
        insert.raw_execute()?;
    }
    transaction.commit()?;
    database.close().map_err(|(_, error)| error)?;
    Ok(started.elapsed().as_secs_f64())
}

fn bind(insert: &mut Statement<'_>, at: usize, row: &Row) -> Outcome<()> {
    insert.raw_bind_parameter(at + 1, row.id)?;
    insert.raw_bind_parameter(at + 2, std::str::from_utf8(&row.area)?)?;
    insert.raw_bind_parameter(at + 3, row.age)?;
    insert.raw_bind_parameter(at + 4, row.active)?;
    Ok(())
}

/// Runs statements, each in a transaction.
fn index(path: &str, arguments: &[&str]) -> Outcome<f64> {
    let started = Instant::now();
    let database = Connection::open(path)?;
    database.execute_batch("PRAGMA synchronous = FULL")?;
    for argument in arguments {
        match argument.split_once('=') {
            Some(("cache", pages)) => {
                database.execute_batch(&format!("PRAGMA cache_size = {}", pages.parse::<u32>()?))?
            }
            Some(("threads", threads)) => {
                database.execute_batch(&format!("PRAGMA threads = {}", threads.parse::<u32>()?))?;
            }
            _ => database.execute_batch(argument)?,
        }
    }
    database.close().map_err(|(_, error)| error)?;
    Ok(started.elapsed().as_secs_f64())
}
