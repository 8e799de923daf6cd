//! Lets the threads of this process look at a target and replace it one after another.
//!
//! A thread that replaces a target has it open for ten milliseconds at least. The target is in use to the others meanwhile, and the
//! last of many would lose their patience.

use litepress_rows::files::full_path;
use litepress_rows::sync::ignore_poison;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Condvar, Mutex};

/// Targets at which a thread has its turn, each with the thread's process: a fork copies the set, but not the threads.
static TAKEN: Mutex<BTreeSet<(u32, PathBuf)>> = Mutex::new(BTreeSet::new());
static ENDED: Condvar = Condvar::new();

/// The turn of a thread at a target. It ends when dropped.
pub struct Turn((u32, PathBuf));

impl Turn {
    /// Waits until no thread of this process has a turn at the target.
    ///
    /// REQUIRES: this thread has no turn at it.
    pub fn take(target: &Path) -> Self {
        let turn = (process::id(), full_path(target));
        let taken = ignore_poison(TAKEN.lock());
        let mut taken = ignore_poison(ENDED.wait_while(taken, |taken| taken.contains(&turn)));
        taken.insert(turn.clone());
        Self(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        ignore_poison(TAKEN.lock()).remove(&self.0);
        ENDED.notify_all();
    }
}
