//! What the build of a table is given, and what it returns.

use crate::index::Indexes;
use crate::part::StoredRun;
use crate::progress::Progress;
use crate::tree::bulk_load::IndexTree;

/// The context of a table's build.
#[derive(Clone, Copy)]
pub(crate) struct BuildContext<'a> {
    /// The indexes, which get all records.
    pub indexes: &'a Indexes,
    pub threads: usize,
    /// Whether the distinct keys of a WITHOUT ROWID table are counted.
    pub counts_keys: bool,
    pub progress: &'a Progress,
}

/// A finished table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableTree {
    /// Number of the root page.
    pub root: u32,
    pub rows: u64,
    /// The largest rowid; 0 in an empty table.
    pub last_rowid: i64,
    /// Bytes of all records.
    pub payload_bytes: u64,
    /// Numbers of distinct keys of 1, 2, ... columns of a WITHOUT ROWID table, if they are counted.
    pub distinct: Vec<u64>,
    /// The runs of a table in a part, which has no tree.
    pub runs: Vec<StoredRun>,
}

impl From<IndexTree> for TableTree {
    /// Converts the tree of a table without rowids.
    fn from(IndexTree { root, entries, payload_bytes, distinct }: IndexTree) -> Self {
        Self { root, rows: entries, last_rowid: 0, payload_bytes, distinct, runs: Vec::new() }
    }
}
