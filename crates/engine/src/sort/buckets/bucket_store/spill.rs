//! Writes blocks of buckets to a file, unsorted, when the memory of their store is full.

use super::BucketStore;
use crate::Result;
use crate::sort::buckets::segments::{BLOCK_BYTES, SegmentWriter};

/// Blocks of a bucket are written only if they are at least one half of a mean bucket's blocks.
const MIN_SEGMENT_SHARE: usize = 2;

/// If blocks run out, at least one block in this many is written.
const WRITTEN_SHARE: usize = 512;

impl BucketStore {
    /// Ensures that `blocks` blocks are free.
    pub(super) fn make_room(&mut self, blocks: usize) -> Result<()> {
        let has_room = self.next_blocks.len() + blocks <= self.max_blocks + self.free_blocks.len();
        if has_room { Ok(()) } else { self.write_some(blocks.max(self.max_blocks / WRITTEN_SHARE)) }
    }

    /// Writes full blocks of buckets, round robin, until `blocks` blocks are free.
    fn write_some(&mut self, blocks: usize) -> Result<()> {
        for _ in 0..self.buckets.len() {
            if self.next_blocks.len() + blocks <= self.max_blocks + self.free_blocks.len() {
                break;
            }
            let bucket = self.next_written;
            self.next_written = (bucket + 1) % self.buckets.len();
            let is_open = !self.cursors[bucket].end.is_multiple_of(BLOCK_BYTES);
            let full = self.buckets[bucket].blocks - usize::from(is_open);
            if full * self.buckets.len() * MIN_SEGMENT_SHARE >= self.max_blocks {
                self.write_blocks(bucket, full)?;
            }
        }
        Ok(())
    }

    /// Writes the first `count` blocks of a bucket.
    fn write_blocks(&mut self, bucket: usize, count: usize) -> Result<()> {
        let bytes = self.bytes_in_memory(bucket).min(count * BLOCK_BYTES);
        let writer = match &mut self.written {
            Some(writer) => writer,
            none => none.insert(SegmentWriter::new(self.folder.create()?, self.limits.write_bytes)),
        };
        let one = &mut self.buckets[bucket];
        writer.begin();
        for _ in 0..count {
            let block = one.first_block as usize;
            writer.push(&self.memory[block * BLOCK_BYTES..][..BLOCK_BYTES])?;
            self.free_blocks.push(one.first_block);
            one.first_block = self.next_blocks[block];
        }
        one.segments.push(writer.end(bytes));
        one.segment_bytes += bytes;
        one.blocks -= count;
        if one.blocks == 0 {
            self.cursors[bucket].end = 0;
        }
        Ok(())
    }

    /// Writes everything and frees the memory. No more items may come.
    pub fn write_all(&mut self) -> Result<()> {
        for bucket in 0..self.buckets.len() {
            let blocks = self.buckets[bucket].blocks;
            if blocks > 0 {
                self.write_blocks(bucket, blocks)?;
            }
        }
        (self.memory, self.next_blocks, self.free_blocks) = Default::default();
        self.finish()
    }

    /// Waits until the file is written. No more items may come.
    pub fn finish(&mut self) -> Result<()> {
        self.written.as_mut().map_or(Ok(()), SegmentWriter::finish)
    }
}
