//! What is found in the first records of files, and what becomes of files that are slightly off.

use super::CsvReader;
use super::tests::{Cell, Table, dialect, read_in_pieces};
use crate::options::{Dialect, Quote, Ragged, ReadOptions, RepeatedHeader, StrayQuotes, ValueOptions};
use crate::reader::{Reader, TextFormat};
use litepress_rows::Error;
use std::path::Path;

fn read(file: &[u8]) -> Table {
    read_in_pieces(file, &ReadOptions::default()).unwrap()
}

fn open_named(name: &str, file: &[u8], options: &ReadOptions) -> Result<CsvReader, Error> {
    CsvReader::new(Box::new(std::io::Cursor::new(file.to_vec())), Path::new(name), options)
}

fn format(file: &[u8]) -> TextFormat {
    open_named("in.csv", file, &ReadOptions::default()).unwrap().text_format().unwrap().clone()
}

fn rows_of(table: &Table) -> Vec<Vec<String>> {
    let cell = |cell: &Cell| match cell {
        Cell::Null => "NULL".to_owned(),
        Cell::Text(text) => text.clone(),
        Cell::Blob(blob) => format!("{blob:?}"),
    };
    table.rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

/// `people.tsv` with the header `Name, Vorname<TAB>Strasse, Nr.<TAB>Ort` was cut at its commas: the first record has as many.
#[test]
fn the_delimiter_divides_the_first_records_evenly() {
    for (file, delimiter, columns) in [
        (&b"Name, Vorname\tStrasse, Nr.\tOrt\nA\tB\tC\nD\tE, F\tG\n"[..], "\t", 3),
        // Both divide evenly, and only one of them divides no text.
        (b"Name, Vorname;Strasse, Nr.;Ort\nA, B;X, 1;Y\n", ";", 3),
        (b"a;b\n1,5;2\n2,5;3\n", ";", 2),
        (b"1,5;2,5\n1,7;2,7\n", ";", 2),
        (b"title,genres\nA,x|y|z\nB,x|y\nC,x\n", ",", 2),
        (b"a, \"b\", c\n1, \"x, y\", 2\n3, \"z\", 4\n", ", ", 3),
        (b"a||b\n1||2\n", "|", 3),
        (b"\"x\" \"y\" \"z\"\n\"a b\" \"c\" 1\n\"d\" \"e f\" 2\n", " ", 3),
        (b"name\nAda Lovelace\nBlaise Pascal\n", ",", 1),
    ] {
        let format = format(file);
        let table = read(file);
        assert_eq!((format.delimiter.as_str(), table.columns.len()), (delimiter, columns), "{}", file.escape_ascii());
        assert_eq!(table.bad, [], "{}", file.escape_ascii());
    }
    let bars = dialect(|dialect| dialect.delimiter = Some("||".to_owned()));
    let table = read_in_pieces(b"a||b\n1|x||\"2||\"\"\"\n", &bars).unwrap();
    assert_eq!((table.columns.len(), rows_of(&table)), (2, vec![vec!["1|x".to_owned(), "2||\"".to_owned()]]));
    assert_eq!(table.raw, [(2, b"1|x||\"2||\"\"\"".to_vec())]);
}

#[test]
fn a_quote_or_an_escape_that_alone_divides_evenly_is_found() {
    let single = b"id,name,n\n1,'a, b',2\n2,'c',3\n3,'d, e, f',4\n";
    assert_eq!((format(single).quote, rows_of(&read(single))[0][1].as_str()), (Some('\''), "a, b"));
    let apostrophes = b"id,name\n1,'tis\n2,'a'\n";
    assert_eq!((format(apostrophes).quote, rows_of(&read(apostrophes))[1][1].as_str()), (Some('"'), "'a'"));
    let escaped = b"id,name\n1,\"a \\\" b\"\n2,\"c\"\n";
    assert_eq!((format(escaped).escape, rows_of(&read(escaped))[0][1].as_str()), (Some('\\'), "a \" b"));
}

/// Files of old Macs were refused: "the name of a column holds the character '\r'".
#[test]
fn lines_end_with_cr_if_none_ends_with_lf() {
    let file = b"a,b\r1,\"x\ry\"\r\r3,4\r";
    let table = read(file);
    assert_eq!(
        (format(file).line_end, rows_of(&table)),
        ("CR", vec![vec!["1".into(), "x\ry".into()], vec!["3".into(), "4".into()]])
    );
    assert_eq!(table.raw.iter().map(|raw| raw.0).collect::<Vec<_>>(), [2, 5]);
    assert_eq!((format(b"a\r\n1\r\n").line_end, format(b"a\n1\n").line_end), ("CRLF", "LF"));
}

/// Excel's first line became the header.
#[test]
fn a_stated_delimiter_is_taken() {
    let file = b"sep=;\r\na;b\r\n1;2,3\r\n";
    assert_eq!((read(file).columns, format(file).header_line), (vec!["a".to_owned(), "b".to_owned()], Some(2)));
}

/// A report's title became a table of one column, and no record fitted it.
#[test]
fn lines_above_the_header_are_skipped_and_told() {
    for (file, line) in
        [(&b"Report 2024\n\nid,name,price\n1,Ada,2\n"[..], 3), (b"Report,,\n,,\nid,name,price\n1,Ada,2\n2,Bob,3\n", 3)]
    {
        let format = format(file);
        assert_eq!((format.header_line, read(file).columns.join(" ")), (Some(line), "id name price".to_owned()));
        assert_eq!(format.notes.len(), 1);
        assert!(
            format.notes[0].starts_with("skipped what stands above the header in line 3: Report"),
            "{:?}",
            format.notes
        );
    }
    // A header with few names is no title.
    for file in [&b",0,1\n0,5.1,2\n1,5.2,3\n"[..], b"name,,\nfoo,bar,baz\nx,y,z\n", b"a\n1\n2\n"] {
        assert_eq!(format(file).header_line, Some(1), "{}", file.escape_ascii());
    }
    let options = dialect(|dialect| dialect.skip = 2);
    let table = read_in_pieces(b"x,\"\ny\na,b\n1,2\n", &options).unwrap();
    assert_eq!((table.columns.join(" "), table.raw[0].0), ("a b".to_owned(), 4));
}

#[test]
fn a_first_record_like_the_others_is_no_header() {
    let header_line = |file: &[u8]| format(file).header_line;
    for file in [
        &b"5.1,3.5,setosa\n4.9,3.0,setosa\n"[..],
        b"28/01/2018,00:00,2,MG,$74.69\n29/01/2018,00:15,0,RI,$29.81\n",
        b"2.5\n3\n",
    ] {
        assert_eq!(header_line(file), None, "{}", file.escape_ascii());
    }
    for file in [
        &b"id,name\n1,Ada\n"[..],
        b"country,1990,1991\nA,5,6\n",
        b"0,1,2\n5,6,7\n",
        b"q,0.1,0.5,0.9\nx,1.5,2.5,3.5\n",
        b"place,Lat,1/22/20,1/23/20\nA,1.5,1,2\n",
        b"a,b\nc,d\n",
        b"1.5,2.5\n",
    ] {
        assert_eq!(header_line(file), Some(1), "{}", file.escape_ascii());
    }
    let given = dialect(|dialect| dialect.header = Some(true));
    assert_eq!(read_in_pieces(b"5.1,3.5\n4.9,3.0\n", &given).unwrap().columns, ["5.1", "3.5"]);
}

/// `bob,-1` above `ann,-2` became the names of columns, and one of ten equal records `x,1` did: a number that is whole was taken for a name.
/// Years and counts may be names still. If they look like a record, a note says so.
#[test]
fn whole_numbers_above_whole_numbers_are_a_record() {
    for file in [
        &b"bob,-1\nann,-2\ncid,-3\n"[..],
        b"x,1\nx,1\nx,1\n",
        b"2020,x\n2021,y\n2020,x\n",
        b"bob,5\nann,7\n",
        b"bob,5\nann,7.5\n",
        b"x,+1\ny,2\n",
        b"x,01,02\ny,03,04\n",
        b"7,8,9\n4,5,6\n",
        b"1,3,2\n4,5,6\n",
        b"5\n7\n",
        b"a,12020\nb,5\n",
        b"a,-2020\nb,5\n",
        b"a,\"5\"\nb,\"6\"\n",
    ] {
        assert_eq!(format(file).header_line, None, "{}", file.escape_ascii());
    }
    for (file, is_doubtful) in [
        (&b"id,1,2,3\nx,4,5,6\n"[..], true),
        (b"id,1,2,3\n7,4,5,6\n", false),
        (b"0,1,2\n5,6,7\n", true),
        (b",0\n0,5\n1,7\n", true),
        (b"country,1990\nA,5\n", true),
        (b"country,\"1990\",\"1991\"\nA,5,6\n", true),
        (b"country,1990,1991,1992\nA,5,6,7\n", false),
        (b"country,1990,1991,total\nA,5,6,11\n", false),
        (b"q,0.1,0.5,0.9\nx,1.5,2.5,3.5\n", true),
        (b"a,b\na,b\nc,d\n", false),
        (b"bob,-1\n", false),
    ] {
        let format = format(file);
        assert_eq!(format.header_line, Some(1), "{}", file.escape_ascii());
        assert_eq!(format.doubtful_header.is_some(), is_doubtful, "{}", file.escape_ascii());
    }
    let given = dialect(|dialect| dialect.header = Some(true));
    let reader = open_named("in.csv", b"bob,1,2\nann,3,4\n", &given).unwrap();
    assert_eq!(reader.text_format().unwrap().doubtful_header, None);
    // A header that repeats is not a record.
    let skip = dialect(|dialect| dialect.repeated_header = RepeatedHeader::Skip);
    let table = read_in_pieces(b"place,1990,1991\nA,5,6\nplace,1990,1991\nB,7,8\n", &skip).unwrap();
    assert_eq!(rows_of(&table), [["A", "5", "6"], ["B", "7", "8"]]);
}

/// `x,x,y` was refused, the most frequent refusal of real files.
#[test]
fn repeated_and_missing_names_are_completed_and_told() {
    for (file, columns, note) in [
        (&b"x,x,y\n1,2,3\n"[..], "x x_2 y", Some("column 2 is called x_2, because x is taken")),
        (b"id,,ID\n1,2,3\n", "id c2 ID_2", Some("column 3 is called ID_2, because ID is taken")),
        (b"a,b\n1,2,3\n4,5,6\n", "a b c3", Some("the header has 2 names for 3 columns: the one without is called c3")),
        (
            b"\"a\",\"b\"\n\"1\",2,3\n\"2\",5,6\n",
            "c1 a b",
            Some("the header has 2 names for 3 columns: the one without is called c1"),
        ),
        (b"a,,b\n1,2\n3,4\n", "a b", Some("name 2 of the header is empty, and no record has a field for it")),
        (b"a,b\n1,2,,\n3,4,,\n", "a b c3 c4", None),
        (
            b"a,\"b,c,d\n1,2,3,4\n5,6,7,8\n",
            "a \"b c d",
            Some("a quote in the header is in the wrong place, and taken as text"),
        ),
    ] {
        let table = read(file);
        assert_eq!((table.columns.join(" ").as_str(), table.bad.len()), (columns, 0), "{}", file.escape_ascii());
        assert_eq!(format(file).notes.first().map(String::as_str), note);
    }
}

/// A header of 100,000 names took 43 seconds until it was refused.
#[test]
fn a_header_of_many_names_is_refused_at_once() {
    let file = format!("a{}\n", ",a".repeat(100_000));
    let error = open_named("in.csv", file.as_bytes(), &ReadOptions::default()).err().unwrap().to_string();
    assert!(
        error.starts_with("in.csv:1:1: the header has 100001 names, and a table has 32767 columns at most"),
        "{error}"
    );
}

#[test]
fn a_name_and_a_content_that_contradict_each_other_are_a_question() {
    let open = |name: &str, file: &[u8]| {
        open_named(name, file, &ReadOptions::default()).map(|reader| reader.text_format().unwrap().delimiter.clone())
    };
    let error = open("people.tsv.gz", b"a,b\n1,2\n").unwrap_err().to_string();
    assert_eq!(
        error,
        "people.tsv.gz: the file's name says that its records are divided by tabs, and they are by commas; \
         say which one it is: delimiter(\",\") or delimiter(\"tab\")"
    );
    assert_eq!(open("people.tsv", b"a, b\tc, d\n1, 2\t3, 4\n").unwrap(), "\t");
    assert_eq!(open("people.csv", b"a\tb\n1\t2\n").unwrap(), "\t");
    assert_eq!(open("people.tsv", b"name\nAda\n").unwrap(), ",");
}

fn lenient() -> ReadOptions {
    let lenient = Dialect { stray_quotes: StrayQuotes::Text, ragged: Ragged::Fit, ..Dialect::default() };
    ReadOptions { dialect: lenient, ..ReadOptions::default() }
}

/// One quote in the wrong place cost a record, or swallowed its neighbours.
#[test]
fn stray_quotes_can_be_text() {
    let file = b"a,b,c\n\
        1,\"2,x\n\
        1,\"say \"hi\" now\",3\n\
        1,\"\"2\",3\n\
        \"1\n2\",\"x, \"\"y\"\"\",3\n\
        1,2,\"\n\
        7,8,9\n\
        1,2,3,\"4,5\n\
        \"1,2,\"3\"\n";
    let table = read_in_pieces(file, &lenient()).unwrap();
    let expected = [
        ["1", "\"2", "x"],
        ["1", "say \"hi\" now", "3"],
        ["1", "\"2", "3"],
        ["1\n2", "x, \"y\"", "3"],
        ["1", "2", "\""],
        ["7", "8", "9"],
        ["1", "2", "3"],
        ["\"1", "2", "3"],
    ];
    assert_eq!(rows_of(&table), expected);
    assert_eq!(table.bad, []);
    let raw: Vec<_> = table.raw.iter().map(|(line, raw)| (*line, String::from_utf8_lossy(raw).into_owned())).collect();
    assert_eq!(raw[1], (3, "1,\"say \"hi\" now\",3".to_owned()));
    assert_eq!(raw[6], (9, "1,2,3,\"4,5".to_owned()));
}

#[test]
fn records_can_be_made_to_fit() {
    let fit = dialect(|dialect| dialect.ragged = Ragged::Fit);
    let table = read_in_pieces(b"a,b\n1\n1,2,3,4\n5,6\n\"7\",\"8\",\"9\"\n", &fit).unwrap();
    assert_eq!(rows_of(&table), [["1", "NULL"], ["1", "2"], ["5", "6"], ["7", "8"]]);
    assert_eq!((table.bad.len(), table.raw[1].1.as_slice()), (0, &b"1,2,3,4"[..]));
}

#[test]
fn fields_can_be_trimmed() {
    let trimmed = dialect(|dialect| dialect.trim = true);
    let table = read_in_pieces(b" a ,\tb\n 1 , \"x, y\" \n\"\" ,  \n2,\"z\"q\n3,4\n", &trimmed).unwrap();
    assert_eq!(table.columns, ["a", "b"]);
    assert_eq!(rows_of(&table), [["1", "x, y"], ["", ""], ["NULL", "NULL"], ["3", "4"]]);
    assert_eq!(table.bad.len(), 1);
    assert_eq!(table.raw.iter().map(|raw| raw.0).collect::<Vec<_>>(), [2, 3, 4, 5]);
}

#[test]
fn records_without_values_can_be_skipped() {
    let options = dialect(|dialect| dialect.skips_empty = true);
    let mut reader = open_named("in.csv", b"a,b\n,\n1,2\n,\n", &options).unwrap();
    let mut batch = crate::reader::Batch::default();
    reader.next_piece().unwrap().unwrap().read(&mut batch).unwrap();
    assert_eq!((batch.rows, batch.skipped.as_slice()), (3, &[0, 2][..]));
}

#[test]
fn numbers_words_and_dates_are_converted() {
    let values = ValueOptions {
        decimal: Some(','),
        thousands: Some('.'),
        true_words: vec!["ja".to_owned()],
        false_words: vec!["nein".to_owned()],
        dates: vec![("d".to_owned(), "%d.%m.%Y".to_owned())],
        ..ValueOptions::default()
    };
    let options = ReadOptions { values, ..ReadOptions::default() };
    let table =
        read_in_pieces(b"n;t;d\n1.234,5;ja;31.01.2024\n-2;nein;1.2.2024\n3;x;\n4;ja;31.2.2024\n", &options).unwrap();
    assert_eq!(rows_of(&table)[..3], [["1234.5", "1", "2024-01-31"], ["-2", "0", "2024-02-01"], ["3", "x", ""]]);
    let expected = "line 5, character 6: column d: the value is not a date like %d.%m.%Y (value '31.2.2024'); \
                    state the format of all values with date_format";
    assert_eq!(table.bad, [(3, expected.to_owned())]);
}

#[test]
fn quotes_that_are_no_characters_of_a_delimiter_are_refused() {
    let options = dialect(|dialect| (dialect.delimiter, dialect.quote) = (Some("a\"".to_owned()), Quote::Byte(b'"')));
    let error = open_named("in.csv", b"a\n", &options).err().unwrap().to_string();
    assert_eq!(error, "in.csv: the delimiter of a CSV file holds a quote or a line end; choose another one");
}

/// Files that were written one after another into one had all columns of type TEXT: the second header was a record.
#[test]
fn a_header_in_the_middle_is_left_out_or_ends_the_table() {
    let file = b"id,\"na me\",x\n1,a,2\nid,na me,x\n2,\"id,na me,x\n\",3\n\nid,na me\n\"id\",\"na me\",x,more\n3,c,4\nid,x,na me\nid,na me,x\n";
    let given = |repeated_header| dialect(|dialect| dialect.repeated_header = repeated_header);
    let read = |repeated_header| rows_of(&read_in_pieces(file, &given(repeated_header)).unwrap());
    let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    let quoted = row(["2", "id,na me,x\n", "3"]);
    let swapped = row(["id", "x", "na me"]);
    let first = row(["1", "a", "2"]);
    assert_eq!(read(RepeatedHeader::Skip), [first.clone(), quoted, row(["3", "c", "4"]), swapped]);
    assert_eq!(read(RepeatedHeader::Stop), [first]);
    // A header of two lines ends no table.
    let twice = read_in_pieces(b"a,b\na,b\n1,2\na,b\n3,4\n", &given(RepeatedHeader::Stop)).unwrap();
    assert_eq!(rows_of(&twice), [["1", "2"]]);
    // The names are those of the file, also if they repeat.
    let names = b"x,x\n1,2\nx,x\n3,4\n";
    let table = read_in_pieces(names, &given(RepeatedHeader::Skip)).unwrap();
    assert_eq!(rows_of(&table), [["1", "2"], ["3", "4"]]);
    let one = read_in_pieces(b"n\n1\nn\n2\n", &given(RepeatedHeader::Skip)).unwrap();
    assert_eq!(rows_of(&one), [["1"], ["2"]]);
}
