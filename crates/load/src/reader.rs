//! What every kind of file looks like to those who take its rows.
//!
//! A [`Reader`] knows a file's columns and hands out its records in [`Piece`]s, in their order; workers read different
//! pieces at the same time. A piece gives its records column by column, as a [`Batch`], or looks through them for what
//! types its columns can have ([`Piece::survey`]).

use crate::infer::Findings;
use litepress_rows::{Affinity, CellBlock, Error, Message, Result};
use std::borrow::Cow;

/// One file, from which records are read in order.
pub trait Reader: Send {
    /// The columns, in the order of the file. Of a file whose records name their columns themselves (NDJSON) there are
    /// none before [`want`](Self::want).
    fn columns(&self) -> &[Field];

    /// Says which columns [`Piece::read`] gives, in this order, and for what columns of the table. Without it: all.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](litepress_rows::ErrorKind::Usage) where the file cannot give a column in the form asked for.
    fn want(&mut self, columns: &[Wanted]) -> Result<()>;

    /// In a file whose records name their columns: a record that names one which is neither wanted nor among these is wrong.
    /// Without it, such columns are passed by.
    fn pass_by(&mut self, _names: &[String]) {}

    /// The next piece in the order of the file; `None` after the last. Cheap beside what the piece does: it is called by one
    /// worker at a time, and all others wait. **Where pieces begin must not depend on the number of workers.**
    ///
    /// # Errors
    /// What cannot be read, decompressed or decoded; where a record ends cannot be told any more.
    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>>;

    /// Number of records, where the file says it.
    fn records(&self) -> Option<u64> {
        None
    }

    /// What [`Source::last_sequence`](litepress_rows::Source::last_sequence) says of the table that is read.
    fn last_sequence(&self) -> Option<i64> {
        None
    }
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; not empty.
    pub name: String,
    /// What its values are.
    pub kind: FieldKind,
}

/// What the values of a file's column are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Text, which may mean something else: a survey of the values says what.
    Text,
    /// Typed by the file itself.
    Typed {
        /// The type to declare for it: `INTEGER`.
        declared_type: String,
        /// Why: `Parquet INT64`.
        reason: Message,
        /// The file promises that there is no NULL.
        not_null: bool,
    },
}

/// A column that is to be read, and what it is read for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Position in [`Reader::columns`]; `None` in a file whose records name their columns, where `name` counts.
    pub field: Option<usize>,
    /// Name in the file.
    pub name: String,
    /// Affinity of the table's column.
    pub affinity: Affinity,
    /// The form chosen by `--as`, where one is.
    pub form: Option<String>,
    /// Empty texts are NULL: the column was found to hold numbers.
    pub empty_is_null: bool,
}

/// Some consecutive records of a file.
pub trait Piece: Send {
    /// Position in the file of the first record, counted from 1.
    fn first_record(&self) -> u64;

    /// How many records there are, those that cannot be read too. Known before they are read.
    fn records(&self) -> u64;

    /// Empties `batch` and fills it with the next records, at most [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) and few
    /// enough for their values to stay within some mebibytes. No row means that the piece has ended.
    ///
    /// # Errors
    /// What makes it impossible to go on. A record that is wrong by itself is no error here: its row is NULL in all columns
    /// and stands in [`Batch::bad`].
    fn read(&mut self, batch: &mut Batch) -> Result<()>;

    /// Looks through all records of the piece instead of reading them. Records that are wrong are passed by: whoever reads
    /// them will say so. Where the file itself says types, they are counted.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn survey(&mut self, findings: &mut Findings) -> Result<()> {
        findings.records += self.records();
        Ok(())
    }

    /// The line in which a row of the last batch begins, counted from 1, where the file has lines.
    fn line(&self, _row: usize) -> Option<u64> {
        None
    }

    /// A row of the last batch as it stands in the file, without its line end; `None` where it is not text.
    fn raw(&self, _row: usize) -> Option<Cow<'_, [u8]>> {
        None
    }
}

/// Records column by column.
#[derive(Debug, Default)]
pub struct Batch {
    /// One block for every column that is wanted.
    pub blocks: Vec<CellBlock>,
    /// Number of rows.
    pub rows: usize,
    /// Rows that could not be read, by ascending row.
    pub bad: Vec<BadRecord>,
}

/// A record that cannot be read.
#[derive(Debug)]
pub struct BadRecord {
    /// Its row in the batch.
    pub row: usize,
    /// Why, with column, character and value where they are known; file, record, line and table are added by whoever reads.
    pub error: Error,
    /// It has another number of fields than there are columns, and [`Ragged::Reject`](crate::options::Ragged::Reject) says
    /// that such records are left out.
    pub is_left_out: bool,
}

impl Batch {
    /// Empties the batch and makes it hold so many columns.
    pub fn clear(&mut self, columns: usize) {
        self.blocks.resize_with(columns, CellBlock::default);
        self.rows = 0;
        self.bad.clear();
    }
}
