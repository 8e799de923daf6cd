//! One worker's side of the sort: fills a run, sorts it, and spills it while the next one fills.
//!
//! ```text
//! memory 1   fill run 1 | sort run 1 | spill run 1 ... | scratch  | fill run 3 ...
//! memory 2              | scratch    | fill run 2      | sort run 2 | spill run 2 ...
//! ```
//!
//! The order of a run of long items takes the second memory, so filling then waits for the spill.
//!
//! If the first items predict the others, items go to buckets instead, in three quarters of both memories (see
//! `partition_writer`). If too many items have no bucket, the writer goes back to ordinary runs.

use super::Sorter;
use super::arena::{ENTRY_BYTES, MAX_LENGTH_BYTES};
use super::buckets::bucket_store::BucketStore;
use super::buckets::key_packer::{KeyPacker, prefix_bytes};
use super::buckets::packed_key_builder::{BATCH_ROWS, Offsets, PackedKeyBuilder};
use super::buckets::partition_writer::PartitionWriter;
use super::buckets::partitioner::Partitioner;
use super::buckets::split_item::SplitItem;
use super::budget::Budget;
use super::diff_mask::DiffMask;
use super::item::PADDING_BYTES;
use super::prefix_codec::{RunEncoder, SpilledRun, encode};
use super::run::{Layout, MIN_MEMORY_BYTES, PushError, RunBuilder};
use super::spill::SpillFile;
use crate::{Error, Result};
use litepress_format::sort_key::{KeyPrefixEncoder, PREFIX_LEN, SHORT_LEN};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Takes items and makes runs or buckets of them; one for each worker thread.
///
/// REQUIRES: every writer is [finished](Self::finish). A writer that is dropped unfinished loses its items, and
/// [`Sorter::finish`] then panics instead of returning an incomplete sort.
pub(crate) struct RunWriter<'s> {
    sorter: &'s Sorter,
    mode: Mode,
    /// Takes the next items: a run, or the stage in front of the buckets. `None` before the first item and after a failure.
    run: Option<RunBuilder>,
    /// The stage of packed keys, if buckets store such.
    packed: Option<PackedStage>,
    /// Free memories, for scratch space and for the next run: up to two.
    spare: Vec<Vec<u8>>,
    /// The run that is being spilled, and the file of all runs.
    spilling: Option<JoinHandle<Result<Spilled>>>,
    file: Option<Arc<SpillFile>>,
    is_finished: bool,
}

/// The way in which a writer sorts. It begins with `Sampling` and never returns to it.
#[expect(clippy::large_enum_variant, reason = "one a thread, and asked for every row")]
enum Mode {
    /// The run is a sample. Once it is large enough, it decides between the other modes.
    Sampling,
    /// Ordinary runs.
    Runs,
    /// Buckets. The run is the stage in front of them.
    Partitioned(Partitions),
}

/// The buckets of a writer.
struct Partitions {
    writer: PartitionWriter,
    /// These buckets replace others that were written to a file. They will not be replaced in turn.
    are_second: bool,
}

/// A stage of packed keys.
struct PackedStage {
    packer: KeyPacker,
    keys: Vec<u64>,
}

/// The most packed keys that are staged.
const STAGED_KEYS: usize = 2048;

/// A spilled run, and the memories that it leaves.
type Spilled = (SpilledRun, [Vec<u8>; 2]);

impl<'s> RunWriter<'s> {
    pub(super) fn new(sorter: &'s Sorter) -> Self {
        Self {
            sorter,
            mode: Mode::Sampling,
            run: None,
            packed: None,
            spare: Vec::new(),
            spilling: None,
            file: None,
            is_finished: false,
        }
    }

    #[inline]
    fn partitions(&self) -> Option<&PartitionWriter> {
        if let Mode::Partitioned(partitions) = &self.mode { Some(&partitions.writer) } else { None }
    }

    #[inline]
    fn partitions_mut(&mut self) -> Option<&mut PartitionWriter> {
        if let Mode::Partitioned(partitions) = &mut self.mode { Some(&mut partitions.writer) } else { None }
    }

    /// Takes the buckets, if there are any, and continues with runs.
    fn take_partitions(&mut self) -> Option<Partitions> {
        match std::mem::replace(&mut self.mode, Mode::Runs) {
            Mode::Partitioned(partitions) => Some(partitions),
            other => {
                self.mode = other;
                None
            }
        }
    }

    /// Takes an item. Items are distinct, and none is a prefix of another.
    #[inline]
    pub fn push(&mut self, item: &[u8]) -> Result<()> {
        if let Some(run) = &mut self.run
            && run.push(item).is_ok()
        {
            return Ok(());
        }
        self.push_slowly(item)
    }

    /// Returns the slot for the next short item, at its final place or in the stage. The caller writes the item and
    /// zeros up to the 32nd byte, then [commits](Self::commit) it. Returns `None` if the item must be
    /// [pushed](Self::push).
    #[inline]
    pub fn slot(&mut self) -> Option<&mut [u8; PADDING_BYTES]> {
        self.run.as_mut().and_then(RunBuilder::slot)
    }

    /// Takes the item of `len` bytes that was written to [`slot`](Self::slot). Returns `false` if it must be
    /// [pushed](Self::push).
    #[inline]
    #[must_use]
    pub fn commit(&mut self, len: usize) -> bool {
        self.run.as_mut().is_some_and(|run| run.commit(len))
    }

    /// Returns whether short items may be [pushed as prefixes](Self::push_prefix).
    #[inline]
    pub fn accepts_prefixes(&self) -> bool {
        self.packed.is_some()
    }

    /// Takes the item of `len` bytes at the front of two zero-padded words. Returns `false` if it must be
    /// [pushed](Self::push).
    #[inline]
    pub fn push_prefix(&mut self, prefix: [u64; 2], len: usize) -> Result<bool> {
        let Some(PackedStage { packer, keys }) = &mut self.packed else { return Ok(self.push_to_slot(prefix, len)) };
        let Some(key) = packer.pack(prefix, len) else { return Ok(false) };
        keys.push(key);
        if keys.len() >= STAGED_KEYS {
            self.empty_stage()?;
        }
        Ok(true)
    }

    /// Takes a prefix if packed keys are not staged.
    #[inline]
    fn push_to_slot(&mut self, prefix: [u64; 2], len: usize) -> bool {
        let Some(slot) = self.slot() else { return false };
        slot[..PREFIX_LEN].copy_from_slice(&prefix_bytes(prefix));
        slot[PREFIX_LEN..SHORT_LEN].fill(0);
        self.commit(len)
    }

    /// Makes a builder of packed keys for the records of `encoder`. Returns `None` if packed keys are not staged, or
    /// cannot be built straight from such records.
    pub fn packed_key_builder(&self, encoder: &KeyPrefixEncoder) -> Option<PackedKeyBuilder> {
        self.packed.as_ref().and_then(|stage| PackedKeyBuilder::new(&stage.packer, encoder))
    }

    /// Takes the items of the records at `starts` of `bytes`, up to [`BATCH_ROWS`] of them. Returns `false` if it
    /// took none of them.
    #[inline(always)]
    pub fn push_batch(
        &mut self,
        builder: &PackedKeyBuilder,
        bytes: &[u8],
        starts: impl Offsets,
        rowids: &[i64],
    ) -> Result<bool> {
        let Some(PackedStage { keys, .. }) = &mut self.packed else { return Ok(false) };
        if !builder.build(bytes, starts, rowids, keys) {
            return Ok(false);
        }
        if keys.len() >= STAGED_KEYS {
            self.empty_stage()?;
        }
        Ok(true)
    }

    /// Returns whether long items may be [pushed in parts](Self::push_split).
    #[inline]
    pub fn accepts_split(&self) -> bool {
        self.partitions().is_some_and(|partitions| partitions.buckets.accepts_split())
    }

    /// Takes long items in parts. Those that must be [pushed](Self::push) stay in `items`.
    pub fn push_split<T>(&mut self, items: &mut Vec<(T, SplitItem<'_>)>) {
        if let Some(partitions) = self.partitions_mut() {
            partitions.buckets.push_split(items);
        }
    }

    /// Takes an item that does not fit the run as it is.
    #[cold]
    fn push_slowly(&mut self, item: &[u8]) -> Result<()> {
        let buffer_bytes = self.sorter.budget.buffer_bytes;
        if item.len() + MAX_LENGTH_BYTES + PADDING_BYTES > buffer_bytes {
            return self.spill_single(item);
        }
        if self.run.is_none() {
            self.sorter.reserve_memory()?;
            self.begin(Layout::for_items_of(item.len()));
        }
        loop {
            let Some(run) = &mut self.run else { unreachable!("made above") };
            let layout = run.layout();
            match run.push(item) {
                Ok(()) => return Ok(()),
                Err(PushError::Full) if matches!(self.mode, Mode::Partitioned(_)) && run.items() == 0 => {
                    return self.push_unpartitioned(item);
                }
                Err(PushError::Full) => self.make_room(layout)?,
                Err(PushError::TooWide) => {
                    self.empty_stage()?;
                    self.widen(layout.widened(item.len()))?;
                }
            }
        }
    }

    /// Begins the run that shows whether there will be buckets.
    fn begin(&mut self, layout: Layout) {
        let mut run = RunBuilder::new(self.take_spare(), layout);
        match Partitioner::sample_bytes(self.sorter.budget.buffer_bytes) {
            Some(bytes) => run.set_limit(bytes),
            None => self.mode = Mode::Runs,
        }
        self.run = Some(run);
    }

    /// Makes space for more items.
    fn make_room(&mut self, layout: Layout) -> Result<()> {
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
    fn empty_stage(&mut self) -> Result<()> {
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
    fn push_unpartitioned(&mut self, item: &[u8]) -> Result<()> {
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
    fn widen(&mut self, layout: Layout) -> Result<()> {
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

    fn take_spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| vec![0; self.sorter.budget.buffer_bytes])
    }

    /// Spills all items, and begins a new run of this layout.
    fn spill_run(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        let Some(full) = self.run.take() else { return Ok(()) };
        let (run, scratch) = full.sort(self.take_spare());
        self.spare.extend(scratch);
        self.spill(move |encoder| Ok((encode(&run, encoder)?, run.into_memory())))?;
        if self.spare.is_empty() {
            self.await_spill()?;
        }
        self.run = Some(RunBuilder::new(self.take_spare(), layout));
        Ok(())
    }

    /// Starts to write a run to the file on a background thread.
    fn spill(&mut self, encode: impl FnOnce(RunEncoder) -> Result<Spilled> + Send + 'static) -> Result<()> {
        let file = self.sorter.folder.open_once(&mut self.file)?;
        let budget = self.sorter.budget;
        let encoder = budget.encoder(&file);
        let thread = std::thread::Builder::new().name("litepress-spill".to_owned());
        let spilling = thread.spawn(move || encode(encoder));
        let failed = |cause| Error::io("start a thread that spills a sorted run", file.path(), cause);
        self.spilling = Some(spilling.map_err(failed)?);
        Ok(())
    }

    /// Waits for the run that is being spilled, and takes its memories back.
    fn await_spill(&mut self) -> Result<()> {
        let Some(spilling) = self.spilling.take() else { return Ok(()) };
        let (run, memories) = spilling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        self.sorter.add_spilled(run);
        self.spare.extend(memories.into_iter().filter(|memory| !memory.is_empty()));
        Ok(())
    }

    /// Writes an item that is larger than the memory for runs as a run of its own.
    fn spill_single(&mut self, item: &[u8]) -> Result<()> {
        self.await_spill()?;
        let file = self.sorter.folder.open_once(&mut self.file)?;
        let mut encoder = self.sorter.budget.encoder(&file);
        encoder.push_alone(item)?;
        self.sorter.add_spilled(encoder.finish(DiffMask::of_item(item))?);
        Ok(())
    }

    /// Sorts the remaining items and hands all runs over.
    pub fn finish(mut self) -> Result<()> {
        self.is_finished = true;
        self.empty_stage()?;
        self.await_spill()?;
        let (mut buckets, unpartitioned) = match self.take_partitions() {
            Some(Partitions { writer, .. }) => (Some(writer.buckets), Some(writer.unpartitioned)),
            None => (None, None),
        };
        buckets.as_mut().map_or(Ok(()), BucketStore::finish)?;
        let Some(last) = unpartitioned.or(self.run.take()) else { return Ok(()) };
        let scratch = match self.spare.pop() {
            Some(spare) if spare.len() >= last.scratch_bytes() => spare,
            _ => vec![0; last.scratch_bytes()],
        };
        let (mut run, scratch) = last.sort(scratch);
        drop(scratch);
        run.shrink();
        self.sorter.add_last(run, buckets);
        Ok(())
    }
}

impl Drop for RunWriter<'_> {
    fn drop(&mut self) {
        if let Some(spilling) = self.spilling.take() {
            // A writer that is dropped unfinished belongs to a sort that has already failed.
            let _ = spilling.join();
        }
        if !self.is_finished {
            self.sorter.poison();
        }
    }
}

/// Takes items that come in order. Their run stays in memory if there is space, and else goes to a file.
pub(crate) struct OrderedWriter<'s> {
    sorter: &'s Sorter,
    run: OrderedRun,
}

enum OrderedRun {
    Memory(RunBuilder),
    File(Box<RunEncoder>),
}

impl<'s> OrderedWriter<'s> {
    pub(super) fn new(sorter: &'s Sorter, items: u64, item_bytes: u64) -> Result<Self> {
        let entries = 2 * ENTRY_BYTES as u64 * (items + 1);
        let memory = PADDING_BYTES as u64 + entries.max(item_bytes + MAX_LENGTH_BYTES as u64 * items);
        let budget = sorter.budget;
        let is_short = memory <= Budget::MAX_BUFFER_BYTES;
        let run = if is_short && sorter.state().runs.held_bytes() + memory + entries <= budget.memory / 2 {
            let memory = usize::try_from(memory).unwrap_or(usize::MAX).max(MIN_MEMORY_BYTES);
            OrderedRun::Memory(RunBuilder::new(vec![0; memory], Layout::Arena))
        } else {
            OrderedRun::File(Box::new(budget.encoder(&sorter.folder.create()?)))
        };
        Ok(Self { sorter, run })
    }

    /// Takes an item, greater than all before.
    pub fn push(&mut self, item: &[u8]) -> Result<()> {
        match &mut self.run {
            OrderedRun::Memory(run) => {
                run.push(item).expect("memory for the announced items and bytes");
                Ok(())
            }
            OrderedRun::File(encoder) => encoder.push_alone(item),
        }
    }

    /// Hands the run over.
    pub fn finish(self) -> Result<()> {
        match self.run {
            OrderedRun::Memory(run) => {
                let scratch = vec![0; run.scratch_bytes()];
                self.sorter.state().runs.memory.push(run.sort(scratch).0);
            }
            OrderedRun::File(encoder) => self.sorter.add_spilled(encoder.finish(DiffMask::unknown())?),
        }
        Ok(())
    }
}
