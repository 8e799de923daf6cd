//! Mistakes of the user: the message names them, the exit code fits, and neither target nor temporary file stays.

use crate::{Ended, LITEPRESS, Room};
use std::process::{Command, Stdio};

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);\n";

/// One mistake: schema, arguments, exit code, parts of standard error.
type Case = (&'static str, &'static str, i32, &'static [&'static str]);

fn expect(room: &Room, arguments: &str, code: i32, parts: &[&str]) -> Ended {
    let before = room.files();
    let ended = room.run(arguments);
    assert_eq!(ended.code, Some(code), "{arguments}: {ended:#?}");
    assert!(ended.err.starts_with("error: "), "{arguments}: {ended:#?}");
    for part in parts {
        assert!(ended.err.contains(part), "{arguments}, {part}: {ended:#?}");
    }
    assert_eq!(ended.out, "", "{arguments}");
    assert_eq!(room.files(), before, "{arguments}");
    ended
}

fn expect_all(cases: &[Case]) {
    for (sql, arguments, code, parts) in cases {
        expect(&Room::with_schema(sql), arguments, *code, parts);
    }
}

#[test]
fn schemas() {
    const GEN: &str = "generate t.db schema.sql --rows 10";
    expect_all(&[
        (
            "CREATE TABLE t (a);\nCREATE TABEL u (b);",
            GEN,
            1,
            &["schema.sql:2:8", "TABEL", "\n2 | CREATE TABEL", "\n  |        ^"],
        ),
        ("CREATE TABLE t (a", GEN, 1, &["schema.sql:1", "incomplete input"]),
        ("CREATE TABLE t (a); CREATE TABLE t (b)", GEN, 1, &["already exists"]),
        ("ATTACH 'x.db' AS x;", GEN, 1, &["schema.sql:1:1", "ATTACH"]),
        ("CREATE TABLE t (a); INSERT INTO t VALUES (1)", GEN, 1, &["schema.sql:1:21", "INSERT"]),
        ("CREATE TABLE t (a); SELECT load_extension('x')", GEN, 1, &["load_extension"]),
        ("CREATE TABLE t (a); SELECT 1", GEN, 1, &["query"]),
        ("CREATE TABLE t AS SELECT 1 AS a", GEN, 1, &["holds no rows"]),
        ("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a)", GEN, 1, &["encoding"]),
        ("PRAGMA auto_vacuum = FULL; CREATE TABLE t (a)", GEN, 1, &["auto_vacuum"]),
        ("PRAGMA writable_schema = 1; CREATE TABLE t (a)", GEN, 1, &["writable_schema"]),
        ("CREATE VIEW v AS SELECT 1;", GEN, 2, &["no table"]),
        (
            "CREATE TABLE t (a INT UNIQUE ON CONFLICT IGNORE)",
            "generate --discard schema.sql --rows 10",
            1,
            &["SQLite has a part"],
        ),
    ]);
}

#[test]
fn annotations_and_rows() {
    const GEN: &str = "generate t.db schema.sql --rows 10";
    expect_all(&[
        (
            "CREATE TABLE t (\n  a TEXT -- gen: digit(6)\n);",
            GEN,
            1,
            &[
                "schema.sql:2:18",
                "t.a",
                "'digit'",
                "did you mean 'digits'",
                "\n2 |   a TEXT -- gen: digit(6)",
                "\n  |                  ^",
                "\nhelp: ",
            ],
        ),
        ("CREATE TABLE t (\n  a TEXT -- gen: digits('x')\n);", GEN, 1, &["schema.sql:2:25", "digits"]),
        ("CREATE TABLE t (\n  a INT NOT NULL -- gen: null(0.5, int(1, 2))\n);", GEN, 1, &["t.a", "NOT NULL"]),
        ("CREATE TABLE t (\n  a INT UNIQUE -- gen: int(1, 5)\n);", GEN, 1, &["t.a"]),
        (
            TABLE,
            "generate t.db schema.sql --rows 10 --set a=digit(6)",
            1,
            &["--set t.a", "'digit'", "\n1 | digit(6)", "| ^"],
        ),
        (TABLE, "generate t.db schema.sql --rows 10 --set t.z=uuid", 2, &["'z'"]),
        (TABLE, "generate t.db schema.sql --rows 10 --set u.a=uuid", 2, &["'u'"]),
        (TABLE, "generate t.db schema.sql --rows 10 --set a=uuid --set t.a=word", 2, &["twice"]),
        (TABLE, "generate t.db schema.sql --rows 10 --set a", 2, &["--set"]),
        (TABLE, "generate t.db schema.sql --rows u=10", 2, &["'u'"]),
        (TABLE, "generate t.db schema.sql --rows 10 --rows t=20", 2, &["twice"]),
        (TABLE, "generate t.db schema.sql", 2, &["table t", "--rows t=N"]),
        (TABLE, "generate t.db schema.sql --rows ten", 2, &["'ten'", "--rows"]),
        ("CREATE TABLE t (a); CREATE TABLE u (a);", "generate t.db schema.sql", 2, &["t, u", "--rows N for all"]),
        ("CREATE TABLE t (a); CREATE TABLE u (a);", "generate t.db schema.sql --rows 1 --rows 2", 2, &["twice"]),
        (
            "CREATE TABLE t (a); CREATE TABLE u (a);",
            "generate t.db schema.sql --rows t=1 --rows u=1 --set a=uuid",
            2,
            &["--set a", "TABLE.a"],
        ),
    ]);
}

#[test]
fn options_and_names() {
    expect_all(&[
        (TABLE, "generate", 2, &["no database"]),
        (TABLE, "generate t.db", 2, &["no schema", "--preset"]),
        (TABLE, "generate t.db schema.sql --preset user", 2, &["--preset"]),
        (TABLE, "generate t.db --preset nobody", 2, &["'nobody'", "user"]),
        ("", "generate t.db schema.sql", 1, &["schema.sql", "defines nothing", "CREATE"]),
        ("-- later;", "plan schema.sql", 1, &["defines nothing"]),
        (TABLE, "generate schema.sql t.db --rows 1", 2, &["schema.sql", "did you mean 't.db schema.sql'?"]),
        (TABLE, "generate :memory: schema.sql --rows 1", 2, &[":memory:", "--discard"]),
        (TABLE, "generate - schema.sql --rows 1", 2, &["standard output"]),
        (TABLE, "generate .. schema.sql --rows 1", 2, &["'..'"]),
        (TABLE, "generate t.db none.sql --rows 1", 1, &["none.sql"]),
        (TABLE, "generate t.db . --rows 1", 1, &["cannot read the schema"]),
        (TABLE, "generate t.db schema.sql --rows 1 --page-size 1000", 2, &["'1000'", "power of two"]),
        (TABLE, "generate t.db schema.sql --rows 1 --page-size 128KiB", 2, &["65536"]),
        (TABLE, "generate t.db schema.sql --rows 1 --threads 0", 2, &["--threads"]),
        (TABLE, "generate t.db schema.sql --rows 1 --memory 1MiB", 2, &["64.0 MiB"]),
        (TABLE, "generate t.db schema.sql --rows 1 --sync maybe", 2, &["full", "off"]),
        (TABLE, "generate t.db schema.sql --rows 1 --discard --verify full", 2, &["--verify"]),
        (TABLE, "generate t.db schema.sql --rows 1 --frobnicate", 2, &["--frobnicate"]),
        (TABLE, "frobnicate", 2, &["frobnicate"]),
    ]);
    let room = Room::new();
    room.write("schema.sql", b"CREATE TABLE t (a \xff);");
    expect(&room, "generate t.db schema.sql --rows 1", 1, &["schema.sql", "UTF-8"]);
}

#[test]
fn targets() {
    let room = Room::with_schema(TABLE);
    const GEN: &str = "generate t.db schema.sql --rows 10";
    expect(
        &room,
        "generate none/t.db schema.sql --rows 1",
        1,
        &["none/t.db", "no folder 'none'", "help: make the folder"],
    );
    expect(&room, "generate /proc/t.db schema.sql --rows 1", 1, &["/proc/t.db"]);
    expect(&room, "generate t.db schema.sql --rows 1000b", 1, &["bytes free"]);
    room.done(GEN);
    expect(&room, GEN, 1, &["t.db", "exists", "help: ", "--overwrite"]);
    room.done("generate t.db schema.sql --rows 11 --overwrite");
    assert_eq!(room.query("t.db", "SELECT count(*) FROM t"), "11");

    let reader = room.sqlite("t.db");
    reader.execute_batch("BEGIN; SELECT * FROM t;").unwrap();
    expect(&room, "generate t.db schema.sql --rows 12 --overwrite", 1, &["t.db", "in use"]);
    drop(reader);
    room.write("t.db-wal", "frames");
    expect(&room, "generate t.db schema.sql --rows 12 --overwrite", 1, &["t.db-wal", "help: "]);
    std::fs::remove_file(room.path("t.db-wal")).unwrap();
    assert_eq!(room.query("t.db", "SELECT count(*) FROM t"), "11");

    room.write("text.db", "this is not a database, and somebody may miss it");
    expect(&room, "generate text.db schema.sql --rows 1 --overwrite", 1, &["text.db", "not a SQLite database"]);
    std::fs::create_dir(room.path("folder.db")).unwrap();
    expect(&room, "generate folder.db schema.sql --rows 1 --overwrite", 1, &["folder.db", "not a regular file"]);
}

/// A limit on file sizes makes a write fail in the middle, as a full disk does. It killed the program, and the temporary file
/// stayed.
#[test]
fn a_write_that_fails_in_the_middle() {
    let room = Room::new();
    let script = "ulimit -f 2000; exec \"$0\" generate u.db --preset user --rows 1m --progress none";
    let ended: Ended = Command::new("sh")
        .args(["-c", script, LITEPRESS])
        .current_dir(room.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(ended.err.starts_with("error: u.db: ") && ended.err.contains("cannot write"), "{ended:#?}");
    assert_eq!(room.files(), Vec::<String>::new());
}

/// The name of the temporary file was too long.
#[test]
fn long_names() {
    for name in ["n".repeat(252), "ü".repeat(126)] {
        let room = Room::new();
        let ended: Ended =
            room.command("generate --preset user --rows 10").arg(format!("{name}.db")).output().unwrap().into();
        assert_eq!(ended.code, Some(0), "{ended:#?}");
        assert_eq!(room.files(), [format!("{name}.db")]);
        room.done(&format!("check {name}.db"));
    }
}

/// Thousands of tables of a small file had one tree: a copy of it had that tree for each of them.
#[test]
fn tables_that_share_a_tree_are_refused() {
    let room = Room::new();
    let sql = "CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA writable_schema = ON;
               INSERT INTO sqlite_schema SELECT type, 'u', 'u', rootpage, 'CREATE TABLE u (a)' FROM sqlite_schema";
    room.sqlite("s.db").execute_batch(sql).unwrap();
    for command in ["compact s.db", "merge m.db s.db", "load l.db s.db", "profile s.db"] {
        let ended = room.run(command);
        let told = ended.err.contains("t and u have the same root page, 2");
        assert!(ended.code == Some(1) && told, "{command}: {ended:?}");
    }
    assert_eq!(room.files(), ["s.db"]);
}
