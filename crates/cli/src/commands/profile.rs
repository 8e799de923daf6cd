//! `litepress profile`: writes a recipe for a database that looks like an existing one.

use crate::failure::{DONE, ErrorForm};
use crate::options::HtmlArgs;
use crate::output::{print, print_json};
use clap::Args;
use litepress::{ProfileOptions, Result, parse};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress profile user.db > recipe.toml
  litepress profile user.db --json --threads 1
  litepress profile user.db --keep-values
  litepress profile user.db --html values.html > recipe.toml
";

/// Write a recipe for a database that looks like this one; texts of its rows are not in it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ProfileArguments {
    /// The database; it is only read
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Keep the texts of columns with few different ones: states, countries, also names
    #[arg(long)]
    keep_values: bool,
    /// Threads that read [default: one a core]
    #[arg(long, value_name = "N", value_parser = parse::threads)]
    threads: Option<usize>,
    #[command(flatten)]
    html: HtmlArgs,
    /// Print what is known of every column as one JSON object
    #[arg(long)]
    json: bool,
}

impl ProfileArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        ErrorForm::of(self.json)
    }
}

pub fn run(arguments: &ProfileArguments) -> Result<u8> {
    let options = ProfileOptions::default().keep_values(arguments.keep_values);
    let options = options.clone().threads(arguments.threads.unwrap_or(options.threads));
    let learnt = litepress::profile(&arguments.database, &arguments.html.profile(options))?;
    arguments.html.open()?;
    if arguments.json {
        print_json(&learnt.to_json())?
    } else {
        print(&learnt.to_toml())?
    }
    Ok(DONE)
}
