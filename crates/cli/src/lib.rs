//! What the program `litepress` does: SQLite databases, printed, planned, checked and dumped.
//!
//! ```text
//! main_with -> commands/{gen, load, plan, profile, check, dump}  one file a command: arguments, help, doing, telling
//!                gen, plan  -> invention                 schema text, plan of the rows, their sources
//!                load, plan -> loading                   files, their tables, their sources
//!                gen, load  -> making                    the database is made
//!                plan       -> prospect                  what would be made
//!                all        -> options, progress, outcome, report, columns, numbers, output
//! failure: an error as the user sees it, and the exit codes;  interrupt: Ctrl-C
//! ```
//!
//! There is no logic here: what is made and how it is checked is decided by the crates below.
//!
//! **Doing is apart from telling.** [`generate`], [`load`], [`plan_generate`], [`plan_load`] and [`check`] print nothing and
//! handle no signals unless their [`Audience`] is the user of the program: other programs call them with [`Audience::NOBODY`]
//! and stop them by the [`Progress`](litepress::Progress) of their options.
#![forbid(unsafe_code)]

mod audience;
mod columns;
mod commands;
mod failure;
mod interrupt;
mod invention;
mod loading;
mod making;
pub mod numbers;
pub mod options;
mod outcome;
mod output;
mod progress;
mod prospect;
pub mod report;
mod schema_text;

pub use audience::Audience;
pub use commands::{Verdict, check, generate, load, plan_alike, plan_generate, plan_load};
pub use failure::{Failure, advice};
pub use invention::{InventionArguments, part, scale};
pub use loading::{LoadJob, ReadingArguments, WrongRecordArguments, ascii, delimiter, quote};
pub use outcome::Outcome;
pub use schema_text::SchemaText;
pub use serde_json::Value;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::sync::LazyLock;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (SQLite {})", env!("CARGO_PKG_VERSION"), litepress::sqlite_version()));

const EXAMPLES: &str = "\
Examples:
  litepress gen user.db --preset user --rows 1b       a billion rows of a built-in schema
  litepress gen mine.db schema.sql --rows 100k        rows for a schema of your own
  litepress load data.db data.csv --primary-key id    a table out of a file
  litepress plan schema.sql --rows 100k               what would be made, and how
  litepress profile user.db                           a plan for a database that looks alike
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
    Profile(commands::ProfileArguments),
    Check(commands::CheckArguments),
    Dump(commands::DumpArguments),
}

/// Runs the program: the name it was called by, then its arguments. What it prints, and how it ends on Ctrl-C, is the
/// program's; so this is to be called once in a process, which then ends with the exit code that is given back.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match Cli::try_parse_from(arguments) {
        Ok(Cli { command }) => command,
        Err(error) => {
            // Help and the version come this way, too. Where standard output is closed, nobody wants them.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(failure::USAGE);
        }
    };
    let done: Result<u8, Failure> = match command {
        Command::Gen(arguments) => commands::run_gen(&arguments),
        Command::Load(arguments) => commands::run_load(*arguments),
        Command::Plan(arguments) => commands::run_plan(*arguments),
        Command::Profile(arguments) => commands::run_profile(&arguments),
        Command::Check(arguments) => commands::run_check(&arguments),
        Command::Dump(arguments) => commands::run_dump(&arguments),
    };
    done.unwrap_or_else(|failure| failure.report())
}
