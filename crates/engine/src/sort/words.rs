//! Sorts words of 64 bits: a distribution by the topmost bits that vary, and what the standard library does with the
//! small groups that this leaves.
//!
//! The distribution keeps the order of arrival. Rows mostly come by ascending rowid, which stands last in a word: then
//! the groups of a low-cardinality key are in order when they are made, or are a few sequences that are, one from each
//! writer, which a stable sort finds and merges.

use super::radix::Digit;

/// Fewer words are sorted as they are.
const MIN_WORDS: usize = 1 << 11;

/// Groups that the processor's nearest cache holds are not distributed again.
const CACHED_WORDS: usize = 1 << 12;

/// Bits of a digit: as many places as caches of memory and addresses hold.
const DIGIT_BITS: u32 = 12;

/// A group with so few words to each that is less than the one before it is a few sequences.
const SEQUENCE_WORDS: usize = 8;

/// Sorts `words`, by way of `scratch`, which is left with anything.
pub(super) fn sort(words: &mut [u64], scratch: &mut Vec<u64>) {
    scratch.resize(words.len(), 0);
    sort_slice(words, scratch);
}

fn sort_slice(words: &mut [u64], scratch: &mut [u64]) {
    if words.len() <= MIN_WORDS {
        scratch.copy_from_slice(words);
        return sort_group(scratch, words);
    }
    let first = words[0];
    let varying = words.iter().fold(0, |varying, word| varying | word ^ first);
    if varying == 0 {
        return;
    }
    let wanted = (words.len().ilog2() - 2).min(DIGIT_BITS);
    let ends = Digit::topmost(varying, wanted).distribute(words, scratch, |word| *word);
    let mut start = 0;
    for end in ends {
        let range = start..end as usize;
        start = range.end;
        let (group, sorted) = (&mut scratch[range.clone()], &mut words[range]);
        if group.len() <= CACHED_WORDS {
            sort_group(group, sorted);
        } else {
            sorted.copy_from_slice(group);
            sort_slice(sorted, group);
        }
    }
}

/// Sorts a small group into another place.
fn sort_group(words: &mut [u64], sorted: &mut [u64]) {
    let steps_down = words.windows(2).filter(|pair| pair[0] > pair[1]).count();
    match steps_down {
        0 => {}
        1 => return merge(words, sorted),
        _ if steps_down < words.len() / SEQUENCE_WORDS => words.sort(),
        _ => words.sort_unstable(),
    }
    sorted.copy_from_slice(words);
}

/// Merges the two ascending sequences that `words` are.
fn merge(words: &[u64], merged: &mut [u64]) {
    let middle = words.windows(2).position(|pair| pair[0] > pair[1]).map_or(words.len(), |last| last + 1);
    let (mut low, mut high) = (0, middle);
    let mut merged = merged.iter_mut();
    // No branch depends on which one is less.
    while low < middle && high < words.len() {
        let Some(next) = merged.next() else { return };
        let (a, b) = (words[low], words[high]);
        let is_low = a < b;
        *next = if is_low { a } else { b };
        low += usize::from(is_low);
        high += usize::from(!is_low);
    }
    let rest = if low < middle { &words[low..middle] } else { &words[high..] };
    merged.zip(rest).for_each(|(next, word)| *next = *word);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sorts_like_the_standard_library(
            seeds in prop::collection::vec(any::<u64>(), 1..4),
            len in 0..40_000_usize,
            mask in prop::sample::select(vec![u64::MAX, 0, 1, 0xf0f0_f0f0_0000_ffff, 0xff, u64::MAX << 60, 3 << 62 | 0xffff]),
            ascending in any::<bool>(),
        ) {
            let mut words: Vec<u64> = seeds.into_iter().cycle().zip(1..).take(len)
                .map(|(seed, number)| if ascending { number } else { seed.wrapping_mul(number) ^ (seed >> 7).wrapping_mul(number * number) } & mask)
                .collect();
            let mut expected = words.clone();
            expected.sort();
            sort(&mut words, &mut Vec::new());
            prop_assert!(words == expected);
        }
    }
}
