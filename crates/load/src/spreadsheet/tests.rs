//! Sheets of workbooks that the tests write themselves, and of one that Excel 97 could have written.

use super::*;
use crate::input::Input;
use crate::options::Format;
use litepress_format::value::Value;
use litepress_rows::message::Flags;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

fn archive(path: &Path, members: &[(&str, &str)]) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, text) in members {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
}

/// Writes a workbook of Excel with these sheets: name and XML of the rows. Style 1 is a date, style 2 a duration.
fn xlsx(folder: &TempDir, sheets: &[(&str, &str)]) -> PathBuf {
    let path = folder.path().join("book.xlsx");
    let list: String = (1..)
        .zip(sheets)
        .map(|(id, (name, _))| format!("<sheet name=\"{name}\" sheetId=\"{id}\" r:id=\"rId{id}\"/>"))
        .collect();
    let links: String = (1..=sheets.len())
        .map(|id| format!("<Relationship Id=\"rId{id}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet{id}.xml\"/>"))
        .collect();
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let workbook = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>{list}</sheets></workbook>"
    );
    let links = format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{links}</Relationships>"
    );
    let package = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>".to_owned();
    let styles = format!(
        "<styleSheet xmlns=\"{main}\"><numFmts><numFmt numFmtId=\"164\" formatCode=\"[h]:mm:ss\"/></numFmts><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"22\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>"
    );
    let mut members = vec![
        ("_rels/.rels".to_owned(), package),
        ("xl/workbook.xml".to_owned(), workbook),
        ("xl/_rels/workbook.xml.rels".to_owned(), links),
        ("xl/styles.xml".to_owned(), styles),
    ];
    for (id, (_, rows)) in (1..).zip(sheets) {
        let sheet = format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>");
        members.push((format!("xl/worksheets/sheet{id}.xml"), sheet));
    }
    let members: Vec<(&str, &str)> = members.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    archive(&path, &members);
    path
}

/// Writes an .ods with one sheet of these rows.
fn ods(path: &Path, rows: &str) {
    let content = format!(
        "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
         xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body><office:spreadsheet>\
         <table:table table:name=\"T\">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
    );
    let manifest = "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>";
    let kind = "application/vnd.oasis.opendocument.spreadsheet";
    archive(path, &[("mimetype", kind), ("META-INF/manifest.xml", manifest), ("content.xml", &content)]);
}

/// Writes rows of cells: a number, `=style:number`, `#error`, `?bool`, or text. An empty text is no cell.
fn rows(rows: &[&[&str]]) -> String {
    let mut xml = String::new();
    for (row, cells) in (1..).zip(rows) {
        xml += &format!("<row r=\"{row}\">");
        for (column, cell) in ('A'..='Z').zip(*cells) {
            let place = format!("r=\"{column}{row}\"");
            xml += &match *cell {
                "" => continue,
                cell if cell.starts_with('=') => {
                    format!("<c {place} s=\"{}\"><v>{}</v></c>", &cell[1..2], &cell[3..])
                }
                cell if cell.starts_with('#') => format!("<c {place} t=\"e\"><v>{cell}</v></c>"),
                cell if cell.starts_with('?') => format!("<c {place} t=\"b\"><v>{}</v></c>", &cell[1..]),
                cell if cell.parse::<f64>().is_ok() && !cell.starts_with("00") => {
                    format!("<c {place}><v>{cell}</v></c>")
                }
                cell => format!("<c {place} t=\"inlineStr\"><is><t>{cell}</t></is></c>"),
            };
        }
        xml += "</row>";
    }
    xml
}

fn open(path: &Path, wanted: &[&str], options: &ReadOptions) -> Result<Vec<Sheet>> {
    let inputs = Input::all_of(path, options)?;
    assert_eq!(inputs[0].format, Format::Spreadsheet);
    open_sheets(&inputs[0], &wanted.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), options)
}

/// Returns the names and the values of a sheet.
fn read(sheet: Sheet, options: &ReadOptions) -> (Vec<String>, Vec<String>) {
    let mut reader = SheetReader::new(Arc::new(sheet), options);
    let names = reader.columns().iter().map(|field| field.name.clone()).collect();
    let (mut batch, mut told) = (Batch::default(), Vec::new());
    while let Some(mut piece) = reader.next_piece().unwrap() {
        assert_eq!(piece.first_record(), told.len() as u64 + 1);
        let expected = told.len() as u64 + piece.records();
        loop {
            piece.read(&mut batch).unwrap();
            if batch.rows == 0 {
                break;
            }
            for row in 0..batch.rows {
                let show = |block: &litepress_rows::CellBlock| match block.value(row) {
                    Value::Null => "-".to_owned(),
                    Value::Int(int) => int.to_string(),
                    Value::Real(real) => format!("{real:?}"),
                    Value::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
                    Value::Blob(_) => unreachable!("a sheet has no blobs"),
                };
                told.push(batch.blocks.iter().map(show).collect::<Vec<_>>().join(" "));
            }
        }
        assert_eq!(told.len() as u64, expected);
    }
    (names, told)
}

#[test]
fn cells_are_what_the_table_in_the_docs_says() {
    let folder = TempDir::new().unwrap();
    let sheet = rows(&[
        &["id", " name ", "2024", "", "id", "empty"],
        &["1", "Zürich", "0.1", "?1", "x", "", "#N/A"],
        &[],
        &["-2", "007", "1e300", "?0", "", "", "#DIV/0!"],
        &["9007199254740993", "", "3.0", "", "", "", ""],
    ]);
    let path = xlsx(&folder, &[("One", &sheet)]);
    let options = ReadOptions::default();
    let mut sheets = open(&path, &[], &options).unwrap();
    assert_eq!((sheets.len(), sheets[0].place == path), (1, true));
    let (names, values) = read(sheets.remove(0), &options);
    assert_eq!(names, ["id", "name", "2024", "c4", "id_2", "empty"]);
    let expected = ["1 'Zürich' 0.1 1 'x' -", "- - - - - -", "-2 '007' 1e300 0 - -", "9007199254740992 - 3 - - -"];
    assert_eq!(values, expected);
    let notes = options.notes.all();
    assert!(notes[0].ends_with("book.xlsx: 2 cells hold errors and are NULL, the first is #N/A in G2"), "{notes:?}");
    let long =
        "book.xlsx: cell A5 holds a whole number beyond 2^53, about 9007199254740992; numbers of a sheet are doubles";
    assert!(notes[1].contains(long), "{notes:?}");
    assert!(notes[2].ends_with("book.xlsx: column E is called id_2, because id is taken"), "{notes:?}");
}

/// Formulas in files of programs that do not compute have no value. They were NULL, and nothing said so.
#[test]
fn formulas_without_a_value_are_told() {
    let folder = TempDir::new().unwrap();
    let read_rows = |formulas: &str| {
        let sheet =
            rows(&[&["a", "b"], &["1", ""]]).replace("</row><row r=\"2\">", &format!("</row><row r=\"2\">{formulas}"));
        let options = ReadOptions::default();
        let mut sheets = open(&xlsx(&folder, &[("One", &sheet)]), &[], &options).unwrap();
        (read(sheets.remove(0), &options).1, options.notes.all())
    };
    let value = "<c r=\"C2\"><f>A2+1</f><v>2</v></c>";
    let (values, notes) = read_rows(value);
    assert_eq!((values, notes.len()), (vec!["1 - 2".to_owned()], 0));
    let (values, notes) =
        read_rows(&format!("<c r=\"B2\"><f>A2*2</f><v></v></c>{value}<c r=\"D2\"><f>A2</f></c><c r=\"E2\"/>"));
    assert_eq!(values, ["1 - 2"]);
    assert!(notes[0].contains("2 cells hold formulas without their values and are NULL, the first is B2"), "{notes:?}");
    let (values, _) = read_rows("<c r=\"B2\"><f t=\"shared\">A2*2</f><v>7</v></c>");
    assert_eq!(values, ["1 7"], "a formula that is damaged");
}

#[test]
fn dates_are_written_alike_in_a_column() {
    let folder = TempDir::new().unwrap();
    let sheet = rows(&[
        &["date", "moment", "time", "duration", "beyond"],
        &["=1:45352", "=1:45352.5", "=1:0.5", "=2:1.5", "=1:45352"],
        &["=1:1", "=1:45353", "=1:0.04237268518518519", "=2:0.5000057870370371", "=1:-1"],
    ]);
    let path = xlsx(&folder, &[("One", &sheet)]);
    let options = ReadOptions::default();
    let (_, values) = read(open(&path, &[], &options).unwrap().remove(0), &options);
    assert_eq!(
        values,
        [
            "'2024-03-01' '2024-03-01 12:00:00' '12:00:00' '36:00:00' '2024-03-01'",
            "'1900-01-01' '2024-03-02 00:00:00' '01:01:01' '12:00:00.500' -1",
        ]
    );
}

#[test]
fn sheets_are_chosen_by_name() {
    let folder = TempDir::new().unwrap();
    let (one, two) = (rows(&[&["a"], &["1"]]), rows(&[&["b"], &["2"]]));
    let path = xlsx(&folder, &[("One", &one), ("Empty", ""), ("Two", &two)]);
    let options = ReadOptions::default();
    let places = |wanted: &[&str]| -> Result<Vec<String>> {
        let sheets = open(&path, wanted, &options)?;
        Ok(sheets.iter().map(|sheet| sheet.place.strip_prefix(folder.path()).unwrap().display().to_string()).collect())
    };
    assert_eq!(places(&[]).unwrap(), ["book.xlsx/One", "book.xlsx/Two"]);
    assert!(options.notes.all()[0].ends_with("book.xlsx: left out, since they are empty: Empty"));
    assert_eq!(places(&["all"]).unwrap(), ["book.xlsx/One", "book.xlsx/Two"]);
    assert_eq!(places(&["two"]).unwrap(), ["book.xlsx/Two"]);
    let message = |wanted: &[&str]| places(wanted).unwrap_err().in_words(&Flags);
    assert!(message(&["Three"]).contains("--sheet Three: the workbook has no such sheet"), "{}", message(&["Three"]));
    assert!(message(&["Three"]).ends_with("it has One, Empty, Two"));
    assert!(message(&["Empty"]).contains("there is no value in the sheets: Empty"));
    let bare = ReadOptions {
        dialect: crate::options::Dialect { header: Some(false), ..Default::default() },
        ..ReadOptions::default()
    };
    let (names, values) = read(open(&path, &["One"], &bare).unwrap().remove(0), &bare);
    assert_eq!((names, values), (vec!["c1".to_owned()], vec!["'a'".to_owned(), "1".to_owned()]));
}

#[test]
fn old_and_open_formats_are_read_alike() {
    let folder = TempDir::new().unwrap();
    let options = ReadOptions::default();
    let xls = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cities.xls"));
    let mut sheets = open(&xls, &["Cities", "Codes"], &options).unwrap();
    let (names, values) = read(sheets.remove(0), &options);
    assert_eq!(names, ["id", "name", "ratio", "founded", "seen", "big"]);
    assert_eq!(values[0], "1 'Zürich' 0.1 '1962-01-01' '2024-03-01 12:30:00' 1");
    assert_eq!(values[1], "2 'Łódź' 2.5 '1993-07-29' '2024-03-02 00:00:00' 0");
    assert_eq!(read(sheets.remove(0), &options).1, ["'007'"]);

    let file = folder.path().join("cities.ods");
    let cells = |cells: &[(&str, &str, &str)]| -> String {
        let cell = |(kind, name, value): &(&str, &str, &str)| {
            let value = if *kind == "string" { String::new() } else { format!(" office:{name}=\"{value}\"") };
            format!("<table:table-cell office:value-type=\"{kind}\"{value}><text:p>{name}</text:p></table:table-cell>")
        };
        format!("<table:table-row>{}</table:table-row>", cells.iter().map(cell).collect::<String>())
    };
    let table = cells(&[("string", "id", ""), ("string", "at", ""), ("string", "took", ""), ("string", "ok", "")])
        + &cells(&[
            ("float", "value", "1"),
            ("date", "date-value", "2024-03-01T12:30:00"),
            ("time", "time-value", "PT36H00M05.500S"),
            ("boolean", "boolean-value", "true"),
        ]);
    ods(&file, &table);
    let (names, values) = read(open(&file, &[], &options).unwrap().remove(0), &options);
    assert_eq!(names, ["id", "at", "took", "ok"]);
    assert_eq!(values, ["1 '2024-03-01 12:30:00' '36:00:05.5' 1"]);
}

#[test]
fn files_that_are_no_workbooks_are_told() {
    let folder = TempDir::new().unwrap();
    let options = ReadOptions::default();
    let path = folder.path().join("x.docx");
    archive(&path, &[("word/document.xml", "<x/>")]);
    let error = Input::all_of(&path, &options).unwrap_err().in_words(&Flags);
    assert!(error.contains("this is a text document or a presentation"), "{error}");
    archive(&path, &[("xl/workbook.xml", "<nothing")]);
    let error = open(&path, &[], &options).unwrap_err().in_words(&Flags);
    assert!(error.contains("this is not a workbook that can be read"), "{error}");
    let encrypted =
        "<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>";
    let members = [("META-INF/manifest.xml", encrypted), ("content.xml", "\u{7f}<no text")];
    let kind = ("mimetype", "application/vnd.oasis.opendocument.spreadsheet");
    archive(&path, &[kind, members[0], members[1]]);
    let error = open(&path, &[], &options).unwrap_err().in_words(&Flags);
    assert!(error.contains("the workbook is protected by a password"), "{error}");
    std::fs::write(&path, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1").unwrap();
    let error = open(&path, &[], &options).unwrap_err().in_words(&Flags);
    assert!(error.contains("this is not a workbook that can be read"), "{error}");
}

/// Pieces and batches end anywhere, and a survey sees all values once.
#[test]
fn many_rows_are_read_in_pieces() {
    let folder = TempDir::new().unwrap();
    let numbers: Vec<String> = (0..PIECE_ROWS + 100).map(|row| row.to_string()).collect();
    let cells: Vec<Vec<&str>> =
        numbers.iter().enumerate().map(|(row, number)| if row % 3 == 0 { vec![] } else { vec!["x", number] }).collect();
    let mut all: Vec<&[&str]> = vec![&["a", "b"]];
    all.extend(cells.iter().map(Vec::as_slice));
    let options = ReadOptions::default();
    let path = xlsx(&folder, &[("One", &rows(&all))]);
    let sheet = open(&path, &[], &options).unwrap().remove(0);
    let mut reader = SheetReader::new(Arc::new(sheet), &options);
    let findings = crate::infer::scan_types(&mut reader, 2, None, &Arc::default(), &|| Ok(())).unwrap();
    assert_eq!(findings.records, numbers.len() as u64 - u64::from(numbers.len() % 3 == 1));
    let sheet = open(&path, &[], &options).unwrap().remove(0);
    let (_, values) = read(sheet, &options);
    for (row, value) in values.iter().enumerate() {
        assert_eq!(*value, if row % 3 == 0 { "- -".to_owned() } else { format!("'x' {row}") });
    }
}

/// A cell in the last row that a number of 32 bits can name made four billion records.
#[test]
fn cells_beyond_the_last_row_are_refused() {
    let folder = TempDir::new().unwrap();
    for place in ["A4294967295", "A1048577", "XFE2"] {
        let row = place.trim_start_matches(char::is_alphabetic);
        let sheet =
            format!("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"{row}\"><c r=\"{place}\"><v>2</v></c></row>");
        let path = xlsx(&folder, &[("S", &sheet)]);
        let error = open(&path, &[], &ReadOptions::default()).unwrap_err();
        assert!(error.headline_in(&Flags).contains("a sheet has 1048576 rows and 16384 columns"), "{error:?}");
    }
    let path = xlsx(&folder, &[("S", "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>")]);
    assert_eq!(open(&path, &[], &ReadOptions::default()).unwrap().len(), 1);
}

/// Behind a cell that stood twice, all values of its column were lost, without a word.
#[test]
fn cells_that_stand_twice_are_refused() {
    let folder = TempDir::new().unwrap();
    let error = |sheet: &str| open(&xlsx(&folder, &[("S", sheet)]), &[], &ReadOptions::default()).map(drop);
    let sheet = rows(&[&["id", "v"], &["1", "10"], &["2", "20"], &["3", "30"]]);
    assert!(error(&sheet).is_ok());
    let cell = sheet.replace("</row><row r=\"3\">", "<c r=\"B2\"><v>11</v></c></row><row r=\"3\">");
    let cell = error(&cell).unwrap_err().in_words(&Flags);
    assert!(cell.contains("book.xlsx: the cell B2 stands twice"), "{cell}");
    let row = sheet.clone() + "<row r=\"2\"><c r=\"A2\"><v>4</v></c><c r=\"B2\"><v>40</v></c></row>";
    let row = error(&row).unwrap_err().in_words(&Flags);
    assert!(row.contains("the cell A2 stands twice"), "{row}");
    let empty = sheet + "<row r=\"2\"><c r=\"A2\"/><c r=\"B2\" s=\"1\"/></row>";
    assert!(error(&empty).is_ok(), "an empty cell has no value to lose");
}

/// The date in the header of a timesheet made its times dates of 1899.
#[test]
fn dates_of_a_header_leave_the_times_below_alone() {
    let folder = TempDir::new().unwrap();
    let sheet =
        rows(&[&["who", "=1:45352", "=1:0.5"], &["ann", "=1:0.375", "=1:45352"], &["bob", "=1:0.5", "=1:45353"]]);
    let path = xlsx(&folder, &[("One", &sheet)]);
    let read_with = |header| {
        let dialect = crate::options::Dialect { header, ..Default::default() };
        let options = ReadOptions { dialect, ..ReadOptions::default() };
        read(open(&path, &[], &options).unwrap().remove(0), &options)
    };
    let (names, values) = read_with(None);
    assert_eq!(names, ["who", "2024-03-01", "12:00:00"]);
    assert_eq!(values, ["'ann' '09:00:00' '2024-03-01'", "'bob' '12:00:00' '2024-03-02'"]);
    let (_, values) = read_with(Some(false));
    assert_eq!(values[0], "'who' '2024-03-01' '12:00:00'");
}

/// A note said that all errors are NULL, and rows at the end that had nothing else were missing.
#[test]
fn rows_of_errors_are_records() {
    let folder = TempDir::new().unwrap();
    let sheet = rows(&[&["v"], &["1"], &["#N/A"], &["2"], &["#N/A"], &["#REF!"], &["", "#N/A"]]);
    let options = ReadOptions::default();
    let (_, values) = read(open(&xlsx(&folder, &[("One", &sheet)]), &[], &options).unwrap().remove(0), &options);
    assert_eq!(values, ["1", "-", "2", "-", "-"], "column B has no value and is left out");
}

/// Numbers of identifiers that other programs wrote were rounded without a word. Excel keeps 15 digits.
#[test]
fn whole_numbers_that_a_double_may_round_are_told() {
    let folder = TempDir::new().unwrap();
    let notes = |numbers: &[&str]| {
        let sheet = rows(&numbers.iter().map(std::slice::from_ref).collect::<Vec<_>>());
        let options = ReadOptions::default();
        open(&xlsx(&folder, &[("One", &sheet)]), &[], &options).unwrap();
        options.notes.all()
    };
    assert_eq!(notes(&["id", "9007199254740991", "-9007199254740991", "0.1", "6e23"]).len(), 0);
    let told = notes(&["id", "1", "1234567890123456789", "-9007199254740993"]);
    let expected =
        "book.xlsx: 2 cells hold whole numbers beyond 2^53, the first is about 1.2345678901234568e18 in A3; ";
    assert!(told.len() == 1 && told[0].contains(expected), "{told:?}");
}

/// Errors of an .ods were texts, and negative times stayed as they are written.
#[test]
fn errors_and_negative_times_of_an_ods_are_those_of_an_xlsx() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("book.ods");
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |cells: [String; 2]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let text = |text| cell("office:value-type=\"string\"", text);
    let time = cell("office:value-type=\"time\" office:time-value=\"-PT01H30M00S\"", "-01:30");
    let error = "calcext:value-type=\"error\" office:value-type=\"string\"";
    let table = "<table:table-row table:number-rows-repeated=\"3\"><table:table-cell/></table:table-row>".to_owned()
        + &row([text("took"), text("rate")])
        + &row([time, cell(&format!("{error} table:formula=\"of:=1/0\" office:string-value=\"\""), "#DIV/0!")])
        + &row([text("x"), text("#DIV/0!")])
        + &row([cell(error, "#N/A"), text("")]);
    ods(&file, &table);
    let options = ReadOptions::default();
    let (names, values) = read(open(&file, &[], &options).unwrap().remove(0), &options);
    assert_eq!(names, ["took", "rate"]);
    assert_eq!(values, ["'-01:30:00' -", "'x' '#DIV/0!'", "- -"], "a text that looks like an error is a text");
    let notes = options.notes.all();
    assert!(notes[0].ends_with("book.ods: 2 cells hold errors and are NULL, the first is #DIV/0! in B5"), "{notes:?}");
}
