//! Reads Parquet files. Row groups are cut into ranges of rows, and the worker that takes a range decodes it.
//!
//! A range may begin in the middle of its row group. Earlier pages are skipped, by the page index if the file has one, else by
//! their headers. The group's dictionaries are read once per range. So each worker needs memory for only a few pages, however
//! large the row groups are.

use super::convert::{self, Arrays, Column};
use super::depth;
use super::form::SemanticType;
use super::texts::texts_as_bytes;
use super::{PIECE_BYTES, Positioned, PositionedRead, all_columns, describe, guard, plan_column};
use crate::options::ReadOptions;
use crate::reader::{Batch, FileColumn, Piece, ProjectedColumn, Reader};
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
    FileMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataBuilder, ParquetStatisticsPolicy, RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::fmt::Display;
use std::io::BufReader;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Maximum number of rows decoded at a time.
const DECODE_ROWS: usize = 8192;
/// Target size of these rows in bytes.
const DECODE_BYTES: usize = 4 << 20;
/// Maximum size in bytes of a dictionary that stays one, so that its texts are encoded once.
const DICTIONARY_BYTES: i64 = 4096;
/// Assumed length of a text in bytes, if the file does not state it.
const TEXT_BYTES: f64 = 16.0;

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<PositionedRead>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        // Only the header of a page is read from this stream.
        Ok(BufReader::with_capacity(1024, PositionedRead { file: self.file.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.read(start, length)?.into())
    }
}

/// A reader of a Parquet file.
pub(super) struct ParquetReader {
    file: Positioned,
    options: ReadOptions,
    metadata: ArrowReaderMetadata,
    fields: Vec<FileColumn>,
    types: Vec<(FieldRef, SemanticType)>,
    /// The plan for decoding rows. `want` replaces it.
    plan: Arc<Plan>,
    group: usize,
    row: usize,
    record: u64,
}

/// The state that all pieces of a file share.
struct Plan {
    file: Positioned,
    columns: Vec<Column>,
    main: Projection,
    /// A second reading of columns whose values do not fit one array.
    companion: Option<Projection>,
    /// `main` with texts as byte strings. Used for ranges that fail to decode, because one of their texts may not be UTF-8. `None`
    /// if no text is read.
    as_bytes: OnceLock<Option<Projection>>,
    bytes_read: Arc<AtomicU64>,
}

/// A set of columns that are read together.
struct Projection {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// Position of each requested column among the columns read. `None` if it is not among them.
    order: Vec<Option<usize>>,
}

impl ParquetReader {
    pub fn new(file: Positioned, options: &ReadOptions) -> Result<Self> {
        let metadata = load(&file)?;
        let roots = metadata.parquet_schema().root_schema().get_fields().to_vec();
        let types: Vec<(FieldRef, SemanticType)> = metadata
            .schema()
            .fields()
            .iter()
            .zip(&roots)
            .map(|(field, root)| (field.clone(), meaning(field, root)))
            .collect();
        let describe_root = |(position, ((field, meaning), root)): (usize, (&(FieldRef, SemanticType), &Arc<Type>))| {
            let kind = if root.is_primitive() { root.get_physical_type().to_string() } else { "group".to_owned() };
            describe(position, field, *meaning, &format!("Parquet {kind}"))
        };
        let fields: Vec<FileColumn> = types.iter().zip(&roots).enumerate().map(describe_root).collect();
        let projected = all_columns(&fields);
        let plan = Arc::new(Plan::new(&projected, &file, &metadata, &fields, &types, options)?);
        Ok(Self { file, options: options.clone(), metadata, fields, types, plan, group: 0, row: 0, record: 1 })
    }

    /// Returns the number of rows of each piece of this row group, except the last.
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
    fn columns(&self) -> &[FileColumn] {
        &self.fields
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
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

fn row_count(metadata: &ParquetMetaData) -> i64 {
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

/// Returns the meaning of a column. Parquet's own type may refine its Arrow type.
fn meaning(field: &FieldRef, root: &Type) -> SemanticType {
    let meaning = SemanticType::of_field(field);
    if !root.is_primitive() {
        return meaning;
    }
    let info = root.get_basic_info();
    match (meaning, info.logical_type_ref(), info.converted_type()) {
        (SemanticType::Binary, Some(LogicalType::Uuid), _) if *field.data_type() == DataType::FixedSizeBinary(16) => {
            SemanticType::Uuid
        }
        (SemanticType::Binary, Some(LogicalType::Enum), _) | (SemanticType::Binary, None, ConvertedType::ENUM) => {
            SemanticType::Enum
        }
        (SemanticType::Text, Some(LogicalType::Json), _) | (SemanticType::Text, None, ConvertedType::JSON) => {
            SemanticType::JsonText
        }
        _ => meaning,
    }
}

/// Estimates the size of a decoded row of the group in bytes, from the metadata.
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
        projected: &[ProjectedColumn],
        file: &Positioned,
        metadata: &ArrowReaderMetadata,
        fields: &[FileColumn],
        types: &[(FieldRef, SemanticType)],
        options: &ReadOptions,
    ) -> Result<Self> {
        let planned: Result<Vec<_>> =
            projected.iter().map(|projected| plan_column(projected, fields, types, options)).collect();
        let (positions, columns): (Vec<usize>, Vec<Column>) = planned?.into_iter().unzip();
        let second = |position: &usize| companion(metadata, *position, &types[*position].0).map(|_| *position);
        let seconds: Vec<Option<usize>> = positions.iter().map(second).collect();
        let first: Vec<Option<usize>> = positions.into_iter().map(Some).collect();
        let hinted = with_types(metadata, |position, field| quick_type(metadata, position, field));
        let main = Projection::new(hinted, &first);
        let companion = seconds.iter().any(Option::is_some).then(|| {
            let hinted = with_types(metadata, |position, field| companion(metadata, position, field));
            Projection::new(hinted, &seconds)
        });
        let (file, bytes_read) = (file.clone(), options.bytes_read.clone());
        Ok(Self { file, columns, main, companion, as_bytes: OnceLock::new(), bytes_read })
    }

    fn as_bytes(&self) -> Option<&Projection> {
        let make = || {
            let order = self.main.order.clone();
            let metadata = with_bytes(&self.main.metadata).ok()?;
            Some(Projection { metadata, mask: self.main.mask.clone(), order })
        };
        self.as_bytes.get_or_init(make).as_ref()
    }
}

/// Returns the type as which the second part of a value is read, for INT96 timestamps and intervals.
fn companion(metadata: &ArrowReaderMetadata, position: usize, field: &FieldRef) -> Option<DataType> {
    let schema = metadata.parquet_schema();
    let root = &schema.root_schema().get_fields()[position];
    let is_interval = root.is_primitive() && root.get_basic_info().converted_type() == ConvertedType::INTERVAL;
    if is_interval {
        return convert::months_type(field.data_type());
    }
    let columns = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == position);
    let mut is_int96 = columns.map(|leaf| schema.column(leaf).physical_type() == Physical::INT96);
    if !is_int96.clone().any(|is_int96| is_int96) {
        return None;
    }
    Some(convert::seconds_type(field.data_type(), &mut || is_int96.next().unwrap_or(false)))
}

/// Returns the type that decodes fastest: texts as views of pages, short dictionaries as such, decimals in 64 bits.
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

/// Returns whether the file stores a column in 32 or 64 bits.
fn is_integer(metadata: &ArrowReaderMetadata, root: usize) -> bool {
    let root = &metadata.parquet_schema().root_schema().get_fields()[root];
    root.is_primitive() && matches!(root.get_physical_type(), Physical::INT32 | Physical::INT64)
}

/// Returns whether all pages of a column use short dictionaries.
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

/// Returns the metadata with other column types, or unchanged if the decoder does not support these.
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

/// Returns the metadata with texts as byte strings. The decoder insists on text for columns that the Parquet schema calls text,
/// so this changes that schema, too.
fn with_bytes(metadata: &ArrowReaderMetadata) -> Result<ArrowReaderMetadata, String> {
    let said = metadata.metadata().file_metadata();
    let file = FileMetaData::new(
        said.version(),
        said.num_rows(),
        said.created_by().map(str::to_owned),
        None,
        Arc::new(SchemaDescriptor::new(without_texts(said.schema_descr().root_schema_ptr())?)),
        said.column_orders().cloned(),
    );
    let row_groups = metadata.metadata().row_groups().to_vec();
    let builder = ParquetMetaDataBuilder::new(file).set_row_groups(row_groups);
    let fields: Vec<FieldRef> = metadata.schema().fields().iter().map(texts_as_bytes).collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    guard(|| ArrowReaderMetadata::try_new(Arc::new(builder.build()), options).map_err(|error| error.to_string()))
}

/// Returns the type with its texts as byte strings.
fn without_texts(all: Arc<Type>) -> Result<Arc<Type>, String> {
    let info = all.get_basic_info();
    let (name, id) = (info.name(), info.has_id().then(|| info.id()));
    let made = match &*all {
        Type::PrimitiveType { physical_type: Physical::BYTE_ARRAY, .. } if is_text(&all) => {
            Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_repetition(info.repetition())
                .with_id(id)
                .build()
        }
        Type::PrimitiveType { .. } => return Ok(all),
        Type::GroupType { fields, .. } => {
            let fields: Result<Vec<_>, String> = fields.iter().cloned().map(without_texts).collect();
            let group = Type::group_type_builder(name)
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_fields(fields?)
                .with_id(id);
            if info.has_repetition() { group.with_repetition(info.repetition()).build() } else { group.build() }
        }
    };
    made.map(Arc::new).map_err(|error| error.to_string())
}

fn is_text(leaf: &Type) -> bool {
    let info = leaf.get_basic_info();
    matches!(info.logical_type_ref(), Some(LogicalType::String | LogicalType::Json | LogicalType::Enum))
        || matches!(info.converted_type(), ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM)
}

impl Projection {
    /// Creates a projection. `positions` has the position of each requested column's root in the file.
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

/// Consecutive rows of a row group.
#[derive(Clone, Copy, Debug)]
struct Range {
    group: usize,
    from: usize,
    rows: usize,
}

/// A range of rows that is decoded at its first read.
struct ParquetPiece {
    plan: Arc<Plan>,
    columns: Vec<Column>,
    range: Range,
    first_record: u64,
    batch_rows: usize,
    /// Size of these rows in the file, in compressed bytes.
    share: f64,
    decoders: Option<(ParquetRecordBatchReader, Option<ParquetRecordBatchReader>)>,
    /// The last decoded rows, and the number of them returned.
    arrays: Option<Arrays>,
    given: usize,
    decoded: usize,
    /// Texts are decoded as bytes, because the range failed to decode as text.
    as_bytes: bool,
}

impl ParquetPiece {
    fn new(plan: Arc<Plan>, range: Range, first_record: u64, batch_rows: usize, share: f64) -> Self {
        let columns = plan.columns.clone();
        let (decoders, arrays, given, decoded, as_bytes) = (None, None, 0, 0, false);
        Self { plan, columns, range, first_record, batch_rows, share, decoders, arrays, given, decoded, as_bytes }
    }

    /// Decodes the next rows. Returns `None` at the end of the range.
    fn decode(&mut self) -> Result<Option<Arrays>, String> {
        self.decode_more().or_else(|why| {
            if std::mem::replace(&mut self.as_bytes, true) || self.plan.as_bytes().is_none() {
                return Err(why);
            }
            self.decoders = None;
            self.decode_more().map_err(|_| why)
        })
    }

    fn decode_more(&mut self) -> Result<Option<Arrays>, String> {
        if self.decoded == self.range.rows {
            return Ok(None);
        }
        let range = self.range;
        let as_bytes = if self.as_bytes { self.plan.as_bytes() } else { None };
        let projection = as_bytes.unwrap_or(&self.plan.main);
        if self.decoders.is_none() {
            let file = &self.plan.file;
            let range = Range { from: range.from + self.decoded, rows: range.rows - self.decoded, ..range };
            let main = projection.decoder(file, range, self.batch_rows)?;
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
        let columns = pick(&projection.order, &batch).into_iter().flatten().collect();
        let companions = match (&self.plan.companion, &beside) {
            (Some(companion), Some(beside)) => pick(&companion.order, beside),
            _ => vec![None; self.columns.len()],
        };
        Ok(Some(Arrays { rows: batch.num_rows(), columns, companions }))
    }

    /// Names the column that makes the range fail to decode: the first one that fails alone.
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
