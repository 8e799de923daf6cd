//! Archives, folders, and the choice of sheets, columns and records.

use crate::{Room, json};
use std::path::Path;

#[test]
fn a_folder_becomes_tables_or_one_with_the_names_of_its_files() {
    let room = Room::new();
    std::fs::create_dir(room.path("in")).unwrap();
    room.write("in/b.csv", "id,n\n1,x\n2,y\n");
    room.write("in/a.ndjson", "{\"id\":3,\"n\":\"z\"}\n");
    room.write("in/readme.md", "x");
    let out = room.done("load t.db in --progress none");
    assert!(out.contains("in: left out, since they are folders or of no known kind: readme.md"), "{out}");
    assert_eq!(room.query("t.db", "SELECT name FROM sqlite_schema ORDER BY 1"), "a\nb");
    room.done("load u.db in --table t --source-column file --progress none");
    assert_eq!(room.query("u.db", "SELECT id, n, file FROM t"), "3|z|in/a.ndjson\n1|x|in/b.csv\n2|y|in/b.csv");
    room.write("s.sql", "CREATE TABLE t (id INTEGER PRIMARY KEY, file TEXT NOT NULL, n TEXT);");
    room.done("load v.db in --schema s.sql --source-column file --progress none");
    assert_eq!(room.query("v.db", "SELECT id, n, file FROM t"), "1|x|in/b.csv\n2|y|in/b.csv\n3|z|in/a.ndjson");
    room.done("load w.db in/b.csv --schema s.sql --source-column file --no-header --map c1=id --map c2=n --on-error reject --progress none");
    assert_eq!(room.query("w.db", "SELECT id, n, file FROM t"), "1|x|in/b.csv\n2|y|in/b.csv");
    for (arguments, message) in [
        ("load x.db in --table t --source-column N", "--source-column N: the files have a column of this name"),
        (
            "load x.db in --schema s.sql --source-column origin",
            "--source-column origin: the table has no column origin",
        ),
        ("load x.db in --schema s.sql --source-column n", "--source-column n: the file has a column n, too"),
        ("load x.db u.db --source-column file", "--source-column cannot change a table that is copied"),
    ] {
        let ended = room.run(arguments);
        assert!(ended.code != Some(0) && ended.err.contains(message), "{arguments}: {ended:?}");
    }
}

/// `--date-format` read half a second as five nanoseconds, the year 69 as 2069, and no zone of a name; `--store-as unixepoch` cut
/// fractions. No message said so.
#[test]
fn dates_are_what_their_format_says() {
    let room = Room::new();
    room.write("t.csv", "at,y\n2024-01-02T03:04:05.5,31.12.69\n");
    room.done("load t.db t.csv --date-format at=%Y-%m-%dT%H:%M:%S.%f --date-format y=%d.%m.%y");
    assert_eq!(room.query("t.db", "SELECT * FROM t"), "2024-01-02 03:04:05.500|1969-12-31");
    for (options, told) in [
        (
            "--date-format at=%FT%T.%f --store-as at=unixepoch",
            "t.csv:2:1: t.at: record 1: the value is not a whole number of seconds (value '2024-01-02T03:04:05.5')",
        ),
        ("--date-format y=%d.%m.%Y", "t.y: record 1: the value is not a date like %d.%m.%Y (value '31.12.69')"),
        ("--date-format at=%FT%T%Z", "%z reads offsets such as +0200"),
    ] {
        let ended = room.run(&format!("load t.db t.csv --overwrite {options}"));
        assert!(ended.code != Some(0) && ended.err.contains(told), "{options}: {}", ended.err);
    }
}

/// A limit cut the tables that `--replace-tables` keeps, and the tables of which a full-text index consists.
#[test]
fn a_limit_cuts_only_what_is_read_row_by_row() {
    let room = Room::new();
    let sql = "CREATE TABLE kept (x); INSERT INTO kept VALUES (1), (2), (3); CREATE TABLE t (a);
        CREATE VIRTUAL TABLE kept_fts USING fts5(x, content='kept'); INSERT INTO kept_fts(kept_fts) VALUES ('rebuild')";
    room.sqlite("app.db").execute_batch(sql).expect("a database");
    room.write("t.csv", "a\n1\n2\n3\n");
    for command in
        ["load new.db app.db --limit 2", "plan new.db app.db --limit 2", "load new.db app.db --append --limit 2"]
    {
        let ended = room.run(command);
        let error = "--limit 2: the table belongs to a virtual table, and must agree with all rows of others";
        assert!(ended.code == Some(2) && ended.err.contains(error), "{command}: {ended:?}");
    }
    room.done("load new.db app.db --limit 2 --table kept");
    assert_eq!(room.query("new.db", "SELECT count(*) FROM kept"), "2");
    room.done("load app.db t.csv --replace-tables --limit 2 --verify full");
    assert_eq!(room.query("app.db", "SELECT (SELECT count(*) FROM kept), (SELECT count(*) FROM t)"), "3|2");
    let check = "INSERT INTO kept_fts(kept_fts, rank) VALUES ('integrity-check', 1)";
    room.sqlite("app.db").execute_batch(check).expect("whole");
    room.sqlite("layers.gpkg").execute_batch("CREATE TABLE gpkg_contents (x); CREATE TABLE t (a)").expect("a database");
    let ended = room.run("load new.gpkg layers.gpkg --limit 2");
    assert!(ended.code == Some(2) && ended.err.contains("describes the layers of a GeoPackage"), "{ended:?}");
}

#[test]
fn columns_and_records_are_chosen() {
    let room = Room::new();
    room.write("a.csv", "id,x,y\n1,one,u\n2,two,v\n3,three,w\n");
    room.write("b.csv", "id,z\n4,four\n5,five\n");
    room.write("c.ndjson", "{\"id\":6,\"x\":\"six\"}\n{\"id\":7}\n{\"id\":\"x\",\"q\":1}\n");
    room.done("load t.db a.csv --select y,id --limit 2 --progress none");
    assert_eq!(room.query("t.db", "SELECT * FROM a"), "u|1\nv|2");
    room.done("load u.db a.csv b.csv c.ndjson --table t --limit 4 --progress none");
    assert_eq!(room.query("u.db", "SELECT id, x, z FROM t"), "1|one|NULL\n2|two|NULL\n3|three|NULL\n4|NULL|four");
    room.done("load v.db a.csv b.csv --select a.x,id --limit 1 --progress none");
    assert_eq!(room.query("v.db", "SELECT * FROM a"), "one|1");
    assert_eq!(room.query("v.db", "SELECT * FROM b"), "4");
    room.write("s.sql", "CREATE TABLE c (id INTEGER PRIMARY KEY, x TEXT DEFAULT 'none');");
    room.done("load w.db c.ndjson --schema s.sql --select id --limit 2 --progress none");
    assert_eq!(room.query("w.db", "SELECT * FROM c"), "6|none\n7|none");
    let report = json(&room.done("plan a.csv --limit 2 --json"));
    assert_eq!(report["rows"], 2);
    for (arguments, message) in [
        ("load x.db a.csv --select nothing", "--select nothing: the file has no such column"),
        ("load x.db a.csv --select id,nothing", "--select nothing: no file has such a column"),
        ("load x.db a.csv --select x --map y=z", "--map y=z: --select leaves out y"),
        ("load x.db t.db --select id", "--select cannot change a table that is copied"),
    ] {
        let ended = room.run(arguments);
        assert!(ended.code != Some(0) && ended.err.contains(message), "{arguments}: {ended:?}");
    }
}

#[test]
fn sheets_become_tables() {
    let room = Room::new();
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../load/tests/data/cities.xls");
    std::fs::copy(book, room.path("cities.xls")).unwrap();
    let out = room.done("load t.db cities.xls --primary-key Cities.id --progress none");
    assert!(out.contains("cities.xls: left out, since they are empty: Empty"), "{out}");
    assert_eq!(
        room.query("t.db", "SELECT id, name, founded, big FROM Cities WHERE id < 3"),
        "1|Zürich|1962-01-01|1\n2|Łódź|1993-07-29|0"
    );
    assert_eq!(room.query("t.db", "SELECT code, typeof(code) FROM Codes"), "007|text");
    room.done("load u.db cities.xls --sheet Codes --table code --source-column sheet --progress none");
    assert_eq!(room.query("u.db", "SELECT * FROM code"), "007|cities.xls/Codes");
    let report = json(&room.done("load v.db cities.xls --sheet all --limit 1 --json --progress none"));
    assert_eq!(report["notes"][0], "cities.xls: left out, since they are empty: Empty");
    assert_eq!(room.query("v.db", "SELECT count(*) FROM Cities"), "1");
    let ended = room.run("load x.db cities.xls --sheet Nothing");
    assert!(ended.err.contains("--sheet Nothing: the workbook has no such sheet"), "{ended:?}");
    room.write("s.sql", "CREATE TABLE c (id INTEGER PRIMARY KEY, name TEXT, area REAL DEFAULT 1.5);");
    let map = "--map ratio= --map founded= --map seen= --map big=";
    room.done(&format!("load w.db cities.xls --sheet Cities --schema s.sql {map} --progress none"));
    assert_eq!(room.query("w.db", "SELECT * FROM c WHERE id < 3"), "1|Zürich|1.5\n2|Łódź|1.5");
}

/// A key that no record had became NULL in spite of its column's DEFAULT, and an INTEGER PRIMARY KEY that no record had was an error.
#[test]
fn a_key_that_no_record_has_gets_the_default() {
    let room = Room::new();
    let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT DEFAULT 'new', c INT DEFAULT 7);";
    room.write("s.sql", schema);
    let load = |json: &str, options: &str| {
        room.write("in.ndjson", json);
        room.done(&format!("load t.db in.ndjson --schema s.sql --overwrite --progress none {options}"));
        let of_file = room.query("t.db", "SELECT * FROM t");
        let mut run =
            room.command(&format!("load u.db - --schema s.sql --table t --overwrite --progress none {options}"));
        let mut child = run.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), json.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(room.query("u.db", "SELECT * FROM t"), of_file, "from a pipe");
        of_file
    };
    assert_eq!(load("{\"a\":\"x\"}\n{\"a\":\"y\"}\n", ""), "1|x|new|7\n2|y|new|7");
    // A record that lacks a key of others has NULL there, and so has one with null.
    assert_eq!(
        load("{\"id\":5,\"a\":\"x\",\"B\":\"own\"}\n{\"id\":6}\n{\"id\":7,\"c\":null}\n", ""),
        "5|x|own|NULL\n6|NULL|NULL|NULL\n7|NULL|NULL|NULL"
    );
    // The key comes late: beyond what is looked at first.
    let many: String =
        (1..=200_000).map(|id| format!("{{\"id\":{id},\"a\":\"some text that makes it long\"}}\n")).collect();
    load(&format!("{many}{{\"id\":0,\"b\":\"late\"}}\n"), "");
    assert_eq!(room.query("t.db", "SELECT count(*), count(b), min(c), max(b) FROM t"), "200001|1|7|late");
    assert_eq!(load("[{\"key\":9,\"a\":\"x\"}]", "--map key=id"), "9|x|new|7");
}
