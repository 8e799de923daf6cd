//! Texts in columns of numbers that SQLite would convert to something else: words such as `NaN`, and numbers that are rounded.

use litepress_format::value::Value;
use litepress_rows::CellBlock;
use litepress_rows::cells::{Cells, OwnedValue};
use std::sync::Arc;

/// Words in columns of numbers. Case does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberWords {
    /// Words for a number that is missing (`--missing`): NULL is stored.
    pub missing: Vec<String>,
    /// Words for infinity, perhaps with a sign in front (`--infinity`).
    pub infinity: Vec<String>,
}

/// The meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Missing,
    Infinite(f64),
}

impl NumberWords {
    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.infinity.is_empty()
    }

    /// Returns whether a text is one of the words.
    pub(crate) fn has(&self, text: &[u8]) -> bool {
        self.meaning(text).is_some()
    }

    /// Returns the words that are numbers and mean a missing one: `-999`.
    fn missing_numbers(&self) -> MissingNumbers {
        let ints = self.missing.iter().filter_map(|word| word.parse().ok()).collect();
        let reals = self.missing.iter().filter_map(|word| word.parse().ok().filter(|real: &f64| real.is_finite()));
        MissingNumbers { ints, reals: reals.collect() }
    }

    /// Returns what a text means in a column of numbers, if it is one of the words.
    pub(crate) fn meaning(&self, text: &[u8]) -> Option<Meaning> {
        let is_one_of =
            |words: &[String], text: &[u8]| words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(text));
        if is_one_of(&self.missing, text) {
            return Some(Meaning::Missing);
        }
        let (sign, unsigned) = match text {
            [b'-', rest @ ..] => (-1.0, rest),
            [b'+', rest @ ..] => (1.0, rest),
            _ => (1.0, text),
        };
        is_one_of(&self.infinity, unsigned).then_some(Meaning::Infinite(sign * f64::INFINITY))
    }
}

/// The conversion of a column's texts before the encoder gets them.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    pub words: Arc<NumberWords>,
    /// Numbers become the nearest doubles. SQLite ignores digits after the 19th.
    pub rounds: bool,
}

impl Conversion {
    /// Converts the texts of a block, and the numbers that mean a missing one. Other values stay.
    pub fn apply(&self, block: &mut CellBlock, rows: usize) {
        match block.cells() {
            Cells::Int(_) | Cells::Real(_) => return self.remove_missing(block, rows),
            Cells::Blob(_) => return,
            _ => {}
        }
        let is_null = |row: usize| block.nulls().get(row) == Some(&true);
        let missing = self.words.missing_numbers();
        let changes = |row: usize| match block.value(row) {
            Value::Text(text) => self.rounds || self.words.has(text),
            value => missing.has(value),
        };
        if !(0..rows).any(|row| !is_null(row) && changes(row)) {
            return;
        }
        let convert = |row| if is_null(row) { OwnedValue::Null } else { self.value(block.value(row), &missing) };
        let values: Vec<OwnedValue> = (0..rows).map(convert).collect();
        block.nulls_mut().clear();
        block.values().extend(values);
    }

    /// Replaces numbers that mean a missing one by NULL.
    fn remove_missing(&self, block: &mut CellBlock, rows: usize) {
        let missing = self.words.missing_numbers();
        if missing.reals.is_empty() {
            return;
        }
        let found: Vec<usize> = (0..rows).filter(|&row| missing.has(block.value(row))).collect();
        found.into_iter().for_each(|row| block.set_null(row, rows));
    }

    fn value(&self, value: Value<'_>, missing: &MissingNumbers) -> OwnedValue {
        let text = match value {
            Value::Text(text) => text,
            _ if missing.has(value) => return OwnedValue::Null,
            Value::Null => return OwnedValue::Null,
            Value::Int(int) => return OwnedValue::Int(int),
            Value::Real(real) => return OwnedValue::Real(real),
            Value::Blob(blob) => return OwnedValue::Blob(blob.to_vec()),
        };
        match self.words.meaning(text) {
            Some(Meaning::Missing) => return OwnedValue::Null,
            Some(Meaning::Infinite(real)) => return OwnedValue::Real(real),
            None => {}
        }
        let text = std::str::from_utf8(text).expect("texts of a block are UTF-8");
        let is_number = || text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
        match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(int), _) if self.rounds => OwnedValue::Int(int),
            (_, Ok(real)) if self.rounds && is_number() => OwnedValue::Real(real),
            _ => OwnedValue::Text(text.to_owned()),
        }
    }
}

/// Numbers that mean a missing one.
#[derive(Debug)]
struct MissingNumbers {
    ints: Vec<i64>,
    reals: Vec<f64>,
}

impl MissingNumbers {
    fn has(&self, value: Value<'_>) -> bool {
        match value {
            Value::Int(int) => self.ints.contains(&int),
            Value::Real(real) => self.reals.contains(&real),
            Value::Null | Value::Text(_) | Value::Blob(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(conversion: &Conversion, texts: &[&str], null: usize) -> Vec<OwnedValue> {
        let mut block = CellBlock::default();
        let cells = block.texts();
        texts.iter().for_each(|text| cells.push(text.as_bytes()));
        block.set_null(null, texts.len());
        conversion.apply(&mut block, texts.len());
        (0..texts.len())
            .map(|row| match block.value(row) {
                Value::Null => OwnedValue::Null,
                Value::Int(int) => OwnedValue::Int(int),
                Value::Real(real) => OwnedValue::Real(real),
                Value::Text(text) => OwnedValue::Text(String::from_utf8(text.to_vec()).unwrap()),
                Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
            })
            .collect()
    }

    #[test]
    fn words_become_what_they_mean() {
        let words = Arc::new(NumberWords { missing: vec!["NA".to_owned()], infinity: vec!["Inf".to_owned()] });
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let texts = ["1.5", "na", "INF", "-inf", "+Inf", "", "x"];
        let [minus, plus] = [f64::NEG_INFINITY, f64::INFINITY].map(OwnedValue::Real);
        let expected = [text("1.5"), OwnedValue::Null, plus.clone(), minus, plus, OwnedValue::Null, text("x")];
        assert_eq!(converted(&Conversion { words: words.clone(), rounds: false }, &texts, 5), expected);
        // Without a word, the encoder gets the texts.
        assert_eq!(converted(&Conversion { words, rounds: false }, &["1.5", "2"], 1), [text("1.5"), OwnedValue::Null]);
    }

    /// `--missing NA` was without effect in JSON and sheets: their numbers and words came in one block of values of any kind.
    #[test]
    fn words_are_found_among_other_values() {
        let words = NumberWords { missing: vec!["NA".to_owned(), "-999".to_owned()], infinity: vec!["inf".to_owned()] };
        let conversion = Conversion { words: Arc::new(words), rounds: false };
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let mut block = CellBlock::default();
        let blob = OwnedValue::Blob(b"NA".to_vec());
        block.values().extend([
            OwnedValue::Real(1.5),
            text("NA"),
            blob,
            OwnedValue::Int(-999),
            text("-inf"),
            text("x"),
        ]);
        conversion.apply(&mut block, 6);
        let values = [Value::Real(1.5), Value::Null, Value::Blob(b"NA"), Value::Null, Value::Real(f64::NEG_INFINITY)];
        assert_eq!((0..5).map(|row| block.value(row)).collect::<Vec<_>>(), values);
        assert_eq!(block.value(5), Value::Text(b"x"));

        let mut block = CellBlock::default();
        block.ints().extend([-999, 1, 999]);
        conversion.apply(&mut block, 3);
        assert_eq!([0, 1, 2].map(|row| block.value(row)), [Value::Null, Value::Int(1), Value::Int(999)]);
        let mut block = CellBlock::default();
        block.reals().extend([-999.0, -999.5]);
        conversion.apply(&mut block, 2);
        assert_eq!([0, 1].map(|row| block.value(row)), [Value::Null, Value::Real(-999.5)]);
        let mut block = CellBlock::default();
        block.picks(&Arc::from([text("2"), text("na")])).extend([1, 0, 1]);
        conversion.apply(&mut block, 3);
        assert_eq!([0, 1, 2].map(|row| block.value(row)), [Value::Null, Value::Text(b"2"), Value::Null]);
    }

    /// SQLite ignores the digits that decide which double is the nearest.
    #[test]
    fn rounded_numbers_are_the_nearest_doubles() {
        let texts = ["2200000000000.2922364", "9007199254740993", "007", "inf", ""];
        let expected = [
            OwnedValue::Real(2_200_000_000_000.292_5),
            OwnedValue::Int(9_007_199_254_740_993),
            OwnedValue::Int(7),
            OwnedValue::Text("inf".to_owned()),
            OwnedValue::Null,
        ];
        assert_eq!(converted(&Conversion { words: Arc::default(), rounds: true }, &texts, 4), expected);
    }
}
