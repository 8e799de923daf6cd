//! The summary of a finished run, for people and as JSON.
//!
//! Rates are those of the whole run, from the start of the program to the published file: reading the schema and
//! waiting for the disk are part of it.

use crate::columns::{Align, aligned};
use crate::numbers;
use crate::options::sync_name;
use litepress::{Options, Stages, Summary};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// What there is to tell.
#[derive(Debug)]
pub struct Report<'a> {
    /// The engine's part.
    pub summary: &'a Summary,
    /// The file; `None` where pages were dropped.
    pub file: Option<&'a Path>,
    /// The whole run, without checks of the finished file.
    pub wall: Duration,
    /// How it was made.
    pub options: &'a Options,
}

impl Report<'_> {
    /// The stages in their order. What is not the engine's is preparation: schema, plan, the target's file.
    fn stages(&self) -> [(&'static str, Duration); 6] {
        let Stages { build, write, sqlite, sync, publish, .. } = self.summary.stages;
        let prepare = self.wall.saturating_sub(self.summary.stages.total());
        [
            ("prepare", prepare),
            ("build", build),
            ("write", write),
            ("sqlite", sqlite),
            ("sync", sync),
            ("publish", publish),
        ]
    }

    /// For people.
    pub fn to_text(&self) -> String {
        let summary = self.summary;
        let mut tables = vec![["table", "rows", "record bytes", "time"].map(str::to_owned).to_vec()];
        tables.extend(summary.tables.iter().map(|table| {
            let (rows, bytes) = (numbers::grouped(table.rows), numbers::bytes(table.payload_bytes));
            vec![table.name.clone(), rows, bytes, numbers::duration(table.build)]
        }));
        let rate = numbers::rate(numbers::per_second(summary.rows, self.wall));
        let megabytes = numbers::per_second(summary.bytes, self.wall) / 1e6;
        let stages = self.stages().map(|(name, time)| format!("{name} {}", numbers::duration(time))).join(", ");
        let file = self.file.map_or("none: the pages were dropped".to_owned(), |file| file.display().to_string());
        let totals = [
            ("rows", numbers::grouped(summary.rows), format!("{rate} rows/s")),
            ("pages", numbers::grouped(summary.pages), format!("of {} bytes", summary.page_size_bytes)),
            ("bytes", numbers::grouped(summary.bytes), format!("{megabytes:.1} MB/s")),
            ("time", numbers::duration(self.wall), stages),
            ("memory", numbers::memory(summary.peak_memory_bytes), "at its peak".to_owned()),
        ]
        .map(|(name, value, note)| vec![name.to_owned(), value, note]);
        let tables = aligned(&tables, &[Align::Left, Align::Right, Align::Right, Align::Right], 0);
        let totals = aligned(&totals, &[Align::Left, Align::Right, Align::Left], 0);
        format!("{tables}\n{totals}file    {file}\n")
    }

    /// For programs; every name ends with its unit.
    pub fn to_json(&self) -> Value {
        let summary = self.summary;
        let stages = self.stages().map(|(name, time)| (format!("{name}_seconds"), json!(time.as_secs_f64())));
        let tables = summary.tables.iter().map(|table| {
            json!({
                "name": table.name,
                "rows": table.rows,
                "payload_bytes": table.payload_bytes,
                "root_page": table.root_page,
                "build_seconds": table.build.as_secs_f64(),
            })
        });
        json!({
            "file": self.file.map(|file| file.display().to_string()),
            "rows": summary.rows,
            "pages": summary.pages,
            "page_size_bytes": summary.page_size_bytes,
            "bytes": summary.bytes,
            "seconds": self.wall.as_secs_f64(),
            "rows_per_second": numbers::per_second(summary.rows, self.wall),
            "bytes_per_second": numbers::per_second(summary.bytes, self.wall),
            "stages": serde_json::Map::from_iter(stages),
            "peak_memory_bytes": summary.peak_memory_bytes,
            "memory_budget_bytes": self.options.memory_bytes,
            "threads": self.options.threads,
            "sync": sync_name(self.options.sync),
            "tables": tables.collect::<Vec<Value>>(),
            "litepress_version": env!("CARGO_PKG_VERSION"),
            "sqlite_version": litepress::sqlite_version(),
        })
    }
}
