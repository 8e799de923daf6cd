//! Threads and locks of the workspace: locks that ignore poisoning, and threads that may be refused.
//!
//! They are those of the standard library. With `--cfg shuttle` they are those of the crate shuttle, which runs one thread at a time
//! and chooses the next one at each lock, wait and message, so that tests try thousands of schedules.

#[cfg(shuttle)]
pub use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, mpsc},
    thread,
};
use std::sync::{LockResult, PoisonError};
#[cfg(not(shuttle))]
pub use std::{
    sync::{Condvar, Mutex, MutexGuard, mpsc},
    thread,
};

/// Returns the value of a lock whose holder may have panicked. The panic ends the run anyway, when its thread is joined.
#[inline]
pub fn ignore_poison<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex, [ignoring poisoning](ignore_poison).
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    ignore_poison(mutex.lock())
}

/// Does the same work on `threads` threads, including this one. If the system refuses to start a thread, fewer do it.
pub fn on_threads(threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..threads {
            #[cfg(not(shuttle))]
            if thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
            #[cfg(shuttle)]
            scope.spawn(&work);
        }
        work();
    });
}
