//! `litepress merge`.

use crate::{LITEPRESS, Room, json};
use std::process::{Command, Stdio};
use std::time::Duration;

impl Room {
    /// Makes a database in the folder `shards`, which is made, too.
    pub fn shard(&self, name: &str, sql: &str) {
        std::fs::create_dir_all(self.path("shards")).expect("a folder");
        self.sqlite(&format!("shards/{name}")).execute_batch(sql).expect(sql);
    }
}

/// A full-text table that a trigger keeps was filled twice: with its rows, and with those of the table of the trigger. Texts that were
/// taken out came back, and if none were, the ids collided: what the program itself had made could not be merged.
#[test]
fn full_text_tables_that_triggers_keep_have_their_own_rows() {
    let room = Room::new();
    for shard in 1..=2 {
        let sql = format!(
            "CREATE TABLE d (id INTEGER PRIMARY KEY, x); CREATE VIRTUAL TABLE f USING fts5(x);
             CREATE TRIGGER tr AFTER INSERT ON d BEGIN INSERT INTO f(rowid, x) VALUES (new.id, new.x); END;
             INSERT INTO d VALUES ({shard}, 'open {shard}'), ({shard}0, 'secret {shard}'); DELETE FROM f WHERE rowid > 9"
        );
        room.shard(&format!("{shard}.db"), &sql);
    }
    room.done("merge all.db shards --verify full");
    assert_eq!(room.query("all.db", "SELECT rowid, x FROM f"), "1|open 1\n2|open 2");
    assert_eq!(room.query("all.db", "SELECT count(*) FROM f WHERE f MATCH 'secret'"), "0");
    for shard in 1..=2 {
        room.write(&format!("m{shard}.csv"), format!("id,subject\n{shard},Hello {shard}\n"));
        room.done(&format!("load m{shard}.db m{shard}.csv --table m --primary-key id --fts subject --fts-content own"));
    }
    room.done("merge m.db m1.db m2.db --verify full");
    assert_eq!(room.query("m.db", "SELECT rowid FROM m_fts WHERE m_fts MATCH 'hello' ORDER BY 1"), "1\n2");
}

/// Rows that SQLite inserts into virtual tables were not counted, and rows that a clause of the schema left out were said to be left
/// out for `--on-conflict abort`, which leaves out none.
#[test]
fn what_sqlite_inserts_and_leaves_out_is_counted() {
    let room = Room::new();
    for shard in 1..=2 {
        let sql = format!(
            "CREATE VIRTUAL TABLE f USING fts4(z); INSERT INTO f(docid, z) VALUES ({shard}, 'x'), (1{shard}, 'y');
             CREATE VIRTUAL TABLE g USING fts5(z, columnsize=0); INSERT INTO g(rowid, z) VALUES ({shard}, 'x')"
        );
        room.shard(&format!("{shard}.db"), &sql);
        let sql = format!("CREATE TABLE d (x UNIQUE ON CONFLICT REPLACE, y); INSERT INTO d VALUES ('k', {shard})");
        room.sqlite(&format!("d{shard}.db")).execute_batch(&sql).unwrap();
    }
    let text = room.done("merge all.db shards");
    assert!(text.contains("6 rows in 2 tables") && text.contains("f 4") && text.contains("g 2"), "{text}");
    assert_eq!(room.query("all.db", "SELECT (SELECT count(*) FROM f), (SELECT count(*) FROM g)"), "4|2");
    let text = room.done("merge d.db d1.db d2.db");
    assert!(text.contains("left out 1 row for an ON CONFLICT clause of the schema"), "{text}");
    assert_eq!(room.query("d.db", "SELECT y FROM d"), "2");
}

#[test]
fn shards_become_one_database() {
    let room = Room::new();
    for shard in 1..=3 {
        let sql = format!(
            "CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX by_name ON user (name);
             CREATE TABLE log (text);
             INSERT INTO user VALUES ({shard}0, 'Ada'), ({shard}1, 'Bo'); INSERT INTO log VALUES ('from {shard}')"
        );
        room.shard(&format!("{shard}.db"), &sql);
    }
    let summary = room.done("merge all.db shards --verify full");
    for line in [
        "9 rows in 2 tables",
        "tables:  user 6, log 3",
        "merged 3 databases, ",
        "note: rows get new rowids",
        "verify: ok",
    ] {
        assert!(summary.contains(line), "{summary}");
    }
    assert_eq!(
        room.query("all.db", "SELECT group_concat(id), group_concat(name) FROM user"),
        "10,11,20,21,30,31|Ada,Bo,Ada,Bo,Ada,Bo"
    );
    let report = json(&room.done("merge renumbered.db shards --rowids renumber --source-column shard --json"));
    assert_eq!((&report["databases"], &report["rows"]), (&3.into(), &9.into()));
    assert_eq!(
        room.query("renumbered.db", "SELECT group_concat(id), max(shard) FROM user"),
        "10,11,20,21,30,31|shards/3.db"
    );
    room.shard("4.db", "CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO user VALUES (10, 'Cy')");
    let missing = room.run("merge new.db shards");
    assert_eq!(missing.code, Some(1));
    assert!(
        missing.err.contains("shards/4.db: the database has no index by_name, which shards/1.db has"),
        "{}",
        missing.err
    );
    assert!(missing.err.contains("--union"), "{}", missing.err);
    let twice = room.run("merge new.db shards --union");
    assert!(twice.err.contains("shards/1.db and shards/4.db have the same key (value 10)"), "{}", twice.err);
    assert!(twice.err.contains("--rowids 'user=renumber'"), "{}", twice.err);
    let kept = room.done("merge new.db shards --union --on-conflict replace");
    assert!(kept.contains("left out 1 row for --on-conflict replace"), "{kept}");
    assert_eq!(room.query("new.db", "SELECT name FROM user WHERE id = 10"), "Cy");
    room.done("merge new.db shards --overwrite --union --rowids user=renumber --skip-table log");
    assert_eq!(room.query("new.db", "SELECT count(*), group_concat(id) FROM user"), "7|10,11,20,21,30,31,32");
    room.shard("5.db", "CREATE TABLE user (id INTEGER PRIMARY KEY, name BLOB)");
    let other = room.run("merge no.db shards --union");
    let difference = "shards/5.db: table user is not as in shards/1.db: ', name BLOB )' here, ', name TEXT )' there";
    assert!(other.err.contains(difference), "{}", other.err);
    assert_eq!(room.files(), ["all.db", "new.db", "renumbered.db", "shards"]);
}

/// A merge of hundreds of databases had to run to its end to show whether it works.
#[test]
fn the_plan_tells_what_the_merge_does() {
    let room = Room::new();
    for shard in 1..=3 {
        let sql = format!(
            "CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT UNIQUE); CREATE INDEX by_name ON user (name, id);
             CREATE TABLE log (owner INTEGER REFERENCES user, text TEXT); CREATE TABLE k (a PRIMARY KEY, b) WITHOUT ROWID;
             CREATE VIRTUAL TABLE notes USING fts5 (text);
             INSERT INTO user VALUES (1, 'Ada {shard}'), ({shard}1, 'Bo {shard}'); INSERT INTO log VALUES (1, 'from {shard}');
             INSERT INTO k VALUES ('key {}', 1)",
            shard.max(2)
        );
        room.shard(&format!("{shard}.db"), &sql);
    }
    let plan = room.run("plan all.db shards --merge --skip-table notes");
    assert_eq!(plan.code, Some(1), "{plan:?}");
    for line in [
        "schema       of 3 databases, ",
        "table user: 6 rows",
        "out of 3 databases; rowids stay, and several databases have the same range of them",
        "shards/1.db and shards/2.db have the same key (value 1)",
        "shards/1.db and shards/2.db have the same key (value 'key 2')",
        "merge would fail",
    ] {
        assert!(plan.out.contains(line), "{line}: {}", plan.out);
    }
    let arguments = "all.db shards --skip-table notes --on-conflict ignore --rowids log=renumber";
    let plan = json(&room.done(&format!("plan {arguments} --merge --json")));
    assert_eq!(
        (&plan["databases"], &plan["mismatches"]["count"], &plan["mismatches"]["ignored"]),
        (&3.into(), &0.into(), &1.into())
    );
    let table = |name: &str| plan["tables"].as_array().unwrap().iter().find(|table| table["name"] == name).unwrap();
    assert_eq!((&table("k")["rows"], &table("log")["rowids"]), (&2.into(), &"renumbered".into()));
    let note = plan["notes"].to_string();
    assert!(
        note.contains("their keys were not compared: user") && note.contains("estimated from some pages: log"),
        "{note}"
    );
    let merged = json(&room.done(&format!("merge {arguments} --json")));
    // Two rows of the table that only SQLite knows are left out, too.
    assert_eq!(merged["ignored"], 3);
    let arguments = "new.db shards --rowids renumber --source-column shard --rowids notes=keep --on-conflict replace";
    let plan = room.done(&format!("plan {arguments} --merge"));
    for line in ["rowids are renumbered", "follows the renumbered rowids of user", "the path of each row's database"] {
        assert!(plan.contains(line), "{line}: {plan}");
    }
    room.done(&format!("merge {arguments}"));
    room.shard("4.db", "CREATE TABLE user (id INTEGER PRIMARY KEY, name BLOB UNIQUE)");
    let plan = room.run("plan no.db shards --merge --rowids log=renumber --skip-table notes");
    for line in
        ["shards/4.db: table user is not as in shards/1.db", "shards/4.db: the database has no table log", "no table k"]
    {
        assert!(plan.out.contains(line) && plan.code == Some(1), "{plan:?}");
    }
    for (arguments, message) in [
        ("plan no.db shards --merge --rows 5", "cannot be used with"),
        ("plan no.db shards --union", "--union is for databases that are merged"),
        ("plan no.db --merge", "a merge needs a database to make"),
        ("plan shards/1.db shards --merge", "the target is also a source"),
    ] {
        let ended = room.run(arguments);
        assert!(ended.code.is_some_and(|code| code > 0) && ended.err.contains(message), "{arguments}: {ended:?}");
    }
    assert_eq!(room.files(), ["all.db", "new.db", "shards"]);
}

#[test]
fn wrong_arguments_are_named() {
    let room = Room::new();
    room.shard("1.db", "CREATE TABLE t (a)");
    for (arguments, message) in [
        ("merge out.db", "required"),
        ("merge out.db shards --rowids never", "'never' is not one of 'keep', 'renumber'"),
        ("merge out.db shards --rowids u=keep", "--rowids: the databases have no table u"),
        ("merge out.db shards --skip-table u", "--skip-table: the databases have no table u"),
        ("merge out.db shards --source-column A", "--source-column A: the column cannot be added"),
        ("merge shards/1.db shards --overwrite", "the target is also a source"),
        ("merge out.db shards/1.db shards/1.db", "named twice"),
        ("merge out.db shards --on-conflict update", "--on-conflict update is for rows that are added"),
        ("merge out.db nothing.db", "nothing.db"),
    ] {
        let ended = room.run(arguments);
        assert!(ended.code.is_some_and(|code| code > 0) && ended.err.contains(message), "{arguments}: {ended:?}");
    }
    assert_eq!(room.files(), ["shards"]);
}

/// Memory and open files are bounded, however many databases there are.
#[test]
fn thousands_of_databases_need_few_files_and_little_memory() {
    let room = Room::new();
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX i ON t (a);
        CREATE TABLE k (a TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (1, 'x'), (5, 'y')";
    room.shard("0000.db", sql);
    room.sqlite("shards/0001.db").execute_batch(&format!("PRAGMA journal_mode = WAL; {sql}")).expect("a database");
    for shard in 2..2000 {
        let from = room.path(format!("shards/{:04}.db", shard % 2));
        std::fs::copy(from, room.path(format!("shards/{shard:04}.db"))).expect("a copy");
    }
    let run =
        format!("ulimit -n 256 && exec '{LITEPRESS}' merge all.db shards --rowids renumber --memory 64MiB --json");
    let ended = Command::new("sh").args(["-c", &run]).current_dir(room.path("")).output().expect("a shell");
    assert!(ended.status.success(), "{ended:?}");
    let report = json(&String::from_utf8(ended.stdout).expect("UTF-8"));
    assert_eq!((&report["databases"], &report["rows"]), (&2000.into(), &4000.into()));
    assert!(report["peak_memory_bytes"].as_u64().expect("a number") < 150 << 20, "{report}");
    assert_eq!(room.query("all.db", "SELECT count(*), count(DISTINCT id), max(id) FROM t"), "4000|4000|10000");
    assert_eq!(room.query("all.db", "PRAGMA integrity_check"), "ok");
    assert_eq!(
        std::fs::read_dir(room.path("shards")).expect("the folder").count(),
        2000,
        "no file is left beside them"
    );
}

#[test]
fn a_killed_merge_leaves_all_or_nothing() {
    let room = Room::new();
    for shard in 1..=4 {
        room.done(&format!("generate {shard}.db --preset user --rows 200k --shard {shard}/4 --sync off"));
    }
    for pause in [5, 20, 40, 80, 120] {
        let mut command = room.command("merge all.db 1.db 2.db 3.db 4.db --progress none --overwrite");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().expect("a process");
        let is_done = child.wait().expect("its end").success();
        // The file gets its name shortly before the program ends: a kill in between leaves it whole.
        if room.path("all.db").exists() {
            assert_eq!(room.query("all.db", "SELECT count(*), count(DISTINCT id) FROM user"), "200000|200000");
            assert_eq!(room.query("all.db", "PRAGMA integrity_check"), "ok");
            std::fs::remove_file(room.path("all.db")).expect("a file");
        } else {
            assert!(!is_done);
        }
    }
    room.done("merge all.db 1.db 2.db 3.db 4.db");
    assert_eq!(room.files(), ["1.db", "2.db", "3.db", "4.db", "all.db"]);
    assert_eq!(room.query("all.db", "SELECT count(*), count(DISTINCT id) FROM user"), "200000|200000");
}
