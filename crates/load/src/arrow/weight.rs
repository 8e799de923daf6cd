//! Measures rows by the bytes that their values become. An array may say the long value of many rows in a few bytes: by a dictionary,
//! runs, or views.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, OffsetSizeTrait, RunArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use std::ops::Range;

/// Bytes of rows that need not be measured exactly.
const SMALL_BYTES: usize = 4 << 20;

/// An estimate for a number, date or delimiter within a nested value.
const FIXED_BYTES: usize = 8;

/// Returns the approximate bytes of the values in these rows. Values of a fixed length count only within nested ones.
pub(super) fn byte_weight(array: &dyn Array, rows: Range<usize>) -> usize {
    match array.data_type() {
        DataType::Utf8 => between(array.as_string::<i32>().value_offsets(), &rows).len(),
        DataType::LargeUtf8 => between(array.as_string::<i64>().value_offsets(), &rows).len(),
        DataType::Binary => between(array.as_binary::<i32>().value_offsets(), &rows).len(),
        DataType::LargeBinary => between(array.as_binary::<i64>().value_offsets(), &rows).len(),
        DataType::Utf8View => of_views(&array.as_string_view().views()[rows]),
        DataType::BinaryView => of_views(&array.as_binary_view().views()[rows]),
        DataType::FixedSizeBinary(bytes) => rows.len().saturating_mul(bytes.unsigned_abs() as usize),
        DataType::Dictionary(_, _) => of_dictionary(array, rows),
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => of_runs(array.as_run::<Int16Type>(), rows),
            DataType::Int32 => of_runs(array.as_run::<Int32Type>(), rows),
            _ => of_runs(array.as_run::<Int64Type>(), rows),
        },
        DataType::Struct(_) => {
            array.as_struct().columns().iter().map(|column| within_nested(column, rows.clone())).fold(0, add)
        }
        DataType::Map(_, _) => {
            let map = array.as_map();
            within_nested(map.entries(), between(map.value_offsets(), &rows))
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            within_nested(list.values(), between(list.value_offsets(), &rows))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            within_nested(list.values(), between(list.value_offsets(), &rows))
        }
        DataType::FixedSizeList(_, size) => {
            let size = size.unsigned_abs() as usize;
            within_nested(array.as_fixed_size_list().values(), rows.start * size..rows.end * size)
        }
        DataType::ListView(_) => {
            let list = array.as_list_view::<i32>();
            of_list_views(list.values(), &list.value_offsets()[rows.clone()], &list.value_sizes()[rows])
        }
        DataType::LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            of_list_views(list.values(), &list.value_offsets()[rows.clone()], &list.value_sizes()[rows])
        }
        DataType::Union(_, _) => {
            let union = array.as_union();
            let of_row = |row| {
                let value = union.value_offset(row);
                within_nested(union.child(union.type_id(row)), value..value + 1)
            };
            rows.map(of_row).fold(0, add)
        }
        _ => 0,
    }
}

fn add(one: usize, other: usize) -> usize {
    one.saturating_add(other)
}

/// Returns the range of the values that belong to these rows.
fn between<O: OffsetSizeTrait>(offsets: &[O], rows: &Range<usize>) -> Range<usize> {
    offsets[rows.start].as_usize()..offsets[rows.end].as_usize()
}

fn of_views(views: &[u128]) -> usize {
    // The lowest 32 bits of a view are the length of the value.
    views.iter().map(|view| (view & u128::from(u32::MAX)) as usize).sum()
}

fn within_nested(array: &dyn Array, rows: Range<usize>) -> usize {
    add(rows.len().saturating_mul(FIXED_BYTES), byte_weight(array, rows))
}

fn of_list_views<O: OffsetSizeTrait>(values: &dyn Array, offsets: &[O], sizes: &[O]) -> usize {
    let value = |(offset, size): (&O, &O)| offset.as_usize()..offset.as_usize() + size.as_usize();
    offsets.iter().zip(sizes).map(|view| within_nested(values, value(view))).fold(0, add)
}

fn of_dictionary(array: &dyn Array, rows: Range<usize>) -> usize {
    let keys = array.slice(rows.start, rows.len());
    let dictionary = keys.as_any_dictionary();
    let (values, distinct) = (dictionary.values(), dictionary.values().len());
    let all = byte_weight(values, 0..distinct);
    // However long the longest value is.
    if all.saturating_mul(rows.len()) <= SMALL_BYTES {
        return rows.len() * all.div_ceil(distinct.max(1));
    }
    let lens: Vec<usize> = (0..distinct).map(|value| byte_weight(values, value..value + 1)).collect();
    dictionary.normalized_keys().iter().map(|&key| lens[key]).fold(0, add)
}

fn of_runs<R: RunEndIndexType>(runs: &RunArray<R>, rows: Range<usize>) -> usize {
    let (ends, offset) = (runs.run_ends().values(), runs.run_ends().offset());
    let (mut row, mut bytes) = (rows.start, 0_usize);
    let first = if rows.is_empty() { 0 } else { runs.get_physical_index(row) };
    for (run, end) in ends.iter().enumerate().skip(first) {
        if row >= rows.end {
            break;
        }
        let end = (end.as_usize() - offset).min(rows.end);
        bytes = add(bytes, byte_weight(runs.values(), run..run + 1).saturating_mul(end - row));
        row = end;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{
        ArrayRef, DictionaryArray, Int32Array, ListViewArray, RunArray, StringArray, StructArray, UInt8Array,
    };
    use arrow_schema::Field;
    use std::sync::Arc;

    /// Rows of a long value took gigabytes of memory at once, because a run weighed nothing and a dictionary, list or struct of them
    /// little.
    #[test]
    fn long_values_weigh_as_often_as_they_occur() {
        const ROWS: usize = 3000;
        let long = || -> ArrayRef { Arc::new(StringArray::from(vec!["short".to_owned(), "x".repeat(2_000_000)])) };
        let ends = Int32Array::from(vec![1000, 3000]);
        let runs: ArrayRef = Arc::new(RunArray::<Int32Type>::try_new(&ends, &long()).unwrap());
        let keys = Int32Array::from_iter_values((0..3000).map(|row| i32::from(row >= 1000)));
        let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, long()));
        let field = |array: &ArrayRef| Arc::new(Field::new("f", array.data_type().clone(), true));
        let structure: ArrayRef = Arc::new(StructArray::from(vec![(field(&runs), runs.clone())]));
        let views: ArrayRef = {
            let offsets = (0..3000).map(|row| i32::from(row >= 1000)).collect();
            let sizes = std::iter::repeat_n(1, ROWS).collect();
            Arc::new(ListViewArray::new(field(&long()), offsets, sizes, long(), None))
        };
        for array in [runs, dictionary, structure, views] {
            let kind = array.data_type();
            let weighs = |rows: Range<usize>, texts: usize| {
                let weight = byte_weight(&array, rows.clone());
                assert!((texts..texts + 17 * rows.len() + 1).contains(&weight), "{kind}: {weight} bytes of {rows:?}");
            };
            weighs(0..0, 0);
            weighs(0..1000, 5 * 1000);
            weighs(999..1002, 5 + 4_000_000);
            weighs(0..ROWS, 5 * 1000 + 2000 * 2_000_000);
            let slice = array.slice(998, 4);
            assert_eq!(byte_weight(&slice, 1..4), byte_weight(&array, 999..1002), "{kind}: a slice");
        }
    }

    #[test]
    fn values_of_lists_weigh_what_their_rows_hold() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for texts in [vec!["one", "two"], vec![], vec!["x"; 1000]] {
            texts.into_iter().for_each(|text| lists.values().append_value(text));
            lists.append(true);
        }
        let lists = lists.finish();
        assert_eq!([0..1, 1..2, 2..3, 0..3].map(|rows| byte_weight(&lists, rows)), [22, 0, 9000, 9022]);
        assert_eq!(byte_weight(&UInt8Array::from(vec![1; 9]), 0..9), 0);
    }
}
