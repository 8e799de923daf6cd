//! Converts rows, one by one, to pieces.
//!
//! The first row decides the access to the values of all rows: by position, by key or by attribute (`look` in
//! `litepress/_data.py`). Without a schema the first piece decides the columns: their types, and the names if rows name
//! their values themselves. Later values that a column's type would change are refused.
//!
//! The end of a piece depends on its values alone.

use crate::cells::{Adapter, Kinds, PIECE_BYTES, PIECE_ROWS, Place, PythonColumn, field, shown, type_name};
use crate::columns::Columns;
use crate::errors::exception;
use crate::feed::PieceMaker;
use crate::names;
use litepress::pipeline::RowsInMemory;
use litepress::{Error, ErrorKind};
use litepress_load::reader::{Batch, FileColumn};
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::error::{counted, grouped};
use litepress_rows::{CellBlock, Table};
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString, PyTuple, PyType};
use std::collections::VecDeque;

/// Opens `_data.Rows` or `_data.Columns` as a source of pieces. `known` is the table of the schema, if one is given; `forms` are
/// the forms in which columns of Arrow are stored.
///
/// # Errors
/// Exceptions of Python code; rows and columns of unknown shape; values that cannot be stored.
pub fn piece_maker(
    py: Python<'_>,
    described: &Bound<'_, PyAny>,
    table: &str,
    adapters: Option<&Bound<'_, PyAny>>,
    known: Option<&Table>,
    forms: &[(String, String)],
) -> PyResult<Box<dyn PieceMaker + Send>> {
    if described.hasattr("columns")? {
        return Ok(Box::new(Columns::new(py, described, table, adapters, known, forms)?));
    }
    let names: Option<Vec<String>> = described.getattr("names")?.extract()?;
    let rows = TableRows::new(py, table, names, adapters, known)?;
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
    /// Rows may lack it: it has a DEFAULT, or is numbered.
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

/// The names that the first row gives its values. Plain tuples and lists give none.
#[derive(Default)]
struct Naming {
    kind: Option<Py<PyType>>,
    names: Option<Vec<String>>,
    /// The names of the first row, if rows of its type may have others.
    keys: Option<Py<PyAny>>,
    /// The first row names its values in another order than the table: plain rows, which go by position, would be misread.
    refuses_plain: bool,
}

impl Naming {
    /// Returns whether a row surely has the names of the first one. A cheap test: `false` calls for a full comparison.
    #[inline]
    fn is_of(&self, row: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(kind) = &self.kind else { return Ok(false) };
        if !row.get_type().is(kind) {
            return Ok(false);
        }
        match &self.keys {
            None => Ok(true),
            Some(keys) => Ok(own_keys(row)?.is_some_and(|own| own.eq(keys).unwrap_or(false))),
        }
    }
}

/// Returns the names that this very row has: the keys of a `sqlite3.Row`, or the attributes of an object.
fn own_keys<'py>(row: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if row.hasattr("keys")? {
        return row.call_method0("keys").map(Some);
    }
    let Ok(attributes) = row.getattr("__dict__") else { return Ok(None) };
    let keys = attributes.cast::<PyDict>()?.keys();
    // Objects of pydantic keep fields that their class does not declare in a dict of their own.
    if let Ok(extra) = row.getattr("__pydantic_extra__")
        && let Ok(extra) = extra.cast::<PyDict>()
    {
        extra.keys().iter().try_for_each(|key| keys.append(key))?;
    }
    Ok(Some(keys.into_any()))
}

/// The rows of one table, collected into pieces. A row that fails leaves no trace.
pub struct TableRows {
    table: String,
    /// Names of the columns that the caller gave.
    names: Option<Vec<String>>,
    /// Ordinary columns of the schema's table: the name, and whether rows may lack it.
    known: Option<Vec<(String, bool)>>,
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
    ) -> PyResult<Self> {
        Ok(Self {
            table: table.to_owned(),
            names,
            known: known.map(known_columns),
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

    /// Refuses a row whose values have other names than those of the first row: by position they would land in wrong columns.
    #[inline]
    fn check_names(&self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        if row.is_exact_instance_of::<PyTuple>() || row.is_exact_instance_of::<PyList>() {
            return if self.naming.refuses_plain { Err(self.other_names(row, None)) } else { Ok(()) };
        }
        if self.naming.is_of(row)? { Ok(()) } else { self.compare_names(row) }
    }

    #[cold]
    fn compare_names(&self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        // Values that are not rows at all pass here: the next step reports them as rows of another shape.
        let Ok(looked) = row.py().import("litepress._data")?.call_method1("look", (row,)) else { return Ok(()) };
        let (shape, names, _): (String, Option<Vec<String>>, bool) = looked.extract()?;
        let is_right = match (&names, self.shape) {
            (Some(names), Some(Shape::Attributes)) => {
                self.names.is_some() || names.iter().all(|name| self.columns.iter().any(|column| column.name == *name))
            }
            _ => shape != "sequence" || names == self.naming.names,
        };
        if is_right { Ok(()) } else { Err(self.other_names(row, names)) }
    }

    fn other_names(&self, row: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyErr {
        let listed =
            |names: &Option<Vec<String>>| names.as_ref().map_or("without names".to_owned(), |names| names.join(", "));
        let message = format!(
            "the values of the row are {}, and those of the first {}",
            listed(&names),
            listed(&self.naming.names)
        );
        self.data_error(
            row.py(),
            message,
            Some(shown(row)),
            Some("give all rows the same names, or dicts, whose order is free"),
        )
    }

    fn push_sequence(&mut self, row: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.check_names(row)?;
        if let Ok(tuple) = row.cast::<PyTuple>() {
            return self.push_values(row, tuple.len(), tuple.iter_borrowed().map(|value| value.to_owned()));
        }
        if row.is_instance_of::<PyList>()
            && let Ok(list) = row.cast::<PyList>()
        {
            return self.push_values(row, list.len(), list.iter());
        }
        let data = row.py().import("litepress._data")?;
        if !data.call_method1("is_sequence", (row,))?.is_truthy()? {
            return Err(self.other_shape(row, "a sequence"));
        }
        let tuple = PyTuple::new(row.py(), row.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
        self.push_values(row, tuple.len(), tuple.iter())
    }

    fn push_values<'py>(
        &mut self,
        row: &Bound<'py, PyAny>,
        len: usize,
        values: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<usize> {
        if len != self.columns.len() {
            return Err(self.other_length(row, len));
        }
        let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
        let (mut bytes, mut pushed) = (0, 0);
        for (column, value) in self.columns.iter_mut().zip(values) {
            bytes += column.push(&value, &self.adapter, &place)?;
            pushed += 1;
        }
        // An adapter may have changed the list.
        if pushed < len { Err(self.other_length(row, pushed)) } else { Ok(bytes) }
    }

    fn push_mapping(&mut self, row: &Bound<'_, PyAny>) -> PyResult<usize> {
        if row.is_instance_of::<PyDict>()
            && let Ok(dict) = row.cast::<PyDict>()
        {
            return self.push_dict(dict);
        }
        if !row.hasattr("keys")? {
            return Err(self.other_shape(row, "a mapping"));
        }
        let dict = row.py().get_type::<PyDict>().call1((row,))?;
        self.push_dict(dict.cast::<PyDict>()?)
    }

    fn push_dict(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<usize> {
        let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
        let (mut bytes, mut found) = (0, 0);
        for column in &mut self.columns {
            let Some(value) = dict.get_item(column.key.bind_borrowed(dict.py()))? else {
                column.builder.push_null();
                continue;
            };
            bytes += column.push(&value, &self.adapter, &place)?;
            found += 1;
        }
        if found < dict.len() { Ok(bytes + self.push_new_keys(dict)?) } else { Ok(bytes) }
    }

    /// Appends the values of keys that have no column yet. Only the first piece may add columns, and none that a given table
    /// lacks.
    #[cold]
    fn push_new_keys(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<usize> {
        let py = dict.py();
        let mut bytes = 0;
        // An adapter may change the row.
        for (key, value) in dict.copy()?.iter() {
            let Ok(name) = key.extract::<String>() else {
                let message = format!("a key is {}, and columns have names that are str", shown(&key));
                return Err(self.data_error(py, message, None, None));
            };
            if self.columns.iter().any(|column| column.key.bind(py) == name.as_str()) {
                continue;
            }
            let at = self.column_of_key(dict, &name)?;
            let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
            let column = &mut self.columns[at];
            column.builder.truncate(self.block_rows);
            bytes += column.push(&value, &self.adapter, &place)?;
        }
        Ok(bytes)
    }

    /// Returns the position of the column for a key that is new, and adds the column if there is none.
    fn column_of_key(&mut self, dict: &Bound<'_, PyDict>, name: &str) -> PyResult<usize> {
        let py = dict.py();
        let is_open = self.known.is_none() && self.names.is_none() && self.fields.is_none();
        if is_open {
            self.columns.push(Column::new(py, name, self.block_rows));
            return Ok(self.columns.len() - 1);
        }
        // SQLite ignores the case of names. A row with the same name in two spellings is refused.
        let is_same = |column: &Column| column.name.eq_ignore_ascii_case(name);
        let is_free = |at: &usize| !dict.contains(self.columns[*at].key.bind(py)).unwrap_or(true);
        let found = self.columns.iter().position(is_same).filter(|_| self.known.is_some());
        if let Some(at) = found.filter(is_free) {
            self.columns[at].key = PyString::intern(py, name).unbind();
            return Ok(at);
        }
        Err(self.unknown_key(py, name))
    }

    fn unknown_key(&self, py: Python<'_>, name: &str) -> PyErr {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let columns = columns.join(", ");
        if self.left_out.iter().any(|left_out| left_out.eq_ignore_ascii_case(name)) {
            let message = format!("the row has '{name}', which the first {} rows left out", grouped(self.rows_before));
            let advice =
                "give the column in all rows, or None in the first: rows without it were numbered, or have its DEFAULT";
            return self.data_error(py, message, None, Some(advice));
        }
        if self.known.is_some() || self.names.is_some() {
            let message = format!("the row has '{name}', and the table has no column of this name to fill");
            return self.data_error(py, message, None, Some(&format!("it has {columns}")));
        }
        let message = format!("the row has '{name}', which none of the first {} rows has", grouped(self.rows_before));
        self.data_error(py, message, None, Some("name all columns with columns=, or give a schema"))
    }

    fn push_attributes(&mut self, row: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.check_names(row)?;
        let py = row.py();
        let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
        let mut bytes = 0;
        for column in &mut self.columns {
            let value = row.getattr(column.key.bind_borrowed(py)).map_err(|error| {
                let is_absent = error.is_instance_of::<PyAttributeError>(py);
                if is_absent { place.no_attribute(row, &column.name) } else { error }
            })?;
            bytes += column.push(&value, &self.adapter, &place)?;
        }
        Ok(bytes)
    }

    #[cold]
    fn other_length(&self, row: &Bound<'_, PyAny>, len: usize) -> PyErr {
        let [values, columns] =
            [(len, "value"), (self.columns.len(), "column")].map(|(n, noun)| counted(n as u64, noun));
        let message = format!("the row has {values} instead of {columns}");
        self.data_error(row.py(), message, Some(shown(row)), None)
    }

    #[cold]
    fn other_shape(&self, row: &Bound<'_, PyAny>, expected: &str) -> PyErr {
        let message = format!("the row is of type {} and not {expected}, as the first row is", type_name(row));
        self.data_error(row.py(), message, Some(shown(row)), None)
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

/// Returns the names of a table's ordinary columns, each with whether rows may lack it: it has a DEFAULT, or is numbered.
pub fn known_columns(table: &Table) -> Vec<(String, bool)> {
    let column = |position: usize| {
        let column = &table.columns[position];
        (column.name.clone(), column.default.is_some() || table.rowid_alias == Some(position))
    };
    table.ordinary_columns().map(column).collect()
}

fn known_as_columns(py: Python<'_>, known: &[(String, bool)]) -> Vec<Column> {
    let column =
        |(name, is_optional): &(String, bool)| Column { is_optional: *is_optional, ..Column::new(py, name, 0) };
    known.iter().map(column).collect()
}

fn null_block(rows: usize) -> CellBlock {
    PythonColumn::with_nulls(rows).finish()
}
