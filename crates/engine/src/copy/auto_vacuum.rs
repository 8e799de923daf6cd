//! Auto-vacuum of a copy: its root pages are the first pages of the file, and a pointer map has the parent of every page.
//!
//! ```text
//! 1   2     3 4 5                  6 ...
//!     map   roots, reserved        trees, as they come; a root that comes last is moved to its place
//! ```
//!
//! SQLite moves the last pages of such a file into free ones, but no root pages. So these must not lie behind others.

use crate::live::Freelist;
use crate::pages::{Pages, PagesByNumber, changed_pages};
use crate::{Error, ErrorKind, Result};
use litepress_format::header::DatabaseHeader;
use litepress_format::overflow;
use litepress_format::page::{FILE_HEADER_LEN, PageReader};
use litepress_format::ptrmap::{ENTRY_LEN, Entry, EntryKind, entry_offset, map_page_of};
use std::collections::VecDeque;

/// The root pages of a copy, and the pages that became free as roots were moved.
pub(super) struct AutoVacuum {
    is_incremental: bool,
    /// Reserved numbers that no tree has yet.
    reserved: VecDeque<u32>,
    roots: Vec<u32>,
    free: Vec<u32>,
}

impl AutoVacuum {
    /// Reserves the root pages of this number of trees. REQUIRES: nothing was placed.
    pub fn begin(pages: &mut Pages, trees: u32, is_incremental: bool) -> Result<Self> {
        if !pages.can_read() {
            let error = Error::new(ErrorKind::Unsupported, "a pointer map is made only for a file or in memory");
            return Err(error.advise("copy to a file"));
        }
        pages.begin_pointer_map();
        let reserved = pages.reserve(trees)?.into();
        Ok(Self { is_incremental, reserved, roots: Vec::new(), free: Vec::new() })
    }

    /// Moves the root page of a finished tree to the next reserved place. Returns its number there.
    pub fn move_root(&mut self, pages: &mut Pages, root: u32) -> Result<u32> {
        let place = self.reserved.pop_front().expect("a root page for each tree was reserved");
        let page = pages.written()?.page(root)?.to_vec();
        pages.write_page(place, &page)?;
        pages.wait()?;
        if root == pages.count() {
            pages.rewind_to(root);
        } else {
            self.free.push(root);
        }
        self.roots.push(place);
        Ok(place)
    }

    /// Completes the header. Returns it, and the trunk pages of the freelist.
    pub fn complete(&mut self, header: DatabaseHeader, pages: &Pages) -> (DatabaseHeader, Vec<(u32, Vec<u8>)>) {
        // A table that became WITHOUT ROWID has one tree less.
        self.free.extend(self.reserved.drain(..));
        let (list, trunks) = Freelist { first_trunk: 0, pages: 0 }.with(&self.free, pages.page_size().bytes());
        let header = DatabaseHeader {
            first_freelist_trunk: list.first_trunk,
            freelist_pages: list.pages,
            largest_root_page: self.roots.iter().copied().max().unwrap_or(1),
            incremental_vacuum: self.is_incremental,
            ..header
        };
        (header, trunks)
    }

    /// Writes the pointer map. REQUIRES: all other pages but page 1 are placed.
    pub fn write_map(&self, pages: &Pages, page_1: &[u8]) -> Result<()> {
        let mut map = PointerMap::new(pages);
        for &free in &self.free {
            map.set(free, EntryKind::FreePage, 0)?;
        }
        for &root in &self.roots {
            map.set(root, EntryKind::RootPage, 0)?;
        }
        let mut written = pages.written()?;
        let mut waiting = map.add_page(1, page_1, FILE_HEADER_LEN, &mut written)?;
        waiting.extend(&self.roots);
        while let Some(number) = waiting.pop() {
            let page = written.page(number)?.to_vec();
            waiting.extend(map.add_page(number, &page, 0, &mut written)?);
        }
        map.write()
    }
}

/// The entries of a pointer map, in memory: five bytes a page.
struct PointerMap<'p> {
    pages: &'p Pages,
    /// The entry of page `n` begins at `n * ENTRY_LEN`.
    entries: Vec<u8>,
}

impl<'p> PointerMap<'p> {
    fn new(pages: &'p Pages) -> Self {
        Self { pages, entries: vec![0; (pages.count() as usize + 1) * ENTRY_LEN] }
    }

    fn set(&mut self, page: u32, kind: EntryKind, parent: u32) -> Result<()> {
        let start = page as usize * ENTRY_LEN;
        let entry = self.entries.get_mut(start..start + ENTRY_LEN).filter(|entry| entry[0] == 0);
        let entry = entry.ok_or_else(|| changed_pages(format_args!("page {parent} has a pointer to page {page}")))?;
        Entry { kind, parent }.encode(entry);
        Ok(())
    }

    /// Adds the entries of all pages that a page of a tree points to. Returns its children, the last one first.
    fn add_page(
        &mut self,
        number: u32,
        page: &[u8],
        header_offset: usize,
        written: &mut impl PagesByNumber,
    ) -> Result<Vec<u32>> {
        let usable = page.len();
        let damaged = |error| changed_pages(format_args!("page {number}: {error}"));
        let reader = PageReader::new(page, header_offset, usable).map_err(damaged)?;
        let mut children = Vec::new();
        for cell in reader.cells() {
            let cell = cell.map_err(damaged)?;
            children.extend(cell.left_child());
            let Some((payload, first)) = cell.payload().and_then(|payload| Some((payload, payload.overflow?))) else {
                continue;
            };
            let mut left = payload.payload_len - payload.local.len() as u64;
            let (mut kind, mut parent, mut next) = (EntryKind::FirstOverflow, number, first);
            while left > 0 {
                self.set(next, kind, parent)?;
                left = left.saturating_sub(overflow::chunk_len(usable) as u64);
                (kind, parent) = (EntryKind::LaterOverflow, next);
                next = overflow::read_page(written.page(next)?, usable).0;
            }
        }
        children.extend(reader.right_child());
        for &child in &children {
            self.set(child, EntryKind::Child, number)?;
        }
        children.reverse();
        Ok(children)
    }

    /// Writes all pointer-map pages.
    fn write(self) -> Result<()> {
        let page_size = self.pages.page_size();
        let (usable, lock_byte_page) = (page_size.bytes(), page_size.lock_byte_page());
        let (mut bytes, mut current) = (vec![0; usable], None);
        for page in 3..=self.pages.count() {
            let map_page = map_page_of(page, usable, lock_byte_page).expect("a page behind the first map page");
            if let Some(done) = current.filter(|current| *current != map_page) {
                self.pages.write_page(done, &bytes)?;
                bytes.fill(0);
            }
            current = Some(map_page);
            if let Some(offset) = entry_offset(page, map_page) {
                let start = page as usize * ENTRY_LEN;
                bytes[offset..offset + ENTRY_LEN].copy_from_slice(&self.entries[start..start + ENTRY_LEN]);
            }
        }
        current.map_or(Ok(()), |last| self.pages.write_page(last, &bytes))
    }
}
