//! Prints a database of so many rows to a file: a process to be killed.
//!
//! `press_rows TARGET ROWS [replace]`

use litepress::{Database, Options, Schema, Target};
use litepress_conformance::source::MadeRows;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use std::process::ExitCode;

fn main() -> ExitCode {
    match press() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn press() -> litepress::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, rows, rest @ ..] = arguments.as_slice() else { panic!("TARGET ROWS [replace]") };
    let rows = rows.parse().expect("a number of rows");
    let mut options = Options::default();
    options.threads = 2;
    options.replace = rest.iter().any(|word| word == "replace");
    let schema = Schema::from_sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)", "<rows>")?;
    let mut database = Database::create(&Target::File(target.into()), schema, &options)?;
    println!("begun");
    let make = |row: u64, record: &mut Vec<u8>| {
        write_record(&[Value::Null, Value::Text(format!("row {row:>90}").as_bytes())], record);
        row.cast_signed()
    };
    database.fill(0, &MadeRows::new(rows, 40_000, make))?;
    database.finish().map(drop)
}
