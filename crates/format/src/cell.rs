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
//! The overflow page is present only if the payload overflows.
//!
//! The rowid of a table interior cell is a separator, not a row: all rowids in its left child's tree are at most
//! that. The payload of an index interior cell is an entry: no leaf repeats it.

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
        /// The start of the payload. Its length is that of [`payload::split`].
        local: &'a [u8],
        /// First overflow page; `Some` exactly if the payload overflows.
        overflow: Option<u32>,
    },
    /// The separator that sends rowids up to `rowid` to a child.
    TableInterior {
        /// Page number of the child with rowids up to and including `rowid`.
        left_child: u32,
        /// The largest rowid in `left_child`'s tree, or a larger one if that row was deleted.
        rowid: i64,
    },
    /// A leaf entry of an index or a WITHOUT ROWID table.
    IndexLeaf {
        /// Bytes of the whole payload, overflow included.
        payload_len: u64,
        /// The start of the payload. Its length is that of [`payload::split`].
        local: &'a [u8],
        /// First overflow page; `Some` exactly if the payload overflows.
        overflow: Option<u32>,
    },
    /// An interior entry of an index or a WITHOUT ROWID table, greater than all entries in `left_child`'s tree.
    IndexInterior {
        /// Page number of the child with smaller entries.
        left_child: u32,
        /// Bytes of the whole payload, overflow included.
        payload_len: u64,
        /// The start of the payload. Its length is that of [`payload::split`].
        local: &'a [u8],
        /// First overflow page; `Some` exactly if the payload overflows.
        overflow: Option<u32>,
    },
}

impl<'a> Cell<'a> {
    /// Reads the cell at `offset` of a page of `kind` with `usable` bytes. Returns the cell and its length in bytes.
    ///
    /// On the page every cell takes at least [`MIN_CELL_LEN`](crate::page::MIN_CELL_LEN) bytes. Offsets in errors
    /// count from the start of the page.
    ///
    /// # Errors
    /// If the cell does not end within the usable bytes, or a page number in it is 0.
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

    /// Appends the cell's bytes. The page, not the cell, pads a cell of fewer than four bytes.
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

    /// Returns the left child of an interior cell, `None` for a leaf cell.
    #[must_use]
    pub const fn left_child(&self) -> Option<u32> {
        match *self {
            Self::TableInterior { left_child, .. } | Self::IndexInterior { left_child, .. } => Some(left_child),
            Self::TableLeaf { .. } | Self::IndexLeaf { .. } => None,
        }
    }

    /// Returns the rowid of a cell on a table page, `None` on an index page.
    #[must_use]
    pub const fn rowid(&self) -> Option<i64> {
        match *self {
            Self::TableLeaf { rowid, .. } | Self::TableInterior { rowid, .. } => Some(rowid),
            Self::IndexLeaf { .. } | Self::IndexInterior { .. } => None,
        }
    }

    /// Returns the payload, or `None` for table interior cells, which have none.
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

/// The payload fields that three of the four kinds of cell share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPayload<'a> {
    /// Bytes of the whole payload, overflow included.
    pub payload_len: u64,
    /// The payload's start.
    pub local: &'a [u8],
    /// First overflow page; `Some` exactly if the payload overflows.
    pub overflow: Option<u32>,
}

/// Appends a [`Cell::TableInterior`] of these fields.
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

/// Reads the fields of a cell in order.
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
