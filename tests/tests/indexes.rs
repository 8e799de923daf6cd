//! Indexes, UNIQUE and PRIMARY KEY constraints: every entry equals the one that SQLite makes of the same rows.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{ErrorKind, PageSize, Schema};
use litepress_conformance::case::{Case, Into, Route, insert, routes};
use litepress_conformance::folder::Folder;
use litepress_conformance::keyed::{KeyedTable, any_table};
use litepress_conformance::oracle::{self, OldSqlite, open_command};
use litepress_conformance::source::Row;
use litepress_rows::cells::OwnedValue;
use litepress_rows::quoted_name;
use litepress_rows::schema::Generated;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;

/// The rows of each table that SQLite accepts.
struct Judged {
    taken: Vec<Vec<Row>>,
    refused: Option<Refused>,
}

/// The first row that SQLite refuses.
struct Refused {
    table: usize,
    /// The rows up to it.
    rows: Vec<Row>,
    /// SQLite's error, and the one that it has without CHECK constraints.
    why: [Option<String>; 2],
}

fn judge(tables: &[KeyedTable], schema: &Schema, sql: &str, in_any_order: bool) -> Judged {
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let mut judged = Judged { taken: Vec::new(), refused: None };
    for (index, (keyed, table)) in tables.iter().zip(&schema.tables).enumerate() {
        let mut taken: Vec<Row> = Vec::new();
        for row in keyed.rows(in_any_order) {
            match insert(&sqlite, table, 1 + taken.len() as i64, &row) {
                Ok(()) => taken.push(row),
                Err(_) if judged.refused.is_some() => {}
                Err(error) => {
                    sqlite.execute_batch("PRAGMA ignore_check_constraints = ON; SAVEPOINT again").unwrap();
                    let again = insert(&sqlite, table, 1 + taken.len() as i64, &row).err();
                    sqlite
                        .execute_batch("ROLLBACK TO again; RELEASE again; PRAGMA ignore_check_constraints = OFF")
                        .unwrap();
                    let why = [Some(error), again].map(|error| error.map(|error| error.to_string()));
                    judged.refused = Some(Refused { table: index, rows: [&taken[..], &[row]].concat(), why });
                }
            }
        }
        judged.taken.push(taken);
    }
    judged
}

fn case(sql: &str, rows: Vec<Vec<Row>>, in_any_order: bool) -> Case {
    let case = rows.into_iter().fold(Case::new(sql).parts_of(4), Case::rows);
    if in_any_order { case.in_any_order() } else { case }
}

/// Returns changes for SQLite to make in both databases.
fn changes(schema: &Schema) -> Vec<String> {
    let mut changes = Vec::new();
    for table in &schema.tables {
        let name = quoted_name(&table.name);
        let ordinary = table.columns.iter().enumerate().filter(|(_, column)| column.generated == Generated::No);
        let columns: Vec<String> = ordinary
            .filter(|(at, _)| table.rowid_alias != Some(*at))
            .map(|(_, column)| quoted_name(&column.name))
            .collect();
        let last = columns.last().unwrap();
        changes.push(format!("UPDATE OR IGNORE {name} SET {last} = coalesce({last}, 'x') || ' '"));
        changes.push(format!("DELETE FROM {name} WHERE length(hex(coalesce({last}, ''))) % 3 = 0"));
        changes.push(format!("UPDATE OR REPLACE {name} SET {} = 7 WHERE {last} < 'b'", columns[0]));
        let values = |value: &str| vec![value; columns.len()].join(", ");
        for value in ["3", "'New'", "x'00'", "1.5", "NULL"] {
            changes.push(format!("INSERT OR IGNORE INTO {name}({}) VALUES ({})", columns.join(", "), values(value)));
        }
    }
    changes
}

/// Checks that both the new SQLite and the old one can continue with the file.
fn assert_goes_on(bytes: &[u8], case: &Case, schema: &Schema, page_size: PageSize) {
    let (mut ours, mut theirs) = (oracle::open(bytes), case.reference(page_size));
    for round in [&changes(schema)[..], &["VACUUM".to_owned()]] {
        for change in round {
            let (our_result, their_result) = (ours.execute_batch(change), theirs.execute_batch(change));
            assert_eq!(our_result.is_ok(), their_result.is_ok(), "{change}: {our_result:?}, SQLite's {their_result:?}");
        }
        oracle::assert_sqlite_content(&mut ours, "after SQLite's changes");
        oracle::assert_same_database(&ours, &theirs, "after SQLite's changes");
        oracle::assert_same_indexes(&mut ours, &mut theirs, "after SQLite's changes");
    }
    let Some(old) = OldSqlite::find() else { return };
    // The old SQLite reports NULLs in WITHOUT ROWID tables that have none, even in SQLite's own files.
    let their_bytes = case.reference(page_size).serialize("main").unwrap().to_vec();
    assert_eq!(old_verdicts(old, bytes), old_verdicts(old, &their_bytes), "the older SQLite");
}

/// Returns the findings of the older SQLite in the database, with its indexes, and after making all indexes again.
///
/// An error is a finding too: the older SQLite prints reals with 15 digits and the newer one with 17, so two keys of
/// `real || 'x'` may be the same only for the older one.
fn old_verdicts(old: &OldSqlite, bytes: &[u8]) -> [Result<String, String>; 2] {
    let folder = Folder::new();
    let path = folder.join("old.db");
    std::fs::write(&path, bytes).unwrap();
    let sequel = "PRAGMA synchronous=OFF;\nREINDEX;\nPRAGMA integrity_check;\nVACUUM;\nPRAGMA integrity_check;\n";
    ["PRAGMA integrity_check;\n", sequel].map(|script| old.try_run(&(open_command(&path) + script)))
}

fn check(tables: &[KeyedTable], in_any_order: bool, page_size: PageSize, route: Route) {
    let sql: String = tables.iter().enumerate().map(|(number, table)| table.sql(number)).collect();
    let schema = Schema::from_sql(&sql, "<indexes>").unwrap_or_else(|error| panic!("{error}\n{sql}"));
    let Judged { taken, refused } = judge(tables, &schema, &sql, in_any_order);
    if let Some(Refused { table, rows, why }) = refused {
        let (mut all, last) = (vec![Vec::new(); table], rows.len() as u64);
        all.push(rows);
        let built = case(&sql, all, in_any_order).build(route, page_size).map(drop);
        let error = built.expect_err(&format!("SQLite refuses the last row: {why:?}\n{sql}"));
        assert_eq!(error.kind(), ErrorKind::Constraint, "{error}\nSQLite: {why:?}\n{sql}");
        // Rows that are sorted by their key first meet the row with the same key before their CHECK constraints.
        let possible = if in_any_order { &why[..] } else { &why[..1] };
        let is_of_sqlite = |why: &String| why.starts_with("UNIQUE") == error.message().starts_with("UNIQUE");
        // SQLite tells the repeated rowid of a row before a value that its STRICT table does not take, and the encoder sees the value first.
        let is_type = error.message().contains("of a STRICT table") && error.place().record == Some(last);
        assert!(is_type || possible.iter().flatten().any(is_of_sqlite), "{error}\nSQLite: {why:?}\n{sql}");
    }
    let case = case(&sql, taken, in_any_order);
    let bytes = case.build(route, page_size).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    case.judge(&bytes, page_size);
    assert_goes_on(&bytes, &case, &schema, page_size);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_keys_and_any_rows_are_those_of_sqlite(
        tables in prop::collection::vec(any_table(40), 1..3),
        in_any_order in any::<bool>(),
        power in 9_u32..=16,
        route in select(routes().filter(|route| route.into != Into::DirectFile).collect::<Vec<_>>()),
    ) {
        check(&tables, in_any_order, PageSize::new(1 << power).unwrap(), route);
    }
}

fn int(value: i64) -> OwnedValue {
    OwnedValue::Int(value)
}

fn text(value: &str) -> OwnedValue {
    OwnedValue::Text(value.to_owned())
}

/// A row had the key of an earlier one and broke a CHECK constraint too: SQLite named the CHECK, we the key, and the test wanted one name.
/// Rows that are in no order meet the row with the same key first.
#[test]
fn a_row_that_breaks_two_constraints() {
    let strict = "CREATE TABLE t(k INTEGER PRIMARY KEY, a TEXT) STRICT";
    let rows = vec![vec![int(1), text("x")], vec![int(1), OwnedValue::Blob(vec![0])]];
    let error =
        case(strict, vec![rows], false).build(routes().next().unwrap(), PageSize::DEFAULT).map(drop).unwrap_err();
    assert!(error.message().contains("of a STRICT table") && error.place().record == Some(2), "{error}");
    let sql = "CREATE TABLE t(k INTEGER PRIMARY KEY, a CHECK (typeof(a) <> 'blob'))";
    let rows: Vec<Row> = [1, 7, 3, 7].map(|key| vec![int(key), int(key)]).into();
    let broken = [&rows[..3], &[vec![int(7), OwnedValue::Blob(vec![0])]]].concat();
    for (rows, theirs) in [(rows, vec!["UNIQUE"]), (broken, vec!["UNIQUE", "SQLite says: CHECK"])] {
        for route in routes().filter(|route| route.into != Into::DirectFile) {
            let built = case(sql, vec![rows.clone()], true).build(route, PageSize::DEFAULT).map(drop);
            let error = built.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
            assert!(theirs.iter().any(|theirs| error.message().starts_with(theirs)), "{error}");
        }
    }
}

/// The error names the index or columns as SQLite does, the values of the first row, and both rows. Nothing is left.
#[test]
fn two_rows_that_are_not_unique() {
    let real = OwnedValue::Real;
    for (sql, rows, value, which) in [
        (
            "CREATE TABLE t(a, b); CREATE UNIQUE INDEX i ON t(b COLLATE NOCASE DESC, a)",
            vec![vec![int(1), text("x")], vec![int(2), text("Key")], vec![real(2.0), text("kEY")]],
            "'Key', 2",
            "rowid 2 and 3",
        ),
        (
            "CREATE TABLE t(a TEXT UNIQUE, b)",
            vec![
                vec![text("1"), int(0)],
                vec![OwnedValue::Null, int(0)],
                vec![OwnedValue::Null, int(1)],
                vec![int(1), int(5)],
            ],
            "'1'",
            "rowid 1 and 4",
        ),
        (
            "CREATE TABLE t(a TEXT COLLATE RTRIM PRIMARY KEY, b)",
            vec![vec![text("a  "), int(0)], vec![text("A"), int(0)], vec![text("a"), int(5)]],
            "'a  '",
            "rowid 1 and 3",
        ),
        (
            "CREATE TABLE t(a, b TEXT, c INT DEFAULT 0, PRIMARY KEY(a, b), UNIQUE(c, b)) WITHOUT ROWID",
            vec![vec![int(1), text("x"), int(7)], vec![int(2), text("x"), int(7)]],
            "7, 'x'",
            "primary key 1 and 2",
        ),
        (
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE UNIQUE INDEX i ON t(b)",
            vec![
                vec![int(-4), real(9_007_199_254_740_992.0)],
                vec![int(-2), int((1 << 53) + 1)],
                vec![int(8), int(1 << 53)],
            ],
            "9007199254740992.0",
            "rowid -4 and 8",
        ),
    ] {
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(sql).unwrap();
        let schema = Schema::from_sql(sql, "<unique>").unwrap();
        let inserted = (1..).zip(&rows).filter_map(|(at, row)| insert(&sqlite, &schema.tables[0], at, row).err());
        let refusals: Vec<String> = inserted.map(|error| error.to_string()).collect();
        let [theirs] = refusals.as_slice() else { panic!("{sql}: {refusals:?}") };
        for (threads, parts) in [(1, 1000), (7, 1)] {
            let folder = Folder::new();
            let case = Case::new(sql).rows(rows.clone()).parts_of(parts);
            let options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
            let error = case.build_to(&folder.target("t.db"), &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Constraint, "{error}");
            assert!(error.message().starts_with(theirs), "{error}, SQLite: {theirs}");
            assert!(error.message().contains(which), "{error}");
            assert_eq!(error.place().table.as_deref(), Some("t"), "{error}");
            assert_eq!(error.place().value.as_deref(), Some(value), "{error}");
            assert!(folder.names().is_empty(), "{:?}", folder.names());
        }
    }
}

/// Two reals that differ in their 17th digit only: the older SQLite refused to make the unique index again, in its own
/// file as in ours, and the test took that for our mistake.
#[test]
fn reals_that_the_older_sqlite_prints_alike() {
    let sql = "CREATE TABLE t(a REAL, b TEXT); CREATE UNIQUE INDEX i ON t((a || 'x'))";
    let rows = [0.3, 0.1 + 0.2].map(|real| vec![OwnedValue::Real(real), text("")]);
    let case = case(sql, vec![rows.to_vec()], false);
    let bytes = case.build(Route { threads: 2, into: Into::Memory }, PageSize::DEFAULT).unwrap();
    assert_goes_on(&bytes, &case, &Schema::from_sql(sql, "<reals>").unwrap(), PageSize::DEFAULT);
    if let Some(old) = OldSqlite::find() {
        assert!(old_verdicts(old, &bytes)[1].as_ref().is_err_and(|error| error.contains("UNIQUE")));
    }
}

/// Hundreds of NULLs in a unique index, and keys that differ only in their last column or byte.
#[test]
fn nulls_are_never_the_same() {
    let rows = (0..900_i64).map(|row| {
        let null_or = |value: OwnedValue, every: i64| if row % every == 0 { OwnedValue::Null } else { value };
        vec![null_or(int(row / 2), 2), null_or(text(&format!("{}{row}", "same ".repeat(60))), 3), int(7)]
    });
    let sql = "CREATE TABLE t(a UNIQUE, b TEXT, c, UNIQUE(b, c)); CREATE UNIQUE INDEX i ON t(c, b DESC, a DESC)";
    let case = Case::new(sql).rows(rows).parts_of(100);
    for page_size in [PageSize::MIN, PageSize::DEFAULT, PageSize::MAX] {
        case.check_at(page_size);
    }
}

/// Keys with a long common prefix: sorting them used some stack for every 32 bytes of it.
#[test]
fn keys_with_a_long_common_beginning() {
    let keys = (0..40).map(|row: u16| {
        let mut key = vec![b'k'; 400_000];
        key.push(u8::try_from(row * 7 % 40).unwrap());
        vec![OwnedValue::Blob(key)]
    });
    let case = Case::new("CREATE TABLE t(a BLOB); CREATE INDEX i ON t(a)").rows(keys).parts_of(10);
    case.judge(&case.build(Route { threads: 2, into: Into::Memory }, PageSize::DEFAULT).unwrap(), PageSize::DEFAULT);
}
