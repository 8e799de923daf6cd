//! Locks that ignore poisoning.

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
