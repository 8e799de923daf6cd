//! Gathers the values of columns row by row: as integers, doubles or texts while a batch has one kind, else as any values.

use super::record::IGNORED;
use super::value::{Item, Sink};
use crate::infer::{Meaning, SURE_DIGITS, is_rounded};
use crate::reader::{Batch, RoundedNumber};
use litepress_format::value::Value;
use litepress_rows::cells::{OwnedValue, Strings};
use litepress_rows::{Affinity, CellBlock};

/// All integers up to this one are doubles.
const MOST_EXACT: u64 = 1 << 53;

const BEYOND_RANGE: &str = "number beyond the range of a double";

/// The columns of a batch.
#[derive(Debug)]
pub(crate) struct Columns(Vec<Column>);

impl Columns {
    /// Creates columns of these affinities.
    pub fn new(affinities: &[Affinity]) -> Self {
        let column = |&affinity| Column {
            affinity,
            rows: 0,
            filling: Filling::Nothing,
            nulls: Vec::new(),
            rounded: Vec::new(),
            block: CellBlock::default(),
        };
        Self(affinities.iter().map(column).collect())
    }

    /// Begins a batch without rows. Reuses the memory of `blocks`.
    pub fn begin(&mut self, blocks: &mut [CellBlock]) {
        for (column, block) in self.0.iter_mut().zip(blocks) {
            column.begin(std::mem::take(block));
        }
    }

    /// Returns whether the last row has a value for a column.
    #[inline]
    pub fn has_value(&self, column: usize, row: usize) -> bool {
        self.0[column].rows > row
    }

    /// Completes a row: columns without a value become NULL, or all columns if the row is bad.
    #[inline]
    pub fn end_row(&mut self, row: usize, is_bad: bool) {
        for column in &mut self.0 {
            if column.rows == row {
                column.push_null();
            } else if is_bad {
                column.flag_null(row);
            }
        }
    }

    /// Moves the columns to the blocks of a batch.
    pub fn finish(&mut self, batch: &mut Batch) {
        for (at, (column, block)) in self.0.iter_mut().zip(&mut batch.blocks).enumerate() {
            *block = column.finish();
            let rounded = column.rounded.drain(..);
            batch.rounded.extend(rounded.map(|(row, text)| RoundedNumber { block: at, row, text }));
        }
    }
}

impl Sink for Columns {
    #[inline]
    fn take(&mut self, target: usize, item: Item<'_>) -> Result<(), &'static str> {
        if target == IGNORED { Ok(()) } else { self.0[target].push(item) }
    }
}

#[derive(Debug)]
struct Column {
    affinity: Affinity,
    rows: usize,
    filling: Filling,
    /// NULL flags up to the last row that is NULL.
    nulls: Vec<bool>,
    /// Rows and texts of numbers that are rounded.
    rounded: Vec<(usize, String)>,
    /// The block whose memory the filling uses, and gets back.
    block: CellBlock,
}

/// The values so far, with placeholders for NULLs.
#[derive(Debug)]
enum Filling {
    /// All values are NULL.
    Nothing,
    Ints(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Strings),
    Values(Vec<OwnedValue>),
}

impl Column {
    fn begin(&mut self, mut block: CellBlock) {
        self.rows = 0;
        self.nulls = std::mem::take(block.nulls_mut());
        self.nulls.clear();
        self.rounded.clear();
        self.block = block;
        self.filling = Filling::Nothing;
    }

    #[inline]
    fn push(&mut self, item: Item<'_>) -> Result<(), &'static str> {
        let is_text = self.affinity == Affinity::Text;
        match item {
            Item::Null => self.push_null(),
            Item::Int(int, text) if !is_text => {
                if self.affinity == Affinity::Real && int.unsigned_abs() > MOST_EXACT {
                    self.note_rounded(text);
                }
                self.push_int(int);
            }
            Item::Int(_, text) | Item::Text(text) | Item::Nested(text) => self.push_text(text),
            // In a column of numbers it is converted like its texts.
            Item::Word(word, _) if self.affinity != Affinity::Blob => self.push_text(word),
            Item::Word(_, Meaning::Missing) => self.push_null(),
            Item::Word(_, Meaning::Infinite(real)) => self.push_value(Value::Real(real)),
            Item::Number(text) if is_text => self.push_text(text),
            Item::Number(number) => self.push_real(number)?,
            Item::Boolean(flag) if is_text => self.push_text(if flag { b"true" } else { b"false" }),
            Item::Boolean(flag) => self.push_int(flag.into()),
            Item::Blob(blob) => self.push_value(Value::Blob(blob)),
        }
        Ok(())
    }

    #[inline]
    fn push_int(&mut self, int: i64) {
        match &mut self.filling {
            Filling::Ints(ints) => ints.push(int),
            // The column converts integers to doubles anyway.
            Filling::Reals(reals) if self.affinity == Affinity::Real => reals.push(int as f64),
            _ => return self.push_value(Value::Int(int)),
        }
        self.rows += 1;
    }

    #[inline]
    fn push_text(&mut self, text: &[u8]) {
        match &mut self.filling {
            Filling::Texts(texts) => texts.push(text),
            _ => return self.push_value(Value::Text(text)),
        }
        self.rows += 1;
    }

    fn push_real(&mut self, number: &[u8]) -> Result<(), &'static str> {
        let real: f64 = std::str::from_utf8(number)
            .ok()
            .and_then(|number| number.parse().ok())
            .expect("a number that is written as JSON has it has a double");
        if real.is_infinite() {
            // A column without a type keeps texts beside numbers.
            if self.affinity != Affinity::Blob {
                return Err(BEYOND_RANGE);
            }
            self.push_text(number);
            return Ok(());
        }
        self.note_rounded(number);
        match &mut self.filling {
            Filling::Reals(reals) => reals.push(real),
            _ => {
                self.push_value(Value::Real(real));
                return Ok(());
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Keeps the text of a number whose double does not have all its digits.
    #[inline]
    fn note_rounded(&mut self, number: &[u8]) {
        if number.len() > SURE_DIGITS && is_rounded(number) {
            self.rounded.push((self.rows, String::from_utf8_lossy(number).into_owned()));
        }
    }

    fn push_null(&mut self) {
        match &mut self.filling {
            Filling::Nothing => {}
            Filling::Ints(ints) => ints.push(0),
            Filling::Reals(reals) => reals.push(0.0),
            Filling::Texts(texts) => texts.push(b""),
            Filling::Values(values) => values.push(OwnedValue::Null),
        }
        self.rows += 1;
        self.flag_null(self.rows - 1);
    }

    fn flag_null(&mut self, row: usize) {
        if self.nulls.len() <= row {
            self.nulls.resize(row + 1, false);
        }
        self.nulls[row] = true;
    }

    /// Appends a value of another kind than the values so far.
    #[cold]
    #[inline(never)]
    fn push_value(&mut self, value: Value<'_>) {
        if matches!(self.filling, Filling::Nothing) {
            self.begin_with(value);
        } else {
            self.become_values();
        }
        match (&mut self.filling, value) {
            (Filling::Ints(ints), Value::Int(int)) => ints.push(int),
            (Filling::Reals(reals), Value::Int(int)) => reals.push(int as f64),
            (Filling::Reals(reals), Value::Real(real)) => reals.push(real),
            (Filling::Texts(texts), Value::Text(text)) => texts.push(text),
            (Filling::Values(values), value) => values.push(owned(value)),
            (filling, value) => unreachable!("{filling:?} was chosen for {value:?}"),
        }
        self.rows += 1;
    }

    /// Chooses the filling for the first value that is not NULL: the others are likely to be of its kind.
    fn begin_with(&mut self, value: Value<'_>) {
        let rows = self.rows;
        self.filling = match value {
            Value::Int(_) if self.affinity != Affinity::Real => {
                let mut ints = std::mem::take(self.block.ints());
                ints.resize(rows, 0);
                Filling::Ints(ints)
            }
            Value::Int(_) | Value::Real(_) => {
                let mut reals = std::mem::take(self.block.reals());
                reals.resize(rows, 0.0);
                Filling::Reals(reals)
            }
            Value::Text(_) => {
                let mut texts = std::mem::take(self.block.texts());
                (0..rows).for_each(|_| texts.push(b""));
                Filling::Texts(texts)
            }
            Value::Null | Value::Blob(_) => {
                let mut values = std::mem::take(self.block.values());
                values.resize(rows, OwnedValue::Null);
                Filling::Values(values)
            }
        };
    }

    fn become_values(&mut self) {
        if matches!(self.filling, Filling::Values(_)) {
            return;
        }
        let nulls = std::mem::take(&mut self.nulls);
        let block = self.finish_with_nulls(nulls);
        let values = (0..self.rows).map(|row| owned(block.value(row))).collect();
        self.nulls = block.nulls().to_vec();
        self.filling = Filling::Values(values);
    }

    fn finish(&mut self) -> CellBlock {
        let nulls = std::mem::take(&mut self.nulls);
        self.finish_with_nulls(nulls)
    }

    fn finish_with_nulls(&mut self, mut nulls: Vec<bool>) -> CellBlock {
        let mut block = std::mem::take(&mut self.block);
        match std::mem::replace(&mut self.filling, Filling::Nothing) {
            Filling::Nothing => block.ints().resize(self.rows, 0),
            Filling::Ints(ints) => *block.ints() = ints,
            Filling::Reals(reals) => *block.reals() = reals,
            Filling::Texts(texts) => *block.texts() = texts,
            Filling::Values(values) => *block.values() = values,
        }
        if !nulls.is_empty() {
            nulls.resize(self.rows, false);
        }
        *block.nulls_mut() = nulls;
        block
    }
}

fn owned(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(String::from_utf8(text.to_vec()).expect("texts of JSON are UTF-8")),
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}
