//! Blocks of buckets in a file: as many of one bucket as there were, side by side, and several such segments of each.
//!
//! Blocks are collected in one memory while others are written, on a thread of its own. What is read back is checked
//! against a hash of what was written: nothing in it would tell that it is damaged.

use super::spill::{ALIGNMENT, AlignedMemory, SpillFile};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use twox_hash::XxHash3_64;

/// Bytes of a block: items of one bucket, cut anywhere. As many as a page of memory has, and as direct I/O asks for.
pub(super) const BLOCK_BYTES: usize = ALIGNMENT;

/// Memories for blocks of one writer: whoever fills one waits only where all others are still to be written.
const BATCHES: usize = 4;

/// Blocks side by side in a file.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    offset: u64,
    /// Without what the last block has behind its items.
    bytes: usize,
    hash: u64,
}

/// Writes segments, one after the other.
#[derive(Debug)]
pub(super) struct SegmentWriter {
    file: Arc<SpillFile>,
    /// Where the next block will stand in the file.
    end: u64,
    /// Bytes of a batch; between segments there may be none.
    write_bytes: usize,
    batch: AlignedMemory,
    filled: usize,
    /// What writes the batches before.
    background: Option<Background>,
    /// Where the segment begins whose blocks come, and their hash.
    start: u64,
    hash: u64,
}

/// A thread that writes batches.
#[derive(Debug)]
struct Background {
    full: Sender<(AlignedMemory, usize)>,
    /// Memories of batches that are written (locked because those who read buckets share them), and how many there are in
    /// all.
    empty: Mutex<Receiver<AlignedMemory>>,
    memories: usize,
    thread: JoinHandle<Result<()>>,
}

impl Background {
    fn start(file: Arc<SpillFile>) -> Result<Self> {
        let (full, batches) = channel::<(AlignedMemory, usize)>();
        let (written, empty) = channel();
        let (path, name) = (file.path().to_owned(), "litepress-spill".to_owned());
        let thread = std::thread::Builder::new().name(name).spawn(move || {
            for (batch, filled) in batches {
                file.append(&batch.bytes()[..filled])?;
                // Nobody waits for the last ones.
                let _ = written.send(batch);
            }
            Ok(())
        });
        let thread = thread.map_err(|cause| Error::io("start a thread that spills items", &path, cause))?;
        Ok(Self { full, empty: Mutex::new(empty), memories: 1, thread })
    }

    /// An empty memory; `None` where writing has failed.
    fn memory(&mut self, bytes: usize) -> Option<AlignedMemory> {
        if self.memories == BATCHES {
            return self.empty.get_mut().unwrap_or_else(PoisonError::into_inner).recv().ok();
        }
        self.memories += 1;
        Some(AlignedMemory::new(bytes))
    }

    /// Waits until all is written.
    fn finish(self) -> Result<()> {
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl SegmentWriter {
    /// Writes to an empty file, so many bytes at a time.
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

    /// The segment, of which the first `bytes` bytes are items.
    pub fn end(&self, bytes: usize) -> Segment {
        Segment { offset: self.start, bytes, hash: self.hash }
    }

    /// Has written what is collected, some time.
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

    /// All segments are written.
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
        // Whoever drops a writer before it is finished has a failure to report already.
        let _ = self.await_writes();
    }
}

/// What was read of the segments of a bucket.
#[derive(Debug)]
pub(super) struct ReadSegments {
    memory: AlignedMemory,
    /// Where it has the bytes of each segment.
    ranges: Vec<Range<usize>>,
}

impl ReadSegments {
    /// Reads each segment at once: with the disk busy writing, every read waits in its queue.
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

    /// The bytes of each segment.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| &self.memory.bytes()[range.clone()])
    }
}

/// Reads the segments of a bucket on a thread of its own, which has ended when it is dropped.
#[derive(Debug)]
pub(super) struct SegmentReader(Option<JoinHandle<Result<ReadSegments>>>);

impl SegmentReader {
    /// Begins to read these segments; `None` where there can be no more threads.
    pub fn start(file: &Arc<SpillFile>, segments: &[Segment]) -> Option<Self> {
        let (file, segments) = (file.clone(), segments.to_vec());
        let thread = std::thread::Builder::new().name("litepress-read".to_owned());
        thread.spawn(move || ReadSegments::read(&file, &segments)).ok().map(|reading| Self(Some(reading)))
    }

    /// What it has read.
    pub fn take(mut self) -> Result<ReadSegments> {
        let reading = self.0.take().expect("only once");
        reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for SegmentReader {
    fn drop(&mut self) {
        if let Some(reading) = self.0.take() {
            // What was read ahead in vain is nobody's failure.
            let _ = reading.join();
        }
    }
}

fn hash_on(before: u64, block: &[u8]) -> u64 {
    before.rotate_left(1) ^ XxHash3_64::oneshot(block)
}
