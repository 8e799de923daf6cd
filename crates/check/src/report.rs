//! Reports the result of a check: the faults, the shape of every b-tree, and what was not checked.

use super::page_map::PageMap;
use super::sample::SampleReport;
use litepress_rows::sync::{Mutex, lock};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A broken rule, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Page number, counted from 1.
    pub page: Option<u32>,
    /// Byte on the page, counted from 0.
    pub offset: Option<usize>,
    /// The b-tree: `table t` or `index i`.
    pub object: Option<String>,
    /// The broken rule.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.page, self.offset) {
            (Some(page), Some(offset)) => write!(f, "page {page}, byte {offset}: ")?,
            (Some(page), None) => write!(f, "page {page}: ")?,
            (None, _) => {}
        }
        if let Some(object) = &self.object {
            write!(f, "{object}: ")?;
        }
        f.write_str(&self.what)
    }
}

/// The kind of a b-tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BtreeKind {
    /// A table, WITHOUT ROWID tables included.
    Table,
    /// An index with its own b-tree.
    Index,
}

impl fmt::Display for BtreeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table => "table",
            Self::Index => "index",
        })
    }
}

/// The shape of one b-tree, as far as it could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtreeReport {
    /// Name of the table or index.
    pub name: String,
    /// Whether it is a table or an index.
    pub kind: BtreeKind,
    /// Its root page.
    pub root: u32,
    /// Number of levels: 1 if the root is a leaf, 0 if the root cannot be read.
    pub depth: u32,
    /// Number of pages above the leaves.
    pub interior_pages: u64,
    /// Number of leaf pages.
    pub leaf_pages: u64,
    /// Number of overflow pages.
    pub overflow_pages: u64,
    /// Number of rows or index entries, including those on interior pages.
    pub entries: u64,
    /// Bytes of all records.
    pub payload_bytes: u64,
    /// Bytes that headers, cell pointers, cells and overflow content do not use.
    pub free_bytes: u64,
    /// Number of leaves that lie at most 8 pages behind the leaf before them in key order: reading on, a disk is there
    /// already. The first leaf counts too.
    pub sequential_leaves: u64,
}

/// The result of a [`check`](super::check).
#[derive(Clone, Debug)]
pub struct Report {
    /// The faults in page order, at most [`max_faults`](super::CheckOptions::max_faults).
    pub faults: Vec<Fault>,
    /// Number of all faults, including those that `faults` leaves out.
    pub faults_total: u64,
    /// Notes on everything that was not checked, with the reason, and on legal warnings. A clean file may have notes.
    pub notes: Vec<String>,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Number of pages of the file.
    pub pages: u64,
    /// Bytes of a page; 0 if the header does not say.
    pub page_size: u32,
    /// All b-trees that the schema names, after that of `sqlite_schema` itself.
    pub btrees: Vec<BtreeReport>,
    /// Whether a page has several references, which is a fault. A walk of all trees, as SQLite's, may then never end.
    pub shares_pages: bool,
    /// Number of pages on the freelist.
    pub freelist_pages: u64,
    /// Number of pointer-map pages of an auto-vacuum database.
    pub pointer_map_pages: u64,
    /// Duration of the check, in seconds.
    pub seconds: f64,
    /// What each page holds, if the options ask for it.
    pub map: Option<PageMap>,
    /// What a sample saw, if the options ask for one. The counts of b-trees are then those of the pages that were read.
    pub sample: Option<SampleReport>,
}

impl Report {
    /// Returns whether the file has no faults, as far as it was read.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.faults_total == 0
    }
}

/// A log of faults and notes from all threads. It keeps the first `max` faults and counts the rest.
#[derive(Debug)]
pub(super) struct FaultLog {
    max: usize,
    total: AtomicU64,
    kept: Mutex<Vec<Fault>>,
    notes: Mutex<BTreeSet<String>>,
}

impl FaultLog {
    pub(super) fn new(max: usize) -> Self {
        Self { max, total: AtomicU64::new(0), kept: Mutex::default(), notes: Mutex::default() }
    }

    /// Counts a fault. Calls `fault` only if it keeps the fault.
    #[cold]
    pub(super) fn add(&self, fault: impl FnOnce() -> Fault) {
        self.total.fetch_add(1, Ordering::Relaxed);
        let mut kept = lock(&self.kept);
        if kept.len() < self.max {
            kept.push(fault());
        }
    }

    /// Adds a fault of the whole file, or of one of its pages.
    pub(super) fn add_to_file(&self, page: Option<u32>, offset: Option<usize>, what: impl Into<String>) {
        self.add(|| Fault { page, offset, object: None, what: what.into() });
    }

    /// Adds a note on something that was not checked, or on a legal oddity. Equal notes are kept once.
    #[cold]
    pub(super) fn note(&self, note: String) {
        lock(&self.notes).insert(note);
    }

    pub(super) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Takes the faults, in page order, and the notes.
    pub(super) fn take(&self) -> (Vec<Fault>, Vec<String>) {
        let mut faults = std::mem::take(&mut *lock(&self.kept));
        faults.sort_unstable();
        (faults, std::mem::take(&mut *lock(&self.notes)).into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_line_that_begins_with_the_place() {
        let fault = Fault { page: Some(7), offset: Some(12), object: Some("table t".into()), what: "is odd".into() };
        assert_eq!(fault.to_string(), "page 7, byte 12: table t: is odd");
        assert_eq!(Fault { page: None, offset: None, ..fault }.to_string(), "table t: is odd");
    }

    #[test]
    fn faults_beyond_the_limit_are_counted_and_not_kept() {
        let log = FaultLog::new(2);
        for page in [9, 3, 5] {
            log.add_to_file(Some(page), None, "x");
        }
        log.note("once".into());
        log.note("once".into());
        let (faults, notes) = log.take();
        assert_eq!(log.total(), 3);
        assert_eq!(faults.iter().map(|fault| fault.page).collect::<Vec<_>>(), [Some(3), Some(9)]);
        assert_eq!(notes, ["once"]);
    }
}
