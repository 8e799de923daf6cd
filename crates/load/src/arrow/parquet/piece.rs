//! A range of rows, decoded by the worker that reads it.

use super::{Plan, Projection};
use crate::arrow::convert::{self, Arrays, Column};
use crate::guard::guard;
use crate::reader::{Batch, Piece};
use arrow_array::RecordBatch;
use litepress_rows::{Error, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Consecutive rows of a row group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub group: usize,
    pub from: usize,
    pub rows: usize,
}

/// A range of rows that is decoded at its first read.
pub(super) struct ParquetPiece {
    plan: Arc<Plan>,
    columns: Vec<Column>,
    range: Range,
    first_record: u64,
    batch_rows: usize,
    /// Size of these rows in the file, in compressed bytes.
    share: f64,
    decoders: Option<(ParquetRecordBatchReader, Option<ParquetRecordBatchReader>)>,
    /// The last decoded rows, and the number of them returned.
    arrays: Option<Arrays>,
    given: usize,
    decoded: usize,
    /// Texts are decoded as bytes, because the range failed to decode as text.
    as_bytes: bool,
}

impl ParquetPiece {
    pub fn new(plan: Arc<Plan>, range: Range, first_record: u64, batch_rows: usize, share: f64) -> Self {
        let columns = plan.columns.clone();
        let (decoders, arrays, given, decoded, as_bytes) = (None, None, 0, 0, false);
        Self { plan, columns, range, first_record, batch_rows, share, decoders, arrays, given, decoded, as_bytes }
    }

    /// Decodes the next rows. Returns `None` at the end of the range.
    fn decode(&mut self) -> Result<Option<Arrays>, String> {
        self.decode_more().or_else(|why| {
            if std::mem::replace(&mut self.as_bytes, true) || self.plan.as_bytes().is_none() {
                return Err(why);
            }
            self.decoders = None;
            self.decode_more().map_err(|_| why)
        })
    }

    fn decode_more(&mut self) -> Result<Option<Arrays>, String> {
        if self.decoded == self.range.rows {
            return Ok(None);
        }
        let range = self.range;
        let as_bytes = if self.as_bytes { self.plan.as_bytes() } else { None };
        let projection = as_bytes.unwrap_or(&self.plan.main);
        if self.decoders.is_none() {
            let file = &self.plan.file;
            let range = Range { from: range.from + self.decoded, rows: range.rows - self.decoded, ..range };
            let main = projection.decoder(file, range, self.batch_rows)?;
            let companion = self.plan.companion.as_ref();
            let companion = companion.map(|companion| companion.decoder(file, range, self.batch_rows)).transpose()?;
            self.decoders = Some((main, companion));
        }
        let (main, companion) = self.decoders.as_mut().expect("it was made above");
        let missing_rows = range.rows - self.decoded;
        let missing = || format!("{missing_rows} of its rows are missing");
        let batch = next_batch(main)?.ok_or_else(missing)?;
        let beside = companion.as_mut().map(|companion| next_batch(companion)?.ok_or_else(missing)).transpose()?;
        self.decoded += batch.num_rows();
        if batch.num_rows() == 0 || beside.as_ref().is_some_and(|beside| beside.num_rows() != batch.num_rows()) {
            return Err(missing());
        }
        let pick = |order: &[Option<usize>], batch: &RecordBatch| -> Vec<_> {
            order.iter().map(|position| position.map(|position| batch.column(position).clone())).collect()
        };
        let columns = pick(&projection.order, &batch).into_iter().flatten().collect();
        let companions = match (&self.plan.companion, &beside) {
            (Some(companion), Some(beside)) => pick(&companion.order, beside),
            _ => vec![None; self.columns.len()],
        };
        Ok(Some(Arrays { rows: batch.num_rows(), columns, companions }))
    }

    /// Names the column that makes the range fail to decode: the first one that fails alone.
    fn blame(&self, why: String) -> Error {
        let place = format!("row group {} cannot be decoded", self.range.group + 1);
        let culprit = self.columns.iter().enumerate().find_map(|(index, column)| {
            let alone = |projection: &Projection| {
                let schema = projection.metadata.schema();
                let root = schema.fields().iter().position(|field| field.name() == self.columns[index].field.name())?;
                let alone = Projection::new(projection.metadata.clone(), &[Some(root)]);
                self.try_alone(&alone).err()
            };
            let why = alone(&self.plan.main).or_else(|| self.plan.companion.as_ref().and_then(alone))?;
            Some((column.field.name(), why))
        });
        let error = match culprit {
            Some((column, why)) => self.plan.file.damaged(format!("{place}: {why}")).in_column(column),
            None => self.plan.file.damaged(format!("{place}: {why}")),
        };
        error.advise("the file is damaged: copy or write it again")
    }

    fn try_alone(&self, column: &Projection) -> Result<(), String> {
        let mut decoder = column.decoder(&self.plan.file, self.range, self.batch_rows)?;
        let mut rows = 0;
        while let Some(batch) = next_batch(&mut decoder)? {
            rows += batch.num_rows();
        }
        if rows == self.range.rows {
            Ok(())
        } else {
            Err(format!("{} of its rows are missing", self.range.rows - rows))
        }
    }
}

pub(super) fn next_batch(decoder: &mut ParquetRecordBatchReader) -> Result<Option<RecordBatch>, String> {
    guard(|| decoder.next().transpose().map_err(|error| error.to_string()))
}

impl Piece for ParquetPiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.range.rows as u64
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        if self.arrays.as_ref().is_none_or(|arrays| self.given == arrays.rows) {
            self.given = 0;
            self.arrays = None;
            self.arrays = self.decode().map_err(|why| self.blame(why))?;
        }
        let Some(arrays) = &self.arrays else {
            batch.clear(self.columns.len());
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            self.plan.bytes_read.fetch_add(std::mem::take(&mut self.share) as u64, Ordering::Relaxed);
            self.decoders = None;
            return Ok(());
        };
        convert::fill_batch(&mut self.columns, arrays, self.given, batch);
        self.given += batch.rows;
        Ok(())
    }
}
