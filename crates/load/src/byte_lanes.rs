//! Finds bytes in text, 64 at a time (SIMD): the inner loop of the text readers.

use wide::u8x16;

/// 64 bytes of a text.
#[derive(Clone, Copy)]
pub(crate) struct ByteLanes {
    lanes: [u8x16; 4],
    /// A bit for each byte that is present: bytes past the end of the text are not.
    present: u64,
}

impl ByteLanes {
    #[inline]
    pub fn load(text: &[u8], at: usize) -> Self {
        if let Some(bytes) = text[at..].first_chunk::<64>() {
            return Self { lanes: lanes(bytes), present: u64::MAX };
        }
        let rest = &text[at..];
        let mut bytes = [0; 64];
        bytes[..rest.len()].copy_from_slice(rest);
        Self { lanes: lanes(&bytes), present: (1 << rest.len()) - 1 }
    }

    /// Sets these bits in each byte.
    #[inline]
    pub fn with_bits(self, bits: u8) -> Self {
        Self { lanes: self.lanes.map(|lane| lane | u8x16::splat(bits)), ..self }
    }

    /// Returns a bit for each byte that equals `byte`; the lowest bit stands for the first byte.
    #[inline]
    pub fn find(&self, byte: u8) -> u64 {
        let wanted = u8x16::splat(byte);
        let bits = |lane: usize| u64::from(self.lanes[lane].simd_eq(wanted).to_bitmask());
        (bits(0) | bits(1) << 16 | bits(2) << 32 | bits(3) << 48) & self.present
    }
}

#[inline]
fn lanes(bytes: &[u8; 64]) -> [u8x16; 4] {
    let (lanes, _) = bytes.as_chunks::<16>();
    [0, 1, 2, 3].map(|lane| u8x16::new(lanes[lane]))
}
