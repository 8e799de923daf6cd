//! Sort items of the entries that an index has already: they are merged with those of new entries, not sorted again.

use super::column_locator::ColumnLocator;
use super::plan::IndexPlan;
use crate::sort::PaddedItem;
use crate::{Error, ErrorKind, Result};
use litepress_format::record;
use litepress_format::sort_key::{KeyPrefixEncoder, PREFIX_LEN, SHORT_ROOM};
use litepress_rows::RecordChunk;
use std::cmp::Ordering;

/// Distinct record headers tolerated in a chunk: learning one costs as much as several entries.
const MAX_NEW_HEADERS: usize = 16;

/// A sort item in memory of its own.
#[derive(Debug, Default)]
pub(super) struct EntryKey {
    bytes: Vec<u8>,
    len: usize,
    start: u128,
}

impl EntryKey {
    /// Returns the item.
    pub fn item(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Compares the item with one of a sort, whose [start](start_of) is given.
    #[inline]
    pub fn compare(&self, start: u128, item: PaddedItem<'_>) -> Ordering {
        // Mostly decided here: these are all bytes of short items.
        self.start.cmp(&start).then_with(|| self.item().cmp(item.item()))
    }

    /// Returns whether the item is greater than another one.
    #[inline]
    pub fn follows(&self, before: &Self) -> bool {
        self.start > before.start || self.start == before.start && self.item() > before.item()
    }

    #[inline]
    fn set_words(&mut self, words: [u64; 2], len: usize) {
        self.start = u128::from(words[0]) << u64::BITS | u128::from(words[1]);
        self.bytes.resize(PREFIX_LEN, 0);
        self.bytes.copy_from_slice(&self.start.to_be_bytes());
        self.len = len;
    }

    fn set(&mut self, item: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(item);
        self.len = item.len();
        self.bytes.resize(self.bytes.len().max(PREFIX_LEN), 0);
        self.start = start_of(PaddedItem { bytes: &self.bytes, len: self.len });
    }
}

/// Returns the first 16 bytes of an item, padded with zeros, as a number that compares like them.
#[inline]
pub(super) fn start_of(item: PaddedItem<'_>) -> u128 {
    let start = u128::from_be_bytes(*item.bytes.first_chunk().expect("an item and its padding"));
    if item.len >= PREFIX_LEN { start } else { start & !(u128::MAX >> (8 * item.len)) }
}

/// Makes the sort items of an index's entries from their records, for one thread.
pub(super) struct EntryKeys<'p> {
    /// The plan of the index [for its own records](IndexPlan::of_entries).
    plan: &'p IndexPlan,
    locator: ColumnLocator,
    /// The positions of columns in records like the last one, and the encoder of their items.
    prefix_locator: ColumnLocator,
    prefix_encoder: KeyPrefixEncoder,
    new_headers: usize,
}

impl<'p> EntryKeys<'p> {
    pub fn new(plan: &'p IndexPlan) -> Self {
        Self {
            plan,
            locator: ColumnLocator::default(),
            prefix_locator: ColumnLocator::default(),
            prefix_encoder: KeyPrefixEncoder::default(),
            new_headers: 0,
        }
    }

    /// Begins a chunk.
    pub fn begin_chunk(&mut self) {
        self.new_headers = 0;
    }

    /// Makes the item of a record.
    pub fn of_record(&mut self, record: &[u8]) -> Result<EntryKey> {
        let (mut chunk, mut key) = (RecordChunk::new(), EntryKey::default());
        chunk.push(0, record);
        self.make(&chunk, 0, &mut key)?;
        Ok(key)
    }

    /// Makes the item of an entry of a chunk.
    #[inline]
    pub fn make(&mut self, chunk: &RecordChunk, row: usize, key: &mut EntryKey) -> Result<()> {
        let (plan, record) = (self.plan, chunk.record(row));
        let rowid = match plan.has_rowid {
            true => record::last_int(record).ok_or_else(|| self.no_rowid())?,
            false => 0,
        };
        let end = chunk.ends()[row] as usize;
        let start = end - record.len();
        if plan.are_leading
            && let Some(prefix) = plan.layout.prefix_of_integers(chunk.arena(), start..end, rowid)
        {
            key.set_words(prefix.words, prefix.len);
            return Ok(());
        }
        if self.new_headers < MAX_NEW_HEADERS {
            if let Some(bodies) = self.prefix_locator.bodies_if_new(&plan.columns, record)? {
                self.new_headers += 1;
                self.prefix_encoder = KeyPrefixEncoder::new(&plan.layout, bodies).unwrap_or_default();
            }
            if let Some((words, len)) = self.prefix_encoder.make(chunk.arena(), start, rowid) {
                key.set_words(words, len);
                return Ok(());
            }
        }
        self.make_any(record, rowid, key)
    }

    fn make_any(&mut self, record: &[u8], rowid: i64, key: &mut EntryKey) -> Result<()> {
        let (plan, mut room) = (self.plan, [0; SHORT_ROOM]);
        let values = self.locator.values(&plan.columns, record, rowid)?;
        let rowid = plan.has_rowid.then_some(rowid);
        if let Some(len) = plan.layout.make_short(values.clone(), rowid, &mut room) {
            key.set(&room[..len]);
            return Ok(());
        }
        key.bytes.clear();
        plan.layout.push_item(values, rowid, &mut key.bytes);
        key.len = key.bytes.len();
        key.bytes.resize(key.len.max(PREFIX_LEN), 0);
        key.start = start_of(PaddedItem { bytes: &key.bytes, len: key.len });
        Ok(())
    }

    fn no_rowid(&self) -> Error {
        Error::new(ErrorKind::Corrupt, format!("an entry of the index {} has no rowid", self.plan.name))
    }
}
