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
    assert_eq!((&plan["steps"][0]["method"], &plan["steps"][1]["kind"]), (&"direct".into(), &"view".into()));
    let expected = plan["expected_bytes"].as_f64().unwrap();
    room.done("generate t.db schema.sql --rows 5k");
    let bytes = std::fs::metadata(room.path("t.db")).unwrap().len() as f64;
    assert!((0.7..1.3).contains(&(bytes / expected)), "{bytes} of {expected}");
}

/// Every object that SQLite accepts is written directly, or made by SQLite in the written file; the plan names its method.
#[test]
fn every_object_has_a_method() {
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
    let method = |kind: &str, name: &str| {
        let steps = plan["steps"].as_array().unwrap();
        let is_it =
            |step: &&serde_json::Value| step["kind"] == kind && step["name"].as_str().unwrap().starts_with(name);
        steps.iter().find(is_it).map(|step| step["method"].as_str().unwrap().to_owned()).unwrap()
    };
    for (kind, name, expected) in [
        ("table", "a", "direct"),
        ("index", "sqlite_autoindex_a_1", "direct"),
        ("index", "a_y", "direct"),
        ("index", "a_part", "evaluated"),
        ("index", "a_expr", "evaluated"),
        ("constraint", "CHECK", "evaluated"),
        ("table", "w", "direct"),
        ("table", "s", "evaluated"),
        ("index", "s_r", "direct"),
        ("table", "f", "direct"),
        ("view", "v", "schema only"),
    ] {
        assert_eq!(method(kind, name), expected, "{kind} {name}");
    }
    room.done(&format!("generate t.db schema.sql {rows} --verify full"));
    let sqlite = rusqlite::Connection::open(room.path("t.db")).unwrap();
    let count = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM a INDEXED BY a_y WHERE y >= 0"), 2000);
    assert_eq!(count("SELECT count(*) FROM s WHERE r = 2 * q"), 500);
    assert_eq!(count("SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')"), 2);
    assert!(count("SELECT count(*) FROM a INDEXED BY a_part WHERE y > 50") > 0);
    assert_eq!(room.files(), ["schema.sql", "t.db"]);
}

/// The conflict policy of one unique key is applied by litepress, of several together by SQLite.
#[test]
fn the_policy_decides_about_methods() {
    let one = "CREATE TABLE one (a INTEGER, b TEXT UNIQUE);";
    let two = "CREATE TABLE two (a INTEGER PRIMARY KEY, b TEXT UNIQUE);";
    let clause = "CREATE TABLE clause (a INTEGER UNIQUE ON CONFLICT REPLACE);";
    let room = Room::with_schema(&format!("{one} {two} {clause}"));
    let rows = "--rows one=10 --rows two=10 --rows clause=10";
    let methods = |policy: &str| {
        let plan = json(&room.done(&format!("plan schema.sql {rows} --on-conflict {policy} --json")));
        assert_eq!(plan["on_conflict"], policy);
        let steps = plan["steps"].as_array().unwrap().clone();
        let tables = steps.into_iter().filter(|step| step["kind"] == "table");
        tables
            .map(|step| (step["method"].as_str().unwrap().to_owned(), step["why"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let abort = methods("abort");
    assert_eq!((abort[0].0.as_str(), abort[1].0.as_str(), abort[2].0.as_str()), ("direct", "direct", "sqlite"));
    assert!(abort[2].1.contains("ON CONFLICT clause"), "{abort:?}");
    let ignore = methods("ignore");
    assert_eq!((ignore[0].0.as_str(), ignore[1].0.as_str(), ignore[2].0.as_str()), ("direct", "sqlite", "direct"));
    assert!(ignore[1].1.contains("its 2 unique keys together (on conflict ignore)"), "{ignore:?}");
    assert!(room.done(&format!("plan schema.sql {rows} --on-conflict replace")).contains("on conflict  replace"));
}

#[test]
fn a_violated_check_is_named_with_its_rows() {
    let room = Room::with_schema("CREATE TABLE t (a INT, -- gen: sequence\n CONSTRAINT small CHECK (a < 8));");
    let ended = room.run("generate t.db schema.sql --rows 10");
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
        room.done(&format!("generate t.db schema.sql --rows 5k --overwrite {option}"));
        let bytes = std::fs::metadata(room.path("t.db")).unwrap().len() as f64;
        let share = bytes / plan["expected_bytes"].as_f64().unwrap();
        assert!((0.97..1.06).contains(&share), "{bytes} of {plan}");
    }
}

#[test]
fn a_target_that_exists_is_said() {
    let room = Room::with_schema(SCHEMA);
    room.write("t.db", "");
    assert!(room.done("plan t.db schema.sql --rows 1").contains("generate needs --overwrite"));
}

/// The sizes of all trees and of the file match the plan. With indexes the plan's file size was a third of the true one.
#[test]
fn sizes_are_those_of_the_file() {
    let user = "CREATE TABLE user (id INTEGER PRIMARY KEY, area CHAR(6), /* gen: digits(6) */ age INTEGER /* gen: choice(5, 10, 15) */);
        CREATE INDEX area ON user(area); CREATE INDEX age_area ON user(age, area DESC)";
    let mixed = "CREATE TABLE m (a TEXT UNIQUE, /* gen: unique_hex(16) */ b BLOB, /* gen: blob(0, 300) */ c REAL, d TEXT /* gen: null(0.5, text(5, 90)) */);
        CREATE INDEX m_b ON m(b); CREATE INDEX m_d ON m(d COLLATE NOCASE, c); CREATE INDEX m_c ON m(c DESC)";
    let keyed = "CREATE TABLE k (a TEXT, /* gen: hex(12) */ b INT, /* gen: sequence */ c TEXT, /* gen: text(20, 60) */ PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE INDEX k_c ON k(c); CREATE INDEX k_b ON k(b)";
    let shuffled =
        "CREATE TABLE s (id INTEGER PRIMARY KEY, /* gen: shuffle(1, 1000000000) */ x INT); CREATE INDEX s_x ON s(x)";
    let large = "CREATE TABLE l (a BLOB /* gen: blob(3000, 9000) */); CREATE INDEX l_a ON l(a)";
    for (sql, rows) in
        [(user, 100_000), (user, 3000), (mixed, 20_000), (keyed, 50_000), (shuffled, 60_000), (large, 2000)]
    {
        for page_size in ["1KiB", "4KiB", "32KiB"] {
            let room = Room::with_schema(sql);
            let plan = json(&room.done(&format!("plan schema.sql --rows {rows} --page-size {page_size} --json")));
            room.done(&format!("generate t.db schema.sql --rows {rows} --page-size {page_size}"));
            let file = json(&room.done("check t.db --json"));
            let near = |bytes: f64, expected: &serde_json::Value, what: &str| {
                let expected = expected.as_f64().unwrap();
                let slack = 2.0 * file["page_size_bytes"].as_f64().unwrap();
                assert!((bytes - expected).abs() < slack + bytes / 10.0, "{what}: {bytes}, expected {expected}: {sql}");
            };
            near(file["bytes"].as_f64().unwrap(), &plan["expected_bytes"], page_size);
            let steps = plan["steps"].as_array().unwrap();
            let trees = &file["btrees"].as_array().unwrap()[1..];
            // The plan adds the purpose of an index to its name, in parentheses.
            let name = |of: &serde_json::Value| of["name"].as_str().unwrap().split(" (").next().unwrap().to_owned();
            let names = |of: &[serde_json::Value]| of.iter().map(name).collect::<Vec<_>>();
            assert_eq!(names(steps), names(trees), "a pair for each, or trees would go unseen");
            for (step, tree) in steps.iter().zip(trees) {
                let pages = ["interior_pages", "leaf_pages", "overflow_pages"].map(|kind| tree[kind].as_f64().unwrap());
                let bytes = pages.iter().sum::<f64>() * file["page_size_bytes"].as_f64().unwrap();
                near(bytes, &step["expected_bytes"], &format!("{page_size}: {step}, {tree}"));
            }
        }
    }
}

/// The size of an object that SQLite makes is rough or unknown, never zero. A sort beyond the memory names its folder.
#[test]
fn what_is_rough_unknown_or_spilled_is_said() {
    let sql = "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT /* gen: text(50, 60) */);
        CREATE INDEX whole ON t(b); CREATE INDEX part ON t(b) WHERE a > 7; CREATE INDEX expr ON t(a + 1);
        CREATE TABLE s (p INT UNIQUE ON CONFLICT IGNORE, q INT AS (p * 2) STORED); CREATE TABLE c (p INT, q INT AS (p * 2) STORED);
        CREATE VIRTUAL TABLE f USING fts5(body)";
    let room = Room::with_schema(sql);
    let plan = |rows: &str| {
        json(&room.done(&format!("plan t.db schema.sql --memory 64MiB --rows t={rows} --rows s=1k --rows c=1k --json")))
    };
    let small = plan("1k");
    let steps = small["steps"].as_array().unwrap();
    let step = |name: &str| steps.iter().find(|step| step["name"] == name).unwrap();
    for (name, is_rough, is_known) in [
        ("t", false, true),
        ("whole", false, true),
        ("part", false, true),
        ("expr", false, true),
        ("s", true, true),
        ("c", false, true),
        ("f", true, false),
    ] {
        let step = step(name);
        assert_eq!((&step["is_rough"], step["expected_bytes"].is_u64()), (&is_rough.into(), is_known), "{step}");
        assert!(step["memory_bytes"].as_u64().unwrap() > 0, "{step}");
    }
    assert_eq!(small["spill_bytes"], 0);
    let large = plan("10m");
    let spilled = large["spill_bytes"].as_u64().unwrap();
    assert!((1_200_000_000..1_400_000_000).contains(&spilled), "{large}");
    assert!(large["expected_memory_bytes"].as_u64().unwrap() <= 64 << 20, "{large}");
    let text = room.done("plan t.db schema.sql --memory 64MiB --rows t=10m --rows s=1k --rows c=1k");
    for part in ["roughly", "unknown", "spills about", " to .", "and what is unknown"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Only `generate` reported page size and free space, when it was too late.
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
