//! Mergeable summaries of streams in bounded memory: sketch, sample and counts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes an integer (SplitMix64): every bit of the result depends on every bit of the number.
pub(crate) fn hash_int(value: u64) -> u64 {
    let mut word = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Hashes a byte string.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| hash_int(hash ^ u64::from_be_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hash_int(hash ^ u64::from_be_bytes(last))
}

/// HyperLogLog (Flajolet et al., 2007): estimates the number of distinct hashes, mostly within 2 percent.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    /// For each value of a hash's first bits, the largest number of zeros after them, plus one.
    registers: Box<[u8; Self::REGISTERS]>,
}

impl Distinct {
    const BITS: u32 = 12;
    const REGISTERS: usize = 1 << Self::BITS;

    pub fn new() -> Self {
        Self { registers: Box::new([0; Self::REGISTERS]) }
    }

    pub fn add(&mut self, hash: u64) {
        let register = usize::try_from(hash >> (64 - Self::BITS)).expect("twelve bits");
        let zeros = (hash << Self::BITS | 1 << (Self::BITS - 1)).leading_zeros() + 1;
        let zeros = u8::try_from(zeros).expect("53 at most");
        self.registers[register] = self.registers[register].max(zeros);
    }

    pub fn merge(&mut self, other: &Self) {
        for (one, other) in self.registers.iter_mut().zip(&*other.registers) {
            *one = (*one).max(*other);
        }
    }

    pub fn estimate(&self) -> u64 {
        let count = Self::REGISTERS as f64;
        let sum: f64 = self.registers.iter().map(|&zeros| 2.0_f64.powi(-i32::from(zeros))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let empty = self.registers.iter().filter(|&&zeros| zeros == 0).count();
        let estimate = if raw <= 2.5 * count && empty > 0 { count * (count / empty as f64).ln() } else { raw };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, far below 2^64")]
        let estimate = estimate.round() as u64;
        estimate
    }
}

/// Bottom-k sample: the values of the rows with the smallest hashes, a random sample without repetition.
#[derive(Clone, Debug)]
pub(crate) struct Sample<T> {
    size: usize,
    held: Vec<(u64, T)>,
    /// Rows with larger hashes are not in the sample.
    below: u64,
}

impl<T> Sample<T> {
    pub fn new(size: usize) -> Self {
        Self { size, held: Vec::new(), below: u64::MAX }
    }

    /// Adds the result of `value` if the row belongs to the sample.
    pub fn add(&mut self, row_hash: u64, value: impl FnOnce() -> T) {
        if row_hash < self.below {
            self.held.push((row_hash, value()));
            if self.held.len() >= 2 * self.size {
                self.cut();
            }
        }
    }

    pub fn merge(&mut self, other: Self) {
        let below = self.below;
        self.held.extend(other.held.into_iter().filter(|(hash, _)| *hash < below));
        self.cut();
    }

    fn cut(&mut self) {
        if self.held.len() > self.size {
            self.held.select_nth_unstable_by_key(self.size, |(hash, _)| *hash);
            self.below = self.held[self.size].0;
            self.held.truncate(self.size);
        }
    }

    /// Returns the sample, ordered by hash.
    pub fn values(mut self) -> Vec<T> {
        self.cut();
        self.held.sort_unstable_by_key(|(hash, _)| *hash);
        self.held.into_iter().map(|(_, value)| value).collect()
    }
}

/// Number of rows of each key: of all keys while they are few, else of the keys with the smallest hashes. These are a
/// random sample of keys, each with all of its rows.
#[derive(Clone, Debug)]
pub(crate) struct KeyCounts {
    counts: HashMap<u64, u64, BuildHasherDefault<Hashed>>,
    /// Most keys in the sample.
    most: usize,
    /// Number of leading zeros in the hash of a key in the sample.
    level: u32,
}

/// The hasher of hashes: these are random already.
#[derive(Clone, Copy, Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_bytes(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        // The leading bits of sampled hashes are all zero, and these choose the slot's tag.
        self.0 = hash.rotate_left(32) ^ hash;
    }
}

/// The hasher of numbers and texts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_int(self.0 ^ hash_bytes(bytes));
    }

    fn write_u8(&mut self, byte: u8) {
        // Behind a text, whose end it marks.
        self.0 ^= u64::from(byte);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = hash_int(self.0 ^ number);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }
}

impl KeyCounts {
    pub fn new() -> Self {
        Self::with_most(1 << 15)
    }

    pub fn with_most(most: usize) -> Self {
        Self { counts: HashMap::default(), most, level: 0 }
    }

    pub fn add(&mut self, hash: u64, rows: u64) {
        if hash.leading_zeros() >= self.level {
            *self.counts.entry(hash).or_default() += rows;
            self.cut();
        }
    }

    pub fn merge(&mut self, other: Self) {
        if other.level > self.level {
            self.level = other.level;
            self.counts.retain(|hash, _| hash.leading_zeros() >= other.level);
        }
        other.counts.into_iter().for_each(|(hash, rows)| self.add(hash, rows));
    }

    fn cut(&mut self) {
        while self.counts.len() > self.most {
            self.level += 1;
            self.counts.retain(|hash, _| hash.leading_zeros() >= self.level);
        }
    }

    /// Returns the number of keys that each key of the sample represents.
    pub fn weight(&self) -> u64 {
        1 << self.level
    }

    /// Returns the numbers of rows of the keys in the sample.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.counts.values().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_values_are_counted_about() {
        for count in [0, 10, 1000, 20_000, 1_000_000_u64] {
            let (mut one, mut other) = (Distinct::new(), Distinct::new());
            for value in 0..count {
                let half = if value % 2 == 0 { &mut one } else { &mut other };
                half.add(hash_int(value));
                half.add(hash_bytes(&(value / 2).to_be_bytes()));
            }
            one.merge(&other);
            let count = count + count.div_ceil(2);
            let error = one.estimate() as f64 - count as f64;
            assert!(error.abs() <= 0.06 * count as f64 + 1.0, "{} of {count}", one.estimate());
        }
    }

    #[test]
    fn a_sample_does_not_depend_on_how_it_was_gathered() {
        let gather = |rows: std::ops::Range<u64>| {
            let mut sample = Sample::new(100);
            rows.for_each(|row| sample.add(hash_int(row), || row));
            sample
        };
        let whole = gather(0..10_000).values();
        assert_eq!(whole.len(), 100);
        let mut parts = gather(7000..10_000);
        parts.merge(gather(0..3));
        parts.merge(gather(3..7000));
        assert_eq!(parts.values(), whole);
        let mean = whole.iter().sum::<u64>() / 100;
        assert!((3500..6500).contains(&mean), "{mean}");
    }

    #[test]
    fn keys_are_counted_whole_however_many_there_are() {
        let count = |rows: std::ops::Range<u64>| {
            let mut counts = KeyCounts::new();
            rows.for_each(|row| counts.add(hash_int(row % 200_000), 1));
            counts
        };
        let whole = count(0..600_000);
        let mut parts = count(500_000..600_000);
        parts.merge(count(0..1000));
        parts.merge(count(1000..500_000));
        assert_eq!((&whole.counts, whole.level), (&parts.counts, parts.level));
        assert!(whole.rows().all(|rows| rows == 3) && whole.weight() == 8);
        let keys = whole.rows().count() as u64 * whole.weight();
        assert!(keys.abs_diff(200_000) < 4000, "{keys}");
    }
}
