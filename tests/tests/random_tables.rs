//! Tables of random schemas: rows that are added by every route, indexes, copies and new databases are as SQLite's.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use front_door::{
    AppendOptions, CheckOptions, CompactOptions, Conflict, IndexOptions, Options, PageSize, Route, Value, Writer,
    check, compact, index, reindex,
};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{assert_same_content, assert_same_indexes, texts};
use litepress_conformance::random::Random;
use litepress_conformance::random_table::RandomTable;
use rusqlite::{Connection, params_from_iter, types};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

type Row = Vec<types::Value>;

/// A table, the settings of its database, and how rows are added.
struct Trial {
    table: RandomTable,
    /// PRAGMAs and statements that make the database without rows.
    setup: String,
    conflict: Conflict,
    /// The names of the key that decides, for [`Conflict::Update`].
    key: Vec<&'static str>,
    /// INSERT, with the columns and the policy.
    insert: String,
    what: String,
}

impl Trial {
    fn new(seed: u64, random: &mut Random) -> Self {
        let table = std::iter::repeat_with(|| RandomTable::new(random)).find(is_accepted).unwrap();
        let page_size = random.pick(&[512, 1024, 4096, 4096, 65_536]);
        let encoding = random.pick(&["UTF-8", "UTF-8", "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"]);
        let (vacuum, mode) = (random.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 2]), random.pick(&["wal", "delete"]));
        let setup = format!(
            "PRAGMA page_size = {page_size}; PRAGMA encoding = '{encoding}'; PRAGMA auto_vacuum = {vacuum};
             PRAGMA journal_mode = {mode}; {}",
            table.schema()
        );
        // The primary key of one integer loses its collation, and then no key has the one that the clause names.
        let upsert = table.upsert().filter(|(end, _)| is_prepared(&table, &into(&table, "INSERT", end)));
        let policies = [Conflict::Abort, Conflict::Ignore, Conflict::Replace, Conflict::Update];
        let conflict = random.pick(&policies[..if upsert.is_some() { 4 } else { 3 }]);
        let (end, key) = upsert.filter(|_| conflict == Conflict::Update).unwrap_or_default();
        let verb = match conflict {
            Conflict::Ignore => "INSERT OR IGNORE",
            Conflict::Replace => "INSERT OR REPLACE",
            Conflict::Abort | Conflict::Update => "INSERT",
        };
        let insert = into(&table, verb, &end);
        let what = format!("seed {seed}, {conflict:?}: {setup}");
        Self { table, setup, conflict, key, insert, what }
    }

    fn options(&self, threads: usize) -> Options {
        Options::default().on_conflict(self.conflict).key(&self.key).threads(threads)
    }
}

fn is_accepted(table: &RandomTable) -> bool {
    Connection::open_in_memory().unwrap().execute_batch(&table.schema()).is_ok()
}

fn is_prepared(table: &RandomTable, sql: &str) -> bool {
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&table.schema()).unwrap();
    sqlite.prepare(sql).is_ok()
}

fn into(table: &RandomTable, verb: &str, end: &str) -> String {
    let (columns, places) = (table.column_list(), vec!["?"; table.width()].join(", "));
    format!("{verb} INTO t ({columns}) VALUES ({places}){end}")
}

/// Inserts these rows in one transaction.
fn insert(sqlite: &Connection, sql: &str, rows: &[Row]) -> rusqlite::Result<()> {
    sqlite.execute_batch("BEGIN")?;
    let done = sqlite
        .prepare(sql)
        .and_then(|mut insert| rows.iter().try_for_each(|row| insert.execute(params_from_iter(row)).map(drop)));
    sqlite.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    done
}

/// Inserts these rows one by one. Returns those that SQLite accepts.
fn accepted(sqlite: &Connection, sql: &str, rows: Vec<Row>) -> Vec<Row> {
    sqlite.execute_batch("BEGIN").unwrap();
    let mut insert = sqlite.prepare(sql).unwrap();
    let kept = rows.into_iter().filter(|row| insert.execute(params_from_iter(row)).is_ok()).collect();
    drop(insert);
    sqlite.execute_batch("COMMIT").unwrap();
    kept
}

/// Writes rows with litepress.
fn write(mut db: Writer, rows: &[Row]) -> front_door::Result<Option<Route>> {
    let mut table = db.table("t")?;
    for row in rows {
        table.insert(&Vec::from_iter(row.iter().map(value))[..])?;
    }
    Ok(db.finish()?.appended.and_then(|report| Some(report.tables.first()?.plan.route)))
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

/// Asserts that both have the same rows and entries, and that ours is sound.
fn assert_same(ours: &Path, theirs: &Path, what: &str) {
    let [mut our, mut their] = [ours, theirs].map(|path| Connection::open(path).unwrap());
    assert_eq!(texts(&our, "PRAGMA integrity_check"), ["ok"], "{what}");
    assert_same_content(&our, &their, what);
    assert_same_indexes(&mut our, &mut their, what);
    drop((our, their));
    let report = check(ours, &CheckOptions::default()).unwrap();
    assert!(report.report.is_clean(), "{what}: {:#?}", report.report.faults);
}

/// Makes the database before rows are added. Returns the number of rows that were tried.
fn make(trial: &Trial, random: &mut Random, path: &Path) -> usize {
    let sqlite = Connection::open(path).unwrap();
    sqlite.execute_batch(&trial.setup).unwrap();
    let count = random.pick(&[0, 0, 5, 300, 2000]);
    accepted(&sqlite, &into(&trial.table, "INSERT OR IGNORE", ""), trial.table.rows(random, count, 1));
    if random.chance(30) {
        let texts = trial.table.column_list().replace(", ", " || ");
        sqlite.execute_batch(&format!("DELETE FROM t WHERE length(hex({texts})) % 3 = 0")).unwrap();
    }
    if random.chance(15) {
        sqlite.execute_batch("ANALYZE").unwrap();
    }
    count
}

/// Makes a table and does everything with it. Counts the routes of added rows.
fn run(seed: u64, routes: &mut BTreeMap<&'static str, usize>) {
    let (random, folder) = (&mut Random(seed), Folder::new());
    let trial = Trial::new(seed, random);
    let [before, after, theirs] = ["before.db", "after.db", "theirs.db"].map(|name| folder.join(name));
    let old = make(&trial, random, &before);
    let (count, first) = (random.pick(&[1, 50, 1500, 4000]), random.pick(&[old + 1, old / 2 + 1, 1]));
    let mut rows = trial.table.rows(random, count, first);
    if trial.conflict == Conflict::Abort || random.chance(30) {
        fs::copy(&before, &after).unwrap();
        rows = accepted(&Connection::open(&after).unwrap(), &into(&trial.table, "INSERT", ""), rows);
    }
    fs::copy(&before, &after).unwrap();
    let expected = insert(&Connection::open(&after).unwrap(), &trial.insert, &rows);
    for route in [Route::Sql, Route::Edge, Route::Rebuild] {
        let what = format!("{}: {} rows, {route:?}", trial.what, rows.len());
        let ours = folder.join(&format!("{route:?}.db"));
        fs::copy(&before, &ours).unwrap();
        fs::copy(&after, &theirs).unwrap();
        let mut appending = AppendOptions::default().through_wal(random.chance(10));
        appending.route = Some(route);
        let options = trial.options(1 + random.below(3));
        let done = Writer::open(&ours, options, &appending).and_then(|db| write(db, &rows));
        assert_eq!(done.is_ok(), expected.is_ok(), "{what}: {done:?}, {expected:?}");
        assert_same(&ours, &theirs, &what);
        if let Ok(Some(route)) = done {
            *routes.entry(route.name()).or_default() += 1;
        }
        change(&trial, random, &ours, &theirs, &folder);
    }
    if trial.conflict != Conflict::Update {
        write_new(&trial, random, &rows, &folder);
    }
}

/// Makes an index, makes all of them again, and a copy without free space.
fn change(trial: &Trial, random: &mut Random, ours: &Path, theirs: &Path, folder: &Folder) {
    let sql = trial.table.index(random, "more");
    let what = format!("{}: {sql}", trial.what);
    let expected = Connection::open(theirs).unwrap().execute_batch(&sql);
    let done = index(ours, &[&sql], &IndexOptions::default()).map(drop);
    assert_eq!(done.is_ok(), expected.is_ok(), "{what}: {done:?}, {expected:?}");
    assert_same(ours, theirs, &what);
    reindex(ours, &[""; 0], &IndexOptions::default()).unwrap();
    assert_same(ours, theirs, &what);
    let copy = folder.join("copy.db");
    let mut options = CompactOptions::default();
    options.build = options.build.page_size(PageSize::new(random.pick(&[512, 4096, 65_536])).unwrap()).overwrite(true);
    compact(ours, Some(copy.clone().into()), &options).unwrap();
    assert_same(&copy, theirs, &format!("{what}: compact"));
}

/// Makes a new database of the rows.
fn write_new(trial: &Trial, random: &mut Random, rows: &[Row], folder: &Folder) {
    let (ours, theirs) = (folder.join("new.db"), folder.join("new theirs.db"));
    let schema = trial.table.schema();
    let sqlite = Connection::open(&theirs).unwrap();
    sqlite.execute_batch(&schema).unwrap();
    let expected = insert(&sqlite, &trial.insert, rows);
    drop(sqlite);
    let what = format!("{}: {} rows, new", trial.what, rows.len());
    let done = Writer::create_with(&*ours, &schema, trial.options(1 + random.below(3))).and_then(|db| write(db, rows));
    assert_eq!(done.is_ok(), expected.is_ok(), "{what}: {done:?}, {expected:?}");
    if done.is_ok() {
        assert_same(&ours, &theirs, &what);
    }
}

#[test]
fn random_tables_are_sqlites() {
    let mut routes = BTreeMap::new();
    // More of them: LITEPRESS_TABLES=1000.
    let tables = std::env::var("LITEPRESS_TABLES").ok().and_then(|tables| tables.parse().ok()).unwrap_or(20);
    (0..tables).for_each(|seed| run(seed, &mut routes));
    println!("{tables} tables, routes {routes:?}");
    assert!(
        ["edge", "rebuild", "sql"].iter().all(|route| routes.get(route).is_some_and(|count| *count > 4)),
        "{routes:?}"
    );
}
