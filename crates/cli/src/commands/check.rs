//! `litepress check`: is every page of a database as it should be?

use crate::audience::Audience;
use crate::columns::{Align, aligned};
use crate::failure::{DONE, FAILED, Failure};
use crate::numbers;
use crate::options::{self, ShowingArguments};
use crate::output::{print, print_json};
use crate::progress::{Sample, Unit};
use clap::Args;
use litepress::check::{self, BtreeReport, CheckOptions, Report};
use litepress::{Progress, Result};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  litepress check user.db
  litepress check user.db --sqlite
  litepress check user.db --threads 1 --memory 64MiB --progress none
  litepress check user.db --json --max-faults 1000

Not looked at, and told in a note: what FTS and R-Tree keep in their shadow tables, partial indexes and the values of
expressions, which --sqlite has SQLite look at; and CHECK constraints, which SQLite looks at in a database that it may
write: sqlite3 user.db 'PRAGMA integrity_check'
";

/// Look at every page of a database, made by litepress or not
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CheckArguments {
    /// The database
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Ask SQLite too: integrity_check and foreign_key_check
    #[arg(long)]
    sqlite: bool,
    /// Threads that read pages [default: one a core]
    #[arg(long, value_name = "N", value_parser = options::threads)]
    threads: Option<usize>,
    /// Memory for long records, 64MiB at least [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = options::memory)]
    memory: Option<u64>,
    /// Faults to print; further ones are counted
    #[arg(long, value_name = "N", default_value = "100", value_parser = faults)]
    max_faults: usize,
    #[command(flatten)]
    showing: ShowingArguments,
}

/// What was found.
#[derive(Debug)]
pub struct Verdict {
    /// Our checks.
    pub report: Report,
    /// SQLite's complaints, where it was asked.
    pub sqlite: Option<Vec<String>>,
}

pub fn run(arguments: &CheckArguments) -> Result<u8, Failure> {
    let usual = CheckOptions::default();
    let options = CheckOptions {
        threads: arguments.threads.unwrap_or(usual.threads),
        memory_bytes: arguments.memory.unwrap_or(usual.memory_bytes),
        max_faults: arguments.max_faults,
    };
    let audience = Audience::user(arguments.showing.progress, None);
    let verdict = check(&arguments.database, &options, arguments.sqlite, &Progress::default(), &audience)?;
    if arguments.showing.json {
        print_json(&verdict.to_json())?;
    } else {
        print(&format!("{}\n{}", verdict.btrees(), verdict.to_text()))?;
    }
    Ok(if verdict.is_clean() { DONE } else { FAILED })
}

/// Checks the database until somebody asks `progress` to stop; SQLite checks it too where `asks_sqlite`.
///
/// # Errors
/// As [`litepress::check::check`]: a fault of the database is none.
pub fn check(
    database: &Path,
    options: &CheckOptions,
    asks_sqlite: bool,
    progress: &Progress,
    audience: &Audience,
) -> Result<Verdict> {
    let bytes = std::fs::metadata(database).map_or(0, |metadata| metadata.len());
    let pages: Arc<[AtomicU64; 2]> = Arc::default();
    let seen = pages.clone();
    let watch = audience.watch(Unit::Things("pages"), move || {
        let [done, total] = [&seen[0], &seen[1]].map(|pages| pages.load(Ordering::Relaxed));
        let share = if total == 0 { 0.0 } else { done as f64 / total as f64 };
        Sample { done, total, bytes: numbers::rounded(bytes as f64 * share), stage: String::new() }
    });
    let report = check::check(database, options, &|done, total| {
        pages[0].fetch_max(done, Ordering::Relaxed);
        pages[1].store(total, Ordering::Relaxed);
        progress.go_on()
    });
    drop(watch);
    let report = report?;
    let ask = || check::sqlite_integrity_check(database, options.max_faults);
    Ok(Verdict { report, sqlite: asks_sqlite.then(ask).transpose()? })
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.report.is_clean() && self.sqlite.as_ref().is_none_or(Vec::is_empty)
    }

    /// The verdict in one line, or the faults.
    pub(crate) fn to_text(&self) -> String {
        let Report { faults, faults_total, notes, bytes, .. } = &self.report;
        let verdict = if self.report.is_clean() { "ok".to_owned() } else { plural(*faults_total, "fault") };
        let (pages, bytes) = (plural(self.report.pages, "page"), numbers::bytes(*bytes));
        let mut out = format!("{verdict} ({pages}, {bytes}{})\n", self.time());
        out.extend(faults.iter().map(|fault| format!("  {fault}\n")));
        if *faults_total > faults.len() as u64 {
            out += &format!("  and {} more\n", numbers::grouped(faults_total - faults.len() as u64));
        }
        out.extend(notes.iter().map(|note| format!("note: {note}\n")));
        match self.sqlite.as_deref() {
            None => {}
            Some([]) => out += "SQLite's integrity_check and foreign_key_check: ok\n",
            Some(lines) => {
                out += "SQLite's integrity_check and foreign_key_check:\n";
                out.extend(lines.iter().map(|line| format!("  {line}\n")));
            }
        }
        out
    }

    /// How long it took and how fast that was: by the pages that were read, which may be few of a broken file.
    fn time(&self) -> String {
        let read = self.report.btrees.iter().map(pages).sum::<u64>() * u64::from(self.report.page_size);
        let time = Duration::try_from_secs_f64(self.report.seconds).unwrap_or_default();
        if read == 0 {
            return String::new();
        }
        format!(" in {}, {:.2} GB/s", numbers::duration(time), numbers::per_second(read, time) / 1e9)
    }

    /// Every b-tree, one a line.
    fn btrees(&self) -> String {
        let mut rows = vec![["b-tree", "kind", "rows", "pages", "depth", "fill"].map(str::to_owned).to_vec()];
        rows.extend(self.report.btrees.iter().map(|tree| {
            vec![
                tree.name.clone(),
                tree.kind.to_string(),
                numbers::grouped(tree.entries),
                numbers::grouped(pages(tree)),
                tree.depth.to_string(),
                format!("{:.1} %", 100.0 * self.fill(tree)),
            ]
        }));
        let free = self.report.freelist_pages;
        let free = if free > 0 { format!("{} on the freelist\n", plural(free, "page")) } else { String::new() };
        let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
        aligned(&rows, &aligns, 0) + &free
    }

    /// The share of a tree's pages that is in use.
    fn fill(&self, tree: &BtreeReport) -> f64 {
        let bytes = pages(tree).saturating_mul(self.report.page_size.into());
        if bytes == 0 { 0.0 } else { 1.0 - tree.free_bytes as f64 / bytes as f64 }
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let report = &self.report;
        let faults = report.faults.iter().map(|fault| {
            json!({
                "page": fault.page,
                "offset": fault.offset,
                "object": fault.object,
                "what": fault.what,
            })
        });
        let btrees = report.btrees.iter().map(|tree| {
            json!({
                "name": tree.name,
                "kind": tree.kind.to_string(),
                "root_page": tree.root,
                "depth": tree.depth,
                "rows": tree.entries,
                "interior_pages": tree.interior_pages,
                "leaf_pages": tree.leaf_pages,
                "overflow_pages": tree.overflow_pages,
                "payload_bytes": tree.payload_bytes,
                "free_bytes": tree.free_bytes,
            })
        });
        json!({
            "ok": self.is_clean(),
            "faults_total": report.faults_total,
            "faults": faults.collect::<Vec<Value>>(),
            "notes": report.notes,
            "sqlite": self.sqlite,
            "bytes": report.bytes,
            "pages": report.pages,
            "page_size_bytes": report.page_size,
            "freelist_pages": report.freelist_pages,
            "pointer_map_pages": report.pointer_map_pages,
            "seconds": report.seconds,
            "btrees": btrees.collect::<Vec<Value>>(),
        })
    }
}

fn pages(tree: &BtreeReport) -> u64 {
    tree.interior_pages + tree.leaf_pages + tree.overflow_pages
}

fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", numbers::grouped(count), if count == 1 { "" } else { "s" })
}

fn faults(text: &str) -> Result<usize, String> {
    numbers::count(text).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}
