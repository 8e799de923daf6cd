//! Converts texts to byte strings, in types and arrays: Arrow's arrays of texts cannot hold invalid UTF-8.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericBinaryArray, GenericListArray, GenericListViewArray,
    GenericStringArray, MapArray, OffsetSizeTrait, StructArray, UnionArray,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, UnionFields};
use std::sync::Arc;

/// Returns a field of the same layout whose texts, at any depth, are byte strings.
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

/// Returns the array with its texts, at any depth, as byte strings in the same memory. No text is read.
pub(super) fn array_as_bytes(array: &ArrayRef) -> Result<ArrayRef, String> {
    converted(array).map_err(|error| error.to_string())
}

fn converted(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if bytes_type(array.data_type()) == *array.data_type() {
        return Ok(array.clone());
    }
    Ok(match array.data_type() {
        DataType::Utf8 => bytes(array.as_string::<i32>())?,
        DataType::LargeUtf8 => bytes(array.as_string::<i64>())?,
        DataType::Utf8View => Arc::new(array.as_string_view().clone().to_binary_view()),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            dictionary.with_values(converted(dictionary.values())?)
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(array)?,
            DataType::Int32 => runs::<Int32Type>(array)?,
            _ => runs::<Int64Type>(array)?,
        },
        DataType::List(_) => list(array.as_list::<i32>())?,
        DataType::LargeList(_) => list(array.as_list::<i64>())?,
        DataType::ListView(_) => list_view(array.as_list_view::<i32>())?,
        DataType::LargeListView(_) => list_view(array.as_list_view::<i64>())?,
        DataType::FixedSizeList(_, _) => {
            let len = array.len();
            let (item, size, values, nulls) = array.as_fixed_size_list().clone().into_parts();
            let values = converted(&values)?;
            let item = as_nullable(&item, &values);
            Arc::new(FixedSizeListArray::try_new_with_length(item, size, values, nulls, len)?)
        }
        DataType::Struct(_) => Arc::new(structure(array.as_struct(), |field, _| field)?),
        DataType::Map(_, _) => {
            let (entries, offsets, pairs, nulls, is_sorted) = array.as_map().clone().into_parts();
            // Arrow requires map keys without NULLs, but producers do not always declare that.
            let pairs = structure(&pairs, |field, position| field.with_nullable(position > 0))?;
            let data_type = pairs.data_type().clone();
            let entries = Arc::new(Field::clone(&entries).with_data_type(data_type).with_nullable(false));
            Arc::new(MapArray::try_new(entries, offsets, pairs, nulls, is_sorted)?)
        }
        _ => {
            let (fields, ids, offsets, children) = array.as_union().clone().into_parts();
            let children = children.iter().map(converted).collect::<Result<Vec<ArrayRef>, _>>()?;
            let fields: UnionFields =
                fields.iter().zip(&children).map(|((id, field), child)| (id, as_nullable(field, child))).collect();
            Arc::new(UnionArray::try_new(fields, ids, offsets, children)?)
        }
    })
}

/// Returns a field for converted values. It is always nullable: the values of a sliced list include those outside of the slice,
/// which may be NULL.
fn as_nullable(field: &FieldRef, values: &ArrayRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(values.data_type().clone()).with_nullable(true))
}

fn bytes<O: OffsetSizeTrait>(texts: &GenericStringArray<O>) -> Result<ArrayRef, ArrowError> {
    let (offsets, values, nulls) = texts.clone().into_parts();
    Ok(Arc::new(GenericBinaryArray::try_new(offsets, values, nulls)?))
}

fn runs<R: RunEndIndexType>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let runs = array.as_run::<R>();
    Ok(Arc::new(runs.with_values(converted(runs.values())?)))
}

fn list<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<ArrayRef, ArrowError> {
    let (item, offsets, values, nulls) = list.clone().into_parts();
    let values = converted(&values)?;
    Ok(Arc::new(GenericListArray::try_new(as_nullable(&item, &values), offsets, values, nulls)?))
}

fn list_view<O: OffsetSizeTrait>(list: &GenericListViewArray<O>) -> Result<ArrayRef, ArrowError> {
    let (item, offsets, sizes, values, nulls) = list.clone().into_parts();
    let values = converted(&values)?;
    Ok(Arc::new(GenericListViewArray::try_new(as_nullable(&item, &values), offsets, sizes, values, nulls)?))
}

/// Converts a struct. `adjust` changes each field after that, by its position.
fn structure(array: &StructArray, adjust: impl Fn(Field, usize) -> Field) -> Result<StructArray, ArrowError> {
    let len = array.len();
    let (fields, columns, nulls) = array.clone().into_parts();
    let columns = columns.iter().map(converted).collect::<Result<Vec<ArrayRef>, _>>()?;
    let fields = fields.iter().zip(&columns).map(|(field, column)| Field::clone(&as_nullable(field, column)));
    let fields: Fields = fields.enumerate().map(|(position, field)| adjust(field, position)).collect();
    StructArray::try_new_with_length(fields, columns, nulls, len)
}
