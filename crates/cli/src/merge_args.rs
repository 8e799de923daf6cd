//! How databases are merged: arguments of `merge` and `plan`.

use clap::Args;
use litepress::{Choice, MergeOptions, Options, RowidPolicy};

/// How databases are merged.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Merging")]
pub struct MergeArgs {
    /// Rowids of all tables or of one: keep (equal ones conflict) or renumber (each database's above those before it); may
    /// be repeated [default: keep]
    #[arg(long, value_name = "[TABLE=]HOW", value_parser = rowids)]
    pub rowids: Vec<(Option<String>, RowidPolicy)>,
    /// Merge tables and other objects that some databases lack, too
    #[arg(long)]
    pub union: bool,
    /// Leave out a table with its indexes and triggers; may be repeated
    #[arg(long, value_name = "TABLE")]
    pub skip_table: Vec<String>,
}

impl MergeArgs {
    /// Returns the first of these options that is given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--rowids", !self.rowids.is_empty()),
            ("--union", self.union),
            ("--skip-table", !self.skip_table.is_empty()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// Returns the options of a merge.
    pub fn options(self, build: Options, source_column: Option<String>) -> MergeOptions {
        let mut options = MergeOptions::default().build(build);
        options.rowids = self.rowids;
        options.source_column = source_column;
        options.union = self.union;
        options.skip_tables = self.skip_table;
        options
    }
}

/// Reads `renumber` or `TABLE=renumber`.
fn rowids(text: &str) -> Result<(Option<String>, RowidPolicy), String> {
    match text.rsplit_once('=') {
        Some((table, policy)) => Ok((Some(table.to_owned()), RowidPolicy::from_name(policy)?)),
        None => Ok((None, RowidPolicy::from_name(text)?)),
    }
}
