//! Spares SQLite the rows that are in no partial index, as far as comparisons of columns with literals tell.

use litepress_format::record::{RecordReader, read_body, serial};
use litepress_format::value::Value;
use litepress_rows::Table;
use litepress_rows::schema::{Condition, Index};

/// The conditions of some partial indexes of a table.
#[derive(Clone, Debug)]
pub(super) struct RowFilter {
    /// For each index, fields of the record and the conditions of their values.
    indexes: Vec<Vec<(usize, Condition)>>,
}

impl RowFilter {
    /// Returns the filter of these indexes. `None` if one of them may have any row.
    pub fn new(table: &Table, indexes: &[&Index]) -> Option<Self> {
        let stored = table.stored_columns();
        let of_index = |index: &&Index| {
            let conditions = &index.evaluated.as_ref()?.conditions;
            let field = |column: usize| stored.iter().position(|&at| at == column);
            let fields = conditions.iter().map_while(|condition| Some((field(condition.column)?, condition.clone())));
            Some(fields.collect::<Vec<_>>()).filter(|fields| !fields.is_empty())
        };
        let indexes: Option<Vec<_>> = indexes.iter().map(of_index).collect();
        indexes.filter(|indexes| !indexes.is_empty()).map(|indexes| Self { indexes })
    }

    /// Returns whether a row is surely in none of the indexes. A record of an older row, without its last fields, may be in them.
    #[inline]
    pub fn excludes(&self, record: &[u8]) -> bool {
        let is_excluded =
            |(field, of): &(usize, Condition)| value_of(record, *field).is_some_and(|value| of.excludes(value));
        self.indexes.iter().all(|conditions| conditions.iter().any(is_excluded))
    }
}

/// Returns the value of a field. `None` if the record has fewer.
#[inline]
fn value_of(record: &[u8], field: usize) -> Option<Value<'_>> {
    let (&header_len, rest) = record.split_first()?;
    let (before, serial) = (rest.get(..field)?, *rest.get(field)?);
    // All varints have one byte.
    if header_len >= 0x80
        || usize::from(header_len) < field + 2
        || before.iter().any(|serial| serial & 0x80 > 0)
        || serial & 0x80 > 0
    {
        return value_behind_varints(record, field);
    }
    let bodies = before.iter().map(|&serial| serial::body_len(serial.into())).sum::<u64>();
    let start = usize::from(header_len) + usize::try_from(bodies).ok()?;
    let body = record.get(start..)?.get(..usize::try_from(serial::body_len(serial.into())).ok()?)?;
    read_body(serial.into(), body)
}

#[cold]
fn value_behind_varints(record: &[u8], field: usize) -> Option<Value<'_>> {
    RecordReader::new(record).ok()?.nth(field)?.ok()
}
