//! The report of a plan, for people.

use crate::append_text::routes_text;
use crate::build_text::{dropped_text, left_out_text, notes_text};
use crate::text_table::{Align, format_table};
use litepress::engine::Estimate;
use litepress::engine::plan::ObjectPlan;
use litepress::{Choice, Flags, PlanReport, TableOrigin, TableReport, method_words, units};

/// Describes the work of a planned run.
pub fn plan_text(report: &PlanReport) -> String {
    PlanText(report).to_text()
}

struct PlanText<'a>(&'a PlanReport);

impl PlanText<'_> {
    /// Returns the command that executes the plan.
    fn command(&self) -> &'static str {
        match (&self.0.databases, &self.0.left_out) {
            (Some(_), _) => "merge",
            (None, Some(_)) => "load",
            (None, None) => "generate",
        }
    }

    fn to_text(&self) -> String {
        let mut out = self.totals();
        for table in &self.0.tables {
            out.push('\n');
            out += &self.table(table);
        }
        if let Some(routes) = &self.0.append {
            out += &format!("\nroutes\n{}", routes_text(routes.iter()));
            return out + &self.schema_and_notes();
        }
        out += "\nobjects\n";
        let mut rows = vec![["kind", "name", "method", "file", "memory", "why"].map(str::to_owned).to_vec()];
        rows.extend(self.0.steps.iter().map(|step| self.step_words(step)));
        let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Left];
        out += &format_table(&rows, &aligns, 2);
        out + &self.schema_and_notes()
    }

    /// Shows the schema, the mismatches and the notes.
    fn schema_and_notes(&self) -> String {
        let mut out = String::new();
        if self.0.left_out.is_some() && self.0.append.is_none() {
            out += &format!("\nschema\n{}", self.0.schema.text.trim_end().replace('\n', "\n  ").trim_end());
            out = out.replacen("\nschema\n", "\nschema\n  ", 1) + "\n";
        }
        out += &self.mismatches();
        let rest = dropped_text(self.0.dropped.iter())
            + &notes_text(&self.0.notes)
            + &left_out_text(self.0.left_out.as_deref().unwrap_or_default());
        if rest.is_empty() { out } else { out + "\n" + &rest }
    }

    /// Lists the first records that the load would refuse, or the reasons why the merge would fail.
    fn mismatches(&self) -> String {
        let Some(found) = self.0.mismatches.as_ref().filter(|found| found.count + found.ignored > 0) else {
            return String::new();
        };
        let what = if self.0.databases.is_some() { "row" } else { "record" };
        let records = |count: u64| units::counted(count, what);
        let mut out = "\nmismatches\n".to_owned();
        for error in &found.first {
            out += &format!("  {}\n", error.headline_in(&Flags));
        }
        let (count, shown) = (found.count, found.first.len() as u64);
        if count > shown {
            out += &format!("  and {} more\n", records(count - shown));
        }
        if self.0.databases.is_some() && count > 0 {
            out += "merge would fail\n";
        } else if count > 0 {
            let fate = if found.is_fatal { "load would fail" } else { "load would reject" };
            out += &format!("{fate}: {}\n", records(count));
        }
        if found.ignored > 0 {
            let (command, policy) = (self.command(), self.0.options.on_conflict.name());
            out += &format!("{command} would leave out {} for --on-conflict {policy}\n", records(found.ignored));
        }
        out
    }

    fn totals(&self) -> String {
        let target = self.0.file().map_or("not named".to_owned(), |out| {
            let exists = out.exists() && !self.0.options.overwrite && self.0.append.is_none();
            let exists =
                if exists { format!(" (exists: {} needs --overwrite)", self.command()) } else { String::new() };
            format!("{}{exists}", out.display())
        });
        let schema = match &self.0.databases {
            Some(merged) => {
                format!("of {}, {}", units::counted(merged.count as u64, "database"), units::bytes(merged.bytes))
            }
            None => self.0.schema.origin.clone(),
        };
        let rows = [
            ("schema", schema),
            ("target", target),
            ("rows", self.0.rows.map_or("unknown".to_owned(), units::grouped)),
            ("bytes", self.bytes()),
            ("page size", units::grouped(self.0.page_size.bytes() as u64)),
            ("disk", self.room()),
            ("memory", self.memory()),
            ("temp", self.spills()),
            ("threads", self.0.options.threads.to_string()),
            ("on conflict", self.0.options.on_conflict.name().to_owned()),
        ];
        format_table(&rows.map(|(name, value)| vec![name.to_owned(), value]), &[Align::Left; 2], 0)
    }

    fn bytes(&self) -> String {
        let is_unknown = self.0.estimate.trees.iter().any(|tree| tree.bytes.is_none());
        let rest = if is_unknown { ", and what is unknown" } else { "" };
        format!("{}{rest}", about(self.0.estimate.bytes))
    }

    fn memory(&self) -> String {
        let [about, most] = [self.0.estimate.memory_bytes, self.0.options.memory_bytes].map(units::memory);
        format!("about {about}, {most} at most")
    }

    fn spills(&self) -> String {
        let Estimate { spill_bytes, temp_dir, .. } = &self.0.estimate;
        match spill_bytes {
            0 => "nothing spills".to_owned(),
            bytes => format!("spills {} to {}", about(*bytes), temp_dir.display()),
        }
    }

    /// Compares the free space of the disk with the estimated size.
    fn room(&self) -> String {
        match self.0.free_bytes() {
            None => format!("there is no folder '{}'", self.0.folder().display()),
            Some(free) => {
                let verdict = if free < self.0.estimate.bytes { "not enough" } else { "enough" };
                format!("{} free, which is {verdict}", units::bytes(free))
            }
        }
    }

    /// Describes a table and its columns.
    fn table(&self, table: &TableReport) -> String {
        let bytes = self.0.table_bytes(table).map_or(String::new(), |bytes| format!(", {}", about(bytes)));
        let rows = table.rows.map_or("an unknown number of rows".to_owned(), |rows| units::counted(rows, "row"));
        let origin = match &table.origin {
            TableOrigin::Generated { seed } => format!(", seed {seed}"),
            TableOrigin::Loaded { files } => format!(", out of {}", files.join(", ")),
            TableOrigin::Merged { databases, rowids } => {
                format!(", out of {}; {}", units::counted(*databases as u64, "database"), rowids.words())
            }
            other => format!(", {other:?}"),
        };
        let columns: Vec<Vec<String>> = table.columns.iter().map(|column| column.in_words(&Flags).to_vec()).collect();
        format!("table {}: {rows}{bytes}{origin}\n", table.name) + &format_table(&columns, &[Align::Left; 3], 2)
    }

    /// Returns kind, name, method, size, memory and reason of a step.
    fn step_words(&self, step: &ObjectPlan) -> Vec<String> {
        let name = match step.kind {
            "table" | "view" => step.name.clone(),
            _ => format!("{} of {}", step.name, step.table),
        };
        let (method, mut why) = method_words(&step.method);
        let (mut size, mut memory) = (String::new(), String::new());
        if let Some(tree) = self.0.tree_of(step) {
            let bytes = tree.bytes.map_or("unknown".to_owned(), units::bytes);
            size = if tree.is_rough && tree.bytes.is_some() { format!("roughly {bytes}") } else { bytes };
            memory = units::memory(tree.memory_bytes);
            if tree.spill_bytes > 0 {
                why += &format!("; its sort spills {}", about(tree.spill_bytes));
            }
        }
        vec![step.kind.to_owned(), name, method.to_owned(), size, memory, why]
    }
}

fn about(bytes: u64) -> String {
    format!("about {}", units::bytes(bytes))
}
