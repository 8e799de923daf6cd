//! A database in memory, printed by litepress: SQLite is given the bytes of a whole file.
//!
//!     press PRESET :memory: ROWS [CHECK]
//!
//! The preset has one table, of so many rows. For a file there is `litepress gen`. What a program tells is described in
//! ../../README.md.

use litepress::{Database, Options, PageSize, Schema, Target};
use litepress_bench::answer;
use litepress_gen::{GenPlan, GenSource, Request, preset};
use rusqlite::{Connection, MAIN_DB};
use std::error::Error;
use std::time::Instant;

const USAGE: &str = "usage: press PRESET :memory: ROWS [CHECK]";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rows, check) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [name, ":memory:", rows] => (name, rows, None),
        [name, ":memory:", rows, check] => (name, rows, Some(check)),
        _ => return Err(USAGE.into()),
    };
    let rows = rows.parse().map_err(|_| USAGE)?;
    let started = Instant::now();
    let database = press(name, rows)?;
    let seconds = started.elapsed().as_secs_f64();
    println!("{}", answer(seconds, check.map(|check| (&database, check)))?);
    Ok(())
}

fn press(name: &str, rows: u64) -> Outcome<Connection> {
    let schema = Schema::from_sql(preset(name).ok_or(USAGE)?.sql, name)?;
    let plan = GenPlan::new(&schema, &Request { rows: vec![(None, rows)], ..Request::default() })?;
    let source = GenSource::new(&plan, &schema, 0, PageSize::DEFAULT)?;
    let mut printed = Database::create(&Target::Memory, schema, &Options::default())?;
    printed.fill(0, &source)?;
    let bytes = printed.finish()?.bytes.ok_or("a database in memory has bytes")?;
    let mut database = Connection::open_in_memory()?;
    database.deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), false)?;
    Ok(database)
}
