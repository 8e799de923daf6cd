//! Makes rows in batches and drops them.

use crate::row::RandomRows;
use crate::statements::batches;
use crate::threads::shares;
use std::hint::black_box;
use std::thread;

const BATCH: usize = 100_000;

pub fn alone(rows: u64) {
    let mut random = RandomRows::new();
    for size in batches(rows, BATCH) {
        // The compiler must not remove rows that are never read.
        black_box(random.rows(size));
    }
}

/// Makes rows in as many threads as the methods that insert them.
pub fn threaded(rows: u64) {
    thread::scope(|scope| {
        for share in shares(rows) {
            scope.spawn(move || alone(share));
        }
    });
}
