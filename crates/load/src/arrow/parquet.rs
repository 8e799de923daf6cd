//! Parquet files: row groups are cut into ranges of rows, each decoded by the worker that takes it.
//!
//! A range begins in the middle of its row group: pages before it are passed by (by the page index where the file has one, else
//! by their headers), and the group's dictionaries are read once a range. So memory is that of a few pages a worker, however
//! large row groups are.

use super::convert::{self, Arrays, Column};
use super::form::Meaning;
use super::{PIECE_BYTES, Positioned, PositionedRead, all_columns, describe, guard, plan_column};
use crate::options::ReadOptions;
use crate::reader::{Batch, Field, Piece, Reader, Wanted};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, FieldRef, Schema};
use bytes::Bytes;
use litepress_rows::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::basic::{ConvertedType, Encoding, LogicalType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, PageIndexPolicy, ParquetMetaData, ParquetStatisticsPolicy, RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::Type;
use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows that are decoded at one go, at most.
const DECODE_ROWS: usize = 8192;
/// Bytes that they should not pass.
const DECODE_BYTES: usize = 4 << 20;
/// A dictionary of at most so many bytes is kept as one: its texts are encoded once.
const DICTIONARY_BYTES: i64 = 4096;
/// What a text is taken to be long where the file does not say it.
const TEXT_BYTES: f64 = 16.0;

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<PositionedRead>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        // It reads a page's header and is dropped.
        Ok(BufReader::with_capacity(1024, PositionedRead { file: self.file.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.read(start, length)?.into())
    }
}

/// A Parquet file.
pub(super) struct ParquetReader {
    file: Positioned,
    options: ReadOptions,
    metadata: ArrowReaderMetadata,
    fields: Vec<Field>,
    types: Vec<(FieldRef, Meaning)>,
    /// How rows are decoded; made anew by `want`.
    plan: Arc<Plan>,
    group: usize,
    row: usize,
    record: u64,
}

/// What all pieces of a file share.
struct Plan {
    file: Positioned,
    columns: Vec<Column>,
    main: Projection,
    /// A second look at columns that one array cannot hold.
    companion: Option<Projection>,
    bytes_read: Arc<AtomicU64>,
}

/// Columns read together.
struct Projection {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// For each wanted column its position among the columns read; `None` where it is not among them.
    order: Vec<Option<usize>>,
}

impl ParquetReader {
    pub fn new(file: Positioned, options: &ReadOptions) -> Result<Self> {
        let metadata = load(&file)?;
        let roots = metadata.parquet_schema().root_schema().get_fields().to_vec();
        let types: Vec<(FieldRef, Meaning)> = metadata
            .schema()
            .fields()
            .iter()
            .zip(&roots)
            .map(|(field, root)| (field.clone(), meaning(field, root)))
            .collect();
        let describe_root = |(position, ((field, meaning), root)): (usize, (&(FieldRef, Meaning), &Arc<Type>))| {
            let kind = if root.is_primitive() { root.get_physical_type().to_string() } else { "group".to_owned() };
            describe(position, field, *meaning, &format!("Parquet {kind}"))
        };
        let fields: Vec<Field> = types.iter().zip(&roots).enumerate().map(describe_root).collect();
        let wanted = all_columns(&fields);
        let plan = Arc::new(Plan::new(&wanted, &file, &metadata, &fields, &types, options)?);
        Ok(Self { file, options: options.clone(), metadata, fields, types, plan, group: 0, row: 0, record: 1 })
    }

    /// Rows that a piece of this row group has, but for the last.
    fn piece_rows(&self, group: &RowGroupMetaData) -> usize {
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let piece_bytes = self.options.piece_bytes.unwrap_or(PIECE_BYTES) as f64;
        let pieces = (rows as f64 * row_bytes(group) / piece_bytes).ceil().max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let pieces = pieces as usize;
        rows.div_ceil(pieces).max(1)
    }
}

impl Reader for ParquetReader {
    fn columns(&self) -> &[Field] {
        &self.fields
    }

    fn want(&mut self, columns: &[Wanted]) -> Result<()> {
        let plan = Plan::new(columns, &self.file, &self.metadata, &self.fields, &self.types, &self.options)?;
        self.plan = Arc::new(plan);
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        while let Some(group) = self.metadata.metadata().row_groups().get(self.group) {
            let rows = usize::try_from(group.num_rows()).map_err(|_| {
                self.file.damaged(format!("row group {} says that it has {} rows", self.group + 1, group.num_rows()))
            })?;
            if self.row >= rows {
                (self.group, self.row) = (self.group + 1, 0);
                continue;
            }
            let count = self.piece_rows(group).min(rows - self.row);
            let range = Range { group: self.group, from: self.row, rows: count };
            let share = group.compressed_size() as f64 * count as f64 / rows as f64;
            let batch_rows = decode_rows(row_bytes(group));
            let piece = ParquetPiece::new(self.plan.clone(), range, self.record, batch_rows, share);
            self.row += count;
            self.record += count as u64;
            return Ok(Some(Box::new(piece)));
        }
        Ok(None)
    }

    fn records(&self) -> Option<u64> {
        u64::try_from(row_count(self.metadata.metadata())).ok()
    }
}

fn load(file: &Positioned) -> Result<ArrowReaderMetadata> {
    refuse_other_files(file)?;
    let options = || ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Optional);
    let load = |options| guard(|| ArrowReaderMetadata::load(file, options).map_err(|error| error.to_string()));
    // The Arrow schema that a writer has left beside Parquet's own is only a help, and broken ones occur; so are statistics.
    let loaded = load(options()).or_else(|first| {
        load(options().with_skip_arrow_metadata(true)).or_else(|_| load(without_help())).map_err(|_| first)
    });
    let loaded = loaded.and_then(with_row_count);
    loaded.map_err(|why| file.damaged(format!("the file's metadata cannot be read: {why}")))
}

/// Metadata whose row groups and file say the same number of rows.
///
/// Some writer has left 0 for the file (repeated_no_annotation.parquet of parquet-testing); the decoder takes that for the most
/// rows of a batch, and ends before it has begun.
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

fn row_count(metadata: &ParquetMetaData) -> i64 {
    metadata.row_groups().iter().fold(0, |rows, group| rows.saturating_add(group.num_rows().max(0)))
}

/// Options to read nothing but what is needed: neither page indexes nor statistics.
fn without_help() -> ArrowReaderOptions {
    ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
}

/// What is seen at the ends of the file.
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
        _ => Err(file.damaged("this is no Parquet file: it does not end with PAR1")),
    }
}

/// What a column means by what Parquet says of it beyond its Arrow type.
fn meaning(field: &FieldRef, root: &Type) -> Meaning {
    let meaning = Meaning::of_field(field);
    if !root.is_primitive() {
        return meaning;
    }
    let info = root.get_basic_info();
    match (meaning, info.logical_type_ref(), info.converted_type()) {
        (Meaning::Binary, Some(LogicalType::Uuid), _) if *field.data_type() == DataType::FixedSizeBinary(16) => {
            Meaning::Uuid
        }
        (Meaning::Binary, Some(LogicalType::Enum), _) | (Meaning::Binary, None, ConvertedType::ENUM) => Meaning::Enum,
        (Meaning::Text, Some(LogicalType::Json), _) | (Meaning::Text, None, ConvertedType::JSON) => Meaning::JsonText,
        _ => meaning,
    }
}

/// Bytes that a row of the group becomes, as far as the metadata tells it.
fn row_bytes(group: &RowGroupMetaData) -> f64 {
    let rows = group.num_rows().max(1) as f64;
    let column_bytes = |column: &parquet::file::metadata::ColumnChunkMetaData| match column.column_type() {
        Physical::BOOLEAN => 1.0,
        Physical::INT32 => 8.0,
        Physical::INT64 | Physical::FLOAT | Physical::DOUBLE => 12.0,
        Physical::INT96 => 32.0,
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => match column.unencoded_byte_array_data_bytes() {
            Some(bytes) => bytes.max(0) as f64 / rows,
            None => (column.uncompressed_size().max(0) as f64 / rows).max(TEXT_BYTES),
        },
    };
    group.columns().iter().map(column_bytes).sum::<f64>().max(1.0)
}

fn decode_rows(row_bytes: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let rows = (DECODE_BYTES as f64 / row_bytes) as usize;
    rows.clamp(16, DECODE_ROWS)
}

impl Plan {
    fn new(
        wanted: &[Wanted],
        file: &Positioned,
        metadata: &ArrowReaderMetadata,
        fields: &[Field],
        types: &[(FieldRef, Meaning)],
        options: &ReadOptions,
    ) -> Result<Self> {
        let planned: Result<Vec<_>> = wanted.iter().map(|wanted| plan_column(wanted, fields, types, options)).collect();
        let (positions, columns): (Vec<usize>, Vec<Column>) = planned?.into_iter().unzip();
        let roots = metadata.parquet_schema().root_schema().get_fields();
        let second = |position: &usize| companion(&types[*position].0, &roots[*position]).map(|_| *position);
        let seconds: Vec<Option<usize>> = positions.iter().map(second).collect();
        let first: Vec<Option<usize>> = positions.into_iter().map(Some).collect();
        let hinted = with_types(metadata, |position, field| quick_type(metadata, position, field));
        let main = Projection::new(hinted, &first);
        let companion = seconds.iter().any(Option::is_some).then(|| {
            let hinted = with_types(metadata, |position, field| companion(field, &roots[position]));
            Projection::new(hinted, &seconds)
        });
        Ok(Self { file: file.clone(), columns, main, companion, bytes_read: options.bytes_read.clone() })
    }
}

/// The type as which the second half of a value is read, where it has one.
fn companion(field: &FieldRef, root: &Type) -> Option<DataType> {
    let is_split = root.is_primitive()
        && match root.get_physical_type() {
            Physical::INT96 => true,
            Physical::FIXED_LEN_BYTE_ARRAY => root.get_basic_info().converted_type() == ConvertedType::INTERVAL,
            _ => false,
        };
    convert::companion_type(field.data_type()).filter(|_| is_split)
}

/// The type as which a column is decoded fastest: texts as views of their pages, short dictionaries as such, decimals in 64 bits.
fn quick_type(metadata: &ArrowReaderMetadata, position: usize, field: &FieldRef) -> Option<DataType> {
    let quick = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if is_all_dictionary(metadata, position) => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Decimal128(precision, scale) if *precision <= 18 && is_integer(metadata, position) => {
            DataType::Decimal64(*precision, *scale)
        }
        _ => return None,
    };
    Some(quick)
}

/// Whether the file stores a column as 32 or 64 bits.
fn is_integer(metadata: &ArrowReaderMetadata, root: usize) -> bool {
    let root = &metadata.parquet_schema().root_schema().get_fields()[root];
    root.is_primitive() && matches!(root.get_physical_type(), Physical::INT32 | Physical::INT64)
}

/// Whether all pages of a column pick from short dictionaries.
fn is_all_dictionary(metadata: &ArrowReaderMetadata, root: usize) -> bool {
    let schema = metadata.parquet_schema();
    let Some(leaf) = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == root) else {
        return false;
    };
    metadata.metadata().row_groups().iter().all(|group| {
        let column = group.column(leaf);
        let is_short = column
            .dictionary_page_offset()
            .is_some_and(|at| (0..=DICTIONARY_BYTES).contains(&(column.data_page_offset().saturating_sub(at))));
        let only = |encoding| column.page_encoding_stats_mask().is_some_and(|mask| mask.is_only(encoding));
        is_short && (only(Encoding::RLE_DICTIONARY) || only(Encoding::PLAIN_DICTIONARY))
    })
}

/// The same file, with columns read as other types; as before where the decoder does not take them.
fn with_types(
    metadata: &ArrowReaderMetadata,
    retype: impl Fn(usize, &FieldRef) -> Option<DataType>,
) -> ArrowReaderMetadata {
    let retyped = |types: &dyn Fn(usize, &FieldRef) -> Option<DataType>| {
        let fields = metadata.schema().fields().iter().enumerate();
        let fields: Vec<FieldRef> = fields
            .map(|(position, field)| match types(position, field) {
                Some(data_type) => Arc::new(field.as_ref().clone().with_data_type(data_type)),
                None => field.clone(),
            })
            .collect();
        let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        guard(|| ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).map_err(|error| error.to_string()))
    };
    retyped(&retype).unwrap_or_else(|_| metadata.clone())
}

impl Projection {
    /// `positions`: for each wanted column the position of its root in the file.
    fn new(metadata: ArrowReaderMetadata, positions: &[Option<usize>]) -> Self {
        let mut roots: Vec<usize> = positions.iter().copied().flatten().collect();
        roots.sort_unstable();
        roots.dedup();
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
        let order =
            positions.iter().map(|position| position.and_then(|root| roots.binary_search(&root).ok())).collect();
        Self { metadata, mask, order }
    }

    fn decoder(&self, file: &Positioned, range: Range, batch_rows: usize) -> Result<ParquetRecordBatchReader, String> {
        let selection = RowSelection::from(vec![RowSelector::skip(range.from), RowSelector::select(range.rows)]);
        let build = || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), self.metadata.clone())
                .with_projection(self.mask.clone())
                .with_row_groups(vec![range.group])
                .with_row_selection(selection)
                .with_batch_size(batch_rows)
                .build()
                .map_err(|error| error.to_string())
        };
        guard(build)
    }
}

/// Rows of a row group.
#[derive(Clone, Copy, Debug)]
struct Range {
    group: usize,
    from: usize,
    rows: usize,
}

/// A range of rows, decoded when it is first read.
struct ParquetPiece {
    plan: Arc<Plan>,
    columns: Vec<Column>,
    range: Range,
    first_record: u64,
    batch_rows: usize,
    /// Compressed bytes of the file that these rows take.
    share: f64,
    decoders: Option<(ParquetRecordBatchReader, Option<ParquetRecordBatchReader>)>,
    /// What was decoded last, and how many of its rows were given.
    arrays: Option<Arrays>,
    given: usize,
    decoded: usize,
}

impl ParquetPiece {
    fn new(plan: Arc<Plan>, range: Range, first_record: u64, batch_rows: usize, share: f64) -> Self {
        let columns = plan.columns.clone();
        let (decoders, arrays, given, decoded) = (None, None, 0, 0);
        Self { plan, columns, range, first_record, batch_rows, share, decoders, arrays, given, decoded }
    }

    /// Decodes the next rows; `None` at the end of the range.
    fn decode(&mut self) -> Result<Option<Arrays>, String> {
        if self.decoded == self.range.rows {
            return Ok(None);
        }
        let (file, range) = (&self.plan.file, self.range);
        if self.decoders.is_none() {
            let main = self.plan.main.decoder(file, range, self.batch_rows)?;
            let companion = self.plan.companion.as_ref();
            let companion = companion.map(|companion| companion.decoder(file, range, self.batch_rows)).transpose()?;
            self.decoders = Some((main, companion));
        }
        let (main, companion) = self.decoders.as_mut().expect("it was made above");
        let missing_rows = range.rows - self.decoded;
        let missing = || format!("{missing_rows} of its rows are missing");
        let batch = next_batch(main)?.ok_or_else(missing)?;
        let beside = companion.as_mut().map(|companion| next_batch(companion)?.ok_or_else(missing)).transpose()?;
        self.decoded += batch.num_rows();
        if batch.num_rows() == 0 || beside.as_ref().is_some_and(|beside| beside.num_rows() != batch.num_rows()) {
            return Err(missing());
        }
        let pick = |order: &[Option<usize>], batch: &RecordBatch| -> Vec<_> {
            order.iter().map(|position| position.map(|position| batch.column(position).clone())).collect()
        };
        let columns = pick(&self.plan.main.order, &batch).into_iter().flatten().collect();
        let companions = match (&self.plan.companion, &beside) {
            (Some(companion), Some(beside)) => pick(&companion.order, beside),
            _ => vec![None; self.columns.len()],
        };
        Ok(Some(Arrays { rows: batch.num_rows(), columns, companions }))
    }

    /// Says in which column the range cannot be decoded: the first that fails alone.
    fn blame(&self, why: String) -> Error {
        let place = format!("row group {} cannot be decoded", self.range.group + 1);
        let culprit = self.columns.iter().enumerate().find_map(|(index, column)| {
            let alone = |projection: &Projection| {
                let schema = projection.metadata.schema();
                let root = schema.fields().iter().position(|field| field.name() == self.columns[index].field.name())?;
                let alone = Projection::new(projection.metadata.clone(), &[Some(root)]);
                self.try_alone(&alone).err()
            };
            let why = alone(&self.plan.main).or_else(|| self.plan.companion.as_ref().and_then(alone))?;
            Some((column.field.name(), why))
        });
        let error = match culprit {
            Some((column, why)) => self.plan.file.damaged(format!("{place}: {why}")).in_column(column),
            None => self.plan.file.damaged(format!("{place}: {why}")),
        };
        error.advise("the file is damaged: copy or write it again")
    }

    fn try_alone(&self, column: &Projection) -> Result<(), String> {
        let mut decoder = column.decoder(&self.plan.file, self.range, self.batch_rows)?;
        let mut rows = 0;
        while let Some(batch) = next_batch(&mut decoder)? {
            rows += batch.num_rows();
        }
        if rows == self.range.rows {
            Ok(())
        } else {
            Err(format!("{} of its rows are missing", self.range.rows - rows))
        }
    }
}

fn next_batch(decoder: &mut ParquetRecordBatchReader) -> Result<Option<RecordBatch>, String> {
    guard(|| decoder.next().transpose().map_err(|error| error.to_string()))
}

impl Piece for ParquetPiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.range.rows as u64
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        if self.arrays.as_ref().is_none_or(|arrays| self.given == arrays.rows) {
            self.given = 0;
            self.arrays = None;
            self.arrays = self.decode().map_err(|why| self.blame(why))?;
        }
        let Some(arrays) = &self.arrays else {
            batch.clear(self.columns.len());
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            self.plan.bytes_read.fetch_add(std::mem::take(&mut self.share) as u64, Ordering::Relaxed);
            self.decoders = None;
            return Ok(());
        };
        convert::fill_batch(&mut self.columns, arrays, self.given, batch);
        self.given += batch.rows;
        Ok(())
    }
}
