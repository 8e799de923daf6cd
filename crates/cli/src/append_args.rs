//! Arguments of `load` and `plan` about rows for a database that exists.

use clap::Args;
use litepress::{LoadOptions, parse};
use std::time::Duration;

/// Rows for a database that exists.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Existing database")]
pub struct AppendArgs {
    /// Add the rows to the tables of a database that exists; tables that it lacks are made, and so is the database
    #[arg(long)]
    pub append: bool,
    /// Delete the rows of these tables before, and keep the rest of the database
    #[arg(long)]
    pub truncate: bool,
    /// Add columns that a table lacks to it
    #[arg(long)]
    pub add_columns: bool,
    /// Columns of the unique key by which --on-conflict update finds the row [default: the primary key]
    #[arg(long, value_name = "C,..", value_delimiter = ',')]
    pub key: Vec<String>,
    /// Columns that --on-conflict update changes [default: all that the files have]
    #[arg(long, value_name = "C,..", value_delimiter = ',')]
    pub update_columns: Vec<String>,
    /// Enforce foreign keys, with their actions; SQLite does so only on request
    #[arg(long)]
    pub enforce_foreign_keys: bool,
    /// Write all pages through the WAL or the journal, for programs that copy it elsewhere; always so if one is found
    #[arg(long)]
    pub through_wal: bool,
    /// Wait this long for the lock of another program [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = parse::seconds)]
    pub busy_timeout: Option<Duration>,
}

impl AppendArgs {
    /// Sets the options.
    pub fn apply(self, options: &mut LoadOptions) {
        options.append = self.append;
        options.append_options.truncate = self.truncate;
        options.append_options.add_columns = self.add_columns;
        options.append_options.enforce_foreign_keys = self.enforce_foreign_keys;
        options.append_options.through_wal = self.through_wal;
        options.append_options.busy_timeout = self.busy_timeout.unwrap_or(options.append_options.busy_timeout);
        options.build.key = self.key;
        options.build.update_columns = self.update_columns;
    }
}
