//! `litepress load --split-by`: a database of each value.

use crate::{LITEPRESS, Room, json};
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Writes `app.csv`: `rows` rows of `tenants` tenants, which come in turns.
fn write_rows(room: &Room, rows: usize, tenants: usize) {
    let mut text = "id,tenant,amount\n".to_owned();
    (0..rows).for_each(|row| writeln!(text, "{row},t{},{}", row % tenants, row * 3).expect("a text"));
    room.write("app.csv", text);
}

fn names(room: &Room, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(room.path(folder)).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

#[test]
fn each_value_gets_a_database_of_the_same_schema() {
    let room = Room::new();
    room.write("a.csv", "tenant,n\nDE,1\nde,2\nNA,3\nDE,x\na/../b,5\n");
    room.write("b.ndjson", "{\"tenant\":\"DE\",\"m\":0.5}\n{\"tenant\":\"new\",\"m\":1}\n");
    let text = room.done("load out a.csv b.ndjson --null-value NA --split-by TENANT --index n --progress none");
    assert!(text.contains("5 databases, one for each value of TENANT, the largest: +d+e.db, 3 rows"), "{text}");
    assert_eq!(names(&room, "out"), ["%null.db", "+d+e.db", "a%2f..%2fb.db", "de.db", "new.db"]);
    let schema = room.query("out/de.db", "SELECT sql FROM sqlite_schema");
    for name in names(&room, "out") {
        assert_eq!(room.query(&format!("out/{name}"), "PRAGMA integrity_check"), "ok");
        assert_eq!(room.query(&format!("out/{name}"), "SELECT sql FROM sqlite_schema"), schema);
    }
    assert_eq!(room.query("out/+d+e.db", "SELECT rowid, * FROM a"), "1|DE|1\n2|DE|x");
    assert_eq!(room.query("out/+d+e.db", "SELECT * FROM b"), "DE|0.5");
    assert_eq!(room.query("out/new.db", "SELECT (SELECT count(*) FROM a), count(*) FROM b"), "0|1");
    let report = json(&room.done("load out a.csv --split-by n --overwrite --json --verify full"));
    assert_eq!(report["split"]["databases"], 5);
    assert_eq!((&report["rows"], &report["file"]), (&5.into(), &"out".into()));
    assert_eq!(names(&room, "out"), ["1.db", "2.db", "3.db", "5.db", "x.db"]);
    assert_eq!(room.files(), ["a.csv", "b.ndjson", "out"]);
}

#[test]
fn mistakes_leave_the_folder_as_it_was() {
    let room = Room::new();
    write_rows(&room, 100, 3);
    room.done("load out app.csv --split-by tenant --progress none");
    std::fs::create_dir(room.path("keep")).unwrap();
    room.write("keep/mine.txt", "x");
    std::fs::create_dir(room.path("marked")).unwrap();
    room.write("marked/.gitkeep", "");
    let before = std::fs::read(room.path("out/t1.db")).unwrap();
    for (arguments, message) in [
        ("load out app.csv --split-by tenant", "the folder exists and holds 3 files"),
        ("load keep app.csv --split-by tenant --overwrite", "holds more than databases"),
        ("load marked app.csv --split-by tenant --overwrite", "holds more than databases: 'marked/.gitkeep'"),
        ("load app.csv app.csv --split-by tenant", "the target is"),
        ("load out app.csv --split-by x --overwrite", "there is no column 'x'"),
        ("load out app.csv --split-by tenant --append", "--append is for one database"),
        ("load out app.csv --split-by tenant --geometry id,amount", "--geometry is for one database"),
        (
            "load out app.csv --split-by tenant --on-conflict ignore --rejects r.csv",
            "--split-by does not list the rows",
        ),
        ("load out out/t1.db --split-by id --overwrite", "the file is in the target folder"),
        ("load no/out app.csv --split-by tenant", "no"),
        ("plan out out/t1.db --split-by id --overwrite", "the file is in the target folder"),
        ("plan app.csv --split-by x", "there is no column 'x'"),
    ] {
        let ended = room.run(arguments);
        assert!(ended.code.is_some_and(|code| code > 0) && ended.err.contains(message), "{arguments}: {ended:?}");
    }
    assert_eq!(room.files(), ["app.csv", "keep", "marked", "out"]);
    assert_eq!(std::fs::read(room.path("out/t1.db")).unwrap(), before);
    let plan = room.done("plan out app.csv --split-by tenant --overwrite");
    assert!(plan.contains("--split-by makes a database of each value"), "{plan}");
}

/// Keys are unique in each database. A key that is there twice is an error that names the database.
#[test]
fn keys_are_those_of_one_database() {
    let room = Room::new();
    room.write("a.csv", "tenant,n\na,1\nb,1\na,2\n");
    room.done("load out a.csv --split-by tenant --unique n --progress none");
    room.write("a.csv", "tenant,n\na,1\nb,1\na,2\nb,7\nb,1\n");
    let ended = room.run("load two a.csv --split-by tenant --unique n");
    assert!(ended.err.contains("two/b.db: table a: UNIQUE constraint failed: a.n"), "{ended:?}");
    let ended = room.run("load two a.csv --split-by tenant --primary-key n");
    assert!(ended.err.contains("a.csv") && ended.err.contains("records 2 and 5"), "{ended:?}");
    let ended = room.run("load two a.csv --split-by tenant --primary-key n --on-error reject");
    assert!(ended.err.contains("are not rejected"), "{ended:?}");
    room.done("load two a.csv --split-by tenant --primary-key n --on-conflict ignore --progress none");
    assert_eq!(room.query("two/b.db", "SELECT group_concat(n) FROM a"), "1,7");
    assert_eq!(room.files(), ["a.csv", "out", "two"]);
}

/// Files and memory are bounded however many values there are, and however they lie.
#[test]
fn many_values_need_few_files_and_little_memory() {
    let room = Room::new();
    write_rows(&room, 60_000, 6000);
    let run = format!(
        "ulimit -n 64 && exec '{LITEPRESS}' load out app.csv --split-by tenant --memory 64MiB --sync off --json"
    );
    let ended = Command::new("sh").args(["-c", &run]).current_dir(room.path("")).output().expect("a shell");
    assert!(ended.status.success(), "{ended:?}");
    let report = json(&String::from_utf8(ended.stdout).expect("UTF-8"));
    assert_eq!((&report["split"]["databases"], &report["rows"]), (&6000.into(), &60_000.into()));
    assert!(report["peak_memory_bytes"].as_u64().expect("a number") < 150 << 20, "{report}");
    assert_eq!(names(&room, "out").len(), 6000);
    assert_eq!(room.query("out/t77.db", "SELECT count(*), min(id), sum(amount) FROM app"), "10|77|812310");
}

#[test]
fn a_killed_run_leaves_the_old_set_or_the_new_one() {
    let room = Room::new();
    write_rows(&room, 20_000, 400);
    room.done("load out app.csv --split-by tenant --limit 3 --progress none");
    for pause in [20, 60, 120, 250] {
        let mut command = room.command("load out app.csv --split-by tenant --progress none --overwrite");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().expect("a process");
        child.wait().expect("its end");
        let found = names(&room, "out").len();
        assert!([3, 400].contains(&found), "{found} after {pause} ms");
    }
    room.done("load out app.csv --split-by tenant --overwrite --progress none");
    assert_eq!(names(&room, "out").len(), 400);
    assert_eq!(room.files(), ["app.csv", "out"], "what the killed runs left is gone");
}
