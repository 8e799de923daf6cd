//! WITHOUT ROWID tables: rows in the order of their primary key are the entries of the table's tree.
//!
//! ```text
//! in order     Source -> RecordChunk --+--> keyed_parts: pages of the table
//!                                      +--> sort items of its indexes (index.rs)
//!
//! else         Source -> RecordChunk --+--> sort items of the rows --Sorter--> bulk_load: pages of the table
//!                                      +--> sort items of its indexes
//!
//! regenerated  numbered_table: keys are sorted, and rows are made again in key order
//! ```
//!
//! If a source may be in order, its rows are appended as if they were. If one is out of order, its part and all later
//! ones are sorted. The pages so far are read back, sorted with them, and overwritten. The file is that of a source
//! that announces no order.

use crate::bulk_load::{self, IndexTree, ItemKind};
use crate::index::Indexes;
use crate::keyed_parts::{self, PartContext, PartialTree};
use crate::numbered_table::{self, LateMaterializedTable};
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{PaddedItem, SortOptions, Sorter};
use crate::sorted_rows::{RecordKey, RowKey, gather};
use crate::table::TableTree;
use crate::tree::index::{IndexBuilder, IndexPart};
use crate::{Error, Result};
use litepress_format::sort_key::KeyPart;
use litepress_rows::{Source, Table};

/// The context of a table's build.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The indexes, which get all records.
    pub indexes: &'a Indexes,
    /// Whether distinct keys are counted.
    pub counts_keys: bool,
    pub progress: &'a Progress,
}

/// Builds the b-tree of a WITHOUT ROWID table whose rows come in any order. `may_ascend` says that they may come in
/// key order; this requires that pages can be read back.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    pages: &mut Pages,
    may_ascend: bool,
    sort_options: &SortOptions,
    wanted: Wanted<'_>,
) -> Result<TableTree> {
    let Wanted { indexes, counts_keys, progress } = wanted;
    let threads = sort_options.writers;
    let sorter = Sorter::new(sort_options.clone());
    let key = RecordKey::new(table, table.primary_index().expect("a WITHOUT ROWID table has a primary key"))?;
    if let Some(rows) = numbered_table::rows(source, &key, !indexes.is_empty())? {
        let table = LateMaterializedTable::new(table, &key, rows, source.page_bytes());
        return table.build(pages, sort_options, counts_keys, progress);
    }
    if may_ascend {
        let counted = if counts_keys { key.parts() } else { &[] };
        let context = PartContext { key: &key, counted, unsorted: &sorter, indexes, progress };
        let first_page = pages.next();
        let mut placed = PartialTree::new(pages, counted);
        let has_unsorted = keyed_parts::print(source, &mut placed, context, threads)?;
        let (tree, positions) = placed.finish()?;
        if !has_unsorted {
            return Ok(tree);
        }
        keyed_parts::sort_tree(pages, &tree, &positions, context)?;
        pages.rewind_to(first_page);
    } else {
        gather(source, &key, &sorter, indexes, threads, progress)?;
    }
    progress.enter(format!("table {}", table.name));
    let tree = bulk_load::build(&sorter.finish()?, &key, pages, threads, counts_keys, progress)?;
    Ok(tree.into())
}

impl From<IndexTree> for TableTree {
    /// Converts the tree of a table without rowids.
    fn from(IndexTree { root, entries, payload_bytes, distinct }: IndexTree) -> Self {
        Self { root, rows: entries, last_rowid: 0, payload_bytes, distinct }
    }
}

impl ItemKind for RecordKey {
    type Builder = IndexBuilder;

    fn begin(&self, run: PageRun, usable: usize) -> IndexBuilder {
        IndexBuilder::new(run, usable)
    }

    fn add(&self, builder: &mut IndexBuilder, item: PaddedItem<'_>) -> Result<()> {
        let item = item.item();
        builder.add(self.record(item)?);
        Ok(())
    }

    fn finish(&self, builder: IndexBuilder, is_last: bool) -> Result<IndexPart> {
        Ok(builder.finish(is_last))
    }

    fn is_unique(&self) -> bool {
        true
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        self.key_len(item).map(Some)
    }

    fn kept_len(&self, item: &[u8]) -> usize {
        self.key_and_position_len(item)
    }

    fn key_parts(&self) -> &[KeyPart] {
        self.parts()
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        RowKey::conflict(self, first, second)
    }
}
