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
use litepress_format::FormatError;
use litepress_format::header::TextEncoding;
use litepress_format::record::{RecordReader, field_count, write_record};
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::schema::{Generated, OlderRows};
use litepress_rows::{Error, ErrorKind, RecordChunk, Result, Table, quote};

/// The form of the records of a table.
#[derive(Debug)]
pub(crate) struct RecordForm {
    /// The values of a whole record of a shard, in records that lack them.
    older: OlderRows,
    /// The fields that the engine does not want: SQLite computes them.
    left_out: Vec<bool>,
    /// The columns that follow shifted rowids.
    pub references: Vec<Reference>,
    /// Whether the name of the shard is the last value.
    pub has_source: bool,
}

impl RecordForm {
    /// Finds the form. `table` has the column for the name of the shard, if `has_source`. SQLite fills tables
    /// with STORED columns, and computes these.
    pub fn new(table: &Table, references: Vec<Reference>, has_source: bool) -> Self {
        let mut stored = table.stored_columns();
        if has_source {
            stored.pop();
        }
        let older = OlderRows::of_columns(table, &stored, TextEncoding::Utf8);
        let is_left_out = |&column: &usize| table.columns[column].generated == Generated::Stored;
        let left_out = stored.iter().map(is_left_out).collect();
        Self { older, left_out, references, has_source }
    }

    /// Returns whether every record must be written again.
    fn changes_all(&self, encoding: TextEncoding) -> bool {
        self.has_source
            || !self.references.is_empty()
            || encoding != TextEncoding::Utf8
            || self.left_out.contains(&true)
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
        let is_whole = |row| field_count(chunk.record(row)) == Some(self.form.older.fields());
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
        let RecordForm { older, left_out, references, has_source } = self.form;
        let fields = older.fields();
        let wrong = |error: FormatError| {
            Error::new(ErrorKind::Corrupt, format!("the record of row {rowid} cannot be read: {error}"))
        };
        // Texts of another encoding, until the record is written.
        let mut texts: Vec<Option<String>> = Vec::new();
        let mut values: Vec<Value<'_>> = Vec::with_capacity(fields + 1);
        for value in RecordReader::new(record).map_err(wrong)?.take(fields) {
            let value = value.map_err(wrong)?;
            texts.push(match value {
                Value::Text(text) if self.encoding != TextEncoding::Utf8 => Some(text::to_utf8(text, self.encoding)),
                _ => None,
            });
            values.push(value);
        }
        for (value, text) in values.iter_mut().zip(&texts) {
            if let Some(text) = text {
                *value = text.as_str().into();
            }
        }
        values.extend(older.missing(texts.len()));
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
