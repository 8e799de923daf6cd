//! Defines the meanings of columns, and the forms in which each can be stored.

use super::calendar::Unit;
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, IntervalUnit};
use litepress_rows::{Affinity, Error, ErrorKind, Message, OptionName, Result, message};

/// The meaning of a column's values, independent of their array type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SemanticType {
    Null,
    Boolean,
    Integer,
    Unsigned64,
    Float,
    Decimal {
        precision: u8,
        scale: i8,
    },
    Date {
        per_day: i64,
    },
    Timestamp {
        unit: Unit,
        is_instant: bool,
    },
    Time(Unit),
    Duration(Unit),
    Interval(IntervalUnit),
    Text,
    JsonText,
    /// Bytes that their file declares as names of a list (Parquet ENUM).
    Enum,
    Binary,
    Uuid,
    Nested,
}

/// The form in which a column is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StorageForm {
    Integer,
    Real,
    Text,
    Blob,
    Hex,
    Json,
    UnixEpoch,
    JulianDay,
    Microseconds,
}

impl StorageForm {
    const ALL: [Self; 9] = [
        Self::Integer,
        Self::Real,
        Self::Text,
        Self::Blob,
        Self::Hex,
        Self::Json,
        Self::UnixEpoch,
        Self::JulianDay,
        Self::Microseconds,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Text => "text",
            Self::Blob => "blob",
            Self::Hex => "hex",
            Self::Json => "json",
            Self::UnixEpoch => "unixepoch",
            Self::JulianDay => "julianday",
            Self::Microseconds => "microseconds",
        }
    }

    pub fn declared_type(self) -> &'static str {
        match self {
            Self::Integer | Self::UnixEpoch | Self::Microseconds => "INTEGER",
            Self::Real | Self::JulianDay => "REAL",
            Self::Text | Self::Hex | Self::Json => "TEXT",
            Self::Blob => "BLOB",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name().eq_ignore_ascii_case(name))
    }
}

/// Returns the type to declare for a column in the form of this name (`unixepoch`: `INTEGER`). `None` for an unknown form.
pub fn declared_type_of_form(form: &str) -> Option<&'static str> {
    StorageForm::of_name(form).map(StorageForm::declared_type)
}

impl SemanticType {
    /// Returns the meaning of an Arrow field. Dictionaries and runs have the meaning of their values.
    pub fn of_field(field: &Field) -> Self {
        match (Self::of_type(field.data_type()), field.metadata().get(EXTENSION_TYPE_NAME_KEY).map(String::as_str)) {
            (Self::Binary, Some("arrow.uuid")) if *value_type(field.data_type()) == DataType::FixedSizeBinary(16) => {
                Self::Uuid
            }
            (Self::Text, Some("arrow.json")) => Self::JsonText,
            (meaning, _) => meaning,
        }
    }

    pub fn of_type(data_type: &DataType) -> Self {
        use DataType as T;
        match data_type {
            T::Null => Self::Null,
            T::Boolean => Self::Boolean,
            T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 => Self::Integer,
            T::UInt64 => Self::Unsigned64,
            T::Float16 | T::Float32 | T::Float64 => Self::Float,
            T::Decimal32(precision, scale)
            | T::Decimal64(precision, scale)
            | T::Decimal128(precision, scale)
            | T::Decimal256(precision, scale) => Self::Decimal { precision: *precision, scale: *scale },
            T::Date32 => Self::Date { per_day: 1 },
            T::Date64 => Self::Date { per_day: 86_400_000 },
            T::Timestamp(unit, zone) => Self::Timestamp { unit: Unit::of(*unit), is_instant: zone.is_some() },
            T::Time32(unit) | T::Time64(unit) => Self::Time(Unit::of(*unit)),
            T::Duration(unit) => Self::Duration(Unit::of(*unit)),
            T::Interval(unit) => Self::Interval(*unit),
            T::Utf8 | T::LargeUtf8 | T::Utf8View => Self::Text,
            T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => Self::Binary,
            T::Dictionary(_, values) => Self::of_type(values),
            T::RunEndEncoded(_, values) => Self::of_type(values.data_type()),
            T::List(_)
            | T::LargeList(_)
            | T::ListView(_)
            | T::LargeListView(_)
            | T::FixedSizeList(_, _)
            | T::Struct(_)
            | T::Map(_, _)
            | T::Union(_, _) => Self::Nested,
        }
    }

    /// Returns the forms in which the values can be stored.
    fn forms(self) -> &'static [StorageForm] {
        use StorageForm::{Blob, Hex, Integer, Json, JulianDay, Microseconds, Real, Text, UnixEpoch};
        match self {
            Self::Null => &[Text, Integer, Real, Blob],
            Self::Boolean => &[Integer, Text],
            Self::Integer | Self::Unsigned64 | Self::Float | Self::Decimal { .. } => &[Integer, Real, Text],
            Self::Date { .. } => &[Text, Integer, UnixEpoch, JulianDay],
            Self::Timestamp { .. } => &[Text, Integer, UnixEpoch, Real, JulianDay],
            Self::Time(_) => &[Text, Integer, Real],
            Self::Duration(_) => &[Microseconds, Integer, Real, Text],
            Self::Interval(IntervalUnit::YearMonth) => &[Text, Integer],
            Self::Interval(_) => &[Text],
            Self::Text | Self::JsonText => &[Text, Blob],
            Self::Enum | Self::Binary => &[Blob, Text, Hex],
            Self::Uuid => &[Text, Blob, Hex],
            Self::Nested => &[Json, Text],
        }
    }

    /// Returns the lossless form that a reader of the table would expect.
    pub fn default_form(self) -> StorageForm {
        match self {
            Self::Boolean | Self::Integer | Self::Unsigned64 => StorageForm::Integer,
            Self::Duration(_) => StorageForm::Microseconds,
            Self::Float => StorageForm::Real,
            Self::Decimal { precision, scale } if scale <= 0 && digits(precision, scale) <= INTEGER_DIGITS.into() => {
                StorageForm::Integer
            }
            Self::Decimal { precision, .. } if precision <= DOUBLE_DIGITS => StorageForm::Real,
            Self::Binary => StorageForm::Blob,
            Self::Nested => StorageForm::Json,
            _ => StorageForm::Text,
        }
    }

    /// Returns the type to declare for a column in its default form: none if all values are NULL, so that any value fits later.
    pub fn declared_type(self) -> &'static str {
        if self == Self::Null { "" } else { self.default_form().declared_type() }
    }

    /// Returns the form for a column of the table: the requested one, else the one that suits its affinity.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the values do not have the requested form. The advice lists their forms.
    pub fn form(self, asked: Option<&str>, affinity: Affinity, column: &str) -> Result<StorageForm> {
        let Some(asked) = asked else {
            // A TEXT column converts numbers to text anyway. Texts made here keep all digits.
            let is_exact_as_text = matches!(self, Self::Decimal { .. } | Self::Unsigned64);
            return Ok(if affinity == Affinity::Text && is_exact_as_text {
                StorageForm::Text
            } else {
                self.default_form()
            });
        };
        let form = StorageForm::of_name(asked).filter(|form| self.forms().contains(form));
        form.ok_or_else(|| {
            let names: Vec<&str> = self.forms().iter().map(|form| form.name()).collect();
            Error::new(ErrorKind::Usage, format!("{} cannot be stored as '{asked}'", self.describe()))
                .in_column(column)
                .advise(format!("its forms are: {}", names.join(", ")))
        })
    }

    /// Describes the values in words.
    fn describe(self) -> String {
        match self {
            Self::Null => "a column of nothing but NULL".to_owned(),
            Self::Boolean => "a boolean".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::Unsigned64 => "an unsigned 64-bit integer".to_owned(),
            Self::Float => "a floating-point number".to_owned(),
            Self::Decimal { precision, scale } => format!("a decimal({precision}, {scale})"),
            Self::Date { .. } => "a date".to_owned(),
            Self::Timestamp { unit, is_instant: true } => format!("a timestamp in {} since 1970, UTC", unit.name),
            Self::Timestamp { unit, .. } => format!("a timestamp in {} without time zone", unit.name),
            Self::Time(unit) => format!("a time of day in {}", unit.name),
            Self::Duration(unit) => format!("a duration in {}", unit.name),
            Self::Interval(_) => "an interval".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::JsonText => "a JSON text".to_owned(),
            Self::Enum => "an ENUM".to_owned(),
            Self::Binary => "a byte string".to_owned(),
            Self::Uuid => "a UUID".to_owned(),
            Self::Nested => "a nested value".to_owned(),
        }
    }

    /// Returns the reason for the declared type: `Parquet INT32: a date, as YYYY-MM-DD`.
    pub fn reason(self, origin: &str) -> Message {
        let remark = self.remark();
        let comma = if remark == Message::from("") { "" } else { ", " };
        message![format!("{origin}: {}{comma}", self.describe()), remark]
    }

    /// Describes the default form.
    fn remark(self) -> Message {
        let as_text = OptionName::StoreAs.pair("COLUMN", "text");
        let remark = match (self, self.default_form()) {
            (Self::Unsigned64, _) => {
                return message!["values beyond 64 signed bits are refused; ", as_text, " takes all"];
            }
            (Self::Float, _) => return message!["NaN is NULL; ", as_text, " keeps it"],
            (Self::Boolean, _) => "as 0 and 1",
            (Self::Decimal { .. }, StorageForm::Integer) => "64 bits hold all of its digits",
            (Self::Decimal { .. }, StorageForm::Real) => "a double keeps its digits",
            (Self::Decimal { .. }, _) => "as exact text: no number of SQLite holds all of its digits",
            (Self::Date { .. }, _) => "as YYYY-MM-DD",
            (Self::Timestamp { is_instant: true, .. }, _) => "as YYYY-MM-DD HH:MM:SS in UTC, marked +00:00",
            (Self::Timestamp { .. }, _) => "as YYYY-MM-DD HH:MM:SS",
            (Self::Time(_), _) => "as HH:MM:SS",
            (Self::Duration(_), _) => "as microseconds",
            (Self::Interval(_), _) => "as ISO 8601 writes spans",
            (Self::Uuid, _) => "as 8-4-4-4-12 hexadecimal digits",
            (Self::Nested, _) => "as JSON",
            _ => "",
        };
        remark.into()
    }
}

/// Number of significant decimal digits that every double keeps.
pub(super) const DOUBLE_DIGITS: u8 = 15;
/// Number of decimal digits that always fit an integer of 64 bits.
pub(super) const INTEGER_DIGITS: u8 = 18;

/// Returns the number of digits of a decimal without fraction, as an integer.
fn digits(precision: u8, scale: i8) -> u32 {
    u32::from(precision) + u32::from(scale.unsigned_abs())
}

/// Returns the type of the values of dictionaries and runs.
pub(super) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        other => other,
    }
}
