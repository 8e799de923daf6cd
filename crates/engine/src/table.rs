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

use crate::pages::{PageRun, Pages, Placement};
use crate::progress::Progress;
use crate::sink::block::BlockPool;
use crate::tree::interior::{Child, Divider, LargestRowid, Levels, Root, write_interior};
use crate::tree::leaf::{LeafBuilder, TablePart, out_of_order};
use crate::tree::open_page::write_empty;
use crate::{Error, Result};
use litepress_format::page::{PageKind, PageSize};
use litepress_rows::{Part, RecordChunk, Source};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a finished table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableTree {
    /// Number of the root page.
    pub root: u32,
    pub rows: u64,
    /// The largest rowid; 0 in an empty table.
    pub last_rowid: i64,
    /// Bytes of all records.
    pub payload_bytes: u64,
}

/// Builds the b-tree of one table from all rows of `source`.
pub(crate) fn build(source: &dyn Source, pages: &mut Pages, threads: usize, progress: &Progress) -> Result<TableTree> {
    let (page_size, pool) = (pages.page_size(), pages.pool().clone());
    let feed = Mutex::new(Feed { source, next: 0 });
    let stitch = Mutex::new(Stitch::new(pages));
    let worker = || work(&feed, &stitch, &pool, page_size, progress);
    if threads <= 1 {
        worker();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(worker);
            }
        });
    }
    stitch.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

/// The source's parts, numbered as they are taken.
struct Feed<'s> {
    source: &'s dyn Source,
    next: u64,
}

impl Feed<'_> {
    fn take(&mut self) -> Result<Option<(u64, Box<dyn Part>)>> {
        let part = self.source.next_part()?;
        let number = self.next;
        self.next += 1;
        Ok(part.map(|part| (number, part)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn work(
    feed: &Mutex<Feed<'_>>,
    stitch: &Mutex<Stitch<'_>>,
    pool: &Arc<BlockPool>,
    page_size: PageSize,
    progress: &Progress,
) {
    let mut chunk = RecordChunk::new();
    while !lock(stitch).has_failed() {
        pool.wait_for_room();
        let taken = progress.go_on().and_then(|()| lock(feed).take());
        let (number, part) = match taken {
            Ok(Some(taken)) => taken,
            Ok(None) => return,
            // It concerns no part: one that is still being built may yet report what is wrong with its rows.
            Err(error) => return lock(stitch).fail(u64::MAX, error),
        };
        let built = build_part(part, &mut chunk, PageRun::new(page_size, pool), page_size, progress);
        match built {
            Ok(part) => lock(stitch).deposit(number, part),
            Err(error) => lock(stitch).fail(number, error),
        }
    }
}

fn build_part(
    mut part: Box<dyn Part>,
    chunk: &mut RecordChunk,
    run: PageRun,
    page_size: PageSize,
    progress: &Progress,
) -> Result<TablePart> {
    let mut builder = LeafBuilder::new(run, page_size.bytes(), 0);
    loop {
        progress.go_on()?;
        chunk.clear();
        part.fill(chunk)?;
        if chunk.is_empty() {
            return Ok(builder.finish());
        }
        builder.add(chunk)?;
        progress.add_rows(chunk.len() as u64);
    }
}

/// Places finished parts in the order of their numbers.
struct Stitch<'p> {
    pages: &'p mut Pages,
    levels: Levels<LargestRowid>,
    tree: TableTree,
    next: u64,
    /// Parts whose predecessors are still being built.
    waiting: BTreeMap<u64, TablePart>,
    /// The failure of the earliest part that failed, so that the same input gives the same error.
    failure: Option<(u64, Error)>,
}

impl<'p> Stitch<'p> {
    fn new(pages: &'p mut Pages) -> Self {
        let levels = Levels::new(pages.page_size().bytes());
        Self { pages, levels, tree: TableTree::default(), next: 0, waiting: BTreeMap::new(), failure: None }
    }

    fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn fail(&mut self, number: u64, error: Error) {
        if self.failure.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
            self.failure = Some((number, error));
        }
    }

    fn deposit(&mut self, number: u64, part: TablePart) {
        self.waiting.insert(number, part);
        while let Some(part) = self.waiting.remove(&self.next) {
            if let Err(error) = self.place(part) {
                self.fail(self.next, error);
                return;
            }
            self.next += 1;
        }
    }

    fn place(&mut self, part: TablePart) -> Result<()> {
        let Some(first_rowid) = part.first_rowid else { return Ok(()) };
        if self.tree.rows > 0 && first_rowid <= self.tree.last_rowid {
            return Err(out_of_order(self.tree.last_rowid, first_rowid));
        }
        let TablePart { mut run, leaves, rows, payload_bytes, .. } = part;
        let placement = self.pages.place(&mut run)?;
        for &(last_rowid, index) in &leaves {
            let leaf = (LargestRowid(last_rowid), placement.number(index));
            let pages = &mut *self.pages;
            self.levels.push(leaf, |children| append_interior(pages, &mut run, placement, children))?;
            self.tree.last_rowid = last_rowid;
        }
        self.tree.rows += rows;
        self.tree.payload_bytes += payload_bytes;
        self.pages.write(run, placement)
    }

    fn finish(self) -> Result<TableTree> {
        if let Some((_, error)) = self.failure {
            return Err(error);
        }
        let Self { pages, levels, mut tree, .. } = self;
        let usable = pages.page_size().bytes();
        let mut run = pages.new_run();
        let placement = pages.place(&mut run)?;
        let root = levels.finish(usable, |children| append_interior(pages, &mut run, placement, children))?;
        tree.root = match root {
            Root::Leaf(Some(leaf)) => leaf,
            Root::Interior(children) => append_interior(pages, &mut run, placement, &children)?,
            Root::Leaf(None) => {
                let (index, number) = pages.append(&mut run, placement)?;
                write_empty(run.page_mut(index), 0, usable, PageKind::LeafTable);
                number
            }
        };
        pages.write(run, placement)?;
        Ok(tree)
    }
}

/// Writes an interior page behind the pages of `run`, and returns its number.
pub(crate) fn append_interior<D: Divider>(
    pages: &mut Pages,
    run: &mut PageRun,
    placement: Placement,
    children: &[Child<D>],
) -> Result<u32> {
    let usable = pages.page_size().bytes();
    let (index, number) = pages.append(run, placement)?;
    write_interior(run.page_mut(index), 0, usable, children);
    Ok(number)
}
