//! Decisions. SQLite judges whether they keep every value.

use super::*;
use crate::reader::{Batch, FileColumnKind, Piece, ProjectedColumn, Reader};
use litepress_rows::{Error, ErrorKind, Result, quoted_name};
use proptest::prelude::*;
use rusqlite::Connection;
use std::borrow::Cow;
use std::sync::Arc;

fn findings<'a>(values: impl IntoIterator<Item = ScannedValue<'a>>) -> FileStats {
    let mut findings = FileStats::default();
    let column = findings.column("c");
    for (record, value) in (1..).zip(values) {
        findings.observe(column, value, record);
        findings.records += 1;
    }
    findings
}

fn of_texts(texts: &[&str], numbers: Numbers) -> InferredColumn {
    findings(texts.iter().map(|text| ScannedValue::Text(text.as_bytes())))
        .decide(&[], false, None, &|_| numbers)
        .remove(0)
}

fn by_digits(_: &str) -> Numbers {
    Numbers::Digits
}

fn of_json(values: &[ScannedValue<'_>]) -> String {
    findings(values.iter().copied()).decide(&[], false, None, &by_digits)[0].to_string()
}

#[test]
fn every_decision_of_the_exact_rule_has_its_reason() {
    let i64s = ["9223372036854775807", "-9223372036854775808", "0"];
    for (texts, decision) in [
        (&["12.50", "0.99", "-3.00"][..], "REAL: all 3 values have 2 decimals"),
        (&["12.50", "0.990"], "TEXT: '12.50' in record 1 is not what 12.5 is written as"),
        (&["12.50", "7"], "TEXT: '12.50' in record 1 is not what 12.5 is written as"),
        (&["1", "007"], "TEXT: '007' in record 2 has a leading zero"),
        (&["00.5"], "TEXT: '00.5' in record 1 has a leading zero"),
        (&["+1"], "TEXT: '+1' in record 1 has a plus sign"),
        (&["1e5"], "TEXT: '1e5' in record 1 is not what 100000.0 is written as"),
        (&["12345678901234567890"], "TEXT: '12345678901234567890' in record 1 does not fit 64 bits"),
        (&["9223372036854775808"], "TEXT: '9223372036854775808' in record 1 does not fit 64 bits"),
        (&["-9223372036854775809"], "TEXT: '-9223372036854775809' in record 1 does not fit 64 bits"),
        (&i64s, "INTEGER: all 3 values are whole numbers"),
        (&["1.9", "1.10"], "TEXT: '1.10' in record 2 is not what 1.1 is written as"),
        (&["1.9", "2.5"], "REAL: all 2 values are decimals that read back as they are written"),
        (&["1.9", "2"], "NUMERIC: all 2 values are whole numbers or decimals that read back as they are written"),
        (
            &["5", "1.5", "5.0"],
            "TEXT: '5' in record 1 is written as a whole number and '5.0' in record 3 as a decimal, which no type for \
             numbers keeps",
        ),
        (&["+49 30 1234", "5"], "TEXT: '+49 30 1234' in record 1 is not a number"),
        (&["A12", "5"], "TEXT: 'A12' in record 1 is not a number"),
        (&["1996-03-13"], "TEXT: '1996-03-13' in record 1 is not a number"),
        (&["-0"], "TEXT: '-0' in record 1 is a negative zero, of which SQLite keeps no sign"),
        (&["-0.0"], "TEXT: '-0.0' in record 1 is a negative zero, of which SQLite keeps no sign"),
        (&["-0.00", "1.25"], "TEXT: '-0.00' in record 1 is a negative zero, of which SQLite keeps no sign"),
        (&[" 1"], "TEXT: ' 1' in record 1 has spaces around it"),
        (&[".5"], "TEXT: '.5' in record 1 is not what 0.5 is written as"),
        (&["5."], "TEXT: '5.' in record 1 is not what 5.0 is written as"),
        (&["0.00001"], "REAL: the only value has 5 decimals"),
        (&["0.00001", "1.5"], "TEXT: '0.00001' in record 1 is not what 1.0e-05 is written as"),
        (
            &["0.1234567890123456"],
            "TEXT: '0.1234567890123456' in record 1 has more than 15 significant digits, which some versions of SQLite do \
             not write",
        ),
        (&["1e999"], "TEXT: '1e999' in record 1 is beyond the largest double"),
        (
            &["1000000000000000.0"],
            "TEXT: '1000000000000000.0' in record 1 has more than 15 significant digits, which some versions of SQLite do \
             not write",
        ),
        (&["1.5e-05", "2.0"], "TEXT: '1.5e-05' in record 1 is a number that some versions of SQLite write otherwise"),
        (
            &["0.13009411100452", "2.5"],
            "TEXT: '0.13009411100452' in record 1 is a number that some versions of SQLite write otherwise",
        ),
        (&["0.0005", "2.5"], "TEXT: '0.0005' in record 1 is a number that some versions of SQLite write otherwise"),
        (&["1234567890123.4", "2.0"], "REAL: all 2 values have 1 decimal"),
        (&["nan"], "TEXT: 'nan' in record 1 is not a number"),
        (&["0x10"], "TEXT: '0x10' in record 1 is not a number"),
        (&["true", "false"], "TEXT: 'true' in record 1 is not a number"),
        (&["", ""], "TEXT: all fields are empty"),
        (&[], "TEXT: there is no value"),
        (&["", "1", ""], "INTEGER: the only value is a whole number; 2 empty fields become NULL"),
        (&["1", "-"], "TEXT: '-' in record 2 is not a number"),
        (&["1", "."], "TEXT: '.' in record 2 is not a number"),
        (&["1", "-."], "TEXT: '-.' in record 2 is not a number"),
    ] {
        assert_eq!(of_texts(texts, Numbers::Exact).to_string(), decision, "{texts:?}");
    }
}

/// Of 336 values of `income` in a file of 1988, 5 were above 9000 and not 336: the column was TEXT, since doubles with 17 digits
/// do not come back byte for byte from every SQLite.
#[test]
fn columns_of_doubles_are_numbers() {
    let keeps = "numbers of which a double keeps all digits";
    for (texts, decision) in [
        // What pandas, R, NumPy, DuckDB, Excel and C write.
        (&["0.1", "1e-05", "123456.789"][..], format!("REAL: all 3 values are {keeps}")),
        (&["0.5118216247002567", "22193.455078125"], format!("REAL: all 2 values are {keeps}")),
        (&["0.30000000000000004", "1.0", "2.5"], format!("REAL: all 3 values are {keeps}")),
        (&["1.00E+05", "6.06e-4"], format!("REAL: all 2 values are {keeps}")),
        (&["5", "1.5", "5.0"], format!("REAL: all 3 values are {keeps}")),
        (&["1.9", "2"], format!("REAL: all 2 values are {keeps}")),
        (&[".5", "5.", "-0", "-0.0", "1e22"], format!("REAL: all 5 values are {keeps}")),
        (&["0.1000000000000000055511151231257827", "1.5"], format!("REAL: all 2 values are {keeps}")),
        (&["12.50", "0.99"], "REAL: all 2 values have 2 decimals".to_owned()),
        (&["12.50", "0.9900000000000001"], format!("REAL: all 2 values are {keeps}")),
        (
            &["9007199254740993", "1.5"],
            "NUMERIC: all 2 values are whole numbers, or decimals of which a double keeps all digits".into(),
        ),
        // R writes 15 digits and drops what is behind them, or as many digits as the narrowest value needs.
        (&["-0.157853502778310", "1.01099941450812"], format!("REAL: all 2 values are {keeps}")),
        (&["149.1170", "3.8"], format!("REAL: all 2 values are {keeps}")),
        (&["-1.10", "1.9"], format!("REAL: all 2 values are {keeps}")),
        // Fixed widths.
        (&[" 12.6633", "-0.7999 "], "REAL: all 2 values are decimals that read back as they are written".to_owned()),
        (&["  7", " 12"], "INTEGER: all 2 values are whole numbers".to_owned()),
        // Names that look like numbers.
        (
            &["1.9", "1.10"],
            "TEXT: '1.10' in record 2 ends with a zero, and not all numbers have as many decimals".into(),
        ),
        (&["2", "1.10"], "TEXT: '1.10' in record 2 ends with a zero, and not all numbers have as many decimals".into()),
        (&["1", "007"], "TEXT: '007' in record 2 has a leading zero".into()),
        (&["1.5", "00.5"], "TEXT: '00.5' in record 2 has a leading zero".into()),
        (&["+1"], "TEXT: '+1' in record 1 has a plus sign".into()),
        (&["12345678901234567890"], "TEXT: '12345678901234567890' in record 1 does not fit 64 bits".into()),
        (&["1.5", "1e999"], "TEXT: '1e999' in record 2 is beyond the largest double".into()),
        (
            &["1.5", "0.12345678901234567"],
            "TEXT: '0.12345678901234567' in record 2 has more digits than its double keeps".into(),
        ),
        (&["1.5", "nan"], "TEXT: 'nan' in record 2 is not a number".into()),
    ] {
        assert_eq!(of_texts(texts, Numbers::Digits).to_string(), decision, "{texts:?}");
    }
}

#[test]
fn a_column_of_measurements_that_lose_digits_is_told() {
    let texts = ["1.5", "0.12345678901234567", "x"];
    let first = "'0.12345678901234567' in record 2".to_owned();
    let strict = of_texts(&texts[..2], Numbers::Digits);
    assert_eq!(strict.caveat, Some(Caveat::KeptAsText { count: 1, first: first.clone() }));
    let lenient = of_texts(&texts[..2], Numbers::Lenient);
    assert_eq!(lenient.to_string(), "REAL: all 2 values are numbers");
    assert_eq!(lenient.caveat, Some(Caveat::Rounded { count: 1, first }));
    assert_eq!(of_texts(&texts[..2], Numbers::Exact).caveat, None);
    // Long numbers without decimals beside them are names, and so is anything beside a text.
    for names in [&texts[..], &["12345678901234567890", "5"]] {
        for numbers in [Numbers::Digits, Numbers::Lenient] {
            let decision = of_texts(names, numbers);
            assert_eq!((&*decision.declared_type, &decision.caveat), ("TEXT", &None), "{names:?}");
        }
    }
    let round = of_texts(&["12345678901234568000000", "0.5"], Numbers::Digits);
    assert_eq!((&*round.declared_type, round.caveat), ("REAL", None));
    let big = of_texts(&["12345678901234567890", "0.5"], Numbers::Lenient);
    assert_eq!(big.declared_type, "REAL");
    assert!(matches!(big.caveat, Some(Caveat::Rounded { count: 1, .. })));
}

#[test]
fn json_values_have_types_of_their_own() {
    let (yes, int, real) = (ScannedValue::Boolean(true), ScannedValue::Number(b"5"), ScannedValue::Number(b"1.0"));
    let (text, digits, nested, padded) = (
        ScannedValue::String(b"x"),
        ScannedValue::String(b"5"),
        ScannedValue::Nested(b"[1]"),
        ScannedValue::Number(b"1.10"),
    );
    for (values, decision) in [
        (&[int, ScannedValue::Null][..], "INTEGER: the only value is a whole number"),
        (&[yes, ScannedValue::Boolean(false), ScannedValue::Null], "INTEGER: all 2 values are true or false"),
        (&[digits, digits], "TEXT: all 2 values are strings"),
        (&[nested, text], "TEXT: '[1]' in record 1 is an array or object, kept as JSON"),
        (
            &[int, nested],
            "no type: '[1]' in record 2 is an array or object and '5' in record 1 a number, and each is kept as it is",
        ),
        (
            &[yes, int],
            "no type: 'true' in record 1 is true or false (1 or 0) and '5' in record 2 a number, and each is kept as it is",
        ),
        (&[yes, text], "TEXT: 'true' in record 1 is true or false, and others are not"),
        (&[yes, ScannedValue::Text(b"5")], "TEXT: 'true' in record 1 is true or false, and others are not"),
        (
            &[int, real, digits],
            "no type: '5' in record 3 is a string and '5' in record 1 a number, and each is kept as it is",
        ),
        (
            &[padded, text],
            "no type: 'x' in record 2 is a string and '1.10' in record 1 a number, and each is kept as it is",
        ),
        // JSON numbers were stored as strings if SQLite wrote them otherwise.
        (
            &[ScannedValue::Number(b"51.387893353778395")],
            "REAL: the only value is a number of which a double keeps all digits",
        ),
        (&[ScannedValue::Number(b"1e5"), int], "REAL: all 2 values are numbers of which a double keeps all digits"),
        (&[padded, ScannedValue::Number(b"1.9")], "REAL: all 2 values are numbers"),
        (&[ScannedValue::Number(b"0.12345678901234567"), int], "REAL: all 2 values are numbers"),
        (
            &[ScannedValue::Number(b"18446744073709551615"), int],
            "NUMERIC: all 2 values are numbers, and some are long integers",
        ),
        (
            &[ScannedValue::Number(b"9007199254740993"), real],
            "NUMERIC: all 2 values are numbers, and some are long integers",
        ),
        (
            &[ScannedValue::Number(b"1e999"), int],
            "no type: '1e999' in record 1 is beyond the largest double and '5' in record 2 a number, and each is kept as it is",
        ),
        (&[ScannedValue::Number(b"1e999")], "TEXT: '1e999' in record 1 is beyond the largest double"),
        (&[ScannedValue::Number(b"1e999"), text], "TEXT: '1e999' in record 1 is beyond the largest double"),
        (&[ScannedValue::Text(b"5"), digits], "TEXT: '5' in record 2 is a string"),
        (&[ScannedValue::Null], "TEXT: there is no value"),
        (&[ScannedValue::String(b"")], "TEXT: the only value is a string"),
    ] {
        assert_eq!(of_json(values), decision, "{values:?}");
    }
    let mixed = findings([int, text]);
    assert_eq!(mixed.decide(&[], true, None, &|_| Numbers::Exact)[0].declared_type, "ANY");
    let mixed = findings([ScannedValue::Text(b"1.5"), ScannedValue::Text(b"2")]);
    assert_eq!(mixed.decide(&[], true, None, &|_| Numbers::Exact)[0].declared_type, "TEXT");
    assert_eq!(mixed.decide(&[], true, None, &by_digits)[0].declared_type, "REAL");
    let long = findings([ScannedValue::Text(b"1.5"), ScannedValue::Text(b"9007199254740993")]);
    assert_eq!(long.decide(&[], true, None, &by_digits)[0].declared_type, "TEXT");
    let long = findings([real, ScannedValue::Number(b"9007199254740993")]);
    assert_eq!(long.decide(&[], true, None, &by_digits)[0].declared_type, "ANY");
}

#[test]
fn a_sample_decides_for_itself_and_later_values_are_asked() {
    let texts = ["1", "", "3"];
    let found = findings(texts.iter().map(|text| ScannedValue::Text(text.as_bytes())));
    let decision = found.decide(&[], false, Some(3), &|_| Numbers::Exact).remove(0);
    let expected = "INTEGER: all 2 values are whole numbers; 1 empty field becomes NULL (of the first 3 records)";
    assert_eq!(decision.to_string(), expected);
    for (text, accepted) in [("7", true), ("007", false), ("7.5", false), ("", true), ("x", false)] {
        assert_eq!(decision.accepts(ScannedValue::Text(text.as_bytes())), accepted, "{text}");
    }
    assert!(!decision.accepts(ScannedValue::String(b"7")) && decision.accepts(ScannedValue::Null));
    let money = of_texts(&["1.50"], Numbers::Digits);
    for (text, accepted) in [("0.99", true), ("1.5", false), ("1.500", false), ("5", false)] {
        assert_eq!(money.accepts(ScannedValue::Text(text.as_bytes())), accepted, "{text}");
    }
    assert!(of_texts(&["x"], Numbers::Digits).accepts(ScannedValue::Text(b"007")));
    let measured = of_texts(&["1.5"], Numbers::Digits);
    for (text, accepted) in
        [("1e-5", true), ("7", true), ("1.10", false), ("0.12345678901234567", false), ("007", false)]
    {
        assert_eq!(measured.accepts(ScannedValue::Text(text.as_bytes())), accepted, "{text}");
    }
}

#[test]
fn what_the_file_types_is_kept_and_fitted_to_strict_tables() {
    let typed = |declared: &str| FileColumnKind::Typed {
        declared_type: declared.to_owned(),
        reason: "Parquet X".into(),
        not_null: true,
    };
    let fields: Vec<FileColumn> =
        [("a", typed("DECIMAL(9,2)")), ("b", typed("BIGINT")), ("c", typed("BLOB")), ("d", FileColumnKind::Text)]
            .map(|(name, kind)| FileColumn { name: name.to_owned(), kind })
            .into();
    let types = |strict| -> Vec<String> {
        FileStats::default()
            .decide(&fields, strict, None, &by_digits)
            .into_iter()
            .map(|decision| decision.declared_type)
            .collect()
    };
    assert_eq!(types(false), ["DECIMAL(9,2)", "BIGINT", "BLOB", "TEXT"]);
    assert_eq!(types(true), ["ANY", "INTEGER", "BLOB", "TEXT"]);
    let decision = FileStats::default().decide(&fields, true, None, &by_digits).remove(0);
    assert_eq!(decision.to_string(), "ANY: Parquet X; STRICT tables have no type DECIMAL(9,2)");
    assert!(decision.not_null);
}

#[test]
fn files_meet_by_name_and_reasons_name_the_file() {
    let field = |name: &str| FileColumn { name: name.to_owned(), kind: FileColumnKind::Text };
    let file = |number: u32, name: &str, fields: &[FileColumn], texts: &[&str]| {
        let mut findings = FileStats { records: 1, ..FileStats::default() };
        for (column, text) in texts.iter().enumerate() {
            findings.observe(column, ScannedValue::Text(text.as_bytes()), 1);
        }
        findings.name_columns(fields);
        findings.in_file(number, Path::new(name));
        findings
    };
    let one = file(0, "one.csv", &[field("a"), field("b")], &["1", "x"]);
    let two = file(1, "two.csv", &[field("b"), field("a")], &["y", "01"]);
    for parts in [[one.clone(), two.clone()], [two, one]] {
        let mut all = FileStats::default();
        parts.into_iter().for_each(|part| all.merge(part));
        let decisions: Vec<String> =
            all.decide(&[field("a"), field("b")], false, None, &by_digits).iter().map(ToString::to_string).collect();
        let expected = [
            "TEXT: '01' in record 1 of two.csv has a leading zero",
            "TEXT: 'x' in record 1 of one.csv is not a number",
        ];
        assert_eq!(decisions, expected);
        assert_eq!(all.columns().iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(all.of("a").map(|column| column.nulls(all.records)), Some(0));
    }
}

#[test]
fn words_stand_for_numbers() {
    let words = NumberWords { missing: vec!["NA".to_owned(), "-999".to_owned()], infinity: vec!["inf".to_owned()] };
    let decide = |texts: &[&str], numbers| {
        let mut findings = FileStats::with_words(Arc::new(words.clone()));
        let column = findings.column("c");
        for (record, text) in (1..).zip(texts) {
            findings.observe(column, ScannedValue::Text(text.as_bytes()), record);
        }
        findings.decide(&[], false, None, &|_| numbers).remove(0).to_string()
    };
    for (texts, decision) in [
        (&["5", "na", "-999"][..], "INTEGER: the only value is a whole number; 2 words become NULL, 'na' in record 2"),
        (&["5", "-Inf"], "REAL: all 2 values are numbers of which a double keeps all digits"),
        (&["NA", "x", "NA"], "TEXT: 'x' in record 2 is not a number"),
        (&["NA", "NA"], "TEXT: there is no value"),
    ] {
        for numbers in [Numbers::Exact, Numbers::Digits, Numbers::Lenient] {
            assert_eq!(decide(texts, numbers), decision, "{texts:?}");
        }
    }
}

/// Generates texts that are numbers or similar to numbers.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<i64>().prop_map(|int| int.to_string()),
        4 => (-1000_i64..1000).prop_map(|int| int.to_string()),
        4 => (-99_999_i64..99_999, 0_usize..4).prop_map(|(int, decimals)| format!("{:.decimals$}", int as f64 / 100.0)),
        4 => any::<f64>().prop_map(|real| format!("{real:?}")),
        4 => (any::<f64>(), 0_usize..30).prop_map(|(real, digits)| format!("{real:.digits$e}")),
        4 => (-1e6_f64..1e6, 0_usize..30).prop_map(|(real, decimals)| format!("{real:.decimals$}")),
        4 => any::<f32>().prop_map(|real| format!("{real:e}")),
        4 => "-?(0|[1-9][0-9]{0,15})\\.[0-9]{1,16}",
        2 => "-?[0-9]\\.[0-9]{1,14}e[-+][0-9]{2,3}",
        1 => "[-+ ]?[0-9]{0,3}\\.?[0-9]{0,3}(e[-+]?[0-9]{0,3})?",
        1 => "-?0\\.0{0,7}[0-9]{1,15}",
        1 => Just(String::new()),
    ]
}

/// Returns the texts that a column of this type gives back, or NULL.
fn loaded(decision: &InferredColumn, texts: &[String]) -> Vec<Option<String>> {
    let sqlite = Connection::open_in_memory().unwrap();
    let name = quoted_name("c");
    sqlite.execute_batch(&format!("CREATE TABLE t ({name} {})", decision.declared_type)).unwrap();
    for text in texts {
        let value = Some(text).filter(|text| !(text.is_empty() && decision.empty_is_null));
        sqlite.execute("INSERT INTO t VALUES (?)", [value]).unwrap();
    }
    let read = match decision.decimals {
        Some(decimals) => format!("CASE WHEN c IS NOT NULL THEN printf('%.{decimals}f', c) END"),
        None => "CAST(c AS TEXT)".to_owned(),
    };
    let mut select = sqlite.prepare(&format!("SELECT {read}, typeof(c) FROM t ORDER BY rowid")).unwrap();
    let rows = select.query_map([], |row| {
        let kind: String = row.get(1)?;
        let kinds: &[&str] = match decision.declared_type.as_str() {
            "INTEGER" => &["integer", "null"],
            "REAL" => &["real", "null"],
            "NUMERIC" => &["integer", "real", "null"],
            _ => &["text"],
        };
        assert!(kinds.contains(&kind.as_str()), "{kind} in a column that is {}", decision.declared_type);
        row.get(0)
    });
    rows.unwrap().map(|row| row.unwrap()).collect()
}

fn check_gives_back(texts: &[String]) -> Result<(), TestCaseError> {
    let shown: Vec<&str> = texts.iter().map(String::as_str).collect();
    let decision = of_texts(&shown, Numbers::Exact);
    let back = loaded(&decision, texts);
    let expected: Vec<Option<String>> = texts
        .iter()
        .map(|text| Some(text.clone()).filter(|text| !(text.is_empty() && decision.empty_is_null)))
        .collect();
    prop_assert_eq!(back, expected, "{}", decision);
    prop_assert!(texts.iter().all(|text| decision.accepts(ScannedValue::Text(text.as_bytes()))));
    Ok(())
}

/// Checks that SQLite stores the number of each text, and that all digits of the text can be had back.
fn check_gives_back_digits(texts: &[String], decision: &InferredColumn) -> Result<(), TestCaseError> {
    if decision.declared_type == "TEXT" {
        return Ok(());
    }
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&format!("CREATE TABLE t (c {})", decision.declared_type)).unwrap();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        let spaced = text;
        let text = text.trim();
        let stored = sqlite
            .query_row("INSERT INTO t VALUES (?) RETURNING c", [spaced], |row| row.get::<_, rusqlite::types::Value>(0))
            .unwrap();
        match stored {
            rusqlite::types::Value::Integer(int) if !text.contains(['.', 'e', 'E']) => {
                prop_assert_eq!(Ok(int), text.parse::<i64>());
            }
            rusqlite::types::Value::Integer(int) => prop_assert!(number::rounds_to(int as f64, text), "{text}"),
            rusqlite::types::Value::Real(real) => {
                // A zero of a REAL column has no sign.
                prop_assert_eq!(Ok(real + 0.0), text.parse::<f64>().map(|real| real + 0.0));
                let is_kept = number::rounds_to(real, text) || number::rounds_to(real, &number::without_zeros(text));
                prop_assert!(is_kept, "{} is {:e}: {}", text, real, decision);
            }
            other => prop_assert!(false, "{text} is {other:?}: {decision}"),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_typed_column_gives_back_all_digits(texts in prop::collection::vec(texts(), 1..4), later in texts()) {
        let shown: Vec<&str> = texts.iter().map(String::as_str).collect();
        let decision = of_texts(&shown, Numbers::Digits);
        check_gives_back_digits(&texts, &decision)?;
        prop_assert!(texts.iter().all(|text| decision.accepts(ScannedValue::Text(text.as_bytes()))));
        if decision.accepts(ScannedValue::Text(later.as_bytes())) {
            check_gives_back_digits(&[later], &decision)?;
        }
    }

    #[test]
    fn a_typed_column_gives_back_every_text_exactly(text in texts()) {
        check_gives_back(&[text])?;
    }

    #[test]
    fn so_does_one_of_several_texts(texts in prop::collection::vec(texts(), 1..4)) {
        check_gives_back(&texts)?;
    }

    #[test]
    fn what_is_accepted_later_is_given_back_too(seen in texts(), later in texts()) {
        let decision = of_texts(&[&seen], Numbers::Exact);
        if decision.accepts(ScannedValue::Text(later.as_bytes())) {
            let expected = Some(later.clone()).filter(|text| !(text.is_empty() && decision.empty_is_null));
            prop_assert_eq!(loaded(&decision, &[later]), [expected], "{} after {}", decision, seen);
        }
    }

    #[test]
    fn parts_are_merged_in_any_order(
        values in prop::collection::vec((0_usize..3, texts(), 0_u8..8), 1..30),
        cuts in prop::collection::vec(0_usize..4, 30),
        order in Just((0..4).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let see = |findings: &mut FileStats, at: usize| {
            let (column, text, kind) = &values[at];
            let value = match kind {
                0 => ScannedValue::Null,
                1 => ScannedValue::String(text.as_bytes()),
                2 => ScannedValue::Boolean(true),
                3..=5 if !text.is_empty() => ScannedValue::Number(text.as_bytes()),
                _ => ScannedValue::Text(text.as_bytes()),
            };
            let position = findings.column(["a", "b", "c"][*column]);
            findings.observe(position, value, at as u64 + 1);
            findings.records += 1;
        };
        let mut whole = FileStats::default();
        (0..values.len()).for_each(|at| see(&mut whole, at));
        let mut parts = vec![FileStats::default(); 4];
        (0..values.len()).for_each(|at| see(&mut parts[cuts[at]], at));
        let mut merged = FileStats::default();
        order.into_iter().for_each(|part| merged.merge(parts[part].clone()));
        for numbers in [Numbers::Exact, Numbers::Digits, Numbers::Lenient] {
            prop_assert_eq!(merged.decide(&[], false, None, &|_| numbers), whole.decide(&[], false, None, &|_| numbers));
        }
        let counts = |findings: &FileStats| -> Vec<(u64, u64, u64, u64, usize)> {
            let count = |of: &&ColumnStats| (of.values(), of.empties(), of.nulls(findings.records), of.bytes, of.longest);
            findings.columns().iter().map(count).collect()
        };
        prop_assert_eq!(counts(&merged), counts(&whole));
    }
}

/// A reader whose pieces have ten records with one value each.
struct Tens {
    next: u64,
    records: u64,
    fails_in: Vec<u64>,
}

struct Ten {
    first: u64,
    fails: bool,
}

impl Reader for Tens {
    fn columns(&self) -> &[FileColumn] {
        &[]
    }

    fn project(&mut self, _columns: &[ProjectedColumn]) -> Result<()> {
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        if self.next > self.records {
            return Ok(None);
        }
        let piece = Ten { first: self.next, fails: self.fails_in.contains(&self.next) };
        self.next += 10;
        Ok(Some(Box::new(piece)))
    }
}

impl Piece for Ten {
    fn first_record(&self) -> u64 {
        self.first
    }

    fn records(&self) -> u64 {
        10
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        batch.clear(0);
        Ok(())
    }

    fn scan_types(&mut self, findings: &mut FileStats) -> Result<()> {
        if self.fails {
            return Err(Error::new(ErrorKind::Data, "broken").in_record(self.first));
        }
        let column = findings.column("n");
        for record in self.first..self.first + 10 {
            findings.observe(column, ScannedValue::Number(record.to_string().as_bytes()), record);
        }
        findings.records += 10;
        Ok(())
    }

    fn line(&self, _row: usize) -> Option<u64> {
        None
    }

    fn raw(&self, _row: usize) -> Option<Cow<'_, [u8]>> {
        None
    }
}

#[test]
fn surveys_do_not_depend_on_threads() {
    for threads in 1..5 {
        let mut reader = Tens { next: 1, records: 1000, fails_in: Vec::new() };
        let found = scan_types(&mut reader, threads, None, &Arc::default(), &|| Ok(())).unwrap();
        assert_eq!((found.records, found.of("n").map(ColumnStats::values)), (1000, Some(1000)));
        let mut reader = Tens { next: 1, records: 1000, fails_in: Vec::new() };
        assert_eq!(scan_types(&mut reader, threads, Some(25), &Arc::default(), &|| Ok(())).unwrap().records, 30);
        let mut reader = Tens { next: 1, records: 1000, fails_in: vec![511, 501, 991] };
        let error = scan_types(&mut reader, threads, None, &Arc::default(), &|| Ok(())).unwrap_err();
        assert_eq!(error.place().record, Some(501));
        let mut reader = Tens { next: 1, records: 1000, fails_in: Vec::new() };
        let stop = || Err(Error::new(ErrorKind::Interrupted, "stopped"));
        assert_eq!(
            scan_types(&mut reader, threads, None, &Arc::default(), &stop).unwrap_err().kind(),
            ErrorKind::Interrupted
        );
    }
}

#[test]
#[should_panic = "scoped thread panicked"]
fn a_panic_of_a_worker_is_not_lost() {
    let mut reader = Tens { next: 1, records: 1000, fails_in: Vec::new() };
    let main = std::thread::current().id();
    let go_on = || {
        // Threads other than the test's panic, and the test's thread waits for them.
        assert_eq!(std::thread::current().id(), main, "a worker");
        std::thread::sleep(std::time::Duration::from_millis(20));
        Ok(())
    };
    drop(scan_types(&mut reader, 3, None, &Arc::default(), &go_on));
}

/// Measures nanoseconds of CPU per value. Run by hand: `cargo test --release -p litepress-load -- --ignored --nocapture cost_of`.
#[test]
#[ignore = "measures"]
fn cost_of_a_value() {
    let texts: [(&str, Vec<String>); 5] = [
        ("short integers", (0..1000).map(|n| (n * 7919 % 100_000).to_string()).collect()),
        ("money", (0..1000).map(|n| format!("{}.{:02}", n * 7919 % 100_000, n % 100)).collect()),
        ("dates", (0..1000).map(|n| format!("1996-{:02}-{:02}", n % 12 + 1, n % 28 + 1)).collect()),
        ("words", (0..1000).map(|n| format!("carefully final {n}")).collect()),
        ("long integers", (0..1000_u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2).to_string()).collect()),
    ];
    for (name, texts) in texts {
        let mut findings = FileStats::default();
        let start = std::time::Instant::now();
        let rounds = 5000;
        for round in 0..rounds {
            for (at, text) in texts.iter().enumerate() {
                findings.observe(at % 4, ScannedValue::Text(text.as_bytes()), round * 1000 + at as u64 + 1);
            }
        }
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / (rounds as f64 * 1000.0);
        println!("{name}: {nanoseconds:.1} ns a value, {}", findings.columns()[0].values());
    }
}
