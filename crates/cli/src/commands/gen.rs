//! `litepress gen`: invents the rows of a new database.

use super::check::Verdict;
use crate::columns::{Align, aligned};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::invention::{Invention, InventionArguments, Supply};
use crate::output::{print, print_json};
use crate::progress::{Sample, Style, Watch};
use crate::report::Report;
use clap::Args;
use litepress::{Database, Finished, Options, Result, Target, Verify};
use litepress_gen::{catalogue, presets};
use serde_json::{Value, json};
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
    #[command(flatten)]
    invention: InventionArguments,
}

pub fn run(arguments: &GenArguments) -> Result<ExitCode, Failure> {
    if arguments.list {
        list_generators(arguments.invention.making.showing.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.list_presets {
        list_presets(arguments.invention.making.showing.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    make(&arguments.invention)
}

/// Makes the database and tells about it.
fn make(arguments: &InventionArguments) -> Result<ExitCode, Failure> {
    let (started, making) = (Instant::now(), &arguments.making);
    let invention = arguments.prepare(!arguments.discard)?;
    let supplies = invention.supplies()?;
    let mut options = making.options();
    let file = invention.out.clone().filter(|_| !arguments.discard);
    let target = file.clone().map_or(Target::Discard, Target::File);
    options.expected_bytes = invention.estimate(&supplies, &target, &options)?.printed_bytes;

    let interrupt = Interrupt::stops(options.progress.clone())?;
    let watch = watch(&invention, &options, making.showing.progress);
    let finished = press(&target, &invention, &supplies, &options);
    drop(watch);
    interrupt.run_is_over();
    let finished = finished.map_err(|error| invention.texts.explain(error))?;

    let report = Report {
        summary: &finished.summary,
        file: file.as_deref(),
        wall: started.elapsed().saturating_sub(finished.summary.stages.verify),
        threads: options.threads,
        memory_bytes: options.memory_bytes,
        sync: making.sync.name(),
    };
    // What SQLite complains of is an error: it has found nothing.
    let sqlite = (options.verify == Verify::Full).then(Vec::new);
    let verdict = finished.verified.map(|report| Verdict { report, sqlite });
    tell(&report, verdict.as_ref(), making.showing.json)?;
    Ok(ExitCode::SUCCESS)
}

fn press(target: &Target, invention: &Invention, supplies: &[Supply], options: &Options) -> Result<Finished> {
    let mut database = Database::create(target, invention.schema.clone(), options)?;
    for table in database.filling_order() {
        if let Some(supply) = supplies.iter().find(|supply| supply.table == table) {
            database.fill(table, &supply.source)?;
        }
    }
    database.finish()
}

fn watch(invention: &Invention, options: &Options, style: Style) -> Watch {
    let (progress, total) = (options.progress.clone(), invention.rows());
    Watch::start(style, "rows", move || {
        let (done, bytes, stage) = (progress.rows(), progress.bytes(), progress.stage());
        Sample { done, total, bytes, stage }
    })
}

fn tell(report: &Report<'_>, verdict: Option<&Verdict>, as_json: bool) -> Result<()> {
    if as_json {
        let mut value = report.to_json();
        value["verify"] = verdict.map_or(Value::Null, Verdict::to_json);
        return print_json(&value);
    }
    let verdict = verdict.map(|verdict| format!("\nverify: {}", verdict.to_text()));
    print(&(report.to_text() + &verdict.unwrap_or_default()))
}

fn list_generators(as_json: bool) -> Result<()> {
    if as_json {
        let entries = catalogue::all().iter().map(|entry| {
            json!({
                "name": entry.name,
                "signature": entry.signature(),
                "about": entry.about,
                "example": entry.example,
            })
        });
        return print_json(&entries.collect());
    }
    let mut rows = vec![["generator", "example", "what it gives"].map(str::to_owned).to_vec()];
    rows.extend(
        catalogue::all().iter().map(|entry| vec![entry.signature(), entry.example.to_owned(), entry.about.to_owned()]),
    );
    print(&aligned(&rows, &[Align::Left; 3], 0))
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
