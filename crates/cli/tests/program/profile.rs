//! `litepress profile`.

use crate::{Room, json};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Profiles `source` and makes the look-alike `made.db` of the plan.
fn look_alike(room: &Room, source: &str, scale: &str) {
    let plan = room.done(&format!("profile {source}"));
    room.write("recipe.toml", plan);
    room.done(&format!("generate made.db --recipe recipe.toml --scale {scale} --overwrite --verify full"));
    assert_eq!(room.query("made.db", "SELECT count(*) FROM pragma_foreign_key_check"), "0");
}

#[test]
fn a_look_alike_looks_alike() {
    let room = Room::new();
    room.done("generate shop.db --preset shop --scale 0.01");
    let before = std::fs::read(room.path("shop.db")).expect("the source");
    look_alike(&room, "shop.db", "3");
    assert!(before == std::fs::read(room.path("shop.db")).expect("the source"));
    assert_eq!(room.files(), ["made.db", "recipe.toml", "shop.db"]);
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

/// A database keeps the annotations of its schema: the plan must not fix row counts that follow from those of parents.
#[test]
fn a_look_alike_of_another_seed() {
    let room = Room::new();
    room.done("generate shop.db --preset shop --scale 0.003 --seed 5");
    room.write("recipe.toml", room.done("profile shop.db"));
    for scale in ["", " --scale 0.5", " --scale 3"] {
        room.done(&format!("generate made.db --recipe recipe.toml{scale} --overwrite --verify full"));
        assert_eq!(room.query("made.db", "SELECT count(*) FROM pragma_foreign_key_check"), "0");
    }
}

#[test]
fn as_json_and_with_values() {
    let room = Room::new();
    room.done("generate log.db --preset log --scale 0.003");
    let profile = json(&room.done("profile log.db --json --threads 1"));
    let table = &profile["tables"][0];
    assert_eq!((&table["name"], &table["rows"]), (&"event".into(), &3000.into()));
    assert_eq!((&table["columns"][2]["name"], &table["columns"][2]["distinct"]), (&"level".into(), &5.into()));
    assert!(room.done("profile log.db --keep-values").contains("deal('info': "));
    assert_eq!(room.run("profile nobody.db").code, Some(1));
}

/// Tables as people write them, without annotations: keys of all kinds, odd names, generated columns, views, triggers.
const UNANNOTATED: &str = r#"
CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE "group by" (id INTEGER PRIMARY KEY, "full name" TEXT NOT NULL, "we""ird" REAL, [from] DATE);
CREATE TABLE person (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, country TEXT REFERENCES country(code),
    born DATE, score REAL CHECK (score >= 0), shout TEXT AS (upper(email)) STORED);
CREATE TABLE membership (person INTEGER NOT NULL REFERENCES person(id), "group" INTEGER NOT NULL REFERENCES "group by"(id),
    since INTEGER, PRIMARY KEY (person, "group")) WITHOUT ROWID;
CREATE TABLE invoice (id INTEGER PRIMARY KEY, person INTEGER NOT NULL REFERENCES person(id) ON DELETE CASCADE,
    at DATETIME NOT NULL, state TEXT NOT NULL CHECK (state IN ('new', 'paid', 'void')));
CREATE TABLE line (invoice INTEGER NOT NULL REFERENCES invoice(id), number INTEGER NOT NULL, amount DECIMAL(10, 2) NOT NULL,
    PRIMARY KEY (invoice, number));
CREATE TABLE tree (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES tree(id), payload BLOB);
CREATE TABLE place (x INTEGER NOT NULL, y INTEGER NOT NULL, label ANY, PRIMARY KEY (x, y)) STRICT;
CREATE TABLE visit (x INTEGER, y INTEGER, person INTEGER REFERENCES person, FOREIGN KEY (x, y) REFERENCES place (x, y));
CREATE TABLE empty (id INTEGER PRIMARY KEY, a TEXT, b BLOB);
CREATE VIEW adult AS SELECT * FROM person WHERE born < '2000-01-01';
CREATE TRIGGER logged AFTER INSERT ON empty BEGIN UPDATE empty SET a = 'x' WHERE id = new.id; END;
CREATE INDEX line_amount ON line(amount) WHERE amount > 10;
CREATE UNIQUE INDEX person_lower ON person(lower(email));
"#;

/// Returns the distances of all columns with what is measured, the largest first.
fn distances(room: &Room, source: &str, made: &str) -> Vec<(f64, String, String)> {
    let comparison = json(&room.done(&format!("compare {source} {made} --json")));
    let mut found = Vec::new();
    for table in comparison["tables"].as_array().expect("tables") {
        for column in table["columns"].as_array().expect("columns") {
            let name =
                format!("{}.{}", table["name"].as_str().expect("a name"), column["name"].as_str().expect("a name"));
            let nulls: Vec<f64> = [0, 1].map(|side| column["nulls"][side].as_f64().expect("a share")).to_vec();
            assert!((nulls[0] - nulls[1]).abs() < 0.13, "{name}: {nulls:?}");
            let shares = column["buckets"].as_array().expect("buckets").iter();
            let sum: f64 = shares.map(|bucket| bucket["shares"][0].as_f64().expect("a share")).sum();
            assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-6, "{name}: {sum}");
            let measure = column["measure"].as_str().expect("a measure").to_owned();
            found.push((column["distance"].as_f64().expect("a distance"), name, measure));
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found
}

#[test]
fn a_schema_without_annotations_there_and_back() {
    let room = Room::with_schema(UNANNOTATED);
    let rows =
        "country=40 group\u{a0}by=30 person=2k membership=4k invoice=5k line=20k tree=500 place=300 visit=1500 empty=0";
    let mut command = room.command("generate source.db schema.sql --verify full");
    for table in rows.split(' ') {
        command.arg("--rows").arg(table.replace('\u{a0}', " "));
    }
    assert!(command.output().expect("the program starts").status.success());
    for scale in ["1", "3", "0.5"] {
        look_alike(&room, "source.db", scale);
        assert_eq!(room.query("made.db", "PRAGMA integrity_check"), "ok");
    }
    look_alike(&room, "source.db", "4");
    let sql = "SELECT count(*), (SELECT count(*) FROM line), (SELECT count(*) FROM empty) FROM membership";
    assert_eq!(room.query("made.db", sql), "16000|80000|0");
    assert_eq!(room.query("made.db", "SELECT count(*) FROM line WHERE round(amount, 2) <> amount"), "0");
    let distances = distances(&room, "source.db", "made.db");
    assert!(distances[0].0 < 0.2, "{distances:?}");
    assert_eq!(room.run("compare source.db made.db --keep-values").code, Some(2));
    let shown = room.done("compare source.db made.db");
    assert!(
        shown.contains("invoice: 5,000 rows | 20,000 rows\n")
            && shown.contains("state: shares of values, distance 0.0")
    );
    assert_eq!(room.done("compare source.db source.db").lines().last().map(|line| line.contains(" 0.000")), Some(true));
    room.sqlite("other.db").execute_batch("CREATE TABLE person (id INTEGER PRIMARY KEY)").expect("a database");
    let ended = room.run("compare source.db other.db");
    assert!(ended.code == Some(1) && ended.err.contains("there is no table country to compare with"), "{ended:#?}");
}

/// A database with further tables and columns had the score 1, and nothing was said of them.
#[test]
fn a_comparison_names_what_it_leaves_out() {
    let room = Room::new();
    room.sqlite("one.db").execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").expect("a database");
    let sql = "CREATE TABLE t (A, b, c AS (b)); INSERT INTO t VALUES (1, 2); CREATE TABLE \"more\" (x)";
    room.sqlite("other.db").execute_batch(sql).expect("a database");
    let shown = room.done("compare one.db other.db --html page.html");
    assert!(
        shown.contains("\nOnly in the other database, and not compared: column b of table t, table more\n"),
        "{shown}"
    );
    let page = std::fs::read_to_string(room.path("page.html")).expect("a page");
    assert!(page.contains(r#""only_in_other":["column b of table t","table more"]"#), "{page}");
    assert!(!room.done("compare one.db one.db").contains("Only in"));
    let details = json(&room.done("compare one.db other.db --json"));
    assert_eq!(details["only_in_other"], serde_json::json!(["column b of table t", "table more"]));
}

/// Odd databases that SQLite can make: profile, look-alike and comparison must not fail.
#[test]
fn odd_databases() {
    let room = Room::new();
    room.sqlite("odd.db")
        .execute_batch(
            "PRAGMA foreign_keys = 0; CREATE TABLE nulls (a, b TEXT, c INT); INSERT INTO nulls VALUES (NULL, NULL, NULL), (NULL, NULL, NULL);
            CREATE TABLE huge (t TEXT, b BLOB); INSERT INTO huge VALUES (printf('%.1000000c', 'x'), zeroblob(1000000)), ('', x'');
            CREATE TABLE mixed (v); INSERT INTO mixed VALUES (1), ('a'), (2.5), (x'00'), (NULL), (9223372036854775807), (-9223372036854775808), (9e999), (1e308);
            CREATE TABLE times (day TEXT, unix INT, julian REAL, iso TEXT, at TEXT UNIQUE);
            WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 500) INSERT INTO times
                SELECT date('2020-01-01', n || ' days'), 1600000000 + 60 * n * n, 2459000.5 + n / 3.0, strftime('%Y-%m-%dT%H:%M:%S.', '2020-01-01', (n * n) || ' minutes') || printf('%03dZ', n), datetime('2020-01-01', n || ' hours') FROM k;
            CREATE TABLE few (day TEXT); INSERT INTO few SELECT date('2024-05-01', (unix % 28) || ' days') FROM times;
            CREATE TABLE emoji (\"naïve 🦀\" TEXT PRIMARY KEY, \"\" INT) WITHOUT ROWID; INSERT INTO emoji VALUES ('🦀', 1), ('é', 2);
            CREATE TABLE orphan (p INT REFERENCES nulls(c), q INT REFERENCES gone); INSERT INTO orphan VALUES (1, 2), (NULL, 3);
            CREATE TABLE self (id INTEGER PRIMARY KEY, me INT NOT NULL REFERENCES self); INSERT INTO self VALUES (1, 1), (2, 1), (3, 2);",
        )
        .expect("an odd database");
    let plan = room.done("profile odd.db");
    room.write("recipe.toml", &plan);
    for scale in ["1", "10"] {
        room.done(&format!("generate made.db --recipe recipe.toml --scale {scale} --overwrite"));
        assert_eq!(room.query("made.db", "PRAGMA integrity_check"), "ok");
    }
    let sql = "SELECT count(*), min(julianday(day) IS NOT NULL), min(julianday(iso) IS NOT NULL), min(iso LIKE '____-__-__T__:__:__.___Z'),
        count(DISTINCT at), min(length(at)), sum((unix - 1600000060) % 60) FROM times";
    assert_eq!(room.query("made.db", sql), "5000|1|1|1|5000|19|0");
    assert_eq!(room.query("made.db", "SELECT count(*), count(date(day)) FROM few"), "5000|5000");
    assert_eq!(room.query("made.db", "SELECT count(*), count(a), count(b), count(c) FROM nulls"), "20|0|0|0");
    room.done("compare odd.db made.db");
}

/// Returns a room with Chinook as `source.db`, if the machine has it.
fn chinook() -> Option<Room> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("LITEPRESS_SHARED_DATA").map_or_else(beside, PathBuf::from);
    let source = data.join("chinook/Chinook_Sqlite.sqlite");
    if !source.exists() {
        println!("skipped: there is no {}", source.display());
        return None;
    }
    let room = Room::new();
    std::fs::copy(&source, room.path("source.db")).expect("a copy");
    Some(room)
}

#[test]
fn a_real_database() {
    let Some(room) = chinook() else { return };
    look_alike(&room, "source.db", "25");
    assert_eq!(room.query("made.db", "PRAGMA integrity_check"), "ok");
    room.done("check made.db --full");
    let plan = std::fs::read_to_string(room.path("recipe.toml")).expect("the plan");
    assert_no_text_of(&room, "source.db", &plan);
    // The numbers of rows, and of children of each parent, are exactly in proportion.
    for table in ["Album", "Artist", "Customer", "Employee", "Invoice", "InvoiceLine", "PlaylistTrack", "Track"] {
        let count =
            |name: &str| room.query(name, &format!("SELECT count(*) FROM {table}")).parse::<u64>().expect("a number");
        assert_eq!(count("made.db"), 25 * count("source.db"), "{table}");
    }
    for (child, parent) in [("Album", "Artist"), ("InvoiceLine", "Invoice")] {
        let sql = |times: u64| {
            let children =
                format!("SELECT (SELECT count(*) FROM {child} c WHERE c.{parent}Id = p.{parent}Id) n FROM {parent} p");
            format!("SELECT n, count(*) * {times} FROM ({children}) GROUP BY n ORDER BY n")
        };
        assert_eq!(room.query("made.db", &sql(1)), room.query("source.db", &sql(25)), "{child} of {parent}");
    }
    // Genres and kinds of media are lists: they stay as large as they are, and all tracks of an album have the same.
    for list in ["Genre", "MediaType"] {
        let count = format!("SELECT count(*) FROM {list}");
        assert_eq!(room.query("made.db", &count), room.query("source.db", &count), "{list}");
    }
    let sql = "SELECT max(n) FROM (SELECT count(DISTINCT GenreId) n FROM Track GROUP BY AlbumId)";
    assert_eq!(room.query("made.db", sql), "1");
    // Their tracks are not exactly in proportion: an album, whose size is given, draws the genre of all of its tracks.
    let shares = |name: &str| {
        let sql = "SELECT GenreId, MediaTypeId, 1.0 * count(*) / (SELECT count(*) FROM Track) FROM Track GROUP BY 1, 2";
        let of_row = |row: &str| {
            let (pair, share) = row.rsplit_once('|').expect("a pair and a share");
            (pair.to_owned(), share.parse::<f64>().expect("a share"))
        };
        room.query(name, sql).lines().map(of_row).collect::<HashMap<String, f64>>()
    };
    let (source, made) = (shares("source.db"), shares("made.db"));
    let pairs: HashSet<&String> = source.keys().chain(made.keys()).collect();
    let of = |shares: &HashMap<String, f64>, pair: &String| shares.get(pair).copied().unwrap_or(0.0);
    let apart = pairs.into_iter().map(|pair| (of(&source, pair) - of(&made, pair)).abs()).sum::<f64>() / 2.0;
    assert!(apart < 0.06, "{apart}");
    let comparison = json(&room.done("compare source.db made.db --json"));
    assert!(comparison["score"].as_f64().expect("a score") > 0.86, "{}", comparison["score"]);
    // Videos were rock, and as large as songs.
    let tables = comparison["tables"].as_array().expect("tables").iter();
    let relations = tables.flat_map(|table| table["relations"].as_array().expect("relations"));
    let is_of_kind = |of: &&Value| of["relation"].as_str().is_some_and(|text| text.ends_with("depends on MediaTypeId"));
    let of_kind: Vec<f64> = relations.filter(is_of_kind).filter_map(|of| of["distance"].as_f64()).collect();
    assert!(of_kind.len() >= 2 && of_kind.iter().all(|distance| *distance < 0.15), "{of_kind:?}");
    // Made-up names have other lengths than those of the source, and the days of eight employees are few.
    // Postcodes and states are those of the made-up cities.
    for (distance, name, measure) in distances(&room, "source.db", "made.db") {
        let is_of_place = ["PostalCode", "State"].iter().any(|end| name.ends_with(end));
        assert!(
            is_of_place || distance < if measure == "lengths" { 0.65 } else { 0.35 },
            "{name}, {measure}: {distance}"
        );
    }
}

/// Three tables of the guide, with the columns that it shows.
const SHOWN: [&str; 3] = [
    "SELECT CustomerId, FirstName, LastName, City, State, Country, PostalCode, Email FROM Customer",
    "SELECT AlbumId, Title, ArtistId FROM Album",
    "SELECT TrackId, Name, AlbumId, GenreId, Composer, Milliseconds, UnitPrice FROM Track",
];

/// Formats ten rows as a Markdown table.
fn ten_rows(room: &Room, database: &str, query: &str) -> String {
    let columns = query.strip_prefix("SELECT ").and_then(|rest| rest.split(" FROM ").next()).expect(query);
    let cells = columns.replace(", ", ", '') || ' | ' || ifnull(");
    let (_, table) = query.rsplit_once(' ').expect(query);
    let rows = room.query(database, &format!("SELECT '| ' || ifnull({cells}, '') || ' |' FROM {table} LIMIT 10"));
    let names: Vec<&str> = columns.split(", ").collect();
    format!("| {} |\n|{}\n{rows}\n", names.join(" | "), "---|".repeat(names.len()))
}

/// The guide showed no rows of a look-alike, and those were not worth showing: `Titcj` lived in `eeeeeee`. With the environment
/// variable WRITE they are written anew.
#[test]
fn the_guide_shows_a_look_alike_as_it_is() {
    let Some(room) = chinook() else { return };
    look_alike(&room, "source.db", "1");
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generate.md");
    let mut text = std::fs::read_to_string(&guide).expect("the guide");
    for (query, database) in SHOWN.iter().flat_map(|query| [(query, "source.db"), (query, "made.db")]) {
        let rows = ten_rows(&room, database, query);
        let side = if database == "made.db" { "the look-alike" } else { "Chinook" };
        let head = format!("`{query}`, {side}\n\n");
        let start = text.find(&head).unwrap_or_else(|| panic!("the guide lacks {head}")) + head.len();
        let end = start + text[start..].find("\n\n").expect("an end") + 1;
        if std::env::var_os("WRITE").is_some() {
            text.replace_range(start..end, &rows);
            std::fs::write(&guide, &text).expect("the guide");
        } else {
            assert_eq!(text[start..end], rows, "docs/generate.md has other rows of {head}; make it with WRITE=1");
        }
    }
}

/// Asserts that the plan of a table has no text of the table of more than three characters. Made-up names may be those of other
/// tables: `Warsaw` is a city of our list, and of a customer.
fn assert_no_text_of(room: &Room, database: &str, plan: &str) {
    let columns = room.query(
        database,
        "SELECT m.name || '|' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.type LIKE 'NVARCHAR%'",
    );
    for column in columns.lines() {
        let (table, column) = column.split_once('|').expect("two names");
        let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE length({column}) > 3");
        let from = plan.find(&format!("\n[tables.{table}]")).expect("the table");
        let is_of_table = |part: &&str| part.strip_prefix(table).is_some_and(|rest| rest.starts_with([']', '.']));
        let said: String = plan[from..].split("\n[tables.").skip(1).take_while(is_of_table).collect();
        for text in room.query(database, &sql).lines() {
            assert!(!said.contains(&format!("'{text}'")), "{table}.{column}: {text}");
        }
    }
}

/// A database without rows had the best score beside one with rows, and so had one without tables.
#[test]
fn nothing_is_not_like_everything() {
    let room = Room::new();
    for (name, rows) in [("empty.db", ""), ("again.db", ""), ("full.db", "; INSERT INTO t VALUES (1, 'x'), (2, 'y')")] {
        room.sqlite(name).execute_batch(&format!("CREATE TABLE t (a INT, b TEXT){rows}")).unwrap();
    }
    room.sqlite("none.db").execute_batch("PRAGMA user_version = 1").unwrap();
    let score = |databases: &str| json(&room.done(&format!("compare {databases} --json")))["score"].as_f64();
    assert_eq!((score("empty.db full.db"), score("empty.db again.db")), (Some(0.0), Some(1.0)));
    assert!(score("full.db empty.db").is_some_and(|score| score <= 0.5));
    for other in ["full.db", "none.db"] {
        let ended = room.run(&format!("compare none.db {other}"));
        assert!(ended.code == Some(1) && ended.err.contains("the database has no table to compare"), "{ended:?}");
    }
}
