//! Columns of a result: Arrow types for the values of SQLite.
//!
//! The values of the first batch decide about the type of a column: 64-bit integers, doubles, texts or byte strings. Without
//! any value its declared type does. No value is changed: integers and doubles that have no common type are shown as texts.

use crate::error::{Result, failed};
use adbc_core::error::Status;
use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rusqlite::types::{Value, ValueRef};
use std::sync::Arc;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Int,
    Real,
    Text,
    Blob,
}

impl ColumnType {
    /// Returns the type that a declared type promises.
    pub fn of_declared(declared: Option<&str>) -> Self {
        let declared = declared.unwrap_or_default().to_ascii_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
        // The order of SQLite's rules for affinity.
        if has(&["INT"]) {
            Self::Int
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Self::Text
        } else if has(&["BLOB"]) {
            Self::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Self::Real
        } else {
            Self::Int
        }
    }

    /// Returns the type that takes all values.
    fn of_values(values: &[Value], declared: Self) -> Self {
        let has = |is: fn(&Value) -> bool| values.iter().any(is);
        let is_wide = |value: &Value| matches!(value, Value::Integer(int) if exact_real(*int).is_none());
        let (ints, reals) =
            (has(|value| matches!(value, Value::Integer(_))), has(|value| matches!(value, Value::Real(_))));
        if has(|value| matches!(value, Value::Blob(_))) {
            Self::Blob
        } else if has(|value| matches!(value, Value::Text(_))) || reals && values.iter().any(is_wide) {
            Self::Text
        } else if reals {
            Self::Real
        } else if ints {
            Self::Int
        } else {
            declared
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Int => DataType::Int64,
            Self::Real => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::Blob => DataType::Binary,
        }
    }
}

/// Returns the double that equals an integer.
fn exact_real(int: i64) -> Option<f64> {
    const MOST: u64 = 1 << 53;
    (int.unsigned_abs() <= MOST).then_some(int as f64)
}

/// Returns the shortest text that reads back as the same number, with a point or an exponent.
fn text_of_real(real: f64) -> String {
    format!("{real:?}")
}

/// Columns of a batch that grow row by row.
pub struct Columns {
    names: Vec<String>,
    builders: Vec<Builder>,
    rows: usize,
}

enum Builder {
    Int(Int64Builder),
    Real(Float64Builder),
    Text(StringBuilder),
    Blob(BinaryBuilder),
}

impl Builder {
    fn new(column: ColumnType) -> Self {
        match column {
            ColumnType::Int => Self::Int(Int64Builder::new()),
            ColumnType::Real => Self::Real(Float64Builder::new()),
            ColumnType::Text => Self::Text(StringBuilder::new()),
            ColumnType::Blob => Self::Blob(BinaryBuilder::new()),
        }
    }

    /// Appends a value. Returns `false` if the type of the column does not take it.
    fn push(&mut self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (Self::Int(column), ValueRef::Null) => column.append_null(),
            (Self::Int(column), ValueRef::Integer(int)) => column.append_value(int),
            (Self::Real(column), ValueRef::Null) => column.append_null(),
            (Self::Real(column), ValueRef::Real(real)) => column.append_value(real),
            (Self::Real(column), ValueRef::Integer(int)) => match exact_real(int) {
                Some(real) => column.append_value(real),
                None => return false,
            },
            (Self::Text(column), ValueRef::Null) => column.append_null(),
            (Self::Text(column), ValueRef::Integer(int)) => column.append_value(int.to_string()),
            (Self::Text(column), ValueRef::Real(real)) => column.append_value(text_of_real(real)),
            (Self::Text(column), ValueRef::Text(text)) => match std::str::from_utf8(text) {
                Ok(text) => column.append_value(text),
                Err(_) => return false,
            },
            (Self::Blob(column), ValueRef::Null) => column.append_null(),
            (Self::Blob(column), ValueRef::Integer(int)) => column.append_value(int.to_string()),
            (Self::Blob(column), ValueRef::Real(real)) => column.append_value(text_of_real(real)),
            (Self::Blob(column), ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => column.append_value(bytes),
            (Self::Int(_) | Self::Real(_) | Self::Text(_), _) => return false,
        }
        true
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Int(column) => Arc::new(column.finish()),
            Self::Real(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
            Self::Blob(column) => Arc::new(column.finish()),
        }
    }
}

/// Describes a value that its column does not take.
fn mismatch(name: &str, row: u64, value: ValueRef<'_>) -> adbc_core::error::Error {
    let (kind, advice) = match value {
        ValueRef::Text(text) if std::str::from_utf8(text).is_err() => ("a text that is not UTF-8", "BLOB"),
        ValueRef::Text(_) => ("a text", "TEXT"),
        ValueRef::Blob(_) => ("a blob", "BLOB"),
        ValueRef::Real(_) => ("a double", "REAL"),
        ValueRef::Integer(_) | ValueRef::Null => ("an integer beyond 2^53", "TEXT"),
    };
    let message = format!(
        "row {row} has {kind} in column {name}, whose type follows from the rows before: select CAST(... AS {advice}), or \
         decide by more rows with {}",
        crate::settings::BATCH_ROWS
    );
    failed(Status::InvalidData, message)
}

impl Columns {
    /// Begins columns of these types.
    pub fn new(names: Vec<String>, types: &[ColumnType]) -> Self {
        Self { names, builders: types.iter().map(|column| Builder::new(*column)).collect(), rows: 0 }
    }

    /// Decides about the types by the rows of the first batch, and begins with them. `rows` are column by column.
    pub fn of_first(names: Vec<String>, rows: &[Vec<Value>], declared: &[ColumnType], count: usize) -> Result<Self> {
        let types: Vec<ColumnType> =
            rows.iter().zip(declared).map(|(values, declared)| ColumnType::of_values(values, *declared)).collect();
        let mut columns = Self::new(names, &types);
        for (at, values) in rows.iter().enumerate() {
            for (row, value) in (1..).zip(values) {
                columns.push(at, row, value.into())?;
            }
        }
        columns.rows = count;
        Ok(columns)
    }

    /// Appends a value to a column.
    pub fn push(&mut self, column: usize, row: u64, value: ValueRef<'_>) -> Result<()> {
        if self.builders[column].push(value) { Ok(()) } else { Err(mismatch(&self.names[column], row, value)) }
    }

    /// Ends a row.
    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the schema.
    pub fn schema(&self) -> SchemaRef {
        let data_type = |builder: &Builder| match builder {
            Builder::Int(_) => ColumnType::Int.data_type(),
            Builder::Real(_) => ColumnType::Real.data_type(),
            Builder::Text(_) => ColumnType::Text.data_type(),
            Builder::Blob(_) => ColumnType::Blob.data_type(),
        };
        let field = |(name, builder): (&String, &Builder)| Field::new(name, data_type(builder), true);
        Arc::new(Schema::new(self.names.iter().zip(&self.builders).map(field).collect::<Vec<Field>>()))
    }

    /// Returns the rows so far, and begins a new batch.
    pub fn batch(&mut self, schema: &SchemaRef) -> Result<RecordBatch> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(std::mem::take(&mut self.rows)));
        Ok(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_takes_all_values() {
        let of = |values: &[Value]| ColumnType::of_values(values, ColumnType::Int);
        let (int, real) = (Value::Integer(7), Value::Real(0.5));
        assert_eq!(of(&[Value::Null, int.clone()]), ColumnType::Int);
        assert_eq!(of(&[int.clone(), real.clone()]), ColumnType::Real);
        // The SQLite driver rounds the integer to a double.
        assert_eq!(of(&[Value::Integer((1 << 53) + 1), real]), ColumnType::Text);
        assert_eq!(of(&[int, Value::Text("a".into())]), ColumnType::Text);
        assert_eq!(of(&[Value::Text("a".into()), Value::Blob(vec![0])]), ColumnType::Blob);
        assert_eq!(ColumnType::of_values(&[Value::Null], ColumnType::Text), ColumnType::Text);
    }

    #[test]
    fn a_value_of_another_kind_is_refused() {
        let mut columns = Columns::new(vec!["a".into()], &[ColumnType::Int]);
        let error = columns.push(0, 1025, ValueRef::Text(b"x")).expect_err("a text");
        assert!(error.message.contains("row 1025 has a text in column a"), "{error}");
    }
}
