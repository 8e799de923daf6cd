//! The indexes of a table: keys extracted from its records while it is built, sorted, and bulk-loaded as trees.
//!
//! ```text
//! RecordChunk --EntryExtractor--> sort items --Sorter--> items in key order --bulk_load--> index pages
//!   one for each worker of the table             ranges of ranks, in parallel
//! ```

mod column_locator;
mod entry_extractor;
mod entry_writer;
mod extractors;
mod plan;
pub(crate) mod statistics;

pub(crate) use column_locator::{ColumnLocator, ColumnRef};
pub(crate) use entry_extractor::EntryExtractor;
pub(crate) use extractors::Extractors;
pub(crate) use plan::{IndexPlan, column_ref, full_names, key_part};

use crate::evaluate::RowEvaluation;
use crate::pages::Pages;
use crate::progress::Progress;
use crate::sort::bad_item;
use crate::sort::{SortOptions, Sorter};
use crate::threads::take_all;
use crate::tree::bulk_load::{self, IndexTree};
use crate::{Error, ErrorKind, Result};
use litepress_format::header::TextEncoding;
use litepress_format::record::RecordReader;
use litepress_format::value::Value;
use litepress_rows::schema::Index;
use litepress_rows::sync::lock;
use litepress_rows::{RecordChunk, Source, Table};
use std::sync::Mutex;

/// The indexes of one table that is being built.
#[derive(Default)]
pub(crate) struct Indexes {
    sorts: Vec<(IndexPlan, Sorter)>,
    /// The evaluation of rows by SQLite, if an index or a CHECK needs it.
    evaluation: Option<RowEvaluation>,
}

impl Indexes {
    /// Creates the sorts of these indexes, each with these options.
    pub fn new(plans: Vec<IndexPlan>, options: &SortOptions) -> Self {
        let sorts = plans.into_iter().map(|plan| (plan, Sorter::new(options.clone()))).collect();
        Self { sorts, evaluation: None }
    }

    /// Has SQLite evaluate the rows of `table`: the keys of indexes that need it, and CHECK constraints if it `has_checks`.
    ///
    /// # Errors
    /// If SQLite refuses the table, which it has accepted before.
    pub fn evaluating(mut self, table: &Table, has_checks: bool) -> Result<Self> {
        let evaluated: Vec<&Index> = self.sorts.iter().filter_map(|(plan, _)| plan.evaluated_index()).collect();
        let encoding = self.sorts.first().map_or(TextEncoding::Utf8, |(plan, _)| plan.encoding());
        self.evaluation = RowEvaluation::new(table, &evaluated, has_checks, encoding)?;
        Ok(self)
    }

    /// Returns whether nothing is done with records: there are no indexes, and no CHECK is evaluated.
    pub fn is_empty(&self) -> bool {
        self.sorts.is_empty() && self.evaluation.is_none()
    }

    /// Returns the extractors of all indexes, for one thread.
    ///
    /// # Panics
    /// If an index needs SQLite's evaluation and there is none.
    pub fn extractors(&self) -> Extractors<'_> {
        Extractors::new(&self.sorts, self.evaluation.as_ref())
    }

    /// Returns the names of the indexes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sorts.iter().map(|(plan, _)| plan.name.as_str())
    }

    /// Adds entries that an index has already. `entries` are its records, which end with the rowid.
    pub fn add_entries(&self, index: usize, entries: &dyn Source, threads: usize, progress: &Progress) -> Result<()> {
        let (plan, sorter) = &self.sorts[index];
        let plan = plan.of_entries();
        let queue = Mutex::new(0);
        let begin = || (EntryExtractor::new(&plan, sorter.writer()), RecordChunk::new());
        let take = |(extractor, chunk): &mut (EntryExtractor<'_>, RecordChunk)| {
            let mut taken = lock(&queue);
            let number = *taken;
            *taken += 1;
            let part = entries.next_part();
            drop(taken);
            let Some(mut part) = part.map_err(|error| (number, error))? else { return Ok(false) };
            loop {
                let mut add = || {
                    progress.go_on()?;
                    chunk.clear();
                    part.fill(chunk)?;
                    take_rowids(chunk)?;
                    extractor.add(chunk)
                };
                add().map_err(|error| (number, error))?;
                if chunk.is_empty() {
                    return Ok(true);
                }
            }
        };
        take_all(threads, begin, take, |(extractor, _)| extractor.finish())
    }

    /// Builds the trees one after another, in the order of the plans.
    pub fn build(
        self,
        pages: &mut Pages,
        threads: usize,
        counts_keys: bool,
        progress: &Progress,
    ) -> Result<Vec<(String, IndexTree)>> {
        let mut trees = Vec::new();
        for (plan, sorter) in self.sorts {
            progress.enter(format!("index {}", plan.name));
            let tree = bulk_load::build(&sorter.finish()?, &plan, pages, threads, counts_keys, progress)?;
            trees.push((plan.name, tree));
        }
        Ok(trees)
    }
}

/// Gives the records of an index their rowids, which are their last fields.
fn take_rowids(chunk: &mut RecordChunk) -> Result<()> {
    let mut rowids = Vec::with_capacity(chunk.len());
    for row in 0..chunk.len() {
        let mut last = None;
        for value in RecordReader::new(chunk.record(row)).map_err(|error| bad_item(&error))? {
            last = Some(value.map_err(|error| bad_item(&error))?);
        }
        match last {
            Some(Value::Int(rowid)) => rowids.push(rowid),
            _ => return Err(Error::new(ErrorKind::Corrupt, "an entry of the index has no rowid")),
        }
    }
    chunk.set_rowids(0, rowids.into_iter());
    Ok(())
}
