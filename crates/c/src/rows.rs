//! Rows and columns of C.

use crate::error::{CError, Status, given, run};
use crate::writer::CWriter;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Float64Array, Int64Array, NullArray, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use litepress::{Error, ErrorKind, Result, Row, RowValues, UnsupportedValue, Value};
use std::ffi::c_void;
use std::slice;
use std::sync::Arc;

const INTEGER: i32 = 1;
const REAL: i32 = 2;
const TEXT: i32 = 3;
const BLOB: i32 = 4;
const NULL: i32 = 5;

/// A value of a row: `litepress_value`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CValue {
    kind: i32,
    content: Content,
    length: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
union Content {
    integer: i64,
    real: f64,
    bytes: *const c_void,
}

/// Bytes of a text or blob: `litepress_bytes`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CBytes {
    data: *const c_void,
    length: usize,
}

/// A column of a batch: `litepress_column`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CColumn {
    kind: i32,
    values: *const c_void,
    valid: *const u8,
}

/// The values of a row.
struct CRow<'a>(&'a [CValue]);

impl Row for CRow<'_> {
    fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
        self.0.iter().try_for_each(|value| row.push(value.get()?))
    }
}

impl CValue {
    fn get(&self) -> Result<Value<'_>, UnsupportedValue> {
        Ok(match self.kind {
            // SAFETY: the type says that the union holds an integer.
            INTEGER => Value::Int(unsafe { self.content.integer }),
            // SAFETY: the type says that the union holds a double.
            REAL => Value::Real(unsafe { self.content.real }),
            TEXT => {
                let bytes = self.bytes()?;
                let told =
                    || UnsupportedValue::new(String::from_utf8_lossy(bytes), "the text is not UTF-8", BLOB_ADVICE);
                Value::Text(std::str::from_utf8(bytes).map_err(|_| told())?)
            }
            BLOB => Value::Blob(self.bytes()?),
            NULL => Value::Null,
            other => {
                let advice = "make values with litepress_integer() and the like";
                return Err(UnsupportedValue::new(other, "this is no type of a value", advice));
            }
        })
    }

    fn bytes(&self) -> Result<&[u8], UnsupportedValue> {
        // SAFETY: the type says that the union holds a pointer.
        let data = unsafe { self.content.bytes };
        // SAFETY: the header demands that it points to `length` bytes.
        let bytes = unsafe { bytes(data, self.length) };
        bytes.ok_or_else(|| UnsupportedValue::new(self.length.cast_signed(), NO_BYTES, NO_BYTES_ADVICE))
    }
}

const BLOB_ADVICE: &str = "give it as a blob, or convert it";

const NO_BYTES: &str = "there are no bytes of this length: the pointer is NULL, or the length is negative";
const NO_BYTES_ADVICE: &str = "give the number of bytes, and NULL by its own type";

/// Returns bytes of the caller. Returns `None` if there cannot be this number of them: a length of -1, which SQLite takes for "up to the
/// NUL", is the largest `usize` here.
///
/// # Safety
/// The pointer is NULL or points to this number of bytes, which live for `'a`.
unsafe fn bytes<'a>(data: *const c_void, length: usize) -> Option<&'a [u8]> {
    if length == 0 {
        return Some(&[]);
    }
    if data.is_null() || isize::try_from(length).is_err() {
        return None;
    }
    // SAFETY: as the caller promises, and it is not NULL.
    Some(unsafe { slice::from_raw_parts(data.cast(), length) })
}

/// Returns values of the caller.
///
/// # Errors
/// If the pointer is NULL though there are values.
///
/// # Safety
/// The pointer is NULL or points to this number of values, which live for `'a`.
unsafe fn values<'a, T>(data: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    given((!data.is_null()).then_some(()), name)?;
    // SAFETY: as the caller promises, and it is not NULL.
    Ok(unsafe { slice::from_raw_parts(data, count) })
}

impl CColumn {
    /// Returns a copy of the values.
    fn array(&self, rows: usize, name: &str) -> Result<ArrayRef> {
        let told = |error: Error| error.in_column(name);
        let nulls = self.nulls(rows);
        Ok(match self.kind {
            NULL => Arc::new(NullArray::new(rows)),
            INTEGER => {
                // SAFETY: the type says that there are this number of integers.
                let integers = unsafe { values(self.values.cast::<i64>(), rows, "values") }.map_err(told)?;
                Arc::new(Int64Array::new(ScalarBuffer::from(integers.to_vec()), nulls))
            }
            REAL => {
                // SAFETY: the type says that there are this number of doubles.
                let reals = unsafe { values(self.values.cast::<f64>(), rows, "values") }.map_err(told)?;
                Arc::new(Float64Array::new(ScalarBuffer::from(reals.to_vec()), nulls))
            }
            TEXT | BLOB => {
                // SAFETY: the type says that there are this number of texts or blobs.
                let all = unsafe { values(self.values.cast::<CBytes>(), rows, "values") }.map_err(told)?;
                let (offsets, joined) = joined(all, nulls.as_ref()).map_err(told)?;
                self.bytes_array(offsets, joined, nulls, name)?
            }
            other => {
                let error = Error::new(ErrorKind::Usage, format!("{other} is no type of a column"));
                return Err(told(error));
            }
        })
    }

    fn bytes_array(
        &self,
        offsets: OffsetBuffer<i32>,
        joined: Vec<u8>,
        nulls: Option<NullBuffer>,
        name: &str,
    ) -> Result<ArrayRef> {
        let joined = Buffer::from_vec(joined);
        if self.kind == BLOB {
            return Ok(Arc::new(BinaryArray::new(offsets, joined, nulls)));
        }
        let starts = offsets.clone();
        let array = StringArray::try_new(offsets, joined.clone(), nulls);
        Ok(Arc::new(array.map_err(|_| {
            let text = |row: usize| &joined[starts[row] as usize..starts[row + 1] as usize];
            let row = (0..starts.len() - 1).find(|&row| std::str::from_utf8(text(row)).is_err());
            let error = Error::new(ErrorKind::Data, "the text is not UTF-8").in_column(name).advise(BLOB_ADVICE);
            match row {
                Some(row) => error.in_record(row as u64 + 1).with_value(String::from_utf8_lossy(text(row))),
                None => error,
            }
        })?))
    }

    fn nulls(&self, rows: usize) -> Option<NullBuffer> {
        if self.valid.is_null() || rows == 0 {
            return None;
        }
        // SAFETY: the header demands a bit for every row.
        let bits = unsafe { slice::from_raw_parts(self.valid, rows.div_ceil(8)) };
        Some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits.to_vec()), 0, rows)))
    }
}

/// Joins texts or blobs. A row without a value has an empty one.
fn joined(all: &[CBytes], nulls: Option<&NullBuffer>) -> Result<(OffsetBuffer<i32>, Vec<u8>)> {
    let is_valid = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
    let mut joined = Vec::new();
    let mut offsets = Vec::with_capacity(all.len() + 1);
    offsets.push(0);
    for (row, one) in all.iter().enumerate() {
        if is_valid(row) {
            // SAFETY: the header demands a pointer to this number of bytes.
            let bytes = unsafe { bytes(one.data, one.length) };
            joined.extend_from_slice(bytes.ok_or_else(|| {
                let error = Error::new(ErrorKind::Usage, NO_BYTES).in_record(row as u64 + 1);
                error.with_value(one.length.cast_signed().to_string()).advise(NO_BYTES_ADVICE)
            })?);
        }
        let end = i32::try_from(joined.len()).map_err(|_| {
            let message = "the texts or blobs of one column of a batch have more than 2 GiB";
            Error::new(ErrorKind::Limit, message).advise("append fewer rows at a time")
        })?;
        offsets.push(end);
    }
    Ok((OffsetBuffer::new(ScalarBuffer::from(offsets)), joined))
}

/// Makes a batch of columns.
fn batch(columns: &[CColumn], names: &[String], rows: usize) -> Result<RecordBatch> {
    if columns.len() != names.len() {
        let message = format!("{} columns were given, and the table takes {}", columns.len(), names.len());
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let arrays: Vec<ArrayRef> =
        columns.iter().zip(names).map(|(column, name)| column.array(rows, name)).collect::<Result<_>>()?;
    let field = |(name, array): (&String, &ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let schema = Schema::new(names.iter().zip(&arrays).map(field).collect::<Vec<_>>());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(schema), arrays, &options);
    batch.map_err(|error| Error::new(ErrorKind::Data, error.to_string()))
}

/// Inserts a row.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_insert(
    writer: Option<&mut CWriter>,
    table: usize,
    row: *const CValue,
    count: usize,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        let writer = given(writer, "writer")?;
        // SAFETY: the caller gives this number of values.
        let row = unsafe { values(row, count, "values") }?;
        writer.table(table)?.insert(CRow(row))?;
        writer.watch()
    })
}

/// Inserts rows that stand one after another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_insert_rows(
    writer: Option<&mut CWriter>,
    table: usize,
    all: *const CValue,
    count: usize,
    rows: usize,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        let writer = given(writer, "writer")?;
        let total = count.checked_mul(rows).ok_or_else(|| Error::new(ErrorKind::Usage, "too many values"))?;
        // SAFETY: the caller gives this number of values for each of the rows.
        let all = unsafe { values(all, total, "values") }?;
        writer.refuse_lost()?;
        let mut inserted = writer.table(table)?;
        for row in 0..rows {
            inserted.insert(CRow(&all[row * count..][..count]))?;
        }
        writer.watch()
    })
}

/// Appends rows by columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_append(
    writer: Option<&mut CWriter>,
    table: usize,
    columns: *const CColumn,
    count: usize,
    rows: usize,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        let writer = given(writer, "writer")?;
        // SAFETY: the caller gives this number of columns.
        let columns = unsafe { values(columns, count, "columns") }?;
        let batch = batch(columns, writer.columns(table)?, rows)?;
        let mut appended = writer.table(table)?;
        // Arrow has no batch without columns.
        match columns.is_empty() {
            true => (0..rows).try_for_each(|_| appended.insert(CRow(&[])))?,
            false => appended.append(&batch)?,
        }
        writer.watch()
    })
}
