//! Reads the values of a SELECT in place.
//!
//! A C string ends with a NUL, which texts on a page lack: asked for one, SQLite copies the text first. As a blob it is read where
//! it is, in the encoding of the database, be it UTF-8 or not.
#![expect(unsafe_code, reason = "rusqlite reads texts as C strings only; see the head of this file")]

use litepress_format::value::Value;
use rusqlite::{Connection, Error, Result, ffi};
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};
use std::slice;

/// A running SELECT over a small database.
pub(super) struct Select<'c> {
    connection: &'c Connection,
    statement: NonNull<ffi::sqlite3_stmt>,
}

/// The current row of a [`Select`].
#[derive(Clone, Copy)]
pub(super) struct SelectedRow<'s> {
    statement: NonNull<ffi::sqlite3_stmt>,
    select: PhantomData<&'s ()>,
}

impl<'c> Select<'c> {
    /// Prepares a statement.
    ///
    /// REQUIRES: no other thread uses the connection while the rows are read.
    pub fn new(connection: &'c Connection, sql: &str) -> Result<Self> {
        let len = c_int::try_from(sql.len()).map_err(|_| error(connection, ffi::SQLITE_TOOBIG))?;
        let mut statement = null_mut();
        // SAFETY: the handle is used for this call only, while the connection is open.
        let handle = unsafe { connection.handle() };
        // SAFETY: SQLite reads `len` bytes of the text, and writes the statement's pointer.
        let code = unsafe {
            ffi::sqlite3_prepare_v2(handle, sql.as_ptr().cast::<c_char>(), len, &raw mut statement, null_mut())
        };
        match NonNull::new(statement) {
            Some(statement) if code == ffi::SQLITE_OK => Ok(Self { connection, statement }),
            _ => Err(error(connection, code)),
        }
    }

    /// Computes the next row. Returns `None` behind the last.
    pub fn next(&mut self) -> Result<Option<SelectedRow<'_>>> {
        // SAFETY: the statement lives as long as `self`, and the row before is no longer borrowed.
        match unsafe { ffi::sqlite3_step(self.statement.as_ptr()) } {
            ffi::SQLITE_ROW => Ok(Some(SelectedRow { statement: self.statement, select: PhantomData })),
            ffi::SQLITE_DONE => Ok(None),
            code => Err(error(self.connection, code)),
        }
    }
}

impl Drop for Select<'_> {
    fn drop(&mut self) {
        // SAFETY: the statement was prepared, and is used no more. The code repeats the error of the last step.
        unsafe { ffi::sqlite3_finalize(self.statement.as_ptr()) };
    }
}

impl<'s> SelectedRow<'s> {
    /// Returns the value of a column.
    ///
    /// # Errors
    /// If SQLite has no memory for it.
    #[inline]
    pub fn value(self, column: usize) -> Result<Value<'s>> {
        let column = c_int::try_from(column).expect("SQLite has at most 32,767 columns");
        // SAFETY: the statement is at a row. For a column that it lacks, SQLite returns a NULL.
        let value = unsafe { ffi::sqlite3_column_value(self.statement.as_ptr(), column) };
        // SAFETY: one thread uses the connection, so the value is as good as a protected one, here and below.
        Ok(match unsafe { ffi::sqlite3_value_type(value) } {
            // SAFETY: as above.
            ffi::SQLITE_INTEGER => Value::Int(unsafe { ffi::sqlite3_value_int64(value) }),
            // SAFETY: as above.
            ffi::SQLITE_FLOAT => Value::Real(unsafe { ffi::sqlite3_value_double(value) }),
            ffi::SQLITE_TEXT => Value::Text(bytes_of(value)?),
            ffi::SQLITE_BLOB => Value::Blob(bytes_of(value)?),
            _ => Value::Null,
        })
    }
}

/// Returns the bytes of a text or blob in the encoding of the database. They are good until the next step.
fn bytes_of<'s>(value: *mut ffi::sqlite3_value) -> Result<&'s [u8]> {
    // SAFETY: one thread uses the connection. The text counts as a blob from now on.
    let bytes = unsafe { ffi::sqlite3_value_blob(value) };
    // SAFETY: as above. The length of a blob needs no conversion, so the pointer stays good.
    let len = unsafe { ffi::sqlite3_value_bytes(value) };
    match usize::try_from(len) {
        Ok(0) => Ok(&[]),
        // SAFETY: SQLite has this many bytes there until the next step, which needs the borrow of the row to end.
        Ok(len) if !bytes.is_null() => Ok(unsafe { slice::from_raw_parts(bytes.cast::<u8>(), len) }),
        _ => Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOMEM), None)),
    }
}

/// Returns the last error of a connection.
fn error(connection: &Connection, code: c_int) -> Error {
    // SAFETY: the handle is used for this call only, while the connection is open.
    let handle = unsafe { connection.handle() };
    // SAFETY: the connection is open, and this thread alone uses it.
    let message = unsafe { ffi::sqlite3_errmsg(handle) };
    // SAFETY: SQLite's C string stays until its next call.
    let message = unsafe { CStr::from_ptr(message) };
    Error::SqliteFailure(ffi::Error::new(code), Some(message.to_string_lossy().into_owned()))
}
