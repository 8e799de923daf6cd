//! The rows of one argument.

use super::json;
use super::pointers::{ArrayPointer, arrow_stream};
use crate::sqlite::{Failure, HostValue, Kind};
use arrow_array::RecordBatchReader;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;
use litepress::rows::cells::OwnedValue;
use litepress_format::value::Value;
use litepress_load::arrow::batches;
use litepress_load::options::ReadOptions;
use litepress_load::reader::{Batch, Piece, Reader};
use std::io::Cursor;

/// The beginning of an Arrow IPC file.
const FILE_MAGIC: &[u8] = b"ARROW1";
/// The beginning of an Arrow IPC stream.
const STREAM_MAGIC: &[u8] = &[0xff; 4];
/// Bytes of a number.
const NUMBER_BYTES: usize = 8;

/// The numbers in a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// 64-bit integers in the order of bytes of the machine.
    Integers,
    /// Doubles in the order of bytes of the machine.
    Doubles,
}

/// The rows of an argument. It begins before the first row.
pub enum ArgumentRows {
    /// Arrays of a C program.
    Pointer(ArrayPointer),
    /// One column of values, and the number of rows that were passed.
    Values(Vec<OwnedValue>, usize),
    /// One column of numbers, and the number of rows that were passed.
    Numbers(Vec<u8>, NumberForm, usize),
    /// Arrow data.
    Batches(Box<Batches>),
}

/// Batches of Arrow data, read piece by piece.
pub struct Batches {
    reader: Box<dyn Reader>,
    piece: Option<Box<dyn Piece>>,
    batch: Batch,
    /// Number of rows of the batch that were passed.
    passed: usize,
}

impl ArgumentRows {
    /// Returns the rows of an argument. `form` says what a blob is that is no Arrow data.
    pub fn of(value: HostValue<'_>, form: Option<NumberForm>) -> Result<Self, Failure> {
        if let Some(pointer) = ArrayPointer::of(value)? {
            return Ok(Self::Pointer(pointer));
        }
        if let Some(stream) = arrow_stream(value)? {
            return Self::of_batches(Box::new(stream));
        }
        match value.kind() {
            Kind::Text => Ok(Self::Values(json::column_of_json(value.bytes())?, 0)),
            Kind::Blob => Self::of_blob(value.bytes(), form),
            Kind::Null => Err(Failure::new(
                "it is NULL, or a pointer of another type. Types are litepress_array and litepress_arrow_stream",
            )),
            Kind::Integer | Kind::Real => Err(Failure::new("it is a number. An array is JSON, a blob or a pointer")),
        }
    }

    fn of_blob(bytes: &[u8], form: Option<NumberForm>) -> Result<Self, Failure> {
        let told = |error: ArrowError| Failure::new(format!("the Arrow data cannot be read: {error}"));
        if bytes.starts_with(FILE_MAGIC) {
            let reader = FileReader::try_new(Cursor::new(bytes.to_vec()), None).map_err(told)?;
            return Self::of_batches(Box::new(reader));
        }
        if bytes.starts_with(STREAM_MAGIC) && form.is_none() {
            let reader = StreamReader::try_new(Cursor::new(bytes.to_vec()), None).map_err(told)?;
            return Self::of_batches(Box::new(reader));
        }
        let Some(form) = form else {
            let message = "the blob is no Arrow IPC data. For numbers of 8 bytes, declare the column: CREATE VIRTUAL TABLE temp.t \
                           USING litepress_array(id INTEGER)";
            return Err(Failure::new(message));
        };
        if !bytes.len().is_multiple_of(NUMBER_BYTES) {
            return Err(Failure::new(format!("the blob has {} bytes, and a number has {NUMBER_BYTES}", bytes.len())));
        }
        Ok(Self::Numbers(bytes.to_vec(), form, 0))
    }

    fn of_batches(reader: Box<dyn RecordBatchReader + Send>) -> Result<Self, Failure> {
        let reader = batches(reader, &ReadOptions::default())?;
        Ok(Self::Batches(Box::new(Batches { reader, piece: None, batch: Batch::default(), passed: 0 })))
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Pointer(pointer) => pointer.columns(),
            Self::Values(..) | Self::Numbers(..) => 1,
            Self::Batches(batches) => batches.reader.columns().len(),
        }
    }

    /// Goes to the next row. Returns whether there is one.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Failure> {
        match self {
            Self::Pointer(pointer) => Ok(pointer.advance()),
            Self::Values(values, passed) => {
                *passed += 1;
                Ok(*passed <= values.len())
            }
            Self::Numbers(bytes, _, passed) => {
                *passed += 1;
                Ok(*passed <= bytes.len() / NUMBER_BYTES)
            }
            Self::Batches(batches) => batches.advance(),
        }
    }

    /// Returns a value of the row.
    #[inline]
    pub fn value(&self, column: usize) -> Value<'_> {
        match self {
            Self::Pointer(pointer) => pointer.value(column),
            Self::Values(values, passed) => values[*passed - 1].as_value(),
            Self::Numbers(bytes, form, passed) => {
                let at = (*passed - 1) * NUMBER_BYTES;
                let number: [u8; NUMBER_BYTES] = bytes[at..at + NUMBER_BYTES].try_into().expect("8 bytes");
                number_of(number, *form)
            }
            Self::Batches(batches) => batches.batch.blocks[column].value(batches.passed - 1),
        }
    }
}

#[expect(clippy::host_endian_bytes, reason = "they are numbers of a program on this machine")]
fn number_of(bytes: [u8; NUMBER_BYTES], form: NumberForm) -> Value<'static> {
    match form {
        NumberForm::Integers => Value::Int(i64::from_ne_bytes(bytes)),
        NumberForm::Doubles => Value::Real(f64::from_ne_bytes(bytes)),
    }
}

impl Batches {
    fn advance(&mut self) -> Result<bool, Failure> {
        self.passed += 1;
        while self.passed > self.batch.rows {
            if self.piece.is_none() {
                self.piece = self.reader.next_piece()?;
            }
            let Some(piece) = &mut self.piece else { return Ok(false) };
            let first = piece.first_record();
            piece.read(&mut self.batch)?;
            self.passed = 1;
            if self.batch.rows == 0 {
                self.piece = None;
            }
            if let Some(bad) = self.batch.bad.drain(..).next() {
                return Err(bad.error.in_record(first + bad.row as u64).into());
            }
        }
        Ok(true)
    }
}
