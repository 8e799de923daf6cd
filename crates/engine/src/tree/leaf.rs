//! Leaf pages of a rowid table.
//!
//! How it works: a page is filled as SQLite fills it, cells from the end downwards and cell pointers from the front
//! upwards. A part of a table is a [`PageRun`] of its own; its leaves hold no page number, so it need not know where
//! in the file it will lie. Overflow pages follow the leaf whose cell they belong to.
//!
//! [`fill`] is the hottest loop of the program (about ten processor cycles a row). Two tricks carry it:
//! * what is at most [`WIDE`] bytes long is copied as one block of fixed size that *ends* where the thing ends. The
//!   block may begin too early; what it destroys there lies below the cell and is written next, or zeroed at last.
//! * a varint is made in a register and stored as eight bytes that end where the varint ends.
//!
//! If you change the cell's layout here, also change [`LeafBuilder::add_carefully`], which does the same without tricks.

use super::open_page::{OpenPage, add_overflow, offset_bytes};
use crate::pages::PageRun;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::{CELL_POINTER_LEN, PageKind};
use litepress_format::payload;
use litepress_format::varint;
use litepress_rows::RecordChunk;
use litepress_rows::chunk::HEADROOM;

/// Bytes that are copied at once.
const WIDE: usize = HEADROOM;

/// Bytes up to the end of a short cell that the tricks may destroy: a wide copy, a word in front of it, one byte more.
const WINDOW: usize = WIDE + 8 + 1;

/// The leaf pages of one part of a table, in memory.
pub(crate) struct TablePart {
    pub run: PageRun,
    /// Largest rowid and page index of each leaf, in key order.
    pub leaves: Vec<(i64, u32)>,
    /// Smallest rowid; `None` in a part without rows.
    pub first_rowid: Option<i64>,
    pub rows: u64,
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
    /// The cell that [`Self::add_carefully`] makes, kept for its memory.
    cell: Vec<u8>,
    /// Bytes at the front of the part's first page that are not the tree's: the file header, where it is page 1.
    first_page_offset: usize,
}

#[derive(Clone, Copy)]
struct Limits {
    usable: usize,
    /// The longest record without overflow pages.
    max_local: usize,
}

impl LeafBuilder {
    /// `first_page_offset` is 100 where the first leaf may become page 1, else 0.
    pub fn new(run: PageRun, usable: usize, first_page_offset: usize) -> Self {
        let part = TablePart { run, leaves: Vec::new(), first_rowid: None, rows: 0, payload_bytes: 0 };
        let limits = Limits { usable, max_local: payload::max_local(PageKind::LeafTable, usable) };
        Self { part, page: None, last_rowid: i64::MIN, limits, cell: Vec::new(), first_page_offset }
    }

    /// Adds the rows of `chunk`.
    ///
    /// # Errors
    /// Rowids that do not ascend.
    pub fn add(&mut self, chunk: &RecordChunk) -> Result<()> {
        let Some(&first) = chunk.rowids().first() else { return Ok(()) };
        self.part.first_rowid.get_or_insert(first);
        self.part.payload_bytes += (chunk.arena().len() - HEADROOM) as u64;
        let mut row = 0;
        while row < chunk.len() {
            let mut open = self.open_page();
            let page = self.part.run.page_mut(open.index);
            let filled = fill(page, &mut open, chunk, row, self.last_rowid, self.limits);
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

    /// Adds a row that [`fill`] stopped at: it is out of order, or needs a new page, or is long, or finds no room for
    /// the tricks.
    fn add_carefully(&mut self, rowid: i64, record: &[u8]) -> Result<()> {
        if self.part.rows > 0 && rowid <= self.last_rowid {
            return Err(out_of_order(self.last_rowid, rowid));
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

    /// The part, its last page completed.
    pub fn finish(mut self) -> TablePart {
        self.close_page();
        self.part
    }
}

/// Rowids that go backwards or repeat.
pub(crate) fn out_of_order(before: i64, rowid: i64) -> Error {
    let message = if before == rowid {
        format!("rowid {rowid} comes twice")
    } else {
        format!("rowid {rowid} comes after rowid {before}: rows must arrive in ascending order of their rowid")
    };
    Error::new(ErrorKind::Constraint, message)
}

/// Fills the open page from row `row` on; returns the first row that it did not take.
///
/// A row is not taken where its rowid is not above the one before it (`last_rowid` for the first) or is negative,
/// where its record is too long to stay on the page, where the page is full, and where the room below its cell is
/// too small for the tricks.
#[inline]
fn fill(
    page: &mut [u8],
    open: &mut OpenPage,
    chunk: &RecordChunk,
    mut row: usize,
    last_rowid: i64,
    limits: Limits,
) -> usize {
    let (rowids, arena, ends) = (chunk.rowids(), chunk.arena(), chunk.ends());
    let rowids = &rowids[..ends.len()];
    let mut start = if row == 0 { HEADROOM } else { ends[row - 1] as usize };
    let mut pointers_end = open.pointers_end();
    let mut content_start = open.content_start;
    let mut last_rowid = last_rowid.max(-1);
    // Rowids ascend, so that the length of their varints seldom changes: `rowid_len` holds below `longer_from`.
    let (mut rowid_len, mut longer_from) = (0, 0);
    let first = row;
    while row < ends.len() {
        let end = ends[row] as usize;
        let rowid = rowids[row];
        if rowid >= longer_from {
            rowid_len = varint::len(rowid.cast_unsigned());
            longer_from = 1_i64 << (7 * rowid_len.min(8));
        }
        let len = end - start;
        let payload_len_len = if len < 0x80 { 1 } else { varint::len(len as u64) };
        let cell_len = payload_len_len + rowid_len + len;
        let has_room = pointers_end + CELL_POINTER_LEN + cell_len.max(WINDOW) <= content_start;
        if !has_room || rowid <= last_rowid || len > limits.max_local || rowid_len > 8 {
            break;
        }
        if len <= WIDE {
            let window = page[..content_start].last_chunk_mut().expect("the room was checked");
            put_short(window, arena[..end].last_chunk().expect("a chunk has headroom"), len, rowid, rowid_len);
        } else {
            let cell = &mut page[content_start - cell_len..content_start];
            let payload_len_len = varint::write(len as u64, cell);
            varint::write(rowid.cast_unsigned(), &mut cell[payload_len_len..]);
            cell[payload_len_len + rowid_len..].copy_from_slice(&arena[start..end]);
        }
        content_start -= cell_len;
        page[pointers_end..pointers_end + CELL_POINTER_LEN].copy_from_slice(&offset_bytes(content_start));
        pointers_end += CELL_POINTER_LEN;
        last_rowid = rowid;
        start = end;
        row += 1;
    }
    open.cells += row - first;
    open.content_start = content_start;
    row
}

/// Writes a cell of a record of at most [`WIDE`] bytes so that it ends where `window` ends.
#[inline]
fn put_short(window: &mut [u8; WINDOW], record_end: &[u8; WIDE], len: usize, rowid: i64, rowid_len: usize) {
    let record_at = WINDOW - len;
    window[WINDOW - WIDE..].copy_from_slice(record_end);
    window[record_at - 8..record_at].copy_from_slice(&varint_word(rowid.cast_unsigned()).to_be_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "at most 32")]
    let payload_len = len as u8;
    window[record_at - rowid_len - 1] = payload_len;
}

/// The varint of `value` (below 2^56) in the low bytes of a word; what stands above it is of no use.
#[inline]
fn varint_word(value: u64) -> u64 {
    const CONTINUES: u64 = 0x8080_8080_8080_8000;
    // Groups of seven bits move to bytes of eight, in three steps: halves, quarters, eighths.
    let halves = (value & 0x0fff_ffff) | ((value & !0x0fff_ffff) << 4);
    let quarters = (halves & 0x0000_3fff_0000_3fff) | ((halves & !0x0000_3fff_0000_3fff) << 2);
    let eighths = (quarters & 0x007f_007f_007f_007f) | ((quarters & !0x007f_007f_007f_007f) << 1);
    eighths | CONTINUES
}
