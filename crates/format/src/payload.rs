//! Divides a payload between its b-tree page and overflow pages (section 1.6).
//!
//! With `U` usable bytes on a page and a payload of `P` bytes:
//!
//! ```text
//! X = U - 35                       table leaf: the most that stays local
//!     (U - 12) * 64 / 255 - 23     index leaf and interior
//! M = (U - 12) * 32 / 255 - 23     the least that stays local once anything overflows
//! K = M + (P - M) % (U - 4)        what stays local so that the last overflow page is full
//!
//! P <= X: all of it is local.  Otherwise K bytes are if K <= X, and M bytes if not.
//! ```

use crate::page::{CELL_POINTER_LEN, PageKind};
use crate::{overflow, varint};

/// The division of a payload between its cell and the overflow chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Bytes in the cell.
    pub local: usize,
    /// Overflow pages for the remaining bytes.
    pub overflow_pages: u64,
}

/// Returns `X`: the longest payload, in bytes, that stays completely local on a page with `usable` bytes.
///
/// Returns 0 for table interior pages, whose cells have no payload.
#[inline]
#[must_use]
pub const fn max_local(kind: PageKind, usable: usize) -> usize {
    match kind {
        PageKind::LeafTable => usable - 35,
        PageKind::LeafIndex | PageKind::InteriorIndex => (usable - 12) * 64 / 255 - 23,
        PageKind::InteriorTable => 0,
    }
}

/// Returns `M`: the fewest local bytes of a payload that overflows, on a page with `usable` bytes.
#[inline]
#[must_use]
pub const fn min_local(usable: usize) -> usize {
    (usable - 12) * 32 / 255 - 23
}

/// Divides a payload of `payload_len` bytes for a cell of a page of `kind` with `usable` bytes.
///
/// # Panics
/// If `kind` is a table interior page and the payload is not empty.
#[inline]
#[must_use]
pub const fn split(kind: PageKind, usable: usize, payload_len: u64) -> Split {
    let max_local = max_local(kind, usable);
    if payload_len <= max_local as u64 {
        #[expect(clippy::cast_possible_truncation, reason = "compared with a usize in the line above")]
        return Split { local: payload_len as usize, overflow_pages: 0 };
    }
    assert!(!matches!(kind, PageKind::InteriorTable), "cells of table interior pages have no payload");
    let min_local = min_local(usable);
    let chunk = overflow::chunk_len(usable) as u64;
    #[expect(clippy::cast_possible_truncation, reason = "less than a page")]
    let fills_last_page = min_local + ((payload_len - min_local as u64) % chunk) as usize;
    let local = if fills_last_page <= max_local { fills_last_page } else { min_local };
    Split { local, overflow_pages: (payload_len - local as u64).div_ceil(chunk) }
}

/// Returns the mean bytes of leaf and overflow pages that a payload takes. This includes its share of the page
/// headers and of the unused bytes at the page ends. The rowid counts only in a table leaf.
#[must_use]
pub fn mean_page_bytes(kind: PageKind, usable: usize, payload_len: u64, rowid: i64) -> f64 {
    let split = split(kind, usable, payload_len);
    let mut cell = split.local + varint::len(payload_len) + CELL_POINTER_LEN;
    if kind == PageKind::LeafTable {
        cell += varint::len(rowid.cast_unsigned());
    }
    if split.overflow_pages > 0 {
        // The number of the first overflow page, which is as long as the link from each overflow page to the next.
        cell += usable - overflow::chunk_len(usable);
    }
    let (page, cell, room) = (usable as f64, cell as f64, (usable - kind.header_len()) as f64);
    // A cell larger than half a page leaves the rest of its page empty. Smaller cells leave half a cell empty on
    // average.
    let share = if cell > room / 2.0 { page } else { page * cell / (room - cell / 2.0) };
    share + split.overflow_pages as f64 * page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PageSize;

    const KINDS: [PageKind; 3] = [PageKind::LeafTable, PageKind::LeafIndex, PageKind::InteriorIndex];

    fn usables() -> impl Iterator<Item = usize> {
        (9..=16).flat_map(|power| [1 << power, (1 << power) - 32])
    }

    /// The formulas of the specification, written down a second time in its own terms.
    fn split_by_the_book(kind: PageKind, usable: usize, payload_len: u64) -> (u64, u64) {
        let (u, p) = (usable as u64, payload_len);
        let x = if kind == PageKind::LeafTable { u - 35 } else { ((u - 12) * 64 / 255) - 23 };
        let m = ((u - 12) * 32 / 255) - 23;
        if p <= x {
            return (p, 0);
        }
        let k = m + ((p - m) % (u - 4));
        let local = if k <= x { k } else { m };
        let mut pages = 0;
        let mut rest = p - local;
        while rest > 0 {
            rest = rest.saturating_sub(u - 4);
            pages += 1;
        }
        (local, pages)
    }

    #[test]
    fn known_limits() {
        assert_eq!(max_local(PageKind::LeafTable, 4096), 4061);
        assert_eq!(max_local(PageKind::LeafIndex, 4096), 1002);
        assert_eq!(min_local(4096), 489);
        assert_eq!(max_local(PageKind::LeafIndex, 512), 102);
        assert_eq!(min_local(480), 35);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn every_threshold_of_every_page_size() {
        for usable in usables() {
            assert!(PageSize::new(512).is_some_and(|least| usable >= least.bytes() - 32));
            for kind in KINDS {
                let (x, m, chunk) = (max_local(kind, usable), min_local(usable), usable - 4);
                // At K = X one more byte of local payload becomes M. At M + n chunks the last overflow page is
                // exactly full.
                let turns = [0, 1, m, x, m + chunk, x + chunk, m + 2 * chunk, x + 2 * chunk, m + 9 * chunk];
                for near in turns.iter().flat_map(|turn| turn.saturating_sub(2)..=turn + 2) {
                    let expected = split_by_the_book(kind, usable, near as u64);
                    let split = split(kind, usable, near as u64);
                    assert_eq!((split.local as u64, split.overflow_pages), expected, "{kind:?} U={usable} P={near}");
                    assert!(split.local <= x);
                }
            }
        }
    }

    #[test]
    fn table_interior_pages_have_no_payload() {
        assert_eq!(split(PageKind::InteriorTable, 512, 0), Split { local: 0, overflow_pages: 0 });
    }
}
