//! Same input, same bytes: threads, memory and sinks never show in the file.

use litepress::{Database, Options, PageSize, Schema, Target};
use litepress_conformance::case::{Case, Into, Route, routes};
use litepress_conformance::checksum::of_database;
use litepress_conformance::page_sizes;
use litepress_conformance::source::Row;
use litepress_gen::{GenPlan, GenSource, Request};
use litepress_rows::cells::OwnedValue;

/// Returns a bit of everything: three tables, short and long rows, an empty table, a sequence, a view.
fn golden() -> Case {
    let tables = "PRAGMA user_version = 3; CREATE TABLE short(id INTEGER PRIMARY KEY AUTOINCREMENT, area CHAR(6), age INT); \
                  CREATE TABLE \"long\"(a REAL, b BLOB, c TEXT); CREATE TABLE empty(x)";
    let short = (0..5000_i64).map(|row| -> Row {
        vec![OwnedValue::Int(row * 3 - 100), OwnedValue::Text(format!("{row:06}")), OwnedValue::Int(row % 90)]
    });
    let long = (0..300_u16).map(|row| -> Row {
        let len = usize::from(row) * usize::from(row) % 9001;
        let blob = (0..len).map(|at| u8::try_from(at * usize::from(row) % 256).unwrap_or_default()).collect();
        vec![OwnedValue::Real(f64::from(row) / 8.0), OwnedValue::Blob(blob), OwnedValue::Null]
    });
    Case::new(tables).rows(short).rows(long).after("CREATE VIEW v AS SELECT count(*) FROM short").parts_of(137)
}

/// The pins ensure that the next version of litepress writes the same file. Changing a pin changes the bytes of all users' files
/// and needs a line in the changelog. The four header bytes with the version of the bundled SQLite do not count.
#[test]
fn the_golden_database_has_the_pinned_checksums() {
    const PINNED: [(usize, u64); 8] = [
        (512, 0x47d4_fe5c_b9fc_333d),
        (1024, 0x1016_3b5b_0a8b_f013),
        (2048, 0xcad0_ae15_bd23_8219),
        (4096, 0x1b2b_7b1e_914f_ac4d),
        (8192, 0x8c7d_dcba_1ecf_b642),
        (16_384, 0x2747_85b7_3f45_a7db),
        (32_768, 0x7d7c_faae_dd69_305d),
        (65_536, 0x8b94_3a87_2b9e_b6a6),
    ];
    let case = golden();
    let found: Vec<(usize, u64)> = page_sizes()
        .map(|page_size| {
            let bytes = case.build(Route { threads: 2, into: Into::Memory }, page_size).expect("the golden database");
            (page_size.bytes(), of_database(&bytes))
        })
        .collect();
    assert_eq!(found, PINNED, "{found:#x?}");
}

/// Generators had pins of four rows each, and the engine had a pin of rows that no generator made. Their combination could
/// change unnoticed. The rule above applies to this pin, too.
#[test]
fn the_preset_user_has_the_pinned_checksum() {
    let preset = litepress_gen::presets::preset("user").expect("a preset");
    let schema = Schema::from_sql(preset.sql, "user").expect("its schema");
    let request = Request { rows: vec![(None, 10_000)], ..Request::default() };
    let plan = GenPlan::new(&schema, &request).expect("its plan");
    let source = GenSource::new(&plan, &schema, 0, PageSize::DEFAULT).expect("its rows");
    let mut database = Database::create(&Target::Memory, schema, &Options::default()).expect("a database");
    database.fill(0, &source).expect("its table");
    let bytes = database.finish().expect("a whole file").bytes.expect("in memory");
    assert_eq!(of_database(&bytes), 0x9161_c4e6_ef4a_8440, "{:#x}", of_database(&bytes));
}

#[test]
fn the_golden_database_is_that_of_sqlite_along_every_route() {
    let files = golden().check();
    assert_eq!(files.len(), 8);
}

/// Enough parts for threads to overtake one another, and budgets for few or many blocks in use.
#[test]
fn threads_memory_and_sinks_do_not_show() {
    let rows = (0..60_000_i64).map(|row| -> Row {
        let text = "x".repeat(usize::try_from(row % 97).unwrap_or_default());
        vec![OwnedValue::Int(row), OwnedValue::Text(text), OwnedValue::Real(0.5)]
    });
    let case = Case::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b REAL)").rows(rows).parts_of(500);
    let schema = case.schema().expect("a table");
    for page_size in [PageSize::MIN, PageSize::DEFAULT, PageSize::MAX] {
        let first = checksum(&case, &schema, &Route::SHORTEST.options(page_size), Into::Memory);
        for route in routes() {
            for memory_bytes in [litepress::MIN_MEMORY_BYTES, 1 << 30] {
                let mut options = route.options(page_size);
                options.memory_bytes = memory_bytes;
                let again = checksum(&case, &schema, &options, route.into);
                assert_eq!(again, first, "{route:?}, {memory_bytes} bytes of memory, pages of {page_size} bytes");
            }
        }
    }
}

fn checksum(case: &Case, schema: &Schema, options: &Options, into: Into) -> u64 {
    of_database(&case.build_schema(schema.clone(), options, into).expect("a table"))
}

/// Reports the first of several mistakes in the order of rows, independently of the worker that finds one first.
#[test]
fn the_same_mistake_is_reported_at_any_number_of_threads() {
    let rows = (0..20_000_i64)
        .map(|row| -> Row { vec![if row > 5 && row % 3000 == 123 { OwnedValue::Null } else { OwnedValue::Int(row) }] });
    let case = Case::new("CREATE TABLE t(a INT NOT NULL)").rows(rows).parts_of(400);
    for route in routes() {
        let error = case.build(route, PageSize::DEFAULT).expect_err("NULL in a NOT NULL column");
        assert_eq!(error.place().record, Some(124), "{route:?}: {error}");
    }
}
