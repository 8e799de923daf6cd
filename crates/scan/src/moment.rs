//! Holds one read transaction on a database, so that all tables are read from one snapshot.
//!
//! The connection is read-only. In WAL mode, SQLite nevertheless creates `-wal` and `-shm` beside the database, and a read-only
//! connection leaves them there. [`FilesBeside`] removes those that did not exist before.
//!
//! ```text
//! SQLite can create its files beside the database        a connection with locks
//! it cannot, and no log has content                      the file as it is (immutable), if it does not change meanwhile
//! it cannot, and a log has content                       an error: commits in the log cannot be read
//! ```

use crate::Snapshot;
use crate::snapshot::HOT_JOURNAL;
use litepress_rows::sqlite::{FilesBeside, companion, file_bytes, open_file, open_immutable};
use litepress_rows::sync::{Mutex, MutexGuard, lock};
use litepress_rows::{Error, ErrorKind, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use std::fs::{self, File};
use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::TryLockError;
use std::time::{Duration, SystemTime};

/// One read transaction on a database.
#[derive(Debug)]
pub struct Moment {
    /// The name of the file in errors.
    name: PathBuf,
    /// `None` once it is closed.
    open: Mutex<Option<Opened>>,
    /// The pages at the moment, if they can be read.
    snapshot: Option<Snapshot>,
    /// Size and time of the file at the beginning, if no lock keeps others from changing it.
    unlocked: Option<Stamp>,
}

/// A connection, and the files beside its database.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    /// Declared last, so that it is dropped after the connection is closed.
    _beside: FilesBeside,
}

/// The connection while a thread uses it.
#[derive(Debug)]
pub struct ConnectionGuard<'m>(MutexGuard<'m, Option<Opened>>);

impl Deref for ConnectionGuard<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0.as_ref().expect("nobody reads a database once it is closed").connection
    }
}

impl Moment {
    /// Begins the transaction. Nothing is changed, and others may use the database meanwhile.
    ///
    /// # Errors
    /// If the file cannot be opened, is not a database, is encrypted, or has a journal or log that must be applied first.
    pub fn begin(name: &Path) -> Result<Self> {
        Self::begin_and_look(name).map(|(moment, _)| moment)
    }

    /// Begins the transaction, and also returns the pages.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), and if the pages cannot be read.
    pub fn begin_with_pages(name: &Path) -> Result<(Self, Snapshot)> {
        let (moment, snapshot) = Self::begin_and_look(name)?;
        Ok((moment, snapshot?))
    }

    /// Begins the transaction. Also returns the pages, or why they cannot be read.
    fn begin_and_look(name: &Path) -> Result<(Self, Result<Snapshot>)> {
        let name = name.to_owned();
        // The path must be absolute, because SQLite takes a name that begins with `file:` for a URI. It must have no symbolic links,
        // because SQLite keeps its files beside the file that a link points to.
        let path = fs::canonicalize(&name).map_err(|error| Error::io("open", &name, error))?;
        // SQLite would wait for ever for the writer of a FIFO.
        file_bytes(&name)?;
        let beside = FilesBeside::look(&path);
        let stamp = Stamp::of(&path);
        let ((connection, snapshot), unlocked) = match connect(&path) {
            Ok(connected) => (connected, None),
            Err(error) => {
                // SQLite does not report why it cannot open a file, so the file is opened here. Otherwise it is not: closing it
                // would end the locks that another copy of SQLite in this process has on it.
                if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) {
                    open_file(&name)?;
                }
                (as_it_is(&name, &path, error)?, stamp.ok())
            }
        };
        let snapshot =
            snapshot.map_err(|error| if error.place().file.is_some() { error } else { error.in_file(&name) });
        let open = Mutex::new(Some(Opened { connection, _beside: beside }));
        Ok((Self { name, open, snapshot: snapshot.as_ref().ok().cloned(), unlocked }, snapshot))
    }

    /// Ends the transaction and closes the connection, once no thread uses it. Nothing can be read afterwards.
    pub fn close(&self) {
        if let Some(snapshot) = &self.snapshot {
            snapshot.close_idle();
        }
        *lock(&self.open) = None;
    }

    /// Returns the pages at the moment, if they can be read.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// Returns the connection once it is free.
    pub fn connection(&self) -> ConnectionGuard<'_> {
        ConnectionGuard(lock(&self.open))
    }

    /// Returns the connection, or `None` while another thread reads through it.
    pub fn free_connection(&self) -> Option<ConnectionGuard<'_>> {
        match self.open.try_lock() {
            Ok(open) => Some(ConnectionGuard(open)),
            Err(TryLockError::Poisoned(poisoned)) => Some(ConnectionGuard(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Checks that a file which is read without locks was not changed since it was opened.
    ///
    /// # Errors
    /// If it was.
    pub fn check_unchanged(&self) -> Result<()> {
        let is_changed = |stamp: &Stamp| Stamp::of(&self.name).ok().as_ref() != Some(stamp);
        if self.unlocked.as_ref().is_some_and(is_changed) {
            return Err(Error::new(ErrorKind::Data, "the database was changed while it was read")
                .in_file(&self.name)
                .advise("use a copy of it in a folder that can be written: SQLite can lock it there"));
        }
        Ok(())
    }

    /// Converts an error of SQLite.
    pub fn failure(&self, error: rusqlite::Error) -> Error {
        failure(&self.name, error)
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        // The files beside the database are removed after the last connection is closed.
        self.close();
    }
}

/// Opens a database for reading and begins the transaction. Also returns its pages.
fn connect(path: &Path) -> rusqlite::Result<(Connection, Result<Snapshot>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // A writer may hold its lock briefly.
    connection.busy_timeout(Duration::from_secs(10))?;
    const BEGIN: &str = "BEGIN; SELECT 1 FROM sqlite_schema";
    // The first transaction shows whether SQLite can read the database. A snapshot begins one of its own.
    connection.execute_batch(BEGIN)?;
    connection.execute_batch("COMMIT")?;
    let snapshot = Snapshot::begin(&connection);
    if snapshot.is_err() {
        connection.execute_batch(BEGIN)?;
    }
    Ok((connection, snapshot))
}

/// Opens a database in WAL mode without locks, if `error` means that SQLite cannot create its files beside it and there is no
/// log with content.
fn as_it_is(name: &Path, path: &Path, error: rusqlite::Error) -> Result<(Connection, Result<Snapshot>)> {
    let code = error.sqlite_error().map_or(0, |error| error.extended_code);
    let is_hot = code == ffi::SQLITE_READONLY_ROLLBACK;
    let is_unwritable = !is_hot && matches!(code & 0xff, ffi::SQLITE_CANTOPEN | ffi::SQLITE_READONLY);
    if !is_unwritable || !is_in_wal_mode(path) {
        return Err(failure(name, error));
    }
    let log = companion(path, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let message = "the database has a write-ahead log, and SQLite cannot make the files in this folder that it needs to read it";
        let advice =
            format!("copy the database and {} to a folder that can be written, and use the copy", log.display());
        return Err(Error::new(ErrorKind::Data, message).in_file(name).advise(advice).caused_by(error));
    }
    let connection = open_immutable(path).map_err(|error| failure(name, error))?;
    connection.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema").map_err(|error| failure(name, error))?;
    let snapshot = Snapshot::of_immutable(&connection);
    Ok((connection, snapshot))
}

/// Returns whether the header states WAL mode.
fn is_in_wal_mode(path: &Path) -> bool {
    const READ_VERSION_AT: usize = 19;
    let mut header = [0; READ_VERSION_AT + 1];
    File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok_and(|()| header[READ_VERSION_AT] == 2)
}

/// Converts an error of SQLite and adds advice.
fn failure(name: &Path, error: rusqlite::Error) -> Error {
    if error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_READONLY_ROLLBACK) {
        let advice = format!(
            "have SQLite do that: sqlite3 '{}' 'SELECT count(*) FROM sqlite_schema'; then try again",
            name.display()
        );
        return Error::new(ErrorKind::Data, HOT_JOURNAL).in_file(name).advise(advice).caused_by(error);
    }
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Some("the file is not a SQLite database, or it is encrypted"),
        Some(ErrorCode::DatabaseBusy) => Some("somebody writes into the database: try again later"),
        Some(ErrorCode::DatabaseCorrupt) => Some("sqlite3's .recover saves what can be read"),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => Some("copy it to a folder that can be written"),
        _ => None,
    };
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => ErrorKind::Corrupt,
        _ => ErrorKind::Data,
    };
    let failed = Error::new(kind, format!("the database cannot be read: {error}")).in_file(name).caused_by(error);
    match advice {
        Some(advice) => failed.advise(advice),
        None => failed,
    }
}

/// Size in bytes and modification time of a file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp(u64, Option<SystemTime>);

impl Stamp {
    fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self(metadata.len(), metadata.modified().ok()))
    }
}
