//! Generated schemas and edge values: the content equals that of SQLite's INSERT, SQLite can change the file, and litepress
//! refuses the same rows as SQLite.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{ErrorKind, PageSize, Schema};
use litepress_conformance::case::{Case, Into, Route, insert, routes};
use litepress_conformance::edge_values::{INTS, REALS, STRICT_TYPES, TEXTS, TYPES, any_value};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{self, OldSqlite, open_command};
use litepress_conformance::source::Row;
use litepress_rows::Table;
use litepress_rows::cells::OwnedValue;
use litepress_rows::quoted_name;
use litepress_rows::schema::Generated;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use std::fmt::Write;

/// Prefixes of names; a number makes them unique.
const NAMES: [&str; 12] = [
    "c",
    "select",
    "odd name ",
    "quo\"ted",
    "semi;colon",
    "-- dash ",
    "/* star ",
    "[bracket]",
    "Größe",
    "it's ",
    "rowid",
    "名",
];

#[derive(Clone, Debug)]
struct AnyColumn {
    name: &'static str,
    declared: usize,
    suffix: &'static str,
    generated: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct AnyTable {
    columns: Vec<AnyColumn>,
    /// The form and position of the INTEGER PRIMARY KEY.
    key: Option<(&'static str, usize)>,
    strict: bool,
    comment: &'static str,
    first_rowid: i64,
    step: i64,
    rows: Vec<Row>,
}

fn any_column() -> impl Strategy<Value = AnyColumn> {
    let suffix = select(
        &[
            "",
            "",
            "",
            " NOT NULL",
            " NOT NULL DEFAULT 7",
            " DEFAULT 'x'",
            " DEFAULT (1 + 1)",
            " COLLATE NOCASE",
            " REFERENCES t0",
        ][..],
    );
    let generated = prop::option::weighted(
        0.1,
        select(&["1 + 1", "'a' || 'b'", "NULL", "5.0", "x'00ff'", "coalesce(\"k\", 1)"][..]),
    );
    (select(&NAMES[..]), 0..TYPES.len(), suffix, generated).prop_map(|(name, declared, suffix, generated)| AnyColumn {
        name,
        declared,
        suffix,
        generated,
    })
}

fn any_table() -> impl Strategy<Value = AnyTable> {
    let key = prop::option::of((
        select(
            &[
                "INTEGER PRIMARY KEY",
                "INTEGER PRIMARY KEY AUTOINCREMENT",
                "INTEGER NOT NULL PRIMARY KEY",
                "INTEGER, PRIMARY KEY(k)",
            ][..],
        ),
        0_usize..4,
    ));
    let comment = select(&["", "-- a comment\n", "/* one; more */ "][..]);
    let first =
        prop_oneof![3 => Just(1_i64), 1 => Just(-20), 1 => Just(i64::MIN), 1 => any::<i32>().prop_map(i64::from)];
    (prop::collection::vec(any_column(), 1..6), key, any::<bool>(), comment, first, 1_i64..400).prop_flat_map(
        |(columns, key, strict, comment, first_rowid, step)| {
            // A STRICT table also checks the types of generated values, which has its own test.
            let columns: Vec<AnyColumn> = columns
                .into_iter()
                .map(|column| AnyColumn { generated: column.generated.filter(|_| !strict), ..column })
                .collect();
            let given = columns.iter().filter(|column| column.generated.is_none()).count();
            let table = AnyTable { columns, key, strict, comment, first_rowid, step, rows: Vec::new() };
            let row = prop::collection::vec(any_value(), given);
            prop::collection::vec(row, 0..25).prop_map(move |rows| AnyTable { rows, ..table.clone() })
        },
    )
}

impl AnyTable {
    /// Returns the statement. The table is called `t` and a number. A foreign key needs a key in the first table.
    fn sql(&self, number: usize, first_has_key: bool) -> String {
        let mut columns: Vec<String> =
            self.columns.iter().enumerate().map(|(at, column)| self.column(at, column)).collect();
        if self.columns.iter().any(|column| column.generated.is_some()) {
            // SQLite 3.54.1 uses the default as the value if a virtual column precedes the column, and calls its own file
            // bad.
            columns.iter_mut().for_each(|column| *column = column.replace(" DEFAULT 'x'", ""));
        }
        if !first_has_key {
            columns.iter_mut().for_each(|column| *column = column.replace(" REFERENCES t0", ""));
        }
        if self.columns.iter().all(|column| column.generated.is_some()) && self.key.is_none() {
            columns.insert(0, format!("plain {}", if self.strict { "ANY" } else { "" }));
        }
        if let Some((key, at)) = self.key {
            let (declared, constraint) =
                key.split_once(", ").map_or((key, None), |(declared, rest)| (declared, Some(rest)));
            columns.insert(at.min(columns.len()), format!("k {declared}"));
            columns.extend(constraint.map(str::to_owned));
        }
        let strict = if self.strict { " STRICT" } else { "" };
        format!("{}CREATE TABLE t{number}({}){strict};\n", self.comment, columns.join(&format!(", {}", self.comment)))
    }

    fn column(&self, at: usize, column: &AnyColumn) -> String {
        let declared =
            if self.strict { STRICT_TYPES[column.declared % STRICT_TYPES.len()] } else { TYPES[column.declared] };
        let mut sql = format!("{} {declared}", quoted_name(&format!("{}{at}", column.name)));
        match column.generated {
            None => sql.push_str(column.suffix),
            // It may refer to the key, if there is one.
            Some(expression) if !expression.contains('k') || self.key.is_some() => {
                write!(sql, " AS ({expression})").unwrap();
            }
            Some(_) => sql.push_str(" AS (1)"),
        }
        sql
    }

    /// Returns the rows with ascending values for the key, sometimes as a text or a double.
    fn rows(&self, table: &Table) -> Vec<Row> {
        let ordinary = || table.columns.iter().enumerate().filter(|(_, column)| column.generated == Generated::No);
        let key = ordinary().position(|(at, _)| table.rowid_alias == Some(at));
        let key_of = |number: i64| {
            let id = self.first_rowid.saturating_add(number * self.step);
            match id % 7 {
                3 => OwnedValue::Text(format!(" {id}")),
                4 if id.abs() < 1 << 50 => OwnedValue::Real(id as f64),
                _ => OwnedValue::Int(id),
            }
        };
        let with_key = |(row, number): (&Row, i64)| {
            let mut row = row.clone();
            if let Some(key) = key {
                row.insert(key, key_of(number));
            }
            row.resize(ordinary().count(), OwnedValue::Int(1));
            row
        };
        self.rows.iter().zip(0..).map(with_key).collect()
    }
}

/// Returns views, and triggers for SQLite's later changes.
fn after(tables: &[AnyTable], wanted: (bool, bool)) -> String {
    let mut sql = String::new();
    if wanted.0 {
        sql.push_str("CREATE VIEW \"a view\" AS SELECT count(*) AS n, 'x' AS x FROM t0; -- seen\n");
    }
    if wanted.1 {
        let last = tables.len() - 1;
        write!(sql, "CREATE TRIGGER tr AFTER DELETE ON t0 BEGIN DELETE FROM t{last} WHERE rowid = old.rowid + 1; END;")
            .unwrap();
        sql.push_str("CREATE TRIGGER \"another one\" BEFORE UPDATE ON t0 BEGIN SELECT 1; END;");
    }
    sql
}

/// The rows of each table that SQLite accepts. For the first refusal: the table, and the rows up to it.
struct Judged {
    taken: Vec<Vec<Row>>,
    refused: Option<(usize, Vec<Row>)>,
}

fn judge(tables: &[AnyTable], schema: &Schema, sql: &str) -> Judged {
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
    let mut judged = Judged { taken: Vec::new(), refused: None };
    for (index, (any, table)) in tables.iter().zip(&schema.tables).enumerate() {
        let mut taken: Vec<Row> = Vec::new();
        for (row, rowid) in any.rows(table).into_iter().zip(1..) {
            match insert(&sqlite, table, rowid, &row) {
                Ok(()) => taken.push(row),
                Err(_) if judged.refused.is_some() => {}
                Err(_) => judged.refused = Some((index, [&taken[..], &[row]].concat())),
            }
        }
        judged.taken.push(taken);
    }
    judged
}

fn case(sql: &str, after: &str, rows: Vec<Vec<Row>>) -> Case {
    rows.into_iter().fold(Case::new(sql).after(after).parts_of(4), Case::rows)
}

/// Returns changes for SQLite to make in both databases.
fn changes(schema: &Schema) -> Vec<String> {
    let mut changes = Vec::new();
    for table in &schema.tables {
        let name = quoted_name(&table.name);
        let rowid = ["rowid", "_rowid_", "oid"].into_iter().find(|name| table.column(name).is_none()).unwrap();
        let ordinary = |column: &&litepress_rows::Column| column.generated == Generated::No;
        let key = table.rowid_alias.map(|at| table.columns[at].name.as_str());
        let columns: Vec<String> = table
            .columns
            .iter()
            .filter(ordinary)
            .filter(|column| Some(column.name.as_str()) != key)
            .map(|column| quoted_name(&column.name))
            .collect();
        if let Some(first) = columns.first() {
            changes.push(format!("UPDATE OR IGNORE {name} SET {first} = {first}"));
            changes.push(format!("UPDATE OR IGNORE {name} SET {first} = NULL WHERE {rowid} % 5 = 0"));
        }
        changes.push(format!("DELETE FROM {name} WHERE {rowid} % 3 = 0"));
        if !columns.is_empty() {
            let columns = columns.join(", ");
            // SQLite chooses the next rowids, or those of AUTOINCREMENT. After the largest rowid it may find none.
            changes.push(format!(
                "INSERT OR IGNORE INTO {name}({columns}) SELECT {columns} FROM {name} \
                 WHERE (SELECT max({rowid}) FROM {name}) < 9000000000000000000 ORDER BY {rowid} LIMIT 5"
            ));
        }
    }
    changes
}

fn assert_goes_on(bytes: &[u8], case: &Case, schema: &Schema, page_size: PageSize) {
    let (mut ours, theirs) = (oracle::open(bytes), case.reference(page_size));
    for change in changes(schema).iter().map(String::as_str).chain(["VACUUM"]) {
        ours.execute_batch(change).unwrap_or_else(|error| panic!("{change}: {error}"));
        theirs.execute_batch(change).unwrap();
    }
    oracle::assert_sqlite_content(&mut ours, "after SQLite's changes");
    oracle::assert_same_database(&ours, &theirs, "after SQLite's changes");
    let Some(old) = OldSqlite::find() else { return };
    let folder = Folder::new();
    let path = folder.join("old.db");
    std::fs::write(&path, bytes).unwrap();
    old.assert_sound(std::slice::from_ref(&path));
    let changes = changes(schema).join(";\n");
    let script = open_command(&path) + "PRAGMA synchronous=OFF;\n" + &changes + ";\nVACUUM;\nPRAGMA integrity_check;\n";
    assert_eq!(old.run(&script), "ok\n", "the older SQLite, after its changes");
}

fn check(tables: &[AnyTable], wanted: (bool, bool), page_size: PageSize, route: Route) {
    let sql: String =
        tables.iter().enumerate().map(|(number, table)| table.sql(number, tables[0].key.is_some())).collect();
    let after = after(tables, wanted);
    let schema = Schema::from_sql(&format!("{sql};{after}"), "<differential>").unwrap();
    let Judged { taken, refused } = judge(tables, &schema, &sql);
    if let Some((index, rows)) = refused {
        let mut all = vec![Vec::new(); index];
        all.push(rows);
        let error = case(&sql, &after, all).build(route, page_size).map(drop).expect_err("SQLite refuses the last row");
        assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
    }
    let case = case(&sql, &after, taken);
    let bytes = case.build(route, page_size).unwrap_or_else(|error| panic!("{error}\n{sql}{after}"));
    case.judge(&bytes, page_size);
    assert_goes_on(&bytes, &case, &schema, page_size);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_and_any_rows_are_those_of_sqlite(
        tables in prop::collection::vec(any_table(), 1..5),
        wanted in any::<(bool, bool)>(),
        power in 9_u32..=16,
        route in select(routes().filter(|route| route.into != Into::DirectFile).collect::<Vec<_>>()),
    ) {
        check(&tables, wanted, PageSize::new(1 << power).unwrap(), route);
    }
}

/// Takes and refuses the same edge values as SQLite, in every type, STRICT or not.
#[test]
fn every_edge_value_in_every_type() {
    let ints = INTS.into_iter().map(OwnedValue::Int);
    let reals = REALS.into_iter().map(OwnedValue::Real);
    let texts = TEXTS.into_iter().map(|text| OwnedValue::Text(text.to_owned()));
    let others = [OwnedValue::Null, OwnedValue::Blob(Vec::new()), OwnedValue::Blob(b"12".to_vec())];
    let values: Vec<OwnedValue> = ints.chain(reals).chain(texts).chain(others).collect();
    let plain = TYPES.into_iter().map(|declared| format!("CREATE TABLE t(a {declared} NOT NULL)"));
    let strict = STRICT_TYPES.into_iter().map(|declared| format!("CREATE TABLE t(a {declared}) STRICT"));
    for sql in plain.chain(strict) {
        let (mut taken, mut refused) = (Vec::new(), 0);
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(&sql).unwrap();
        let schema = Schema::from_sql(&sql, "<values>").unwrap();
        for value in &values {
            let row = vec![value.clone()];
            if insert(&sqlite, &schema.tables[0], taken.len() as i64 + 1, &row).is_ok() {
                taken.push(row);
            } else {
                let built = Case::new(&sql).rows([row]).build(Route::SHORTEST, PageSize::DEFAULT).map(drop);
                let error = built.expect_err(&format!("{sql}: SQLite refuses {value:?}"));
                assert_eq!(error.kind(), ErrorKind::Constraint, "{sql}: {value:?}");
                refused += 1;
            }
        }
        assert!(refused > 0 || sql.contains("STRICT"), "{sql}: NULL is refused");
        // All values in one block, and each alone, which is encoded as a block of one kind.
        for parts in [1, 1000] {
            let case = Case::new(&sql).rows(taken.clone()).parts_of(parts);
            let bytes = case.build(Route::SHORTEST, PageSize::DEFAULT).unwrap_or_else(|error| panic!("{sql}: {error}"));
            case.judge(&bytes, PageSize::DEFAULT);
        }
    }
}

/// Refuses NULL or a wrong type in a virtual column like SQLite, although its value is not stored.
#[test]
fn rules_of_a_virtual_column_are_not_overlooked() {
    for sql in [
        "CREATE TABLE t(a INT, g INT AS (a + 1) NOT NULL)",
        "CREATE TABLE t(a INT, g INT AS ('x' || coalesce(a, 'x'))) STRICT",
    ] {
        let row = vec![OwnedValue::Null];
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(sql).unwrap();
        let schema = Schema::from_sql(sql, "<virtual>").unwrap();
        insert(&sqlite, &schema.tables[0], 1, &row).expect_err("SQLite refuses the row");
        let built = Case::new(sql).rows([row]).build(Route::SHORTEST, PageSize::DEFAULT);
        let error = built.map(drop).expect_err(sql);
        assert!(matches!(error.kind(), ErrorKind::Constraint | ErrorKind::Unsupported), "{error}");
    }
}

/// Triggers have their own name space: one may have the name of a table that has no pages yet.
#[test]
fn a_trigger_may_have_the_name_of_a_table() {
    let case = Case::new("CREATE TABLE t(a); CREATE TABLE u(a)")
        .rows([vec![OwnedValue::Int(1)]])
        .after("CREATE TRIGGER t AFTER INSERT ON u BEGIN SELECT 1; END; CREATE TRIGGER u AFTER INSERT ON u BEGIN SELECT 1; END");
    let bytes = case.build(Route::SHORTEST, PageSize::DEFAULT).unwrap();
    case.judge(&bytes, PageSize::DEFAULT);
}

/// Accepts such a definition like SQLite, and its rows as long as foreign keys are off.
#[test]
fn a_foreign_key_that_leads_nowhere_is_taken() {
    for sql in [
        "CREATE TABLE p(x); CREATE TABLE c(a REFERENCES p(x))",
        "CREATE TABLE p(x); CREATE TABLE c(a REFERENCES nowhere)",
        "CREATE TABLE p(x REFERENCES p); CREATE TABLE c(a REFERENCES p)",
    ] {
        let case = Case::new(sql).rows([vec![OwnedValue::Int(1)]]).rows([vec![OwnedValue::Int(2)]]);
        let bytes = case.build(Route::SHORTEST, PageSize::DEFAULT).unwrap_or_else(|error| panic!("{sql}: {error}"));
        case.judge(&bytes, PageSize::DEFAULT);
    }
}

/// `sqlite_sequence` after rows, no rows, negative rowids, and the largest rowid.
#[test]
fn autoincrement_goes_on_from_the_right_number() {
    let sql = "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x); CREATE TABLE b(id INTEGER PRIMARY KEY AUTOINCREMENT, x)";
    let row = |id: i64| vec![OwnedValue::Int(id), OwnedValue::Int(0)];
    for (ids, next) in [
        (vec![], Some(1)),
        (vec![1, 2, 3], Some(4)),
        (vec![7], Some(8)),
        (vec![-5, -3], Some(1)),
        (vec![0], Some(1)),
        (vec![i64::MIN], Some(1)),
        (vec![-1, 1 << 40], Some((1 << 40) + 1)),
        (vec![i64::MAX - 1], Some(i64::MAX)),
        (vec![1, i64::MAX], None),
    ] {
        let case = Case::new(sql).rows([row(10)]).rows(ids.iter().map(|&id| row(id)));
        let bytes = case.build(Route::SHORTEST, PageSize::DEFAULT).unwrap();
        case.judge(&bytes, PageSize::DEFAULT);
        let ours = oracle::open(&bytes);
        let id = ours.query_row("INSERT INTO b(x) VALUES (1) RETURNING id", [], |row| row.get::<_, i64>(0)).ok();
        assert_eq!(id, next, "after {ids:?}");
        assert_eq!(oracle::integer(&ours, "INSERT INTO a(x) VALUES (1) RETURNING id"), 11);
    }
}

/// Settings that are part of the file. WAL needs a file, because SQLite keeps no log of a database in memory.
#[test]
fn pragmas_of_the_file_are_kept() {
    for settings in [
        "PRAGMA user_version = -7; PRAGMA application_id = 2147483647; PRAGMA encoding = 'UTF-8';",
        "PRAGMA journal_mode = WAL; PRAGMA user_version = 2147483647;",
        "PRAGMA page_size = 16384; PRAGMA application_id = -1;",
    ] {
        let case =
            Case::new(format!("{settings} CREATE TABLE t(a); CREATE TABLE u(b)")).rows([vec![OwnedValue::Int(1)]]);
        let folder = Folder::new();
        let theirs = Connection::open(folder.join("theirs.db")).unwrap();
        let page_size = PageSize::new(if settings.contains("16384") { 16_384 } else { 4096 }).unwrap();
        case.fill_reference(&theirs, page_size);
        let path = folder.join("ours.db");
        std::fs::write(&path, case.build(Route { threads: 2, into: Into::CachedFile }, page_size).unwrap()).unwrap();
        let mut ours = Connection::open(&path).unwrap();
        oracle::assert_same_database(&ours, &theirs, settings);
        oracle::assert_sqlite_content(&mut ours, settings);
        if let Some(old) = OldSqlite::find() {
            old.assert_sound(std::slice::from_ref(&path));
        }
    }
}
