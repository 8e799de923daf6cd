//! Reads the rows of a rowid table back from its pages.
//!
//! Pages are read in file order: a leaf, the overflow pages of its rows, the next leaf. Interior pages, which follow
//! the leaves of a part, are skipped.

use super::input_positions::InputPositions;
use super::table_leaf::TablePart;
use crate::Result;
use crate::pages::{PagesInOrder, RunPages, changed_pages};
use litepress_format::cell::Cell;
use litepress_format::overflow;
use litepress_format::page::{PageKind, PageReader};
use litepress_rows::{Part, RecordChunk};

/// The first rows of some pages, to be read once.
pub(crate) struct TableReader<P> {
    pages: P,
    usable: usize,
    /// Number of rows, and the index of the next one.
    rows: u64,
    row: u64,
    positions: InputPositions,
    /// The current leaf, its next cell, and its number of cells.
    leaf: Vec<u8>,
    cell: usize,
    cells: usize,
    /// A record that overflows, joined.
    record: Vec<u8>,
}

impl TableReader<RunPages> {
    /// Reads the rows of a part that was not placed.
    pub fn of_part(part: TablePart, usable: usize) -> Self {
        Self::new(RunPages::new(part.run), usable, part.rows, part.positions)
    }
}

impl<P: PagesInOrder> TableReader<P> {
    pub fn new(pages: P, usable: usize, rows: u64, positions: InputPositions) -> Self {
        let (leaf, record) = (Vec::new(), Vec::new());
        Self { pages, usable, rows, row: 0, positions, leaf, cell: 0, cells: 0, record }
    }

    fn next_leaf(&mut self) -> Result<()> {
        let (_, page) = self.pages.next()?.ok_or_else(|| changed_pages("the last rows are missing"))?;
        let reader = PageReader::new(page, 0, self.usable).map_err(changed_pages)?;
        if reader.kind() == PageKind::LeafTable {
            (self.cell, self.cells) = (0, reader.cell_count());
            self.leaf.clear();
            self.leaf.extend_from_slice(page);
        }
        Ok(())
    }

    /// Moves the next row to `chunk`.
    fn take_row(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while self.cell == self.cells {
            self.next_leaf()?;
        }
        let Self { pages, usable, leaf, cell, record, .. } = self;
        let read = PageReader::new(leaf, 0, *usable).and_then(|reader| reader.cell(*cell));
        let (read, _) = read.map_err(changed_pages)?;
        *cell += 1;
        self.row += 1;
        let Cell::TableLeaf { rowid, payload_len, local, overflow } = read else { unreachable!("a leaf of a table") };
        let Some(mut link) = overflow else {
            chunk.push(rowid, local);
            return Ok(());
        };
        record.clear();
        record.extend_from_slice(local);
        let len = usize::try_from(payload_len).expect("a record that was in memory");
        while record.len() < len {
            let page = pages.next()?.filter(|&(number, _)| number == link);
            let (_, page) = page.ok_or_else(|| changed_pages("an overflow page is missing"))?;
            let (next, content) = overflow::read_page(page, *usable);
            record.extend_from_slice(&content[..content.len().min(len - record.len())]);
            link = next;
        }
        chunk.push(rowid, record);
        Ok(())
    }
}

impl<P: PagesInOrder + Send> Part for TableReader<P> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        if self.row == self.rows {
            return Ok(());
        }
        let (position, end) = self.positions.locate(self.row);
        chunk.set_first_record(position);
        while self.row < self.rows.min(end) && !chunk.is_full() {
            self.take_row(chunk)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::table_leaf::LeafBuilder;
    use super::*;
    use crate::pages::PageRun;
    use crate::sink::block::BlockPool;
    use litepress_format::page::PageSize;

    fn record(len: usize) -> Vec<u8> {
        (0..=250).cycle().skip(len % 7).take(len).collect()
    }

    /// Rows of every length around the limits of a page, in three ranges of positions. Rows of a refused chunk are
    /// not among them.
    #[test]
    fn rows_are_read_as_they_were_written() {
        for page_bytes in [512, 4096, 65536] {
            let page_size = PageSize::new(page_bytes).expect("a page size");
            let mut builder = LeafBuilder::new(PageRun::new(page_size, &BlockPool::new(64)), page_size.bytes(), 0);
            let lens = [0_usize, 1, 3, 470, 480, 1000, 4061, 4062, 9000, 65_501, 65_502, 200_000, 5];
            let mut rows = Vec::new();
            for (first, position) in [(-1000, 1), (0, 14), (1 << 40, 500)] {
                let mut chunk = RecordChunk::new();
                chunk.set_first_record(position);
                for ((rowid, position), len) in (first..).zip(position..).zip(lens) {
                    chunk.push(rowid, &record(len));
                    rows.push((position, rowid, len));
                }
                builder.add(&chunk).expect("rowids ascend");
            }
            let mut refused = RecordChunk::new();
            [i64::MAX, 0].iter().for_each(|&rowid| refused.push(rowid, &[7; 5000]));
            assert!(builder.add(&refused).is_err());
            let mut reader = TableReader::of_part(builder.finish(), page_size.bytes());
            let (mut read, mut chunk) = (Vec::new(), RecordChunk::new());
            while {
                chunk.clear();
                reader.fill(&mut chunk).expect("rows");
                !chunk.is_empty()
            } {
                for ((&rowid, row), position) in chunk.rowids().iter().zip(0..).zip(chunk.first_record()..) {
                    let stored = chunk.record(row);
                    assert!(stored == record(stored.len()), "{} bytes", stored.len());
                    read.push((position, rowid, stored.len()));
                }
            }
            assert_eq!(read, rows, "pages of {page_bytes} bytes");
        }
    }
}
