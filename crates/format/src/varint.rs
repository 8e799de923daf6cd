//! Variable-length integers (section 1.6): 1 to 9 bytes, most significant first.
//!
//! The high bit of a byte says that another follows, the low seven bits carry the number. Only the
//! ninth byte carries eight, so that nine bytes hold 64 bits:
//!
//! ```text
//! 0x7f                   0xxxxxxx
//! 0x3fff                 1xxxxxxx 0xxxxxxx
//! ...
//! 2^56 - 1               1xxxxxxx (7 times) 0xxxxxxx
//! 2^64 - 1               1xxxxxxx (8 times) xxxxxxxx
//! ```
//!
//! Rowids are signed and written as their two's complement, so that every negative rowid takes nine
//! bytes.

/// The longest varint, in bytes.
pub const MAX_LEN: usize = 9;

/// The smallest number that needs nine bytes: the first eight bytes carry seven bits each.
const NINE_BYTES_FROM: u64 = 1 << 56;

/// Returns the bytes (1 to 9) that `value` takes.
#[inline]
#[must_use]
pub const fn len(value: u64) -> usize {
    if value >= NINE_BYTES_FROM {
        return MAX_LEN;
    }
    let significant_bits = u64::BITS - (value | 1).leading_zeros();
    significant_bits.div_ceil(7) as usize
}

/// Writes `value` at the start of `out`, which must hold [`len`]`(value)` bytes. Returns that length.
///
/// # Panics
/// If `out` is too short.
#[inline]
pub fn write(value: u64, out: &mut [u8]) -> usize {
    if value < 0x80 {
        out[0] = (value & 0x7f) as u8;
        return 1;
    }
    if value < 0x4000 {
        out[0] = 0x80 | ((value >> 7) & 0x7f) as u8;
        out[1] = (value & 0x7f) as u8;
        return 2;
    }
    write_long(value, out)
}

/// Does the work of [`write()`] for any length. A function of its own, so that the short cases inline into the
/// caller.
fn write_long(value: u64, out: &mut [u8]) -> usize {
    let len = len(value);
    let out = &mut out[..len];
    let (mut rest, last_byte) =
        if len == MAX_LEN { (value >> 8, (value & 0xff) as u8) } else { (value >> 7, (value & 0x7f) as u8) };
    for byte in out[..len - 1].iter_mut().rev() {
        *byte = 0x80 | (rest & 0x7f) as u8;
        rest >>= 7;
    }
    out[len - 1] = last_byte;
    len
}

/// Appends `value` to `out`.
#[inline]
pub fn push(value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; MAX_LEN];
    let len = write(value, &mut bytes);
    out.extend_from_slice(&bytes[..len]);
}

/// Reads the varint at the start of `bytes`. Returns the number and its length in bytes, or `None` if `bytes` ends
/// inside it.
///
/// Accepts non-minimal encodings, as SQLite does.
#[inline]
#[must_use]
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    match bytes.first() {
        Some(&byte @ ..0x80) => Some((byte.into(), 1)),
        _ => read_long(bytes),
    }
}

/// Does the work of [`read`] for any length.
#[inline]
fn read_long(bytes: &[u8]) -> Option<(u64, usize)> {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let Some(eight) = bytes.first_chunk() else { return read_bytewise(bytes) };
    let word = u64::from_be_bytes(*eight);
    let last = (!word & HIGH_BITS).leading_zeros() / 8;
    if last == 8 {
        let ninth = bytes.get(MAX_LEN - 1)?;
        return Some((joined(word) << 8 | u64::from(*ninth), MAX_LEN));
    }
    Some((joined(word >> (56 - 8 * last)), last as usize + 1))
}

/// Joins the low seven bits of all eight bytes.
#[inline]
const fn joined(word: u64) -> u64 {
    let by_14 = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let by_28 = (by_14 & 0x0000_3fff_0000_3fff) | (by_14 & 0x3fff_0000_3fff_0000) >> 2;
    (by_28 & 0x0fff_ffff) | (by_28 >> 32) << 28
}

/// Does the work of [`read`] if fewer than eight bytes are left.
fn read_bytewise(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the first and the last number of every length.
    fn edges() -> Vec<(u64, usize)> {
        let mut edges = vec![(0, 1), (u64::MAX, 9), (1 << 56, 9)];
        for bytes in 1..=8 {
            let beyond = 1_u64 << (7 * bytes);
            edges.push((beyond - 1, bytes));
            edges.push((beyond, bytes + 1));
        }
        edges
    }

    #[test]
    fn every_length_starts_and_ends_where_it_should() {
        for (value, expected_len) in edges() {
            let mut bytes = [0xee; MAX_LEN + 1];
            assert_eq!(len(value), expected_len, "{value:#x}");
            assert_eq!(write(value, &mut bytes), expected_len, "{value:#x}");
            assert_eq!(bytes[expected_len], 0xee, "{value:#x} wrote too much");
            assert_eq!(read(&bytes), Some((value, expected_len)));
            for cut in 0..expected_len {
                assert_eq!(read(&bytes[..cut]), None, "{value:#x} cut to {cut}");
            }
        }
    }

    #[test]
    fn bytes_are_those_of_the_specification() {
        for (value, expected) in [
            (0x7f, &[0x7f][..]),
            (0x80, &[0x81, 0x00]),
            (0x3fff, &[0xff, 0x7f]),
            (0x4000, &[0x81, 0x80, 0x00]),
            (u64::MAX, &[0xff; 9]),
            (1 << 63, &[0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
        ] {
            let mut bytes = Vec::new();
            push(value, &mut bytes);
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn longer_than_need_be_is_read() {
        assert_eq!(read(&[0x80, 0x80, 0x05]), Some((5, 3)));
    }

    proptest! {
        #[test]
        fn round_trip(shift in 0..64_u32, bits: u64, behind: u8) {
            let value = bits >> shift;
            let mut bytes = Vec::new();
            push(value, &mut bytes);
            prop_assert_eq!(bytes.len(), len(value));
            prop_assert_eq!(read(&bytes), Some((value, bytes.len())));
            let len = bytes.len();
            bytes.extend_from_slice(&[behind; 8]);
            prop_assert_eq!(read(&bytes), Some((value, len)));
        }

        #[test]
        fn garbage_is_read_within_its_bounds(bytes: Vec<u8>) {
            if let Some((_, len)) = read(&bytes) {
                prop_assert!(len <= bytes.len().min(MAX_LEN));
            }
        }
    }
}
