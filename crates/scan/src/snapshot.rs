//! Holds a read snapshot of a database, and reads its pages.

use crate::file_pointer::{self, FilePointer};
use crate::wal::{WalFrames, WalState};
use litepress_format::header::{DatabaseHeader, TextEncoding};
use litepress_format::page::{FILE_HEADER_LEN, PageSize};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Error, ErrorKind, Result};
use rusqlite::{Connection, OpenFlags, ffi};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of attempts to begin a transaction while no other connection commits.
const ATTEMPTS: u32 = 100;

/// A consistent view of all pages of a database, valid while the transaction of one connection is open.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.db");
/// use litepress_rows::{Part, RecordChunk, Source};
/// use litepress_scan::{Snapshot, TableScan};
///
/// let connection = rusqlite::Connection::open(&path)?;
/// connection.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES ('x'), ('y')")?;
/// let snapshot = Snapshot::begin(&connection)?;
/// let root = connection.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 't'", [], |row| row.get(0))?;
/// let scan = TableScan::new(&snapshot, root, "t")?;
/// let mut chunk = RecordChunk::new();
/// scan.next_part()?.expect("a part").fill(&mut chunk)?;
/// assert_eq!((chunk.rowids(), chunk.record(1)), (&[1, 2][..], &b"\x02\x0fy"[..]));
/// drop(scan);
/// connection.execute_batch("COMMIT")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone is another handle of the same snapshot. Scans and readers have one.
#[derive(Clone, Debug)]
pub struct Snapshot(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    header: DatabaseHeader,
    page_count: u32,
    /// Pages that are in the write-ahead log; `None` if all are in the file.
    wal: Option<WalFrames>,
    /// Connections that no reader uses.
    connections: Mutex<Vec<Connection>>,
}

impl Snapshot {
    /// Begins a read transaction on `connection`, which must have none open, and captures its snapshot.
    ///
    /// REQUIRES: the transaction lasts as long as pages are read, and nothing is written through the connection.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if SQLite can read the database, but litepress cannot read the pages itself: the database is in
    /// memory, uses another VFS, or its wal-index cannot be mapped. The transaction is rolled back.
    pub fn begin(connection: &Connection) -> Result<Self> {
        let begun = Self::begin_transaction(connection).and_then(|state| Self::look(connection, state));
        if begun.is_err() {
            // The error that matters is the first one.
            let _ = connection.execute_batch("ROLLBACK");
        }
        begun.map_err(|error| in_database(error, connection))
    }

    /// Captures the snapshot of the write transaction that `connection` holds. It must not have written yet.
    ///
    /// REQUIRES: the transaction lasts as long as pages are read, and no page that is read later is changed through it.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), but the transaction stays open.
    pub fn of_write_transaction(connection: &Connection) -> Result<Self> {
        let look = || {
            check_file(connection)?;
            let state = match is_in_wal_mode(connection)? {
                // The write lock keeps the wal-index as it is.
                true => {
                    let state = WalState::read(&FilePointer::of_database(connection)?).map_err(unmapped)?;
                    Some(state.ok_or_else(|| unmapped(io::ErrorKind::ResourceBusy.into()))?)
                }
                false => None,
            };
            Self::look(connection, state)
        };
        look().map_err(|error| in_database(error, connection))
    }

    /// Captures the snapshot of a connection that opened the file as immutable: it locks nothing and reads no log.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), but the transaction stays open.
    pub(crate) fn of_immutable(connection: &Connection) -> Result<Self> {
        check_file(connection)?;
        Self::look(connection, None)
    }

    /// Begins a read transaction whose state of the log is known. Returns the state; `None` outside WAL mode.
    fn begin_transaction(connection: &Connection) -> Result<Option<WalState>> {
        check_file(connection)?;
        let mut before: Option<WalState> = None;
        for _ in 0..ATTEMPTS {
            connection.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1").map_err(failed)?;
            if !is_in_wal_mode(connection)? {
                return Ok(None);
            }
            // The transaction began between the two looks. Without a commit between them, it sees what both say.
            let after = WalState::read(&FilePointer::of_database(connection)?).map_err(unmapped)?;
            match (before, after) {
                (Some(before), Some(after)) if before.is_same_commit(&after) => return Ok(Some(after)),
                _ => before = after,
            }
            connection.execute_batch("ROLLBACK").map_err(failed)?;
        }
        let message = "others commit to the database without a pause, so its pages cannot be read from one moment";
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    fn look(connection: &Connection, state: Option<WalState>) -> Result<Self> {
        let path = file_pointer::database_path(connection).ok_or_else(not_a_file)?;
        let number =
            |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0)).map_err(failed);
        let (page_count, page_bytes) = (number("page_count")?, number("page_size")?);
        let page_size = PageSize::new(page_bytes)
            .ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("its page size is {page_bytes}")).in_file(&path))?;
        let wal = match state.filter(|state| !state.is_backfilled()) {
            Some(state) => Some(WalFrames::find(&path, page_size.bytes(), &state)?),
            None => None,
        };
        let header = DatabaseHeader::new(page_size);
        let mut shared = Shared { path, header, page_count, wal, connections: Mutex::default() };
        if page_count > 0 {
            // With what is known, page 1 can be read.
            let known = Self(Arc::new(shared));
            let mut page = Vec::new();
            known.reader()?.read(1, &mut page)?;
            shared = Arc::into_inner(known.0).expect("the reader is gone");
            let header = DatabaseHeader::decode(&page[..FILE_HEADER_LEN]).ok().filter(|it| it.page_size == page_size);
            shared.header = header.ok_or_else(|| {
                let message = "the header of the database breaks a rule of the file format";
                Error::new(ErrorKind::Unsupported, message).in_file(&shared.path)
            })?;
        }
        Ok(Self(Arc::new(shared)))
    }

    /// Returns the path of the database file, absolute.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the header. For an empty file, this is the header of a new database.
    pub fn header(&self) -> &DatabaseHeader {
        &self.0.header
    }

    /// Returns the size of a page.
    pub fn page_size(&self) -> PageSize {
        self.0.header.page_size
    }

    /// Returns the bytes of a page without the reserved ones at its end.
    pub fn usable(&self) -> usize {
        self.0.header.usable()
    }

    /// Returns the number of pages.
    pub fn page_count(&self) -> u32 {
        self.0.page_count
    }

    /// Returns the encoding of all texts.
    pub fn encoding(&self) -> TextEncoding {
        self.0.header.text_encoding
    }

    /// Returns whether some pages are in the write-ahead log and not yet in the file.
    pub fn reads_wal(&self) -> bool {
        self.0.wal.is_some()
    }

    /// Returns a reader for one thread.
    ///
    /// # Errors
    /// If SQLite cannot open the file.
    pub fn reader(&self) -> Result<PageReader> {
        let kept = lock(&self.0.connections).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => self.connect()?,
        };
        Ok(PageReader { snapshot: self.clone(), connection: Some(connection) })
    }

    /// Closes the connections that no reader uses: afterwards nothing has the file open if no reader is left.
    pub fn close_idle(&self) {
        lock(&self.0.connections).clear();
    }

    /// Opens a connection that begins no transaction.
    fn connect(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(&self.0.path, flags).map_err(|error| failed(error).in_file(&self.0.path))
    }

    /// Returns whether the page exists and may hold data: the lock-byte page never does.
    pub(crate) fn has(&self, page: u32) -> bool {
        (1..=self.0.page_count).contains(&page) && page != self.page_size().lock_byte_page()
    }

    /// Returns an error about a page of a table or an index.
    pub(crate) fn corrupt(&self, name: &str, page: u32, what: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::Corrupt, format!("page {page}: {what}"))
            .in_file(&self.0.path)
            .in_table(name)
            .advise("find out more with: litepress check; sqlite3's .recover saves what can be read")
    }
}

/// A reader of pages, for one thread. Its connection is kept for the next reader when it is dropped.
#[derive(Debug)]
pub struct PageReader {
    snapshot: Snapshot,
    /// `None` while it is dropped.
    connection: Option<Connection>,
}

impl PageReader {
    /// Reads a page to `buffer`, whose content it replaces.
    ///
    /// # Errors
    /// If the database has no such page, or it cannot be read.
    pub fn read(&mut self, page: u32, buffer: &mut Vec<u8>) -> Result<()> {
        self.read_run(page, 1, buffer)
    }

    /// Reads `count` pages from `first` on to `buffer`, whose content it replaces.
    ///
    /// # Errors
    /// If the database does not have all of them, or they cannot be read.
    pub fn read_run(&mut self, first: u32, count: u32, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.resize(count as usize * self.snapshot.page_size().bytes(), 0);
        self.read_to(first, buffer)
    }

    /// Fills a slice of whole pages with those from `first` on.
    pub(crate) fn read_to(&mut self, first: u32, bytes: &mut [u8]) -> Result<()> {
        let Shared { path, page_count, wal, .. } = &*self.snapshot.0;
        let page_bytes = self.snapshot.page_size().bytes();
        let end = u64::from(first) + (bytes.len() / page_bytes) as u64;
        if first == 0 || end > u64::from(*page_count) + 1 {
            let message =
                format!("pages {first} to {} are not in the database, which has {page_count}", end.max(1) - 1);
            return Err(Error::new(ErrorKind::Corrupt, message).in_file(path));
        }
        let (mut page, mut rest) = (first, bytes);
        while !rest.is_empty() {
            let last = page + u32::try_from(rest.len() / page_bytes).expect("at most all pages") - 1;
            let next = wal.as_ref().and_then(|wal| wal.next(page, last));
            let in_file = next.map_or(last + 1, |(in_wal, _)| in_wal) - page;
            let (from_file, behind) = rest.split_at_mut(in_file as usize * page_bytes);
            self.read_file(page, from_file)?;
            (page, rest) = (page + in_file, behind);
            if let (Some((_, frame)), Some(wal)) = (next, wal) {
                let (from_wal, behind) = rest.split_at_mut(page_bytes);
                wal.read(frame, from_wal)?;
                (page, rest) = (page + 1, behind);
            }
        }
        Ok(())
    }

    /// Reads consecutive pages from the file.
    fn read_file(&self, first: u32, bytes: &mut [u8]) -> Result<()> {
        let connection = self.connection.as_ref().expect("there until it is dropped");
        let start = u64::from(first - 1) * self.snapshot.page_size().bytes() as u64;
        FilePointer::of_database(connection)?.read(bytes, start).map_err(|error| self.unread(error, start))
    }

    fn unread(&self, error: io::Error, offset: u64) -> Error {
        let path = &self.snapshot.0.path;
        if error.kind() == io::ErrorKind::UnexpectedEof {
            let message = format!("the file ends before the {} pages that it should have", self.snapshot.0.page_count);
            return Error::new(ErrorKind::Corrupt, message).in_file(path).advise(
                "the file was cut off: take it from a backup, or save what can be read with sqlite3's .recover",
            );
        }
        let message = format!("cannot read the database at or after byte {offset}: {error}");
        Error::new(ErrorKind::Io, message).in_file(path).caused_by(error)
    }
}

impl Drop for PageReader {
    fn drop(&mut self) {
        lock(&self.snapshot.0.connections).extend(self.connection.take());
    }
}

/// Names the database in an error that names no file.
fn in_database(error: Error, connection: &Connection) -> Error {
    match file_pointer::database_path(connection) {
        Some(path) if error.place().file.is_none() => error.in_file(path),
        _ => error,
    }
}

/// Checks that the main database is a file that another connection can open, too.
fn check_file(connection: &Connection) -> Result<()> {
    let path = file_pointer::database_path(connection).ok_or_else(not_a_file)?;
    if !file_pointer::has_default_vfs(connection) {
        let message =
            "the database was opened by a VFS of its own, so that the pages of the file need not be its pages";
        return Err(Error::new(ErrorKind::Unsupported, message).in_file(path));
    }
    Ok(())
}

/// Returns whether the connection, which is in a transaction, reads the database in WAL mode.
fn is_in_wal_mode(connection: &Connection) -> Result<bool> {
    let word =
        |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, String>(0)).map_err(failed);
    if word("journal_mode")? != "wal" {
        return Ok(false);
    }
    if word("locking_mode")? != "normal" {
        let message = "the connection is in exclusive locking mode, so that it may keep the wal-index to itself";
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    Ok(true)
}

fn not_a_file() -> Error {
    Error::new(ErrorKind::Unsupported, "the database is not a file")
}

fn unmapped(error: io::Error) -> Error {
    let message = format!("the wal-index (the file with -shm behind its name) cannot be mapped: {error}");
    Error::new(ErrorKind::Unsupported, message).caused_by(error)
}

/// The message about a journal that a program left behind.
pub(crate) const HOT_JOURNAL: &str =
    "a program died while it wrote to the database, and its journal must be rolled back first";

fn failed(error: rusqlite::Error) -> Error {
    if error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_READONLY_ROLLBACK) {
        let advice = "open it once with sqlite3, which does that; then try again";
        return Error::new(ErrorKind::Data, HOT_JOURNAL).advise(advice).caused_by(error);
    }
    Error::new(ErrorKind::Io, format!("the database cannot be read: {error}")).caused_by(error)
}
