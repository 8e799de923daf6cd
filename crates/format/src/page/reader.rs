//! Reads the cells and the free space of a page.

use super::{ByteUsage, CELL_POINTER_LEN, MIN_CELL_LEN, PageHeader, PageKind, usable_bytes};
use crate::FormatError;
use crate::big_endian::u16_at;
use crate::cell::Cell;
use crate::varint;
use std::ops::Range;

/// Bytes of a freeblock's header, and so of the smallest freeblock.
const FREEBLOCK_HEADER_LEN: usize = 4;

const _: () = assert!(MIN_CELL_LEN == FREEBLOCK_HEADER_LEN);

/// Reads one b-tree page and checks bounds. All offsets, including those in errors, count from the start of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageReader<'a> {
    /// The usable bytes.
    page: &'a [u8],
    header_offset: usize,
    header: PageHeader,
}

impl<'a> PageReader<'a> {
    /// Reads the page header of `page`. `header_offset` is [`FILE_HEADER_LEN`](super::FILE_HEADER_LEN) on page 1 and
    /// 0 elsewhere. `usable` is the page size without the reserved bytes at its end.
    ///
    /// # Errors
    /// If the page is shorter than `usable`, its header is invalid, or cell pointers and content area overlap or
    /// leave the page.
    pub fn new(page: &'a [u8], header_offset: usize, usable: usize) -> Result<Self, FormatError> {
        let page = usable_bytes(page, usable)?;
        let header = page.get(header_offset..).unwrap_or_default();
        let header = PageHeader::decode(header).map_err(|error| error.within(header_offset))?;
        let reader = Self { page, header_offset, header };
        if reader.pointers_end() > reader.content_start() {
            let what =
                format!("{} cell pointers run into the cell content at {}", header.cell_count, header.content_start);
            return Err(FormatError::new(what, header_offset + 3));
        }
        if reader.content_start() > usable {
            let what = format!("cell content starts at {}, behind the usable {usable} bytes", header.content_start);
            return Err(FormatError::new(what, header_offset + 5));
        }
        Ok(reader)
    }

    /// Returns the page header.
    #[must_use]
    pub fn header(&self) -> &PageHeader {
        &self.header
    }

    /// Returns the bytes of the page without the reserved ones.
    #[must_use]
    pub fn usable(&self) -> usize {
        self.page.len()
    }

    /// Returns the kind of the page.
    #[must_use]
    pub fn kind(&self) -> PageKind {
        self.header.kind
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        self.header.cell_count.into()
    }

    /// Returns the page number of the right-most child; `Some` exactly on interior pages.
    #[must_use]
    pub fn right_child(&self) -> Option<u32> {
        self.header.right_child
    }

    /// Returns the offset behind the last cell pointer, at which the gap begins.
    #[must_use]
    pub fn pointers_end(&self) -> usize {
        self.pointer_offset(self.cell_count())
    }

    /// Returns the offset of the cell content area, at which the gap ends.
    #[must_use]
    pub fn content_start(&self) -> usize {
        self.header.content_start as usize
    }

    /// Returns the offset of the pointer to cell `index`.
    #[must_use]
    pub fn pointer_offset(&self, index: usize) -> usize {
        self.header_offset + self.header.kind.header_len() + index * CELL_POINTER_LEN
    }

    /// Returns the offset of cell `index`, counted in key order.
    ///
    /// # Errors
    /// If the pointer does not lead into the cell content area.
    ///
    /// # Panics
    /// If the page has no such cell.
    pub fn cell_offset(&self, index: usize) -> Result<usize, FormatError> {
        assert!(index < self.cell_count(), "cell {index} of {}", self.cell_count());
        let at = self.pointer_offset(index);
        let offset = usize::from(u16_at(self.page, at).expect("new() saw that the pointers end on the page"));
        if offset < self.content_start() || offset > self.page.len() - MIN_CELL_LEN {
            return Err(FormatError::new(format!("pointer of cell {index} is {offset}, outside the cell content"), at));
        }
        Ok(offset)
    }

    /// Reads cell `index`, counted in key order. Returns it with its length in bytes. On the page it takes at least
    /// [`MIN_CELL_LEN`].
    ///
    /// # Errors
    /// If its pointer or its own fields lead off the page.
    ///
    /// # Panics
    /// If the page has no such cell.
    pub fn cell(&self, index: usize) -> Result<(Cell<'a>, usize), FormatError> {
        Cell::read(self.kind(), self.page, self.cell_offset(index)?, self.page.len())
    }

    /// Reads cell `index` of a leaf quickly. Returns the rowid, 0 on an index page, and the range of the payload on the page.
    /// Returns `None` if the payload is longer than `max_local` or anything is wrong: [`cell`](Self::cell) then says more.
    ///
    /// `max_local` is [`payload::max_local`](crate::payload::max_local) of the page.
    #[inline]
    #[must_use]
    pub fn local_payload(&self, index: usize, max_local: usize) -> Option<(i64, Range<usize>)> {
        let offset = usize::from(u16_at(self.page, self.pointer_offset(index))?);
        if offset < self.content_start() || offset > self.page.len() - MIN_CELL_LEN {
            return None;
        }
        let (payload_len, mut len) = varint::read(&self.page[offset..])?;
        let mut rowid = 0;
        if self.kind() == PageKind::LeafTable {
            let (read, rowid_len) = varint::read(&self.page[offset + len..])?;
            (rowid, len) = (read.cast_signed(), len + rowid_len);
        }
        let payload_len = usize::try_from(payload_len).ok().filter(|len| *len <= max_local)?;
        let start = offset + len;
        (start + payload_len <= self.page.len()).then_some((rowid, start..start + payload_len))
    }

    /// Returns the bytes of the page without the reserved ones.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.page
    }

    /// Returns all cells in key order.
    pub fn cells(&self) -> impl Iterator<Item = Result<Cell<'a>, FormatError>> {
        let reader = *self;
        (0..reader.cell_count()).map(move |index| Ok(reader.cell(index)?.0))
    }

    /// Returns the freeblocks in the order of their list, which is that of their offsets.
    #[must_use]
    pub fn freeblocks(&self) -> Freeblocks<'a> {
        Freeblocks { page: self.page, next: self.header.first_freeblock.into(), from: self.content_start() }
    }

    /// Checks that cells and freeblocks do not overlap, and that the header counts exactly the fragments between
    /// them.
    ///
    /// # Errors
    /// The first error found, including those of [`cell`](Self::cell) and [`freeblocks`](Self::freeblocks).
    pub fn check_space(&self) -> Result<(), FormatError> {
        let mut usage = ByteUsage::default();
        usage.start(self.page.len());
        for index in 0..self.cell_count() {
            let (_, len) = self.cell(index)?;
            let offset = self.cell_offset(index)?;
            let len = len.max(MIN_CELL_LEN);
            if offset + len > self.page.len() {
                return Err(FormatError::new("cell off the page", offset));
            }
            if !usage.take(offset, len) {
                return Err(FormatError::new("cells overlap", offset));
            }
        }
        usage.finish(self).map(drop)
    }
}

/// Free space among the cells of a page.
///
/// It begins with two bytes for the offset of the next freeblock (0 for the last) and two for its
/// own length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeblock {
    /// Offset on the page.
    pub offset: usize,
    /// Length in bytes, including the two header fields.
    pub len: usize,
}

/// The freeblocks of a page; see [`PageReader::freeblocks`]. Ends after an error.
#[derive(Clone, Debug)]
pub struct Freeblocks<'a> {
    page: &'a [u8],
    /// Offset of the next freeblock, 0 at the end.
    next: usize,
    /// The smallest valid offset of the next freeblock. The list must ascend, so that it ends on any page.
    from: usize,
}

impl Freeblocks<'_> {
    fn read(&self) -> Result<(Freeblock, usize), FormatError> {
        let offset = self.next;
        let wrong = |what: String| FormatError::new(format!("freeblock at {offset} {what}"), offset);
        if offset < self.from {
            return Err(wrong(format!("begins before {}", self.from)));
        }
        let (Some(next), Some(len)) = (u16_at(self.page, offset), u16_at(self.page, offset + 2)) else {
            return Err(wrong("is off the page".into()));
        };
        let (next, len) = (usize::from(next), usize::from(len));
        if len < FREEBLOCK_HEADER_LEN || offset + len > self.page.len() {
            return Err(wrong(format!("has an impossible length of {len}")));
        }
        Ok((Freeblock { offset, len }, next))
    }
}

impl Iterator for Freeblocks<'_> {
    type Item = Result<Freeblock, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == 0 {
            return None;
        }
        let read = self.read();
        self.next = read.as_ref().map_or(0, |(_, next)| *next);
        if let Ok((block, _)) = read {
            // SQLite joins freeblocks that are fewer than four bytes apart.
            self.from = block.offset + block.len + FREEBLOCK_HEADER_LEN;
        }
        Some(read.map(|(block, _)| block))
    }
}
