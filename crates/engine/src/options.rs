//! Options of a new database.

use crate::progress::Progress;
use crate::verify::Verify;
use crate::{Conflict, machine};
use litepress_format::page::PageSize;
use std::path::PathBuf;
use std::sync::Arc;

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
    pub replace: bool,
    /// The policy for a row with an existing key, or with NULL in a NOT NULL column. The result is the same as if
    /// SQLite inserted one row after another. The encoder of the rows must get the same policy
    /// ([`Encoder::new`](litepress_rows::Encoder::new)).
    pub on_conflict: Conflict,
    /// The durability in a power cut.
    pub sync: Sync,
    /// Whether to write statistics for SQLite's planner: the table `sqlite_stat1`, with the rows that `ANALYZE` would
    /// write.
    pub analyze: bool,
    /// The check of the finished file before it gets its name.
    pub verify: Verify,
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

/// Returns the default budget for a process with this much memory, if that is known.
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
