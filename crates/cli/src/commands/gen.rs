//! `litepress gen`: invents the rows of a new database.

use crate::audience::Audience;
use crate::columns::{Align, aligned};
use crate::failure::{DONE, Failure};
use crate::interrupt::Interrupt;
use crate::invention::{Invention, InventionArguments, Names, sources};
use crate::making::{Addition, Making, refuse_special_names};
use crate::options::MakingArguments;
use crate::outcome::Outcome;
use crate::output::{print, print_json};
use crate::progress::{Sample, Unit, Watch};
use crate::schema_text::SchemaText;
use clap::Args;
use litepress::{Options, Result};
use litepress_gen::{catalogue, functions, presets};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  litepress gen user.db --preset user --rows 1b
  litepress gen user.db --preset user --rows 1m --set area='hex(6)' --seed 7 --replace
  litepress gen shop.db shop.sql --rows customer=10k --rows purchase=100k --verify full
  litepress gen big.db --plan plan.toml --scale 100
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

pub fn run(arguments: &GenArguments) -> Result<u8, Failure> {
    if arguments.list {
        list_generators(arguments.making.showing.json)?;
        return Ok(DONE);
    }
    if arguments.list_presets {
        list_presets(arguments.making.showing.json)?;
        return Ok(DONE);
    }
    let (invention, discard) = (&arguments.invention, arguments.invention.discard);
    let names = Names { out: arguments.out.as_deref(), schema: arguments.schema.as_deref() };
    let names = invention.files(names, !discard)?;
    let schema = invention.read(names.schema)?;
    let options = arguments.making.options();
    let showing = &arguments.making.showing;
    let audience = Audience::user(showing.progress, Some(Interrupt::stops(options.progress.clone())?));
    let file = names.out.filter(|_| !discard);
    generate(schema, invention, file, options, &audience)?.print(showing.json)?;
    Ok(DONE)
}

/// Makes a database of invented rows: `file`, or none, where pages are dropped.
///
/// # Errors
/// All mistakes in the arguments, the schema and its annotations; what the engine fails with.
pub fn generate(
    schema: SchemaText,
    arguments: &InventionArguments,
    file: Option<&Path>,
    options: Options,
    audience: &Audience,
) -> Result<Outcome, Failure> {
    let started = Instant::now();
    file.map_or(Ok(()), refuse_special_names)?;
    let invention = Invention::new(schema, arguments, &options)?;
    invention.write_plan(arguments)?;
    let supplies = invention.supplies()?;
    let making = Making { schema: &invention.schema, sources: &sources(&supplies), file, started };
    let made = making.make(options, audience, |options| watch(&invention, options, audience), &|| Ok(()));
    let made = made.map_err(|error| invention.texts.explain(error))?;
    Ok(making.outcome(&made, Addition::default()))
}

fn watch(invention: &Invention, options: &Options, audience: &Audience) -> Watch {
    let (progress, total) = (options.progress.clone(), invention.rows());
    audience.watch(Unit::Things("rows"), move || {
        let (done, bytes, stage) = (progress.rows(), progress.bytes(), progress.stage());
        Sample { done, total, bytes, stage }
    })
}

fn list_generators(as_json: bool) -> Result<()> {
    let entries = || catalogue::all().chain(catalogue::relations());
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
