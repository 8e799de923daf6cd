//! Runs queries over ranges of one table on several threads.

use super::{SqliteSession, connect};
use crate::threads::on_threads;
use litepress_rows::sync::{ignore_poison, lock};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of the first query with a row or a failure, and its result.
pub(super) type Found = Option<(usize, rusqlite::Result<usize>)>;

/// Runs the queries until one gives a row or fails. The result is that of running them one after another.
///
/// Each thread reads a file through its own connection, because nothing writes it meanwhile. A database in memory is
/// read by one thread.
pub(super) fn first_found(session: &SqliteSession, queries: &[String]) -> Found {
    let scan = Scan { queries, next: AtomicUsize::new(0), found: Mutex::default() };
    let threads = session.options.threads.min(queries.len());
    match &session.path {
        Some(path) if threads > 1 => {
            let progress = &session.options.progress;
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            on_threads(threads, || match connect(path, flags, progress) {
                Ok(reader) => scan.work(&reader),
                Err(error) => scan.report(0, Err(error)),
            });
        }
        _ => scan.work(&session.connection),
    }
    ignore_poison(scan.found.into_inner())
}

struct Scan<'q> {
    queries: &'q [String],
    next: AtomicUsize,
    found: Mutex<Found>,
}

impl Scan<'_> {
    fn work(&self, connection: &Connection) {
        loop {
            // Queries are handed out in order: when one gives a result, all earlier ones are finished or running.
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(query) = self.queries.get(number).filter(|_| lock(&self.found).is_none()) else { return };
            match connection.query_row(query, [], |row| row.get(0)).optional() {
                Ok(None) => {}
                Ok(Some(found)) => self.report(number, Ok(found)),
                Err(error) => self.report(number, Err(error)),
            }
        }
    }

    fn report(&self, number: usize, result: rusqlite::Result<usize>) {
        let mut found = lock(&self.found);
        if found.as_ref().is_none_or(|(first, _)| number < *first) {
            *found = Some((number, result));
        }
    }
}
