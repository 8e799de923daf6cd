//! `litepress plan`: what `litepress gen` would do with the same arguments, and why.

use crate::columns::{Align, aligned};
use crate::failure::Failure;
use crate::invention::{self, Invention, InventionArguments, Supply};
use crate::numbers;
use crate::output::{print, print_json};
use clap::Args;
use litepress::plan::{Lane, Step, steps};
use litepress::{Options, Result, folder_of, free_bytes};
use litepress_gen::{Chosen, ColumnPlan, TablePlan};
use serde_json::{Value, json};
use std::path::Path;
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
    #[command(flatten)]
    invention: InventionArguments,
}

/// What is to be shown.
struct Prospect {
    invention: Invention,
    options: Options,
    /// The rows' sources, where the whole schema can be made.
    supplies: Vec<Supply>,
    steps: Vec<Step>,
}

pub fn run(arguments: &PlanArguments) -> Result<ExitCode, Failure> {
    let invention = arguments.invention.prepare(false)?;
    let supplies = invention.supplies()?;
    let options = arguments.invention.making.options();
    let prospect = Prospect { steps: steps(&invention.schema), invention, options, supplies };
    if arguments.invention.making.showing.json {
        print_json(&prospect.to_json())?;
    } else {
        print(&prospect.to_text())?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Prospect {
    fn to_text(&self) -> String {
        let mut out = self.totals();
        for table in self.invention.plan.tables() {
            out.push('\n');
            out += &self.table(table);
        }
        out += "\nlanes\n";
        out += &aligned(&self.steps.iter().map(step_words).collect::<Vec<_>>(), &[Align::Left; 4], 2);
        out
    }

    fn totals(&self) -> String {
        let target = self.invention.out.as_ref().map_or("not named".to_owned(), |out| {
            let exists = if out.exists() && !self.options.replace { " (exists: gen needs --replace)" } else { "" };
            format!("{}{exists}", out.display())
        });
        let rows = [
            ("schema", self.invention.schema.origin.clone()),
            ("target", target),
            ("rows", numbers::grouped(self.invention.rows())),
            ("bytes", about(self.expected_bytes())),
            ("page size", numbers::grouped(self.invention.page_size.bytes() as u64)),
            ("disk", self.room()),
            ("memory", format!("{} at most", numbers::memory(self.options.memory_bytes))),
            ("threads", self.options.threads.to_string()),
        ];
        aligned(&rows.map(|(name, value)| vec![name.to_owned(), value]), &[Align::Left; 2], 0)
    }

    /// The folder that the database goes to: the current one where none is named.
    fn folder(&self) -> &Path {
        self.invention.out.as_deref().map_or(Path::new("."), folder_of)
    }

    /// Whether the disk has room.
    fn room(&self) -> String {
        match free_bytes(self.folder()) {
            None => format!("there is no folder '{}'", self.folder().display()),
            Some(free) => {
                let verdict = if free < self.expected_bytes() { "not enough" } else { "enough" };
                format!("{} free, which is {verdict}", numbers::bytes(free))
            }
        }
    }

    /// A table with its columns.
    fn table(&self, table: &TablePlan) -> String {
        let bytes = self.table_bytes(table).map_or(String::new(), |bytes| format!(", {}", about(bytes)));
        let head = format!("table {}: {} rows{bytes}, seed {}\n", table.name, numbers::grouped(table.rows), table.seed);
        let words =
            |column: &ColumnPlan| [&column.name, &column.expression, &column.chosen.to_string()].map(String::clone);
        let columns: Vec<Vec<String>> = table.columns.iter().map(|column| words(column).to_vec()).collect();
        head + &aligned(&columns, &[Align::Left; 3], 2)
    }

    fn table_bytes(&self, table: &TablePlan) -> Option<u64> {
        self.supplies.iter().find(|supply| supply.table == table.table).map(Supply::expected_bytes)
    }

    fn expected_bytes(&self) -> u64 {
        invention::expected_bytes(&self.supplies)
    }

    fn to_json(&self) -> Value {
        let tables = self.invention.plan.tables().iter().map(|table| {
            json!({
                "name": table.name,
                "rows": table.rows,
                "seed": table.seed,
                "expected_bytes": self.table_bytes(table),
                "columns": table.columns.iter().map(column_json).collect::<Vec<Value>>(),
            })
        });
        json!({
            "schema": self.invention.schema.origin,
            "target": self.invention.out.as_ref().map(|out| out.display().to_string()),
            "rows": self.invention.rows(),
            "expected_bytes": self.expected_bytes(),
            "page_size_bytes": self.invention.page_size.bytes(),
            "free_bytes": free_bytes(self.folder()),
            "memory_budget_bytes": self.options.memory_bytes,
            "threads": self.options.threads,
            "tables": tables.collect::<Vec<Value>>(),
            "steps": self.steps.iter().map(step_json).collect::<Vec<Value>>(),
        })
    }
}

fn about(bytes: u64) -> String {
    format!("about {}", numbers::bytes(bytes))
}

fn column_json(column: &ColumnPlan) -> Value {
    let (chosen, because) = match &column.chosen {
        Chosen::Annotation => ("annotation", None),
        Chosen::Set => ("set", None),
        Chosen::Inferred(because) => ("inferred", Some(because)),
    };
    json!({"name": column.name, "generator": column.expression, "chosen": chosen, "because": because})
}

/// Kind, name, lane and reason.
fn step_words(step: &Step) -> Vec<String> {
    let name = match step.kind {
        "table" | "view" => step.name.clone(),
        _ => format!("{} of {}", step.name, step.table),
    };
    let (lane, why) = lane_words(&step.lane);
    vec![step.kind.to_owned(), name, lane.to_owned(), why]
}

fn step_json(step: &Step) -> Value {
    let (lane, why) = lane_words(&step.lane);
    json!({"kind": step.kind, "name": step.name, "table": step.table, "lane": lane, "why": why})
}

fn lane_words(lane: &Lane) -> (&'static str, String) {
    match lane {
        Lane::Direct => ("direct", "its pages are printed".to_owned()),
        Lane::SchemaOnly => ("schema only", "it is a row of sqlite_schema and has no pages of its own".to_owned()),
        Lane::Sqlite { why } => ("sqlite", format!("SQLite makes it on the printed file: {why}")),
        Lane::Query => ("query", "SQLite checks it on the printed file".to_owned()),
        other => ("other", format!("{other:?}")),
    }
}
