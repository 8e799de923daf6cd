//! Chooses the bucket of an item from its leading bits: the splitters of a sample sort.
//!
//! The first writer with enough items makes the partitioner from them, for all writers of a sort. It knows which bits
//! varied among these items, and how often each combination of the topmost ones occurred. An item that differs in
//! other bits has no bucket. So an unrepresentative sample costs a little time but no memory. Short items count as
//! padded with zeros: so buckets are in `memcmp` order.

use super::delta_codec::DeltaCodec;
use super::key_packer::{self, KeyPacker, PACKED_BYTES, halves};
use crate::sort::radix::Digit;
use crate::sort::run::RunBuilder;
use std::convert::Infallible;

/// The most buckets: the last blocks, one a bucket, are written in turn, and must fit the data cache and the TLB.
const MAX_BUCKETS: usize = 1024;
const MIN_BUCKETS: usize = 64;

/// The fewest bytes of memory for each bucket.
const BYTES_PER_BUCKET: usize = 64 << 10;

/// Numbers of leading bits that are tried. The fewest that make enough buckets win, because the store loop waits for
/// the table lookup.
const DIGIT_BITS: [u32; 3] = [12, 14, 16];

/// Bytes of the sample.
const SAMPLE_BYTES: usize = 1 << 20;

/// The bucket of items that have none.
const NO_BUCKET: u16 = u16::MAX;

/// A range of digits is taken to be empty if this many sampled items were expected in it and none occurred.
const MIN_EXPECTED_ITEMS: usize = 32;

/// The partition of items into buckets, and the form in which buckets store them.
#[derive(Debug)]
pub(in crate::sort) struct Partitioner {
    key_form: KeyForm,
    /// The bucket of each digit; [`NO_BUCKET`] for some digits that no sampled item had.
    bucket_of: Vec<u16>,
    /// The first digit of each bucket: the splitters.
    starts: Vec<usize>,
}

/// The low-order bytes of a packed key that distinguish keys within a bucket.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) struct Suffix {
    pub count: usize,
    /// Number of bits of a packed key in front of them.
    high_bits: u32,
}

impl Suffix {
    fn new(count: u32) -> Self {
        Self { count: count as usize, high_bits: u64::BITS - u8::BITS * count }
    }

    /// Returns the low-order bytes of a packed key, padded with zeros.
    #[inline]
    pub fn of(self, key: u64) -> [u8; PACKED_BYTES] {
        (key << self.high_bits).to_be_bytes()
    }

    /// Appends the packed keys with these low-order bytes, padded with eight more, to `keys`. Each is the next one
    /// from `first` on.
    fn decode(self, bytes: &[u8], first: u64, keys: &mut Vec<u64>) {
        let key = |index| {
            let suffix = bytes[index * self.count..].first_chunk().expect("eight more bytes");
            let above_first = (u64::from_be_bytes(*suffix) >> self.high_bits).wrapping_sub(first);
            first + (above_first << self.high_bits >> self.high_bits)
        };
        keys.extend((0..(bytes.len() - PACKED_BYTES) / self.count).map(key));
    }
}

/// The form in which a bucket stores packed keys.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) enum StoredForm {
    Suffix(Suffix),
    Deltas(DeltaCodec),
}

impl StoredForm {
    /// Returns the bytes of most packed keys.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Suffix(suffix) => suffix.count,
            Self::Deltas(codec) => codec.bytes,
        }
    }
}

/// The key of an item, and the bits of it that tell the bucket.
#[derive(Clone, Debug)]
pub(in crate::sort) enum KeyForm {
    /// Items as packed keys, of which a bucket stores a part. A key without its lowest `shift` bits is the digit.
    Packed { packer: KeyPacker, shift: u32, form: StoredForm },
    /// Items stored unchanged.
    Raw(BitSelector),
}

/// The bits of an item's prefix that tell the bucket.
#[derive(Clone, Debug)]
pub(in crate::sort) struct BitSelector {
    /// The first item's prefix, and the bits of it that all items have.
    first: u128,
    same: u128,
    /// Distance of a 64-bit word of these bits from the end of the prefix, and the bits of the word that tell.
    shift: u32,
    digit: Digit,
}

impl Partitioner {
    /// Returns the bytes of items in a sample, for a memory of this size. Returns `None` if the memory is too small
    /// for buckets.
    pub fn sample_bytes(memory_bytes: usize) -> Option<usize> {
        (buckets_in(memory_bytes) >= MIN_BUCKETS).then_some(SAMPLE_BYTES.min(memory_bytes / 16))
    }

    /// Makes the partitioner for items like these, in a memory of this size. Returns `None` if buckets would not pay
    /// off.
    pub fn new(sample: &RunBuilder, memory_bytes: usize) -> Option<Self> {
        let (mut prefixes, mut lens) = (Vec::new(), Vec::new());
        let each = |item: &[u8]| -> Result<(), Infallible> {
            prefixes.push(prefix_of(item));
            lens.push(item.len());
            Ok(())
        };
        let Ok(()) = sample.for_each(each);
        // Ordinary runs sort ordered input in almost no time.
        if prefixes.is_sorted() || prefixes.is_sorted_by(|a, b| a >= b) {
            return None;
        }
        let buckets = buckets_in(memory_bytes);
        if let Some(packer) = KeyPacker::new(&prefixes, &lens) {
            let keys = prefixes.iter().zip(&lens).map(|(&prefix, &len)| packer.pack(halves(prefix), len));
            let keys: Vec<u64> = keys.map(|key| key.expect("made for these")).collect();
            let candidate = |bits: u32| {
                let shift = packer.bits().saturating_sub(bits);
                let digits = keys.iter().map(|key| digit_of(key >> shift));
                let key_form =
                    KeyForm::Packed { packer: packer.clone(), shift, form: StoredForm::Suffix(Suffix::new(8)) };
                Self::split_digits(key_form, bits, digits, buckets)
            };
            let (mut partitioner, ends) = Self::fewest_bits(DIGIT_BITS.map(candidate), buckets)?;
            partitioner.choose_stored_form(&ends, &keys);
            return Some(partitioner);
        }
        let differ = prefixes.iter().fold(0, |differ, prefix| differ | prefix ^ prefixes[0]);
        let shift = 64 - (differ.leading_zeros() / 8 * 8).min(64);
        let candidate = |bits| {
            let selector = BitSelector::new(bits, prefixes[0], differ, shift);
            let digits = prefixes.iter().map(|&prefix| selector.digit_of(prefix));
            Self::split_digits(KeyForm::Raw(selector.clone()), selector.digit.bits, digits, buckets)
        };
        Self::fewest_bits(DIGIT_BITS.map(candidate), buckets).map(|(partitioner, _)| partitioner)
    }

    /// Splits the digits into `buckets` of about equal sample count. Also returns the end of each bucket's sampled
    /// digits.
    fn split_digits(
        key_form: KeyForm,
        bits: u32,
        digits: impl ExactSizeIterator<Item = usize>,
        buckets: usize,
    ) -> (Self, Vec<usize>) {
        let share = digits.len().div_ceil(buckets);
        let mut counts = vec![0usize; 1 << bits];
        digits.for_each(|digit| counts[digit] += 1);
        let (mut bucket_of, mut starts, mut ends, mut count) = (Vec::with_capacity(counts.len()), vec![0], vec![0], 0);
        for (digit, more) in counts.into_iter().enumerate() {
            // A bucket begins at a sampled digit: the fewer digits it spans, the fewer bits its keys need.
            if count > 0 && more > 0 && count + more > share {
                starts.push(digit);
                ends.push(digit);
                count = 0;
            }
            count += more;
            if let Some(end) = ends.last_mut().filter(|_| more > 0) {
                *end = digit + 1;
            }
            bucket_of.push(u16::try_from(starts.len() - 1).expect("few buckets"));
        }
        (Self { key_form, bucket_of, starts }, ends)
    }

    /// Chooses the form with the fewest bytes that distinguish the keys of one bucket. `ends` are the ends of the
    /// buckets' sampled digits.
    fn choose_stored_form(&mut self, ends: &[usize], keys: &[u64]) {
        let KeyForm::Packed { packer, shift, form } = &mut self.key_form else { return };
        let (all, items) = (self.bucket_of.len(), keys.len());
        let are_absent = |missing: usize| missing == 0 || missing * items / all > MIN_EXPECTED_ITEMS;
        let least = keys.iter().min().map_or(0, |key| digit_of(key >> *shift));
        if are_absent(least) {
            self.starts[0] = least;
            self.bucket_of[..least].fill(NO_BUCKET);
        }
        let next = |bucket: usize| self.starts.get(bucket + 1).copied().unwrap_or(all);
        let digits_of = |bits: u32| 1usize.checked_shl(bits).unwrap_or(usize::MAX);
        let is_enough = |digits: usize| {
            (0..self.starts.len()).all(|bucket| {
                let end = self.starts[bucket].saturating_add(digits);
                ends[bucket] <= end && are_absent(next(bucket).saturating_sub(end))
            })
        };
        let spread_bits = (0..all.ilog2()).find(|bits| is_enough(digits_of(*bits))).unwrap_or(all.ilog2());
        let bytes = ((*shift + spread_bits).div_ceil(u8::BITS)).clamp(1, 8);
        let codec = DeltaCodec::new(packer, keys, *shift, spread_bits, self.starts.len(), bytes);
        let suffix = || StoredForm::Suffix(Suffix::new(bytes));
        *form = codec.map_or_else(suffix, StoredForm::Deltas);
        let digits = digits_of(if codec.is_some() { spread_bits } else { u8::BITS * bytes - *shift });
        for bucket in 0..self.starts.len() {
            let end = self.starts[bucket].saturating_add(digits);
            self.bucket_of[end.min(next(bucket))..next(bucket)].fill(NO_BUCKET);
        }
    }

    /// Returns the candidate with the fewest bits that makes enough buckets.
    fn fewest_bits<T>(all: [(Self, T); DIGIT_BITS.len()], buckets: usize) -> Option<(Self, T)> {
        let chosen =
            all.iter().position(|(partitioner, _)| partitioner.len() >= buckets / 2).unwrap_or(DIGIT_BITS.len() - 1);
        all.into_iter().nth(chosen).filter(|(partitioner, _)| partitioner.len() >= MIN_BUCKETS / 2)
    }

    /// Returns the number of buckets.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn key_form(&self) -> &KeyForm {
        &self.key_form
    }

    /// Returns the packer of items that are stored as packed keys.
    pub fn packer(&self) -> Option<&KeyPacker> {
        match &self.key_form {
            KeyForm::Packed { packer, .. } => Some(packer),
            KeyForm::Raw(_) => None,
        }
    }

    /// Returns the stored form of packed keys.
    pub fn stored_form(&self) -> Option<&StoredForm> {
        match &self.key_form {
            KeyForm::Packed { form, .. } => Some(form),
            KeyForm::Raw(_) => None,
        }
    }

    /// Decodes the `count` packed keys of a bucket into `keys`. Each of `writers` is one writer's bytes, padded with
    /// eight more. Returns whether the result is sorted.
    pub fn decode_keys(&self, bucket: usize, writers: &[Vec<u8>], count: usize, keys: &mut Vec<u64>) -> bool {
        let KeyForm::Packed { shift, form, .. } = &self.key_form else { return false };
        let first = (self.starts[bucket] as u64) << shift;
        match form {
            StoredForm::Deltas(codec) => {
                keys.resize(count, 0);
                codec.decode(writers, first, keys)
            }
            StoredForm::Suffix(suffix) => {
                keys.clear();
                keys.reserve(count);
                writers.iter().for_each(|bytes| suffix.decode(bytes, first, keys));
                false
            }
        }
    }

    /// Returns the bucket of a packed key. A key without a bucket gets an index that no bucket has.
    #[inline]
    pub fn bucket_of_packed(&self, key: u64, shift: u32) -> usize {
        self.bucket_of[digit_of(key >> (shift & 63))].into()
    }

    /// Returns the bucket of an item with this prefix, or `None` if the prefix has unexpected bits.
    #[inline]
    pub fn bucket_of_prefix(&self, prefix: u128, selector: &BitSelector) -> Option<usize> {
        let is_known = (prefix ^ selector.first) & selector.same == 0;
        is_known.then(|| self.bucket_of[selector.digit_of(prefix)].into())
    }

    /// Returns the splitter: a key that separates the items of a bucket from those of the buckets before it.
    pub fn splitter(&self, bucket: usize) -> Vec<u8> {
        let start = self.starts[bucket];
        let prefix = match &self.key_form {
            KeyForm::Packed { packer, shift, .. } => key_packer::prefix_bytes(packer.unpack((start as u64) << shift).0),
            KeyForm::Raw(selector) => selector.prefix_with_digit(start).to_be_bytes(),
        };
        let len = prefix.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        if bucket == 0 { Vec::new() } else { prefix[..len].to_vec() }
    }
}

impl BitSelector {
    /// Selects the topmost `bits` of the bits that differ.
    fn new(bits: u32, first: u128, differ: u128, shift: u32) -> Self {
        let digit = Digit::topmost(low_word(differ >> shift), bits);
        let reach = u128::MAX << 64 << shift | u128::from(digit.mask_upwards()) << shift;
        Self { first, same: reach & !differ, shift, digit }
    }

    #[inline]
    fn digit_of(&self, prefix: u128) -> usize {
        self.digit.of_word::<{ Digit::MAX_FIELDS }>(low_word(prefix >> self.shift))
    }

    /// Returns the least prefix with this digit.
    fn prefix_with_digit(&self, digit: usize) -> u128 {
        self.first & self.same | u128::from(self.digit.scatter(digit)) << self.shift
    }
}

#[inline]
fn digit_of(bits: u64) -> usize {
    usize::try_from(bits).expect("a digit has few bits")
}

/// Returns the most buckets for a memory of this size.
pub(in crate::sort) fn buckets_in(memory_bytes: usize) -> usize {
    MAX_BUCKETS.min(memory_bytes / BYTES_PER_BUCKET)
}

/// Returns the lower half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is not wanted")]
fn low_word(bits: u128) -> u64 {
    bits as u64
}

/// Returns the first 16 bytes of an item, padded with zeros.
#[inline]
pub(in crate::sort) fn prefix_of(item: &[u8]) -> u128 {
    match item.first_chunk() {
        Some(first) => u128::from_be_bytes(*first),
        None => {
            let mut first = [0; 16];
            first[..item.len()].copy_from_slice(item);
            u128::from_be_bytes(first)
        }
    }
}
