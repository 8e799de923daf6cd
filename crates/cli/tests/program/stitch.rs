//! `litepress stitch`, and `--part` of the commands that print parts.

use crate::{Room, json};
use std::fs;

const SCHEMA: &str =
    "CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, price REAL CHECK (price >= 0));
    CREATE TABLE line (item INTEGER NOT NULL REFERENCES item, pieces INTEGER);
    CREATE TABLE word (text TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
    CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);
    CREATE INDEX by_item ON line (item, pieces DESC);
    CREATE INDEX dear ON item (price) WHERE price > 50;
    CREATE INDEX short ON item (lower(substr(code, 1, 3)));
    CREATE VIEW v AS SELECT code FROM item;
    CREATE TRIGGER t AFTER INSERT ON log BEGIN UPDATE log SET text = 'new' WHERE id = new.id; END;
    PRAGMA user_version = 3;
    PRAGMA application_id = 7;";

#[test]
fn parts_become_the_database_of_one_process() {
    let room = Room::with_schema(SCHEMA);
    for (number, options) in ["--page-size 512", "--page-size 65536", "", "--record-recipe"].iter().enumerate() {
        let rows = format!(
            "--rows item=60k --rows line=90k --rows word=2k --rows log=70k --set word.text=uuid {options} --quiet"
        );
        room.done(&format!("generate whole{number}.db schema.sql {rows}"));
        for shard in 1..=3 {
            room.done(&format!("generate {shard}.part schema.sql {rows} --shard {shard}/3 --part --overwrite"));
        }
        let report = json(&room.done(&format!("stitch one{number}.db 2.part 3.part 1.part --verify full --json")));
        assert_eq!(report["parts"], 3);
        assert_eq!(report["notes"].as_array().map(Vec::len), Some(0), "the check has seen foreign keys");
        let [whole, one] = ["whole", "one"].map(|name| fs::read(room.path(format!("{name}{number}.db"))).unwrap());
        assert!(whole == one, "{options}");
        assert_eq!(room.query(&format!("one{number}.db"), "SELECT seq FROM sqlite_sequence"), "70000");
    }
    room.done("generate analyzed.db schema.sql --rows 3k --set word.text=uuid --analyze --quiet");
    room.done("generate all.part schema.sql --rows 3k --set word.text=uuid --part --quiet");
    room.done("stitch stitched.db all.part --analyze --quiet");
    let statistics =
        "SELECT group_concat(tbl || coalesce(idx, '') || stat) FROM (SELECT * FROM sqlite_stat1 ORDER BY 1, 2)";
    assert_eq!(room.query("stitched.db", statistics), room.query("analyzed.db", statistics));
}

#[test]
fn parts_of_files_and_of_databases() {
    let room = Room::new();
    let lines = |rows: std::ops::Range<u32>| rows.map(|row| format!("{row},a{}\n", row % 7)).collect::<String>();
    room.write("1.csv", "id,area\n".to_owned() + &lines(0..500));
    room.write("2.csv", "id,area\n".to_owned() + &lines(500..900));
    let how = "--table user --primary-key id --index area --quiet";
    room.done(&format!("load whole.db 1.csv 2.csv {how}"));
    room.done(&format!("load 1.part 1.csv {how} --part"));
    room.done(&format!("load 2.db 2.csv {how}"));
    room.done("merge 2.part 2.db --part --quiet");
    let summary = room.done("stitch one.db 2.part 1.part");
    assert!(summary.contains("900 rows in 1 table") && summary.contains("stitched 2 parts, "), "{summary}");
    let rows = "SELECT count(*), sum(id), group_concat(area) FROM (SELECT * FROM user ORDER BY id)";
    assert_eq!(room.query("one.db", rows), room.query("whole.db", rows));
}

#[test]
fn mistakes_are_told_and_leave_nothing() {
    let room = Room::new();
    room.write("a.csv", "id,k\n1,5\n2,6\n");
    room.write("b.csv", "id,k\n2,7\n3,8\n");
    room.write("c.csv", "id,k\n4,5\n");
    let how = "--table t --primary-key id --unique k --quiet --part";
    for name in ["a", "b", "c"] {
        room.done(&format!("load {name}.part {name}.csv {how}"));
    }
    room.done("load d.part c.csv --table t --primary-key id --part --quiet");
    room.done("load d.db c.csv --table t --primary-key id --quiet");
    for (command, code, words) in [
        ("stitch one.db a.part b.part", 1, "rowids overlap: a run begins with 2"),
        ("stitch one.db a.part c.part", 1, "(value 5)"),
        ("stitch one.db a.part d.part", 1, "the schema has"),
        ("stitch one.db a.part d.db", 1, "this is no part of a database"),
        ("stitch one.db a.part absent.part", 1, "absent.part"),
        ("load e.part a.csv --part --analyze", 2, "no statistics"),
        ("load e.part a.csv --part --verify quick", 2, "verify the database that is stitched"),
        ("load e.part a.csv --part --on-conflict ignore", 2, "cannot resolve conflicts"),
        ("load e.part a.csv --part --fts k", 1, "merge them"),
        ("load d.db a.csv --part --append", 2, "a part cannot be written"),
        ("load folder a.csv --part --split-by k", 2, "a part cannot be written"),
    ] {
        let ended = room.run(command);
        assert!(ended.code == Some(code) && ended.err.contains(words), "{command}: {:?} {}", ended.code, ended.err);
    }
    assert_eq!(
        room.files(),
        ["a.csv", "a.part", "b.csv", "b.part", "c.csv", "c.part", "d.db", "d.part"],
        "nothing else is there"
    );
}

/// `stitch p1.part p1.part p2.part --overwrite` replaced a part by the database.
#[test]
fn the_target_is_no_part() {
    let room = Room::with_schema(SCHEMA);
    for shard in 1..=2 {
        room.done(&format!("generate {shard}.part schema.sql --rows 10 --shard {shard}/2 --part --quiet"));
    }
    fs::hard_link(room.path("1.part"), room.path("again.part")).unwrap();
    let before = fs::read(room.path("1.part")).unwrap();
    for target in ["1.part", "./1.part", "again.part"] {
        let ended = room.run(&format!("stitch {target} 1.part 2.part --overwrite"));
        assert!(ended.code == Some(2) && ended.err.contains("1.part: the target is also a source"), "{ended:?}");
    }
    assert!(fs::read(room.path("1.part")).unwrap() == before);
}
