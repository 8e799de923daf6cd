//! The pages of a row group: headers are looked at before the decoder sees them. It makes room for as many values as a dictionary says
//! that it has, so that a file of 3 kB took 15 GB, and it skips lists of any length (`thrift.rs`).
//!
//! ```text
//! get_read(at)          a header begins at `at`, or the data behind one that was seen
//! get_bytes(at, len)    data behind a header that was seen, or a whole page, whose place the file states
//! ```

use super::Positioned;
use super::thrift::PageHeader;
use bytes::Bytes;
use litepress_rows::sync::{Mutex, lock};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};
use std::collections::HashSet;
use std::io::Cursor;
use std::ops::Range;

/// Bytes of a header that are read first. Most have a hundred.
const HEADER_BYTES: usize = 1024;

/// A file whose pages are looked at.
pub(super) struct CheckedPages {
    file: Positioned,
    /// Where columns without compression stand: nothing else compares their pages with the size that these say.
    uncompressed: Vec<Range<u64>>,
    /// Where data begin, behind headers that were seen.
    data: Mutex<HashSet<u64>>,
}

impl CheckedPages {
    /// Looks at the pages of a row group.
    pub(super) fn new(file: &Positioned, group: &RowGroupMetaData) -> Self {
        let columns = group.columns().iter().filter(|column| column.compression() == Compression::UNCOMPRESSED);
        let uncompressed = columns.filter_map(|column| {
            let start = u64::try_from(column.dictionary_page_offset().unwrap_or(column.data_page_offset())).ok()?;
            Some(start..start.saturating_add(u64::try_from(column.compressed_size()).ok()?))
        });
        Self { file: file.clone(), uncompressed: uncompressed.collect(), data: Mutex::default() }
    }

    /// Reads the header at a position, and notes where its data begin. Returns its bytes, and some behind them.
    fn look(&self, at: u64) -> Result<Vec<u8>> {
        let left = usize::try_from(self.file.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut most = HEADER_BYTES;
        loop {
            let bytes = self.file.read(at, most.min(left))?;
            match self.check(at, &bytes) {
                Ok(header_bytes) => {
                    lock(&self.data).insert(at + header_bytes as u64);
                    return Ok(bytes);
                }
                Err(error) if most >= left => return Err(error),
                // It may be longer: statistics hold values.
                Err(_) => most = most.saturating_mul(16),
            }
        }
    }

    /// Checks the header of a page at a position. Returns the bytes of the header.
    fn check(&self, at: u64, page: &[u8]) -> Result<usize> {
        let header =
            PageHeader::read(page).map_err(|why| ParquetError::General(format!("the header of a page: {why}")))?;
        let is_uncompressed = self.uncompressed.iter().any(|range| range.contains(&at));
        let bytes = if is_uncompressed { header.bytes } else { header.uncompressed_bytes };
        if header.dictionary_values > bytes {
            let message = format!("a dictionary of {bytes} bytes says that it has {} values", header.dictionary_values);
            return Err(ParquetError::General(message));
        }
        Ok(header.header_bytes)
    }
}

impl Length for CheckedPages {
    fn len(&self) -> u64 {
        self.file.len
    }
}

impl ChunkReader for CheckedPages {
    type T = Cursor<Vec<u8>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        // The decoder opens the data behind a header that it has, too, and reads nothing from there.
        let has_header = lock(&self.data).contains(&start);
        if has_header { Ok(Cursor::default()) } else { self.look(start).map(Cursor::new) }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.file.get_bytes(start, length)?;
        if !lock(&self.data).remove(&start) {
            self.check(start, &bytes)?;
        }
        Ok(bytes)
    }
}
