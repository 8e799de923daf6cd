//! Rows of one table between their conversion from Python objects and their encoding.

use crate::arrow_in;
use crate::errors::exception;
use crate::feed::PieceMaker;
use crate::rows::{TableRows, known_columns, other_keys, piece_maker};
use litepress::pipeline::TableEncoder;
use litepress::{Conflict, Error, Result};
use litepress_load::reader::{Piece, Reader};
use litepress_load::source::ColumnSource;
use litepress_rows::Table;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyMapping, PyTuple};

/// The pending rows of one table: a piece at most, about 4 MiB.
pub struct PendingRows {
    rows: Option<TableRows>,
    /// The policy for rows with the same key.
    conflict: Conflict,
    /// [Rows may lack](known_columns) a column of the table.
    has_optional: bool,
    /// The keys of the pending rows, if these are mappings and the table has such a column. Only rows with the same keys are
    /// converted together: a lacking column must get its DEFAULT or keep its value, instead of the NULL of a row beside others that
    /// have it.
    keys: Option<Py<PyFrozenSet>>,
}

impl PendingRows {
    /// Starts without rows.
    pub fn new(table: &Table, conflict: Conflict) -> Self {
        let has_optional = known_columns(table, conflict).iter().any(|(_, is_optional)| *is_optional);
        Self { rows: None, conflict, has_optional, keys: None }
    }

    /// Returns the number of rows that the table was given.
    pub fn total(&self, encoder: &TableEncoder) -> u64 {
        self.rows.as_ref().map_or(encoder.rows(), TableRows::rows)
    }

    /// Appends a row. A refused row leaves no trace.
    ///
    /// # Errors
    /// Exceptions of Python code; rows and values that cannot be stored; errors of [`encode`](Self::encode) in earlier rows.
    pub fn append(
        &mut self,
        row: &Bound<'_, PyAny>,
        adapters: &Bound<'_, PyDict>,
        encoder: &mut TableEncoder,
    ) -> Result<(), Failure> {
        let mapping = if self.has_optional { mapping(row) } else { None };
        if let Some(mapping) = mapping {
            self.begin_keys(&mapping.call_method0("keys")?, encoder)?;
        }
        if let Some(rows) = &mut self.rows {
            match rows.push(row) {
                Ok(()) => return self.encode_if_full(row.py(), encoder),
                // The row may differ from the pending ones in shape or columns: encode these, and start anew with it.
                Err(error) if is_of_data(row.py(), &error) => self.encode(row.py(), encoder)?,
                Err(error) => return Err(Failure::Raised(error)),
            }
        }
        let table = encoder.table();
        let mut rows = TableRows::new(row.py(), &table.name, None, Some(adapters), Some(table), self.conflict)?;
        rows.count_from(encoder.rows());
        if let Err(error) = rows.push(row) {
            self.keys = None;
            return Err(Failure::Raised(error));
        }
        self.rows = Some(rows);
        self.encode_if_full(row.py(), encoder)
    }

    /// Encodes the pending rows if the next one has other keys. Refuses such a row if it updates others.
    fn begin_keys(&mut self, keys: &Bound<'_, PyAny>, encoder: &mut TableEncoder) -> Result<(), Failure> {
        let py = keys.py();
        if self.keys.as_ref().is_some_and(|known| keys.eq(known).unwrap_or(false)) {
            return Ok(());
        }
        if self.conflict == Conflict::Update
            && let Some(known) = &self.keys
        {
            let record = self.total(encoder) + 1;
            refuse_other_keys(&encoder.table().name, record, known.bind(py).as_any(), keys)?;
        }
        self.encode(py, encoder)?;
        self.keys = Some(PyFrozenSet::new(py, keys.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.unbind());
        Ok(())
    }

    fn encode_if_full(&mut self, py: Python<'_>, encoder: &mut TableEncoder) -> Result<(), Failure> {
        if self.rows.as_ref().is_some_and(TableRows::is_full) {
            self.encode(py, encoder)?;
        }
        Ok(())
    }

    /// Encodes the pending rows. The next row may then have other columns.
    ///
    /// # Errors
    /// Rows that break a rule.
    pub fn encode(&mut self, py: Python<'_>, encoder: &mut TableEncoder) -> Result<(), Failure> {
        let Some(mut rows) = self.rows.take() else { return Ok(()) };
        let Some(mut piece) = rows.take(py)? else { return Ok(()) };
        let column_sources = encoder.column_sources(rows.fields(py)?).map_err(Failure::Engine)?;
        py.detach(|| encoder.encode(&mut piece, &column_sources)).map_err(Failure::Engine)
    }

    /// Encodes the rows of the next piece. Returns `false` after the last.
    ///
    /// # Errors
    /// Exceptions of Python code; values that cannot be stored, rows that break a rule.
    pub fn take_piece(
        &mut self,
        py: Python<'_>,
        pieces: &mut Pieces,
        encoder: &mut TableEncoder,
    ) -> Result<bool, Failure> {
        self.encode(py, encoder)?;
        let Pieces { data, column_sources } = pieces;
        let mut piece: Box<dyn Piece> = match data {
            Data::Arrow(reader) => match py.detach(|| reader.next_piece()) {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(false),
                Err(error) => return Err(Failure::Engine(error.in_table(&encoder.table().name))),
            },
            Data::Python(maker) => match maker.next_piece(py)? {
                Some(piece) => Box::new(piece),
                None => return Ok(false),
            },
        };
        py.detach(|| encoder.encode(&mut *piece, column_sources)).map_err(Failure::Engine)?;
        Ok(true)
    }
}

/// Columns or Arrow data that are being appended to a table, piece by piece.
pub struct Pieces {
    data: Data,
    column_sources: Vec<ColumnSource>,
}

enum Data {
    Arrow(Box<dyn Reader>),
    Python(Box<dyn PieceMaker + Send>),
}

impl Pieces {
    /// Opens columns or Arrow data, as `_data.describe` returns them.
    ///
    /// # Errors
    /// Data that are no table, and columns that are not the table's.
    pub fn open(
        described: &Bound<'_, PyAny>,
        adapters: &Bound<'_, PyDict>,
        conflict: Conflict,
        encoder: &TableEncoder,
    ) -> PyResult<Self> {
        let py = described.py();
        let raise = |error| exception(py, &error);
        if described.get_type().name()? == "Arrow" {
            let mut reader = arrow_in::reader(described, &encoder.table().name)?;
            let column_sources = encoder.supplies_of_reader(&mut *reader).map_err(raise)?;
            return Ok(Self { data: Data::Arrow(reader), column_sources });
        }
        let table = encoder.table();
        let maker = piece_maker(py, described, &table.name, Some(adapters), Some(table), conflict, &[])?;
        let column_sources = encoder.column_sources(maker.fields()).map_err(raise)?;
        Ok(Self { data: Data::Python(maker), column_sources })
    }
}

/// The reason why rows are refused.
pub enum Failure {
    /// An exception. The writer stays open with the rows before.
    Raised(PyErr),
    /// An error of the encoder or the engine: the database is lost.
    Engine(Error),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// Refuses the keys of a row if they are not those of the rows before, in whatever case.
fn refuse_other_keys(table: &str, record: u64, known: &Bound<'_, PyAny>, keys: &Bound<'_, PyAny>) -> PyResult<()> {
    let names = |keys: &Bound<'_, PyAny>| keys.try_iter()?.map(|key| key?.extract()).collect::<PyResult<Vec<String>>>();
    // Keys that are no names are refused when their row is converted.
    let (Ok(known), Ok(new)) = (names(known), names(keys)) else { return Ok(()) };
    let lacks = |names: &[String], name: &String| !names.iter().any(|other| other.eq_ignore_ascii_case(name));
    let lacked = known.iter().filter(|name| lacks(&new, name)).min();
    match lacked.or(new.iter().find(|name| lacks(&known, name))) {
        Some(name) => Err(exception(keys.py(), &other_keys(table, record, name, lacked.is_some()))),
        None => Ok(()),
    }
}

/// Returns a row that is a mapping. Tuples and lists are told apart without a look at their class's parents.
fn mapping<'a, 'py>(row: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyMapping>> {
    if row.is_exact_instance_of::<PyTuple>() || row.is_exact_instance_of::<PyList>() {
        return None;
    }
    row.cast::<PyMapping>().ok()
}

/// Returns whether an exception is about a row, and not raised by Python code.
fn is_of_data(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyValueError>(py)
}
