//! `litepress generate`: makes a database of generated rows.

use crate::build_text::{build_text, dropped_text, verify_text};
use crate::failure::{DONE, ErrorForm};
use crate::generate_args::{GenerateArgs, Names};
use crate::interrupt::Interrupt;
use crate::options::BuildArgs;
use crate::output::{print, print_json};
use crate::reporter::Reporter;
use crate::text_table::{Align, format_table};
use clap::Args;
use litepress::{Result, Target};
use litepress_gen::{catalogue, functions, presets};
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress generate user.db --preset user --rows 1b
  litepress generate user.db --preset user --rows 1m --seed 7 --overwrite
  litepress generate hex.db --preset user --rows 1m --set area='hex(6)'
  litepress generate shop.db shop.sql --rows customer=10k --rows purchase=100k
  litepress generate big.db --recipe recipe.toml --scale 100
  litepress generate --discard --preset user --rows 100m --json
  litepress generate --list
";

/// Make a database of generated rows
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct GenerateArguments {
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
    generate: GenerateArgs,
    #[command(flatten)]
    build: BuildArgs,
}

impl GenerateArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.build.output.errors()
    }
}

pub fn run(arguments: &GenerateArguments) -> Result<u8> {
    let (generate, build) = (&arguments.generate, &arguments.build);
    if arguments.list {
        list_generators(build.output.json)?;
        return Ok(DONE);
    }
    if arguments.list_presets {
        list_presets(build.output.json)?;
        return Ok(DONE);
    }
    let names = Names { out: arguments.out.as_deref(), schema: arguments.schema.as_deref() };
    let names = generate.files(names, !generate.discard)?;
    let schema = generate.read(names.schema)?;
    let options = build.options();
    let interrupt = Interrupt::stops(options.progress.clone(), build.output.errors())?;
    let reporter = Reporter::new(build.output.progress(), Some(interrupt));
    let file = names.out.filter(|_| !generate.discard);
    let target = file.map_or(Target::Discard, Target::from);
    let report = litepress::generate(target, schema, &generate.options(options, reporter))?;
    let text = |verbose| build_text(&report, verbose) + &dropped_text(report.dropped.iter()) + &verify_text(&report);
    build.output.print_done(|| report.to_json(), text)?;
    Ok(DONE)
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
    let [rows, computed] = [format_table(&rows, &[Align::Left; 3], 0), format_table(&computed, &[Align::Left; 2], 0)];
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
