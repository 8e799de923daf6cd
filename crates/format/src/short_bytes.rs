//! Copies and reads short byte strings in whole machine words.

/// Copies `from` to `to`. Up to 64 bytes are copied as a few overlapping words, which costs less than a call to
/// `memcpy`.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn copy_short(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "a copy of the same length");
    match from.len() {
        33..=64 => copy_ends::<32>(from, to),
        17..=32 => copy_ends::<16>(from, to),
        9..=16 => copy_ends::<8>(from, to),
        5..=8 => copy_ends::<4>(from, to),
        3..=4 => copy_ends::<2>(from, to),
        1..=2 => copy_ends::<1>(from, to),
        _ => to.copy_from_slice(from),
    }
}

/// Copies the first and the last `N` bytes of a slice of `N` to `2 * N` bytes.
#[inline(always)]
fn copy_ends<const N: usize>(from: &[u8], to: &mut [u8]) {
    let (first, last) = (from.first_chunk::<N>(), from.last_chunk::<N>());
    if let (Some(first), Some(last)) = (first, last) {
        to[..N].copy_from_slice(first);
        let at = to.len() - N;
        to[at..].copy_from_slice(last);
    }
}

/// Reads 32 bytes as two big-endian integers. Comparing the pair compares the bytes.
#[inline]
#[must_use]
pub fn two_words(bytes: &[u8; 32]) -> [u128; 2] {
    let (words, _) = bytes.as_chunks::<16>();
    [u128::from_be_bytes(words[0]), u128::from_be_bytes(words[1])]
}

#[cfg(test)]
mod tests {
    use super::copy_short;

    #[test]
    fn every_length_is_copied_whole() {
        let from: Vec<u8> = (1..=100).collect();
        for len in 0..=from.len() {
            let mut to = vec![0; len];
            copy_short(&from[..len], &mut to);
            assert_eq!(to, from[..len]);
        }
    }
}
