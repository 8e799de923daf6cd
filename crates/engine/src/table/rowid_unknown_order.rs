//! Builds a rowid table whose rows may be out of order: rows are appended optimistically, until one is out of order.
//!
//! ```text
//! in order        | part 0 | part 1 | part 2 | part 3 |                   nothing else happens
//!
//! part 2 is not   | part 0 | part 1 |  sorted: 2, 3 and all later ones
//!   all unsorted rows behind the prefix   | part 0 | part 1 | sorted |    appended
//!   else                                  prefix read back: a run that is sorted --+
//!                                         sorted ----------------------------------+--> merged, written over the prefix
//! ```
//!
//! The rows and parts alone decide where the prefix ends, and so the bytes of the file. If the prefix is overwritten,
//! the file is that of a source that announces no order.

use super::append::{UnsortedRows, append};
use super::context::{BuildContext, TableTree};
use super::row_key::RowidKey;
use super::rowid::{self, RowidLayout, RowidTree};
use super::sorted_rows::{ItemMaker, SortedRows};
use crate::index::Indexes;
use crate::pages::Pages;
use crate::progress::Progress;
use crate::sort::{SortOptions, Sorter};
use crate::tree::input_positions::InputPositions;
use crate::tree::table_reader::TableReader;
use crate::{Conflict, Result};
use litepress_rows::{Part, RecordChunk, Source, Table};

/// Builds the b-tree of one table from all rows of `source`, and passes all records to the indexes. Two rows with the
/// same rowid are an error.
///
/// REQUIRES: pages that can be read back.
pub(crate) fn build(
    table: &Table,
    source: &dyn Source,
    pages: &mut Pages,
    options: &SortOptions,
    context: BuildContext<'_>,
) -> Result<TableTree> {
    let (key, sorter, first_page) = (RowidKey::new(table, false), Sorter::new(options.clone()), pages.next());
    let (usable, unsorted) = (pages.page_size().bytes(), UnsortedRows { key: &key, sorter: &sorter });
    let mut prefix = RowidTree::new(pages);
    let layout = RowidLayout { usable, must_ascend: false };
    let Some(smallest) = append(source, &layout, &mut prefix, Some(unsorted), context)? else {
        return prefix.finish();
    };
    // The index entries of all rows are extracted by now.
    let no_indexes = Indexes::default();
    let context = BuildContext { indexes: &no_indexes, ..context };
    if prefix.tree.rows == 0 || smallest > prefix.tree.last_rowid {
        let rows = SortedRows::new(key, sorter.finish()?, Conflict::Abort);
        append(&rows, &RowidLayout { usable, must_ascend: true }, &mut prefix, None, context)?;
        return prefix.finish();
    }
    let RowidTree { tree, positions, .. } = prefix;
    read_back(&tree, positions, pages, first_page, unsorted, context.progress)?;
    pages.rewind_to(first_page);
    let rows = SortedRows::new(key, sorter.finish()?, Conflict::Abort);
    rowid::build(&rows, pages, context)
}

/// Adds the rows of the unfinished `tree`, whose pages begin at `first_page`, to the sorter as one sorted run.
fn read_back(
    tree: &TableTree,
    positions: InputPositions,
    pages: &Pages,
    first_page: u32,
    unsorted: UnsortedRows<'_, RowidKey>,
    progress: &Progress,
) -> Result<()> {
    let mut prefix = TableReader::new(pages.written_from(first_page)?, pages.page_size().bytes(), tree.rows, positions);
    let item_bytes = tree.payload_bytes + tree.rows * RowidKey::MAX_KEY_BYTES;
    let mut writer = unsorted.sorter.ordered_writer(tree.rows, item_bytes)?;
    let (mut chunk, mut items) = (RecordChunk::new(), ItemMaker::new(unsorted.key));
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
