//! Segments of buckets in a file: adjacent blocks of one bucket. A bucket may have several segments.
//!
//! Blocks are collected in one buffer while a background thread writes others. A hash of each segment is kept in
//! memory and compared when it is read back: its bytes alone would not reveal damage.

use crate::sort::spill::{ALIGNMENT, AlignedMemory, SpillFile};
use crate::{Error, Result};
use litepress_rows::sync::mpsc::{Receiver, Sender, channel};
use litepress_rows::sync::thread::{self, JoinHandle};
use litepress_rows::sync::{Mutex, ignore_poison};
use std::ops::Range;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// Bytes of a block. A block has items of one bucket, which may be cut anywhere. It is as large as a memory page, and
/// as direct I/O requires.
pub(in crate::sort) const BLOCK_BYTES: usize = ALIGNMENT;

/// Batch buffers of one writer. Filling waits only if all others are still to be written.
const BATCHES: usize = 4;

/// Adjacent blocks of one bucket in a file.
#[derive(Clone, Debug)]
pub(in crate::sort) struct Segment {
    offset: u64,
    /// Bytes of items, without the unused end of the last block.
    bytes: usize,
    hash: u64,
}

/// Writes segments one after another.
#[derive(Debug)]
pub(in crate::sort) struct SegmentWriter {
    file: Arc<SpillFile>,
    /// Offset in the file of the next block.
    end: u64,
    /// Bytes of a batch. No buffer is allocated before the first segment.
    write_bytes: usize,
    batch: AlignedMemory,
    filled: usize,
    /// The thread that writes the batches before.
    background: Option<Background>,
    /// Offset of the current segment, and its hash so far.
    start: u64,
    hash: u64,
}

/// A thread that writes batches.
#[derive(Debug)]
struct Background {
    full: Sender<(AlignedMemory, usize)>,
    /// Buffers of written batches, and the number of all buffers. The receiver is in a mutex only because readers of
    /// buckets share the writer.
    empty: Mutex<Receiver<AlignedMemory>>,
    memories: usize,
    thread: JoinHandle<Result<()>>,
}

impl Background {
    fn start(file: Arc<SpillFile>) -> Result<Self> {
        let (full, batches) = channel::<(AlignedMemory, usize)>();
        let (written, empty) = channel();
        let (path, name) = (file.path().to_owned(), "litepress-spill".to_owned());
        let thread = thread::Builder::new().name(name).spawn(move || {
            for (batch, filled) in batches {
                file.append(&batch.bytes()[..filled])?;
                // The last buffers are not reused.
                let _ = written.send(batch);
            }
            Ok(())
        });
        let thread = thread.map_err(|cause| Error::io("start a thread that spills items", &path, cause))?;
        Ok(Self { full, empty: Mutex::new(empty), memories: 1, thread })
    }

    /// Returns an empty buffer, or `None` if writing has failed.
    fn memory(&mut self, bytes: usize) -> Option<AlignedMemory> {
        if self.memories == BATCHES {
            return ignore_poison(self.empty.get_mut()).recv().ok();
        }
        self.memories += 1;
        Some(AlignedMemory::new(bytes))
    }

    /// Waits until everything is written.
    fn finish(self) -> Result<()> {
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl SegmentWriter {
    /// Writes to an empty file, `write_bytes` bytes at a time.
    pub fn new(file: Arc<SpillFile>, write_bytes: usize) -> Self {
        let write_bytes = write_bytes.next_multiple_of(BLOCK_BYTES);
        let batch = AlignedMemory::default();
        Self { file, end: 0, write_bytes, batch, filled: 0, background: None, start: 0, hash: 0 }
    }

    pub fn file(&self) -> &Arc<SpillFile> {
        &self.file
    }

    pub fn begin(&mut self) {
        (self.start, self.hash) = (self.end, 0);
    }

    /// Appends a block to the segment.
    pub fn push(&mut self, block: &[u8]) -> Result<()> {
        if self.batch.bytes().is_empty() {
            self.batch = AlignedMemory::new(self.write_bytes);
        } else if self.filled == self.write_bytes {
            self.write()?;
        }
        self.batch.bytes_mut()[self.filled..self.filled + BLOCK_BYTES].copy_from_slice(block);
        self.filled += BLOCK_BYTES;
        self.end += BLOCK_BYTES as u64;
        self.hash = hash_on(self.hash, block);
        Ok(())
    }

    /// Returns the segment, of which the first `bytes` bytes are items.
    pub fn end(&self, bytes: usize) -> Segment {
        Segment { offset: self.start, bytes, hash: self.hash }
    }

    /// Hands the collected blocks to the thread.
    fn write(&mut self) -> Result<()> {
        let background = match &mut self.background {
            Some(background) => background,
            none => none.insert(Background::start(self.file.clone())?),
        };
        let Some(next) = background.memory(self.write_bytes) else { return self.await_writes() };
        let batch = (std::mem::replace(&mut self.batch, next), std::mem::take(&mut self.filled));
        if background.full.send(batch).is_ok() { Ok(()) } else { self.await_writes() }
    }

    fn await_writes(&mut self) -> Result<()> {
        self.background.take().map_or(Ok(()), Background::finish)
    }

    /// Waits until all segments are written.
    pub fn finish(&mut self) -> Result<()> {
        if self.filled > 0 {
            self.write()?;
        }
        self.batch = AlignedMemory::default();
        self.await_writes()
    }
}

impl Drop for SegmentWriter {
    fn drop(&mut self) {
        // A writer that is dropped unfinished belongs to a sort that has already failed.
        let _ = self.await_writes();
    }
}

/// The segments of a bucket, read into memory.
#[derive(Debug)]
pub(in crate::sort) struct ReadSegments {
    memory: AlignedMemory,
    /// The range of each segment in `memory`.
    ranges: Vec<Range<usize>>,
}

impl ReadSegments {
    /// Reads each segment with one call: while the disk is busy writing, every read waits in its queue.
    pub fn read(file: &SpillFile, segments: &[Segment]) -> Result<Self> {
        let mut end = 0;
        let place = |segment: &Segment| {
            let start = end;
            end += segment.bytes.next_multiple_of(BLOCK_BYTES);
            start..start + segment.bytes
        };
        let ranges: Vec<Range<usize>> = segments.iter().map(place).collect();
        let mut memory = AlignedMemory::new(end);
        for (segment, range) in segments.iter().zip(&ranges) {
            let blocks = &mut memory.bytes_mut()[range.start..range.end.next_multiple_of(BLOCK_BYTES)];
            file.read(blocks, segment.offset)?;
            if blocks.chunks(BLOCK_BYTES).fold(0, hash_on) != segment.hash {
                return Err(file.damaged());
            }
        }
        Ok(Self { memory, ranges })
    }

    /// Returns the bytes of each segment.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| &self.memory.bytes()[range.clone()])
    }
}

/// Reads the segments of a bucket on a thread of its own. Dropping it waits for the thread.
#[derive(Debug)]
pub(in crate::sort) struct SegmentReader(Option<JoinHandle<Result<ReadSegments>>>);

impl SegmentReader {
    /// Starts to read these segments. Returns `None` if the system has no more threads.
    pub fn start(file: &Arc<SpillFile>, segments: &[Segment]) -> Option<Self> {
        let (file, segments) = (file.clone(), segments.to_vec());
        let thread = thread::Builder::new().name("litepress-read".to_owned());
        thread.spawn(move || ReadSegments::read(&file, &segments)).ok().map(|reading| Self(Some(reading)))
    }

    /// Waits for the thread and returns the segments.
    pub fn take(mut self) -> Result<ReadSegments> {
        let reading = self.0.take().expect("only once");
        reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for SegmentReader {
    fn drop(&mut self) {
        if let Some(reading) = self.0.take() {
            // A failure to read ahead does not matter if the segments are not needed.
            let _ = reading.join();
        }
    }
}

fn hash_on(before: u64, block: &[u8]) -> u64 {
    before.rotate_left(1) ^ XxHash3_64::oneshot(block)
}
