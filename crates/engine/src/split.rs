//! One database a value: rows are sorted by the value of a column, and each value's rows become a database of their own.
//!
//! ```text
//! sources --every core--> items: value, table, position, record --Sorter--> groups: the rows of one value
//!
//! group of up to a part   its rows are copied, and a worker makes the whole file in memory: every core makes another file
//! larger group            its rows go from the sort to a database, which is made by all cores; other workers wait
//! ```
//!
//! So memory and the number of open files are bounded whatever the number of values is. The schema was read once, by the caller.
//! All files grow in one folder under a temporary name ([`Folder`]). It is synced once, and gets its name by one rename.
//!
//! | module | what it does |
//! |---|---|
//! | `item` | a row as a sort item, and back |
//! | `groups` | sorted items, cut into groups |
//! | `rows` | the rows of a group as a source |
//! | `file_name` | a name for any value |
//! | `files` | a group becomes a file |

mod file_name;
mod files;
mod groups;
mod item;
mod rows;
#[cfg(test)]
mod tests;

use crate::database::{Finished, refuse_part};
use crate::options::{MIN_MEMORY_BYTES, Options};
use crate::plan::is_filled_by_sqlite;
use crate::progress::Progress;
use crate::publish::{Folder, folder_of};
use crate::resources::{bounded, check_temp_dir, page_size, sort_options};
use crate::sort::{RunWriter, SortedItems, Sorter};
use crate::summary::{Stages, Summary, TableSummary, peak_memory_bytes};
use crate::table::PartQueue;
use crate::threads::{on_threads, take_all};
use crate::{Result, Schema, Sync};
use files::{Failure, Files};
use groups::Groups;
use item::ItemMaker;
use litepress_format::page::PageSize;
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};
use std::path::Path;
use std::time::Instant;

pub(crate) use item::ValueOrigin;

/// The rows of one table that are divided.
#[derive(Clone, Copy)]
pub struct SplitTable<'s> {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// Position of the column that decides, among the table's columns. It is an ordinary one.
    pub column: usize,
    /// The rows.
    pub source: &'s dyn Source,
}

/// The databases that a split has made.
#[derive(Debug)]
#[non_exhaustive]
pub struct SplitDatabases {
    /// Counts and times of all databases together. Root pages are 0, because they differ.
    pub finished: Finished,
    /// Number of databases.
    pub databases: u64,
    /// Name of the file with the most rows, and their number.
    pub largest: Option<(String, u64)>,
}

/// Makes a database of each value in `folder`, which is absent, empty, or replaced as a whole if [`Options::overwrite`] says so.
/// `before_publishing` runs when all files are written.
///
/// Memory: within [`Options::memory_bytes`], of which the sort takes half; and 8 MiB a thread.
///
/// # Errors
/// If a source fails, two rows of one database have the same unique key, a write fails, or the folder cannot be replaced. It is then as
/// it was.
pub fn split(
    folder: &Path,
    schema: &Schema,
    tables: &[SplitTable<'_>],
    options: &Options,
    before_publishing: &dyn Fn() -> Result<()>,
) -> Result<SplitDatabases> {
    let started = Instant::now();
    refuse_part_of_values(options)?;
    let options = &bounded(options)?;
    let page_size = page_size(schema, options)?;
    // A database takes the tables that litepress writes first.
    let mut tables = tables.to_vec();
    let is_by_sqlite = |split: &SplitTable<'_>| is_filled_by_sqlite(&schema.tables[split.table], options.on_conflict);
    tables.sort_by_key(is_by_sqlite);
    let published = Folder::begin(folder, options.overwrite)?;
    options.progress.expect(2, u32::try_from(tables.len()).unwrap_or(u32::MAX));
    let sorted = sort(folder, schema, &tables, options)?;
    options.progress.enter("databases");
    let files = Files::new(schema, &tables, published.path(), published.target(), options);
    let groups = Mutex::new(Groups::new(&sorted)?);
    make_all(&files, &groups, options.threads)?;
    drop(groups);
    before_publishing()?;
    let build = started.elapsed();
    if options.sync == Sync::Full {
        options.progress.enter_step("waiting for the disk");
        published.sync()?;
    }
    let synced = started.elapsed();
    options.progress.go_on()?;
    let totals = files.finish();
    published.commit(options.sync)?;
    let stages = Stages { build, sync: synced - build, publish: started.elapsed() - synced, ..Stages::default() };
    Ok(totals.into_databases(page_size, stages))
}

/// Refuses to write a part of the databases.
pub(crate) fn refuse_part_of_values(options: &Options) -> Result<()> {
    refuse_part(options, "the databases of values are whole")
}

/// Sorts all rows by value, table and position.
fn sort(folder: &Path, schema: &Schema, tables: &[SplitTable<'_>], options: &Options) -> Result<SortedItems> {
    let temp_dir = options.temp_dir.clone().unwrap_or_else(|| folder_of(folder).to_owned());
    check_temp_dir(&temp_dir)?;
    let half = Options { memory_bytes: options.memory_bytes / 2, ..options.clone() };
    let sorter = Sorter::new(sort_options(&half, &temp_dir, 1));
    for (number, split) in (0..).zip(tables) {
        let table = &schema.tables[split.table];
        options.progress.enter_rows(&table.name);
        let items = || ItemMaker::new(number, ValueOrigin::new(table, split.column));
        gather(split.source, &items, &sorter, &options.progress, options.threads)
            .map_err(|error| if error.place().table.is_some() { error } else { error.in_table(&table.name) })?;
    }
    sorter.finish()
}

/// Takes all rows of a source.
fn gather(
    source: &dyn Source,
    items: &(dyn Fn() -> ItemMaker + std::marker::Sync),
    sorter: &Sorter,
    progress: &Progress,
    threads: usize,
) -> Result<()> {
    let mut queue = PartQueue::new(source);
    let threads = queue.workers(threads)?;
    let queue = Mutex::new(queue);
    let begin = || Collector { chunk: RecordChunk::new(), writer: sorter.writer(), items: items(), progress };
    let take = |collector: &mut Collector<'_>| match progress.go_on().and_then(|()| lock(&queue).take()) {
        Ok(Some((number, part))) => collector.take(part).map(|()| true).map_err(|error| (number, error)),
        Ok(None) => Ok(false),
        Err(error) => Err((u64::MAX, error)),
    };
    take_all(threads, begin, take, |collector| collector.writer.finish())
}

/// Takes the rows of some parts, for one thread.
struct Collector<'a> {
    chunk: RecordChunk,
    writer: RunWriter<'a>,
    items: ItemMaker,
    progress: &'a Progress,
}

impl Collector<'_> {
    fn take(&mut self, mut part: Box<dyn Part + '_>) -> Result<()> {
        loop {
            self.progress.go_on()?;
            self.chunk.clear();
            part.fill(&mut self.chunk)?;
            if self.chunk.is_empty() {
                return Ok(());
            }
            for row in 0..self.chunk.len() {
                self.writer.push(self.items.item(&self.chunk, row)?)?;
            }
            self.progress.add_rows(self.chunk.len() as u64);
        }
    }
}

/// Makes the files of all groups. Returns the error of the earliest one that failed.
fn make_all<'s>(files: &Files<'_>, groups: &Mutex<Groups<'s>>, threads: usize) -> Result<()> {
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let fail = |number: u64, error| {
        let mut first = lock(&failure);
        if first.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
            *first = Some((number, error));
        }
    };
    on_threads(threads, || {
        let mut worker = files.worker();
        while lock(&failure).is_none() {
            match files.make_next(groups, &mut worker) {
                Ok(true) => {}
                Ok(false) => break,
                Err((number, error)) => fail(number, error),
            }
        }
        files.add(worker);
    });
    ignore_poison(failure.into_inner()).map_or(Ok(()), |(_, error)| Err(error))
}

/// Returns the options of a database that one worker makes.
fn small(options: &Options) -> Options {
    Options { threads: 1, memory_bytes: MIN_MEMORY_BYTES, ..of_one(options) }
}

/// Returns the options of a database that all workers make.
fn large(options: &Options) -> Options {
    Options { memory_bytes: (options.memory_bytes / 2).max(MIN_MEMORY_BYTES), ..of_one(options) }
}

/// Returns the options of any of the databases: the folder is replaced and synced as a whole.
fn of_one(options: &Options) -> Options {
    let progress = std::sync::Arc::new(Progress::within(options.progress.clone()));
    Options { overwrite: false, sync: Sync::Off, expected_bytes: 0, progress, ..options.clone() }
}

/// Figures of several databases.
#[derive(Default)]
struct Totals {
    databases: u64,
    bytes: u64,
    tables: Vec<TableSummary>,
    largest: Option<(String, u64)>,
    verified: Option<litepress_check::Report>,
}

impl Totals {
    fn of(schema: &Schema) -> Self {
        let table = |table: &litepress_rows::Table| TableSummary {
            name: table.name.clone(),
            payload_bytes: Some(0),
            ..TableSummary::default()
        };
        Self { tables: schema.tables.iter().map(table).collect(), ..Self::default() }
    }

    /// Adds a database.
    fn add(&mut self, name: String, finished: Finished) {
        let Finished { summary, verified, .. } = finished;
        self.databases += 1;
        self.bytes += summary.bytes;
        for (all, one) in self.tables.iter_mut().zip(&summary.tables) {
            all.rows += one.rows;
            all.left_out += one.left_out;
            all.build += one.build;
            all.payload_bytes = all.payload_bytes.zip(one.payload_bytes).map(|(all, one)| all + one);
        }
        self.take_largest(Some((name, summary.rows)));
        self.take_report(verified);
    }

    /// Adds the figures of another worker.
    fn join(&mut self, other: Self) {
        self.databases += other.databases;
        self.bytes += other.bytes;
        for (all, one) in self.tables.iter_mut().zip(&other.tables) {
            all.rows += one.rows;
            all.left_out += one.left_out;
            all.build += one.build;
            all.payload_bytes = all.payload_bytes.zip(one.payload_bytes).map(|(all, one)| all + one);
        }
        self.take_largest(other.largest);
        self.take_report(other.verified);
    }

    /// Keeps the database with the most rows, and of several the first by name.
    fn take_largest(&mut self, other: Option<(String, u64)>) {
        let order = |one: &(String, u64)| (one.1, std::cmp::Reverse(one.0.clone()));
        let both = self.largest.take().into_iter().chain(other);
        self.largest = both.max_by_key(order);
    }

    fn take_report(&mut self, other: Option<litepress_check::Report>) {
        match (&mut self.verified, other) {
            (Some(all), Some(one)) => {
                all.bytes += one.bytes;
                all.pages += one.pages;
                all.freelist_pages += one.freelist_pages;
                all.seconds += one.seconds;
                all.notes.extend(one.notes);
                all.notes.sort();
                all.notes.dedup();
                all.btrees.clear();
            }
            (all, one) => *all = all.take().or(one),
        }
    }

    fn into_databases(self, page_size: PageSize, stages: Stages) -> SplitDatabases {
        let page_size_bytes = crate::database::page_bytes(page_size);
        let summary = Summary {
            rows: self.tables.iter().map(|table| table.rows).sum(),
            tables: self.tables,
            pages: self.bytes / u64::from(page_size_bytes),
            page_size_bytes,
            bytes: self.bytes,
            stages,
            peak_memory_bytes: peak_memory_bytes(),
        };
        let finished = Finished { summary, bytes: None, verified: self.verified, dropped: Vec::new(), appended: None };
        SplitDatabases { finished, databases: self.databases, largest: self.largest }
    }
}
