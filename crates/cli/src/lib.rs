//! The program `litepress`: arguments, help and output. The crate `litepress` does the work.
//!
//! ```text
//! main_with -> commands/{generate, load, merge, plan, index, profile, compact, compare, check, inspect, completions, man}
//!                generate, plan -> generate_args         arguments about generated rows
//!                load, plan     -> load_args             arguments about files
//!                generate, load -> build_text            the report of a database
//!                plan           -> plan_text             the report of a plan
//!                all            -> options, progress, text_table, output
//! reporter: progress and Ctrl-C (interrupt);  bad_usage: wrong arguments;  failure: an error as the user sees it, and the exit codes
//! ```
#![forbid(unsafe_code)]

mod append_args;
mod append_text;
mod bad_usage;
mod build_text;
mod commands;
mod content_args;
mod failure;
mod generate_args;
mod interrupt;
mod load_args;
mod merge_args;
mod options;
mod output;
mod plan_text;
mod progress;
#[cfg(test)]
mod reference;
mod reporter;
mod text_table;

use clap::{CommandFactory, Parser, Subcommand};
use failure::ErrorForm;
use std::ffi::OsString;
use std::sync::LazyLock;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (SQLite {})", env!("CARGO_PKG_VERSION"), litepress::sqlite_version()));

const EXAMPLES: &str = "\
Examples:
  litepress load data.db data.csv --primary-key id    a table out of a file
  litepress generate user.db --preset user --rows 1b  rows of a built-in schema
  litepress generate mine.db schema.sql --rows 100k   rows of your own schema
  litepress plan schema.sql --rows 100k               what would be made, how
  litepress profile user.db                           a recipe for a look-alike
  litepress check user.db                             is every page sound?
  litepress inspect user.db 1                         the bytes of page 1

Exit codes: 0 done, 1 data or I/O error, 2 wrong usage, 130 interrupted.
";

/// Makes SQLite databases: loads files or generates rows, on all cores; the file is whole or absent
#[derive(Debug, Parser)]
#[command(name = "litepress", version = VERSION.as_str(), after_help = EXAMPLES, max_term_width = 120)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(Box<commands::GenerateArguments>),
    Load(Box<commands::LoadArguments>),
    Merge(Box<commands::MergeArguments>),
    Plan(Box<commands::PlanArguments>),
    Index(commands::IndexArguments),
    Reindex(commands::ReindexArguments),
    Profile(commands::ProfileArguments),
    Compact(Box<commands::CompactArguments>),
    Compare(commands::CompareArguments),
    Check(commands::CheckArguments),
    Inspect(commands::InspectArguments),
    Completions(commands::CompletionsArguments),
    Man(commands::ManArguments),
}

impl Command {
    /// Returns the form of errors that the command asks for.
    fn errors(&self) -> ErrorForm {
        match self {
            Self::Generate(arguments) => arguments.errors(),
            Self::Load(arguments) => arguments.errors(),
            Self::Merge(arguments) => arguments.errors(),
            Self::Plan(arguments) => arguments.errors(),
            Self::Index(arguments) => arguments.errors(),
            Self::Reindex(arguments) => arguments.errors(),
            Self::Profile(arguments) => arguments.errors(),
            Self::Compact(arguments) => arguments.errors(),
            Self::Compare(arguments) => arguments.errors(),
            Self::Check(arguments) => arguments.errors(),
            Self::Inspect(_) | Self::Completions(_) | Self::Man(_) => ErrorForm::Text,
        }
    }

    fn run(self) -> litepress::Result<u8> {
        match self {
            Self::Generate(arguments) => commands::run_generate(&arguments),
            Self::Load(arguments) => commands::run_load(*arguments),
            Self::Merge(arguments) => commands::run_merge(*arguments),
            Self::Plan(arguments) => commands::run_plan(*arguments),
            Self::Index(arguments) => commands::run_index(&arguments),
            Self::Reindex(arguments) => commands::run_reindex(&arguments),
            Self::Profile(arguments) => commands::run_profile(&arguments),
            Self::Compact(arguments) => commands::run_compact(*arguments),
            Self::Compare(arguments) => commands::run_compare(&arguments),
            Self::Check(arguments) => commands::run_check(&arguments),
            Self::Inspect(arguments) => commands::run_inspect(&arguments),
            Self::Completions(arguments) => commands::run_completions(&arguments, Cli::command()),
            Self::Man(arguments) => commands::run_man(&arguments, Cli::command()),
        }
    }
}

/// Runs the program and returns its exit code. The first argument is the program's name. It prints and installs signal
/// handlers, so a process must call it only once, and end with the exit code.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match Cli::try_parse_from(&arguments) {
        Ok(Cli { command }) => {
            let errors = command.errors();
            command.run().unwrap_or_else(|error| errors.report(&error))
        }
        Err(error) => bad_usage::report(error, &arguments, &Cli::command()),
    }
}
