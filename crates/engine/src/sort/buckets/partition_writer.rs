//! Writes items to buckets, and unpartitioned items to short runs of their own.

use super::bucket_store::BucketStore;
use super::partitioner::Partitioner;
use crate::Result;
use crate::sort::Sorter;
use crate::sort::prefix_codec::encode;
use crate::sort::run::{Layout, MIN_MEMORY_BYTES, RunBuilder};
use crate::sort::spill::SpillFile;
use std::sync::Arc;

/// The smallest number of unpartitioned items that are too many, once they outnumber those in buckets.
const MANY_UNPARTITIONED: usize = 1 << 14;

/// Gives up buckets if fewer than this many items were partitioned per unpartitioned one: unpartitioned items make
/// short runs, which are slow to merge.
const MIN_PARTITIONED_RATIO: u64 = 8;

/// The items of a writer in buckets, and those without one.
pub(in crate::sort) struct PartitionWriter {
    pub buckets: BucketStore,
    pub unpartitioned: RunBuilder,
    /// Items in buckets at the last spill of unpartitioned items.
    partitioned_at_spill: u64,
    /// Too few items find a bucket.
    is_useless: bool,
}

impl PartitionWriter {
    pub fn new(sorter: &Sorter, partitioner: &Arc<Partitioner>, layout: Layout) -> Self {
        let budget = sorter.budget;
        let buckets = BucketStore::new(partitioner.clone(), layout, budget.bucket_limits(), &sorter.folder);
        let unpartitioned = RunBuilder::new(vec![0; budget.unpartitioned_bytes()], layout);
        Self { buckets, unpartitioned, partitioned_at_spill: 0, is_useless: false }
    }

    /// Returns whether most items have no bucket.
    pub fn is_useless(&self) -> bool {
        let unpartitioned = self.unpartitioned.items();
        self.is_useless || unpartitioned > MANY_UNPARTITIONED && unpartitioned as u64 > self.buckets.items()
    }

    /// Takes all staged items and packed keys.
    pub fn push_staged(
        &mut self,
        stage: &RunBuilder,
        keys: &[u64],
        sorter: &Sorter,
        spill: &mut Option<Arc<SpillFile>>,
    ) -> Result<()> {
        while !self.buckets.push_staged(stage, &mut self.unpartitioned)? {
            self.spill_unpartitioned(sorter, spill)?;
        }
        while !keys.is_empty() && !self.buckets.push_packed(keys, &mut self.unpartitioned)? {
            self.spill_unpartitioned(sorter, spill)?;
        }
        Ok(())
    }

    /// Takes an unpartitioned item. Returns `false` if it is too long.
    pub fn push_unpartitioned(
        &mut self,
        item: &[u8],
        sorter: &Sorter,
        spill: &mut Option<Arc<SpillFile>>,
    ) -> Result<bool> {
        if self.unpartitioned.push(item).is_ok() {
            return Ok(true);
        }
        if self.unpartitioned.items() > 0 {
            self.spill_unpartitioned(sorter, spill)?;
        }
        Ok(self.unpartitioned.push(item).is_ok())
    }

    /// Continues with a wider layout. Returns `false` if the buckets cannot.
    pub fn widen(&mut self, layout: Layout, sorter: &Sorter, spill: &mut Option<Arc<SpillFile>>) -> Result<bool> {
        if !self.buckets.set_layout(layout) {
            return Ok(false);
        }
        let wider = RunBuilder::new(vec![0; sorter.budget.unpartitioned_bytes()], layout);
        let narrower = std::mem::replace(&mut self.unpartitioned, wider);
        narrower.for_each(|item| -> Result<()> {
            let is_taken = self.push_unpartitioned(item, sorter, spill)?;
            assert!(is_taken, "the wider run holds the items of the narrower one");
            Ok(())
        })?;
        Ok(true)
    }

    /// Spills the unpartitioned items as a sorted run.
    fn spill_unpartitioned(&mut self, sorter: &Sorter, spill: &mut Option<Arc<SpillFile>>) -> Result<()> {
        assert!(self.unpartitioned.items() > 0, "memory for all that is staged");
        let since = self.buckets.items() - std::mem::replace(&mut self.partitioned_at_spill, self.buckets.items());
        self.is_useless |= since < MIN_PARTITIONED_RATIO * self.unpartitioned.items() as u64;
        let layout = self.unpartitioned.layout();
        let full = std::mem::replace(&mut self.unpartitioned, RunBuilder::new(vec![0; MIN_MEMORY_BYTES], layout));
        let scratch = vec![0; full.scratch_bytes()];
        let (run, _) = full.sort(scratch);
        let spilled = sorter.folder.open_once(spill).and_then(|file| encode(&run, sorter.budget.encoder(&file)));
        let [memory, _] = run.into_memory();
        self.unpartitioned = RunBuilder::new(memory, layout);
        sorter.add_spilled(spilled?);
        Ok(())
    }
}
