//! Entries of an index, or rows of a WITHOUT ROWID table, that come in the order of their tree.
//!
//! Their order is not checked: it may be that of a collation which this program does not have.

use super::append::{PartLayout, PartialTree, append};
use super::context::{BuildContext, TableTree};
use super::row_key::RowidKey;
use crate::Result;
use crate::pages::{PageRun, Pages};
use crate::tree::entry_tree::{EntryCounts, EntryTree};
use crate::tree::index_leaf::IndexBuilder;
use crate::tree::index_reader;
use litepress_rows::{RecordChunk, Source};

/// Builds a tree of index pages from all records of `source`. REQUIRES: they come in the order of their tree.
pub(crate) fn build(source: &dyn Source, pages: &mut Pages, context: BuildContext<'_>) -> Result<TableTree> {
    let layout = EntryLayout { usable: pages.page_size().bytes() };
    let mut tree = OrderedEntries { tree: EntryTree::new(pages) };
    append(source, &layout, &mut tree, None, context)?;
    let (EntryCounts { entries, payload_bytes }, root) = tree.tree.finish()?;
    Ok(TableTree { root, rows: entries, payload_bytes, ..TableTree::default() })
}

/// Leaf pages of entries.
struct EntryLayout {
    usable: usize,
}

impl PartLayout for EntryLayout {
    type Key = RowidKey;
    type Builder = IndexBuilder;
    type Part = IndexBuilder;

    fn begin(&self, run: PageRun) -> IndexBuilder {
        IndexBuilder::new(run, self.usable)
    }

    fn add(&self, builder: &mut IndexBuilder, chunk: &RecordChunk) -> Result<usize> {
        (0..chunk.len()).for_each(|row| builder.add(chunk.record(row)));
        Ok(chunk.len())
    }

    fn bytes(&self, builder: &IndexBuilder) -> usize {
        builder.run().bytes()
    }

    fn finish(&self, builder: IndexBuilder) -> IndexBuilder {
        builder
    }

    fn read_back(&self, part: IndexBuilder, mut take: impl FnMut(&RecordChunk) -> Result<()>) -> Result<()> {
        let mut chunk = RecordChunk::new();
        index_reader::of_part(part.finish(true), self.usable, |record| {
            chunk.clear();
            chunk.push(0, record);
            take(&chunk)
        })
    }
}

/// The parts placed so far.
struct OrderedEntries<'p> {
    tree: EntryTree<'p>,
}

impl PartialTree for OrderedEntries<'_> {
    type Part = IndexBuilder;

    fn pages(&self) -> &Pages {
        self.tree.pages()
    }

    fn continues_with(&self, _: &IndexBuilder) -> bool {
        true
    }

    fn place(&mut self, part: IndexBuilder) -> Result<()> {
        self.tree.place(part)
    }
}
