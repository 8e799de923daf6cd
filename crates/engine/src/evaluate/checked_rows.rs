//! Checks rows on their way, before any of them is dropped for another one with the same key.

use super::{Evaluator, RowEvaluation};
use crate::Result;
use litepress_rows::{Part, RecordChunk, Source, Table};

/// A source whose rows SQLite evaluates as an INSERT would, their CHECK constraints among others. A row that SQLite would refuse fails
/// its part, at the latest at the end.
pub(crate) struct CheckedRows<'s> {
    source: &'s dyn Source,
    checks: RowEvaluation,
}

impl<'s> CheckedRows<'s> {
    /// Checks the rows of `source`. `are_overwritten` says that a row may vanish before its index entries are made: their expressions
    /// are evaluated here, too. Returns `None` if there is nothing to evaluate.
    ///
    /// # Errors
    /// If SQLite refuses the table, which it has accepted before.
    pub fn new(table: &Table, source: &'s dyn Source, are_overwritten: bool) -> Result<Option<Self>> {
        let checks = RowEvaluation::of_insert(table, are_overwritten)?;
        Ok(checks.map(|checks| Self { source, checks }))
    }
}

impl Source for CheckedRows<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        let checked =
            |part| Box::new(CheckedPart { part, evaluator: Evaluator::new(&self.checks) }) as Box<dyn Part + '_>;
        Ok(part.map(checked))
    }

    fn origin(&self) -> Option<&dyn Source> {
        Some(self.source)
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }
}

/// A part whose rows are checked as they are read.
struct CheckedPart<'s> {
    part: Box<dyn Part + 's>,
    evaluator: Evaluator<'s>,
}

impl Part for CheckedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.part.fill(chunk)?;
        if chunk.is_empty() {
            return self.evaluator.evaluate(&mut |_, _| Ok(()));
        }
        self.evaluator.add(chunk, &mut |_, _| Ok(()))
    }
}
