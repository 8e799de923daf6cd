//! Imports Arrow data of other libraries through the Arrow PyCapsule interface.
//!
//! A capsule holds a pointer to a struct of the Arrow C data interface. The consumer moves the struct out and leaves a released
//! one behind. So the capsule's destructor has nothing to release, and a second consumer finds no data.
//!
//! **All of the crate's `unsafe` is here.** The lengths and buffers in the structs are trusted: there is no way to check them.
//! Contents are checked later (`array_as_bytes` in `crates/load`: texts need not be UTF-8).

use crate::engine_thread;
use crate::errors::exception;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, make_array,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use litepress::{Error, ErrorKind};
use litepress_load::arrow::{self, BatchFacts};
use litepress_load::options::ReadOptions;
use litepress_load::reader::Reader;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

type Batches = Box<dyn RecordBatchReader + Send>;

/// Opens `_data.Arrow`. Streams with decimals whose values decide their type are begun here: Ctrl-C is heard meanwhile.
///
/// # Errors
/// As [`batches`]; errors of the stream's beginning.
pub fn reader(described: &Bound<'_, PyAny>, table: &str) -> PyResult<Box<dyn Reader>> {
    let py = described.py();
    let data = described.getattr("data")?;
    let batches = batches(&data).map_err(|error| of_library(py, error, table))?;
    let facts = BatchFacts {
        is_in_memory: described.getattr("is_in_memory")?.extract()?,
        untyped: described.getattr("untyped")?.extract()?,
    };
    let reads_ahead = batches.schema().fields().iter().any(|field| arrow::reads_ahead(field.data_type()));
    let open = || arrow::batches_with(batches, &ReadOptions::default(), &facts).map_err(|error| error.in_table(table));
    if reads_ahead {
        return engine_thread::run(py, &Arc::default(), None, Vec::new(), open);
    }
    open().map_err(|error| exception(py, &error))
}

/// Turns an exception of a library that makes Arrow data into one of the package, with the table. Others stay as they are.
fn of_library(py: Python<'_>, error: PyErr, table: &str) -> PyErr {
    let module = error.get_type(py).getattr("__module__").and_then(|module| module.extract::<String>());
    let module = module.unwrap_or_default();
    let package = module.split('.').next().unwrap_or_default().trim_start_matches('_');
    if !matches!(package, "pyarrow" | "polars" | "duckdb" | "pandas" | "adbc_driver_manager") {
        return error;
    }
    let message = format!("{package} cannot give the data: {}", error.value(py));
    let made = exception(py, &Error::new(ErrorKind::Data, message).in_table(table));
    made.set_cause(py, Some(error));
    made
}

/// Returns the record batches of an object with `__arrow_c_stream__` or `__arrow_c_array__`. Reads no batch of a stream yet.
///
/// # Errors
/// `TypeError` for objects that have neither, and for data that are no table; `ValueError` for a capsule that was taken
/// before; exceptions of the object itself.
fn batches(data: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if data.hasattr("__arrow_c_stream__")? {
        return of_stream(&data.call_method0("__arrow_c_stream__")?);
    }
    if data.hasattr("__arrow_c_array__")? {
        return of_array(array_in(data)?);
    }
    let kind = data.get_type().name()?;
    if data.hasattr("__arrow_c_schema__")? {
        return Err(PyTypeError::new_err(format!("{kind} is an Arrow schema, which has no rows: pass data")));
    }
    Err(PyTypeError::new_err(format!("{kind} does not speak Arrow: it has no __arrow_c_stream__ or __arrow_c_array__")))
}

/// Returns the arrays of one column, from an array or a stream of arrays, and their field.
///
/// # Errors
/// As [`batches`].
pub fn arrays(data: &Bound<'_, PyAny>) -> PyResult<(FieldRef, Vec<ArrayRef>)> {
    if data.hasattr("__arrow_c_stream__")? {
        let reader = stream(&data.call_method0("__arrow_c_stream__")?)?;
        let field = reader.field().clone();
        let arrays = reader.collect::<Result<_, _>>().map_err(|error| refused(&told(error)))?;
        return Ok((field, arrays));
    }
    let (field, array) = array_in(data)?;
    Ok((Arc::new(field), vec![array]))
}

fn of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let arrays = stream(capsule)?;
    let schema = schema_of(arrays.field())?;
    Ok(Box::new(Tables { arrays, schema }))
}

fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let pointer = pointer::<FFI_ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    // SAFETY: a capsule of this name points to an initialised stream, which lives as long as the capsule. This thread holds
    // the interpreter, so no other uses the stream meanwhile. The stream is moved out and leaves a released one behind.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    if stream.release().is_none() {
        return Err(taken());
    }
    ArrayStreamReader::try_new(stream).map_err(|error| refused(&error))
}

fn of_array((field, array): (Field, ArrayRef)) -> PyResult<Batches> {
    let table = schema_of(&field)?;
    let batch = as_batch(&array, &table).map_err(|error| refused(&error))?;
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], table)))
}

/// Returns the array of an object with `__arrow_c_array__`, and its field.
fn array_in(data: &Bound<'_, PyAny>) -> PyResult<(Field, ArrayRef)> {
    let capsules = data.call_method0("__arrow_c_array__")?;
    let Ok((schema, array)) = capsules.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return Err(PyTypeError::new_err("__arrow_c_array__ has not returned two capsules"));
    };
    let (schema, array) = (&schema, &array);
    let schema = pointer::<FFI_ArrowSchema>(schema, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(array, c"arrow_array")?;
    // SAFETY: as for streams: a capsule of this name points to an initialised schema, and it is moved out.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_ptr()) };
    // SAFETY: as above: a capsule of this name points to an initialised array, and it is moved out.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    if array.is_released() || schema.release().is_none() {
        return Err(taken());
    }
    let field = Field::try_from(&schema).map_err(|error| refused(&error))?;
    // SAFETY: both come from one call of `__arrow_c_array__`, whose schema describes the array.
    let data = unsafe { from_ffi_and_data_type(array, field.data_type().clone()) };
    Ok((field, make_array(data.map_err(|error| refused(&error))?)))
}

/// Returns the pointer in a capsule of this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    let wrong = |_| {
        let name = name.to_string_lossy();
        PyTypeError::new_err(format!("the Arrow data do not come in a capsule that is called {name}"))
    };
    let capsule = capsule.cast::<PyCapsule>().map_err(|error| wrong(error.into()))?;
    Ok(capsule.pointer_checked(Some(name)).map_err(wrong)?.cast())
}

/// Returns the columns of a table: the fields of its struct.
fn schema_of(field: &Field) -> PyResult<SchemaRef> {
    match field.data_type() {
        DataType::Struct(fields) => Ok(Arc::new(Schema::new(fields.clone()))),
        other => {
            let message = format!(
                "the Arrow data are one array of {other}, and no table: pass a table whose columns have names, \
                 such as pyarrow.table({{'name': array}})"
            );
            Err(PyTypeError::new_err(message))
        }
    }
}

fn taken() -> PyErr {
    PyValueError::new_err("the Arrow data were taken before: a stream can be read only once")
}

fn refused(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data cannot be taken: {error}"))
}

/// A stream of struct arrays, read as record batches.
struct Tables {
    arrays: ArrayStreamReader,
    schema: SchemaRef,
}

impl Iterator for Tables {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = self.arrays.next()?;
        Some(array.map_err(told).and_then(|array| as_batch(&array, &self.schema)))
    }
}

impl RecordBatchReader for Tables {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn as_batch(array: &ArrayRef, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let table = array.as_struct();
    if table.null_count() > 0
        && let Some(row) = (0..table.len()).find(|&row| table.is_null(row))
    {
        let message = format!("row {} of the batch is null as a whole", row + 1);
        return Err(ArrowError::ExternalError(message.into()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(table.len()));
    RecordBatch::try_new_with_options(schema.clone(), table.columns().to_vec(), &options)
}

/// Reduces an error of a stream to the producer's own message, without the reader's prefix.
fn told(error: ArrowError) -> ArrowError {
    const MARK: &str = "Producer error: ";
    match &error {
        ArrowError::CDataInterface(message) => match message.split_once(MARK) {
            Some((_, said)) => ArrowError::ExternalError(said.trim_end().into()),
            None => error,
        },
        _ => error,
    }
}
