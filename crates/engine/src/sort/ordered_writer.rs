//! Writes one run of items that come in order: the prefix of a table that is read back, to be merged with unsorted rows.

use super::Sorter;
use super::arena::{ENTRY_BYTES, MAX_LENGTH_BYTES};
use super::budget::Budget;
use super::diff_mask::DiffMask;
use super::item::PADDING_BYTES;
use super::prefix_codec::RunEncoder;
use super::run::{Layout, MIN_MEMORY_BYTES, RunBuilder};
use crate::Result;

/// Takes items that come in order. Their run stays in memory if there is space, and else goes to a file.
pub(crate) struct OrderedWriter<'s> {
    sorter: &'s Sorter,
    run: OrderedRun,
}

enum OrderedRun {
    Memory(RunBuilder),
    File(Box<RunEncoder>),
}

impl<'s> OrderedWriter<'s> {
    pub(super) fn new(sorter: &'s Sorter, items: u64, item_bytes: u64) -> Result<Self> {
        let entries = 2 * ENTRY_BYTES as u64 * (items + 1);
        let memory = PADDING_BYTES as u64 + entries.max(item_bytes + MAX_LENGTH_BYTES as u64 * items);
        let budget = sorter.budget;
        let is_short = memory <= Budget::MAX_BUFFER_BYTES;
        let run = if is_short && sorter.state().runs.held_bytes() + memory + entries <= budget.memory / 2 {
            let memory = usize::try_from(memory).unwrap_or(usize::MAX).max(MIN_MEMORY_BYTES);
            OrderedRun::Memory(RunBuilder::new(vec![0; memory], Layout::Arena))
        } else {
            OrderedRun::File(Box::new(budget.encoder(&sorter.folder.create()?)))
        };
        Ok(Self { sorter, run })
    }

    /// Takes an item, greater than all before.
    pub fn push(&mut self, item: &[u8]) -> Result<()> {
        match &mut self.run {
            OrderedRun::Memory(run) => {
                run.push(item).expect("memory for the announced items and bytes");
                Ok(())
            }
            OrderedRun::File(encoder) => encoder.push_alone(item),
        }
    }

    /// Hands the run over.
    pub fn finish(self) -> Result<()> {
        match self.run {
            OrderedRun::Memory(run) => {
                let scratch = vec![0; run.scratch_bytes()];
                self.sorter.state().runs.memory.push(run.sort(scratch).0);
            }
            OrderedRun::File(encoder) => self.sorter.add_spilled(encoder.finish(DiffMask::unknown())?),
        }
        Ok(())
    }
}
