//! Indexes of databases that exist.

use crate::observer::{Measured, Meter, NullObserver, Observer, Sample, Stage, Unit};
use crate::{Options, Result};
use litepress_engine::live::{self, IndexTask, LiveOptions, MadeIndex};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Options of [`index`] and [`reindex`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexOptions {
    /// Threads, memory, temporary folder, sync and progress. Those about the making of a file have no effect.
    pub build: Options,
    /// The longest wait for another program's lock; by default 10 s.
    pub busy_timeout: Duration,
    /// Whether all pages go through the WAL, for programs that copy it elsewhere. Always so if a sign of one is found.
    pub through_wal: bool,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
}

impl Default for IndexOptions {
    fn default() -> Self {
        let LiveOptions { build, busy_timeout, through_wal, .. } = LiveOptions::default();
        Self { build, busy_timeout, through_wal, observer: Arc::new(NullObserver) }
    }
}

impl IndexOptions {
    /// Sets the options that litepress has for every job.
    #[must_use]
    pub fn build(mut self, build: Options) -> Self {
        self.build = build;
        self
    }

    /// Sets the longest wait for another program's lock.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets whether all pages go through the WAL.
    #[must_use]
    pub fn through_wal(mut self, through_wal: bool) -> Self {
        self.through_wal = through_wal;
        self
    }

    /// Sets the observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    fn live(&self) -> LiveOptions {
        let mut live = LiveOptions::default();
        live.build = self.build.clone();
        live.busy_timeout = self.busy_timeout;
        live.through_wal = self.through_wal;
        live
    }
}

/// The outcome of [`index`] and [`reindex`].
#[derive(Clone, Debug)]
pub struct IndexReport {
    /// The database.
    pub path: PathBuf,
    /// The work that was done.
    pub done: live::IndexReport,
}

/// Makes indexes in a database that exists, all of them or none. Each table is read once for all of its indexes.
///
/// Other programs may use the database meanwhile. In WAL mode they may also write, until the new pages are written.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("app.db");
/// # litepress::Writer::create(&path, "CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT, area INTEGER)")?.finish()?;
/// let statements = ["CREATE INDEX event_day ON event (day)", "CREATE INDEX event_area ON event (area, day DESC)"];
/// let report = litepress::index(&path, &statements, &litepress::IndexOptions::default())?;
/// assert_eq!(report.done.indexes.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If SQLite refuses a statement, a statement is not CREATE INDEX, a key of a unique index comes twice, another program keeps
/// the database locked, or a read or write fails.
pub fn index(
    database: impl AsRef<Path>,
    statements: &[impl AsRef<str>],
    options: &IndexOptions,
) -> Result<IndexReport> {
    let statements: Vec<String> = statements.iter().map(|statement| statement.as_ref().to_owned()).collect();
    run(database.as_ref(), IndexTask::Create(&statements), options)
}

/// Makes indexes once more: those of these names, those of the tables of these names, or all of the database.
///
/// # Errors
/// As [`index`], or if there is no table or index of a name.
pub fn reindex(database: impl AsRef<Path>, names: &[impl AsRef<str>], options: &IndexOptions) -> Result<IndexReport> {
    let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
    run(database.as_ref(), IndexTask::Again(&names), options)
}

fn run(path: &Path, task: IndexTask<'_>, options: &IndexOptions) -> Result<IndexReport> {
    crate::refuse_special_name(path)?;
    let progress = options.build.progress.clone();
    let meter = Meter::new(Unit::Rows, move || Sample {
        done: progress.rows(),
        total: 0,
        bytes: progress.bytes(),
        phase: progress.phase(),
    });
    options.observer.enter(Stage::Build);
    let measured = Measured::begin(&*options.observer, meter);
    let done = live::make_indexes(path, task, &options.live());
    drop(measured);
    options.observer.enter(Stage::Over);
    Ok(IndexReport { path: path.to_owned(), done: done? })
}

impl IndexReport {
    /// Returns the report for programs.
    pub fn to_json(&self) -> Value {
        let live::IndexReport { indexes, existing, only_sqlite, rows, repeated, commit, scan, total, .. } = &self.done;
        let index = |index: &MadeIndex| {
            let route = if index.entries.is_some() { "pages" } else { "sql" };
            json!({
                "name": index.name,
                "table": index.table,
                "entries": index.entries,
                "route": route,
                "why": index.by_sqlite.clone().or_else(|| only_sqlite.as_ref().map(ToString::to_string)),
            })
        };
        json!({
            "path": self.path.to_string_lossy(),
            "indexes": indexes.iter().map(index).collect::<Vec<Value>>(),
            "existing": existing,
            "rows_read": rows,
            "repeated": repeated,
            "pages_written": commit.pages_written,
            "pages_freed": commit.pages_freed,
            "through_wal": commit.through_wal,
            "scan_seconds": scan.as_secs_f64(),
            "locked_seconds": commit.locked.as_secs_f64(),
            "commit_seconds": commit.commit.as_secs_f64(),
            "seconds": total.as_secs_f64(),
        })
    }
}
