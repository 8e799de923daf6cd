//! The engine's interface to sources of rows.

use crate::{RecordChunk, Result};
use std::ops::{Range, RangeInclusive};

/// A source of the rows of one table, divided into parts that are numbered in the order of their creation.
///
/// Workers take parts one after another and read them in parallel. The rows of a table are those of part 0, then of part 1,
/// and so on. **The boundaries of parts must not depend on the number of workers or on the memory budget**: each part starts
/// a new page, so its boundaries show in the file.
pub trait Source: Sync {
    /// Returns the next part, or `None` after the last. One worker at a time calls it, so it should be cheap.
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>>;

    /// Returns the source that this one transforms, if the facts about its rows (order, columns) still hold. Methods about rowids and
    /// columns then ask it.
    fn origin(&self) -> Option<&dyn Source> {
        None
    }

    /// Returns the number of rows if it is known in advance.
    fn rows(&self) -> Option<u64>;

    /// Returns the known order of rowids.
    fn rowid_order(&self) -> RowidOrder {
        self.origin().map_or(RowidOrder::Unknown, Source::rowid_order)
    }

    /// Returns whether no row has a value for the INTEGER PRIMARY KEY. The rowids are then the rows' numbers, as SQLite
    /// would number the rows that are kept.
    fn has_automatic_rowids(&self) -> bool {
        self.origin().is_some_and(Source::has_automatic_rowids)
    }

    /// Estimates the mean number of bytes that a row takes in the table's pages.
    fn page_bytes(&self) -> f64;

    /// Returns the largest rowid that an AUTOINCREMENT table must not assign again, even if no row has it any more.
    fn last_sequence(&self) -> Option<i64> {
        self.origin()?.last_sequence()
    }

    /// Returns the smallest and the largest rowid if they are known in advance.
    fn rowid_range(&self) -> Option<RangeInclusive<i64>> {
        self.origin()?.rowid_range()
    }

    /// Returns the columns of the table that the input lacks: their values are DEFAULTs or NULL. An update of an existing row
    /// leaves them alone.
    fn missing_columns(&self) -> Vec<usize> {
        self.origin().map(Source::missing_columns).unwrap_or_default()
    }

    /// Passes sample rows from all over the table to `look`, for estimates of size. Does not consume parts. Without a sample, only
    /// [`page_bytes`](Self::page_bytes) is known about sizes.
    fn sample(&self, _look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        Ok(())
    }

    /// Returns the text of the table's statement, if the rows decide it: for example the declared type of a column. It is asked for
    /// once all parts were read, and may differ from the schema's text only in what the pages of the table do not depend on.
    fn final_sql(&self) -> Option<String> {
        None
    }

    /// Returns random access to the rows, if they can be made again in any order. A sort then needs to keep only keys, at the
    /// price of making the rows.
    fn numbered(&self) -> Option<&dyn RandomAccessRows> {
        None
    }
}

/// Random access to rows by their numbers: their positions in the input, counted from 1.
pub trait RandomAccessRows: Sync {
    /// Returns the numbers of all rows, in source order.
    fn numbers(&self) -> Range<u64>;

    /// Returns a maker of only these columns, which must be distinct, for one thread.
    fn key_maker(&self, columns: &[usize]) -> Box<dyn KeyReader + '_>;

    /// Returns whether all rows have integers in these columns. Such columns may be passed to the maker of rows as `given`.
    fn are_integers(&self, columns: &[usize]) -> bool;

    /// Returns a maker of rows, for one thread. It need not make the `given` columns [of integers](Self::are_integers).
    fn row_maker(&self, given: &[usize]) -> Box<dyn RowReader + '_>;
}

/// A maker of some columns of rows.
pub trait KeyReader: Send {
    /// Returns the columns of the rows of these numbers, at most [`BLOCK_ROWS`](crate::cells::BLOCK_ROWS).
    fn make(&mut self, numbers: Range<u64>) -> Result<Keys<'_>>;
}

/// Some columns of consecutive rows, in the requested order.
pub enum Keys<'a> {
    /// Integers that are stored as such, one slice per column.
    Integers(Vec<&'a [i64]>),
    /// Records of these columns, with values of any kind.
    Records(&'a RecordChunk),
}

/// A maker of rows by their numbers.
pub trait RowReader: Send {
    /// Appends the rows of these numbers to `chunk`, in this order, at most [`BLOCK_ROWS`](crate::cells::BLOCK_ROWS). `given` has
    /// the integers of these rows for each given column. The rowids of the rows have no meaning.
    fn make(&mut self, numbers: &[u64], given: &[Vec<i64>], chunk: &mut RecordChunk) -> Result<()>;
}

/// The known order of the rowids of a source's rows.
///
/// For a WITHOUT ROWID table, only [`Unordered`](Self::Unordered) has a meaning: it concerns the order of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowidOrder {
    /// Each rowid is above the one before. A violation is an error.
    Ascending,
    /// The order is unknown. Rows are written as they come, and sorted from the first violation of the order on.
    Unknown,
    /// The rowids are in any order: all rows are sorted.
    Unordered,
}

/// Consecutive rows of a table.
pub trait Part: Send {
    /// Appends rows to the empty `chunk` until it [is full](RecordChunk::is_full) or the part ends. A chunk without rows is the
    /// end of the part.
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()>;
}

/// A source whose chunks pass through a function.
pub struct MappedSource<'s, F> {
    source: &'s dyn Source,
    order: RowidOrder,
    map: F,
}

impl<'s, F: Fn(&mut RecordChunk) -> Result<()> + Sync> MappedSource<'s, F> {
    /// Hands out the rows of `source`, changed by `map`, which must keep their number. `order` is that of their rowids.
    pub fn new(source: &'s dyn Source, order: RowidOrder, map: F) -> Self {
        Self { source, order, map }
    }
}

impl<F: Fn(&mut RecordChunk) -> Result<()> + Sync> Source for MappedSource<'_, F> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        Ok(part.map(|part| Box::new(MappedPart { part, map: &self.map }) as Box<dyn Part + '_>))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn rowid_order(&self) -> RowidOrder {
        self.order
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }
}

struct MappedPart<'s, F> {
    part: Box<dyn Part + 's>,
    map: &'s F,
}

impl<F: Fn(&mut RecordChunk) -> Result<()> + Sync> Part for MappedPart<'_, F> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        (self.map)(chunk)
    }
}

/// Target size of a part's leaf pages in bytes. It is large enough for one write at the disk's full speed, and for its last,
/// partly empty page not to matter; and small enough to stay in the processor's cache.
pub const PART_BYTES: usize = 4 << 20;
