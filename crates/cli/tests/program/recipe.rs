//! Recipes, scale and shards, and their records in a database.

use crate::Room;

const SCHEMA: &str = "\
-- gen: rows=300 seed=3
CREATE TABLE a (
  id INTEGER PRIMARY KEY, -- gen: shuffle
  x TEXT NOT NULL,        -- gen: digits(6)
  mail TEXT UNIQUE,
  said TEXT               -- gen: choice('it''s', '\"so\"\\')
);
-- gen: rows=20 fixed=true
CREATE TABLE k (id INTEGER PRIMARY KEY, name TEXT);
-- gen: rows=1000
CREATE TABLE b (
  a INTEGER REFERENCES a,
  k INTEGER NOT NULL REFERENCES k(id),
  n INT, -- gen: sequence(5, 7)
  at TIMESTAMP
);
-- gen: rows=400
CREATE TABLE w (p INT, q TEXT, r BLOB, PRIMARY KEY (p, q)) WITHOUT ROWID;
CREATE INDEX b_a ON b(a, n);
";

fn bytes(room: &Room, name: &str) -> Vec<u8> {
    std::fs::read(room.path(name)).expect(name)
}

#[test]
fn a_written_plan_makes_the_same_database() {
    let room = Room::with_schema(SCHEMA);
    room.done("generate one.db schema.sql --rows w=500 --set b.n=int(1,9) --write-recipe one.toml");
    let printed = room.done("plan schema.sql --rows w=500 --set b.n=int(1,9) --toml");
    assert_eq!(printed.into_bytes(), bytes(&room, "one.toml"));
    room.done("generate two.db --recipe one.toml --write-recipe two.toml");
    assert!(bytes(&room, "one.db") == bytes(&room, "two.db"));
    let lines = |name: &str| -> Vec<String> {
        let text = String::from_utf8(bytes(&room, name)).expect("UTF-8");
        text.lines().map(|line| line.split("  # inferred:").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(lines("one.toml"), lines("two.toml"));
    assert!(room.done("plan --recipe one.toml").contains("table w: 500 rows"));
    assert!(room.done("plan user.db --preset user --rows 10 --toml").contains("[tables.user.columns]"));
}

#[test]
fn scale_is_for_all_but_what_is_fixed_or_asked_for() {
    let room = Room::with_schema(SCHEMA);
    room.done("plan schema.sql --write-recipe recipe.toml");
    room.done("generate big.db --recipe recipe.toml --scale 2.5 --rows w=3 --verify full");
    let count = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM k), (SELECT count(*) FROM b), count(*) FROM w";
    assert_eq!(room.query("big.db", count), "750|20|2500|3");
    assert_eq!(room.query("big.db", "SELECT max(a) > 600, max(k) FROM b"), "1|20");
    room.done("generate small.db schema.sql --scale 0.01");
    assert_eq!(room.query("small.db", count), "3|20|10|4");
    for wrong in ["0", "-1", "nan", "much"] {
        assert_eq!(room.run(&format!("generate x.db schema.sql --scale={wrong}")).code, Some(2), "{wrong}");
    }
}

#[test]
fn mistakes_point_into_the_recipe() {
    let room = Room::with_schema(SCHEMA);
    room.done("plan schema.sql --write-recipe recipe.toml");
    let recipe = String::from_utf8(bytes(&room, "recipe.toml")).expect("UTF-8");
    room.write("bad.toml", recipe.replace("x = \"digits(6)\"", "x = \"digits(66)\""));
    let ended = room.run("generate x.db --recipe bad.toml");
    let line = recipe.lines().position(|line| line.starts_with("x = ")).expect("x") + 1;
    assert!(ended.err.starts_with(&format!("error: bad.toml:{line}:13: a.x: argument 'n'")), "{}", ended.err);
    assert!(ended.err.contains("x = \"digits(66)\"\n"), "{}", ended.err);
    room.write("bad.toml", recipe.replace("algorithm_version = 1", "algorithm_version = 99"));
    let ended = room.run("generate x.db --recipe bad.toml");
    assert!(ended.code == Some(1) && ended.err.contains("bad.toml:2:21: the recipe has algorithm version 99"));
    for arguments in
        ["generate x.db schema.sql --recipe recipe.toml", "generate x.db --preset user --recipe recipe.toml"]
    {
        assert_eq!(room.run(arguments).code, Some(2), "{arguments}");
    }
    assert_eq!(room.files(), ["bad.toml", "recipe.toml", "schema.sql"]);
}

/// A larger number of rows does not change the first ones.
#[test]
fn more_rows_begin_with_the_same() {
    let room = Room::with_schema(SCHEMA);
    room.done("generate few.db --preset user --rows 1000");
    room.done("generate many.db --preset user --rows 5000");
    let user = "SELECT * FROM user WHERE id <= 1000";
    assert_eq!(room.query("few.db", user), room.query("many.db", user));
}

#[test]
fn parts_together_are_the_whole() {
    let room = Room::with_schema(SCHEMA);
    room.done("generate whole.db schema.sql");
    for of in [1, 3, 50] {
        let mut parts = Vec::new();
        for part in 1..=of {
            room.done(&format!("generate part{part}.db schema.sql --shard {part}/{of} --overwrite"));
            parts.push(format!("part{part}.db"));
        }
        for (table, rowid) in [("a", "rowid"), ("k", "rowid"), ("b", "rowid"), ("w", "0")] {
            let sql = format!("SELECT {rowid}, * FROM {table}");
            let mut rows: Vec<String> = Vec::new();
            for part in &parts {
                rows.extend(room.query(part, &sql).lines().map(str::to_owned));
            }
            let mut whole: Vec<String> = room.query("whole.db", &sql).lines().map(str::to_owned).collect();
            rows.sort();
            whole.sort();
            assert!(rows == whole, "{table} of {of}");
        }
    }
    room.done("generate part.db --preset user --rows 10 --shard 2/4");
    assert_eq!(room.query("part.db", "SELECT min(id), max(id) FROM user"), "3|5");
    for wrong in ["0/3", "4/3", "1", "1/0", "a/b"] {
        assert_eq!(room.run(&format!("generate x.db schema.sql --shard {wrong}")).code, Some(2), "{wrong}");
    }
}

#[test]
fn a_database_keeps_its_plan() {
    let room = Room::with_schema(&format!("{SCHEMA}-- the end"));
    room.done("generate one.db schema.sql --seed 5 --record-recipe --shard 1/3 --write-recipe one.toml");
    let kept = room.query("one.db", "SELECT recipe FROM litepress_recipe");
    assert_eq!(kept.into_bytes(), bytes(&room, "one.toml"));
    room.done("generate user.db --preset user --rows 7 --record-recipe --verify full");
    assert_eq!(room.query("user.db", "SELECT count(*) FROM litepress_recipe, user"), "7");
    let ended = room.run("generate x.db schema.sql --record-recipe --rows litepress_recipe=3");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    room.write("taken.sql", "CREATE TABLE litepress_recipe (x INT)");
    assert_eq!(room.run("generate x.db taken.sql --rows 3 --record-recipe").code, Some(2));
}

/// A recipe that exists was lost.
#[test]
fn a_recipe_that_exists_stays() {
    let room = Room::with_schema(SCHEMA);
    room.write("recipe.toml", "mine");
    let ended = room.run("generate x.db schema.sql --write-recipe recipe.toml");
    assert!(ended.code == Some(1) && ended.err.contains("recipe.toml: the file exists"), "{ended:?}");
    assert_eq!(bytes(&room, "recipe.toml"), b"mine");
    let ended = room.run("generate x.db schema.sql --write-recipe recipe.toml --overwrite");
    assert!(ended.code == Some(1) && ended.err.contains("it is no recipe"), "{ended:?}");
    assert_eq!(room.files(), ["recipe.toml", "schema.sql"]);
    let other = room.done("plan schema.sql --seed 3 --toml");
    room.write("recipe.toml", &other);
    room.done("generate x.db schema.sql --write-recipe recipe.toml --overwrite");
    assert_ne!(bytes(&room, "recipe.toml"), other.into_bytes());
}

/// `generate keep.db --write-recipe keep.db --overwrite` replaced the database by the recipe, and failed.
#[test]
fn a_recipe_never_takes_the_name_of_another_file() {
    let room = Room::with_schema(SCHEMA);
    room.sqlite("keep.db").execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (7)").unwrap();
    room.sqlite("other.db").execute_batch("CREATE TABLE t (a)").unwrap();
    room.write("recipe.toml", room.done("plan schema.sql --toml"));
    let files = room.files();
    for (command, code, why) in [
        ("generate keep.db --preset user --rows 5 --write-recipe keep.db", 2, "is the database to make"),
        ("generate new.db --preset user --rows 5 --write-recipe ./new.db", 2, "is the database to make"),
        ("generate new.db --preset user --rows 5 --write-recipe new.db-wal", 2, "keeps beside 'new.db'"),
        ("generate new.db --preset user --rows 5 --write-recipe other.db", 1, "it is a SQLite database"),
        ("generate new.db --recipe recipe.toml --write-recipe recipe.toml", 2, "is a file that is read"),
        ("generate new.db schema.sql --write-recipe ./schema.sql", 2, "is a file that is read"),
        ("plan keep.db --preset user --write-recipe keep.db", 2, "is the database to make"),
        ("plan schema.sql --write-recipe schema.sql --toml", 2, "is a file that is read"),
    ] {
        for overwrite in ["", " --overwrite"] {
            let ended = room.run(&format!("{command}{overwrite}"));
            assert!(ended.code == Some(code) && ended.err.contains(why), "{command}: {ended:#?}");
            assert!(ended.err.contains("help: name another file for the recipe"), "{command}: {ended:#?}");
        }
    }
    assert_eq!(room.files(), files);
    assert_eq!(room.query("keep.db", "SELECT a FROM t"), "7");
}

/// The recipe was written before the database, and stayed without it.
#[test]
fn a_run_that_fails_leaves_no_recipe() {
    let room = Room::with_schema(SCHEMA);
    room.write("x.db", "no database");
    let ended = room.run("generate x.db schema.sql --write-recipe recipe.toml");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(room.files(), ["schema.sql", "x.db"]);
    let out = room.done("generate y.db schema.sql --write-recipe /dev/stdout --overwrite --quiet");
    assert!(out.contains("algorithm_version"), "{out}");
}
