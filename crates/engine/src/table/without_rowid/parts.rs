//! The parts of a WITHOUT ROWID table whose rows may come in key order.
//!
//! ```text
//! worker      rows of a part -> IndexBuilder, which stays open
//! assembler   KeyedTree: checks that a part follows the one before, and passes it to EntryTree
//! ```

use crate::Result;
use crate::index::ColumnLocator;
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::table::append::{PartLayout, PartialTree, UnsortedRows, UnsortedWriter};
use crate::table::context::TableTree;
use crate::table::row_key::RecordKey;
use crate::tree::entry_tree::{EntryCounts, EntryTree};
use crate::tree::index_leaf::IndexBuilder;
use crate::tree::index_reader;
use crate::tree::input_positions::InputPositions;
use crate::tree::key_counter::{KeyCounter, distinct_keys};
use litepress_format::sort_key::KeyPart;
use litepress_rows::RecordChunk;

/// Leaf pages of a WITHOUT ROWID table.
pub(super) struct KeyedLayout<'k> {
    key: &'k RecordKey,
    /// The key columns whose distinct values are counted.
    counted: &'k [KeyPart],
    usable: usize,
}

impl<'k> KeyedLayout<'k> {
    pub fn new(key: &'k RecordKey, counted: &'k [KeyPart], pages: &Pages) -> Self {
        Self { key, counted, usable: pages.page_size().bytes() }
    }
}

impl<'k> PartLayout for KeyedLayout<'k> {
    type Key = RecordKey;
    type Builder = PartBuilder<'k>;
    type Part = KeyedPart<'k>;

    fn begin(&self, run: PageRun) -> PartBuilder<'k> {
        let part = KeyedPart {
            leaves: IndexBuilder::new(run, self.usable),
            first_key: Vec::new(),
            last_key: Vec::new(),
            positions: InputPositions::default(),
            counter: KeyCounter::new(self.counted),
        };
        PartBuilder { part, key: self.key, locator: ColumnLocator::default(), next_key: Vec::new() }
    }

    fn add(&self, builder: &mut PartBuilder<'k>, chunk: &RecordChunk) -> Result<usize> {
        builder.add(chunk)
    }

    fn bytes(&self, builder: &PartBuilder<'k>) -> usize {
        builder.part.leaves.run().bytes()
    }

    fn finish(&self, builder: PartBuilder<'k>) -> KeyedPart<'k> {
        builder.part
    }

    fn read_back(&self, part: KeyedPart<'k>, mut take: impl FnMut(&RecordChunk) -> Result<()>) -> Result<()> {
        let mut row = SingleRow::new(&part.positions);
        index_reader::of_part(part.leaves.finish(true), self.usable, |record| take(row.next(record)))
    }
}

/// The row that is read back, as a chunk.
struct SingleRow<'p> {
    positions: &'p InputPositions,
    next: u64,
    chunk: RecordChunk,
}

impl<'p> SingleRow<'p> {
    fn new(positions: &'p InputPositions) -> Self {
        Self { positions, next: 0, chunk: RecordChunk::new() }
    }

    /// Returns a chunk of the tree's next row, which has this record.
    fn next(&mut self, record: &[u8]) -> &RecordChunk {
        self.chunk.clear();
        self.chunk.set_first_record(self.positions.locate(self.next).0);
        // The rowid is not used.
        self.chunk.push(0, record);
        self.next += 1;
        &self.chunk
    }
}

/// A part of the table, whose last leaf is still open.
pub(super) struct KeyedPart<'k> {
    leaves: IndexBuilder,
    /// Encoded.
    first_key: Vec<u8>,
    last_key: Vec<u8>,
    positions: InputPositions,
    /// Counts all keys but the first.
    counter: KeyCounter<'k>,
}

/// Builds one part.
pub(super) struct PartBuilder<'k> {
    part: KeyedPart<'k>,
    key: &'k RecordKey,
    locator: ColumnLocator,
    /// The key of the current row.
    next_key: Vec<u8>,
}

impl PartBuilder<'_> {
    /// Adds the rows of `chunk` up to the first one out of order. Returns how many.
    fn add(&mut self, chunk: &RecordChunk) -> Result<usize> {
        let Self { part: KeyedPart { leaves, first_key, last_key, positions, counter }, key, locator, next_key } = self;
        positions.add(leaves.entries(), chunk.first_record());
        for row in 0..chunk.len() {
            key.set_key(locator, chunk, row, next_key)?;
            if leaves.entries() == 0 {
                first_key.clone_from(next_key);
            } else if next_key <= last_key {
                return Ok(row);
            } else if counter.counts() {
                counter.add(last_key, next_key)?;
            }
            leaves.add(chunk.record(row));
            std::mem::swap(last_key, next_key);
        }
        Ok(chunk.len())
    }
}

/// A WITHOUT ROWID table's tree and the parts placed so far.
pub(super) struct KeyedTree<'p, 'k> {
    entries: EntryTree<'p>,
    /// The finished tree, without the root and the counts.
    tree: TableTree,
    last_key: Vec<u8>,
    positions: InputPositions,
    counter: KeyCounter<'k>,
}

impl<'p, 'k> KeyedTree<'p, 'k> {
    pub fn new(pages: &'p mut Pages, counted: &'k [KeyPart]) -> Self {
        Self {
            entries: EntryTree::new(pages),
            tree: TableTree::default(),
            last_key: Vec::new(),
            positions: InputPositions::default(),
            counter: KeyCounter::new(counted),
        }
    }

    /// Completes the tree. Also returns the positions of its rows in their input.
    pub fn finish(self) -> Result<(TableTree, InputPositions)> {
        let (EntryCounts { payload_bytes, .. }, root) = self.entries.finish()?;
        let distinct = distinct_keys(&self.counter.changes);
        Ok((TableTree { root, distinct, payload_bytes, ..self.tree }, self.positions))
    }
}

impl<'k> PartialTree for KeyedTree<'_, 'k> {
    type Part = KeyedPart<'k>;

    fn pages(&self) -> &Pages {
        self.entries.pages()
    }

    fn continues_with(&self, part: &KeyedPart<'k>) -> bool {
        self.tree.rows == 0 || part.leaves.entries() == 0 || part.first_key > self.last_key
    }

    fn place(&mut self, part: KeyedPart<'k>) -> Result<()> {
        if part.leaves.entries() == 0 {
            return Ok(());
        }
        if self.counter.counts() {
            self.counter.add(&self.last_key, &part.first_key)?;
            self.counter.changes.iter_mut().zip(part.counter.changes).for_each(|(sum, changes)| *sum += changes);
        }
        self.positions.append(self.tree.rows, &part.positions);
        self.tree.rows += part.leaves.entries();
        self.last_key = part.last_key;
        self.entries.place(part.leaves)
    }
}

/// Passes all rows of a tree to the sorter. REQUIRES: all pages are written.
pub(super) fn sort_tree(
    pages: &Pages,
    tree: &TableTree,
    positions: &InputPositions,
    unsorted: UnsortedRows<'_, RecordKey>,
    progress: &Progress,
) -> Result<()> {
    let (mut writer, mut row) = (UnsortedWriter::new(unsorted), SingleRow::new(positions));
    index_reader::of_tree(pages, tree.root, |record| {
        progress.go_on()?;
        writer.add(row.next(record), 0)
    })?;
    assert_eq!(row.next, tree.rows, "as many rows are read back as were written");
    writer.finish().map(drop)
}
