//! Verifies a finished database: every page, cell and record, and the sums over them.
//!
//! `PRAGMA integrity_check` misses faults such as NaN, and reads with one thread. This check reads the file itself: on
//! all cores, once, and front to back as far as the b-trees allow. It asks SQLite only for the meaning of the schema.
//! It also notes what is legal but odd, such as text that is not UTF-8, or an AUTOINCREMENT counter that lags behind.
//!
//! # The tour
//!
//! ```text
//! head    companions, length, header
//! schema  the tree of sqlite_schema      plan     SQLite explains it: rules for every tree
//!
//! walk    interior pages, one thread ----bounded channel----> leaf   leaves, all threads
//!                                                             |- plain     fast path: nothing to report
//!                                                             |- (Space)   use of a page's bytes
//!                                                             |- record    header, types, texts
//!                                                             |- order     entries ascend
//!                                                             |- overflow  chains
//!                                                             |- ptrmap    back pointers
//!                                                             `- content   sums of rows and entries
//!
//! side    freelist, sqlite_sequence, index against table
//! reach   one bit a page: used twice? never?
//! ```
//!
//! # Termination and memory
//!
//! A thread enters a page only if it sets the page's bit in a bitmap. The bitmap is the only memory that grows with
//! the file (one bit per page). A record is inspected up to a limit that follows from the memory budget; its overflow
//! chain is followed to the end, through every page at most once. Contents are compared by sums. If you add a check,
//! keep it so: collect nothing per page or per row.
//!
//! # Limits
//!
//! The check does not cover:
//!
//! - the rows that a partial index should have
//! - the values of expressions, in indexes and generated columns
//! - CHECK constraints and foreign keys
//! - the order under collations that only an application knows
//! - the data of a virtual table in its shadow tables (FTS, R-Tree); the shadow tables themselves are checked
//!
//! [`Report::notes`] names each object concerned, except for foreign keys. [`sqlite_integrity_check`] covers most of
//! this.

mod content;
mod defaults;
mod head;
mod inspection;
mod leaf;
mod order;
mod overflow;
mod pages;
mod plain;
mod plan;
mod ptrmap;
mod reach;
mod record;
mod report;
mod schema;
mod side;
mod sqlite;
mod text;
mod tree;
mod walk;

pub use report::{BtreeKind, BtreeReport, Fault, Report};
pub use sqlite::sqlite_integrity_check;
pub(crate) use sqlite::{Found, Judge};

use crate::sqlite::open_file;
use crate::threads::lock;
use inspection::Inspection;
use leaf::{Scanner, Task};
use litepress_format::page::FILE_HEADER_LEN;
use litepress_rows::{Error, ErrorKind, Result};
use pages::{PageFile, RunReader};
use plan::Plan;
use report::FaultLog;
use sqlite::Oracle;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Options of a check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Number of threads that read leaves.
    pub threads: usize,
    /// Memory for records joined from overflow pages, in bytes. A record that is longer than its share is inspected in
    /// part, and the report says so.
    pub memory_bytes: u64,
    /// Largest number of faults to report. Further ones are only counted.
    pub max_faults: usize,
}

/// A callback that gets the number of inspected pages and of all pages. Its error stops the check.
type Watcher<'w> = &'w (dyn Fn(u64, u64) -> Result<()> + Sync);

impl Default for CheckOptions {
    /// All cores, 256 MiB, 100 faults.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, memory_bytes: 256 << 20, max_faults: 100 }
    }
}

impl CheckOptions {
    /// Returns how many bytes of a record are inspected. Each thread may hold two records, the channel two for each
    /// task, the walk two for each level.
    fn record_limit(&self) -> usize {
        const LEAST: u64 = 1 << 20;
        const MOST: u64 = 1 << 30;
        let share = self.memory_bytes / (16 * self.threads.max(1) as u64 + 32);
        usize::try_from(share.clamp(LEAST, MOST)).unwrap_or(usize::MAX)
    }
}

/// Checks the database at `path`. Any thread may call `progress` with the number of inspected pages and of all pages;
/// an error that it returns ends the check soon.
///
/// # Errors
/// If `progress` fails; if the file cannot be read; if a `-wal` or `-journal` beside it holds a part of the database;
/// if the file is changed meanwhile, since it is not locked. Anything wrong with the database itself is a [`Fault`],
/// not an error.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.db");
/// # rusqlite::Connection::open(&path)?.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1)")?;
/// let report = litepress_engine::check::check(&path, &Default::default(), &|_done, _total| Ok(()))?;
/// assert!(report.is_clean());
/// assert_eq!(report.btrees[1].entries, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(path: &Path, options: &CheckOptions, progress: Watcher<'_>) -> Result<Report> {
    let started = Instant::now();
    head::refuse_companions(path)?;
    let before = head::state(path)?;
    let report = check_as_it_lies(path, options, progress);
    // A file that changes gives arbitrary bytes, so neither faults nor read errors mean anything.
    if head::state(path)? != before {
        let error = Error::new(ErrorKind::Target, "the database was changed while it was read").in_file(path);
        return Err(error.advise("close the programs that write it, or check a copy that VACUUM INTO makes"));
    }
    Ok(Report { seconds: started.elapsed().as_secs_f64(), ..report? })
}

fn check_as_it_lies(path: &Path, options: &CheckOptions, progress: Watcher<'_>) -> Result<Report> {
    let (file, bytes) = open_file(path)?;
    let mut head = vec![0; FILE_HEADER_LEN.min(usize::try_from(bytes).unwrap_or(FILE_HEADER_LEN))];
    file.read_exact_at(&mut head, 0).map_err(|error| Error::io("read the database", path, error))?;

    let faults = FaultLog::new(options.max_faults);
    let mut report = empty_report(bytes);
    if bytes == 0 {
        faults.note("the file is empty, which SQLite reads as a database without tables".into());
    } else if let Some(header) = head::header(&head, &faults) {
        let pages = head::page_count(&header, bytes, &faults);
        report.pages = pages.into();
        report.page_size = u32::try_from(header.page_size.bytes()).unwrap_or_default();
        let file = PageFile::new(file, path, header.page_size.bytes(), header.usable(), pages);
        if pages > 0 {
            let inspection = Inspection::new(file, header, &faults, options.record_limit(), progress);
            inspect(&inspection, path, options.threads.max(1), &mut report)?;
        }
    }
    report.faults_total = faults.total();
    (report.faults, report.notes) = faults.take();
    Ok(report)
}

fn empty_report(bytes: u64) -> Report {
    Report {
        faults: Vec::new(),
        faults_total: 0,
        notes: Vec::new(),
        bytes,
        pages: 0,
        page_size: 0,
        btrees: Vec::new(),
        freelist_pages: 0,
        pointer_map_pages: 0,
        seconds: 0.0,
    }
}

/// Inspects everything behind the header.
fn inspect(inspection: &Inspection<'_>, path: &Path, threads: usize, report: &mut Report) -> Result<()> {
    report.pointer_map_pages = side::claim_fixed_pages(inspection);
    let (schema_tree, entries) = schema::read(inspection)?;
    let oracle = match Oracle::open(path) {
        Ok(oracle) => Some(oracle),
        Err(error) => {
            inspection.faults.add_to_file(None, None, format!("SQLite cannot read the schema: {error}"));
            None
        }
    };
    let plan = plan::plan(inspection, &entries, oracle.as_ref());
    walk_all(inspection, &plan, threads)?;
    report.freelist_pages = side::freelist(inspection)?;
    side::largest_root(inspection, &plan);
    side::indexes(inspection, &plan);
    side::sequences(inspection, &plan, oracle.as_ref());
    side::orphans(inspection);
    let trees: Vec<&tree::Tree> = std::iter::once(&schema_tree).chain(&plan.trees).collect();
    side::oddities(inspection, &trees);
    report.btrees = trees.iter().map(|tree| tree.report()).collect();
    inspection.finish_progress()
}

/// Walks every tree on this thread while other threads inspect the leaves.
fn walk_all<'t>(inspection: &'t Inspection<'t>, plan: &'t Plan, threads: usize) -> Result<()> {
    let (sender, receiver) = sync_channel::<Task<'t>>(2 * threads);
    let receiver = Arc::new(Mutex::new(receiver));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let receiver = Arc::clone(&receiver);
            scope.spawn(move || work(inspection, &receiver));
        }
        // From here on only workers hold receivers. If all workers end, sending fails instead of waiting.
        drop(receiver);
        let mut scanner = Scanner::new(inspection);
        for tree in &plan.trees {
            let mut emit = |task| Ok(sender.send(task).is_ok() && !inspection.is_stopped());
            if let Err(error) = walk::walk(&mut scanner, tree, &mut emit) {
                inspection.fail(error);
            }
            if inspection.is_stopped() {
                break;
            }
        }
        drop(sender);
    });
    inspection.result()
}

/// Inspects the leaves of one task after another. After a failure, drains the remaining tasks.
fn work(inspection: &Inspection<'_>, tasks: &Mutex<Receiver<Task<'_>>>) {
    let (mut scanner, mut runs) = (Scanner::new(inspection), RunReader::default());
    loop {
        let task = lock(tasks).recv();
        let Ok(task) = task else { break };
        if inspection.is_stopped() {
            continue;
        }
        if let Err(error) = scanner.run(&task, &mut runs) {
            inspection.fail(error);
        }
    }
}
