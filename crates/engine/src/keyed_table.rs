//! WITHOUT ROWID tables: rows are sorted by their primary key, and are the entries of the table's tree.
//!
//! ```text
//! Source -> RecordChunk --+--> sort items of the rows --Sorter--> sorted_tree: pages of the table
//!                         +--> sort items of its indexes (index.rs)
//! ```

use crate::index::Indexes;
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{ItemWithSlack, SortOptions, Sorter};
use crate::sorted_rows::{RecordKey, RowKey, gather};
use crate::sorted_tree::{self, Items, SortedTree};
use crate::table::TableTree;
use crate::tree::index::{IndexBuilder, IndexPart};
use crate::{Error, Result};
use litepress_format::order::KeyPart;
use litepress_rows::{Source, Table};

/// Builds the b-tree of a WITHOUT ROWID table whose rows come in any order, and gives all records to `indexes`.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    pages: &mut Pages,
    indexes: &Indexes,
    sort_options: &SortOptions,
    counts_keys: bool,
    progress: &Progress,
) -> Result<TableTree> {
    let threads = sort_options.writers;
    let sorter = Sorter::new(sort_options.clone());
    let rows = RecordKey::new(table, table.primary_index().expect("a WITHOUT ROWID table has a primary key"))?;
    gather(source, &rows, &sorter, indexes, threads, progress)?;
    progress.enter(format!("table {}", table.name));
    let SortedTree { root, entries, payload_bytes, distinct } =
        sorted_tree::build(&sorter.finish()?, &rows, pages, threads, counts_keys, progress)?;
    Ok(TableTree { root, rows: entries, last_rowid: 0, payload_bytes, distinct })
}

impl Items for RecordKey {
    type Builder = IndexBuilder;

    fn begin(&self, run: PageRun, usable: usize) -> IndexBuilder {
        IndexBuilder::new(run, usable)
    }

    fn add(&self, builder: &mut IndexBuilder, item: ItemWithSlack<'_>) -> Result<()> {
        let item = item.item();
        builder.add(self.record(item)?);
        Ok(())
    }

    fn finish(&self, builder: IndexBuilder, is_last: bool) -> IndexPart {
        builder.finish(is_last)
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
