//! `litepress compact`: copies a database without its free space, or replaces it by such a copy.

use crate::build_text::{LABEL_OF_TIME, dropped_text, verify_text};
use crate::failure::{DONE, ErrorForm};
use crate::interrupt::Interrupt;
use crate::options::{FileArgs, OutputArgs};
use crate::reporter::Reporter;
use crate::text_table::{Align, format_table};
use clap::Args;
use litepress::{CompactOptions, CompactReport, Result, Target, units};
use litepress_rows::escaped;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress compact user.db               in place, as VACUUM does
  litepress compact user.db copy.db       a copy, as VACUUM INTO makes
  litepress compact user.db --page-size 16384 --verify full
  litepress compact user.db small.db --only user

Rows keep their rowids, and every object stays: views, triggers, virtual
tables, statistics. A database that a program has open is not replaced.
";

/// Copy a database without its free space, on all cores; without OUT.db, the copy replaces it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompactArguments {
    /// The database
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The copy [default: it replaces the database]
    #[arg(value_name = "OUT.db")]
    out: Option<PathBuf>,
    /// A table or view to keep, with its indexes and triggers; repeat it for more [default: all]
    #[arg(long, value_name = "TABLE")]
    only: Vec<String>,
    /// An index that the copy lacks; repeat it for more
    #[arg(long, value_name = "INDEX")]
    drop_index: Vec<String>,
    /// A rowid table that the copy has WITHOUT ROWID; repeat it for more
    #[arg(long, value_name = "TABLE")]
    without_rowid: Vec<String>,
    /// Copy a database even if the copy lacks the reserved bytes of its pages
    #[arg(long)]
    allow_incomplete: bool,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl CompactArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.output.errors()
    }
}

pub fn run(arguments: CompactArguments) -> Result<u8> {
    let build = arguments.file.options();
    let interrupt = Interrupt::stops(build.progress.clone(), arguments.output.errors())?;
    let reporter = Reporter::new(arguments.output.progress(), Some(interrupt));
    let mut options = CompactOptions::default().build(build).observer(reporter);
    options.only = arguments.only;
    options.drop_indexes = arguments.drop_index;
    options.without_rowid = arguments.without_rowid;
    options.allow_incomplete = arguments.allow_incomplete;
    if arguments.out.is_none() {
        // The program is a process of its own: nothing else in it has the database open.
        litepress::engine::apply_left_log(&arguments.database)?;
    }
    let report = litepress::compact(&arguments.database, arguments.out.map(Target::File), &options)?;
    arguments.output.print_done(|| report.to_json(), |verbose| text(&report, verbose))?;
    Ok(DONE)
}

/// Describes the copy: sizes, time and contents, a line each.
fn text(report: &CompactReport, verbose: bool) -> String {
    let (build, before) = (&report.build, report.bytes_before);
    let summary = &build.summary;
    let file = build.file.as_ref().map_or_else(String::new, |file| escaped(&file.display().to_string()).into_owned());
    let (bytes, was) = (units::bytes(summary.bytes), units::bytes(before));
    let saved = if before == 0 { 0.0 } else { 100.0 * (1.0 - summary.bytes as f64 / before as f64) };
    let change = if saved >= 0.0 { format!("{saved:.0} % less") } else { format!("{:.0} % more", -saved) };
    let rate = units::bytes(units::rounded(units::per_second(summary.bytes, build.wall)));
    let (time, memory) = (units::duration(build.wall), units::memory(summary.peak_memory_bytes));
    let rows = units::counted(summary.rows, "row");
    let tables = units::counted(summary.tables.len() as u64, "table");
    let indexes = units::grouped(report.indexes as u64) + if report.indexes == 1 { " index" } else { " indexes" };
    format!(
        "{file}: {bytes}, before {was} ({change})\n{LABEL_OF_TIME}{time}, {rate}/s, {memory} of memory at its peak\n"
    ) + &format!("{rows} in {tables}, {indexes}\n")
        + &if verbose { details(report) } else { String::new() }
        + &dropped_text(build.dropped.iter())
        + &left_out_text(report)
        + &verify_text(build)
}

/// Lists the tables and the times.
fn details(report: &CompactReport) -> String {
    let mut rows = vec![["table", "rows", "record bytes", "time"].map(str::to_owned).to_vec()];
    rows.extend(report.build.summary.tables.iter().map(|table| {
        let bytes = units::bytes(table.payload_bytes.unwrap_or_default());
        vec![table.name.clone(), units::grouped(table.rows), bytes, units::duration(table.build)]
    }));
    let stages = report.build.stages().map(|(name, time)| format!("{name} {}", units::duration(time))).join(", ");
    format_table(&rows, &[Align::Left, Align::Right, Align::Right, Align::Right], 0) + &format!("time: {stages}\n")
}

/// Lists the objects that the chosen tables would need, for people; empty if there are none.
fn left_out_text(report: &CompactReport) -> String {
    match &report.left_out[..] {
        [] => String::new(),
        objects => format!("left out: {}\n", objects.join(", ")),
    }
}
