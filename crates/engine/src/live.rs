//! Writes pages into a database that exists and that others may have open, in one transaction of SQLite's.
//!
//! ```text
//! BEGIN IMMEDIATE, lock of checkpoints        other writers wait, readers do not
//! new pages: free ones, behind the end        nobody looks there
//! sync
//! sqlite_dbpage: last page, page 1, freelist  SQLite learns the new size
//! sqlite_schema, pages that exist, freelist   through SQLite: journal or WAL
//! COMMIT                                      all or nothing
//! ```
//!
//! SQLite journals, recovers and locks; litepress adds pages where SQLite does not look yet. Advice to the next hacker:
//!
//! - **The size first.** The b-tree layer of SQLite reads the number of pages from page 1 only when a transaction or a
//!   savepoint begins or ends. Before that, CREATE TABLE would take the first new page.
//! - **Parsed pages.** The connection keeps the parsed form of b-tree pages. A page that exists is therefore written twice:
//!   zeros within a savepoint that is rolled back, which makes SQLite forget the form, then its bytes.
//! - **Freed pages last.** A page that SQLite frees and takes again within one transaction is journalled, because SQLite
//!   notes that it had content. Pages that litepress frees are not noted. So they go to the freelist right before COMMIT.
//! - **Free pages.** New pages take leaves of the freelist, or the file would grow by a tree with each rebuild. Bytes of a leaf are
//!   needed by nobody: not by readers, and not by a rollback. Bytes of a trunk page are, and those of pages that were freed while
//!   an old reader reads: in WAL mode leaves are taken directly only if the WAL is empty. The connection's cache is emptied before.
//! - **Old frames.** The WAL may hold frames of pages behind the end, from the time before the database shrank. SQLite would
//!   prefer them to bytes in the file. Then all pages go through the WAL.
//! - **Checkpoints.** A checkpoint cuts the file off behind the last committed page. Its lock is held meanwhile.

mod append;
mod freelist;
mod index;
mod new_pages;
mod replication;
mod skeleton;
mod snapshot_first;
#[cfg(test)]
mod tests;
mod transaction;
mod tree_pages;

pub(crate) use freelist::Freelist;
pub use index::{IndexReport, IndexTask, MadeIndex, make_indexes};
pub use transaction::{CommitReport, LiveTransaction};

use crate::options::{Options, Sync};
use crate::sqlite::Failures;
use crate::{Error, ErrorKind, Result};
use litepress_format::header::{DatabaseHeader, SCHEMA_FORMAT};
use litepress_rows::schema::{TableKinds, table_of};
use litepress_rows::sqlite::{plain_name, stop_if};
use litepress_rows::{OptionName, Table, message};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options of a change of an existing database.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LiveOptions {
    /// Threads, memory, temporary folder, durability, progress. The other options concern new databases.
    pub build: Options,
    /// The longest wait for locks of other programs.
    pub busy_timeout: Duration,
    /// Whether all pages go through the WAL or the journal, so that programs which copy the WAL elsewhere get them. Always
    /// so if a sign of such a program is found.
    pub through_wal: bool,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self { build: Options::default(), busy_timeout: Duration::from_secs(10), through_wal: false }
    }
}

/// The reason why litepress does not write pages of a database. SQLite can still change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotWritePages {
    /// The reason: `it is in auto_vacuum mode`.
    pub reason: String,
}

impl fmt::Display for CannotWritePages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// A database that exists, and that other programs may use at the same time.
///
/// One connection of SQLite, with nothing in memory but SQLite's cache. Dropped at any time, it leaves no lock behind.
pub struct LiveDatabase {
    connection: Connection,
    path: PathBuf,
    options: LiveOptions,
    /// The sign of replication that was found.
    replication: Option<String>,
}

impl LiveDatabase {
    /// Opens a database for reading and writing.
    ///
    /// # Errors
    /// If there is no database at `path`, or it cannot be read, or it stays locked. The inner `Err` is a database that only
    /// SQLite can change.
    pub fn open(path: &Path, options: &LiveOptions) -> Result<Result<Self, CannotWritePages>> {
        let metadata = std::fs::metadata(path).map_err(|error| Error::io("open the database", path, error))?;
        if !metadata.is_file() {
            return Err(Error::new(ErrorKind::Io, "this is not a regular file").in_file(path));
        }
        let explain = |error| explain(&error, path, options);
        // Absolute, because SQLite takes a name that begins with `file:` for a URI.
        let absolute = std::path::absolute(path).map_err(|error| Error::io("open", path, error))?;
        let connection = connect(&plain_name(&absolute), options).map_err(explain)?;
        if let Some(reason) = refusal(&connection, path).map_err(explain)? {
            return Ok(Err(CannotWritePages { reason }));
        }
        let replication = replication::sign(&absolute, &connection).map_err(explain)?;
        Ok(Ok(Self { connection, path: path.to_owned(), options: options.clone(), replication }))
    }

    /// Returns the connection. It has no transaction.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the sign of a program that copies the WAL elsewhere, if one was found.
    pub fn replication(&self) -> Option<&str> {
        self.replication.as_deref()
    }

    /// Returns the table of this name, in the schema's spelling.
    ///
    /// # Errors
    /// If SQLite cannot read the schema.
    pub fn table(&self, name: &str) -> Result<Option<Table>> {
        let kinds = TableKinds::read(&self.connection).map_err(|error| self.explain(&error))?;
        table_of(&self.connection, &kinds, name).map_err(|error| self.explain(&error))
    }

    /// Begins a write transaction. Other programs can read meanwhile, but not write.
    ///
    /// # Errors
    /// If another program keeps the database locked, or has changed it so that litepress cannot write pages any more.
    pub fn begin(&mut self) -> Result<LiveTransaction<'_>> {
        LiveTransaction::begin(self)
    }

    /// Converts a failure of SQLite.
    pub(crate) fn explain(&self, error: &rusqlite::Error) -> Error {
        explain(error, &self.path, &self.options)
    }
}

/// Converts a failure of SQLite.
fn explain(error: &rusqlite::Error, path: &Path, options: &LiveOptions) -> Error {
    let is_locked = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
    if !is_locked {
        return Failures::of(&options.build.progress).explain(error, ErrorKind::Io).in_file(path);
    }
    let message = format!("another program kept the database locked for {} s", options.busy_timeout.as_secs_f64());
    Error::new(ErrorKind::Target, message)
        .in_file(path)
        .advise(message!["wait until it is done, or wait longer with ", OptionName::BusyTimeout.alone()])
}

fn connect(path: &Path, options: &LiveOptions) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.busy_timeout)?;
    let progress = options.build.progress.clone();
    stop_if(&mut connection, move || progress.go_on().is_err())?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    // EXTRA: with FULL, a power cut may bring the deleted journal back, which undoes a COMMIT that has returned.
    let synchronous = if options.build.sync == Sync::Full { "EXTRA" } else { "OFF" };
    // Its own checkpoint would fail: the transaction holds the lock of checkpoints.
    connection.execute_batch(&format!(
        "PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 0;
         PRAGMA temp_store = FILE; PRAGMA threads = 0"
    ))?;
    Ok(connection)
}

/// Returns why litepress does not write pages of this database.
fn refusal(connection: &Connection, path: &Path) -> rusqlite::Result<Option<String>> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, String>(0));
    let has_pages = "SELECT count(*) FROM temp.pragma_module_list WHERE name = 'sqlite_dbpage'";
    if connection.query_row(has_pages, [], |row| row.get::<_, u32>(0))? == 0 {
        return Ok(Some("this SQLite was built without sqlite_dbpage".to_owned()));
    }
    if connection.is_readonly("main")? {
        return Ok(Some("it is read-only".to_owned()));
    }
    let vfs = litepress_scan::vfs_name(connection).unwrap_or_default();
    if vfs != "unix" {
        return Ok(Some(format!("SQLite reaches it through the VFS {vfs}")));
    }
    if let Some(system) = network_file_system(path) {
        return Ok(Some(format!("it is on {system}, whose locks cannot be relied on")));
    }
    let Some(header) = read_header(connection)? else {
        return Ok(Some("it is empty".to_owned()));
    };
    let mode = pragma("journal_mode")?;
    if !["delete", "truncate", "persist", "wal"].contains(&mode.as_str()) {
        return Ok(Some(format!("its journal mode is {mode}")));
    }
    Ok(refusal_of(&header))
}

/// Returns why litepress does not write pages of a database with this header.
fn refusal_of(header: &DatabaseHeader) -> Option<String> {
    if header.reserved > 0 {
        return Some(format!("its pages have {} reserved bytes, which belong to an extension", header.reserved));
    }
    if header.largest_root_page > 0 {
        return Some("it is in auto_vacuum mode".to_owned());
    }
    match header.schema_format {
        SCHEMA_FORMAT => None,
        0 => Some("it has no tables yet".to_owned()),
        old => Some(format!("its schema format is {old}, that of an old SQLite")),
    }
}

/// Reads the header of page 1, or `None` if the file is empty.
fn read_header(connection: &Connection) -> rusqlite::Result<Option<DatabaseHeader>> {
    let sql = "SELECT data FROM sqlite_dbpage WHERE pgno = 1";
    let page: Option<Vec<u8>> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    page.map(|page| DatabaseHeader::decode(&page)).transpose().map_err(|error| {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        rusqlite::Error::SqliteFailure(code, Some(format!("page 1: {error}")))
    })
}

/// Returns the network file system of a file, if the system tells.
#[cfg(target_os = "linux")]
fn network_file_system(path: &Path) -> Option<&'static str> {
    const NFS: u32 = 0x6969;
    const SMB: [u32; 3] = [0x517b, 0xff53_4d42, 0xfe53_4d42];
    const NINE_P: u32 = 0x0102_1997;
    // The type is a signed or an unsigned word of 32 or 64 bits; these magic numbers have 32.
    let kind = rustix::fs::statfs(path).ok()?.f_type & 0xffff_ffff;
    let is = |magic: u32| kind == magic.into();
    if is(NFS) {
        Some("NFS")
    } else if SMB.into_iter().any(is) {
        Some("SMB")
    } else if is(NINE_P) {
        Some("9P")
    } else {
        None
    }
}

#[cfg(not(target_os = "linux"))]
fn network_file_system(_path: &Path) -> Option<&'static str> {
    None
}
