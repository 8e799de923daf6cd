//! Reads the items of a bucket back, from its segments in the file and its blocks in memory.

use super::BucketStore;
use crate::Result;
use crate::sort::buckets::key_packer::PACKED_BYTES;
use crate::sort::buckets::segments::{BLOCK_BYTES, ReadSegments, SegmentReader};
use crate::sort::item::PADDING_BYTES;
use crate::sort::run::{Layout, MIN_MEMORY_BYTES, RunBuilder};

impl BucketStore {
    /// Returns the bytes of a bucket's items, in memory and in the file.
    pub fn bytes(&self, bucket: usize) -> usize {
        self.buckets[bucket].segment_bytes + self.bytes_in_memory(bucket)
    }

    pub fn bytes_in_file(&self, bucket: usize) -> usize {
        self.buckets[bucket].segment_bytes
    }

    /// Returns the most bytes that a bucket's items may take.
    pub fn most_bytes_of_bucket(&self) -> usize {
        self.limits.bucket_bytes
    }

    pub(super) fn bytes_in_memory(&self, bucket: usize) -> usize {
        let end = self.cursors[bucket].end;
        self.buckets[bucket].blocks * BLOCK_BYTES - (end.next_multiple_of(BLOCK_BYTES) - end)
    }

    pub fn items_of(&self, bucket: usize) -> usize {
        let escaped_keys = self.escaped_keys.get(bucket).copied().unwrap_or(0);
        match self.stored_layout {
            Layout::Slots { width, .. } => (self.bytes(bucket) - PACKED_BYTES * escaped_keys) / width,
            Layout::Arena => self.long_items[bucket],
        }
    }

    /// Starts to read a bucket's segments, if it has any.
    pub fn read_ahead(&self, bucket: usize) -> Option<SegmentReader> {
        let segments = &self.buckets[bucket].segments;
        let writer = self.written.as_ref().filter(|_| !segments.is_empty())?;
        SegmentReader::start(writer.file(), segments)
    }

    /// Appends a bucket's items to `run`, which must have the stored layout.
    pub fn read_items(&self, bucket: usize, run: &mut RunBuilder, reader: Option<SegmentReader>) -> Result<()> {
        self.read(bucket, reader, |bytes| run.append(bytes))?;
        run.count(self.items_of(bucket));
        Ok(())
    }

    /// Replaces `bytes` with the encoded keys of a bucket, padded with eight bytes.
    pub fn read_bytes(&self, bucket: usize, reader: Option<SegmentReader>, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.reserve(self.bytes(bucket) + PACKED_BYTES);
        self.read(bucket, reader, |block| bytes.extend_from_slice(block))?;
        bytes.extend_from_slice(&[0; PACKED_BYTES]);
        Ok(())
    }

    /// Hands out the bytes of a bucket's items. `reader` may already be reading those of the file.
    fn read(&self, bucket: usize, reader: Option<SegmentReader>, mut each: impl FnMut(&[u8])) -> Result<()> {
        let one = &self.buckets[bucket];
        let in_file = match (reader, &self.written) {
            (Some(reader), _) => Some(reader.take()?),
            (None, Some(writer)) => Some(ReadSegments::read(writer.file(), &one.segments)?),
            (None, None) => None,
        };
        in_file.iter().flat_map(ReadSegments::segments).for_each(&mut each);
        let mut left = self.bytes_in_memory(bucket);
        let mut block = one.first_block as usize;
        while left > 0 {
            let len = left.min(BLOCK_BYTES);
            each(&self.memory[block * BLOCK_BYTES..][..len]);
            left -= len;
            block = self.next_blocks[block] as usize;
        }
        Ok(())
    }

    /// Hands out all items, bucket by bucket. All must be in memory.
    pub fn for_each(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut memory, mut keys, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for bucket in 0..self.buckets.len() {
            if let Some(packer) = self.partitioner.packer() {
                self.read_bytes(bucket, None, &mut bytes)?;
                self.partitioner.decode_keys(bucket, std::slice::from_ref(&bytes), self.items_of(bucket), &mut keys);
                keys.iter().try_for_each(|key| packer.with_item(*key, &mut each))?;
                continue;
            }
            memory.resize((self.bytes(bucket) + PADDING_BYTES).max(MIN_MEMORY_BYTES).max(memory.len()), 0);
            let mut run = RunBuilder::new(memory, self.stored_layout);
            self.read_items(bucket, &mut run, None)?;
            run.for_each(&mut each)?;
            memory = run.into_memory();
        }
        Ok(())
    }
}
