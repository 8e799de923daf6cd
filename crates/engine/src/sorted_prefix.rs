//! A rowid table of which nobody knows whether its rows come in order: they are printed as if they did, until they do not.
//!
//! ```text
//! in order        | part 0 | part 1 | part 2 | part 3 |                   nothing else happens
//!
//! part 2 is not   | part 0 | part 1 |  sorted: 2, 3 and all behind
//!   all of it behind the prefix   | part 0 | part 1 | sorted |            appended
//!   else          prefix read back: a run that is sorted --+
//!                 sorted ----------------------------------+--> merged, printed over the prefix
//! ```
//!
//! Which parts are the prefix follows from the rows and the parts alone: so does the file. Where the prefix is printed over,
//! it is the file of a source that says that its rows are in any order.

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

/// Builds the b-tree of one table from all rows of `source`, and gives all records to `indexes`. Two rows with one rowid
/// are an error.
///
/// REQUIRES: pages that can be read.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    pages: &mut Pages,
    indexes: &Indexes,
    options: &SortOptions,
    progress: &Progress,
) -> Result<TableTree> {
    let (key, sorter, first_page) = (RowidKey::new(table, false), Sorter::new(options.clone()), pages.next());
    // The entries of all rows are cut when they first come.
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

/// Adds the rows of the unfinished `tree`, whose pages are those from `first_page` on.
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
