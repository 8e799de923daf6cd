//! The error type: what went wrong, where, and what to do about it.

use crate::message;
use crate::message::{Message, Words};
use litepress_format::value::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// The result of operations that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an [`Error`]. Callers branch on it; people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call itself is wrong: an option, an argument, a combination of them.
    Usage,
    /// SQLite refuses the schema, or the schema does more than define.
    Schema,
    /// The schema is valid, but litepress does not support this part of it.
    Unsupported,
    /// An annotation or a generator argument is wrong.
    Generator,
    /// A row breaks a rule of its table: NOT NULL, a STRICT type, a key.
    Constraint,
    /// The input is not what it claims to be.
    Data,
    /// A limit of the SQLite file format is exceeded.
    Limit,
    /// The target exists, and replacing it was not allowed.
    Exists,
    /// The target cannot be replaced: it is in use, or of a kind that is never replaced.
    Target,
    /// Not enough room on the disk.
    NoSpace,
    /// The operating system failed a read, a write or a sync.
    Io,
    /// A database file breaks the rules of the file format.
    Corrupt,
    /// The user asked to stop.
    Interrupted,
}

impl ErrorKind {
    /// Returns the kind's name for programs: one lower-case word, or two with `_` between.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Schema => "schema",
            Self::Unsupported => "unsupported",
            Self::Generator => "generator",
            Self::Constraint => "constraint",
            Self::Data => "data",
            Self::Limit => "limit",
            Self::Exists => "exists",
            Self::Target => "target",
            Self::NoSpace => "no_space",
            Self::Io => "io",
            Self::Corrupt => "corrupt",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The place of a mistake. Each part is present if known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The file that was read or written.
    pub file: Option<PathBuf>,
    /// Record (row) number, counted from 1.
    pub record: Option<u64>,
    /// Line number in `file`, counted from 1.
    pub line: Option<u64>,
    /// Character position in the line, counted from 1.
    pub character: Option<u64>,
    /// Table name.
    pub table: Option<String>,
    /// Column name.
    pub column: Option<String>,
    /// The offending value as SQLite would quote it, shortened if long.
    pub value: Option<String>,
}

/// An error of litepress: kind, message, place and advice.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: Message,
    /// The message in Rust's words.
    message_text: String,
    place: Place,
    advice: Option<Message>,
    /// The advice in Rust's words.
    advice_text: String,
    /// The line of a text that the error is about, with a caret below the character.
    excerpt: Option<String>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of this kind, saying what is wrong in one sentence without a final dot.
    pub fn new(kind: ErrorKind, message: impl Into<Message>) -> Self {
        let message = message.into();
        Self(Box::new(Inner {
            kind,
            message_text: message.to_string(),
            message,
            place: Place::default(),
            advice: None,
            advice_text: String::new(),
            excerpt: None,
            cause: None,
        }))
    }

    /// Creates an error for a failed call of the operating system, on a path. A full disk becomes [`ErrorKind::NoSpace`].
    pub fn io(doing: &str, path: &Path, cause: std::io::Error) -> Self {
        let (kind, advice) = match cause.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                (ErrorKind::NoSpace, Some("free some room, or write to another disk"))
            }
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                (ErrorKind::Io, Some("check the permissions of the file and its folder"))
            }
            std::io::ErrorKind::FileTooLarge => {
                (ErrorKind::Io, Some("raise the limit on the size of files (ulimit -f)"))
            }
            _ => (ErrorKind::Io, None),
        };
        let error = Self::new(kind, format!("cannot {doing}: {cause}")).in_file(path).caused_by(cause);
        if let Some(advice) = advice { error.advise(advice) } else { error }
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the place.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Returns the message, without place and advice.
    pub fn message(&self) -> &str {
        &self.0.message_text
    }

    /// What is wrong, without the place and the advice, in the words of a face.
    pub fn message_in(&self, words: &dyn Words) -> String {
        self.0.message.in_words(words)
    }

    /// Returns place and message, as Display shows them before the advice.
    pub fn headline(&self) -> String {
        self.headline_of(self.message())
    }

    /// Place and message in the words of a face.
    pub fn headline_in(&self, words: &dyn Words) -> String {
        self.headline_of(&self.0.message.in_words(words))
    }

    /// What to do about it in the words of a face.
    pub fn advice_in(&self, words: &dyn Words) -> Option<String> {
        self.0.advice.as_ref().map(|advice| advice.in_words(words))
    }

    /// The whole error, as Display shows it, in the words of a face.
    pub fn in_words(&self, words: &dyn Words) -> String {
        let advice = self.advice_in(words).map_or_else(String::new, |advice| format!("; {advice}"));
        self.headline_in(words) + &advice
    }

    /// Several mistakes as one error: the first as it is, the others in its message.
    ///
    /// # Panics
    /// If there is no mistake.
    pub fn all_of(errors: Vec<Self>) -> Self {
        let mut errors = errors.into_iter();
        let first = errors.next().expect("there is a mistake");
        let others: Vec<Message> = errors.map(|error| message!["\n  also: ", error.whole()]).collect();
        if others.is_empty() {
            return first;
        }
        Self::new(first.kind(), others.into_iter().fold(first.whole(), Message::and))
    }

    /// Place and message, as a part of another message.
    pub fn statement(&self) -> Message {
        message![self.shown_place(), &self.0.message, self.shown_value()]
    }

    /// Place, message and advice, as a part of another message.
    fn whole(&self) -> Message {
        match &self.0.advice {
            Some(advice) => message![self.statement(), "; ", advice],
            None => self.statement(),
        }
    }

    fn headline_of(&self, message: &str) -> String {
        self.shown_place() + message + &self.shown_value()
    }

    /// The place in front of the message.
    fn shown_place(&self) -> String {
        let mut out = String::new();
        self.write_place(&mut out).expect("a string takes everything");
        out
    }

    /// The value behind the message.
    fn shown_value(&self) -> String {
        self.place().value.as_ref().map_or_else(String::new, |value| format!(" (value {})", escaped(value)))
    }

    fn write_place(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let place = self.place();
        if let Some(file) = &place.file {
            write!(out, "{}", escaped(&file.display().to_string()))?;
            if let Some(line) = place.line {
                write!(out, ":{line}")?;
            }
            if let Some(character) = place.character {
                write!(out, ":{character}")?;
            }
            write!(out, ": ")?;
        } else if let (Some(line), Some(character)) = (place.line, place.character) {
            write!(out, "line {line}, character {character}: ")?;
        }
        match (place.table.as_deref().map(escaped), place.column.as_deref().map(escaped)) {
            (Some(table), Some(column)) => write!(out, "{table}.{column}: ")?,
            (Some(table), None) => write!(out, "table {table}: ")?,
            (None, Some(column)) => write!(out, "column {column}: ")?,
            (None, None) => {}
        }
        if let Some(record) = place.record {
            write!(out, "record {record}: ")?;
        }
        Ok(())
    }

    /// Returns the advice, if there is any.
    pub fn advice(&self) -> Option<&str> {
        self.0.advice.as_ref().map(|_| self.0.advice_text.as_str())
    }

    /// The line of a text that the error is about, with a caret below the character, where it is about one.
    pub fn excerpt(&self) -> Option<&str> {
        self.0.excerpt.as_deref()
    }

    /// Adds the [excerpt](Self::excerpt) of the text that [`Place::line`] and [`Place::character`] count in.
    #[must_use]
    pub fn with_excerpt_of(mut self, text: &str) -> Self {
        let place = self.place();
        self.0.excerpt = place.line.zip(place.character).and_then(|(line, character)| excerpt(text, line, character));
        self
    }

    /// Sets the advice.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<Message>) -> Self {
        let advice = advice.into();
        self.0.advice_text = advice.to_string();
        self.0.advice = Some(advice);
        self
    }

    /// Sets the underlying error, for [`std::error::Error::source`].
    #[must_use]
    pub fn caused_by(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Box::new(cause));
        self
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.0.place.file = Some(file.into());
        self
    }

    /// Sets line and character, both counted from 1.
    #[must_use]
    pub fn at(mut self, line: u64, character: u64) -> Self {
        self.0.place.line = Some(line);
        self.0.place.character = Some(character);
        self
    }

    /// Sets the record number, counted from 1.
    #[must_use]
    pub fn in_record(mut self, record: u64) -> Self {
        self.0.place.record = Some(record);
        self
    }

    /// Sets the table.
    #[must_use]
    pub fn in_table(mut self, table: impl Into<String>) -> Self {
        self.0.place.table = Some(table.into());
        self
    }

    /// Sets the column.
    #[must_use]
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.0.place.column = Some(column.into());
        self
    }

    /// Sets the offending value.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<String>) -> Self {
        self.0.place.value = Some(value.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        if let Some(advice) = self.advice() {
            write!(f, "; {advice}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as _)
    }
}

/// Characters of a source line that are shown around a mistake.
const EXCERPT_CHARACTERS: usize = 100;

/// Returns the line of a text with a caret below one of its characters, both counted from 1.
fn excerpt(text: &str, line: u64, character: u64) -> Option<String> {
    let source = text.split('\n').nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let characters: Vec<char> = source.trim_end_matches('\r').chars().collect();
    let caret = usize::try_from(character).ok()?.checked_sub(1)?.min(characters.len());
    let start = caret.saturating_sub(EXCERPT_CHARACTERS / 2);
    let end = characters.len().min(start + EXCERPT_CHARACTERS);
    // Control characters, tabs too, would move the caret or the terminal's mind.
    let shown: String = characters[start..end].iter().map(|it| if it.is_control() { ' ' } else { *it }).collect();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let before = " ".repeat(caret - start);
    Some(format!("{number} | {}\n{margin} | {before}^\n", shown.trim_end()))
}

/// `1,000,000`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with its noun: `1 row`, `2,000 rows`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Writes control characters as escapes, so that a text stays on its line and a terminal obeys none of it.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_if(text, is_obeyed)
}

/// Writes control characters as escapes, but for the ends of lines.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escaped_if(text, |it| it != '\n' && is_obeyed(it))
}

fn escaped_if(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let escape = |it: char| if is_escaped(it) { it.escape_default().to_string() } else { it.to_string() };
    text.chars().map(escape).collect::<String>().into()
}

/// Returns whether a terminal does something at this character: also those that turn the direction of text.
fn is_obeyed(it: char) -> bool {
    it.is_control() || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the name of a table, column or index in SQL quotes.
pub fn quoted_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the value as SQL writes it, shortened if long.
pub fn quote(value: &Value<'_>) -> String {
    const SHOWN: usize = 60;
    match *value {
        Value::Null => "NULL".to_owned(),
        Value::Int(int) => int.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let shown: String = text.chars().take(SHOWN).collect();
            let dots = if shown.len() < text.len() { "..." } else { "" };
            format!("'{}{dots}'", shown.replace('\'', "''"))
        }
        Value::Blob(blob) => format!("a blob of {}", counted(blob.len() as u64, "byte")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of two lines broke the message in two, and one with an escape sequence coloured the terminal.
    #[test]
    fn values_stay_on_the_line_of_their_message() {
        let error = Error::new(ErrorKind::Data, "is not a number").in_column("a\nb").with_value("'1\n\u{1b}[31m2'");
        assert_eq!(error.headline(), "column a\\nb: is not a number (value '1\\n\\u{1b}[31m2')");
        assert_eq!(error.place().value.as_deref(), Some("'1\n\u{1b}[31m2'"), "programs get the value as it is");
        assert!(matches!(escaped("plain, ä"), Cow::Borrowed("plain, ä")));
    }

    /// Messages said "1 rows" and "1 columns".
    #[test]
    fn one_is_singular() {
        assert_eq!(["0 rows", "1 row", "2 rows", "1,000 rows"], [0, 1, 2, 1000].map(|number| counted(number, "row")));
    }

    #[test]
    fn the_caret_stands_below_the_character() {
        assert_eq!(excerpt("one\n\ttwo\r\nthree", 2, 2).unwrap(), "2 |  two\n  |  ^\n");
        assert_eq!(excerpt("one", 1, 4).unwrap(), "1 | one\n  |    ^\n");
        assert_eq!(excerpt("", 1, 1).unwrap(), "1 | \n  | ^\n");
        assert_eq!(excerpt("one", 2, 1), None);
        let long = excerpt(&format!("{}x{}", "a".repeat(5000), "b".repeat(5000)), 1, 5001).unwrap();
        assert!(long.len() < 300 && long.contains("axb"), "{long}");
    }
}
