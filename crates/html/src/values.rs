//! The pages of values: histograms of one database, or of two side by side.

use crate::{Assets, filled};
use litepress_profile::{Comparison, Profile};
use serde_json::{Value, json};
use std::path::Path;

const ASSETS: Assets = Assets {
    page: include_str!("../assets/values.html"),
    style: include_str!("../assets/values.css"),
    script: include_str!("../assets/values.js"),
};

/// Number of columns that a page shows; each takes about a kilobyte.
const MOST_COLUMNS: usize = 2000;

/// Returns the page of a profile. Its texts are those of the profile: none of the rows, unless it keeps values.
pub fn profile_page(path: &Path, profile: &Profile) -> String {
    page(&[path], profile.to_json())
}

/// Returns the page of a comparison of two databases.
pub fn comparison_page(paths: [&Path; 2], comparison: &Comparison) -> String {
    page(&paths, comparison.to_json())
}

fn page(paths: &[&Path], mut result: Value) -> String {
    let name = |path: &&Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = paths.iter().map(name).collect();
    let mut tables = result["tables"].take();
    let (mut room, mut left_out) = (MOST_COLUMNS, 0);
    for table in tables.as_array_mut().into_iter().flatten() {
        let Some(columns) = table["columns"].as_array_mut() else { continue };
        left_out += columns.len().saturating_sub(room);
        columns.truncate(room);
        room -= columns.len();
    }
    let [score, only_in_other] = ["score", "only_in_other"].map(|key| result[key].take());
    filled(
        &ASSETS,
        &names.join(" and "),
        &json!({"names": names, "tables": tables, "score": score, "only_in_other": only_in_other, "left_out": left_out}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_profile::{ProfileOptions, compare, profile};

    fn data_of(page: &str) -> Value {
        let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
    }

    /// Makes a database by `sql` and returns the page of its profile.
    fn page_of(sql: &str, keep_values: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a&b<i>.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let learnt = profile(&path, &ProfileOptions { threads: 1, keep_values }, &|| Ok(())).unwrap();
        profile_page(&path, &learnt)
    }

    const PEOPLE: &str = "CREATE TABLE town (id INTEGER PRIMARY KEY);
        CREATE TABLE \"</script>\" (id INTEGER PRIMARY KEY, name TEXT, town INT REFERENCES town(id));
        INSERT INTO town VALUES (1), (2);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO \"</script>\" SELECT i, iif(i % 3, 'Zebedee', 'Quincy'), iif(i % 4, 1 + i % 2, NULL) FROM n";

    #[test]
    fn texts_of_rows_are_shown_if_they_are_kept() {
        let page = page_of(PEOPLE, false);
        assert!(!page.contains("Zebedee") && !page.contains("Quincy"), "{page}");
        assert!(page.contains("<title>a&amp;b&lt;i>.db: values"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        let data = data_of(&page_of(PEOPLE, true));
        let column = |place: usize| data["tables"][1]["columns"][place].clone();
        let (share, rest) = (200.0 / 300.0, 100.0 / 300.0);
        let expected = json!([{"values": "Zebedee", "share": share}, {"values": "Quincy", "share": rest}]);
        assert_eq!((column(1)["measure"].clone(), column(1)["buckets"].clone()), (json!("shares of values"), expected));
        assert_eq!((column(2)["refers_to"].clone(), column(2)["nulls"].clone()), (json!("town.id"), json!(75)));
    }

    /// One salary of a single row among five was in no recipe, but on the page of its profile and that of a comparison.
    #[test]
    fn no_number_of_a_single_row_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("salaries.db");
        let sql = "CREATE TABLE t (salary INT); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO t SELECT iif(i = 77, 987654321, 40000 + i % 4 * 5000) FROM n";
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let page = |keep_values: bool| {
            let options = ProfileOptions { threads: 1, keep_values };
            profile_page(&path, &profile(&path, &options, &|| Ok(())).unwrap())
        };
        let comparison = comparison_page([&path, &path], &compare(&path, &path, 1, &|| Ok(())).unwrap());
        for page in [page(false), comparison] {
            assert!(page.contains("45000") && page.contains("1 other") && !page.contains("987654321"), "{page}");
        }
        assert!(page(true).contains("987654321"));
    }

    #[test]
    fn a_database_without_rows_has_a_page() {
        let data = data_of(&page_of("CREATE TABLE t (a, b TEXT)", false));
        assert_eq!((&data["tables"][0]["rows"], &data["left_out"]), (&json!(0), &json!(0)));
        assert_eq!(data["tables"][0]["columns"][1]["buckets"], json!([]));
        assert_eq!(data_of(&page_of("", false))["tables"], json!([]));
    }

    #[test]
    fn more_columns_than_fit_are_counted() {
        let columns: Vec<String> = (0..1500).map(|column| format!("c{column}")).collect();
        let table = |name: &str| format!("CREATE TABLE {name} ({});", columns.join(", "));
        let data = data_of(&page_of(&(table("one") + &table("two")), false));
        assert_eq!((&data["left_out"], data["tables"][1]["columns"].as_array().unwrap().len()), (&json!(1000), 500));
    }

    #[test]
    fn two_databases_stand_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one.db", "other.db"].map(|name| folder.path().join(name));
        for (path, from) in paths.iter().zip([0, 50]) {
            let sql = format!(
                "CREATE TABLE t (a INT); WITH n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {from} + 99)
                 INSERT INTO t SELECT i FROM n"
            );
            rusqlite::Connection::open(path).unwrap().execute_batch(&sql).unwrap();
        }
        let comparison = compare(&paths[0], &paths[1], 1, &|| Ok(())).unwrap();
        let data = data_of(&comparison_page([&paths[0], &paths[1]], &comparison));
        assert_eq!((&data["names"], &data["tables"][0]["rows"]), (&json!(["one.db", "other.db"]), &json!([100, 100])));
        assert_eq!(data["tables"][0]["columns"][0]["distance"], json!(0.5));
    }
}
