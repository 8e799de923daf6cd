//! Joins payloads that go on behind their page.

use crate::snapshot::PageReader;
use crate::walk::Tree;
use litepress_format::cell::CellPayload;
use litepress_format::overflow::{chunk_len, read_page};
use litepress_rows::Result;

/// Most bytes of one read.
const READ_BYTES: usize = 64 * 1024;
/// The longest payload that SQLite can read.
const MAX_PAYLOAD: u64 = 0x7fff_ffff;

/// Joins a payload without entering its overflow pages, which a scan may do once.
pub(crate) fn look_at(tree: &Tree, page: u32, payload: CellPayload<'_>) -> Result<Vec<u8>> {
    if payload.overflow.is_none() {
        return Ok(payload.local.to_vec());
    }
    let other = Tree::new(&tree.snapshot, tree.root, tree.name.clone(), tree.leaf_kind);
    let mut record = Vec::new();
    ChainReader::default().read(&other, &mut tree.snapshot.reader()?, page, payload, &mut record)?;
    Ok(record)
}

/// A reader of overflow chains.
#[derive(Debug, Default)]
pub(crate) struct ChainReader {
    /// Consecutive pages from one read.
    ahead: Vec<u8>,
    /// The number of the first of them.
    ahead_from: u32,
    /// Number of pages.
    ahead_pages: u32,
    /// Number of pages of the last read. Doubles while chains run through consecutive pages.
    at_once: u32,
}

impl ChainReader {
    /// Joins the payload of a cell on page `page` in `into`, whose content it replaces.
    pub fn read(
        &mut self,
        tree: &Tree,
        reader: &mut PageReader,
        page: u32,
        payload: CellPayload<'_>,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        let len = payload.payload_len;
        let chunk = chunk_len(tree.snapshot.usable());
        let mut left = len - payload.local.len() as u64;
        let pages = left.div_ceil(chunk as u64);
        if len > MAX_PAYLOAD || pages > tree.snapshot.page_count().into() {
            return Err(tree.corrupt(page, format!("a payload of {len} bytes is longer than the database")));
        }
        into.clear();
        into.extend_from_slice(payload.local);
        let (mut from, mut link) = (page, payload.overflow.unwrap_or(0));
        for index in 0..pages {
            if link == 0 {
                return Err(tree.corrupt(from, format!("an overflow chain ends after {index} of {pages} pages")));
            }
            tree.claim(link, from)?;
            let (next, content) = self.page(tree, reader, link, pages - index)?;
            let taken = content.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            into.extend_from_slice(&content[..taken]);
            left -= taken as u64;
            (from, link) = (link, next);
        }
        Ok(())
    }

    /// Returns the content of an overflow page, and the number of the next one. `left` is the number of pages of the chain from
    /// this one on.
    fn page(&mut self, tree: &Tree, reader: &mut PageReader, page: u32, left: u64) -> Result<(u32, &[u8])> {
        let size = tree.snapshot.page_size().bytes();
        let is_ahead = page.checked_sub(self.ahead_from).is_some_and(|at| at < self.ahead_pages);
        if !is_ahead {
            let follows = self.ahead_pages > 0 && self.ahead_from + self.ahead_pages == page;
            let most = u32::try_from(READ_BYTES / size).unwrap_or(1);
            let in_file = tree.snapshot.page_count() - page + 1;
            let left = u32::try_from(left).unwrap_or(u32::MAX);
            self.at_once = if follows { (self.at_once * 2).min(most) } else { 1 };
            self.ahead_pages = 0;
            let count = self.at_once.min(left).min(in_file);
            reader.read_run(page, count, &mut self.ahead)?;
            (self.ahead_from, self.ahead_pages) = (page, count);
        }
        let at = (page - self.ahead_from) as usize * size;
        Ok(read_page(&self.ahead[at..at + size], tree.snapshot.usable()))
    }
}
