//! Fills a leaf page: the hottest loop of the program.
//!
//! Three techniques make it fast:
//! * A record of at most [`WIDE`] bytes is copied as one block of fixed size that *ends* at the record's end. The
//!   block may begin too early. The bytes that it overwrites there lie below the cell, and are written next or zeroed
//!   last.
//! * A varint is made in a register and stored as eight bytes that end at the varint's end.
//! * If all records of a page have one length, and the varints of their rowids too, one scan decides how many fit,
//!   and the loop has no branches.
//!
//! If you change the cell's layout here, also change [`LeafBuilder::add_carefully`](super::LeafBuilder), which is the
//! plain version.

use super::Limits;
use crate::tree::open_page::{OpenPage, offset_bytes};
use litepress_format::page::CELL_POINTER_LEN;
use litepress_format::varint;
use litepress_rows::RecordChunk;
use litepress_rows::chunk::HEADROOM;

/// Bytes of one copy.
const WIDE: usize = HEADROOM;

/// Bytes in front of a short cell's end that the fast path may overwrite: a wide copy, a word in front of it, and one
/// byte more.
const WINDOW: usize = WIDE + 8 + 1;

/// Fills the open page from row `row` on. Returns the first row that it did not take.
///
/// It stops at a row whose rowid is negative or not above the one before it (`last_rowid` for the first), at a record
/// that overflows, at the end of the page, and if fewer than [`WINDOW`] bytes below the cell are free.
pub(super) fn fill(
    page: &mut [u8],
    open: &mut OpenPage,
    chunk: &RecordChunk,
    row: usize,
    last_rowid: i64,
    limits: Limits,
) -> usize {
    let last_rowid = last_rowid.max(-1);
    let alike = fill_equal_lengths(page, open, chunk, row, last_rowid);
    let last_rowid = if alike > row { chunk.rowids()[alike - 1] } else { last_rowid };
    fill_one_by_one(page, open, chunk, alike, last_rowid, limits)
}

/// Does the work of [`fill`] for rows whose cells all have one length. Takes all that fit the page, or none.
fn fill_equal_lengths(page: &mut [u8], open: &mut OpenPage, chunk: &RecordChunk, row: usize, last_rowid: i64) -> usize {
    let Some(&first_end) = chunk.ends().get(row) else { return row };
    let start = record_start(chunk, row);
    let len = first_end as usize - start;
    let rowid_len = varint::len(chunk.rowids()[row].cast_unsigned());
    let Some(room) = (open.content_start - open.pointers_end()).checked_sub(CELL_POINTER_LEN + WINDOW) else {
        return row;
    };
    if !(1..=WIDE).contains(&len) || rowid_len > 7 {
        return row;
    }
    let cell_len = 1 + rowid_len + len;
    let until = chunk.len().min(row + 1 + room / (CELL_POINTER_LEN + cell_len));
    let rowids = &chunk.rowids()[row..until];
    if !same_lengths(&chunk.ends()[row..until], start, len) || !ascend(rowids, last_rowid, 1 << (7 * rowid_len)) {
        return row;
    }
    let payload_len = (len as u64) << (8 * rowid_len);
    let (mut cell_end, mut record_end) = (open.content_start, start);
    for &rowid in rowids {
        record_end += len;
        let window: &mut [u8; WINDOW] = page[..cell_end].last_chunk_mut().expect("the room was checked");
        let record: &[u8; WIDE] = chunk.arena()[..record_end].last_chunk().expect("a chunk has headroom");
        window[WINDOW - WIDE..].copy_from_slice(record);
        let rowid = varint_word(rowid.cast_unsigned()) & ((1 << (8 * rowid_len)) - 1);
        window[WINDOW - len - 8..WINDOW - len].copy_from_slice(&(payload_len | rowid).to_be_bytes());
        cell_end -= cell_len;
    }
    open.push_equal_cells(page, rowids.len(), cell_len);
    until
}

/// Returns whether the records with these ends all have `len` bytes. The first one begins at `start`.
fn same_lengths(ends: &[u32], start: usize, len: usize) -> bool {
    // The last end alone exposes most other chunks.
    if ends.last().is_none_or(|&end| end as usize != start + len * ends.len()) {
        return false;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the last end, which is the largest, is a u32")]
    let (mut expected, len) = (start as u32, len as u32);
    let mut differ = 0;
    for end in ends {
        expected += len;
        differ |= end ^ expected;
    }
    differ == 0
}

/// Returns whether the rowids ascend, from above `after` (at least -1) to below `limit`.
fn ascend(rowids: &[i64], after: i64, limit: i64) -> bool {
    let (Some(&first), Some(&last)) = (rowids.first(), rowids.last()) else { return true };
    // The sign is set by a step that does not ascend, and by a negative rowid, whose steps could overflow. No branch:
    // this runs for every row.
    let mut sign = first;
    for pair in rowids.windows(2) {
        sign |= pair[1] | pair[1].wrapping_sub(pair[0]).wrapping_sub(1);
    }
    sign >= 0 && first > after && last < limit
}

/// Returns the start of this row's record in the chunk's arena.
fn record_start(chunk: &RecordChunk, row: usize) -> usize {
    if row == 0 { HEADROOM } else { chunk.ends()[row - 1] as usize }
}

/// Does the work of [`fill`] for any rows.
fn fill_one_by_one(
    page: &mut [u8],
    open: &mut OpenPage,
    chunk: &RecordChunk,
    mut row: usize,
    mut last_rowid: i64,
    limits: Limits,
) -> usize {
    let (rowids, arena, ends) = (chunk.rowids(), chunk.arena(), chunk.ends());
    let rowids = &rowids[..ends.len()];
    let mut start = record_start(chunk, row);
    let mut pointers_end = open.pointers_end();
    let mut content_start = open.content_start;
    // Rowids ascend, so the length of their varints seldom changes: `rowid_len` holds below `longer_from`.
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

/// Writes a cell of a record of at most [`WIDE`] bytes, so that it ends at the end of `window`.
#[inline]
fn put_short(window: &mut [u8; WINDOW], record_end: &[u8; WIDE], len: usize, rowid: i64, rowid_len: usize) {
    let record_at = WINDOW - len;
    window[WINDOW - WIDE..].copy_from_slice(record_end);
    window[record_at - 8..record_at].copy_from_slice(&varint_word(rowid.cast_unsigned()).to_be_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "at most 32")]
    let payload_len = len as u8;
    window[record_at - rowid_len - 1] = payload_len;
}

/// Returns the varint of `value` (below 2^56) in the low bytes of a word. The bytes above it are arbitrary.
#[inline]
fn varint_word(value: u64) -> u64 {
    const CONTINUES: u64 = 0x8080_8080_8080_8000;
    // Groups of seven bits move to bytes of eight, in three steps: halves, quarters, eighths.
    let halves = (value & 0x0fff_ffff) | ((value & !0x0fff_ffff) << 4);
    let quarters = (halves & 0x0000_3fff_0000_3fff) | ((halves & !0x0000_3fff_0000_3fff) << 2);
    let eighths = (quarters & 0x007f_007f_007f_007f) | ((quarters & !0x007f_007f_007f_007f) << 1);
    eighths | CONTINUES
}
