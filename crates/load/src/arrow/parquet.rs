//! Reads Parquet files. Row groups are cut into ranges of rows, and the worker that takes a range decodes it.
//!
//! A range may begin in the middle of its row group. Earlier pages are skipped, by the page index if the file has one, else by
//! their headers. The group's dictionaries are read once per range. So each worker needs memory for only a few pages, however
//! large the row groups are.
//!
//! metadata.rs reads the metadata, types.rs chooses the types to decode to, and piece.rs decodes a range. pruning.rs leaves out row
//! groups by their statistics.

mod metadata;
mod pages;
mod piece;
mod pruning;
mod statistics;
mod thrift;
mod types;

use super::convert::Column;
use super::form::SemanticType;
use super::narrow::observe;
use super::{
    PIECE_BYTES, Positioned, PositionedRead, all_columns, describe, geometry, plan_columns, wide_decimals,
    with_distinct_names,
};
use crate::filter::RowFilter;
use crate::guard::guard;
use crate::options::ReadOptions;
use crate::reader::{DecimalRange, FileColumn, Piece, ProjectedColumn, Reader};
use arrow_schema::FieldRef;
use bytes::Bytes;
use litepress_rows::Result;
use pages::CheckedPages;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::Type;
use piece::{ParquetPiece, Range, next_batch};
use std::io::BufReader;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// Maximum number of rows decoded at a time.
const DECODE_ROWS: usize = 8192;
/// Target size of these rows in bytes.
const DECODE_BYTES: usize = 4 << 20;
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
    /// Row groups to leave out. Empty if all are read.
    excluded: Vec<bool>,
}

/// The state that all pieces of a file share.
struct Plan {
    file: Positioned,
    columns: Vec<Column>,
    /// Position of each column among those of the file.
    roots: Vec<usize>,
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
        let metadata = metadata::load(&file)?;
        let roots = metadata.parquet_schema().root_schema().get_fields().to_vec();
        let types: Vec<(FieldRef, SemanticType)> = with_distinct_names(metadata.schema().fields(), &file, options)
            .into_iter()
            .zip(&roots)
            .map(|(field, root)| (field.clone(), types::meaning(&field, root)))
            .collect();
        let describe_root = |((field, meaning), root): (&(FieldRef, SemanticType), &Arc<Type>)| {
            describe(field, *meaning, &type_name(root))
        };
        let fields: Vec<FileColumn> = types.iter().zip(&roots).map(describe_root).collect();
        let projected = all_columns(&fields);
        let plan = Arc::new(Plan::new(&projected, &file, &metadata, &fields, &types, options)?);
        Ok(Self {
            file,
            options: options.clone(),
            metadata,
            fields,
            types,
            plan,
            group: 0,
            row: 0,
            record: 1,
            excluded: Vec::new(),
        })
    }

    /// Adds all values of a column of decimals to the range.
    fn observe_values(&self, position: usize, range: &mut DecimalRange, go_on: &dyn Fn() -> Result<()>) -> Result<()> {
        let column = Projection::new(self.metadata.clone(), &[Some(position)]);
        let damaged = |group: usize, why: String| {
            let error = self.file.damaged(format!("row group {} cannot be decoded: {why}", group + 1));
            error.in_column(&self.fields[position].name).advise("the file is damaged: copy or write it again")
        };
        for (group, metadata) in self.metadata.metadata().row_groups().iter().enumerate() {
            let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
            let decoder = column.decoder(&self.file, Range { group, from: 0, rows }, DECODE_ROWS);
            let mut decoder = decoder.map_err(|why| damaged(group, why))?;
            while let Some(batch) = next_batch(&mut decoder).map_err(|why| damaged(group, why))? {
                go_on()?;
                observe(range, batch.column(0));
                if range.is_unbounded {
                    return Ok(());
                }
            }
        }
        Ok(())
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

    fn leave_out(&mut self, filters: &[RowFilter]) {
        self.excluded = pruning::excluded_groups(&self.metadata, &self.plan, filters);
    }

    fn decimal_ranges(&self, go_on: &dyn Fn() -> Result<()>) -> Result<Vec<(usize, DecimalRange)>> {
        let roots = self.metadata.parquet_schema().root_schema().get_fields();
        let mut ranges = wide_decimals(&self.types, |position| type_name(&roots[position]));
        for (position, range) in &mut ranges {
            if !statistics::read_range(&self.metadata, *position, range) {
                self.observe_values(*position, range, go_on)?;
            }
        }
        Ok(ranges)
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        while let Some(group) = self.metadata.metadata().row_groups().get(self.group) {
            let rows = usize::try_from(group.num_rows()).map_err(|_| {
                self.file.damaged(format!("row group {} says that it has {} rows", self.group + 1, group.num_rows()))
            })?;
            if self.row == 0 && self.excluded.get(self.group) == Some(&true) {
                self.record += rows as u64;
                self.row = rows;
            }
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

    fn crs(&self, column: &str) -> Option<String> {
        let metadata = self.metadata.metadata().file_metadata().key_value_metadata();
        let is_geo = |pair: &&KeyValue| pair.key == "geo";
        let geo = metadata.and_then(|pairs| pairs.iter().find(is_geo)).and_then(|pair| pair.value.as_deref());
        let field = || self.types.iter().map(|(field, _)| field).find(|field| field.name() == column);
        geo.map_or_else(|| geometry::of_field(field()?), |geo| geometry::of_geoparquet(geo, column))
    }

    fn records(&self) -> Option<u64> {
        u64::try_from(metadata::row_count(self.metadata.metadata())).ok()
    }
}

/// Returns the file's name of a column's type: `Parquet INT64`.
fn type_name(root: &Type) -> String {
    let kind = if root.is_primitive() { root.get_physical_type().to_string() } else { "group".to_owned() };
    format!("Parquet {kind}")
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
        let (positions, columns) = plan_columns(projected, fields, types, options)?;
        let second = |position: &usize| types::companion(metadata, *position, &types[*position].0).map(|_| *position);
        let seconds: Vec<Option<usize>> = positions.iter().map(second).collect();
        let first: Vec<Option<usize>> = positions.iter().copied().map(Some).collect();
        let hinted = types::with_types(metadata, |position, field| types::quick_type(metadata, position, field));
        let main = Projection::new(hinted, &first);
        let companion = seconds.iter().any(Option::is_some).then(|| {
            let hinted = types::with_types(metadata, |position, field| types::companion(metadata, position, field));
            Projection::new(hinted, &seconds)
        });
        let (file, bytes_read) = (file.clone(), options.bytes_read.clone());
        Ok(Self { file, columns, roots: positions, main, companion, as_bytes: OnceLock::new(), bytes_read })
    }

    fn as_bytes(&self) -> Option<&Projection> {
        let make = || {
            let order = self.main.order.clone();
            let metadata = types::with_bytes(&self.main.metadata).ok()?;
            Some(Projection { metadata, mask: self.main.mask.clone(), order })
        };
        self.as_bytes.get_or_init(make).as_ref()
    }
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
            let pages = CheckedPages::new(file, self.metadata.metadata().row_group(range.group));
            ParquetRecordBatchReaderBuilder::new_with_metadata(pages, self.metadata.clone())
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
