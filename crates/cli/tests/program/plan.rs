//! `litepress plan`.

use crate::{Room, json};

const SCHEMA: &str = "\
CREATE TABLE t (
  id INTEGER PRIMARY KEY,
  a TEXT NOT NULL, -- gen: digits(6)
  b REAL
);
CREATE VIEW v AS SELECT a FROM t;
";

#[test]
fn for_people() {
    let room = Room::with_schema(SCHEMA);
    let out = room.done("plan schema.sql --rows 1m --set t.b=real(0,1) --memory 64MiB --threads 3");
    for part in [
        "table t: 1,000,000 rows",
        "digits(6)",
        "annotation",
        "real(0,1)",
        "real(0,1)  set",
        "inferred",
        "64.0 MiB",
        "direct",
        "schema only",
        "about",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert_eq!(room.files(), ["schema.sql"]);
}

#[test]
fn as_json() {
    let room = Room::with_schema(SCHEMA);
    let plan = json(&room.done("plan t.db schema.sql --rows t=5k --seed 9 --json"));
    assert_eq!((&plan["rows"], &plan["target"], &plan["refused"]), (&5000.into(), &"t.db".into(), &().into()));
    let table = &plan["tables"][0];
    assert_eq!((&table["seed"], &table["columns"][1]["generator"]), (&9.into(), &"digits(6)".into()));
    assert_eq!(table["columns"][2]["chosen"], "inferred");
    assert!(table["columns"][2]["because"].is_string());
    assert_eq!((&plan["steps"][0]["lane"], &plan["steps"][1]["kind"]), (&"direct".into(), &"view".into()));
    let expected = plan["expected_bytes"].as_f64().unwrap();
    room.done("gen t.db schema.sql --rows 5k");
    let bytes = std::fs::metadata(room.path("t.db")).unwrap().len() as f64;
    assert!((0.7..1.3).contains(&(bytes / expected)), "{bytes} of {expected}");
}

/// Everything that SQLite accepts is made: printed, or by SQLite on the printed file, and the plan says which.
#[test]
fn every_object_has_a_lane() {
    let sql = "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT UNIQUE, y INTEGER CHECK (y >= 0), z REAL);
        CREATE INDEX a_y ON a(y DESC, z);
        CREATE INDEX a_part ON a(x) WHERE y > 50;
        CREATE INDEX a_expr ON a(y + 1, upper(x));
        CREATE TABLE w (k TEXT, n INT, PRIMARY KEY (n, k)) WITHOUT ROWID;
        CREATE TABLE s (p INTEGER PRIMARY KEY, q INT, r INT AS (q * 2) STORED, CHECK (q < 10000000));
        CREATE INDEX s_r ON s(r);
        CREATE VIRTUAL TABLE f USING fts5(body);
        CREATE VIEW v AS SELECT * FROM a JOIN s ON p = y;
        CREATE TRIGGER tr AFTER INSERT ON a BEGIN DELETE FROM s; END;";
    let room = Room::with_schema(sql);
    let rows = "--rows a=2k --rows w=1k --rows s=500";
    let plan = json(&room.done(&format!("plan schema.sql {rows} --json")));
    let lane = |kind: &str, name: &str| {
        let steps = plan["steps"].as_array().unwrap();
        let is_it =
            |step: &&serde_json::Value| step["kind"] == kind && step["name"].as_str().unwrap().starts_with(name);
        steps.iter().find(is_it).map(|step| step["lane"].as_str().unwrap().to_owned()).unwrap()
    };
    for (kind, name, expected) in [
        ("table", "a", "direct"),
        ("index", "sqlite_autoindex_a_1", "direct"),
        ("index", "a_y", "direct"),
        ("index", "a_part", "sqlite"),
        ("index", "a_expr", "sqlite"),
        ("constraint", "CHECK", "query"),
        ("table", "w", "direct"),
        ("table", "s", "sqlite"),
        ("index", "s_r", "sqlite"),
        ("table", "f", "sqlite"),
        ("view", "v", "schema only"),
    ] {
        assert_eq!(lane(kind, name), expected, "{kind} {name}");
    }
    room.done(&format!("gen t.db schema.sql {rows} --verify full"));
    let sqlite = rusqlite::Connection::open(room.path("t.db")).unwrap();
    let count = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM a INDEXED BY a_y WHERE y >= 0"), 2000);
    assert_eq!(count("SELECT count(*) FROM s WHERE r = 2 * q"), 500);
    assert_eq!(count("SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')"), 2);
    assert!(count("SELECT count(*) FROM a INDEXED BY a_part WHERE y > 50") > 0);
    assert_eq!(room.files(), ["schema.sql", "t.db"]);
}

#[test]
fn a_violated_check_is_named_with_its_rows() {
    let room = Room::with_schema("CREATE TABLE t (a INT, -- gen: sequence\n CONSTRAINT small CHECK (a < 8));");
    let ended = room.run("gen t.db schema.sql --rows 10");
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("small") && ended.err.contains('8'), "{}", ended.err);
    assert_eq!(room.files(), ["schema.sql"]);
}

#[test]
fn the_estimate_is_that_of_the_page_size() {
    let room = Room::new();
    for pragma in ["", "PRAGMA page_size = 512;"] {
        room.write("schema.sql", format!("{pragma} CREATE TABLE t (a BLOB /* gen: blob(280, 280) */);"));
        let option = if pragma.is_empty() { "--page-size 512" } else { "" };
        let plan = json(&room.done(&format!("plan schema.sql --rows 5k --json {option}")));
        room.done(&format!("gen t.db schema.sql --rows 5k --replace {option}"));
        let bytes = std::fs::metadata(room.path("t.db")).unwrap().len() as f64;
        let share = bytes / plan["expected_bytes"].as_f64().unwrap();
        assert!((0.97..1.06).contains(&share), "{bytes} of {plan}");
    }
}

#[test]
fn a_target_that_exists_is_said() {
    let room = Room::with_schema(SCHEMA);
    room.write("t.db", "");
    assert!(room.done("plan t.db schema.sql --rows 1").contains("gen needs --replace"));
}

/// Both were told by `gen` alone, when it was too late.
#[test]
fn page_size_and_room() {
    let room = Room::new();
    let out = room.done("plan t.db --preset user --rows 10 --page-size 8192");
    assert!(out.contains("8,192") && out.contains("which is enough"), "{out}");
    let out = room.done("plan t.db --preset user --rows 1000b");
    assert!(out.contains("which is not enough"), "{out}");
    let out = room.done("plan none/t.db --preset user --rows 10");
    assert!(out.contains("there is no folder 'none'"), "{out}");
    let plan = json(&room.done("plan --preset user --rows 10 --json"));
    assert!(plan["page_size_bytes"] == 4096 && plan["free_bytes"].is_u64(), "{plan}");
}
