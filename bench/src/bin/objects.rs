//! SQLite at its best on what it must evaluate row by row: CREATE INDEX on a database, or 50-row INSERTs into a table with computed
//! columns and CHECK constraints. And the evaluation alone: a SELECT whose rows are thrown away.
//!
//! Journal and sync are off. The rows to insert are read into memory before the clock starts. Prints its time as JSON.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags};
use std::error::Error;
use std::time::Instant;

const USAGE: &str = "usage: objects index DB CACHE_PAGES SORTER_THREADS SQL | objects insert OUT.db SCHEMA SOURCE.db QUERY | \
                     objects evaluate DB QUERY";

const ROWS_PER_STATEMENT: usize = 50;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let seconds = match arguments[..] {
        ["index", path, cache, threads, sql] => index(path, cache.parse()?, threads.parse()?, sql)?,
        ["insert", path, schema, source, query] => insert(path, schema, source, query)?,
        ["evaluate", path, query] => evaluate(path, query)?,
        _ => return Err(USAGE.into()),
    };
    println!("{{\"sqlite_seconds\": {seconds}}}");
    Ok(())
}

/// Opens a database without safety, with a cache of so many pages.
fn open(path: &str, cache: u64, threads: u64) -> Outcome<Connection> {
    let database = Connection::open(path)?;
    database.execute_batch(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = {cache};
         PRAGMA threads = {threads};"
    ))?;
    Ok(database)
}

fn index(path: &str, cache: u64, threads: u64, sql: &str) -> Outcome<f64> {
    let database = open(path, cache, threads)?;
    let started = Instant::now();
    database.execute_batch(sql)?;
    Ok(started.elapsed().as_secs_f64())
}

fn insert(path: &str, schema: &str, source: &str, query: &str) -> Outcome<f64> {
    let rows = rows(source, query)?;
    let mut database = open(path, 1_000_000, 0)?;
    let columns = rows.first().ok_or("there are no rows")?.len();
    let started = Instant::now();
    database.execute_batch(schema)?;
    let table: String =
        database.query_row("SELECT name FROM sqlite_schema WHERE type = 'table'", [], |row| row.get(0))?;
    let names = {
        let mut select = database.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid")?;
        let names = select.query_map([&table], |row| row.get::<_, String>(0))?;
        names.collect::<rusqlite::Result<Vec<_>>>()?.join(", ")
    };
    let transaction = database.transaction()?;
    for rows in rows.chunks(ROWS_PER_STATEMENT) {
        let row = format!("({})", vec!["?"; columns].join(", "));
        let places = vec![row; rows.len()].join(", ");
        let mut insert = transaction.prepare_cached(&format!("INSERT INTO {table} ({names}) VALUES {places}"))?;
        for (at, value) in (1..).zip(rows.iter().flatten()) {
            insert.raw_bind_parameter(at, value)?;
        }
        insert.raw_execute()?;
    }
    transaction.commit()?;
    Ok(started.elapsed().as_secs_f64())
}

/// Reads all values of a query from pages that are not copied. It is one thread: its CPU time is that of the evaluation.
fn evaluate(path: &str, query: &str) -> Outcome<f64> {
    let database =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    database.execute_batch("PRAGMA mmap_size = 1000000000000")?;
    let started = Instant::now();
    let mut select = database.prepare(query)?;
    let columns = select.column_count();
    let mut rows = select.query([])?;
    let mut nulls = 0_u64;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            nulls += u64::from(row.get_ref(column)? == ValueRef::Null);
        }
    }
    std::hint::black_box(nulls);
    Ok(started.elapsed().as_secs_f64())
}

fn rows(source: &str, query: &str) -> Outcome<Vec<Vec<Value>>> {
    let database = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut select = database.prepare(query)?;
    let columns = select.column_count();
    let rows = select.query_map([], |row| (0..columns).map(|column| row.get(column)).collect())?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
