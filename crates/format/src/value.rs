//! The stored value of one column.

/// One value of a record (section 2.1), after column affinity was applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL. An INTEGER PRIMARY KEY column also holds NULL in its own record.
    Null,
    /// A signed integer. The record stores it in the fewest bytes that hold it.
    Int(i64),
    /// An IEEE 754 double. SQLite has no NaN: a NaN is written as NULL.
    Real(f64),
    /// Text in the encoding of the database. It is a byte slice because a file may hold invalid text.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text.as_bytes())
    }
}
