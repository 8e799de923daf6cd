//! Spills the runs of a writer to a file, on a background thread.

use super::{RunWriter, Spilled};
use crate::sort::diff_mask::DiffMask;
use crate::sort::prefix_codec::{RunEncoder, encode};
use crate::sort::run::{Layout, RunBuilder};
use crate::{Error, Result};
use litepress_rows::sync::thread;

impl RunWriter<'_> {
    /// Spills all items, and begins a new run of this layout.
    pub(super) fn spill_run(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        let Some(full) = self.run.take() else { return Ok(()) };
        let (run, scratch) = full.sort(self.take_spare());
        self.spare.extend(scratch);
        self.spill(move |encoder| Ok((encode(&run, encoder)?, run.into_memory())))?;
        if self.spare.is_empty() {
            self.await_spill()?;
        }
        self.run = Some(RunBuilder::new(self.take_spare(), layout));
        Ok(())
    }

    /// Starts to write a run to the file on a background thread.
    fn spill(&mut self, encode: impl FnOnce(RunEncoder) -> Result<Spilled> + Send + 'static) -> Result<()> {
        let file = self.sorter.folder.open_once(&mut self.file)?;
        let budget = self.sorter.budget;
        let encoder = budget.encoder(&file);
        let thread = thread::Builder::new().name("litepress-spill".to_owned());
        let spilling = thread.spawn(move || encode(encoder));
        let failed = |cause| Error::io("start a thread that spills a sorted run", file.path(), cause);
        self.spilling = Some(spilling.map_err(failed)?);
        Ok(())
    }

    /// Waits for the run that is being spilled, and takes its memories back.
    pub(super) fn await_spill(&mut self) -> Result<()> {
        let Some(spilling) = self.spilling.take() else { return Ok(()) };
        let (run, memories) = spilling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        self.sorter.add_spilled(run);
        self.spare.extend(memories.into_iter().filter(|memory| !memory.is_empty()));
        Ok(())
    }

    /// Writes an item that is larger than the memory for runs as a run of its own.
    pub(super) fn spill_single(&mut self, item: &[u8]) -> Result<()> {
        self.await_spill()?;
        let file = self.sorter.folder.open_once(&mut self.file)?;
        let mut encoder = self.sorter.budget.encoder(&file);
        encoder.push_alone(item)?;
        self.sorter.add_spilled(encoder.finish(DiffMask::of_item(item))?);
        Ok(())
    }
}
