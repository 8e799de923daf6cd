//! Rows of a WITHOUT ROWID table, read back in key order from the pages that they were printed on: those of a leaf, the
//! row that divides it from the next one, and so on.

use crate::pages::{Pages, PagesByNumber, RunPages};
use crate::tree::index::IndexPart;
use crate::{Error, ErrorKind, Result};
use litepress_format::cell::Cell;
use litepress_format::overflow;
use litepress_format::page::PageReader;
use std::fmt::Display;

/// More levels than a tree of ours has: a page has two children or more.
const MAX_LEVELS: usize = 33;

/// Gives the records of a part that was not placed to `take`.
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

/// Gives the records of the tree that begins with page `root` to `take`.
pub(crate) fn of_tree(pages: &Pages, root: u32, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let usable = pages.page_size().bytes();
    Reader { pages: pages.written()?, usable, record: Vec::new() }.tree(root, MAX_LEVELS, &mut take)
}

struct Reader<P> {
    pages: P,
    usable: usize,
    /// A record that overflows, put together.
    record: Vec<u8>,
}

impl<P: PagesByNumber> Reader<P> {
    /// The records below a page, which stands above fewer levels than `levels`.
    fn tree(&mut self, number: u32, levels: usize, take: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let below = levels.checked_sub(1).ok_or_else(|| not_as_printed("a tree has no end"))?;
        // Its children and overflow pages are read while its cells are.
        let page = self.pages.page(number)?.to_vec();
        let reader = PageReader::new(&page, 0, self.usable).map_err(not_as_printed)?;
        for cell in 0..reader.cell_count() {
            match reader.cell(cell).map_err(not_as_printed)?.0 {
                Cell::IndexLeaf { payload_len, local, overflow } => self.entry(payload_len, local, overflow, take)?,
                Cell::IndexInterior { left_child, payload_len, local, overflow } => {
                    self.tree(left_child, below, take)?;
                    self.entry(payload_len, local, overflow, take)?;
                }
                _ => return Err(not_as_printed("a page of another tree")),
            }
        }
        reader.right_child().map_or(Ok(()), |child| self.tree(child, below, take))
    }

    /// A record, by its start and its first overflow page.
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

/// Pages that are not what was written: somebody else has changed the file, or the disk did.
fn not_as_printed(what: impl Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("pages that were written are read back as others: {what}"))
}
