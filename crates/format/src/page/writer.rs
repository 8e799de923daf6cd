//! Lays cells on an empty page.

use super::{CELL_POINTER_LEN, FILE_HEADER_LEN, MIN_CELL_LEN, MIN_USABLE, PageHeader, PageKind, PageSize};
use crate::big_endian::put_u16;

/// Lays cells on one page as SQLite does: pointers upwards, cells downwards from the end of the usable bytes.
///
/// REQUIRES: cells come in key order. Each cell is copied once. The page is valid only after
/// [`finish`](Self::finish). Bytes below the header offset are left alone: on page 1 they are the file header. All
/// others are overwritten, so that no old content of the buffer remains.
#[derive(Debug)]
pub struct PageWriter<'a> {
    page: &'a mut [u8],
    header_offset: usize,
    kind: PageKind,
    usable: usize,
    cell_count: u16,
    content_start: usize,
}

impl<'a> PageWriter<'a> {
    /// Starts an empty page. `header_offset` is [`FILE_HEADER_LEN`] on page 1 and 0 elsewhere. `usable` is the page
    /// size without the reserved bytes at its end.
    ///
    /// # Panics
    /// If `page` is shorter than `usable`, or `usable` is not in 480 to 65536.
    #[must_use]
    pub fn new(page: &'a mut [u8], header_offset: usize, kind: PageKind, usable: usize) -> Self {
        assert!((MIN_USABLE..=PageSize::MAX.bytes()).contains(&usable), "{usable} is no usable size");
        assert!(usable <= page.len() && header_offset <= FILE_HEADER_LEN);
        Self { page, header_offset, kind, usable, cell_count: 0, content_start: usable }
    }

    /// Returns the offset of the next cell pointer.
    fn pointers_end(&self) -> usize {
        self.header_offset + self.kind.header_len() + usize::from(self.cell_count) * CELL_POINTER_LEN
    }

    /// Returns the bytes between the cell pointers and the cells. A cell takes its length and two bytes for the
    /// pointer.
    #[must_use]
    pub(super) fn free_bytes(&self) -> usize {
        self.content_start - self.pointers_end()
    }

    /// Returns the number of cells so far.
    #[must_use]
    pub fn cell_count(&self) -> u16 {
        self.cell_count
    }

    /// Returns whether a cell of `cell_len` bytes still fits.
    #[must_use]
    pub fn fits(&self, cell_len: usize) -> bool {
        cell_len.max(MIN_CELL_LEN) + CELL_POINTER_LEN <= self.free_bytes()
    }

    /// Adds a cell behind the others. Returns `false` and changes nothing if it does not fit.
    pub fn push(&mut self, cell: &[u8]) -> bool {
        if !self.fits(cell.len()) {
            return false;
        }
        let place = self.content_start - cell.len().max(MIN_CELL_LEN)..self.content_start;
        self.content_start = place.start;
        let (written, padding) = self.page[place].split_at_mut(cell.len());
        written.copy_from_slice(cell);
        padding.fill(0);
        let pointer = u16::try_from(self.content_start).expect("a cell starts before the end of the page");
        let pointer_offset = self.pointers_end();
        put_u16(self.page, pointer_offset, pointer);
        self.cell_count += 1;
        true
    }

    /// Writes the header, and zeros to the gap and the reserved bytes. `right_child` is `Some` exactly on interior
    /// pages.
    ///
    /// # Panics
    /// If `right_child` does not fit the kind of the page.
    pub fn finish(self, right_child: Option<u32>) {
        let gap = self.pointers_end()..self.content_start;
        self.page[gap].fill(0);
        self.page[self.usable..].fill(0);
        let header = PageHeader {
            kind: self.kind,
            first_freeblock: 0,
            cell_count: self.cell_count,
            content_start: u32::try_from(self.content_start).expect("at most 65536"),
            fragmented_bytes: 0,
            right_child,
        };
        header.encode(&mut self.page[self.header_offset..]);
    }
}
