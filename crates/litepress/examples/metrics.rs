//! Writes measurements while a program runs: `cargo run --example metrics -- metrics.db`

use litepress::Writer;
use std::path::Path;

fn main() -> litepress::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "metrics.db".to_owned());
    run(Path::new(&path))
}

/// Writes two tables side by side.
pub fn run(path: &Path) -> litepress::Result<()> {
    let mut db = Writer::create(
        path,
        "CREATE TABLE sensor (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
         CREATE TABLE metric (sensor INTEGER NOT NULL REFERENCES sensor, second INTEGER NOT NULL, value REAL,
                              PRIMARY KEY (sensor, second)) WITHOUT ROWID;",
    )?;
    for (id, name) in [(1, "load"), (2, "temperature")] {
        db.table("sensor")?.insert((id, name))?;
    }
    let mut metrics = db.table("metric")?;
    for second in 0..1_000 {
        // Keys come in the order of time. The table is in the order of its key: rows are sorted on their way.
        metrics.insert((1, second, f64::from(second % 7) / 8.0))?;
        metrics.insert((2, second, (second % 10 != 0).then_some(20.5)))?;
    }
    let written = db.finish()?;
    println!("{} rows on {} pages", written.summary.rows, written.summary.pages);
    Ok(())
}
