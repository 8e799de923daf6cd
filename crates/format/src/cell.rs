//! Cells (section 1.6): the entries of a b-tree page.
//!
//! ```text
//! table leaf      | payload length | rowid  | payload | overflow page |
//! table interior  | left child     | rowid  |
//! index leaf      | payload length | payload | overflow page |
//! index interior  | left child     | payload length | payload | overflow page |
//!
//! left child, overflow page: 4 bytes; lengths and rowids: varints
//! ```
//!
//! The overflow page is there only where payload overflows.
//!
//! The rowid of a table interior cell divides its left child's tree, where rowids are at most that,
//! from what follows; it is no row. The payload of an index interior cell is an entry of its own:
//! no leaf holds it again.

use crate::FormatError;
use crate::big_endian::u32_at;
use crate::page::{PageKind, usable_bytes};
use crate::payload;
use crate::varint;

/// A cell of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// A row of a rowid table.
    TableLeaf {
        /// The row's key.
        rowid: i64,
        /// Bytes of the whole payload, overflow included.
        payload_len: u64,
        /// The payload's start, as long as [`payload::split`] says.
        local: &'a [u8],
        /// First overflow page; `Some` exactly where `local` is not all.
        overflow: Option<u32>,
    },
    /// Says which child has the rowids up to `rowid`.
    TableInterior {
        /// Page number of the child with rowids up to and including `rowid`.
        left_child: u32,
        /// The largest rowid in `left_child`'s tree; larger once that row was deleted.
        rowid: i64,
    },
    /// An entry of an index or WITHOUT ROWID table.
    IndexLeaf {
        /// Bytes of the whole payload, overflow included.
        payload_len: u64,
        /// The payload's start, as long as [`payload::split`] says.
        local: &'a [u8],
        /// First overflow page; `Some` exactly where `local` is not all.
        overflow: Option<u32>,
    },
    /// An entry of an index or WITHOUT ROWID table, greater than all in `left_child`'s tree.
    IndexInterior {
        /// Page number of the child with smaller entries.
        left_child: u32,
        /// Bytes of the whole payload, overflow included.
        payload_len: u64,
        /// The payload's start, as long as [`payload::split`] says.
        local: &'a [u8],
        /// First overflow page; `Some` exactly where `local` is not all.
        overflow: Option<u32>,
    },
}

impl<'a> Cell<'a> {
    /// Reads the cell at `offset` of a page of `kind` with `usable` bytes; also returns the bytes
    /// it is long.
    ///
    /// On the page it takes [`MIN_CELL_LEN`](crate::page::MIN_CELL_LEN) bytes at least. Offsets in
    /// errors count from the start of the page.
    ///
    /// # Errors
    /// Where the cell does not end within the usable bytes, or a page number in it is 0.
    pub fn read(kind: PageKind, page: &'a [u8], offset: usize, usable: usize) -> Result<(Self, usize), FormatError> {
        let page = usable_bytes(page, usable)?;
        let mut cursor = Cursor { page, at: offset };
        let cell = match kind {
            PageKind::LeafTable => {
                let payload_len = cursor.varint("payload length")?;
                let rowid = cursor.varint("rowid")?.cast_signed();
                let (local, overflow) = cursor.payload(kind, payload_len)?;
                Self::TableLeaf { rowid, payload_len, local, overflow }
            }
            PageKind::InteriorTable => {
                let left_child = cursor.page_number("left child")?;
                Self::TableInterior { left_child, rowid: cursor.varint("rowid")?.cast_signed() }
            }
            PageKind::LeafIndex => {
                let payload_len = cursor.varint("payload length")?;
                let (local, overflow) = cursor.payload(kind, payload_len)?;
                Self::IndexLeaf { payload_len, local, overflow }
            }
            PageKind::InteriorIndex => {
                let left_child = cursor.page_number("left child")?;
                let payload_len = cursor.varint("payload length")?;
                let (local, overflow) = cursor.payload(kind, payload_len)?;
                Self::IndexInterior { left_child, payload_len, local, overflow }
            }
        };
        Ok((cell, cursor.at - offset))
    }

    /// Appends the cell's bytes, without the padding of a very short one, which is the page's
    /// affair.
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Self::TableLeaf { rowid, payload_len, local, overflow } => {
                varint::push(payload_len, out);
                varint::push(rowid.cast_unsigned(), out);
                write_payload(local, overflow, out);
            }
            Self::TableInterior { left_child, rowid } => write_table_interior(left_child, rowid, out),
            Self::IndexLeaf { payload_len, local, overflow } => {
                varint::push(payload_len, out);
                write_payload(local, overflow, out);
            }
            Self::IndexInterior { left_child, payload_len, local, overflow } => {
                out.extend_from_slice(&left_child.to_be_bytes());
                varint::push(payload_len, out);
                write_payload(local, overflow, out);
            }
        }
    }

    /// Page number of the child that interior cells have.
    #[must_use]
    pub const fn left_child(&self) -> Option<u32> {
        match *self {
            Self::TableInterior { left_child, .. } | Self::IndexInterior { left_child, .. } => Some(left_child),
            Self::TableLeaf { .. } | Self::IndexLeaf { .. } => None,
        }
    }

    /// The rowid that cells of table pages have.
    #[must_use]
    pub const fn rowid(&self) -> Option<i64> {
        match *self {
            Self::TableLeaf { rowid, .. } | Self::TableInterior { rowid, .. } => Some(rowid),
            Self::IndexLeaf { .. } | Self::IndexInterior { .. } => None,
        }
    }

    /// Payload of the cell; `None` for table interior cells, which have none.
    #[must_use]
    pub const fn payload(&self) -> Option<CellPayload<'a>> {
        match *self {
            Self::TableInterior { .. } => None,
            Self::TableLeaf { payload_len, local, overflow, .. }
            | Self::IndexLeaf { payload_len, local, overflow }
            | Self::IndexInterior { payload_len, local, overflow, .. } => {
                Some(CellPayload { payload_len, local, overflow })
            }
        }
    }
}

/// What the kinds of cell with a payload have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPayload<'a> {
    /// Bytes of the whole payload, overflow included.
    pub payload_len: u64,
    /// The payload's start.
    pub local: &'a [u8],
    /// First overflow page; `Some` exactly where `local` is not all.
    pub overflow: Option<u32>,
}

/// Appends a [`Cell::TableInterior`].
pub fn write_table_interior(left_child: u32, rowid: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&left_child.to_be_bytes());
    varint::push(rowid.cast_unsigned(), out);
}

fn write_payload(local: &[u8], overflow: Option<u32>, out: &mut Vec<u8>) {
    out.extend_from_slice(local);
    if let Some(first_page) = overflow {
        out.extend_from_slice(&first_page.to_be_bytes());
    }
}

/// Reads one field of a cell after the other.
struct Cursor<'a> {
    /// The usable bytes.
    page: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn off_the_page(&self, field: &str) -> FormatError {
        FormatError::new(format!("the page ends inside a cell's {field}"), self.at)
    }

    fn varint(&mut self, field: &str) -> Result<u64, FormatError> {
        let rest = self.page.get(self.at..).unwrap_or_default();
        let (value, len) = varint::read(rest).ok_or_else(|| self.off_the_page(field))?;
        self.at += len;
        Ok(value)
    }

    fn page_number(&mut self, field: &str) -> Result<u32, FormatError> {
        match u32_at(self.page, self.at) {
            None => Err(self.off_the_page(field)),
            Some(0) => Err(FormatError::new(format!("{field} is page 0"), self.at)),
            Some(number) => {
                self.at += 4;
                Ok(number)
            }
        }
    }

    fn payload(&mut self, kind: PageKind, payload_len: u64) -> Result<(&'a [u8], Option<u32>), FormatError> {
        let split = payload::split(kind, self.page.len(), payload_len);
        let local = self.page.get(self.at..self.at + split.local).ok_or_else(|| self.off_the_page("payload"))?;
        self.at += split.local;
        let overflow = if split.overflow_pages > 0 { Some(self.page_number("overflow page")?) } else { None };
        Ok((local, overflow))
    }
}

#[cfg(test)]
mod tests;
