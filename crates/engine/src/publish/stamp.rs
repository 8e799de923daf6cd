//! Tells whether a file was changed between two moments.

use super::FileId;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Age from which a file's time of change surely differs from that of a later change. The clock of file systems ticks every
/// few milliseconds.
const CLOCK_TICK: Duration = Duration::from_millis(30);

/// Identity, size and time of change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetStamp {
    file: FileId,
    bytes: u64,
    changed: (i64, i64),
}

impl TargetStamp {
    /// Returns the stamp of a file. Waits until a later change shows.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        loop {
            let metadata = fs::metadata(path)?;
            let age = SystemTime::now().duration_since(metadata.modified()?).unwrap_or(CLOCK_TICK);
            if age >= CLOCK_TICK {
                let changed = (metadata.mtime(), metadata.mtime_nsec());
                return Ok(Self { file: FileId::of(&metadata), bytes: metadata.len(), changed });
            }
            std::thread::sleep(CLOCK_TICK - age);
        }
    }
}
