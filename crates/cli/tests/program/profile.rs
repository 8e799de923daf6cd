//! `litepress profile`.

use crate::{Room, json};
use std::path::{Path, PathBuf};

/// Profile and plan, then the look-alike `made.db`.
fn look_alike(room: &Room, source: &str, scale: &str) {
    let plan = room.done(&format!("profile {source}"));
    room.write("plan.toml", plan);
    room.done(&format!("gen made.db --plan plan.toml --scale {scale} --replace --verify full"));
    assert_eq!(room.query("made.db", "SELECT count(*) FROM pragma_foreign_key_check"), "0");
}

#[test]
fn a_look_alike_looks_alike() {
    let room = Room::new();
    room.done("gen shop.db --preset shop --scale 0.01");
    let before = std::fs::read(room.path("shop.db")).expect("the source");
    look_alike(&room, "shop.db", "3");
    assert!(before == std::fs::read(room.path("shop.db")).expect("the source"));
    assert_eq!(room.files(), ["made.db", "plan.toml", "shop.db"]);
    assert_eq!(room.query("made.db", "SELECT count(*), (SELECT count(*) FROM line) FROM customer"), "3000|89184");
    for sql in [
        "SELECT round(avg(price)), round(avg(stock), -1) FROM product",
        "SELECT round(avg(stars), 1), round(avg(helpful)), round(avg(title IS NULL), 1) FROM review",
        "SELECT round(avg(quantity), 1), round(avg(reason IS NULL), 1), count(DISTINCT state) FROM line",
    ] {
        let [source, made] = ["shop.db", "made.db"].map(|name| room.query(name, sql));
        let numbers = |row: &str| row.split('|').map(|number| number.parse::<f64>().expect(row)).collect::<Vec<f64>>();
        let pairs = numbers(&source).into_iter().zip(numbers(&made));
        assert!(pairs.clone().all(|(one, other)| (one - other).abs() <= 0.1 * one.abs() + 0.11), "{sql}: {pairs:?}");
    }
}

/// Annotations stay in the schema that a database keeps: numbers of rows that follow from those of parents are not said.
#[test]
fn a_look_alike_of_another_seed() {
    let room = Room::new();
    room.done("gen shop.db --preset shop --scale 0.003 --seed 5");
    room.write("plan.toml", room.done("profile shop.db"));
    for scale in ["", " --scale 0.5", " --scale 3"] {
        room.done(&format!("gen made.db --plan plan.toml{scale} --replace --verify full"));
        assert_eq!(room.query("made.db", "SELECT count(*) FROM pragma_foreign_key_check"), "0");
    }
}

#[test]
fn as_json_and_with_values() {
    let room = Room::new();
    room.done("gen log.db --preset log --scale 0.003");
    let profile = json(&room.done("profile log.db --json --threads 1"));
    let table = &profile["tables"][0];
    assert_eq!((&table["name"], &table["rows"]), (&"event".into(), &3000.into()));
    assert_eq!((&table["columns"][2]["name"], &table["columns"][2]["distinct"]), (&"level".into(), &5.into()));
    assert!(room.done("profile log.db --keep-values").contains("choice('info': "));
    assert_eq!(room.run("profile nobody.db").code, Some(1));
}

#[test]
fn a_real_database() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("LITEPRESS_SHARED_DATA").map_or_else(beside, PathBuf::from);
    let source = data.join("chinook/Chinook_Sqlite.sqlite");
    if !source.exists() {
        println!("skipped: there is no {}", source.display());
        return;
    }
    let room = Room::new();
    std::fs::copy(&source, room.path("source.db")).expect("a copy");
    look_alike(&room, "source.db", "20");
    let plan = std::fs::read_to_string(room.path("plan.toml")).expect("the plan");
    for secret in ["AC/DC", "Schneider", "Calgary", "leonekohler"] {
        assert!(!plan.contains(secret), "{secret}");
    }
    assert_eq!(room.query("made.db", "SELECT count(*), (SELECT count(*) FROM Track) FROM InvoiceLine"), "44800|70060");
    let sql =
        "SELECT round(avg(Milliseconds) / 1e5), round(avg(Composer IS NULL), 1), round(avg(UnitPrice), 1) FROM Track";
    assert_eq!(room.query("made.db", sql), room.query("source.db", sql));
}
