//! The program `litepress`: SQLite databases, printed, planned, checked and dumped.
//!
//! ```text
//! main -> commands/{gen, load, plan, check, dump}   one file a command: arguments, help, what it prints
//!           gen, plan  -> invention              schema text, plan of the rows, their sources
//!           load, plan -> loading                files, their tables, their sources
//!           gen, load  -> making                 the database is made and told about
//!           plan       -> prospect               what would be made
//!           all        -> options, progress, report, columns, numbers, output
//! failure: an error as the user sees it, and the exit codes;  interrupt: Ctrl-C
//! ```
//!
//! There is no logic here: what is made and how it is checked is decided by the crates below.
#![forbid(unsafe_code)]

mod columns;
mod commands;
mod failure;
mod interrupt;
mod invention;
mod loading;
mod making;
mod numbers;
mod options;
mod output;
mod progress;
mod prospect;
mod report;
mod schema_text;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;
use std::sync::LazyLock;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (SQLite {})", env!("CARGO_PKG_VERSION"), litepress::sqlite_version()));

const EXAMPLES: &str = "\
Examples:
  litepress gen user.db --preset user --rows 1b       a billion rows of a built-in schema
  litepress gen mine.db schema.sql --rows 100k        rows for a schema of your own
  litepress load data.db data.csv --primary-key id    a table out of a file
  litepress plan schema.sql --rows 100k               what would be made, and how
  litepress check user.db                             is every page as it should be?
  litepress dump user.db 1                            the bytes of page 1, explained

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
    Gen(Box<commands::GenArguments>),
    Load(Box<commands::LoadArguments>),
    Plan(Box<commands::PlanArguments>),
    Check(commands::CheckArguments),
    Dump(commands::DumpArguments),
}

fn main() -> ExitCode {
    let done: Result<ExitCode, Failure> = match Cli::parse().command {
        Command::Gen(arguments) => commands::r#gen(&arguments),
        Command::Load(arguments) => commands::load(&arguments),
        Command::Plan(arguments) => commands::plan(&arguments),
        Command::Check(arguments) => commands::check(&arguments),
        Command::Dump(arguments) => commands::dump(&arguments),
    };
    done.unwrap_or_else(|failure| failure.report())
}
