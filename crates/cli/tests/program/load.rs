//! `litepress load`.

use crate::{Ended, LITEPRESS, Room, json};
use std::io::Write;
use std::process::{Command, Stdio};

const CSV: &str = "id,area,price,note\n1,002134,12.50,\"a, b\"\n2,112233,7.00,\n3,,3.25,\"x \"\"y\"\"\"\n";

const ROWS: &str = "1|002134|12.5|a, b\n2|112233|7|\n3||3.25|x \"y\"";

/// All values decide the types, and the summary gives the reasons.
#[test]
fn types_are_found_out_and_told() {
    let room = Room::new();
    room.write("a.csv", CSV);
    let out = room.done("load a.db a.csv --primary-key id --index area --progress none -v");
    for part in ["002134", "leading zero", "INTEGER", "REAL", "2 decimals", "table a"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert_eq!(room.query("a.db", "SELECT * FROM a"), ROWS);
    let types = "SELECT typeof(id), typeof(area), typeof(price), typeof(note) FROM a GROUP BY 1, 2, 3, 4";
    assert_eq!(room.query("a.db", types), "integer|text|real|text");
    let plan = room.query("a.db", "EXPLAIN QUERY PLAN SELECT * FROM a WHERE area = '112233'");
    assert!(plan.contains("USING INDEX idx_a_area"), "{plan}");
    assert_eq!(room.query("a.db", "PRAGMA integrity_check"), "ok");
}

#[test]
fn the_same_from_a_pipe_and_compressed() {
    let room = Room::new();
    room.write("a.csv", CSV);
    room.done("load a.db a.csv --primary-key id --progress none");
    let pipe = |arguments: &str, bytes: &[u8]| {
        let mut run = room.command(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        run.stdin.take().unwrap().write_all(bytes).unwrap();
        assert!(run.wait().unwrap().success(), "{arguments}");
    };
    pipe("load b.db - --table a --primary-key id --progress none", CSV.as_bytes());
    let read = |name: &str| std::fs::read(room.path(name)).unwrap();
    assert!(read("a.db") == read("b.db"));
    let json = "{\"id\":1,\"area\":\"002134\",\"price\":12.50,\"note\":\"a, b\"}\n\
        {\"id\":2,\"area\":\"112233\",\"price\":7.00,\"note\":\"\"}\n\
        {\"id\":3,\"area\":\"\",\"price\":3.25,\"note\":\"x \\\"y\\\"\"}\n";
    pipe("load c.db - --table a --primary-key id --progress none", json.as_bytes());
    assert!(read("a.db") == read("c.db"));
}

#[test]
fn a_schema_is_filled_as_sqlite_would() {
    let room = Room::new();
    room.write("in.csv", "code,ID,more\n007,1,x\n 8 ,2,y\n1e3,3,\n,4,z\n");
    room.write("s.sql", "CREATE TABLE t (id INTEGER PRIMARY KEY, code INTEGER, extra TEXT DEFAULT 'none');");
    room.done("load t.db in.csv --schema s.sql --map more= --progress none");
    let rows = room.query("t.db", "SELECT id, code, typeof(code), extra FROM t");
    assert_eq!(rows, "1|7|integer|none\n2|8|integer|none\n3|1000|integer|none\n4||text|none");
    let error = room.run("load u.db in.csv --schema s.sql --progress none");
    assert_eq!(error.code, Some(1));
    assert!(
        error.err.contains("the table lacks columns of the file: more") && error.err.contains("--map"),
        "{error:?}"
    );
    assert!(!room.path("u.db").exists());
}

/// The error of a wrong record has file, record, line and column, and the target stays as it was.
#[test]
fn a_wrong_record_is_told_and_nothing_is_lost() {
    let room = Room::new();
    room.write("in.csv", "id,n\n1,5\n2,\"a\nb\"\n3\n4,6\n");
    room.done("generate t.db --preset user --rows 5");
    let before = std::fs::read(room.path("t.db")).unwrap();
    let ended = room.run("load t.db in.csv --table t --overwrite --progress none");
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.err.contains("in.csv:5:") && ended.err.contains("record 3: the record has 1 field instead of 2"),
        "{ended:?}"
    );
    assert!(std::fs::read(room.path("t.db")).unwrap() == before);
    let out = room.done("load t.db in.csv --table t --overwrite --rejects wrong.csv --progress none --json");
    assert_eq!(json(&out)["rejected"], 1);
    assert_eq!(room.query("t.db", "SELECT rowid, id, n FROM t"), "1|1|5\n2|2|a\nb\n4|4|6");
    let wrong = std::fs::read_to_string(room.path("wrong.csv")).unwrap();
    assert!(wrong.lines().nth(1).unwrap().starts_with("in.csv,t,3,5,,'3',the record has 1 field"), "{wrong}");
    assert_eq!(room.files(), ["in.csv", "t.db", "wrong.csv"]);
}

/// The disk was full when the last rejects were written. The target was already replaced, without the wrong records, which
/// were lost.
#[test]
fn rejects_that_cannot_be_written_leave_the_target_as_it_was() {
    let room = Room::new();
    room.write("in.csv", "a\n".to_owned() + &"1,of two fields\n".repeat(200));
    room.done("generate t.db --preset user --rows 5");
    let before = std::fs::read(room.path("t.db")).unwrap();
    // Databases of a few pages are smaller than this limit, and so is the first buffer full of rejects.
    let script = "ulimit -f 24; exec \"$0\" load t.db in.csv --table t --overwrite --rejects wrong.csv --progress none";
    let ended: Ended =
        Command::new("sh").args(["-c", script, LITEPRESS]).current_dir(room.path("")).output().unwrap().into();
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(ended.err.contains("wrong.csv") && ended.err.contains("cannot write the rejects"), "{ended:#?}");
    assert!(std::fs::read(room.path("t.db")).unwrap() == before);
    assert_eq!(room.files(), ["in.csv", "t.db"]);
}

#[test]
fn several_files_are_one_table_or_one_each() {
    let room = Room::new();
    room.write("a.csv", "id,x\n1,one\n2,two\n");
    room.write("b.csv", "id,x\n3,three\n");
    room.done("load one.db a.csv b.csv --table t --primary-key id --progress none");
    assert_eq!(room.query("one.db", "SELECT * FROM t"), "1|one\n2|two\n3|three");
    room.done("load two.db a.csv b.csv --primary-key id --progress none");
    assert_eq!(room.query("two.db", "SELECT * FROM a UNION ALL SELECT * FROM b"), "1|one\n2|two\n3|three");
    room.write("c.csv", "id,x\n1,again\n");
    let twice = room.run("load three.db a.csv c.csv --table t --primary-key id --progress none");
    assert!(twice.err.contains("UNIQUE") || twice.err.contains("same"), "{twice:?}");
    room.done("load three.db a.csv c.csv --table t --primary-key id --on-conflict replace --progress none");
    assert_eq!(room.query("three.db", "SELECT * FROM t"), "1|again\n2|two");
}

#[test]
fn another_database_is_copied_with_its_indexes() {
    let room = Room::new();
    let source = room.sqlite("source.db");
    source
        .execute_batch(
            "CREATE TABLE t (a, b TEXT COLLATE NOCASE UNIQUE, c REAL);
             CREATE INDEX i ON t (c DESC);
             CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
             INSERT INTO t VALUES (1, 'x', 2), ('two', 'y', 0.5), (NULL, 'z', -1), (x'00ff', NULL, 9e99);
             INSERT INTO w VALUES ('b', 1), ('a', 2);",
        )
        .unwrap();
    room.done("load copy.db source.db --progress none");
    for sql in [
        "SELECT quote(a), quote(b), quote(c) FROM t ORDER BY rowid",
        "SELECT * FROM w",
        "SELECT name, sql FROM sqlite_schema ORDER BY name",
    ] {
        assert_eq!(room.query("copy.db", sql), room.query("source.db", sql), "{sql}");
    }
    assert_eq!(room.query("copy.db", "PRAGMA integrity_check"), "ok");
}

/// The plan lists the types, or all mismatches at once, and writes no file.
#[test]
fn the_plan_tells_types_and_all_mismatches() {
    let room = Room::new();
    room.write("a.csv", CSV);
    let plan = json(&room.done("plan a.db a.csv --primary-key id --json --progress none"));
    assert_eq!((&plan["rows"], &plan["tables"][0]["columns"][1]["type"]), (&3.into(), &"TEXT".into()));
    assert_eq!(plan["steps"][0]["method"], "direct");
    room.write("s.sql", "CREATE TABLE a (id INTEGER PRIMARY KEY, needed TEXT NOT NULL);");
    let ended = room.run("plan a.db a.csv --schema s.sql --progress none");
    assert_eq!(ended.code, Some(1));
    for part in ["area, price, note", "needed"] {
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
    assert_eq!(room.files(), ["a.csv", "s.sql"]);
}

/// A type from a sample is checked against every later value: none is changed.
#[test]
fn a_sample_does_not_change_what_comes_later() {
    let room = Room::new();
    let mut csv = "code\n".to_owned();
    // Enough records for several pieces: the last one is beyond the piece of the sample.
    (1..=600_000).for_each(|code| csv += &format!("{}\n", 1_000_000 + code));
    room.write("in.csv", csv + "007\n");
    let ended = room.run("load t.db in.csv --sample 10 --progress none");
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.err.contains("record 600001") && ended.err.contains("'007'") && ended.err.contains("--type"),
        "{ended:?}"
    );
    room.done("load t.db in.csv --progress none");
    assert_eq!(room.query("t.db", "SELECT max(rowid), min(code), typeof(code) FROM \"in\""), "600001|007|text");
}

/// Each table had its own connection with a copy of the schema: 2,000 tables took a minute and 3 GB, and the limit of open
/// files was reached after 1,000.
#[test]
fn the_tables_of_a_database_take_few_open_files() {
    let room = Room::new();
    let tables: String =
        (0..200).map(|table| format!("CREATE TABLE t{table} (a); INSERT INTO t{table} VALUES (1);")).collect();
    room.sqlite("many.db").execute_batch(&format!("BEGIN; {tables} COMMIT")).unwrap();
    let limited = "ulimit -n 64; exec \"$0\" load copy.db many.db --json --progress none";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", limited, crate::LITEPRESS]).current_dir(room.path(""));
    let ended: crate::Ended = command.output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert_eq!(json(&ended.out)["rows"], 200);
}

/// A source called `file:...` was taken for a URI, and not found.
#[test]
fn a_name_that_looks_like_a_uri_is_a_name() {
    let room = Room::new();
    room.sqlite("x.db").execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    std::fs::rename(room.path("x.db"), room.path("file:x.db?mode=memory")).unwrap();
    room.done("load copy.db file:x.db?mode=memory --progress none");
    assert_eq!(room.query("copy.db", "SELECT a FROM t"), "1");
}

/// A target that was also a source was reported as "in use by another program".
#[test]
fn the_target_is_no_source() {
    let room = Room::new();
    room.sqlite("x.db").execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    std::os::unix::fs::symlink("x.db", room.path("y.db")).unwrap();
    for arguments in ["load x.db x.db --overwrite", "load y.db ./x.db --overwrite"] {
        let ended = room.run(&format!("{arguments} --progress none"));
        assert!(ended.code == Some(2) && ended.err.contains("x.db: the target is also a source"), "{ended:?}");
    }
    assert_eq!(room.query("x.db", "SELECT a FROM t"), "1");
}

/// `--map y=x` for two files, of which the other has `x`, failed: "two columns have one name: x, x".
#[test]
fn columns_of_two_files_get_one_name() {
    let room = Room::new();
    room.write("a.csv", "id,y\n1,10\n2,20\n");
    room.write("b.csv", "id,x\n3,1.5\n");
    room.write("c.csv", "id,x,y\n4,1,2\n");
    room.done("load t.db a.csv b.csv --table t --map y=x --progress none");
    let columns = "SELECT group_concat(name || ' ' || type, ', ') FROM pragma_table_info('t')";
    assert_eq!(room.query("t.db", columns), "id INTEGER, x REAL");
    assert_eq!(room.query("t.db", "SELECT group_concat(x, ' ') FROM t"), "10.0 20.0 1.5");
    room.done("load u.db b.csv a.csv --table t --map y=x --progress none");
    assert_eq!(room.query("u.db", "SELECT group_concat(x, ' ') FROM t"), "1.5 10.0 20.0");
    assert_ne!(room.run("load v.db a.csv c.csv --table t --map y=x --progress none").code, Some(0));
}

/// `--map` worked only with a schema: without one a column left out became one of NULLs, and a new name was an error.
#[test]
fn columns_of_tables_that_are_found_out_are_renamed_and_left_out() {
    let room = Room::new();
    room.write("a.csv", "id,x,y\n1,one,7\n");
    room.write("b.csv", "y,id\n8,2\n");
    room.done("load t.db a.csv b.csv --table t --map x= --map y=why --primary-key id --index why --progress none");
    assert_eq!(room.query("t.db", "SELECT * FROM t"), "1|7\n2|8");
    assert_eq!(room.query("t.db", "SELECT name FROM pragma_table_info('t')"), "id\nwhy");
    let ended = room.run("load u.db a.csv b.csv --map z=q --progress none");
    assert!(ended.code == Some(2) && ended.err.contains("no file has a column z"), "{ended:?}");
    room.write("s.sql", "CREATE TABLE a (id, x, why); CREATE TABLE b (id, why);");
    room.done("load u.db a.csv b.csv --schema s.sql --map y=why --progress none");
    assert_eq!(room.query("u.db", "SELECT a.why, b.why FROM a, b"), "7|8");
}

/// A misspelt column was ignored in silence.
#[test]
fn another_form_is_for_a_column_that_is_there() {
    let room = Room::new();
    room.write("a.csv", "id,day\n1,2\n");
    let ended = room.run("load u.db a.csv --store-as dya=unixepoch --progress none");
    assert!(ended.code == Some(2) && ended.err.contains("no table takes a column dya"), "{ended:?}");
    assert!(ended.err.contains("there are id, day"), "{ended:?}");
}

/// The errors were SQLite's, about DDL that the user had not written.
#[test]
fn what_no_table_can_be_made_of_is_told() {
    let room = Room::new();
    room.write("none.json", "[]");
    room.write("empty.ndjson", "{}\n{}\n");
    room.write("sqlite_x.csv", "a\n1\n");
    let names: Vec<String> = (0..2001).map(|name| format!("n{name}")).collect();
    room.write("wide.csv", format!("{0}\n{0}\n", names.join(",")));
    for (arguments, part) in [
        ("none.json", "no record has a key"),
        ("empty.ndjson", "no record has a key"),
        ("sqlite_x.csv", "--table"),
        ("wide.csv", "at most 2000"),
    ] {
        let ended = room.run(&format!("load t.db {arguments} --progress none"));
        assert!(ended.code == Some(1) && ended.err.contains(part) && ended.err.contains("help: "), "{ended:?}");
    }
    assert!(!room.path("t.db").exists());
}

/// The report did not count the values that `--on-error null` replaced by NULL.
#[test]
fn values_that_became_null_are_counted() {
    let room = Room::new();
    room.write("in.csv", "a\n1\nx\n2\ny\n");
    room.write("s.sql", "CREATE TABLE t (a INTEGER) STRICT;");
    let out = json(&room.done("load t.db in.csv --schema s.sql --on-error null --progress none --json"));
    assert_eq!(out["nulls"], 2);
    assert_eq!(room.query("t.db", "SELECT count(*), count(a) FROM t"), "4|2");
}

/// The error about two records with the same key in different files named record numbers that neither file has.
#[test]
fn records_of_one_key_are_told_with_where_files_begin() {
    let room = Room::new();
    room.write("a.csv", "id\n10\n3\n8\n");
    room.write("b.csv", "id\n11\n3\n");
    let ended = room.run("load t.db a.csv b.csv --table t --primary-key id --progress none");
    for part in ["b.csv", "record 2", "records 2 and 5", "b.csv begins with 4", "--on-conflict"] {
        assert!(ended.err.contains(part), "{part}: {ended:?}");
    }
}

/// `bob,-1` above `ann,-2` became the names of columns, and the row got lost.
#[test]
fn numbers_that_become_names_are_told() {
    let room = Room::new();
    room.write("h.csv", "bob,-1\nann,-2\ncid,-3\n");
    assert!(!room.done("load h.db h.csv --progress none").contains("note:"));
    assert_eq!(room.query("h.db", "SELECT * FROM h"), "bob|-1\nann|-2\ncid|-3");
    room.write("m.csv", "1,2,3\n4,5,6\n");
    let note = "note: the first record of m.csv became names of columns: 1,2,3; --no-header reads it as a record\n";
    assert!(room.done("load m.db m.csv --progress none").contains(note));
    assert!(room.done("plan m.csv").contains(note));
    let told = room.done("load m.db m.csv --overwrite --no-header --progress none");
    assert!(!told.contains("note:"), "{told}");
    assert_eq!(room.query("m.db", "SELECT * FROM m"), "1|2|3\n4|5|6");
}

/// `cat jan.csv feb.csv > all.csv` gave a table with the header of February as a row, and all columns were TEXT.
#[test]
fn a_repeated_header_is_left_out_and_told() {
    let room = Room::new();
    room.write("all.csv", "day,amount\n1,5\nday,amount\n2,7\n");
    let text = room.done("load all.db all.csv --repeated-header skip --progress none");
    assert!(text.contains("left out 1 record like the header: all.csv:3\n"), "{text}");
    assert_eq!(
        room.query("all.db", "SELECT group_concat(amount + 1) FROM \"all\" WHERE typeof(day) = 'integer'"),
        "6,8"
    );
    let text = room.done("load all.db all.csv --repeated-header stop --overwrite --progress none");
    assert!(text.contains("loaded nothing below it: all.csv:3\n"), "{text}");
    assert_eq!(room.query("all.db", "SELECT sum(amount) FROM \"all\""), "5");
    // One that is doubled at the top ends nothing, and was told as if it did.
    room.write("top.csv", "day,amount\nday,amount\n1,5\n2,7\n");
    let text = room.done("load top.db top.csv --repeated-header stop --progress none");
    assert!(text.contains("left out 1 record like the header: top.csv:2\n") && !text.contains("below"), "{text}");
    assert_eq!(room.query("top.db", "SELECT sum(amount) FROM top"), "12");
    let json = json(&room.done("load all.db all.csv --repeated-header skip --overwrite --json --progress none"));
    assert_eq!(json["repeated_headers"], serde_json::json!(["all.csv:3"]));
}
