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
        "--set",
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

#[test]
fn a_refusal_has_the_words_of_gen() {
    for (sql, name) in [
        ("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX i ON t(a || 'x')", "index i"),
        ("CREATE TABLE t (a INTEGER, b AS (a + 1) STORED)", "generated"),
        ("CREATE VIRTUAL TABLE v USING rtree(id, x0, x1); CREATE TABLE t (a INTEGER)", "virtual"),
    ] {
        let room = Room::with_schema(sql);
        let refused = room.run("gen t.db schema.sql --rows t=10");
        if refused.code == Some(0) || refused.err.contains("no such module") {
            continue; // litepress has learnt it, or the module is not compiled in
        }
        let line = refused.err.lines().next().unwrap().strip_prefix("error: ").unwrap();
        assert!(line.contains(name), "{line}");
        assert_eq!(refused.code, Some(1));
        let plan = room.done("plan t.db schema.sql --rows t=10");
        assert!(plan.contains(&format!("refused: {line}")), "{plan}");
        assert_eq!(json(&room.done("plan schema.sql --rows t=10 --json"))["refused"], line);
        assert_eq!(room.files(), ["schema.sql"]);
    }
}

#[test]
fn a_target_that_exists_is_said() {
    let room = Room::with_schema(SCHEMA);
    room.write("t.db", "");
    assert!(room.done("plan t.db schema.sql --rows 1").contains("gen needs --replace"));
}
