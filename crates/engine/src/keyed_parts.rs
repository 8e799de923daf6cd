//! Builds the parts of a WITHOUT ROWID table, optimistically: rows are appended as they come until one is out of key
//! order.
//!
//! ```text
//! worker    rows of a part -> IndexBuilder, which stays open
//! stitch    holds back one part, because its last row depends on whether another part follows:
//!             another one does     the row becomes the divider between the two parts; the part is placed
//!             none does            the row stays on the last leaf; the part is placed, and the tree is complete
//!             one has one row      it has none to spare for a divider: both become one part
//! ```
//!
//! From the first out-of-order part on, rows go to the sorter instead of the tree. Index entries are extracted from
//! every row when it first comes, on either path.

use crate::feed::{self, Feed};
use crate::fields::Fields;
use crate::index::{Cutter, Indexes};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::reorder::InOrder;
use crate::sink::block::BlockPool;
use crate::sort::{RunWriter, Sorter};
use crate::sorted_rows::{ItemMaker, RecordKey};
use crate::statistics::{KeyCounter, distinct_keys};
use crate::stitch::TreeStitch;
use crate::table::TableTree;
use crate::threads::on_threads;
use crate::tree::index::IndexBuilder;
use crate::tree::interior::Entry;
use crate::tree::positions::Positions;
use crate::{Result, bulk_load, printed_entries};
use litepress_format::page::{PageKind, PageSize};
use litepress_format::sort_key::KeyPart;
use litepress_rows::source::PART_BYTES;
use litepress_rows::sync::{ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};
use std::sync::{Arc, Mutex};

/// The context that all workers share.
#[derive(Clone, Copy)]
pub(crate) struct PartContext<'a> {
    pub key: &'a RecordKey,
    /// The key columns whose distinct values are counted.
    pub counted: &'a [KeyPart],
    /// Takes the rows that are not appended to the tree.
    pub unsorted: &'a Sorter,
    pub indexes: &'a Indexes,
    pub progress: &'a Progress,
}

/// Places the rows of `source` up to the first out-of-order part. The rows from there on go to the sorter. Returns
/// whether there are any.
pub(crate) fn print<'a>(
    source: &dyn Source,
    placed: &mut PartialTree<'_, 'a>,
    context: PartContext<'a>,
    threads: usize,
) -> Result<bool> {
    let pages = placed.stitch.pages();
    let (page_size, pool) = (pages.page_size(), pages.pool().clone());
    let mut feed = Feed::new(source);
    let threads = feed.workers(threads)?;
    let feed = Mutex::new(feed);
    let stitch = Mutex::new(Assembler { parts: InOrder::new(), placed, is_broken: false });
    on_threads(threads, || {
        let (chunk, cutters) = (RecordChunk::new(), context.indexes.cutters());
        let mut worker = Worker { chunk, cutters, unsorted: UnsortedWriter::new(&context), context, page_size };
        worker.work(&feed, &stitch, &pool);
        if let Err(error) = worker.finish() {
            lock(&stitch).parts.fail(u64::MAX, error);
        }
    });
    let stitch = ignore_poison(stitch.into_inner());
    stitch.parts.finish()?;
    Ok(stitch.is_broken)
}

/// Builds parts on one thread.
struct Worker<'a> {
    chunk: RecordChunk,
    cutters: Vec<Cutter<'a>>,
    unsorted: UnsortedWriter<'a>,
    context: PartContext<'a>,
    page_size: PageSize,
}

impl<'a> Worker<'a> {
    fn work(&mut self, feed: &Mutex<Feed<'_>>, stitch: &Mutex<Assembler<'_, '_, 'a>>, pool: &Arc<BlockPool>) {
        let (page_size, progress) = (self.page_size, self.context.progress);
        feed::take_parts(
            feed,
            stitch,
            |stitch| &mut stitch.parts,
            pool,
            progress,
            |number, part| self.make(number, part, PageRun::new(page_size, pool), stitch),
        );
    }

    /// Builds a part, or sorts it.
    fn make(
        &mut self,
        number: u64,
        mut part: Box<dyn Part + '_>,
        run: PageRun,
        stitch: &Mutex<Assembler<'_, '_, 'a>>,
    ) -> Result<()> {
        // A part that is taken after the break comes behind it.
        let is_behind = lock(stitch).is_broken;
        let built = if is_behind { self.sort(&mut *part).map(|()| None) } else { self.build(&mut *part, run) };
        // Frees what was read before the pages are waited for.
        drop(part);
        let refused = lock(stitch).deposit(number, built?);
        refused.into_iter().try_for_each(|part| self.sort_printed(part))
    }

    /// Builds the part's pages. Returns `None` if the part is out of order; it is then sorted.
    fn build(&mut self, part: &mut dyn Part, run: PageRun) -> Result<Option<KeyedPart<'a>>> {
        let mut builder = PartBuilder::new(run, self.page_size.bytes(), &self.context);
        while self.fill(part)? {
            let added = builder.add(&self.chunk)?;
            if added < self.chunk.len() {
                self.unsorted.add(&self.chunk, added)?;
                self.sort(part)?;
                return self.sort_printed(builder.part).map(|()| None);
            }
        }
        Ok(Some(builder.part))
    }

    /// Takes the next rows of `part` and extracts their index entries. Returns `false` if there are none.
    fn fill(&mut self, part: &mut dyn Part) -> Result<bool> {
        self.context.progress.go_on()?;
        self.chunk.clear();
        part.fill(&mut self.chunk)?;
        self.cutters.iter_mut().try_for_each(|cutter| cutter.add(&self.chunk))?;
        Ok(!self.chunk.is_empty())
    }

    fn sort(&mut self, part: &mut dyn Part) -> Result<()> {
        while self.fill(part)? {
            self.unsorted.add(&self.chunk, 0)?;
        }
        Ok(())
    }

    fn sort_printed(&mut self, part: KeyedPart<'_>) -> Result<()> {
        let (positions, mut row) = (part.positions, 0);
        printed_entries::of_part(part.leaves.finish(true), self.page_size.bytes(), |record| {
            self.unsorted.add_printed(&positions, row, record)?;
            row += 1;
            Ok(())
        })
    }

    fn finish(self) -> Result<()> {
        self.cutters.into_iter().try_for_each(Cutter::finish)?;
        self.unsorted.finish()
    }
}

/// Writes rows to the sorter, for one thread.
struct UnsortedWriter<'a> {
    items: ItemMaker<'a, RecordKey>,
    rows: RunWriter<'a>,
    /// A row that was read back.
    printed: RecordChunk,
}

impl<'a> UnsortedWriter<'a> {
    fn new(context: &PartContext<'a>) -> Self {
        let (items, rows) = (ItemMaker::new(context.key), context.unsorted.writer());
        Self { items, rows, printed: RecordChunk::new() }
    }

    /// Adds row `first` of a chunk, and the rows behind it.
    fn add(&mut self, chunk: &RecordChunk, first: usize) -> Result<()> {
        self.items.push_from(first, chunk, &mut self.rows)
    }

    /// Adds row `row` of a tree whose rows had these positions.
    fn add_printed(&mut self, positions: &Positions, row: u64, record: &[u8]) -> Result<()> {
        self.printed.clear();
        self.printed.set_first_record(positions.locate(row).0);
        // The rowid is not used.
        self.printed.push(0, record);
        self.items.push_from(0, &self.printed, &mut self.rows)
    }

    fn finish(self) -> Result<()> {
        self.rows.finish()
    }
}

/// A part of the table, whose last leaf is still open.
struct KeyedPart<'k> {
    leaves: IndexBuilder,
    /// Encoded.
    first_key: Vec<u8>,
    last_key: Vec<u8>,
    positions: Positions,
    /// Counts all keys but the first.
    counter: KeyCounter<'k>,
}

/// Builds one part.
struct PartBuilder<'k> {
    part: KeyedPart<'k>,
    key: &'k RecordKey,
    fields: Fields,
    /// The key of the current row.
    next_key: Vec<u8>,
}

impl<'k> PartBuilder<'k> {
    fn new(run: PageRun, usable: usize, context: &PartContext<'k>) -> Self {
        let part = KeyedPart {
            leaves: IndexBuilder::new(run, usable),
            first_key: Vec::new(),
            last_key: Vec::new(),
            positions: Positions::default(),
            counter: KeyCounter::new(context.counted),
        };
        Self { part, key: context.key, fields: Fields::default(), next_key: Vec::new() }
    }

    /// Adds the rows of `chunk` up to the first one out of order. Returns how many.
    fn add(&mut self, chunk: &RecordChunk) -> Result<usize> {
        let Self { part: KeyedPart { leaves, first_key, last_key, positions, counter }, key, fields, next_key } = self;
        positions.add(leaves.entries(), chunk.first_record());
        for row in 0..chunk.len() {
            key.set_key(fields, chunk, row, next_key)?;
            if leaves.entries() == 0 {
                first_key.clone_from(next_key);
            } else if next_key <= last_key {
                return Ok(row);
            } else if counter.counts() {
                counter.add(last_key, next_key)?;
            }
            leaves.add(chunk.record(row));
            std::mem::swap(last_key, next_key);
        }
        Ok(chunk.len())
    }
}

/// Places finished parts in order.
struct Assembler<'s, 'p, 'k> {
    /// The parts; `None` is a part that was sorted.
    parts: InOrder<Option<KeyedPart<'k>>>,
    placed: &'s mut PartialTree<'p, 'k>,
    /// Whether a part was sorted or refused: no later part is placed.
    is_broken: bool,
}

impl<'k> Assembler<'_, '_, 'k> {
    /// Takes part `number`. Returns the parts that must be sorted after all.
    fn deposit(&mut self, number: u64, part: Option<KeyedPart<'k>>) -> Vec<KeyedPart<'k>> {
        let Self { parts, placed, is_broken } = self;
        let mut refused = Vec::new();
        parts.deposit(number, part, |part| {
            *is_broken |= part.as_ref().is_none_or(|part| !placed.goes_on_with(part));
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
pub(crate) struct PartialTree<'p, 'k> {
    stitch: TreeStitch<'p, Entry>,
    /// The last part, which is placed once it is known whether another one follows.
    held: Option<IndexBuilder>,
    /// The finished tree, without the root and the counts.
    tree: TableTree,
    last_key: Vec<u8>,
    positions: Positions,
    counter: KeyCounter<'k>,
}

impl<'p, 'k> PartialTree<'p, 'k> {
    pub fn new(pages: &'p mut Pages, counted: &'k [KeyPart]) -> Self {
        Self {
            stitch: TreeStitch::new(pages),
            held: None,
            tree: TableTree::default(),
            last_key: Vec::new(),
            positions: Positions::default(),
            counter: KeyCounter::new(counted),
        }
    }

    /// Returns whether `part` continues the key order.
    fn goes_on_with(&self, part: &KeyedPart<'_>) -> bool {
        self.tree.rows == 0 || part.leaves.entries() == 0 || part.first_key > self.last_key
    }

    fn place(&mut self, part: KeyedPart<'k>) -> Result<()> {
        if part.leaves.entries() == 0 {
            return Ok(());
        }
        if self.counter.counts() {
            self.counter.add(&self.last_key, &part.first_key)?;
            self.counter.changes.iter_mut().zip(part.counter.changes).for_each(|(sum, changes)| *sum += changes);
        }
        self.positions.append(self.tree.rows, &part.positions);
        self.tree.rows += part.leaves.entries();
        self.last_key = part.last_key;
        let held = self.go_on(part.leaves)?;
        self.stitch.pages().pool().set_held_blocks(held.run().blocks());
        self.held = Some(held);
        Ok(())
    }

    /// Appends `next` to the held part. Returns the part to hold from now on.
    fn go_on(&mut self, next: IndexBuilder) -> Result<IndexBuilder> {
        let Some(mut held) = self.held.take() else { return Ok(next) };
        let usable = self.stitch.pages().page_size().bytes();
        let is_large = held.run().len() as usize * usable >= PART_BYTES;
        if held.entries() >= 2 && (next.entries() >= 2 || is_large) {
            self.print(held, false)?;
            return Ok(next);
        }
        printed_entries::of_part(next.finish(true), usable, |record| {
            held.add(record);
            Ok(())
        })?;
        Ok(held)
    }

    fn print(&mut self, part: IndexBuilder, is_last: bool) -> Result<()> {
        let part = part.finish(is_last);
        self.tree.payload_bytes += part.payload_bytes;
        bulk_load::place(&mut self.stitch, part)
    }

    /// Completes the tree. Also returns the positions of its rows in their input.
    pub fn finish(mut self) -> Result<(TableTree, Positions)> {
        if let Some(last) = self.held.take() {
            self.stitch.pages().pool().set_held_blocks(0);
            self.print(last, true)?;
        }
        let (root, distinct) = (self.stitch.finish(PageKind::LeafIndex)?, distinct_keys(&self.counter.changes));
        Ok((TableTree { root, distinct, ..self.tree }, self.positions))
    }
}

/// Passes all rows of a tree to the sorter. REQUIRES: all pages are written.
pub(crate) fn sort_tree(
    pages: &Pages,
    tree: &TableTree,
    positions: &Positions,
    context: PartContext<'_>,
) -> Result<()> {
    let (mut unsorted, mut row) = (UnsortedWriter::new(&context), 0);
    printed_entries::of_tree(pages, tree.root, |record| {
        context.progress.go_on()?;
        unsorted.add_printed(positions, row, record)?;
        row += 1;
        Ok(())
    })?;
    assert_eq!(row, tree.rows, "as many rows are read back as were printed");
    unsorted.finish()
}
