//! The interface that every file format implements.
//!
//! A [`Reader`] knows a file's columns and hands out its records in order, as [`Piece`]s. Workers read different pieces at
//! the same time. A piece returns its records column by column, as a [`Batch`], or scans them for the types that its columns
//! can have ([`Piece::scan_types`]).

use crate::filter::RowFilter;
use crate::infer::FileStats;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{Affinity, CellBlock, Error, Message, RecordChunk, Result, Table};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// A file whose records are read in order.
pub trait Reader: Send {
    /// Returns the columns in file order. If records name their columns themselves (NDJSON), there are none before
    /// [`project`](Self::project).
    fn columns(&self) -> &[FileColumn];

    /// Selects the columns that [`Piece::read`] returns, and their order. Without a call it returns all.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](litepress_rows::ErrorKind::Usage) if the file cannot give a column in the requested form.
    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()>;

    /// Sets the columns to ignore, in a file whose records name their columns. A record with a column that is neither selected
    /// nor ignored is then bad. Without a call all other columns are ignored.
    fn ignore_columns(&mut self, _names: &[String]) {}

    /// Asks for the rowids of the rows ([`Batch::rowids`]), from a database that has them.
    fn keep_rowids(&mut self) {}

    /// Asks for records as the database stores them ([`Piece::read_records`]), for a table with the same definition. Returns whether
    /// the reader will give them. Unless rowids are [kept](Self::keep_rowids), those that no column holds have no meaning.
    ///
    /// # Errors
    /// If the table's pages cannot be read.
    fn give_records(&mut self, _table: &Table) -> Result<bool> {
        Ok(false)
    }

    /// Returns the smallest and the largest rowid of a reader that [gives records](Self::give_records) of a table with an INTEGER
    /// PRIMARY KEY; an empty range if there are no rows.
    ///
    /// # Errors
    /// If the table cannot be read.
    fn rowid_range(&self) -> Result<Option<RangeInclusive<i64>>> {
        Ok(None)
    }

    /// Says which rows are wanted; [`RowFilter::column`] is the position among the selected columns. A reader may leave out pieces
    /// without such rows if that is cheap. The other pieces keep the numbers of their records.
    fn leave_out(&mut self, _filters: &[RowFilter]) {}

    /// Returns the next piece in file order, or `None` at the end. One worker at a time calls it while the others wait, so it
    /// must be cheap beside [`Piece::read`]. **The boundaries of pieces must not depend on the number of workers.**
    ///
    /// # Errors
    /// If the file cannot be read, decompressed or decoded, or the end of a record cannot be found.
    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>>;

    /// Returns what is known of a text's dialect. `None` if the file has none.
    fn text_format(&self) -> Option<&TextFormat> {
        None
    }

    /// Returns the number of records, if the file states it.
    fn records(&self) -> Option<u64> {
        None
    }

    /// Returns the coordinate reference system of a column of geometries, if the file states it: a name, or PROJJSON.
    fn crs(&self, _column: &str) -> Option<String> {
        None
    }

    /// Returns the ranges of the columns of decimals that are stored as texts, by position: with few digits, they are numbers after
    /// all. Reads their values if the file does not state the ranges. Calls `go_on` now and then.
    ///
    /// # Errors
    /// If reading fails, or `go_on` does.
    fn decimal_ranges(&self, _go_on: &dyn Fn() -> Result<()>) -> Result<Vec<(usize, DecimalRange)>> {
        Ok(Vec::new())
    }

    /// Returns the table's [`Source::last_sequence`](litepress_rows::Source::last_sequence).
    fn last_sequence(&self) -> Option<i64> {
        None
    }
}

/// The dialect of a CSV file: what was found, and what the caller said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFormat {
    /// The text between fields.
    pub delimiter: String,
    /// The character around fields.
    pub quote: Option<char>,
    /// The character in front of a quote within quotes, if it is not doubled.
    pub escape: Option<char>,
    /// `LF`, `CRLF` or `CR`.
    pub line_end: &'static str,
    /// The line of the header. `None` if the file has none.
    pub header_line: Option<u64>,
    /// The caller did not say whether there is a header.
    pub is_header_guessed: bool,
    /// The header, if its names are numbers and it may be a record.
    pub doubtful_header: Option<String>,
    /// Number of columns up to the last one with a name.
    pub named: usize,
    /// Name of the encoding.
    pub encoding: &'static str,
    /// Further decisions that a user should know: renamed columns, skipped lines.
    pub notes: Vec<String>,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileColumn {
    /// The name. Never empty.
    pub name: String,
    /// The kind of its values.
    pub kind: FileColumnKind,
}

/// The kind of values in a file's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileColumnKind {
    /// Text. A scan of the values infers its type.
    Text,
    /// Typed by the file itself.
    Typed {
        /// The type to declare: `INTEGER`.
        declared_type: String,
        /// Why: `Parquet INT64`.
        reason: Message,
        /// The file promises that there is no NULL.
        not_null: bool,
    },
}

/// The range of the unscaled values of a column of decimals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecimalRange {
    /// Number of decimals of the type.
    pub scale: i8,
    /// The file's name of the type: `Parquet FIXED_LEN_BYTE_ARRAY`.
    pub origin: String,
    /// The largest absolute value. `None` without values.
    pub most: Option<u128>,
    /// Some value has more than 64 bits.
    pub is_beyond_i64: bool,
    /// Some value has more than 128 bits.
    pub is_unbounded: bool,
}

impl DecimalRange {
    /// Adds a value; `None` has more than 128 bits.
    pub fn observe(&mut self, value: Option<i128>) {
        let Some(value) = value else {
            self.is_unbounded = true;
            return;
        };
        self.most = self.most.max(Some(value.unsigned_abs()));
        self.is_beyond_i64 |= i64::try_from(value).is_err();
    }

    /// Adds the values of another range.
    pub fn merge(&mut self, other: &Self) {
        self.most = self.most.max(other.most);
        self.is_beyond_i64 |= other.is_beyond_i64;
        self.is_unbounded |= other.is_unbounded || self.scale != other.scale;
    }
}

/// A column to read, and the column of the table that it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectedColumn {
    /// Position in [`Reader::columns`]. `None` if records name their columns: then `name` identifies it.
    pub field: Option<usize>,
    /// Name in the file.
    pub name: String,
    /// Affinity of the table's column.
    pub affinity: Affinity,
    /// The form chosen by `--store-as`, if any.
    pub form: Option<String>,
    /// Empty texts are NULL, because the column holds numbers.
    pub empty_is_null: bool,
    /// Largest number of digits of its decimals, if that makes numbers of them. More digits are wrong.
    pub most_digits: Option<u8>,
    /// A record that names its columns must have it: the record may update a row, and would make the value NULL.
    pub is_needed: bool,
}

impl ProjectedColumn {
    /// Returns a column that is read as the file has it.
    pub fn new(field: Option<usize>, name: impl Into<String>, affinity: Affinity) -> Self {
        let name = name.into();
        Self { field, name, affinity, form: None, empty_is_null: false, most_digits: None, is_needed: false }
    }
}

/// Some consecutive records of a file.
pub trait Piece: Send {
    /// Returns the number of the first record in the file, counted from 1.
    fn first_record(&self) -> u64;

    /// Returns the number of records, including bad ones. It is known before they are read.
    fn records(&self) -> u64;

    /// Clears `batch` and fills it with the next records: at most [`Batch::most_rows`], and few
    /// enough for their values to stay within some mebibytes. A batch without rows is the end of the piece.
    ///
    /// # Errors
    /// If reading cannot go on. A record that is bad by itself is not an error here: its row is NULL in all columns and listed
    /// in [`Batch::bad`].
    fn read(&mut self, batch: &mut Batch) -> Result<()>;

    /// Appends the next records to `chunk` as they are stored, with their rowids, if the reader [gives](Reader::give_records)
    /// them. Returns their number. 0 means that [`read`](Self::read) must give the next ones: their values need a look, or the
    /// piece has ended.
    ///
    /// # Errors
    /// If reading cannot go on.
    fn read_records(&mut self, _chunk: &mut RecordChunk) -> Result<usize> {
        Ok(0)
    }

    /// Scans all records of the piece for types instead of reading them. Ignores bad records: `read` reports them. If the file
    /// itself has types, this only counts its records.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn scan_types(&mut self, findings: &mut FileStats) -> Result<()> {
        findings.records += self.records();
        Ok(())
    }

    /// Returns the line in which a row of the last batch begins, counted from 1, if the file has lines.
    fn line(&self, _row: usize) -> Option<u64> {
        None
    }

    /// Returns the number of bytes of text that the piece holds, and how many of them were read.
    fn text_bytes(&self) -> (usize, usize) {
        (0, 0)
    }

    /// Frees the text that was read. [`line`](Self::line) and [`raw`](Self::raw) must not be called for the last batch any more.
    fn release(&mut self) {}

    /// Returns the bytes of a row of the last batch in the file, without its line end. `None` if the file is not text.
    fn raw(&self, _row: usize) -> Option<Cow<'_, [u8]>> {
        None
    }
}

/// Records column by column.
#[derive(Debug, Default)]
pub struct Batch {
    /// One block for each selected column.
    pub blocks: Vec<CellBlock>,
    /// Number of rows.
    pub rows: usize,
    /// Rowids of the rows in ascending order, if they are [kept](Reader::keep_rowids); else empty.
    pub rowids: Vec<i64>,
    /// Rows that could not be read, in ascending order.
    pub bad: Vec<BadRecord>,
    /// Rows without any value that are left out, in ascending order ([`Dialect::skips_empty`](crate::options::Dialect)).
    pub skipped: Vec<usize>,
    /// Number of rows whose records have more fields than there are columns ([`Ragged::Fit`](crate::options::Ragged)).
    pub cut_records: u64,
    /// Number of rows with quotes in the wrong place that were taken as text.
    pub stray_quotes: u64,
    /// A record that repeats the header, and is left out. Such a batch has no rows.
    pub repeated_header: Option<FoundHeader>,
    /// Numbers that were read as the nearest doubles, which do not have all their digits.
    pub rounded: Vec<RoundedNumber>,
    /// Largest number of rows to read, if values that no file holds make them long.
    pub row_limit: Option<usize>,
}

/// A number whose double does not have all its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundedNumber {
    /// Position of the block.
    pub block: usize,
    /// Row of the batch.
    pub row: usize,
    /// The number as the file writes it.
    pub text: String,
}

/// A record that repeats the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundHeader {
    /// Number of its line in the file, counted from 1.
    pub line: u64,
    /// Nothing below it belongs to the table ([`RepeatedHeader::Stop`](crate::options::RepeatedHeader)).
    pub ends_table: bool,
}

/// The first records of a piece.
pub struct FirstRecords {
    piece: Box<dyn Piece>,
    /// Number of records to read.
    most: u64,
    /// Number of records read.
    read: u64,
}

impl FirstRecords {
    /// Limits a piece to its first `most` records.
    pub fn new(piece: Box<dyn Piece>, most: u64) -> Self {
        Self { piece, most, read: 0 }
    }
}

impl Piece for FirstRecords {
    fn first_record(&self) -> u64 {
        self.piece.first_record()
    }

    fn records(&self) -> u64 {
        self.piece.records().min(self.most)
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        if self.read == self.most {
            batch.clear(batch.blocks.len());
            return Ok(());
        }
        self.piece.read(batch)?;
        let rows = usize::try_from(self.most - self.read).unwrap_or(usize::MAX).min(batch.rows);
        batch.truncate(rows);
        self.read += rows as u64;
        Ok(())
    }

    fn read_records(&mut self, chunk: &mut RecordChunk) -> Result<usize> {
        if self.read == self.most {
            return Ok(0);
        }
        let known = chunk.len();
        let appended = self.piece.read_records(chunk)?;
        let rows = usize::try_from(self.most - self.read).unwrap_or(usize::MAX).min(appended);
        chunk.truncate(known + rows);
        self.read += rows as u64;
        Ok(rows)
    }

    fn line(&self, row: usize) -> Option<u64> {
        self.piece.line(row)
    }

    fn text_bytes(&self) -> (usize, usize) {
        self.piece.text_bytes()
    }

    fn release(&mut self) {
        self.piece.release();
    }

    fn raw(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        self.piece.raw(row)
    }
}

/// A reader of which no more records are wanted. It takes the place of another one, whose file is closed.
pub struct EndedReader;

impl Reader for EndedReader {
    fn columns(&self) -> &[FileColumn] {
        &[]
    }

    fn project(&mut self, _columns: &[ProjectedColumn]) -> Result<()> {
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        Ok(None)
    }
}

/// A record that cannot be read.
#[derive(Debug)]
pub struct BadRecord {
    /// Its row in the batch.
    pub row: usize,
    /// The reason, with column, character and value if known. The caller adds file, record, line and table.
    pub error: Error,
    /// The record has the wrong number of fields, and [`Ragged::Reject`](crate::options::Ragged::Reject) leaves such records
    /// out.
    pub is_left_out: bool,
}

impl Batch {
    /// Leaves one error for each bad row, and sets the row's cells to NULL.
    pub fn blank_bad_rows(&mut self) {
        self.bad.sort_by_key(|bad| bad.row);
        self.bad.dedup_by_key(|bad| bad.row);
        for block in &mut self.blocks {
            let nulls = block.nulls_mut();
            nulls.resize(self.rows, false);
            for bad in &self.bad {
                nulls[bad.row] = true;
            }
        }
    }

    /// Returns the largest number of rows to read.
    pub fn most_rows(&self) -> usize {
        self.row_limit.unwrap_or(BLOCK_ROWS)
    }

    /// Empties the batch and gives it `columns` blocks.
    pub fn clear(&mut self, columns: usize) {
        self.blocks.resize_with(columns, CellBlock::default);
        self.rows = 0;
        self.rowids.clear();
        self.bad.clear();
        self.skipped.clear();
        self.cut_records = 0;
        self.stray_quotes = 0;
        self.rounded.clear();
        self.repeated_header = None;
    }

    /// Removes all rows from number `rows` on.
    pub fn truncate(&mut self, rows: usize) {
        if rows < self.rows {
            self.rows = rows;
            self.rowids.truncate(rows);
            self.rounded.retain(|number| number.row < rows);
            self.blocks.iter_mut().for_each(|block| block.truncate(rows));
            self.bad.retain(|bad| bad.row < rows);
            self.skipped.retain(|&row| row < rows);
        }
    }
}
