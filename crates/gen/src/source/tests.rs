use super::sizes::Sizes;
use super::*;
use crate::plan::Request;
use litepress_format::page::{CELL_POINTER_LEN, PageKind};
use litepress_format::value::Value;
use litepress_format::varint;
use litepress_rows::Keys;

fn source(sql: &str, rows: u64) -> GenSource {
    paged_source(sql, rows, PageSize::DEFAULT)
}

fn paged_source(sql: &str, rows: u64, page_size: PageSize) -> GenSource {
    let schema = Schema::from_sql(sql, "test.sql").expect(sql);
    let request = Request { rows: vec![(None, rows)], seed: Some(42), ..Request::default() };
    let plan = GenPlan::new(&schema, &request).expect(sql);
    GenSource::new(&plan, &schema, 0, page_size).expect(sql)
}

fn user(rows: u64) -> GenSource {
    source(crate::presets::preset("user").expect("it is built in").sql, rows)
}

/// Returns the rowids and records of a part.
fn rows_of(part: &mut dyn Part) -> Vec<(i64, Vec<u8>)> {
    let mut rows = Vec::new();
    let mut chunk = RecordChunk::new();
    loop {
        chunk.clear();
        part.fill(&mut chunk).expect("rows are good");
        if chunk.is_empty() {
            return rows;
        }
        rows.extend((0..chunk.len()).map(|row| (chunk.rowids()[row], chunk.record(row).to_vec())));
    }
}

fn all_rows(source: &GenSource) -> Vec<(i64, Vec<u8>)> {
    let mut rows = Vec::new();
    while let Some(mut part) = source.next_part().expect("there are no errors") {
        rows.extend(rows_of(&mut *part));
    }
    rows
}

#[test]
fn rows_do_not_depend_on_parts_or_on_how_many_there_are() {
    let whole = all_rows(&user(5000));
    assert_eq!(whole.len(), 5000);
    assert!(whole.iter().map(|(rowid, _)| *rowid).eq(1..=5000));
    for rows_per_part in [1, 7, 1023, 1025] {
        let source = GenSource { rows_per_part, rows_per_block: 100, ..user(2500) };
        assert!(all_rows(&source) == whole[..2500]);
    }
    assert!(all_rows(&user(0)).is_empty());
}

#[test]
fn shards_refer_to_the_rows_of_the_whole() {
    let sql = "/* gen: rows=500 */ CREATE TABLE p (id INTEGER PRIMARY KEY /* gen: shuffle */, price REAL /* gen: real(1, 9, 2) */);
        CREATE TABLE c (p REFERENCES p /* gen: ref(p.id, per_parent(0, 7)) */, n INT /* gen: number_in(p) */, of INT /* gen: count_in(p) */,
            hot INT /* gen: null(0.1, ref(p.id, zipf(1.1))) */, sum REAL /* gen: round(n * hot.price, 2) */,
            code TEXT UNIQUE, before REFERENCES c(code), note JSON /* gen: object(a: word, n: int(1, 9)) */);";
    let schema = Schema::from_sql(sql, "test.sql").expect(sql);
    let plan = GenPlan::new(&schema, &Request { scale: Some(1.5), ..Request::default() }).expect(sql);
    for table in 0..2 {
        let whole = all_rows(&GenSource::new(&plan, &schema, table, PageSize::DEFAULT).expect(sql));
        assert_eq!(whole.len() as u64, plan.tables()[table].rows);
        let mut together = Vec::new();
        for number in 1..=4 {
            let shard = Shard::new(number, 4).expect("a shard");
            let source = GenSource::of_shard(&plan, &schema, table, PageSize::DEFAULT, shard).expect(sql);
            together.extend(all_rows(&source));
        }
        assert!(together == whole, "table {table}");
    }
}

#[test]
fn records_are_those_of_sqlite() {
    let (rowid, record) = &all_rows(&user(1))[0];
    assert_eq!(*rowid, 1);
    // Header: its length, NULL for the rowid, 25 for six bytes of text, 1 for a byte, 8 or 9 for 0 or 1.
    assert_eq!(record[..4], [5, 0, 25, 1]);
    assert!(matches!(record[4], 8 | 9) && record.len() == 12);
}

#[test]
fn parts_fill_their_pages_not_quite() {
    let user = crate::presets::preset("user").expect("it is built in").sql;
    for (sql, rows, page_size, bytes) in [
        (user, 1_000_000_000, 4096, 20),
        (user, 1_000_000_000, 512, 20),
        ("create table t (a text /* gen: text(0, 100) */)", 1_000_000, 4096, 60),
        ("create table t (a text /* gen: text(0, 100) */)", 1_000_000, 65_536, 57),
        ("create table t (a blob /* gen: blob(100, 1000) */)", 1_000_000, 4096, 602),
    ] {
        let source = paged_source(sql, rows, PageSize::new(page_size).expect("a page size"));
        let near = (source.page_bytes() - f64::from(bytes)).abs() < f64::from(bytes) / 20.0;
        assert!(near, "{} bytes of a page a row: {sql}", source.page_bytes());
        let mut part = source.next_part().expect("no error").expect("a part");
        let (mut pages, mut left) = (0, 0);
        for (rowid, record) in rows_of(&mut *part) {
            let rowid = rowid as u64 + rows - source.rows_per_part;
            let cell = record.len() + varint::len(record.len() as u64) + varint::len(rowid) + CELL_POINTER_LEN;
            if cell > left {
                (pages, left) = (pages + 1, page_size as usize - PageKind::LeafTable.header_len());
            }
            left -= cell;
        }
        let share = f64::from(pages) * f64::from(page_size) / PART_BYTES as f64;
        assert!((0.95..1.0).contains(&share), "{share} of a part is filled: {sql}");
    }
}

#[test]
fn large_rows_come_one_at_a_time() {
    let source = source("create table t (a blob /* gen: blob(5m, 5m) */)", 3);
    assert_eq!((source.rows_per_part, source.rows_per_block), (1, 1));
    assert_eq!(all_rows(&source).len(), 3);
}

/// Samples of `blob(900m, 900m)` were added to one chunk, five times 900 MB, and passed its 4 GiB.
#[test]
fn samples_hold_one_block_at_a_time() {
    let sql = "create table t (a blob /* gen: blob(2m, 2m) */)";
    let schema = Schema::from_sql(sql, "test.sql").expect(sql);
    let request = Request { rows: vec![(None, 100)], ..Request::default() };
    let plan = GenPlan::new(&schema, &request).expect(sql);
    let (table, plan) = (&schema.tables[0], plan.table(0).expect("the only one"));
    let mut sampler = RowSampler::new(table, plan);
    assert_eq!(sampler.rows_per_block, 2);
    for rows in [0..7, 0..1, 90..100] {
        let count = rows.end - rows.start;
        let mut sizes = Sizes::default();
        let mut look = |chunk: &RecordChunk| {
            assert!(chunk.arena().len() < 4_001_000);
            sizes.add(chunk, PageKind::LeafTable, 4096);
        };
        sampler.show(rows, &mut look).expect(sql);
        assert!((2_000_000 * count..2_000_100 * count).contains(&sizes.record_bytes));
    }
}

/// The documentation promised some hundreds of sampled rows; of short rows there are ten times as many.
#[test]
fn samples_are_as_large_as_their_documentation_says() {
    let shown = |source: &GenSource| {
        let mut rowids = Vec::new();
        source.sample(&mut |chunk| rowids.extend(chunk.rowids().iter().copied())).expect("rows are good");
        assert!(rowids.is_sorted_by(|a, b| a < b), "no row is shown twice");
        rowids
    };
    let rowids = shown(&user(1_000_000));
    assert!((3000..4000).contains(&rowids.len()), "{} rows of user", rowids.len());
    assert!(rowids[0] == 1 && *rowids.last().expect("rows") > 900_000, "they are from all over the table");
    assert_eq!(shown(&user(100)).len(), 100);
    assert!(shown(&user(0)).is_empty());
    assert_eq!(shown(&source("create table t (a blob /* gen: blob(2m, 2m) */)", 100)), [1]);
}

/// The mean row of `null(0.99, hex(900m))` is short, so its blocks had many rows, and 900 MB were generated for each
/// row, NULL or not.
#[test]
fn blocks_are_small_whatever_the_mean() {
    let sql = "create table t (a text /* gen: null(0.9999, hex(8m)) */, b int)";
    let source = source(sql, 300_000);
    assert_eq!(source.rows_per_block, 1);
    for (sql, rows) in [
        ("create table t (a text /* gen: null(0.9999, hex(500k)) */)", 8),
        ("create table t (a text /* gen: null(0.9999, text(0, 300k)) */, b blob /* gen: blob(0, 300k) */)", 6),
        ("create table t (a int)", 1024),
    ] {
        assert!(self::source(sql, 10_000).rows_per_block <= rows, "{sql}");
    }
}

/// Estimates assumed pages of 4096 bytes, and a file with pages of 512 bytes became almost twice as large.
#[test]
fn estimates_know_the_page_size() {
    let sql = "create table t (a blob /* gen: blob(280, 280) */)";
    for (bytes, expected) in [(512, 512.0), (1024, 341.0), (4096, 304.0), (65_536, 288.0)] {
        let page_size = PageSize::new(bytes).expect("a page size");
        let source = paged_source(sql, 100_000, page_size);
        assert!((source.page_bytes() - expected).abs() < 0.02 * expected, "{bytes}: {}", source.page_bytes());
    }
    let long = "create table t (a blob /* gen: blob(600, 600) */)";
    let source = paged_source(long, 100_000, PageSize::MIN);
    assert!((600.0..660.0).contains(&source.page_bytes()), "a fifth of a page, and one: {}", source.page_bytes());
    let keyed = "create table t (a blob primary key /* gen: blob(110, 110) */) without rowid";
    let source = paged_source(keyed, 100_000, PageSize::MIN);
    assert!(source.page_bytes() > 512.0, "a key beyond a quarter of a page overflows: {}", source.page_bytes());
}

/// An INTEGER PRIMARY KEY had to be an ascending sequence.
#[test]
fn rowids_may_come_in_any_order() {
    for (generator, ascend) in
        [("sequence", true), ("sequence(5, 7)", true), ("sequence(9000, -3)", false), ("shuffle", false)]
    {
        let sql = format!("create table t (a text, id integer primary key /* gen: {generator} */)");
        let source = source(&sql, 3000);
        assert_eq!(source.rowid_order() == RowidOrder::Ascending, ascend, "{generator}");
        let rowids: Vec<i64> = all_rows(&source).into_iter().map(|(rowid, _)| rowid).collect();
        assert_eq!(rowids.is_sorted(), ascend, "{generator}");
        let cardinality: std::collections::HashSet<i64> = rowids.into_iter().collect();
        assert_eq!(cardinality.len(), 3000);
    }
    for sql in ["create table t (a int /* gen: shuffle */)", "create table t (a int primary key) without rowid"] {
        assert_eq!(source(sql, 10).rowid_order(), RowidOrder::Ascending, "{sql}");
    }
}

/// Random access gives the rows of the source: keys alone, and rows in any order, with and without given integer keys.
#[test]
fn rows_by_their_numbers() {
    for (key, are_integers) in [
        ("b int not null /* gen: shuffle */, a int not null /* gen: int(0, 9) */", true),
        ("b int not null /* gen: shuffle */, a int not null /* gen: choice(1, 2, 300) */", true),
        ("b int not null /* gen: shuffle */, a text not null /* gen: int(0, 9) */", false),
        ("b int not null /* gen: shuffle */, a real not null /* gen: int(0, 9) */", false),
        ("b int not null /* gen: shuffle */, a int not null /* gen: hex(9) */", false),
        ("b /* gen: shuffle */, a /* gen: null(0.5, int(1, 9)) */", false),
        ("b int not null /* gen: shuffle */, a int not null /* gen: b * 2 + c */", false),
    ] {
        let last = if are_integers { "primary key (a, b)) without rowid" } else { "unique (a, b))" };
        let sql = format!("create table t (c int /* gen: int(1, 5) */, {key}, d text /* gen: a || '-' || b */, {last}");
        let schema = Schema::from_sql(&sql, "test.sql").expect(&sql);
        let request = Request { rows: vec![(None, 3000)], seed: Some(42), ..Request::default() };
        let plan = GenPlan::new(&schema, &request).expect(&sql);
        let shard = Shard::new(2, 2).expect("a shard");
        let source = GenSource::of_shard(&plan, &schema, 0, PageSize::DEFAULT, shard).expect(&sql);
        let records: Vec<Vec<u8>> = all_rows(&source).into_iter().map(|(_, record)| record).collect();
        let rows = source.numbered().expect("rows can be made again");
        assert_eq!((rows.numbers(), rows.are_integers(&[2, 1])), (1501..3001, are_integers), "{sql}");
        let stored = schema.tables[0].stored_columns();
        let place = |column| stored.iter().position(|stored| *stored == column).expect("a column");
        let (mut keys, mut key_of_records) = (rows.key_maker(&[2, 1]), Vec::new());
        for (record, number) in records.iter().zip(1501..) {
            let values = litepress_format::record::decode(record).expect("a record");
            let key = [values[place(2)], values[place(1)]];
            match keys.make(number..number + 1).expect(&sql) {
                Keys::Integers(ints) => assert_eq!([Value::Int(ints[0][0]), Value::Int(ints[1][0])], key, "{sql}"),
                Keys::Records(chunk) => {
                    assert_eq!(litepress_format::record::decode(chunk.record(0)), Ok(key.to_vec()), "{sql}");
                }
            }
            key_of_records.push(key);
        }
        let numbers: Vec<u64> = (0..1000).map(|at| 1501 + at * 77 % 1500).collect();
        let row = |number: u64| usize::try_from(number - 1501).expect("a row");
        let integers = |at: usize| {
            let integer = |number: &u64| match key_of_records[row(*number)][at] {
                Value::Int(int) => int,
                _ => 0,
            };
            numbers.iter().map(integer).collect::<Vec<i64>>()
        };
        let givens = [(vec![], vec![]), (vec![2, 1], vec![integers(0), integers(1)])];
        for (columns, given) in &givens[..if are_integers { 2 } else { 1 }] {
            let mut chunk = RecordChunk::new();
            rows.row_maker(columns).make(&numbers, given, &mut chunk).expect(&sql);
            let made = (0..chunk.len()).map(|at| chunk.record(at));
            assert!(made.eq(numbers.iter().map(|&number| &*records[row(number)])), "{sql}");
        }
    }
}

#[test]
fn tables_of_every_kind() {
    for sql in [
        "create table t (a text primary key, b int) without rowid",
        "create table t (a int, b text, c real, d blob, e any) strict",
        "create table t (a, b int as (a) virtual, c text)",
        "create table t (a int, b int as (a + 1) stored unique, c text check (length(c) > 0), check (a < b))",
    ] {
        assert_eq!(all_rows(&source(sql, 3000)).len(), 3000, "{sql}");
    }
}
