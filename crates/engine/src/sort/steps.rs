//! Words that are not much more than those before them in what stands last in them: a bucket has the difference.
//!
//! Rows come by ascending rowid, and a rowid stands last in the item of an index entry. So of two words that a writer puts
//! in one bucket, one after the other, the second has a somewhat greater one: by as many as there are buckets, more or less.
//!
//! ```text
//! word     | bits that tell the bucket | bits in front | ..... rowid ..... length |
//! step                                 | bits in front | how many more |                  a few whole bytes
//! ```
//!
//! Where the difference does not fit, all of its bits are set in the step, and the word as a whole follows. So what comes
//! by descending or scattered rowids after all takes more than it would without steps; the order is right in any case.
//!
//! Worked example, the bucket of `123...`: three digits and twelve bits of a difference in three bytes.
//!
//! ```text
//! '123456', rowid 70000    456 fff, and the word in eight bytes     nothing comes before it
//! '123999', rowid 71000    999 3e8                                  1000 more
//! '123001', rowid 90000    001 fff, and the word                    19,000 more do not fit
//! ```

use super::packing::{LENGTH_BITS, LENGTHS, Packing, WORD};

/// A step in a bucket takes at most this part of the bytes that it would take without differences, or there are none.
const WORTH: f64 = 0.9;

/// Of so many words one may be less than the one before, or of another length.
const ODD_SHARE: usize = 16;

/// Higher differences are not told, nor how far the last bit of short items is from the end: what is less, or of another
/// length, is known by the bits that it has above these.
const MAX_MORE_BITS: u32 = 24;
const MAX_BEHIND: u32 = u64::BITS - 1 - MAX_MORE_BITS;

/// Words are not distributed to more places: as many as caches of memory and addresses hold.
const MAX_DIGITS: u64 = 1 << 13;

/// How a bucket has its words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// Bytes of a step.
    pub bytes: usize,
    /// The bits of a word that ascend, and how many they are.
    low: u64,
    low_bits: u32,
    /// Says that a word follows, all bits set: a step that tells how many more tells less.
    whole_follows: u64,
    /// How far that is from the end of eight bytes.
    shift: u32,
    /// The bits in front of it, and how far they are from the end of eight bytes.
    fronts: u64,
    front_shift: u32,
    /// How far the last bit of an item is from the end of its word, by the bits that tell its length.
    item_ends: [u32; LENGTHS],
}

impl Steps {
    /// Those of words that came one after the other, of which a bucket has the last `behind + spread_bits` bits and would
    /// take `kept_bytes` for them; `None` where that is better.
    pub fn new(
        packing: &Packing,
        words: &[u64],
        behind: u32,
        spread_bits: u32,
        buckets: usize,
        kept_bytes: u32,
    ) -> Option<Self> {
        let low_bits = behind.min(packing.tail_bits());
        let front_bits = behind - low_bits + spread_bits;
        let item_ends = packing.bits_behind_each().map(|bits| if bits <= MAX_BEHIND { bits } else { LENGTH_BITS });
        let of = |bytes, more_bits| Self::of(bytes, low_bits, more_bits, front_bits, item_ends);
        let any = of(kept_bytes, MAX_MORE_BITS);
        let mut more: Vec<u64> = words.windows(2).filter_map(|pair| any.more(pair[1], any.low(pair[0]))).collect();
        if more.len() + words.len() / ODD_SHARE < words.len() - 1 {
            return None;
        }
        more.sort_unstable();
        // The mean of what comes between two words of one bucket: of numbers that are about even the middle one is enough.
        let between = *more.get(more.len() / 2)? as f64 * buckets as f64;
        let cost_of = |bytes: u32| {
            let more_bits =
                (u8::BITS * bytes).checked_sub(front_bits).filter(|bits| (1..=MAX_MORE_BITS).contains(bits))?;
            // As many follow as with numbers drawn by chance.
            let whole_share = (-(low_mask(more_bits) as f64) / between.max(1.0)).exp();
            Some((f64::from(bytes) + WORD as f64 * whole_share, bytes, more_bits))
        };
        let (cost, bytes, more_bits) = (1..kept_bytes).filter_map(cost_of).min_by(|a, b| a.0.total_cmp(&b.0))?;
        (cost <= WORTH * f64::from(kept_bytes)).then(|| of(bytes, more_bits))
    }

    /// Those of so many bytes, that tell by so many bits how many more the `low_bits` of a word are.
    fn of(bytes: u32, low_bits: u32, more_bits: u32, front_bits: u32, item_ends: [u32; LENGTHS]) -> Self {
        Self {
            bytes: bytes as usize,
            low: low_mask(low_bits),
            low_bits,
            whole_follows: low_mask(more_bits),
            shift: u64::BITS - u8::BITS * bytes,
            fronts: low_mask(front_bits),
            // Of none it does not matter.
            front_shift: (u64::BITS - front_bits) % u64::BITS,
            item_ends,
        }
    }

    /// The bits of a word that ascend.
    #[inline(always)]
    pub fn low(&self, word: u64) -> u64 {
        word & self.low
    }

    /// By how much these bits of a word are more than those of the one before; `None` where that is not simple.
    #[inline(always)]
    fn more(&self, word: u64, before: u64) -> Option<u64> {
        // What is less, or of another length, has bits at the top then.
        let more = self.low(word).wrapping_sub(before).rotate_right(self.item_ends[length_of(word)]);
        (more < self.whole_follows).then_some(more)
    }

    /// The step to a word from one with these lowest bits, in the first bytes of eight; `None` where the word must follow
    /// a step that says so.
    #[inline(always)]
    pub fn step(&self, word: u64, before: u64) -> Option<[u8; WORD]> {
        self.more(word, before).map(|more| self.bytes_of(word, more))
    }

    /// The step that says that a word follows, and the word; and how many bytes that is.
    pub fn whole(&self, word: u64) -> ([u8; 2 * WORD], usize) {
        let mut bytes = [0; 2 * WORD];
        bytes[..WORD].copy_from_slice(&self.bytes_of(word, self.whole_follows));
        bytes[self.bytes..self.bytes + WORD].copy_from_slice(&word.to_be_bytes());
        (bytes, self.bytes + WORD)
    }

    #[inline(always)]
    fn bytes_of(&self, word: u64, more: u64) -> [u8; WORD] {
        let front = (word >> self.low_bits & self.fronts) << self.front_shift;
        (front | more << self.shift).to_be_bytes()
    }

    /// By how much a step, at the front of a word, says that it is more; `None` where it says that a word follows.
    #[inline(always)]
    fn more_of(&self, step: u64) -> Option<u64> {
        let more = step >> self.shift & self.whole_follows;
        (more != self.whole_follows).then_some(more)
    }

    /// Puts the words of a bucket, of whose words `first` is the least, in the place of `words`, which are as many; each of
    /// `writers` are the steps of one writer, with eight bytes of anything behind them. Returns whether they are in order.
    ///
    /// What has the same bits in front stays in the order of what ascends. So one distribution by those bits sorts, if
    /// writers are read by what ascends, and each word is written once, to where it stays.
    pub fn read(&self, writers: &[Vec<u8>], first: u64, words: &mut [u64]) -> bool {
        let sorts = self.fronts < MAX_DIGITS.min(words.len() as u64);
        let digits = Digits { first_front: first >> self.low_bits, mask: if sorts { self.fronts } else { 0 } };
        let mut places = self.places(writers, digits);
        let reader = |steps| Reader { steps, at: 0, low: 0, item_end: self.item_ends[0] };
        let mut readers: Vec<Reader<'_>> = writers.iter().map(|steps| reader(steps)).collect();
        let (mut ascend, mut last) = (true, 0);
        // Writers take stretches of rows by turns, and the way from one to the next is too far for a step.
        while let Some((low, reader)) =
            readers.iter_mut().filter_map(|reader| Some((self.next_low(reader)?, reader))).min_by_key(|(low, _)| *low)
        {
            ascend &= last <= low;
            self.read_run(reader, digits, &mut places, words);
            last = reader.low;
        }
        sorts && ascend
    }

    /// Where the first word of each digit goes.
    fn places(&self, writers: &[Vec<u8>], digits: Digits) -> Vec<u32> {
        let mut places = vec![0; digits.count()];
        for steps in writers {
            let mut at = 0;
            while at + WORD < steps.len() {
                at = self.count_run(steps, at, digits, &mut places) + WORD;
            }
        }
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        places
    }

    /// Counts the steps up to one that a word follows, or to the last one; where that ends.
    ///
    /// That a word follows is for the processor to guess: the next step would wait for a sum that depends on this one.
    fn count_run(&self, steps: &[u8], mut at: usize, digits: Digits, counts: &mut [u32]) -> usize {
        while at + WORD < steps.len() {
            let step = word_at(steps, at);
            counts[digits.of(step >> self.front_shift)] += 1;
            at += self.bytes;
            if self.more_of(step).is_none() {
                break;
            }
        }
        at
    }

    /// The bits that ascend of the word that comes next.
    fn next_low(&self, reader: &Reader<'_>) -> Option<u64> {
        let step = reader.next()?;
        Some(match self.more_of(step) {
            Some(more) => reader.low + (more << reader.item_end),
            None => self.low(word_at(reader.steps, reader.at + self.bytes)),
        })
    }

    /// Reads a word, and those behind it that are steps.
    fn read_run(&self, reader: &mut Reader<'_>, digits: Digits, places: &mut [u32], words: &mut [u64]) {
        let Self { bytes, low_bits, fronts, front_shift, .. } = *self;
        let mut push = |step: u64, low| {
            let front = step >> front_shift;
            let behind_first = front.wrapping_sub(digits.first_front) & fronts;
            let place = &mut places[digits.of(front)];
            words[*place as usize] = (digits.first_front + behind_first) << low_bits | low;
            *place += 1;
        };
        let Some(step) = reader.next() else { return };
        if self.more_of(step).is_none() {
            let word = word_at(reader.steps, reader.at + bytes);
            reader.at += bytes + WORD;
            (reader.low, reader.item_end) = (self.low(word), self.item_ends[length_of(word)]);
            push(step, reader.low);
        }
        let Reader { steps, mut at, mut low, item_end } = *reader;
        while at + WORD < steps.len() {
            let step = word_at(steps, at);
            let Some(more) = self.more_of(step) else { break };
            at += bytes;
            low += more << item_end;
            push(step, low);
        }
        (reader.at, reader.low) = (at, low);
    }
}

/// By which of the bits in front words are distributed: by all or by none.
#[derive(Clone, Copy, Debug)]
struct Digits {
    /// Those of the least word of the bucket, and what is in front of them.
    first_front: u64,
    mask: u64,
}

impl Digits {
    fn count(self) -> usize {
        usize::try_from(self.mask).expect("a digit has few bits") + 1
    }

    /// The digit of what ends with the bits in front.
    #[inline(always)]
    fn of(self, front: u64) -> usize {
        usize::try_from(front.wrapping_sub(self.first_front) & self.mask).expect("a digit has few bits")
    }
}

/// Where the steps of a writer are read, which were written from a word of no bits on. What is read back from a file was
/// found to be what was written to it.
#[derive(Clone, Copy, Debug)]
struct Reader<'a> {
    steps: &'a [u8],
    at: usize,
    /// The bits that ascend of the last word, and how far the last bit of its item was from the end.
    low: u64,
    item_end: u32,
}

impl Reader<'_> {
    /// The next step at the front of a word; `None` behind the last one.
    fn next(&self) -> Option<u64> {
        (self.at + WORD < self.steps.len()).then(|| word_at(self.steps, self.at))
    }
}

#[inline(always)]
fn word_at(steps: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(*steps[at..].first_chunk().expect("eight bytes"))
}

/// The bits of a word that tell the length of its item.
#[inline(always)]
fn length_of(word: u64) -> usize {
    usize::from(word.to_be_bytes()[WORD - 1]) % LENGTHS
}

/// So many bits, fewer than 64.
fn low_mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever comes: as steps of any form, the words come back, in order where theirs is one.
        #[test]
        fn words_come_back(
            (bytes, front_bits) in (1_u32..=4, 0_u32..=14).prop_filter("bits that tell how many more", |(bytes, front)| {
                (front + 1..=front + MAX_MORE_BITS).contains(&(8 * bytes))
            }),
            low_bits in 16_u32..=48,
            behind in prop::array::uniform8(LENGTH_BITS..=MAX_BEHIND),
            prefix in 0..4_u64,
            rows in prop::collection::vec((any::<u64>(), 0..4_u8, any::<u16>()), 0..300),
            (writers, stretch) in (1..4_usize, 1..40_usize),
        ) {
            let steps = Steps::of(bytes, low_bits, 8 * bytes - front_bits, front_bits, behind);
            let first = prefix << front_bits << low_bits;
            let mut low = 0_u64;
            let words: Vec<u64> = rows.into_iter().map(|(random, kind, more)| {
                low = match kind {
                    0 => random,
                    1 => low.wrapping_add(1 << behind[length_of(low)]),
                    _ => low.wrapping_add(u64::from(more) << behind[length_of(low)]),
                } & steps.low;
                first | (random & steps.fronts) << low_bits | low
            }).collect();
            // Each stretch of them is one writer's.
            let mut written = vec![Vec::new(); writers];
            let mut before = vec![0; writers];
            for (at, &word) in words.iter().enumerate() {
                let writer = at / stretch % writers;
                match steps.step(word, before[writer]) {
                    Some(step) => written[writer].extend_from_slice(&step[..steps.bytes]),
                    None => {
                        let (whole, len) = steps.whole(word);
                        written[writer].extend_from_slice(&whole[..len]);
                    }
                }
                before[writer] = steps.low(word);
            }
            written.iter_mut().for_each(|written| written.extend([0xaa; WORD]));
            let mut read = vec![u64::MAX; words.len()];
            let is_sorted = steps.read(&written, first, &mut read);
            prop_assert!(!is_sorted || read.is_sorted());
            // What one writer has between two stretches of its own comes first where it is less, or is noticed.
            let ascend = words.is_sorted_by_key(|word| steps.low(*word));
            prop_assert!(writers > 1 || is_sorted == (ascend && words.len() as u64 > steps.fronts));
            if !is_sorted {
                read.sort();
            }
            let mut expected = words;
            expected.sort();
            prop_assert_eq!(read, expected);
        }
    }
}
