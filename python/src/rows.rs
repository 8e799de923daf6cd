//! Converts rows, one by one, to pieces.
//!
//! The first row decides the access to the values of all rows: by position, by key or by attribute (`look` in
//! `litepress/_data.py`). Without a schema the first piece decides the columns: their types, and the names if rows name
//! their values themselves. Later values that a column's type would change are refused.
//!
//! The end of a piece depends on its values alone.

mod naming;
mod shapes;

use crate::cells::{Adapter, Kinds, PIECE_BYTES, PIECE_ROWS, Place, PythonColumn, field};
use crate::columns::Columns;
use crate::errors::exception;
use crate::feed::PieceMaker;
use crate::names;
use litepress::pipeline::RowsInMemory;
use litepress::{Conflict, Error, ErrorKind};
use litepress_load::reader::{Batch, FileColumn};
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{CellBlock, Table};
use naming::{Naming, own_keys};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};
use std::collections::VecDeque;

/// Opens `_data.Rows` or `_data.Columns` as a source of pieces. `known` is the table of the schema, if one is given; `conflict` is
/// the policy for rows with the same key; `forms` are the forms in which columns of Arrow are stored.
///
/// # Errors
/// Exceptions of Python code; rows and columns of unknown shape; values that cannot be stored.
pub fn piece_maker(
    py: Python<'_>,
    described: &Bound<'_, PyAny>,
    table: &str,
    adapters: Option<&Bound<'_, PyAny>>,
    known: Option<&Table>,
    conflict: Conflict,
    forms: &[(String, String)],
) -> PyResult<Box<dyn PieceMaker + Send>> {
    if described.hasattr("columns")? {
        return Ok(Box::new(Columns::new(py, described, table, adapters, known, forms)?));
    }
    let names: Option<Vec<String>> = described.getattr("names")?.extract()?;
    let rows = TableRows::new(py, table, names, adapters, known, conflict)?;
    Ok(Box::new(Rows::new(&described.getattr("data")?, rows)?))
}

/// The rows of an iterable.
struct Rows {
    iterator: Py<PyIterator>,
    rows: TableRows,
    fields: Vec<FileColumn>,
    /// The first piece, read ahead: it decides the columns.
    first: Option<RowsInMemory>,
    has_ended: bool,
}

impl Rows {
    fn new(iterable: &Bound<'_, PyAny>, rows: TableRows) -> PyResult<Self> {
        let iterator = iterable.try_iter()?.unbind();
        let mut new = Self { iterator, rows, fields: Vec::new(), first: None, has_ended: false };
        new.first = new.read(iterable.py())?;
        new.fields = new.rows.fields(iterable.py())?.to_vec();
        Ok(new)
    }

    fn read(&mut self, py: Python<'_>) -> PyResult<Option<RowsInMemory>> {
        let mut iterator = self.iterator.bind(py).clone();
        while !self.has_ended && !self.rows.is_full() {
            match iterator.next() {
                Some(row) => self.rows.push(&row?)?,
                None => self.has_ended = true,
            }
            if self.rows.is_between_blocks() {
                py.check_signals()?;
            }
        }
        self.rows.take(py)
    }
}

impl PieceMaker for Rows {
    fn fields(&self) -> &[FileColumn] {
        &self.fields
    }

    fn next_piece(&mut self, py: Python<'_>) -> PyResult<Option<RowsInMemory>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.read(py),
        }
    }
}

/// The access to the values of a row: by position, by key or by attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Sequence,
    Mapping,
    Attributes,
}

/// A column of the rows.
struct Column {
    name: String,
    /// The column's name as rows spell it.
    key: Py<PyString>,
    builder: PythonColumn,
    /// Number of the first row that has it; 0 if none has.
    first_seen: u64,
    /// [Rows may lack it](known_columns).
    is_optional: bool,
}

impl Column {
    fn new(py: Python<'_>, name: &str, nulls: usize) -> Self {
        let key = PyString::intern(py, name).unbind();
        let builder = PythonColumn::with_nulls(nulls);
        Self { name: name.to_owned(), key, builder, first_seen: 0, is_optional: false }
    }

    #[inline]
    fn push(&mut self, value: &Bound<'_, PyAny>, adapter: &Adapter, place: &Place<'_>) -> PyResult<usize> {
        if self.first_seen == 0 {
            self.first_seen = place.record;
        }
        self.builder.push(value, adapter).map_err(|refusal| place.refused(refusal, &self.name, value))
    }
}

/// The rows of one table, collected into pieces. A row that fails leaves no trace.
pub struct TableRows {
    table: String,
    /// Names of the columns that the caller gave.
    names: Option<Vec<String>>,
    /// Ordinary columns of the schema's table: the name, and whether rows may lack it.
    known: Option<Vec<(String, bool)>>,
    /// Rows update others: mappings must have the same keys, because the columns that are updated are those of all rows.
    updates: bool,
    adapter: Adapter,
    shape: Option<Shape>,
    naming: Naming,
    columns: Vec<Column>,
    /// The table's columns, once the first piece is complete.
    fields: Option<Vec<FileColumn>>,
    /// Optional columns that no row of the first piece has: later rows may not have them.
    left_out: Vec<String>,
    batches: VecDeque<Batch>,
    block_rows: usize,
    piece_rows: u64,
    piece_bytes: usize,
    rows_before: u64,
}

impl TableRows {
    /// Starts without rows. `names` are the columns' names, if the caller gives them.
    ///
    /// # Errors
    /// Adapters that are not functions by type.
    pub fn new(
        py: Python<'_>,
        table: &str,
        names: Option<Vec<String>>,
        adapters: Option<&Bound<'_, PyAny>>,
        known: Option<&Table>,
        conflict: Conflict,
    ) -> PyResult<Self> {
        Ok(Self {
            table: table.to_owned(),
            names,
            known: known.map(|table| known_columns(table, conflict)),
            updates: conflict == Conflict::Update,
            adapter: Adapter::new(py, adapters)?,
            shape: None,
            naming: Naming::default(),
            columns: Vec::new(),
            fields: None,
            left_out: Vec::new(),
            batches: VecDeque::new(),
            block_rows: 0,
            piece_rows: 0,
            piece_bytes: 0,
            rows_before: 0,
        })
    }

    /// Returns whether the piece is complete: it must be [taken](Self::take) before the next row.
    pub fn is_full(&self) -> bool {
        self.piece_bytes >= PIECE_BYTES || self.piece_rows >= PIECE_ROWS
    }

    /// Numbers the next row `rows + 1` in errors: the table got its first rows from another source.
    pub fn count_from(&mut self, rows: u64) {
        self.rows_before = rows;
    }

    /// Returns the number of rows that the table has so far.
    pub fn rows(&self) -> u64 {
        self.rows_before + self.piece_rows
    }

    fn is_between_blocks(&self) -> bool {
        self.block_rows == 0
    }

    /// Returns the number of the next row, counted from 1.
    fn next_record(&self) -> u64 {
        self.rows_before + self.piece_rows + 1
    }

    /// Returns the columns. The first call ends the first piece: without a schema its rows decide names and types.
    ///
    /// # Errors
    /// The columns are unknown: there is no row, no name and no schema.
    pub fn fields(&mut self, py: Python<'_>) -> PyResult<&[FileColumn]> {
        if self.fields.is_none() {
            self.settle(py)?;
        }
        Ok(self.fields.as_deref().unwrap_or_default())
    }

    /// Appends a row.
    ///
    /// # Errors
    /// Exceptions of Python code; a row of another shape or length, a value that cannot be stored.
    pub fn push(&mut self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let shape = match self.shape {
            Some(shape) => shape,
            None => self.begin(row)?,
        };
        let columns = self.columns.len();
        let pushed = match shape {
            Shape::Sequence => self.push_sequence(row),
            Shape::Mapping => self.push_mapping(row),
            Shape::Attributes => self.push_attributes(row),
        };
        match pushed {
            Ok(bytes) => self.piece_bytes += bytes,
            Err(error) => {
                self.columns.truncate(columns);
                self.take_back();
                return Err(error);
            }
        }
        self.block_rows += 1;
        self.piece_rows += 1;
        if self.block_rows == BLOCK_ROWS || self.is_full() {
            self.end_block();
        }
        Ok(())
    }

    /// Removes the values of a row that failed halfway.
    #[cold]
    fn take_back(&mut self) {
        let (rows, record) = (self.block_rows, self.next_record());
        for column in &mut self.columns {
            column.builder.truncate(rows);
            if column.first_seen == record {
                column.first_seen = 0;
            }
        }
    }

    /// Returns the rows since the last piece, or `None` if there are none.
    ///
    /// # Errors
    /// As [`fields`](Self::fields).
    pub fn take(&mut self, py: Python<'_>) -> PyResult<Option<RowsInMemory>> {
        self.fields(py)?;
        self.end_block();
        if self.piece_rows == 0 {
            return Ok(None);
        }
        let batches = std::mem::take(&mut self.batches);
        let piece = RowsInMemory { batches, first_record: self.rows_before + 1, records: self.piece_rows };
        self.rows_before += self.piece_rows;
        (self.piece_rows, self.piece_bytes) = (0, 0);
        Ok(Some(piece))
    }

    fn end_block(&mut self) {
        let rows = std::mem::take(&mut self.block_rows);
        if rows > 0 {
            let blocks = self.columns.iter_mut().map(|column| column.builder.finish()).collect();
            self.batches.push_back(Batch { blocks, rows, ..Batch::default() });
        }
    }

    /// Decides shape, names and columns by the first row.
    #[cold]
    fn begin(&mut self, row: &Bound<'_, PyAny>) -> PyResult<Shape> {
        let py = row.py();
        let looked = py.import("litepress._data")?.call_method1("look", (row,));
        let (shape, found, is_settled): (String, Option<Vec<String>>, bool) = looked?.extract()?;
        let shape = match &*shape {
            "sequence" => Shape::Sequence,
            "mapping" => Shape::Mapping,
            _ => Shape::Attributes,
        };
        let is_in_order = |known: &Vec<(String, bool)>| {
            found.as_ref().is_none_or(|found| found.iter().eq(known.iter().map(|(name, _)| name)))
        };
        self.naming = Naming {
            kind: Some(row.get_type().unbind()),
            names: found.clone(),
            keys: if is_settled { None } else { own_keys(row)?.map(Bound::unbind) },
            refuses_plain: self.names.is_none() && !self.known.as_ref().is_none_or(is_in_order),
        };
        let names = self.names.clone().or(found);
        let columns = match (names, &self.known) {
            (Some(names), _) => names.iter().map(|name| Column::new(py, name, 0)).collect(),
            (None, Some(known)) => known_as_columns(py, known),
            (None, None) if shape == Shape::Mapping => Vec::new(),
            (None, None) => return Err(self.no_names()),
        };
        names::refuse_twice(columns.iter().map(|column| column.name.as_str()))?;
        self.columns = columns;
        self.shape = Some(shape);
        Ok(shape)
    }

    fn no_names(&self) -> PyErr {
        let message =
            format!("table {}: nothing says what its columns are called: give columns= or a schema", self.table);
        PyValueError::new_err(message)
    }

    fn data_error(&self, py: Python<'_>, message: String, value: Option<String>, advice: Option<&str>) -> PyErr {
        let mut error = Error::new(ErrorKind::Data, message).in_table(&self.table).in_record(self.next_record());
        if let Some(value) = value {
            error = error.with_value(value);
        }
        if let Some(advice) = advice {
            error = error.advise(advice);
        }
        exception(py, &error)
    }

    /// Completes the first piece: decides the columns, and drops optional ones that no row has.
    fn settle(&mut self, py: Python<'_>) -> PyResult<()> {
        self.end_block();
        if self.shape.is_none() {
            self.fields = Some(self.fields_of_nothing(py)?);
            return Ok(());
        }
        if self.columns.is_empty() {
            return Err(self.no_names());
        }
        names::refuse_unkept(py, &self.table, self.columns.iter().map(|column| column.name.as_str()))?;
        for batch in &mut self.batches {
            let rows = batch.rows;
            batch.blocks.resize_with(self.columns.len(), || null_block(rows));
        }
        let is_mapping = self.shape == Some(Shape::Mapping);
        let is_kept = |column: &Column| column.first_seen > 0 || !column.is_optional || !is_mapping;
        for at in (0..self.columns.len()).rev() {
            if !is_kept(&self.columns[at]) {
                self.left_out.push(self.columns.remove(at).name);
                self.batches.iter_mut().for_each(|batch| drop(batch.blocks.remove(at)));
            }
        }
        let (rows, has_guard) = (self.piece_rows, self.known.is_none());
        let fields = self.columns.iter_mut().map(|column| {
            let (kinds, name) = (column.builder.kinds(), column.name.clone());
            if has_guard {
                column.builder.take_only(Kinds::of_declared_type(kinds.declared_type()));
            }
            field(name, kinds, rows)
        });
        self.fields = Some(fields.collect());
        Ok(())
    }

    /// Returns the columns of a table without rows.
    fn fields_of_nothing(&self, py: Python<'_>) -> PyResult<Vec<FileColumn>> {
        let names = match (&self.names, &self.known) {
            (Some(names), _) => names.clone(),
            (None, Some(known)) => known.iter().map(|(name, _)| name.clone()).collect(),
            (None, None) => {
                let message =
                    format!("table {}: there are no rows, and so no columns: give columns= or a schema", self.table);
                return Err(PyValueError::new_err(message));
            }
        };
        names::refuse_unkept(py, &self.table, names.iter().map(String::as_str))?;
        Ok(names.into_iter().map(|name| field(name, Kinds::NONE, 0)).collect())
    }
}

/// Returns the names of a table's ordinary columns, each with whether rows may lack it: it has a DEFAULT, or is numbered. Rows that
/// update others may lack any: the column keeps its value.
pub fn known_columns(table: &Table, conflict: Conflict) -> Vec<(String, bool)> {
    let column = |position: usize| {
        let column = &table.columns[position];
        let is_filled = column.default.is_some() || table.rowid_alias == Some(position);
        (column.name.clone(), is_filled || conflict == Conflict::Update)
    };
    table.ordinary_columns().map(column).collect()
}

/// Returns the error for a row that updates others and has other keys than the rows before: it lacks `name`, or is the first with it.
pub fn other_keys(table: &str, record: u64, name: &str, is_lacked: bool) -> Error {
    let message = match is_lacked {
        true => format!("the row lacks '{name}', which the rows before it have"),
        false => format!("the row has '{name}', which the rows before it lack"),
    };
    let advice = "rows that update others have the same keys: add those with other keys in a call of their own, or give all keys, \
                  with None for NULL";
    Error::new(ErrorKind::Data, message).in_table(table).in_record(record).advise(advice)
}

fn known_as_columns(py: Python<'_>, known: &[(String, bool)]) -> Vec<Column> {
    let column =
        |(name, is_optional): &(String, bool)| Column { is_optional: *is_optional, ..Column::new(py, name, 0) };
    known.iter().map(column).collect()
}

fn null_block(rows: usize) -> CellBlock {
    PythonColumn::with_nulls(rows).finish()
}
