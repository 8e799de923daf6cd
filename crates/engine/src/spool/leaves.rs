//! Rows as leaf pages that wait for their numbers.
//!
//! Leaf pages of a rowid table hold no page numbers, only rowids. So they are built while rows are read, before the lock of writers
//! is taken, with the rowids that SQLite would choose now. Under the lock they only need numbers, unless another program has taken
//! these rowids meanwhile: then the rows are read back from the pages.
//!
//! From the first part on that does not come behind the largest rowid, rows are kept as rows.

use super::{InFile, Spool, SpoolBudget, SpooledPart};
use crate::index::Indexes;
use crate::pages::{PageRun, RunPages};
use crate::sink::block::{BLOCK_BYTES, BlockPool};
use crate::tree::input_positions::InputPositions;
use crate::tree::table_leaf::TablePart;
use crate::tree::table_reader::TableReader;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::PageSize;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk};
use std::sync::Arc;

/// The leaf pages that rows become, by the state of the table before they are read.
#[derive(Clone)]
pub(crate) struct Leaves {
    pub page_size: PageSize,
    /// The largest rowid of the table; `None` if it is empty.
    pub largest_rowid: Option<i64>,
    /// Added to the numbers of rows that have no rowid.
    pub shift: i64,
    /// Whether the table has a column that holds the rowid.
    pub has_alias: bool,
    /// Blocks for pages on their way.
    pub pool: Arc<BlockPool>,
    /// Whether all rows so far became leaf pages.
    is_whole: bool,
}

/// Leaf pages of consecutive rows, without numbers.
pub(crate) struct WaitingPart {
    location: PagesLocation,
    pages: u32,
    pointers: Vec<(u32, u32)>,
    /// The largest rowid and the index of each leaf.
    pub leaves: Vec<(i64, u32)>,
    pub first_rowid: Option<i64>,
    pub rows: u64,
    pub positions: InputPositions,
    pub payload_bytes: u64,
    /// The rows have no rowids in the input.
    is_numbered: bool,
}

enum PagesLocation {
    Blocks(PageRun),
    Memory(Vec<u8>),
    File(InFile),
}

impl Leaves {
    pub fn new(
        page_size: PageSize,
        largest_rowid: Option<i64>,
        shift: i64,
        has_alias: bool,
        pool: Arc<BlockPool>,
    ) -> Self {
        Self { page_size, largest_rowid, shift, has_alias, pool, is_whole: true }
    }

    /// Returns a run without pages.
    pub fn new_run(&self) -> PageRun {
        PageRun::new(self.page_size, &self.pool)
    }

    /// Gives the rows of `chunk` the rowids that they will have. Returns whether they had none, or `None` if only some had.
    pub fn number(&self, chunk: &mut RecordChunk) -> Option<bool> {
        let automatic = if self.has_alias { chunk.automatic_rows() } else { chunk.len() };
        if automatic == 0 {
            return Some(false);
        }
        let first = chunk.first_record().checked_add_signed(self.shift)?;
        let is_possible =
            automatic == chunk.len() && first.checked_add(chunk.len() as u64)? <= i64::MAX.cast_unsigned();
        is_possible.then(|| {
            chunk.renumber(0, first.cast_signed());
            true
        })
    }
}

impl WaitingPart {
    /// Keeps a part: in memory if the budget allows it.
    fn keep(part: TablePart, is_numbered: bool, budget: &mut SpoolBudget) -> Result<Self> {
        let TablePart { run, leaves, first_rowid, rows, positions, payload_bytes } = part;
        let (pages, pointers, bytes) = (run.len(), run.pointers().to_vec(), run.bytes());
        // A block that is nearly empty would take too much memory.
        let is_small = bytes < run.blocks() * BLOCK_BYTES / 2;
        let location = if !is_small && budget.takes(run.blocks() * BLOCK_BYTES) {
            PagesLocation::Blocks(run)
        } else if is_small && budget.takes(bytes) {
            PagesLocation::Memory(run.slices().flatten().copied().collect())
        } else {
            PagesLocation::File(budget.write(run.slices())?)
        };
        Ok(Self { location, pages, pointers, leaves, first_rowid, rows, positions, payload_bytes, is_numbered })
    }

    /// Returns the pages, if they can be written as they are: they are in memory, and none has a pointer to another one.
    pub fn run(&self) -> Option<&PageRun> {
        match &self.location {
            PagesLocation::Blocks(run) if self.pointers.is_empty() => Some(run),
            _ => None,
        }
    }

    /// Returns a copy of the part, in blocks of `pool`.
    pub fn load(&self, page_size: PageSize, pool: &Arc<BlockPool>) -> Result<TablePart> {
        let mut at = 0;
        let mut blocks = match &self.location {
            PagesLocation::Blocks(run) => Some(run.slices()),
            _ => None,
        };
        let run = PageRun::filled(page_size, pool, self.pages, self.pointers.clone(), |bytes| {
            match &self.location {
                PagesLocation::Blocks(_) => {
                    let block = blocks.as_mut().and_then(Iterator::next).expect("a slice for each block");
                    bytes.copy_from_slice(block);
                }
                PagesLocation::Memory(pages) => bytes.copy_from_slice(&pages[at..at + bytes.len()]),
                PagesLocation::File(file) => file.read(at as u64, bytes)?,
            }
            at += bytes.len();
            Ok(())
        })?;
        Ok(TablePart {
            run,
            leaves: self.leaves.clone(),
            first_rowid: self.first_rowid,
            rows: self.rows,
            positions: self.positions.clone(),
            payload_bytes: self.payload_bytes,
        })
    }
}

impl Spool {
    /// Lets rows become leaf pages as far as possible.
    #[must_use]
    pub(crate) fn in_leaves(mut self, leaves: Option<Leaves>) -> Self {
        self.leaves = leaves;
        self
    }

    /// Returns the leaf pages that rows become. REQUIRES: there are some.
    pub(super) fn leaves(&self) -> &Leaves {
        self.leaves.as_ref().expect("a part of leaves")
    }

    /// Returns the leaf pages that the next rows become, if they do.
    pub(super) fn open_leaves(&self) -> Option<&Leaves> {
        self.leaves.as_ref().filter(|leaves| leaves.is_whole)
    }

    /// Appends a part of leaf pages. `is_numbered` says that its rows have no rowids in the input. If they do not come behind those
    /// before, they are kept as rows, and the rows of all later parts likewise.
    pub(super) fn push_leaves(&mut self, part: TablePart, is_numbered: bool, budget: &mut SpoolBudget) -> Result<()> {
        let (Some(first), Some(&(last, _))) = (part.first_rowid, part.leaves.last()) else { return Ok(()) };
        let leaves = self.open_leaves();
        let continues = leaves.is_some_and(|leaves| {
            let numbered = self.rowids.automatic.cast_signed();
            let before = self.rowids.last.or(leaves.largest_rowid);
            match is_numbered {
                // Numbers without a gap: SQLite would number only the rows that are there.
                true => {
                    first - leaves.shift == numbered + 1
                        && last - first + 1 == part.rows.cast_signed()
                        && self.rowids.range.is_none()
                }
                false => numbered == 0 && before.is_none_or(|before| before < first),
            }
        });
        if !continues {
            return self.push_rows_of(part, is_numbered, budget);
        }
        if is_numbered {
            self.rowids.automatic += part.rows;
        } else {
            self.rowids.note(first);
            self.rowids.range = self.rowids.range.map(|(smallest, _)| (smallest, last));
            self.rowids.last = Some(last);
        }
        self.rows += part.rows;
        self.bytes += part.run.bytes() as u64;
        self.parts.push(SpooledPart::Leaves(WaitingPart::keep(part, is_numbered, budget)?));
        Ok(())
    }

    /// Appends the rows of leaf pages as rows.
    fn push_rows_of(&mut self, part: TablePart, is_numbered: bool, budget: &mut SpoolBudget) -> Result<()> {
        self.end_leaves();
        let chunks = self.leaves().chunks_of(part, is_numbered)?;
        chunks.iter().try_for_each(|chunk| self.push_chunk(chunk, budget))
    }

    /// Keeps all later rows as rows.
    pub(super) fn end_leaves(&mut self) {
        if let Some(leaves) = &mut self.leaves {
            leaves.is_whole = false;
        }
    }

    /// Keeps the index entries of the rows, if all became leaf pages.
    pub(super) fn keep_entries(&mut self, entries: Indexes) {
        self.entries = Mutex::new((self.open_leaves().is_some() && !self.parts.is_empty()).then_some(entries));
    }

    /// Takes the index entries of the rows, if they were extracted while the rows were read.
    pub(crate) fn take_entries(&self) -> Option<Indexes> {
        lock(&self.entries).take()
    }

    /// Returns the leaf pages of all rows, if all rows became some, for a table with this page size whose next rowid is above `shift`.
    pub(crate) fn waiting(&self, page_size: PageSize, shift: i64) -> Option<Vec<&WaitingPart>> {
        let leaves = self.open_leaves()?;
        let is_numbered = self.rowids.automatic > 0;
        if leaves.page_size != page_size || is_numbered && leaves.shift != shift {
            return None;
        }
        let parts = self.parts.iter().map(|part| match part {
            SpooledPart::Leaves(part) => Some(part),
            SpooledPart::Rows(_) => None,
        });
        parts.collect()
    }
}

impl Leaves {
    fn rows_of(&self, part: TablePart, is_numbered: bool) -> RowsOfLeaves<'_> {
        let reader = TableReader::of_part(part, self.page_size.bytes());
        RowsOfLeaves { reader, is_numbered, leaves: self }
    }

    /// Returns the rows of a part, as they were before they got rowids.
    pub fn chunks_of(&self, part: TablePart, is_numbered: bool) -> Result<Vec<RecordChunk>> {
        let (mut rows, mut chunks) = (self.rows_of(part, is_numbered), Vec::new());
        loop {
            let mut chunk = RecordChunk::new();
            rows.fill(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(chunks);
            }
            chunks.push(chunk);
        }
    }
}

/// The rows of a waiting part, as they were before they got rowids.
pub(super) struct LeafRows<'s> {
    /// The part, until it is loaded.
    part: &'s WaitingPart,
    rows: Option<RowsOfLeaves<'s>>,
    leaves: &'s Leaves,
}

impl<'s> LeafRows<'s> {
    pub fn new(part: &'s WaitingPart, leaves: &'s Leaves) -> Self {
        Self { part, rows: None, leaves }
    }
}

impl Part for LeafRows<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Self { part, rows, leaves } = self;
        let rows = match rows {
            Some(rows) => rows,
            None => {
                let loaded = part.load(leaves.page_size, &leaves.pool)?;
                rows.insert(leaves.rows_of(loaded, part.is_numbered))
            }
        };
        rows.fill(chunk)
    }
}

struct RowsOfLeaves<'s> {
    reader: TableReader<RunPages>,
    is_numbered: bool,
    leaves: &'s Leaves,
}

impl RowsOfLeaves<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.reader.fill(chunk)?;
        if let (true, Some(&first)) = (self.is_numbered, chunk.rowids().first()) {
            let number = first
                .checked_sub(self.leaves.shift)
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "a rowid of rows that waited is too small"))?;
            chunk.renumber(0, number);
            chunk.mark_automatic(0);
        }
        Ok(())
    }
}
