//! Rows of JavaScript as arrays of bytes and numbers.

use litepress::{Error, ErrorKind, Result, TableWriter, Value};
use napi::bindgen_prelude::{Float64Array, Uint8Array};
use napi_derive::napi;

const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;
const NULL: u8 = 5;
/// A `bigint`: its number has the bits of an `i64`.
const BIG_INTEGER: u8 = 6;

/// Rows, one after another. `index.js` packs them.
#[napi(object, object_to_js = false)]
pub struct Batch {
    /// Values of a row.
    pub width: u32,
    /// Type of each value.
    pub kinds: Uint8Array,
    /// Number of each value; the bytes of a text or blob.
    pub numbers: Float64Array,
    /// UTF-8 of all texts, one after another.
    pub texts: Uint8Array,
    /// Bytes of all blobs, one after another.
    pub blobs: Uint8Array,
}

impl Batch {
    /// Inserts the rows.
    pub fn insert_into(&self, mut table: TableWriter<'_>) -> Result<()> {
        let width = (self.width as usize).max(1);
        let (kinds, numbers): (&[u8], &[f64]) = (&self.kinds, &self.numbers);
        let texts = std::str::from_utf8(&self.texts).map_err(|_| broken())?;
        let (mut texts, mut blobs): (&str, &[u8]) = (texts, &self.blobs);
        let mut row = Vec::with_capacity(width);
        for (kinds, numbers) in kinds.chunks(width).zip(numbers.chunks(width)) {
            row.clear();
            for (&kind, &number) in kinds.iter().zip(numbers) {
                row.push(match kind {
                    INTEGER => Value::Int(whole(number)),
                    BIG_INTEGER => Value::Int(number.to_bits().cast_signed()),
                    REAL => Value::Real(number),
                    TEXT => {
                        let (text, rest) = texts.split_at_checked(length(number)).ok_or_else(broken)?;
                        texts = rest;
                        Value::Text(text)
                    }
                    BLOB => {
                        let (blob, rest) = blobs.split_at_checked(length(number)).ok_or_else(broken)?;
                        blobs = rest;
                        Value::Blob(blob)
                    }
                    NULL => Value::Null,
                    _ => return Err(broken()),
                });
            }
            table.insert(row.as_slice())?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "index.js gives safe integers")]
fn whole(number: f64) -> i64 {
    number as i64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "index.js gives lengths of buffers")]
fn length(number: f64) -> usize {
    number as usize
}

/// Returns the error of arrays that do not fit each other.
fn broken() -> Error {
    Error::new(
        ErrorKind::Usage,
        "the arrays of a batch do not fit each other: index.js and the native part differ in version",
    )
}
