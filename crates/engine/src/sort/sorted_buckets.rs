//! The buckets of all writers, each sorted when it is read.
//!
//! Ranges of ranks begin and end in the middle of buckets: of the two that want such a bucket of words, the one that comes
//! first sorts it and shares it with the other. The memory that a range sorted its buckets in goes to the next one.

use super::buckets::BucketFill;
use super::merge::{ItemBatch, ItemWithSlack, ItemsAtHand, RunItems};
use super::packing::{self, Packing};
use super::run::{FillRun, Layout, MIN_MEMORY_BYTES, MemoryRun, SLACK_BYTES};
use super::sample::Samples;
use super::segments::SegmentReader;
use super::words;
use crate::Result;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Words that are unpacked at once: their items stay in the nearest cache.
const WORDS_AT_ONCE: usize = 512;

/// Buckets that are read at once, at most, while the first of them is wanted.
const MOST_READ: usize = 4;

/// The items of all writers that have the same routes.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    fills: Vec<BucketFill>,
    /// Where each bucket begins.
    samples: Samples,
    spare: Mutex<Spare>,
}

/// What one range leaves to others.
#[derive(Debug, Default)]
struct Spare {
    rooms: Vec<Room>,
    /// Memory that words were in.
    words: Vec<Vec<u64>>,
    /// The words of buckets that another range wants, too.
    shared: VecDeque<(usize, Arc<Vec<u64>>)>,
}

impl Buckets {
    pub fn add(&mut self, fill: BucketFill) {
        self.fills.push(fill);
    }

    /// Takes out what one writer has in memory.
    pub fn take_from_memory(&mut self) -> Option<BucketFill> {
        let position = self.fills.iter().position(|fill| !fill.memory.is_empty())?;
        Some(self.fills.swap_remove(position))
    }

    /// All are added.
    pub fn seal(&mut self) {
        let Some(routes) = self.fills.first().map(|fill| fill.routes.clone()) else { return };
        let mut ordinal = 0;
        for bucket in 0..routes.len() {
            self.samples.push(ordinal, bucket as u64, &routes.key(bucket));
            ordinal += self.items_of(bucket) as u64;
        }
    }

    #[cfg(test)]
    pub fn file(&self) -> &super::spill::SpillFile {
        self.fills.iter().find_map(BucketFill::file).unwrap()
    }

    #[cfg(test)]
    pub fn written_bytes(&self) -> u64 {
        self.fills.iter().filter_map(BucketFill::file).map(|file| file.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.fills.is_empty()
    }

    pub fn len(&self) -> u64 {
        self.fills.iter().map(BucketFill::items).sum()
    }

    pub fn item_bytes(&self) -> u64 {
        self.fills.iter().map(|fill| fill.item_bytes).sum()
    }

    pub fn memory_bytes(&self) -> u64 {
        self.fills.iter().map(|fill| fill.held() as u64).sum()
    }

    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Items of a bucket, on average.
    pub fn mean_items(&self) -> u64 {
        self.len() / self.samples.len().max(1) as u64
    }

    /// Items of the largest bucket.
    pub fn most_items(&self) -> u64 {
        (0..self.samples.len()).map(|bucket| self.items_of(bucket) as u64).max().unwrap_or(0)
    }

    fn items_of(&self, bucket: usize) -> usize {
        self.fills.iter().map(|fill| fill.items_of(bucket)).sum()
    }

    fn packing(&self) -> Option<&Packing> {
        self.fills.first().and_then(|fill| fill.routes.packing())
    }

    /// The words of a bucket, sorted.
    fn sort_words(&self, bucket: usize, room: &mut Room) -> Result<Vec<u64>> {
        let known = room.sorted_words.take().or_else(|| self.spare().words.pop());
        let mut words = known.unwrap_or_default();
        let Some(fill) = self.fills.first() else { return Ok(words) };
        room.bytes.resize_with(self.fills.len(), Vec::new);
        for ((fill, bytes), reader) in self.fills.iter().zip(&mut room.bytes).zip(next_readers(&mut room.readers)) {
            fill.read_bytes(bucket, reader, bytes)?;
        }
        if !fill.routes.read_words(bucket, &room.bytes, self.items_of(bucket), &mut words) {
            words::sort(&mut words, &mut room.words);
        }
        Ok(words)
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the range that wants the rest of a bucket find its words. Those that nobody came for make way.
    fn share(&self, bucket: usize, words: &Arc<Vec<u64>>) {
        let shared = &mut self.spare().shared;
        shared.push_back((bucket, words.clone()));
        if shared.len() > self.fills.len() {
            shared.pop_front();
        }
    }

    /// The words of a bucket that another range wants, too, if that has sorted them.
    fn take_shared(&self, bucket: usize) -> Option<Arc<Vec<u64>>> {
        let shared = &mut self.spare().shared;
        let position = shared.iter().position(|(other, _)| *other == bucket)?;
        shared.remove(position).map(|(_, words)| words)
    }

    /// A bucket of items that are no words, sorted, in memories that another one had.
    fn sort(&self, bucket: usize, room: &mut Room) -> Result<MemoryRun> {
        let (mut memory, mut order) = (std::mem::take(&mut room.memory), std::mem::take(&mut room.order));
        let layout = self.fills.iter().map(|fill| fill.stored).reduce(Layout::and).expect("there are items");
        let bytes: usize = self.fills.iter().map(|fill| fill.bytes(bucket)).sum();
        let needed = (SLACK_BYTES + layout.bytes_for(self.items_of(bucket), bytes)).max(MIN_MEMORY_BYTES);
        memory.resize(needed.max(memory.len()), 0);
        let mut run = FillRun::new(memory, layout);
        for (fill, reader) in self.fills.iter().zip(next_readers(&mut room.readers)) {
            if fill.stored == layout {
                fill.gather(bucket, &mut run, reader)?;
            } else {
                let mut others = FillRun::new(vec![0; needed], fill.stored);
                fill.gather(bucket, &mut others, reader)?;
                others.for_each(|item| run.push(item)).expect("room for the items of all layouts");
            }
        }
        order.resize(run.scratch_bytes().max(order.len()), 0);
        let (run, scratch) = run.sort(order);
        room.order = scratch.unwrap_or_default();
        Ok(run)
    }
}

/// Memory that buckets are sorted in, one after the other.
#[derive(Debug, Default)]
struct Room {
    memory: Vec<u8>,
    order: Vec<u8>,
    words: Vec<u64>,
    sorted_words: Option<Vec<u64>>,
    /// Those of each writer.
    bytes: Vec<Vec<u8>>,
    /// What reads parts of the next buckets from files, where that has begun.
    readers: VecDeque<Readers>,
}

/// What reads the parts of a bucket that the fills have in files, where they have any.
type Readers = Vec<Option<SegmentReader>>;

/// Those of the next bucket, fill by fill; without end, as there may be none.
fn next_readers(begun: &mut VecDeque<Readers>) -> impl Iterator<Item = Option<SegmentReader>> + use<> {
    begun.pop_front().unwrap_or_default().into_iter().chain(std::iter::repeat_with(|| None))
}

impl Room {
    /// Takes back the memory of a bucket that is read.
    fn take_back(&mut self, run: MemoryRun) {
        let [memory, order] = run.into_memory();
        self.memory = memory;
        if !order.is_empty() {
            self.order = order;
        }
    }
}

/// Goes through the items in order.
#[derive(Debug)]
pub(super) struct BucketCursor<'s> {
    buckets: &'s Buckets,
    room: Room,
    /// The bucket that is sorted, and how many items are in those before it.
    bucket: usize,
    before: u64,
    /// Its words, where it holds such; and its items, or those of some words from `unpacked_from` on.
    words: Arc<Vec<u64>>,
    run: MemoryRun,
    unpacked_from: usize,
    /// The current item, how many the bucket has, and where the current one is in `run`.
    index: usize,
    len: usize,
    bounds: (usize, usize),
    /// Items of other ranks are not wanted.
    ranks: Range<u64>,
}

impl<'s> BucketCursor<'s> {
    /// At the first item that is not less than `key`. Only items of these ranks are wanted, but for those that the key
    /// brings, and for as many as other runs have before them.
    pub fn at_key(buckets: &'s Buckets, key: &[u8], ranks: Range<u64>) -> Result<Self> {
        let (before, bucket) = buckets.samples.before(key);
        let mut cursor = Self {
            buckets,
            room: buckets.spare().rooms.pop().unwrap_or_default(),
            bucket: usize::try_from(bucket).expect("few buckets"),
            before,
            words: Arc::default(),
            run: MemoryRun::empty(),
            unpacked_from: 0,
            index: 0,
            len: 0,
            bounds: (0, 0),
            ranks,
        };
        cursor.sort_bucket()?;
        cursor.index = match buckets.packing() {
            Some(packing) => cursor.words.partition_point(|word| packing.with_item(*word, |item| item < key)),
            None => cursor.run.rank(key),
        };
        cursor.arrive()?;
        Ok(cursor)
    }

    pub fn ordinal(&self) -> u64 {
        self.before + self.index as u64
    }

    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.index >= self.len
    }

    #[inline]
    pub fn item_with_slack(&self) -> ItemWithSlack<'_> {
        let (start, end) = self.bounds;
        ItemWithSlack { bytes: &self.run.bytes()[start..], len: end - start }
    }

    /// The items from the current one on, of which there is one, that its bucket has.
    pub fn at_hand(&self) -> ItemsAtHand<'_> {
        match self.buckets.packing() {
            Some(packing) => ItemsAtHand::Words(ItemBatch::new(&self.words[self.index..], packing)),
            None => ItemsAtHand::Run(RunItems::new(&self.run, self.index)),
        }
    }

    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.index += 1;
        if self.index < self.len {
            self.look();
            return Ok(());
        }
        self.arrive()
    }

    /// As [`advance`](Self::advance), `count` times.
    pub fn skip(&mut self, mut count: u64) -> Result<()> {
        while count > 0 && !self.is_at_end() {
            let here = (self.len - self.index).min(usize::try_from(count).unwrap_or(usize::MAX));
            self.index += here;
            count -= here as u64;
            self.arrive()?;
        }
        Ok(())
    }

    #[inline]
    fn look(&mut self) {
        if !self.words.is_empty() && self.index - self.unpacked_from >= self.run.len() {
            self.unpack();
        }
        let at = self.index - self.unpacked_from;
        self.run.approach(at);
        self.bounds = self.run.bounds(at);
    }

    /// Goes on to a bucket with items if this one has no more.
    #[cold]
    fn arrive(&mut self) -> Result<()> {
        while self.is_at_end() && self.bucket + 1 < self.buckets.samples.len() {
            self.leave_bucket();
            self.before += self.len as u64;
            (self.bucket, self.index) = (self.bucket + 1, 0);
            self.sort_bucket()?;
        }
        if !self.is_at_end() {
            self.look();
        }
        Ok(())
    }

    fn sort_bucket(&mut self) -> Result<()> {
        self.read_ahead();
        if self.buckets.packing().is_some() {
            self.words = self.words_of_bucket()?;
            self.len = self.words.len();
        } else {
            self.run = self.buckets.sort(self.bucket, &mut self.room)?;
            self.len = self.run.len();
        }
        Ok(())
    }

    /// Takes back the memories of a bucket that is read.
    fn leave_bucket(&mut self) {
        let run = std::mem::replace(&mut self.run, MemoryRun::empty());
        self.room.take_back(run);
        if let Ok(words) = Arc::try_unwrap(std::mem::take(&mut self.words))
            && !words.is_empty()
        {
            // Where they were another range's, there is memory for one's own, which that wants.
            self.buckets.spare().words.extend(self.room.sorted_words.replace(words));
        }
        self.unpacked_from = 0;
    }

    /// The words of the bucket; where another range wants the rest of them, only one of both sorts them.
    fn words_of_bucket(&mut self) -> Result<Arc<Vec<u64>>> {
        if let Some(words) = self.buckets.take_shared(self.bucket) {
            self.room.readers.pop_front();
            return Ok(words);
        }
        let words = Arc::new(self.buckets.sort_words(self.bucket, &mut self.room)?);
        if self.ranks.start > self.before || self.ranks.end < self.before + words.len() as u64 {
            self.buckets.share(self.bucket, &words);
        }
        Ok(words)
    }

    /// Begins to read this bucket and the next one, and more where they are small: a read waits for the writes before it.
    fn read_ahead(&mut self) {
        let fills = &self.buckets.fills;
        let in_files = |bucket| fills.iter().map(|fill| fill.bytes_in_file(bucket)).sum::<usize>();
        let room = fills.iter().map(BucketFill::most_bytes_of_bucket).min().unwrap_or(0);
        let most = self.buckets.samples.count_before(self.ranks.end).min(self.bucket + MOST_READ);
        let mut bytes = 0;
        for (ahead, bucket) in (self.bucket..most).enumerate() {
            bytes += in_files(bucket);
            if ahead > 1 && bytes > room {
                break;
            }
            if ahead == self.room.readers.len() {
                self.room.readers.push_back(fills.iter().map(|fill| fill.read_ahead(bucket)).collect());
            }
        }
    }

    /// Has the items of some words at hand, from the current one on.
    #[cold]
    fn unpack(&mut self) {
        let Some(packing) = self.buckets.packing() else { return };
        let words = &self.words[self.index..self.words.len().min(self.index + WORDS_AT_ONCE)];
        let [mut memory, _] = std::mem::replace(&mut self.run, MemoryRun::empty()).into_memory();
        memory.resize(packing::unpacked_bytes(WORDS_AT_ONCE) + SLACK_BYTES, 0);
        packing.unpack_all(words, &mut memory);
        self.run = MemoryRun::of_slots(memory, packing::UNPACKED, words.len());
        self.unpacked_from = self.index;
    }
}

impl Drop for BucketCursor<'_> {
    fn drop(&mut self) {
        self.leave_bucket();
        self.room.readers.clear();
        let room = std::mem::take(&mut self.room);
        self.buckets.spare().rooms.push(room);
    }
}
