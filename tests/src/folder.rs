//! A temporary folder with a target in it.

use litepress::Target;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that is deleted on drop.
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// Makes an empty folder.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a folder on the disk is no default value")]
    pub fn new() -> Self {
        Self(tempfile::Builder::new().prefix("litepress-conformance-").tempdir().unwrap())
    }

    /// Makes an empty folder that need not survive anything, where files are fast.
    #[must_use]
    pub fn fast() -> Self {
        Self(litepress_crashlab::fast_folder().unwrap())
    }

    /// Makes an empty folder for files of `bytes`, in memory if the system has room for them. A disk whose free blocks are discarded at
    /// once takes half a minute to remove a file in many pieces.
    #[must_use]
    pub fn with_room(bytes: u64) -> Self {
        let room = rustix::fs::statvfs("/dev/shm").map_or(0, |room| room.f_bavail * room.f_frsize);
        if room < bytes { Self::new() } else { Self::fast() }
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns a path in it.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Returns a file in it as a target.
    #[must_use]
    pub fn target(&self, name: &str) -> Target {
        Target::File(self.join(name))
    }

    /// Returns the names of everything in it, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = fs::read_dir(self.path()).unwrap().map(name).collect();
        names.sort();
        names
    }

    /// Returns the names of temporary files of unfinished runs.
    #[must_use]
    pub fn temporaries(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| name.ends_with(".tmp")).collect()
    }
}
