//! The error type: what went wrong, where, and what to do about it.

use litepress_format::value::Value;
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
    message: String,
    place: Place,
    advice: Option<String>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error. The message is one sentence without a final dot.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), place: Place::default(), advice: None, cause: None }))
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
        let mut error = Self::new(kind, format!("cannot {doing}: {cause}")).in_file(path).caused_by(cause);
        error.0.advice = advice.map(str::to_owned);
        error
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
        &self.0.message
    }

    /// Returns place and message, as Display shows them before the advice.
    pub fn headline(&self) -> String {
        let mut out = String::new();
        self.write_headline(&mut out).expect("a string takes everything");
        out
    }

    fn write_headline(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let Inner { message, place, .. } = &*self.0;
        if let Some(file) = &place.file {
            write!(out, "{}", file.display())?;
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
        match (&place.table, &place.column) {
            (Some(table), Some(column)) => write!(out, "{table}.{column}: ")?,
            (Some(table), None) => write!(out, "table {table}: ")?,
            (None, Some(column)) => write!(out, "column {column}: ")?,
            (None, None) => {}
        }
        if let Some(record) = place.record {
            write!(out, "record {record}: ")?;
        }
        write!(out, "{message}")?;
        if let Some(value) = &place.value {
            write!(out, " (value {value})")?;
        }
        Ok(())
    }

    /// Returns the advice, if there is any.
    pub fn advice(&self) -> Option<&str> {
        self.0.advice.as_deref()
    }

    /// Sets the advice.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.0.advice = Some(advice.into());
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
        self.write_headline(f)?;
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

/// Returns a number with thousands separators: `1,000,000`.
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
        Value::Blob(blob) => format!("a blob of {} bytes", blob.len()),
    }
}
