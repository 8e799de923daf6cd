//! Checks of any database file.

mod shards;

pub use shards::{FolderCheck, check_folder};

use crate::observer::{Measured, Meter, NullObserver, Observer, Sample, Unit};
use crate::text_file::{TextFile, TextKind};
use crate::units;
use crate::{Error, ErrorKind, Progress, Result};
use litepress_check::Report;
use litepress_engine::Phase;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Options of [`check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Threads that read pages; by default one a core.
    pub threads: usize,
    /// Memory for long records; by default 256 MiB.
    pub memory_bytes: u64,
    /// Largest number of faults in the result; further ones are counted. By default 100.
    pub max_faults: usize,
    /// Whether SQLite checks the database too: `integrity_check` and `foreign_key_check`.
    pub full: bool,
    /// About how many leaves of each b-tree are read, for a quick look that is no proof. By default all.
    pub sample: Option<u64>,
    /// The file of a page that shows the database: its pages, b-trees, schema, and advice.
    pub html: Option<PathBuf>,
    /// Whether that file is replaced if it exists. It must be a page.
    pub overwrite: bool,
    /// Carries the wish to stop.
    pub progress: Arc<Progress>,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        let litepress_check::CheckOptions { threads, memory_bytes, max_faults, .. } =
            litepress_check::CheckOptions::default();
        let (progress, observer) = (Arc::default(), Arc::new(NullObserver));
        let (full, sample, html, overwrite) = (false, None, None, false);
        Self { threads, memory_bytes, max_faults, full, sample, html, overwrite, progress, observer }
    }
}

impl CheckOptions {
    /// Sets the number of threads that read pages.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the memory for long records.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Sets the largest number of faults in the result.
    #[must_use]
    pub fn max_faults(mut self, faults: usize) -> Self {
        self.max_faults = faults;
        self
    }

    /// Sets whether SQLite checks the database too.
    #[must_use]
    pub fn full(mut self, full: bool) -> Self {
        self.full = full;
        self
    }

    /// Sets about how many leaves of each b-tree are read, for a quick look at a large database.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("t.db");
    /// # litepress::Writer::create(&path, "CREATE TABLE t (a)")?.finish()?;
    /// let result = litepress::check(&path, &litepress::CheckOptions::default().sample(1000))?;
    /// assert!(result.report.sample.is_some_and(|sample| sample.leaves_read == sample.leaves));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sample(mut self, leaves: u64) -> Self {
        self.sample = Some(leaves);
        self
    }

    /// Sets the file of a page that shows the database.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (path, page) = (folder.path().join("t.db"), folder.path().join("t.html"));
    /// # litepress::Writer::create(&path, "CREATE TABLE t (a)")?.finish()?;
    /// litepress::check(&path, &litepress::CheckOptions::default().html(&page))?;
    /// assert!(std::fs::read_to_string(&page)?.starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn html(mut self, page: impl Into<PathBuf>) -> Self {
        self.html = Some(page.into());
        self
    }

    /// Sets whether the file of the page is replaced if it exists.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets the object that carries the wish to stop.
    #[must_use]
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = progress;
        self
    }

    /// Sets the observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// The result of litepress's checks.
    pub report: Report,
    /// SQLite's complaints, if it was asked.
    pub sqlite: Option<Vec<String>>,
}

/// Checks every page of a database.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("t.db");
/// # litepress::Writer::create(&path, "CREATE TABLE t (a)")?.finish()?;
/// let result = litepress::check(&path, &litepress::CheckOptions::default().full(true))?;
/// assert!(result.is_clean());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`litepress_check::check`]: a fault of the database is part of the result, not an error. If the page cannot be written.
pub fn check(database: impl AsRef<Path>, options: &CheckOptions) -> Result<CheckResult> {
    let database = database.as_ref();
    if options.sample.is_some() && (options.html.is_some() || options.full) {
        let error =
            Error::new(ErrorKind::Usage, "a page and SQLite's check need the whole database, and this is a sample");
        return Err(error.in_file(database).advise("sample, or look at the whole database"));
    }
    let new_page = |page: &PathBuf| TextFile::new(page, TextKind::Page, options.overwrite, &[database], None);
    let page = options.html.as_ref().map(new_page).transpose()?;
    let bytes = std::fs::metadata(database).map_or(0, |metadata| metadata.len());
    let pages: Arc<[AtomicU64; 2]> = Arc::default();
    let seen = pages.clone();
    let meter = Meter::new(Unit::Pages, move || {
        let [done, total] = [&seen[0], &seen[1]].map(|pages| pages.load(Ordering::Relaxed));
        let share = if total == 0 { 0.0 } else { done as f64 / total as f64 };
        Sample { done, total, bytes: units::rounded(bytes as f64 * share), phase: Phase::default() }
    });
    let measured = Measured::begin(&*options.observer, meter);
    let CheckOptions { threads, memory_bytes, max_faults, sample, .. } = *options;
    let map = page.is_some();
    let of_engine = litepress_check::CheckOptions { threads, memory_bytes, max_faults, map, sample };
    let report = litepress_check::check(database, &of_engine, &|done, total| {
        pages[0].fetch_max(done, Ordering::Relaxed);
        pages[1].store(total, Ordering::Relaxed);
        options.progress.go_on()
    });
    drop(measured);
    let report = report?;
    if let Some(page) = page {
        page.write(&litepress_html::database_page(database, &report)?)?;
    }
    sqlite_check(database, report, options)
}

/// Adds SQLite's own check to a report, if the options ask for it and SQLite will come to an end.
fn sqlite_check(database: &Path, mut report: Report, options: &CheckOptions) -> Result<CheckResult> {
    if !options.full {
        return Ok(CheckResult { report, sqlite: None });
    }
    if report.shares_pages {
        let why = "SQLite was not asked: pages have several references, and it follows all of them, perhaps for ever";
        report.notes.push(why.to_owned());
        return Ok(CheckResult { report, sqlite: None });
    }
    let progress = options.progress.clone();
    let sqlite = litepress_check::sqlite_verdict(database, options.max_faults, Arc::new(move || progress.go_on()))?;
    Ok(CheckResult { report, sqlite: Some(sqlite) })
}

impl CheckResult {
    /// Returns whether the database has no fault.
    pub fn is_clean(&self) -> bool {
        self.report.is_clean() && self.sqlite.as_ref().is_none_or(Vec::is_empty)
    }

    /// Returns the result for programs.
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
                "sequential_leaves": tree.sequential_leaves,
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
            "sample": report.sample.map(|sample| json!({"leaves_read": sample.leaves_read, "leaves": sample.leaves})),
            "btrees": btrees.collect::<Vec<Value>>(),
        })
    }
}
