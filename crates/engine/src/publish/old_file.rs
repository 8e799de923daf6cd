//! Takes the file that a new database replaces out of use.
//!
//! SQLite finds a journal and a write-ahead log by the name of the database. A program that still has the old file when
//! the new one gets its name would apply the new file's journal to the old one, and the old one's log to the new file. So a
//! file is replaced only while no other program has it open, and in this order (`docs/replacing.md` tells why):
//!
//! 1. Take a write lease on the old file. It is granted only if the file is open nowhere else, and a program that opens it
//!    now waits in open(2).
//! 2. Look for a journal or a log beside it; remove an empty log and its index.
//! 3. Lock the new file as SQLite's EXCLUSIVE lock does.
//! 4. Take the old file out of WAL mode: two bytes of its header.
//! 5. Rename.
//! 6. Wait for programs that looked up the old file's name before the rename, and open it only now. They read the old
//!    rows or fail to write, and no journal or log comes into being meanwhile: the new file is locked.
//! 7. Unlock the new file.
//!
//! Without leases (another operating system, a network file system, a file of another user), SQLite's own EXCLUSIVE lock
//! takes the place of 1, which does not see programs that have the file open without a lock. A database in WAL mode,
//! old or new, is then not replaced.

use super::lease::{Lease, WriteLease};
use super::{EmptyWal, check_beside, open_files, system};
use crate::{Error, ErrorKind, Result, part};
use litepress_format::header;
use litepress_rows::files::{FileExt, FileId, count_names, read_up_to};
use litepress_rows::sqlite::{companion, plain_name};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest pause between two attempts, in microseconds. Pauses are random, or two runs would collide again and again.
const PAUSE: u64 = 1_000;
/// Time for which the lease is kept after the rename. A program that has looked up the name opens the file within
/// microseconds, unless the system suspends it in between.
const GRACE: Duration = Duration::from_millis(10);
/// Longest wait for a program that opened the old file at the moment of the rename.
const LAST_USER: Duration = Duration::from_secs(60);

/// The old file, while no other program can use it.
pub enum OldFile {
    /// There is no old file.
    Absent,
    /// It is open nowhere else.
    Leased(WriteLease),
    /// It may be open elsewhere, but SQLite has its EXCLUSIVE lock. `None` if it is empty or corrupt.
    Locked { _connection: Option<Connection> },
}

/// Reasons why a file is not free at the moment.
enum InUse {
    /// This process has it open.
    Here,
    /// Another process has it open or locked.
    Elsewhere,
}

impl OldFile {
    /// Takes the file out of use. If that is impossible at first, waits for at most `patience`.
    ///
    /// # Errors
    /// If the file stays in use or is no database, if a journal or a log lies beside it, or if this user may not write
    /// it.
    pub fn hold(target: &Path, patience: Duration) -> Result<Self> {
        let deadline = Instant::now() + patience;
        loop {
            let in_use = match Self::try_hold(target)? {
                Ok(held) => return Ok(held),
                Err(in_use) => in_use,
            };
            if Instant::now() >= deadline {
                return Err(refusal(target, &in_use));
            }
            pause();
        }
    }

    fn try_hold(target: &Path) -> Result<Result<Self, InUse>> {
        let Ok(found) = FileId::at(target) else {
            check_beside(target, EmptyWal::MeansInUse)?;
            return Ok(Ok(Self::Absent));
        };
        if open_files::is_open_in_this_process(found) {
            return Ok(Err(InUse::Here));
        }
        let Some(file) = open(target)? else { return Ok(Err(InUse::Elsewhere)) };
        match WriteLease::request(file) {
            Lease::Granted(lease) => {
                let failed = |error| Error::io("look at", target, error);
                if !is_named(target, FileId::of(lease.file()).map_err(failed)?) {
                    return Ok(Err(InUse::Elsewhere));
                }
                check_database(lease.file(), target)?;
                check_beside(target, EmptyWal::Harmless)?;
                if count_names(lease.file()).map_err(failed)? > 1 && is_in_wal_mode(lease.file(), target)? {
                    return Err(Error::new(
                        ErrorKind::Target,
                        "the target is in WAL mode and has several names (hard links)",
                    )
                    .in_file(target)
                    .advise("set PRAGMA journal_mode = DELETE first, or write to another name"));
                }
                Ok(Ok(Self::Leased(lease)))
            }
            Lease::Denied(_) => Ok(Err(InUse::Elsewhere)),
            Lease::Unsupported => lock_by_sqlite(target, found),
        }
    }

    /// Makes the file harmless to a program that opens it at this moment: takes it out of WAL mode and removes an empty
    /// log. `new` is the file that will get its name.
    ///
    /// # Errors
    /// Without a lease: if the new database is in WAL mode. With a lease: if a write fails.
    pub fn leave_wal_mode(&self, target: &Path, new: &File) -> Result<WalMode> {
        match self {
            Self::Absent => Ok(WalMode::Off),
            Self::Leased(lease) => {
                for suffix in ["-wal", "-shm"] {
                    // No program has the database open, so these files are left over, and the log is empty.
                    let _ = fs::remove_file(companion(target, suffix));
                }
                if !is_in_wal_mode(lease.file(), target)? {
                    return Ok(WalMode::Off);
                }
                write_mode(lease.file(), header::ROLLBACK_VERSION)
                    .map_err(|error| Error::io("write", target, error))?;
                Ok(WalMode::Left)
            }
            Self::Locked { .. } if is_in_wal_mode(new, target)? => Err(no_proof(target)),
            Self::Locked { .. } => Ok(WalMode::Off),
        }
    }

    /// Puts the file back into WAL mode, after a rename that failed.
    pub fn restore(&self, mode: &WalMode) {
        if let (Self::Leased(lease), WalMode::Left) = (self, mode) {
            // Best effort: a database that stays in rollback mode is whole, too.
            let _ = write_mode(lease.file(), header::WAL_VERSION);
        }
    }

    /// Returns whether the new file must be locked while it gets its name.
    pub fn locks_new_file(&self) -> bool {
        matches!(self, Self::Leased(_))
    }

    /// Returns whether a program waits to open the file: it would get the old one.
    pub fn is_awaited(&self) -> bool {
        matches!(self, Self::Leased(lease) if lease.is_awaited())
    }

    /// Waits, after the rename, until the old file is open nowhere else. The new file must be locked meanwhile.
    ///
    /// # Errors
    /// If a program does not close it.
    pub fn wait_until_closed(self, target: &Path) -> Result<()> {
        let Self::Leased(mut lease) = self else { return Ok(()) };
        let deadline = Instant::now() + LAST_USER;
        loop {
            if stays_unawaited(&lease) {
                return Ok(());
            }
            let mut file = lease.release();
            lease = loop {
                pause();
                match WriteLease::request(file) {
                    Lease::Granted(lease) => break lease,
                    Lease::Denied(denied) if Instant::now() < deadline => file = denied,
                    Lease::Denied(_) | Lease::Unsupported => {
                        let message = "the target is replaced, but a program opened the old file at that moment and still \
                                       has it";
                        return Err(Error::new(ErrorKind::Target, message)
                            .in_file(target)
                            .advise("end that program before anyone writes into the new database"));
                    }
                }
            };
        }
    }
}

/// Outcome of [`OldFile::leave_wal_mode`].
#[derive(PartialEq)]
pub enum WalMode {
    /// The file was in rollback mode.
    Off,
    /// The file was in WAL mode and has left it.
    Left,
}

/// Returns whether no program asks for the leased file during the grace period.
fn stays_unawaited(lease: &WriteLease) -> bool {
    let end = Instant::now() + GRACE;
    loop {
        if lease.is_awaited() {
            return false;
        }
        if Instant::now() >= end {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn pause() {
    let micros = RandomState::new().hash_one(()) % PAUSE;
    std::thread::sleep(Duration::from_micros(micros));
}

/// Opens the file for a lease; `None` if another run holds a lease on it, or if it is gone.
fn open(target: &Path) -> Result<Option<File>> {
    match system::open_at_once(target) {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound) => Ok(None),
        Err(error) => {
            let message = format!("the target cannot be replaced: {error}");
            Err(Error::new(ErrorKind::Target, message).in_file(target).advise("check its permissions"))
        }
    }
}

fn is_named(target: &Path, file: FileId) -> bool {
    FileId::at(target).is_ok_and(|named| named == file)
}

/// Fails if the file has content and is neither a database nor a part of one. A corrupt database passes: no program can read it.
fn check_database(file: &File, target: &Path) -> Result<()> {
    let start = read_start(file, target)?;
    if start.is_empty() || start.starts_with(&header::MAGIC) || start.starts_with(part::MAGIC) {
        return Ok(());
    }
    Err(no_database(target))
}

/// Reads the file header up to its versions; less if the file is shorter.
fn read_start(file: &File, target: &Path) -> Result<Vec<u8>> {
    let mut start = vec![0; header::VERSIONS_OFFSET + header::VERSIONS_BYTES];
    let read = read_up_to(file, &mut start, 0).map_err(|error| Error::io("read", target, error))?;
    start.truncate(read);
    Ok(start)
}

fn is_in_wal_mode(file: &File, target: &Path) -> Result<bool> {
    let start = read_start(file, target)?;
    Ok(start.get(header::VERSIONS_OFFSET..).is_some_and(|mode| mode.contains(&header::WAL_VERSION)))
}

fn write_mode(file: &File, mode: u8) -> io::Result<()> {
    file.write_all_at(&[mode; header::VERSIONS_BYTES], header::VERSIONS_OFFSET as u64)
}

/// Takes SQLite's EXCLUSIVE lock of a database in rollback mode.
fn lock_by_sqlite(target: &Path, found: FileId) -> Result<Result<OldFile, InUse>> {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
    if fs::metadata(target).is_ok_and(|metadata| metadata.len() == 0) {
        check_beside(target, EmptyWal::MeansInUse)?;
        return Ok(Ok(OldFile::Locked { _connection: None }));
    }
    check_beside(target, EmptyWal::Harmless)?;
    let (connection, mode) = match begin_exclusive(target) {
        Ok(begun) => begun,
        Err(error) => match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => return Ok(Err(InUse::Elsewhere)),
            Some(NotADatabase) => {
                let file = File::open(target).map_err(|error| Error::io("open", target, error))?;
                check_database(&file, target)?;
                return Ok(Ok(OldFile::Locked { _connection: None }));
            }
            Some(DatabaseCorrupt) => return Ok(Ok(OldFile::Locked { _connection: None })),
            _ => {
                let message = format!("cannot lock the target: SQLite says: {error}");
                return Err(Error::new(ErrorKind::Target, message).in_file(target).advise("check its permissions"));
            }
        },
    };
    if !is_named(target, found) {
        return Ok(Err(InUse::Elsewhere));
    }
    if mode == "wal" {
        return Err(no_proof(target));
    }
    check_beside(target, EmptyWal::Harmless)?;
    Ok(Ok(OldFile::Locked { _connection: Some(connection) }))
}

/// Opens a transaction in exclusive locking mode, which locks the file of a database in WAL mode, too. Returns the
/// connection and the journal mode.
fn begin_exclusive(target: &Path) -> rusqlite::Result<(Connection, String)> {
    let connection = Connection::open_with_flags(plain_name(target), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")?;
    let mode = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    Ok((connection, mode))
}

fn no_proof(target: &Path) -> Error {
    let message = "a database in WAL mode cannot be replaced here: the system does not tell whether another program has \
                   the target open";
    Error::new(ErrorKind::Target, message)
        .in_file(target)
        .advise("remove the target first, once no program has it open, or write to another name")
}

fn no_database(target: &Path) -> Error {
    Error::new(ErrorKind::Target, "the target is not a SQLite database")
        .in_file(target)
        .advise("only a database is replaced: choose another name")
}

fn refusal(target: &Path, in_use: &InUse) -> Error {
    let (message, advice) = match in_use {
        InUse::Here => ("the target is open in this program".to_owned(), "close that connection first"),
        InUse::Elsewhere => {
            let file = FileId::at(target).ok();
            let user = file.and_then(open_files::process_with).map(|user| format!(" ({user})")).unwrap_or_default();
            (format!("the target is in use by another program{user}"), "close that program first")
        }
    };
    Error::new(ErrorKind::Target, message).in_file(target).advise(advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::sync::mpsc::channel;

    const SOON: Duration = Duration::from_millis(100);

    fn database(path: &Path, mode: &str) {
        let sqlite = Connection::open(path).unwrap();
        sqlite.execute_batch(&format!("PRAGMA journal_mode = {mode}; CREATE TABLE t(a)")).unwrap();
    }

    fn versions(path: &Path) -> Vec<u8> {
        fs::read(path).unwrap()[header::VERSIONS_OFFSET..][..header::VERSIONS_BYTES].to_vec()
    }

    /// A program that has looked up the name just before the rename opens the old file after it. The new file stays locked
    /// until that program has closed the old one.
    #[test]
    fn a_program_that_opens_the_old_file_in_the_last_moment_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("t.db"), folder.path().join("new.db"));
        database(&path, "WAL");
        database(&new, "WAL");
        let held = OldFile::hold(&path, SOON).unwrap();
        if !held.locks_new_file() {
            println!("skipped: this file system has no leases");
            return;
        }
        let (opened, wait) = channel();
        std::thread::scope(|scope| {
            // It waits in open(2), because it has looked up the name already.
            let late = scope.spawn(|| {
                let late = Connection::open(&path).unwrap();
                let mode: String = late.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
                opened.send(()).unwrap();
                std::thread::sleep(SOON);
                let write = late.execute_batch("INSERT INTO t VALUES (1)");
                (mode, write.map_err(|error| error.sqlite_error_code()), Instant::now())
            });
            while !held.is_awaited() {
                std::thread::yield_now();
            }
            let new_file = OpenOptions::new().read(true).write(true).open(&new).unwrap();
            assert!(held.leave_wal_mode(&path, &new_file).unwrap() == WalMode::Left);
            fs::rename(&new, &path).unwrap();
            held.wait_until_closed(&path).unwrap();
            let closed = Instant::now();
            wait.recv().unwrap();
            let (mode, write, written) = late.join().unwrap();
            assert!(written <= closed, "the old file was open still");
            assert_eq!((mode.as_str(), write), ("delete", Err(Some(rusqlite::ErrorCode::ReadOnly))));
        });
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["t.db"]);
        assert_eq!(versions(&path), [header::WAL_VERSION; 2]);
    }

    #[test]
    fn a_rename_that_fails_leaves_the_old_file_in_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        database(&path, "WAL");
        // It waits if opened while the lease is held.
        let mut reader = File::open("/dev/null").unwrap();
        let held = OldFile::hold(&path, SOON).unwrap();
        if let OldFile::Leased(lease) = &held {
            reader = lease.file().try_clone().unwrap();
        }
        let mode = held.leave_wal_mode(&path, &tempfile::tempfile().unwrap()).unwrap();
        if mode == WalMode::Left {
            assert!(!is_in_wal_mode(&reader, &path).unwrap());
        }
        held.restore(&mode);
        drop((held, reader));
        assert_eq!(versions(&path), [header::WAL_VERSION; 2]);
    }

    /// Without leases, SQLite's lock does not tell of a program that merely has the file open.
    #[test]
    fn without_leases_only_rollback_mode_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        database(&path, "WAL");
        let id = FileId::at(&path).unwrap();
        let error = lock_by_sqlite(&path, id).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Target, "{error}");
        assert!(!companion(&path, "-wal").exists());
        Connection::open(&path).unwrap().execute_batch("PRAGMA journal_mode = DELETE").unwrap();
        let Ok(Ok(held)) = lock_by_sqlite(&path, id) else { panic!("a lock") };
        let busy = Connection::open(&path).unwrap().execute_batch("BEGIN IMMEDIATE");
        assert!(busy.is_err(), "the lock is exclusive");
        let new = folder.path().join("new.db");
        database(&new, "WAL");
        let error = held.leave_wal_mode(&path, &File::open(&new).unwrap()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Target, "{error}");
        database(&folder.path().join("other.db"), "DELETE");
        let other = File::open(folder.path().join("other.db")).unwrap();
        assert!(held.leave_wal_mode(&path, &other).unwrap() == WalMode::Off);
    }
}
