//! Measures the shape of a tree with the format crate's own readers.

use litepress_format::page::{FILE_HEADER_LEN, PageReader, PageSize};

/// The shape of one b-tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Levels; 1 if the root is a leaf.
    pub depth: u32,
    /// Pages above the leaves.
    pub interior_pages: u32,
    /// Leaf pages.
    pub leaf_pages: u32,
}

/// Returns the shape of the tree at page `root` of a database without reserved bytes.
#[must_use]
pub fn of_tree(database: &[u8], page_size: PageSize, root: u32) -> Shape {
    let bytes = page_size.bytes();
    let mut shape = Shape::default();
    let mut level = vec![root];
    while !level.is_empty() {
        shape.depth += 1;
        let mut below = Vec::new();
        for number in level {
            let start = (number as usize - 1) * bytes;
            let header_offset = if number == 1 { FILE_HEADER_LEN } else { 0 };
            let page = PageReader::new(&database[start..start + bytes], header_offset, bytes).unwrap();
            if page.kind().is_leaf() {
                shape.leaf_pages += 1;
            } else {
                shape.interior_pages += 1;
                assert!(page.cell_count() > 0, "page {number} divides nothing");
                below.extend(page.cells().map(|cell| cell.unwrap().left_child().expect("an interior page")));
                below.extend(page.right_child());
            }
        }
        level = below;
    }
    shape
}
