//! One table: its source's parts become leaf pages on every core, and are stitched together in order.
//!
//! ```text
//! worker 1   part 0 ----------> deposit      part 2 ------> deposit ...
//! worker 2   part 1 --> deposit     part 3 ---------> deposit ...
//! stitch                        place 0, 1            place 2, 3      numbers, interior pages, writes
//! ```
//!
//! A worker never waits for another: a part that is finished before its predecessor is left with the stitcher, and
//! whoever finishes the predecessor places both. What waits is bounded by [`BlockPool::wait_for_room`].

use crate::Result;
use crate::feed::Feed;
use crate::index::{Cutter, Indexes};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sink::block::BlockPool;
use crate::stitch::{InOrder, TreeStitch, lock, on_threads};
use crate::tree::interior::LargestRowid;
use crate::tree::leaf::{LeafBuilder, TablePart, out_of_order};
use litepress_format::page::{PageKind, PageSize};
use litepress_rows::{Part, RecordChunk, Source};
use std::sync::{Arc, Mutex, PoisonError};

/// What a finished table is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableTree {
    /// Number of the root page.
    pub root: u32,
    pub rows: u64,
    /// The largest rowid; 0 in an empty table.
    pub last_rowid: i64,
    /// Bytes of all records.
    pub payload_bytes: u64,
    /// How many distinct keys of 1, 2, ... columns a WITHOUT ROWID table has, where they are counted.
    pub distinct: Vec<u64>,
}

/// Builds the b-tree of one table from all rows of `source`, and gives all records to `indexes`.
pub(crate) fn build(
    source: &dyn Source,
    pages: &mut Pages,
    indexes: &Indexes,
    threads: usize,
    progress: &Progress,
) -> Result<TableTree> {
    let (page_size, pool) = (pages.page_size(), pages.pool().clone());
    let mut feed = Feed::new(source);
    let threads = feed.workers(threads)?;
    let feed = Mutex::new(feed);
    let stitch = Mutex::new(Stitch::new(pages));
    on_threads(threads, || {
        let mut worker = Worker { chunk: RecordChunk::new(), cutters: indexes.cutters(), page_size, progress };
        worker.work(&feed, &stitch, &pool);
        if let Err(error) = worker.finish() {
            lock(&stitch).parts.fail(u64::MAX, error);
        }
    });
    stitch.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

/// What a thread needs to make parts.
struct Worker<'a> {
    chunk: RecordChunk,
    cutters: Vec<Cutter<'a>>,
    page_size: PageSize,
    progress: &'a Progress,
}

impl Worker<'_> {
    fn work(&mut self, feed: &Mutex<Feed<'_>>, stitch: &Mutex<Stitch<'_>>, pool: &Arc<BlockPool>) {
        while !lock(stitch).parts.has_failed() {
            pool.wait_for_room();
            let taken = self.progress.go_on().and_then(|()| lock(feed).take());
            let (number, part) = match taken {
                Ok(Some(taken)) => taken,
                Ok(None) => return,
                // It concerns no part: one that is still being built may yet report what is wrong with its rows.
                Err(error) => return lock(stitch).parts.fail(u64::MAX, error),
            };
            match self.build_part(part, PageRun::new(self.page_size, pool)) {
                Ok(part) => lock(stitch).deposit(number, part),
                Err(error) => lock(stitch).parts.fail(number, error),
            }
        }
    }

    fn build_part(&mut self, mut part: Box<dyn Part + '_>, run: PageRun) -> Result<TablePart> {
        let mut builder = LeafBuilder::new(run, self.page_size.bytes(), 0);
        loop {
            self.progress.go_on()?;
            self.chunk.clear();
            part.fill(&mut self.chunk)?;
            if self.chunk.is_empty() {
                return Ok(builder.finish());
            }
            builder.add(&self.chunk)?;
            for cutter in &mut self.cutters {
                cutter.add(&self.chunk)?;
            }
        }
    }

    fn finish(self) -> Result<()> {
        self.cutters.into_iter().try_for_each(Cutter::finish)
    }
}

/// Places finished parts in the order of their numbers.
struct Stitch<'p> {
    parts: InOrder<TablePart>,
    placed: Placed<'p>,
}

struct Placed<'p> {
    stitch: TreeStitch<'p, LargestRowid>,
    tree: TableTree,
}

impl<'p> Stitch<'p> {
    fn new(pages: &'p mut Pages) -> Self {
        let placed = Placed { stitch: TreeStitch::new(pages), tree: TableTree::default() };
        Self { parts: InOrder::new(), placed }
    }

    fn deposit(&mut self, number: u64, part: TablePart) {
        self.parts.deposit(number, part, |part| self.placed.place(part));
    }

    fn finish(self) -> Result<TableTree> {
        self.parts.finish()?;
        let Placed { stitch, tree } = self.placed;
        Ok(TableTree { root: stitch.finish(PageKind::LeafTable)?, ..tree })
    }
}

impl Placed<'_> {
    fn place(&mut self, part: TablePart) -> Result<()> {
        let (Some(first_rowid), Some(&(last_rowid, _))) = (part.first_rowid, part.leaves.last()) else { return Ok(()) };
        if self.tree.rows > 0 && first_rowid <= self.tree.last_rowid {
            return Err(out_of_order(self.tree.last_rowid, first_rowid));
        }
        self.tree.rows += part.rows;
        self.tree.payload_bytes += part.payload_bytes;
        self.tree.last_rowid = last_rowid;
        self.stitch.place(part.run, part.leaves, |(last_rowid, index), placement| {
            (LargestRowid(last_rowid), placement.number(index))
        })
    }
}
