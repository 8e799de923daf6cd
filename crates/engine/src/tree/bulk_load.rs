//! Bulk loading: builds the b-tree of an index or a WITHOUT ROWID table bottom-up from sorted items.
//!
//! Parts begin at fixed ranks: part `n` starts at item `n * items_per_part`, which follows from the number and length
//! of the items alone. So runs, threads and memory never affect the file.

use super::assembler::TreeAssembler;
use super::index_leaf::IndexPart;
use super::interior::Entry;
use super::key_counter::{KeyCounter, distinct_keys};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{PackedBatch, PaddedItem, ReadyBatch, RunItems, SortedItems, common_prefix};
use crate::threads::{InPart, ReorderBuffer, on_threads};
use crate::{Error, Result};
use litepress_format::page::PageKind;
use litepress_format::sort_key::KeyPart;
use litepress_rows::source::PART_BYTES;
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use std::sync::atomic::{AtomicU64, Ordering};

/// The fewest parts that a worker builds one after another, if there is memory for them: opening a range of ranks has a
/// cost for each run.
const MIN_PARTS_PER_RANGE: u64 = 8;

/// The kind of items that a tree is built from.
pub(crate) trait ItemKind: Sync {
    /// Builds the leaves of a part.
    type Builder;

    fn begin(&self, run: PageRun, usable: usize) -> Self::Builder;

    /// Adds the next item.
    fn add(&self, builder: &mut Self::Builder, item: PaddedItem<'_>) -> Result<()>;

    /// Adds the next items.
    fn add_batch(&self, builder: &mut Self::Builder, batch: PackedBatch<'_>) -> Result<()> {
        batch.try_for_each(|item| self.add(builder, item))
    }

    /// Completes a part. `is_last` says that no other part follows.
    fn finish(&self, builder: Self::Builder, is_last: bool) -> Result<IndexPart>;

    /// Returns how many items fill the pages of a part.
    fn items_per_part(&self, sorted: &SortedItems) -> u64 {
        items_per_part(sorted)
    }

    /// Returns whether keys must be unique.
    fn is_unique(&self) -> bool;

    /// Returns the length of the item's prefix that no other item may have, or `None` if others may.
    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>>;

    /// Returns the length of the item's prefix that [`conflict`](Self::conflict) needs of the first of two items.
    fn kept_len(&self, item: &[u8]) -> usize {
        item.len()
    }

    /// Returns the key columns at the front of an item, whose distinct values may be counted.
    fn key_parts(&self) -> &[KeyPart];

    /// Returns the error of two items with one key. `first` has only its [kept](Self::kept_len) prefix.
    fn conflict(&self, first: &[u8], second: &[u8]) -> Error;
}

/// A finished tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexTree {
    /// Number of the root page.
    pub root: u32,
    pub entries: u64,
    /// Bytes of all records.
    pub payload_bytes: u64,
    /// Number of distinct keys of the first 1, 2, ... columns, if they were counted.
    pub distinct: Vec<u64>,
}

/// Builds the tree of all items. `counts_keys` counts distinct keys.
pub(crate) fn build<I: ItemKind>(
    sorted: &SortedItems,
    items: &I,
    pages: &mut Pages,
    threads: usize,
    counts_keys: bool,
    progress: &Progress,
) -> Result<IndexTree> {
    let (page_size, pool) = (pages.page_size(), pages.pool().clone());
    let counted = if counts_keys { items.key_parts() } else { &[] };
    let begin = || items.begin(PageRun::new(page_size, &pool), page_size.bytes());
    // A worker's parts wait for those of earlier ranges, so all of them count.
    let affordable = (pool.live_limit() / threads.max(1)) as u64;
    let loader = BulkLoader::new(sorted, items, counted, affordable.clamp(1, MIN_PARTS_PER_RANGE), begin);
    pool.set_held_blocks(loader.blocks_held(threads));
    let next_range = AtomicU64::new(0);
    let assembler = Mutex::new(Assembler {
        parts: ReorderBuffer::new(),
        placed: PartialTree { assembler: TreeAssembler::new(pages), tree: IndexTree::default() },
    });
    on_threads(threads, || {
        while !lock(&assembler).parts.has_failed() {
            pool.wait_for_room();
            let range = next_range.fetch_add(1, Ordering::Relaxed);
            let insert = |number, part| {
                let Assembler { parts, placed } = &mut *lock(&assembler);
                parts.insert(number, part, |part| placed.place(part));
                progress.go_on()
            };
            match loader.build_range(range, insert) {
                Ok(true) => {}
                Ok(false) => return,
                Err((number, error)) => return lock(&assembler).parts.fail(number, error),
            }
        }
    });
    pool.set_held_blocks(0);
    let Assembler { parts, placed } = ignore_poison(assembler.into_inner());
    parts.finish()?;
    let changes = ignore_poison(loader.changes.into_inner());
    let root = placed.assembler.finish(PageKind::LeafIndex)?;
    Ok(IndexTree { root, distinct: distinct_keys(&changes), ..placed.tree })
}

struct Assembler<'p> {
    parts: ReorderBuffer<IndexPart>,
    placed: PartialTree<'p>,
}

struct PartialTree<'p> {
    assembler: TreeAssembler<'p, Entry>,
    tree: IndexTree,
}

impl PartialTree<'_> {
    fn place(&mut self, part: IndexPart) -> Result<()> {
        self.tree.entries += part.entries;
        self.tree.payload_bytes += part.payload_bytes;
        place(&mut self.assembler, part)
    }
}

/// Places the next part of a tree.
pub(crate) fn place(assembler: &mut TreeAssembler<'_, Entry>, part: IndexPart) -> Result<()> {
    assembler.place(part.run, part.leaves, |(index, divider), placement| {
        let divider = divider.map_or_else(Entry::default, |divider| divider.placed(placement));
        (divider, placement.number(index))
    })
}

/// Builds the tree of an index without entries. Returns the number of its root page.
pub(crate) fn build_empty(pages: &mut Pages) -> Result<u32> {
    TreeAssembler::<Entry>::new(pages).finish(PageKind::LeafIndex)
}

/// Returns how many items fill the pages of a part.
pub(crate) fn items_per_part(sorted: &SortedItems) -> u64 {
    // An estimate of a cell's bytes besides its item.
    const POINTER_AND_LENGTHS: u64 = 5;
    let mean = sorted.item_bytes().checked_div(sorted.len()).unwrap_or(0) + POINTER_AND_LENGTHS;
    (PART_BYTES as u64 / mean).max(2)
}

/// Builds the parts of a tree.
struct BulkLoader<'s, I, B> {
    sorted: &'s SortedItems,
    items: &'s I,
    /// The key columns whose distinct values are counted, and the counts so far.
    counted: &'s [KeyPart],
    changes: Mutex<Vec<u64>>,
    begin: B,
    items_per_part: u64,
    parts: u64,
    parts_per_range: u64,
    /// The fewest parts in a range.
    min_parts_per_range: u64,
}

impl<'s, I: ItemKind, B: Fn() -> I::Builder> BulkLoader<'s, I, B> {
    fn new(sorted: &'s SortedItems, items: &'s I, counted: &'s [KeyPart], min_parts_per_range: u64, begin: B) -> Self {
        let items_per_part = items.items_per_part(sorted);
        let (changes, parts) = (Mutex::new(vec![0; counted.len()]), sorted.len().div_ceil(items_per_part));
        let parts_per_range = min_parts_per_range.max(sorted.range_items_min() / items_per_part);
        Self { sorted, items, counted, changes, begin, items_per_part, parts, parts_per_range, min_parts_per_range }
    }

    /// Returns the blocks that wait for earlier ranges and are then written at once. The block limit must not stop
    /// builders because of them, except for the few that even small memories have: the disk would idle, then the
    /// processor.
    fn blocks_held(&self, threads: usize) -> usize {
        threads * usize::try_from(self.parts_per_range - self.min_parts_per_range).unwrap_or(0)
    }

    /// Builds the parts of a range. Returns `false` if there is no such range.
    fn build_range(&self, range: u64, insert: impl Fn(u64, IndexPart) -> Result<()>) -> InPart<bool> {
        let first = range.saturating_mul(self.parts_per_range);
        if first >= self.parts {
            return Ok(false);
        }
        let end = self.parts.min(first + self.parts_per_range);
        let in_first = |error| (first, error);
        // One item more in front, to compare the first one with.
        let start_rank = first * self.items_per_part;
        let before = u64::from(start_rank > 0);
        let end_rank = self.sorted.len().min(end * self.items_per_part);
        let mut ranked = self.sorted.range(start_rank - before..end_rank).map_err(in_first)?;
        let mut duplicates = DuplicateCheck::new(self.items, self.counted);
        if before == 1 {
            duplicates.keep(ranked.next().map_err(in_first)?.expect("as many items as ranks"));
        }
        for number in first..end {
            let in_part = |error| (number, error);
            let mut builder = (self.begin)();
            let mut left = self.items_per_part.min(self.sorted.len() - number * self.items_per_part);
            while let Some(batch) = ranked.next_ready(left).map_err(in_part)? {
                left -= batch.len() as u64;
                match batch {
                    ReadyBatch::Packed(batch) => {
                        duplicates.check_batch(batch).and_then(|()| self.items.add_batch(&mut builder, batch))
                    }
                    ReadyBatch::Run(items) => self.add_run(&mut builder, &mut duplicates, items),
                }
                .map_err(in_part)?;
            }
            for _ in 0..left {
                let item = ranked.next_padded().map_err(in_part)?.expect("as many items as ranks");
                duplicates.check(item.item()).map_err(in_part)?;
                self.items.add(&mut builder, item).map_err(in_part)?;
            }
            let part = self.items.finish(builder, number + 1 == self.parts);
            part.and_then(|part| insert(number, part)).map_err(in_part)?;
        }
        for (sum, changes) in lock(&self.changes).iter_mut().zip(duplicates.counter.changes) {
            *sum += changes;
        }
        Ok(true)
    }

    fn add_run(
        &self,
        builder: &mut I::Builder,
        duplicates: &mut DuplicateCheck<'_, I>,
        items: RunItems<'_>,
    ) -> Result<()> {
        let mut previous: Option<PaddedItem<'_>> = None;
        for item in items.iter() {
            match previous {
                _ if !duplicates.is_needed() => {}
                Some(previous) => duplicates.check_after(previous.item(), item.item())?,
                None => duplicates.check(item.item())?,
            }
            self.items.add(builder, item)?;
            previous = Some(item);
        }
        if let Some(last) = previous {
            duplicates.keep(last.item());
        }
        Ok(())
    }
}

/// Finds adjacent items with one key, and counts distinct keys.
pub(crate) struct DuplicateCheck<'p, I> {
    items: &'p I,
    counter: KeyCounter<'p>,
    previous: Vec<u8>,
}

impl<'p, I: ItemKind> DuplicateCheck<'p, I> {
    /// Checks items from the first one on. Counts the distinct values of the `counted` columns.
    pub fn new(items: &'p I, counted: &'p [KeyPart]) -> Self {
        Self { items, counter: KeyCounter::new(counted), previous: Vec::new() }
    }

    /// Keeps an item: the next one follows it.
    pub fn keep(&mut self, item: &[u8]) {
        self.previous.clear();
        self.previous.extend_from_slice(&item[..self.items.kept_len(item)]);
    }

    /// Returns whether the preceding item is needed at all.
    #[inline]
    pub fn is_needed(&self) -> bool {
        self.counter.counts() || self.items.is_unique()
    }

    fn check_batch(&mut self, batch: PackedBatch<'_>) -> Result<()> {
        if !self.is_needed() {
            return Ok(());
        }
        batch.try_for_each(|item| self.check(item.item()))
    }

    /// Checks the item that follows the kept one, and keeps it.
    pub fn check(&mut self, item: &[u8]) -> Result<()> {
        if !self.is_needed() {
            return Ok(());
        }
        let previous = std::mem::take(&mut self.previous);
        self.check_after(&previous, item)?;
        self.previous = previous;
        self.keep(item);
        Ok(())
    }

    /// Checks an item that follows `previous`, which is empty before the first item.
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

#[cfg(test)]
mod tests {
    use super::super::index_leaf::IndexBuilder;
    use super::*;
    use crate::sink::DiscardSink;
    use crate::sink::block::BlockPool;
    use crate::sink::writers::Writers;
    use crate::sort::{SortOptions, Sorter};
    use litepress_format::page::PageSize;
    use std::sync::Arc;

    /// Items that are records.
    struct Records;

    impl ItemKind for Records {
        type Builder = IndexBuilder;

        fn begin(&self, run: PageRun, usable: usize) -> IndexBuilder {
            IndexBuilder::new(run, usable)
        }

        fn add(&self, builder: &mut IndexBuilder, item: PaddedItem<'_>) -> Result<()> {
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

    /// Eight threads had 64 blocks with memory for 16: each built eight parts that waited for those before.
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
        // A part takes one block, and some pages of another one.
        let most = pool.most_live();
        assert!(most <= limit + 2 * threads + 1, "{most} blocks");
    }
}
