//! The indexes of a table: keys extracted from its records while it is built, sorted, and bulk-loaded as trees.
//!
//! ```text
//! RecordChunk --EntryExtractor--> sort items --Sorter--> items in key order --bulk_load--> index pages
//!   one for each worker of the table             ranges of ranks, in parallel
//! ```

mod column_locator;
mod entry_extractor;
mod entry_writer;
mod plan;
pub(crate) mod statistics;

pub(crate) use column_locator::{ColumnLocator, ColumnRef};
pub(crate) use entry_extractor::EntryExtractor;
pub(crate) use plan::{IndexPlan, column_ref, full_names, key_part};

use crate::Result;
use crate::pages::Pages;
use crate::progress::Progress;
use crate::sort::{SortOptions, Sorter};
use crate::tree::bulk_load::{self, IndexTree};

/// The indexes of one table that is being built.
#[derive(Default)]
pub(crate) struct Indexes {
    sorts: Vec<(IndexPlan, Sorter)>,
}

impl Indexes {
    /// Creates the sorts of these indexes, each with these options.
    pub fn new(plans: Vec<IndexPlan>, options: &SortOptions) -> Self {
        Self { sorts: plans.into_iter().map(|plan| (plan, Sorter::new(options.clone()))).collect() }
    }

    /// Returns whether there are no indexes.
    pub fn is_empty(&self) -> bool {
        self.sorts.is_empty()
    }

    /// Returns a extractor for every index, for one thread.
    pub fn extractors(&self) -> Vec<EntryExtractor<'_>> {
        self.sorts.iter().map(|(plan, sorter)| EntryExtractor::new(plan, sorter.writer())).collect()
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
