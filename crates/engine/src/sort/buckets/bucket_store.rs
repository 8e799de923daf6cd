//! Stores the items of one writer in buckets, in blocks of memory and in a file: the first half of the sample sort.
//! `partition_writer` fills a store, `sorted_buckets` sorts one bucket after another when they are read.
//!
//! ```text
//! items --staged in small batches--> partitioner --+--> bucket 0   [block] -> [block] -> [block]
//!                                                  +--> bucket 1   [block]
//!                                                  +--> ...                  blocks of one memory
//!                                                  +--> unpartitioned items: an ordinary run
//! ```
//!
//! Sorting a run reads and writes all of it several times, and needs as much memory again. Here an item is written
//! twice: to its block, and to the buffer in which its bucket is sorted, in the processor's cache. That buffer is reused
//! for the next bucket. If blocks run out, those of some buckets move to a file unsorted (see `spill` and `segments`):
//! nothing is sorted, encoded or merged for that, and a bucket is read back from few places.
//!
//! Short items are stored as packed keys: as their low-order bytes, or as deltas (see `key_packer`, `partitioner`,
//! `delta_codec`). Long items skip the stage if their first bytes are known early: they are assembled in their block
//! (see `push_split`).
//!
//! An item is unpartitioned, too, if its bucket is already as large as the memory for sorting it.

mod append;
mod push_split;
mod read;
mod spill;

use super::block_memory::BlockMemory;
use super::key_packer::{PACKED_BYTES, halves};
use super::partitioner::{KeyForm, Partitioner, StoredForm, prefix_of};
use super::segments::{BLOCK_BYTES, Segment, SegmentWriter};
use crate::Result;
use crate::sort::arena::read_length;
use crate::sort::item::PADDING_BYTES;
use crate::sort::run::{Layout, MAX_SLOT_BYTES, RunBuilder};
use crate::sort::spill::SpillFolder;
use std::sync::Arc;

/// Bytes of items that are staged before they go to their buckets; they must fit the nearest cache.
const STAGE_BYTES: usize = 16 << 10;

/// The items of one writer, in buckets.
#[derive(Debug)]
pub(in crate::sort) struct BucketStore {
    pub partitioner: Arc<Partitioner>,
    /// The layout of staged items, and the layout in blocks.
    layout: Layout,
    pub stored_layout: Layout,
    pub memory: BlockMemory,
    /// The most blocks in memory; for each used block the one that follows it in its bucket; and blocks that are free
    /// again.
    max_blocks: usize,
    next_blocks: Vec<u32>,
    free_blocks: Vec<u32>,
    /// The write cursors, in an array of their own that fits the nearest cache.
    cursors: Vec<WriteCursor>,
    /// For deltas: the number of packed keys of each bucket that follow an escape.
    escaped_keys: Vec<usize>,
    /// Number of items of each bucket in an arena. For slots, the number follows from the bytes.
    long_items: Vec<usize>,
    buckets: Vec<Bucket>,
    limits: BucketLimits,
    /// The file of written blocks, if any, and the next bucket to be written.
    folder: Arc<SpillFolder>,
    written: Option<SegmentWriter>,
    next_written: usize,
    items: u64,
    pub item_bytes: u64,
}

/// The write position of a bucket.
#[derive(Clone, Copy, Debug, Default)]
struct WriteCursor {
    /// Offset in memory of its next item; at a multiple of the block size, no block is open.
    end: usize,
    /// For deltas, the low bits of the last packed key.
    low: u64,
}

/// The blocks of a bucket.
#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Its list of blocks in memory.
    first_block: u32,
    last_block: u32,
    blocks: usize,
    /// Its segments in the file, which come before those blocks, and their bytes.
    segments: Vec<Segment>,
    segment_bytes: usize,
}

/// The limits of one writer's buckets.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) struct BucketLimits {
    /// Bytes of all blocks in memory.
    pub memory_bytes: usize,
    /// Bytes of one bucket, in memory and in the file.
    pub bucket_bytes: usize,
    /// Bytes of a write to the file.
    pub write_bytes: usize,
}

impl BucketStore {
    /// Creates empty buckets for items staged in this layout.
    pub fn new(partitioner: Arc<Partitioner>, layout: Layout, limits: BucketLimits, folder: &Arc<SpillFolder>) -> Self {
        let stored_layout = partitioner.stored_form().map_or(layout, |form| Layout::packed_keys(form.bytes()));
        let buckets = vec![Bucket::default(); partitioner.len()];
        // Packed keys are sorted at full width.
        let bucket_bytes = partitioner
            .stored_form()
            .map_or(limits.bucket_bytes, |form| limits.bucket_bytes / PACKED_BYTES * form.bytes());
        let limits = BucketLimits { bucket_bytes, ..limits };
        let delta_buckets =
            if matches!(partitioner.stored_form(), Some(StoredForm::Deltas(_))) { buckets.len() } else { 0 };
        Self {
            partitioner,
            layout,
            stored_layout,
            memory: BlockMemory::new(limits.memory_bytes),
            max_blocks: limits.memory_bytes / BLOCK_BYTES,
            next_blocks: Vec::new(),
            free_blocks: Vec::new(),
            cursors: vec![WriteCursor::default(); buckets.len()],
            escaped_keys: vec![0; delta_buckets],
            long_items: vec![0; buckets.len()],
            buckets,
            limits,
            folder: folder.clone(),
            written: None,
            next_written: 0,
            items: 0,
            item_bytes: 0,
        }
    }

    /// Returns an empty stage for items of these buckets.
    pub fn stage(&self) -> RunBuilder {
        RunBuilder::new(vec![0; STAGE_BYTES + PADDING_BYTES], self.layout)
    }

    pub fn items(&self) -> u64 {
        self.items
    }

    /// Returns the bytes of memory that blocks take, including those that are free again.
    pub fn held(&self) -> usize {
        self.next_blocks.len() * BLOCK_BYTES
    }

    /// Returns the bytes of memory of blocks with items.
    pub fn used(&self) -> usize {
        (self.next_blocks.len() - self.free_blocks.len()) * BLOCK_BYTES
    }

    #[cfg(test)]
    pub fn file(&self) -> Option<&crate::sort::spill::SpillFile> {
        self.written.as_ref().map(|writer| &**writer.file())
    }

    pub fn is_in_memory(&self) -> bool {
        self.written.is_none()
    }

    /// Changes the layout of staged items. Returns `false` if the blocks cannot store items of that layout.
    #[must_use]
    pub fn set_layout(&mut self, layout: Layout) -> bool {
        self.layout = layout;
        self.stored_layout == layout || self.partitioner.packer().is_some()
    }

    /// Takes all staged items, which must have its layout. Items without a bucket go to `unpartitioned`. Returns
    /// `false` and takes nothing if that may lack space.
    pub fn push_staged(&mut self, staged: &RunBuilder, unpartitioned: &mut RunBuilder) -> Result<bool> {
        if !unpartitioned.has_room_for(staged) {
            return Ok(false);
        }
        // Not every bucket opens a block at once. An item that finds no free block becomes unpartitioned.
        self.make_room(staged.items().min(self.buckets.len()) / 4 + staged.used() / BLOCK_BYTES + 1)?;
        let before = (unpartitioned.items(), unpartitioned.item_bytes());
        match self.layout {
            Layout::Slots { width: 8, .. } => self.push_slots::<8>(staged, unpartitioned),
            Layout::Slots { width: 12, .. } => self.push_slots::<12>(staged, unpartitioned),
            Layout::Slots { width: 16, .. } => self.push_slots::<16>(staged, unpartitioned),
            Layout::Slots { width: 20, .. } => self.push_slots::<20>(staged, unpartitioned),
            Layout::Slots { width: 24, .. } => self.push_slots::<24>(staged, unpartitioned),
            Layout::Slots { .. } => self.push_slots::<MAX_SLOT_BYTES>(staged, unpartitioned),
            Layout::Arena => self.push_long(staged, unpartitioned),
        }
        self.items += (staged.items() - (unpartitioned.items() - before.0)) as u64;
        self.item_bytes += staged.item_bytes() - (unpartitioned.item_bytes() - before.1);
        Ok(true)
    }

    /// Takes packed keys. Items without a bucket go to `unpartitioned`. Returns `false` and takes nothing if that may
    /// lack space.
    pub fn push_packed(&mut self, keys: &[u64], unpartitioned: &mut RunBuilder) -> Result<bool> {
        let partitioner = self.partitioner.clone();
        let KeyForm::Packed { packer, shift, form } = partitioner.key_form() else {
            unreachable!("only packed keys are staged as keys")
        };
        if !unpartitioned.has_room_for_items(keys.len(), packer.longest()) {
            return Ok(false);
        }
        self.make_room(keys.len().min(self.buckets.len()) / 4 + size_of_val(keys) / BLOCK_BYTES + 1)?;
        let before = (unpartitioned.items(), unpartitioned.item_bytes());
        let mut push_unpartitioned =
            |key| packer.with_item(key, |item| unpartitioned.push(item)).expect("room for all keys");
        let bucket_of = |key| partitioner.bucket_of_packed(key, *shift);
        let mut left = keys;
        while let Some((&key, rest)) = left[self.append_keys(left, bucket_of, form)..].split_first() {
            if !self.append_key(bucket_of(key), key, form) {
                push_unpartitioned(key);
            }
            left = rest;
        }
        let item_bytes: usize = keys.iter().map(|key| packer.len_of(*key)).sum();
        self.items += (keys.len() - (unpartitioned.items() - before.0)) as u64;
        self.item_bytes += item_bytes as u64 - (unpartitioned.item_bytes() - before.1);
        Ok(true)
    }

    fn push_slots<const N: usize>(&mut self, staged: &RunBuilder, unpartitioned: &mut RunBuilder) {
        let is_full = matches!(self.layout, Layout::Slots { full: true, .. });
        // The length in the last byte of a slot is not part of the item.
        let item_bits = if N <= 16 && !is_full { u128::MAX << (8 * (17 - N)) } else { u128::MAX };
        let slots: &[[u8; N]] = staged.bytes().as_chunks().0;
        let partitioner = self.partitioner.clone();
        for (index, slot) in slots.iter().enumerate() {
            let prefix = prefix_of(slot) & item_bits;
            let len = if is_full { N } else { usize::from(slot[N - 1]) };
            if self.push_one(&partitioner, prefix, len, slot).is_none() {
                unpartitioned.push(staged.item_in_slot(index)).expect("room for all that is staged");
            }
        }
    }

    fn push_long(&mut self, staged: &RunBuilder, unpartitioned: &mut RunBuilder) {
        let partitioner = self.partitioner.clone();
        let mut bytes = staged.bytes();
        while !bytes.is_empty() {
            let (len, width) = read_length(bytes);
            let (with_length, rest) = bytes.split_at(width + len);
            let item = &with_length[width..];
            match self.push_one(&partitioner, prefix_of(item), len, with_length) {
                Some(bucket) => self.long_items[bucket] += 1,
                None => unpartitioned.push(item).expect("room for all that is staged"),
            }
            bytes = rest;
        }
    }

    /// Takes an item of this prefix and length, staged as `staged`. Returns its bucket, or `None` if no bucket takes
    /// it.
    #[inline(always)]
    fn push_one(&mut self, partitioner: &Partitioner, prefix: u128, len: usize, staged: &[u8]) -> Option<usize> {
        let (bucket, is_taken) = match partitioner.key_form() {
            KeyForm::Packed { packer, shift, form } => {
                let key = packer.pack(halves(prefix), len)?;
                let bucket = partitioner.bucket_of_packed(key, *shift);
                (bucket, self.append_key(bucket, key, form))
            }
            KeyForm::Raw(selector) => {
                let bucket = partitioner.bucket_of_prefix(prefix, selector)?;
                (bucket, self.append_item(bucket, staged))
            }
        };
        is_taken.then_some(bucket)
    }
}
