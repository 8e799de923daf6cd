//! SQLite accepts the statements, and mistakes in options are reported.

use super::*;
use crate::infer::{FileStats, Numbers, ScannedValue};
use litepress_rows::message::Flags;
use litepress_rows::schema::IndexOrigin;

/// Returns a table whose columns are inferred from one value each.
fn table(name: &str, columns: &[(&str, &str)]) -> NewTable {
    let mut findings = FileStats::default();
    for (column, value) in columns {
        let position = findings.column(column);
        findings.observe(position, ScannedValue::Text(value.as_bytes()), 1);
    }
    NewTable { name: name.to_owned(), columns: findings.decide(&[], false, None, &|_| Numbers::Exact) }
}

fn items() -> Vec<NewTable> {
    vec![table("items", &[("id", "1"), ("order", "x"), ("a.b", "1.5"), ("price", "12.50")])]
}

fn shop() -> Vec<NewTable> {
    let users = table("users", &[("id", "1"), ("name", "x")]);
    vec![users, table("orders", &[("id", "1"), ("user_id", "1"), ("line", "1"), ("note", "x")])]
}

fn names(lists: &[&str]) -> Vec<Vec<String>> {
    lists.iter().map(|list| list.split(',').map(str::to_owned).collect()).collect()
}

fn pairs(given: &[(&str, &str)]) -> Vec<(String, String)> {
    given.iter().map(|(left, right)| ((*left).to_owned(), (*right).to_owned())).collect()
}

fn mistakes(mut tables: Vec<NewTable>, options: &TableOptions) -> Vec<String> {
    create(&mut tables, options).unwrap_err().iter().map(|mistake| mistake.in_words(&Flags)).collect()
}

#[test]
fn a_plain_table_has_a_line_for_each_column() {
    let sql = create(&mut items(), &TableOptions::default()).unwrap();
    let expected = "CREATE TABLE items (\n  id INTEGER,\n  \"order\" TEXT,\n  \"a.b\" REAL,\n  price REAL\n);\n";
    assert_eq!(sql, expected);
    let schema = Schema::from_sql(&sql, "<test>").unwrap();
    assert_eq!(schema.objects[0].sql.as_deref(), Some(expected.trim_end_matches(";\n")));
}

#[test]
fn every_option_is_what_sqlite_understands() {
    let options = TableOptions {
        primary_key: names(&["users.id", "orders.ID,line"]),
        without_rowid: true,
        strict: true,
        types: pairs(&[("note", "any")]),
        numbers: Vec::new(),
        not_null: vec!["name".to_owned()],
        indexes: names(&["user_id", "orders.note,user_id", "id"]),
        unique: names(&["name", "line,note"]),
        foreign_keys: pairs(&[("user_id", "users.id")]),
        ..TableOptions::default()
    };
    let mut tables = shop();
    let sql = create(&mut tables, &options).unwrap();
    let schema = Schema::from_sql(&sql, "<test>").unwrap_or_else(|error| panic!("{error}\n{sql}"));
    let [users, orders] = &schema.tables[..] else { panic!("two tables: {sql}") };
    assert!(users.without_rowid && users.strict && orders.without_rowid && orders.strict);
    assert!(users.columns[1].not_null && users.columns[1].unique && users.columns[0].key_position == Some(0));
    assert_eq!([orders.columns[0].key_position, orders.columns[2].key_position], [Some(0), Some(1)]);
    assert_eq!(orders.columns[3].declared_type, "ANY");
    assert_eq!(tables[1].columns[3].reason.in_words(&Flags), "--type says so");
    let key = &orders.foreign_keys[0];
    assert_eq!((&key.columns, key.parent.as_str(), &key.parent_columns), (&vec![1], "users", &vec!["id".to_owned()]));
    let made = |table: &litepress_rows::Table| -> Vec<String> {
        let is_made = |index: &&litepress_rows::schema::Index| index.origin == IndexOrigin::Create;
        table.indexes.iter().filter(is_made).map(|index| index.name.clone()).collect()
    };
    assert_eq!(made(users), ["idx_users_id"]);
    assert_eq!(made(orders), ["idx_orders_user_id", "idx_orders_note_user_id", "idx_orders_id"]);
    let unique: Vec<_> = orders.indexes.iter().filter(|index| index.origin == IndexOrigin::Unique).collect();
    assert_eq!(unique.len(), 1);
}

#[test]
fn one_integer_key_is_the_rowid() {
    let options = TableOptions { primary_key: names(&["id"]), ..TableOptions::default() };
    let sql = create(&mut items(), &options).unwrap();
    assert!(sql.contains("\n  id INTEGER PRIMARY KEY,\n"), "{sql}");
    assert_eq!(Schema::from_sql(&sql, "<test>").unwrap().tables[0].rowid_alias, Some(0));
}

#[test]
fn names_with_dots_are_cut_everywhere() {
    let mut tables = items();
    tables.push(table("a", &[("b", "x"), ("c.d", "1")]));
    tables.push(table("x.y", &[("z", "1")]));
    let options = TableOptions { indexes: names(&["a.b", "items.a.b", "a.c.d", "x.y.z"]), ..TableOptions::default() };
    let sql = create(&mut tables, &options).unwrap();
    Schema::from_sql(&sql, "<test>").unwrap();
    let indexes: Vec<&str> = sql.lines().filter(|line| line.starts_with("CREATE INDEX")).collect();
    let expected = [
        "CREATE INDEX \"idx_items_a.b\" ON items (\"a.b\");",
        "CREATE INDEX \"idx_a_c.d\" ON a (\"c.d\");",
        "CREATE INDEX \"idx_x.y_z\" ON \"x.y\" (z);",
    ];
    assert_eq!(indexes, expected);
}

#[test]
fn index_names_are_taken_once() {
    let mut tables = vec![table("t", &[("a_b", "1"), ("a", "1"), ("b", "1")]), table("idx_t_a", &[("q", "1")])];
    let options = TableOptions { indexes: names(&["a_b", "a,b", "a"]), ..TableOptions::default() };
    let sql = create(&mut tables, &options).unwrap();
    Schema::from_sql(&sql, "<test>").unwrap();
    for name in ["idx_t_a_b ON", "idx_t_a_b_2 ON", "idx_t_a_2 ON"] {
        assert!(sql.contains(name), "{sql}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let options = TableOptions {
        primary_key: names(&["idd", "id", "price"]),
        types: pairs(&[("id", "INTEGER PRIMARY KEY"), ("price", "TEXT); DROP TABLE t; --"), ("q", "TEXT")]),
        not_null: vec!["nobody".to_owned()],
        unique: names(&["id,ID"]),
        foreign_keys: pairs(&[("id", "items.price"), ("id", "others.id")]),
        ..TableOptions::default()
    };
    let known = "table items has id, order, a.b, price";
    let no_type = "is not a type; write a name such as INTEGER, REAL, TEXT, BLOB or DECIMAL(10,2); constraints have options \
                   of their own";
    assert_eq!(
        mistakes(items(), &options),
        [
            format!("column id: --type: 'INTEGER PRIMARY KEY' {no_type}"),
            format!("column price: --type: 'TEXT); DROP TABLE t; --' {no_type}"),
            format!("--type: no column is named q; {known}"),
            format!("--primary-key: no column is named idd; {known}"),
            "--unique id,ID: a column is named twice".to_owned(),
            format!("--not-null: no column is named nobody; {known}"),
            "table items: --primary-key is given twice; a key of several columns is one list: --primary-key A,B"
                .to_owned(),
            format!("--foreign-key id=others.id: no column is named others.id; {known}"),
        ]
    );
    let strict = TableOptions { strict: true, types: pairs(&[("id", "VARCHAR(9)")]), ..TableOptions::default() };
    let expected =
        "column id: --type: 'VARCHAR(9)' is not a type; STRICT tables know INT, INTEGER, REAL, TEXT, BLOB, ANY";
    assert_eq!(mistakes(items(), &strict), [expected]);
    let keyless = TableOptions { without_rowid: true, ..TableOptions::default() };
    let expected =
        "table items: a table WITHOUT ROWID needs a primary key; say which columns it has: --primary-key A,B";
    assert_eq!(mistakes(items(), &keyless), [expected]);
    let loose =
        TableOptions { foreign_keys: pairs(&[("user_id", "users.id"), ("line", "id")]), ..TableOptions::default() };
    let expected = [
        "--foreign-key user_id=users.id: users.id is not unique; add --primary-key users.id or --unique users.id",
        "--foreign-key line=id: several tables have a column id; write TABLE.COLUMN",
    ];
    assert_eq!(mistakes(shop(), &loose), expected);
    let split = TableOptions { indexes: names(&["name,note"]), ..TableOptions::default() };
    assert_eq!(mistakes(shop(), &split), ["--index name,note: no table has all of these columns"]);
}

#[test]
fn names_that_sqlite_takes_for_one_are_refused() {
    let tables = vec![table("T", &[("Id", "1"), ("ID", "2"), ("Ä", "1"), ("ä", "1")]), table("t", &[("a", "1")])];
    let message = mistakes(tables, &TableOptions::default());
    let expected = [
        "table T: column names differ only in case, which is one name to SQLite: Id, ID; rename one: --map 'ID=NEW_NAME', or \
         leave it out: --map 'ID='",
        "two tables would be named t, which are one name to SQLite; say with --table that both files go into one, or load \
         them one by one",
    ];
    assert_eq!(message, expected);
}

#[test]
fn a_full_text_index_is_kept_up_to_date() {
    let odd = table("it's", &[("rowid", "x"), ("the \"text\"", "words"), ("note", "x")]);
    let options = TableOptions {
        full_text: names(&["the \"text\",note"]),
        tokenizer: Some("porter unicode61 tokenchars '-'".to_owned()),
        ..TableOptions::default()
    };
    let sql = create(&mut [odd], &options).unwrap();
    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&sql).unwrap();
    sqlite
        .execute_batch(
            "INSERT INTO \"it's\" VALUES ('r', 'running e-mails', 'old'), ('s', 'other', 'words');
             UPDATE \"it's\" SET note = 'new' WHERE note = 'old'; DELETE FROM \"it's\" WHERE note = 'words';
             INSERT INTO \"it's_fts\"(\"it's_fts\", rank) VALUES ('integrity-check', 1)",
        )
        .unwrap();
    let found = |term: &str| {
        let sql = "SELECT count(*) FROM \"it's_fts\" WHERE \"it's_fts\" MATCH ?";
        sqlite.query_row(sql, [term], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(["run", "\"e-mail\"", "old", "new", "words"].map(found), [1, 1, 0, 1, 0]);
}

#[test]
fn full_text_indexes_that_cannot_be() {
    let refused = |columns: &[&str], tokenizer: Option<&str>, without_rowid: bool| {
        let primary_key = if without_rowid { names(&["id"]) } else { Vec::new() };
        let (full_text, tokenizer) = (names(columns), tokenizer.map(str::to_owned));
        let options = TableOptions { primary_key, without_rowid, full_text, tokenizer, ..TableOptions::default() };
        let tables = vec![table("a", &[("id", "1"), ("rank", "x"), ("t", "x")]), table("a_fts", &[("id", "1")])];
        mistakes(tables, &options)
    };
    assert!(refused(&[], Some("porter"), false)[0].contains("--fts-tokenizer porter has no effect"));
    assert!(refused(&["a.t"], None, false)[0].contains("would be named a_fts, which is another table"));
    assert!(refused(&["rank"], None, false).iter().any(|mistake| mistake.contains("FTS5 has a column of this name")));
    assert!(refused(&["t"], None, true).iter().any(|mistake| mistake.contains("leave out --without-rowid")));
    assert!(refused(&["nobody"], None, false)[0].contains("no column is named nobody"));
}
