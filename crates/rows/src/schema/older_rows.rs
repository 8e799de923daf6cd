//! Rows that are older than a column: ALTER TABLE ADD COLUMN changes no row, so their records end before it.

use super::Table;
use crate::{Affinity, Error, ErrorKind, RecordChunk, Result};
use litepress_format::header::TextEncoding;
use litepress_format::record;
use litepress_format::text;
use litepress_format::value::Value;
use rusqlite::Connection;
use rusqlite::types::Value as SqlValue;

/// A value as a record of a database with some encoding stores it.
#[derive(Clone, Debug, PartialEq)]
pub enum EncodedValue {
    /// NULL
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// A text in the encoding of the database.
    Text(Vec<u8>),
    /// A byte string.
    Blob(Vec<u8>),
}

impl EncodedValue {
    /// Encodes a value of SQLite.
    pub fn new(value: &SqlValue, encoding: TextEncoding) -> Self {
        match value {
            SqlValue::Null => Self::Null,
            SqlValue::Integer(int) => Self::Int(*int),
            SqlValue::Real(real) => Self::Real(*real),
            SqlValue::Text(text) => Self::Text(text::from_utf8(text, encoding)),
            SqlValue::Blob(blob) => Self::Blob(blob.clone()),
        }
    }

    /// Borrows the value.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(int) => Value::Int(*int),
            Self::Real(real) => Value::Real(*real),
            Self::Text(text) => Value::Text(text),
            Self::Blob(blob) => Value::Blob(blob),
        }
    }
}

/// The values that stored columns of a table have in rows which are older than they.
#[derive(Clone, Debug, Default)]
pub struct OlderRows {
    values: Vec<EncodedValue>,
}

impl OlderRows {
    /// Finds the values of the stored columns of a table, in the order of a record.
    pub fn of(table: &Table, encoding: TextEncoding) -> Self {
        Self::of_columns(table, &table.stored_columns(), encoding)
    }

    /// Finds the values of these columns.
    pub fn of_columns(table: &Table, columns: &[usize], encoding: TextEncoding) -> Self {
        let value = |&column: &usize| {
            let column = &table.columns[column];
            let value = column.default.as_deref().and_then(|default| value_in_older_rows(default, column.affinity));
            EncodedValue::new(&value.unwrap_or(SqlValue::Null), encoding)
        };
        Self { values: columns.iter().map(value).collect() }
    }

    /// Returns the number of values of a whole record.
    pub fn fields(&self) -> usize {
        self.values.len()
    }

    /// Returns whether a whole record may mean something else than a short one: a missing value is taken for NULL anyway.
    pub fn differ(&self) -> bool {
        self.values.iter().any(|value| *value != EncodedValue::Null)
    }

    /// Returns the values that a record with `count` values lacks.
    pub fn missing(&self, count: usize) -> impl Iterator<Item = Value<'_>> {
        self.values.iter().skip(count).map(EncodedValue::as_value)
    }

    /// Gives the records of a chunk the values that they lack.
    ///
    /// # Errors
    /// If a record is malformed.
    pub fn complete(&self, chunk: &mut RecordChunk) -> Result<()> {
        let is_short = |record: &[u8]| record::field_count(record).is_none_or(|count| count < self.fields());
        if !(0..chunk.len()).any(|row| is_short(chunk.record(row))) {
            return Ok(());
        }
        let mut completed = RecordChunk::new();
        completed.set_first_record(chunk.first_record());
        let mut whole = Vec::new();
        for (row, &rowid) in chunk.rowids().iter().enumerate() {
            let record = chunk.record(row);
            if is_short(record) {
                let wrong = |error| {
                    Error::new(ErrorKind::Corrupt, format!("the record of row {rowid} cannot be read: {error}"))
                };
                let mut values = record::decode(record).map_err(wrong)?;
                let count = values.len();
                values.extend(self.missing(count));
                whole.clear();
                record::write_record(&values, &mut whole);
                completed.push(rowid, &whole);
            } else {
                completed.push(rowid, record);
            }
        }
        *chunk = completed;
        Ok(())
    }
}

/// Returns the value that a column with this affinity and DEFAULT has in rows that were stored before ALTER TABLE added it.
/// Returns `None` if ALTER TABLE refuses the DEFAULT for a table with rows.
///
/// The bundled SQLite is asked: it reads such a DEFAULT by other rules than for an INSERT. In a TEXT column, DEFAULT 1.10 is the
/// text '1.10', but '1.1' in new rows.
pub fn value_in_older_rows(default: &str, affinity: Affinity) -> Option<SqlValue> {
    let connection = Connection::open_in_memory().ok()?;
    connection.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1)").ok()?;
    let name = type_name(affinity);
    // The schema says DEFAULT (1.0) without its parentheses. Adding them always would be wrong: DEFAULT word is a
    // text, (word) a column.
    let forms = [format!("ALTER TABLE t ADD COLUMN c {name} DEFAULT {default}"), {
        format!("ALTER TABLE t ADD COLUMN c {name} DEFAULT ({default})")
    }];
    forms.iter().find(|sql| connection.execute(sql, []).is_ok())?;
    connection.query_row("SELECT c FROM t", [], |row| row.get(0)).ok()
}

/// Returns a declared type with this affinity.
fn type_name(affinity: Affinity) -> &'static str {
    match affinity {
        Affinity::Integer => "INTEGER",
        Affinity::Text => "TEXT",
        Affinity::Blob => "BLOB",
        Affinity::Real => "REAL",
        Affinity::Numeric => "NUMERIC",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn short_records_get_the_values_that_sqlite_reads() {
        let text = "CREATE TABLE t (a, b, c TEXT DEFAULT 1.10, d REAL DEFAULT 1.5, e DEFAULT 'new')";
        let schema = Schema::from_sql(text, "<test>").unwrap();
        let older = OlderRows::of(&schema.tables[0], TextEncoding::Utf16Be);
        assert!(older.differ() && older.fields() == 5);
        let mut chunk = RecordChunk::new();
        let mut record = Vec::new();
        record::write_record(&[Value::Int(5), "x".repeat(90).as_str().into()], &mut record);
        chunk.push(7, &record);
        older.complete(&mut chunk).unwrap();
        let values = record::decode(chunk.record(0)).unwrap();
        assert_eq!(values[0], Value::Int(5));
        let [number, new] = [Value::Text(&[0, b'1', 0, b'.', 0, b'1', 0, b'0']), Value::Text(b"\0n\0e\0w")];
        assert_eq!(values[2..], [number, Value::Real(1.5), new]);
        assert_eq!(record::field_count(chunk.record(0)), Some(5));
    }
}
