//! Rows for databases that exist: every route leaves what SQLite's own INSERTs leave.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::cast_possible_truncation, reason = "random numbers are small")]

use litepress::rows::quoted_name;
use litepress::{AppendOptions, Conflict, Options, Route, Value, Writer};
use rusqlite::{Connection, params_from_iter, types};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A small generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Returns a value of any type; a long one now and then, which overflows its page.
    fn value(&mut self, distinct: u64) -> types::Value {
        match self.below(12) {
            0 => types::Value::Null,
            1 | 2 => types::Value::Real(self.below(distinct) as f64 / 4.0),
            3 => types::Value::Blob(vec![self.below(256) as u8; self.below(9) as usize]),
            4 if self.below(20) == 0 => types::Value::Text("long ".repeat(self.below(2000) as usize)),
            4..=7 => types::Value::Text(["a", "A", "b ", "b", "ä", "zz"][self.below(6) as usize].repeat(2)),
            _ => types::Value::Integer(self.below(distinct) as i64 - 20),
        }
    }
}

/// A table, the SQL that changes it before rows are added, and the number of its columns that are given.
const TABLES: [(&str, &str, usize); 20] = [
    ("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT)", "", 3),
    ("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t (a); CREATE INDEX j ON t (b DESC, id)", "", 3),
    ("CREATE TABLE t (a, b REAL, c)", "", 3),
    (
        "CREATE TABLE t (a COLLATE NOCASE, b, c); CREATE INDEX i ON t (a, c); CREATE INDEX j ON t (a COLLATE RTRIM)",
        "",
        3,
    ),
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a, b); CREATE INDEX i ON t (b)",
        "DELETE FROM t WHERE id > 50",
        3,
    ),
    ("CREATE TABLE t (a, id INTEGER PRIMARY KEY, b)", "DELETE FROM t WHERE id % 3 = 0", 3),
    ("CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t (a)", "ALTER TABLE t ADD COLUMN b DEFAULT 5", 3),
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
        "ALTER TABLE t ADD COLUMN b DEFAULT 'x'; CREATE INDEX i ON t (b, a)",
        3,
    ),
    ("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b)", "", 3),
    ("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, CHECK (a IS NOT 7 OR typeof(b) <> 'real' OR id % 2))", "", 3),
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t (lower(b), id) WHERE a IS NOT NULL;
         CREATE INDEX j ON t (typeof(a) || id DESC, b)",
        "",
        3,
    ),
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, s TEXT AS (quote(a) || id) STORED, v AS (length(b)) VIRTUAL, b);
         CREATE INDEX i ON t (s); CREATE INDEX j ON t (v DESC, a)",
        "",
        3,
    ),
    ("CREATE TABLE t (a, b REAL, c CHECK (c IS NOT 5 OR b > 0), d AS (coalesce(b, 0) + 1) STORED NOT NULL)", "", 3),
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t (b)",
        "ALTER TABLE t ADD COLUMN v AS (quote(a) || quote(b))",
        3,
    ),
    (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b,
         v AS (json_extract(CASE WHEN a = 7 AND typeof(b) = 'real' THEN '{' ELSE '{}' END, '$.x')));
         CREATE INDEX i ON t (json_extract(CASE WHEN a = 8 AND typeof(b) = 'real' THEN '{' ELSE '{}' END, '$.x'))",
        "",
        3,
    ),
    ("CREATE TABLE t (id, a, b, PRIMARY KEY (id)) WITHOUT ROWID; CREATE INDEX i ON t (a DESC)", "", 3),
    ("CREATE TABLE t (a, id TEXT COLLATE NOCASE PRIMARY KEY, b) WITHOUT ROWID; CREATE INDEX i ON t (b, a)", "", 3),
    (
        "CREATE TABLE t (id INT PRIMARY KEY, a) WITHOUT ROWID",
        "ALTER TABLE t ADD COLUMN b DEFAULT 'x'; CREATE INDEX i ON t (b)",
        3,
    ),
    ("CREATE TABLE t (id INTEGER PRIMARY KEY, a, u INT UNIQUE, b); CREATE UNIQUE INDEX i ON t (b, u DESC)", "", 4),
    ("CREATE TABLE t (id PRIMARY KEY, u INT UNIQUE, a CHECK (a IS NOT 7), b) WITHOUT ROWID", "", 4),
];

fn insert(sqlite: &Connection, verb: &str, end: &str, rows: &[Vec<types::Value>]) -> rusqlite::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let places = vec!["?"; first.len()].join(",");
    let mut insert = sqlite.prepare_cached(&format!("{verb} INTO t VALUES ({places}){end}"))?;
    rows.iter().try_for_each(|row| insert.execute(params_from_iter(row)).map(drop))
}

/// Returns the names of the columns that rows give, as SQL lists them.
fn given_columns(sqlite: &Connection) -> String {
    let sql = "SELECT group_concat(name, ', ') FROM pragma_table_info('t')";
    sqlite.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns all rows with their rowids, and what is in `sqlite_sequence`.
fn content(sqlite: &Connection) -> Vec<String> {
    let has_rowid =
        !sqlite.query_row("SELECT wr FROM pragma_table_list('t')", [], |row| row.get::<_, bool>(0)).unwrap();
    let mut names = Vec::from_iter(has_rowid.then(|| quoted_name("rowid")));
    let columns = "SELECT name FROM pragma_table_xinfo('t')";
    let mut select = sqlite.prepare(columns).unwrap();
    names.extend(select.query_map([], |row| Ok(quoted_name(&row.get::<_, String>(0)?))).unwrap().map(Result::unwrap));
    let quoted: Vec<String> = names.iter().map(|name| format!("quote({name})")).collect();
    let order = if has_rowid { "rowid" } else { "id" };
    let sql = format!("SELECT concat_ws('|', {}) FROM t NOT INDEXED ORDER BY {order}", quoted.join(","));
    let mut rows: Vec<String> =
        sqlite.prepare(&sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    if sqlite.table_exists(None, "sqlite_sequence").unwrap() {
        let sql = "SELECT concat_ws('|', name, seq) FROM sqlite_sequence";
        rows.extend(
            sqlite.prepare(sql).unwrap().query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap),
        );
    }
    rows
}

fn value(value: &types::Value) -> Value<'_> {
    match value {
        types::Value::Null => Value::Null,
        types::Value::Integer(int) => Value::Int(*int),
        types::Value::Real(real) => Value::Real(*real),
        types::Value::Text(text) => Value::Text(text),
        types::Value::Blob(blob) => Value::Blob(blob),
    }
}

/// Adds rows by a route. Returns the route that was taken, or the error.
fn append(
    path: &Path,
    rows: &[Vec<types::Value>],
    (conflict, updated): (Conflict, &[&str]),
    route: Route,
    (through_wal, truncates): (bool, bool),
) -> Result<Route, String> {
    let mut appending = AppendOptions::default().through_wal(through_wal).truncate(truncates);
    appending.route = Some(route);
    let options = Options::default().on_conflict(conflict).update_columns(updated);
    let mut db = Writer::open(path, options, &appending).map_err(|error| error.to_string())?;
    let mut table = db.table("t").map_err(|error| error.to_string())?;
    for row in rows {
        let row: Vec<Value<'_>> = row.iter().map(value).collect();
        table.insert(&row[..]).map_err(|error| error.to_string())?;
    }
    let written = db.finish().map_err(|error| error.to_string())?;
    let report = written.appended.expect("rows were added");
    let table = &report.tables[0];
    assert_eq!(table.added + table.updated.unwrap_or(0) + table.ignored, rows.len() as u64, "{table:?}");
    Ok(table.plan.route)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one case after another")]
fn every_route_leaves_what_sqlite_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let (mut random, mut taken) = (Random(7), BTreeMap::<&str, u32>::new());
    let mut paged = BTreeSet::new();
    // More of them: LITEPRESS_APPENDS=1000.
    let cases =
        std::env::var("LITEPRESS_APPENDS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3 * TABLES.len());
    for number in 0..cases {
        let (sql, change, columns) = TABLES[number % TABLES.len()];
        let mode = ["wal", "delete"][number / TABLES.len() % 2];
        let page_size = [512, 4096, 1024][number / TABLES.len() % 3];
        let conflict =
            [Conflict::Abort, Conflict::Ignore, Conflict::Replace, Conflict::Update][random.below(4) as usize];
        let key = Connection::open_in_memory()
            .and_then(|sqlite| {
                sqlite.execute_batch(sql)?;
                sqlite.query_row("SELECT cid FROM pragma_table_info('t') WHERE pk", [], |row| row.get::<_, usize>(0))
            })
            .ok();
        let conflict = if key.is_none() && conflict == Conflict::Update { Conflict::Abort } else { conflict };
        let setup = format!("PRAGMA page_size = {page_size}; PRAGMA journal_mode = {mode}; {sql}");
        let old = [0, 3, 60, 900, 4000][random.below(5) as usize];
        let new = [1, 40, 700, 3000][random.below(4) as usize];
        let first = old + [1, 1, 500, -old / 2][random.below(4) as usize];
        let shuffles = random.below(2) == 0;
        let distinct = if sql.contains("UNIQUE") { 1 << 40 } else { 200 };
        let unique = (columns == 4).then(|| if sql.contains("a, u") { 2 } else { 1 });
        let row = |random: &mut Random, id: i64| -> Vec<types::Value> {
            let cell = |column| match column {
                _ if key != Some(column) && unique != Some(column) => random.value(distinct),
                _ if key != Some(column) => {
                    types::Value::Integer(7 * id + if random.below(40_000) == 0 { 7 } else { 0 })
                }
                _ if sql.contains("NOCASE PRIMARY KEY") => {
                    types::Value::Text(format!("{}{id}", ["k", "K"][random.below(2) as usize]))
                }
                _ => types::Value::Integer(id),
            };
            (0..columns).map(cell).collect()
        };
        let count = if change.contains("DEFAULT") { columns - 1 } else { columns };
        let olds: Vec<_> = (1..=old).map(|id| row(&mut random, id)[..count].to_vec()).collect();
        let repeats = conflict != Conflict::Abort && random.below(2) == 0;
        let step_of = |random: &mut Random, step: i64| {
            if repeats && random.below(8) == 0 { random.below(new as u64) as i64 } else { step }
        };
        let mut news: Vec<_> = (0..new)
            .map(|step| {
                let step = step_of(&mut random, step);
                row(&mut random, first + step)
            })
            .collect();
        if shuffles {
            (1..news.len()).for_each(|at| news.swap(at, random.below(at as u64 + 1) as usize));
        }
        let make = |name: &str| {
            let path = folder.path().join(name);
            let sqlite = Connection::open(&path).unwrap();
            sqlite.execute_batch(&setup).unwrap();
            sqlite.execute_batch("BEGIN").unwrap();
            // SQLite refuses some of them, whatever the policy.
            olds.chunks(1).for_each(|row| drop(insert(&sqlite, "INSERT OR IGNORE", "", row)));
            sqlite.execute_batch(&format!("COMMIT; {change}")).unwrap();
            (path, sqlite)
        };
        let (_, expected) = make(&format!("{number}.db"));
        let truncates = number % 7 == 1;
        expected.execute_batch(if truncates { "BEGIN; DELETE FROM t" } else { "BEGIN" }).unwrap();
        let updated: &[&str] = if conflict == Conflict::Update && random.below(2) == 0 { &["b"] } else { &[] };
        let set = match (updated, unique) {
            ([_], _) => "b = excluded.b",
            (_, Some(_)) => "a = excluded.a, b = excluded.b, u = excluded.u",
            _ => "a = excluded.a, b = excluded.b",
        };
        let (verb, end) = match conflict {
            Conflict::Abort => ("INSERT", String::new()),
            Conflict::Ignore => ("INSERT OR IGNORE", String::new()),
            Conflict::Replace => ("INSERT OR REPLACE", String::new()),
            Conflict::Update => ("INSERT", format!(" ON CONFLICT (id) DO UPDATE SET {set}")),
        };
        let done = insert(&expected, verb, &end, &news);
        expected.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).unwrap();
        for route in [Route::Sql, Route::Edge, Route::Rebuild] {
            let what = format!(
                "{number}: {route:?} {conflict:?} {updated:?} {mode} {page_size} {sql}; {old} {new} {first} {shuffles} {truncates} {repeats}"
            );
            let (path, before) = make(&format!("{number}{route:?}.db"));
            // A reader keeps what it sees.
            before.execute_batch("BEGIN").unwrap();
            let seen = if mode == "wal" { content(&before) } else { Vec::new() };
            let appended = append(&path, &news, (conflict, updated), route, (number % 7 == 0, truncates));
            assert_eq!(appended.is_ok(), done.is_ok(), "{what}: {appended:?} {done:?}");
            if mode == "wal" {
                assert_eq!(content(&before), seen, "{what}");
            }
            before.execute_batch("COMMIT").unwrap();
            drop(before);
            let after = Connection::open(&path).unwrap();
            assert_eq!(content(&after), content(&expected), "{what}");
            let check = |sql: &str| after.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
            assert_eq!(check("PRAGMA integrity_check"), "ok", "{what}");
            assert_eq!(check("PRAGMA journal_mode"), mode, "{what}");
            // SQLite goes on with the trees.
            let names = given_columns(&after);
            let again = format!("INSERT OR IGNORE INTO t ({names}) SELECT {names} FROM t LIMIT 5");
            after.execute_batch(&format!("{again}; DELETE FROM t; VACUUM")).unwrap();
            assert_eq!(check("PRAGMA integrity_check"), "ok", "{what}");
            if let Ok(route) = appended {
                if route != Route::Sql {
                    paged.insert(number % TABLES.len());
                }
                *taken.entry(route.name()).or_default() += 1;
            }
            std::fs::remove_file(path).unwrap();
        }
    }
    assert!(taken["edge"] > 8 && taken["rebuild"] > 15 && taken["sql"] > 30, "{taken:?}");
    assert_eq!(paged.len(), TABLES.len(), "rows of every table become pages: {paged:?}");
}

/// An empty file of the day, or an empty frame, left the rows of the day before: only tables that got rows lost their old ones.
#[test]
fn rows_are_deleted_even_if_none_come() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let sqlite = Connection::open(&path).unwrap();
    sqlite.execute_batch("CREATE TABLE t (a); CREATE TABLE other (a); INSERT INTO other VALUES (1)").unwrap();
    for route in [Route::Sql, Route::Edge, Route::Rebuild] {
        sqlite.execute("INSERT INTO t VALUES (1)", []).unwrap();
        append(&path, &[], (Conflict::Abort, &[]), route, (false, true)).unwrap();
        assert_eq!(content(&sqlite), Vec::<String>::new(), "{route:?}");
    }
    assert!(sqlite.query_row("SELECT EXISTS (SELECT 1 FROM other)", [], |row| row.get::<_, bool>(0)).unwrap());
}

/// Programs write into `sqlite_sequence`, too. Pages left a text there as it was, since it is above all numbers, and gave a table with
/// negative rowids a negative number.
#[test]
fn autoincrement_counts_on_from_what_is_no_integer() {
    let folder = tempfile::tempdir().unwrap();
    let setup = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES (-9, 1);";
    let sequences =
        ["'abc'", "'700'", "NULL", "3.5", "-5", "600"].map(|seq| format!("UPDATE sqlite_sequence SET seq = {seq}"));
    for (number, change) in sequences.iter().map(String::as_str).chain(["DELETE FROM sqlite_sequence"]).enumerate() {
        for id in [types::Value::Integer(-3), types::Value::Integer(500), types::Value::Null] {
            let names: &[&str] = if id == types::Value::Null { &["a"] } else { &["id", "a"] };
            let row = &[id, types::Value::Integer(2)][2 - names.len()..];
            let contents = [Route::Sql, Route::Edge, Route::Rebuild].map(|route| {
                let path = folder.path().join(format!("{number}.db"));
                let _ = std::fs::remove_file(&path);
                let sqlite = Connection::open(&path).unwrap();
                sqlite.execute_batch(&format!("{setup}{change}")).unwrap();
                let mut appending = AppendOptions::default();
                appending.route = Some(route);
                let mut db = Writer::open(&path, Options::default(), &appending).unwrap();
                let row: Vec<Value<'_>> = row.iter().map(value).collect();
                db.table_columns("t", names).unwrap().insert(&row[..]).unwrap();
                db.finish().unwrap();
                content(&sqlite)
            });
            assert!(contents.iter().all(|content| *content == contents[0]), "{change} {row:?}: {contents:?}");
        }
    }
}

/// A row that breaks a rule must be named as SQLite names it, whatever the route.
#[test]
fn a_page_route_that_fails_leaves_the_error_to_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let sqlite = Connection::open(&path).unwrap();
    sqlite.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 'x')").unwrap();
    let row = |id: i64, a: &str| vec![types::Value::Integer(id), types::Value::Text(a.to_owned())];
    for route in [Route::Sql, Route::Edge, Route::Rebuild] {
        let error =
            append(&path, &[row(2, "y"), row(3, "x")], (Conflict::Abort, &[]), route, (false, false)).unwrap_err();
        assert!(error.contains("record 2") && error.contains("UNIQUE constraint failed: t.a"), "{error}");
        assert_eq!(content(&sqlite), ["1|1|'x'"]);
    }
}

/// SQLite checks a row before it looks for others with its key. A page route that drops rows first would have taken both.
#[test]
fn a_row_that_another_one_replaces_must_meet_the_rules_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    for rule in
        ["a, CHECK (a <> 'wrong')", "a, v AS (json(a))", "a, v AS (json(a)) STORED", "a); CREATE INDEX i ON t (json(a)"]
    {
        let _ = std::fs::remove_file(&path);
        let sqlite = Connection::open(&path).unwrap();
        sqlite
            .execute_batch(&format!(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, {rule}); INSERT INTO t (id, a) VALUES (9, '9')"
            ))
            .unwrap();
        let row = |id: i64, a: &str| vec![types::Value::Integer(id), types::Value::Text(a.to_owned())];
        let (before, rows) = (content(&sqlite), [row(1, "1"), row(3, "wrong"), row(3, "3")]);
        for conflict in [Conflict::Replace, Conflict::Update] {
            for route in [Route::Sql, Route::Rebuild] {
                let error = append(&path, &rows, (conflict, &[]), route, (false, false)).unwrap_err();
                assert!(error.contains("record 2"), "{rule} {conflict:?} {route:?}: {error}");
                assert_eq!(content(&sqlite), before, "{rule}");
            }
        }
    }
}

/// (3, 'x') deletes the row that has 'x', although (3, 'z') replaces it later. By the primary key alone, both rows would stay.
#[test]
fn a_row_that_is_overwritten_may_have_deleted_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    for (key, end) in [("INTEGER PRIMARY KEY", ""), ("INT PRIMARY KEY", " WITHOUT ROWID")] {
        for (first, conflict) in [(3, Conflict::Replace), (3, Conflict::Update), (0, Conflict::Ignore)] {
            let mut contents = Vec::new();
            for route in [Route::Sql, Route::Edge, Route::Rebuild] {
                let _ = std::fs::remove_file(&path);
                let sqlite = Connection::open(&path).unwrap();
                let sql = format!("CREATE TABLE t (id {key}, a UNIQUE){end}; INSERT INTO t VALUES (1, 'x'), (2, 'y')");
                sqlite.execute_batch(&sql).unwrap();
                let row = |id: i64, a: &str| vec![types::Value::Integer(id), types::Value::Text(a.to_owned())];
                let rows = [row(first, "x"), row(3, "z"), row(4, "z"), row(5, "w")];
                let done = append(&path, &rows, (conflict, &[]), route, (false, false));
                contents.push((done.is_ok(), content(&sqlite)));
            }
            assert!(contents.iter().all(|content| *content == contents[0]), "{key} {conflict:?}: {contents:?}");
        }
    }
}

/// Tables with a CHECK, a computed column, or an index that is partial or has expressions were filled by SQLite on one core.
#[test]
fn tables_that_sqlite_evaluates_get_their_rows_as_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    for rule in [
        "a, b, CHECK (a > 0)",
        "a, b AS (a + 1) STORED",
        "a, b AS (a + 1)); CREATE INDEX i ON t (b",
        "a, b); CREATE INDEX i ON t (a) WHERE a % 2; CREATE INDEX j ON t (a / 10, b",
    ] {
        let _ = std::fs::remove_file(&path);
        let sqlite = Connection::open(&path).unwrap();
        sqlite
            .execute_batch(&format!(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, {rule}); INSERT INTO t (a) VALUES (9), (8)"
            ))
            .unwrap();
        let add = |first: i64, wrong: i64| {
            let mut db = Writer::open(&path, Options::default(), &AppendOptions::default()).unwrap();
            let mut table = db.table_columns("t", &["id", "a"]).unwrap();
            (0..30_000).for_each(|row| table.insert((first + row, if row == wrong { 0 } else { row + 1 })).unwrap());
            db.finish().map(|written| written.appended.unwrap().tables[0].plan.route).map_err(|error| error.to_string())
        };
        assert_eq!(add(100, -1), Ok(Route::Edge), "{rule}");
        assert_eq!(add(40_000, -1), Ok(Route::Edge), "{rule}");
        assert_eq!(sqlite.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
        if rule.contains("CHECK") {
            let error = add(80_000, 20_000).unwrap_err();
            assert!(error.contains("record 20001") && error.contains("CHECK"), "{error}");
        }
        let counted = sqlite.query_row("SELECT count(*) FROM t WHERE a > 0", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(counted, 60_002, "{rule}");
    }
}

/// Many small appends must not be slower than those of SQLite, and large ones go by pages without being asked.
#[test]
fn the_route_follows_from_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let sqlite = Connection::open(&path).unwrap();
    sqlite.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t (a)").unwrap();
    let mut expected = 0;
    for (first, rows, route) in [
        (0, 30_000_i64, Route::Edge),
        (100_000, 30_000, Route::Edge),
        (40_000, 30_000, Route::Rebuild),
        (200_000, 100, Route::Sql),
    ] {
        let mut db = Writer::open(&path, Options::default(), &AppendOptions::default()).unwrap();
        let mut table = db.table("t").unwrap();
        (0..rows).for_each(|row| table.insert((first + row, row * 7919 % 1000)).unwrap());
        expected += rows;
        let report = db.finish().unwrap().appended.unwrap();
        assert_eq!(report.tables[0].plan.route, route, "{report:?}");
        let counted = sqlite.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(counted, expected);
        assert_eq!(sqlite.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    }
}

/// A table got an indexed column with a DEFAULT by ALTER TABLE. Its old rows end before the column, and the new tree's index would have
/// lacked the DEFAULT: SQLite inserted all rows instead. Old rows now get the value that SQLite reads.
#[test]
fn rows_that_are_older_than_an_indexed_column_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let sqlite = Connection::open(&path).unwrap();
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (3, 'y');
               ALTER TABLE t ADD COLUMN b TEXT DEFAULT 1.10; CREATE INDEX i ON t (b, a)";
    sqlite.execute_batch(sql).unwrap();
    let row = vec![types::Value::Integer(2), types::Value::Null, types::Value::Text("z".to_owned())];
    assert_eq!(append(&path, &[row], (Conflict::Abort, &[]), Route::Rebuild, (false, false)).unwrap(), Route::Rebuild);
    assert_eq!(
        content(&sqlite),
        ["1|'x'|'1.10'", "2|NULL|'z'", "3|'y'|'1.10'"].map(|row| format!("{}|{row}", &row[..1]))
    );
    assert_eq!(sqlite.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
}

/// Rows become pages before the lock is taken. Another program took the same rowids meanwhile: both programs' rows must be there.
#[test]
fn rows_that_others_add_meanwhile_come_first() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, number) in ["wal", "delete"].into_iter().zip(0..) {
        for (is_given, others, route) in [
            (false, "(NULL, 'other'), (NULL, 'other')", Route::Edge),
            (true, "(50, 'other'), (51, 'other')", Route::Edge),
            (true, "(50, 'other'), (90000, 'other')", Route::Rebuild),
            (false, "", Route::Edge),
        ] {
            let what = format!("{mode} {is_given} {others}");
            let path =
                folder.path().join(format!("{number}{is_given}{}.db", others.len() + others.matches('9').count()));
            let sqlite = Connection::open(&path).unwrap();
            let schema = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a); CREATE INDEX i ON t (a)";
            sqlite
                .execute_batch(&format!("PRAGMA journal_mode = {mode}; {schema}; INSERT INTO t VALUES (7, 'old')"))
                .unwrap();
            let mut db = Writer::open(&path, Options::default(), &AppendOptions::default()).unwrap();
            let mut table = if is_given { db.table("t") } else { db.table_columns("t", &["a"]) }.unwrap();
            let text = "long ".repeat(50);
            let mut insert = |rows: std::ops::Range<i64>| {
                for row in rows {
                    let a = format!("{} {text}", row % 5000);
                    if is_given { table.insert((60 + row, a.as_str())) } else { table.insert([a.as_str()]) }.unwrap();
                }
            };
            insert(0..60_000);
            if !others.is_empty() {
                sqlite.execute_batch(&format!("INSERT INTO t VALUES {others}")).unwrap();
            }
            insert(60_000..70_000);
            let report = db.finish().unwrap().appended.unwrap();
            assert_eq!((report.tables[0].plan.route, report.tables[0].added), (route, 70_000), "{what}");
            let read = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
            let first = if is_given { 60 } else { 8 + others.matches("other").count() };
            let expected = format!("{first} {}", first + 69_999);
            // The rows are those of the file, in its order, and the index has the same rowids.
            let ours = "FROM t NOT INDEXED WHERE a NOT IN ('old', 'other')";
            let in_order = format!("SELECT sum(a + 0 <> (id - {first}) % 5000) || '' {ours}");
            assert_eq!(read(&in_order), "0", "{what}");
            assert_eq!(read(&format!("SELECT min(id) || ' ' || max(id) {ours}")), expected, "{what}");
            assert_eq!(
                read("SELECT count(*) || '' FROM t WHERE a = 'other'"),
                others.matches("other").count().to_string()
            );
            assert_eq!(read("PRAGMA integrity_check"), "ok", "{what}");
            assert_eq!(read("SELECT (seq = (SELECT max(id) FROM t)) || '' FROM sqlite_sequence"), "1", "{what}");
        }
    }
}

/// Two programs that added rows at once ended with "another program has changed the schema": new root pages change its number. An index
/// that another program made meanwhile must get the entries of the rows.
#[test]
fn what_others_do_to_the_schema_meanwhile_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let trigger = "CREATE TRIGGER after AFTER INSERT ON t BEGIN INSERT INTO other VALUES (new.id); END";
    for (number, (others, route)) in [
        ("CREATE TABLE unrelated (a)", Ok(Route::Edge)),
        ("DROP INDEX i; VACUUM", Ok(Route::Edge)),
        ("CREATE INDEX j ON t (b, a)", Ok(Route::Edge)),
        ("DROP INDEX i; CREATE INDEX i ON t (b DESC)", Ok(Route::Edge)),
        ("CREATE UNIQUE INDEX j ON t (a, b, id)", Ok(Route::Edge)),
        (trigger, Ok(Route::Sql)),
        ("ALTER TABLE t ADD COLUMN c", Err(())),
        ("DROP TABLE t", Err(())),
        ("DROP TABLE t; CREATE TABLE t (b, a, id INTEGER PRIMARY KEY)", Err(())),
    ]
    .into_iter()
    .enumerate()
    {
        for (mode, adds_table) in [("wal", false), ("delete", false), ("wal", true)] {
            let path = folder.path().join(format!("{number}{mode}{adds_table}.db"));
            let sqlite = Connection::open(&path).unwrap();
            let schema =
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t (a); CREATE TABLE other (id)";
            let row = "INSERT INTO t VALUES (7, 'old', 1)";
            sqlite.execute_batch(&format!("PRAGMA journal_mode = {mode}; {schema}; {row}")).unwrap();
            let mut db = if adds_table {
                let new = "CREATE TABLE new (a)";
                Writer::open_with(&path, new, Options::default(), &AppendOptions::default()).unwrap()
            } else {
                Writer::open(&path, Options::default(), &AppendOptions::default()).unwrap()
            };
            let mut table = db.table("t").unwrap();
            (10..40_000).for_each(|row| table.insert((row, "text", row % 99)).unwrap());
            sqlite.execute_batch(others).unwrap();
            (40_000..60_000).for_each(|row| table.insert((row, "text", row % 99)).unwrap());
            let read = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
            match (db.finish(), route) {
                (Ok(report), Ok(route)) => {
                    let route = if adds_table { Route::Sql } else { route };
                    assert_eq!(report.appended.unwrap().tables[0].plan.route, route, "{others}");
                    assert_eq!(read("SELECT count(*) || '' FROM t"), "59991", "{others}");
                    let of_trigger = if others == trigger { "59990" } else { "0" };
                    assert_eq!(read("SELECT count(*) || '' FROM other"), of_trigger);
                }
                (Err(error), Err(())) => {
                    assert!(error.to_string().contains("has changed the definition of the table meanwhile"), "{error}");
                    assert!(!others.starts_with("ALTER") || read("SELECT count(*) || '' FROM t") == "1");
                }
                (done, _) => panic!("{others}: {done:?}"),
            }
            assert_eq!(read("PRAGMA integrity_check"), "ok", "{others}");
        }
    }
}

/// The key of a new row.
type NewKey = fn(i64) -> i64;

/// A table whose index has short and long keys, and a UNIQUE one.
const MERGED: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, key, text TEXT COLLATE NOCASE);
                      CREATE INDEX i ON t (key, text DESC); CREATE UNIQUE INDEX u ON t (id DESC, key);
                      CREATE INDEX n ON t (text COLLATE RTRIM)";

/// Makes a database of 20,000 rows with these keys. Each index has leaves of several parts.
fn merged_database(path: &Path, key: &str) -> Connection {
    let sqlite = Connection::open(path).unwrap();
    let rows = format!(
        "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000) INSERT INTO t
         SELECT value, {key}, CASE value % 9 WHEN 0 THEN NULL ELSE printf('%.*c ', 1 + value % 700, 'k') || 'K' END FROM n"
    );
    sqlite.execute_batch(&format!("PRAGMA synchronous = OFF; BEGIN; {MERGED}; {rows}; COMMIT")).unwrap();
    sqlite
}

/// Index entries of old rows were sorted again with the new ones. Now both are merged: wherever new keys lie among the old ones, the
/// index must be that of SQLite, and the file must not depend on the number of threads.
#[test]
fn old_index_entries_are_merged_with_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let everywhere: NewKey = |row| row * 7919 % 21_001;
    let cases: [(&str, &str, NewKey); 6] = [
        ("everywhere", "value * 31 % 20011", everywhere),
        ("behind", "value", |row| 70_000 + row),
        ("before", "value", |row| -row),
        ("at one place", "value / 10000 * 2", |_| 1),
        ("equal", "7", |_| 7),
        ("among NULLs", "NULL", everywhere),
    ];
    for (name, old, new) in cases {
        let row = |row: i64| (20_001 + row, new(row), "N".repeat(1 + (row % 900) as usize));
        let files = [1, 3].map(|threads| {
            let path = folder.path().join(format!("{name}{threads}.db"));
            let sqlite = merged_database(&path, old);
            let mut options = Options::default();
            (options.threads, options.sync) = (threads, litepress::Sync::Off);
            let mut db = Writer::open(&path, options, &AppendOptions::default()).unwrap();
            let mut table = db.table("t").unwrap();
            (0..22_000).map(row).for_each(|(id, key, text)| table.insert((id, key, text.as_str())).unwrap());
            let report = db.finish().unwrap().appended.unwrap();
            assert_eq!(report.tables[0].plan.route, Route::Edge, "{name}");
            let read = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
            assert_eq!(read("PRAGMA integrity_check"), "ok", "{name}");
            assert_eq!(
                read("SELECT count(*) || ' ' || sum(id) FROM t INDEXED BY i"),
                read("SELECT count(*) || ' ' || sum(id) FROM t NOT INDEXED",)
            );
            let free = sqlite.query_row("PRAGMA freelist_count", [], |row| row.get::<_, i64>(0)).unwrap();
            assert!(free > 2500, "{name}: {free} old pages are free");
            std::fs::read(&path).unwrap()
        });
        assert!(files[0] == files[1], "{name}: the file depends on the number of threads");
    }
}

/// An old index is not in the order that its schema says: a collation was changed with writable_schema. A merge would have made a tree
/// in which SQLite does not find its entries; so SQLite inserts the rows, and the report says why.
#[test]
fn an_old_index_out_of_order_is_left_to_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let sqlite = Connection::open(&path).unwrap();
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX i ON t (a COLLATE NOCASE);
               INSERT INTO t VALUES (1, 'b'), (2, 'C'), (3, 'a'), (4, 'B'); PRAGMA writable_schema = ON;
               UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (a)' WHERE name = 'i'";
    sqlite.execute_batch(sql).unwrap();
    drop(sqlite);
    let mut db = Writer::open(&path, Options::default(), &AppendOptions::default()).unwrap();
    let mut table = db.table("t").unwrap();
    (10..30_000).for_each(|id| table.insert((id, "x")).unwrap());
    let report = db.finish().unwrap().appended.unwrap();
    let plan = &report.tables[0].plan;
    assert_eq!(plan.route, Route::Sql);
    assert!(plan.why.contains("the entries of the index i are not in order"), "{}", plan.why);
    let sqlite = Connection::open(&path).unwrap();
    let read = |sql: &str| sqlite.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(read("SELECT count(*) || '' FROM t NOT INDEXED"), "29994");
    sqlite.execute_batch("REINDEX").unwrap();
    assert_eq!(read("PRAGMA integrity_check"), "ok");
}
