//! Tells whether a file was changed between two moments.

use litepress_rows::files::FileId;
use std::fs;
use std::io;
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
    changed: SystemTime,
}

impl TargetStamp {
    /// Returns the stamp of a file. Waits until a later change shows.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        loop {
            let metadata = fs::metadata(path)?;
            let changed = metadata.modified()?;
            let age = SystemTime::now().duration_since(changed).unwrap_or(CLOCK_TICK);
            if age >= CLOCK_TICK {
                return Ok(Self { file: FileId::at(path)?, bytes: metadata.len(), changed });
            }
            std::thread::sleep(CLOCK_TICK - age);
        }
    }
}
