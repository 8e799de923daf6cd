//! Sorts `u64` keys: one radix pass by the topmost varying bits, and the standard library's sort for the small groups
//! that result.
//!
//! The radix pass is stable. Rows mostly come by ascending rowid, which is at the low end of a key. So the groups of
//! a low-cardinality column are already in order, or are a few ascending sequences, one from each writer. A stable
//! sort finds and merges these.

use super::radix::Digit;

/// Fewer keys are sorted without a radix pass.
const MIN_KEYS: usize = 1 << 11;

/// The largest group that is not distributed again: it fits the nearest cache.
const CACHED_KEYS: usize = 1 << 12;

/// Bits of a digit: the buckets' write positions must fit the data cache and the TLB.
const DIGIT_BITS: u32 = 12;

/// A group is treated as a few ascending sequences if they have at least this many keys each on average.
const SEQUENCE_KEYS: usize = 8;

/// Sorts `keys`. `scratch` has any content afterwards.
pub(super) fn sort(keys: &mut [u64], scratch: &mut Vec<u64>) {
    scratch.resize(keys.len(), 0);
    sort_slice(keys, scratch);
}

fn sort_slice(keys: &mut [u64], scratch: &mut [u64]) {
    if keys.len() <= MIN_KEYS {
        scratch.copy_from_slice(keys);
        return sort_group(scratch, keys);
    }
    let first = keys[0];
    let varying = keys.iter().fold(0, |varying, key| varying | key ^ first);
    if varying == 0 {
        return;
    }
    let wanted = (keys.len().ilog2() - 2).min(DIGIT_BITS);
    let ends = Digit::topmost(varying, wanted).distribute(keys, scratch, |key| *key);
    let mut start = 0;
    for end in ends {
        let range = start..end as usize;
        start = range.end;
        let (group, sorted) = (&mut scratch[range.clone()], &mut keys[range]);
        if group.len() <= CACHED_KEYS {
            sort_group(group, sorted);
        } else {
            sorted.copy_from_slice(group);
            sort_slice(sorted, group);
        }
    }
}

/// Sorts a small group into `sorted`.
fn sort_group(keys: &mut [u64], sorted: &mut [u64]) {
    let steps_down = keys.windows(2).filter(|pair| pair[0] > pair[1]).count();
    match steps_down {
        0 => {}
        1 => return merge(keys, sorted),
        _ if steps_down < keys.len() / SEQUENCE_KEYS => keys.sort(),
        _ => keys.sort_unstable(),
    }
    sorted.copy_from_slice(keys);
}

/// Merges the two ascending sequences of `keys`.
fn merge(keys: &[u64], merged: &mut [u64]) {
    let middle = keys.windows(2).position(|pair| pair[0] > pair[1]).map_or(keys.len(), |last| last + 1);
    let (mut low, mut high) = (0, middle);
    let mut merged = merged.iter_mut();
    // Branch-free: the processor could not predict which key is less.
    while low < middle && high < keys.len() {
        let Some(next) = merged.next() else { return };
        let (a, b) = (keys[low], keys[high]);
        let is_low = a < b;
        *next = if is_low { a } else { b };
        low += usize::from(is_low);
        high += usize::from(!is_low);
    }
    let rest = if low < middle { &keys[low..middle] } else { &keys[high..] };
    merged.zip(rest).for_each(|(next, key)| *next = *key);
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
            let mut keys: Vec<u64> = seeds.into_iter().cycle().zip(1..).take(len)
                .map(|(seed, number)| if ascending { number } else { seed.wrapping_mul(number) ^ (seed >> 7).wrapping_mul(number * number) } & mask)
                .collect();
            let mut expected = keys.clone();
            expected.sort();
            sort(&mut keys, &mut Vec::new());
            prop_assert!(keys == expected);
        }
    }
}
