//! Arrays and Arrow streams of C programs, by pointers that they have bound (`litepress_extension.h`).

use crate::sqlite::{Failure, HostValue};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use litepress_format::value::Value;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::slice;

/// The type of pointers to `litepress_array`.
const ARRAY_TYPE: &CStr = c"litepress_array";
/// The type of pointers to `struct ArrowArrayStream`.
const STREAM_TYPE: &CStr = c"litepress_arrow_stream";

const INTEGER: i32 = 1;
const REAL: i32 = 2;
const TEXT: i32 = 3;
const BLOB: i32 = 4;
const NULL: i32 = 5;

/// Columns of a program: `litepress_array`.
#[repr(C)]
struct CArray {
    rows: usize,
    count: usize,
    columns: *const CColumn,
}

/// A column of a program: `litepress_column`.
#[derive(Clone, Copy)]
#[repr(C)]
struct CColumn {
    kind: i32,
    values: *const c_void,
    valid: *const u8,
}

/// A text or blob of a program: `litepress_bytes`.
#[derive(Clone, Copy)]
#[repr(C)]
struct CBytes {
    data: *const u8,
    length: usize,
}

/// Rows of arrays that the program keeps as they are while the query runs, as the header demands.
pub struct ArrayPointer {
    columns: Vec<CColumn>,
    rows: usize,
    /// Number of rows that were passed.
    passed: usize,
}

// SAFETY: the arrays are only read, and the program keeps them as they are, whichever thread steps the query.
unsafe impl Send for ArrayPointer {}

impl ArrayPointer {
    /// Returns the arrays behind a pointer. `None` if the value is none of this type.
    pub fn of(value: HostValue<'_>) -> Result<Option<Self>, Failure> {
        let Some(pointer) = value.pointer(ARRAY_TYPE) else { return Ok(None) };
        // SAFETY: the header demands that a pointer of this type is to this struct.
        let array = unsafe { pointer.cast::<CArray>().as_ref() };
        let columns = if array.count == 0 {
            Vec::new()
        } else {
            let first = NonNull::new(array.columns.cast_mut()).ok_or_else(|| Failure::new("columns is NULL"))?;
            // SAFETY: the header demands this number of columns.
            unsafe { slice::from_raw_parts(first.as_ptr(), array.count) }.to_vec()
        };
        if columns.is_empty() {
            return Err(Failure::new("the array has no columns"));
        }
        for (number, column) in columns.iter().enumerate() {
            let number = number + 1;
            if !(INTEGER..=NULL).contains(&column.kind) {
                return Err(Failure::new(format!("column {number}: {} is no type of a column", column.kind)));
            }
            if column.kind != NULL && column.values.is_null() && array.rows > 0 {
                return Err(Failure::new(format!("column {number}: values is NULL")));
            }
        }
        Ok(Some(Self { columns, rows: array.rows, passed: 0 }))
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Goes to the next row. Returns whether there is one.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.passed += 1;
        self.passed <= self.rows
    }

    /// Returns a value of the row. Texts go to SQLite as they are.
    #[inline]
    pub fn value(&self, column: usize) -> Value<'_> {
        let row = self.passed - 1;
        assert!(row < self.rows, "a row of the arrays");
        let CColumn { kind, values, valid } = self.columns[column];
        if !valid.is_null() {
            // SAFETY: the header demands a bit for every row.
            let bits = unsafe { slice::from_raw_parts(valid, self.rows.div_ceil(8)) }[row / 8];
            if bits >> (row % 8) & 1 == 0 {
                return Value::Null;
            }
        }
        match kind {
            // SAFETY: the header demands this number of integers.
            INTEGER => Value::Int(unsafe { slice::from_raw_parts(values.cast::<i64>(), self.rows) }[row]),
            // SAFETY: the header demands this number of doubles.
            REAL => Value::Real(unsafe { slice::from_raw_parts(values.cast::<f64>(), self.rows) }[row]),
            TEXT | BLOB => {
                // SAFETY: the header demands this number of texts or blobs.
                let one = unsafe { slice::from_raw_parts(values.cast::<CBytes>(), self.rows) }[row];
                let bytes = if one.length == 0 || one.data.is_null() {
                    &[]
                } else {
                    // SAFETY: the header demands a pointer to this number of bytes.
                    unsafe { slice::from_raw_parts(one.data, one.length) }
                };
                if kind == TEXT { Value::Text(bytes) } else { Value::Blob(bytes) }
            }
            _ => Value::Null,
        }
    }
}

/// Takes the Arrow stream behind a pointer. `None` if the value is none of this type.
pub fn arrow_stream(value: HostValue<'_>) -> Result<Option<RecordBatchStreamReader>, Failure> {
    let Some(pointer) = value.pointer(STREAM_TYPE) else { return Ok(None) };
    // SAFETY: the header demands an initialised stream. It is moved out, and a released one stays behind.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    if stream.release().is_none() {
        return Err(Failure::new("the stream was read before. A query can read it once"));
    }
    let reader = RecordBatchStreamReader::try_new(stream);
    reader.map(Some).map_err(|error| Failure::new(format!("the Arrow stream cannot be read: {error}")))
}
