//! Overflow pages (section 1.7): the rest of a payload that does not fit its cell.
//!
//! ```text
//! | next page, 4 bytes, 0 at the end of the chain | content, U - 4 bytes | reserved |
//! ```

use crate::big_endian::{put_u32, u32_at};

/// Bytes of the pointer to the next page.
const NEXT_LEN: usize = 4;

/// Returns the payload bytes that one overflow page with `usable` bytes holds.
#[inline]
#[must_use]
pub const fn chunk_len(usable: usize) -> usize {
    usable - NEXT_LEN
}

/// Writes an overflow page: the `next` page (0 for the last of its chain), `content`, and zeros up to the end of
/// `page`.
///
/// # Panics
/// If `content` is longer than the page has space for.
pub fn write_page(next: u32, content: &[u8], page: &mut [u8]) {
    put_u32(page, 0, next);
    let (filled, rest) = page[NEXT_LEN..].split_at_mut(content.len());
    filled.copy_from_slice(content);
    rest.fill(0);
}

/// Returns the next page of the chain (0 at its end) and the content area. The payload of the last page is a prefix
/// of the content area.
///
/// # Panics
/// If `page` is shorter than `usable`, or `usable` shorter than the pointer.
#[must_use]
pub fn read_page(page: &[u8], usable: usize) -> (u32, &[u8]) {
    let page = &page[..usable];
    let next = u32_at(page, 0).expect("an overflow page holds at least its next pointer");
    (next, &page[NEXT_LEN..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_zero_filled() {
        let mut page = [0xee; 512];
        write_page(9, b"abc", &mut page);
        assert!(page[7..].iter().all(|byte| *byte == 0));
        let (next, content) = read_page(&page, 500);
        assert_eq!((next, content.len()), (9, chunk_len(500)));
        assert_eq!(&content[..4], b"abc\0");
    }

    #[test]
    fn a_full_page() {
        let mut page = [0; 512];
        let content = [7; chunk_len(512)];
        write_page(0, &content, &mut page);
        assert_eq!(read_page(&page, 512), (0, &content[..]));
    }
}
