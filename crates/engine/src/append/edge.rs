//! Reads the right edge of a table's tree: where rows are added behind the last one.

use crate::table::rowid::Edge;
use crate::tree::interior::LargestRowid;
use crate::{Error, ErrorKind, Result};
use litepress_format::cell::Cell;
use litepress_format::page::{PageKind, PageReader};
use litepress_scan::Snapshot;

/// The depth of the deepest tree that SQLite walks.
const MAX_DEPTH: usize = 20;

/// The right edge of a table.
pub(super) struct RightEdge {
    /// The largest rowid; `None` in an empty table.
    pub last_rowid: Option<i64>,
    /// The levels above the leaves; `None` if the root is a leaf.
    pub edge: Option<Edge>,
    /// The interior pages of the edge.
    pub pages: Vec<u32>,
}

/// Reads the right edge of the table with this root page.
///
/// # Errors
/// If a page cannot be read or is damaged.
pub(super) fn read(snapshot: &Snapshot, root: u32, table: &str) -> Result<RightEdge> {
    let corrupt = |page: u32, what: String| {
        let error = Error::new(ErrorKind::Corrupt, format!("page {page} {what}"));
        error.in_file(snapshot.path()).in_table(table)
    };
    let (mut reader, mut bytes) = (snapshot.reader()?, Vec::new());
    let (mut levels, mut pages, mut page) = (Vec::new(), Vec::new(), root);
    loop {
        if page < 2 || page > snapshot.page_count() || pages.len() >= MAX_DEPTH {
            return Err(corrupt(page, "cannot belong to a table".to_owned()));
        }
        reader.read(page, &mut bytes)?;
        let view = PageReader::new(&bytes, 0, snapshot.usable());
        let view = view.map_err(|error| corrupt(page, error.to_string()))?;
        let cell = |index| Ok::<_, Error>(view.cell(index).map_err(|error| corrupt(page, error.to_string()))?.0);
        match (view.kind(), view.right_child()) {
            (PageKind::InteriorTable, Some(right)) if view.cell_count() > 0 => {
                let mut children = Vec::new();
                for index in 0..view.cell_count() {
                    let Cell::TableInterior { left_child, rowid } = cell(index)? else {
                        return Err(corrupt(page, "has a cell of another kind".to_owned()));
                    };
                    children.push((LargestRowid(rowid), left_child));
                }
                levels.push(children);
                pages.push(page);
                page = right;
            }
            (PageKind::LeafTable, _) => {
                let last_rowid = match view.cell_count().checked_sub(1).map(cell).transpose()? {
                    Some(Cell::TableLeaf { rowid, .. }) => Some(rowid),
                    _ => None,
                };
                levels.reverse();
                let edge = match (levels.first_mut(), last_rowid) {
                    (Some(lowest), Some(last_rowid)) => {
                        lowest.push((LargestRowid(last_rowid), page));
                        Some(Edge { levels, last_rowid })
                    }
                    _ => None,
                };
                return Ok(RightEdge { last_rowid, edge, pages });
            }
            _ => return Err(corrupt(page, "is no page of a table".to_owned())),
        }
    }
}
