//! `litepress generate`, mostly its successful runs.

use crate::{LITEPRESS, Room, json};
use std::io::Write;
use std::process::{Command, Stdio};

const SHOP: &str = "\
-- gen: rows=500
CREATE TABLE customer (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  name   TEXT NOT NULL,     -- gen: full_name
  joined TEXT               -- gen: date('2020-01-01', '2025-01-01')
);
CREATE TABLE purchase (
  id       INTEGER PRIMARY KEY,
  customer INTEGER NOT NULL REFERENCES customer(id),
  price    REAL,            -- gen: real(1, 100, 2)
  token    BLOB,            -- gen: blob(8, 16)
  note     TEXT             -- gen: null(0.5, text(5, 20))
) STRICT;
CREATE TABLE empty (a);
CREATE VIEW spent AS SELECT customer, sum(price) FROM purchase GROUP BY customer;
";

#[test]
fn the_challenge() {
    let room = Room::new();
    let out = room.done("generate u.db --preset user --rows 10k -v");
    assert!(out.contains("user") && out.contains("10,000") && out.contains("rows/s") && out.contains("u.db"), "{out}");
    let answer = room.query(
        "u.db",
        "SELECT count(*), min(id), max(id), count(DISTINCT age), count(DISTINCT active), min(length(area)), typeof(area)
         FROM user",
    );
    assert_eq!(answer, "10000|1|10000|3|2|6|text");
    assert_eq!(room.query("u.db", "PRAGMA integrity_check"), "ok");
    assert_eq!(room.files(), ["u.db"]);
}

#[test]
fn several_tables_and_a_view() {
    let room = Room::with_schema(SHOP);
    room.done("generate shop.db schema.sql --rows purchase=2k --rows empty=0 --verify full");
    let counts =
        "SELECT (SELECT count(*) FROM customer), (SELECT count(*) FROM purchase), (SELECT count(*) FROM empty)";
    assert_eq!(room.query("shop.db", counts), "500|2000|0");
    assert_eq!(room.query("shop.db", "SELECT seq FROM sqlite_sequence"), "500");
    assert_eq!(room.query("shop.db", "SELECT count(*) > 0 FROM spent"), "1");
    assert_eq!(room.query("shop.db", "PRAGMA integrity_check"), "ok");
    assert_eq!(room.query("shop.db", "PRAGMA foreign_key_check"), "");
    room.done("generate shop.db schema.sql --rows customer=7 --rows purchase=1 --rows EMPTY=3 --overwrite");
    assert_eq!(room.query("shop.db", counts), "7|1|3");
}

#[test]
fn a_file_that_is_not_as_it_should_be_does_not_get_its_name() {
    let sql = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p(id));";
    let room = Room::with_schema(sql);
    let broken = "generate k.db schema.sql --rows p=5 --rows c=8 --set c.p=int(6,9) --verify full";
    let refused = || {
        let ended = room.run(&format!("{broken} --overwrite"));
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{ended:#?}");
        assert!(ended.err.contains("c, rowid 1: no such row for (p) REFERENCES p (id); c, rowid 2:"), "{ended:#?}");
        // The message showed five of eight rows, without the number of the others, the file and advice.
        for part in ["k.db: rows break", "c, rowid 5: no such row", "; and 3 more\n", "help: "] {
            assert!(ended.err.contains(part), "{part}: {ended:#?}");
        }
    };
    refused();
    assert_eq!(room.files(), ["schema.sql"]);
    room.done("generate k.db schema.sql --rows p=7 --rows c=0 --verify full");
    refused();
    assert_eq!(room.query("k.db", "SELECT count(*) FROM p"), "7");
}

#[test]
fn set_and_seed_change_the_rows() {
    let room = Room::new();
    room.done("generate a.db --preset user --rows 100");
    room.done("generate b.db --preset user --rows 100 --seed 1");
    room.done("generate c.db --preset user --rows 100 --seed 1 --set area=hex(4) --set USER.age=sequence(start=50)");
    let areas = "SELECT group_concat(area) FROM user";
    assert_ne!(room.query("a.db", areas), room.query("b.db", areas));
    assert_eq!(room.query("c.db", "SELECT max(length(area)), min(age), max(age) FROM user"), "4|50|149");
}

#[test]
fn the_same_bytes_for_every_number_of_threads_and_memory() {
    let room = Room::new();
    let options = ["--threads 1", "--threads 2 --memory 64MiB", "--threads 7 --memory 1GiB --sync off"];
    let files = options.map(|options| {
        room.done(&format!("generate u.db --preset user --rows 300k --overwrite {options}"));
        std::fs::read(room.path("u.db")).unwrap()
    });
    assert!(files[0] == files[1] && files[0] == files[2]);
}

/// Even 50,000 rows allocated all of the allowed memory: on a system with less the program was killed.
#[test]
fn less_memory_than_is_allowed() {
    let room = Room::new();
    room.write("schema.sql", "CREATE TABLE t (a TEXT /* gen: hex(6) */); CREATE INDEX t_a ON t (a);");
    for (addresses, options) in [("unlimited", "--memory 100TiB"), ("2000000", ""), ("2000000", "--memory 1GiB")] {
        let script =
            format!("ulimit -v {addresses}; exec \"$0\" generate t.db schema.sql --rows 50k --overwrite {options}");
        let made = Command::new("sh").args(["-c", &script, LITEPRESS]).current_dir(room.path("")).output().unwrap();
        assert!(made.status.success(), "{addresses} {options}: {made:?}");
        assert_eq!(room.query("t.db", "SELECT count(*) FROM t INDEXED BY t_a WHERE a >= ''"), "50000");
    }
}

#[test]
fn page_sizes() {
    let room = Room::new();
    for (size, bytes) in [("512", 512), ("64KiB", 65_536), ("1KiB", 1024)] {
        room.done(&format!("generate u.db --preset user --rows 1k --overwrite --page-size {size}"));
        assert_eq!(room.query("u.db", "PRAGMA page_size"), bytes.to_string());
        assert_eq!(room.query("u.db", "PRAGMA integrity_check"), "ok");
    }
    room.write("schema.sql", "PRAGMA page_size = 8192; CREATE TABLE t (a);");
    room.done("generate t.db schema.sql --rows 5");
    assert_eq!(room.query("t.db", "PRAGMA page_size"), "8192");
}

#[test]
fn the_summary_as_json() {
    let room = Room::new();
    let summary = json(&room.done("generate u.db --preset user --rows 5k --json --verify quick"));
    let bytes = std::fs::metadata(room.path("u.db")).unwrap().len();
    assert_eq!((&summary["rows"], &summary["bytes"]), (&5000.into(), &bytes.into()));
    assert_eq!(summary["pages"].as_u64().unwrap() * summary["page_size_bytes"].as_u64().unwrap(), bytes);
    assert_eq!(summary["file"], "u.db");
    assert_eq!(summary["verify"]["ok"], true);
    assert_eq!(summary["tables"][0]["name"], "user");
    let seconds = summary["seconds"].as_f64().unwrap();
    let rate = summary["rows_per_second"].as_f64().unwrap();
    assert!((rate * seconds - 5000.0).abs() < 1.0, "{summary}");
    let stages = summary["stages"].as_object().unwrap();
    let sum: f64 = stages.values().map(|value| value.as_f64().unwrap()).sum();
    assert!((sum - seconds).abs() < 1e-6, "{summary}");
    assert!(stages.keys().all(|name| name.ends_with("_seconds")));
}

#[test]
fn discard_makes_no_file() {
    let room = Room::new();
    let summary = json(&room.done("generate --discard --preset user --rows 10k --json"));
    assert_eq!((&summary["rows"], &summary["file"]), (&10_000.into(), &serde_json::Value::Null));
    room.write("schema.sql", "CREATE TABLE t (a);");
    room.done("generate --discard schema.sql --rows 10");
    assert_eq!(room.files(), ["schema.sql"]);
}

#[test]
fn a_schema_from_standard_input() {
    let room = Room::new();
    let mut child =
        room.command("generate t.db - --rows 3").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"CREATE TABLE t (a INTEGER)").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(room.query("t.db", "SELECT count(*) FROM t"), "3");
}

/// A schema of a stranger read any file into the database. The user may name any file on the command line.
#[test]
fn word_lists_of_a_schema_lie_in_its_folder() {
    let room = Room::new();
    for folder in ["schemas/words", "elsewhere"] {
        std::fs::create_dir_all(room.path(folder)).unwrap();
    }
    for (file, word) in [("schemas/words/near.txt", "near"), ("elsewhere/far.txt", "far"), ("words.txt", "far")] {
        room.write(file, word);
    }
    let far = room.path("elsewhere/far.txt").display().to_string();
    let names = ["../words.txt", "words/../../elsewhere/far.txt", &far];
    #[cfg(unix)]
    std::os::unix::fs::symlink("../elsewhere/far.txt", room.path("schemas/link.txt")).unwrap();
    let names = names.iter().copied().chain(cfg!(unix).then_some("link.txt"));
    for name in names {
        let annotation = format!("wordlist('{name}')");
        room.write("schemas/bad.sql", format!("CREATE TABLE t (w TEXT); -- gen: {annotation}"));
        let ended = room.run("generate bad.db schemas/bad.sql --rows 3");
        let wanted = "is not in the folder of the schema, whose annotations read no other files";
        assert!(ended.code == Some(1) && ended.err.contains(wanted), "{name}: {}", ended.err);
        assert!(ended.err.contains(&format!("--set \"t.w={annotation}\"")), "{name}: {}", ended.err);
        let recipe = "algorithm_version = 1\nschema = 'CREATE TABLE t (w TEXT);'\n[tables.t]\nrows = 3\n";
        room.write("schemas/bad.toml", format!("{recipe}[tables.t.columns]\nw = \"{annotation}\"\n"));
        let ended = room.run("generate bad.db --recipe schemas/bad.toml");
        assert!(ended.code == Some(1) && ended.err.contains(wanted), "{name}: {}", ended.err);
        room.write("schemas/good.toml", format!("{recipe}[tables.t.columns]\nw = \"wordlist('words/near.txt')\"\n"));
        room.done("generate near.db --recipe schemas/good.toml --overwrite");
        assert_eq!(room.query("near.db", "SELECT DISTINCT w FROM t"), "near");
    }
    for (file, word) in [("words.txt", "far"), (&far, "far"), ("schemas/words/near.txt", "near")] {
        let set = format!("t.w=wordlist('{file}')");
        let mut command = room.command("generate set.db schemas/bad.sql --rows 3 --overwrite --set");
        assert!(command.arg(set).output().unwrap().status.success(), "{file}");
        assert_eq!(room.query("set.db", "SELECT DISTINCT w FROM t"), word);
    }
}

#[test]
fn progress_in_every_style() {
    let room = Room::new();
    let run =
        |style| room.run(&format!("generate u.db --preset user --rows 20k --overwrite --json --progress {style}"));
    for style in ["auto", "plain", "none"] {
        let ended = run(style);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{style}");
        json(&ended.out);
    }
    let ended = run("json");
    let last = json(ended.err.lines().last().unwrap());
    assert_eq!((&last["rows"], &last["rows_total"]), (&20_000.into(), &20_000.into()));
    assert_eq!(last["stage"], "waiting for the disk");
    assert_eq!((&last["phase"], &last["phases"], &last["is_after_rows"]), (&2.into(), &2.into(), &true.into()));
    json(&ended.out);
}

#[test]
fn lists_of_generators_and_presets() {
    let room = Room::new();
    let list = room.done("generate --list");
    let entries = json(&room.done("generate --list --json"));
    for entry in entries.as_array().unwrap() {
        for field in ["signature", "about", "example"] {
            assert!(list.contains(entry[field].as_str().unwrap()), "{entry}");
        }
    }
    assert!(list.contains("digits(n)"));
    let presets = room.done("generate --list-presets");
    assert!(presets.contains("area CHAR(6)"), "{presets}");
    assert_eq!(json(&room.done("generate --list-presets --json"))[0]["name"], "user");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 20k");
    let pages: Vec<String> = (1..=80).map(|page| page.to_string()).collect();
    for arguments in
        [format!("inspect u.db {}", pages.join(" ")), "generate --list".to_owned(), "check u.db".to_owned()]
    {
        let mut child = room.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stderr.is_empty(), "{arguments}: {ended:?}");
    }
}

/// SQLite took the name of the target for a URI when it locked the old file: `file:x.db` could not be replaced, and
/// `file:x.db?mode=memory` was replaced without a lock on it.
#[test]
fn names_that_begin_as_a_uri_are_names() {
    let room = Room::new();
    for name in ["file:x.db", "file:x.db?mode=memory"] {
        room.done(&format!("generate {name} --preset user --rows 10"));
        room.done(&format!("generate {name} --preset user --rows 20 --overwrite"));
        assert_eq!(room.query(&format!("./{name}"), "SELECT count(*) FROM user"), "20");
        assert!(room.files().contains(&name.to_owned()), "{:?}", room.files());
    }
}

/// A missing folder was noticed only when a sort spilled; with databases that exist it still was, when others already failed at once.
#[test]
fn a_folder_for_temporary_files_that_is_missing_is_refused_at_once() {
    let room = Room::new();
    let run = |command: &str| {
        let ended = room.run(&format!("{command} --temp-dir missing"));
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.err.contains("missing: the folder for temporary files does not exist"), "{ended:?}");
    };
    run("generate x.db --preset user --rows 10");
    assert_eq!(room.files(), [""; 0]);
    room.query("t.db", "CREATE TABLE t (a UNIQUE)");
    room.write("t.csv", "a\n1\n");
    let before = std::fs::read(room.path("t.db")).unwrap();
    for command in ["load t.db t.csv --append", "reindex t.db", "compact t.db"] {
        run(command);
    }
    assert_eq!(std::fs::read(room.path("t.db")).unwrap(), before);
}
