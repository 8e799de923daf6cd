//! Checks a database, or has SQLite check it: `check FILE [litepress|integrity|quick] [THREADS]`. Prints the verdict and, for
//! benchmarks, the seconds of the wall clock.

use litepress_check::{CheckOptions, check};
use rusqlite::{Connection, OpenFlags};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = Path::new(arguments.first().ok_or("check FILE [litepress|integrity|quick] [THREADS]")?);
    let started = Instant::now();
    let verdict = match arguments.get(1).map_or("litepress", String::as_str) {
        "litepress" => {
            let threads = arguments.get(2).map(|threads| threads.parse()).transpose()?;
            let default = CheckOptions::default();
            let options = CheckOptions { threads: threads.unwrap_or(default.threads), ..default };
            let report = check(path, &options, &|_, _| Ok(()))?;
            let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
            if report.is_clean() { "ok".to_owned() } else { faults.join("\n") }
        }
        pragma => {
            let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            database.query_row(&format!("PRAGMA {pragma}_check(1)"), [], |row| row.get(0))?
        }
    };
    println!("{verdict}\t{:.3}", started.elapsed().as_secs_f64());
    Ok(())
}
