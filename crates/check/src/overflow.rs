//! Checks overflow chains: each is exactly as long as its payload needs, and uses every page once.

use super::context::CheckContext;
use super::page_map::PageUse;
use super::pages::RUN_BYTES;
use super::ptrmap::MapReader;
use super::record::Record;
use super::tree::{Totals, Tree};
use litepress_format::cell::CellPayload;
use litepress_format::overflow::{chunk_len, read_page};
use litepress_format::ptrmap::{Entry, EntryKind};
use litepress_rows::Result;

/// Bytes of a payload that a repeated visit reads.
const AGAIN_BYTES: usize = 64 * 1024;

/// The purpose of a visit to a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// The only visit that marks the pages and reports their faults.
    First,
    /// A repeated visit, to the start of the payload. It is silent. It is short because nothing limits the number of
    /// repeated visits.
    Again,
}

/// A reader of payloads that overflow.
#[derive(Debug, Default)]
pub(super) struct ChainReader {
    /// Consecutive pages from one read.
    ahead: Vec<u8>,
    /// Page number of the first one.
    ahead_from: u32,
    /// Number of pages.
    ahead_pages: usize,
    /// Number of pages of the next read. Doubles while chains run through consecutive pages.
    ahead_next: usize,
}

/// A chain to read, and the cell that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Chain<'a> {
    pub(super) context: &'a CheckContext<'a>,
    pub(super) tree: &'a Tree,
    /// The b-tree page of the cell.
    pub(super) page: u32,
    /// Offset of the cell on its page.
    pub(super) offset: usize,
    pub(super) visit: Visit,
}

impl Chain<'_> {
    fn fault(&self, what: impl FnOnce() -> String) {
        if self.visit == Visit::First {
            self.context.faults.add(|| self.tree.fault(Some(self.page), Some(self.offset), what()));
        }
    }
}

impl ChainReader {
    /// Joins the payload in `into`, up to the limit. A first visit follows the chain to its end. Returns `None` if the
    /// chain is broken.
    pub(super) fn read<'r>(
        &mut self,
        chain: Chain<'_>,
        payload: CellPayload<'_>,
        map: &mut MapReader,
        totals: &mut Totals,
        into: &'r mut Vec<u8>,
    ) -> Result<Option<Record<'r>>> {
        let context = chain.context;
        let chunk = chunk_len(context.file.usable);
        let rest = payload.payload_len - payload.local.len() as u64;
        let pages = rest.div_ceil(chunk as u64);
        if pages > u64::from(context.file.count) {
            chain.fault(|| format!("a payload of {} bytes is longer than the file", payload.payload_len));
            return Ok(None);
        }
        into.clear();
        into.extend_from_slice(payload.local);
        let (mut next, mut from) = (payload.overflow.unwrap_or(0), chain.page);
        let limit = match chain.visit {
            Visit::First => context.record_limit,
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
            let (after, content) = self.page(chain.context, next, pages - index)?;
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

    /// Marks a page of the chain and checks its pointer-map entry. Returns `false` if the page cannot be used.
    fn enter(&mut self, chain: Chain<'_>, page: u32, from: u32, index: u64, map: &mut MapReader) -> Result<bool> {
        if chain.visit == Visit::Again {
            return Ok(chain.context.file.has(page));
        }
        if !chain.context.claim(page, chain.tree, Some(from)) {
            return Ok(false);
        }
        chain.context.record_other(page, PageUse::Overflow);
        let kind = if index == 0 { EntryKind::FirstOverflow } else { EntryKind::LaterOverflow };
        map.expect(chain.context, page, Entry { kind, parent: from })?;
        Ok(true)
    }

    /// Returns the content of an overflow page, and the number of the next one. `left` is the number of pages of the
    /// chain from this one on.
    fn page(&mut self, context: &CheckContext<'_>, page: u32, left: u64) -> Result<(u32, &[u8])> {
        let is_ahead = |from: u32, pages: usize| page.checked_sub(from).is_some_and(|at| (at as usize) < pages);
        if !is_ahead(self.ahead_from, self.ahead_pages) {
            let neighbour = self.ahead_pages > 0 && u64::from(self.ahead_from) + self.ahead_pages as u64 == page.into();
            let longest = (RUN_BYTES / context.file.page_size()).max(1);
            self.ahead_next = if neighbour { (self.ahead_next * 2).min(longest) } else { 1 };
            let in_file = context.file.count - page + 1;
            let left = usize::try_from(left.min(in_file.into())).unwrap_or(usize::MAX);
            self.ahead_pages = 0;
            context.file.read(page, self.ahead_next.min(left), &mut self.ahead)?;
            (self.ahead_from, self.ahead_pages) = (page, self.ahead_next.min(left));
        }
        let size = context.file.page_size();
        let at = (page - self.ahead_from) as usize * size;
        Ok(read_page(&self.ahead[at..at + size], context.file.usable))
    }
}

/// Appends the part of a page's content that belongs to the record, up to `limit` bytes in all.
fn append(content: &[u8], left: u64, limit: usize, into: &mut Vec<u8>) {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let room = limit.saturating_sub(into.len());
    into.extend_from_slice(&content[..content.len().min(left).min(room)]);
}
