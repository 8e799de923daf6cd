//! Generates a database in memory with litepress, and opens its bytes with SQLite.
//!
//!     press PRESET|SCHEMA.sql :memory: ROWS [CHECK]
//!
//! Several tables share the rows equally; the last one gets the remainder. `litepress generate` does the same for a file.
//! ../../README.md describes the output.

use litepress::{Database, Options, PageSize, Schema, Target};
use litepress_bench::answer;
use litepress_gen::{GenPlan, GenSource, Request, preset};
use rusqlite::{Connection, MAIN_DB};
use std::error::Error;
use std::time::Instant;

const USAGE: &str = "usage: press PRESET|SCHEMA.sql :memory: ROWS [CHECK]";

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
    let text = preset(name).map_or_else(|| std::fs::read_to_string(name), |preset| Ok(preset.sql.to_owned()))?;
    let schema = Schema::from_sql(&text, name)?;
    let stretch = rows.div_ceil(schema.tables.len().max(1) as u64);
    let stretches = (0..).map(|table| stretch.min(rows.saturating_sub(table * stretch)));
    let names = schema.tables.iter().map(|table| Some(table.name.clone()));
    let plan = GenPlan::new(&schema, &Request { rows: names.zip(stretches).collect(), ..Request::default() })?;
    let page_size = schema.settings.page_size.and_then(PageSize::new).unwrap_or(PageSize::DEFAULT);
    let sources = (0..schema.tables.len()).map(|table| GenSource::new(&plan, &schema, table, page_size));
    let sources = sources.collect::<Result<Vec<_>, _>>()?;
    let mut printed = Database::create(&Target::Memory, schema, &Options::default())?;
    for (table, source) in sources.iter().enumerate() {
        printed.fill(table, source)?;
    }
    let bytes = printed.finish()?.bytes.ok_or("a database in memory has bytes")?;
    let mut database = Connection::open_in_memory()?;
    database.deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), false)?;
    Ok(database)
}
