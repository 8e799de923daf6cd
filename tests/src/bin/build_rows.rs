//! Writes a database of ROWS rows to a file: a process to be killed.
//!
//! `build_rows TARGET ROWS [replace] [breaks]`; with `breaks` the last row belongs before all others, which the source
//! does not declare.

use litepress::{Database, Options, Schema, Target};
use litepress_conformance::source::MadeRows;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::RowidOrder;
use std::process::ExitCode;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> litepress::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, rows, rest @ ..] = arguments.as_slice() else { panic!("TARGET ROWS [replace] [breaks]") };
    let rows = rows.parse().expect("a number of rows");
    let breaks = rest.iter().any(|word| word == "breaks");
    let mut options = Options::default();
    options.threads = 2;
    options.overwrite = rest.iter().any(|word| word == "replace");
    let schema = Schema::from_sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)", "<rows>")?;
    let mut database = Database::create(&Target::File(target.into()), schema, &options)?;
    println!("begun");
    let make = move |row: u64, record: &mut Vec<u8>| {
        write_record(&[Value::Null, Value::Text(format!("row {row:>90}").as_bytes())], record);
        if breaks && row + 1 == rows { -1 } else { row.cast_signed() }
    };
    let mut source = MadeRows::new(rows, 40_000, make);
    source.rowid_order = if breaks { RowidOrder::Unknown } else { RowidOrder::Ascending };
    database.fill(0, &source)?;
    database.finish().map(drop)
}
