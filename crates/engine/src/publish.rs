//! Publishes a temporary file under the target's name: whole or not at all.
//!
//! The file grows beside its target as `.NAME.litepress-N.tmp`, locked by the run that writes it. It gets its name by
//! one rename once it is complete and synced, and the folder is synced after it. A killed run leaves a temporary file
//! without a lock; the next run for the same target removes it. [`old_file`] describes the replacement of a file that
//! other programs may have open.

#[cfg_attr(windows, path = "publish/access_windows.rs")]
mod access;
mod folder;
#[cfg_attr(not(target_os = "linux"), path = "publish/no_lease.rs")]
mod lease;
mod old_contents;
mod old_file;
mod open_files;
mod stamp;
#[cfg_attr(unix, path = "publish/unix.rs")]
#[cfg_attr(windows, path = "publish/windows.rs")]
mod system;
mod turn;

use crate::sqlite::LiveSession;
use crate::{Error, ErrorKind, Result, Sync};
use access::Access;
pub(crate) use folder::Folder;
use litepress_rows::files::FileId;
use litepress_rows::sqlite::{companion, is_hot_journal};
use litepress_rows::{OptionName, message};
pub(crate) use old_contents::OldObject;
use old_contents::{listed, old_contents};
use old_file::OldFile;
pub use stamp::TargetStamp;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
pub use system::free_bytes;
use turn::Turn;

/// Time that a run waits for a target in use, before it has done any work and after a short run.
const SHORT_PATIENCE: Duration = Duration::from_millis(500);
/// Longest time that a run waits in the end. A refusal costs the run its work, so it waits for as long as it has
/// worked.
const LONG_PATIENCE: Duration = Duration::from_secs(30);

/// A database that is not published yet, and its future name.
pub(crate) struct Publication {
    target: PathBuf,
    temporary: PathBuf,
    /// The temporary file, locked as long as it is in use.
    file: File,
    /// Rights to the file that is replaced.
    replaced: Option<Access>,
    /// Contents of the file that is replaced.
    old_contents: Vec<OldObject>,
    /// The file that may be replaced, if only one may.
    expected: Option<TargetStamp>,
    /// A file that comes into being while this one is made may be replaced, too.
    may_replace: bool,
    begun: Instant,
    published: bool,
}

impl Publication {
    /// Checks that the target may be written and makes the temporary file. If a file is `expected`, the target is replaced
    /// only as long as it is that file, unchanged; this process may have it open until then.
    pub fn begin(target: &Path, replace: bool, expected: Option<&TargetStamp>) -> Result<Self> {
        let target = resolve(target)?;
        let (replaced, old_contents) = match expected {
            Some(expected) => (Some(check_expected(&target, expected)?), Vec::new()),
            None => {
                let replaced = check_target(&target, replace)?;
                let contents = if replaced.is_some() { old_contents(&target) } else { Vec::new() };
                (replaced, contents)
            }
        };
        remove_stale(&target);
        let (temporary, file) = create_temporary(&target, replaced.is_some())?;
        let (expected, begun) = (expected.cloned(), Instant::now());
        Ok(Self {
            target,
            temporary,
            file,
            replaced,
            old_contents,
            expected,
            may_replace: replace,
            begun,
            published: false,
        })
    }

    /// Makes the temporary file of a database that may never be published, or only if its name is free then.
    pub fn of_draft(target: &Path) -> Result<Self> {
        let target = resolve(target)?;
        remove_stale(&target);
        let (temporary, file) = create_temporary(&target, false)?;
        Ok(Self {
            target,
            temporary,
            file,
            replaced: None,
            old_contents: Vec::new(),
            expected: None,
            may_replace: false,
            begun: Instant::now(),
            published: false,
        })
    }

    /// Waits until the disk has everything that was written.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| Error::io("sync", &self.temporary, error))
    }

    /// Returns the contents of the file that is replaced, as far as they are known.
    pub fn old_contents(&self) -> &[OldObject] {
        &self.old_contents
    }

    /// Returns the name of the file in errors, which is the one that the user knows.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the path of the temporary file.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Returns another handle of the temporary file.
    pub fn handle(&self) -> Result<File> {
        self.file.try_clone().map_err(|error| Error::io("open", &self.temporary, error))
    }

    /// Returns the length of the file, in bytes.
    pub fn len(&self) -> Result<u64> {
        let metadata = self.file.metadata().map_err(|error| Error::io("look at", &self.temporary, error))?;
        Ok(metadata.len())
    }

    /// Fails if the disk has fewer than `bytes` bytes free.
    pub fn check_space(&self, bytes: u64) -> Result<()> {
        let Some(free) = free_bytes(&self.temporary).filter(|free| *free < bytes) else { return Ok(()) };
        let message = format!("the database will take about {bytes} bytes and the disk has {free} bytes free");
        Err(Error::new(ErrorKind::NoSpace, message)
            .in_file(&self.target)
            .advise("free some room, or write to another disk"))
    }

    /// Gives the file its name. It must be complete, and synced if that is wanted.
    pub fn commit(mut self, sync: Sync) -> Result<()> {
        if !is_at(&self.file, &self.temporary) {
            let error =
                Error::new(ErrorKind::Target, "somebody has removed the temporary file").in_file(&self.temporary);
            return Err(error);
        }
        let _turn = Turn::take(&self.target);
        match self.replaced.take() {
            Some(access) => self.replace(access)?,
            None => self.take_free_name()?,
        }
        self.published = true;
        if sync == Sync::Full {
            let folder = folder_of(&self.target);
            system::sync_folder(folder)
                .map_err(|error| Error::io("sync the folder of the published database", folder, error))?;
        }
        Ok(())
    }

    /// Takes a name that was free when the run began. If another run has taken it meanwhile, the last one wins: its file is
    /// replaced, if that was allowed.
    fn take_free_name(&self) -> Result<()> {
        if !self.may_replace || !self.target.exists() {
            check_beside(&self.target, EmptyWal::MeansInUse)?;
            match rename_to_free_name(&self.temporary, &self.target) {
                Err(error) if self.may_replace && error.kind() == ErrorKind::Target => {}
                renamed => return renamed,
            }
        }
        let metadata = fs::metadata(&self.target).map_err(|error| Error::io("look at", &self.target, error))?;
        if !metadata.is_file() {
            return Err(Error::new(ErrorKind::Target, "the target is not a regular file").in_file(&self.target));
        }
        check_sticky(&self.target, &metadata)?;
        self.replace(Access::of(&self.target, &metadata))
    }

    /// Replaces the old file, in the order that [`old_file`] gives.
    fn replace(&self, access: Access) -> Result<()> {
        let access = fs::metadata(&self.target).map(|metadata| Access::of(&self.target, &metadata)).unwrap_or(access);
        access.apply(&self.file, &self.temporary)?;
        let deadline = Instant::now() + self.begun.elapsed().clamp(SHORT_PATIENCE, LONG_PATIENCE);
        let old = loop {
            let patience = deadline.saturating_duration_since(Instant::now());
            let old = OldFile::hold(&self.target, patience)?;
            // A program that asks for the file now goes first, unless that never ends.
            if !old.is_awaited() || Instant::now() >= deadline {
                break old;
            }
        };
        if let Some(expected) = &self.expected {
            check_expected(&self.target, expected)?;
        }
        let lock = old.locks_new_file().then(|| DatabaseLock::take(&self.file)).transpose();
        let _lock = lock.map_err(|error| Error::io("lock", &self.temporary, error))?;
        let mode = old.leave_wal_mode(&self.target, &self.file)?;
        if let Err(error) = fs::rename(&self.temporary, &self.target) {
            old.restore(&mode);
            return Err(Error::io("replace", &self.target, error));
        }
        old.wait_until_closed(&self.target)
    }
}

/// SQLite's EXCLUSIVE lock of a file.
struct DatabaseLock<'a>(&'a File);

impl<'a> DatabaseLock<'a> {
    fn take(file: &'a File) -> io::Result<Self> {
        lease::lock_database(file)?;
        Ok(Self(file))
    }
}

impl Drop for DatabaseLock<'_> {
    fn drop(&mut self) {
        // The lock ends anyway when the file is closed.
        let _ = lease::unlock_database(self.0);
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        if !self.published {
            // Best effort: if the disk refuses this too, the next run removes the file.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Returns the file to write: the target itself, or the file that a link leads to.
fn resolve(target: &Path) -> Result<PathBuf> {
    let last = target.as_os_str().as_encoded_bytes().last();
    if target.file_name().is_none() || last.is_some_and(|&byte| std::path::is_separator(byte.into())) {
        let message = format!("'{}' is not the name of a file", target.display());
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if target.is_symlink() {
        return fs::canonicalize(target).map_err(|error| Error::io("follow the link", target, error));
    }
    Ok(target.to_owned())
}

/// The meaning of an empty `-wal`.
#[derive(Clone, Copy, PartialEq)]
enum EmptyWal {
    /// A program may have the database open.
    MeansInUse,
    /// No meaning: a lock or a lease tells whether a program has the database open.
    Harmless,
}

/// Fails if a journal or a log lies beside the target: SQLite would apply it to the new file.
fn check_beside(target: &Path, empty: EmptyWal) -> Result<()> {
    let (journal, wal) = (companion(target, "-journal"), companion(target, "-wal"));
    let found = if is_hot_journal(&journal)? {
        journal
    } else if fs::metadata(&wal).is_ok_and(|log| log.len() > 0 || empty == EmptyWal::MeansInUse) {
        wal
    } else {
        return Ok(());
    };
    let message = format!("'{}' lies beside the target: SQLite would apply it to the new file", found.display());
    // A log or a journal may have the only copy of commits: only one without its database can be removed.
    let advice = match target.exists() {
        true => "close the programs that use the database, and open it once with sqlite3, which applies that file",
        false => "remove that file, if the database that it belonged to is gone for good",
    };
    Err(Error::new(ErrorKind::Target, message).in_file(target).advise(advice))
}

/// Checks that the target may get a new file. Returns the rights to the file that will be replaced.
fn check_target(target: &Path, replace: bool) -> Result<Option<Access>> {
    let Some(metadata) = look_at(target)? else { return Ok(None) };
    if !replace {
        check_beside(target, EmptyWal::Harmless)?;
        return Err(exists(target));
    }
    check_sticky(target, &metadata)?;
    let _turn = Turn::take(target);
    drop(OldFile::hold(target, SHORT_PATIENCE)?);
    Ok(Some(Access::of(target, &metadata)))
}

/// Returns the metadata of a target, `None` if there is no file. Fails if it can have no database.
fn look_at(target: &Path) -> Result<Option<fs::Metadata>> {
    match fs::metadata(target) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
        Ok(_) => Err(Error::new(ErrorKind::Target, "the target is not a regular file").in_file(target)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            check_beside(target, EmptyWal::MeansInUse)?;
            Ok(None)
        }
        Err(error) => Err(Error::io("look at", target, error)),
    }
}

/// Fails if the target can have no database: it is a folder, say, or its folder is missing. A file that exists is no error.
pub(crate) fn check_future_file(target: &Path) -> Result<()> {
    let target = resolve(target)?;
    look_at(&target)?;
    check_folder_of(&target)
}

/// Fails if there is no folder for the target.
fn check_folder_of(target: &Path) -> Result<()> {
    let folder = folder_of(target);
    if folder.is_dir() {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Io, format!("there is no folder '{}'", folder.display())).in_file(target);
    Err(error.advise("make the folder, or name another one"))
}

/// Returns the error of a target that exists. It lists what would go with it.
fn exists(target: &Path) -> Error {
    let contents = old_contents(target);
    if contents.is_empty() {
        let advice = message!["choose another name, or allow its replacement with ", OptionName::Overwrite.alone()];
        return Error::new(ErrorKind::Exists, "the target exists").in_file(target).advise(advice);
    }
    let message = format!("the target exists and holds {}", listed(&contents));
    let advice = message!["choose another name, or replace the whole file with ", OptionName::Overwrite.alone()];
    Error::new(ErrorKind::Exists, message).in_file(target).advise(advice)
}

/// Lets SQLite apply the journal or the log that a program left beside a database when it ended, as for everybody who opens it. If
/// another program has it open, all stays as it is.
///
/// REQUIRES: no other copy of SQLite in this process has the database open: neither would see the locks of the other.
///
/// # Errors
/// If `database` is not the name of a file.
pub fn apply_left_log(database: &Path) -> Result<()> {
    let database = resolve(database)?;
    if database.exists() && check_beside(&database, EmptyWal::Harmless).is_err() {
        // Whoever replaces the database tells what is in the way.
        let _ = LiveSession::schema(&database, Duration::ZERO);
    }
    Ok(())
}

/// Checks that a database may be replaced, before it is read for its successor. `None` if there is none.
///
/// # Errors
/// If it is in use or cannot be replaced.
pub fn begin_replacing(target: &Path) -> Result<Option<TargetStamp>> {
    let target = resolve(target)?;
    if check_target(&target, true)?.is_none() {
        return Ok(None);
    }
    TargetStamp::of(&target).map(Some).map_err(|error| Error::io("look at", &target, error))
}

/// Fails unless the target is the expected file, unchanged. Returns the rights to it.
fn check_expected(target: &Path, expected: &TargetStamp) -> Result<Access> {
    let failed = |error| Error::io("look at", target, error);
    if TargetStamp::of(target).map_err(failed)? != *expected {
        let message = "another program changed the target while its successor was made";
        return Err(Error::new(ErrorKind::Target, message).in_file(target).advise("run it again"));
    }
    let metadata = fs::metadata(target).map_err(failed)?;
    check_sticky(target, &metadata)?;
    Ok(Access::of(target, &metadata))
}

/// Fails in a folder with the sticky bit, such as `/tmp`, if the file belongs to another user: the rename would fail.
fn check_sticky(target: &Path, metadata: &fs::Metadata) -> Result<()> {
    let Ok(folder) = fs::metadata(folder_of(target)) else { return Ok(()) };
    if system::may_replace(metadata, &folder) {
        return Ok(());
    }
    let message = "the target belongs to another user, in a folder where only owners may replace files (sticky bit)";
    Err(Error::new(ErrorKind::Target, message)
        .in_file(target)
        .advise("write to another name, or have its owner remove it"))
}

fn rename_to_free_name(temporary: &Path, target: &Path) -> Result<()> {
    system::rename_to_free_name(temporary, target).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let again = message!["run it again; ", OptionName::Append.alone(), " then adds the rows to it"];
            Error::new(ErrorKind::Target, "the target has come into being meanwhile").in_file(target).advise(again)
        }
        _ => Error::io("publish", target, error),
    })
}

/// The number of temporary files that other runs may remove before one is kept. A file system whose locks never work would go on
/// for ever.
const MOST_TRIES: u32 = 20;

/// Creates the temporary file. Until it replaces another one, only its owner may read it.
fn create_temporary(target: &Path, replaces: bool) -> Result<(PathBuf, File)> {
    let folder = folder_of(target);
    let failed = |error: io::Error| match (error.kind(), check_folder_of(target)) {
        (io::ErrorKind::NotFound, Err(missing)) => missing,
        // /proc and other folders of the kernel say so.
        (io::ErrorKind::NotFound, Ok(())) => {
            Error::io("create a temporary file beside it", target, error).advise("name a file in another folder")
        }
        _ => Error::io("create a temporary file beside it", target, error),
    };
    for _ in 0..MOST_TRIES {
        let path = folder.join(format!("{}{}.tmp", temporary_prefix(target), unique_number()));
        let mut options = OpenOptions::new();
        if replaces {
            system::restrict_to_owner(&mut options);
        }
        let file = match options.read(true).write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(failed(error)),
        };
        // Until the file is locked, another run may take it for stale and remove it. On a file system without locks,
        // no run removes files.
        if !matches!(system::mark_as_used(&file), Err(TryLockError::WouldBlock)) && is_at(&file, &path) {
            return Ok((path, file));
        }
        // No other file had or gets this name.
        let _ = fs::remove_file(&path);
    }
    let error = Error::new(ErrorKind::Target, "the temporary file beside it cannot be locked").in_file(target);
    Err(error.advise("name a file on another disk"))
}

/// Returns a number that no other temporary file has or had. The operating system seeds the hasher.
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
            // Do not open it either: closing a handle of a database would give up this process's locks on it.
            continue;
        }
        // Whoever may write into the folder may have put a link or a FIFO there.
        let Ok(file) = system::open_no_link(&path) else { continue };
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        // The lock is held until the file is gone, or another run could take it in between.
        if system::mark_as_used(&file).is_ok() && is_at(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Returns whether [`create_temporary`] may have given this name.
fn is_temporary(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".tmp"));
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns whether the open `file` is the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    match (FileId::of(file), FileId::named(path)) {
        (Ok(open), Ok(named)) => open == named,
        _ => false,
    }
}

/// Returns the start of the names of a target's temporary files. A long name is cut so that they fit 255 bytes.
/// Targets with the same start share their stale files.
fn temporary_prefix(target: &Path) -> String {
    const MOST: usize = 255 - ".".len() - ".litepress-0123456789abcdef.tmp".len();
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=name.len().min(MOST)).rfind(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.litepress-", &name[..end])
}

/// Returns the folder of a file.
pub fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
