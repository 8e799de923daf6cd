//! `litepress load`: files become the tables of a new database.

use crate::audience::Audience;
use crate::failure::{DONE, Failure};
use crate::interrupt::Interrupt;
use crate::loading::{LoadJob, Loading, LoadingArguments};
use crate::making::{Addition, Making, refuse_special_names};
use crate::numbers;
use crate::options::MakingArguments;
use crate::outcome::Outcome;
use crate::progress::{Sample, Unit, Watch};
use clap::Args;
use litepress::Options;
use litepress_load::rejects::Rejects;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  litepress load lite.db lineitem.csv --primary-key l_orderkey,l_linenumber --without-rowid --index l_shipdate
  litepress load users.db users.csv.gz --table user --type area=TEXT --null ''
  litepress load shop.db customer.csv orders.ndjson --primary-key id --foreign-key orders.customer=customer.id
  litepress load typed.db data.csv --schema typed.sql --on-error reject --rejects wrong.csv
  cat events.ndjson | litepress load events.db - --table event
";

/// Turn files into the tables of a new database: CSV, TSV, NDJSON, JSON, Parquet, Arrow IPC, SQLite
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LoadArguments {
    /// The database to make
    #[arg(value_name = "OUT.db")]
    out: PathBuf,
    /// Files, patterns of files, or '-' for standard input; gzip and zstd are seen by their content
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    loading: LoadingArguments,
    #[command(flatten)]
    making: MakingArguments,
}

pub fn run(arguments: LoadArguments) -> Result<u8, Failure> {
    let LoadArguments { out, files, loading, making } = arguments;
    refuse_special_names(&out)?;
    let (job, options) = (loading.job(files)?, making.options());
    let audience = Audience::user(making.showing.progress, Some(Interrupt::stops(options.progress.clone())?));
    load(&job, &out, options, &audience)?.print(making.showing.json)?;
    Ok(DONE)
}

/// Makes the database `out` of files.
///
/// # Errors
/// All mistakes in the arguments; files that cannot be read, and what they hold that their tables do not take; what the
/// engine fails with.
pub fn load(job: &LoadJob, out: &Path, options: Options, audience: &Audience) -> Result<Outcome, Failure> {
    let started = Instant::now();
    refuse_special_names(out)?;
    audience.nothing_to_clean_up();
    let loading = job.prepare(Some(out), &options, audience)?;
    audience.something_to_clean_up();
    let sources = loading.sources()?;
    let making = Making { schema: &loading.plan.schema, sources: &sources.listed(), file: Some(out), started };
    let write_rejects = || sources.rejects.finish();
    let made = making.make(options, audience, |options| watch(&loading, options, audience), &write_rejects);
    let made = made.map_err(|error| {
        // A run that failed earlier has rejects, too. Its own error is the one that counts.
        let _written = write_rejects();
        loading.explain(&sources, error)
    })?;
    Ok(making.outcome(&made, addition(&loading, &sources.rejects)))
}

/// Shows bytes of input: also of compressed ones it is known how many there are.
fn watch(loading: &Loading, options: &Options, audience: &Audience) -> Watch {
    let (progress, read) = (options.progress.clone(), loading.plan.bytes_read());
    let (total, before) = (loading.plan.input_bytes(), loading.bytes_read_before);
    audience.watch(Unit::InputBytes, move || {
        let done = read.load(Ordering::Relaxed).saturating_sub(before);
        Sample { done, total: total.unwrap_or(0), bytes: progress.bytes(), stage: progress.stage() }
    })
}

/// The types of columns, and what was left out.
fn addition(loading: &Loading, rejects: &Rejects) -> Addition {
    let (rejected, nulls, cut_texts) = (rejects.count(), rejects.nulls(), rejects.cut_texts());
    let mut text = loading.tables_text();
    if rejected > 0 {
        text += &format!("left out {} records that are wrong\n", numbers::grouped(rejected));
    }
    if nulls > 0 {
        text += &format!("stored NULL in place of {} values that their columns do not take\n", numbers::grouped(nulls));
    }
    if cut_texts > 0 {
        text += &format!(
            "cut {} texts in numeric columns at a NUL character, as SQLite does: only the number before it is stored; declare \
             the columns TEXT to keep the texts\n",
            numbers::grouped(cut_texts)
        );
    }
    text += &loading.left_out_text();
    let renumbered = loading.plan.renumbered();
    if !renumbered.is_empty() {
        text += &format!("rowids that no column holds are numbered from 1: {}\n", renumbered.join(", "));
    }
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    let mut json = Map::new();
    json.insert("left_out".to_owned(), json!(loading.plan.left_out));
    json.insert("renumbered".to_owned(), json!(renumbered));
    json.insert("rejected".to_owned(), json!(rejected));
    json.insert("nulls".to_owned(), json!(nulls));
    json.insert("cut_texts".to_owned(), json!(cut_texts));
    json.insert("columns".to_owned(), Value::Array(loading.columns_json()));
    Addition { text, json }
}
