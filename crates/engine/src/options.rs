//! How a database is to be made.

use crate::progress::Progress;
use crate::verify::Verify;
use crate::{Conflict, machine};
use litepress_format::page::PageSize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the database goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file: absent or as it was until the database is whole.
    File(PathBuf),
    /// The bytes of the whole file in memory, as `sqlite3_deserialize` takes them.
    Memory,
    /// Nowhere: pages are built, counted and dropped. For measurements.
    Discard,
}

impl From<PathBuf> for Target {
    fn from(file: PathBuf) -> Self {
        Self::File(file)
    }
}

impl From<&Path> for Target {
    fn from(file: &Path) -> Self {
        Self::File(file.to_owned())
    }
}

impl From<&str> for Target {
    fn from(file: &str) -> Self {
        Self::File(file.into())
    }
}

/// Whether a published file survives a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// File and folder are synced before the file gets its name. A crash leaves the old file or the new one.
    #[default]
    Full,
    /// Nothing is synced: still whole or absent if the process dies, not if the machine does.
    Off,
}

/// How a database is to be made. `Options::default()` suits most cases.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Page size; by default what the schema's `PRAGMA page_size` says, else 4096 bytes.
    pub page_size: Option<PageSize>,
    /// Threads that build pages (at least 1); by default one a core. Threads that wait for the disk come on top.
    pub threads: usize,
    /// Bytes of memory for sorting and for pages on their way, at most as many as the machine or the container has; by
    /// default a quarter of those, 256 MiB at least unless that is more than half. What comes on top: about 20 MiB, and
    /// for each thread about three times its longest row.
    pub memory_bytes: u64,
    /// Folder for temporary files of sorts that do not fit the memory; by default that of the target.
    pub temp_dir: Option<PathBuf>,
    /// Whether an existing database may be replaced.
    pub replace: bool,
    /// What becomes of a row whose key is there already, or that has NULL where there must be none: the same as if
    /// SQLite inserted one row after another. Whoever encodes the rows must know it too
    /// ([`Encoder::new`](litepress_rows::Encoder::new)).
    pub on_conflict: Conflict,
    /// Whether the file survives a power cut.
    pub sync: Sync,
    /// Whether SQLite's planner gets statistics: the table `sqlite_stat1`, with the rows that `ANALYZE` would write.
    pub analyze: bool,
    /// How the finished file is checked before it gets its name.
    pub verify: Verify,
    /// About how many bytes the file will have, for the check of free space; 0 where nobody knows.
    pub expected_bytes: u64,
    /// Counts what is done, and carries the wish to stop.
    pub progress: Arc<Progress>,
}

/// The smallest memory budget.
pub const MIN_MEMORY_BYTES: u64 = 64 << 20;

impl Default for Options {
    fn default() -> Self {
        Self {
            page_size: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: default_memory_bytes(machine::memory_bytes()),
            temp_dir: None,
            replace: false,
            on_conflict: Conflict::Abort,
            sync: Sync::Full,
            analyze: false,
            verify: Verify::None,
            expected_bytes: 0,
            progress: Arc::default(),
        }
    }
}

impl Options {
    /// Sets the page size.
    #[must_use]
    pub fn page_size(mut self, page_size: PageSize) -> Self {
        self.page_size = Some(page_size);
        self
    }

    /// Sets the number of threads that build pages.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the memory budget: [`MIN_MEMORY_BYTES`] at least.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Sets the folder for temporary files.
    #[must_use]
    pub fn temp_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temp_dir = Some(folder.into());
        self
    }

    /// Sets whether an existing database may be replaced.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Sets the fate of rows whose key exists already, or that have NULL where none may be.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: Conflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }

    /// Sets whether the file survives a power cut.
    #[must_use]
    pub fn sync(mut self, sync: Sync) -> Self {
        self.sync = sync;
        self
    }

    /// Sets whether SQLite's planner gets statistics.
    #[must_use]
    pub fn analyze(mut self, analyze: bool) -> Self {
        self.analyze = analyze;
        self
    }

    /// Sets how the finished file is checked before it gets its name.
    #[must_use]
    pub fn verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Sets the counters to report to, which also carry the wish to stop.
    #[must_use]
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = progress;
        self
    }
}

/// Returns the budget for a process that has so much memory, if that is known.
fn default_memory_bytes(known: Option<u64>) -> u64 {
    const LEAST: u64 = 256 << 20;
    let most = known.unwrap_or(4 * LEAST);
    (most / 4).max(LEAST.min(most / 2)).max(MIN_MEMORY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a sandbox without `/proc`, which tells the memory of the machine, every command that makes a database panicked.
    #[test]
    fn the_default_of_memory_follows_from_what_there_is() {
        assert_eq!(default_memory_bytes(None), 256 << 20);
        assert_eq!(default_memory_bytes(Some(16 << 30)), 4 << 30);
        assert_eq!(default_memory_bytes(Some(400 << 20)), 200 << 20);
        assert_eq!(default_memory_bytes(Some(64 << 20)), MIN_MEMORY_BYTES);
    }
}
