//! The indexes of a table: keys extracted from its records while it is built, sorted, and bulk-loaded as trees.
//!
//! ```text
//! RecordChunk --EntryExtractor--> sort items --Sorter--> items in key order --bulk_load----> index pages
//!   one for each worker of the table             ranges of ranks, in parallel
//!                                    old tree, in its order --EntryKeys--'--old_and_new--> index pages
//! ```

mod column_locator;
mod entry_extractor;
mod entry_key;
mod entry_writer;
mod extractors;
mod old_and_new;
mod plan;
pub(crate) mod statistics;

pub(crate) use column_locator::{ColumnLocator, ColumnRef};
pub(crate) use extractors::Extractors;
pub(crate) use plan::{IndexPlan, column_ref, full_names, given_column, key_part};

use crate::Result;
use crate::evaluate::RowEvaluation;
use crate::pages::Pages;
use crate::part::{self, Parts, StoredItems};
use crate::progress::Progress;
use crate::sort::{SortOptions, Sorter};
use crate::tree::bulk_load::{self, IndexTree};
use litepress_format::header::TextEncoding;
use litepress_rows::Table;
use litepress_rows::schema::Index;
use litepress_scan::IndexScan;

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

    /// Writes the sorted entries of each index to the pages of a part.
    pub fn store(self, pages: &mut Pages, progress: &Progress) -> Result<Vec<StoredItems>> {
        let store = |(plan, sorter): (IndexPlan, Sorter)| {
            progress.enter(format!("index {}", plan.name));
            part::store(Some(plan.name), &sorter.finish()?, pages, progress)
        };
        self.sorts.into_iter().map(store).collect()
    }

    /// Takes the entries of all indexes of `table` from parts.
    pub fn add_stored(&self, table: &str, parts: &Parts, progress: &Progress) -> Result<()> {
        self.sorts.iter().try_for_each(|(plan, sorter)| parts.sort_items(table, Some(&plan.name), sorter, progress))
    }

    /// Builds the trees of indexes that exist, in the order of the plans: each of the entries of its old tree and of the new ones.
    ///
    /// # Errors
    /// If two rows have one key of a unique index, an old tree is damaged, or a write fails.
    pub fn extend(
        self,
        old: &[IndexScan],
        pages: &mut Pages,
        threads: usize,
        progress: &Progress,
    ) -> Result<Vec<(String, IndexTree)>> {
        let mut trees = Vec::new();
        for ((plan, sorter), old) in self.sorts.into_iter().zip(old) {
            progress.enter(format!("index {}", plan.name));
            let tree = old_and_new::build(old, &sorter.finish()?, &plan, pages, threads, progress)?;
            trees.push((plan.name, tree));
        }
        Ok(trees)
    }
}
