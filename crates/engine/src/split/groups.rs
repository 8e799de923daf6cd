//! Sorted items, cut into groups: the rows of one value.

use super::item::Item;
use super::rows::GroupRows;
use crate::Result;
use crate::sort::{Merge, SortedItems};
use crate::tree::bulk_load::items_per_part;
use litepress_rows::source::PART_BYTES;
use std::collections::BTreeMap;

/// Bytes of rows up to which a group is copied, and made by one worker.
const MOST_BYTES: usize = PART_BYTES;

/// The rows of one value.
#[derive(Default)]
pub(super) struct Group {
    /// The number of the group, in the order of values.
    pub number: u64,
    /// The front of its items.
    pub front: Vec<u8>,
    /// The rows of each table, by its number.
    pub tables: BTreeMap<u32, GroupRows>,
}

/// The groups of sorted items, one after another.
pub(super) struct Groups<'s> {
    sorted: &'s SortedItems,
    merge: Option<Merge<'s>>,
    /// Number of items of a range, and the rank behind the current one.
    range_items: u64,
    range_end: u64,
    /// Rank of the item behind the current one.
    next: u64,
    /// The current item, which belongs to no group yet; empty behind the last one.
    item: Vec<u8>,
    /// Number of the next group.
    number: u64,
}

/// The next group, or the beginning of one.
pub(super) enum NextGroup {
    /// All rows of the group.
    Whole(Group),
    /// The first rows of a group that is larger: the others are still to be [taken](Groups::take_rows).
    Begun(Group),
    /// There is none.
    End,
}

impl<'s> Groups<'s> {
    /// Opens the sorted items.
    pub fn new(sorted: &'s SortedItems) -> Result<Self> {
        let range_items = sorted.range_items_min().max(items_per_part(sorted));
        let (merge, item) = (None, Vec::new());
        let mut groups = Self { sorted, merge, range_items, range_end: 0, next: 0, item, number: 0 };
        groups.advance()?;
        Ok(groups)
    }

    /// Goes to the next item.
    fn advance(&mut self) -> Result<()> {
        self.item.clear();
        while self.next < self.sorted.len() {
            if self.next == self.range_end {
                self.range_end = self.sorted.len().min(self.next + self.range_items);
                self.merge = Some(self.sorted.range(self.next..self.range_end)?);
            }
            if let Some(item) = self.merge.as_mut().map(Merge::next).transpose()?.flatten() {
                self.item.extend_from_slice(item);
                self.next += 1;
                return Ok(());
            }
            self.next = self.range_end;
        }
        Ok(())
    }

    /// Takes the next group, or the first rows of it.
    pub fn next(&mut self) -> Result<NextGroup> {
        if self.item.is_empty() {
            return Ok(NextGroup::End);
        }
        let front = Item::of(&self.item)?.front.to_vec();
        let mut group = Group { number: self.number, front, tables: BTreeMap::new() };
        self.number += 1;
        let mut bytes = 0;
        while let Some(table) = self.table_in(&group.front)? {
            let mut rows = GroupRows::default();
            let is_whole = self.take(&group.front, table, MOST_BYTES.saturating_sub(bytes), &mut rows)?;
            bytes += rows.bytes();
            group.tables.insert(table, rows);
            if !is_whole {
                return Ok(NextGroup::Begun(group));
            }
        }
        Ok(NextGroup::Whole(group))
    }

    /// Returns the table of the current row of this group, or `None` if the group ends.
    pub fn table_in(&self, front: &[u8]) -> Result<Option<u32>> {
        if self.item.is_empty() {
            return Ok(None);
        }
        let item = Item::of(&self.item)?;
        Ok((item.front == front).then_some(item.table))
    }

    /// Takes rows of a part's size from a table of a group. Returns no row at their end.
    pub fn take_rows(&mut self, front: &[u8], table: u32) -> Result<GroupRows> {
        let mut rows = GroupRows::default();
        self.take(front, table, PART_BYTES, &mut rows)?;
        Ok(rows)
    }

    /// Takes rows of a table of a group, up to this many bytes. Returns whether they are all.
    fn take(&mut self, front: &[u8], table: u32, most: usize, rows: &mut GroupRows) -> Result<bool> {
        while self.table_in(front)? == Some(table) {
            if rows.bytes() >= most {
                return Ok(false);
            }
            rows.push(Item::of(&self.item)?.row);
            self.advance()?;
        }
        Ok(true)
    }
}
