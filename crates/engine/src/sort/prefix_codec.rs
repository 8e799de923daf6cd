//! Front coding (prefix compression) of a spilled run: each item without the prefix that it shares with the one
//! before.
//!
//! ```text
//! item     header, [length], suffix
//! header   shared bytes * 2 + 1 if the item is as long as the one before     varint (see `arena`)
//! length   of the suffix, if the header says that the lengths differ         varint
//!
//! 'abc' 1, 'abc' 2, 'abd' 1  ->  [0 4 "abc" 1] [7 2] [5 "d" 1]
//! ```
//!
//! Low-cardinality keys with ascending rowids take two or three bytes an item. At regular distances an item shares
//! nothing, so that reading can begin there: LevelDB calls it a restart point. The sparse index in memory has its ordinal,
//! its position, and a key that separates it from the item before. If you change the encoder, also change the decoder.

use super::arena::{MAX_LENGTH_BYTES, common_prefix, seven_bits, write_length};
use super::diff_mask::DiffMask;
use super::item::{PADDING_BYTES, PaddedItem};
use super::read_ahead::{PendingRead, ReadAhead};
use super::run::SortedRun;
use super::sparse_index::SparseIndex;
use super::spill::{ALIGNMENT, AlignedMemory, SpillFile};
use crate::{Error, Result};
use litepress_format::short_bytes::two_words;
use std::sync::Arc;

/// Items, and encoded bytes, between two restart points.
const ITEMS_PER_RESTART: u64 = 1024;
const BYTES_PER_RESTART: u64 = 32 << 10;

/// Bytes of an item that are kept for comparison with the next one: it can share no more.
const MAX_SHARED_BYTES: usize = 64 << 10;

/// A sorted run in a file. Dropping it frees its disk space.
#[derive(Debug)]
pub(super) struct SpilledRun {
    file: Arc<SpillFile>,
    start: u64,
    /// Bytes of the encoded items.
    bytes: u64,
    items: u64,
    item_bytes: u64,
    pub sparse_index: SparseIndex,
    pub varying: DiffMask,
}

impl SpilledRun {
    pub fn len(&self) -> u64 {
        self.items
    }

    pub fn item_bytes(&self) -> u64 {
        self.item_bytes
    }

    #[cfg(test)]
    pub fn file(&self) -> &SpillFile {
        &self.file
    }

    /// Returns the bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the error of a file that does not hold what was written.
    pub fn damaged(&self) -> Error {
        self.file.damaged()
    }
}

impl Drop for SpilledRun {
    fn drop(&mut self) {
        self.file.release(self.start, self.bytes.next_multiple_of(ALIGNMENT as u64));
    }
}

/// Writes one run.
pub(super) struct RunEncoder {
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
pub(super) fn encode(run: &SortedRun, mut encoder: RunEncoder) -> Result<SpilledRun> {
    for index in 0..run.len() {
        run.prefetch(index);
        encoder.push(run.padded_item(index))?;
    }
    encoder.finish(*run.varying())
}

/// Reads one run from a restart point on.
#[derive(Debug)]
pub(super) struct RunDecoder<'s> {
    run: &'s SpilledRun,
    block: AlignedMemory,
    /// Reads the next block in the background, into other memory.
    ahead: Option<ReadAhead>,
    awaited: Option<PendingRead>,
    spare: Option<AlignedMemory>,
    /// Bytes of the next read. It doubles up to the length of the block, so that short visits read little.
    read_bytes: usize,
    /// The part of the block that is not decoded yet.
    at: usize,
    end: usize,
    /// Offset in the run of the next read.
    next: u64,
    /// The item and its padding.
    item: Vec<u8>,
    len: usize,
    /// The first 16 bytes of `item` as a number.
    start: u128,
    /// Items before the current one.
    ordinal: u64,
}

/// Bytes of the first read.
const FIRST_READ_BYTES: usize = 32 << 10;

/// The longest suffix that is copied as one word of this many bytes.
const WORD: usize = 32;

impl<'s> RunDecoder<'s> {
    /// Opens a run at its first item that is not less than `key`, or at its end.
    pub fn at_key(run: &'s SpilledRun, key: &[u8], block_bytes: usize, ahead: Option<ReadAhead>) -> Result<Self> {
        let (ordinal, position) = run.sparse_index.before(key);
        let aligned = position - position % ALIGNMENT as u64;
        let mut decoder = Self {
            run,
            block: AlignedMemory::new(block_bytes),
            ahead,
            awaited: None,
            spare: None,
            read_bytes: FIRST_READ_BYTES.min(block_bytes),
            at: 0,
            end: 0,
            next: aligned,
            item: vec![0; PADDING_BYTES],
            len: 0,
            start: 0,
            ordinal,
        };
        decoder.read()?;
        decoder.at = usize::try_from(position - aligned).expect("less than the alignment");
        decoder.decode()?;
        while !decoder.is_at_end() && decoder.item() < key {
            decoder.advance()?;
        }
        Ok(decoder)
    }

    #[inline]
    pub fn item(&self) -> &[u8] {
        &self.item[..self.len]
    }

    /// Returns the item and at least [`PADDING_BYTES`] behind it.
    #[inline]
    pub fn padded_bytes(&self) -> &[u8] {
        &self.item
    }

    /// Returns the first 16 bytes of the padded item as a number that compares like them.
    #[inline]
    pub fn start(&self) -> u128 {
        self.start
    }

    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.ordinal >= self.run.items
    }

    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// Moves to the next item, or to the end.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.ordinal += 1;
        if self.is_at_end() { Ok(()) } else { self.decode() }
    }

    #[inline]
    fn decode(&mut self) -> Result<()> {
        let ahead = &self.block.bytes()[self.at..self.end];
        if ahead.len() < WORD + 2 {
            return self.decode_any();
        }
        let (header, second) = (usize::from(ahead[0]), usize::from(ahead[1]));
        let (shared, same) = (header >> 1, header & 1 == 1);
        let (head, suffix) = if same { (1, self.len.wrapping_sub(shared)) } else { (2, second) };
        // The usual case: one-byte numbers, a suffix of at most a word, and enough memory.
        let short = header < 0x80 && suffix <= WORD && shared <= self.len;
        if short && shared + suffix + PADDING_BYTES <= self.item.len() {
            let word: &[u8; WORD] = ahead[head..].first_chunk().expect("as far as a word reaches");
            self.item[shared..shared + WORD].copy_from_slice(word);
            if shared < 16 {
                // Computed, not loaded from the item: its bytes are still in the store buffer.
                let changed = u128::MAX >> (8 * shared);
                self.start = self.start & !changed | first_16(word) >> (8 * shared);
            }
            self.len = shared + suffix;
            self.at += head + suffix;
            return Ok(());
        }
        self.decode_any()
    }

    fn decode_any(&mut self) -> Result<()> {
        let header = self.length()?;
        let shared = header >> 1;
        let len = if header & 1 == 1 { self.len } else { shared.saturating_add(self.length()?) };
        let left = self.left() + (self.end - self.at) as u64;
        if shared > self.len || len < shared || (len - shared) as u64 > left {
            return Err(self.run.damaged());
        }
        if self.item.len() < len + PADDING_BYTES {
            self.item.resize(len + PADDING_BYTES, 0);
        }
        self.len = len;
        let mut done = shared;
        while done < len {
            if self.at == self.end {
                self.read()?;
            }
            let now = (self.end - self.at).min(len - done);
            self.item[done..done + now].copy_from_slice(&self.block.bytes()[self.at..self.at + now]);
            self.at += now;
            done += now;
        }
        self.start = first_16(&self.item);
        Ok(())
    }

    fn length(&mut self) -> Result<usize> {
        let mut length = 0;
        for shift in (0..usize::BITS).step_by(7) {
            if self.at == self.end {
                self.read()?;
            }
            let byte = usize::from(self.block.bytes()[self.at]);
            self.at += 1;
            length |= (byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(self.run.damaged())
    }

    /// Returns the bytes of the run that are not read yet.
    fn left(&self) -> u64 {
        self.run.bytes.saturating_sub(self.next)
    }

    /// Reads the next block. All of the current one must be decoded.
    fn read(&mut self) -> Result<()> {
        let bytes = self.next_bytes();
        if bytes == 0 {
            return Err(self.run.damaged());
        }
        if let Some(awaited) = self.awaited.take() {
            self.spare = Some(std::mem::replace(&mut self.block, awaited.take()?));
        } else {
            let block = &mut self.block.bytes_mut()[..bytes.next_multiple_of(ALIGNMENT)];
            self.run.file.read(block, self.run.start + self.next)?;
        }
        (self.at, self.end) = (0, bytes);
        self.next += bytes as u64;
        let block_bytes = self.block.bytes().len();
        if self.read_bytes < block_bytes {
            self.read_bytes = (2 * self.read_bytes).min(block_bytes);
        } else {
            self.read_ahead();
        }
        Ok(())
    }

    /// Returns the bytes of the next read.
    fn next_bytes(&self) -> usize {
        usize::try_from(self.left().min(self.read_bytes as u64)).expect("at most a block")
    }

    fn read_ahead(&mut self) {
        let bytes = self.next_bytes().next_multiple_of(ALIGNMENT);
        if let Some(ahead) = self.ahead.as_ref().filter(|_| bytes > 0) {
            let memory = self.spare.take().unwrap_or_else(|| AlignedMemory::new(self.block.bytes().len()));
            self.awaited = Some(ahead.request(&self.run.file, self.run.start + self.next, bytes, memory));
        }
    }
}

/// Returns the length of the common prefix of two padded items.
#[inline]
fn common_bytes(a: [u128; 2], b: [u128; 2]) -> usize {
    let differ = (a[0] ^ b[0]).leading_zeros() / 8;
    let differ = if differ < 16 { differ } else { 16 + (a[1] ^ b[1]).leading_zeros() / 8 };
    differ as usize
}

#[inline]
fn first_16(bytes: &[u8]) -> u128 {
    u128::from_be_bytes(*bytes.first_chunk().expect("16 bytes"))
}

#[cfg(test)]
mod tests {
    use super::super::spill::SpillFolder;
    use super::*;

    fn spilled(items: &[Vec<u8>], index_limit: u64) -> SpilledRun {
        let folder = tempfile::tempdir().unwrap();
        let file = SpillFolder::new(folder.path().to_owned()).create().unwrap();
        let mut encoder = RunEncoder::new(&file, 2 * ALIGNMENT, index_limit);
        items.iter().for_each(|item| encoder.push_alone(item).unwrap());
        encoder.finish(DiffMask::unknown()).unwrap()
    }

    #[test]
    fn the_example_above() {
        let run = spilled(&[b"abc\x01", b"abc\x02", b"abd\x01"].map(|item| item.to_vec()), 1 << 20);
        let mut block = AlignedMemory::new(ALIGNMENT);
        run.file.read(block.bytes_mut(), 0).unwrap();
        let expected = b"\x00\x04abc\x01\x07\x02\x05d\x01";
        assert_eq!(run.bytes(), expected.len() as u64);
        assert!(block.bytes().starts_with(expected));
    }

    #[test]
    fn every_item_is_found_and_read_again() {
        let tails = [0, 1, 3, 40, 200, 500];
        let numbered = |number: u32| [&number.to_be_bytes()[..], &vec![7; tails[number as usize % 6]]].concat();
        let mut items: Vec<Vec<u8>> = (0..9000).map(numbered).collect();
        items.extend([0, 20, 20_000, 70_000, 100_000].map(|len| [vec![0xff; len], vec![0xfe]].concat()));
        items.sort();
        for index_limit in [500, 1 << 20] {
            let run = spilled(&items, index_limit);
            assert!(run.sparse_index.held_bytes() < index_limit + 500);
            for start in (0..items.len()).step_by(151).chain([items.len() - 1]) {
                let mut decoder = RunDecoder::at_key(&run, &items[start], ALIGNMENT, None).unwrap();
                for (ordinal, item) in items.iter().enumerate().skip(start).take(400) {
                    assert_eq!((decoder.ordinal(), decoder.item()), (ordinal as u64, &item[..]));
                    let start = decoder.start().to_be_bytes();
                    assert_eq!(start[..item.len().min(16)], item[..item.len().min(16)]);
                    decoder.advance().unwrap();
                }
            }
            assert!(RunDecoder::at_key(&run, &[0xff; 200_000], ALIGNMENT, None).unwrap().is_at_end());
        }
    }
}
