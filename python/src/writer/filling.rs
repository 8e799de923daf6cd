//! Rows of one table as the program gives them: values are converted, records encoded, and these gathered into parts.

use crate::arrow_in;
use crate::errors::exception;
use crate::feed::PieceMaker;
use crate::rows::{TableRows, known_columns, piece_maker};
use crate::spool::PartRows;
use litepress::{Conflict, Error, ErrorKind, Result};
use litepress_load::arrow;
use litepress_load::options::ReadOptions;
use litepress_load::reader::{Field, Piece, Reader};
use litepress_load::schema::{Naming, matching};
use litepress_load::source::{RowMaker, Supply};
use litepress_rows::source::PART_BYTES;
use litepress_rows::{RecordChunk, RowidOrder, Table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet};
use std::collections::VecDeque;

/// Where a part ends: with another chunk it might not fit into what is written at one go.
const FULL_BYTES: usize = PART_BYTES - 2 * RecordChunk::TARGET_BYTES;

/// A table that is being filled.
///
/// Memory: a part, and the values of a piece that is not whole yet: about 8 MiB together.
pub struct Filling {
    table: Table,
    conflict: Conflict,
    /// Rows that are encoded.
    rows: u64,
    /// Texts of them that were cut at a NUL.
    cut_texts: u64,
    /// The largest INTEGER PRIMARY KEY so far: rows that have none get the next one.
    largest_rowid: Option<i64>,
    /// Rows of Python objects that are converted and not encoded yet.
    pending: Option<TableRows>,
    /// The table can do without some column: it has a DEFAULT, or is numbered.
    has_optional: bool,
    /// The keys of the pending rows, where these are dicts of such a table. A row that lacks a column has its DEFAULT whatever the
    /// rows beside it have; so rows are converted together only where they have the same keys.
    keys: Option<Py<PyFrozenSet>>,
    /// Makes the records of data with these supplies.
    maker: Option<(Vec<Supply>, RowMaker)>,
    chunk: RecordChunk,
    part: PartRows,
    /// Parts that are whole.
    pub whole: VecDeque<PartRows>,
}

impl Filling {
    /// A table without rows.
    pub fn new(table: &Table, conflict: Conflict) -> Self {
        Self {
            table: table.clone(),
            conflict,
            rows: 0,
            cut_texts: 0,
            // AUTOINCREMENT begins with 1, whatever is there.
            largest_rowid: table.autoincrement.then_some(0),
            pending: None,
            has_optional: known_columns(table).iter().any(|(_, is_optional)| *is_optional),
            keys: None,
            maker: None,
            chunk: RecordChunk::new(),
            part: PartRows::default(),
            whole: VecDeque::new(),
        }
    }

    /// Rows that were given so far.
    pub fn rows(&self) -> u64 {
        self.pending.as_ref().map_or(self.rows, TableRows::rows)
    }

    /// Texts of encoded rows of which a numeric column stores just the number in front of a NUL.
    pub fn cut_texts(&self) -> u64 {
        self.cut_texts
    }

    /// What is known of the rowids of the rows: they are numbers, where the table has no column for them.
    pub fn rowid_order(&self) -> RowidOrder {
        if self.table.rowid_alias.is_none() { RowidOrder::Ascending } else { RowidOrder::Unknown }
    }

    /// Appends a row. One that cannot be is not there afterwards.
    ///
    /// # Errors
    /// What Python code raises; rows and values that cannot be stored. Of rows before: what [`end`](Self::end) tells.
    pub fn append(&mut self, row: &Bound<'_, PyAny>, adapters: &Bound<'_, PyDict>) -> Result<(), Failure> {
        let dict = row.cast::<PyDict>().ok().filter(|_| self.has_optional);
        let keys = dict.map(|dict| dict.call_method0("keys")).transpose()?;
        if let Some(keys) = &keys
            && !self.keys.as_ref().is_some_and(|known| keys.eq(known).unwrap_or(false))
        {
            self.encode_pending(row.py())?;
            self.keys = Some(PyFrozenSet::new(row.py(), keys.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.unbind());
        }
        if let Some(pending) = &mut self.pending {
            match pending.push(row) {
                Ok(()) => return self.encode_pending_if_full(row.py()),
                // Its kind is another than that of the rows before, or it has other columns: these go first.
                Err(error) if is_of_data(row.py(), &error) => self.encode_pending(row.py())?,
                Err(error) => return Err(Failure::Raised(error)),
            }
        }
        let mut pending = TableRows::new(row.py(), &self.table.name, None, Some(adapters), Some(&self.table))?;
        pending.count_from(self.rows);
        pending.push(row)?;
        self.pending = Some(pending);
        self.encode_pending_if_full(row.py())
    }

    /// Data of columns or of Arrow, as `_data.describe` tells them, ready to be taken.
    ///
    /// # Errors
    /// Data of which no table is made, and columns that are not the table's.
    pub fn open(&self, described: &Bound<'_, PyAny>, adapters: &Bound<'_, PyDict>) -> PyResult<Pieces> {
        let py = described.py();
        let supply = if described.get_type().name()? == "Arrow" {
            let batches = arrow_in::batches(&described.getattr("data")?)?;
            Supplier::Arrow(raised(py, arrow::batches(batches, &ReadOptions::default()))?)
        } else {
            Supplier::Python(piece_maker(py, described, &self.table.name, Some(adapters), Some(&self.table))?)
        };
        let fields = match &supply {
            Supplier::Arrow(reader) => reader.columns(),
            Supplier::Python(maker) => maker.fields(),
        };
        let (supply, supplies) = self.fit(fields.to_vec(), supply).map_err(|error| exception(py, &error))?;
        Ok(Pieces { supply, supplies })
    }

    fn fit(&self, fields: Vec<Field>, mut supplier: Supplier) -> Result<(Supplier, Vec<Supply>)> {
        let fit = matching(&self.table, &fields, Naming::Given, &[]).map_err(all_of)?;
        let of_maker = |supply: Supply| match supply {
            Supply::File(at) => Supply::File(fit.wanted[at].field.unwrap_or(at)),
            other => other,
        };
        let supplies = match &mut supplier {
            Supplier::Arrow(reader) => {
                reader.want(&fit.wanted)?;
                fit.supplies
            }
            Supplier::Python(_) => fit.supplies.iter().cloned().map(of_maker).collect(),
        };
        Ok((supplier, supplies))
    }

    /// Encodes the rows of the next piece; whether there was one.
    ///
    /// # Errors
    /// What Python code raises; values that cannot be stored, rows that break a rule.
    pub fn take_piece(&mut self, py: Python<'_>, pieces: &mut Pieces) -> Result<bool, Failure> {
        self.encode_pending(py)?;
        let Pieces { supply, supplies } = pieces;
        let mut piece: Box<dyn Piece> = match supply {
            Supplier::Arrow(reader) => match py.detach(|| reader.next_piece()) {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(false),
                Err(error) => return Err(Failure::Press(error.in_table(&self.table.name))),
            },
            Supplier::Python(maker) => match maker.next_piece(py)? {
                Some(piece) => Box::new(piece),
                None => return Ok(false),
            },
        };
        py.detach(|| self.encode(&mut *piece, supplies)).map_err(Failure::Press)?;
        Ok(true)
    }

    /// Encodes what is converted, and ends the last part.
    ///
    /// # Errors
    /// Rows that break a rule.
    pub fn end(&mut self, py: Python<'_>) -> Result<(), Failure> {
        self.encode_pending(py)?;
        self.end_chunk();
        self.end_part();
        Ok(())
    }

    fn encode_pending_if_full(&mut self, py: Python<'_>) -> Result<(), Failure> {
        if self.pending.as_ref().is_some_and(TableRows::is_full) {
            self.encode_pending(py)?;
        }
        Ok(())
    }

    /// Encodes the rows that are converted. Their columns are settled then, so that other rows begin anew.
    fn encode_pending(&mut self, py: Python<'_>) -> Result<(), Failure> {
        let Some(mut pending) = self.pending.take() else { return Ok(()) };
        let Some(mut piece) = pending.take()? else { return Ok(()) };
        let fields = pending.fields()?.to_vec();
        let fit =
            matching(&self.table, &fields, Naming::Given, &[]).map_err(|errors| Failure::Press(all_of(errors)))?;
        let of_fields = |supply: Supply| match supply {
            Supply::File(at) => Supply::File(fit.wanted[at].field.unwrap_or(at)),
            other => other,
        };
        let supplies: Vec<Supply> = fit.supplies.iter().cloned().map(of_fields).collect();
        py.detach(|| self.encode(&mut piece, &supplies)).map_err(Failure::Press)
    }

    fn encode(&mut self, piece: &mut dyn Piece, supplies: &[Supply]) -> Result<()> {
        let mut maker = match self.maker.take() {
            Some((known, maker)) if known == supplies => maker,
            _ => RowMaker::new(&self.table, self.conflict, supplies.to_vec()),
        };
        let done = self.encode_with(&mut maker, piece);
        self.maker = Some((supplies.to_vec(), maker));
        done
    }

    fn encode_with(&mut self, maker: &mut RowMaker, piece: &mut dyn Piece) -> Result<()> {
        loop {
            piece.read(&mut maker.batch).map_err(|error| error.in_table(&self.table.name))?;
            let rows = maker.batch.rows as u64;
            if rows == 0 {
                return Ok(());
            }
            let first_record = self.rows + 1;
            if let Some(bad) = maker.batch.bad.drain(..).next() {
                return Err(bad.error.in_table(&self.table.name).in_record(first_record + bad.row as u64));
            }
            let known = self.chunk.len();
            maker.encode(first_record, &mut self.chunk)?;
            self.cut_texts += maker.take_cut_texts();
            self.number(known, maker.numbers_rows())?;
            self.rows += rows;
            if self.chunk.is_full() {
                self.end_chunk();
            }
        }
    }

    /// Numbers the encoded rows from `known` on, if they have no INTEGER PRIMARY KEY: as SQLite does, from the largest one on,
    /// without a gap for rows that were left out.
    fn number(&mut self, known: usize, is_automatic: bool) -> Result<()> {
        if self.table.rowid_alias.is_none() {
            return Ok(());
        }
        if is_automatic && self.chunk.len() > known {
            let last_step = (self.chunk.len() - known) as i64;
            let before = self.largest_rowid.unwrap_or(0);
            if before.checked_add(last_step).is_none() {
                let message = format!("no INTEGER PRIMARY KEY is left for the row: the largest so far is {before}");
                return Err(Error::new(ErrorKind::Limit, message)
                    .in_table(&self.table.name)
                    .advise("give all rows keys"));
            }
            self.chunk.renumber(known, before + 1);
        }
        self.largest_rowid = self.largest_rowid.max(self.chunk.rowids()[known..].iter().copied().max());
        Ok(())
    }

    fn end_chunk(&mut self) {
        if self.chunk.is_empty() {
            return;
        }
        self.part.push(std::mem::take(&mut self.chunk));
        if self.part.bytes() >= FULL_BYTES {
            self.end_part();
        }
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        if !part.is_empty() {
            self.whole.push_back(part);
        }
    }
}

/// Data on their way into a table.
pub struct Pieces {
    supply: Supplier,
    supplies: Vec<Supply>,
}

enum Supplier {
    Arrow(Box<dyn Reader>),
    Python(Box<dyn PieceMaker + Send>),
}

/// Why rows are not taken.
pub enum Failure {
    /// An exception; the rows before are as they were.
    Raised(PyErr),
    /// An error of the press; what became of the rows that were given last nobody knows.
    Press(Error),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

fn raised<T>(py: Python<'_>, result: Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &error))
}

/// Whether an exception is about a row, and not raised by Python code.
fn is_of_data(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyValueError>(py)
}

/// Several mistakes told at once.
fn all_of(errors: Vec<Error>) -> Error {
    let mut errors = errors.into_iter();
    let first = errors.next().expect("there is a mistake");
    let others: Vec<String> = errors.map(|error| format!("\n  also: {error}")).collect();
    if others.is_empty() {
        return first;
    }
    Error::new(first.kind(), format!("{first}{}", others.concat()))
}
