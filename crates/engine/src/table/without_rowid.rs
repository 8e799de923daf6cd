//! WITHOUT ROWID tables: rows in the order of their primary key are the entries of the table's tree.
//!
//! ```text
//! in order     Source -> RecordChunk --+--> parts: pages of the table
//!                                      +--> sort items of its indexes
//!
//! else         Source -> RecordChunk --+--> sort items of the rows --Sorter--> bulk_load: pages of the table
//!                                      +--> sort items of its indexes
//!
//! regenerated  late_materialization: keys are sorted, and rows are made again in key order
//! ```
//!
//! If a source may be in order, its rows are appended as if they were. If one is out of order, its part and all later
//! ones are sorted. The pages so far are read back, sorted with them, and overwritten. The file is that of a source
//! that announces no order.

pub(crate) mod late_materialization;
mod parts;

use super::append::{UnsortedRows, append};
use super::context::{BuildContext, TableTree};
use super::row_key::{RecordKey, RowKey};
use super::sorted_rows::gather;
use crate::pages::{PageRun, Pages};
use crate::sort::{PaddedItem, SortOptions, Sorter};
use crate::tree::bulk_load::{self, ItemKind};
use crate::tree::index_leaf::{IndexBuilder, IndexPart};
use crate::{Error, Result};
use late_materialization::LateMaterializedTable;
use litepress_format::sort_key::KeyPart;
use litepress_rows::{Source, Table};
use parts::{KeyedLayout, KeyedTree};

/// Builds the b-tree of a WITHOUT ROWID table whose rows come in any order. `may_ascend` says that they may come in
/// key order; this requires that pages can be read back.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    pages: &mut Pages,
    may_ascend: bool,
    options: &SortOptions,
    context: BuildContext<'_>,
) -> Result<TableTree> {
    let BuildContext { indexes, threads, counts_keys, progress } = context;
    let sorter = Sorter::new(options.clone());
    let key = RecordKey::new(table, table.primary_index().expect("a WITHOUT ROWID table has a primary key"))?;
    if let Some(rows) = late_materialization::rows(source, &key, !indexes.is_empty())? {
        let table = LateMaterializedTable::new(table, &key, rows, source.page_bytes());
        return table.build(pages, options, counts_keys, progress);
    }
    if may_ascend {
        let counted = if counts_keys { key.parts() } else { &[] };
        let (layout, unsorted) = (KeyedLayout::new(&key, counted, pages), UnsortedRows { key: &key, sorter: &sorter });
        let first_page = pages.next();
        let mut prefix = KeyedTree::new(pages, counted);
        let smallest_unsorted = append(source, &layout, &mut prefix, Some(unsorted), context)?;
        let (tree, positions) = prefix.finish()?;
        if smallest_unsorted.is_none() {
            return Ok(tree);
        }
        parts::sort_tree(pages, &tree, &positions, unsorted, progress)?;
        pages.rewind_to(first_page);
    } else {
        gather(source, &key, &sorter, context)?;
    }
    progress.enter_step(format!("table {}", table.name));
    let tree = bulk_load::build(&sorter.finish()?, &key, pages, threads, counts_keys, progress)?;
    Ok(tree.into())
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
