//! WITHOUT ROWID tables: rows in the order of their primary key are the entries of the table's tree.
//!
//! ```text
//! in order     Source -> RecordChunk --+--> keyed_parts: pages of the table
//!                                      +--> sort items of its indexes (index.rs)
//!
//! else         Source -> RecordChunk --+--> sort items of the rows --Sorter--> sorted_tree: pages of the table
//!                                      +--> sort items of its indexes
//!
//! numbered     numbered_table: keys are sorted, and rows are made again in their order
//! ```
//!
//! Of a source that may be in order, rows are printed as if they were. Where one turns out not to follow the one before,
//! that part and all behind it are sorted, what was printed is read back to be sorted with them, and the tree is printed
//! over it: the file is that of a source that says that its rows are in any order.

use crate::index::Indexes;
use crate::keyed_parts::{self, Placed, Printing};
use crate::numbered_table;
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{ItemWithSlack, SortOptions, Sorter};
use crate::sorted_rows::{RecordKey, RowKey, gather};
use crate::sorted_tree::{self, Items, SortedTree};
use crate::table::TableTree;
use crate::tree::index::{IndexBuilder, IndexPart};
use crate::{Error, Result};
use litepress_format::sort_key::KeyPart;
use litepress_rows::{Source, Table};

/// What is wanted of the table beside its rows.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// They get all records.
    pub indexes: &'a Indexes,
    /// Distinct keys are counted.
    pub counts_keys: bool,
    pub progress: &'a Progress,
}

/// Builds the b-tree of a WITHOUT ROWID table whose rows come in any order; `may_ascend` where they may be in that of
/// their key, which takes pages that can be read.
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
    if let Some(rows) = numbered_table::rows(source, &key, !indexes.are_none())? {
        return numbered_table::build(table, &key, source, rows, pages, sort_options, wanted);
    }
    if may_ascend {
        let counted = if counts_keys { key.parts() } else { &[] };
        let printing = Printing { key: &key, counted, rest: &sorter, indexes, progress };
        let first_page = pages.next();
        let mut placed = Placed::new(pages, counted);
        let has_rest = keyed_parts::print(source, &mut placed, printing, threads)?;
        let (tree, positions) = placed.finish()?;
        if !has_rest {
            return Ok(tree);
        }
        keyed_parts::sort_tree(pages, &tree, &positions, printing)?;
        pages.take_back(first_page);
    } else {
        gather(source, &key, &sorter, indexes, threads, progress)?;
    }
    progress.enter(format!("table {}", table.name));
    let tree = sorted_tree::build(&sorter.finish()?, &key, pages, threads, counts_keys, progress)?;
    Ok(tree.into())
}

impl From<SortedTree> for TableTree {
    /// That of a table without rowids.
    fn from(SortedTree { root, entries, payload_bytes, distinct }: SortedTree) -> Self {
        Self { root, rows: entries, last_rowid: 0, payload_bytes, distinct }
    }
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
