//! Reads the beginning of a CSV file: its dialect, the lines in front of its table, and the names of its columns.
//!
//! ```text
//! Report 2024                          preamble: skipped, and told
//! id;name;price                        header, or data that look like the records below: then columns are called c1, c2
//! 1;Ada;1,50                           records: the most common number of fields is the number of columns
//! ```
//!
//! All guesses end up in [`TextFormat`], which the summary of a load shows.

use super::field_kind::FieldKind;
use super::framing::place;
use super::header::{Beginning, FirstRecord, has_column_of_values};
use super::loose::LooseRecord;
use super::name_by_position;
use super::names::{self, MOST_FIELDS, Names};
use super::sniff::{self, Evenness, Trial};
use super::syntax::Syntax;
use crate::input::read_failed;
use crate::options::{Dialect, Ragged, ReadOptions, RepeatedHeader};
use crate::reader::TextFormat;
use litepress_rows::{Error, ErrorKind, OptionName, Result, counted, message};
use std::io::Read;
use std::path::Path;

/// The beginning of the note about a header with fewer names than columns.
pub(crate) const HEADER_HAS: &str = "the header has ";

/// The beginning of a file.
pub(super) struct Head {
    pub syntax: Syntax,
    pub names: Vec<String>,
    /// The names as they stand in the header, if there is one.
    pub header: Vec<String>,
    /// Bytes of the records that were read already.
    pub rest: Vec<u8>,
    /// The line in which the records begin, counted from 1.
    pub line: u64,
    pub format: TextFormat,
}

/// Size of the sample that the dialect is detected from. A longer first record extends it.
const SAMPLE_BYTES: usize = 64 << 10;
/// Maximum length of the first record.
const MOST_BYTES: usize = 16 << 20;
/// Maximum number of records in front of a header.
const MOST_PREAMBLE: usize = 30;
/// Number of bytes of a skipped line that the summary shows.
const SHOWN: usize = 60;

/// The header and the records below it, as the sample shows them.
struct Sample<'a> {
    text: &'a [u8],
    is_end: bool,
    trial: Trial,
    options: &'a ReadOptions,
    /// Start of the first line that is not skipped.
    start: usize,
    /// Position of the first record of the table in the trial.
    first: usize,
    notes: Vec<String>,
    /// Number of columns up to the last one with a name in the header.
    named: usize,
    /// The names as they stand in the header. Empty if there is none.
    header: Vec<String>,
}

impl Head {
    /// Reads the first records from `stream`, and possibly some bytes behind them (`rest`).
    pub fn read(stream: &mut dyn Read, name: &Path, options: &ReadOptions) -> Result<Self> {
        let in_file = |error: Error| error.in_file(name);
        let mut text = Vec::new();
        loop {
            let missing = SAMPLE_BYTES.max(text.len());
            let read = stream.take(missing as u64).read_to_end(&mut text);
            let is_end = read.map_err(|error| read_failed(name, error))? < missing;
            if let Some(head) = Self::find(&text, is_end, name, options).map_err(in_file)? {
                return Ok(Self { rest: text.split_off(head.rest_start), ..head.head });
            }
            if is_end {
                return Self::of_nothing(text, options).map_err(in_file);
            }
            if text.len() > MOST_BYTES {
                let message = format!("the first record does not end within {} MiB", MOST_BYTES >> 20);
                return Err(in_file(Error::new(ErrorKind::Data, message).advise("is it a CSV file?")));
            }
        }
    }

    /// Returns the head of a file without records.
    fn of_nothing(text: Vec<u8>, options: &ReadOptions) -> Result<Self> {
        let Some(names) = &options.dialect.columns else {
            let error = Error::new(ErrorKind::Data, "the file is empty: nothing says which columns it has");
            let columns = OptionName::Columns.alone();
            return Err(error.advise(message!["name the columns with ", columns]));
        };
        names::check(names)?;
        let trial = sniff::best(&text, 0, true, &options.dialect, None)?;
        let format = format_of(&trial.syntax, b"", None);
        let start = skip_lines(&text, options.dialect.skip, trial.syntax.line_end).unwrap_or(text.len());
        let (line, _) = place(&text, start, trial.syntax.line_end);
        let syntax = Syntax { columns: names.len(), ..trial.syntax };
        // Blank lines are records of a single column.
        Ok(Self { syntax, names: names.clone(), header: names.clone(), rest: text[start..].to_vec(), line, format })
    }

    /// Returns the head. `None` if there is no whole record.
    fn find(text: &[u8], is_end: bool, name: &Path, options: &ReadOptions) -> Result<Option<Found>> {
        let dialect = &options.dialect;
        let line_end = sniff::line_end(text);
        let Some(mut start) = skip_lines(text, dialect.skip, line_end) else { return Ok(None) };
        let mut notes = Vec::new();
        let mut stated = None;
        if dialect.delimiter.is_none()
            && let Some((delimiter, next)) = sniff::stated_delimiter(text, start, line_end)
        {
            notes.push(format!("the first line states the delimiter: sep={delimiter}"));
            (stated, start) = (Some(delimiter), next);
        }
        let dialect = Dialect { delimiter: dialect.delimiter.clone().or(stated), ..dialect.clone() };
        let promised = promised_delimiter(name).filter(|_| dialect.delimiter.is_none());
        let trial = sniff::best(text, start, is_end, &dialect, promised)?;
        if trial.records.is_empty() {
            return Ok(None);
        }
        if let Some(promised) = promised {
            refuse_broken_promise(&trial, promised)?;
        }
        let mut sample =
            Sample { text, is_end, trial, options, start, first: 0, notes, named: usize::MAX, header: Vec::new() };
        sample.skip_preamble();
        sample.into_head().map(Some)
    }
}

/// A head whose rest is still to be split off.
struct Found {
    head: Head,
    rest_start: usize,
}

impl Sample<'_> {
    fn record(&self, position: usize) -> Option<&LooseRecord> {
        self.trial.records.get(position).map(|(_, record)| record)
    }

    fn kinds(&self, record: &LooseRecord) -> Vec<FieldKind> {
        let value = |raw: &[u8]| {
            let quote = self.trial.syntax.quote;
            let inner = raw.strip_prefix(quote.as_slice()).filter(|_| quote.is_some()).unwrap_or(raw);
            FieldKind::of(inner.strip_suffix(quote.as_slice()).unwrap_or(inner))
        };
        record.fields.iter().map(|field| value(&self.text[field.range.clone()])).collect()
    }

    /// Returns the kinds of the fields below record `above` that have the most common number of fields.
    fn kinds_below(&self, above: usize) -> Vec<Vec<FieldKind>> {
        let below = self.trial.records.iter().skip(above + 1).map(|(_, record)| record);
        below.filter(|record| record.fields.len() == self.trial.columns).map(|record| self.kinds(record)).collect()
    }

    /// Finds the records in front of the header: each has at most one value, and the header that follows them fills all columns.
    fn skip_preamble(&mut self) {
        let dialect = &self.options.dialect;
        if dialect.skip > 0 || dialect.columns.is_some() || dialect.header == Some(false) || self.trial.columns < 2 {
            return;
        }
        let is_title = |kinds: &[FieldKind]| kinds.iter().filter(|kind| **kind != FieldKind::Empty).count() <= 1;
        let kinds = |position: usize| self.record(position).map(|record| self.kinds(record));
        let mut titles = 0;
        while titles < MOST_PREAMBLE && kinds(titles).is_some_and(|kinds| is_title(&kinds)) {
            titles += 1;
        }
        let Some(header) = kinds(titles).filter(|_| titles > 0) else { return };
        let is_header = header.len() == self.trial.columns && header.iter().all(|kind| *kind == FieldKind::Text);
        let is_unpadded = (0..titles).all(|title| self.record(title).is_some_and(|record| record.fields.len() == 1));
        let below = self.kinds_below(titles);
        let is_proven = (is_unpadded && self.trial.columns > 2) || has_column_of_values(&header, &below);
        if is_header && is_proven && !below.is_empty() {
            let end = self.trial.records[titles].0;
            let (lines, _) = place(self.text, end, self.trial.syntax.line_end);
            let first = self.shown(self.trial.records[0].0, self.record(0).map_or(end, |record| record.end));
            self.notes.push(format!("skipped what stands above the header in line {lines}: {first}"));
            self.first = titles;
        }
    }

    /// Guesses whether the first record names the columns.
    fn role_of_first(&self) -> FirstRecord {
        let Some(first) = self.record(self.first).filter(|first| first.fields.len() == self.trial.columns) else {
            return FirstRecord::Names;
        };
        let field = |raw: &[u8]| String::from_utf8_lossy(raw).trim_matches(['"', ' ']).to_owned();
        let fields: Vec<String> =
            first.fields.iter().map(|field_of| field(&self.text[field_of.range.clone()])).collect();
        let below = self.kinds_below(self.first);
        let is_repeated = self.options.dialect.repeated_header == RepeatedHeader::Keep && self.has_first_below();
        Beginning { fields: &fields, kinds: &self.kinds(first), below: &below, is_repeated }.role()
    }

    /// Returns whether a record below the first one has the same text.
    fn has_first_below(&self) -> bool {
        let text = |(start, record): &(usize, LooseRecord)| self.text[*start..record.end].trim_ascii_end();
        let mut records = self.trial.records.iter().skip(self.first);
        records.next().is_some_and(|first| records.any(|record| text(record) == text(first)))
    }

    /// Returns the beginning of a record for a message.
    fn shown(&self, start: usize, end: usize) -> String {
        let record = self.text[start..end].trim_ascii_end();
        String::from_utf8_lossy(&record[..record.len().min(SHOWN)]).into_owned()
    }

    fn into_head(mut self) -> Result<Found> {
        let dialect = &self.options.dialect;
        let (start, _) = self.trial.records[self.first];
        let role = match dialect.header {
            Some(true) => FirstRecord::Names,
            Some(false) => FirstRecord::Record,
            None => self.role_of_first(),
        };
        let line_end = self.trial.syntax.line_end;
        if role == FirstRecord::Record {
            let columns = self.columns_without_header();
            let names = match &dialect.columns {
                Some(names) => names.clone(),
                None => (0..columns).map(name_by_position).collect(),
            };
            names::check(&names)?;
            // Blank lines are records of a single column.
            let start = if self.first == 0 { self.start } else { start };
            return Ok(self.head(names, start, start, None));
        }
        let syntax = Syntax { has_stray_quotes: true, columns: self.trial.columns, ..self.trial.syntax.clone() };
        let Some(header) = syntax.loose_record(self.text, start, self.is_end) else {
            let error = Error::new(ErrorKind::Data, "the header does not end");
            return Err(error.advise("is it a CSV file?"));
        };
        if header.fields.len() > MOST_FIELDS {
            let message =
                format!("the header has {} names, and a table has {MOST_FIELDS} columns at most", header.fields.len());
            let advice = message!["another delimiter may divide it: ", OptionName::Delimiter.alone()];
            let (line, character) = place(self.text, start, line_end);
            return Err(Error::new(ErrorKind::Data, message).at(line, character).advise(advice));
        }
        if header.has_strays {
            self.notes.push("a quote in the header is in the wrong place, and taken as text".to_owned());
        }
        let names = match &dialect.columns {
            Some(names) => {
                names::check(names)?;
                if names.len() != header.fields.len() {
                    let (has, named) = (header.fields.len(), names.len());
                    let named = if named == 1 { "1 column is".to_owned() } else { format!("{named} columns are") };
                    let message = format!("the header has {}, and {named} named", counted(has as u64, "field"));
                    let (line, character) = place(self.text, start, line_end);
                    return Err(Error::new(ErrorKind::Usage, message).at(line, character).advise("name as many"));
                }
                names.clone()
            }
            None => self.names(&header)?,
        };
        let (line, _) = place(self.text, start, line_end);
        let doubtful = (role == FirstRecord::DoubtfulNames).then(|| self.shown(start, header.end));
        let mut found = self.head(names, start, header.next, Some(line));
        found.head.format.doubtful_header = doubtful;
        Ok(found)
    }

    /// Returns the number of columns of a file without a header: that of most records, or of the first if most are few.
    fn columns_without_header(&self) -> usize {
        let first = self.record(self.first).map_or(1, |record| record.fields.len());
        if self.trial.evenness() >= Evenness::Good { self.trial.columns } else { first }
    }

    fn head(mut self, names: Vec<String>, start: usize, next: usize, header_line: Option<u64>) -> Found {
        let (line, _) = place(self.text, next, self.trial.syntax.line_end);
        let mut format = format_of(&self.trial.syntax, self.text, header_line);
        format.notes = std::mem::take(&mut self.notes);
        format.named = self.named;
        format.is_header_guessed = self.options.dialect.header.is_none();
        debug_assert!(start <= next, "records follow their header");
        let syntax = Syntax { columns: names.len(), ..self.trial.syntax };
        let header = if self.header.is_empty() { names.clone() } else { self.header };
        Found { head: Head { syntax, names, header, rest: Vec::new(), line, format }, rest_start: next }
    }

    /// Returns the names in the header, as many as the records have fields if they agree on it.
    fn names(&mut self, header: &LooseRecord) -> Result<Vec<String>> {
        let mut found = Vec::with_capacity(header.fields.len());
        for field in &header.fields {
            let name = names::name(self.text, field, &self.trial.syntax, self.options.invalid_utf8);
            found.push(name.map_err(|error| {
                let (line, character) = place(self.text, field.range.start, self.trial.syntax.line_end);
                error.at(line, character)
            })?);
        }
        let below: Vec<Vec<FieldKind>> = self.kinds_below(self.first);
        let records = self.trial.records.len() - self.first - 1;
        let columns = self.trial.columns;
        let agree = records > 0 && below.len() * 10 >= records * 9;
        if agree && found.len() == columns + 1 && found.iter().filter(|name| name.is_empty()).count() == 1 {
            let at = found.iter().position(String::is_empty).expect("one name is empty");
            found.remove(at);
            self.notes.push(format!("name {} of the header is empty, and no record has a field for it", at + 1));
        }
        if agree && found.len() < columns {
            self.complete(&mut found, &below);
        }
        self.named = found.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
        self.header.clone_from(&found);
        let Names { names, notes } = Names::distinct(found, std::mem::take(&mut self.notes));
        self.notes = notes;
        Ok(names)
    }

    /// Adds the names that a header lacks.
    fn complete(&mut self, found: &mut Vec<String>, below: &[Vec<FieldKind>]) {
        let (has, columns) = (found.len(), self.trial.columns);
        let is_surplus_empty = below.iter().all(|kinds| kinds[has..].iter().all(|kind| *kind == FieldKind::Empty));
        let may_cut = self.options.dialect.ragged == Ragged::Fit;
        // A header of one name may stand above texts with delimiters in them.
        let is_one_short = has + 1 == columns && has > 1;
        if !is_one_short && !is_surplus_empty && !may_cut {
            return;
        }
        // R writes the names of rows into a column of which the header says nothing.
        let is_of_rows = is_one_short && !is_surplus_empty && self.has_names_of_rows();
        let at = if is_of_rows { 0 } else { has };
        while found.len() < columns {
            found.insert(if is_of_rows { 0 } else { found.len() }, String::new());
        }
        if !is_surplus_empty {
            let name = name_by_position(at);
            self.notes.push(format!("{HEADER_HAS}{has} names for {columns} columns: the one without is called {name}"));
        }
    }

    /// Returns whether the first fields of the records are 1, 2, 3 and so on, or quoted like all of the header.
    fn has_names_of_rows(&self) -> bool {
        let first = |record: &LooseRecord| {
            let raw = &self.text[record.fields[0].range.clone()];
            String::from_utf8_lossy(raw).trim_matches('"').to_owned()
        };
        let below = self.trial.records.iter().skip(self.first + 1).map(|(_, record)| record);
        let is_header_quoted =
            self.record(self.first).is_some_and(|header| header.fields.iter().all(|field| field.is_quoted));
        below.clone().zip(1..).all(|(record, number)| first(record) == number.to_string())
            || (is_header_quoted && below.clone().all(|record| record.fields[0].is_quoted))
    }
}

/// Returns the start of the line behind `lines` lines. `None` if there are fewer.
fn skip_lines(text: &[u8], lines: u64, line_end: u8) -> Option<usize> {
    let Some(last) = lines.checked_sub(1) else { return Some(0) };
    let last = usize::try_from(last).ok()?;
    memchr::memchr_iter(line_end, text).nth(last).map(|end| end + 1)
}

/// Returns the delimiter that a file's name states.
fn promised_delimiter(name: &Path) -> Option<&'static str> {
    let name = name.file_name()?.to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz", ".lz4"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "tsv" | "tab" => Some("\t"),
        "psv" => Some("|"),
        _ => None,
    }
}

/// Refuses a file whose records are divided evenly, but not as its name says.
fn refuse_broken_promise(trial: &Trial, promised: &str) -> Result<()> {
    let found = trial.syntax.delimiter_bytes();
    if found == promised.as_bytes() || trial.evenness() < Evenness::Good {
        return Ok(());
    }
    let (promised, found) = (called(promised.as_bytes()), called(found));
    let message = format!("the file's name says that its records are divided by {promised}, and they are by {found}");
    let options = [&found, &promised]
        .map(|name| OptionName::Delimiter.word(if name == "tabs" { "tab".to_owned() } else { character(name) }));
    let [one, other] = options;
    Err(Error::new(ErrorKind::Data, message).advise(message!["say which one it is: ", one, " or ", other]))
}

/// Returns the delimiter as a noun of a sentence.
fn called(delimiter: &[u8]) -> String {
    match delimiter {
        b"," => "commas".to_owned(),
        b"\t" => "tabs".to_owned(),
        b";" => "semicolons".to_owned(),
        b"|" => "bars".to_owned(),
        other => format!("'{}'", String::from_utf8_lossy(other)),
    }
}

fn character(called: &str) -> String {
    let found = [("commas", ","), ("semicolons", ";"), ("bars", "|")].into_iter().find(|(name, _)| *name == called);
    found.map_or_else(|| called.trim_matches('\'').to_owned(), |(_, character)| character.to_owned())
}

/// Describes a dialect for the summary.
fn format_of(syntax: &Syntax, text: &[u8], header_line: Option<u64>) -> TextFormat {
    let shown = |byte: Option<u8>| byte.map(char::from);
    let is_pair = memchr::memchr(b'\n', text).is_some_and(|end| end > 0 && text[end - 1] == b'\r');
    let line_end = match syntax.line_end {
        b'\r' => "CR",
        _ if is_pair => "CRLF",
        _ => "LF",
    };
    TextFormat {
        delimiter: String::from_utf8_lossy(syntax.delimiter_bytes()).into_owned(),
        quote: shown(syntax.quote),
        escape: shown(syntax.escape),
        line_end,
        header_line,
        is_header_guessed: false,
        doubtful_header: None,
        named: usize::MAX,
        encoding: "",
        notes: Vec::new(),
    }
}
