//! Finds the pages of a snapshot in the write-ahead log.
//!
//! ```text
//! database-wal    | header, 32 bytes | frame header, 24 bytes | page | frame header | page | ...
//! database-shm    | header, 48 bytes | the header again | number of backfilled frames | ...        (the wal-index)
//! ```
//!
//! A snapshot sees the frames up to the last one that the wal-index counts when the snapshot begins. The newest frame of a page
//! holds its bytes; a page without a frame is in the database file. Backfilled frames are in the file already, and a page of such
//! a frame alone is read there.
//!
//! The frames stay while the transaction of the snapshot lasts: SQLite restarts a log only if it has no reader.

use crate::file_pointer::{self, FilePointer, HEADER_WORDS};
use litepress_rows::files::FileExt;
use litepress_rows::sqlite::companion;
use litepress_rows::{Error, ErrorKind, Result};
use rusqlite::Connection;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of the header of the log.
const WAL_HEADER_LEN: usize = 32;
/// Bytes of the header of a frame.
const FRAME_HEADER_LEN: u64 = 24;
/// Offset of the salts, two words, in the header of the log.
const SALTS_AT: usize = 16;
/// Offset of the salts in the header of a frame.
const FRAME_SALTS_AT: usize = 8;
/// Bytes of the log that are read at once if frames are short.
const READ_BYTES: u64 = 64 * 1024;

/// Position of the last frame among the words of the wal-index's header.
const LAST_FRAME: usize = 4;
/// Position of the salts.
const SALTS: usize = 8;

/// The state of the log as the wal-index says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalState {
    header: [u32; HEADER_WORDS],
    backfilled: u32,
}

impl WalState {
    /// Reads the wal-index. Returns `None` if it is not mapped yet, or is being written at this moment.
    ///
    /// REQUIRES: the connection reads the database in WAL mode, and does not keep the wal-index in its own memory.
    pub fn read(file: &FilePointer) -> io::Result<Option<Self>> {
        let Some(words) = file.wal_index()? else { return Ok(None) };
        let (copies, rest) = words.as_chunks::<HEADER_WORDS>();
        Ok((copies[0] == copies[1]).then_some(Self { header: copies[0], backfilled: rest[0] }))
    }

    /// Returns whether no transaction was committed between the two states.
    pub fn is_same_commit(&self, other: &Self) -> bool {
        self.header == other.header
    }

    /// Returns the number of frames of the snapshot.
    pub fn frames(&self) -> u32 {
        self.header[LAST_FRAME]
    }

    /// Returns whether the database file alone has all pages.
    pub fn is_backfilled(&self) -> bool {
        self.backfilled == self.frames()
    }

    /// Returns the salts as they are in the log: SQLite copies their bytes to the wal-index.
    fn salts(&self) -> [u8; 8] {
        let mut salts = [0; 8];
        for (bytes, word) in salts.as_chunks_mut().0.iter_mut().zip(&self.header[SALTS..]) {
            *bytes = word.to_ne_bytes();
        }
        salts
    }
}

/// Returns whether the WAL holds a page behind `last_page`, the last one of the database. Frames that a checkpoint has copied
/// count too.
///
/// REQUIRES: the connection is in a write transaction, in WAL mode, and has written nothing.
///
/// # Errors
/// If the WAL or the wal-index cannot be read.
pub fn wal_has_pages_behind(connection: &Connection, last_page: u32, page_bytes: usize) -> Result<bool> {
    let failed = |error| {
        let path = file_pointer::database_path(connection).unwrap_or_default();
        Error::io("read the WAL of", &path, error)
    };
    // The lock of writers keeps the wal-index as it is.
    let state = WalState::read(&FilePointer::of_database(connection)?).map_err(failed)?;
    let frames = state.ok_or_else(|| failed(io::ErrorKind::ResourceBusy.into()))?.frames();
    let Some(wal) = FilePointer::of_journal(connection) else { return Ok(frames > 0) };
    let stride = FRAME_HEADER_LEN + page_bytes as u64;
    for frame in 0..frames {
        let mut page = [0; 4];
        wal.read(&mut page, WAL_HEADER_LEN as u64 + u64::from(frame) * stride).map_err(failed)?;
        if u32::from_be_bytes(page) > last_page {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the WAL has no frame since a checkpoint emptied it: then the file has all pages, and every reader sees the last
/// commit. Such a checkpoint waits for readers of the WAL, and cannot copy while one reads an older state of the file.
///
/// REQUIRES: the connection is in a write transaction, in WAL mode, and has written nothing.
///
/// # Errors
/// If the wal-index cannot be read.
pub fn wal_is_empty(connection: &Connection) -> Result<bool> {
    let state = WalState::read(&FilePointer::of_database(connection)?).map_err(|error| {
        let path = file_pointer::database_path(connection).unwrap_or_default();
        Error::io("read the wal-index of", &path, error)
    })?;
    Ok(state.is_some_and(|state| state.frames() == 0))
}

/// The frames of a snapshot that are not in the database file.
#[derive(Debug)]
pub(crate) struct WalFrames {
    file: File,
    path: PathBuf,
    page_bytes: usize,
    /// Page and number of its newest frame, by page.
    frames: Vec<(u32, u32)>,
}

impl WalFrames {
    /// Finds the frames.
    ///
    /// REQUIRES: the transaction whose state this is lasts, and the state is not backfilled.
    pub fn find(database: &Path, page_bytes: usize, state: &WalState) -> Result<Self> {
        let path = companion(database, "-wal");
        let file = File::open(&path).map_err(|error| Error::io("open the write-ahead log", &path, error))?;
        let mut wal = Self { file, path, page_bytes, frames: Vec::new() };
        wal.read_headers(state)?;
        // The sort is stable: the newest frame of a page is its last.
        wal.frames.sort_by_key(|&(page, _)| page);
        wal.frames.reverse();
        wal.frames.dedup_by_key(|&mut (page, _)| page);
        wal.frames.reverse();
        Ok(wal)
    }

    /// Reads the headers of the frames that are not backfilled.
    fn read_headers(&mut self, state: &WalState) -> Result<()> {
        let mut header = [0; WAL_HEADER_LEN];
        self.read_at(&mut header, 0)?;
        let salts = state.salts();
        if header[SALTS_AT..SALTS_AT + salts.len()] != salts {
            return Err(self.unlike_index("its header"));
        }
        let stride = FRAME_HEADER_LEN + self.page_bytes as u64;
        let at_once = if stride < READ_BYTES / 16 { READ_BYTES / stride } else { 1 };
        let (mut frame, end) = (state.backfilled, state.frames());
        let mut bytes = Vec::new();
        while frame < end {
            let count = at_once.min(u64::from(end - frame));
            // The last frame's header is enough.
            let len = (count - 1) * stride + FRAME_HEADER_LEN;
            bytes.resize(usize::try_from(len).expect("a few frames"), 0);
            self.read_at(&mut bytes, WAL_HEADER_LEN as u64 + u64::from(frame) * stride)?;
            for header in bytes.chunks(usize::try_from(stride).expect("a frame")) {
                frame += 1;
                if header[FRAME_SALTS_AT..FRAME_SALTS_AT + salts.len()] != salts {
                    return Err(self.unlike_index(&format!("frame {frame}")));
                }
                let page = header.first_chunk().copied().map_or(0, u32::from_be_bytes);
                self.frames.push((page, frame));
            }
        }
        Ok(())
    }

    /// Returns the first page from `from` on that is in the log and at most `last`, with its frame.
    pub fn next(&self, from: u32, last: u32) -> Option<(u32, u32)> {
        let at = self.frames.partition_point(|&(page, _)| page < from);
        self.frames.get(at).copied().filter(|&(page, _)| page <= last)
    }

    /// Reads the page of a frame.
    pub fn read(&self, frame: u32, page: &mut [u8]) -> Result<()> {
        let stride = FRAME_HEADER_LEN + self.page_bytes as u64;
        self.read_at(page, WAL_HEADER_LEN as u64 + u64::from(frame - 1) * stride + FRAME_HEADER_LEN)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let read = self.file.read_exact_at(bytes, offset);
        read.map_err(|error| Error::io("read the write-ahead log", &self.path, error))
    }

    fn unlike_index(&self, what: &str) -> Error {
        let message = format!("{what} is not of the log that SQLite reads");
        Error::new(ErrorKind::Corrupt, message)
            .in_file(&self.path)
            .advise("make sure that nothing but SQLite moves or replaces the files beside a database in use")
    }
}
