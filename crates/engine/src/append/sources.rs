//! The rows of an append as sources: new rows with their rowids, and old rows in front of them.

use crate::{Error, ErrorKind, Result};
use litepress_format::record::RecordReader;
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

/// The rows of a table, then new ones.
pub(super) struct OldAndNew<'s> {
    pub old: TableScan,
    /// Counts the old rows as they are read.
    pub old_rows: AtomicU64,
    /// The number of fields that each old record must have, if their indexes have columns with a DEFAULT: a record from the time
    /// before such a column lacks it, and means the DEFAULT.
    pub fields: Option<usize>,
    pub new: Shifted<'s>,
}

impl Source for OldAndNew<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        match self.old.next_part()? {
            Some(part) => Ok(Some(Box::new(OldPart { part, rows: &self.old_rows, fields: self.fields }))),
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
    fields: Option<usize>,
}

impl Part for OldPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        self.rows.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        if let Some(fields) = self.fields {
            for row in 0..chunk.len() {
                let reader = RecordReader::new(chunk.record(row));
                if reader.map_or(0, Iterator::count) < fields {
                    return Err(Error::new(ErrorKind::Limit, "rows are older than an indexed column with a DEFAULT"));
                }
            }
        }
        Ok(())
    }
}
