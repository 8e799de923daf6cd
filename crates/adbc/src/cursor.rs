//! A statement of SQLite whose rows are read bit by bit, while other statements of its connection run.
//!
//! `rusqlite::Statement` borrows its connection, so that none can be kept in an Arrow stream. **All `unsafe` of the driver is
//! in this file**, but for what `adbc_ffi` exports. The invariants: the statement is used under the lock of its connection, and is
//! finalized before the connection can be closed, because the cursor owns a share of it.

use crate::error::{Result, failed, of_code};
use crate::sqlite::Sqlite;
use adbc_core::error::Status;
use rusqlite::ffi;
use rusqlite::types::ValueRef;
use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::Arc;

/// A prepared statement.
pub struct Cursor {
    statement: *mut ffi::sqlite3_stmt,
    sqlite: Arc<Sqlite>,
    /// It has rows that were not read.
    is_open: bool,
}

// SAFETY: SQLite is built for threads, and every use of the statement holds the lock of its connection.
unsafe impl Send for Cursor {}

/// SQLITE_UTF8, in the type that binding wants.
const UTF8: std::ffi::c_uchar = 1;

fn count(number: c_int) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// Returns a position for SQLite. There are less than 2^15 columns and parameters.
fn position(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

/// Copies a text of SQLite.
///
/// # Safety
/// NULL, or a text that ends with a NUL.
unsafe fn copied(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Compiles the first statement of a text. Returns what follows it.
fn compiled(sqlite: &Sqlite, sql: &str) -> Result<(*mut ffi::sqlite3_stmt, usize)> {
    let connection = sqlite.lock();
    // SAFETY: the connection lives as long as the lock, and is not closed through the handle.
    let handle = unsafe { connection.handle() };
    let (mut statement, mut tail) = (ptr::null_mut(), ptr::null());
    let too_long = |_| failed(Status::InvalidArguments, "the query is longer than 2 GiB");
    let length = c_int::try_from(sql.len()).map_err(too_long)?;
    let text = sql.as_ptr().cast::<c_char>();
    // SAFETY: the text has this length, and the results are places on the stack.
    let code = unsafe { ffi::sqlite3_prepare_v2(handle, text, length, &raw mut statement, &raw mut tail) };
    if code != ffi::SQLITE_OK {
        // SAFETY: the lock is held since the call that failed.
        let message = unsafe { ffi::sqlite3_errmsg(handle) };
        // SAFETY: the message lives until the next call.
        let message = unsafe { copied(message) };
        let message = format!("{}\nquery: {sql}", message.unwrap_or_default());
        return Err(of_code(code, &message));
    }
    Ok((statement, (tail as usize).saturating_sub(text as usize)))
}

impl Cursor {
    /// Prepares the one statement of a text.
    pub fn prepare(sqlite: &Arc<Sqlite>, sql: &str) -> Result<Self> {
        let (statement, end) = compiled(sqlite, sql)?;
        let cursor = Self { statement, sqlite: sqlite.clone(), is_open: false };
        if statement.is_null() {
            return Err(failed(Status::InvalidArguments, "the query is empty"));
        }
        // A second statement may need what the first one makes, so its errors count as a statement, too.
        let rest = sql.get(end..).unwrap_or_default();
        let next =
            compiled(sqlite, rest).map(|(statement, _)| Self { statement, sqlite: sqlite.clone(), is_open: false });
        if next.is_err() || next.is_ok_and(|next| !next.statement.is_null()) {
            let message =
                format!("the query has more than one statement: run them one by one\nbehind the first: {rest}");
            return Err(failed(Status::InvalidArguments, message));
        }
        Ok(cursor)
    }

    /// Returns the connection.
    pub fn sqlite(&self) -> &Arc<Sqlite> {
        &self.sqlite
    }

    /// Returns the number of parameters.
    pub fn parameters(&self) -> usize {
        let _lock = self.sqlite.lock();
        // SAFETY: the statement is prepared, and the lock held.
        count(unsafe { ffi::sqlite3_bind_parameter_count(self.statement) })
    }

    /// Returns the name of a parameter with its prefix: `:a`, `?3`. Parameters are counted from 1.
    pub fn parameter_name(&self, parameter: usize) -> Option<String> {
        let _lock = self.sqlite.lock();
        // SAFETY: the statement is prepared, and the lock held.
        let name = unsafe { ffi::sqlite3_bind_parameter_name(self.statement, position(parameter)) };
        // SAFETY: the name lives as long as the statement.
        unsafe { copied(name) }
    }

    /// Returns the number of columns: none, if the statement has no result.
    pub fn columns(&self) -> usize {
        let _lock = self.sqlite.lock();
        // SAFETY: the statement is prepared, and the lock held.
        count(unsafe { ffi::sqlite3_column_count(self.statement) })
    }

    /// Returns whether the statement changes nothing.
    pub fn is_readonly(&self) -> bool {
        let _lock = self.sqlite.lock();
        // SAFETY: the statement is prepared, and the lock held.
        unsafe { ffi::sqlite3_stmt_readonly(self.statement) != 0 }
    }

    /// Returns the name of a column.
    pub fn column_name(&self, column: usize) -> String {
        let _lock = self.sqlite.lock();
        // SAFETY: the statement is prepared, and the lock held.
        let name = unsafe { ffi::sqlite3_column_name(self.statement, position(column)) };
        // SAFETY: the name lives until the statement is compiled again.
        unsafe { copied(name) }.unwrap_or_default()
    }

    /// Returns the declared type of the column of a table that a column of the result is.
    pub fn declared_type(&self, column: usize) -> Option<String> {
        let _lock = self.sqlite.lock();
        // SAFETY: the statement is prepared, and the lock held.
        let declared = unsafe { ffi::sqlite3_column_decltype(self.statement, position(column)) };
        // SAFETY: as for the name.
        unsafe { copied(declared) }
    }

    /// Sets a parameter, counted from 1. The statement must be new, or behind its last row.
    pub fn bind(&mut self, parameter: usize, value: ValueRef<'_>) -> Result<()> {
        let _lock = self.sqlite.lock();
        let (statement, at) = (self.statement, position(parameter));
        let code = match value {
            // SAFETY: the statement is prepared, and the lock held.
            ValueRef::Null => unsafe { ffi::sqlite3_bind_null(statement, at) },
            // SAFETY: as above.
            ValueRef::Integer(int) => unsafe { ffi::sqlite3_bind_int64(statement, at, int) },
            // SAFETY: as above.
            ValueRef::Real(real) => unsafe { ffi::sqlite3_bind_double(statement, at, real) },
            ValueRef::Text(text) => {
                let (bytes, copy, encoding) = (text.as_ptr().cast(), ffi::SQLITE_TRANSIENT(), UTF8);
                // SAFETY: as above; SQLite copies the text.
                unsafe { ffi::sqlite3_bind_text64(statement, at, bytes, text.len() as u64, copy, encoding) }
            }
            // SAFETY: as above.
            ValueRef::Blob([]) => unsafe { ffi::sqlite3_bind_zeroblob(statement, at, 0) },
            ValueRef::Blob(blob) => {
                let (bytes, copy) = (blob.as_ptr().cast(), ffi::SQLITE_TRANSIENT());
                // SAFETY: as above; SQLite copies the bytes.
                unsafe { ffi::sqlite3_bind_blob64(statement, at, bytes, blob.len() as u64, copy) }
            }
        };
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.failure(code)) }
    }

    /// Goes on to the next row, and passes it to `look`. Returns `false` behind the last one.
    pub fn step(&mut self, look: &mut dyn FnMut(&Row) -> Result<()>) -> Result<bool> {
        let sqlite = self.sqlite.clone();
        let _lock = sqlite.lock();
        self.note(true);
        // SAFETY: the statement is prepared, and the lock held.
        match unsafe { ffi::sqlite3_step(self.statement) } {
            ffi::SQLITE_ROW => look(&Row { statement: self.statement }).map(|()| true),
            ffi::SQLITE_DONE => {
                // Its locks end with it.
                self.reset();
                Ok(false)
            }
            code => {
                let error = self.failure(code);
                self.reset();
                Err(error)
            }
        }
    }

    /// Resets the statement. REQUIRES: the lock is held.
    fn reset(&mut self) {
        // SAFETY: the statement is prepared, or NULL, which has no effect. Its error was reported before.
        unsafe { ffi::sqlite3_reset(self.statement) };
        self.note(false);
    }

    fn note(&mut self, is_open: bool) {
        if std::mem::replace(&mut self.is_open, is_open) != is_open {
            self.sqlite.note_result(is_open);
        }
    }

    /// Returns the error of the last call. REQUIRES: the lock is held.
    fn failure(&self, code: c_int) -> adbc_core::error::Error {
        // SAFETY: the statement is prepared.
        let handle = unsafe { ffi::sqlite3_db_handle(self.statement) };
        // SAFETY: the lock is held since the call that failed.
        let message = unsafe { ffi::sqlite3_errmsg(handle) };
        // SAFETY: the message lives until the next call.
        let message = unsafe { copied(message) };
        // SAFETY: as above.
        let extended = unsafe { ffi::sqlite3_extended_errcode(handle) };
        of_code(if extended & 0xff == code & 0xff { extended } else { code }, &message.unwrap_or_default())
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let sqlite = self.sqlite.clone();
        if sqlite.is_forked() {
            // The end of the statement, or of the connection, would write to files of the other process.
            std::mem::forget(sqlite);
            return;
        }
        let _lock = sqlite.lock();
        self.note(false);
        // SAFETY: this is the last use of the statement, and the lock is held.
        unsafe { ffi::sqlite3_finalize(self.statement) };
    }
}

/// The row at which a statement stands.
pub struct Row {
    statement: *mut ffi::sqlite3_stmt,
}

impl Row {
    /// Returns the value of a column.
    pub fn value(&self, column: usize) -> ValueRef<'_> {
        let (statement, at) = (self.statement, position(column));
        // SAFETY: the statement stands at a row, and the lock is held as long as the row lives.
        match unsafe { ffi::sqlite3_column_type(statement, at) } {
            // SAFETY: as above.
            ffi::SQLITE_INTEGER => ValueRef::Integer(unsafe { ffi::sqlite3_column_int64(statement, at) }),
            // SAFETY: as above.
            ffi::SQLITE_FLOAT => ValueRef::Real(unsafe { ffi::sqlite3_column_double(statement, at) }),
            // SAFETY: as above.
            ffi::SQLITE_TEXT => ValueRef::Text(self.bytes(unsafe { ffi::sqlite3_column_text(statement, at) }, at)),
            // SAFETY: as above.
            ffi::SQLITE_BLOB => {
                // SAFETY: as above.
                let blob = unsafe { ffi::sqlite3_column_blob(statement, at) };
                ValueRef::Blob(self.bytes(blob.cast(), at))
            }
            _ => ValueRef::Null,
        }
    }

    fn bytes(&self, start: *const u8, at: c_int) -> &[u8] {
        // SAFETY: as for the value, which was asked for as text or blob before.
        let length = count(unsafe { ffi::sqlite3_column_bytes(self.statement, at) });
        if start.is_null() {
            return &[];
        }
        // SAFETY: the bytes live until the statement goes on, which the borrow of the row prevents.
        unsafe { std::slice::from_raw_parts(start, length) }
    }
}
