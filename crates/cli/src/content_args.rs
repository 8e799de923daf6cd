//! Arguments of `load` and `plan` about the records within files.

use clap::{Args, ValueEnum};
use litepress::{LoadOptions, NanPolicy};

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
    /// Action for NaN and Infinity in JSON
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub nan: NanArg,
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
        options.json_path = self.json_path;
        options.flatten = self.flatten;
        options.nan = match self.nan {
            NanArg::Error => NanPolicy::Error,
            NanArg::Null => NanPolicy::Null,
            NanArg::Text => NanPolicy::Text,
        };
    }
}
