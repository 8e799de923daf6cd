//! Completes records that are older than a column: ALTER TABLE ADD COLUMN changes no row.

use crate::Result;
use crate::sort::bad_item;
use litepress_format::record::{self, RecordReader};
use litepress_format::value::Value;
use litepress_rows::{Part, RecordChunk, RowidOrder, Source};
use rusqlite::types::Value as Owned;

/// A source of records, each with a value for every stored column.
pub(super) struct Completed<'s> {
    pub source: &'s dyn Source,
    /// The values of all stored columns in rows that lack them.
    pub defaults: &'s [Owned],
}

impl Completed<'_> {
    /// Returns whether a record without these columns differs from one with them: a missing value is taken for NULL anyway.
    pub fn is_needed(defaults: &[Owned]) -> bool {
        defaults.iter().any(|value| *value != Owned::Null)
    }
}

impl Source for Completed<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        let complete = |part| Box::new(CompletedPart { part, defaults: self.defaults }) as Box<dyn Part + '_>;
        Ok(part.map(complete))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn rowid_order(&self) -> RowidOrder {
        self.source.rowid_order()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }
}

struct CompletedPart<'s> {
    part: Box<dyn Part + 's>,
    defaults: &'s [Owned],
}

impl Part for CompletedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        let wanted = self.defaults.len();
        let is_short = |row| fields(chunk.record(row)) < wanted;
        if !(0..chunk.len()).any(is_short) {
            return Ok(());
        }
        let mut completed = RecordChunk::new();
        completed.set_first_record(chunk.first_record());
        let mut bytes = Vec::new();
        for (row, &rowid) in chunk.rowids().iter().enumerate() {
            let record = chunk.record(row);
            if fields(record) < wanted {
                bytes.clear();
                complete(record, self.defaults, &mut bytes)?;
                completed.push(rowid, &bytes);
            } else {
                completed.push(rowid, record);
            }
        }
        *chunk = completed;
        Ok(())
    }
}

/// Counts the fields of a record: every one has a number in the header, whose last byte is below 128.
fn fields(record: &[u8]) -> usize {
    match record.first() {
        Some(&len @ 1..0x80) => record.get(1..usize::from(len)).map_or(0, ends),
        _ => RecordReader::new(record).map_or(0, |mut reader| {
            let mut fields = 0;
            while reader.next_field().is_ok_and(|field| field.is_some()) {
                fields += 1;
            }
            fields
        }),
    }
}

fn ends(header: &[u8]) -> usize {
    header.iter().filter(|&&byte| byte < 0x80).count()
}

fn complete(record: &[u8], defaults: &[Owned], out: &mut Vec<u8>) -> Result<()> {
    let mut values = record::decode(record).map_err(|error| bad_item(&error))?;
    let missing = defaults.get(values.len()..).unwrap_or_default();
    values.extend(missing.iter().map(|value| match value {
        Owned::Null => Value::Null,
        Owned::Integer(int) => Value::Int(*int),
        Owned::Real(real) => Value::Real(*real),
        Owned::Text(text) => text.as_str().into(),
        Owned::Blob(blob) => Value::Blob(blob),
    }));
    record::write_record(&values, out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_records_get_their_defaults() {
        let mut old = Vec::new();
        record::write_record(&[Value::Int(5), "x".repeat(90).as_str().into()], &mut old);
        assert_eq!(fields(&old), 2);
        let defaults = [Owned::Null, Owned::Null, Owned::Text("new".to_owned()), Owned::Real(1.5)];
        let mut new = Vec::new();
        complete(&old, &defaults, &mut new).unwrap();
        let values = record::decode(&new).unwrap();
        assert_eq!(values[0], Value::Int(5));
        assert_eq!(values[2..], ["new".into(), Value::Real(1.5)]);
        assert_eq!(fields(&new), 4);
    }
}
