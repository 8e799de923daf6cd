//! Loads a CSV file: `cargo run --example load_csv -- user.csv user.db`

use litepress::{LoadOptions, OnError, Options};
use std::path::Path;

fn main() -> litepress::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let csv = arguments.next().unwrap_or_else(|| "user.csv".to_owned());
    let db = arguments.next().unwrap_or_else(|| "user.db".to_owned());
    run(Path::new(&csv), Path::new(&db))
}

/// Loads the file, and shows which types its columns have and why.
pub fn run(csv: &Path, db: &Path) -> litepress::Result<()> {
    let options = LoadOptions::default()
        .build(Options::default().overwrite(true).analyze(true))
        .table("user")
        .primary_key(&["id"])
        .column_type("area", "TEXT")
        .index(&["area"])
        .on_error(OnError::Reject);
    let report = litepress::load(db, [csv], &options)?;
    for (table, columns) in &report.inferred {
        for column in columns {
            println!("{table}.{}: {column}", column.name);
        }
    }
    println!("{} rows, {} rejected", report.build.summary.rows, report.rejected);
    Ok(())
}
