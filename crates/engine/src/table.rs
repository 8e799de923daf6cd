//! Builds the tree of one table from the rows of its source.
//!
//! ```text
//! sort_plan            which of these ways the rows go
//! rowid                rows in the order of their rowids
//! rowid_unknown_order  rows that may be out of order: appended until one is, then sorted
//! without_rowid        rows in the order of their primary key, or sorted by it
//! sorted_rows          rows sorted by a key, as a source again; resolves key conflicts
//! updated_rows         the same, but rows with one key are folded into one
//! extract              index entries of rows that exist
//! rtree                an R-Tree: the rows of its three tables
//! entries              entries of another database's index, in their order there
//! ```
//!
//! `append` builds the leaf pages of all of them in parallel, part by part.

mod append;
mod context;
pub(crate) mod entries;
mod extract;
mod one_chunk;
mod part_queue;
mod row_key;
pub(crate) mod rowid;
mod rowid_unknown_order;
pub(crate) mod rtree;
mod sort_plan;
pub(crate) mod sorted_rows;
pub(crate) mod updated_rows;
pub(crate) mod without_rowid;

pub(crate) use append::PIECE_BYTES;
pub(crate) use context::{BuildContext, TableTree};
pub(crate) use extract::extract;
pub(crate) use one_chunk::OneChunk;
#[cfg(test)]
pub(crate) use one_chunk::OnePart;
pub(crate) use part_queue::PartQueue;
pub(crate) use row_key::{RecordKey, Row, RowKey, RowidKey};
pub(crate) use rowid::build_few;
pub(crate) use sort_plan::SortPlan;
pub(crate) use without_rowid::late_materialization;
