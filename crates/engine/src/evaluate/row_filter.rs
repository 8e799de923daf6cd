//! Spares SQLite the rows that are in no partial index, as far as comparisons of columns with literals tell.

use litepress_format::record::{RecordReader, read_leading};
use litepress_format::value::Value;
use litepress_rows::Table;
use litepress_rows::schema::{Condition, Index};

/// Fields of a record that are looked at.
const MOST_FIELDS: usize = 32;

/// The conditions of some partial indexes of a table.
#[derive(Clone, Debug)]
pub(super) struct RowFilter {
    /// For each index, fields of the record and the conditions of their values.
    indexes: Vec<Vec<(usize, Condition)>>,
    /// Number of the leading fields that have conditions.
    fields: usize,
}

impl RowFilter {
    /// Returns the filter of these indexes. `None` if one of them may have any row.
    pub fn new(table: &Table, indexes: &[&Index]) -> Option<Self> {
        let stored = table.stored_columns();
        let of_index = |index: &&Index| {
            let conditions = &index.evaluated.as_ref()?.conditions;
            let field = |column: usize| stored.iter().position(|&at| at == column).filter(|&field| field < MOST_FIELDS);
            let fields = conditions.iter().map_while(|condition| Some((field(condition.column)?, condition.clone())));
            Some(fields.collect::<Vec<_>>()).filter(|fields| !fields.is_empty())
        };
        let indexes: Option<Vec<_>> = indexes.iter().map(of_index).collect();
        let indexes = indexes.filter(|indexes| !indexes.is_empty())?;
        let fields = indexes.iter().flatten().map(|(field, _)| field + 1).max()?;
        Some(Self { indexes, fields })
    }

    /// Returns whether a row is surely in none of the indexes. A record of an older row, without its last fields, may be in them.
    #[inline]
    pub fn excludes(&self, record: &[u8]) -> bool {
        let mut values = [Value::Null; MOST_FIELDS];
        let values = &mut values[..self.fields];
        if !read_leading(record, values) && !read_all(record, values) {
            return false;
        }
        self.indexes.iter().all(|conditions| conditions.iter().any(|(field, of)| of.excludes(values[*field])))
    }
}

/// Reads the first values of a record whose lengths take several bytes. Returns `false` if it has fewer.
#[cold]
fn read_all<'r>(record: &'r [u8], values: &mut [Value<'r>]) -> bool {
    let Ok(mut reader) = RecordReader::new(record) else { return false };
    values.iter_mut().all(|value| match reader.next_field() {
        Ok(Some(field)) => {
            *value = field.value;
            true
        }
        _ => false,
    })
}
