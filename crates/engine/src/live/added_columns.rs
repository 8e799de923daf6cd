//! Completes records that are older than a column: ALTER TABLE ADD COLUMN changes no row.

use crate::Result;
use litepress_rows::schema::OlderRows;
use litepress_rows::{Part, RecordChunk, RowidOrder, Source};

/// A source of records, each with a value for every stored column.
pub(crate) struct Completed<'s> {
    pub source: &'s dyn Source,
    /// The values of all stored columns in rows that lack them.
    pub older: &'s OlderRows,
}

impl Source for Completed<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        let complete = |part| Box::new(CompletedPart { part, older: self.older }) as Box<dyn Part + '_>;
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
    older: &'s OlderRows,
}

impl Part for CompletedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        self.older.complete(chunk)
    }
}
