//! Row groups that have no row of a range, by their statistics.

use super::Plan;
use crate::arrow::convert::Column;
use crate::arrow::form::{SemanticType, StorageForm};
use crate::filter::{Comparison, RowFilter};
use crate::guard::guard;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use litepress_format::value::Value;
use litepress_rows::CellBlock;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;

/// Returns for every row group whether its statistics say that it has no row that meets all conditions.
///
/// The least and the greatest value are converted as values are, and compared in the form in which the column is stored.
pub(super) fn excluded_groups(metadata: &ArrowReaderMetadata, plan: &Plan, filters: &[RowFilter]) -> Vec<bool> {
    let groups = metadata.metadata().row_groups();
    let mut excluded = vec![false; groups.len()];
    for filter in filters {
        let Some(column) = plan.columns.get(filter.column).filter(|column| keeps_order(column)) else { continue };
        let Some(leaf) = leaf(metadata, plan, filter.column) else { continue };
        let Some((least, most)) = limits(metadata, column, leaf) else { continue };
        for (group, excluded) in excluded.iter_mut().enumerate() {
            let is_known = is_exact(&groups[group], leaf, column) && least.is_valid(group) && most.is_valid(group);
            *excluded |= is_known && is_outside(column, &least.slice(group, 1), &most.slice(group, 1), filter);
        }
    }
    excluded
}

/// Returns whether SQLite orders the stored values of the column as Parquet orders those of the file.
fn keeps_order(column: &Column) -> bool {
    use SemanticType::{Boolean, Date, Decimal, Float, Integer, Text, Timestamp};
    match column.form {
        StorageForm::Integer | StorageForm::Real => {
            matches!(column.meaning, Boolean | Integer | Float | Decimal { .. } | Date { .. } | Timestamp { .. })
        }
        StorageForm::Text => matches!(column.meaning, Text | Date { .. } | Timestamp { .. }),
        StorageForm::UnixEpoch | StorageForm::JulianDay => matches!(column.meaning, Date { .. } | Timestamp { .. }),
        _ => false,
    }
}

/// Returns the column chunk of a column that is not nested.
fn leaf(metadata: &ArrowReaderMetadata, plan: &Plan, column: usize) -> Option<usize> {
    let root = plan.roots.get(column)?;
    let schema = metadata.parquet_schema();
    let is_primitive = schema.root_schema().get_fields().get(*root)?.is_primitive();
    let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == *root);
    leaf.filter(|_| is_primitive)
}

/// Returns the least and the greatest value of the column in each row group.
fn limits(metadata: &ArrowReaderMetadata, column: &Column, leaf: usize) -> Option<(ArrayRef, ArrayRef)> {
    let read = || {
        let converter = StatisticsConverter::from_column_index(leaf, &column.field, metadata.parquet_schema())?;
        let groups = || metadata.metadata().row_groups().iter();
        Ok((converter.row_group_mins(groups())?, converter.row_group_maxes(groups())?))
    };
    guard(|| read().map_err(|error: parquet::errors::ParquetError| error.to_string())).ok()
}

/// Returns whether the statistics are of today's order. Old writers compared byte strings and unsigned integers by the sign of their
/// bytes, and left the result in fields that are deprecated since.
fn is_exact(group: &RowGroupMetaData, leaf: usize, column: &Column) -> bool {
    use DataType::{UInt8, UInt16, UInt32, UInt64};
    let is_unsigned = matches!(column.field.data_type(), UInt8 | UInt16 | UInt32 | UInt64);
    match group.column(leaf).statistics() {
        None | Some(Statistics::Int96(_)) => false,
        Some(statistics @ (Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_))) => {
            !statistics.is_min_max_deprecated()
        }
        Some(statistics) => !is_unsigned || !statistics.is_min_max_deprecated(),
    }
}

/// Returns whether no stored value between these two can meet the condition. A limit that cannot be stored tells nothing.
fn is_outside(column: &Column, least: &ArrayRef, most: &ArrayRef, filter: &RowFilter) -> bool {
    let stored = |array: &ArrayRef| {
        let (mut column, mut block, mut bad) = (column.clone(), CellBlock::default(), Vec::new());
        column.fill(array, None, &mut block, &mut bad);
        bad.is_empty().then_some(block)
    };
    let (Some(least), Some(most)) = (stored(least), stored(most)) else { return false };
    let (least, most) = (least.value(0), most.value(0));
    // Some texts between the two may be numbers to SQLite, if they can begin with a digit or a sign.
    let may_be_numbers = matches!(least, Value::Text(text) if text.first().is_none_or(|&first| first <= b'9'));
    let is_less = matches!(filter.comparison, Comparison::Less | Comparison::LessOrEqual);
    let is_doubtful = column.meaning == SemanticType::Text && may_be_numbers && is_less;
    !is_doubtful && filter.excludes_range(least, most)
}
