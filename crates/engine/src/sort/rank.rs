//! Finds items by their global rank: the position in every run at which a range of ranks begins.
//!
//! First comes a lookup of the greatest known key whose rank is surely not above the wanted one: in the runs in
//! memory, and in the sparse indexes of spilled runs. Every run is opened at that key, which gives its exact rank. The few
//! items that are still before the wanted rank are merged and dropped.

use super::buckets::sorted_buckets::BucketCursor;
use super::diff_mask::ByteSelector;
use super::merge::{Cursor, Merge};
use super::prefix_codec::RunDecoder;
use super::read_ahead::ReadAhead;
use super::runs::Runs;
use crate::Result;
use std::ops::Range;

impl Runs {
    /// Returns the number of items that are less than `key`. Costs as much as opening a range.
    pub fn rank(&self, key: &[u8], block_bytes: usize) -> Result<u64> {
        let cursors = self.open(key, 0..0, block_bytes)?;
        Ok(cursors.iter().map(Cursor::ordinal).sum())
    }

    /// Merges the items of these ranks. Spilled runs are read in blocks of `block_bytes`.
    pub fn merge(&self, ranks: Range<u64>, bytes: ByteSelector, block_bytes: usize) -> Result<Merge<'_>> {
        assert!(ranks.start <= ranks.end && ranks.end <= self.len(), "{ranks:?} of {} items", self.len());
        let cursors = self.open(self.key_up_to(ranks.start), ranks.clone(), block_bytes)?;
        let rank: u64 = cursors.iter().map(Cursor::ordinal).sum();
        let mut merge = Merge::new(cursors, bytes, ranks.end - ranks.start);
        let before = ranks.start.checked_sub(rank);
        // In an intact file the key's rank is not above the wanted one.
        let damaged = || self.spilled.first().expect("only a spilled run can be damaged").damaged();
        merge.skip(before.ok_or_else(damaged)?)?;
        Ok(merge)
    }

    /// Opens every run at its first item that is not less than `key`. `ranks` bounds what is read ahead.
    fn open(&self, key: &[u8], ranks: Range<u64>, block_bytes: usize) -> Result<Vec<Cursor<'_>>> {
        let mut cursors = Vec::with_capacity(self.memory.len() + self.spilled.len() + 1);
        cursors.extend(self.memory.iter().map(|run| Cursor::in_memory(run, key)));
        if !self.buckets.is_empty() {
            cursors.push(Cursor::Buckets(BucketCursor::at_key(&self.buckets, key, ranks)?));
        }
        let ahead = if self.spilled.is_empty() { None } else { ReadAhead::start() };
        for run in &self.spilled {
            cursors.push(Cursor::Spilled(RunDecoder::at_key(run, key, block_bytes, ahead.clone())?));
        }
        Ok(cursors)
    }

    /// Returns an upper bound of the number of items less than `key`.
    fn rank_at_most(&self, key: &[u8]) -> u64 {
        let memory: u64 = self.memory.iter().map(|run| run.rank(key) as u64).sum();
        let spilled: u64 = self.spilled.iter().map(|run| run.sparse_index.rank_at_most(key, run.len())).sum();
        memory + spilled + self.buckets.sparse_index().rank_at_most(key, self.buckets.len())
    }

    /// Returns the greatest known key whose rank is surely not above `rank`, or the empty key.
    fn key_up_to(&self, rank: u64) -> &[u8] {
        let mut best: &[u8] = &[];
        if rank == 0 {
            return best;
        }
        for run in &self.memory {
            let range = run.rank(best)..run.len();
            best = self.last_up_to(rank, range, |index| run.item(index)).unwrap_or(best);
        }
        for index in self.spilled.iter().map(|run| &run.sparse_index).chain([self.buckets.sparse_index()]) {
            let range = index.count_up_to(best)..index.len();
            best = self.last_up_to(rank, range, |point| index.key(point)).unwrap_or(best);
        }
        best
    }

    /// Returns the last of the ascending keys whose rank is surely not above `rank`.
    fn last_up_to<'k>(&self, rank: u64, range: Range<usize>, key: impl Fn(usize) -> &'k [u8]) -> Option<&'k [u8]> {
        let Range { start: mut low, end: mut high } = range;
        // Usually not even the first key qualifies, because another run already gave a better one: start there.
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
