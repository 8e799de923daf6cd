//! Estimates the memory and disk that a sort will take, from a sample of its items.

use super::SortOptions;
use super::buckets::key_packer::PACKED_BYTES;
use super::buckets::partitioner::{self, Partitioner};
use super::budget::Budget;
use super::item::PADDING_BYTES;
use super::run::{Layout, RunBuilder};

/// The size of the sample that predicts whether there will be buckets. It is a prefix: samples come from all over a
/// table, and a sort looks at its first items.
const FIRST_ITEMS: usize = 128;
const FIRST_BYTES: usize = 64 << 10;

/// A sample of the items that will be sorted.
#[derive(Debug)]
pub(crate) struct ItemSample {
    items: u64,
    item_bytes: u64,
    longest: usize,
    /// The first of them.
    first: RunBuilder,
}

/// Estimated bytes of a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SortEstimate {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of temporary files.
    pub spilled: u64,
}

impl Default for ItemSample {
    fn default() -> Self {
        let first = RunBuilder::new(vec![0; FIRST_BYTES + PADDING_BYTES], Layout::Arena);
        Self { items: 0, item_bytes: 0, longest: 0, first }
    }
}

impl ItemSample {
    pub fn push(&mut self, item: &[u8]) {
        self.items += 1;
        self.item_bytes += item.len() as u64;
        self.longest = self.longest.max(item.len());
        if self.first.items() < FIRST_ITEMS {
            // The buffer may be full: fewer long items are enough.
            let _ = self.first.push(item);
        }
    }

    /// Estimates a sort of `items` items like these.
    pub fn prospect(&self, items: u64, options: &SortOptions) -> SortEstimate {
        if self.items == 0 {
            return SortEstimate::default();
        }
        let budget = Budget::new(options.memory_bytes, options.writers);
        let mean = |bytes: u64| bytes.saturating_mul(items) / self.items;
        let item_bytes = mean(self.item_bytes);
        let buckets = Partitioner::sample_bytes(budget.buffer_bytes)
            .and_then(|_| Partitioner::new(&self.first, budget.buffer_bytes));
        // One byte more, for the length.
        let as_they_are = Layout::for_items_of(self.longest + 1);
        let layout = buckets
            .as_ref()
            .and_then(Partitioner::stored_form)
            .map_or(as_they_are, |form| Layout::packed_keys(form.bytes()));
        let bytes = match layout {
            Layout::Slots { width, .. } => items.saturating_mul(width as u64),
            Layout::Arena => item_bytes.saturating_add(items),
        };
        let bucket = bytes / partitioner::buckets_in(budget.buffer_bytes).max(1) as u64;
        // Packed keys are sorted at full width.
        let form_bytes = buckets.as_ref().and_then(Partitioner::stored_form).map(|form| form.bytes() as u64);
        let bucket = form_bytes.map_or(bucket, |form| PACKED_BYTES as u64 * (bucket / form));
        if buckets.is_some() && bucket <= budget.sorted_bucket_bytes() {
            let room = budget.writers * budget.bucket_limits().memory_bytes as u64;
            // All buckets, and one sorted bucket for each merge.
            let memory = bytes.min(room) + budget.writers * 2 * bucket;
            return SortEstimate { memory: memory.min(options.memory_bytes), spilled: bytes.saturating_sub(room) };
        }
        // Sorting a run takes as much memory again.
        let memory = bytes.saturating_mul(2).min(options.memory_bytes);
        let spilled = if bytes > budget.writers * budget.buffer_bytes as u64 { item_bytes } else { 0 };
        SortEstimate { memory, spilled }
    }
}
