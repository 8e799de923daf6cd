//! Look-alikes: relations between columns, sizes of lookup tables, and numbers of different texts hold at any scale.

use super::*;

/// A shop whose columns have everything to do with one another.
const SHOP: &str = "
    CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE customer (id INTEGER PRIMARY KEY, first_name TEXT, city TEXT, country TEXT, since DATE);
    CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INT NOT NULL REFERENCES customer, city TEXT,
        ordered DATE NOT NULL, shipped DATE, kind_id INT NOT NULL REFERENCES kind, weight INT, cost INT);
    CREATE TABLE line (purchase_id INT REFERENCES purchase, product INT REFERENCES customer, pieces INT,
        PRIMARY KEY (purchase_id, product)) WITHOUT ROWID;
    CREATE TEMP TABLE k AS WITH RECURSIVE k(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM k WHERE n < 2999) SELECT n, n * 7919 % 10007 m FROM k;
    INSERT INTO kind SELECT n + 1, 'Kind ' || char(65 + n) FROM k WHERE n < 6;
    INSERT INTO customer SELECT n + 1, 'Name' || char(97 + m % 24), 'Town ' || char(65 + m % 20), 'Land ' || char(65 + m % 20 % 7), date('2001-01-01', (m % 900) || ' days')
        FROM k WHERE n < 300;
    INSERT INTO purchase SELECT n + 1, 1 + m % 300, (SELECT city FROM customer WHERE id = 1 + m % 300),
        date('2010-01-01', (n / 3) || ' days'), iif(m % 9, date('2010-01-01', (n / 3 + m % 11) || ' days')), 1 + m % 6, m, m * 3 + n * 13 % 997 FROM k;
    INSERT INTO line SELECT n / 3 + 1, 1 + (n / 3 * 7 + n % 3 * 97) % 300, 1 + m % 4 FROM k;";

/// Builds the look-alike of a database.
pub(super) fn look_alike(learnt: &Profile, scale: f64) -> (tempfile::TempDir, Connection) {
    let recipe = learnt.to_toml();
    let file = Recipe::parse(&recipe, "recipe.toml").expect(&recipe);
    let schema = file.schema().expect(&recipe);
    let request = Request { recipe: Some(file), scale: Some(scale), ..Request::default() };
    let plan = GenPlan::new(&schema, &request).expect(&recipe);
    let folder = tempfile::tempdir().expect("a folder");
    let connection = build(folder.path(), schema, &plan);
    (folder, connection)
}

fn number(connection: &Connection, sql: &str) -> f64 {
    connection.query_row(sql, [], |row| row.get(0)).expect(sql)
}

/// Every relation of Chinook and Northwind was lost: invoices were in no order, shipped before they were ordered, and a city
/// was in six countries.
#[test]
fn relations_hold() {
    let learnt = profile_of(SHOP, false);
    for scale in [1.0, 3.0] {
        let (_folder, made) = look_alike(&learnt, scale);
        let rows = number(&made, "SELECT count(*) FROM purchase");
        for (sql, least, most) in [
            ("SELECT count(*) FROM kind", 6.0, 6.0),
            ("SELECT count(DISTINCT city) FROM customer", 20.0, 20.0),
            ("SELECT count(DISTINCT country) FROM customer", 7.0, 7.0),
            ("SELECT count(DISTINCT first_name) FROM customer", 24.0, 24.0),
            ("SELECT avg(n) FROM (SELECT count(DISTINCT country) n FROM customer GROUP BY city)", 1.0, 1.0),
            ("SELECT avg(p.city IS c.city) FROM purchase p JOIN customer c ON c.id = customer_id", 1.0, 1.0),
            ("SELECT avg(shipped >= ordered) FROM purchase WHERE shipped IS NOT NULL", 1.0, 1.0),
            ("SELECT avg(shipped IS NULL) FROM purchase", 0.08, 0.14),
            (
                "SELECT avg(ordered >= before) FROM (SELECT ordered, lag(ordered) OVER (ORDER BY id) before FROM purchase)",
                1.0,
                1.0,
            ),
            // The square of Pearson's correlation, which is positive: SQLite may have no sqrt.
            (
                "SELECT c * abs(c) / (w * v) FROM (SELECT avg(weight * cost) - avg(weight) * avg(cost) c, avg(weight * weight) - avg(weight) * avg(weight) w, avg(cost * cost) - avg(cost) * avg(cost) v FROM purchase)",
                0.95 * 0.95,
                1.0,
            ),
            ("SELECT count(*) FROM purchase WHERE id NOT IN (SELECT purchase_id FROM line)", rows * 0.6, rows * 0.7),
            ("SELECT max(n) FROM (SELECT count(*) n FROM line GROUP BY purchase_id)", 3.0, 3.0),
        ] {
            let found = number(&made, sql);
            assert!((least..=most).contains(&found), "{sql}: {found} at scale {scale}\n{}", learnt.to_toml());
        }
        assert_eq!(number(&made, "SELECT count(*) FROM pragma_foreign_key_check"), 0.0);
    }
    assert!(said(&learnt, "customer.first_name").contains("(\'"), "{}", said(&learnt, "customer.first_name"));
    assert_plannable(&learnt);
}

/// A city beyond the two hundredth lost its region and its country, although the caller wanted to keep all texts, and Mr. was called
/// Elizabeth, because no title can depend on two hundred names.
#[test]
fn many_kept_texts_stay_together() {
    let columns = "id INTEGER PRIMARY KEY, title TEXT, first_name TEXT, city TEXT, region TEXT, country TEXT";
    let select =
        "n + 1, iif(n * 7919 % 241 < 120, 'Mr.', 'Ms.'), 'Name ' || (n * 7919 % 241), 'Town ' || (n * 104729 % 307),
        'Region ' || (n * 104729 % 307 % 60), 'Land ' || (n * 104729 % 307 % 60 % 12)";
    let learnt = profile_of(&table(columns, 3000, select), true);
    let (_folder, made) = look_alike(&learnt, 2.0);
    for (sql, expected) in [
        ("SELECT count(DISTINCT city) FROM t", 307.0),
        ("SELECT count(*) FROM (SELECT DISTINCT city, region, country FROM t)", 307.0),
        ("SELECT count(DISTINCT country) FROM t", 12.0),
        ("SELECT count(*) FROM (SELECT DISTINCT title, first_name FROM t)", 241.0),
    ] {
        assert_eq!(number(&made, sql), expected, "{sql}\n{}", learnt.to_toml());
    }
}

/// Eight people of a firm stayed eight in a look-alike twenty times as large, as if they were a list of genres.
#[test]
fn a_few_people_grow_and_a_list_does_not() {
    let sql = "CREATE TABLE employee (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT);
        CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE sale (id INTEGER PRIMARY KEY, seller INT NOT NULL REFERENCES employee, genre INT NOT NULL REFERENCES genre);
        WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 8)
            INSERT INTO employee SELECT n, char(64 + n) || 'da', char(64 + n) || 'ovelace' FROM k;
        INSERT INTO genre SELECT id, 'Sound ' || char(64 + id) FROM employee;
        WITH RECURSIVE k(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM k WHERE n < 399)
            INSERT INTO sale SELECT n, 1 + n * n % 8, 1 + n % 8 FROM k;";
    let learnt = profile_of(sql, false);
    let is_fixed: Vec<bool> = learnt.tables.iter().map(|table| table.is_fixed).collect();
    assert_eq!(is_fixed, [false, true, false], "{}", learnt.to_toml());
    let (_folder, made) = look_alike(&learnt, 20.0);
    assert_eq!(number(&made, "SELECT count(*) FROM employee"), 160.0);
    assert_eq!(number(&made, "SELECT count(*) FROM genre"), 8.0);
}

/// People with their places, as the customers of a shop: twelve towns in four countries, some without states.
const PEOPLE: &str = "
    CREATE TABLE person (id INTEGER PRIMARY KEY, salutation TEXT, first_name TEXT NOT NULL, last_name TEXT NOT NULL, full_name TEXT, city TEXT, state TEXT,
        country TEXT, zip TEXT, email TEXT, username TEXT);
    WITH RECURSIVE k(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM k WHERE n < 599), p AS (SELECT n, n * 7919 % 12 town, iif(n % 2, 'Mr.', 'Ms.') salutation,
        char(65 + n % 26) || 'dalinde' first, char(65 + n / 26) || 'ockham' last FROM k)
    INSERT INTO person SELECT n + 1, salutation, first, last, first || ' ' || last, 'Xanadu' || char(65 + town), iif(town % 4, char(65 + town, 88), NULL), 'Quux' || char(65 + town % 4), 10000 + n * 37 % 80000,
        iif(n % 10, lower(first || '.' || last) || n || '@quux.example', NULL), lower(first) || n FROM p;";

/// In a look-alike of Chinook, Paris was in Brazil with the postcode of nowhere, and Ann Lee had the address `xqzvbn@example.com`.
#[test]
fn the_texts_of_a_row_agree() {
    let learnt = profile_of(PEOPLE, false);
    for scale in [1.0, 20.0] {
        let (_folder, made) = look_alike(&learnt, scale);
        for (sql, least, most) in [
            ("SELECT count(DISTINCT city) FROM person", 12.0, 12.0),
            ("SELECT count(DISTINCT country) FROM person", 4.0, 4.0),
            ("SELECT max(n) FROM (SELECT count(DISTINCT country) n FROM person GROUP BY city)", 1.0, 1.0),
            ("SELECT max(n) FROM (SELECT count(DISTINCT state) n FROM person GROUP BY city)", 1.0, 1.0),
            ("SELECT avg(state IS NULL) FROM person", 0.2, 0.3),
            ("SELECT avg(length(state)) FROM person", 1.0, 3.0),
            (
                "SELECT avg(email LIKE lower(first_name) || '.%@example.___') FROM person WHERE email IS NOT NULL AND first_name NOT GLOB '*[^A-Za-z]*'",
                1.0,
                1.0,
            ),
            ("SELECT avg(email IS NULL) FROM person", 0.05, 0.15),
            ("SELECT avg(full_name = first_name || ' ' || last_name) FROM person", 1.0, 1.0),
            (
                "SELECT avg(username LIKE lower(first_name) || '%') FROM person WHERE first_name NOT GLOB '*[^A-Za-z]*'",
                1.0,
                1.0,
            ),
            ("SELECT avg(salutation IN ('Mr.', 'Ms.')) FROM person", 1.0, 1.0),
            ("SELECT max(n) FROM (SELECT count(DISTINCT salutation) n FROM person GROUP BY first_name)", 1.0, 2.0),
        ] {
            let found = number(&made, sql);
            assert!((least..=most).contains(&found), "{sql}: {found} at scale {scale}\n{}", learnt.to_toml());
        }
        // The places are those of our list.
        let mut select = made.prepare("SELECT DISTINCT country, city FROM person").expect("places");
        let places = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("places");
        let places: Vec<(String, String)> = places.collect::<rusqlite::Result<_>>().expect("texts");
        let known = litepress_gen::countries();
        for (country, city) in places {
            let of = known.iter().find(|known| known.names[0] == country).expect(&country);
            assert!(of.cities.contains(&city), "{city} is not in {country}");
        }
    }
}

/// A look-alike of a database with all first names of our list had people called `Thunder Basket`.
#[test]
fn names_look_like_names_when_the_list_is_used_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let sql = "CREATE TABLE person (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, job_title TEXT, made_in VARCHAR(4));
        CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE track (id INTEGER PRIMARY KEY, genre_id INT NOT NULL REFERENCES genre);";
    let names = |generator: &str| names::values(generator, 0..3000).expect(generator);
    let [first, last, job] = ["phrase('{first}')", "phrase('{last}')", "phrase('{job}')"].map(names);
    let file = database(folder.path(), sql);
    let connection = Connection::open(&file).expect("a database");
    connection.execute_batch("BEGIN").expect("a transaction");
    for ((first, last), job) in first.iter().zip(&last).zip(&job) {
        let row =
            "INSERT INTO person SELECT ifnull(max(id), 0) + 1, ?1, ?2, ?3, 1990 + ifnull(max(id), 0) % 30 FROM person";
        connection.execute(row, [first, last, job]).expect(row);
    }
    let genres = "INSERT INTO genre SELECT id, 'Sound ' || char(64 + id) FROM person WHERE id <= 20;
        INSERT INTO track SELECT id, 1 + id % 20 FROM person; COMMIT";
    connection.execute_batch(genres).expect(genres);
    let (_made, made) = look_alike(&profile(&file, &options(1, false)).expect("a profile"), 2.0);
    for (column, known) in [("first_name", first), ("last_name", last), ("job_title", job)] {
        let known: std::collections::HashSet<String> = known.into_iter().collect();
        let mut select = made.prepare(&format!("SELECT DISTINCT {column} FROM person")).expect(column);
        let found = select.query_map([], |row| row.get(0)).expect(column);
        let found: Vec<String> = found.collect::<rusqlite::Result<_>>().expect(column);
        let names = found.iter().filter(|name| known.contains(*name)).count();
        assert!(10 * names >= 9 * found.len(), "{column}: {names} of {} are names", found.len());
    }
    assert_eq!(number(&made, "SELECT avg(made_in BETWEEN '1985' AND '2024') FROM person"), 1.0);
    assert_eq!(number(&made, "SELECT count(DISTINCT name) FROM genre"), 20.0);
}

/// `Track.Composer` had 853 different texts, and 223,954 in a hundred times as many rows.
#[test]
fn different_texts_stay_as_many() {
    let select = "n, 'Composer ' || (n * n % 853) || ' and ' || (n * n % 853), hex(n * n % 5003)";
    let learnt = profile_of(&table("id INTEGER PRIMARY KEY, composer TEXT, code TEXT", 4000, select), false);
    let source = |column: usize| learnt.tables[0].columns[column].distinct as f64;
    for scale in [1.0, 4.0] {
        let (_folder, made) = look_alike(&learnt, scale);
        for (column, name) in [(1, "composer"), (2, "code")] {
            let found = number(&made, &format!("SELECT count(DISTINCT {name}) FROM t"));
            assert!(
                (found / source(column) - 1.0).abs() < 0.05,
                "{name}: {found}, {}",
                said(&learnt, &format!("t.{name}"))
            );
        }
    }
}

/// A look-alike whose relations were lost had as small a distance as one that had them.
#[test]
fn a_comparison_sees_relations() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = database(folder.path(), SHOP);
    let go_on = || Ok(());
    let itself = compare(&source, &source, 2, &go_on).expect("itself");
    assert!((itself.score() - 1.0).abs() < 1e-9, "{}", itself.score());
    let learnt = profile(&source, &options(2, false)).expect("a profile");
    let (made, _) = look_alike(&learnt, 1.0);
    let alike = compare(&source, &made.path().join("built.db"), 2, &go_on).expect("a comparison");
    let shuffled = folder.path().join("shuffled.db");
    std::fs::copy(&source, &shuffled).expect("a copy");
    let connection = Connection::open(&shuffled).expect("a database");
    let lose = "PRAGMA foreign_keys = 0; CREATE TEMP TABLE s AS SELECT row_number() OVER (ORDER BY random()) id, ordered, city, cost FROM purchase;
        UPDATE purchase SET (ordered, city, cost) = (SELECT ordered, city, cost FROM s WHERE s.id = purchase.id);";
    connection.execute_batch(lose).expect(lose);
    drop(connection);
    let unlike = compare(&source, &shuffled, 2, &go_on).expect("a comparison");
    assert!(
        alike.score() > 0.88
            && alike.relations_score() > Some(0.9)
            && unlike.relations_score() < alike.relations_score(),
        "{} {}",
        alike.score(),
        unlike.score()
    );
    let texts: Vec<&str> =
        unlike.tables[2].relations.iter().filter(|of| of.distance > 0.2).map(|of| &*of.text).collect();
    for expected in [
        "city is city of the row of customer in customer_id",
        "ordered ascends with the rows",
        "shipped is not below ordered",
        "rank correlation of weight and cost",
    ] {
        assert!(texts.contains(&expected), "{expected}: {texts:?}");
    }
}
