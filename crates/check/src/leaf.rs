//! Checks b-tree pages: every cell, its record, and its order among the others.
//!
//! A [`Task`] is a run of neighbouring leaves of one tree. The walk over the interior pages gives each task its
//! bounds, so tasks do not depend on each other:
//!
//! ```text
//! interior page      | 10 |    20    |  30 |           dividers: the largest rowid to the left,
//!                   /     |          |      \          or an entry of its own in an index
//! leaves        1..10  11..20     21..30   31..
//!               `---- task 1 ---'  `--- task 2 ---'
//!                 lower: none        lower: 20
//!                 upper: 20          upper: none
//! ```
//!
//! Every entry of an index is compared with its predecessor, also across pages. The entries of the interior page come
//! between its leaves. The entry between two tasks is the upper bound of the first and the lower bound of the second.

use super::context::CheckContext;
use super::leaf_fast_path::{self, Neighbours, PlainLeaf};
use super::order::{KeyOrder, Step};
use super::overflow::{Chain, ChainReader, Visit};
use super::pages::RunReader;
use super::ptrmap::MapReader;
use super::record::{self, FieldAt, Record};
use super::tree::{Totals, Tree};
use litepress_format::FormatError;
use litepress_format::cell::{Cell, CellPayload};
use litepress_format::page::{ByteUsage, MIN_CELL_LEN, MIN_USABLE, PageKind, PageReader};
use litepress_format::payload::max_local;
use litepress_format::varint;
use litepress_rows::Result;
use litepress_rows::sync::lock;
use std::sync::Arc;

/// An entry that outlives its page, because it lies between two tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnedEntry {
    bytes: Vec<u8>,
    len: u64,
}

impl OwnedEntry {
    pub(super) fn of(record: &Record<'_>) -> Self {
        Self { bytes: record.bytes.to_vec(), len: record.len }
    }

    fn record(&self) -> Record<'_> {
        Record { bytes: &self.bytes, len: self.len }
    }

    /// Copies `record` into the memory of this entry.
    fn set(&mut self, record: &Record<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(record.bytes);
        self.len = record.len;
    }
}

/// The left or right bound of some pages, in key order.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// No bound.
    None,
    /// The largest rowid on the left side.
    Rowid(i64),
    /// An entry of an interior page.
    Entry(Arc<OwnedEntry>),
}

impl Bound {
    pub(super) fn rowid(&self) -> Option<i64> {
        match self {
            Self::Rowid(rowid) => Some(*rowid),
            _ => None,
        }
    }
}

/// An interior page that tasks still need.
#[derive(Debug)]
pub(super) struct Interior {
    pub(super) number: u32,
    pub(super) bytes: Vec<u8>,
}

/// The divider to the right of a leaf, on the interior page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Divider {
    /// In a rowid table: the largest rowid that the leaf may hold.
    pub(super) rowid: Option<i64>,
    /// In an index: the interior cell to check next.
    pub(super) cell: Option<usize>,
}

/// Leaves to check, in key order.
pub(super) struct Task<'t> {
    pub(super) tree: &'t Tree,
    /// Their page numbers. All are claimed.
    pub(super) pages: Vec<u32>,
    /// The divider to the right of each page.
    pub(super) dividers: Vec<Divider>,
    /// The page above, if its cells must be checked.
    pub(super) interior: Option<Arc<Interior>>,
    pub(super) lower: Bound,
    pub(super) upper: Bound,
}

/// A checker of pages. Each thread has one.
pub(super) struct Scanner<'a> {
    pub(super) context: &'a CheckContext<'a>,
    pub(super) map: MapReader,
    /// The counts since the last [`flush`](Self::flush).
    pub(super) totals: Totals,
    plain: PlainLeaf,
    byte_usage: ByteUsage,
    chains: ChainReader,
    fields: Vec<FieldAt>,
    /// A buffer for records that overflow.
    assembled: Vec<u8>,
    /// The previous entry, in an index.
    previous: OwnedEntry,
    /// The fields of the previous entry; empty if they are unknown.
    previous_fields: Vec<FieldAt>,
    has_previous: bool,
    /// The previous rowid, in a rowid table.
    last_rowid: Option<i64>,
}

/// A leaf: its reader and its bytes.
type Leaf<'r, 'p> = (&'r PageReader<'p>, &'p [u8]);

/// The place of a cell.
#[derive(Clone, Copy)]
pub(super) struct CellAt<'t> {
    pub(super) tree: &'t Tree,
    pub(super) page: u32,
    pub(super) offset: usize,
    /// Position among the cells of the page.
    pub(super) index: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(context: &'a CheckContext<'a>) -> Self {
        Self {
            context,
            map: MapReader::default(),
            totals: Totals::default(),
            plain: PlainLeaf::default(),
            byte_usage: ByteUsage::default(),
            chains: ChainReader::default(),
            fields: Vec::new(),
            assembled: Vec::new(),
            previous: OwnedEntry::default(),
            previous_fields: Vec::new(),
            has_previous: false,
            last_rowid: None,
        }
    }

    /// Starts counting for `tree`.
    pub(super) fn start(&mut self, tree: &Tree) {
        self.totals = Totals::nothing(tree.digests.len());
    }

    /// Adds the counts to the tree's totals.
    pub(super) fn flush(&mut self, tree: &Tree) {
        lock(&tree.totals).add(&self.totals);
        self.start(tree);
    }

    /// Checks the leaves of a task.
    pub(super) fn run(&mut self, task: &Task<'_>, runs: &mut RunReader) -> Result<()> {
        let tree = task.tree;
        self.start(tree);
        self.last_rowid = task.lower.rowid();
        self.has_previous = false;
        if let Bound::Entry(entry) = &task.lower {
            self.previous.set(&entry.record());
            self.previous_fields.clear();
            self.has_previous = true;
        }
        let context = self.context;
        runs.each(&context.file, &task.pages, |index, bytes| {
            self.leaf(tree, task.pages[index], bytes, task.dividers[index].rowid)?;
            match (task.dividers[index].cell, &task.interior) {
                (Some(cell), Some(interior)) => self.interior_cell(tree, interior, cell),
                _ => Ok(()),
            }
        })?;
        if let (Bound::Entry(entry), Some(order)) = (&task.upper, &tree.order) {
            let page = task.pages.last().copied().unwrap_or(tree.root);
            self.fields.clear();
            self.follow(order, CellAt { tree, page, offset: 0, index: 0 }, &entry.record());
        }
        let pages = task.pages.len() as u64 + self.totals.overflow_pages;
        self.flush(tree);
        context.advance(pages)
    }

    /// Opens a page of `tree`. Adds a fault and returns `None` if it cannot be one.
    pub(super) fn open<'p>(&mut self, tree: &Tree, page: u32, bytes: &'p [u8]) -> Option<PageReader<'p>> {
        let problem = match PageReader::new(bytes, CheckContext::header_offset(page), self.context.file.usable) {
            Ok(reader) if tree.has_rowids.is_none_or(|rowids| rowids == reader.kind().is_table()) => {
                return Some(reader);
            }
            Ok(reader) => (format!("the page of a tree of the other sort: {}", reader.kind()), None),
            Err(error) => (error.message().to_owned(), Some(error.offset())),
        };
        self.totals.incomplete = true;
        self.context.add_fault(tree, page, problem.1, problem.0);
        None
    }

    fn leaf(&mut self, tree: &Tree, page: u32, bytes: &[u8], upper: Option<i64>) -> Result<()> {
        let Some(reader) = self.open(tree, page, bytes) else { return Ok(()) };
        if !reader.kind().is_leaf() {
            self.totals.incomplete = true;
            self.context.add_fault(tree, page, None, "an interior page where all others have their leaves");
            return Ok(());
        }
        self.totals.leaf_pages += 1;
        if reader.cell_count() == 0 && page != tree.root {
            self.context.add_fault(tree, page, None, "a leaf without a cell");
        }
        if self.plain_rows(tree, page, (&reader, bytes), upper) || self.plain_leaf(tree, page, (&reader, bytes), upper)
        {
            return Ok(());
        }
        let free_bytes = self.totals.free_bytes;
        self.each_cell(tree, page, (&reader, bytes), |scanner, at, cell| match cell {
            Cell::TableLeaf { rowid, payload_len, local, overflow } => {
                scanner.rowid(at, rowid, upper);
                scanner.entry(at, Some(rowid), CellPayload { payload_len, local, overflow })
            }
            Cell::IndexLeaf { payload_len, local, overflow } => {
                scanner.entry(at, None, CellPayload { payload_len, local, overflow })
            }
            Cell::TableInterior { .. } | Cell::IndexInterior { .. } => Ok(()),
        })?;
        self.context.record_btree_page(page, None, reader.cell_count(), self.totals.free_bytes - free_bytes);
        if reader.cell_count() > 0 {
            self.totals.max_rowid = self.totals.max_rowid.max(self.last_rowid);
        }
        self.last_rowid = upper.or(self.last_rowid);
        Ok(())
    }

    /// Checks a leaf of rows that no other tree repeats. Returns `false` if it needs a second look.
    fn plain_rows(&mut self, tree: &Tree, page: u32, (reader, bytes): Leaf<'_, '_>, upper: Option<i64>) -> bool {
        if !tree.digests.is_empty() {
            return false;
        }
        let rows = leaf_fast_path::counts(reader, bytes, &tree.rules, self.last_rowid, upper);
        let Some(rows) = rows else { return false };
        let free_bytes = (reader.content_start() - reader.pointers_end()) as u64;
        self.count_plain(page, reader.cell_count(), rows.payload_bytes, free_bytes);
        self.totals.max_rowid = self.totals.max_rowid.max(Some(rows.last_rowid));
        self.last_rowid = upper.or(Some(rows.last_rowid));
        true
    }

    /// Checks a leaf of any tree. Returns `false` if it needs a second look.
    fn plain_leaf(&mut self, tree: &Tree, page: u32, (reader, bytes): Leaf<'_, '_>, upper: Option<i64>) -> bool {
        let previous = self.has_previous.then(|| (self.previous.record(), &*self.previous_fields));
        let around = Neighbours { lower: self.last_rowid, upper, previous };
        let Some(counts) = self.plain.read(reader, bytes, tree, around) else { return false };
        self.count_plain(page, reader.cell_count(), counts.payload_bytes, counts.free_bytes);
        for (sum, part) in self.totals.sums.iter_mut().zip(&self.plain.sums) {
            *sum = sum.map(|sum| sum.wrapping_add(*part));
        }
        if reader.kind().is_table() {
            self.totals.max_rowid = self.totals.max_rowid.max(counts.last_rowid);
            self.last_rowid = upper.or(counts.last_rowid);
        }
        if tree.order.is_some() {
            self.previous.set(&Record::whole(&bytes[counts.last_record.0..counts.last_record.1]));
            self.previous_fields.clear();
            self.has_previous = true;
        }
        true
    }

    fn count_plain(&mut self, page: u32, entries: usize, payload_bytes: u64, free_bytes: u64) {
        self.totals.entries += entries as u64;
        self.totals.payload_bytes += payload_bytes;
        self.totals.free_bytes += free_bytes;
        self.context.record_btree_page(page, None, entries, free_bytes);
    }

    /// Calls `look` with every cell of a page. Checks that cells and free space fill the page without overlap or loss.
    #[inline]
    pub(super) fn each_cell<'p, 't>(
        &mut self,
        tree: &'t Tree,
        page: u32,
        (reader, bytes): (&PageReader<'p>, &'p [u8]),
        mut look: impl FnMut(&mut Self, CellAt<'t>, Cell<'p>) -> Result<()>,
    ) -> Result<()> {
        let usable = self.context.file.usable;
        self.byte_usage.start(usable);
        let mut intact = true;
        for index in 0..reader.cell_count() {
            match read_cell(reader, bytes, index, usable) {
                Ok((offset, (cell, len))) => {
                    if !self.byte_usage.take(offset, len.max(MIN_CELL_LEN)) {
                        intact = false;
                        self.context.add_fault(tree, page, Some(offset), format!("cell {index} overlaps another"));
                    }
                    look(self, CellAt { tree, page, offset, index }, cell)?;
                }
                Err(error) => {
                    intact = false;
                    self.totals.incomplete = true;
                    self.context.add_fault(tree, page, Some(error.offset()), error.message());
                }
            }
        }
        if intact {
            match self.byte_usage.finish(reader) {
                Ok(free) => self.totals.free_bytes += free as u64,
                Err(error) => self.context.add_fault(tree, page, Some(error.offset()), error.message()),
            }
        }
        Ok(())
    }

    /// Checks that rowids ascend and do not exceed their divider.
    #[inline]
    fn rowid(&mut self, at: CellAt<'_>, rowid: i64, upper: Option<i64>) {
        if self.last_rowid.is_some_and(|last| rowid <= last) || upper.is_some_and(|upper| rowid > upper) {
            self.misplaced_rowid(at, rowid, upper);
        }
        self.last_rowid = Some(rowid);
    }

    #[cold]
    fn misplaced_rowid(&self, at: CellAt<'_>, rowid: i64, upper: Option<i64>) {
        let what = match (self.last_rowid, upper) {
            (Some(last), _) if rowid <= last => format!("rowid {rowid} behind {last}"),
            (_, upper) => format!("rowid {rowid} left of the divider {}", upper.unwrap_or(rowid)),
        };
        self.context.add_fault(at.tree, at.page, Some(at.offset), what);
    }

    /// Checks the entry of an interior page that follows a leaf.
    fn interior_cell(&mut self, tree: &Tree, interior: &Interior, index: usize) -> Result<()> {
        let (page, usable) = (interior.number, self.context.file.usable);
        let header_offset = CheckContext::header_offset(page);
        // The walk read every cell of this page and reported the ones that cannot be read.
        let Ok(reader) = PageReader::new(&interior.bytes, header_offset, usable) else { return Ok(()) };
        let (Ok(offset), Ok((cell, _))) = (reader.cell_offset(index), reader.cell(index)) else { return Ok(()) };
        match cell.payload() {
            Some(payload) => self.entry(CellAt { tree, page, offset, index }, None, payload),
            None => Ok(()),
        }
    }

    /// Checks a row or an entry.
    #[inline]
    fn entry(&mut self, at: CellAt<'_>, rowid: Option<i64>, payload: CellPayload<'_>) -> Result<()> {
        if payload.overflow.is_none() {
            self.check_record(at, rowid, Record::whole(payload.local));
            return Ok(());
        }
        self.long_entry(at, rowid, payload)
    }

    fn long_entry(&mut self, at: CellAt<'_>, rowid: Option<i64>, payload: CellPayload<'_>) -> Result<()> {
        let mut assembled = std::mem::take(&mut self.assembled);
        if let Some(record) = self.assemble(at, payload, &mut assembled)? {
            self.check_record(at, rowid, record);
        }
        self.assembled = assembled;
        Ok(())
    }

    fn assemble<'r>(
        &mut self,
        at: CellAt<'_>,
        payload: CellPayload<'_>,
        into: &'r mut Vec<u8>,
    ) -> Result<Option<Record<'r>>> {
        let CellAt { tree, page, offset, .. } = at;
        let chain = Chain { context: self.context, tree, page, offset, visit: Visit::First };
        let record = self.chains.read(chain, payload, &mut self.map, &mut self.totals, into)?;
        match &record {
            None => self.totals.incomplete = true,
            Some(record) if !record.is_whole() => {
                let limit = self.context.record_limit;
                self.context.faults.note(format!("{}: records beyond their first {limit} bytes", tree.object()));
            }
            Some(_) => {}
        }
        Ok(record)
    }

    /// Checks an entry of an upper level. Returns it as the bound of the pages on both sides.
    pub(super) fn bounding_entry(&mut self, at: CellAt<'_>, payload: CellPayload<'_>) -> Result<Bound> {
        // The tasks on both sides compare it with its neighbours.
        self.has_previous = false;
        let mut assembled = Vec::new();
        let record = match payload.overflow {
            None => Some(Record::whole(payload.local)),
            Some(_) => self.assemble(at, payload, &mut assembled)?,
        };
        let Some(record) = record else { return Ok(Bound::None) };
        self.check_record(at, None, record);
        Ok(Bound::Entry(Arc::new(OwnedEntry::of(&record))))
    }

    /// Checks a record, counts it, and compares it with its predecessor.
    #[inline]
    fn check_record(&mut self, at: CellAt<'_>, rowid: Option<i64>, record: Record<'_>) {
        let tree = at.tree;
        self.totals.entries += 1;
        self.totals.payload_bytes += record.len;
        let verdict = match tree.digests.is_empty() && tree.order.is_none() {
            true => record::check::<false>(record, &tree.rules, &mut self.fields),
            false => record::check::<true>(record, &tree.rules, &mut self.fields),
        };
        let is_sound = verdict.is_ok();
        if let Err(what) = verdict {
            self.add_record_fault(at, rowid, what);
        }
        for (sum, digest) in self.totals.sums.iter_mut().zip(&tree.digests) {
            let number = digest.of(rowid, &record, &self.fields);
            *sum = sum.zip(number).map(|(sum, number)| sum.wrapping_add(number));
        }
        if let Some(order) = &tree.order {
            if !is_sound {
                self.fields.clear();
            }
            self.follow(order, at, &record);
        }
    }

    #[cold]
    fn add_record_fault(&self, at: CellAt<'_>, rowid: Option<i64>, what: String) {
        let what = match rowid {
            Some(rowid) => format!("row {rowid}: {what}"),
            None => what,
        };
        self.context.add_fault(at.tree, at.page, Some(at.offset), what);
    }

    /// Compares an entry with its predecessor, and keeps it as the predecessor of the next one. `self.fields` holds
    /// the entry's fields, or nothing if they are unknown.
    fn follow(&mut self, order: &KeyOrder, at: CellAt<'_>, record: &Record<'_>) {
        if self.has_previous {
            let what = match order.step((&self.previous.record(), &self.previous_fields), (record, &self.fields)) {
                Step::Ascends => None,
                Step::Undecided => {
                    self.undecided(at, record);
                    None
                }
                Step::NotUnique => Some("an entry with the same unique key as the one before it"),
                Step::Equal => Some("an entry equal to the one before it"),
                Step::Descends => Some("an entry out of order: it belongs before the one in front of it"),
            };
            if let Some(what) = what {
                self.context.add_fault(at.tree, at.page, Some(at.offset), what);
            }
        }
        self.previous.set(record);
        std::mem::swap(&mut self.previous_fields, &mut self.fields);
        self.has_previous = true;
    }

    /// Notes an order that was not checked because a key is too long. Malformed records were reported before.
    #[cold]
    fn undecided(&self, at: CellAt<'_>, record: &Record<'_>) {
        if !record.is_whole() || !self.previous.record().is_whole() {
            self.context.faults.note(format!("{}: the order of some very long entries", at.tree.object()));
        }
    }
}

/// Returns cell `index` with its offset and length.
#[inline(always)]
fn read_cell<'p>(
    reader: &PageReader<'p>,
    page: &'p [u8],
    index: usize,
    usable: usize,
) -> Result<(usize, (Cell<'p>, usize)), FormatError> {
    let pointer = page.get(reader.pointer_offset(index)..).and_then(<[u8]>::first_chunk);
    let offset = usize::from(u16::from_be_bytes(*pointer.unwrap_or(&[0, 0])));
    if offset >= reader.content_start()
        && let Some(quick) = page.get(offset..usable).and_then(|cell| quick_cell(reader.kind(), cell))
    {
        return Ok((offset, quick));
    }
    read_any_cell(reader, page, index, usable)
}

/// Reads any cell. A separate function keeps the fast path of [`read_cell`] short.
fn read_any_cell<'p>(
    reader: &PageReader<'p>,
    page: &'p [u8],
    index: usize,
    usable: usize,
) -> Result<(usize, (Cell<'p>, usize)), FormatError> {
    let offset = reader.cell_offset(index)?;
    Ok((offset, Cell::read(reader.kind(), page, offset, usable)?))
}

/// Reads a leaf cell that is too short to overflow on any page, as almost all are. [`Cell::read`] reads all cells, but
/// takes three times as long.
#[inline(always)]
fn quick_cell(kind: PageKind, cell: &[u8]) -> Option<(Cell<'_>, usize)> {
    const ALWAYS_LOCAL: usize = max_local(PageKind::LeafIndex, MIN_USABLE);
    const _: () = assert!(ALWAYS_LOCAL < 0x80 && ALWAYS_LOCAL < max_local(PageKind::LeafTable, MIN_USABLE));
    let (&payload_len, rest) = cell.split_first()?;
    let local_len = usize::from(payload_len);
    let payload_len = u64::from(payload_len);
    if local_len > ALWAYS_LOCAL || cell.len() < MIN_CELL_LEN {
        return None;
    }
    match kind {
        PageKind::LeafTable => {
            let (rowid, rowid_len) = varint::read(rest)?;
            let local = rest.get(rowid_len..rowid_len + local_len)?;
            let row = Cell::TableLeaf { rowid: rowid.cast_signed(), payload_len, local, overflow: None };
            Some((row, 1 + rowid_len + local_len))
        }
        PageKind::LeafIndex => {
            let local = rest.get(..local_len)?;
            Some((Cell::IndexLeaf { payload_len, local, overflow: None }, 1 + local_len))
        }
        PageKind::InteriorTable | PageKind::InteriorIndex => None,
    }
}
