//! Reads FlatGeobuf. Length prefixes let the file be cut into pieces of whole features. A worker turns a piece into arrays: a
//! column `geometry` of WKB, and one column for each property.

use super::convert::{self, Arrays, Column};
use super::form::SemanticType;
use super::{PIECE_BYTES, Positioned, all_columns, describe, plan_columns, with_distinct_names};
use crate::guard::guard;
use crate::options::ReadOptions;
use crate::reader::{Batch, FileColumn, Piece, ProjectedColumn, Reader};
use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int64Builder, UInt64Builder,
};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use litepress_geo::flatgeobuf::{Header, MAGIC_BYTES, Property, PropertyKind, is_magic};
use litepress_rows::Result;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The name of the column of geometries.
const GEOMETRY: &str = "geometry";

/// The most bytes of a header.
const MOST_HEADER_BYTES: usize = 64 << 20;

/// Reads the features of a file.
pub struct FlatGeobufReader {
    file: Positioned,
    options: ReadOptions,
    header: Arc<Header>,
    fields: Vec<FileColumn>,
    types: Vec<(FieldRef, SemanticType)>,
    /// Positions of the selected columns in the file, and their conversions.
    projection: Arc<Vec<usize>>,
    columns: Vec<Column>,
    /// Position of the next feature.
    at: u64,
    /// Number of features in the pieces so far.
    given: u64,
}

impl FlatGeobufReader {
    pub fn new(file: Positioned, options: &ReadOptions) -> Result<Self> {
        let (header, at) = guard(|| open(&file)).map_err(|why| file.damaged(why))?;
        let fields: Fields = std::iter::once(geometry_field()).chain(header.columns.iter().map(field_of)).collect();
        let named = with_distinct_names(&fields, &file, options);
        let types: Vec<(FieldRef, SemanticType)> =
            named.into_iter().map(|field| (field.clone(), SemanticType::of_field(&field))).collect();
        let origins = std::iter::once("geometry").chain(header.columns.iter().map(|column| column.type_name));
        let described = types.iter().zip(origins);
        let fields: Vec<FileColumn> = described
            .map(|((field, meaning), origin)| describe(field, *meaning, &format!("FlatGeobuf {origin}")))
            .collect();
        let projected = all_columns(&fields);
        let (header, options) = (Arc::new(header), options.clone());
        let (projection, columns) = (Arc::new(Vec::new()), Vec::new());
        let mut reader = Self { file, options, header, fields, types, projection, columns, at, given: 0 };
        reader.project(&projected)?;
        Ok(reader)
    }

    /// Returns the next features, and their number.
    fn next_features(&mut self) -> Result<(Vec<u8>, u64), String> {
        let left = self.file.len - self.at;
        let most = self.header.features.map_or(u64::MAX, |features| features - self.given);
        let piece_bytes = self.options.piece_bytes.unwrap_or(PIECE_BYTES) as u64;
        let mut bytes = self.read(piece_bytes.max(LENGTH_BYTES).min(left))?;
        if most == 0 || left == 0 {
            return match self.header.features {
                Some(features) if most > 0 => {
                    Err(format!("the file says that it has {features} features, and it ends after {}", self.given))
                }
                _ => Ok((Vec::new(), 0)),
            };
        }
        let (mut end, mut count) = (0, 0);
        while count < most && end < bytes.len() {
            let Some(len) = length_at(&bytes, end) else { break };
            if end + len > bytes.len() {
                break;
            }
            end += len;
            count += 1;
        }
        if count == 0 {
            // A feature that is longer than a piece.
            let len = length_at(&bytes, 0).ok_or("the file ends in the middle of a feature")?;
            bytes = self.read(len as u64)?;
            (end, count) = (len, 1);
        }
        bytes.truncate(end);
        Ok((bytes, count))
    }

    fn read(&self, len: u64) -> Result<Vec<u8>, String> {
        let len = usize::try_from(len).map_err(|_| "a feature beyond this machine's memory")?;
        self.file.read(self.at, len).map_err(|error| error.to_string())
    }
}

const LENGTH_BYTES: u64 = 4;

/// Returns the size in bytes of the value at `at`, its length prefix included. `None` if the prefix is cut off.
fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let len = bytes.get(at..)?.first_chunk::<4>()?;
    #[expect(clippy::little_endian_bytes, reason = "the format's own")]
    let len = u32::from_le_bytes(*len);
    usize::try_from(len).ok()?.checked_add(4)
}

/// Reads the header. Returns it, and the position of the first feature.
fn open(file: &Positioned) -> Result<(Header, u64), String> {
    let io_error = |error: std::io::Error| error.to_string();
    let head = file.read(0, MAGIC_BYTES + 4).map_err(io_error)?;
    if !is_magic(&head) {
        return Err("this is no FlatGeobuf of version 3: it does not begin with its mark".to_owned());
    }
    let len = length_at(&head, MAGIC_BYTES).filter(|len| *len <= MOST_HEADER_BYTES).ok_or("its header is too long")?;
    let header = file.read(MAGIC_BYTES as u64, len).map_err(io_error)?;
    let header = Header::read(&header).map_err(|error| error.to_string())?;
    let at = (MAGIC_BYTES as u64 + len as u64).checked_add(header.index_bytes).filter(|at| *at <= file.len);
    let at = at.ok_or_else(|| "the file ends within its index".to_owned())?;
    Ok((header, at))
}

fn geometry_field() -> FieldRef {
    Arc::new(Field::new(GEOMETRY, DataType::Binary, true))
}

fn field_of(column: &litepress_geo::flatgeobuf::PropertyColumn) -> FieldRef {
    let data_type = match column.kind {
        PropertyKind::Integer => DataType::Int64,
        PropertyKind::Unsigned => DataType::UInt64,
        PropertyKind::Boolean => DataType::Boolean,
        PropertyKind::Real32 => DataType::Float32,
        PropertyKind::Real => DataType::Float64,
        PropertyKind::Text | PropertyKind::Json => DataType::Utf8,
        PropertyKind::Bytes => DataType::Binary,
    };
    let json = (EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.json".to_owned());
    let metadata: HashMap<String, String> = (column.kind == PropertyKind::Json).then_some(json).into_iter().collect();
    Arc::new(Field::new(&column.name, data_type, column.is_nullable).with_metadata(metadata))
}

impl Reader for FlatGeobufReader {
    fn columns(&self) -> &[FileColumn] {
        &self.fields
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let (projection, columns) = plan_columns(columns, &self.fields, &self.types, &self.options)?;
        (self.projection, self.columns) = (Arc::new(projection), columns);
        Ok(())
    }

    fn crs(&self, column: &str) -> Option<String> {
        self.header.crs.clone().filter(|_| self.fields[0].name == column)
    }

    fn records(&self) -> Option<u64> {
        self.header.features
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        let next = self.next_features().map_err(|why| self.file.damaged(why).advise("copy or write it again"));
        let (bytes, count) = next?;
        if count == 0 {
            return Ok(None);
        }
        self.options.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let piece = FlatGeobufPiece {
            file: self.file.clone(),
            header: self.header.clone(),
            projection: self.projection.clone(),
            columns: self.columns.clone(),
            first_record: self.given + 1,
            count,
            arrays: None,
            next: 0,
            bytes,
        };
        self.at += piece.bytes.len() as u64;
        self.given += count;
        Ok(Some(Box::new(piece)))
    }
}

/// Consecutive features.
struct FlatGeobufPiece {
    file: Positioned,
    header: Arc<Header>,
    projection: Arc<Vec<usize>>,
    columns: Vec<Column>,
    first_record: u64,
    count: u64,
    bytes: Vec<u8>,
    /// The features, once the first ones are read.
    arrays: Option<Arrays>,
    /// The next feature to return.
    next: usize,
}

impl FlatGeobufPiece {
    fn decode(&self) -> Result<Arrays, String> {
        let mut columns: Vec<Builder> = std::iter::once(Builder::Bytes(BinaryBuilder::new()))
            .chain(self.header.columns.iter().map(|column| Builder::new(column.kind)))
            .collect();
        let (mut wkb, mut values) = (Vec::new(), vec![None; self.header.columns.len()]);
        let mut rest = self.bytes.as_slice();
        for number in self.first_record..self.first_record + self.count {
            let len = length_at(rest, 0).ok_or("the file ends in the middle of a feature")?;
            let (feature, behind) = rest.split_at(len);
            rest = behind;
            wkb.clear();
            values.fill(None);
            let read = self.header.read_feature(feature, &mut wkb, &mut |at, value| values[at] = Some(value));
            let has_geometry = read.map_err(|error| format!("feature {number}: {error}"))?;
            let geometry = has_geometry.then_some(Property::Bytes(&wkb));
            let row = std::iter::once(geometry).chain(values.iter().copied());
            columns.iter_mut().zip(row).for_each(|(column, value)| column.add(value));
        }
        let all: Vec<ArrayRef> = columns.into_iter().map(Builder::finish).collect();
        let rows = usize::try_from(self.count).map_err(|error| error.to_string())?;
        let columns: Vec<ArrayRef> = self.projection.iter().map(|&position| all[position].clone()).collect();
        let companions = vec![None; columns.len()];
        Ok(Arrays { rows, columns, companions })
    }
}

impl Piece for FlatGeobufPiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.count
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        if self.arrays.is_none() {
            let decoded = guard(|| self.decode());
            let damaged = |why| self.file.damaged(why).advise("the file is damaged: copy or write it again");
            self.arrays = Some(decoded.map_err(damaged)?);
            self.bytes = Vec::new();
        }
        let arrays = self.arrays.as_ref().expect("it was decoded");
        if self.next == arrays.rows {
            batch.clear(self.columns.len());
            return Ok(());
        }
        convert::fill_batch(&mut self.columns, arrays, self.next, batch);
        self.next += batch.rows;
        Ok(())
    }
}

/// Builds an array of properties.
enum Builder {
    Integer(Int64Builder),
    Unsigned(UInt64Builder),
    Boolean(BooleanBuilder),
    Real32(Float32Builder),
    Real(Float64Builder),
    /// Also for texts, which may be invalid UTF-8.
    Bytes(BinaryBuilder),
}

impl Builder {
    fn new(kind: PropertyKind) -> Self {
        match kind {
            PropertyKind::Integer => Self::Integer(Int64Builder::new()),
            PropertyKind::Unsigned => Self::Unsigned(UInt64Builder::new()),
            PropertyKind::Boolean => Self::Boolean(BooleanBuilder::new()),
            PropertyKind::Real32 => Self::Real32(Float32Builder::new()),
            PropertyKind::Real => Self::Real(Float64Builder::new()),
            PropertyKind::Text | PropertyKind::Json | PropertyKind::Bytes => Self::Bytes(BinaryBuilder::new()),
        }
    }

    /// Adds a value, or NULL. A column has values of its kind alone.
    fn add(&mut self, value: Option<Property<'_>>) {
        match (self, value) {
            (Self::Integer(column), Some(Property::Integer(value))) => column.append_value(value),
            (Self::Unsigned(column), Some(Property::Unsigned(value))) => column.append_value(value),
            (Self::Boolean(column), Some(Property::Boolean(value))) => column.append_value(value),
            (Self::Real32(column), Some(Property::Real32(value))) => column.append_value(value),
            (Self::Real(column), Some(Property::Real(value))) => column.append_value(value),
            (Self::Bytes(column), Some(Property::Bytes(value))) => column.append_value(value),
            (Self::Integer(column), _) => column.append_null(),
            (Self::Unsigned(column), _) => column.append_null(),
            (Self::Boolean(column), _) => column.append_null(),
            (Self::Real32(column), _) => column.append_null(),
            (Self::Real(column), _) => column.append_null(),
            (Self::Bytes(column), _) => column.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Integer(mut column) => Arc::new(column.finish()),
            Self::Unsigned(mut column) => Arc::new(column.finish()),
            Self::Boolean(mut column) => Arc::new(column.finish()),
            Self::Real32(mut column) => Arc::new(column.finish()),
            Self::Real(mut column) => Arc::new(column.finish()),
            Self::Bytes(mut column) => Arc::new(column.finish()),
        }
    }
}
