//! A folder, and connections that have loaded the extension.

use rusqlite::types::Value;
use rusqlite::{Connection, Params, ffi};
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use tempfile::TempDir;

/// Returns the built library.
pub fn library() -> PathBuf {
    std::env::current_exe().expect("a program").with_file_name("liblitepress_extension.so")
}

/// A folder with files.
pub struct Room {
    folder: TempDir,
}

impl Room {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).expect("a file");
        self.path(name)
    }

    /// Returns the names of all files.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

/// Opens a database in memory.
pub fn memory() -> Connection {
    extended(Connection::open_in_memory().expect("a database"))
}

/// Loads the extension.
pub fn extended(sqlite: Connection) -> Connection {
    let path = CString::new(library().to_str().expect("UTF-8")).expect("no NUL");
    let mut message = std::ptr::null_mut();
    // SAFETY: the connection is open.
    let handle = unsafe { sqlite.handle() };
    // SAFETY: as above.
    unsafe { ffi::sqlite3_enable_load_extension(handle, 1) };
    // SAFETY: as above; the path ends with a NUL.
    let code = unsafe { ffi::sqlite3_load_extension(handle, path.as_ptr(), std::ptr::null(), &raw mut message) };
    if code != ffi::SQLITE_OK {
        // SAFETY: SQLite leaves a message that ends with a NUL.
        let message = unsafe { CStr::from_ptr(message) };
        panic!("{}", message.to_string_lossy());
    }
    sqlite
}

/// Returns all rows of a query, values in SQL's spelling.
pub fn rows(sqlite: &Connection, sql: &str) -> Vec<String> {
    rows_of(sqlite, sql, [])
}

/// Does the same with parameters.
pub fn rows_of(sqlite: &Connection, sql: &str, parameters: impl Params) -> Vec<String> {
    try_rows(sqlite, sql, parameters).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

pub fn try_rows(sqlite: &Connection, sql: &str, parameters: impl Params) -> rusqlite::Result<Vec<String>> {
    let mut query = sqlite.prepare(sql)?;
    let columns = query.column_count();
    let spelled = |value: Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(int) => int.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) => format!("'{text}'"),
        Value::Blob(blob) => format!("x{blob:02x?}"),
    };
    let rows = query.query_map(parameters, |row| {
        let values = (0..columns).map(|column| Ok(spelled(row.get(column)?)));
        Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
    })?;
    rows.collect()
}

/// Returns the message of a query that fails.
pub fn failure(sqlite: &Connection, sql: &str) -> String {
    try_rows(sqlite, sql, []).expect_err(sql).to_string()
}
