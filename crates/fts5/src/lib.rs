//! The segments of FTS5, SQLite's full-text index, as bytes.
//!
//! An index is one segment or several. A segment has all terms of some rows in order, each with its **doclist**: the rows that
//! have the term, and the **position list** of each. It is cut into leaf pages, which are rows of the table `%_data`.
//!
//! ```text
//! leaf          u16 offset of the first rowid before the first term, or 0
//!               u16 offset of the footer
//!               rest of the doclist of the page before, then terms, each followed by its doclist
//!               footer: varint offsets of the terms, each but the first as a difference
//! term          the first of a page: varint length, bytes
//!               others: varint length of the prefix shared with the term before, varint length of the rest, rest
//!               the first byte tells the index: '0' for tokens, '1' and so on for the prefix indexes
//! doclist       rowid and position list, again and again. A rowid is a varint difference from the one before; the first of
//!               a doclist, and the first of a page that begins within a doclist, are stored whole
//! position list varint of twice its length in bytes, plus 1 if the row was deleted; then varints of the positions.
//!               No varint is cut by the end of a page. With detail=none, there is no position list
//! ```
//!
//! The table `%_idx` has a row for every leaf with a term: the shortest prefix of its first term that is above the last term
//! of the leaves before. A doclist that covers four leaves or more without a term has a **doclist index**: the first rowid of
//! each of these leaves ([`SegmentWriter`] builds it).
//!
//! | module | contents |
//! |---|---|
//! | [`leaf`] | a leaf page, taken apart |
//! | [`decoder`] | the terms and doclists of a segment, from its leaves |
//! | [`live`] | the doclists of a term in several segments become one, without deleted rows |
//! | [`run`] | the same as one stream of bytes, in memory or in a file |
//! | [`merge`](mod@merge) | several runs become one segment |
//! | [`writer`] | the leaves of a segment, its doclist indexes and the rows of `%_idx` |
//! | [`structure`] | the records that tell which segments exist, and how many tokens |
//!
//! The words and the bytes are those of `fts5_index.c`. Nothing here opens a file or knows a tokenizer.

#![forbid(unsafe_code)]

pub mod decoder;
mod doclist_index;
pub mod leaf;
pub mod live;
pub mod merge;
pub mod run;
pub mod structure;
pub mod writer;

pub use decoder::SegmentDecoder;
pub use leaf::Leaf;
pub use live::join_doclists;
pub use merge::merge;
pub use run::{RunReader, RunWriter};
pub use structure::{Averages, Structure};
pub use writer::{SegmentSink, SegmentSummary, SegmentWriter};

/// Id of the row of `%_data` with the [averages](Averages).
pub const AVERAGES_ID: i64 = 1;

/// Id of the row of `%_data` with the [structure](Structure).
pub const STRUCTURE_ID: i64 = 10;

/// Size of a leaf page in bytes, unless the table is configured otherwise. With it, a row of `%_data` fills a page of 4096 bytes.
pub const DEFAULT_LEAF_BYTES: usize = 4050;

/// Number of bits of a page number in an id of `%_data`.
const PAGE_BITS: u32 = 31;
/// Number of bits of a height in an id of `%_data`.
const HEIGHT_BITS: u32 = 5;

/// Returns the id of a leaf in `%_data`.
#[must_use]
pub fn leaf_id(segment: u32, page: u32) -> i64 {
    i64::from(segment) << (PAGE_BITS + HEIGHT_BITS + 1) | i64::from(page)
}

/// Returns the id of a page of a doclist index in `%_data`.
#[must_use]
pub fn doclist_index_id(segment: u32, height: u32, page: u32) -> i64 {
    leaf_id(segment, page) | 1 << (PAGE_BITS + HEIGHT_BITS) | i64::from(height) << PAGE_BITS
}

/// The kind of a row of `%_data`, beside the [averages](AVERAGES_ID) and the [structure](STRUCTURE_ID).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A leaf.
    Leaf {
        /// The segment.
        segment: u32,
        /// The number of the leaf.
        page: u32,
    },
    /// A page of a doclist index.
    DoclistIndex {
        /// The segment.
        segment: u32,
        /// Levels between the page and the leaves.
        height: u32,
        /// The number of the page within its height.
        page: u32,
    },
    /// A page of deleted rowids, in tables with `contentless_delete=1`.
    Tombstones {
        /// The segment.
        segment: u32,
        /// The number of the page.
        page: u32,
    },
}

/// Number of segments. Larger numbers in ids are of tombstones.
const SEGMENTS: u32 = 1 << 16;

/// Returns the kind of the row of `%_data` with this id.
#[must_use]
pub fn row_kind(id: i64) -> RowKind {
    let bits = |shift: u32, count: u32| u32::try_from(id >> shift & ((1 << count) - 1)).expect("at most 31 bits");
    let (page, height) = (bits(0, PAGE_BITS), bits(PAGE_BITS, HEIGHT_BITS));
    let segment = bits(PAGE_BITS + HEIGHT_BITS + 1, 17);
    match bits(PAGE_BITS + HEIGHT_BITS, 1) {
        _ if segment >= SEGMENTS => RowKind::Tombstones { segment: segment - SEGMENTS, page },
        0 => RowKind::Leaf { segment, page },
        _ => RowKind::DoclistIndex { segment, height, page },
    }
}

/// Reads the varint at `at` of `bytes`. Returns the number and the offset behind it.
fn varint_at(bytes: &[u8], at: usize) -> Result<(u64, usize), litepress_format::FormatError> {
    let read = bytes.get(at..).and_then(litepress_format::varint::read);
    let (value, len) = read.ok_or_else(|| litepress_format::FormatError::new("a number is cut off", at))?;
    Ok((value, at + len))
}

/// Reads a length at `at` of `bytes`. Returns the length and the offset behind it.
fn length_at(bytes: &[u8], at: usize) -> Result<(usize, usize), litepress_format::FormatError> {
    let (value, next) = varint_at(bytes, at)?;
    let len = usize::try_from(value).ok().filter(|&len| len <= 1 << 31);
    Ok((len.ok_or_else(|| litepress_format::FormatError::new("a length is too large", at))?, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_what_rows_are() {
        for (segment, height, page) in [(1, 0, 1), (7, 3, 12), (2000, 31, (1 << 31) - 1)] {
            assert_eq!(row_kind(leaf_id(segment, page)), RowKind::Leaf { segment, page });
            assert_eq!(
                row_kind(doclist_index_id(segment, height, page)),
                RowKind::DoclistIndex { segment, height, page }
            );
            assert_eq!(row_kind(leaf_id(segment + SEGMENTS, page)), RowKind::Tombstones { segment, page });
        }
    }
}
