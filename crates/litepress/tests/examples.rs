//! The examples run, and what they write is what they say.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "../examples/generate.rs"]
#[expect(dead_code, reason = "an example has a main function")]
mod generate;
#[path = "../examples/index.rs"]
#[expect(dead_code, reason = "an example has a main function")]
mod index;
#[path = "../examples/load_csv.rs"]
#[expect(dead_code, reason = "an example has a main function")]
mod load_csv;
#[path = "../examples/metrics.rs"]
#[expect(dead_code, reason = "an example has a main function")]
mod metrics;

use rusqlite::Connection;
use std::path::Path;

/// Opens a database in which neither SQLite nor litepress finds a fault, and asks it for one text.
fn ask(path: &Path, sql: &str) -> String {
    assert!(litepress::check(path, &litepress::CheckOptions::default().full(true)).unwrap().is_clean());
    Connection::open(path).unwrap().query_row(sql, (), |row| row.get(0)).unwrap()
}

#[test]
fn every_example_makes_its_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);

    metrics::run(&path("metrics.db")).unwrap();
    let sums = "SELECT count(*) || ' ' || count(value) || ' ' || sum(value) FROM metric JOIN sensor ON id = sensor \
                WHERE name = 'temperature'";
    assert_eq!(ask(&path("metrics.db"), sums), "1000 900 18450.0");

    index::run(&path("words.db")).unwrap();
    let to = "SELECT group_concat(position) FROM word INDEXED BY word_word WHERE word = 'to'";
    assert_eq!(ask(&path("words.db"), to), "0,4");

    std::fs::write(path("user.csv"), "id,area\n2,001\n1,002\nx\n").unwrap();
    load_csv::run(&path("user.csv"), &path("user.db")).unwrap();
    assert_eq!(ask(&path("user.db"), "SELECT group_concat(id || area) FROM user"), "1002,2001");

    generate::run(&path("shop.db")).unwrap();
    let joined = "SELECT count(*) || '' FROM purchase JOIN customer ON customer.id = customer";
    assert_eq!(ask(&path("shop.db"), joined), "1000");
}
