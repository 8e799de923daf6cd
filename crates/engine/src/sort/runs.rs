//! All items of a sort: sorted runs in memory and in spill files, and buckets.

use super::buckets::bucket_store::BucketStore;
use super::buckets::sorted_buckets::Buckets;
use super::diff_mask::DiffMask;
use super::prefix_codec::SpilledRun;
use super::run::SortedRun;

/// All items of a sort, as runs.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Sorted runs in memory, none of them empty.
    pub memory: Vec<SortedRun>,
    pub spilled: Vec<SpilledRun>,
    pub buckets: Buckets,
}

/// A writer's items that stay in memory.
pub(super) enum ResidentRun {
    Sorted(SortedRun),
    Buckets(Box<BucketStore>),
}

impl Runs {
    /// Takes a run out of memory, to be spilled.
    pub fn pop_memory(&mut self) -> Option<ResidentRun> {
        self.memory
            .pop()
            .map(ResidentRun::Sorted)
            .or_else(|| self.buckets.take_from_memory().map(Box::new).map(ResidentRun::Buckets))
    }

    pub fn len(&self) -> u64 {
        let memory: u64 = self.memory.iter().map(|run| run.len() as u64).sum();
        memory + self.buckets.len() + self.spilled.iter().map(SpilledRun::len).sum::<u64>()
    }

    pub fn item_bytes(&self) -> u64 {
        let memory: u64 = self.memory.iter().map(SortedRun::item_bytes).sum();
        memory + self.buckets.item_bytes() + self.spilled.iter().map(SpilledRun::item_bytes).sum::<u64>()
    }

    /// Returns the bytes of memory that runs and their sparse indexes hold.
    pub fn held_bytes(&self) -> u64 {
        self.memory_bytes() + self.sparse_index_bytes()
    }

    pub fn memory_bytes(&self) -> u64 {
        self.memory.iter().map(SortedRun::held_bytes).sum::<u64>() + self.buckets.memory_bytes()
    }

    pub fn sparse_index_bytes(&self) -> u64 {
        self.spilled.iter().map(|run| run.sparse_index.held_bytes()).sum()
    }

    /// Returns the varying bits of the first bytes of all items.
    pub fn varying(&self) -> DiffMask {
        let memory = self.memory.iter().map(SortedRun::varying);
        let all = memory.chain(self.spilled.iter().map(|run| &run.varying)).copied();
        let in_buckets = (!self.buckets.is_empty()).then_some(DiffMask::unknown());
        all.chain(in_buckets).reduce(|all, run| all.and(&run)).unwrap_or(DiffMask::unknown())
    }
}
