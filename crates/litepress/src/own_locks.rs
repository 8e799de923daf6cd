//! Finds locks that another copy of SQLite in this process has on a database.
//!
//! POSIX locks belong to a process. So two copies of SQLite in one process, such as the `sqlite3` of Python and that of a driver, do not
//! keep each other out, and the first handle that one of them closes ends the locks of both (sqlite.org/howtocorrupt.html, 2.2.1). One
//! could write into the middle of a transaction of the other, or delete the WAL that the other writes to.

use crate::{Error, ErrorKind, Result};
use litepress_rows::files::FileId;
use litepress_rows::sqlite::companion;
use litepress_rows::sync::{Mutex, lock};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for a lock of this process.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);

/// The files of uses that are under way. Locks on them may be those of litepress.
static USES: Mutex<Vec<FileId>> = Mutex::new(Vec::new());

/// A use of a database by litepress in a program that may have another copy of SQLite.
#[derive(Debug)]
pub struct OwnUse(Option<FileId>);

impl OwnUse {
    /// Begins a use.
    ///
    /// # Errors
    /// [`ErrorKind::Target`] if another copy of SQLite in this process keeps a lock on the database.
    pub fn begin(path: &Path) -> Result<Self> {
        Self::begin_unless(path, || has_own_lock(path))
    }

    /// Begins a use, unless another copy of SQLite in this process goes on to use the database.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_unless(path: &Path, is_used: impl Fn() -> bool) -> Result<Self> {
        let file = FileId::at(path).ok();
        let is_own = || lock(&USES).iter().any(|used| Some(*used) == file);
        if !waits_until(&|| is_own() || !is_used()) {
            return Err(locked("this program itself has a lock on the database, by another copy of SQLite", path));
        }
        lock(&USES).extend(file);
        Ok(Self(file))
    }
}

impl Drop for OwnUse {
    fn drop(&mut self) {
        let mut uses = lock(&USES);
        if let Some(place) = uses.iter().position(|used| Some(*used) == self.0) {
            uses.swap_remove(place);
        }
    }
}

/// Refuses a file on which this process has a lock: to open and close it would end the lock. For `path_guard`, of faces in programs that
/// may have another copy of SQLite.
///
/// # Errors
/// [`ErrorKind::Target`] if the lock does not end within moments.
pub fn refuse_own_lock(path: &Path) -> Result<()> {
    if waits_until(&|| !has_own_lock(path)) {
        return Ok(());
    }
    Err(locked("this program itself has a lock on the database", path))
}

fn locked(message: &str, path: &Path) -> Error {
    Error::new(ErrorKind::Target, message).in_file(path).advise("end its transaction, or close its connection")
}

/// Waits for a condition, but not for long. Returns whether it holds.
fn waits_until(is_true: &dyn Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(PAUSE);
    }
    true
}

/// Returns the number of copies of SQLite in this process that use the WAL of a database: each opens the index once, however many
/// connections it has.
#[must_use]
pub fn copies_with_wal(path: &Path) -> usize {
    open_handles(&companion(path, "-shm"))
}

/// Returns whether this process has a lock on a file. Without `/proc` nothing is found.
#[must_use]
pub fn has_own_lock(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    let (process, file) = (std::process::id().to_string(), format!(":{}", metadata.ino()));
    for _ in 0..3 {
        let Ok((locks, reads)) = locks() else { return false };
        if locks.lines().any(|line| is_lock_of(line, &process, &file)) {
            // A file of another disk may have the same number.
            return open_handles(path) > 0;
        }
        // A list that takes two reads can lack a lock, if another one is released in between.
        if reads < 2 {
            break;
        }
    }
    false
}

/// Returns the locks of the system, with as few reads as possible, and the number of reads.
fn locks() -> io::Result<(String, usize)> {
    const READ_BYTES: usize = 64 << 10;
    let (mut file, mut text) = (fs::File::open("/proc/locks")?, Vec::new());
    for reads in 0.. {
        let start = text.len();
        text.resize(start + READ_BYTES, 0);
        let bytes = file.read(&mut text[start..])?;
        text.truncate(start + bytes);
        if bytes == 0 {
            return Ok((String::from_utf8_lossy(&text).into_owned(), reads));
        }
    }
    unreachable!("the list ends")
}

/// Reads a line of `/proc/locks`: `3: POSIX  ADVISORY  WRITE 4711 fe:00:131097 1073741824 1073742335`. An arrow in front of the word
/// POSIX marks a lock that is waited for.
fn is_lock_of(line: &str, process: &str, file: &str) -> bool {
    let mut words = line.split_whitespace().skip(1);
    words.next() == Some("POSIX")
        && words.nth(2) == Some(process)
        && words.next().is_some_and(|place| place.ends_with(file))
}

/// Returns the number of handles that this process has of a file.
fn open_handles(path: &Path) -> usize {
    let Ok(wanted) = fs::metadata(path) else { return 0 };
    let Ok(handles) = fs::read_dir("/proc/self/fd") else { return 0 };
    let is_same = |open: fs::Metadata| (open.dev(), open.ino()) == (wanted.dev(), wanted.ino());
    handles.flatten().filter(|handle| fs::metadata(handle.path()).is_ok_and(is_same)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppendOptions, Options, Route, Writer};
    use rusqlite::Connection;

    #[test]
    fn lines_of_locks_are_read() {
        let line = "3: POSIX  ADVISORY  WRITE 4711 fe:00:131097 1073741824 1073742335";
        assert!(is_lock_of(line, "4711", ":131097"));
        assert!(!is_lock_of(line, "471", ":131097") && !is_lock_of(line, "4711", ":13109"));
        assert!(!is_lock_of(&line.replace("POSIX", "-> POSIX"), "4711", ":131097"));
        assert!(!is_lock_of(&line.replace("POSIX", "FLOCK"), "4711", ":131097") && !is_lock_of("", "4711", ":131097"));
    }

    /// An append opened the file by itself to see whether it is one, and closed it. That ended the lock of the idle connection of the same
    /// program in WAL mode: another program took itself for the last one, and deleted the WAL that this connection went on to write to.
    #[test]
    fn an_append_leaves_the_locks_of_other_connections() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.db");
        let idle = Connection::open(&path).unwrap();
        idle.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
        assert_eq!((has_own_lock(&path), copies_with_wal(&path)), (true, 1));
        for route in [Route::Sql, Route::Edge] {
            let mut append = AppendOptions::default();
            append.route = Some(route);
            let mut writer = Writer::open(&path, Options::default(), &append).unwrap();
            writer.table("t").unwrap().insert((1,)).unwrap();
            assert!(has_own_lock(&path), "{route:?}");
            writer.finish().unwrap();
            assert!(has_own_lock(&path), "{route:?}");
        }
        assert!(OwnUse::begin(&path).is_err());
        drop(idle);
        assert!(!has_own_lock(&path) && OwnUse::begin(&path).is_ok());
    }
}
