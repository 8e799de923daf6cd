mod formats;
mod kinds;
mod look_alikes;
mod membership;

use super::*;
use litepress::{Database, Options, PageSize, Target};
use litepress_gen::{ColumnPlan, GenPlan, GenSource, Recipe, Request};
use rusqlite::Connection;
use std::path::Path;

/// Makes a database by running these statements.
fn database(folder: &Path, sql: &str) -> std::path::PathBuf {
    let file = folder.join("source.db");
    let connection = Connection::open(&file).expect("a database");
    connection.execute_batch(sql).expect(sql);
    file
}

fn options(threads: usize, keep_values: bool) -> ProfileOptions {
    ProfileOptions { threads, keep_values }
}

fn profile(file: &Path, options: &ProfileOptions) -> Result<Profile> {
    crate::profile(file, options, &|| Ok(()))
}

/// `profile()` from Python went on to its end after Ctrl-C.
#[test]
fn a_profile_stops_when_it_is_asked_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = database(folder.path(), &table("a", 20_000, "n"));
    let stop = || Err(litepress_rows::Error::new(litepress_rows::ErrorKind::Interrupted, "enough"));
    let error = crate::profile(&file, &options(1, false), &stop).expect_err("it was stopped");
    assert_eq!(error.kind(), litepress_rows::ErrorKind::Interrupted);
}

fn profile_of(sql: &str, keep_values: bool) -> Profile {
    let folder = tempfile::tempdir().expect("a folder");
    profile(&database(folder.path(), sql), &options(2, keep_values)).expect(sql)
}

/// Returns SQL for a table `t` with these columns and rows, whose values are expressions over `n`, 0 to rows - 1.
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

/// Builds the database of a plan.
fn build(folder: &Path, schema: Schema, plan: &GenPlan) -> Connection {
    let file = folder.join("built.db");
    let mut database =
        Database::create(&Target::File(file.clone()), schema.clone(), &Options::default()).expect("a new database");
    for table in database.filling_order() {
        if plan.table(table).is_some() {
            let source = GenSource::new(plan, &schema, table, PageSize::DEFAULT).expect("a source");
            database.fill(table, &source).expect("unique keys");
        }
    }
    database.finish().expect("a whole database");
    Connection::open(file).expect("the database")
}

/// Returns the numbers in a generated column.
fn generated(plan: &str, column: usize, scale: f64) -> Vec<f64> {
    let file = Recipe::parse(plan, "recipe.toml").expect(plan);
    let schema = file.schema().expect(plan);
    let request = Request { recipe: Some(file), scale: Some(scale), ..Request::default() };
    let plan = GenPlan::new(&schema, &request).expect("a plan");
    let name = plan.table(0).expect("the first").columns[column].name.clone();
    let folder = tempfile::tempdir().expect("a folder");
    let connection = build(folder.path(), schema, &plan);
    let mut select = connection.prepare(&format!("SELECT {name} FROM t WHERE {name} IS NOT NULL")).expect("a table t");
    select.query_map([], |row| row.get(0)).expect("numbers").collect::<rusqlite::Result<_>>().expect("numbers")
}

/// Returns the distance of two samples.
fn distance(one: &mut [f64], other: &mut [f64]) -> f64 {
    one.sort_unstable_by(f64::total_cmp);
    other.sort_unstable_by(f64::total_cmp);
    compare::distance(one, other)
}

#[test]
fn distributions_are_learnt() {
    const ROWS: u64 = 100_000;
    // Squares of uniform numbers, a bell curve, one frequent value among many, a few values.
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
        let distance = distance(&mut source.expect(name), &mut generated(&plan, column, 2.0));
        assert!(distance < 0.03, "{name}: {distance}, {}", generators(&learnt)[column]);
    }
    let columns = &learnt.tables[0].columns;
    assert_eq!((learnt.tables[0].rows, columns[4].nulls, columns[4].distinct), (ROWS, ROWS / 10, 7));
    assert!(columns[0].distinct.abs_diff(ROWS) < ROWS / 20 && !columns[0].distinct_is_exact);
}

#[test]
fn a_profile_does_not_depend_on_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let select = "n * 3, n * n % 1009, 'text ' || n % 5000, x'00', n * 0.5, nullif(1 + n / 8, 77)";
    // Parents with children in two ranges are counted once, whichever threads read these.
    let parents = "CREATE TABLE p (id INTEGER PRIMARY KEY);
        WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 10000) INSERT INTO p SELECT n FROM c;";
    let sql = parents.to_owned() + &table("id INTEGER PRIMARY KEY, a, b, c, d, p REFERENCES p", 80_000, select);
    let file = database(folder.path(), &sql);
    let changes = |threads: usize| {
        let stats = read::read(&file, threads, &|| Ok(())).expect("statistics");
        stats.tables[1].as_ref().expect("t").foreign_keys[0].1.changes
    };
    assert_eq!([1, 2, 3, 7].map(changes), [changes(1); 4]);
    let [one, four] = [1, 4].map(|threads| profile(&file, &options(threads, true)).expect("a profile"));
    assert_eq!(one.to_toml(), four.to_toml());
    assert_eq!(generators(&one)[1], "sequence(0, 3)");
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
    for (found, start) in generators(&learnt).into_iter().zip([
        "sequence",
        "choice('paid': 1500, 'new': 500)",
        "choice('",
        "regex('[A-Z][a-z]{8}')",
        "slug(phrase('{person}'), '.') || sequence() || ",
    ]) {
        assert!(found.starts_with(start), "{found}");
    }
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
        let file = Recipe::parse(&plan, "recipe.toml").expect(&plan);
        let schema = file.schema().expect(&plan);
        assert_eq!(schema.settings.page_size, Some(1024));
        let request = Request { recipe: Some(file), scale: Some(scale), ..Request::default() };
        let planned = GenPlan::new(&schema, &request).expect(&plan);
        let p = planned.table(0).expect("p");
        assert!(p.columns.iter().all(ColumnPlan::is_unique), "{plan}");
        let folder = tempfile::tempdir().expect("a folder");
        let connection = build(folder.path(), schema, &planned);
        let broken = "SELECT count(*) FROM pragma_foreign_key_check";
        assert_eq!(connection.query_row(broken, [], |row| row.get(0)), Ok(0), "{plan}");
    }
    assert_eq!(learnt.tables.iter().map(|table| table.rows).collect::<Vec<_>>(), [300, 300, 0]);
}

/// The number of rows with missing parents was to follow from these parents, so it was nowhere in the recipe.
#[test]
fn rows_do_not_follow_from_parents_that_are_missing() {
    let sql = "PRAGMA foreign_keys = 0; CREATE TABLE p (id INTEGER PRIMARY KEY);
        CREATE TABLE c (p INT NOT NULL REFERENCES p, n INT NOT NULL, PRIMARY KEY (p, n));
        INSERT INTO c VALUES (1, 1), (1, 2), (1, 3), (2, 1), (2, 2);";
    let learnt = profile_of(sql, false);
    assert!(learnt.to_toml().contains("\nrows = 5\n"), "{}", learnt.to_toml());
    assert_plannable(&learnt);
}

/// One blob in a column of a single text made that text a pattern, and it was written into the recipe.
#[test]
fn few_texts_are_few_whatever_else_a_column_holds() {
    let select = "CASE n WHEN 0 THEN x'00' ELSE 'Lovelace' END, CASE WHEN n < 2000 THEN n ELSE 'Hopper' END,
        CASE n WHEN 0 THEN x'00' ELSE n % 3 END";
    let learnt = profile_of(&table("a, b, c", 5000, select), false);
    let plan = learnt.to_toml();
    assert!(!plan.contains("Lovelace") && !plan.contains("Hopper"), "{plan}");
}

/// One infinity turned a column of numbers into words, as did one empty text a column of dates.
#[test]
fn what_is_odd_in_a_column_leaves_the_rest_as_it_is() {
    let select = "iif(n = 77, 9e999, n * 0.37), iif(n % 2, 9e999, -9e999), iif(n % 3, 1.5, 9e999), iif(n = 77, '', date('2020-01-01', (n % 900) || ' days')),
        iif(n % 2, '', datetime('2020-01-01', n || ' minutes'))";
    let learnt = profile_of(&table("a REAL, b REAL, c REAL, d DATE, e TEXT", 5000, select), false);
    let starts = ["ascending(1", "real(0, 1)", "choice(1.5: ", "if(bool(0.000", "if(bool(0.5"];
    for (generator, start) in generators(&learnt).into_iter().zip(starts) {
        assert!(generator.starts_with(start), "{generator}, not {start}");
    }
    assert!(generators(&learnt)[4].contains("'', date_add('2020-01-01 00:00:00', "), "{}", generators(&learnt)[4]);
    assert_plannable(&learnt);
    let folder = tempfile::tempdir().expect("a folder");
    let file = database(folder.path(), &table("a REAL, b REAL, d DATE", 100, "n, 9e999, iif(n, '2020-01-01', '')"));
    compare::compare(&file, &file, 2, &|| Ok(())).expect("itself");
}

/// The number of parents is estimated well from a sample; some parents appeared to have no children.
#[test]
fn sampled_parents_all_have_children_where_all_had() {
    let sql =
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, p INT NOT NULL REFERENCES p);
        WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 100000) INSERT INTO p SELECT n FROM k;
        INSERT INTO c(p) SELECT id FROM p; INSERT INTO c(p) SELECT id FROM p;";
    let learnt = profile_of(sql, false);
    assert!(said(&learnt, "c.p").ends_with("in_turn)"), "{}", said(&learnt, "c.p"));
}

#[test]
fn what_is_no_database_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("no%20 database?.db");
    assert!(profile(&file, &options(1, false)).is_err());
    std::fs::write(&file, "this is not a database").expect("a file");
    let error = profile(&file, &options(1, false)).expect_err("it is none");
    assert_eq!(error.kind(), litepress_rows::ErrorKind::Data, "{error}");
}

/// The least number of all may be missing in the sample, and the least one in it may be a very frequent one.
#[test]
fn a_heavy_value_keeps_its_bin() {
    let sample: Vec<f64> = (0..300).map(|n| if n % 3 == 0 { 50.0 + f64::from(n) } else { 42.0 }).collect();
    let (histogram, _) = histogram::whole_histogram(sample.clone(), 0, 400, Precision::new(true));
    assert!(histogram.starts_with("histogram(0: 0, 42: 200, 43: "), "{histogram}");
    let (histogram, _) = histogram::whole_histogram(sample, 42, 400, Precision::new(true));
    assert!(histogram.starts_with("histogram(42: 200, 43: "), "{histogram}");
}

/// Returns the annotation of a column, given as `table.column`.
fn said(profile: &Profile, name: &str) -> String {
    let (table, column) = name.split_once('.').expect("table.column");
    let table = profile.tables.iter().find(|of| of.name == table).expect(name);
    let column = table.columns.iter().find(|of| of.name == column).expect(name);
    column.generator.clone().unwrap_or_else(|| format!("inferred: {}", column.because))
}

/// Checks that the recipe works for every table, at several scales.
fn assert_plannable(profile: &Profile) {
    for scale in [0.5, 1.0, 2.5, 100.0] {
        let file = Recipe::parse(&profile.to_toml(), "recipe.toml").expect("a recipe");
        let schema = file.schema().expect("a schema");
        let request = Request { recipe: Some(file), scale: Some(scale), ..Request::default() };
        let plan = GenPlan::new(&schema, &request).expect("a plan");
        for (table, of) in plan.tables().iter().zip(&profile.tables) {
            let expected = of.rows as f64 * if of.is_fixed { 1.0 } else { scale };
            assert!(
                (table.rows as f64 - expected).abs() <= 0.1 * expected + 5.0,
                "{}: {} {expected}",
                of.name,
                table.rows
            );
        }
    }
}

const NUMBERS: &str = "PRAGMA foreign_keys = 0; CREATE TEMP TABLE k AS WITH RECURSIVE k(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM k WHERE n < 9999) SELECT n FROM k;";

#[test]
fn foreign_keys_keep_their_numbers_of_children() {
    let sql = format!(
        "{NUMBERS}
        CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, since DATE DEFAULT '2020-01-01');
        CREATE TABLE q (a INT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE clustered (p INT NOT NULL REFERENCES p);
        CREATE TABLE skewed (p INT REFERENCES p, code TEXT NOT NULL REFERENCES p(code), even INT REFERENCES p(id));
        CREATE TABLE once (p INTEGER PRIMARY KEY REFERENCES p, code TEXT UNIQUE REFERENCES p(code));
        CREATE TABLE composite (a INT NOT NULL, b TEXT, x INT, y TEXT, FOREIGN KEY (a, b) REFERENCES q, FOREIGN KEY (x, y) REFERENCES q(a, b));
        CREATE TABLE line (p INT REFERENCES p, number INT, PRIMARY KEY (p, number));
        CREATE TABLE pair (p INT REFERENCES p, code TEXT REFERENCES p(code), PRIMARY KEY (p, code));
        CREATE TABLE tree (id INTEGER PRIMARY KEY, up INT REFERENCES tree);
        CREATE TABLE lost (x INT NOT NULL REFERENCES nobody);
        INSERT INTO p(id, code) SELECT n + 1, 'Rome ' || n FROM k WHERE n < 100;
        INSERT INTO q SELECT n, 'x' || n FROM k WHERE n < 50;
        INSERT INTO clustered SELECT 1 + n / 20 * 2 FROM k WHERE n < 1000;
        INSERT INTO skewed SELECT CASE WHEN n % 4 THEN 1 + (n * 7919 % 100) * (n * 7907 % 100) / 100 END, 'Rome ' || (n * 7919 % 97 * (n * 31 % 89) / 100), n * 37 % 100 + 1 FROM k;
        INSERT INTO once SELECT n + 1, CASE WHEN n % 2 THEN 'Rome ' || n END FROM k WHERE n < 60;
        INSERT INTO composite SELECT n * 7919 % 50, CASE WHEN n % 5 THEN 'x' || (n * 7919 % 50) END, iif(n % 2, n % 10, NULL), iif(n % 2, 'x' || (n % 10), NULL) FROM k WHERE n < 1000;
        INSERT INTO line SELECT n / 4 + 1, n % 4 FROM k WHERE n < 400;
        INSERT INTO pair SELECT 1 + n / 30, 'Rome ' || (n % 30 * 3) FROM k WHERE n < 300;
        INSERT INTO tree SELECT n, CASE WHEN n > 0 THEN n / 3 END FROM k WHERE n < 300;
        INSERT INTO lost VALUES (1), (2);"
    );
    let learnt = profile_of(&sql, false);
    let starts = |name: &str, expected: &str| {
        let said = said(&learnt, name);
        assert!(said.starts_with(expected), "{name}: {said}");
    };
    starts("clustered.p", "ref(p.id, per_parent(deal(0: 50, 20: 50)))");
    starts("skewed.p", "null(0.25, ref(p.id, deal(");
    starts("skewed.code", "ref(p.code, deal(");
    starts("skewed.even", "ref(p.id, in_turn)");
    starts("once.p", "ref(p.id, once)");
    starts("once.code", "null(0.5, ref(p.code, once))");
    starts("composite.a", "ref(q.a, ");
    starts("composite.b", "null(0.2, a.b)");
    starts("composite.x", "null(0.5, ref(q.a, deal(0: 45, 100: 5)))");
    starts("composite.y", "ref(q.b)");
    starts("line.p", "ref(p.id, per_parent(4))");
    starts("line.number", "number_in(p) - 1");
    starts("pair.p", "ref(p.id, per_parent(deal(0: 90, 30: 10)))");
    starts("pair.code", "ref(p.code, distinct_in(p))");
    starts("tree.up", "ref(tree.id)");
    starts("lost.x", "histogram(");
    let skewed = learnt.tables.iter().find(|table| table.name == "skewed").expect("skewed");
    assert_eq!((skewed.rows, skewed.rows_are_derived, skewed.columns[0].nulls), (10_000, false, 2500));
    assert!(!learnt.to_toml().contains("Rome"), "{}", learnt.to_toml());
    assert_plannable(&learnt);
}

/// Very many parents are sampled, with correct shares and in bounded memory.
#[test]
fn many_parents_are_sampled() {
    let sql = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INT NOT NULL REFERENCES p);
        WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 200000) INSERT INTO p SELECT n FROM k;
        INSERT INTO c SELECT 1 + id * 7919 % 100003 FROM p; INSERT INTO c SELECT p FROM c WHERE p % 4 = 0;";
    let learnt = profile_of(sql, false);
    let said = said(&learnt, "c.p");
    let numbers: Vec<f64> = said
        .trim_start_matches("ref(p.id, deal(")
        .trim_end_matches(')')
        .split([',', ':'])
        .map(|number| number.trim().parse().expect(&said))
        .collect();
    let shares: f64 = numbers.iter().skip(1).step_by(2).sum();
    assert!((shares - 200_000.0).abs() < 4000.0, "{said}");
    // Half of the parents have no children, and a quarter of the others twice as many.
    assert_eq!((numbers[0], numbers[numbers.len() - 2]), (0.0, 4.0), "{said}");
    assert!((numbers[1] / shares - 0.5).abs() < 0.02 && (numbers[numbers.len() - 1] / shares - 0.125).abs() < 0.02);
}

#[test]
fn numbers_keep_their_decimals_and_steps() {
    let select =
        "n, (n * 7919 % 10007) / 100.0, 1000 + 25 * (n * 31 % 997), (n * 7919 % 10007) / 7.0, (n * 31 % 997) * -0.5";
    let learnt =
        profile_of(&table("id INTEGER PRIMARY KEY, price REAL, k INT, r REAL, h NUMERIC", 5000, select), false);
    let plan = learnt.to_toml();
    assert!(said(&learnt, "t.price").ends_with(") / 100.0"), "{plan}");
    assert!(said(&learnt, "t.k").ends_with(") * 25"), "{plan}");
    assert!(!said(&learnt, "t.r").contains('/'), "{plan}");
    let of = |column: usize| generated(&plan, column, 3.0);
    assert!(of(1).iter().all(|price| ((price * 100.0).round() / 100.0 - price).abs() < f64::EPSILON));
    assert!(of(2).iter().all(|number| number.rem_euclid(25.0) == 0.0 && (1000.0..=25_900.0).contains(number)));
    assert!(of(4).iter().all(|half| (half * 2.0).fract() == 0.0 && (-498.0..=0.0).contains(half)));
}

/// A constraint between columns, which no column can meet alone, is left to inference.
#[test]
fn checks_between_columns_are_met() {
    let select = "n, date('2020-01-01', (n * 7919 % 500) || ' days'), date('2020-01-01', (n * 7919 % 500 + 1 + n % 9) || ' days'), n % 50, 60 + n % 30";
    let definition = "id INTEGER PRIMARY KEY, begins TEXT, ends TEXT, least INT, most INT CHECK (most BETWEEN 60 AND 89), CHECK (ends > begins), CHECK (most > least)";
    let learnt = profile_of(&table(definition, 2000, select), false);
    assert!(said(&learnt, "t.most").starts_with("choice(60: "));
    assert!(said(&learnt, "t.ends").starts_with("date_add(begins, histogram(1: "), "{}", said(&learnt, "t.ends"));
    assert_plannable(&learnt);
}

/// Two foreign keys that share a column cannot both be followed: that is an error and not a broken database.
#[test]
fn keys_that_share_a_tenant_are_refused() {
    let sql = "CREATE TABLE tenant (id INTEGER PRIMARY KEY);
        CREATE TABLE a (tenant INT REFERENCES tenant, id INT, PRIMARY KEY (tenant, id));
        CREATE TABLE b (tenant INT REFERENCES tenant, id INT, PRIMARY KEY (tenant, id));
        CREATE TABLE c (tenant INT NOT NULL, a INT NOT NULL, b INT NOT NULL,
            FOREIGN KEY (tenant, a) REFERENCES a, FOREIGN KEY (tenant, b) REFERENCES b);
        INSERT INTO tenant VALUES (1), (2);
        INSERT INTO a VALUES (1, 1), (2, 2); INSERT INTO b VALUES (1, 1), (2, 2); INSERT INTO c VALUES (1, 1, 1), (2, 2, 2);";
    let learnt = profile_of(sql, false);
    let file = Recipe::parse(&learnt.to_toml(), "recipe.toml").expect("a recipe");
    let schema = file.schema().expect("a schema");
    let error = GenPlan::new(&schema, &Request { recipe: Some(file), ..Request::default() }).expect_err("one key only");
    assert_eq!(error.place().table.as_deref(), Some("c"));
    assert!(error.to_string().contains("another foreign key decides about tenant"), "{error}");
}

/// Each order had one line, and in a look-alike none or three.
#[test]
fn parents_of_one_row_keep_one() {
    let sql = format!(
        "{NUMBERS} CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE q (id INTEGER PRIMARY KEY);
        CREATE TABLE line (p INT NOT NULL REFERENCES p, q INT NOT NULL REFERENCES q, PRIMARY KEY (p, q));
        INSERT INTO p SELECT n + 1 FROM k WHERE n < 500; INSERT INTO q SELECT id FROM p;
        INSERT INTO line SELECT n + 1, 1 + n * n % 37 FROM k WHERE n < 400;"
    );
    let learnt = profile_of(&sql, false);
    assert_eq!(said(&learnt, "line.p"), "ref(p.id, once)");
    assert!(said(&learnt, "line.q").starts_with("ref(q.id, deal(0: "), "{}", said(&learnt, "line.q"));
    assert_plannable(&learnt);
}

/// A recipe contains no names of persons, however few: neither names, nor keys that are names, nor addresses.
#[test]
fn no_person_is_in_a_plan() {
    let people = ["Ada Lovelace", "Grace Hopper", "Alan Turing"];
    let sql = format!(
        "{NUMBERS}
        CREATE TABLE person (name TEXT PRIMARY KEY, email TEXT NOT NULL, nick TEXT UNIQUE, city TEXT, phone TEXT, note TEXT, home TEXT);
        CREATE TABLE visit (who TEXT NOT NULL REFERENCES person, said TEXT);
        INSERT INTO person SELECT v || ' ' || n, lower(replace(v, ' ', '.')) || '@analytical.org', substr(v, 1, 3) || n,
            'Marylebone', '+44 20 7946 0' || (100 + n), v || ' wrote this', 'Ockham Park'
            FROM (SELECT 'Ada Lovelace' v, 1 n UNION ALL SELECT 'Grace Hopper', 2 UNION ALL SELECT 'Alan Turing', 3);
        INSERT INTO visit SELECT (SELECT name FROM person WHERE rowid = 1 + n % 3), 'Ada Lovelace' FROM k WHERE n < 500;"
    );
    let learnt = profile_of(&sql, false);
    let plan = learnt.to_toml();
    let parts = people.iter().flat_map(|name| name.split(' '));
    for secret in parts.chain(["analytical", "Marylebone", "Ockham", "wrote", "7946"]) {
        assert!(!plan.to_lowercase().contains(&secret.to_lowercase()), "{secret}: {plan}");
    }
    assert_plannable(&learnt);
    assert!(profile_of(&sql, true).to_toml().contains("Ada Lovelace"));
}
