//! Items that are sorted a little as they come: each goes to the bucket of its first bits, and a bucket is sorted when it
//! is wanted, in the processor's cache.
//!
//! ```text
//! items --staged, some at a time--> routes --+--> bucket 0   [block] -> [block] -> [block]
//!                                            +--> bucket 1   [block]
//!                                            +--> ...                                         blocks of one memory
//!                                            +--> rest       items that the routes do not know: an ordinary run
//! ```
//!
//! Sorting a run as a whole reads and writes all of it several times, and needs as much memory again. Here an item is
//! written once to its block, and once more to where its bucket is sorted, which is used again for the next bucket. Where
//! blocks run out, those of some buckets are moved to a file, as they are (see `segments`): nothing is sorted, encoded or
//! merged for it, and a bucket is still read back from few places.
//!
//! Short items of one form stand in their blocks as words: as the last bytes of such, or as steps from one to the next (see
//! `packing`, `routes`, `steps`). Long ones need no stage where what comes first in them is known as words: they are put
//! together in their block (see `item_parts`).
//!
//! An item whose bucket is too large to be sorted in the memory that is left for it goes to the rest, too.

use super::arena::{MAX_LENGTH_BYTES, read_length, write_length};
use super::block_memory::BlockMemory;
use super::item_parts::ItemParts;
use super::packing::{WORD, halves};
use super::routes::{Form, Kept, LastBytes, Routes, head};
use super::run::{FillRun, Layout, MAX_SLOT_BYTES, MIN_MEMORY_BYTES, SLACK_BYTES};
use super::segments::{BLOCK_BYTES, ReadSegments, Segment, SegmentReader, SegmentWriter};
use super::spill::SpillFolder;
use super::steps::Steps;
use crate::Result;
use std::sync::Arc;

/// Blocks of a bucket are written where there are at least this part of as many as a bucket has on average.
const MIN_SEGMENT_SHARE: usize = 2;

/// When blocks run out, this part of them is written.
const WRITTEN_SHARE: usize = 512;

/// Bytes of items that are staged before they go to their buckets: what the nearest cache holds beside.
const STAGE_BYTES: usize = 16 << 10;

/// The items of one writer, in buckets.
#[derive(Debug)]
pub(super) struct BucketFill {
    pub routes: Arc<Routes>,
    /// How items are staged, and how they stand in blocks.
    layout: Layout,
    pub stored: Layout,
    pub memory: BlockMemory,
    /// How many blocks may be filled, the one that follows each of those that were, and those that are free again.
    max_blocks: usize,
    next_blocks: Vec<u32>,
    free_blocks: Vec<u32>,
    /// These stand alone, so that the nearest cache holds all.
    marks: Vec<Mark>,
    /// Where words are steps, how many of its words follow a step as a whole.
    whole_words: Vec<usize>,
    /// Items of each bucket in an arena: slots are as many as there are bytes for.
    long_items: Vec<usize>,
    buckets: Vec<Bucket>,
    limits: BucketLimits,
    /// What was written to a file, where there is one, and the bucket that is written next.
    folder: Arc<SpillFolder>,
    written: Option<SegmentWriter>,
    next_written: usize,
    items: u64,
    pub item_bytes: u64,
}

/// How far a bucket is.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Where in memory its next item goes; where a block begins, none is open.
    end: usize,
    /// Where words are steps, the lowest bits of its last one.
    low: u64,
}

/// What a bucket has.
#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Its blocks in memory.
    first_block: u32,
    last_block: u32,
    blocks: usize,
    /// What comes before those, in a file, and the bytes of it.
    segments: Vec<Segment>,
    segment_bytes: usize,
}

/// What a writer's buckets may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketLimits {
    /// Bytes of all blocks in memory.
    pub memory_bytes: usize,
    /// Bytes of one bucket, in memory and in the file.
    pub bucket_bytes: usize,
    /// Bytes of a write to the file.
    pub write_bytes: usize,
}

impl BucketFill {
    /// No items yet, of this layout where they are staged.
    pub fn new(routes: Arc<Routes>, layout: Layout, limits: BucketLimits, folder: &Arc<SpillFolder>) -> Self {
        let stored = routes.kept().map_or(layout, |kept| Layout::words(kept.bytes()));
        let buckets = vec![Bucket::default(); routes.len()];
        // They are sorted as whole words.
        let bucket_bytes = routes.kept().map_or(limits.bucket_bytes, |kept| limits.bucket_bytes / WORD * kept.bytes());
        let limits = BucketLimits { bucket_bytes, ..limits };
        let with_steps = if matches!(routes.kept(), Some(Kept::Steps(_))) { buckets.len() } else { 0 };
        Self {
            routes,
            layout,
            stored,
            memory: BlockMemory::new(limits.memory_bytes),
            max_blocks: limits.memory_bytes / BLOCK_BYTES,
            next_blocks: Vec::new(),
            free_blocks: Vec::new(),
            marks: vec![Mark::default(); buckets.len()],
            whole_words: vec![0; with_steps],
            long_items: vec![0; buckets.len()],
            buckets,
            limits,
            folder: folder.clone(),
            written: None,
            next_written: 0,
            items: 0,
            item_bytes: 0,
        }
    }

    /// Where items are staged for it.
    pub fn stage(&self) -> FillRun {
        FillRun::new(vec![0; STAGE_BYTES + SLACK_BYTES], self.layout)
    }

    pub fn items(&self) -> u64 {
        self.items
    }

    /// Bytes of memory that the items take, or took before they were written.
    pub fn held(&self) -> usize {
        self.next_blocks.len() * BLOCK_BYTES
    }

    /// Bytes of memory that the items take.
    pub fn used(&self) -> usize {
        (self.next_blocks.len() - self.free_blocks.len()) * BLOCK_BYTES
    }

    #[cfg(test)]
    pub fn file(&self) -> Option<&super::spill::SpillFile> {
        self.written.as_ref().map(|writer| &**writer.file())
    }

    pub fn is_in_memory(&self) -> bool {
        self.written.is_none()
    }

    /// Has it take items that are staged in another layout from now on; `false` where its blocks cannot hold these.
    #[must_use]
    pub fn set_layout(&mut self, layout: Layout) -> bool {
        self.layout = layout;
        self.stored == layout || self.routes.packing().is_some()
    }

    /// Takes all staged items, which have its layout, and gives those without a bucket to `rest`; `false` where not all
    /// of them may fit that.
    pub fn take(&mut self, staged: &FillRun, rest: &mut FillRun) -> Result<bool> {
        if !rest.has_room_for(staged) {
            return Ok(false);
        }
        // Not every bucket opens a block at once; those that find none add to the rest.
        self.make_room(staged.items().min(self.buckets.len()) / 4 + staged.used() / BLOCK_BYTES + 1)?;
        let before = (rest.items(), rest.item_bytes());
        match self.layout {
            Layout::Slots { width: 8, .. } => self.take_slots::<8>(staged, rest),
            Layout::Slots { width: 12, .. } => self.take_slots::<12>(staged, rest),
            Layout::Slots { width: 16, .. } => self.take_slots::<16>(staged, rest),
            Layout::Slots { width: 20, .. } => self.take_slots::<20>(staged, rest),
            Layout::Slots { width: 24, .. } => self.take_slots::<24>(staged, rest),
            Layout::Slots { .. } => self.take_slots::<MAX_SLOT_BYTES>(staged, rest),
            Layout::Arena => self.take_long(staged, rest),
        }
        self.items += (staged.items() - (rest.items() - before.0)) as u64;
        self.item_bytes += staged.item_bytes() - (rest.item_bytes() - before.1);
        Ok(true)
    }

    /// Takes words, and gives the items of those without a bucket to `rest`; `false` where not all may fit that.
    pub fn take_words(&mut self, words: &[u64], rest: &mut FillRun) -> Result<bool> {
        let routes = self.routes.clone();
        let Form::Words { packing, behind, kept } = routes.form() else {
            unreachable!("only words are staged as such")
        };
        if !rest.has_room_for_items(words.len(), packing.longest()) {
            return Ok(false);
        }
        self.make_room(words.len().min(self.buckets.len()) / 4 + size_of_val(words) / BLOCK_BYTES + 1)?;
        let before = (rest.items(), rest.item_bytes());
        let mut give_to_rest = |word| packing.with_item(word, |item| rest.push(item)).expect("room for all words");
        let bucket_of = |word| routes.bucket_of_word(word, *behind);
        let mut left = words;
        while let Some((&word, behind_it)) = left[self.append_words(left, bucket_of, kept)..].split_first() {
            if !self.append_any(bucket_of(word), word, kept) {
                give_to_rest(word);
            }
            left = behind_it;
        }
        let item_bytes: usize = words.iter().map(|word| packing.len_of(*word)).sum();
        self.items += (words.len() - (rest.items() - before.0)) as u64;
        self.item_bytes += item_bytes as u64 - (rest.item_bytes() - before.1);
        Ok(true)
    }

    /// Whether items may be [taken in parts](Self::take_parts).
    pub fn takes_parts(&self) -> bool {
        self.stored == Layout::Arena && self.routes.packing().is_none()
    }

    /// Takes long items in parts, but for those that must be staged: these stay in `items`.
    pub fn take_parts<T>(&mut self, items: &mut Vec<(T, ItemParts<'_>)>) {
        let Form::Items(selector) = self.routes.form() else { return };
        let bucket = |parts: &ItemParts<'_>| self.routes.bucket(parts.first_bytes()?, selector);
        let buckets: Vec<Option<usize>> = items.iter().map(|(_, parts)| bucket(parts)).collect();
        let (mut left, mut taken_bytes) = (0, 0);
        // As for words: little else is stored meanwhile.
        for (index, bucket) in buckets.into_iter().enumerate() {
            let parts = &items[index].1;
            if bucket.is_some_and(|bucket| self.take_in_parts(bucket, parts)) {
                taken_bytes += parts.len();
            } else {
                items.swap(left, index);
                left += 1;
            }
        }
        self.items += (items.len() - left) as u64;
        self.item_bytes += taken_bytes as u64;
        items.truncate(left);
    }

    /// Takes a long item in parts; `false` where it must be staged.
    #[inline(always)]
    fn take_in_parts(&mut self, bucket: usize, parts: &ItemParts<'_>) -> bool {
        let (at, len) = (self.marks[bucket].end, parts.len());
        let room = &mut self.memory[at..at.next_multiple_of(BLOCK_BYTES)];
        if room.len() < MAX_LENGTH_BYTES + len + ItemParts::MARGIN {
            return self.take_in_parts_across(bucket, parts);
        }
        let width = write_length(len, room);
        parts.write(&mut room[width..]);
        self.marks[bucket].end = at + width + len;
        self.long_items[bucket] += 1;
        true
    }

    /// Takes a long item in parts that goes on in another block; `false` where it must be staged.
    #[inline(never)]
    fn take_in_parts_across(&mut self, bucket: usize, parts: &ItemParts<'_>) -> bool {
        let (mut item, len) = ([0; BLOCK_BYTES / 8], parts.len());
        if MAX_LENGTH_BYTES + len + ItemParts::MARGIN > item.len() {
            return false;
        }
        let width = write_length(len, &mut item);
        parts.write(&mut item[width..]);
        let is_taken = self.append_to_blocks(bucket, &item[..width + len]);
        self.long_items[bucket] += usize::from(is_taken);
        is_taken
    }

    fn take_slots<const N: usize>(&mut self, staged: &FillRun, rest: &mut FillRun) {
        let is_full = matches!(self.layout, Layout::Slots { full: true, .. });
        // The length at the end of a slot is no byte of the item.
        let item_bits = if N <= 16 && !is_full { u128::MAX << (8 * (17 - N)) } else { u128::MAX };
        let slots: &[[u8; N]] = staged.bytes().as_chunks().0;
        let routes = self.routes.clone();
        for (index, slot) in slots.iter().enumerate() {
            let head = head(slot) & item_bits;
            let len = if is_full { N } else { usize::from(slot[N - 1]) };
            if self.take_one(&routes, head, len, slot).is_none() {
                rest.push(staged.slot(index)).expect("room for all that is staged");
            }
        }
    }

    fn take_long(&mut self, staged: &FillRun, rest: &mut FillRun) {
        let routes = self.routes.clone();
        let mut bytes = staged.bytes();
        while !bytes.is_empty() {
            let (len, width) = read_length(bytes);
            let (with_length, behind) = bytes.split_at(width + len);
            let item = &with_length[width..];
            match self.take_one(&routes, head(item), len, with_length) {
                Some(bucket) => self.long_items[bucket] += 1,
                None => rest.push(item).expect("room for all that is staged"),
            }
            bytes = behind;
        }
    }

    /// Takes an item with this head and length, which is staged like this; the bucket that took it.
    #[inline(always)]
    fn take_one(&mut self, routes: &Routes, head: u128, len: usize, staged: &[u8]) -> Option<usize> {
        let (bucket, is_taken) = match routes.form() {
            Form::Words { packing, behind, kept } => {
                let word = packing.pack(halves(head), len)?;
                let bucket = routes.bucket_of_word(word, *behind);
                (bucket, self.append_any(bucket, word, kept))
            }
            Form::Items(selector) => {
                let bucket = routes.bucket(head, selector)?;
                (bucket, self.append(bucket, staged))
            }
        };
        is_taken.then_some(bucket)
    }

    /// Appends the last bytes of a word; `false` where there is no such bucket, or it has too much.
    #[inline(always)]
    fn append_word(&mut self, bucket: usize, word: u64, kept: LastBytes) -> bool {
        bucket < self.marks.len() && self.append_first(bucket, kept.of(word), kept.count)
    }

    /// Appends words up to one that takes more than a few bytes in an open block; how many.
    fn append_words(&mut self, words: &[u64], bucket_of: impl Fn(u64) -> usize, kept: &Kept) -> usize {
        match kept {
            Kept::LastBytes(last) => {
                let last = *last;
                self.append_run(words, bucket_of, last.count, |word, _| Some(last.of(word)))
            }
            Kept::Steps(steps) => {
                let steps = *steps;
                self.append_run(words, bucket_of, steps.bytes, |word, low| {
                    let step = steps.step(word, *low)?;
                    *low = steps.low(word);
                    Some(step)
                })
            }
        }
    }

    /// The same for words of which a bucket has so many of the bytes that `made` makes of a word and the lowest bits of the
    /// one before, which it changes, unless there are none.
    ///
    /// Of stores to memory that no cache has at hand the processor can put off only few: little stands between them, and
    /// where all is that is written to is read once.
    #[inline(always)]
    fn append_run(
        &mut self,
        words: &[u64],
        bucket_of: impl Fn(u64) -> usize,
        count: usize,
        made: impl Fn(u64, &mut u64) -> Option<[u8; WORD]>,
    ) -> usize {
        let Self { memory, marks, .. } = self;
        let (memory, marks): (&mut [u8], &mut [Mark]) = (memory, marks);
        for (index, &word) in words.iter().enumerate() {
            let Some(Mark { end, low }) = marks.get_mut(bucket_of(word)) else { return index };
            if !fits_open_block(*end, WORD) {
                return index;
            }
            let Some(bytes) = made(word, low) else { return index };
            // The next one takes the place of what is not wanted.
            memory[*end..*end + WORD].copy_from_slice(&bytes);
            *end += count;
        }
        words.len()
    }

    /// Appends a word; `false` where there is no such bucket, or it has too much.
    fn append_any(&mut self, bucket: usize, word: u64, kept: &Kept) -> bool {
        match kept {
            Kept::LastBytes(last) => self.append_word(bucket, word, *last),
            Kept::Steps(steps) => self.append_step(bucket, word, steps),
        }
    }

    /// Appends a word as a step from the last one; `false` as above.
    #[inline(always)]
    fn append_step(&mut self, bucket: usize, word: u64, steps: &Steps) -> bool {
        let Some(&Mark { low, .. }) = self.marks.get(bucket) else { return false };
        let is_taken = match steps.step(word, low) {
            Some(step) => self.append_first(bucket, step, steps.bytes),
            None => self.append_whole(bucket, word, steps),
        };
        if is_taken {
            self.marks[bucket].low = steps.low(word);
        }
        is_taken
    }

    #[inline(never)]
    fn append_whole(&mut self, bucket: usize, word: u64, steps: &Steps) -> bool {
        let (bytes, len) = steps.whole(word);
        let is_taken = self.append_to_blocks(bucket, &bytes[..len]);
        self.whole_words[bucket] += usize::from(is_taken);
        is_taken
    }

    /// Appends the first `count` of these bytes.
    #[inline(always)]
    fn append_first(&mut self, bucket: usize, bytes: [u8; WORD], count: usize) -> bool {
        let at = self.marks[bucket].end;
        if !fits_open_block(at, WORD) {
            return self.append_to_blocks(bucket, &bytes[..count]);
        }
        // The next one takes the place of what is not wanted.
        self.memory[at..at + WORD].copy_from_slice(&bytes);
        self.marks[bucket].end = at + count;
        true
    }

    /// Appends an item as it is stored; `false` where its bucket has too much.
    #[inline(always)]
    fn append(&mut self, bucket: usize, bytes: &[u8]) -> bool {
        let at = self.marks[bucket].end;
        if !fits_open_block(at, bytes.len()) {
            return self.append_to_blocks(bucket, bytes);
        }
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        self.marks[bucket].end = at + bytes.len();
        true
    }

    #[inline(never)]
    fn append_to_blocks(&mut self, bucket: usize, mut bytes: &[u8]) -> bool {
        let Bucket { first_block, last_block, blocks, segment_bytes, .. } = &mut self.buckets[bucket];
        let more = bytes.len() / BLOCK_BYTES + 1;
        let has_room = self.next_blocks.len() + more <= self.max_blocks + self.free_blocks.len();
        if !has_room || *segment_bytes + (*blocks + more) * BLOCK_BYTES > self.limits.bucket_bytes {
            return false;
        }
        let mut at = self.marks[bucket].end;
        let mut room = at.next_multiple_of(BLOCK_BYTES) - at;
        loop {
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.memory[at..at + now.len()].copy_from_slice(now);
            (at, bytes) = (at + now.len(), later);
            if bytes.is_empty() {
                self.marks[bucket].end = at;
                return true;
            }
            let block = self.free_blocks.pop().unwrap_or_else(|| {
                self.next_blocks.push(0);
                self.memory.use_up_to(self.next_blocks.len() * BLOCK_BYTES);
                u32::try_from(self.next_blocks.len() - 1).expect("blocks are counted in 32 bits")
            });
            match *blocks {
                0 => *first_block = block,
                _ => self.next_blocks[*last_block as usize] = block,
            }
            (*last_block, *blocks) = (block, *blocks + 1);
            (at, room) = (block as usize * BLOCK_BYTES, BLOCK_BYTES);
        }
    }

    /// Sees to it that there are so many blocks that hold nothing.
    fn make_room(&mut self, blocks: usize) -> Result<()> {
        let has_room = self.next_blocks.len() + blocks <= self.max_blocks + self.free_blocks.len();
        if has_room { Ok(()) } else { self.write_some(blocks.max(self.max_blocks / WRITTEN_SHARE)) }
    }

    /// Writes full blocks of the buckets whose turn it is, until there is room for so many.
    fn write_some(&mut self, blocks: usize) -> Result<()> {
        for _ in 0..self.buckets.len() {
            if self.next_blocks.len() + blocks <= self.max_blocks + self.free_blocks.len() {
                break;
            }
            let bucket = self.next_written;
            self.next_written = (bucket + 1) % self.buckets.len();
            let is_open = !self.marks[bucket].end.is_multiple_of(BLOCK_BYTES);
            let full = self.buckets[bucket].blocks - usize::from(is_open);
            if full * self.buckets.len() * MIN_SEGMENT_SHARE >= self.max_blocks {
                self.write_blocks(bucket, full)?;
            }
        }
        Ok(())
    }

    /// Writes the first `count` blocks of a bucket.
    fn write_blocks(&mut self, bucket: usize, count: usize) -> Result<()> {
        let bytes = self.bytes_in_memory(bucket).min(count * BLOCK_BYTES);
        let writer = match &mut self.written {
            Some(writer) => writer,
            none => none.insert(SegmentWriter::new(self.folder.create()?, self.limits.write_bytes)),
        };
        let one = &mut self.buckets[bucket];
        writer.begin();
        for _ in 0..count {
            let block = one.first_block as usize;
            writer.push(&self.memory[block * BLOCK_BYTES..][..BLOCK_BYTES])?;
            self.free_blocks.push(one.first_block);
            one.first_block = self.next_blocks[block];
        }
        one.segments.push(writer.end(bytes));
        one.segment_bytes += bytes;
        one.blocks -= count;
        if one.blocks == 0 {
            self.marks[bucket].end = 0;
        }
        Ok(())
    }

    /// Writes all that is in memory, and gives that back. There are no more items to come.
    pub fn write_all(&mut self) -> Result<()> {
        for bucket in 0..self.buckets.len() {
            let blocks = self.buckets[bucket].blocks;
            if blocks > 0 {
                self.write_blocks(bucket, blocks)?;
            }
        }
        (self.memory, self.next_blocks, self.free_blocks) = Default::default();
        self.finish()
    }

    /// All items are taken.
    pub fn finish(&mut self) -> Result<()> {
        self.written.as_mut().map_or(Ok(()), SegmentWriter::finish)
    }

    /// Bytes of a bucket's items, and those of them that are in memory.
    pub fn bytes(&self, bucket: usize) -> usize {
        self.buckets[bucket].segment_bytes + self.bytes_in_memory(bucket)
    }

    pub fn bytes_in_file(&self, bucket: usize) -> usize {
        self.buckets[bucket].segment_bytes
    }

    /// The most that a bucket's items take.
    pub fn most_bytes_of_bucket(&self) -> usize {
        self.limits.bucket_bytes
    }

    fn bytes_in_memory(&self, bucket: usize) -> usize {
        let end = self.marks[bucket].end;
        self.buckets[bucket].blocks * BLOCK_BYTES - (end.next_multiple_of(BLOCK_BYTES) - end)
    }

    pub fn items_of(&self, bucket: usize) -> usize {
        let whole_words = self.whole_words.get(bucket).copied().unwrap_or(0);
        match self.stored {
            Layout::Slots { width, .. } => (self.bytes(bucket) - WORD * whole_words) / width,
            Layout::Arena => self.long_items[bucket],
        }
    }

    /// Begins to read what the file has of a bucket, if it has any.
    pub fn read_ahead(&self, bucket: usize) -> Option<SegmentReader> {
        let segments = &self.buckets[bucket].segments;
        let writer = self.written.as_ref().filter(|_| !segments.is_empty())?;
        SegmentReader::start(writer.file(), segments)
    }

    /// Appends a bucket's items to `run`, which has the layout that they are stored in.
    pub fn gather(&self, bucket: usize, run: &mut FillRun, reader: Option<SegmentReader>) -> Result<()> {
        self.read(bucket, reader, |bytes| run.append(bytes))?;
        run.count(self.items_of(bucket));
        Ok(())
    }

    /// Puts what a bucket has of its words, and eight bytes more, in the place of `bytes`.
    pub fn read_bytes(&self, bucket: usize, reader: Option<SegmentReader>, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.reserve(self.bytes(bucket) + WORD);
        self.read(bucket, reader, |block| bytes.extend_from_slice(block))?;
        bytes.extend_from_slice(&[0; WORD]);
        Ok(())
    }

    /// Hands out the bytes of a bucket's items; `reader` may be reading those of the file already.
    fn read(&self, bucket: usize, reader: Option<SegmentReader>, mut each: impl FnMut(&[u8])) -> Result<()> {
        let one = &self.buckets[bucket];
        let in_file = match (reader, &self.written) {
            (Some(reader), _) => Some(reader.take()?),
            (None, Some(writer)) => Some(ReadSegments::read(writer.file(), &one.segments)?),
            (None, None) => None,
        };
        in_file.iter().flat_map(ReadSegments::segments).for_each(&mut each);
        let mut left = self.bytes_in_memory(bucket);
        let mut block = one.first_block as usize;
        while left > 0 {
            let len = left.min(BLOCK_BYTES);
            each(&self.memory[block * BLOCK_BYTES..][..len]);
            left -= len;
            block = self.next_blocks[block] as usize;
        }
        Ok(())
    }

    /// Its items, bucket by bucket; all are in memory.
    pub fn for_each(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut memory, mut words, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for bucket in 0..self.buckets.len() {
            if let Some(packing) = self.routes.packing() {
                self.read_bytes(bucket, None, &mut bytes)?;
                self.routes.read_words(bucket, std::slice::from_ref(&bytes), self.items_of(bucket), &mut words);
                words.iter().try_for_each(|word| packing.with_item(*word, &mut each))?;
                continue;
            }
            memory.resize((self.bytes(bucket) + SLACK_BYTES).max(MIN_MEMORY_BYTES).max(memory.len()), 0);
            let mut run = FillRun::new(memory, self.stored);
            self.gather(bucket, &mut run, None)?;
            run.for_each(&mut each)?;
            memory = run.into_memory();
        }
        Ok(())
    }
}

/// Whether so many bytes from here on are in a block that something is in already.
#[inline(always)]
fn fits_open_block(at: usize, len: usize) -> bool {
    let in_block = at % BLOCK_BYTES;
    in_block > 0 && in_block + len <= BLOCK_BYTES
}
