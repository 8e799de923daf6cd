//! Runs of terms and sizes of rows, as indexers leave them: in memory, or in a temporary file.

use super::open_chunk;
use super::printed_rows::Chunks;
use crate::sort::cached_file;
use crate::{Error, ErrorKind, Result};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_format::varint;
use litepress_rows::files::{FileExt, retry};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{OptionName, Part, RecordChunk, RowidOrder, Source, message};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of the runs of one index: in memory up to a limit, then in one temporary file without a name.
pub(super) struct RunStore {
    folder: PathBuf,
    memory_limit: u64,
    state: Mutex<StoreState>,
}

#[derive(Default)]
struct StoreState {
    in_memory: u64,
    file: Option<Arc<File>>,
    file_len: u64,
}

impl RunStore {
    pub fn new(folder: PathBuf, memory_limit: u64) -> Self {
        Self { folder, memory_limit, state: Mutex::default() }
    }

    /// Returns the number of bytes in the temporary file.
    pub fn file_len(&self) -> u64 {
        lock(&self.state).file_len
    }

    /// Keeps the bytes of a run.
    pub fn keep(&self, bytes: Vec<u8>) -> Result<Run> {
        let len = bytes.len() as u64;
        {
            let mut state = lock(&self.state);
            if state.in_memory + len <= self.memory_limit {
                state.in_memory += len;
                return Ok(Run(Bytes::Memory(io::Cursor::new(bytes))));
            }
        }
        self.keep_in_file(&bytes)
    }

    /// Begins a run whose bytes come piece by piece.
    pub fn begin(&self) -> Pieces<'_> {
        Pieces { store: self, file: None }
    }

    fn keep_in_file(&self, bytes: &[u8]) -> Result<Run> {
        let len = bytes.len() as u64;
        let (file, at) = {
            let mut state = lock(&self.state);
            let file = match &state.file {
                Some(file) => file.clone(),
                None => state.file.insert(Arc::new(cached_file(&self.folder)?)).clone(),
            };
            state.file_len += len;
            (file, state.file_len - len)
        };
        file.write_all_at(bytes, at).map_err(|error| {
            Error::io("write a temporary file in this folder", &self.folder, error).advise(message![
                "free some room there, or name another folder for temporary files with ",
                OptionName::TempDir.alone()
            ])
        })?;
        Ok(Run(Bytes::File { file, at, end: at + len }))
    }
}

/// A run whose bytes come piece by piece. REQUIRES: no other run is stored meanwhile.
pub(super) struct Pieces<'s> {
    store: &'s RunStore,
    /// The file and the place of the first byte in it, once a piece was stored.
    file: Option<(Arc<File>, u64)>,
}

impl Pieces<'_> {
    /// Stores the next bytes in the temporary file.
    pub fn push(&mut self, bytes: Vec<u8>) -> Result<()> {
        let Run(kept) = self.store.keep_in_file(&bytes)?;
        if let (None, Bytes::File { file, at, .. }) = (&self.file, kept) {
            self.file = Some((file, at));
        }
        Ok(())
    }

    /// Completes the run with its last bytes.
    pub fn finish(mut self, bytes: Vec<u8>) -> Result<Run> {
        if self.file.is_none() {
            return self.store.keep(bytes);
        }
        self.push(bytes)?;
        let end = lock(&self.store.state).file_len;
        let (file, at) = self.file.expect("a piece was stored");
        Ok(Run(Bytes::File { file, at, end }))
    }
}

/// The bytes of a run, to be read once.
pub(super) struct Run(Bytes);

enum Bytes {
    Memory(io::Cursor<Vec<u8>>),
    File { file: Arc<File>, at: u64, end: u64 },
}

impl Read for Run {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Bytes::Memory(bytes) => bytes.read(buffer),
            Bytes::File { file, at, end } => {
                let len = usize::try_from(*end - *at).map_or(buffer.len(), |left| left.min(buffer.len()));
                let read = retry(|| file.read_at(&mut buffer[..len], *at))?;
                *at += read as u64;
                Ok(read)
            }
        }
    }
}

/// Appends a rowid and what belongs to it to a run of rows.
pub(super) fn push_row(rowid: i64, bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&rowid.to_be_bytes());
    varint::push(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Number of rows of a part that is read back.
const ROWS_PER_PART: usize = 32 << 10;

/// Bytes of a run of a spool.
const SPOOL_RUN: usize = 256 << 10;

/// Rows that are known before their table's turn comes, in order.
///
/// ORDER: [`push`](Self::push) all rows, then read them back once with [`next`](Self::next).
#[derive(Default)]
pub(super) struct RowSpool {
    open: Vec<u8>,
    runs: VecDeque<Run>,
    reader: Option<RowRun>,
}

impl RowSpool {
    /// Adds a row.
    pub fn push(&mut self, rowid: i64, bytes: &[u8], store: &RunStore) -> Result<()> {
        push_row(rowid, bytes, &mut self.open);
        if self.open.len() >= SPOOL_RUN {
            self.runs.push_back(store.keep(std::mem::take(&mut self.open))?);
        }
        Ok(())
    }

    /// Returns the next row.
    pub fn next(&mut self) -> Result<Option<(i64, &[u8])>> {
        let reader = self.reader.get_or_insert_with(RowRun::default);
        loop {
            if let Some(rowid) = reader.next()? {
                return Ok(Some((rowid, &reader.bytes)));
            }
            let Some(run) = self.runs.pop_front() else { break };
            *reader = RowRun::new(run);
        }
        if self.open.is_empty() {
            return Ok(None);
        }
        *reader = RowRun::new(Run(Bytes::Memory(io::Cursor::new(std::mem::take(&mut self.open)))));
        Ok(reader.next()?.map(|rowid| (rowid, reader.bytes.as_slice())))
    }
}

/// The rows of a table whose records were spooled.
pub(super) struct SpooledRows(Mutex<RowSpool>);

impl SpooledRows {
    /// Begins to read the rows back.
    pub fn new(spool: RowSpool) -> Self {
        Self(Mutex::new(spool))
    }
}

impl Source for SpooledRows {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let (mut spool, mut chunks) = (lock(&self.0), Vec::new());
        for _ in 0..ROWS_PER_PART {
            let Some((rowid, record)) = spool.next()? else { break };
            open_chunk(&mut chunks).push(rowid, record);
        }
        Ok((!chunks.is_empty()).then(|| Box::new(Chunks(chunks.into())) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// The rows of `%_docsize`, from several runs.
pub(super) struct SizesSource {
    state: Mutex<Sizes>,
    has_origins: bool,
}

struct Sizes {
    runs: Vec<RowRun>,
    /// The next rowid of each run.
    heads: BinaryHeap<Reverse<(i64, usize)>>,
}

/// A run of rows that is being read.
#[derive(Default)]
struct RowRun {
    input: Option<io::BufReader<Run>>,
    bytes: Vec<u8>,
}

impl RowRun {
    fn new(run: Run) -> Self {
        Self { input: Some(io::BufReader::with_capacity(64 << 10, run)), bytes: Vec::new() }
    }

    /// Moves on to the next row. Returns its rowid.
    fn next(&mut self) -> Result<Option<i64>> {
        self.read().map_err(|error| Error::new(ErrorKind::Io, format!("a temporary file cannot be read back: {error}")))
    }

    fn read(&mut self) -> io::Result<Option<i64>> {
        let (Some(input), mut rowid) = (&mut self.input, [0; 8]) else { return Ok(None) };
        if input.read(&mut rowid[..1])? == 0 {
            return Ok(None);
        }
        input.read_exact(&mut rowid[1..])?;
        let (mut len, mut bytes) = ([0; varint::MAX_LEN], 0);
        let len = loop {
            input.read_exact(&mut len[bytes..=bytes])?;
            bytes += 1;
            if let Some((len, _)) = varint::read(&len[..bytes]) {
                break usize::try_from(len).map_err(|_| io::ErrorKind::InvalidData)?;
            }
        };
        self.bytes.resize(len, 0);
        input.read_exact(&mut self.bytes)?;
        Ok(Some(i64::from_be_bytes(rowid)))
    }
}

impl SizesSource {
    /// Begins to read the runs.
    pub fn new(runs: Vec<Run>, has_origins: bool) -> Result<Self> {
        let mut runs: Vec<RowRun> = runs.into_iter().map(RowRun::new).collect();
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|rowid| Reverse((rowid, number))));
        }
        Ok(Self { state: Mutex::new(Sizes { runs, heads }), has_origins })
    }
}

impl Source for SizesSource {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut state = lock(&self.state);
        let Sizes { runs, heads } = &mut *state;
        let (mut chunks, mut record) = (Vec::new(), Vec::new());
        for _ in 0..ROWS_PER_PART {
            let Some(Reverse((rowid, number))) = heads.pop() else { break };
            let run = &mut runs[number];
            record.clear();
            let values = [Value::Null, Value::Blob(&run.bytes), Value::Int(1)];
            write_record(if self.has_origins { &values } else { &values[..2] }, &mut record);
            open_chunk(&mut chunks).push(rowid, &record);
            heads.extend(run.next()?.map(|rowid| Reverse((rowid, number))));
        }
        Ok((!chunks.is_empty()).then(|| Box::new(Chunks(chunks.into())) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn rowid_order(&self) -> RowidOrder {
        RowidOrder::Ascending
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// Returns chunks as a source of one part each.
pub(super) fn chunks(chunks: Vec<RecordChunk>) -> impl Source {
    ChunkSource(Mutex::new(chunks.into_iter().filter(|chunk| !chunk.is_empty()).collect()))
}

struct ChunkSource(Mutex<VecDeque<RecordChunk>>);

impl Source for ChunkSource {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let chunk = lock(&self.0).pop_front();
        Ok(chunk.map(|chunk| Box::new(Chunks(VecDeque::from([chunk]))) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}
