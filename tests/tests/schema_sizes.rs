//! `sqlite_schema` of every size: on page 1 alone, as a tree of two and three levels, with overflow from page 1.

use litepress::PageSize;
use litepress_conformance::case::{Case, Into, Route};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{self, OldSqlite, integer};
use litepress_conformance::page_sizes;
use litepress_conformance::shape::of_tree;
use litepress_conformance::source::Row;
use litepress_rows::cells::OwnedValue;
use litepress_rows::quoted_name;
use rusqlite::Connection;

fn table(number: usize) -> String {
    format!("CREATE TABLE table_{number}(id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'nothing', b REAL);")
}

fn one_row(id: i64) -> Row {
    vec![OwnedValue::Int(id), OwnedValue::Text(format!("row {id}")), OwnedValue::Real(0.5)]
}

/// Schemas of 0 to 60 tables on small pages. The last table has a row, the others none.
#[test]
fn every_number_of_tables_up_to_sixty() {
    for count in 0..=60 {
        let tables: String = (0..count).map(table).collect();
        let case = (1..count).fold(Case::new(tables), |case, _| case.rows([])).rows([one_row(1)]);
        let case = if count == 0 { Case::new("") } else { case };
        for page_size in [512, 1024].into_iter().filter_map(PageSize::new) {
            let bytes = case.build(Route { threads: 2, into: Into::Memory }, page_size).expect("empty tables");
            case.judge(&bytes, page_size);
        }
    }
}

/// A schema of many tables at every page size. With 512 bytes, the tree of 2,000 tables has at least three levels.
#[test]
fn one_ten_a_hundred_and_two_thousand_tables() {
    for count in [1, 10, 100, 2000] {
        let tables: String = (0..count).map(table).collect();
        let case = Case::new(tables).rows([one_row(1), one_row(i64::MAX)]);
        let schema = case.schema().expect("tables");
        let reference = case.reference(PageSize::DEFAULT);
        for page_size in page_sizes() {
            let what = format!("{count} tables, pages of {page_size} bytes");
            let options = Route::SHORTEST.options(page_size);
            let bytes = case.build_schema(schema.clone(), &options, Into::Memory).expect("empty tables");
            let mut sqlite = oracle::open(&bytes);
            oracle::assert_sqlite_content(&mut sqlite, &what);
            let rows = "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid";
            oracle::assert_same_rows(&sqlite, &reference, rows, &what);
            oracle::assert_same_rows(&sqlite, &reference, "SELECT * FROM table_0", &what);
            let depth = of_tree(&bytes, page_size, 1).depth;
            assert!(count < 2000 || page_size != PageSize::MIN || depth >= 3, "{what}: {depth} levels");
            assert!(count > 1 || depth == 1, "{what}: {depth} levels");
            assert_grows(&sqlite, &what);
        }
        assert_eq!(integer(&reference, "SELECT count(*) FROM sqlite_schema"), count as i64);
    }
}

/// Asserts that SQLite can insert into the schema's tree.
fn assert_grows(sqlite: &Connection, what: &str) {
    let more: String = (0..40).map(|number| format!("CREATE TABLE more_{number}(a);")).collect();
    sqlite.execute_batch(&format!("BEGIN; {more} DROP TABLE table_0; COMMIT; VACUUM")).expect(what);
    assert_eq!(oracle::texts(sqlite, "PRAGMA integrity_check"), ["ok"], "{what}: after more tables");
}

/// A single statement of every length: from a half-empty page 1 to one that overflows. Page 1 has 100 bytes less room than
/// other pages.
#[test]
fn a_single_statement_of_every_length_around_a_page() {
    let (folder, mut files) = (Folder::new(), Vec::new());
    for page_size in page_sizes() {
        let bytes = page_size.bytes();
        let lens: Vec<usize> = match bytes {
            // Every length around the limits of one, two and three pages, and some between.
            512 => (30..1200).filter(|len| len % 512 > 270 || len % 7 == 0).collect(),
            1024 => (780..1060).collect(),
            _ => (bytes - 240..bytes).step_by(7).chain(2 * bytes - 30..2 * bytes - 10).collect(),
        };
        for len in lens {
            let file = folder.join(&format!("{page_size}-{len}.db"));
            std::fs::write(&file, check_statements(&[statement("t", len)], page_size)).expect("a new file");
            files.push(file);
        }
    }
    assert!(files.len() > 800);
    if let Some(old) = OldSqlite::find() {
        old.assert_sound(&files);
    }
}

/// Two and three statements that would fit another page together, but not page 1.
#[test]
fn a_few_statements_of_every_length_around_a_page() {
    let page_size = PageSize::MIN;
    for len in 40..480 {
        check_statements(&[statement("t", len), statement("u", 60)], page_size);
        check_statements(&[statement("t", 60), statement("u", len)], page_size);
    }
    for len in 40..200 {
        check_statements(&[statement("t", len), statement("u", len), statement("v", len)], page_size);
    }
    for len in (1500..2100).step_by(9) {
        check_statements(&[statement("t", len), statement("u", len)], PageSize::DEFAULT);
    }
}

#[test]
fn a_statement_of_a_hundred_kilobytes_overflows_from_page_1() {
    for page_size in page_sizes() {
        check_statements(&[statement("t", 100_000)], page_size);
        check_statements(&[statement("t", 100_000), statement("u", 50), statement("v", 70_000)], page_size);
    }
}

/// Returns a statement of `len` bytes, filled up by a comment.
fn statement(name: &str, len: usize) -> String {
    let (head, tail) = (format!("CREATE TABLE {name}(a /*"), "*/)");
    let filler = len.saturating_sub(head.len() + tail.len());
    format!("{head}{}{tail}", "c".repeat(filler))
}

/// Checks a schema of these statements, and returns the file.
fn check_statements(statements: &[String], page_size: PageSize) -> Vec<u8> {
    let lens: Vec<usize> = statements.iter().map(String::len).collect();
    let what = format!("statements of {lens:?} bytes, pages of {page_size} bytes");
    let case = Case::new(statements.join(";")).rows([vec![OwnedValue::Int(1)]]);
    let built = std::panic::catch_unwind(|| case.build(Route::SHORTEST, page_size));
    let bytes = built.unwrap_or_else(|_| panic!("{what}: litepress panics")).expect(&what);
    let mut sqlite = oracle::open(&bytes);
    oracle::assert_sqlite_content(&mut sqlite, &what);
    oracle::assert_sound(&bytes, &what);
    assert_eq!(oracle::texts(&sqlite, "SELECT sql FROM sqlite_schema ORDER BY rowid"), statements, "{what}");
    let longest = statements.iter().map(String::len).max();
    for name in oracle::texts(&sqlite, "SELECT name FROM sqlite_schema") {
        sqlite.execute_batch(&format!("INSERT INTO {} VALUES (2)", quoted_name(&name))).expect("an insert");
    }
    sqlite.execute_batch("CREATE TABLE another(b); DROP TABLE t; VACUUM").expect("changes of the schema");
    assert_eq!(oracle::texts(&sqlite, "PRAGMA integrity_check"), ["ok"], "{what}, longest {longest:?}, changed");
    bytes
}
