//! A look at the first records of a file: what rows take, for estimates of size.

use crate::source::{OpenFile, RowMaker};
use litepress_format::page::{PageKind, PageSize};
use litepress_format::payload::mean_page_bytes;
use litepress_rows::encode::{LeftOut, Verdict};
use litepress_rows::{Conflict, RecordChunk, Result, Table};

/// Bytes of records that are enough to know what the others take.
const SAMPLE_BYTES: usize = 512 * 1024;

/// What is known of a table's rows before they are read.
#[derive(Debug, Default)]
pub struct Outlook {
    /// How many rows there are, about.
    pub rows: Option<u64>,
    /// Some of them.
    pub sample: RecordChunk,
    /// Mean bytes that a row takes of the table's pages.
    pub page_bytes: f64,
}

/// What the first piece of a file holds.
#[derive(Debug)]
pub struct FirstPiece {
    /// Its records.
    pub records: u64,
    /// Nothing follows it.
    pub is_all: bool,
    /// The rows of some of them.
    pub rows: RecordChunk,
}

impl FirstPiece {
    /// Reads rows of `table`; those that are wrong are passed by, for whoever loads them will say so.
    ///
    /// # Errors
    /// What makes it impossible to read on.
    pub fn read(mut file: OpenFile, table: &Table, conflict: Conflict) -> Result<Self> {
        let mut rows = RecordChunk::new();
        let Some(mut piece) = file.reader.next_piece()? else { return Ok(Self { records: 0, is_all: true, rows }) };
        let mut maker = RowMaker::new(table, conflict, file.supplies);
        let mut first_record = 1;
        while rows.arena().len() < SAMPLE_BYTES {
            piece.read(&mut maker.batch)?;
            if maker.batch.rows == 0 {
                break;
            }
            let mut left_out = LeftOut::default();
            maker.batch.bad.iter().for_each(|bad| left_out.add(bad.row));
            maker.encode_judged(first_record, &mut left_out, &mut rows, &mut |_| Ok(Verdict::LeaveOut))?;
            first_record += maker.batch.rows as u64;
        }
        let (records, is_all) = (piece.records(), file.reader.next_piece()?.is_none());
        Ok(Self { records, is_all, rows })
    }
}

impl Outlook {
    /// What these rows of a table, of so many, promise for pages of this size.
    pub fn new(table: &Table, rows: Option<u64>, sample: RecordChunk, page_size: PageSize) -> Self {
        let kind = if table.without_rowid { PageKind::LeafIndex } else { PageKind::LeafTable };
        let bytes_of = |row: usize| {
            mean_page_bytes(kind, page_size.bytes(), sample.record(row).len() as u64, sample.rowids()[row])
        };
        let page_bytes = (0..sample.len()).map(bytes_of).sum::<f64>() / sample.len().max(1) as f64;
        Self { rows, sample, page_bytes }
    }
}
