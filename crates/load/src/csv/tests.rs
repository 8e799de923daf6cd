//! Compares well-formed files with sqlite3's `.import` and the crate `csv`, and checks the errors of malformed ones.

use super::CsvReader;
use crate::infer::FileStats;
use crate::options::{Dialect, InvalidUtf8, Quote, Ragged, ReadOptions, StrayQuotes};
use crate::reader::{Batch, ProjectedColumn, Reader};
use litepress_format::value::Value;
use litepress_rows::{Affinity, Error, ErrorKind};
use proptest::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The whole content of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    /// Line and raw bytes of each row.
    pub raw: Vec<(u64, Vec<u8>)>,
    /// Bad rows and their errors.
    pub bad: Vec<(usize, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Text(String),
    Blob(Vec<u8>),
}

impl Cell {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Text(text) => Self::Text(String::from_utf8(text.to_vec()).expect("texts are UTF-8")),
            Value::Blob(blob) => Self::Blob(blob.to_vec()),
            number => panic!("a CSV file holds no {number:?}"),
        }
    }
}

pub(super) fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn open(file: &[u8], options: &ReadOptions) -> Result<CsvReader, Error> {
    CsvReader::new(Box::new(std::io::Cursor::new(file.to_vec())), Path::new("in.csv"), options)
}

fn read(file: &[u8], options: &ReadOptions) -> Result<Table, Error> {
    let mut reader = open(file, options)?;
    let columns = reader.columns().iter().map(|field| field.name.clone()).collect();
    rows(&mut reader).map(|table| Table { columns, ..table })
}

fn rows(reader: &mut CsvReader) -> Result<Table, Error> {
    let mut table = Table::default();
    let mut batch = Batch::default();
    while let Some(mut piece) = reader.next_piece()? {
        assert_eq!(piece.first_record(), table.rows.len() as u64 + 1);
        let end = table.rows.len() as u64 + piece.records();
        loop {
            piece.read(&mut batch)?;
            if batch.rows == 0 {
                break;
            }
            table.bad.extend(batch.bad.iter().map(|bad| (table.rows.len() + bad.row, bad.error.to_string())));
            for row in 0..batch.rows {
                table.rows.push(batch.blocks.iter().map(|block| Cell::of(block.value(row))).collect());
                table.raw.push((piece.line(row).unwrap(), piece.raw(row).unwrap().into_owned()));
            }
        }
        assert_eq!(table.rows.len() as u64, end);
    }
    Ok(table)
}

/// Reads a file in pieces of many sizes. The table must be the same each time.
pub(super) fn read_in_pieces(file: &[u8], options: &ReadOptions) -> Result<Table, Error> {
    let whole = read(file, options);
    for piece_bytes in 1..=file.len().min(300) {
        let pieces = read(file, &ReadOptions { piece_bytes: Some(piece_bytes), ..options.clone() });
        match (&whole, &pieces) {
            (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces, "pieces of {piece_bytes} bytes"),
            (Err(whole), Err(pieces)) => assert_eq!(whole.to_string(), pieces.to_string()),
            _ => panic!("pieces of {piece_bytes} bytes: {pieces:?} instead of {whole:?}"),
        }
    }
    whole
}

pub(super) fn dialect(change: impl FnOnce(&mut Dialect)) -> ReadOptions {
    let mut options = ReadOptions::default();
    change(&mut options.dialect);
    options
}

fn error(file: &[u8], options: &ReadOptions) -> String {
    read_in_pieces(file, options).expect_err("the file is wrong").to_string()
}

#[test]
fn a_file_with_all_that_is_usual() {
    let file = b"id,name,\"a \"\"note\"\"\"\r\n1,\"x, y\",\"line 1\r\nline \"\"2\"\"\"\r\n\r\n2,,\n3,O\"Brien\",\"\"";
    let table = read_in_pieces(file, &ReadOptions::default()).unwrap();
    assert_eq!(table.columns, ["id", "name", "a \"note\""]);
    let expected =
        [["1", "x, y", "line 1\r\nline \"2\""].map(text), ["2", "", ""].map(text), ["3", "O\"Brien\"", ""].map(text)];
    assert_eq!(table.rows, expected);
    let lines: Vec<u64> = table.raw.iter().map(|raw| raw.0).collect();
    assert_eq!((lines, table.raw[1].1.as_slice()), (vec![2, 5, 6], &b"2,,"[..]));
    assert_eq!(table.bad, []);
}

#[test]
fn the_delimiter_of_a_header_alone_is_the_one_that_it_has_most_of() {
    for (file, columns) in [
        (&b"a,b;c\n"[..], vec!["a", "b;c"]),
        (b"a;b;c,d\n", vec!["a", "b", "c,d"]),
        (b"a\tb\n", vec!["a", "b"]),
        (b"a|b|c", vec!["a", "b", "c"]),
        (b"a", vec!["a"]),
        (b"\"a,b,c,d\";b\n", vec!["a,b,c,d", "b"]),
        (b"\"a;b;c;d\",b\n", vec!["a;b;c;d", "b"]),
        (b"\n\r\na;\"b\nc\"\n", vec!["a", "b\nc"]),
        (b"a;\"b\"\"\n;c\"\n", vec!["a", "b\"\n;c"]),
    ] {
        assert_eq!(read_in_pieces(file, &ReadOptions::default()).unwrap().columns, columns);
    }
    let options = dialect(|dialect| dialect.delimiter = Some(":".to_owned()));
    assert_eq!(read_in_pieces(b"a:b,c\n", &options).unwrap().columns, ["a", "b,c"]);
}

#[test]
fn columns_are_named_by_the_header_or_by_the_caller_or_by_position() {
    let named = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    let without = dialect(|dialect| dialect.header = Some(false));
    let table = read_in_pieces(b"1,2\n3,4\n", &without).unwrap();
    assert_eq!((table.columns, table.rows.len()), (vec!["c1".to_owned(), "c2".to_owned()], 2));
    let given = dialect(|dialect| dialect.columns = named(&["x", "y"]));
    let table = read_in_pieces(b"a,a\n3,4\n", &given).unwrap();
    assert_eq!((table.columns, table.raw), (vec!["x".to_owned(), "y".to_owned()], vec![(2, b"3,4".to_vec())]));
    let both = dialect(|dialect| (dialect.header, dialect.columns) = (Some(false), named(&["x", "y"])));
    assert_eq!(read_in_pieces(b"3,4\n", &both).unwrap().rows.len(), 1);
    assert_eq!(read_in_pieces(b"", &both).unwrap().rows, Vec::<Vec<Cell>>::new());
    assert_eq!(read_in_pieces(b",b\n", &ReadOptions::default()).unwrap().columns, ["c1", "b"]);
    let too_many = "in.csv:1:1: the header has 3 fields, and 2 columns are named; name as many";
    assert_eq!(error(b"a,b,c\n", &given), too_many);
    let twice = dialect(|dialect| dialect.columns = named(&["x", "X"]));
    assert_eq!(error(b"a,b\n", &twice), "in.csv: columns 1 and 2 are both called X; give each column another name");
}

#[test]
fn headers_that_name_no_columns_are_refused() {
    for (file, expected) in [
        (&b""[..], "in.csv: the file is empty: nothing says which columns it has; name the columns with columns"),
        (b"\n\n", "in.csv: the file is empty: nothing says which columns it has; name the columns with columns"),
        (b"a,b\rc,d\n", "in.csv:1:3: the name of a column holds the character '\\r'"),
        (b"a,b\xff\n", "in.csv:1:3: the name of the column is not UTF-8; name the encoding of the file with encoding"),
    ] {
        assert_eq!(error(file, &ReadOptions::default()), expected);
    }
}

#[test]
fn records_that_are_wrong_are_null_and_told() {
    let file = "id,name,note\n1,ä,b,c\n2,\"é\" x,\"y\"\n3\n4,\"a\nö\",\"b\"c,d\n5,x,y\n".as_bytes();
    let table = read_in_pieces(file, &ReadOptions::default()).unwrap();
    let expected = [
        (
            0,
            "line 2, character 7: the record has 4 fields instead of 3 (value '1,ä,b,c'); put quotes around fields that hold delimiters, or cut surplus fields with ragged(Ragged::Fit)",
        ),
        (
            1,
            "line 3, character 6: column name: text follows the closing quote of the field (value ' x'); double quotes within quotes, say how they are escaped with escape, or take such quotes as text with stray_quotes(StrayQuotes::Text)",
        ),
        (
            2,
            "line 4, character 2: the record has 1 field instead of 3 (value '3'); complete the record, or let missing fields be NULL with ragged(Ragged::Pad)",
        ),
        (
            3,
            "line 6, character 7: column note: text follows the closing quote of the field (value 'c'); double quotes within quotes, say how they are escaped with escape, or take such quotes as text with stray_quotes(StrayQuotes::Text)",
        ),
    ];
    assert_eq!(table.bad, expected.map(|(row, error)| (row, error.to_owned())));
    assert_eq!(table.rows[..4], vec![vec![Cell::Null; 3]; 4]);
    assert_eq!(table.rows[4], ["5", "x", "y"].map(text));
    assert_eq!(table.raw[3], (5, "4,\"a\nö\",\"b\"c,d".into()));
}

/// A stray quote in the last column made the run fail, or hid all records behind it: no quote closed it. Now its line is a bad record,
/// and the records below it are read.
#[test]
fn a_quote_that_is_never_closed_is_an_error_of_its_line() {
    let table = read_in_pieces(b"a,b\n1,2\n\n3,\"4\n5,6\n", &ReadOptions::default()).unwrap();
    let expected = "line 4, character 3: column b: the quote that opens here is never closed; close it, take such quotes as \
                    text with stray_quotes(StrayQuotes::Text), or name another quote character, or none, with quote";
    assert_eq!(table.bad, [(1, expected.to_owned())]);
    assert_eq!((&table.rows[0], &table.rows[2]), (&["1", "2"].map(text).to_vec(), &["5", "6"].map(text).to_vec()));
    assert_eq!(table.raw[1], (4, b"3,\"4".to_vec()));
    let table = read_in_pieces(b"a,b\n3,\"4\n5,6\n", &dialect(|dialect| dialect.quote = Quote::None)).unwrap();
    assert_eq!(table.rows, [["3", "\"4"].map(text), ["5", "6"].map(text)]);
}

#[test]
fn missing_fields_can_be_null() {
    let pad = dialect(|dialect| dialect.ragged = Ragged::Pad);
    let table = read_in_pieces(b"a,b,c\n1\n1,\n\n1,2,3,4\n\"x\"y\n", &pad).unwrap();
    let null = || Cell::Null;
    assert_eq!(table.rows[..2], [[text("1"), null(), null()], [text("1"), text(""), null()]]);
    assert_eq!(table.bad.iter().map(|bad| bad.0).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn fields_without_quotes_can_mean_null() {
    let options = ReadOptions { nulls: vec!["".into(), "NA".into()], ..ReadOptions::default() };
    let table = read_in_pieces(b"a,b\n,\"\"\nNA,\"NA\"\nNAN,na\n", &options).unwrap();
    let expected = [[Cell::Null, text("")], [Cell::Null, text("NA")], ["NAN", "na"].map(text)];
    assert_eq!(table.rows, expected);
}

#[test]
fn comments_are_passed_by() {
    let options = dialect(|dialect| dialect.comment = Some(b'#'));
    let file = b"# \"\na,b\n#,\n#\n1,#2\n\"#3\",\"\n#4\"\n\n# \"x\n5,6\n#";
    let table = read_in_pieces(file, &options).unwrap();
    assert_eq!(table.columns, ["a", "b"]);
    assert_eq!(table.rows, [["1", "#2"].map(text), ["#3", "\n#4"].map(text), ["5", "6"].map(text)]);
    assert_eq!(table.raw.iter().map(|raw| raw.0).collect::<Vec<_>>(), [5, 6, 10]);
}

#[test]
fn blank_lines_are_empty_fields_of_a_single_column() {
    let table = read_in_pieces(b"a\n\n1\r\n\r\n\n", &ReadOptions::default()).unwrap();
    assert_eq!(table.rows, [[""], ["1"], [""], [""]].map(|row| row.map(text)));
}

#[test]
fn quotes_can_be_escaped_otherwise() {
    let options = dialect(|dialect| dialect.escape = Some(b'\\'));
    let file = br#"a,b
"x\"y","c:\new\\"
"\\\"",\"
"#;
    let table = read_in_pieces(file, &options).unwrap();
    assert_eq!(table.rows, [["x\"y", "c:\\new\\"].map(text), ["\\\"", "\\\""].map(text)]);
    let single = dialect(|dialect| dialect.quote = Quote::Byte(b'\''));
    let table = read_in_pieces(b"a,b\n'x''y','\n'\n", &single).unwrap();
    assert_eq!(table.rows, [["x'y", "\n"].map(text)]);
}

#[test]
fn a_dialect_cannot_contradict_itself() {
    let both = "in.csv: ; cannot be both the delimiter and the quote of a CSV file";
    let options = dialect(|dialect| (dialect.delimiter, dialect.quote) = (Some(";".to_owned()), Quote::Byte(b';')));
    assert_eq!(error(b"a\n", &options), both);
    for delimiter in ["\n", "\r", "\0", ""] {
        let options = dialect(|dialect| dialect.delimiter = Some(delimiter.to_owned()));
        assert_eq!(read(b"a\n", &options).unwrap_err().kind(), ErrorKind::Usage);
    }
    let options = dialect(|dialect| dialect.escape = Some(b'"'));
    assert_eq!(read_in_pieces(b"a,b\n\"\"\"\",1\n", &options).unwrap().rows, [["\"", "1"].map(text)]);
}

#[test]
fn text_that_is_no_utf8() {
    let file = b"a,b\n\xe4,1\n\"x\"\"\xff\",\"\"\"2\"\n\xc3\xa4,\xc3\n";
    let read_with =
        |invalid_utf8| read_in_pieces(file, &ReadOptions { invalid_utf8, ..ReadOptions::default() }).unwrap();
    let table = read_with(InvalidUtf8::Error);
    let advice = "name the encoding of the file with encoding, or store U+FFFD for such bytes with invalid_utf8(InvalidUtf8::Replace)";
    let expected = [
        (0, "line 2, character 1: column a: the text is not UTF-8 (value '\u{fffd}')"),
        (1, "line 3, character 5: column a: the text is not UTF-8 (value 'x\"\u{fffd}')"),
        (2, "line 4, character 3: column b: the text is not UTF-8 (value '\u{fffd}')"),
    ];
    assert_eq!(table.bad, expected.map(|(row, error)| (row, format!("{error}; {advice}"))));
    let table = read_with(InvalidUtf8::Replace);
    let expected = [["\u{fffd}", "1"], ["x\"\u{fffd}", "\"2"], ["ä", "\u{fffd}"]];
    assert_eq!((table.rows, table.bad), (expected.map(|row| row.map(text).to_vec()).to_vec(), vec![]));
    let table = read_with(InvalidUtf8::Blob);
    let blob = |bytes: &[u8]| Cell::Blob(bytes.to_vec());
    let expected = [[blob(b"\xe4"), text("1")], [blob(b"x\"\xff"), text("\"2")], [text("ä"), blob(b"\xc3")]];
    assert_eq!((table.rows, table.bad), (expected.map(|row| row.to_vec()).to_vec(), vec![]));
}

#[test]
fn wanted_columns_are_given_in_the_order_asked_for() {
    let mut reader = open(b"a,b,c\n1,2,3\n4,\xff,6\n", &ReadOptions::default()).unwrap();
    let projected = |field, form| ProjectedColumn { form, ..ProjectedColumn::new(field, "x", Affinity::Text) };
    reader.project(&[projected(Some(2), None), projected(Some(0), None), projected(Some(2), None)]).unwrap();
    let table = rows(&mut reader).unwrap();
    assert_eq!(table.rows, [["3", "1", "3"].map(text), ["6", "4", "6"].map(text)]);
    for projected in [projected(Some(3), None), projected(None, None), projected(Some(0), Some("date".to_owned()))] {
        assert_eq!(reader.project(&[projected]).unwrap_err().kind(), ErrorKind::Usage);
    }
}

/// Records longer than a block, than a batch, and around multiples of 64 bytes.
#[test]
fn long_records_and_many() {
    let mut file = b"a,b\n".to_vec();
    let mut expected = Vec::new();
    for row in 0..5000_usize {
        let len = if row == 3000 { 5 << 20 } else { row % 131 };
        let (first, second) = (row.to_string(), "x,\n".repeat(len / 3));
        file.extend(format!("{first},\"{second}\"\n").bytes());
        expected.push([text(&first), text(&second)]);
    }
    for piece_bytes in [1000, 4 << 20, 64 << 20] {
        let options = ReadOptions { piece_bytes: Some(piece_bytes), ..ReadOptions::default() };
        assert!(read(&file, &options).unwrap().rows == expected, "pieces of {piece_bytes} bytes");
    }
}

fn shared_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("LITEPRESS_SHARED_DATA").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

#[test]
fn csv_spectrum_is_read_as_its_json_says() {
    let Some(folder) = shared_data().map(|data| data.join("csv-spectrum")) else {
        return eprintln!("skipped: shared data are not here");
    };
    let mut files = 0;
    for entry in std::fs::read_dir(folder.join("csvs")).unwrap() {
        let path = entry.unwrap().path();
        files += 1;
        // The JSON beside this file is not a list, and describes other data.
        if path.ends_with("location_coordinates.csv") {
            let table = read_in_pieces(&std::fs::read(&path).unwrap(), &ReadOptions::default()).unwrap();
            assert_eq!(table.rows[0][2..], [text("Modesto"), text("Stanislaus")]);
            continue;
        }
        let json = folder.join("json").join(path.file_name().unwrap()).with_extension("json");
        let expected: Vec<serde_json::Map<String, serde_json::Value>> =
            serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        let table = read_in_pieces(&std::fs::read(&path).unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!(table.rows.len(), expected.len(), "{}", path.display());
        for (row, expected) in table.rows.iter().zip(&expected) {
            assert_eq!(row.len(), expected.len(), "{}", path.display());
            for (name, cell) in table.columns.iter().zip(row) {
                assert_eq!(*cell, text(expected[name].as_str().unwrap()), "{}: {name}", path.display());
            }
        }
    }
    assert_eq!(files, 12);
}

/// Returns the rows of a file without header as sqlite3's `.import` reads them. `None` if the program is not installed.
fn imported(file: &[u8], columns: usize) -> Option<Vec<Vec<Cell>>> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.csv"), file).unwrap();
    let names: Vec<String> = (1..=columns).map(|column| format!("c{column}")).collect();
    let mut sqlite = Command::new("sqlite3")
        .args(["-batch", "out.db"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let script = format!("CREATE TABLE t ({});\n.mode csv\n.import in.csv t\n", names.join(" TEXT, ") + " TEXT");
    sqlite.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(sqlite.wait().unwrap().success());
    let database = rusqlite::Connection::open(folder.path().join("out.db")).unwrap();
    let mut select = database.prepare("SELECT * FROM t ORDER BY rowid").unwrap();
    let cell = |row: &rusqlite::Row<'_>, column| match row.get_ref(column).unwrap() {
        rusqlite::types::ValueRef::Null => Cell::Null,
        value => text(value.as_str().unwrap()),
    };
    let rows = select.query_map([], |row| Ok((0..columns).map(|column| cell(row, column)).collect())).unwrap();
    Some(rows.map(Result::unwrap).collect())
}

/// Generates a field of a well-formed file: unquoted, or with quotes around any content.
fn any_field() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-c0-9 ;|\té☃]{0,6}",
        1 => "[a-c][a-c\"\r]{0,3}[a-c]",
        3 => "[a-c\",;\n\r☃]{0,6}".prop_map(|text| format!("\"{}\"", text.replace('"', "\"\""))),
        1 => "[a-c, ]{60,70}".prop_map(|text| format!("\"{text}\"")),
    ]
}

/// Generates a well-formed file without header, and its number of columns.
fn any_file() -> impl Strategy<Value = (String, usize)> {
    let record = |columns| (prop::collection::vec(any_field(), columns), prop_oneof![Just("\n"), Just("\r\n")]);
    let file = move |columns: usize| (prop::collection::vec(record(columns), 1..8), any::<bool>(), Just(columns));
    (1..5_usize).prop_flat_map(file).prop_map(|(records, has_last_end, columns)| {
        let mut file = String::new();
        for (fields, end) in &records {
            // A single empty field makes a blank line.
            file += &fields.join(",");
            file += end;
        }
        let unended = file.trim_end_matches(['\r', '\n']);
        let (fields, _) = records.last().expect("there is a record");
        // Without a line end, an empty record does not exist.
        if !has_last_end && fields.iter().any(|field| !field.is_empty()) && !fields[columns - 1].is_empty() {
            file.truncate(unended.len());
        }
        (file, columns)
    })
}

/// Generates any sequence of bytes that are special in CSV.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&b"aaab,,,\"\"\"\n\n\r;#\\\xe4\xc3\xa4\0"[..]), 0..150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn well_formed_files_are_what_import_makes_of_them((file, columns) in any_file()) {
        // Without any LF, CR ends lines.
        prop_assume!(file.contains('\n') || !file.contains('\r'));
        // Blank lines alone do not reveal that there is one column.
        let names = (1..=columns).map(|column| format!("c{column}")).collect();
        let options = dialect(|dialect| (dialect.header, dialect.delimiter, dialect.columns) = (Some(false), Some(",".to_owned()), Some(names)));
        let table = read_in_pieces(file.as_bytes(), &options).unwrap();
        prop_assert_eq!(&table.bad, &vec![]);
        if let Some(imported) = imported(file.as_bytes(), columns) {
            prop_assert_eq!(&table.rows, &imported);
        }
        // The crate accepts CR as a line end, and skips the blank lines of a single column.
        if columns > 1 && !file.replace("\r\n", "").contains('\r') {
            let mut crate_csv = csv::ReaderBuilder::new().has_headers(false).from_reader(file.as_bytes());
            let records = crate_csv.records().map(|record| record.unwrap().iter().map(text).collect::<Vec<_>>());
            prop_assert_eq!(&table.rows, &records.collect::<Vec<_>>());
        }
    }
}

proptest! {
    /// No input makes the reader panic, and the size of pieces changes nothing, not even error messages.
    #[test]
    fn any_bytes_are_read_alike_however_they_are_cut(
        file in any_bytes(),
        header in any::<bool>(),
        comment in prop::option::of(Just(b'#')),
        escape in prop::option::of(Just(b'\\')),
        has_quote in prop::bool::weighted(0.9),
        pad in any::<bool>(),
        stray in any::<bool>(),
        trim in prop::bool::weighted(0.2),
        invalid_utf8 in prop::sample::select(&[InvalidUtf8::Error, InvalidUtf8::Replace, InvalidUtf8::Blob][..]),
        null in prop::option::of("a?"),
    ) {
        let ragged = if pad { Ragged::Fit } else { Ragged::Error };
        let stray_quotes = if stray { StrayQuotes::Text } else { StrayQuotes::Error };
        let quote = if has_quote { Quote::Found } else { Quote::None };
        let header = (!header).then_some(false);
        let dialect = Dialect { header, comment, escape, quote, ragged, stray_quotes, trim, ..Dialect::default() };
        let options = ReadOptions { dialect, invalid_utf8, nulls: null.into_iter().collect(), ..ReadOptions::default() };
        let read = read_in_pieces(&file, &options);
        // A survey skips exactly the bad records.
        if let (Ok(table), Ok(mut reader)) = (read, open(&file, &options)) {
            let mut findings = FileStats::default();
            while let Some(mut piece) = reader.next_piece().unwrap() {
                piece.scan_types(&mut findings).unwrap();
            }
            prop_assert_eq!(findings.records, (table.rows.len() - table.bad.len()) as u64);
        }
    }
}

/// A record of 500 MB was in memory as text, record and pages at once. The text that was read is freed between batches.
#[test]
fn text_that_was_read_can_be_released() {
    let rows: String =
        (0..3000).map(|row| if row % 7 == 0 { format!("\"x\n{row}\"\n") } else { format!("x{row}\n") }).collect();
    let file = format!("v\n{rows}");
    let mut reader =
        CsvReader::new(Box::new(std::io::Cursor::new(file.into_bytes())), Path::new("in.csv"), &ReadOptions::default())
            .unwrap();
    let (mut batch, mut row, mut line) = (crate::reader::Batch::default(), 0, 2);
    let mut piece = reader.next_piece().unwrap().unwrap();
    loop {
        piece.read(&mut batch).unwrap();
        if batch.rows == 0 {
            break;
        }
        for at in 0..batch.rows {
            let value = if row % 7 == 0 { format!("x\n{row}") } else { format!("x{row}") };
            assert_eq!(batch.blocks[0].value(at), litepress_format::value::Value::Text(value.as_bytes()));
            assert_eq!(piece.line(at), Some(line));
            line += if row % 7 == 0 { 2 } else { 1 };
            row += 1;
        }
        piece.release();
    }
    assert_eq!(row, 3000);
}

/// A field of 20 MB with a quote in the wrong place ended in a panic: the length of the rewritten text was taken for one of the file's.
#[test]
fn text_that_was_rewritten_is_released_as_a_whole() {
    let rows: String = (0..3000).map(|row| format!("\"{row}\"x\n")).collect();
    let file = format!("v\n{rows}").into_bytes();
    let options = dialect(|dialect| dialect.stray_quotes = StrayQuotes::Text);
    let mut reader = CsvReader::new(Box::new(std::io::Cursor::new(file)), Path::new("in.csv"), &options).unwrap();
    let mut piece = reader.next_piece().unwrap().unwrap();
    let (mut batch, mut row) = (crate::reader::Batch::default(), 0);
    loop {
        piece.read(&mut batch).unwrap();
        if batch.rows == 0 {
            break;
        }
        for at in 0..batch.rows {
            let value = format!("\"{row}\"x");
            assert_eq!(batch.blocks[0].value(at), litepress_format::value::Value::Text(value.as_bytes()));
            assert_eq!(piece.line(at), Some(row + 2));
            row += 1;
        }
        piece.release();
    }
    assert_eq!((row, piece.text_bytes()), (3000, (0, 0)));
}

/// A field of 1 MB with 250,000 quotes in it took 7 s, and one of 4 MB 129 s: for each quote, the field was searched from its start.
#[test]
fn a_field_of_many_quotes_takes_linear_time() {
    let field = format!("\"{}", "x\" y".repeat(1 << 20));
    let file = format!("a,b\n1,{field}\n");
    let begun = std::time::Instant::now();
    let table = read(file.as_bytes(), &dialect(|dialect| dialect.stray_quotes = StrayQuotes::Text)).unwrap();
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    assert_eq!(table.rows, [[text("1"), text(&field)]]);
}
