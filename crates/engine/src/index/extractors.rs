//! Extracts the entries of all indexes of a table, for one thread: from the table's records, or from records that SQLite
//! evaluates.

use super::entry_extractor::EntryExtractor;
use super::plan::IndexPlan;
use crate::Result;
use crate::evaluate::{Evaluator, RowEvaluation};
use crate::sort::Sorter;
use litepress_rows::RecordChunk;

/// The extractors of the indexes of one table.
///
/// ORDER: [`add`](Self::add) the rows of a part, then [`end_part`](Self::end_part); [`finish`](Self::finish) after the last.
#[derive(Default)]
pub(crate) struct Extractors<'s> {
    /// Extractors of entries from the table's records.
    plain: Vec<EntryExtractor<'s>>,
    /// Extractors of entries from evaluated records.
    evaluated: Vec<EntryExtractor<'s>>,
    evaluator: Option<Evaluator<'s>>,
}

impl<'s> Extractors<'s> {
    pub(super) fn new(sorts: &'s [(IndexPlan, Sorter)], evaluation: Option<&'s RowEvaluation>) -> Self {
        let of = |is_evaluated: bool| {
            let sorts = sorts.iter().filter(move |(plan, _)| plan.evaluated_index().is_some() == is_evaluated);
            sorts.map(|(plan, sorter)| EntryExtractor::new(plan, sorter.writer())).collect::<Vec<_>>()
        };
        let (plain, evaluated) = (of(false), of(true));
        assert!(evaluated.is_empty() || evaluation.is_some(), "these indexes need SQLite's evaluation");
        Self { plain, evaluated, evaluator: evaluation.map(Evaluator::new) }
    }

    /// Adds the entries of all rows of `chunk`. Some may wait for the end of the part.
    ///
    /// # Errors
    /// If a row breaks a CHECK, SQLite cannot evaluate it, or a write to a temporary file fails.
    pub fn add(&mut self, chunk: &RecordChunk) -> Result<()> {
        self.plain.iter_mut().try_for_each(|extractor| extractor.add(chunk))?;
        let Self { evaluated, evaluator, .. } = self;
        match evaluator {
            Some(evaluator) => evaluator.add(chunk, &mut |index, entries| evaluated[index].add(entries)),
            None => Ok(()),
        }
    }

    /// Adds the entries of all rows that wait. The errors of a part come before its end.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn end_part(&mut self) -> Result<()> {
        let Self { evaluated, evaluator, .. } = self;
        match evaluator {
            Some(evaluator) => evaluator.evaluate(&mut |index, entries| evaluated[index].add(entries)),
            None => Ok(()),
        }
    }

    /// Completes the sort items of this thread.
    pub fn finish(self) -> Result<()> {
        self.plain.into_iter().chain(self.evaluated).try_for_each(EntryExtractor::finish)
    }
}
