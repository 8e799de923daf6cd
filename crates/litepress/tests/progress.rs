//! The progress that a run reports.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{LoadOptions, Meter, Observer, load};
use rusqlite::Connection;
use std::sync::Mutex;

/// Keeps the meter of a run, and the last sample of it.
#[derive(Debug, Default)]
struct Last {
    meter: Mutex<Option<Meter>>,
    sample: Mutex<Option<(u64, u64)>>,
}

impl Observer for Last {
    fn measure(&self, meter: Meter) {
        *self.meter.lock().unwrap() = Some(meter);
    }

    fn end_measure(&self) {
        if let Some(meter) = self.meter.lock().unwrap().take() {
            let sample = meter.sample();
            *self.sample.lock().unwrap() = Some((sample.done, sample.total));
        }
    }
}

/// A load of several databases ended at 155 %, one of a database with an index at 60 %.
#[test]
fn the_progress_of_databases_ends_at_100_percent() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (number, other) in ["", "PRAGMA encoding = 'UTF-16'", ""].into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.db"));
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i % 9, 'x', i % 2, 0 FROM n";
        let sql = format!("{other}; CREATE TABLE t (a, b, c, d); CREATE INDEX i ON t (a); INSERT INTO t {rows}");
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        files.push(path);
    }
    for some in [&files[..1], &files[1..2], &files[..]] {
        let last = std::sync::Arc::new(Last::default());
        let mut options = LoadOptions::default().observer(last.clone());
        options.build.overwrite = true;
        let report = load(folder.path().join("all.db"), some, &options);
        assert_eq!(report.unwrap().build.summary.tables[0].rows, 50_000 * some.len() as u64);
        let (done, total) = last.sample.lock().unwrap().unwrap();
        let size: u64 = some.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
        assert_eq!((done, total), (size, size));
    }
}
