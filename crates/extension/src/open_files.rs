//! Databases that this process has open.
//!
//! The locks of SQLite are those of POSIX, which belong to a process: when it closes any descriptor of a file, all of its locks on that
//! file are gone. The host's SQLite knows that and never closes such a descriptor too early, but it does not know of the extension. So the
//! extension opens no database that the process has open.

use litepress::{Error, ErrorKind, Result};
use litepress_format::header::MAGIC;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Folders with an entry for every descriptor of the process.
const DESCRIPTORS: [&str; 2] = ["/proc/self/fd", "/dev/fd"];
/// Refuses databases, and first those that this process has open, or a file beside one. These are not opened for that.
///
/// # Errors
/// [`ErrorKind::Target`] with the file, or [`ErrorKind::Usage`] if it is not open.
pub fn refuse_databases(path: &Path) -> Result<()> {
    let Some(descriptor) = descriptor_of(path) else { return litepress::refuse_database(path) };
    let name = path.to_string_lossy();
    let is_beside = ["-wal", "-shm", "-journal"].iter().any(|end| name.ends_with(end));
    if is_beside || is_database(descriptor) {
        let message = "this program has the file open as a database, and a second look would cost it its locks";
        return Err(Error::new(ErrorKind::Target, message).in_file(path));
    }
    Ok(())
}

/// Refuses a file that this process has open, whatever it holds.
///
/// # Errors
/// As [`refuse_databases`].
pub fn refuse_open(path: &Path) -> Result<()> {
    if descriptor_of(path).is_none() {
        return Ok(());
    }
    let message = "this program has the file open: to write or check it would cost it its locks";
    Err(Error::new(ErrorKind::Target, message).in_file(path))
}

/// Returns the number of a descriptor of a file.
fn descriptor_of(path: &Path) -> Option<i32> {
    let wanted = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let entries = DESCRIPTORS.iter().find_map(|folder| std::fs::read_dir(folder).ok())?;
    entries.flatten().find_map(|entry| {
        let found = std::fs::metadata(entry.path()).ok()?;
        let is_same = (found.dev(), found.ino()) == (wanted.dev(), wanted.ino());
        is_same.then_some(entry.file_name().to_str()?.parse().ok()?)
    })
}

/// Returns whether a descriptor is of a database, or of an empty file that may become one.
fn is_database(descriptor: i32) -> bool {
    // SAFETY: the descriptor is read from, by position, and never closed here. If another thread closes it meanwhile, the read fails, or
    // gives bytes of another file.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let mut head = [0; MAGIC.len()];
    match file.read_at(&mut head, 0) {
        Ok(0) => true,
        Ok(read) => head[..read] == MAGIC[..read],
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_databases_are_told_from_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.csv"), "a\n1\n").unwrap();
        std::fs::write(path("a.db"), [&MAGIC[..], &[0; 84]].concat()).unwrap();
        let error = refuse_databases(&path("a.db")).unwrap_err();
        assert!(error.to_string().contains("use ATTACH") && refuse_open(&path("a.db")).is_ok(), "{error}");
        let files = ["a.csv", "a.db"].map(|name| File::open(path(name)).unwrap());
        assert!(refuse_databases(&path("a.csv")).is_ok() && refuse_open(&path("a.csv")).is_err());
        let error = refuse_databases(&path("a.db")).unwrap_err();
        assert!(error.to_string().contains("a.db: this program has the file open as a database"), "{error}");
        drop(files);
        assert!(refuse_open(&path("a.db")).is_ok() && refuse_open(&path("missing")).is_ok());
    }
}
