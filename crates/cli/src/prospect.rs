//! What a command would make, without making it: sizes, lanes, and what is known of every table.

use crate::columns::{Align, aligned};
use crate::numbers;
use crate::options::conflict_name;
use crate::outcome::Outcome;
use litepress::engine::plan::{Lane, Step};
use litepress::engine::{Estimate, TreeEstimate, folder_of, free_bytes};
use litepress::{Options, PageSize, Schema};
use serde_json::{Value, json};
use std::path::Path;

/// What is to be shown.
pub struct Prospect<'a> {
    /// The command that would make it.
    pub command: &'static str,
    /// The schema as SQLite understands it.
    pub schema: &'a Schema,
    /// The database to make, where one is named.
    pub out: Option<&'a Path>,
    /// Rows of all tables, where they are known.
    pub rows: Option<u64>,
    /// Page size of the database.
    pub page_size: PageSize,
    /// How it would be made.
    pub options: Options,
    /// What it takes.
    pub estimate: Estimate,
    /// The lanes.
    pub steps: Vec<Step>,
    /// Objects that are not copied, for people and for programs; `None` of a command that copies nothing.
    pub left_out: Option<(String, &'a [String])>,
    /// Tables that get rows.
    pub tables: Vec<TableProspect>,
}

/// A table that gets rows.
pub struct TableProspect {
    /// Its name.
    pub name: String,
    /// How many, where that is known.
    pub rows: Option<u64>,
    /// Behind the number of rows: `, seed 42`.
    pub note: String,
    /// Words about each column.
    pub columns: Vec<Vec<String>>,
    /// What a program is told beside name, rows and size.
    pub json: Value,
}

impl Prospect<'_> {
    /// For people and for programs.
    pub fn outcome(&self) -> Outcome {
        Outcome { text: self.to_text(), json: self.to_json() }
    }

    fn to_text(&self) -> String {
        let mut out = self.totals();
        for table in &self.tables {
            out.push('\n');
            out += &self.table(table);
        }
        out += "\nlanes\n";
        let mut rows = vec![["kind", "name", "lane", "file", "memory", "why"].map(str::to_owned).to_vec()];
        rows.extend(self.steps.iter().map(|step| self.step_words(step)));
        let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Left];
        out += &aligned(&rows, &aligns, 2);
        match &self.left_out {
            Some((text, _)) if !text.is_empty() => out + "\n" + text,
            _ => out,
        }
    }

    fn totals(&self) -> String {
        let target = self.out.map_or("not named".to_owned(), |out| {
            let exists = out.exists() && !self.options.replace;
            let exists = if exists { format!(" (exists: {} needs --replace)", self.command) } else { String::new() };
            format!("{}{exists}", out.display())
        });
        let rows = [
            ("schema", self.schema.origin.clone()),
            ("target", target),
            ("rows", self.rows.map_or("unknown".to_owned(), numbers::grouped)),
            ("bytes", self.bytes()),
            ("page size", numbers::grouped(self.page_size.bytes() as u64)),
            ("disk", self.room()),
            ("memory", self.memory()),
            ("temp", self.spills()),
            ("threads", self.options.threads.to_string()),
            ("on conflict", conflict_name(self.options.on_conflict).to_owned()),
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
        self.out.map_or(Path::new("."), folder_of)
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
    fn table(&self, table: &TableProspect) -> String {
        let bytes = self.table_bytes(table).map_or(String::new(), |bytes| format!(", {}", about(bytes)));
        let rows = table.rows.map_or("an unknown number of".to_owned(), numbers::grouped);
        let head = format!("table {}: {rows} rows{bytes}{}\n", table.name, table.note);
        head + &aligned(&table.columns, &vec![Align::Left; table.columns.first().map_or(0, Vec::len)], 2)
    }

    fn table_bytes(&self, table: &TableProspect) -> Option<u64> {
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
        let tables = self.tables.iter().map(|table| {
            let mut value = table.json.clone();
            value["name"] = json!(table.name);
            value["rows"] = json!(table.rows);
            value["expected_bytes"] = json!(self.table_bytes(table));
            value
        });
        let mut json = json!({
            "schema": self.schema.origin,
            "target": self.out.map(|out| out.display().to_string()),
            "rows": self.rows,
            "expected_bytes": self.estimate.bytes,
            "page_size_bytes": self.page_size.bytes(),
            "free_bytes": free_bytes(self.folder()),
            "expected_memory_bytes": self.estimate.memory_bytes,
            "spill_bytes": self.estimate.spill_bytes,
            "temp_dir": self.estimate.temp_dir.display().to_string(),
            "memory_budget_bytes": self.options.memory_bytes,
            "threads": self.options.threads,
            "on_conflict": conflict_name(self.options.on_conflict),
            "tables": tables.collect::<Vec<Value>>(),
            "steps": self.steps.iter().map(|step| self.step_json(step)).collect::<Vec<Value>>(),
        });
        if let Some((_, left_out)) = &self.left_out {
            json["left_out"] = json!(left_out);
        }
        json
    }
}

fn about(bytes: u64) -> String {
    format!("about {}", numbers::bytes(bytes))
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
