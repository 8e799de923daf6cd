//! Random access by row number: whole rows and keys alone, for tables whose rows are written in key order.

use super::GenSource;
use super::block_generator::{BlockGenerator, places};
use crate::random::Rows;
use litepress_rows::encode::RowNumbers;
use litepress_rows::schema::Table;
use litepress_rows::{Conflict, Encoder, KeyReader, Keys, RandomAccessRows, RecordChunk, Result, RowReader};
use std::ops::Range;

impl RandomAccessRows for GenSource {
    fn numbers(&self) -> Range<u64> {
        self.row_range.start + 1..self.row_range.end + 1
    }

    fn key_maker(&self, columns: &[usize]) -> Box<dyn KeyReader + '_> {
        Box::new(KeyGenerator {
            generator: BlockGenerator::narrow(&self.table, &self.plan, columns),
            chunk: RecordChunk::new(),
        })
    }

    fn are_integers(&self, columns: &[usize]) -> bool {
        let keeps_integers = Encoder::new(&self.table.narrow(columns), Conflict::Abort).keeps_integers();
        keeps_integers && places(&self.table, columns).iter().all(|&place| self.plan.program.gives_integers(place))
    }

    fn row_maker(&self, given: &[usize]) -> Box<dyn RowReader + '_> {
        let given = places(&self.table, given);
        let generator = BlockGenerator::with_given(&self.table, &self.plan, &given);
        Box::new(RowsByNumber { table: &self.table, generator, given, rows: Vec::new() })
    }
}

/// Generates the key columns of consecutive rows.
struct KeyGenerator {
    generator: BlockGenerator,
    chunk: RecordChunk,
}

impl KeyReader for KeyGenerator {
    fn make(&mut self, numbers: Range<u64>) -> Result<Keys<'_>> {
        let Self { generator: BlockGenerator { plan, scratch, encoder }, chunk } = self;
        let rows = Rows::Range(numbers.start - 1..numbers.end - 1);
        plan.program.run(&rows, scratch);
        if let Some(integers) = encoder.integers(scratch.columns(), rows.len()) {
            return Ok(Keys::Integers(integers));
        }
        chunk.clear();
        encoder.encode(scratch.columns(), rows.len(), RowNumbers::from_record(numbers.start), chunk)?;
        Ok(Keys::Records(chunk))
    }
}

/// Generates rows in any order of their numbers.
struct RowsByNumber<'a> {
    table: &'a Table,
    generator: BlockGenerator,
    /// Positions, among the ordinary columns, of columns that the caller fills.
    given: Vec<usize>,
    rows: Vec<u64>,
}

impl RowReader for RowsByNumber<'_> {
    fn make(&mut self, numbers: &[u64], given: &[Vec<i64>], chunk: &mut RecordChunk) -> Result<()> {
        self.rows.clear();
        self.rows.extend(numbers.iter().map(|number| number - 1));
        for (&place, integers) in self.given.iter().zip(given) {
            self.generator.scratch.column_mut(place).ints().extend_from_slice(integers);
        }
        let Err(error) = self.generator.append_rows(&Rows::List(&self.rows), 1, chunk) else { return Ok(()) };
        // The row that is wrong gets its own number in the error if it is generated alone.
        let (table, plan) = (&self.table, &self.generator.plan);
        let (mut whole, mut alone) = (BlockGenerator::new(table, plan), RecordChunk::new());
        for &row in &self.rows {
            whole.append_range(row..row + 1, &mut alone)?;
            alone.clear();
        }
        Err(error)
    }
}
