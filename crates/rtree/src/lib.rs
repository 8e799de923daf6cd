//! The nodes of SQLite's R-Tree (`ext/rtree/rtree.c`), packed in the order of a Hilbert curve.
//!
//! An R-Tree `t` keeps its data in three tables:
//!
//! ```text
//! t_node(nodeno INTEGER PRIMARY KEY, data)         node 1 is the root; data is one node, all of one length
//! t_parent(nodeno INTEGER PRIMARY KEY, parentnode) every node but the root
//! t_rowid(rowid INTEGER PRIMARY KEY, nodeno, a0, a1, ...)
//!                                                  the leaf of every row, and its auxiliary columns
//!
//! node   | depth, 2 bytes, 0 but in the root | number of cells, 2 bytes | cells | zeros |
//! cell   | id, 8 bytes: a rowid, or a child's node number | min, max of each dimension, 4 bytes each |
//! ```
//!
//! SQLite inserts box by box and splits full nodes, which leaves them two thirds full. With all boxes known, they are sorted
//! by the place of their centre on a Hilbert curve (Kamel and Faloutsos, "On Packing R-trees", 1993), and every node is
//! filled. All leaves are at one depth, as SQLite requires.
//!
//! | module | what it is |
//! |---|---|
//! | [`layout`] | dimensions, kind of coordinates, lengths of cells and nodes |
//! | [`bounds`] | a box, with coordinates rounded as SQLite rounds them |
//! | [`hilbert`] | the order of boxes |
//! | [`shape`] | how many nodes a packed tree has, and their numbers |
//! | [`node`] | a node's bytes, written and read |

#![forbid(unsafe_code)]

pub mod bounds;
pub mod hilbert;
pub mod layout;
pub mod node;
pub mod shape;

pub use bounds::Bounds;
pub use layout::{CoordinateKind, Layout, MAX_DIMENSIONS};
pub use shape::TreeShape;
