//! Rowid tables: rows in the order of their rowids become the leaf pages of the table's tree.

use super::append::{PartLayout, PartialTree, append};
use super::context::{BuildContext, TableTree};
use super::one_chunk::OneChunk;
use super::row_key::RowidKey;
use crate::Result;
use crate::index::Indexes;
use crate::pages::{PageRun, Pages, Placement, Stretch, offset_of};
use crate::part::{PageCopy, Parts, StoredRun};
use crate::progress::Progress;
use crate::spool::WaitingPart;
use crate::tree::assembler::TreeAssembler;
use crate::tree::input_positions::InputPositions;
use crate::tree::interior::{Child, LargestRowid, Levels};
use crate::tree::table_leaf::{LeafBuilder, OutOfOrder, TablePart};
use crate::tree::table_reader::TableReader;
use litepress_format::page::PageKind;
use litepress_rows::{Part, RecordChunk, Source};

/// Builds the b-tree of one table from all rows of `source`, and passes all records to the indexes.
pub(crate) fn build(source: &dyn Source, pages: &mut Pages, context: BuildContext<'_>) -> Result<TableTree> {
    build_of(NewRows::Source(source, context), pages)
}

/// Builds the b-tree of one table.
pub(crate) fn build_of(rows: NewRows<'_>, pages: &mut Pages) -> Result<TableTree> {
    let mut tree = RowidTree::new(pages);
    rows.add_to(&mut tree)?;
    tree.finish()
}

/// Adds rows behind those of a tree whose right edge is known: its largest rowid and its interior levels. Returns the children of
/// its root, and the figures of the new rows.
pub(crate) fn extend(
    rows: NewRows<'_>,
    largest_rowid: i64,
    levels: Levels<LargestRowid>,
    pages: &mut Pages,
) -> Result<(Vec<Child<LargestRowid>>, TableTree)> {
    let mut tree = RowidTree::new(pages);
    tree.assembler.set_levels(levels);
    tree.largest_before = Some(largest_rowid);
    rows.add_to(&mut tree)?;
    let children = if tree.tree.rows > 0 { tree.assembler.finish_below_root()? } else { Vec::new() };
    Ok((children, tree.tree))
}

/// Builds the tree of a table from the runs of parts. With `copies`, the pages that need no change are left out: another program copies
/// them. Interior pages then lie behind all leaves, so that copies are long.
pub(crate) fn stitch(
    table: &str,
    parts: &Parts,
    pages: &mut Pages,
    progress: &Progress,
    mut copies: Option<&mut Vec<PageCopy>>,
) -> Result<TableTree> {
    let (page_size, pool) = (pages.page_size(), pages.pool().clone());
    let mut tree = RowidTree::new(pages);
    let (mut open, mut reserved) = (None, Vec::new());
    for (number, run) in parts.runs(table)? {
        progress.go_on()?;
        let loaded = match &copies {
            Some(_) if run.is_free_of_pointers() => None,
            _ => {
                let file = match open.take().filter(|(of, _)| *of == number) {
                    Some((_, file)) => file,
                    None => parts.files()[number].open()?,
                };
                pool.wait_for_room();
                let (_, file) = open.insert((number, file));
                Some(file.load(run, &pool).map_err(|error| file.failure(error))?)
            }
        };
        progress.add_rows(run.rows);
        match (&mut copies, loaded) {
            (None, loaded) => tree.place(loaded.expect("it was loaded"))?,
            (Some(_), Some(part)) => reserved.push((run, tree.assembler.write(part.run)?)),
            (Some(copies), None) => {
                let (placement, stretches) = tree.assembler.reserve(run.pages)?;
                let start = offset_of(run.first_page, page_size);
                let copy = |Stretch { from, to, bytes }| PageCopy { part: number, from: start + from, to, bytes };
                copies.extend(stretches.into_iter().map(copy));
                reserved.push((run, placement));
            }
        }
    }
    for (run, placement) in reserved {
        tree.tree.rows += run.rows;
        tree.tree.payload_bytes += run.payload_bytes;
        tree.tree.last_rowid = run.last_rowid;
        tree.assembler.add_leaves(run.leaves()?, &placement, leaf_child)?;
    }
    tree.finish()
}

/// Rows for a tree, in the order of their rowids.
#[derive(Clone, Copy)]
pub(crate) enum NewRows<'a> {
    /// Rows of a source. All records go to the indexes.
    Source(&'a dyn Source, BuildContext<'a>),
    /// Leaf pages that are built already. Their records are in the indexes.
    Leaves(&'a [&'a WaitingPart], &'a Progress),
}

impl NewRows<'_> {
    fn add_to(self, tree: &mut RowidTree<'_>) -> Result<()> {
        let page_size = tree.pages().page_size();
        match self {
            Self::Source(source, context) => {
                let layout = RowidLayout { usable: page_size.bytes(), must_ascend: true };
                append(source, &layout, tree, None, context).map(drop)
            }
            Self::Leaves(parts, progress) => parts.iter().try_for_each(|part| {
                progress.go_on()?;
                let pool = tree.pages().pool().clone();
                pool.wait_for_room();
                match part.run() {
                    Some(run) => tree.place_waiting(part, run)?,
                    None => tree.place(part.load(page_size, &pool)?)?,
                }
                progress.add_rows(part.rows);
                Ok(())
            }),
        }
    }
}

/// Builds the b-tree of a table of few rows, without indexes.
pub(crate) fn build_few(rows: RecordChunk, pages: &mut Pages) -> Result<TableTree> {
    let (indexes, progress) = (&Indexes::default(), &Progress::default());
    build(&OneChunk::new(rows), pages, BuildContext { indexes, threads: 1, counts_keys: false, progress })
}

/// Leaf pages of a rowid table.
pub(super) struct RowidLayout {
    pub usable: usize,
    /// Whether rows that are out of order are an error.
    pub must_ascend: bool,
}

impl PartLayout for RowidLayout {
    type Key = RowidKey;
    type Builder = LeafBuilder;
    type Part = TablePart;

    fn begin(&self, run: PageRun) -> LeafBuilder {
        LeafBuilder::new(run, self.usable, 0)
    }

    /// Adds all rows of `chunk`, or none if they are out of order.
    fn add(&self, builder: &mut LeafBuilder, chunk: &RecordChunk) -> Result<usize> {
        match builder.add(chunk) {
            Ok(()) => Ok(chunk.len()),
            Err(error) if self.must_ascend => Err(error.into()),
            Err(_) => Ok(0),
        }
    }

    fn bytes(&self, builder: &LeafBuilder) -> usize {
        builder.run().bytes()
    }

    fn finish(&self, builder: LeafBuilder) -> TablePart {
        builder.finish()
    }

    fn read_back(&self, part: TablePart, mut take: impl FnMut(&RecordChunk) -> Result<()>) -> Result<()> {
        let (mut rows, mut chunk) = (TableReader::of_part(part, self.usable), RecordChunk::new());
        loop {
            chunk.clear();
            rows.fill(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(());
            }
            take(&chunk)?;
        }
    }
}

/// A rowid table's tree and the parts placed so far.
pub(super) struct RowidTree<'p> {
    assembler: TreeAssembler<'p, LargestRowid>,
    /// The tree so far, without its root.
    pub tree: TableTree,
    pub positions: InputPositions,
    /// The largest rowid of the rows that were there before.
    largest_before: Option<i64>,
}

impl<'p> RowidTree<'p> {
    pub fn new(pages: &'p mut Pages) -> Self {
        let (tree, positions) = (TableTree::default(), InputPositions::default());
        Self { assembler: TreeAssembler::new(pages), tree, positions, largest_before: None }
    }

    /// Checks that the rowids of a part, the first of which is `first_rowid`, follow the placed ones.
    fn check(&self, first_rowid: Option<i64>) -> Result<(), OutOfOrder> {
        let before = if self.tree.rows > 0 { Some(self.tree.last_rowid) } else { self.largest_before };
        match (before, first_rowid) {
            (Some(before), Some(rowid)) if rowid <= before => Err(OutOfOrder { before, rowid }),
            _ => Ok(()),
        }
    }

    /// Reserves the first leaf for one row, whose record follows later: [`write_reserved`](Self::write_reserved). REQUIRES: the
    /// tree is empty.
    pub fn reserve_first(&mut self, rowid: i64) -> Result<Placement> {
        self.tree.rows = 1;
        self.tree.last_rowid = rowid;
        self.assembler.reserve_first(|placement| (LargestRowid(rowid), placement.number(0)))
    }

    /// Writes the leaf of [`reserve_first`](Self::reserve_first). REQUIRES: the record needs no overflow page.
    pub fn write_reserved(&mut self, placement: &Placement, rowid: i64, record: &[u8]) -> Result<()> {
        let usable = self.pages().page_size().bytes();
        let mut chunk = RecordChunk::new();
        chunk.push(rowid, record);
        let mut leaf = LeafBuilder::new(self.pages().new_run(), usable, 0);
        leaf.add(&chunk)?;
        let part = leaf.finish();
        self.tree.payload_bytes += part.payload_bytes;
        self.assembler.write_reserved(part.run, placement)
    }

    /// Places the next part from the memory in which it waits.
    fn place_waiting(&mut self, part: &WaitingPart, run: &PageRun) -> Result<()> {
        self.check(part.first_rowid)?;
        let Some(&(last_rowid, _)) = part.leaves.last() else { return Ok(()) };
        self.positions.append(self.tree.rows, &part.positions);
        self.tree.rows += part.rows;
        self.tree.payload_bytes += part.payload_bytes;
        self.tree.last_rowid = last_rowid;
        self.assembler.place_kept(run, &part.leaves, leaf_child)
    }

    /// Completes the tree.
    pub fn finish(self) -> Result<TableTree> {
        if self.pages().is_part() {
            return Ok(self.tree);
        }
        Ok(TableTree { root: self.assembler.finish(PageKind::LeafTable)?, ..self.tree })
    }
}

/// Returns a leaf, given by its largest rowid and its index in a run, as a child of the level above.
fn leaf_child((largest_rowid, index): (i64, u32), placement: &Placement) -> Child<LargestRowid> {
    (LargestRowid(largest_rowid), placement.number(index))
}

impl PartialTree for RowidTree<'_> {
    type Part = TablePart;

    fn pages(&self) -> &Pages {
        self.assembler.pages()
    }

    fn continues_with(&self, part: &TablePart) -> bool {
        self.check(part.first_rowid).is_ok()
    }

    fn place(&mut self, part: TablePart) -> Result<()> {
        self.check(part.first_rowid)?;
        let Some(&(last_rowid, _)) = part.leaves.last() else { return Ok(()) };
        self.positions.append(self.tree.rows, &part.positions);
        self.tree.rows += part.rows;
        self.tree.payload_bytes += part.payload_bytes;
        self.tree.last_rowid = last_rowid;
        if self.pages().is_part() {
            let mut run = StoredRun::new(&part);
            (run.first_page, run.checksum) = self.assembler.store(part.run)?;
            self.tree.runs.push(run);
            return Ok(());
        }
        self.assembler.place(part.run, part.leaves, leaf_child)
    }
}
