//! What a sort will take, by a sample of its items.

use super::packing::WORD;
use super::routes::{self, Routes};
use super::run::{FillRun, Layout, SLACK_BYTES};
use super::{Budget, SortOptions};

/// What tells whether there will be buckets: samples come from all over a table, and a sort looks at its first items.
const FIRST_ITEMS: usize = 128;
const FIRST_BYTES: usize = 64 << 10;

/// Some of the items that will be sorted.
#[derive(Debug)]
pub(crate) struct ItemSample {
    items: u64,
    item_bytes: u64,
    longest: usize,
    /// The first of them.
    first: FillRun,
}

/// Bytes that a sort takes, about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SortProspect {
    /// Of memory.
    pub memory: u64,
    /// Of temporary files.
    pub spilled: u64,
}

impl Default for ItemSample {
    fn default() -> Self {
        let first = FillRun::new(vec![0; FIRST_BYTES + SLACK_BYTES], Layout::Arena);
        Self { items: 0, item_bytes: 0, longest: 0, first }
    }
}

impl ItemSample {
    pub fn push(&mut self, item: &[u8]) {
        self.items += 1;
        self.item_bytes += item.len() as u64;
        self.longest = self.longest.max(item.len());
        if self.first.items() < FIRST_ITEMS {
            // Of long ones fewer are enough.
            let _ = self.first.push(item);
        }
    }

    /// What a sort of `items` items like these takes.
    pub fn prospect(&self, items: u64, options: &SortOptions) -> SortProspect {
        if self.items == 0 {
            return SortProspect::default();
        }
        let budget = Budget::new(options.memory_bytes, options.writers);
        let mean = |bytes: u64| bytes.saturating_mul(items) / self.items;
        let item_bytes = mean(self.item_bytes);
        let buckets =
            Routes::sample_bytes(budget.buffer_bytes).and_then(|_| Routes::new(&self.first, budget.buffer_bytes));
        // A byte says how long an item is.
        let as_they_are = Layout::for_items_of(self.longest + 1);
        let layout = buckets.as_ref().and_then(Routes::kept).map_or(as_they_are, |kept| Layout::words(kept.bytes()));
        let bytes = match layout {
            Layout::Slots { width, .. } => items.saturating_mul(width as u64),
            Layout::Arena => item_bytes.saturating_add(items),
        };
        let bucket = bytes / routes::buckets_in(budget.buffer_bytes).max(1) as u64;
        // They are sorted as whole words.
        let kept_bytes = buckets.as_ref().and_then(Routes::kept).map(|kept| kept.bytes() as u64);
        let bucket = kept_bytes.map_or(bucket, |kept| WORD as u64 * (bucket / kept));
        if buckets.is_some() && bucket <= budget.sorted_bucket_bytes() {
            let room = budget.writers * budget.bucket_limits().memory_bytes as u64;
            // Buckets, and for each merge one that is sorted.
            let memory = bytes.min(room) + budget.writers * 2 * bucket;
            return SortProspect { memory: memory.min(options.memory_bytes), spilled: bytes.saturating_sub(room) };
        }
        // A run is sorted by way of as much memory again.
        let memory = bytes.saturating_mul(2).min(options.memory_bytes);
        let spilled = if bytes > budget.writers * budget.buffer_bytes as u64 { item_bytes } else { 0 };
        SortProspect { memory, spilled }
    }
}
