//! Files as every operating system has them: reads and writes at an offset, and identities.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;
use std::io;
#[cfg(unix)]
pub use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;
#[cfg(windows)]
pub use windows::FileExt;

/// A file's disk and its number there. Two names with the same identity are one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    disk: u64,
    number: u64,
}

impl FileId {
    /// Returns the identity of an open file.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn of(file: &File) -> io::Result<Self> {
        system::id_of_file(file)
    }

    /// Returns the identity of the file that a path leads to.
    ///
    /// # Errors
    /// If there is none, or the system does not tell.
    pub fn at(path: &Path) -> io::Result<Self> {
        system::id_at(path)
    }

    /// Returns the identity of the file with this name. A symbolic link is a file.
    ///
    /// # Errors
    /// If there is none, or the system does not tell.
    pub fn named(path: &Path) -> io::Result<Self> {
        system::id_of_name(path)
    }
}

/// Returns whether two paths lead to one file. A file that is absent has one name in one folder.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (FileId::at(one), FileId::at(other)) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), Err(_)) => {
            let place = |path: &Path| {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                FileId::at(folder).ok().zip(path.file_name().map(ToOwned::to_owned))
            };
            one == other || place(one).is_some_and(|one| place(other) == Some(one))
        }
        _ => false,
    }
}

/// Returns the path without links, as SQLite makes it. The file need not exist.
#[must_use]
pub fn full_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or(path.to_owned());
    let in_folder = || Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?));
    absolute.canonicalize().ok().or_else(in_folder).unwrap_or(absolute)
}

/// Returns how many names (hard links) an open file has.
///
/// # Errors
/// If the system does not tell.
pub fn count_names(file: &File) -> io::Result<u64> {
    system::count_names(file)
}

/// Reads or writes again if a signal came before anything was read or written (EINTR), as it may on network file systems.
///
/// # Errors
/// If `call` fails otherwise.
pub fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Fills `bytes` from an offset on, or up to the end of the file. Returns the number of bytes that were read.
///
/// # Errors
/// If the file cannot be read.
pub fn read_up_to(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match retry(|| file.read_at(&mut bytes[read..], offset + read as u64))? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

/// Opens a file once more, with a position of its own. The file may have no name.
///
/// # Errors
/// If the system cannot.
pub fn opened_again(file: &File) -> io::Result<File> {
    system::opened_again(file)
}

/// Returns the path that the bytes of a name from C state. `None` if they state none on this system.
#[must_use]
pub fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    system::path_of_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_file_have_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, other] = ["one", "two", "other"].map(|name| folder.path().join(name));
        let file = File::create(&one).unwrap();
        assert_eq!(count_names(&file).unwrap(), 1);
        std::fs::hard_link(&one, &two).unwrap();
        File::create(&other).unwrap();
        let id = FileId::of(&file).unwrap();
        assert_eq!((FileId::at(&two).unwrap(), FileId::named(&one).unwrap()), (id, id));
        assert_eq!(count_names(&file).unwrap(), 2);
        assert_ne!(FileId::at(&other).unwrap(), id);
        assert!(FileId::at(&folder.path().join("none")).is_err());
        assert!(is_same_file(&one, &two) && !is_same_file(&one, &other) && !is_same_file(&one, Path::new("")));
        let absent = [folder.path().join("none"), folder.path().join(".").join("none"), folder.path().join("no")];
        assert!(is_same_file(&absent[0], &absent[1]) && !is_same_file(&absent[0], &absent[2]));
        assert_eq!(full_path(&absent[0]), full_path(&absent[1]));
        assert_ne!(full_path(&one), full_path(&two));
    }
}
