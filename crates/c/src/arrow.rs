//! Batches over the Arrow C interfaces.

use crate::error::{CError, Status, given, run, text};
use crate::writer::CWriter;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType};
use litepress::{Error, ErrorKind, Result};
use std::ffi::c_char;

fn told(error: &ArrowError) -> Error {
    Error::new(ErrorKind::Data, format!("the Arrow data cannot be read: {error}"))
}

/// Appends all batches of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_append_stream(
    writer: Option<&mut CWriter>,
    table: *const c_char,
    stream: *mut FFI_ArrowArrayStream,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        let stream = given((!stream.is_null()).then_some(stream), "stream")?;
        // SAFETY: the caller gives an initialised stream. It is moved out, and a released one stays behind.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream) };
        let writer = given(writer, "writer")?;
        // SAFETY: the caller gives a text that ends with a NUL, or NULL.
        let table = unsafe { text(table, "table") }?;
        if stream.release().is_none() {
            return Err(Error::new(ErrorKind::Usage, "the stream was released before"));
        }
        let batches = RecordBatchStreamReader::try_new(stream).map_err(|error| told(&error))?;
        let mut has_begun = false;
        for batch in batches {
            let batch = batch.map_err(|error| told(&error).in_table(table));
            let appended = batch.and_then(|batch| writer.table_by_name(table)?.append(&batch));
            // The first batches alone must not be published.
            appended.map_err(|error| if has_begun { writer.end(error) } else { error })?;
            has_begun = true;
            writer.watch()?;
        }
        Ok(())
    })
}

/// Appends one batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_append_array(
    writer: Option<&mut CWriter>,
    table: *const c_char,
    array: *mut FFI_ArrowArray,
    schema: *mut FFI_ArrowSchema,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        let array = given((!array.is_null()).then_some(array), "array")?;
        // SAFETY: the caller gives an initialised array. It is moved out, and a released one stays behind.
        let array = unsafe { FFI_ArrowArray::from_raw(array) };
        let schema = given((!schema.is_null()).then_some(schema), "schema")?;
        // SAFETY: as above.
        let schema = unsafe { FFI_ArrowSchema::from_raw(schema) };
        let writer = given(writer, "writer")?;
        // SAFETY: the caller gives a text that ends with a NUL, or NULL.
        let table = unsafe { text(table, "table") }?;
        let batch = batch(array, &schema)?;
        writer.table_by_name(table)?.append(&batch)?;
        writer.watch()
    })
}

fn batch(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> Result<RecordBatch> {
    if array.is_released() || schema.release().is_none() {
        return Err(Error::new(ErrorKind::Usage, "the array or its schema was released before"));
    }
    // SAFETY: the caller promises that the schema describes the array.
    let data = unsafe { from_ffi(array, schema) }.map_err(|error| told(&error))?;
    let DataType::Struct(_) = data.data_type() else {
        return Err(Error::new(
            ErrorKind::Data,
            format!("a batch is a struct array, and this is {}", data.data_type()),
        ));
    };
    let array = StructArray::from(data);
    if array.null_count() > 0 {
        return Err(Error::new(ErrorKind::Data, "a row of a batch is not NULL as a whole: its columns are"));
    }
    Ok(RecordBatch::from(array))
}
