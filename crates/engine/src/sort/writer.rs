//! One worker's part of the sort: fills a run, sorts it, has it spilled while the next one is filled.
//!
//! ```text
//! memory 1   fill run 1 | sort run 1 | spill run 1 ... | scratch  | fill run 3 ...
//! memory 2              | scratch    | fill run 2      | sort run 2 | spill run 2 ...
//! ```
//!
//! A run of long items needs both memories to know its order, so that filling waits for its spilling.
//!
//! Where the first items tell what the others will be like, items go to buckets instead, in three quarters of both
//! memories (see `routed`); with those that buckets do not know, when they are too many, there are ordinary runs again.

use super::arena::{ENTRY_BYTES, MAX_LENGTH_BYTES};
use super::buckets::BucketFill;
use super::delta::{RunEncoder, SpilledRun};
use super::item_parts::ItemParts;
use super::packing::{Packing, in_bytes};
use super::routed::Routed;
use super::routes::Routes;
use super::run::{FillRun, Layout, MIN_MEMORY_BYTES, MemoryRun, Refusal, SLACK_BYTES};
use super::spill::SpillFile;
use super::varying::Varying;
use super::word_maker::{ALIKE, WordMaker};
use super::{Budget, Sorter};
use crate::fields::Places;
use crate::{Error, Result};
use litepress_format::sort_key::{PREFIX_LEN, KeyPrefixEncoder, SHORT_LEN};
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
    /// Where items are staged that their buckets have as words.
    words: Option<WordStage>,
    /// There are buckets that take no more items.
    has_written_buckets: bool,
    /// What `fill` has will tell whether they can.
    samples: bool,
    /// Scratch room, and the memory of the next run: none, one or both.
    spare: Vec<Vec<u8>>,
    /// The run that is being spilled, and the file of all runs.
    spilling: Option<JoinHandle<Result<Spilled>>>,
    file: Option<Arc<SpillFile>>,
    finished: bool,
}

/// Items as words.
struct WordStage {
    packing: Packing,
    words: Vec<u64>,
}

/// Words that are staged.
const STAGED_WORDS: usize = 2048;

/// A run that is in the file, and the memory that it had.
type Spilled = (SpilledRun, [Vec<u8>; 2]);

impl<'s> RunWriter<'s> {
    pub(super) fn new(sorter: &'s Sorter) -> Self {
        let (fill, routed, words, spare) = (None, None, None, Vec::new());
        let has_written_buckets = false;
        Self {
            sorter,
            fill,
            routed,
            words,
            has_written_buckets,
            samples: true,
            spare,
            spilling: None,
            file: None,
            finished: false,
        }
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

    /// Whether short items may be [taken](Self::take_head) as the two words that they make.
    #[inline]
    pub fn takes_heads(&self) -> bool {
        self.words.is_some()
    }

    /// Takes the item of `len` bytes that stands at the front of two words, zeros behind it; `false` where it must be
    /// [pushed](Self::push).
    #[inline]
    pub fn take_head(&mut self, head: [u64; 2], len: usize) -> Result<bool> {
        let Some(WordStage { packing, words }) = &mut self.words else { return Ok(self.take_in_room(head, len)) };
        let Some(word) = packing.pack(head, len) else { return Ok(false) };
        words.push(word);
        if words.len() >= STAGED_WORDS {
            self.empty_stage()?;
        }
        Ok(true)
    }

    /// The same where it is no word.
    #[inline]
    fn take_in_room(&mut self, head: [u64; 2], len: usize) -> bool {
        let Some(room) = self.room() else { return false };
        room[..PREFIX_LEN].copy_from_slice(&in_bytes(head));
        room[PREFIX_LEN..SHORT_LEN].fill(0);
        self.take(len)
    }

    /// What makes words of the records whose items `head_maker` makes; `None` where nothing does.
    pub fn word_maker(&self, head_maker: &KeyPrefixEncoder) -> Option<WordMaker> {
        self.words.as_ref().and_then(|stage| WordMaker::new(&stage.packing, head_maker))
    }

    /// Takes the items of the records that begin at `starts` of `bytes`, up to [`ALIKE`] of them; `false` where none of them
    /// is taken.
    #[inline(always)]
    pub fn take_alike(&mut self, maker: &WordMaker, bytes: &[u8], starts: impl Places, rowids: &[i64]) -> Result<bool> {
        let Some(WordStage { words, .. }) = &mut self.words else { return Ok(false) };
        if !maker.make(bytes, starts, rowids, words) {
            return Ok(false);
        }
        if words.len() >= STAGED_WORDS {
            self.empty_stage()?;
        }
        Ok(true)
    }

    /// Whether long items may be [taken in parts](Self::take_parts).
    #[inline]
    pub fn takes_parts(&self) -> bool {
        self.routed.as_ref().is_some_and(|routed| routed.buckets.takes_parts())
    }

    /// Takes long items in parts, but for those that must be [pushed](Self::push): these stay in `items`.
    pub fn take_parts<T>(&mut self, items: &mut Vec<(T, ItemParts<'_>)>) {
        if let Some(routed) = &mut self.routed {
            routed.buckets.take_parts(items);
        }
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
                    self.widen(layout.widened(item.len()))?;
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
        sample.for_each(|item| self.push(item))
    }

    fn begin_buckets(&mut self, routes: &Arc<Routes>, mut layout: Layout) {
        if let Some(packing) = routes.packing() {
            // Words without a bucket go to the rest as the items that they are.
            layout = layout.for_up_to(packing.longest());
        }
        let words = || Vec::with_capacity(STAGED_WORDS + ALIKE);
        self.words = routes.packing().map(|packing| WordStage { packing: packing.clone(), words: words() });
        let routed = Routed::new(self.sorter, routes, layout);
        self.spare.clear();
        self.fill = Some(routed.buckets.stage());
        self.routed = Some(routed);
    }

    /// Gives what is staged to the buckets, if there are any.
    fn empty_stage(&mut self) -> Result<()> {
        let (Some(stage), Some(routed)) = (&mut self.fill, &mut self.routed) else { return Ok(()) };
        let words = self.words.as_mut().map(|stage| &mut stage.words);
        let staged_words: &[u64] = words.as_deref().map_or(&[], |words| words);
        if let Err(error) = routed.take(stage, staged_words, self.sorter, &mut self.file) {
            // Nobody wants what is half done, and nothing of it may be taken once more.
            (self.fill, self.routed, self.words) = (None, None, None);
            return Err(error);
        }
        stage.clear();
        if let Some(words) = words {
            words.clear();
        }
        let layout = stage.layout();
        if routed.is_useless() { self.leave_buckets(layout) } else { Ok(()) }
    }

    /// Takes an item that is too long for the stage.
    fn push_to_rest(&mut self, item: &[u8]) -> Result<()> {
        let Some(routed) = &mut self.routed else { unreachable!("there is a stage") };
        let is_taken = routed.take_to_rest(item, self.sorter, &mut self.file)?;
        if is_taken { Ok(()) } else { self.spill_alone(item) }
    }

    /// Goes on with an ordinary run: most items have no bucket.
    fn leave_buckets(&mut self, layout: Layout) -> Result<()> {
        let Some(routed) = self.routed.take() else { return Ok(()) };
        let is_small = self.is_small(&routed.buckets);
        self.words = None;
        self.fill = Some(FillRun::new(self.take_spare(), layout));
        self.push_again(routed, is_small)
    }

    /// Goes on with a wider layout; none is staged.
    fn widen(&mut self, layout: Layout) -> Result<()> {
        if let Some(mut routed) = self.routed.take() {
            if routed.widen(layout, self.sorter, &mut self.file)? {
                self.fill = Some(routed.buckets.stage());
                self.routed = Some(routed);
                return Ok(());
            }
            let is_small = self.is_small(&routed.buckets);
            if is_small || !std::mem::replace(&mut self.has_written_buckets, true) {
                self.begin_buckets(&routed.buckets.routes.clone(), layout);
            } else {
                self.fill = Some(FillRun::new(self.take_spare(), layout));
            }
            return self.push_again(routed, is_small);
        }
        self.await_spill()?;
        let Some(fill) = self.fill.take() else { return Ok(()) };
        if fill.used() > self.sorter.budget.buffer_bytes / 4 {
            self.fill = Some(fill);
            return self.cut(layout);
        }
        let mut wider = FillRun::new(self.take_spare(), layout);
        if self.samples {
            wider.set_limit(fill.limit());
        }
        self.fill = Some(wider);
        fill.for_each(|item| self.push(item))?;
        self.spare.push(fill.into_memory());
        Ok(())
    }

    /// Whether there is memory to have the items of buckets twice.
    fn is_small(&self, buckets: &BucketFill) -> bool {
        buckets.is_in_memory() && buckets.used() <= self.sorter.budget.buffer_bytes / 4
    }

    /// Moves items to where the next ones go; where there are too many for that, they stay what they are, in a file.
    fn push_again(&mut self, Routed { mut buckets, rest, .. }: Routed, is_small: bool) -> Result<()> {
        if is_small {
            buckets.for_each(|item| self.push(item))?;
        } else {
            buckets.write_all()?;
            self.sorter.state().runs.buckets.add(buckets);
        }
        rest.for_each(|item| self.push(item))
    }

    fn take_spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| vec![0; self.sorter.budget.buffer_bytes])
    }

    /// Has all items spilled, and begins again with `layout`.
    fn cut(&mut self, layout: Layout) -> Result<()> {
        self.await_spill()?;
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

    /// Begins to write a run to the file, on a thread of its own.
    fn spill(&mut self, encode: impl FnOnce(RunEncoder) -> Result<Spilled> + Send + 'static) -> Result<()> {
        let file = file(self.sorter, &mut self.file)?;
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
        let file = file(self.sorter, &mut self.file)?;
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
        let (mut buckets, rest) = routed.map_or((None, None), |routed| (Some(routed.buckets), Some(routed.rest)));
        buckets.as_mut().map_or(Ok(()), BucketFill::finish)?;
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

/// The file of a writer's runs.
pub(super) fn file(sorter: &Sorter, file: &mut Option<Arc<SpillFile>>) -> Result<Arc<SpillFile>> {
    match file {
        Some(file) => Ok(file.clone()),
        none => Ok(none.insert(sorter.folder.create()?).clone()),
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
