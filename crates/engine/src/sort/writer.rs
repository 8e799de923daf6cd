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

mod modes;
mod spill;

use super::Sorter;
use super::arena::MAX_LENGTH_BYTES;
use super::buckets::bucket_store::BucketStore;
use super::buckets::key_packer::{KeyPacker, prefix_bytes};
use super::buckets::packed_key_builder::{Offsets, PackedKeyBuilder};
use super::buckets::partition_writer::PartitionWriter;
use super::buckets::split_item::SplitItem;
use super::item::PADDING_BYTES;
use super::prefix_codec::SpilledRun;
use super::run::{Layout, PushError, RunBuilder};
use super::spill::SpillFile;
use crate::Result;
use litepress_format::sort_key::{KeyPrefixEncoder, PREFIX_LEN, SHORT_LEN};
use litepress_rows::sync::thread::JoinHandle;
use std::sync::Arc;

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

    /// Takes the items of the records at `starts` of `bytes`, up to `BATCH_ROWS` of them. Returns `false` if it
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

    fn take_spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| vec![0; self.sorter.budget.buffer_bytes])
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
