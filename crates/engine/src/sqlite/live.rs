//! SQLite at work on a database that exists and that other programs may have open.

use super::failure::{Failures, message};
use super::insert::{Inserted, Refuse, insert_live};
use super::{SessionOptions, SqliteSession, watch};
use crate::{Conflict, Error, ErrorKind, Options, Result};
use litepress_rows::sqlite::plain_name;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{OptionName, Schema, Source, Table, message, quoted_name};
use rusqlite::hooks::Action;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, TransactionState};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A connection to a database that exists, with one transaction.
pub(crate) struct LiveSession {
    session: SqliteSession,
    /// The table that is being filled, and the number of its rows that were inserted and not updated.
    inserted: Arc<Mutex<(String, u64)>>,
}

/// Number of rows without a parent that are compared with those before.
const MOST_ORPHANS: usize = 1_000_000;

/// A row whose foreign key has no parent.
#[derive(PartialEq, Eq, Hash)]
struct Orphan {
    table: String,
    /// `None` in a WITHOUT ROWID table.
    rowid: Option<i64>,
    parent: String,
}

impl Orphan {
    fn error(self) -> Error {
        let row = self.rowid.map_or("a row".to_owned(), |rowid| format!("the row with rowid {rowid}"));
        let message = format!("FOREIGN KEY constraint failed: {row} has no parent in {}", self.parent);
        Error::new(ErrorKind::Constraint, message).in_table(self.table)
    }
}

fn connect(path: &Path, timeout: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(plain_name(path), flags)?;
    connection.busy_timeout(timeout)?;
    Ok(connection)
}

impl LiveSession {
    /// Reads the schema of the database.
    pub fn schema(path: &Path, timeout: Duration) -> Result<Schema> {
        let origin = path.display().to_string();
        let read = || {
            let connection = connect(path, timeout)?;
            // Reads the schema, so that functions of PRAGMA see it within the transaction.
            connection.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")?;
            let schema = Schema::of_database(&connection, &origin)?;
            connection.execute_batch("COMMIT")?;
            Ok(schema)
        };
        read().map_err(|error: rusqlite::Error| explain(&error, ErrorKind::Corrupt).in_file(path))
    }

    /// Opens the database.
    pub fn open(path: &Path, timeout: Duration, cache_bytes: u64, options: SessionOptions) -> Result<Self> {
        let inserted = Arc::new(Mutex::new((String::new(), 0)));
        let counter = inserted.clone();
        let open = || {
            let mut connection = connect(path, timeout)?;
            watch(&mut connection, options.progress.clone())?;
            connection.execute_batch(&format!(
                "PRAGMA cache_size = -{}; PRAGMA temp_store = FILE; PRAGMA recursive_triggers = OFF",
                cache_bytes / 1024
            ))?;
            connection.update_hook(Some(move |action: Action, database: &str, table: &str, _rowid: i64| {
                let (name, count) = &mut *lock(&counter);
                *count += u64::from(action == Action::SQLITE_INSERT && database == "main" && table == name);
            }))?;
            Ok(connection)
        };
        let connection = open().map_err(|error| explain(&error, ErrorKind::Io).in_file(path))?;
        let session = SqliteSession { connection, path: Some(path.to_owned()), wal: false, options };
        Ok(Self { session, inserted })
    }

    fn failed(&self, error: &rusqlite::Error, kind: ErrorKind) -> Error {
        busy(error).unwrap_or_else(|| Failures::of(&self.session.options.progress).explain(error, kind))
    }

    /// Runs statements.
    pub fn run(&self, sql: &str) -> Result<()> {
        self.session.connection.execute_batch(sql).map_err(|error| self.failed(&error, ErrorKind::Corrupt))
    }

    /// Begins the transaction: waits for the lock of writers.
    pub fn begin(&self, enforces_foreign_keys: bool) -> Result<()> {
        self.run(if enforces_foreign_keys { "PRAGMA foreign_keys = ON" } else { "PRAGMA foreign_keys = OFF" })?;
        self.run("BEGIN IMMEDIATE")?;
        // A key may come before its parent.
        self.run("PRAGMA defer_foreign_keys = ON")
    }

    /// Returns the schema cookie, which changes with the schema.
    pub fn schema_cookie(&self) -> Result<u32> {
        let cookie: i64 = self.value("PRAGMA schema_version")?;
        Ok(u32::try_from(cookie).unwrap_or_default())
    }

    fn value<T: rusqlite::types::FromSql>(&self, sql: &str) -> Result<T> {
        let value = self.session.connection.query_row(sql, [], |row| row.get(0));
        value.map_err(|error| self.failed(&error, ErrorKind::Corrupt))
    }

    /// Runs a definition. `what` names the object in errors.
    pub fn define(&self, sql: &str, what: &str) -> Result<()> {
        self.session.options.progress.enter(format!("{what}, by SQLite"));
        self.session.define(sql, what)
    }

    /// Deletes all rows of the table.
    pub fn truncate(&self, table: &Table) -> Result<()> {
        self.session.options.progress.enter(format!("deleting the rows of {}", table.name));
        self.run(&format!("DELETE FROM main.{}", quoted_name(&table.name))).map_err(|error| error.in_table(&table.name))
    }

    /// Inserts all rows of `source`. Returns also how many of the changed rows are new, if SQLite tells. With `refuse`, rows that SQLite refuses go there. `one_by_one` makes each row a statement.
    pub fn insert(
        &self,
        table: &Table,
        source: &dyn Source,
        conflict: Conflict,
        options: &Options,
        one_by_one: bool,
        refuse: Option<Refuse<'_>>,
    ) -> Result<(Inserted, Option<u64>)> {
        *lock(&self.inserted) = (table.name.clone(), 0);
        let inserted = insert_live(&self.session, table, source, conflict, options, one_by_one, refuse)?;
        // SQLite does not tell of the rows of WITHOUT ROWID and virtual tables.
        let is_told = !table.without_rowid && !table.is_virtual;
        let new = is_told.then(|| lock(&self.inserted).1.min(inserted.changed));
        Ok((inserted, new))
    }

    /// Checks the table by SQLite's own checks.
    pub fn check(&self, table: &str, is_full: bool) -> Result<()> {
        let check = if is_full { "integrity_check" } else { "quick_check" };
        let found: String = self.value(&format!("PRAGMA main.{check}({})", quoted_name(table)))?;
        if found != "ok" {
            return Err(Error::new(ErrorKind::Corrupt, format!("SQLite says: {found}")).in_table(table));
        }
        match is_full {
            true => self.orphans(Some(table), 1)?.into_iter().next().map_or(Ok(()), |orphan| Err(orphan.error())),
            false => Ok(()),
        }
    }

    /// Returns the first rows of a table, or of all tables, whose foreign key has no parent.
    fn orphans(&self, table: Option<&str>, most: usize) -> Result<Vec<Orphan>> {
        let of_table = table.map_or(String::new(), |table| format!("({})", quoted_name(table)));
        let find = || {
            let mut check = self.session.connection.prepare(&format!("PRAGMA main.foreign_key_check{of_table}"))?;
            let orphan = |row: &Row<'_>| Ok(Orphan { table: row.get(0)?, rowid: row.get(1)?, parent: row.get(2)? });
            check.query_map([], orphan)?.take(most).collect::<rusqlite::Result<_>>()
        };
        find().map_err(|error| self.failed(&error, ErrorKind::Schema))
    }

    /// Commits. A failure may roll back the transaction.
    pub fn commit(&self) -> Result<()> {
        let Err(error) = self.session.connection.execute_batch("COMMIT") else { return Ok(()) };
        if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
            && let Ok(Some(orphan)) = self.new_orphan()
        {
            return Err(orphan.error());
        }
        Err(self.failed(&error, ErrorKind::Io))
    }

    /// Returns the first row that had a parent before the transaction, or was not there, and rolls back the transaction.
    fn new_orphan(&self) -> Result<Option<Orphan>> {
        let now = self.orphans(None, MOST_ORPHANS)?;
        self.run("ROLLBACK")?;
        let before: HashSet<Orphan> = self.orphans(None, MOST_ORPHANS)?.into_iter().collect();
        Ok(now.into_iter().find(|orphan| !before.contains(orphan)))
    }

    /// Returns the number of pages, and their size.
    pub fn size(&self) -> Result<(u64, u32)> {
        let pages: i64 = self.value("PRAGMA page_count")?;
        let bytes: i64 = self.value("PRAGMA page_size")?;
        Ok((u64::try_from(pages).unwrap_or_default(), u32::try_from(bytes).unwrap_or_default()))
    }

    /// Returns the journal mode.
    pub fn journal_mode(&self) -> Result<String> {
        self.value("PRAGMA journal_mode")
    }

    /// Closes the connection.
    pub fn close(self) -> Result<()> {
        assert!(
            self.session.connection.transaction_state(None::<&str>).is_ok_and(|state| state != TransactionState::Write),
            "the transaction is over"
        );
        self.session.connection.close().map_err(|(_, error)| explain(&error, ErrorKind::Io))
    }
}

/// Returns the error of a lock that another program keeps.
fn busy(error: &rusqlite::Error) -> Option<Error> {
    let is_busy = matches!(error.sqlite_error_code()?, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked);
    is_busy.then(|| {
        let what = "another program keeps its lock on the database";
        Error::new(ErrorKind::Target, format!("{what}; SQLite says: {}", message(error)))
            .advise(message!["end its transaction, or wait longer with ", OptionName::BusyTimeout.alone()])
    })
}

fn explain(error: &rusqlite::Error, kind: ErrorKind) -> Error {
    busy(error).unwrap_or_else(|| Failures::of(&crate::Progress::default()).explain(error, kind))
}
