//! Sort items of boxes.
//!
//! ```text
//! sort item    | place on the Hilbert curve, 8 bytes | encoded rowid | record of the box |
//! ```

use super::super::row_key::{Row, RowKey, read_number};
use crate::index::ColumnLocator;
use crate::sort::bad_item;
use crate::{Error, Result};
use litepress_format::{FormatError, sort_key};
use litepress_rows::RecordChunk;
use litepress_rtree::hilbert::Grid;
use litepress_rtree::{Bounds, Layout};

/// Bytes of a place on the curve.
const PLACE_BYTES: usize = size_of::<u64>();

/// The place of a box on the curve.
pub(super) struct HilbertKey {
    layout: Layout,
    grid: Grid,
}

impl HilbertKey {
    /// Makes the key of boxes within `extent`.
    pub fn new(layout: Layout, extent: &Bounds) -> Self {
        Self { layout, grid: Grid::new(layout, extent) }
    }
}

/// Reads the box at the front of a record.
pub(super) fn read_bounds(layout: Layout, record: &[u8]) -> Result<Bounds> {
    let read = Bounds::read_ordered(layout, record);
    read.ok_or_else(|| bad_item(&FormatError::new("a sort item is shorter than its box", record.len())))
}

impl RowKey for HilbertKey {
    fn push_item(&self, _: &mut ColumnLocator, chunk: &RecordChunk, row: usize, item: &mut Vec<u8>) -> Result<()> {
        let record = chunk.record(row);
        let place = self.grid.key(&read_bounds(self.layout, record)?);
        item.extend_from_slice(&place.to_be_bytes());
        sort_key::push_rowid(chunk.rowids()[row], item);
        item.extend_from_slice(record);
        Ok(())
    }

    fn read(&self, item: &[u8], _rank: u64) -> Result<Row> {
        let (rowid, start) = read_number(item, PLACE_BYTES)?;
        Ok(Row { unique_len: None, rowid, record: (start, item.len()) })
    }

    fn conflict(&self, _: &[u8], _: &[u8]) -> Error {
        unreachable!("boxes may share a place")
    }
}
