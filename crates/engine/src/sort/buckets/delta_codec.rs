//! Delta coding of packed keys within a bucket: consecutive keys usually differ by a small rowid increment.
//!
//! Rows come by ascending rowid, and an index entry ends with its rowid. So of two keys that a writer puts into one
//! bucket one after the other, the second has a somewhat greater rowid. The difference is about the number of
//! buckets.
//!
//! ```text
//! packed key   | bits that tell the bucket | high bits | ..... rowid ..... length |   low bits: rowid and length
//! delta                                    | high bits | rowid difference |         a few whole bytes
//! ```
//!
//! If the difference does not fit, all its bits are set as an escape, and the complete key follows. So descending or
//! scattered rowids take more bytes than without deltas. The order is right in any case.
//!
//! Worked example, the bucket of `123...`: three digits and a difference of twelve bits in three bytes.
//!
//! ```text
//! '123456', rowid 70000    456 fff, and the key in eight bytes      the first key of the bucket
//! '123999', rowid 71000    999 3e8                                  1000 more
//! '123001', rowid 90000    001 fff, and the key                     19,000 more do not fit
//! ```

use super::key_packer::{KeyPacker, LENGTH_BITS, LENGTHS, PACKED_BYTES};

/// Deltas are used only if a key takes at most this share of its bytes without them.
const MAX_COST_SHARE: f64 = 0.9;

/// At most one sampled key in this many may be less than its predecessor, or of another length.
const MAX_ODD_SHARE: usize = 16;

/// Most bits of a difference, and most bits behind an item's last bit. A key that is less, or of another length, is
/// recognised by the bits that it then has above these.
const MAX_DELTA_BITS: u32 = 24;
const MAX_ITEM_SHIFT: u32 = u64::BITS - 1 - MAX_DELTA_BITS;

/// The most high digits that keys are distributed by: the write positions must fit the data cache and the TLB.
const MAX_DIGITS: u64 = 1 << 13;

/// The delta code of a bucket's keys.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) struct DeltaCodec {
    /// Bytes of a delta.
    pub bytes: usize,
    /// Mask and number of the low bits, which ascend.
    low: u64,
    low_bits: u32,
    /// The escape: all bits of a difference are set.
    escape: u64,
    /// Distance of the difference from the end of eight bytes.
    delta_shift: u32,
    /// Mask of the high bits, and their distance from the end of eight bytes.
    high_mask: u64,
    high_shift: u32,
    /// Distance of an item's last bit from the end of its key, by the key's length bits.
    item_shifts: [u32; LENGTHS],
}

impl DeltaCodec {
    /// Chooses a delta width from sampled consecutive keys. Without deltas, a key would take its last `shift +
    /// spread_bits` bits in `kept_bytes` bytes. Returns `None` if that is no larger.
    pub fn new(
        packer: &KeyPacker,
        keys: &[u64],
        shift: u32,
        spread_bits: u32,
        buckets: usize,
        kept_bytes: u32,
    ) -> Option<Self> {
        let low_bits = shift.min(packer.tail_bits());
        let high_bits = shift - low_bits + spread_bits;
        let item_shifts = packer.item_shifts().map(|bits| if bits <= MAX_ITEM_SHIFT { bits } else { LENGTH_BITS });
        let of = |bytes, delta_bits| Self::of(bytes, low_bits, delta_bits, high_bits, item_shifts);
        let any = of(kept_bytes, MAX_DELTA_BITS);
        let mut differences: Vec<u64> =
            keys.windows(2).filter_map(|pair| any.difference(pair[1], any.low(pair[0]))).collect();
        if differences.len() + keys.len() / MAX_ODD_SHARE < keys.len() - 1 {
            return None;
        }
        differences.sort_unstable();
        // The mean difference of two keys of one bucket. Sampled differences are about equal, so the median is
        // enough.
        let between = *differences.get(differences.len() / 2)? as f64 * buckets as f64;
        let cost_of = |bytes: u32| {
            let delta_bits =
                (u8::BITS * bytes).checked_sub(high_bits).filter(|bits| (1..=MAX_DELTA_BITS).contains(bits))?;
            // The share of escapes if the differences are exponentially distributed.
            let escape_share = (-(mask_of(delta_bits) as f64) / between.max(1.0)).exp();
            Some((f64::from(bytes) + PACKED_BYTES as f64 * escape_share, bytes, delta_bits))
        };
        let (cost, bytes, delta_bits) = (1..kept_bytes).filter_map(cost_of).min_by(|a, b| a.0.total_cmp(&b.0))?;
        (cost <= MAX_COST_SHARE * f64::from(kept_bytes)).then(|| of(bytes, delta_bits))
    }

    /// Makes a code of `bytes` bytes, with `delta_bits` bits for the difference of the low bits.
    fn of(bytes: u32, low_bits: u32, delta_bits: u32, high_bits: u32, item_shifts: [u32; LENGTHS]) -> Self {
        Self {
            bytes: bytes as usize,
            low: mask_of(low_bits),
            low_bits,
            escape: mask_of(delta_bits),
            delta_shift: u64::BITS - u8::BITS * bytes,
            high_mask: mask_of(high_bits),
            // Without high bits the shift does not matter.
            high_shift: (u64::BITS - high_bits) % u64::BITS,
            item_shifts,
        }
    }

    /// Returns the low bits of a key.
    #[inline(always)]
    pub fn low(&self, key: u64) -> u64 {
        key & self.low
    }

    /// Returns the difference of the low bits from those of the previous key, or `None` if it does not fit a delta.
    #[inline(always)]
    fn difference(&self, key: u64, previous: u64) -> Option<u64> {
        // A key that is less, or of another length, now has bits at the top.
        let difference = self.low(key).wrapping_sub(previous).rotate_right(self.item_shifts[length_of(key)]);
        (difference < self.escape).then_some(difference)
    }

    /// Encodes a key as the delta from a key with the low bits `previous`, in the first bytes of eight. Returns
    /// `None` if the key must be escaped.
    #[inline(always)]
    pub fn encode_delta(&self, key: u64, previous: u64) -> Option<[u8; PACKED_BYTES]> {
        self.difference(key, previous).map(|difference| self.pack(key, difference))
    }

    /// Encodes an escape and the key. Also returns their length in bytes.
    pub fn encode_escape(&self, key: u64) -> ([u8; 2 * PACKED_BYTES], usize) {
        let mut bytes = [0; 2 * PACKED_BYTES];
        bytes[..PACKED_BYTES].copy_from_slice(&self.pack(key, self.escape));
        bytes[self.bytes..self.bytes + PACKED_BYTES].copy_from_slice(&key.to_be_bytes());
        (bytes, self.bytes + PACKED_BYTES)
    }

    #[inline(always)]
    fn pack(&self, key: u64, difference: u64) -> [u8; PACKED_BYTES] {
        let high = (key >> self.low_bits & self.high_mask) << self.high_shift;
        (high | difference << self.delta_shift).to_be_bytes()
    }

    /// Decodes the difference of a delta at the front of a word. Returns `None` for an escape.
    #[inline(always)]
    fn decode_delta(&self, delta: u64) -> Option<u64> {
        let difference = delta >> self.delta_shift & self.escape;
        (difference != self.escape).then_some(difference)
    }

    /// Decodes a bucket into `keys`, which must have its length; `first` is the bucket's least possible key. Each of
    /// `writers` is one writer's delta stream, padded with eight bytes. Returns whether the result is sorted.
    ///
    /// Keys with equal high bits keep the order of their low bits. So one counting pass by the high bits sorts the
    /// bucket, if the writers' streams are merged by their low bits. Each key is written once, to its final place.
    pub fn decode(&self, writers: &[Vec<u8>], first: u64, keys: &mut [u64]) -> bool {
        let sorts = self.high_mask < MAX_DIGITS.min(keys.len() as u64);
        let digits = HighDigits { first_high: first >> self.low_bits, mask: if sorts { self.high_mask } else { 0 } };
        let mut places = self.places(writers, digits);
        let reader = |deltas| DeltaReader { deltas, at: 0, low: 0, item_shift: self.item_shifts[0] };
        let mut readers: Vec<DeltaReader<'_>> = writers.iter().map(|deltas| reader(deltas)).collect();
        let (mut ascend, mut last) = (true, 0);
        // Writers take ranges of rows in turn, so a delta to the next range usually does not fit: streams are merged
        // by whole stretches.
        while let Some((low, reader)) =
            readers.iter_mut().filter_map(|reader| Some((self.next_low(reader)?, reader))).min_by_key(|(low, _)| *low)
        {
            ascend &= last <= low;
            self.read_run(reader, digits, &mut places, keys);
            last = reader.low;
        }
        sorts && ascend
    }

    /// Returns the place of the first key of each high digit.
    fn places(&self, writers: &[Vec<u8>], digits: HighDigits) -> Vec<u32> {
        let mut places = vec![0; digits.count()];
        for deltas in writers {
            let mut at = 0;
            while at + PACKED_BYTES < deltas.len() {
                at = self.count_run(deltas, at, digits, &mut places) + PACKED_BYTES;
            }
        }
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        places
    }

    /// Counts deltas up to an escape or the end. Returns the offset behind them.
    ///
    /// The branch lets the processor speculate: without it, the next offset would depend on this delta's kind.
    fn count_run(&self, deltas: &[u8], mut at: usize, digits: HighDigits, counts: &mut [u32]) -> usize {
        while at + PACKED_BYTES < deltas.len() {
            let delta = word_at(deltas, at);
            counts[digits.of(delta >> self.high_shift)] += 1;
            at += self.bytes;
            if self.decode_delta(delta).is_none() {
                break;
            }
        }
        at
    }

    /// Returns the low bits of the next key.
    fn next_low(&self, reader: &DeltaReader<'_>) -> Option<u64> {
        let delta = reader.next()?;
        Some(match self.decode_delta(delta) {
            Some(difference) => reader.low + (difference << reader.item_shift),
            None => self.low(word_at(reader.deltas, reader.at + self.bytes)),
        })
    }

    /// Decodes a key, and the deltas behind it up to the next escape.
    fn read_run(&self, reader: &mut DeltaReader<'_>, digits: HighDigits, places: &mut [u32], keys: &mut [u64]) {
        let Self { bytes, low_bits, high_mask, high_shift, .. } = *self;
        let mut push = |delta: u64, low| {
            let high = delta >> high_shift;
            let above_first = high.wrapping_sub(digits.first_high) & high_mask;
            let place = &mut places[digits.of(high)];
            keys[*place as usize] = (digits.first_high + above_first) << low_bits | low;
            *place += 1;
        };
        let Some(delta) = reader.next() else { return };
        if self.decode_delta(delta).is_none() {
            let key = word_at(reader.deltas, reader.at + bytes);
            reader.at += bytes + PACKED_BYTES;
            (reader.low, reader.item_shift) = (self.low(key), self.item_shifts[length_of(key)]);
            push(delta, reader.low);
        }
        let DeltaReader { deltas, mut at, mut low, item_shift } = *reader;
        while at + PACKED_BYTES < deltas.len() {
            let delta = word_at(deltas, at);
            let Some(difference) = self.decode_delta(delta) else { break };
            at += bytes;
            low += difference << item_shift;
            push(delta, low);
        }
        (reader.at, reader.low) = (at, low);
    }
}

/// The digits that keys are distributed by: all high bits or none.
#[derive(Clone, Copy, Debug)]
struct HighDigits {
    /// The high bits of the bucket's least key, and all bits above them.
    first_high: u64,
    mask: u64,
}

impl HighDigits {
    fn count(self) -> usize {
        usize::try_from(self.mask).expect("a digit has few bits") + 1
    }

    /// Returns the digit of a key's high bits.
    #[inline(always)]
    fn of(self, high: u64) -> usize {
        usize::try_from(high.wrapping_sub(self.first_high) & self.mask).expect("a digit has few bits")
    }
}

/// A position in a writer's delta stream, which begins at low bits of zero. A stream read from a file has passed its
/// hash check.
#[derive(Clone, Copy, Debug)]
struct DeltaReader<'a> {
    deltas: &'a [u8],
    at: usize,
    /// Low bits of the last key, and the distance of its item's last bit from the end.
    low: u64,
    item_shift: u32,
}

impl DeltaReader<'_> {
    /// Returns the next delta at the front of a word, or `None` at the end.
    fn next(&self) -> Option<u64> {
        (self.at + PACKED_BYTES < self.deltas.len()).then(|| word_at(self.deltas, self.at))
    }
}

#[inline(always)]
fn word_at(deltas: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(*deltas[at..].first_chunk().expect("eight bytes"))
}

/// Returns the length bits of a key.
#[inline(always)]
fn length_of(key: u64) -> usize {
    usize::from(key.to_be_bytes()[PACKED_BYTES - 1]) % LENGTHS
}

/// Returns a mask of `bits` bits, fewer than 64.
fn mask_of(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        /// Any keys, with deltas of any width, decode to themselves. The result is sorted if it says so.
        #[test]
        fn keys_decode_to_themselves(
            (bytes, high_bits) in (1_u32..=4, 0_u32..=14).prop_filter("bits for a difference", |(bytes, high)| {
                (high + 1..=high + MAX_DELTA_BITS).contains(&(8 * bytes))
            }),
            low_bits in 16_u32..=48,
            item_shifts in prop::array::uniform8(LENGTH_BITS..=MAX_ITEM_SHIFT),
            prefix in 0..4_u64,
            rows in prop::collection::vec((any::<u64>(), 0..4_u8, any::<u16>()), 0..300),
            (writers, stretch) in (1..4_usize, 1..40_usize),
        ) {
            let codec = DeltaCodec::of(bytes, low_bits, 8 * bytes - high_bits, high_bits, item_shifts);
            let first = prefix << high_bits << low_bits;
            let mut low = 0_u64;
            let keys: Vec<u64> = rows.into_iter().map(|(random, kind, difference)| {
                low = match kind {
                    0 => random,
                    1 => low.wrapping_add(1 << item_shifts[length_of(low)]),
                    _ => low.wrapping_add(u64::from(difference) << item_shifts[length_of(low)]),
                } & codec.low;
                first | (random & codec.high_mask) << low_bits | low
            }).collect();
            // Each writer gets every n-th stretch of keys.
            let mut written = vec![Vec::new(); writers];
            let mut previous = vec![0; writers];
            for (at, &key) in keys.iter().enumerate() {
                let writer = at / stretch % writers;
                match codec.encode_delta(key, previous[writer]) {
                    Some(delta) => written[writer].extend_from_slice(&delta[..codec.bytes]),
                    None => {
                        let (escaped, len) = codec.encode_escape(key);
                        written[writer].extend_from_slice(&escaped[..len]);
                    }
                }
                previous[writer] = codec.low(key);
            }
            written.iter_mut().for_each(|written| written.extend([0xaa; PACKED_BYTES]));
            let mut read = vec![u64::MAX; keys.len()];
            let is_sorted = codec.decode(&written, first, &mut read);
            prop_assert!(!is_sorted || read.is_sorted());
            // A writer's next stretch is merged first if it is less; else the disorder is noticed.
            let ascend = keys.is_sorted_by_key(|key| codec.low(*key));
            prop_assert!(writers > 1 || is_sorted == (ascend && keys.len() as u64 > codec.high_mask));
            if !is_sorted {
                read.sort();
            }
            let mut expected = keys;
            expected.sort();
            prop_assert_eq!(read, expected);
        }
    }
}
