//! `litepress check`: checks every page of a database.

use crate::failure::{DONE, ErrorForm, FAILED};
use crate::options::{HtmlArgs, OutputArgs};
use crate::reporter::Reporter;
use crate::text_table::{Align, format_table};
use clap::Args;
use litepress::checker::{BtreeReport, Report};
use litepress::{CheckOptions, CheckResult, FolderCheck, Result, parse, units};
use litepress_rows::escaped;
use std::path::PathBuf;
use std::time::Duration;

/// Number of files that a summary lists which no manifest names.
const MOST_ORPHANS: usize = 20;

const EXAMPLES: &str = "\
Examples:
  litepress check user.db
  litepress check user.db --full
  litepress check user.db --sample
  litepress check user.db --threads 1 --memory 64MiB --progress none
  litepress check user.db --json --max-faults 1000
  litepress check user.db --html user.html
  litepress check shards

A folder has shards, whose manifest (_manifest.json) is verified with them, or
any databases.

Notes tell what is not looked at: shadow tables of FTS and R-Tree, partial
indexes and the values of expressions, which --full has SQLite look at; and
CHECK constraints, which SQLite looks at in a database that it may write:
sqlite3 user.db 'PRAGMA integrity_check'
";

/// Check every page of a database, made by litepress or not
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CheckArguments {
    /// The database, or a folder of databases
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Ask SQLite too: integrity_check and foreign_key_check
    #[arg(long)]
    full: bool,
    /// Read only about N leaf pages of each b-tree: a quick look, no proof [default: 1000]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1000",
        value_parser = units::count,
        conflicts_with_all = ["full", "html"]
    )]
    sample: Option<u64>,
    /// Threads that read pages [default: one a core]
    #[arg(long, value_name = "N", value_parser = parse::threads)]
    threads: Option<usize>,
    /// Memory for long records, 64MiB at least [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse::memory)]
    memory: Option<u64>,
    #[command(flatten)]
    html: HtmlArgs,
    /// Faults to print; further ones are counted
    #[arg(long, value_name = "N", default_value = "100", value_parser = faults)]
    max_faults: usize,
    #[command(flatten)]
    output: OutputArgs,
}

impl CheckArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.output.errors()
    }
}

pub fn run(arguments: &CheckArguments) -> Result<u8> {
    let mut options = CheckOptions::default().max_faults(arguments.max_faults).full(arguments.full);
    options.sample = arguments.sample;
    options.threads = arguments.threads.unwrap_or(options.threads);
    options.memory_bytes = arguments.memory.unwrap_or(options.memory_bytes);
    let options = arguments.html.apply(options).observer(Reporter::new(arguments.output.progress(), None));
    if arguments.database.is_dir() {
        let result = litepress::check_folder(&arguments.database, &options)?;
        arguments.output.print(|| result.to_json(), |_| folder_text(&result))?;
        return Ok(if result.is_clean() { DONE } else { FAILED });
    }
    let result = litepress::check(&arguments.database, &options)?;
    let trees = |verbose| if verbose { btrees(&result.report) + "\n" } else { String::new() };
    arguments.html.open()?;
    arguments.output.print(|| result.to_json(), |verbose| trees(verbose) + &check_text(&result))?;
    Ok(if result.is_clean() { DONE } else { FAILED })
}

/// Describes the databases of a folder in one line, or the faults.
fn folder_text(result: &FolderCheck) -> String {
    let FolderCheck { findings, findings_total, orphans, duration, .. } = result;
    let verdict = if result.is_clean() { "ok".to_owned() } else { units::counted(*findings_total, "fault") };
    let rows = if result.has_manifest { format!("{}, ", units::counted(result.rows, "row")) } else { String::new() };
    let (databases, bytes) = (units::counted(result.databases, "database"), units::bytes(result.bytes));
    let mut out = format!("{verdict} ({databases}, {rows}{bytes} in {})\n", units::duration(*duration));
    out.extend(findings.iter().map(|(file, what)| format!("  {}: {}\n", escaped(file), escaped(what))));
    if *findings_total > findings.len() as u64 {
        out += &format!("  and {} more\n", units::grouped(findings_total - findings.len() as u64));
    }
    out.extend(
        orphans.iter().take(MOST_ORPHANS).map(|file| format!("note: {} is not in the manifest\n", escaped(file))),
    );
    if orphans.len() > MOST_ORPHANS {
        let more = units::grouped((orphans.len() - MOST_ORPHANS) as u64);
        out += &format!("note: nor are {more} more: --json lists all\n");
    }
    if !result.has_manifest {
        out += "note: there is no manifest, so nobody knows whether files are missing\n";
    }
    out
}

/// Describes the result in one line, or the faults.
pub fn check_text(result: &CheckResult) -> String {
    let CheckResult { report, sqlite } = result;
    let Report { faults, faults_total, notes, bytes, .. } = report;
    let sound = if report.sample.is_some() { "ok in a sample" } else { "ok" };
    let verdict = if report.is_clean() { sound.to_owned() } else { units::counted(*faults_total, "fault") };
    let (pages, bytes) = (units::counted(report.pages, "page"), units::bytes(*bytes));
    let mut out = format!("{verdict} ({pages}, {bytes}{})\n", time(report));
    out.extend(faults.iter().map(|fault| format!("  {}\n", escaped(&fault.to_string()))));
    if *faults_total > faults.len() as u64 {
        out += &format!("  and {} more\n", units::grouped(faults_total - faults.len() as u64));
    }
    out.extend(notes.iter().map(|note| format!("note: {}\n", escaped(note))));
    match sqlite.as_deref() {
        None => {}
        Some([]) => out += "SQLite's integrity_check and foreign_key_check: ok\n",
        Some(lines) => {
            out += "SQLite's integrity_check and foreign_key_check:\n";
            out.extend(lines.iter().flat_map(|line| line.lines()).map(|line| format!("  {}\n", escaped(line))));
        }
    }
    out
}

/// Describes duration and speed. The speed counts only the pages of known b-trees: a broken file may have few.
fn time(report: &Report) -> String {
    let read = report.btrees.iter().map(pages).sum::<u64>() * u64::from(report.page_size);
    let time = Duration::try_from_secs_f64(report.seconds).unwrap_or_default();
    if read == 0 {
        return String::new();
    }
    format!(" in {}, {:.2} GB/s", units::duration(time), units::per_second(read, time) / 1e9)
}

/// Lists the b-trees, one a line.
fn btrees(report: &Report) -> String {
    let mut rows = vec![["b-tree", "kind", "rows", "pages", "depth", "fill"].map(str::to_owned).to_vec()];
    rows.extend(report.btrees.iter().map(|tree| {
        vec![
            escaped(&tree.name).into_owned(),
            tree.kind.to_string(),
            units::grouped(tree.entries),
            units::grouped(pages(tree)),
            tree.depth.to_string(),
            format!("{:.1} %", 100.0 * fill(report, tree)),
        ]
    }));
    let free = report.freelist_pages;
    let free = if free > 0 { format!("{} on the freelist\n", units::counted(free, "page")) } else { String::new() };
    let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    format_table(&rows, &aligns, 0) + &free
}

/// Returns the used share of the bytes in a tree's pages.
fn fill(report: &Report, tree: &BtreeReport) -> f64 {
    let bytes = pages(tree).saturating_mul(report.page_size.into());
    if bytes == 0 { 0.0 } else { 1.0 - tree.free_bytes as f64 / bytes as f64 }
}

fn pages(tree: &BtreeReport) -> u64 {
    tree.interior_pages + tree.leaf_pages + tree.overflow_pages
}

fn faults(text: &str) -> Result<usize, String> {
    units::count(text).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}
