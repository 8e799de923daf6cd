//! Builds a rowid table whose source may be out of order: rows are appended optimistically, until one is out of order.
//!
//! ```text
//! in order        | part 0 | part 1 | part 2 | part 3 |                   nothing else happens
//!
//! part 2 is not   | part 0 | part 1 |  sorted: 2, 3 and all later ones
//!   all of it behind the prefix   | part 0 | part 1 | sorted |            appended
//!   else          prefix read back: a run that is sorted --+
//!                 sorted ----------------------------------+--> merged, written over the prefix
//! ```
//!
//! The rows and parts alone decide where the prefix ends, and so the bytes of the file. If the prefix is overwritten,
//! the file is that of a source that announces no order.

use crate::index::Indexes;
use crate::pages::Pages;
use crate::printed_rows::PrintedRows;
use crate::progress::Progress;
use crate::sort::{SortOptions, Sorter};
use crate::sorted_rows::{ItemMaker, RowidKey, SortedRows};
use crate::table::{self, Placed, Rest, TableTree};
use crate::tree::positions::Positions;
use crate::{Conflict, Result};
use litepress_rows::{Part, RecordChunk, Source, Table};

/// Builds the b-tree of one table from all rows of `source`, and passes all records to `indexes`. Two rows with the
/// same rowid are an error.
///
/// REQUIRES: pages that can be read back.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    pages: &mut Pages,
    indexes: &Indexes,
    options: &SortOptions,
    progress: &Progress,
) -> Result<TableTree> {
    let (key, sorter, first_page) = (RowidKey::new(table, false), Sorter::new(options.clone()), pages.next());
    // The first pass extracts the index entries of all rows.
    let (threads, no_indexes) = (options.writers, Indexes::default());
    let mut placed = Placed::new(pages);
    let rest = Rest { key: &key, sorter: &sorter };
    let Some(smallest) = table::print(source, &mut placed, indexes, Some(rest), threads, progress)? else {
        return placed.finish();
    };
    if placed.tree.rows == 0 || smallest > placed.tree.last_rowid {
        let rows = SortedRows::new(key, sorter.finish()?, Conflict::Abort);
        table::print(&rows, &mut placed, &no_indexes, None, threads, progress)?;
        return placed.finish();
    }
    let Placed { tree, positions, .. } = placed;
    read_back(&tree, positions, pages, first_page, rest, progress)?;
    pages.rewind_to(first_page);
    let rows = SortedRows::new(key, sorter.finish()?, Conflict::Abort);
    table::build(&rows, pages, &no_indexes, threads, progress)
}

/// Adds the rows of the unfinished `tree`, whose pages begin at `first_page`, to the sorter as one sorted run.
fn read_back(
    tree: &TableTree,
    positions: Positions,
    pages: &Pages,
    first_page: u32,
    rest: Rest<'_>,
    progress: &Progress,
) -> Result<()> {
    let mut prefix = PrintedRows::new(pages.written_from(first_page)?, pages.page_size().bytes(), tree.rows, positions);
    let mut writer = rest.sorter.ordered_writer(tree.rows, tree.payload_bytes + tree.rows * RowidKey::MAX_KEY_BYTES)?;
    let (mut chunk, mut items) = (RecordChunk::new(), ItemMaker::new(rest.key));
    loop {
        progress.go_on()?;
        chunk.clear();
        prefix.fill(&mut chunk)?;
        if chunk.is_empty() {
            return writer.finish();
        }
        items.each(&chunk, |item| writer.push(item))?;
    }
}
