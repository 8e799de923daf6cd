//! A connection of SQLite that several statements share.

use crate::error::{Result, of_sqlite};
use litepress_rows::sqlite::plain_name;
use litepress_rows::sync::lock;
use rusqlite::config::DbConfig::{SQLITE_DBCONFIG_ENABLE_FKEY, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE};
use rusqlite::{Connection, InterruptHandle, OpenFlags};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// A connection of SQLite, which one thread at a time uses.
pub struct Sqlite {
    connection: Mutex<Connection>,
    /// Number of results that are not read to their end.
    open_results: AtomicUsize,
    /// The process that has opened it.
    process: u32,
}

impl Sqlite {
    /// Opens a file.
    pub fn open_file(path: &Path, flags: OpenFlags, busy_timeout: Duration) -> Result<Arc<Self>> {
        let connection = Connection::open_with_flags(plain_name(path), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        Self::of(connection, busy_timeout)
    }

    /// Opens a database in memory by its URI.
    pub fn open_memory(uri: &str) -> Result<Arc<Self>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
        Self::of(Connection::open_with_flags(uri, flags), Duration::ZERO)
    }

    fn of(connection: rusqlite::Result<Connection>, busy_timeout: Duration) -> Result<Arc<Self>> {
        let connection = connection.map_err(|error| of_sqlite(&error))?;
        connection.busy_timeout(busy_timeout).map_err(|error| of_sqlite(&error))?;
        // The bundled SQLite enforces them unless it is told otherwise; others do so only on request.
        connection.set_db_config(SQLITE_DBCONFIG_ENABLE_FKEY, false).map_err(|error| of_sqlite(&error))?;
        Ok(Arc::new(Self {
            connection: Mutex::new(connection),
            open_results: AtomicUsize::new(0),
            process: process::id(),
        }))
    }

    /// Locks the connection.
    pub fn lock(&self) -> MutexGuard<'_, Connection> {
        lock(&self.connection)
    }

    /// Runs statements.
    pub fn run(&self, sql: &str) -> Result<()> {
        self.lock().execute_batch(sql).map_err(|error| of_sqlite(&error))
    }

    /// Returns whether no transaction is open.
    pub fn is_autocommit(&self) -> bool {
        self.lock().is_autocommit()
    }

    /// Returns whether foreign keys are enforced.
    pub fn enforces_foreign_keys(&self) -> Result<bool> {
        self.lock().db_config(SQLITE_DBCONFIG_ENABLE_FKEY).map_err(|error| of_sqlite(&error))
    }

    /// Turns the enforcement of foreign keys on or off, within a transaction, too. The PRAGMA cannot do that.
    pub fn enforce_foreign_keys(&self, enforce: bool) -> Result<()> {
        let set = self.lock().set_db_config(SQLITE_DBCONFIG_ENABLE_FKEY, enforce);
        set.map(|_| ()).map_err(|error| of_sqlite(&error))
    }

    /// Makes the connection leave the WAL as it is when it ends.
    pub fn leave_wal(&self) {
        // It fails on closed connections alone.
        let _ = self.lock().set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// Returns whether a statement runs or a transaction is open.
    pub fn is_at_work(&self) -> bool {
        self.connection.try_lock().map_or(true, |connection| !connection.is_autocommit())
    }

    /// Sets a flag at each rollback of a transaction.
    pub fn note_rollbacks(&self, rolled_back: Arc<AtomicBool>) -> Result<()> {
        let note = move || rolled_back.store(true, Ordering::SeqCst);
        self.lock().rollback_hook(Some(note)).map_err(|error| of_sqlite(&error))
    }

    /// Returns whether it belongs to the process that this one was forked from: nothing may be done with it here.
    pub fn is_forked(&self) -> bool {
        self.process != process::id()
    }

    /// Returns a handle that stops a statement.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.lock().get_interrupt_handle()
    }

    /// Returns the number of results that are not read to their end.
    pub fn open_results(&self) -> usize {
        self.open_results.load(Ordering::SeqCst)
    }

    /// Notes a result that is being read, or that it has ended.
    pub fn note_result(&self, is_open: bool) {
        if is_open {
            self.open_results.fetch_add(1, Ordering::SeqCst);
        } else {
            self.open_results.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Returns whether the texts of a database are UTF-8. SQLite attaches no database to one of another encoding.
pub fn is_utf8(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA encoding", [], |row| Ok(row.get_ref(0)?.as_str()? == "UTF-8"))
}

/// Returns whether a connection has triggers of its own, which no other connection runs.
pub fn has_temporary_triggers(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE type = 'trigger')";
    connection.query_row(sql, [], |row| row.get(0))
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // rusqlite frees the hook before SQLite takes back an open transaction, which calls it.
        let _ = self.lock().rollback_hook(None::<fn()>);
    }
}
