//! Encodes one column of a block: its texts become values by affinity and rules, then serial types and bodies.

use crate::affinity::{self, Affinity};
use crate::cells::{CellBlock, Cells, Choice, OwnedValue, Strings};
use crate::error::quote;
use crate::{Column, Error, ErrorKind};
use litepress_format::record::{self, int_serial, serial};
use litepress_format::value::Value;
use std::sync::Arc;

/// The rules of a column.
#[derive(Debug)]
pub(super) struct Rule {
    pub name: String,
    affinity: Affinity,
    not_null: bool,
    strict: Option<StrictType>,
    choices: Option<Choices>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StrictType {
    Int,
    Real,
    Text,
    Blob,
    Any,
}

/// The serial types and bodies of a column's rows.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Serial type of each row. Texts and blobs are shorter than 10^9 bytes, so it fits.
    pub serials: Vec<u32>,
    /// For [`Bodies::Words`]: the body of each row in the highest bytes, so that a big-endian write begins with the body.
    pub words: Vec<u64>,
    pub bodies: Bodies,
    /// For [`Bodies::Own`]: converted bodies.
    pub own: Strings,
    /// The common shape, if every row has a one-byte serial type and a body of one length.
    pub shape: Option<Shape>,
    /// Total size of all bodies in bytes.
    pub body_bytes: u64,
    /// The largest serial type.
    pub max_serial: u32,
    /// `false` if no row can be NULL.
    may_hold_null: bool,
    /// Rows whose text is cut at a NUL to become a number.
    pub cut: Vec<usize>,
}

/// The location of a slot's bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Bodies {
    /// In [`Slot::words`].
    #[default]
    Words,
    /// In the strings of the block of cells itself.
    Cells,
    /// In [`Slot::own`].
    Own,
}

/// The common properties of all rows of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The serial type, if it is the same in every row.
    pub serial: Option<u8>,
    /// Size of each body in bytes.
    pub body_len: usize,
}

/// A row that breaks a rule.
pub(super) struct Fault {
    pub row: usize,
    why: String,
    /// The value's type is wrong for a STRICT table.
    pub is_type: bool,
}

/// Exceptions from a column's rules.
#[derive(Clone, Copy)]
pub(super) struct RuleExceptions<'e> {
    /// Rows that get no record.
    pub left_out: &'e SkippedRows,
    /// Rows whose types SQLite checks.
    pub unchecked: &'e SkippedRows,
}

/// Rows of a block that get no record.
#[derive(Debug, Default)]
pub struct SkippedRows {
    /// One flag per row. Empty if all rows stay.
    flags: Vec<bool>,
}

impl SkippedRows {
    /// Returns whether this row gets no record.
    #[inline]
    pub fn has(&self, row: usize) -> bool {
        !self.flags.is_empty() && self.flags[row]
    }

    /// Returns whether all rows stay.
    pub fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// Makes all rows stay.
    pub fn clear(&mut self) {
        self.flags.clear();
    }

    /// Leaves a row out of a block of at most [`BLOCK_ROWS`](crate::cells::BLOCK_ROWS) rows.
    pub fn add(&mut self, row: usize) {
        self.flags.resize(crate::cells::BLOCK_ROWS, false);
        self.flags[row] = true;
    }
}

impl Fault {
    pub fn explain(&self, table: &str, column: &str, block: &CellBlock, first_record: u64) -> Error {
        Error::new(ErrorKind::Constraint, self.why.clone())
            .in_table(table)
            .in_column(column)
            .in_record(first_record + self.row as u64)
            .with_value(quote(&block.value(self.row)))
    }
}

impl Rule {
    pub fn new(column: &Column, strict: bool, not_null: bool) -> Self {
        let strict = strict.then(|| match column.declared_type.to_ascii_uppercase().as_str() {
            "INT" | "INTEGER" => StrictType::Int,
            "REAL" => StrictType::Real,
            "TEXT" => StrictType::Text,
            "BLOB" => StrictType::Blob,
            _ => StrictType::Any,
        });
        Self { name: column.name.clone(), affinity: column.affinity, not_null, strict, choices: None }
    }

    /// Fills `slot` with the stored values of the first `rows` rows of `block`. Rows that are left out may hold any value.
    pub fn fill(
        &mut self,
        block: &CellBlock,
        rows: usize,
        exempt: RuleExceptions<'_>,
        slot: &mut Slot,
    ) -> Result<(), Fault> {
        slot.clear();
        match block.cells() {
            Cells::Int(ints) if self.keeps_ints() => slot.fill_ints(&ints[..rows]),
            Cells::Real(reals) if self.keeps_reals() => self.fill_reals(&reals[..rows], slot),
            Cells::Text(texts) if self.keeps_texts() => slot.fill_strings(texts, rows, 13),
            Cells::Blob(blobs) if self.keeps_blobs() => slot.fill_strings(blobs, rows, 12),
            Cells::Choice(choice) if exempt.unchecked.is_empty() => self.fill_choice(choice, rows, exempt, slot)?,
            Cells::Text(texts) if self.keeps_all(texts, block.nulls(), rows) => slot.fill_strings(texts, rows, 13),
            Cells::Text(texts) if self.fill_numbers(texts, block.nulls(), rows, slot) => {
                return self.refuse_nulls(exempt.left_out, slot);
            }
            _ => return self.fill_one_by_one(block, rows, exempt, slot),
        }
        if !block.nulls().is_empty() {
            slot.set_nulls(&block.nulls()[..rows]);
        }
        self.refuse_nulls(exempt.left_out, slot)
    }

    /// Returns whether NULL breaks a rule.
    pub fn refuses_null(&self) -> bool {
        self.not_null
    }

    /// Returns whether integers are stored unchanged.
    pub fn keeps_ints(&self) -> bool {
        matches!(self.affinity, Affinity::Integer | Affinity::Numeric | Affinity::Blob)
            && matches!(self.strict, None | Some(StrictType::Int | StrictType::Any))
    }

    fn keeps_reals(&self) -> bool {
        matches!(self.affinity, Affinity::Real | Affinity::Blob)
            && matches!(self.strict, None | Some(StrictType::Real | StrictType::Any))
    }

    fn keeps_texts(&self) -> bool {
        matches!(self.affinity, Affinity::Text | Affinity::Blob)
            && matches!(self.strict, None | Some(StrictType::Text | StrictType::Any))
    }

    fn keeps_blobs(&self) -> bool {
        matches!(self.strict, None | Some(StrictType::Blob | StrictType::Any))
    }

    fn refuse_nulls(&self, left_out: &SkippedRows, slot: &Slot) -> Result<(), Fault> {
        if !self.not_null || !slot.may_hold_null {
            return Ok(());
        }
        match (0..slot.serials.len()).find(|&row| slot.is_null(row) && !left_out.has(row)) {
            None => Ok(()),
            Some(row) => Err(Fault { row, why: "NULL in a NOT NULL column".to_owned(), is_type: false }),
        }
    }

    fn fill_reals(&self, reals: &[f64], slot: &mut Slot) {
        let as_integers = self.affinity == Affinity::Real;
        for &real in reals {
            match affinity::real_as_integer(real).filter(|_| as_integers) {
                Some(int) => slot.push_int(int),
                None if real.is_nan() => {
                    slot.push_word(0, 0, 0);
                    slot.may_hold_null = true;
                }
                None => slot.push_word(7, real.to_bits(), 8),
            }
        }
        slot.settle_words();
    }

    /// Returns whether texts may become numbers.
    fn prefers_numbers(&self) -> bool {
        matches!(self.affinity, Affinity::Integer | Affinity::Numeric | Affinity::Real)
    }

    /// Returns whether the column keeps all these texts, because none is a number: dates in a DATE column.
    fn keeps_all(&self, texts: &Strings, nulls: &[bool], rows: usize) -> bool {
        self.strict.is_none()
            && self.prefers_numbers()
            && (0..rows).all(|row| nulls.get(row) == Some(&true) || affinity::is_plainly_no_number(texts.get(row)))
    }

    /// Fills `slot` with the numbers in texts, if every text is a number that the column accepts. Otherwise empties the slot
    /// and returns `false`.
    fn fill_numbers(&self, texts: &Strings, nulls: &[bool], rows: usize, slot: &mut Slot) -> bool {
        let takes_reals = self.strict != Some(StrictType::Int);
        let is_real = self.affinity == Affinity::Real;
        slot.may_hold_null = !nulls.is_empty();
        let is_filled = self.prefers_numbers()
            && (0..rows).all(|row| {
                if nulls.get(row) == Some(&true) {
                    slot.push_word(0, 0, 0);
                    return true;
                }
                match affinity::apply_to_number(texts.data(), texts.span(row), self.affinity) {
                    Some(Value::Int(int)) => slot.push_int(int),
                    Some(Value::Real(real)) if takes_reals => {
                        match affinity::real_as_integer(real).filter(|_| is_real) {
                            Some(int) => slot.push_int(int),
                            None => slot.push_word(7, real.to_bits(), 8),
                        }
                    }
                    _ => return false,
                }
                true
            });
        if is_filled {
            slot.settle_words();
        } else {
            slot.clear();
        }
        is_filled
    }

    fn fill_choice(
        &mut self,
        choice: &Choice,
        rows: usize,
        exempt: RuleExceptions<'_>,
        slot: &mut Slot,
    ) -> Result<(), Fault> {
        let picks = &choice.picks[..rows];
        let known = self.choices.take().filter(|known| Arc::ptr_eq(&known.values, &choice.values));
        let choices = known.unwrap_or_else(|| Choices::new(self, &choice.values));
        let filled = choices.fill(picks, exempt.left_out, slot);
        self.choices = Some(choices);
        filled
    }

    fn fill_one_by_one(
        &self,
        block: &CellBlock,
        rows: usize,
        exempt: RuleExceptions<'_>,
        slot: &mut Slot,
    ) -> Result<(), Fault> {
        for row in 0..rows {
            if exempt.left_out.has(row) {
                slot.push_own(Value::Null);
                continue;
            }
            let strict = self.strict.filter(|_| !exempt.unchecked.has(row));
            self.push_converted(block.value(row), strict, slot).map_err(|why| Fault {
                row,
                why,
                is_type: !is_null(&block.value(row)),
            })?;
        }
        slot.settle_own();
        Ok(())
    }

    /// Converts one value of any kind and appends it to the slot's own bodies.
    fn push_converted(&self, value: Value<'_>, strict: Option<StrictType>, slot: &mut Slot) -> Result<(), String> {
        let given = value;
        let value = affinity::apply(given, self.affinity);
        if affinity::is_cut(given, value) {
            slot.cut.push(slot.serials.len());
        }
        let text = if self.affinity == Affinity::Text { affinity::text_of_number(value) } else { None };
        let value = text.as_ref().map_or(value, |text| Value::Text(text.as_bytes()));
        self.check(value, strict)?;
        let value = match value {
            Value::Real(real) if self.affinity == Affinity::Real => {
                affinity::real_as_integer(real).map_or(value, Value::Int)
            }
            other => other,
        };
        slot.push_own(value);
        Ok(())
    }

    fn check(&self, value: Value<'_>, strict: Option<StrictType>) -> Result<(), String> {
        if matches!(value, Value::Null) {
            return if self.not_null { Err("NULL in a NOT NULL column".to_owned()) } else { Ok(()) };
        }
        let (fits, name) = match (strict, value) {
            (None | Some(StrictType::Any), _)
            | (Some(StrictType::Int), Value::Int(_))
            | (Some(StrictType::Real), Value::Real(_))
            | (Some(StrictType::Text), Value::Text(_))
            | (Some(StrictType::Blob), Value::Blob(_)) => (true, ""),
            (Some(StrictType::Int), _) => (false, "INTEGER"),
            (Some(StrictType::Real), _) => (false, "REAL"),
            (Some(StrictType::Text), _) => (false, "TEXT"),
            (Some(StrictType::Blob), _) => (false, "BLOB"),
        };
        let article = if name == "INTEGER" { "an" } else { "a" };
        if fits {
            Ok(())
        } else {
            Err(format!("the value cannot be stored in {article} {name} column of a STRICT table"))
        }
    }

    /// Appends the block's values to `rowids`, if this column is the INTEGER PRIMARY KEY. Rows whose text is cut at a NUL go to
    /// `cut`.
    pub fn rowids(
        &self,
        block: &CellBlock,
        rows: usize,
        left_out: &SkippedRows,
        rowids: &mut Vec<i64>,
        cut: &mut Vec<usize>,
    ) -> Result<(), Fault> {
        if let (Cells::Int(ints), []) = (block.cells(), block.nulls()) {
            rowids.extend_from_slice(&ints[..rows]);
            return Ok(());
        }
        if let (Cells::Text(texts), []) = (block.cells(), block.nulls()) {
            let before = rowids.len();
            rowids.reserve(rows);
            let mut push = |row| plain_integer(texts, row).map(|rowid| rowids.push(rowid));
            if (0..rows).all(|row| push(row).is_some()) {
                return Ok(());
            }
            rowids.truncate(before);
        }
        for row in 0..rows {
            let given = block.value(row);
            let value = affinity::apply(given, Affinity::Integer);
            if affinity::is_cut(given, value) {
                cut.push(row);
            }
            match value {
                Value::Int(int) => rowids.push(int),
                _ if left_out.has(row) => rowids.push(0),
                Value::Null => {
                    return Err(Fault {
                        row,
                        why: "NULL in an INTEGER PRIMARY KEY: number the rows, or leave the column out of all of them"
                            .to_owned(),
                        is_type: false,
                    });
                }
                _ => {
                    return Err(Fault {
                        row,
                        why: "an INTEGER PRIMARY KEY takes integers only".to_owned(),
                        is_type: false,
                    });
                }
            }
        }
        Ok(())
    }
}

/// Returns whether SQLite stores the value as NULL.
pub(super) fn is_null(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Real(real) => real.is_nan(),
        _ => false,
    }
}

/// Parses a text as an integer, if it is a plain one.
#[inline]
fn plain_integer(texts: &Strings, row: usize) -> Option<i64> {
    match affinity::apply_to_plain_number(texts.data(), texts.span(row), Affinity::Integer) {
        Some(Value::Int(int)) => Some(int),
        _ => None,
    }
}

impl Slot {
    fn clear(&mut self) {
        self.serials.clear();
        self.words.clear();
        self.own.clear();
        self.bodies = Bodies::Words;
        self.shape = None;
        self.body_bytes = 0;
        self.max_serial = 0;
        self.may_hold_null = false;
        self.cut.clear();
    }

    /// Returns whether a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        u64::from(self.serials[row]) == serial::NULL
    }

    /// Sets every row to NULL, which records hold in place of the INTEGER PRIMARY KEY.
    pub fn be_null(&mut self) {
        self.clear();
        self.serials.resize(crate::cells::BLOCK_ROWS, 0);
        self.words.resize(crate::cells::BLOCK_ROWS, 0);
        self.shape = Some(Shape { serial: Some(0), body_len: 0 });
    }

    #[inline]
    fn push_word(&mut self, serial: u32, body: u64, width: usize) {
        self.serials.push(serial);
        self.words.push(left_aligned(body, width));
        self.body_bytes += width as u64;
    }

    #[inline]
    fn push_int(&mut self, int: i64) {
        let (serial, width) = int_serial(int);
        #[expect(clippy::cast_possible_truncation, reason = "an integer's serial type is at most 9")]
        self.push_word(serial as u32, int.cast_unsigned(), width);
    }

    fn fill_ints(&mut self, ints: &[i64]) {
        for &int in ints {
            self.push_int(int);
        }
        self.settle_words();
    }

    /// Sets the shape of numbers, if they have a common one.
    fn settle_words(&mut self) {
        self.max_serial = 9;
        let Some(&first) = self.serials.first() else { return };
        let body_len = body_len(first);
        if self.serials.iter().all(|&serial| serial == first) {
            self.shape = Some(Shape { serial: u8::try_from(first).ok(), body_len });
        } else if self.serials.iter().all(|&serial| matches!(serial, 8 | 9)) {
            self.shape = Some(Shape { serial: None, body_len });
        }
    }

    fn fill_strings(&mut self, strings: &Strings, rows: usize, base: u32) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a block's strings stay below 4 GiB; longer records are refused"
        )]
        let serial_of = |len: usize| (base as u64 + 2 * len as u64).min(u64::from(u32::MAX)) as u32;
        self.bodies = Bodies::Cells;
        if let Some(len) = strings.fixed_len() {
            let serial = serial_of(len);
            self.serials.resize(rows, serial);
            self.body_bytes = (len * rows) as u64;
            self.max_serial = serial;
            let one_byte = u8::try_from(serial).ok().filter(|serial| *serial < 128);
            self.shape = one_byte.map(|serial| Shape { serial: Some(serial), body_len: len });
            return;
        }
        self.serials.extend((0..rows).map(|row| serial_of(strings.span(row).len())));
        self.body_bytes = if rows == 0 { 0 } else { strings.span(rows - 1).end as u64 };
        self.max_serial = self.serials.iter().copied().max().unwrap_or(0);
    }

    fn set_nulls(&mut self, nulls: &[bool]) {
        self.may_hold_null = true;
        for (serial, _) in self.serials.iter_mut().zip(nulls).filter(|(_, null)| **null) {
            *serial = 0;
            self.shape = None;
        }
    }

    fn push_own(&mut self, value: Value<'_>) {
        let serial = record::serial_of(&value);
        self.serials.push(u32::try_from(serial).unwrap_or(u32::MAX));
        record::write_body(&value, self.own.arena());
        self.own.end_string();
    }

    fn settle_own(&mut self) {
        self.bodies = Bodies::Own;
        self.body_bytes = self.own.data().len() as u64;
        self.max_serial = self.serials.iter().copied().max().unwrap_or(0);
    }
}

/// Moves the lowest `width` bytes (0 to 8) of `body` to the top.
#[inline]
fn left_aligned(body: u64, width: usize) -> u64 {
    // Shifting by all 64 bits is not defined.
    if width == 0 { 0 } else { body << (64 - 8 * width) }
}

/// Returns the size in bytes of the body for a serial type that an encoder has chosen.
#[inline]
pub(super) fn body_len(serial: u32) -> usize {
    const NUMBERS: [u8; 12] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];
    match NUMBERS.get(serial as usize) {
        Some(&len) => len as usize,
        None => (serial as usize - 12) / 2,
    }
}

/// The converted and encoded values of a [`Choice`].
#[derive(Debug)]
struct Choices {
    values: Arc<[OwnedValue]>,
    /// Serial types, and words if all bodies are short.
    encoded: Slot,
    /// All bodies have at most eight bytes and are kept as words.
    short: bool,
    shape: Option<Shape>,
    /// Indexes of values that the column refuses, with the reasons. They are encoded as NULL.
    refused: Vec<(u32, String)>,
}

impl Choices {
    fn new(rule: &Rule, values: &Arc<[OwnedValue]>) -> Self {
        let mut encoded = Slot::default();
        let mut refused = Vec::new();
        for (index, value) in (0..).zip(values.iter()) {
            if let Err(why) = rule.push_converted(value.as_value(), rule.strict, &mut encoded) {
                encoded.push_own(Value::Null);
                refused.push((index, why));
            }
        }
        encoded.settle_own();
        let lens: Vec<usize> = (0..values.len()).map(|index| encoded.own.get(index).len()).collect();
        let short = lens.iter().all(|&len| len <= 8);
        if short {
            for index in 0..values.len() {
                let body = encoded.own.get(index);
                let mut word = [0; 8];
                word[..body.len()].copy_from_slice(body);
                encoded.words.push(u64::from_be_bytes(word));
            }
        }
        let common = |serial: u32| encoded.serials.iter().all(|&other| other == serial);
        let shape = match (lens.first(), encoded.serials.first()) {
            (Some(&body_len), Some(&first))
                if short && encoded.max_serial < 128 && lens.iter().all(|&len| len == body_len) =>
            {
                Some(Shape { serial: u8::try_from(first).ok().filter(|_| common(first)), body_len })
            }
            _ => None,
        };
        Self { values: values.clone(), encoded, short, shape, refused }
    }

    fn fill(&self, picks: &[u32], left_out: &SkippedRows, slot: &mut Slot) -> Result<(), Fault> {
        for (index, why) in &self.refused {
            if let Some(row) = (0..picks.len()).find(|&row| picks[row] == *index && !left_out.has(row)) {
                let is_type = !is_null(&self.values[*index as usize].as_value());
                return Err(Fault { row, why: why.clone(), is_type });
            }
        }
        match self.shape.and_then(|shape| shape.serial) {
            Some(serial) => slot.serials.resize(picks.len(), serial.into()),
            None => slot.serials.extend(picks.iter().map(|&pick| self.encoded.serials[pick as usize])),
        }
        let cut = &self.encoded.cut;
        if !cut.is_empty() {
            slot.cut.extend((0..picks.len()).filter(|&row| cut.contains(&(picks[row] as usize))));
        }
        slot.max_serial = self.encoded.max_serial;
        slot.may_hold_null = self.encoded.serials.contains(&0);
        if self.short {
            match self.shape {
                Some(Shape { body_len: 0, .. }) => slot.words.resize(picks.len(), 0),
                _ => slot.words.extend(picks.iter().map(|&pick| self.encoded.words[pick as usize])),
            }
            slot.body_bytes = 8 * picks.len() as u64;
            slot.shape = self.shape;
        } else {
            for &pick in picks {
                slot.own.push(self.encoded.own.get(pick as usize));
            }
            slot.bodies = Bodies::Own;
            slot.body_bytes = slot.own.data().len() as u64;
        }
        Ok(())
    }
}
