//! Sorted items become a tree: of an index, or of a WITHOUT ROWID table.
//!
//! Where parts begin is a matter of ranks alone: part `n` holds the items from `n` times so many on, and how many that is
//! follows from the items' number and length. So runs, threads and memory never show in the file.

use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{ItemBatch, ItemWithSlack, ItemsAtHand, RunItems, Sorted, common_prefix};
use crate::statistics::{KeyCounter, distinct_keys};
use crate::stitch::{InOrder, InPart, TreeStitch, lock, on_threads};
use crate::tree::index::IndexPart;
use crate::tree::interior::Entry;
use crate::{Error, ErrorKind, Result};
use litepress_format::FormatError;
use litepress_format::sort_key::KeyPart;
use litepress_format::page::PageKind;
use litepress_rows::source::PART_BYTES;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Parts that a worker builds one after another, at least where there is memory for so many of each: opening a range of
/// ranks costs a little for each run.
const PARTS_PER_STRETCH: u64 = 8;

/// What the sorted items of a tree are.
pub(crate) trait Items: Sync {
    /// Makes the leaves of a part.
    type Builder;

    fn begin(&self, run: PageRun, usable: usize) -> Self::Builder;

    /// Adds the next item.
    fn add(&self, builder: &mut Self::Builder, item: ItemWithSlack<'_>) -> Result<()>;

    /// Adds the next items.
    fn add_batch(&self, builder: &mut Self::Builder, batch: ItemBatch<'_>) -> Result<()> {
        batch.try_for_each(|item| self.add(builder, item))
    }

    /// Completes a part; `is_last` where no other follows it.
    fn finish(&self, builder: Self::Builder, is_last: bool) -> Result<IndexPart>;

    /// How many items make a part: as many as fill its pages.
    fn items_per_part(&self, sorted: &Sorted) -> u64 {
        items_per_part(sorted)
    }

    /// Whether two items may not have the same key.
    fn is_unique(&self) -> bool;

    /// Length of the start of `item` that no other may have; `None` where others may.
    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>>;

    /// Length of the start of `item` that [`conflict`](Self::conflict) wants to know of the first of two items.
    fn kept_len(&self, item: &[u8]) -> usize {
        item.len()
    }

    /// The columns of the key that stands first in an item, whose distinct values may be wanted.
    fn key_parts(&self) -> &[KeyPart];

    /// The error of two items that have the same key; of the first one as much as was [kept](Self::kept_len).
    fn conflict(&self, first: &[u8], second: &[u8]) -> Error;
}

/// What a finished tree is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SortedTree {
    /// Number of the root page.
    pub root: u32,
    pub entries: u64,
    /// Bytes of all records.
    pub payload_bytes: u64,
    /// How many distinct keys of 1, 2, ... columns there are, where they are counted.
    pub distinct: Vec<u64>,
}

/// Builds the tree of all items; `counts_keys` where the distinct ones are wanted.
pub(crate) fn build<I: Items>(
    sorted: &Sorted,
    items: &I,
    pages: &mut Pages,
    threads: usize,
    counts_keys: bool,
    progress: &Progress,
) -> Result<SortedTree> {
    let (page_size, pool) = (pages.page_size(), pages.pool().clone());
    let counted = if counts_keys { items.key_parts() } else { &[] };
    let begin = || items.begin(PageRun::new(page_size, &pool), page_size.bytes());
    // What a worker builds waits for the stretches before: all of it counts.
    let affordable = (pool.live_limit() / threads.max(1)) as u64;
    let press = Press::new(sorted, items, counted, affordable.clamp(1, PARTS_PER_STRETCH), begin);
    pool.hold_back(press.blocks_held(threads));
    let next_stretch = AtomicU64::new(0);
    let stitch = Mutex::new(Stitch {
        parts: InOrder::new(),
        placed: Placed { stitch: TreeStitch::new(pages), tree: SortedTree::default() },
    });
    on_threads(threads, || {
        while !lock(&stitch).parts.has_failed() {
            pool.wait_for_room();
            let stretch = next_stretch.fetch_add(1, Ordering::Relaxed);
            let deposit = |number, part| {
                let Stitch { parts, placed } = &mut *lock(&stitch);
                parts.deposit(number, part, |part| placed.place(part));
                progress.go_on()
            };
            match press.print(stretch, deposit) {
                Ok(true) => {}
                Ok(false) => return,
                Err((number, error)) => return lock(&stitch).parts.fail(number, error),
            }
        }
    });
    pool.hold_back(0);
    let Stitch { parts, placed } = stitch.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.finish()?;
    let changes = press.changes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let root = placed.stitch.finish(PageKind::LeafIndex)?;
    Ok(SortedTree { root, distinct: distinct_keys(&changes), ..placed.tree })
}

struct Stitch<'p> {
    parts: InOrder<IndexPart>,
    placed: Placed<'p>,
}

struct Placed<'p> {
    stitch: TreeStitch<'p, Entry>,
    tree: SortedTree,
}

impl Placed<'_> {
    fn place(&mut self, part: IndexPart) -> Result<()> {
        self.tree.entries += part.entries;
        self.tree.payload_bytes += part.payload_bytes;
        place(&mut self.stitch, part)
    }
}

/// Places the next part of a tree.
pub(crate) fn place(stitch: &mut TreeStitch<'_, Entry>, part: IndexPart) -> Result<()> {
    stitch.place(part.run, part.leaves, |(index, divider), placement| {
        let divider = divider.map_or_else(Entry::default, |divider| divider.placed(placement));
        (divider, placement.number(index))
    })
}

/// How many items make a part: as many as fill its pages.
pub(crate) fn items_per_part(sorted: &Sorted) -> u64 {
    // About what a cell takes beside its item.
    const POINTER_AND_LENGTHS: u64 = 5;
    let mean = sorted.item_bytes().checked_div(sorted.len()).unwrap_or(0) + POINTER_AND_LENGTHS;
    (PART_BYTES as u64 / mean).max(2)
}

/// Makes parts out of sorted items.
struct Press<'s, I, B> {
    sorted: &'s Sorted,
    items: &'s I,
    /// The columns of a key whose distinct values are counted, and what was counted so far.
    counted: &'s [KeyPart],
    changes: Mutex<Vec<u64>>,
    begin: B,
    per_part: u64,
    parts: u64,
    per_stretch: u64,
    /// A stretch has at least so many.
    least_per_stretch: u64,
}

impl<'s, I: Items, B: Fn() -> I::Builder> Press<'s, I, B> {
    fn new(sorted: &'s Sorted, items: &'s I, counted: &'s [KeyPart], least_per_stretch: u64, begin: B) -> Self {
        let per_part = items.items_per_part(sorted);
        let (changes, parts) = (Mutex::new(vec![0; counted.len()]), sorted.len().div_ceil(per_part));
        let per_stretch = least_per_stretch.max(sorted.items_worth_a_range() / per_part);
        Self { sorted, items, counted, changes, begin, per_part, parts, per_stretch, least_per_stretch }
    }

    /// Blocks that wait for the stretch before, and are then to be written all at once. Nobody waits for them beyond the
    /// few that small memories have: the disk would idle, and then the processor.
    fn blocks_held(&self, threads: usize) -> usize {
        threads * usize::try_from(self.per_stretch - self.least_per_stretch).unwrap_or(0)
    }

    /// Builds the parts of a stretch; `false` where there is none.
    fn print(&self, stretch: u64, deposit: impl Fn(u64, IndexPart) -> Result<()>) -> InPart<bool> {
        let first = stretch.saturating_mul(self.per_stretch);
        if first >= self.parts {
            return Ok(false);
        }
        let end = self.parts.min(first + self.per_stretch);
        let in_first = |error| (first, error);
        // One item more in front, for comparison.
        let start_rank = first * self.per_part;
        let before = u64::from(start_rank > 0);
        let end_rank = self.sorted.len().min(end * self.per_part);
        let mut ranked = self.sorted.range(start_rank - before..end_rank).map_err(in_first)?;
        let counter = KeyCounter::new(self.counted);
        let mut neighbours = Neighbours { items: self.items, counter, previous: Vec::new() };
        if before == 1 {
            neighbours.keep(ranked.next().map_err(in_first)?.expect("as many items as ranks"));
        }
        for number in first..end {
            let in_part = |error| (number, error);
            let mut builder = (self.begin)();
            let mut left = self.per_part.min(self.sorted.len() - number * self.per_part);
            while let Some(at_hand) = ranked.next_at_hand(left).map_err(in_part)? {
                left -= at_hand.len() as u64;
                match at_hand {
                    ItemsAtHand::Words(batch) => {
                        neighbours.check_batch(batch).and_then(|()| self.items.add_batch(&mut builder, batch))
                    }
                    ItemsAtHand::Run(items) => self.add_run(&mut builder, &mut neighbours, items),
                }
                .map_err(in_part)?;
            }
            for _ in 0..left {
                let item = ranked.next_with_slack().map_err(in_part)?.expect("as many items as ranks");
                neighbours.check(item.item()).map_err(in_part)?;
                self.items.add(&mut builder, item).map_err(in_part)?;
            }
            let part = self.items.finish(builder, number + 1 == self.parts);
            part.and_then(|part| deposit(number, part)).map_err(in_part)?;
        }
        for (sum, changes) in lock(&self.changes).iter_mut().zip(neighbours.counter.changes) {
            *sum += changes;
        }
        Ok(true)
    }

    fn add_run(&self, builder: &mut I::Builder, neighbours: &mut Neighbours<'_, I>, items: RunItems<'_>) -> Result<()> {
        let mut previous: Option<ItemWithSlack<'_>> = None;
        for item in items.iter() {
            match previous {
                _ if !neighbours.matter() => {}
                Some(previous) => neighbours.check_after(previous.item(), item.item())?,
                None => neighbours.check(item.item())?,
            }
            self.items.add(builder, item)?;
            previous = Some(item);
        }
        if let Some(last) = previous {
            neighbours.keep(last.item());
        }
        Ok(())
    }
}

/// Looks for two neighbours with one key, and counts distinct ones.
struct Neighbours<'p, I> {
    items: &'p I,
    counter: KeyCounter<'p>,
    previous: Vec<u8>,
}

impl<I: Items> Neighbours<'_, I> {
    fn keep(&mut self, item: &[u8]) {
        self.previous.clear();
        self.previous.extend_from_slice(&item[..self.items.kept_len(item)]);
    }

    /// Whether anybody wants to know what precedes an item.
    #[inline]
    fn matter(&self) -> bool {
        self.counter.counts() || self.items.is_unique()
    }

    fn check_batch(&mut self, batch: ItemBatch<'_>) -> Result<()> {
        if !self.matter() {
            return Ok(());
        }
        batch.try_for_each(|item| self.check(item.item()))
    }

    /// Looks at the item that follows the one that was kept, and keeps it.
    fn check(&mut self, item: &[u8]) -> Result<()> {
        if !self.matter() {
            return Ok(());
        }
        let previous = std::mem::take(&mut self.previous);
        self.check_after(&previous, item)?;
        self.previous = previous;
        self.keep(item);
        Ok(())
    }

    /// Looks at an item that follows `previous`, which is empty before the first.
    #[inline]
    fn check_after(&mut self, previous: &[u8], item: &[u8]) -> Result<()> {
        if self.counter.counts() {
            self.counter.add(previous, item)?;
        }
        match self.items.unique_len(item)? {
            Some(len) if common_prefix(previous, &item[..len]) == len => Err(self.items.conflict(previous, item)),
            _ => Ok(()),
        }
    }
}

/// A sort item that cannot be taken apart: a mistake of ours, or a broken temporary file.
pub(crate) fn bad_item(error: &FormatError) -> Error {
    Error::new(ErrorKind::Data, format!("a sort item or record that is none: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::DiscardSink;
    use crate::sink::block::BlockPool;
    use crate::sink::writers::Writers;
    use crate::sort::{SortOptions, Sorter};
    use crate::tree::index::IndexBuilder;
    use litepress_format::page::PageSize;
    use std::sync::Arc;

    /// Items that are records.
    struct Records;

    impl Items for Records {
        type Builder = IndexBuilder;

        fn begin(&self, run: PageRun, usable: usize) -> IndexBuilder {
            IndexBuilder::new(run, usable)
        }

        fn add(&self, builder: &mut IndexBuilder, item: ItemWithSlack<'_>) -> Result<()> {
            builder.add(item.item());
            Ok(())
        }

        fn finish(&self, builder: IndexBuilder, is_last: bool) -> Result<IndexPart> {
            Ok(builder.finish(is_last))
        }

        fn is_unique(&self) -> bool {
            false
        }

        fn unique_len(&self, _: &[u8]) -> Result<Option<usize>> {
            Ok(None)
        }

        fn key_parts(&self) -> &[KeyPart] {
            &[]
        }

        fn conflict(&self, _: &[u8], _: &[u8]) -> Error {
            unreachable!("no item is unique")
        }
    }

    /// Eight threads had 64 blocks where there was memory for 16: each built eight parts that waited for those before.
    #[test]
    fn parts_that_wait_are_few_where_memory_is_little() {
        let folder = tempfile::tempdir().unwrap();
        let sorter = Sorter::new(SortOptions { memory_bytes: 1 << 30, temp_dir: folder.path().to_owned(), writers: 1 });
        let mut writer = sorter.writer();
        let mut record = vec![7; 100_000];
        for number in 0_u32..1600 {
            record[..4].copy_from_slice(&number.to_be_bytes());
            writer.push(&record).unwrap();
        }
        writer.finish().unwrap();
        let (limit, threads, progress) = (4, 4, Arc::new(Progress::default()));
        let pool = BlockPool::new(limit);
        let writers = Writers::new(Box::new(DiscardSink), "<discarded>".into(), 0, progress.clone());
        let mut pages = Pages::new(PageSize::DEFAULT, pool.clone(), writers);
        let tree = build(&sorter.finish().unwrap(), &Records, &mut pages, threads, false, &progress).unwrap();
        assert_eq!(tree.entries, 1600);
        // A part takes a block and some pages of another one.
        let most = pool.most_live();
        assert!(most <= limit + 2 * threads + 1, "{most} blocks");
    }
}
