//! Takes long items in parts, and assembles them in the blocks of their buckets.

use super::BucketStore;
use crate::sort::arena::{MAX_LENGTH_BYTES, write_length};
use crate::sort::buckets::partitioner::KeyForm;
use crate::sort::buckets::segments::BLOCK_BYTES;
use crate::sort::buckets::split_item::SplitItem;
use crate::sort::run::Layout;

impl BucketStore {
    /// Returns whether items may be [pushed in parts](Self::push_split).
    pub fn accepts_split(&self) -> bool {
        self.stored_layout == Layout::Arena && self.partitioner.packer().is_none()
    }

    /// Takes long items in parts. Those that must be staged stay in `items`.
    pub fn push_split<T>(&mut self, items: &mut Vec<(T, SplitItem<'_>)>) {
        let KeyForm::Raw(selector) = self.partitioner.key_form() else { return };
        let bucket = |parts: &SplitItem<'_>| self.partitioner.bucket_of_prefix(parts.first_bytes()?, selector);
        let buckets: Vec<Option<usize>> = items.iter().map(|(_, parts)| bucket(parts)).collect();
        let (mut left, mut taken_bytes) = (0, 0);
        // The buckets are found first: as for packed keys, the store loop then does little else.
        for (index, bucket) in buckets.into_iter().enumerate() {
            let parts = &items[index].1;
            if bucket.is_some_and(|bucket| self.push_split_item(bucket, parts)) {
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

    /// Takes a long item in parts. Returns `false` if it must be staged.
    #[inline(always)]
    fn push_split_item(&mut self, bucket: usize, parts: &SplitItem<'_>) -> bool {
        let (at, len) = (self.cursors[bucket].end, parts.len());
        let room = &mut self.memory[at..at.next_multiple_of(BLOCK_BYTES)];
        if room.len() < MAX_LENGTH_BYTES + len + SplitItem::MARGIN {
            return self.push_split_item_across(bucket, parts);
        }
        let width = write_length(len, room);
        parts.write(&mut room[width..]);
        self.cursors[bucket].end = at + width + len;
        self.long_items[bucket] += 1;
        true
    }

    /// Takes a long item in parts that continues in another block. Returns `false` if it must be staged.
    #[inline(never)]
    fn push_split_item_across(&mut self, bucket: usize, parts: &SplitItem<'_>) -> bool {
        let (mut item, len) = ([0; BLOCK_BYTES / 8], parts.len());
        if MAX_LENGTH_BYTES + len + SplitItem::MARGIN > item.len() {
            return false;
        }
        let width = write_length(len, &mut item);
        parts.write(&mut item[width..]);
        let is_taken = self.append_to_blocks(bucket, &item[..width + len]);
        self.long_items[bucket] += usize::from(is_taken);
        is_taken
    }
}
