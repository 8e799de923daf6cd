//! Arguments of `load` and `plan` about the records within files.

use clap::{Args, ValueEnum};
use litepress::{LoadOptions, NanPolicy, units};

/// The records within files.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub struct ContentArgs {
    /// Keys that lead to the records of JSON, with dots between: data.items
    #[arg(long, value_name = "KEYS")]
    pub json_path: Option<String>,
    /// Make columns of nested JSON objects: {"a": {"b": 1}} has a column a_b
    #[arg(long)]
    pub flatten: bool,
    /// Action for NaN and Infinity in JSON that --missing and --infinity do not name
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub nan: NanArg,
    /// With --on-conflict update: a key that a record of JSON lacks and others have is NULL, instead of an error; so is a column that a file lacks
    #[arg(long)]
    pub absent_as_null: bool,
    /// Sheets of workbooks: a name, which may be repeated, or all [default: all that have a value]
    #[arg(long, value_name = "NAME")]
    pub sheet: Vec<String>,
    /// Read these columns of the files only, in this order
    #[arg(long, value_name = "[TABLE.]C,..", value_delimiter = ',')]
    pub select: Vec<String>,
    /// Load the first N records of each table only
    #[arg(long, value_name = "N", value_parser = units::count)]
    pub limit: Option<u64>,
    /// Add a column that holds the name of each record's file
    #[arg(long, value_name = "C")]
    pub source_column: Option<String>,
}

/// `--nan`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NanArg {
    /// The record is wrong: JSON has no such numbers.
    #[default]
    Error,
    /// NULL takes the place of the value.
    Null,
    /// The word is stored as text.
    Text,
}

impl ContentArgs {
    /// Sets the options.
    pub fn apply(self, options: &mut LoadOptions) {
        options.absent_as_null = self.absent_as_null;
        options.sheets = self.sheet;
        options.select = self.select;
        options.limit = self.limit;
        options.source_column = self.source_column;
        options.json_path = self.json_path;
        options.flatten = self.flatten;
        options.nan = match self.nan {
            NanArg::Error => NanPolicy::Error,
            NanArg::Null => NanPolicy::Null,
            NanArg::Text => NanPolicy::Text,
        };
    }
}
