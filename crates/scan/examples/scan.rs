//! Reads all rows of a table on some threads, and says how fast: `scan FILE TABLE [THREADS]`.

use litepress_rows::{RecordChunk, Result, Source};
use litepress_scan::{IndexScan, Snapshot, TableScan};
use rusqlite::Connection;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, table, threads @ ..] = &arguments[..] else {
        return Err("scan FILE TABLE_OR_INDEX [THREADS]".into());
    };
    let threads: usize = threads.first().map_or(Ok(2), |threads| threads.parse())?;
    let connection = Connection::open(file)?;
    let sql = "SELECT rootpage, type = 'table' AND NOT EXISTS (SELECT 1 FROM temp.pragma_table_list(name) WHERE wr)
        FROM sqlite_schema WHERE name = ?1";
    let (root, has_rowids): (u32, bool) = connection.query_row(sql, [table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let started = Instant::now();
    let snapshot = Snapshot::begin(&connection)?;
    let scan: Box<dyn Source> = match has_rowids {
        true => Box::new(TableScan::new(&snapshot, root, table)?),
        false => Box::new(IndexScan::new(&snapshot, root, table)?),
    };
    let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let next = Mutex::new(());
    let work = || -> Result<()> {
        let mut chunk = RecordChunk::new();
        loop {
            let part = {
                let _one = next.lock();
                scan.next_part()?
            };
            let Some(mut part) = part else { return Ok(()) };
            loop {
                chunk.clear();
                part.fill(&mut chunk)?;
                if chunk.is_empty() {
                    break;
                }
                rows.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                bytes.fetch_add(chunk.arena().len() as u64, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let pages = f64::from(snapshot.page_count()) * snapshot.page_size().bytes() as f64;
    println!(
        "{} rows, {:.1} MB of records, file {:.1} MB, {seconds:.3} s, {:.2} GB/s of the file, {:.1} M rows/s",
        rows.load(Ordering::Relaxed),
        bytes.load(Ordering::Relaxed) as f64 / 1e6,
        pages / 1e6,
        pages / 1e9 / seconds,
        rows.load(Ordering::Relaxed) as f64 / 1e6 / seconds
    );
    Ok(())
}
