//! A few bytes in whole words.

/// Copies bytes from one slice to another of the same length: up to 64 in a few words that
/// overlap, where a call would cost more than the copy.
///
/// # Panics
/// Where the lengths differ.
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

/// Copies the first and the last `N` bytes of what is at most twice as long.
#[inline(always)]
fn copy_ends<const N: usize>(from: &[u8], to: &mut [u8]) {
    let (first, last) = (from.first_chunk::<N>(), from.last_chunk::<N>());
    if let (Some(first), Some(last)) = (first, last) {
        to[..N].copy_from_slice(first);
        let at = to.len() - N;
        to[at..].copy_from_slice(last);
    }
}

/// 32 bytes as two numbers that compare like them.
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
