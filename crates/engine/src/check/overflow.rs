//! Overflow chains: exactly as long as the payload asks for, and every page of them used once.

use super::inspection::Inspection;
use super::pages::RUN_BYTES;
use super::ptrmap::MapReader;
use super::record::Record;
use super::tree::{Totals, Tree};
use litepress_format::cell::CellPayload;
use litepress_format::overflow::{chunk_len, read_page};
use litepress_format::ptrmap::{Entry, EntryKind};
use litepress_rows::Result;

/// Bytes of a payload that another visit reads.
const AGAIN_BYTES: usize = 64 * 1024;

/// Whether a chain is checked or only read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// The one visit that marks the pages and reports their faults.
    First,
    /// Another visit, for the start of the payload only: silent, and short, because nothing keeps chains from
    /// being visited again and again.
    Again,
}

/// Reads payloads that overflow.
#[derive(Debug, Default)]
pub(super) struct ChainReader {
    /// Neighbouring pages that were read together.
    ahead: Vec<u8>,
    /// Page number of the first of them.
    ahead_from: u32,
    /// How many.
    ahead_pages: usize,
    /// How many the next read fetches; doubles while chains run through neighbours.
    ahead_next: usize,
}

/// A chain that is being read: where from, and whose it is.
#[derive(Clone, Copy)]
pub(super) struct Chain<'a> {
    pub(super) inspection: &'a Inspection<'a>,
    pub(super) tree: &'a Tree,
    /// The b-tree page with the cell.
    pub(super) page: u32,
    /// Offset of the cell on it.
    pub(super) offset: usize,
    pub(super) visit: Visit,
}

impl Chain<'_> {
    fn fault(&self, what: impl FnOnce() -> String) {
        if self.visit == Visit::First {
            self.inspection.faults.add(|| self.tree.fault(Some(self.page), Some(self.offset), what()));
        }
    }
}

impl ChainReader {
    /// Puts the payload together in `into`, up to the limit, and walks its chain to the end. `None`
    /// where the chain is broken.
    pub(super) fn read<'r>(
        &mut self,
        chain: Chain<'_>,
        payload: CellPayload<'_>,
        map: &mut MapReader,
        totals: &mut Totals,
        into: &'r mut Vec<u8>,
    ) -> Result<Option<Record<'r>>> {
        let inspection = chain.inspection;
        let chunk = chunk_len(inspection.file.usable);
        let rest = payload.payload_len - payload.local.len() as u64;
        let pages = rest.div_ceil(chunk as u64);
        if pages > u64::from(inspection.file.count) {
            chain.fault(|| format!("a payload of {} bytes is longer than the file", payload.payload_len));
            return Ok(None);
        }
        into.clear();
        into.extend_from_slice(payload.local);
        let (mut next, mut from) = (payload.overflow.unwrap_or(0), chain.page);
        let limit = match chain.visit {
            Visit::First => inspection.record_limit,
            Visit::Again => AGAIN_BYTES,
        };
        for index in 0..pages {
            if chain.visit == Visit::Again && into.len() >= limit {
                break;
            }
            if next == 0 {
                chain.fault(|| format!("the overflow chain ends after {index} of {pages} pages"));
                return Ok(None);
            }
            if !self.enter(chain, next, from, index, map)? {
                return Ok(None);
            }
            let (after, content) = self.page(chain.inspection, next, pages - index)?;
            let left = payload.payload_len - (payload.local.len() as u64 + index * chunk as u64);
            append(content, left, limit, into);
            (from, next) = (next, after);
        }
        if next != 0 {
            chain.fault(|| format!("the overflow chain does not end after {pages} pages but goes on to page {next}"));
        }
        if chain.visit == Visit::First {
            totals.overflow_pages += pages;
            totals.free_bytes += pages * chunk as u64 - rest;
        }
        Ok(Some(Record { bytes: into, len: payload.payload_len }))
    }

    /// Marks a page of the chain and checks its pointer-map entry.
    fn enter(&mut self, chain: Chain<'_>, page: u32, from: u32, index: u64, map: &mut MapReader) -> Result<bool> {
        if chain.visit == Visit::Again {
            return Ok(chain.inspection.file.has(page));
        }
        if !chain.inspection.claim(page, chain.tree, Some(from)) {
            return Ok(false);
        }
        let kind = if index == 0 { EntryKind::FirstOverflow } else { EntryKind::LaterOverflow };
        map.expect(chain.inspection, page, Entry { kind, parent: from })?;
        Ok(true)
    }

    /// An overflow page, of which `left` are still to come with it.
    fn page(&mut self, inspection: &Inspection<'_>, page: u32, left: u64) -> Result<(u32, &[u8])> {
        let is_ahead = |from: u32, pages: usize| page.checked_sub(from).is_some_and(|at| (at as usize) < pages);
        if !is_ahead(self.ahead_from, self.ahead_pages) {
            let neighbour = self.ahead_pages > 0 && u64::from(self.ahead_from) + self.ahead_pages as u64 == page.into();
            let longest = (RUN_BYTES / inspection.file.page_size()).max(1);
            self.ahead_next = if neighbour { (self.ahead_next * 2).min(longest) } else { 1 };
            let in_file = inspection.file.count - page + 1;
            let left = usize::try_from(left.min(in_file.into())).unwrap_or(usize::MAX);
            self.ahead_pages = 0;
            inspection.file.read(page, self.ahead_next.min(left), &mut self.ahead)?;
            (self.ahead_from, self.ahead_pages) = (page, self.ahead_next.min(left));
        }
        let size = inspection.file.page_size();
        let at = (page - self.ahead_from) as usize * size;
        Ok(read_page(&self.ahead[at..at + size], inspection.file.usable))
    }
}

/// Appends what belongs to the record of a page's content, up to the limit of what is looked at.
fn append(content: &[u8], left: u64, limit: usize, into: &mut Vec<u8>) {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let room = limit.saturating_sub(into.len());
    into.extend_from_slice(&content[..content.len().min(left).min(room)]);
}
