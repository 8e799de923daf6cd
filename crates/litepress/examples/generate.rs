//! Generates test data: `cargo run --example generate -- shop.db`

use litepress::GenerateOptions;
use std::path::Path;

/// Comments say how the values of a column are made. Names and types decide for the others.
const SCHEMA: &str = "
CREATE TABLE customer (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  land TEXT NOT NULL           -- gen: choice('CH': 5, 'DE': 3, 'FR': 2)
);
CREATE TABLE purchase (
  id       INTEGER PRIMARY KEY,
  customer INTEGER NOT NULL REFERENCES customer,
  price    REAL NOT NULL       -- gen: real(1, 100, 2)
);";

fn main() -> litepress::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "shop.db".to_owned());
    run(Path::new(&path))
}

/// Generates the same rows for the same seed, on every machine.
pub fn run(path: &Path) -> litepress::Result<()> {
    let options = GenerateOptions::default().table_rows("customer", 100).table_rows("purchase", 1_000).seed(7);
    let report = litepress::generate(path, SCHEMA, &options)?;
    println!("{} rows, {} bytes", report.summary.rows, report.summary.bytes);
    Ok(())
}
