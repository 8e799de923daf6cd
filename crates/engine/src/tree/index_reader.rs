//! Reads the rows of a WITHOUT ROWID table back from its pages, in key order: those of a leaf, the divider behind it,
//! and so on.

use super::index_leaf::IndexPart;
use crate::Result;
use crate::pages::{Pages, PagesByNumber, RunPages, changed_pages};
use litepress_format::cell::Cell;
use litepress_format::overflow;
use litepress_format::page::PageReader;

/// More levels than any tree here has: a page has at least two children.
const MAX_LEVELS: usize = 33;

/// Passes the records of a part that was not placed to `take`.
pub(crate) fn of_part(part: IndexPart, usable: usize, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut reader = Reader { pages: RunPages::new(part.run), usable, record: Vec::new() };
    for (leaf, divider) in part.leaves {
        reader.tree(leaf, 1, &mut take)?;
        if let Some(cell) = divider {
            let (len, local, overflow) = cell.payload(usable);
            reader.entry(len, local, overflow, &mut take)?;
        }
    }
    Ok(())
}

/// Passes the records of the tree with root page `root` to `take`.
pub(crate) fn of_tree(pages: &Pages, root: u32, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let usable = pages.page_size().bytes();
    Reader { pages: pages.written()?, usable, record: Vec::new() }.tree(root, MAX_LEVELS, &mut take)
}

struct Reader<P> {
    pages: P,
    usable: usize,
    /// A record that overflows, joined.
    record: Vec<u8>,
}

impl<P: PagesByNumber> Reader<P> {
    /// Reads the records below a page, which must have fewer than `levels` levels.
    fn tree(&mut self, number: u32, levels: usize, take: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let below = levels.checked_sub(1).ok_or_else(|| changed_pages("a tree has no end"))?;
        // Copied, because children and overflow pages are read meanwhile.
        let page = self.pages.page(number)?.to_vec();
        let reader = PageReader::new(&page, 0, self.usable).map_err(changed_pages)?;
        for cell in 0..reader.cell_count() {
            match reader.cell(cell).map_err(changed_pages)?.0 {
                Cell::IndexLeaf { payload_len, local, overflow } => self.entry(payload_len, local, overflow, take)?,
                Cell::IndexInterior { left_child, payload_len, local, overflow } => {
                    self.tree(left_child, below, take)?;
                    self.entry(payload_len, local, overflow, take)?;
                }
                _ => return Err(changed_pages("a page of another tree")),
            }
        }
        reader.right_child().map_or(Ok(()), |child| self.tree(child, below, take))
    }

    /// Reads a record by its local payload and its first overflow page.
    fn entry(
        &mut self,
        len: u64,
        local: &[u8],
        mut overflow: Option<u32>,
        take: &mut impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if overflow.is_none() {
            return take(local);
        }
        let len = usize::try_from(len).expect("a record that was in memory");
        self.record.clear();
        self.record.extend_from_slice(local);
        while let Some(number) = overflow {
            let (next, content) = overflow::read_page(self.pages.page(number)?, self.usable);
            self.record.extend_from_slice(&content[..content.len().min(len - self.record.len())]);
            overflow = Some(next).filter(|_| self.record.len() < len);
        }
        take(&self.record)
    }
}
