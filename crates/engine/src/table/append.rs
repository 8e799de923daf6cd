//! Appends rows to a tree as they come: on every core, parts become leaf pages, which are placed in order.
//!
//! ```text
//! worker 1   part 0 ----------> insert      part 2 ------> insert ...
//! worker 2   part 1 --> insert     part 3 ---------> insert ...
//! assembler               place 0, 1            place 2, 3      numbers, interior pages, writes
//! ```
//!
//! A worker leaves a finished part with the assembler; the worker that finishes the predecessor places both.
//! [`BlockPool::wait_for_room`] bounds the memory of waiting parts. A part of very many pages is placed in pieces: its worker
//! waits for its turn.
//!
//! If rows may turn out not to ascend, neither the first part that is out of order nor any later part is placed. A
//! part is out of order if one of its rows is, or if it begins with such a row. The worker that has the part sorts its
//! rows. Index entries are extracted from every row when it first comes, on either path.

use super::context::BuildContext;
use super::part_queue::{PartQueue, take_parts};
use super::row_key::RowKey;
use super::sorted_rows::ItemMaker;
use crate::Result;
use crate::index::Extractors;
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sink::block::BlockPool;
use crate::sort::{RunWriter, Sorter};
use crate::threads::{Turns, on_threads};
use litepress_format::page::PageSize;
#[cfg(not(shuttle))]
use litepress_rows::source::PART_BYTES;
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of the pages at which a piece of a part is placed. Few parts have as many: those with a huge row, and those of sources that
/// say a long value in a few bytes.
#[cfg(not(shuttle))]
pub(crate) const PIECE_BYTES: usize = 4 * PART_BYTES;
/// Each chunk of a part is a piece.
#[cfg(shuttle)]
pub(crate) const PIECE_BYTES: usize = 1;

/// The layout of a table's rows on leaf pages.
pub(super) trait PartLayout: Sync {
    /// The key that orders the rows.
    type Key: RowKey;
    /// Builds the leaves of a part.
    type Builder;
    /// A part in memory.
    type Part: Send;

    fn begin(&self, run: PageRun) -> Self::Builder;

    /// Adds the rows of `chunk` up to the first one out of order. Returns how many.
    fn add(&self, builder: &mut Self::Builder, chunk: &RecordChunk) -> Result<usize>;

    /// Returns the bytes of the pages so far.
    fn bytes(&self, builder: &Self::Builder) -> usize;

    fn finish(&self, builder: Self::Builder) -> Self::Part;

    /// Passes all rows of a part that was not placed to `take`.
    fn read_back(&self, part: Self::Part, take: impl FnMut(&RecordChunk) -> Result<()>) -> Result<()>;
}

/// A tree and the parts placed so far.
pub(super) trait PartialTree: Send {
    type Part: Send;

    /// Returns the pages of the database.
    fn pages(&self) -> &Pages;

    /// Returns whether the rows of `part` follow the placed ones.
    fn continues_with(&self, part: &Self::Part) -> bool;

    /// Places the next part.
    ///
    /// # Errors
    /// If its rows do not follow the placed ones, or a write fails.
    fn place(&mut self, part: Self::Part) -> Result<()>;
}

/// The destination of rows from the first out-of-order part on.
pub(super) struct UnsortedRows<'a, K> {
    pub key: &'a K,
    pub sorter: &'a Sorter,
}

impl<K> Clone for UnsortedRows<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for UnsortedRows<'_, K> {}

/// Appends the rows of `source` to `tree`, up to the first out-of-order part. From there on they go to `unsorted`;
/// without it, they are an error. Passes all records to the indexes. Returns the smallest rowid of the unsorted rows,
/// or `None` if there are none.
pub(super) fn append<L: PartLayout, T: PartialTree<Part = L::Part>>(
    source: &dyn Source,
    layout: &L,
    tree: &mut T,
    unsorted: Option<UnsortedRows<'_, L::Key>>,
    context: BuildContext<'_>,
) -> Result<Option<i64>> {
    let BuildContext { indexes, threads, progress, .. } = context;
    let (page_size, pool) = (tree.pages().page_size(), tree.pages().pool().clone());
    let mut queue = PartQueue::new(source);
    let threads = queue.workers(threads)?;
    let queue = Mutex::new(queue);
    let (order, smallest_unsorted) = (Order::new(unsorted.is_some()), Mutex::new(None));
    let turns = Turns::new(|part: MadePart<L::Part>| order.place(part, tree));
    on_threads(threads, || {
        let (chunk, extractors, unsorted) =
            (RecordChunk::new(), indexes.extractors(), unsorted.map(UnsortedWriter::new));
        let (pool, order) = (&pool, &order);
        let mut worker = Worker { layout, chunk, extractors, unsorted, page_size, pool, order, progress };
        take_parts(&queue, &turns, pool, progress, |number, part| worker.make(number, part, &turns));
        match worker.finish() {
            Ok(smallest) => {
                let mut known = lock(&smallest_unsorted);
                *known = smaller(*known, smallest);
            }
            Err(error) => turns.fail(u64::MAX, error),
        }
    });
    turns.finish()?;
    Ok(ignore_poison(smallest_unsorted.into_inner()))
}

fn smaller(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.into_iter().chain(b).min()
}

/// Builds parts on one thread.
struct Worker<'a, L: PartLayout> {
    layout: &'a L,
    chunk: RecordChunk,
    extractors: Extractors<'a>,
    unsorted: Option<UnsortedWriter<'a, L::Key>>,
    page_size: PageSize,
    pool: &'a Arc<BlockPool>,
    order: &'a Order<L::Part>,
    progress: &'a Progress,
}

impl<L: PartLayout> Worker<'_, L> {
    /// Builds a part, or sorts it if an earlier part was out of order, and ends its turn.
    fn make<F: FnMut(MadePart<L::Part>) -> Result<()>>(
        &mut self,
        number: u64,
        mut part: Box<dyn Part + '_>,
        turns: &Turns<MadePart<L::Part>, F>,
    ) -> Result<()> {
        // A part that is taken after the break comes behind it.
        let last = if self.order.is_broken() {
            self.sort(&mut *part)?;
            MadePart::Sorted
        } else {
            self.build(&mut *part, |piece| turns.add(number, piece))?
        };
        // Frees the input before the part waits for its turn.
        drop(part);
        turns.end(number, last);
        self.sort_refused()
    }

    /// Builds the pages of a part. Passes all pieces but the last to `place`, and returns the last one.
    fn build(&mut self, part: &mut dyn Part, place: impl Fn(MadePart<L::Part>) -> bool) -> Result<MadePart<L::Part>> {
        let mut builder = self.begin();
        while self.fill(part)? {
            let added = self.layout.add(&mut builder, &self.chunk)?;
            if added < self.chunk.len() {
                self.sort_chunk(added)?;
                self.sort(part)?;
                return self.sort_built(self.layout.finish(builder)).map(|()| MadePart::Sorted);
            }
            if self.layout.bytes(&builder) >= PIECE_BYTES {
                let full = std::mem::replace(&mut builder, self.begin());
                let goes_on = place(MadePart::Piece(self.layout.finish(full)));
                self.sort_refused()?;
                if !goes_on {
                    return Ok(MadePart::Sorted);
                }
                if self.order.is_broken() {
                    return self.sort(part).map(|()| MadePart::Sorted);
                }
            }
        }
        Ok(MadePart::Last(self.layout.finish(builder)))
    }

    fn begin(&self) -> L::Builder {
        self.layout.begin(PageRun::new(self.page_size, self.pool))
    }

    /// Takes the next rows of `part` and extracts their index entries. Returns `false` if there are none.
    fn fill(&mut self, part: &mut dyn Part) -> Result<bool> {
        self.progress.go_on()?;
        self.chunk.clear();
        part.fill(&mut self.chunk)?;
        self.extractors.add(&self.chunk)?;
        if self.chunk.is_empty() {
            self.extractors.end_part()?;
        }
        Ok(!self.chunk.is_empty())
    }

    /// Sorts the remaining rows of a part.
    fn sort(&mut self, part: &mut dyn Part) -> Result<()> {
        while self.fill(part)? {
            self.sort_chunk(0)?;
        }
        Ok(())
    }

    /// Sorts row `first` of the chunk and the rows behind it.
    fn sort_chunk(&mut self, first: usize) -> Result<()> {
        self.unsorted.as_mut().expect(MAY_BE_UNSORTED).add(&self.chunk, first)
    }

    /// Sorts the rows of the parts that were refused.
    fn sort_refused(&mut self) -> Result<()> {
        self.order.take_refused().into_iter().try_for_each(|part| self.sort_built(part))
    }

    /// Sorts the rows of a part that is not placed. Their index entries were extracted when they were built.
    fn sort_built(&mut self, part: L::Part) -> Result<()> {
        let Self { layout, unsorted, progress, .. } = self;
        let unsorted = unsorted.as_mut().expect(MAY_BE_UNSORTED);
        layout.read_back(part, |chunk| progress.go_on().and_then(|()| unsorted.add(chunk, 0)))
    }

    /// Completes the sorted runs. Returns the smallest rowid in them.
    fn finish(self) -> Result<Option<i64>> {
        self.extractors.finish()?;
        self.unsorted.map_or(Ok(None), UnsortedWriter::finish)
    }
}

const MAY_BE_UNSORTED: &str = "rows are only sorted if they may be out of order";

/// Writes rows to the sorter, for one thread.
pub(super) struct UnsortedWriter<'a, K> {
    items: ItemMaker<'a, K>,
    rows: RunWriter<'a>,
    smallest: Option<i64>,
}

impl<'a, K: RowKey> UnsortedWriter<'a, K> {
    pub fn new(unsorted: UnsortedRows<'a, K>) -> Self {
        Self { items: ItemMaker::new(unsorted.key), rows: unsorted.sorter.writer(), smallest: None }
    }

    /// Adds row `first` of a chunk, and the rows behind it.
    pub fn add(&mut self, chunk: &RecordChunk, first: usize) -> Result<()> {
        self.smallest = smaller(self.smallest, chunk.rowids()[first..].iter().copied().min());
        self.items.push_from(first, chunk, &mut self.rows)
    }

    /// Completes the sorted run. Returns the smallest rowid in it.
    pub fn finish(self) -> Result<Option<i64>> {
        self.rows.finish()?;
        Ok(self.smallest)
    }
}

/// What became of a part.
enum MadePart<P> {
    /// Its first or next rows. More follow.
    Piece(P),
    /// Its last rows, or all.
    Last(P),
    /// Its last rows were sorted.
    Sorted,
}

/// Whether the parts so far came in order, and those that did not.
struct Order<P> {
    /// Whether a part that is out of order may be sorted; else it is an error.
    can_sort: bool,
    /// Whether a part was sorted or refused: no later part is placed.
    is_broken: AtomicBool,
    /// Parts that must be sorted after all.
    refused: Mutex<Vec<P>>,
}

impl<P> Order<P> {
    fn new(can_sort: bool) -> Self {
        Self { can_sort, is_broken: AtomicBool::new(false), refused: Mutex::new(Vec::new()) }
    }

    fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    fn take_refused(&self) -> Vec<P> {
        std::mem::take(&mut lock(&self.refused))
    }

    /// Places the next part, or its next piece, unless the rows are no longer in order.
    fn place(&self, part: MadePart<P>, tree: &mut impl PartialTree<Part = P>) -> Result<()> {
        let (part, more_follow) = match part {
            MadePart::Piece(part) => (part, true),
            MadePart::Last(part) => (part, false),
            MadePart::Sorted => {
                self.is_broken.store(true, Ordering::Release);
                return Ok(());
            }
        };
        if self.is_broken() || self.can_sort && !tree.continues_with(&part) {
            self.is_broken.store(true, Ordering::Release);
            lock(&self.refused).push(part);
            return Ok(());
        }
        if more_follow {
            // Nobody waits for room in the middle of a part, and the disk may be slower.
            tree.pages().wait()?;
        }
        tree.place(part)
    }
}
