//! The program `litepress`: arguments, help and output. The crate `litepress` does the work.
//!
//! ```text
//! main_with -> commands/{generate, load, plan, profile, compare, check, inspect}  one file a command
//!                generate, plan -> generate_args         arguments about generated rows
//!                load, plan     -> load_args             arguments about files
//!                generate, load -> build_text            the report of a database
//!                plan           -> plan_text             the report of a plan
//!                all            -> options, progress, text_table, output
//! reporter: progress and Ctrl-C (interrupt);  failure: an error as the user sees it, and the exit codes
//! ```
#![forbid(unsafe_code)]

mod build_text;
mod commands;
mod failure;
mod generate_args;
mod interrupt;
mod load_args;
mod options;
mod output;
mod plan_text;
mod progress;
mod reporter;
mod text_table;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::sync::LazyLock;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (SQLite {})", env!("CARGO_PKG_VERSION"), litepress::sqlite_version()));

const EXAMPLES: &str = "\
Examples:
  litepress generate user.db --preset user --rows 1b  a billion rows of a built-in schema
  litepress generate mine.db schema.sql --rows 100k   rows for a schema of your own
  litepress load data.db data.csv --primary-key id    a table out of a file
  litepress plan schema.sql --rows 100k               what would be made, and how
  litepress profile user.db                           a recipe for a database that looks alike
  litepress check user.db                             is every page as it should be?
  litepress inspect user.db 1                         the bytes of page 1, explained

Exit codes: 0 done, 1 data or I/O error, 2 wrong usage, 130 interrupted.
";

/// Prints SQLite databases: b-tree pages built bottom-up, on all cores, published whole or not at all.
#[derive(Debug, Parser)]
#[command(name = "litepress", version = VERSION.as_str(), after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(Box<commands::GenerateArguments>),
    Load(Box<commands::LoadArguments>),
    Plan(Box<commands::PlanArguments>),
    Profile(commands::ProfileArguments),
    Compare(commands::CompareArguments),
    Check(commands::CheckArguments),
    Inspect(commands::InspectArguments),
}

/// Runs the program and returns its exit code. The first argument is the program's name. It prints and installs signal
/// handlers, so a process must call it only once, and end with the exit code.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match Cli::try_parse_from(arguments) {
        Ok(Cli { command }) => command,
        Err(error) => {
            // clap returns help and the version as errors, too. A closed output is no reason to fail.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(failure::USAGE);
        }
    };
    let done: litepress::Result<u8> = match command {
        Command::Generate(arguments) => commands::run_generate(&arguments),
        Command::Load(arguments) => commands::run_load(*arguments),
        Command::Plan(arguments) => commands::run_plan(*arguments),
        Command::Profile(arguments) => commands::run_profile(&arguments),
        Command::Compare(arguments) => commands::run_compare(&arguments),
        Command::Check(arguments) => commands::run_check(&arguments),
        Command::Inspect(arguments) => commands::run_inspect(&arguments),
    };
    done.unwrap_or_else(|error| failure::report(&error))
}
