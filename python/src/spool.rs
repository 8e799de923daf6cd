//! Rows of a table whose turn has not come: kept in memory, and beyond a share of it in a temporary file without a name.
//!
//! A part is handed out as it was put in, from wherever it lies: where parts begin does not depend on the memory that there is.
//!
//! ```text
//! part   per row: rowid (8 bytes, big-endian), length of the record (4 bytes; the highest bit: the rowid is automatic), record
//! ```

use litepress::{Error, ErrorKind, Result};
use litepress_rows::{Part, RecordChunk, RowidOrder, Source};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const ROW_HEAD_BYTES: usize = 12;

/// The bit of a record's length, which is below 10^9, that marks rows without a rowid of the input.
const AUTOMATIC: u32 = 1 << 31;

/// Rows that belong together: they will begin a page of their own.
#[derive(Debug, Default)]
pub struct PartRows {
    chunks: Vec<RecordChunk>,
    bytes: usize,
}

impl PartRows {
    /// Appends the rows of a chunk, which follow those that are there.
    pub fn push(&mut self, chunk: RecordChunk) {
        self.bytes += chunk.arena().len() + ROW_HEAD_BYTES * chunk.len();
        self.chunks.push(chunk);
    }

    /// Bytes of memory, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The rows, to be read.
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

/// Memory and the file that all spools of a database share.
#[derive(Debug)]
pub struct Room {
    memory_left: usize,
    temp_dir: PathBuf,
    file: Option<std::sync::Arc<File>>,
    /// Bytes of the file that are taken.
    end: u64,
}

impl Room {
    /// So much memory, and as much of the disk as there is.
    pub fn new(memory_bytes: usize, temp_dir: &Path) -> Self {
        Self { memory_left: memory_bytes, temp_dir: temp_dir.to_owned(), file: None, end: 0 }
    }

    fn keep(&mut self, bytes: Vec<u8>) -> Result<Place> {
        if let Some(left) = self.memory_left.checked_sub(bytes.len()) {
            self.memory_left = left;
            return Ok(Place::Memory(bytes));
        }
        let failed = |error| Error::io("write a temporary file in", &self.temp_dir, error);
        let file = match &self.file {
            Some(file) => file.clone(),
            None => std::sync::Arc::new(tempfile::tempfile_in(&self.temp_dir).map_err(failed)?),
        };
        file.write_all_at(&bytes, self.end).map_err(failed)?;
        let at = self.end;
        self.end += bytes.len() as u64;
        self.file = Some(file.clone());
        Ok(Place::File { file, at, len: bytes.len() })
    }
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    File { file: std::sync::Arc<File>, at: u64, len: usize },
}

#[derive(Debug)]
struct Kept {
    place: Place,
    first_record: u64,
}

/// The rows of a table, part by part; then a source of them.
#[derive(Debug)]
pub struct Spool {
    parts: Vec<Kept>,
    /// Those before it were handed out.
    next: AtomicUsize,
    rows: u64,
    bytes: u64,
    order: RowidOrder,
}

impl Spool {
    /// No row yet. `order`: what is known of their rowids.
    pub fn new(order: RowidOrder) -> Self {
        Self { parts: Vec::new(), next: AtomicUsize::new(0), rows: 0, bytes: 0, order }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends a part.
    ///
    /// # Errors
    /// A temporary file that cannot be written.
    pub fn push(&mut self, part: &PartRows, room: &mut Room) -> Result<()> {
        let Some(first) = part.chunks.first() else { return Ok(()) };
        let mut bytes = Vec::with_capacity(part.bytes());
        for chunk in &part.chunks {
            for (row, rowid) in chunk.rowids().iter().enumerate() {
                let record = chunk.record(row);
                let len = u32::try_from(record.len()).expect("a record is shorter than 10^9 bytes");
                let automatic = if chunk.is_automatic(row) { AUTOMATIC } else { 0 };
                bytes.extend_from_slice(&rowid.to_be_bytes());
                bytes.extend_from_slice(&(len | automatic).to_be_bytes());
                bytes.extend_from_slice(record);
            }
            self.rows += chunk.len() as u64;
        }
        self.bytes += bytes.len() as u64;
        self.parts.push(Kept { place: room.keep(bytes)?, first_record: first.first_record() });
        Ok(())
    }
}

impl Source for Spool {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let Some(kept) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return Ok(None) };
        Ok(Some(Box::new(KeptPart { kept, read: None, at: 0, record: kept.first_record })))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn rowid_order(&self) -> RowidOrder {
        self.order
    }

    fn page_bytes(&self) -> f64 {
        self.bytes as f64 / self.rows.max(1) as f64
    }
}

/// A part on its way back.
struct KeptPart<'s> {
    kept: &'s Kept,
    /// What was read of the file.
    read: Option<Vec<u8>>,
    /// Bytes before the next row.
    at: usize,
    /// Number of the next row.
    record: u64,
}

impl Part for KeptPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let bytes = match (&self.kept.place, &mut self.read) {
            (Place::Memory(bytes), _) => bytes,
            (Place::File { .. }, Some(bytes)) => &*bytes,
            (Place::File { file, at, len }, read) => {
                let mut bytes = vec![0; *len];
                let failed = |error| Error::new(ErrorKind::Io, format!("cannot read a temporary file back: {error}"));
                file.read_exact_at(&mut bytes, *at).map_err(failed)?;
                &*read.insert(bytes)
            }
        };
        chunk.set_first_record(self.record);
        while !chunk.is_full()
            && let Some((rowid, is_automatic, record)) = row_at(bytes, self.at)
        {
            chunk.push(rowid, record);
            if is_automatic {
                chunk.mark_automatic(chunk.len() - 1);
            }
            self.at += ROW_HEAD_BYTES + record.len();
            self.record += 1;
        }
        Ok(())
    }
}

/// The rowid of the row at `at`, whether SQLite may choose it, and the record.
fn row_at(bytes: &[u8], at: usize) -> Option<(i64, bool, &[u8])> {
    let (rowid, rest) = bytes.get(at..)?.split_first_chunk()?;
    let (len, rest) = rest.split_first_chunk()?;
    let len = u32::from_be_bytes(*len);
    let record = &rest[..(len & !AUTOMATIC) as usize];
    Some((i64::from_be_bytes(*rowid), len & AUTOMATIC != 0, record))
}
