//! `litepress check`.

use crate::{Room, json};

#[test]
fn a_sound_database() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 30k");
    let out = room.done("check u.db --full --threads 2 --memory 64MiB --verbose");
    for part in ["sqlite_schema", "user", "30,000", "ok (", "GB/s", "foreign_key_check: ok"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let report = json(&room.done("check u.db --json"));
    assert_eq!((&report["ok"], &report["faults_total"], &report["sqlite"]), (&true.into(), &0.into(), &().into()));
    assert_eq!(report["btrees"][1]["rows"], 30_000);
}

/// A name wrote lines of its own, and the terminal obeyed what was in it.
#[test]
fn names_stay_on_their_line() {
    let room = Room::new();
    let sql = "CREATE TABLE \"t\n1 fault\u{1b}[31m\" (a CHECK (a > 5)); CREATE TABLE u (a PRIMARY KEY)";
    room.sqlite("n.db").execute_batch(sql).unwrap();
    for command in ["check n.db", "check n.db --full --verbose"] {
        let out = room.done(command);
        assert!(out.contains("t\\n1 fault\\u{1b}[31m") && !out.contains('\u{1b}'), "{out}");
    }
    for command in ["compare n.db n.db", "plan o.db n.db", "plan --merge o.db n.db", "reindex n.db --verbose"] {
        assert!(!room.done(command).contains('\u{1b}'), "{command}");
    }
}

/// The check of a text file printed an empty table of b-trees first.
#[test]
fn a_text_file() {
    let room = Room::new();
    room.write("data.csv", "a,b\n1,2\n");
    let ended = room.run("check data.csv");
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(1), "1 fault (0 pages, 8 bytes)\n  the file has 8 bytes and so no header\n")
    );
}

#[test]
fn one_that_sqlite_made() {
    let room = Room::new();
    let sql = "CREATE TABLE t (a PRIMARY KEY, b) WITHOUT ROWID; CREATE TABLE u (a); CREATE INDEX i ON u(a);
               WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
               INSERT INTO u SELECT v FROM n;
               INSERT INTO t SELECT a, a FROM u;
               DELETE FROM u WHERE a > 1000;";
    room.sqlite("s.db").execute_batch(sql).unwrap();
    let out = room.done("check s.db --full -v");
    assert!(out.contains("on the freelist") && out.contains("index"), "{out}");
}

#[test]
fn a_damaged_one() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 30k");
    let mut bytes = std::fs::read(room.path("u.db")).unwrap();
    for page in 2..60 {
        bytes[page * 4096] = 0x77;
    }
    room.write("u.db", &bytes);
    let ended = room.run("check u.db --max-faults 3");
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(ended.out.contains("page 3") && ended.out.contains("more\n"), "{ended:#?}");
    let ended = room.run("check u.db --json --full");
    assert_eq!(ended.code, Some(1));
    let report = json(&ended.out);
    assert_eq!(report["ok"], false);
    assert!(report["faults_total"].as_u64() >= Some(58) && !report["sqlite"].as_array().unwrap().is_empty());
}

#[test]
fn a_sample() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 300k");
    let out = room.done("check u.db --sample");
    assert!(out.starts_with("ok in a sample (") && out.contains("note: a sample, which is no proof: "), "{out}");
    let report = json(&room.done("check u.db --sample=16 --json"));
    assert!((9..=16).contains(&report["sample"]["leaves_read"].as_u64().unwrap()), "{report}");
    assert!(report["sample"]["leaves"].as_u64() > Some(1000), "{report}");
    for refused in ["check u.db --sample --full", "check u.db --sample --html u.html", "check u.db --sample=none"] {
        assert_eq!(room.run(refused).code, Some(2), "{refused}");
    }
    assert!(room.run("check . --sample").err.contains("a sample is of one database"));
}

#[test]
fn what_is_no_database() {
    let room = Room::new();
    room.write("text.db", "CREATE TABLE t (a);");
    for file in ["text.db", "none.db", "."] {
        let ended = room.run(&format!("check {file}"));
        assert_eq!(ended.code, Some(1), "{file}: {ended:#?}");
        assert!(!ended.out.contains("ok (") && !ended.out.contains("GB/s"), "{file}: {ended:#?}");
        assert!(!ended.err.contains("panicked"), "{file}: {ended:#?}");
    }
    room.write("u.db-wal", "frames");
    room.done("generate v.db --preset user --rows 10");
    std::fs::rename(room.path("v.db"), room.path("u.db")).unwrap();
    let ended = room.run("check u.db");
    assert!(ended.code == Some(1) && ended.err.contains("u.db-wal") && ended.err.contains("help: "), "{ended:#?}");
}

/// These commands waited forever for a writer of the FIFO.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let room = Room::new();
    let made = std::process::Command::new("mkfifo").arg(room.path("fifo")).status().expect("mkfifo");
    assert!(made.success());
    for (command, file, what) in [
        ("check", "fifo", "not a regular file"),
        ("check --full", "/dev/null", "not a regular file"),
        ("check", ".", "neither a manifest nor a database"),
        ("inspect", "fifo", "not a regular file"),
        ("inspect", ".", "a folder"),
        ("profile", "fifo", "not a regular file"),
        ("profile", ".", "a folder"),
        ("merge m.db", "fifo", "not a regular file"),
        ("plan --merge m.db", "fifo", "not a regular file"),
        ("stitch s.db", "fifo", "not a regular file"),
        ("compact", "fifo", "not a regular file"),
        ("index fifo", "t(a)", "not a regular file"),
        ("reindex", "fifo", "not a regular file"),
    ] {
        let ended = room.run(&format!("{command} {file}"));
        assert!(ended.code == Some(1) && ended.err.contains(what), "{command} {file}: {ended:#?}");
    }
    room.sqlite("a.db").execute_batch("CREATE TABLE t (a)").unwrap();
    for databases in ["a.db fifo", "fifo a.db"] {
        let ended = room.run(&format!("compare {databases}"));
        assert!(ended.code == Some(1) && ended.err.contains("fifo: this is not a regular file"), "{ended:#?}");
    }
}

/// The message showed the value in Rust's form: `Int(92738)`.
#[test]
fn faults_show_values_as_sql_does() {
    let room = Room::new();
    let sql = "CREATE TABLE t(a); PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 92738";
    room.sqlite("r.db").execute_batch(sql).unwrap();
    let ended = room.run("check r.db");
    assert!(ended.out.contains("table t has the root page 92738, which the file does not have"), "{ended:#?}");
}

#[test]
fn a_folder_of_databases() {
    let room = Room::new();
    room.write("a.csv", "tenant,n\na,1\nb,2\nc,3\n");
    room.done("load out a.csv --split-by tenant --progress none");
    let out = room.done("check out --progress none");
    assert!(out.starts_with("ok (3 databases, ") && out.contains("there is no manifest"), "{out}");
    room.write("out/b.db", "nothing");
    let ended = room.run("check out --progress none");
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.starts_with("1 fault (3 databases, ") && ended.out.contains("  b.db: "), "{}", ended.out);
    let report = json(&room.run("check out --json").out);
    assert_eq!((&report["ok"], &report["manifest"], &report["databases"]), (&false.into(), &false.into(), &3.into()));
    room.write("out/_manifest.json", "{}");
    let ended = room.run("check out");
    assert!(ended.code == Some(1) && ended.err.contains("no manifest of shards"), "{ended:?}");
}

/// SQLite follows each reference to a page, and never came to an end if the pages of many levels had two.
#[test]
fn sqlite_is_not_asked_about_shared_pages() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 20k");
    let mut bytes = std::fs::read(room.path("u.db")).unwrap();
    let interior = bytes.chunks(4096).skip(1).position(|page| page[0] == 5).unwrap() + 1;
    let page = &mut bytes[interior * 4096..][..4096];
    let cell = |at: usize| usize::from(u16::from_be_bytes([page[12 + 2 * at], page[13 + 2 * at]]));
    let (first, second) = (cell(0), cell(1));
    page.copy_within(first..first + 4, second);
    std::fs::write(room.path("u.db"), bytes).unwrap();
    let ended = room.run("check u.db --full");
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    let told = ended.out + &ended.err;
    assert!(told.contains("this is its second reference") && told.contains("note: SQLite was not asked"), "{told}");
}
