//! Random numbers that are a pure function of seed, table, column and row number.
//!
//! No state is carried from row to row, so any cell can be computed alone, by any thread, in any order.
//!
//! ```text
//! names and seed --FNV-1a, mix--> (offset, key)           once a column
//! row --Weyl step from offset, mix with key--> u64        once a cell, about a nanosecond
//!                                      |---> Fraction: two rows share a word where 32 bits are enough
//!                                      '---> Draws: more words for a cell that needs several
//! ```
//!
//! Within a column the function from row number to word is a bijection: two multiplications by odd constants, three
//! shifts folded in, a key folded in between (the constants are those of Evensen's *moremur* finaliser). So a value
//! that shows its whole word (`uuid`, `hex(16)`, `blob(8, n)`) never repeats within a column. Each column has its own
//! key, so that no column is a shifted copy of another.
//!
//! **Frozen.** A change of any value of any generator is a new [`ALGORITHM_VERSION`]; the golden tests of this crate
//! pin them.

use std::ops::Range;

/// Version of everything that decides which value a cell gets. A change of any value is a new version.
pub const ALGORITHM_VERSION: u32 = 1;

/// Largest number of choices that is drawn from a word shared by two rows. The second row still has at least 44
/// random bits, so that the most and the least frequent value differ by at most one part in 10^7. 10^12 rows do not
/// show that.
pub const NARROW: u64 = 1 << 20;

const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
const MULTIPLIER_1: u64 = 0x3C79_AC49_2BA7_B653;
const MULTIPLIER_2: u64 = 0x1C69_B3F7_4AC4_AE35;
const FNV_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;

#[inline(always)]
fn mix(mut word: u64, key: u64) -> u64 {
    word ^= word >> 27;
    word = word.wrapping_mul(MULTIPLIER_1) ^ key;
    word ^= word >> 33;
    word = word.wrapping_mul(MULTIPLIER_2);
    word ^ (word >> 27)
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low half is intended")]
fn low_half(product: u128) -> u64 {
    product as u64
}

/// Numbers of rows of a table that are generated together.
#[derive(Clone, Debug)]
pub enum Rows<'a> {
    /// Consecutive rows.
    Range(Range<u64>),
    /// Rows in any order: the ones that the rows of another table refer to.
    List(&'a [u64]),
}

impl From<Range<u64>> for Rows<'_> {
    fn from(range: Range<u64>) -> Self {
        Self::Range(range)
    }
}

impl Rows<'_> {
    /// Returns the number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Range(range) => usize::try_from(range.end - range.start).expect("a block of rows"),
            Self::List(list) => list.len(),
        }
    }

    /// Returns some of the rows, given by their positions.
    #[must_use]
    pub fn part(&self, places: Range<usize>) -> Self {
        match self {
            Self::Range(range) => Self::Range(range.start + places.start as u64..range.start + places.end as u64),
            Self::List(list) => Self::List(&list[places]),
        }
    }

    /// Calls `f` for each row.
    #[inline(always)]
    pub fn for_each(&self, f: impl FnMut(u64)) {
        match self {
            Self::Range(range) => range.clone().for_each(f),
            Self::List(list) => list.iter().copied().for_each(f),
        }
    }

    /// Calls `f` for each row and its slot.
    #[inline(always)]
    pub fn zip<T>(&self, slots: impl Iterator<Item = T>, mut f: impl FnMut(u64, T)) {
        match self {
            Self::Range(range) => slots.zip(range.clone()).for_each(|(slot, row)| f(row, slot)),
            Self::List(list) => slots.zip(*list).for_each(|(slot, &row)| f(row, slot)),
        }
    }

    /// Appends the result of `f` for each row.
    #[inline(always)]
    pub fn append_to<T>(&self, out: &mut Vec<T>, f: impl FnMut(u64) -> T) {
        match self {
            Self::Range(range) => out.extend(range.clone().map(f)),
            Self::List(list) => out.extend(list.iter().copied().map(f)),
        }
    }
}

/// 64 random bits, read as a fraction of 0 to 1. A number below `n` is the whole part of `n` times the fraction, and
/// the remainder is a fraction again. So consecutive numbers share the bits as they need them: taking 1000 and 1000
/// again equals taking a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(pub u64);

impl Fraction {
    /// Takes a number in `0..n`; `n` must not be 0.
    #[inline(always)]
    pub fn take(&mut self, n: u64) -> u64 {
        let product = u128::from(self.0) * u128::from(n);
        self.0 = low_half(product);
        (product >> 64) as u64
    }

    /// Takes 32 bits.
    #[inline(always)]
    pub fn take_u32(&mut self) -> u32 {
        let bits = (self.0 >> 32) as u32;
        self.0 <<= 32;
        bits
    }
}

/// The random numbers of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRandom {
    offset: u64,
    key: u64,
}

impl CellRandom {
    /// Derives the random numbers of a column. ASCII case of the names does not matter, as it does not to SQLite.
    pub fn new(seed: u64, table: &str, column: &str) -> Self {
        let hash = hash_name(FNV_BASIS ^ mix(seed.wrapping_add(WEYL), 0), table);
        let hash = hash_name(hash, column);
        Self { offset: mix(hash, WEYL), key: mix(hash.wrapping_add(WEYL), !WEYL) }
    }

    /// Derives uncorrelated random numbers for another purpose in the same cells, such as NULL flags beside values.
    #[must_use]
    pub fn fork(&self, purpose: u64) -> Self {
        let step = purpose.wrapping_add(1).wrapping_mul(WEYL);
        Self {
            offset: mix(self.offset.wrapping_add(step), self.key),
            key: mix(self.key.wrapping_add(step), !self.offset),
        }
    }

    /// Returns 64 random bits for this row. Different rows of a column always get different words.
    #[inline(always)]
    pub fn u64(&self, row: u64) -> u64 {
        mix(self.offset.wrapping_add(row.wrapping_mul(WEYL)), self.key)
    }

    /// Returns the value that [`fill_shared`](Self::fill_shared) gives a single row.
    #[inline]
    pub fn shared<T>(&self, row: u64, take: impl Fn(&mut Fraction) -> T) -> T {
        let mut fraction = Fraction(self.u64(row >> 1));
        let even = take(&mut fraction);
        if row & 1 == 0 { even } else { take(&mut fraction) }
    }

    /// Returns the stream of words of this row; the first one is [`u64`](Self::u64).
    #[inline(always)]
    pub fn stream(&self, row: u64) -> CellStream {
        let first = self.u64(row);
        CellStream { next: first, state: first, key: !self.key }
    }

    /// Sets each slot to `make` of its row's [`u64`](Self::u64).
    #[inline(always)]
    pub fn fill_u64<T>(&self, rows: &Rows<'_>, out: &mut [T], make: impl Fn(u64) -> T) {
        match rows {
            Rows::Range(range) => self.fill_u64_from(range.start, out, make),
            Rows::List(_) => rows.zip(out.iter_mut(), |row, slot| *slot = make(self.u64(row))),
        }
    }

    #[inline(always)]
    fn fill_u64_from<T>(&self, first_row: u64, out: &mut [T], make: impl Fn(u64) -> T) {
        let mut weyl = self.offset.wrapping_add(first_row.wrapping_mul(WEYL));
        for slot in out {
            *slot = make(mix(weyl, self.key));
            weyl = weyl.wrapping_add(WEYL);
        }
    }

    /// Sets each slot to the result of `take` on a word that two rows share; `take` uses 32 bits at most. The even
    /// row takes first.
    #[inline(always)]
    pub fn fill_shared<T>(&self, rows: &Rows<'_>, out: &mut [T], take: impl Fn(&mut Fraction) -> T) {
        match rows {
            Rows::Range(range) => self.fill_shared_from(range.start, out, take),
            Rows::List(_) => rows.zip(out.iter_mut(), |row, slot| *slot = self.shared(row, &take)),
        }
    }

    #[inline(always)]
    fn fill_shared_from<T>(&self, first_row: u64, out: &mut [T], take: impl Fn(&mut Fraction) -> T) {
        let single = usize::from(first_row & 1 == 1).min(out.len());
        let (single, rest) = out.split_at_mut(single);
        for slot in single {
            *slot = self.shared(first_row, &take);
        }
        let (pairs, last) = rest.as_chunks_mut::<2>();
        let first_pair = first_row.div_ceil(2);
        let last_row = (first_pair.wrapping_add(pairs.len() as u64)) << 1;
        self.fill_u64_from(first_pair, pairs, |word| {
            let mut fraction = Fraction(word);
            let even = take(&mut fraction);
            [even, take(&mut fraction)]
        });
        for slot in last {
            *slot = self.shared(last_row, &take);
        }
    }

    /// Sets each slot to `make` of a number in `0..n`; `n` must not be 0. Up to [`NARROW`] two rows share a word.
    #[inline(always)]
    pub fn fill_below<T>(&self, rows: &Rows<'_>, out: &mut [T], n: u64, make: impl Fn(u64) -> T) {
        if n > NARROW {
            self.fill_u64(rows, out, |word| make(Fraction(word).take(n)));
            return;
        }
        match rows {
            Rows::Range(range) => self.fill_shared_from(range.start, out, |fraction| make(fraction.take(n))),
            // A lone row computes only the number, not the value, of the other row of its word.
            Rows::List(_) => {
                let number = |row| self.shared(row, |fraction| fraction.take(n));
                rows.zip(out.iter_mut(), |row, slot| *slot = make(number(row)));
            }
        }
    }
}

/// Hashes the name in lower case by FNV-1a, and then a byte that no UTF-8 text contains, so that
/// `ab, c` is not `a, bc`.
fn hash_name(hash: u64, name: &str) -> u64 {
    name.bytes()
        .map(|byte| byte.to_ascii_lowercase())
        .chain([0xFF])
        .fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

/// The words of one cell, one after another.
#[derive(Clone, Copy, Debug)]
pub struct CellStream {
    next: u64,
    state: u64,
    key: u64,
}

impl CellStream {
    /// Returns the next 64 random bits.
    #[inline(always)]
    pub fn u64(&mut self) -> u64 {
        let word = self.next;
        self.state = self.state.wrapping_add(WEYL);
        self.next = mix(self.state, self.key);
        word
    }

    /// Returns the next number in `0..n`; `n` must not be 0.
    #[inline(always)]
    pub fn below(&mut self, n: u64) -> u64 {
        Fraction(self.u64()).take(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(column: &str) -> CellRandom {
        CellRandom::new(42, "user", column)
    }

    /// Returns the chi-square statistic of `counts` against equal shares.
    fn chi_square(counts: &[u64]) -> f64 {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
    }

    /// Asserts a chi-square statistic of 255 degrees of freedom, of which 330.5 is exceeded once in a thousand runs and
    /// 180 undercut once in five thousand.
    fn assert_uniform_bytes(what: &str, bytes: impl Iterator<Item = u64>) {
        let mut counts = [0; 256];
        bytes.for_each(|byte| counts[(byte & 255) as usize] += 1);
        let chi = chi_square(&counts);
        assert!((180.0..330.5).contains(&chi), "{what}: chi-square {chi}");
    }

    #[test]
    fn version_1_is_frozen() {
        let random = user("area");
        assert_eq!(ALGORITHM_VERSION, 1);
        assert_eq!(random.u64(0), GOLDEN[0]);
        assert_eq!(random.u64(1_000_000_007), GOLDEN[1]);
        assert_eq!(random.fork(1).u64(0), GOLDEN[2]);
        let mut stream = random.stream(7);
        assert_eq!(stream.u64(), random.u64(7));
        assert_eq!(stream.u64(), GOLDEN[3]);
    }

    const GOLDEN: [u64; 4] =
        [0x4FA0_2DCA_E1DA_7E5D, 0x83AC_59C9_A4B0_76B3, 0xB0BC_A86F_8D8E_687E, 0x5277_D4B2_9485_7737];

    #[test]
    fn names_and_seed_decide_and_case_does_not() {
        assert_eq!(CellRandom::new(1, "User", "ID"), CellRandom::new(1, "user", "id"));
        let variants = [
            CellRandom::new(1, "ab", "c"),
            CellRandom::new(1, "a", "bc"),
            CellRandom::new(2, "ab", "c"),
            CellRandom::new(1, "c", "ab"),
            CellRandom::new(1, "ab", "c").fork(0),
            CellRandom::new(1, "ab", "c").fork(1),
        ];
        for (index, one) in variants.iter().enumerate() {
            assert!(variants[index + 1..].iter().all(|other| one.u64(0) != other.u64(0)));
        }
    }

    #[test]
    fn one_bit_of_the_row_flips_half_of_the_word() {
        let random = user("age");
        for bit in 0..40 {
            let flips = (0..4096_u64)
                .map(|row| u64::from((random.u64(row) ^ random.u64(row ^ (1 << bit))).count_ones()))
                .sum::<u64>() as f64
                / 4096.0;
            // The mean of 2048 pairs' binomials (64, 1/2) has a standard deviation of 0.09.
            assert!((31.6..32.4).contains(&flips), "row bit {bit} flips {flips} bits");
        }
    }

    #[test]
    fn every_word_bit_depends_evenly_on_every_row_bit() {
        let random = user("x");
        for bit in 0..32 {
            let mut counts = [0_u32; 64];
            for row in 0..8192_u64 {
                let flipped = random.u64(row) ^ random.u64(row ^ (1 << bit));
                (0..64).for_each(|out| counts[out] += (flipped >> out & 1) as u32);
            }
            // 4096 pairs, each counted twice: standard deviation 64; the worst of 2048 stays within 5 of them.
            assert!(counts.iter().all(|&n| n.abs_diff(4096) < 320), "row bit {bit}: {counts:?}");
        }
    }

    #[test]
    fn bytes_are_uniform_low_high_and_between() {
        let random = user("y");
        for shift in [0, 8, 24, 32, 48, 56] {
            assert_uniform_bytes("bytes", (0..200_000).map(|row| random.u64(row) >> shift));
            assert_uniform_bytes("far", (0..200_000).map(|row| random.u64(row << 33) >> shift));
        }
        for n in [256, 256 * 1000] {
            let shared = |row| random.shared(row, |fraction| fraction.take(n));
            assert_uniform_bytes("shared", (0..200_000).map(|row| shared(row) * 256 / n));
        }
    }

    #[test]
    fn neighbours_in_row_column_draw_and_fork_are_independent() {
        let (one, other) = (user("y1"), user("y2"));
        let nulls = one.fork(1);
        let pair = |a: u64, b: u64| (a >> 60) << 4 | b >> 60;
        assert_uniform_bytes("rows", (0..200_000).map(|r| pair(one.u64(r), one.u64(r + 1))));
        assert_uniform_bytes("columns", (0..200_000).map(|r| pair(one.u64(r), other.u64(r))));
        assert_uniform_bytes("fork", (0..200_000).map(|r| pair(one.u64(r), nulls.u64(r))));
        let shared = |r: u64| one.shared(r, |fraction| fraction.take(1_000_000)) * 16 / 1_000_000;
        assert_uniform_bytes("shared", (0..200_000).map(|r| shared(2 * r) << 4 | shared(2 * r + 1)));
        let draws = |r: u64| {
            let mut stream = one.stream(r);
            pair(stream.u64(), stream.u64())
        };
        assert_uniform_bytes("draws", (0..200_000).map(draws));
    }

    #[test]
    fn fractions_are_taken_apart_without_loss() {
        let random = user("w");
        for row in 0..1000 {
            let (mut once, mut twice) = (Fraction(random.u64(row)), Fraction(random.u64(row)));
            assert_eq!(once.take(1_000_000), twice.take(1000) * 1000 + twice.take(1000));
            assert_eq!(once, twice);
            assert_eq!(once.take(1 << 32), u64::from(twice.take_u32()));
            assert_eq!(once, twice);
        }
    }

    #[test]
    fn slices_hold_what_single_rows_give() {
        let random = user("z");
        for first in [0, 1, 6, 7, u64::from(u32::MAX)] {
            for len in 0..9 {
                let rows = || first..first + len as u64;
                let mut out = vec![0; len];
                random.fill_shared(&rows().into(), &mut out, Fraction::take_u32);
                let halves = |row: u64| (random.u64(row / 2) >> (32 * (1 - row % 2)) & 0xFFFF_FFFF) as u32;
                assert_eq!(out, rows().map(halves).collect::<Vec<_>>());
                for n in [1, 3, NARROW, NARROW + 1] {
                    let mut out = vec![0; len];
                    random.fill_below(&rows().into(), &mut out, n, |value| value);
                    let wide = |row| Fraction(random.u64(row)).take(n);
                    let shared = |row| random.shared(row, |fraction| fraction.take(n));
                    let single = |row| if n <= NARROW { shared(row) } else { wide(row) };
                    assert_eq!(out, rows().map(single).collect::<Vec<_>>());
                    assert!(out.iter().all(|&value| value < n));
                }
            }
        }
    }
}
