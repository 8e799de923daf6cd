//! A source of rows in key order, in which rows with one key are folded into one: the first, updated by the later ones.
//!
//! ```text
//! key 7   a = 1, b = 'x'      the row that exists
//! key 7   a = 2, b = 'y'      an upsert that changes a
//! key 7   a = 3, b = 'z'      another one
//!   -->   a = 3, b = 'x'
//! ```
//!
//! Rows with one key belong to the part in which the first of them lies.

use super::row_key::RowKey;
use super::sorted_rows::sort_rows;
use crate::Result;
use crate::progress::Progress;
use crate::sort::{Merge, SortOptions, SortedItems, bad_item};
use crate::tree::bulk_load::items_per_part;
use litepress_format::record;
use litepress_rows::{Part, RecordChunk, Source};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of items that are read at once behind the end of a part.
const ITEMS_BEHIND: u64 = 64;

/// The rows of a source in key order, those with one key folded into one.
pub(crate) struct UpdatedRows<'f, K> {
    key: K,
    sorted: SortedItems,
    /// The fields of a record that later rows change.
    fields: &'f [usize],
    items_per_part: u64,
    next_rank: AtomicU64,
}

impl<'f, K: RowKey> UpdatedRows<'f, K> {
    /// Sorts all rows of `source`. REQUIRES: records have all `fields`.
    pub fn sort(
        key: K,
        source: &dyn Source,
        fields: &'f [usize],
        options: &SortOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let sorted = sort_rows(source, &key, options, progress)?;
        let (items_per_part, next_rank) = (items_per_part(&sorted), AtomicU64::new(0));
        Ok(Self { key, sorted, fields, items_per_part, next_rank })
    }
}

impl<K: RowKey> Source for UpdatedRows<'_, K> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let start = self.next_rank.fetch_add(self.items_per_part, Ordering::Relaxed);
        let len = self.sorted.len();
        if start >= len {
            return Ok(None);
        }
        let (ranks, rank) = (start..len.min(start + self.items_per_part), start.saturating_sub(1));
        let end = ranks.end;
        Ok(Some(Box::new(UpdatedPart {
            rows: self,
            ranks,
            items: None,
            rank,
            end,
            key: None,
            held: None,
            record: Vec::new(),
            is_over: false,
        })))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// The rows whose first item is within some ranks.
struct UpdatedPart<'s, K> {
    rows: &'s UpdatedRows<'s, K>,
    ranks: Range<u64>,
    /// The items up to `end`. Opened by the reading thread.
    items: Option<Merge<'s>>,
    /// Rank of the next item: at first that of the neighbour before the part.
    rank: u64,
    end: u64,
    /// The key of the last item.
    key: Option<Vec<u8>>,
    /// The rowid of the row that later items may update, if it belongs to the part. Its record is `record`.
    held: Option<i64>,
    record: Vec<u8>,
    is_over: bool,
}

impl<K: RowKey> UpdatedPart<'_, K> {
    /// Takes the next item. Sets `is_over` if no other one concerns the part.
    fn take(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Self { rows, ranks, items, rank, end, key, held, record, is_over } = self;
        if *rank == *end && held.is_some() && *end < rows.sorted.len() {
            *end = rows.sorted.len().min(*end + ITEMS_BEHIND);
            *items = None;
        }
        let items = match items {
            Some(items) => items,
            None => items.insert(rows.sorted.range(*rank..*end)?),
        };
        let flush = |held: &mut Option<i64>, record: &[u8], chunk: &mut RecordChunk| {
            if let Some(rowid) = held.take() {
                chunk.push(rowid, record);
            }
        };
        let Some(item) = items.next()? else {
            flush(held, record, chunk);
            *is_over = true;
            return Ok(());
        };
        let (row, this) = (rows.key.read(item, *rank)?, *rank);
        *rank += 1;
        let (start, record_end) = row.record;
        let own_key = row.unique_len.map(|len| &item[..len]);
        if own_key.is_some() && own_key == key.as_deref() {
            if held.is_some() {
                update(record, &item[start..record_end], rows.fields)?;
            }
            return Ok(());
        }
        flush(held, record, chunk);
        *is_over = this >= ranks.end;
        *key = own_key.map(<[u8]>::to_vec);
        if ranks.contains(&this) {
            *held = Some(row.rowid);
            record.clear();
            record.extend_from_slice(&item[start..record_end]);
        }
        Ok(())
    }
}

impl<K: RowKey> Part for UpdatedPart<'_, K> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while !self.is_over && !chunk.is_full() {
            self.take(chunk)?;
        }
        Ok(())
    }
}

/// Gives fields of a record the values of another one.
fn update(record: &mut Vec<u8>, new: &[u8], fields: &[usize]) -> Result<()> {
    let decode = |record| record::decode(record).map_err(|error| bad_item(&error));
    let (mut values, new) = (decode(record)?, decode(new)?);
    for &field in fields {
        values[field] = new[field];
    }
    let mut updated = Vec::with_capacity(record.len());
    record::write_record(&values, &mut updated);
    *record = updated;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::one_chunk::OneChunk;
    use super::super::row_key::RowidKey;
    use super::*;
    use litepress_format::value::Value;
    use litepress_rows::Schema;

    /// Rows of one rowid in one part, in several parts, and at both sides of every boundary.
    #[test]
    fn boundaries_of_parts_do_not_show() {
        let schema = Schema::from_sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", "<test>").expect("a schema");
        let rowids = [7, 7, 1, 9, 2, 2, 2, 9, 9, 9, 9, 9, 3];
        let options = SortOptions { memory_bytes: 1 << 20, temp_dir: std::env::temp_dir(), writers: 2 };
        // The first position and the last one of each rowid.
        let expected = [(1, 2, 2), (2, 4, 6), (3, 12, 12), (7, 0, 1), (9, 3, 11)];
        for items_per_part in 1..=rowids.len() as u64 + 1 {
            let mut chunk = RecordChunk::new();
            for (&rowid, at) in rowids.iter().zip(0..) {
                let mut record = Vec::new();
                record::write_record(&[Value::Null, Value::Int(at), Value::Int(at)], &mut record);
                chunk.push(rowid, &record);
            }
            let source = OneChunk::new(chunk);
            let key = RowidKey::new(&schema.tables[0], false);
            let rows = UpdatedRows::sort(key, &source, &[2], &options, &Progress::default()).expect("sorted");
            let rows = UpdatedRows { items_per_part, ..rows };
            let mut stayed = Vec::new();
            while let Some(mut part) = rows.next_part().expect("a part") {
                let mut chunk = RecordChunk::new();
                part.fill(&mut chunk).expect("rows");
                for row in 0..chunk.len() {
                    let values = record::decode(chunk.record(row)).expect("a record");
                    let [_, Value::Int(first), Value::Int(last)] = values[..] else { panic!("three values") };
                    stayed.push((chunk.rowids()[row], first, last));
                }
            }
            assert_eq!(stayed, expected, "parts of {items_per_part}");
        }
    }
}
