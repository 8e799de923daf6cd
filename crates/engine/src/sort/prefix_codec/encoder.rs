//! Writes runs in front coding.

use super::{SpilledRun, WORD};
use crate::Result;
use crate::sort::arena::{MAX_LENGTH_BYTES, common_prefix, seven_bits, write_length};
use crate::sort::diff_mask::DiffMask;
use crate::sort::item::PaddedItem;
use crate::sort::run::SortedRun;
use crate::sort::sparse_index::SparseIndex;
use crate::sort::spill::{ALIGNMENT, AlignedMemory, SpillFile};
use litepress_format::short_bytes::two_words;
use std::sync::Arc;

/// Items, and encoded bytes, between two restart points.
const ITEMS_PER_RESTART: u64 = 1024;
const BYTES_PER_RESTART: u64 = 32 << 10;

/// Bytes of an item that are kept for comparison with the next one: it can share no more.
const MAX_SHARED_BYTES: usize = 64 << 10;

/// Writes one run.
pub(in crate::sort) struct RunEncoder {
    run: SpilledRun,
    block: AlignedMemory,
    filled: usize,
    /// The kept bytes of the last item, and its complete length.
    previous: Vec<u8>,
    previous_len: usize,
    /// The last item if it was short; `previous` is then out of date.
    previous_short: Option<[u128; 2]>,
    /// Items and encoded bytes at the last restart point.
    last_restart: (u64, u64),
    items_per_restart: u64,
    /// Bytes that the sparse index may take.
    index_limit: u64,
}

impl RunEncoder {
    /// Begins a run at the end of `file`, written in blocks of `block_bytes`.
    pub fn new(file: &Arc<SpillFile>, block_bytes: usize, index_limit: u64) -> Self {
        let (file, start) = (file.clone(), file.len());
        let (sparse_index, varying) = (SparseIndex::default(), DiffMask::unknown());
        let run = SpilledRun { file, start, bytes: 0, items: 0, item_bytes: 0, sparse_index, varying };
        Self {
            run,
            block: AlignedMemory::new(block_bytes),
            filled: 0,
            previous: Vec::new(),
            previous_len: 0,
            previous_short: None,
            last_restart: (0, 0),
            items_per_restart: ITEMS_PER_RESTART,
            index_limit,
        }
    }

    /// Appends an item, greater than all before.
    #[inline]
    pub fn push(&mut self, item: PaddedItem<'_>) -> Result<()> {
        if !self.push_short(item) {
            self.push_any(item.item())?;
        }
        self.run.items += 1;
        self.run.item_bytes += item.len as u64;
        self.previous_len = item.len;
        Ok(())
    }

    /// Does the work of [`push`](Self::push) for an item without padding.
    pub fn push_alone(&mut self, item: &[u8]) -> Result<()> {
        self.push(PaddedItem { bytes: item, len: item.len() })
    }

    /// Appends a short item behind a short one, in whole words. Returns `false` if that is not possible.
    #[inline]
    fn push_short(&mut self, item: PaddedItem<'_>) -> bool {
        let (Some(previous), Some(bytes)) = (self.previous_short, item.bytes.first_chunk::<{ 2 * WORD }>()) else {
            return false;
        };
        let words = two_words(bytes.first_chunk().expect("at least 64 bytes"));
        let shared = common_bytes(previous, words).min(item.len).min(self.previous_len);
        if item.len > WORD || self.is_restart_here(shared) {
            return false;
        }
        let room = self.block.bytes_mut()[self.filled..].first_chunk_mut::<{ WORD + 3 }>();
        let Some(room) = room else { return false };
        let (suffix, same) = (item.len - shared, item.len == self.previous_len);
        let head = if same { 1 } else { 2 };
        // One-byte numbers. The second one is overwritten if the lengths are equal.
        room[..2].copy_from_slice(&[seven_bits(shared << 1 | usize::from(same)), seven_bits(suffix)]);
        room[head..head + WORD].copy_from_slice(&bytes[shared..shared + WORD]);
        self.filled += head + suffix;
        self.run.bytes += (head + suffix) as u64;
        self.previous_short = Some(words);
        true
    }

    fn push_any(&mut self, item: &[u8]) -> Result<()> {
        if let Some(words) = self.previous_short.take() {
            self.previous.clear();
            self.previous.extend(words.iter().flat_map(|word| word.to_be_bytes()).take(self.previous_len));
        }
        let mut shared = common_prefix(&self.previous, item);
        if self.is_restart_here(shared) {
            self.restart(item, shared);
            shared = 0;
        }
        let suffix = &item[shared..];
        let mut head = [0; 2 * MAX_LENGTH_BYTES];
        let same = item.len() == self.previous_len;
        let mut width = write_length(shared << 1 | usize::from(same), &mut head);
        if !same {
            width += write_length(suffix.len(), &mut head[width..]);
        }
        self.put(&head[..width])?;
        self.put(suffix)?;
        self.previous.truncate(shared);
        let kept = suffix.len().min(MAX_SHARED_BYTES.saturating_sub(shared));
        self.previous.extend_from_slice(&suffix[..kept]);
        if item.len() <= WORD {
            let mut bytes = [0; WORD];
            bytes[..item.len()].copy_from_slice(item);
            self.previous_short = Some(two_words(&bytes));
        }
        Ok(())
    }

    #[inline]
    fn is_restart_here(&self, shared: usize) -> bool {
        let (items, bytes) = self.last_restart;
        let far = self.run.items - items >= self.items_per_restart || self.run.bytes - bytes >= BYTES_PER_RESTART;
        self.run.items == 0 || far && shared < SparseIndex::MAX_KEY_BYTES
    }

    /// Makes a restart point of `item`, which will be written next, without a shared prefix.
    #[cold]
    fn restart(&mut self, item: &[u8], shared: usize) {
        let Self { run, last_restart, index_limit, .. } = self;
        let separator = if run.items == 0 { &[] } else { &item[..item.len().min(shared + 1)] };
        run.sparse_index.push(run.items, run.bytes, separator);
        if run.sparse_index.held_bytes() > *index_limit && run.sparse_index.downsample() {
            self.items_per_restart *= 2;
        }
        *last_restart = (run.items, run.bytes);
        self.previous_len = usize::MAX;
    }

    #[inline]
    fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.run.bytes += bytes.len() as u64;
        loop {
            let room = &mut self.block.bytes_mut()[self.filled..];
            if bytes.len() < room.len() {
                room[..bytes.len()].copy_from_slice(bytes);
                self.filled += bytes.len();
                return Ok(());
            }
            let (now, later) = bytes.split_at(room.len());
            room.copy_from_slice(now);
            self.run.file.append(self.block.bytes())?;
            self.filled = 0;
            bytes = later;
        }
    }

    /// Completes the run, whose items vary in these bits.
    pub fn finish(mut self, varying: DiffMask) -> Result<SpilledRun> {
        let end = self.filled.next_multiple_of(ALIGNMENT);
        self.block.bytes_mut()[self.filled..end].fill(0);
        self.run.file.append(&self.block.bytes()[..end])?;
        self.run.varying = varying;
        self.run.sparse_index.shrink();
        Ok(self.run)
    }
}

/// Writes a run in memory to a file.
pub(in crate::sort) fn encode(run: &SortedRun, mut encoder: RunEncoder) -> Result<SpilledRun> {
    for index in 0..run.len() {
        run.prefetch(index);
        encoder.push(run.padded_item(index))?;
    }
    encoder.finish(*run.varying())
}

/// Returns the length of the common prefix of two padded items.
#[inline]
fn common_bytes(a: [u128; 2], b: [u128; 2]) -> usize {
    let differ = (a[0] ^ b[0]).leading_zeros() / 8;
    let differ = if differ < 16 { differ } else { 16 + (a[1] ^ b[1]).leading_zeros() / 8 };
    differ as usize
}
