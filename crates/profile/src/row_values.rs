//! The values of a row as SELECT gives them, from its record.

use litepress_format::FormatError;
use litepress_format::header::TextEncoding;
use litepress_format::record::RecordReader;
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::schema::{Column, Generated, OlderRows, Table};
use litepress_rows::{Affinity, RecordChunk, recode_texts};

/// The columns of a table as its records have them.
pub(crate) struct RowValues {
    /// The columns of a record in its order.
    fields: Vec<FieldColumn>,
    /// Number of the ordinary columns.
    columns: usize,
    /// Position of the INTEGER PRIMARY KEY among the ordinary columns.
    rowid_alias: Option<usize>,
    encoding: TextEncoding,
    older: OlderRows,
}

struct FieldColumn {
    /// Position among the ordinary columns; `None` for generated ones.
    place: Option<usize>,
    /// Integers in it are doubles, which SQLite stores in the shorter form.
    is_real: bool,
}

impl RowValues {
    pub fn new(table: &Table, encoding: TextEncoding) -> Self {
        let ordinary: Vec<usize> = table.ordinary_columns().collect();
        let place = |column: usize| ordinary.iter().position(|&of| of == column);
        let field = |column: usize| {
            let Column { generated, affinity, .. } = &table.columns[column];
            let place = if *generated == Generated::No { place(column) } else { None };
            FieldColumn { place, is_real: *affinity == Affinity::Real }
        };
        Self {
            fields: table.stored_columns().into_iter().map(field).collect(),
            columns: ordinary.len(),
            rowid_alias: table.rowid_alias.and_then(place),
            encoding,
            older: OlderRows::of(table, TextEncoding::Utf8),
        }
    }

    /// Gives the records of a chunk texts in UTF-8.
    ///
    /// # Errors
    /// If a record is malformed.
    pub fn decode_texts(&self, chunk: &mut RecordChunk) -> Result<(), FormatError> {
        match self.encoding {
            TextEncoding::Utf8 => Ok(()),
            encoding => recode_texts(chunk, |text| text::to_utf8(text, encoding).into_bytes()),
        }
    }

    /// Reads the values of the ordinary columns from a record in UTF-8.
    ///
    /// # Errors
    /// If the record is malformed.
    pub fn read<'r>(&'r self, rowid: i64, record: &'r [u8], values: &mut Vec<Value<'r>>) -> Result<(), FormatError> {
        values.clear();
        values.resize(self.columns, Value::Null);
        let mut reader = RecordReader::new(record)?;
        for (position, field) in self.fields.iter().enumerate() {
            let Some(value) = reader.next().transpose()? else {
                for (field, value) in self.fields[position..].iter().zip(self.older.missing(position)) {
                    if let Some(place) = field.place {
                        values[place] = value;
                    }
                }
                break;
            };
            let Some(place) = field.place else { continue };
            values[place] = match value {
                #[expect(clippy::cast_precision_loss, reason = "SQLite stores a double so only if nothing is lost")]
                Value::Int(int) if field.is_real => Value::Real(int as f64),
                Value::Real(real) if real.is_nan() => Value::Null,
                value => value,
            };
        }
        if let Some(place) = self.rowid_alias {
            values[place] = Value::Int(rowid);
        }
        Ok(())
    }
}
