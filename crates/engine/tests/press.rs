//! Printed databases, read by SQLite.

use litepress::{Database, Options, Schema, Target};
use litepress_rows::{Part, RecordChunk, Source};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows made by a function of the row number: rowid and record. Parts of `per_part` rows.
struct Rows<F> {
    rows: u64,
    per_part: u64,
    next: AtomicU64,
    make: F,
}

impl<F: Fn(u64, &mut Vec<u8>) -> i64 + Copy + Send + Sync + 'static> Source for Rows<F> {
    fn next_part(&self) -> litepress::Result<Option<Box<dyn Part>>> {
        let first = self.next.fetch_add(self.per_part, Ordering::Relaxed);
        if first >= self.rows {
            return Ok(None);
        }
        Ok(Some(Box::new(Span { at: first, end: self.rows.min(first + self.per_part), make: self.make })))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn record_bytes(&self) -> f64 {
        0.0
    }
}

struct Span<F> {
    at: u64,
    end: u64,
    make: F,
}

impl<F: Fn(u64, &mut Vec<u8>) -> i64 + Send> Part for Span<F> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> litepress::Result<()> {
        let mut record = Vec::new();
        while self.at < self.end && !chunk.is_full() {
            record.clear();
            let rowid = (self.make)(self.at, &mut record);
            chunk.push(rowid, &record);
            self.at += 1;
        }
        Ok(())
    }
}

#[test]
fn first_light() {
    let schema = Schema::from_sql("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)", "<test>").unwrap();
    let mut options = Options::default();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    options.threads = 2;
    let mut db = Database::create(&Target::File(path.clone()), schema, &options).unwrap();
    let rows = Rows { rows: 300_000, per_part: 50_000, next: AtomicU64::new(0), make: |row, out: &mut Vec<u8>| {
        let text = "x".repeat(if row % 1000 == 0 { 20_000 } else { (row % 90) as usize });
        litepress_format::record::write_record(&[litepress_format::value::Value::Null, litepress_format::value::Value::Text(text.as_bytes())], out);
        row as i64 * 3 - 1000
    }};
    db.fill(0, &rows).unwrap();
    let finished = db.finish().unwrap();
    println!("{:?}", finished.summary);
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    let ok: String = sqlite.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(ok, "ok");
    let (count, sum): (i64, i64) = sqlite.query_row("SELECT count(*), sum(length(a)) FROM t", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(count, 300_000);
    println!("{sum}");
}
