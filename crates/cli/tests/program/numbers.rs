//! `litepress load --numbers`: which columns are numbers, and what is told of those that are not.

use crate::{Room, json};

/// `income > 9000` found 5 of 336 incomes of a real file: the column was TEXT, since some values had 17 digits, and it was compared as
/// text without a word.
#[test]
fn doubles_that_programs_write_are_numbers() {
    let room = Room::new();
    room.write("f.csv", "year,income\n1982,10544.15234375\n1983,9996.9\n1984,22193.455078125004\n1985,1e3\n");
    let out = room.done("load f.db f.csv -v --progress none");
    assert!(
        out.contains("all 4 values are numbers of which a double keeps all digits") && !out.contains("note:"),
        "{out}"
    );
    assert_eq!(room.query("f.db", "SELECT count(*), max(income) FROM f WHERE income > 9000"), "3|22193.455078125004");
    assert_eq!(room.query("f.db", "SELECT DISTINCT typeof(income) FROM f"), "real");
}

#[test]
fn columns_that_lose_digits_are_told_and_rounded_on_request() {
    let room = Room::new();
    // SQLite ignores the last digits of the first number, and would store another double than the nearest.
    room.write("m.csv", "id,price,code\n1,2200000000000.2922364,1.10\n2,0.5,1.9\n");
    let out = room.done("load m.db m.csv --progress none");
    let note = "note: 1 column of numbers is TEXT, because doubles do not keep all of their digits: m.price \
        ('2200000000000.2922364' in record 1); --numbers lenient stores the nearest doubles\n";
    assert!(out.contains(note), "{out}");
    assert!(room.done("plan m.csv").contains(note));
    for option in ["--numbers lenient", "--numbers m.price=lenient", "--numbers exact --numbers p*=lenient"] {
        let out = room.done(&format!("load m.db m.csv --overwrite --progress none {option}"));
        let note = "note: 1 number of m.price is rounded to the nearest double, '2200000000000.2922364' in record 1; \
            --type 'm.price=TEXT' keeps their digits\n";
        assert!(out.contains(note), "{option}: {out}");
        assert_eq!(room.query("m.db", "SELECT price = 2200000000000.29225, typeof(code) FROM m LIMIT 1"), "1|text");
    }
    let out = room.done("load m.db m.csv -v --overwrite --progress none --numbers exact");
    assert!(out.contains("more than 15 significant digits") && !out.contains("note:"), "{out}");
    let error = room.run("load m.db m.csv --overwrite --numbers prize=lenient");
    assert!(
        error.err.contains("--numbers: no column is named prize") && error.err.contains("m has id, price, code"),
        "{error:?}"
    );
    let error = room.run("load m.db m.csv --overwrite --numbers loose");
    assert!(error.err.contains("'loose' is not one of 'exact', 'digits', 'lenient'"), "{error:?}");
}

/// Numbers of JSON with more digits than a double became one and the same number in a table that exists, or under a schema, without a
/// note.
#[test]
fn numbers_that_a_given_column_rounds_are_told() {
    let room = Room::new();
    let of_real = "{\"id\":4,\"n\":1,\"r\":9007199254740993,\"s\":12345678901234567890}\n{\"id\":5,\"n\":0.1,\"r\":1e-300,\"s\":1}\n";
    let big = (0..4).map(|id| format!("{{\"id\":{id},\"n\":1234567890123456789{id}}}\n"));
    room.write("a.json", &(big.collect::<String>() + of_real));
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, n, r REAL, s TEXT)";
    room.write("s.sql", schema);
    room.sqlite("t.db").execute_batch(schema).unwrap();
    for command in [
        "load t.db a.json --append --table t",
        "load n.db a.json --schema s.sql --table t",
        "plan t.db a.json --append --table t",
    ] {
        let out = room.done(command);
        for note in [
            "note: t.n: 4 numbers are rounded to the nearest doubles (12345678901234567890 in record 1, \
                12345678901234567891 in record 2, 12345678901234567892 in record 3, ...); a column that is declared TEXT keeps their digits",
            "note: t.r: 1 number is rounded to the nearest double (9007199254740993 in record 5); ",
        ] {
            assert!(out.contains(note), "{command}: {out}");
        }
        assert!(!out.contains("t.s"), "{out}");
    }
    assert_eq!(room.query("t.db", "SELECT s FROM t WHERE id = 4"), "12345678901234567890");
}

#[test]
fn names_of_columns_have_wildcards() {
    let room = Room::new();
    room.write("t.csv", "made_at,sold_at,n,code\n1,2,3,4\n");
    room.done("load t.db t.csv --type *_at=TEXT --type *=REAL --type t.code=BLOB --progress none");
    let types = room.query("t.db", "SELECT group_concat(type, ' ') FROM pragma_table_info('t')");
    assert_eq!(types, "TEXT TEXT REAL BLOB");
    let error = room.run("load t.db t.csv --overwrite --type *_on=TEXT");
    assert!(error.err.contains("--type: no column fits *_on"), "{error:?}");
}

/// JSON numbers were stored as strings if SQLite writes them otherwise, or if others in the column had no fraction.
#[test]
fn numbers_of_json_are_numbers() {
    let room = Room::new();
    let records = [
        r#"{"a":51.387893353778395,"b":1,"c":1.10,"d":18446744073709551615,"e":"x"}"#,
        r#"{"a":1e5,"b":2.5,"c":1.9,"d":1,"e":1e2}"#,
        r#"{"a":3.14159265358979323846,"b":3.0,"c":7,"d":2,"e":[1]}"#,
    ];
    room.write("j.ndjson", records.join("\n"));
    let out = room.done("load j.db j.ndjson --progress none");
    let types = room.query("j.db", "SELECT group_concat(type, ' ') FROM pragma_table_info('j')");
    assert_eq!(types, "REAL REAL REAL NUMERIC ");
    let kinds = "SELECT typeof(a), typeof(b), typeof(c), typeof(d), typeof(e), e FROM j";
    let expected = "real|real|real|real|text|x\nreal|real|real|integer|real|100\nreal|real|real|integer|text|[1]";
    assert_eq!(room.query("j.db", kinds), expected);
    for note in [
        "1 number of j.a is rounded",
        "1 number of j.d is rounded to the nearest double, '18446744073709551615' in record 1",
    ] {
        assert!(out.contains(note), "{out}");
    }
    let report = json(&room.done("load j.db j.ndjson --overwrite --progress none --json"));
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(2));
    // As texts they keep all digits.
    room.done("load j.db j.ndjson --overwrite --progress none --type a=TEXT");
    assert_eq!(room.query("j.db", "SELECT a FROM j WHERE rowid = 3"), "3.14159265358979323846");
}

/// `NA` is a missing number, and Namibia: `--null-value NA` is for all columns.
/// One `true`, or one `1e400`, made texts of all numbers of a column, and no note said so: `5`, `"5"` and `'5'` were the same. `--sample`
/// refused the strings of such a column.
#[test]
fn numbers_of_json_stay_numbers_beside_other_values() {
    let room = Room::new();
    for (values, options, expected) in [
        (&["5", "40", "true", "false"][..], "", "5 40 1 0"),
        (&["true", "2.5"], "--strict", "1 2.5"),
        (&["5", "\"5\"", "true", "[1]"], "", "5 '5' 1 '[1]'"),
        (&["5", "\"5\"", "true"], "--sample 2", "5 '5' 1"),
        (&["5", "1e400", "-1e400", "2.5"], "", "5 '1e400' '-1e400' 2.5"),
        (&["1e400", "1"], "--strict", "'1e400' 1"),
        (&["\"a\"", "true"], "", "'a' 'true'"),
    ] {
        let records: String = values.iter().map(|value| format!("{{\"x\":{value}}}\n")).collect();
        room.write("t.ndjson", &records);
        let text = room.done(&format!("load t.db t.ndjson --overwrite --progress none {options}"));
        assert_eq!(room.query("t.db", "SELECT group_concat(quote(x), ' ') FROM t"), expected);
        let is_beyond = values.contains(&"1e400");
        assert_eq!(text.contains("beyond the largest double and stay"), is_beyond, "{text}");
        assert!(!is_beyond || text.contains("'1e400' in record"), "{text}");
    }
}

#[test]
fn words_are_for_columns_of_numbers() {
    let room = Room::new();
    room.write("w.csv", "country,rate,n\nNA,NaN,1\nDE,-Inf,NA\nFR,1.5,-999\n");
    let words = "--missing NA --missing nan --missing -999 --infinity inf";
    let out = room.done(&format!("load w.db w.csv -v --progress none {words}"));
    assert!(out.contains("2 words become NULL, 'NA' in record 2"), "{out}");
    assert_eq!(room.query("w.db", "SELECT * FROM w"), "NA|NULL|1\nDE|-inf|NULL\nFR|1.5|NULL");
    assert_eq!(room.query("w.db", "SELECT typeof(rate), rate < -1e300 FROM w WHERE country = 'DE'"), "real|1");
    // With a schema, its columns of numbers take them.
    room.write("w.sql", "CREATE TABLE w (country TEXT, rate REAL, n INTEGER) STRICT;");
    room.done(&format!("load s.db w.csv --schema w.sql --progress none {words}"));
    assert_eq!(room.query("s.db", "SELECT * FROM w"), "NA|NULL|1\nDE|-inf|NULL\nFR|1.5|NULL");
    // A sample decides alike.
    room.done(&format!("load s.db w.csv --sample 1 --overwrite --progress none --type rate=REAL {words}"));
    assert_eq!(room.query("s.db", "SELECT * FROM w"), "NA|NULL|1\nDE|-inf|NULL\nFR|1.5|NULL");
}

/// `--missing NaN --infinity Infinity` had no effect on NaN in JSON, and `--nan null` turned Infinity into NULL anyway. Beside
/// numbers of JSON, words stayed texts even in a column that was declared REAL.
#[test]
fn words_are_for_numbers_of_json() {
    let room = Room::new();
    let records = [
        r#"{"id":1,"rate":1.5,"n":7,"name":"NaN"}"#,
        r#"{"id":2,"rate":NaN,"n":-999,"name":"b"}"#,
        r#"{"id":3,"rate":-Infinity,"n":"na","name":"c"}"#,
    ];
    room.write("j.ndjson", records.join("\n"));
    room.write("s.sql", "CREATE TABLE j (id INTEGER, rate REAL, n INTEGER, name TEXT) STRICT;");
    let words = "--missing NaN --missing NA --missing -999 --infinity infinity";
    let expected = "1|1.5|7|NaN\n2|NULL|NULL|b\n3|-inf|NULL|c";
    for options in ["", "--nan null", "--nan text", "--schema s.sql", "--strict", "--sample 1 --type rate=REAL"] {
        let out = room.done(&format!("load j.db j.ndjson -v --overwrite --progress none {words} {options}"));
        assert_eq!(room.query("j.db", "SELECT * FROM j"), expected, "{options}");
        assert_eq!(room.query("j.db", "SELECT typeof(rate), rate < -1e300 FROM j WHERE id = 3"), "real|1");
        if options.is_empty() {
            assert!(out.contains("2 words become NULL, '-999' in record 2"), "{out}");
        }
    }
    // A word that no option names is for --nan.
    let ended = room.run("load j.db j.ndjson --overwrite --missing NaN");
    assert!(ended.err.contains("Infinity is not a number of JSON"), "{ended:?}");
    room.done("load j.db j.ndjson --overwrite --progress none --missing NaN --nan null");
    assert_eq!(room.query("j.db", "SELECT rate FROM j"), "1.5\nNULL\nNULL");
    // A word among texts is a text, and so is one among numbers and texts.
    room.write("m.ndjson", "{\"a\":\"inf\",\"b\":1}\n{\"a\":\"x\",\"b\":\"inf\"}\n{\"a\":\"na\",\"b\":\"y\"}\n");
    room.done("load m.db m.ndjson --progress none --missing NA --infinity inf");
    assert_eq!(room.query("m.db", "SELECT * FROM m"), "inf|1\nx|inf\nna|y");
    assert_eq!(room.query("m.db", "SELECT type FROM pragma_table_info('m')"), "TEXT\n");
}

/// Other tables of the database must stay as they are: a word in a column of numbers of theirs became NULL.
#[test]
fn words_are_for_new_tables_alone() {
    let room = Room::new();
    room.write("old.csv", "n\n1\n-999\n");
    room.write("new.csv", "n\n2\n-999\n");
    room.done("load t.db old.csv --progress none");
    room.done("load t.db new.csv --replace-tables --missing -999 --progress none");
    assert_eq!(room.query("t.db", "SELECT * FROM old"), "1\n-999");
    assert_eq!(room.query("t.db", "SELECT * FROM new"), "2\nNULL");
}
