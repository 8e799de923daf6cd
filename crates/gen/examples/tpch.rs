//! Measures TPC-H rows per second on one thread: from `tpchgen` alone, and as records.
//!
//! ```text
//! cargo run --release -p litepress-gen --example tpch -- 1      scale 1
//! ```

use litepress_format::page::PageSize;
use litepress_gen::{GenPlan, GenSource, Request, Shard, preset};
use litepress_rows::{Error, RecordChunk, Result, Schema};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tpchgen::generators as of;

fn main() -> Result<()> {
    let scale = std::env::args().nth(1).and_then(|scale| scale.parse().ok()).unwrap_or(0.1);
    let preset =
        preset("tpch").ok_or_else(|| Error::new(litepress_rows::ErrorKind::Usage, "there is no such preset"))?;
    let schema = Schema::from_sql(preset.sql, "tpch.sql")?;
    let plan = GenPlan::new(&schema, &Request { scale: Some(scale), ..Request::default() })?;
    // Comments are cut out of one long text, which is generated first.
    black_box(of::OrderGenerator::new(0.001, 1, 1).iter().count());
    for table in plan.tables() {
        let alone = time(|| alone(&table.name, scale));
        let source = GenSource::for_shard(&plan, &schema, table.table, PageSize::DEFAULT, Shard::WHOLE, false)?;
        let started = Instant::now();
        let mut chunk = RecordChunk::new();
        while let Some(mut part) = source.next_part()? {
            loop {
                chunk.clear();
                part.fill(&mut chunk)?;
                if chunk.is_empty() {
                    break;
                }
            }
        }
        let records = started.elapsed();
        let columns = schema.tables[table.table].columns.len() as f64;
        let [alone, records] = [alone, records].map(|time| time.as_secs_f64() * 1e9 / (table.rows as f64 * columns));
        println!(
            "{:10} {:>10} rows  tpchgen alone {alone:6.1} ns a cell, records {records:6.1} ns",
            table.name, table.rows
        );
    }
    Ok(())
}

fn time(work: impl FnOnce() -> usize) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

/// Generates all rows, reads each, and drops it.
fn alone(table: &str, scale: f64) -> usize {
    match table {
        "region" => of::RegionGenerator::default().iter().map(black_box).count(),
        "nation" => of::NationGenerator::default().iter().map(black_box).count(),
        "part" => of::PartGenerator::new(scale, 1, 1).iter().map(black_box).count(),
        "supplier" => of::SupplierGenerator::new(scale, 1, 1).iter().map(black_box).count(),
        "partsupp" => of::PartSuppGenerator::new(scale, 1, 1).iter().map(black_box).count(),
        "customer" => of::CustomerGenerator::new(scale, 1, 1).iter().map(black_box).count(),
        "orders" => of::OrderGenerator::new(scale, 1, 1).iter().map(black_box).count(),
        _ => of::LineItemGenerator::new(scale, 1, 1).iter().map(black_box).count(),
    }
}
