//! Opens databases with SQLite as immutable files.

use rusqlite::{Connection, OpenFlags};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Opens a database for reading as an immutable file: nothing is locked or created, and a `-wal` is ignored.
///
/// # Errors
/// If SQLite cannot open the file.
pub fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(immutable_uri(path), flags)
}

fn immutable_uri(path: &Path) -> String {
    let escaped = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(*byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    let path: String = path.as_os_str().as_bytes().iter().map(escaped).collect();
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
