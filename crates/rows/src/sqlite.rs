//! Opens database files, finds the files beside them, and makes SQLite's statements stop on request.

use crate::files::retry;
use crate::{Error, ErrorKind, Result};
use rusqlite::config::DbConfig;
use rusqlite::ffi::SQLITE_IOERR_SHORT_READ;
use rusqlite::{Connection, OpenFlags, Row, ffi};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of byte code instructions of SQLite between two calls of a [handler](stop_if): a few milliseconds.
const INSTRUCTIONS_PER_CALL: i32 = 100_000;

/// Returns the release of the bundled SQLite.
#[must_use]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Opens a database for reading as an immutable file: nothing is locked or created, and a `-wal` is ignored.
///
/// # Errors
/// If SQLite cannot open the file.
pub fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(immutable_uri(path), flags)
}

/// Returns whether the system let SQLite down, with no memory or a file that cannot be read: the error says nothing about the database.
/// A page that begins in the file and ends behind it does say something.
#[must_use]
pub fn is_let_down(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, OutOfMemory, SystemIoFailure};
    let is_cut_off = error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHORT_READ);
    !is_cut_off && matches!(error.sqlite_error_code(), Some(CannotOpen | OutOfMemory | SystemIoFailure))
}

/// Returns SQLite's own message, without the statement.
pub fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

/// Returns the text of a column, which need not be UTF-8: names may come from programs that wrote Latin-1.
///
/// # Errors
/// If the value is neither a text nor a blob.
pub fn lossy_text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned())
}

/// Returns the statements that make the objects of a database, without SQLite's own tables and those behind virtual tables.
///
/// # Errors
/// If SQLite cannot read the schema.
pub fn schema_statements(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
               AND tbl_name NOT IN (SELECT name FROM temp.pragma_table_list WHERE type = 'shadow' AND schema = 'main')
               ORDER BY rowid";
    without_views(connection, || connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect())
}

/// Fails if two of these trees, each with its name and root page, have the same root. A small file would otherwise be read thousands of
/// times. The root 0 is that of a table without a tree.
///
/// # Errors
/// As SQLite's own error of a damaged database.
pub fn refuse_shared_roots<'n>(trees: impl Iterator<Item = (&'n str, u32)>) -> rusqlite::Result<()> {
    let mut known = HashMap::new();
    for (name, root) in trees.filter(|(_, root)| *root > 0) {
        if let Some(other) = known.insert(root, name) {
            let message = format!("the database is damaged: {other} and {name} have the same root page, {root}");
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(message)));
        }
    }
    Ok(())
}

/// Calls `read`, which has SQLite list tables, while views are off. SQLite compiles all views for such a list, and a view of views of
/// views may stand for millions of tables: a small file would keep it busy for hours.
///
/// # Errors
/// As `read`, and if the connection is closed.
pub fn without_views<T>(sqlite: &Connection, read: impl FnOnce() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let views = DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW;
    let were_on = sqlite.db_config(views)?;
    sqlite.set_db_config(views, false)?;
    let found = read();
    sqlite.set_db_config(views, were_on)?;
    found
}

/// Makes long statements of `connection` end soon after `is_stopped` returns `true`.
///
/// # Errors
/// If the connection is closed.
pub fn stop_if(connection: &mut Connection, is_stopped: impl FnMut() -> bool + Send + 'static) -> rusqlite::Result<()> {
    connection.progress_handler(INSTRUCTIONS_PER_CALL, Some(is_stopped))
}

/// Opens a file. Returns it with its length. Only a regular file is opened: a FIFO would block its reader, and nothing
/// else can hold a database.
///
/// # Errors
/// If the file cannot be opened, or is not a regular file.
pub fn open_file(path: &Path) -> Result<(File, u64)> {
    let bytes = file_bytes(path)?;
    Ok((File::open(path).map_err(|error| Error::io("open the database", path, error))?, bytes))
}

/// Returns the number of bytes of a file that may be a database which this process has open. So it opens nothing: the first handle
/// that is closed ends all locks of the process on the file.
///
/// # Errors
/// If there is no file, or it is not a regular one.
pub fn file_bytes(path: &Path) -> Result<u64> {
    let metadata = std::fs::metadata(path).map_err(|error| Error::io("open the database", path, error))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "this is a folder" } else { "this is not a regular file" };
        return Err(Error::new(ErrorKind::Io, what).in_file(path));
    }
    Ok(metadata.len())
}

/// Returns the path in a form that SQLite takes for a name. Built with URI support, it takes `file:x.db` for a URI.
#[must_use]
pub fn plain_name(path: &Path) -> PathBuf {
    if path.as_os_str().as_encoded_bytes().starts_with(b"file:") { Path::new(".").join(path) } else { path.to_owned() }
}

/// Returns the file that SQLite keeps beside a database under its name and this suffix: `-wal`, `-shm` or `-journal`.
#[must_use]
pub fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the database beside which SQLite would keep a file of this name: a log, its index, or a journal. `None` for other names.
#[must_use]
pub fn companion_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let database = ["-wal", "-shm", "-journal"].iter().find_map(|suffix| name.strip_suffix(suffix))?;
    (!database.is_empty()).then(|| path.with_file_name(database))
}

/// The WAL files that existed beside a database before it was opened. Dropping it removes those that were added since, unless
/// another program uses them.
#[derive(Debug)]
pub struct FilesBeside {
    database: PathBuf,
    had_log: bool,
    had_index: bool,
}

impl FilesBeside {
    /// Notes which files are there. Call it before the database is opened.
    #[must_use]
    pub fn look(database: &Path) -> Self {
        let has = |suffix| companion(database, suffix).exists();
        Self { database: database.to_owned(), had_log: has("-wal"), had_index: has("-shm") }
    }

    fn tidy(&self) -> rusqlite::Result<()> {
        let index = companion(&self.database, "-shm");
        let has_new_log = !self.had_log && companion(&self.database, "-wal").exists();
        let has_new_index = !self.had_index && index.exists();
        if !has_new_log && !has_new_index {
            return Ok(());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.database, flags)?;
        connection.busy_timeout(Duration::ZERO)?;
        if has_new_log {
            // The last connection with write access removes both files when it is closed.
            connection.execute_batch("SELECT 1 FROM sqlite_schema")?;
        } else {
            // Keep the commits in the log. Under an exclusive lock, no other program uses the index. This connection does not use
            // it either: it keeps its own in memory.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_schema")?;
            let _ = fs::remove_file(index);
        }
        connection.close().map_err(|(_, error)| error)
    }
}

impl Drop for FilesBeside {
    fn drop(&mut self) {
        // Best effort: if another program has the database open, the files belong to it.
        let _ = self.tidy();
    }
}

/// Returns whether a rollback journal has content. In PERSIST mode, a finished journal stays with a header of zeros.
///
/// # Errors
/// If the journal exists and cannot be read.
pub fn is_hot_journal(journal: &Path) -> Result<bool> {
    let mut first = [0];
    match File::open(journal).and_then(|mut file| retry(|| file.read(&mut first))) {
        Ok(read) => Ok(read > 0 && first != [0]),
        // If the name is too long for a journal, there is none.
        Err(error) if matches!(error.kind(), IoErrorKind::NotFound | IoErrorKind::InvalidFilename) => Ok(false),
        Err(error) => Err(Error::io("read the rollback journal", journal, error)),
    }
}

fn immutable_uri(path: &Path) -> String {
    let escaped = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(*byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    let path: String = path.as_os_str().as_encoded_bytes().iter().map(escaped).collect();
    format!("file:{path}?mode=ro&immutable=1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awkward_paths_open() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a b.db", "100%.db", "what?.db", "a#b.db", "grün.db"] {
            let path = folder.path().join(name);
            Connection::open(&path).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
            let tables = "SELECT count(*) FROM sqlite_schema";
            let seen: u32 = open_immutable(&path).unwrap().query_row(tables, [], |row| row.get(0)).unwrap();
            assert_eq!(seen, 1, "{name}");
        }
    }
}
