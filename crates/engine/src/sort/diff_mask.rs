//! Finds the bits in which the first bytes of a run's items differ at all, and so the bytes worth comparing.
//!
//! A key of three integers is mostly zeros. That its 2nd, 9th and 17th byte decide between most items is found out
//! once, when the run is sorted. It saves the merge nearly all looks at whole items.

/// Bytes at the front of an item that are tracked.
pub(super) const WINDOW_BYTES: usize = 32;

/// The mask of varying bits in the first bytes of some runs' items. Bytes behind an item's end may have any value: no
/// item is a prefix of another, so two items differ before either ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiffMask {
    first: [u8; WINDOW_BYTES],
    /// The bits in which any item differs from `first`.
    pub bits: [u8; WINDOW_BYTES],
}

impl DiffMask {
    /// Returns the mask of a single item.
    pub fn of_item(item: &[u8]) -> Self {
        let mut first = [0; WINDOW_BYTES];
        let len = item.len().min(WINDOW_BYTES);
        first[..len].copy_from_slice(&item[..len]);
        Self { first, bits: [0; WINDOW_BYTES] }
    }

    /// Returns the mask of unknown items: every bit may vary.
    pub fn unknown() -> Self {
        Self { first: [0; WINDOW_BYTES], bits: [0xff; WINDOW_BYTES] }
    }

    /// Returns the mask of windows of `N` bytes, up to [`WINDOW_BYTES`].
    #[inline]
    pub fn of_windows<'w, const N: usize>(windows: impl IntoIterator<Item = &'w [u8; N]>) -> Self {
        let mut windows = windows.into_iter();
        let Some(first) = windows.next() else { return Self::of_item(&[]) };
        let mut differ = [0; N];
        for window in windows {
            for ((differ, a), b) in differ.iter_mut().zip(window).zip(first) {
                *differ |= a ^ b;
            }
        }
        let mut varying = Self::of_item(first);
        varying.bits[..N].copy_from_slice(&differ);
        varying
    }

    /// Returns the mask of two sets of items together.
    pub fn and(mut self, other: &Self) -> Self {
        for (index, bits) in self.bits.iter_mut().enumerate() {
            *bits |= other.bits[index] | self.first[index] ^ other.first[index];
        }
        self
    }
}

/// Selects sixteen bytes that nearly always decide between items: four words of four bytes. Each word begins at the
/// first varying byte behind the word before.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteSelector {
    words: [usize; 4],
    /// Whether the words are adjacent.
    whole: bool,
}

impl ByteSelector {
    /// Bytes that must be readable from the start of an item on.
    pub const READ_BYTES: usize = WINDOW_BYTES + 16;

    pub fn new(varying: &DiffMask) -> Self {
        let mut words = [0; 4];
        let mut next = 0;
        for word in &mut words {
            while next < WINDOW_BYTES && varying.bits[next] == 0 {
                next += 1;
            }
            *word = next;
            next += 4;
        }
        Self { words, whole: words[3] == words[0] + 12 }
    }

    /// Returns whether the selected bytes are the item's first sixteen.
    #[inline]
    pub fn is_first_16(&self) -> bool {
        self.whole && self.words[0] == 0
    }

    /// Returns the selected bytes of an item as a number that compares like them.
    #[inline]
    pub fn of(&self, item: &[u8]) -> u128 {
        if self.whole {
            let start = self.words[0];
            return u128::from_be_bytes(item[start..start + 16].try_into().expect("16 bytes"));
        }
        let word = |at: usize| u128::from(u32::from_be_bytes(item[at..at + 4].try_into().expect("4 bytes")));
        let [a, b, c, d] = self.words;
        word(a) << 96 | word(b) << 64 | word(c) << 32 | word(d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_where_bytes_vary() {
        let key = |a: u8, b: u8, c: u8| {
            let mut key = [0; 30];
            (key[8], key[17], key[26]) = (a, b, c);
            key
        };
        let varying = DiffMask::of_windows(&[key(1, 1, 1), key(1, 2, 1), key(3, 1, 9)]);
        let bytes = ByteSelector::new(&varying);
        assert_eq!(bytes.words, [8, 17, 26, WINDOW_BYTES]);
        let of = |a, b, c| bytes.of(&[&key(a, b, c)[..], &[7; ByteSelector::READ_BYTES]].concat());
        assert!(of(1, 1, 1) < of(1, 1, 2) && of(1, 1, 2) < of(1, 2, 1) && of(1, 2, 1) < of(2, 0, 0));
    }

    #[test]
    fn runs_that_vary_between_each_other() {
        let varying = DiffMask::of_item(b"abcd").and(&DiffMask::of_item(b"abed"));
        assert_eq!(ByteSelector::new(&varying).words, [2, 32, 36, 40]);
        assert_eq!(ByteSelector::new(&varying.and(&DiffMask::unknown())).words, [0, 4, 8, 12]);
    }
}
