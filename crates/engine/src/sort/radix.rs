//! Stable radix sort of fixed-width byte strings, most significant bits first (Knuth 5.2.5).
//!
//! Each level finds the bits in which a group of entries differs at all, and distributes by the topmost few of them.
//! Six ASCII digits differ in 24 bits of 48: two levels sort them, where one byte a level would take six. A group
//! that arrived in order, or in reverse, costs one scan. Keys with few distinct values split once, and their groups
//! are already ordered by the rowid behind them.
//!
//! ```text
//! varying bits    0000 0000  0000 1111  0000 1111  0000 1111 ...   (tag, '0'..'9', '0'..'9', '0'..'9')
//! digit                           3333       3333        333       11 bits in three fields
//! ```
//!
//! Entries move back and forth between two arrays of equal length; `into_other` says which of them gets the result.

use std::cmp::Ordering;

/// The order of entries of `N` bytes.
pub(super) trait Order<const N: usize> {
    /// Bytes at the front of an entry that are compared directly; at least 8.
    const KEY: usize;

    fn compare(&self, a: &[u8; N], b: &[u8; N]) -> Ordering;

    /// Sorts entries whose first `KEY` bytes are equal. `scratch` has the same length.
    fn sort_ties(&self, entries: &mut [[u8; N]], scratch: &mut [[u8; N]]);
}

/// The order of entries that are items.
pub(super) struct WholeEntry;

impl<const N: usize> Order<N> for WholeEntry {
    const KEY: usize = N;

    #[inline]
    fn compare(&self, a: &[u8; N], b: &[u8; N]) -> Ordering {
        for at in WORDS[..N.div_ceil(8)].iter().map(|&at| at.min(N - 8)) {
            match word(a, at).cmp(&word(b, at)) {
                Ordering::Equal => {}
                decided => return decided,
            }
        }
        Ordering::Equal
    }

    fn sort_ties(&self, _: &mut [[u8; N]], _: &mut [[u8; N]]) {}
}

/// Offsets of the 64-bit words of a key. The last word moves forward if the key ends earlier.
const WORDS: [usize; 4] = [0, 8, 16, 24];
const MAX_KEY_BYTES: usize = 32;

/// The largest group that is sorted by comparison.
const SMALL: usize = 24;

/// Bits of a digit: with more buckets, cache and TLB misses cost more than the levels that they save. Groups that fit
/// the cache take one bit more, and leave less to comparison.
const MAX_DIGIT_BITS: u32 = 11;
const CACHED_DIGIT_BITS: u32 = 12;
const CACHED_BYTES: usize = 256 << 10;

/// Sorts `entries`. `scratch` has the same length and any content afterwards.
pub(super) fn sort<const N: usize>(order: &impl Order<N>, entries: &mut [[u8; N]], scratch: &mut [[u8; N]]) {
    assert_eq!(entries.len(), scratch.len(), "scratch room for every entry");
    sort_group(order, entries, scratch, false);
}

#[inline]
fn word<const N: usize>(entry: &[u8; N], at: usize) -> u64 {
    u64::from_be_bytes(entry[at..at + 8].try_into().expect("eight bytes"))
}

fn sort_group<const N: usize, O: Order<N>>(order: &O, data: &mut [[u8; N]], other: &mut [[u8; N]], into_other: bool) {
    if data.len() <= SMALL {
        insertion_sort(order, data);
    } else if !in_order(order, data) {
        let varying = varying_bits::<N>(data, O::KEY);
        if let Some(digit) = Digit::choose(&varying, O::KEY, data.len(), N) {
            let ends = digit.distribute(data, other, |entry| word(entry, digit.at));
            return sort_buckets(order, &ends, other, data, !into_other);
        }
        order.sort_ties(data, other);
    }
    if into_other {
        other.copy_from_slice(data);
    }
}

fn sort_buckets<const N: usize>(
    order: &impl Order<N>,
    ends: &[u32],
    data: &mut [[u8; N]],
    other: &mut [[u8; N]],
    into_other: bool,
) {
    let mut start = 0;
    for &end in ends {
        let end = end as usize;
        match end - start {
            0 => {}
            1 if into_other => other[start] = data[start],
            1 => {}
            _ => sort_group(order, &mut data[start..end], &mut other[start..end], into_other),
        }
        start = end;
    }
}

fn insertion_sort<const N: usize>(order: &impl Order<N>, data: &mut [[u8; N]]) {
    for sorted in 1..data.len() {
        let entry = data[sorted];
        let mut at = sorted;
        while at > 0 && order.compare(&entry, &data[at - 1]).is_lt() {
            data[at] = data[at - 1];
            at -= 1;
        }
        data[at] = entry;
    }
}

/// Returns whether the group is in order. Reverses a group in reverse order.
fn in_order<const N: usize>(order: &impl Order<N>, data: &mut [[u8; N]]) -> bool {
    if data.is_sorted_by(|a, b| order.compare(a, b).is_le()) {
        return true;
    }
    let reversed = data.is_sorted_by(|a, b| order.compare(a, b).is_gt());
    if reversed {
        data.reverse();
    }
    reversed
}

/// Returns the bits in which the keys differ at all.
fn varying_bits<const N: usize>(data: &[[u8; N]], key_bytes: usize) -> [u8; MAX_KEY_BYTES] {
    let words = &WORDS[..key_bytes.div_ceil(8)];
    let first = &data[0];
    let mut differ = [0u64; WORDS.len()];
    for entry in data {
        for (differ, &at) in differ.iter_mut().zip(words) {
            let at = at.min(key_bytes - 8);
            *differ |= word(entry, at) ^ word(first, at);
        }
    }
    let mut varying = [0; MAX_KEY_BYTES];
    for (differ, &at) in differ.iter().zip(words) {
        let at = at.min(key_bytes - 8);
        varying[at..at + 8].copy_from_slice(&differ.to_be_bytes());
    }
    varying
}

/// The bits of an entry that are its bucket number: fields of the 64-bit word at `at`, each shifted and masked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digit {
    at: usize,
    pub bits: u32,
    fields: usize,
    shifts: [u32; Self::MAX_FIELDS],
    masks: [u64; Self::MAX_FIELDS],
}

impl Digit {
    pub const MAX_FIELDS: usize = 4;

    /// Chooses the topmost varying bits, as many as pay off for `entries` of `width` bytes. Returns `None` if no bit
    /// varies.
    fn choose(varying: &[u8; MAX_KEY_BYTES], key_bytes: usize, entries: usize, width: usize) -> Option<Self> {
        let first = varying.iter().position(|&bits| bits != 0)?;
        let at = first.min(key_bytes - 8);
        let is_cached = entries * width <= CACHED_BYTES;
        let (least, most) = if is_cached { (1, CACHED_DIGIT_BITS) } else { (2, MAX_DIGIT_BITS) };
        let wanted = entries.ilog2().saturating_sub(least).clamp(2, most);
        Some(Self { at, ..Self::topmost(word(varying, at), wanted) })
    }

    /// Chooses up to `wanted` of the topmost bits set in `rest`.
    pub fn topmost(mut rest: u64, wanted: u32) -> Self {
        let mut digit = Self { at: 0, bits: 0, fields: 0, shifts: [0; Self::MAX_FIELDS], masks: [0; Self::MAX_FIELDS] };
        while rest != 0 && digit.bits < wanted && digit.fields < Self::MAX_FIELDS {
            let top = rest.leading_zeros();
            let run = (!(rest << top)).leading_zeros().min(wanted - digit.bits);
            let lowest = 64 - top - run;
            digit.add_field(lowest, run);
            rest &= (1u64 << lowest) - 1;
        }
        digit
    }

    /// Returns a mask from the lowest bit of the digit upwards.
    pub fn mask_upwards(&self) -> u64 {
        let lowest = self.fields.checked_sub(1).map_or(0, |last| self.shifts[last]);
        u64::MAX << lowest
    }

    /// Returns the word whose digit this is and whose other bits are zero.
    pub fn scatter(&self, digit: usize) -> u64 {
        (0..self.fields).fold(0, |word, field| word | (digit as u64 & self.masks[field]) << self.shifts[field])
    }

    /// Appends a field of `width` bits, from bit `lowest` up, below the fields so far.
    fn add_field(&mut self, lowest: u32, width: u32) {
        for field in 0..self.fields {
            self.masks[field] <<= width;
            self.shifts[field] -= width;
        }
        self.masks[self.fields] = (1u64 << width) - 1;
        self.shifts[self.fields] = lowest;
        self.fields += 1;
        self.bits += width;
    }

    #[inline]
    pub fn of_word<const FIELDS: usize>(&self, word: u64) -> usize {
        let mut digit = 0;
        for field in 0..FIELDS {
            digit |= (word >> self.shifts[field]) & self.masks[field];
        }
        usize::try_from(digit).expect("a digit has few bits")
    }

    /// Distributes `data` to buckets by the digit of each element's word, stably. Returns the end of each bucket.
    pub fn distribute<T: Copy>(&self, data: &[T], other: &mut [T], word: impl Fn(&T) -> u64) -> Vec<u32> {
        match self.fields {
            1 => self.distribute_by::<T, 1>(data, other, word),
            _ => self.distribute_by::<T, { Self::MAX_FIELDS }>(data, other, word),
        }
    }

    fn distribute_by<T: Copy, const FIELDS: usize>(
        &self,
        data: &[T],
        other: &mut [T],
        word: impl Fn(&T) -> u64,
    ) -> Vec<u32> {
        let mut places = vec![0u32; 1 << self.bits];
        for entry in data {
            places[self.of_word::<FIELDS>(word(entry))] += 1;
        }
        let mut start = 0;
        for place in &mut places {
            let count = *place;
            *place = start;
            start += count;
        }
        for entry in data {
            let place = &mut places[self.of_word::<FIELDS>(word(entry))];
            other[*place as usize] = *entry;
            *place += 1;
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const N: usize>(bytes: &[u8], prefix: u8) {
        let mut entries: Vec<[u8; N]> = bytes.windows(N).map(|window| window.try_into().unwrap()).collect();
        entries.iter_mut().for_each(|entry| entry[..3].fill(prefix));
        let mut expected = entries.clone();
        expected.sort();
        let mut scratch = vec![[0; N]; entries.len()];
        sort(&WholeEntry, &mut entries, &mut scratch);
        assert!(entries == expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sorts_like_the_standard_library(
            bytes in prop::collection::vec(any::<u8>(), 0..6000),
            mask in prop::sample::select(vec![0xff, 0x01, 0x80, 0x55, 0xa9, 0x0f]),
            prefix in any::<u8>(),
        ) {
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte & mask).collect();
            check::<12>(&bytes, prefix);
            check::<16>(&bytes, prefix);
            check::<20>(&bytes, prefix);
            check::<32>(&bytes, prefix);
        }
    }

    #[test]
    fn a_digit_takes_the_topmost_varying_bits() {
        let mut varying = [0; MAX_KEY_BYTES];
        varying[1..4].fill(0x0f);
        let digit = Digit::choose(&varying, 16, 1 << 20, 16).unwrap();
        assert_eq!((digit.bits, digit.fields), (11, 3));
        let mut entry = [0xff; 16];
        entry[1..4].copy_from_slice(&[0xf1, 0xf2, 0xf6]);
        assert_eq!(digit.of_word::<4>(word(&entry, digit.at)), 0b000_1001_0011);
    }
}
