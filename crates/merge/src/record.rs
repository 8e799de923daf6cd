//! Records of the merged table, made from records of a shard.
//!
//! Most records stay as they are. The others are decoded and written again:
//!
//! ```text
//! short ones, written before ALTER TABLE ADD COLUMN     get the DEFAULT of the columns that they lack
//! references to shifted rowids                          are shifted
//! the column that names the shard                       is added
//! texts in UTF-16                                       become UTF-8
//! STORED columns of a table that SQLite fills           are left out
//! ```

use crate::references::Reference;
use litepress_format::header::TextEncoding;
use litepress_format::record::{RecordReader, write_record};
use litepress_format::value::Value;
use litepress_format::{FormatError, varint};
use litepress_rows::schema::{Generated, value_in_older_rows};
use litepress_rows::{Error, ErrorKind, RecordChunk, Result, Table, quote};

/// A value of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnedValue {
    Null,
    Int(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl OwnedValue {
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

/// The form of the records of a table.
#[derive(Debug)]
pub(crate) struct RecordForm {
    /// Number of values in a whole record of a shard.
    pub fields: usize,
    /// The DEFAULT of each of them.
    defaults: Vec<OwnedValue>,
    /// The fields that the engine does not want: SQLite computes them.
    left_out: Vec<bool>,
    /// The columns that follow shifted rowids.
    pub references: Vec<Reference>,
    /// Whether the name of the shard is the last value.
    has_source: bool,
}

impl RecordForm {
    /// Finds the form. `table` has the column for the name of the shard, if `has_source`. SQLite fills tables
    /// with STORED columns, and computes these.
    pub fn new(table: &Table, references: Vec<Reference>, has_source: bool) -> Self {
        let mut stored = table.stored_columns();
        if has_source {
            stored.pop();
        }
        let defaults = stored.iter().map(|&column| default_of(table, column)).collect();
        let is_left_out = |&column: &usize| table.columns[column].generated == Generated::Stored;
        let left_out = stored.iter().map(is_left_out).collect();
        Self { fields: stored.len(), defaults, left_out, references, has_source }
    }

    /// Returns whether every record must be written again.
    fn changes_all(&self, encoding: TextEncoding) -> bool {
        self.has_source
            || !self.references.is_empty()
            || encoding != TextEncoding::Utf8
            || self.left_out.contains(&true)
    }
}

/// Returns the value of a column in rows that were stored before it was added.
fn default_of(table: &Table, column: usize) -> OwnedValue {
    use rusqlite::types::Value as Sql;
    let column = &table.columns[column];
    let value = column.default.as_deref().and_then(|default| value_in_older_rows(default, column.affinity));
    match value {
        None | Some(Sql::Null) => OwnedValue::Null,
        Some(Sql::Integer(int)) => OwnedValue::Int(int),
        Some(Sql::Real(real)) => OwnedValue::Real(real),
        Some(Sql::Text(text)) => OwnedValue::Text(text.into_bytes()),
        Some(Sql::Blob(blob)) => OwnedValue::Blob(blob),
    }
}

/// Rewrites the records of a shard, for one thread.
pub(crate) struct Rewriter<'f> {
    pub form: &'f RecordForm,
    pub shard: usize,
    pub encoding: TextEncoding,
    /// The name of the shard, if it is a value.
    pub source: &'f str,
}

impl Rewriter<'_> {
    /// Brings the rows of a chunk into the form of the merged table.
    pub fn rewrite(&self, chunk: &mut RecordChunk) -> Result<()> {
        let is_whole = |row| field_count(chunk.record(row)) == Some(self.form.fields);
        if !self.form.changes_all(self.encoding) && (0..chunk.len()).all(is_whole) {
            return Ok(());
        }
        let old = std::mem::take(chunk);
        chunk.set_first_record(old.first_record());
        let mut record = Vec::new();
        for (row, &rowid) in old.rowids().iter().enumerate() {
            record.clear();
            self.write(old.record(row), rowid, &mut record)?;
            chunk.push(rowid, &record);
        }
        Ok(())
    }

    fn write(&self, record: &[u8], rowid: i64, out: &mut Vec<u8>) -> Result<()> {
        let RecordForm { fields, defaults, left_out, references, has_source } = self.form;
        let wrong = |error: FormatError| {
            Error::new(ErrorKind::Corrupt, format!("the record of row {rowid} cannot be read: {error}"))
        };
        // Texts of another encoding, until the record is written.
        let mut texts: Vec<Option<String>> = Vec::new();
        let mut values: Vec<Value<'_>> = Vec::with_capacity(fields + 1);
        for value in RecordReader::new(record).map_err(wrong)?.take(*fields) {
            let value = value.map_err(wrong)?;
            texts.push(match value {
                Value::Text(text) => decoded(text, self.encoding),
                _ => None,
            });
            values.push(value);
        }
        for (value, text) in values.iter_mut().zip(&texts) {
            if let Some(text) = text {
                *value = text.as_str().into();
            }
        }
        values.extend(defaults[values.len()..].iter().map(OwnedValue::as_value));
        for reference in references {
            match &mut values[reference.field] {
                Value::Int(value) => *value = reference.follow(self.shard, *value)?,
                Value::Null => {}
                other => return Err(reference.not_an_integer(&quote(other))),
            }
        }
        if left_out.contains(&true) {
            let mut left_out = left_out.iter();
            values.retain(|_| !left_out.next().copied().unwrap_or_default());
        }
        if *has_source {
            values.push(self.source.into());
        }
        write_record(&values, out);
        Ok(())
    }
}

/// Returns the number of values of a record, or `None` if its header is wrong.
fn field_count(record: &[u8]) -> Option<usize> {
    let (header_len, own) = varint::read(record)?;
    let header = record.get(own..usize::try_from(header_len).ok()?)?;
    // The last byte of a varint has no high bit.
    Some(header.iter().filter(|byte| **byte < 0x80).count())
}

/// Decodes a text of UTF-16 as SQLite does. Returns `None` for UTF-8.
fn decoded(text: &[u8], encoding: TextEncoding) -> Option<String> {
    let (units, _) = text.as_chunks::<2>();
    let units: Vec<u16> = match encoding {
        TextEncoding::Utf8 => return None,
        TextEncoding::Utf16Le => units.iter().map(|unit| u16::from(unit[1]) << 8 | u16::from(unit[0])).collect(),
        TextEncoding::Utf16Be => units.iter().copied().map(u16::from_be_bytes).collect(),
    };
    Some(String::from_utf16_lossy(&units))
}
