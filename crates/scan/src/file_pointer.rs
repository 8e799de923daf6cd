//! SQLite's own handles of a database file and of its journal.
//!
//! litepress never opens a database that may be in use with a handle of its own: the first handle that is closed gives up
//! all POSIX locks of the process on that file (sqlite.org/howtocorrupt.html, 2.2).
#![expect(unsafe_code, reason = "SQLite hands out its file handles only through its C interface")]

use litepress_rows::files::path_of_bytes;
use litepress_rows::{Error, ErrorKind, Result};
use rusqlite::{Connection, ffi};
use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::path::PathBuf;
use std::ptr::{self, NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The most bytes that one call of the VFS takes. That of unix cuts off what exceeds 131,071, without a word.
const CALL_BYTES: usize = 1 << 16;
/// The lock of the wal-index that a checkpoint takes.
const CHECKPOINT_LOCK: c_int = 1;
/// Bytes of the first region of the wal-index.
const REGION_BYTES: c_int = 32768;
/// Words of one copy of the header of the wal-index.
pub(crate) const HEADER_WORDS: usize = 12;
/// Words of the wal-index before its read marks: two copies of the header, and the number of backfilled frames.
const INDEX_WORDS: usize = 2 * HEADER_WORDS + 1;

/// A file handle that belongs to a connection.
///
/// REQUIRES: the connection stays open while the handle is used, and does nothing at the same time.
#[derive(Debug)]
pub struct FilePointer {
    file: NonNull<ffi::sqlite3_file>,
}

// SAFETY: SQLite's file handles are bound to no thread. A connection without a mutex is used by one thread at a time, and
// so is this handle: its methods that write take it exclusively, or behind a mutex.
unsafe impl Send for FilePointer {}

/// Returns the path of the main database as SQLite opened it. Returns `None` if it is in memory or temporary.
pub(crate) fn database_path(connection: &Connection) -> Option<PathBuf> {
    // SAFETY: the connection is open as long as it is borrowed.
    let handle = unsafe { connection.handle() };
    // SAFETY: the handle is open, and the name ends with a NUL.
    let name = unsafe { ffi::sqlite3_db_filename(handle, c"main".as_ptr()) };
    if name.is_null() {
        return None;
    }
    // SAFETY: SQLite returns a C string that lives as long as the connection, and it is copied at once.
    let name = unsafe { CStr::from_ptr(name) };
    if name.is_empty() { None } else { path_of_bytes(name.to_bytes()) }
}

/// Returns whether the file was opened by the VFS that SQLite takes by default.
pub(crate) fn has_default_vfs(connection: &Connection) -> bool {
    let mut vfs: *mut ffi::sqlite3_vfs = null_mut();
    let found = control(connection, ffi::SQLITE_FCNTL_VFS_POINTER, (&raw mut vfs).cast());
    // SAFETY: a null pointer asks for the default VFS.
    let default = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    found.is_some() && !vfs.is_null() && vfs == default
}

/// Makes a connection forget the pages in its cache. REQUIRES: it has no transaction.
pub fn forget_pages(connection: &Connection) {
    // It fails only in a transaction.
    let _ = control(connection, ffi::SQLITE_FCNTL_RESET_CACHE, null_mut());
}

/// Returns the name of the connection's VFS.
pub fn vfs_name(connection: &Connection) -> Option<String> {
    let mut name: *mut std::ffi::c_char = null_mut();
    control(connection, ffi::SQLITE_FCNTL_VFSNAME, (&raw mut name).cast())?;
    let name = NonNull::new(name)?;
    // SAFETY: SQLite returned a string that ends with zero.
    let text = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: the caller of this file control frees the string.
    unsafe { ffi::sqlite3_free(name.as_ptr().cast()) };
    Some(text)
}

/// Calls a file control of the main database. Returns `None` if it fails.
fn control(connection: &Connection, operation: c_int, argument: *mut c_void) -> Option<()> {
    // SAFETY: the handle is used while the connection is borrowed, and is not closed.
    let handle = unsafe { connection.handle() };
    // SAFETY: `argument` points to what the operation writes: a pointer.
    let code = unsafe { ffi::sqlite3_file_control(handle, c"main".as_ptr(), operation, argument) };
    (code == ffi::SQLITE_OK).then_some(())
}

impl FilePointer {
    /// Returns the handle of the database file.
    pub fn of_database(connection: &Connection) -> Result<Self> {
        Self::get(connection, ffi::SQLITE_FCNTL_FILE_POINTER)
            .ok_or_else(|| Error::new(ErrorKind::Io, "SQLite does not hand out its file handle"))
    }

    /// Returns the handle of the WAL, or of the rollback journal. `None` if it is not open.
    pub fn of_journal(connection: &Connection) -> Option<Self> {
        Self::get(connection, ffi::SQLITE_FCNTL_JOURNAL_POINTER)
    }

    fn get(connection: &Connection, operation: c_int) -> Option<Self> {
        let mut file: *mut ffi::sqlite3_file = null_mut();
        control(connection, operation, (&raw mut file).cast())?;
        let pointer = Self { file: NonNull::new(file)? };
        // A file that is not open has no methods.
        pointer.methods().is_some().then_some(pointer)
    }

    fn methods(&self) -> Option<&ffi::sqlite3_io_methods> {
        // SAFETY: the connection is open, so its file handle exists.
        let file = unsafe { self.file.as_ref() };
        // SAFETY: the methods of a VFS are constant, or null if the file is closed.
        unsafe { file.pMethods.as_ref() }
    }

    /// Calls `method` of the file with its handle.
    fn call<M>(
        &self,
        method: impl FnOnce(&ffi::sqlite3_io_methods) -> Option<M>,
        run: impl FnOnce(M, *mut ffi::sqlite3_file) -> c_int,
    ) -> io::Result<()> {
        let method = self.methods().and_then(method).ok_or(io::ErrorKind::Unsupported)?;
        match run(method, self.file.as_ptr()) {
            ffi::SQLITE_OK => Ok(()),
            ffi::SQLITE_BUSY => Err(io::ErrorKind::ResourceBusy.into()),
            ffi::SQLITE_FULL => Err(io::ErrorKind::StorageFull.into()),
            ffi::SQLITE_IOERR_SHORT_READ => Err(io::ErrorKind::UnexpectedEof.into()),
            code => Err(io::Error::other(ffi::code_to_str(code))),
        }
    }

    /// Writes all of `bytes` at byte `offset`.
    pub fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        for (piece, at) in bytes.chunks(CALL_BYTES).zip((offset..).step_by(CALL_BYTES)) {
            let (len, at) = (call_len(piece.len()), file_offset(at)?);
            self.call(
                |methods| methods.xWrite,
                // SAFETY: `piece` has `len` bytes.
                |write, file| unsafe { write(file, piece.as_ptr().cast(), len, at) },
            )?;
        }
        Ok(())
    }

    /// Reads all of `bytes` at byte `offset`.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        for (piece, at) in bytes.chunks_mut(CALL_BYTES).zip((offset..).step_by(CALL_BYTES)) {
            let (len, at) = (call_len(piece.len()), file_offset(at)?);
            self.call(
                |methods| methods.xRead,
                // SAFETY: `piece` has `len` bytes.
                |read, file| unsafe { read(file, piece.as_mut_ptr().cast(), len, at) },
            )?;
        }
        Ok(())
    }

    /// Returns the length of the file in bytes.
    pub fn size(&self) -> io::Result<u64> {
        let mut len = 0;
        self.call(
            |methods| methods.xFileSize,
            // SAFETY: the size is written to `len`.
            |size, file| unsafe { size(file, &raw mut len) },
        )?;
        Ok(len.cast_unsigned())
    }

    /// Cuts the file off at `len` bytes.
    pub fn truncate(&mut self, len: u64) -> io::Result<()> {
        let len = file_offset(len)?;
        self.call(
            |methods| methods.xTruncate,
            // SAFETY: the handle is open.
            |truncate, file| unsafe { truncate(file, len) },
        )
    }

    /// Returns once everything written survives a power cut.
    pub fn sync(&mut self) -> io::Result<()> {
        self.call(
            |methods| methods.xSync,
            // SAFETY: the handle is open.
            |sync, file| unsafe { sync(file, ffi::SQLITE_SYNC_NORMAL) },
        )
    }

    /// Keeps checkpoints from running until [`unlock_checkpoints`](Self::unlock_checkpoints). Waits up to `timeout` for one
    /// that runs. REQUIRES: the connection has read from a database in WAL mode.
    pub fn lock_checkpoints(&mut self, timeout: Duration) -> io::Result<()> {
        let end = Instant::now() + timeout;
        loop {
            match self.checkpoint_lock(ffi::SQLITE_SHM_LOCK) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < end => {
                    std::thread::sleep(Duration::from_micros(200));
                }
                done => return done,
            }
        }
    }

    /// Lets checkpoints run again.
    pub fn unlock_checkpoints(&mut self) -> io::Result<()> {
        self.checkpoint_lock(ffi::SQLITE_SHM_UNLOCK)
    }

    fn checkpoint_lock(&mut self, flag: c_int) -> io::Result<()> {
        self.call(
            |methods| if methods.iVersion >= 2 { methods.xShmLock } else { None },
            // SAFETY: the handle is open, and its connection has mapped the wal-index.
            |lock, file| unsafe { lock(file, CHECKPOINT_LOCK, 1, flag | ffi::SQLITE_SHM_EXCLUSIVE) },
        )
    }

    /// Returns the first words of the wal-index, in the machine's byte order. Returns `None` if it is not mapped.
    ///
    /// REQUIRES: the connection reads the database in WAL mode. Otherwise a `-shm` file would be made.
    pub(crate) fn wal_index(&self) -> io::Result<Option<[u32; INDEX_WORDS]>> {
        let mut region: *mut c_void = null_mut();
        self.call(
            |methods| if methods.iVersion >= 2 { methods.xShmMap } else { None },
            // SAFETY: the address of the region is written to `region`. A region that does not exist is not made.
            |map, file| match unsafe { map(file, 0, REGION_BYTES, 0, &raw mut region) } {
                // A connection that cannot write maps it for reading, and says so.
                ffi::SQLITE_READONLY => ffi::SQLITE_OK,
                code => code,
            },
        )?;
        let Some(region) = NonNull::new(region.cast::<u32>()) else { return Ok(None) };
        let mut words = [0; INDEX_WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            // The writer changes the second copy of the header first, the reader reads the first copy first.
            if at == HEADER_WORDS || at == 2 * HEADER_WORDS {
                self.barrier()?;
            }
            // SAFETY: the words are within the region.
            let place = unsafe { region.add(at) };
            // SAFETY: the region starts a page of memory and stays mapped as long as the connection; every process that writes
            // to it writes whole words.
            *word = unsafe { AtomicU32::from_ptr(place.as_ptr()) }.load(Ordering::Acquire);
        }
        Ok(Some(words))
    }

    fn barrier(&self) -> io::Result<()> {
        self.call(
            |methods| if methods.iVersion >= 2 { methods.xShmBarrier } else { None },
            |barrier, file| {
                // SAFETY: the handle is open.
                unsafe { barrier(file) };
                ffi::SQLITE_OK
            },
        )
    }
}

fn call_len(len: usize) -> c_int {
    c_int::try_from(len).expect("a piece has 64 KiB at most")
}

fn file_offset(offset: u64) -> io::Result<i64> {
    i64::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}
