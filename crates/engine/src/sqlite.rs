//! Opens finished files, and makes SQLite's statements stop on request.

use crate::{Error, ErrorKind, Progress, Result};
use rusqlite::Connection;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the release of the bundled SQLite.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Number of byte code instructions of SQLite between two looks for a request to stop: a few milliseconds.
const INSTRUCTIONS_PER_LOOK: i32 = 100_000;

/// Makes long statements end soon after a request to stop.
pub(crate) fn watch(connection: &mut Connection, progress: &Arc<Progress>) -> rusqlite::Result<()> {
    let watched = progress.clone();
    connection.progress_handler(INSTRUCTIONS_PER_LOOK, Some(move || watched.go_on().is_err()))
}

/// Opens a file. Returns it with its length. Only a regular file is opened: a FIFO would block its reader, and nothing
/// else can hold a database.
pub(crate) fn open_file(path: &Path) -> Result<(File, u64)> {
    let failed = |error| Error::io("open the database", path, error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "this is a folder" } else { "this is no regular file" };
        return Err(Error::new(ErrorKind::Io, what).in_file(path));
    }
    Ok((File::open(path).map_err(failed)?, metadata.len()))
}

/// Returns the path in a form that SQLite takes for a name. Built with URI support, it takes `file:x.db` for a URI.
pub(crate) fn plain_name(path: &Path) -> PathBuf {
    if path.as_os_str().as_bytes().starts_with(b"file:") { Path::new(".").join(path) } else { path.to_owned() }
}

/// Returns the file that SQLite keeps beside a database under its name and this suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
