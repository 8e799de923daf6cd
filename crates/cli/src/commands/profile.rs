//! `litepress profile`: writes a recipe for a database that looks like an existing one.

use crate::failure::{DONE, ErrorForm};
use crate::output::{print, print_json};
use clap::Args;
use litepress::{Profile, ProfileOptions, Result, parse};
use litepress_profile::{ColumnProfile, TableProfile};
use serde_json::{Value, json};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress profile user.db > recipe.toml
  litepress profile user.db --json --threads 1
  litepress profile user.db --keep-values
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
    let learnt = litepress::profile(&arguments.database, &options)?;
    if arguments.json {
        print_json(&as_json(&learnt))?
    } else {
        print(&learnt.to_toml())?
    }
    Ok(DONE)
}

fn as_json(profile: &Profile) -> Value {
    let column = |column: &ColumnProfile| {
        json!({
            "name": column.name,
            "nulls": column.nulls,
            "distinct": column.distinct,
            "distinct_is_exact": column.distinct_is_exact,
            "range": column.range.map(|(least, largest)| [least, largest]),
            "generator": column.generator,
            "because": column.because,
        })
    };
    let table = |table: &TableProfile| {
        let columns: Vec<Value> = table.columns.iter().map(column).collect();
        json!({"name": table.name, "rows": table.rows, "columns": columns})
    };
    json!({
        "schema": profile.schema.text,
        "tables": profile.tables.iter().map(table).collect::<Vec<Value>>(),
        "recipe": profile.to_toml(),
    })
}
