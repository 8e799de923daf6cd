//! Sorted items by their rank: where in every run a range begins.
//!
//! The greatest known key whose rank is surely not above the wanted one is looked up in the runs in memory and in the
//! samples of the spilled ones. Every run is opened at that key, which tells its exact rank, and the few items that
//! are still before the wanted one are merged and dropped.

use super::buckets::BucketFill;
use super::delta::{RunDecoder, SpilledRun};
use super::merge::{Cursor, Merge};
use super::read_ahead::ReadAhead;
use super::run::MemoryRun;
use super::sorted_buckets::{BucketCursor, Buckets};
use super::varying::{MatchBytes, Varying};
use crate::Result;
use std::ops::Range;

/// All items, in runs.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// None of them empty.
    pub memory: Vec<MemoryRun>,
    pub spilled: Vec<SpilledRun>,
    pub buckets: Buckets,
}

/// What stays in memory of what a writer took.
pub(super) enum HeldRun {
    Sorted(MemoryRun),
    Buckets(Box<BucketFill>),
}

impl Runs {
    /// Takes a run out of memory.
    pub fn pop_memory(&mut self) -> Option<HeldRun> {
        self.memory
            .pop()
            .map(HeldRun::Sorted)
            .or_else(|| self.buckets.take_from_memory().map(Box::new).map(HeldRun::Buckets))
    }

    pub fn len(&self) -> u64 {
        let memory: u64 = self.memory.iter().map(|run| run.len() as u64).sum();
        memory + self.buckets.len() + self.spilled.iter().map(SpilledRun::len).sum::<u64>()
    }

    pub fn item_bytes(&self) -> u64 {
        let memory: u64 = self.memory.iter().map(MemoryRun::item_bytes).sum();
        memory + self.buckets.item_bytes() + self.spilled.iter().map(SpilledRun::item_bytes).sum::<u64>()
    }

    /// Bytes of memory that runs and samples hold.
    pub fn held_bytes(&self) -> u64 {
        self.memory_bytes() + self.sample_bytes()
    }

    pub fn memory_bytes(&self) -> u64 {
        self.memory.iter().map(MemoryRun::held_bytes).sum::<u64>() + self.buckets.memory_bytes()
    }

    pub fn sample_bytes(&self) -> u64 {
        self.spilled.iter().map(|run| run.samples.held_bytes()).sum()
    }

    /// What varies in the first bytes of all items.
    pub fn varying(&self) -> Varying {
        let memory = self.memory.iter().map(MemoryRun::varying);
        let all = memory.chain(self.spilled.iter().map(|run| &run.varying)).copied();
        let in_buckets = (!self.buckets.is_empty()).then_some(Varying::unknown());
        all.chain(in_buckets).reduce(|all, run| all.and(&run)).unwrap_or(Varying::unknown())
    }

    /// Streams the items of these ranks, reading spilled runs in blocks of `block_bytes`.
    pub fn merge(&self, ranks: Range<u64>, bytes: MatchBytes, block_bytes: usize) -> Result<Merge<'_>> {
        assert!(ranks.start <= ranks.end && ranks.end <= self.len(), "{ranks:?} of {} items", self.len());
        let key = self.key_up_to(ranks.start);
        let mut cursors = Vec::with_capacity(self.memory.len() + self.spilled.len() + 1);
        cursors.extend(self.memory.iter().map(|run| Cursor::in_memory(run, key)));
        if !self.buckets.is_empty() {
            cursors.push(Cursor::Buckets(BucketCursor::at_key(&self.buckets, key, ranks.clone())?));
        }
        let ahead = if self.spilled.is_empty() { None } else { ReadAhead::start() };
        for run in &self.spilled {
            cursors.push(Cursor::Spilled(RunDecoder::at_key(run, key, block_bytes, ahead.clone())?));
        }
        let rank: u64 = cursors.iter().map(Cursor::ordinal).sum();
        let mut merge = Merge::new(cursors, bytes, ranks.end - ranks.start);
        let before = ranks.start.checked_sub(rank);
        // In what was written, the key's rank is not above the wanted one.
        let damaged = || self.spilled.first().expect("runs in memory are as they were").damaged();
        merge.skip(before.ok_or_else(damaged)?)?;
        Ok(merge)
    }

    /// A number that is not less than that of the items less than `key`.
    fn rank_at_most(&self, key: &[u8]) -> u64 {
        let memory: u64 = self.memory.iter().map(|run| run.rank(key) as u64).sum();
        let spilled: u64 = self.spilled.iter().map(|run| run.samples.rank_at_most(key, run.len())).sum();
        memory + spilled + self.buckets.samples().rank_at_most(key, self.buckets.len())
    }

    /// The greatest known key whose rank is surely not above `rank`; the empty one where there is none.
    fn key_up_to(&self, rank: u64) -> &[u8] {
        let mut best: &[u8] = &[];
        if rank == 0 {
            return best;
        }
        for run in &self.memory {
            let range = run.rank(best)..run.len();
            best = self.last_up_to(rank, range, |index| run.item(index)).unwrap_or(best);
        }
        for samples in self.spilled.iter().map(|run| &run.samples).chain([self.buckets.samples()]) {
            let range = samples.count_up_to(best)..samples.len();
            best = self.last_up_to(rank, range, |index| samples.key(index)).unwrap_or(best);
        }
        best
    }

    /// The last of the ascending keys whose rank is surely not above `rank`.
    fn last_up_to<'k>(&self, rank: u64, range: Range<usize>, key: impl Fn(usize) -> &'k [u8]) -> Option<&'k [u8]> {
        let Range { start: mut low, end: mut high } = range;
        // Mostly not even the first one is: the best key of another run is known already.
        let mut middle = low;
        while low < high {
            if self.rank_at_most(key(middle)) <= rank {
                low = middle + 1;
            } else {
                high = middle;
            }
            middle = low.midpoint(high);
        }
        (low > range.start).then(|| key(low - 1))
    }
}
