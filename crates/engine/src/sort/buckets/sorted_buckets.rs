//! Reads the buckets of all writers in order, and sorts each one when its turn comes.
//!
//! Ranges of ranks begin and end inside buckets. If two ranges need one bucket of packed keys, the first one sorts it
//! and shares it with the other. The buffers in which a range sorted its buckets go to the next range.

use super::bucket_store::BucketStore;
use super::key_packer::{self, KeyPacker};
use super::segments::SegmentReader;
use crate::Result;
use crate::sort::batch::{PackedBatch, ReadyBatch, RunItems};
use crate::sort::item::{PADDING_BYTES, PaddedItem};
use crate::sort::radix_u64;
use crate::sort::run::{Layout, MIN_MEMORY_BYTES, RunBuilder, SortedRun};
use crate::sort::sparse_index::SparseIndex;
use litepress_rows::sync::{Mutex, MutexGuard, lock};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Packed keys that are unpacked at once: their items fit the nearest cache.
const KEYS_AT_ONCE: usize = 512;

/// The most buckets that are read ahead, including the current one.
const MAX_READ_AHEAD: usize = 4;

/// The buckets of all writers with the same partitioner.
#[derive(Debug, Default)]
pub(in crate::sort) struct Buckets {
    stores: Vec<BucketStore>,
    /// The start of each bucket.
    sparse_index: SparseIndex,
    pool: Mutex<BufferPool>,
}

/// Buffers that ranges leave to others.
#[derive(Debug, Default)]
struct BufferPool {
    buffers: Vec<BucketBuffer>,
    /// Memory of former packed keys.
    keys: Vec<Vec<u64>>,
    /// Sorted packed keys of buckets that another range needs, too.
    shared: VecDeque<(usize, Arc<Vec<u64>>)>,
}

impl Buckets {
    pub fn add(&mut self, store: BucketStore) {
        self.stores.push(store);
    }

    /// Takes out the buckets of one writer that are in memory.
    pub fn take_from_memory(&mut self) -> Option<BucketStore> {
        let position = self.stores.iter().position(|store| !store.memory.is_empty())?;
        Some(self.stores.swap_remove(position))
    }

    /// Completes the index of buckets. All writers' buckets must have been added.
    pub fn seal(&mut self) {
        let Some(partitioner) = self.stores.first().map(|store| store.partitioner.clone()) else { return };
        let mut ordinal = 0;
        for bucket in 0..partitioner.len() {
            self.sparse_index.push(ordinal, bucket as u64, &partitioner.splitter(bucket));
            ordinal += self.items_of(bucket) as u64;
        }
    }

    #[cfg(test)]
    pub fn file(&self) -> &crate::sort::spill::SpillFile {
        self.stores.iter().find_map(BucketStore::file).unwrap()
    }

    #[cfg(test)]
    pub fn written_bytes(&self) -> u64 {
        self.stores.iter().filter_map(BucketStore::file).map(|file| file.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    pub fn len(&self) -> u64 {
        self.stores.iter().map(BucketStore::items).sum()
    }

    pub fn item_bytes(&self) -> u64 {
        self.stores.iter().map(|store| store.item_bytes).sum()
    }

    pub fn memory_bytes(&self) -> u64 {
        self.stores.iter().map(|store| store.held() as u64).sum()
    }

    pub fn sparse_index(&self) -> &SparseIndex {
        &self.sparse_index
    }

    /// Returns the mean number of items in a bucket.
    pub fn mean_items(&self) -> u64 {
        self.len() / self.sparse_index.len().max(1) as u64
    }

    /// Returns the number of items in the largest bucket.
    pub fn most_items(&self) -> u64 {
        (0..self.sparse_index.len()).map(|bucket| self.items_of(bucket) as u64).max().unwrap_or(0)
    }

    fn items_of(&self, bucket: usize) -> usize {
        self.stores.iter().map(|store| store.items_of(bucket)).sum()
    }

    fn packer(&self) -> Option<&KeyPacker> {
        self.stores.first().and_then(|store| store.partitioner.packer())
    }

    /// Returns the sorted packed keys of a bucket.
    fn sort_keys(&self, bucket: usize, buffer: &mut BucketBuffer) -> Result<Vec<u64>> {
        let known = buffer.sorted_keys.take().or_else(|| self.pool().keys.pop());
        let mut keys = known.unwrap_or_default();
        let Some(store) = self.stores.first() else { return Ok(keys) };
        buffer.bytes.resize_with(self.stores.len(), Vec::new);
        for ((store, bytes), reader) in self.stores.iter().zip(&mut buffer.bytes).zip(next_readers(&mut buffer.readers))
        {
            store.read_bytes(bucket, reader, bytes)?;
        }
        if !store.partitioner.decode_keys(bucket, &buffer.bytes, self.items_of(bucket), &mut keys) {
            radix_u64::sort(&mut keys, &mut buffer.keys);
        }
        Ok(keys)
    }

    fn pool(&self) -> MutexGuard<'_, BufferPool> {
        lock(&self.pool)
    }

    /// Shares decoded keys with the range that reads the rest of this bucket. Evicts unclaimed ones.
    fn share(&self, bucket: usize, keys: &Arc<Vec<u64>>) {
        let shared = &mut self.pool().shared;
        shared.push_back((bucket, keys.clone()));
        if shared.len() > self.stores.len() {
            shared.pop_front();
        }
    }

    /// Takes the packed keys of a bucket that another range has sorted and shared.
    fn take_shared(&self, bucket: usize) -> Option<Arc<Vec<u64>>> {
        let shared = &mut self.pool().shared;
        let position = shared.iter().position(|(other, _)| *other == bucket)?;
        shared.remove(position).map(|(_, keys)| keys)
    }

    /// Returns the sorted items of a bucket without packed keys, in the memory of an earlier bucket.
    fn sort(&self, bucket: usize, buffer: &mut BucketBuffer) -> Result<SortedRun> {
        let (mut memory, mut order) = (std::mem::take(&mut buffer.memory), std::mem::take(&mut buffer.order));
        let layout = self.stores.iter().map(|store| store.stored_layout).reduce(Layout::and).expect("there are items");
        let bytes: usize = self.stores.iter().map(|store| store.bytes(bucket)).sum();
        let needed = (PADDING_BYTES + layout.bytes_for(self.items_of(bucket), bytes)).max(MIN_MEMORY_BYTES);
        memory.resize(needed.max(memory.len()), 0);
        let mut run = RunBuilder::new(memory, layout);
        for (store, reader) in self.stores.iter().zip(next_readers(&mut buffer.readers)) {
            if store.stored_layout == layout {
                store.read_items(bucket, &mut run, reader)?;
            } else {
                let mut others = RunBuilder::new(vec![0; needed], store.stored_layout);
                store.read_items(bucket, &mut others, reader)?;
                others.for_each(|item| run.push(item)).expect("memory for the items of all layouts");
            }
        }
        order.resize(run.scratch_bytes().max(order.len()), 0);
        let (run, scratch) = run.sort(order);
        buffer.order = scratch.unwrap_or_default();
        Ok(run)
    }
}

/// The memory in which a range sorts its buckets one after another.
#[derive(Debug, Default)]
struct BucketBuffer {
    memory: Vec<u8>,
    order: Vec<u8>,
    keys: Vec<u64>,
    sorted_keys: Option<Vec<u64>>,
    /// The encoded keys of each writer.
    bytes: Vec<Vec<u8>>,
    /// Readers of the next buckets' segments, in order.
    readers: VecDeque<Readers>,
}

/// The reader of each writer's segments of one bucket; `None` without segments.
type Readers = Vec<Option<SegmentReader>>;

/// Returns the readers of the next bucket, then `None` for ever.
fn next_readers(begun: &mut VecDeque<Readers>) -> impl Iterator<Item = Option<SegmentReader>> + use<> {
    begun.pop_front().unwrap_or_default().into_iter().chain(std::iter::repeat_with(|| None))
}

impl BucketBuffer {
    /// Takes back the memory of a finished bucket.
    fn take_back(&mut self, run: SortedRun) {
        let [memory, order] = run.into_memory();
        self.memory = memory;
        if !order.is_empty() {
            self.order = order;
        }
    }
}

/// Goes through the items of all buckets in order.
#[derive(Debug)]
pub(in crate::sort) struct BucketCursor<'s> {
    buckets: &'s Buckets,
    buffer: BucketBuffer,
    /// The current bucket, and the number of items in the buckets before it.
    bucket: usize,
    before: u64,
    /// Its packed keys, if it has such; its items, or those of the packed keys from `unpacked_from` on.
    keys: Arc<Vec<u64>>,
    run: SortedRun,
    unpacked_from: usize,
    /// Index of the current item, number of items in the bucket, and bounds of the current one in `run`.
    index: usize,
    len: usize,
    bounds: (usize, usize),
    /// The ranks of the range. Items of other ranks are not needed.
    ranks: Range<u64>,
}

impl<'s> BucketCursor<'s> {
    /// Opens the first item that is not less than `key`. `ranks` bounds what is read ahead and shared. Seeking to
    /// `key` may touch a few items before the range.
    pub fn at_key(buckets: &'s Buckets, key: &[u8], ranks: Range<u64>) -> Result<Self> {
        let (before, bucket) = buckets.sparse_index.before(key);
        let mut cursor = Self {
            buckets,
            buffer: buckets.pool().buffers.pop().unwrap_or_default(),
            bucket: usize::try_from(bucket).expect("few buckets"),
            before,
            keys: Arc::default(),
            run: SortedRun::empty(),
            unpacked_from: 0,
            index: 0,
            len: 0,
            bounds: (0, 0),
            ranks,
        };
        cursor.sort_bucket()?;
        cursor.index = match buckets.packer() {
            Some(packer) => cursor.keys.partition_point(|packed| packer.with_item(*packed, |item| item < key)),
            None => cursor.run.rank(key),
        };
        cursor.arrive()?;
        Ok(cursor)
    }

    pub fn ordinal(&self) -> u64 {
        self.before + self.index as u64
    }

    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.index >= self.len
    }

    #[inline]
    pub fn padded_item(&self) -> PaddedItem<'_> {
        let (start, end) = self.bounds;
        PaddedItem { bytes: &self.run.bytes()[start..], len: end - start }
    }

    /// Returns the items of the bucket from the current one on, of which there is at least one.
    pub fn ready_batch(&self) -> ReadyBatch<'_> {
        match self.buckets.packer() {
            Some(packer) => ReadyBatch::Packed(PackedBatch::new(&self.keys[self.index..], packer)),
            None => ReadyBatch::Run(RunItems::new(&self.run, self.index)),
        }
    }

    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.index += 1;
        if self.index < self.len {
            self.look();
            return Ok(());
        }
        self.arrive()
    }

    /// Advances `count` times.
    pub fn skip(&mut self, mut count: u64) -> Result<()> {
        while count > 0 && !self.is_at_end() {
            let here = (self.len - self.index).min(usize::try_from(count).unwrap_or(usize::MAX));
            self.index += here;
            count -= here as u64;
            self.arrive()?;
        }
        Ok(())
    }

    #[inline]
    fn look(&mut self) {
        if !self.keys.is_empty() && self.index - self.unpacked_from >= self.run.len() {
            self.unpack();
        }
        let at = self.index - self.unpacked_from;
        self.run.prefetch(at);
        self.bounds = self.run.bounds(at);
    }

    /// Moves on to a bucket with items if this one has no more.
    #[cold]
    fn arrive(&mut self) -> Result<()> {
        while self.is_at_end() && self.bucket + 1 < self.buckets.sparse_index.len() {
            self.leave_bucket();
            self.before += self.len as u64;
            (self.bucket, self.index) = (self.bucket + 1, 0);
            self.sort_bucket()?;
        }
        if !self.is_at_end() {
            self.look();
        }
        Ok(())
    }

    fn sort_bucket(&mut self) -> Result<()> {
        self.read_ahead();
        if self.buckets.packer().is_some() {
            self.keys = self.keys_of_bucket()?;
            self.len = self.keys.len();
        } else {
            self.run = self.buckets.sort(self.bucket, &mut self.buffer)?;
            self.len = self.run.len();
        }
        Ok(())
    }

    /// Takes back the memory of a finished bucket.
    fn leave_bucket(&mut self) {
        let run = std::mem::replace(&mut self.run, SortedRun::empty());
        self.buffer.take_back(run);
        if let Ok(keys) = Arc::try_unwrap(std::mem::take(&mut self.keys))
            && !keys.is_empty()
        {
            // If the keys came from another range, this one also has a spare buffer: give one of them away.
            self.buckets.pool().keys.extend(self.buffer.sorted_keys.replace(keys));
        }
        self.unpacked_from = 0;
    }

    /// Returns the packed keys of the bucket. If another range needs the rest of them, only one of both sorts them.
    fn keys_of_bucket(&mut self) -> Result<Arc<Vec<u64>>> {
        if let Some(keys) = self.buckets.take_shared(self.bucket) {
            self.buffer.readers.pop_front();
            return Ok(keys);
        }
        let keys = Arc::new(self.buckets.sort_keys(self.bucket, &mut self.buffer)?);
        if self.ranks.start > self.before || self.ranks.end < self.before + keys.len() as u64 {
            self.buckets.share(self.bucket, &keys);
        }
        Ok(keys)
    }

    /// Starts to read this bucket and the next one, and more if they are small: a read waits for the writes before
    /// it.
    fn read_ahead(&mut self) {
        let stores = &self.buckets.stores;
        let in_files = |bucket| stores.iter().map(|store| store.bytes_in_file(bucket)).sum::<usize>();
        let most_bytes = stores.iter().map(BucketStore::most_bytes_of_bucket).min().unwrap_or(0);
        let end = self.buckets.sparse_index.count_before(self.ranks.end).min(self.bucket + MAX_READ_AHEAD);
        let mut bytes = 0;
        for (ahead, bucket) in (self.bucket..end).enumerate() {
            bytes += in_files(bucket);
            if ahead > 1 && bytes > most_bytes {
                break;
            }
            if ahead == self.buffer.readers.len() {
                self.buffer.readers.push_back(stores.iter().map(|store| store.read_ahead(bucket)).collect());
            }
        }
    }

    /// Unpacks the items of some packed keys, from the current one on.
    #[cold]
    fn unpack(&mut self) {
        let Some(packer) = self.buckets.packer() else { return };
        let keys = &self.keys[self.index..self.keys.len().min(self.index + KEYS_AT_ONCE)];
        let [mut memory, _] = std::mem::replace(&mut self.run, SortedRun::empty()).into_memory();
        memory.resize(key_packer::unpacked_bytes(KEYS_AT_ONCE) + PADDING_BYTES, 0);
        packer.unpack_all(keys, &mut memory);
        self.run = SortedRun::of_slots(memory, key_packer::UNPACKED_LAYOUT, keys.len());
        self.unpacked_from = self.index;
    }
}

impl Drop for BucketCursor<'_> {
    fn drop(&mut self) {
        self.leave_bucket();
        self.buffer.readers.clear();
        let buffer = std::mem::take(&mut self.buffer);
        self.buckets.pool().buffers.push(buffer);
    }
}
