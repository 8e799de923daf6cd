//! Appends rows behind the largest rowid of a table, at the right edge of its tree.
//!
//! ```text
//! root, page 5        c0 .. c7, c8           stays where it is, gets other children
//! page 90             its last child, c8     written again as a new page, with more children; page 90 becomes free
//! leaf 91             its last child         stays
//! new leaves          behind the end of the file
//! ```
//!
//! An interior page of the right edge may overflow, so the levels are resumed as if all of the tree had been built just now: the
//! pages of the edge are written again, and become free. A root that is a leaf is moved to a new page first.

use super::LiveTransaction;
use super::tree_pages::corrupt;
use crate::Result;
use crate::table::TableTree;
use crate::table::rowid::{self, NewRows};
use crate::tree::interior::{Child, LargestRowid, Levels, write_interior};
use litepress_format::cell::Cell;
use litepress_format::page::PageReader;

/// The tallest tree: one of more levels could not be addressed.
const MAX_DEPTH: usize = 20;

/// The number of an interior page, and its children in key order, each with its divider.
type InteriorPage = (u32, Vec<(Option<i64>, u32)>);

/// The right edge of a rowid table's tree.
#[derive(Debug, Default)]
pub(crate) struct RightEdge {
    /// The largest rowid; `None` in an empty table.
    pub largest_rowid: Option<i64>,
    /// The interior pages from the root down, with their children in key order. The right-most child has no divider.
    interior: Vec<InteriorPage>,
    leaf: u32,
}

impl LiveTransaction<'_> {
    /// Reads the right edge of the rowid table at `root`.
    pub(crate) fn right_edge(&self, root: u32) -> Result<RightEdge> {
        let (mut edge, mut number) = (RightEdge::default(), root);
        loop {
            let page = self.read_page(number)?;
            let damaged = |error| corrupt(number, error);
            let reader = PageReader::new(&page, 0, self.page_bytes()).map_err(damaged)?;
            if !reader.kind().is_table() || edge.interior.len() > MAX_DEPTH {
                return Err(corrupt(number, "it is not a page of the tree of a table"));
            }
            let cells = reader.cells().collect::<Result<Vec<Cell<'_>>, _>>().map_err(damaged)?;
            let Some(right) = reader.right_child() else {
                edge.largest_rowid = cells.last().and_then(Cell::rowid);
                edge.leaf = number;
                if edge.largest_rowid.is_none() && number != root {
                    return Err(corrupt(number, "the last leaf of a table is empty"));
                }
                return Ok(edge);
            };
            if cells.is_empty() {
                return Err(corrupt(number, "an interior page has no cell"));
            }
            let left = cells.iter().map(|cell| (cell.rowid(), cell.left_child().unwrap_or_default()));
            edge.interior.push((number, left.chain([(None, right)]).collect()));
            number = right;
        }
    }

    /// Adds rows to the rowid table at `root`, at the right edge of its tree. Returns the figures of the new rows; the root is the
    /// table's own, unless the table was empty: then the caller must [set](Self::set_root) it, and [free](Self::free_tree) the old one.
    ///
    /// # Errors
    /// If a rowid is not above the largest one, the source fails, or the tree is damaged.
    pub(crate) fn extend_tree(&mut self, root: u32, rows: NewRows<'_>) -> Result<TableTree> {
        let edge = self.right_edge(root)?;
        let Some(largest_rowid) = edge.largest_rowid else {
            return rowid::build_of(rows, self.pages()?);
        };
        let old_leaf = if edge.interior.is_empty() { Some(self.read_page(root)?) } else { None };
        let pages = self.pages()?;
        let first_leaf = match old_leaf {
            None => None,
            Some(bytes) => {
                let mut run = pages.new_run();
                let index = run.add_page();
                run.page_mut(index).copy_from_slice(&bytes);
                let placement = pages.place(&mut run)?;
                pages.write(run, &placement)?;
                Some(placement.number(index))
            }
        };
        let usable = pages.page_size().bytes();
        let levels = Levels::resume(usable, edge.levels(largest_rowid, first_leaf));
        let (children, tree) = rowid::extend(rows, largest_rowid, levels, pages)?;
        if tree.rows == 0 {
            // Nothing points to the copy of the leaf; it becomes free.
            self.freed.extend(first_leaf);
            return Ok(TableTree { root, ..tree });
        }
        let mut page = vec![0; usable];
        write_interior(&mut page, 0, usable, &children);
        self.change_pages(&[(root, page)])?;
        self.freed.extend(edge.interior.iter().skip(1).map(|&(number, _)| number));
        Ok(TableTree { root, ..tree })
    }
}

impl RightEdge {
    /// Returns the children of the edge, the lowest level first, as [`Levels::resume`] takes them. `first_leaf` is the copy of a root
    /// that was a leaf.
    fn levels(&self, largest_rowid: i64, first_leaf: Option<u32>) -> Vec<Vec<Child<LargestRowid>>> {
        let last_leaf = (LargestRowid(largest_rowid), first_leaf.unwrap_or(self.leaf));
        if self.interior.is_empty() {
            return vec![vec![last_leaf]];
        }
        let lowest_first = self.interior.iter().rev();
        let mut levels: Vec<Vec<Child<LargestRowid>>> = lowest_first
            .map(|(_, children)| {
                children.iter().filter_map(|&(divider, child)| Some((LargestRowid(divider?), child))).collect()
            })
            .collect();
        levels[0].push(last_leaf);
        levels
    }
}
