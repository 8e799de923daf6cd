//! Schemas of real programs without one annotation: SQLite accepts the rows, and queries find nothing absurd in them.

mod agreements;
mod browsers_and_home;
mod business;
mod contradictions;
mod firms;
mod known_names;
mod layers_and_models;
mod libraries_and_forges;
mod obvious_joins;
mod pictures_and_maps;
mod posts_and_messages;
mod shops;
mod webs_and_chats;

use super::schemas::{insert, number};
use super::*;
use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use std::path::{Path, PathBuf};

/// Rows of every table.
const ROWS: u64 = 400;

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// Makes a database with a number of rows in every table, and other numbers in some of them.
fn make(sql: &str, rows: u64, others: &[(&str, u64)]) -> Connection {
    let schema = Schema::from_sql(sql, "test.sql").unwrap_or_else(|error| panic!("{error}\n{sql}"));
    let others = others.iter().map(|(table, rows)| (Some((*table).to_owned()), *rows));
    let request = Request { rows: std::iter::once((None, rows)).chain(others).collect(), ..Request::default() };
    let plan = GenPlan::new(&schema, &request).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    insert(sql, &plan).unwrap_or_else(|error| panic!("{error}"))
}

fn schema_of(name: &str) -> String {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/schemas/{name}.sql")))
}

/// Returns the schema of a program's file in `tests/programs`: the part before the rows, without settings.
fn of_program(text: &str) -> String {
    let before = text.split("\n-- rows").next().unwrap_or_default();
    before.lines().filter(|line| !line.starts_with("PRAGMA")).collect::<Vec<_>>().join("\n")
}

/// Returns the schema of a program in `tests/programs`.
fn program(name: &str) -> String {
    of_program(&read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/programs/{name}.sql"))))
}

#[test]
fn schemas_of_programs_are_filled_without_annotations() {
    let mut failed = Vec::new();
    for file in files("tests/schemas").into_iter().chain(files("../../tests/programs")) {
        let sql = of_program(&read(&file));
        let made = || -> std::result::Result<(), String> {
            let schema = Schema::from_sql(&sql, "test.sql").map_err(|error| error.to_string())?;
            let request = Request { rows: vec![(None, 150)], ..Request::default() };
            let plan = GenPlan::new(&schema, &request).map_err(|error| error.to_string())?;
            insert(&sql, &plan).map(drop)
        };
        if let Err(error) = made() {
            failed.push(format!("{}: {error}", file.display()));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Foreign keys are inferred anew when a recipe is run, beside columns that the recipe has already.
#[test]
fn recipes_of_programs_make_the_same_rows() {
    for name in ["chinook", "django_shop", "ci", "chat", "mastodon"] {
        let sql = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/schemas/{name}.sql")));
        let schema = Schema::from_sql(&sql, "test.sql").expect(name);
        let plan = GenPlan::new(&schema, &Request { rows: vec![(None, 100)], ..Request::default() }).expect(name);
        let text = crate::recipe::to_toml(&schema, &plan);
        let recipe = Recipe::parse(&text, "recipe.toml").expect(name);
        let schema = recipe.schema().expect(name);
        let again = GenPlan::new(&schema, &Request { recipe: Some(recipe), ..Request::default() });
        let again = again.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        for (one, other) in plan.tables().iter().zip(again.tables()) {
            let columns = |table: &TablePlan| table.columns.iter().map(|of| of.expression.clone()).collect::<Vec<_>>();
            assert_eq!(columns(one), columns(other), "{name}.{}", one.name);
        }
    }
}

/// A query that counts something, and the least and the largest count; `ROWS` rows are in every table, but fewer in lookup tables and
/// in those of orders and pipelines.
type Judge<'a> = (&'a str, i64, i64);

/// Asks the database of a schema all questions.
fn judge(name: &str, judges: &[Judge<'_>]) {
    judge_rows(name, &[], judges);
}

/// Asks the database of a schema whose tables have other numbers of rows.
fn judge_rows(name: &str, rows: &[(&str, u64)], judges: &[Judge<'_>]) {
    judge_schema(name, &schema_of(name), rows, judges);
}

/// Asks the database of a program's schema, in the same way.
fn judge_program(name: &str, judges: &[Judge<'_>]) {
    judge_program_rows(name, &[], judges);
}

/// Asks the database of a program's schema whose tables have other numbers of rows.
fn judge_program_rows(name: &str, rows: &[(&str, u64)], judges: &[Judge<'_>]) {
    judge_schema(name, &program(name), rows, judges);
}

/// Asks the database of the statements of a schema.
fn judge_schema(name: &str, sql: &str, rows: &[(&str, u64)], judges: &[Judge<'_>]) {
    let sqlite = make(sql, ROWS, rows);
    let failed: Vec<String> = judges
        .iter()
        .filter_map(|(query, least, most)| {
            let found = number(&sqlite, query);
            (!(*least..=*most).contains(&found)).then(|| format!("{found} is not {least} to {most}: {query}"))
        })
        .collect();
    assert!(failed.is_empty(), "{name}: {failed:#?}");
}

/// Categories had the same name twice, and so had tags, though a slug told them apart.
#[test]
fn names_in_lookup_tables_differ() {
    // A wool cap was a tool.
    judge_rows(
        "django_shop",
        &[("shop_category", 40)],
        &[
            (
                "SELECT count(*) FROM shop_product p JOIN shop_category c ON c.id = category_id WHERE p.name LIKE '%Drill' AND c.name <> 'Tools'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM shop_product p JOIN shop_category c ON c.id = category_id WHERE c.name = 'Bags' AND p.name NOT LIKE '%Bag' AND p.name NOT LIKE '%Backpack'",
                0,
                0,
            ),
            ("SELECT count(DISTINCT name) FROM shop_product", 300, 400),
            // A bar of chocolate cost 380.
            (
                "SELECT count(*) FROM shop_product p JOIN shop_category c ON c.id = category_id WHERE c.name IN ('Snacks', 'Grocery') AND price > 20",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_product WHERE price > 100", 40, 300),
            ("SELECT count(DISTINCT name) FROM shop_category", 40, 40),
            ("SELECT count(*) FROM shop_category WHERE slug GLOB '*[0-9]*'", 0, 0),
        ],
    );
    judge_rows(
        "django_shop",
        &[("shop_category", 300)],
        &[("SELECT count(DISTINCT name) FROM shop_category", 300, 300)],
    );
    judge_rows("wordpress", &[("wp_terms", 300)], &[("SELECT count(DISTINCT name) FROM wp_terms", 300, 300)]);
    judge_rows(
        "sakila",
        &[("category", 16), ("language", 12)],
        &[("SELECT count(DISTINCT name) FROM category", 16, 16), ("SELECT count(DISTINCT name) FROM language", 12, 12)],
    );
}

/// Ids of repositories hit no row, as `repo_id` did not name a table, and a name in lower case was another name.
#[test]
fn short_names_mean_what_whole_ones_do() {
    let sql = "CREATE TABLE user (id INTEGER PRIMARY KEY, lower_name TEXT NOT NULL UNIQUE, name TEXT NOT NULL, num_repos INTEGER NOT NULL, created_unix INTEGER NOT NULL);
        CREATE TABLE repository (id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, lower_name TEXT NOT NULL, name TEXT NOT NULL, num_issues INTEGER NOT NULL);
        CREATE TABLE issue (id INTEGER PRIMARY KEY, repo_id INTEGER NOT NULL, poster_id INTEGER NOT NULL, title TEXT NOT NULL, created_unix INTEGER NOT NULL);
        CREATE TABLE comment (id INTEGER PRIMARY KEY, issue_row_id INTEGER NOT NULL, content TEXT NOT NULL);";
    let sqlite = make(sql, ROWS, &[]);
    for (query, expected) in [
        ("SELECT count(*) FROM issue JOIN repository r ON r.id = repo_id JOIN user u ON u.id = poster_id", 400),
        ("SELECT count(*) FROM comment JOIN issue i ON i.id = issue_row_id", 400),
        ("SELECT count(*) FROM user WHERE lower_name = lower(name)", 400),
        ("SELECT count(*) FROM repository WHERE lower_name = lower(name)", 400),
        ("SELECT count(*) FROM repository r WHERE num_issues = (SELECT count(*) FROM issue WHERE repo_id = r.id)", 400),
        ("SELECT count(*) FROM issue WHERE date(created_unix, 'unixepoch') BETWEEN '2020-12-31' AND '2026-01-01'", 400),
    ] {
        assert_eq!(number(&sqlite, query), expected, "{query}");
    }
    let counted =
        "SELECT count(*) FROM user u WHERE num_repos = (SELECT count(*) FROM repository WHERE owner_id = u.id)";
    assert_eq!(number(&sqlite, counted), 400, "{counted}");
}

/// Without REFERENCES, half a percent of the keys hit a row.
#[test]
fn programs_without_foreign_keys_are_believable() {
    judge(
        "wordpress",
        &[
            (
                "SELECT count(*) FROM wp_options WHERE option_name LIKE '%enabled' AND option_value NOT IN ('true', 'false')",
                0,
                0,
            ),
            ("SELECT count(*) FROM wp_postmeta WHERE (meta_key LIKE '%url') <> (meta_value LIKE 'http%')", 0, 0),
            (
                "SELECT count(*) FROM wp_postmeta WHERE meta_key LIKE '%timezone' AND meta_value NOT LIKE '%/%' AND meta_value <> 'UTC'",
                0,
                0,
            ),
            ("SELECT count(*) FROM wp_postmeta m JOIN wp_posts p ON p.ID = m.post_id", 400, 400),
            ("SELECT count(*) FROM wp_usermeta m JOIN wp_users u ON u.ID = m.user_id", 400, 400),
            ("SELECT count(*) FROM wp_comments c JOIN wp_posts p ON p.ID = c.comment_post_ID", 400, 400),
            ("SELECT count(*) FROM wp_posts p JOIN wp_users u ON u.ID = post_author", 400, 400),
            ("SELECT count(*) FROM wp_posts WHERE post_modified < post_date", 0, 0),
            ("SELECT count(*) FROM wp_posts WHERE post_name NOT LIKE lower(substr(post_title, 1, 1)) || '%'", 0, 10),
            ("SELECT count(*) FROM wp_posts WHERE post_password <> ''", 0, 30),
            ("SELECT count(*) FROM wp_users WHERE user_email NOT LIKE '%@%.%'", 0, 0),
            ("SELECT count(*) FROM wp_users WHERE user_registered LIKE '0000%'", 0, 0),
            ("SELECT count(*) FROM wp_options WHERE autoload = 'yes'", 240, 330),
        ],
    );
    judge(
        "matomo",
        &[
            ("SELECT count(*) FROM log_visit JOIN site USING (idsite)", 160, 160),
            ("SELECT count(*) FROM log_link_visit_action JOIN log_visit USING (idvisit)", 400, 400),
            ("SELECT count(*) FROM log_visit WHERE visit_last_action_time < visit_first_action_time", 0, 0),
            ("SELECT count(*) FROM log_visit WHERE visit_total_time NOT BETWEEN 0 AND 90000", 0, 0),
            ("SELECT count(*) FROM user WHERE superuser_access", 0, 15),
        ],
    );
    judge(
        "rails_shop",
        &[
            ("SELECT count(*) FROM orders o JOIN users u ON u.id = o.user_id WHERE o.created_at < u.created_at", 0, 8),
            (
                "SELECT count(*) FROM line_items i JOIN orders o ON o.id = i.order_id JOIN products p ON p.id = i.product_id",
                400,
                400,
            ),
            ("SELECT count(*) FROM line_items WHERE abs(total - quantity * price) > 0.01", 0, 0),
            (
                "SELECT count(*) FROM orders o WHERE abs(item_total - (SELECT total(total) FROM line_items WHERE order_id = o.id)) > 0.005",
                0,
                0,
            ),
            ("SELECT count(*) FROM users WHERE reset_password_token IS NOT NULL", 4, 60),
            ("SELECT count(*) FROM users WHERE admin", 1, 40),
            ("SELECT count(*) FROM users WHERE middle_name IS NULL", 110, 220),
            ("SELECT count(*) FROM users WHERE current_sign_in_at < last_sign_in_at", 0, 0),
            (
                "SELECT count(*) FROM users WHERE gender = 'female' AND first_name IN ('James', 'John', 'Peter', 'Thomas', 'William')",
                0,
                0,
            ),
            ("SELECT count(*) FROM users WHERE date_of_birth > '2008-01-01'", 0, 0),
            ("SELECT count(*) FROM products WHERE price_cents <= 0", 0, 0),
            ("SELECT count(*) FROM taggings a JOIN taggings b USING (tag_id) WHERE a.id < b.id", 600, 12_000),
        ],
    );
}

#[test]
fn times_end_at_the_day_that_is_asked_for() {
    let sql = "CREATE TABLE visit (id INTEGER PRIMARY KEY, created_at TEXT NOT NULL, updated_at TEXT NOT NULL)";
    let schema = Schema::from_sql(sql, "test.sql").expect(sql);
    let request =
        |until: &str| Request { rows: vec![(None, 200)], until: Some(until.to_owned()), ..Request::default() };
    let plan = GenPlan::new(&schema, &request("2019-07-01")).expect(sql);
    let sqlite = insert(sql, &plan).expect(sql);
    let late = "SELECT count(*) FROM visit WHERE created_at >= '2019-07-01' OR updated_at > '2019-07-01'";
    assert_eq!(number(&sqlite, late), 0);
    assert!(number(&sqlite, "SELECT count(*) FROM visit WHERE created_at > '2019-05-01'") > 3);
    let error = GenPlan::new(&schema, &request("soon")).expect_err("it is no day");
    assert!(error.message().contains("soon") && error.message().contains("not a day"), "{error}");
}

/// A join table of 101 rows for 10 x 10 pairs became 101 rows of (NULL, NULL).
#[test]
fn join_tables_with_too_few_pairs_are_an_error() {
    let sql = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY);
        CREATE TABLE j (a INTEGER REFERENCES a, b INTEGER REFERENCES b, PRIMARY KEY (a, b));";
    let with = |rows: u64| {
        let rows = [("a", 10), ("b", 10), ("j", rows)].map(|(table, rows)| (Some(table.to_owned()), rows));
        let schema = Schema::from_sql(sql, "test.sql").expect(sql);
        GenPlan::new(&schema, &Request { rows: rows.to_vec(), ..Request::default() })
    };
    insert(sql, &with(100).expect("all pairs")).expect("all pairs");
    let error = with(101).expect_err("too many");
    assert!(error.message().contains("100 values for 101 rows"), "{error}");
}

/// With five thousand rows for all tables, the eleven ratings of a CHECK were an error; a plan says why a table has fewer.
#[test]
fn unique_columns_have_no_more_rows_than_their_check_allows() {
    let sql = "CREATE TABLE ratings (id INTEGER PRIMARY KEY, rating INTEGER CHECK (rating > -1 AND rating < 11), UNIQUE (rating));
        CREATE TABLE votes (id INTEGER PRIMARY KEY, rating_id INTEGER NOT NULL REFERENCES ratings);";
    let sqlite = make(sql, ROWS, &[]);
    assert_eq!(number(&sqlite, "SELECT count(*) FROM ratings"), 11);
    assert_eq!(number(&sqlite, "SELECT count(*) FROM votes"), i64::try_from(ROWS).expect("a small number"));
    let schema = Schema::from_sql(sql, "test.sql").expect(sql);
    let request = Request { rows: vec![(None, ROWS)], ..Request::default() };
    let plan = GenPlan::new(&schema, &request).expect(sql);
    let because = plan.tables()[0].columns[1].provenance.to_string();
    assert!(because.ends_with("a CHECK allows 11 rows of different values"), "{because}");
}

/// The rows of a small sample met the constraint, and a later one did not.
#[test]
fn references_that_must_differ_always_do() {
    let sql = "CREATE TABLE place (id INTEGER PRIMARY KEY, url TEXT UNIQUE);
        CREATE TABLE visit (id INTEGER PRIMARY KEY, place_id INTEGER NOT NULL REFERENCES place, referrer_place_id INTEGER NOT NULL REFERENCES place,
            CHECK (place_id != referrer_place_id));";
    for rows in [20, 3000] {
        drop(make(sql, rows, &[]));
    }
}

/// A total in a partial unique index was quantity times price, and came twice.
#[test]
fn amounts_in_a_key_are_unique() {
    let sql = "CREATE TABLE u (id INTEGER PRIMARY KEY);
        CREATE TABLE o (id INTEGER PRIMARY KEY, u INTEGER NOT NULL REFERENCES u, price REAL NOT NULL, quantity INTEGER NOT NULL, total REAL NOT NULL);
        CREATE UNIQUE INDEX i ON o (u, total) WHERE total > 100;";
    drop(make(sql, 2000, &[]));
}

#[test]
fn unique_indexes_on_expressions_are_met() {
    for index in ["lower(name)", "lower(trim(name))", "name COLLATE NOCASE"] {
        let sql = format!(
            "CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL); CREATE UNIQUE INDEX i ON tags ({index});"
        );
        drop(make(&sql, 3000, &[]));
    }
}

/// The six tables of the guide, with the columns that it shows.
const SHOWN: [&str; 6] = [
    "SELECT id, first_name, last_name, gender, email, city, country, phone, registered_at FROM customer",
    "SELECT id, name, slug FROM category",
    "SELECT id, category_id, name, sku, price, stock FROM product",
    "SELECT id, customer_id, status, placed_at, shipped_at, delivered_at FROM orders",
    "SELECT order_id, product_id, quantity, unit_price, total FROM order_item",
    "SELECT id, product_id, customer_id, rating, title, body FROM review",
];

/// Formats ten rows as a Markdown table.
fn ten_rows(sqlite: &Connection, query: &str) -> String {
    let mut statement = sqlite.prepare(&format!("{query} LIMIT 10")).expect(query);
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut text = format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let mut rows = statement.query([]).expect(query);
    while let Some(row) = rows.next().expect(query) {
        let cell = |at: usize| match row.get::<_, Sql>(at).expect("a value") {
            Sql::Null => String::new(),
            Sql::Integer(int) => int.to_string(),
            Sql::Real(real) => format!("{real}"),
            Sql::Text(text) => text,
            Sql::Blob(blob) => format!("{} bytes", blob.len()),
        };
        let cells: Vec<String> = (0..names.len()).map(cell).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// The rows in the guide are those of `litepress generate store.db examples/store.sql --rows 1k --rows category=20 --rows
/// order_item=2500`.
/// With the environment variable WRITE they are written anew.
#[test]
fn the_guide_shows_rows_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sqlite = make(&read(&root.join("examples/store.sql")), 1000, &[("category", 20), ("order_item", 2500)]);
    let guide = root.join("docs/generate.md");
    let mut text = read(&guide);
    for query in SHOWN {
        let rows = ten_rows(&sqlite, query);
        if std::env::var_os("WRITE").is_some() {
            let head = format!("{query}`\n\n");
            let start = text.find(&head).unwrap_or_else(|| panic!("the guide lacks {query}")) + head.len();
            let end = start + text[start..].find("\n\n").map_or(text.len() - start, |end| end + 1);
            text.replace_range(start..end, &rows);
        }
        assert!(text.contains(&rows), "docs/generate.md has other rows of {query}; make it with WRITE=1\n{rows}");
    }
    if std::env::var_os("WRITE").is_some() {
        std::fs::write(guide, text).expect("the guide");
    }
}
