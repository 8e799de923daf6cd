//! Adds rows to a database that exists, while other programs may have it open.
//!
//! ```text
//! open ----> begin: BEGIN IMMEDIATE, new columns and tables, truncate --> fill each table --> finish: indexes, triggers, COMMIT
//! schema     the lock of writers is held from here .............................................................. to here
//! ```
//!
//! Everything is one transaction of SQLite's: at any moment all or nothing of it is there, and readers keep what they see.

mod append_plan;
mod choice;
mod claims;
mod options;
mod page_candidates;
mod page_route;
mod rebuild;
mod report;
mod sources;
mod spooled_rows;
mod update;

pub use append_plan::PlannedAppend;
pub use choice::RowFigures;
pub use options::AppendOptions;
pub use page_candidates::PageCandidates;
pub use page_route::append_pages;
pub use report::{AppendReport, AppendedTable, Route, RoutePlan};
pub use spooled_rows::{beside_spools, spool_rows};

use crate::database::{Finished, refuse_part};
use crate::full_text::{self, rebuild_statement};
use crate::options::{Options, Sync, Verify};
use crate::progress::Counted;
use crate::refusals::telling_policy;
use crate::sqlite::{Inserted, LiveSession, SessionOptions};
use crate::summary::{Summary, TableSummary, peak_memory_bytes};
use crate::{Conflict, Error, ErrorKind, Result, plan, resources};
use litepress_rows::schema::{SchemaAdditions, SchemaObject};
use litepress_rows::sqlite::file_bytes;
use litepress_rows::{Column, OptionName, Schema, Source, Table, message, quoted_name};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rows on their way into a database that exists.
///
/// ORDER: [`begin`](Self::begin), then [`fill`](Self::fill) for each table, then [`finish`](Self::finish).
///
/// Memory: a quarter of [`Options::memory_bytes`] for SQLite's cache. Dropped unfinished, it leaves the database as it was.
pub struct Append {
    session: LiveSession,
    path: PathBuf,
    schema: Schema,
    options: Options,
    append: AppendOptions,
    additions: SchemaAdditions,
    tables: Vec<AppendedTable>,
    build_times: HashMap<String, Duration>,
    started: Instant,
    /// The moment at which the lock was taken.
    locked: Option<Instant>,
    /// Whether a table could not be filled.
    failed: bool,
    /// The reason for the route.
    why: Option<String>,
}

/// Reads the schema of the database in a file.
///
/// # Errors
/// If the file is no database, or cannot be read.
pub fn schema_of(path: &Path, append: &AppendOptions) -> Result<Schema> {
    file_bytes(path)?;
    LiveSession::schema(path, append.busy_timeout)
}

/// Fails if rows of these tables would be replaced, and a full-text index would keep their texts.
///
/// # Errors
/// An error that names the table and the index.
pub fn refuse_stale_indexes(schema: &Schema, options: &Options, tables: impl Iterator<Item = usize>) -> Result<()> {
    let replaces = options.on_conflict == Conflict::Replace;
    for table in tables.filter(|_| replaces).map(|table| &schema.tables[table]) {
        if let Some(index) = schema.stale_index(table) {
            let given = OptionName::OnConflict.word("replace").given();
            let why = format!(
                ": SQLite runs no DELETE triggers for rows that it replaces, and their texts would stay in {index}"
            );
            let error = Error::new(ErrorKind::Usage, message![given, why]).in_table(&table.name);
            return Err(error.advise(message!["update the rows: ", OptionName::OnConflict.word("update")]));
        }
    }
    Ok(())
}

/// The error of a table that is not any more what its rows were made for.
fn changed(table: &str) -> Error {
    let error = Error::new(ErrorKind::Target, "another program has changed the definition of the table meanwhile");
    error.in_table(table).advise("run it again")
}

impl Append {
    /// Opens a database. `schema` is that of the database, from [`schema_of`].
    ///
    /// # Errors
    /// If the file is no database, cannot be written, or the options have no effect on a database that exists.
    pub fn open(path: &Path, schema: Schema, options: &Options, append: &AppendOptions) -> Result<Self> {
        refuse_options(options)?;
        file_bytes(path)?;
        let options = resources::bounded(options)?;
        let temp_dir = resources::temp_dir(&crate::Target::File(path.to_owned()), &options);
        let progress = options.progress.clone();
        let of_session = SessionOptions { temp_dir, progress };
        let session = LiveSession::open(path, append.busy_timeout, options.memory_bytes / 4, of_session)?;
        // EXTRA: with FULL, a power cut may bring the deleted journal back, which undoes a COMMIT that has returned.
        let synchronous = if options.sync == Sync::Off { "OFF" } else { "EXTRA" };
        session.run(&format!("PRAGMA synchronous = {synchronous}")).map_err(|error| error.in_file(path))?;
        Ok(Self {
            session,
            path: path.to_owned(),
            schema,
            options,
            append: append.clone(),
            additions: SchemaAdditions::default(),
            tables: Vec::new(),
            build_times: HashMap::new(),
            started: Instant::now(),
            locked: None,
            failed: false,
            why: None,
        })
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Takes the lock of writers and prepares the tables at these positions of the schema. `additions` are objects that
    /// the database lacks, and `schema` is the one that it has with them.
    ///
    /// # Errors
    /// If another program keeps the lock or has changed one of these tables; if SQLite refuses a definition.
    pub fn begin(&mut self, schema: Schema, additions: SchemaAdditions, tables: &[usize]) -> Result<()> {
        let known = std::mem::replace(&mut self.schema, schema).settings.schema_cookie;
        self.additions = additions;
        self.options.progress.enter("waiting for the lock");
        self.session.begin(self.append.enforce_foreign_keys).map_err(|error| error.in_file(&self.path))?;
        self.locked = Some(Instant::now());
        if self.session.schema_cookie()? != known {
            let now = schema_of(&self.path, &self.append)?;
            let followed = self.schema.follow(now, &self.additions, tables.iter().copied());
            followed.map_err(|table| changed(&table).in_file(&self.path))?;
        }
        refuse_stale_indexes(&self.schema, &self.options, tables.iter().copied())?;
        for (table, column) in &self.additions.columns {
            self.session.define(&definition_of(table, column), &format!("column {} of {table}", column.name))?;
        }
        self.define(|append, object| append.is_made_first(object))?;
        for &table in tables.iter().filter(|_| self.append.truncate) {
            self.session.truncate(&self.schema.tables[table])?;
        }
        Ok(())
    }

    /// Creates the wanted additions.
    fn define(&self, is_wanted: impl Fn(&Self, &SchemaObject) -> bool) -> Result<()> {
        for object in self.additions.objects.iter().filter(|object| is_wanted(self, object)) {
            if let Some(sql) = &object.sql {
                let what = format!("{} {}", object.kind, object.name);
                self.session.define(sql, &what)?;
                let settings = full_text::settings(&self.schema, object);
                settings.iter().try_for_each(|set| self.session.define(set, &what))?;
            }
        }
        Ok(())
    }

    /// Returns whether an object must exist before the rows: other indexes are made faster afterwards, and triggers of new
    /// tables do not concern rows that come with them.
    fn is_made_first(&self, object: &SchemaObject) -> bool {
        let is_unique = |table: &Table| table.indexes.iter().any(|index| index.unique && index.name == object.name);
        match object.kind.as_str() {
            "table" => true,
            "index" => self.schema.table(&object.table).is_some_and(is_unique),
            _ => false,
        }
    }

    /// Has SQLite index the texts of other tables for new full-text tables that got no rows of their own.
    fn index_new_texts(&self, filled: &[String]) -> Result<()> {
        let is_new = |table: &&Table| self.additions.objects.iter().any(|object| object.name == table.name);
        for table in self.schema.tables.iter().filter(is_new).filter(|table| !filled.contains(&table.name)) {
            if let Some(statement) = rebuild_statement(table) {
                self.options.progress.enter(format!("full-text index of {}, by SQLite", table.name));
                self.session.define(&statement, &format!("table {}", table.name))?;
            }
        }
        Ok(())
    }

    /// Says why SQLite inserts the rows.
    pub fn explain_route(&mut self, why: String) {
        self.why = Some(why);
    }

    /// Returns the route of the table at this position of the schema.
    pub fn route(&self, table: usize) -> RoutePlan {
        let name = self.schema.tables[table].name.clone();
        let is_new = self.additions.makes_table(&name);
        RoutePlan { table: name, is_new, route: Route::Sql, why: self.why.clone().unwrap_or_default() }
    }

    /// Adds rows to the table at this position of the schema.
    ///
    /// # Errors
    /// If the source fails, or SQLite refuses a row. Nothing is added to any table then.
    pub fn fill(&mut self, table: usize, source: &dyn Source) -> Result<()> {
        let (started, name) = (Instant::now(), self.schema.tables[table].name.clone());
        self.options.progress.enter_rows(&name);
        let (inserted, new) = self
            .insert(table, source, None)
            .inspect_err(|_| self.failed = true)
            .map_err(|error| if error.place().table.is_some() { error } else { error.in_table(&name) })
            .map_err(|error| self.in_database(error))?;
        let ignored = inserted.given.saturating_sub(inserted.changed);
        let updated = match self.options.on_conflict {
            Conflict::Abort | Conflict::Ignore => Some(0),
            Conflict::Update => new.map(|new| inserted.changed.saturating_sub(new)),
            Conflict::Replace => None,
        };
        let added = inserted.changed - updated.unwrap_or(0);
        self.tables.push(AppendedTable { plan: self.route(table), added, updated, ignored });
        *self.build_times.entry(name).or_default() += started.elapsed();
        Ok(())
    }

    /// Names the database in errors of its file that name no file.
    fn in_database(&self, error: Error) -> Error {
        let is_of_file =
            matches!(error.kind(), ErrorKind::Io | ErrorKind::NoSpace | ErrorKind::Corrupt | ErrorKind::Target);
        if is_of_file && error.place().file.is_none() { error.in_file(&self.path) } else { error }
    }

    /// Passes each row that SQLite refuses to `refuse`, and adds the others. To be dropped afterwards.
    ///
    /// # Errors
    /// Errors of the source and of `refuse`.
    pub fn find_refused(
        &self,
        table: usize,
        source: &dyn Source,
        refuse: &mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<()> {
        self.insert(table, source, Some(refuse)).map(drop)
    }

    fn insert(
        &self,
        table: usize,
        source: &dyn Source,
        refuse: Option<&mut dyn FnMut(Error) -> Result<()>>,
    ) -> Result<(Inserted, Option<u64>)> {
        assert!(self.locked.is_some(), "the transaction has begun");
        let source = &Counted { source, progress: &self.options.progress };
        let conflict = self.options.on_conflict;
        let conflict = if refuse.is_some() { telling_policy(conflict) } else { conflict };
        let table = &self.schema.tables[table];
        // A statement of several rows copies each page that it changes, so that it can be undone: an index has many.
        let has_indexes = plan::own_indexes(table).next().is_some();
        let one_by_one = has_indexes || table.has_conflict_clause || self.schema.has_trigger(&table.name);
        self.session.insert(table, source, conflict, &self.options, one_by_one, refuse)
    }

    /// Makes the remaining objects, checks the tables if asked to, and commits.
    ///
    /// # Errors
    /// If a table could not be filled, a check finds a fault, a foreign key is broken, or the COMMIT fails. The database is then
    /// as it was.
    pub fn finish(mut self) -> Result<Finished> {
        if self.failed {
            return Err(Error::new(ErrorKind::Usage, "a table could not be filled: nothing was added"));
        }
        let finished = self.complete().map_err(|error| self.in_database(error))?;
        self.session.close()?;
        Ok(finished)
    }

    /// Makes the remaining objects, checks the tables and commits. Nothing can fail behind COMMIT.
    fn complete(&mut self) -> Result<Finished> {
        let built = self.started.elapsed();
        self.define(|append, object| !append.is_made_first(object))?;
        let names: Vec<String> = self.tables.iter().map(|table| table.plan.table.clone()).collect();
        self.index_new_texts(&names)?;
        if self.options.analyze {
            self.options.progress.enter("statistics, by SQLite");
            names.iter().try_for_each(|name| self.session.run(&format!("ANALYZE main.{}", quoted_name(name))))?;
        }
        let checked = Instant::now();
        if self.options.verify != Verify::None {
            self.options.progress.enter("checking the tables");
            let is_full = self.options.verify == Verify::Full;
            names.iter().try_for_each(|name| self.session.check(name, is_full))?;
        }
        let verify = checked.elapsed();
        let (mut summary, journal_mode) = (self.summary()?, self.session.journal_mode()?);
        self.options.progress.enter("COMMIT");
        self.options.progress.go_on()?;
        let began = Instant::now();
        self.session.commit().map_err(|error| error.in_file(&self.path))?;
        let commit = began.elapsed();
        let locked = self.locked.map_or(Duration::ZERO, |locked| locked.elapsed());
        summary.stages.build = built;
        summary.stages.verify = verify;
        summary.stages.sqlite = self.started.elapsed().saturating_sub(built + verify + commit);
        summary.stages.publish = commit;
        let appended = AppendReport { tables: std::mem::take(&mut self.tables), locked, commit, journal_mode };
        Ok(Finished { summary, bytes: None, dropped: Vec::new(), verified: None, appended: Some(appended) })
    }

    fn summary(&self) -> Result<Summary> {
        let tables: Vec<TableSummary> = self
            .tables
            .iter()
            .map(|table| TableSummary {
                name: table.plan.table.clone(),
                rows: table.added + table.updated.unwrap_or(0),
                left_out: table.ignored,
                build: self.build_times.get(&table.plan.table).copied().unwrap_or_default(),
                ..TableSummary::default()
            })
            .collect();
        let (pages, page_size_bytes) = self.session.size()?;
        Ok(Summary {
            rows: tables.iter().map(|table| table.rows).sum(),
            tables,
            pages,
            page_size_bytes,
            bytes: pages * u64::from(page_size_bytes),
            peak_memory_bytes: peak_memory_bytes(),
            ..Summary::default()
        })
    }
}

/// Refuses options that have no effect on a database that exists.
pub(crate) fn refuse_options(options: &Options) -> Result<()> {
    refuse_part(options, "rows are added to a database that exists")?;
    let given = [(OptionName::PageSize, options.page_size.is_some()), (OptionName::Overwrite, options.overwrite)];
    let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let (option, append) = (option.alone().given(), OptionName::Append.alone().given());
    let message = message![option, " has no effect beside ", append, ", which keeps the database"];
    Err(Error::new(ErrorKind::Usage, message).advise("leave one of them out"))
}

/// Returns the statement that adds a column to a table.
pub(crate) fn definition_of(table: &str, column: &Column) -> String {
    format!("ALTER TABLE {} ADD COLUMN {} {}", quoted_name(table), quoted_name(&column.name), column.declared_type)
}
