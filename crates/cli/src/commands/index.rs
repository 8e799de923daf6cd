//! `litepress index` and `litepress reindex`: indexes of a database that exists.

use crate::failure::{DONE, ErrorForm};
use crate::interrupt::Interrupt;
use crate::options::{OutputArgs, WorkArgs};
use crate::output::refuse_special_name;
use crate::reporter::Reporter;
use clap::Args;
use litepress::engine::live;
use litepress::{IndexOptions, IndexReport, Result, parse, units};
use std::path::PathBuf;
use std::time::Duration;

const INDEX_EXAMPLES: &str = "\
Examples:
  litepress index app.db \"CREATE INDEX user_area ON user (area)\"
  litepress index app.db \"CREATE UNIQUE INDEX IF NOT EXISTS u ON user (id)\" \\
    \"CREATE INDEX a ON user (age DESC, area)\" --memory 2GiB
  litepress index app.db \"CREATE INDEX b ON user (age)\" --through-wal --json

Each table is read once for all of its indexes, and all indexes appear in one
transaction. Other programs may read meanwhile, and in WAL mode also write until
the new pages are written.
";

const REINDEX_EXAMPLES: &str = "\
Examples:
  litepress reindex app.db
  litepress reindex app.db user --threads 2 --busy-timeout 60
  litepress reindex app.db user_area --quiet
";

/// Make indexes in a database that exists, while other programs use it
#[derive(Args, Debug)]
#[command(after_help = INDEX_EXAMPLES)]
pub struct IndexArguments {
    /// The database
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// CREATE INDEX statements
    #[arg(value_name = "SQL", required = true)]
    statements: Vec<String>,
    #[command(flatten)]
    live: LiveArgs,
}

/// Make the indexes of a database once more, while other programs use it
#[derive(Args, Debug)]
#[command(after_help = REINDEX_EXAMPLES)]
pub struct ReindexArguments {
    /// The database
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Indexes, or tables for all of their indexes [default: all of the database]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    live: LiveArgs,
}

/// How a database that exists is changed.
#[derive(Args, Debug, Default)]
struct LiveArgs {
    #[command(flatten)]
    work: WorkArgs,
    /// Wait this long for the lock of another program [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = parse::seconds)]
    busy_timeout: Option<Duration>,
    /// Write all pages through the WAL, for programs that copy it elsewhere (Litestream, LiteFS); done if a sign of one is found
    #[arg(long)]
    through_wal: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl IndexArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.live.output.errors()
    }
}

impl ReindexArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.live.output.errors()
    }
}

impl LiveArgs {
    /// Returns the options, and installs the handler of Ctrl-C.
    fn options(&self) -> Result<IndexOptions> {
        let mut options = IndexOptions::default().build(self.work.options()).through_wal(self.through_wal);
        options.busy_timeout = self.busy_timeout.unwrap_or(options.busy_timeout);
        let interrupt = Interrupt::stops(options.build.progress.clone(), self.output.errors())?;
        Ok(options.observer(Reporter::new(self.output.progress(), Some(interrupt))))
    }
}

pub fn run_index(arguments: &IndexArguments) -> Result<u8> {
    let IndexArguments { database, statements, live } = arguments;
    refuse_special_name(database, false)?;
    let report = litepress::index(database, statements, &live.options()?)?;
    live.output.print_done(|| report.to_json(), |verbose| index_text(&report, verbose))?;
    Ok(DONE)
}

pub fn run_reindex(arguments: &ReindexArguments) -> Result<u8> {
    let ReindexArguments { database, names, live } = arguments;
    refuse_special_name(database, false)?;
    let report = litepress::reindex(database, names, &live.options()?)?;
    live.output.print_done(|| report.to_json(), |verbose| index_text(&report, verbose))?;
    Ok(DONE)
}

/// Describes what was done in three lines, and what SQLite made.
fn index_text(report: &IndexReport, verbose: bool) -> String {
    let done = &report.done;
    let mut out = existing(&done.existing);
    if done.indexes.is_empty() {
        return out + "nothing to do\n";
    }
    let entries: u64 = done.indexes.iter().filter_map(|index| index.entries).sum();
    out += &format!(
        "{} in {}: {}, {} written\n",
        units::counted(done.indexes.len() as u64, "index").replace("indexs", "indexes"),
        report.path.display(),
        units::counted(entries, "entry").replace("entrys", "entries"),
        units::counted(done.commit.pages_written, "page"),
    );
    let locked = units::duration(done.commit.locked);
    out += &format!("{} in all; other programs could not write for {locked}\n", units::duration(done.total));
    out += &format!("COMMIT took {}{}\n", units::duration(done.commit.commit), route(done));
    if verbose {
        out.extend(done.indexes.iter().map(index_line));
        out += &format!("scan and sort {}{}\n", units::duration(done.scan), again(done));
    }
    out + &by_sqlite(done)
}

fn existing(names: &[String]) -> String {
    names.iter().map(|name| format!("index {name} exists already\n")).collect()
}

fn route(done: &live::IndexReport) -> &'static str {
    if done.commit.through_wal { "; all pages went through SQLite" } else { "" }
}

fn again(done: &live::IndexReport) -> &'static str {
    if done.repeated { ", done again under the lock, because others committed meanwhile" } else { "" }
}

fn index_line(index: &live::MadeIndex) -> String {
    let entries = index.entries.map_or_else(|| "by SQLite".to_owned(), units::grouped);
    format!("  {} on {}: {entries}\n", index.name, index.table)
}

fn by_sqlite(done: &live::IndexReport) -> String {
    if let Some(reason) = &done.only_sqlite {
        return format!("note: SQLite made them, because {reason}\n");
    }
    let made = done.indexes.iter().filter_map(|index| Some((&index.name, index.by_sqlite.as_ref()?)));
    made.map(|(name, reason)| format!("note: SQLite made the index {name}, because {reason}\n")).collect()
}
