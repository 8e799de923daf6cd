//! `litepress load`: files become the tables of a new database.

use crate::build_text::load_text;
use crate::failure::{DONE, ErrorForm};
use crate::interrupt::Interrupt;
use crate::load_args::LoadArgs;
use crate::options::BuildArgs;
use crate::output::refuse_special_name;
use crate::reporter::Reporter;
use clap::Args;
use litepress::{Flags, Result};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress load lite.db lineitem.csv --without-rowid \\
    --primary-key l_orderkey,l_linenumber --index l_shipdate
  litepress load users.db users.csv.gz --table user --type area=TEXT
  litepress load shop.db customer.csv orders.ndjson --primary-key id \\
    --foreign-key orders.customer=customer.id
  litepress load typed.db data.csv --schema typed.sql --rejects wrong.csv
  litepress load app.db today.csv --append --table event
  litepress load customers orders.ndjson --split-by customer
  cat events.ndjson | litepress load events.db - --table event
";

/// Turn files into the tables of a new database, or add them to one that exists: CSV, JSON, Parquet, Arrow IPC, SQLite,
/// spreadsheets
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LoadArguments {
    /// The database to make, or with --append to add to
    #[arg(value_name = "OUT.db")]
    out: PathBuf,
    /// Files, folders, patterns of files, or '-' for standard input; compressed files and archives are
    /// seen by their content
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    build: BuildArgs,
}

impl LoadArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.build.output.errors()
    }
}

pub fn run(arguments: LoadArguments) -> Result<u8> {
    let LoadArguments { out, files, load, build } = arguments;
    refuse_special_name(&out, false)?;
    let options = build.options();
    let (schema, output) = (load.read_schema()?, build.output);
    // Installed after the schema was read: Ctrl-C still ends the program while that waits for standard input.
    let interrupt = Interrupt::stops(options.progress.clone(), output.errors())?;
    let reporter = Reporter::new(output.progress(), Some(interrupt));
    let report = litepress::load(&*out, files, &load.options(options, schema, reporter))?;
    output.print_done(|| report.to_json(&Flags), |verbose| load_text(&report, verbose))?;
    Ok(DONE)
}
