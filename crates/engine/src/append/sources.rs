//! The rows of an append as sources: new rows with their rowids, and old rows in front of them.

use crate::Result;
use crate::sort::bad_item;
use litepress_format::header::TextEncoding;
use litepress_format::record;
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::schema::OlderRows;
use litepress_rows::{Part, RecordChunk, Source};
use litepress_scan::TableScan;
use std::sync::atomic::{AtomicU64, Ordering};

/// New rows, whose rowids and positions are shifted.
pub(super) struct Shifted<'s> {
    pub source: &'s dyn Source,
    /// Added to each rowid.
    pub rowids: i64,
    /// Added to the position of each row, so that it comes behind all old rows.
    pub positions: u64,
}

impl Source for Shifted<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        let shifted = |part| ShiftedPart { part, rowids: self.rowids, positions: self.positions };
        Ok(part.map(|part| Box::new(shifted(part)) as Box<dyn Part + '_>))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }
}

struct ShiftedPart<'s> {
    part: Box<dyn Part + 's>,
    rowids: i64,
    positions: u64,
}

impl Part for ShiftedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        if self.rowids != 0 {
            let shifted: Vec<i64> = chunk.rowids().iter().map(|rowid| rowid + self.rowids).collect();
            chunk.set_rowids(0, shifted.into_iter());
        }
        chunk.set_first_record(chunk.first_record() + self.positions);
        Ok(())
    }
}

/// Rows whose texts are brought from UTF-8 into the encoding of the database.
pub(super) struct Recoded<'s> {
    pub source: &'s dyn Source,
    pub encoding: TextEncoding,
}

impl Source for Recoded<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        Ok(part.map(|part| Box::new(RecodedPart { part, encoding: self.encoding }) as Box<dyn Part + '_>))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }
}

struct RecodedPart<'s> {
    part: Box<dyn Part + 's>,
    encoding: TextEncoding,
}

impl Part for RecodedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        let mut recoded = RecordChunk::new();
        recoded.set_first_record(chunk.first_record());
        let mut record = Vec::new();
        for (row, &rowid) in chunk.rowids().iter().enumerate() {
            let mut values = record::decode(chunk.record(row)).map_err(|error| bad_item(&error))?;
            let encoded = |value: &Value<'_>| match value {
                Value::Text(utf8) => text::from_utf8(&String::from_utf8_lossy(utf8), self.encoding),
                _ => Vec::new(),
            };
            let texts: Vec<Vec<u8>> = values.iter().map(encoded).collect();
            for (value, text) in values.iter_mut().zip(&texts) {
                if let Value::Text(_) = value {
                    *value = Value::Text(text);
                }
            }
            record.clear();
            record::write_record(&values, &mut record);
            recoded.push(rowid, &record);
        }
        *chunk = recoded;
        Ok(())
    }
}

/// The rows of a table, then new ones.
pub(super) struct OldAndNew<'s> {
    pub old: TableScan,
    /// Counts the old rows as they are read.
    pub old_rows: AtomicU64,
    /// Completes old records, if that makes a difference.
    pub older: Option<OlderRows>,
    pub new: Shifted<'s>,
}

impl Source for OldAndNew<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        match self.old.next_part()? {
            Some(part) => Ok(Some(Box::new(OldPart { part, rows: &self.old_rows, older: self.older.as_ref() }))),
            None => self.new.next_part(),
        }
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        self.new.page_bytes()
    }
}

struct OldPart<'s> {
    part: Box<dyn Part + 's>,
    rows: &'s AtomicU64,
    older: Option<&'s OlderRows>,
}

impl Part for OldPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        self.rows.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        self.older.map_or(Ok(()), |older| older.complete(chunk))
    }
}
