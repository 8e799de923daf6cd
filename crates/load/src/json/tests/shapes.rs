//! Objects over several lines, records within other objects, nested objects as columns, and numbers that JSON does not have.

use super::*;
use crate::infer::NumberWords;
use crate::options::{Features, JsonLayout, JsonOptions, NanPolicy};

fn json(json: JsonOptions) -> ReadOptions {
    ReadOptions { json, ..ReadOptions::default() }
}

fn path(keys: &[&str]) -> ReadOptions {
    json(JsonOptions { path: keys.iter().map(|&key| key.to_owned()).collect(), ..JsonOptions::default() })
}

/// Returns the values of all records, in pieces of every size, and the error of the file.
fn values(file: &str, columns: &[(&str, Affinity)], options: &ReadOptions) -> (Vec<Vec<OwnedValue>>, Option<String>) {
    let (rows, error) = load(file.as_bytes(), columns, options);
    for piece_bytes in (1..file.len() + 2).step_by(1 + file.len() / 300) {
        let options = ReadOptions { piece_bytes: Some(piece_bytes), ..options.clone() };
        assert_eq!(load(file.as_bytes(), columns, &options), (rows.clone(), error.clone()), "pieces of {piece_bytes}");
    }
    let whole = |row: Row| row.values.unwrap_or_else(|why| panic!("{}: {why}", row.raw));
    (rows.into_iter().map(whole).collect(), error)
}

fn ints(file: &str, options: &ReadOptions) -> Vec<i64> {
    let (rows, error) = values(file, &[("v", ANY)], options);
    assert_eq!(error, None, "{file}");
    let int = |row: &Vec<OwnedValue>| if let OwnedValue::Int(int) = row[0] { int } else { panic!("{row:?}") };
    rows.iter().map(int).collect()
}

/// `jq . file > pretty.json` writes every object over several lines. The file was refused: "no record has a column".
#[test]
fn objects_follow_one_another_with_any_white_space() {
    let usual = ReadOptions::default();
    for file in [
        "{\n  \"v\": 1\n}\n{\n  \"v\": 2\n}\n",
        "{\"v\":1}{\"v\":2}",
        " {\"v\":1}  {\"v\":2}\n",
        "{\"v\":1\n}{\"v\":2}\n\n\n",
        "{\"w\":[{\"x\":\"}\\\"{\\\\\"}, [\n]],\"v\":1} {\"v\":2}",
        "\u{1e}{\"v\":1}\n\u{1e}{\"v\":2}\n",
    ] {
        assert_eq!(ints(file, &usual), [1, 2], "{file:?}");
    }
    let stream = json(JsonOptions { layout: Some(JsonLayout::Stream), ..JsonOptions::default() });
    assert_eq!(ints("{\"v\":1}\n{\"v\":\n2}", &stream), [1, 2]);
    assert_eq!(ints("[{\"v\":1},\n{\"v\":2}]", &stream), [1, 2]);
}

#[test]
fn a_wrong_record_of_a_stream_is_told_with_its_place_and_the_next_is_read() {
    let file = "{\n \"v\": 1,\n}\n{\"v\":2} x y\n{\"v\":3}, {\"v\":4}\n{\"v\":5";
    let (rows, error) = load(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
    assert_eq!(error, None);
    let told: Vec<_> = rows.iter().map(|row| (row.line, row.values.clone().err().unwrap_or_default())).collect();
    let begins = |row: usize, line: u64, error: &str| {
        assert!(told[row].0 == line && told[row].1.starts_with(error), "{row}: {told:?}");
    };
    begins(0, 1, "line 3, character 1: expected a key or value behind the comma");
    begins(1, 4, "");
    begins(2, 4, "line 4, character 9: expected an object, which begins with `{` (value 'x y')");
    begins(3, 5, "");
    begins(4, 5, "line 5, character 8: expected an object");
    assert!(told[4].1.ends_with("no comma stands between objects outside of an array"), "{told:?}");
    begins(5, 6, "line 6, character 7: it ends within an object: expected `}`; the file may be cut off here");
    assert_eq!(rows.len(), 6);
}

/// `{"data": [...]}`, the answer of most web services, became one row.
#[test]
fn records_lie_within_other_objects() {
    let inner = "[{\"v\":1},\n {\"v\":2, \"w\":\"]}\"}]";
    for (file, keys) in [
        (format!("{{\"data\":{inner}}}"), &["data"][..]),
        (format!("\n{{ \"n\" : 17 , \"data\" : {inner} , \"more\" : {{\"data\":[{{}}]}} }} \n"), &["data"]),
        (format!("{{\"a\":{{\"data\":7}},\"data\":{inner}}}"), &["data"]),
        (format!("{{\"x\":\"\\\"}}{{\",\"a\":{{\"y\":[[]],\"b\":{inner},\"c\":[\"\\\\\"]}},\"z\":[]}}"), &["a", "b"]),
        (format!("{{\"d\\u0061ta\":{inner},\"data\":[]}}"), &["data"]),
        ("{\"data\":{\"v\":1}}".to_owned(), &["data"]),
        ("{\"é\":{\"v\":\n1},\"x\":{}}".to_owned(), &["é"]),
    ] {
        let expected: &[i64] = if file.contains('[') { &[1, 2] } else { &[1] };
        assert_eq!(ints(&file, &path(keys)), expected, "{file}");
        // No cut of the file passes for a whole one.
        let whole = file.trim_end();
        for len in (0..whole.len()).filter(|&len| whole.is_char_boundary(len)) {
            let open = JsonReader::new(
                Box::new(Cursor::new(whole.as_bytes()[..len].to_vec())),
                Path::new("test.json"),
                &path(keys),
            );
            let Ok(mut reader) = open else { continue };
            reader.project(&projected(&[("v", ANY)])).unwrap();
            let is_refused = loop {
                match reader.next_piece() {
                    Err(_) => break true,
                    Ok(None) => break false,
                    Ok(Some(mut piece)) => {
                        let mut batch = Batch::default();
                        piece.read(&mut batch).unwrap();
                        if !batch.bad.is_empty() {
                            break true;
                        }
                    }
                }
            };
            assert!(is_refused, "{:?}", &whole[..len]);
        }
    }
}

#[test]
fn a_path_that_leads_nowhere_says_how_far_it_came() {
    for (file, keys, message) in [
        (
            "{\"a\":1,\n\"b\":[]}",
            &["data"][..],
            "test.json:2:7: json_path(\"data\"): the object has no key \"data\"; its keys are: a, b",
        ),
        ("{}", &["data"], "test.json:1:2: json_path(\"data\"): the object has no key \"data\"; its keys are: none"),
        ("[{}]", &["data"], "test.json:1:1: json_path(\"data\"): expected an object, which begins with `{`"),
        (
            "{\"a\":{\"b\":7}}",
            &["a", "b"],
            "test.json:1:11: json_path(\"a.b\"): the value there is not an array of objects",
        ),
        ("{\"a\":[{}]}", &["a", "b"], "test.json:1:6: json_path(\"a.b\") (below a): expected an object"),
        ("{\"a\":\"", &["b"], "test.json:1:7: json_path(\"b\"): the file ends within a string"),
        ("{a:1}", &["b"], "test.json:1:2: json_path(\"b\"): expected a key in double quotes"),
    ] {
        let stream = Box::new(Cursor::new(file.as_bytes().to_vec()));
        let error = JsonReader::new(stream, Path::new("test.json"), &path(keys)).err().unwrap();
        assert!(error.to_string().starts_with(message), "{error}\ninstead of\n{message}");
    }
    let (_, error) = load(b"{\"data\":[{\"v\":1}]} {}", &[("v", ANY)], &path(&["data"]));
    assert!(error.unwrap().starts_with("test.json:1:20: expected nothing behind"));
    let (rows, _) = load(b"{\"n\":1, \"data\":[{\"v\":1},\n {\"v\":x}]}", &[("v", ANY)], &path(&["data"]));
    assert!(rows[1].values.clone().unwrap_err().starts_with("line 2, character 7: "), "{rows:?}");
}

#[test]
fn nested_objects_become_columns() {
    let flat = json(JsonOptions { flatten: true, ..JsonOptions::default() });
    let columns = [("a_b", ANY), ("a_c_d", ANY), ("e", ANY), ("a", ANY)];
    let file = "{\"a\":{\"b\":1,\"c\":{\"d\":2}},\"e\":[{\"x\":1}]}
{\"a\":{\"b\":3,\"c\":{\"d\":4}},\"e\":5}
{\"a\":{\"b\":3,\"c\":{\"d\":4},\"new\":1},\"e\":{}}
{\"a\":{\"c\":{\"d\":6}},\"e\":{},\"a_b\":7}
{\"e\":8,\"a\":{\"c\":{},\"b\":9}}
{\"a\":null}
{\"a\":{\"b\":1,\"c\":{\"d\":2}},\"e\":3}";
    let (rows, error) = values(file, &columns, &flat);
    assert_eq!(error, None);
    let (int, null) = (OwnedValue::Int, || OwnedValue::Null);
    assert_eq!(
        rows,
        [
            vec![int(1), int(2), text("[{\"x\":1}]"), null()],
            vec![int(3), int(4), int(5), null()],
            vec![int(3), int(4), null(), null()],
            vec![int(7), int(6), null(), null()],
            vec![int(9), null(), int(8), null()],
            vec![null(), null(), null(), null()],
            vec![int(1), int(2), int(3), null()],
        ]
    );
    for (bad, message) in [
        ("{\"a\":{\"b\":1},\"a\":{\"c\":{}}}", "column a: the key \"a\" stands twice"),
        ("{\"a\":{\"b\":1},\"a\":2}", "column a: the key \"a\" stands twice"),
        ("{\"a\":2,\"a\":{\"b\":1}}", "column a: the key \"a\" stands twice"),
        ("{\"a\":{\"b\":1},\"a_b\":2}", "column a_b: the key \"a_b\" stands twice"),
        ("{\"a\":{\"b\":1,\"c\":{\"d\":2}}", "it ends within an object"),
        ("{\"a\":{\"b\":1,\"c\":{\"d\":2}},\"e\":3}}", "expected nothing behind the object"),
        ("{\"a\":{\"b\":1}}}", "expected nothing behind the object"),
    ] {
        // Alone, and behind records of the same beginning.
        for before in
            ["", "{\"a\":{\"b\":1,\"c\":{\"d\":2}},\"e\":3}\n", "{\"a\":{\"b\":1}}\n", "{\"a\":{\"b\":1},\"x\":1}\n"]
        {
            let options =
                json(JsonOptions { flatten: true, layout: Some(JsonLayout::Lines), ..JsonOptions::default() });
            let (rows, _) = load(format!("{before}{bad}").as_bytes(), &columns, &options);
            let why = rows.last().unwrap().values.clone().unwrap_err();
            assert!(why.contains(message), "{before}{bad}: {why}");
        }
    }
    let bomb = format!("{}1{}", "{\"a\":".repeat(MAX_DEPTH + 2), "}".repeat(MAX_DEPTH + 2));
    let (rows, _) = load(bomb.as_bytes(), &columns, &flat);
    assert!(rows[0].values.clone().unwrap_err().contains("expected at most 1000 arrays and objects"));
}

/// Options could name a property only by the name that it had for the reader, `properties_a`, and some not at all.
#[test]
fn properties_of_features_have_their_own_names() {
    let options = |has_crs| {
        let features = Some(Features { members: vec!["id".to_owned()], has_crs });
        json(JsonOptions { flatten: true, features, ..JsonOptions::default() })
    };
    let names =
        ["a", "b_c", "type", "id", "properties_ID", "properties_geometry", "geometry", "properties_properties_x"];
    let columns = names.map(|name| (name, ANY));
    let file = r#"{"type":"Feature","properties":{"a":1,"b":{"c":2}},"geometry":{"type":"Point","coordinates":[1.50,2]}}
{"type":"Feature","properties":{"a":3,"b":{"c":4}},"geometry":{"type":"Point","coordinates":[2,3]}}
{"type":"Feature","properties":{"a":5,"b":{"c":6}},"geometry":null}
{"type":"Feature","properties":{"a":5,"b":{"c":6}},"geometry":{"type":"Point"}}
{"type":"Feature","id":7,"properties":{"ID":8,"type":9,"geometry":10,"properties":{"x":11}},"geometry":{"a":{}}}
{"type":"Feature","id":7,"properties":{"ID":8,"type":9,"geometry":10,"properties":{"x":12}},"geometry":{"a":{}}}
{"geometry":{"b":[]},"properties":{"a":{"d":1}},"id":1,"type":"Feature"}
{"geometry":{"b":[]},"properties":null,"id":2,"type":{"crs":3}}
{"geometry":{"b":[]},"properties":{"a":13},"id":2,"type":"Feature"}"#;
    let (int, null) = (OwnedValue::Int, || OwnedValue::Null);
    let row = |numbers: [i64; 6], geometry: &str, last: i64| {
        let or_null = |number: i64| if number == 0 { null() } else { int(number) };
        let geometry = if geometry.is_empty() { null() } else { text(geometry) };
        numbers.into_iter().map(or_null).chain([geometry, or_null(last)]).collect::<Vec<_>>()
    };
    let (rows, error) = values(file, &columns, &options(false));
    assert_eq!(error, None);
    assert_eq!(
        rows,
        [
            row([1, 2, 0, 0, 0, 0], r#"{"type":"Point","coordinates":[1.50,2]}"#, 0),
            row([3, 4, 0, 0, 0, 0], r#"{"type":"Point","coordinates":[2,3]}"#, 0),
            row([5, 6, 0, 0, 0, 0], "", 0),
            row([5, 6, 0, 0, 0, 0], r#"{"type":"Point"}"#, 0),
            row([0, 0, 9, 7, 8, 10], r#"{"a":{}}"#, 11),
            row([0, 0, 9, 7, 8, 10], r#"{"a":{}}"#, 12),
            row([0, 0, 0, 1, 0, 0], r#"{"b":[]}"#, 0),
            row([0, 0, 0, 2, 0, 0], r#"{"b":[]}"#, 0),
            row([13, 0, 0, 2, 0, 0], r#"{"b":[]}"#, 0),
        ]
    );
    let own = r#"{"type":"Feature","crs":{"type":"name"},"properties":{"a":1},"geometry":null}"#;
    for (bad, message) in [
        (own, "column crs: the feature names a reference system for itself alone"),
        (r#"{"bbox":1,"properties":{"bbox":2}}"#, "column bbox: the key \"bbox\" stands twice"),
        (r#"{"properties":{"bbox":2},"bbox":1}"#, "column bbox: the key \"bbox\" stands twice"),
        (r#"{"properties":{"a":2},"properties":{"b":1}}"#, "column properties: the key \"properties\" stands twice"),
        (r#"{"properties":{},"geometry":{},"geometry":{}}"#, "column geometry: the key \"geometry\" stands twice"),
        (r#"{"type":1,"type":2}"#, "column type: the key \"type\" stands twice"),
    ] {
        for before in ["", r#"{"properties":{"a":2},"geometry":{}}"#, r#"{"type":1,"bbox":1,"properties":{}}"#] {
            let (rows, _) = load(format!("{before}\n{bad}").as_bytes(), &columns, &options(false));
            let why = rows.last().unwrap().values.clone().unwrap_err();
            assert!(why.contains(message), "{before}{bad}: {why}");
        }
    }
    let (rows, _) = values(own, &columns, &options(true));
    assert_eq!(rows, [row([1, 0, 0, 0, 0, 0], "", 0)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Flattening by serde_json is the judge. The records share a layout now and then.
    #[test]
    fn flattened_records_are_what_serde_json_reads(records in prop::collection::vec(any_nested(), 1..12), pretty: bool) {
        let columns: Vec<String> = ["a", "b", "c"].into_iter().flat_map(|one| {
            let deeper = |one: &str| ["a", "b", "c"].map(|two| format!("{one}_{two}"));
            let two = deeper(one);
            let three: Vec<String> = two.iter().flat_map(|two| deeper(two)).collect();
            std::iter::once(one.to_owned()).chain(two).chain(three)
        }).collect();
        let asked: Vec<(&str, Affinity)> = columns.iter().map(|name| (name.as_str(), ANY)).collect();
        let write = |record: &Json| if pretty { format!("{record:#}") } else { record.to_string() };
        let file = records.iter().map(write).collect::<Vec<_>>().join("\n");
        let layout = pretty.then_some(JsonLayout::Stream);
        let options = json(JsonOptions { flatten: true, layout, ..JsonOptions::default() });
        let (rows, error) = load(file.as_bytes(), &asked, &options);
        prop_assert_eq!(error, None);
        prop_assert_eq!(rows.len(), records.len());
        for (row, record) in rows.iter().zip(&records) {
            let mut flat = std::collections::HashMap::new();
            flatten("", record, &mut flat);
            let expected: Vec<_> = columns.iter().map(|name| flat.get(name).map_or(OwnedValue::Null, |int| OwnedValue::Int(*int))).collect();
            prop_assert_eq!(&row.values, &Ok(expected));
        }
    }
}

fn any_nested() -> impl Strategy<Value = Json> {
    let object = |inner: BoxedStrategy<Json>| {
        let members = prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c"]), inner, 0..4);
        members
            .prop_map(|members| Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
    };
    let leaf = (0..9).prop_map(Json::from).boxed();
    let two = prop_oneof![2 => leaf.clone(), 1 => object(leaf.clone())].boxed();
    object(prop_oneof![1 => leaf, 2 => object(two)].boxed())
}

fn flatten(prefix: &str, value: &Json, flat: &mut std::collections::HashMap<String, i64>) {
    match value {
        Json::Object(members) => members.iter().for_each(|(key, value)| {
            flatten(&(if prefix.is_empty() { key.clone() } else { format!("{prefix}_{key}") }), value, flat);
        }),
        other => {
            flat.insert(prefix.to_owned(), other.as_i64().unwrap());
        }
    }
}

/// Python's json.dumps writes NaN and Infinity. The file was refused with "no record has a column".
#[test]
fn numbers_that_json_does_not_have_are_what_the_option_says() {
    let file =
        "{\"v\":1,\"w\":[NaN]}\n{\"v\":NaN}\n{\"v\":-Infinity}\n{\"w\":1,\"v\": Infinity }\n{\"v\":NaN}\n{\"v\":2}";
    let of = |nan| json(JsonOptions { nan, ..JsonOptions::default() });
    let column = |nan| -> Vec<OwnedValue> {
        values(file, &[("v", ANY)], &of(nan)).0.into_iter().map(|mut row| row.remove(0)).collect()
    };
    let (int, null) = (OwnedValue::Int, || OwnedValue::Null);
    assert_eq!(column(NanPolicy::Null), [int(1), null(), null(), null(), null(), int(2)]);
    assert_eq!(
        column(NanPolicy::Text),
        [int(1), text("NaN"), text("-Infinity"), text("Infinity"), text("NaN"), int(2)]
    );
    let (rows, _) = load(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
    let why: Vec<_> = rows.iter().map(|row| row.values.clone().err().unwrap_or_default()).collect();
    for (row, word) in [(0, "NaN"), (1, "NaN"), (2, "-Infinity"), (3, "Infinity"), (4, "NaN")] {
        assert!(why[row].contains(&format!(": {word} is not a number of JSON")), "{row}: {why:?}");
        assert!(why[row].contains("nan(NanPolicy::Null) stores NULL instead"), "{row}: {why:?}");
    }
    assert_eq!(why[5], "");
}

/// `--nan null --infinity Infinity` stored NULL for Infinity, and `--missing NaN` did not help against the error about NaN.
#[test]
fn words_in_columns_of_numbers_go_before_the_option_for_others() {
    let words = NumberWords { missing: vec!["nan".to_owned()], infinity: vec!["Infinity".to_owned()] };
    let of = |nan, words: &NumberWords| ReadOptions {
        json: JsonOptions { nan, ..JsonOptions::default() },
        words: Arc::new(words.clone()),
        ..ReadOptions::default()
    };
    let file = "{\"v\":1}\n{\"v\":NaN}\n{\"v\":-Infinity}\n{\"v\":2}";
    for nan in [NanPolicy::Error, NanPolicy::Null, NanPolicy::Text] {
        let column = |affinity| -> Vec<_> {
            values(file, &[("v", affinity)], &of(nan, &words)).0.into_iter().flatten().collect()
        };
        // The loading source converts the texts of a column of numbers.
        let texts = [OwnedValue::Int(1), text("NaN"), text("-Infinity"), OwnedValue::Int(2)];
        assert_eq!(column(Affinity::Numeric), texts);
        // A column without a type of a database that exists got the words as texts.
        let infinite = OwnedValue::Real(f64::NEG_INFINITY);
        assert_eq!(column(ANY), [OwnedValue::Int(1), OwnedValue::Null, infinite, OwnedValue::Int(2)]);
    }
    let some = NumberWords { missing: vec!["NaN".to_owned()], infinity: Vec::new() };
    let file = "{\"v\":NaN}\n{\"v\":Infinity}\n{\"v\":[1,NaN]}\n{\"v\":2}";
    let (rows, _) = load(file.as_bytes(), &[("v", ANY)], &of(NanPolicy::Error, &some));
    let why: Vec<_> = rows.iter().map(|row| row.values.clone().err().unwrap_or_default()).collect();
    assert!(
        why[1].contains("line 2, character 6: column v: Infinity is not a number of JSON (value 'Infinity')"),
        "{why:?}"
    );
    assert!(why[2].contains(": NaN is not a number of JSON"), "{why:?}");
    assert_eq!((&*why[0], &*why[3]), ("", ""));
}

#[test]
fn mistakes_with_a_name_are_told_by_it() {
    for (bad, message) in [
        (
            "{'v': 1}",
            "expected a key in double quotes (value '''v'': 1}'); JSON has no single quotes; Python writes it with",
        ),
        ("{\"v\": True}", "True is Python; JSON writes true"),
        ("{\"v\": None, \"w\": 1}", "None is Python; JSON writes null"),
        ("{\"v\": 'x'}", "JSON has no single quotes"),
        ("{\"v\":1 // one", "JSON has no comments"),
        ("{\"v\":1,}", "leave out the comma"),
        (
            "{\"v\":1",
            "`}`; the file may be cut off here; format(Format::Json) reads objects that stand on several lines",
        ),
        ("{\"v\":1}{\"v\":2}", "write one object a line; format(Format::Json) reads objects that follow one another"),
        // The key without a column is a consequence.
        ("{\"new\":1,\"v\":nul}", "expected true, false or null"),
    ] {
        let file = format!("{{\"v\":0}}\n{bad}\n");
        let mut reader = reader(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
        reader.ignore_columns(&[]);
        let mut batch = Batch::default();
        reader.next_piece().unwrap().unwrap().read(&mut batch).unwrap();
        let why = batch.bad.remove(0).error.to_string();
        assert!(why.contains(message), "{why}\ninstead of\n{message}");
    }
    let (rows, _) = load(b"[{\"v\":1}\n{\"v\":2}]", &[("v", ANY)], &ReadOptions::default());
    assert!(rows[0].values.clone().unwrap_err().ends_with("a comma may be missing between two records"));
}

/// Keys `a` and `A` could not be loaded at all: `--map A=x` renamed both, and `--map A=` left out both.
#[test]
fn a_key_that_is_left_out_does_not_take_another_of_its_letters_with_it() {
    let mut reader = reader(b"{\"a\":1,\"A\":2}\n{\"A\":3}\n{\"a\":4}", &[("a", ANY)], &ReadOptions::default());
    reader.ignore_columns(&["A".to_owned()]);
    let mut batch = Batch::default();
    reader.next_piece().unwrap().unwrap().read(&mut batch).unwrap();
    assert!(batch.bad.is_empty(), "{:?}", batch.bad);
    let values: Vec<_> = (0..3).map(|row| owned(batch.blocks[0].value(row))).collect();
    assert_eq!(values, [OwnedValue::Int(1), OwnedValue::Null, OwnedValue::Int(4)]);
}

/// 300,000 records with 2 of 1,990 keys each took 677 MiB: a batch had 1,024 rows of all columns.
#[test]
fn batches_of_many_columns_have_few_rows() {
    let names: Vec<String> = (0..1990).map(|column| format!("c{column}")).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), ANY)).collect();
    let file: String = (0..500).map(|row| format!("{{\"c{row}\":{row}}}\n")).collect();
    let mut reader = reader(file.as_bytes(), &columns, &ReadOptions::default());
    let (mut piece, mut batch, mut rows) = (reader.next_piece().unwrap().unwrap(), Batch::default(), 0);
    loop {
        piece.read(&mut batch).unwrap();
        if batch.rows == 0 {
            break;
        }
        assert!(batch.rows * columns.len() <= BATCH_VALUES);
        assert_eq!(batch.blocks[rows].value(0), Value::Int(i64::try_from(rows).unwrap()));
        rows += batch.rows;
    }
    assert_eq!(rows, 500);
}

/// A record of 500 MB was in memory as text, record and pages at once. The text that was read is freed between batches.
#[test]
fn text_that_was_read_can_be_released() {
    let record = |row: i64| if row % 7 == 0 { format!("{{\"v\":\n{row}}}") } else { format!("{{\"v\":{row}}}") };
    let records: Vec<String> = (0..3000).map(record).collect();
    for file in [
        records.join("\n"),
        format!("[{}]", records.join(",")),
        (0..3000).map(|row| format!("{{\"v\":{row}}}\n")).collect(),
    ] {
        let lines: Vec<u64> = load_usual(&file, &[("v", ANY)]).iter().map(|row| row.line).collect();
        let mut reader = reader(file.as_bytes(), &[("v", ANY)], &ReadOptions::default());
        let (mut piece, mut batch, mut row) = (reader.next_piece().unwrap().unwrap(), Batch::default(), 0);
        loop {
            piece.read(&mut batch).unwrap();
            if batch.rows == 0 {
                break;
            }
            for at in 0..batch.rows {
                assert_eq!(
                    (batch.blocks[0].value(at), piece.line(at)),
                    (Value::Int(row), Some(lines[usize::try_from(row).unwrap()]))
                );
                row += 1;
            }
            let (held, read) = piece.text_bytes();
            piece.release();
            assert_eq!(piece.text_bytes(), (held - read, 0));
        }
        assert_eq!(row, 3000);
    }
}
