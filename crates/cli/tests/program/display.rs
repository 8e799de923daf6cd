//! What the program shows: summaries, errors for programs, colours.

use crate::{Room, json};

fn room_with_two_files() -> Room {
    let room = Room::new();
    room.write("a.csv", "id,note\n1,\"Zeile 1\nZeile 2\"\n2,b\n");
    room.write("b.csv", "x\n7\n");
    room
}

/// Two rows gave a summary of more than twelve lines.
#[test]
fn the_summary_has_three_lines() {
    let room = room_with_two_files();
    let out = room.done("load a.db a.csv");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    assert_eq!(
        (lines[0], lines[2]),
        ("a.db: 2 rows in 1 table, 8.19 kB", "columns: id INTEGER, note TEXT; -v shows more")
    );
    assert!(lines[1].starts_with("time:    ") && lines[1].ends_with(" of memory at its peak"), "{out}");
    let out = room.done("load ab.db a.csv b.csv");
    assert!(
        out.starts_with("ab.db: 3 rows in 2 tables, ") && out.ends_with("\ntables:  a 2, b 1; -v shows more\n"),
        "{out}"
    );
    let out = room.done("generate u.db --preset user --rows 2k");
    assert!(out.lines().count() == 3 && out.starts_with("u.db: 2,000 rows in 1 table, "), "{out}");
    let out = room.done("generate --discard --preset user --rows 1");
    assert!(out.starts_with("discarded: 1 row in 1 table, "), "{out}");
    assert_eq!(room.done("check u.db").lines().count(), 1);
}

/// Where the summary could not be written, the error did not say that the database was complete.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_is_all_that_is_missing() {
    let room = room_with_two_files();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a disk that is full");
    let out = room.command("load a.db a.csv").stdout(full).output().expect("the program");
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(1) && error.contains("cannot write the output"), "{error}");
    assert!(error.contains("the database complete: only this summary is missing"), "{error}");
    room.done("check a.db");
}

/// `Name, Vorname` looked like two columns.
#[test]
fn names_with_commas_are_quoted_in_the_summary() {
    let room = Room::new();
    room.write("person.csv", "\"Name, Vorname\",age\nx,1\n");
    let out = room.done("load person.db person.csv");
    assert!(out.ends_with("\ncolumns: \"Name, Vorname\" TEXT, age INTEGER; -v shows more\n"), "{out}");
}

/// `--progress none` did not silence a run, and `--quiet` did not exist.
#[test]
fn quiet_shows_errors_alone() {
    let room = room_with_two_files();
    for arguments in ["load a.db a.csv -q", "generate u.db --preset user --rows 10 --quiet", "check u.db -q"] {
        let ended = room.run(arguments);
        assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""), "{arguments}");
    }
    let failed = room.run("load a.db a.csv -q");
    assert!(failed.code == Some(1) && failed.err.starts_with("error: a.db: "), "{failed:#?}");
    assert_eq!(json(&room.done("load a.db a.csv -q --json --overwrite"))["rows"], 2);
    assert_eq!(room.run("load a.db a.csv -q -v").code, Some(2));
}

/// Tables that SQLite filled had "0 bytes" of records.
#[test]
fn tables_that_sqlite_filled_say_so() {
    let room = room_with_two_files();
    room.write("s.sql", "CREATE TABLE b (x INTEGER UNIQUE, y UNIQUE);");
    let out = room.done("load s.db b.csv --schema s.sql --on-conflict replace -v");
    assert!(out.contains("b         1     by SQLite"), "{out}");
    let report = json(&room.done("load s.db b.csv --schema s.sql --on-conflict replace --overwrite --json"));
    assert!(report["tables"][0]["payload_bytes"].is_null(), "{report}");
}

/// The number of different values of a large table was an estimate that read like a count.
#[test]
fn estimates_are_told() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 200k -q");
    let compared = room.done("compare u.db u.db");
    assert!(compared.starts_with("user: 200,000 rows | 200,000 rows\n"), "{compared}");
    let report = json(&room.done("compare u.db u.db --json"));
    for column in report["tables"][0]["columns"].as_array().expect("columns") {
        let exact = column["distinct_is_exact"][0] == true;
        let line = compared.lines().find(|line| line.starts_with(&format!("  {}:", column["name"].as_str().unwrap())));
        assert_eq!(line.expect("a line").contains("; ~"), !exact, "{column} {line:?}");
    }
}

/// The view of a schema was listed as left out.
#[test]
fn a_view_of_the_schema_is_not_left_out() {
    let room = room_with_two_files();
    room.write("s.sql", "CREATE TABLE b (x INTEGER); CREATE VIEW v AS SELECT x FROM b;");
    let out = room.done("load s.db b.csv --schema s.sql -v");
    assert!(!out.contains("left out"), "{out}");
    assert_eq!(room.query("s.db", "SELECT x FROM v"), "7");
}

/// Messages said "1 rows" and "1 columns".
#[test]
fn one_is_singular() {
    let room = room_with_two_files();
    room.write("wrong.csv", "x\n1\n\"2\"y\n");
    let out = room.done("load w.db wrong.csv --on-error reject");
    assert!(out.starts_with("w.db: 1 row in 1 table, "), "{out}");
    assert!(out.contains("left out 1 wrong record\n"), "{out}");
    assert!(room.done("plan b.db b.csv").contains("table b: 1 row, "));
}

/// A value of two lines broke the table of the summary.
#[test]
fn verbose_tells_reasons_in_one_line_each() {
    let room = room_with_two_files();
    let out = room.done("load a.db a.csv --verbose");
    for part in ["record bytes", "prepare ", "\ntable a\n", "\n  note  TEXT     'Zeile 1\\nZeile 2' in record 1 "] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

/// With `--json` errors were plain text.
#[test]
fn an_error_is_one_json_object() {
    let room = room_with_two_files();
    room.write("t.sql", "CREATE TABLE b (x INTEGER) STRICT;");
    room.write("wrong.csv", "x\n7\nseven\n");
    let ended = room.run("load t.db wrong.csv --table b --schema t.sql --json");
    assert_eq!((ended.code, ended.out.as_str(), ended.err.lines().count()), (Some(1), "", 1), "{ended:#?}");
    let error = json(&ended.err);
    for (name, expected) in [
        ("kind", json("\"constraint\"")),
        ("file", json("\"wrong.csv\"")),
        ("record", json("2")),
        ("line", json("3")),
        ("table", json("\"b\"")),
        ("column", json("\"x\"")),
        ("value", json("\"'seven'\"")),
        ("exit_code", json("1")),
    ] {
        assert_eq!(error[name], expected, "{name}: {error}");
    }
    let help = "leave such records out with --on-error reject, or store NULL with --on-error null";
    assert_eq!(error["help"], help, "{error}");
    for (arguments, kind, code) in [
        ("load t.db missing.csv --json", "io", 1),
        ("check missing.db --json", "io", 1),
        ("generate t.db --preset user --rows many --json", "usage", 2),
        ("load t.db b.csv --jsn --json", "usage", 2),
        ("compare a.db missing.db --json", "io", 1),
    ] {
        let ended = room.run(arguments);
        let error = json(&ended.err);
        assert_eq!((ended.code, error["kind"].as_str()), (Some(code), Some(kind)), "{arguments}: {error}");
        assert!(error["message"].as_str().is_some_and(|message| !message.contains('\u{1b}')), "{error}");
    }
}

/// Colours were those of clap alone; a pipe and NO_COLOR must get none.
#[test]
fn colours_are_for_terminals() {
    let room = Room::new();
    let error = |variables: &[(&str, &str)]| {
        let mut command = room.command("load a.db missing.csv");
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(variables.iter().copied());
        String::from_utf8(command.output().expect("it starts").stderr).expect("UTF-8")
    };
    assert!(error(&[]).starts_with("error: missing.csv"));
    assert!(error(&[("CLICOLOR_FORCE", "1")]).starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m missing.csv"));
    assert!(error(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).starts_with("error: missing.csv"));
}

/// A database of 4,000 tables was replaced: the summary was one line of 60,000 characters.
#[test]
fn long_lists_of_names_are_cut() {
    let room = Room::new();
    let schema: String = (0..50).map(|number| format!("CREATE TABLE t{number} (a);")).collect();
    room.write("s.sql", &schema);
    room.write("in.csv", "a\n1\n");
    room.done("generate t.db s.sql --rows 1 --progress none");
    let text = room.done("load t.db in.csv --overwrite --progress none");
    let dropped = text.lines().find(|line| line.starts_with("dropped: ")).unwrap();
    assert!(dropped.ends_with(" and 30 more: --json lists all") && dropped.len() < 1000, "{dropped}");
}

/// A note showed a NUL of the data as it was.
#[test]
fn notes_have_no_control_characters() {
    let room = Room::new();
    room.write("t.ndjson", "{\"i\":\"5\\u00006\"}\n");
    room.write("s.sql", "CREATE TABLE t (i NUMERIC);");
    let text = room.done("load t.db t.ndjson --schema s.sql --progress none");
    assert!(text.contains("('5\\u{0}6' to 5 in record 1)"), "{text}");
}
