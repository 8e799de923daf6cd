//! JSON of every shape through the program.

use crate::Room;

fn loaded(file: &str, options: &str, query: &str) -> String {
    let room = Room::new();
    room.write("t.json", file);
    room.done(&format!("load t.db t.json --progress none {options}"));
    room.query("t.db", query)
}

fn refused(file: &str, options: &str) -> String {
    let room = Room::new();
    room.write("t.json", file);
    let ended = room.run(&format!("load t.db t.json --progress none {options}"));
    assert!(matches!(ended.code, Some(1 | 2)), "{ended:?}");
    assert!(!room.path("t.db").exists());
    ended.err
}

#[test]
fn records_of_every_shape_are_found() {
    for (file, options) in [
        ("{\n  \"a\": 1,\n  \"b\": \"x\"\n}\n{\n  \"a\": 2,\n  \"b\": \"y\"\n}\n", ""),
        ("{\"a\":1,\"b\":\"x\"}{\"a\":2,\"b\":\"y\"}", ""),
        ("{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\n\"b\":\"y\"}", "--format json"),
        ("{\"n\":2,\"data\":{\"items\":[{\"a\":1,\"b\":\"x\"},{\"a\":2,\"b\":\"y\"}]}}", "--json-path data.items"),
    ] {
        assert_eq!(loaded(file, options, "SELECT a, typeof(a), b FROM t"), "1|integer|x\n2|integer|y", "{file}");
    }
    let file = "{\"id\":1,\"at\":{\"x\":1.5,\"y\":2.5}}\n{\"id\":2,\"at\":{\"x\":3.5}}\n";
    let query = "SELECT id, at_x, at_y, typeof(at_y) FROM t";
    assert_eq!(loaded(file, "--flatten", query), "1|1.5|2.5|real\n2|3.5|NULL|null");
    let file = "{\"v\":1.5}\n{\"v\":NaN}\n{\"v\":-Infinity}\n";
    assert_eq!(loaded(file, "--nan null", "SELECT v, typeof(v) FROM t"), "1.5|real\nNULL|null\nNULL|null");
}

/// If no record could be read, all mistakes had one message: "no record has a key, so the table would have no column".
#[test]
fn the_first_wrong_record_is_told_if_all_are_wrong() {
    for (file, options, message) in [
        ("{\n \"a\": 1\n}", "--format ndjson", "t.json:1:2: record 1: it ends within an object"),
        ("{\"a\":NaN}\n", "", "NaN is not a number of JSON"),
        ("{\"a\":1,\"a\":2}\n", "", "the key \"a\" stands twice"),
        ("{\"a\":1,}\n{\"a\":2,}\n", "", "t.json:1:8: record 1: expected a key or value behind the comma"),
        ("[[1,2],[3,4]]", "", "rows are objects: arrays of values by position are not read"),
        ("[1,2,3]", "", "expected an object, which begins with `{`"),
        ("[{\"a\":1}\n{\"a\":2}]", "", "a comma may be missing between two records"),
        ("{\"a\":\"\\ud800\"}", "", "surrogate"),
        ("{'a': 1}\n", "", "the file is called .json, but its content is not JSON"),
        ("{\"data\":[]}", "--json-path rows", "the object has no key \"rows\"; help: its keys are: data"),
        ("{}", "--json-path a..b", "--json-path a..b: keys are written with dots between them"),
    ] {
        let told = refused(file, options);
        let told = told.replace("\n  help: ", "; help: ").replace("\nhelp: ", "; help: ");
        assert!(told.contains(message), "{file}: {told}\ninstead of\n{message}");
    }
}

/// Keys `a` and `A`, and the key `""`, got advice that did not work.
#[test]
fn keys_of_every_name_can_be_renamed_and_left_out() {
    let alike = "{\"a\":1,\"A\":2}\n{\"A\":3}\n";
    let told = refused(alike, "");
    assert!(told.contains("differ only in case") && told.contains("--map 'A=NEW_NAME'"), "{told}");
    assert_eq!(loaded(alike, "--map A=upper", "SELECT a, upper FROM t"), "1|2\nNULL|3");
    assert_eq!(loaded(alike, "--map a=lower", "SELECT lower, A FROM t"), "1|2\nNULL|3");
    assert_eq!(loaded(alike, "--map A=", "SELECT * FROM t"), "1\nNULL");
    assert_eq!(loaded(alike, "--map a=", "SELECT * FROM t"), "2\n3");
    let empty = "{\"\":1,\"a\":2}\n";
    assert_eq!(loaded(empty, "--map =x", "SELECT x, a FROM t"), "1|2");
    assert_eq!(loaded(empty, "--map =", "SELECT * FROM t"), "2");
}
