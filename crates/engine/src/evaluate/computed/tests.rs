//! How many rows are computed at once.

use super::*;
use crate::Schema;
use crate::table::OneChunk;
use litepress_format::record;

/// A thousand short rows whose computed column is long were computed at once, and took as much memory as all of them.
#[test]
fn long_computed_values_come_in_small_batches() {
    const ROWS: usize = 400;
    let table = Schema::from_sql("CREATE TABLE t(a, b TEXT AS (hex(zeroblob(500000 + a))) STORED)", "<test>");
    let (table, mut given) = (table.unwrap().tables.remove(0), RecordChunk::new());
    for row in 1..=ROWS as i64 {
        let mut bytes = Vec::new();
        record::write_record(&[Value::Int(row)], &mut bytes);
        given.push(row, &bytes);
    }
    let source = OneChunk::new(given);
    let computed = ComputedColumns::new(&table, &source).unwrap();
    let part = source.next_part().unwrap().unwrap();
    let mut part = ComputedPart { source: &computed, part, bench: None, is_over: false };
    let mut chunk = RecordChunk::new();
    let mut lens = Vec::new();
    loop {
        chunk.clear();
        part.fill(&mut chunk).unwrap();
        if chunk.is_empty() {
            break;
        }
        assert_eq!(chunk.first_record(), lens.len() as u64 + 1);
        assert!(chunk.arena().len() < 3_000_000, "{} bytes of rows", chunk.arena().len());
        lens.extend((0..chunk.len()).map(|row| chunk.record(row).len()));
        let waiting = part.bench.as_ref().unwrap().whole.iter().map(|chunk| chunk.arena().len()).sum::<usize>();
        assert!(waiting < 8_000_000, "{waiting} bytes wait");
    }
    assert!(lens.len() == ROWS && lens.iter().all(|len| *len > 1_000_000), "{} rows", lens.len());
}
