//! The levels above the leaves of a rowid table.
//!
//! Children arrive in key order. A level holds them back until it knows that a page of them is full **and** that at
//! least two more follow: the last page of a level then always has two children or more, as SQLite refuses an
//! interior page without a cell. So each page is written once, complete, and never read back.

use litepress_format::page::{CELL_POINTER_LEN, INTERIOR_HEADER_LEN, PageKind, PageWriter};
use litepress_format::{cell, varint};

/// A page and the largest rowid below it.
pub(crate) type Child = (i64, u32);

/// The interior levels of one tree, lowest first.
///
/// REQUIRES: children in ascending order of their rowids. Memory: one page of children a level.
pub(crate) struct TableLevels {
    levels: Vec<Level>,
    usable: usize,
}

#[derive(Default)]
struct Level {
    children: Vec<Child>,
    /// Bytes of the cells of all children but the last, which is the right-most pointer and has no cell.
    cell_bytes: usize,
    /// How many children fill one page, once there are more.
    full: Option<usize>,
    /// Whether a page of this level exists already.
    has_pages: bool,
}

/// What a tree begins with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A single leaf, or no leaf at all.
    Leaf(Option<u32>),
    /// The children of the root page, to be written by the caller.
    Interior(Vec<Child>),
}

impl TableLevels {
    pub fn new(usable: usize) -> Self {
        Self { levels: Vec::new(), usable }
    }

    /// Adds the next leaf. `write` writes an interior page with the given children and returns its number.
    pub fn push<E>(&mut self, leaf: Child, mut write: impl FnMut(&[Child]) -> Result<u32, E>) -> Result<(), E> {
        self.push_at(0, leaf, &mut write)
    }

    fn push_at<E>(
        &mut self,
        height: usize,
        child: Child,
        write: &mut impl FnMut(&[Child]) -> Result<u32, E>,
    ) -> Result<(), E> {
        if self.levels.len() == height {
            self.levels.push(Level::default());
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
        mut write: impl FnMut(&[Child]) -> Result<u32, E>,
    ) -> Result<Root, E> {
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
                let parent = level.write_page(level.last_pages(), capacity, &mut write)?;
                self.push_at(height + 1, parent, &mut write)?;
            }
            height += 1;
        }
        Ok(Root::Leaf(None))
    }
}

impl Level {
    fn push(&mut self, child: Child, capacity: usize) {
        if let Some(&last) = self.children.last() {
            self.cell_bytes += cell_len(last);
            if self.cell_bytes > capacity && self.full.is_none() {
                self.full = Some(self.children.len());
            }
        }
        self.children.push(child);
    }

    /// How many children the next page of the last ones takes: all where they fit, else one less than a full page,
    /// so that two are left; half of them where they would fit and yet must not be the root.
    fn last_pages(&self) -> usize {
        match self.full {
            Some(full) => full - 1,
            None if self.has_pages => self.children.len(),
            None => self.children.len().div_ceil(2),
        }
    }

    /// Writes a page of the first `count` children; returns it as a child of the level above.
    fn write_page<E>(
        &mut self,
        count: usize,
        capacity: usize,
        write: &mut impl FnMut(&[Child]) -> Result<u32, E>,
    ) -> Result<Child, E> {
        assert!(count >= 2, "an interior page has at least one cell and the right-most pointer");
        let page = write(&self.children[..count])?;
        let (key, _) = self.children[count - 1];
        let rest: Vec<Child> = self.children.drain(..).skip(count).collect();
        *self = Self { has_pages: true, ..Self::default() };
        for child in rest {
            self.push(child, capacity);
        }
        Ok((key, page))
    }
}

/// Bytes of the cell of a child, its pointer included.
fn cell_len((rowid, _): Child) -> usize {
    CELL_POINTER_LEN + 4 + varint::len(rowid.cast_unsigned())
}

/// Writes the interior page with these children at `header_offset` of `page`; all other bytes become zero.
pub(crate) fn write_interior(page: &mut [u8], header_offset: usize, usable: usize, children: &[Child]) {
    let (&(_, right_child), others) = children.split_last().expect("an interior page has children");
    page[header_offset..].fill(0);
    let mut writer = PageWriter::new(page, header_offset, PageKind::InteriorTable, usable);
    let mut bytes = Vec::with_capacity(16);
    for &(rowid, left_child) in others {
        bytes.clear();
        cell::write_table_interior(left_child, rowid, &mut bytes);
        assert!(writer.push(&bytes), "a level's children fit its page");
    }
    writer.finish(Some(right_child));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Builds the levels over `leaves` children with keys of a given width; every page must hold two children or
    /// more, fit its page, and all children must be reached in order at one depth.
    fn build(leaves: u32, first_key: i64, usable: usize, root_usable: usize) -> usize {
        let mut pages: Vec<Vec<Child>> = Vec::new();
        let first_page = leaves + 1;
        let mut write = |children: &[Child]| {
            assert!(children.len() >= 2);
            let cells: usize = children[..children.len() - 1].iter().map(|&child| cell_len(child)).sum();
            assert!(cells + INTERIOR_HEADER_LEN <= usable);
            pages.push(children.to_vec());
            Ok::<u32, Infallible>(first_page + u32::try_from(pages.len()).unwrap() - 1)
        };
        let mut levels = TableLevels::new(usable);
        for leaf in 0..leaves {
            levels.push((first_key + i64::from(leaf), leaf + 1), &mut write).unwrap();
        }
        let mut level = match levels.finish(root_usable, &mut write).unwrap() {
            Root::Leaf(None) => vec![],
            Root::Leaf(Some(leaf)) => vec![(first_key, leaf)],
            Root::Interior(children) => {
                let cells: usize = children[..children.len() - 1].iter().map(|&child| cell_len(child)).sum();
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
        let expected: Vec<Child> = (0..leaves).map(|leaf| (first_key + i64::from(leaf), leaf + 1)).collect();
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
