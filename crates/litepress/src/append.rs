//! Rows for the tables of a database that exists.
//!
//! ```text
//! sources --every core--> spools: rows, or leaf pages --(lock of writers)--> page numbers, indexes, COMMIT
//! ```
//!
//! All rows are read and encoded before the lock is taken, so that other programs wait for the shortest time.

use crate::observer::{Measured, Meter, Observer, Stage};
use crate::report::BuildReport;
use crate::{Error, ErrorKind, Finished, Options, Result, Schema};
use litepress_engine::{Append, AppendOptions, PageCandidates, Spool, append_pages, beside_spools, spool_rows};
use litepress_rows::schema::SchemaAdditions;
use litepress_rows::{OptionName, Source, message};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Rows for the tables of a database that exists.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct AppendJob {
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

impl AppendJob {
    /// Adds the rows of all sources. `before_commit` runs when all rows were read.
    ///
    /// # Errors
    /// Errors of the sources, of the database and of `before_commit`: the database is then as it was.
    pub fn run(&self, sources: &[(usize, &dyn Source)], before_commit: &dyn Fn() -> Result<()>) -> Result<Finished> {
        let candidates = match self.keeps_schema() {
            true => PageCandidates::for_sources(&self.path, &self.schema, &self.options, &self.append, sources),
            false => PageCandidates::default(),
        };
        let spools = self.spool(sources, &candidates)?;
        before_commit()?;
        self.add(&spools)
    }

    /// Returns whether the database has all tables already.
    ///
    /// Tables are counted, too: if SQLite gets no memory while it reads a schema, an addition may be missing, and SQLite must refuse
    /// the rows of its table.
    fn keeps_schema(&self) -> bool {
        self.additions.is_empty() && self.existing.tables.len() == self.schema.tables.len()
    }

    /// Looks at these tables before their rows are read.
    pub(crate) fn page_candidates(&self, tables: &[usize]) -> PageCandidates {
        if !self.keeps_schema() {
            return PageCandidates::default();
        }
        PageCandidates::of(&self.path, &self.schema, &self.options, &self.append, tables)
    }

    /// Reads the rows of all sources.
    pub(crate) fn spool(
        &self,
        sources: &[(usize, &dyn Source)],
        candidates: &PageCandidates,
    ) -> Result<Vec<(usize, Spool)>> {
        spool_rows(&self.path, &self.schema, &self.options, candidates, sources)
    }

    /// Adds the rows: by pages if that is possible and faster, else by SQLite.
    pub(crate) fn add(&self, spools: &[(usize, Spool)]) -> Result<Finished> {
        let why = if self.keeps_schema() {
            let options = beside_spools(&self.options);
            match append_pages(&self.path, &self.existing, &options, &self.append, spools)? {
                Ok(finished) => return Ok(finished),
                Err(why) => why,
            }
        } else {
            "the schema is changed, too".to_owned()
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
        let mut append = Append::open(&self.path, self.existing.clone(), &beside_spools(&self.options), &self.append)?;
        append.begin(self.schema.clone(), self.additions.clone(), &tables.collect::<Vec<usize>>())?;
        Ok(append)
    }

    /// Passes each row that SQLite refuses to `refuse`, with the position of its table. Changes nothing.
    pub(crate) fn find_refused(
        &self,
        sources: &[(usize, &dyn Source)],
        refuse: &mut dyn FnMut(usize, Error) -> Result<()>,
    ) -> Result<()> {
        let spools = self.spool(sources, &PageCandidates::default())?;
        let append = self.begin(spools.iter().map(|(table, _)| *table))?;
        for (table, spool) in &spools {
            append.find_refused(*table, spool, &mut |error| refuse(*table, error))?;
        }
        Ok(())
    }
}

/// Runs an append and reports on it.
pub(crate) fn append(
    job: &AppendJob,
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
