//! Long items that are assembled at their final place, which their first bytes determine.

use litepress_format::short_bytes::copy_short;
use litepress_format::sort_key::{KeyPrefix, PREFIX_LEN};

/// A long item in three parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitItem<'a> {
    pub prefix: KeyPrefix,
    /// The bytes between the prefix and the tail.
    pub body: &'a [u8],
    pub tail: [u8; 2],
}

impl SplitItem<'_> {
    /// Bytes behind the item that [`write`](Self::write) may overwrite.
    pub const MARGIN: usize = PREFIX_LEN;

    /// The most items that are taken at once. Their places miss the caches; the processor overlaps several such
    /// misses only if little else is done between them.
    pub const AT_ONCE: usize = 64;

    /// Returns the length of the item in bytes.
    pub fn len(&self) -> usize {
        self.prefix.len + self.body.len() + self.tail.len()
    }

    /// Returns the first 16 bytes, or `None` if the body is too short.
    #[inline(always)]
    pub fn first_bytes(&self) -> Option<u128> {
        let ([high, low], body) = (self.prefix.words.map(u128::from), u128::from_be_bytes(*self.body.first_chunk()?));
        let behind = if self.prefix.len < PREFIX_LEN { body >> (8 * self.prefix.len) } else { 0 };
        Some(high << 64 | low | behind)
    }

    /// Writes the item to the start of `out`, which must be [`MARGIN`](Self::MARGIN) bytes longer.
    #[inline(always)]
    pub fn write(&self, out: &mut [u8]) {
        let (words, [high, low]) = (out[..PREFIX_LEN].as_chunks_mut().0, self.prefix.words);
        (words[0], words[1]) = (high.to_be_bytes(), low.to_be_bytes());
        let end = self.prefix.len + self.body.len();
        copy_short(self.body, &mut out[self.prefix.len..end]);
        out[end..end + self.tail.len()].copy_from_slice(&self.tail);
    }
}
