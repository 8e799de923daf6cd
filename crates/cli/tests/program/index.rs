//! `litepress index` and `litepress reindex`.

use crate::{LITEPRESS, Room, json};
use std::process::{Command, Output};

const APP: &str = "
    CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT, area INTEGER, note TEXT COLLATE NOCASE);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO event SELECT i, date('2024-01-01', (i % 300) || ' days'), i % 17, 'Note ' || (i % 40) FROM n;
    CREATE INDEX event_day ON event (day);";

fn room(mode: &str) -> Room {
    let room = Room::new();
    room.sqlite("app.db").execute_batch(&format!("PRAGMA journal_mode = {mode}; {APP}")).expect("a database");
    room
}

/// Runs a command whose arguments have blanks.
fn run(room: &Room, arguments: &[&str]) -> Output {
    Command::new(LITEPRESS).args(arguments).current_dir(room.path("")).output().expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// 26 indexes of a table took 32 minutes, one after another, and nobody could write meanwhile.
#[test]
fn indexes_are_made_while_a_reader_is_connected() {
    for mode in ["wal", "delete"] {
        let room = room(mode);
        let reader = room.sqlite("app.db");
        let count = |sql: &str| reader.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM event"), 5000);
        let statements = [
            "CREATE INDEX area ON event (area, day DESC)",
            "CREATE UNIQUE INDEX n ON event (note, id)",
            "CREATE INDEX w ON event (abs(area))",
        ];
        let done = run(&room, &["index", "app.db", statements[0], statements[1], statements[2], "--json"]);
        assert!(done.status.success(), "{done:?}");
        let report = json(&text(&done.stdout));
        assert_eq!(report["rows_read"], 5000, "{report}");
        let routes: Vec<_> =
            report["indexes"].as_array().unwrap().iter().map(|index| index["route"].as_str().unwrap()).collect();
        assert_eq!(routes, ["pages", "pages", "pages"], "{report}");
        assert_eq!(report["indexes"][0]["entries"], 5000);
        assert_eq!(report["indexes"][2]["entries"], 5000);
        assert_eq!(count("SELECT count(*) FROM event INDEXED BY area WHERE area = 3"), 294);
        assert_eq!(room.query("app.db", "PRAGMA integrity_check"), "ok");
        let again = run(&room, &["reindex", "app.db", "event", "-v"]);
        assert!(again.status.success() && text(&again.stdout).contains("4 indexes in app.db"), "{again:?}");
        assert_eq!(room.query("app.db", "PRAGMA integrity_check"), "ok");
    }
}

#[test]
fn the_summary_has_three_lines() {
    let room = room("wal");
    let done = run(
        &room,
        &["index", "app.db", "CREATE INDEX a ON event (area)", "CREATE INDEX IF NOT EXISTS event_day ON event (day)"],
    );
    let shown = text(&done.stdout);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert_eq!(lines[0], "index event_day exists already");
    assert!(lines[1].starts_with("1 index in app.db: 5,000 entries, ") && lines[1].ends_with(" written"), "{shown}");
    assert!(lines[2].contains("other programs could not write for") && lines[3].starts_with("COMMIT took"), "{shown}");
    let nothing = run(&room, &["index", "app.db", "CREATE INDEX IF NOT EXISTS a ON event (area)"]);
    assert_eq!(text(&nothing.stdout), "index a exists already\nnothing to do\n");
    let quiet = run(&room, &["index", "app.db", "CREATE INDEX q ON event (area)", "--quiet"]);
    assert!(quiet.status.success() && quiet.stdout.is_empty(), "{quiet:?}");
}

#[test]
fn a_mistake_changes_nothing() {
    let room = room("delete");
    let before = std::fs::read(room.path("app.db")).unwrap();
    for (arguments, code, words) in [
        (vec!["index", "app.db", "CREATE UNIQUE INDEX u ON event (area)"], 1, "UNIQUE constraint failed: event.area"),
        (vec!["index", "app.db", "CREATE INDEX event_day ON event (id)"], 1, "index event_day already exists"),
        (vec!["index", "app.db", "DROP TABLE event"], 2, "only CREATE INDEX is possible here"),
        (vec!["index", "absent.db", "CREATE INDEX a ON t (a)"], 1, "cannot open the database"),
        (vec!["index", "app.db"], 2, "required"),
        (vec!["reindex", "app.db", "absent"], 2, "no table or index absent"),
    ] {
        let failed = run(&room, &arguments);
        assert_eq!(failed.status.code(), Some(code), "{failed:?}");
        assert!(text(&failed.stderr).contains(words), "{arguments:?}: {failed:?}");
    }
    assert!(std::fs::read(room.path("app.db")).unwrap() == before);
    let writer = room.sqlite("app.db");
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = run(&room, &["index", "app.db", "CREATE INDEX a ON event (area)", "--busy-timeout", "0.1"]);
    assert_eq!(busy.status.code(), Some(1));
    assert!(text(&busy.stderr).contains("--busy-timeout"), "{busy:?}");
}

/// A name of the rowid in double quotes is a text in the key of an index, and the rowid in its WHERE and in a CHECK. Each was taken for
/// the other one, and the database was corrupt.
#[test]
fn names_of_the_rowid_in_double_quotes_mean_what_they_mean_to_sqlite() {
    let room = Room::new();
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i, i * 7 % 100 FROM n;";
    let table = "CREATE TABLE t (a, b, CHECK (date(a, 'unixepoch') IS NULL OR \"rowid\" > 0))";
    let [key, partial] = [
        "CREATE INDEX key ON t (\"rowid\", b || \"OID\")",
        "CREATE INDEX partial ON t (b) WHERE date(b) > '' AND \"oid\" > 100",
    ];
    room.sqlite("app.db").execute_batch(&format!("{table}; {rows}")).unwrap();
    let is_sound = |name: &str| {
        assert_eq!(room.query(name, "PRAGMA integrity_check"), "ok", "{name}");
        assert_eq!(
            room.query(name, "SELECT count(*) FROM t INDEXED BY partial WHERE date(b) > '' AND \"oid\" > 100"),
            "400"
        );
    };
    assert!(run(&room, &["index", "app.db", key, partial]).status.success());
    is_sound("app.db");
    room.done("reindex app.db");
    is_sound("app.db");
    room.done("load copy.db app.db");
    is_sound("copy.db");
    room.done("compact app.db small.db");
    is_sound("small.db");
    room.write("schema.sql", format!("{table}; {key}; {partial};"));
    room.done("generate made.db schema.sql --rows 500");
    assert_eq!(room.query("made.db", "PRAGMA integrity_check"), "ok");
    let unique = run(&room, &["index", "app.db", "CREATE UNIQUE INDEX u ON t (\"rowid\")"]);
    assert!(text(&unique.stderr).contains("UNIQUE constraint failed"), "{unique:?}");
    room.write("t.csv", "a,b\n5,5\n");
    room.write("refused.sql", "CREATE TABLE t (a, b, CHECK (date(a) IS NULL OR \"rowid\" > 5))");
    let refused = room.run("load refused.db t.csv --schema refused.sql");
    assert!(refused.code == Some(1) && refused.err.contains("CHECK"), "{refused:?}");
}
