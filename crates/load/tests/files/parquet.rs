//! Parquet files of other writers (apache/parquet-testing), compared with the row-by-row reader of the parquet crate, whose
//! decoding is independent of the columnar one.

use crate::rows::{StorageForm, Table, read_bytes, read_forms, read_path, shared_data};
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use litepress_format::page::PageSize;
use litepress_load::input::Input;
use litepress_load::options::{Format, InvalidUtf8, ReadOptions};
use litepress_load::plan::{LoadPlan, LoadRequest};
use litepress_load::rejects::Rejects;
use litepress_load::source::OnError;
use litepress_rows::ErrorKind;
use parquet::arrow::ArrowWriter;
use parquet::data_type::{Int64Type, Int96, Int96Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn files(folder: &str) -> Vec<PathBuf> {
    let Some(folder) = shared_data("parquet-testing").map(|data| data.join(folder)) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "parquet")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// The files of the data folder that cannot be read, and their errors.
const UNREADABLE: &[(&str, &str)] = &[
    // A dictionary lies outside of its column's bytes in the metadata.
    ("nation.dict-malformed.parquet", "column name: row group 1 cannot be decoded"),
];

/// A file too large for a test's memory: a text of two gigabytes.
const TOO_LARGE: &str = "large_string_map.brotli.parquet";

#[test]
fn every_file_has_the_values_that_the_row_reader_says() {
    let mut wrong = Vec::new();
    for path in files("data").iter().filter(|path| file_name(path) != TOO_LARGE) {
        let read = read_path(path, Format::Parquet, &ReadOptions::default(), &[]);
        let unreadable = UNREADABLE.iter().find(|(name, _)| *name == file_name(path));
        match (read, unreadable) {
            (Ok(table), None) => {
                wrong.extend(compare_with_row_reader(path, &table));
                let options = ReadOptions { piece_bytes: Some(10_000), ..ReadOptions::default() };
                if read_path(path, Format::Parquet, &options, &[]).unwrap() != table {
                    wrong.push(format!("{} differs in other pieces", path.display()));
                }
            }
            (Err(error), Some((_, why))) if error.kind() == ErrorKind::Data && error.to_string().contains(why) => {}
            (Ok(_), Some(_)) => wrong.push(format!("{} is read", path.display())),
            (Err(error), _) => wrong.push(error.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the first difference.
fn compare_with_row_reader(path: &Path, table: &Table) -> Option<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).ok()?;
    let mut count = 0;
    for (number, row) in reader.get_row_iter(None).ok()?.enumerate() {
        // The row reader supports fewer encodings, and less nesting.
        let row = row.ok()?;
        for (column, (name, field)) in row.get_column_iter().enumerate() {
            let ours = &table.rows[number][column];
            let expected = show_field(field).unwrap_or_else(|| ours.clone());
            if !agrees(ours, &expected) {
                return Some(format!("{}: row {number}, {name}: {ours}, not {expected}", path.display()));
            }
        }
        count += 1;
    }
    (table.rows.len() != count).then(|| format!("{}: {count} rows", path.display()))
}

fn agrees(ours: &str, expected: &str) -> bool {
    ours == expected
        || (ours.starts_with("text ") && expected.starts_with("blob ") && hex_of(&ours[5..]) == expected[5..])
}

fn hex_of(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn show_field(field: &Field) -> Option<String> {
    Some(match field {
        Field::Null => "null".to_owned(),
        Field::Bool(value) => format!("int {}", i64::from(*value)),
        Field::Byte(value) => format!("int {value}"),
        Field::Short(value) => format!("int {value}"),
        Field::Int(value) => format!("int {value}"),
        Field::Long(value) => format!("int {value}"),
        Field::UByte(value) => format!("int {value}"),
        Field::UShort(value) => format!("int {value}"),
        Field::UInt(value) => format!("int {value}"),
        Field::ULong(value) => format!("int {value}"),
        Field::Float16(value) => format!("real {:?}", value.to_f64()),
        Field::Float(value) => format!("real {:?}", f64::from(*value)),
        Field::Double(value) => format!("real {value:?}"),
        Field::Str(value) => format!("text {value}"),
        Field::Bytes(value) => {
            format!("blob {}", value.data().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        // Dates, times and decimals have their own tests; nested values look different there.
        _ => return None,
    })
}

#[test]
fn broken_files_are_refused_and_say_where() {
    // An index of zero bits refers to the first value of the dictionary in every row. This is not an error any more.
    const READABLE: &str = "ARROW-GH-43605.parquet";
    for path in files("bad_data") {
        if file_name(&path) == READABLE {
            let table = read_path(&path, Format::Parquet, &ReadOptions::default(), &[]).unwrap();
            assert!(table.rows.len() == 21_186 && table.rows.iter().flatten().all(|value| value == "int 0"));
            continue;
        }
        match read_path(&path, Format::Parquet, &ReadOptions::default(), &[]) {
            Ok(_) => panic!("{} is read", path.display()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Data, "{error}");
                assert!(error.to_string().contains(file_name(&path)), "{error}");
            }
        }
    }
}

/// Returns a column of a file of the data folder, in a form or the default one.
fn column(file: &str, column: &'static str, form: Option<&'static str>) -> Option<Vec<String>> {
    let path = shared_data("parquet-testing")?.join("data").join(file);
    let forms: Vec<StorageForm> = form.map(|form| (column, form)).into_iter().collect();
    let table = read_path(&path, Format::Parquet, &ReadOptions::default(), &forms).unwrap();
    let at = table.columns.iter().position(|known| known.starts_with(&format!("{column} "))).unwrap();
    Some(table.column(if form.is_some() { 0 } else { at }))
}

#[test]
fn decimals_of_all_physical_types_are_1_to_24() {
    let expected: Vec<String> = (1..=24).map(|value| format!("real {value}.0")).collect();
    for file in ["int32_decimal.parquet", "int64_decimal.parquet", "fixed_length_decimal_legacy.parquet"] {
        let Some(values) = column(file, "value", None) else { return };
        assert_eq!(values, expected, "{file}");
    }
    let texts: Vec<String> = (1..=24).map(|value| format!("text {value}.00")).collect();
    for file in ["int32_decimal.parquet", "byte_array_decimal.parquet", "fixed_length_decimal.parquet"] {
        assert_eq!(column(file, "value", Some("text")).unwrap(), texts, "{file}");
    }
}

/// Spark's file has years beyond 64 bits of nanoseconds. The values are those listed in int96_from_spark.md.
#[test]
fn int96_of_any_year_is_right() {
    let Some(values) = column("int96_from_spark.parquet", "a", None) else { return };
    assert_eq!(
        values,
        [
            "text 2024-01-01 20:34:56.123456",
            "text 2024-01-01 01:00:00",
            "text 9999-12-31 03:00:00",
            "text 2024-12-30 23:00:00",
            "null",
            "bad column a: SQLite's date functions read the years 0 to 9999 only (value '+290000-12-30 23:00:00')",
        ]
    );
}

#[test]
fn nested_values_are_the_json_that_is_known_of_them() {
    let Some(lists) = column("list_columns.parquet", "int64_list", None) else { return };
    assert_eq!(lists, ["text [1,2,3]", "text [null,1]", "text [4]"]);
    assert_eq!(column("null_list.parquet", "emptylist", None).unwrap(), ["text []"]);
    assert_eq!(column("old_list_structure.parquet", "a", None).unwrap(), ["text [[1,2],[3,4]]"]);
    let nested = column("nested_lists.snappy.parquet", "a", None).unwrap();
    assert_eq!(nested[0], r#"text [[["a","b"],["c"]],[null,["d"]]]"#);
    let maps = column("nested_maps.snappy.parquet", "a", None).unwrap();
    assert_eq!(maps[0], r#"text {"a":{"1":true,"2":false}}"#);
    let impala = column("nonnullable.impala.parquet", "int_map_array", None).unwrap();
    assert_eq!(impala, [r#"text [{},{"k1":1},{},{}]"#]);
}

#[test]
fn checks_of_the_ends_tell_what_a_file_is() {
    for (bytes, expected) in [
        (&b"PAR1"[..], "too short"),
        (b"PAR1 and some more bytes", "truncated"),
        (b"something else altogether", "not a Parquet file"),
        (b"PARE and some more bytes PARE", "encrypted"),
        (b"PAR1 and a footer of any length \xff\xff\xff\x7fPAR1", "metadata cannot be read"),
    ] {
        let error = read_bytes(bytes, Format::Parquet).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Damage to every fifth byte of a small file gives an error or other values, but no uncaught panic, no abort and no hang.
#[test]
fn damaged_files_do_no_harm() {
    let Some(data) = shared_data("parquet-testing") else { return };
    let whole = std::fs::read(data.join("data/alltypes_plain.snappy.parquet")).unwrap();
    for at in (0..whole.len()).step_by(5) {
        for damage in [0x00, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = damage;
            if let Err(error) = read_forms(&bytes, Format::Parquet, &ReadOptions::default(), &[]) {
                assert_eq!(error.kind(), ErrorKind::Data, "{error}");
            }
        }
    }
    for len in (0..whole.len()).step_by(7) {
        assert!(read_bytes(&whole[..len], Format::Parquet).is_err(), "{len} bytes");
    }
}

/// Returns a file with a column of texts and a column of lists of texts, all `fine` or `wrong`. Replaces `from` by `to` in it.
fn file_of_texts(has_dictionaries: bool, from: &[u8], to: &[u8]) -> Vec<u8> {
    let texts = ["fine", "wrong"].repeat(3);
    let mut lists = ListBuilder::new(StringBuilder::new());
    texts.iter().for_each(|text| lists.append_value([Some(text)]));
    let columns: [(&str, ArrayRef); 2] = [("t", Arc::new(StringArray::from(texts))), ("l", Arc::new(lists.finish()))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(has_dictionaries)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    while let Some(at) = file.windows(from.len()).position(|bytes| bytes == from) {
        file[at..at + from.len()].copy_from_slice(to);
    }
    file
}

/// One text that was not UTF-8 made its whole row group unreadable, whatever --invalid-utf8 said: the decoder checks all columns
/// that its schema calls text.
#[test]
fn texts_that_are_no_utf8_are_what_the_options_say() {
    for has_dictionaries in [true, false] {
        let file = file_of_texts(has_dictionaries, b"wrong", b"wr\xffng");
        let bad = |column: &str| format!("bad column {column}: the bytes are not UTF-8 text");
        for (invalid_utf8, text, list) in [
            // The first bad column is named.
            (InvalidUtf8::Error, bad("t"), bad("t")),
            (InvalidUtf8::Replace, "text wr\u{fffd}ng".to_owned(), "text [\"wr\u{fffd}ng\"]".to_owned()),
            (InvalidUtf8::Blob, "blob 7772ff6e67".to_owned(), "blob 5b227772ff6e67225d".to_owned()),
        ] {
            let options = ReadOptions { invalid_utf8, ..ReadOptions::default() };
            let table = read_forms(&file, Format::Parquet, &options, &[]).unwrap();
            assert_eq!(table.column(0), ["text fine", &text].repeat(3), "{invalid_utf8:?} {has_dictionaries}");
            assert_eq!(table.column(1), ["text [\"fine\"]", &list].repeat(3), "{invalid_utf8:?}");
        }
    }
}

/// Within a struct, an INT96 timestamp of the year 3000 was stored as one of 1830: its nanoseconds wrapped around.
#[test]
fn nested_int96_timestamps_beyond_64_bits_are_wrong() {
    let schema = "message m { required group s { required int64 n (TIMESTAMP(NANOS, false)); required int96 t; } }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[0, 1], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    // Julian days of 1970-01-01 and of 3000-01-01.
    let times = [2_440_588, 2_816_788].map(|day| {
        let mut time = Int96::new();
        time.set_data(0, 0, day);
        time
    });
    column.typed::<Int96Type>().write_batch(&times, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let table = read_bytes(&file, Format::Parquet).unwrap();
    let fine = r#"text {"n":"1970-01-01 00:00:00","t":"1970-01-01 00:00:00"}"#;
    assert_eq!(table.column(0), [fine, "bad column s: nanoseconds since 1970 do not fit 64 bits"]);
}

/// Returns a file with `depth` nested groups around a column, in Thrift's compact protocol.
fn nested_file(depth: usize) -> Vec<u8> {
    let mut metadata = vec![0x15, 0x02, 0x19, 0xfc];
    let mut elements = depth + 2;
    while elements >= 0x80 {
        metadata.push(u8::try_from(elements & 0x7f).unwrap() | 0x80);
        elements >>= 7;
    }
    metadata.push(u8::try_from(elements).unwrap());
    metadata.extend(b"\x48\x01m\x15\x02\x00");
    (0..depth).for_each(|_| metadata.extend(b"\x35\x00\x18\x01g\x15\x02\x00"));
    metadata.extend(b"\x15\x02\x25\x00\x18\x01c\x00");
    metadata.extend(b"\x16\x00\x19\x0c\x00");
    let len = u32::try_from(metadata.len()).unwrap().to_be_bytes();
    [b"PAR1", &*metadata, &[len[3], len[2], len[1], len[0]], b"PAR1"].concat()
}

/// A schema of some thousand levels overflowed the stack of the decoder, which aborted the program.
#[test]
fn schemas_that_are_too_deep_are_refused() {
    for depth in [0, 1, 63, 64] {
        let table = read_bytes(&nested_file(depth), Format::Parquet);
        assert_eq!(table.unwrap().columns.len(), 1, "{depth}");
    }
    for depth in [65, 1000, 100_000] {
        let error = read_bytes(&nested_file(depth), Format::Parquet).unwrap_err().to_string();
        assert!(error.contains("its schema is nested deeper than 64 levels"), "{depth}: {error}");
    }
}

/// A file of 3 kB took 15 GB: the decoder makes room for as many values as a dictionary says.
#[test]
fn a_dictionary_has_no_more_values_than_bytes() {
    let numbers: ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![1.5, 2.5, 3.5, 4.5, 5.5, 5.5]));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let mut file = writer.into_inner().unwrap();
    assert_eq!(read_bytes(&file, Format::Parquet).unwrap().column(0).len(), 6);
    // A struct of 5 values, behind the sizes of the page.
    let dictionary = file.windows(3).position(|window| window == [0x4C, 0x15, 10]).unwrap();
    file[dictionary + 2] = 126;
    let error = read_bytes(&file, Format::Parquet).unwrap_err().to_string();
    assert!(error.contains("n: row group 1 cannot be decoded"), "{error}");
    assert!(error.contains("a dictionary of 40 bytes says that it has 63 values"), "{error}");
}

/// With a given schema, the number of expected rows was the file's size, as if each row were one byte. The disk seemed too small
/// for a database of a petabyte.
#[test]
fn rows_expected_of_a_file_are_as_many_as_it_says() {
    let numbers: ArrayRef = Arc::new(arrow_array::Int64Array::from_iter_values(0..5000));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let read = ReadOptions { piece_bytes: Some(1000), ..ReadOptions::default() };
    let request = LoadRequest {
        inputs: Input::from_arguments(&[file.path().to_owned()], &read).unwrap(),
        schema: Some(("CREATE TABLE t (n INTEGER)".to_owned(), "<test>".to_owned())),
        threads: 1,
        read,
        ..LoadRequest::default()
    };
    let plan = LoadPlan::new(request, &|| Ok(())).unwrap();
    let rejects = Arc::new(Rejects::new(None, false, 0).unwrap());
    let source = plan.source(&plan.tables[0], PageSize::DEFAULT, OnError::Abort, &rejects).unwrap();
    assert_eq!(litepress_rows::Source::rows(&source), Some(5000));
}
