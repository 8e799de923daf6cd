//! The buckets of all writers, each sorted when it is read.

use super::buckets::BucketFill;
use super::merge::{ItemBatch, ItemWithSlack};
use super::packing::{self, Packing};
use super::run::{FillRun, Layout, MIN_MEMORY_BYTES, MemoryRun, SLACK_BYTES};
use super::sample::Samples;
use super::spill::AlignedMemory;
use super::words;
use crate::Result;

/// Words that are unpacked at once: their items stay in the nearest cache.
const WORDS_AT_ONCE: usize = 512;

/// The items of all writers that have the same routes.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    fills: Vec<BucketFill>,
    /// Where each bucket begins.
    samples: Samples,
}

impl Buckets {
    pub fn add(&mut self, mut fill: BucketFill) {
        fill.shrink();
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
        self.fills.iter().map(|fill| fill.memory.capacity() as u64).sum()
    }

    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    fn items_of(&self, bucket: usize) -> usize {
        self.fills.iter().map(|fill| fill.items_of(bucket)).sum()
    }

    fn packing(&self) -> Option<&Packing> {
        self.fills.first().and_then(|fill| fill.routes.packing())
    }

    /// The words of a bucket, sorted.
    fn sort_words(&self, bucket: usize, words: &mut Vec<u64>, room: &mut Room) -> Result<()> {
        words.clear();
        words.reserve(self.items_of(bucket));
        for fill in &self.fills {
            fill.read(bucket, &mut room.blocks, |bytes| {
                words.extend(bytes.as_chunks().0.iter().map(|word| u64::from_be_bytes(*word)));
            })?;
        }
        words::sort(words, &mut room.words);
        Ok(())
    }

    /// A bucket of items that are no words, sorted, in memories that another one had.
    fn sort(&self, bucket: usize, room: &mut Room) -> Result<MemoryRun> {
        let (mut memory, mut order) = (std::mem::take(&mut room.memory), std::mem::take(&mut room.order));
        let layout = self.fills.iter().map(|fill| fill.stored).reduce(Layout::and).expect("there are items");
        let bytes: usize = self.fills.iter().map(|fill| fill.bytes(bucket)).sum();
        let needed = (SLACK_BYTES + layout.bytes_for(self.items_of(bucket), bytes)).max(MIN_MEMORY_BYTES);
        memory.resize(needed.max(memory.len()), 0);
        let mut run = FillRun::new(memory, layout);
        for fill in &self.fills {
            if fill.stored == layout {
                fill.gather(bucket, &mut run, &mut room.blocks)?;
            } else {
                let mut others = FillRun::new(vec![0; needed], fill.stored);
                fill.gather(bucket, &mut others, &mut room.blocks)?;
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
    /// Where blocks are read to.
    blocks: AlignedMemory,
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
    /// The next bucket.
    next: usize,
    /// The bucket that is sorted, where it holds words, the next one of these that is unpacked, and memory for that.
    words: Vec<u64>,
    next_word: usize,
    unpacked: Vec<u8>,
    /// Items that are at hand, and how many there are in front of them.
    run: MemoryRun,
    before: u64,
    index: usize,
    bounds: (usize, usize),
}

impl<'s> BucketCursor<'s> {
    /// At the first item that is not less than `key`.
    pub fn at_key(buckets: &'s Buckets, key: &[u8]) -> Result<Self> {
        let (before, bucket) = buckets.samples.before(key);
        let next = usize::try_from(bucket).expect("few buckets");
        let (room, words, run) = (Room::default(), Vec::new(), MemoryRun::empty());
        let (unpacked, bounds) = (Vec::new(), (0, 0));
        let mut cursor =
            Self { buckets, room, next, words, next_word: 0, unpacked, run, before, index: 0, bounds };
        cursor.go_to_next_bucket()?;
        match buckets.packing() {
            Some(packing) => {
                let is_less = |&word: &u64| packing.with_item(word, |item| item < key);
                cursor.next_word = cursor.words.partition_point(is_less);
                cursor.before += cursor.next_word as u64;
            }
            None => cursor.index = cursor.run.rank(key),
        }
        cursor.arrive()?;
        Ok(cursor)
    }

    pub fn ordinal(&self) -> u64 {
        self.before + self.index as u64
    }

    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.index >= self.run.len()
    }

    #[inline]
    pub fn item_with_slack(&self) -> ItemWithSlack<'_> {
        let (start, end) = self.bounds;
        ItemWithSlack { bytes: &self.run.bytes()[start..], len: end - start }
    }

    /// The items from the current one on that are at hand in slots.
    pub fn batch(&self) -> Option<ItemBatch<'_>> {
        self.run.batch(self.index)
    }

    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.index += 1;
        if self.index < self.run.len() {
            self.look();
            return Ok(());
        }
        self.arrive()
    }

    /// As [`advance`](Self::advance), `count` times.
    pub fn skip(&mut self, mut count: u64) -> Result<()> {
        while count > 0 && !self.is_at_end() {
            let here = (self.run.len() - self.index).min(usize::try_from(count).unwrap_or(usize::MAX));
            self.index += here - 1;
            self.advance()?;
            count -= here as u64;
        }
        Ok(())
    }

    #[inline]
    fn look(&mut self) {
        self.run.approach(self.index);
        self.bounds = self.run.bounds(self.index);
    }

    /// Goes on to where there are items if no more are at hand.
    #[cold]
    fn arrive(&mut self) -> Result<()> {
        while self.is_at_end() {
            if self.next_word < self.words.len() {
                self.unpack();
            } else if self.next < self.buckets.samples.len() {
                self.go_to_next_bucket()?;
            } else {
                return Ok(());
            }
        }
        self.look();
        Ok(())
    }

    /// Sorts the next bucket.
    fn go_to_next_bucket(&mut self) -> Result<()> {
        self.leave_run();
        if self.buckets.packing().is_some() {
            self.buckets.sort_words(self.next, &mut self.words, &mut self.room)?;
        } else {
            self.room.take_back(std::mem::replace(&mut self.run, MemoryRun::empty()));
            self.run = self.buckets.sort(self.next, &mut self.room)?;
        }
        (self.next, self.next_word) = (self.next + 1, 0);
        Ok(())
    }

    /// Has the items of the next words at hand.
    fn unpack(&mut self) {
        self.leave_run();
        let Some(packing) = self.buckets.packing() else { return };
        let words = &self.words[..];
        let words = &words[self.next_word..words.len().min(self.next_word + WORDS_AT_ONCE)];
        self.next_word += words.len();
        let mut memory = std::mem::take(&mut self.unpacked);
        memory.resize(packing::unpacked_bytes(WORDS_AT_ONCE) + SLACK_BYTES, 0);
        packing.unpack_all(words, &mut memory);
        self.run = MemoryRun::of_slots(memory, packing::UNPACKED, words.len());
    }

    fn leave_run(&mut self) {
        self.before += self.run.len() as u64;
        self.index = 0;
        if self.buckets.packing().is_some() {
            let run = std::mem::replace(&mut self.run, MemoryRun::empty());
            [self.unpacked, _] = run.into_memory();
        }
    }
}
