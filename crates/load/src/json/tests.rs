use super::*;
use crate::options::InvalidUtf8;
use litepress_rows::cells::OwnedValue;
use proptest::prelude::*;
use serde_json::Value as Json;
use std::path::PathBuf;

mod shapes;

/// A record as it was read.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    line: u64,
    raw: String,
    /// Its values, or its error.
    values: std::result::Result<Vec<OwnedValue>, String>,
}

fn projected(columns: &[(&str, Affinity)]) -> Vec<ProjectedColumn> {
    columns.iter().map(|&(name, affinity)| ProjectedColumn::new(None, name, affinity)).collect()
}

fn owned(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(String::from_utf8(text.to_vec()).unwrap()),
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::Text(text.to_owned())
}

fn reader(file: &[u8], columns: &[(&str, Affinity)], options: &ReadOptions) -> JsonReader {
    let mut reader = JsonReader::new(Box::new(Cursor::new(file.to_vec())), Path::new("test.json"), options).unwrap();
    reader.project(&projected(columns)).unwrap();
    reader
}

/// Reads all records of a file, up to an error of the file itself.
fn load(file: &[u8], columns: &[(&str, Affinity)], options: &ReadOptions) -> (Vec<Row>, Option<String>) {
    let mut reader = reader(file, columns, options);
    let (mut rows, mut batch) = (Vec::new(), Batch::default());
    loop {
        let mut piece = match reader.next_piece() {
            Ok(Some(piece)) => piece,
            Ok(None) => return (rows, None),
            Err(error) => return (rows, Some(error.to_string())),
        };
        assert_eq!(piece.first_record(), rows.len() as u64 + 1);
        let expected = rows.len() + usize::try_from(piece.records()).unwrap();
        loop {
            piece.read(&mut batch).unwrap();
            if batch.rows == 0 {
                break;
            }
            assert_eq!(batch.blocks.len(), columns.len());
            let mut bad: std::collections::HashMap<_, _> =
                batch.bad.iter().map(|bad| (bad.row, bad.error.to_string())).collect();
            for row in 0..batch.rows {
                let values: Vec<_> = batch.blocks.iter().map(|block| owned(block.value(row))).collect();
                let values = match bad.remove(&row) {
                    Some(why) => {
                        assert!(values.iter().all(|value| *value == OwnedValue::Null), "{values:?} of a bad record");
                        Err(why)
                    }
                    None => Ok(values),
                };
                let raw = String::from_utf8_lossy(&piece.raw(row).unwrap()).into_owned();
                rows.push(Row { line: piece.line(row).unwrap(), raw, values });
            }
        }
        assert_eq!(rows.len(), expected, "as many as the piece has said");
    }
}

fn load_usual(file: &str, columns: &[(&str, Affinity)]) -> Vec<Row> {
    let (rows, error) = load(file.as_bytes(), columns, &ReadOptions::default());
    assert_eq!(error, None, "{file}");
    rows
}

/// Returns the value of column `v` in a file of one record.
fn single(file: &str, affinity: Affinity) -> std::result::Result<OwnedValue, String> {
    let mut rows = load_usual(file, &[("v", affinity)]);
    assert_eq!(rows.len(), 1, "{file}");
    rows.remove(0).values.map(|mut values| values.remove(0))
}

const ANY: Affinity = Affinity::Blob;

#[test]
fn values_become_what_the_table_in_the_docs_says() {
    for (json, any, as_text) in [
        ("1", OwnedValue::Int(1), "1"),
        ("-0", OwnedValue::Int(0), "-0"),
        ("9223372036854775807", OwnedValue::Int(i64::MAX), "9223372036854775807"),
        ("-9223372036854775808", OwnedValue::Int(i64::MIN), "-9223372036854775808"),
        ("9223372036854775808", OwnedValue::Real(9_223_372_036_854_775_808.0), "9223372036854775808"),
        ("1.0", OwnedValue::Real(1.0), "1.0"),
        ("1E2", OwnedValue::Real(100.0), "1E2"),
        ("0.1", OwnedValue::Real(0.1), "0.1"),
        ("123456789012345678.5", OwnedValue::Real(123_456_789_012_345_680.0), "123456789012345678.5"),
        ("1e-400", OwnedValue::Real(0.0), "1e-400"),
        ("true", OwnedValue::Int(1), "true"),
        ("false", OwnedValue::Int(0), "false"),
        (r#""""#, text(""), ""),
        (r#""a\u0000\n\ud83d\ude00é""#, text("a\0\n😀é"), "a\0\n😀é"),
        (
            r#""longer than any string that is read on the spot""#,
            text("longer than any string that is read on the spot"),
            "longer than any string that is read on the spot",
        ),
        (r#"[1, {"a" : "\n"}]"#, text(r#"[1, {"a" : "\n"}]"#), r#"[1, {"a" : "\n"}]"#),
        ("{}", text("{}"), "{}"),
    ] {
        for file in
            [format!(r#"{{"v":{json}}}"#), format!(r#"[ {{ "v" : {json} }} ]"#), format!("{{\"v\":{json}\t}}\r\n")]
        {
            assert_eq!(single(&file, ANY), Ok(any.clone()), "{file}");
            assert_eq!(single(&file, Affinity::Text), Ok(text(as_text)), "{file}");
        }
    }
    for file in [r#"{"v":null}"#, "{}", r#"{"w":1}"#] {
        assert_eq!(single(file, ANY), Ok(OwnedValue::Null), "{file}");
    }
}

#[test]
fn numbers_beyond_range_are_errors_unless_they_are_kept_as_text() {
    let why = single(r#"{"a":[], "v": -1e400}"#, Affinity::Real).unwrap_err();
    assert_eq!(why, "line 1, character 15: column v: number beyond the range of a double (value '-1e400')");
    assert_eq!(single(r#"{"v":-1e400}"#, Affinity::Text), Ok(text("-1e400")));
    assert_eq!(single(r#"{"v":-1e400}"#, ANY), Ok(text("-1e400")));
    assert_eq!(single(r#"{"v":0,"unasked":1e400}"#, ANY), Ok(OwnedValue::Int(0)));
}

/// Columns change their kind from value to value, with NULLs before, between and after.
#[test]
fn columns_of_any_mixture_hold_what_came() {
    let kinds =
        [("1", OwnedValue::Int(1)), ("2.5", OwnedValue::Real(2.5)), (r#""t""#, text("t")), ("null", OwnedValue::Null)];
    for picks in 0..4usize.pow(5) {
        let picks: Vec<_> = (0..5u32).map(|place| &kinds[picks / 4usize.pow(place) % 4]).collect();
        let file: String = picks.iter().map(|(json, _)| format!("{{\"v\":{json}}}\n")).collect();
        let rows = load_usual(&file, &[("v", ANY), ("missing", ANY)]);
        for (row, (_, value)) in rows.iter().zip(&picks) {
            assert_eq!(row.values, Ok(vec![value.clone(), OwnedValue::Null]), "{file}");
        }
        // The encoder converts integers to doubles in such a column; the reader may do so, too.
        for (row, (_, value)) in load_usual(&file, &[("v", Affinity::Real)]).iter().zip(&picks) {
            let as_real = if *value == OwnedValue::Int(1) { OwnedValue::Real(1.0) } else { value.clone() };
            let held = row.values.clone().unwrap().remove(0);
            assert!(held == *value || held == as_real, "{held:?} in {file}");
        }
    }
}

#[test]
fn keys_are_matched_exactly_and_then_whatever_their_case() {
    let columns = [("id", ANY), ("ID", ANY), ("Näme", ANY)];
    let rows = load_usual("{\"ID\":1,\"id\":2}\n{\"Id\":3,\"\\u004e\\u00e4ME\":4}\n{\"NÄME\":5}", &columns);
    let values: Vec<_> = rows.into_iter().map(|row| row.values.unwrap()).collect();
    let (int, null) = (OwnedValue::Int, OwnedValue::Null);
    assert_eq!(values[0], [int(2), int(1), null.clone()]);
    assert_eq!(values[1], [int(3), null.clone(), int(4)]);
    assert_eq!(values[2], [null.clone(), null.clone(), null]);
}

#[test]
fn keys_that_stand_twice_are_errors() {
    for (file, character) in [
        (r#"{"v":1,"v":1}"#, 8),
        (r#"{"v":1, "w":2, "\u0076":1}"#, 16),
        (r#"{"v":1,"V":1}"#, 8),
        (r#"{"x":1,"v":1,"x":1}"#, 14),
    ] {
        let why = single(file, ANY).unwrap_err();
        assert!(why.starts_with(&format!("line 1, character {character}: column ")), "{why}");
        assert!(why.contains("stands twice in the object"), "{why}");
        // The fault is also found after records that are equal up to it.
        let usual = r#"{"v":1,"w":2,"x":3}"#;
        let rows = load_usual(&format!("{usual}\n{usual}\n{file}\n{usual}"), &[("v", ANY)]);
        let bad: Vec<_> = rows.iter().map(|row| row.values.is_err()).collect();
        assert_eq!(bad, [false, false, true, false], "{file}");
    }
}

#[test]
fn errors_say_where_and_what_was_expected() {
    const BAD: &[(&str, &str)] = &[
        ("[1,2]", "line 2, character 1: expected an object, which begins with `{` (value '[1,2]'); rows are objects"),
        ("17", "line 2, character 1: expected an object, which begins with `{` (value '17')"),
        (r#"{"é":tru}"#, "line 2, character 9: column é: expected true, false or null (value 'tru}')"),
        (r#"{"v":1 "w":2}"#, "line 2, character 8: expected `,` or `}` (value '\"w\":2}')"),
        (r#"{"v" 1}"#, "line 2, character 6: expected `:` behind the key (value '1}')"),
        (r#"{"v":01}"#, "line 2, character 7: column v: expected a number as JSON writes it"),
        (r#"{"v":1}{"v":2}"#, "line 2, character 8: expected nothing behind the object (value '{\"v\":2}'); write one"),
        (
            r#"{"v":"a"#,
            "line 2, character 8: column v: it ends within a string: expected `\"` (value '\"a'); the file may be cut off",
        ),
        (r#"{"v":"\x"}"#, "line 2, character 8: column v: expected one of \" \\ / b f n r t"),
        (r#"{"v":"\ud800"}"#, "column v: expected both halves of a surrogate pair"),
        (r#"{"v":["\udc00"]}"#, "column v: expected both halves of a surrogate pair"),
        ("{", "line 2, character 2: it ends within an object: expected `}`"),
        (r#"{v:1}"#, "line 2, character 2: expected a key in double quotes (value 'v:1}')"),
        (r#"{"v":1,}"#, "line 2, character 8: expected a key or value behind the comma"),
        ("{\"v\":\"\t\"}", "line 2, character 7: column v: expected a control character in a string to be escaped"),
        (r#"{"v":NaN}"#, "line 2, character 6: column v: NaN is not a number of JSON (value 'NaN}')"),
    ];
    for (bad, expected) in BAD {
        let rows = load_usual(&format!("{{\"v\":1}}\r\n{bad}\r\n\r\n{{\"v\":2}}"), &[("v", ANY)]);
        let why = rows[1].values.clone().unwrap_err();
        assert!(why.contains(expected), "{why}\ninstead of\n{expected}");
        assert_eq!((rows[0].line, rows[1].line, rows[2].line), (1, 2, 4));
        assert_eq!(rows[1].raw, *bad);
        assert_eq!(rows[2].values, Ok(vec![OwnedValue::Int(2)]));
    }
}

#[test]
fn places_in_an_array_are_those_of_the_file() {
    for piece_bytes in 1..80 {
        let options = ReadOptions { piece_bytes: Some(piece_bytes), ..ReadOptions::default() };
        let (rows, error) = load("\n  [{\"é\":1},{\"v\":x},\n\n {\"v\":\n  y} ] z".as_bytes(), &[("v", ANY)], &options);
        let why: Vec<_> = rows.iter().map(|row| (row.line, row.values.clone().err().unwrap_or_default())).collect();
        assert_eq!(why[0], (2, String::new()));
        assert!(why[1].0 == 2 && why[1].1.starts_with("line 2, character 17: "), "{why:?}");
        assert!(why[2].0 == 4 && why[2].1.starts_with("line 5, character 3: "), "{why:?}");
        let error = error.unwrap();
        assert!(error.starts_with("test.json:5:8: expected nothing behind the end of the top-level array"), "{error}");
    }
}

/// 5 MB of spaces in front of the first bracket took 25 s, and 10 MB more than 100 s: each 64 KiB were searched with all before.
#[test]
fn white_space_in_front_takes_linear_time_and_counts_in_places() {
    let begun = std::time::Instant::now();
    for (open, close) in [("[", "]"), ("", "")] {
        let blank = 8 << 20;
        let file = format!("\n{}{open}{{\"v\":x}}{close}", " ".repeat(blank));
        let (rows, _) = load(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
        let why = rows[0].values.clone().unwrap_err();
        assert!(why.starts_with(&format!("line 2, character {}: ", blank + open.len() + 6)), "{why}");
    }
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

/// 5 MB of wrong records on one line took 40 s: the place of each was counted from the start of the text.
#[test]
fn wrong_records_on_one_line_take_linear_time() {
    let begun = std::time::Instant::now();
    let records = 150_000;
    for (file, line) in [
        (format!("\n[{}]", vec!["{\"é\":1,\"v\":x}"; records].join(",")), 2),
        (vec!["{\"v\":x}"; records].join("\n"), 0),
    ] {
        let (rows, _) = load(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
        assert_eq!(rows.len(), records);
        for (number, row) in rows.iter().enumerate().step_by(997) {
            let place = if line == 0 { (number + 1, 6) } else { (line, 13 + 14 * number) };
            let why = row.values.clone().unwrap_err();
            assert!(why.starts_with(&format!("line {}, character {}: ", place.0, place.1)), "{number}: {why}");
        }
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn arrays_are_whole_or_an_error() {
    for (file, records) in
        [("[]", 0), (" [ \n ] \n", 0), ("[{}]", 1), ("[{},\n{} \n , {}]\n", 3), ("", 0), (" \n\r\n", 0)]
    {
        assert_eq!(load_usual(file, &[("v", ANY)]).len(), records, "{file:?}");
    }
    for (file, bad) in [("[{},]", 1), ("[,{}]", 0), ("[{},,{}]", 1), ("[{},7,{}]", 1), ("[[1],{}]", 0), ("[{}{}]", 0)] {
        let rows = load_usual(file, &[("v", ANY)]);
        assert!(rows[bad].values.is_err(), "{file}: {rows:?}");
        assert_eq!(rows.iter().filter(|row| row.values.is_err()).count(), 1, "{file}: {rows:?}");
    }
    let whole = r#"[{"a":"\"]"},{"a":[{}]}]"#;
    for len in 1..whole.len() {
        for piece_bytes in 1..=len + 1 {
            let options = ReadOptions { piece_bytes: Some(piece_bytes), ..ReadOptions::default() };
            let (_, error) = load(&whole.as_bytes()[..len], &[("a", ANY)], &options);
            let error = error.unwrap_or_else(|| panic!("{:?} has passed for a whole array", &whole[..len]));
            assert!(error.starts_with(&format!("test.json:1:{}: the file ends within its", len + 1)), "{error}");
        }
    }
    let (rows, error) = load(b"[1,2]\n[3,4]", &[("v", ANY)], &ReadOptions::default());
    assert_eq!(rows.len(), 2);
    assert!(error.unwrap().contains("test.json:2:1: expected nothing behind the end"));
    let (_, error) = load(b"[{}}]", &[("v", ANY)], &ReadOptions::default());
    assert!(error.unwrap().contains("test.json:1:4: expected `,` or `]`"));
}

/// Text that can confuse a search for the ends of records.
const NASTY: &str = "\n \t\n{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"\\\"]},{[\"}\r\n\r\n{\"b\":\"ä\\\\\",\"a\":[[],{}]}\n{\"a\":3,\"b\":\n\
    17\n  {\"a\":4 , \"b\":null}  \n{\"a\":5,\"b\":\"x\",\"c\":{\"d\":\"[\"}}\n{\"a\":1e999,\"b\":\"x\"}\n\n{\"a\":6}";

#[test]
fn pieces_of_any_size_give_the_same_records() {
    let columns = [("a", Affinity::Integer), ("b", Affinity::Text)];
    let bad = r#"{"a":7,"b":"}"},"#;
    let array = format!("[{bad}\n{}]\n\n", NASTY.replace("{\"a\":3,\"b\":\n", "").trim().replace('\n', ",\n"));
    for file in [NASTY, &array] {
        let (whole, error) = load(file.as_bytes(), &columns, &ReadOptions::default());
        assert_eq!(error, None, "{file}");
        assert!(whole.len() >= 8 && whole.iter().any(|row| row.values.is_err()), "{whole:?}");
        for piece_bytes in 1..=file.len() + 1 {
            let options = ReadOptions { piece_bytes: Some(piece_bytes), ..ReadOptions::default() };
            assert_eq!(load(file.as_bytes(), &columns, &options), (whole.clone(), None), "pieces of {piece_bytes}");
        }
    }
    let lines: Vec<_> = load_usual(NASTY, &columns).iter().map(|row| row.line).collect();
    assert_eq!(lines, [3, 4, 6, 7, 8, 9, 10, 11, 13]);
}

/// A pipe whose writer dies, or a truncated file: each prefix of the text gives its whole records, and the error names the
/// line in which it ends.
#[test]
fn text_that_stops_within_a_record_names_the_line() {
    let file = "{\"v\":1,\"w\":\"x\"}\n{\"v\":[2],\"w\":\"\\u0041é\"}";
    for len in 17..file.len() {
        let (rows, error) = load(&file.as_bytes()[..len], &[("v", ANY)], &ReadOptions::default());
        assert_eq!((rows.len(), error), (2, None));
        let why = rows[1].values.clone().unwrap_err();
        assert!(why.starts_with("line 2, character "), "{why}");
    }
}

#[test]
fn depth_is_bounded_and_costs_no_stack() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(single(&format!("{{\"v\":{}}}", nested(MAX_DEPTH)), ANY), Ok(text(&nested(MAX_DEPTH))));
    let why = single(&format!("{{\"v\":{}}}", nested(MAX_DEPTH + 1)), ANY).unwrap_err();
    assert!(why.starts_with("line 1, character 1006: column v: expected at most 1000 arrays and objects"), "{why}");
    let million = 1_000_000;
    for bomb in [nested(million), "[".repeat(million), "{\"a\":".repeat(million), "[{\"a\":".repeat(million)] {
        // As a value (also of an ignored key), in a line and in an array; and as the file.
        for (file, is_whole) in [
            (format!("{{\"v\":{bomb}}}"), true),
            (format!("{{\"v\":1}}\n{{\"v\":1,\"w\":{bomb}}}"), true),
            (format!("[{{\"v\":{bomb}}}]"), bomb.ends_with(']')),
            (bomb.clone(), bomb.ends_with(']') || bomb.starts_with('{')),
        ] {
            let (rows, error) = load(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
            assert_eq!(error.is_none(), is_whole, "{error:?}");
            assert!(!is_whole || rows.last().unwrap().values.is_err());
        }
    }
}

#[test]
fn invalid_utf8_is_what_the_option_says() {
    let load_as = |value: &[u8], invalid_utf8| {
        let file = [b"{\"v\":\"usual\"}\n{\"v\":", value, b"}"].concat();
        let options = ReadOptions { invalid_utf8, ..ReadOptions::default() };
        let (mut rows, error) = load(&file, &[("v", Affinity::Text)], &options);
        assert_eq!(error, None);
        rows.remove(1).values.map(|mut values| values.remove(0))
    };
    for (value, replaced, blob) in [
        (&b"\"a\xff\\n\xc3\""[..], "a\u{fffd}\n\u{fffd}", Some(&b"a\xff\n\xc3"[..])),
        (b"\"\\ud83d\\ude00\xff\\\"\"", "😀\u{fffd}\"", Some("😀\u{0}\"".as_bytes())),
        (b"[\"\xed\xa0\x80\"]", "[\"\u{fffd}\u{fffd}\u{fffd}\"]", Some(b"[\"\xed\xa0\x80\"]")),
        (b"\"\\ud800\\\\ud800\\ud800\\ud83d\\ude00\"", "\u{fffd}\\ud800\u{fffd}😀", None),
        (b"[\"\\uDc00\"]", "[\"\\ufffd\"]", None),
    ] {
        let why = load_as(value, InvalidUtf8::Error).unwrap_err();
        assert!(why.starts_with("line 2, character ") && why.contains("column v: expected"), "{why}");
        assert_eq!(load_as(value, InvalidUtf8::Replace), Ok(text(replaced)));
        let blob = blob.map(|blob| {
            OwnedValue::Blob(if blob.contains(&0) { ["😀".as_bytes(), b"\xff\""].concat() } else { blob.to_vec() })
        });
        assert_eq!(load_as(value, InvalidUtf8::Blob).ok(), blob);
    }
    let options = ReadOptions::default();
    let (rows, _) = load(b"{\"\xff\":1}\n{\"v\":1,\"\xff\":1}", &[("v", ANY)], &options);
    assert!(rows.iter().all(|row| row.values.as_ref().unwrap_err().contains("expected UTF-8")), "{rows:?}");
    let unasked = load(b"{\"w\":\"\xff\"}", &[("v", ANY)], &options).0;
    assert!(unasked[0].values.is_err(), "bad text is an error where nobody asks for it, too");
}

#[test]
fn strings_that_mean_null_are_null() {
    let options = ReadOptions { nulls: vec!["".into(), "N/A".into(), "a\nb".into()], ..ReadOptions::default() };
    let file = b"{\"v\":\"\"}\n{\"v\":\"N/A\"}\n{\"v\":\"N\\u002fA\"}\n{\"v\":\"a\\nb\"}\n{\"v\":\"n/a\"}";
    let (rows, _) = load(file, &[("v", Affinity::Text)], &options);
    let nulls: Vec<_> = rows.iter().map(|row| row.values == Ok(vec![OwnedValue::Null])).collect();
    assert_eq!(nulls, [true, true, true, true, false]);
}

/// Blocks are reused, and batches end at a full block or after much text.
#[test]
fn batches_stay_within_their_bounds() {
    let long = "x".repeat(BATCH_BYTES / 3);
    let file: String = (0..2500)
        .map(|row| if row < 2100 { format!("{{\"v\":{row}}}\n") } else { format!("{{\"v\":\"{row}{long}\"}}\n") })
        .take(2110)
        .collect();
    let mut reader = reader(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
    let (mut sizes, mut batch) = (Vec::new(), Batch::default());
    while let Some(mut piece) = reader.next_piece().unwrap() {
        loop {
            piece.read(&mut batch).unwrap();
            if batch.rows == 0 {
                break;
            }
            sizes.push(batch.rows);
        }
    }
    assert_eq!(sizes.iter().sum::<usize>(), 2110);
    assert_eq!(sizes[..2], [BLOCK_ROWS, BLOCK_ROWS]);
    assert!(sizes[2] <= 52 + 4, "{sizes:?}");
    let rows = load_usual(&file, &[("v", ANY)]);
    assert_eq!(rows[2099].values, Ok(vec![OwnedValue::Int(2099)]));
    assert_eq!(rows[2109].values, Ok(vec![text(&format!("2109{long}"))]));
}

#[test]
fn a_form_or_a_key_for_two_columns_cannot_be_asked_for() {
    let mut reader = reader(b"", &[], &ReadOptions::default());
    let mut formed = projected(&[("v", ANY)]);
    formed[0].form = Some("text".into());
    for wrong in [formed, projected(&[("v", ANY), ("w", ANY), ("v", ANY)])] {
        assert_eq!(reader.project(&wrong).unwrap_err().kind(), ErrorKind::Usage);
    }
}

/// Returns the values that a scan gets, one text per record.
fn sights(file: &[u8]) -> Vec<String> {
    let mut parser = RecordParser::new(Targets::Keys, Rules::default());
    let mut observed = ObservedRow::default();
    let mut told = Vec::new();
    for record in file.split(|&byte| byte == b'\n') {
        observed.clear();
        if parser.parse(record, &mut observed).is_ok() {
            let mut start = 0;
            let seen = observed.seen.iter().map(|&(key, kind, end)| {
                let text =
                    String::from_utf8_lossy(&observed.text[std::mem::replace(&mut start, end)..end]).into_owned();
                let kind = match kind {
                    Kind::Null => "null",
                    Kind::Boolean(true) => "true",
                    Kind::Boolean(false) => "false",
                    Kind::Number => "number ",
                    Kind::Text => "text ",
                    Kind::Nested => "nested ",
                };
                format!("{}: {kind}{text}", parser.key(key))
            });
            told.push(seen.collect::<Vec<_>>().join(", "));
        }
    }
    told
}

#[test]
fn a_survey_sees_all_keys_of_records_that_are_right() {
    let file = b"{\"a\":1,\"b\":\"x\\u0041\"}\n{\"bad\":1,\"a\":2,}\n{\"a\":1e999,\"c\":[1 ],\"A\":null}\n{\"a\":true,\"c\":{},\"A\":false}";
    let expected =
        ["a: number 1, b: text xA", "a: number 1e999, c: nested [1 ], A: null", "a: true, c: nested {}, A: false"];
    assert_eq!(sights(file), expected);
    let mut reader = reader(file, &[], &ReadOptions::default());
    let mut findings = FileStats::default();
    while let Some(mut piece) = reader.next_piece().unwrap() {
        piece.scan_types(&mut findings).unwrap();
    }
    assert_eq!(findings.records, 3, "of four, the bad one apart");
    let names: Vec<_> = findings.columns().iter().map(|column| column.name.clone()).collect();
    assert_eq!(names, ["a", "b", "c", "A"], "in order of appearance, none of the bad record");
}

/// The public path from the bytes of a file: compressed, and of unknown format.
/// A record of a million keys took 2 GB and half a minute before it was refused.
#[test]
fn keys_are_bounded() {
    let object = |from: u32, to: u32| {
        let members: Vec<String> = (from..to).map(|number| format!("\"k{number}\":1")).collect();
        format!("{{{}}}\n", members.join(","))
    };
    let bad = |file: &str| {
        let options = ReadOptions { piece_bytes: Some(1 << 20), ..ReadOptions::default() };
        let mut reader = reader(file.as_bytes(), &[], &options);
        let mut findings = FileStats::default();
        while let Some(mut piece) = reader.next_piece().unwrap() {
            piece.scan_types(&mut findings).unwrap();
        }
        (findings.columns().len(), findings.take_first_bad().map(|error| error.to_string()))
    };
    assert_eq!(bad(&object(0, 32_767)), (32_767, None));
    let (columns, error) = bad(&object(0, 40_000));
    assert!(columns == 0 && error.as_ref().is_some_and(|text| text.contains("more than 32767 keys")), "{error:?}");
    let (columns, error) = bad(&(object(0, 20_000) + &object(20_000, 40_000) + &object(0, 3)));
    assert!(columns == 20_000 && error.is_some(), "{error:?}");
    // Pieces are parsed apart from one another.
    let options = ReadOptions { piece_bytes: Some(100), ..ReadOptions::default() };
    let mut reader = reader((object(0, 20_000) + &object(20_000, 40_000)).as_bytes(), &[], &options);
    let error = crate::infer::scan_types(&mut reader, 1, None, &Arc::default(), &|| Ok(())).unwrap_err();
    assert!(error.to_string().contains("more than 32767 names"), "{error}");
}

#[test]
fn a_file_is_opened_by_its_content() {
    let file = b"{\"v\":1}\n{\"v\":\"\xc3\xa9\"}\n";
    let compressed = zstd::encode_all(&file[..], 3).unwrap();
    let options = ReadOptions::default();
    let input = Input::from_stream(Path::new("<test>"), Box::new(Cursor::new(compressed)), &options).unwrap();
    let mut reader = open(&input, &options).unwrap();
    reader.project(&projected(&[("v", ANY)])).unwrap();
    let (mut piece, mut batch) = (reader.next_piece().unwrap().unwrap(), Batch::default());
    piece.read(&mut batch).unwrap();
    assert_eq!((batch.rows, batch.bad.len()), (2, 0));
    assert_eq!(batch.blocks[0].value(0), Value::Int(1));
    assert_eq!(batch.blocks[0].value(1), Value::Text("é".as_bytes()));
}

fn shared_data() -> Option<PathBuf> {
    let folder = std::env::var_os("LITEPRESS_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let suite = folder.join("json-test-suite");
    if !suite.is_dir() {
        println!("skipped: there is no {}", suite.display());
        return None;
    }
    Some(suite)
}

/// Returns the value that a column without affinity must hold for a value of serde_json.
fn oracle(value: &Json, written: &str) -> OwnedValue {
    match value {
        Json::Null => OwnedValue::Null,
        Json::Bool(flag) => OwnedValue::Int((*flag).into()),
        // serde_json parses it as a double; as an integer it has no sign.
        Json::Number(_) if written == "-0" => OwnedValue::Int(0),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| OwnedValue::Real(number.as_f64().unwrap()), OwnedValue::Int)
        }
        Json::String(string) => text(string),
        Json::Array(_) | Json::Object(_) => text(written),
    }
}

/// JSONTestSuite: every file as the value of a key, in a line and in an array, read first and after a similar record.
#[test]
fn the_json_test_suite_is_taken_and_refused_as_it_says() {
    let Some(suite) = shared_data() else { return };
    let mut counts = [0; 3];
    let parsing = std::fs::read_dir(suite.join("test_parsing")).unwrap();
    let transform = std::fs::read_dir(suite.join("test_transform")).unwrap();
    for path in parsing.chain(transform).map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let content = std::fs::read(&path).unwrap();
        let record = [b"{\"v\": ", &content[..], b"}"].concat();
        let in_array = [b"[", &record[..], b"]"].concat();
        let behind = [b"{\"v\": 0}\n", &record[..]].concat();
        let mut files = vec![in_array];
        if !content.contains(&b'\n') {
            files.extend([record, behind]);
        }
        for file in files {
            let (rows, error) = load(&file, &[("v", ANY)], &ReadOptions::default());
            let outcome = match error {
                Some(error) => Err(error),
                None => rows.last().expect("a record").values.clone(),
            };
            match name.get(..2) {
                Some("y_") => {
                    let written = std::str::from_utf8(&content).unwrap().trim();
                    let value: Json = serde_json::from_str(written).unwrap();
                    assert_eq!(outcome, Ok(vec![oracle(&value, written)]), "{name}");
                    counts[0] += 1;
                }
                Some("n_") => {
                    let error = outcome.expect_err(&name);
                    assert!(error.starts_with("line ") || error.starts_with("test.json:"), "{name}: {error}");
                    counts[1] += 1;
                }
                _ => counts[2] += 1,
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?} files that are right, wrong, and either");
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-999i64..999).prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no NaN", |real| real.is_finite()).prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        "[a-z\"\\\\\u{0}-\u{20}é]{0,30}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates a record with some of these keys, mostly in this order, else reversed.
fn any_record() -> impl Strategy<Value = Vec<(&'static str, Json)>> {
    const KEYS: [&str; 4] = ["id", "näme", "a\"b", ""];
    let members = prop::collection::vec(prop::option::weighted(0.8, any_json()), KEYS.len());
    (members, prop::bool::weighted(0.2)).prop_map(|(values, is_turned)| {
        let mut members: Vec<_> = KEYS.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))).collect();
        if is_turned {
            members.reverse();
        }
        members
    })
}

/// Returns the text of a record.
fn write_record(members: &[(&str, Json)], space: &str) -> String {
    let member = |(key, value): &(&str, Json)| format!("{space}{}:{space}{value}{space}", Json::from(*key));
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn records_are_what_serde_json_reads(
        records in prop::collection::vec((any_record(), prop_oneof![4 => Just(""), 1 => Just(" ")]), 1..20),
        piece_bytes in 1..2000usize,
    ) {
        let columns = [("", ANY), ("a\"b", ANY), ("id", ANY), ("näme", ANY)];
        let written: Vec<_> = records.iter().map(|(members, space)| write_record(members, space)).collect();
        let options = ReadOptions { piece_bytes: Some(piece_bytes), ..ReadOptions::default() };
        for file in [written.join("\n"), format!("[{}]", written.join(" ,\n"))] {
            let (rows, error) = load(file.as_bytes(), &columns, &options);
            prop_assert_eq!(error, None);
            prop_assert_eq!(rows.len(), records.len());
            for ((row, (members, _)), written) in rows.iter().zip(&records).zip(&written) {
                let read: Json = serde_json::from_str(written).unwrap();
                let expected = columns.map(|(name, _)| {
                    let member = members.iter().find(|(key, _)| *key == name);
                    // serde_json's double may be off by one unit, unless it is the one that was written.
                    member.map_or(OwnedValue::Null, |(key, value)| match (value, &read[*key]) {
                        (Json::Number(_), _) => oracle(value, &value.to_string()),
                        (_, read) => oracle(read, &value.to_string()),
                    })
                });
                prop_assert_eq!(&row.raw, written);
                prop_assert_eq!(&row.values, &Ok(expected.to_vec()));
            }
        }
    }

    /// A changed record is either still JSON with these values, or refused. It is never accepted if serde_json refuses it.
    #[test]
    fn broken_records_are_refused_where_serde_json_refuses_them(
        record in any_record(), at in any::<prop::sample::Index>(), byte in prop::sample::select(b"\"{}[]:,\\u0x -.e\0tn".to_vec()),
    ) {
        let written = write_record(&record, "");
        let mut broken = written.clone().into_bytes();
        let at = at.index(broken.len());
        broken[at] = byte;
        let file = [written.as_bytes(), b"\n", &broken].concat();
        let (rows, error) = load(&file, &[("id", Affinity::Text)], &ReadOptions::default());
        prop_assert_eq!(error, None);
        let is_refused = rows.get(1).is_none_or(|row| row.values.is_err());
        match serde_json::from_slice::<Json>(&broken) {
            // Numbers beyond the range of a double are kept as text.
            Err(error) => prop_assert!(is_refused || error.to_string().contains("number out of range"), "{error}"),
            // Only serde_json accepts a repeated key.
            Ok(Json::Object(members)) => prop_assert!(!is_refused || members.len() < record.len()),
            Ok(_) => prop_assert!(is_refused),
        }
    }
}
