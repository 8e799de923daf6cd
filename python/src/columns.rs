//! Converts whole columns to pieces.
//!
//! `litepress/_columns.py` and `_frames.py` describe each column and read a block of it at a time: numbers and times as the bytes
//! of a buffer, everything else as a list of Python values. The numbers of a buffer never become Python objects, and neither do
//! arrays of Arrow, which stand beside columns of objects.

use crate::arrow_in;
use crate::cells::{Adapter, Kinds, PIECE_BYTES, PIECE_ROWS, Place, PythonColumn, field};
use crate::errors::exception;
use crate::feed::PieceMaker;
use litepress::pipeline::RowsInMemory;
use litepress::{Error, ErrorKind};
use litepress_load::arrow::ArrayColumn;
use litepress_load::arrow::calendar::{Unit, has_four_digit_year, has_readable_year, push_date, push_timestamp};
use litepress_load::reader::{Batch, FileColumn, FileColumnKind};
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{CellBlock, Table};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::collections::VecDeque;

/// NumPy's NaT ("not a time").
const NOT_A_TIME: i64 = i64::MIN;
const SECONDS_PER_DAY: i64 = 86_400;
/// Approximate bytes of a number or a time in a record.
const VALUE_BYTES: usize = 8;

/// Columns of one length.
pub struct Columns {
    table: String,
    adapter: Adapter,
    columns: Vec<Column>,
    fields: Vec<FileColumn>,
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
    /// `read(start, stop)` returns the values of these rows. Arrow's have no such function.
    read: Py<PyAny>,
    /// The type to declare if all values are NULL.
    declared: String,
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
    /// Counts of a unit since 1970, in UTC if they are instants.
    Time {
        unit: Unit,
        is_instant: bool,
    },
    /// Durations, stored as microseconds.
    Span(SpanUnit),
    /// Arrays of Arrow.
    Arrays(Box<ArrayColumn>),
}

/// A unit of NumPy's durations, in microseconds: a multiple or a part of one.
#[derive(Clone, Copy)]
enum SpanUnit {
    Multiple(i64),
    Part(i64),
}

impl SpanUnit {
    /// Returns the unit of this symbol.
    fn of_symbol(symbol: &str) -> Option<Self> {
        const SECOND: i64 = 1_000_000;
        Some(match symbol {
            "W" => Self::Multiple(7 * SECONDS_PER_DAY * SECOND),
            "D" => Self::Multiple(SECONDS_PER_DAY * SECOND),
            "h" => Self::Multiple(3600 * SECOND),
            "m" => Self::Multiple(60 * SECOND),
            "s" => Self::Multiple(SECOND),
            "ms" => Self::Multiple(1000),
            "us" => Self::Multiple(1),
            "ns" => Self::Part(1000),
            "ps" => Self::Part(1_000_000),
            "fs" => Self::Part(1_000_000_000),
            "as" => Self::Part(1_000_000_000_000),
            _ => return None,
        })
    }

    /// Returns the microseconds, or `None` if they are no whole number of 64 bits.
    fn microseconds(self, count: i64) -> Option<i64> {
        match self {
            Self::Multiple(factor) => count.checked_mul(factor),
            Self::Part(divisor) => (count % divisor == 0).then(|| count / divisor),
        }
    }
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
        forms: &[(String, String)],
    ) -> PyResult<Self> {
        let sources: Vec<Bound<'_, PyAny>> = described.getattr("columns")?.extract()?;
        let names = names(described.getattr("names")?.extract()?, sources.len(), table, known)?;
        let columns = names.into_iter().zip(&sources).map(|(name, source)| {
            let form = forms.iter().find(|(column, _)| is_column(column, table, &name)).map(|(_, form)| form.as_str());
            let mut column = Column::new(py, name, source, table, form)?;
            if let (Kind::Arrays(arrays), Some(known)) = (&mut column.kind, known) {
                let affinity = known.column(&column.name).map(|at| known.columns[at].affinity);
                affinity.map_or(Ok(()), |affinity| arrays.store_in(affinity)).map_err(|error| exception(py, &error))?;
            }
            Ok(column)
        });
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
        let mut most = BLOCK_ROWS.min(self.length - self.at);
        for column in &mut self.columns {
            if let Kind::Arrays(arrays) = &mut column.kind {
                most = most.min(arrays.room(self.at));
            }
        }
        let (rows, mut bytes) = self.push_values(py, most)?;
        let mut batch = Batch { blocks: Vec::with_capacity(self.columns.len()), rows, ..Batch::default() };
        for column in &mut self.columns {
            let range = (self.at, self.at + rows);
            let block = match &mut column.kind {
                Kind::Values(builder) => builder.finish(),
                Kind::Arrays(arrays) => {
                    let mut block = CellBlock::default();
                    let filled = arrays.fill(range.0..range.1, &mut block, &mut batch.bad);
                    let weight = filled.map_err(|error| exception(py, &error.in_table(&self.table)))?;
                    bytes += weight + rows * VALUE_BYTES;
                    block
                }
                _ => {
                    bytes += rows * VALUE_BYTES;
                    column.read_buffer(py, range, &self.table)?
                }
            };
            batch.blocks.push(block);
        }
        if !batch.bad.is_empty() {
            batch.blank_bad_rows();
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
    fn fields(&self) -> &[FileColumn] {
        &self.fields
    }

    fn formed(&self) -> Vec<String> {
        let arrays = self.columns.iter().filter(|column| matches!(column.kind, Kind::Arrays(_)));
        arrays.map(|column| column.name.clone()).collect()
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

/// Returns whether an option of a column, `column` or `table.column`, is about this one.
pub fn is_column(option: &str, table: &str, name: &str) -> bool {
    let is_bare = option.eq_ignore_ascii_case(name);
    let in_table =
        || option.len() == table.len() + 1 + name.len() && option.eq_ignore_ascii_case(&format!("{table}.{name}"));
    is_bare || in_table()
}

impl Column {
    fn new(py: Python<'_>, name: String, source: &Bound<'_, PyAny>, table: &str, form: Option<&str>) -> PyResult<Self> {
        let part = |part: &str| -> PyResult<String> { source.getattr(part)?.extract() };
        let layout = || -> PyResult<Layout> {
            let (bytes, is_swapped) = (source.getattr("size")?.extract()?, source.getattr("is_swapped")?.extract()?);
            Ok(Layout { bytes, is_swapped })
        };
        let no_unit = |unit: &str| PyTypeError::new_err(format!("no unit of time: {unit}"));
        let kind = match &*part("kind")? {
            "int" => Kind::Int(layout()?),
            "uint" => Kind::Uint(layout()?),
            "real" => Kind::Real(layout()?),
            "date" => Kind::Date,
            "time" => {
                let unit = part("unit")?;
                let unit = Unit::of_symbol(&unit).ok_or_else(|| no_unit(&unit))?;
                Kind::Time { unit, is_instant: source.getattr("is_instant")?.extract()? }
            }
            "span" => {
                let unit = part("unit")?;
                Kind::Span(SpanUnit::of_symbol(&unit).ok_or_else(|| no_unit(&unit))?)
            }
            "arrow" => {
                let (field, arrays) = arrow_in::arrays(&source.getattr("data")?)?;
                let column = ArrayColumn::new(&name, &field, &arrays, form);
                Kind::Arrays(Box::new(column.map_err(|error| exception(py, &error.in_table(table)))?))
            }
            _ => Kind::Values(PythonColumn::default()),
        };
        let nulls = source.getattr("nulls")?;
        let nulls = if nulls.is_none() { None } else { Some(nulls.unbind()) };
        let (origin, declared) = (part("origin")?, part("declared")?);
        Ok(Self { name, origin, kind, read: source.getattr("read")?.unbind(), declared, nulls })
    }

    /// Describes the column. Python values of the first `rows` rows decide its type.
    fn field(&self, rows: u64) -> FileColumn {
        let declared_type = match &self.kind {
            Kind::Values(builder) if builder.kinds() == Kinds::NONE && !self.declared.is_empty() => &*self.declared,
            Kind::Values(builder) => return field(self.name.clone(), builder.kinds(), rows),
            Kind::Arrays(arrays) => return arrays.field().clone(),
            Kind::Int(_) | Kind::Uint(_) | Kind::Span(_) => "INTEGER",
            Kind::Real(_) => "REAL",
            Kind::Date | Kind::Time { .. } => "TEXT",
        };
        let (declared_type, reason) = (declared_type.to_owned(), self.origin.clone());
        FileColumn {
            name: self.name.clone(),
            kind: FileColumnKind::Typed { declared_type, reason: reason.into(), not_null: false },
        }
    }

    /// Refuses values that the column's type would change from now on.
    fn guard(&mut self) {
        if let Kind::Values(builder) = &mut self.kind {
            let kinds = builder.kinds();
            let declared = if kinds == Kinds::NONE { &*self.declared } else { kinds.declared_type() };
            builder.take_only(Kinds::of_declared_type(declared));
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
        match &self.kind {
            Kind::Values(_) | Kind::Arrays(_) => {}
            Kind::Int(layout) => push_ints(data, *layout, block.ints()),
            Kind::Uint(layout) => push_uints(data, *layout, block.ints())
                .map_err(|(row, value)| self.too_large(py, table, start + row, value))?,
            Kind::Real(layout) => push_reals(data, *layout, block.reals()),
            Kind::Span(_) | Kind::Date | Kind::Time { .. } => {
                let refused = |(row, value): (usize, String)| self.not_stored(py, table, start + row, value);
                self.kind.push_times(data, &mut block).map_err(refused)?;
            }
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
    fn not_stored(&self, py: Python<'_>, table: &str, row: usize, value: String) -> PyErr {
        let refusal = match self.kind {
            Kind::Span(_) => "the duration is not a whole number of microseconds of 64 bits",
            _ => "SQLite's date functions read the years 0 to 9999 only",
        };
        let error = Error::new(ErrorKind::Data, refusal).in_table(table).in_column(&self.name).with_value(value);
        exception(py, &error.in_record(row as u64 + 1).advise("convert the column to numbers or texts"))
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
    ///
    /// # Errors
    /// Position of the first value that cannot be stored, and the value.
    fn push_times(&self, data: &[u8], block: &mut CellBlock) -> Result<(), (usize, String)> {
        let mut counts = Vec::with_capacity(data.len() / size_of::<i64>());
        push_ints(data, Layout { bytes: size_of::<i64>(), is_swapped: false }, &mut counts);
        let nulls: Vec<bool> = counts.iter().map(|&count| count == NOT_A_TIME).collect();
        if let Self::Span(unit) = self {
            let ints = block.ints();
            for (row, &count) in counts.iter().enumerate() {
                let stored = if nulls[row] { Some(0) } else { unit.microseconds(count) };
                ints.push(stored.ok_or_else(|| (row, count.to_string()))?);
            }
        } else {
            let texts = block.texts();
            for (row, &count) in counts.iter().enumerate() {
                let start = texts.data().len();
                if !nulls[row] && !self.push_moment(count, texts.arena()) {
                    return Err((row, format!("'{}'", String::from_utf8_lossy(&texts.data()[start..]))));
                }
                texts.end_string();
            }
        }
        if nulls.contains(&true) {
            *block.nulls_mut() = nulls;
        }
        Ok(())
    }

    /// Appends a day or a time. Returns whether SQLite can read it.
    fn push_moment(&self, count: i64, out: &mut Vec<u8>) -> bool {
        if let Self::Time { unit, is_instant } = self {
            push_timestamp(count, *unit, *is_instant, out);
            return has_readable_year(count, *unit);
        }
        push_date(count, out);
        has_four_digit_year(count)
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
