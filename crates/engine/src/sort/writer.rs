//! One worker's part of the sort: fills a run, sorts it, has it spilled while the next one is filled.
//!
//! ```text
//! memory 1   fill run 1 | sort run 1 | spill run 1 ... | scratch  | fill run 3 ...
//! memory 2              | scratch    | fill run 2      | sort run 2 | spill run 2 ...
//! ```
//!
//! A run of long items needs both memories to know its order, so that filling waits for its spilling.
//!
//! Where the first items tell what the others will be like, items go to buckets instead (see `buckets`):
//!
//! ```text
//! memory 1   sample |         | fill run 1 ...           once memory is full, there are ordinary runs
//! memory 2          | buckets | spill buckets ...
//! ```

use super::arena::{ENTRY_BYTES, MAX_LENGTH_BYTES};
use super::buckets::{BucketCursor, BucketFill, Buckets, Routes};
use super::delta::{RunEncoder, SpilledRun};
use super::rank::Runs;
use super::run::{FillRun, Layout, MIN_MEMORY_BYTES, MemoryRun, Refusal, SLACK_BYTES};
use super::spill::SpillFile;
use super::varying::{MatchBytes, Varying};
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
    /// Where the items go for which `fill` is only a stage.
    routed: Option<Routed>,
    /// What `fill` has will tell whether they can.
    samples: bool,
    /// Scratch room, and the memory of the next run: none, one or both.
    spare: Vec<Vec<u8>>,
    /// The run that is being spilled, and the file of all runs.
    spilling: Option<JoinHandle<Result<Spilled>>>,
    file: Option<Arc<SpillFile>>,
    finished: bool,
}

/// Items in buckets, and those without one.
struct Routed {
    buckets: BucketFill,
    rest: FillRun,
}

/// More items without a bucket than with one are too many from this number on.
const MANY_ITEMS: usize = 1 << 14;

/// A run that is in the file, and the memory that it had.
type Spilled = (SpilledRun, [Vec<u8>; 2]);

impl<'s> RunWriter<'s> {
    pub(super) fn new(sorter: &'s Sorter) -> Self {
        let (fill, routed, spare) = (None, None, Vec::new());
        Self { sorter, fill, routed, samples: true, spare, spilling: None, file: None, finished: false }
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

    /// Where the next short item may be written, with zeros behind it up to the 32nd byte: where it will stay, or be staged.
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
            self.begin(Layout::for_items_of(item.len()));
        }
        loop {
            let Some(fill) = &mut self.fill else { unreachable!("made above") };
            let layout = fill.layout();
            match fill.push(item) {
                Ok(()) => return Ok(()),
                Err(Refusal::Full) if self.routed.is_some() && fill.items() == 0 => return self.push_to_rest(item),
                Err(Refusal::Full) => self.make_room(layout)?,
                Err(Refusal::TooWide) => {
                    self.empty_stage()?;
                    let widened = layout.widened(item.len());
                    if self.used() > buffer_bytes / 4 { self.cut(widened)? } else { self.refill(widened)? }
                }
            }
        }
    }

    /// Begins with a run that shows whether there can be buckets.
    fn begin(&mut self, layout: Layout) {
        let mut fill = FillRun::new(self.take_spare(), layout);
        match Routes::sample_bytes(self.sorter.budget.buffer_bytes) {
            Some(bytes) => fill.set_limit(bytes),
            None => self.samples = false,
        }
        self.fill = Some(fill);
    }

    /// Bytes of memory that the items take.
    fn used(&self) -> usize {
        let stage = self.fill.as_ref().map_or(0, FillRun::used);
        self.routed.as_ref().map_or(stage, |routed| routed.buckets.used() + routed.rest.used())
    }

    /// Has the run take items again.
    fn make_room(&mut self, layout: Layout) -> Result<()> {
        if self.routed.is_some() {
            return self.empty_stage();
        }
        if !std::mem::take(&mut self.samples) {
            return self.cut(layout);
        }
        let Some(fill) = &mut self.fill else { return Ok(()) };
        match self.sorter.routes(fill) {
            Some(routes) => self.route(&routes, layout),
            None => {
                fill.set_limit(usize::MAX);
                Ok(())
            }
        }
    }

    /// Goes on with buckets.
    fn route(&mut self, routes: &Arc<Routes>, mut layout: Layout) -> Result<()> {
        let Some(sample) = self.fill.take() else { return Ok(()) };
        if layout.has_lengths() {
            // Numbers in items mostly grow on: moving many items to wider slots later costs more.
            let longest = sample.longest_item() + 2;
            layout = if layout.fits(longest) { layout } else { layout.widened(longest) };
        }
        self.begin_buckets(routes, layout);
        sample.for_each(|item| self.push(item))?;
        self.spare.push(sample.into_memory());
        Ok(())
    }

    fn begin_buckets(&mut self, routes: &Arc<Routes>, layout: Layout) {
        let budget = self.sorter.budget;
        let buckets = BucketFill::new(routes.clone(), layout, self.take_spare(), budget.bucket_bytes());
        self.fill = Some(buckets.stage());
        self.routed = Some(Routed { buckets, rest: FillRun::new(vec![0; budget.rest_bytes()], layout) });
    }

    /// Gives what is staged to the buckets, if there are any.
    fn empty_stage(&mut self) -> Result<()> {
        let Some(stage) = &mut self.fill else { return Ok(()) };
        let layout = stage.layout();
        let Some(Routed { buckets, rest }) = &mut self.routed else { return Ok(()) };
        if buckets.take(stage, rest) {
            stage.clear();
            let misses = rest.items() > MANY_ITEMS && rest.items() as u64 > buckets.items();
            return if misses { self.leave_buckets(layout) } else { Ok(()) };
        }
        let Some(stage) = self.fill.take() else { return Ok(()) };
        self.cut(layout)?;
        stage.for_each(|item| self.push(item))
    }

    /// Takes an item that is too long for the stage.
    fn push_to_rest(&mut self, item: &[u8]) -> Result<()> {
        let Some(Routed { rest, buckets }) = &mut self.routed else { unreachable!("there is a stage") };
        if rest.push(item).is_ok() {
            return Ok(());
        }
        let layout = buckets.layout();
        self.cut(layout)?;
        self.push(item)
    }

    /// Goes on with an ordinary run: most items have no bucket.
    fn leave_buckets(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        let Some(routed) = self.routed.take() else { return Ok(()) };
        self.fill = Some(FillRun::new(self.take_spare(), layout));
        self.push_again(routed)
    }

    /// Moves the items so far to a wider layout; none is staged.
    fn refill(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        if let Some(routed) = self.routed.take() {
            self.begin_buckets(&routed.buckets.routes().clone(), layout);
            return self.push_again(routed);
        }
        let Some(fill) = self.fill.take() else { return Ok(()) };
        let mut wider = FillRun::new(self.take_spare(), layout);
        if self.samples {
            wider.set_limit(fill.limit());
        }
        self.fill = Some(wider);
        fill.for_each(|item| self.push(item))?;
        self.spare.push(fill.into_memory());
        Ok(())
    }

    fn push_again(&mut self, Routed { buckets, rest }: Routed) -> Result<()> {
        buckets.for_each(|item| self.push(item))?;
        rest.for_each(|item| self.push(item))?;
        self.spare.push(buckets.into_memory());
        Ok(())
    }

    fn take_spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| vec![0; self.sorter.budget.buffer_bytes])
    }

    /// Has all items spilled, and begins again with `layout`.
    fn cut(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
        if let Some(routed) = self.routed.take() {
            // What is spilled is merged from its runs: from here on buckets would only make these shorter.
            self.spill(move |encoder| routed.encode(encoder))?;
            self.fill = Some(FillRun::new(self.take_spare(), layout));
            return Ok(());
        }
        let Some(fill) = self.fill.take() else { return Ok(()) };
        let (run, scratch) = fill.sort(self.take_spare());
        self.spare.extend(scratch);
        self.spill(move |encoder| Ok((encode(&run, encoder)?, run.into_memory())))?;
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

    /// Begins to write a run to the file, on a thread of its own.
    fn spill(&mut self, encode: impl FnOnce(RunEncoder) -> Result<Spilled> + Send + 'static) -> Result<()> {
        let file = self.file()?;
        let budget = self.sorter.budget;
        let encoder = budget.encoder(&file);
        let thread = std::thread::Builder::new().name("litepress-spill".to_owned());
        let spilling = thread.spawn(move || encode(encoder));
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
        self.empty_stage()?;
        self.await_spill()?;
        let routed = self.routed.take();
        let (buckets, rest) = routed.map_or((None, None), |routed| (Some(routed.buckets), Some(routed.rest)));
        let Some(fill) = rest.or(self.fill.take()) else { return Ok(()) };
        let scratch = match self.spare.pop() {
            Some(spare) if spare.len() >= fill.scratch_bytes() => spare,
            _ => vec![0; fill.scratch_bytes()],
        };
        let (mut run, scratch) = fill.sort(scratch);
        drop(scratch);
        run.shrink();
        self.sorter.add_last(run, buckets);
        Ok(())
    }
}

impl Routed {
    /// Writes all items to a file.
    fn encode(self, mut encoder: RunEncoder) -> Result<Spilled> {
        let Self { buckets, rest } = self;
        let buckets = Buckets::of(buckets);
        if rest.items() == 0 {
            let run = encode_buckets(&buckets, encoder)?;
            return Ok((run, [buckets.into_memory(), Vec::new()]));
        }
        let scratch = vec![0; rest.scratch_bytes()];
        let runs = Runs { memory: vec![rest.sort(scratch).0], buckets, ..Runs::default() };
        let varying = runs.varying();
        let mut merge = runs.merge(0..runs.len(), MatchBytes::new(&varying), 0)?;
        while let Some(item) = merge.next_with_slack()? {
            encoder.push(item)?;
        }
        drop(merge);
        Ok((encoder.finish(varying)?, [runs.buckets.into_memory(), Vec::new()]))
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

/// Writes what is in buckets to a file.
pub(super) fn encode_buckets(buckets: &Buckets, mut encoder: RunEncoder) -> Result<SpilledRun> {
    let mut cursor = BucketCursor::at_key(buckets, &[]);
    while !cursor.is_at_end() {
        encoder.push(cursor.item_with_slack())?;
        cursor.advance();
    }
    encoder.finish(cursor.varying())
}
