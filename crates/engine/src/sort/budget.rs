//! Divides the memory of a sort.

use super::buckets::bucket_store::BucketLimits;
use super::prefix_codec::RunEncoder;
use super::run::MIN_MEMORY_BYTES;
use super::spill::{ALIGNMENT, SpillFile};
use std::sync::Arc;

/// The division of the memory among writers, sparse indexes and merges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub memory: u64,
    pub writers: u64,
    /// Bytes of each of a writer's two memories.
    pub buffer_bytes: usize,
    /// Bytes of a write to a file.
    pub block_bytes: usize,
    /// Bytes of the sparse indexes of all runs. A quarter of it is for runs that are being written.
    pub sparse_index_bytes: u64,
}

impl Budget {
    /// Larger memories for one run do not help, and the entries of a run are counted in 32 bits.
    pub const MAX_BUFFER_BYTES: u64 = 32 << 30;
    const MAX_BLOCK_BYTES: u64 = 1 << 20;

    pub fn new(memory: u64, writers: usize) -> Self {
        let writers = writers.max(1) as u64;
        let sparse_index_bytes = memory / 32;
        let block_bytes = Self::whole_blocks(memory / writers / 64, Self::MAX_BLOCK_BYTES);
        let share = (memory - sparse_index_bytes) / writers;
        let buffers = share.saturating_sub((block_bytes + ALIGNMENT) as u64);
        let buffer_bytes = (buffers / 2).clamp(MIN_MEMORY_BYTES as u64, Self::MAX_BUFFER_BYTES);
        let buffer_bytes = usize::try_from(buffer_bytes).unwrap_or(usize::MAX);
        Self { memory, writers, buffer_bytes, block_bytes, sparse_index_bytes }
    }

    /// Returns the limits of a writer's buckets. The rest of its memories is for unpartitioned items, sorting them,
    /// and blocks being written; later for sorting one bucket in each merge.
    pub fn bucket_limits(&self) -> BucketLimits {
        // A writer may begin its buckets a second time, if longer items come late.
        let bucket_bytes = self.sorted_bucket_bytes() / self.writers / 2;
        BucketLimits {
            memory_bytes: self.buffer_bytes / 2 * 3,
            bucket_bytes: usize::try_from(bucket_bytes).unwrap_or(usize::MAX),
            write_bytes: self.block_bytes,
        }
    }

    /// Returns the most bytes that one bucket of all writers takes. Sorting it takes as much again (packed keys and
    /// short items in an arena twice as much). Reading the next bucket meanwhile takes the bytes that it has in
    /// files.
    pub fn sorted_bucket_bytes(&self) -> u64 {
        self.memory / 32 / self.writers
    }

    /// Returns the memory for unpartitioned items.
    pub fn unpartitioned_bytes(&self) -> usize {
        self.buffer_bytes / 32
    }

    /// Returns `bytes` rounded down to units of [`ALIGNMENT`], at least one unit, at most `most`.
    fn whole_blocks(bytes: u64, most: u64) -> usize {
        let units = (bytes.min(most) / ALIGNMENT as u64).max(1);
        usize::try_from(units).expect("at most a block") * ALIGNMENT
    }

    /// Returns all memory of a writer.
    pub fn writer_bytes(&self) -> u64 {
        (2 * self.buffer_bytes + self.block_bytes + ALIGNMENT) as u64
    }

    pub fn encoder(&self, file: &Arc<SpillFile>) -> RunEncoder {
        RunEncoder::new(file, self.block_bytes, self.sparse_index_bytes / self.writers / 4)
    }

    /// Returns the memory of each merge for reading.
    pub fn merge_bytes(&self, held_bytes: u64) -> u64 {
        let others = (self.block_bytes + ALIGNMENT) as u64 + 4 * self.sorted_bucket_bytes();
        (self.memory.saturating_sub(held_bytes) / self.writers).saturating_sub(others)
    }

    /// Returns how many spilled runs one merge can read.
    pub fn fan_in(&self, held_bytes: u64) -> usize {
        let least_block = Self::whole_blocks(self.memory / 2048, 32 << 10) + ALIGNMENT;
        let fan_in = self.merge_bytes(held_bytes) / (2 * least_block) as u64;
        usize::try_from(fan_in.max(2)).unwrap_or(usize::MAX)
    }

    /// Returns the largest read size for a merge of `runs` spilled runs, each of which has one block in use and one
    /// on its way.
    pub fn read_bytes(&self, held_bytes: u64, runs: usize) -> usize {
        let each = self.merge_bytes(held_bytes) / (2 * runs.max(1)) as u64;
        Self::whole_blocks(each.saturating_sub(ALIGNMENT as u64), Self::MAX_BLOCK_BYTES)
    }
}
