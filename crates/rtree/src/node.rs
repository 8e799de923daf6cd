//! A node's bytes.

use crate::bounds::Bounds;
use crate::layout::{HEADER_BYTES, ID_BYTES, Layout};
use litepress_format::FormatError;

/// The most levels below a root (RTREE_MAX_DEPTH).
const MAX_DEPTH: u16 = 40;

/// A cell: a row and its box in a leaf, a child and the box around it elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The rowid, or the child's number.
    pub id: i64,
    /// The box.
    pub bounds: Bounds,
}

/// Builds one node after another in the same memory.
#[derive(Debug)]
pub struct NodeBuilder {
    layout: Layout,
    bytes: Vec<u8>,
    capacity: usize,
    cells: usize,
    bounds: Bounds,
}

impl NodeBuilder {
    /// Starts with an empty node of `node_bytes` bytes.
    #[must_use]
    pub fn new(layout: Layout, node_bytes: usize) -> Self {
        let capacity = layout.capacity(node_bytes);
        Self { layout, bytes: vec![0; node_bytes], capacity, cells: 0, bounds: Bounds::EMPTY }
    }

    /// Returns whether the node has no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// Returns whether no further cell fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.cells == self.capacity
    }

    /// Adds a cell.
    ///
    /// # Panics
    /// If the node is full.
    #[inline]
    pub fn add(&mut self, cell: &Cell) {
        assert!(!self.is_full(), "a node has room for {} cells", self.capacity);
        let start = HEADER_BYTES + self.cells * self.layout.cell_bytes();
        let out = &mut self.bytes[start..start + self.layout.cell_bytes()];
        out[..ID_BYTES].copy_from_slice(&cell.id.to_be_bytes());
        cell.bounds.write(self.layout, &mut out[ID_BYTES..]);
        if self.cells == 0 {
            self.bounds = cell.bounds;
        } else {
            self.bounds.join(&cell.bounds);
        }
        self.cells += 1;
    }

    /// Passes the bytes of the node and the box around its cells to `take`, and begins the next node. `depth` is the number of
    /// levels below the root; 0 for other nodes.
    pub fn finish<T>(&mut self, depth: usize, take: impl FnOnce(&[u8], Bounds) -> T) -> T {
        let number = |number| u16::try_from(number).expect("few levels and cells").to_be_bytes();
        self.bytes[..2].copy_from_slice(&number(depth));
        self.bytes[2..HEADER_BYTES].copy_from_slice(&number(self.cells));
        let end = HEADER_BYTES + self.cells * self.layout.cell_bytes();
        self.bytes[end..].fill(0);
        self.cells = 0;
        take(&self.bytes, self.bounds)
    }
}

/// A node that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Number of levels below, in the root; 0 in other nodes.
    pub depth: u16,
    /// The cells.
    pub cells: Vec<Cell>,
}

impl Node {
    /// Reads a node.
    ///
    /// # Errors
    /// If the bytes are too few for the header or the cells, or the tree is deeper than SQLite allows.
    pub fn read(layout: Layout, bytes: &[u8]) -> Result<Self, FormatError> {
        let Some(&[a, b, c, d]) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(FormatError::new("a node of an R-Tree is shorter than its header", bytes.len()));
        };
        let (depth, count) = (u16::from_be_bytes([a, b]), usize::from(u16::from_be_bytes([c, d])));
        if depth > MAX_DEPTH {
            return Err(FormatError::new("an R-Tree is deeper than SQLite allows", 0));
        }
        let Some(cells) = bytes[HEADER_BYTES..].get(..count * layout.cell_bytes()) else {
            return Err(FormatError::new("a node of an R-Tree is shorter than its cells", bytes.len()));
        };
        let cell = |bytes: &[u8]| {
            let (id, bounds) = bytes.split_at(ID_BYTES);
            Cell { id: i64::from_be_bytes(id.try_into().expect("eight bytes")), bounds: Bounds::read(layout, bounds) }
        };
        Ok(Self { depth, cells: cells.chunks_exact(layout.cell_bytes()).map(cell).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::CoordinateKind;

    #[test]
    fn a_node_is_read_as_it_was_written() {
        for kind in [CoordinateKind::Real32, CoordinateKind::Int32] {
            for dimensions in 1..=5 {
                let layout = Layout::new(dimensions, kind).unwrap();
                let node_bytes = layout.node_bytes(4096);
                let mut builder = NodeBuilder::new(layout, node_bytes);
                // The second node has fewer cells, and must not show those of the first one.
                for (count, depth) in [(51, 0), (3, 2), (0, 0)] {
                    let cells: Vec<Cell> = (0..count).map(|id| cell(id - 1, layout)).collect();
                    cells.iter().for_each(|cell| builder.add(cell));
                    assert_eq!((builder.is_full(), builder.is_empty()), (count == 51, count == 0));
                    builder.finish(depth, |bytes, bounds| {
                        assert_eq!(bytes.len(), node_bytes);
                        let node = Node::read(layout, bytes).unwrap();
                        assert_eq!((usize::from(node.depth), &node.cells), (depth, &cells));
                        assert!(cells.iter().all(|cell| bounds.covers(&cell.bounds)));
                        let end = 4 + cells.len() * layout.cell_bytes();
                        assert!(bytes[end..].iter().all(|&byte| byte == 0));
                    });
                }
            }
        }
    }

    fn cell(id: i64, layout: Layout) -> Cell {
        let mut bounds = Bounds::EMPTY;
        for at in 0..layout.dimensions() {
            let low = id * 7 - 40 * i64::try_from(at).unwrap();
            assert!(
                match layout.kind() {
                    CoordinateKind::Real32 => bounds.set_reals(at, low as f64 / 3.0, low as f64),
                    CoordinateKind::Int32 => bounds.set_integers(at, low, low + 9),
                } || low < 0 && bounds.set_reals(at, low as f64, low as f64 / 3.0)
            );
        }
        Cell { id, bounds }
    }

    #[test]
    fn bytes_that_are_no_node_are_refused() {
        let layout = Layout::new(2, CoordinateKind::Real32).unwrap();
        for bytes in [&[0, 0, 0][..], &[0, 0, 0, 1], &[0, 41, 0, 0], &[0, 0, 0xff, 0xff, 1, 2, 3]] {
            assert!(Node::read(layout, bytes).is_err(), "{bytes:?}");
        }
    }
}
