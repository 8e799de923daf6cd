//! Extracts the entries of an index from records, as sort items.

use super::column_locator::ColumnLocator;
use super::plan::IndexPlan;
use crate::Result;
use crate::sort::{BATCH_ROWS, Offsets, PackedKeyBuilder, RunWriter};
use litepress_format::sort_key::{KeyPrefixEncoder, PREFIX_MARGIN};
use litepress_rows::RecordChunk;
use litepress_rows::chunk::HEADROOM;
use std::ops::Range;

const _: () = assert!(HEADROOM >= PREFIX_MARGIN, "what is read in front of records");

/// Distinct record headers tolerated in a batch: learning one costs as much as several entries.
const MAX_NEW_HEADERS: usize = 4;

/// Extracts the sort items of one index from chunks; one for each worker.
pub(crate) struct EntryExtractor<'s> {
    plan: &'s IndexPlan,
    writer: RunWriter<'s>,
    locator: ColumnLocator,
    item: Vec<u8>,
    /// The positions of columns in records like the last one, and the encoders of their items.
    prefix_locator: ColumnLocator,
    prefix_encoder: KeyPrefixEncoder,
    key_builder: Option<PackedKeyBuilder>,
}

impl<'s> EntryExtractor<'s> {
    pub fn new(plan: &'s IndexPlan, writer: RunWriter<'s>) -> Self {
        let (locator, prefix_locator) = Default::default();
        Self {
            plan,
            writer,
            locator,
            item: Vec::new(),
            prefix_locator,
            prefix_encoder: KeyPrefixEncoder::default(),
            key_builder: None,
        }
    }

    /// Adds the entries of all rows of `chunk`.
    pub fn add(&mut self, chunk: &RecordChunk) -> Result<()> {
        let record_len = if self.writer.accepts_prefixes() { chunk.record_len() } else { None };
        let mut start = 0;
        while start < chunk.len() {
            let rows = start..chunk.len().min(start + BATCH_ROWS);
            start = rows.end;
            if !self.writer.accepts_prefixes() || !self.add_batch_of_rows(chunk, rows.clone(), record_len)? {
                self.add_one_by_one(chunk, rows)?;
            }
        }
        Ok(())
    }

    /// Adds the entries of up to [`BATCH_ROWS`] rows at once. `record_len` is the length of each record if all have
    /// the same. Returns `false` if the records do not share the last header.
    fn add_batch_of_rows(
        &mut self,
        chunk: &RecordChunk,
        rows: Range<usize>,
        record_len: Option<usize>,
    ) -> Result<bool> {
        if let Some(len) = record_len {
            let place = move |row| HEADROOM + row * len;
            let ends = rows.start + 1..rows.end + 1;
            return self.add_records(chunk, rows.clone(), rows.map(place), ends.map(place));
        }
        let mut starts = [0; BATCH_ROWS];
        let starts = &mut starts[..rows.len()];
        chunk.starts(rows.clone(), starts);
        let ends = chunk.ends()[rows.clone()].iter().map(|end| *end as usize);
        self.add_records(chunk, rows, starts.iter().copied(), ends)
    }

    /// Adds the entries of the records with these starts and ends.
    #[inline(always)]
    fn add_records(
        &mut self,
        chunk: &RecordChunk,
        rows: Range<usize>,
        starts: impl Offsets,
        ends: impl Offsets,
    ) -> Result<bool> {
        if !self.prefix_locator.are_shared_by(chunk.arena(), starts.clone(), ends) {
            return Ok(false);
        }
        if self.key_builder.is_none() {
            self.key_builder = self.writer.packed_key_builder(&self.prefix_encoder);
        }
        let Some(builder) = &self.key_builder else { return Ok(false) };
        self.writer.push_batch(builder, chunk.arena(), starts, &chunk.rowids()[rows])
    }

    fn add_one_by_one(&mut self, chunk: &RecordChunk, rows: Range<usize>) -> Result<()> {
        let (plan, mut new_headers) = (self.plan, 0);
        for row in rows {
            if plan.are_leading && self.add_integers(chunk, row)? {
                continue;
            }
            let tries_prefix = self.writer.accepts_prefixes() && new_headers < MAX_NEW_HEADERS;
            if tries_prefix && self.add_prefix(chunk, row, &mut new_headers)? {
                continue;
            }
            let rowid = chunk.rowids()[row];
            let values = self.locator.values(&plan.columns, chunk.record(row), rowid)?;
            let rowid = plan.has_rowid.then_some(rowid);
            let made = self.writer.slot().and_then(|room| plan.layout.make_short(values.clone(), rowid, room));
            if !made.is_some_and(|len| self.writer.commit(len)) {
                self.item.clear();
                plan.layout.push_item(values, rowid, &mut self.item);
                self.writer.push(&self.item)?;
            }
        }
        Ok(())
    }

    /// Adds the entry of a row whose key is a few integers, the first columns of its record. Returns `false` if it is
    /// not.
    #[inline(always)]
    fn add_integers(&mut self, chunk: &RecordChunk, row: usize) -> Result<bool> {
        let (len, end) = (chunk.record(row).len(), chunk.ends()[row] as usize);
        let prefix = self.plan.layout.prefix_of_integers(chunk.arena(), end - len..end, chunk.rowids()[row]);
        match prefix {
            Some(prefix) => self.writer.push_prefix(prefix.words, prefix.len),
            None => Ok(false),
        }
    }

    /// Adds the entry as a two-word key. Returns `false` if it does not fit one. Counts a header that differs from
    /// the last one.
    #[inline(always)]
    fn add_prefix(&mut self, chunk: &RecordChunk, row: usize, new_headers: &mut usize) -> Result<bool> {
        let record = chunk.record(row);
        if let Some(bodies) = self.prefix_locator.bodies_if_new(&self.plan.columns, record)? {
            *new_headers += 1;
            self.prefix_encoder = KeyPrefixEncoder::new(&self.plan.layout, bodies).unwrap_or_default();
            self.key_builder = None;
        }
        let start = chunk.ends()[row] as usize - record.len();
        match self.prefix_encoder.make(chunk.arena(), start, chunk.rowids()[row]) {
            Some((prefix, len)) => self.writer.push_prefix(prefix, len),
            None => Ok(false),
        }
    }

    /// Completes the sort items of this worker.
    pub fn finish(self) -> Result<()> {
        self.writer.finish()
    }
}
