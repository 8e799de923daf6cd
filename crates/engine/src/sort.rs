//! Sorts byte strings in bounded memory: an external merge sort (Knuth 5.4) with a sample sort as its fast path. Tables
//! and indexes push items on every worker, and read them back by ranges of ranks when they build their trees.
//!
//! ```text
//! worker               push ... -> runs: sorted, spilled     writer, run, radix, arena, prefix_codec, spill;
//!                                                            ordered_writer if the items come in order
//!                      or buckets, if a sample predicts      buckets (the tour of the fast path)
//!                      the other items
//! Sorter::finish       many runs -> few runs                 here
//! SortedItems::range   ranks -> a cursor in every run, and   runs, rank, sparse_index, merge
//!                      one in the buckets -> merge, on any
//!                      number of threads
//! ```
//!
//! Keys are sorted in two places: `run` sorts the items of a run, by `radix` or `arena`, and `buckets::sorted_buckets` those of a
//! bucket, packed keys by `radix_u64` and others as a run.
//!
//! Runs sort any items by themselves. Buckets are a fast path in front of them: without a `Partitioner`
//! ([`Sorter::partitioner`]), a writer never leaves its runs. Tests sort the same items both ways.
//!
//! Items are distinct, and none is a prefix of another: they are normalised keys with a rowid at the end. So `memcmp`
//! alone orders them, and the sorted sequence and its ranks do not depend on memory or threads.
//!
//! **Memory.** Each writer has two memories of equal size. With buckets, blocks fill three quarters of both. With
//! runs, one memory is filled while the other is scratch space or is being written to a file. The items that a writer
//! has left at its end stay in memory. The rest of the budget is for buckets that are being read, and for read blocks
//! of spilled runs. If the spilled runs are too many for that, they are merged into fewer runs first. Items larger
//! than a block come on top: one of each run during a merge.
//!
//! **Disk.** Files without a name in `temp_dir` hold unsorted blocks of buckets, written once, and runs. A run is
//! prefix-compressed. It is written once, or again for every pass of merging if the budget is very small.
//!
//! Read the modules in this order: `writer` for the states of a writer, `run` and `merge` for the general sort, then
//! `buckets` for the fast path.

mod arena;
mod batch;
mod buckets;
mod budget;
mod diff_mask;
mod estimate;
mod item;
mod merge;
mod ordered_writer;
mod prefix_codec;
mod radix;
mod radix_u64;
mod rank;
mod read_ahead;
mod run;
mod runs;
mod sparse_index;
mod spill;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use arena::common_prefix;
pub(crate) use batch::{PackedBatch, ReadyBatch, RunItems};
pub(crate) use buckets::packed_key_builder::{BATCH_ROWS, Offsets, PackedKeyBuilder};
pub(crate) use buckets::split_item::SplitItem;
pub(crate) use estimate::ItemSample;
pub(crate) use item::{PADDING_BYTES, PaddedItem, bad_item};
pub(crate) use merge::Merge;
pub(crate) use ordered_writer::OrderedWriter;
pub(crate) use spill::cached_file;
pub(crate) use writer::RunWriter;

use crate::Result;
use crate::threads::on_threads;
use buckets::bucket_store::BucketStore;
use buckets::partitioner::Partitioner;
use budget::Budget;
use diff_mask::ByteSelector;
use litepress_rows::sync::{Mutex, MutexGuard, ignore_poison, lock};
use prefix_codec::{RunEncoder, SpilledRun};
use run::{RunBuilder, SortedRun};
use runs::{ResidentRun, Runs};
use spill::SpillFolder;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The options of a sort.
#[derive(Clone, Debug)]
pub(crate) struct SortOptions {
    /// Bytes of memory for everything: runs, scratch space, blocks on their way to and from files.
    pub memory_bytes: u64,
    /// Folder for temporary files.
    pub temp_dir: PathBuf,
    /// The most writers at the same time, and later the most merges.
    pub writers: usize,
}

/// Collects items from several threads.
pub(crate) struct Sorter {
    budget: Budget,
    folder: Arc<SpillFolder>,
    /// The partition into buckets, once a writer has sampled enough items; `None` inside if buckets do not pay.
    partitioner: OnceLock<Option<Arc<Partitioner>>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    runs: Runs,
    /// Number of writers that have reserved their memory.
    live: u64,
    /// A writer was dropped before it was finished: items are lost.
    lost: bool,
}

/// All items in order, for any number of readers.
#[derive(Debug)]
pub(crate) struct SortedItems {
    runs: Runs,
    len: u64,
    item_bytes: u64,
    /// The bytes of items that merges compare first.
    byte_selector: ByteSelector,
    /// Bytes of a read.
    block_bytes: usize,
    /// The most bytes of items in one range.
    range_bytes: u64,
}

impl Sorter {
    /// Creates a sort without items. It allocates and creates nothing before the first item.
    pub fn new(options: SortOptions) -> Self {
        let budget = Budget::new(options.memory_bytes, options.writers);
        Self {
            budget,
            folder: SpillFolder::new(options.temp_dir),
            partitioner: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Returns a writer for one thread.
    pub fn writer(&self) -> RunWriter<'_> {
        RunWriter::new(self)
    }

    /// Returns a writer for one run of `items` items, at least one, of `item_bytes` bytes together, that come in
    /// order. All other writers must be finished.
    pub fn ordered_writer(&self, items: u64, item_bytes: u64) -> Result<OrderedWriter<'_>> {
        OrderedWriter::new(self, items, item_bytes)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Reserves a writer's memory. Runs that earlier writers left in that memory are spilled.
    fn reserve_memory(&self) -> Result<()> {
        let mut state = self.state();
        state.live += 1;
        let mut evicted = Vec::new();
        let reserved = state.live * self.budget.writer_bytes() + self.budget.sparse_index_bytes;
        while reserved + state.runs.memory_bytes() > self.budget.memory {
            let Some(run) = state.runs.pop_memory() else { break };
            evicted.push(run);
        }
        drop(state);
        for run in evicted {
            match run {
                ResidentRun::Sorted(run) => {
                    let encoder = self.budget.encoder(&self.folder.create()?);
                    self.add_spilled(prefix_codec::encode(&run, encoder)?);
                }
                ResidentRun::Buckets(mut store) => {
                    store.write_all()?;
                    self.state().runs.buckets.add(*store);
                }
            }
        }
        Ok(())
    }

    fn add_spilled(&self, run: SpilledRun) {
        let mut state = self.state();
        state.runs.spilled.push(run);
        let runs = &mut state.runs;
        while runs.sparse_index_bytes() > self.budget.sparse_index_bytes / 4 * 3 {
            let downsampled = runs.spilled.iter_mut().filter(|run| run.sparse_index.len() > 1);
            if downsampled.map(|run| run.sparse_index.downsample()).filter(|&downsampled| downsampled).count() == 0 {
                break;
            }
        }
    }

    /// Adds the last run and the buckets of a writer, and frees its reservation.
    fn add_last(&self, run: SortedRun, buckets: Option<BucketStore>) {
        let mut state = self.state();
        state.live -= 1;
        if run.len() > 0 {
            state.runs.memory.push(run);
        }
        if let Some(fill) = buckets {
            state.runs.buckets.add(fill);
        }
    }

    /// Returns the partition for items like `sample`, or the one that another writer made first.
    fn partitioner(&self, sample: &RunBuilder) -> Option<Arc<Partitioner>> {
        self.partitioner.get_or_init(|| Partitioner::new(sample, self.budget.buffer_bytes).map(Arc::new)).clone()
    }

    fn poison(&self) {
        self.state().lost = true;
    }

    /// Completes the sort, so that all items can be read.
    ///
    /// # Panics
    /// If a writer was dropped unfinished: its items would be missing.
    pub fn finish(self) -> Result<SortedItems> {
        let Self { budget, folder, state, .. } = self;
        let State { mut runs, lost, .. } = ignore_poison(state.into_inner());
        assert!(!lost, "every writer of a sort is finished");
        runs.buckets.seal();
        while runs.spilled.len() > budget.fan_in(runs.held_bytes()) {
            merge_once(&mut runs, &budget, &folder)?;
        }
        let block_bytes = budget.read_bytes(runs.held_bytes(), runs.spilled.len());
        let byte_selector = ByteSelector::new(&runs.varying());
        let (len, item_bytes) = (runs.len(), runs.item_bytes());
        let range_bytes = budget.sorted_bucket_bytes();
        Ok(SortedItems { runs, len, item_bytes, byte_selector, block_bytes, range_bytes })
    }
}

/// Merges the smallest spilled runs, until there are few enough or each has been merged once.
fn merge_once(runs: &mut Runs, budget: &Budget, folder: &Arc<SpillFolder>) -> Result<()> {
    let held_bytes = runs.held_bytes();
    let fan_in = budget.fan_in(held_bytes);
    let groups = Mutex::new(groups_of_smallest(&mut runs.spilled, fan_in));
    let read_bytes = budget.read_bytes(held_bytes, fan_in);
    let (merged, failed) = (Mutex::new(Vec::new()), Mutex::new(None));
    let work = || -> Result<()> {
        loop {
            let group = lock(&groups).pop();
            let Some(group) = group else { return Ok(()) };
            let run = merge_into_one(group, read_bytes, budget.encoder(&folder.create()?))?;
            lock(&merged).push(run);
        }
    };
    on_threads(usize::try_from(budget.writers).unwrap_or(1), || {
        if let Err(error) = work() {
            lock(&failed).get_or_insert(error);
        }
    });
    if let Some(error) = ignore_poison(failed.into_inner()) {
        return Err(error);
    }
    runs.spilled.append(&mut ignore_poison(merged.into_inner()));
    Ok(())
}

/// Takes the smallest runs out in groups of up to `fan_in`, until `fan_in` runs will be left.
fn groups_of_smallest(spilled: &mut Vec<SpilledRun>, fan_in: usize) -> Vec<Vec<SpilledRun>> {
    spilled.sort_by_key(SpilledRun::bytes);
    let mut excess = spilled.len() - fan_in;
    let mut groups = Vec::new();
    while excess > 0 && spilled.len() > 1 {
        let size = fan_in.min(excess + 1).min(spilled.len());
        groups.push(spilled.drain(..size).collect());
        excess -= size - 1;
    }
    groups
}

fn merge_into_one(group: Vec<SpilledRun>, read_bytes: usize, mut encoder: RunEncoder) -> Result<SpilledRun> {
    let runs = Runs { spilled: group, ..Runs::default() };
    let varying = runs.varying();
    let mut merge = runs.merge(0..runs.len(), ByteSelector::new(&varying), read_bytes)?;
    while let Some(item) = merge.next_padded()? {
        encoder.push(item)?;
    }
    encoder.finish(varying)
}

impl SortedItems {
    /// Returns the number of items.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the sum of the items' lengths.
    pub fn item_bytes(&self) -> u64 {
        self.item_bytes
    }

    /// Returns the fewest items that a range should have. Opening a range sorts a whole bucket, of which it may need
    /// little. The number is bounded, because the pages made of a range take memory.
    pub fn range_items_min(&self) -> u64 {
        let most = self.range_bytes.saturating_mul(self.len.max(1)) / self.item_bytes.max(1);
        let buckets = &self.runs.buckets;
        (8 * buckets.mean_items()).max(2 * buckets.most_items()).min(most)
    }

    /// Returns the rank of the first item that is not less than `key`. Costs as much as opening a range.
    pub fn rank(&self, key: &[u8]) -> Result<u64> {
        self.runs.rank(key, self.block_bytes)
    }

    /// Returns the items of the global ranks `ranks.start..ranks.end`, in order.
    ///
    /// Several threads may read several ranges; the memory budget covers one range for each writer. Opening a range
    /// reads some tens of KiB of each spilled run, so a range pays off from about a hundred thousand items on.
    pub fn range(&self, ranks: Range<u64>) -> Result<Merge<'_>> {
        self.runs.merge(ranks, self.byte_selector, self.block_bytes)
    }
}
