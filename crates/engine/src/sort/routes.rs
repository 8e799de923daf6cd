//! To which bucket items go.
//!
//! Routes are made of the first items, by whoever has enough of them first, and hold for all writers of a sort. They know
//! the bits that varied among these, and how often each combination of the topmost ones came. An item that differs in
//! other bits has no bucket: so a sample that says nothing about what comes costs a little time and no memory. Zeros are
//! thought behind items shorter than what routes look at: then buckets follow each other as memcmp has it.

use super::packing::{self, Packing, WORD, halves};
use super::radix::Digit;
use super::run::FillRun;
use super::steps::Steps;
use std::convert::Infallible;

/// Their last blocks, one a bucket, are to be written to by turns: as many as the caches of memory and addresses hold.
const MAX_BUCKETS: usize = 1024;
const MIN_BUCKETS: usize = 64;

/// A memory has at least so many bytes for each bucket.
const BYTES_PER_BUCKET: usize = 64 << 10;

/// How many bits tell the bucket: the fewest that make enough buckets, because looking these up is waited for.
const ROUTE_BITS: [u32; 3] = [12, 14, 16];

/// Bytes of the first items.
const SAMPLE_BYTES: usize = 1 << 20;

/// What no item is routed to.
const NO_BUCKET: u16 = u16::MAX;

/// Digits that so many items of the sample should have had, and none had, do not come.
const EVIDENCE: usize = 32;

/// To which bucket an item goes, and what it is there.
#[derive(Debug)]
pub(super) struct Routes {
    form: Form,
    /// By their digits; [`NO_BUCKET`] for some that no item had.
    bucket_of: Vec<u16>,
    /// The first digit of each bucket.
    starts: Vec<usize>,
}

/// The last bytes of a word, as many as tell those of one bucket apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastBytes {
    pub count: usize,
    /// The bits of a word in front of them.
    bits_before: u32,
}

impl LastBytes {
    fn new(count: u32) -> Self {
        Self { count: count as usize, bits_before: u64::BITS - u8::BITS * count }
    }

    /// The last bytes of a word, and zeros behind them.
    #[inline]
    pub fn of(self, word: u64) -> [u8; WORD] {
        (word << self.bits_before).to_be_bytes()
    }

    /// Appends the words with these last bytes, behind which eight more stand, to `words`: each is the next one from
    /// `first` on.
    fn read(self, bytes: &[u8], first: u64, words: &mut Vec<u64>) {
        let word = |index| {
            let last_bytes = bytes[index * self.count..].first_chunk().expect("eight more bytes");
            let behind_first = (u64::from_be_bytes(*last_bytes) >> self.bits_before).wrapping_sub(first);
            first + (behind_first << self.bits_before >> self.bits_before)
        };
        words.extend((0..(bytes.len() - WORD) / self.count).map(word));
    }
}

/// What a bucket has of its words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    LastBytes(LastBytes),
    Steps(Steps),
}

impl Kept {
    /// Bytes of most words.
    pub fn bytes(&self) -> usize {
        match self {
            Self::LastBytes(last) => last.count,
            Self::Steps(steps) => steps.bytes,
        }
    }
}

/// How items stand in buckets, and what bits of them tell which one.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// As words, of which a bucket has a part: by their first bits, without so many behind them.
    Words { packing: Packing, behind: u32, kept: Kept },
    /// As they are.
    Items(Selector),
}

/// Bits of items' heads that tell the bucket.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    /// An item's first 16 bytes, and the bits of them that all items have in common.
    first: u128,
    same: u128,
    /// How far a word of 64 of these bits is from their end, and the bits of it that tell.
    shift: u32,
    digit: Digit,
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
        let buckets = buckets_in(memory_bytes);
        if let Some(packing) = Packing::new(&heads, &lens) {
            let words = heads.iter().zip(&lens).map(|(&head, &len)| packing.pack(halves(head), len));
            let words: Vec<u64> = words.map(|word| word.expect("made for these")).collect();
            let routes = |bits: u32| {
                let behind = packing.bits().saturating_sub(bits);
                let digits = words.iter().map(|word| digit_of(word >> behind));
                let form = Form::Words { packing: packing.clone(), behind, kept: Kept::LastBytes(LastBytes::new(8)) };
                Self::of_digits(form, bits, digits, buckets)
            };
            let (mut routes, ends) = Self::best(ROUTE_BITS.map(routes), buckets)?;
            routes.shorten_words(&ends, &words);
            return Some(routes);
        }
        let differ = heads.iter().fold(0, |differ, head| differ | head ^ heads[0]);
        let shift = 64 - (differ.leading_zeros() / 8 * 8).min(64);
        let routes = |bits| {
            let selector = Selector::new(bits, heads[0], differ, shift);
            let digits = heads.iter().map(|&head| selector.digit_of(head));
            Self::of_digits(Form::Items(selector.clone()), selector.digit.bits, digits, buckets)
        };
        Self::best(ROUTE_BITS.map(routes), buckets).map(|(routes, _)| routes)
    }

    /// The routes that so many bits tell, of which the sample has these; and where the digits end that it has of each bucket.
    fn of_digits(
        form: Form,
        bits: u32,
        digits: impl ExactSizeIterator<Item = usize>,
        buckets: usize,
    ) -> (Self, Vec<usize>) {
        let share = digits.len().div_ceil(buckets);
        let mut counts = vec![0usize; 1 << bits];
        digits.for_each(|digit| counts[digit] += 1);
        let (mut bucket_of, mut starts, mut ends, mut count) = (Vec::with_capacity(counts.len()), vec![0], vec![0], 0);
        for (digit, more) in counts.into_iter().enumerate() {
            // It begins with what there is: the fewer digits it has, the less its words must tell.
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
        (Self { form, bucket_of, starts }, ends)
    }

    /// Has words take as few bytes as tell those of one bucket apart; `ends` are where the digits end that the words of the
    /// sample had.
    fn shorten_words(&mut self, ends: &[usize], words: &[u64]) {
        let Form::Words { packing, behind, kept } = &mut self.form else { return };
        let (all, items) = (self.bucket_of.len(), words.len());
        let do_not_come = |missing: usize| missing == 0 || missing * items / all > EVIDENCE;
        let least = words.iter().min().map_or(0, |word| digit_of(word >> *behind));
        if do_not_come(least) {
            self.starts[0] = least;
            self.bucket_of[..least].fill(NO_BUCKET);
        }
        let next = |bucket: usize| self.starts.get(bucket + 1).copied().unwrap_or(all);
        let digits_of = |bits: u32| 1usize.checked_shl(bits).unwrap_or(usize::MAX);
        let is_enough = |digits: usize| {
            (0..self.starts.len()).all(|bucket| {
                let end = self.starts[bucket].saturating_add(digits);
                ends[bucket] <= end && do_not_come(next(bucket).saturating_sub(end))
            })
        };
        let spread_bits = (0..all.ilog2()).find(|bits| is_enough(digits_of(*bits))).unwrap_or(all.ilog2());
        let bytes = ((*behind + spread_bits).div_ceil(u8::BITS)).clamp(1, 8);
        let steps = Steps::new(packing, words, *behind, spread_bits, self.starts.len(), bytes);
        let last_bytes = || Kept::LastBytes(LastBytes::new(bytes));
        *kept = steps.map_or_else(last_bytes, Kept::Steps);
        let digits = digits_of(if steps.is_some() { spread_bits } else { u8::BITS * bytes - *behind });
        for bucket in 0..self.starts.len() {
            let end = self.starts[bucket].saturating_add(digits);
            self.bucket_of[end.min(next(bucket))..next(bucket)].fill(NO_BUCKET);
        }
    }

    /// Those of the fewest bits that make enough buckets, with what stands beside them.
    fn best<T>(all: [(Self, T); ROUTE_BITS.len()], buckets: usize) -> Option<(Self, T)> {
        let best = all.iter().position(|(routes, _)| routes.len() >= buckets / 2).unwrap_or(ROUTE_BITS.len() - 1);
        all.into_iter().nth(best).filter(|(routes, _)| routes.len() >= MIN_BUCKETS / 2)
    }

    /// How many buckets there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn form(&self) -> &Form {
        &self.form
    }

    /// How items are packed, where they are words in their buckets.
    pub fn packing(&self) -> Option<&Packing> {
        match &self.form {
            Form::Words { packing, .. } => Some(packing),
            Form::Items(_) => None,
        }
    }

    /// What a bucket has of a word, where items are words.
    pub fn kept(&self) -> Option<&Kept> {
        match &self.form {
            Form::Words { kept, .. } => Some(kept),
            Form::Items(_) => None,
        }
    }

    /// Puts the `count` words of a bucket in the place of `words`, where items are words; each of `writers` are the bytes
    /// that one writer has of them, and eight more. Returns whether they are in order.
    pub fn read_words(&self, bucket: usize, writers: &[Vec<u8>], count: usize, words: &mut Vec<u64>) -> bool {
        let Form::Words { behind, kept, .. } = &self.form else { return false };
        let first = (self.starts[bucket] as u64) << behind;
        match kept {
            Kept::Steps(steps) => {
                words.resize(count, 0);
                steps.read(writers, first, words)
            }
            Kept::LastBytes(last) => {
                words.clear();
                words.reserve(count);
                writers.iter().for_each(|bytes| last.read(bytes, first, words));
                false
            }
        }
    }

    /// The bucket of a word; where it has none, one that there is not.
    #[inline]
    pub fn bucket_of_word(&self, word: u64, behind: u32) -> usize {
        self.bucket_of[digit_of(word >> (behind & 63))].into()
    }

    /// The bucket of an item with this head; `None` where it has none.
    #[inline]
    pub fn bucket(&self, head: u128, selector: &Selector) -> Option<usize> {
        let is_known = (head ^ selector.first) & selector.same == 0;
        is_known.then(|| self.bucket_of[selector.digit_of(head)].into())
    }

    /// What separates the items of a bucket from those of the buckets before.
    pub fn key(&self, bucket: usize) -> Vec<u8> {
        let start = self.starts[bucket];
        let head = match &self.form {
            Form::Words { packing, behind, .. } => packing::in_bytes(packing.unpack((start as u64) << behind).0),
            Form::Items(selector) => selector.head_of(start).to_be_bytes(),
        };
        let len = head.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        if bucket == 0 { Vec::new() } else { head[..len].to_vec() }
    }
}

impl Selector {
    /// The topmost of the bits that differ, as many as are wanted.
    fn new(bits: u32, first: u128, differ: u128, shift: u32) -> Self {
        let digit = Digit::topmost(low_word(differ >> shift), bits);
        let reach = u128::MAX << 64 << shift | u128::from(digit.reach()) << shift;
        Self { first, same: reach & !differ, shift, digit }
    }

    #[inline]
    fn digit_of(&self, head: u128) -> usize {
        self.digit.of_word::<{ Digit::MAX_FIELDS }>(low_word(head >> self.shift))
    }

    /// The least head with this digit.
    fn head_of(&self, digit: usize) -> u128 {
        self.first & self.same | u128::from(self.digit.spread(digit)) << self.shift
    }
}

#[inline]
fn digit_of(bits: u64) -> usize {
    usize::try_from(bits).expect("a digit has few bits")
}

/// How many buckets there are at most, in a memory of so many bytes.
pub(super) fn buckets_in(memory_bytes: usize) -> usize {
    MAX_BUCKETS.min(memory_bytes / BYTES_PER_BUCKET)
}

/// The lower half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is not wanted")]
fn low_word(bits: u128) -> u64 {
    bits as u64
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
