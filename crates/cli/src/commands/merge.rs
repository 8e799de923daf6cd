//! `litepress merge`: databases of one schema become one.

use crate::build_text::merge_text;
use crate::failure::{DONE, ErrorForm};
use crate::interrupt::Interrupt;
use crate::options::BuildArgs;
use crate::output::refuse_special_name;
use crate::reporter::Reporter;
use clap::Args;
use litepress::{Choice, Flags, MergeOptions, Result, RowidPolicy};
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
    #[command(flatten)]
    build: BuildArgs,
}

/// How databases are merged.
#[derive(Args, Debug)]
#[command(next_help_heading = "Merging")]
struct MergeArgs {
    /// Rowids of all tables or of one: keep (equal ones conflict) or renumber (each database's above those before it); may
    /// be repeated [default: keep]
    #[arg(long, value_name = "[TABLE=]HOW", value_parser = rowids)]
    rowids: Vec<(Option<String>, RowidPolicy)>,
    /// Add a column with the path of each row's database to every table
    #[arg(long, value_name = "C")]
    source_column: Option<String>,
    /// Merge tables and other objects that some databases lack, too
    #[arg(long)]
    union: bool,
    /// Leave out a table with its indexes and triggers; may be repeated
    #[arg(long, value_name = "TABLE")]
    skip_table: Vec<String>,
}

impl MergeArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.build.output.errors()
    }
}

/// Reads `renumber` or `TABLE=renumber`.
fn rowids(text: &str) -> Result<(Option<String>, RowidPolicy), String> {
    match text.rsplit_once('=') {
        Some((table, policy)) => Ok((Some(table.to_owned()), RowidPolicy::from_name(policy)?)),
        None => Ok((None, RowidPolicy::from_name(text)?)),
    }
}

pub fn run(arguments: MergeArguments) -> Result<u8> {
    let MergeArguments { out, databases, merge, build } = arguments;
    refuse_special_name(&out, false)?;
    let mut options = MergeOptions::default().build(build.options());
    options.rowids = merge.rowids;
    options.source_column = merge.source_column;
    options.union = merge.union;
    options.skip_tables = merge.skip_table;
    let output = build.output;
    let interrupt = Interrupt::stops(options.build.progress.clone(), output.errors())?;
    options.observer = Reporter::new(output.progress(), Some(interrupt));
    let report = litepress::merge(&*out, databases, &options)?;
    output.print(|| report.to_json(&Flags), |verbose| merge_text(&report, verbose))?;
    Ok(DONE)
}
