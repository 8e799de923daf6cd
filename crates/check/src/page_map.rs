//! Records what each page of a file holds, for pictures of it.
//!
//! The memory has a bound: a file of more pages than cells has several neighbouring pages a cell, and the cell holds their sums.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Most cells of a map. With pages of 4096 bytes, files up to 2 GiB have a cell a page.
const MOST_CELLS: u32 = 1 << 19;

/// The use of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageUse {
    /// A page above the leaves of a b-tree.
    Interior,
    /// A leaf of a b-tree.
    Leaf,
    /// A page of a record that is too long for its leaf.
    Overflow,
    /// A page of the freelist.
    Free,
    /// A page of the pointer map that auto-vacuum needs.
    PointerMap,
    /// The page that SQLite locks and never writes.
    LockByte,
}

impl PageUse {
    /// All uses, in the order of their bits in [`MapCell::uses`].
    pub const ALL: [Self; 6] =
        [Self::Interior, Self::Leaf, Self::Overflow, Self::Free, Self::PointerMap, Self::LockByte];

    /// Returns the bit of this use in [`MapCell::uses`].
    #[must_use]
    pub fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// The pages of a file, in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageMap {
    /// Number of pages of the file.
    pub pages: u32,
    /// Number of neighbouring pages of a cell; the last cell may have fewer.
    pub pages_per_cell: u32,
    /// The cells. The first one begins with page 1.
    pub cells: Vec<MapCell>,
}

/// A page, or some neighbouring pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapCell {
    /// The bits of all [`PageUse`]s of the pages; 0 if nothing reached them.
    pub uses: u8,
    /// Position in [`Report::btrees`](super::Report::btrees) of the tree that was the first to reach a page.
    pub btree: Option<u32>,
    /// Whether the pages belong to several b-trees.
    pub several_btrees: bool,
    /// The level of the highest interior page, counted from 1 at the root; 0 without interior pages.
    pub level: u8,
    /// Number of pages of b-trees, overflow pages left out.
    pub btree_pages: u32,
    /// Number of cells on these pages.
    pub entries: u64,
    /// Bytes of these pages that nothing uses.
    pub free_bytes: u64,
    /// Number of leaves that do not follow the leaf before them in key order: see
    /// [`BtreeReport::sequential_leaves`](super::BtreeReport::sequential_leaves).
    pub jumps: u32,
    /// The page that points to one of the pages, if anything but the schema does.
    pub parent: Option<u32>,
}

/// A recorder of pages, for all threads of a check.
#[derive(Debug)]
pub(super) struct PageRecorder {
    pages: u32,
    pages_per_cell: u32,
    slots: Vec<Slot>,
}

/// The state of a cell. Threads add to it in any order.
#[derive(Debug, Default)]
struct Slot {
    uses: AtomicU32,
    /// Position of the first b-tree, plus 1.
    btree: AtomicU32,
    /// Number of levels from [`LOWEST`] up to the highest interior page; 0 without one.
    height: AtomicU8,
    btree_pages: AtomicU32,
    entries: AtomicU64,
    free_bytes: AtomicU64,
    jumps: AtomicU32,
    parent: AtomicU32,
}

/// The bit of `Slot::uses` that says that the pages belong to several b-trees.
const SEVERAL: u32 = 1 << 8;
/// A level below all that a tree may have.
const LOWEST: u8 = u8::MAX;

impl PageRecorder {
    pub(super) fn new(pages: u32) -> Self {
        Self::with_cells(pages, MOST_CELLS)
    }

    fn with_cells(pages: u32, most: u32) -> Self {
        let pages_per_cell = pages.div_ceil(most).max(1);
        let slots = (0..pages.div_ceil(pages_per_cell)).map(|_| Slot::default()).collect();
        Self { pages, pages_per_cell, slots }
    }

    fn slot(&self, page: u32) -> Option<&Slot> {
        self.slots.get((page.checked_sub(1)? / self.pages_per_cell) as usize)
    }

    /// Records that a b-tree has reached a page, through the page `parent` or from the schema.
    pub(super) fn reached(&self, page: u32, btree: u32, parent: Option<u32>) {
        let Some(slot) = self.slot(page) else { return };
        let first = slot.btree.compare_exchange(0, btree + 1, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_err_and(|found| found != btree + 1) {
            slot.uses.fetch_or(SEVERAL, Ordering::Relaxed);
        }
        slot.parent.store(parent.unwrap_or(0), Ordering::Relaxed);
    }

    /// Records a page of a b-tree: its level, and the number of its cells and free bytes.
    pub(super) fn btree_page(&self, page: u32, level: Option<u32>, entries: u64, free_bytes: u64) {
        let Some(slot) = self.slot(page) else { return };
        let kind = if level.is_some() { PageUse::Interior } else { PageUse::Leaf };
        slot.uses.fetch_or(kind.bit().into(), Ordering::Relaxed);
        slot.btree_pages.fetch_add(1, Ordering::Relaxed);
        slot.entries.fetch_add(entries, Ordering::Relaxed);
        slot.free_bytes.fetch_add(free_bytes, Ordering::Relaxed);
        if let Some(level) = level {
            let level = u8::try_from(level).unwrap_or(LOWEST);
            slot.height.fetch_max(LOWEST - level, Ordering::Relaxed);
        }
    }

    /// Records a leaf that does not follow the leaf before it in key order.
    pub(super) fn jump(&self, page: u32) {
        if let Some(slot) = self.slot(page) {
            slot.jumps.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records the use of a page outside the levels of a b-tree.
    pub(super) fn other_page(&self, page: u32, kind: PageUse) {
        if let Some(slot) = self.slot(page) {
            slot.uses.fetch_or(kind.bit().into(), Ordering::Relaxed);
        }
    }

    pub(super) fn finish(self) -> PageMap {
        let cells = self.slots.into_iter().map(Slot::cell).collect();
        PageMap { pages: self.pages, pages_per_cell: self.pages_per_cell, cells }
    }
}

impl Slot {
    fn cell(self) -> MapCell {
        let uses = self.uses.into_inner();
        MapCell {
            uses: u8::try_from(uses & !SEVERAL).unwrap_or_default(),
            btree: self.btree.into_inner().checked_sub(1),
            several_btrees: uses & SEVERAL != 0,
            level: LOWEST.checked_sub(self.height.into_inner()).filter(|level| *level < LOWEST).unwrap_or(0),
            btree_pages: self.btree_pages.into_inner(),
            entries: self.entries.into_inner(),
            free_bytes: self.free_bytes.into_inner(),
            jumps: self.jumps.into_inner(),
            parent: Some(self.parent.into_inner()).filter(|parent| *parent > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_page_if_there_are_enough() {
        let recorder = PageRecorder::with_cells(3, 3);
        recorder.reached(1, 0, None);
        recorder.btree_page(1, Some(1), 2, 3900);
        recorder.reached(3, 1, Some(1));
        recorder.btree_page(3, None, 7, 10);
        recorder.jump(3);
        let map = recorder.finish();
        assert_eq!((map.pages_per_cell, map.cells.len()), (1, 3));
        let [root, unreached, leaf] = map.cells[..] else { panic!("{map:?}") };
        assert_eq!((root.uses, root.btree, root.level, root.parent), (PageUse::Interior.bit(), Some(0), 1, None));
        assert_eq!(unreached, MapCell::default());
        assert_eq!((leaf.uses, leaf.btree, leaf.parent), (PageUse::Leaf.bit(), Some(1), Some(1)));
        assert_eq!((leaf.entries, leaf.free_bytes, leaf.jumps), (7, 10, 1));
    }

    #[test]
    fn a_cell_of_several_pages_has_their_sums() {
        let recorder = PageRecorder::with_cells(10, 4);
        for (page, btree) in [(1, 0), (2, 0), (3, 5)] {
            recorder.reached(page, btree, Some(9));
            recorder.btree_page(page, None, 10, 100);
        }
        recorder.other_page(10, PageUse::Free);
        recorder.other_page(11, PageUse::Free);
        let map = recorder.finish();
        assert_eq!((map.pages_per_cell, map.cells.len()), (3, 4));
        let cell = map.cells[0];
        assert_eq!((cell.btree, cell.several_btrees, cell.btree_pages), (Some(0), true, 3));
        assert_eq!((cell.entries, cell.free_bytes), (30, 300));
        assert_eq!(map.cells[3].uses, PageUse::Free.bit());
    }
}
