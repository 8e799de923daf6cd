//! Where rows come from, as the engine sees it.

use crate::{RecordChunk, Result};
use std::ops::Range;

/// A supplier of the rows of one table, cut into parts that are numbered by the order in which they are handed out.
///
/// Workers take parts one after another and read different parts at the same time. The rows of a table are the
/// rows of part 0, then of part 1, and so on. **Where parts begin and end must not depend on the number of workers
/// or on the memory budget**: each part starts a new page, so part boundaries show in the file.
pub trait Source: Sync {
    /// The next part, or `None` after the last. Called by one worker at a time; should be cheap.
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>>;

    /// Number of rows where it is known beforehand.
    fn rows(&self) -> Option<u64>;

    /// What is known of the order of rowids.
    fn rowid_order(&self) -> RowidOrder {
        RowidOrder::Unknown
    }

    /// Whether the input gives no row a value for the INTEGER PRIMARY KEY: the rowids are the rows' numbers, and SQLite
    /// would choose them as it inserts the rows that stay.
    fn has_automatic_rowids(&self) -> bool {
        false
    }

    /// Mean bytes that a row takes of the table's pages, as well as it is known beforehand: for estimates of size.
    fn page_bytes(&self) -> f64;

    /// The largest rowid that an AUTOINCREMENT table must not give again, though no row may have it any more.
    fn last_sequence(&self) -> Option<i64> {
        None
    }

    /// Shows some rows, from all over the table, for estimates of size: the parts are as they were. Without any, nothing
    /// is known of sizes but [`page_bytes`](Self::page_bytes).
    fn sample(&self, _look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        Ok(())
    }

    /// The same rows by their numbers, where they can be made again in any order at the price of making them: whoever
    /// sorts them needs to keep no more than keys then.
    fn numbered(&self) -> Option<&dyn NumberedRows> {
        None
    }
}

/// Rows that can be made in any order, by their numbers: their positions in the input, counted from 1.
pub trait NumberedRows: Sync {
    /// The numbers of all rows, in the order of the source.
    fn numbers(&self) -> Range<u64>;

    /// What makes these columns of the table alone, which differ, for one thread.
    fn key_maker(&self, columns: &[usize]) -> Box<dyn KeyMaker + '_>;

    /// Whether all rows have integers in these columns, which a [`RowMaker`] can be given.
    fn are_integers(&self, columns: &[usize]) -> bool;

    /// What makes rows, for one thread; `given` are columns [of integers](Self::are_integers) that it need not make.
    fn row_maker(&self, given: &[usize]) -> Box<dyn RowMaker + '_>;
}

/// Makes some columns of rows.
pub trait KeyMaker: Send {
    /// The columns of the rows of these numbers: at most [`BLOCK_ROWS`](crate::cells::BLOCK_ROWS) of them.
    fn make(&mut self, numbers: Range<u64>) -> Result<Keys<'_>>;
}

/// Some columns of consecutive rows, in the order in which they were asked for.
pub enum Keys<'a> {
    /// They are integers, and stored as such: a slice for each column.
    Integers(Vec<&'a [i64]>),
    /// Anything: records of these columns.
    Records(&'a RecordChunk),
}

/// Makes rows by their numbers.
pub trait RowMaker: Send {
    /// Appends the rows of these numbers to `chunk`, in this order: at most
    /// [`BLOCK_ROWS`](crate::cells::BLOCK_ROWS) of them. `given` has for each column that was said to be given the
    /// integers of these rows. What rowids they get says nothing.
    fn make(&mut self, numbers: &[u64], given: &[Vec<i64>], chunk: &mut RecordChunk) -> Result<()>;
}

/// What a source knows beforehand of the rowids of its rows, in the order in which it hands them out.
///
/// Of a WITHOUT ROWID table only [`Unordered`](Self::Unordered) says anything, of the order of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowidOrder {
    /// Each is above the one before: one that is not is an error.
    Ascending,
    /// Nothing: rows are printed as they come, and sorted from where they turn out not to ascend.
    Unknown,
    /// They are in any order: all rows are sorted.
    Unordered,
}

/// Some consecutive rows of a table.
pub trait Part: Send {
    /// Appends rows to the empty `chunk` until it [is full](RecordChunk::is_full) or the part ends; no row added
    /// means that the part has ended.
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()>;
}

/// How many bytes of leaf pages a part should fill: large enough that one write of it runs at the disk's full
/// speed and that the page it leaves partly empty does not matter, small enough to stay in the processor's cache.
pub const PART_BYTES: usize = 4 << 20;
