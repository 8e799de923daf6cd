//! Holds the rules of a b-tree, which are known before the walk, and the counts that it adds up.

use super::content::Digest;
use super::order::KeyOrder;
use super::record::RecordRules;
use super::report::{BtreeKind, BtreeReport, Fault};
use litepress_rows::sync::{Mutex, lock};

/// A b-tree to check: its rules, and its running totals.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) name: String,
    /// Position in the report: 0 is the tree of `sqlite_schema`.
    pub(super) number: u32,
    pub(super) kind: BtreeKind,
    pub(super) root: u32,
    /// Whether its pages are those of a rowid table; `None` if the root decides.
    pub(super) has_rowids: Option<bool>,
    pub(super) rules: RecordRules,
    /// The order of entries; `None` for rowid tables, or if the order cannot be checked.
    pub(super) order: Option<KeyOrder>,
    /// The digests to sum up: those of its indexes for a table, its own for an index.
    pub(super) digests: Vec<Digest>,
    pub(super) totals: Mutex<Totals>,
}

/// The counts of a b-tree, or of a part of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) depth: u32,
    pub(super) interior_pages: u64,
    pub(super) leaf_pages: u64,
    pub(super) overflow_pages: u64,
    pub(super) entries: u64,
    pub(super) payload_bytes: u64,
    pub(super) free_bytes: u64,
    pub(super) sequential_leaves: u64,
    /// The largest rowid.
    pub(super) max_rowid: Option<i64>,
    /// Sums of the tree's digests; `None` if an entry could not be added.
    pub(super) sums: Vec<Option<u128>>,
    /// Whether something was not read, so that counts and sums are incomplete.
    pub(super) incomplete: bool,
}

impl Totals {
    /// Returns zero counts for a tree with `digests` digests.
    pub(super) fn nothing(digests: usize) -> Self {
        Self { sums: vec![Some(0); digests], ..Self::default() }
    }

    /// Adds the counts of another part of the tree.
    pub(super) fn add(&mut self, part: &Self) {
        self.depth = self.depth.max(part.depth);
        self.interior_pages += part.interior_pages;
        self.leaf_pages += part.leaf_pages;
        self.overflow_pages += part.overflow_pages;
        self.entries += part.entries;
        self.payload_bytes = self.payload_bytes.saturating_add(part.payload_bytes);
        self.free_bytes += part.free_bytes;
        self.sequential_leaves += part.sequential_leaves;
        self.max_rowid = self.max_rowid.max(part.max_rowid);
        for (sum, part) in self.sums.iter_mut().zip(&part.sums) {
            *sum = sum.zip(*part).map(|(sum, part)| sum.wrapping_add(part));
        }
        self.incomplete |= part.incomplete;
    }
}

impl Tree {
    /// Returns `table t` or `index i`.
    pub(super) fn object(&self) -> String {
        format!("{} {}", self.kind, self.name)
    }

    pub(super) fn fault(&self, page: Option<u32>, offset: Option<usize>, what: impl Into<String>) -> Fault {
        Fault { page, offset, object: Some(self.object()), what: what.into() }
    }

    pub(super) fn report(&self) -> BtreeReport {
        let totals = lock(&self.totals);
        BtreeReport {
            name: self.name.clone(),
            kind: self.kind,
            root: self.root,
            depth: totals.depth,
            interior_pages: totals.interior_pages,
            leaf_pages: totals.leaf_pages,
            overflow_pages: totals.overflow_pages,
            entries: totals.entries,
            payload_bytes: totals.payload_bytes,
            free_bytes: totals.free_bytes,
            sequential_leaves: totals.sequential_leaves,
        }
    }
}
