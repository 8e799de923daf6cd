//! Runs of terms and sizes of rows, as indexers leave them: in memory, or in a temporary file.

use super::open_chunk;
use super::printed_rows::Chunks;
use crate::sort::cached_file;
use crate::{Error, ErrorKind, Result};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_format::varint;
use litepress_rows::sync::lock;
use litepress_rows::{OptionName, Part, RecordChunk, RowidOrder, Source, message};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

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
                let read = file.read_at(&mut buffer[..len], *at)?;
                *at += read as u64;
                Ok(read)
            }
        }
    }
}

/// Appends the sizes of a row, as `%_docsize` has them, to a run.
pub(super) fn push_sizes(rowid: i64, sizes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&rowid.to_be_bytes());
    varint::push(sizes.len() as u64, out);
    out.extend_from_slice(sizes);
}

/// Number of rows of a part of `%_docsize`.
const ROWS_PER_PART: usize = 32 << 10;

/// The rows of `%_docsize`, from several runs.
pub(super) struct SizesSource {
    state: Mutex<Sizes>,
    has_origins: bool,
}

struct Sizes {
    runs: Vec<SizesRun>,
    /// The next rowid of each run.
    heads: BinaryHeap<Reverse<(i64, usize)>>,
}

/// A run of sizes that is being read.
struct SizesRun {
    input: io::BufReader<Run>,
    sizes: Vec<u8>,
}

impl SizesRun {
    /// Moves on to the next row. Returns its rowid.
    fn next(&mut self) -> Result<Option<i64>> {
        self.read().map_err(|error| Error::new(ErrorKind::Io, format!("a temporary file cannot be read back: {error}")))
    }

    fn read(&mut self) -> io::Result<Option<i64>> {
        let mut rowid = [0; 8];
        if self.input.read(&mut rowid[..1])? == 0 {
            return Ok(None);
        }
        self.input.read_exact(&mut rowid[1..])?;
        let (mut len, mut bytes) = ([0; varint::MAX_LEN], 0);
        let len = loop {
            self.input.read_exact(&mut len[bytes..=bytes])?;
            bytes += 1;
            if let Some((len, _)) = varint::read(&len[..bytes]) {
                break usize::try_from(len).map_err(|_| io::ErrorKind::InvalidData)?;
            }
        };
        self.sizes.resize(len, 0);
        self.input.read_exact(&mut self.sizes)?;
        Ok(Some(i64::from_be_bytes(rowid)))
    }
}

impl SizesSource {
    /// Begins to read the runs.
    pub fn new(runs: Vec<Run>, has_origins: bool) -> Result<Self> {
        let input = |run| SizesRun { input: io::BufReader::with_capacity(64 << 10, run), sizes: Vec::new() };
        let mut runs: Vec<SizesRun> = runs.into_iter().map(input).collect();
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
            let values = [Value::Null, Value::Blob(&run.sizes), Value::Int(1)];
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
