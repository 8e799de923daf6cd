//! Options of a new database.

use crate::TargetStamp;
use crate::progress::Progress;
use crate::{Conflict, memory};
use litepress_format::page::PageSize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The destination of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file. It is absent, or as it was, until the database is whole.
    File(PathBuf),
    /// The bytes of the whole file in memory, as `sqlite3_deserialize` takes them.
    Memory,
    /// No destination: pages are built, counted and dropped. For measurements.
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

/// The durability of a published file in a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// The file is synced before it gets its name, and its folder afterwards. A crash leaves the old file or the new
    /// one.
    #[default]
    Full,
    /// Nothing is synced. The file is whole or absent if the process dies, but not if the machine does.
    Off,
}

/// The check of the finished file before it gets its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// No check.
    #[default]
    None,
    /// A check of every page, by [`check`](litepress_check::check).
    Quick,
    /// A quick check, and SQLite's `integrity_check` and `foreign_key_check`.
    Full,
}

/// Options of a new database. `Options::default()` suits most cases.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Page size. The default is the schema's `PRAGMA page_size`, or else 4096 bytes.
    pub page_size: Option<PageSize>,
    /// Number of threads that build pages, at least 1. The default is one per core. Further threads wait for the disk.
    pub threads: usize,
    /// Memory budget for sorts and for pages in flight, in bytes, capped at the memory of the machine or container.
    /// The default is a quarter of that memory, but at least the lesser of 256 MiB and half of it. The run takes about
    /// 20 MiB more, and for each thread about three times its longest row.
    pub memory_bytes: u64,
    /// Folder for temporary files of sorts that exceed the memory. The default is the target's folder, or the system's
    /// temporary folder if the target is no file.
    pub temp_dir: Option<PathBuf>,
    /// Whether an existing database may be replaced.
    pub overwrite: bool,
    /// The database that the new one replaces, from [`begin_replacing`](crate::begin_replacing). If it was changed since,
    /// the run fails.
    pub successor_of: Option<TargetStamp>,
    /// The policy for a row with an existing key, or with NULL in a NOT NULL column. The result is the same as if
    /// SQLite inserted one row after another. The encoder of the rows must get the same policy
    /// ([`Encoder::new`](litepress_rows::Encoder::new)).
    pub on_conflict: Conflict,
    /// Columns of the unique key that decides which row [`Conflict::Update`] updates. The default is the primary key, or else
    /// the only unique key.
    pub key: Vec<String>,
    /// Columns that [`Conflict::Update`] changes. The default is all given columns that do not belong to the key.
    pub update_columns: Vec<String>,
    /// The durability in a power cut.
    pub sync: Sync,
    /// Whether to write statistics for SQLite's planner: the table `sqlite_stat1`, with the rows that `ANALYZE` would
    /// write.
    pub analyze: bool,
    /// The check of the finished file before it gets its name.
    pub verify: Verify,
    /// Whether the file is a part of a database, for [`Parts`](crate::Parts), instead of a database.
    pub part: bool,
    /// Approximate size of the file, in bytes, for the check of free space; 0 if it is unknown.
    pub expected_bytes: u64,
    /// Counts progress, and carries requests to stop.
    pub progress: Arc<Progress>,
}

/// The smallest memory budget, in bytes.
pub const MIN_MEMORY_BYTES: u64 = 64 << 20;

impl Default for Options {
    fn default() -> Self {
        Self {
            page_size: None,
            threads: cores(),
            memory_bytes: default_memory_bytes(memory::memory_bytes()),
            temp_dir: None,
            overwrite: false,
            successor_of: None,
            on_conflict: Conflict::Abort,
            key: Vec::new(),
            update_columns: Vec::new(),
            sync: Sync::Full,
            analyze: false,
            verify: Verify::None,
            part: false,
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
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets the fate of rows whose key exists already, or that have NULL where none may be.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: Conflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }

    /// Sets the columns of the unique key that decides which row is updated.
    #[must_use]
    pub fn key(mut self, columns: &[&str]) -> Self {
        self.key = columns.iter().map(|&column| column.to_owned()).collect();
        self
    }

    /// Sets the columns that an update changes.
    #[must_use]
    pub fn update_columns(mut self, columns: &[&str]) -> Self {
        self.update_columns = columns.iter().map(|&column| column.to_owned()).collect();
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

    /// Sets whether the file is a part of a database instead of a database.
    #[must_use]
    pub fn part(mut self, part: bool) -> Self {
        self.part = part;
        self
    }

    /// Sets the counters to report to, which also carry the wish to stop.
    #[must_use]
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = progress;
        self
    }
}

/// Returns the default budget for a process with this much memory, if that is known.
/// Returns the number of cores that this process may use. The files of the system are read only once.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn default_memory_bytes(known: Option<u64>) -> u64 {
    const LEAST: u64 = 256 << 20;
    let most = known.unwrap_or(4 * LEAST);
    (most / 4).max(LEAST.min(most / 2)).max(MIN_MEMORY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command that makes a database panicked in a sandbox without `/proc`, which tells the memory of the
    /// machine.
    #[test]
    fn the_default_of_memory_follows_from_what_there_is() {
        assert_eq!(default_memory_bytes(None), 256 << 20);
        assert_eq!(default_memory_bytes(Some(16 << 30)), 4 << 30);
        assert_eq!(default_memory_bytes(Some(400 << 20)), 200 << 20);
        assert_eq!(default_memory_bytes(Some(64 << 20)), MIN_MEMORY_BYTES);
    }
}
