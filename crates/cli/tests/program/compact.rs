//! `litepress compact`.

use crate::{LITEPRESS, Room, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TABLES: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE); CREATE INDEX i ON t (a, id); CREATE VIEW v AS SELECT 1;";

fn room(rows: &str) -> Room {
    let room = Room::with_schema(TABLES);
    room.done(&format!("generate t.db schema.sql --rows {rows}"));
    room
}

#[test]
fn the_summary_has_three_lines() {
    let room = room("2000");
    let text = room.done("compact t.db copy.db");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("copy.db: ") && lines[0].contains("before"), "{text}");
    assert_eq!(lines[2], "2,000 rows in 1 table, 2 indexes");
    let report = json(&room.done("compact t.db --json --page-size 1024 --only t --drop-index i"));
    assert_eq!(
        (&report["rows"], &report["indexes"], &report["page_size_bytes"]),
        (&2000.into(), &1.into(), &1024.into())
    );
    assert_eq!(report["left_out"], serde_json::json!(["view v"]));
    assert_eq!(report["bytes_before"], std::fs::metadata(room.path("copy.db")).expect("the copy").len());
    assert_eq!(room.files(), ["copy.db", "schema.sql", "t.db"]);
    assert_eq!(room.query("t.db", "PRAGMA integrity_check"), "ok");
}

/// Two programs that closed a database at the same moment left its log behind: the program told people to open it with sqlite3.
#[test]
fn a_log_that_was_left_behind_is_applied() {
    let room = room("100");
    let program = room.sqlite("t.db");
    program.execute_batch("PRAGMA journal_mode = WAL; DELETE FROM t WHERE id > 7").expect("a change");
    for end in ["", "-wal"] {
        std::fs::copy(room.path(format!("t.db{end}")), room.path(format!("left.db{end}"))).expect("a copy");
    }
    let in_use = room.run("compact t.db");
    assert!(in_use.code == Some(1) && in_use.err.contains("t.db"), "{in_use:?}");
    room.done("compact left.db");
    assert_eq!(room.query("left.db", "SELECT count(*) || '' FROM t"), "7");
    assert!(!room.files().contains(&"left.db-wal".to_owned()));
    assert_eq!(program.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).expect("rows"), 7);
}

#[test]
fn mistakes_name_the_option() {
    let room = room("10");
    let ended = room.run("compact t.db t2.db --drop-index nothing");
    assert_eq!(
        (ended.code, ended.err.contains("--drop-index nothing: the database has no such index")),
        (Some(2), true)
    );
    room.done("compact t.db t2.db");
    let ended = room.run("compact t.db t2.db");
    assert!(ended.code == Some(1) && ended.err.contains("--overwrite"), "{ended:?}");
    assert_eq!(room.run("compact none.db").code, Some(1));
}

/// The database is lost if a run that is killed leaves half of one.
#[test]
fn a_killed_run_leaves_the_database_whole() {
    let room = room("60k");
    let start = || {
        let mut command = Command::new(LITEPRESS);
        command.args(["compact", "t.db", "--progress", "none"]).current_dir(room.path(""));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program")
    };
    let begun = Instant::now();
    assert!(start().wait().expect("its end").success());
    let whole = begun.elapsed().max(Duration::from_millis(20));
    let mut unfinished = 0;
    for moment in 0..12 {
        let mut child = start();
        std::thread::sleep(whole * moment / 11);
        child.kill().expect("a process");
        let ended = child.wait().expect("its end");
        unfinished += u32::from(!ended.success());
        let files = room.files();
        assert!(
            files.iter().all(|file| ["schema.sql", "t.db"].contains(&file.as_str()) || file.ends_with(".tmp")),
            "{files:?}"
        );
        assert_eq!(room.query("t.db", "PRAGMA integrity_check"), "ok", "killed at {moment}/11");
        assert_eq!(room.query("t.db", "SELECT count(*), count(DISTINCT a) FROM t"), "60000|60000");
    }
    assert!(unfinished >= 4, "{unfinished} of twelve runs were killed before their end");
    room.done("compact t.db");
    assert_eq!(room.files(), ["schema.sql", "t.db"], "the next run cleans up");
}

/// `--only` told nothing of the tables that a view reads, and of those whose texts a full-text table indexes.
#[test]
fn tables_that_views_and_full_text_tables_need_are_told() {
    let room = Room::new();
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE u (b); CREATE TABLE texts (id INTEGER PRIMARY KEY, x);
        CREATE VIEW v AS SELECT t.a, u.b, extension(1) FROM t JOIN u; CREATE VIEW w AS SELECT a FROM V;
        CREATE VIEW broken AS SELECT * FROM gone;
        CREATE VIRTUAL TABLE f USING fts5 (x, content = 'texts', content_rowid = 'id');
        CREATE VIRTUAL TABLE own USING fts5 (texts);";
    room.sqlite("t.db").execute_batch(sql).unwrap();
    for (only, told) in [
        ("--only v", "table t (view v reads it), table u (view v reads it)"),
        ("--only v --only u", "table t (view v reads it)"),
        ("--only w --only v --only t --only u", ""),
        ("--only w", "view v (view w reads it), table t (view w reads it), table u (view w reads it)"),
        ("--only f", "table texts (f has its texts there)"),
        ("--only f --only texts --only own", ""),
        ("--only broken", ""),
        ("--only t", ""),
    ] {
        let report = json(&room.done(&format!("compact t.db copy.db {only} --overwrite --json")));
        let needed = report["left_out"].as_array().unwrap().iter().filter_map(|object| object.as_str());
        let needed: Vec<&str> = needed.filter(|object| object.contains('(')).collect();
        assert_eq!(needed.join(", "), told, "{only}");
    }
}

/// `--without-rowid` broke views and triggers that use rowids: each SELECT and each INSERT failed afterwards.
#[test]
fn rowids_that_views_and_triggers_use_are_kept() {
    let room = Room::new();
    let sql =
        "CREATE TABLE s (a TEXT PRIMARY KEY, b); CREATE TABLE logged (a TEXT PRIMARY KEY, b); CREATE TABLE log (x);
        CREATE TABLE free (a TEXT PRIMARY KEY, b); CREATE VIEW broken AS SELECT * FROM gone;
        CREATE VIEW numbered AS SELECT rowid, * FROM s; CREATE VIEW fine AS SELECT a FROM free;
        CREATE TRIGGER audit AFTER INSERT ON logged BEGIN INSERT INTO log SELECT rowid FROM logged; END;
        CREATE TRIGGER other AFTER INSERT ON free BEGIN INSERT INTO log VALUES (new.a); END;
        INSERT INTO free VALUES ('x', 1);";
    room.sqlite("t.db").execute_batch(sql).unwrap();
    for (tables, why) in [
        ("s", "--without-rowid s: it breaks the view numbered: no such column: rowid"),
        ("logged", "--without-rowid logged: it breaks the trigger audit: no such column: rowid"),
        ("free --without-rowid s", "--without-rowid s: it breaks the view numbered"),
    ] {
        let ended = room.run(&format!("compact t.db copy.db --without-rowid {tables}"));
        assert!(ended.code == Some(2) && ended.err.contains(why), "{tables}: {ended:?}");
    }
    room.done("compact t.db copy.db --without-rowid free");
    room.sqlite("copy.db").execute_batch("INSERT INTO free VALUES ('y', 2)").unwrap();
    assert_eq!(room.query("copy.db", "SELECT (SELECT count(*) FROM fine), (SELECT count(*) FROM log)"), "2|2");
    room.done("compact t.db small.db --without-rowid logged --only logged --quiet");
}
