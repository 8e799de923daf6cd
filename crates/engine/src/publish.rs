//! From a temporary file to the target's name: whole or not at all.
//!
//! The file grows beside its target as `.NAME.litepress-N.tmp`, locked by whoever writes it. It gets its name by one
//! rename once it is complete and synced, and the folder is synced after it. A killed run leaves a temporary file
//! that nobody locks; the next run for the same target removes it.

use crate::sqlite::beside;
use crate::{Error, ErrorKind, Result, Sync};
use rusqlite::{Connection, OpenFlags};
use rustix::fs::RenameFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The only module that changes the target's name.
pub(crate) struct Publication {
    target: PathBuf,
    temporary: PathBuf,
    /// Holds the lock that says that the temporary file is in use.
    file: File,
    /// Permissions of the file that is replaced.
    replaced: Option<Permissions>,
    published: bool,
}

impl Publication {
    /// Checks that the target may be written and makes the temporary file.
    pub fn begin(target: &Path, replace: bool) -> Result<Self> {
        let target = resolve(target)?;
        let replaced = check_target(&target, replace)?;
        remove_stale(&target);
        let (temporary, file) = create_temporary(&target)?;
        Ok(Self { target, temporary, file, replaced, published: false })
    }

    /// What errors call the file: the name that the user knows.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Where the file lies for the time being.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Another handle of the temporary file.
    pub fn handle(&self) -> Result<File> {
        self.file.try_clone().map_err(|error| Error::io("open", &self.temporary, error))
    }

    /// Bytes of the file.
    pub fn len(&self) -> Result<u64> {
        let metadata = self.file.metadata().map_err(|error| Error::io("look at", &self.temporary, error))?;
        Ok(metadata.len())
    }

    /// Fails where the disk has not `bytes` free.
    pub fn check_space(&self, bytes: u64) -> Result<()> {
        let Some(free) = free_bytes(&self.temporary).filter(|free| *free < bytes) else { return Ok(()) };
        let message = format!("the database will take about {bytes} bytes and the disk has {free} bytes free");
        Err(Error::new(ErrorKind::NoSpace, message)
            .in_file(&self.target)
            .advise("free some room, or write to another disk"))
    }

    /// Gives the file its name. It must be complete, and synced where that is wanted.
    pub fn commit(mut self, sync: Sync) -> Result<()> {
        if !is_at(&self.file, &self.temporary) {
            let error =
                Error::new(ErrorKind::Target, "somebody has removed the temporary file").in_file(&self.temporary);
            return Err(error);
        }
        if let Some(permissions) = self.replaced.take() {
            fs::set_permissions(&self.temporary, permissions)
                .map_err(|error| Error::io("set the permissions of", &self.temporary, error))?;
            let lock = lock_database(&self.target)?;
            if lock.is_some() {
                // SQLite removes the log that it opened for the lock only while the database has its name.
                let _ = fs::remove_file(beside(&self.target, "-wal"));
            }
            fs::rename(&self.temporary, &self.target).map_err(|error| Error::io("replace", &self.target, error))?;
            drop(lock);
        } else {
            check_beside(&self.target, EmptyLog::InUse)?;
            rename_to_free_name(&self.temporary, &self.target)?;
        }
        self.published = true;
        if sync == Sync::Full {
            let folder = folder_of(&self.target);
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(|error| Error::io("sync the folder of the published database", folder, error))?;
        }
        Ok(())
    }
}

/// Bytes that are free on the disk of a file or folder; `None` where that is not known.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

impl Drop for Publication {
    fn drop(&mut self) {
        if !self.published {
            // Best effort: a disk that refuses this too leaves a file that the next run removes.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A link is followed: its file is replaced and not the link.
fn resolve(target: &Path) -> Result<PathBuf> {
    if target.file_name().is_none() {
        let message = format!("'{}' is not the name of a file", target.display());
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if target.is_symlink() {
        return fs::canonicalize(target).map_err(|error| Error::io("follow the link", target, error));
    }
    Ok(target.to_owned())
}

/// What a `-wal` without content says.
#[derive(PartialEq)]
enum EmptyLog {
    /// That somebody may have the database open.
    InUse,
    /// Nothing: a lock says whether somebody has it open.
    Nothing,
}

/// A journal or a log that lies beside the target: SQLite would apply it to the new file.
fn check_beside(target: &Path, empty: EmptyLog) -> Result<()> {
    let (journal, wal) = (beside(target, "-journal"), beside(target, "-wal"));
    let found = if is_hot(&journal)? {
        journal
    } else if fs::metadata(&wal).is_ok_and(|log| log.len() > 0 || empty == EmptyLog::InUse) {
        wal
    } else {
        return Ok(());
    };
    let message = format!("'{}' lies beside the target: SQLite would apply it to the new file", found.display());
    Err(Error::new(ErrorKind::Target, message)
        .in_file(target)
        .advise("close the programs that use the database and open it once with sqlite3, or remove that file"))
}

/// Whether a rollback journal has content: in PERSIST mode, a finished one stays with a header of zeros.
pub(crate) fn is_hot(journal: &Path) -> Result<bool> {
    let mut first = [0];
    match File::open(journal).and_then(|mut file| file.read(&mut first)) {
        Ok(read) => Ok(read > 0 && first != [0]),
        // There is no journal of a name that is too long for one.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename) => Ok(false),
        Err(error) => Err(Error::io("read the rollback journal", journal, error)),
    }
}

/// What must be true of the target's name; the permissions of the file that will be replaced.
fn check_target(target: &Path, replace: bool) -> Result<Option<Permissions>> {
    let metadata = match fs::metadata(target) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            check_beside(target, EmptyLog::InUse)?;
            return Ok(None);
        }
        Err(error) => return Err(Error::io("look at", target, error)),
    };
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::Target, "the target is not a regular file").in_file(target));
    }
    if !replace {
        check_beside(target, EmptyLog::Nothing)?;
        let error = Error::new(ErrorKind::Exists, "the target exists").in_file(target);
        return Err(error.advise("choose another name, or allow its replacement"));
    }
    drop(lock_database(target)?);
    Ok(Some(metadata.permissions()))
}

/// How often a target in use is tried again, for half a second or so, before it is refused: others who look at it, as
/// runs for the same target do, have it for much less, and two who try at the same moment refuse each other.
const TRIES: u32 = 200;
/// The longest pause between two tries, in microseconds. Pauses differ, or two would meet again.
const PAUSE: u64 = 5_000;

/// Holds the database that is to be replaced, so that nobody reads or writes it; fails where somebody does, where it is
/// no database, or where a journal or a log lies beside it. There is nothing to hold where it is empty, corrupt or gone.
fn lock_database(target: &Path) -> Result<Option<Connection>> {
    let look = || fs::metadata(target).ok().filter(|metadata| metadata.len() > 0).map(|found| identity(&found));
    let mut found = look();
    while found.is_some() {
        check_beside(target, EmptyLog::Nothing)?;
        let locked = lock_file(target);
        let now = look();
        if now != found {
            // Whoever had it has put another file in its place: that one is to be held.
            found = now;
            continue;
        }
        let Some(connection) = locked? else { break };
        check_beside(target, EmptyLog::Nothing)?;
        return Ok(Some(connection));
    }
    check_beside(target, EmptyLog::InUse)?;
    Ok(None)
}

/// Locks the file; `None` where it is corrupt: such a database may be replaced, as nobody can read it anyway.
fn lock_file(target: &Path) -> Result<Option<Connection>> {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
    let refuse =
        |message: &str, advice: &str| Err(Error::new(ErrorKind::Target, message).in_file(target).advise(advice));
    let mut tries = 0;
    loop {
        let error = match try_lock(target) {
            Ok(connection) => return Ok(Some(connection)),
            Err(error) => error,
        };
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) if tries < TRIES => {
                tries += 1;
                let pause = RandomState::new().hash_one(tries) % PAUSE;
                std::thread::sleep(Duration::from_micros(pause));
            }
            Some(DatabaseBusy | DatabaseLocked) => {
                return refuse("the target is in use by another program", "close that program first");
            }
            Some(NotADatabase) => {
                let advice = "only a database is replaced: choose another name";
                return refuse("the target is not a SQLite database", advice);
            }
            Some(DatabaseCorrupt) => return Ok(None),
            _ => return refuse(&format!("cannot lock the target: SQLite says: {error}"), "check its permissions"),
        }
    }
}

/// In exclusive locking mode, a database in WAL mode has its file locked too: who opens it meanwhile would make a log
/// for whatever has the file's name then. That mode gives up no lock in vain: what fails is closed.
fn try_lock(target: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")?;
    Ok(connection)
}

fn rename_to_free_name(temporary: &Path, target: &Path) -> Result<()> {
    use rustix::fs::CWD;
    let renamed = match rustix::fs::renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE) {
        // Some file systems cannot promise it: look first, then rename.
        Err(Errno::INVAL | Errno::NOSYS) if target.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(temporary, target),
        renamed => renamed.map_err(io::Error::from),
    };
    renamed.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Error::new(ErrorKind::Target, "the target has come into being meanwhile").in_file(target)
        }
        _ => Error::io("publish", target, error),
    })
}

fn create_temporary(target: &Path) -> Result<(PathBuf, File)> {
    let folder = folder_of(target);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            let error = Error::new(ErrorKind::Io, format!("there is no folder '{}'", folder.display()));
            error.in_file(target).advise("make the folder, or name another one")
        }
        _ => Error::io("create a temporary file beside it", target, error),
    };
    loop {
        let path = folder.join(format!("{}{}.tmp", temporary_prefix(target), unique_number()));
        let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(failed(error)),
        };
        // Until it is locked it looks stale to another run, which may have removed it. Where the file system knows no
        // locks, nobody removes anything.
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && is_at(&file, &path) {
            return Ok((path, file));
        }
    }
}

/// A number that no other temporary file has or had: hashers are seeded by the operating system.
fn unique_number() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Removes temporary files of this target that no living process holds.
fn remove_stale(target: &Path) {
    let prefix = temporary_prefix(target);
    let Ok(entries) = fs::read_dir(folder_of(target)) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str());
        if !name.is_some_and(|name| is_temporary(name, &prefix)) {
            // Not opened either: closing a handle of a database would give up this process's locks on it.
            continue;
        }
        let Ok(file) = File::open(&path) else { continue };
        // The lock is held until the file is gone, or another run could take it in between.
        if file.try_lock().is_ok() && is_at(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether a name is one that [`create_temporary`] gives.
fn is_temporary(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".tmp"));
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Whether the open `file` is the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => identity(&open) == identity(&named),
        _ => false,
    }
}

/// What tells a file from any other: its disk and its number there.
fn identity(file: &fs::Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// The beginning of the names of a target's temporary files; so much of a long name that they fit 255 bytes. Targets
/// that agree in that share their stale files.
fn temporary_prefix(target: &Path) -> String {
    const MOST: usize = 255 - ".".len() - ".litepress-0123456789abcdef.tmp".len();
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=name.len().min(MOST)).rfind(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.litepress-", &name[..end])
}

/// The folder in which a file lies.
pub fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
