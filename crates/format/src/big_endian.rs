//! Reads and writes fixed-width integers at an offset of a slice. All integers in the format are big-endian.

/// Returns the two bytes at `offset`, or `None` if the slice is too short.
pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let tail = bytes.get(offset..)?;
    tail.first_chunk().map(|field| u16::from_be_bytes(*field))
}

/// Returns the four bytes at `offset`, or `None` if the slice is too short.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let tail = bytes.get(offset..)?;
    tail.first_chunk().map(|field| u32::from_be_bytes(*field))
}

/// Writes two bytes at `offset`, which must lie inside the slice.
pub(crate) fn put_u16(bytes: &mut [u8], offset: usize, value: u16) {
    bytes[offset..offset + 2].copy_from_slice(&value.to_be_bytes());
}

/// Writes four bytes at `offset`, which must lie inside the slice.
pub(crate) fn put_u32(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_be_bytes());
}
