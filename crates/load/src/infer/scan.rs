//! Scans a file for types, with several threads.

use super::{FileStats, NumberWords};
use crate::reader::{Piece, Reader};
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Error, Result};
use std::sync::Arc;

/// Scans the records of a file with `threads` threads. `words` are those in columns of numbers. Calls `go_on` before every piece.
///
/// With a `limit`, the scan ends after the piece that contains this record. Neither the scanned pieces nor the findings depend
/// on the number of threads.
///
/// # Errors
/// Any error of the reader or of `go_on`. If there are several, the one of the lowest record.
///
/// # Panics
/// If the reader panics.
pub fn scan_types(
    reader: &mut dyn Reader,
    threads: usize,
    limit: Option<u64>,
    words: &Arc<NumberWords>,
    go_on: &(dyn Fn() -> Result<()> + Sync),
) -> Result<FileStats> {
    let progress = Progress { reader, next: 1, limit, has_ended: false, failed: None, found: FileStats::default() };
    let progress = Mutex::new(progress);
    let work = || {
        let mut found = FileStats::with_words(words.clone());
        while let Some(mut piece) = Progress::next_piece(&progress, go_on) {
            let first_record = piece.first_record();
            if let Err(error) = piece.scan_types(&mut found).and_then(|()| found.refuse_too_many_columns()) {
                lock(&progress).fail(first_record, error);
            }
        }
        lock(&progress).found.merge(found);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If the system refuses to start another thread, fewer do the work.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let Progress { reader, failed, mut found, .. } = ignore_poison(progress.into_inner());
    match failed {
        Some((_, error)) => Err(error),
        None => {
            found.name_columns(reader.columns());
            Ok(found)
        }
    }
}

struct Progress<'a> {
    reader: &'a mut dyn Reader,
    /// Number of the record after those handed out.
    next: u64,
    limit: Option<u64>,
    has_ended: bool,
    /// The lowest record with an error, and the error.
    failed: Option<(u64, Error)>,
    found: FileStats,
}

impl Progress<'_> {
    fn next_piece(progress: &Mutex<Self>, go_on: &dyn Fn() -> Result<()>) -> Option<Box<dyn Piece>> {
        let mut progress = lock(progress);
        if progress.has_ended || progress.limit.is_some_and(|limit| progress.next > limit) {
            return None;
        }
        // Set in advance, so that other threads stop if this one panics.
        progress.has_ended = true;
        match go_on().and_then(|()| progress.reader.next_piece()) {
            Ok(Some(piece)) => {
                progress.next = piece.first_record() + piece.records();
                progress.has_ended = false;
                Some(piece)
            }
            Ok(None) => None,
            Err(error) => {
                let next = progress.next;
                progress.fail(next, error);
                None
            }
        }
    }

    fn fail(&mut self, record: u64, error: Error) {
        self.has_ended = true;
        if self.failed.as_ref().is_none_or(|(other, _)| record < *other) {
            self.failed = Some((record, error));
        }
    }
}
