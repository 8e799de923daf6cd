//! Types in which texts are byte strings: Arrow's arrays of text cannot hold what is no UTF-8.

use arrow_schema::{DataType, Field, FieldRef, Fields};
use std::sync::Arc;

/// A field of the same layout whose texts, at any depth, are byte strings.
pub(super) fn texts_as_bytes(field: &FieldRef) -> FieldRef {
    let data_type = bytes_type(field.data_type());
    Arc::new(Field::clone(field).with_data_type(data_type))
}

fn bytes_type(data_type: &DataType) -> DataType {
    let inner = texts_as_bytes;
    match data_type {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(key, value) => DataType::Dictionary(key.clone(), Box::new(bytes_type(value))),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(ends.clone(), inner(values)),
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::ListView(item) => DataType::ListView(inner(item)),
        DataType::LargeListView(item) => DataType::LargeListView(inner(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(inner(item), *len),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect::<Fields>()),
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, inner(field))).collect(), *mode)
        }
        other => other.clone(),
    }
}
