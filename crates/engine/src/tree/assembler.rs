//! Puts the finished parts of a b-tree one after another: has their pages numbered by `pages::numbering`, writes them, and adds the
//! interior pages above them. The builders of tables and indexes call it for each part, in the order of parts.

use super::interior::{Child, Divider, Levels, Root, write_interior};
use super::open_page::write_empty;
use crate::Result;
use crate::pages::{PageRun, Pages, Placement, Stretch};
use litepress_format::page::PageKind;

/// Gives parts their page numbers and builds the levels above them.
pub(crate) struct TreeAssembler<'p, D> {
    pages: &'p mut Pages,
    levels: Levels<D>,
}

impl<'p, D: Divider> TreeAssembler<'p, D> {
    pub fn new(pages: &'p mut Pages) -> Self {
        let levels = Levels::new(pages.page_size().bytes());
        Self { pages, levels }
    }

    /// Goes on with a tree whose right edge is known. REQUIRES: nothing was placed.
    pub fn set_levels(&mut self, levels: Levels<D>) {
        self.levels = levels;
    }

    /// Completes the tree except for its root. Returns the root's children. REQUIRES: there are two leaves or more.
    pub fn finish_below_root(self) -> Result<Vec<Child<D>>> {
        let Self { pages, levels } = self;
        let usable = pages.page_size().bytes();
        let mut run = pages.new_run();
        let placement = pages.place(&mut run)?;
        let root = levels.finish(usable, |children| append_interior(pages, &mut run, &placement, children))?;
        pages.write(run, &placement)?;
        match root {
            Root::Interior(children) => Ok(children),
            Root::Leaf(_) => unreachable!("a tree of two leaves has an interior page"),
        }
    }

    /// Returns the pages of the database.
    pub fn pages(&self) -> &Pages {
        self.pages
    }

    /// Gives the tree's first leaf its page, whose bytes follow later: [`write_reserved`](Self::write_reserved). REQUIRES:
    /// nothing was placed.
    pub fn reserve_first(&mut self, child: impl Fn(&Placement) -> Child<D>) -> Result<Placement> {
        let mut run = self.pages.new_run();
        run.add_page();
        let placement = self.pages.place(&mut run)?;
        let write = |_: &[_]| -> Result<u32> { unreachable!("the first leaf completes no page above it") };
        self.levels.push(child(&placement), write)?;
        Ok(placement)
    }

    /// Writes the leaf of [`reserve_first`](Self::reserve_first), a run of one page.
    pub fn write_reserved(&self, run: PageRun, placement: &Placement) -> Result<()> {
        assert_eq!(run.len(), 1, "one page was reserved");
        self.pages.write(run, placement)
    }

    /// Places the next part and writes it, followed by the interior pages that it completes. `child` turns a leaf
    /// into a child of the level above.
    pub fn place<L>(
        &mut self,
        mut run: PageRun,
        leaves: Vec<L>,
        child: impl Fn(L, &Placement) -> Child<D>,
    ) -> Result<()> {
        let placement = self.pages.place(&mut run)?;
        for leaf in leaves {
            let pages = &mut *self.pages;
            let write = |children: &[_]| append_interior(pages, &mut run, &placement, children);
            self.levels.push(child(leaf, &placement), write)?;
        }
        self.pages.write(run, &placement)
    }

    /// Places the next part, whose pages stay in memory and have no pointers, and writes it on this thread, followed by the interior
    /// pages that it completes.
    pub fn place_kept<L: Copy>(
        &mut self,
        run: &PageRun,
        leaves: &[L],
        child: impl Fn(L, &Placement) -> Child<D>,
    ) -> Result<()> {
        let placement = self.pages.write_kept(run)?;
        self.add_leaves(leaves.iter().copied(), &placement, child)
    }

    /// Places the next part and writes it, without levels above. Returns its first page and the checksum of its pages.
    pub fn store(&mut self, mut run: PageRun) -> Result<(u32, u32)> {
        let placement = self.pages.place(&mut run)?;
        let mut checksum = crc32fast::Hasher::new();
        run.slices().for_each(|pages| checksum.update(pages));
        self.pages.write(run, &placement)?;
        Ok((placement.number(0), checksum.finalize()))
    }

    /// Places the next part and writes it. Its leaves follow: [`add_leaves`](Self::add_leaves).
    pub fn write(&mut self, mut run: PageRun) -> Result<Placement> {
        let placement = self.pages.place(&mut run)?;
        self.pages.write(run, &placement)?;
        Ok(placement)
    }

    /// Takes the numbers of a run whose pages another program copies.
    pub fn reserve(&mut self, pages: u32) -> Result<(Placement, Vec<Stretch>)> {
        self.pages.reserve_run(pages)
    }

    /// Adds the leaves of a [reserved](Self::reserve) or written run to the levels above it.
    pub fn add_leaves<L>(
        &mut self,
        leaves: impl IntoIterator<Item = L>,
        placement: &Placement,
        child: impl Fn(L, &Placement) -> Child<D>,
    ) -> Result<()> {
        let mut above = self.pages.new_run();
        let above_placement = self.pages.place(&mut above)?;
        for leaf in leaves {
            let pages = &mut *self.pages;
            let write = |children: &[_]| append_interior(pages, &mut above, &above_placement, children);
            self.levels.push(child(leaf, placement), write)?;
        }
        self.pages.write(above, &above_placement)
    }

    /// Completes the tree. Returns the number of its root. A tree without leaves gets an empty one of kind `empty`.
    pub fn finish(self, empty: PageKind) -> Result<u32> {
        let Self { pages, levels } = self;
        let usable = pages.page_size().bytes();
        let mut run = pages.new_run();
        let placement = pages.place(&mut run)?;
        let root = match levels.finish(usable, |children| append_interior(pages, &mut run, &placement, children))? {
            Root::Leaf(Some(leaf)) => leaf,
            Root::Interior(children) => append_interior(pages, &mut run, &placement, &children)?,
            Root::Leaf(None) => {
                let (index, number) = pages.append(&mut run, &placement)?;
                write_empty(run.page_mut(index), 0, usable, empty);
                number
            }
        };
        pages.write(run, &placement)?;
        Ok(root)
    }
}

/// Writes an interior page behind the pages of `run`. Returns its number.
pub(crate) fn append_interior<D: Divider>(
    pages: &mut Pages,
    run: &mut PageRun,
    placement: &Placement,
    children: &[Child<D>],
) -> Result<u32> {
    let usable = pages.page_size().bytes();
    let (index, number) = pages.append(run, placement)?;
    write_interior(run.page_mut(index), 0, usable, children);
    Ok(number)
}
