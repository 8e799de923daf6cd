//! The transaction of a connection: what was done to which file, and what a commit makes of it.
//!
//! ```text
//! the file      | rows go                                                 | a commit
//! --------------+---------------------------------------------------------+----------------------------------------------
//! does not exist| to a draft beside it; SQL works on the draft, too       | gives the draft its name
//! exists        | to a table that exists, as the first change: printed    | adds them as pages (litepress append)
//!               | beside the file; anything that follows adds them by SQL |
//!               | otherwise: printed beside the file, copied by SQLite    | COMMIT of SQLite
//! ```
//!
//! With autocommit, each step is its own transaction. A rollback, or the end of the connection, drops drafts and printed rows.

use crate::activity::Activity;
use crate::cancel::Cancel;
use crate::connection_state::ConnectionState;
use crate::definitions::Definitions;
use crate::error::{Result, failed, of_press, of_sqlite};
use crate::ingest::{self, IngestTarget, Mode, StagedRows, Step, atomically};
use crate::location::{Access, Location};
use crate::press::{self, Rows};
use crate::sqlite::{self, Sqlite};
use adbc_core::error::Status;
use litepress::AppendOptions;
use litepress::engine::Draft;
use litepress::named_options::NamedOptions;
use litepress::own_locks::OwnUse;
use litepress_rows::files::FileId;
use rusqlite::{OpenFlags, TransactionState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Rows that wait for the commit, for a table that exists.
struct Waiting {
    printed: StagedRows,
    target: IngestTarget,
    options: NamedOptions,
}

/// The way of the rows of an ingest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngestRoute {
    /// litepress printed a new database.
    Print,
    /// They are printed, and the commit decides.
    Wait,
    /// litepress added pages to tables.
    Pages,
    /// SQLite copied the trees of a printed table.
    Copy,
    /// SQLite inserted printed rows.
    Insert,
}

impl IngestRoute {
    /// Returns the name that users see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Print => "print",
            Self::Wait => "wait",
            Self::Pages => "pages",
            Self::Copy => "copy",
            Self::Insert => "insert",
        }
    }
}

/// The state of a connection.
pub struct Session {
    location: Location,
    busy_timeout: Duration,
    /// The option of the connection.
    enforces_foreign_keys: bool,
    /// Foreign keys are enforced until the transaction ends, because a statement has the option.
    enforces_until_end: bool,
    autocommit: bool,
    /// The connection to the file or the draft. Declared before the draft: it is closed first.
    sqlite: Option<Arc<Sqlite>>,
    /// The file that the connection was opened to.
    opened: Option<FileId>,
    /// SQLite's BEGIN was run.
    began: bool,
    /// SQL has taken back the transaction of the draft.
    rolled_back: Arc<AtomicBool>,
    draft: Option<Draft>,
    /// State of a connection to a draft that is gone, for the next connection.
    kept: Option<ConnectionState>,
    waiting: Option<Waiting>,
    /// Printed tables that SQLite has attached, until the transaction ends.
    attached: Vec<String>,
    /// Number of attached tables so far.
    attachments: u64,
    activity: Arc<Activity>,
    cancel: Arc<Cancel>,
    /// The process that has opened it. A forked one has a copy of it, and no right to its files.
    process: u32,
    /// The way of the last ingest.
    pub way: Option<IngestRoute>,
}

/// SQLite attaches ten databases at most. Rows of further tables are inserted one by one, as are those for a database of another encoding.
const MOST_ATTACHED: usize = 8;

impl Session {
    /// Begins without a transaction. The file is not opened before it is needed.
    pub fn new(location: Location, options: &AppendOptions, cancel: Arc<Cancel>) -> Result<Self> {
        let activity = Activity::new(match &location {
            Location::File { path, .. } => Some(path),
            Location::Memory(_) => None,
        });
        let mut session = Self {
            location,
            busy_timeout: options.busy_timeout,
            enforces_foreign_keys: options.enforce_foreign_keys,
            enforces_until_end: false,
            autocommit: true,
            sqlite: None,
            opened: None,
            began: false,
            rolled_back: Arc::default(),
            draft: None,
            kept: None,
            waiting: None,
            attached: Vec::new(),
            attachments: 0,
            activity,
            cancel,
            process: std::process::id(),
            way: None,
        };
        if let Location::File { path, access } = &session.location {
            if *access != Access::Create && !path.exists() {
                return Err(failed(Status::NotFound, format!("there is no file '{}'", path.display())));
            }
            if path.exists() {
                // A file that is no database is found out now.
                session.sqlite()?.run("SELECT 1 FROM sqlite_schema LIMIT 1")?;
            }
        } else {
            session.sqlite()?;
        }
        Ok(session)
    }

    /// Returns whether every step is its own transaction.
    pub fn is_autocommit(&self) -> bool {
        self.autocommit
    }

    /// Turns autocommit on or off. A transaction that is open is committed.
    pub fn set_autocommit(&mut self, autocommit: bool) -> Result<()> {
        if autocommit && !self.autocommit {
            self.commit()?;
        }
        self.autocommit = autocommit;
        Ok(())
    }

    /// Turns the enforcement of foreign keys on or off.
    pub fn enforce_foreign_keys(&mut self, enforce: bool) -> Result<()> {
        self.refuse_forked()?;
        (self.enforces_foreign_keys, self.enforces_until_end) = (enforce, false);
        self.sqlite.as_ref().map_or(Ok(()), |sqlite| sqlite.enforce_foreign_keys(enforce))
    }

    /// Enforces foreign keys until the transaction ends, if the options of an ingest want it.
    fn enforce_until_end(&mut self, sqlite: &Sqlite, options: &NamedOptions) -> Result<()> {
        if options.append.enforce_foreign_keys && !sqlite.enforces_foreign_keys()? {
            sqlite.enforce_foreign_keys(true)?;
            self.enforces_until_end = true;
        }
        Ok(())
    }

    fn end_enforcement(&mut self) {
        if std::mem::take(&mut self.enforces_until_end)
            && let Some(sqlite) = &self.sqlite
        {
            // It fails on closed connections alone.
            let _ = sqlite.enforce_foreign_keys(false);
        }
    }

    /// Returns the file that does not exist yet.
    fn absent_file(&self) -> Option<&Path> {
        match &self.location {
            Location::File { path, .. } if self.draft.is_none() && self.sqlite.is_none() && !path.exists() => {
                Some(path)
            }
            _ => None,
        }
    }

    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    fn refuse_forked(&self) -> Result<()> {
        if self.is_forked() { Err(crate::error::of_fork()) } else { Ok(()) }
    }

    /// Returns the connection of SQLite: to the file, or to a draft if it does not exist.
    fn sqlite(&mut self) -> Result<Arc<Sqlite>> {
        self.refuse_forked()?;
        if !self.began {
            self.leave_replaced_file()?;
            self.leave_deleted_wal()?;
        }
        if let Some(sqlite) = &self.sqlite {
            return Ok(sqlite.clone());
        }
        if let Some(path) = self.absent_file().filter(|_| !self.autocommit) {
            let draft = Draft::begin(path, litepress::Sync::Full).map_err(|error| of_press(&error))?;
            self.draft = Some(draft);
        }
        let sqlite = match (&self.draft, &self.location) {
            (Some(draft), _) => self.open_draft(draft.path())?,
            (None, Location::Memory(uri)) => Sqlite::open_memory(uri)?,
            (None, Location::File { path, access }) => {
                let _own_use = self.own_use(path)?;
                let flags = match access {
                    Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
                    Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
                    Access::Create => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
                };
                let sqlite = Sqlite::open_file(path, flags, self.busy_timeout)?;
                self.opened = FileId::at(path).ok();
                sqlite
            }
        };
        self.cancel.watch(sqlite.interrupt_handle());
        self.activity.watch(&sqlite);
        sqlite.enforce_foreign_keys(self.enforces_foreign_keys)?;
        if let Some(kept) = self.kept.take() {
            kept.restore(&mut sqlite.lock()).map_err(|error| of_sqlite(&error))?;
        }
        self.sqlite = Some(sqlite.clone());
        Ok(sqlite)
    }

    /// Closes a connection whose file was replaced by another one. The next connection gets its state.
    fn leave_replaced_file(&mut self) -> Result<()> {
        let (None, Location::File { path, .. }) = (&self.draft, &self.location) else { return Ok(()) };
        let is_replaced = FileId::at(path).is_ok_and(|file| self.opened.as_ref().is_some_and(|opened| *opened != file));
        if !is_replaced {
            return Ok(());
        }
        self.close_idle()
    }

    /// Closes a connection that has no transaction. Its WAL, which belongs to another file or to none, stays as it is.
    fn close_idle(&mut self) -> Result<()> {
        if let Some(sqlite) = self.sqlite.take_if(|sqlite| sqlite.is_autocommit() && sqlite.open_results() == 0) {
            sqlite.leave_wal();
            self.kept = Some(ConnectionState::of(&sqlite.lock(), &self.attached).map_err(|error| of_sqlite(&error))?);
        }
        Ok(())
    }

    /// Closes a connection whose WAL was [deleted](Activity::has_deleted_wal). The next one gets its state.
    fn leave_deleted_wal(&mut self) -> Result<()> {
        let Location::File { path, .. } = &self.location else { return Ok(()) };
        if self.draft.is_some() || !self.activity.has_deleted_wal() {
            return Ok(());
        }
        let _own_use = self.own_use(path)?;
        // All that the WAL had was copied to the database before it was deleted.
        self.close_idle()?;
        self.activity.close_left();
        self.refuse_deleted_wal("close results and other connections of the driver to this database")
    }

    fn refuse_deleted_wal(&self, advice: &str) -> Result<()> {
        if self.draft.is_some() || !self.activity.has_deleted_wal() {
            return Ok(());
        }
        let what =
            "another copy of SQLite in this program has closed the database and deleted the WAL of this connection";
        Err(failed(Status::IO, format!("{what}: {advice}")))
    }

    fn open_draft(&self, path: &Path) -> Result<Arc<Sqlite>> {
        // ATTACH makes files under the same flags.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let sqlite = Sqlite::open_file(path, flags, self.busy_timeout)?;
        // No other program knows the file, and the commit syncs it.
        sqlite.run("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")?;
        // SQLite calls the hook of commits only if there is something to write, and that of rollbacks always.
        sqlite.note_rollbacks(self.rolled_back.clone())?;
        Ok(sqlite)
    }

    /// Returns the connection for a statement that is run, within the transaction if there is one. The statement sees rows that wait.
    pub fn for_statement(&mut self, sql: &str) -> Result<Arc<Sqlite>> {
        self.refuse_forked()?;
        self.cancel.begin();
        if is_rollback(sql) {
            self.waiting = None;
        }
        self.insert_waiting_early()?;
        self.for_preparing()
    }

    /// Returns the connection for a statement that is compiled, within the transaction if there is one.
    pub fn for_preparing(&mut self) -> Result<Arc<Sqlite>> {
        let sqlite = self.sqlite()?;
        if !self.autocommit && !self.began {
            sqlite.run("BEGIN")?;
            self.began = true;
            self.rolled_back.store(false, Ordering::SeqCst);
            self.activity.note(true);
        }
        Ok(sqlite)
    }

    /// Returns the connection for a look at the schema. No transaction begins. `None` if there is no file.
    pub fn for_metadata(&mut self) -> Result<Option<Arc<Sqlite>>> {
        if self.waiting.is_none() && self.absent_file().is_some() {
            return Ok(None);
        }
        // Waiting rows are for a table that exists: they do not show in the schema.
        self.sqlite().map(Some)
    }

    /// Takes note of a transaction that SQL itself has ended.
    pub fn settle(&mut self) -> Result<()> {
        let Some(sqlite) = &self.sqlite else { return Ok(()) };
        if !self.began || !sqlite.is_autocommit() {
            return Ok(());
        }
        let published = if self.rolled_back.load(Ordering::SeqCst) { Ok(()) } else { self.publish() };
        self.end();
        published
    }

    /// Notes that SQLite has no transaction.
    fn note_end(&mut self) {
        self.began = false;
        self.activity.note(false);
    }

    /// Ends a transaction. Drops everything that is not published.
    fn end(&mut self) {
        self.note_end();
        self.waiting = None;
        self.end_enforcement();
        if self.draft.is_some() {
            // The transaction has failed already, or is taken back: a state that cannot be read is no further error.
            self.kept = self.close_draft().ok().flatten().or(self.kept.take());
            self.draft = None;
        }
        for name in std::mem::take(&mut self.attached) {
            if let Some(sqlite) = &self.sqlite {
                // A result that still reads it keeps it attached.
                let _ = sqlite.run(&format!("DETACH {name}"));
            }
        }
    }

    /// Gives the draft its name.
    fn publish(&mut self) -> Result<()> {
        let Some(draft) = self.draft.take() else { return Ok(()) };
        let state = self.close_draft();
        draft.publish().map_err(|error| of_press(&error))?;
        self.kept = state?.or(self.kept.take());
        Ok(())
    }

    /// Closes the connection to a draft: SQLite writes to no file whose name has changed. Returns the state for the next connection.
    fn close_draft(&mut self) -> Result<Option<ConnectionState>> {
        let Some(sqlite) = self.sqlite.take() else { return Ok(None) };
        ConnectionState::of(&sqlite.lock(), &self.attached).map(Some).map_err(|error| of_sqlite(&error))
    }

    /// Commits the transaction.
    pub fn commit(&mut self) -> Result<()> {
        self.refuse_autocommit("commit")?;
        self.cancel.begin();
        if self.waiting.is_some() && self.can_add_pages() {
            return self.add_waiting();
        }
        self.insert_waiting()?;
        if self.began
            && let Some(sqlite) = &self.sqlite
            && !sqlite.is_autocommit()
        {
            if self.has_changes(sqlite)? {
                self.refuse_deleted_wal("roll back, and run the transaction again")?;
            }
            sqlite.run("COMMIT")?;
        }
        let published = self.publish();
        self.end();
        published
    }

    /// Takes everything back.
    pub fn rollback(&mut self) -> Result<()> {
        self.refuse_autocommit("roll back")?;
        let undone = match &self.sqlite {
            Some(sqlite) if self.began && !sqlite.is_autocommit() => sqlite.run("ROLLBACK"),
            _ => Ok(()),
        };
        self.end();
        undone
    }

    fn refuse_autocommit(&self, what: &str) -> Result<()> {
        self.refuse_forked()?;
        if !self.autocommit {
            return Ok(());
        }
        let message = format!("there is no transaction to {what}: autocommit is on");
        Err(failed(Status::InvalidState, message))
    }

    /// Begins a use of the file, unless another copy of SQLite in this process uses it.
    fn own_use(&self, path: &Path) -> Result<OwnUse> {
        OwnUse::begin_unless(path, || self.activity.is_used_by_another_copy()).map_err(|error| of_press(&error))
    }

    /// Returns whether litepress may open the file now ([`Activity`]).
    fn can_add_pages(&self) -> bool {
        let reads = self.sqlite.as_ref().is_some_and(|sqlite| sqlite.open_results() > 0);
        !reads && !self.activity.others_are_active()
    }

    /// Adds the rows that wait, as pages where litepress can, in the transaction of this commit. After a failure they still wait.
    fn add_waiting(&mut self) -> Result<()> {
        if self.began
            && let Some(sqlite) = &self.sqlite
            && !sqlite.is_autocommit()
        {
            // It has only read.
            sqlite.run("COMMIT")?;
        }
        self.note_end();
        self.leave_deleted_wal()?;
        let (Location::File { path, .. }, Some(waiting)) = (&self.location, &self.waiting) else { return Ok(()) };
        let _own_use = self.own_use(path)?;
        let mut options = waiting.options.clone();
        options.build.progress = self.cancel.progress();
        let added = press::append_printed(path, waiting.printed.draft.path(), &options);
        let (_, by_pages) = added.map_err(|error| of_press(&error))?;
        self.way = Some(if by_pages { IngestRoute::Pages } else { IngestRoute::Insert });
        self.end();
        Ok(())
    }

    /// Inserts the rows that wait by SQLite, because something else happens in their transaction. After a failure they still wait: no
    /// commit may succeed without them.
    fn insert_waiting(&mut self) -> Result<()> {
        if self.waiting.is_none() {
            return Ok(());
        }
        let sqlite = self.for_preparing()?;
        let Some(waiting) = self.waiting.take() else { return Ok(()) };
        let Waiting { printed, target, options } = &waiting;
        let inserted = self
            .enforce_until_end(&sqlite, options)
            .and_then(|()| atomically(&sqlite, || ingest::insert_rows(&sqlite, target, printed, options)));
        if let Err(error) = inserted {
            self.waiting = Some(waiting);
            if sqlite.is_autocommit() {
                // ON CONFLICT ROLLBACK has ended it.
                self.note_end();
            }
            return Err(error);
        }
        self.way = Some(IngestRoute::Insert);
        Ok(())
    }

    /// Inserts the rows that wait before the commit, which reports their errors otherwise.
    fn insert_waiting_early(&mut self) -> Result<()> {
        let table = self.waiting.as_ref().map_or(String::new(), |waiting| waiting.target.table.clone());
        self.insert_waiting().map_err(|error| match error.status {
            // The statement can be run again.
            Status::Timeout | Status::Cancelled => error,
            _ => crate::error::explained(
                error,
                &format!("the rows that were ingested into {table} and wait for the commit"),
                "a commit fails, too: roll back",
            ),
        })
    }

    /// Ingests rows. Returns their number.
    pub fn ingest(&mut self, target: &IngestTarget, rows: Rows, options: &NamedOptions) -> Result<u64> {
        self.refuse_forked()?;
        let ingested = self.ingest_rows(target, rows, options);
        // ON CONFLICT ROLLBACK ends the transaction.
        let settled = self.settle();
        ingested.and_then(|count| settled.map(|()| count))
    }

    fn ingest_rows(&mut self, target: &IngestTarget, rows: Rows, options: &NamedOptions) -> Result<u64> {
        let mut options = options.clone();
        self.cancel.begin();
        options.build.progress = self.cancel.progress();
        self.refuse_ingest()?;
        if target.catalog == "main"
            && let Some(path) = self.absent_file().map(Path::to_owned)
        {
            return self.print_new(&path, target, rows, &options);
        }
        self.insert_waiting_early()?;
        let sqlite = self.sqlite()?;
        let step = target.step(target.exists(&sqlite.lock())?)?;
        let has_triggers = sqlite::has_temporary_triggers(&sqlite.lock()).map_err(|error| of_sqlite(&error))?;
        let is_first = !has_triggers && !self.has_changes(&sqlite)?;
        // The user may have set the PRAGMA.
        options.append.enforce_foreign_keys |= sqlite.enforces_foreign_keys()?;
        if step == Step::Append && target.catalog == "main" {
            if let Some(definitions) = self.definitions_of_draft(&sqlite, target)? {
                options.build.page_size = definitions.page_size.or(options.build.page_size);
                return self.print_again(rows, definitions.sql, &options);
            }
            if let Some(path) = self.file_for_pages(&sqlite).filter(|_| is_first) {
                return self.append(&path, &sqlite, target, rows, options);
            }
        }
        let copied = self.copy(step, target, rows, &options);
        if self.autocommit {
            self.end_enforcement();
        }
        copied
    }

    /// Fails if the database takes no rows.
    fn refuse_ingest(&self) -> Result<()> {
        if let Location::File { path, access: Access::Read } = &self.location {
            return Err(failed(Status::IO, format!("'{}' was opened to be read only (mode=ro)", path.display())));
        }
        Ok(())
    }

    /// Prints a new database.
    fn print_new(&mut self, path: &Path, target: &IngestTarget, rows: Rows, options: &NamedOptions) -> Result<u64> {
        target.step(false)?;
        let (count, draft) = press::print(path, rows, None, options).map_err(|error| of_press(&error))?;
        self.way = Some(IngestRoute::Print);
        if self.autocommit {
            draft.publish().map_err(|error| of_press(&error))?;
        } else {
            self.draft = Some(draft);
        }
        Ok(count)
    }

    /// Returns the definitions of the draft, if the rows of a table can be printed into them.
    fn definitions_of_draft(&self, sqlite: &Sqlite, target: &IngestTarget) -> Result<Option<Definitions>> {
        if self.draft.is_none() || sqlite.open_results() > 0 {
            return Ok(None);
        }
        Definitions::of(&sqlite.lock(), &target.table).map_err(|error| of_sqlite(&error))
    }

    /// Prints the rows into the tables that the transaction has defined so far.
    fn print_again(&mut self, rows: Rows, definitions: String, options: &NamedOptions) -> Result<u64> {
        let Location::File { path, .. } = &self.location else { unreachable!("a draft is for a file") };
        let printed = press::print(path, rows, Some(definitions), options);
        let (count, draft) = printed.map_err(|error| of_press(&error))?;
        // The definitions of the old draft are in the new one.
        self.kept = self.close_draft()?;
        self.began = false;
        self.draft = Some(draft);
        self.way = Some(IngestRoute::Print);
        Ok(count)
    }

    /// Returns whether the transaction has changed the database.
    fn has_changes(&self, sqlite: &Sqlite) -> Result<bool> {
        let state = sqlite.lock().transaction_state(Some("main")).map_err(|error| of_sqlite(&error))?;
        Ok(state == TransactionState::Write)
    }

    /// Returns the file, if litepress may open it: closing a file ends the locks that this process has on it.
    fn file_for_pages(&self, sqlite: &Sqlite) -> Option<PathBuf> {
        let is_idle = self.draft.is_none() && self.can_add_pages();
        let is_open = self.autocommit && !sqlite.is_autocommit();
        match &self.location {
            Location::File { path, .. } if is_idle && !is_open => Some(path.clone()),
            _ => None,
        }
    }

    /// Adds rows to a table: now, or when the transaction is committed.
    fn append(
        &mut self,
        path: &Path,
        sqlite: &Sqlite,
        target: &IngestTarget,
        rows: Rows,
        options: NamedOptions,
    ) -> Result<u64> {
        if self.autocommit {
            let _own_use = self.own_use(path)?;
            let (count, by_pages) = press::append(path, rows, &options).map_err(|error| of_press(&error))?;
            self.way = Some(if by_pages { IngestRoute::Pages } else { IngestRoute::Insert });
            return Ok(count);
        }
        if options.append.add_columns {
            return self.copy(Step::Append, target, rows, &options);
        }
        let definition = target.plain_table(&sqlite.lock(), &rows.columns())?;
        let printed = StagedRows::rows_only(path, rows, definition, &options)?;
        let count = printed.rows;
        self.waiting = Some(Waiting { printed, target: target.clone(), options });
        self.way = Some(IngestRoute::Wait);
        Ok(count)
    }

    /// Prints rows beside the database and has SQLite copy them, within the transaction.
    fn copy(&mut self, step: Step, target: &IngestTarget, rows: Rows, options: &NamedOptions) -> Result<u64> {
        let place = match &self.location {
            Location::File { path, .. } => path.clone(),
            Location::Memory(_) => std::env::temp_dir().join("litepress-memory.db"),
        };
        let printed = if step == Step::Append {
            let columns = rows.columns();
            let sqlite = self.sqlite()?;
            if options.append.add_columns {
                return Err(crate::error::not_implemented(
                    "litepress.add_columns within a transaction that has changes: commit before, or use autocommit; it",
                ));
            }
            let definition = target.plain_table(&sqlite.lock(), &columns)?;
            StagedRows::rows_only(&place, rows, definition, options)?
        } else {
            StagedRows::new_table(&place, rows, options)?
        };
        let sqlite = self.for_preparing()?;
        self.enforce_until_end(&sqlite, options)?;
        if step == Step::Append {
            self.way = Some(IngestRoute::Insert);
            return atomically(&sqlite, || ingest::insert_rows(&sqlite, target, &printed, options));
        }
        let is_attachable = sqlite::is_utf8(&sqlite.lock()).map_err(|error| of_sqlite(&error))?;
        if !is_attachable || self.attached.len() == MOST_ATTACHED {
            self.way = Some(IngestRoute::Insert);
            let plain = press::for_scratch(options);
            return atomically(&sqlite, || {
                ingest::define(&sqlite, target, step, &printed)?;
                ingest::insert_rows(&sqlite, target, &printed, &plain)
            });
        }
        self.copy_trees(&sqlite, step, target, &printed)?;
        self.way = Some(IngestRoute::Copy);
        Ok(printed.rows)
    }

    fn copy_trees(&mut self, sqlite: &Sqlite, step: Step, target: &IngestTarget, printed: &StagedRows) -> Result<()> {
        self.attachments += 1;
        let name = format!("litepress_{}", self.attachments);
        let attach = format!("ATTACH ?1 AS {name}");
        let path = litepress_rows::sqlite::plain_name(printed.draft.path());
        let path = path.to_str().ok_or_else(|| failed(Status::NotImplemented, "the name of the file is not UTF-8"))?;
        sqlite.lock().execute(&attach, [path]).map_err(|error| of_sqlite(&error))?;
        let done = atomically(sqlite, || {
            ingest::define(sqlite, target, step, printed)?;
            ingest::copy_trees(sqlite, target, &name)
        });
        if sqlite.is_autocommit() {
            sqlite.run(&format!("DETACH {name}"))?;
        } else {
            self.attached.push(name);
        }
        done
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_forked() {
            std::mem::forget((self.sqlite.take(), self.kept.take(), self.draft.take(), self.waiting.take()));
            return;
        }
        let Some(sqlite) = self.sqlite.take() else { return };
        // A transaction that is not committed is taken back. Results that are still read keep the connection.
        if !sqlite.is_autocommit() {
            let _ = sqlite.run("ROLLBACK");
        }
        self.activity.note(false);
        if self.draft.is_some() {
            return;
        }
        if self.activity.is_used_by_another_copy() {
            self.activity.leave_open(sqlite);
        } else if self.activity.has_deleted_wal() {
            sqlite.leave_wal();
        }
    }
}

/// Returns whether a statement takes back the whole transaction.
fn is_rollback(sql: &str) -> bool {
    let words: Vec<&str> = sql.trim_end().trim_end_matches(';').split_whitespace().collect();
    let is = |at: usize, word: &str| words.get(at).is_none_or(|found| found.eq_ignore_ascii_case(word));
    (1..=2).contains(&words.len()) && is(0, "ROLLBACK") && is(1, "TRANSACTION")
}

/// Returns the mode of an ingest by its name.
pub fn mode_of(name: &str) -> Result<Mode> {
    match name {
        "adbc.ingest.mode.create" => Ok(Mode::Create),
        "adbc.ingest.mode.append" => Ok(Mode::Append),
        "adbc.ingest.mode.replace" => Ok(Mode::Replace),
        "adbc.ingest.mode.create_append" => Ok(Mode::CreateAppend),
        _ => Err(failed(Status::InvalidArguments, format!("option adbc.ingest.mode: '{name}' is no mode"))),
    }
}
