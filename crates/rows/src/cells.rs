//! Blocks of cells: the values of one column for up to 1,024 rows. Generators and readers fill them, and the
//! [`Encoder`](crate::Encoder) makes records of them. A cell is here a value of a row and a column; the cells of b-tree
//! pages are in `litepress_format::cell`.

use litepress_format::value::Value;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of rows of a block: few enough to stay in the first-level cache.
pub const BLOCK_ROWS: usize = 1024;

/// The values of one column for a block of rows, before affinity.
///
/// A block is reused: [`ints`](Self::ints) and its siblings empty it, select the kind of values, and keep its memory.
#[derive(Debug, Default)]
pub struct CellBlock {
    cells: Cells,
    nulls: Vec<bool>,
}

/// Values of one kind. All rows of a block have the same kind; [`Cells::Values`] holds mixed kinds.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cells {
    /// 64-bit integers.
    Int(Vec<i64>),
    /// IEEE doubles. NaN is stored as NULL, as in SQLite.
    Real(Vec<f64>),
    /// UTF-8 texts.
    Text(Strings),
    /// Byte strings.
    Blob(Strings),
    /// Values picked from a short list, which is converted and encoded once instead of once per row.
    Choice(Choice),
    /// Values of any kind, converted one by one. This is slow.
    Values(Vec<OwnedValue>),
}

impl Default for Cells {
    fn default() -> Self {
        Self::Int(Vec::new())
    }
}

/// A value that owns its bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// NULL
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// A UTF-8 text.
    Text(String),
    /// A byte string.
    Blob(Vec<u8>),
}

impl OwnedValue {
    /// Borrows the value.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Text(value) => Value::Text(value.as_bytes()),
            Self::Blob(value) => Value::Blob(value),
        }
    }

    /// Returns the size of the value's heap memory in bytes.
    fn owned_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.capacity(),
            Self::Blob(blob) => blob.capacity(),
            Self::Null | Self::Int(_) | Self::Real(_) => 0,
        }
    }
}

/// The byte strings of a block, one after another in an arena.
#[derive(Debug, Default)]
pub struct Strings {
    data: Vec<u8>,
    ends: Vec<u32>,
    fixed_len: Option<usize>,
}

impl Strings {
    /// Removes all strings and keeps the memory.
    pub fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
        self.fixed_len = None;
    }

    /// Appends one string.
    pub fn push(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
        self.end_string();
    }

    /// Returns the arena, to append a string in pieces. [`end_string`](Self::end_string) completes it.
    pub fn arena(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Completes the string that was appended to [`arena`](Self::arena).
    ///
    /// # Panics
    /// If the strings of the block exceed 4 GiB in total.
    pub fn end_string(&mut self) {
        let end = u32::try_from(self.data.len()).expect("a block's strings stay below 4 GiB");
        self.ends.push(end);
    }

    /// Sets `count` strings of `len` bytes and returns their bytes to be written. Much faster than `count` pushes. The bytes are
    /// undefined before that.
    pub fn fixed(&mut self, count: usize, len: usize) -> &mut [u8] {
        self.clear();
        self.fixed_len = Some(len);
        self.data.resize(count * len, 0);
        &mut self.data
    }

    /// Sets the strings to those at `spans` of `text`. Much faster than a push for each.
    ///
    /// # Panics
    /// If a span is not within `text`, or the strings exceed 4 GiB in total.
    pub fn gather(&mut self, text: &[u8], spans: &[Range<usize>]) {
        // Most strings are short: copy blocks of constant length. The next string overwrites the excess.
        const BLOCK: usize = 16;
        self.clear();
        let total: usize = spans.iter().map(Range::len).sum();
        assert!(u32::try_from(total).is_ok(), "a block's strings stay below 4 GiB");
        self.data.resize(total + BLOCK, 0);
        let mut at = 0;
        for span in spans {
            let len = span.len();
            match text.get(span.start..span.start + BLOCK) {
                Some(block) if len <= BLOCK => self.data[at..at + BLOCK].copy_from_slice(block),
                _ => self.data[at..at + len].copy_from_slice(&text[span.clone()]),
            }
            at += len;
            #[expect(clippy::cast_possible_truncation, reason = "checked above")]
            self.ends.push(at as u32);
        }
        self.data.truncate(total);
        self.fixed_len = spans.first().map(Range::len).filter(|&len| spans.iter().all(|span| span.len() == len));
    }

    /// Sets the strings to those of `other`.
    fn copy_from(&mut self, other: &Self) {
        self.data.clone_from(&other.data);
        self.ends.clone_from(&other.ends);
        self.fixed_len = other.fixed_len;
    }

    /// Removes all strings from number `count` on.
    pub fn truncate(&mut self, count: usize) {
        match self.fixed_len {
            Some(len) => self.data.truncate(count * len),
            None => {
                self.ends.truncate(count);
                self.data.truncate(self.ends.last().map_or(0, |&end| end as usize));
            }
        }
    }

    /// Returns the common length of all strings, if [`fixed`](Self::fixed) or [`gather`](Self::gather) has found one.
    pub fn fixed_len(&self) -> Option<usize> {
        self.fixed_len
    }

    /// Returns the bytes of all strings, one after another.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the range of string `row` in [`data`](Self::data).
    #[inline]
    pub fn span(&self, row: usize) -> Range<usize> {
        match self.fixed_len {
            Some(len) => row * len..(row + 1) * len,
            None => {
                let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
                start..self.ends[row] as usize
            }
        }
    }

    /// Returns string `row`.
    pub fn get(&self, row: usize) -> &[u8] {
        &self.data[self.span(row)]
    }
}

/// Rows as picks from a list of values.
#[derive(Debug)]
pub struct Choice {
    /// The values to pick from. If blocks share one `Arc`, the encoder converts the values only once.
    pub values: Arc<[OwnedValue]>,
    /// The index of each row's value.
    pub picks: Vec<u32>,
}

macro_rules! refill {
    ($(#[$doc:meta])* $name:ident, $kind:ident, $inner:ty) => {
        $(#[$doc])*
        pub fn $name(&mut self) -> &mut $inner {
            self.nulls.clear();
            if !matches!(self.cells, Cells::$kind(_)) {
                self.cells = Cells::$kind(Default::default());
            }
            match &mut self.cells {
                Cells::$kind(inner) => {
                    inner.clear();
                    inner
                }
                _ => unreachable!("the kind was set above"),
            }
        }
    };
}

impl CellBlock {
    refill!(
        /// Empties the block and makes it hold integers.
        ints, Int, Vec<i64>
    );
    refill!(
        /// Empties the block and makes it hold doubles.
        reals, Real, Vec<f64>
    );
    refill!(
        /// Empties the block and makes it hold texts.
        texts, Text, Strings
    );
    refill!(
        /// Empties the block and makes it hold byte strings.
        blobs, Blob, Strings
    );
    refill!(
        /// Empties the block and makes it hold values of any kind.
        values, Values, Vec<OwnedValue>
    );

    /// Empties the block and makes it hold picks from `values`.
    pub fn picks(&mut self, values: &Arc<[OwnedValue]>) -> &mut Vec<u32> {
        self.nulls.clear();
        match &mut self.cells {
            Cells::Choice(choice) if Arc::ptr_eq(&choice.values, values) => choice.picks.clear(),
            _ => self.cells = Cells::Choice(Choice { values: values.clone(), picks: Vec::new() }),
        }
        match &mut self.cells {
            Cells::Choice(choice) => &mut choice.picks,
            _ => unreachable!("the kind was set above"),
        }
    }

    /// Copies the values of `other`, and keeps the memory.
    pub fn copy_from(&mut self, other: &Self) {
        match &other.cells {
            Cells::Int(ints) => self.ints().extend_from_slice(ints),
            Cells::Real(reals) => self.reals().extend_from_slice(reals),
            Cells::Text(texts) => self.texts().copy_from(texts),
            Cells::Blob(blobs) => self.blobs().copy_from(blobs),
            Cells::Choice(choice) => self.picks(&choice.values).extend_from_slice(&choice.picks),
            Cells::Values(values) => self.values().extend_from_slice(values),
        }
        self.nulls.clone_from(&other.nulls);
    }

    /// Returns the NULL flags, to be set after the values: empty if no row is NULL, else one flag per row. A flag overrides the
    /// row's value.
    pub fn nulls_mut(&mut self) -> &mut Vec<bool> {
        &mut self.nulls
    }

    /// Returns the NULL flags: empty if no row is NULL, else one flag per row.
    pub fn nulls(&self) -> &[bool] {
        &self.nulls
    }

    /// Sets one of `rows` rows to NULL.
    pub fn set_null(&mut self, row: usize, rows: usize) {
        self.nulls.resize(rows, false);
        self.nulls[row] = true;
    }

    /// Removes all rows from number `rows` on.
    pub fn truncate(&mut self, rows: usize) {
        self.nulls.truncate(rows);
        match &mut self.cells {
            Cells::Int(ints) => ints.truncate(rows),
            Cells::Real(reals) => reals.truncate(rows),
            Cells::Text(strings) | Cells::Blob(strings) => strings.truncate(rows),
            Cells::Choice(choice) => choice.picks.truncate(rows),
            Cells::Values(values) => values.truncate(rows),
        }
    }

    /// Frees huge values that are not needed any more. Blocks of usual size keep their memory, to be reused.
    pub fn forget_huge(&mut self) {
        const HUGE_BYTES: usize = 16 << 20;
        if self.owned_bytes() > HUGE_BYTES {
            *self = Self::default();
        }
    }

    /// Returns the bytes of the memory of texts and blobs.
    pub fn owned_bytes(&self) -> usize {
        match &self.cells {
            Cells::Text(strings) | Cells::Blob(strings) => strings.data.capacity(),
            Cells::Values(values) => values.iter().map(OwnedValue::owned_bytes).sum(),
            Cells::Int(_) | Cells::Real(_) | Cells::Choice(_) => 0,
        }
    }

    /// Returns the values.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Returns the values, to append more of the same kind.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.cells
    }

    /// Returns the value of one row, with NULL flags applied. Slow: for errors and tests.
    pub fn value(&self, row: usize) -> Value<'_> {
        if self.nulls.get(row).copied().unwrap_or(false) {
            return Value::Null;
        }
        match &self.cells {
            Cells::Int(ints) => Value::Int(ints[row]),
            Cells::Real(reals) => Value::Real(reals[row]),
            Cells::Text(texts) => Value::Text(texts.get(row)),
            Cells::Blob(blobs) => Value::Blob(blobs.get(row)),
            Cells::Choice(choice) => choice.values[choice.picks[row] as usize].as_value(),
            Cells::Values(values) => values[row].as_value(),
        }
    }
}
