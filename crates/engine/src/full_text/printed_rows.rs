//! The rows of a table that is printed already, read back from its pages.

use crate::Result;
use crate::pages::{Pages, WrittenPages};
use crate::tree::input_positions::InputPositions;
use crate::tree::table_reader::TableReader;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, RowidOrder, Source};
use std::collections::VecDeque;

/// Number of chunks of a part.
const CHUNKS_PER_PART: usize = 8;

/// The place of a printed table in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrintedTable {
    /// The first of its pages, which follow one another.
    pub first_page: u32,
    pub rows: u64,
    /// Bytes of all records.
    pub payload_bytes: u64,
}

/// The rows of a printed table in the order of their rowids. They are read by one thread at a time.
pub(crate) struct PrintedRows {
    /// None after an error: another thread would read on in the middle of a page that is not there, and tell that instead.
    reader: Mutex<Option<TableReader<WrittenPages>>>,
    table: PrintedTable,
}

impl PrintedRows {
    /// Waits until the pages are written, and begins to read.
    pub fn new(pages: &Pages, table: &PrintedTable) -> Result<Self> {
        let mut positions = InputPositions::default();
        positions.add(0, 1);
        let written = pages.written_from(table.first_page)?;
        let reader = TableReader::new(written, pages.page_size().bytes(), table.rows, positions);
        Ok(Self { reader: Mutex::new(Some(reader)), table: *table })
    }
}

impl Source for PrintedRows {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let (mut slot, mut chunks) = (lock(&self.reader), VecDeque::new());
        let Some(mut reader) = slot.take() else { return Ok(None) };
        while chunks.len() < CHUNKS_PER_PART {
            let mut chunk = RecordChunk::new();
            reader.fill(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            chunks.push_back(chunk);
        }
        *slot = Some(reader);
        Ok((!chunks.is_empty()).then(|| Box::new(Chunks(chunks)) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.table.rows)
    }

    fn rowid_order(&self) -> RowidOrder {
        RowidOrder::Ascending
    }

    fn page_bytes(&self) -> f64 {
        self.table.payload_bytes as f64 / self.table.rows.max(1) as f64
    }
}

/// A part of chunks that are in memory.
pub(super) struct Chunks(pub VecDeque<RecordChunk>);

impl Part for Chunks {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        if let Some(next) = self.0.pop_front() {
            *chunk = next;
        }
        Ok(())
    }
}
