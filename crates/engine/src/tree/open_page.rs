//! An open leaf page of a table or an index, and the overflow pages of its cells.

use crate::pages::PageRun;
use litepress_format::overflow;
use litepress_format::page::{CELL_POINTER_LEN, LEAF_HEADER_LEN, PageHeader, PageKind};

/// A leaf that still takes cells. Its bytes are in a [`PageRun`]. The gap is not zeroed and the header not written
/// until it is [finished](Self::finish).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenPage {
    /// Index of the page in its run.
    pub index: u32,
    pub header_offset: usize,
    pub cells: usize,
    /// Offset of the lowest cell.
    pub content_start: usize,
}

impl OpenPage {
    pub fn new(index: u32, header_offset: usize, usable: usize) -> Self {
        Self { index, header_offset, cells: 0, content_start: usable }
    }

    /// Returns the offset of the next cell pointer.
    pub fn pointers_end(&self) -> usize {
        self.header_offset + LEAF_HEADER_LEN + CELL_POINTER_LEN * self.cells
    }

    pub fn fits(&self, cell_len: usize) -> bool {
        self.pointers_end() + CELL_POINTER_LEN + cell_len <= self.content_start
    }

    /// Adds a cell that fits.
    pub fn push(&mut self, page: &mut [u8], cell: &[u8]) {
        self.push_room(page, cell.len()).copy_from_slice(cell);
    }

    /// Adds a cell of `len` bytes that fits. The caller must write it to the returned slice.
    #[inline]
    pub fn push_room<'p>(&mut self, page: &'p mut [u8], len: usize) -> &'p mut [u8] {
        let pointer = self.pointers_end();
        let end = self.content_start;
        self.content_start -= len;
        page[pointer..pointer + CELL_POINTER_LEN].copy_from_slice(&offset_bytes(self.content_start));
        self.cells += 1;
        &mut page[self.content_start..end]
    }

    /// Adds `count` cells of `len` bytes that fit. The caller must write them before or after.
    #[inline]
    pub fn push_equal_cells(&mut self, page: &mut [u8], count: usize, len: usize) {
        let pointers = &mut page[self.pointers_end()..][..count * CELL_POINTER_LEN];
        let mut cell_at = self.content_start;
        for pointer in pointers.as_chunks_mut::<CELL_POINTER_LEN>().0 {
            cell_at -= len;
            *pointer = offset_bytes(cell_at);
        }
        self.cells += count;
        self.content_start = cell_at;
    }

    /// Returns how many cells of `len` bytes surely fit, if writing one needs `window` bytes in front of its end.
    pub fn room_for(&self, len: usize, window: usize) -> usize {
        let room = self.content_start - self.pointers_end();
        room.checked_sub(CELL_POINTER_LEN + window).map_or(0, |spare| 1 + spare / (CELL_POINTER_LEN + len))
    }

    /// Completes the page.
    pub fn finish(&self, page: &mut [u8], kind: PageKind) {
        let header = PageHeader {
            kind,
            first_freeblock: 0,
            cell_count: u16::try_from(self.cells).expect("a page of 64 KiB holds fewer cells"),
            content_start: u32::try_from(self.content_start).expect("an offset in a page"),
            fragmented_bytes: 0,
            right_child: None,
        };
        page[self.pointers_end()..self.content_start].fill(0);
        header.encode(&mut page[self.header_offset..]);
    }
}

/// Returns an offset in a page as two bytes. 65536 wraps to 0, as the format requires.
#[inline]
pub(crate) fn offset_bytes(offset: usize) -> [u8; 2] {
    #[expect(clippy::cast_possible_truncation, reason = "at most 65536, which the format writes as 0")]
    let offset = offset as u16;
    offset.to_be_bytes()
}

/// Writes a leaf without cells: the root of an empty tree.
pub(crate) fn write_empty(page: &mut [u8], header_offset: usize, usable: usize, kind: PageKind) {
    page.fill(0);
    OpenPage::new(0, header_offset, usable).finish(page, kind);
}

/// Appends the pages of an overflow chain of `rest`. Returns the index of its first page.
pub(crate) fn add_overflow(run: &mut PageRun, rest: &[u8], usable: usize) -> u32 {
    let first = run.len();
    let mut previous = None;
    for content in rest.chunks(overflow::chunk_len(usable)) {
        let index = run.add_page();
        overflow::write_page(0, content, run.page_mut(index));
        if let Some(previous) = previous.replace(index) {
            run.set_pointer(previous, 0, index);
        }
    }
    first
}
