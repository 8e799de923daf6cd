//! Writes one value of an array as text, plain or in JSON.

use super::calendar::{self, Span, Unit};
use super::form::{SemanticType, value_type};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalYearMonthType, RunEndIndexType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RunArray, UnionArray};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};
use std::io::Write;

/// SQLite's default limit for a text or a blob, in bytes.
pub(super) const MOST_BYTES: usize = 1_000_000_000;

/// The reason why a value cannot be stored.
pub(super) type Refusal = &'static str;

pub(super) const TOO_LONG: Refusal = "the value is longer than the 1,000,000,000 bytes that SQLite allows";
pub(super) const NO_TIME_OF_DAY: Refusal = "a time of day is not within the 24 hours of a day";
pub(super) const NO_UTF8: Refusal = "the bytes are not UTF-8 text";

/// Appends the integers of an array of integers, dates, times, durations or months. Returns `false` for other arrays. The
/// integers in place of NULLs are arbitrary.
pub(super) fn raw_integers(array: &dyn Array, out: &mut Vec<i64>) -> bool {
    fn widen<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array, out: &mut Vec<i64>) {
        out.extend(array.as_primitive::<T>().values().iter().map(|&value| value.into()));
    }
    match array.data_type() {
        DataType::Int8 => widen::<Int8Type>(array, out),
        DataType::Int16 => widen::<Int16Type>(array, out),
        DataType::Int32 => widen::<Int32Type>(array, out),
        DataType::Int64 => widen::<Int64Type>(array, out),
        DataType::UInt8 => widen::<UInt8Type>(array, out),
        DataType::UInt16 => widen::<UInt16Type>(array, out),
        DataType::UInt32 => widen::<UInt32Type>(array, out),
        DataType::Date32 => widen::<Date32Type>(array, out),
        DataType::Date64 => widen::<Date64Type>(array, out),
        DataType::Time32(TimeUnit::Second) => widen::<Time32SecondType>(array, out),
        DataType::Time32(_) => widen::<Time32MillisecondType>(array, out),
        DataType::Time64(TimeUnit::Microsecond) => widen::<Time64MicrosecondType>(array, out),
        DataType::Time64(_) => widen::<Time64NanosecondType>(array, out),
        DataType::Timestamp(TimeUnit::Second, _) => widen::<TimestampSecondType>(array, out),
        DataType::Timestamp(TimeUnit::Millisecond, _) => widen::<TimestampMillisecondType>(array, out),
        DataType::Timestamp(TimeUnit::Microsecond, _) => widen::<TimestampMicrosecondType>(array, out),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => widen::<TimestampNanosecondType>(array, out),
        DataType::Duration(TimeUnit::Second) => widen::<DurationSecondType>(array, out),
        DataType::Duration(TimeUnit::Millisecond) => widen::<DurationMillisecondType>(array, out),
        DataType::Duration(TimeUnit::Microsecond) => widen::<DurationMicrosecondType>(array, out),
        DataType::Duration(TimeUnit::Nanosecond) => widen::<DurationNanosecondType>(array, out),
        DataType::Interval(IntervalUnit::YearMonth) => widen::<IntervalYearMonthType>(array, out),
        DataType::Decimal32(_, _) => widen::<Decimal32Type>(array, out),
        DataType::Decimal64(_, _) => widen::<Decimal64Type>(array, out),
        _ => return false,
    }
    true
}

/// Appends the doubles of an array of floating-point numbers of any width.
pub(super) fn raw_doubles(array: &dyn Array, out: &mut Vec<f64>) {
    match array.data_type() {
        DataType::Float16 => {
            out.extend(array.as_primitive::<Float16Type>().values().iter().map(|value| value.to_f64()))
        }
        DataType::Float32 => {
            out.extend(array.as_primitive::<Float32Type>().values().iter().map(|&value| f64::from(value)));
        }
        _ => out.extend_from_slice(array.as_primitive::<Float64Type>().values()),
    }
}

/// Returns the bytes of a text or byte string.
pub(super) fn bytes(array: &dyn Array, row: usize) -> &[u8] {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => array.as_string_view().value(row).as_bytes(),
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => array.as_fixed_size_binary().value(row),
    }
}

/// Returns the digits of a decimal's unscaled integer.
pub(super) fn unscaled(array: &dyn Array, row: usize) -> String {
    match array.data_type() {
        DataType::Decimal32(_, _) => array.as_primitive::<Decimal32Type>().value(row).to_string(),
        DataType::Decimal64(_, _) => array.as_primitive::<Decimal64Type>().value(row).to_string(),
        DataType::Decimal128(_, _) => array.as_primitive::<Decimal128Type>().value(row).to_string(),
        _ => array.as_primitive::<Decimal256Type>().value(row).to_string(),
    }
}

/// Appends a decimal with all digits of its scale: `-0.50`.
pub(super) fn push_decimal(array: &dyn Array, row: usize, scale: i8, out: &mut Vec<u8>) {
    let digits = unscaled(array, row);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    out.extend_from_slice(sign.as_bytes());
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        out.extend_from_slice(digits.as_bytes());
        if digits != "0" {
            out.extend(std::iter::repeat_n(b'0', places));
        }
    } else if digits.len() > places {
        let (whole, fraction) = digits.split_at(digits.len() - places);
        out.extend_from_slice(whole.as_bytes());
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    } else {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', places - digits.len()));
        out.extend_from_slice(digits.as_bytes());
    }
}

/// Appends the shortest text that reads back as the number, in the width of the array.
fn push_float(array: &dyn Array, row: usize, out: &mut Vec<u8>) {
    let written = match array.data_type() {
        DataType::Float16 => write!(out, "{:?}", array.as_primitive::<Float16Type>().value(row).to_f32()),
        DataType::Float32 => write!(out, "{:?}", array.as_primitive::<Float32Type>().value(row)),
        _ => write!(out, "{:?}", array.as_primitive::<Float64Type>().value(row)),
    };
    written.expect("a vector takes everything");
}

fn push_uuid(bytes: &[u8], out: &mut Vec<u8>) {
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend_from_slice(&hex_digits(*byte, b"0123456789abcdef"));
    }
}

/// Appends hexadecimal digits as SQLite's `hex()` writes them.
pub(super) fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.extend_from_slice(&hex_digits(*byte, b"0123456789ABCDEF"));
    }
}

fn hex_digits(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}

/// Returns the parts of an interval.
fn span(array: &dyn Array, row: usize, unit: IntervalUnit) -> Span {
    match unit {
        IntervalUnit::YearMonth => {
            let months = array.as_primitive::<IntervalYearMonthType>().value(row);
            Span { months: months.into(), ..Span::default() }
        }
        IntervalUnit::DayTime => {
            let value = array.as_primitive::<IntervalDayTimeType>().value(row);
            Span { months: 0, days: value.days.into(), nanos: i128::from(value.milliseconds) * 1_000_000 }
        }
        IntervalUnit::MonthDayNano => {
            let value = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            Span { months: value.months.into(), days: value.days.into(), nanos: value.nanoseconds.into() }
        }
    }
}

/// Appends the date, and the time if a count of milliseconds is not a whole number of days.
pub(super) fn push_date_value(value: i64, per_day: i64, out: &mut Vec<u8>) {
    let rest = value.rem_euclid(per_day);
    if rest == 0 {
        calendar::push_date(value.div_euclid(per_day), out);
    } else {
        calendar::push_day_and_time(value.div_euclid(per_day), rest, Unit::of(TimeUnit::Millisecond), out);
    }
}

/// Appends a value as plain text. The array is neither a dictionary nor nested, and the row is not NULL.
///
/// # Errors
/// If the value has no text. The error describes the value.
pub(super) fn push_text(
    array: &dyn Array,
    row: usize,
    meaning: SemanticType,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let integer = || {
        let mut value = Vec::with_capacity(1);
        raw_integers(&*array.slice(row, 1), &mut value);
        value[0]
    };
    match meaning {
        SemanticType::Null | SemanticType::Nested => {}
        SemanticType::Boolean => out.extend_from_slice(if array.as_boolean().value(row) { b"true" } else { b"false" }),
        SemanticType::Integer => out.extend_from_slice(integer().to_string().as_bytes()),
        SemanticType::Unsigned64 => {
            out.extend_from_slice(array.as_primitive::<UInt64Type>().value(row).to_string().as_bytes());
        }
        SemanticType::Float => push_float(array, row, out),
        SemanticType::Decimal { scale, .. } => push_decimal(array, row, scale, out),
        SemanticType::Date { per_day } => push_date_value(integer(), per_day, out),
        SemanticType::Timestamp { unit, is_instant } => calendar::push_timestamp(integer(), unit, is_instant, out),
        SemanticType::Time(unit) => match integer() {
            time if (0..=unit.per_day()).contains(&time) => calendar::push_time(time, unit, out),
            _ => return Err(NO_TIME_OF_DAY),
        },
        SemanticType::Duration(unit) => {
            let nanos = i128::from(integer()) * i128::from(1_000_000_000 / unit.per_second);
            calendar::push_span(Span { nanos, ..Span::default() }, out);
        }
        SemanticType::Interval(unit) => calendar::push_span(span(array, row, unit), out),
        SemanticType::Text | SemanticType::JsonText => out.extend_from_slice(bytes(array, row)),
        SemanticType::Enum | SemanticType::Binary => {
            out.extend_from_slice(std::str::from_utf8(bytes(array, row)).map_err(|_| NO_UTF8)?.as_bytes());
        }
        SemanticType::Uuid => push_uuid(bytes(array, row), out),
    }
    Ok(())
}

/// Returns the array and row that hold the value, through dictionaries and runs. `None` if it is NULL.
fn resolve(array: &dyn Array, row: usize) -> Option<(&dyn Array, usize)> {
    fn in_runs<R: RunEndIndexType>(runs: &RunArray<R>, row: usize) -> (&dyn Array, usize) {
        (runs.values().as_ref(), runs.get_physical_index(row))
    }
    if array.is_null(row) {
        return None;
    }
    let (values, index) = match array.data_type() {
        DataType::Null => return None,
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let mut key = Vec::with_capacity(1);
            let keys = dictionary.keys().slice(row, 1);
            if !raw_integers(&*keys, &mut key) {
                key.push(i64::try_from(keys.as_primitive::<UInt64Type>().value(0)).ok()?);
            }
            (dictionary.values().as_ref(), usize::try_from(key[0]).ok()?)
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => in_runs(array.as_run::<Int16Type>(), row),
            DataType::Int32 => in_runs(array.as_run::<Int32Type>(), row),
            _ => in_runs(array.as_run::<Int64Type>(), row),
        },
        _ => return Some((array, row)),
    };
    resolve(values, index)
}

/// Appends a value as JSON. Numbers have all their digits. NaN, infinities, dates and times are strings; byte strings are
/// hexadecimal digits; maps are objects.
///
/// # Errors
/// If `out` since `start` exceeds SQLite's limit, or a value has no text.
pub(super) fn push_json(
    field: &Field,
    array: &dyn Array,
    row: usize,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if out.len() - start > MOST_BYTES {
        return Err(TOO_LONG);
    }
    let Some((array, row)) = resolve(array, row) else {
        out.extend_from_slice(b"null");
        return Ok(());
    };
    match SemanticType::of_field(field) {
        SemanticType::Nested => push_nested(value_type(field.data_type()), array, row, start, out),
        SemanticType::Null => {
            out.extend_from_slice(b"null");
            Ok(())
        }
        meaning @ (SemanticType::Boolean
        | SemanticType::Integer
        | SemanticType::Unsigned64
        | SemanticType::Decimal { .. }) => push_text(array, row, meaning, out),
        SemanticType::Float => {
            let mut number = Vec::new();
            push_float(array, row, &mut number);
            let is_number = number.last().is_some_and(u8::is_ascii_digit);
            if is_number {
                out.extend_from_slice(&number)
            } else {
                push_string(&number, out)
            }
            Ok(())
        }
        SemanticType::Text | SemanticType::JsonText => {
            push_string(bytes(array, row), out);
            Ok(())
        }
        SemanticType::Enum | SemanticType::Binary => {
            out.push(b'"');
            push_hex(bytes(array, row), out);
            out.push(b'"');
            Ok(())
        }
        meaning => {
            out.push(b'"');
            push_text(array, row, meaning, out)?;
            out.push(b'"');
            Ok(())
        }
    }
}

/// Appends a nested value as JSON. `data_type` is the file's type, with texts; the array may hold them as byte strings.
fn push_nested(
    data_type: &DataType,
    array: &dyn Array,
    row: usize,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match data_type {
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let values = fields.iter().zip(columns).map(|(field, column)| (field, column.as_ref(), row));
            push_object(values, start, out)
        }
        DataType::Map(entries, _) => push_map(entries, array, row, start, out),
        DataType::Union(fields, _) => {
            let union = array.as_any().downcast_ref::<UnionArray>().expect("a union array has a union type");
            let id = union.type_id(row);
            let field = fields.iter().find(|(other, _)| *other == id).map(|(_, field)| field);
            let field = field.expect("an array's type ids are those of its type");
            push_json(field, union.child(id).as_ref(), union.value_offset(row), start, out)
        }
        DataType::FixedSizeList(field, _) => push_list(field, &*array.as_fixed_size_list().value(row), start, out),
        DataType::List(field) => push_list(field, &*array.as_list::<i32>().value(row), start, out),
        DataType::LargeList(field) => push_list(field, &*array.as_list::<i64>().value(row), start, out),
        DataType::ListView(field) => push_list(field, &*array.as_list_view::<i32>().value(row), start, out),
        DataType::LargeListView(field) => push_list(field, &*array.as_list_view::<i64>().value(row), start, out),
        other => unreachable!("{other} is not nested"),
    }
}

fn push_list(field: &FieldRef, items: &dyn Array, start: usize, out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.push(b'[');
    for item in 0..items.len() {
        if item > 0 {
            out.push(b',');
        }
        push_json(field, items, item, start, out)?;
    }
    out.push(b']');
    Ok(())
}

fn push_object<'a>(
    values: impl Iterator<Item = (&'a FieldRef, &'a dyn Array, usize)>,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    out.push(b'{');
    for (index, (field, array, row)) in values.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_string(field.name().as_bytes(), out);
        out.push(b':');
        push_json(field, array, row, start, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a map as an object whose names are the map's keys. Keys that are not strings become strings of their JSON.
fn push_map(
    entries_field: &Field,
    array: &dyn Array,
    row: usize,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let DataType::Struct(fields) = entries_field.data_type() else { unreachable!("entries of a map are structs") };
    let entries = array.as_map().value(row);
    let (keys, values) = (entries.column(0), entries.column(1));
    out.push(b'{');
    for entry in 0..entries.len() {
        if entry > 0 {
            out.push(b',');
        }
        let mut key = Vec::new();
        push_json(&fields[0], keys.as_ref(), entry, 0, &mut key)?;
        if key.first() == Some(&b'"') {
            out.extend_from_slice(&key)
        } else {
            push_string(&key, out)
        }
        out.push(b':');
        push_json(&fields[1], values.as_ref(), entry, start, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a JSON string. Escapes only what JSON requires, and keeps invalid UTF-8.
fn push_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&hex_digits(byte, b"0123456789abcdef"));
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
