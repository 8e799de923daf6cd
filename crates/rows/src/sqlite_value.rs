//! Values of records as values of SQLite's interface, and back. Text passes as it is, UTF-8 or not.

use litepress_format::value::Value;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// Returns the value for SQLite's interface.
#[must_use]
pub fn to_sqlite(value: Value<'_>) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Int(int) => ValueRef::Integer(int),
        Value::Real(real) => ValueRef::Real(real),
        Value::Text(text) => ValueRef::Text(text),
        Value::Blob(blob) => ValueRef::Blob(blob),
    }
}

/// Returns the value as a parameter of a statement.
#[must_use]
pub fn parameter(value: Value<'_>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(to_sqlite(value))
}

/// Returns a value from SQLite's interface as a record has it.
#[must_use]
pub fn from_sqlite(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => Value::Text(text),
        ValueRef::Blob(blob) => Value::Blob(blob),
    }
}
