//! Verifies a finished database: every page, cell and record, and the sums over them.
//!
//! `PRAGMA integrity_check` misses faults such as NaN, and reads with one thread. This check reads the file itself: on
//! all cores, once, and front to back as far as the b-trees allow. It asks SQLite only for the meaning of the schema.
//! It also notes what is legal but odd, such as text that is not UTF-8, or an AUTOINCREMENT counter that lags behind.
//!
//! # The tour
//!
//! ```text
//! file_header      companions, length, header
//! schema           the tree of sqlite_schema
//! plan             rules for every tree, from SQLite's reading of the schema
//!
//! walk             interior pages, one thread, which sends the leaves to all threads
//! leaf             leaves
//!  |- leaf_fast_path   most leaves end here: nothing to report
//!  |- ByteUsage        use of a page's bytes
//!  |- record           header, types, texts
//!  |- order            entries ascend
//!  |- overflow         chains
//!  |- ptrmap           back pointers
//!  `- content          sums of rows and entries
//! visited_pages    one bit a page: is it used twice, or never?
//! sample           some leaves of each tree, for a quick look
//! page_map         what each page holds, for pictures
//!
//! full_text        segments of full-text tables
//! rtree            nodes of R-Trees
//! other_pages      freelist, pages that nothing points to
//! totals           index against table, sqlite_sequence
//!
//! inspect          the bytes of a page as text, for people
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
//! - the data of a virtual table in its shadow tables (FTS4, geopoly); the shadow tables themselves are checked. Of R-Trees it
//!   covers all, of FTS5 the segments, and not whether they agree with the texts
//!
//! [`Report::notes`] names each object concerned, except for foreign keys. [`sqlite_integrity_check`] covers most of
//! this.
#![forbid(unsafe_code)]

mod content;
mod context;
mod defaults;
mod file_header;
mod full_text;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod inspect;
mod leaf;
mod leaf_fast_path;
mod order;
mod other_pages;
mod overflow;
mod page_map;
mod pages;
mod plan;
mod ptrmap;
mod record;
mod report;
mod rtree;
mod sample;
mod schema;
mod sqlite;
mod totals;
mod tree;
mod visited_pages;
mod walk;

pub use page_map::{MapCell, PageMap, PageUse};
pub use report::{BtreeKind, BtreeReport, Fault, Report};
pub use sample::SampleReport;
pub use sqlite::{GoOn, SqliteChecker, SqliteFaults, sqlite_integrity_check, sqlite_verdict};

use context::CheckContext;
use leaf::{Scanner, Task};
use litepress_format::page::FILE_HEADER_LEN;
use litepress_rows::files::FileExt;
use litepress_rows::sqlite::open_file;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Error, ErrorKind, Result};
use page_map::PageRecorder;
use pages::{PageFile, RunReader};
use plan::Plan;
use report::FaultLog;
use sample::Sampler;
use sqlite::SqliteSchema;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
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
    /// Whether the report has a map of the pages.
    pub map: bool,
    /// About how many leaves of each b-tree are read, for a quick look at a large file. `None` reads all. A sample is no
    /// proof: [`Report::sample`] says what it saw.
    pub sample: Option<u64>,
}

/// A callback that gets the number of inspected pages and of all pages. Its error stops the check.
type Watcher<'w> = &'w (dyn Fn(u64, u64) -> Result<()> + Sync);

impl Default for CheckOptions {
    /// All cores, 256 MiB, 100 faults, no map, all leaves.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, memory_bytes: 256 << 20, max_faults: 100, map: false, sample: None }
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
/// let report = litepress_check::check(&path, &Default::default(), &|_done, _total| Ok(()))?;
/// assert!(report.is_clean());
/// assert_eq!(report.btrees[1].entries, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(path: &Path, options: &CheckOptions, progress: Watcher<'_>) -> Result<Report> {
    let started = Instant::now();
    file_header::refuse_companions(path)?;
    let before = file_header::state(path)?;
    let report = check_unlocked(path, options, progress);
    // A file that changes gives arbitrary bytes, so neither faults nor read errors mean anything.
    if file_header::state(path)? != before {
        let error = Error::new(ErrorKind::Target, "the database was changed while it was read").in_file(path);
        return Err(error.advise("close the programs that write it, or check a copy that VACUUM INTO makes"));
    }
    Ok(Report { seconds: started.elapsed().as_secs_f64(), ..report? })
}

fn check_unlocked(path: &Path, options: &CheckOptions, progress: Watcher<'_>) -> Result<Report> {
    let (file, bytes) = open_file(path)?;
    let mut head = vec![0; FILE_HEADER_LEN.min(usize::try_from(bytes).unwrap_or(FILE_HEADER_LEN))];
    file.read_exact_at(&mut head, 0).map_err(|error| Error::io("read the database", path, error))?;

    let faults = FaultLog::new(options.max_faults);
    let mut report = empty_report(bytes);
    if bytes == 0 {
        faults.note("the file is empty, which SQLite reads as a database without tables".into());
    } else if let Some(header) = file_header::header(&head, &faults) {
        let pages = file_header::page_count(&header, bytes, &faults);
        report.pages = pages.into();
        report.page_size = u32::try_from(header.page_size.bytes()).unwrap_or_default();
        let file = PageFile::new(file, path, header.page_size.bytes(), header.usable(), pages);
        if pages > 0 {
            let recorder = options.map.then(|| PageRecorder::new(pages));
            let mut context =
                CheckContext::new(file, header, &faults, options.record_limit(), progress).record(recorder);
            inspect(&context, path, options, &mut report)?;
            report.map = context.recorder.take().map(PageRecorder::finish);
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
        shares_pages: false,
        freelist_pages: 0,
        pointer_map_pages: 0,
        seconds: 0.0,
        map: None,
        sample: None,
    }
}

/// Inspects everything behind the header.
fn inspect(context: &CheckContext<'_>, path: &Path, options: &CheckOptions, report: &mut Report) -> Result<()> {
    report.pointer_map_pages = other_pages::claim_fixed_pages(context);
    let (schema_tree, entries) = schema::read(context)?;
    let sqlite = match SqliteSchema::open(path) {
        Ok(sqlite) => Some(sqlite),
        Err(error) => {
            context.sqlite_failed(None, "SQLite cannot read the schema", &error);
            None
        }
    };
    let plan = plan::plan(context, &entries, sqlite.as_ref());
    report.sample = walk_all(context, &plan, options)?;
    report.freelist_pages = other_pages::freelist(context)?;
    other_pages::largest_root(context, &plan);
    match &report.sample {
        None => compare(context, &plan, sqlite.as_ref()),
        Some(sample) => context.faults.note(sample.to_string()),
    }
    let trees: Vec<&tree::Tree> = std::iter::once(&schema_tree).chain(&plan.trees).collect();
    totals::note_warnings(context, &trees);
    report.btrees = trees.iter().map(|tree| tree.report()).collect();
    report.shares_pages = context.shares_pages();
    context.result()?;
    context.finish_progress()
}

/// Compares what was read with one another, once all of it was.
fn compare(context: &CheckContext<'_>, plan: &Plan, sqlite: Option<&SqliteSchema>) {
    totals::indexes(context, plan);
    totals::sequences(context, plan, sqlite);
    // SQLite reads the shadow tables, which it trusts.
    if let Some(sqlite) = sqlite.filter(|_| context.faults.total() == 0) {
        sqlite.full_texts().for_each(|name| full_text::check(context, sqlite.connection(), name));
        sqlite.rtrees().iter().for_each(|tree| rtree::check(context, sqlite.connection(), tree));
    }
    other_pages::orphans(context);
}

/// Walks every tree on this thread while other threads inspect the leaves. Returns the share of leaves in a sample.
fn walk_all<'t>(context: &'t CheckContext<'t>, plan: &'t Plan, options: &CheckOptions) -> Result<Option<SampleReport>> {
    let threads = options.threads.max(1);
    let mut seen = options.sample.map(|_| SampleReport::default());
    let (sender, receiver) = sync_channel::<Task<'t>>(2 * threads);
    let receiver = Arc::new(Mutex::new(receiver));
    std::thread::scope(|scope| {
        for number in 0..threads {
            let receiver = Arc::clone(&receiver);
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || work(context, &receiver));
            if let Err(error) = thread {
                // Without a worker no leaf would be looked at.
                if number == 0 {
                    context.fail(Error::new(ErrorKind::Io, format!("cannot start a thread: {error}")));
                }
                break;
            }
        }
        // From here on only workers hold receivers. If all workers end, sending fails instead of waiting.
        drop(receiver);
        let mut scanner = Scanner::new(context);
        for tree in &plan.trees {
            let send = |task| sender.send(task).is_ok() && !context.is_stopped();
            let mut sampler = options.sample.map(|leaves| Sampler::new(leaves, tree.root));
            let mut emit = |task| match &mut sampler {
                None => Ok(send(task)),
                Some(sampler) => sampler.add(&task, context).map(|()| !context.is_stopped()),
            };
            if let Err(error) = walk::walk(&mut scanner, tree, &mut emit) {
                context.fail(error);
            }
            if let (Some(sampler), Some(seen)) = (sampler, &mut seen) {
                let (tasks, of_tree) = sampler.finish();
                seen.leaves += of_tree.leaves;
                seen.leaves_read += of_tree.leaves_read;
                tasks.take_while(|_| !context.is_stopped()).all(send);
            }
            if context.is_stopped() {
                break;
            }
        }
        drop(sender);
    });
    context.result().map(|()| seen)
}

/// Inspects the leaves of one task after another. After a failure, drains the remaining tasks.
fn work(context: &CheckContext<'_>, tasks: &Mutex<Receiver<Task<'_>>>) {
    let (mut scanner, mut runs) = (Scanner::new(context), RunReader::default());
    loop {
        let task = lock(tasks).recv();
        let Ok(task) = task else { break };
        if context.is_stopped() {
            continue;
        }
        if let Err(error) = scanner.run(&task, &mut runs) {
            context.fail(error);
        }
    }
}
