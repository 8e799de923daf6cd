//! Databases of files.

mod dry_run;
mod job;
pub(crate) mod notes;
mod options;
mod report;
mod run;
mod split;

pub use dry_run::Mismatches;
pub(crate) use job::LoadJob;
pub use notes::notes_of;
pub use options::{FileFormat, LoadOptions};
pub use report::{LoadReport, SplitReport};
pub(crate) use run::read_all;

use crate::build::refuse_special_target;
use crate::observer::Stage;
use crate::plan_report::PlanReport;
use crate::{OnError, Result, Target};
use job::listed;
use litepress_load::rejects::Rejects;
use std::path::PathBuf;
use std::time::Instant;

/// Builds a database of files: CSV, TSV, NDJSON, JSON, Parquet, Arrow IPC, SQLite, spreadsheets. A file may be a pattern of paths, a
/// folder, or a ZIP archive; gzip, zstd, bzip2, xz and LZ4 are recognised by their content.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (csv, db) = (folder.path().join("user.csv"), folder.path().join("user.db"));
/// std::fs::write(&csv, "id,name\n2,Ada\n1,Blaise\n")?;
/// let options = litepress::LoadOptions::default().primary_key(&["id"]).index(&["name"]);
/// let report = litepress::load(&*db, [&csv], &options)?;
/// assert_eq!(report.build.summary.rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// All mistakes in the options; files that cannot be read, and values that their tables do not take; errors of the engine.
pub fn load<F: Into<PathBuf>>(
    target: impl Into<Target>,
    files: impl IntoIterator<Item = F>,
    options: &LoadOptions,
) -> Result<LoadReport> {
    let (started, target) = (Instant::now(), target.into());
    refuse_special_target(&target)?;
    let files: Vec<PathBuf> = files.into_iter().map(Into::into).collect();
    options.observer.enter(Stage::Inspect);
    let may_repeat = options.policy()? == OnError::Reject || options.rejects.is_some();
    if options.split_by.is_some() {
        return split::load(&target, files, options, started);
    }
    let job = LoadJob::new(&target, files, options, may_repeat)?;
    options.observer.enter(Stage::Build);
    job.refuse_left_out()?;
    job.run(&target, started)
}

/// Returns what [`load`] would do, and why. Without a target nothing is said of the disk.
///
/// # Errors
/// All mistakes in the options; files that cannot be read; whatever else makes the load fail before its first row. A target that exists
/// is no error, because it may be replaced later.
pub fn plan_load<F: Into<PathBuf>>(
    target: Option<Target>,
    files: impl IntoIterator<Item = F>,
    options: &LoadOptions,
) -> Result<PlanReport> {
    let place = target.clone().unwrap_or(Target::Discard);
    let files: Vec<PathBuf> = files.into_iter().map(Into::into).collect();
    let job = LoadJob::new(&place, files, options, true)?;
    let mut notes = job.notes();
    notes.extend(job.note_about_division(&place)?);
    job.refuse_left_out()?;
    let (sources, _rejects) = job.sources(Rejects::shown(0))?;
    let (listed, build) = (listed(&sources), job.build_options());
    let rows: Vec<Option<u64>> = listed.iter().map(|(_, source)| source.rows()).collect();
    let schema = job.built_schema().clone();
    let estimate = match &job.geopackage {
        Some(package) => job.estimate_package(package, &sources, &place, &build)?,
        None => job.estimate(&listed, &place, &build)?,
    };
    let missing: Vec<Vec<usize>> = listed.iter().map(|(_, source)| source.missing_columns()).collect();
    job.rehearse_build(&place, &missing).map_err(|error| job.explain(&sources, error))?;
    drop(sources);
    let (mismatches, figures) = job.dry_run(&mut notes)?;
    if !mismatches.is_fatal {
        job.rehearse_append(&place, missing)?;
    }
    let append = job.routes(&place, &figures)?;
    Ok(PlanReport {
        mismatches: Some(mismatches),
        notes,
        target,
        rows: rows.iter().copied().sum(),
        page_size: job.page_size,
        estimate,
        steps: job.steps(),
        databases: None,
        append,
        left_out: Some(job.plan.left_out.clone()),
        dropped: job.plan.dropped.clone(),
        tables: job.plan.tables.iter().zip(rows).map(|(table, rows)| job.table_report(table, rows)).collect(),
        options: build,
        schema,
    })
}
