//! Calls SQLite's own handle of a database file: reads its bytes, and the header of the wal-index.
#![expect(unsafe_code, reason = "SQLite's file handles exist in its C interface alone")]

use rusqlite::{Connection, ffi};
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a region of the wal-index.
const REGION_BYTES: c_int = 32768;
/// Words of the wal-index before its read marks: two copies of the header, and the number of backfilled frames.
const INDEX_WORDS: usize = 25;

/// The result code of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultCode(pub c_int);

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
    (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// Returns whether the file was opened by the VFS that SQLite takes by default.
pub(crate) fn has_default_vfs(connection: &Connection) -> bool {
    let mut vfs: *mut ffi::sqlite3_vfs = ptr::null_mut();
    let found = control(connection, ffi::SQLITE_FCNTL_VFS_POINTER, (&raw mut vfs).cast());
    // SAFETY: a null pointer asks for the default VFS.
    let default = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    found == ffi::SQLITE_OK && !vfs.is_null() && vfs == default
}

/// Fills `buffer` with the bytes of the database file at `offset`.
///
/// # Errors
/// If they cannot be read, or the file ends before them ([`ffi::SQLITE_IOERR_SHORT_READ`]).
pub(crate) fn read(connection: &Connection, buffer: &mut [u8], offset: u64) -> Result<(), ResultCode> {
    let wrong = ResultCode(ffi::SQLITE_MISUSE);
    let (Ok(amount), Ok(offset)) = (c_int::try_from(buffer.len()), i64::try_from(offset)) else { return Err(wrong) };
    let (file, methods) = main_file(connection)?;
    let read = methods.xRead.ok_or(wrong)?;
    // SAFETY: the file is open as long as its connection, and `buffer` has room for `amount` bytes.
    match unsafe { read(file, buffer.as_mut_ptr().cast(), amount, offset) } {
        ffi::SQLITE_OK => Ok(()),
        code => Err(ResultCode(code)),
    }
}

/// Returns the first words of the wal-index, in the machine's byte order. Returns `None` if it is not mapped.
///
/// REQUIRES: the connection reads the database in WAL mode. Otherwise a `-shm` file would be made.
///
/// # Errors
/// If the wal-index cannot be mapped.
pub(crate) fn wal_index(connection: &Connection) -> Result<Option<[u32; INDEX_WORDS]>, ResultCode> {
    let (file, methods) = main_file(connection)?;
    let (Some(map), Some(barrier)) = (methods.xShmMap, methods.xShmBarrier) else {
        return Err(ResultCode(ffi::SQLITE_MISUSE));
    };
    let mut region: *mut c_void = ptr::null_mut();
    // SAFETY: the file is open as long as its connection. A region that does not exist is not made.
    let code = unsafe { map(file, 0, REGION_BYTES, 0, &raw mut region) };
    // A connection that cannot write maps it for reading, and says so.
    if !matches!(code, ffi::SQLITE_OK | ffi::SQLITE_READONLY) {
        return Err(ResultCode(code));
    }
    if region.is_null() {
        return Ok(None);
    }
    let mut words = [0; INDEX_WORDS];
    for (at, word) in words.iter_mut().enumerate() {
        // The writer changes the second copy of the header first, the reader reads the first copy first.
        if at == HEADER_WORDS || at == 2 * HEADER_WORDS {
            // SAFETY: the file is open as long as its connection.
            unsafe { barrier(file) };
        }
        // SAFETY: the words are within the region.
        let place = unsafe { region.cast::<u32>().add(at) };
        // SAFETY: the region starts a page of memory and stays mapped as long as the connection; every process that writes to it
        // writes whole words.
        *word = unsafe { AtomicU32::from_ptr(place) }.load(Ordering::Acquire);
    }
    Ok(Some(words))
}

/// Words of one copy of the header of the wal-index.
pub(crate) const HEADER_WORDS: usize = 12;

/// Returns the handle of the main database's file, and its methods.
fn main_file(connection: &Connection) -> Result<(*mut ffi::sqlite3_file, &ffi::sqlite3_io_methods), ResultCode> {
    let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
    let code = control(connection, ffi::SQLITE_FCNTL_FILE_POINTER, (&raw mut file).cast());
    if code != ffi::SQLITE_OK || file.is_null() {
        return Err(ResultCode(code));
    }
    // SAFETY: SQLite returned its handle, which lives as long as the connection.
    let methods = unsafe { (*file).pMethods };
    // SAFETY: the methods of an open file are a table that its VFS never frees; those of a closed one are null.
    let methods = unsafe { methods.as_ref() };
    Ok((file, methods.ok_or(ResultCode(ffi::SQLITE_CANTOPEN))?))
}

/// Calls a file control of the main database.
///
/// REQUIRES: `argument` is as the operation wants it.
fn control(connection: &Connection, operation: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: the connection is open as long as it is borrowed.
    let handle = unsafe { connection.handle() };
    // SAFETY: the handle is open, and the callers pass what the operation wants: a pointer to a pointer.
    unsafe { ffi::sqlite3_file_control(handle, c"main".as_ptr(), operation, argument) }
}
