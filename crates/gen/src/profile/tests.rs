use super::*;
use crate::generators::Distinct;
use crate::plan::{GenPlan, Request};
use crate::plan_file::PlanFile;
use crate::program::Scratch;
use crate::source::GenSource;
use litepress_format::page::PageSize;
use litepress_rows::{RecordChunk, Source};
use rusqlite::Connection;
use std::path::Path;

/// A database of what the statements make.
fn database(folder: &Path, sql: &str) -> std::path::PathBuf {
    let file = folder.join("source.db");
    let connection = Connection::open(&file).expect("a database");
    connection.execute_batch(sql).expect(sql);
    file
}

fn options(threads: usize, keep_values: bool) -> ProfileOptions {
    ProfileOptions { threads, keep_values }
}

fn profile_of(sql: &str, keep_values: bool) -> Profile {
    let folder = tempfile::tempdir().expect("a folder");
    profile(&database(folder.path(), sql), &options(2, keep_values)).expect(sql)
}

/// So many rows of a table `t` with these columns, of expressions over `n`, 0 to rows - 1.
fn table(definition: &str, rows: u64, select: &str) -> String {
    format!(
        "CREATE TABLE t ({definition});
        WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < {rows} - 1) INSERT INTO t SELECT {select} FROM c;"
    )
}

fn generators(profile: &Profile) -> Vec<&str> {
    let columns = profile.tables.iter().flat_map(|table| &table.columns);
    columns.map(|column| column.generator.as_deref().unwrap_or("-")).collect()
}

/// The numbers in a column of what the plan makes.
fn made(plan: &str, column: usize, scale: f64) -> Vec<f64> {
    let file = PlanFile::parse(plan, "plan.toml").expect(plan);
    let schema = file.schema().expect(plan);
    let request = Request { plan: Some(file), scale: Some(scale), ..Request::default() };
    let plan = GenPlan::new(&schema, &request).expect("a plan");
    let table = plan.table(0).expect("the first");
    let mut scratch = Scratch::new(&table.program);
    let mut values = Vec::new();
    for start in (0..table.rows).step_by(1000) {
        let end = table.rows.min(start + 1000);
        table.program.run(&(start..end), &mut scratch);
        let block = &scratch.columns()[column];
        values.extend((0..usize::try_from(end - start).expect("a block")).filter_map(|row| match block.value(row) {
            litepress_format::value::Value::Int(int) => Some(int as f64),
            litepress_format::value::Value::Real(real) => Some(real),
            _ => None,
        }));
    }
    values
}

/// The largest difference of two distributions (Kolmogorov and Smirnov).
fn distance(one: &mut [f64], other: &mut [f64]) -> f64 {
    one.sort_unstable_by(f64::total_cmp);
    other.sort_unstable_by(f64::total_cmp);
    let share = |sorted: &[f64], at: f64| sorted.partition_point(|value| *value <= at) as f64 / sorted.len() as f64;
    let all = one.iter().chain(other.iter());
    all.map(|&at| (share(one, at) - share(other, at)).abs()).fold(0.0, f64::max)
}

#[test]
fn distributions_are_learnt() {
    const ROWS: u64 = 100_000;
    // Squares of uniform numbers, a bell, a heavy value among many, a few values.
    let select = "n, (abs(random()) % 1000) * (abs(random()) % 1000), (abs(random()) % 1000 + abs(random()) % 1000 + abs(random()) % 1000) / 7.0,
        CASE WHEN n % 3 THEN 42 ELSE abs(random()) % 100000 END, CASE WHEN n % 10 = 0 THEN NULL ELSE n % 7 END";
    let folder = tempfile::tempdir().expect("a folder");
    let file = database(folder.path(), &table("id INTEGER PRIMARY KEY, a INT, b REAL, c INT, d INT", ROWS, select));
    let learnt = profile(&file, &options(2, false)).expect("a profile");
    let plan = learnt.to_toml();
    assert_eq!(generators(&learnt)[0], "sequence(0, 1)");
    assert!(generators(&learnt)[4].starts_with("null(0.1, choice(0: "), "{plan}");
    let connection = Connection::open(&file).expect("the source");
    for (column, name) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] {
        let mut statement = connection.prepare(&format!("SELECT {name} FROM t WHERE {name} IS NOT NULL")).expect(name);
        let source: rusqlite::Result<Vec<f64>> = statement.query_map([], |row| row.get(0)).expect(name).collect();
        let distance = distance(&mut source.expect(name), &mut made(&plan, column, 2.0));
        assert!(distance < 0.03, "{name}: {distance}, {}", generators(&learnt)[column]);
    }
    let columns = &learnt.tables[0].columns;
    assert_eq!((learnt.tables[0].rows, columns[4].nulls, columns[4].distinct), (ROWS, ROWS / 10, 7));
    assert!(columns[0].distinct.abs_diff(ROWS) < ROWS / 20 && !columns[0].distinct_is_exact);
}

#[test]
fn a_profile_does_not_depend_on_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let select = "n * 3, n * n % 1009, 'text ' || n % 5000, x'00', n * 0.5";
    let file = database(folder.path(), &table("id INTEGER PRIMARY KEY, a, b, c, d", 80_000, select));
    let [one, four] = [1, 4].map(|threads| profile(&file, &options(threads, true)).expect("a profile"));
    assert_eq!(one.to_toml(), four.to_toml());
    assert_eq!(generators(&one)[0], "sequence(0, 3)");
    let names: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(names.len(), 1, "nothing is written");
}

#[test]
fn texts_are_kept_only_where_that_is_wanted() {
    let sql = table(
        "id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ('new', 'paid')), city TEXT, name TEXT, mail TEXT UNIQUE",
        2000,
        "n + 1, CASE n % 4 WHEN 0 THEN 'new' ELSE 'paid' END, CASE n % 5 WHEN 0 THEN 'Rome' ELSE 'Paris' END,
         'Secret' || char(97 + n % 26, 97 + n / 26 % 26, 97 + n / 676), 'secret' || n || '@example.com'",
    );
    let learnt = profile_of(&sql, false);
    let plan = learnt.to_toml();
    assert_eq!(
        generators(&learnt),
        [
            "sequence",
            "choice('paid': 1500, 'new': 500)",
            "choice('aaaaa': 1600, 'aaaa': 400)",
            "regex('Secret[a-z]{3}')",
            "email"
        ]
    );
    for secret in ["Rome", "Paris", "secret1"] {
        assert!(!plan.contains(secret), "{plan}");
    }
    assert_eq!(generators(&profile_of(&sql, true))[2], "choice('Paris': 1600, 'Rome': 400)");
}

#[test]
fn keys_hold_at_any_scale() {
    let sql = "PRAGMA page_size = 1024;
        CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT UNIQUE, n INT UNIQUE -- the end
        );
        CREATE TABLE c (p INT NOT NULL REFERENCES p, x INT, y TEXT NOT NULL, z BLOB UNIQUE, PRIMARY KEY (p, y)) WITHOUT ROWID;
        CREATE TABLE e (a INT, b TEXT); CREATE VIEW v AS SELECT * FROM p; CREATE INDEX c_x ON c(x);
        CREATE VIRTUAL TABLE f USING fts5(body);
        WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 300)
        INSERT INTO p SELECT n * 10, printf('%c-%07d', 65 + n % 26, n * 7919 % 9999991), n * 7919 % 1009 FROM k;
        INSERT INTO c SELECT id, id % 9, 'y' || id, randomblob(12) FROM p;";
    let learnt = profile_of(sql, false);
    let plan = learnt.to_toml();
    for scale in [0.1, 1.0, 100.0] {
        let file = PlanFile::parse(&plan, "plan.toml").expect(&plan);
        let schema = file.schema().expect(&plan);
        assert_eq!(schema.settings.page_size, Some(1024));
        let request = Request { plan: Some(file), scale: Some(scale), ..Request::default() };
        let planned = GenPlan::new(&schema, &request).expect(&plan);
        let p = planned.table(0).expect("p");
        assert!(p.columns.iter().all(|column| !matches!(column.facts.distinct, Distinct::Among { .. })), "{plan}");
        for table in planned.tables() {
            let source = GenSource::new(&planned, &schema, table.table, PageSize::DEFAULT).expect(&plan);
            let mut chunk = RecordChunk::new();
            while let Some(mut part) = source.next_part().expect(&plan) {
                part.fill(&mut chunk).expect(&plan);
                chunk.clear();
            }
        }
    }
    assert_eq!(learnt.tables.iter().map(|table| table.rows).collect::<Vec<_>>(), [300, 300, 0]);
}

#[test]
fn what_is_no_database_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("no%20 database?.db");
    assert!(profile(&file, &options(1, false)).is_err());
    std::fs::write(&file, "this is no database").expect("a file");
    let error = profile(&file, &options(1, false)).expect_err("it is none");
    assert_eq!(error.kind(), litepress_rows::ErrorKind::Data, "{error}");
}

/// The least number of all may not be in the sample, and the least that is there may be a very frequent one.
#[test]
fn a_heavy_value_keeps_its_bin() {
    let sample: Vec<f64> = (0..300).map(|n| if n % 3 == 0 { 50.0 + f64::from(n) } else { 42.0 }).collect();
    let (histogram, _) = describe::whole_histogram(sample.clone(), 0, 400);
    assert!(histogram.starts_with("histogram(0: 0, 42: 200, 43: "), "{histogram}");
    let (histogram, _) = describe::whole_histogram(sample, 42, 400);
    assert!(histogram.starts_with("histogram(42: 200, 43: "), "{histogram}");
}
