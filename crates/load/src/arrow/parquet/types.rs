//! The types as which columns are decoded.

use crate::arrow::convert;
use crate::arrow::form::SemanticType;
use crate::arrow::texts::texts_as_bytes;
use crate::guard::guard;
use arrow_schema::{DataType, FieldRef, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, Encoding, LogicalType, Type as Physical};
use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// Maximum size in bytes of a dictionary that stays one, so that its texts are encoded once.
const DICTIONARY_BYTES: i64 = 4096;

/// Returns the meaning of a column. Parquet's own type may refine its Arrow type.
pub(super) fn meaning(field: &FieldRef, root: &Type) -> SemanticType {
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

/// Returns the type as which the second part of a value is read, for INT96 timestamps and intervals.
pub(super) fn companion(metadata: &ArrowReaderMetadata, position: usize, field: &FieldRef) -> Option<DataType> {
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
pub(super) fn quick_type(metadata: &ArrowReaderMetadata, position: usize, field: &FieldRef) -> Option<DataType> {
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
pub(super) fn with_types(
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
pub(super) fn with_bytes(metadata: &ArrowReaderMetadata) -> Result<ArrowReaderMetadata, String> {
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
