//! Encoded rows that wait for their table's turn, or for the lock of writers: in memory, and beyond a share of it in an unnamed
//! temporary file.
//!
//! A part is read back as it was stored. The limits of parts do not depend on the available memory.
//!
//! ```text
//! part of rows     per row: rowid (8 bytes, big-endian), length of the record (4 bytes; highest bit: automatic rowid), record
//! part of leaves   leaf pages of the table, if rows for a database that exists come behind its last one (leaves.rs)
//! ```
//!
//! `fill` reads a source on every core.

mod fill;
mod leaves;
#[cfg(test)]
mod tests;

pub(crate) use leaves::{Leaves, WaitingPart};

use crate::index::Indexes;
use crate::sort::cached_file;
use crate::{Error, ErrorKind, Result};
use leaves::LeafRows;
use litepress_rows::files::FileExt;
use litepress_rows::source::PART_BYTES;
use litepress_rows::sync::Mutex;
use litepress_rows::{Part, RecordChunk, RowidOrder, Source, Table};
use std::fmt;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROW_HEAD_BYTES: usize = 12;

/// The bit of a record's length, which is below 10^9, that marks rows without a rowid of the input.
const AUTOMATIC: u32 = 1 << 31;

/// Consecutive rows of one table, which begin a leaf page.
#[derive(Debug, Default)]
pub struct PartRows {
    chunks: Vec<RecordChunk>,
    bytes: usize,
}

impl PartRows {
    /// Appends the rows of a chunk.
    pub fn push(&mut self, chunk: RecordChunk) {
        self.bytes += chunk.arena().len() + ROW_HEAD_BYTES * chunk.len();
        self.chunks.push(chunk);
    }

    /// Returns the approximate size in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether the part has no row.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Makes the rows readable by the engine.
    pub fn into_part(self) -> Box<dyn Part> {
        Box::new(ReadyPart(self.chunks.into_iter()))
    }
}

struct ReadyPart(std::vec::IntoIter<RecordChunk>);

impl Part for ReadyPart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        if let Some(next) = self.0.next() {
            *chunk = next;
        }
        Ok(())
    }
}

/// Memory and the temporary file that all spools of a database share.
#[derive(Debug)]
pub struct SpoolBudget {
    memory_left: usize,
    temp_dir: PathBuf,
    file: Option<Arc<File>>,
    /// Used bytes of the file.
    end: u64,
}

impl SpoolBudget {
    /// Grants `memory_bytes`, and the free space of the disk of `temp_dir`.
    pub fn new(memory_bytes: usize, temp_dir: &Path) -> Self {
        Self { memory_left: memory_bytes, temp_dir: temp_dir.to_owned(), file: None, end: 0 }
    }

    fn keep(&mut self, bytes: Vec<u8>) -> Result<Location> {
        if self.takes(bytes.len()) {
            return Ok(Location::Memory(bytes));
        }
        self.write([&bytes[..]].into_iter()).map(Location::File)
    }

    /// Takes this many bytes of the memory. Returns `false` if there are not as many.
    fn takes(&mut self, bytes: usize) -> bool {
        let left = self.memory_left.checked_sub(bytes);
        self.memory_left = left.unwrap_or(self.memory_left);
        left.is_some()
    }

    /// Writes slices one behind the other to the temporary file.
    fn write<'b>(&mut self, slices: impl Iterator<Item = &'b [u8]>) -> Result<InFile> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => Arc::new(cached_file(&self.temp_dir)?),
        };
        let at = self.end;
        for bytes in slices {
            let failed = |error| Error::io("write a temporary file in", &self.temp_dir, error);
            file.write_all_at(bytes, self.end).map_err(failed)?;
            self.end += bytes.len() as u64;
        }
        self.file = Some(file.clone());
        Ok(InFile { file, at, end: self.end })
    }
}

/// Bytes in the temporary file.
#[derive(Debug)]
struct InFile {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl InFile {
    /// Returns the number of bytes.
    fn len(&self) -> usize {
        usize::try_from(self.end - self.at).expect("bytes that were in memory")
    }

    /// Reads the bytes from offset `from` on.
    fn read(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        let failed = |error| Error::new(ErrorKind::Io, format!("cannot read a temporary file back: {error}"));
        self.file.read_exact_at(bytes, self.at + from).map_err(failed)
    }
}

#[derive(Debug)]
enum Location {
    Memory(Vec<u8>),
    File(InFile),
}

/// Rows that were stored at once, with consecutive numbers.
#[derive(Debug)]
struct StoredRows {
    location: Location,
    first_record: u64,
}

/// What is known of the rowids of spooled rows.
#[derive(Debug, Default)]
struct Rowids {
    /// Number of rows without a rowid of the input.
    automatic: u64,
    /// The smallest and the largest rowid of the others.
    range: Option<(i64, i64)>,
    /// Whether a rowid is not above the one before.
    are_unordered: bool,
    last: Option<i64>,
}

impl Rowids {
    /// Notes the rowid of the next row.
    fn note(&mut self, rowid: i64) {
        let (smallest, largest) = self.range.unwrap_or((rowid, rowid));
        self.range = Some((smallest.min(rowid), largest.max(rowid)));
        self.are_unordered |= self.last.is_some_and(|last| rowid <= last);
        self.last = Some(rowid);
    }
}

enum SpooledPart {
    Rows(Vec<StoredRows>),
    Leaves(WaitingPart),
}

/// The parts of one table, in their order: first a sink of parts, then a source of them.
pub struct Spool {
    parts: Vec<SpooledPart>,
    /// Bytes of the last part, if it is one of rows.
    part_bytes: usize,
    /// Index of the next part to hand out.
    next: AtomicUsize,
    rows: u64,
    bytes: u64,
    order: RowidOrder,
    /// Rows without a rowid of the input are numbered from 1, without gaps: [`dense`](Self::dense).
    is_dense: bool,
    /// No column of the table holds the rowid.
    has_no_alias: bool,
    rowids: Rowids,
    /// Columns of the table that the rows lack.
    missing: Vec<usize>,
    last_sequence: Option<i64>,
    /// The leaf pages that the rows become; `None` if they are kept as rows.
    leaves: Option<Leaves>,
    /// The index entries of all rows, if all of them became leaf pages.
    entries: Mutex<Option<Indexes>>,
}

impl fmt::Debug for Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spool").field("rows", &self.rows).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Spool {
    /// Creates an empty spool. `order` is the known order of the rowids.
    pub fn new(order: RowidOrder) -> Self {
        Self {
            parts: Vec::new(),
            part_bytes: 0,
            next: AtomicUsize::new(0),
            rows: 0,
            bytes: 0,
            order,
            is_dense: false,
            has_no_alias: false,
            rowids: Rowids::default(),
            missing: Vec::new(),
            last_sequence: None,
            leaves: None,
            entries: Mutex::new(None),
        }
    }

    /// Creates an empty spool for the rows of a source, which are added to `table`.
    pub fn like(source: &dyn Source, table: &Table) -> Self {
        let (missing, last_sequence) = (source.missing_columns(), source.last_sequence());
        Self { missing, last_sequence, ..Self::new(source.rowid_order()) }.dense(table)
    }

    /// Numbers the rows without a rowid of the input from 1, without gaps, and looks at the rowids of the others.
    #[must_use]
    pub fn dense(mut self, table: &Table) -> Self {
        self.is_dense = true;
        self.has_no_alias = table.rowid_alias.is_none();
        self
    }

    /// Says which columns of the table the rows lack.
    #[must_use]
    pub fn lacking(mut self, missing: Vec<usize>) -> Self {
        self.missing = missing;
        self
    }

    /// Says that the rows lack the same columns as those of another spool.
    pub fn lack_columns_of(&mut self, other: &Self) {
        self.missing.clone_from(&other.missing);
    }

    /// Makes all rows readable again.
    pub fn rewind(&self) {
        self.next.store(0, Ordering::Relaxed);
    }

    /// Appends a chunk, whose rows keep their numbers.
    ///
    /// # Errors
    /// A temporary file that cannot be written.
    pub fn push_chunk(&mut self, chunk: &RecordChunk, budget: &mut SpoolBudget) -> Result<()> {
        if !matches!(self.parts.last(), Some(SpooledPart::Rows(_))) || self.part_bytes >= PART_BYTES {
            self.begin_part();
        }
        self.store(std::slice::from_ref(chunk), budget)
    }

    /// Returns whether the spool has no row.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends a part.
    ///
    /// # Errors
    /// A temporary file that cannot be written.
    pub fn push(&mut self, part: &PartRows, budget: &mut SpoolBudget) -> Result<()> {
        self.begin_part();
        self.store(&part.chunks, budget)
    }

    fn begin_part(&mut self) {
        self.parts.push(SpooledPart::Rows(Vec::new()));
        self.part_bytes = 0;
    }

    /// Appends rows with consecutive numbers to the last part.
    fn store(&mut self, chunks: &[RecordChunk], budget: &mut SpoolBudget) -> Result<()> {
        let Some(first) = chunks.first() else { return Ok(()) };
        let mut bytes = Vec::new();
        for chunk in chunks {
            for (row, &rowid) in chunk.rowids().iter().enumerate() {
                let record = chunk.record(row);
                let len = u32::try_from(record.len()).expect("a record is shorter than 10^9 bytes");
                let is_automatic = chunk.is_automatic(row);
                let rowid = if self.is_dense { self.numbered(rowid, is_automatic) } else { rowid };
                let automatic = if is_automatic { AUTOMATIC } else { 0 };
                bytes.extend_from_slice(&rowid.to_be_bytes());
                bytes.extend_from_slice(&(len | automatic).to_be_bytes());
                bytes.extend_from_slice(record);
                self.rows += 1;
            }
        }
        self.bytes += bytes.len() as u64;
        self.part_bytes += bytes.len();
        let rows = StoredRows { location: budget.keep(bytes)?, first_record: first.first_record() };
        let Some(SpooledPart::Rows(part)) = self.parts.last_mut() else { unreachable!("a part of rows was begun") };
        part.push(rows);
        Ok(())
    }

    /// Returns the rowid of the next row: its number, if the input gives none.
    fn numbered(&mut self, rowid: i64, is_automatic: bool) -> i64 {
        if is_automatic || self.has_no_alias {
            self.rowids.automatic += 1;
            return self.rowids.automatic.cast_signed();
        }
        self.rowids.note(rowid);
        rowid
    }
}

impl Source for Spool {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return Ok(None) };
        Ok(Some(match part {
            SpooledPart::Rows(stored) => Box::new(PartReader { stored, read: None, at: 0, row: 0 }),
            SpooledPart::Leaves(part) => Box::new(LeafRows::new(part, self.leaves())),
        }))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn rowid_order(&self) -> RowidOrder {
        match self.rowids {
            Rowids { range: Some(_), are_unordered, automatic: 0, .. } if self.is_dense => {
                if are_unordered {
                    RowidOrder::Unordered
                } else {
                    RowidOrder::Ascending
                }
            }
            _ => self.order,
        }
    }

    fn has_automatic_rowids(&self) -> bool {
        self.is_dense && !self.has_no_alias && self.rowids.automatic == self.rows
    }

    fn rowid_range(&self) -> Option<RangeInclusive<i64>> {
        let (smallest, largest) = self.rowids.range.filter(|_| self.rowids.automatic == 0)?;
        Some(smallest..=largest)
    }

    fn missing_columns(&self) -> Vec<usize> {
        self.missing.clone()
    }

    fn last_sequence(&self) -> Option<i64> {
        self.last_sequence
    }

    fn page_bytes(&self) -> f64 {
        self.bytes as f64 / self.rows.max(1) as f64
    }
}

/// Reads a stored part.
struct PartReader<'s> {
    /// The rows that are not read whole.
    stored: &'s [StoredRows],
    /// The bytes of rows that were in the file.
    read: Option<Vec<u8>>,
    /// Offset of the next row.
    at: usize,
    /// Position of the next row among those that were stored with it.
    row: u64,
}

impl Part for PartReader<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Some((stored, rest)) = self.stored.split_first() else { return Ok(()) };
        let bytes = match (&stored.location, &mut self.read) {
            (Location::Memory(bytes), _) => bytes,
            (Location::File(_), Some(bytes)) => &*bytes,
            (Location::File(file), read) => {
                let mut bytes = vec![0; file.len()];
                file.read(0, &mut bytes)?;
                &*read.insert(bytes)
            }
        };
        chunk.set_first_record(stored.first_record + self.row);
        while !chunk.is_full()
            && let Some((rowid, is_automatic, record)) = row_at(bytes, self.at)
        {
            chunk.push(rowid, record);
            if is_automatic {
                chunk.mark_automatic(chunk.len() - 1);
            }
            self.at += ROW_HEAD_BYTES + record.len();
            self.row += 1;
        }
        if self.at >= bytes.len() {
            (self.stored, self.read, self.at, self.row) = (rest, None, 0, 0);
        }
        Ok(())
    }
}

/// Returns the rowid of the row at `at`, whether SQLite may choose it, and the record.
fn row_at(bytes: &[u8], at: usize) -> Option<(i64, bool, &[u8])> {
    let (rowid, rest) = bytes.get(at..)?.split_first_chunk()?;
    let (len, rest) = rest.split_first_chunk()?;
    let len = u32::from_be_bytes(*len);
    let record = &rest[..(len & !AUTOMATIC) as usize];
    Some((i64::from_be_bytes(*rowid), len & AUTOMATIC != 0, record))
}
