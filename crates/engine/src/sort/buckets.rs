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
//! written once to its block, and once more to where its bucket is sorted, which is used again for the next bucket.
//!
//! Routes are made of the first items, by whoever has enough of them first, and hold for all writers of a sort. They know
//! the bits that varied among these, and how often each combination of the topmost ones came. An item that differs in
//! other bits, or whose bucket has more than its share, goes to the rest: so a sample that says nothing about what comes
//! costs a little time and no memory. Zeros are thought behind items shorter than what routes look at: then buckets
//! follow each other as memcmp has it.

use super::arena::read_length;
use super::merge::ItemWithSlack;
use super::radix::Digit;
use super::run::{FillRun, Layout, MAX_SLOT_BYTES, MIN_MEMORY_BYTES, MemoryRun, SLACK_BYTES};
use super::sample::Samples;
use super::varying::Varying;
use std::convert::Infallible;
use std::sync::Arc;

/// Bytes of a block: items of one bucket, cut anywhere. As many as a page of memory has.
const BLOCK_BYTES: usize = 4096;

/// Their last blocks, one a bucket, are to be written to by turns: as many as the caches of memory and addresses hold.
const MAX_BUCKETS: usize = 1024;
const MIN_BUCKETS: usize = 64;

/// A memory has at least so many blocks for each bucket.
const BLOCKS_PER_BUCKET: usize = 16;

/// A bucket has at most this part of the blocks.
const MAX_SHARE: usize = 32;

/// How many bits tell the bucket: the fewest that make enough buckets, because looking these up is waited for.
const ROUTE_BITS: [u32; 3] = [12, 14, 16];

/// Bytes of items that are staged before they go to their buckets: what the nearest cache holds beside.
const STAGE_BYTES: usize = 16 << 10;

/// Bytes of the first items.
const SAMPLE_BYTES: usize = 1 << 20;

/// To which bucket an item goes.
#[derive(Debug)]
pub(super) struct Routes {
    /// An item's first 16 bytes, and the bits of them that all items have in common.
    first: u128,
    same: u128,
    /// How far a word of 64 of these bits is from their end, and the bits of it that tell.
    shift: u32,
    digit: Digit,
    bucket_of: Vec<u16>,
    /// The first digit of each bucket.
    starts: Vec<usize>,
}

impl Routes {
    /// How many bytes of items make a sample, in a memory of so many; `None` where it is too small for buckets.
    pub fn sample_bytes(memory_bytes: usize) -> Option<usize> {
        (buckets_in(memory_bytes) >= MIN_BUCKETS).then_some(SAMPLE_BYTES.min(memory_bytes / 16))
    }

    /// The routes of items like these, in a memory of so many bytes; `None` where they would not be worth it.
    pub fn new(sample: &FillRun, memory_bytes: usize) -> Option<Self> {
        let mut heads = Vec::new();
        let each = |item: &[u8]| -> Result<(), Infallible> {
            heads.push(head(item));
            Ok(())
        };
        let Ok(()) = sample.for_each(each);
        // What comes in order is sorted in no time.
        if heads.is_sorted() || heads.is_sorted_by(|a, b| a >= b) {
            return None;
        }
        let first = heads[0];
        let differ = heads.iter().fold(0, |differ, head| differ | head ^ first);
        let shift = 64 - (differ.leading_zeros() / 8 * 8).min(64);
        let routes = |bits| Self::with_bits(bits, &heads, differ, shift, buckets_in(memory_bytes));
        let all = ROUTE_BITS.map(routes);
        let is_enough = |routes: &Self| routes.starts.len() >= buckets_in(memory_bytes) / 2;
        let best = all.iter().position(is_enough).unwrap_or(ROUTE_BITS.len() - 1);
        all.into_iter().nth(best).filter(|routes| routes.starts.len() >= MIN_BUCKETS / 2)
    }

    /// The routes that so many of the bits tell that differ.
    fn with_bits(bits: u32, heads: &[u128], differ: u128, shift: u32, buckets: usize) -> Self {
        let first = heads[0];
        let digit = Digit::topmost(low_word(differ >> shift), bits);
        let reach = u128::MAX << 64 << shift | u128::from(digit.reach()) << shift;
        let mut counts = vec![0usize; 1 << digit.bits];
        for head in heads {
            counts[digit.of_word::<{ Digit::MAX_FIELDS }>(low_word(head >> shift))] += 1;
        }
        let (mut bucket_of, mut starts, mut count) = (Vec::with_capacity(counts.len()), vec![0], 0);
        let share = heads.len().div_ceil(buckets);
        for (digit, more) in counts.into_iter().enumerate() {
            if count > 0 && count + more > share {
                starts.push(digit);
                count = 0;
            }
            count += more;
            bucket_of.push(u16::try_from(starts.len() - 1).expect("few buckets"));
        }
        Self { first, same: reach & !differ, shift, digit, bucket_of, starts }
    }

    #[inline]
    fn bucket(&self, head: u128) -> Option<usize> {
        if (head ^ self.first) & self.same != 0 {
            return None;
        }
        let digit = self.digit.of_word::<{ Digit::MAX_FIELDS }>(low_word(head >> self.shift));
        Some(self.bucket_of[digit].into())
    }

    /// What separates the items of a bucket from those of the buckets before.
    fn key(&self, bucket: usize) -> Vec<u8> {
        let word = u128::from(self.digit.spread(self.starts[bucket])) << self.shift;
        let head = (self.first & self.same | word).to_be_bytes();
        let len = head.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        if bucket == 0 { Vec::new() } else { head[..len].to_vec() }
    }
}

fn buckets_in(memory_bytes: usize) -> usize {
    MAX_BUCKETS.min(memory_bytes / BLOCK_BYTES / BLOCKS_PER_BUCKET)
}

/// The lower half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is not wanted")]
fn low_word(bits: u128) -> u64 {
    bits as u64
}

/// The first 16 bytes of an item, zeros behind its end.
#[inline]
fn head(item: &[u8]) -> u128 {
    match item.first_chunk() {
        Some(first) => u128::from_be_bytes(*first),
        None => {
            let mut first = [0; 16];
            first[..item.len()].copy_from_slice(item);
            u128::from_be_bytes(first)
        }
    }
}

/// The items of one writer, in buckets.
#[derive(Debug)]
pub(super) struct BucketFill {
    routes: Arc<Routes>,
    layout: Layout,
    memory: Vec<u8>,
    /// How many blocks may be filled, and the one that follows each of those that are.
    max_blocks: usize,
    next_blocks: Vec<u32>,
    /// Where in memory the next item of each bucket goes; where a block begins, none is open. Alone, so that the nearest
    /// cache holds all.
    ends: Vec<usize>,
    buckets: Vec<Bucket>,
    items: u64,
    item_bytes: u64,
}

/// What a bucket has.
#[derive(Clone, Debug, Default)]
struct Bucket {
    first_block: u32,
    last_block: u32,
    blocks: usize,
    /// Items in an arena: slots are as many as there are bytes for.
    long_items: usize,
}

impl BucketFill {
    /// No items yet, and `memory` for so many bytes of blocks.
    pub fn new(routes: Arc<Routes>, layout: Layout, memory: Vec<u8>, bytes: usize) -> Self {
        let buckets = vec![Bucket::default(); routes.starts.len()];
        let (ends, next_blocks) = (vec![0; buckets.len()], Vec::new());
        let max_blocks = bytes.min(memory.len()) / BLOCK_BYTES;
        Self { routes, layout, memory, max_blocks, next_blocks, ends, buckets, items: 0, item_bytes: 0 }
    }

    /// Where items are staged for it.
    pub fn stage(&self) -> FillRun {
        FillRun::new(vec![0; STAGE_BYTES + SLACK_BYTES], self.layout)
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    pub fn items(&self) -> u64 {
        self.items
    }

    /// Bytes of memory that the items take.
    pub fn used(&self) -> usize {
        self.next_blocks.len() * BLOCK_BYTES
    }

    /// Takes all staged items, which have its layout, and gives those without a bucket to `rest`; `false` where not all
    /// of them may fit.
    #[must_use]
    pub fn take(&mut self, staged: &FillRun, rest: &mut FillRun) -> bool {
        // Not every bucket opens a block at once; those that find none add to the rest.
        let blocks = staged.items().min(self.buckets.len()) / 4 + staged.used() / BLOCK_BYTES + 1;
        if self.next_blocks.len() + blocks > self.max_blocks || !rest.has_room_for(staged) {
            return false;
        }
        let before = (rest.items(), rest.item_bytes());
        match self.layout {
            Layout::Slots { width: 12, .. } => self.take_slots::<12>(staged, rest),
            Layout::Slots { width: 16, .. } => self.take_slots::<16>(staged, rest),
            Layout::Slots { width: 20, .. } => self.take_slots::<20>(staged, rest),
            Layout::Slots { width: 24, .. } => self.take_slots::<24>(staged, rest),
            Layout::Slots { .. } => self.take_slots::<MAX_SLOT_BYTES>(staged, rest),
            Layout::Arena => self.take_long(staged, rest),
        }
        self.items += (staged.items() - (rest.items() - before.0)) as u64;
        self.item_bytes += staged.item_bytes() - (rest.item_bytes() - before.1);
        true
    }

    fn take_slots<const N: usize>(&mut self, staged: &FillRun, rest: &mut FillRun) {
        // The length at the end of a slot is no byte of the item.
        let is_length = N <= 16 && !matches!(self.layout, Layout::Slots { full: true, .. });
        let item_bits = if is_length { u128::MAX << (8 * (17 - N)) } else { u128::MAX };
        let slots: &[[u8; N]] = staged.bytes().as_chunks().0;
        for (index, slot) in slots.iter().enumerate() {
            let taken = match self.routes.bucket(head(slot) & item_bits) {
                Some(bucket) => self.append(bucket, slot),
                None => false,
            };
            if !taken {
                rest.push(staged.slot(index)).expect("room for all that is staged");
            }
        }
    }

    fn take_long(&mut self, staged: &FillRun, rest: &mut FillRun) {
        let mut bytes = staged.bytes();
        while !bytes.is_empty() {
            let (len, width) = read_length(bytes);
            let (with_length, behind) = bytes.split_at(width + len);
            let item = &with_length[width..];
            let taken = match self.routes.bucket(head(item)) {
                Some(bucket) if self.append(bucket, with_length) => {
                    self.buckets[bucket].long_items += 1;
                    true
                }
                _ => false,
            };
            if !taken {
                rest.push(item).expect("room for all that is staged");
            }
            bytes = behind;
        }
    }

    /// Appends an item as its layout has it; `false` where its bucket has too much.
    #[inline(always)]
    fn append(&mut self, bucket: usize, bytes: &[u8]) -> bool {
        let at = self.ends[bucket];
        let in_block = at % BLOCK_BYTES;
        if in_block == 0 || in_block + bytes.len() > BLOCK_BYTES {
            return self.append_to_blocks(bucket, bytes);
        }
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
        self.ends[bucket] = at + bytes.len();
        true
    }

    #[inline(never)]
    fn append_to_blocks(&mut self, bucket: usize, mut bytes: &[u8]) -> bool {
        let Bucket { first_block, last_block, blocks, .. } = &mut self.buckets[bucket];
        let more = bytes.len() / BLOCK_BYTES + 1;
        if (*blocks + more) * MAX_SHARE > self.max_blocks || self.next_blocks.len() + more > self.max_blocks {
            return false;
        }
        let mut at = self.ends[bucket];
        let mut room = at.next_multiple_of(BLOCK_BYTES) - at;
        loop {
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.memory[at..at + now.len()].copy_from_slice(now);
            (at, bytes) = (at + now.len(), later);
            if bytes.is_empty() {
                self.ends[bucket] = at;
                return true;
            }
            let block = u32::try_from(self.next_blocks.len()).expect("blocks are counted in 32 bits");
            self.next_blocks.push(block);
            match *blocks {
                0 => *first_block = block,
                _ => self.next_blocks[*last_block as usize] = block,
            }
            (*last_block, *blocks) = (block, *blocks + 1);
            (at, room) = (block as usize * BLOCK_BYTES, BLOCK_BYTES);
        }
    }

    /// Bytes of a bucket's items.
    fn bytes(&self, bucket: usize) -> usize {
        let end = self.ends[bucket];
        self.buckets[bucket].blocks * BLOCK_BYTES - (end.next_multiple_of(BLOCK_BYTES) - end)
    }

    fn items_of(&self, bucket: usize) -> usize {
        match self.layout {
            Layout::Slots { width, .. } => self.bytes(bucket) / width,
            Layout::Arena => self.buckets[bucket].long_items,
        }
    }

    /// Appends a bucket's items to `run`, which has the same layout.
    fn gather(&self, bucket: usize, run: &mut FillRun) {
        let mut left = self.bytes(bucket);
        let mut block = self.buckets[bucket].first_block as usize;
        while left > 0 {
            let len = left.min(BLOCK_BYTES);
            run.append(&self.memory[block * BLOCK_BYTES..][..len]);
            left -= len;
            block = self.next_blocks[block] as usize;
        }
        run.count(self.items_of(bucket));
    }

    /// Its items, bucket by bucket.
    pub fn for_each<E>(&self, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut memory = Vec::new();
        for bucket in 0..self.buckets.len() {
            memory.resize((self.bytes(bucket) + SLACK_BYTES).max(MIN_MEMORY_BYTES).max(memory.len()), 0);
            let mut run = FillRun::new(memory, self.layout);
            self.gather(bucket, &mut run);
            run.for_each(&mut each)?;
            memory = run.into_memory();
        }
        Ok(())
    }

    pub fn into_memory(self) -> Vec<u8> {
        self.memory
    }

    /// Gives back the memory that no item uses.
    fn shrink(&mut self) {
        self.memory.truncate(self.used());
        self.memory.shrink_to_fit();
    }
}

/// The items of all writers that have the same routes.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    fills: Vec<BucketFill>,
    /// Where each bucket begins.
    samples: Samples,
}

impl Buckets {
    /// Those of one writer.
    pub fn of(fill: BucketFill) -> Self {
        let mut buckets = Self::default();
        buckets.fills.push(fill);
        buckets.seal();
        buckets
    }

    pub fn add(&mut self, mut fill: BucketFill) {
        fill.shrink();
        self.fills.push(fill);
    }

    pub fn pop(&mut self) -> Option<BucketFill> {
        self.fills.pop()
    }

    pub fn into_memory(mut self) -> Vec<u8> {
        self.fills.pop().map(BucketFill::into_memory).unwrap_or_default()
    }

    /// All are added.
    pub fn seal(&mut self) {
        let Some(routes) = self.fills.first().map(|fill| fill.routes.clone()) else { return };
        let mut ordinal = 0;
        for bucket in 0..routes.starts.len() {
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

    /// A bucket, sorted, in memories that another one had.
    fn sort(&self, bucket: usize, [mut memory, mut order]: [Vec<u8>; 2]) -> (MemoryRun, Vec<u8>) {
        let layout = self.fills.iter().map(BucketFill::layout).reduce(Layout::and).expect("there are items");
        let bytes: usize = self.fills.iter().map(|fill| fill.bytes(bucket)).sum();
        let room = SLACK_BYTES + layout.bytes_for(self.items_of(bucket), bytes);
        memory.resize(room.max(MIN_MEMORY_BYTES).max(memory.len()), 0);
        let mut run = FillRun::new(memory, layout);
        for fill in &self.fills {
            if fill.layout == layout {
                fill.gather(bucket, &mut run);
            } else {
                let mut others = FillRun::new(vec![0; room.max(MIN_MEMORY_BYTES)], fill.layout);
                fill.gather(bucket, &mut others);
                others.for_each(|item| run.push(item)).expect("room for the items of all layouts");
            }
        }
        order.resize(run.scratch_bytes().max(order.len()), 0);
        let (run, scratch) = run.sort(order);
        (run, scratch.unwrap_or_default())
    }
}

/// Goes through the items in order.
#[derive(Debug)]
pub(super) struct BucketCursor<'s> {
    buckets: &'s Buckets,
    /// The bucket that is sorted, and what memory it does not need.
    run: MemoryRun,
    scratch: Vec<u8>,
    /// The next bucket.
    next: usize,
    /// Items in the buckets before the one that is sorted.
    before: u64,
    index: usize,
    bounds: (usize, usize),
    /// What varies in the items so far.
    varying: Option<Varying>,
}

impl<'s> BucketCursor<'s> {
    /// At the first item that is not less than `key`.
    pub fn at_key(buckets: &'s Buckets, key: &[u8]) -> Self {
        let (before, bucket) = buckets.samples.before(key);
        let bucket = usize::try_from(bucket).expect("few buckets");
        let (run, scratch) = buckets.sort(bucket, Default::default());
        let index = run.rank(key);
        let mut cursor = Self { buckets, run, scratch, next: bucket + 1, before, index, bounds: (0, 0), varying: None };
        cursor.arrive();
        cursor
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

    /// What varies in the items of the buckets that it was in.
    pub fn varying(&self) -> Varying {
        self.varying.unwrap_or(Varying::unknown())
    }

    #[inline]
    pub fn advance(&mut self) {
        self.index += 1;
        if self.index < self.run.len() {
            self.run.approach(self.index);
            self.bounds = self.run.bounds(self.index);
        } else {
            self.arrive();
        }
    }

    /// Goes on to a bucket with items if this one has no more.
    #[cold]
    fn arrive(&mut self) {
        while self.is_at_end() && self.next < self.buckets.samples.len() {
            self.before += self.run.len() as u64;
            self.index = 0;
            let empty = std::mem::replace(&mut self.run, MemoryRun::empty());
            let [memory, order] = empty.into_memory();
            let order = if order.is_empty() { std::mem::take(&mut self.scratch) } else { order };
            (self.run, self.scratch) = self.buckets.sort(self.next, [memory, order]);
            self.next += 1;
        }
        if !self.is_at_end() {
            let varying = self.run.varying();
            self.varying = Some(self.varying.map_or(*varying, |so_far| so_far.and(varying)));
            self.run.approach(self.index);
            self.bounds = self.run.bounds(self.index);
        }
    }
}
