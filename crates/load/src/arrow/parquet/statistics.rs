//! The ranges of columns, from the statistics of row groups.

use crate::reader::DecimalRange;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;

/// Adds the least and the greatest value of each row group to the range of a column of decimals. Returns whether all row groups
/// state them; otherwise the range is as before.
pub(super) fn read_range(metadata: &ArrowReaderMetadata, root: usize, range: &mut DecimalRange) -> bool {
    let schema = metadata.parquet_schema();
    let Some(leaf) = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == root) else {
        return false;
    };
    let mut found = range.clone();
    for group in metadata.metadata().row_groups().iter().filter(|group| group.num_rows() > 0) {
        let column = group.column(leaf);
        let nulls = column.statistics().and_then(Statistics::null_count_opt);
        if nulls.is_some_and(|nulls| i64::try_from(nulls) == Ok(column.num_values())) {
            continue;
        }
        let Some(limits) = limits(column) else { return false };
        limits.into_iter().for_each(|limit| found.observe(Some(limit)));
    }
    *range = found;
    true
}

/// Returns the least and the greatest value of a column in a row group, if the file states them.
fn limits(column: &ColumnChunkMetaData) -> Option<[i128; 2]> {
    let statistics = column.statistics()?;
    match statistics {
        Statistics::Int32(values) => Some([(*values.min_opt()?).into(), (*values.max_opt()?).into()]),
        Statistics::Int64(values) => Some([(*values.min_opt()?).into(), (*values.max_opt()?).into()]),
        // Old writers compared byte strings without their sign, and left the result in fields that are deprecated since.
        Statistics::ByteArray(_) | Statistics::FixedLenByteArray(_)
            if !statistics.is_min_max_deprecated() && statistics.min_is_exact() && statistics.max_is_exact() =>
        {
            Some([integer(statistics.min_bytes_opt()?)?, integer(statistics.max_bytes_opt()?)?])
        }
        _ => None,
    }
}

/// Reads a big-endian integer in two's complement. `None` if it has more than 128 bits.
fn integer(bytes: &[u8]) -> Option<i128> {
    const BYTES: usize = size_of::<i128>();
    let sign = if *bytes.first()? >= 0x80 { 0xff } else { 0 };
    let (surplus, rest) = bytes.split_at(bytes.len().saturating_sub(BYTES));
    let mut all = [sign; BYTES];
    all[BYTES - rest.len()..].copy_from_slice(rest);
    let value = i128::from_be_bytes(all);
    let is_whole = surplus.iter().all(|&byte| byte == sign) && value.is_negative() == (sign != 0);
    is_whole.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn integers_of_any_length() {
        for (bytes, expected) in [
            (&[0x7f][..], Some(127)),
            (&[0xff], Some(-1)),
            (&[0x01, 0x00], Some(256)),
            (&[0xff, 0x00], Some(-256)),
            (&[0; 20], Some(0)),
            (&[0xff; 20], Some(-1)),
            (&[0x01; 17], None),
            (&[], None),
        ] {
            assert_eq!(integer(bytes), expected, "{bytes:?}");
        }
        // The sign of 128 bits is another one than that of the whole.
        let mut wide = [0; 17];
        wide[1] = 0x80;
        assert_eq!(integer(&wide), None);
        assert_eq!(integer(&i128::MIN.to_be_bytes()), Some(i128::MIN));
    }
}
