//! Lengths of cells and nodes.

/// The most dimensions of an R-Tree (RTREE_MAX_DIMENSIONS).
pub const MAX_DIMENSIONS: usize = 5;

/// The most cells that SQLite puts on a node of a new tree (RTREE_MAXCELLS).
const MAX_CELLS: usize = 51;

/// Bytes of a page that a node leaves free, so that its row needs no overflow page.
const PAGE_RESERVE: usize = 64;

/// Bytes of a node before its cells.
pub(crate) const HEADER_BYTES: usize = 4;

/// Bytes of a cell before its coordinates.
pub(crate) const ID_BYTES: usize = 8;

/// Bytes of a coordinate.
const COORDINATE_BYTES: usize = 4;

/// The kind of the coordinates of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinateKind {
    /// 32-bit floats: the module `rtree`.
    Real32,
    /// 32-bit integers: the module `rtree_i32`.
    Int32,
}

/// The dimensions and the kind of coordinates of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    dimensions: usize,
    kind: CoordinateKind,
}

impl Layout {
    /// Returns the layout of a tree, or `None` if SQLite has none of so many dimensions.
    #[must_use]
    pub fn new(dimensions: usize, kind: CoordinateKind) -> Option<Self> {
        (1..=MAX_DIMENSIONS).contains(&dimensions).then_some(Self { dimensions, kind })
    }

    /// Returns the layout of a new tree whose nodes have this length in a database of these pages.
    #[must_use]
    pub fn of_node_bytes(node_bytes: usize, page_bytes: usize, kind: CoordinateKind) -> Option<Self> {
        let layouts = (1..=MAX_DIMENSIONS).filter_map(|dimensions| Self::new(dimensions, kind));
        let mut found = layouts.filter(|layout| layout.node_bytes(page_bytes) == node_bytes);
        // Nodes of small pages have one length in several dimensions.
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns the number of dimensions.
    #[must_use]
    pub const fn dimensions(self) -> usize {
        self.dimensions
    }

    /// Returns the kind of coordinates.
    #[must_use]
    pub const fn kind(self) -> CoordinateKind {
        self.kind
    }

    /// Returns the number of coordinates of a box: two a dimension.
    #[must_use]
    pub const fn coordinates(self) -> usize {
        2 * self.dimensions
    }

    /// Returns the bytes of a box.
    #[must_use]
    pub const fn bounds_bytes(self) -> usize {
        self.coordinates() * COORDINATE_BYTES
    }

    /// Returns the bytes of a cell.
    #[must_use]
    pub const fn cell_bytes(self) -> usize {
        ID_BYTES + self.bounds_bytes()
    }

    /// Returns the bytes of a node of a new tree, as SQLite chooses them.
    #[must_use]
    pub const fn node_bytes(self, page_bytes: usize) -> usize {
        let most = HEADER_BYTES + MAX_CELLS * self.cell_bytes();
        let room = page_bytes - PAGE_RESERVE;
        if most < room { most } else { room }
    }

    /// Returns the number of cells of a full node of `node_bytes` bytes.
    #[must_use]
    pub const fn capacity(self, node_bytes: usize) -> usize {
        (node_bytes - HEADER_BYTES) / self.cell_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks SQLite for the length of the root of every tree that it can make.
    #[test]
    #[cfg_attr(miri, ignore = "needs SQLite")]
    fn nodes_are_as_long_as_sqlite_makes_them() {
        for page_bytes in [512, 1024, 4096, 65536] {
            for (module, kind) in [("rtree", CoordinateKind::Real32), ("rtree_i32", CoordinateKind::Int32)] {
                for dimensions in 1..=MAX_DIMENSIONS {
                    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
                    let columns: String = (0..dimensions).map(|at| format!(", a{at}, b{at}")).collect();
                    let sql =
                        format!("PRAGMA page_size = {page_bytes}; CREATE VIRTUAL TABLE t USING {module}(id{columns})");
                    sqlite.execute_batch(&sql).unwrap();
                    let bytes: usize =
                        sqlite.query_row("SELECT length(data) FROM t_node", [], |row| row.get(0)).unwrap();
                    let layout = Layout::new(dimensions, kind).unwrap();
                    assert_eq!(layout.node_bytes(page_bytes), bytes, "{module}, {dimensions}, {page_bytes}");
                    if page_bytes >= 4096 {
                        assert_eq!(Layout::of_node_bytes(bytes, page_bytes, kind), Some(layout));
                    }
                }
            }
        }
        assert_eq!(Layout::new(0, CoordinateKind::Real32), None);
        assert_eq!(Layout::new(6, CoordinateKind::Real32), None);
        assert_eq!(Layout::of_node_bytes(448, 512, CoordinateKind::Real32), None);
    }
}
