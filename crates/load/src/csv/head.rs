//! Detects a CSV file's delimiter and reads its column names.

use super::framing::{never_closed, place};
use super::name_by_position;
use super::syntax::{RecordEnd, Syntax, shown, without_line_end};
use crate::input::read_failed;
use crate::options::{InvalidUtf8, ReadOptions};
use litepress_rows::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// The beginning of a file.
pub(super) struct Head {
    pub syntax: Syntax,
    pub names: Vec<String>,
    /// Bytes of the records that were read already.
    pub rest: Vec<u8>,
    /// The line in which the records begin, counted from 1.
    pub line: u64,
}

/// Candidates for the delimiter. If several split the first record into as many fields, the first wins.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Maximum length of the first record.
const MOST_BYTES: usize = 16 << 20;

/// The first record as a syntax splits it.
struct First {
    syntax: Syntax,
    /// Its range without the line end.
    record: Range<usize>,
    /// Start of the next line.
    next: usize,
    fields: Vec<Range<usize>>,
    /// Position of a quote that is open until the end of the file.
    open: Option<usize>,
}

impl Head {
    /// Reads the first record from `stream`, and possibly some bytes behind it (`rest`).
    pub fn read(stream: &mut dyn Read, name: &Path, options: &ReadOptions) -> Result<Self> {
        let in_file = |error: Error| error.in_file(name);
        let dialect = &options.dialect;
        let delimiters = match &dialect.delimiter {
            Some(delimiter) => std::slice::from_ref(delimiter),
            None => &DELIMITERS[..],
        };
        // A detected delimiter must not have another role.
        let is_free = |byte: &&u8| {
            dialect.delimiter.is_some() || ![dialect.quote, dialect.escape, dialect.comment].contains(&Some(**byte))
        };
        let syntaxes = delimiters.iter().filter(is_free).map(|&delimiter| Syntax::new(dialect, delimiter));
        let syntaxes = syntaxes.collect::<Result<Vec<_>>>()?;
        let mut text = Vec::new();
        let first = loop {
            let missing = (64 << 10).max(text.len());
            let read = stream.take(missing as u64).read_to_end(&mut text);
            let is_end = read.map_err(|error| read_failed(name, error))? < missing;
            if let Some(first) = First::find(&text, &syntaxes, is_end).map_err(in_file)? {
                break first;
            }
            if is_end {
                return Self::of_nothing(text, &syntaxes[0], options).map_err(in_file);
            }
            if text.len() > MOST_BYTES {
                let message = format!("the first record does not end within {} MiB", MOST_BYTES >> 20);
                return Err(in_file(Error::new(ErrorKind::Data, message).advise("is it a CSV file?")));
            }
        };
        first.into_head(text, options).map_err(in_file)
    }

    /// Returns the head of a file without records.
    fn of_nothing(text: Vec<u8>, syntax: &Syntax, options: &ReadOptions) -> Result<Self> {
        let Some(names) = &options.dialect.columns else {
            let error = Error::new(ErrorKind::Data, "the file is empty: nothing says which columns it has");
            return Err(error.advise("name the columns"));
        };
        check_names(names)?;
        Ok(Self {
            syntax: Syntax { columns: names.len(), ..syntax.clone() },
            names: names.clone(),
            rest: text,
            line: 1,
        })
    }
}

impl First {
    /// Returns the first record in the syntax that gives it most fields. `None` if it is incomplete or there is none.
    fn find(text: &[u8], syntaxes: &[Syntax], is_end: bool) -> Result<Option<Self>> {
        let mut best: Option<Self> = None;
        for syntax in syntaxes {
            let mut start = 0;
            while start < text.len()
                && let Some(next) = syntax.ignored(text, start)
            {
                start = next;
            }
            let (next, open) = match syntax.record_end(text, start) {
                _ if start == text.len() => return Ok(None),
                RecordEnd::Behind(next) => (next, None),
                RecordEnd::NotYet if is_end => (text.len(), None),
                RecordEnd::Open(at) if is_end => (text.len(), Some(at)),
                _ => return Ok(None),
            };
            let record = start..start + without_line_end(&text[start..next]).len();
            let fields = syntax.fields(&text[record.clone()]);
            if best.as_ref().is_none_or(|best| fields.len() > best.fields.len()) {
                best = Some(Self { syntax: syntax.clone(), record, next, fields, open });
            }
        }
        match best.as_ref().and_then(|best| best.open) {
            Some(at) => Err(never_closed(text, at)),
            None => Ok(best),
        }
    }

    fn into_head(self, mut text: Vec<u8>, options: &ReadOptions) -> Result<Head> {
        let given = options.dialect.columns.as_ref();
        let names = match given {
            Some(names) => names.clone(),
            None if options.dialect.header => self.names(&text, options.invalid_utf8)?,
            None => (0..self.fields.len()).map(name_by_position).collect(),
        };
        if given.is_some() {
            check_names(&names)?;
        }
        if options.dialect.header && names.len() != self.fields.len() {
            let message = format!("the header has {} fields, and {} columns are named", self.fields.len(), names.len());
            return Err(self.place(Error::new(ErrorKind::Usage, message), &text, 0).advise("name as many"));
        }
        let next = if options.dialect.header { self.next } else { 0 };
        let (line, _) = place(&text, next);
        let rest = text.split_off(next);
        Ok(Head { syntax: Syntax { columns: names.len(), ..self.syntax }, names, rest, line })
    }

    /// Returns the names in the header. An empty field is named by its position: many files have one, above row numbers.
    fn names(&self, text: &[u8], invalid_utf8: InvalidUtf8) -> Result<Vec<String>> {
        let record = &text[self.record.clone()];
        let mut names: Vec<String> = Vec::with_capacity(self.fields.len());
        let mut positions = HashMap::new();
        for (position, field) in self.fields.iter().enumerate() {
            let refuse = |message: String| self.place(Error::new(ErrorKind::Data, message), text, position);
            let name = self.name(record, field).map_err(refuse)?;
            let name = match String::from_utf8(name.into_owned()) {
                Ok(name) => name,
                Err(error) if invalid_utf8 == InvalidUtf8::Replace => {
                    String::from_utf8_lossy(error.as_bytes()).into_owned()
                }
                Err(_) => {
                    return Err(refuse("the name of the column is not UTF-8".to_owned()).advise("say its encoding"));
                }
            };
            let name = if name.is_empty() { name_by_position(position) } else { name };
            if let Some(earlier) = positions.insert(name.to_ascii_lowercase(), position) {
                let (earlier, later) = (earlier + 1, position + 1);
                let message = format!("columns {earlier} and {later} of the header are both called {name}");
                return Err(refuse(message).advise("name the columns"));
            }
            names.push(name);
        }
        Ok(names)
    }

    fn name<'a>(&self, record: &'a [u8], field: &Range<usize>) -> Result<Cow<'a, [u8]>, String> {
        let syntax = &self.syntax;
        if syntax.is_quoted(record, field) && syntax.quoted_end(record, field.start + 1) != Some(field.end) {
            return Err("text behind the closing quote of a column's name".to_owned());
        }
        let name = syntax.value(record, field);
        // A file whose lines end with a single CR is one long header.
        match name.iter().find(|&&byte| byte == 0 || (byte == b'\r' && !syntax.is_quoted(record, field))) {
            Some(&byte) => Err(format!("the name of a column holds the character {}", shown(byte))),
            None => Ok(name),
        }
    }

    fn place(&self, error: Error, text: &[u8], field: usize) -> Error {
        let (line, character) = place(text, self.record.start + self.fields[field].start);
        error.at(line, character)
    }
}

/// Checks names from the caller: they must be distinct to SQLite, and not empty.
fn check_names(names: &[String]) -> Result<()> {
    let mut positions = HashMap::new();
    for (position, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::new(ErrorKind::Usage, format!("the name of column {} is empty", position + 1)));
        }
        if let Some(earlier) = positions.insert(name.to_ascii_lowercase(), position) {
            let message = format!("columns {} and {} are both called {name}", earlier + 1, position + 1);
            return Err(Error::new(ErrorKind::Usage, message).advise("give each column another name"));
        }
    }
    if names.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no column is named"));
    }
    Ok(())
}
