//! Reads the rows or entries of a group of leaves.

use crate::overflow::{ChainReader, look_at};
use crate::snapshot::PageReader;
use crate::walk::{Divider, Group, Leaf, Tree};
use litepress_format::cell::{Cell, CellPayload};
use litepress_format::page::PageKind;
use litepress_format::payload::max_local;
use litepress_rows::sync::lock;
use litepress_rows::{Part, RecordChunk, Result};
use std::ops::Range;
use std::sync::Arc;

/// Most bytes of leaves that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// The rows of some leaves of a rowid table, or the entries of some leaves of an index and of the dividers behind them.
#[derive(Debug)]
pub struct ScanPart {
    tree: Arc<Tree>,
    group: Group,
    reader: Option<PageReader>,
    chains: ChainReader,
    /// A record that overflows, joined.
    record: Vec<u8>,
    /// Consecutive leaves from one read: those from `read_from` on.
    pages: Vec<u8>,
    read_from: usize,
    read_to: usize,
    /// The leaf that is read, and its next cell. The cell behind the last one is the divider of an index.
    leaf: usize,
    cell: usize,
    /// The last rowid of a table.
    last_rowid: Option<i64>,
    /// The largest rowid that the leaf may have.
    upper: i64,
}

impl ScanPart {
    pub(crate) fn new(tree: Arc<Tree>, group: Group) -> Result<Self> {
        let last_rowid = match &group.lower {
            Some(divider) => divider.read(&tree)?.rowid(),
            None => None,
        };
        let (chains, record, pages) =
            (ChainReader::default(), Vec::new(), lock(&tree.buffers).pop().unwrap_or_default());
        let (read_from, read_to, leaf, cell, upper) = (0, 0, 0, 0, i64::MAX);
        let reader = None;
        Ok(Self { tree, group, reader, chains, record, pages, read_from, read_to, leaf, cell, last_rowid, upper })
    }

    /// Returns the bytes of the leaves.
    pub fn leaf_bytes(&self) -> usize {
        self.group.leaves.len() * self.tree.snapshot.page_size().bytes()
    }

    /// Returns the last entry of a part of an index: the divider behind its leaves. The last part of a tree has none.
    ///
    /// # Errors
    /// If its overflow pages cannot be read.
    pub fn last_divider(&self) -> Result<Option<Vec<u8>>> {
        let Some(divider) = self.group.leaves.last().and_then(|leaf| leaf.divider.as_ref()) else { return Ok(None) };
        look_at(&self.tree, divider.page.number, payload(&divider.read(&self.tree)?)).map(Some)
    }

    /// Reads all leaves of the part, which a worker would read little by little, and returns the number of rows.
    ///
    /// REQUIRES: no row was read yet.
    ///
    /// # Errors
    /// If a leaf cannot be read or breaks a rule.
    pub fn count(&mut self) -> Result<u64> {
        self.read_leaves(self.group.leaves.len())?;
        let mut rows = 0;
        for (leaf, page) in self.group.leaves.iter().zip(self.pages.chunks(self.tree.snapshot.page_size().bytes())) {
            rows += self.tree.open(leaf.page, page)?.cell_count() as u64;
            rows += u64::from(self.tree.leaf_kind == PageKind::LeafIndex && leaf.divider.is_some());
        }
        Ok(rows)
    }

    /// Reads the current leaf, and those behind it that are neighbours in the file.
    fn read_ahead(&mut self) -> Result<()> {
        let most = (READ_BYTES / self.tree.snapshot.page_size().bytes()).max(1);
        let count = neighbours(&self.group.leaves[self.leaf..]).min(most);
        self.read_leaves(count)
    }

    /// Reads `count` leaves from the current one on.
    fn read_leaves(&mut self, count: usize) -> Result<()> {
        let page_bytes = self.tree.snapshot.page_size().bytes();
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(self.tree.snapshot.reader()?),
        };
        self.pages.resize(count * page_bytes, 0);
        let (mut rest, mut leaves) = (&mut self.pages[..], &self.group.leaves[self.leaf..self.leaf + count]);
        while let Some(first) = leaves.first() {
            let run = neighbours(leaves);
            let (now, later) = rest.split_at_mut(run * page_bytes);
            reader.read_to(first.page, now)?;
            (rest, leaves) = (later, &leaves[run..]);
        }
        (self.read_from, self.read_to) = (self.leaf, self.leaf + count);
        Ok(())
    }

    /// Appends rows of the current leaf until the chunk is full.
    fn fill_from_leaf(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        if self.leaf >= self.read_to {
            self.read_ahead()?;
        }
        let Self { tree, group, pages, cell, chains, record, reader, last_rowid, .. } = self;
        let page_bytes = tree.snapshot.page_size().bytes();
        let at = (self.leaf - self.read_from) * page_bytes;
        let leaf = &group.leaves[self.leaf];
        let page = tree.open(leaf.page, &pages[at..at + page_bytes])?;
        if page.kind() != tree.leaf_kind {
            return Err(tree.corrupt(leaf.page, "is an interior page on the level of the leaves"));
        }
        if *cell == 0 {
            self.upper = upper_bound(tree, leaf.divider.as_ref())?;
        }
        let reader = reader.as_mut().expect("it read the leaf");
        let (is_table, max_local) = (page.kind() == PageKind::LeafTable, max_local(page.kind(), page.usable()));
        while *cell < page.cell_count() {
            if chunk.is_full() {
                return Ok(());
            }
            let local = page.local_payload(*cell, max_local);
            let rowid = match &local {
                Some((rowid, _)) => *rowid,
                None => tree.cell(leaf.page, &page, *cell)?.rowid().unwrap_or(0),
            };
            if is_table {
                if last_rowid.is_some_and(|last| rowid <= last) || rowid > self.upper {
                    return Err(tree.corrupt(leaf.page, format!("rowid {rowid} is not between those around it")));
                }
                *last_rowid = Some(rowid);
            }
            match local {
                Some((_, range)) => push_local(chunk, page.bytes(), rowid, range),
                None => {
                    let read = tree.cell(leaf.page, &page, *cell)?;
                    push(chunk, tree, reader, chains, record, (leaf.page, rowid), payload(&read))?;
                }
            }
            *cell += 1;
        }
        if let Some(divider) = leaf.divider.as_ref().filter(|_| page.kind() == PageKind::LeafIndex) {
            if chunk.is_full() {
                return Ok(());
            }
            push(chunk, tree, reader, chains, record, (divider.page.number, 0), payload(&divider.read(tree)?))?;
        }
        (self.leaf, self.cell) = (self.leaf + 1, 0);
        Ok(())
    }
}

impl Drop for ScanPart {
    fn drop(&mut self) {
        lock(&self.tree.buffers).push(std::mem::take(&mut self.pages));
    }
}

impl Part for ScanPart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        // A leaf has fewer rows than its numbers of positions, so that rows that follow it have larger ones.
        let leaves_before = self.group.leaves_before + self.leaf as u64;
        chunk.set_first_record(leaves_before * (self.tree.most_rows_of_leaf() + 1) + self.cell as u64 + 1);
        while self.leaf < self.group.leaves.len() && !chunk.is_full() {
            self.fill_from_leaf(chunk)?;
        }
        if self.leaf == self.group.leaves.len() {
            // Another part can have it.
            self.reader = None;
        }
        Ok(())
    }
}

/// Returns the number of leaves from the first on whose pages are neighbours in the file.
fn neighbours(leaves: &[Leaf]) -> usize {
    let follows = |pair: &&[Leaf]| pair[0].page.checked_add(1) == Some(pair[1].page);
    leaves.windows(2).take_while(follows).count() + 1
}

/// Returns the largest rowid that a leaf may have.
fn upper_bound(tree: &Tree, divider: Option<&Divider>) -> Result<i64> {
    let rowid = match divider {
        Some(divider) => divider.read(tree)?.rowid(),
        None => None,
    };
    Ok(rowid.unwrap_or(i64::MAX))
}

/// Returns the payload of a cell of a leaf or an index.
pub(crate) fn payload<'a>(cell: &Cell<'a>) -> CellPayload<'a> {
    cell.payload().expect("all cells but those of a table's interior pages have a payload")
}

/// Appends a row whose record is this range of a page.
#[inline]
fn push_local(chunk: &mut RecordChunk, page: &[u8], rowid: i64, range: Range<usize>) {
    match page[range.start..].first_chunk() {
        Some(block) if range.len() <= block.len() => chunk.push_short(rowid, block, range.len()),
        _ => chunk.push(rowid, &page[range]),
    }
}

/// Appends the row of a cell on page `page`.
fn push(
    chunk: &mut RecordChunk,
    tree: &Tree,
    reader: &mut PageReader,
    chains: &mut ChainReader,
    record: &mut Vec<u8>,
    (page, rowid): (u32, i64),
    payload: CellPayload<'_>,
) -> Result<()> {
    if payload.overflow.is_none() {
        chunk.push(rowid, payload.local);
        return Ok(());
    }
    chains.read(tree, reader, page, payload, record)?;
    chunk.push(rowid, record);
    Ok(())
}
