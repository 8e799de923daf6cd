//! Finds the dialect of a CSV file from its first records: line end, delimiter, quote and escape.
//!
//! Every candidate reads some records. The delimiter is the one that divides them evenly (van den Burg et al., "Wrangling messy CSV
//! files by detecting row and type patterns", 2019, use the same idea), not the one that occurs most.

use super::field_kind::FieldKind;
use super::loose::LooseRecord;
use super::syntax::Syntax;
use crate::options::{Dialect, Quote};
use litepress_rows::Result;
use memchr::memmem::find;
use std::collections::BTreeMap;

/// Candidates for the delimiter. Of equal ones, the first wins.
const DELIMITERS: [&str; 4] = [",", "\t", ";", "|"];
/// Candidates that count only if quotes follow them.
const SPACED: [&str; 3] = [", ", "; ", " "];
/// Number of records that each candidate reads.
const RECORDS: usize = 200;

/// The records of a sample as one candidate reads them.
#[derive(Debug)]
pub(super) struct Trial {
    pub syntax: Syntax,
    /// The records and where they begin.
    pub records: Vec<(usize, LooseRecord)>,
    /// The most common number of fields.
    pub columns: usize,
    /// The share of records with this number of fields.
    pub share: f64,
    malformed: usize,
    quoted: usize,
}

/// How evenly a candidate divides the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evenness {
    /// It occurs in few records, or in none.
    None,
    Poor,
    Fair,
    Good,
    /// All records have the same number of fields, including the first one.
    Perfect,
}

impl Trial {
    /// Reads the first records of `text` from `start` on. A last record that is not whole is left out, unless `is_end`.
    pub fn new(text: &[u8], start: usize, is_end: bool, syntax: Syntax) -> Self {
        let (mut records, mut at) = (Vec::new(), start);
        // While the number of columns is unknown, stray quotes are read in the way that holds within their line.
        let reading = Syntax { has_stray_quotes: true, columns: 0, ..syntax.clone() };
        while at < text.len() && records.len() < RECORDS {
            if let Some(next) = reading.skipped_line(text, at) {
                at = next;
                continue;
            }
            let Some(record) = reading.loose_record(text, at, is_end) else { break };
            let next = record.next;
            records.push((at, record));
            at = next;
        }
        let mut counts = BTreeMap::new();
        for (_, record) in &records {
            *counts.entry(record.fields.len()).or_insert(0_usize) += 1;
        }
        let (columns, most) = counts.into_iter().max_by_key(|&(_, count)| count).unwrap_or((0, 0));
        #[expect(clippy::cast_precision_loss, reason = "there are few records")]
        let share = most as f64 / records.len().max(1) as f64;
        let malformed = records.iter().filter(|(_, record)| record.has_strays).count();
        let quoted = records.iter().flat_map(|(_, record)| &record.fields).filter(|field| field.is_quoted).count();
        Self { syntax, records, columns, share, malformed, quoted }
    }

    pub fn evenness(&self) -> Evenness {
        let is_first_like_most = self.records.first().is_some_and(|(_, first)| first.fields.len() == self.columns);
        match self.share {
            _ if self.columns < 2 => Evenness::None,
            share if share >= 1.0 && is_first_like_most => Evenness::Perfect,
            share if share >= 0.9 => Evenness::Good,
            share if share >= 0.5 => Evenness::Fair,
            _ => Evenness::Poor,
        }
    }

    fn first_fields(&self) -> usize {
        self.records.first().map_or(0, |(_, first)| first.fields.len())
    }

    /// Returns whether most fields behind the first of a record begin with a space: then text may have been divided.
    fn divides_text(&self, text: &[u8]) -> bool {
        let fields = self.records.iter().flat_map(|(_, record)| record.fields.iter().skip(1));
        let (all, spaced) = fields.fold((0, 0), |(all, spaced), field| {
            (all + 1, spaced + usize::from(text[field.range.clone()].first() == Some(&b' ')))
        });
        spaced * 2 > all
    }

    /// Returns the share of fields, in tenths, that hold one value: a number, a date, or text without any other delimiter.
    fn tenths_of_values(&self, text: &[u8]) -> usize {
        let fields: Vec<_> = self.records.iter().flat_map(|(_, record)| &record.fields).collect();
        let is_value =
            |raw: &[u8]| FieldKind::of(raw) != FieldKind::Text || !raw.iter().any(|byte| b",\t;|".contains(byte));
        let values = fields.iter().filter(|field| field.is_quoted || is_value(&text[field.range.clone()])).count();
        values * 10 / fields.len().max(1)
    }
}

/// Returns the last byte of lines: LF, or CR if no line ends with LF.
pub(super) fn line_end(text: &[u8]) -> u8 {
    if memchr::memchr(b'\n', text).is_none() && memchr::memchr(b'\r', text).is_some() { b'\r' } else { b'\n' }
}

/// Returns the delimiter that the first line states for Excel (`sep=;`), and the start of the next line.
pub(super) fn stated_delimiter(text: &[u8], start: usize, line_end: u8) -> Option<(String, usize)> {
    let rest = &text[start..];
    let end = memchr::memchr(line_end, rest)?;
    let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] if delimiter.is_ascii() => {
            Some((char::from(*delimiter).to_string(), start + end + 1))
        }
        _ => None,
    }
}

/// Returns the reading of the sample in the dialect that divides it most evenly. Choices of the caller stand.
///
/// # Errors
/// If the dialect contradicts itself.
pub(super) fn best(
    text: &[u8],
    start: usize,
    is_end: bool,
    dialect: &Dialect,
    promised: Option<&str>,
) -> Result<Trial> {
    let line_end = line_end(&text[start..]);
    let try_out = |delimiter: &str, quote: Option<u8>, escape: Option<u8>| {
        let dialect = Dialect { escape, ..dialect.clone() };
        Syntax::new(&dialect, delimiter, quote, line_end).map(|syntax| Trial::new(text, start, is_end, syntax))
    };
    let (quote, other_quote) = match dialect.quote {
        Quote::Found => (Some(b'"'), Some(b'\'')),
        Quote::None => (None, None),
        Quote::Byte(byte) => (Some(byte), None),
    };
    let is_free =
        |delimiter: &&&str| ![quote, dialect.escape, dialect.comment].contains(&Some(delimiter.as_bytes()[0]));
    let with_quote = |quote: Option<u8>| -> Result<Trial> {
        if let Some(delimiter) = &dialect.delimiter {
            return try_out(delimiter, quote, dialect.escape);
        }
        let trials = DELIMITERS.iter().filter(is_free).map(|delimiter| try_out(delimiter, quote, dialect.escape));
        let trials = trials.collect::<Result<Vec<_>>>()?;
        let mut best = choose(text, trials, promised);
        for delimiter in SPACED.iter().filter(is_free) {
            let needle = [delimiter.as_bytes(), &[quote.unwrap_or(b'\n')]].concat();
            if best.evenness() < Evenness::Perfect && find(&text[start..], &needle).is_some() {
                let spaced = try_out(delimiter, quote, dialect.escape)?;
                if spaced.quoted > 0 && spaced.columns > 2 && spaced.evenness() > best.evenness() {
                    best = spaced;
                }
            }
        }
        Ok(best)
    };
    let mut best = with_quote(quote)?;
    if best.quoted == 0
        && best.evenness() < Evenness::Perfect
        && other_quote.filter(|other| ![dialect.escape, dialect.comment].contains(&Some(*other))).is_some()
    {
        let other = with_quote(other_quote)?;
        if other.quoted > 2 * other.malformed && other.evenness() > best.evenness() {
            best = other;
        }
    }
    if best.malformed > 0 && dialect.escape.is_none() && find(&text[start..], br#"\""#).is_some() {
        let delimiter = String::from_utf8_lossy(best.syntax.delimiter_bytes()).into_owned();
        let escaped = try_out(&delimiter, best.syntax.quote, Some(b'\\'))?;
        if escaped.malformed == 0 && escaped.evenness() >= best.evenness() {
            best = escaped;
        }
    }
    Ok(best)
}

/// Returns the trial that divides the records most evenly. Among such ones, its fields hold single values, and there are many.
fn choose(text: &[u8], trials: Vec<Trial>, promised: Option<&str>) -> Trial {
    let is_promised =
        |trial: &Trial| promised.is_some_and(|delimiter| trial.syntax.delimiter_bytes() == delimiter.as_bytes());
    if let Some(at) = trials.iter().position(|trial| is_promised(trial) && trial.evenness() >= Evenness::Fair) {
        return trials.into_iter().nth(at).expect("the position is one of the trials");
    }
    let mut best: Option<((Evenness, bool, usize, usize), Trial)> = None;
    for trial in trials {
        let evenness = trial.evenness();
        let fields = trial.first_fields();
        let rank = match evenness {
            Evenness::None => (evenness, false, 0, fields),
            // Two delimiters rarely divide equally well, so this is rare, too.
            _ => (evenness, !trial.divides_text(text), trial.tenths_of_values(text), fields),
        };
        if best.as_ref().is_none_or(|(known, _)| rank > *known) {
            best = Some((rank, trial));
        }
    }
    best.expect("there are candidates").1
}
