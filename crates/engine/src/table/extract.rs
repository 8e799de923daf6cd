//! Extracts the index entries of rows that are in a table already: no page is built.

use super::part_queue::PartQueue;
use crate::Result;
use crate::index::Indexes;
use crate::progress::Progress;
use crate::threads::take_all;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{RecordChunk, Source};
use std::sync::atomic::{AtomicU64, Ordering};

/// Passes the records of all rows of `source` to the indexes. Returns the number of rows.
pub(crate) fn extract(source: &dyn Source, indexes: &Indexes, threads: usize, progress: &Progress) -> Result<u64> {
    let mut queue = PartQueue::new(source);
    let threads = queue.workers(threads)?;
    let (queue, rows) = (Mutex::new(queue), AtomicU64::new(0));
    take_all(
        threads,
        || (RecordChunk::new(), indexes.extractors()),
        |(chunk, extractors)| {
            let taken = lock(&queue).take().map_err(|error| (u64::MAX, error))?;
            let Some((number, mut part)) = taken else { return Ok(false) };
            let mut next = || {
                progress.go_on()?;
                chunk.clear();
                part.fill(chunk)?;
                extractors.add(chunk)?;
                rows.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                Ok(!chunk.is_empty())
            };
            while next().map_err(|error| (number, error))? {}
            extractors.end_part().map_err(|error| (number, error))?;
            Ok(true)
        },
        |(_, extractors)| extractors.finish(),
    )?;
    Ok(rows.into_inner())
}
