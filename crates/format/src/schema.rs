//! Rows of `sqlite_schema` (section 2.6), the rowid table whose root is page 1.
//!
//! ```sql
//! CREATE TABLE sqlite_schema(type text, name text, tbl_name text, rootpage integer, sql text)
//! ```

use crate::FormatError;
use crate::record;
use crate::value::Value;

/// The root page of `sqlite_schema` itself.
pub const ROOT_PAGE: u32 = 1;

/// A row of `sqlite_schema` in a UTF-8 database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaRow<'a> {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: &'a str,
    /// Name of the object.
    pub name: &'a str,
    /// The table or view it belongs to; a table's own name.
    pub tbl_name: &'a str,
    /// Root page of the b-tree; 0 for views, triggers and virtual tables.
    pub rootpage: i64,
    /// The normalised `CREATE` statement; `None` for the automatic indexes of constraints.
    pub sql: Option<&'a str>,
}

impl SchemaRow<'_> {
    /// Appends the row's record.
    pub fn write(&self, out: &mut Vec<u8>) {
        let sql = self.sql.map_or(Value::Null, Value::from);
        record::write_record(
            &[self.kind.into(), self.name.into(), self.tbl_name.into(), self.rootpage.into(), sql],
            out,
        );
    }
}

/// An owned row of `sqlite_schema`; its fields are those of [`SchemaRow`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedSchemaRow {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// The table or view it belongs to; a table's own name.
    pub tbl_name: String,
    /// Root page of the b-tree; 0 for views, triggers and virtual tables.
    pub rootpage: i64,
    /// The normalised `CREATE` statement; `None` for the automatic indexes of constraints.
    pub sql: Option<String>,
}

impl OwnedSchemaRow {
    /// Borrows the row.
    #[must_use]
    pub fn as_row(&self) -> SchemaRow<'_> {
        SchemaRow {
            kind: &self.kind,
            name: &self.name,
            tbl_name: &self.tbl_name,
            rootpage: self.rootpage,
            sql: self.sql.as_deref(),
        }
    }
}

/// Reads the record of a row of `sqlite_schema` in a UTF-8 database.
///
/// # Errors
/// If `record` is not a record, does not have five columns of the types above, or has text that is not UTF-8.
pub fn read(record: &[u8]) -> Result<OwnedSchemaRow, FormatError> {
    let values = record::decode(record)?;
    let [kind, name, tbl_name, rootpage, sql] = values[..] else {
        return Err(FormatError::new(format!("{} columns in a row of sqlite_schema, not 5", values.len()), 0));
    };
    let text = |column: &str, value| match value {
        Value::Text(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| FormatError::new(format!("sqlite_schema.{column} is not UTF-8"), 0)),
        _ => Err(FormatError::new(format!("sqlite_schema.{column} is not text"), 0)),
    };
    Ok(OwnedSchemaRow {
        kind: text("type", kind)?,
        name: text("name", name)?,
        tbl_name: text("tbl_name", tbl_name)?,
        rootpage: match rootpage {
            Value::Int(page) => page,
            // Section 2.6 allows NULL for objects without a b-tree.
            Value::Null => 0,
            _ => {
                return Err(FormatError::new("sqlite_schema.rootpage is not an integer", 0));
            }
        },
        sql: if sql == Value::Null { None } else { Some(text("sql", sql)?) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn round_trip_with_and_without_sql() {
        let table =
            SchemaRow { kind: "table", name: "t", tbl_name: "t", rootpage: 2, sql: Some("CREATE TABLE t(a UNIQUE)") };
        let index = SchemaRow { kind: "index", name: "sqlite_autoindex_t_1", tbl_name: "t", rootpage: 3, sql: None };
        for row in [table, index] {
            let mut bytes = Vec::new();
            row.write(&mut bytes);
            assert_eq!(read(&bytes).unwrap().as_row(), row);
        }
    }

    #[test]
    fn a_row_of_another_table_is_refused() {
        for values in [&[Value::Null; 4][..], &[Value::Null; 5], &[Value::Text(b"\xff"); 5]] {
            let mut bytes = Vec::new();
            record::write_record(values, &mut bytes);
            assert!(read(&bytes).is_err(), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }
    }
}
