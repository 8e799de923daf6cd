//! Publishes a folder of databases: all of them or none.
//!
//! The files are made in a folder `.NAME.litepress-N.tmp` beside the target, locked by the run that fills it. It is synced as a whole and
//! gets its name by one rename. A folder that is replaced exchanges its name with the new one, and is then removed: whoever opens a file by its path
//! finds the old set or the new one. On a file system without such an exchange the target is absent for the time between two renames. A killed run leaves a
//! folder without a lock, which the next run for the same target removes; if it is killed between those two renames, the old folder is left under such
//! a name, and is not locked either, so it is kept as `.NAME.litepress-N.old`.

use super::{check_folder_of, check_target, folder_of, is_temporary, system, temporary_prefix, unique_number};
use crate::{Error, ErrorKind, Result, Sync};
use litepress_format::header::MAGIC;
use litepress_rows::{OptionName, message};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A folder of databases that has no name yet.
///
/// Dropped unpublished, it leaves nothing behind.
pub(crate) struct Folder {
    target: PathBuf,
    temporary: PathBuf,
    /// The temporary folder, locked; `None` if the system does not open folders.
    handle: Option<File>,
    may_replace: bool,
    published: bool,
}

impl Folder {
    /// Checks that the target may be written, and makes the temporary folder.
    pub fn begin(target: &Path, may_replace: bool) -> Result<Self> {
        let target = resolve(target)?;
        check(&target, may_replace)?;
        remove_stale(&target);
        let (temporary, handle) = create(&target)?;
        Ok(Self { target, temporary, handle, may_replace, published: false })
    }

    /// Fails if the target can have no databases: it is a file, or its own folder is missing. A folder that exists is no error.
    pub fn check_future(target: &Path) -> Result<()> {
        let target = resolve(target)?;
        is_folder(&target)?;
        check_folder_of(&target)
    }

    /// Returns the path under which the files are made.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Returns the future path.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Waits until the disk has all files.
    pub fn sync(&self) -> Result<()> {
        let failed = |error| Error::io("sync", &self.target, error);
        let is_synced = self.handle.as_ref().map_or(Ok(false), system::sync_disk_of).map_err(failed)?;
        if !is_synced {
            for entry in fs::read_dir(&self.temporary).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                File::options().write(true).open(path).and_then(|file| file.sync_all()).map_err(failed)?;
            }
        }
        system::sync_folder(&self.temporary).map_err(failed)
    }

    /// Gives the folder its name. It must be complete, and synced if that is wanted.
    pub fn commit(mut self, sync: Sync) -> Result<()> {
        let replaces = check(&self.target, self.may_replace)?;
        let failed = |error| Error::io("publish", &self.target, error);
        if replaces {
            self.replace()?;
        } else {
            // A folder that is there is empty.
            let _ = fs::remove_dir(&self.target);
            fs::rename(&self.temporary, &self.target).map_err(failed)?;
        }
        self.published = true;
        if sync == Sync::Full {
            let folder = folder_of(&self.target);
            system::sync_folder(folder)
                .map_err(|error| Error::io("sync the folder of the published databases", folder, error))?;
        }
        Ok(())
    }

    /// Takes the place of the old folder, which is removed.
    fn replace(&self) -> Result<()> {
        let failed = |error| Error::io("replace", &self.target, error);
        let rights = fs::metadata(&self.target).map_err(failed)?.permissions();
        fs::set_permissions(&self.temporary, rights).map_err(failed)?;
        let old = if system::exchange(&self.temporary, &self.target).map_err(failed)? {
            self.temporary.clone()
        } else {
            let old = self.temporary.with_extension("old");
            fs::rename(&self.target, &old).map_err(failed)?;
            if let Err(error) = fs::rename(&self.temporary, &self.target) {
                // Best effort: the error names what happened.
                let _ = fs::rename(&old, &self.target);
                return Err(failed(error));
            }
            old
        };
        // The new set has its name: files that cannot be removed are no reason to fail.
        let _ = fs::remove_dir_all(old);
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.published {
            // Best effort: the next run removes what is left.
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// Returns the folder to write: the target itself, or the one that a link leads to.
fn resolve(target: &Path) -> Result<PathBuf> {
    let Some(name) = target.file_name() else {
        let message = format!("'{}' is not the name of a folder", target.display());
        return Err(Error::new(ErrorKind::Usage, message));
    };
    // Without a separator behind it, which would follow a link.
    let target = target.parent().map_or_else(PathBuf::new, |parent| parent.join(name));
    if target.is_symlink() {
        return fs::canonicalize(&target).map_err(|error| Error::io("follow the link", &target, error));
    }
    Ok(target)
}

/// Checks that the target may get a new folder. Returns whether it replaces one that has files.
fn check(target: &Path, may_replace: bool) -> Result<bool> {
    let unreadable = |error| Error::io("look at", target, error);
    if !is_folder(target)? {
        return Ok(false);
    }
    let mut files = 0_u64;
    for entry in fs::read_dir(target).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        files += 1;
        if may_replace {
            check_replaceable(target, &path)?;
        }
    }
    if files > 0 && !may_replace {
        let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        let error = Error::new(ErrorKind::Exists, format!("the folder exists and holds {files}")).in_file(target);
        let advice = message!["choose another name, or replace the whole folder with ", OptionName::Overwrite.alone()];
        return Err(error.advise(advice));
    }
    Ok(files > 0)
}

/// Returns whether the target exists. Fails if it is no folder.
fn is_folder(target: &Path) -> Result<bool> {
    match fs::metadata(target) {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => {
            let error = Error::new(ErrorKind::Target, "the target is not a folder").in_file(target);
            Err(error.advise("name a folder that does not exist, or an empty one"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("look at", target, error)),
    }
}

/// Fails unless this file of the target is a database that no program uses. Nothing else goes with an old folder.
fn check_replaceable(target: &Path, path: &Path) -> Result<()> {
    let unreadable = |error| Error::io("look at", path, error);
    let is_file = fs::symlink_metadata(path).map_err(unreadable)?.is_file();
    let mut head = Vec::new();
    if is_file {
        // The handle is closed before this process takes a lock.
        File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head)).map_err(unreadable)?;
    }
    // An empty file is a database, too. But a marker such as `.gitkeep` or a lock file is not.
    let is_empty_database = head.is_empty() && path.extension().is_some_and(|extension| extension == "db");
    if !is_file || !(is_empty_database || head == MAGIC) {
        let message = format!("the folder holds more than databases: '{}'", path.display());
        let error = Error::new(ErrorKind::Target, message).in_file(target);
        return Err(error.advise("move it elsewhere, or choose another name"));
    }
    check_target(path, true).map(drop)
}

/// Creates the temporary folder and locks it.
fn create(target: &Path) -> Result<(PathBuf, Option<File>)> {
    let parent = folder_of(target);
    let failed = |error: io::Error| match (error.kind(), check_folder_of(target)) {
        (io::ErrorKind::NotFound, Err(missing)) => missing,
        _ => Error::io("create a temporary folder beside it", target, error),
    };
    loop {
        let path = parent.join(format!("{}{}.tmp", temporary_prefix(target), unique_number()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created.map_err(failed)?,
        }
        let handle = system::open_folder(&path).map_err(failed)?;
        // Until the folder is locked, another run may take it for stale and remove it.
        let is_taken = |file: &File| matches!(system::mark_as_used(file), Err(TryLockError::WouldBlock));
        if !handle.as_ref().is_some_and(is_taken) && path.is_dir() {
            return Ok((path, handle));
        }
    }
}

/// Removes temporary folders of this target that no living process holds.
fn remove_stale(target: &Path) {
    let prefix = temporary_prefix(target);
    let Ok(entries) = fs::read_dir(folder_of(target)) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if !is_folder || !name.is_some_and(|name| is_temporary(name, &prefix)) {
            continue;
        }
        let Ok(Some(folder)) = system::open_folder(&path) else { continue };
        if system::mark_as_used(&folder).is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn database(path: &Path, number: i64) {
        let database = Connection::open(path).expect("a database");
        database.execute_batch(&format!("CREATE TABLE t(a); INSERT INTO t VALUES ({number})")).expect("a table");
    }

    fn number(path: &Path) -> i64 {
        let database = Connection::open(path).expect("a database");
        database.query_row("SELECT a FROM t", [], |row| row.get(0)).expect("a row")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    #[test]
    fn a_set_is_whole_or_absent() {
        let parent = tempfile::tempdir().expect("a folder");
        let target = parent.path().join("out");
        let begun = Folder::begin(&target, false).expect("a free name");
        database(&begun.path().join("a.db"), 1);
        assert!(!target.exists());
        drop(begun);
        assert_eq!(names(parent.path()), Vec::<String>::new());
        for number in [1, 2] {
            let begun = Folder::begin(&target, number > 1).expect("a free name");
            database(&begun.path().join(format!("{number}.db")), number);
            begun.sync().expect("a disk");
            begun.commit(Sync::Full).expect("a free name");
        }
        assert_eq!((names(parent.path()), names(&target)), (vec!["out".to_owned()], vec!["2.db".to_owned()]));
        assert_eq!(number(&target.join("2.db")), 2);
    }

    /// An old folder went with everything in it, also with what no run had made. Later empty files still did: `.gitkeep`, `README`.
    #[test]
    fn only_databases_that_nobody_uses_go_with_a_folder() {
        let parent = tempfile::tempdir().expect("a folder");
        let target = parent.path().join("out");
        fs::create_dir(&target).expect("a folder");
        drop(Folder::begin(&target, false).expect("an empty folder"));
        database(&target.join("a.db"), 1);
        let refused = |replace| Folder::begin(&target, replace).err().expect("a refusal").to_string();
        assert!(refused(false).contains("holds 1 file"), "{}", refused(false));
        let user = Connection::open(target.join("a.db")).expect("a database");
        user.execute_batch("BEGIN; SELECT * FROM t").expect("a reader");
        assert!(refused(true).contains("a.db"), "{}", refused(true));
        drop(user);
        drop(Folder::begin(&target, true).expect("databases that are closed"));
        fs::write(target.join("notes.txt"), "mine").expect("a file");
        assert!(refused(true).contains("more than databases") && refused(true).contains("notes.txt"));
        fs::remove_file(target.join("notes.txt")).expect("a file");
        fs::write(target.join("empty.db"), "").expect("a file");
        for marker in ["README", ".lock", ".gitkeep", ".db"] {
            fs::write(target.join(marker), "").expect("a file");
            assert!(refused(true).contains(&format!("{marker}'")), "{}", refused(true));
            fs::remove_file(target.join(marker)).expect("a file");
        }
        drop(Folder::begin(&target, true).expect("databases alone"));
        fs::create_dir(target.join("sub")).expect("a folder");
        assert!(refused(true).contains("more than databases"));
        assert_eq!(names(&target), ["a.db", "empty.db", "sub"]);
    }

    /// A killed run left a folder with thousands of files for ever.
    #[test]
    fn what_a_killed_run_left_is_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let target = parent.path().join("out");
        let living = Folder::begin(&target, false).expect("a free name");
        let stale = parent.path().join(".out.litepress-0123456789abcdef.tmp");
        fs::create_dir(&stale).expect("a folder");
        database(&stale.join("a.db"), 1);
        drop(Folder::begin(&target, false).expect("a free name"));
        assert!(!stale.exists() && living.path().exists());
    }
}
