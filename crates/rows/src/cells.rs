//! Values column by column: what generators and readers fill, and what the encoder turns into records.

use litepress_format::value::Value;
use std::ops::Range;
use std::sync::Arc;

/// Rows that are made, converted and encoded at one go: few enough to stay in the first-level cache.
pub const BLOCK_ROWS: usize = 1024;

/// The values of one column for a block of rows, before affinity.
///
/// A block is filled again and again: [`ints`](Self::ints) and its siblings hand out the emptied vector of the
/// kind asked for, with its memory kept.
#[derive(Debug, Default)]
pub struct CellBlock {
    cells: Cells,
    nulls: Vec<bool>,
}

/// Values of one kind. All rows of a block hold the same kind; what varies from row to row is [`Cells::Values`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Cells {
    /// 64-bit integers.
    Int(Vec<i64>),
    /// IEEE doubles; NaN is stored as NULL, as SQLite does.
    Real(Vec<f64>),
    /// UTF-8 texts.
    Text(Strings),
    /// Byte strings.
    Blob(Strings),
    /// Values picked from a short list, which is converted and encoded once and not once a row.
    Choice(Choice),
    /// Values of any kind, one by one: the slow way.
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
    /// The same value, borrowed.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Text(value) => Value::Text(value.as_bytes()),
            Self::Blob(value) => Value::Blob(value),
        }
    }

    /// Bytes of memory behind the value.
    fn owned_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.capacity(),
            Self::Blob(blob) => blob.capacity(),
            Self::Null | Self::Int(_) | Self::Real(_) => 0,
        }
    }
}

/// Byte strings of a block, one after another in one arena.
#[derive(Debug, Default)]
pub struct Strings {
    data: Vec<u8>,
    ends: Vec<u32>,
    fixed_len: Option<usize>,
}

impl Strings {
    /// Forgets the strings and keeps the memory.
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

    /// The arena, to append the next string in pieces; [`end_string`](Self::end_string) completes it.
    pub fn arena(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Completes the string that was appended to [`arena`](Self::arena).
    ///
    /// # Panics
    /// Where a block's strings pass 4 GiB together.
    pub fn end_string(&mut self) {
        let end = u32::try_from(self.data.len()).expect("a block's strings stay below 4 GiB");
        self.ends.push(end);
    }

    /// Makes this `count` strings of `len` bytes each and hands out their bytes to be written; much faster than
    /// `count` pushes. What the bytes held before is undefined.
    pub fn fixed(&mut self, count: usize, len: usize) -> &mut [u8] {
        self.clear();
        self.fixed_len = Some(len);
        self.data.resize(count * len, 0);
        &mut self.data
    }

    /// Makes this the strings that lie at `spans` of `text`; much faster than so many pushes.
    ///
    /// # Panics
    /// Where a span is not within `text`, or where the strings pass 4 GiB together.
    pub fn gather(&mut self, text: &[u8], spans: &[Range<usize>]) {
        // Most strings are short: a block of constant length is copied, and what follows overwrites the rest.
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

    /// Makes this the same strings as `other`.
    fn copy_from(&mut self, other: &Self) {
        self.data.clone_from(&other.data);
        self.ends.clone_from(&other.ends);
        self.fixed_len = other.fixed_len;
    }

    /// Takes back all strings from this one on.
    pub fn truncate(&mut self, count: usize) {
        match self.fixed_len {
            Some(len) => self.data.truncate(count * len),
            None => {
                self.ends.truncate(count);
                self.data.truncate(self.ends.last().map_or(0, |&end| end as usize));
            }
        }
    }

    /// The common length of all strings, where [`fixed`](Self::fixed) or [`gather`](Self::gather) know one.
    pub fn fixed_len(&self) -> Option<usize> {
        self.fixed_len
    }

    /// All bytes, one string after another.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Where string `row` lies in [`data`](Self::data).
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

    /// String `row`.
    pub fn get(&self, row: usize) -> &[u8] {
        &self.data[self.span(row)]
    }
}

/// Rows that pick from a list of values.
#[derive(Debug)]
pub struct Choice {
    /// The values to pick from. The same `Arc` block after block lets the encoder keep what it made of them.
    pub values: Arc<[OwnedValue]>,
    /// For each row the index of its value.
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

    /// Makes this the same values as `other`, with the memory kept.
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

    /// Which rows are NULL whatever their value says: empty (none is) or one flag a row. To be set after the values.
    pub fn nulls_mut(&mut self) -> &mut Vec<bool> {
        &mut self.nulls
    }

    /// Which rows are NULL: empty (none is) or one flag a row.
    pub fn nulls(&self) -> &[bool] {
        &self.nulls
    }

    /// Makes one row of `rows` NULL.
    pub fn set_null(&mut self, row: usize, rows: usize) {
        self.nulls.resize(rows, false);
        self.nulls[row] = true;
    }

    /// Gives back the memory of huge values, which are not needed any more. Blocks of usual size keep theirs, to be filled
    /// again.
    pub fn forget_huge(&mut self) {
        const HUGE_BYTES: usize = 16 << 20;
        let bytes = match &self.cells {
            Cells::Text(strings) | Cells::Blob(strings) => strings.data.capacity(),
            Cells::Values(values) => values.iter().map(OwnedValue::owned_bytes).sum(),
            Cells::Int(_) | Cells::Real(_) | Cells::Choice(_) => 0,
        };
        if bytes > HUGE_BYTES {
            *self = Self::default();
        }
    }

    /// The values.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The values, to go on with those of the kind that is there.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.cells
    }

    /// The value of one row, NULL flags applied: for errors and tests, not for speed.
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
