//! Builds a rowid table: on every core, parts of its source become leaf pages, which are stitched together in order.
//!
//! ```text
//! worker 1   part 0 ----------> deposit      part 2 ------> deposit ...
//! worker 2   part 1 --> deposit     part 3 ---------> deposit ...
//! stitch                        place 0, 1            place 2, 3      numbers, interior pages, writes
//! ```
//!
//! A worker never waits for another. It leaves a finished part with the stitcher; the worker that finishes the
//! predecessor places both. [`BlockPool::wait_for_room`] bounds the memory of waiting parts.
//!
//! If rows may turn out not to ascend, neither the first part that is out of order nor any later part is placed. A
//! part is out of order if one of its rows is, or if it begins with such a row. The worker that has the part sorts its
//! rows.

use crate::Result;
use crate::feed::{self, Feed};
use crate::index::{Cutter, Indexes};
use crate::pages::{PageRun, Pages};
use crate::printed_rows::PrintedRows;
use crate::progress::Progress;
use crate::reorder::InOrder;
use crate::sink::block::BlockPool;
use crate::sort::{RunWriter, Sorter};
use crate::sorted_rows::{ItemMaker, RowidKey};
use crate::stitch::TreeStitch;
use crate::threads::on_threads;
use crate::tree::interior::LargestRowid;
use crate::tree::leaf::{LeafBuilder, OutOfOrder, TablePart};
use crate::tree::positions::Positions;
use litepress_format::page::{PageKind, PageSize};
use litepress_rows::sync::lock;
use litepress_rows::{Part, RecordChunk, Source};
use std::sync::{Arc, Mutex, PoisonError};

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
}

/// Builds the b-tree of one table from all rows of `source`, and passes all records to `indexes`.
pub(crate) fn build(
    source: &dyn Source,
    pages: &mut Pages,
    indexes: &Indexes,
    threads: usize,
    progress: &Progress,
) -> Result<TableTree> {
    let mut placed = Placed::new(pages);
    print(source, &mut placed, indexes, None, threads, progress)?;
    placed.finish()
}

/// The destination of rows from the first out-of-order part on.
#[derive(Clone, Copy)]
pub(crate) struct Rest<'r> {
    pub key: &'r RowidKey,
    pub sorter: &'r Sorter,
}

/// Appends the rows of `source` to the placed ones, up to the first out-of-order part. From there on they go to
/// `rest`; without a `rest`, they are an error. Passes all records to `indexes`. Returns the smallest rowid of the
/// rest.
pub(crate) fn print(
    source: &dyn Source,
    placed: &mut Placed<'_>,
    indexes: &Indexes,
    rest: Option<Rest<'_>>,
    threads: usize,
    progress: &Progress,
) -> Result<Option<i64>> {
    let pages = placed.stitch.pages();
    let (page_size, pool) = (pages.page_size(), pages.pool().clone());
    let mut feed = Feed::new(source);
    let threads = feed.workers(threads)?;
    let feed = Mutex::new(feed);
    let sorts_rest = rest.is_some();
    let stitch =
        Mutex::new(Stitch { parts: InOrder::new(), placed, sorts_rest, is_broken: false, smallest_of_rest: None });
    on_threads(threads, || {
        let (chunk, cutters, rest) = (RecordChunk::new(), indexes.cutters(), rest.map(RestWriter::new));
        let mut worker = Worker { chunk, cutters, rest, page_size, progress };
        worker.work(&feed, &stitch, &pool);
        let finished = worker.finish();
        let mut stitch = lock(&stitch);
        match finished {
            Ok(smallest) => stitch.smallest_of_rest = smaller(stitch.smallest_of_rest, smallest),
            Err(error) => stitch.parts.fail(u64::MAX, error),
        }
    });
    let stitch = stitch.into_inner().unwrap_or_else(PoisonError::into_inner);
    stitch.parts.finish()?;
    Ok(stitch.smallest_of_rest)
}

fn smaller(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.into_iter().chain(b).min()
}

/// The state of a thread that builds parts.
struct Worker<'a> {
    chunk: RecordChunk,
    cutters: Vec<Cutter<'a>>,
    rest: Option<RestWriter<'a>>,
    page_size: PageSize,
    progress: &'a Progress,
}

impl Worker<'_> {
    fn work(&mut self, feed: &Mutex<Feed<'_>>, stitch: &Mutex<Stitch<'_, '_>>, pool: &Arc<BlockPool>) {
        let (page_size, progress) = (self.page_size, self.progress);
        feed::take_parts(
            feed,
            stitch,
            |stitch| &mut stitch.parts,
            pool,
            progress,
            |number, part| self.make(number, part, PageRun::new(page_size, pool), stitch),
        );
    }

    /// Builds a part, or sorts it if an earlier part was out of order.
    fn make(
        &mut self,
        number: u64,
        mut part: Box<dyn Part + '_>,
        run: PageRun,
        stitch: &Mutex<Stitch<'_, '_>>,
    ) -> Result<()> {
        // A part that is taken after the break comes behind it.
        let is_behind = lock(stitch).is_broken;
        let built = if is_behind { self.sort(&mut *part, false).map(|()| None) } else { self.build(&mut *part, run) };
        // Frees the input before the part waits for its turn.
        drop(part);
        let refused = lock(stitch).deposit(number, built?);
        refused.into_iter().try_for_each(|part| self.sort_printed(part))
    }

    /// Builds the pages of a part. Returns `None` if the part is out of order; its rows are then sorted.
    fn build(&mut self, part: &mut dyn Part, run: PageRun) -> Result<Option<TablePart>> {
        let mut builder = LeafBuilder::new(run, self.page_size.bytes(), 0);
        while self.fill(part)? {
            match builder.add(&self.chunk) {
                Ok(()) => self.cut()?,
                Err(error) if self.rest.is_none() => return Err(error.into()),
                Err(_) => {
                    self.sort_chunk()?;
                    self.cut()?;
                    self.sort(part, false)?;
                    return self.sort_printed(builder.finish()).map(|()| None);
                }
            }
        }
        Ok(Some(builder.finish()))
    }

    /// Takes the next rows of `part`. Returns `false` if there are none.
    fn fill(&mut self, part: &mut dyn Part) -> Result<bool> {
        self.progress.go_on()?;
        self.chunk.clear();
        part.fill(&mut self.chunk)?;
        Ok(!self.chunk.is_empty())
    }

    fn cut(&mut self) -> Result<()> {
        self.cutters.iter_mut().try_for_each(|cutter| cutter.add(&self.chunk))
    }

    /// Sorts the remaining rows of a part. `is_cut` says that their index entries were extracted before.
    fn sort(&mut self, part: &mut dyn Part, is_cut: bool) -> Result<()> {
        while self.fill(part)? {
            self.sort_chunk()?;
            if !is_cut {
                self.cut()?;
            }
        }
        Ok(())
    }

    fn sort_printed(&mut self, part: TablePart) -> Result<()> {
        self.sort(&mut PrintedRows::of_part(part, self.page_size.bytes()), true)
    }

    fn sort_chunk(&mut self) -> Result<()> {
        self.rest.as_mut().expect("only where there may be a rest").add(&self.chunk)
    }

    /// Completes the sorted runs. Returns the smallest rowid in them.
    fn finish(self) -> Result<Option<i64>> {
        self.cutters.into_iter().try_for_each(Cutter::finish)?;
        let Some(rest) = self.rest else { return Ok(None) };
        rest.rows.finish()?;
        Ok(rest.smallest)
    }
}

/// A writer of rows to the sorter, for one thread.
struct RestWriter<'a> {
    items: ItemMaker<'a, RowidKey>,
    rows: RunWriter<'a>,
    smallest: Option<i64>,
}

impl<'a> RestWriter<'a> {
    fn new(rest: Rest<'a>) -> Self {
        Self { items: ItemMaker::new(rest.key), rows: rest.sorter.writer(), smallest: None }
    }

    fn add(&mut self, chunk: &RecordChunk) -> Result<()> {
        self.smallest = smaller(self.smallest, chunk.rowids().iter().copied().min());
        self.items.push_from(0, chunk, &mut self.rows)
    }
}

/// A placer of finished parts in the order of their numbers.
struct Stitch<'s, 'p> {
    /// The parts; `None` is a part that was sorted.
    parts: InOrder<Option<TablePart>>,
    placed: &'s mut Placed<'p>,
    sorts_rest: bool,
    /// Whether a part was sorted or refused: no later part is placed.
    is_broken: bool,
    smallest_of_rest: Option<i64>,
}

impl Stitch<'_, '_> {
    /// Takes part `number`. Returns the parts that turn out to belong to the rest.
    fn deposit(&mut self, number: u64, part: Option<TablePart>) -> Vec<TablePart> {
        let Self { parts, placed, sorts_rest, is_broken, .. } = self;
        let mut refused = Vec::new();
        parts.deposit(number, part, |part| {
            *is_broken |= part.as_ref().is_none_or(|part| *sorts_rest && placed.check(part).is_err());
            match part {
                Some(part) if *is_broken => refused.push(part),
                Some(part) => placed.place(part)?,
                None => {}
            }
            Ok(())
        });
        refused
    }
}

/// A tree and the parts placed so far.
pub(crate) struct Placed<'p> {
    stitch: TreeStitch<'p, LargestRowid>,
    /// The tree so far, without its root.
    pub tree: TableTree,
    pub positions: Positions,
}

impl<'p> Placed<'p> {
    pub fn new(pages: &'p mut Pages) -> Self {
        Self { stitch: TreeStitch::new(pages), tree: TableTree::default(), positions: Positions::default() }
    }

    /// Checks that the rowids of `part` follow the placed ones.
    fn check(&self, part: &TablePart) -> Result<(), OutOfOrder> {
        let before = self.tree.last_rowid;
        match part.first_rowid {
            Some(rowid) if self.tree.rows > 0 && rowid <= before => Err(OutOfOrder { before, rowid }),
            _ => Ok(()),
        }
    }

    fn place(&mut self, part: TablePart) -> Result<()> {
        self.check(&part)?;
        let Some(&(last_rowid, _)) = part.leaves.last() else { return Ok(()) };
        self.positions.append(self.tree.rows, &part.positions);
        self.tree.rows += part.rows;
        self.tree.payload_bytes += part.payload_bytes;
        self.tree.last_rowid = last_rowid;
        self.stitch.place(part.run, part.leaves, |(last_rowid, index), placement| {
            (LargestRowid(last_rowid), placement.number(index))
        })
    }

    /// Completes the tree.
    pub fn finish(self) -> Result<TableTree> {
        Ok(TableTree { root: self.stitch.finish(PageKind::LeafTable)?, ..self.tree })
    }
}
