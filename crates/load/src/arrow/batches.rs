//! Reads record batches in memory from a stream of another producer.
//!
//! Batches are pulled one at a time, as pieces are requested, and cut into pieces without a copy. Producers in other languages
//! may break the rule that texts are UTF-8. So arrays of texts are first converted to arrays of byte strings
//! ([`array_as_bytes`]), and invalid UTF-8 is reported row by row, as for files.

use super::convert::{self, Arrays, Column};
use super::form::{SemanticType, StorageForm};
use super::narrow::narrowed;
use super::texts::array_as_bytes;
use super::{PIECE_BYTES, all_columns, describe, geometry, plan_columns};
use crate::guard::guard;
use crate::options::ReadOptions;
use crate::reader::{Batch, FileColumn, Piece, ProjectedColumn, Reader};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, FieldRef};
use litepress_rows::{Affinity, Error, ErrorKind, Result};
use std::collections::VecDeque;

/// Maximum rows of a piece: enough for [`PIECE_BYTES`] if rows are short.
const PIECE_ROWS: usize = 1 << 18;
/// Maximum depth of nested types, as for Parquet schemas.
pub(super) const MAX_DEPTH: usize = 64;
/// Rows of a stream that decide whether a column of wide decimals is one of numbers.
const ROWS_AHEAD: usize = 1 << 20;

/// Facts about record batches that their schema does not state.
#[derive(Clone, Debug, Default)]
pub struct BatchFacts {
    /// All batches are in memory already: all values decide about the types of wide decimals, not only the first ones.
    pub is_in_memory: bool,
    /// Columns without a type, whose values are all NULL.
    pub untyped: Vec<String>,
}

/// Reads a stream of record batches. Only the current batch is in memory, and earlier ones whose pieces are in use.
///
/// # Errors
/// As [`batches_with`].
pub fn batches(reader: Box<dyn RecordBatchReader + Send>, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    batches_with(reader, options, &BatchFacts::default())
}

/// Does the same as [`batches`] with facts that the schema does not state.
///
/// DuckDB's sums and decimals of polars have 38 digits by declaration, whatever their values. The first `ROWS_AHEAD` rows of a
/// stream with such columns are read at once, or all rows if they are in memory: their values decide. A column of a table that keeps
/// any value gets texts, whatever the values.
///
/// # Errors
/// [`ErrorKind::Data`] if the schema has no columns, repeats a name, has an empty one, or is nested deeper than 64 levels; if
/// the first batches cannot be read.
pub fn batches_with(
    reader: Box<dyn RecordBatchReader + Send>,
    options: &ReadOptions,
    facts: &BatchFacts,
) -> Result<Box<dyn Reader>> {
    Ok(Box::new(BatchReader::new(reader, options, facts)?))
}

/// Returns whether [`batches_with`] reads some batches at once for a column of this type.
pub fn reads_ahead(data_type: &DataType) -> bool {
    // The values of dictionaries and runs are not examined.
    let is_plain = !matches!(data_type, DataType::Dictionary(_, _) | DataType::RunEndEncoded(_, _));
    let meaning = SemanticType::of_type(data_type);
    is_plain && matches!(meaning, SemanticType::Decimal { .. }) && meaning.default_form() == StorageForm::Text
}

struct BatchReader {
    reader: Box<dyn RecordBatchReader + Send>,
    /// Batches that were read before they were asked for.
    ahead: VecDeque<RecordBatch>,
    options: ReadOptions,
    fields: Vec<FileColumn>,
    types: Vec<(FieldRef, SemanticType)>,
    columns: Vec<Column>,
    /// Positions of the requested columns in a batch.
    projection: Vec<usize>,
    /// The batch that is being cut into pieces.
    current: Option<Cut>,
    record: u64,
    /// The stream has ended or failed.
    is_over: bool,
}

/// A batch that is being cut into pieces.
struct Cut {
    columns: Vec<ArrayRef>,
    rows: usize,
    /// Number of rows that pieces have already.
    given: usize,
    /// Number of rows of each piece, except the last.
    piece_rows: usize,
}

impl BatchReader {
    fn new(mut reader: Box<dyn RecordBatchReader + Send>, options: &ReadOptions, facts: &BatchFacts) -> Result<Self> {
        let schema = reader.schema();
        if schema.fields().is_empty() {
            return Err(Error::new(ErrorKind::Data, "the data have no column"));
        }
        schema.fields().iter().try_for_each(refuse_depth)?;
        refuse_names(schema.fields())?;
        let has_type = |field: &FieldRef| !facts.untyped.contains(field.name());
        let meaning = |field| if has_type(field) { SemanticType::of_field(field) } else { SemanticType::Null };
        let mut types: Vec<(FieldRef, SemanticType)> =
            schema.fields().iter().map(|field| (field.clone(), meaning(field))).collect();
        let mut ahead = VecDeque::new();
        if types.iter().any(|(field, _)| reads_ahead(field.data_type())) {
            ahead = read_ahead(&mut *reader, if facts.is_in_memory { usize::MAX } else { ROWS_AHEAD })?;
        }
        let mut fields = Vec::new();
        for (position, (field, meaning)) in types.iter_mut().enumerate() {
            let arrays = || ahead.iter().filter_map(|batch| batch.columns().get(position));
            let declared = *meaning;
            *meaning = if reads_ahead(field.data_type()) { narrowed(declared, arrays()) } else { declared };
            let by_values = if *meaning == declared { "" } else { ", by its values" };
            fields.push(describe(field, *meaning, &(origin(field) + by_values)));
        }
        let projected = all_columns(&fields);
        let (columns, projection, options) = (Vec::new(), Vec::new(), options.clone());
        let (current, record, is_over) = (None, 1, false);
        let mut reader = Self { reader, ahead, options, fields, types, columns, projection, current, record, is_over };
        reader.project(&projected)?;
        Ok(reader)
    }

    /// Returns the next batch that has rows.
    fn next_batch(&mut self) -> Result<Option<Cut>> {
        while !self.is_over {
            let next = match self.ahead.pop_front() {
                Some(batch) => Ok(Some(batch)),
                None => guard(|| self.reader.next().transpose().map_err(|error| told(&error))),
            };
            let batch = next.and_then(|batch| batch.map(|batch| self.take(&batch)).transpose());
            let batch = batch.map_err(|why| {
                self.is_over = true;
                not_had(self.record - 1, &why)
            })?;
            match batch {
                Some(cut) if cut.rows > 0 => return Ok(Some(cut)),
                Some(_) => {}
                None => self.is_over = true,
            }
        }
        Ok(None)
    }

    /// Gives wide decimals their declared digits if the table's column keeps any value: they are texts there. By their values, those
    /// of one stream or batch would be numbers beside the texts of another.
    fn by_declaration(&self, column: &ProjectedColumn) -> ProjectedColumn {
        let found = column.field.or_else(|| self.fields.iter().position(|field| field.name == column.name));
        let declared = found.and_then(|position| self.types.get(position)).map(|(field, _)| field.data_type());
        let is_kept = column.affinity == Affinity::Blob && column.form.is_none();
        let wide = declared.filter(|declared| is_kept && reads_ahead(declared)).map(SemanticType::of_type);
        match wide {
            Some(SemanticType::Decimal { precision, .. }) => {
                ProjectedColumn { most_digits: Some(precision), ..column.clone() }
            }
            _ => column.clone(),
        }
    }

    fn take(&self, batch: &RecordBatch) -> Result<Cut, String> {
        let rows = batch.num_rows();
        let mut columns = Vec::with_capacity(self.projection.len());
        for &position in &self.projection {
            let (field, _) = &self.types[position];
            let array = batch.columns().get(position).ok_or("it lacks columns of its schema")?;
            if array.data_type() != field.data_type() {
                return Err(format!("its column {} is not of the type that the schema says", field.name()));
            }
            columns.push(guard(|| array_as_bytes(array))?);
        }
        let bytes: usize = columns.iter().map(|array| array.to_data().get_slice_memory_size().unwrap_or(0)).sum();
        let piece_bytes = self.options.piece_bytes.unwrap_or(PIECE_BYTES);
        let pieces = bytes.div_ceil(piece_bytes).max(rows.div_ceil(PIECE_ROWS)).clamp(1, rows.max(1));
        Ok(Cut { columns, rows, given: 0, piece_rows: rows.div_ceil(pieces) })
    }
}

impl Reader for BatchReader {
    fn columns(&self) -> &[FileColumn] {
        &self.fields
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let columns: Vec<ProjectedColumn> = columns.iter().map(|column| self.by_declaration(column)).collect();
        (self.projection, self.columns) = plan_columns(&columns, &self.fields, &self.types, &self.options)?;
        Ok(())
    }

    fn crs(&self, column: &str) -> Option<String> {
        geometry::of_field(self.types.iter().map(|(field, _)| field).find(|field| field.name() == column)?)
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        if self.current.as_ref().is_none_or(|cut| cut.given == cut.rows) {
            // Drop the previous batch first: producers often reuse its memory.
            self.current = None;
            self.current = self.next_batch()?;
        }
        let Some(cut) = &mut self.current else { return Ok(None) };
        let (from, rows) = (cut.given, cut.piece_rows.min(cut.rows - cut.given));
        cut.given += rows;
        let columns: Vec<ArrayRef> = cut.columns.iter().map(|column| column.slice(from, rows)).collect();
        let companions = vec![None; columns.len()];
        let arrays = Arrays { rows, columns, companions };
        let piece = BatchPiece { columns: self.columns.clone(), arrays, next: 0, first_record: self.record };
        self.record += rows as u64;
        Ok(Some(Box::new(piece)))
    }
}

/// Reads batches until they have this number of rows.
fn read_ahead(reader: &mut dyn RecordBatchReader, rows: usize) -> Result<VecDeque<RecordBatch>> {
    let (mut ahead, mut read) = (VecDeque::new(), 0);
    while read < rows {
        let next = guard(|| reader.next().transpose().map_err(|error| told(&error)));
        let Some(batch) = next.map_err(|why| not_had(read as u64, &why))? else { break };
        read += batch.num_rows();
        ahead.push_back(batch);
    }
    Ok(ahead)
}

fn not_had(rows: u64, why: &str) -> Error {
    Error::new(ErrorKind::Data, format!("the record batch after row {rows} cannot be had: {why}"))
}

/// Returns the producer's message without Arrow's prefix.
fn told(error: &ArrowError) -> String {
    match error {
        ArrowError::ExternalError(error) => error.to_string(),
        ArrowError::CDataInterface(message) => message.clone(),
        other => other.to_string(),
    }
}

/// Returns the schema's name of a field's type: `Arrow Int64`.
pub(super) fn origin(field: &FieldRef) -> String {
    let data_type = field.data_type().to_string();
    format!("Arrow {}", data_type.split(['(', '<']).next().unwrap_or_default())
}

/// Refuses a type that is nested deeper than 64 levels.
pub(super) fn refuse_depth(field: &FieldRef) -> Result<()> {
    if is_within(field.data_type(), MAX_DEPTH) {
        return Ok(());
    }
    let message = format!("the type is nested deeper than {MAX_DEPTH} levels");
    Err(Error::new(ErrorKind::Data, message).in_column(field.name()))
}

/// Refuses columns without a name, or with one that another column has, too.
fn refuse_names(fields: &[FieldRef]) -> Result<()> {
    for (position, field) in fields.iter().enumerate() {
        if field.name().is_empty() {
            let message = format!("column {} of the data has an empty name", position + 1);
            return Err(Error::new(ErrorKind::Data, message).advise("give it a name"));
        }
        if fields[..position].iter().any(|other| other.name() == field.name()) {
            let error = Error::new(ErrorKind::Data, "two columns of the data have this name");
            return Err(error.in_column(field.name()).advise("rename one of them"));
        }
    }
    Ok(())
}

/// Returns whether a type is nested at most `levels` deep.
fn is_within(data_type: &DataType, levels: usize) -> bool {
    let is_inner_within = |field: &FieldRef| levels > 0 && is_within(field.data_type(), levels - 1);
    match data_type {
        DataType::List(inner)
        | DataType::LargeList(inner)
        | DataType::ListView(inner)
        | DataType::LargeListView(inner)
        | DataType::FixedSizeList(inner, _)
        | DataType::RunEndEncoded(_, inner)
        | DataType::Map(inner, _) => is_inner_within(inner),
        DataType::Struct(fields) => fields.iter().all(is_inner_within),
        DataType::Union(fields, _) => fields.iter().all(|(_, field)| is_inner_within(field)),
        DataType::Dictionary(_, value) => levels > 0 && is_within(value, levels - 1),
        _ => true,
    }
}

/// Consecutive rows of a record batch.
struct BatchPiece {
    columns: Vec<Column>,
    arrays: Arrays,
    /// The next row to return.
    next: usize,
    first_record: u64,
}

impl Piece for BatchPiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.arrays.rows as u64
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        if self.next == self.arrays.rows {
            batch.clear(self.columns.len());
            return Ok(());
        }
        let Self { columns, arrays, next, .. } = self;
        // The arrays are taken as the producer describes them. If a description is wrong, the panic ends here.
        let filled = guard(|| {
            convert::fill_batch(columns, arrays, *next, batch);
            Ok(())
        });
        filled
            .map_err(|why| Error::new(ErrorKind::Data, format!("a record batch breaks the rules of Arrow: {why}")))?;
        self.next += batch.rows;
        Ok(())
    }
}
