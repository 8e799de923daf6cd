//! External sort of byte strings, in bounded memory.
//!
//! ```text
//! worker 1   push ... -> buckets by first bits, blocks spilled as they are               writer, routed, routes, buckets
//!                        short items of one form as words, long ones in parts            packing, item_parts, segments
//!                        words of many records at once, and steps between words          word_maker, steps
//! worker 2   push ... -> where there are no buckets: runs, sorted and spilled            run, radix, arena, delta, spill
//! Sorter::finish   many runs -> few runs                                                 here
//! Sorted::range    ranks -> a cursor in every run -> merge, on as many threads as wanted rank, sample, merge
//!                           a bucket is sorted when its turn comes                       sorted_buckets, words
//! ```
//!
//! Items are distinct, and none is a prefix of another, as normalised keys with a rowid at the end are: `memcmp`
//! decides between any two of them before the shorter one ends, and nothing else does. So the sorted sequence, and with
//! it what a rank means, depends on neither memory nor threads, whatever runs they lead to.
//!
//! **Memory.** Each writer has two memories of one size. With buckets, three quarters of both hold blocks. With runs, one
//! is filled, the other is scratch room for sorting it, and is filled next while the first one is written to a file.
//! What a writer has left at its end stays in memory. What is left of the budget then is for buckets that are sorted and
//! read, and for blocks of each spilled run; runs that are too many for that are merged into fewer first. What comes on
//! top: items larger than a block, one of each run, while they are merged.
//!
//! **Disk.** Files without a name in `temp_dir` have the blocks of buckets as they are, written once; and runs, compressed
//! by what each item shares with the one before, once, or twice and more where the budget is very small for the data.

mod arena;
mod block_memory;
mod buckets;
mod delta;
mod item_parts;
mod merge;
mod packing;
mod prospect;
mod radix;
mod rank;
mod read_ahead;
mod routed;
mod routes;
mod run;
mod sample;
mod segments;
mod sorted_buckets;
mod spill;
mod steps;
mod varying;
mod word_maker;
mod words;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use arena::common_prefix;
pub(crate) use item_parts::ItemParts;
pub(crate) use merge::{ItemBatch, ItemWithSlack, ItemsAtHand, Merge, RunItems};
pub(crate) use prospect::ItemSample;
pub(crate) use run::SLACK_BYTES;
pub(crate) use word_maker::{ALIKE, WordMaker};
pub(crate) use writer::{OrderedWriter, RunWriter};

use crate::Result;
use buckets::{BucketFill, BucketLimits};
use delta::{RunEncoder, SpilledRun};
use rank::{HeldRun, Runs};
use routes::Routes;
use run::{FillRun, MIN_MEMORY_BYTES, MemoryRun};
use spill::{ALIGNMENT, SpillFile, SpillFolder};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use varying::MatchBytes;

/// How to sort.
#[derive(Clone, Debug)]
pub(crate) struct SortOptions {
    /// Bytes of memory for everything: runs, scratch room, blocks on their way to and from files.
    pub memory_bytes: u64,
    /// Folder for temporary files.
    pub temp_dir: PathBuf,
    /// How many writers there are at most at once, and later how many merges.
    pub writers: usize,
}

/// Collects items from several threads.
pub(crate) struct Sorter {
    budget: Budget,
    folder: Arc<SpillFolder>,
    /// Where items go that are put in buckets, once somebody knows enough of them; `None`: nowhere.
    routes: OnceLock<Option<Arc<Routes>>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    runs: Runs,
    /// Writers that have their memory.
    live: u64,
    /// A writer was dropped before it was finished.
    lost: bool,
}

/// All items in order, for any number of readers.
#[derive(Debug)]
pub(crate) struct Sorted {
    runs: Runs,
    len: u64,
    item_bytes: u64,
    /// What a merge looks at.
    match_bytes: MatchBytes,
    /// Bytes of a read.
    block_bytes: usize,
    /// Bytes of items that are many for a range.
    range_bytes: u64,
}

/// Who may take how much memory.
#[derive(Clone, Copy, Debug)]
struct Budget {
    memory: u64,
    writers: u64,
    /// Each of a writer's two memories.
    buffer_bytes: usize,
    /// A write to a file.
    block_bytes: usize,
    /// All samples of all runs, a quarter of it for runs that are being written.
    sample_bytes: u64,
}

impl Budget {
    /// Larger memories for one run bring nothing, and entries of a run are counted in 32 bits.
    const MAX_BUFFER_BYTES: u64 = 32 << 30;
    const MAX_BLOCK_BYTES: u64 = 1 << 20;

    fn new(memory: u64, writers: usize) -> Self {
        let writers = writers.max(1) as u64;
        let sample_bytes = memory / 32;
        let block_bytes = Self::whole_blocks(memory / writers / 64, Self::MAX_BLOCK_BYTES);
        let share = (memory - sample_bytes) / writers;
        let buffers = share.saturating_sub((block_bytes + ALIGNMENT) as u64);
        let buffer_bytes = (buffers / 2).clamp(MIN_MEMORY_BYTES as u64, Self::MAX_BUFFER_BYTES);
        let buffer_bytes = usize::try_from(buffer_bytes).unwrap_or(usize::MAX);
        Self { memory, writers, buffer_bytes, block_bytes, sample_bytes }
    }

    /// What a writer may have in buckets: the rest, sorting that and writing blocks take what is left of its memories,
    /// and later sorting a bucket for each merge.
    fn bucket_limits(&self) -> BucketLimits {
        // A writer has its buckets anew, once, where longer items come late.
        let bucket_bytes = self.sorted_bucket_bytes() / self.writers / 2;
        BucketLimits {
            memory_bytes: self.buffer_bytes / 2 * 3,
            bucket_bytes: usize::try_from(bucket_bytes).unwrap_or(usize::MAX),
            write_bytes: self.block_bytes,
        }
    }

    /// The most that the items of a bucket take, of all writers. Sorting it takes as much again, short ones in an arena and
    /// words twice as much, and reading the next one meanwhile as much as that has in files.
    fn sorted_bucket_bytes(&self) -> u64 {
        self.memory / 32 / self.writers
    }

    /// The memory of items without a bucket.
    fn rest_bytes(&self) -> usize {
        self.buffer_bytes / 32
    }

    /// `bytes` in whole units of [`ALIGNMENT`], at least one, at most `most`.
    fn whole_blocks(bytes: u64, most: u64) -> usize {
        let units = (bytes.min(most) / ALIGNMENT as u64).max(1);
        usize::try_from(units).expect("at most a block") * ALIGNMENT
    }

    /// All that a writer takes.
    fn writer_bytes(&self) -> u64 {
        (2 * self.buffer_bytes + self.block_bytes + ALIGNMENT) as u64
    }

    fn encoder(&self, file: &Arc<SpillFile>) -> RunEncoder {
        RunEncoder::new(file, self.block_bytes, self.sample_bytes / self.writers / 4)
    }

    /// What each of `merges` at once has for reading.
    fn merge_bytes(&self, held_bytes: u64) -> u64 {
        let others = (self.block_bytes + ALIGNMENT) as u64 + 4 * self.sorted_bucket_bytes();
        (self.memory.saturating_sub(held_bytes) / self.writers).saturating_sub(others)
    }

    /// How many spilled runs one merge can read.
    fn fan_in(&self, held_bytes: u64) -> usize {
        let least_block = Self::whole_blocks(self.memory / 2048, 32 << 10) + ALIGNMENT;
        let fan_in = self.merge_bytes(held_bytes) / (2 * least_block) as u64;
        usize::try_from(fan_in.max(2)).unwrap_or(usize::MAX)
    }

    /// The largest reads with which `runs` spilled runs can be merged, where each has one block at hand and one on its
    /// way.
    fn read_bytes(&self, held_bytes: u64, runs: usize) -> usize {
        let each = self.merge_bytes(held_bytes) / (2 * runs.max(1)) as u64;
        Self::whole_blocks(each.saturating_sub(ALIGNMENT as u64), Self::MAX_BLOCK_BYTES)
    }
}

impl Sorter {
    /// A sort without items. Nothing is allocated or created before there is something to put there.
    pub fn new(options: SortOptions) -> Self {
        let budget = Budget::new(options.memory_bytes, options.writers);
        Self { budget, folder: SpillFolder::new(options.temp_dir), routes: OnceLock::new(), state: Mutex::default() }
    }

    /// A writer, for one thread.
    pub fn writer(&self) -> RunWriter<'_> {
        RunWriter::new(self)
    }

    /// A writer for a run of at least one and at most so many items, and bytes of them, that come in order. All others
    /// must be finished.
    pub fn ordered_writer(&self, items: u64, item_bytes: u64) -> Result<OrderedWriter<'_>> {
        OrderedWriter::new(self, items, item_bytes)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a writer's memory from the budget. Runs that earlier writers have left there are spilled for it.
    fn claim(&self) -> Result<()> {
        let mut state = self.state();
        state.live += 1;
        let mut evicted = Vec::new();
        let claimed = state.live * self.budget.writer_bytes() + self.budget.sample_bytes;
        while claimed + state.runs.memory_bytes() > self.budget.memory {
            let Some(run) = state.runs.pop_memory() else { break };
            evicted.push(run);
        }
        drop(state);
        for run in evicted {
            match run {
                HeldRun::Sorted(run) => {
                    let encoder = self.budget.encoder(&self.folder.create()?);
                    self.add_spilled(writer::encode(&run, encoder)?);
                }
                HeldRun::Buckets(mut fill) => {
                    fill.write_all()?;
                    self.state().runs.buckets.add(*fill);
                }
            }
        }
        Ok(())
    }

    fn add_spilled(&self, run: SpilledRun) {
        let mut state = self.state();
        state.runs.spilled.push(run);
        let runs = &mut state.runs;
        while runs.sample_bytes() > self.budget.sample_bytes / 4 * 3 {
            let thinned = runs.spilled.iter_mut().filter(|run| run.samples.len() > 1);
            if thinned.map(|run| run.samples.thin()).filter(|&thinned| thinned).count() == 0 {
                break;
            }
        }
    }

    /// Takes the last run of a writer and what it has in buckets, and the claim to its memory.
    fn add_last(&self, run: MemoryRun, buckets: Option<BucketFill>) {
        let mut state = self.state();
        state.live -= 1;
        if run.len() > 0 {
            state.runs.memory.push(run);
        }
        if let Some(fill) = buckets {
            state.runs.buckets.add(fill);
        }
    }

    /// Where items like these go, or where those go that somebody else had first.
    fn routes(&self, sample: &FillRun) -> Option<Arc<Routes>> {
        self.routes.get_or_init(|| Routes::new(sample, self.budget.buffer_bytes).map(Arc::new)).clone()
    }

    fn note_lost(&self) {
        self.state().lost = true;
    }

    /// Makes all items readable.
    ///
    /// # Panics
    /// If a writer was dropped and not finished: its items would be missing.
    pub fn finish(self) -> Result<Sorted> {
        let Self { budget, folder, state, .. } = self;
        let State { mut runs, lost, .. } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(!lost, "every writer of a sort is finished");
        runs.buckets.seal();
        while runs.spilled.len() > budget.fan_in(runs.held_bytes()) {
            merge_once(&mut runs, &budget, &folder)?;
        }
        let block_bytes = budget.read_bytes(runs.held_bytes(), runs.spilled.len());
        let match_bytes = MatchBytes::new(&runs.varying());
        let (len, item_bytes) = (runs.len(), runs.item_bytes());
        let range_bytes = budget.sorted_bucket_bytes();
        Ok(Sorted { runs, len, item_bytes, match_bytes, block_bytes, range_bytes })
    }
}

/// Merges the smallest spilled runs, until there are few enough or each has been merged once.
fn merge_once(runs: &mut Runs, budget: &Budget, folder: &Arc<SpillFolder>) -> Result<()> {
    let held_bytes = runs.held_bytes();
    let fan_in = budget.fan_in(held_bytes);
    let groups = Mutex::new(groups_of_smallest(&mut runs.spilled, fan_in));
    let read_bytes = budget.read_bytes(held_bytes, fan_in);
    let merged = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        loop {
            let group = groups.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(group) = group else { return Ok(()) };
            let run = merge_into_one(group, read_bytes, budget.encoder(&folder.create()?))?;
            merged.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..budget.writers).map(|_| scope.spawn(work)).collect();
        let mut ended = workers.into_iter().map(|worker| worker.join());
        ended.try_for_each(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    runs.spilled.append(&mut merged.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(())
}

/// Takes the smallest runs out, in groups of up to `fan_in`, so many that `fan_in` runs will be left.
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
    let mut merge = runs.merge(0..runs.len(), MatchBytes::new(&varying), read_bytes)?;
    while let Some(item) = merge.next_with_slack()? {
        encoder.push(item)?;
    }
    encoder.finish(varying)
}

impl Sorted {
    /// Number of items.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Sum of the items' lengths.
    pub fn item_bytes(&self) -> u64 {
        self.item_bytes
    }

    /// How many items a range has that is worth it: opening one sorts a bucket of which it may want little. What is made of
    /// them takes a small part of the memory.
    pub fn items_worth_a_range(&self) -> u64 {
        let most = self.range_bytes.saturating_mul(self.len.max(1)) / self.item_bytes.max(1);
        let buckets = &self.runs.buckets;
        (8 * buckets.mean_items()).max(2 * buckets.most_items()).min(most)
    }

    /// The items of global ranks `ranks.start..ranks.end`, in order.
    ///
    /// Several threads may read several ranges; the memory budget holds for as many at once as there could be writers.
    /// Opening a range reads some tens of KiB of each spilled run, so that a range is worth it from about a hundred
    /// thousand items on.
    pub fn range(&self, ranks: Range<u64>) -> Result<Merge<'_>> {
        self.runs.merge(ranks, self.match_bytes, self.block_bytes)
    }
}
