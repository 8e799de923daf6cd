//! Reads the metadata of Parquet files, with the mistakes that some writers make.

use super::thrift;
use crate::arrow::Positioned;
use crate::guard::guard;
use bytes::Bytes;
use litepress_rows::{Error, Result};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy,
};
use std::fmt::Display;
use std::sync::Arc;

pub(super) fn load(file: &Positioned) -> Result<ArrowReaderMetadata> {
    refuse_other_files(file)?;
    let unreadable = |why: &dyn Display| file.damaged(format!("the file's metadata cannot be read: {why}"));
    let metadata = thrift::known_metadata(&read_metadata(file)?).map_err(|why| unreadable(&why))?;
    let decode = |options: Option<&ParquetMetaDataOptions>| {
        guard(|| {
            let decoded = ParquetMetaDataReader::decode_metadata_with_options(&metadata, options);
            decoded.and_then(without_mistakes).map_err(|why| why.to_string())
        })
    };
    // The statistics, the lists of pages, and the Arrow schema beside Parquet's own are optional, and some writers break them.
    let decoded = decode(None).or_else(|first| decode(Some(&without_statistics())).map_err(|_| first));
    let decoded = decoded.map_err(|why| unreadable(&why))?;
    let decoded = Arc::new(with_offset_index(&decoded, file).unwrap_or(decoded));
    let in_arrow =
        |options| guard(|| ArrowReaderMetadata::try_new(decoded.clone(), options).map_err(|why| why.to_string()));
    let options = ArrowReaderOptions::new;
    let loaded =
        in_arrow(options()).or_else(|first| in_arrow(options().with_skip_arrow_metadata(true)).map_err(|_| first));
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

/// Returns the metadata without what some writers get wrong.
///
/// - The file's row count is 0 (repeated_no_annotation.parquet of parquet-testing). The decoder uses the count as the maximum size of a
///   batch, and would return no rows. The row groups have it, too.
/// - A column without a dictionary says that it begins at 0 (dict-page-offset-zero.parquet), where the file's first bytes are.
fn without_mistakes(metadata: ParquetMetaData) -> Result<ParquetMetaData, ParquetError> {
    let rows = row_count(&metadata);
    let is_right = |column: &ColumnChunkMetaData| column.dictionary_page_offset().is_none_or(|at| at > 0);
    let mut all_columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    if metadata.file_metadata().num_rows() == rows && all_columns.all(is_right) {
        return Ok(metadata);
    }
    let groups = metadata.row_groups().iter().map(|group| {
        let columns = group.columns().iter().map(|column| match is_right(column) {
            true => Ok(column.clone()),
            false => column.clone().into_builder().set_dictionary_page_offset(None).build(),
        });
        group.clone().into_builder().set_column_metadata(columns.collect::<Result<_, _>>()?).build()
    });
    let groups = groups.collect::<Result<_, _>>()?;
    let said = metadata.file_metadata();
    let file = FileMetaData::new(
        said.version(),
        rows,
        said.created_by().map(str::to_owned),
        said.key_value_metadata().cloned(),
        said.schema_descr_ptr(),
        said.column_orders().cloned(),
    );
    Ok(ParquetMetaData::new(file, groups))
}

/// Returns the metadata with the lists of pages, if the file has them and they are as Parquet has them.
fn with_offset_index(metadata: &ParquetMetaData, file: &Positioned) -> Option<ParquetMetaData> {
    let columns = || metadata.row_groups().iter().flat_map(|group| group.columns());
    let ranges = || columns().filter_map(|column| column.offset_index_range());
    // They stand one after another in front of the metadata.
    let start = ranges().map(|range| range.start).min()?;
    let tail = Bytes::from(file.read(start, usize::try_from(file.len.checked_sub(start)?).ok()?).ok()?);
    for range in ranges() {
        let [from, to] = [range.start, range.end].map(|at| usize::try_from(at - start));
        thrift::refuse_offset_index(tail.get(from.ok()?..to.ok()?)?).ok()?;
    }
    let read = || {
        let mut reader = ParquetMetaDataReader::new_with_metadata(metadata.clone())
            .with_offset_index_policy(PageIndexPolicy::Optional);
        reader.read_page_indexes_sized(&tail, file.len).and_then(|()| reader.finish()).map_err(|why| why.to_string())
    };
    guard(read).ok()
}

pub(super) fn row_count(metadata: &ParquetMetaData) -> i64 {
    metadata.row_groups().iter().fold(0, |rows, group| rows.saturating_add(group.num_rows().max(0)))
}

/// Returns options that read only the essential metadata.
fn without_statistics() -> ParquetMetaDataOptions {
    ParquetMetaDataOptions::new()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::options::ReadOptions;
    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use parquet::arrow::ArrowWriter;

    /// A list of pages helps to skip them. One that is not as Parquet has it kept the decoder busy, and is left out.
    #[test]
    fn lists_of_pages_are_read_if_they_are_sound() {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let mut file = writer.into_inner().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let load_file = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            load(&Positioned::new(&Input::from_path(&path, &ReadOptions::default()).unwrap()).unwrap()).unwrap()
        };
        let sound = load_file(&file);
        assert!(sound.metadata().page_index().is_some());
        let range = sound.metadata().row_group(0).column(0).offset_index_range().unwrap();
        file[usize::try_from(range.start).unwrap()] += 0x10;
        let broken = load_file(&file);
        assert!(broken.metadata().page_index().is_none());
        assert_eq!((broken.schema(), row_count(broken.metadata())), (sound.schema(), 1000));
    }
}
