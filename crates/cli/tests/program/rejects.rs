//! `litepress load --rejects`: records that SQLite refuses.

use crate::{Room, json};
use std::io::Write;
use std::process::Stdio;

const SQL: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, flag INTEGER CHECK (flag IN (0, 1)), n NOT NULL);";

/// Records 3, 4, 5, 6, 8 and 10 are wrong: a field is missing, the mail and the id are there, the flag, NULL, the id again.
const CSV: &str =
    "id,mail,flag,n\n1,a,0,x\n2,b,1,x\n3,c,1\n4,b,0,x\n1,d,0,x\n6,e,5,x\n7,f,1,x\n8,g,1,-\n9,h,0,x\n9,i,0,x\n";

/// Returns file, record, line, column and value of each reject.
fn places(room: &Room, name: &str) -> Vec<String> {
    let written = std::fs::read_to_string(room.path(name)).expect("a file of rejects");
    assert!(written.starts_with("file,table,record,line,column,value,reason,raw\n"), "{written}");
    written.lines().skip(1).map(|line| line.split(',').take(6).collect::<Vec<_>>().join(",")).collect()
}

/// A duplicate key and a broken CHECK ended the run in spite of `--on-error reject`; there was no way round the CHECK.
#[test]
fn whatever_sqlite_refuses_is_rejected_in_the_order_of_the_records() {
    let room = Room::new();
    room.write("s.sql", SQL);
    room.write("in.csv", CSV);
    let load = "load t.db in.csv --schema s.sql --null-value - --rejects wrong.csv --progress none --json";
    let summary = json(&room.done(load));
    assert_eq!((&summary["rows"], &summary["rejected"]), (&4.into(), &6.into()), "{summary}");
    assert_eq!(room.query("t.db", "SELECT * FROM t"), "1|a|0|x\n2|b|1|x\n7|f|1|x\n9|h|0|x");
    let expected = [
        "in.csv,t,3,4,,\"'3",
        "in.csv,t,4,5,mail,'b'",
        "in.csv,t,5,6,id,1",
        "in.csv,t,6,7,,",
        "in.csv,t,8,9,n,NULL",
        "in.csv,t,10,11,id,9",
    ];
    assert_eq!(places(&room, "wrong.csv"), expected);
    let written = std::fs::read_to_string(room.path("wrong.csv")).unwrap();
    for reason in ["UNIQUE constraint failed: t.mail", "CHECK constraint failed: flag IN (0, 1)", "\"6,e,5,x\""] {
        assert!(written.contains(reason), "{reason}: {written}");
    }
    assert_eq!(room.query("t.db", "PRAGMA integrity_check"), "ok");
    // A pipe cannot be read twice, so it is copied.
    let mut piped = room.command("load p.db - --schema s.sql --null-value - --rejects piped.csv --progress none");
    let mut run = piped.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    run.stdin.take().unwrap().write_all(CSV.as_bytes()).unwrap();
    assert!(run.wait().unwrap().success());
    assert_eq!(room.query("p.db", "SELECT * FROM t"), room.query("t.db", "SELECT * FROM t"));
    assert_eq!(places(&room, "piped.csv").len(), 6);
    // A device is written once, too.
    let piped =
        room.done("load d.db in.csv --schema s.sql --null-value - --rejects /dev/stdout --quiet --progress none");
    assert_eq!(piped, written);
    let ended = room.run("load u.db in.csv --schema s.sql --null-value - --max-rejects 5 --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("more than 5 wrong records"), "{ended:?}");
    room.done("load u.db in.csv --schema s.sql --null-value - --max-rejects 6 --progress none");
}

/// Records of several files are numbered file by file.
#[test]
fn rejects_of_several_files_name_their_file() {
    let room = Room::new();
    room.write("a.csv", "id,x\n1,one\n2,two\n");
    room.write("b.csv", "id,x\n3,three\n1,again\n");
    room.done("load t.db a.csv b.csv --table t --primary-key id --rejects wrong.csv --progress none");
    assert_eq!(places(&room, "wrong.csv"), ["b.csv,t,2,3,id,1"]);
    assert_eq!(room.query("t.db", "SELECT * FROM t"), "1|one\n2|two\n3|three");
}

/// A broken CHECK was told with the rowid alone: no file, no line.
#[test]
fn a_broken_check_is_told_with_file_record_and_line() {
    let room = Room::new();
    room.write("s.sql", "CREATE TABLE data (name, flag INT CHECK (flag IN (0, 1)));");
    room.write("data.csv", "name,flag\na,0\nb,1\n\"c\nd\",1\ne,5\nf,6\n");
    let ended = room.run("load t.db data.csv --schema s.sql --progress none");
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.err.contains("data.csv:6:1: table data: record 4: ") && ended.err.contains("flag IN (0, 1)"),
        "{ended:?}"
    );
    assert_eq!(room.files(), ["data.csv", "s.sql"]);
}

/// `--on-conflict replace` beside rejects: one record that broke a CHECK turned the replacing off. Stale rows stayed, and rows that
/// should have replaced them were rejected.
#[test]
fn a_rejected_record_leaves_the_replacing_of_others_alone() {
    let room = Room::new();
    let define = "CREATE TABLE t (id INTEGER PRIMARY KEY, a NOT NULL DEFAULT 'none', b INT CHECK (b > 0))";
    room.write("s.sql", format!("{define};"));
    room.write("t.csv", "id,a,b\n1,new,10\n3,bad,-5\n2,new,20\n1,newer,30\n2,,40\n");
    let replaced = "1|newer|30\n2|none|40";
    let load = "t.csv --table t --null-value= --on-conflict replace --rejects wrong.csv --overwrite --progress none";
    room.sqlite("old.db")
        .execute_batch(&format!("{define}; INSERT INTO t VALUES (1, 'old', 1), (2, 'old', 2)"))
        .unwrap();
    for (target, how) in [("new.db", "--schema s.sql"), ("old.db", "--append")] {
        let load = if how == "--append" { load.replace(" --overwrite", "") } else { load.to_owned() };
        let _unless_first = std::fs::remove_file(room.path("wrong.csv"));
        room.done(&format!("load {target} {load} {how}"));
        assert_eq!(room.query(target, "SELECT * FROM t"), replaced, "{how}");
        assert_eq!(places(&room, "wrong.csv"), ["t.csv,t,2,3,,"], "{how}");
    }
    let plan = room.done(
        "plan new.db t.csv --schema s.sql --table t --null-value= --on-conflict replace --on-error reject --overwrite",
    );
    assert!(plan.contains("b > 0"), "{plan}");
}

/// `--on-conflict ignore` dropped rows without a count.
#[test]
fn rows_of_a_repeated_key_are_counted_and_written_down() {
    let room = Room::new();
    room.write("in.csv", "id,x\n1,a\n2,b\n1,c\n2,d\n");
    for policy in ["ignore", "replace"] {
        let load = format!("load {policy}.db in.csv --primary-key id --on-conflict {policy} --progress none");
        let summary = json(&room.done(&format!("{load} --json")));
        assert_eq!((&summary["rows"], &summary["ignored"], &summary["rejected"]), (&2.into(), &2.into(), &0.into()));
        let text = room.done(&format!("{load} --overwrite"));
        assert!(text.contains("2 rows") && text.contains(&format!("--on-conflict {policy}")), "{text}");
    }
    let load = "load w.db in.csv --primary-key id --on-conflict ignore --rejects wrong.csv --progress none --json";
    let summary = json(&room.done(load));
    assert_eq!((&summary["rows"], &summary["ignored"], &summary["rejected"]), (&2.into(), &0.into(), &2.into()));
    assert_eq!(places(&room, "wrong.csv"), ["in.csv,in,3,4,id,1", "in.csv,in,4,5,id,2"]);
    assert!(std::fs::read(room.path("w.db")).unwrap() == std::fs::read(room.path("ignore.db")).unwrap());
    room.write("s.sql", "CREATE TABLE \"in\" (id, x NOT NULL);");
    let load = "load n.db in.csv --schema s.sql --null-value b --on-conflict ignore --progress none --json";
    assert_eq!(json(&room.done(load))["ignored"], 1);
    let summary = json(&room.done(&format!("{load} --overwrite --rejects null.csv")));
    assert_eq!((&summary["rows"], &summary["ignored"], &summary["rejected"]), (&3.into(), &0.into(), &1.into()));
    assert_eq!(places(&room, "null.csv"), ["in.csv,in,2,3,,"]);
    assert_eq!(room.query("n.db", "SELECT rowid, id FROM \"in\""), "1|1\n2|1\n3|2");
}

/// A failed run left a file with the header alone, and no later run replaced it.
#[test]
fn a_failed_run_leaves_no_rejects_and_overwrite_replaces_them() {
    let room = Room::new();
    room.write("in.csv", "id,x\n1,a\n2\n3,c\n4\n");
    let ended = room.run("load t.db in.csv --rejects wrong.csv --max-rejects 1 --progress none");
    assert_eq!((ended.code, room.files()), (Some(1), vec!["in.csv".to_owned()]));
    let load = "load t.db in.csv --rejects wrong.csv --progress none";
    room.done(load);
    std::fs::remove_file(room.path("t.db")).unwrap();
    let ended = room.run(load);
    assert!(ended.code == Some(1) && ended.err.contains("--overwrite"), "{ended:?}");
    room.done(&format!("{load} --overwrite"));
    assert_eq!(places(&room, "wrong.csv"), ["in.csv,in,2,3,,'2'", "in.csv,in,4,5,,'4'"]);
    for same in ["in.csv", "t.db", "./t.db", "t.db-wal"] {
        let ended = room.run(&format!("load t.db in.csv --rejects {same} --overwrite --progress none"));
        assert!(ended.code != Some(0) && ended.err.contains("--rejects"), "{same}: {ended:?}");
    }
    for same in ["./new.db", "new.db-journal"] {
        let ended = room.run(&format!("load new.db in.csv --rejects {same} --overwrite --progress none"));
        assert!(ended.code == Some(2) && !room.path("new.db").exists(), "{same}: {ended:?}");
    }
    assert_eq!(room.query("t.db", "SELECT count(*) FROM \"in\""), "2");
}

/// Only the reader of a file knows lines, so an error that came later named the record alone: a key that exists, a CHECK, a geometry.
#[test]
fn a_row_that_is_refused_later_is_told_with_its_line() {
    let room = Room::new();
    let place = |command: &str| {
        let ended = room.run(&format!("{command} --progress none"));
        assert_eq!(ended.code, Some(1), "{command}: {}", ended.err);
        ended.err.trim_start_matches("error: ").split(": ").next().unwrap_or_default().to_owned()
    };
    room.write("one.csv", "id,a\n7,x\n");
    // A record of two lines, and a line without a record.
    room.write("two.csv", "id,a\n1,\"x\ny\"\n\n2,x\n1,z\n");
    room.write("two.json", "[{\"id\": 1},\n{\"id\": 2}, {\"id\": 3},\n\n{\"id\": 2}]");
    // Several pieces, and more than one batch in each.
    let long: Vec<String> = (0..1_500_000).chain([5]).map(|id| format!("{id}\n")).collect();
    room.write("long.csv", format!("id\n{}", long.concat()));
    for (files, told) in [
        ("two.csv", "two.csv:6:1"),
        ("one.csv two.csv", "two.csv:6:1"),
        ("two.json", "two.json:4:1"),
        ("long.csv", "long.csv:1500002:1"),
    ] {
        assert_eq!(place(&format!("load new.db {files} --table t --primary-key id")), told, "{files}");
        room.sqlite("old.db")
            .execute_batch("DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            .unwrap();
        assert_eq!(place(&format!("load old.db {files} --table t --append")), told, "{files}");
    }
    room.write("s.sql", "CREATE TABLE t (id INT CHECK (id < 8), a)");
    room.write("two.csv", "id,a\n1,\"x\ny\"\n9,z\n");
    assert_eq!(place("load new.db one.csv two.csv --table t --schema s.sql"), "two.csv:4:1");
}

/// A wrong box of a new R-Tree ended the run: its rows were not among those that SQLite is asked about.
#[test]
fn wrong_boxes_are_left_out() {
    let room = Room::new();
    room.write("r.sql", "CREATE VIRTUAL TABLE r USING rtree(id, a, b, +name);");
    room.write("r.csv", "id,a,b,name\n1,1,2,x\n2,5,3,y\n3,1,1,z\n1,1,3,w\n");
    room.done("load r.db r.csv --schema r.sql --on-error reject --rejects wrong.csv");
    assert_eq!(room.query("r.db", "SELECT id, a, b, name FROM r ORDER BY id"), "1|1|2|x\n3|1|1|z");
    let wrong = std::fs::read_to_string(room.path("wrong.csv")).expect("rejects");
    let lines: Vec<&str> = wrong.lines().skip(1).collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("r.csv,r,2,3,") && lines[1].starts_with("r.csv,r,4,5,"),
        "{wrong}"
    );
    assert_eq!(room.query("r.db", "SELECT rtreecheck('r')"), "ok");
}

/// The first pass closed the databases that it read, and the second one failed: "the database was closed".
#[test]
fn rows_of_a_database_are_rejected_as_those_of_other_files() {
    let room = Room::new();
    room.sqlite("a.db").execute_batch("CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)").unwrap();
    room.write("t.csv", "a\n1\n3\n");
    let make = "DROP TABLE IF EXISTS t; CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (1)";
    for (files, rejected) in [("a.db", 1), ("a.db t.csv", 2), ("t.csv a.db", 2)] {
        for rejecting in ["--on-error reject", "--rejects wrong.csv"] {
            room.sqlite("t.db").execute_batch(make).unwrap();
            let load = format!("load t.db {files} --append {rejecting} --progress none --json");
            let summary = json(&room.done(&load));
            assert_eq!(summary["rejected"], rejected, "{load}");
            assert_eq!(room.query("t.db", "SELECT a FROM t WHERE a < 3 ORDER BY a"), "1\n2", "{load}");
        }
        assert_eq!(places(&room, "wrong.csv").len(), rejected, "{files}");
        std::fs::remove_file(room.path("wrong.csv")).unwrap();
    }
}
