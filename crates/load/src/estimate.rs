//! Estimates the size of a table from the first records of a file.

use crate::source::{BatchEncoder, HUGE_TEXT_BYTES, OpenFile};
use litepress_format::page::{PageKind, PageSize};
use litepress_format::payload::mean_page_bytes;
use litepress_rows::encode::{RowAction, SkippedRows};
use litepress_rows::{Conflict, RecordChunk, Result, Table};
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of a sample of records that represents the others.
const SAMPLE_BYTES: usize = 512 * 1024;

/// An estimate of a table's rows before they are read.
#[derive(Debug, Default)]
pub struct TableEstimate {
    /// Approximate number of rows.
    pub rows: Option<u64>,
    /// A sample of the rows.
    pub sample: RecordChunk,
    /// Mean number of bytes that a row takes in the table's pages.
    pub page_bytes: f64,
}

/// The first piece of a file.
#[derive(Debug)]
pub struct FirstPiece {
    /// Number of its records.
    pub records: u64,
    /// Number of bytes of the file that had been read when the piece was complete.
    pub bytes: u64,
    /// The piece is the whole file.
    pub is_all: bool,
    /// A sample of its rows. Empty if the text is huge.
    pub rows: RecordChunk,
    /// Number of bytes of its text, if it is text.
    pub text_bytes: usize,
}

impl FirstPiece {
    /// Reads a sample of rows of `table`. Ignores bad rows: the load reports them. `bytes_read` is the counter of the file's
    /// reader.
    ///
    /// # Errors
    /// If reading cannot go on.
    pub fn read(mut file: OpenFile, table: &Table, conflict: Conflict, bytes_read: &AtomicU64) -> Result<Self> {
        let (mut rows, piece) = (RecordChunk::new(), file.reader.next_piece()?);
        let bytes = bytes_read.load(Ordering::Relaxed);
        let Some(mut piece) = piece else { return Ok(Self { records: 0, bytes, is_all: true, rows, text_bytes: 0 }) };
        let (text_bytes, _) = piece.text_bytes();
        let mut batch_encoder = BatchEncoder::new(table, conflict, file.column_sources);
        let mut first_record = 1;
        // A sample of huge records would stay in memory during the load.
        while text_bytes <= HUGE_TEXT_BYTES && rows.arena().len() < SAMPLE_BYTES {
            piece.read(&mut batch_encoder.batch)?;
            if batch_encoder.batch.rows == 0 {
                break;
            }
            let mut left_out = SkippedRows::default();
            batch_encoder.batch.bad.iter().for_each(|bad| left_out.add(bad.row));
            batch_encoder
                .encode_with_policy(first_record, &mut left_out, &mut rows, &mut |_| Ok(RowAction::LeaveOut))?;
            first_record += batch_encoder.batch.rows as u64;
        }
        let records = piece.records();
        drop(piece);
        let is_all = file.reader.next_piece()?.is_none();
        Ok(Self { records, bytes, is_all, rows, text_bytes })
    }
}

impl TableEstimate {
    /// Estimates a table of `rows` rows from the length of their text.
    pub fn of_texts(rows: Option<u64>, text_bytes: usize, records: u64) -> Self {
        Self { rows, sample: RecordChunk::new(), page_bytes: text_bytes as f64 / records.max(1) as f64 }
    }

    /// Estimates a table of `rows` rows from a sample, for pages of this size.
    pub fn new(table: &Table, rows: Option<u64>, sample: RecordChunk, page_size: PageSize) -> Self {
        let kind = if table.without_rowid { PageKind::LeafIndex } else { PageKind::LeafTable };
        let bytes_of = |row: usize| {
            mean_page_bytes(kind, page_size.bytes(), sample.record(row).len() as u64, sample.rowids()[row])
        };
        let page_bytes = (0..sample.len()).map(bytes_of).sum::<f64>() / sample.len().max(1) as f64;
        Self { rows, sample, page_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::CsvReader;
    use crate::options::ReadOptions;
    use crate::reader::{ProjectedColumn, Reader};
    use crate::source::ColumnSource;
    use litepress_rows::{Affinity, Schema};
    use std::path::Path;

    /// The bytes of the second piece were counted as bytes of the first: half as many rows were expected as there were.
    #[test]
    fn the_first_piece_says_how_many_rows_a_file_has() {
        let text = "a\n".to_owned() + &"1234567\n".repeat(100_000);
        let options = ReadOptions { piece_bytes: Some(80_000), ..ReadOptions::default() };
        let read = |text: &str| {
            let counted = Counted { text: text.as_bytes().to_vec(), at: 0, count: options.bytes_read.clone() };
            let mut reader = CsvReader::new(Box::new(counted), Path::new("<test>"), &options).unwrap();
            reader.project(&[ProjectedColumn::new(Some(0), "a", Affinity::Integer)]).unwrap();
            let (name, column_sources) = (Some(Path::new("<test>").to_owned()), vec![ColumnSource::File(0)]);
            let file = OpenFile {
                name,
                reader: Box::new(reader),
                column_sources,
                type_checks: Vec::new(),
                conversions: Vec::new(),
                gives_records: false,
                keeps_rowids: false,
            };
            let table = &Schema::from_sql("CREATE TABLE t (a INTEGER)", "<test>").unwrap().tables[0];
            FirstPiece::read(file, table, Conflict::Abort, &options.bytes_read).unwrap()
        };
        let first = read(&text);
        assert!(!first.is_all && first.rows.len() as u64 == first.records);
        let rows = text.len() as u64 * first.records / first.bytes;
        // Bytes in the reader's buffer count as read.
        assert!((55_000..=100_000).contains(&rows), "{rows} rows of 100,000");
        assert!(read("a\n5\n").is_all);
    }

    struct Counted {
        text: Vec<u8>,
        at: usize,
        count: std::sync::Arc<AtomicU64>,
    }

    impl std::io::Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = buffer.len().min(self.text.len() - self.at).min(100);
            buffer[..read].copy_from_slice(&self.text[self.at..self.at + read]);
            self.at += read;
            self.count.fetch_add(read as u64, Ordering::Relaxed);
            Ok(read)
        }
    }
}
