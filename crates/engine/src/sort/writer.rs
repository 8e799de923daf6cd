//! One worker's part of the sort: fills a run, sorts it, has it spilled while the next one is filled.
//!
//! ```text
//! memory 1   fill run 1 | sort run 1 | spill run 1 ... | scratch  | fill run 3 ...
//! memory 2              | scratch    | fill run 2      | sort run 2 | spill run 2 ...
//! ```
//!
//! A run of long items needs both memories to know its order, so that filling waits for its spilling.

use super::arena::{ENTRY_BYTES, MAX_LENGTH_BYTES};
use super::delta::{RunEncoder, SpilledRun};
use super::run::{FillRun, Layout, MIN_MEMORY_BYTES, MemoryRun, Refusal, SLACK_BYTES};
use super::spill::SpillFile;
use super::varying::Varying;
use super::{Budget, Sorter};
use crate::{Error, Result};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Takes items and makes runs of them; one for each worker thread.
///
/// Every writer must be [finished](Self::finish): the items of one that is merely dropped are lost, and
/// [`Sorter::finish`] then panics instead of returning a sort that lacks them.
pub(crate) struct RunWriter<'s> {
    sorter: &'s Sorter,
    fill: Option<FillRun>,
    /// Scratch room, and the memory of the next run: none, one or both.
    spare: Vec<Vec<u8>>,
    /// The run that is being spilled, and the file of all runs.
    spilling: Option<JoinHandle<Result<Spilled>>>,
    file: Option<Arc<SpillFile>>,
    finished: bool,
}

/// A run that is in the file, and the memory that it had.
type Spilled = (SpilledRun, [Vec<u8>; 2]);

impl<'s> RunWriter<'s> {
    pub(super) fn new(sorter: &'s Sorter) -> Self {
        Self { sorter, fill: None, spare: Vec::new(), spilling: None, file: None, finished: false }
    }

    /// Takes an item. Items are distinct, and none is a prefix of another.
    #[inline]
    pub fn push(&mut self, item: &[u8]) -> Result<()> {
        if let Some(fill) = &mut self.fill
            && fill.push(item).is_ok()
        {
            return Ok(());
        }
        self.push_after_change(item)
    }

    /// Where the next short item may be written, with zeros behind it up to the 32nd byte: where it will stay.
    /// [`take`](Self::take) follows. `None` where it must be [pushed](Self::push).
    #[inline]
    pub fn room(&mut self) -> Option<&mut [u8; SLACK_BYTES]> {
        self.fill.as_mut().and_then(FillRun::room)
    }

    /// Takes the item of `len` bytes that was written to [`room`](Self::room); `false` where it must be
    /// [pushed](Self::push).
    #[inline]
    #[must_use]
    pub fn take(&mut self, len: usize) -> bool {
        self.fill.as_mut().is_some_and(|fill| fill.take(len))
    }

    #[cold]
    fn push_after_change(&mut self, item: &[u8]) -> Result<()> {
        let buffer_bytes = self.sorter.budget.buffer_bytes;
        if item.len() + MAX_LENGTH_BYTES + SLACK_BYTES > buffer_bytes {
            return self.spill_alone(item);
        }
        if self.fill.is_none() {
            self.sorter.claim()?;
            self.fill = Some(FillRun::new(vec![0; buffer_bytes], Layout::for_items_of(item.len())));
        }
        loop {
            let Some(fill) = &mut self.fill else { unreachable!("made above") };
            let layout = fill.layout();
            match fill.push(item) {
                Ok(()) => return Ok(()),
                Err(Refusal::Full) => self.cut(layout)?,
                Err(Refusal::TooWide) if fill.used() > buffer_bytes / 4 => self.cut(layout.widened(item.len()))?,
                Err(Refusal::TooWide) => self.widen(layout.widened(item.len()))?,
            }
        }
    }

    /// Moves the items so far to a wider layout.
    fn widen(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        let Some(fill) = self.fill.take() else { return Ok(()) };
        let memory = self.take_spare();
        let mut wider = FillRun::new(memory, layout);
        let moved = fill.for_each(|item| wider.push(item));
        moved.expect("a quarter of the memory, widened, fits the memory");
        self.spare.push(fill.into_memory());
        self.fill = Some(wider);
        Ok(())
    }

    fn take_spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| vec![0; self.sorter.budget.buffer_bytes])
    }

    /// Sorts the run, has it spilled, and begins another one with `layout`.
    fn cut(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        let Some(fill) = self.fill.take() else { return Ok(()) };
        let (run, scratch) = fill.sort(self.take_spare());
        self.spare.extend(scratch);
        self.spill(run)?;
        if self.spare.is_empty() {
            self.await_spill()?;
        }
        self.fill = Some(FillRun::new(self.take_spare(), layout));
        Ok(())
    }

    fn file(&mut self) -> Result<Arc<SpillFile>> {
        if self.file.is_none() {
            self.file = Some(self.sorter.folder.create()?);
        }
        Ok(self.file.clone().expect("made above"))
    }

    /// Begins to write `run` to the file, on a thread of its own.
    fn spill(&mut self, run: MemoryRun) -> Result<()> {
        let file = self.file()?;
        let budget = self.sorter.budget;
        let encoder = budget.encoder(&file);
        let thread = std::thread::Builder::new().name("litepress-spill".to_owned());
        let spilling = thread.spawn(move || Ok((encode(&run, encoder)?, run.into_memory())));
        let failed = |cause| Error::io("start a thread that spills a sorted run", file.path(), cause);
        self.spilling = Some(spilling.map_err(failed)?);
        Ok(())
    }

    /// Waits for the run that is being spilled, and takes its memory back.
    fn await_spill(&mut self) -> Result<()> {
        let Some(spilling) = self.spilling.take() else { return Ok(()) };
        let (run, memories) = spilling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        self.sorter.add_spilled(run);
        self.spare.extend(memories.into_iter().filter(|memory| !memory.is_empty()));
        Ok(())
    }

    /// Writes an item that is larger than the memory for runs, as a run of its own.
    fn spill_alone(&mut self, item: &[u8]) -> Result<()> {
        self.await_spill()?;
        let file = self.file()?;
        let mut encoder = self.sorter.budget.encoder(&file);
        encoder.push_alone(item)?;
        self.sorter.add_spilled(encoder.finish(Varying::of_item(item))?);
        Ok(())
    }

    /// Sorts what is left and hands all runs over.
    pub fn finish(mut self) -> Result<()> {
        self.finished = true;
        self.await_spill()?;
        let Some(fill) = self.fill.take() else { return Ok(()) };
        let scratch = self.spare.pop().unwrap_or_else(|| vec![0; fill.scratch_bytes()]);
        let (mut run, scratch) = fill.sort(scratch);
        drop(scratch);
        run.shrink();
        self.sorter.add_last(run);
        Ok(())
    }
}

impl Drop for RunWriter<'_> {
    fn drop(&mut self) {
        if let Some(spilling) = self.spilling.take() {
            // Whoever drops a writer has a failure to report already.
            let _ = spilling.join();
        }
        if !self.finished {
            self.sorter.note_lost();
        }
    }
}

/// Takes items in order: their run is what they are, and is written to a file unless there is memory left.
pub(crate) struct OrderedWriter<'s> {
    sorter: &'s Sorter,
    run: OrderedRun,
}

enum OrderedRun {
    Memory(FillRun),
    File(Box<RunEncoder>),
}

impl<'s> OrderedWriter<'s> {
    pub(super) fn new(sorter: &'s Sorter, items: u64, item_bytes: u64) -> Result<Self> {
        let entries = 2 * ENTRY_BYTES as u64 * (items + 1);
        let memory = SLACK_BYTES as u64 + entries.max(item_bytes + MAX_LENGTH_BYTES as u64 * items);
        let budget = sorter.budget;
        let is_short = memory <= Budget::MAX_BUFFER_BYTES;
        let run = if is_short && sorter.state().runs.held_bytes() + memory + entries <= budget.memory / 2 {
            let memory = usize::try_from(memory).unwrap_or(usize::MAX).max(MIN_MEMORY_BYTES);
            OrderedRun::Memory(FillRun::new(vec![0; memory], Layout::Arena))
        } else {
            OrderedRun::File(Box::new(budget.encoder(&sorter.folder.create()?)))
        };
        Ok(Self { sorter, run })
    }

    /// Takes an item, greater than all before.
    pub fn push(&mut self, item: &[u8]) -> Result<()> {
        match &mut self.run {
            OrderedRun::Memory(fill) => {
                fill.push(item).expect("room for as many items and bytes as were said");
                Ok(())
            }
            OrderedRun::File(encoder) => encoder.push_alone(item),
        }
    }

    /// Hands the run over.
    pub fn finish(self) -> Result<()> {
        match self.run {
            OrderedRun::Memory(fill) => {
                let scratch = vec![0; fill.scratch_bytes()];
                self.sorter.state().runs.memory.push(fill.sort(scratch).0);
            }
            OrderedRun::File(encoder) => self.sorter.add_spilled(encoder.finish(Varying::unknown())?),
        }
        Ok(())
    }
}

/// Writes a run in memory to a file.
pub(super) fn encode(run: &MemoryRun, mut encoder: RunEncoder) -> Result<SpilledRun> {
    for index in 0..run.len() {
        run.approach(index);
        encoder.push(run.item_with_slack(index))?;
    }
    encoder.finish(*run.varying())
}
