//! `litepress merge`: databases of one schema become one.

use crate::build_text::merge_text;
use crate::failure::{DONE, ErrorForm};
use crate::interrupt::Interrupt;
use crate::merge_args::MergeArgs;
use crate::options::BuildArgs;
use crate::output::refuse_special_name;
use crate::reporter::Reporter;
use clap::Args;
use litepress::{Flags, Result};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress merge all.db shards/*.db
  litepress merge new.db shards --rowids renumber --source-column shard
  litepress merge kept.db shards --on-conflict ignore \\
    --rowids renumber --rowids country=keep
  litepress merge most.db shards --union --skip-table search
";

/// Merge databases of one schema into a new one; foreign keys follow rowids that are renumbered
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct MergeArguments {
    /// The database to make
    #[arg(value_name = "OUT.db")]
    out: PathBuf,
    /// Databases, patterns of databases, or folders with databases; they are only read
    #[arg(value_name = "DB", required = true)]
    databases: Vec<PathBuf>,
    #[command(flatten)]
    merge: MergeArgs,
    /// Add a column with the path of each row's database to every table
    #[arg(long, value_name = "C", help_heading = "Merging")]
    source_column: Option<String>,
    #[command(flatten)]
    build: BuildArgs,
}

impl MergeArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.build.output.errors()
    }
}

pub fn run(arguments: MergeArguments) -> Result<u8> {
    let MergeArguments { out, databases, merge, source_column, build } = arguments;
    refuse_special_name(&out, false)?;
    let mut options = merge.options(build.options(), source_column);
    let output = build.output;
    let interrupt = Interrupt::stops(options.build.progress.clone(), output.errors())?;
    options.observer = Reporter::new(output.progress(), Some(interrupt));
    let report = litepress::merge(&*out, databases, &options)?;
    output.print_done(|| report.to_json(&Flags), |verbose| merge_text(&report, verbose))?;
    Ok(DONE)
}
