//! Walks the interior pages of a b-tree in key order, and cuts the leaves below them into groups.
//!
//! The walk holds one interior page a level. All leaves of a tree are on one level, so that the pages of the level above say
//! which pages are leaves, and these are read by others.

use crate::snapshot::{PageReader, Snapshot};
use crate::visited_pages::VisitedPages;
use litepress_format::cell::Cell;
use litepress_format::page::{self, FILE_HEADER_LEN, PageKind};
use litepress_rows::source::PART_BYTES;
use litepress_rows::sync::Mutex;
use litepress_rows::{Error, Result};
use std::sync::Arc;

/// The depth of the deepest tree that SQLite walks.
pub(crate) const MAX_DEPTH: usize = 20;

/// A b-tree of a snapshot.
#[derive(Debug)]
pub(crate) struct Tree {
    pub snapshot: Snapshot,
    pub root: u32,
    /// The name of the table or index, for errors.
    pub name: String,
    /// The kind of its leaves.
    pub leaf_kind: PageKind,
    pub visited: VisitedPages,
    /// Memory of parts that were read, for the next ones.
    pub buffers: Mutex<Vec<Vec<u8>>>,
}

impl Tree {
    pub fn new(snapshot: &Snapshot, root: u32, name: String, leaf_kind: PageKind) -> Self {
        let visited = VisitedPages::new(snapshot.page_count());
        Self { snapshot: snapshot.clone(), root, name, leaf_kind, visited, buffers: Mutex::default() }
    }

    /// Returns the error of a page.
    pub fn corrupt(&self, page: u32, what: impl std::fmt::Display) -> Error {
        self.snapshot.corrupt(&self.name, page, what)
    }

    /// Returns a reader of the content of a page of the tree.
    pub fn open<'p>(&self, number: u32, bytes: &'p [u8]) -> Result<page::PageReader<'p>> {
        let header_offset = if number == 1 { FILE_HEADER_LEN } else { 0 };
        let reader = page::PageReader::new(bytes, header_offset, self.snapshot.usable());
        let reader = reader.map_err(|error| self.corrupt(number, error))?;
        if reader.kind().is_table() != self.leaf_kind.is_table() {
            return Err(self.corrupt(number, format!("is a page of another kind of tree: {}", reader.kind())));
        }
        Ok(reader)
    }

    /// Checks that the database has page `page`, to which page `from` points.
    pub fn check(&self, page: u32, from: u32) -> Result<()> {
        if self.snapshot.has(page) {
            return Ok(());
        }
        Err(self.corrupt(from, format!("points to page {page}, which cannot hold anything")))
    }

    /// Reads a cell of page `number`.
    pub fn cell<'p>(&self, number: u32, page: &page::PageReader<'p>, cell: usize) -> Result<Cell<'p>> {
        Ok(page.cell(cell).map_err(|error| self.corrupt(number, error))?.0)
    }

    /// Marks a page that is entered. `from` is the page that points to it.
    ///
    /// # Errors
    /// If there is no such page, or the scan has been on it.
    pub fn claim(&self, page: u32, from: u32) -> Result<()> {
        self.check(page, from)?;
        if !self.visited.claim(page) {
            return Err(self.corrupt(from, format!("points to page {page}, to which another page points too")));
        }
        Ok(())
    }

    /// Returns the most rows that a leaf can have.
    pub fn most_rows_of_leaf(&self) -> u64 {
        /// Bytes of the smallest cell and its pointer.
        const LEAST: usize = page::MIN_CELL_LEN + page::CELL_POINTER_LEN;
        (self.snapshot.page_size().bytes() / LEAST) as u64
    }
}

/// An interior page, and its number.
#[derive(Debug)]
pub(crate) struct InteriorPage {
    pub number: u32,
    pub bytes: Vec<u8>,
}

/// A cell of an interior page: the divider between two leaves.
#[derive(Clone, Debug)]
pub(crate) struct Divider {
    pub page: Arc<InteriorPage>,
    pub cell: usize,
}

impl Divider {
    /// Reads the cell.
    pub fn read<'d>(&'d self, tree: &Tree) -> Result<Cell<'d>> {
        read_cell(tree, &self.page, self.cell)
    }
}

fn read_cell<'p>(tree: &Tree, page: &'p InteriorPage, cell: usize) -> Result<Cell<'p>> {
    tree.cell(page.number, &tree.open(page.number, &page.bytes)?, cell)
}

/// A leaf, and the divider behind it. The last leaf of a tree has none.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub page: u32,
    pub divider: Option<Divider>,
}

/// Consecutive leaves.
#[derive(Debug)]
pub(crate) struct Group {
    pub leaves: Vec<Leaf>,
    /// Number of leaves before them.
    pub leaves_before: u64,
    /// The divider before them.
    pub lower: Option<Divider>,
}

/// An interior page on the way to a leaf.
#[derive(Debug)]
struct Level {
    page: Arc<InteriorPage>,
    cells: usize,
    right_child: u32,
    /// The child to enter next: the left one of the cell of this number, or the right one.
    next: usize,
}

/// A walk through the tree.
#[derive(Debug)]
pub(crate) struct Walk {
    levels: Vec<Level>,
    /// Number of levels above the leaves.
    interior_levels: usize,
    /// The root is a leaf that was not handed out.
    has_root_leaf: bool,
    leaves: u64,
    last: Option<Divider>,
}

impl Walk {
    /// Begins at the root.
    pub fn new(tree: &Tree) -> Result<Self> {
        let mut reader = tree.snapshot.reader()?;
        tree.claim(tree.root, tree.root)?;
        let interior_levels = interior_levels(tree, &mut reader)?;
        let has_root_leaf = interior_levels == 0;
        let mut walk = Self { levels: Vec::new(), interior_levels, has_root_leaf, leaves: 0, last: None };
        if !has_root_leaf {
            walk.enter(tree, &mut reader, tree.root)?;
        }
        Ok(walk)
    }

    /// Returns the next leaves, or `None` behind the last. Groups follow from the tree alone.
    pub fn next_group(&mut self, tree: &Tree) -> Result<Option<Group>> {
        let most = (PART_BYTES / tree.snapshot.page_size().bytes()).max(1);
        // Between two calls, the walk keeps no handle of the file.
        let mut reader = tree.snapshot.reader()?;
        let mut group = Group { leaves: Vec::new(), leaves_before: self.leaves, lower: self.last.clone() };
        while group.leaves.len() < most {
            let Some(leaf) = self.next_leaf(tree, &mut reader)? else { break };
            self.last.clone_from(&leaf.divider);
            group.leaves.push(leaf);
        }
        self.leaves += group.leaves.len() as u64;
        Ok((!group.leaves.is_empty()).then_some(group))
    }

    fn next_leaf(&mut self, tree: &Tree, reader: &mut PageReader) -> Result<Option<Leaf>> {
        if std::mem::take(&mut self.has_root_leaf) {
            return Ok(Some(Leaf { page: tree.root, divider: None }));
        }
        while let Some(level) = self.levels.last_mut() {
            let child = match level.next {
                at if at < level.cells => read_cell(tree, &level.page, at)?.left_child().expect("an interior cell"),
                at if at == level.cells => level.right_child,
                _ => {
                    self.levels.pop();
                    continue;
                }
            };
            level.next += 1;
            let parent = level.page.number;
            tree.claim(child, parent)?;
            if self.levels.len() == self.interior_levels {
                return Ok(Some(Leaf { page: child, divider: self.divider() }));
            }
            self.enter(tree, reader, child)?;
        }
        Ok(None)
    }

    /// Returns the divider behind the child that was entered last.
    fn divider(&self) -> Option<Divider> {
        let level = self.levels.iter().rev().find(|level| level.next <= level.cells)?;
        Some(Divider { page: level.page.clone(), cell: level.next - 1 })
    }

    /// Reads a claimed page above the leaves.
    fn enter(&mut self, tree: &Tree, reader: &mut PageReader, number: u32) -> Result<()> {
        let mut bytes = Vec::new();
        reader.read(number, &mut bytes)?;
        let page = tree.open(number, &bytes)?;
        let Some(right_child) = page.right_child() else {
            let what = format!("is a leaf {} levels below the root, others are deeper", self.levels.len());
            return Err(tree.corrupt(number, what));
        };
        let cells = page.cell_count();
        self.levels.push(Level { page: Arc::new(InteriorPage { number, bytes }), cells, right_child, next: 0 });
        Ok(())
    }
}

/// Returns the number of levels above the first leaf.
fn interior_levels(tree: &Tree, reader: &mut PageReader) -> Result<usize> {
    let (mut page, mut from, mut bytes) = (tree.root, tree.root, Vec::new());
    for levels in 0..MAX_DEPTH {
        tree.check(page, from)?;
        reader.read(page, &mut bytes)?;
        let content = tree.open(page, &bytes)?;
        let Some(right_child) = content.right_child() else { return Ok(levels) };
        from = page;
        page = match content.cell_count() {
            0 => right_child,
            _ => tree.cell(from, &content, 0)?.left_child().expect("an interior cell"),
        };
    }
    Err(tree.corrupt(tree.root, format!("no leaf is found within {MAX_DEPTH} levels of the tree")))
}
