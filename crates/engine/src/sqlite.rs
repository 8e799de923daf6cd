//! SQLite as a reader of finished files, and these files as bytes; how its statements are stopped.

use crate::{Error, ErrorKind, Progress, Result};
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Release of the SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Opens a database for reading, as it lies there: nothing is locked or made, and a `-wal` is not looked at.
pub(crate) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(immutable_uri(path), flags)
}

/// How many instructions of SQLite's byte code pass between two looks at the wish to stop: a few milliseconds.
const INSTRUCTIONS_PER_LOOK: i32 = 100_000;

/// Has long statements end soon after somebody asks to stop.
pub(crate) fn watch(connection: &mut Connection, progress: &Arc<Progress>) -> rusqlite::Result<()> {
    let watched = progress.clone();
    connection.progress_handler(INSTRUCTIONS_PER_LOOK, Some(move || watched.go_on().is_err()))
}

fn immutable_uri(path: &Path) -> String {
    let escaped = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(*byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    let path: String = path.as_os_str().as_bytes().iter().map(escaped).collect();
    format!("file:{path}?mode=ro&immutable=1")
}

/// Opens a file as bytes, and tells its length. Only a regular file is opened at all: a FIFO would keep its reader
/// waiting, and no other holds a database.
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

/// The file that SQLite keeps beside a database under its name and this suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
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
