//! Tables of TPC-H in a plan: sizes, parts and shards, and the errors about them.

use litepress_format::page::PageSize;
use litepress_gen::{GenPlan, GenSource, Request, Shard, preset};
use litepress_rows::{RecordChunk, Result, Schema, Source};

const SCALE: f64 = 0.002;

fn schema() -> Schema {
    Schema::from_sql(preset("tpch").expect("it is built in").sql, "tpch").expect("a schema")
}

fn plan(schema: &Schema, scale: f64) -> Result<GenPlan> {
    GenPlan::new(schema, &Request { scale: Some(scale), ..Request::default() })
}

/// Returns all records of a source.
fn records(source: &dyn Source) -> Vec<Vec<u8>> {
    let (mut records, mut chunk) = (Vec::new(), RecordChunk::new());
    while let Some(mut part) = source.next_part().expect("a part") {
        loop {
            chunk.clear();
            part.fill(&mut chunk).expect("good rows");
            if chunk.is_empty() {
                break;
            }
            records.extend((0..chunk.len()).map(|row| chunk.record(row).to_vec()));
        }
    }
    records
}

#[test]
fn tables_have_as_many_rows_as_the_benchmark_says() {
    let schema = schema();
    let plan = plan(&schema, 0.1).expect("a plan");
    let rows: Vec<u64> = plan.tables().iter().map(|table| table.rows).collect();
    assert_eq!(rows, [5, 25, 20_000, 1000, 80_000, 15_000, 150_000, 600_572]);
}

#[test]
fn parts_and_shards_are_the_whole() {
    let schema = schema();
    let plan = plan(&schema, SCALE).expect("a plan");
    for (position, table) in plan.tables().iter().enumerate() {
        let source =
            |shard| GenSource::for_shard(&plan, &schema, position, PageSize::DEFAULT, shard, false).expect("a source");
        let whole = records(&*source(Shard::WHOLE));
        assert_eq!(whole.len() as u64, table.rows, "{}", table.name);
        for of in [2, 7] {
            let shards = (1..=of).map(|number| source(Shard::new(number, of).expect("a shard")));
            let mut together = Vec::new();
            for shard in shards {
                let records = records(&*shard);
                assert_eq!(shard.rows(), Some(records.len() as u64));
                together.extend(records);
            }
            assert!(together == whole, "{} in {of}", table.name);
        }
    }
}

#[test]
fn what_is_not_the_benchmarks_is_refused() {
    for (sql, scale, message) in [
        ("-- gen: tpch=regoin\nCREATE TABLE r (r_regionkey INT)", 1.0, "did you mean 'region'?"),
        ("-- gen: tpch=5\nCREATE TABLE r (r_regionkey INT)", 1.0, "where a table of TPC-H is expected"),
        ("-- gen: tpch=region\nCREATE TABLE r (r_regionkey INT)", 1.0, "r_regionkey, r_name, r_comment, in this order"),
        ("-- gen: tpch=region\nCREATE TABLE r (r_regionkey, r_name, r_comment)", 0.0005, "at scales of 0.001 to"),
        (
            "-- gen: tpch=region\nCREATE TABLE r (r_regionkey, r_name /* gen: uuid */, r_comment)",
            1.0,
            "are those of TPC-H",
        ),
    ] {
        let schema = Schema::from_sql(sql, "test.sql").expect(sql);
        let error = plan(&schema, scale).expect_err(sql);
        assert!(error.message().contains(message) && error.place().line.is_some(), "{error}");
    }
}

#[test]
fn no_generated_row_refers_to_a_table_of_the_benchmark() {
    let region =
        "/* gen: tpch=region */ CREATE TABLE region (r_regionkey INTEGER PRIMARY KEY, r_name TEXT, r_comment TEXT);";
    for (column, message) in [
        ("r INT NOT NULL REFERENCES region", "its parent region is a table of TPC-H"),
        ("r INT REFERENCES region /* gen: ref(region.r_regionkey) */", "table region is one of TPC-H"),
    ] {
        let region = region.replace("r_name TEXT", "r_name TEXT CHECK (r_name <> '')");
        Schema::from_sql(&region, "test.sql").and_then(|schema| plan(&schema, 1.0)).expect("no row is sampled");
        let sql = format!("{region} /* gen: rows=5 */ CREATE TABLE t ({column});");
        let schema = Schema::from_sql(&sql, "test.sql").expect(&sql);
        let error = GenPlan::new(&schema, &Request::default()).expect_err(&sql);
        assert!(error.message().contains(message), "{error}");
    }
}
