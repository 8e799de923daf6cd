//! Long items that are put together where they will stay: the place is known by their first bytes.

use litepress_format::copy::copy_short;
use litepress_format::sort_key::{PREFIX_LEN, KeyPrefix};

/// A long item in parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemParts<'a> {
    pub head: KeyPrefix,
    /// What stands between head and tail.
    pub body: &'a [u8],
    pub tail: [u8; 2],
}

impl ItemParts<'_> {
    /// Bytes beside the item that [`write`](Self::write) may touch.
    pub const MARGIN: usize = PREFIX_LEN;

    /// How many are taken at once. Their places are not in the processor's caches; it waits for several of them at a time
    /// only where little else is done between one and the next.
    pub const AT_ONCE: usize = 64;

    /// Bytes of the item.
    pub fn len(&self) -> usize {
        self.head.len + self.body.len() + self.tail.len()
    }

    /// The first 16 bytes; `None` of items with short bodies.
    #[inline(always)]
    pub fn first_bytes(&self) -> Option<u128> {
        let ([high, low], body) = (self.head.words.map(u128::from), u128::from_be_bytes(*self.body.first_chunk()?));
        let behind = if self.head.len < PREFIX_LEN { body >> (8 * self.head.len) } else { 0 };
        Some(high << 64 | low | behind)
    }

    /// Writes the item to the start of `out`, which has [`MARGIN`](Self::MARGIN) bytes more.
    #[inline(always)]
    pub fn write(&self, out: &mut [u8]) {
        let (words, [high, low]) = (out[..PREFIX_LEN].as_chunks_mut().0, self.head.words);
        (words[0], words[1]) = (high.to_be_bytes(), low.to_be_bytes());
        let end = self.head.len + self.body.len();
        copy_short(self.body, &mut out[self.head.len..end]);
        out[end..end + self.tail.len()].copy_from_slice(&self.tail);
    }
}
