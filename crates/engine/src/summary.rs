//! Summarizes a finished run.

use std::time::Duration;

/// Counts and times of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// All tables, in the order of the schema.
    pub tables: Vec<TableSummary>,
    /// Number of rows of all tables.
    pub rows: u64,
    /// Number of pages of the file.
    pub pages: u64,
    /// Bytes of a page.
    pub page_size_bytes: u32,
    /// Bytes of the file.
    pub bytes: u64,
    /// Time by stage.
    pub stages: Stages,
    /// Peak resident memory of the process so far, in bytes; 0 if the system does not tell.
    pub peak_memory_bytes: u64,
}

/// Counts and time of one table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TableSummary {
    /// Its name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of given rows that a repeated key left out or replaced, or that a CHECK left out.
    pub left_out: u64,
    /// Bytes of all records; `None` if SQLite wrote them.
    pub payload_bytes: Option<u64>,
    /// Number of its root page.
    pub root_page: u32,
    /// Time from its first row to the root page of its last index.
    pub build: Duration,
}

/// Time by stage. The sum is the whole run without the check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stages {
    /// Building pages; writes run meanwhile.
    pub build: Duration,
    /// Waiting for the last writes.
    pub write: Duration,
    /// SQLite's part: objects that litepress does not write, and CHECK constraints.
    pub sqlite: Duration,
    /// Checking the finished file. Rates should not include it.
    pub verify: Duration,
    /// Waiting until the file survives a power cut.
    pub sync: Duration,
    /// Giving the file its name.
    pub publish: Duration,
}

impl Stages {
    /// Returns the time of the whole run without the check.
    pub fn total(&self) -> Duration {
        self.build + self.write + self.sqlite + self.sync + self.publish
    }
}

/// Returns the peak resident memory of this process so far, in bytes, or 0 if the system does not tell.
pub fn peak_memory_bytes() -> u64 {
    status_bytes("VmHWM:").unwrap_or(0)
}

/// Returns the resident memory of this process now, in bytes, or `None` if the system does not tell.
pub fn memory_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// Returns a field of this process's status on Linux.
fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}
