//! To which bucket items go.
//!
//! Routes are made of the first items, by whoever has enough of them first, and hold for all writers of a sort. They know
//! the bits that varied among these, and how often each combination of the topmost ones came. An item that differs in
//! other bits has no bucket: so a sample that says nothing about what comes costs a little time and no memory. Zeros are
//! thought behind items shorter than what routes look at: then buckets follow each other as memcmp has it.

use super::packing::Packing;
use super::radix::Digit;
use super::run::FillRun;
use super::segments::BLOCK_BYTES;
use std::convert::Infallible;

/// Their last blocks, one a bucket, are to be written to by turns: as many as the caches of memory and addresses hold.
const MAX_BUCKETS: usize = 1024;
const MIN_BUCKETS: usize = 64;

/// A memory has at least so many blocks for each bucket.
pub(super) const BLOCKS_PER_BUCKET: usize = 16;

/// How many bits tell the bucket: the fewest that make enough buckets, because looking these up is waited for.
const ROUTE_BITS: [u32; 3] = [12, 14, 16];

/// Bytes of the first items.
const SAMPLE_BYTES: usize = 1 << 20;

/// To which bucket an item goes, and what it is there.
#[derive(Debug)]
pub(super) struct Routes {
    /// Items are words in their buckets. Routes then look at these, as if they stood in front of 16 bytes.
    pub packing: Option<Packing>,
    /// An item's first 16 bytes, and the bits of them that all items have in common.
    first: u128,
    same: u128,
    /// How far a word of 64 of these bits is from their end, and the bits of it that tell.
    shift: u32,
    digit: Digit,
    bucket_of: Vec<u16>,
    /// The first digit of each bucket.
    starts: Vec<usize>,
}

impl Routes {
    /// How many bytes of items make a sample, in a memory of so many; `None` where it is too small for buckets.
    pub fn sample_bytes(memory_bytes: usize) -> Option<usize> {
        (buckets_in(memory_bytes) >= MIN_BUCKETS).then_some(SAMPLE_BYTES.min(memory_bytes / 16))
    }

    /// The routes of items like these, in a memory of so many bytes; `None` where they would not be worth it.
    pub fn new(sample: &FillRun, memory_bytes: usize) -> Option<Self> {
        let (mut heads, mut lens) = (Vec::new(), Vec::new());
        let each = |item: &[u8]| -> Result<(), Infallible> {
            heads.push(head(item));
            lens.push(item.len());
            Ok(())
        };
        let Ok(()) = sample.for_each(each);
        // What comes in order is sorted in no time.
        if heads.is_sorted() || heads.is_sorted_by(|a, b| a >= b) {
            return None;
        }
        let packing = Packing::new(&heads, &lens);
        if let Some(packing) = &packing {
            let words = heads.iter().zip(&lens).map(|(&head, &len)| packing.pack(head, len));
            heads = words.map(|word| in_front(word.expect("made for these"))).collect();
        }
        let first = heads[0];
        let differ = heads.iter().fold(0, |differ, head| differ | head ^ first);
        let shift = 64 - (differ.leading_zeros() / 8 * 8).min(64);
        let routes = |bits| Self::with_bits(bits, &heads, differ, shift, buckets_in(memory_bytes), packing.clone());
        let all = ROUTE_BITS.map(routes);
        let is_enough = |routes: &Self| routes.starts.len() >= buckets_in(memory_bytes) / 2;
        let best = all.iter().position(is_enough).unwrap_or(ROUTE_BITS.len() - 1);
        all.into_iter().nth(best).filter(|routes| routes.starts.len() >= MIN_BUCKETS / 2)
    }

    /// The routes that so many of the bits tell that differ.
    fn with_bits(
        bits: u32,
        heads: &[u128],
        differ: u128,
        shift: u32,
        buckets: usize,
        packing: Option<Packing>,
    ) -> Self {
        let first = heads[0];
        let digit = Digit::topmost(low_word(differ >> shift), bits);
        let reach = u128::MAX << 64 << shift | u128::from(digit.reach()) << shift;
        let mut counts = vec![0usize; 1 << digit.bits];
        for head in heads {
            counts[digit.of_word::<{ Digit::MAX_FIELDS }>(low_word(head >> shift))] += 1;
        }
        let (mut bucket_of, mut starts, mut count) = (Vec::with_capacity(counts.len()), vec![0], 0);
        let share = heads.len().div_ceil(buckets);
        for (digit, more) in counts.into_iter().enumerate() {
            if count > 0 && count + more > share {
                starts.push(digit);
                count = 0;
            }
            count += more;
            bucket_of.push(u16::try_from(starts.len() - 1).expect("few buckets"));
        }
        Self { packing, first, same: reach & !differ, shift, digit, bucket_of, starts }
    }

    /// The bucket of an item with this head, or with this word in front; `None` where it has none.
    #[inline]
    pub fn bucket(&self, head: u128) -> Option<usize> {
        if (head ^ self.first) & self.same != 0 {
            return None;
        }
        let digit = self.digit.of_word::<{ Digit::MAX_FIELDS }>(low_word(head >> self.shift));
        Some(self.bucket_of[digit].into())
    }

    /// How many buckets there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// What separates the items of a bucket from those of the buckets before.
    pub fn key(&self, bucket: usize) -> Vec<u8> {
        let word = u128::from(self.digit.spread(self.starts[bucket])) << self.shift;
        let head = self.first & self.same | word;
        let head = self.packing.as_ref().map_or(head, |packing| packing.unpack((head >> 64) as u64).0).to_be_bytes();
        let len = head.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        if bucket == 0 { Vec::new() } else { head[..len].to_vec() }
    }
}

fn buckets_in(memory_bytes: usize) -> usize {
    MAX_BUCKETS.min(memory_bytes / BLOCK_BYTES / BLOCKS_PER_BUCKET)
}

/// The lower half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is not wanted")]
fn low_word(bits: u128) -> u64 {
    bits as u64
}

/// A word where routes look for it.
#[inline]
pub(super) fn in_front(word: u64) -> u128 {
    u128::from(word) << 64
}

/// The first 16 bytes of an item, zeros behind its end.
#[inline]
pub(super) fn head(item: &[u8]) -> u128 {
    match item.first_chunk() {
        Some(first) => u128::from_be_bytes(*first),
        None => {
            let mut first = [0; 16];
            first[..item.len()].copy_from_slice(item);
            u128::from_be_bytes(first)
        }
    }
}
