//! Blocks of buckets in a file: as many of one bucket as there were, side by side, and several such segments of each.
//!
//! Blocks are collected in one memory while another one is written, on a thread of its own. What is read back is
//! checked against a hash of what was written: nothing in it would tell that it is damaged.

use super::spill::{ALIGNMENT, AlignedMemory, SpillFile};
use crate::{Error, Result};
use std::sync::Arc;
use std::thread::JoinHandle;
use twox_hash::XxHash3_64;

/// Bytes of a block: items of one bucket, cut anywhere. As many as a page of memory has, and as direct I/O asks for.
pub(super) const BLOCK_BYTES: usize = ALIGNMENT;

/// Bytes of a read.
const READ_BYTES: usize = 1 << 20;

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
    /// The batch before, and its memory.
    writing: Option<JoinHandle<Result<AlignedMemory>>>,
    /// Where the segment begins whose blocks come, and their hash.
    start: u64,
    hash: u64,
}

impl SegmentWriter {
    /// Writes to an empty file, so many bytes at a time.
    pub fn new(file: Arc<SpillFile>, write_bytes: usize) -> Self {
        let write_bytes = write_bytes.next_multiple_of(BLOCK_BYTES);
        let batch = AlignedMemory::default();
        Self { file, end: 0, write_bytes, batch, filled: 0, writing: None, start: 0, hash: 0 }
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

    /// Begins to write what is collected.
    fn write(&mut self) -> Result<()> {
        let next = self.await_write()?.unwrap_or_else(|| AlignedMemory::new(self.write_bytes));
        let (batch, filled) = (std::mem::replace(&mut self.batch, next), std::mem::take(&mut self.filled));
        let file = self.file.clone();
        let thread = std::thread::Builder::new().name("litepress-spill".to_owned());
        let writing = thread.spawn(move || file.append(&batch.bytes()[..filled]).map(|()| batch));
        let failed = |cause| Error::io("start a thread that spills items", self.file.path(), cause);
        self.writing = Some(writing.map_err(failed)?);
        Ok(())
    }

    fn await_write(&mut self) -> Result<Option<AlignedMemory>> {
        let Some(writing) = self.writing.take() else { return Ok(None) };
        writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(Some)
    }

    /// All segments are written.
    pub fn finish(&mut self) -> Result<()> {
        if self.filled > 0 {
            self.write()?;
        }
        self.await_write()?;
        self.batch = AlignedMemory::default();
        Ok(())
    }
}

impl Drop for SegmentWriter {
    fn drop(&mut self) {
        // Whoever drops a writer before it is finished has a failure to report already.
        let _ = self.await_write();
    }
}

/// Reads the segments of a bucket on a thread of its own, which has ended when it is dropped.
#[derive(Debug)]
pub(super) struct SegmentReader(Option<JoinHandle<Result<Vec<u8>>>>);

impl SegmentReader {
    /// Begins to read these segments; `None` where there can be no more threads.
    pub fn start(file: &Arc<SpillFile>, segments: &[Segment]) -> Option<Self> {
        let (file, segments) = (file.clone(), segments.to_vec());
        let thread = std::thread::Builder::new().name("litepress-read".to_owned());
        thread.spawn(move || read(&file, &segments)).ok().map(|reading| Self(Some(reading)))
    }

    /// Their bytes, one behind the other.
    pub fn take(mut self) -> Result<Vec<u8>> {
        let Some(reading) = self.0.take() else { return Ok(Vec::new()) };
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

/// The bytes of some segments, one behind the other.
pub(super) fn read(file: &SpillFile, segments: &[Segment]) -> Result<Vec<u8>> {
    let mut all = Vec::with_capacity(segments.iter().map(|segment| segment.bytes).sum());
    let mut room = AlignedMemory::new(if segments.is_empty() { 0 } else { READ_BYTES });
    for segment in segments {
        let (mut at, mut left, mut hash) = (segment.offset, segment.bytes, 0);
        while left > 0 {
            let whole = left.next_multiple_of(BLOCK_BYTES).min(READ_BYTES);
            let blocks = &mut room.bytes_mut()[..whole];
            file.read(blocks, at)?;
            hash = blocks.chunks(BLOCK_BYTES).fold(hash, hash_on);
            let len = left.min(whole);
            all.extend_from_slice(&blocks[..len]);
            (at, left) = (at + whole as u64, left - len);
        }
        if hash != segment.hash {
            return Err(file.damaged());
        }
    }
    Ok(all)
}

fn hash_on(before: u64, block: &[u8]) -> u64 {
    before.rotate_left(1) ^ XxHash3_64::oneshot(block)
}
