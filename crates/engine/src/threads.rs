//! Worker threads.

mod reorder_buffer;
mod turns;

pub(crate) use reorder_buffer::ReorderBuffer;
pub(crate) use turns::Turns;

use crate::{Error, Result};
pub(crate) use litepress_rows::sync::on_threads;
use litepress_rows::sync::{Mutex, ignore_poison, lock};

/// The result of work on one part of a task. An error has the number of its part.
pub(crate) type InPart<T> = Result<T, (u64, Error)>;

/// Does the parts of a task on `threads` threads.
///
/// Each thread makes a worker with `begin`, calls `take` until it returns `false` or a part has failed, and completes the
/// worker with `finish`. Returns the error of the earliest part that failed.
pub(crate) fn take_all<W>(
    threads: usize,
    begin: impl Fn() -> W + Sync,
    take: impl Fn(&mut W) -> InPart<bool> + Sync,
    finish: impl Fn(W) -> Result<()> + Sync,
) -> Result<()> {
    let parts = Mutex::new(ReorderBuffer::<()>::new());
    on_threads(threads, || {
        let mut worker = begin();
        while !lock(&parts).has_failed() {
            match take(&mut worker) {
                Ok(true) => {}
                Ok(false) => break,
                Err((number, error)) => lock(&parts).fail(number, error),
            }
        }
        if let Err(error) = finish(worker) {
            lock(&parts).fail(u64::MAX, error);
        }
    });
    ignore_poison(parts.into_inner()).finish()
}
