//! Estimates the size of a database, and the memory and disk of its build, from a sample of its rows.
//!
//! ```text
//! Source::sample --> records: bytes of pages                      the table
//!                    extracted index entries: bytes of pages      each index
//!                    sort items: memory, or temporary files       every sort
//! ```

use crate::evaluate::computed::{self, ComputedColumns};
use crate::evaluate::{Evaluator, RowEvaluation};
use crate::index::{ColumnLocator, IndexPlan};
use crate::options::{Options, Target};
use crate::sort::{ItemSample, SortOptions};
use crate::table::{RecordKey, RowKey, RowidKey, SortPlan, late_materialization, rtree};
use crate::{Conflict, Result, Schema, plan, resources, sqlite};
use litepress_format::header::TextEncoding;
use litepress_format::page::PageKind;
use litepress_format::payload::mean_page_bytes;
use litepress_rows::schema::{Index, RTree, TextContent};
use litepress_rows::{RecordChunk, Source, Table};
use std::collections::HashMap;
use std::path::PathBuf;

/// Approximate sizes of a database and of its build.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// All tables and indexes.
    pub trees: Vec<TreeEstimate>,
    /// Bytes of the file, without trees of unknown size.
    pub bytes: u64,
    /// Bytes of the file without rough sizes, for [`Options::expected_bytes`]: rough estimates must not fail the
    /// free-space check.
    pub certain_bytes: u64,
    /// Bytes of memory at the peak.
    pub memory_bytes: u64,
    /// Bytes of temporary files at the peak.
    pub spill_bytes: u64,
    /// Folder for temporary files.
    pub temp_dir: PathBuf,
}

/// Approximate sizes of a table or an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeEstimate {
    /// Name of the table or index.
    pub name: String,
    /// Bytes of the file; `None` if the size is unknown.
    pub bytes: Option<u64>,
    /// Whether SQLite makes it, so that its size is only rough.
    pub is_rough: bool,
    /// Bytes of memory that its build takes.
    pub memory_bytes: u64,
    /// Bytes of temporary files that its sort takes.
    pub spill_bytes: u64,
}

impl Estimate {
    /// Estimates a database with the rows of these sources. The number with each source is the position of its table
    /// in [`Schema::tables`].
    ///
    /// Cost: a sample of each source ([`Source::sample`]), some thousands of short rows if they are generated, and one
    /// sort item per sampled row and tree.
    ///
    /// # Errors
    /// If a source fails, or if [`Database::create`](crate::Database::create) would refuse the options.
    pub fn new(schema: &Schema, sources: &[(usize, &dyn Source)], target: &Target, options: &Options) -> Result<Self> {
        let options = resources::bounded(options)?;
        let page_bytes = resources::page_size(schema, &options)?.bytes();
        let temp_dir = resources::temp_dir(target, &options);
        let (mut estimate, mut sorts_bytes) = (Self { temp_dir, ..Self::default() }, 0);
        let by_table: HashMap<usize, &dyn Source> = sources.iter().copied().collect();
        for (position, table) in schema.tables.iter().enumerate() {
            let given = by_table.get(&position).copied();
            let is_computed =
                computed::is_needed(table) && plan::unsupported_reason(table, options.on_conflict).is_none();
            let whole = given.filter(|_| is_computed).map(|given| ComputedColumns::new(table, given)).transpose()?;
            let source = whole.as_ref().map(|whole| whole as &dyn Source).or(given);
            let sampler = Sampler { table, source, page_bytes, conflict: options.on_conflict };
            let trees = sampler.trees(|sorts| resources::sort_options(&options, &estimate.temp_dir, sorts))?;
            // The sorts of a table share the memory. Their files are deleted before the next table's sorts begin.
            let sorts = trees.iter().filter(|tree| !tree.is_rough).map(|tree| tree.memory_bytes).sum();
            let by_sqlite = trees.iter().filter(|tree| tree.is_rough).map(|tree| tree.memory_bytes).max();
            sorts_bytes = sorts_bytes.max(sorts).max(by_sqlite.unwrap_or(0));
            estimate.spill_bytes = estimate.spill_bytes.max(trees.iter().map(|tree| tree.spill_bytes).sum());
            estimate.trees.extend(trees);
        }
        let schema_bytes: usize =
            schema.objects.iter().map(|object| 60 + object.sql.as_ref().map_or(0, String::len)).sum();
        let own_pages = 1 + schema_bytes / page_bytes + usize::from(options.analyze);
        let bytes_of = |is_wanted: fn(&TreeEstimate) -> bool| {
            let known = estimate.trees.iter().filter(|tree| is_wanted(tree)).filter_map(|tree| tree.bytes);
            known.fold((own_pages * page_bytes) as u64, u64::saturating_add)
        };
        (estimate.bytes, estimate.certain_bytes) = (bytes_of(|_| true), bytes_of(|tree| !tree.is_rough));
        let pages_bytes = resources::pages_bytes(&options);
        estimate.memory_bytes = sorts_bytes + pages_bytes.min(estimate.bytes);
        for tree in estimate.trees.iter_mut().filter(|tree| !tree.is_rough) {
            tree.memory_bytes += pages_bytes.min(tree.bytes.unwrap_or(0));
        }
        Ok(estimate)
    }
}

/// A sampler of the rows of one table.
struct Sampler<'s> {
    table: &'s Table,
    source: Option<&'s dyn Source>,
    page_bytes: usize,
    conflict: Conflict,
}

/// Sums over rows.
#[derive(Debug, Default)]
struct Sums {
    rows: f64,
    /// Bytes of pages.
    page_bytes: f64,
    items: ItemSample,
    /// Whether all rows were looked at, so that few or no sums are right: those of a partial index.
    is_complete: bool,
}

impl Sums {
    fn add(&mut self, page_bytes: f64, item: &[u8]) {
        self.rows += 1.0;
        self.page_bytes += page_bytes;
        self.items.push(item);
    }
}

impl Sampler<'_> {
    /// Returns the estimates of the table and, behind it, of its indexes.
    fn trees(&self, sort_options: impl Fn(usize) -> SortOptions) -> Result<Vec<TreeEstimate>> {
        let mut trees = self.names();
        let Some(rows) = self.source.map_or(Some(0), Source::rows) else { return Ok(trees) };
        if let Some(tree) = self.table.rtree.filter(|_| !trees[0].is_rough) {
            self.estimate_rtree(tree, rows, &sort_options(rtree::SORTS), &mut trees[0]);
            return Ok(trees);
        }
        if self.table.is_virtual && !trees[0].is_rough {
            trees[0] = self.full_text(rows);
            return Ok(trees);
        }
        if trees[0].is_rough {
            // The records lack the values that SQLite computes. The sizes of its other trees are unknown.
            let page_bytes = self.source.map_or(0.0, |source| source.page_bytes());
            let bytes = || self.whole_pages(rows as f64 * page_bytes);
            trees[0].bytes = (!self.table.is_virtual).then(bytes);
            trees[0].memory_bytes = sqlite::MEMORY_BYTES;
            return Ok(trees);
        }
        let row_sorts = SortPlan::new(self.table, self.conflict, self.source).sorts();
        let is_sorted = |number: usize, tree: &TreeEstimate| !tree.is_rough && (number > 0 || row_sorts > 0);
        let sorts = row_sorts + trees[1..].iter().filter(|tree| !tree.is_rough).count();
        let sums = self.sums()?;
        let sampled = sums[0].rows;
        for ((number, tree), sums) in (0..).zip(&mut trees).zip(sums) {
            let page_bytes = rows as f64 / sampled.max(1.0) * sums.page_bytes;
            let is_known = sampled > 0.0 && (sums.rows > 0.0 || sums.is_complete) || rows == 0;
            tree.bytes = is_known.then(|| self.whole_pages(page_bytes));
            if is_sorted(number, tree) {
                let entries = whole(rows as f64 * sums.rows / sampled.max(1.0));
                let prospect = sums.items.prospect(entries, &sort_options(sorts));
                (tree.memory_bytes, tree.spill_bytes) = (prospect.memory, prospect.spilled);
            } else if tree.is_rough {
                tree.memory_bytes = sqlite::MEMORY_BYTES;
            }
        }
        Ok(trees)
    }

    /// Estimates an R-Tree without auxiliary columns: its nodes are full, and every row is sorted with its box.
    fn estimate_rtree(&self, RTree { layout, .. }: RTree, rows: u64, sort: &SortOptions, estimate: &mut TreeEstimate) {
        // Bytes of a sort item besides its box, of a node's cell, and of a row of the table of rowids.
        const KEY_BYTES: usize = 14;
        const CELL_BYTES: usize = 12;
        const ROWID_BYTES: f64 = 14.0;
        let node_bytes = layout.node_bytes(self.page_bytes);
        let nodes_per_page = self.page_bytes / (node_bytes + CELL_BYTES).min(self.page_bytes);
        let rows_per_page = (nodes_per_page * layout.capacity(node_bytes)) as f64;
        estimate.bytes = Some(self.whole_pages(rows as f64 * (self.page_bytes as f64 / rows_per_page + ROWID_BYTES)));
        let mut items = ItemSample::default();
        items.push(&vec![0; KEY_BYTES + layout.bounds_bytes()]);
        let prospect = items.prospect(rows, sort);
        (estimate.memory_bytes, estimate.spill_bytes) = (2 * prospect.memory, 2 * prospect.spilled);
    }

    /// Returns the estimate of a full-text table with all of its shadow tables.
    fn full_text(&self, rows: u64) -> TreeEstimate {
        let name = self.table.name.clone();
        let of_source = |source: &dyn Source| {
            // An index takes about two fifths of its texts.
            let keeps_texts = self
                .table
                .full_text
                .iter()
                .any(|table| matches!(table.content, TextContent::Own | TextContent::Copied(..)));
            let share = if keeps_texts { 1.4 } else { 0.4 };
            self.whole_pages(rows as f64 * source.page_bytes() * share)
        };
        let bytes = self.source.map(of_source);
        let memory_bytes = sqlite::MEMORY_BYTES;
        TreeEstimate { name, bytes, is_rough: true, memory_bytes, ..TreeEstimate::default() }
    }

    /// Returns the trees without sizes: only their names, and whether SQLite makes them.
    fn names(&self) -> Vec<TreeEstimate> {
        let written = plan::indexes(self.table);
        let tree = |name: &str, is_rough| TreeEstimate { name: name.to_owned(), is_rough, ..TreeEstimate::default() };
        let mut trees = vec![tree(&self.table.name, plan::unsupported_reason(self.table, self.conflict).is_some())];
        trees.extend(plan::own_indexes(self.table).map(|index| {
            let is_written = written.iter().any(|plan| plan.name == index.name);
            tree(&index.name, !is_written)
        }));
        trees
    }

    /// Returns the sums over a sample: for the table, and for each index whose values are in the records.
    fn sums(&self) -> Result<Vec<Sums>> {
        let plans: Vec<Option<IndexPlan>> =
            plan::own_indexes(self.table).map(|index| whole_index(self.table, index)).collect();
        let mut sums: Vec<Sums> = (0..=plans.len()).map(|_| Sums::default()).collect();
        let Some(source) = self.source else { return Ok(sums) };
        let primary = self.table.primary_index().filter(|_| self.table.without_rowid);
        let kind = if primary.is_some() { PageKind::LeafIndex } else { PageKind::LeafTable };
        let mut locator = ColumnLocator::default();
        let (by_rowid, by_key) =
            (RowidKey::new(self.table, false), primary.map(|primary| RecordKey::new(self.table, primary)));
        let by_key = by_key.transpose()?;
        let has_indexes = !plan::indexes(self.table).is_empty();
        let numbered =
            by_key.as_ref().map(|key| late_materialization::rows(source, key, has_indexes)).transpose()?.flatten();
        let mut push_item = |chunk: &RecordChunk, row, item: &mut Vec<u8>| match (&by_key, numbered) {
            (Some(key), Some(rows)) => {
                key.set_key(&mut locator, chunk, row, item)?;
                let number = chunk.first_record() + row as u64;
                late_materialization::push_number(number, late_materialization::number_bytes(&rows.numbers()), item);
                Ok(())
            }
            (Some(key), None) => key.push_item(&mut locator, chunk, row, item),
            (None, _) => by_rowid.push_item(&mut locator, chunk, row, item),
        };
        let page_bytes =
            |kind, record: &[u8], rowid| mean_page_bytes(kind, self.page_bytes, record.len() as u64, rowid);
        let (mut item, mut entry) = (Vec::new(), Vec::new());
        let mut add = |chunk: &RecordChunk| -> Result<()> {
            for (row, &rowid) in chunk.rowids().iter().enumerate() {
                let record = chunk.record(row);
                item.clear();
                push_item(chunk, row, &mut item)?;
                sums[0].add(page_bytes(kind, record, rowid), &item);
                for (plan, sums) in plans.iter().zip(&mut sums[1..]) {
                    let Some(plan) = plan else { continue };
                    plan.entry(record, rowid, &mut item, &mut entry)?;
                    sums.add(page_bytes(PageKind::LeafIndex, &entry, rowid), &item);
                }
            }
            Ok(())
        };
        let mut added = Ok(());
        source.sample(&mut |chunk: &RecordChunk| {
            if added.is_ok() {
                added = add(chunk);
            }
        })?;
        added?;
        self.add_evaluated(&mut sums)?;
        Ok(sums)
    }

    /// Adds the sums over a sample for indexes whose entries SQLite evaluates. A sample that it cannot evaluate adds nothing: the
    /// build will say why.
    fn add_evaluated(&self, sums: &mut [Sums]) -> Result<()> {
        let plan_of = |index: &Index| IndexPlan::evaluated(self.table, index).ok().filter(is_evaluated);
        let plans: Vec<(usize, IndexPlan)> = (1..)
            .zip(plan::own_indexes(self.table))
            .filter_map(|(number, index)| Some((number, plan_of(index)?)))
            .collect();
        let indexes: Vec<&Index> = plans.iter().filter_map(|(_, plan)| plan.evaluated_index()).collect();
        let evaluation = if indexes.is_empty() {
            None
        } else {
            RowEvaluation::new(self.table, &indexes, false, TextEncoding::Utf8)?
        };
        let (Some(evaluation), Some(source)) = (evaluation, self.source) else { return Ok(()) };
        let (mut item, mut entry) = (Vec::new(), Vec::new());
        let mut take = |index: usize, entries: &RecordChunk| -> Result<()> {
            let (number, plan) = &plans[index];
            for (row, &rowid) in entries.rowids().iter().enumerate() {
                plan.entry(entries.record(row), rowid, &mut item, &mut entry)?;
                let bytes = mean_page_bytes(PageKind::LeafIndex, self.page_bytes, entry.len() as u64, rowid);
                sums[*number].add(bytes, &item);
            }
            Ok(())
        };
        let (mut evaluator, mut evaluated) = (Evaluator::new(&evaluation), Ok(()));
        source.sample(&mut |chunk: &RecordChunk| {
            if evaluated.is_ok() {
                evaluated = evaluator.add(chunk, &mut take);
            }
        })?;
        let is_complete = evaluated.and_then(|()| evaluator.evaluate(&mut take)).is_ok();
        plans.iter().for_each(|(number, _)| sums[*number].is_complete = is_complete);
        Ok(())
    }

    /// Returns the bytes of a tree whose leaves take `bytes`, in whole pages, with the pages above the leaves.
    fn whole_pages(&self, bytes: f64) -> u64 {
        let page = self.page_bytes as u64;
        let leaves = whole((bytes / page as f64).ceil()).max(1);
        // A leaf takes about 12 bytes of a page above it.
        let above = if leaves > 1 { leaves.div_ceil(page / 12) } else { 0 };
        leaves.saturating_add(above).saturating_mul(page)
    }
}

/// Returns the plan of the index over all rows, which is the upper limit of a partial one. Returns `None` if the
/// index's values are not in the records.
fn whole_index(table: &Table, index: &Index) -> Option<IndexPlan> {
    if IndexPlan::evaluated(table, index).is_ok_and(|plan| is_evaluated(&plan)) {
        return None;
    }
    let mut whole = index.clone();
    whole.partial = false;
    IndexPlan::new(table, &whole).ok()
}

fn is_evaluated(plan: &IndexPlan) -> bool {
    plan.evaluated_index().is_some()
}

fn whole(bytes: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
    #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
    let whole = bytes as u64;
    whole
}
