//! Appends keys and items to the blocks of their buckets: the hot loops of the sample sort.

use super::{Bucket, BucketStore, WriteCursor};
use crate::sort::buckets::delta_codec::DeltaCodec;
use crate::sort::buckets::key_packer::PACKED_BYTES;
use crate::sort::buckets::partitioner::{StoredForm, Suffix};
use crate::sort::buckets::segments::BLOCK_BYTES;

impl BucketStore {
    /// Appends the low-order bytes of a packed key. Returns `false` if there is no such bucket, or it is full.
    #[inline(always)]
    fn append_suffix(&mut self, bucket: usize, key: u64, suffix: Suffix) -> bool {
        bucket < self.cursors.len() && self.append_bytes(bucket, suffix.of(key), suffix.count)
    }

    /// Appends packed keys until one needs more than a few bytes in an open block. Returns how many.
    pub(super) fn append_keys(&mut self, keys: &[u64], bucket_of: impl Fn(u64) -> usize, form: &StoredForm) -> usize {
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
    pub(super) fn append_key(&mut self, bucket: usize, key: u64, form: &StoredForm) -> bool {
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
    pub(super) fn append_item(&mut self, bucket: usize, bytes: &[u8]) -> bool {
        let at = self.cursors[bucket].end;
        if !fits_open_block(at, bytes.len()) {
            return self.append_to_blocks(bucket, bytes);
        }
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        self.cursors[bucket].end = at + bytes.len();
        true
    }

    #[inline(never)]
    pub(super) fn append_to_blocks(&mut self, bucket: usize, mut bytes: &[u8]) -> bool {
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
}

/// Returns whether `len` bytes from `at` on lie in a block that is already open.
#[inline(always)]
fn fits_open_block(at: usize, len: usize) -> bool {
    let in_block = at % BLOCK_BYTES;
    in_block > 0 && in_block + len <= BLOCK_BYTES
}
