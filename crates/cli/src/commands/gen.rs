//! `litepress gen`: invents the rows of a new database.

use crate::columns::{Align, aligned};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::invention::{Invention, InventionArguments, Names, sources};
use crate::making::{Addition, Making};
use crate::options::MakingArguments;
use crate::output::{print, print_json};
use crate::progress::{Sample, Style, Unit, Watch};
use clap::Args;
use litepress::{Options, Result};
use litepress_gen::{catalogue, functions, presets};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  litepress gen user.db --preset user --rows 1b
  litepress gen user.db --preset user --rows 1m --set area='hex(6)' --seed 7 --replace
  litepress gen shop.db shop.sql --rows customer=10k --rows purchase=100k --verify full
  litepress gen --discard --preset user --rows 100m --json
  litepress gen --list
";

/// Invent the rows of a new database
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct GenArguments {
    /// Print all generators, and nothing else
    #[arg(long)]
    list: bool,
    /// Print all built-in schemas, and nothing else
    #[arg(long, conflicts_with = "list")]
    list_presets: bool,
    /// The database to make
    #[arg(value_name = "OUT.db")]
    out: Option<PathBuf>,
    /// A file of CREATE statements, annotated with '-- gen: ...'; '-' reads standard input
    #[arg(value_name = "SCHEMA.sql")]
    schema: Option<PathBuf>,
    #[command(flatten)]
    invention: InventionArguments,
    #[command(flatten)]
    making: MakingArguments,
}

pub fn run(arguments: &GenArguments) -> Result<ExitCode, Failure> {
    if arguments.list {
        list_generators(arguments.making.showing.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.list_presets {
        list_presets(arguments.making.showing.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    make(arguments)
}

/// Makes the database and tells about it.
fn make(arguments: &GenArguments) -> Result<ExitCode, Failure> {
    let (started, discard) = (Instant::now(), arguments.invention.discard);
    let names = Names { out: arguments.out.as_deref(), schema: arguments.schema.as_deref() };
    let invention = arguments.invention.prepare(names, &arguments.making, !discard)?;
    let supplies = invention.supplies()?;
    let sources = sources(&supplies);
    let file = invention.out.as_deref().filter(|_| !discard);
    let options = arguments.making.options();
    let interrupt = Interrupt::stops(options.progress.clone())?;
    let making = Making { schema: &invention.schema, sources: &sources, file, started, arguments: &arguments.making };
    let style = arguments.making.showing.progress;
    let made = making.make(options, &interrupt, |options| watch(&invention, options, style));
    let made = made.map_err(|error| invention.texts.explain(error))?;
    making.tell(&made, Addition::default())?;
    Ok(ExitCode::SUCCESS)
}

fn watch(invention: &Invention, options: &Options, style: Style) -> Watch {
    let (progress, total) = (options.progress.clone(), invention.rows());
    Watch::start(style, Unit::Things("rows"), move || {
        let (done, bytes, stage) = (progress.rows(), progress.bytes(), progress.stage());
        Sample { done, total, bytes, stage }
    })
}

fn list_generators(as_json: bool) -> Result<()> {
    let entries = || catalogue::all().iter().chain(catalogue::relations());
    if as_json {
        let functions = functions().iter().map(|function| {
            json!({"name": function.name, "signature": function.signature, "about": function.about, "example": function.signature})
        });
        let entries = entries().map(|entry| {
            json!({
                "name": entry.name,
                "signature": entry.signature(),
                "about": entry.about,
                "example": entry.example,
            })
        });
        return print_json(&entries.chain(functions).collect());
    }
    let mut rows = vec![["generator", "example", "what it gives"].map(str::to_owned).to_vec()];
    rows.extend(entries().map(|entry| vec![entry.signature(), entry.example.to_owned(), entry.about.to_owned()]));
    let mut computed = vec![["function", "what it gives"].map(str::to_owned).to_vec()];
    computed.extend(functions().iter().map(|function| vec![function.signature.to_owned(), function.about.to_owned()]));
    let operators = "operators: || * / % + - < <= > >= = <> IS BETWEEN IN NOT AND OR CASE, over columns of the row\n";
    let [rows, computed] = [aligned(&rows, &[Align::Left; 3], 0), aligned(&computed, &[Align::Left; 2], 0)];
    print(&format!("{rows}\n{computed}\n{operators}"))
}

fn list_presets(as_json: bool) -> Result<()> {
    if as_json {
        let preset = |preset: &presets::Preset| json!({"name": preset.name, "about": preset.about, "sql": preset.sql});
        return print_json(&presets::all().iter().map(preset).collect());
    }
    let text: String = presets::all()
        .iter()
        .map(|preset| format!("{}: {}\n\n{}\n", preset.name, preset.about, preset.sql.trim_end()))
        .collect();
    print(&text)
}
