//! Rows are made in batches, and nothing becomes of them.

use crate::row::RandomRows;
use crate::statements::batches;
use crate::threads::shares;
use std::hint::black_box;
use std::thread;

const BATCH: usize = 100_000;

pub fn alone(rows: u64) {
    let mut random = RandomRows::new();
    for size in batches(rows, BATCH) {
        // The compiler must not find out that nobody looks at them.
        black_box(random.rows(size));
    }
}

/// As many threads as make rows where they are inserted.
pub fn threaded(rows: u64) {
    thread::scope(|scope| {
        for share in shares(rows) {
            scope.spawn(move || alone(share));
        }
    });
}
