//! Locks that ignore poisoning, and threads that may be refused.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

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
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}
