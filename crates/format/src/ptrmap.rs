//! Pointer-map pages (section 1.8): the parent of every page of an auto-vacuum database.
//!
//! The first such page is page 2; each holds 5 bytes for every page that follows, up to the next
//! pointer-map page:
//!
//! ```text
//! page 2, with U = 512:      | kind of 3 | parent of 3 | kind of 4 | parent of 4 | ... | parent of 104 |
//!                              1 byte      4 bytes
//! pages 3 to 104
//! page 105, the next pointer-map page
//! ```
//!
//! A pointer-map page that would fall on the lock-byte page moves to the page after it.

use crate::FormatError;
use crate::big_endian::{put_u32, u32_at};

/// Bytes of one entry.
pub const ENTRY_LEN: usize = 5;

/// The use of a page, which decides what its parent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EntryKind {
    /// Root page of a b-tree; the parent is 0.
    RootPage = 1,
    /// On the freelist; the parent is 0.
    FreePage = 2,
    /// First page of an overflow chain; the parent is the b-tree page with the cell.
    FirstOverflow = 3,
    /// Other page of an overflow chain; the parent is the page before it in the chain.
    LaterOverflow = 4,
    /// B-tree page other than a root; the parent is the page above it.
    Child = 5,
}

impl EntryKind {
    /// Returns the kind of this byte, or `None` if the byte is invalid.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::RootPage,
            2 => Self::FreePage,
            3 => Self::FirstOverflow,
            4 => Self::LaterOverflow,
            5 => Self::Child,
            _ => return None,
        })
    }
}

/// One entry: the use of a page, and the page that points to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The use of the page.
    pub kind: EntryKind,
    /// The page that points to it; 0 for root pages and free pages.
    pub parent: u32,
}

impl Entry {
    /// Writes the entry's five bytes at the start of `out`.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn encode(&self, out: &mut [u8]) {
        out[0] = self.kind as u8;
        put_u32(out, 1, self.parent);
    }

    /// Reads an entry from the first five bytes of `bytes`.
    ///
    /// # Errors
    /// If `bytes` is too short or the kind is invalid.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let (Some(&kind_byte), Some(parent)) = (bytes.first(), u32_at(bytes, 1)) else {
            return Err(FormatError::new("pointer-map entry is cut off", bytes.len()));
        };
        let kind = EntryKind::from_byte(kind_byte)
            .ok_or_else(|| FormatError::new(format!("{kind_byte} is not a kind of pointer-map entry"), 0))?;
        Ok(Self { kind, parent })
    }
}

/// Returns the number of entries on a pointer-map page with `usable` bytes. This is also the number of pages between
/// two pointer-map pages.
#[must_use]
pub const fn entries_per_page(usable: usize) -> usize {
    usable / ENTRY_LEN
}

/// Returns the pointer-map page that has the entry of `page_number`. A pointer-map page maps to itself. Pages 0 and 1
/// have no entry: `None`.
///
/// `lock_byte_page` is [`PageSize::lock_byte_page`](crate::page::PageSize::lock_byte_page). It has no entry, although
/// its slot exists.
///
/// # Panics
/// If `usable` is over 65536.
#[must_use]
pub fn map_page_of(page_number: u32, usable: usize, lock_byte_page: u32) -> Option<u32> {
    let group = u32::try_from(entries_per_page(usable)).expect("a page has at most 65536 bytes") + 1;
    let map_page = page_number.checked_sub(2)? / group * group + 2;
    Some(if map_page == lock_byte_page { map_page + 1 } else { map_page })
}

/// Returns the offset of the entry of `page_number` on `map_page`, or `None` if `page_number` does not come after
/// `map_page`.
#[must_use]
pub fn entry_offset(page_number: u32, map_page: u32) -> Option<usize> {
    let index = page_number.checked_sub(map_page)?.checked_sub(1)?;
    usize::try_from(index).ok()?.checked_mul(ENTRY_LEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PageSize;

    #[test]
    fn every_kind_round_trips() {
        for byte in 0..=u8::MAX {
            let bytes = [byte, 0, 0, 1, 2];
            match Entry::decode(&bytes) {
                Ok(entry) => {
                    let mut out = [0; ENTRY_LEN];
                    entry.encode(&mut out);
                    assert_eq!(out, bytes);
                }
                Err(_) => assert!(!(1..=5).contains(&byte)),
            }
        }
        assert!(Entry::decode(&[1, 0, 0, 0]).is_err());
    }

    #[test]
    fn map_pages_come_in_regular_distances() {
        let map_page = |page| map_page_of(page, 512, PageSize::MIN.lock_byte_page());
        assert_eq!(map_page(1), None);
        assert_eq!((map_page(2), map_page(3), map_page(104)), (Some(2), Some(2), Some(2)));
        assert_eq!((map_page(105), map_page(106)), (Some(105), Some(105)));
        assert_eq!((entry_offset(3, 2), entry_offset(104, 2)), (Some(0), Some(505)));
        assert_eq!(entry_offset(2, 2), None);
    }

    #[test]
    fn a_map_page_steps_aside_for_the_lock_byte_page() {
        // A lock-byte page put where the second pointer-map page would be.
        assert_eq!(map_page_of(106, 512, 105), Some(106));
        assert_eq!(map_page_of(107, 512, 105), Some(106));
        assert_eq!(entry_offset(107, 106), Some(0));
    }
}
