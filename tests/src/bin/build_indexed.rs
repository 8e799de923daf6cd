//! Writes a table with many indexes in the smallest memory, so that its sorts spill: a process to be killed.
//!
//! `build_indexed TARGET ROWS TEMP_DIR`; the target `-` is memory. A run that fails prints its error.

use litepress::{Database, Options, Schema, Target};
use litepress_conformance::spilling::{SCHEMA, rows};
use std::process::ExitCode;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{:?}: {error}", error.kind());
            ExitCode::FAILURE
        }
    }
}

fn build() -> litepress::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, count, temp_dir] = arguments.as_slice() else { panic!("TARGET ROWS TEMP_DIR") };
    let mut options = Options::default();
    options.threads = 2;
    options.memory_bytes = litepress::MIN_MEMORY_BYTES;
    options.temp_dir = Some(temp_dir.into());
    let target = if target == "-" { Target::Memory } else { Target::File(target.into()) };
    let mut database = Database::create(&target, Schema::from_sql(SCHEMA, "<spilling>")?, &options)?;
    println!("begun");
    database.fill(0, &rows(count.parse().expect("a number of rows")))?;
    database.finish().map(drop)
}
