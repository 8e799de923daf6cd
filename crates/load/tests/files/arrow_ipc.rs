//! Arrow IPC files and streams, written by arrow-ipc itself.

use crate::rows::{StorageForm, read, read_batches, read_bytes, read_forms};
use arrow_array::builder::{
    FixedSizeBinaryBuilder, Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder,
};
use arrow_array::types::{Int8Type, Int16Type, Int32Type};
use arrow_array::*;
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano, ScalarBuffer, i256};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit, UnionFields};
use litepress_load::input::Input;
use litepress_load::options::{Format, InvalidUtf8, ReadOptions};
use litepress_load::plan::{LoadPlan, LoadRequest};
use litepress_rows::ErrorKind;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::path::PathBuf;
use std::sync::Arc;

type Column = (&'static str, ArrayRef);

fn batch(columns: Vec<Column>) -> RecordBatch {
    let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

fn as_file(batches: &[RecordBatch], options: IpcWriteOptions) -> Vec<u8> {
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn as_stream(batches: &[RecordBatch], options: IpcWriteOptions) -> Vec<u8> {
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

/// Checks the values of one column, written in all ways and stored in this form.
fn check(array: ArrayRef, form: Option<&'static str>, expected: &[&str]) {
    let whole = batch(vec![("c", array.clone())]);
    let padded = arrow_select::concat::concat(&[&array.slice(array.len() - 1, 1), &array]).unwrap();
    let sliced = batch(vec![("c", padded.slice(1, array.len()))]);
    let empty = whole.slice(0, 0);
    let split = [empty.clone(), whole.slice(0, 1), empty, whole.slice(1, whole.num_rows() - 1)];
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = || IpcWriteOptions::default().try_with_compression(compression).unwrap();
        for batches in [&[whole.clone()][..], std::slice::from_ref(&sliced), &split] {
            // The file format cannot replace dictionaries.
            let is_dictionary = matches!(array.data_type(), DataType::Dictionary(_, _)) && batches.len() > 1;
            let file = (!is_dictionary).then(|| as_file(batches, options()));
            for bytes in file.into_iter().chain([as_stream(batches, options())]) {
                for piece_bytes in [None, Some(1)] {
                    let forms: Vec<StorageForm> = form.map(|form| ("c", form)).into_iter().collect();
                    let options = ReadOptions { piece_bytes, ..ReadOptions::default() };
                    let read = read_forms(&bytes, Format::Arrow, &options, &forms).unwrap();
                    let values: Vec<&str> = read.rows.iter().map(|row| row[0].as_str()).collect();
                    assert_eq!(values, expected, "{:?} as {form:?}", array.data_type());
                }
            }
        }
    }
    let forms: Vec<StorageForm> = form.map(|form| ("c", form)).into_iter().collect();
    for batches in [vec![whole], vec![sliced], split.to_vec()] {
        for piece_bytes in [None, Some(1)] {
            let options = ReadOptions { piece_bytes, ..ReadOptions::default() };
            let read = read_batches(batches.clone(), &options, &forms).unwrap();
            let values: Vec<&str> = read.rows.iter().map(|row| row[0].as_str()).collect();
            assert_eq!(values, expected, "{:?} as {form:?} in memory", array.data_type());
        }
    }
}

fn of<T: Array + 'static>(array: T) -> ArrayRef {
    Arc::new(array)
}

#[test]
fn integers_of_all_widths() {
    check(of(Int8Array::from(vec![Some(-128), None, Some(127)])), None, &["int -128", "null", "int 127"]);
    check(of(Int16Array::from(vec![i16::MIN, i16::MAX])), None, &["int -32768", "int 32767"]);
    check(of(Int32Array::from(vec![i32::MIN, i32::MAX])), Some("text"), &["text -2147483648", "text 2147483647"]);
    check(of(Int64Array::from(vec![i64::MIN, 5])), None, &["int -9223372036854775808", "int 5"]);
    check(of(UInt8Array::from(vec![0, 255])), Some("real"), &["real 0.0", "real 255.0"]);
    check(of(UInt16Array::from(vec![0, 65535])), None, &["int 0", "int 65535"]);
    check(of(UInt32Array::from(vec![0, u32::MAX])), None, &["int 0", "int 4294967295"]);
    let big = vec![Some(u64::MAX), None, Some(1)];
    check(of(UInt64Array::from(big.clone())), Some("text"), &["text 18446744073709551615", "null", "text 1"]);
    let bad = "bad column c: the value is not an integer of 64 bits (value 18446744073709551615)";
    check(of(UInt64Array::from(big)), None, &[bad, "null", "int 1"]);
    check(of(BooleanArray::from(vec![Some(true), None, Some(false)])), None, &["int 1", "null", "int 0"]);
    check(of(BooleanArray::from(vec![true, false])), Some("text"), &["text true", "text false"]);
    check(of(NullArray::new(2)), None, &["null", "null"]);
}

#[test]
fn floats_are_widened_exactly() {
    let halves = vec![half::f16::from_f32(0.1), half::f16::INFINITY];
    check(of(Float16Array::from(halves.clone())), None, &["real 0.0999755859375", "real inf"]);
    check(of(Float16Array::from(halves)), Some("text"), &["text 0.099975586", "text inf"]);
    check(of(Float32Array::from(vec![Some(0.1), None])), None, &["real 0.10000000149011612", "null"]);
    check(of(Float32Array::from(vec![0.1, -1e30])), Some("text"), &["text 0.1", "text -1e30"]);
    check(of(Float64Array::from(vec![0.1, f64::NAN])), None, &["real 0.1", "real NaN"]);
    check(of(Float64Array::from(vec![0.1, f64::NAN])), Some("text"), &["text 0.1", "text NaN"]);
    let bad = "bad column c: the value is not an integer of 64 bits (value 0.5)";
    check(of(Float64Array::from(vec![3.0, 0.5])), Some("integer"), &["int 3", bad]);
}

#[test]
fn decimals_lose_no_digit() {
    let money = of(Decimal128Array::from(vec![Some(1250), None, Some(-5)]).with_precision_and_scale(15, 2).unwrap());
    check(money.clone(), None, &["real 12.5", "null", "real -0.05"]);
    check(money.clone(), Some("text"), &["text 12.50", "null", "text -0.05"]);
    let bad = "bad column c: the value is not an integer of 64 bits (value 12.50)";
    let bad_too = "bad column c: the value is not an integer of 64 bits (value -0.05)";
    check(money, Some("integer"), &[bad, "null", bad_too]);
    let whole = of(Decimal32Array::from(vec![7, -7]).with_precision_and_scale(9, 0).unwrap());
    check(whole, None, &["int 7", "int -7"]);
    let thousands = of(Decimal64Array::from(vec![7, 0]).with_precision_and_scale(9, -3).unwrap());
    check(thousands, None, &["int 7000", "int 0"]);
    let long = of(Decimal128Array::from(vec![12_345_678_901_234_567_890, 1]).with_precision_and_scale(38, 10).unwrap());
    check(long.clone(), None, &["text 1234567890.1234567890", "text 0.0000000001"]);
    check(long, Some("real"), &["real 1234567890.1234567", "real 1e-10"]);
    let longest = i256::from_string(&"9".repeat(76)).unwrap();
    let longest = of(Decimal256Array::from(vec![longest, i256::MINUS_ONE]).with_precision_and_scale(76, 0).unwrap());
    check(longest, None, &[&format!("text {}", "9".repeat(76)), "text -1"]);
}

#[test]
fn dates_and_times_are_what_sqlite_reads() {
    let days = || of(Date32Array::from(vec![Some(19_860), None, Some(2_932_897)]));
    let beyond =
        |value: &str| format!("bad column c: SQLite's date functions read the years 0 to 9999 only (value '{value}')");
    check(days(), None, &["text 2024-05-17", "null", &beyond("+10000-01-01")]);
    check(days(), Some("integer"), &["int 19860", "null", "int 2932897"]);
    check(days(), Some("unixepoch"), &["int 1715904000", "null", "int 253402300800"]);
    check(days(), Some("julianday"), &["real 2460447.5", "null", "real 5373484.5"]);
    let millis = || of(Date64Array::from(vec![86_400_000, 1]));
    check(millis(), None, &["text 1970-01-02", "text 1970-01-01 00:00:00.001000"]);
    check(millis(), Some("unixepoch"), &["int 86400", &fraction("1")]);
    check(of(TimestampSecondArray::from(vec![1 << 62])), None, &[&beyond("+146138514283-06-19 07:45:04")]);
    let seconds = || TimestampSecondArray::from(vec![1_715_934_600, -1]);
    check(of(seconds()), None, &["text 2024-05-17 08:30:00", "text 1969-12-31 23:59:59"]);
    check(
        of(seconds().with_timezone("Europe/Berlin")),
        None,
        &["text 2024-05-17 08:30:00+00:00", "text 1969-12-31 23:59:59+00:00"],
    );
    let millis = || of(TimestampMillisecondArray::from(vec![Some(1_715_934_600_500), None, Some(2000)]));
    check(millis(), None, &["text 2024-05-17 08:30:00.500000", "null", "text 1970-01-01 00:00:02"]);
    check(millis(), Some("unixepoch"), &[&fraction("1715934600500"), "null", "int 2"]);
    check(millis(), Some("real"), &["real 1715934600.5", "null", "real 2.0"]);
    check(of(TimestampMicrosecondArray::from(vec![1, 2])), Some("integer"), &["int 1", "int 2"]);
    check(
        of(TimestampNanosecondArray::from(vec![i64::MAX, 0])),
        None,
        &["text 2262-04-11 23:47:16.854775807", "text 1970-01-01 00:00:00"],
    );
    check(of(Time32SecondArray::from(vec![Some(86_399), None])), None, &["text 23:59:59", "null"]);
    let bad = "bad column c: a time of day is not within the 24 hours of a day";
    check(of(Time32MillisecondArray::from(vec![1, -1])), None, &["text 00:00:00.001000", bad]);
    check(of(Time64MicrosecondArray::from(vec![1, 2])), Some("integer"), &["int 1", "int 2"]);
    check(of(Time64NanosecondArray::from(vec![1, 500_000_000])), Some("real"), &["real 1e-9", "real 0.5"]);
}

fn fraction(value: &str) -> String {
    format!("bad column c: the value is not a whole number of seconds (value {value})")
}

#[test]
fn spans_of_time() {
    // One duration was 1, 1000, 1_000_000 or 1_000_000_000, by the unit of its column, which the schema did not tell.
    check(of(DurationSecondArray::from(vec![90, -1])), None, &["int 90000000", "int -1000000"]);
    check(of(DurationMillisecondArray::from(vec![90_000])), None, &["int 90000000"]);
    check(of(DurationMicrosecondArray::from(vec![90_000_000])), None, &["int 90000000"]);
    check(of(DurationNanosecondArray::from(vec![90_000_000_000])), None, &["int 90000000"]);
    check(of(DurationSecondArray::from(vec![90, -1])), Some("integer"), &["int 90", "int -1"]);
    let bad = "bad column c: the duration is not a whole number of microseconds of 64 bits";
    check(of(DurationSecondArray::from(vec![i64::MAX])), None, &[&format!("{bad} (value {})", i64::MAX)]);
    check(of(DurationMillisecondArray::from(vec![1500, 0])), Some("text"), &["text PT1.5S", "text PT0S"]);
    check(of(DurationMicrosecondArray::from(vec![1_500_000, 0])), Some("real"), &["real 1.5", "real 0.0"]);
    check(of(DurationNanosecondArray::from(vec![Some(5), None])), None, &[&format!("{bad} (value 5)"), "null"]);
    check(of(IntervalYearMonthArray::from(vec![14, -1])), None, &["text P1Y2M", "text P-1M"]);
    check(of(IntervalYearMonthArray::from(vec![14, -1])), Some("integer"), &["int 14", "int -1"]);
    let days = vec![IntervalDayTime::new(3, 1500), IntervalDayTime::new(0, 0)];
    check(of(IntervalDayTimeArray::from(days)), None, &["text P3DT1.5S", "text PT0S"]);
    let months = vec![IntervalMonthDayNano::new(1, 2, 3), IntervalMonthDayNano::new(0, 0, 60_000_000_000)];
    check(of(IntervalMonthDayNanoArray::from(months)), None, &["text P1M2DT0.000000003S", "text PT1M"]);
}

#[test]
fn texts_and_bytes_in_all_layouts() {
    let texts = vec![Some("a"), None, Some(""), Some("nul\0 and a text too long for a view")];
    let expected = ["text a", "null", "text ", "text nul\0 and a text too long for a view"];
    check(of(StringArray::from(texts.clone())), None, &expected);
    check(of(LargeStringArray::from(texts.clone())), None, &expected);
    check(of(StringViewArray::from(texts.clone())), None, &expected);
    check(
        of(StringViewArray::from(vec!["a", "more than twelve bytes"])),
        None,
        &["text a", "text more than twelve bytes"],
    );
    check(of(StringArray::from(vec!["a", "b"])), Some("blob"), &["blob 61", "blob 62"]);
    let bytes: Vec<Option<&[u8]>> = vec![Some(b"\xff"), None, Some(b"a")];
    check(of(BinaryArray::from(bytes.clone())), None, &["blob ff", "null", "blob 61"]);
    check(of(LargeBinaryArray::from(bytes.clone())), Some("hex"), &["text FF", "null", "text 61"]);
    let bad = "bad column c: the bytes are not UTF-8 text";
    check(of(BinaryViewArray::from(bytes.clone())), Some("text"), &[bad, "null", "text a"]);
    let mut fixed = FixedSizeBinaryBuilder::new(2);
    fixed.append_value(b"ab").unwrap();
    fixed.append_null();
    fixed.append_value(b"cd").unwrap();
    check(of(fixed.finish()), None, &["blob 6162", "null", "blob 6364"]);
    let bytes = as_file(&[batch(vec![("c", of(BinaryArray::from(bytes)))])], IpcWriteOptions::default());
    for (invalid_utf8, expected) in [(InvalidUtf8::Replace, "text \u{fffd}"), (InvalidUtf8::Blob, "blob ff")] {
        let options = ReadOptions { invalid_utf8, ..ReadOptions::default() };
        let read = read_forms(&bytes, Format::Arrow, &options, &[("c", "text")]).unwrap();
        assert_eq!(read.column(0), [expected, "null", "text a"]);
    }
}

#[test]
fn dictionaries_short_and_long_and_runs() {
    let short: DictionaryArray<Int8Type> = vec![Some("x"), None, Some("y"), Some("x")].into_iter().collect();
    check(of(short), None, &["text x", "null", "text y", "text x"]);
    let keys = Int32Array::from(vec![Some(1), None, Some(0), Some(2)]);
    let values = of(Date32Array::from(vec![Some(0), Some(1), None]));
    let dates = DictionaryArray::<Int32Type>::try_new(keys, values).unwrap();
    check(of(dates), None, &["text 1970-01-02", "null", "text 1970-01-01", "null"]);
    let big = of(UInt64Array::from(vec![u64::MAX, 3]));
    let big = DictionaryArray::<Int32Type>::try_new(Int32Array::from(vec![1, 0, 1]), big).unwrap();
    let bad = "bad column c: the value is not an integer of 64 bits (value 18446744073709551615)";
    check(of(big), None, &["int 3", bad, "int 3"]);
    let mut long = StringDictionaryBuilder::<Int32Type>::new();
    let texts: Vec<String> = (0..3000).map(|value| format!("value {value}")).collect();
    texts.iter().for_each(|text| long.append_value(text));
    let long = of(long.finish());
    let expected: Vec<String> = texts.iter().map(|text| format!("text {text}")).collect();
    let file = as_stream(&[batch(vec![("c", long)])], IpcWriteOptions::default());
    assert_eq!(read(&file, Format::Arrow).unwrap().column(0), expected);
    let empty = DictionaryArray::<Int16Type>::try_new(Int16Array::from(vec![None, None]), of(StringArray::new_null(0)));
    check(of(empty.unwrap()), None, &["null", "null"]);
    let runs = RunArray::<Int16Type>::try_new(
        &Int16Array::from(vec![2, 3, 5]),
        &StringArray::from(vec![Some("a"), None, Some("b")]),
    );
    check(of(runs.unwrap()), None, &["text a", "text a", "null", "text b", "text b"]);
}

#[test]
fn nested_values_are_json() {
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None, Some(3)]);
    lists.append_null();
    lists.append_value([]);
    check(of(lists.finish()), None, &["text [1,null,3]", "null", "text []"]);
    let fields = Fields::from(vec![
        Field::new("t", DataType::Utf8, true),
        Field::new("f", DataType::Float64, true),
        Field::new("b", DataType::Binary, true),
        Field::new("d", DataType::Timestamp(TimeUnit::Second, None), true),
        Field::new("m", DataType::Decimal128(20, 2), true),
    ]);
    let columns: Vec<ArrayRef> = vec![
        of(StringArray::from(vec![Some("q\"\\\n\u{1}é"), None])),
        of(Float64Array::from(vec![0.1, f64::NAN])),
        of(BinaryArray::from(vec![Some(b"\x00\xff".as_slice()), None])),
        of(TimestampSecondArray::from(vec![0, 1])),
        of(Decimal128Array::from(vec![1250, -1]).with_precision_and_scale(20, 2).unwrap()),
    ];
    check(
        of(StructArray::new(fields, columns, None)),
        Some("json"),
        &[
            r#"text {"t":"q\"\\\n\u0001é","f":0.1,"b":"00FF","d":"1970-01-01 00:00:00","m":12.50}"#,
            r#"text {"t":null,"f":"NaN","b":null,"d":"1970-01-01 00:00:01","m":-0.01}"#,
        ],
    );
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("k");
    maps.values().append_value(1);
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    check(of(maps.finish()), None, &[r#"text {"k":1}"#, "null"]);
    let fields =
        UnionFields::from_fields(vec![Field::new("i", DataType::Int32, true), Field::new("s", DataType::Utf8, true)]);
    let children: Vec<ArrayRef> = vec![of(Int32Array::from(vec![1])), of(StringArray::from(vec!["x"]))];
    let union =
        UnionArray::try_new(fields, ScalarBuffer::from(vec![1, 0]), Some(ScalarBuffer::from(vec![0, 0])), children);
    check(of(union.unwrap()), None, &["text \"x\"", "text 1"]);
}

/// A dictionary that grows or is replaced in the middle of a stream applies to the batches after it only.
#[test]
fn streams_replace_dictionaries() {
    let one: DictionaryArray<Int32Type> = vec!["a", "b"].into_iter().collect();
    let two: DictionaryArray<Int32Type> = vec!["c", "a"].into_iter().collect();
    let batches = [batch(vec![("c", of(one))]), batch(vec![("c", of(two))])];
    let stream = as_stream(&batches, IpcWriteOptions::default());
    assert_eq!(read(&stream, Format::Arrow).unwrap().column(0), ["text a", "text b", "text c", "text a"]);
}

#[test]
fn columns_say_why_they_have_their_type_and_forms_that_are_not_there_are_listed() {
    let file = as_file(&[batch(vec![("c", of(Date32Array::from(vec![1])))])], IpcWriteOptions::default());
    let table = read(&file, Format::Arrow).unwrap();
    assert_eq!(table.columns, ["c TEXT (Arrow Date32: a date, as YYYY-MM-DD)"]);
    let error = read_forms(&file, Format::Arrow, &ReadOptions::default(), &[("c", "blob")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(
        error.to_string(),
        "column c: a date cannot be stored as 'blob'; its forms are: text, integer, unixepoch, julianday"
    );
}

/// Truncated anywhere, a file is refused. A stream is refused, or has the whole batches before the cut.
#[test]
fn truncated_files_are_refused() {
    let rows = || of(Int32Array::from((0..100).collect::<Vec<_>>()));
    let batches = [batch(vec![("c", rows())]), batch(vec![("c", rows())])];
    let (file, stream) =
        (as_file(&batches, IpcWriteOptions::default()), as_stream(&batches, IpcWriteOptions::default()));
    for len in 0..file.len() {
        assert!(read_bytes(&file[..len], Format::Arrow).is_err(), "a file of {len} bytes");
    }
    let mut cuts_between = 0;
    for len in 0..stream.len() {
        if let Ok(table) = read_bytes(&stream[..len], Format::Arrow) {
            assert!([0, 100, 200].contains(&table.rows.len()), "a stream of {len} bytes");
            cuts_between += 1;
        }
    }
    assert!(cuts_between <= 4, "{cuts_between}");
}

/// Damage to every third byte of a small file gives an error or other values, but no uncaught panic and no abort.
#[test]
fn damaged_files_do_no_harm() {
    let columns = || vec![("t", of(StringArray::from(vec!["a", "b"]))), ("i", of(Int32Array::from(vec![1, 2])))];
    for compression in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        let options = || IpcWriteOptions::default().try_with_compression(compression).unwrap();
        for bytes in [as_file(&[batch(columns())], options()), as_stream(&[batch(columns())], options())] {
            for at in (0..bytes.len()).step_by(3) {
                for damage in [0x00, bytes[at] ^ 0x80] {
                    let mut bytes = bytes.clone();
                    bytes[at] = damage;
                    if let Err(error) = read_bytes(&bytes, Format::Arrow) {
                        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
                    }
                }
            }
        }
    }
}

/// One text that was not UTF-8 made its whole record batch unreadable, whatever --invalid-utf8 said.
#[test]
fn texts_that_are_no_utf8_are_what_the_options_say() {
    let texts = vec!["fine", "wrong"];
    let words: DictionaryArray<Int32Type> = texts.clone().into_iter().collect();
    let mut lists = ListBuilder::new(StringBuilder::new());
    texts.iter().for_each(|text| lists.append_value([Some(text)]));
    let columns =
        [of(StringArray::from(texts.clone())), of(StringViewArray::from(texts)), of(words), of(lists.finish())];
    for (index, column) in columns.into_iter().enumerate() {
        let mut bytes = as_stream(&[batch(vec![("c", column)])], IpcWriteOptions::default());
        while let Some(at) = bytes.windows(5).position(|bytes| bytes == b"wrong") {
            bytes[at + 2] = 0xff;
        }
        let is_list = index == 3;
        for (invalid_utf8, text, list) in [
            (InvalidUtf8::Error, "bad column c: the bytes are not UTF-8 text", None),
            (InvalidUtf8::Replace, "text wr\u{fffd}ng", Some("text [\"wr\u{fffd}ng\"]")),
            (InvalidUtf8::Blob, "blob 7772ff6e67", Some("blob 5b227772ff6e67225d")),
        ] {
            let options = ReadOptions { invalid_utf8, ..ReadOptions::default() };
            let expected = if is_list { list.unwrap_or(text) } else { text };
            let table = read_forms(&bytes, Format::Arrow, &options, &[]).unwrap();
            assert_eq!(table.column(0)[1], expected, "{index}");
            assert_eq!(table.column(0)[0], if is_list { "text [\"fine\"]" } else { "text fine" });
        }
    }
}

/// A schema of some thousand levels is refused by the check of its FlatBuffers, before any code recurses through it.
#[test]
fn schemas_that_are_too_deep_are_refused() {
    let write = |depth: usize| {
        let nested = |inner, _| DataType::List(std::sync::Arc::new(Field::new("item", inner, true)));
        let data_type = (0..depth).fold(DataType::Int32, nested);
        let schema = arrow_schema::Schema::new(vec![Field::new("c", data_type, true)]);
        as_stream(&[RecordBatch::new_empty(std::sync::Arc::new(schema))], IpcWriteOptions::default())
    };
    let write_deep = move || [write(30), write(5000)];
    let files = std::thread::Builder::new().stack_size(1 << 30).spawn(write_deep).unwrap().join().unwrap();
    assert_eq!(read(&files[0], Format::Arrow).unwrap().columns.len(), 1);
    let error = read(&files[1], Format::Arrow).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
}

/// A table that was defined from the file declared such a column TEXT, and SQLite's affinity converted the integers to texts.
#[test]
fn a_column_in_another_form_is_declared_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("days.arrow");
    let day: ArrayRef = Arc::new(Date32Array::from(vec![19_859]));
    let columns = vec![("as_text", day.clone()), ("seconds", day.clone()), ("julian", day)];
    std::fs::write(&path, as_file(&[batch(columns)], IpcWriteOptions::default())).unwrap();
    let forms = [("seconds", "unixepoch"), ("days.julian", "julianday")];
    let request = LoadRequest {
        inputs: Input::from_arguments(&[path], &ReadOptions::default()).unwrap(),
        store_as: forms.map(|(column, form)| (column.to_owned(), form.to_owned())).into(),
        temp_dir: folder.path().to_owned(),
        threads: 1,
        ..LoadRequest::default()
    };
    let plan = LoadPlan::new(request, &|| Ok(())).unwrap();
    let declared: Vec<&str> =
        plan.schema.tables[0].columns.iter().map(|column| column.declared_type.as_str()).collect();
    assert_eq!(declared, ["TEXT", "INTEGER", "REAL"]);
}

/// Two columns of one name, as a join without suffixes leaves them, were refused. CSV gave the second one a number.
#[test]
fn columns_of_one_name_get_numbers() {
    let one: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let two: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let twice = batch(vec![("x", one.clone()), ("x", two.clone()), ("X", one), ("", two)]);
    let mut parquet = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut parquet, twice.schema(), None).unwrap();
    writer.write(&twice).unwrap();
    writer.close().unwrap();
    let default = IpcWriteOptions::default;
    let files = [
        (as_file(std::slice::from_ref(&twice), default()), Format::Arrow),
        (as_stream(std::slice::from_ref(&twice), default()), Format::Arrow),
        (parquet, Format::Parquet),
    ];
    for (bytes, format) in files {
        let options = ReadOptions::default();
        let read = read_forms(&bytes, format, &options, &[]).unwrap();
        let names: Vec<&str> = read.columns.iter().map(|column| column.split(' ').next().unwrap()).collect();
        assert_eq!(names, ["x", "x_2", "X_3", "column4"], "{format:?}");
        assert_eq!(read.rows[1], ["int 2", "text b", "int 2", "text b"], "{format:?}");
        let notes = options.notes.all();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].ends_with(": column 2 is called x_2, because x is taken"), "{notes:?}");
        let read = read_forms(&bytes, format, &options, &[("x_2", "blob"), ("x", "text")]).unwrap();
        assert_eq!(read.rows[0], ["blob 61", "text 1"], "{format:?}");
    }
}

/// A way to write a file.
type Write<'w> = &'w dyn Fn(&RecordBatch) -> Vec<u8>;

/// Decimals of polars and sums of DuckDB have 38 digits by declaration. From files they became TEXT, which sorts '10' before '9',
/// although an integer or a double held all values.
#[test]
fn decimals_of_few_digits_are_numbers() {
    let decimals = |values: &[Option<i128>], scale| -> ArrayRef {
        Arc::new(Decimal128Array::from(values.to_vec()).with_precision_and_scale(38, scale).unwrap())
    };
    let folder = tempfile::tempdir().unwrap();
    let most = i128::from(i64::MAX);
    let one = [
        ("whole", decimals(&[Some(10), None, Some(-most)], 0)),
        ("money", decimals(&[Some(950), Some(-1000), None], 2)),
        ("long", decimals(&[Some(1), None, Some(123_456_789_012_345_678)], 2)),
        ("second", decimals(&[Some(1), Some(2), None], 1)),
        ("null", decimals(&[None, None, None], 2)),
    ];
    let two = [
        ("whole", decimals(&[Some(9)], 0)),
        ("money", decimals(&[None], 2)),
        ("long", decimals(&[Some(1)], 2)),
        ("second", decimals(&[Some(1_000_000_000_000_000)], 1)),
        ("null", decimals(&[None], 2)),
    ];
    let [one, two] = [one, two].map(|columns| batch(columns.into()));
    let parquet = |batch: &RecordBatch, has_statistics: bool| {
        let enabled = if has_statistics { EnabledStatistics::Chunk } else { EnabledStatistics::None };
        let properties =
            WriterProperties::builder().set_statistics_enabled(enabled).set_max_row_group_row_count(Some(2));
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    };
    let default = IpcWriteOptions::default;
    let arrow = |batch: &RecordBatch| as_file(&[batch.slice(0, 1), batch.slice(1, batch.num_rows() - 1)], default());
    let stream = |batch: &RecordBatch| as_stream(std::slice::from_ref(batch), default());
    let ways: [Write<'_>; 4] = [&|batch| parquet(batch, true), &|batch| parquet(batch, false), &arrow, &stream];
    for (way, bytes_of) in ways.iter().enumerate() {
        let paths = [("a", &one), ("b", &two)].map(|(name, batch)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes_of(batch)).unwrap();
            path
        });
        let types = |paths: &[PathBuf]| -> Vec<String> {
            let inputs = paths.iter().map(|path| Input::from_path(path, &ReadOptions::default()).unwrap()).collect();
            let request = LoadRequest { inputs, table: Some("t".to_owned()), ..LoadRequest::default() };
            let plan = LoadPlan::new(request, &|| Ok(())).unwrap();
            plan.tables[0].decisions.iter().map(|column| column.declared_type.clone()).collect()
        };
        assert_eq!(types(&paths[..1]), ["INTEGER", "REAL", "TEXT", "REAL", "TEXT"], "{way}");
        assert_eq!(types(&paths[1..]), ["INTEGER", "TEXT", "REAL", "TEXT", "TEXT"], "{way}");
        // All files of a table decide.
        assert_eq!(types(&paths), ["INTEGER", "REAL", "TEXT", "TEXT", "TEXT"], "{way}");
    }
}
