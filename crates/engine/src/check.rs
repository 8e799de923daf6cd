//! The verifier of a finished database: every page, every cell, every record, and what they must add
//! up to.
//!
//! `PRAGMA integrity_check` overlooks a good deal (NaN; also what is legal and odd, and a note here: text that is not
//! UTF-8, an AUTOINCREMENT counter that lags behind) and reads with one thread. This check reads the file itself, on
//! all cores, once, front to back as far as the b-trees allow; SQLite is only asked what the schema means.
//!
//! # The tour
//!
//! ```text
//! head    companions, length, header
//! schema  the tree of sqlite_schema      plan     SQLite explains it: rules for every tree
//!
//! walk    interior pages, one thread ----bounded channel----> leaf   leaves, all threads
//!                                                             |- plain     nothing to be remarked
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
//! # Why it ends, and in little memory
//!
//! A page is only entered by whoever sets its bit in the bitmap, which is the only memory that grows
//! with the file (one bit a page). A record is looked at up to a limit that follows from the memory
//! allowed; its overflow chain is followed to the end, which is at most every page once. Content is
//! compared by sums. If you add a check, keep it so: nothing may be collected per page or per row.
//!
//! # What is not checked
//!
//! The rows that a partial index should have, the values of expressions (in indexes and generated
//! columns), CHECK constraints and foreign keys, order under collations that only an application
//! knows; what a virtual table keeps in its shadow tables (FTS, R-Tree), beyond these tables themselves.
//! [`Report::notes`] names each object that this concerns, foreign keys apart; [`sqlite_integrity_check`]
//! looks at most of it.

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

/// How a check is run.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Threads that read leaves.
    pub threads: usize,
    /// Memory that records put together from overflow pages may take, in bytes. Records that are
    /// longer than their share of it are looked at in part, which the report says.
    pub memory_bytes: u64,
    /// Faults to report; further ones are counted only.
    pub max_faults: usize,
}

/// Who is told how many pages of how many were looked at, and may stop the check by an error.
type Watcher<'w> = &'w (dyn Fn(u64, u64) -> Result<()> + Sync);

impl Default for CheckOptions {
    /// All cores, 256 MiB, 100 faults.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, memory_bytes: 256 << 20, max_faults: 100 }
    }
}

impl CheckOptions {
    /// Bytes of a record that are looked at. Each thread may hold two, the channel two for each task, the walk two
    /// for each level.
    fn record_limit(&self) -> usize {
        const LEAST: u64 = 1 << 20;
        const MOST: u64 = 1 << 30;
        let share = self.memory_bytes / (16 * self.threads.max(1) as u64 + 32);
        usize::try_from(share.clamp(LEAST, MOST)).unwrap_or(usize::MAX)
    }
}

/// Checks the database at `path`. `progress` is told from any thread how many of the pages were
/// looked at; an error of it ends the check soon.
///
/// # Errors
/// That of `progress`. Where the file cannot be read, a `-wal` or `-journal` beside it holds a part of the database, or somebody changed it
/// meanwhile: it is not locked. Whatever is wrong with the database itself is a [`Fault`] and no error.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.db");
/// # rusqlite::Connection::open(&path)?.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1)")?;
/// let report = litepress::check::check(&path, &Default::default(), &|_done, _total| Ok(()))?;
/// assert!(report.is_clean());
/// assert_eq!(report.btrees[1].entries, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(path: &Path, options: &CheckOptions, progress: Watcher<'_>) -> Result<Report> {
    let started = Instant::now();
    head::refuse_companions(path)?;
    let before = head::state(path)?;
    let report = check_as_it_lies(path, options, progress);
    // What was read of a file that changed may be anything: neither its faults nor a failure to read it mean anything.
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

/// Everything behind the header.
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

/// Walks every tree in this thread while others look at the leaves.
fn walk_all<'t>(inspection: &'t Inspection<'t>, plan: &'t Plan, threads: usize) -> Result<()> {
    let (sender, receiver) = sync_channel::<Task<'t>>(2 * threads);
    let receiver = Arc::new(Mutex::new(receiver));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let receiver = Arc::clone(&receiver);
            scope.spawn(move || work(inspection, &receiver));
        }
        // The workers' are the only receivers left: should they all be gone, sending fails instead of waiting.
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

/// Looks at the leaves of task after task. After a failure the rest is only taken away.
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
