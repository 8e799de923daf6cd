//! The changes of a writer from one way of sorting to another: from a sample to runs or buckets, from buckets to wider
//! buckets, and back to runs.

use super::{Mode, PackedStage, Partitions, RunWriter, STAGED_KEYS};
use crate::Result;
use crate::sort::buckets::bucket_store::BucketStore;
use crate::sort::buckets::packed_key_builder::BATCH_ROWS;
use crate::sort::buckets::partition_writer::PartitionWriter;
use crate::sort::buckets::partitioner::Partitioner;
use crate::sort::run::{Layout, RunBuilder};
use std::sync::Arc;

impl RunWriter<'_> {
    /// Begins the run that shows whether there will be buckets.
    pub(super) fn begin(&mut self, layout: Layout) {
        let mut run = RunBuilder::new(self.take_spare(), layout);
        match Partitioner::sample_bytes(self.sorter.budget.buffer_bytes) {
            Some(bytes) => run.set_limit(bytes),
            None => self.mode = Mode::Runs,
        }
        self.run = Some(run);
    }

    /// Makes space for more items.
    pub(super) fn make_room(&mut self, layout: Layout) -> Result<()> {
        match self.mode {
            Mode::Partitioned(_) => return self.empty_stage(),
            Mode::Runs => return self.spill_run(layout),
            Mode::Sampling => self.mode = Mode::Runs,
        }
        let Some(sample) = &mut self.run else { return Ok(()) };
        match self.sorter.partitioner(sample) {
            Some(partitioner) => self.partition(&partitioner, layout),
            None => {
                sample.set_limit(usize::MAX);
                Ok(())
            }
        }
    }

    /// Continues with buckets.
    fn partition(&mut self, partitioner: &Arc<Partitioner>, mut layout: Layout) -> Result<()> {
        let Some(sample) = self.run.take() else { return Ok(()) };
        if layout.has_lengths() {
            // Numbers in items mostly keep growing, and moving many items to wider slots later costs more.
            let longest = sample.longest_item() + 2;
            layout = if layout.fits(longest) { layout } else { layout.widened(longest) };
        }
        self.begin_buckets(partitioner, layout, false);
        sample.for_each(|item| self.push(item))
    }

    fn begin_buckets(&mut self, partitioner: &Arc<Partitioner>, mut layout: Layout, are_second: bool) {
        if let Some(packer) = partitioner.packer() {
            // Packed keys without a bucket are pushed as items.
            layout = layout.for_up_to(packer.longest());
        }
        let keys = || Vec::with_capacity(STAGED_KEYS + BATCH_ROWS);
        self.packed = partitioner.packer().map(|packer| PackedStage { packer: packer.clone(), keys: keys() });
        let writer = PartitionWriter::new(self.sorter, partitioner, layout);
        self.spare.clear();
        self.run = Some(writer.buckets.stage());
        self.mode = Mode::Partitioned(Partitions { writer, are_second });
    }

    /// Gives the staged items to the buckets, if there are any.
    pub(super) fn empty_stage(&mut self) -> Result<()> {
        let (Some(stage), Mode::Partitioned(partitions)) = (&mut self.run, &mut self.mode) else { return Ok(()) };
        let keys = self.packed.as_mut().map(|stage| &mut stage.keys);
        let staged_keys: &[u64] = keys.as_deref().map_or(&[], |keys| keys);
        if let Err(error) = partitions.writer.push_staged(stage, staged_keys, self.sorter, &mut self.file) {
            // The stage may be partly taken, and nothing of it may be taken twice: drop it all.
            (self.run, self.packed, self.mode) = (None, None, Mode::Runs);
            return Err(error);
        }
        stage.clear();
        if let Some(keys) = keys {
            keys.clear();
        }
        let layout = stage.layout();
        if partitions.writer.is_useless() { self.fall_back_to_runs(layout) } else { Ok(()) }
    }

    /// Takes an item that is too long for the stage.
    pub(super) fn push_unpartitioned(&mut self, item: &[u8]) -> Result<()> {
        let Mode::Partitioned(partitions) = &mut self.mode else { unreachable!("there is a stage") };
        let is_taken = partitions.writer.push_unpartitioned(item, self.sorter, &mut self.file)?;
        if is_taken { Ok(()) } else { self.spill_single(item) }
    }

    /// Continues with ordinary runs, because most items have no bucket.
    fn fall_back_to_runs(&mut self, layout: Layout) -> Result<()> {
        let Some(partitions) = self.take_partitions() else { return Ok(()) };
        let is_small = self.is_small(&partitions.writer.buckets);
        self.packed = None;
        self.run = Some(RunBuilder::new(self.take_spare(), layout));
        self.push_again(partitions.writer, is_small)
    }

    /// Continues with a wider layout. The stage must be empty.
    pub(super) fn widen(&mut self, layout: Layout) -> Result<()> {
        match self.take_partitions() {
            Some(partitions) => self.widen_partitions(partitions, layout),
            None => self.widen_run(layout),
        }
    }

    fn widen_partitions(&mut self, mut partitions: Partitions, layout: Layout) -> Result<()> {
        if partitions.writer.widen(layout, self.sorter, &mut self.file)? {
            self.run = Some(partitions.writer.buckets.stage());
            self.mode = Mode::Partitioned(partitions);
            return Ok(());
        }
        let Partitions { writer, are_second } = partitions;
        let is_small = self.is_small(&writer.buckets);
        if is_small || !are_second {
            self.begin_buckets(&writer.buckets.partitioner.clone(), layout, are_second || !is_small);
        } else {
            self.run = Some(RunBuilder::new(self.take_spare(), layout));
        }
        self.push_again(writer, is_small)
    }

    fn widen_run(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        let Some(run) = self.run.take() else { return Ok(()) };
        if run.used() > self.sorter.budget.buffer_bytes / 4 {
            self.run = Some(run);
            return self.spill_run(layout);
        }
        let mut wider = RunBuilder::new(self.take_spare(), layout);
        if matches!(self.mode, Mode::Sampling) {
            wider.set_limit(run.limit());
        }
        self.run = Some(wider);
        run.for_each(|item| self.push(item))?;
        self.spare.push(run.into_memory());
        Ok(())
    }

    /// Returns whether there is memory to hold the items of the buckets twice.
    fn is_small(&self, buckets: &BucketStore) -> bool {
        buckets.is_in_memory() && buckets.used() <= self.sorter.budget.buffer_bytes / 4
    }

    /// Pushes the items of buckets again. Buckets that are too large for that stay as they are, in a file.
    fn push_again(&mut self, writer: PartitionWriter, is_small: bool) -> Result<()> {
        let PartitionWriter { mut buckets, unpartitioned, .. } = writer;
        if is_small {
            buckets.for_each(|item| self.push(item))?;
        } else {
            buckets.write_all()?;
            self.sorter.state().runs.buckets.add(buckets);
        }
        unpartitioned.for_each(|item| self.push(item))
    }
}
