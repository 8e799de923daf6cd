//! The report of a finished database.
//!
//! Rates are those of the whole run, from its start to the published file: reading the schema and waiting for the disk are
//! part of it.

use crate::choices::Choice;
use crate::units;
use crate::{AppendReport, CheckResult, Finished, Options, Stages, Summary, Verify};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The report of a finished database.
#[derive(Debug)]
#[non_exhaustive]
pub struct BuildReport {
    /// Sizes and times.
    pub summary: Summary,
    /// The file; `None` for a database in memory, or if pages were dropped.
    pub file: Option<PathBuf>,
    /// The bytes of a database in memory.
    pub bytes: Option<Vec<u8>>,
    /// The duration of the whole run, without checks of the finished file.
    pub wall: Duration,
    /// The options of the run.
    pub options: Options,
    /// Tables and views of the replaced file that the new one lacks: `table users (3 rows)`.
    pub dropped: Vec<String>,
    /// The result of [`Options::verify`]: no faults, or the run would have failed.
    pub verified: Option<CheckResult>,
    /// The report of rows that were added to a database that exists.
    pub appended: Option<AppendReport>,
}

impl BuildReport {
    /// Reports on a database whose run began at `started`.
    pub fn new(finished: Finished, file: Option<PathBuf>, started: Instant, options: Options) -> Self {
        let Finished { summary, bytes, verified, dropped, appended, .. } = finished;
        let wall = started.elapsed().saturating_sub(summary.stages.verify);
        // SQLite has found nothing: its complaints are an error.
        let sqlite = (options.verify == Verify::Full).then(Vec::new);
        let verified = verified.map(|report| CheckResult { report, sqlite });
        Self { summary, file, bytes, wall, options, verified, dropped, appended }
    }

    /// Returns the stages in their order. Time outside the engine is preparation: schema, plan, the target's file.
    pub fn stages(&self) -> [(&'static str, Duration); 6] {
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

    /// Returns the report for programs. Every name ends with its unit.
    pub fn to_json(&self) -> Value {
        let summary = &self.summary;
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
        let mut json = json!({
            "file": self.file.as_ref().map(|file| file.display().to_string()),
            "rows": summary.rows,
            "pages": summary.pages,
            "page_size_bytes": summary.page_size_bytes,
            "bytes": summary.bytes,
            "seconds": self.wall.as_secs_f64(),
            "rows_per_second": units::per_second(summary.rows, self.wall),
            "bytes_per_second": units::per_second(summary.bytes, self.wall),
            "stages": serde_json::Map::from_iter(stages),
            "peak_memory_bytes": summary.peak_memory_bytes,
            "memory_budget_bytes": self.options.memory_bytes,
            "threads": self.options.threads,
            "sync": self.options.sync.name(),
            "tables": tables.collect::<Vec<Value>>(),
            "litepress_version": env!("CARGO_PKG_VERSION"),
            "sqlite_version": crate::sqlite_version(),
            "dropped": self.dropped,
            "verify": self.verified.as_ref().map(CheckResult::to_json),
        });
        if let Some(appended) = &self.appended {
            json["append"] = append_json(appended);
        }
        json
    }
}

fn append_json(report: &AppendReport) -> Value {
    let tables = report.tables.iter().map(|table| {
        json!({
            "name": table.plan.table,
            "is_new": table.plan.is_new,
            "route": table.plan.route.name(),
            "why": table.plan.why,
            "added": table.added,
            "updated": table.updated,
            "ignored": table.ignored,
        })
    });
    json!({
        "tables": tables.collect::<Vec<Value>>(),
        "locked_seconds": report.locked.as_secs_f64(),
        "commit_seconds": report.commit.as_secs_f64(),
        "journal_mode": report.journal_mode,
    })
}
