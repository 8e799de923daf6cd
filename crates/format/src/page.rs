//! B-tree pages (section 1.6): sizes, kinds, the page header, and the layout of cells on a page.
//!
//! ```text
//! | file header  | page header | cell pointers  | gap       | cells          | reserved      |
//!   100 bytes,     8 or 12       2 bytes each,    free        grow down from   for extensions
//!   page 1 only    bytes         in key order                 the usable end
//! 0                header_offset                  ^           ^content_start   ^usable          ^page size
//! ```
//!
//! A page that SQLite has edited may also have free space among its cells: freeblocks of 4 or more bytes in a linked
//! list, and fragments of 1 to 3 bytes that the header only counts. A [`PageWriter`] makes neither.

use std::fmt;

use crate::FormatError;
use crate::big_endian::{put_u16, put_u32, u16_at, u32_at};

mod byte_usage;
mod reader;
mod writer;

pub use byte_usage::ByteUsage;
pub use reader::{Freeblock, Freeblocks, PageReader};
pub use writer::PageWriter;

/// Bytes of the file header at the start of page 1.
pub const FILE_HEADER_LEN: usize = 100;
/// Bytes of the page header of a leaf.
pub const LEAF_HEADER_LEN: usize = 8;
/// Bytes of the page header of an interior page: a leaf's header and the right child.
pub const INTERIOR_HEADER_LEN: usize = LEAF_HEADER_LEN + 4;
/// Bytes of one cell pointer.
pub const CELL_POINTER_LEN: usize = 2;
/// The fewest bytes that a cell takes on a page, so that its space can become a freeblock when the cell is deleted.
pub const MIN_CELL_LEN: usize = 4;
/// The fewest usable bytes of a page: its size less the reserved bytes (section 1.3.4).
pub const MIN_USABLE: usize = 480;
/// The largest page number, `2^32 - 2`.
pub const MAX_PAGE_NUMBER: u32 = 4_294_967_294;
/// The first of the file's lock bytes. The page that holds it stays empty (section 1.4).
pub const LOCK_BYTE: u32 = 0x4000_0000;

const _: () = assert!(INTERIOR_HEADER_LEN == 12);

/// A legal page size: a power of two from 512 to 65536 bytes (section 1.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageSize(u32);

impl PageSize {
    /// 512 bytes.
    pub const MIN: Self = Self(512);
    /// 65536 bytes.
    pub const MAX: Self = Self(65_536);
    /// 4096 bytes, SQLite's default.
    pub const DEFAULT: Self = Self(4096);

    /// Returns the page size, or `None` if `bytes` is not a legal one.
    #[must_use]
    pub const fn new(bytes: u32) -> Option<Self> {
        if bytes.is_power_of_two() && bytes >= Self::MIN.0 && bytes <= Self::MAX.0 { Some(Self(bytes)) } else { None }
    }

    /// Returns the size in bytes.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }

    /// Reads the two-byte field of the file header, in which 1 means 65536.
    #[must_use]
    pub fn from_header_field(field: u16) -> Option<Self> {
        if field == 1 { Some(Self::MAX) } else { Self::new(field.into()) }
    }

    /// Returns the two-byte field of the file header, in which 1 means 65536.
    #[must_use]
    pub fn header_field(self) -> u16 {
        u16::try_from(self.0).unwrap_or(1)
    }

    /// Returns the number of the page that holds the lock bytes and nothing else (section 1.4).
    #[must_use]
    pub const fn lock_byte_page(self) -> u32 {
        LOCK_BYTE / self.0 + 1
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The kind of a b-tree page. The discriminant is the first byte of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PageKind {
    /// Interior page of an index (or WITHOUT ROWID table).
    InteriorIndex = 2,
    /// Interior page of a rowid table.
    InteriorTable = 5,
    /// Leaf of an index (or WITHOUT ROWID table).
    LeafIndex = 10,
    /// Leaf of a rowid table.
    LeafTable = 13,
}

impl fmt::Display for PageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InteriorIndex => "index interior",
            Self::InteriorTable => "table interior",
            Self::LeafIndex => "index leaf",
            Self::LeafTable => "table leaf",
        })
    }
}

impl PageKind {
    /// Returns the kind of this byte, or `None` if no b-tree page begins with it.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            2 => Self::InteriorIndex,
            5 => Self::InteriorTable,
            10 => Self::LeafIndex,
            13 => Self::LeafTable,
            _ => return None,
        })
    }

    /// Returns the first byte of the page header.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// Returns whether pages of this kind have no children.
    #[inline]
    #[must_use]
    pub const fn is_leaf(self) -> bool {
        matches!(self, Self::LeafIndex | Self::LeafTable)
    }

    /// Returns whether the page belongs to the tree of a rowid table.
    #[inline]
    #[must_use]
    pub const fn is_table(self) -> bool {
        matches!(self, Self::InteriorTable | Self::LeafTable)
    }

    /// Returns the bytes of the page header, 8 or 12.
    #[inline]
    #[must_use]
    pub const fn header_len(self) -> usize {
        if self.is_leaf() { LEAF_HEADER_LEN } else { INTERIOR_HEADER_LEN }
    }
}

/// The header of a b-tree page.
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 1 | kind |
/// | 1 | 2 | first freeblock, 0 if there is none |
/// | 3 | 2 | number of cells |
/// | 5 | 2 | start of the cell content area, 0 for 65536 |
/// | 7 | 1 | fragmented free bytes in the cell content area |
/// | 8 | 4 | right-most child; interior pages only |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHeader {
    /// The kind of the page.
    pub kind: PageKind,
    /// Offset on the page of the first freeblock, 0 if there is none.
    pub first_freeblock: u16,
    /// Number of cells, and of cell pointers.
    pub cell_count: u16,
    /// Offset on the page of the cell content area; up to 65536.
    pub content_start: u32,
    /// Free bytes in fragments of fewer than four bytes; at most 60.
    pub fragmented_bytes: u8,
    /// Page number of the right-most child; `Some` exactly on interior pages.
    pub right_child: Option<u32>,
}

impl PageHeader {
    /// Writes the header's 8 or 12 bytes at the start of `out`.
    ///
    /// # Panics
    /// If `out` is too short, `right_child` does not fit the kind, or `content_start` is over 65536.
    pub fn encode(&self, out: &mut [u8]) {
        assert!(
            self.right_child.is_some() != self.kind.is_leaf(),
            "interior pages have a right child, leaves have none"
        );
        assert!(self.content_start <= PageSize::MAX.0, "the content area starts on the page");
        out[0] = self.kind.byte();
        put_u16(out, 1, self.first_freeblock);
        put_u16(out, 3, self.cell_count);
        put_u16(out, 5, u16::try_from(self.content_start).unwrap_or(0));
        out[7] = self.fragmented_bytes;
        if let Some(child) = self.right_child {
            put_u32(out, LEAF_HEADER_LEN, child);
        }
    }

    /// Reads the header at the start of `bytes`. Does not check what its fields point to: [`PageReader::new`] does.
    ///
    /// # Errors
    /// If the kind is invalid, or the header is cut off.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let cut_off = || FormatError::new("page ends inside its header", bytes.len());
        let &kind_byte = bytes.first().ok_or_else(cut_off)?;
        let kind = PageKind::from_byte(kind_byte)
            .ok_or_else(|| FormatError::new(format!("{kind_byte} is not a kind of b-tree page"), 0))?;
        let field = |offset| u16_at(bytes, offset).ok_or_else(cut_off);
        let content_start = match field(5)? {
            0 => PageSize::MAX.0,
            start => start.into(),
        };
        Ok(Self {
            kind,
            first_freeblock: field(1)?,
            cell_count: field(3)?,
            content_start,
            fragmented_bytes: *bytes.get(7).ok_or_else(cut_off)?,
            right_child: match kind.is_leaf() {
                true => None,
                false => Some(u32_at(bytes, LEAF_HEADER_LEN).ok_or_else(cut_off)?),
            },
        })
    }
}

/// Returns the usable bytes of `page`, or an error if `usable` is not possible for it.
pub(crate) fn usable_bytes(page: &[u8], usable: usize) -> Result<&[u8], FormatError> {
    if !(MIN_USABLE..=PageSize::MAX.bytes()).contains(&usable) {
        return Err(FormatError::new(format!("a page cannot have {usable} usable bytes"), 0));
    }
    page.get(..usable).ok_or_else(|| FormatError::new(format!("page is shorter than its {usable} bytes"), page.len()))
}

#[cfg(test)]
mod tests;
