//! Counts bytes of a database as they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter of the bytes of a database that were read.
///
/// The bytes of a table are estimates: SQLite does not report which pages it reads, and nobody reads the pages of indexes. If the
/// database has only one table, the counter ends with the size of its file.
#[derive(Debug)]
pub(super) struct ReadBytes {
    /// The counter of all files.
    of_run: Arc<AtomicU64>,
    own: AtomicU64,
    /// Bytes of the file, if all are counted.
    most: Option<u64>,
}

impl ReadBytes {
    pub fn new(of_run: Arc<AtomicU64>, most: Option<u64>) -> Self {
        Self { of_run, own: AtomicU64::new(0), most }
    }

    /// Counts bytes, up to those of the file.
    pub fn add(&self, bytes: u64) {
        let most = self.most.unwrap_or(u64::MAX);
        let sum = |own: u64| Some(own.saturating_add(bytes).min(most));
        let Ok(before) = self.own.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum) else { return };
        self.of_run.fetch_add(bytes.min(most - before), Ordering::Relaxed);
    }

    /// Counts the rest of the file: its last record was read.
    pub fn complete(&self) {
        if let Some(most) = self.most {
            self.add(most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_once_and_whole() {
        let run = Arc::new(AtomicU64::new(5));
        let bytes = ReadBytes::new(run.clone(), Some(100));
        bytes.add(30);
        assert_eq!(run.load(Ordering::Relaxed), 35);
        bytes.add(90);
        assert_eq!(run.load(Ordering::Relaxed), 105);
        bytes.complete();
        bytes.add(1);
        assert_eq!(run.load(Ordering::Relaxed), 105);
        let short = ReadBytes::new(run.clone(), Some(10));
        short.complete();
        let open = ReadBytes::new(run.clone(), None);
        open.add(7);
        open.complete();
        assert_eq!(run.load(Ordering::Relaxed), 122);
    }
}
