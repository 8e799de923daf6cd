//! Sample sort: each item goes to the bucket of its leading bits, and a bucket is sorted in the processor's cache
//! when it is read.
//!
//! ```text
//! items --staged in small batches--> partitioner --+--> bucket 0   [block] -> [block] -> [block]
//!                                                  +--> bucket 1   [block]
//!                                                  +--> ...                  blocks of one memory
//!                                                  +--> unpartitioned items: an ordinary run
//! ```
//!
//! Sorting a run reads and writes all of it several times, and needs as much memory again. Here an item is written
//! twice: to its block, and to the buffer in which its bucket is sorted. That buffer is reused for the next bucket.
//! If blocks run out, those of some buckets move to a file unsorted (see `segments`): nothing is sorted, encoded or
//! merged for that, and a bucket is read back from few places.
//!
//! Short items are stored as packed keys: as their low-order bytes, or as deltas (see `key_packer`, `partitioner`,
//! `delta_codec`). Long items skip the stage if their first bytes are known early: they are assembled in their block
//! (see `split_item`).
//!
//! An item is unpartitioned, too, if its bucket is already as large as the memory for sorting it.

use super::block_memory::BlockMemory;
use super::delta_codec::DeltaCodec;
use super::key_packer::{PACKED_BYTES, halves};
use super::partitioner::{KeyForm, Partitioner, StoredForm, Suffix, prefix_of};
use super::segments::{BLOCK_BYTES, ReadSegments, Segment, SegmentReader, SegmentWriter};
use super::split_item::SplitItem;
use crate::Result;
use crate::sort::arena::{MAX_LENGTH_BYTES, read_length, write_length};
use crate::sort::item::PADDING_BYTES;
use crate::sort::run::{Layout, MAX_SLOT_BYTES, MIN_MEMORY_BYTES, RunBuilder};
use crate::sort::spill::SpillFolder;
use std::sync::Arc;

/// Blocks of a bucket are written only if they are at least one half of a mean bucket's blocks.
const MIN_SEGMENT_SHARE: usize = 2;

/// If blocks run out, at least one block in this many is written.
const WRITTEN_SHARE: usize = 512;

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

    /// Returns whether items may be [pushed in parts](Self::push_split).
    pub fn accepts_split(&self) -> bool {
        self.stored_layout == Layout::Arena && self.partitioner.packer().is_none()
    }

    /// Takes long items in parts. Those that must be staged stay in `items`.
    pub fn push_split<T>(&mut self, items: &mut Vec<(T, SplitItem<'_>)>) {
        let KeyForm::Raw(selector) = self.partitioner.key_form() else { return };
        let bucket = |parts: &SplitItem<'_>| self.partitioner.bucket_of_prefix(parts.first_bytes()?, selector);
        let buckets: Vec<Option<usize>> = items.iter().map(|(_, parts)| bucket(parts)).collect();
        let (mut left, mut taken_bytes) = (0, 0);
        // The buckets are found first: as for packed keys, the store loop then does little else.
        for (index, bucket) in buckets.into_iter().enumerate() {
            let parts = &items[index].1;
            if bucket.is_some_and(|bucket| self.push_split_item(bucket, parts)) {
                taken_bytes += parts.len();
            } else {
                items.swap(left, index);
                left += 1;
            }
        }
        self.items += (items.len() - left) as u64;
        self.item_bytes += taken_bytes as u64;
        items.truncate(left);
    }

    /// Takes a long item in parts. Returns `false` if it must be staged.
    #[inline(always)]
    fn push_split_item(&mut self, bucket: usize, parts: &SplitItem<'_>) -> bool {
        let (at, len) = (self.cursors[bucket].end, parts.len());
        let room = &mut self.memory[at..at.next_multiple_of(BLOCK_BYTES)];
        if room.len() < MAX_LENGTH_BYTES + len + SplitItem::MARGIN {
            return self.push_split_item_across(bucket, parts);
        }
        let width = write_length(len, room);
        parts.write(&mut room[width..]);
        self.cursors[bucket].end = at + width + len;
        self.long_items[bucket] += 1;
        true
    }

    /// Takes a long item in parts that continues in another block. Returns `false` if it must be staged.
    #[inline(never)]
    fn push_split_item_across(&mut self, bucket: usize, parts: &SplitItem<'_>) -> bool {
        let (mut item, len) = ([0; BLOCK_BYTES / 8], parts.len());
        if MAX_LENGTH_BYTES + len + SplitItem::MARGIN > item.len() {
            return false;
        }
        let width = write_length(len, &mut item);
        parts.write(&mut item[width..]);
        let is_taken = self.append_to_blocks(bucket, &item[..width + len]);
        self.long_items[bucket] += usize::from(is_taken);
        is_taken
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

    /// Appends the low-order bytes of a packed key. Returns `false` if there is no such bucket, or it is full.
    #[inline(always)]
    fn append_suffix(&mut self, bucket: usize, key: u64, suffix: Suffix) -> bool {
        bucket < self.cursors.len() && self.append_bytes(bucket, suffix.of(key), suffix.count)
    }

    /// Appends packed keys until one needs more than a few bytes in an open block. Returns how many.
    fn append_keys(&mut self, keys: &[u64], bucket_of: impl Fn(u64) -> usize, form: &StoredForm) -> usize {
        match form {
            StoredForm::Suffix(suffix) => {
                let suffix = *suffix;
                self.append_encoded(keys, bucket_of, suffix.count, |key, _| Some(suffix.of(key)))
            }
            StoredForm::Deltas(codec) => {
                let codec = *codec;
                self.append_encoded(keys, bucket_of, codec.bytes, |key, low| {
                    let delta = codec.encode_delta(key, *low)?;
                    *low = codec.low(key);
                    Some(delta)
                })
            }
        }
    }

    /// Appends encoded keys, `count` bytes each. `encode` encodes a key, given (and updating) the low bits of the
    /// bucket's previous key; it returns `None` to stop the run. Returns how many were appended.
    ///
    /// The processor can buffer only a few stores that miss the cache, so this loop does little else, and its written
    /// memory is read once.
    #[inline(always)]
    fn append_encoded(
        &mut self,
        keys: &[u64],
        bucket_of: impl Fn(u64) -> usize,
        count: usize,
        encode: impl Fn(u64, &mut u64) -> Option<[u8; PACKED_BYTES]>,
    ) -> usize {
        let Self { memory, cursors, .. } = self;
        let (memory, cursors): (&mut [u8], &mut [WriteCursor]) = (memory, cursors);
        for (index, &key) in keys.iter().enumerate() {
            let Some(WriteCursor { end, low }) = cursors.get_mut(bucket_of(key)) else { return index };
            if !fits_open_block(*end, PACKED_BYTES) {
                return index;
            }
            let Some(bytes) = encode(key, low) else { return index };
            // The next key overwrites the bytes beyond `count`.
            memory[*end..*end + PACKED_BYTES].copy_from_slice(&bytes);
            *end += count;
        }
        keys.len()
    }

    /// Appends a packed key. Returns `false` if there is no such bucket, or it is full.
    fn append_key(&mut self, bucket: usize, key: u64, form: &StoredForm) -> bool {
        match form {
            StoredForm::Suffix(suffix) => self.append_suffix(bucket, key, *suffix),
            StoredForm::Deltas(codec) => self.append_delta(bucket, key, codec),
        }
    }

    /// Appends a packed key as the delta from the last one. Returns `false` if there is no such bucket, or it is
    /// full.
    #[inline(always)]
    fn append_delta(&mut self, bucket: usize, key: u64, codec: &DeltaCodec) -> bool {
        let Some(&WriteCursor { low, .. }) = self.cursors.get(bucket) else { return false };
        let is_taken = match codec.encode_delta(key, low) {
            Some(delta) => self.append_bytes(bucket, delta, codec.bytes),
            None => self.append_escaped(bucket, key, codec),
        };
        if is_taken {
            self.cursors[bucket].low = codec.low(key);
        }
        is_taken
    }

    #[inline(never)]
    fn append_escaped(&mut self, bucket: usize, key: u64, codec: &DeltaCodec) -> bool {
        let (bytes, len) = codec.encode_escape(key);
        let is_taken = self.append_to_blocks(bucket, &bytes[..len]);
        self.escaped_keys[bucket] += usize::from(is_taken);
        is_taken
    }

    /// Appends the first `count` of these bytes.
    #[inline(always)]
    fn append_bytes(&mut self, bucket: usize, bytes: [u8; PACKED_BYTES], count: usize) -> bool {
        let at = self.cursors[bucket].end;
        if !fits_open_block(at, PACKED_BYTES) {
            return self.append_to_blocks(bucket, &bytes[..count]);
        }
        // The next key overwrites the bytes beyond `count`.
        self.memory[at..at + PACKED_BYTES].copy_from_slice(&bytes);
        self.cursors[bucket].end = at + count;
        true
    }

    /// Appends an item as it is stored. Returns `false` if its bucket is full.
    #[inline(always)]
    fn append_item(&mut self, bucket: usize, bytes: &[u8]) -> bool {
        let at = self.cursors[bucket].end;
        if !fits_open_block(at, bytes.len()) {
            return self.append_to_blocks(bucket, bytes);
        }
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        self.cursors[bucket].end = at + bytes.len();
        true
    }

    #[inline(never)]
    fn append_to_blocks(&mut self, bucket: usize, mut bytes: &[u8]) -> bool {
        let Bucket { first_block, last_block, blocks, segment_bytes, .. } = &mut self.buckets[bucket];
        let more = bytes.len() / BLOCK_BYTES + 1;
        let has_room = self.next_blocks.len() + more <= self.max_blocks + self.free_blocks.len();
        if !has_room || *segment_bytes + (*blocks + more) * BLOCK_BYTES > self.limits.bucket_bytes {
            return false;
        }
        let mut at = self.cursors[bucket].end;
        let mut room = at.next_multiple_of(BLOCK_BYTES) - at;
        loop {
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.memory[at..at + now.len()].copy_from_slice(now);
            (at, bytes) = (at + now.len(), later);
            if bytes.is_empty() {
                self.cursors[bucket].end = at;
                return true;
            }
            let block = self.free_blocks.pop().unwrap_or_else(|| {
                self.next_blocks.push(0);
                self.memory.use_up_to(self.next_blocks.len() * BLOCK_BYTES);
                u32::try_from(self.next_blocks.len() - 1).expect("blocks are counted in 32 bits")
            });
            match *blocks {
                0 => *first_block = block,
                _ => self.next_blocks[*last_block as usize] = block,
            }
            (*last_block, *blocks) = (block, *blocks + 1);
            (at, room) = (block as usize * BLOCK_BYTES, BLOCK_BYTES);
        }
    }

    /// Ensures that `blocks` blocks are free.
    fn make_room(&mut self, blocks: usize) -> Result<()> {
        let has_room = self.next_blocks.len() + blocks <= self.max_blocks + self.free_blocks.len();
        if has_room { Ok(()) } else { self.write_some(blocks.max(self.max_blocks / WRITTEN_SHARE)) }
    }

    /// Writes full blocks of buckets, round robin, until `blocks` blocks are free.
    fn write_some(&mut self, blocks: usize) -> Result<()> {
        for _ in 0..self.buckets.len() {
            if self.next_blocks.len() + blocks <= self.max_blocks + self.free_blocks.len() {
                break;
            }
            let bucket = self.next_written;
            self.next_written = (bucket + 1) % self.buckets.len();
            let is_open = !self.cursors[bucket].end.is_multiple_of(BLOCK_BYTES);
            let full = self.buckets[bucket].blocks - usize::from(is_open);
            if full * self.buckets.len() * MIN_SEGMENT_SHARE >= self.max_blocks {
                self.write_blocks(bucket, full)?;
            }
        }
        Ok(())
    }

    /// Writes the first `count` blocks of a bucket.
    fn write_blocks(&mut self, bucket: usize, count: usize) -> Result<()> {
        let bytes = self.bytes_in_memory(bucket).min(count * BLOCK_BYTES);
        let writer = match &mut self.written {
            Some(writer) => writer,
            none => none.insert(SegmentWriter::new(self.folder.create()?, self.limits.write_bytes)),
        };
        let one = &mut self.buckets[bucket];
        writer.begin();
        for _ in 0..count {
            let block = one.first_block as usize;
            writer.push(&self.memory[block * BLOCK_BYTES..][..BLOCK_BYTES])?;
            self.free_blocks.push(one.first_block);
            one.first_block = self.next_blocks[block];
        }
        one.segments.push(writer.end(bytes));
        one.segment_bytes += bytes;
        one.blocks -= count;
        if one.blocks == 0 {
            self.cursors[bucket].end = 0;
        }
        Ok(())
    }

    /// Writes everything and frees the memory. No more items may come.
    pub fn write_all(&mut self) -> Result<()> {
        for bucket in 0..self.buckets.len() {
            let blocks = self.buckets[bucket].blocks;
            if blocks > 0 {
                self.write_blocks(bucket, blocks)?;
            }
        }
        (self.memory, self.next_blocks, self.free_blocks) = Default::default();
        self.finish()
    }

    /// Waits until the file is written. No more items may come.
    pub fn finish(&mut self) -> Result<()> {
        self.written.as_mut().map_or(Ok(()), SegmentWriter::finish)
    }

    /// Returns the bytes of a bucket's items, in memory and in the file.
    pub fn bytes(&self, bucket: usize) -> usize {
        self.buckets[bucket].segment_bytes + self.bytes_in_memory(bucket)
    }

    pub fn bytes_in_file(&self, bucket: usize) -> usize {
        self.buckets[bucket].segment_bytes
    }

    /// Returns the most bytes that a bucket's items may take.
    pub fn most_bytes_of_bucket(&self) -> usize {
        self.limits.bucket_bytes
    }

    fn bytes_in_memory(&self, bucket: usize) -> usize {
        let end = self.cursors[bucket].end;
        self.buckets[bucket].blocks * BLOCK_BYTES - (end.next_multiple_of(BLOCK_BYTES) - end)
    }

    pub fn items_of(&self, bucket: usize) -> usize {
        let escaped_keys = self.escaped_keys.get(bucket).copied().unwrap_or(0);
        match self.stored_layout {
            Layout::Slots { width, .. } => (self.bytes(bucket) - PACKED_BYTES * escaped_keys) / width,
            Layout::Arena => self.long_items[bucket],
        }
    }

    /// Starts to read a bucket's segments, if it has any.
    pub fn read_ahead(&self, bucket: usize) -> Option<SegmentReader> {
        let segments = &self.buckets[bucket].segments;
        let writer = self.written.as_ref().filter(|_| !segments.is_empty())?;
        SegmentReader::start(writer.file(), segments)
    }

    /// Appends a bucket's items to `run`, which must have the stored layout.
    pub fn read_items(&self, bucket: usize, run: &mut RunBuilder, reader: Option<SegmentReader>) -> Result<()> {
        self.read(bucket, reader, |bytes| run.append(bytes))?;
        run.count(self.items_of(bucket));
        Ok(())
    }

    /// Replaces `bytes` with the encoded keys of a bucket, padded with eight bytes.
    pub fn read_bytes(&self, bucket: usize, reader: Option<SegmentReader>, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.reserve(self.bytes(bucket) + PACKED_BYTES);
        self.read(bucket, reader, |block| bytes.extend_from_slice(block))?;
        bytes.extend_from_slice(&[0; PACKED_BYTES]);
        Ok(())
    }

    /// Hands out the bytes of a bucket's items. `reader` may already be reading those of the file.
    fn read(&self, bucket: usize, reader: Option<SegmentReader>, mut each: impl FnMut(&[u8])) -> Result<()> {
        let one = &self.buckets[bucket];
        let in_file = match (reader, &self.written) {
            (Some(reader), _) => Some(reader.take()?),
            (None, Some(writer)) => Some(ReadSegments::read(writer.file(), &one.segments)?),
            (None, None) => None,
        };
        in_file.iter().flat_map(ReadSegments::segments).for_each(&mut each);
        let mut left = self.bytes_in_memory(bucket);
        let mut block = one.first_block as usize;
        while left > 0 {
            let len = left.min(BLOCK_BYTES);
            each(&self.memory[block * BLOCK_BYTES..][..len]);
            left -= len;
            block = self.next_blocks[block] as usize;
        }
        Ok(())
    }

    /// Hands out all items, bucket by bucket. All must be in memory.
    pub fn for_each(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut memory, mut keys, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for bucket in 0..self.buckets.len() {
            if let Some(packer) = self.partitioner.packer() {
                self.read_bytes(bucket, None, &mut bytes)?;
                self.partitioner.decode_keys(bucket, std::slice::from_ref(&bytes), self.items_of(bucket), &mut keys);
                keys.iter().try_for_each(|key| packer.with_item(*key, &mut each))?;
                continue;
            }
            memory.resize((self.bytes(bucket) + PADDING_BYTES).max(MIN_MEMORY_BYTES).max(memory.len()), 0);
            let mut run = RunBuilder::new(memory, self.stored_layout);
            self.read_items(bucket, &mut run, None)?;
            run.for_each(&mut each)?;
            memory = run.into_memory();
        }
        Ok(())
    }
}

/// Returns whether `len` bytes from `at` on lie in a block that is already open.
#[inline(always)]
fn fits_open_block(at: usize, len: usize) -> bool {
    let in_block = at % BLOCK_BYTES;
    in_block > 0 && in_block + len <= BLOCK_BYTES
}
