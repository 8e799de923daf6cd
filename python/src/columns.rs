//! Converts whole columns to pieces.
//!
//! `litepress/_data.py` describes each column and reads a block of it at a time: numbers and times as the bytes of a buffer,
//! everything else as a list of Python values. The numbers of a buffer never become Python objects.

use crate::cells::{Adapter, Kinds, PIECE_BYTES, PIECE_ROWS, Place, PythonColumn, field};
use crate::errors::exception;
use crate::feed::PieceMaker;
use litepress::pipeline::RowsInMemory;
use litepress::{Error, ErrorKind};
use litepress_load::arrow::calendar::{Unit, push_date, push_timestamp};
use litepress_load::reader::{Batch, Field, FieldKind};
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{CellBlock, Table};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::collections::VecDeque;

/// NumPy's NaT ("not a time").
const NOT_A_TIME: i64 = i64::MIN;
/// Approximate bytes of a number or a time in a record.
const VALUE_BYTES: usize = 8;

/// Columns of one length.
pub struct Columns {
    table: String,
    adapter: Adapter,
    columns: Vec<Column>,
    fields: Vec<Field>,
    length: usize,
    /// Rows that were read.
    at: usize,
    /// The first piece, read ahead: its values decide the types of the columns of Python values.
    first: Option<RowsInMemory>,
}

struct Column {
    name: String,
    /// Type of the source, for messages: `NumPy int64`.
    origin: String,
    kind: Kind,
    /// `read(start, stop)` returns the values of these rows.
    read: Py<PyAny>,
    /// `nulls(start, stop)` returns a byte for each of these rows, nonzero for NULL.
    nulls: Option<Py<PyAny>>,
}

enum Kind {
    /// Python values.
    Values(PythonColumn),
    /// Signed integers.
    Int(Layout),
    Uint(Layout),
    Real(Layout),
    /// Days since 1970.
    Date,
    /// Counts of a unit since 1970.
    Time(Unit),
    /// Durations: counts of the source's own unit, stored as they are.
    Span,
}

/// The layout of numbers in a buffer.
#[derive(Clone, Copy)]
struct Layout {
    bytes: usize,
    /// The byte order is not this machine's.
    is_swapped: bool,
}

impl Columns {
    /// Opens columns that `_data.describe` describes, and reads the first piece.
    ///
    /// # Errors
    /// Exceptions of Python code; columns without names; values that cannot be stored.
    pub fn new(
        py: Python<'_>,
        described: &Bound<'_, PyAny>,
        table: &str,
        adapters: Option<&Bound<'_, PyAny>>,
        known: Option<&Table>,
    ) -> PyResult<Self> {
        let sources: Vec<Bound<'_, PyAny>> = described.getattr("columns")?.extract()?;
        let names = names(described.getattr("names")?.extract()?, sources.len(), table, known)?;
        let columns = names.into_iter().zip(&sources).map(|(name, source)| Column::new(name, source));
        let columns = columns.collect::<PyResult<_>>()?;
        let length = described.getattr("length")?.extract()?;
        let adapter = Adapter::new(py, adapters)?;
        let table = table.to_owned();
        let mut new = Self { table, adapter, columns, fields: Vec::new(), length, at: 0, first: None };
        new.first = new.read_piece(py)?;
        new.fields = new.columns.iter().map(|column| column.field(new.at as u64)).collect();
        if known.is_none() {
            new.columns.iter_mut().for_each(Column::guard);
        }
        Ok(new)
    }

    fn read_piece(&mut self, py: Python<'_>) -> PyResult<Option<RowsInMemory>> {
        let mut piece = RowsInMemory { batches: VecDeque::new(), first_record: self.at as u64 + 1, records: 0 };
        let mut bytes = 0;
        while self.at < self.length && bytes < PIECE_BYTES && piece.records < PIECE_ROWS {
            py.check_signals()?;
            let (batch, batch_bytes) = self.read_batch(py)?;
            self.at += batch.rows;
            piece.records += batch.rows as u64;
            bytes += batch_bytes;
            piece.batches.push_back(batch);
        }
        Ok(if piece.batches.is_empty() { None } else { Some(piece) })
    }

    /// Reads the next rows. Returns them with their approximate size in bytes.
    fn read_batch(&mut self, py: Python<'_>) -> PyResult<(Batch, usize)> {
        let most = BLOCK_ROWS.min(self.length - self.at);
        let (rows, mut bytes) = self.push_values(py, most)?;
        let mut batch = Batch { blocks: Vec::with_capacity(self.columns.len()), rows, ..Batch::default() };
        for column in &mut self.columns {
            let range = (self.at, self.at + rows);
            let block = match &mut column.kind {
                Kind::Values(builder) => builder.finish(),
                _ => {
                    bytes += rows * VALUE_BYTES;
                    column.read_buffer(py, range, &self.table)?
                }
            };
            batch.blocks.push(block);
        }
        Ok((batch, bytes))
    }

    /// Appends the next values of all columns that hold Python values, row by row, until `most` rows or the bytes of a piece.
    /// Returns the number of rows and their approximate bytes.
    fn push_values(&mut self, py: Python<'_>, most: usize) -> PyResult<(usize, usize)> {
        let range = (self.at, self.at + most);
        let mut lists = Vec::new();
        for column in &self.columns {
            if matches!(column.kind, Kind::Values(_)) {
                lists.push(column.read.bind(py).call1(range)?.cast_into::<PyList>()?);
            }
        }
        let mut bytes = 0;
        for row in 0..most {
            let mut lists = lists.iter();
            for column in &mut self.columns {
                let Kind::Values(builder) = &mut column.kind else { continue };
                let Some(list) = lists.next() else { continue };
                let value = list.get_item(row)?;
                bytes += builder.push(&value, &self.adapter).map_err(|refusal| {
                    let record = (self.at + row + 1) as u64;
                    let fields = Some(&*self.fields);
                    Place { table: &self.table, fields, record }.refused(refusal, &column.name, &value)
                })?;
            }
            if bytes >= PIECE_BYTES {
                return Ok((row + 1, bytes));
            }
        }
        Ok((most, bytes))
    }
}

impl PieceMaker for Columns {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn next_piece(&mut self, py: Python<'_>) -> PyResult<Option<RowsInMemory>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.read_piece(py),
        }
    }
}

/// Returns the columns' own names, or by position those of the known table if they have none.
fn names(named: Vec<String>, columns: usize, table: &str, known: Option<&Table>) -> PyResult<Vec<String>> {
    if !named.is_empty() {
        return Ok(named);
    }
    let Some(known) = known else {
        let message = format!("table {table}: nothing says what its columns are called: give columns= or a schema");
        return Err(PyValueError::new_err(message));
    };
    let names: Vec<String> = known.ordinary_columns().map(|at| known.columns[at].name.clone()).collect();
    if names.len() == columns {
        return Ok(names);
    }
    let message = format!("table {table}: the array has {columns} columns, and the table {}", names.len());
    Err(PyValueError::new_err(message))
}

impl Column {
    fn new(name: String, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let layout = || -> PyResult<Layout> {
            let (bytes, is_swapped) = (source.getattr("size")?.extract()?, source.getattr("is_swapped")?.extract()?);
            Ok(Layout { bytes, is_swapped })
        };
        let kind: String = source.getattr("kind")?.extract()?;
        let kind = match &*kind {
            "int" => Kind::Int(layout()?),
            "uint" => Kind::Uint(layout()?),
            "real" => Kind::Real(layout()?),
            "date" => Kind::Date,
            "time" => {
                let unit: String = source.getattr("unit")?.extract()?;
                Kind::Time(
                    Unit::of_symbol(&unit).ok_or_else(|| PyTypeError::new_err(format!("no unit of time: {unit}")))?,
                )
            }
            "span" => Kind::Span,
            _ => Kind::Values(PythonColumn::default()),
        };
        let nulls = source.getattr("nulls")?;
        let nulls = if nulls.is_none() { None } else { Some(nulls.unbind()) };
        Ok(Self {
            name,
            origin: source.getattr("origin")?.extract()?,
            kind,
            read: source.getattr("read")?.unbind(),
            nulls,
        })
    }

    /// Describes the column. Python values of the first `rows` rows decide its type.
    fn field(&self, rows: u64) -> Field {
        let declared_type = match &self.kind {
            Kind::Values(builder) => return field(self.name.clone(), builder.kinds(), rows),
            Kind::Int(_) | Kind::Uint(_) | Kind::Span => "INTEGER",
            Kind::Real(_) => "REAL",
            Kind::Date | Kind::Time(_) => "TEXT",
        };
        let (declared_type, reason) = (declared_type.to_owned(), self.origin.clone());
        Field {
            name: self.name.clone(),
            kind: FieldKind::Typed { declared_type, reason: reason.into(), not_null: false },
        }
    }

    /// Refuses values that the column's type would change from now on.
    fn guard(&mut self) {
        if let Kind::Values(builder) = &mut self.kind {
            builder.take_only(Kinds::of_declared_type(builder.kinds().declared_type()));
        }
    }

    fn read_buffer(&self, py: Python<'_>, (start, stop): (usize, usize), table: &str) -> PyResult<CellBlock> {
        let rows = stop - start;
        let bytes = |read: &Py<PyAny>, size: usize| {
            let read = read.bind(py).call1((start, stop))?.cast_into::<PyBytes>()?;
            if read.as_bytes().len() == rows * size { Ok(read) } else { Err(self.changed()) }
        };
        let data = bytes(&self.read, self.kind.size())?;
        let data = data.as_bytes();
        let mut block = CellBlock::default();
        match self.kind {
            Kind::Values(_) => {}
            Kind::Int(layout) => push_ints(data, layout, block.ints()),
            Kind::Uint(layout) => push_uints(data, layout, block.ints())
                .map_err(|(row, value)| self.too_large(py, table, start + row, value))?,
            Kind::Real(layout) => push_reals(data, layout, block.reals()),
            Kind::Span | Kind::Date | Kind::Time(_) => self.kind.push_times(data, &mut block),
        }
        if let Some(nulls) = &self.nulls {
            let nulls = bytes(nulls, 1)?;
            let flags = block.nulls_mut();
            flags.resize(rows, false);
            flags.iter_mut().zip(nulls.as_bytes()).for_each(|(flag, null)| *flag |= *null != 0);
        }
        Ok(block)
    }

    fn changed(&self) -> PyErr {
        PyValueError::new_err(format!("column '{}' changed its length while it was read", self.name))
    }

    #[cold]
    fn too_large(&self, py: Python<'_>, table: &str, row: usize, value: u64) -> PyErr {
        let error =
            Error::new(ErrorKind::Data, "the integer is beyond the 64 bits of SQLite, one of which is the sign");
        let error = error.in_table(table).in_column(&self.name).in_record(row as u64 + 1).with_value(value.to_string());
        exception(py, &error.advise("convert the column to float64, or to texts"))
    }
}

impl Kind {
    /// Returns the bytes of a value in a buffer.
    fn size(&self) -> usize {
        match self {
            Self::Int(layout) | Self::Uint(layout) | Self::Real(layout) => layout.bytes,
            _ => size_of::<i64>(),
        }
    }

    /// Fills a block with the days, times or spans of a buffer.
    fn push_times(&self, data: &[u8], block: &mut CellBlock) {
        let mut counts = Vec::with_capacity(data.len() / size_of::<i64>());
        push_ints(data, Layout { bytes: size_of::<i64>(), is_swapped: false }, &mut counts);
        let nulls: Vec<bool> = counts.iter().map(|&count| count == NOT_A_TIME).collect();
        if matches!(self, Self::Span) {
            block.ints().extend_from_slice(&counts);
        } else {
            let texts = block.texts();
            for (&count, &is_null) in counts.iter().zip(&nulls) {
                match self {
                    _ if is_null => {}
                    Self::Time(unit) => push_timestamp(count, *unit, false, texts.arena()),
                    _ => push_date(count, texts.arena()),
                }
                texts.end_string();
            }
        }
        if nulls.contains(&true) {
            *block.nulls_mut() = nulls;
        }
    }
}

/// Iterates over the numbers of a buffer, and reverses the bytes of each if they are swapped.
macro_rules! numbers {
    ($type:ty, $data:expr, $is_swapped:expr) => {
        $data.as_chunks::<{ size_of::<$type>() }>().0.iter().map(|bytes| {
            let mut bytes = *bytes;
            if $is_swapped {
                bytes.reverse();
            }
            #[expect(clippy::host_endian_bytes, reason = "buffers of this process are in its byte order")]
            <$type>::from_ne_bytes(bytes)
        })
    };
}

fn push_ints(data: &[u8], Layout { bytes, is_swapped }: Layout, out: &mut Vec<i64>) {
    match bytes {
        1 => out.extend(numbers!(i8, data, is_swapped).map(i64::from)),
        2 => out.extend(numbers!(i16, data, is_swapped).map(i64::from)),
        4 => out.extend(numbers!(i32, data, is_swapped).map(i64::from)),
        _ => out.extend(numbers!(i64, data, is_swapped)),
    }
}

/// Appends unsigned integers to a column of signed ones.
///
/// # Errors
/// Position and value of the first integer beyond 63 bits.
fn push_uints(data: &[u8], Layout { bytes, is_swapped }: Layout, out: &mut Vec<i64>) -> Result<(), (usize, u64)> {
    match bytes {
        1 => out.extend(numbers!(u8, data, is_swapped).map(i64::from)),
        2 => out.extend(numbers!(u16, data, is_swapped).map(i64::from)),
        4 => out.extend(numbers!(u32, data, is_swapped).map(i64::from)),
        _ => {
            for (row, value) in numbers!(u64, data, is_swapped).enumerate() {
                out.push(i64::try_from(value).map_err(|_| (row, value))?);
            }
        }
    }
    Ok(())
}

fn push_reals(data: &[u8], Layout { bytes, is_swapped }: Layout, out: &mut Vec<f64>) {
    match bytes {
        4 => out.extend(numbers!(f32, data, is_swapped).map(f64::from)),
        _ => out.extend(numbers!(f64, data, is_swapped)),
    }
}
