//! `litepress plan`: what `litepress gen` would do with the same arguments, and why.

use crate::columns::{Align, aligned};
use crate::failure::Failure;
use crate::invention::{Invention, InventionArguments};
use crate::numbers;
use crate::output::{print, print_json};
use clap::Args;
use litepress::plan::{Lane, Step, steps};
use litepress::{Estimate, Options, Target, TreeEstimate, folder_of, free_bytes};
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
    /// What becomes of rows that their table does not take.
    on_conflict: &'static str,
    estimate: Estimate,
    steps: Vec<Step>,
}

pub fn run(arguments: &PlanArguments) -> Result<ExitCode, Failure> {
    let invention = arguments.invention.prepare(false)?;
    let supplies = invention.supplies()?;
    let (options, on_conflict) = (arguments.invention.making.options(), arguments.invention.making.on_conflict.name());
    let target = invention.out.clone().map_or(Target::Discard, Target::File);
    let estimate = invention.estimate(&supplies, &target, &options)?;
    let steps = steps(&invention.schema, options.on_conflict);
    let prospect = Prospect { steps, invention, options, on_conflict, estimate };
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
        let mut rows = vec![["kind", "name", "lane", "file", "memory", "why"].map(str::to_owned).to_vec()];
        rows.extend(self.steps.iter().map(|step| self.step_words(step)));
        let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Left];
        out += &aligned(&rows, &aligns, 2);
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
            ("bytes", self.bytes()),
            ("page size", numbers::grouped(self.invention.page_size.bytes() as u64)),
            ("disk", self.room()),
            ("memory", self.memory()),
            ("temp", self.spills()),
            ("threads", self.options.threads.to_string()),
            ("on conflict", self.on_conflict.to_owned()),
        ];
        aligned(&rows.map(|(name, value)| vec![name.to_owned(), value]), &[Align::Left; 2], 0)
    }

    fn bytes(&self) -> String {
        let is_unknown = self.estimate.trees.iter().any(|tree| tree.bytes.is_none());
        let rest = if is_unknown { ", and what is unknown" } else { "" };
        format!("{}{rest}", about(self.estimate.bytes))
    }

    fn memory(&self) -> String {
        let [about, most] = [self.estimate.memory_bytes, self.options.memory_bytes].map(numbers::memory);
        format!("about {about}, {most} at most")
    }

    fn spills(&self) -> String {
        let Estimate { spill_bytes, temp_dir, .. } = &self.estimate;
        match spill_bytes {
            0 => "nothing spills".to_owned(),
            bytes => format!("spills {} to {}", about(*bytes), temp_dir.display()),
        }
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
                let verdict = if free < self.estimate.bytes { "not enough" } else { "enough" };
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
        self.tree(&table.name)?.bytes
    }

    fn tree(&self, name: &str) -> Option<&TreeEstimate> {
        self.estimate.trees.iter().find(|tree| tree.name == name)
    }

    fn tree_of(&self, step: &Step) -> Option<&TreeEstimate> {
        self.tree(step.tree.as_deref()?)
    }

    /// Kind, name, lane, size, memory and reason.
    fn step_words(&self, step: &Step) -> Vec<String> {
        let name = match step.kind {
            "table" | "view" => step.name.clone(),
            _ => format!("{} of {}", step.name, step.table),
        };
        let (lane, mut why) = lane_words(&step.lane);
        let (mut size, mut memory) = (String::new(), String::new());
        if let Some(tree) = self.tree_of(step) {
            let bytes = tree.bytes.map_or("unknown".to_owned(), numbers::bytes);
            size = if tree.is_rough && tree.bytes.is_some() { format!("roughly {bytes}") } else { bytes };
            memory = numbers::memory(tree.memory_bytes);
            if tree.spill_bytes > 0 {
                why += &format!("; its sort spills {}", about(tree.spill_bytes));
            }
        }
        vec![step.kind.to_owned(), name, lane.to_owned(), size, memory, why]
    }

    fn step_json(&self, step: &Step) -> Value {
        let (lane, why) = lane_words(&step.lane);
        let mut value = json!({"kind": step.kind, "name": step.name, "table": step.table, "lane": lane, "why": why});
        if let Some(tree) = self.tree_of(step) {
            value["expected_bytes"] = json!(tree.bytes);
            value["is_rough"] = json!(tree.is_rough);
            value["memory_bytes"] = json!(tree.memory_bytes);
            value["spill_bytes"] = json!(tree.spill_bytes);
        }
        value
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
            "expected_bytes": self.estimate.bytes,
            "page_size_bytes": self.invention.page_size.bytes(),
            "free_bytes": free_bytes(self.folder()),
            "expected_memory_bytes": self.estimate.memory_bytes,
            "spill_bytes": self.estimate.spill_bytes,
            "temp_dir": self.estimate.temp_dir.display().to_string(),
            "memory_budget_bytes": self.options.memory_bytes,
            "threads": self.options.threads,
            "on_conflict": self.on_conflict,
            "tables": tables.collect::<Vec<Value>>(),
            "steps": self.steps.iter().map(|step| self.step_json(step)).collect::<Vec<Value>>(),
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

fn lane_words(lane: &Lane) -> (&'static str, String) {
    match lane {
        Lane::Direct => ("direct", "its pages are printed".to_owned()),
        Lane::SchemaOnly => ("schema only", "it is a row of sqlite_schema and has no pages of its own".to_owned()),
        Lane::Sqlite { why } => ("sqlite", format!("SQLite makes it on the printed file: {why}")),
        Lane::Query => ("query", "SQLite checks it on the printed file".to_owned()),
        other => ("other", format!("{other:?}")),
    }
}
