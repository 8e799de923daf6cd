//! Chunks of records, passed from a source to a tree.

use std::ops::Range;

/// Number of bytes before the first record that may be read, but have no meaning.
///
/// The page builder copies a short record as a block of fixed width that ends with the record, which is several times
/// cheaper than a copy of variable length. The block may begin before the record.
pub const HEADROOM: usize = 32;

/// Rowids, and encoded SQLite records in one arena.
///
/// A source fills a chunk, a tree reads it, then it is cleared and reused: its memory is allocated once.
#[derive(Debug)]
pub struct RecordChunk {
    rowids: Vec<i64>,
    records: Vec<u8>,
    ends: Vec<u32>,
    first_record: u64,
    /// Rows whose rowids SQLite may choose: ascending ranges that do not touch.
    automatic: Vec<Range<usize>>,
}

impl RecordChunk {
    /// Size in bytes of records at which a source ends its chunk. One more block of rows may follow.
    pub const TARGET_BYTES: usize = 128 * 1024;

    /// Longest record that [`push_short`](Self::push_short) takes.
    pub const SHORT_BYTES: usize = 32;

    /// Creates an empty chunk.
    pub fn new() -> Self {
        Self {
            rowids: Vec::new(),
            records: vec![0; HEADROOM],
            ends: Vec::new(),
            first_record: 1,
            automatic: Vec::new(),
        }
    }

    /// Removes the rows. Keeps the memory, except for that of a giant record.
    pub fn clear(&mut self) {
        self.rowids.clear();
        self.ends.clear();
        self.automatic.clear();
        self.records.truncate(HEADROOM);
        self.records.shrink_to(4 * Self::TARGET_BYTES);
    }

    /// Returns the first row's position in the input, counted from 1; the other rows follow it. The producer of the chunk sets it.
    /// It decides which of two rows with one key came first.
    pub fn first_record(&self) -> u64 {
        self.first_record
    }

    /// Sets the first row's position in the input. Call it before [`push`](Self::push).
    pub fn set_first_record(&mut self, first_record: u64) {
        self.first_record = first_record;
    }

    /// Marks the rows from `first` on as rows without a rowid in the input, so that SQLite may choose it.
    pub fn mark_automatic(&mut self, first: usize) {
        let rows = first..self.len();
        match self.automatic.last_mut() {
            _ if rows.is_empty() => {}
            Some(last) if last.end >= first => last.end = rows.end,
            _ => self.automatic.push(rows),
        }
    }

    /// Returns whether SQLite may choose the rowid of a row. The chunk's own rowid is then just the row's number.
    pub fn is_automatic(&self, row: usize) -> bool {
        let range = self.automatic.partition_point(|range| range.end <= row);
        self.automatic.get(range).is_some_and(|range| range.contains(&row))
    }

    /// Returns the number of rows whose rowids SQLite may choose.
    pub fn automatic_rows(&self) -> usize {
        self.automatic.iter().map(ExactSizeIterator::len).sum()
    }

    /// Renumbers the rows from `first` on, without a gap.
    pub fn renumber(&mut self, first: usize, first_rowid: i64) {
        self.rowids[first..].iter_mut().zip(first_rowid..).for_each(|(rowid, number)| *rowid = number);
    }

    /// Sets the rowids of the rows from `first` on.
    ///
    /// # Panics
    /// If there are not as many rowids as rows.
    pub fn set_rowids(&mut self, first: usize, rowids: impl Iterator<Item = i64>) {
        self.rowids.truncate(first);
        self.rowids.extend(rowids);
        assert_eq!(self.rowids.len(), self.ends.len(), "one rowid a row");
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the chunk has no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns whether the source should hand over the chunk.
    pub fn is_full(&self) -> bool {
        self.records.len() >= Self::TARGET_BYTES
    }

    /// Returns the rowids in order of arrival, one per row.
    pub fn rowids(&self) -> &[i64] {
        &self.rowids
    }

    /// Returns the arena: [`HEADROOM`] bytes, then the records one after another.
    pub fn arena(&self) -> &[u8] {
        &self.records
    }

    /// Writes the starts of `rows` in the arena to `starts`.
    #[inline]
    pub fn starts(&self, rows: Range<usize>, starts: &mut [usize]) {
        let before = rows.start.checked_sub(1).map_or(HEADROOM, |row| self.ends[row] as usize);
        let ends = &self.ends[rows];
        let (Some(first), true) = (starts.first_mut(), !ends.is_empty()) else { return };
        *first = before;
        for (start, end) in starts[1..].iter_mut().zip(ends) {
            *start = *end as usize;
        }
    }

    /// Returns the length of the records in bytes if it is the same for all, and there is one.
    pub fn record_len(&self) -> Option<usize> {
        let first = *self.ends.first()?;
        let len = first - arena_end(HEADROOM);
        let mut expected = first;
        let mut differ = 0;
        for end in &self.ends {
            differ |= end ^ expected;
            expected = expected.wrapping_add(len);
        }
        (differ == 0).then_some(len as usize)
    }

    /// Returns the end of each record in [`Self::arena`]. The first record begins at [`HEADROOM`].
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Returns record `row`.
    pub fn record(&self, row: usize) -> &[u8] {
        let start = if row == 0 { HEADROOM } else { self.ends[row - 1] as usize };
        &self.records[start..self.ends[row] as usize]
    }

    /// Appends one row.
    ///
    /// # Panics
    /// If the arena would exceed 4 GiB. The encoder limits records to SQLite's 10^9 bytes, and nothing is added to a full
    /// chunk.
    pub fn push(&mut self, rowid: i64, record: &[u8]) {
        self.rowids.push(rowid);
        self.records.extend_from_slice(record);
        self.end_record();
    }

    /// Appends one row whose record is the first `len` bytes of `block`. A copy of fixed width is several times cheaper.
    ///
    /// # Panics
    /// If `len` is longer than the block, or as [`push`](Self::push).
    #[inline]
    pub fn push_short(&mut self, rowid: i64, block: &[u8; Self::SHORT_BYTES], len: usize) {
        assert!(len <= block.len(), "the record is in the block");
        let end = self.records.len() + len;
        self.rowids.push(rowid);
        self.records.extend_from_slice(block);
        self.records.truncate(end);
        self.end_record();
    }

    /// Removes all rows from number `rows` on.
    pub fn truncate(&mut self, rows: usize) {
        if rows < self.len() {
            self.records.truncate(if rows == 0 { HEADROOM } else { self.ends[rows - 1] as usize });
            self.rowids.truncate(rows);
            self.ends.truncate(rows);
            self.automatic.retain(|range| range.start < rows);
            if let Some(last) = self.automatic.last_mut() {
                last.end = last.end.min(rows);
            }
        }
    }

    /// Removes the rows from `first` on for which `stays` returns `false`.
    pub fn retain(&mut self, first: usize, stays: impl Fn(usize) -> bool) {
        let mut start = if first == 0 { HEADROOM } else { self.ends[first - 1] as usize };
        let (mut kept, mut at) = (first, start);
        for row in first..self.len() {
            let end = self.ends[row] as usize;
            if stays(row) {
                self.records.copy_within(start..end, at);
                at += end - start;
                self.rowids[kept] = self.rowids[row];
                self.ends[kept] = arena_end(at);
                kept += 1;
            }
            start = end;
        }
        self.rowids.truncate(kept);
        self.ends.truncate(kept);
        self.records.truncate(at);
    }

    /// Returns the vectors, for encoders that write a block of records at once. Every entry of `ends` must be the arena's length
    /// after its record, and `rowids` must have as many entries as `ends`.
    pub(crate) fn parts_mut(&mut self) -> (&mut Vec<i64>, &mut Vec<u8>, &mut Vec<u32>) {
        (&mut self.rowids, &mut self.records, &mut self.ends)
    }

    fn end_record(&mut self) {
        self.ends.push(arena_end(self.records.len()));
    }
}

/// Converts the end of a record to 32 bits.
pub(crate) fn arena_end(end: usize) -> u32 {
    u32::try_from(end).expect("a chunk's arena stays below 4 GiB")
}

impl Default for RecordChunk {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_rows_are_told_from_others() {
        let mut chunk = RecordChunk::new();
        chunk.mark_automatic(0);
        for automatic in [true, true, false, true, false, false, true] {
            chunk.push(1, b"");
            if automatic {
                chunk.mark_automatic(chunk.len() - 1);
            }
        }
        let automatic: Vec<usize> = (0..9).filter(|&row| chunk.is_automatic(row)).collect();
        assert_eq!((automatic, chunk.automatic_rows()), (vec![0, 1, 3, 6], 4));
        chunk.renumber(5, 30);
        assert_eq!(chunk.rowids(), [1, 1, 1, 1, 1, 30, 31]);
        chunk.truncate(4);
        assert_eq!((chunk.rowids(), chunk.is_automatic(3)), (&[1; 4][..], true));
        chunk.truncate(1);
        chunk.push(1, b"abc");
        assert_eq!((chunk.record(1), chunk.is_automatic(0), chunk.is_automatic(1)), (&b"abc"[..], true, false));
        chunk.clear();
        assert!(!chunk.is_automatic(0));
    }

    #[test]
    fn records_of_one_length() {
        let mut chunk = RecordChunk::new();
        assert_eq!(chunk.record_len(), None);
        for (rowid, record) in [(1, b"abc"), (2, b"def"), (7, b"ghi")] {
            chunk.push(rowid, record);
            assert_eq!(chunk.record_len(), Some(3));
        }
        chunk.push(8, b"jk");
        assert_eq!(chunk.record_len(), None);
        // The last record ends where it would if all had one length.
        chunk.push(9, b"lmno");
        assert_eq!(chunk.record_len(), None);
        chunk.clear();
        chunk.push(1, b"");
        assert_eq!(chunk.record_len(), Some(0));
        let block = std::array::from_fn(|at| u8::try_from(at).unwrap());
        [0, 1, 31, 32].iter().for_each(|&len| chunk.push_short(5, &block, len));
        assert!((1..5).all(|row| chunk.record(row) == &block[..[0, 1, 31, 32][row - 1]]));
    }
}
