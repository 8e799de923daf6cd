//! The value of one column, as it is stored.

/// One value of a record (section 2.1). Affinity has done its work before a value gets here: what
/// stands in it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL; also what an INTEGER PRIMARY KEY column holds in its own record.
    Null,
    /// A signed integer; the record stores it in as few bytes as hold it.
    Int(i64),
    /// An IEEE 754 double. SQLite has no NaN: one is written as NULL.
    Real(f64),
    /// Text in the encoding of the database; bytes, because a file may hold text that is not valid
    /// in it.
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
