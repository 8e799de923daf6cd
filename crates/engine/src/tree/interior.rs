//! Builds the interior levels of tables and indexes.
//!
//! Children arrive in key order, each with the divider between it and the next one: in a table the largest rowid
//! below it, in an index an entry of its own. A level holds children back until it knows that a page of them is full
//! **and** that at least two more follow. So the last page of a level always has at least two children, because
//! SQLite rejects an interior page without a cell. Each page is written once, complete, and never read back.
//!
//! A page of children `c0 .. ck` has the cells `(c0, d0) .. (ck-1, dk-1)` and `ck` as its right-most pointer; the divider
//! `dk` goes up with the page, to the level above.

use litepress_format::page::{CELL_POINTER_LEN, INTERIOR_HEADER_LEN, PageKind, PageWriter};
use litepress_format::{cell, varint};

/// A divider between two neighbouring pages of a level.
pub(crate) trait Divider: Clone {
    /// Kind of the interior pages.
    const PAGE_KIND: PageKind;

    /// Returns the length of its cell, with the number of the left child.
    fn cell_len(&self) -> usize;

    /// Appends that cell.
    fn write_cell(&self, left_child: u32, out: &mut Vec<u8>);
}

/// The divider of a table: the largest rowid of the left page. The leaf keeps it as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LargestRowid(pub i64);

impl Divider for LargestRowid {
    const PAGE_KIND: PageKind = PageKind::InteriorTable;

    fn cell_len(&self) -> usize {
        4 + varint::len(self.0.cast_unsigned())
    }

    fn write_cell(&self, left_child: u32, out: &mut Vec<u8>) {
        cell::write_table_interior(left_child, self.0, out);
    }
}

/// The divider of an index: an entry that is in no leaf, as a cell without the left child. Behind the last page of a
/// tree it is empty and never written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry(pub Vec<u8>);

impl Divider for Entry {
    const PAGE_KIND: PageKind = PageKind::InteriorIndex;

    fn cell_len(&self) -> usize {
        4 + self.0.len()
    }

    fn write_cell(&self, left_child: u32, out: &mut Vec<u8>) {
        assert!(!self.0.is_empty(), "only the last page of a tree has no divider behind it");
        out.extend_from_slice(&left_child.to_be_bytes());
        out.extend_from_slice(&self.0);
    }
}

/// A page, and the divider behind it.
pub(crate) type Child<D> = (D, u32);

/// The interior levels of one tree, lowest first.
///
/// REQUIRES: children in key order. Memory: one page of children a level.
pub(crate) struct Levels<D> {
    levels: Vec<Level<D>>,
    usable: usize,
}

struct Level<D> {
    children: Vec<Child<D>>,
    /// Bytes of the cells of all children but the last one, which becomes the right-most pointer.
    cell_bytes: usize,
    /// How many children fill one page, once there are more.
    full: Option<usize>,
    /// Whether a page of this level exists already.
    has_pages: bool,
}

/// The root of a tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Root<D> {
    /// A single leaf, or no leaf at all.
    Leaf(Option<u32>),
    /// The children of the root page, which the caller must write.
    Interior(Vec<Child<D>>),
}

impl<D: Divider> Levels<D> {
    pub fn new(usable: usize) -> Self {
        Self { levels: Vec::new(), usable }
    }

    /// Goes on at the right edge of a tree. `edge` has the children of the last page of every level, the lowest level
    /// first; above the lowest one, without the last child, which is the page of the level below. The last one is the root.
    pub fn resume(usable: usize, edge: Vec<Vec<Child<D>>>) -> Self {
        let mut levels = Self::new(usable);
        let capacity = usable - INTERIOR_HEADER_LEN;
        let height = edge.len();
        for (number, children) in (1..).zip(edge) {
            let mut level = Level::new(number < height);
            children.into_iter().for_each(|child| level.push(child, capacity));
            levels.levels.push(level);
        }
        levels
    }

    /// Adds the next leaf. `write` writes an interior page of the given children and returns its number.
    pub fn push<E>(&mut self, leaf: Child<D>, mut write: impl FnMut(&[Child<D>]) -> Result<u32, E>) -> Result<(), E> {
        self.push_at(0, leaf, &mut write)
    }

    fn push_at<E>(
        &mut self,
        height: usize,
        child: Child<D>,
        write: &mut impl FnMut(&[Child<D>]) -> Result<u32, E>,
    ) -> Result<(), E> {
        if self.levels.len() == height {
            self.levels.push(Level::new(false));
        }
        let capacity = self.usable - INTERIOR_HEADER_LEN;
        let level = &mut self.levels[height];
        level.push(child, capacity);
        match level.full {
            Some(full) if level.children.len() >= full + 2 => {
                let parent = level.write_page(full, capacity, write)?;
                self.push_at(height + 1, parent, write)
            }
            _ => Ok(()),
        }
    }

    /// Completes the levels. The root has `root_usable` bytes: page 1 has 100 fewer than others.
    pub fn finish<E>(
        mut self,
        root_usable: usize,
        mut write: impl FnMut(&[Child<D>]) -> Result<u32, E>,
    ) -> Result<Root<D>, E> {
        let capacity = self.usable - INTERIOR_HEADER_LEN;
        let mut height = 0;
        while let Some(level) = self.levels.get_mut(height) {
            if !level.has_pages {
                if let [(_, only)] = level.children[..] {
                    return Ok(Root::Leaf(Some(only)));
                }
                if level.full.is_none() && level.cell_bytes <= root_usable - INTERIOR_HEADER_LEN {
                    return Ok(Root::Interior(std::mem::take(&mut level.children)));
                }
            }
            while !self.levels[height].children.is_empty() {
                let level = &mut self.levels[height];
                let parent = level.write_page(level.next_page_len(), capacity, &mut write)?;
                self.push_at(height + 1, parent, &mut write)?;
            }
            height += 1;
        }
        Ok(Root::Leaf(None))
    }
}

impl<D: Divider> Level<D> {
    fn new(has_pages: bool) -> Self {
        Self { children: Vec::new(), cell_bytes: 0, full: None, has_pages }
    }

    fn push(&mut self, child: Child<D>, capacity: usize) {
        if let Some((divider, _)) = self.children.last() {
            self.cell_bytes += CELL_POINTER_LEN + divider.cell_len();
            if self.cell_bytes > capacity && self.full.is_none() {
                self.full = Some(self.children.len());
            }
        }
        self.children.push(child);
    }

    /// Returns how many children the next page takes, at the end of a level. All, if they fit; half of them, if they
    /// would fit but must not be the root. Otherwise one less than a full page, so that two are left.
    fn next_page_len(&self) -> usize {
        match self.full {
            Some(full) => full - 1,
            None if self.has_pages => self.children.len(),
            None => self.children.len().div_ceil(2),
        }
    }

    /// Writes a page of the first `count` children. Returns it as a child of the level above.
    fn write_page<E>(
        &mut self,
        count: usize,
        capacity: usize,
        write: &mut impl FnMut(&[Child<D>]) -> Result<u32, E>,
    ) -> Result<Child<D>, E> {
        assert!(count >= 2, "an interior page has at least one cell and the right-most pointer");
        let page = write(&self.children[..count])?;
        let rest = self.children.split_off(count);
        let (divider, _) = self.children.pop().expect("two children or more");
        *self = Self::new(true);
        for child in rest {
            self.push(child, capacity);
        }
        Ok((divider, page))
    }
}

/// Writes the interior page of these children at `header_offset` of `page`. All other bytes become zero.
pub(crate) fn write_interior<D: Divider>(page: &mut [u8], header_offset: usize, usable: usize, children: &[Child<D>]) {
    let (&(_, right_child), others) = children.split_last().expect("an interior page has children");
    page[header_offset..].fill(0);
    let mut writer = PageWriter::new(page, header_offset, D::PAGE_KIND, usable);
    let mut bytes = Vec::new();
    for (divider, left_child) in others {
        bytes.clear();
        divider.write_cell(*left_child, &mut bytes);
        assert!(writer.push(&bytes), "a level's children fit its page");
    }
    writer.finish(Some(right_child));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Builds the levels over `leaves` children with keys of a given width. Checks that every page has at least two
    /// children and fits, and that all children are reached in order at one depth.
    fn build(leaves: u32, first_key: i64, usable: usize, root_usable: usize) -> usize {
        let mut pages: Vec<Vec<Child<LargestRowid>>> = Vec::new();
        let first_page = leaves + 1;
        let mut write = |children: &[Child<LargestRowid>]| {
            assert!(children.len() >= 2);
            let cells: usize =
                children[..children.len() - 1].iter().map(|&child| CELL_POINTER_LEN + child.0.cell_len()).sum();
            assert!(cells + INTERIOR_HEADER_LEN <= usable);
            pages.push(children.to_vec());
            Ok::<u32, Infallible>(first_page + u32::try_from(pages.len()).unwrap() - 1)
        };
        let mut levels = Levels::new(usable);
        for leaf in 0..leaves {
            levels.push((LargestRowid(first_key + i64::from(leaf)), leaf + 1), &mut write).unwrap();
        }
        let mut level = match levels.finish(root_usable, &mut write).unwrap() {
            Root::Leaf(None) => vec![],
            Root::Leaf(Some(leaf)) => vec![(LargestRowid(first_key), leaf)],
            Root::Interior(children) => {
                let cells: usize =
                    children[..children.len() - 1].iter().map(|&child| CELL_POINTER_LEN + child.0.cell_len()).sum();
                assert!(children.len() >= 2 && cells + INTERIOR_HEADER_LEN <= root_usable);
                children
            }
        };
        let mut depth = usize::from(level.len() > 1);
        while level.first().is_some_and(|&(_, page)| page >= first_page) {
            level = level
                .iter()
                .flat_map(|&(key, page)| {
                    let children = &pages[(page - first_page) as usize];
                    assert_eq!(children.last().map(|child| child.0), Some(key));
                    children.clone()
                })
                .collect();
            depth += 1;
        }
        let expected: Vec<Child<LargestRowid>> =
            (0..leaves).map(|leaf| (LargestRowid(first_key + i64::from(leaf)), leaf + 1)).collect();
        assert_eq!(level, expected);
        depth
    }

    #[test]
    fn every_number_of_leaves_gives_a_sound_tree() {
        for root_usable in [512, 412] {
            for first_key in [1, 120, 1 << 55, i64::MAX - 4000, -4000] {
                for leaves in (0..400).chain([1000, 3000, 4000]) {
                    build(leaves, first_key, 512, root_usable);
                }
            }
        }
        assert_eq!(build(1, 1, 512, 512), 0);
        assert_eq!(build(2, 1, 512, 512), 1);
        assert_eq!(build(40_000, 1 << 40, 512, 412), 3);
    }
}
