//! `litepress plan`: what `litepress gen` would do with the same arguments, and why.

use crate::failure::Failure;
use crate::invention::{InventionArguments, Names};
use crate::options::MakingArguments;
use crate::prospect::{Prospect, TableProspect};
use clap::Args;
use litepress::Target;
use litepress::plan::steps;
use litepress_gen::{Chosen, ColumnPlan, TablePlan};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  litepress plan schema.sql --rows 100k
  litepress plan --preset user --rows 1b --json
  litepress plan shop.db shop.sql --rows customer=10k --rows purchase=100k
  litepress plan --preset user --rows 1m --set area='hex(6)'
";

/// Show what 'litepress gen' would do with the same arguments, and why
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PlanArguments {
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

pub fn run(arguments: &PlanArguments) -> Result<ExitCode, Failure> {
    let (names, making) =
        (Names { out: arguments.out.as_deref(), schema: arguments.schema.as_deref() }, &arguments.making);
    let invention = arguments.invention.prepare(names, making, false)?;
    let supplies = invention.supplies()?;
    let options = making.options();
    let target = invention.out.clone().map_or(Target::Discard, Target::File);
    let prospect = Prospect {
        command: "gen",
        schema: &invention.schema,
        out: invention.out.as_deref(),
        rows: Some(invention.rows()),
        page_size: invention.page_size,
        on_conflict: making.on_conflict.name(),
        estimate: invention.estimate(&supplies, &target, &options)?,
        steps: steps(&invention.schema, options.on_conflict),
        tables: invention.plan.tables().iter().map(|plan| table(plan)).collect(),
        options,
    };
    prospect.print(making.showing.json)?;
    Ok(ExitCode::SUCCESS)
}

fn table(table: &TablePlan) -> TableProspect {
    let words = |column: &ColumnPlan| [&column.name, &column.expression, &column.chosen.to_string()].map(String::clone);
    TableProspect {
        name: table.name.clone(),
        rows: Some(table.rows),
        note: format!(", seed {}", table.seed),
        columns: table.columns.iter().map(|column| words(column).to_vec()).collect(),
        json: json!({
            "seed": table.seed,
            "columns": table.columns.iter().map(column_json).collect::<Vec<Value>>(),
        }),
    }
}

fn column_json(column: &ColumnPlan) -> Value {
    let (chosen, because) = match &column.chosen {
        Chosen::Annotation => ("annotation", None),
        Chosen::Set => ("set", None),
        Chosen::Inferred(because) => ("inferred", Some(because)),
    };
    json!({"name": column.name, "generator": column.expression, "chosen": chosen, "because": because})
}
