//! Converts Python values to blocks of cells.
//!
//! Values whose type is exactly `int`, `str`, `float`, `bool`, `bytes` or `None` are read here; all others go through
//! `litepress/_adapt.py` first. A column begins with the kind of its first value. If kinds mix within a block, the block
//! holds values of any kind.

use crate::errors::exception;
use litepress::pipeline::{ColumnBuilder, MAX_VALUE_BYTES};
use litepress::{Error, ErrorKind};
use litepress_load::reader::{FileColumn, FileColumnKind};
use litepress_rows::CellBlock;
use litepress_rows::error::grouped;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};

/// A piece ends with the row that brings its values to this number of bytes.
pub const PIECE_BYTES: usize = 4 << 20;
/// Most rows of a piece, however small they are.
pub const PIECE_ROWS: u64 = 1 << 17;

/// A double represents every integer up to this one exactly.
const MOST_EXACT: u64 = 1 << 53;
/// Decimal digits that a double always preserves.
const DOUBLE_DIGITS: usize = 15;
/// Decimal exponents at which doubles preserve all [`DOUBLE_DIGITS`].
const DOUBLE_EXPONENTS: std::ops::RangeInclusive<i64> = -290..=290;

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    pub const NONE: Self = Self(0);
    pub const BOOL: Self = Self(1);
    pub const INT: Self = Self(1 << 1);
    /// An integer beyond [`MOST_EXACT`], which a double may round.
    pub const LARGE_INT: Self = Self(1 << 2);
    pub const REAL: Self = Self(1 << 3);
    /// A decimal whose digits a double preserves.
    pub const DECIMAL: Self = Self(1 << 4);
    pub const LONG_DECIMAL: Self = Self(1 << 5);
    pub const TEXT: Self = Self(1 << 6);
    pub const BLOB: Self = Self(1 << 7);

    const NAMES: [(Self, &'static str); 8] = [
        (Self::BOOL, "bool"),
        (Self::INT, "int"),
        (Self::LARGE_INT, "int beyond 2^53"),
        (Self::REAL, "float"),
        (Self::DECIMAL, "Decimal of up to 15 digits"),
        (Self::LONG_DECIMAL, "Decimal of more than 15 digits"),
        (Self::TEXT, "text"),
        (Self::BLOB, "bytes"),
    ];

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn others(self) -> Self {
        Self(!self.0)
    }

    /// Lists the kinds for people: `int and float`.
    pub fn names(self) -> String {
        let has_int = self.meets(Self::INT);
        let is_told = |kind: Self| self.meets(kind) && !(kind == Self::LARGE_INT && has_int);
        let names: Vec<&str> = Self::NAMES.iter().filter(|(kind, _)| is_told(*kind)).map(|(_, name)| *name).collect();
        match names.split_last() {
            None => "nothing but None".to_owned(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        }
    }

    /// Returns the declared type that stores all values of these kinds unchanged, or an empty name if no type does.
    pub fn declared_type(self) -> &'static str {
        let types = [("INTEGER", Self::INTEGERS), ("REAL", Self::REALS), ("TEXT", Self::TEXTS), ("BLOB", Self::BLOB)];
        match types.into_iter().find(|(_, kinds)| self.is_within(*kinds)) {
            Some((declared_type, _)) if self != Self::NONE => declared_type,
            _ => "",
        }
    }

    /// Returns the kinds that a column of this type stores unchanged: the inverse of [`declared_type`](Self::declared_type).
    pub fn of_declared_type(declared_type: &str) -> Self {
        match declared_type {
            "INTEGER" => Self::INTEGERS,
            "REAL" => Self::REALS,
            "TEXT" => Self::TEXTS,
            "BLOB" => Self::BLOB,
            _ => Self::NONE.others(),
        }
    }

    const INTEGERS: Self = Self::BOOL.and(Self::INT).and(Self::LARGE_INT);
    const REALS: Self = Self::INT.and(Self::REAL).and(Self::DECIMAL);
    const TEXTS: Self = Self::TEXT.and(Self::DECIMAL).and(Self::LONG_DECIMAL);
}

/// The reason why a value is refused.
#[derive(Debug)]
pub enum Refusal {
    /// Python code raised this.
    Raised(PyErr),
    /// SQLite has no form for it: the message, and the advice.
    Value(String, Option<String>),
    /// It is of a kind that the column does not take.
    Kind(Kinds),
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl Refusal {
    fn value(message: &str) -> Self {
        Self::Value(message.to_owned(), None)
    }

    /// Makes the exception. `reason` tells why the column has its type.
    #[cold]
    fn exception(self, table: &str, column: &str, record: u64, value: &Bound<'_, PyAny>, reason: &str) -> PyErr {
        let (message, advice) = match self {
            Self::Raised(error) => return error,
            Self::Value(message, advice) => (message, advice),
            Self::Kind(kind) => (
                format!("{} does not go into the column unchanged: {reason}", kind.names()),
                Some("give a schema that says what the column is, or convert the value".to_owned()),
            ),
        };
        let error = Error::new(ErrorKind::Data, message).in_table(table).in_column(column).in_record(record);
        let error = error.with_value(shown(value));
        let error = if let Some(advice) = advice { error.advise(advice) } else { error };
        exception(value.py(), &error)
    }
}

/// The position of a value, for errors.
pub struct Place<'a> {
    pub table: &'a str,
    /// The columns, once they are settled.
    pub fields: Option<&'a [FileColumn]>,
    /// Number of the row, counted from 1.
    pub record: u64,
}

impl Place<'_> {
    /// Makes the exception for a value that its column refuses.
    #[cold]
    pub fn refused(&self, refusal: Refusal, column: &str, value: &Bound<'_, PyAny>) -> PyErr {
        let field = self.fields.and_then(|fields| fields.iter().find(|field| field.name == column));
        let reason = match field.map(|field| &field.kind) {
            Some(FileColumnKind::Typed { declared_type, reason, .. }) => {
                format!("it is {declared_type}, after {reason}")
            }
            _ => String::new(),
        };
        refusal.exception(self.table, column, self.record, value, &reason)
    }

    /// Makes the exception for a row that lacks an attribute.
    #[cold]
    pub fn no_attribute(&self, row: &Bound<'_, PyAny>, column: &str) -> PyErr {
        let message = format!("the row, of type {}, has no such attribute", type_name(row));
        let error = Error::new(ErrorKind::Data, message).in_table(self.table).in_column(column).in_record(self.record);
        exception(row.py(), &error.with_value(shown(row)))
    }
}

/// Returns the name of a value's type.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "unknown".to_owned(), |name| name.to_string())
}

/// Describes a column by the kinds of its values in the first `rows` rows.
pub fn field(name: String, kinds: Kinds, rows: u64) -> FileColumn {
    let reason = match rows {
        1 => format!("{} in the first row", kinds.names()),
        _ => format!("{} in the first {} rows", kinds.names(), grouped(rows)),
    };
    let declared_type = kinds.declared_type().to_owned();
    FileColumn { name, kind: FileColumnKind::Typed { declared_type, reason: reason.into(), not_null: false } }
}

/// Returns a value's `repr`, cut after 60 characters.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    const SHOWN: usize = 60;
    let Ok(text) = value.repr() else { return "?".to_owned() };
    let text = text.to_string_lossy();
    let shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() { format!("{shown}...") } else { shown }
}

/// The conversion of values that are not of a plain type, by `litepress._adapt.Adapter`.
#[derive(Debug)]
pub struct Adapter {
    call: Py<PyAny>,
    /// The functions of types that were seen before, shared with the Python object: a lookup here saves a call.
    known: Py<PyDict>,
    decimal_text: Py<PyAny>,
    refused: Py<PyAny>,
    /// Plain values need not be adapted.
    passes_plain: bool,
}

impl Adapter {
    /// Makes an adapter with the user's functions by type, if any.
    pub fn new(py: Python<'_>, adapters: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let module = py.import("litepress._adapt")?;
        let call = module.getattr("Adapter")?.call1((adapters,))?;
        let passes_plain = call.getattr("passes_plain")?.extract()?;
        let known = call.getattr("known")?.cast_into::<PyDict>()?.unbind();
        let (decimal_text, refused) = (module.getattr("DecimalText")?.unbind(), module.getattr("Refused")?.unbind());
        Ok(Self { call: call.unbind(), known, decimal_text, refused, passes_plain })
    }

    fn adapt<'py>(&self, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Refusal> {
        let py = value.py();
        let adapted = match self.known.bind(py).get_item(value.get_type())? {
            Some(function) => function.call1((value,)),
            None => self.call.bind(py).call1((value,)),
        };
        adapted.map_err(|error| {
            let raised = error.value(py);
            if !raised.get_type().is(&self.refused) {
                return Refusal::Raised(error);
            }
            let part = |name: &str| raised.getattr(name).and_then(|part| part.extract::<String>()).ok();
            Refusal::Value(part("message").unwrap_or_default(), part("advice"))
        })
    }
}

/// A column that is being filled, and the kinds of its values.
#[derive(Debug, Default)]
pub struct PythonColumn {
    column: ColumnBuilder,
    kinds: Kinds,
    /// Kinds that the column does not take.
    refused: Kinds,
}

impl PythonColumn {
    /// Starts a column with this many NULLs.
    pub fn with_nulls(rows: usize) -> Self {
        Self { column: ColumnBuilder::with_nulls(rows), ..Self::default() }
    }

    /// Returns the kinds of all values so far, in earlier blocks too.
    pub fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// Refuses all other kinds from now on.
    pub fn take_only(&mut self, kinds: Kinds) {
        self.refused = kinds.others();
    }

    /// Appends a value and returns its approximate size.
    #[inline]
    pub fn push(&mut self, value: &Bound<'_, PyAny>, adapter: &Adapter) -> Result<usize, Refusal> {
        if adapter.passes_plain
            && let Some(bytes) = self.push_plain(value)?
        {
            return Ok(bytes);
        }
        self.push_adapted(&adapter.adapt(value)?, adapter)
    }

    #[cold]
    fn push_adapted(&mut self, value: &Bound<'_, PyAny>, adapter: &Adapter) -> Result<usize, Refusal> {
        if let Some(bytes) = self.push_plain(value)? {
            return Ok(bytes);
        }
        match value.cast::<PyString>() {
            Ok(text) if value.get_type().is(&adapter.decimal_text) => {
                let text = utf8(text)?;
                self.push_text(text, if is_double(text) { Kinds::DECIMAL } else { Kinds::LONG_DECIMAL })
            }
            _ => Err(Refusal::value("the adapter gives nothing that can be stored")),
        }
    }

    /// Appends a value of a plain type and returns its approximate size, or `None` if its type is not plain.
    #[inline]
    fn push_plain(&mut self, value: &Bound<'_, PyAny>) -> Result<Option<usize>, Refusal> {
        const NUMBER_BYTES: usize = 8;
        if value.is_exact_instance_of::<PyInt>() {
            let Ok(int) = value.extract::<i64>() else {
                return Err(Refusal::value("the integer is beyond the 64 bits of SQLite"));
            };
            self.note(if int.unsigned_abs() <= MOST_EXACT { Kinds::INT } else { Kinds::LARGE_INT })?;
            self.column.push_int(int);
            return Ok(Some(NUMBER_BYTES));
        }
        if value.is_exact_instance_of::<PyString>()
            && let Ok(text) = value.cast_exact::<PyString>()
        {
            return self.push_text(utf8(text)?, Kinds::TEXT).map(Some);
        }
        if value.is_none() {
            self.push_null();
            return Ok(Some(1));
        }
        if value.is_exact_instance_of::<PyFloat>() {
            self.push_real(value.extract()?)?;
            return Ok(Some(NUMBER_BYTES));
        }
        if value.is_exact_instance_of::<PyBool>() {
            self.note(Kinds::BOOL)?;
            self.column.push_int(value.is_truthy()?.into());
            return Ok(Some(NUMBER_BYTES));
        }
        if value.is_exact_instance_of::<PyBytes>()
            && let Ok(bytes) = value.cast_exact::<PyBytes>()
        {
            return self.push_blob(bytes.as_bytes()).map(Some);
        }
        Ok(None)
    }

    #[inline]
    fn note(&mut self, kind: Kinds) -> Result<(), Refusal> {
        if kind.meets(self.refused) {
            return Err(Refusal::Kind(kind));
        }
        self.kinds = self.kinds.and(kind);
        Ok(())
    }

    /// Appends a double. NaN becomes NULL, and leaves the column's kinds as they are.
    #[inline]
    fn push_real(&mut self, value: f64) -> Result<(), Refusal> {
        if value.is_nan() {
            self.push_null();
            return Ok(());
        }
        self.note(Kinds::REAL)?;
        self.column.push_real(value);
        Ok(())
    }

    #[inline]
    fn push_text(&mut self, text: &str, kind: Kinds) -> Result<usize, Refusal> {
        check_length(text.len())?;
        self.note(kind)?;
        self.column.push_text(text);
        Ok(text.len())
    }

    fn push_blob(&mut self, blob: &[u8]) -> Result<usize, Refusal> {
        check_length(blob.len())?;
        self.note(Kinds::BLOB)?;
        self.column.push_blob(blob);
        Ok(blob.len())
    }

    /// Appends NULL, which is of no kind.
    pub fn push_null(&mut self) {
        self.column.push_null();
    }

    /// Removes all rows from this one on.
    pub fn truncate(&mut self, rows: usize) {
        self.column.truncate(rows);
    }

    /// Returns the block and starts the next one.
    pub fn finish(&mut self) -> CellBlock {
        self.column.finish()
    }
}

fn utf8<'a>(text: &'a Bound<'_, PyString>) -> Result<&'a str, Refusal> {
    text.to_str().map_err(|_| Refusal::value("the text has lone surrogates, which UTF-8 has no form for"))
}

fn check_length(bytes: usize) -> Result<(), Refusal> {
    if bytes <= MAX_VALUE_BYTES {
        return Ok(());
    }
    Err(Refusal::value("the value is longer than the 1,000,000,000 bytes that SQLite allows"))
}

/// Returns whether a double preserves all digits of a decimal: it has 15 at most, and is neither huge nor tiny.
fn is_double(decimal: &str) -> bool {
    let (mantissa, exponent) = decimal.split_once(['E', 'e']).unwrap_or((decimal, "0"));
    let digits = mantissa.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    digits <= DOUBLE_DIGITS && exponent.parse().is_ok_and(|exponent: i64| DOUBLE_EXPONENTS.contains(&exponent))
}
