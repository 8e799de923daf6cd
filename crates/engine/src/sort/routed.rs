//! A writer's buckets, and its items that have none.

use super::Sorter;
use super::buckets::BucketFill;
use super::routes::Routes;
use super::run::{FillRun, Layout, MIN_MEMORY_BYTES};
use super::spill::SpillFile;
use super::writer::{encode, file};
use crate::Result;
use std::sync::Arc;

/// More items without a bucket than with one are too many from this number on.
const MANY_ITEMS: usize = 1 << 14;

/// Runs of items without a bucket are short ones: where not so many times as many found one meanwhile, ordinary runs are
/// better.
const WORTH_A_RUN: u64 = 8;

/// Items in buckets, and those without one.
pub(super) struct Routed {
    pub buckets: BucketFill,
    pub rest: FillRun,
    /// Items in buckets when some without one were spilled last.
    items_at_spill: u64,
    /// Buckets are of no use for what comes now.
    is_useless: bool,
}

impl Routed {
    pub fn new(sorter: &Sorter, routes: &Arc<Routes>, layout: Layout) -> Self {
        let budget = sorter.budget;
        let buckets = BucketFill::new(routes.clone(), layout, budget.bucket_limits(), &sorter.folder);
        let rest = FillRun::new(vec![0; budget.rest_bytes()], layout);
        Self { buckets, rest, items_at_spill: 0, is_useless: false }
    }

    /// Whether most items have no bucket.
    pub fn is_useless(&self) -> bool {
        let rest = self.rest.items();
        self.is_useless || rest > MANY_ITEMS && rest as u64 > self.buckets.items()
    }

    /// Takes all that is staged: items, and words.
    pub fn take(
        &mut self,
        stage: &FillRun,
        words: &[u64],
        sorter: &Sorter,
        spill: &mut Option<Arc<SpillFile>>,
    ) -> Result<()> {
        while !self.buckets.take(stage, &mut self.rest)? {
            self.spill_rest(sorter, spill)?;
        }
        while !words.is_empty() && !self.buckets.take_words(words, &mut self.rest)? {
            self.spill_rest(sorter, spill)?;
        }
        Ok(())
    }

    /// Takes an item without a bucket; `false` where it is too long.
    pub fn take_to_rest(&mut self, item: &[u8], sorter: &Sorter, spill: &mut Option<Arc<SpillFile>>) -> Result<bool> {
        if self.rest.push(item).is_ok() {
            return Ok(true);
        }
        if self.rest.items() > 0 {
            self.spill_rest(sorter, spill)?;
        }
        Ok(self.rest.push(item).is_ok())
    }

    /// Goes on with a wider layout; `false` where the buckets cannot.
    pub fn widen(&mut self, layout: Layout, sorter: &Sorter, spill: &mut Option<Arc<SpillFile>>) -> Result<bool> {
        if !self.buckets.set_layout(layout) {
            return Ok(false);
        }
        let wider = FillRun::new(vec![0; sorter.budget.rest_bytes()], layout);
        let narrower = std::mem::replace(&mut self.rest, wider);
        narrower.for_each(|item| -> Result<()> {
            let is_taken = self.take_to_rest(item, sorter, spill)?;
            assert!(is_taken, "memory for what was there before");
            Ok(())
        })?;
        Ok(true)
    }

    /// Makes a spilled run of the items without a bucket.
    fn spill_rest(&mut self, sorter: &Sorter, spill: &mut Option<Arc<SpillFile>>) -> Result<()> {
        assert!(self.rest.items() > 0, "memory for all that is staged");
        let since = self.buckets.items() - std::mem::replace(&mut self.items_at_spill, self.buckets.items());
        self.is_useless |= since < WORTH_A_RUN * self.rest.items() as u64;
        let layout = self.rest.layout();
        let full = std::mem::replace(&mut self.rest, FillRun::new(vec![0; MIN_MEMORY_BYTES], layout));
        let scratch = vec![0; full.scratch_bytes()];
        let (run, _) = full.sort(scratch);
        let spilled = file(sorter, spill).and_then(|file| encode(&run, sorter.budget.encoder(&file)));
        let [memory, _] = run.into_memory();
        self.rest = FillRun::new(memory, layout);
        sorter.add_spilled(spilled?);
        Ok(())
    }
}
