//! The freelist (section 1.5): unused pages of the file.
//!
//! A trunk page lists the next trunk page and free leaf pages. The content of a leaf page is meaningless.
//!
//! ```text
//! | next trunk, 4 bytes, 0 for the last | number of leaves, 4 bytes | leaf, 4 bytes | leaf | ...
//! ```

use crate::FormatError;
use crate::big_endian::{put_u32, u32_at};

/// Bytes before the first leaf.
const TRUNK_HEADER_LEN: usize = 8;
/// Bytes of one leaf's page number.
const LEAF_LEN: usize = 4;

/// Returns the leaves that a trunk page may hold.
#[must_use]
pub const fn max_leaves(usable: usize) -> usize {
    (usable - TRUNK_HEADER_LEN) / LEAF_LEN
}

/// Returns the leaves that a writer should put on a trunk page. SQLite before 3.6.0 reported a database as corrupt if
/// a trunk page used its last six slots.
#[must_use]
pub const fn max_leaves_written(usable: usize) -> usize {
    max_leaves(usable) - 6
}

/// A trunk page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trunk<'a> {
    /// Page number of the next trunk page, 0 on the last one.
    pub next: u32,
    /// The leaves' page numbers, 4 bytes each.
    leaves: &'a [u8],
}

impl<'a> Trunk<'a> {
    /// Reads a trunk page with `usable` bytes.
    ///
    /// # Errors
    /// If the page is shorter than `usable`, or counts more leaves than fit.
    pub fn decode(page: &'a [u8], usable: usize) -> Result<Self, FormatError> {
        let page = page.get(..usable).unwrap_or(page);
        let (Some(next), Some(count)) = (u32_at(page, 0), u32_at(page, 4)) else {
            return Err(FormatError::new("page ends inside the header of a freelist trunk", page.len()));
        };
        let leaves = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(LEAF_LEN))
            .and_then(|len| page[TRUNK_HEADER_LEN..].get(..len))
            .ok_or_else(|| FormatError::new(format!("freelist trunk counts {count} leaves, more than fit"), 4))?;
        Ok(Self { next, leaves })
    }

    /// Returns the page numbers of the leaves.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.leaves.chunks_exact(LEAF_LEN).map(|leaf| u32::from_be_bytes([leaf[0], leaf[1], leaf[2], leaf[3]]))
    }
}

/// Writes a trunk page and fills the bytes behind its last leaf with zeros. `next` is 0 on the last trunk page.
///
/// # Panics
/// If the leaves do not fit; see [`max_leaves_written`].
pub fn write_trunk(next: u32, leaves: &[u32], page: &mut [u8]) {
    page.fill(0);
    put_u32(page, 0, next);
    put_u32(page, 4, u32::try_from(leaves.len()).expect("fewer than a page has bytes"));
    for (index, leaf) in leaves.iter().enumerate() {
        put_u32(page, TRUNK_HEADER_LEN + index * LEAF_LEN, *leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn round_trip() {
        let leaves: Vec<u32> = (10..10 + u32::try_from(max_leaves_written(512)).unwrap()).collect();
        let mut page = [0xee; 512];
        write_trunk(7, &leaves, &mut page);
        let trunk = Trunk::decode(&page, 512).unwrap();
        assert_eq!(trunk.next, 7);
        assert!(trunk.leaves().eq(leaves));
        assert_eq!(max_leaves_written(512), 120);
    }

    #[test]
    fn too_many_leaves_are_refused() {
        let mut page = [0; 512];
        put_u32(&mut page, 4, 126);
        assert_eq!(Trunk::decode(&page, 512).unwrap().leaves().len(), max_leaves(512));
        put_u32(&mut page, 4, 127);
        assert_eq!(Trunk::decode(&page, 512).unwrap_err().offset(), 4);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(page: Vec<u8>, usable in 0..70_000_usize) {
            let _ = Trunk::decode(&page, usable).map(|trunk| trunk.leaves().count());
        }
    }
}
