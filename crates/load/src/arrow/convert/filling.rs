//! Fills a block of cells with the values of an array.

use crate::arrow::scalar::{self, MOST_BYTES, NO_UTF8, Refusal, TOO_LONG};
use crate::reader::BadRecord;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use litepress_rows::{CellBlock, Error, ErrorKind, OptionName, message};

pub(super) const NO_INTEGER: Refusal = "the value is not an integer of 64 bits";
pub(super) const NO_WHOLE_SECOND: Refusal = "the value is not a whole number of seconds";
pub(super) const TOO_MANY_DIGITS: Refusal = "the decimal has more digits than its type says";
pub(super) const NO_WHOLE_MICROSECOND: Refusal = "the duration is not a whole number of microseconds of 64 bits";
pub(super) const NO_YEAR: Refusal = "SQLite's date functions read the years 0 to 9999 only";
pub(super) const OUT_OF_RANGE: Refusal = "nanoseconds since 1970 do not fit 64 bits";

/// An array of one column's rows, its target block, and the list of bad rows.
pub(super) struct Filling<'a> {
    pub array: &'a dyn Array,
    pub block: &'a mut CellBlock,
    pub bad: &'a mut Vec<BadRecord>,
    pub name: &'a str,
}

impl Filling<'_> {
    pub fn rows(&self) -> usize {
        self.array.len()
    }

    /// Marks a row as bad. Ignores rows that are NULL, whose placeholder is arbitrary.
    pub fn refuse(&mut self, row: usize, refusal: Refusal, value: Option<String>) {
        if self.array.is_null(row) {
            return;
        }
        let error = Error::new(ErrorKind::Data, refusal).in_column(self.name);
        let error = match value {
            Some(value) => error.with_value(value),
            None => error,
        };
        let form = |form: &str| OptionName::StoreAs.pair(self.name, form);
        let advice = match refusal {
            NO_WHOLE_SECOND => Some(message!["keep fractions with ", form("real"), " or ", form("integer")]),
            NO_INTEGER => Some(message!["store the column as text with ", form("text")]),
            NO_WHOLE_MICROSECOND | TOO_MANY_DIGITS => Some(message!["keep all digits with ", form("text")]),
            NO_YEAR => Some(message!["store such dates as numbers with ", form("integer")]),
            NO_UTF8 => Some(message![
                "store the column as a blob with ",
                form("blob"),
                ", or replace wrong bytes with ",
                OptionName::InvalidUtf8.word("replace")
            ]),
            _ => None,
        };
        let error = match advice {
            Some(advice) => error.advise(advice),
            None => error,
        };
        self.bad.push(BadRecord { row, error, is_left_out: false });
    }

    /// Fills the block with texts that `push` writes one by one. Errors show the text that [`NO_YEAR`] refuses.
    pub fn texts(&mut self, mut push: impl FnMut(usize, &mut Vec<u8>) -> Result<(), Refusal>) {
        let mut refused = Vec::new();
        let texts = self.block.texts();
        for row in 0..self.array.len() {
            let start = texts.data().len();
            if !self.array.is_null(row) {
                let pushed = push(row, texts.arena());
                let is_too_long = texts.data().len() - start > MOST_BYTES;
                if let Err(refusal) = pushed.and(if is_too_long { Err(TOO_LONG) } else { Ok(()) }) {
                    let text = &texts.data()[start..];
                    let value = (refusal == NO_YEAR).then(|| format!("'{}'", String::from_utf8_lossy(text)));
                    texts.arena().truncate(start);
                    refused.push((row, refusal, value));
                }
            }
            texts.end_string();
        }
        for (row, refusal, value) in refused {
            self.refuse(row, refusal, value);
        }
    }

    /// Fills the block with integers that `make` converts one by one. `None` refuses a value.
    pub fn ints(&mut self, raw: &[i64], refusal: Refusal, make: impl Fn(i64) -> Option<i64>) {
        let mut refused = Vec::new();
        let ints = self.block.ints();
        ints.extend(raw.iter().enumerate().map(|(row, &value)| {
            make(value).unwrap_or_else(|| {
                refused.push(row);
                0
            })
        }));
        for row in refused {
            self.refuse(row, refusal, Some(raw[row].to_string()));
        }
    }

    /// Fills the block with unchanged byte strings.
    pub fn bytes(&mut self, is_text: bool) {
        if let (DataType::FixedSizeBinary(len), false) = (self.array.data_type(), is_text) {
            let (values, len) = (self.array.as_fixed_size_binary(), len.unsigned_abs() as usize);
            let bytes = self.block.blobs().fixed(values.len(), len);
            bytes.copy_from_slice(&values.value_data()[..bytes.len()]);
            return;
        }
        let mut refused = Vec::new();
        let strings = if is_text { self.block.texts() } else { self.block.blobs() };
        for row in 0..self.array.len() {
            let value = if self.array.is_null(row) { &[] } else { scalar::bytes(self.array, row) };
            if value.len() > MOST_BYTES {
                refused.push(row);
                strings.push(&[]);
            } else {
                strings.push(value);
            }
        }
        for row in refused {
            self.refuse(row, TOO_LONG, None);
        }
    }

    /// Fills the block with texts from views, the type as which texts of Parquet files are decoded.
    pub fn text_views(&mut self) {
        let views = self.array.as_string_view();
        if views.null_count() > 0 || self.array.len() == 1 {
            return self.bytes(true);
        }
        // A text longer than SQLite's limit is alone in its block, and was handled above.
        let texts = self.block.texts();
        for text in views.iter().flatten() {
            texts.push(text.as_bytes());
        }
    }
}
