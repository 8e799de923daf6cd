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

use crate::pages::PageRun;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::{CELL_POINTER_LEN, LEAF_HEADER_LEN, PageHeader, PageKind};
use litepress_format::payload;
use litepress_format::{overflow, varint};
use litepress_rows::RecordChunk;
use litepress_rows::chunk::HEADROOM;

/// Bytes that are copied at once.
const WIDE: usize = HEADROOM;

/// Room below a cell that the tricks may destroy: a wide copy, or the eight bytes of a varint.
const SCRATCH: usize = WIDE + varint::MAX_LEN;

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

/// A leaf that still takes cells.
#[derive(Clone, Copy)]
struct OpenPage {
    index: u32,
    header_offset: usize,
    cells: usize,
    /// Offset of the lowest cell.
    content_start: usize,
}

impl OpenPage {
    fn pointers_end(&self) -> usize {
        self.header_offset + LEAF_HEADER_LEN + CELL_POINTER_LEN * self.cells
    }

    fn fits(&self, cell_len: usize) -> bool {
        self.pointers_end() + CELL_POINTER_LEN + cell_len <= self.content_start
    }

    fn push(&mut self, page: &mut [u8], cell: &[u8]) {
        let at = self.pointers_end();
        page[self.content_start - cell.len()..self.content_start].copy_from_slice(cell);
        self.content_start -= cell.len();
        page[at..at + CELL_POINTER_LEN].copy_from_slice(&offset_bytes(self.content_start));
        self.cells += 1;
    }
}

/// An offset in a page as two bytes; 65536 wraps to 0, as the format says.
#[inline]
fn offset_bytes(offset: usize) -> [u8; 2] {
    #[expect(clippy::cast_possible_truncation, reason = "at most 65536, which the format writes as 0")]
    let offset = offset as u16;
    offset.to_be_bytes()
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
        check_order(self.part.rows > 0, self.last_rowid, chunk.rowids())
            .map_err(|(before, rowid)| out_of_order(before, rowid))?;
        self.part.first_rowid.get_or_insert(first);
        self.part.rows += chunk.len() as u64;
        self.part.payload_bytes += (chunk.arena().len() - HEADROOM) as u64;
        let mut row = 0;
        while row < chunk.len() {
            let mut open = self.open_page();
            let page = self.part.run.page_mut(open.index);
            row = fill(page, &mut open, chunk, row, self.limits);
            self.page = Some(open);
            if row > 0 {
                self.last_rowid = chunk.rowids()[row - 1];
            }
            if row < chunk.len() {
                row = self.add_carefully(chunk, row);
            }
        }
        Ok(())
    }

    /// The row that [`fill`] stopped at: it needs a new page, or it is long, or it needs care for want of scratch.
    fn add_carefully(&mut self, chunk: &RecordChunk, row: usize) -> usize {
        let (rowid, record) = (chunk.rowids()[row], chunk.record(row));
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
        self.cell = cell;
        if split.overflow_pages > 0 {
            self.add_overflow(&record[split.local..], open.index, open.content_start + pointer_at);
        }
        row + 1
    }

    /// Appends the pages of an overflow chain; the first one's index goes to `pointer_at` of page `leaf`.
    fn add_overflow(&mut self, rest: &[u8], leaf: u32, pointer_at: usize) {
        let run = &mut self.part.run;
        let mut pointer = (leaf, pointer_at);
        let mut chunks = rest.chunks(overflow::chunk_len(self.limits.usable)).peekable();
        while let Some(content) = chunks.next() {
            let index = run.add_page();
            run.page_mut(pointer.0)[pointer.1..pointer.1 + 4].copy_from_slice(&index.to_be_bytes());
            run.note_pointer(pointer.0, pointer.1);
            overflow::write_page(0, content, run.page_mut(index));
            pointer = (index, 0);
        }
    }

    fn open_page(&mut self) -> OpenPage {
        *self.page.get_or_insert_with(|| {
            let index = self.part.run.add_page();
            let header_offset = if index == 0 { self.first_page_offset } else { 0 };
            OpenPage { index, header_offset, cells: 0, content_start: self.limits.usable }
        })
    }

    fn close_page(&mut self) {
        let Some(open) = self.page.take() else { return };
        let page = self.part.run.page_mut(open.index);
        finish_page(page, &open);
        self.part.leaves.push((self.last_rowid, open.index));
    }

    /// The part, its last page completed.
    pub fn finish(mut self) -> TablePart {
        self.close_page();
        self.part
    }
}

fn finish_page(page: &mut [u8], open: &OpenPage) {
    let header = PageHeader {
        kind: PageKind::LeafTable,
        first_freeblock: 0,
        cell_count: u16::try_from(open.cells).expect("a page of 64 KiB holds fewer cells"),
        content_start: u32::try_from(open.content_start).expect("an offset in a page"),
        fragmented_bytes: 0,
        right_child: None,
    };
    page[open.pointers_end()..open.content_start].fill(0);
    header.encode(&mut page[open.header_offset..]);
}

/// A leaf without rows: the root of an empty table.
pub(crate) fn write_empty(page: &mut [u8], header_offset: usize, usable: usize) {
    page.fill(0);
    finish_page(page, &OpenPage { index: 0, header_offset, cells: 0, content_start: usable });
}

/// The first pair of neighbours that do not ascend.
fn check_order(has_rows: bool, last: i64, rowids: &[i64]) -> Result<(), (i64, i64)> {
    if has_rows && rowids[0] <= last {
        return Err((last, rowids[0]));
    }
    // Whole-slice test first: it runs as wide as the processor can compare.
    if rowids.windows(2).fold(true, |ascend, pair| ascend & (pair[0] < pair[1])) {
        return Ok(());
    }
    let pair = rowids.windows(2).find(|pair| pair[0] >= pair[1]).expect("a pair that does not ascend");
    Err((pair[0], pair[1]))
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
/// A row is not taken where it is too long for its record to stay on the page, where the page is full, and where
/// the room below its cell is too small for the tricks.
#[inline]
fn fill(page: &mut [u8], open: &mut OpenPage, chunk: &RecordChunk, mut row: usize, limits: Limits) -> usize {
    let (rowids, arena, ends) = (chunk.rowids(), chunk.arena(), chunk.ends());
    let rowids = &rowids[..ends.len()];
    let mut start = if row == 0 { HEADROOM } else { ends[row - 1] as usize };
    let mut pointers_end = open.pointers_end();
    let mut content_start = open.content_start;
    while row < ends.len() {
        let end = ends[row] as usize;
        let len = end - start;
        let rowid = rowids[row].cast_unsigned();
        let (rowid_len, payload_len_len) = (varint::len(rowid), varint::len(len as u64));
        let cell_len = payload_len_len + rowid_len + len;
        if len > limits.max_local
            || rowid_len > 8
            || pointers_end + CELL_POINTER_LEN + cell_len + SCRATCH > content_start
        {
            break;
        }
        let record_at = content_start - len;
        if len <= WIDE {
            page[content_start - WIDE..content_start].copy_from_slice(&arena[end - WIDE..end]);
        } else {
            page[record_at..content_start].copy_from_slice(&arena[start..end]);
        }
        page[record_at - 8..record_at].copy_from_slice(&varint_word(rowid).to_be_bytes());
        let rowid_at = record_at - rowid_len;
        if payload_len_len == 1 {
            #[expect(clippy::cast_possible_truncation, reason = "a length of one varint byte is below 128")]
            let len_byte = len as u8;
            page[rowid_at - 1] = len_byte;
        } else {
            varint::write(len as u64, &mut page[rowid_at - payload_len_len..rowid_at]);
        }
        content_start -= cell_len;
        page[pointers_end..pointers_end + CELL_POINTER_LEN].copy_from_slice(&offset_bytes(content_start));
        pointers_end += CELL_POINTER_LEN;
        open.cells += 1;
        start = end;
        row += 1;
    }
    open.content_start = content_start;
    row
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
