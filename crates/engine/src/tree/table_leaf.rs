//! Builds the leaf pages of a rowid table.
//!
//! A page is filled as SQLite does: cells from the end downwards, cell pointers from the front upwards. A part of a
//! table is a [`PageRun`]. Its leaves hold no page numbers, so it does not depend on its position in the file.
//! Overflow pages follow the leaf of their cell.

mod fill;

use super::input_positions::InputPositions;
use super::open_page::{OpenPage, add_overflow};
use crate::pages::PageRun;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::PageKind;
use litepress_format::payload;
use litepress_format::varint;
use litepress_rows::RecordChunk;
use litepress_rows::chunk::HEADROOM;

/// The leaf pages of one part of a table, in memory.
pub(crate) struct TablePart {
    pub run: PageRun,
    /// Largest rowid and page index of each leaf, in key order.
    pub leaves: Vec<(i64, u32)>,
    /// Smallest rowid; `None` in a part without rows.
    pub first_rowid: Option<i64>,
    pub rows: u64,
    pub positions: InputPositions,
    /// Bytes of all records.
    pub payload_bytes: u64,
}

/// Builds the leaf pages of one part.
///
/// REQUIRES: rowids strictly ascending; a violation is an error. Memory: the part's pages. Cost: each record is
/// copied once. Dropped unfinished, it leaves nothing behind.
pub(crate) struct LeafBuilder {
    part: TablePart,
    page: Option<OpenPage>,
    last_rowid: i64,
    limits: Limits,
    /// The cell that [`Self::add_carefully`] makes; kept for its memory.
    cell: Vec<u8>,
    /// Bytes at the front of the part's first page that are not the tree's: the file header, if it is page 1.
    first_page_offset: usize,
}

#[derive(Clone, Copy)]
struct Limits {
    usable: usize,
    /// The longest record without overflow pages.
    max_local: usize,
}

impl LeafBuilder {
    /// Starts a part. `first_page_offset` is 100 if the first leaf may become page 1, else 0.
    pub fn new(run: PageRun, usable: usize, first_page_offset: usize) -> Self {
        let (leaves, positions) = (Vec::new(), InputPositions::default());
        let part = TablePart { run, leaves, first_rowid: None, rows: 0, positions, payload_bytes: 0 };
        let limits = Limits { usable, max_local: payload::max_local(PageKind::LeafTable, usable) };
        Self { part, page: None, last_rowid: i64::MIN, limits, cell: Vec::new(), first_page_offset }
    }

    /// Returns the pages so far, the last of which may be open.
    pub fn run(&self) -> &PageRun {
        &self.part.run
    }

    /// Adds the rows of `chunk`.
    ///
    /// # Errors
    /// If rowids do not ascend. Then none of the rows is counted, although the pages may hold some.
    pub fn add(&mut self, chunk: &RecordChunk) -> Result<(), OutOfOrder> {
        let rows = self.part.rows;
        self.add_rows(chunk).inspect_err(|_| self.part.rows = rows)
    }

    fn add_rows(&mut self, chunk: &RecordChunk) -> Result<(), OutOfOrder> {
        let Some(&first) = chunk.rowids().first() else { return Ok(()) };
        self.part.first_rowid.get_or_insert(first);
        self.part.positions.add(self.part.rows, chunk.first_record());
        self.part.payload_bytes += (chunk.arena().len() - HEADROOM) as u64;
        let mut row = 0;
        while row < chunk.len() {
            let mut open = self.open_page();
            let page = self.part.run.page_mut(open.index);
            let filled = fill::fill(page, &mut open, chunk, row, self.last_rowid, self.limits);
            self.page = Some(open);
            if filled > row {
                self.last_rowid = chunk.rowids()[filled - 1];
                self.part.rows += (filled - row) as u64;
            }
            row = filled;
            if row < chunk.len() {
                self.add_carefully(chunk.rowids()[row], chunk.record(row))?;
                row += 1;
            }
        }
        Ok(())
    }

    /// Adds a row that [`fill::fill`] stopped at: it is out of order, needs a new page, is long, or has too few free
    /// bytes below it for the fast path.
    fn add_carefully(&mut self, rowid: i64, record: &[u8]) -> Result<(), OutOfOrder> {
        if self.part.rows > 0 && rowid <= self.last_rowid {
            return Err(OutOfOrder { before: self.last_rowid, rowid });
        }
        let split = payload::split(PageKind::LeafTable, self.limits.usable, record.len() as u64);
        let mut cell = std::mem::take(&mut self.cell);
        cell.clear();
        varint::push(record.len() as u64, &mut cell);
        varint::push(rowid.cast_unsigned(), &mut cell);
        cell.extend_from_slice(&record[..split.local]);
        let pointer_at = cell.len();
        if split.overflow_pages > 0 {
            cell.extend_from_slice(&[0; 4]);
        }
        if !self.open_page().fits(cell.len()) {
            self.close_page();
        }
        let mut open = self.open_page();
        let page = self.part.run.page_mut(open.index);
        open.push(page, &cell);
        self.page = Some(open);
        self.last_rowid = rowid;
        self.part.rows += 1;
        self.cell = cell;
        if split.overflow_pages > 0 {
            let first = add_overflow(&mut self.part.run, &record[split.local..], self.limits.usable);
            self.part.run.set_pointer(open.index, open.content_start + pointer_at, first);
        }
        Ok(())
    }

    fn open_page(&mut self) -> OpenPage {
        *self.page.get_or_insert_with(|| {
            let index = self.part.run.add_page();
            let header_offset = if index == 0 { self.first_page_offset } else { 0 };
            OpenPage::new(index, header_offset, self.limits.usable)
        })
    }

    fn close_page(&mut self) {
        let Some(open) = self.page.take() else { return };
        let page = self.part.run.page_mut(open.index);
        open.finish(page, PageKind::LeafTable);
        self.part.leaves.push((self.last_rowid, open.index));
    }

    /// Completes the last page. Returns the part.
    pub fn finish(mut self) -> TablePart {
        self.close_page();
        self.part
    }
}

/// Two consecutive rowids that do not ascend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfOrder {
    pub before: i64,
    pub rowid: i64,
}

impl From<OutOfOrder> for Error {
    fn from(OutOfOrder { before, rowid }: OutOfOrder) -> Self {
        let message = if before == rowid {
            format!("rowid {rowid} comes twice")
        } else {
            format!("rowid {rowid} comes after rowid {before}: rows must arrive in ascending order of their rowid")
        };
        Self::new(ErrorKind::Constraint, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::block::BlockPool;
    use litepress_format::page::PageSize;

    /// Returns the pages of the part of `rows` (rowid, length of the record), built on the fast path or without it.
    fn pages(rows: &[(i64, usize)], page_bytes: u32, carefully: bool) -> Vec<Vec<u8>> {
        let page_size = PageSize::new(page_bytes).expect("a page size");
        let run = PageRun::new(page_size, &BlockPool::new(64));
        let mut builder = LeafBuilder::new(run, page_size.bytes(), 0);
        let mut chunk = RecordChunk::new();
        for (position, &(rowid, len)) in rows.iter().enumerate() {
            let record: Vec<u8> = (0..=u8::MAX).cycle().skip(position % 256).take(len).collect();
            if carefully {
                builder.add_carefully(rowid, &record).expect("rowids ascend");
            } else {
                chunk.push(rowid, &record);
            }
        }
        builder.add(&chunk).expect("rowids ascend");
        let mut part = builder.finish();
        (0..part.run.len()).map(|index| part.run.page_mut(index).to_vec()).collect()
    }

    #[test]
    fn tricks_change_no_byte() {
        let rows = |len: &dyn Fn(usize) -> usize| (0..).zip((0..700).map(len)).collect::<Vec<(i64, usize)>>();
        let mut cases: Vec<Vec<(i64, usize)>> = [1, 2, 12, 31, 32, 33, 100, 600].map(|len| rows(&|_| len)).to_vec();
        cases.extend([2, 50, 199, 600].map(|every| rows(&|row| 12 + usize::from(row % every == 0))));
        cases.push(rows(&|row| [3, 3, 3, 700][row % 4]));
        let far_apart = [-5, 0, 127, 128, 16_383, 16_384, 1 << 48, 1 << 49, 1 << 56, i64::MAX];
        cases.push(far_apart.map(|rowid| (rowid, 12)).to_vec());
        cases.push((-300..300).map(|rowid| (rowid * 3, 9)).collect());
        for rows in cases {
            for page_bytes in [512, 4096, 65536] {
                let same = pages(&rows, page_bytes, false) == pages(&rows, page_bytes, true);
                assert!(same, "pages of {page_bytes} bytes, {} rows, first {:?}", rows.len(), &rows[..3]);
            }
        }
    }

    #[test]
    fn rowids_that_do_not_ascend_are_found_among_rows_alike() {
        for rowids in [[1, 2, 2, 4], [5, 6, 4, 7], [0, i64::MIN, 6, 7], [3, -1, 8, 9]] {
            let mut chunk = RecordChunk::new();
            rowids.iter().for_each(|&rowid| chunk.push(rowid, &[2, 9]));
            let run = PageRun::new(PageSize::new(4096).expect("a page size"), &BlockPool::new(64));
            let added = LeafBuilder::new(run, 4096, 0).add(&chunk);
            assert!(added.is_err(), "{rowids:?}");
        }
    }
}
