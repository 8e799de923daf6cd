//! Rows for the tables of a database that exists.
//!
//! ```text
//! sources --every core--> spools --(lock of writers)--> Append: tables, indexes, COMMIT
//! ```
//!
//! All rows are read and encoded before the lock is taken, so that other programs wait for the shortest time.

use crate::observer::{Measured, Meter, Observer, Stage};
use crate::pipeline::spool::{Spool, SpoolBudget};
use crate::report::BuildReport;
use crate::{Error, ErrorKind, Finished, Options, Progress, Result, Schema};
use litepress_engine::{Append, AppendOptions, append_pages};
use litepress_rows::schema::SchemaAdditions;
use litepress_rows::sync::lock;
use litepress_rows::{OptionName, RecordChunk, Source, message};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// One part in this many of the memory is for rows that wait.
const SPOOL_SHARE: u64 = 4;

/// Rows for the tables of a database that exists.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Appending {
    /// The file of the database.
    pub path: PathBuf,
    /// Its schema as it is.
    pub existing: Schema,
    /// Its schema with everything that is added.
    pub schema: Schema,
    /// Objects that it lacks.
    pub additions: SchemaAdditions,
    /// Options of the run.
    pub options: Options,
    /// Options of the append.
    pub append: AppendOptions,
}

impl Appending {
    /// Reads the rows of all sources, and returns them in the order of the sources.
    fn spool(&self, sources: &[(usize, &dyn Source)]) -> Result<Vec<(usize, Spool)>> {
        let folder = || litepress_engine::folder_of(&self.path).to_owned();
        let folder = self.options.temp_dir.clone().unwrap_or_else(folder);
        let bytes = usize::try_from(self.options.memory_bytes / SPOOL_SHARE).unwrap_or(usize::MAX);
        let mut budget = SpoolBudget::new(bytes, &folder);
        let mut spools = Vec::new();
        for &(table, source) in sources {
            let spool = Spool::like(source, &self.schema.tables[table]);
            spools.push((table, fill_spool(spool, source, &mut budget, &self.options)?));
        }
        Ok(spools)
    }

    /// Adds the rows of all sources. `before_commit` runs when all rows were read.
    ///
    /// # Errors
    /// Errors of the sources, of the database and of `before_commit`: the database is then as it was.
    pub fn run(&self, sources: &[(usize, &dyn Source)], before_commit: &dyn Fn() -> Result<()>) -> Result<Finished> {
        let spools = self.spool(sources)?;
        before_commit()?;
        self.add(&spools)
    }

    /// Adds the rows: by pages if that is possible and faster, else by SQLite.
    pub(crate) fn add(&self, spools: &[(usize, Spool)]) -> Result<Finished> {
        let sources: Vec<(usize, &dyn Source)> =
            spools.iter().map(|(table, spool)| (*table, spool as &dyn Source)).collect();
        let is_changed = !self.additions.columns.is_empty() || !self.additions.objects.is_empty();
        let why = if is_changed {
            "the schema is changed, too".to_owned()
        } else {
            match append_pages(&self.path, &self.existing, &self.options, &self.append, &sources)? {
                Ok(finished) => return Ok(finished),
                Err(why) => why,
            }
        };
        let mut append = self.begin(spools.iter().map(|(table, _)| *table))?;
        append.explain_route(why);
        for (table, spool) in spools {
            spool.rewind();
            append.fill(*table, spool)?;
        }
        append.finish()
    }

    /// Opens the database, takes the lock and prepares these tables.
    pub(crate) fn begin(&self, tables: impl Iterator<Item = usize>) -> Result<Append> {
        let mut append = Append::open(&self.path, self.existing.clone(), &self.options, &self.append)?;
        append.begin(self.schema.clone(), self.additions.clone(), &tables.collect::<Vec<usize>>())?;
        Ok(append)
    }

    /// Passes each row that SQLite refuses to `refuse`, with the position of its table. Changes nothing.
    pub(crate) fn find_refused(
        &self,
        sources: &[(usize, &dyn Source)],
        refuse: &mut dyn FnMut(usize, Error) -> Result<()>,
    ) -> Result<()> {
        let spools = self.spool(sources)?;
        let append = self.begin(spools.iter().map(|(table, _)| *table))?;
        for (table, spool) in &spools {
            append.find_refused(*table, spool, &mut |error| refuse(*table, error))?;
        }
        Ok(())
    }
}

/// Runs an append and reports on it.
pub(crate) fn append(
    job: &Appending,
    sources: &[(usize, &dyn Source)],
    started: Instant,
    (observer, meter): (&dyn Observer, Meter),
    before_commit: &dyn Fn() -> Result<()>,
) -> Result<BuildReport> {
    let measured = Measured::begin(observer, meter);
    let finished = job.run(sources, before_commit);
    drop(measured);
    observer.enter(Stage::Over);
    Ok(BuildReport::new(finished?, Some(job.path.clone()), started, job.options.clone()))
}

/// The turn of the workers that read one source.
struct Turn {
    /// Number of the part that is taken next, and of the one that is stored next.
    taken: u64,
    stored: u64,
    failed: Option<Error>,
}

/// Reads all rows of a source on every core, and keeps them in their order.
fn fill_spool(spool: Spool, source: &dyn Source, budget: &mut SpoolBudget, options: &Options) -> Result<Spool> {
    let spool = Mutex::new((spool, budget));
    let (turn, next) = (Mutex::new(Turn { taken: 0, stored: 0, failed: None }), Condvar::new());
    let work = || {
        while let Some(number) = take_part(source, &turn, &options.progress).transpose() {
            let stored = number.and_then(|(number, chunks)| {
                let mut turn = lock(&turn);
                while turn.stored != number && turn.failed.is_none() {
                    turn = next.wait(turn).unwrap_or_else(std::sync::PoisonError::into_inner);
                }
                if turn.failed.is_none() {
                    // The first wrong part in the order of the source fails the run.
                    let chunks = chunks?;
                    let (spool, budget) = &mut *lock(&spool);
                    chunks.iter().try_for_each(|chunk| spool.push_chunk(chunk, budget))?;
                    turn.stored += 1;
                }
                Ok(())
            });
            if let Err(error) = stored {
                lock(&turn).failed.get_or_insert(error);
            }
            next.notify_all();
            if lock(&turn).failed.is_some() {
                return;
            }
        }
    };
    std::thread::scope(|scope| (0..options.threads.max(1)).for_each(|_| drop(scope.spawn(work))));
    let Turn { failed, .. } = turn.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (spool, _) = spool.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failed.map_or(Ok(spool), Err)
}

/// The number of a part, and its rows.
type NumberedChunks = (u64, Result<Vec<RecordChunk>>);

/// Reads the next part of a source.
fn take_part(source: &dyn Source, turn: &Mutex<Turn>, progress: &Progress) -> Result<Option<NumberedChunks>> {
    progress.go_on()?;
    let mut taken = lock(turn);
    if taken.failed.is_some() {
        return Ok(None);
    }
    let Some(mut part) = source.next_part()? else { return Ok(None) };
    let number = taken.taken;
    taken.taken += 1;
    drop(taken);
    let mut read = || {
        let mut chunks = Vec::new();
        loop {
            progress.go_on()?;
            let mut chunk = RecordChunk::new();
            part.fill(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(chunks);
            }
            chunks.push(chunk);
        }
    };
    Ok(Some((number, read())))
}

/// Returns the schema of the database that is appended to: `None` if there is no file, so that a new one is made.
///
/// # Errors
/// If the file is no database, or cannot be read.
pub fn existing(path: &Path, append: &AppendOptions) -> Result<Option<Schema>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => litepress_engine::schema_of(path, append).map(Some),
    }
}

/// Adds to the error of a target that exists that rows can be added to it, and that its tables can be replaced.
#[must_use]
pub fn offer_append(error: Error) -> Error {
    if error.kind() != ErrorKind::Exists || !error.message().starts_with("the target exists and holds") {
        return error;
    }
    let tables = OptionName::ReplaceTables.alone();
    let whole = OptionName::Overwrite.alone();
    error.advise(message![
        "add the rows to it with ",
        OptionName::Append.alone(),
        ", replace tables of it and keep the others with ",
        tables,
        ", or replace the whole file with ",
        whole
    ])
}
