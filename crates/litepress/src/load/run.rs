//! The passes of a load.
//!
//! ```text
//! build ------------------------------------------------> database        no row breaks a key or a CHECK
//!   `--(a row does, and such rows are rejected)--> find_refused --> build without them --> database
//! ```
//!
//! A build ends at the first row that breaks a key or a CHECK, or whose value is no geometry. So if rows are to be rejected, SQLite
//! finds all of them ([`find_refused`]), and the files are loaded again without them: their rejects then stand in the order of the
//! records.

use super::LoadReport;
use super::job::{LoadJob, listed};
use crate::append::{AppendJob, append, offer_append};
use crate::build::BuildJob;
use crate::geopackage::WrongGeometries;
use crate::own_locks::OwnUse;
use crate::report::BuildReport;
use crate::{Conflict, Error, ErrorKind, OnError, Progress, Result, Target};
use litepress_engine::{RowFigures, Sync, find_refused, may_refuse, telling_policy};
use litepress_load::plan::PlannedTable;
use litepress_load::rejects::Rejects;
use litepress_load::source::LoadSource;
use litepress_rows::sync::{Mutex, lock, on_threads};
use litepress_rows::{Part, RecordChunk, Source};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

/// The rows that SQLite refuses, by table and by record number.
pub(super) type Refused = HashMap<usize, BTreeMap<u64, Error>>;

impl LoadJob<'_> {
    /// Loads the files, in as many passes as it takes.
    pub(super) fn run(&self, target: &Target, started: Instant) -> Result<LoadReport> {
        let writes_ignored = self.options.build.on_conflict == Conflict::Ignore && self.options.rejects.is_some();
        let refused = if writes_ignored { self.find_refused(target)? } else { Refused::new() };
        let first = self.build(target, started, refused);
        match first {
            Err(error) if self.is_refusal(&error) && self.on_error == OnError::Reject && !writes_ignored => {
                let refused = self.find_refused(target)?;
                if refused.is_empty() { Err(error) } else { self.build(target, started, refused) }
            }
            Err(error) if breaks_constraint(&error) && error.place().record.is_none() && self.existing.is_none() => {
                Err(self.locate(error))
            }
            ended => ended,
        }
    }

    /// Builds the database without the refused rows.
    fn build(&self, target: &Target, started: Instant, mut refused: Refused) -> Result<LoadReport> {
        let rejects = Rejects::new(self.options.rejects.as_deref(), self.options.build.overwrite, self.max_rejects())?;
        let (sources, rejects) = self.sources(rejects)?;
        let with_refused = |(table, source): (usize, LoadSource)| {
            let rows = refused.remove(&table).unwrap_or_default();
            (table, source.refusing(rows))
        };
        let sources: Vec<(usize, LoadSource)> = sources.into_iter().map(with_refused).collect();
        let (schema, observer) = (&self.plan.schema, &*self.options.observer);
        let before_publishing = || {
            if let Target::File(path) = target {
                // If its other tables are kept, the target would be in use by this program.
                self.plan.close_database(path);
            }
            rejects.finish()
        };
        let built = match self.appending(target) {
            None if self.geopackage.is_some() => self.build_package(&sources, target, started, &before_publishing),
            Some(job) => {
                let own_use = RefCell::new(None);
                let before_commit = || {
                    before_publishing()?;
                    own_use.replace(Some(OwnUse::begin(&job.path)?));
                    Ok(())
                };
                append(&job, &listed(&sources), started, (observer, self.meter()), &before_commit)
            }
            None => BuildJob { schema, sources: &listed(&sources), target, started, observer }.run(
                self.build_options(),
                self.meter(),
                &before_publishing,
            ),
        };
        let built = built.map_err(|error| self.explain(&sources, offer_append(error)))?;
        rejects.publish()?;
        Ok(self.report(built, &sources, &rejects))
    }

    /// Builds a GeoPackage. Its report counts the rows of layers alone.
    fn build_package(
        &self,
        rows: &[(usize, LoadSource)],
        target: &Target,
        started: Instant,
        before_publishing: &dyn Fn() -> Result<()>,
    ) -> Result<BuildReport> {
        let package = self.geopackage.as_ref().expect("the caller asked");
        let (sources, observer) = (package.sources(rows, &self.temp_dir)?, &*self.options.observer);
        let job = BuildJob { schema: &package.schema, sources: &sources.listed(), target, started, observer };
        let mut built = job.run(self.build_options(), self.meter(), before_publishing)?;
        built.summary.tables.retain(|table| package.is_layer(&table.name));
        built.summary.rows = built.summary.tables.iter().map(|table| table.rows).sum();
        Ok(built)
    }

    /// Finds the rows that SQLite refuses because of a key or a CHECK.
    fn find_refused(&self, target: &Target) -> Result<Refused> {
        if let Some(job) = self.appending(target) {
            return self.find_refused_by(&job);
        }
        let mut refused = Refused::new();
        for planned in &self.plan.tables {
            let rows = self.find_refused_of(planned)?;
            if !rows.is_empty() {
                refused.insert(planned.table, rows);
            }
        }
        Ok(refused)
    }

    /// Finds the rows of a new table whose values are no geometries, and then those of the others that SQLite refuses.
    fn find_refused_of(&self, planned: &PlannedTable) -> Result<BTreeMap<u64, Error>> {
        let conflict = telling_policy(self.options.build.on_conflict);
        let open = || {
            let rejects = Arc::new(Rejects::shown(0));
            self.plan.source_under(conflict, planned, self.page_size, OnError::Reject, &rejects)
        };
        let (mut rows, most) = (BTreeMap::new(), self.max_rejects());
        if self.geopackage.is_some() {
            // One more than allowed makes the run fail.
            rows = self.find_wrong(planned, &open()?, most.saturating_add(1))?.first;
        }
        if may_refuse(&self.plan.schema.tables[planned.table]) {
            let wrong = rows.keys().map(|record| (*record, Error::new(ErrorKind::Data, "no geometry"))).collect();
            self.ask_sqlite(planned.table, &open()?.refusing(wrong), &mut |error| {
                if let Some(record) = error.place().record.filter(|_| rows.len() as u64 <= most) {
                    rows.insert(record, error);
                }
                Ok(())
            })?;
        }
        Ok(rows)
    }

    /// Finds the rows of a layer whose values are no geometries.
    pub(super) fn find_wrong(&self, planned: &PlannedTable, source: &LoadSource, most: u64) -> Result<WrongGeometries> {
        let (package, build) = (self.geopackage.as_ref(), &self.options.build);
        let package = package.expect("the caller asked");
        package.find_wrong(planned.table, source, most, build.threads, &build.progress)
    }

    /// Finds the rows that SQLite refuses as they are added to a database that exists.
    fn find_refused_by(&self, job: &AppendJob) -> Result<Refused> {
        let conflict = telling_policy(self.options.build.on_conflict);
        let rejects = Arc::new(Rejects::shown(0));
        let source = |planned: &PlannedTable| {
            let source = self.plan.source_under(conflict, planned, self.page_size, OnError::Reject, &rejects)?;
            Ok((planned.table, source))
        };
        let sources = self.plan.tables.iter().map(source).collect::<Result<Vec<_>>>()?;
        let (mut refused, most) = (Refused::new(), self.max_rejects());
        job.find_refused(&listed(&sources), &mut |table, error| {
            let rows = refused.entry(table).or_default();
            // One more than allowed makes the run fail.
            if let Some(record) = error.place().record.filter(|_| rows.len() as u64 <= most) {
                rows.insert(record, error);
            }
            Ok(())
        })?;
        Ok(refused)
    }

    /// Passes the rows that SQLite refuses to `refuse`.
    pub(super) fn ask_sqlite(
        &self,
        table: usize,
        source: &LoadSource,
        refuse: &mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<()> {
        let mut options = self.options.build.clone();
        options.temp_dir.get_or_insert_with(|| self.temp_dir.clone());
        options.sync = Sync::Off;
        find_refused(&self.plan.schema, table, source, &options, refuse)
    }

    /// Returns whether the build failed because of a row that can be left out once it is known.
    fn is_refusal(&self, error: &Error) -> bool {
        let is_wrong_geometry =
            self.geopackage.is_some() && error.kind() == ErrorKind::Data && error.place().record.is_some();
        breaks_constraint(error) || is_wrong_geometry
    }

    /// Finds the place of the first row that breaks a CHECK. Returns the error as it is if that fails.
    fn locate(&self, error: Error) -> Error {
        let table = error.place().table.as_deref().and_then(|table| self.plan.schema.position(table));
        let Some(planned) = self.plan.tables.iter().find(|planned| Some(planned.table) == table) else { return error };
        let conflict = telling_policy(self.options.build.on_conflict);
        let rejects = Arc::new(Rejects::shown(0));
        let Ok(source) = self.plan.source_under(conflict, planned, self.page_size, self.on_error, &rejects) else {
            return error;
        };
        // The first one is enough.
        let found = self.ask_sqlite(planned.table, &source, &mut Err);
        match found {
            Err(located) if located.kind() == ErrorKind::Constraint => {
                self.explain(&[(planned.table, source)], located)
            }
            _ => error,
        }
    }
}

/// Returns whether the build failed because of a row that breaks a key or a CHECK. Broken foreign keys have no table.
pub(super) fn breaks_constraint(error: &Error) -> bool {
    error.kind() == ErrorKind::Constraint && error.place().table.is_some()
}

/// Figures of dropped rows.
#[derive(Clone, Copy, Debug, Default)]
struct DroppedRows {
    rows: u64,
    automatic: u64,
    /// The smallest and the largest rowid of the others.
    range: Option<(i64, i64)>,
}

impl DroppedRows {
    fn note(&mut self, chunk: &RecordChunk) {
        let automatic = chunk.automatic_rows();
        self.rows += chunk.len() as u64;
        self.automatic += automatic as u64;
        let is_given = |row: &usize| automatic == 0 || !chunk.is_automatic(*row);
        for rowid in (0..chunk.len()).filter(is_given).map(|row| chunk.rowids()[row]) {
            let (smallest, largest) = self.range.unwrap_or((rowid, rowid));
            self.range = Some((smallest.min(rowid), largest.max(rowid)));
        }
    }

    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.automatic += other.automatic;
        let ranges = self.range.into_iter().chain(other.range);
        self.range = ranges.reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)));
    }

    /// Returns the figures that decide about the route of rows for a table.
    fn figures(self, source: &LoadSource) -> RowFigures {
        let has_alias = source.table().rowid_alias.is_some();
        RowFigures {
            rows: self.rows,
            are_automatic: has_alias && self.automatic == self.rows,
            range: self.range.filter(|_| has_alias && self.automatic == 0),
            missing: source.missing_columns(),
        }
    }
}

/// Encodes all rows and drops them. Returns their figures.
///
/// # Errors
/// The first error of the source; a request to stop.
pub(super) fn drain(source: &LoadSource, threads: usize, progress: &Progress) -> Result<RowFigures> {
    let all = Mutex::new(DroppedRows::default());
    read_all(source, threads, progress, &|chunk| {
        let mut dropped = DroppedRows::default();
        dropped.note(chunk);
        lock(&all).add(dropped);
        Ok(())
    })?;
    Ok(lock(&all).figures(source))
}

/// Encodes all rows, and passes each chunk to `look`, on any thread and in any order.
///
/// # Errors
/// The first error of the source or of `look`; a request to stop.
pub(crate) fn read_all(
    source: &LoadSource,
    threads: usize,
    progress: &Progress,
    look: &(dyn Fn(&RecordChunk) -> Result<()> + std::marker::Sync),
) -> Result<()> {
    let failed = Mutex::new(None);
    let work = || {
        let mut chunk = RecordChunk::new();
        while lock(&failed).is_none() {
            let step = progress
                .go_on()
                .and_then(|()| source.next_part())
                .and_then(|part| part.map(|part| read_part(part, &mut chunk, look)).transpose());
            match step {
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                }
            }
        }
    };
    on_threads(threads, work);
    failed.into_inner().unwrap_or_default().map_or(Ok(()), Err)
}

fn read_part(
    mut part: Box<dyn Part + '_>,
    chunk: &mut RecordChunk,
    look: &(dyn Fn(&RecordChunk) -> Result<()> + std::marker::Sync),
) -> Result<()> {
    loop {
        chunk.clear();
        part.fill(chunk)?;
        if chunk.is_empty() {
            return Ok(());
        }
        look(chunk)?;
    }
}
