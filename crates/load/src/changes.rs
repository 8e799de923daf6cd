//! Counts texts that a declared type changes: a column declared STRING has NUMERIC affinity, so SQLite stores 7 for `007`.
//!
//! A text is changed if the number that is stored has another value, or no longer shows the leading zeros or the plus sign of
//! the text: then it was probably a code. If the declared type does not name numbers (STRING, DATE), any other spelling counts,
//! too: `1.10` becomes 1.1.
//!
//! Also counts texts of CSV files that a column of numbers stores as they are, because they are no numbers. STRICT tables refuse
//! such texts: there the record is wrong, and is not counted here.
//!
//! And counts numbers of JSON files and workbooks that a double does not keep, in columns that store numbers.

use crate::infer::InferredColumn;
use crate::reader::{Batch, RoundedNumber};
use crate::source::ColumnSource;
use litepress_format::value::Value;
use litepress_rows::affinity::{self, text_of_number};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Affinity, CellBlock, Cells, Column, Strings, Table, quote};

/// Number of values that are shown of a column.
const SHOWN: usize = 3;

/// A column whose declared type changed texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedColumn {
    /// Name.
    pub name: String,
    /// Declared type.
    pub declared_type: String,
    /// Number of changed texts.
    pub count: u64,
    /// The first changes: number of the record, text and stored value as SQL literals.
    pub first: Vec<(u64, String, String)>,
    /// Number of texts that a column of numbers keeps as texts.
    pub kept: u64,
    /// The first ones: number of the record, and text as SQL writes it.
    pub first_kept: Vec<(u64, String)>,
    /// Number of numbers that were rounded to the nearest double.
    pub rounded: u64,
    /// The first ones: number of the record, and the number as the file writes it.
    pub first_rounded: Vec<(u64, String)>,
}

/// The columns of a table whose declared types may change texts.
#[derive(Debug, Default)]
pub(crate) struct Changes(Vec<Watched>);

#[derive(Debug)]
struct Watched {
    /// Position among the ordinary columns.
    position: usize,
    affinity: Affinity,
    /// The declared type names numbers.
    is_numeric: bool,
    /// Texts that stay texts are counted.
    counts_kept: bool,
    changed: Mutex<ChangedColumn>,
}

impl Changes {
    /// Watches the columns of `table` whose types were declared and not inferred. `has_untyped_texts` tells that the files state
    /// no types: their numbers are texts, too.
    pub fn of(table: &Table, decisions: &[InferredColumn], has_untyped_texts: bool) -> Self {
        let columns = table.ordinary_columns().map(|position| &table.columns[position]);
        let is_declared = |column: &Column| {
            let decision = decisions.iter().find(|decision| decision.name.eq_ignore_ascii_case(&column.name));
            decision.is_none_or(InferredColumn::is_given)
        };
        // A column without a type changes no text, and rounds numbers.
        let is_changing = |affinity| match affinity {
            Affinity::Integer | Affinity::Real | Affinity::Numeric => true,
            Affinity::Blob => !has_untyped_texts,
            Affinity::Text => false,
        };
        let watched = columns.enumerate().filter(|(_, column)| is_changing(column.affinity) && is_declared(column));
        let watched = watched.map(|(position, column)| Watched {
            position,
            affinity: column.affinity,
            is_numeric: names_numbers(column),
            counts_kept: has_untyped_texts && !table.strict && names_numbers(column),
            changed: Mutex::new(ChangedColumn {
                name: column.name.clone(),
                declared_type: column.declared_type.clone(),
                count: 0,
                first: Vec::new(),
                kept: 0,
                first_kept: Vec::new(),
                rounded: 0,
                first_rounded: Vec::new(),
            }),
        });
        Self(watched.collect())
    }

    /// Counts the texts of a batch that are about to be changed, and the numbers that were rounded. `stays` tells which rows are
    /// stored.
    pub fn count(
        &self,
        column_sources: &[ColumnSource],
        batch: &Batch,
        first_record: u64,
        stays: &dyn Fn(usize) -> bool,
    ) {
        for watched in &self.0 {
            let ColumnSource::File(block) = column_sources[watched.position] else { continue };
            if watched.affinity != Affinity::Blob && matches!(batch.blocks[block].cells(), Cells::Text(_)) {
                watched.count(&batch.blocks[block], batch.rows, first_record, stays);
            }
            let is_stored = |number: &&RoundedNumber| number.block == block && stays(number.row);
            let mut rounded = batch.rounded.iter().filter(is_stored).peekable();
            if rounded.peek().is_some() {
                watched.add_rounded(rounded, first_record);
            }
        }
    }

    /// Returns the columns with changed texts, with texts in the place of numbers, or with rounded numbers.
    pub fn found(&self) -> Vec<ChangedColumn> {
        let columns = self.0.iter().map(|watched| lock(&watched.changed).clone());
        columns.filter(|column| column.count + column.kept + column.rounded > 0).collect()
    }
}

impl Watched {
    fn count(&self, block: &CellBlock, rows: usize, first_record: u64, stays: &dyn Fn(usize) -> bool) {
        let Cells::Text(texts) = block.cells() else { return };
        // Most columns of numbers have nothing else.
        if are_plain_integers(texts, rows) {
            return;
        }
        let (mut count, mut first) = (0, Vec::new());
        let (mut kept, mut first_kept) = (0, Vec::new());
        for row in 0..rows {
            let text = texts.get(row);
            if self.is_same_at_a_glance(text) || block.nulls().get(row) == Some(&true) || !stays(row) {
                continue;
            }
            let record = first_record + row as u64;
            match self.fate(text) {
                Fate::Same => {}
                Fate::Changed(stored) => {
                    count += 1;
                    if first.len() < SHOWN {
                        first.push((record, quote(&Value::Text(text)), stored));
                    }
                }
                Fate::Kept => {
                    kept += 1;
                    if first_kept.len() < SHOWN {
                        first_kept.push((record, quote(&Value::Text(text))));
                    }
                }
            }
        }
        if count + kept == 0 {
            return;
        }
        let mut changed = lock(&self.changed);
        changed.count += count;
        changed.kept += kept;
        // Batches come in any order.
        changed.first.append(&mut first);
        changed.first.sort();
        changed.first.truncate(SHOWN);
        changed.first_kept.append(&mut first_kept);
        changed.first_kept.sort();
        changed.first_kept.truncate(SHOWN);
    }

    fn add_rounded<'n>(&self, numbers: impl Iterator<Item = &'n RoundedNumber>, first_record: u64) {
        let mut changed = lock(&self.changed);
        for number in numbers {
            changed.rounded += 1;
            if changed.first_rounded.len() <= SHOWN {
                changed.first_rounded.push((first_record + number.row as u64, number.text.clone()));
                changed.first_rounded.sort();
                changed.first_rounded.truncate(SHOWN);
            }
        }
    }

    #[inline]
    fn is_same_at_a_glance(&self, text: &[u8]) -> bool {
        let is_word = text.first().is_none_or(u8::is_ascii_alphabetic);
        if is_word { !self.counts_kept } else { is_plain_integer(text) || self.is_numeric && is_short_decimal(text) }
    }

    fn fate(&self, text: &[u8]) -> Fate {
        let stored = affinity::apply(Value::Text(text), self.affinity);
        if matches!(stored, Value::Text(_)) {
            return if self.counts_kept { Fate::Kept } else { Fate::Same };
        }
        self.change(text, stored).map_or(Fate::Same, Fate::Changed)
    }

    /// Returns the stored number if it changes the text.
    fn change(&self, text: &[u8], stored: Value<'_>) -> Option<String> {
        let spelled = text_of_number(stored)?;
        if spelled.as_bytes() == text {
            return None;
        }
        let is_kept = self.is_numeric && !looks_like_a_code(text) && {
            let exact = match stored {
                Value::Real(real) => Decimal::read(format!("{real:?}").as_bytes()),
                _ => Decimal::read(spelled.as_bytes()),
            };
            let given = Decimal::read(text);
            given.is_some() && given == exact
        };
        if is_kept { None } else { Some(quote(&stored)) }
    }
}

/// How a text is stored.
enum Fate {
    Same,
    /// As this number.
    Changed(String),
    /// As the text that it is, in a column of numbers.
    Kept,
}

/// Returns whether the declared type names numbers, so that spellings of one number are the same to its author.
fn names_numbers(column: &Column) -> bool {
    let declared = column.declared_type.to_ascii_uppercase();
    match column.affinity {
        Affinity::Numeric => ["NUM", "DEC", "MONEY", "CURRENCY"].iter().any(|word| declared.contains(word)),
        // These affinities follow from words for numbers.
        Affinity::Integer | Affinity::Real => true,
        Affinity::Text | Affinity::Blob => false,
    }
}

/// Returns whether the text is a whole number of up to 18 digits without leading zeros.
#[inline]
fn is_plain_integer(text: &[u8]) -> bool {
    match text {
        b"0" => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Returns whether all texts are [plain integers](is_plain_integer). Their bytes are looked at all at once, by vector instructions.
fn are_plain_integers(texts: &Strings, rows: usize) -> bool {
    const AT_ONCE: usize = 4096;
    let are_digits = |bytes: &[u8]| bytes.iter().fold(true, |all, byte| all & byte.is_ascii_digit());
    let is_short = |text: &[u8]| matches!(text, [_] | [b'1'..=b'9', ..]) && text.len() <= 18;
    texts.data().chunks(AT_ONCE).all(are_digits) && (0..rows).all(|row| is_short(texts.get(row)))
}

/// Returns whether the text is a decimal number of up to 15 digits without leading zeros, which every double keeps.
#[inline]
fn is_short_decimal(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let points = text.iter().filter(|&&byte| byte == b'.').count();
    text.len() <= 16
        && points <= 1
        && matches!(text, [b'1'..=b'9', ..] | [b'0', b'.', ..])
        && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Returns whether the text has a plus sign or leading zeros.
fn looks_like_a_code(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    matches!(digits, [b'+', ..] | [b'0', b'0'..=b'9', ..])
}

/// A decimal number in a form that is unique by value.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Digits without zeros at either end.
    digits: Vec<u8>,
    /// Power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    /// Reads a number as SQLite writes and reads them. `None` if it is none.
    fn read(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let (is_negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let mark = text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
        let exponent = text.get(mark + 1..).map_or(Some(0), |exponent| str::from_utf8(exponent).ok()?.parse().ok())?;
        let point = text[..mark].iter().position(|&byte| byte == b'.').unwrap_or(mark);
        let fraction = text[..mark].get(point + 1..).unwrap_or_default();
        let mut digits = [&text[..point], fraction].concat();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut exponent: i64 = exponent - fraction.len() as i64;
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent += 1;
        }
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros);
        // Zero has no digits left, and no sign that anybody wrote for its value.
        let is_zero = digits.is_empty();
        Some(Self { is_negative: is_negative && !is_zero, digits, exponent: if is_zero { 0 } else { exponent } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_rows::Schema;

    fn found(declared: &str, texts: &[&str]) -> Vec<ChangedColumn> {
        let schema = Schema::from_sql(&format!("CREATE TABLE t (c {declared})"), "<test>").unwrap();
        let changes = Changes::of(&schema.tables[0], &[], true);
        let mut batch = Batch { rows: texts.len(), blocks: vec![CellBlock::default()], ..Batch::default() };
        let strings = batch.blocks[0].texts();
        texts.iter().for_each(|text| strings.push(text.as_bytes()));
        changes.count(&[ColumnSource::File(0)], &batch, 1, &|row| row < 90);
        changes.found()
    }

    fn changes(declared: &str, texts: &[&str]) -> Vec<(u64, String, String)> {
        found(declared, texts).into_iter().flat_map(|column| column.first).collect()
    }

    fn changed(declared: &str, text: &str) -> Option<String> {
        changes(declared, &[text]).pop().map(|(_, _, stored)| stored)
    }

    /// `--type code=STRING`, which was to protect leading zeros, stored 7 for `007` and 1.1 for `1.10` without a word.
    #[test]
    fn codes_in_a_column_of_a_made_up_type_are_changed() {
        for declared in ["STRING", "str", "DATE", "FOO", "BOOLEAN"] {
            assert_eq!(changed(declared, "007"), Some("7".to_owned()), "{declared}");
            assert_eq!(changed(declared, "1.10"), Some("1.1".to_owned()), "{declared}");
            assert_eq!(changed(declared, "1e3"), Some("1000".to_owned()), "{declared}");
            for kept in ["7", "1.5", "-12", "2024-01-31", "seven", "", " ", "0", "1,5"] {
                assert_eq!(changed(declared, kept), None, "{declared}: {kept}");
            }
        }
    }

    #[test]
    fn spellings_of_a_number_are_kept_in_a_column_of_numbers() {
        for declared in ["REAL", "NUMERIC", "DECIMAL(10,2)", "DOUBLE PRECISION", "INTEGER"] {
            for kept in [
                "1.10",
                "12.50",
                " 8 ",
                "1e3",
                ".5",
                "5.",
                "0.0",
                "0.5118216247002567",
                "-0",
                "1E-05",
                "100000000000000000000",
            ] {
                assert_eq!(changed(declared, kept), None, "{declared}: {kept}");
            }
            for code in ["007", "+49", "-01", " 00 "] {
                assert!(changed(declared, code).is_some(), "{declared}: {code}");
            }
            for lossy in ["12345678901234567891", "0.12345678901234567891", "1e999"] {
                assert!(changed(declared, lossy).is_some(), "{declared}: {lossy}");
            }
        }
        assert_eq!(changed("TEXT", "007"), None);
        assert_eq!(changed("VARCHAR(5)", "007"), None);
    }

    #[test]
    fn the_first_changes_are_those_of_the_first_records() {
        let texts: Vec<String> = (0..100).map(|number| format!("0{number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let first = changes("INT", &texts);
        assert_eq!(first.iter().map(|(record, ..)| *record).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(first[2], (3, "'02'".to_owned(), "2".to_owned()));
    }

    /// `amount REAL NOT NULL` took `abc` and an empty field. SQLite does, too, but nobody was told.
    #[test]
    fn texts_in_columns_of_numbers_are_counted() {
        let texts = ["abc", "1", "", "2.5", "1,5", "7 EUR", "n/a"];
        for declared in ["REAL", "INTEGER", "DECIMAL(10,2)"] {
            let [column] = &found(declared, &texts)[..] else { panic!("{declared}") };
            assert_eq!((column.count, column.kept), (0, 5), "{declared}");
            let first = [(1, "'abc'"), (3, "''"), (5, "'1,5'")].map(|(record, text)| (record, text.to_owned()));
            assert_eq!(column.first_kept, first);
        }
        for declared in ["TEXT", "DATE", "", "BLOB"] {
            assert_eq!(found(declared, &texts).iter().map(|column| column.kept).sum::<u64>(), 0, "{declared}");
        }
    }

    /// Blocks of plain integers were judged text by text, which took a tenth of the time of a load.
    #[test]
    fn one_text_among_many_integers_is_found() {
        let integers: Vec<String> = (0..80_u32).map(|row| (row * row * row).to_string()).collect();
        for odd in ["007", "00", "+1", "1e3", "1.50", "x", "12345678901234567890"] {
            for place in [0, 41, 80] {
                let mut texts: Vec<&str> = integers.iter().map(String::as_str).collect();
                texts.insert(place, odd);
                let (alone, among) = (found("INT", &[odd]), found("INT", &texts));
                let counts =
                    |found: &[ChangedColumn]| found.iter().map(|one| (one.count, one.kept)).collect::<Vec<_>>();
                assert_eq!(counts(&among), counts(&alone), "{odd} at {place}");
            }
        }
        let texts: Vec<&str> = integers.iter().map(String::as_str).collect();
        assert_eq!(found("INT", &texts), []);
        assert!(!found("INT", &["007"]).is_empty() && !found("INT", &["x"]).is_empty());
    }
}
