//! Reads the metadata of Parquet files, with the mistakes that some writers make.

use crate::arrow::{Positioned, depth};
use crate::guard::guard;
use litepress_rows::{Error, Result};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::{FileMetaData, PageIndexPolicy, ParquetMetaData, ParquetStatisticsPolicy};
use std::fmt::Display;
use std::sync::Arc;

pub(super) fn load(file: &Positioned) -> Result<ArrowReaderMetadata> {
    refuse_other_files(file)?;
    let metadata = read_metadata(file)?;
    let unreadable = |why: &dyn Display| file.damaged(format!("the file's metadata cannot be read: {why}"));
    depth::refuse_deep_schema(&metadata).map_err(|why| unreadable(&why))?;
    drop(metadata);
    let options = || ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Optional);
    let load = |options| guard(|| ArrowReaderMetadata::load(file, options).map_err(|error| error.to_string()));
    // Both the Arrow schema beside Parquet's own and the statistics are optional, and some writers break them: retry without.
    let loaded = load(options()).or_else(|first| {
        load(options().with_skip_arrow_metadata(true)).or_else(|_| load(without_help())).map_err(|_| first)
    });
    let loaded = loaded.and_then(with_row_count);
    loaded.map_err(|why| unreadable(&why))
}

/// Reads the metadata before the file's trailer.
fn read_metadata(file: &Positioned) -> Result<Vec<u8>> {
    const TRAILER_BYTES: u64 = 8;
    let read = |at, len| file.read(at, len).map_err(|error| Error::io("read", file.name(), error));
    let len = read(file.len - TRAILER_BYTES, 4)?;
    #[expect(clippy::little_endian_bytes, reason = "the Parquet format's own")]
    let len = u32::from_le_bytes(len.try_into().expect("four bytes were read"));
    let at = (file.len - TRAILER_BYTES).checked_sub(len.into());
    let at = at.ok_or_else(|| {
        file.damaged(format!("the file's metadata cannot be read: its {len} bytes would begin before it"))
    })?;
    read(at, len as usize)
}

/// Returns the metadata with the file's row count set to the sum of its row groups.
///
/// Some writers leave 0 as the file's count (repeated_no_annotation.parquet of parquet-testing). The decoder uses the count as the
/// maximum size of a batch, and would return no rows.
fn with_row_count(loaded: ArrowReaderMetadata) -> Result<ArrowReaderMetadata, String> {
    let metadata = loaded.metadata();
    let (said, rows) = (metadata.file_metadata(), row_count(metadata));
    if said.num_rows() == rows {
        return Ok(loaded);
    }
    let file = FileMetaData::new(
        said.version(),
        rows,
        said.created_by().map(str::to_owned),
        said.key_value_metadata().cloned(),
        said.schema_descr_ptr(),
        said.column_orders().cloned(),
    );
    let metadata = ParquetMetaData::new(file, metadata.row_groups().to_vec());
    let options = ArrowReaderOptions::new().with_schema(loaded.schema().clone());
    guard(|| ArrowReaderMetadata::try_new(Arc::new(metadata), options).map_err(|error| error.to_string()))
}

pub(super) fn row_count(metadata: &ParquetMetaData) -> i64 {
    metadata.row_groups().iter().fold(0, |rows, group| rows.saturating_add(group.num_rows().max(0)))
}

/// Returns options that read only the essential metadata: no page index, no statistics, no Arrow schema.
fn without_help() -> ArrowReaderOptions {
    ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
}

/// Fails if the first and last bytes are not those of a readable Parquet file.
fn refuse_other_files(file: &Positioned) -> Result<()> {
    const SMALLEST: u64 = 12;
    if file.len < SMALLEST {
        return Err(file.damaged("the file is too short for a Parquet file"));
    }
    let read = |at| file.read(at, 4).map_err(|error| Error::io("read", file.name(), error));
    let (head, tail) = (read(0)?, read(file.len - 4)?);
    match (&*head, &*tail) {
        (_, b"PARE") => Err(file.damaged("the file is encrypted").advise("decrypt it first")),
        (_, b"PAR1") => Ok(()),
        (b"PAR1", _) => Err(file
            .damaged("the file begins as Parquet and does not end as it: it is truncated")
            .advise("copy or write it again")),
        _ => Err(file.damaged("this is not a Parquet file: it does not end with PAR1")),
    }
}
